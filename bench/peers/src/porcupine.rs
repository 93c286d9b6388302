//! The same objects as porcupine-rs wants them: plain operations, states that are cheap to copy and to compare.
//!
//! What was never finished returns at the end of time with any result; that is how this checker knows of it. What cannot
//! change the object and told nothing is left out, as our models do.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use omnilink_history::{Call, History, Op, Value};
use omnilink_testkit::workload::KEYS;
use porcupine_rs::{Model, Operation, check_operations};

/// True if porcupine-rs accepts.
pub fn check<M: Model>(history: &[Operation<M>]) -> bool {
    check_operations(history)
}

/// A history as this checker sees it.
pub fn operations<M: Model>(
    history: &History<Call>,
    read: impl Fn(&Op<Call>) -> Result<Option<M::Op>>,
) -> Result<Vec<Operation<M>>> {
    let mut operations = Vec::with_capacity(history.ops().len());
    for op in history.ops().iter().filter(|op| !op.call.failed) {
        let Some(call) = read(op)? else { continue };
        operations.push(Operation {
            client_id: Some(op.process.0),
            call_time: op.interval.start() as i64,
            return_time: op.interval.end().map_or(i64::MAX, |end| end as i64),
            op: call,
            metadata: None,
        });
    }
    Ok(operations)
}

/// The map of the generated histories: 0 if a key is absent, otherwise one more than its value.
#[derive(Clone, Debug)]
pub struct Map;

#[derive(Clone, Copy, Debug)]
pub enum MapOp {
    Put { key: u8, value: u8 },
    Insert { key: u8, value: u8, ok: bool },
    Erase { key: u8, ok: bool },
    Contains { key: u8, ok: bool },
    RangeCount { lo: u8, hi: u8, count: u8 },
}

impl Model for Map {
    type State = [u8; KEYS as usize];
    type Op = MapOp;
    type Metadata = ();

    fn init() -> Self::State {
        [0; KEYS as usize]
    }

    fn step(state: &Self::State, op: &MapOp) -> (bool, Self::State) {
        let mut next = *state;
        let is_enabled = match *op {
            MapOp::Put { key, value } => {
                next[usize::from(key)] = value + 1;
                true
            }
            MapOp::Insert { key, value, ok } => {
                let is_absent = state[usize::from(key)] == 0;
                if is_absent {
                    next[usize::from(key)] = value + 1;
                }
                is_absent == ok
            }
            MapOp::Erase { key, ok } => {
                next[usize::from(key)] = 0;
                (state[usize::from(key)] != 0) == ok
            }
            MapOp::Contains { key, ok } => (state[usize::from(key)] != 0) == ok,
            MapOp::RangeCount { lo, hi, count } => {
                let range = &state[usize::from(lo)..=usize::from(hi)];
                range.iter().filter(|&&value| value != 0).count() == usize::from(count)
            }
        };
        (is_enabled, next)
    }
}

/// Reads a call of the generated map.
pub fn map_op(op: &Op<Call>) -> Result<Option<MapOp>> {
    let int = |place: usize| -> Result<u8> {
        Ok(op.call.args().get(place).and_then(Value::as_int).context("a number")?.try_into()?)
    };
    let ok = || op.call.results().first().and_then(Value::as_bool).context("a truth value");
    Ok(Some(match op.call.action() {
        "put" => MapOp::Put { key: int(0)?, value: int(1)? },
        "insert" => MapOp::Insert { key: int(0)?, value: int(1)?, ok: ok()? },
        "erase" => MapOp::Erase { key: int(0)?, ok: ok()? },
        "contains" => MapOp::Contains { key: int(0)?, ok: ok()? },
        "range_count" => {
            let count = op.call.results().first().and_then(Value::as_int).context("a count")?.try_into()?;
            MapOp::RangeCount { lo: int(0)?, hi: int(1)?, count }
        }
        action => bail!("no such action: {action}"),
    }))
}

/// The register of the etcd logs.
#[derive(Clone, Debug)]
pub struct Register;

#[derive(Clone, Copy, Debug)]
pub enum RegisterOp {
    Read(Option<i32>),
    Write(i32),
    Cas { from: i32, to: i32, ok: Option<bool> },
}

impl Model for Register {
    type State = Option<i32>;
    type Op = RegisterOp;
    type Metadata = ();

    fn init() -> Self::State {
        None
    }

    fn step(state: &Self::State, op: &RegisterOp) -> (bool, Self::State) {
        match *op {
            RegisterOp::Read(value) => (value == *state, *state),
            RegisterOp::Write(value) => (true, Some(value)),
            RegisterOp::Cas { from, to, ok } => {
                let is_equal = *state == Some(from);
                (ok.is_none_or(|ok| ok == is_equal), if is_equal { Some(to) } else { *state })
            }
        }
    }
}

/// Reads a call of the etcd register.
pub fn register_op(op: &Op<Call>) -> Result<Option<RegisterOp>> {
    let int =
        |value: Option<&Value>| -> Result<i32> { Ok(value.and_then(Value::as_int).context("a number")?.try_into()?) };
    let (args, result) = (op.call.args(), op.call.results().first());
    Ok(match op.call.action() {
        "read" => match result {
            None => None,
            Some(Value::Nil) => Some(RegisterOp::Read(None)),
            value => Some(RegisterOp::Read(Some(int(value)?))),
        },
        "write" => Some(RegisterOp::Write(int(args.first())?)),
        "cas" => {
            let ok = result.map(|ok| ok.as_bool().context("a truth value")).transpose()?;
            Some(RegisterOp::Cas { from: int(args.first())?, to: int(args.get(1))?, ok })
        }
        action => bail!("no such action: {action}"),
    })
}

/// The strings of the key-value logs, each key on its own.
#[derive(Clone, Debug)]
pub struct Strings;

/// The strings of the key-value logs, all at once: what `Strings` does with one key, for each of ten.
#[derive(Clone, Debug)]
pub struct WholeStrings;

#[derive(Clone, Debug)]
pub struct StringsOp {
    key: u8,
    action: StringsAction,
}

#[derive(Clone, Debug)]
enum StringsAction {
    Get(Arc<str>),
    Put(Arc<str>),
    Append(Arc<str>),
}

impl StringsAction {
    /// The string after this action, or `None` if it is not possible.
    fn step(&self, state: &Arc<str>) -> Option<Arc<str>> {
        match self {
            StringsAction::Get(value) => (value == state).then(|| state.clone()),
            StringsAction::Put(value) => Some(value.clone()),
            StringsAction::Append(value) => Some([&**state, &**value].concat().into()),
        }
    }
}

impl Model for Strings {
    type State = Arc<str>;
    type Op = StringsOp;
    type Metadata = ();

    fn partition_operations(history: &[Operation<Self>]) -> Vec<Vec<Operation<Self>>> {
        let mut parts: BTreeMap<u8, Vec<Operation<Self>>> = BTreeMap::new();
        for operation in history {
            parts.entry(operation.op.key).or_default().push(operation.clone());
        }
        parts.into_values().collect()
    }

    fn init() -> Self::State {
        "".into()
    }

    fn step(state: &Self::State, op: &StringsOp) -> (bool, Self::State) {
        op.action.step(state).map_or_else(|| (false, state.clone()), |next| (true, next))
    }
}

impl Model for WholeStrings {
    type State = [Arc<str>; 10];
    type Op = StringsOp;
    type Metadata = ();

    fn init() -> Self::State {
        std::array::from_fn(|_| "".into())
    }

    fn step(state: &Self::State, op: &StringsOp) -> (bool, Self::State) {
        let mut next = state.clone();
        let changed = op.action.step(&state[usize::from(op.key)]);
        let is_enabled = changed.is_some();
        if let Some(changed) = changed {
            next[usize::from(op.key)] = changed;
        }
        (is_enabled, next)
    }
}

/// Reads a call of the key-value logs.
pub fn strings_op(op: &Op<Call>) -> Result<Option<StringsOp>> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(Arc::from).context("a string");
    let key: Arc<str> = text(op.call.args().first())?;
    let action = match (op.call.action(), op.call.results().first()) {
        ("get", None) => return Ok(None),
        ("get", value) => StringsAction::Get(text(value)?),
        ("put", _) => StringsAction::Put(text(op.call.args().get(1))?),
        ("append", _) => StringsAction::Append(text(op.call.args().get(1))?),
        (action, _) => bail!("no such action: {action}"),
    };
    Ok(Some(StringsOp { key: key.parse()?, action }))
}

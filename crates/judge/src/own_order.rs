//! The order that a system itself gives its operations, by a field of theirs: checked before anything is searched.
//!
//! If the operations are legal in this order, that is the verdict. If not, that is a finding of its own, and a search
//! without the field decides about the history: an order of the system may be wrong where the history is right.

use history::{Call, Op, OpId, Value};
use report::{Operation, Verdict};
use search::{Follower, Misfit, Spec, Witness};

use crate::input::InputError;
use crate::mentions::Calls;
use crate::{Failed, Limits, Stage};

/// What came of following an order.
pub(crate) enum Followed<S> {
    /// It is legal.
    Legal(Witness),
    /// It is not, or could not be followed.
    Not(Misfit<S>),
}

/// Operations between two looks at the limits.
const PAUSE: u64 = 1 << 12;

/// Follows the order of a field. Operations are shown by their starts; those that count have a call.
pub(crate) fn follow<S: Spec, P: std::borrow::Borrow<S::Op>>(
    spec: &S,
    field: &str,
    ops: impl Iterator<Item = Result<(Op<Option<P>>, Option<Value>), Failed>>,
    keeps_witness: bool,
    limits: &dyn Limits,
    failed: impl Fn(S::Error) -> Failed,
) -> Result<Followed<S::State>, Failed> {
    let mut follower = Some(Follower::new(spec, keeps_witness).map_err(&failed)?);
    let (mut misfit, mut count, mut is_ranked) = (None, 0, false);
    for op in ops {
        let (op, rank) = op?;
        if count % PAUSE == 0 {
            limits.reached(Stage::Deciding, count);
            if let Some(stop) = limits.exceeded() {
                return Err(Failed::Stopped(stop));
            }
        }
        count += 1;
        is_ranked |= rank.is_some();
        if let (Some(following), Op { call: Some(_), .. }) = (&mut follower, &op) {
            let Op { id, process, index, interval, call } = op;
            let Some(call) = call else { continue };
            misfit = following.push(Op { id, process, index, interval, call }, rank).map_err(&failed)?;
            if misfit.is_some() {
                follower = None;
            }
        }
        // A field that no operation has is a mistake on the command line, so one is looked for before anything is said.
        if follower.is_none() && is_ranked {
            break;
        }
    }
    if count > 0 && !is_ranked {
        return Err(Failed::Input(InputError {
            message: format!("no operation has a field `{field}` to order by"),
            help: Some("a field is a note (`meta`), a result or an argument that has this name".into()),
        }));
    }
    match (misfit, follower) {
        (Some(misfit), _) => Ok(Followed::Not(misfit)),
        (None, Some(follower)) => Ok(match follower.finish().map_err(&failed)? {
            Ok(witness) => Followed::Legal(witness),
            Err(misfit) => Followed::Not(misfit),
        }),
        (None, None) => unreachable!("an order is given up for a reason"),
    }
}

/// The place that a field gives an operation: the note, the result or the argument of this name. Digits in quotes are a
/// number.
pub(crate) fn rank(call: &Call, field: &str) -> Option<Value> {
    let schema = call.schema();
    let named = |names: &[std::sync::Arc<str>], values: &[Value]| {
        names.iter().position(|name| **name == *field).and_then(|place| values.get(place).cloned())
    };
    let note = call.meta.iter().find(|(name, _)| **name == *field).map(|(_, value)| value.clone());
    let value = note.or_else(|| named(&schema.results, call.results())).or_else(|| named(&schema.args, call.args()))?;
    match value {
        Value::Nil => None,
        Value::Str(text) => Some(Value::integer(&text).unwrap_or(Value::Str(text))),
        value => Some(value),
    }
}

/// How the verdict of a search reads that was made because an order could not be followed.
pub(crate) fn method(field: &str) -> String {
    format!("replayed in the order of `{field}`")
}

/// What there is to say about an order that could not be followed.
pub(crate) fn finding(field: &str, misfit: &Misfit<String>, calls: &Calls<'_>) -> Result<String, InputError> {
    let described = |op: OpId| -> Result<String, InputError> {
        let described = calls.describe(&[op])?;
        Ok(described.first().map(|op| told(op, field)).unwrap_or_default())
    };
    Ok(match misfit {
        Misfit::Time(first, second) => format!(
            "the system's own order contradicts real time: {} ended before {} began",
            described(*first)?,
            described(*second)?
        ),
        Misfit::Disabled { op, state, why, is_certain } => {
            let op = described(*op)?;
            let why = why.as_deref().unwrap_or("the specification does not allow it");
            let state = state.as_ref().map(|state| format!(" in state {state},")).unwrap_or_default();
            match is_certain {
                true => format!("the system's own order is not legal at {op}:{state} {why}"),
                false => format!(
                    "the system's own order could not be followed past {op}:{state} {why}; operations without \
                     `{field}` that never ended may have taken effect before it"
                ),
            }
        }
        Misfit::Unranked(op) => {
            format!("the system's own order is not complete: {} ended and has no `{field}`", described(*op)?)
        }
        Misfit::TooManyStates(op) => {
            format!("the system's own order was given up at {}: too many states are possible", described(*op)?)
        }
    })
}

/// What a verdict that was found without the order says about it.
pub(crate) fn consequence(field: &str, misfit: &Misfit<String>, verdict: &Verdict) -> String {
    let is_wrong = matches!(misfit, Misfit::Time(..) | Misfit::Disabled { is_certain: true, .. });
    match verdict {
        Verdict::Accepted if is_wrong => {
            format!("another order is legal: the history is right, and `{field}` is not the order of its effects")
        }
        Verdict::Accepted => format!("an order is legal that was found without `{field}`"),
        Verdict::Rejected(_) | Verdict::Violated(_) => {
            format!("no other order is legal either: the history is wrong, whatever `{field}` says")
        }
        Verdict::Inconclusive { .. } => format!("the search without `{field}` was stopped before it knew more"),
    }
}

/// An operation with its place in the order.
fn told(op: &Operation, field: &str) -> String {
    let mut fields = op.meta.iter().chain(&op.results).chain(&op.args);
    let rank = fields.find(|known| known.name == field).map(|known| format!(" (`{field}` {})", known.value));
    format!("{} {} {}{}", op.name, op.text, op.interval(), rank.unwrap_or_default())
}

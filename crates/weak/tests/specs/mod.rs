//! Small specifications, and random histories of them as weak systems would produce them.

use std::convert::Infallible;
use std::sync::Arc;

use fastrand::Rng;
use omnilink_history::{History, Interval};
use omnilink_search::{Spec, Successors};
use omnilink_weak::{Action, Forms};

/// A kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Register,
    Counter,
    Map,
    Queue,
    /// `take` returns any element, and is impossible if there is none.
    Bag,
}

impl Kind {
    pub(crate) const ALL: [Kind; 5] = [Kind::Register, Kind::Counter, Kind::Map, Kind::Queue, Kind::Bag];
}

/// A specification.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    pub(crate) kind: Kind,
}

/// A call, and its result if it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    name: &'static str,
    arg: u8,
    result: Option<u8>,
}

impl std::fmt::Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({}) = {:?}", self.name, self.arg, self.result)
    }
}

type State = Vec<u8>;

const NOTHING: u8 = 9;

impl Object {
    pub(crate) fn random(rng: &mut Rng) -> Object {
        Object { kind: Kind::ALL[rng.usize(..5)] }
    }

    pub(crate) fn initial(&self) -> Vec<State> {
        vec![match self.kind {
            Kind::Register | Kind::Counter => vec![0],
            Kind::Map => vec![0; 2],
            Kind::Queue | Kind::Bag => vec![],
        }]
    }

    pub(crate) fn actions(&self) -> &'static [&'static str] {
        match self.kind {
            Kind::Register => &["write", "read", "cas"],
            Kind::Counter => &["add", "read"],
            Kind::Map => &["put", "remove", "get", "size"],
            Kind::Queue => &["enqueue", "dequeue", "length"],
            Kind::Bag => &["put", "take"],
        }
    }

    /// Each state that a call may lead to, with its result.
    fn outcomes(&self, state: &State, call: &Call) -> Vec<(State, u8)> {
        let with = |change: &dyn Fn(&mut State)| {
            let mut next = state.clone();
            change(&mut next);
            next
        };
        let key = usize::from(call.arg % 2);
        match (self.kind, call.name) {
            (Kind::Register, "write") => vec![(vec![call.arg], 0)],
            (Kind::Register | Kind::Counter, "read") => vec![(state.clone(), state[0])],
            // From 0 to the argument.
            (Kind::Register, "cas") if state[0] == 0 => vec![(vec![call.arg], 1)],
            (Kind::Register, "cas") => vec![(state.clone(), 0)],
            (Kind::Counter, "add") => vec![(vec![state[0] + 1], state[0])],
            // Only if absent.
            (Kind::Map, "put") if state[key] == 0 => vec![(with(&|next| next[key] = call.arg + 1), 1)],
            (Kind::Map, "put") => vec![(state.clone(), 0)],
            (Kind::Map, "remove") => vec![(with(&|next| next[key] = 0), u8::from(state[key] != 0))],
            (Kind::Map, "get") => vec![(state.clone(), state[key])],
            (Kind::Map, "size") => vec![(state.clone(), state.iter().filter(|&&value| value != 0).count() as u8)],
            (Kind::Queue, "enqueue") => vec![(with(&|next| next.push(call.arg)), 0)],
            (Kind::Queue, "dequeue") if state.is_empty() => vec![(state.clone(), NOTHING)],
            (Kind::Queue, "dequeue") => vec![(state[1..].to_vec(), state[0])],
            (Kind::Queue, "length") => vec![(state.clone(), state.len() as u8)],
            (Kind::Bag, "put") => vec![(with(&|next| next.push(call.arg)), 0)].into_iter().map(sorted).collect(),
            (Kind::Bag, "take") => (0..state.len()).map(|at| (with(&|next| _ = next.remove(at)), state[at])).collect(),
            other => panic!("{other:?}"),
        }
    }

    /// The states that a call may lead to.
    pub(crate) fn next(&self, state: &State, call: &Call) -> Vec<State> {
        let outcomes = self.outcomes(state, call).into_iter();
        let mut next: Vec<State> = outcomes
            .filter(|(_, result)| call.result.is_none_or(|known| known == *result))
            .map(|(next, _)| next)
            .collect();
        next.dedup();
        next
    }

    fn never_changes(&self, call: &Call) -> bool {
        matches!((self.kind, call.name), (_, "read" | "get" | "size" | "length"))
    }
}

fn sorted((mut state, result): (State, u8)) -> (State, u8) {
    state.sort_unstable();
    (state, result)
}

impl Spec for Object {
    type Op = Call;
    type State = State;
    type Error = Infallible;

    fn initial(&self, out: &mut Vec<State>) -> Result<(), Infallible> {
        out.extend(Object::initial(self));
        Ok(())
    }

    fn step(&self, state: &State, op: &Call, out: &mut Successors<State>) -> Result<(), Infallible> {
        self.next(state, op).into_iter().for_each(|next| out.done(next));
        Ok(())
    }

    fn is_observer(&self, op: &Call) -> bool {
        let failed = matches!((self.kind, op.name), (Kind::Register, "cas") | (Kind::Map, "put" | "remove"));
        self.never_changes(op) || (failed && op.result == Some(0))
    }

    fn commute(&self, a: &Call, b: &Call) -> bool {
        let apart = self.kind == Kind::Map && a.name != "size" && b.name != "size" && a.arg % 2 != b.arg % 2;
        apart || (self.is_observer(a) && self.is_observer(b))
    }
}

/// A history as a system would record it in which operations miss others now and then; sometimes with a false result.
pub(crate) fn random_history(object: Object, rng: &mut Rng, most: usize) -> History<Action<Call>> {
    let count = rng.usize(3..=most);
    let processes = rng.u32(2..4);
    let mut clocks = vec![0; processes as usize];
    let mut is_over = vec![false; processes as usize];
    let mut planned: Vec<(u32, Interval, u64)> = Vec::new();
    // With a coarse clock, operations of one process often touch, and several may fall on one instant.
    let (pause, duration, gap) = if rng.u8(..3) == 0 { (2, 3, 2) } else { (4, 7, 4) };
    for _ in 0..count {
        let process = rng.u32(..processes);
        let clock = &mut clocks[process as usize];
        if std::mem::replace(&mut is_over[process as usize], false) {
            is_over[process as usize] = true;
            continue;
        }
        let start = *clock + rng.u64(..pause);
        let end = start + rng.u64(..duration);
        *clock = end + u64::from(rng.u8(..gap) > 0);
        let point = rng.u64(start..=end);
        let interval = match rng.u8(..8) {
            0 => {
                is_over[process as usize] = true;
                if rng.bool() { Interval::unfinished(start) } else { Interval::unknown(start, end).expect("a start") }
            }
            _ => Interval::new(start, end).expect("a start"),
        };
        planned.push((process, interval, point));
    }
    let mut order: Vec<usize> = (0..planned.len()).collect();
    order.sort_by_key(|&op| planned[op].2);
    let misses = rng.u8(..5);
    let mut done: Vec<Call> = Vec::new();
    let mut calls: Vec<Option<Call>> = vec![None; planned.len()];
    for &op in &order {
        let names = object.actions();
        let mut call = Call { name: names[rng.usize(..names.len())], arg: rng.u8(1..4), result: None };
        let mut state = object.initial().remove(0);
        for other in &done {
            if rng.u8(..10) < misses {
                continue;
            }
            let outcomes = object.outcomes(&state, other);
            if !outcomes.is_empty() {
                state = outcomes[rng.usize(..outcomes.len())].0.clone();
            }
        }
        let outcomes = object.outcomes(&state, &call);
        if outcomes.is_empty() {
            call = Call { name: "put", arg: 1, result: None };
        }
        let outcomes = object.outcomes(&state, &call);
        let (_, result) = outcomes[rng.usize(..outcomes.len())].clone();
        done.push(call.clone());
        call.result = (!planned[op].1.is_unfinished()).then_some(result);
        calls[op] = Some(call);
    }
    if rng.bool()
        && let Some(Some(call)) = rng.choice(&mut calls)
        && call.result.is_some()
    {
        call.result = Some(rng.u8(..4));
    }
    let action = |call: Call| {
        let free = (!object.never_changes(&call)).then(|| Call { result: None, ..call.clone() });
        Action { name: Arc::from(call.name), forms: Forms { recorded: call, free } }
    };
    let ops = planned.into_iter().zip(calls);
    let ops = ops.map(|((process, interval, _), call)| (process, interval, action(call.expect("a call"))));
    History::from_intervals(ops).expect("a well-formed history")
}

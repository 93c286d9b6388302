//! Random specs and random histories of them.
//!
//! A [`Table`] is a spec over four states whose operations are arbitrary relations: they may be disabled anywhere,
//! have several successors, and take steps that are not their last. Its answers about observers, and about operations
//! that commute, overwrite or preclude each other, are computed from the relations, so they are exact.

use std::convert::Infallible;

use fastrand::Rng;
use omnilink_history::{History, Interval, Op, OpId};
use omnilink_search::{Spec, Successors};

const STATES: usize = 4;

/// A spec given by relations.
#[derive(Clone, Debug)]
pub struct Table {
    initial: [bool; STATES],
    actions: Vec<Action>,
}

#[derive(Clone, Debug)]
struct Action {
    done: Relation,
    partway: Relation,
}

type Relation = [[bool; STATES]; STATES];

/// The action of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableOp(pub u8);

impl Table {
    /// A random spec with a few actions.
    pub fn random(rng: &mut Rng) -> Table {
        let mut initial = [false; STATES];
        initial[rng.usize(..STATES)] = true;
        initial[rng.usize(..STATES)] |= rng.u8(..4) == 0;
        let actions = (0..rng.usize(2..6)).map(|_| Action::random(rng)).collect();
        Table { initial, actions }
    }
}

impl Action {
    fn random(rng: &mut Rng) -> Action {
        let mut action = Action { done: Relation::default(), partway: Relation::default() };
        let kind = rng.u8(..9);
        let written = rng.usize(..STATES);
        for state in 0..STATES {
            match kind {
                8 => action.done[state][written] = true,
                0..=2 => action.done[state][state] = rng.bool(),
                3..=5 => action.done[state][rng.usize(..STATES)] = rng.u8(..4) > 0,
                6 => (0..STATES).for_each(|next| action.done[state][next] = rng.u8(..4) == 0),
                _ => {
                    action.done[state][rng.usize(..STATES)] = rng.bool();
                    action.partway[state][rng.usize(..STATES)] = rng.bool();
                }
            }
        }
        action
    }
}

fn then(a: &Relation, b: &Relation) -> Relation {
    let mut both = Relation::default();
    for from in 0..STATES {
        for via in (0..STATES).filter(|&via| a[from][via]) {
            (0..STATES).for_each(|to| both[from][to] |= b[via][to]);
        }
    }
    both
}

impl Spec for Table {
    type Op = TableOp;
    type State = u8;
    type Error = Infallible;

    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Infallible> {
        out.extend((0..STATES as u8).filter(|&state| self.initial[usize::from(state)]));
        Ok(())
    }

    fn step(&self, state: &u8, op: &TableOp, out: &mut Successors<u8>) -> Result<(), Infallible> {
        let action = &self.actions[usize::from(op.0)];
        for next in 0..STATES {
            if action.done[usize::from(*state)][next] {
                out.done(next as u8);
            }
            if action.partway[usize::from(*state)][next] {
                out.partway(next as u8);
            }
        }
        Ok(())
    }

    fn is_observer(&self, op: &TableOp) -> bool {
        let action = &self.actions[usize::from(op.0)];
        let leads = |relation: &Relation, from: usize, to: usize| relation[from][to];
        (0..STATES).all(|from| {
            (0..STATES).all(|to| !leads(&action.partway, from, to) && (from == to || !leads(&action.done, from, to)))
        })
    }

    fn commute(&self, a: &TableOp, b: &TableOp) -> bool {
        let (a, b) = (&self.actions[usize::from(a.0)], &self.actions[usize::from(b.0)]);
        a.parts().iter().all(|a| b.parts().iter().all(|b| then(a, b) == then(b, a)))
    }

    fn is_total(&self, op: &TableOp) -> bool {
        let Action { done, partway } = &self.actions[usize::from(op.0)];
        (0..STATES).all(|from| done[from].contains(&true) && !partway[from].contains(&true))
    }

    fn overwrites(&self, later: &TableOp, earlier: &TableOp) -> bool {
        let (later, earlier) = (&self.actions[usize::from(later.0)], &self.actions[usize::from(earlier.0)]);
        let agree = |from: usize, via: usize| later.parts().iter().all(|part| part[from] == part[via]);
        let leads = |from: usize, via: usize| earlier.parts().iter().any(|part| part[from][via]);
        (0..STATES).all(|from| (0..STATES).all(|via| !leads(from, via) || agree(from, via)))
    }

    fn precludes(&self, earlier: &TableOp, later: &TableOp) -> bool {
        let (earlier, later) = (&self.actions[usize::from(earlier.0)], &self.actions[usize::from(later.0)]);
        earlier.parts().iter().all(|a| later.parts().iter().all(|b| then(a, b) == Relation::default()))
    }
}

impl Action {
    fn parts(&self) -> [&Relation; 2] {
        [&self.done, &self.partway]
    }
}

/// A random history of at most `most` operations: short times, so that instants are shared; up to four in ten
/// operations are unfinished, and some of those have a latest time. About half are runs of the spec with intervals
/// around each step, the others are arbitrary.
pub fn random_history(spec: &Table, rng: &mut Rng, most: usize) -> History<TableOp> {
    let unfinished = rng.f64() * 0.4;
    let processes = rng.u32(1..5);
    let count = rng.usize(..=most);
    let ops = if rng.bool() { simulate(spec, rng, count) } else { Vec::new() };
    let (spread, coarse) = (rng.u64(1..5), rng.u64(1..4)); // Several operations take effect at one instant of a coarse clock.
    let mut free_at = vec![0; processes as usize];
    let mut names: Vec<u32> = (0..processes).collect();
    let mut next_name = processes;
    let mut calls = Vec::new();
    for place in 0..count {
        let process = rng.usize(..free_at.len());
        let Some(op) =
            ops.get(place).copied().or_else(|| ops.is_empty().then(|| TableOp(rng.u8(..spec.actions.len() as u8))))
        else {
            break;
        };
        let point = (place as u64 / coarse).max(free_at[process]);
        let start = point.saturating_sub(rng.u64(..spread)).max(free_at[process]);
        let end = point + rng.u64(..spread);
        let interval = match (rng.f64() < unfinished, rng.u8(..3)) {
            (false, _) => Interval::new(start, end),
            (true, 0) => Interval::unknown(start, end),
            (true, _) => Some(Interval::unfinished(start)),
        };
        let interval = interval.expect("an end after the start");
        // An unfinished operation is the last of its process, and another process replaces it.
        let name = names[process];
        free_at[process] = end;
        if interval.is_unfinished() {
            names[process] = next_name;
            next_name += 1;
            free_at[process] = start;
        }
        calls.push((name, interval, op));
    }
    History::from_intervals(calls).expect("processes that run one operation at a time")
}

fn simulate(spec: &Table, rng: &mut Rng, count: usize) -> Vec<TableOp> {
    let mut states = Vec::new();
    let Ok(()) = spec.initial(&mut states);
    let mut state = states[rng.usize(..states.len())];
    let mut ops = Vec::new();
    for _ in 0..count {
        let op = TableOp(rng.u8(..spec.actions.len() as u8));
        let mut successors = Successors::default();
        let Ok(()) = spec.step(&state, &op, &mut successors);
        let (done, _) = successors.into_parts();
        if let Some(&next) = done.first() {
            state = next;
            ops.push(op);
        }
    }
    ops
}

/// The same history with some operations blocked at the end: they are the last of their processes, and take one step.
pub fn with_random_last(spec: &Table, history: History<TableOp>, rng: &mut Rng) -> History<TableOp> {
    let time = |interval: Interval| interval.end().or(interval.latest()).unwrap_or(interval.start());
    let end = history.ops().iter().map(|op| time(op.interval) + 1).max().unwrap_or(0);
    let takes_one_step = |op: &Op<TableOp>| spec.actions[usize::from(op.call.0)].partway == Relation::default();
    let is_final = |op: &&Op<TableOp>| !history.ops().iter().any(|next| next.process == op.process && next.id > op.id);
    let finals = history.ops().iter().filter(is_final).filter(|op| takes_one_step(op));
    let last: Vec<OpId> = finals.filter(|_| rng.u8(..3) == 0).map(|op| op.id).collect();
    let at_end = Interval::new(end, end).expect("a time");
    let interval = |op: &Op<TableOp>| if last.contains(&op.id) { at_end } else { op.interval };
    let calls = history.ops().iter().map(|op| (op.process.0, interval(op), op.call));
    let moved = History::from_intervals(calls).expect("processes that run one operation at a time");
    let is_last = |op: &Op<TableOp>| op.interval == at_end;
    let ops = moved.ops().iter().map(|op| Op { is_last: is_last(op), ..op.clone() }).collect();
    History::from_ops(moved.processes().into(), ops)
}

/// The same history with up to three edges that agree with one random order of its operations.
pub fn with_random_edges<T: Clone>(history: History<T>, rng: &mut Rng) -> History<T> {
    let Some(last) = history.ops().len().checked_sub(1) else { return history };
    let mut edges = Vec::new();
    for _ in 0..rng.usize(..=3) {
        let (a, b) = (rng.usize(..=last), rng.usize(..=last));
        let (a, b) = (&history.ops()[a.min(b)], &history.ops()[a.max(b)]);
        // By start most of the time, so that some orders remain.
        edges.push(if rng.u8(..8) == 0 && a.process != b.process { (b.id, a.id) } else { (a.id, b.id) });
    }
    edges.retain(|(a, b)| a != b);
    match history.clone().with_edges(edges) {
        Ok(history) => history,
        Err(_) => history,
    }
}

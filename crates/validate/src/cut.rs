//! Points shortly before a failure from which the rest of the history can be checked on its own.
//!
//! At a cut all configurations have placed the same of the operations in flight. The past no longer matters: the states
//! possible there, and the operations not placed yet, determine everything. So a check can begin at a cut, with all of
//! its states, and is as sound as one from the beginning.

use omnilink_history::{History, Interval, Op, OpId};
use omnilink_search::{Checker, Options, Report, Spec, Watch};

use crate::bind::TraceOp;
use crate::fault::NoAnswer;
use crate::spec::{TraceSpec, TraceState};

/// The maximum number of operations before a failure that are examined.
const LOOKED_AT: usize = 512;

/// A window of fewer operations says no more than the operation that fails.
const FEW: usize = 6;

/// The maximum number of start states of a window.
const MOST_STATES: usize = 64;

/// A point of a history at which all configurations have placed the same operations.
/// The default has no states, and all operations come after it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cut {
    /// Every state possible there.
    pub(crate) states: Vec<TraceState>,
    /// Operations in flight there that no configuration has placed.
    carried: Vec<OpId>,
    /// The index of the first operation that starts after it.
    next: usize,
}

/// The cuts before a failure, earliest first. There is always one.
pub(crate) struct Cuts(Vec<Cut>);

impl Cuts {
    /// Finds the cuts before an operation that cannot be placed, from one of them on.
    pub(crate) fn before(
        from: &Cut,
        spec: &TraceSpec<'_>,
        history: &History<TraceOp>,
        goal: OpId,
        options: &Options,
        watch: &dyn Watch,
    ) -> Result<Cuts, NoAnswer> {
        let mut cuts = vec![from.clone()];
        let goal_at = history.ops().partition_point(|op| op.id < goal);
        let mut checker = Checker::from_states(spec, from.states.clone(), options)?;
        for op in from.ops(history) {
            if checker.push(op.with(&op.call), watch)?.is_decided() {
                break;
            }
            let index = history.ops().partition_point(|other| other.id < op.id);
            if index >= from.next && index + LOOKED_AT >= goal_at {
                cuts.extend(Cut::now(&checker, index + 1));
            }
        }
        Ok(Cuts(cuts))
    }

    /// The earliest cut that is near.
    pub(crate) fn first(&self) -> &Cut {
        self.0.get(1).unwrap_or(&self.0[0])
    }

    /// The latest cut before an operation starts.
    pub(crate) fn last_before(&self, history: &History<TraceOp>, op: OpId) -> &Cut {
        let place = history.ops().partition_point(|other| other.id < op);
        let before = self.0.iter().rev().find(|cut| cut.next <= place);
        before.unwrap_or(&self.0[0])
    }

    /// The cut with the fewest operations before an operation returned.
    pub(crate) fn smallest(&self, history: &History<TraceOp>, goal: OpId) -> Option<&Cut> {
        let few = self.0.iter().filter(|cut| cut.states.len() <= MOST_STATES);
        few.min_by_key(|cut| cut.until(history, goal).count().max(FEW) + cut.states.len())
    }
}

impl Cut {
    /// The beginning of every history.
    pub(crate) fn beginning(spec: &TraceSpec<'_>) -> Result<Cut, NoAnswer> {
        let mut states = Vec::new();
        spec.initial(&mut states).map_err(NoAnswer::Fault)?;
        Ok(Cut { states, carried: Vec::new(), next: 0 })
    }

    /// The current point of a check, if it is a cut; the next operation has this index.
    pub(crate) fn now(checker: &Checker<'_, TraceSpec<'_>>, next: usize) -> Option<Cut> {
        let possible = checker.possible()?;
        let (first, _) = possible.first()?;
        if possible.iter().any(|(placed, _)| placed != first) {
            return None;
        }
        let mut carried: Vec<OpId> = checker.in_flight();
        carried.retain(|id| !first.contains(id));
        carried.sort();
        let states = distinct(possible.iter().map(|(_, state)| (*state).clone()));
        Some(Cut { states, carried, next })
    }

    /// True if it is so far before an operation that everything examined comes after it.
    pub(crate) fn is_far_before(&self, history: &History<TraceOp>, op: OpId) -> bool {
        self.next + LOOKED_AT <= history.ops().partition_point(|other| other.id < op)
    }

    /// The operations not placed at the cut, by start.
    pub(crate) fn ops<'h>(&self, history: &'h History<TraceOp>) -> impl Iterator<Item = &'h Op<TraceOp>> {
        let carried = self.carried.clone().into_iter().map(|id| history.op(id));
        carried.chain(&history.ops()[self.next..])
    }

    /// Those of them that were called before an operation returned; operations still running then count as unfinished.
    pub(crate) fn until<'h>(&self, history: &'h History<TraceOp>, goal: OpId) -> impl Iterator<Item = Op<&'h TraceOp>> {
        let end = history.op(goal).interval.deadline();
        let before = self.ops(history).take_while(move |op| op.interval.start() <= end);
        before.map(move |op| match op.interval.deadline() > end {
            true => Op { interval: Interval::unfinished(op.interval.start()), ..op.with(&op.call) },
            false => op.with(&op.call),
        })
    }

    /// The number of operations placed before the cut.
    pub(crate) fn before(&self) -> u64 {
        (self.next - self.carried.len()) as u64
    }

    /// How many of them returned before this time.
    pub(crate) fn returned_before(&self, history: &History<TraceOp>, time: u64) -> u64 {
        let called = history.ops()[..self.next].iter();
        let has_returned =
            |op: &&Op<TraceOp>| op.interval.deadline() < time && self.carried.binary_search(&op.id).is_err();
        called.filter(has_returned).count() as u64
    }

    /// Checks operations from the states of the cut.
    pub(crate) fn check<'o>(
        &self,
        spec: &TraceSpec<'_>,
        ops: impl Iterator<Item = Op<&'o TraceOp>>,
        options: &Options,
        watch: &dyn Watch,
    ) -> Result<Report<TraceState>, NoAnswer> {
        let mut checker = Checker::from_states(spec, self.states.clone(), options)?;
        for op in ops {
            if checker.push(op, watch)?.is_decided() {
                break;
            }
        }
        Ok(checker.finish(watch)?)
    }
}

fn distinct(states: impl Iterator<Item = TraceState>) -> Vec<TraceState> {
    let mut distinct: Vec<TraceState> = Vec::new();
    for state in states {
        if !distinct.contains(&state) {
            distinct.push(state);
        }
    }
    distinct
}

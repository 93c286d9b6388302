//! Traces of programs that make one mistake.
//!
//! A corruption changes the results of one operation in the middle half of a trace, or exchanges those of two
//! operations of one action. The new results come from some call of that action, so they are values of the spec.
//! Often no order explains the trace any longer, and sometimes one does: a corruption has no known verdict, and
//! serves to compare two checkers.

use fastrand::Rng;
use omnilink_history::{Call, Trace, Value};

/// Changes a result, or exchanges two. Does nothing if no two calls of one action in the middle half differ in results.
pub fn corrupt(trace: &mut Trace, seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let (quarter, count) = (trace.records.len() / 4, trace.records.len());
    let mut places: Vec<usize> = (quarter..count - quarter).collect();
    rng.shuffle(&mut places);
    for (index, &place) in places.iter().enumerate() {
        let call = &trace.records[place].call;
        let others = || places[index + 1..].iter().copied();
        let differs = |&other: &usize| {
            let other = &trace.records[other].call;
            other.action() == call.action()
                && other.results().len() == call.results().len()
                && other.results() != call.results()
        };
        let Some(other) = others().find(differs) else { continue };
        let (here, there) = (results(call), results(&trace.records[other].call));
        replace(&mut trace.records[place].call, there);
        if rng.bool() {
            replace(&mut trace.records[other].call, here);
        }
        return;
    }
}

fn results(call: &Call) -> Vec<Value> {
    call.results().to_vec()
}

fn replace(call: &mut Call, results: Vec<Value>) {
    let values = call.args().iter().cloned().chain(results).collect::<Vec<Value>>();
    let mut changed = Call::new(call.schema().clone(), values).expect("as many results as before");
    (changed.failed, changed.meta) = (call.failed, std::mem::take(&mut call.meta));
    *call = changed;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Example, record};

    #[test]
    fn one_or_two_results_change_in_the_middle() {
        for (example, seed) in Example::ALL.into_iter().flat_map(|example| (0..20).map(move |seed| (example, seed))) {
            let correct = record(example, 100, 4, seed);
            let mut trace = correct.clone();
            corrupt(&mut trace, seed);
            let changed: Vec<usize> = (0..100).filter(|&at| trace.records[at] != correct.records[at]).collect();
            assert!(matches!(changed.len(), 1 | 2), "{example:?} {seed}: {changed:?}");
            assert!(changed.iter().all(|at| (25..75).contains(at)), "{example:?} {seed}: {changed:?}");
            let args =
                |trace: &Trace| trace.records.iter().map(|record| record.call.args().to_vec()).collect::<Vec<_>>();
            assert_eq!(args(&trace), args(&correct));
            let mut again = correct.clone();
            corrupt(&mut again, seed);
            assert_eq!(trace, again);
        }
    }

    #[test]
    fn nothing_changes_where_nothing_came_back() {
        for ops in [0, 1, 2] {
            let mut trace = record(Example::Snapshot, ops, 4, 1);
            corrupt(&mut trace, 1);
            assert_eq!(trace, record(Example::Snapshot, ops, 4, 1));
        }
    }
}

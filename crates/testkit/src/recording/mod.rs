//! Traces of correct programs, for the specs in `examples/`.
//!
//! Processes run in virtual time. An operation takes effect in one step or in several, each at its own instant, on
//! one real object. Its interval begins before the first instant and ends after the last one, now and then long
//! after, as if the process had been descheduled in between. The order of the instants explains the history, so it is
//! accepted. Actions and fields have the names of the specs, and the few values recur, so that the difference between
//! two orders stays small however long a trace is.
//!
//! The same parameters give the same trace, on any machine.

mod corrupt;
mod map;
mod producer_queue;
mod queue;
mod snapshot;

use std::collections::BTreeSet;
use std::sync::Arc;

use fastrand::Rng;
use omnilink_history::{Call, End, ProcessId, Record, Schema, Trace, Value};

pub use self::corrupt::corrupt;

/// The traced program, by the directory of its spec in `examples/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Example {
    /// `Enqueue`, `Dequeue` and `DequeueEmpty`.
    Queue,
    /// `Put`, `Insert`, `Erase`, `Contains` and `Count`.
    Map,
    /// `EnqueueBatch` and `DequeueBatch`, which take several steps.
    ProducerQueue,
    /// `Begin`, `Read`, `Write`, `Commit` and `Abort`.
    Snapshot,
}

impl Example {
    /// Every example.
    pub const ALL: [Example; 4] = [Example::Queue, Example::Map, Example::ProducerQueue, Example::Snapshot];

    /// The directory of the spec.
    pub fn directory(self) -> &'static str {
        match self {
            Example::Queue => "queue",
            Example::Map => "map",
            Example::ProducerQueue => "producer-queue",
            Example::Snapshot => "snapshot",
        }
    }
}

/// Records this many operations of a correct program, by increasing start.
pub fn record(example: Example, ops: usize, processes: usize, seed: u64) -> Trace {
    match example {
        Example::Queue => run(queue::Queue::default(), ops, processes, seed),
        Example::Map => run(map::Map::default(), ops, processes, seed),
        Example::ProducerQueue => run(producer_queue::ProducerQueue::new(processes), ops, processes, seed),
        Example::Snapshot => run(snapshot::Snapshot::new(processes), ops, processes, seed),
    }
}

/// An object that many processes call, each one operation at a time.
trait Object {
    /// Lets the operation of this process take its next step, beginning one if there is none. Returns the call, with
    /// its results, after the last step.
    fn step(&mut self, process: usize, rng: &mut Rng) -> Option<Call>;
}

/// An operation that has begun.
struct Running {
    start: u64,
    instant: u64, // Of its next step.
}

/// The longest time between two steps, and the longest pause between two operations.
const LONGEST: u64 = 40;

fn run(mut object: impl Object, ops: usize, processes: usize, seed: u64) -> Trace {
    let mut rng = Rng::with_seed(seed);
    let mut begun = processes.min(ops);
    let mut running: Vec<Option<Running>> =
        (0..processes).map(|process| (process < begun).then(|| begin(0, &mut rng))).collect();
    // Steps in the order of their instants; of those that share one, by process.
    let mut agenda: BTreeSet<(u64, usize)> = BTreeSet::new();
    let schedule = |running: &Running, process| (running.instant, process);
    agenda.extend(running.iter().enumerate().filter_map(|(process, op)| Some(schedule(op.as_ref()?, process))));
    let mut records = Vec::with_capacity(ops);
    while let Some((now, process)) = agenda.pop_first() {
        let op = running[process].as_mut().expect("only operations that run have steps");
        let Some(call) = object.step(process, &mut rng) else {
            op.instant = now + rng.u64(1..=LONGEST);
            agenda.insert(schedule(op, process));
            continue;
        };
        let end = now + slack(&mut rng);
        records.push(Record { process: ProcessId(process as u32), start: op.start, end: End::At(end), call });
        running[process] = (begun < ops).then(|| begin(end + 1, &mut rng));
        if let Some(op) = &running[process] {
            begun += 1;
            agenda.insert(schedule(op, process));
        }
    }
    records.sort_by_key(|record| (record.start, record.process));
    let processes = (0..processes).map(|process| process.to_string().into()).collect();
    Trace { processes, records, ..Trace::default() }
}

fn begin(now: u64, rng: &mut Rng) -> Running {
    let start = now + rng.u64(..LONGEST);
    Running { start, instant: start + slack(rng) }
}

/// How much an interval exceeds its operation on one side: mostly little, one time in twenty much.
fn slack(rng: &mut Rng) -> u64 {
    if rng.u32(..20) == 0 { rng.u64(..=5 * LONGEST) } else { rng.u64(..=LONGEST / 2) }
}

/// The names of an action. Those after the arguments are results.
fn schema(action: &str, args: &[&str], results: &[&str]) -> Arc<Schema> {
    let names = |names: &[&str]| names.iter().map(|&name| name.into()).collect();
    Arc::new(Schema { action: action.into(), args: names(args), results: names(results) })
}

fn call<const N: usize>(schema: &Arc<Schema>, values: [Value; N]) -> Call {
    Call::new(schema.clone(), values).expect("as many values as the schema has names")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use omnilink_history::{History, Interval};

    use super::*;

    fn check(example: Example, ops: usize, seed: u64) -> Trace {
        let trace = record(example, ops, 4, seed);
        assert_eq!(trace, record(example, ops, 4, seed));
        assert_eq!(trace.records.len(), ops);
        assert!(trace.records.is_sorted_by_key(|record| record.start));
        History::new(trace.clone()).expect("processes that run one operation at a time");
        trace
    }

    #[test]
    fn recordings_are_well_formed_and_the_same_each_time() {
        for example in Example::ALL {
            assert_ne!(check(example, 500, 1), check(example, 500, 2));
            check(example, 0, 1);
            check(example, 3, 1);
        }
    }

    #[test]
    fn every_action_is_recorded() {
        let check = |example, actions: &[&str]| {
            let mut counts = BTreeMap::new();
            check(example, 1000, 7).records.iter().for_each(|record| {
                *counts.entry(record.call.action().to_owned()).or_insert(0) += 1;
            });
            assert!(counts.keys().eq(actions), "{counts:?}");
            assert!(counts.values().all(|&count| count >= 50), "{counts:?}");
        };
        check(Example::Queue, &["Dequeue", "DequeueEmpty", "Enqueue"]);
        check(Example::Map, &["Contains", "Count", "Erase", "Insert", "Put"]);
        check(Example::ProducerQueue, &["DequeueBatch", "EnqueueBatch"]);
        check(Example::Snapshot, &["Abort", "Begin", "Commit", "Read", "Write"]);
    }

    #[test]
    fn operations_overlap() {
        for example in Example::ALL {
            let intervals = check(example, 500, 3).records.into_iter().map(|record| {
                Interval::new(record.start, record.end.at().expect("recordings are complete")).expect("time goes on")
            });
            let intervals: Vec<Interval> = intervals.collect();
            let overlapping = intervals.windows(2).filter(|pair| !pair[0].precedes(pair[1])).count();
            assert!((300..490).contains(&overlapping), "{example:?}: {overlapping} neighbours overlap");
        }
    }
}

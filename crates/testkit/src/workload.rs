//! Long histories with a known verdict.
//!
//! Processes run in virtual time. Each calls one operation after another; an operation takes effect at one instant of
//! its interval, on one real object, in the order of those instants. That order explains the history, so it is
//! accepted. A history to be rejected has one operation whose result is possible in no state at all.
//!
//! Records come as a stream by increasing start. An operation that has taken effect waits only for those that started
//! before it and have not, so the memory needed depends on the number of processes and not on that of operations. The
//! same parameters give the same history, on any machine.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;

use fastrand::Rng;
use omnilink_history::{Call, End, ProcessId, Record, Schema, Trace, Value};

/// The number of keys of a map.
pub const KEYS: i64 = 11;

/// How long operations take, compared with the time between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// A process is nearly always inside an operation, so nearly all processes overlap at any time.
    Heavy,
    /// A process is mostly between two operations.
    Light,
}

/// Calls of a map: `put`, `insert`, `erase`, `contains` and `range_count` over [`KEYS`] keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// The number of operations.
    pub operations: u64,
    /// The number of processes.
    pub threads: u32,
    /// The percentage of observers. Without any, hardly anything distinguishes one order from another.
    pub reads: u32,
    /// How much they overlap.
    pub overlap: Overlap,
    /// The seed.
    pub seed: u64,
    /// The number of the impossible operation, if there is one.
    pub violation: Option<u64>,
    /// Whether each operation has a note [`RANK`]: the number of operations that took effect before it.
    pub ranks: bool,
}

/// The note with the rank of an operation.
pub const RANK: &str = "rank";

/// Calls of a register: `write` of values that are all different, and `read`, half of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// The number of operations.
    pub operations: u64,
    /// The number of processes that call them at any time.
    pub threads: u32,
    /// The percentage of unfinished operations. Their process calls nothing more, and another one replaces it.
    pub unfinished: u32,
    /// The seed.
    pub seed: u64,
    /// The number of the impossible operation, if there is one.
    pub violation: Option<u64>,
}

/// Calls of a queue: `enqueue` of values that are all different, and `dequeue`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// The number of operations.
    pub operations: u64,
    /// The number of processes.
    pub threads: u32,
    /// Whether `dequeue` is also called on an empty queue, and then returns that.
    pub empties: bool,
    /// Whether one more process calls one more `enqueue`, which is in flight from the beginning to the end.
    pub spanning: bool,
    /// How much they overlap.
    pub overlap: Overlap,
    /// The seed.
    pub seed: u64,
    /// The number of the impossible operation, if there is one.
    pub violation: Option<u64>,
}

impl Map {
    /// A map of five threads that overlap heavily, with half observers: the case of most figures.
    pub fn of(operations: u64) -> Map {
        Map { operations, threads: 5, reads: 50, overlap: Overlap::Heavy, seed: 1, violation: None, ranks: false }
    }

    /// The records, by increasing start.
    pub fn records(&self) -> impl Iterator<Item = Record> + use<> {
        let object = MapObject { reads: self.reads, held: BTreeMap::new(), names: MapNames::new() };
        let workload = Workload::new(object, self.operations, self.threads, self.overlap, self.seed, self.violation);
        Workload { ranks: self.ranks, ..workload }
    }

    /// All records at once.
    pub fn trace(&self) -> Trace {
        trace(self.threads, self.records())
    }
}

impl Register {
    /// A register in nearly constant use by this many processes at once.
    pub fn of(operations: u64, threads: u32) -> Register {
        Register { operations, threads, unfinished: 0, seed: 1, violation: None }
    }

    /// The records, by increasing start.
    pub fn records(&self) -> impl Iterator<Item = Record> + use<> {
        let object = RegisterObject {
            held: Value::Nil,
            next: 0,
            write: schema("write", &["value"], None),
            read: schema("read", &[], Some("value")),
        };
        let (overlap, unfinished) = (Overlap::Heavy, self.unfinished);
        let workload = Workload::new(object, self.operations, self.threads, overlap, self.seed, self.violation);
        Workload { unfinished, ..workload }
    }

    /// All records at once.
    pub fn trace(&self) -> Trace {
        let records: Vec<Record> = self.records().collect();
        let threads = records.iter().map(|record| record.process.0 + 1).max().unwrap_or(0);
        trace(threads, records.into_iter())
    }
}

impl Queue {
    /// A queue of five threads that overlap heavily.
    pub fn of(operations: u64) -> Queue {
        let (empties, spanning) = (true, false);
        Queue { operations, threads: 5, empties, spanning, overlap: Overlap::Heavy, seed: 1, violation: None }
    }

    /// The records, by increasing start.
    pub fn records(&self) -> impl Iterator<Item = Record> + use<> {
        let object = QueueObject {
            empties: self.empties,
            held: VecDeque::new(),
            next: 0,
            enqueue: schema("enqueue", &["value"], None),
            dequeue: schema("dequeue", &[], Some("value")),
        };
        // No operation and no pause is longer, so nothing ends later. It takes effect last, and constrains nothing.
        let end = (self.operations + 1) * 2 * LONGEST;
        let call = call(&object.enqueue, [Value::Int(-1)]);
        let spanning = Record { process: ProcessId(self.threads), start: 0, end: End::At(end), call };
        let rest = Workload::new(object, self.operations, self.threads, self.overlap, self.seed, self.violation);
        self.spanning.then_some(spanning).into_iter().chain(rest)
    }

    /// All records at once.
    pub fn trace(&self) -> Trace {
        trace(self.threads + u32::from(self.spanning), self.records())
    }
}

fn trace(threads: u32, records: impl Iterator<Item = Record>) -> Trace {
    let processes = (0..threads).map(|process| process.to_string().into()).collect();
    Trace { processes, records: records.collect(), ..Trace::default() }
}

/// A sequential object that is called at random.
trait Object {
    /// Makes a call, and changes the object. An impossible call has a result that is possible in no state.
    fn call(&mut self, rng: &mut Rng, is_impossible: bool) -> Call;
}

struct Workload<O> {
    object: O,
    rng: Rng,
    overlap: Overlap,
    violation: Option<u64>,
    to_start: u64,
    in_effect: u64, // The number of operations that have taken effect.
    ranks: bool,
    unfinished: u32,
    processes: u32,            // The number of processes so far.
    running: Vec<Running>,     // At most one of each process: operations that have not taken effect yet.
    waiting: BinaryHeap<Done>, // Operations that have, and that come after one that has not.
}

#[derive(Clone, Copy)]
struct Running {
    process: u32,
    start: u64,
    effect: u64,
    end: u64,
}

/// An operation that has taken effect. The one that started first is the greatest.
struct Done(Reverse<(u64, u32)>, Record);

/// The maximum length of an operation or a pause.
const LONGEST: u64 = 150;

impl<O: Object> Workload<O> {
    fn new(object: O, operations: u64, threads: u32, overlap: Overlap, seed: u64, violation: Option<u64>) -> Self {
        let mut workload = Workload {
            object,
            rng: Rng::with_seed(seed),
            overlap,
            violation,
            to_start: operations,
            in_effect: 0,
            ranks: false,
            unfinished: 0,
            processes: threads,
            running: Vec::new(),
            waiting: BinaryHeap::new(),
        };
        (0..threads).for_each(|process| workload.start(process, 0));
        workload
    }

    fn start(&mut self, process: u32, now: u64) {
        if self.to_start == 0 {
            return;
        }
        self.to_start -= 1;
        let mut long = || self.rng.u64(LONGEST / 3..LONGEST);
        let (pause, duration) = match self.overlap {
            Overlap::Heavy => (1, long()),
            Overlap::Light => (long(), self.rng.u64(1..10)),
        };
        let start = now + pause + self.rng.u64(..3);
        let effect = start + self.rng.u64(..=duration);
        self.running.push(Running { process, start, effect, end: start + duration });
    }

    /// Lets the next operation take effect.
    fn advance(&mut self) {
        let next =
            (0..self.running.len()).min_by_key(|&index| (self.running[index].effect, self.running[index].process));
        let Some(next) = next else { return };
        let Running { process, start, end, .. } = self.running.swap_remove(next);
        let is_impossible = self.violation == Some(self.in_effect);
        let mut call = self.object.call(&mut self.rng, is_impossible);
        if self.ranks {
            call.meta.push((RANK.into(), Value::Int(self.in_effect as i64)));
        }
        self.in_effect += 1;
        let never_ends = !is_impossible && self.unfinished > 0 && self.rng.u32(..100) < self.unfinished;
        let (ended, next) = match never_ends {
            true => {
                self.processes += 1;
                call = Call::new(call.schema().clone(), call.args().iter().cloned()).expect("arguments and no result");
                (End::Unknown { latest: None }, self.processes - 1)
            }
            false => (End::At(end), process),
        };
        let record = Record { process: ProcessId(process), start, end: ended, call };
        self.waiting.push(Done(Reverse((start, process)), record));
        self.start(next, end);
    }
}

impl<O: Object> Iterator for Workload<O> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        while !self.running.is_empty() {
            // Later operations of a process start after its current one.
            let earliest = self.running.iter().map(|running| running.start).min();
            if self.waiting.peek().zip(earliest).is_some_and(|(first, earliest)| first.1.start <= earliest) {
                break;
            }
            self.advance();
        }
        self.waiting.pop().map(|done| done.1)
    }
}

impl PartialEq for Done {
    fn eq(&self, other: &Done) -> bool {
        self.0 == other.0
    }
}

impl Eq for Done {}

impl PartialOrd for Done {
    fn partial_cmp(&self, other: &Done) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Done {
    fn cmp(&self, other: &Done) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

struct MapObject {
    reads: u32,
    held: BTreeMap<i64, i64>,
    names: MapNames,
}

struct MapNames {
    put: Arc<Schema>,
    insert: Arc<Schema>,
    erase: Arc<Schema>,
    contains: Arc<Schema>,
    range_count: Arc<Schema>,
}

impl MapNames {
    fn new() -> MapNames {
        MapNames {
            put: schema("put", &["key", "value"], None),
            insert: schema("insert", &["key", "value"], Some("ok")),
            erase: schema("erase", &["key"], Some("ok")),
            contains: schema("contains", &["key"], Some("ok")),
            range_count: schema("range_count", &["lo", "hi"], Some("count")),
        }
    }
}

impl Object for MapObject {
    fn call(&mut self, rng: &mut Rng, is_impossible: bool) -> Call {
        let MapObject { reads, held, names } = self;
        let (key, value) = (rng.i64(0..KEYS), rng.i64(0..8));
        let kind = if rng.u32(..100) < *reads { rng.u8(..2) } else { rng.u8(2..5) };
        match kind {
            _ if is_impossible => call(&names.range_count, [Value::Int(0), Value::Int(KEYS - 1), Value::Int(KEYS + 1)]),
            0 => call(&names.contains, [Value::Int(key), Value::Bool(held.contains_key(&key))]),
            1 => {
                let other = rng.i64(0..KEYS);
                let (lo, hi) = (key.min(other), key.max(other));
                let count = held.range(lo..=hi).count() as i64;
                call(&names.range_count, [Value::Int(lo), Value::Int(hi), Value::Int(count)])
            }
            2 => {
                held.insert(key, value);
                call(&names.put, [Value::Int(key), Value::Int(value)])
            }
            3 => {
                let ok = !held.contains_key(&key);
                held.entry(key).or_insert(value);
                call(&names.insert, [Value::Int(key), Value::Int(value), Value::Bool(ok)])
            }
            _ => call(&names.erase, [Value::Int(key), Value::Bool(held.remove(&key).is_some())]),
        }
    }
}

struct RegisterObject {
    held: Value,
    next: i64,
    write: Arc<Schema>,
    read: Arc<Schema>,
}

impl Object for RegisterObject {
    fn call(&mut self, rng: &mut Rng, is_impossible: bool) -> Call {
        if is_impossible {
            // It was there long ago, or is yet to come.
            return call(&self.read, [Value::Int(self.next / 2)]);
        }
        if rng.bool() {
            return call(&self.read, [self.held.clone()]);
        }
        self.held = Value::Int(self.next);
        self.next += 1;
        call(&self.write, [self.held.clone()])
    }
}

struct QueueObject {
    empties: bool,
    held: VecDeque<i64>,
    next: i64,
    enqueue: Arc<Schema>,
    dequeue: Arc<Schema>,
}

/// A queue that holds this many values gets no more, so that its length does not grow with the history.
const CROWDED: usize = 8;

impl Object for QueueObject {
    fn call(&mut self, rng: &mut Rng, is_impossible: bool) -> Call {
        if is_impossible {
            return call(&self.dequeue, [Value::Int(-2)]);
        }
        let may_dequeue = self.empties || !self.held.is_empty();
        if may_dequeue && (self.held.len() >= CROWDED || rng.bool()) {
            return call(&self.dequeue, [self.held.pop_front().map_or(Value::Nil, Value::Int)]);
        }
        self.held.push_back(self.next);
        self.next += 1;
        call(&self.enqueue, [Value::Int(self.next - 1)])
    }
}

fn schema(action: &str, args: &[&str], result: Option<&str>) -> Arc<Schema> {
    let args = args.iter().map(|&name| name.into()).collect();
    Arc::new(Schema { action: action.into(), args, results: result.map(Arc::from).into_iter().collect() })
}

fn call<const N: usize>(schema: &Arc<Schema>, values: [Value; N]) -> Call {
    Call::new(schema.clone(), values).expect("as many values as the schema has names")
}

#[cfg(test)]
mod tests {
    use omnilink_history::{History, Verdict};
    use omnilink_models::{Model, kv::Kv, queue};

    use super::*;

    fn check(model: &impl Model, trace: Trace) -> &'static str {
        let history = History::new(trace).expect("processes that run one operation at a time");
        let checked = omnilink_models::check::check(model, &history, &Default::default(), &omnilink_search::Unwatched)
            .expect("calls of the model");
        match checked.verdict {
            Verdict::Accepted(_) => "accepted",
            Verdict::Rejected(_) => "rejected",
            Verdict::Inconclusive(_) => "inconclusive",
        }
    }

    #[test]
    fn maps_are_accepted_unless_something_is_impossible() {
        for (reads, overlap) in [(50, Overlap::Heavy), (0, Overlap::Light)] {
            let map = Map { reads, overlap, ..Map::of(2000) };
            assert_eq!(check(&Kv::new(&Value::Nil), map.trace()), "accepted");
            let map = Map { violation: Some(1990), ..map };
            assert_eq!(check(&Kv::new(&Value::Nil), map.trace()), "rejected");
        }
    }

    #[test]
    fn registers_are_accepted_unless_something_is_impossible() {
        for (threads, unfinished) in [(3, 0), (20, 5)] {
            let register = Register { unfinished, ..Register::of(2000, threads) };
            let model = omnilink_models::register::Register::new(&Value::Nil);
            assert_eq!(check(&model, register.trace()), "accepted");
            let register = Register { violation: Some(1990), ..register };
            assert_eq!(check(&model, register.trace()), "rejected");
        }
    }

    #[test]
    fn ranks_are_the_order_of_effects() {
        let trace = Map { ranks: true, ..Map::of(200) }.trace();
        let rank = |record: &Record| record.call.meta[0].1.as_int().expect("a number");
        let mut by_rank: Vec<&Record> = trace.records.iter().collect();
        by_rank.sort_by_key(|record| rank(record));
        assert!(by_rank.iter().map(|record| rank(record)).eq(0..200));
        let mut latest_start = 0;
        for record in by_rank {
            assert!(record.end.at().is_some_and(|end| end >= latest_start), "an order of the history");
            latest_start = latest_start.max(record.start);
        }
    }

    #[test]
    fn queues_are_accepted_unless_something_is_impossible() {
        for (empties, spanning) in [(true, false), (false, true)] {
            let queue = Queue { empties, spanning, ..Queue::of(200) };
            assert_eq!(check(&queue::Queue::new(None), queue.trace()), "accepted");
            let queue = Queue { violation: Some(190), ..queue };
            assert_eq!(check(&queue::Queue::new(None), queue.trace()), "rejected");
        }
    }

    #[test]
    fn records_come_by_start_and_the_same_each_time() {
        let map = Map { threads: 20, ..Map::of(5000) };
        let trace = map.trace();
        assert_eq!(trace, map.trace());
        assert_ne!(trace, Map { seed: 2, ..map }.trace());
        assert_eq!(trace.records.len(), 5000);
        assert!(trace.records.is_sorted_by_key(|record| record.start));
        let mut keys: Vec<i64> = trace.records.iter().filter_map(|record| record.call.args()[0].as_int()).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys, Vec::from_iter(0..KEYS));
    }
}

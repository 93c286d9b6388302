//! A history that is checked in stretches, from the states that each carries to the next, has the verdict of the whole.

use std::sync::Arc;

use fastrand::Rng;
use omnilink_history::{Call, History, Op, OpId, Value};
use omnilink_judge::{Case, CheckOptions, CheckedKey, Failed, Judge, Key, KeyOps, KeyVerdict, Recording, Unlimited};
use tempfile::TempDir;

/// Values of every kind: model values, strings with the same names, records, sets, sequences and functions.
const SHELF: &str = r#"---- MODULE Shelf ----
EXTENDS Integers, Sequences, FiniteSets
CONSTANTS None, Places
VARIABLES held, seen, last
Init == held = [p \in Places |-> None] /\ seen = {} /\ last = <<"None", None, [place |-> "p1", count |-> 0]>>
Put(p, v) ==
    /\ held' = [held EXCEPT ![p] = v]
    /\ seen' = seen \cup {[place |-> p, value |-> v]}
    /\ last' = <<"put", p, [place |-> "p1", count |-> v]>>
Get(p, v) == held[p] = v /\ UNCHANGED <<held, seen, last>>
Kinds(n) == Cardinality(seen) = n /\ UNCHANGED <<held, seen, last>>
Fall(p) == held[p] # None /\ held' = [held EXCEPT ![p] = None] /\ UNCHANGED <<seen, last>>
Next == \E p \in Places, v \in {None, 1, 2}, n \in 0..6 : Put(p, v) \/ Get(p, v) \/ Kinds(n) \/ Fall(p)
Few == Cardinality(seen) <= 3
====
"#;
const SHELF_CFG: &str = "INIT Init\nNEXT Next\nCONSTANTS None = None\nPlaces = {p1, p2}\n";

/// A kind of specification, with random calls of it.
struct Kind {
    judge: Judge,
    call: fn(&mut Rng) -> Call,
    _directory: TempDir,
}

fn builtin(name: &str, call: fn(&mut Rng) -> Call) -> Kind {
    let judge = Judge::new(name, CheckOptions::default()).expect("a built-in specification");
    Kind { judge, call, _directory: tempfile::tempdir().expect("a directory") }
}

fn shelf(config: &str, settings: &str) -> Kind {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("a file");
    write("Shelf.tla", SHELF);
    write("Shelf.cfg", &format!("{SHELF_CFG}{config}"));
    write("omnilink.toml", settings);
    let spec = directory.path().join("Shelf.tla").display().to_string();
    let judge = Judge::new(&spec, CheckOptions::default()).expect("a specification");
    let call = |rng: &mut Rng| {
        let place = Value::str(["p1", "p2"][rng.usize(..2)]);
        let value = [Value::str("None"), 1.into(), 2.into()][rng.usize(..3)].clone();
        match rng.usize(..6) {
            0..=1 => Call::positional("Put", [place, value], []),
            2..=4 => Call::positional("Get", [place, value], []),
            _ => Call::positional("Kinds", [Value::Int(rng.i64(0..4))], []),
        }
    };
    Kind { judge, call, _directory: directory }
}

fn kinds() -> Vec<(&'static str, Kind)> {
    let register = |rng: &mut Rng| {
        let value = Value::Int(rng.i64(0..3));
        match rng.bool() {
            true => Call::positional("write", [value], []),
            false => Call::positional("read", [], [value]),
        }
    };
    let queue = |rng: &mut Rng| {
        let value = Value::Int(rng.i64(0..2));
        match rng.bool() {
            true => Call::positional("enqueue", [value], []),
            false => Call::positional("dequeue", [], [if rng.u8(..3) == 0 { Value::Nil } else { value }]),
        }
    };
    vec![
        ("register", builtin("register:initial=0", register)),
        ("queue", builtin("queue", queue)),
        ("TLA+", shelf("", "")),
        ("TLA+ with an invariant and an internal action", shelf("INVARIANT Few\n", "internal = [\"Fall\"]\n")),
    ]
}

/// A history of three processes, by increasing start.
fn history(rng: &mut Rng, call: fn(&mut Rng) -> Call) -> History<Call> {
    let mut clocks = [0_u64; 3];
    let mut calls = Vec::new();
    for _ in 0..rng.usize(1..10) {
        let process = rng.u32(..3);
        let start = clocks[process as usize] + rng.u64(..4);
        let end = start + rng.u64(..4);
        let is_unfinished = rng.u8(..40) == 0;
        clocks[process as usize] = if is_unfinished { u64::MAX / 2 } else { end + 1 };
        if start < u64::MAX / 2 {
            calls.push((process, start, (!is_unfinished).then_some(end), call(rng)));
        }
    }
    History::from_calls(calls).expect("processes that run one operation at a time")
}

/// Some operations of a history.
struct Part<'h> {
    processes: &'h [Arc<str>],
    ops: Vec<Op<Call>>,
    next: usize,
}

impl KeyOps for Part<'_> {
    fn next(&mut self) -> Result<Option<Op<Call>>, Failed> {
        self.next += 1;
        Ok(self.ops.get(self.next - 1).cloned())
    }

    fn processes(&self) -> &[Arc<str>] {
        self.processes
    }

    fn again(&mut self) -> Result<Option<Vec<Op<Call>>>, Failed> {
        Ok(Some(self.ops.clone()))
    }
}

/// Whether the operations are accepted in stretches that end at these times, and in how many of them from carried states.
fn in_stretches(judge: &Judge, history: &History<Call>, cuts: &[u64]) -> (bool, usize) {
    let (mut begin, mut tail): (Option<Vec<Value>>, Vec<Op<Call>>) = (None, Vec::new());
    let (mut rest, mut carried) = (history.ops().iter().cloned().peekable(), 0);
    for &cut in cuts.iter().chain([&u64::MAX]) {
        let mut ops = std::mem::take(&mut tail);
        while let Some(op) = rest.next_if(|op| op.interval.start() < cut) {
            ops.push(op);
        }
        let numbered = ops.iter().zip(0..).map(|(op, id)| Op { id: OpId(id), ..op.clone() });
        let mut part = Part { processes: history.processes(), ops: numbered.collect(), next: 0 };
        let key = Key { label: "k", ops: &mut part, begin: begin.as_deref(), cut: Some(cut), limits: &Unlimited };
        let CheckedKey { verdict, carried: after, .. } = judge.check_key(key).expect("a verdict");
        carried += usize::from(begin.is_some());
        let Some(after) = after.filter(|_| verdict == KeyVerdict::Accepted) else { return (false, carried) };
        tail = ops.split_off(ops.len() - after.since as usize);
        begin = Some(after.states);
    }
    // A check without a cut decides the operations in flight at the end, and unfinished ones.
    let numbered = tail.iter().zip(0..).map(|(op, id)| Op { id: OpId(id), ..op.clone() });
    let mut part = Part { processes: history.processes(), ops: numbered.collect(), next: 0 };
    let key = Key { label: "k", ops: &mut part, begin: begin.as_deref(), cut: None, limits: &Unlimited };
    (judge.check_key(key).expect("a verdict").verdict == KeyVerdict::Accepted, carried + 1)
}

#[test]
fn stretches_have_the_verdict_of_the_whole() {
    let histories = std::env::var("OMNILINK_HISTORIES").map_or(500, |count| count.parse().expect("a number"));
    for (name, Kind { judge, call, .. }) in &kinds() {
        let (mut accepted, mut carried) = (0, 0);
        for seed in 0..histories {
            let rng = &mut Rng::with_seed(seed);
            let history = history(rng, *call);
            let mut cuts: Vec<u64> = (0..rng.usize(..6)).map(|_| rng.u64(..30)).collect();
            cuts.sort_unstable();
            let recording = Recording::of(history.clone());
            let case = &mut Case { recording: &recording, label: "h", witness: None, limits: &Unlimited };
            let whole = judge.report(case).expect("a verdict").verdict == omnilink_report::Verdict::Accepted;
            let (stretches, from_carried) = in_stretches(judge, &history, &cuts);
            assert_eq!(stretches, whole, "{name}, seed {seed}, cuts {cuts:?}: {:#?}", history.ops());
            accepted += u64::from(whole);
            carried += from_carried;
        }
        assert!((histories / 10..histories * 9 / 10).contains(&accepted), "{name}: {accepted} of {histories} accepted");
        assert!(carried as u64 > histories / 4, "{name}: {carried} checks began in carried states");
    }
}

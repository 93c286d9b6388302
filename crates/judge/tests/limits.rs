//! A limit ends the evaluation of one action, whatever it is busy with.

use std::time::{Duration, Instant};

use history::Stop;
use omnilink_judge::{Case, Failed, Judge, Limits, Options, Recording};
use report::{Report, Verdict};
use search::Stats;

/// Wants everything to end at a time, and says how much memory may still be used.
struct Until {
    deadline: Instant,
    room: Option<u64>,
}

impl Limits for Until {
    fn poll(&self, _: &Stats) -> Option<Stop> {
        self.exceeded()
    }

    fn exceeded(&self) -> Option<Stop> {
        (Instant::now() >= self.deadline).then_some(Stop::Time)
    }

    fn memory_left(&self) -> Option<u64> {
        self.room
    }
}

/// Checks three operations, the second of which evaluates `Slow`.
fn check(definitions: &str, limits: &Until) -> Result<Report, Failed> {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("a file");
    let text = format!(
        "---- MODULE Slow ----\nEXTENDS Integers, Sequences, FiniteSets, TLC, SequencesExt, FiniteSetsExt\nVARIABLE x\n\
         {definitions}\nInit == x = 0\nAdd(n) == x' = x + n /\\ (x = 1 => Slow)\nNext == \\E n \\in 0..5 : Add(n)\n====\n"
    );
    write("Slow.tla", &text);
    write("Slow.cfg", "INIT Init\nNEXT Next\n");
    let line = |place: u64| {
        format!("{{\"process\": 0, \"action\": \"Add\", \"args\": [1], \"start\": {place}, \"end\": {place}}}\n")
    };
    write("t.jsonl", &(0..3).map(line).collect::<String>());
    let spec = directory.path().join("Slow.tla").display().to_string();
    let judge = Judge::new(&spec, Options::default()).expect("a specification");
    let path = directory.path().join("t.jsonl");
    judge.report(&mut Case { recording: &Recording::at(&path, None), label: "t", witness: None, limits })
}

/// Why the check ended, and how many operations it had explained by then.
fn ended(definitions: &str, limits: &Until) -> String {
    let report = check(definitions, limits).unwrap_or_else(|failed| panic!("{definitions}: {failed:?}"));
    match report.verdict {
        Verdict::Inconclusive { stop, .. } => format!("{stop} after {}", report.stats.returned),
        verdict => panic!("{definitions}: {}", verdict.word()),
    }
}

/// Definitions of `Slow` that take for ever.
const SLOW: &[&str] = &[
    r"Slow == \E s \in SUBSET (1..40) : Cardinality({e \in s : e > 50}) > 0",
    r"Slow == (CHOOSE s \in SUBSET (1..40) : s = {99}) = {}",
    r"Slow == Cardinality({e \in 1..2000000000 : e = -1}) > 0",
    r"Slow == 1..2000000000 \subseteq (Nat \cup {-1})",
    "RECURSIVE Fib(_)\nFib(n) == IF n < 2 THEN n ELSE Fib(n - 1) + Fib(n - 2)\nSlow == Fib(80) % 7 = 3",
    r"Slow == \A f \in [1..12 -> 1..12] : f[1] # 99",
    r"Slow == [e \in 1..1000 |-> \A f \in [1..12 -> 1..12] : f[1] # e + 12][1]",
    r"Slow == {e \in {1, 2} : \A f \in [1..12 -> 1..12] : f[1] # e + 12} = {}",
    r"Slow == Cardinality(Choices({{e, -e} : e \in 1..40})) = 3",
    r"Slow == \A e \in SetToAllKPermutations(1..9), f \in Permutations(1..8) : e = f",
];

#[test]
fn time_ends_the_evaluation_of_one_action() {
    for definitions in SLOW {
        let begun = Instant::now();
        let limits = Until { deadline: begun + Duration::from_millis(200), room: None };
        assert_eq!(ended(definitions, &limits), "the time limit was reached after 1", "{definitions}");
        let elapsed = begun.elapsed();
        assert!(elapsed < Duration::from_millis(1200), "{definitions} ended after {elapsed:?}");
    }
}

#[test]
fn a_value_that_there_is_no_room_for_is_not_made() {
    let limits = Until { deadline: Instant::now() + Duration::from_secs(60), room: Some(10 << 20) };
    let twice = "RECURSIVE Twice(_, _)\nTwice(n, s) == IF n = 0 THEN s ELSE Twice(n - 1, s \\o s)\n";
    // The room is looked at every few milliseconds, and evaluation takes longer than that.
    let busy = r"Busy == \A e \in 1..400000 : e > 0";
    for slow in ["Len(Twice(24, <<1>>)) = 3", "Len(Twice(28, \"a\")) = 3", r"Cardinality((1..1000000) \cup {-1}) = 3"] {
        let definitions = format!("{twice}{busy}\nSlow == Busy /\\ {slow}");
        assert_eq!(ended(&definitions, &limits), "the memory limit was reached after 1", "{slow}");
    }
}

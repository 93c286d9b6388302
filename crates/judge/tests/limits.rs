//! A limit ends the evaluation of one action, whatever it is busy with, and a search for levels has limits of its own.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use omnilink_history::Stop;
use omnilink_judge::{Case, CheckOptions, Failed, Judge, Limits, Recording};
use omnilink_report::{Report, Verdict};
use omnilink_search::Stats;

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
    let judge = Judge::new(&spec, CheckOptions::default()).expect("a specification");
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
        // Reading and binding take milliseconds, but other processes may keep the cores busy meanwhile: then once more.
        let mut patience = Duration::from_millis(200);
        loop {
            let begun = Instant::now();
            let ended = ended(definitions, &Until { deadline: begun + patience, room: None });
            let elapsed = begun.elapsed();
            if ended == "the time limit was reached after 1" && elapsed < patience + Duration::from_secs(1) {
                break;
            }
            patience *= 2;
            assert!(patience < Duration::from_secs(4), "{definitions}: {ended}, {elapsed:?}");
        }
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

/// A map whose scans and lengths miss some operations.
const MAP: &str = "\
T0 [1 12] scan() = <<>>
T2 [3 5] len() = 0
T2 [8 16] len() = 0
T1 [3 12] len() = 0
T1 [14 26] put(1, 4)
T2 [18 29] len() = 1
T0 [13 22] scan() = <<<<1, 4>>>>
T0 [23 34] put(0, 6)
T1 [28 37] scan() = <<<<0, 6>>, <<1, 4>>>>
T0 [35 37] put(1, 9)
T2 [31 41] len() = 1
T2 [44 51] scan() = <<<<1, 9>>>>
T0 [40 51] len() = 2
T1 [39 51] len() = 2
T2 [53 56] len() = 2
T1 [53 65] put(1, 13)
T0 [54 65] erase(0) = TRUE
T2 [59 65] scan() = <<<<1, 9>>>>
T0 [67 75] len() = 1
T2 [68 70] erase(2) = FALSE
T1 [66 75] len() = 1
T0 [77 79] put(0, 21)
T2 [73 83] erase(1) = TRUE
T1 [78 89] put(2, 19)
T2 [84 92] scan() = <<<<0, 21>>>>
T0 [80 88] len() = 2
T1 [90 98] erase(1) = FALSE
T0 [90 98] erase(2) = TRUE
T1 [101 112] len() = 1
T1 [115 122] put(2, 28)
";

/// Some 20 checks of at most 100,000 steps, and 100 more for each operation.
const MOST_STEPS: u64 = 2_500_000;

/// The progress of several checks, which end after [`MOST_STEPS`] of all of them.
#[derive(Default)]
struct Counted(Mutex<Progress>);

#[derive(Debug, Default)]
struct Progress {
    steps: u64,
    /// The steps of the last check. Those of the next one begin at 0.
    last: u64,
    operations: u64,
    width: usize,
}

impl Limits for Counted {
    fn poll(&self, stats: &Stats) -> Option<Stop> {
        let mut all = self.0.lock().expect("no check panics");
        all.steps += stats.steps.checked_sub(all.last).unwrap_or(stats.steps);
        all.last = stats.steps;
        all.operations = all.operations.max(stats.operations);
        all.width = all.width.max(stats.width);
        (all.steps > MOST_STEPS).then_some(Stop::Time)
    }

    fn exceeded(&self) -> Option<Stop> {
        None
    }
}

/// Runs `check` on the map at a level, and returns the progress.
fn counted(level: Option<&str>, check: impl FnOnce(&Judge, Recording, &Counted)) -> Progress {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("map.txt");
    std::fs::write(&path, MAP).expect("a file");
    let level = level.map(|level| level.parse().expect("a level"));
    let judge = Judge::new("kv", CheckOptions { level, ..CheckOptions::default() }).expect("a specification");
    let limits = Counted::default();
    check(&judge, Recording::at(&path, None), &limits);
    limits.0.into_inner().expect("no check panics")
}

#[test]
fn levels_are_found_in_a_number_of_steps() {
    let progress = counted(None, |judge, recording, limits| {
        let found = judge.find_level(&[recording], limits, |_| {}).unwrap_or_else(|failed| panic!("{failed:?}"));
        let names: Vec<String> = found.presets.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["consistent-prefix", "read-my-writes"]);
    });
    assert!(progress.steps <= MOST_STEPS, "{progress:?}");
}

#[test]
fn a_check_at_a_level_has_progress() {
    let progress = counted(Some("causal"), |judge, recording, limits| {
        let case = &mut Case { recording: &recording, label: "map", witness: None, limits };
        assert_eq!(judge.report(case).expect("a report").verdict.word(), "rejected");
    });
    assert!(progress.operations > 0 && progress.width > 0, "{progress:?}");
}

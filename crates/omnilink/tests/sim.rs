//! The attribute for simulated clusters, on a store with a primary and a backup in a simulator of a few lines.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use omnilink::Action;
use omnilink::sim::{History, Simulation};

static PUT: Action = Action::new("put", &["key", "value"], &[]);
static GET: Action = Action::new("get", &["key"], &["value"]);

/// A mistake in the store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrong {
    Nothing,
    /// Reads are answered by the backup, which lags.
    StaleRead,
    /// The primary forgets its last write when it crashes.
    LostWrite,
}

/// A random number below `below`.
fn draw(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// Three clients and a store, whose steps interleave as the seed says.
fn simulate(seed: u64, history: &History, wrong: Wrong) {
    let mut random = seed;
    let mut clients: Vec<_> = (0..3).map(|number| history.client(&format!("c{number}"))).collect();
    let (mut primary, mut backup, mut last) = (BTreeMap::new(), BTreeMap::new(), None);
    for value in 1..30 {
        let key = draw(&mut random, 2) as i64;
        let client = &mut clients[draw(&mut random, 3) as usize];
        match draw(&mut random, 8) {
            0 => {
                // The client gives up before it knows the outcome.
                let _call = client.call(&PUT, (key, value));
                if draw(&mut random, 2) == 0 {
                    primary.insert(key, value);
                }
            }
            1 => {
                let partition = history.fault("crash", &["primary"]);
                if let (Wrong::LostWrite, Some((key, before))) = (wrong, last.take()) {
                    primary.insert(key, before);
                }
                partition.end();
            }
            2..=4 => {
                let call = client.call(&PUT, (key, value));
                last = Some((key, primary.insert(key, value).unwrap_or(0)));
                call.done(());
            }
            _ => {
                let call = client.call(&GET, (key,));
                let store = if wrong == Wrong::StaleRead { &backup } else { &primary };
                call.done((store.get(&key).copied().unwrap_or(0),));
                if draw(&mut random, 2) == 0 {
                    backup.clone_from(&primary);
                }
            }
        }
    }
}

#[omnilink::sim(spec = "kv:absent=0", seeds = 200)]
fn a_correct_store(seed: u64, history: History) {
    simulate(seed, &history, Wrong::Nothing);
}

/// The message with which a test fails, and its directory.
fn failure(simulate: impl Fn(u64, History) + Sync) -> (String, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let simulation = Simulation { spec: Some("kv:absent=0".into()), ..simulation_in(directory.path()) };
    (message_of(|| simulation.run(simulate)), directory)
}

/// A test of 200 seeds without a check.
fn simulation_in(directory: &Path) -> Simulation {
    Simulation { seeds: 200, ..Simulation::new("sim::store", &directory.to_string_lossy()) }
}

/// The message of a panic.
fn message_of(run: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("it panics");
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

fn check_wrong(wrong: Wrong) {
    let (message, directory) = failure(|seed, history| simulate(seed, &history, wrong));
    assert!(message.starts_with("sim::store (seed ") && message.contains("): rejected\nerror: "), "{message}");
    let remembered =
        fs::read_to_string(directory.path().join("omnilink-regressions/sim-store.txt")).expect("it is kept");
    let seed = remembered.lines().nth(1).and_then(|line| line.split(' ').next()).expect("a seed");
    assert!(message.contains(&format!("(seed {seed})")), "{message}\n{remembered}");
    assert!(message.ends_with(&format!("OMNILINK_SEED={seed} repeats it\n")), "{message}");
    let kept = message.lines().find_map(|line| line.strip_prefix("the run is kept in ")).expect("it is kept");
    assert!(Path::new(kept).join("trace").is_dir(), "{message}");
    let report = fs::read_to_string(Path::new(kept).join("report.json")).expect("a report");
    assert!(report.contains("\"crash\""), "faults are in the report: {report}");
    assert!(!report.contains("\"faults\""), "they are no process: {report}");
}

#[test]
fn stale_reads_are_found() {
    check_wrong(Wrong::StaleRead);
}

#[test]
fn lost_writes_are_found() {
    check_wrong(Wrong::LostWrite);
}

#[test]
fn the_first_seed_that_fails_is_tried_first() {
    let directory = tempfile::tempdir().expect("a directory");
    let simulation =
        |seeds| Simulation { seeds, jobs: 1, spec: Some("kv:absent=0".into()), ..simulation_in(directory.path()) };
    let run = |seeds, wrong| {
        let simulation: Simulation = simulation(seeds);
        catch_unwind(AssertUnwindSafe(|| simulation.run(|seed, history| simulate(seed, &history, wrong))))
    };
    assert!(run(200, Wrong::StaleRead).is_err());
    // No other seed is left.
    assert!(run(0, Wrong::StaleRead).is_err(), "the seed is remembered");
    assert!(run(0, Wrong::Nothing).is_ok(), "it passes if the store is correct");
}

#[test]
fn a_seed_that_failed_before_runs_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let failing =
        Simulation { seeds: 100, jobs: 1, spec: Some("kv:absent=0".into()), ..simulation_in(directory.path()) };
    let wrong = |seed: u64, history: History| simulate(seed, &history, Wrong::StaleRead);
    catch_unwind(AssertUnwindSafe(|| failing.run(wrong))).expect_err("a seed fails, and is kept");
    let runs = Mutex::new(Vec::new());
    Simulation { jobs: 2, repeat: 0, ..failing }.run(|seed, history| {
        runs.lock().unwrap().push(seed);
        simulate(seed, &history, Wrong::Nothing);
    });
    let mut runs = runs.into_inner().unwrap();
    runs.sort_unstable();
    assert_eq!(runs, (0..100).collect::<Vec<_>>());
}

#[test]
fn a_seed_that_does_not_repeat_is_named() {
    let runs = AtomicU64::new(0);
    let (message, _directory) = failure(|seed, history| {
        let mut client = history.client("c1");
        client.call(&PUT, (1, 7)).done(());
        let is_second = seed == 0 && runs.fetch_add(1, Ordering::Relaxed) == 1;
        let value = if is_second { 0 } else { 7 };
        client.call(&GET, (1,)).done((value,));
    });
    let expected = "(seed 0): the seed does not repeat: after c1:0 put(key: 1, value: 7), the first run has c1:1 get(key: 1) = value: 7";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn a_panic_of_the_simulation_is_passed_on() {
    let (message, directory) = failure(|seed, _| assert!(seed < 5, "the cluster lost its leader"));
    assert_eq!(message, "the cluster lost its leader");
    let remembered = fs::read_to_string(directory.path().join("omnilink-regressions/sim-store.txt")).unwrap();
    assert!(remembered.contains("# it panicked"), "{remembered}");
}

#[test]
fn nothing_recorded_is_no_success() {
    let (message, _directory) = failure(|_, _| ());
    assert_eq!(message, "sim::store: nothing was recorded, so nothing was checked");
}

#[test]
fn a_call_that_is_dropped_may_have_taken_effect() {
    for value in [0, 7] {
        let history = History::new(1);
        {
            let mut client = history.client("c1");
            // The host of the client crashes, and starts again.
            let _ = client.call(&PUT, (1, 7));
        }
        history.client("c1").call(&GET, (1,)).done((value,));
        history.check("kv:absent=0");
    }
}

#[test]
fn a_history_outside_of_the_attribute_is_explained() {
    let history = History::new(3);
    {
        let mut client = history.client("c1");
        client.call(&PUT, (1, 7)).done(());
        client.call(&GET, (1,)).done((8,));
    }
    let message = message_of(|| history.check("kv:absent=0"));
    assert!(message.contains("a_history_outside_of_the_attribute_is_explained (seed 3): rejected"), "{message}");
    // Nothing of it stays in the repository.
    let kept = message.lines().find_map(|line| line.strip_prefix("the run is kept in ")).expect("it is kept");
    fs::remove_dir_all(kept).unwrap();
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("omnilink-regressions");
    fs::remove_file(seeds.join("a_history_outside_of_the_attribute_is_explained.txt")).unwrap();
    // Another test may have its own there.
    let _ = fs::remove_dir(seeds);
}

/// Nodes that vote in terms: each at most once in a term.
const VOTES: &str = r#"
------------------------------- MODULE Votes -------------------------------
EXTENDS Naturals
CONSTANT Node
VARIABLE term
Init == term = [n \in Node |-> 0]
Vote(n, t) == t > term[n] /\ term' = [term EXCEPT ![n] = t]
Next == \E n \in Node, t \in Nat : Vote(n, t)
Spec == Init /\ [][Next]_term
=============================================================================
"#;

const VOTES_LOG: &str = r#"
[log]
event = "event"
process = "node"

[log.constants]
Node = { field = "node", all = true }

[[log.rule]]
event = "Vote"
args = { n = "node", t = "term" }
"#;

/// A test of the log of nodes, in a directory of its own.
fn votes() -> (Simulation, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("Votes.tla"), VOTES).expect("a file");
    fs::write(directory.path().join("Votes.cfg"), "SPECIFICATION Spec\n").expect("a file");
    fs::write(directory.path().join("omnilink.toml"), VOTES_LOG).expect("a file");
    (Simulation { log: Some("Votes.tla"), ..simulation_in(directory.path()) }, directory)
}

/// Two nodes vote in terms. A wrong one may vote again in the last one.
fn vote(seed: u64, history: &History, is_wrong: bool) {
    let (mut random, mut terms) = (seed, [0, 0]);
    for _ in 0..10 {
        let node = draw(&mut random, 2) as usize;
        let step = draw(&mut random, 3);
        terms[node] += if is_wrong { step } else { step + 1 };
        history.event(["n1", "n2"][node], format!("{{\"event\": \"Vote\",\n \"term\": {}}}", terms[node]));
    }
}

#[test]
fn the_log_of_nodes_is_checked() {
    let (simulation, _directory) = votes();
    simulation.run(|seed, history| vote(seed, &history, false));
    let message = message_of(|| simulation.run(|seed, history| vote(seed, &history, true)));
    assert!(message.starts_with("sim::store (seed ") && message.contains("): rejected\nerror: "), "{message}");
    assert!(message.contains("`Vote \"n") && message.contains("` although `"), "{message}");
    let kept = message.lines().find_map(|line| line.strip_prefix("the run is kept in ")).expect("it is kept");
    for file in ["trace/nodes.ndjson", "spec/Votes.tla", "spec/omnilink.toml", "report.json"] {
        assert!(Path::new(kept).join(file).is_file(), "{file}: {message}");
    }
}

#[test]
fn clients_and_nodes_are_checked_together() {
    let (simulation, _directory) = votes();
    let simulation = Simulation { spec: Some("kv:absent=0".into()), ..simulation };
    let run = |wrong, is_wrong| {
        simulation.run(|seed, history| {
            simulate(seed, &history, wrong);
            vote(seed, &history, is_wrong);
        });
    };
    run(Wrong::Nothing, false);
    let message = message_of(|| run(Wrong::StaleRead, false));
    assert!(message.contains("get("), "{message}");
    let message = message_of(|| run(Wrong::Nothing, true));
    assert!(message.contains("`Vote \"n") && message.contains("` although `"), "{message}");
}

#[test]
fn a_log_that_does_not_repeat_is_named() {
    let (simulation, _directory) = votes();
    let runs = AtomicU64::new(0);
    let message = message_of(|| {
        simulation.run(|seed, history| {
            let is_second = seed == 0 && runs.fetch_add(1, Ordering::Relaxed) == 1;
            for term in [1, if is_second { 3 } else { 2 }] {
                history.event("n1", format!(r#"{{"event":"Vote","term":{term}}}"#));
            }
        });
    });
    let expected =
        r#"after {"node":"n1","event":"Vote","term":1}, the first run has {"node":"n1","event":"Vote","term":2}"#;
    assert!(message.contains(expected), "{message}");
}

#[test]
fn misuse_of_logs_is_explained() {
    let event = |fields: &str| message_of(|| History::new(0).event("n1", fields));
    assert_eq!(event("[1]"), "event of `n1`: expected an object of JSON, found an array: [1]");
    assert_eq!(event(r#"{"node": 1}"#), r#"event of `n1`: the field `node` is added by `event`: {"node": 1}"#);
    let (simulation, directory) = votes();
    assert_eq!(message_of(|| simulation.run(|_, _| ())), "sim::store: nothing was recorded, so nothing was checked");
    fs::remove_file(directory.path().join("omnilink.toml")).unwrap();
    let message = message_of(|| simulation.run(|_, _| ()));
    assert_eq!(
        message,
        "sim::store: expected a TLA+ module with `[log]` in the `omnilink.toml` beside it, found `Votes.tla`"
    );
    let message = message_of(|| simulation_in(directory.path()).run(|_, _| ()));
    assert_eq!(message, "sim::store: expected `spec`, `isolation` or `log`, found none of them");
}

#[test]
fn records_that_nothing_checks_are_a_mistake() {
    let (simulation, _directory) = votes();
    let message = message_of(|| {
        simulation.run(|_, history| history.client("c1").call(&GET, (1,)).done((0,)));
    });
    assert_eq!(message, "sim::store (seed 0): clients recorded calls, but `spec` is not given");
    let message = message_of(|| simulation.run(|_, history| history.session("c1").begin().commit()));
    assert_eq!(message, "sim::store (seed 0): clients recorded transactions, but `isolation` is not given");
}

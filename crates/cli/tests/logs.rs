//! Logs of the examples: each gets the verdict of its `expected.tsv`, at the event that stands there.
//!
//! A line has the directory of the log, the verdict, the event and the line at which every behavior is stuck, and the
//! mapping if it is not `omnilink.toml`.

mod tool;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// Checks all logs of an example against its module.
fn check(name: &str, module: &str) {
    let directory = example(name);
    let text = fs::read_to_string(directory.join("expected.tsv")).expect("an example says what is expected");
    let mut checked = 0;
    for row in text.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = row.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        let (log, verdict, event, line, mapping) = (next(), next(), next(), next(), next());
        let mapping = if mapping.is_empty() { "omnilink.toml" } else { mapping };
        let args = ["check", module, log, "--settings", mapping, "--format", "json"];
        let ran = tool::run(&directory, &args);
        let report: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{row}: {error}: {}", ran.stderr));
        let report = &report["reports"][0];
        assert_eq!(report["verdict"]["kind"], verdict, "{row}: {}", ran.stdout);
        if verdict == "rejected" {
            let blocked = &report["verdict"]["blocked"];
            let named = blocked.as_array().into_iter().flatten().map(|op| {
                let op = &report["operations"][op.as_u64().unwrap_or_default() as usize];
                let meta = op["meta"].as_array().into_iter().flatten();
                let line = meta.clone().find(|field| field["name"] == "line").map(|field| field["value"].clone());
                (op["action"].as_str().unwrap_or_default().to_owned(), line.unwrap_or_default())
            });
            let named: Vec<(String, Value)> = named.collect();
            let expected = (event.to_owned(), Value::from(line));
            assert!(named.contains(&expected), "{row}: {named:?}");
        }
        checked += 1;
    }
    assert!(checked > 0, "{name} has no logs");
}

#[test]
fn two_phase_commit_in_python() {
    check("log-two-phase", "TwoPhase.tla");
}

#[test]
fn key_value_store_in_python() {
    check("log-key-value", "KeyValueStore.tla");
}

#[test]
fn raft_of_tikv() {
    check("log-raft", "Raft.tla");
}

#[test]
fn lease_service_with_skewed_clocks() {
    check("log-lease", "Lease.tla");
}

/// An undecided log names the event where the furthest behavior stands, its file and line, and the conjunct that is
/// false there; advice is for logs.
#[test]
fn an_undecided_log_says_where_the_search_was() {
    let args = ["check", "Lease.tla", "logs/check", "--no-shortcuts", "--max-width", "40", "--format", "json"];
    let ran = tool::run(&example("log-lease"), &args);
    let report: Value = serde_json::from_str(&ran.stdout).expect("a report");
    let report = &report["reports"][0];
    assert_eq!(report["verdict"]["kind"], "inconclusive", "{}", ran.stdout);
    let sentence = report["verdict"]["stop"].as_str().unwrap_or_default();
    assert!(
        sentence.contains("events explained; the furthest behavior stands before `Grant` (arbiter.ndjson line 37)"),
        "{sentence}"
    );
    assert!(sentence.contains("`holder = None` is not true: this is not proved"), "{sentence}");
    let next = report["next"].to_string();
    assert!(
        next.contains("--max-width") && !next.contains("--order-by") && !next.contains("omnilink spec list"),
        "{next}"
    );
}

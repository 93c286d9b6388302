//! Scripts of a generated harness under control: `fuzz` keeps one, `shrink` shortens it, and a person edits it.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

mod tool;

use std::fs;
use std::path::{Path, PathBuf};

/// Compares and sets under two locks, one after the other.
const RIGHT: &str = "    if (holds != expected) return false;\n    holds = desired;\n    return true;\n";
const WRONG: &str = "    if (holds != expected) return false;\n    mutex.unlock();\n    mutex.lock();\n    holds = desired;\n    \
                     return true;\n";

fn run(directory: &Path, args: &str) -> tool::Ran {
    tool::run(directory, &args.split_whitespace().collect::<Vec<_>>())
}

/// The directory of the run that was kept last.
fn latest(directory: &Path) -> PathBuf {
    let list = run(directory, "runs list").stdout;
    let id = list.lines().next_back().and_then(|line| line.split(' ').next()).unwrap_or_default().to_owned();
    directory.join("target/omnilink").join(id)
}

/// The calls of a script.
fn calls(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a script");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("omnilink-script 1"));
    lines.map(str::to_owned).collect()
}

/// The reason of its failure that a run reports.
fn cause(kept: &Path) -> serde_json::Value {
    let text = fs::read_to_string(kept.join("run.json")).expect("a kept run");
    let run: serde_json::Value = serde_json::from_str(&text).expect("a document");
    assert_eq!(run["verdict"], "rejected");
    run["cause"].clone()
}

#[test]
fn a_failing_script_is_kept_made_smaller_and_edited() {
    let directory = tool::directory("script-register");
    let made = run(&directory, "init . --lang cpp --template register");
    assert_eq!(made.code, 0, "{}", made.shown());
    let main = fs::read_to_string(directory.join("main.cpp")).expect("a template");
    assert!(main.contains(RIGHT));
    fs::write(directory.join("main.cpp"), main.replace(RIGHT, WRONG)).expect("a file for a test");

    let found = run(&directory, "fuzz --seed 1 --runs 2000 --threads 3 --ops 8");
    assert_eq!(found.code, 1, "{}", found.shown());
    let first = latest(&directory);
    let before = calls(&first.join("script"));
    assert!((3..=24).contains(&before.len()) && !first.join("trace/script").exists(), "{before:?}");

    let shrunk = run(&directory, "shrink --tries 50");
    assert_eq!(shrunk.code, 1, "{}", shrunk.shown());
    let second = latest(&directory);
    let after = calls(&second.join("script"));
    assert_eq!(cause(&second), cause(&first));
    assert!(after.len() < before.len() && after.iter().all(|call| before.contains(call)), "{before:?}, {after:?}");
    let shown: Vec<&str> = shrunk.stdout.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    assert_eq!(shown, after);
    let replayed = run(&directory, "replay --times 2");
    assert!(replayed.code == 1 && replayed.stdout.contains("replayed 2 times"), "{}", replayed.shown());
    // Each call is needed.
    let again = run(&directory, "shrink --tries 50");
    assert!(again.stdout.contains("every operation is needed"), "{}", again.shown());

    // The calls of a script fail in other schedules, too, and not without those that write.
    let script = |name: &str, calls: &[String]| {
        let text = calls.iter().map(|call| format!("{call}\n")).collect::<String>();
        fs::write(directory.join(name), format!("omnilink-script 1\n{text}")).expect("a file for a test");
    };
    let commented: Vec<String> = after.iter().flat_map(|call| ["# needed".to_owned(), call.clone()]).collect();
    script("same", &commented);
    let same = run(&directory, "fuzz --no-build --script same --seed 9 --runs 500");
    assert!(same.code == 1, "{}", same.shown());
    assert_eq!(calls(&latest(&directory).join("script")).len(), after.len());
    let replayed = run(&directory, "replay --times 2");
    assert!(replayed.code == 1 && replayed.stdout.contains("replayed 2 times"), "{}", replayed.shown());
    let reads: Vec<String> = (0..3).map(|thread| format!("T{thread} Read")).collect();
    script("reads", &reads);
    let reads = run(&directory, "fuzz --no-build --script reads --seed 9 --runs 20");
    assert!(reads.code == 0 && reads.stdout.contains("3 calls of a script on 3 threads"), "{}", reads.shown());

    // A file that is not a script, or that the harness cannot follow, gives an error and no verdict.
    fs::write(directory.join("bad"), "omnilink-script 1\nRead\n").expect("a file for a test");
    run(&directory, "fuzz --script bad").assert_begins(2, "error: bad:2: expected a thread such as `T0`, found `Read`");
    script("unknown", &["T0 Nonsense".to_owned()]);
    let unknown = run(&directory, "fuzz --no-build --script unknown --runs 5");
    assert!(
        unknown.code == 2 && unknown.stderr.contains("line 2: unrecognized call `Nonsense`"),
        "{}",
        unknown.shown()
    );
}

#[test]
fn a_harness_without_scripts_shrinks_as_before() {
    let directory = tool::directory("script-none");
    let made = run(&directory, "init . --lang cpp --template register");
    assert_eq!(made.code, 0, "{}", made.shown());
    let main = fs::read_to_string(directory.join("main.cpp")).expect("a template");
    // As harnesses were generated before: one function draws a call and makes it.
    let old = "omnilink::run(omnilink::Plan::from_env(), subject, [](Subject&, std::size_t) { return Subject::Session(); },\n      \
               [](Subject& shared, Subject::Session& own, omnilink::Client& client) {\n        \
               const auto call = operations::draw(shared, own, client.draw());\n        \
               if (call) operations::make(shared, own, client, *call);\n      })";
    let new = "operations::run(omnilink::Plan::from_env(), subject)";
    assert!(main.contains(new));
    fs::write(directory.join("main.cpp"), main.replace(RIGHT, WRONG).replace(new, old)).expect("a file for a test");
    let found = run(&directory, "fuzz --seed 1 --runs 2000 --threads 3 --ops 8");
    assert_eq!(found.code, 1, "{}", found.shown());
    assert!(!latest(&directory).join("script").exists());
    let shrunk = run(&directory, "shrink --tries 50");
    assert!(
        shrunk.code == 1 && shrunk.stdout.contains("smaller: ") && !shrunk.stdout.contains("calls"),
        "{}",
        shrunk.shown()
    );
    fs::write(directory.join("script"), "omnilink-script 1\nT0 Read\n").expect("a file for a test");
    let refused = run(&directory, "fuzz --no-build --script script --runs 5");
    assert!(refused.code == 2 && refused.stderr.contains("it did not follow the script"), "{}", refused.shown());
}

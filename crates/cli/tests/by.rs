//! `omnilink check --by`: a verdict for each key of a Parquet file. `cargo xtask fleet` builds the command with the feature.

mod tool;

use std::fs;
use std::path::Path;

use tool::{Ran, directory, run};

/// Two keys with a write and a read; the read of `b` returns this.
fn write_operations(directory: &Path, read: u64) {
    let operation = |key: &str, action: &str, args: String, results: String, start: u64| {
        let end = start + 1;
        format!(
            r#"{{"process": "{key}", "action": "{action}", "args": {{"key": "{key}"{args}}}, "results": {{{results}}}, "start": {start}, "end": {end}}}"#
        )
    };
    let mut lines = Vec::new();
    for (key, read) in [("a", 1), ("b", read)] {
        lines.push(operation(key, "write", ", \"value\": 1".into(), String::new(), 1));
        lines.push(operation(key, "read", String::new(), format!("\"value\": {read}"), 3));
    }
    fs::write(directory.join("ops.jsonl"), lines.join("\n") + "\n").unwrap();
    let converted =
        run(directory, &["convert", "ops.jsonl", "--to", "parquet", "--by", "key", "--output", "ops.parquet"]);
    assert_eq!(converted.code, 0, "{}", converted.stderr);
}

fn check(directory: &Path, more: &[&str]) -> Ran {
    let fixed = ["check", "ops.parquet", "--spec", "register:initial=0", "--by", "key", "--progress", "none"];
    run(directory, &[&fixed, more].concat())
}

#[test]
fn a_key_is_rejected_and_named() {
    let directory = directory("by-rejected");
    write_operations(&directory, 7);
    let ran = check(&directory, &["--verdicts", "verdicts.parquet"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("key b: rejected") && !ran.stdout.contains("key a:"), "{}", ran.stdout);
    assert!(directory.join("verdicts.parquet").exists());
}

#[test]
fn all_keys_are_accepted() {
    let directory = directory("by-accepted");
    write_operations(&directory, 1);
    let ran = check(&directory, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_check_continues_after_a_cut() {
    let directory = directory("by-cut");
    write_operations(&directory, 1);
    assert_eq!(check(&directory, &["--cut", "9", "--verdicts", "first.parquet"]).code, 0);
    // The state at the cut is 1, so a read of the initial value is wrong then.
    let later = |value: u64| {
        let line = format!(
            r#"{{"process": "a", "action": "read", "args": {{"key": "a"}}, "results": {{"value": {value}}}, "start": 10, "end": 11}}"#
        );
        fs::write(directory.join("ops.jsonl"), line + "\n").unwrap();
        let converted =
            run(&directory, &["convert", "ops.jsonl", "--to", "parquet", "--by", "key", "--output", "ops.parquet"]);
        assert_eq!(converted.code, 0, "{}", converted.stderr);
        check(&directory, &["--after", "first.parquet"]).code
    };
    assert_eq!(later(1), 0);
    assert_eq!(later(0), 1);
}

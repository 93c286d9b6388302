//! `omnilink check --by`: a verdict for each key of operations in Parquet files. `cargo xtask fleet` runs it.

mod tool;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// A directory with `ops.parquet`: registers that write 1, 2, ... and read each value once. Bad keys read one too early.
fn set_up(name: &str, keys: u64, bad: &[u64]) -> PathBuf {
    let directory = tool::directory(name);
    let mut lines = String::new();
    for (turn, key) in (0..10_u64).flat_map(|turn| (0..keys).map(move |key| (turn, key))) {
        let (start, value) = (turn * 100, turn + 1);
        let seen = if bad.contains(&key) && turn == 7 { value - 1 } else { value };
        let mut operation = |action: &str, fields: String, start: u64| {
            let _ = writeln!(
                lines,
                "{{\"process\": {key}, \"action\": \"{action}\", {fields}, \"start\": {start}, \"end\": {}, \"meta\": \
                 {{\"object\": {key}}}}}",
                start + 10
            );
        };
        operation("write", format!("\"args\": {{\"value\": {value}}}"), start);
        operation("read", format!("\"results\": {{\"value\": {seen}}}"), start + 20);
    }
    fs::write(directory.join("ops.jsonl"), lines).expect("a file for a test");
    let converted = run(&directory, "convert ops.jsonl --to parquet --by object -o ops.parquet");
    assert_eq!(converted.code, 0, "{}{}", converted.stdout, converted.stderr);
    directory
}

fn run(directory: &Path, args: &str) -> tool::Ran {
    tool::run(directory, &args.split_whitespace().collect::<Vec<_>>())
}

/// Checks by key. Returns the first line of the summary without its time, and the exit code.
fn check(directory: &Path, args: &str) -> (String, i32) {
    let checked = run(directory, &format!("check ops.parquet --spec register:initial=0 --by key {args}"));
    let summary = checked.stdout.lines().find(|line| line.contains(" keys with ")).unwrap_or(&checked.stderr);
    (summary.split(", in ").next().unwrap_or_default().to_owned(), checked.code)
}

#[test]
fn each_key_has_a_verdict() {
    let directory = set_up("keys", 20, &[3, 7]);
    let all = "20 keys with 400 operations: 18 accepted, 2 rejected";
    assert_eq!(check(&directory, "--verdicts verdicts.parquet"), (all.to_owned(), 1));
    assert!(directory.join("verdicts.parquet").is_file());
    let some = "2 keys with 40 operations: 2 accepted, 0 rejected";
    assert_eq!(check(&directory, "--where key<2"), (some.to_owned(), 0));
    let reports = "--report junit=r.xml --report html=pages.html";
    assert_eq!(check(&directory, reports).1, 1);
    let junit = fs::read_to_string(directory.join("r.xml")).expect("a report");
    assert!(junit.contains("failures=\"2\""), "{junit}");
    assert!(directory.join("pages.html").is_file());
}

#[test]
fn a_check_continues_from_where_an_earlier_one_was_cut() {
    let directory = set_up("keys-cut", 5, &[2]);
    let (first, code) = check(&directory, "--where start<500 --cut 500 --verdicts first.parquet");
    assert_eq!((first.as_str(), code), ("5 keys with 50 operations: 5 accepted, 0 rejected", 0));
    let (second, code) = check(&directory, "--where start>=500 --after first.parquet");
    assert_eq!((second.as_str(), code), ("5 keys with 50 operations: 4 accepted, 1 rejected", 1));
}

//! No published record is lost, however the program ends.
//!
//! A victim is started and ended in seven ways at random times. It counts its published records in a separate file,
//! so the contents of the trace can be compared with these counts.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests fail as tests do, and the counts are for people"
)]

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use common::{example, read};
use omnilink_history::{ProcessId, Record, Value};
use omnilink_record::drive::Draw;

const WAYS: [&str; 7] = ["sigkill", "segv", "abort", "panic", "exit", "_exit", "return"];
const THREADS: usize = 2;

/// The contents of one trace.
#[derive(Debug, Default)]
struct Found {
    operations: usize,
    open: usize,
    cuts: usize,
}

/// Ends a victim and checks its trace.
fn check(how: &str, microseconds: u64) -> Found {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace");
    let mut victim = Command::new(example("victim"))
        .arg(&trace)
        .args([&THREADS.to_string(), how, &microseconds.to_string()])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    if how == "sigkill" {
        // The victim measures its clock first, for 2 ms; a victim that has not published anything tests nothing.
        let has_begun = || fs::read(trace.join("progress")).map_or(false, |bytes| bytes.iter().any(|byte| *byte != 0));
        wait(&mut victim, "begin", |victim| (has_begun() || victim.try_wait().unwrap().is_some()).then_some(()));
        thread::sleep(Duration::from_micros(microseconds));
        victim.kill().unwrap();
    }
    let status = wait(&mut victim, "end", |victim| victim.try_wait().unwrap());
    assert_eq!(status.success(), how == "return", "{how}: {status}");
    let context = format!("{how} after {microseconds} microseconds");
    let read = read(&trace).unwrap_or_else(|error| panic!("{context}: {error}"));
    let progress = progress(&trace.join("progress"));
    let is_closed = how == "return" || how == "panic";
    assert!(!is_closed || read.cuts.is_empty(), "{context}: {:?}", read.cuts);
    let mut found = Found { cuts: read.cuts.len(), ..Found::default() };
    for (process, name) in read.processes.iter().enumerate() {
        let records: Vec<&Record> =
            read.records.iter().filter(|record| record.process == ProcessId(process as u32)).collect();
        let (begun, finished) = progress[name.parse::<usize>().unwrap()];
        let counters: Vec<&Value> = records.iter().map(|record| &record.call.args()[0]).collect();
        assert!((0..).zip(&counters).all(|(expected, counter)| **counter == Value::Int(expected)), "{context}: a gap");
        // The victim counts after it has published, so it may have published one more than it counted.
        assert!((begun..=begun + 1).contains(&records.len()), "{context}: {} of {begun} calls", records.len());
        let open = records.iter().filter(|record| record.end.is_unknown()).count();
        let done = records.len() - open;
        assert!((finished..=finished + 1).contains(&done), "{context}: {done} of {finished} outcomes");
        assert!(records.iter().rev().skip(1).all(|record| !record.end.is_unknown()), "{context}: an open call inside");
        assert!(how != "return" || open == 0, "{context}: everything returned");
        assert!(how != "panic" || open == 1, "{context}: the call that panicked is open");
        found.operations += records.len();
        found.open += open;
    }
    found
}

/// Waits for something that a victim does, with a time limit.
fn wait<T>(victim: &mut Child, what: &str, mut done: impl FnMut(&mut Child) -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(done) = done(victim) {
            return done;
        }
        if Instant::now() > deadline {
            victim.kill().unwrap();
            panic!("the victim does not {what}");
        }
        thread::sleep(Duration::from_micros(200));
    }
}

/// Calls and outcomes that each thread counted.
fn progress(path: &Path) -> Vec<(usize, usize)> {
    let bytes = fs::read(path).unwrap();
    let numbers = bytes.chunks(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()) as usize);
    let numbers: Vec<usize> = numbers.collect();
    numbers.chunks(2).map(|pair| (pair[0], pair[1])).collect()
}

fn check_many(times: usize, seed: u64) {
    let mut draw = Draw::new(seed, 0, 1);
    let mut all = Found::default();
    let mut operations = [0; WAYS.len()];
    for time in 0..times {
        let (way, microseconds) = (time % WAYS.len(), draw.below(8_000));
        let found = check(WAYS[way], microseconds);
        operations[way] += found.operations;
        all.operations += found.operations;
        all.open += found.open;
        all.cuts += found.cuts;
    }
    println!("{times} programs ended: {all:?}, nothing lost");
    for (way, operations) in WAYS.iter().zip(operations) {
        assert!(operations > 0, "{way}: no victim recorded anything");
    }
}

#[test]
fn nothing_is_lost_when_a_program_ends() {
    check_many(60, 1);
}

#[test]
#[ignore = "takes a minute"]
fn nothing_is_lost_a_thousand_times() {
    check_many(1_000, 2);
}

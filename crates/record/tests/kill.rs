//! Nothing that was published is lost, however the program ends.
//!
//! A victim is started and ended in seven ways at random times. It counts in a file of its own what it has published, so
//! what a reader finds can be compared with what must be there.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests fail as tests do, and the counts are for people"
)]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use common::{example, read};
use history::{ProcessId, Record, Value};
use omnilink_record::drive::Draw;

const WAYS: [&str; 7] = ["sigkill", "segv", "abort", "panic", "exit", "_exit", "return"];
const THREADS: usize = 2;

/// What was found in one trace.
#[derive(Debug, Default)]
struct Found {
    operations: usize,
    open: usize,
    cuts: usize,
}

/// Ends a victim and checks what it leaves behind.
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
        thread::sleep(Duration::from_micros(15_000 + microseconds)); // The victim measures its clock for 10 ms.
        victim.kill().unwrap();
    }
    let deadline = Instant::now() + Duration::from_secs(20);
    let status = loop {
        if let Some(status) = victim.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > deadline {
            victim.kill().unwrap();
            panic!("{how}: the victim does not end");
        }
        thread::sleep(Duration::from_micros(200));
    };
    assert_eq!(status.success(), how == "return", "{how}: {status}");
    if !trace.join("progress").exists() {
        return Found::default(); // Killed before it began.
    }
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
        let open = records.iter().filter(|record| record.end.is_none()).count();
        let done = records.len() - open;
        assert!((finished..=finished + 1).contains(&done), "{context}: {done} of {finished} outcomes");
        assert!(records.iter().rev().skip(1).all(|record| record.end.is_some()), "{context}: an open call inside");
        assert!(how != "return" || open == 0, "{context}: everything returned");
        assert!(how != "panic" || open == 1, "{context}: the call that panicked is open");
        found.operations += records.len();
        found.open += open;
    }
    found
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
    for time in 0..times {
        let microseconds = draw.below(8_000);
        let found = check(WAYS[time % WAYS.len()], microseconds);
        all.operations += found.operations;
        all.open += found.open;
        all.cuts += found.cuts;
    }
    println!("{times} programs ended: {all:?}, nothing lost");
    assert!(all.operations > times, "the victims did record");
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

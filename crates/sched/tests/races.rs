//! Data races are found where programs have some, and nowhere else; ThreadSanitizer is asked the same.
//!
//! `cargo test -p omnilink-sched --test races -- --nocapture` prints a table with the cost of both.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use omnilink_explore::instrument::cxx::{Compiler, Family};
use omnilink_explore::{Control, ExecutionOrder, Race, Runtime};
use omnilink_schedule::channel::Policy;

/// Executions of each program, with either tool.
const RUNS: u64 = 20;

/// Longer than any execution takes.
const LONG: Duration = Duration::from_secs(20);

fn compile(command: &[OsString]) {
    let output = Command::new(&command[0]).args(&command[1..]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The programs, built for control and with ThreadSanitizer.
fn build(directory: &Path, runtime: &Runtime) -> (PathBuf, PathBuf) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/races.cpp");
    let (controlled, sanitized) = (directory.join("controlled"), directory.join("sanitized"));
    let arguments = |made: &Path, more: &[&str]| -> Vec<OsString> {
        let flags = ["-std=c++20", "-O1", "-g", "-pthread"].iter().chain(more).map(OsString::from);
        flags.chain([source.clone().into(), "-o".into(), made.into()]).collect()
    };
    let words = [OsString::from("g++")];
    let compiler = Compiler { words: &words, family: Family::Gcc };
    let commands = compiler.commands(&arguments(&controlled, &[]), runtime, directory).unwrap();
    commands.iter().for_each(|command| compile(command));
    let command: Vec<OsString> = words.into_iter().chain(arguments(&sanitized, &["-fsanitize=thread"])).collect();
    compile(&command);
    (controlled, sanitized)
}

/// The number of executions with a race under control.
fn controlled(program: &Path, name: &str, runtime: &Runtime, directory: &Path) -> u64 {
    let mut control = Control::start(Command::new(program).arg(name), &runtime.path(), directory).unwrap();
    let policies = [Policy::Random, Policy::Pct, Policy::Pos];
    let mut raced = 0;
    for (seed, policy) in (1..=RUNS).zip(policies.into_iter().cycle()) {
        let order = ExecutionOrder { seed, policy, races: true, ..ExecutionOrder::default() };
        control.execute(&order, LONG).unwrap();
        raced += u64::from(Race::of(control.outcome()).is_some());
    }
    raced
}

/// The number of runs with a race according to ThreadSanitizer.
fn sanitized(program: &Path, name: &str) -> u64 {
    let run = || {
        // It cannot run with as much address randomization as newer kernels have.
        let mut command = Command::new("setarch");
        command.args(["-R"]).arg(program).arg(name).env("TSAN_OPTIONS", "exitcode=66");
        command.output().unwrap().status.code()
    };
    (0..RUNS).filter(|_| run() == Some(66)).count() as u64
}

#[test]
fn races_are_found_where_there_are_some() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = Runtime::install(directory.path()).unwrap();
    let (ours, theirs) = build(directory.path(), &runtime);
    let names = String::from_utf8(Command::new(&theirs).arg("list").output().unwrap().stdout).unwrap();
    let mut wrong = Vec::new();
    let mut known = 0;
    println!("program                    race  here      ms  tsan      ms   (runs with a race, of {RUNS})");
    for name in names.lines() {
        let has_race = name.starts_with("race-");
        let began = Instant::now();
        let here = controlled(&ours, name, &runtime, directory.path());
        let here_took = began.elapsed();
        let began = Instant::now();
        let there = sanitized(&theirs, name);
        let there_took = began.elapsed();
        let word = if has_race { "yes" } else { "no" };
        let [here_ms, there_ms] = [here_took, there_took].map(|took| took.as_secs_f64() * 1000.0 / RUNS as f64);
        println!("{name:26} {word:4} {here:5} {here_ms:7.1} {there:5} {there_ms:7.1}");
        if has_race != (here > 0) {
            wrong.push(name.to_owned());
        }
        known += 1;
    }
    assert!(known >= 15, "{known}");
    assert!(wrong.is_empty(), "wrong about {wrong:?}");
}

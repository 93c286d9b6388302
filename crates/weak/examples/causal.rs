//! Causal convergence of a long history of registers: generates one, and checks one.
//!
//! ```text
//! causal generate FILE [OPS SESSIONS KEYS] [violation]
//! causal check FILE [LEVEL [ORDER]]
//! ```
//!
//! Files are in the text format of Plume, which other checkers read too: each line is `r(key,value,session,transaction)`
//! or `w(key,value,session,transaction)`, with transactions of one operation, and 0 as the initial value. The number of
//! its line is the time of an operation.
//!
//! The generator is a store with a replica for each session. A write gets a Lamport timestamp, a read returns the value
//! with the largest one in the replica, and before some operations a replica takes over all that another one knows. With
//! `violation`, a session near the end reads a value that was overwritten in its causal past, through two other sessions.
#![allow(clippy::print_stdout, reason = "a program")]

use std::fmt::Write as _;
use std::time::Instant;
use std::{env, fs, process};

use omnilink_history::{History, Precedence};
use omnilink_weak::registers::{Access, Axioms, Decision, Touch, decide};

const USAGE: &str = "usage: causal generate FILE [OPS SESSIONS KEYS] [violation] | causal check FILE [LEVEL [ORDER]]";

const LEVELS: [(&str, Axioms); 7] = [
    ("weak", Axioms::WEAK),
    ("read-my-writes", Axioms::READ_MY_WRITES),
    ("monotonic-reads", Axioms::MONOTONIC_READS),
    ("monotonic-writes", Axioms::MONOTONIC_WRITES),
    ("writes-follow-reads", Axioms::WRITES_FOLLOW_READS),
    ("pram", Axioms::PRAM),
    ("causal", Axioms::CAUSAL),
];

const ORDERS: [(&str, Precedence); 3] =
    [("real-time", Precedence::RealTime), ("session", Precedence::Program), ("none", Precedence::None)];

fn main() -> process::ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        ["generate", path, ref rest @ ..] => generate(path, rest),
        ["check", path] => check(path, "causal", "session"),
        ["check", path, level] => check(path, level, "session"),
        ["check", path, level, order] => check(path, level, order),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => process::ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            process::ExitCode::FAILURE
        }
    }
}

/// A store with a replica for each session.
struct Store {
    replicas: Vec<Vec<(u32, u32, u64)>>, // For each session and key: timestamp, session and value of the last write.
    clocks: Vec<u32>,
    last_value: u64,
    text: String,
}

impl Store {
    fn write(&mut self, session: usize, key: usize) -> u64 {
        self.last_value += 1;
        self.clocks[session] += 1;
        self.replicas[session][key] = (self.clocks[session], session as u32, self.last_value);
        self.log('w', session, key, self.last_value);
        self.last_value
    }

    fn read(&mut self, session: usize, key: usize) {
        self.log('r', session, key, self.replicas[session][key].2);
    }

    /// The first session takes over all that the second knows.
    fn pull(&mut self, session: usize, other: usize) {
        if session == other {
            return;
        }
        let [ours, theirs] = self.replicas.get_disjoint_mut([session, other]).expect("two sessions");
        ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours = (*ours).max(*theirs));
        self.clocks[session] = self.clocks[session].max(self.clocks[other]);
    }

    fn log(&mut self, access: char, session: usize, key: usize, value: u64) {
        let transaction = self.text.len(); // Any number that no other operation has.
        writeln!(self.text, "{access}({key},{value},{session},{transaction})").expect("text can always be added to");
    }
}

fn generate(path: &str, args: &[&str]) -> Result<(), String> {
    let (args, has_violation) = match args {
        [args @ .., "violation"] => (args, true),
        args => (args, false),
    };
    let sizes = args.iter().map(|arg| arg.parse()).collect::<Result<Vec<usize>, _>>().map_err(|_| USAGE)?;
    let (ops, sessions, keys) = match sizes[..] {
        [] => (1_000_000, 50, 1000),
        [ops, sessions, keys] => (ops, sessions.max(3), keys.max(3)),
        _ => return Err(USAGE.to_owned()),
    };
    let mut store = Store {
        replicas: vec![vec![(0, 0, 0); keys]; sessions],
        clocks: vec![0; sessions],
        last_value: 0,
        text: String::new(),
    };
    let mut random = fastrand::Rng::with_seed(7);
    for op in 0..ops {
        if has_violation && op == ops - ops / 1000 {
            let stale = store.write(0, 0);
            store.write(0, 0);
            for (from, to, key) in [(0, 1, 1), (1, 2, 2)] {
                store.write(from, key);
                store.pull(to, from);
                store.read(to, key);
            }
            store.log('r', 2, 0, stale);
        }
        let session = random.usize(..sessions);
        if random.u32(..5) == 0 {
            store.pull(session, random.usize(..sessions));
        }
        let key = random.usize(..keys);
        if random.bool() {
            store.write(session, key);
        } else {
            store.read(session, key);
        }
    }
    fs::write(path, store.text).map_err(|error| error.to_string())
}

fn check(path: &str, level: &str, order: &str) -> Result<(), String> {
    let (_, axioms) = LEVELS.iter().find(|(name, _)| *name == level).ok_or(USAGE)?;
    let &(_, order) = ORDERS.iter().find(|(name, _)| *name == order).ok_or(USAGE)?;
    let start = Instant::now();
    let text = fs::read(path).map_err(|error| error.to_string())?;
    let mut calls = Vec::with_capacity(text.len() / 16);
    let mut rest = &text[..];
    while let Some((&kind, after)) = rest.split_first() {
        let access = if kind == b'w' { Access::Write } else { Access::Read };
        rest = after;
        let [key, value, session, _] = [(); 4].map(|()| next_number(&mut rest));
        rest = &rest[rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1)..];
        let time = calls.len() as u64;
        calls.push((session as u32, time, Some(time), Touch { key: key as u32, value, access }));
    }
    drop(text);
    let history = History::from_calls(calls).map_err(|error| error.to_string())?;
    let read = start.elapsed();
    let start = Instant::now();
    let decision = decide(&history, 0, axioms, order);
    let checked = start.elapsed();
    match decision {
        Decision::Consistent(lin) => println!("consistent: {} operations", lin.len()),
        Decision::Violation { ops, reason } => println!("violation: {} operations: {reason}", ops.len()),
        Decision::NotApplicable(reason) => println!("not applicable: {reason}"),
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or(" unknown").trim();
    println!("read in {read:.2?}, checked in {checked:.2?}, peak memory {peak}");
    Ok(())
}

/// The number after the next byte.
fn next_number(text: &mut &[u8]) -> u64 {
    let mut number = 0;
    *text = text.get(1..).unwrap_or_default();
    while let Some((&digit, rest)) = text.split_first()
        && digit.is_ascii_digit()
    {
        number = number * 10 + u64::from(digit - b'0');
        *text = rest;
    }
    number
}

//! Generates large histories, and measures checks of them.
//!
//! ```text
//! measure generate lists|edn|registers|stamps FILE TRANSACTIONS
//! measure check FILE LEVEL ORDER
//! measure stamps FILE LEVEL ORDER
//! measure stream FILE LEVEL ORDER
//! ```
//!
//! `lists` are JSON Lines of a strictly serializable store, `edn` the same as a history of Jepsen, and `registers` JSON Lines
//! of a store with snapshots, half of whose operations are reads of 10,000 keys by 25 sessions; `stamps` are the same with the
//! timestamps of the store. `stamps` checks these, and `stream` feeds them to the check of a monitor. `check` prints the CPU time
//! of reading, checking and replaying, and the most memory; `ORDER` is `none`, `session` or `real-time`, and with
//! `no-times` the history is read without its times.
#![allow(clippy::print_stdout, reason = "a program")]

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::{env, fs, process};

use omnilink_history::Halt;
use omnilink_history::format::json::Json;
use omnilink_isolation::read::Transaction;
use omnilink_isolation::{
    Effort, Level, ORDERS, Outcome, Stamp, StampOutcome, Stream, StreamLimits, check, check_stamps, order_name, read,
};

fn main() -> process::ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match *args {
        ["generate", kind, path, count] => generate(kind, path, count.parse().unwrap_or(0)),
        ["check", path, level, order] => measure(path, level, order, true),
        ["stamps", path, level, order] => measure_stamps(path, level, order),
        ["stream", path, level, order] => measure_stream(path, level, order),
        ["check", path, level, order, "no-times"] => measure(path, level, order, false),
        _ => Err(io::Error::other(
            "usage: measure generate KIND FILE COUNT | measure check|stamps|stream FILE LEVEL ORDER [no-times]",
        )),
    };
    match done {
        Ok(()) => process::ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            process::ExitCode::FAILURE
        }
    }
}

/// A transaction in progress.
struct Open {
    start: u64,
    snapshot: u64,
    ops: Vec<(bool, u32, String)>, // True for a write; the key, and the value as it is written.
    writes: Vec<(u32, u64)>,
}

fn generate(kind: &str, path: &str, count: usize) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut rng = fastrand::Rng::with_seed(5);
    match kind {
        "lists" | "edn" => lists(&mut out, &mut rng, count, kind == "edn")?,
        "registers" | "stamps" => registers(&mut out, &mut rng, count, kind == "stamps")?,
        _ => return Err(io::Error::other("the kinds are lists, edn, registers and stamps")),
    }
    out.flush()
}

/// The operations of a transaction: true for an append, and the place of the list.
type Plan = Vec<(bool, usize)>;

/// Transactions of 20 clients with four operations on lists. They take effect when they end; a key is replaced after 16
/// appends.
fn lists(out: &mut impl Write, rng: &mut fastrand::Rng, count: usize, is_edn: bool) -> io::Result<()> {
    let mut active: Vec<(u32, Vec<u32>)> = (0..10).map(|key| (key, Vec::new())).collect();
    let mut next_key = 10;
    let mut open: Vec<Option<(u64, Plan)>> = vec![None; 20];
    let (mut time, mut done, mut fresh) = (0u64, 0, 0u32);
    while done < count {
        time += 1;
        let client = rng.usize(0..open.len());
        let Some((start, plan)) = open[client].take() else {
            let plan: Plan = (0..4).map(|_| (rng.bool(), rng.usize(0..active.len()))).collect();
            open[client] = Some((time, plan));
            if is_edn {
                writeln!(
                    out,
                    "{{:index {}, :time {time}, :type :invoke, :process {client}, :f :txn, :value []}}",
                    time - 1
                )?;
            }
            continue;
        };
        let mut text = Vec::new();
        for (is_append, place) in plan {
            let (key, list) = &mut active[place];
            if is_append {
                fresh += 1;
                list.push(fresh);
                text.push(if is_edn {
                    format!("[:append {key} {fresh}]")
                } else {
                    format!("[\"append\", {key}, {fresh}]")
                });
            } else {
                let separator = if is_edn { " " } else { ", " };
                let elements = list.iter().map(u32::to_string).collect::<Vec<_>>().join(separator);
                text.push(if is_edn {
                    format!("[:r {key} [{elements}]]")
                } else {
                    format!("[\"r\", {key}, [{elements}]]")
                });
            }
        }
        for entry in active.iter_mut().filter(|(_, list)| list.len() >= 16) {
            *entry = (next_key, Vec::new());
            next_key += 1;
        }
        if is_edn {
            let value = text.join(" ");
            writeln!(
                out,
                "{{:index {}, :time {time}, :type :ok, :process {client}, :f :txn, :value [{value}]}}",
                time - 1
            )?;
        } else {
            let txn = text.join(", ");
            writeln!(
                out,
                "{{\"process\": {client}, \"txn\": [{txn}], \"start\": {start}, \"end\": {time}, \"status\": \"committed\"}}"
            )?;
        }
        done += 1;
    }
    Ok(())
}

/// Transactions with snapshots, of 25 sessions and eight operations on registers; the first of two that overlap and write
/// a key wins.
fn registers(out: &mut impl Write, rng: &mut fastrand::Rng, count: usize, has_stamps: bool) -> io::Result<()> {
    const KEYS: u32 = 10_000;
    let mut versions: BTreeMap<u32, VecDeque<(u64, u64)>> = BTreeMap::new(); // Commit times and values.
    let mut open: Vec<Option<Open>> = (0..25).map(|_| None).collect();
    let (mut time, mut done, mut fresh) = (1u64, 0, 0u64);
    while done < count {
        time += 1;
        let session = rng.usize(0..open.len());
        let Some(mut txn) = open[session].take() else {
            open[session] = Some(Open { start: time, snapshot: time, ops: Vec::new(), writes: Vec::new() });
            continue;
        };
        if txn.ops.len() < 8 {
            let key = rng.u32(0..KEYS);
            if rng.bool() {
                fresh += 1;
                txn.writes.retain(|(other, _)| *other != key);
                txn.writes.push((key, fresh));
                txn.ops.push((true, key, fresh.to_string()));
            } else {
                let own = txn.writes.iter().find(|(other, _)| *other == key).map(|(_, value)| *value);
                let visible = versions.get(&key).and_then(|all| all.iter().rev().find(|(at, _)| *at <= txn.snapshot));
                txn.ops.push((false, key, own.or(visible.map(|version| version.1)).unwrap_or(0).to_string()));
            }
            open[session] = Some(txn);
            continue;
        }
        let is_lost = |(key, _): &(u32, u64)| {
            versions.get(key).and_then(VecDeque::back).is_some_and(|(at, _)| *at > txn.snapshot)
        };
        let is_aborted = txn.writes.iter().any(is_lost);
        if !is_aborted {
            for &(key, value) in &txn.writes {
                let all = versions.entry(key).or_default();
                all.push_back((time, value));
                if all.len() > 64 {
                    all.pop_front();
                }
            }
        }
        let op = |(is_write, key, value): &(bool, u32, String)| {
            format!("[\"{}\", {key}, {value}]", if *is_write { "w" } else { "r" })
        };
        let ops = txn.ops.iter().map(op).collect::<Vec<_>>().join(", ");
        let status = if is_aborted { "aborted" } else { "committed" };
        let start = txn.start;
        let stamps = match (has_stamps, is_aborted || txn.writes.is_empty()) {
            (false, _) => String::new(),
            (true, true) => format!(", \"snapshot_ts\": {}", txn.snapshot),
            (true, false) => format!(", \"snapshot_ts\": {}, \"commit_ts\": {time}", txn.snapshot),
        };
        writeln!(
            out,
            "{{\"process\": {session}, \"txn\": [{ops}], \"start\": {start}, \"end\": {time}, \"status\": \"{status}\"{stamps}}}"
        )?;
        done += 1;
    }
    Ok(())
}

fn parse_level(level: &str, order: &str) -> io::Result<Level> {
    let level: Level = level.parse().map_err(io::Error::other)?;
    let order = ORDERS.into_iter().find(|known| order_name(*known) == order);
    Ok(level.with_order(order.ok_or_else(|| io::Error::other("an unknown order"))?))
}

fn measure_stamps(path: &str, level: &str, order: &str) -> io::Result<()> {
    let level = parse_level(level, order)?;
    let before = cpu();
    let txns = read::transactions(&fs::read(path)?, &Halt::default()).map_err(io::Error::other)?;
    let after_reading = cpu();
    let outcome = check_stamps(&txns, level, &Halt::default()).map_err(io::Error::other)?;
    let after_check = cpu();
    let word = match &outcome {
        StampOutcome::Accepted(certificate) => certificate.replay(&txns).map(|()| "accepted".to_owned()),
        StampOutcome::Rejected(rejection) => {
            rejection.verify(&txns).map(|()| format!("rejected, {}", rejection.explain(&txns).anomaly))
        }
        StampOutcome::Inconclusive(doubt) => Ok(doubt.to_string()),
    };
    let word = word.map_err(io::Error::other)?;
    let after_replay = cpu();
    println!("{level} by stamps: {word}; {} transactions, {} operations", txns.len(), txns.micro_count());
    let [reading, checking, replay] = [after_reading - before, after_check - after_reading, after_replay - after_check];
    println!(
        "  reading {reading:.2} s, check {checking:.2} s, evidence {replay:.2} s, CPU time; at most {} MB",
        memory()
    );
    Ok(())
}

/// Feeds transactions in the order of the file, with a watermark after every thousand.
fn measure_stream(path: &str, level: &str, order: &str) -> io::Result<()> {
    const BATCH: usize = 1_000;
    let level = parse_level(level, order)?;
    let text = fs::read_to_string(path)?;
    let before = cpu();
    let mut all: Vec<Transaction> = Vec::new();
    for line in text.lines() {
        let json = Json::parse(line).map_err(|problem| io::Error::other(problem.message))?;
        all.push(Transaction::read(&json).map_err(io::Error::other)?);
    }
    let reading = cpu() - before;
    // The oldest snapshot that is still to come.
    let mut rest = vec![Stamp::new(u64::MAX); all.len() + 1];
    for (at, txn) in all.iter().enumerate().rev() {
        rest[at] = rest[at + 1].min(txn.snapshot.or(txn.commit).unwrap_or(rest[at + 1]));
    }
    let mut stream = Stream::new(level, StreamLimits::default(), false).map_err(io::Error::other)?;
    let mut numbers: BTreeMap<Arc<str>, u64> = BTreeMap::new();
    let (mut alarms, mut held) = (0, 0);
    let before = cpu();
    let count = all.len();
    for (at, txn) in all.into_iter().enumerate() {
        let number = numbers.entry(txn.process.clone()).or_default();
        stream.push(*number, txn).map_err(io::Error::other)?;
        *number += 1;
        if at % BATCH == BATCH - 1 {
            alarms += stream.advance(rest[at + 1], rest[at + 1]).len();
            held = held.max(stream.held());
        }
    }
    alarms += stream.finish().len();
    let time = cpu() - before;
    let rate = |time: f64| count as f64 / time.max(0.01);
    println!("{level} in a stream: {alarms} alarms; {count} transactions");
    println!("  reading lines: {reading:.2} s CPU time, {:.0} a second", rate(reading));
    println!("  check: {time:.2} s CPU time, {:.0} a second; both: {:.0} a second", rate(time), rate(time + reading));
    println!("  at most {held} versions and waiting accesses at a watermark, and {} MB", memory());
    Ok(())
}

fn measure(path: &str, level: &str, order: &str, has_times: bool) -> io::Result<()> {
    let level = parse_level(level, order)?;
    let bytes = fs::read(path)?;
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let bytes = if has_times { bytes } else { without_times(&bytes) };
    let before = cpu();
    let txns = read::transactions(&bytes, &Halt::default()).map_err(io::Error::other)?;
    let after_reading = cpu();
    drop(bytes);
    let outcome = check(&txns, level, &Effort::default(), &Halt::default());
    let after_check = cpu();
    let word = match &outcome {
        Outcome::Accepted(certificate) => certificate.replay(&txns).map(|()| "accepted".to_owned()),
        Outcome::Rejected(rejection) => {
            rejection.verify(&txns).map(|()| format!("rejected, {}", rejection.explain(&txns).anomaly))
        }
        Outcome::Inconclusive(why) => Ok(format!("{why:?}")),
    };
    let word = word.map_err(io::Error::other)?;
    let after_replay = cpu();
    if let Outcome::Rejected(rejection) = &outcome {
        let smallest = rejection.smallest(&txns, &Halt::default());
        let size = smallest.map_or("none".to_owned(), |found| {
            format!("{} transactions, {} operations", found.txns.len(), found.micros.len())
        });
        let edges = rejection.explain(&txns).edges.len();
        println!("  {edges} edges; smallest history: {size}, {:.2} s", cpu() - after_replay);
    }
    let (count, micros) = (txns.len(), txns.micro_count());
    println!("{level}: {word}; {count} transactions, {micros} operations");
    let [reading, checking, replay] = [after_reading - before, after_check - after_reading, after_replay - after_check];
    println!(
        "  reading {reading:.2} s, check {checking:.2} s, evidence {replay:.2} s, CPU time; at most {} MB",
        memory()
    );
    println!("  load {}", load.trim());
    Ok(())
}

fn without_times(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let line = |line: &str| match (line.find(", \"start\""), line.find(", \"status\"")) {
        (Some(start), Some(status)) => line[..start].to_owned() + &line[status..],
        _ => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n").into_bytes()
}

/// The CPU time of this process in seconds, in hundredths.
fn cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// The largest memory of this process so far, in MB.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

//! No record is lost, however a program ends.
//!
//! A victim records on two threads without pause. Each call carries a counter, and the victim notes, independently of
//! the recorder, how many calls and outcomes each thread has published. It ends at a random time, in one of the ways
//! below; then every segment is read. The counters of each thread must have no gap and reach at least the noted number,
//! and at most the last call may be unfinished.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, ErrorKind};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use omnilink_history::format::binary::{self, SegmentReader};
use omnilink_history::{History, Record, Value};

use super::programs::{Programs, Set};
use super::{Options, Scratch};

/// How a victim can end.
const WAYS: [&str; 7] = ["sigkill", "segv", "abort", "panic", "exit", "_exit", "return"];

const THREADS: usize = 2;

/// The latest time at which a victim ends.
const MICROSECONDS: u64 = 20_000;

/// Totals over all traces.
#[derive(Default)]
struct Found {
    segments: usize,
    operations: usize,
    open: usize,
    cuts: usize,
}

/// Kills each recorder as often as asked, in all ways in turn.
pub(super) fn run(programs: &Programs, scratch: &Scratch, options: &Options) -> Result<()> {
    let mut rng = Rng::with_seed(options.seed);
    for set in &programs.sets {
        let mut found = Found::default();
        for (_, way) in (0..options.kills).zip(WAYS.iter().cycle()) {
            let directory = scratch.empty("victim")?;
            let time = rng.u64(0..MICROSECONDS);
            let context = || format!("{}, {way} after {time} microseconds", set.name);
            let status = kill(set, &directory, way, time).with_context(context)?;
            ensure!(*way != "return" || status.success(), "{}: {status}", context());
            check(&directory, *way == "return", &mut found).with_context(context)?;
        }
        let Found { segments, operations, open, cuts } = found;
        println!(
            "{}: ended {} times in {} ways; {segments} segments with {operations} operations, no damaged record and \
             nothing published is missing; {open} operations never finished, {cuts} segments break off",
            set.name,
            options.kills,
            WAYS.len()
        );
    }
    Ok(())
}

fn kill(set: &Set, directory: &Path, way: &str, time: u64) -> Result<ExitStatus> {
    let mut victim = set.command("victim");
    victim.arg(directory).args([&THREADS.to_string(), way, &time.to_string()]).stderr(Stdio::null());
    let mut victim = victim.spawn()?;
    if way == "sigkill" {
        // The clock is calibrated first, which takes two milliseconds; a victim that has published nothing tests
        // nothing.
        while progress(directory)?.iter().all(|(begun, _)| *begun == 0) && victim.try_wait()?.is_none() {
            thread::sleep(Duration::from_micros(100));
        }
        thread::sleep(Duration::from_micros(time));
        victim.kill()?;
    }
    Ok(victim.wait()?)
}

/// Reads the trace of a victim, and compares it with the published counts in its note.
fn check(directory: &Path, is_complete: bool, found: &mut Found) -> Result<()> {
    let progress = progress(directory)?;
    let trace = binary::read_all(readers(directory)?)?;
    let mut by_process: BTreeMap<String, Vec<&Record>> = BTreeMap::new();
    for record in &trace.records {
        let name = trace.processes.get(record.process.0 as usize).context("a process has a name")?;
        by_process.entry(name.to_string()).or_default().push(record);
    }
    for (thread, (begun, finished)) in progress.into_iter().enumerate() {
        let records = by_process.remove(&thread.to_string()).unwrap_or_default();
        for (counter, record) in records.iter().enumerate() {
            check_record(counter, record).with_context(|| format!("operation {counter} of thread {thread}"))?;
        }
        let open = records.iter().filter(|record| record.end.is_unknown()).count();
        let closed = records.len() - open;
        ensure!(open <= 1, "{open} calls of thread {thread} are open");
        ensure!(
            open == 0 || records.last().is_some_and(|last| last.end.is_unknown()),
            "the open call is not the last one"
        );
        // One more may have been published than could be noted.
        let is_whole = |count: usize, noted: u64| (noted..=noted + 1).contains(&(count as u64));
        ensure!(is_whole(records.len(), begun), "{begun} calls were published, and {} are there", records.len());
        ensure!(is_whole(closed, finished), "{finished} outcomes were published, and {closed} are there");
        found.operations += records.len();
        found.open += open;
    }
    ensure!(by_process.is_empty(), "found processes that were not started");
    ensure!(!is_complete || trace.cuts.is_empty(), "a segment breaks off, and the program returned");
    found.segments += trace.processes.len();
    found.cuts += trace.cuts.len();
    History::new(trace)?;
    Ok(())
}

/// The values follow from the counter, so a damaged one shows.
fn check_record(counter: usize, record: &Record) -> Result<()> {
    let int = |value: usize| Value::Int(value as i64);
    let call = &record.call;
    ensure!(call.args().first() == Some(&int(counter)), "the counter is not {counter}: {call}");
    if record.end.is_unknown() {
        return Ok(());
    }
    let expected = if counter % 13 == 3 { "Other" } else { "Step" };
    ensure!(call.action() == expected, "it is not {expected}: {call}");
    ensure!(call.failed == (counter % 13 == 7), "it failed or did not: {call}");
    let returns = expected == "Step" && !call.failed;
    ensure!(call.results() == [int(counter % 1000)].get(..usize::from(returns)).unwrap_or_default(), "results: {call}");
    if expected == "Step" {
        let text = if counter % 17 == 2 { "long ".repeat(60) } else { String::new() };
        ensure!(call.args().get(1) == Some(&Value::from(text.as_str())), "the text is another: {call}");
    }
    ensure!((counter % 11 == 5) == (call.meta.len() == 1), "notes: {call}");
    Ok(())
}

/// For each thread, how many calls and how many outcomes it has noted as published.
fn progress(directory: &Path) -> Result<Vec<(u64, u64)>> {
    let bytes = match fs::read(directory.join("progress")) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(), // It has not begun.
        bytes => bytes?,
    };
    let number = |at: usize| {
        let bytes = bytes.get(8 * at..8 * at + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_le_bytes)
    };
    Ok((0..THREADS).map(|thread| (number(2 * thread), number(2 * thread + 1))).collect())
}

fn readers(directory: &Path) -> Result<Vec<SegmentReader<BufReader<File>>>> {
    let mut paths = fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "seg"));
    paths.sort();
    let open = |path: &std::path::PathBuf| {
        let part = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(SegmentReader::new(part, BufReader::new(File::open(path)?))?)
    };
    paths.iter().map(open).collect()
}

//! The speed of our engine compared with TLC, measured in one run on the benchmark specs.
//!
//! Time is the processor time of the whole process, user and system, including startup, parsing and all threads. TLC
//! and our engine run one after the other with one worker each, and must agree on the counts. Then our engine runs with
//! two workers, measured in wall time.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::engine::Engine;
use super::specs;
use super::tlc::Tlc;
use crate::workspace::Workspace;

const SPECS: [&str; 5] = ["BenchTiles", "BenchCommit", "BenchElection", "BenchChannels", "BenchTickets"];

/// What the ratio of distinct states for each second of processor time is meant to be.
const WANTED: f64 = 5.0;

/// The table stands between these lines of the README.
const MARKS: [&str; 2] = ["<!-- speed -->\n", "<!-- end of speed -->\n"];

/// Measures every benchmark spec; prints the table, or puts it into the README of the recorded answers.
pub(super) fn run(workspace: &Workspace, tlc: &Tlc, write: bool) -> Result<()> {
    let engine = Engine::build_fast(workspace)?;
    let source = workspace.root().join("tests/oracle/specs");
    let mut table = String::from(
        "| spec | TLC, CPU s | distinct per CPU s | OmniLink, CPU s | distinct per CPU s | times | 1 worker, s | 2 workers, s | gain |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let directory = tlc.scratch("speed")?;
    specs::prepare(&source, &directory)?;
    for name in SPECS {
        table += &measure(tlc, &engine, (&source, &directory), name)?;
    }
    let load = fs::read_to_string("/proc/loadavg").context("the load of the machine")?;
    let load = load.split(' ').next().unwrap_or("?");
    let cores = std::thread::available_parallelism()?;
    let text = format!(
        "Measured on {cores} cores with a load of {load} at the end; {WANTED} times is what we want.\n\n{table}"
    );
    if !write {
        println!("{text}");
        return Ok(());
    }
    let path = workspace.root().join("tests/oracle/README.md");
    let readme = fs::read_to_string(&path)?;
    let (before, rest) = readme.split_once(MARKS[0]).context("the README has no place for the table")?;
    let (_, after) = rest.split_once(MARKS[1]).context("the README has no end of the table")?;
    fs::write(path, format!("{before}{}\n{text}\n{}{after}", MARKS[0], MARKS[1]))?;
    Ok(())
}

fn measure(tlc: &Tlc, engine: &Engine, (source, prepared): (&Path, &Path), name: &str) -> Result<String> {
    let before = children_seconds()?;
    let theirs = specs::check(tlc, prepared, source, name)?;
    let their_seconds = children_seconds()? - before;
    let one = explore(engine, source, name, 1)?;
    let two = explore(engine, source, name, 2)?;
    ensure!(theirs.distinct == one.distinct.to_string(), "{name}: TLC finds {} distinct states", theirs.distinct);
    ensure!(one.distinct == two.distinct, "{name}: two workers find other states");
    let distinct = one.distinct as f64;
    let (theirs, ours) = (distinct / their_seconds, distinct / one.seconds);
    let mut row = String::new();
    writeln!(
        row,
        "| `{name}` | {their_seconds:.1} | {theirs:.0} | {:.2} | {ours:.0} | {:.1} | {:.2} | {:.2} | {:.2} |",
        one.seconds,
        ours / theirs,
        one.wall,
        two.wall,
        one.wall / two.wall,
    )?;
    Ok(row)
}

struct Run {
    distinct: u64,
    /// Of the processor.
    seconds: f64,
    /// On the wall.
    wall: f64,
}

fn explore(engine: &Engine, source: &Path, name: &str, workers: usize) -> Result<Run> {
    let (before, start) = (children_seconds()?, Instant::now());
    let output = Command::new(engine.binary())
        .args(["spec", "check", &format!("{name}.tla"), "--format", "json", "--workers", &workers.to_string()])
        .current_dir(source)
        .stderr(Stdio::inherit())
        .output()?;
    let (wall, seconds) = (start.elapsed().as_secs_f64(), children_seconds()? - before);
    let report: Value = serde_json::from_slice(&output.stdout).context("omnilink printed no JSON")?;
    let distinct = report.pointer("/stats/distinct");
    let distinct = distinct.and_then(Value::as_u64).context("omnilink printed no count of distinct states")?;
    Ok(Run { distinct, seconds, wall })
}

/// The processor time of all processes that this one has started and waited for.
pub(super) fn children_seconds() -> Result<f64> {
    /// Ticks in a second, which Linux has long fixed for what it tells programs.
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").context("the times of the children, which Linux alone tells")?;
    // The name of the program stands in parentheses and may contain spaces; 13 fields further on are the two we want.
    let (_, fields) = stat.rsplit_once(") ").context("the name of the program ends in a parenthesis")?;
    let ticks = fields.split(' ').skip(13).take(2).map(str::parse::<f64>).sum::<Result<f64, _>>()?;
    Ok(ticks / TICKS)
}

//! Random histories for the example specs: the verdicts and counts of our engine and of TLC.
//!
//! Half of the histories come from correct programs, half contain a mistake. TLC decides the module that `omnilink
//! export tlc` writes: it explores all states, and a constraint that is always true prints when no operation remains.
//! Our engine decides each history twice: with default options for the verdict, and by level without reductions. The
//! second visits the states of that module, so the numbers of states must be equal. Every tenth history also runs
//! through `omnilink check --tlc`.
//!
//! The number of orders of a history grows quickly with the number of processes, and varies between histories. A
//! history with too many orders for TLC is recorded again with one process less.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use omnilink_history::Trace;
use omnilink_history::format::jsonl;
use omnilink_testkit::recording::{Example, corrupt, record};
use serde_json::Value;

use super::compare::Difference;
use super::engine::Engine;
use super::specs::Answer;
use super::speed::children_seconds;
use super::tlc::{Effort, Tlc};
use super::{Options, conclude, jobs};
use crate::workspace::Workspace;

/// More distinct states than this are too many for TLC in a run over many histories.
const MOST_STATES: u64 = 20_000;

/// More configurations at once than this are a sign of far too many states.
const MOST_AT_ONCE: &str = "3000";

/// The number of histories for each one that is given to `omnilink check --tlc`; as many have the maximum length.
const EVERY: usize = 10;

/// How long histories are.
const SHORTEST: usize = 500;
const LONGEST: usize = 5000;

/// The module that prints a line when a history is explained.
const WATCH: &str = "OmniLinkWatch";
const EXPLAINED: &str = "OL_explained";

/// A history to decide.
struct Case {
    example: Example,
    ops: usize,
    processes: usize,
    seed: u64,
    is_corrupted: bool,
    is_confirmed: bool,
}

/// What was found out about a history.
struct Found {
    differences: Vec<Difference>,
    is_accepted: bool,
    ops: usize,
    distinct: u64,
}

/// Compares many histories; with `--speed`, measures long ones instead.
pub(super) fn run(workspace: &Workspace, tlc: &Tlc, count: usize, options: &Options) -> Result<()> {
    let engine = if options.speed { Engine::build_fast(workspace)? } else { Engine::build(workspace)? };
    let bench = Bench { workspace, tlc, engine: &engine, scratch: tlc.scratch("traces")? };
    if options.speed {
        return bench.speed(options.seed);
    }
    let start = Instant::now();
    let cases: Vec<Case> = (0..count).map(|index| case(index, options.seed)).collect();
    let numbered: Vec<(usize, &Case)> = cases.iter().enumerate().collect();
    let found = jobs::each(options.jobs, &numbered, |(index, case)| {
        bench.compare(*index, case).with_context(|| format!("history {index} of {}", case.example.directory()))
    })?;
    let accepted = found.iter().filter(|found| found.is_accepted).count();
    let ops: usize = found.iter().map(|found| found.ops).sum();
    let distinct: u64 = found.iter().map(|found| found.distinct).sum();
    println!(
        "{count} histories of {ops} operations, {accepted} accepted, {} rejected; {distinct} distinct states; {:.0} s",
        count - accepted,
        start.elapsed().as_secs_f64()
    );
    let differences: Vec<Difference> = found.into_iter().flat_map(|found| found.differences).collect();
    conclude(&differences)
}

/// A history that is the same in every run with this seed.
fn case(index: usize, seed: u64) -> Case {
    let seed = seed.wrapping_mul(1_000_003).wrapping_add(index as u64);
    let mut rng = fastrand::Rng::with_seed(seed);
    let is_long = index % EVERY == EVERY - 1;
    Case {
        example: Example::ALL[index / 2 % Example::ALL.len()],
        ops: if is_long { rng.usize(SHORTEST * 4..=LONGEST) } else { rng.usize(SHORTEST..=SHORTEST * 2) },
        processes: rng.usize(2..=8),
        seed,
        is_corrupted: index % 2 == 1,
        is_confirmed: index % EVERY == EVERY / 2,
    }
}

impl Case {
    fn trace(&self, processes: usize) -> Trace {
        let mut trace = record(self.example, self.ops, processes, self.seed);
        if self.is_corrupted {
            corrupt(&mut trace, self.seed);
        }
        trace
    }
}

struct Bench<'a> {
    workspace: &'a Workspace,
    tlc: &'a Tlc,
    engine: &'a Engine,
    scratch: PathBuf,
}

/// What our engine says: whether it accepts, and how many states it generated and found different.
struct Ours {
    is_accepted: Option<bool>,
    generated: u64,
    distinct: u64,
}

impl Bench<'_> {
    fn compare(&self, index: usize, case: &Case) -> Result<Found> {
        let directory = self.scratch.join(index.to_string());
        let trace = directory.join("trace.jsonl");
        let mut processes = case.processes;
        let exhaustive = loop {
            write(&case.trace(processes), &trace)?;
            let ours = self.ours(case.example, &trace, &["--exhaustive", "--max-width", MOST_AT_ONCE])?;
            if processes == 2 || (ours.is_accepted.is_some() && ours.distinct <= MOST_STATES) {
                break ours;
            }
            processes -= 1;
        };
        let ours = self.ours(case.example, &trace, &[])?;
        let is_accepted = ours.is_accepted.context("our engine does not decide it")?;
        let name = self.export(case.example, &trace, &directory)?;
        let (theirs, answer) = self.theirs(&directory, &name, Effort::Short)?;
        let what = format!(
            "{} {} operations of {processes} processes, seed {}{}",
            case.example.directory(),
            case.ops,
            case.seed,
            if case.is_corrupted { ", corrupted" } else { "" }
        );
        let say = |is_accepted: bool, generated: &str, distinct: &str| {
            let verdict = if is_accepted { "accepted" } else { "rejected" };
            format!("{verdict}, {generated} generated, {distinct} distinct")
        };
        let theirs = say(theirs, &answer.generated, &answer.distinct);
        let counts = (exhaustive.generated.to_string(), exhaustive.distinct.to_string());
        let mut differences = Vec::new();
        for verdict in [is_accepted, exhaustive.is_accepted.context("our engine does not decide it by level")?] {
            let ours = say(verdict, &counts.0, &counts.1);
            differences.extend(Difference::between(&what, ("TLC", &theirs), ("OmniLink", &ours)));
        }
        if case.is_confirmed {
            let jar = self.tlc.jar().to_string_lossy().into_owned();
            let confirmed = self.omnilink(case.example, "check", &trace, &["--tlc", &jar])?;
            let said = String::from_utf8_lossy(&confirmed.stdout).trim_end().replace('\n', "; ");
            let expected = if confirmed.status.success() { &*said } else { "both verdicts are the same" };
            differences.extend(Difference::between(&what, ("check --tlc", expected), ("check --tlc", &said)));
        }
        fs::remove_dir_all(&directory)?;
        Ok(Found { differences, is_accepted, ops: case.ops, distinct: exhaustive.distinct })
    }

    /// Runs a command on a history of an example.
    fn omnilink(&self, example: Example, command: &str, trace: &Path, flags: &[&str]) -> Result<Output> {
        let spec = self.spec(example)?;
        let mut omnilink = Command::new(self.engine.binary());
        omnilink.arg(command).arg(spec).arg(trace).args(flags);
        omnilink.output().context("omnilink cannot be run")
    }

    /// The module of an example.
    fn spec(&self, example: Example) -> Result<PathBuf> {
        let directory = self.workspace.root().join("examples").join(example.directory());
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "tla") {
                return Ok(path);
            }
        }
        bail!("the example `{}` has no module", example.directory())
    }

    fn ours(&self, example: Example, trace: &Path, flags: &[&str]) -> Result<Ours> {
        let flags = [&["--format", "json", "--progress", "none"], flags].concat();
        let output = self.omnilink(example, "check", trace, &flags)?;
        let errors = String::from_utf8_lossy(&output.stderr);
        let report: Value = serde_json::from_slice(&output.stdout).with_context(|| format!("omnilink: {errors}"))?;
        let report = &report["reports"][0];
        let number = |name: &str| report["stats"][name].as_u64().context("omnilink printed no counts");
        let is_accepted = match output.status.code() {
            Some(0) => Some(true),
            Some(1) => Some(false),
            Some(3) => None,
            code => bail!("omnilink ended with {code:?}: {errors}"),
        };
        Ok(Ours { is_accepted, generated: number("generated")?, distinct: number("distinct")? })
    }

    /// Exports a history, and adds the module that TLC is to explore. Returns the name of that.
    fn export(&self, example: Example, trace: &Path, directory: &Path) -> Result<String> {
        let output = directory.to_string_lossy().into_owned();
        let exported = self.omnilink(example, "convert", trace, &["--to", "tlc", "--output", &output])?;
        ensure!(exported.status.success(), "not exported: {}", String::from_utf8_lossy(&exported.stderr));
        let config = fs::read_dir(directory)?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| path.extension().is_some_and(|extension| extension == "cfg"))
            .context("no configuration was exported")?;
        let name = config.file_stem().context("a configuration has a name")?.to_string_lossy().into_owned();
        let module = format!(
            "---- MODULE {WATCH} ----\nEXTENDS {name}, TLC\nOL_Watch == OL_NotExplained \\/ PrintT(\"{EXPLAINED}\")\n====\n"
        );
        fs::write(directory.join(WATCH).with_extension("tla"), module)?;
        let text = fs::read_to_string(&config)?.replace("INVARIANT OL_NotExplained", "CONSTRAINT OL_Watch");
        fs::write(directory.join(WATCH).with_extension("cfg"), text)?;
        Ok(WATCH.to_owned())
    }

    /// Whether TLC accepts a history, and what else it says.
    fn theirs(&self, directory: &Path, name: &str, effort: Effort) -> Result<(bool, Answer)> {
        let output = self.tlc.check(directory, name, &["-deadlock"], effort)?;
        let answer = Answer::from(&output);
        ensure!(answer.outcome == "ok", "TLC does not decide it: {} {}", answer.outcome, answer.message);
        Ok((output.printed.iter().any(|line| line.contains(EXPLAINED)), answer))
    }

    /// Measures the processor time of both on long histories.
    fn speed(&self, seed: u64) -> Result<()> {
        println!("| example | processes | distinct states | TLC, CPU s | of it to start | OmniLink, CPU s | times |");
        println!("|---|---:|---:|---:|---:|---:|---:|");
        for (example, processes) in
            [(Example::Queue, 5), (Example::Map, 4), (Example::ProducerQueue, 3), (Example::Snapshot, 4)]
        {
            let timed = |ops: usize| -> Result<(f64, f64, String)> {
                let directory = self.scratch.join(format!("{}-{ops}", example.directory()));
                let path = directory.join("trace.jsonl");
                write(&record(example, ops, processes, seed), &path)?;
                let before = children_seconds()?;
                let ours = self.ours(example, &path, &[])?;
                let our_seconds = children_seconds()? - before;
                let name = self.export(example, &path, &directory)?;
                let before = children_seconds()?;
                let (theirs, answer) = self.theirs(&directory, &name, Effort::Long)?;
                ensure!(ours.is_accepted == Some(theirs), "the verdicts on {} differ", example.directory());
                Ok((our_seconds, children_seconds()? - before, answer.distinct))
            };
            let (_, start, _) = timed(1)?;
            let (ours, theirs, distinct) = timed(LONGEST)?;
            println!(
                "| {} | {processes} | {distinct} | {theirs:.2} | {start:.2} | {ours:.2} | {:.0} |",
                example.directory(),
                (theirs - start) / ours
            );
        }
        Ok(())
    }
}

fn write(trace: &Trace, path: &Path) -> Result<()> {
    fs::create_dir_all(path.parent().context("a trace is in a directory")?)?;
    Ok(jsonl::write(trace, BufWriter::new(File::create(path)?))?)
}

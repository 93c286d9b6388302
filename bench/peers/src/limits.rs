//! Our command on long and wide histories, and what a search costs compared with replaying what it found.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum;
use omnilink_history::format::binary::{Manifest, SegmentWriter};
use omnilink_history::format::jsonl;
use omnilink_history::{History, Record, Value, Verdict};
use omnilink_models::Model;
use omnilink_models::kv::Kv;
use omnilink_search::Spec;
use omnilink_settings::Settings;
use omnilink_testkit::workload::{Map, Queue, Register};
use omnilink_tla::datum::World;
use omnilink_tla::machine::Machine;
use omnilink_tla::resolve::Loader;
use omnilink_tla::strings::Strings;
use omnilink_validate::{Binder, Problem, TraceSpec};

use crate::measure::{self, Cost, Ended};
use crate::table::{self, Table, memory, ratio, time};

/// A history on disk that the command is run on.
struct Case {
    name: String,
    spec: &'static str,
    records: Records,
    args: &'static [&'static str],
    exit: i32,
    most_seconds: f64,
    most_memory: u64,
}

/// What is recorded, and how.
enum Records {
    /// As a binary trace with this many processes.
    Binary(u32, Box<dyn Iterator<Item = Record>>),
    /// As JSON Lines.
    Lines(Register),
}

const LONG: u64 = 10_000_000;
const HOT: u64 = 1_000_000;
const TLA: u64 = 450_000;
const ANY_MEMORY: u64 = u64::MAX;

fn cases() -> Vec<Case> {
    let map = |name: &str, map: Map, args, exit, most_seconds, most_memory| Case {
        name: name.into(),
        spec: "kv",
        records: Records::Binary(map.threads, Box::new(map.records())),
        args,
        exit,
        most_seconds,
        most_memory,
    };
    let tla = |name: &str, map: Map, exit, most_seconds| Case {
        name: name.into(),
        spec: "examples/map/Map.tla",
        records: Records::Binary(map.threads, Box::new(map.records())),
        args: &["--config", "bench/map.cfg", "--settings", "bench/map.toml"],
        exit,
        most_seconds,
        most_memory: 150_000_000,
    };
    let wide = |threads, reads| Map { threads, reads, ..Map::of(100_000) };
    let long = Map { violation: Some(LONG / 1000 * 995), ..Map::of(LONG) };
    let bad = Map { violation: Some(TLA / 1000 * 995), ..Map::of(TLA) };
    let queue = Queue { spanning: true, ..Queue::of(100_000) };
    let (seconds, bytes) = (LONG as f64 / 3e6, 300_000_000);
    let mut cases = vec![
        map("map, 10 million operations, accepted", Map::of(LONG), &[], 0, seconds, bytes),
        map("map, 10 million operations, rejected at 99.5 %", long, &[], 1, seconds, bytes),
        map(
            "map, 10 million operations with ranks, `--order-by rank`, accepted",
            Map { ranks: true, ..Map::of(LONG) },
            &["--order-by", "rank"],
            0,
            8.0,
            bytes,
        ),
        map("map, 50 threads, 95 % reads, 100,000 operations", wide(50, 95), &[], 0, 10.0, ANY_MEMORY),
        map("map, 100 threads, 95 % reads, 100,000 operations", wide(100, 95), &[], 0, 10.0, ANY_MEMORY),
        map("map, 50 threads, no reads, 100,000 operations, key by key", wide(50, 0), &[], 0, 10.0, ANY_MEMORY),
        map(
            "map, 50 threads, no reads, 100,000 operations, whole, at most 100,000 configurations at once",
            wide(50, 0),
            &["--no-shortcuts", "--max-width", "100000", "--timeout", "10s"],
            3,
            11.0,
            ANY_MEMORY,
        ),
        Case {
            name: "queue, 5 threads and one `enqueue` that spans all, 100,000 operations".into(),
            spec: "queue",
            records: Records::Binary(queue.threads + 1, Box::new(queue.records())),
            args: &["--timeout", "60s"],
            exit: 0,
            most_seconds: 2.0,
            most_memory: ANY_MEMORY,
        },
        tla("map in TLA+, 450,000 operations, accepted", Map::of(TLA), 0, 1.5),
        tla("map in TLA+, 450,000 operations, rejected at 99.5 %", bad, 1, 3.0),
        Case {
            most_memory: 200_000_000,
            ..tla("map in TLA+, 10 million operations, accepted", Map::of(LONG), 0, 180.0)
        },
    ];
    for (threads, unfinished, is_bad) in [8, 64, 500]
        .into_iter()
        .flat_map(|threads| [(threads, 0, false), (threads, 0, true), (threads, 1, false), (threads, 1, true)])
    {
        let violation = is_bad.then_some(HOT / 1000 * 995);
        let register = Register { unfinished, violation, ..Register::of(HOT, threads) };
        let lost = if unfinished == 0 { "" } else { ", 1 % unfinished" };
        let verdict = if is_bad { "rejected at 99.5 %" } else { "accepted" };
        cases.push(Case {
            name: format!("register, 1 million operations of {threads} clients{lost}, JSON Lines, {verdict}"),
            spec: "register",
            records: Records::Lines(register),
            args: &[],
            exit: i32::from(is_bad),
            most_seconds: 2.0,
            most_memory: ANY_MEMORY,
        });
    }
    cases
}

pub fn run(omnilink: &Path, file: Option<&Path>, only: Option<&str>) -> Result<bool> {
    let omnilink = omnilink.canonicalize().with_context(|| format!("there is no {}", omnilink.display()))?;
    let omnilink = omnilink.to_str().context("a path that is text")?;
    let mut table = Table::new(&["case", "verdict", "wall time", "CPU time", "operations per CPU second", "peak"]);
    let mut is_good = true;
    let is_chosen = |name: &str| only.is_none_or(|only| name.contains(only));
    for case in cases().into_iter().filter(|case| is_chosen(&case.name)) {
        let (name, exit, most_seconds, most_memory) =
            (case.name.clone(), case.exit, case.most_seconds, case.most_memory);
        let (cost, operations) = check(omnilink, case)?;
        if cost.exit != exit || cost.cpu > most_seconds || cost.peak > most_memory {
            eprintln!("{name}: exit code {} in {}, {}\n{}", cost.exit, time(cost.cpu), memory(cost.peak), cost.output);
            is_good = false;
        }
        let verdict = ["accepted", "rejected", "an error", "inconclusive"].get(cost.exit as usize).unwrap_or(&"none");
        // A search that gave up has not seen them all.
        let rate = if cost.exit < 2 { format!("{:.2} million", operations as f64 / cost.cpu / 1e6) } else { "".into() };
        table.row([name, (*verdict).into(), time(cost.wall), time(cost.cpu), rate, memory(cost.peak)]);
    }
    for (name, kind) in [("map, 450,000 operations", "model"), ("map in TLA+, 450,000 operations", "tla")] {
        if !is_chosen(name) {
            continue;
        }
        let Ended::Well(output) = measure::run_self(&["replay", kind, "450000"])? else {
            anyhow::bail!("`{name}` was stopped")
        };
        let mut lines = output.lines();
        let (check, replay) = lines.next().and_then(|line| line.split_once(' ')).context("two times")?;
        let (check, replay): (f64, f64) = (check.parse()?, replay.parse()?);
        let rate = |seconds: f64| format!("{:.2} million", 0.45 / seconds);
        let counts = lines.next().context("counts")?.to_owned();
        let verdict = format!("accepted; {} the time of its replay; {counts}", ratio(check / replay));
        table.row([format!("{name}, in memory"), verdict, "".into(), time(check), rate(check), "".into()]);
        table.row([format!("{name}, replayed"), "confirmed".into(), "".into(), time(replay), rate(replay), "".into()]);
        is_good &= check <= 3.0 * replay;
    }
    table::publish(&table, "limits", file)?;
    Ok(is_good)
}

/// Writes the history of a case and runs the command on it.
fn check(omnilink: &str, case: Case) -> Result<(Cost, u64)> {
    let directory = Temporary::new()?;
    let mut path = directory.0.clone();
    let mut operations = 0;
    match case.records {
        Records::Binary(threads, records) => {
            fs::write(path.join("manifest.json"), Manifest::default().write())?;
            let mut writers = Vec::new();
            for process in 0..threads {
                let segment = BufWriter::new(File::create(path.join(format!("{process:04}.seg")))?);
                writers.push(SegmentWriter::new(segment, &process.to_string())?);
            }
            for record in records {
                writers[record.process.index()].record(&record)?;
                operations += 1;
            }
            for writer in writers {
                writer.close()?;
            }
        }
        Records::Lines(register) => {
            let trace = register.trace();
            operations = trace.records.len() as u64;
            path.push("history.jsonl");
            jsonl::write(&trace, BufWriter::new(File::create(&path)?))?;
        }
    }
    let path = path.to_str().context("a path that is text")?;
    let args = ["check", path, "--progress", "none", "--spec", case.spec];
    let args: Vec<&str> = args.into_iter().chain(case.args.iter().copied()).collect();
    Ok((measure::command(omnilink, &args)?, operations))
}

/// A directory that goes away with this value.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Result<Temporary> {
        let path = std::env::temp_dir().join(format!("omnilink-limits-{}", std::process::id()));
        fs::create_dir(&path)?;
        Ok(Temporary(path))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What cannot be removed is left to the system, which empties this place.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What is measured against its replay.
#[derive(Clone, Copy, ValueEnum)]
pub enum Kind {
    Model,
    Tla,
}

/// Prints the processor seconds of a search over calls that are bound already, those of the replay of its witness, and
/// what the search counted.
pub fn replay(kind: Kind, operations: u64) -> Result<()> {
    let history = History::new(Map::of(operations).trace())?;
    match kind {
        Kind::Model => {
            let kv = Kv::new(&Value::Nil);
            let bound = history.try_map(|op| kv.bind(op))?;
            measured(&kv, &bound)
        }
        Kind::Tla => {
            let mut strings = Strings::default();
            let config = omnilink_tla::config::parse(&fs::read_to_string("bench/map.cfg")?, &mut strings);
            let mut config = config.map_err(|_| anyhow::anyhow!("bench/map.cfg has errors"))?;
            // Replaying looks at no invariant, so searching must not.
            config.invariants.clear();
            let path = "examples/map/Map.tla";
            let module = omnilink_tla::resolve::resolve(path, &fs::read_to_string(path)?, &mut BuiltIn, strings);
            let program = omnilink_tla::program::link(module?, &config, omnilink_tla::program::LinkOptions::default())?;
            let settings = Settings::parse(&fs::read_to_string("bench/map.toml")?)?;
            let mut machine = Machine::new(&program, Box::new(Silence));
            let wrong = |problems: Vec<Problem>| anyhow::anyhow!("{}", problems[0]);
            let binder = Binder::new(&program, &config, &settings, &mut machine).map_err(wrong)?;
            let mut spec = TraceSpec::new(binder, machine);
            let bound = history.try_map(|op| spec.bind(op, history.processes())).map_err(wrong)?;
            measured(&spec, &bound)
        }
    }
}

fn measured<S: Spec>(spec: &S, history: &History<S::Op>) -> Result<()> {
    let measured = Duration::from_secs(2);
    let failed = |_| anyhow::anyhow!("the specification could not be evaluated");
    let search = || omnilink_search::check(spec, history, &omnilink_search::Options::default()).map_err(failed);
    let (report, check) = measure::seconds(measured, search)?;
    let Verdict::Accepted(witness) = report.verdict else { anyhow::bail!("not accepted") };
    let confirm = || {
        let replayed = omnilink_search::replay(spec, history, omnilink_search::Criterion::LINEARIZABLE, &witness);
        replayed.map_err(|_| anyhow::anyhow!("a witness that is not confirmed"))
    };
    let ((), replay) = measure::seconds(measured, confirm)?;
    println!("{check} {replay}");
    let operations = history.ops().len() as f64;
    let (stats, count) = (report.stats, |count: u64| format!("{:.2}", count as f64 / operations));
    println!(
        "for each operation {} steps, {} configurations, of which {} distinct; at most {} at once",
        count(stats.steps),
        count(stats.generated),
        count(stats.distinct),
        stats.widest.map_or(0, |widest| widest.width)
    );
    Ok(())
}

/// No modules but those that come with us.
struct BuiltIn;

impl Loader for BuiltIn {
    fn load(&mut self, _: &str) -> Option<(String, String)> {
        None
    }
}

/// A world in which nothing happens.
struct Silence;

impl World for Silence {}

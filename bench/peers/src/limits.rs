//! Our command on long and wide histories, and what a search costs compared with replaying what it found.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use history::format::binary::{Manifest, SegmentWriter};
use history::{History, Precedence, Record, Value, Verdict};
use models::Model;
use models::kv::Kv;
use testkit::workload::{Map, Queue};

use crate::measure::{self, Cost, Ended};
use crate::table::{self, Table, memory, ratio, time};

/// A history on disk that the command is run on.
struct Case {
    name: &'static str,
    spec: &'static str,
    records: Box<dyn Iterator<Item = Record>>,
    threads: u32,
    args: &'static [&'static str],
    exit: i32,
    most_seconds: f64,
    most_memory: u64,
}

const LONG: u64 = 10_000_000;
const ANY_MEMORY: u64 = u64::MAX;

fn cases() -> Vec<Case> {
    let map = |name, map: Map, args, exit, most_seconds, most_memory| Case {
        name,
        spec: "kv",
        records: Box::new(map.records()),
        threads: map.threads,
        args,
        exit,
        most_seconds,
        most_memory,
    };
    let wide = |threads, reads| Map { threads, reads, ..Map::of(100_000) };
    let long = Map { violation: Some(LONG / 1000 * 995), ..Map::of(LONG) };
    let queue = Queue { spanning: true, ..Queue::of(100_000) };
    let (seconds, bytes) = (LONG as f64 / 3e6, 300_000_000);
    vec![
        map("map, 10 million operations, accepted", Map::of(LONG), &[], 0, seconds, bytes),
        map("map, 10 million operations, rejected at 99.5 %", long, &[], 1, seconds, bytes),
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
            name: "queue, 5 threads and one `enqueue` that spans all, 100,000 operations",
            spec: "queue",
            threads: queue.threads + 1,
            records: Box::new(queue.records()),
            args: &["--timeout", "60s"],
            exit: 0,
            most_seconds: 2.0,
            most_memory: ANY_MEMORY,
        },
    ]
}

pub fn run(omnilink: &Path, file: Option<&Path>, only: Option<&str>) -> Result<bool> {
    let omnilink = omnilink.canonicalize().with_context(|| format!("there is no {}", omnilink.display()))?;
    let omnilink = omnilink.to_str().context("a path that is text")?;
    let mut table = Table::new(&["case", "verdict", "wall time", "CPU time", "operations per CPU second", "peak"]);
    let mut is_good = true;
    let is_chosen = |name: &str| only.is_none_or(|only| name.contains(only));
    for case in cases().into_iter().filter(|case| is_chosen(case.name)) {
        let (name, exit, most_seconds, most_memory) = (case.name, case.exit, case.most_seconds, case.most_memory);
        let (cost, operations) = check(omnilink, case)?;
        if cost.exit != exit || cost.cpu > most_seconds || cost.peak > most_memory {
            eprintln!("{name}: exit code {} in {}, {}\n{}", cost.exit, time(cost.cpu), memory(cost.peak), cost.output);
            is_good = false;
        }
        let verdict = ["accepted", "rejected", "an error", "inconclusive"].get(cost.exit as usize).unwrap_or(&"none");
        let widest = cost.output.lines().find_map(|line| line.trim().strip_prefix("widest "));
        let verdict = widest.map_or((*verdict).into(), |widest| format!("{verdict}; widest {widest}"));
        // A search that gave up has not seen them all.
        let rate = if cost.exit < 2 { format!("{:.2} million", operations as f64 / cost.cpu / 1e6) } else { "".into() };
        table.row([name.into(), verdict, time(cost.wall), time(cost.cpu), rate, memory(cost.peak)]);
    }
    let name = "map, 450,000 operations";
    if is_chosen(name) {
        let Ended::Well(output) = measure::run_self(&["replay", "450000"])? else {
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
    fs::write(directory.0.join("manifest.json"), Manifest::default().write())?;
    let mut writers = Vec::new();
    for process in 0..case.threads {
        let segment = BufWriter::new(File::create(directory.0.join(format!("{process:04}.seg")))?);
        writers.push(SegmentWriter::new(segment, &process.to_string())?);
    }
    let mut operations = 0;
    for record in case.records {
        writers[record.process.index()].record(&record)?;
        operations += 1;
    }
    for writer in writers {
        writer.close()?;
    }
    let path = directory.0.to_str().context("a path that is text")?;
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

/// Prints the processor seconds of a search over calls that are bound already, those of the replay of its witness, and
/// what the search counted.
pub fn replay(operations: u64) -> Result<()> {
    let kv = Kv::new(&Value::Nil);
    let history = History::new(Map::of(operations).trace())?;
    let bound = history.try_map(|op| kv.bind(op))?;
    let measured = Duration::from_secs(2);
    let (report, check) = measure::seconds(measured, || Ok(search::check(&kv, &bound, &search::Options::default())?))?;
    let Verdict::Accepted(witness) = report.verdict else { anyhow::bail!("not accepted") };
    let confirm = || {
        let replayed = search::replay(&kv, &bound, Precedence::RealTime, &witness);
        replayed.map_err(|_| anyhow::anyhow!("a witness that is not confirmed"))
    };
    let ((), replay) = measure::seconds(measured, confirm)?;
    println!("{check} {replay}");
    let (stats, count) = (report.stats, |count: u64| format!("{:.2}", count as f64 / operations as f64));
    println!(
        "for each operation {} steps, {} configurations, of which {} distinct; at most {} at once",
        count(stats.steps),
        count(stats.generated),
        count(stats.distinct),
        stats.widest.map_or(0, |widest| widest.width)
    );
    Ok(())
}

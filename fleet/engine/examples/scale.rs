//! Measures checks by key beside what the engine itself costs.
//!
//! ```console
//! $ cargo run --profile engine -p omnilink-fleet --example scale -- generate ops 20000000 200000
//! $ cargo run --profile engine -p omnilink-fleet --example scale -- bare ops 2 1000
//! $ cargo run --profile engine -p omnilink-fleet --example scale -- check ops 2 1000
//! ```
//!
//! `generate DIRECTORY OPERATIONS KEYS [HOT]` writes operations of registers, of which the first key has HOT more than
//! the others, and plants a wrong read in three keys. `bare` and `check DIRECTORY JOBS MEGABYTES` print CPU time, wall
//! time and peak memory; `bare` sorts and counts only.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use omnilink_columns::file::TableWriter;
use omnilink_fleet::Job;
use omnilink_fleet::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, StructArray};
use omnilink_fleet::arrow::buffer::NullBuffer;
use omnilink_fleet::arrow::datatypes::{DataType, Field, Fields};
use omnilink_judge::{CheckOptions, Judge, Unlimited};

/// As in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize| args.get(place).and_then(|arg| arg.parse::<u64>().ok());
    match (args.first().map(String::as_str), args.get(1)) {
        (Some("generate"), Some(directory)) => {
            let (operations, keys) = (number(2).unwrap_or(1_000_000), number(3).unwrap_or(10_000));
            generate(Path::new(directory), operations, keys, number(4).unwrap_or(0))
        }
        (Some(what @ ("bare" | "check")), Some(directory)) => {
            measure(what == "check", directory, number(2).unwrap_or(1), number(3).unwrap_or(1000))
        }
        _ => Err("generate DIRECTORY OPERATIONS KEYS [HOT], bare or check DIRECTORY JOBS MEGABYTES".into()),
    }
}

/// Sorts, or sorts and checks, and prints what it took.
fn measure(is_check: bool, directory: &str, jobs: u64, megabytes: u64) -> Outcome {
    let job =
        Job { memory: (megabytes << 20) as usize, jobs: jobs as usize, ..Job::new([directory.to_owned()], "key") };
    let began = Instant::now();
    let found = if is_check {
        let judge =
            Judge::new("register:initial=0", CheckOptions::default()).map_err(|failed| format!("{failed:?}"))?;
        let mut bad = Vec::new();
        let summary = job.check(Arc::new(judge), Arc::new(Unlimited), |batch| {
            let words = omnilink_columns::Text::of("verdict", batch.column(2)).map_err(|error| error.to_string())?;
            let keys = omnilink_columns::Keys::of("key", batch.column(0)).map_err(|error| error.to_string())?;
            let rows = (0..batch.num_rows()).filter(|&row| words.at(row) != Some("accepted"));
            bad.extend(rows.map(|row| keys.at(row).to_string()));
            Ok(())
        })?;
        bad.sort();
        format!("{} keys, {} operations, not accepted: {}", summary.keys, summary.operations, bad.join(" "))
    } else {
        let mut counts: BTreeMap<i64, i64> = BTreeMap::new();
        let (mut key, mut count) = (None, 0);
        job.sort_only(|batch| {
            // The trivial operator: the number of operations of each key, which come together.
            let keys = omnilink_columns::Keys::of("key", batch.column(0)).map_err(|error| error.to_string())?;
            for row in 0..batch.num_rows() {
                let omnilink_columns::Key::Int(now) = keys.at(row) else { continue };
                if key != Some(now) {
                    if let Some(key) = key.replace(now) {
                        *counts.entry(key).or_default() += count;
                    }
                    count = 0;
                }
                count += 1;
            }
            Ok(())
        })?;
        if let Some(key) = key {
            *counts.entry(key).or_default() += count;
        }
        format!("{} keys, {} operations", counts.len(), counts.values().sum::<i64>())
    };
    let (cpu, peak) = spent()?;
    println!("{found}: {cpu:.1} s CPU, {:.1} s, peak {peak} MB", began.elapsed().as_secs_f64());
    Ok(())
}

/// The CPU time of the process in seconds, and its peak memory in megabytes.
fn spent() -> Result<(f64, u64), Box<dyn std::error::Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
    Ok(((ticks(11) + ticks(12)) / 100.0, peak.unwrap_or(0_u64) / 1024))
}

const FILES: u64 = 8;
const PROCESSES: u64 = 64;
const ROWS: usize = 1 << 16;

/// Writes operations as a fleet records them: by time, with all keys mixed.
fn generate(directory: &Path, operations: u64, keys: u64, hot: u64) -> Outcome {
    fs::create_dir_all(directory)?;
    let each = operations / keys;
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = move |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    let mut values = vec![0_i64; keys as usize];
    let (mut rows, mut writer, mut file) = (Rows::default(), None, 0);
    let rounds = each.max(each + hot);
    for round in 0..rounds {
        let width = if round < each { keys } else { 1 };
        for key in 0..width {
            let at = 1000 + round * 100;
            // Around thirteen operations of the hot key are in flight at once, and three of the others.
            let slack = if key == 0 && hot > 0 { 650 } else { 150 };
            let (start, end) = (at - draw(slack), at + draw(slack));
            let value = &mut values[key as usize];
            let is_write = draw(10) < 4;
            if is_write {
                *value = (round + 1) as i64;
            }
            let is_bad = !is_write && round >= each / 2 && key % (keys / 3).max(1) == 1 && rows.planted < 3;
            let is_bad = is_bad && !rows.bad.contains(&key);
            if is_bad {
                rows.planted += 1;
                rows.bad.push(key);
            }
            let seen = if is_bad { -1 } else { *value };
            rows.add((round + key) % PROCESSES, key, is_write, seen, start, end);
            if rows.keys.len() == ROWS {
                let batch = rows.take();
                let out = match &mut writer {
                    Some(out) => out,
                    None => {
                        let path = directory.join(format!("part-{file}.parquet"));
                        writer.insert(TableWriter::new(File::create(path)?, batch.schema())?)
                    }
                };
                out.write(&batch)?;
                rows.written += ROWS as u64;
                if rows.written > (operations + hot) / FILES * (file + 1)
                    && let Some(out) = writer.take()
                {
                    out.finish()?;
                    file += 1;
                }
            }
        }
    }
    let batch = rows.take();
    let mut out = match writer {
        Some(out) => out,
        None => TableWriter::new(File::create(directory.join(format!("part-{file}.parquet")))?, batch.schema())?,
    };
    out.write(&batch)?;
    out.finish()?;
    let mut bad: Vec<String> = rows.bad.iter().map(u64::to_string).collect();
    bad.sort();
    println!("{} operations, {keys} keys, not to be accepted: {}", each * keys + hot, bad.join(" "));
    Ok(())
}

#[derive(Default)]
struct Rows {
    processes: Vec<String>,
    keys: Vec<i64>,
    actions: Vec<&'static str>,
    written_values: Vec<Option<i64>>,
    read_values: Vec<Option<i64>>,
    starts: Vec<i64>,
    ends: Vec<i64>,
    written: u64,
    planted: u64,
    bad: Vec<u64>,
}

impl Rows {
    fn add(&mut self, process: u64, key: u64, is_write: bool, value: i64, start: u64, end: u64) {
        self.processes.push(format!("client-{process}"));
        self.keys.push(key as i64);
        self.actions.push(if is_write { "write" } else { "read" });
        self.written_values.push(is_write.then_some(value));
        self.read_values.push((!is_write).then_some(value));
        self.starts.push(start as i64);
        self.ends.push(end as i64);
    }

    fn take(&mut self) -> RecordBatch {
        let fields = |values: Vec<Option<i64>>| -> ArrayRef {
            let nulls = NullBuffer::from_iter(values.iter().map(Option::is_some));
            let fields = Fields::from(vec![Field::new("value", DataType::Int64, true)]);
            Arc::new(StructArray::new(fields, vec![Arc::new(Int64Array::from(values))], Some(nulls)))
        };
        let take = std::mem::take::<Vec<Option<i64>>>;
        RecordBatch::try_from_iter([
            ("process", Arc::new(StringArray::from(std::mem::take(&mut self.processes))) as ArrayRef),
            ("key", Arc::new(Int64Array::from(std::mem::take(&mut self.keys)))),
            ("action", Arc::new(StringArray::from(std::mem::take(&mut self.actions)))),
            ("arguments", fields(take(&mut self.written_values))),
            ("results", fields(take(&mut self.read_values))),
            ("start", Arc::new(Int64Array::from(std::mem::take(&mut self.starts)))),
            ("end", Arc::new(Int64Array::from(std::mem::take(&mut self.ends)))),
        ])
        .expect("columns of one length")
    }
}

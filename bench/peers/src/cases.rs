//! The histories that both checkers are run on, by name, and the run of one of them.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use flate2::read::GzDecoder;
use omnilink_history::format::porcupine::{read_etcd, read_kv};
use omnilink_history::{Call, History, Verdict};
use omnilink_models::check::{ModelOptions, check};
use omnilink_models::{Model, Visitor, with_model};
use omnilink_testkit::workload;

use crate::measure;
use crate::porcupine::{self, Map, Register, Strings, WholeStrings};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Checker {
    Omnilink,
    Porcupine,
}

/// How long a child measures something short.
const MEASURED: Duration = Duration::from_millis(50);

/// The names of all cases, and whether each is accepted where that is known for the whole case.
pub fn names() -> Vec<String> {
    let mut names = Vec::new();
    for operations in [500, 5_000, 50_000] {
        for verdict in ["accepted", "rejected"] {
            names.push(format!("map {operations} {verdict}"));
        }
    }
    for clients in ["c01", "c10", "c50"] {
        for verdict in ["ok", "bad"] {
            for way in ["by key", "whole"] {
                names.push(format!("kv {clients}-{verdict} {way}"));
            }
        }
    }
    names.push("etcd".into());
    names
}

/// Measures one checker on one case: a line for each history, then the peak.
pub fn child(checker: Checker, case: &str) -> Result<()> {
    let words: Vec<&str> = case.split(' ').collect();
    match words[..] {
        ["map", operations, verdict] => map(checker, case, operations.parse()?, verdict == "rejected")?,
        ["kv", log, "by", "key"] => kv(checker, case, log, true)?,
        ["kv", log, "whole"] => kv(checker, case, log, false)?,
        ["etcd"] => etcd(checker)?,
        _ => bail!("there is no case `{case}`"),
    }
    println!("peak\t{}", measure::peak()?);
    Ok(())
}

fn map(checker: Checker, case: &str, operations: u64, is_rejected: bool) -> Result<()> {
    let violation = is_rejected.then_some(operations * 995 / 1000);
    let history = History::new(workload::Map { violation, ..workload::Map::of(operations) }.trace())?;
    match checker {
        Checker::Omnilink => ours(case, history, "kv", true, MEASURED),
        Checker::Porcupine => {
            let operations = porcupine::operations::<Map>(&history, porcupine::map_op)?;
            drop(history);
            report(case, MEASURED, || Ok(porcupine::check(&operations)))
        }
    }
}

fn kv(checker: Checker, case: &str, log: &str, by_key: bool) -> Result<()> {
    let history = History::new(read_kv(&read(&format!("kv/{log}.txt"))?)?)?;
    match checker {
        Checker::Omnilink => ours(case, history, "kv-append", by_key, MEASURED),
        Checker::Porcupine if by_key => {
            let operations = porcupine::operations::<Strings>(&history, porcupine::strings_op)?;
            drop(history);
            report(case, MEASURED, || Ok(porcupine::check(&operations)))
        }
        Checker::Porcupine => {
            let operations = porcupine::operations::<WholeStrings>(&history, porcupine::strings_op)?;
            drop(history);
            report(case, MEASURED, || Ok(porcupine::check(&operations)))
        }
    }
}

fn etcd(checker: Checker) -> Result<()> {
    let measured = MEASURED / 5;
    for (log, _) in labels()? {
        let history = History::new(read_etcd(&read(&format!("etcd/{log}"))?)?)?;
        match checker {
            Checker::Omnilink => ours(&log, history, "cas-register", true, measured)?,
            Checker::Porcupine => {
                let operations = porcupine::operations::<Register>(&history, porcupine::register_op)?;
                report(&log, measured, || Ok(porcupine::check(&operations)))?;
            }
        }
    }
    Ok(())
}

/// Prints whether a history is accepted and how long it takes to know.
fn report(name: &str, measured: Duration, check: impl FnMut() -> Result<bool>) -> Result<()> {
    measure::forget_peak()?;
    let (is_accepted, seconds) = measure::seconds(measured, check)?;
    let verdict = if is_accepted { "accepted" } else { "rejected" };
    println!("{name}\t{verdict}\t{seconds}");
    Ok(())
}

fn ours(name: &str, history: History<Call>, spec: &str, shortcuts: bool, measured: Duration) -> Result<()> {
    with_model(spec, Ours { name, history, shortcuts, measured })?
}

/// Our checker, as the command runs it: calls are bound, the witness is replayed.
struct Ours<'a> {
    name: &'a str,
    history: History<Call>,
    shortcuts: bool,
    measured: Duration,
}

impl Visitor for Ours<'_> {
    type Output = Result<()>;

    fn visit<M: Model>(self, model: M) -> Result<()> {
        let options = ModelOptions { shortcuts: self.shortcuts, ..ModelOptions::default() };
        report(self.name, self.measured, || {
            match check(&model, &self.history, &options, &omnilink_search::Unwatched)?.verdict {
                Verdict::Accepted(_) => Ok(true),
                Verdict::Rejected(_) => Ok(false),
                Verdict::Inconclusive(stop) => bail!("{stop}"),
            }
        })
    }
}

/// The etcd logs that are labelled, and whether each is linearizable.
pub fn labels() -> Result<Vec<(String, bool)>> {
    let labels = read("labels.tsv")?;
    let label = |line: &str| match line.split_once('\t') {
        Some((log, "linearizable")) => Some((log.to_owned(), true)),
        Some((log, "not linearizable")) => Some((log.to_owned(), false)),
        _ => None,
    };
    Ok(labels.lines().filter_map(label).collect())
}

/// The text of a recorded log or of the labels. Logs are compressed.
fn read(path: &str) -> Result<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/porcupine").join(path);
    let is_log = !path.ends_with("labels.tsv");
    let path = if is_log { PathBuf::from(format!("{}.gz", path.display())) } else { path };
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut text = String::new();
    match is_log {
        true => GzDecoder::new(&*bytes).read_to_string(&mut text)?,
        false => bytes.as_slice().read_to_string(&mut text)?,
    };
    Ok(text)
}

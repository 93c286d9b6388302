//! Runs of transactions as texts: `check --isolation LEVEL --witness FILE` writes one, and `--verify` executes it.
//!
//! A line is a step. `begin NAME ...` takes the snapshot of a transaction, with its interval, its reads and its writes, and `commit
//! NAME` installs its writes; at levels at which both are one step, `commit NAME ...` is that. A line `read NAME PLACE of NAME PLACE`
//! or `read NAME PLACE initially` names the write of a value that several transactions wrote. Places count from 0.
//!
//! The text is compared with the history, and the steps are executed by [`Certificate::replay`], which shares nothing with the
//! search.

use std::collections::HashMap;
use std::io::{self, Write};

use omnilink_isolation::{Certificate, Level, MicroId, Step, Transactions, TxnId};
use omnilink_report::clean;

/// Writes the run of an accepted history.
pub(crate) fn write(file: &mut impl Write, name: &str, txns: &Transactions, run: &Certificate) -> io::Result<()> {
    writeln!(file, "# {}: {}", clean(name), run.level)?;
    let place = |micro: MicroId| {
        let txn = txns.txn_of(micro);
        let first = txns.micros_of(txn).next().map_or(0, |first| first.0);
        format!("{} {}", name_of(txns, txn), micro.0 - first)
    };
    for (read, write) in run.sources() {
        match write {
            Some(write) => writeln!(file, "read {} of {}", place(read), place(write))?,
            None => writeln!(file, "read {} initially", place(read))?,
        }
    }
    let has_begins = run.steps.iter().any(|step| matches!(step, Step::Begin(_)));
    for step in &run.steps {
        match *step {
            Step::Begin(txn) => writeln!(file, "begin {}", line(txns, txn))?,
            Step::Commit(txn) if has_begins => writeln!(file, "commit {}", name_of(txns, txn))?,
            Step::Commit(txn) => writeln!(file, "commit {}", line(txns, txn))?,
        }
    }
    Ok(())
}

/// Executes a run. An error has the first wrong line, or none if the steps as a whole are not a run of the level.
pub(crate) fn verify(text: &str, txns: &Transactions, level: Level) -> Result<usize, (Option<usize>, String)> {
    let names: HashMap<String, TxnId> = txns.ids().map(|txn| (name_of(txns, txn), txn)).collect();
    let lines: HashMap<String, TxnId> = txns.ids().map(|txn| (line(txns, txn), txn)).collect();
    let (mut steps, mut sources) = (Vec::new(), Vec::new());
    for (index, text) in text.lines().enumerate().filter(|(_, text)| !text.is_empty() && !text.starts_with('#')) {
        let wrong = |why: &str| (Some(index + 1), why.to_owned());
        let unknown = || wrong("the history has no such transaction, as it was recorded");
        match text.split_once(' ') {
            Some(("begin", rest)) => steps.push(Step::Begin(*lines.get(rest).ok_or_else(unknown)?)),
            Some(("commit", rest)) => {
                let txn = lines.get(rest).or_else(|| names.get(rest)).ok_or_else(unknown)?;
                steps.push(Step::Commit(*txn));
            }
            Some(("read", rest)) => {
                let source = source(rest, txns, &names);
                sources.push(
                    source.ok_or_else(|| wrong("expected the place of a read, and of the write that it returned"))?,
                );
            }
            _ => return Err(wrong("expected a line that begins with `begin`, `commit` or `read`")),
        }
    }
    let count = steps.len();
    Certificate::new(level, steps, sources).replay(txns).map_err(|why| (None, why))?;
    Ok(count)
}

/// `NAME PLACE of NAME PLACE` or `NAME PLACE initially`.
fn source(text: &str, txns: &Transactions, names: &HashMap<String, TxnId>) -> Option<(MicroId, Option<MicroId>)> {
    let micro = |text: &str| {
        let (name, place) = text.rsplit_once(' ')?;
        txns.micros_of(*names.get(name)?).nth(place.parse().ok()?)
    };
    match text.strip_suffix(" initially") {
        Some(read) => Some((micro(read)?, None)),
        None => {
            let (read, write) = text.split_once(" of ")?;
            Some((micro(read)?, Some(micro(write)?)))
        }
    }
}

fn name_of(txns: &Transactions, txn: TxnId) -> String {
    clean(&txns.name(txn))
}

/// A transaction as it was recorded.
fn line(txns: &Transactions, txn: TxnId) -> String {
    let times = match txns.times(txn) {
        Some((start, Some(end))) => format!(" [{start} {end}]"),
        Some((start, None)) => format!(" [{start} ...]"),
        None => String::new(),
    };
    let micros = txns.micros_of(txn).map(|micro| format!(" {}", clean(&txns.show_micro(micro)))).collect::<String>();
    format!("{}{times}{micros}", name_of(txns, txn))
}

//! Texts of other checkers: lines `r(key,value,session,transaction)` of Plume, PolySI and IsoVista, and blocks of AWDIT.
//! They have no times; the initial value is 0.

use std::collections::BTreeMap;

use omnilink_history::Value;
use omnilink_history::format::{FormatError, Location};
use rustc_hash::{FxHashMap, FxHashSet};

use super::ReadError;
use crate::transactions::{Builder, Status, Transactions};

/// A read or a write of a line.
struct Access {
    is_write: bool,
    key: Value,
    value: Value,
}

fn scalar(text: &str) -> Value {
    Value::integer(text).unwrap_or_else(|| Value::str(text))
}

fn add(builder: &mut Builder, access: &Access) {
    match access.is_write {
        true => builder.write(&access.key, &access.value),
        false => builder.read(&access.key, &access.value),
    }
}

/// Reads one access for each line. Transaction -1 aborted.
pub(super) fn read_calls(text: &str) -> Result<Transactions, ReadError> {
    match in_order(text)? {
        Some(builder) => Ok(builder.finish()?),
        None => read_mixed(text),
    }
}

/// An access, its session, and its transaction, which is `None` if it aborted.
fn call(line: &str, number: usize) -> Result<(Access, u64, Option<u64>), FormatError> {
    let wrong = || FormatError::new(Location::Line(number), "expected `r(key,value,session,transaction)`");
    let (kind, rest) = line.split_once('(').ok_or_else(wrong)?;
    let mut fields = rest.strip_suffix(')').ok_or_else(wrong)?.split(',').map(str::trim);
    let mut field = || fields.next().ok_or_else(wrong);
    let (key, value, session, txn) = (field()?, field()?, field()?, field()?);
    let is_write = match kind {
        "w" => true,
        "r" => false,
        _ => return Err(wrong()),
    };
    let session: u64 = session.parse().map_err(|_| wrong())?;
    let txn = match txn.parse::<u64>() {
        Ok(txn) => Some(txn),
        Err(_) if txn == "-1" => None,
        Err(_) => return Err(wrong()),
    };
    if fields.next().is_some() {
        return Err(wrong());
    }
    Ok((Access { is_write, key: scalar(key), value: scalar(value) }, session, txn))
}

/// The lines that have a call, with their numbers.
fn calls(text: &str) -> impl Iterator<Item = (&str, usize)> {
    text.lines().map(str::trim).zip(1..).filter(|(line, _)| !line.is_empty())
}

/// Reads the text if the lines of each transaction follow each other, as almost all writers leave them.
fn in_order(text: &str) -> Result<Option<Builder>, FormatError> {
    let mut builder = Builder::default();
    let mut last: Option<(u64, Option<u64>)> = None;
    let mut known: FxHashSet<(u64, u64)> = FxHashSet::default();
    let mut processes: FxHashMap<u64, u32> = FxHashMap::default();
    for (line, number) in calls(text) {
        let (access, session, txn) = call(line, number)?;
        if last != Some((session, txn)) || txn.is_none() {
            if txn.is_some_and(|txn| !known.insert((session, txn))) {
                return Ok(None);
            }
            let process = *processes.entry(session).or_insert_with(|| builder.process(&session.to_string()));
            builder.begin(process, None, if txn.is_none() { Status::Aborted } else { Status::Committed });
            last = Some((session, txn));
        }
        add(&mut builder, &access);
    }
    Ok(Some(builder))
}

/// Reads lines in any order.
fn read_mixed(text: &str) -> Result<Transactions, ReadError> {
    let mut txns: BTreeMap<(u64, usize), (bool, Vec<Access>)> = BTreeMap::new();
    let mut place_of: BTreeMap<(u64, u64), usize> = BTreeMap::new();
    for (line, number) in calls(text) {
        let (access, session, txn) = call(line, number)?;
        match txn {
            Some(txn) => {
                let place = *place_of.entry((session, txn)).or_insert(number);
                txns.entry((session, place)).or_default().1.push(access);
            }
            None => drop(txns.insert((session, number), (true, vec![access]))),
        }
    }
    let mut builder = Builder::default();
    for ((session, _), (is_aborted, accesses)) in &txns {
        let process = builder.process(&session.to_string());
        builder.begin(process, None, if *is_aborted { Status::Aborted } else { Status::Committed });
        accesses.iter().for_each(|access| add(&mut builder, access));
    }
    Ok(builder.finish()?)
}

/// Reads lines `w key value`, with `---` between transactions and `===` between sessions.
pub(super) fn read_blocks(text: &str) -> Result<Transactions, ReadError> {
    let mut builder = Builder::default();
    let (mut session, mut is_open) = (0, false);
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        match line {
            "" => {}
            line if line.starts_with("---") => is_open = false,
            line if line.starts_with("===") => {
                is_open = false;
                session += 1;
            }
            line => {
                let words: Vec<&str> = line.split_whitespace().collect();
                let [kind @ ("r" | "w"), key, value] = *words else {
                    let message = "expected `r key value` or `w key value`";
                    return Err(FormatError::new(Location::Line(number), message).into());
                };
                if !std::mem::replace(&mut is_open, true) {
                    let process = builder.process(&session.to_string());
                    builder.begin(process, None, Status::Committed);
                }
                add(&mut builder, &Access { is_write: kind == "w", key: scalar(key), value: scalar(value) });
            }
        }
    }
    Ok(builder.finish()?)
}

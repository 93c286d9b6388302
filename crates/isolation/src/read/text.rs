//! Texts of other checkers: lines `r(key,value,session,transaction)` of Plume, PolySI and IsoVista, and blocks of AWDIT.
//! They have no times; the initial value is 0.

use std::collections::BTreeMap;

use omnilink_history::Value;
use omnilink_history::format::{FormatError, Location};

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
    let mut txns: BTreeMap<(u64, usize), (bool, Vec<Access>)> = BTreeMap::new();
    let mut place_of: BTreeMap<(u64, u64), usize> = BTreeMap::new();
    for (line, number) in text.lines().zip(1usize..).filter(|(line, _)| !line.trim().is_empty()) {
        let wrong = || FormatError::new(Location::Line(number), "expected `r(key,value,session,transaction)`");
        let (kind, rest) = line.trim().split_once('(').ok_or_else(wrong)?;
        let fields: Vec<&str> = rest.strip_suffix(')').ok_or_else(wrong)?.split(',').map(str::trim).collect();
        let &[key, value, session, txn] = &*fields else { return Err(wrong().into()) };
        let session: u64 = session.parse().map_err(|_| wrong())?;
        let is_write = match kind {
            "w" => true,
            "r" => false,
            _ => return Err(wrong().into()),
        };
        let access = Access { is_write, key: scalar(key), value: scalar(value) };
        match txn.parse::<u64>() {
            Ok(txn) => {
                let place = *place_of.entry((session, txn)).or_insert(number);
                txns.entry((session, place)).or_default().1.push(access);
            }
            Err(_) if txn == "-1" => drop(txns.insert((session, number), (true, vec![access]))),
            Err(_) => return Err(wrong().into()),
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

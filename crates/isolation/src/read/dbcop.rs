//! Histories of dbcop: binary ones of its older versions and of PolySI, JSON and the compact text of newer ones.
//!
//! The binary form is little-endian: five numbers of 8 bytes, three strings with their lengths, and for each session its
//! transactions with their events, of 18 bytes each: whether it is a write, the key, the value, and whether it succeeded; then whether
//! the transaction committed. The initial value is 0. The compact text has lines such as `[x:=1 y==2 z==?]`, where `?` is the
//! initial value and `!` after a transaction says that it did not commit; dashes are between sessions.

use omnilink_history::Value;
use omnilink_history::format::json::Json;
use omnilink_history::format::{FormatError, Location};

use super::ReadError;
use super::jsonl::scalar;
use crate::transactions::{Builder, Status, Transactions};

fn status(is_committed: bool) -> Status {
    if is_committed { Status::Committed } else { Status::Aborted }
}

/// True if the bytes may be the binary form: a text has no byte 0, and small numbers of 8 bytes have.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.len() >= 64 && bytes[..40].chunks(8).all(|number| number[7] == 0)
}

/// Bytes that are left to read.
struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], FormatError> {
        let found = self.all.get(self.at..).and_then(|rest| rest.get(..count));
        let at = self.at as u64;
        let found = found.ok_or_else(|| FormatError::new(Location::Byte(at), "the history of dbcop ends too early"))?;
        self.at += count;
        Ok(found)
    }

    fn number(&mut self) -> Result<u64, FormatError> {
        let bytes = self.take(8)?.try_into().expect("8 bytes were taken");
        Ok(u64::from_le_bytes(bytes))
    }

    fn truth(&mut self) -> Result<bool, FormatError> {
        let at = self.at as u64;
        match self.take(1)? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(FormatError::new(Location::Byte(at), "expected a truth value of dbcop, 0 or 1")),
        }
    }

    /// A key or a value.
    fn value(&mut self) -> Result<Value, FormatError> {
        let at = self.at as u64;
        let number = i64::try_from(self.number()?);
        number
            .map(Value::Int)
            .map_err(|_| FormatError::new(Location::Byte(at), "a key or a value has more than 63 bits"))
    }
}

/// Reads the binary form.
pub(super) fn read_binary(bytes: &[u8]) -> Result<Transactions, ReadError> {
    let mut bytes = Bytes { all: bytes, at: 0 };
    for _ in 0..5 {
        bytes.number()?;
    }
    for _ in 0..3 {
        let length = bytes.number()?;
        bytes.take(usize::try_from(length).unwrap_or(usize::MAX))?;
    }
    let mut builder = Builder::default();
    for session in 0..bytes.number()? {
        let process = builder.process(&session.to_string());
        for _ in 0..bytes.number()? {
            // The status follows the events.
            let count = usize::try_from(bytes.number()?).unwrap_or(usize::MAX);
            let events = bytes.take(count.saturating_mul(18))?;
            let is_committed = bytes.truth()?;
            builder.begin(process, None, status(is_committed));
            let mut events = Bytes { all: events, at: 0 };
            for _ in 0..count {
                let (is_write, key, value) = (events.truth()?, events.value()?, events.value()?);
                match (events.truth()?, is_write) {
                    (false, _) => {}
                    (true, true) => builder.write(&key, &value),
                    (true, false) => builder.read(&key, &value),
                }
            }
        }
    }
    match bytes.at == bytes.all.len() {
        true => Ok(builder.finish()?),
        false => Err(FormatError::new(Location::Byte(bytes.at as u64), "bytes follow the history of dbcop").into()),
    }
}

/// Reads JSON: an object with `data`, which has the sessions.
pub(super) fn read_json(json: &Json) -> Result<Transactions, ReadError> {
    let wrong = |message: String| FormatError::new(Location::Byte(0), message);
    let Some(Json::Array(sessions)) = json.field("data") else {
        return Err(wrong("`data` is not an array of sessions".to_owned()).into());
    };
    let mut builder = Builder::default();
    for (session, number) in sessions.iter().zip(0..) {
        let process = builder.process(&number.to_string());
        let Json::Array(txns) = session else {
            return Err(wrong(format!("session {number} of `data` is not an array")).into());
        };
        for (txn, place) in txns.iter().zip(0..) {
            let at = |message: &str| wrong(format!("transaction {place} of session {number}: {message}"));
            let Some(Json::Array(events)) = txn.field("events") else {
                return Err(at("`events` is not an array").into());
            };
            let Some(Json::Bool(is_committed)) = txn.field("committed") else {
                return Err(at("`committed` is not a truth value").into());
            };
            builder.begin(process, None, status(*is_committed));
            for event in events {
                let (is_write, key, value) =
                    event_parts(event).ok_or_else(|| at("expected `Read` or `Write` with `variable` and `version`"))?;
                match is_write {
                    true => builder.write(&key, &value),
                    false => builder.read(&key, &value),
                }
            }
        }
    }
    Ok(builder.finish()?)
}

/// A write or not, the key, and the value: an object with `Read` or `Write`, or an array with `r` or `w`.
fn event_parts(event: &Json) -> Option<(bool, Value, Value)> {
    if let Json::Array(parts) = event {
        let [Json::Text(kind), key, value] = &**parts else { return None };
        let is_write = match kind.as_str() {
            "w" => true,
            "r" => false,
            _ => return None,
        };
        return Some((is_write, scalar(key)?, scalar(value)?));
    }
    let (is_write, fields) = match (event.field("Write"), event.field("Read")) {
        (Some(fields), None) => (true, fields),
        (None, Some(fields)) => (false, fields),
        _ => return None,
    };
    let value = fields.field("version").map_or(Some(Value::Nil), scalar)?;
    Some((is_write, scalar(fields.field("variable")?)?, value))
        .filter(|(is_write, _, value)| !is_write || *value != Value::Nil)
}

/// Reads the compact text.
pub(super) fn read_text(text: &str) -> Result<Transactions, ReadError> {
    let mut builder = Builder::default();
    let mut session = 0;
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        if line.is_empty() || line.starts_with("//") {
            continue;
        }
        if line.bytes().all(|byte| byte == b'-') {
            session += 1;
            continue;
        }
        let wrong = || FormatError::new(Location::Line(number), "expected transactions such as `[x:=1 y==2 z==?]`");
        let process = builder.process(&session.to_string());
        let mut rest = line;
        while !rest.is_empty() {
            let (events, after) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).ok_or_else(wrong)?;
            let uncommitted = after.strip_prefix('!');
            rest = uncommitted.unwrap_or(after).trim_start();
            builder.begin(process, None, status(uncommitted.is_none()));
            for event in events.split_whitespace() {
                let value = |text: &str| Value::integer(text).ok_or_else(wrong);
                match (event.split_once(":="), event.split_once("==")) {
                    (Some((key, written)), _) => builder.write(&Value::str(key), &value(written)?),
                    (None, Some((key, "?"))) => builder.read(&Value::str(key), &Value::Nil),
                    (None, Some((key, read))) => builder.read(&Value::str(key), &value(read)?),
                    (None, None) => return Err(wrong().into()),
                }
            }
        }
    }
    Ok(builder.finish()?)
}

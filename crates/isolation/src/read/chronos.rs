//! Histories with timestamps as Chronos and Aion read them: an array of transactions with the fields `tid`, `sid`, `sts`, `cts` and
//! `ops`.
//!
//! Timestamps are hybrid clocks `{"p": physical, "l": logical}`, and operations are `{"t": "w", "k": key, "v": value}`. All
//! transactions committed. A null value is the initial one.

use omnilink_history::Value;
use omnilink_history::format::json::Json;
use omnilink_history::format::{FormatError, Location};

use super::ReadError;
use super::jsonl::scalar;
use crate::stamp::Stamp;
use crate::transactions::{Builder, Status, Transactions};

/// True if an object is a transaction.
pub(super) fn is_txn(json: &Json) -> bool {
    json.field("sts").is_some() && json.field("cts").is_some() && json.field("ops").is_some()
}

/// Reads the transactions.
pub(super) fn read(txns: &[Json]) -> Result<Transactions, ReadError> {
    let mut builder = Builder::default();
    for (txn, number) in txns.iter().zip(1..) {
        let at = |message: &str| FormatError::new(Location::Byte(0), format!("transaction {number}: {message}"));
        let session = txn.field("sid").and_then(scalar).ok_or_else(|| at("`sid` is missing"))?;
        let name = session.as_str().map_or_else(|| session.to_string(), str::to_owned);
        let stamp = |name: &str| {
            let part = |part: &str| match txn.field(name)?.field(part)? {
                Json::Number(Value::Int(number)) => u64::try_from(*number).ok(),
                _ => None,
            };
            let stamp = part("p").zip(part("l")).map(|(physical, logical)| Stamp { physical, logical });
            stamp.ok_or_else(|| at(&format!("`{name}` is not a timestamp with `p` and `l`")))
        };
        let (start, commit) = (stamp("sts")?, stamp("cts")?);
        let process = builder.process(&name);
        builder.begin(process, None, Status::Committed);
        builder.stamps(Some(start), Some(commit));
        let Some(Json::Array(ops)) = txn.field("ops") else { return Err(at("`ops` is not an array").into()) };
        for op in ops {
            let wrong = || at("expected an operation with `t`, `k` and `v`");
            let part = |name: &str| op.field(name).and_then(scalar);
            let (kind, key) = (part("t").ok_or_else(wrong)?, part("k").ok_or_else(wrong)?);
            let value = op.field("v").map_or(Some(Value::Nil), scalar).ok_or_else(wrong)?;
            match kind.as_str().unwrap_or_default().to_ascii_lowercase().as_str() {
                "w" | "write" => builder.write(&key, &value),
                "r" | "read" => builder.read(&key, &value),
                _ => return Err(wrong().into()),
            }
        }
    }
    Ok(builder.finish()?)
}

//! The transaction of one line, for those that arrive one by one.

use std::sync::Arc;

use omnilink_history::Value;
use omnilink_history::format::json::Json;
use omnilink_history::format::jsonl::write_value_of;

use super::jsonl::{Target, add_transaction};
use crate::key::Access;
use crate::single::Transaction;
use crate::stamp::{Snapshot, Stamp};
use crate::transactions::Status;

impl Transaction {
    /// Reads a line of JSON Lines with a field `txn`. PostgreSQL's snapshots are no timestamps, and an error.
    pub fn read(json: &Json) -> Result<Transaction, String> {
        let mut line = Line(Transaction {
            process: Arc::from(""),
            seq: None,
            times: None,
            status: Status::Unknown,
            snapshot: None,
            commit: None,
            accesses: Vec::new(),
        });
        let is_given = |name: &&str| json.field(name).is_some_and(|field| *field != Json::Null);
        if ["snapshot", "xid"].iter().any(is_given) {
            return Err("unsupported in a stream: `snapshot` and `xid` (expected `snapshot_ts` and `commit_ts`)".into());
        }
        add_transaction(&mut line, json)?;
        line.0.seq = match json.field("seq") {
            None | Some(Json::Null) => None,
            Some(Json::Number(Value::Int(seq))) if *seq >= 0 => Some(*seq as u64),
            Some(_) => return Err("`seq` is not an integer of 63 bits from 0 on".to_owned()),
        };
        Ok(line.0)
    }

    /// The same as a line that [`Transaction::read`] reads.
    pub fn write(&self) -> Result<String, String> {
        let mut micros = Vec::with_capacity(self.accesses.len());
        for (key, access) in &self.accesses {
            let (kind, value) = match access {
                Access::Read { value, .. } => ("r", write_value_of(value)?),
                Access::List(list) => {
                    let list: Vec<String> = list.iter().map(write_value_of).collect::<Result<_, _>>()?;
                    ("r", format!("[{}]", list.join(",")))
                }
                Access::Write(value) => ("w", write_value_of(value)?),
                Access::Append { value, .. } => ("append", write_value_of(value)?),
            };
            micros.push(format!("[\"{kind}\",{},{value}]", write_value_of(key)?));
        }
        let process = write_value_of(&Value::str(&*self.process))?;
        let status = match self.status {
            Status::Committed => "committed",
            Status::Aborted => "aborted",
            Status::Unknown => "unknown",
        };
        let mut line = format!("{{\"process\":{process},\"txn\":[{}],\"status\":\"{status}\"", micros.join(","));
        let mut push = |name: &str, value: Option<String>| {
            line.extend(value.map(|value| format!(",\"{name}\":{value}")));
        };
        let stamp = |stamp: Stamp| format!("[\"{}\",\"{}\"]", stamp.physical, stamp.logical);
        push("seq", self.seq.map(|seq| seq.to_string()));
        push("start", self.times.map(|(start, _)| start.to_string()));
        push("end", self.times.and_then(|(_, end)| end).map(|end| end.to_string()));
        push("snapshot_ts", self.snapshot.map(stamp));
        push("commit_ts", self.commit.map(stamp));
        Ok(line + "}")
    }
}

struct Line(Transaction);

impl Target for Line {
    fn begin(&mut self, process: &str, times: Option<(u64, Option<u64>)>, status: Status) {
        let txn = &mut self.0;
        (txn.process, txn.times, txn.status) = (process.into(), times, status);
    }

    fn stamps(&mut self, snapshot: Option<Stamp>, commit: Option<Stamp>) {
        (self.0.snapshot, self.0.commit) = (snapshot, commit);
    }

    fn snapshot(&mut self, _: Option<Snapshot>, _: Option<u64>) {
        unreachable!("`Transaction::read` refuses snapshots");
    }

    fn read(&mut self, key: Value, value: Value) {
        let is_initial = matches!(value, Value::Nil | Value::Int(0));
        self.0.accesses.push((key, Access::Read { value, is_initial }));
    }

    fn read_list(&mut self, key: Value, elements: Vec<Value>) {
        self.0.accesses.push((key, Access::List(elements)));
    }

    fn write(&mut self, key: Value, value: Value) {
        self.0.accesses.push((key, Access::Write(value)));
    }

    fn append(&mut self, key: Value, element: Value) {
        self.0.accesses.push((key, Access::Append { value: element, place: None }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_and_written() {
        let read = |line: &str| Transaction::read(&Json::parse(line).expect("JSON"));
        let line = r#"{"process": 3, "txn": [["r", "x", null], ["r", "l", [1, 2]], ["w", "x", "a"], ["append", "l", 3]],
            "start": 1, "end": 9, "status": "committed", "snapshot_ts": 4, "commit_ts": [5, 1], "seq": 7}"#;
        let txn = read(line).expect("a transaction");
        assert_eq!((&*txn.process, txn.seq, txn.times), ("3", Some(7), Some((1, Some(9)))));
        assert_eq!((txn.snapshot, txn.commit), (Some(Stamp::new(4)), Some(Stamp { physical: 5, logical: 1 })));
        assert_eq!(read(&txn.write().expect("a line")), Ok(txn));
        let unknown = read(r#"{"process": "a", "txn": [], "status": "unknown"}"#).expect("a transaction");
        assert_eq!(read(&unknown.write().expect("a line")), Ok(unknown));
        insta::assert_snapshot!(
            read(r#"{"process": "a", "txn": [], "status": "unknown", "xid": 7}"#).unwrap_err(),
            @"unsupported in a stream: `snapshot` and `xid` (expected `snapshot_ts` and `commit_ts`)"
        );
        insta::assert_snapshot!(
            read(r#"{"process": "a", "txn": [], "status": "unknown", "seq": -1}"#).unwrap_err(),
            @"`seq` is not an integer of 63 bits from 0 on"
        );
    }
}

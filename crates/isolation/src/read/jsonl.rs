//! JSON Lines with one transaction a line.

use omnilink_history::format::json::Json;
use omnilink_history::format::{FormatError, Location};
use omnilink_history::{Halt, Value};
use omnilink_suggest::closest;

use super::ReadError;
use crate::stamp::{Snapshot, Stamp};
use crate::transactions::{Builder, Status, Transactions};

/// The keys of a line that no note is likely to resemble. The others are too short.
const KEYS: [&str; 6] = ["process", "start", "status", "snapshot_ts", "commit_ts", "snapshot"];

/// The most keys to compare with them.
const MOST_NOTES: usize = 100;

/// Takes the parts of a transaction, in the order of the methods.
pub(super) trait Target {
    /// Begins a transaction of a process, as [`Builder::begin`] does.
    fn begin(&mut self, process: &str, times: Option<(u64, Option<u64>)>, status: Status);
    fn stamps(&mut self, snapshot: Option<Stamp>, commit: Option<Stamp>);
    fn snapshot(&mut self, snapshot: Option<Snapshot>, xid: Option<u64>);
    fn read(&mut self, key: Value, value: Value);
    fn read_list(&mut self, key: Value, elements: Vec<Value>);
    fn write(&mut self, key: Value, value: Value);
    fn append(&mut self, key: Value, element: Value);
}

impl Target for Builder {
    fn begin(&mut self, process: &str, times: Option<(u64, Option<u64>)>, status: Status) {
        let process = self.process(process);
        Builder::begin(self, process, times, status);
    }

    fn stamps(&mut self, snapshot: Option<Stamp>, commit: Option<Stamp>) {
        Builder::stamps(self, snapshot, commit);
    }

    fn snapshot(&mut self, snapshot: Option<Snapshot>, xid: Option<u64>) {
        Builder::snapshot(self, snapshot, xid);
    }

    fn read(&mut self, key: Value, value: Value) {
        Builder::read(self, &key, &value);
    }

    fn read_list(&mut self, key: Value, elements: Vec<Value>) {
        Builder::read_list(self, &key, &elements);
    }

    fn write(&mut self, key: Value, value: Value) {
        Builder::write(self, &key, &value);
    }

    fn append(&mut self, key: Value, element: Value) {
        Builder::append(self, &key, &element);
    }
}

/// Reads transactions, one for each line with a field `txn`.
pub(super) fn read(text: &str, halt: &Halt) -> Result<Transactions, ReadError> {
    let mut builder = Builder::default();
    let mut met: Vec<String> = KEYS.iter().map(|&key| key.to_owned()).collect();
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with("//") || line.starts_with('#') {
            continue;
        }
        if halt.is_raised() {
            break;
        }
        let at = |message: String| FormatError::new(Location::Line(number), message);
        let json =
            Json::parse(line).map_err(|problem| at(format!("column {}: {}", problem.at + 1, problem.message)))?;
        // Progress of a process, for a monitor.
        if json.field("txn").is_none() && json.field("progress").is_some() {
            continue;
        }
        if let Some((found, known)) = misspelled(&json, &mut met) {
            return Err(at(format!("unknown key `{found}`")).help(format!("did you mean `{known}`?")).into());
        }
        add(&mut builder, &json).map_err(at)?;
    }
    Ok(builder.finish()?)
}

/// A key that is almost one of those that are read. Other keys are notes, and each is compared once.
fn misspelled<'a>(json: &'a Json, met: &mut Vec<String>) -> Option<(&'a str, &'static str)> {
    let Json::Object(fields) = json else { return None };
    fields.iter().find_map(|(name, _)| {
        let name: &str = name;
        let is_new = met.len() < MOST_NOTES && !met.iter().any(|known| known == name);
        if is_new {
            met.push(name.to_owned());
        }
        Some((name, is_new.then(|| closest(name, KEYS)).flatten()?))
    })
}

fn add(builder: &mut Builder, json: &Json) -> Result<(), String> {
    if let Some(Json::Object(orders)) = json.field("versions") {
        for (key, values) in orders {
            let values = list(values).ok_or("a version order is not an array")?;
            builder.version_order(&Value::str(key.as_str()), &values);
        }
        return Ok(());
    }
    add_transaction(builder, json)
}

/// Adds the transaction of a line.
pub(super) fn add_transaction(target: &mut impl Target, json: &Json) -> Result<(), String> {
    let number;
    let process = match json.field("process") {
        Some(Json::Text(name)) => name,
        Some(Json::Number(process)) => {
            number = process.to_string();
            &number
        }
        _ => return Err("`process` is missing, or not an integer or a string".to_owned()),
    };
    let time = |name: &str| match json.field(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::Number(Value::Int(time))) if *time >= 0 => Ok(Some(*time as u64)),
        Some(_) => Err(format!("`{name}` is not an integer of 63 bits from 0 on")),
    };
    let (start, end) = (time("start")?, time("end")?);
    let status = match json.field("status") {
        None if end.is_some() => Status::Committed,
        None if start.is_none() => return Err("a transaction without times needs a `status`".to_owned()),
        None => Status::Unknown,
        Some(Json::Text(status)) => match status.as_str() {
            "committed" => Status::Committed,
            "aborted" => Status::Aborted,
            "unknown" => Status::Unknown,
            other => {
                return Err(format!("unrecognized `status` `{other}` (expected `committed`, `aborted` or `unknown`)"));
            }
        },
        Some(_) => return Err("`status` is not a string".to_owned()),
    };
    if start.is_none() && end.is_some() {
        return Err("there is an `end`, but no `start`".to_owned());
    }
    target.begin(process, start.map(|start| (start, end)), status);
    add_stamps(target, json)?;
    let Some(Json::Array(micros)) = json.field("txn") else {
        return Err("`txn` is missing, or not an array".to_owned());
    };
    micros.iter().try_for_each(|micro| add_micro(target, micro))
}

/// The times that the database reported: timestamps, which are numbers or pairs of numbers, or PostgreSQL's snapshots.
fn add_stamps(target: &mut impl Target, json: &Json) -> Result<(), String> {
    let field = |name: &str| json.field(name).filter(|value| !matches!(value, Json::Null));
    let number = |json: &Json| match json {
        Json::Number(Value::Int(number)) => u64::try_from(*number).ok(),
        Json::Number(Value::Big(number)) => number.digits().parse::<u64>().ok(),
        Json::Text(text) => text.parse::<u64>().ok(),
        _ => None,
    };
    let stamp = |name: &str| {
        let Some(value) = field(name) else { return Ok(None) };
        let stamp = match value {
            Json::Array(parts) => match &**parts {
                [physical, logical] => number(physical).zip(number(logical)),
                _ => None,
            },
            value => number(value).map(|physical| (physical, 0)),
        };
        let stamp = stamp.map(|(physical, logical)| Stamp { physical, logical });
        stamp.map(Some).ok_or_else(|| format!("`{name}` is not an integer of 64 bits from 0 on, or a pair of them"))
    };
    let (snapshot, commit) = (stamp("snapshot_ts")?, stamp("commit_ts")?);
    if snapshot.is_some() || commit.is_some() {
        target.stamps(snapshot, commit);
    }
    let snapshot = match field("snapshot") {
        None => None,
        Some(Json::Text(text)) => Some(text.parse::<Snapshot>()?),
        Some(_) => return Err("`snapshot` is not a string `xmin:xmax:xid,...`".to_owned()),
    };
    let xid = field("xid").map(|xid| number(xid).ok_or("`xid` is not an integer of 64 bits from 0 on")).transpose()?;
    if snapshot.is_some() || xid.is_some() {
        target.snapshot(snapshot, xid);
    }
    Ok(())
}

fn add_micro(target: &mut impl Target, micro: &Json) -> Result<(), String> {
    let Json::Array(parts) = micro else { return Err("a micro-operation is not an array".to_owned()) };
    let Some((Json::Text(kind), parts)) = parts.split_first() else {
        return Err("a micro-operation does not begin with its kind".to_owned());
    };
    let (key, content) = match parts {
        [key, content] | [key, content, Json::Object(_)] => (key, content),
        _ => return Err(format!("expected `[\"{kind}\", key, value]`")),
    };
    let key = scalar(key).ok_or("a key is not a number, a string or a truth value")?;
    let is_nested = || format!("a value of `{kind}` is not a number, a string or a truth value");
    match (kind.as_str(), content) {
        ("r", Json::Array(elements)) => {
            let elements: Option<Vec<Value>> = elements.iter().map(scalar).collect();
            target.read_list(key, elements.ok_or_else(is_nested)?);
        }
        ("r", content) => target.read(key, scalar(content).ok_or_else(is_nested)?),
        ("w", content) => target.write(key, scalar(content).ok_or_else(is_nested)?),
        ("append", content) => target.append(key, scalar(content).ok_or_else(is_nested)?),
        (other, _) => {
            return Err(format!("unsupported micro-operation `{other}` (expected `r`, `w` or `append`)"));
        }
    }
    Ok(())
}

fn list(json: &Json) -> Option<Vec<Value>> {
    match json {
        Json::Array(elements) => elements.iter().map(scalar).collect(),
        _ => None,
    }
}

pub(super) fn scalar(json: &Json) -> Option<Value> {
    match json {
        Json::Null => Some(Value::Nil),
        Json::Bool(bool) => Some(Value::Bool(*bool)),
        Json::Number(number) => Some(number.clone()),
        Json::Text(text) => Some(Value::str(text.as_str())),
        Json::Array(_) | Json::Object(_) => None,
    }
}

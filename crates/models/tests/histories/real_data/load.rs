//! Readers for the ad-hoc shapes in which the shared histories were recorded.
//!
//! None of these shapes is a trace format of ours, so each is read here, in as few lines as possible, and every
//! reader panics on unexpected input. Calls are renamed to operations of the model; nothing is repaired.

use std::collections::BTreeMap;

use omnilink_history::{Call, End, ProcessId, Record, Trace, Value};
use serde_json::value::RawValue;

/// The rounds of a file recorded from a C++ container, each of which is a history.
///
/// A line is `thread call return operation a b result`, and `#` ends a round. A `push` has its value in `a`; map
/// operations have their key there, and those that add a value have it in `b`.
pub(crate) fn rounds(text: &str) -> Vec<Trace> {
    let rounds = text.strip_suffix("#\n").expect("a file that ends with a round").split("#\n");
    rounds.map(|round| trace(round.lines().map(container_call))).collect()
}

fn container_call(line: &str) -> (&str, u64, u64, Call) {
    let words: Vec<&str> = line.split(' ').collect();
    let [thread, start, end, op, a, b, result] = words[..] else { panic!("`{line}` does not have seven words") };
    let (start, end) = (start.parse().unwrap(), end.parse().unwrap());
    let [a, b, result] = [a, b, result].map(|word| word.parse::<i64>().unwrap());
    let flag = || match result {
        0 | 1 => Value::Bool(result == 1),
        _ => panic!("`{line}` has a result that is not a truth value"),
    };
    let value = if result == -1 { Value::Nil } else { Value::Int(result) };
    let call = match op {
        "push" => Call::positional("enqueue", [a.into()], [flag()]),
        "pop" => Call::positional("dequeue", [], [value]),
        "insnew" => Call::positional("insert", [a.into(), b.into()], [flag()]),
        // The result was not recorded: it is always 1, whether or not the key existed.
        "put" => Call::positional("put", [a.into(), b.into()], []),
        "del" => Call::positional("erase", [a.into()], [flag()]),
        "get" => Call::positional("get", [a.into()], [value]),
        _ => panic!("`{line}` has an unknown operation"),
    };
    (thread, start, end, call)
}

/// A history recorded from a Rust crate: operations and results are printed enums, as in `Insert(0, 1)` and
/// `Old(Some(2))`.
pub(crate) fn printed_enums(text: &str) -> Trace {
    trace(text.lines().map(|line| {
        let fields: BTreeMap<&str, &RawValue> = serde_json::from_str(line).unwrap();
        let call = printed_call(unquoted(fields["op"]), unquoted(fields["result"]));
        let time = |name| fields[name].get().parse().unwrap();
        (fields["thread"].get(), time("call"), time("ret"), call)
    }))
}

fn printed_call(op: &str, result: &str) -> Call {
    let (op, args) = variant(op);
    let (kind, numbers) = variant(result);
    let result = match kind {
        "Unit" => None,
        "Old" | "Val" | "N" => Some(numbers.first().cloned().unwrap_or_default()),
        "Empty" => Some(Value::Nil),
        "Did" | "B" => Some(Value::Bool(result.contains("true"))),
        "Ok" | "Full" => Some(Value::Bool(kind == "Ok")),
        "List" => Some(Value::tuple(numbers.chunks(2).map(|pair| Value::tuple(pair.iter().cloned())))),
        _ => panic!("`{result}` is an unknown result"),
    };
    let action = match op {
        "Insert" => "put",
        "InsNew" => "insert",
        "Remove" => "erase",
        "Get" => "get",
        "Clear" => "clear",
        "Scan" => "scan",
        "Len" => "len",
        "Push" => "enqueue",
        "Pop" => "dequeue",
        "IsEmpty" => "is_empty",
        _ => panic!("`{op}` is an unknown operation"),
    };
    Call::positional(action, args, result)
}

/// The name of an enum's variant, and all numbers in it.
fn variant(text: &str) -> (&str, Vec<Value>) {
    let (name, rest) = text.split_once('(').unwrap_or((text, ""));
    let numbers = rest.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    (name, numbers.map(|digits| Value::Int(digits.parse().unwrap())).collect())
}

fn unquoted(json: &RawValue) -> &str {
    json.get().trim_matches('"')
}

/// A history recorded from a register in etcd, with times in seconds. The readers share one name, so each operation
/// goes to the first free process.
pub(crate) fn etcd(text: &str) -> Trace {
    let mut busy_until: Vec<u64> = Vec::new();
    let mut calls: Vec<(u64, u64, Call)> = Vec::new();
    for line in text.lines() {
        let fields: BTreeMap<&str, &RawValue> = serde_json::from_str(line).unwrap();
        let value = Value::Int(fields["value"].get().parse().unwrap());
        let call = match unquoted(fields["f"]) {
            "write" => Call::positional("write", [value], []),
            "read" => Call::positional("read", [], [value]),
            other => panic!("`{other}` is an unknown operation"),
        };
        calls.push((nanoseconds(fields["call"].get()), nanoseconds(fields["ret"].get()), call));
    }
    calls.sort_by_key(|(start, ..)| *start);
    let mut process = |start: u64, end: u64| {
        let free = busy_until.iter().position(|until| *until < start).unwrap_or(busy_until.len());
        busy_until.resize(busy_until.len().max(free + 1), 0);
        busy_until[free] = end;
        free.to_string()
    };
    trace(calls.into_iter().map(|(start, end, call)| (process(start, end), start, end, call)))
}

/// Seconds with up to nine decimals, exactly.
fn nanoseconds(seconds: &str) -> u64 {
    let (whole, decimals) = seconds.split_once('.').unwrap_or((seconds, ""));
    assert!(decimals.len() <= 9, "`{seconds}` is more precise than a nanosecond");
    format!("{whole}{decimals:0<9}").parse().unwrap()
}

fn trace<P: AsRef<str>>(calls: impl Iterator<Item = (P, u64, u64, Call)>) -> Trace {
    let mut trace = Trace::default();
    for (process, start, end, call) in calls {
        let process: ProcessId = trace.process(process.as_ref());
        trace.records.push(Record { process, start, end: End::At(end), call });
    }
    trace
}

#[test]
fn seconds_become_nanoseconds_exactly() {
    assert_eq!(nanoseconds("6856.61516854"), 6_856_615_168_540);
    assert_eq!(nanoseconds("6856.000000001"), 6_856_000_000_001);
    assert_eq!(nanoseconds("7"), 7_000_000_000);
}

#[test]
fn printed_enums_become_calls() {
    let check = |op, result| printed_call(op, result).to_string();
    assert_eq!(check("Insert(0, 1)", "Old(Some(2))"), "put(0, 1) = 2");
    assert_eq!(check("Insert(0, 1)", "Unit"), "put(0, 1)");
    assert_eq!(check("Remove(3)", "Did(false)"), "erase(3) = FALSE");
    assert_eq!(check("Scan", "List([(0, 5), (2, 4)])"), "scan() = <<<<0, 5>>, <<2, 4>>>>");
    assert_eq!(check("Push(1)", "Full"), "enqueue(1) = FALSE");
    assert_eq!(check("Pop", "Empty"), "dequeue() = nil");
    assert_eq!(check("IsEmpty", "B(true)"), "is_empty() = TRUE");
}

//! Logs of the research prototype that OmniLink grew out of, in MessagePack.
//!
//! Each thread of a C++ program writes its own log, `tracing-<spec>-<thread>.log`, and a trace is a folder of them. A
//! log is a sequence of maps, one after another with nothing between them, in the order in which the operations of
//! the thread ended. There are two layouts; the later one is
//!
//! ```text
//! { operation_name: "Push", operation: { x: 1, ..., _did_abort: false, _op_start: 17, _op_end: 19, _meta: nil } }
//! ```
//!
//! and the earlier one has `op_start` and `op_end` beside `operation_name`. The fields are read as follows:
//!
//! - Fields of `operation` whose names do not start with an underscore are the parameters of an action of the spec,
//!   in its order. Arguments and results are not distinguished, so all of them are arguments.
//! - The times are counts of the processor's clock, with the highest bit cleared.
//! - An operation with `_did_abort` is failed: unless a spec says otherwise, the prototype lets it change nothing.
//! - `_meta` is added by the program. If it is a map, each of its fields is metadata of that name.
//! - All other fields are metadata.
//!
//! Arrays are tuples, and maps are functions. The prototype has no sets, turns nil into the string "null", and refuses
//! floats; here nil stays nil, and floats are kept.
//!
//! Two actions come from the recorder itself, and are kept as operations because specs may give them meaning.
//! `__TerminateThread` is the last of a thread that ends normally; it changes nothing unless the spec says so.
//! `__AbortThread` records the signal that killed the program, and the prototype accepts no trace that has it.
//!
//! An operation is written when it ends. So an operation that was running when a thread died is not in its log,
//! although it may have taken effect: a log that breaks off, or that has `__AbortThread`, may lack its last
//! operation.

use std::io::ErrorKind;
use std::sync::Arc;

use rmpv::ValueRef;
use rmpv::decode::{Error, read_value_ref_with_max_depth};

use crate::format::error::{FormatError, Location};
use crate::{Call, Cut, End, Halt, ProcessId, Record, Schema, Trace, Value};

/// How deep the decoder may descend. It takes up to three steps for each level of a value.
const MAX_DEPTH: usize = 256;

/// Reads the logs of one trace, each with the name of its process.
pub fn read(logs: &[(&str, &[u8])]) -> Result<Trace, FormatError> {
    read_until(logs, &Halt::default())
}

/// Reads a trace, stopping when `halt` is raised.
pub fn read_until(logs: &[(&str, &[u8])], halt: &Halt) -> Result<Trace, FormatError> {
    let mut trace = Trace::default();
    let mut schemas: Vec<Arc<Schema>> = Vec::new();
    for (name, log) in logs {
        trace.processes.push((*name).into());
        let process = ProcessId(trace.processes.len() as u32 - 1);
        let mut rest = *log;
        while !rest.is_empty() {
            if halt.is_raised() {
                break;
            }
            let at = (log.len() - rest.len()) as u64;
            let refuse = |message: String| FormatError::new(Location::Part(name.to_string(), at), message);
            let value = match read_value_ref_with_max_depth(&mut rest, MAX_DEPTH) {
                Ok(value) => value,
                Err(error) if is_end(&error) => {
                    let found = "the log ends inside a record".into();
                    trace.cuts.push(Cut { part: name.to_string(), at_byte: at, found });
                    break;
                }
                Err(Error::DepthLimitExceeded) => return Err(refuse("a record nests too deep".into())),
                Err(error) => return Err(refuse(error.to_string())),
            };
            let fields = Fields::new(value).map_err(refuse)?;
            trace.records.push(fields.record(process, &mut schemas).map_err(refuse)?);
        }
    }
    Ok(trace)
}

fn is_end(error: &Error) -> bool {
    match error {
        Error::InvalidMarkerRead(error) | Error::InvalidDataRead(error) => error.kind() == ErrorKind::UnexpectedEof,
        Error::DepthLimitExceeded => false,
    }
}

/// The fields of a record, by meaning.
#[derive(Default)]
struct Fields {
    action: Option<Arc<str>>,
    start: Option<u64>,
    end: Option<u64>,
    did_abort: bool,
    names: Vec<Arc<str>>,
    args: Vec<Value>,
    meta: Vec<(Arc<str>, Value)>,
}

impl Fields {
    fn new(record: ValueRef<'_>) -> Result<Fields, String> {
        let mut fields = Fields::default();
        let mut has_operation = false;
        for (name, field) in named(record, "a record")? {
            match &*name {
                "operation_name" => {
                    let action = string(&field).ok_or("`operation_name` is not a string")?;
                    fields.action = Some(action.into());
                }
                "op_start" => fields.start = Some(time(&field, &name)?),
                "op_end" => fields.end = Some(time(&field, &name)?),
                "operation" => {
                    has_operation = true;
                    fields.add_operation(field)?;
                }
                _ => fields.meta.push((name, value(field)?)),
            }
        }
        if has_operation { Ok(fields) } else { Err("a record has no `operation`".into()) }
    }

    fn add_operation(&mut self, operation: ValueRef<'_>) -> Result<(), String> {
        for (name, field) in named(operation, "`operation`")? {
            match &*name {
                "_op_start" => self.start = Some(time(&field, &name)?),
                "_op_end" => self.end = Some(time(&field, &name)?),
                "_did_abort" => match field {
                    ValueRef::Boolean(did_abort) => self.did_abort = did_abort,
                    _ => return Err("`_did_abort` is not a truth value".into()),
                },
                "_meta" if field == ValueRef::Nil => {}
                "_meta" => match value(field)? {
                    Value::Function(meta) => self.meta.extend(meta.pairs().iter().map(|(key, value)| {
                        let key = key.as_str().map_or_else(|| key.to_string().into(), Arc::from);
                        (key, value.clone())
                    })),
                    meta => self.meta.push(("meta".into(), meta)),
                },
                hidden if hidden.starts_with('_') => self.meta.push((name, value(field)?)),
                _ => {
                    self.names.push(name);
                    self.args.push(value(field)?);
                }
            }
        }
        Ok(())
    }

    fn record(self, process: ProcessId, schemas: &mut Vec<Arc<Schema>>) -> Result<Record, String> {
        let action = self.action.ok_or("a record has no `operation_name`")?;
        let start = self.start.ok_or("a record has no `_op_start`")?;
        let end = self.end.ok_or("a record has no `_op_end`")?;
        let schema = Schema { action, args: self.names, results: Vec::new() };
        let known = schemas.iter().find(|known| ***known == schema).cloned();
        let schema = known.unwrap_or_else(|| {
            schemas.push(Arc::new(schema));
            schemas[schemas.len() - 1].clone()
        });
        let mut call = Call::new(schema, self.args).expect("there is a name for each argument");
        call.failed = self.did_abort;
        call.meta = self.meta.into();
        Ok(Record { process, start, end: End::At(end), call })
    }
}

/// The fields of a map whose keys are strings, each of which occurs once.
fn named<'a>(map: ValueRef<'a>, what: &str) -> Result<Vec<(Arc<str>, ValueRef<'a>)>, String> {
    let ValueRef::Map(pairs) = map else { return Err(format!("{what} is not a map")) };
    let mut fields: Vec<(Arc<str>, ValueRef<'a>)> = Vec::new();
    for (key, field) in pairs {
        let name: Arc<str> = string(&key).ok_or_else(|| format!("{what} has a key that is not a string"))?.into();
        fields.push((name, field));
    }
    let mut names: Vec<&str> = fields.iter().map(|(name, _)| &**name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("{what} has `{}` twice", pair[0])),
        None => Ok(fields),
    }
}

fn string<'a>(value: &ValueRef<'a>) -> Option<&'a str> {
    if let ValueRef::String(text) = value { text.into_str() } else { None }
}

fn time(field: &ValueRef<'_>, name: &str) -> Result<u64, String> {
    match field {
        ValueRef::Integer(int) => int.as_u64().ok_or_else(|| format!("`{name}` is negative")),
        _ => Err(format!("`{name}` is not a number")),
    }
}

fn value(field: ValueRef<'_>) -> Result<Value, String> {
    let number = |float: f64| Value::number(float).unwrap_or_else(|| Value::str(float.to_string()));
    Ok(match field {
        ValueRef::Nil => Value::Nil,
        ValueRef::Boolean(bool) => Value::Bool(bool),
        ValueRef::Integer(int) => Value::integer(&int.to_string()).expect("a sign and digits"),
        ValueRef::F32(float) => number(float.into()),
        ValueRef::F64(float) => number(float),
        ValueRef::String(text) => Value::str(text.into_str().ok_or("a string is not UTF-8")?),
        ValueRef::Array(elements) => Value::tuple(elements.into_iter().map(value).collect::<Result<Vec<_>, _>>()?),
        ValueRef::Map(pairs) => {
            let pairs = pairs.into_iter().map(|(key, field)| Ok((value(key)?, value(field)?)));
            Value::function(pairs.collect::<Result<Vec<_>, String>>()?).ok_or("a key occurs twice in a map")?
        }
        ValueRef::Binary(_) => return Err("a value is binary data".into()),
        ValueRef::Ext(..) => return Err("a value is of an extension type".into()),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rmpv::Value as Packed;

    use super::*;
    use crate::History;

    fn map(fields: Vec<(&str, Packed)>) -> Packed {
        Packed::Map(fields.into_iter().map(|(name, field)| (name.into(), field)).collect())
    }

    fn pack(values: &[Packed]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for value in values {
            rmpv::encode::write_value(&mut bytes, value).unwrap();
        }
        bytes
    }

    fn op(action: &str, args: Vec<(&str, Packed)>, did_abort: bool, (start, end): (u64, u64), meta: Packed) -> Packed {
        let mut fields = args;
        fields.extend([
            ("_did_abort", did_abort.into()),
            ("_op_start", start.into()),
            ("_op_end", end.into()),
            ("_meta", meta),
        ]);
        map(vec![("operation_name", action.into()), ("operation", map(fields))])
    }

    fn records() -> [Packed; 3] {
        let elements = Packed::Array(vec![1.into(), Packed::Nil, "a".into(), true.into()]);
        [
            op("Enqueue", vec![("elements", elements), ("producer", 2.into())], false, (10, 20), Packed::Nil),
            op("Put", vec![("k", map(vec![("a", 1.into())]))], true, (21, 22), map(vec![("code", (-31).into())])),
            op("__TerminateThread", vec![], false, (30, 31), Packed::Nil),
        ]
    }

    fn log() -> Vec<u8> {
        pack(&records())
    }

    fn check(log: &[u8]) -> String {
        let trace = match read(&[("1", log)]) {
            Ok(trace) => trace,
            Err(error) => return error.to_string(),
        };
        let records = trace.records.iter().map(|record| {
            let meta: String = record.call.meta.iter().map(|(key, value)| format!(" {key}={value}")).collect();
            let process = &trace.processes[record.process.index()];
            format!("{process} [{} {}] {}{meta}", record.start, record.end, record.call)
        });
        records.chain(trace.cuts.iter().map(Cut::to_string)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn records_become_operations() {
        insta::assert_snapshot!(check(&log()), @r#"
        1 [10 20] Enqueue(elements: <<1, nil, "a", TRUE>>, producer: 2)
        1 [21 22] Put(k: [a |-> 1]) failed code=-31
        1 [30 31] __TerminateThread()
        "#);
        let trace = read(&[("a", &log()), ("b", &log())]).unwrap();
        assert!(Arc::ptr_eq(trace.records[0].call.schema(), trace.records[3].call.schema()));
        assert_eq!(History::new(trace).unwrap().ops().len(), 6);
    }

    #[test]
    fn the_earlier_layout_has_the_times_outside() {
        let record = map(vec![
            ("op_start", 1.into()),
            ("op_end", u64::MAX.into()),
            ("operation_name", "Pop".into()),
            ("operation", map(vec![("x", u64::MAX.into()), ("_did_abort", false.into()), ("_meta", 7.into())])),
            ("should_succeed", true.into()),
        ]);
        insta::assert_snapshot!(
            check(&pack(&[record])),
            @r#"1 [1 18446744073709551615] Pop(x: 18446744073709551615) meta=7 should_succeed=TRUE"#
        );
    }

    #[test]
    fn every_prefix_of_a_log_is_read_up_to_its_last_whole_record() {
        let log = log();
        let whole = read(&[("1", &log)]).unwrap();
        let ends = [0, 1, 2, 3].map(|count| pack(&records()[..count]).len());
        for length in 0..=log.len() {
            let trace = read(&[("1", &log[..length])]).unwrap();
            let count = ends.iter().rposition(|end| *end <= length).unwrap();
            assert_eq!(trace.records, whole.records[..count]);
            let cuts: Vec<usize> = trace.cuts.iter().map(|cut| cut.at_byte as usize).collect();
            assert_eq!(cuts, if ends[count] == length { vec![] } else { vec![ends[count]] });
        }
    }

    #[test]
    fn errors_name_the_byte() {
        let wrong = |record: Packed| check(&pack(&[record]));
        insta::assert_snapshot!(wrong(7.into()), @"1, byte 0: a record is not a map");
        insta::assert_snapshot!(
            wrong(map(vec![("operation_name", "A".into())])),
            @"1, byte 0: a record has no `operation`"
        );
        insta::assert_snapshot!(
            wrong(map(vec![("operation", map(vec![]))])),
            @"1, byte 0: a record has no `operation_name`"
        );
        insta::assert_snapshot!(
            wrong(op("A", vec![("x", Packed::Binary(vec![1]))], false, (1, 2), Packed::Nil)),
            @"1, byte 0: a value is binary data"
        );
        insta::assert_snapshot!(
            wrong(op("A", vec![("x", 1.into()), ("x", 1.into())], false, (1, 2), Packed::Nil)),
            @"1, byte 0: `operation` has `x` twice"
        );
        let negative = map(vec![("operation", map(vec![("_op_start", (-1).into())]))]);
        insta::assert_snapshot!(check(&[log(), pack(&[negative])].concat()), @"1, byte 265: `_op_start` is negative");
    }

    #[test]
    fn hostile_sizes_and_depths_are_refused() {
        // Four billion pairs, four billion elements, a string of four gigabytes.
        for size in [b"\xdf\xff\xff\xff\xff\xc0", b"\xdd\xff\xff\xff\xff\xc0", b"\xdb\xff\xff\xff\xff\xc0"] {
            assert_eq!(check(size), "1 breaks off after 0 bytes: the log ends inside a record");
        }
        assert_eq!(check(&[0x91; 1_000_000]), "1, byte 0: a record nests too deep");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(log: Vec<u8>) {
            let _ = read(&[("1", &log)]);
        }

        #[test]
        fn damaged_logs_never_panic(at in any::<prop::sample::Index>(), with: [u8; 2]) {
            let mut log = log();
            let at = at.index(log.len() - 1);
            log[at..at + 2].copy_from_slice(&with);
            let _ = read(&[("1", &log)]);
        }
    }
}

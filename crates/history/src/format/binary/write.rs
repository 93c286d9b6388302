//! Writes segments as plain bytes: the same trace always gives the same bytes.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use super::layout::{LONG, MAGIC, MAX_ACTION, MAX_BODY, VERSION, kind, tag};
use crate::format::own::{BLOCKED_BUT, FAILED_BY, MAX_DEPTH, WriteError};
use crate::{Call, End, Event, ProcessId, Record, Schema, Trace, Value};

/// Writes the segment of one process. After an error, the bytes written before it are a segment that breaks off
/// there.
#[derive(Debug)]
pub struct SegmentWriter<W> {
    out: W,
    actions: HashMap<Arc<Schema>, u64>,
    time: u64,
    count: u64,
    body: Vec<u8>,
}

impl<W: Write> SegmentWriter<W> {
    /// Writes the header. The name of the process may have at most 255 bytes.
    pub fn new(mut out: W, process: &str) -> Result<SegmentWriter<W>, WriteError> {
        let Ok(length) = u8::try_from(process.len()) else {
            let message = format!("the name of process `{process}` is longer than 255 bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message).into());
        };
        out.write_all(&MAGIC)?;
        out.write_all(&[VERSION, length])?;
        out.write_all(process.as_bytes())?;
        Ok(SegmentWriter { out, actions: HashMap::new(), time: 0, count: 0, body: Vec::new() })
    }

    /// Writes a complete operation.
    pub fn record(&mut self, record: &Record) -> Result<(), WriteError> {
        let Record { start, end, ref call, .. } = *record;
        let is_over = call.failed || matches!(end, End::At(_));
        if is_over && call.action().contains(Schema::OR) {
            return Err(unwritable(
                call,
                "its action has a `|`, and only an unfinished operation may be one of several",
            ));
        }
        match end {
            _ if call.blocked => {
                if call.failed || !call.results().is_empty() {
                    return Err(unwritable(call, BLOCKED_BUT));
                }
                self.call(start, call)?;
                self.blocked(call)?;
            }
            End::At(end) if !call.failed => {
                self.complete(kind::OPERATION, start, end, call)?;
                self.count += 1;
            }
            _ => {
                if call.failed && matches!(end, End::Unknown { latest: Some(_) }) {
                    return Err(unwritable(call, FAILED_BY));
                }
                self.call(start, call)?;
                if call.failed {
                    self.fail(end.at(), call)?;
                } else if !call.results().is_empty() {
                    return Err(unwritable(call, "it has results but no end"));
                } else if let End::Unknown { latest: Some(latest) } = end {
                    self.unknown(latest, call)?;
                }
            }
        }
        if call.meta.is_empty() { Ok(()) } else { self.meta(call) }
    }

    /// Writes that a call began. Ignores the end of `call`.
    pub fn call(&mut self, start: u64, call: &Call) -> Result<(), WriteError> {
        self.begin(kind::CALL, call)?;
        self.timestamp(start);
        self.values(call, call.args())?;
        self.publish(call)?;
        self.count += 1;
        Ok(())
    }

    /// Writes that the open call returned with the results of `call`.
    pub fn finish(&mut self, end: u64, call: &Call) -> Result<(), WriteError> {
        self.body.push(kind::RETURN);
        self.timestamp(end);
        self.values(call, call.results())?;
        self.publish(call)
    }

    /// Writes that the open call returned, and turned out to be `call`, begun at `start`.
    pub fn outcome(&mut self, start: u64, end: u64, call: &Call) -> Result<(), WriteError> {
        self.complete(kind::OUTCOME, start, end, call)
    }

    /// Writes that the open call had no effect.
    pub fn fail(&mut self, end: Option<u64>, call: &Call) -> Result<(), WriteError> {
        if end.is_none() && !call.results().is_empty() {
            return Err(unwritable(call, "it has results but no end"));
        }
        self.body.push(kind::FAIL);
        if let Some(end) = end {
            self.timestamp(end);
        }
        self.values(call, call.results())?;
        self.publish(call)
    }

    /// Writes that the outcome of the open call is unknown, and that it took effect at this time at the latest.
    pub fn unknown(&mut self, latest: u64, call: &Call) -> Result<(), WriteError> {
        self.body.push(kind::UNKNOWN);
        self.timestamp(latest);
        self.publish(call)
    }

    /// Writes that the open call is blocked at the end.
    pub fn blocked(&mut self, call: &Call) -> Result<(), WriteError> {
        self.body.push(kind::BLOCKED);
        self.publish(call)
    }

    /// Writes an event.
    pub fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        self.body.push(kind::EVENT);
        string(&mut self.body, &event.name);
        varint(&mut self.body, event.start);
        self.body.push(u8::from(event.end.is_some()));
        if let Some(end) = event.end {
            varint(&mut self.body, end);
        }
        varint(&mut self.body, event.nodes.len() as u64);
        event.nodes.iter().for_each(|node| string(&mut self.body, node));
        string(&mut self.body, &event.note);
        self.put(|why| WriteError::Unwritable { call: event.name.to_string(), why: why.into() })
    }

    /// Writes the end record, and returns the underlying writer.
    pub fn close(mut self) -> Result<W, WriteError> {
        self.body.push(kind::END);
        varint(&mut self.body, self.count);
        self.out.write_all(&[self.body.len() as u8])?;
        self.out.write_all(&self.body)?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Writes a complete record of a call that returned.
    fn complete(&mut self, kind: u8, start: u64, end: u64, call: &Call) -> Result<(), WriteError> {
        self.begin(kind, call)?;
        self.timestamp(start);
        self.timestamp(end);
        self.values(call, call.args())?;
        self.values(call, call.results())?;
        self.publish(call)
    }

    fn meta(&mut self, call: &Call) -> Result<(), WriteError> {
        self.body.push(kind::META);
        for (name, value) in &call.meta {
            string(&mut self.body, name);
            self.values(call, std::slice::from_ref(value))?;
        }
        self.publish(call)
    }

    /// Starts a record about an operation, after the record that defines its action if this is the first of its kind.
    fn begin(&mut self, kind: u8, call: &Call) -> Result<(), WriteError> {
        let next = self.actions.len() as u64;
        let number = *self.actions.entry(call.schema().clone()).or_insert(next);
        if number == next {
            if number > MAX_ACTION {
                return Err(unwritable(call, "there are too many kinds of calls"));
            }
            self.body.push(kind::ACTION);
            varint(&mut self.body, number);
            let schema = call.schema();
            string(&mut self.body, &schema.action);
            for names in [&schema.args, &schema.results] {
                varint(&mut self.body, names.len() as u64);
                names.iter().for_each(|name| string(&mut self.body, name));
            }
            self.publish(call)?;
        }
        self.body.push(kind);
        varint(&mut self.body, number);
        Ok(())
    }

    fn timestamp(&mut self, time: u64) {
        signed(&mut self.body, time.wrapping_sub(self.time) as i64);
        self.time = time;
    }

    fn values(&mut self, call: &Call, values: &[Value]) -> Result<(), WriteError> {
        let all_fit = values.iter().all(|each| value(&mut self.body, each, 0));
        if all_fit { Ok(()) } else { Err(unwritable(call, &format!("a value is nested deeper than {MAX_DEPTH}"))) }
    }

    /// Writes the length and the body of a record about a call.
    fn publish(&mut self, call: &Call) -> Result<(), WriteError> {
        self.put(|why| unwritable(call, why))
    }

    fn put(&mut self, unwritable: impl FnOnce(&str) -> WriteError) -> Result<(), WriteError> {
        match self.body.len() {
            length if length > MAX_BODY => return Err(unwritable("it is too long for a record")),
            length if length < usize::from(LONG) => self.out.write_all(&[length as u8])?,
            length => {
                self.out.write_all(&[LONG])?;
                self.out.write_all(&(length as u32).to_le_bytes())?;
            }
        }
        self.out.write_all(&self.body)?;
        self.body.clear();
        Ok(())
    }
}

/// Writes each process of a trace as a closed segment, to the writer that `open` returns for it. The first has the events.
pub fn write<W: Write>(
    trace: &Trace,
    mut open: impl FnMut(ProcessId, &str) -> io::Result<W>,
) -> Result<Vec<W>, WriteError> {
    let mut writers = Vec::with_capacity(trace.processes.len());
    for (index, name) in trace.processes.iter().enumerate() {
        writers.push(SegmentWriter::new(open(ProcessId(index as u32), name)?, name)?);
    }
    if let Some(first) = writers.first_mut() {
        trace.events.iter().try_for_each(|event| first.event(event))?;
    }
    for record in &trace.records {
        writers[record.process.index()].record(record)?;
    }
    writers.into_iter().map(SegmentWriter::close).collect()
}

fn unwritable(call: &Call, why: &str) -> WriteError {
    WriteError::Unwritable { call: call.to_string(), why: why.into() }
}

pub(super) fn varint(body: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        body.push(number as u8 | 0x80);
        number >>= 7;
    }
    body.push(number as u8);
}

fn signed(body: &mut Vec<u8>, number: i64) {
    varint(body, ((number << 1) ^ (number >> 63)) as u64);
}

fn string(body: &mut Vec<u8>, text: &str) {
    varint(body, text.len() as u64);
    body.extend_from_slice(text.as_bytes());
}

/// Returns false if the value is nested too deep.
fn value(body: &mut Vec<u8>, value: &Value, depth: usize) -> bool {
    match value {
        Value::Nil => body.push(tag::NIL),
        Value::Bool(false) => body.push(tag::FALSE),
        Value::Bool(true) => body.push(tag::TRUE),
        Value::Int(int) if (tag::MIN_SMALL_INT..=tag::MAX_SMALL_INT).contains(int) => {
            body.push((i64::from(tag::ZERO) + int) as u8);
        }
        Value::Int(int) => {
            body.push(tag::INT);
            signed(body, *int);
        }
        Value::Big(big) => {
            body.push(tag::BIG);
            string(body, big.digits());
        }
        Value::Float(float) => {
            body.push(tag::FLOAT);
            body.extend_from_slice(&float.get().to_le_bytes());
        }
        Value::Str(text) if text.len() <= tag::MAX_SHORT_STR => {
            body.push(tag::SHORT_STR + text.len() as u8);
            body.extend_from_slice(text.as_bytes());
        }
        Value::Str(text) => {
            body.push(tag::STR);
            string(body, text);
        }
        Value::Tuple(elements) => return nested(body, tag::TUPLE, elements.len(), elements.iter(), depth),
        Value::Set(set) => return nested(body, tag::SET, set.elements().len(), set.elements().iter(), depth),
        Value::Function(function) => {
            let pairs = function.pairs();
            let values = pairs.iter().flat_map(|(argument, result)| [argument, result]);
            return nested(body, tag::FUNCTION, pairs.len(), values, depth);
        }
    }
    true
}

fn nested<'a>(
    body: &mut Vec<u8>,
    tag: u8,
    count: usize,
    mut values: impl Iterator<Item = &'a Value>,
    depth: usize,
) -> bool {
    body.push(tag);
    varint(body, count as u64);
    depth < MAX_DEPTH && values.all(|each| value(body, each, depth + 1))
}

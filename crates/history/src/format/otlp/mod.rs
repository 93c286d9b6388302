//! Traces of OpenTelemetry: spans in the JSON of OTLP, of Tempo and of Jaeger.
//!
//! A span is an interval with a name and attributes, so one that covers a call is an operation, once attributes say
//! which arguments and results it had. `convention` is the meaning of attributes; spans without any attribute that
//! begins with `omnilink.` are not operations, and are counted.
//!
//! **Losses.** Exporters drop spans silently when a queue is full, and samplers drop them on purpose. A lost write
//! makes a correct system look wrong. So operations can have consecutive numbers within their process, and a gap in
//! them is a [loss](Trace::losses): such a trace has no verdict. A count of operations shows losses at the end.
//!
//! **Clocks.** Times of one host are used as they are, and those of several are widened as far as their clocks may
//! differ, see `clock`. Times that were rounded are widened too, see `coarse`.
//!
//! **Processes.** A process runs one operation at a time. If spans of one overlap, or follow one of unknown outcome,
//! they are assigned to lanes by start: to the first one that is free, and lanes are the processes `P`, `P#2`, `P#3`.
//!
//! Documents follow each other with or without line breaks; the order of spans has no meaning, and neither have exact
//! duplicates, which exporters write when they try again.

mod clock;
mod coarse;
mod convention;
mod jaeger;
mod live;
mod span;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use omnilink_suggest::counted;

pub use self::convention::{Attributes, matters};
use self::convention::{Operation, Outcome};
pub use self::live::{Arrived, Live};
use self::span::Span;
pub use self::span::{Kind, Raw, Spans};
use crate::format::error::{FormatError, Location};
use crate::format::gaps::{self, Numbers};
use crate::format::lanes::{Lanes, lane_name};
use crate::format::node::{self, Node};
use crate::format::reader::{TraceReader, first_key, text_of, utf8};
use crate::format::schemas::Schemas;
use crate::{End, Halt, Record, Trace, Value};

/// Reads spans in the shape of OTLP or Tempo.
pub fn read(input: &str) -> Result<Trace, FormatError> {
    Otlp.read(input.as_bytes(), &Halt::default())
}

/// Reads spans in the shape of Jaeger's user interface.
pub fn read_jaeger(input: &str) -> Result<Trace, FormatError> {
    Jaeger.read(input.as_bytes(), &Halt::default())
}

/// The reader of [`read`].
pub(super) struct Otlp;

impl TraceReader for Otlp {
    fn detect(&self, first_bytes: &[u8]) -> bool {
        match first_key(text_of(first_bytes)) {
            Some(("resourceSpans" | "batches", _)) => true,
            Some(("trace" | "result", rest)) => matches!(first_key(rest), Some(("resourceSpans" | "batches", _))),
            _ => false,
        }
    }

    fn read(&self, bytes: &[u8], halt: &Halt) -> Result<Trace, FormatError> {
        read_documents(utf8(bytes)?, halt, span::read_document)
    }
}

/// The reader of [`read_jaeger`].
pub(super) struct Jaeger;

impl TraceReader for Jaeger {
    fn detect(&self, first_bytes: &[u8]) -> bool {
        let Some(("data", rest)) = first_key(text_of(first_bytes)) else { return false };
        let Some(element) = rest.trim_start().strip_prefix('[') else { return false };
        matches!(first_key(element), Some(("traceID" | "spans", _)))
    }

    fn read(&self, bytes: &[u8], halt: &Halt) -> Result<Trace, FormatError> {
        read_documents(utf8(bytes)?, halt, jaeger::read_document)
    }
}

type ReadDocument = fn(&Node<'_>, &mut Spans) -> Result<(), FormatError>;

fn read_documents(input: &str, halt: &Halt, read: ReadDocument) -> Result<Trace, FormatError> {
    let mut spans = Spans::default();
    let torn = node::visit_documents(input, halt, |document| read(document, &mut spans))?;
    if halt.is_raised() {
        return Ok(Trace::default());
    }
    // A batch holds spans of any time and process, so one that is torn is not the end of a trace.
    spans.losses.extend(torn.map(|line| format!("the text ends inside the spans that begin in line {line}")));
    assemble(spans)
}

/// The trace that spans are.
fn assemble(mut spans: Spans) -> Result<Trace, FormatError> {
    let mut trace = Trace::default();
    let duplicates = drop_duplicates(&mut spans)?;
    trace.losses = std::mem::take(&mut spans.losses);
    find_gaps(&spans, &mut trace)?;
    coarse::widen(&mut spans, &mut trace.notes);
    let (shifts, uncertain) = clock::shifts(&spans)?;
    trace.notes.extend(uncertain);
    let others = spans.list.iter().filter(|span| !span.matters()).count();
    if others > 0 {
        let (spans, verb) = (counted(others as u64, "span"), if others == 1 { "was" } else { "were" });
        trace.notes.push(format!("{spans} without an attribute `omnilink.*` {verb} left out"));
    }
    if duplicates > 0 {
        let (copies, verb) = (counted(duplicates as u64, "duplicate"), if duplicates == 1 { "was" } else { "were" });
        trace.notes.push(format!("{copies} of spans {verb} dropped"));
    }
    let timed = |span: &Span| -> Option<Timed> {
        let operation = span.content.operation.clone()?;
        let shift = shifts[spans.resources[span.resource].host.as_str()];
        let end = span.content.end.filter(|_| operation.is_answered());
        Some(Timed {
            start: i128::from(span.content.start) + shift.lo,
            end: end.map(|end| i128::from(end) + shift.hi),
            operation,
            trace: span.trace,
            id: span.id,
            line: span.line,
        })
    };
    let operations: Vec<Timed> = spans.list.iter().filter_map(timed).collect();
    drop(shifts);
    add_records(operations, &mut trace)?;
    Ok(trace)
}

/// An operation on the clock of the reference.
struct Timed {
    start: i128,
    end: Option<i128>,
    operation: Operation,
    trace: u128,
    id: u64,
    line: usize,
}

impl Operation {
    /// True if the caller saw its end.
    fn is_answered(&self) -> bool {
        self.outcome != Outcome::Unknown
    }
}

/// Drops exact duplicates, and returns their number. Two spans that differ but have the same identifiers are the two
/// sides of a call, unless both are operations.
fn drop_duplicates(spans: &mut Spans) -> Result<usize, FormatError> {
    let before = spans.list.len();
    let resources = &spans.resources;
    let is_same = |a: &Span, b: &Span| a.content == b.content && resources[a.resource] == resources[b.resource];
    let mut known: HashMap<(u128, u64), Vec<Span>> = HashMap::new();
    let mut order = Vec::new();
    for span in std::mem::take(&mut spans.list) {
        let id = (span.trace, span.id);
        let same_id = known.entry(id).or_default();
        if same_id.iter().any(|other| is_same(other, &span)) {
            continue;
        }
        let is_operation = |span: &Span| span.content.operation.is_some();
        if is_operation(&span) && same_id.iter().any(is_operation) {
            let message = format!("span {:016x} of trace {:032x} occurs twice with different contents", id.1, id.0);
            return Err(FormatError::new(Location::Line(span.line), message));
        }
        if same_id.is_empty() {
            order.push(id);
        }
        same_id.push(span);
    }
    spans.list = order.iter().flat_map(|id| known.remove(id).unwrap_or_default()).collect();
    Ok(before - spans.list.len())
}

/// Finds operations that are missing according to the numbers of the others.
fn find_gaps(spans: &Spans, trace: &mut Trace) -> Result<(), FormatError> {
    let mut processes: BTreeMap<&str, Numbers> = BTreeMap::new();
    let mut without: BTreeMap<&str, &Span> = BTreeMap::new();
    for span in &spans.list {
        if let Some(operation) = &span.content.operation {
            let numbers = processes.entry(&operation.process).or_default();
            match operation.seq {
                Some(seq) => numbers.given.push(seq),
                None => {
                    numbers.without += 1;
                    without.entry(&operation.process).or_insert(span);
                }
            }
        }
        if let Some((process, count)) = &span.content.count {
            let numbers = processes.entry(process).or_default();
            numbers.count = numbers.count.max(Some(*count));
        }
    }
    for (process, span) in without {
        if !processes[process].given.is_empty() {
            let id = span.id;
            let message = format!("span {id:016x} has no `omnilink.seq`, but other operations of `{process}` have one");
            return Err(FormatError::new(Location::Line(span.line), message));
        }
    }
    gaps::find(processes, "omnilink.seq", "omnilink.count", trace);
    Ok(())
}

/// Assigns operations to lanes, and adds them by start.
fn add_records(mut operations: Vec<Timed>, trace: &mut Trace) -> Result<(), FormatError> {
    // Only differences matter, so times that a shift makes negative are moved together with all others.
    let earliest = operations.iter().map(|timed| timed.start).min().unwrap_or(0).min(0);
    let order = |timed: &Timed| {
        let Timed { start, end, trace, id, .. } = *timed;
        (start, end.unwrap_or(i128::MAX), timed.operation.seq, trace, id)
    };
    operations.sort_by_key(order);
    let mut schemas = Schemas::default();
    let mut lanes: HashMap<String, Lanes> = HashMap::new();
    for Timed { start, end, operation, trace: trace_id, id, line } in operations {
        let time = |time: i128| {
            let time = u64::try_from(time - earliest).ok().filter(|time| *time < u64::MAX);
            time.ok_or_else(|| FormatError::new(Location::Line(line), format!("span {id:016x}: a time too large")))
        };
        let (start, end) = (time(start)?, end.map(time).transpose()?);
        let lane = lanes.entry(operation.process.clone()).or_default().assign(start, end);
        let Operation { process, action, args, results, outcome, .. } = operation;
        let process = lane_name(&process, lane);
        let mut call = schemas.call(&action, args, results);
        call.failed = outcome == Outcome::Failed;
        call.meta = [
            ("trace".into(), Value::str(format!("{trace_id:032x}"))),
            ("span".into(), Value::str(format!("{id:016x}"))),
        ]
        .into();
        let process = schemas.process(trace, &process);
        trace.records.push(Record { process, start, end: End::from(end), call });
    }
    Ok(())
}

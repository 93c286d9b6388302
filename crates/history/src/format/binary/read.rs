//! Reads one segment as a stream.
//!
//! The reader keeps one buffer, which always holds the whole record being decoded, and grows only for a record longer
//! than the buffer. An operation is complete when the next one begins or the segment stops, because until then a
//! return or metadata may follow; so the reader peeks at the kind of the next record, and holds no operation itself.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::mem;
use std::str;
use std::sync::Arc;

use smallvec::SmallVec;
use thiserror::Error;

use super::layout::{LONG, MAGIC, MAX_ACTION, MAX_BODY, VERSION, kind, tag};
use crate::format::error::{FormatError, Location};
use crate::format::own::MAX_DEPTH;
use crate::{Call, Cut, End, Event, IllFormed, ProcessId, Record, Schema, Value};

/// Why segments could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The bytes could not be read.
    #[error("cannot read {part}: {source}")]
    Io {
        /// The segment.
        part: String,
        /// The cause.
        source: io::Error,
    },
    /// The bytes are invalid.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The operations do not form a history.
    #[error(transparent)]
    IllFormed(#[from] IllFormed),
}

/// Reads the operations of one segment, in the order in which they were written.
#[derive(Debug)]
pub struct SegmentReader<R> {
    input: Buffer<R>,
    process: Option<Arc<str>>,
    id: ProcessId,
    state: State,
}

/// The context that the records so far provide for the next one.
#[derive(Debug, Default)]
struct State {
    actions: Vec<Option<Defined>>, // By number.
    number: usize,                 // Of the last operation's action.
    time: u64,
    count: u64,    // Of operations that began.
    is_open: bool, // True if the last operation is a call without a return.
    stop: Option<Stop>,
    events: Vec<Event>,
}

/// An action as a segment defines it.
#[derive(Clone, Debug)]
struct Defined {
    schema: Arc<Schema>,
    /// The schema of a call once it is known to have ended, if it may have several outcomes.
    first: Option<Arc<Schema>>,
}

#[derive(Debug)]
enum Stop {
    Closed,
    Cut(Cut),
    Failed,
}

impl<R: Read> SegmentReader<R> {
    /// Reads the header. `part` is the display name of the segment.
    pub fn new(part: impl Into<String>, input: R) -> Result<SegmentReader<R>, ReadError> {
        let bytes = vec![0; FIRST_BUFFER];
        let mut input = Buffer { input, part: part.into(), bytes, from: 0, to: 0, offset: 0, is_at_end: false };
        let (process, stop) = match read_header(&mut input)? {
            Ok(process) => (Some(process), None),
            Err(found) => (None, Some(Stop::Cut(input.cut(found)))),
        };
        let state = State { stop, ..State::default() };
        Ok(SegmentReader { input, process, id: ProcessId(0), state })
    }

    /// The name of the process, unless the segment breaks off before it.
    pub fn process(&self) -> Option<&Arc<str>> {
        self.process.as_ref()
    }

    /// The display name of the segment.
    pub fn part(&self) -> &str {
        &self.input.part
    }

    /// The same reader, with its records assigned to this process.
    pub fn with_id(self, id: ProcessId) -> SegmentReader<R> {
        SegmentReader { id, ..self }
    }

    /// The next operation, or `None` if the segment was closed or breaks off here, or after an error.
    pub fn next_record(&mut self) -> Result<Option<Record>, ReadError> {
        let mut record = None;
        self.read_into(&mut record)?;
        Ok(record)
    }

    /// The same, in place: records are large enough for moves to be measurable.
    pub(super) fn read_into(&mut self, record: &mut Option<Record>) -> Result<(), ReadError> {
        *record = None;
        let result = self.advance(record);
        if result.is_err() {
            self.state.stop = Some(Stop::Failed);
            *record = None;
        }
        result
    }

    /// Removes the events that came before or after the operations read so far.
    pub fn take_events(&mut self) -> Vec<Event> {
        mem::take(&mut self.state.events)
    }

    /// Where the segment breaks off, once all records before have been read.
    pub fn cut(&self) -> Option<&Cut> {
        if let Some(Stop::Cut(cut)) = &self.state.stop { Some(cut) } else { None }
    }

    /// True once the segment was closed and all its records have been read.
    pub fn is_closed(&self) -> bool {
        matches!(self.state.stop, Some(Stop::Closed))
    }

    #[inline]
    fn advance(&mut self, record: &mut Option<Record>) -> Result<(), ReadError> {
        while self.state.stop.is_none() {
            let (prefix, body) = match self.input.record()? {
                Next::Record { prefix, body } => (prefix, body),
                Next::Stop(found) => {
                    self.state.stop = Some(Stop::Cut(self.input.cut(found)));
                    break;
                }
            };
            let from = self.input.from + prefix;
            let bytes = &self.input.bytes[from..from + body];
            if record.is_some() && matches!(bytes[0], kind::OPERATION | kind::CALL) {
                break; // The operation is complete; this record waits for the next call.
            }
            let mut cursor = Cursor { bytes, at: 0 };
            self.state.apply(self.id, record, &mut cursor).map_err(|wrong| {
                let (at, message) = *wrong;
                let at = Location::Part(self.input.part.clone(), self.input.offset + (prefix + at) as u64);
                FormatError::new(at, message)
            })?;
            self.input.consume(prefix + body);
            if let Some(Stop::Closed) = self.state.stop {
                self.input.only_zeros()?;
            }
        }
        Ok(())
    }
}

impl<R: Read + Seek> SegmentReader<R> {
    /// The next operation of a segment that is still written to, or `None` if there is none yet: then it can be asked again.
    /// A call that is open stays in `open` until it has ended, or the segment is closed. The notes about an operation are
    /// left out if they come after it was returned.
    pub fn follow(&mut self, open: &mut Option<Record>) -> Result<Option<Record>, ReadError> {
        if let Some(Stop::Cut(_)) = self.state.stop {
            self.input.look_again()?;
            self.state.stop = None;
        }
        let result = self.advance(open);
        if result.is_err() {
            (self.state.stop, *open) = (Some(Stop::Failed), None);
        }
        result?;
        let is_waiting = matches!(self.state.stop, Some(Stop::Cut(_))) && self.state.is_open;
        Ok(if is_waiting { None } else { open.take() })
    }
}

impl<R: Read> Iterator for SegmentReader<R> {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Result<Record, ReadError>> {
        self.next_record().transpose()
    }
}

/// Reads magic, version and process name. The inner error describes an incomplete header.
fn read_header<R: Read>(input: &mut Buffer<R>) -> Result<Result<Arc<str>, String>, ReadError> {
    let wrong = |input: &Buffer<R>, at: u64, message: String| {
        Err(ReadError::Format(FormatError::new(Location::Part(input.part.clone(), at), message)))
    };
    let incomplete = || Ok(Err("the file ends inside the header".to_owned()));
    input.fill(MAGIC.len() + 2)?;
    let bytes = input.available();
    match bytes.first() {
        None => return Ok(Err("the file is empty".into())),
        Some(0) => return Ok(Err("no header has been published".into())),
        Some(_) => {}
    }
    let magic = &bytes[..bytes.len().min(MAGIC.len())];
    if !MAGIC.starts_with(magic) {
        return wrong(input, 0, "this is not a segment of a trace: it does not begin with the magic bytes".into());
    }
    let version_at = MAGIC.len();
    match bytes.get(version_at) {
        None => return incomplete(),
        Some(&VERSION) => {}
        Some(version) => {
            let message = format!("unsupported format version {version} (expected {VERSION})");
            return wrong(input, version_at as u64, message);
        }
    }
    let Some(&length) = bytes.get(version_at + 1) else { return incomplete() };
    let name_at = version_at + 2;
    let header = name_at + usize::from(length);
    input.fill(header)?;
    let Some(name) = input.available().get(name_at..header) else { return incomplete() };
    let Ok(name) = str::from_utf8(name) else {
        return wrong(input, name_at as u64, "the name of the process is not UTF-8".into());
    };
    let name = name.into();
    input.consume(header);
    Ok(Ok(name))
}

impl State {
    /// Decodes one record: begins an operation in the empty slot `last`, or changes the operation there.
    fn apply(&mut self, process: ProcessId, last: &mut Option<Record>, body: &mut Cursor<'_>) -> Result<(), Wrong> {
        match body.byte()? {
            kind::OPERATION => {
                let record = self.begin(process, last, body)?;
                self.count += 1;
                self.complete(record, body)
            }
            kind::CALL => {
                let record = self.begin(process, last, body)?;
                let args = record.call.schema().args.len();
                body.values(args, record.call.values_mut())?;
                self.is_open = true;
                self.count += 1;
                body.end()
            }
            kind::RETURN => self.finish(last, body, false),
            kind::FAIL => self.finish(last, body, true),
            kind::OUTCOME => self.replace(process, last, body),
            kind::BLOCKED => self.block(last, body),
            kind::UNKNOWN => self.give_up(last, body),
            kind::META => {
                if last.is_none() && self.count == 0 {
                    return Err(body.wrong("metadata before the first operation"));
                }
                while !body.is_empty() {
                    let note = (body.string()?.into(), body.value(0)?);
                    // A caller that follows a segment already has the operation.
                    if let Some(record) = last {
                        record.call.meta.push(note);
                    }
                }
                Ok(())
            }
            kind::ACTION => self.define(body),
            kind::EVENT => self.event(body),
            kind::END => {
                let count = body.varint()?;
                body.end()?;
                if count != self.count {
                    let message = format!("the segment was closed after {count} operations, but holds {}", self.count);
                    return Err(body.wrong(message));
                }
                self.stop = Some(Stop::Closed);
                Ok(())
            }
            unknown => Err(body.wrong(format!("unknown record kind {unknown}"))),
        }
    }

    /// Begins an operation: its action and its start. Arguments follow.
    #[inline(always)]
    fn begin<'a>(
        &mut self,
        process: ProcessId,
        last: &'a mut Option<Record>,
        body: &mut Cursor<'_>,
    ) -> Result<&'a mut Record, Wrong> {
        let number = body.varint()?;
        let defined = usize::try_from(number).ok().and_then(|index| self.actions.get(index)?.as_ref());
        let call = Call::without_values(defined.ok_or_else(|| unknown_action(body, number))?.schema.clone());
        self.number = number as usize;
        let start = self.timestamp(body)?;
        self.is_open = false;
        Ok(last.insert(Record { process, start, end: None.into(), call }))
    }

    /// Decodes the rest of an operation that returned, after its start.
    #[inline(always)]
    fn complete(&mut self, record: &mut Record, body: &mut Cursor<'_>) -> Result<(), Wrong> {
        self.settle(record);
        record.end = End::At(self.timestamp(body)?);
        let (args, results) = (record.call.schema().args.len(), record.call.schema().results.len());
        body.values(args, record.call.values_mut())?;
        if !body.is_empty() {
            body.values(results, record.call.values_mut())?;
        }
        body.end()
    }

    /// A call that ended without naming its outcome had the first.
    #[inline(always)]
    fn settle(&self, record: &mut Record) {
        if let Some(Some(Defined { first: Some(first), .. })) = self.actions.get(self.number) {
            record.call.settle(first);
        }
    }

    /// Decodes an outcome, which repeats all fields of the open call, and closes it. Its notes stay.
    #[inline(never)]
    fn replace(&mut self, process: ProcessId, last: &mut Option<Record>, body: &mut Cursor<'_>) -> Result<(), Wrong> {
        let record = last.as_mut().filter(|_| self.is_open);
        let record = record.ok_or_else(|| body.wrong("an outcome while no call is open"))?;
        let meta = mem::take(&mut record.call.meta);
        let record = self.begin(process, last, body)?;
        record.call.meta = meta;
        self.complete(record, body)
    }

    /// Decodes a return or a failure, which closes the open call.
    fn finish(&mut self, last: &mut Option<Record>, body: &mut Cursor<'_>, failed: bool) -> Result<(), Wrong> {
        let record = last.as_mut().filter(|_| self.is_open);
        let record = record.ok_or_else(|| body.wrong("a return or failure while no call is open"))?;
        self.is_open = false;
        self.settle(record);
        record.call.failed = failed;
        if !failed || !body.is_empty() {
            record.end = End::At(self.timestamp(body)?);
        }
        if !body.is_empty() {
            let results = record.call.schema().results.len();
            body.values(results, record.call.values_mut())?;
        }
        body.end()
    }

    /// Decodes that the outcome of the open call is unknown, and its latest time.
    fn give_up(&mut self, last: &mut Option<Record>, body: &mut Cursor<'_>) -> Result<(), Wrong> {
        let record = last.as_mut().filter(|_| self.is_open);
        let record = record.ok_or_else(|| body.wrong("an unknown outcome while no call is open"))?;
        self.is_open = false;
        record.end = End::Unknown { latest: Some(self.timestamp(body)?) };
        body.end()
    }

    /// Decodes that the open call is blocked at the end.
    fn block(&mut self, last: &mut Option<Record>, body: &mut Cursor<'_>) -> Result<(), Wrong> {
        let record = last.as_mut().filter(|_| self.is_open);
        let record = record.ok_or_else(|| body.wrong("a blocked operation while no call is open"))?;
        self.is_open = false;
        record.call.blocked = true;
        body.end()
    }

    /// Decodes an event. Its times are whole numbers, and those of operations do not depend on them.
    fn event(&mut self, body: &mut Cursor<'_>) -> Result<(), Wrong> {
        let (name, start) = (body.string()?.into(), body.varint()?);
        let end = match body.byte()? {
            0 => None,
            1 => match body.varint()? {
                end if end < start => return Err(body.wrong("an event that ends before it starts")),
                end => Some(end),
            },
            _ => return Err(body.wrong("an event whose end is neither there nor not")),
        };
        let event = Event { name, start, end, nodes: body.names()?, note: body.string()?.to_owned() };
        body.end()?;
        self.events.push(event);
        Ok(())
    }

    fn define(&mut self, body: &mut Cursor<'_>) -> Result<(), Wrong> {
        let number = body.varint()?;
        if number > MAX_ACTION {
            return Err(body.wrong(format!("action number {number} is larger than {MAX_ACTION}")));
        }
        let index = number as usize;
        if self.actions.len() <= index {
            self.actions.resize(index + 1, None);
        }
        if self.actions[index].is_some() {
            return Err(body.wrong(format!("action number {number} is defined twice")));
        }
        let schema = Schema { action: body.string()?.into(), args: body.names()?, results: body.names()? };
        body.end()?;
        let first = schema.first_outcome().map(Arc::new);
        self.actions[index] = Some(Defined { schema: Arc::new(schema), first });
        Ok(())
    }

    #[inline(always)]
    fn timestamp(&mut self, body: &mut Cursor<'_>) -> Result<u64, Wrong> {
        self.time = self.time.wrapping_add(body.signed()? as u64);
        Ok(self.time)
    }
}

#[cold]
fn unknown_action(body: &Cursor<'_>, number: u64) -> Wrong {
    body.wrong(format!("action number {number} is not defined"))
}

/// The error in a record, and its offset in the body. Boxed, because values are decoded in a hot loop.
type Wrong = Box<(usize, String)>;

/// A record body that is being decoded.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    #[cold]
    fn wrong(&self, message: impl Into<String>) -> Wrong {
        Box::new((self.at, message.into()))
    }

    fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn end(&self) -> Result<(), Wrong> {
        let rest = self.bytes.len() - self.at;
        if rest == 0 { Ok(()) } else { Err(self.wrong(format!("the record has {rest} bytes too many"))) }
    }

    #[inline(always)]
    fn byte(&mut self) -> Result<u8, Wrong> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.wrong("the record is too short"))?;
        self.at += 1;
        Ok(byte)
    }

    fn take(&mut self, count: u64) -> Result<&'a [u8], Wrong> {
        let rest = &self.bytes[self.at..];
        let taken = usize::try_from(count).ok().and_then(|count| rest.get(..count));
        let taken = taken.ok_or_else(|| self.wrong(format!("{count} bytes where the record has {}", rest.len())))?;
        self.at += taken.len();
        Ok(taken)
    }

    #[inline(always)]
    fn varint(&mut self) -> Result<u64, Wrong> {
        let [first, second, ..] = self.bytes[self.at..] else { return self.long_varint() };
        if first < 0x80 {
            self.at += 1;
            Ok(u64::from(first))
        } else if second < 0x80 {
            self.at += 2;
            Ok(u64::from(first & 0x7F) | u64::from(second) << 7)
        } else {
            self.long_varint()
        }
    }

    fn long_varint(&mut self) -> Result<u64, Wrong> {
        let mut number = 0;
        for (place, &byte) in self.bytes[self.at..].iter().enumerate() {
            if place == 9 && byte > 1 {
                return Err(self.wrong("a number of more than 64 bits"));
            }
            number |= u64::from(byte & 0x7F) << (7 * place);
            if byte < 0x80 {
                self.at += place + 1;
                return Ok(number);
            }
        }
        Err(self.wrong("the record ends inside a number"))
    }

    #[inline(always)]
    fn signed(&mut self) -> Result<i64, Wrong> {
        let number = self.varint()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn string(&mut self) -> Result<&'a str, Wrong> {
        let length = self.varint()?;
        self.text(length)
    }

    fn text(&mut self, length: u64) -> Result<&'a str, Wrong> {
        let bytes = self.take(length)?;
        str::from_utf8(bytes).map_err(|_| self.wrong("a string that is not UTF-8"))
    }

    fn names(&mut self) -> Result<Vec<Arc<str>>, Wrong> {
        (0..self.count()?).map(|_| self.string().map(Arc::from)).collect()
    }

    /// The number of elements that follow. Each takes at least one byte, so no count exceeds the rest of the record.
    fn count(&mut self) -> Result<usize, Wrong> {
        let (count, rest) = (self.varint()?, self.bytes.len() - self.at);
        let fits = usize::try_from(count).ok().filter(|count| *count <= rest);
        fits.ok_or_else(|| self.wrong(format!("{count} elements where the record has {rest} bytes")))
    }

    #[inline(always)]
    fn values(&mut self, count: usize, values: &mut SmallVec<[Value; 3]>) -> Result<(), Wrong> {
        for _ in 0..count {
            values.push(self.value(0)?);
        }
        Ok(())
    }

    #[inline(always)]
    fn value(&mut self, depth: usize) -> Result<Value, Wrong> {
        let first = self.byte()?;
        if i64::from(first) >= i64::from(tag::ZERO) + tag::MIN_SMALL_INT {
            return Ok(Value::Int(i64::from(first) - i64::from(tag::ZERO)));
        }
        if first == tag::INT {
            return Ok(Value::Int(self.signed()?));
        }
        self.other_value(first, depth)
    }

    fn other_value(&mut self, first: u8, depth: usize) -> Result<Value, Wrong> {
        match first {
            tag::NIL => Ok(Value::Nil),
            tag::FALSE => Ok(Value::Bool(false)),
            tag::TRUE => Ok(Value::Bool(true)),
            tag::FLOAT => {
                let bytes = self.take(8)?.try_into().expect("eight bytes were taken");
                Value::number(f64::from_le_bytes(bytes)).ok_or_else(|| self.wrong("a number that is not finite"))
            }
            tag::STR => Ok(Value::str(self.string()?)),
            tag::BIG => {
                let digits = self.string()?;
                Value::integer(digits).ok_or_else(|| self.wrong("the digits of an integer are something else"))
            }
            tag::TUPLE => Ok(Value::tuple(self.elements(depth)?)),
            tag::SET => Ok(Value::set(self.elements(depth)?)),
            tag::FUNCTION => {
                let count = self.nested_count(depth)?;
                let mut pairs = Vec::with_capacity(count.min(1024));
                for _ in 0..count {
                    pairs.push((self.value(depth + 1)?, self.value(depth + 1)?));
                }
                Value::function(pairs).ok_or_else(|| self.wrong("a function with two results for one argument"))
            }
            short if short >= tag::SHORT_STR => Ok(Value::str(self.text(u64::from(short - tag::SHORT_STR))?)),
            unknown => Err(self.wrong(format!("unknown value tag {unknown}"))),
        }
    }

    fn elements(&mut self, depth: usize) -> Result<Vec<Value>, Wrong> {
        let count = self.nested_count(depth)?;
        (0..count).map(|_| self.value(depth + 1)).collect()
    }

    fn nested_count(&mut self, depth: usize) -> Result<usize, Wrong> {
        if depth == MAX_DEPTH {
            return Err(self.wrong(format!("a value that is nested deeper than {MAX_DEPTH}")));
        }
        self.count()
    }
}

/// Bytes of the segment that have been read but not consumed.
#[derive(Debug)]
struct Buffer<R> {
    input: R,
    part: String,
    bytes: Vec<u8>,
    from: usize, // Invariant: from <= to <= bytes.len().
    to: usize,
    offset: u64, // Where `from` is in the segment.
    is_at_end: bool,
}

/// The size of reads: small at first, because a trace may have thousands of segments of a few records each.
const FIRST_BUFFER: usize = 1 << 10;
const BUFFER: usize = 1 << 16;

/// The contents where a record is expected.
enum Next {
    Record { prefix: usize, body: usize },
    Stop(String),
}

impl<R: Read + Seek> Buffer<R> {
    /// Forgets what was read after the last record: it may have been written since.
    fn look_again(&mut self) -> Result<(), ReadError> {
        let sought = self.input.seek(SeekFrom::Start(self.offset));
        sought.map_err(|source| ReadError::Io { part: self.part.clone(), source })?;
        (self.from, self.to, self.is_at_end) = (0, 0, false);
        Ok(())
    }
}

impl<R: Read> Buffer<R> {
    fn available(&self) -> &[u8] {
        &self.bytes[self.from..self.to]
    }

    fn consume(&mut self, count: usize) {
        self.from += count;
        self.offset += count as u64;
    }

    fn cut(&self, found: String) -> Cut {
        Cut { part: self.part.clone(), at_byte: self.offset, found }
    }

    /// Makes a whole record available, or says why that is impossible.
    #[inline]
    fn record(&mut self) -> Result<Next, ReadError> {
        if let Some(&length) = self.available().first() {
            let body = usize::from(length);
            if length != 0 && length != LONG && body < self.to - self.from {
                return Ok(Next::Record { prefix: 1, body });
            }
        }
        self.record_at_edge()
    }

    fn record_at_edge(&mut self) -> Result<Next, ReadError> {
        self.fill(5)?;
        let bytes = self.available();
        let (prefix, body) = match bytes.first() {
            None => return Ok(Next::Stop("the file ends, but the segment was not closed".into())),
            Some(0) => {
                let found = "no more records were published, and the segment was not closed";
                return Ok(Next::Stop(found.into()));
            }
            Some(&LONG) => match bytes.get(1..5) {
                Some(length) => (5, u32::from_le_bytes(length.try_into().expect("four bytes")) as usize),
                None => return Ok(Next::Stop("the file ends inside the length of a record".into())),
            },
            Some(&length) => (1, usize::from(length)),
        };
        if body == 0 || body > MAX_BODY {
            let message = format!("a record of {body} bytes, where 1 to {MAX_BODY} are allowed");
            return Err(FormatError::new(Location::Part(self.part.clone(), self.offset), message).into());
        }
        self.fill(prefix + body)?;
        let there = self.available().len();
        if there < prefix + body {
            let found = format!("the file ends inside a record, after {there} of {} bytes", prefix + body);
            return Ok(Next::Stop(found));
        }
        Ok(Next::Record { prefix, body })
    }

    /// Makes this many bytes available, or all that are left.
    fn fill(&mut self, count: usize) -> Result<(), ReadError> {
        if self.bytes.len() - self.from < count {
            if self.bytes.len() < BUFFER {
                self.bytes.resize(BUFFER, 0);
            }
            self.bytes.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
        }
        while self.to - self.from < count && !self.is_at_end {
            if self.to == self.bytes.len() {
                self.bytes.resize(self.bytes.len() * 2, 0);
            }
            match self.input.read(&mut self.bytes[self.to..]) {
                Ok(0) => self.is_at_end = true,
                Ok(read) => self.to += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(ReadError::Io { part: self.part.clone(), source }),
            }
        }
        Ok(())
    }

    /// Checks that only zeros follow, as in a file that was extended in advance.
    fn only_zeros(&mut self) -> Result<(), ReadError> {
        loop {
            if let Some(at) = self.available().iter().position(|byte| *byte != 0) {
                let at = Location::Part(self.part.clone(), self.offset + at as u64);
                return Err(FormatError::new(at, "the segment continues after its end record").into());
            }
            self.consume(self.to - self.from);
            self.fill(1)?;
            if self.available().is_empty() {
                return Ok(());
            }
        }
    }
}

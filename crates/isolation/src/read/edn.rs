//! The common form of Jepsen's histories in EDN, read without a tree: maps of keywords, and transactions over integers and plain
//! strings.
//!
//! A first pass finds the events and checks every token, a second one reads the micro-operations of each transaction in place. Anything
//! else, and anything wrong, ends both with `None`: then the general reader decides, and words the error. So this reader
//! accepts no history that the general one refuses, and reads it alike.

use omnilink_history::Value;
use rustc_hash::FxHashMap;

use crate::transactions::{Builder, Status};

/// A transaction and the bytes of its micro-operations.
struct Op {
    process: i64,
    start: u64,
    end: Option<u64>,
    status: Status,
    value: usize,
}

/// An event of a client.
struct Event<'a> {
    kind: &'a [u8],
    process: Option<i64>, // `None` for others than clients.
    f: &'a [u8],
    value: Option<usize>,
}

/// Reads a history, unless it needs the general reader.
pub(super) fn read(text: &str) -> Option<Builder> {
    let mut scan = Scan { bytes: text.as_bytes(), at: 0 };
    let ops = scan.operations()?;
    let mut builder = Builder::default();
    let mut elements: Vec<Value> = Vec::new();
    let mut processes: FxHashMap<i64, u32> = FxHashMap::default();
    for op in ops {
        let process = *processes.entry(op.process).or_insert_with(|| builder.process(&op.process.to_string()));
        builder.begin(process, Some((op.start, op.end)), op.status);
        scan.at = op.value;
        scan.micros(&mut builder, &mut elements)?;
    }
    Some(builder)
}

/// A place in a text.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            if !matches!(byte, b' ' | b',' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    fn eat(&mut self, wanted: u8) -> Option<()> {
        (self.peek()? == wanted).then(|| self.at += 1)
    }

    /// The keyword that is next, without its colon.
    fn keyword(&mut self) -> Option<&'a [u8]> {
        self.eat(b':')?;
        let rest = &self.bytes[self.at..];
        let is_name =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/' | b'?' | b'!');
        let len = rest.iter().position(|byte| !is_name(byte))?;
        self.at += len;
        (len > 0 && self.is_delimited()).then_some(&rest[..len])
    }

    /// True if a token ends here.
    fn is_delimited(&self) -> bool {
        let next = self.bytes.get(self.at);
        next.is_none_or(|byte| matches!(byte, b' ' | b',' | b'\n' | b'\r' | b'\t' | b']' | b'}' | b'[' | b'{'))
    }

    /// An integer of at most 18 digits.
    fn integer(&mut self) -> Option<i64> {
        let is_negative = self.peek()? == b'-';
        self.at += usize::from(is_negative);
        let start = self.at;
        let mut number = 0i64;
        while let Some(digit) = self.bytes.get(self.at).filter(|byte| byte.is_ascii_digit()) {
            number = number.wrapping_mul(10) + i64::from(digit - b'0');
            self.at += 1;
        }
        let len = self.at - start;
        let is_plain = (1..=18).contains(&len) && (len == 1 || self.bytes[start] != b'0');
        let is_zero = is_negative && number == 0;
        (is_plain && !is_zero && self.is_delimited()).then_some(if is_negative { -number } else { number })
    }

    /// A string without escapes.
    fn string(&mut self) -> Option<&'a str> {
        self.eat(b'"')?;
        let rest = &self.bytes[self.at..];
        let len = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        self.at += len;
        let text = std::str::from_utf8(&rest[..len]).ok()?;
        self.eat_now(b'"')?;
        self.is_delimited().then_some(text)
    }

    fn eat_now(&mut self, wanted: u8) -> Option<()> {
        (*self.bytes.get(self.at)? == wanted).then(|| self.at += 1)
    }

    fn nil(&mut self) -> Option<()> {
        self.bytes[self.at..].starts_with(b"nil").then(|| self.at += 3)?;
        self.is_delimited().then_some(())
    }

    /// Passes a number, a keyword, a string, nil, a truth value, or vectors of them.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0;
        loop {
            match self.peek()? {
                b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b']' if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                b'-' | b'0'..=b'9' => drop(self.integer()?),
                b':' => drop(self.keyword()?),
                b'"' => drop(self.string()?),
                b'n' => self.nil()?,
                b't' | b'f' => {
                    let rest = &self.bytes[self.at..];
                    let word: &[u8] = if rest[0] == b't' { b"true" } else { b"false" };
                    rest.starts_with(word).then(|| self.at += word.len())?;
                    self.is_delimited().then_some(())?;
                }
                _ => return None,
            }
            if depth == 0 {
                return Some(());
            }
            // The depth that the general reader allows is larger.
            (depth < 64).then_some(())?;
        }
    }

    fn event(&mut self, names: &mut Vec<&'a [u8]>) -> Option<Event<'a>> {
        self.eat(b'{')?;
        names.clear();
        let (mut kind, mut process, mut f, mut value) = (None, None, None, None);
        while self.peek()? != b'}' {
            let name = self.keyword()?;
            if names.contains(&name) {
                return None;
            }
            names.push(name);
            match name {
                b"type" => {
                    self.peek()?;
                    kind = Some(self.keyword()?);
                }
                b"process" => {
                    process = Some(match self.peek()? {
                        b':' => self.keyword().map(|_| None)?,
                        _ => Some(self.integer()?),
                    });
                }
                b"f" => {
                    self.peek()?;
                    f = Some(self.keyword()?);
                }
                b"value" => {
                    let is_vector = self.peek()? == b'[';
                    value = Some(self.at).filter(|_| is_vector);
                    self.skip()?;
                }
                _ => self.skip()?,
            }
        }
        self.at += 1;
        Some(Event { kind: kind?, process: process?, f: f?, value })
    }

    /// The transactions in the order in which they were invoked.
    fn operations(&mut self) -> Option<Vec<Op>> {
        let close = match self.peek()? {
            b'[' => Some(b']'),
            b'(' => Some(b')'),
            _ => None,
        };
        self.at += usize::from(close.is_some());
        let mut ops: Vec<Op> = Vec::new();
        let mut open: FxHashMap<i64, usize> = FxHashMap::default();
        let mut names = Vec::new();
        let mut time = 0;
        while self.peek() == Some(b'{') {
            let event = self.event(&mut names)?;
            time += 1;
            let Some(process) = event.process else {
                matches!(event.kind, b"invoke" | b"ok" | b"fail" | b"info").then_some(())?;
                continue;
            };
            if event.f != b"txn" {
                return None;
            }
            let at = time - 1;
            match event.kind {
                b"invoke" => {
                    let op = Op { process, start: at, end: None, status: Status::Unknown, value: event.value? };
                    if open.insert(process, ops.len()).is_some() {
                        return None;
                    }
                    ops.push(op);
                }
                b"ok" => {
                    let op = &mut ops[open.remove(&process)?];
                    (op.end, op.status, op.value) = (Some(at), Status::Committed, event.value?);
                }
                b"fail" => {
                    let op = &mut ops[open.remove(&process)?];
                    (op.end, op.status) = (Some(at), Status::Aborted);
                }
                b"info" => drop(open.remove(&process)?),
                _ => return None,
            }
        }
        if let Some(close) = close {
            self.eat(close)?;
        }
        (self.peek().is_none() && !ops.is_empty()).then_some(ops)
    }

    fn value(&mut self) -> Option<Value> {
        match self.peek()? {
            b'"' => self.string().map(Value::str),
            b'n' => self.nil().map(|()| Value::Nil),
            _ => self.integer().map(Value::Int),
        }
    }

    fn micros(&mut self, builder: &mut Builder, elements: &mut Vec<Value>) -> Option<()> {
        self.eat(b'[')?;
        while self.peek()? == b'[' {
            self.at += 1;
            self.peek()?;
            let kind = self.keyword()?;
            let key = self.value()?;
            match kind {
                b"r" if self.peek()? == b'[' => {
                    self.at += 1;
                    elements.clear();
                    while self.peek()? != b']' {
                        elements.push(self.value()?);
                    }
                    self.at += 1;
                    builder.read_list(&key, &*elements);
                }
                b"r" => builder.read(&key, &self.value()?),
                b"w" => builder.write(&key, &self.value()?),
                b"append" => builder.append(&key, &self.value()?),
                _ => return None,
            }
            self.eat(b']')?;
        }
        self.eat(b']')
    }
}

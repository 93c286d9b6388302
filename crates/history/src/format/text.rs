//! Text for tests and for people: one operation per line, as operations print.
//!
//! ```text
//! T0 [1 4] write(1)
//! T1 [2 3] read() = 1
//! w [5 ...] put(key: 1, value: "a")
//! v [5 ..9] put(key: 1, value: "a")
//! ```
//!
//! The reader is a cursor over one line that never goes back further than one token, and recurses only into nested
//! values, at most [`MAX_DEPTH`] deep. A text that breaks off may look complete, so this format has no cuts.

use std::io::Write;
use std::sync::Arc;
use std::{fmt, str};

use crate::format::error::{FormatError, Location};
use crate::format::own::{BLOCKED_BUT, FAILED_BY, MAX_DEPTH, WriteError, is_skipped};
use crate::format::reader::{TraceReader, first_line};
use crate::format::schemas::{Fields, Schemas};
use crate::op::Word;
use crate::{BadNumber, End, Halt, Record, Trace, Value};

/// Reads a trace. Empty lines and lines that begin with `//` or `#` are skipped.
pub fn read(bytes: &[u8]) -> Result<Trace, FormatError> {
    Text.read(bytes, &Halt::default())
}

/// The reader of whole files.
pub(super) struct Text;

impl TraceReader for Text {
    fn detect(&self, first_bytes: &[u8]) -> bool {
        let line = first_line(first_bytes);
        let mut cursor = Cursor { line, rest: line };
        cursor.process().is_ok() && cursor.times().is_ok()
    }

    fn read(&self, bytes: &[u8], halt: &Halt) -> Result<Trace, FormatError> {
        let mut trace = Trace::default();
        let mut schemas = Schemas::default();
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if halt.is_raised() {
                break;
            }
            let wrong = |message| FormatError::new(Location::Line(index + 1), message);
            let line = str::from_utf8(line).map_err(|_| wrong("not UTF-8".to_owned()))?.trim();
            if is_skipped(line.as_bytes()) {
                continue;
            }
            let mut cursor = Cursor { line, rest: line };
            let record = cursor.record(&mut trace, &mut schemas).map_err(wrong)?;
            trace.records.push(record);
        }
        Ok(trace)
    }
}

/// Writes a trace, one operation per line.
pub fn write(trace: &Trace, mut out: impl Write) -> Result<(), WriteError> {
    for record in &trace.records {
        let Record { process, start, end, call } = record;
        let unwritable = |why| Err(WriteError::Unwritable { call: call.to_string(), why });
        if end.is_unknown() && !call.results().is_empty() {
            return unwritable("it has results but no end".into());
        }
        if call.failed && matches!(end, End::Unknown { latest: Some(_) }) {
            return unwritable(FAILED_BY.into());
        }
        if call.blocked && (call.failed || !call.results().is_empty()) {
            return unwritable(BLOCKED_BUT.into());
        }
        let end = if call.blocked { &End::Unknown { latest: None } } else { end };
        let mut values = call.args().iter().chain(call.results()).chain(call.meta.iter().map(|(_, value)| value));
        if !values.all(|value| is_shallow(value, MAX_DEPTH)) {
            return unwritable(too_deep());
        }
        write!(out, "{} [{start} {end}] {call}", Process(&trace.processes[process.index()]))?;
        for (index, (name, value)) in call.meta.iter().enumerate() {
            write!(out, "{}{}: {value}", if index == 0 { " | " } else { ", " }, Word(name))?;
        }
        writeln!(out)?;
    }
    Ok(out.flush()?)
}

/// Prints the name of a process: `T3` if it is a number, and quoted if it is ambiguous.
struct Process<'a>(&'a str);

impl fmt::Display for Process<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_number(self.0) {
            write!(f, "T{}", self.0)
        } else if self.0.strip_prefix('T').is_some_and(is_number) {
            write!(f, "{:?}", self.0)
        } else {
            write!(f, "{}", Word(self.0))
        }
    }
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_shallow(value: &Value, depth: usize) -> bool {
    let below = |inner: &Value| depth > 0 && is_shallow(inner, depth - 1);
    match value {
        Value::Tuple(elements) => depth > 0 && elements.iter().all(below),
        Value::Set(set) => depth > 0 && set.elements().iter().all(below),
        Value::Function(function) => function.pairs().iter().all(|(argument, result)| below(argument) && below(result)),
        _ => true,
    }
}

fn too_deep() -> String {
    format!("a value is nested deeper than {MAX_DEPTH}")
}

/// The part of a line that has not been read.
struct Cursor<'a> {
    line: &'a str,
    rest: &'a str,
}

type Parsed<T> = Result<T, String>;

impl<'a> Cursor<'a> {
    fn record(&mut self, trace: &mut Trace, schemas: &mut Schemas) -> Parsed<Record> {
        let process = self.process()?;
        let (start, end) = self.times()?;
        let action = self.name("an action")?;
        self.expect("(")?;
        let args = self.fields(")")?;
        let results = if self.eat("=") { self.fields("")? } else { Fields::new() };
        if end.is_unknown() && !results.is_empty() {
            return Err("an unfinished operation has no results".into());
        }
        let blocked = self.eat("blocked");
        if blocked && end != (End::Unknown { latest: None }) {
            return Err("a blocked operation has no end: write `...`".into());
        }
        let failed = self.eat("failed");
        if blocked && failed {
            return Err(BLOCKED_BUT.into());
        }
        if failed && matches!(end, End::Unknown { latest: Some(_) }) {
            return Err("a failed operation cannot have an unknown outcome".into());
        }
        let meta = if self.eat("|") { self.fields("")? } else { Fields::new() };
        if !self.rest.is_empty() {
            return Err(self.expected("the end of the line"));
        }
        let mut call = schemas.call(&action, args, results);
        (call.failed, call.blocked) = (failed, blocked);
        call.meta = meta.into();
        Ok(Record { process: schemas.process(trace, &process), start, end, call })
    }

    fn process(&mut self) -> Parsed<String> {
        let is_quoted = self.rest.starts_with('"');
        let name = self.name("a process")?;
        let number = name.strip_prefix('T').filter(|number| !is_quoted && is_number(number));
        Ok(number.map(str::to_owned).unwrap_or(name))
    }

    fn times(&mut self) -> Parsed<(u64, End)> {
        self.expect("[")?;
        let start = self.time()?;
        let end = if self.eat("...") {
            End::Unknown { latest: None }
        } else if self.eat("..") {
            End::Unknown { latest: Some(self.time()?) }
        } else {
            End::At(self.time()?)
        };
        self.expect("]")?;
        Ok((start, end))
    }

    fn time(&mut self) -> Parsed<u64> {
        let digits = self.take_while(|c| c.is_ascii_digit());
        digits.parse().map_err(|_| match digits {
            "" => self.expected("a time"),
            _ => format!("the time `{digits}` has more than 64 bits"),
        })
    }

    /// Values with or without names, separated by commas, up to the closing text; at least one if `close` is empty.
    fn fields(&mut self, close: &str) -> Parsed<Fields> {
        let mut fields = Fields::new();
        if !close.is_empty() && self.eat(close) {
            return Ok(fields);
        }
        loop {
            let name = self.field_name()?;
            fields.push((name, self.value(0)?));
            if self.eat(",") {
                continue;
            }
            return if close.is_empty() { Ok(fields) } else { self.expect(close).map(|()| fields) };
        }
    }

    /// The name before a colon, or the empty name if a value follows.
    fn field_name(&mut self) -> Parsed<Arc<str>> {
        let before = self.rest;
        if self.rest.starts_with('"') || self.rest.starts_with(Word::contains) {
            let name = self.name("a name")?;
            if self.eat(":") {
                return Ok(name.into());
            }
        }
        self.rest = before;
        Ok("".into())
    }

    fn value(&mut self, depth: usize) -> Parsed<Value> {
        let is_nested = self.rest.starts_with(['<', '{', '[', '(']);
        if is_nested && depth == MAX_DEPTH {
            return Err(too_deep());
        }
        if self.rest.starts_with('"') {
            Ok(Value::str(self.string()?))
        } else if self.eat("<<") {
            Ok(Value::tuple(self.elements(">>", depth)?))
        } else if self.eat("{") {
            Ok(Value::set(self.elements("}", depth)?))
        } else if self.eat("[") {
            let pairs = self.pairs(|cursor| cursor.name("a field").map(Value::str), "|->", ",", "]", depth)?;
            Value::function(pairs).ok_or_else(|| "a record has a field twice".into())
        } else if self.eat("(") {
            let pairs = self.pairs(|cursor| cursor.value(depth + 1), ":>", "@@", ")", depth)?;
            Value::function(pairs).ok_or_else(|| "a function has two results for one argument".into())
        } else {
            self.scalar()
        }
    }

    fn elements(&mut self, close: &str, depth: usize) -> Parsed<Vec<Value>> {
        let mut elements = Vec::new();
        if self.eat(close) {
            return Ok(elements);
        }
        loop {
            elements.push(self.value(depth + 1)?);
            if !self.eat(",") {
                return self.expect(close).map(|()| elements);
            }
        }
    }

    fn pairs(
        &mut self,
        mut argument: impl FnMut(&mut Self) -> Parsed<Value>,
        arrow: &str,
        comma: &str,
        close: &str,
        depth: usize,
    ) -> Parsed<Vec<(Value, Value)>> {
        let mut pairs = Vec::new();
        loop {
            let argument = argument(self)?;
            self.expect(arrow)?;
            pairs.push((argument, self.value(depth + 1)?));
            if !self.eat(comma) {
                return self.expect(close).map(|()| pairs);
            }
        }
    }

    fn scalar(&mut self) -> Parsed<Value> {
        let before = self.rest;
        let word = self.take_while(Word::contains);
        let value = match word {
            "nil" => Some(Value::Nil),
            "TRUE" => Some(Value::Bool(true)),
            "FALSE" => Some(Value::Bool(false)),
            _ if word.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => match Value::parse_number(word) {
                Ok(number) => Some(number),
                Err(BadNumber::Malformed(_)) => None,
                Err(error) => return Err(error.to_string()),
            },
            _ => None,
        };
        value.ok_or_else(|| {
            self.rest = before;
            self.expected("a value")
        })
    }

    /// A word, or a string in quotes.
    fn name(&mut self, what: &str) -> Parsed<String> {
        if self.rest.starts_with('"') {
            return self.string();
        }
        match self.take_while(Word::contains) {
            "" => Err(self.expected(what)),
            word => Ok(word.to_owned()),
        }
    }

    /// A string in quotes, with the same escapes as printed strings.
    fn string(&mut self) -> Parsed<String> {
        let mut text = String::new();
        let mut chars = self.rest.chars();
        chars.next();
        loop {
            match chars.next() {
                Some('"') => break,
                Some('\\') => {
                    let escaped = match chars.next() {
                        Some('n') => Some('\n'),
                        Some('r') => Some('\r'),
                        Some('t') => Some('\t'),
                        Some('0') => Some('\0'),
                        Some('u') => {
                            let code = chars.as_str().strip_prefix('{').and_then(|rest| rest.split_once('}'));
                            code.and_then(|(code, rest)| {
                                chars = rest.chars();
                                char::from_u32(u32::from_str_radix(code, 16).ok()?)
                            })
                        }
                        other => other.filter(|c| matches!(c, '"' | '\\' | '\'')),
                    };
                    text.push(escaped.ok_or_else(|| "a string has an unknown escape".to_owned())?);
                }
                Some(c) => text.push(c),
                None => return Err(format!("the string `{}` is not closed", self.rest)),
            }
        }
        self.rest = chars.as_str().trim_start();
        Ok(text)
    }

    fn take_while(&mut self, holds: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !holds(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        taken
    }

    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.map_or(self.rest, str::trim_start);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    fn expected(&self, what: &str) -> String {
        if self.rest.is_empty() {
            return format!("expected {what} at the end of the line");
        }
        let column = self.line[..self.line.len() - self.rest.len()].chars().count() + 1;
        format!("expected {what} at column {column}, found `{}`", self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> String {
        match read(text.as_bytes()) {
            Ok(trace) => {
                let mut written = Vec::new();
                write(&trace, &mut written).unwrap();
                String::from_utf8(written).unwrap()
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn operations_read_as_they_print() {
        let text = r#"T0 [1 4] write(1)
T1 [2 3] read() = 1
w [5 ...] put(key: 1, value: "a")
v [5 ..9] put(key: 1, value: "a")
w [5 6] put(key: 1, "b c": nil) = ok: TRUE, -7 failed | node: "n1", "a b": 1.5
"T0" [7 7] do-it!(<<>>, <<1, {2, 3}>>, [a |-> 1, b |-> {}], (1 :> 2 @@ 3 :> 4), "q\"\n\u{7f}é") = 100000000000000000000
"#;
        assert_eq!(check(text), text);
        assert_eq!(
            check("\n # no\n // no\n  T007[1   2]f( 1,x :{2,1 ,2} )=nil\r\n"),
            "T007 [1 2] f(1, x: {1, 2}) = nil\n"
        );
    }

    #[test]
    fn invalid_operations_are_rejected() {
        let deep = format!("T0 [3 4] f({}", "<<".repeat(33));
        let texts = [
            "T0 [1 2] f()\nT0 [3 x] f()",
            "(T0) [3 4] f()",
            "T0 3 4 f()",
            "T0 [3 99999999999999999999] f()",
            "T0 [3 4] f(1",
            "T0 [3 4] f(1,)",
            "T0 [3 4] f(true)",
            "T0 [3 4] f() =",
            "T0 [3 4] f() = 1 2",
            "T0 [3 ...] f() = 1",
            "T0 [3 ..4] f() = 1",
            "T0 [3 ..4] f() failed",
            "T0 [3 ..] f()",
            "T0 [3 4] f(\"a)",
            r#"T0 [3 4] f("\q")"#,
            "T0 [3 4] f((1 :> 2 @@ 1 :> 3))",
            "T0 [3 4] f([a |-> 2, a |-> 3])",
            "T0 [3 4] f(inf)",
            &deep,
        ];
        insta::assert_snapshot!(texts.map(check).join("\n"), @r#"
        line 2: expected a time at column 7, found `x] f()`
        line 1: expected a process at column 1, found `(T0) [3 4] f()`
        line 1: expected `[` at column 4, found `3 4 f()`
        line 1: the time `99999999999999999999` has more than 64 bits
        line 1: expected `)` at the end of the line
        line 1: expected a value at column 14, found `)`
        line 1: expected a value at column 12, found `true)`
        line 1: expected a value at the end of the line
        line 1: expected the end of the line at column 18, found `2`
        line 1: an unfinished operation has no results
        line 1: an unfinished operation has no results
        line 1: a failed operation cannot have an unknown outcome
        line 1: expected a time at column 9, found `] f()`
        line 1: the string `"a)` is not closed
        line 1: a string has an unknown escape
        line 1: a function has two results for one argument
        line 1: a record has a field twice
        line 1: expected a value at column 12, found `inf)`
        line 1: a value is nested deeper than 32
        "#);
    }
}

//! Scripts: the calls of a run as a text, one a line.
//!
//! ```text
//! omnilink-script 1
//! T0 Enqueue elem=1
//! T1 Dequeue
//! ```
//!
//! A line has the number of a thread, the name of a call, and its arguments with values in JSON: `null`, `true`, integers of
//! 64 bits, strings and lists. Only the order of the lines of one thread counts. Empty lines and lines that begin with `#`
//! are skipped.
//!
//! A harness whose calls are [`Scripted`] writes the calls of each run to the file `script` of the trace, and makes those
//! of the script that `OMNILINK_SCRIPT` names instead of drawing some; see [`run_calls`](crate::drive::run_calls).
//!
//! Strings and lists of a script are never freed: arguments live as long as the program, and so may literals of one.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::control::Hooks;
use crate::recorder::json_string;

/// The first line of a script.
const HEADER: &str = "omnilink-script 1";

/// Lists nest at most this deep.
const DEEPEST: usize = 32;

/// A call with its arguments that a script can name. Generated harnesses implement it.
pub trait Scripted: Copy + Send {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// If it names another call, or lacks an argument.
    fn read(line: &mut Line) -> Result<Self, BadLine>;

    /// Writes itself to an empty line.
    fn write(self, line: &mut Line);
}

/// A call in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    call: String,
    arguments: Vec<(String, Value)>,
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The absence of a value: `null`.
    Nil,
    /// `true` or `false`.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A string.
    String(String),
    /// A list.
    List(Vec<Value>),
}

/// A type of arguments.
pub trait Argument: Copy + 'static {
    /// The value in this type, if it has one.
    fn of(value: Value) -> Option<Self>;

    /// The value.
    fn value(self) -> Value;

    /// The name of the type: `an integer`.
    fn kind() -> String;
}

/// Why a line cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine(pub String);

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadLine {}

impl Line {
    /// The name of the call.
    pub fn call(&self) -> &str {
        &self.call
    }

    /// Names the call.
    pub fn set_call(&mut self, call: &str) {
        self.call = call.to_owned();
    }

    /// Adds an argument.
    pub fn add(&mut self, name: &str, value: impl Argument) {
        self.arguments.push((name.to_owned(), value.value()));
    }

    /// Takes an argument out of the line.
    ///
    /// # Errors
    ///
    /// If it is missing, or of another type.
    pub fn take<A: Argument>(&mut self, name: &str) -> Result<A, BadLine> {
        let place = self.arguments.iter().position(|(known, _)| known == name);
        let place = place.ok_or_else(|| BadLine(format!("`{}` needs the argument `{name}`", self.call)))?;
        let (_, value) = self.arguments.remove(place);
        let text = value.to_string();
        A::of(value).ok_or_else(|| BadLine(format!("expected {} as `{name}`, found `{text}`", A::kind())))
    }

    /// The error for a call that has none of these names.
    pub fn unknown(&self, calls: &[&str]) -> BadLine {
        BadLine(format!("unrecognized call `{}` (expected `{}`)", self.call, calls.join("`, `")))
    }

    /// Reads the part of a line behind the thread.
    fn parse(text: &str) -> Result<Line, BadLine> {
        let (call, mut rest) = split_word(text);
        let mut line = Line { call: call.to_owned(), arguments: Vec::new() };
        while !rest.is_empty() {
            let split =
                rest.split_once('=').filter(|(name, _)| !name.is_empty() && !name.contains(char::is_whitespace));
            let (name, after) =
                split.ok_or_else(|| BadLine(format!("expected an argument such as `key=1`, found `{rest}`")))?;
            let mut reader = Reader { rest: after };
            let value = reader.value(0)?;
            if !reader.rest.is_empty() && !reader.rest.starts_with(char::is_whitespace) {
                return Err(BadLine(format!("expected a space after `{name}={value}`, found `{}`", reader.rest)));
            }
            if line.arguments.iter().any(|(known, _)| known == name) {
                return Err(BadLine(format!("`{name}` occurs twice")));
            }
            line.arguments.push((name.to_owned(), value));
            rest = reader.rest.trim_start();
        }
        Ok(line)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.call)?;
        self.arguments.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}

/// In JSON.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Nil => f.write_str("null"),
            Value::Boolean(truth) => write!(f, "{truth}"),
            Value::Integer(number) => write!(f, "{number}"),
            Value::String(text) => f.write_str(&json_string(text)),
            Value::List(elements) => {
                let elements: Vec<String> = elements.iter().map(Value::to_string).collect();
                write!(f, "[{}]", elements.join(", "))
            }
        }
    }
}

/// The calls of each thread, by thread.
pub(crate) type Calls<C> = Vec<(usize, Vec<C>)>;

/// Reads a script.
pub(crate) fn read<C: Scripted>(text: &str) -> Result<Calls<C>, BadLine> {
    let at = |number: usize, BadLine(message)| BadLine(format!("line {}: {message}", number + 1));
    let mut lines = text.lines().enumerate();
    match lines.next() {
        Some((_, HEADER)) => {}
        found => {
            let found = found.map_or("", |(_, line)| line);
            return Err(at(0, BadLine(format!("expected `{HEADER}`, found `{found}`"))));
        }
    }
    let mut calls: Calls<C> = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#')) {
        let (thread, call) = read_line(line).map_err(|error| at(number, error))?;
        match calls.iter_mut().find(|(known, _)| *known == thread) {
            Some((_, of)) => of.push(call),
            None => calls.push((thread, vec![call])),
        }
    }
    // Threads are created in the order of their numbers, whatever the order of the lines.
    calls.sort_by_key(|(thread, _)| *thread);
    Ok(calls)
}

fn read_line<C: Scripted>(line: &str) -> Result<(usize, C), BadLine> {
    let (thread, call) = split_word(line.trim());
    let number = thread.strip_prefix('T').and_then(|number| number.parse().ok());
    let number = number.ok_or_else(|| BadLine(format!("expected a thread such as `T0`, found `{thread}`")))?;
    let mut line = Line::parse(call)?;
    let call = C::read(&mut line)?;
    match line.arguments.first() {
        Some((name, _)) => Err(BadLine(format!("`{}` has no argument `{name}`", line.call))),
        None => Ok((number, call)),
    }
}

/// The first word, and the rest without the space between.
fn split_word(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

/// A call as a line of a script.
fn line_of<C: Scripted>(thread: usize, call: C) -> String {
    let mut line = Line::default();
    call.write(&mut line);
    format!("T{thread} {line}\n")
}

/// Reads values in JSON from the beginning of a text.
struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<Value, BadLine> {
        for (word, value) in [("null", Value::Nil), ("true", Value::Boolean(true)), ("false", Value::Boolean(false))] {
            if self.skip(word) {
                return Ok(value);
            }
        }
        if self.skip("\"") {
            return self.string();
        }
        if self.skip("[") {
            return self.list(depth + 1);
        }
        let end = self.rest.find(|c: char| c != '-' && !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        match number.parse() {
            Ok(number) => {
                self.rest = rest;
                Ok(Value::Integer(number))
            }
            Err(_) => Err(self.unexpected("a value in JSON, with integers of 64 bits")),
        }
    }

    fn skip(&mut self, word: &str) -> bool {
        let rest = self.rest.strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn unexpected(&self, expected: &str) -> BadLine {
        BadLine(format!("expected {expected}, found `{}`", self.rest))
    }

    fn list(&mut self, depth: usize) -> Result<Value, BadLine> {
        if depth > DEEPEST {
            return Err(BadLine(format!("lists nest deeper than {DEEPEST}")));
        }
        let mut elements = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if elements.is_empty() && self.skip("]") {
                return Ok(Value::List(elements));
            }
            elements.push(self.value(depth)?);
            self.rest = self.rest.trim_start();
            if self.skip("]") {
                return Ok(Value::List(elements));
            }
            if !self.skip(",") {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
    }

    /// The rest of a string, behind its first quote.
    fn string(&mut self) -> Result<Value, BadLine> {
        let mut text = String::new();
        loop {
            let end = self.rest.find(['"', '\\']);
            let end = end.ok_or_else(|| BadLine("a string without its last `\"`".to_owned()))?;
            text.push_str(&self.rest[..end]);
            let is_over = self.rest[end..].starts_with('"');
            self.rest = &self.rest[end + 1..];
            if is_over {
                return Ok(Value::String(text));
            }
            text.push(self.escaped()?);
        }
    }

    /// A character behind a backslash.
    fn escaped(&mut self) -> Result<char, BadLine> {
        if self.skip("u") {
            let first = self.unit()?;
            let is_half = (0xD800..0xDC00).contains(&first) && self.rest.starts_with("\\u");
            let mut units = vec![first];
            if is_half {
                self.rest = &self.rest[2..];
                units.push(self.unit()?);
            }
            let decoded = char::decode_utf16(units).next().and_then(Result::ok);
            return decoded.ok_or_else(|| BadLine("half of a surrogate pair in a string".to_owned()));
        }
        let plain = [
            ('"', '"'),
            ('\\', '\\'),
            ('/', '/'),
            ('b', '\u{8}'),
            ('f', '\u{c}'),
            ('n', '\n'),
            ('r', '\r'),
            ('t', '\t'),
        ];
        let found = plain.iter().find(|(name, _)| self.rest.starts_with(*name));
        let (_, character) = *found.ok_or_else(|| self.unexpected("an escape such as `\\n`"))?;
        self.rest = &self.rest[1..];
        Ok(character)
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Result<u16, BadLine> {
        let digits = self.rest.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.unexpected("four hexadecimal digits"))?;
        self.rest = &self.rest[4..];
        Ok(unit)
    }
}

impl Argument for bool {
    fn of(value: Value) -> Option<bool> {
        match value {
            Value::Boolean(truth) => Some(truth),
            _ => None,
        }
    }

    fn value(self) -> Value {
        Value::Boolean(self)
    }

    fn kind() -> String {
        "`true` or `false`".to_owned()
    }
}

impl Argument for i64 {
    fn of(value: Value) -> Option<i64> {
        match value {
            Value::Integer(number) => Some(number),
            _ => None,
        }
    }

    fn value(self) -> Value {
        Value::Integer(self)
    }

    fn kind() -> String {
        "an integer".to_owned()
    }
}

impl Argument for &'static str {
    fn of(value: Value) -> Option<&'static str> {
        match value {
            Value::String(text) => Some(Box::leak(text.into_boxed_str())),
            _ => None,
        }
    }

    fn value(self) -> Value {
        Value::String(self.to_owned())
    }

    fn kind() -> String {
        "a string".to_owned()
    }
}

impl<T: Argument> Argument for &'static [T] {
    fn of(value: Value) -> Option<&'static [T]> {
        match value {
            Value::List(elements) => {
                let elements: Vec<T> = elements.into_iter().map(T::of).collect::<Option<_>>()?;
                Some(Box::leak(elements.into_boxed_slice()))
            }
            _ => None,
        }
    }

    fn value(self) -> Value {
        Value::List(self.iter().map(|element| element.value()).collect())
    }

    fn kind() -> String {
        format!("a list with {} as each element", T::kind())
    }
}

impl<T: Argument> Argument for Option<T> {
    fn of(value: Value) -> Option<Option<T>> {
        match value {
            Value::Nil => Some(None),
            other => T::of(other).map(Some),
        }
    }

    fn value(self) -> Value {
        self.map_or(Value::Nil, Argument::value)
    }

    fn kind() -> String {
        format!("{} or `null`", T::kind())
    }
}

/// Writes the calls of a run to its script.
///
/// Under control each line is written before the call, so that the script survives any end of the program; that is no step.
/// Threads that run freely would meet at the file, so they keep their calls until they end.
#[derive(Debug)]
pub(crate) struct Writer<C: Scripted> {
    file: File,
    hooks: Option<Hooks>, // If the program is under control.
    /// The calls of threads that have ended.
    calls: Mutex<Calls<C>>,
}

/// The calls of one thread, which are passed on when it ends, also by a panic.
#[derive(Debug)]
pub(crate) struct Made<'a, C: Scripted> {
    writer: &'a Writer<C>,
    thread: usize,
    calls: Vec<C>,
}

impl<C: Scripted> Writer<C> {
    /// Creates the file `script` in the directory of a trace.
    pub(crate) fn create(trace: &Path, hooks: Option<Hooks>) -> io::Result<Writer<C>> {
        let path = trace.join("script");
        let at = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        // There may be the script of a run whose segments were removed.
        File::create(&path).map_err(at)?;
        let file = OpenOptions::new().append(true).open(&path).map_err(at)?;
        (&file).write_all(format!("{HEADER}\n").as_bytes()).map_err(at)?;
        Ok(Writer { file, hooks, calls: Mutex::default() })
    }

    /// Begins the calls of a thread.
    pub(crate) fn thread(&self, thread: usize) -> Made<'_, C> {
        Made { writer: self, thread, calls: Vec::new() }
    }

    /// Writes the calls of the threads that ended.
    pub(crate) fn finish(&self) -> io::Result<()> {
        let mut calls = std::mem::take(&mut *self.calls.lock().unwrap_or_else(PoisonError::into_inner));
        calls.sort_by_key(|(thread, _)| *thread);
        let text: String =
            calls.iter().flat_map(|(thread, of)| of.iter().map(move |call| line_of(*thread, *call))).collect();
        (&self.file).write_all(text.as_bytes())
    }
}

impl<C: Scripted> Drop for Writer<C> {
    fn drop(&mut self) {
        // A thread panicked: the caller gets that error.
        let _ = self.finish();
    }
}

impl<C: Scripted> Made<'_, C> {
    /// Adds a call that is about to be made.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    pub(crate) fn add(&mut self, call: C) {
        let write = || (&self.writer.file).write_all(line_of(self.thread, call).as_bytes());
        match self.writer.hooks {
            None => self.calls.push(call),
            Some(hooks) => {
                if let Err(error) = hooks.apart(write) {
                    panic!("the script of the run cannot be written: {error}");
                }
            }
        }
    }
}

impl<C: Scripted> Drop for Made<'_, C> {
    fn drop(&mut self) {
        if !self.calls.is_empty() {
            let calls = (self.thread, std::mem::take(&mut self.calls));
            self.writer.calls.lock().unwrap_or_else(PoisonError::into_inner).push(calls);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call with an argument of each type.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Input {
        Put { key: i64, text: &'static str, list: &'static [i64], flag: bool, maybe: Option<i64> },
        Get,
    }

    impl Scripted for Input {
        fn read(line: &mut Line) -> Result<Input, BadLine> {
            Ok(match line.call() {
                "Put" => Input::Put {
                    key: line.take("key")?,
                    text: line.take("text")?,
                    list: line.take("list")?,
                    flag: line.take("flag")?,
                    maybe: line.take("maybe")?,
                },
                "Get" => Input::Get,
                _ => return Err(line.unknown(&["Put", "Get"])),
            })
        }

        fn write(self, line: &mut Line) {
            match self {
                Input::Put { key, text, list, flag, maybe } => {
                    line.set_call("Put");
                    line.add("key", key);
                    line.add("text", text);
                    line.add("list", list);
                    line.add("flag", flag);
                    line.add("maybe", maybe);
                }
                Input::Get => line.set_call("Get"),
            }
        }
    }

    fn put(text: &'static str, list: &'static [i64], maybe: Option<i64>) -> Input {
        Input::Put { key: i64::MIN, text, list, flag: true, maybe }
    }

    #[test]
    fn calls_are_read_as_they_are_written() {
        let calls = [put("", &[], None), put("a b=\"c\" \\ # \n \u{1} é 😀", &[1, -2, i64::MAX], Some(7)), Input::Get];
        let text: String = calls.iter().map(|call| line_of(3, *call)).collect();
        assert_eq!(read(&format!("{HEADER}\n{text}")), Ok(vec![(3, calls.to_vec())]));
        insta::assert_snapshot!(
            line_of(0, calls[1]),
            @r#"T0 Put key=-9223372036854775808 text="a b=\"c\" \\ # \u000a \u0001 é 😀" list=[1, -2, 9223372036854775807] flag=true maybe=7"#
        );
    }

    #[test]
    fn threads_may_interleave_and_people_may_comment() {
        let text = format!("{HEADER}\nT1 Get\n\n# then\nT0 Get\n  T1   Get \r\n");
        assert_eq!(read(&text), Ok(vec![(0, vec![Input::Get]), (1, vec![Input::Get; 2])]));
        let escaped = format!(
            r#"{HEADER}{}T0 Put maybe=null flag=false list=[ 1 , 2 ] text="\u00e9\ud83d\ude00\/\t" key=1"#,
            "\n"
        );
        let call = Input::Put { key: 1, text: "é😀/\t", list: &[1, 2], flag: false, maybe: None };
        assert_eq!(read(&escaped), Ok(vec![(0, vec![call])]));
    }

    #[test]
    fn malformed_lines_are_errors_with_their_number() {
        let check = |line: &str| match read::<Input>(&format!("{HEADER}\nT0 Get\n{line}")) {
            Ok(calls) => panic!("`{line}` is read as {calls:?}"),
            Err(BadLine(message)) => message,
        };
        insta::assert_snapshot!(check("0 Get"), @"line 3: expected a thread such as `T0`, found `0`");
        insta::assert_snapshot!(check("T-1 Get"), @"line 3: expected a thread such as `T0`, found `T-1`");
        insta::assert_snapshot!(check("T1"), @"line 3: unrecognized call `` (expected `Put`, `Get`)");
        insta::assert_snapshot!(check("T1 Pot"), @"line 3: unrecognized call `Pot` (expected `Put`, `Get`)");
        insta::assert_snapshot!(check("T1 Get key=1"), @"line 3: `Get` has no argument `key`");
        insta::assert_snapshot!(check("T1 Put key=1"), @"line 3: `Put` needs the argument `text`");
        insta::assert_snapshot!(check("T1 Put key=1 key=2"), @"line 3: `key` occurs twice");
        insta::assert_snapshot!(check("T1 Put 1"), @"line 3: expected an argument such as `key=1`, found `1`");
        insta::assert_snapshot!(check("T1 Put key=true"), @"line 3: expected an integer as `key`, found `true`");
        insta::assert_snapshot!(check("T1 Put key=1.5"), @"line 3: expected a space after `key=1`, found `.5`");
        insta::assert_snapshot!(
            check("T1 Put key=9223372036854775808"),
            @"line 3: expected a value in JSON, with integers of 64 bits, found `9223372036854775808`"
        );
        insta::assert_snapshot!(
            check("T1 Put key=1 text=\"\" list=[1, \"a\"]"),
            @r#"line 3: expected a list with an integer as each element as `list`, found `[1, "a"]`"#
        );
        insta::assert_snapshot!(check("T1 Put list=[1"), @"line 3: expected `,` or `]`, found ``");
        insta::assert_snapshot!(check("T1 Put text=\"a"), @r#"line 3: a string without its last `"`"#);
        insta::assert_snapshot!(check("T1 Put text=\"\\ud83d\""), @"line 3: half of a surrogate pair in a string");
        insta::assert_snapshot!(check(&format!("T1 Put list={}", "[".repeat(33))), @"line 3: lists nest deeper than 32");
        let first = |text: &str| read::<Input>(text).unwrap_err().0;
        insta::assert_snapshot!(first(""), @"line 1: expected `omnilink-script 1`, found ``");
        insta::assert_snapshot!(first("omnilink-script 2\n"), @"line 1: expected `omnilink-script 1`, found `omnilink-script 2`");
    }
}

//! JSON, one value at a time.
//!
//! This is our own reader for two reasons: a number is read exactly, whatever its size, and a key that occurs twice
//! is an error instead of losing its first value. The parser descends recursively, and `MAX_DEPTH` bounds its
//! depth, so that no input can exhaust the stack.

use std::fmt::{self, Write};

use crate::format::error::Problem;
use crate::{BadNumber, Value};

/// How deep arrays and objects may nest.
const MAX_DEPTH: usize = 128;

/// A JSON value in which no key occurs twice.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// An integer or a double.
    Number(Value),
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Json>),
    /// An object, with its fields as written.
    Object(Vec<(String, Json)>),
}

/// Reads values from a text, from left to right.
pub(super) struct Reader<'a> {
    input: &'a str,
    at: usize, // Invariant: a boundary of characters, at most the length of the input.
}

impl Json {
    /// The value of a text that holds exactly one.
    pub fn parse(text: &str) -> Result<Json, Problem> {
        let mut reader = Reader::new(text, 0);
        let json = reader.value()?;
        reader.blank();
        match reader.peek() {
            None => Ok(json),
            Some(_) => Err(reader.expected("the end of the line")),
        }
    }

    /// The field of an object with this name.
    pub fn field(&self, name: &str) -> Option<&Json> {
        let Json::Object(fields) = self else { return None };
        fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    /// The kind of value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a truth value",
            Json::Number(Value::Float(_)) => "a number",
            Json::Number(_) => "an integer",
            Json::Text(_) => "a string",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        }
    }
}

impl<'a> Reader<'a> {
    /// Reads a text from this byte on.
    pub(super) fn new(input: &'a str, at: usize) -> Reader<'a> {
        Reader { input, at }
    }

    /// The number of bytes read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Reads the next value, and the white space before it.
    pub(super) fn value(&mut self) -> Result<Json, Problem> {
        self.value_at(0)
    }

    /// Reads white space.
    pub(super) fn blank(&mut self) {
        let blank = |byte: &&u8| matches!(**byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += self.input.as_bytes()[self.at..].iter().take_while(blank).count();
    }

    /// The next byte, or `None` at the end.
    pub(super) fn peek(&self) -> Option<u8> {
        self.input.as_bytes().get(self.at).copied()
    }

    /// Reads this byte if it is next.
    pub(super) fn eat(&mut self, wanted: u8) -> bool {
        let is_next = self.peek() == Some(wanted);
        self.at += usize::from(is_next);
        is_next
    }

    /// The error that `what` was expected here.
    pub(super) fn expected(&self, what: &str) -> Problem {
        match self.input[self.at..].chars().next() {
            Some(found) => self.problem(self.at, format!("expected {what}, found `{}`", found.escape_debug())),
            None => {
                Problem { at: self.at, message: format!("expected {what}, found the end of the text"), is_end: true }
            }
        }
    }

    fn problem(&self, at: usize, message: impl Into<String>) -> Problem {
        Problem { at, message: message.into(), is_end: false }
    }

    fn value_at(&mut self, depth: usize) -> Result<Json, Problem> {
        self.blank();
        if depth > MAX_DEPTH {
            return Err(self.problem(self.at, format!("a value is nested deeper than {MAX_DEPTH}")));
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => Err(self.expected("a value")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, Problem> {
        let start = self.at;
        self.at += 1;
        let mut fields: Vec<(String, Json)> = Vec::new();
        self.blank();
        if self.eat(b'}') {
            return Ok(Json::Object(fields));
        }
        loop {
            self.blank();
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key in quotes"));
            }
            let key = self.string()?;
            self.blank();
            if !self.eat(b':') {
                return Err(self.expected("`:`"));
            }
            fields.push((key, self.value_at(depth + 1)?));
            self.blank();
            if self.eat(b'}') {
                break;
            }
            if !self.eat(b',') {
                return Err(self.expected("`,` or `}`"));
            }
        }
        let mut keys: Vec<&str> = fields.iter().map(|(key, _)| key.as_str()).collect();
        keys.sort_unstable();
        match keys.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(self.problem(start, format!("the key `{}` occurs twice", pair[0].escape_debug()))),
            None => Ok(Json::Object(fields)),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, Problem> {
        self.at += 1;
        let mut elements = Vec::new();
        self.blank();
        if self.eat(b']') {
            return Ok(Json::Array(elements));
        }
        loop {
            elements.push(self.value_at(depth + 1)?);
            self.blank();
            if self.eat(b']') {
                return Ok(Json::Array(elements));
            }
            if !self.eat(b',') {
                return Err(self.expected("`,` or `]`"));
            }
        }
    }

    fn word(&mut self, word: &str, json: Json) -> Result<Json, Problem> {
        let rest = &self.input[self.at..];
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(json);
        }
        let is_end = word.starts_with(rest);
        Err(if is_end {
            Problem { is_end, ..self.problem(self.at, "the text ends inside a word") }
        } else {
            self.expected("a value")
        })
    }

    fn number(&mut self) -> Result<Json, Problem> {
        let start = self.at;
        let part_of_number = |byte: &&u8| matches!(**byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
        self.at += self.input.as_bytes()[start..].iter().take_while(part_of_number).count();
        let text = &self.input[start..self.at];
        let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
        let has_needless_zero = matches!(digits, [b'0', b'0'..=b'9', ..]);
        match Value::parse_number(text) {
            Ok(value) if !has_needless_zero => Ok(Json::Number(value)),
            Ok(_) => Err(self.problem(start, BadNumber::Malformed(text.into()).to_string())),
            // A number may continue after the end.
            Err(error) => {
                Err(Problem { is_end: self.at == self.input.len(), ..self.problem(start, error.to_string()) })
            }
        }
    }

    fn string(&mut self) -> Result<String, Problem> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.input[self.at..];
            let length = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)).unwrap_or(rest.len());
            text.push_str(&rest[..length]);
            self.at += length;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err(self.problem(self.at, "a control character inside a string")),
                None => return Err(self.torn()),
            }
        }
    }

    /// The character denoted by an escape sequence.
    fn escape(&mut self) -> Result<char, Problem> {
        let start = self.at;
        self.at += 1;
        let letter = self.peek().ok_or_else(|| self.torn())?;
        let plain = match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(start),
            _ => return Err(self.problem(start, "an unknown escape sequence inside a string")),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode(&mut self, start: usize) -> Result<char, Problem> {
        self.at += 1;
        let first = self.code_unit(start)?;
        let mut units = vec![first];
        if (0xd800..0xdc00).contains(&first) {
            let rest = &self.input[self.at..];
            if rest.len() < 2 && "\\u".starts_with(rest) {
                return Err(self.torn());
            }
            if rest.starts_with("\\u") {
                self.at += 2;
                units.push(self.code_unit(start)?);
            }
        }
        match char::decode_utf16(units.iter().copied()).collect::<Result<Vec<char>, _>>().as_deref() {
            Ok([char]) => Ok(*char),
            _ => Err(self.problem(start, "an escape sequence that stands for half a character")),
        }
    }

    /// Four hexadecimal digits.
    fn code_unit(&mut self, start: usize) -> Result<u16, Problem> {
        let rest = &self.input.as_bytes()[self.at..];
        let digits = rest.iter().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count();
        if digits == rest.len() && digits < 4 {
            return Err(self.torn());
        }
        if digits < 4 {
            return Err(self.problem(start, "`\\u` needs four hexadecimal digits"));
        }
        let unit = u16::from_str_radix(&self.input[self.at..self.at + 4], 16).expect("four hexadecimal digits");
        self.at += 4;
        Ok(unit)
    }

    fn torn(&self) -> Problem {
        Problem { at: self.input.len(), message: "the text ends inside a string".into(), is_end: true }
    }
}

/// Writes the value without white space.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(bool) => write!(f, "{bool}"),
            Json::Number(Value::Float(float)) => write!(f, "{:?}", float.get()),
            Json::Number(integer) => write!(f, "{integer}"),
            Json::Text(text) => write_string(f, text),
            Json::Array(elements) => {
                f.write_char('[')?;
                for (index, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if index == 0 { "" } else { "," })?;
                }
                f.write_char(']')
            }
            Json::Object(fields) => {
                f.write_char('{')?;
                for (index, (key, value)) in fields.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { "," })?;
                    write_string(f, key)?;
                    write!(f, ":{value}")?;
                }
                f.write_char('}')
            }
        }
    }
}

fn write_string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for char in text.chars() {
        match char {
            '"' | '\\' => write!(f, "\\{char}")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '\u{8}' => f.write_str("\\b")?,
            '\u{c}' => f.write_str("\\f")?,
            '\0'..='\u{1f}' => write!(f, "\\u{:04x}", u32::from(char))?,
            _ => f.write_char(char)?,
        }
    }
    f.write_char('"')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The value written again, or the error: `...` for a text that ends too early.
    fn check(text: &str) -> String {
        match Json::parse(text) {
            Ok(json) => json.to_string(),
            Err(Problem { is_end: true, .. }) => "...".into(),
            Err(Problem { at, message, .. }) => format!("byte {at}: {message}"),
        }
    }

    #[test]
    fn values_are_read_and_written() {
        insta::assert_snapshot!(
            check(r#" { "a" : [ null , true , false , -1.50 , 4.0, 1E2, "é\u00e9\ud83d\ude00\/\n\u0001" ] , "b" : { } , "c" : [ ] } "#),
            @r#"{"a":[null,true,false,-1.5,4,100,"éé😀/\n\u0001"],"b":{},"c":[]}"#
        );
        insta::assert_snapshot!(
            check("[18446744073709551616, -9223372036854775809, 0.1, 1e-7]"),
            @"[18446744073709551616,-9223372036854775809,0.1,1e-7]"
        );
    }

    #[test]
    fn errors_say_where() {
        let texts = [
            "[1 2]",
            "{1: 2}",
            "{\"a\" 1}",
            "{\"a\": 1, \"a\": 2}",
            "[1,]",
            "tree",
            "01",
            "-",
            "1.",
            "+1",
            "[1]]",
            "\"\\q\"",
            "\"\\ud800x\"",
            "\"\u{1}\"",
            "0.12345678901234567890 ",
            "'a'",
        ];
        insta::assert_snapshot!(texts.map(check).join("\n"), @r"
        byte 3: expected `,` or `]`, found `2`
        byte 1: expected a key in quotes, found `1`
        byte 5: expected `:`, found `1`
        byte 0: the key `a` occurs twice
        byte 3: expected a value, found `]`
        byte 0: expected a value, found `t`
        byte 0: `01` is not a number
        ...
        ...
        byte 0: expected a value, found `+`
        byte 3: expected the end of the line, found `]`
        byte 1: an unknown escape sequence inside a string
        byte 1: an escape sequence that stands for half a character
        byte 1: a control character inside a string
        byte 0: `0.12345678901234567890` has more digits than a double holds
        byte 0: expected a value, found `\'`
        ");
        assert_eq!(check(&"[".repeat(1_000_000)), "byte 129: a value is nested deeper than 128");
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in any::<String>()) {
            let _ = Json::parse(&text);
        }

        /// Our reader and `serde_json` agree on which texts are JSON, and on their values.
        #[test]
        fn others_read_the_same(text in "[\\[\\]{}:, \"\\\\a0-9.eE+-]{0,12}|\\[[0-9.eE+, \"a-]{0,9}\\]") {
            let ours = Json::parse(&text);
            let theirs = serde_json::from_str::<serde_json::Value>(&text);
            let is_ours_stricter = ours.as_ref().is_err_and(|problem| {
                problem.message.contains("twice") || problem.message.contains("digits")
            });
            let is_theirs_stricter = theirs.as_ref().is_err_and(|error| error.to_string().contains("out of range"));
            prop_assert!(is_ours_stricter || is_theirs_stricter || ours.is_ok() == theirs.is_ok(), "{ours:?} {theirs:?}");
        }
    }
}

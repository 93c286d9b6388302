//! EDN, the notation of Clojure's data, one form at a time.
//!
//! A form is nil, a truth value, a number, a string, a character, a symbol, a keyword, a list, a vector, a set, a
//! map, or any of these with a tag. Beyond the notation proper, the output of Clojure's printer is supported too:
//! ratios, regular expressions, `##Inf`, variables, hexadecimal addresses of objects, and maps that name a namespace
//! once for all their keys. The parser descends recursively, and [`MAX_DEPTH`] bounds its depth, so that no input can
//! exhaust the stack.
//!
//! Integers are exact, and a float is the double nearest to it, as the notation says. A ratio, and a decimal that no double
//! holds exactly, keep their text as a string, so that different numbers stay different.

use std::borrow::Cow;

use crate::Value;
use crate::format::error::Problem;

/// How deep forms, tags and discarded forms may nest.
pub(super) const MAX_DEPTH: usize = 128;

/// One form. Lists and vectors are both sequences; characters and symbols are strings.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form<'a> {
    Atom(Value),
    /// Without its colon, with its namespace.
    Keyword(Cow<'a, str>),
    Sequence(Vec<Form<'a>>),
    Set(Vec<Form<'a>>),
    Map(Vec<(Form<'a>, Form<'a>)>),
    Tagged(&'a str, Box<Form<'a>>),
}

/// Reads forms from a text, from left to right.
pub(super) struct Reader<'a> {
    input: &'a str,
    at: usize, // Invariant: a boundary of characters, at most the length of the input.
}

/// The rest of a text after white space and comments.
pub(super) fn first_form(text: &str) -> &str {
    match text.trim_start().strip_prefix(';') {
        Some(comment) => first_form(comment.split_once('\n').map_or("", |(_, rest)| rest)),
        None => text.trim_start(),
    }
}

impl Form<'_> {
    /// The form as a value, with keywords as strings and without tags. Fails if two keys of a map become equal.
    pub(super) fn into_value(self) -> Result<Value, String> {
        let values = |forms: Vec<Form<'_>>| forms.into_iter().map(Form::into_value).collect::<Result<Vec<_>, _>>();
        Ok(match self {
            Form::Atom(value) => value,
            Form::Keyword(name) => Value::str(&*name),
            Form::Sequence(forms) => Value::tuple(values(forms)?),
            Form::Set(forms) => Value::set(values(forms)?),
            Form::Map(pairs) => {
                let pairs = pairs.into_iter().map(|(key, value)| Ok((key.into_value()?, value.into_value()?)));
                Value::function(pairs.collect::<Result<Vec<_>, String>>()?).ok_or("a key occurs twice in a map")?
            }
            Form::Tagged(_, form) => form.into_value()?,
        })
    }

    /// The text of a keyword, string or symbol.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Form::Keyword(name) => Some(name),
            Form::Atom(value) => value.as_str(),
            _ => None,
        }
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(input: &'a str) -> Reader<'a> {
        Reader { input, at: 0 }
    }

    /// The number of bytes read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The next character, or `None` at the end.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Reads this character if it is next.
    pub(super) fn eat(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        if is_next {
            self.at += wanted.len_utf8();
        }
        is_next
    }

    /// Reads whitespace, comments and discarded forms.
    pub(super) fn blank(&mut self) -> Result<(), Problem> {
        self.blank_at(0)
    }

    /// Reads one form. `None` at the end of the text, and before a closing bracket.
    pub(super) fn form(&mut self) -> Result<Option<Form<'a>>, Problem> {
        self.form_at(0)
    }

    fn rest(&self) -> &'a str {
        &self.input[self.at..]
    }

    fn problem<T>(&self, at: usize, message: impl Into<String>) -> Result<T, Problem> {
        Err(Problem { at, message: message.into(), is_end: false })
    }

    fn end<T>(&self, inside: &str) -> Result<T, Problem> {
        Err(Problem { at: self.input.len(), message: format!("the text ends inside {inside}"), is_end: true })
    }

    fn blank_at(&mut self, depth: usize) -> Result<(), Problem> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with(';') {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if trimmed.starts_with("#_") {
                self.at += 2;
                self.inner(depth, "the form after `#_`")?;
            } else {
                return Ok(());
            }
        }
    }

    fn form_at(&mut self, depth: usize) -> Result<Option<Form<'a>>, Problem> {
        if depth > MAX_DEPTH {
            return self.problem(self.at, format!("forms nest deeper than {MAX_DEPTH}"));
        }
        self.blank_at(depth)?;
        let at = self.at;
        let Some(first) = self.peek() else { return Ok(None) };
        let form = match first {
            ')' | ']' | '}' => return Ok(None),
            '(' => Form::Sequence(self.items(')', "a list", depth)?),
            '[' => Form::Sequence(self.items(']', "a vector", depth)?),
            '{' => self.map(depth)?,
            '"' => Form::Atom(Value::str(self.string()?)),
            '\\' => Form::Atom(self.character()?),
            '#' => self.dispatch(depth)?,
            ':' => {
                let name = self.token().trim_start_matches(':');
                if name.is_empty() {
                    return self.problem(at, "a keyword has no name");
                }
                Form::Keyword(name.into())
            }
            '@' | '^' | '`' | '~' => return self.problem(at, format!("unexpected `{first}`")),
            _ => {
                let token = self.token();
                match token {
                    "nil" => Form::Atom(Value::Nil),
                    "true" => Form::Atom(Value::Bool(true)),
                    "false" => Form::Atom(Value::Bool(false)),
                    _ if is_number(token) => match number(token) {
                        Some(value) => Form::Atom(value),
                        None => return self.problem(at, format!("`{token}` is not a number")),
                    },
                    _ => Form::Atom(Value::str(token)),
                }
            }
        };
        Ok(Some(form))
    }

    /// The form that must follow, one level deeper.
    fn inner(&mut self, depth: usize, inside: &str) -> Result<Form<'a>, Problem> {
        match self.form_at(depth + 1)? {
            Some(form) => Ok(form),
            None if self.rest().is_empty() => self.end(inside),
            None => self.problem(self.at, format!("{inside} is missing")),
        }
    }

    /// The forms up to a closing bracket, after the opening one, which is next.
    fn items(&mut self, close: char, inside: &str, depth: usize) -> Result<Vec<Form<'a>>, Problem> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            match self.form_at(depth + 1)? {
                Some(form) => items.push(form),
                None if self.eat(close) => return Ok(items),
                None if self.rest().is_empty() => return self.end(inside),
                None => return self.problem(self.at, format!("expected `{close}` at the end of {inside}")),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Form<'a>, Problem> {
        let at = self.at;
        let mut items = self.items('}', "a map", depth)?.into_iter();
        let mut pairs = Vec::with_capacity(items.len() / 2);
        while let Some(key) = items.next() {
            match items.next() {
                Some(value) => pairs.push((key, value)),
                None => return self.problem(at, "a map has a key without a value"),
            }
        }
        Ok(Form::Map(pairs))
    }

    /// A form that starts with `#`, except for discarded forms, which are blank.
    fn dispatch(&mut self, depth: usize) -> Result<Form<'a>, Problem> {
        let at = self.at;
        self.at += 1;
        match self.peek() {
            None => self.end("a tag"),
            Some('{') => Ok(Form::Set(self.items('}', "a set", depth)?)),
            Some('"') => Ok(Form::Atom(Value::str(self.regex()?))),
            Some('#' | '\'') => {
                self.token();
                Ok(Form::Atom(Value::str(&self.input[at..self.at])))
            }
            Some(':') => {
                let namespace = self.token().trim_start_matches(':');
                match self.inner(depth, "a map with a namespace")? {
                    Form::Map(pairs) => Ok(Form::Map(pairs.into_iter().map(|pair| within(namespace, pair)).collect())),
                    _ => self.problem(at, "a namespace is given to something other than a map"),
                }
            }
            Some(first) if first.is_alphabetic() => {
                let tag = self.token();
                Ok(Form::Tagged(tag, Box::new(self.inner(depth, "a tagged form")?)))
            }
            Some(first) => self.problem(at, format!("unexpected `#{first}`")),
        }
    }

    /// The characters up to a delimiter.
    fn token(&mut self) -> &'a str {
        let rest = self.rest();
        let is_delimiter =
            |c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | '[' | ']' | '{' | '}' | '"' | ';');
        let token = &rest[..rest.find(is_delimiter).unwrap_or(rest.len())];
        self.at += token.len();
        token
    }

    /// A regular expression, as it is written.
    fn regex(&mut self) -> Result<&'a str, Problem> {
        let start = self.at + 1;
        let mut is_escaped = false;
        for (offset, byte) in self.input.as_bytes()[start..].iter().enumerate() {
            match byte {
                b'"' if !is_escaped => {
                    self.at = start + offset + 1;
                    return Ok(&self.input[start..start + offset]);
                }
                byte => is_escaped = *byte == b'\\' && !is_escaped,
            }
        }
        self.end("a regular expression")
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Problem> {
        self.at += 1;
        let mut text = Cow::Borrowed("");
        loop {
            let rest = self.rest();
            let Some(length) = rest.find(['"', '\\']) else { return self.end("a string") };
            text += &rest[..length];
            self.at += length;
            if self.eat('"') {
                return Ok(text);
            }
            text.to_mut().push(self.escape()?);
        }
    }

    /// The character denoted by an escape sequence in a string.
    fn escape(&mut self) -> Result<char, Problem> {
        let at = self.at;
        self.at += 1;
        let Some(letter) = self.peek() else { return self.end("a string") };
        self.at += letter.len_utf8();
        Ok(match letter {
            't' => '\t',
            'r' => '\r',
            'n' => '\n',
            'b' => '\u{8}',
            'f' => '\u{c}',
            '\\' | '"' => letter,
            'u' => {
                let first = self.code_unit(at)?;
                let is_pair = (0xd800..0xdc00).contains(&first) && self.rest().starts_with("\\u");
                let second = if is_pair {
                    self.at += 2;
                    Some(self.code_unit(at)?)
                } else {
                    None
                };
                match char::decode_utf16([first].into_iter().chain(second)).next() {
                    Some(Ok(char)) => char,
                    _ => return self.problem(at, "an escape sequence stands for half a character"),
                }
            }
            _ => return self.problem(at, format!("`\\{letter}` is not an escape sequence")),
        })
    }

    /// Four hexadecimal digits.
    fn code_unit(&mut self, at: usize) -> Result<u16, Problem> {
        let rest = self.rest();
        if rest.len() < 4 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return self.end("a string");
        }
        match rest.get(..4).and_then(hexadecimal) {
            Some(unit) => {
                self.at += 4;
                Ok(unit)
            }
            None => self.problem(at, "`\\u` needs four hexadecimal digits"),
        }
    }

    fn character(&mut self) -> Result<Value, Problem> {
        let at = self.at;
        self.at += 1;
        // The first character may be a delimiter: `\(` is a parenthesis.
        let Some(first) = self.peek() else { return self.end("a character") };
        self.at += first.len_utf8();
        self.token();
        let name = &self.input[at + 1..self.at];
        let char = match name {
            "newline" => '\n',
            "return" => '\r',
            "space" => ' ',
            "tab" => '\t',
            "backspace" => '\u{8}',
            "formfeed" => '\u{c}',
            _ if name.chars().count() == 1 => first,
            _ => match name.strip_prefix('u').and_then(hexadecimal).and_then(|unit| char::from_u32(unit.into())) {
                Some(char) => char,
                None => return self.problem(at, format!("`\\{name}` is not a character")),
            },
        };
        Ok(Value::str(char.to_string()))
    }
}

/// A pair of a map all of whose keywords are in a namespace, unless they name another.
fn within<'a>(namespace: &str, (key, value): (Form<'a>, Form<'a>)) -> (Form<'a>, Form<'a>) {
    match key {
        Form::Keyword(name) if !name.contains('/') => (Form::Keyword(format!("{namespace}/{name}").into()), value),
        key => (key, value),
    }
}

fn hexadecimal(digits: &str) -> Option<u16> {
    let is_hexadecimal = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hexadecimal.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}

fn is_number(token: &str) -> bool {
    token.strip_prefix(['+', '-']).unwrap_or(token).starts_with(|c: char| c.is_ascii_digit())
}

/// The number denoted by a token, or `None` if it is not a number. See the head of this file for large ones.
fn number(token: &str) -> Option<Value> {
    let token = token.strip_prefix('+').unwrap_or(token);
    let digits = token.strip_prefix('-').unwrap_or(token);
    if let Some(hexadecimal) = digits.strip_prefix("0x") {
        let sign = &token[..token.len() - digits.len()];
        let is_hexadecimal = hexadecimal.bytes().all(|byte| byte.is_ascii_hexdigit());
        let int = u128::from_str_radix(hexadecimal, 16).ok().filter(|_| is_hexadecimal)?;
        return Value::integer(&format!("{sign}{int}"));
    }
    if let Some((over, under)) = digits.split_once('/') {
        return (is_integer(over) && is_integer(under)).then(|| Value::str(token));
    }
    if is_integer(digits.strip_suffix('N').unwrap_or(digits)) {
        let whole = token.strip_suffix('N').unwrap_or(token);
        return Value::integer(whole);
    }
    let decimal = token.strip_suffix('M').unwrap_or(token);
    let unsigned = decimal.strip_prefix('-').unwrap_or(decimal);
    let (whole, rest) = unsigned.split_at(unsigned.find(['.', 'e', 'E']).unwrap_or(unsigned.len()));
    let is_float = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
    let is_decimal = is_integer(whole) && rest.bytes().all(is_float);
    let float: f64 = is_decimal.then(|| decimal.parse().ok()).flatten()?;
    let value = if decimal.len() == token.len() { Value::number(float) } else { Value::parse_number(decimal).ok() };
    Some(value.unwrap_or_else(|| Value::str(decimal)))
}

/// Digits without needless zeros.
fn is_integer(digits: &str) -> bool {
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits.len() == 1 || !digits.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All forms of a text as values, then the error, if any.
    fn check(input: &str) -> String {
        let mut reader = Reader::new(input);
        let mut shown = Vec::new();
        loop {
            match reader.form() {
                Ok(Some(form)) => {
                    shown.push(form.into_value().map_or_else(|message| message, |value| value.to_string()))
                }
                Ok(None) => break shown.join(" "),
                Err(problem) => {
                    shown.push(format!("byte {}: {}", problem.at, problem.message));
                    break shown.join(" ");
                }
            }
        }
    }

    #[test]
    fn atoms_become_values() {
        insta::assert_snapshot!(
            check("nil true false a.b/c :k :n/k ::k 'q"),
            @r#"nil TRUE FALSE "a.b/c" "k" "n/k" "k" "'q""#
        );
        insta::assert_snapshot!(
            check("1 -2 +3 4N 0x1f -0 1.0 1.5 1e3 2.5M 1/2 ##Inf"),
            @r###"1 -2 3 4 31 0 1 1.5 1000 2.5 "1/2" "##Inf""###
        );
        insta::assert_snapshot!(
            check("9223372036854775808 -9223372036854775809N 1234567890.1234567M 1e999 1.12345678901234567890M 0xffffffffffffffff"),
            @r#"9223372036854775808 -9223372036854775809 1234567890.1234567 "1e999" "1.12345678901234567890" 18446744073709551615"#
        );
        insta::assert_snapshot!(
            check(r#""a\n\"\u0041\ud83d\ude00" #"\d\"" \a \( \newline \u0041 \,"#),
            @r#""a\n\"A😀" "\\d\\\"" "a" "(" "\n" "A" ",""#
        );
    }

    #[test]
    fn collections_tags_comments_and_discarded_forms_are_understood() {
        insta::assert_snapshot!(
            check("[1, (2 3)] #{2 1} {:a 1} {1 :x}"),
            @r#"<<1, <<2, 3>>>> {1, 2} [a |-> 1] <<"x">>"#
        );
        insta::assert_snapshot!(
            check("#inst \"2020\" #a.b{:c #_ #_ 1 2 3} #:n{:a 1 :m/b 2} #'v/w #object[A 0x1 \"\"] ; x"),
            @r###""2020" [c |-> 3] ("m/b" :> 2 @@ "n/a" :> 1) "#'v/w" <<"A", 1, "">>"###
        );
    }

    #[test]
    fn errors_say_where() {
        insta::assert_snapshot!(check("1 12ab"), @"1 byte 2: `12ab` is not a number");
        insta::assert_snapshot!(check("[1 }"), @"byte 3: expected `]` at the end of a vector");
        insta::assert_snapshot!(check("{:a}"), @"byte 0: a map has a key without a value");
        insta::assert_snapshot!(check("{:a 1 \"a\" 2}"), @"a key occurs twice in a map");
        insta::assert_snapshot!(check("#<Object>"), @"byte 0: unexpected `#<`");
        insta::assert_snapshot!(check("[#_]"), @"byte 3: the form after `#_` is missing");
        insta::assert_snapshot!(check(r#""\q""#), @r"byte 1: `\q` is not an escape sequence");
        insta::assert_snapshot!(check(r#""\ud800""#), @"byte 1: an escape sequence stands for half a character");
        insta::assert_snapshot!(check("[\"a"), @"byte 3: the text ends inside a string");
        insta::assert_snapshot!(check("007 "), @"byte 0: `007` is not a number");
    }

    #[test]
    fn hostile_depth_is_refused() {
        for opening in ["[", "{", "#{", "#a ", "#_ ", "#_#a[", "#:a"] {
            let mut reader = Reader::new(&opening.repeat(1_000_000)).form().err();
            let problem = reader.take().unwrap();
            assert!(problem.is_end || problem.message.contains("128"), "{opening}: {}", problem.message);
        }
    }
}

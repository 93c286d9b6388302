//! A place in a JSON document, so that every error names it.

use crate::Halt;
use crate::format::error::{FormatError, Location, Problem};
use crate::format::json::{Json, Reader};

/// Visits the documents of a text, which follow each other with or without line breaks. Stops when `halt` is raised.
///
/// Returns the line at which the last document begins if the text ends inside it.
pub(super) fn visit_documents(
    input: &str,
    halt: &Halt,
    mut visit: impl FnMut(&Node<'_>) -> Result<(), FormatError>,
) -> Result<Option<usize>, FormatError> {
    let mut reader = Reader::new(input, 0);
    let (mut line, mut counted) = (1, 0);
    let breaks = |from: usize, to: usize| input.as_bytes()[from..to].iter().filter(|byte| **byte == b'\n').count();
    loop {
        reader.blank();
        line += breaks(counted, reader.at());
        counted = reader.at();
        if reader.peek().is_none() || halt.is_raised() {
            return Ok(None);
        }
        match reader.value() {
            Ok(json) => visit(&Node::document(&json, line))?,
            Err(Problem { is_end: true, .. }) => return Ok(Some(line)),
            Err(Problem { at, message, .. }) => {
                return Err(FormatError::new(Location::Line(line + breaks(counted, at)), message));
            }
        }
    }
}

/// A value with the path that leads to it. Paths are linked on the stack: they cost nothing unless an error prints one.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    pub(super) json: &'a Json,
    /// The line at which its document begins.
    pub(super) line: usize,
    parent: Option<&'a Node<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> Node<'a> {
    /// A whole document.
    pub(super) fn document(json: &'a Json, line: usize) -> Node<'a> {
        Node { json, line, parent: None, step: Step::Index(0) }
    }

    /// A field of an object; `None` if it is missing or null.
    pub(super) fn field(&'a self, key: &'a str) -> Option<Node<'a>> {
        let json = self.json.field(key).filter(|json| **json != Json::Null)?;
        Some(Node { json, line: self.line, parent: Some(self), step: Step::Key(key) })
    }

    /// A field that has to be there.
    pub(super) fn required(&'a self, key: &'a str) -> Result<Node<'a>, FormatError> {
        self.field(key).ok_or_else(|| self.error(format!("`{key}` is missing")))
    }

    /// The elements of an array.
    pub(super) fn elements(&'a self) -> Result<impl Iterator<Item = Node<'a>>, FormatError> {
        let Json::Array(elements) = self.json else { return Err(self.unexpected("an array")) };
        let element = |(index, json)| Node { json, line: self.line, parent: Some(self), step: Step::Index(index) };
        Ok(elements.iter().enumerate().map(element))
    }

    /// The fields of an object.
    pub(super) fn fields(&'a self) -> Result<impl Iterator<Item = (&'a str, Node<'a>)>, FormatError> {
        let Json::Object(fields) = self.json else { return Err(self.unexpected("an object")) };
        let field = |(key, json): &'a (String, Json)| {
            (key.as_str(), Node { json, line: self.line, parent: Some(self), step: Step::Key(key) })
        };
        Ok(fields.iter().map(field))
    }

    /// An error unless it is an object with only these keys: data below another key would be lost.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), FormatError> {
        let Json::Object(fields) = self.json else { return Err(self.unexpected("an object")) };
        match fields.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some((key, _)) => {
                let hint = omnilink_suggest::hint(key, known.iter().copied());
                let help = hint.unwrap_or_else(|| format!("the keys are `{}`", known.join("`, `")));
                Err(self.error(format!("unknown key `{}`", key.escape_debug())).help(help))
            }
        }
    }

    /// A string.
    pub(super) fn text(&self) -> Result<&'a str, FormatError> {
        match self.json {
            Json::Text(text) => Ok(text),
            _ => Err(self.unexpected("a string")),
        }
    }

    /// An integer, as a number or as text.
    pub(super) fn integer(&self) -> Result<i128, FormatError> {
        let text = match self.json {
            Json::Text(text) => text.clone(),
            Json::Number(number) => number.to_string(),
            _ => return Err(self.unexpected("an integer")),
        };
        text.parse().map_err(|_| self.error(format!("expected an integer, found `{}`", text.escape_debug())))
    }

    /// An integer of 64 bits that is not negative, as a number or as text.
    pub(super) fn unsigned(&self) -> Result<u64, FormatError> {
        let integer = self.integer()?;
        u64::try_from(integer).map_err(|_| self.error(format!("{integer} is not an integer of 64 bits")))
    }

    /// The error that `expected` is not here.
    pub(super) fn unexpected(&self, expected: &str) -> FormatError {
        self.error(format!("expected {expected}, found {}", self.json.kind()))
    }

    /// An error at this place.
    pub(super) fn error(&self, message: impl AsRef<str>) -> FormatError {
        let path = self.path();
        let separator = if path.is_empty() { "" } else { ": " };
        FormatError::new(Location::Line(self.line), format!("{path}{separator}{}", message.as_ref()))
    }

    fn path(&self) -> String {
        let Some(parent) = self.parent else { return String::new() };
        let path = parent.path();
        match self.step {
            Step::Key(key) if path.is_empty() => key.escape_debug().to_string(),
            Step::Key(key) => format!("{path}.{}", key.escape_debug()),
            Step::Index(index) => format!("{path}[{index}]"),
        }
    }
}

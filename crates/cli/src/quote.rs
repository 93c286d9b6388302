//! Errors in a text file as `file:line:column`, with the line.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use omnilink_report::clean;
use unicode_width::UnicodeWidthStr as _;

/// The maximum length of a line that is quoted, and the columns shown of a longer one.
const LONGEST: u64 = 1 << 16;
const SHOWN: usize = 100;

/// A message that begins with a place in a text file, such as `line 3: column 7: expected a value`.
struct Placed<'a> {
    line: usize,
    column: Option<usize>,
    message: &'a str,
}

impl<'a> Placed<'a> {
    fn new(message: &'a str) -> Option<Placed<'a>> {
        let (line, message) = numbered(message, "line ")?;
        let (column, message) = numbered(message, "column ").map_or((None, message), |(at, rest)| (Some(at), rest));
        Some(Placed { line, column, message })
    }
}

/// The number after a word, and the text after its colon.
fn numbered<'a>(text: &'a str, word: &str) -> Option<(usize, &'a str)> {
    let (number, rest) = text.strip_prefix(word)?.split_once(": ")?;
    Some((number.parse().ok()?, rest))
}

/// An error about a file, with its place, and the line if it can be read.
pub(crate) fn located(about: &str, message: &str) -> String {
    let Some(Placed { line, column, message }) = Placed::new(message) else {
        return format!("{}: {message}", clean(about));
    };
    let text = line_of(Path::new(about), line);
    let column = column.or_else(|| text.as_deref().and_then(|text| quoted_column(text, message)));
    let place = column.map(|column| format!(":{column}")).unwrap_or_default();
    let quote = text.map(|text| shown(&text, column)).unwrap_or_default();
    format!("{}:{line}{place}: {message}{quote}", clean(about))
}

/// A line of a text file, if it is short.
fn line_of(path: &Path, number: usize) -> Option<String> {
    let file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|about| about.is_file()))?;
    let mut lines = BufReader::new(file).lines();
    let line = lines.nth(number.checked_sub(1)?)?.ok()?;
    (line.len() as u64 <= LONGEST).then_some(line)
}

/// The column of the last name that a message has in backticks and a line too: in JSON in quotes, elsewhere before a
/// bracket.
fn quoted_column(line: &str, message: &str) -> Option<usize> {
    let names = message.split('`').skip(1).step_by(2).filter(|name| !name.is_empty());
    let byte = match line.starts_with('{') {
        true => names.filter_map(|name| line.find(&format!("\"{name}\""))).last()? + 1,
        false => names.filter_map(|name| line.find(&format!("{name}("))).last()?,
    };
    Some(line[..byte].chars().count() + 1)
}

/// The line, or a part around the column, with a mark below it.
fn shown(line: &str, column: Option<usize>) -> String {
    let at = column.unwrap_or(1).saturating_sub(1);
    let start = if line.chars().count() <= SHOWN { 0 } else { at.saturating_sub(SHOWN / 2) };
    let part = |from: usize, many: usize| clean(&line.chars().skip(from).take(many).collect::<String>());
    let quote = format!("\n  | {}", part(start, SHOWN));
    match column {
        Some(_) => format!("{quote}\n  | {}^", " ".repeat(part(start, at - start).width())),
        None => quote,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, message: &str) -> String {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("run.jsonl");
        std::fs::write(&path, format!("{{}}\n{line}\n")).expect("a file");
        located(&path.display().to_string(), message).replace(&*directory.path().to_string_lossy(), "")
    }

    #[test]
    fn an_error_has_its_place_and_line() {
        insta::assert_snapshot!(check(r#"{"args":{"value":1}x}"#, "line 2: column 20: expected `}`, found `x`"), @r#"
        /run.jsonl:2:20: expected `}`, found `x`
          | {"args":{"value":1}x}
          |                    ^
        "#);
        insta::assert_snapshot!(check(r#"{"action":"enqeue"}"#, "line 2: a:0: `enqeue` is not an operation"), @r#"
        /run.jsonl:2:12: a:0: `enqeue` is not an operation
          | {"action":"enqeue"}
          |            ^
        "#);
        insta::assert_snapshot!(check("T0 [1 5] launch(1)", "line 2: `launch` is not an operation"), @"
        /run.jsonl:2:10: `launch` is not an operation
          | T0 [1 5] launch(1)
          |          ^
        ");
        insta::assert_snapshot!(check(&format!("{{{} \"x\" é", "a".repeat(299)), "line 2: no `x`"), @r#"
        /run.jsonl:2:303: no `x`
          | aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "x" é
          |                                                   ^
        "#);
        insta::assert_snapshot!(check("", "it is empty"), @"/run.jsonl: it is empty");
        insta::assert_snapshot!(check("", "line 9: cut off"), @"/run.jsonl:9: cut off");
    }
}

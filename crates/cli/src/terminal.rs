//! Terminal output: text, errors, and whether printing succeeded.
//!
//! Standard output may be a file on a full disk, or a pipe whose reader has ended. Nothing panics then: the first
//! failure is stored, and [`finish`] makes it the end of the command. Errors quote traces, whose content is not
//! trusted; quotes reach a terminal or a CI log as visible characters only, and never at the beginning of a line, where
//! some CI systems take them for a command.

use std::fmt;
use std::io::{self, Write as _};
use std::sync::OnceLock;

use omnilink_judge::{Complaint, InputError};
use omnilink_report::clean;
use unicode_width::UnicodeWidthStr as _;

use crate::exit::Exit;
use crate::quote;

/// Prints to standard output.
macro_rules! out {
    ($($arg:tt)*) => { $crate::terminal::print(format_args!($($arg)*)) };
}

/// Prints a line to standard output.
macro_rules! outln {
    () => { $crate::terminal::print(format_args!("\n")) };
    ($($arg:tt)*) => { $crate::terminal::print(format_args!("{}\n", format_args!($($arg)*))) };
}

/// Prints a line to standard error.
macro_rules! errln {
    ($($arg:tt)*) => { $crate::terminal::print_error(format_args!("{}\n", format_args!($($arg)*))) };
}

/// Prints text for people: on a terminal, lines that are too wide are wrapped at words.
macro_rules! say {
    ($($arg:tt)*) => { $crate::terminal::print(format_args!("{}", $crate::terminal::fitted(&format!($($arg)*)))) };
}

/// The same for a line.
macro_rules! sayln {
    () => { outln!() };
    ($($arg:tt)*) => { outln!("{}", $crate::terminal::fitted(&format!($($arg)*))) };
}

/// The first error of writing to standard output.
static FAILURE: OnceLock<io::Error> = OnceLock::new();

/// Prints to standard output. After a failure nothing more is printed.
pub(crate) fn print(text: fmt::Arguments<'_>) {
    if FAILURE.get().is_none()
        && let Err(error) = anstream::stdout().lock().write_fmt(text)
    {
        let _ = FAILURE.set(error);
    }
}

/// Prints to standard error. A failure of that cannot be reported anywhere.
pub(crate) fn print_error(text: fmt::Arguments<'_>) {
    let _ = anstream::stderr().lock().write_fmt(text);
}

/// The width of the terminal on standard output; any number if it is not a terminal.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size_of(io::stdout()).map_or(usize::MAX, |(width, _)| usize::from(width.0))
}

/// Text whose lines fit the terminal.
pub(crate) fn fitted(text: &str) -> String {
    let width = width();
    text.split('\n').map(|line| wrapped(line, width)).collect::<Vec<_>>().join("\n")
}

/// A line, wrapped at words. The lines after the first are indented by two columns more. A word that is too wide stays
/// whole, and so does a line with colors, whose width is unknown.
fn wrapped(line: &str, width: usize) -> String {
    if line.width() <= width || line.contains('\x1b') {
        return line.to_owned();
    }
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let (mut out, mut column) = (" ".repeat(indent), indent);
    let mut is_first = true;
    for word in text.split(' ') {
        if !is_first && column + 1 + word.width() > width {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.push_str(&" ".repeat(indent + 2));
            column = indent + 2;
        } else if !is_first {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += word.width();
        is_first = false;
    }
    out
}

/// The exit code, given the one if everything was printed. A reader that has ended has seen enough.
pub(crate) fn finish(exit: Exit) -> Exit {
    if let Err(error) = io::stdout().flush() {
        let _ = FAILURE.set(error);
    }
    match FAILURE.get() {
        Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain("standard output", &InputError::new(format!("cannot be written: {error}")))
        }
        _ => exit,
    }
}

/// Prints errors and warnings about a specification.
pub(crate) fn print_complaints(complaints: &[Complaint]) {
    for complaint in complaints {
        errln!("{}", complaint.render());
    }
}

/// Prints an error in the input or the command line.
pub(crate) fn complain(about: &str, error: &InputError) -> Exit {
    let (red, bold) = (anstyle::AnsiColor::Red.on_default().bold(), anstyle::Style::new().bold());
    // A quoted line is ours; the lines of a message are not.
    errln!("{red}error{red:#}{bold}:{bold:#} {}", quote::located(about, &lines(&error.message)));
    if let Some(help) = &error.help {
        errln!("{bold}help:{bold:#} {}", lines(help));
    }
    Exit::Wrong
}

/// Text of several lines, such as compiler output. All lines but the first begin with a mark of ours.
fn lines(text: &str) -> String {
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n  | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_at_words() {
        insta::assert_snapshot!(wrapped("  all schedules were explored for 3 tests", 24), @"
          all schedules were
            explored for 3 tests
        ");
        insta::assert_snapshot!(wrapped("target/omnilink/aab5fe-is-too-wide", 10), @"target/omnilink/aab5fe-is-too-wide");
    }
}

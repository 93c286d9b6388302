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

use crate::exit::Exit;

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
    errln!("{red}error{red:#}{bold}:{bold:#} {}: {}", clean(about), lines(&error.message));
    if let Some(help) = &error.help {
        errln!("{bold}help:{bold:#} {}", lines(help));
    }
    Exit::Wrong
}

/// Text of several lines, such as compiler output. All lines but the first begin with a mark of ours.
fn lines(text: &str) -> String {
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n  | ")
}

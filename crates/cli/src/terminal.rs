//! The border to the terminal: what is printed, what is complained about, and whether printing succeeded.
//!
//! Standard output may be a file on a full disk, or a pipe whose reader has ended. Nothing panics then: the first failure is
//! remembered, and [`finish`] makes it the end of the command. What errors quote comes from traces, which anything may have
//! written; it reaches a terminal or the log of an automation as visible characters only, and never at the beginning of a
//! line, where some automations take it for a command.

use std::fmt;
use std::io::{self, Write as _};
use std::sync::OnceLock;

use judge::{Complaint, InputError};
use report::clean;

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

/// Why standard output could not be written, the first time.
static FAILURE: OnceLock<io::Error> = OnceLock::new();

/// Prints to standard output. After a failure nothing more is printed.
pub(crate) fn print(text: fmt::Arguments<'_>) {
    if FAILURE.get().is_none()
        && let Err(error) = anstream::stdout().lock().write_fmt(text)
    {
        let _ = FAILURE.set(error);
    }
}

/// Prints to standard error. There is no other place to say that this failed.
pub(crate) fn print_error(text: fmt::Arguments<'_>) {
    let _ = anstream::stderr().lock().write_fmt(text);
}

/// The columns of the terminal that standard output is; any number will do if it is none.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size_of(io::stdout()).map_or(usize::MAX, |(width, _)| usize::from(width.0))
}

/// How the command ends, given how it would end if everything was printed. A reader that has ended has seen enough.
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

/// Prints what is wrong with a specification.
pub(crate) fn print_complaints(complaints: &[Complaint]) {
    for complaint in complaints {
        errln!("{}", complaint.render());
    }
}

/// Prints what is wrong with the input or the command line.
pub(crate) fn complain(about: &str, error: &InputError) -> Exit {
    let (red, bold) = (anstyle::AnsiColor::Red.on_default().bold(), anstyle::Style::new().bold());
    errln!("{red}error{red:#}{bold}:{bold:#} {}: {}", clean(about), lines(&error.message));
    if let Some(help) = &error.help {
        errln!("{bold}help:{bold:#} {}", lines(help));
    }
    Exit::Wrong
}

/// Text of several lines, such as the output of a compiler. All but the first begin with a mark of ours.
fn lines(text: &str) -> String {
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n  | ")
}

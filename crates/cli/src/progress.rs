//! The progress of commands that execute programs many times.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};

use crate::args::Progress;

/// Whether to print a line every few seconds.
pub(crate) fn shows_counters(progress: Progress) -> bool {
    match progress {
        Progress::Auto => !io::stderr().is_terminal(),
        Progress::Counters => true,
        Progress::Bar | Progress::None => false,
    }
}

/// A line that is written anew while the command runs.
pub(crate) fn bar(progress: Progress) -> ProgressBar {
    let is_shown = match progress {
        Progress::Auto => io::stderr().is_terminal(),
        Progress::Bar => true,
        Progress::Counters | Progress::None => false,
    };
    if !is_shown {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {wide_msg}").expect("a template that parses");
    ProgressBar::new_spinner().with_style(style)
}

//! The progress of commands that execute programs many times.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::args::Progress;

/// The time between two lines of counters.
const COUNTERS: Duration = Duration::from_secs(5);

/// A line that is written anew, or one every few seconds.
pub(crate) struct Display {
    bar: ProgressBar,
    is_counting: bool,
    began: Instant,
    shown: Instant,
}

impl Display {
    pub(crate) fn new(progress: Progress) -> Display {
        let is_terminal = io::stderr().is_terminal();
        let (has_bar, is_counting) = match progress {
            Progress::Auto => (is_terminal, !is_terminal),
            Progress::Bar => (true, false),
            Progress::Counters => (false, true),
            Progress::None => (false, false),
        };
        let bar = match has_bar {
            true => {
                let style = ProgressStyle::with_template("{spinner} {wide_msg}").expect("a template that parses");
                ProgressBar::new_spinner().with_style(style)
            }
            false => ProgressBar::hidden(),
        };
        Display { bar, is_counting, began: Instant::now(), shown: Instant::now() }
    }

    /// Shows this, if it is time.
    pub(crate) fn show(&mut self, message: String) {
        if self.is_counting && self.shown.elapsed() >= COUNTERS {
            self.shown = Instant::now();
            errln!("{:.0} s: {message}", self.began.elapsed().as_secs_f64());
        }
        self.bar.disable_steady_tick();
        self.bar.set_message(message);
        self.bar.tick();
    }

    /// Shows this on a terminal until something else is shown.
    pub(crate) fn wait(&self, message: String) {
        self.bar.set_message(message);
        self.bar.enable_steady_tick(Duration::from_millis(100));
    }

    /// Prints something else.
    pub(crate) fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

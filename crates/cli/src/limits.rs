//! What may stop a check, and what is shown while it runs. The one place that reads the clock.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use history::Stop;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use search::Stats;

use crate::args::{CheckArgs, Progress};

/// What may stop a check, and how to show that it goes on.
pub(crate) struct Settings {
    pub(crate) timeout: Option<Duration>,
    /// In bytes.
    pub(crate) max_memory: u64,
    pub(crate) progress: Progress,
}

impl From<&CheckArgs> for Settings {
    fn from(args: &CheckArgs) -> Settings {
        Settings { timeout: args.about.timeout, max_memory: args.max_memory.as_u64(), progress: args.progress }
    }
}

/// Set once somebody has asked the command to stop.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Lets the next look at any check stop it when the user interrupts the command.
pub(crate) fn catch_interrupts() {
    // Without a handler an interrupt ends the command at once, which is all right too.
    let _ = ctrlc::set_handler(|| {
        // Who asks a second time does not want to wait.
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            #[expect(clippy::exit, reason = "nothing is left to do")]
            std::process::exit(130);
        }
    });
}

/// True if somebody has asked the command to stop.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Watches one check.
pub(crate) struct Limits {
    deadline: Option<Instant>,
    max_memory: u64,
    started: Instant,
    shown: Mutex<Shown>,
}

struct Shown {
    next_memory: Instant,
    next: Instant,
    how: How,
}

enum How {
    Bar(ProgressBar),
    Counters,
    Nothing,
}

/// Between two looks at the memory in use, which cost a few microseconds each.
const MEMORY: Duration = Duration::from_millis(2);

/// Between two changes of the progress bar, or two lines of counters.
const BAR: Duration = Duration::from_millis(100);
const COUNTERS: Duration = Duration::from_secs(5);

impl Limits {
    pub(crate) fn new(settings: &Settings, label: &str) -> Limits {
        let started = Instant::now();
        let is_terminal = std::io::stderr().is_terminal();
        let how = match settings.progress {
            Progress::Bar => How::Bar(bar(label)),
            Progress::Auto if is_terminal => How::Bar(bar(label)),
            Progress::Auto | Progress::Counters => How::Counters,
            Progress::None => How::Nothing,
        };
        let next = started + how.pause();
        Limits {
            deadline: settings.timeout.map(|timeout| started + timeout),
            max_memory: settings.max_memory,
            started,
            shown: Mutex::new(Shown { next_memory: started, next, how }),
        }
    }

    /// Why to stop now, if there is a reason. What to show is computed from the seconds that have passed, if it is time to.
    pub(crate) fn stop(&self, progress: impl FnOnce(f64) -> String) -> Option<Stop> {
        let now = Instant::now();
        if INTERRUPTED.load(Ordering::Relaxed) {
            return Some(Stop::Interrupted);
        }
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            return Some(Stop::Time);
        }
        // Several threads may look at once; one is enough for the rest.
        let mut shown = self.shown.try_lock().ok()?;
        if now >= shown.next_memory {
            shown.next_memory = now + MEMORY;
            if is_memory_above(self.max_memory) {
                return Some(Stop::Memory);
            }
        }
        if now >= shown.next {
            shown.next = now + shown.how.pause();
            show(&shown.how, progress((now - self.started).as_secs_f64()));
        }
        None
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

impl judge::Limits for Limits {
    fn look(&self, stats: &Stats) -> Option<Stop> {
        self.stop(|seconds| {
            let rate = HumanCount((stats.operations as f64 / seconds) as u64);
            format!(
                "{} operations, {rate} per second, {} configurations at once",
                HumanCount(stats.operations),
                HumanCount(stats.width as u64)
            )
        })
    }

    fn exceeded(&self) -> Option<Stop> {
        if INTERRUPTED.load(Ordering::Relaxed) {
            return Some(Stop::Interrupted);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Some(Stop::Time);
        }
        is_memory_above(self.max_memory).then_some(Stop::Memory)
    }
}

fn show(how: &How, text: String) {
    match how {
        How::Bar(bar) => {
            bar.set_message(text);
            bar.tick();
        }
        How::Counters => anstream::eprintln!("{text}"),
        How::Nothing => {}
    }
}

impl How {
    fn pause(&self) -> Duration {
        if matches!(self, How::Bar(_)) { BAR } else { COUNTERS }
    }
}

impl Drop for Limits {
    fn drop(&mut self) {
        if let Ok(Shown { how: How::Bar(bar), .. }) = self.shown.get_mut() {
            bar.finish_and_clear();
        }
    }
}

/// True if the process uses more memory than this.
fn is_memory_above(limit: u64) -> bool {
    memory_stats::memory_stats().is_some_and(|memory| memory.physical_mem as u64 > limit)
}

fn bar(label: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {prefix}: {wide_msg}").expect("a template that parses");
    ProgressBar::new_spinner().with_style(style).with_prefix(label.to_owned())
}

//! The limits of a check, and its progress display. No other place of the command reads the clock to stop a check.
//!
//! A command runs on a thread of its own, and the main thread watches it ([`supervise`]). Every few milliseconds it
//! polls the clock, the memory in use and interrupts, and every running check: a check that has exceeded its limits is
//! told to stop, and one that continues is shown. A check that does not stop in time is abandoned, if it says how: the
//! command ends with the results so far, whatever the check is doing. So no loop that forgets to poll can break a
//! limit.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use omnilink_history::{Halt, Stop};
use omnilink_judge::Stage;
use omnilink_search::Stats;

use crate::args::Progress;
use crate::exit::Exit;

/// The limits of a check, and its progress display.
pub(crate) struct Settings {
    pub(crate) timeout: Option<Duration>,
    /// In bytes.
    pub(crate) max_memory: u64,
    pub(crate) progress: Progress,
}

/// Set once the user has asked the command to stop.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Lets an interrupt stop every running check, instead of ending the command at once.
pub(crate) fn catch_interrupts() {
    // Without a handler an interrupt ends the command at once, which is acceptable too.
    let _ = ctrlc::set_handler(|| {
        // A second interrupt ends the command immediately.
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            #[expect(clippy::exit, reason = "nothing is left to do")]
            std::process::exit(130);
        }
    });
}

/// True if the user has asked the command to stop.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// The running checks.
static ACTIVE: Mutex<Vec<Arc<Shared>>> = Mutex::new(Vec::new());

/// The polling interval: while checks are running, and otherwise.
const TICK: Duration = Duration::from_millis(5);
const IDLE: Duration = Duration::from_millis(20);

/// The time a check has to stop. Memory grows by up to a gigabyte a second, so there is little time then.
fn patience(stop: Stop) -> Duration {
    Duration::from_millis(if stop == Stop::Memory { 30 } else { 400 })
}

/// The time between two updates of the progress bar, or two lines of counters.
const BAR: Duration = Duration::from_millis(100);
const COUNTERS: Duration = Duration::from_secs(5);

/// The stack size of a command's thread: that of a main thread.
const STACK: usize = 8 << 20;

/// Runs a command and watches its checks. Returns the command's result, or how the command ends if a check was
/// abandoned.
pub(crate) fn supervise<R: Send + 'static>(command: impl FnOnce() -> R + Send + 'static) -> Result<R, Exit> {
    let (done, result) = channel();
    let started = std::thread::Builder::new().stack_size(STACK).spawn(move || done.send(command()));
    let thread = started.expect("a machine that runs one thread more");
    let mut has_checks = false;
    loop {
        match result.recv_timeout(if has_checks { TICK } else { IDLE }) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(_) => unreachable!("a command that has ended says how"),
            },
        }
        let active = lock(&ACTIVE).clone();
        has_checks = !active.is_empty();
        let memory = if has_checks { memory() } else { 0 };
        for check in active {
            if let Some(exit) = check.watch(memory) {
                return Err(exit);
            }
        }
    }
}

/// Watches one check, until it is dropped.
pub(crate) struct Limits(Arc<Shared>);

/// The state shared by the check and the main thread.
struct Shared {
    deadline: Option<Instant>,
    max_memory: u64,
    started: Instant,
    halt: Halt,
    /// When it was told to stop.
    halted: OnceLock<Instant>,
    /// The progress of the check: a [`Stage`], operations, and configurations.
    stage: AtomicU8,
    operations: AtomicU64,
    width: AtomicU64,
    /// The number of all operations; 0 if unknown.
    total: AtomicU64,
    /// The progress in words, if the check provides them.
    words: Mutex<Option<String>>,
    wants_words: AtomicBool,
    shown: Mutex<Shown>,
    abandon: Mutex<Option<Abandon>>,
}

/// Ends the command although a check is running.
type Abandon = Box<dyn FnOnce(GivenUp) -> Exit + Send>;

/// The results of a check that did not stop in time.
pub(crate) struct GivenUp {
    pub(crate) stop: Stop,
    pub(crate) stage: Stage,
    pub(crate) operations: u64,
    pub(crate) elapsed: Duration,
}

struct Shown {
    next: Instant,
    how: How,
}

enum How {
    Bar(ProgressBar),
    Counters,
    Nothing,
}

impl Limits {
    pub(crate) fn new(settings: &Settings, label: &str) -> Limits {
        let started = Instant::now();
        // A monitor makes limits for each check, so nothing is asked of the system that is not needed.
        let how = match settings.progress {
            Progress::Bar => How::Bar(bar(label)),
            Progress::Auto if std::io::stderr().is_terminal() => How::Bar(bar(label)),
            Progress::Auto | Progress::Counters => How::Counters,
            Progress::None => How::Nothing,
        };
        let shared = Arc::new(Shared {
            deadline: settings.timeout.map(|timeout| started + timeout),
            max_memory: settings.max_memory,
            started,
            halt: Halt::default(),
            halted: OnceLock::new(),
            stage: AtomicU8::new(0),
            operations: AtomicU64::new(0),
            width: AtomicU64::new(0),
            total: AtomicU64::new(0),
            words: Mutex::new(None),
            wants_words: AtomicBool::new(true),
            shown: Mutex::new(Shown { next: started + how.pause(), how }),
            abandon: Mutex::new(None),
        });
        lock(&ACTIVE).push(shared.clone());
        Limits(shared)
    }

    /// Watches everything that a command does about a subject, and ends the command if that does not stop in time.
    pub(crate) fn around(settings: &Settings, label: &str) -> Limits {
        let quiet = Settings { progress: Progress::None, ..*settings };
        let limits = Limits::new(&quiet, label);
        let label = label.to_owned();
        limits.abandon(move |given_up| {
            errln!("{}: inconclusive: {}", omnilink_report::clean(&label), given_up.stop);
            if given_up.stop == Stop::Interrupted { Exit::Interrupted } else { Exit::Inconclusive }
        });
        limits
    }

    /// Sets how the command ends if the check does not stop in time. Without this the command waits for it.
    pub(crate) fn abandon(&self, abandon: impl FnOnce(GivenUp) -> Exit + Send + 'static) {
        *lock(&self.0.abandon) = Some(Box::new(abandon));
    }

    /// The reason to stop now, if any. The progress in words is computed from the seconds passed, if it is due.
    pub(crate) fn stop(&self, progress: impl FnOnce(f64) -> String) -> Option<Stop> {
        if self.0.wants_words.swap(false, Ordering::Relaxed) {
            *lock(&self.0.words) = Some(progress(self.elapsed().as_secs_f64()));
        }
        self.0.halt.reason()
    }

    /// Raised when the check has to stop.
    pub(crate) fn halt(&self) -> &Halt {
        &self.0.halt
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.0.started.elapsed()
    }

    /// Prints something while the check is running, without the progress bar in between.
    pub(crate) fn print(&self, print: impl FnOnce()) {
        match &lock(&self.0.shown).how {
            How::Bar(bar) => bar.suspend(print),
            How::Counters | How::Nothing => print(),
        }
    }
}

impl omnilink_judge::Limits for Limits {
    fn poll(&self, stats: &Stats) -> Option<Stop> {
        self.0.stage.store(Stage::Searching as u8, Ordering::Relaxed);
        self.0.operations.store(stats.operations, Ordering::Relaxed);
        self.0.width.store(stats.width as u64, Ordering::Relaxed);
        self.0.halt.reason()
    }

    fn reached(&self, stage: Stage, operations: u64) {
        self.0.stage.store(stage as u8, Ordering::Relaxed);
        self.0.operations.store(operations, Ordering::Relaxed);
    }

    fn total(&self, operations: u64) {
        self.0.total.store(operations, Ordering::Relaxed);
    }

    fn exceeded(&self) -> Option<Stop> {
        self.0.halt.reason()
    }

    fn memory_left(&self) -> Option<u64> {
        Some(self.0.max_memory.saturating_sub(memory_stats::memory_stats()?.physical_mem as u64))
    }
}

impl Drop for Limits {
    fn drop(&mut self) {
        lock(&ACTIVE).retain(|check| !Arc::ptr_eq(check, &self.0));
        // The main thread may hold on to it for another moment.
        let mut shown = lock(&self.0.shown);
        if let How::Bar(bar) = std::mem::replace(&mut shown.how, How::Nothing) {
            bar.finish_and_clear();
        }
        *lock(&self.0.abandon) = None;
    }
}

impl Shared {
    /// Tells the check to stop if it has to, and shows its progress. Returns how the command ends if it does not wait.
    fn watch(&self, memory: u64) -> Option<Exit> {
        let now = Instant::now();
        if let Some(stop) = self.halt.reason() {
            let is_late = self.halted.get().is_some_and(|halted| now >= *halted + patience(stop));
            let abandon = is_late.then(|| lock(&self.abandon).take()).flatten()?;
            if let How::Bar(bar) = std::mem::replace(&mut lock(&self.shown).how, How::Nothing) {
                bar.finish_and_clear();
            }
            let (stage, operations) = (self.stage(), self.operations.load(Ordering::Relaxed));
            return Some(abandon(GivenUp { stop, stage, operations, elapsed: now - self.started }));
        }
        let stop = match () {
            () if is_interrupted() => Some(Stop::Interrupted),
            () if self.deadline.is_some_and(|deadline| now >= deadline) => Some(Stop::Time),
            () if memory > self.max_memory => Some(Stop::Memory),
            () => None,
        };
        if let Some(stop) = stop {
            let _ = self.halted.set(now);
            self.halt.raise(stop);
            return None;
        }
        let mut shown = lock(&self.shown);
        if now >= shown.next {
            shown.next = now + shown.how.pause();
            let text = lock(&self.words).clone().unwrap_or_else(|| self.progress(now - self.started));
            self.wants_words.store(true, Ordering::Relaxed);
            show(&shown.how, text);
        }
        None
    }

    fn stage(&self) -> Stage {
        Stage::ALL.get(usize::from(self.stage.load(Ordering::Relaxed))).copied().unwrap_or_default()
    }

    /// The progress of the check.
    fn progress(&self, elapsed: Duration) -> String {
        let [operations, width, total] =
            [&self.operations, &self.width, &self.total].map(|n| n.load(Ordering::Relaxed));
        let stage = self.stage();
        let done = match total {
            0 => format!("{} operations", HumanCount(operations)),
            _ => format!("{} of {} operations", HumanCount(operations), HumanCount(total)),
        };
        let passed = elapsed.as_secs();
        match stage {
            Stage::Searching => {
                let rate = operations as f64 / elapsed.as_secs_f64().max(0.001);
                let left = ((total.saturating_sub(operations)) as f64 / rate.max(1.0)).ceil() as u64;
                let left = if left > 0 { format!(", {} s left", HumanCount(left)) } else { String::new() };
                format!("{done}, {}/s{left}, width {}", HumanCount(rate as u64), HumanCount(width))
            }
            Stage::Following => {
                let events = format!("{} of {} events explained", HumanCount(operations), HumanCount(total));
                format!("{events}, {} configurations, {passed} s", HumanCount(width))
            }
            Stage::Reading | Stage::Binding if operations > 0 => format!("{stage}, {done}, {passed} s"),
            _ if total > 0 => format!("{stage}, {} operations, {passed} s", HumanCount(total)),
            _ => format!("{stage}, {passed} s"),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The data behind these locks is valid after every single change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn show(how: &How, text: String) {
    match how {
        How::Bar(bar) => {
            bar.set_message(text);
            bar.tick();
        }
        How::Counters => errln!("{text}"),
        How::Nothing => {}
    }
}

impl How {
    fn pause(&self) -> Duration {
        if matches!(self, How::Bar(_)) { BAR } else { COUNTERS }
    }
}

/// The memory used by the process, in bytes.
fn memory() -> u64 {
    memory_stats::memory_stats().map_or(0, |memory| memory.physical_mem as u64)
}

/// The maximum number of characters of a history's name in a progress bar.
const NAME: usize = 20;

fn bar(label: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {prefix}: {wide_msg}").expect("a template that parses");
    // The end of a path says which one it is, and the line has to have room for the numbers.
    let name = label.rsplit('/').next().unwrap_or(label);
    let name: String = omnilink_report::clean(name).chars().take(NAME).collect();
    ProgressBar::new_spinner().with_style(style).with_prefix(name)
}

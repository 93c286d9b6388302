//! One partition of the input, or all of it: its monitor, its source, and where its state is stored.

use std::path::Path;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use ::omnilink_monitor::share::Claim;
use ::omnilink_monitor::{Alert, BadCheckpoint, Checkpoint, Line, Monitor};
use omnilink_history::End;
use omnilink_judge::Judge;
use omnilink_report::clean;
use serde_json::Value;

use super::ledger::Intervals;
use super::serve::Shared;
use super::source::{Came, Source};
use super::store::Stored;
use super::tell::Teller;
use super::{options, wrong};
use crate::args::{MonitorArgs, Progress};
use crate::exit::Exit;
use crate::limits;
use crate::outcome::print_spec_error;

/// A partition that is being watched.
pub(super) struct Partition<'a> {
    pub(super) args: &'a MonitorArgs,
    /// Its number, if the input has partitions.
    pub(super) number: Option<u32>,
    pub(super) monitor: Monitor,
    pub(super) source: Source,
    pub(super) state: State,
    intervals: Option<Intervals>,
    outcomes: Outcomes,
}

/// Counts operations that come without an outcome.
#[derive(Default)]
struct Outcomes {
    operations: u64,
    unknown: u64,
    is_said: bool,
}

/// The number of operations after which the monitor may warn that most have no outcome.
const ENOUGH: u64 = 100;

impl Outcomes {
    fn note(&mut self, line: &Line, args: &MonitorArgs) {
        let Line::Operation(item) = line else { return };
        self.operations += 1;
        self.unknown += u64::from(item.end == End::Unknown { latest: None } && !item.call.failed);
        let Outcomes { operations, unknown, is_said } = *self;
        if operations >= ENOUGH && unknown * 2 > operations && !is_said {
            self.is_said = true;
            errln!(
                "{unknown} of the first {operations} operations came without an outcome, and little can be decided about them"
            );
            if args.source == Path::new("-") {
                errln!(
                    "help: if a recorder overwrites lines, as those for Python and Java do, name its file as SOURCE instead of a pipe"
                );
            }
        }
    }
}

/// The limits of the check of a key.
fn limits(args: &MonitorArgs, key: &str) -> Box<dyn omnilink_judge::Limits> {
    let settings = limits::Settings {
        timeout: Some(args.timeout),
        max_memory: args.max_memory.as_u64(),
        progress: Progress::None,
    };
    Box::new(limits::Limits::new(&settings, key))
}

/// Where the state is stored.
pub(super) enum State {
    None,
    File(Stored),
    /// In the store of a group; `None` once the partition is lost.
    Group(Option<Claim>),
}

/// Where alerts and counts go, of all partitions.
pub(super) struct Outlet {
    pub(super) teller: Mutex<Teller>,
    pub(super) shared: Option<Shared>,
}

impl Outlet {
    fn tell(&self, partition: Option<u32>, alerts: Vec<Alert>) -> Result<(), Exit> {
        if alerts.is_empty() {
            return Ok(());
        }
        self.teller.lock().unwrap_or_else(PoisonError::into_inner).tell(partition, alerts)
    }

    /// Waits until everything was told.
    pub(super) fn finish(self) {
        self.teller.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
    }
}

/// The monitor that a state describes, and its position; a new one if there is no state.
pub(super) fn restore(
    args: &MonitorArgs,
    text: Option<&str>,
) -> Result<Result<(Monitor, Option<Value>), BadCheckpoint>, Exit> {
    let judge =
        Judge::new(&args.spec, omnilink_judge::CheckOptions::default()).map_err(|failed| print_spec_error(&failed))?;
    let Some(text) = text else { return Ok(Ok((Monitor::new(judge, options(args)), None))) };
    let checkpoint = Checkpoint::read(text, &subject(args), judge, options(args));
    Ok(checkpoint.map(|Checkpoint { position, monitor }| (monitor, Some(position))))
}

/// What a state is about: it means nothing with another specification, other keys or another unit of time.
fn subject(args: &MonitorArgs) -> String {
    let key = if args.one_object { "one object".to_owned() } else { format!("key {}", args.key) };
    format!("{}, {key}, in {}", args.spec, args.clock.name())
}

impl<'a> Partition<'a> {
    pub(super) fn new(
        args: &'a MonitorArgs,
        number: Option<u32>,
        (monitor, position): (Monitor, Option<Value>),
        source: Source,
        state: State,
    ) -> Partition<'a> {
        let intervals = Intervals::new(args, &monitor, position.as_ref());
        Partition { args, number, monitor, source, state, intervals, outcomes: Outcomes::default() }
    }

    /// Watches until the input ends, it is stopped, or the partition is lost. What is certain by then is told and stored.
    /// Returns false if the partition is lost.
    pub(super) fn run(&mut self, outlet: &Outlet, is_stopped: &dyn Fn() -> bool) -> Result<bool, Exit> {
        let (every, number) = (self.args.every, self.number);
        let (mut ticked, mut saved) = (Instant::now(), Instant::now());
        let mut is_over = false;
        while !is_over && !is_stopped() {
            match self.source.receive(every.saturating_sub(ticked.elapsed())) {
                Ok(Came::Lines(lines)) => lines.into_iter().for_each(|line| self.feed(line)),
                Ok(Came::Failed(error)) => return Err(wrong(&self.args.source, error)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => is_over = true,
            }
            let mut is_noted = false;
            if ticked.elapsed() >= every || is_over {
                ticked = Instant::now();
                let alerts = self.monitor.advance_within(&|key| limits(self.args, key));
                outlet.tell(number, alerts)?;
                self.show(outlet);
                is_noted = self.note(false)?;
            }
            // A state that is older than an entry of the ledger would lead to the same entry again.
            if saved.elapsed() >= self.args.checkpoint_every || is_noted {
                saved = Instant::now();
                if let Some(text) = self.text()?
                    && !self.store(&text, false)?
                {
                    return Ok(false);
                }
            }
        }
        // The end of the input is no part of the state: with more input, the next monitor goes on as if there had been none.
        // An interrupt ends the monitor, not the system: the rest comes to the next one.
        let text = self.text()?;
        if is_over {
            let alerts = self.monitor.finish_within(self.args.complete, &|key| limits(self.args, key));
            outlet.tell(number, alerts)?;
        }
        self.show(outlet);
        self.note(true)?;
        let Some(text) = text else { return Ok(true) };
        // The ledger has the findings of the end.
        let text = Checkpoint::at(&text, self.position()).map_err(|error| wrong(&self.args.source, error))?;
        self.store(&text, true)
    }

    fn feed(&mut self, line: Result<Line, String>) {
        match line {
            Ok(line) => {
                self.outcomes.note(&line, self.args);
                self.monitor.feed(line);
            }
            Err(why) => {
                errln!("{}", clean(&why));
                self.monitor.feed_unreadable();
            }
        }
    }

    /// Adds an entry to the ledger, if there is one and it is time. Returns whether it did.
    fn note(&mut self, is_last: bool) -> Result<bool, Exit> {
        match &mut self.intervals {
            Some(intervals) => intervals.note(&self.monitor, is_last),
            None => Ok(false),
        }
    }

    fn show(&self, outlet: &Outlet) {
        if let Some(shared) = &outlet.shared {
            shared.update(self.number.unwrap_or(0), &self.monitor);
        }
    }

    /// The position in the input, with the interval that the ledger does not have yet.
    fn position(&self) -> Value {
        let mut position = self.source.position();
        if let Some(intervals) = &self.intervals {
            position["interval"] = intervals.save();
        }
        position
    }

    /// The state, if it is to be stored.
    fn text(&self) -> Result<Option<String>, Exit> {
        if matches!(self.state, State::None) {
            return Ok(None);
        }
        let text = self.monitor.save(&subject(self.args), &self.position());
        text.map(Some).map_err(|error| wrong(&self.args.source, error))
    }

    /// Stores the state. Returns false if the partition belongs to another monitor.
    fn store(&mut self, text: &str, is_last: bool) -> Result<bool, Exit> {
        match &mut self.state {
            State::None => {}
            State::File(stored) => stored.write(text).map_err(|error| wrong(stored.path(), error))?,
            State::Group(claim) => {
                let stored = match claim.take() {
                    None => return Ok(false),
                    Some(owned) if is_last => owned.release(text),
                    Some(mut owned) => owned.write(text).map(|()| *claim = Some(owned)),
                };
                if let Err(lost) = stored {
                    errln!("{}", clean(&lost.to_string()));
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

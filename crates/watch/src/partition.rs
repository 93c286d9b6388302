//! One partition of the input, or all of it: its monitor, its source, and the place of its state.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Instant;

use omnilink_history::End;
use omnilink_monitor::share::Claim;
use omnilink_monitor::{Alert, BadCheckpoint, Checkpoint, Line, LineMonitor};
use serde_json::Value;

use crate::error::WatchError;
use crate::interval::Intervals;
use crate::options::WatchOptions;
use crate::outlet::{Notice, Outlet};
use crate::source::{Came, Position, Source};
use crate::state::StateFile;
use crate::subject::Subject;

/// A partition that is being watched.
pub(crate) struct Partition<'a> {
    options: &'a WatchOptions,
    /// Its number, if the input has partitions.
    number: Option<u32>,
    pub(crate) monitor: Box<dyn LineMonitor>,
    source: Source,
    state: State,
    intervals: Option<Intervals>,
    outcomes: Outcomes,
}

/// A monitor, its position, and the interval that was unfinished there.
pub(crate) struct Restored {
    pub(crate) monitor: Box<dyn LineMonitor>,
    pub(crate) position: Position,
    interval: Option<Value>,
}

impl Restored {
    /// Makes a new monitor, at the beginning of its input.
    pub(crate) fn new(subject: Subject, options: &WatchOptions) -> Result<Restored, WatchError> {
        Ok(Restored { monitor: subject.monitor(options)?, position: Position::default(), interval: None })
    }

    /// Reads the monitor from a stored state.
    pub(crate) fn read(text: &str, subject: Subject, options: &WatchOptions) -> Result<Restored, BadCheckpoint> {
        let (position, monitor) = subject.read(text, options)?;
        Ok(Restored { monitor, interval: position.get("interval").cloned(), position: Position::read(&position) })
    }
}

/// The place of the state.
pub(crate) enum State {
    None,
    File(StateFile),
    /// In the store of a group; `None` once the partition is lost.
    Group(Option<Claim>),
}

/// Counts operations without an outcome.
#[derive(Default)]
struct Outcomes {
    operations: u64,
    unknown: u64,
    is_said: bool,
}

/// The number of operations after which the monitor may warn that most have no outcome.
const ENOUGH: u64 = 100;

impl Outcomes {
    /// Notes a line. Returns a warning, once.
    fn note(&mut self, line: &Line) -> Option<Notice> {
        let Line::Operation(item) = line else { return None };
        self.operations += 1;
        self.unknown += u64::from(item.end == End::Unknown { latest: None } && !item.call.failed);
        let Outcomes { operations, unknown, is_said } = *self;
        let is_due = operations >= ENOUGH && unknown * 2 > operations && !is_said;
        self.is_said |= is_due;
        is_due.then_some(Notice::NoOutcomes { unknown, operations })
    }
}

impl<'a> Partition<'a> {
    pub(crate) fn new(
        options: &'a WatchOptions,
        number: Option<u32>,
        Restored { monitor, interval, .. }: Restored,
        source: Source,
        state: State,
    ) -> Partition<'a> {
        let intervals = options.interval.map(|every| Intervals::new(every, &*monitor, interval.as_ref()));
        Partition { options, number, monitor, source, state, intervals, outcomes: Outcomes::default() }
    }

    /// Watches until the input ends, the outlet stops it, or the partition is lost. Reports and stores all findings that
    /// are certain by then. Returns false if the partition is lost.
    pub(crate) fn run(&mut self, outlet: &dyn Outlet, is_stopped: &dyn Fn() -> bool) -> Result<bool, WatchError> {
        let every = self.options.every;
        let (mut ticked, mut saved) = (Instant::now(), Instant::now());
        let mut is_over = false;
        while !is_over && !is_stopped() {
            match self.source.receive(every.saturating_sub(ticked.elapsed())) {
                Ok(Came::Lines(lines)) => lines.into_iter().for_each(|line| self.feed(line, outlet)),
                Ok(Came::Failed(error)) => return Err(self.wrong(error)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => is_over = true,
            }
            let mut is_noted = false;
            if ticked.elapsed() >= every || is_over {
                ticked = Instant::now();
                let alerts = self.monitor.advance_within(&|key| outlet.limits(key));
                self.tell(alerts, outlet)?;
                self.show(outlet);
                is_noted = self.note(outlet, false)?;
            }
            // A state older than a reported interval would lead to the same interval again.
            if saved.elapsed() >= self.options.store_every || is_noted {
                saved = Instant::now();
                if let Some(text) = self.text()?
                    && !self.store(&text, outlet, false)?
                {
                    return Ok(false);
                }
            }
        }
        // The state does not include the end of the input: with more input, the next monitor continues as if there had been
        // no end. An interrupt ends the monitor, not the system: the next monitor gets the rest.
        let text = self.text()?;
        if is_over {
            let alerts = self.monitor.finish_within(self.options.is_complete, &|key| outlet.limits(key));
            self.tell(alerts, outlet)?;
        }
        self.show(outlet);
        self.note(outlet, true)?;
        let Some(text) = text else { return Ok(true) };
        // The last interval includes the findings at the end.
        let text = Checkpoint::at(&text, self.position()).map_err(|error| self.wrong(error))?;
        self.store(&text, outlet, true)
    }

    fn feed(&mut self, line: Result<Line, String>, outlet: &dyn Outlet) {
        match line {
            Ok(line) => {
                if let Some(warning) = self.outcomes.note(&line) {
                    outlet.notice(warning);
                }
                self.monitor.feed(line);
            }
            Err(why) => {
                outlet.notice(Notice::Unreadable(why));
                self.monitor.feed_unreadable();
            }
        }
    }

    fn tell(&self, alerts: Vec<Alert>, outlet: &dyn Outlet) -> Result<(), WatchError> {
        if alerts.is_empty() {
            return Ok(());
        }
        if let Some(status) = &self.options.status {
            status.raise(self.number, &alerts);
        }
        outlet.alerts(self.number, alerts)
    }

    /// Reports an interval if it is over. Returns whether it did.
    fn note(&mut self, outlet: &dyn Outlet, is_last: bool) -> Result<bool, WatchError> {
        let over = self.intervals.as_mut().and_then(|intervals| intervals.end(&*self.monitor, is_last));
        let is_noted = over.is_some();
        over.map_or(Ok(()), |interval| outlet.interval(interval))?;
        Ok(is_noted)
    }

    fn show(&self, outlet: &dyn Outlet) {
        if let Some(status) = &self.options.status {
            status.update(self.number.unwrap_or(0), &*self.monitor);
        }
        outlet.advanced();
    }

    /// The position in the input, with the unfinished interval.
    fn position(&self) -> Value {
        let mut position = self.source.position();
        if let Some(intervals) = &self.intervals {
            position["interval"] = intervals.save();
        }
        position
    }

    /// The state as text, if it must be stored.
    fn text(&self) -> Result<Option<String>, WatchError> {
        if matches!(self.state, State::None) {
            return Ok(None);
        }
        let text = self.monitor.save(&self.options.subject, &self.position());
        text.map(Some).map_err(|error| self.wrong(error))
    }

    /// Stores the state. Returns false if the partition belongs to another monitor.
    fn store(&mut self, text: &str, outlet: &dyn Outlet, is_last: bool) -> Result<bool, WatchError> {
        match &mut self.state {
            State::None => {}
            State::File(file) => file.write(text)?,
            State::Group(claim) => {
                let stored = match claim.take() {
                    None => return Ok(false),
                    Some(owned) if is_last => owned.release(text),
                    Some(mut owned) => owned.write(text).map(|()| *claim = Some(owned)),
                };
                if let Err(lost) = stored {
                    outlet.notice(Notice::Lost(lost.to_string()));
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn wrong(&self, error: impl std::fmt::Display) -> WatchError {
        WatchError::new(self.source.name.clone(), error)
    }
}

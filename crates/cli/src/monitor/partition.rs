//! One partition of the input, or all of it: its monitor, its source, and where its state is stored.

use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use ::monitor::share::Claim;
use ::monitor::{Alert, BadCheckpoint, Checkpoint, Monitor};
use judge::Judge;
use serde_json::Value;

use super::ledger::Intervals;
use super::serve::Shared;
use super::source::{Came, Source};
use super::store::Stored;
use super::tell::Teller;
use super::{options, wrong};
use crate::args::MonitorArgs;
use crate::exit::Exit;
use crate::outcome::print_spec_error;

/// A partition that is being watched.
pub(super) struct Partition<'a> {
    pub(super) args: &'a MonitorArgs,
    /// Its number, if the input has partitions.
    pub(super) number: Option<u32>,
    pub(super) monitor: Monitor,
    pub(super) source: Source,
    pub(super) state: State,
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
    let judge = Judge::new(&args.spec, judge::Options::default()).map_err(|failed| print_spec_error(&failed))?;
    let Some(text) = text else { return Ok(Ok((Monitor::new(judge, options(args)), None))) };
    let checkpoint = Checkpoint::read(text, &subject(args), judge, options(args));
    Ok(checkpoint.map(|Checkpoint { position, monitor }| (monitor, Some(position))))
}

/// What a state is about: it means nothing with another specification, other keys or another unit of time.
fn subject(args: &MonitorArgs) -> String {
    let key = if args.one_object { "one object".to_owned() } else { format!("key {}", args.key) };
    format!("{}, {key}, in {}", args.spec, args.clock.name())
}

impl Partition<'_> {
    /// Watches until the input ends, it is stopped, or the partition is lost. What is certain by then is told and stored.
    /// Returns false if the partition is lost.
    pub(super) fn run(&mut self, outlet: &Outlet, is_stopped: &dyn Fn() -> bool) -> Result<bool, Exit> {
        let (every, number) = (self.args.every, self.number);
        let (mut ticked, mut saved) = (Instant::now(), Instant::now());
        let mut intervals = Intervals::new(self.args, &self.monitor);
        let mut is_over = false;
        while !is_over && !is_stopped() {
            match self.source.receive(every.saturating_sub(ticked.elapsed())) {
                Ok(Came::Lines(lines)) => {
                    for line in lines {
                        match line {
                            Ok(line) => self.monitor.feed(line),
                            Err(why) => {
                                errln!("{why}");
                                self.monitor.feed_unreadable();
                            }
                        }
                    }
                }
                Ok(Came::Failed(error)) => return Err(wrong(&self.args.source, error)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => is_over = true,
            }
            if ticked.elapsed() >= every || is_over {
                ticked = Instant::now();
                outlet.tell(number, self.monitor.advance())?;
                self.show(outlet);
                intervals.iter_mut().try_for_each(|intervals| intervals.note(&self.monitor, false))?;
            }
            if saved.elapsed() >= self.args.checkpoint_every {
                saved = Instant::now();
                if !self.save(false)? {
                    return Ok(false);
                }
            }
        }
        // An interrupt ends the monitor, not the system: the rest comes to the next one.
        if is_over {
            outlet.tell(number, self.monitor.finish(self.args.complete))?;
        }
        self.show(outlet);
        intervals.iter_mut().try_for_each(|intervals| intervals.note(&self.monitor, true))?;
        self.save(true)
    }

    fn show(&self, outlet: &Outlet) {
        if let Some(shared) = &outlet.shared {
            shared.update(self.number.unwrap_or(0), &self.monitor);
        }
    }

    /// Stores the state. Returns false if the partition belongs to another monitor.
    fn save(&mut self, is_last: bool) -> Result<bool, Exit> {
        if matches!(self.state, State::None) {
            return Ok(true);
        }
        let text = self.monitor.save(&subject(self.args), &self.source.position());
        let text = text.map_err(|error| wrong(&self.args.source, error))?;
        match &mut self.state {
            State::None => {}
            State::File(stored) => stored.write(&text).map_err(|error| wrong(stored.path(), error))?,
            State::Group(claim) => {
                let stored = match claim.take() {
                    None => return Ok(false),
                    Some(owned) if is_last => owned.release(&text),
                    Some(mut owned) => owned.write(&text).map(|()| *claim = Some(owned)),
                };
                if let Err(lost) = stored {
                    errln!("{lost}");
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

//! Watches the partitions of a log, together with other monitors.
//!
//! Each partition that this monitor owns has a thread. [`omnilink_monitor::share`] decides which ones it owns.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use omnilink_judge::Judge;
use omnilink_monitor::Counts;
use omnilink_monitor::share::{Claim, Log, Member, Store, StoreError};

use crate::error::WatchError;
use crate::options::WatchOptions;
use crate::outlet::{Notice, Outlet};
use crate::partition::{Partition, Restored, State};
use crate::source::Source;
use crate::subject::Subject;

/// The time between two checks for partitions that ended.
const TICK: Duration = Duration::from_millis(50);

/// The entry that names the input of the states of a group.
const INPUT: &str = "input";

/// A monitor of a group that shares the partitions of a log.
pub struct Group {
    /// The name of the source, for errors.
    pub name: String,
    /// The name of the log that the states of the group belong to.
    pub stream: String,
    /// The log.
    pub log: Arc<dyn Log>,
    /// The store with the states of the group.
    pub store: Arc<dyn Store>,
    /// Take over the partitions of a monitor that has been silent for this long.
    pub lease: Duration,
}

/// A partition with its thread.
struct Running<'scope> {
    is_stopped: Arc<AtomicBool>,
    thread: ScopedJoinHandle<'scope, Result<Option<Counts>, WatchError>>,
}

/// The parameters that all partitions share.
struct Shared<'a> {
    group: &'a Group,
    judge: Arc<Judge>,
    options: &'a WatchOptions,
    outlet: &'a dyn Outlet,
}

impl Group {
    /// Watches until the outlet stops it. Returns the counts of the partitions that this monitor had at the end.
    pub fn run(
        &self,
        judge: impl Into<Arc<Judge>>,
        options: &WatchOptions,
        outlet: &dyn Outlet,
    ) -> Result<Counts, WatchError> {
        let partitions = self.log.partitions();
        self.check_input(partitions).map_err(|error| self.wrong(error))?;
        let mut member = Member::new(self.store.clone(), &member_name(), partitions, self.lease);
        let shared = Shared { group: self, judge: judge.into(), options, outlet };
        let began = Instant::now();
        std::thread::scope(|scope| {
            let mut running: BTreeMap<u32, Running<'_>> = BTreeMap::new();
            let (mut turned, mut is_silent) = (None::<Instant>, false);
            let mut result = Ok(());
            while result.is_ok() && !outlet.is_stopped() {
                result = shared.reap(&mut running);
                if turned.is_none_or(|turned| turned.elapsed() >= self.lease / 4) {
                    turned = Some(Instant::now());
                    match member.turn(began.elapsed(), &running.keys().copied().collect::<BTreeSet<_>>()) {
                        Ok(turn) => {
                            is_silent = false;
                            options.status.iter().for_each(|status| status.note_alive());
                            for (claim, text) in turn.claimed {
                                running.insert(claim.partition, shared.start(scope, claim, text));
                            }
                            let surplus = running.values().take(turn.surplus);
                            surplus.for_each(|running| running.is_stopped.store(true, Ordering::Relaxed));
                        }
                        Err(error) if !is_silent => {
                            outlet.notice(Notice::Silent(error.to_string()));
                            is_silent = true;
                        }
                        Err(_) => {}
                    }
                }
                std::thread::sleep(TICK);
            }
            running.values().for_each(|running| running.is_stopped.store(true, Ordering::Relaxed));
            let mut counts: Option<Counts> = None;
            for (_, running) in running {
                match join(running.thread) {
                    Ok(None) => {}
                    Ok(Some(more)) => counts = Some(counts.map_or_else(|| more.clone(), |counts| counts.merge(&more))),
                    Err(error) => result = result.and(Err(error)),
                }
            }
            // Without this, others wait until the lease is over.
            let _ = member.leave();
            result.map(|()| counts.unwrap_or_default())
        })
    }

    /// Refuses a store with states of another stream, or of another number of partitions: a key has to stay in its
    /// partition.
    fn check_input(&self, partitions: u32) -> Result<(), StoreError> {
        let input = format!("{} {partitions}", self.stream);
        if self.store.put(INPUT, input.as_bytes(), None)?.is_some() {
            return Ok(());
        }
        let stored = self.store.get(INPUT)?.map(|entry| String::from_utf8_lossy(&entry.value).into_owned());
        match stored.as_deref().and_then(|stored| stored.rsplit_once(' ')) {
            Some((stream, count)) if stream != self.stream || count != partitions.to_string() => {
                Err(StoreError(format!(
                    "the states of this group are about `{stream}` with {count} partitions, not `{}` with {partitions}",
                    self.stream
                )))
            }
            _ => Ok(()),
        }
    }

    fn wrong(&self, error: impl std::fmt::Display) -> WatchError {
        WatchError::new(self.name.clone(), error)
    }
}

impl Shared<'_> {
    /// Removes partitions that have ended.
    fn reap(&self, running: &mut BTreeMap<u32, Running<'_>>) -> Result<(), WatchError> {
        let ended: Vec<u32> =
            running.iter().filter(|(_, running)| running.thread.is_finished()).map(|(number, _)| *number).collect();
        for number in ended {
            if let Some(running) = running.remove(&number) {
                join(running.thread)?;
                self.options.status.iter().for_each(|status| status.remove(number));
            }
        }
        Ok(())
    }

    /// Watches a partition on a thread, which returns its counts unless the partition was lost.
    fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        claim: Claim,
        text: Option<String>,
    ) -> Running<'scope> {
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stop = is_stopped.clone();
        let thread = scope.spawn(move || {
            let (number, subject, group) = (claim.partition, Subject::from(self.judge.clone()), self.group);
            let restored = match text {
                Some(text) => Restored::read(&text, subject, self.options).map_err(|error| group.wrong(error))?,
                None => Restored::new(subject, self.options)?,
            };
            let source = Source::follow(group.name.clone(), group.log.clone(), number, &restored.position);
            let state = State::Group(Some(claim));
            let mut partition = Partition::new(self.options, Some(number), restored, source, state);
            let is_kept = partition.run(self.outlet, &|| stop.load(Ordering::Relaxed))?;
            Ok(is_kept.then(|| partition.monitor.counts()))
        });
        Running { is_stopped, thread }
    }
}

fn join(thread: ScopedJoinHandle<'_, Result<Option<Counts>, WatchError>>) -> Result<Option<Counts>, WatchError> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Makes a unique name.
fn member_name() -> String {
    let mut bytes = [0; 8];
    // Without random numbers, the number of the process must suffice.
    let _ = getrandom::fill(&mut bytes);
    format!("{}-{:016x}", std::process::id(), u64::from_le_bytes(bytes))
}

//! Shrinks a run: finds a smaller one that fails for the same reason.
//!
//! First fewer threads and operations: each size from the smallest up is tried with a few hundred random schedules,
//! until one fails as the run did. Then fewer thread switches, by trying the schedule with some left out. The result is
//! stored as another run.

use std::path::PathBuf;
use std::time::Instant;

use explore::{Artifacts, Control, ControlError, Controlled, Ended, Order, Plan, Run, cause, simplify};
use report::Report;
use schedule::Schedule;
use schedule::channel::Policy;

use crate::clock::now;
use crate::harness::follow;
use crate::tally::failure_of;
use crate::{Error, Replay, Tried};

/// How much to try.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// The number of executions for each smaller size.
    pub tries: u64,
    /// The number of executions for a simpler schedule.
    pub runs: usize,
}

/// Progress of shrinking.
#[derive(Debug)]
pub enum Shrunk<'a> {
    /// The search starts, for runs that fail for this reason.
    Begun(&'a str),
    /// A run with fewer threads or operations fails too.
    Smaller(&'a Plan),
    /// No smaller size fails.
    NothingSmaller,
    /// The number of schedules tried for a simpler one.
    Simpler(u64),
}

/// A smaller run, and where it is stored.
#[derive(Debug)]
pub struct Smaller {
    /// The run.
    pub run: Run,
    /// Its directory.
    pub path: PathBuf,
}

/// A run that fails for the same reason.
struct Failing {
    plan: Plan,
    like: Order,
    schedule: Schedule,
}

/// Finds a smaller run that fails for the same reason, and stores it, also after an interrupt if one was found.
pub fn shrink(replay: &Replay, effort: Effort, tell: &mut dyn FnMut(Shrunk<'_>)) -> Result<Smaller, Error> {
    let Replay { run, host, .. } = replay;
    let is_long = matches!(run.ended, Ended::TimedOut { .. } | Ended::TooLong { .. });
    let Some(wanted) = run.cause.as_deref().filter(|_| !is_long) else {
        return Err(Error::about(&run.id, "it did not fail, or only ran out of time"));
    };
    tell(Shrunk::Begun(wanted));
    let mut shrinking = Shrinking { replay, wanted, control: replay.harness.start()? };
    let first = Failing { plan: run.plan.clone(), like: replay.like.clone(), schedule: replay.schedule.clone() };
    let smaller = shrinking.fewer_operations(effort.tries, tell)?;
    if (host.is_interrupted)() && smaller.is_none() {
        return Err(Error::Interrupted);
    }
    let found = smaller.unwrap_or(first);
    let mut problem = None;
    let simplified = simplify(&found.schedule, effort.runs, |decisions| {
        if problem.is_some() || (host.is_interrupted)() {
            return None;
        }
        let order = Order { strict: false, follow: decisions.to_vec(), ..follow(&found.like, &found.schedule) };
        let tried = shrinking.fails(&found.plan, order);
        tried
            .unwrap_or_else(|error| {
                problem = Some(error);
                None
            })
            .map(|tried| tried.execution.decisions)
    });
    if let Some(error) = problem.filter(|error| !matches!(error, ControlError::Interrupted)) {
        return Err(error.into());
    }
    tell(Shrunk::Simpler(simplified.runs as u64));
    keep(replay, &Failing { schedule: simplified.schedule, ..found }, wanted)
}

/// The state of shrinking.
struct Shrinking<'a> {
    replay: &'a Replay,
    wanted: &'a str,
    control: Control,
}

impl Shrinking<'_> {
    /// Runs it, and returns the execution if it failed for the same reason.
    fn fails(&mut self, plan: &Plan, order: Order) -> Result<Option<Tried>, ControlError> {
        let tried = self.replay.harness.execute(&mut self.control, plan, order)?;
        let report = match tried.ran.ended {
            Ended::Finished if tried.trace.exists() => {
                self.replay.check(&tried.trace, &self.replay.run.id).ok().flatten()
            }
            _ => None,
        };
        let is_same = reason(&tried.ran.ended, report.as_ref()).is_some_and(|reason| reason == self.wanted);
        if tried.trace.exists() {
            // If a trace cannot be removed, the next one replaces it or reports the error.
            let _ = std::fs::remove_dir_all(&tried.trace);
        }
        Ok(is_same.then_some(tried))
    }

    /// The fewest operations, and then the fewest threads, with which some schedule fails for the same reason, in fewer
    /// steps: a run that crashed early is shorter than its plan.
    fn fewer_operations(
        &mut self,
        tries: u64,
        tell: &mut dyn FnMut(Shrunk<'_>),
    ) -> Result<Option<Failing>, ControlError> {
        let Run { plan, controlled, test, .. } = &self.replay.run;
        let steps = controlled.as_ref().map_or(u64::MAX, |controlled| controlled.steps);
        if plan.test.is_some() || test.is_some() {
            return Ok(None); // `lineup` has already made its test smaller, and other tests have no size.
        }
        let mut sizes: Vec<(usize, usize)> = (1..=plan.threads)
            .flat_map(|threads| (1..=plan.operations).map(move |operations| (threads, operations)))
            .filter(|size| *size != (plan.threads, plan.operations))
            .collect();
        sizes.sort_by_key(|&(threads, operations)| (threads * operations, threads));
        for (threads, operations) in sizes {
            for try_number in 0..tries {
                if (self.replay.host.is_interrupted)() {
                    return Ok(None);
                }
                let seed = plan.seed.wrapping_add(try_number);
                let plan = Plan { seed, threads, operations, perturb: Vec::new(), test: None };
                let order = Order { policy: Policy::Random, seed, ..self.replay.like.clone() };
                let is_shorter = |tried: &Tried| (tried.execution.steps.len() as u64) < steps;
                if let Some(tried) = self.fails(&plan, order.clone())?.filter(is_shorter) {
                    tell(Shrunk::Smaller(&plan));
                    let schedule = tried.execution.schedule();
                    return Ok(Some(Failing { plan, like: Order { policy: Policy::Steady, ..order }, schedule }));
                }
            }
        }
        tell(Shrunk::NothingSmaller);
        Ok(None)
    }
}

/// Why a run failed; `None` if it did not.
fn reason(ended: &Ended, report: Option<&Report>) -> Option<String> {
    failure_of(ended).or_else(|| report.and_then(cause))
}

/// Replays the result in a fresh process, and stores it.
fn keep(replay: &Replay, found: &Failing, wanted: &str) -> Result<Smaller, Error> {
    let began = Instant::now();
    // Also after an interrupt.
    let mut control = replay.harness.start()?.interruptible(|| false);
    let tried = replay.harness.repeat(&mut control, &found.plan, &found.like, &found.schedule)?;
    let label = format!("run ({})", explore::Input::describe(&found.plan));
    let report = replay.check(&tried.trace, &label).ok().flatten().map(|report| Report { next: Vec::new(), ..report });
    if reason(&tried.ran.ended, report.as_ref()).is_none_or(|reason| reason != wanted) {
        let message = "the smaller run fails for another reason in a fresh process";
        let help = "the harness is nondeterministic";
        return Err(Error::with_help(&replay.run.id, message, help));
    }
    let strategy = replay.run.controlled.as_ref().map_or("", |controlled| &controlled.strategy);
    let controlled = Controlled {
        repeats: true,
        smaller_than: Some(replay.run.id.clone()),
        ..tried.execution.controlled(strategy, &found.like)
    };
    let run = Run {
        id: replay.store.free_id(found.plan.seed),
        // It is the later one, even if both started in the same second.
        began: now().as_secs().max(replay.run.began + 1),
        plan: found.plan.clone(),
        ended: tried.ran.ended.clone(),
        took: began.elapsed().as_secs_f64(),
        verdict: report.as_ref().map(|report| report.verdict.word().to_owned()),
        controlled: Some(controlled),
        ..replay.run.clone()
    };
    let (files, schedule) = (replay.spec_files(), tried.execution.schedule());
    let artifacts = Artifacts { trace: &tried.trace, report: report.as_ref(), spec: &files, schedule: Some(&schedule) };
    let path = replay.store.keep(&run, &artifacts).map_err(|error| Error::about("the harness", error))?;
    Ok(Smaller { run, path })
}

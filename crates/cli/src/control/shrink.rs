//! `omnilink shrink`: a smaller run that fails for the same reason.
//!
//! First fewer threads and operations: each number from the smallest up is tried with a few hundred schedules at random,
//! until one fails as the run did. Then fewer switches between threads, by trying the schedule with some left out. What is
//! left is kept as another run.

use std::time::Instant;

use explore::{Belongings, Control, ControlError, Controlled, Ended, Order, Plan, Run, cause, counted, simplify};
use judge::InputError;
use report::Report;
use schedule::Schedule;
use schedule::channel::Policy;

use super::args::ShrinkArgs;
use super::replay::{Loaded, cannot_run};
use super::{Tried, follow};
use crate::complain;
use crate::exit::Exit;
use crate::fuzz::failure_of;
use crate::limits;

pub(crate) fn run(args: &ShrinkArgs) -> Exit {
    limits::catch_interrupts();
    match shrink(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

/// A run that fails as the one that is to be made smaller.
struct Failing {
    plan: Plan,
    like: Order,
    schedule: Schedule,
}

fn shrink(args: &ShrinkArgs) -> Result<Exit, Exit> {
    let loaded = Loaded::new(&args.kept)?;
    let wanted = loaded.run.cause.clone();
    let is_long = matches!(loaded.run.ended, Ended::TimedOut { .. } | Ended::TooLong { .. });
    let Some(wanted) = wanted.filter(|_| !is_long) else {
        return Err(complain(&loaded.run.id, &InputError::new("it did not fail, or only took too long")));
    };
    outln!("run {}: {}, {}", loaded.run.id, loaded.run.plan.describe(), wanted);
    let mut shrinking =
        Shrinking { loaded: &loaded, wanted: &wanted, control: loaded.harness.start().map_err(cannot_run)? };
    let first = Failing { plan: loaded.run.plan.clone(), like: loaded.like.clone(), schedule: loaded.schedule.clone() };
    let smaller = shrinking.fewer_operations(args.tries).map_err(cannot_run)?;
    if limits::is_interrupted() && smaller.is_none() {
        return Err(cannot_run(ControlError::Interrupted));
    }
    let found = smaller.unwrap_or(first);
    let mut problem = None;
    let simplified = simplify(&found.schedule, args.runs, |decisions| {
        if problem.is_some() || limits::is_interrupted() {
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
    // What was found before somebody wanted to stop is kept.
    if let Some(error) = problem.filter(|error| !matches!(error, ControlError::Interrupted)) {
        return Err(cannot_run(error));
    }
    outln!("simpler: {} tried", counted(simplified.runs as u64, "schedule"));
    let exit = keep(&loaded, &Failing { schedule: simplified.schedule, ..found }, &wanted)?;
    match limits::is_interrupted() {
        true => Err(cannot_run(ControlError::Interrupted)),
        false => Ok(exit),
    }
}

/// What is done again and again.
struct Shrinking<'a> {
    loaded: &'a Loaded,
    wanted: &'a str,
    control: Control,
}

impl Shrinking<'_> {
    /// Runs it, and gives back what happened if it failed for the same reason.
    fn fails(&mut self, plan: &Plan, order: Order) -> Result<Option<Tried>, ControlError> {
        let tried = self.loaded.harness.execute(&mut self.control, plan, order)?;
        let report = match tried.ran.ended {
            Ended::Finished if tried.trace.exists() => self.loaded.check(&tried.trace, &self.loaded.run.id).ok(),
            _ => None,
        };
        let is_same = reason(&tried.ran.ended, report.as_ref()).is_some_and(|reason| reason == self.wanted);
        if tried.trace.exists() {
            // What cannot be removed is replaced or complained about by the next one.
            let _ = std::fs::remove_dir_all(&tried.trace);
        }
        Ok(is_same.then_some(tried))
    }

    /// The fewest operations, and then the fewest threads, with which some schedule fails for the same reason, in fewer
    /// steps: a run that crashed early is shorter than what was planned.
    fn fewer_operations(&mut self, tries: u64) -> Result<Option<Failing>, ControlError> {
        let plan = &self.loaded.run.plan;
        let steps = self.loaded.run.controlled.as_ref().map_or(u64::MAX, |controlled| controlled.steps);
        let mut sizes: Vec<(usize, usize)> = (1..=plan.threads)
            .flat_map(|threads| (1..=plan.operations).map(move |operations| (threads, operations)))
            .filter(|size| *size != (plan.threads, plan.operations))
            .collect();
        sizes.sort_by_key(|&(threads, operations)| (threads * operations, threads));
        for (threads, operations) in sizes {
            for try_number in 0..tries {
                if limits::is_interrupted() {
                    return Ok(None);
                }
                let seed = plan.seed.wrapping_add(try_number);
                let plan = Plan { seed, threads, operations, perturb: Vec::new() };
                let order = Order { policy: Policy::Random, seed, ..self.loaded.like.clone() };
                let is_shorter = |tried: &Tried| (tried.execution.steps.len() as u64) < steps;
                if let Some(tried) = self.fails(&plan, order.clone())?.filter(is_shorter) {
                    outln!("smaller: {}", plan.describe());
                    let schedule = tried.execution.schedule();
                    return Ok(Some(Failing { plan, like: Order { policy: Policy::Steady, ..order }, schedule }));
                }
            }
        }
        outln!("nothing smaller fails in {} for each size", counted(tries, "execution"));
        Ok(None)
    }
}

/// Why a run failed; none if it did not.
fn reason(ended: &Ended, report: Option<&Report>) -> Option<String> {
    failure_of(ended).or_else(|| report.and_then(cause))
}

/// Repeats what was found in a process of its own, and keeps it.
fn keep(loaded: &Loaded, found: &Failing, wanted: &str) -> Result<Exit, Exit> {
    let failed = |error: &dyn std::fmt::Display| complain("the harness", &InputError::new(error));
    let began = Instant::now();
    // Once more, even if somebody wanted to stop before.
    let control = loaded.harness.start().map_err(cannot_run)?.interruptible(|| false);
    let repeated = loaded.harness.repeat_in(control, &found.plan, &found.like, &found.schedule);
    let (tried, control) = repeated.map_err(cannot_run)?;
    let label = format!("run ({})", found.plan.describe());
    let report = loaded.check(&tried.trace, &label).ok().map(|report| Report { next: Vec::new(), ..report });
    let repeats = reason(&tried.ran.ended, report.as_ref()).is_some_and(|reason| reason == wanted);
    let strategy = loaded.run.controlled.as_ref().map_or("", |controlled| &controlled.strategy);
    let controlled = Controlled {
        repeats,
        smaller_than: Some(loaded.run.id.clone()),
        ..tried.execution.controlled(strategy, &found.like)
    };
    let id = loaded.store.free_id(found.plan.seed);
    let run = Run {
        id: id.clone(),
        // It is the later one, also if both began in one second.
        began: crate::fuzz::now().as_secs().max(loaded.run.began + 1),
        plan: found.plan.clone(),
        ended: tried.ran.ended.clone(),
        took: began.elapsed().as_secs_f64(),
        verdict: report.as_ref().map(|report| report.verdict.word().to_owned()),
        controlled: Some(controlled),
        ..loaded.run.clone()
    };
    if !repeats {
        let message = "what was found fails for another reason in a process of its own".to_owned();
        let help = Some("the harness does something that is not the same every time".to_owned());
        return Err(complain(&loaded.run.id, &InputError { message, help }));
    }
    let (files, schedule) = (loaded.judge.files(), tried.execution.schedule());
    let report = report.as_ref();
    let belongings = Belongings { trace: &tried.trace, report, spec: &files, schedule: Some(&schedule) };
    let path = loaded.store.keep(&run, &belongings).map_err(|error| failed(&error))?;
    drop(control);
    let size = |controlled: &Controlled| {
        let switches = if controlled.switches == 1 { "switch" } else { "switches" };
        format!("{}, {} {switches}", counted(controlled.steps, "step"), controlled.switches)
    };
    let (before, after) = (loaded.run.controlled.as_ref().map(size), run.controlled.as_ref().map(size));
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    outln!("kept as {id}: {after} instead of {before}; {}", path.display());
    Ok(if tried.ran.ended == Ended::Finished { Exit::Rejected } else { Exit::Crashed })
}

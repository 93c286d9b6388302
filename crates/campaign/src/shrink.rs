//! Shrinks a run: finds a smaller one that fails for the same reason.
//!
//! First operations are left out, which are lines of the script if the harness writes one, all of a thread at once, then half of the rest, a quarter and so on down to single ones,
//! until each that is left is needed (Zeller and Hildebrandt, Simplifying and isolating failure-inducing input). The
//! others draw the same inputs as before, and follow the recorded schedule without the steps of those left out; where
//! that does not fail, a few schedules drawn at random may. Then switches between threads are left out. Fewer switches
//! may make more operations unnecessary, so both are repeated. The result is stored as another run.
//!
//! The test of a run of `lineup` is small already, and keeps its operations.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use omnilink_explore::{
    Artifacts, ControlError, Controlled, Ended, ExecutionOrder, Only, Plan, Run, Script, script_of, simplify,
};
use omnilink_judge::Recording;
use omnilink_report::Report;
use omnilink_schedule::channel::Policy;
use omnilink_schedule::{Choice, Decision, Kind, Schedule, Step, thread_object};

use crate::campaign::blamed;
use crate::clock::now;
use crate::harness::follow;
use crate::trials::{Trials, fails_alike, without_switches};
use crate::{Decided, Error, Replay, interleaving, race};

/// The effort of shrinking.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// The number of random schedules for each choice of operations.
    pub tries: u64,
    /// The number of executions for a simpler schedule.
    pub runs: usize,
}

/// Progress of shrinking.
#[derive(Debug)]
pub enum Shrunk<'a> {
    /// The search starts, for runs that fail for this reason.
    Begun(&'a str),
    /// A run with fewer operations fails too.
    Smaller(&'a Plan),
    /// All operations are needed.
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
#[derive(Clone)]
struct Failing {
    plan: Plan,
    like: ExecutionOrder,
    schedule: Schedule,
    /// The steps, one for each decision about a thread.
    steps: Vec<Step>,
}

/// An operation of the plan: its thread, and its number there.
type Made = (usize, usize);

/// How often operations and switches are left out in turns, at most.
const ROUNDS: usize = 3;

/// Finds a smaller run that fails for the same reason, and stores it, even after an interrupt if it has found one.
pub fn shrink(replay: &Replay, effort: Effort, tell: &mut dyn FnMut(Shrunk<'_>)) -> Result<Smaller, Error> {
    let Replay { run, host, .. } = replay;
    let is_long = matches!(run.ended, Ended::TimedOut { .. } | Ended::TooLong { .. } | Ended::BrokenOff { .. });
    let Some(cause) = run.cause.as_deref().filter(|_| !is_long) else {
        return Err(Error::about(&run.id, "it did not fail, or only ran out of time"));
    };
    tell(Shrunk::Begun(cause));
    let Some(trials) = Trials::of(replay)? else { return Err(Error::about(&run.id, "its report is missing")) };
    let mut shrinking = Shrinking { trials, schedules: 0 };
    let script = script_of(&replay.store.path(&run.id)).map_err(|error| Error::about(&run.id, error))?;
    let Some(mut found) = shrinking.first(script)? else {
        return Err(Error::with_help(
            &run.id,
            "it does not fail again",
            "the harness was rebuilt, or is nondeterministic",
        ));
    };
    let (mut is_smaller, mut simpler) = (false, 0);
    for _ in 0..ROUNDS {
        let fewer = shrinking.fewer_operations(&mut found, effort.tries)?;
        is_smaller |= fewer;
        simpler += shrinking.fewer_switches(&mut found, effort.runs)?;
        if !fewer || (host.is_interrupted)() {
            break;
        }
    }
    if (host.is_interrupted)() && !is_smaller {
        return Err(Error::Interrupted);
    }
    tell(if is_smaller { Shrunk::Smaller(&found.plan) } else { Shrunk::NothingSmaller });
    tell(Shrunk::Simpler(simpler));
    keep(replay, &found, &shrinking.trials.wanted)
}

/// The state of shrinking.
struct Shrinking<'a> {
    trials: Trials<'a>,
    /// The number of random schedules so far.
    schedules: u64,
}

impl Shrinking<'_> {
    fn is_interrupted(&self) -> bool {
        (self.trials.replay.host.is_interrupted)()
    }

    /// Executes the run again, with the calls of its script if there is one and it fails with them as well.
    fn first(&mut self, script: Option<Script>) -> Result<Option<Failing>, ControlError> {
        let Replay { run, like, schedule, .. } = self.trials.replay;
        let follow = follow(like, schedule);
        let scripted = script.map(|script| Plan { perturb: Vec::new(), script: Some(script), ..run.plan.clone() });
        // A call that the harness draws may take steps to ask whether it is allowed.
        let with_script = scripted.map(|plan| (plan, ExecutionOrder { strict: false, ..follow.clone() }));
        for (plan, order) in with_script.into_iter().chain([(run.plan.clone(), follow)]) {
            if let Some(tried) = self.trials.fails(&plan, order)? {
                let (like, schedule) = (like.clone(), tried.execution.schedule());
                return Ok(Some(Failing { plan, like, schedule, steps: tried.execution.steps }));
            }
        }
        Ok(None)
    }

    /// Leaves out operations until none can be. Returns whether some were.
    fn fewer_operations(&mut self, found: &mut Failing, tries: u64) -> Result<bool, ControlError> {
        if found.plan.test.is_some() || self.trials.replay.run.test.is_some() {
            return Ok(false); // `lineup` has already made its test smaller, and other tests have no size.
        }
        let mut is_smaller = false;
        let threads: Vec<usize> = (0..found.plan.threads).collect();
        for thread in threads {
            let made: Vec<Made> = operations(&found.plan).into_iter().filter(|(of, _)| *of == thread).collect();
            is_smaller |= !made.is_empty() && self.try_without(found, &made, tries)?;
        }
        let mut size = operations(&found.plan).len().div_ceil(2);
        while size > 0 {
            let mut first = 0;
            let mut is_better = false;
            while first < operations(&found.plan).len() {
                let made = operations(&found.plan);
                let without = &made[first..(first + size).min(made.len())];
                match self.try_without(found, without, tries)? {
                    true => is_better = true,
                    false => first += size,
                }
            }
            is_smaller |= is_better;
            // After single operations were left out, others may be unnecessary.
            size = if size == 1 && is_better { 1 } else { size / 2 };
        }
        Ok(is_smaller)
    }

    /// Leaves these operations out, if the run still fails.
    fn try_without(&mut self, found: &mut Failing, without: &[Made], tries: u64) -> Result<bool, ControlError> {
        let plan = plan_without(&found.plan, without);
        if plan.size() == 0 || self.is_interrupted() {
            return Ok(false);
        }
        let followed = projected(found, without);
        let mut orders =
            vec![ExecutionOrder { strict: false, follow: followed, ..follow(&found.like, &found.schedule) }];
        for number in 0..tries {
            let seed = self.trials.replay.run.plan.seed.wrapping_add(self.schedules + number);
            let policy = if number % 2 == 0 { Policy::Pos } else { Policy::Random };
            orders.push(ExecutionOrder { policy, seed, ..found.like.clone() });
        }
        self.schedules += tries;
        for order in orders {
            if self.is_interrupted() {
                return Ok(false);
            }
            let like = ExecutionOrder { seed: order.seed, ..found.like.clone() };
            if let Some(tried) = self.trials.fails(&plan, order)? {
                let schedule = tried.execution.schedule();
                *found = Failing { plan, like, schedule, steps: tried.execution.steps };
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Leaves out switches. Returns the number of executions.
    fn fewer_switches(&mut self, found: &mut Failing, most: usize) -> Result<u64, Error> {
        let mut problem = None;
        let before = found.clone();
        let simplified = simplify(&before.schedule, most, |decisions| {
            if problem.is_some() || self.is_interrupted() {
                return None;
            }
            let order =
                ExecutionOrder { strict: false, follow: decisions.to_vec(), ..follow(&before.like, &before.schedule) };
            let tried = self.trials.fails(&before.plan, order).unwrap_or_else(|error| {
                problem = Some(error);
                None
            })?;
            Some(tried.execution.decisions)
        });
        if let Some(error) = problem.filter(|error| !matches!(error, ControlError::Interrupted)) {
            return Err(error.into());
        }
        if simplified.schedule != found.schedule {
            found.schedule = simplified.schedule;
            // The steps of the last failing execution need not be those of the simplest.
            let order = follow(&found.like, &found.schedule);
            if let Some(tried) = self.trials.fails(&found.plan, order)? {
                found.steps = tried.execution.steps;
            }
        }
        Ok(simplified.runs as u64)
    }
}

/// A plan without some of its operations.
fn plan_without(plan: &Plan, without: &[Made]) -> Plan {
    let smaller = Plan { perturb: Vec::new(), ..plan.clone() };
    if let Some(script) = &plan.script {
        return Plan { script: Some(script.without(without)), ..smaller };
    }
    let mut only = BTreeMap::<usize, Vec<usize>>::new();
    for (thread, operation) in operations(plan).into_iter().filter(|made| !without.contains(made)) {
        only.entry(thread).or_default().push(operation);
    }
    Plan { only: Some(Only(only)), ..smaller }
}

/// The operations that a plan makes, by thread. Those of a script are numbered by its lines.
fn operations(plan: &Plan) -> Vec<Made> {
    match (&plan.script, &plan.only) {
        (Some(script), _) => {
            let count = |thread: usize| script.calls.iter().filter(|call| call.thread == thread).count();
            let threads = script.threads().into_iter();
            threads.flat_map(|thread| (0..count(thread)).map(move |number| (thread, number))).collect()
        }
        (None, Some(Only(only))) => {
            only.iter().flat_map(|(thread, made)| made.iter().map(|number| (*thread, *number))).collect()
        }
        (None, None) => {
            (0..plan.threads).flat_map(|thread| (0..plan.operations).map(move |number| (thread, number))).collect()
        }
    }
}

/// The decisions of a run without those about the steps of some operations. Threads of the plan are matched with threads
/// that call operations in the order of their creation; if that is not possible, all decisions are kept, which are
/// followed as far as they can be.
fn projected(found: &Failing, without: &[Made]) -> Vec<Decision> {
    let all = found.schedule.0.clone();
    let made = operations(&found.plan);
    let mut callers: Vec<u8> =
        found.steps.iter().filter(|step| step.kind() == Some(Kind::Call)).map(|step| step.thread).collect();
    callers.sort_unstable();
    callers.dedup();
    let mut threads: Vec<usize> = made.iter().map(|(thread, _)| *thread).collect();
    threads.dedup();
    if callers.len() != threads.len() {
        return all;
    }
    let planned: BTreeMap<u8, usize> = callers.into_iter().zip(threads).collect();
    let is_left_out = |made: &Made| without.contains(made);
    let is_gone = |thread: u8| {
        planned.get(&thread).is_some_and(|planned| made.iter().filter(|made| made.0 == *planned).all(is_left_out))
    };
    let gone: Vec<u8> = planned.keys().copied().filter(|thread| is_gone(*thread)).collect();
    // For each thread, how many calls it has made, and whether it is in one.
    let mut calls: BTreeMap<u8, (usize, bool)> = BTreeMap::new();
    let mut is_kept = Vec::with_capacity(found.steps.len());
    for step in &found.steps {
        let (count, is_in_call) = calls.entry(step.thread).or_default();
        if step.kind() == Some(Kind::Call) {
            (*count, *is_in_call) = (*count + 1, true);
        }
        let current = planned
            .get(&step.thread)
            .filter(|_| *is_in_call)
            .and_then(|planned| made.iter().filter(|made| made.0 == *planned).nth(*count - 1));
        let is_about_gone = gone.iter().any(|thread| thread_object(*thread) == step.address || *thread == step.thread);
        is_kept.push(!current.is_some_and(is_left_out) && !is_about_gone);
        *is_in_call &= step.kind() != Some(Kind::Return);
    }
    let mut step = 0;
    let mut kept = Vec::new();
    for decision in all {
        let is_thread = decision.choice() == Some(Choice::Thread);
        step += usize::from(is_thread);
        if !is_kept.get(step.wrapping_sub(1)).copied().unwrap_or(true) {
            continue;
        }
        // Threads are numbered in the order of their creation.
        let before = gone.iter().filter(|thread| **thread < decision.chosen).count() as u8;
        kept.push(if is_thread { Decision::thread(decision.chosen - before) } else { decision });
    }
    kept
}

/// Replays the result in a fresh process, and stores it.
fn keep(replay: &Replay, found: &Failing, wanted: &str) -> Result<Smaller, Error> {
    let began = Instant::now();
    // Also after an interrupt.
    let mut control = replay.harness.start()?.interruptible(|| false);
    let tried = replay.harness.repeat(&mut control, &found.plan, &found.like, &found.schedule)?;
    let label = format!("run ({})", omnilink_explore::Input::describe(&found.plan));
    let recording = Recording::at(&tried.trace, None);
    let (is_same, report) = fails_alike(replay, &tried, &label, wanted);
    if !is_same {
        let message = "the smaller run fails for another reason in a fresh process";
        let help = "the harness is nondeterministic";
        return Err(Error::with_help(&replay.run.id, message, help));
    }
    let race = tried.race.as_ref().map(|race| {
        let decided = Decided { order: found.like.clone(), execution: tried.execution.clone(), notes: Vec::new() };
        race::describe(&replay.harness, &found.plan, &decided, race, recording.history().ok())
    });
    // After an interrupt it is not known which switches are necessary.
    let without = without_switches(replay, &found.plan, &found.like, &tried.execution).unwrap_or_default();
    let report = report.map(|report| {
        let history = recording.history().ok();
        let shown = interleaving(&replay.harness, &tried.execution, history, &blamed(&report), race.as_ref());
        Report { interleaving: Some(shown.with_switches(&without)), next: Vec::new(), ..report }
    });
    let strategy = replay.run.controlled.as_ref().map_or("", |controlled| &controlled.strategy);
    let controlled = Controlled {
        repeats: true,
        program: replay.harness.fingerprint(),
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
        race,
        ..replay.run.clone()
    };
    let (files, schedule) = (replay.spec_files(), tried.execution.schedule());
    let artifacts = Artifacts { trace: &tried.trace, report: report.as_ref(), spec: &files, schedule: Some(&schedule) };
    let path = replay.store.keep(&run, &artifacts).map_err(|error| Error::about("the harness", error))?;
    Ok(Smaller { run, path })
}

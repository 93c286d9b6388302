//! Whether an execution fails for the same reason as a stored run.

use std::path::Path;

use omnilink_explore::{
    Control, ControlError, Ended, Execution, ExecutionOrder, Only, Plan, Run, report_of, without_switch,
};
use omnilink_history::format::binary::Manifest;
use omnilink_report::{Report, Verdict, WithoutSwitch};
use omnilink_schedule::Schedule;

use crate::harness::{close_blocked, follow};
use crate::interleaving::is_preemption;
use crate::tally::failure_of;
use crate::{Error, Replay, Tried, race};

/// Executions that are compared with a stored run.
pub(crate) struct Trials<'a> {
    pub(crate) replay: &'a Replay,
    /// The reason why the stored run failed.
    pub(crate) wanted: String,
    pub(crate) control: Control,
}

impl<'a> Trials<'a> {
    /// Starts a process for executions; `None` if the run did not fail.
    pub(crate) fn of(replay: &'a Replay) -> Result<Option<Trials<'a>>, ControlError> {
        reason_of_stored(replay)
            .map(|wanted| Ok(Trials { replay, wanted, control: replay.harness.start()? }))
            .transpose()
    }

    /// Runs it, and returns the execution if it failed for the same reason.
    pub(crate) fn fails(&mut self, plan: &Plan, order: ExecutionOrder) -> Result<Option<Tried>, ControlError> {
        let tried = self.replay.harness.execute(&mut self.control, plan, order)?;
        let is_same = match tried.ran.ended {
            Ended::Finished | Ended::Stuck { .. } if tried.trace.exists() => {
                fails_alike(self.replay, &tried, &self.replay.run.id, &self.wanted).0
            }
            _ => reason(self.replay, &tried, None).is_some_and(|reason| reason == self.wanted),
        };
        // A harness of one's own may make all operations nevertheless. One that reads scripts writes them.
        let heeds = |only: &Only| made_only(&tried.trace).is_some_and(|made| made == only.to_string());
        let is_same = is_same
            && match &plan.script {
                Some(_) => tried.trace.join("script").exists(),
                None => plan.only.as_ref().is_none_or(heeds),
            };
        if tried.trace.exists() {
            // If a trace cannot be removed, the next one replaces it or reports the error.
            let _ = std::fs::remove_dir_all(&tried.trace);
        }
        Ok(is_same.then_some(tried))
    }
}

/// The operations that a harness made, if it was asked to make only some.
fn made_only(trace: &Path) -> Option<String> {
    let manifest = std::fs::read(trace.join("manifest.json")).ok()?;
    Manifest::read(&manifest).ok()?.meta.get("only")?.as_str().map(str::to_owned)
}

/// Why the stored run failed, as [`reason`] has it. The cause of a run of `lineup` is a sentence about serial runs.
fn reason_of_stored(replay: &Replay) -> Option<String> {
    let Run { id, plan, ended, cause, .. } = &replay.run;
    match plan.test {
        None => cause.clone(),
        Some(_) => failure_of(ended).or_else(|| omnilink_report::cause(&report_of(&replay.store.path(id))?)),
    }
}

/// Completes the trace of an execution that is stuck, and checks it. Returns whether the execution failed for this reason.
/// One that is stuck must also be judged like the stored run: the specification may let calls of a smaller one block.
pub(crate) fn fails_alike(replay: &Replay, tried: &Tried, label: &str, wanted: &str) -> (bool, Option<Report>) {
    let Ok(is_blocked) = close_blocked(&tried.execution, &tried.trace) else { return (false, None) };
    let report = replay.check(&tried.trace, label).ok().flatten();
    let word = report.as_ref().map(|report| report.verdict.word());
    let is_judged_alike = match (&tried.ran.ended, replay.run.verdict.as_deref()) {
        (Ended::Stuck { .. }, Some(before)) if before != "accepted" && before != "inconclusive" => word == Some(before),
        (Ended::Stuck { .. }, _) => !is_blocked || word != Some("accepted"),
        _ => true,
    };
    let is_same = reason(replay, tried, report.as_ref()).is_some_and(|reason| reason == wanted);
    (is_same && is_judged_alike, report)
}

/// The reason why a run failed; `None` if it did not.
fn reason(replay: &Replay, tried: &Tried, report: Option<&Report>) -> Option<String> {
    let rejected =
        || report.filter(|report| matches!(report.verdict, Verdict::Rejected(_))).and_then(omnilink_report::cause);
    let raced =
        || tried.race.as_ref().map(|race| race::cause(&replay.harness.race_accesses(race, tried.execution.base)));
    failure_of(&tried.ran.ended).or_else(rejected).or_else(raced).or_else(|| report.and_then(omnilink_report::cause))
}

/// Preemptions that are tried one by one, at most.
const TRIED: usize = 32;

/// Runs an execution that fails as a stored run without each of its preemptions, and returns whether it still fails for the
/// same reason: the thread continues to the end of its next stretch of steps instead, and the rest is followed as far as
/// possible.
pub fn without_switches(
    replay: &Replay,
    plan: &Plan,
    like: &ExecutionOrder,
    execution: &Execution,
) -> Result<Vec<WithoutSwitch>, Error> {
    let Some(mut trials) = Trials::of(replay)? else { return Ok(Vec::new()) };
    let mut without = Vec::new();
    let switches = (0..execution.steps.len()).filter(|index| is_preemption(&execution.steps, *index));
    let schedule = execution.schedule();
    for index in switches.take(TRIED) {
        if (replay.host.is_interrupted)() {
            return Err(Error::Interrupted);
        }
        let order = ExecutionOrder {
            strict: false,
            follow: without_switch(&schedule, index),
            ..follow(like, &Schedule::default())
        };
        let still_fails = trials.fails(plan, order)?.is_some();
        without.push(WithoutSwitch { before: index as u64 + 1, still_fails });
    }
    Ok(without)
}

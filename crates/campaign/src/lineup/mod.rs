//! Line-Up: an object's serial behavior is its specification.
//!
//! [`ObjectProgram`] runs one test of an object in two phases. Phase 1 runs the calls serially, in every order, and
//! collects their answers. Phase 2 runs them concurrently, under the schedules of a strategy, and looks for a serial run
//! that explains each execution, even one that is stuck. `lineup` defines when a run explains an execution; this module
//! executes. A data race is a failure of a test that has no other: later executions may show its consequences.
//!
//! Executions share a process, unless the user forbids it, and the program makes its object anew for each. Under control
//! the same decisions in a fresh process always give the same answers, so two different serial runs of one process are the
//! only sign of an object that draws random numbers, or keeps state outside of itself. A failing concurrent execution is
//! repeated with a process for each execution before it is reported, and if it does not fail there, as the first one of a
//! process. If it does not fail there either, executions have changed the results of later ones, and the verdict is that of
//! the separate processes. Changes are noticed even in passing executions: an exploration follows the decisions of earlier
//! executions, and must take the same steps; and every so often the first execution of a test is repeated, and must give
//! the same answers at the same steps.

mod verdict;

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use omnilink_explore::{
    Artifacts, Calls, Control, ControlError, Ended, Environment, ExecutionOrder, Input, Plan, Program, Run, Store,
};
use omnilink_judge::{Judge, Recording};
use omnilink_lineup::{Nondeterminism, Observations, Observed, Operation, Refused, SerialRun, Test};
use omnilink_report::Report;
use omnilink_schedule::channel::Policy;
use omnilink_settings::{KnownRace, Settings};
use omnilink_weak::Level;

pub use self::verdict::{Crashed, Isolated, LineupVerdict, Raced, Unexplained};
use crate::campaign::{blamed, repeated};
use crate::harness::close_stuck;
use crate::race;
use crate::tally::failure_of;
use crate::{
    Budget, Decided, DfsOptions, Error, Executed, Explored, Harness, Host, How, Next, Schedules, Scheduling, Stopped,
    Tried, interleaving, run,
};

/// The maximum size of the serial orders of one execution, in bytes. The environment of an execution is limited.
const ORDERS: usize = 8 << 10;

/// The largest number of executions in search of one with fewer preemptions.
const REDUCTION: u64 = 5_000;

/// The least time to look for a failure again, with a process for each execution.
const CONFIRMATION: Duration = Duration::from_secs(10);

/// The number of executions of a test in which to look for weak loads: nearly always the first one has them.
const LOOKED_AT: u64 = 8;

/// One of this many executions in one process is the first again.
const REPETITION: u64 = 256;

/// An object program built for control, and the calls that it lists.
#[derive(Debug)]
pub struct ObjectProgram {
    harness: Harness,
    calls: Vec<String>,
    known_races: Vec<KnownRace>,
    host: Host,
}

/// The exploration of a test.
#[derive(Debug, Clone)]
pub struct Exploration {
    /// The strategy of phase 2.
    pub scheduling: Scheduling,
    /// The largest number of concurrent executions of one test.
    pub executions: u64,
    /// The number of random schedules after an incomplete exploration, which does not reach failures that need many
    /// preemptions.
    pub samples: u64,
    /// Whether a data race ends a test. Otherwise phase 2 looks for another failure first.
    pub stops_at_race: bool,
    /// No execution starts after this.
    pub until: Option<Instant>,
}

/// The result of one test.
#[derive(Debug)]
pub struct Tested {
    /// The test.
    pub test: Test,
    /// The observations of phase 1.
    pub observations: Observations,
    /// The time that phase 1 took.
    pub serial_time: Duration,
    /// The reason why each concurrent execution had a process of its own, if the user did not request that.
    pub isolated: Option<Isolated>,
    /// The number of concurrent executions.
    pub executions: u64,
    /// The time that phase 2 took.
    pub concurrent_time: Duration,
    /// The claims about schedules, if phase 2 ran.
    pub explored: Option<Explored>,
    /// Whether it loads with an order that is weaker than sequentially consistent.
    pub has_weak_loads: bool,
    /// The reasons to accept its data races.
    pub accepted_races: BTreeSet<String>,
    /// The verdict.
    pub verdict: LineupVerdict,
}

impl Tested {
    /// The reason why it failed, in a line, if it did.
    pub fn cause(&self) -> Option<String> {
        let ended = |ended: &Ended| failure_of(ended).unwrap_or_else(|| "it did not end".to_owned());
        match &self.verdict {
            LineupVerdict::Nondeterministic(difference) => Some(difference.headline(&self.test)),
            LineupVerdict::Unexplained(unexplained) => {
                Some(omnilink_lineup::headline(&self.test, &unexplained.failure))
            }
            LineupVerdict::Raced(raced) => Some(raced.cause.clone()),
            LineupVerdict::Broken(how) => Some(ended(how)),
            LineupVerdict::Crashed(crashed) => Some(ended(&crashed.run.ran.ended)),
            _ => None,
        }
    }
}

impl ObjectProgram {
    /// Builds the object program of these settings, unless that is done, and asks it for its calls.
    pub fn build(
        host: Host,
        program: &Program,
        settings: &Settings,
        store: &Store,
        timeout: Duration,
        is_built: bool,
    ) -> Result<ObjectProgram, Error> {
        ObjectProgram::new(host, settings, Harness::build(program, settings, store, timeout, is_built, host))
    }

    /// An object program that the user has built for control.
    pub fn prebuilt(
        host: Host,
        program: &Program,
        settings: &Settings,
        store: &Store,
        timeout: Duration,
    ) -> Result<ObjectProgram, Error> {
        ObjectProgram::new(host, settings, Harness::prebuilt(program, store, timeout, host))
    }

    fn new(host: Host, settings: &Settings, harness: Result<Harness, String>) -> Result<ObjectProgram, Error> {
        let harness = match harness {
            Err(_) if (host.is_interrupted)() => return Err(Error::Interrupted),
            harness => harness.map_err(|why| Error::about("the object program", why))?,
        };
        let calls = listed_calls(&harness)?;
        Ok(ObjectProgram { harness, calls, known_races: settings.harness.races.clone(), host })
    }

    /// The calls that the program lists.
    pub fn calls(&self) -> &[String] {
        &self.calls
    }

    /// The strategy, or another one that is sound for this program.
    pub fn scheduling(
        &self,
        how: How,
        order: ExecutionOrder,
        dfs: DfsOptions,
        tell: &mut dyn FnMut(String),
    ) -> Scheduling {
        Scheduling::suited(&self.harness, how, order, dfs, tell)
    }

    /// Runs both phases of a test. `progress` gets the number of executions so far.
    pub fn check(
        &self,
        test: &Test,
        exploration: &Exploration,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Tested, Error> {
        let calls = self.numbered(test)?;
        let began = Instant::now();
        let batch = exploration.scheduling.order.batch;
        let observed = self.observe(test, &calls, if batch { ORDERS } else { 0 }, exploration.until)?;
        let mut tested = Tested {
            test: test.clone(),
            observations: Observations::new(test.clone()),
            serial_time: began.elapsed(),
            isolated: None,
            executions: 0,
            concurrent_time: Duration::ZERO,
            explored: None,
            has_weak_loads: false,
            accepted_races: BTreeSet::new(),
            verdict: LineupVerdict::Passed,
        };
        match observed {
            Serially::Observed(observations) => tested.observations = observations,
            Serially::Differs(difference) => {
                tested.verdict = LineupVerdict::Nondeterministic(difference);
                return Ok(tested);
            }
            Serially::Broken(ended) => {
                tested.verdict = LineupVerdict::Broken(ended);
                return Ok(tested);
            }
            Serially::OutOfTime => {
                tested.verdict = LineupVerdict::OutOfTime;
                return Ok(tested);
            }
            Serially::NotStarted => {
                tested.verdict = LineupVerdict::Unfinished;
                return Ok(tested);
            }
            Serially::Interrupted => {
                tested.verdict = LineupVerdict::Interrupted;
                return Ok(tested);
            }
        }
        let began = Instant::now();
        // An exploration that takes too long leaves half of the time to random schedules.
        let half = exploration.until.filter(|_| exploration.samples > 0);
        let half = half.map(|until| began + until.saturating_duration_since(began) / 2);
        let first = Exploration { until: half.or(exploration.until), ..exploration.clone() };
        self.explore_and_confirm(&mut tested, &calls, &first, progress)?;
        let is_complete = tested.explored.as_ref().is_some_and(Explored::covers_all);
        let is_given_up = tested.explored.as_ref().is_some_and(|explored| explored.given_up().is_some());
        let is_open = match tested.verdict {
            LineupVerdict::Passed | LineupVerdict::OutOfTime | LineupVerdict::Unfinished => true,
            // Drawn schedules switch threads at the accesses of a race, so its consequences may follow.
            LineupVerdict::Raced(_) => !exploration.stops_at_race,
            _ => false,
        };
        // An exploration covers the executions of sequentially consistent memory.
        let is_weak_left = tested.has_weak_loads && exploration.scheduling.order.races;
        if is_open && exploration.samples > 0 && (!is_complete || is_weak_left) {
            let (explored, executions) = (tested.explored.take(), tested.executions);
            let verdict = std::mem::replace(&mut tested.verdict, LineupVerdict::Passed);
            let mut sampling = Exploration { executions: exploration.samples, ..exploration.clone() };
            sampling.scheduling.how = How::Mix;
            self.explore_and_confirm(&mut tested, &calls, &sampling, &mut |more| progress(executions + more))?;
            tested.executions += executions;
            if !tested.verdict.has_failed() {
                tested.explored = explored;
                tested.verdict = verdict.and(tested.verdict);
            }
        }
        if is_given_up && !tested.verdict.has_failed() {
            tested.verdict = tested.verdict.and(LineupVerdict::Unfinished);
        }
        tested.concurrent_time = began.elapsed();
        Ok(tested)
    }

    /// Phase 2. A failure counts only if it happens in a process of its own, where it can also be replayed, or as the first
    /// execution of a process.
    fn explore_and_confirm(
        &self,
        tested: &mut Tested,
        calls: &Calls,
        exploration: &Exploration,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Error> {
        let batch = exploration.scheduling.order.batch;
        let why = match self.explore(tested, calls, exploration, batch, progress) {
            Err(Error::Diverged) if batch => Some(Isolated::OtherSteps),
            explored => {
                explored?;
                (batch && tested.verdict.has_failed()).then_some(Isolated::OtherVerdict)
            }
        };
        if let Some(why) = why {
            let executions = tested.executions;
            let stops_at_race = exploration.stops_at_race || matches!(tested.verdict, LineupVerdict::Raced(_));
            // A failure that was found in time is confirmed even after it.
            let until = match why {
                Isolated::OtherVerdict => exploration.until.map(|until| until.max(Instant::now() + CONFIRMATION)),
                Isolated::OtherSteps => exploration.until,
            };
            let shared = std::mem::replace(&mut tested.verdict, LineupVerdict::Passed);
            let alone = &Exploration { stops_at_race, until, ..exploration.clone() };
            self.explore(tested, calls, alone, false, progress)?;
            tested.executions += executions;
            let is_over = matches!(tested.verdict, LineupVerdict::OutOfTime);
            let is_passed = is_over || matches!(tested.verdict, LineupVerdict::Passed | LineupVerdict::Unfinished);
            let has_failed = shared.has_failed();
            if is_passed && let Some(verdict) = self.repeat_first(tested, calls, exploration, shared)? {
                tested.verdict = verdict;
                return Ok(());
            }
            // It is unknown whether the object is to blame.
            if is_over && has_failed {
                tested.verdict = LineupVerdict::Unfinished;
            }
            let is_known = matches!(tested.verdict, LineupVerdict::Passed) || why == Isolated::OtherSteps;
            tested.isolated = tested.isolated.or(Some(why).filter(|_| is_known));
        }
        Ok(())
    }

    /// Repeats the failing execution of a verdict as the first concurrent one of a process. If it fails there, no other
    /// execution is to blame, even if none failed in a process of its own: other schedules are drawn there.
    fn repeat_first(
        &self,
        tested: &Tested,
        calls: &Calls,
        exploration: &Exploration,
        mut failed: LineupVerdict,
    ) -> Result<Option<LineupVerdict>, Error> {
        let Some((run, _)) = failed.execution() else { return Ok(None) };
        let Some(decided) = run.decided.take() else { return Ok(None) };
        let warm_up = warm_up(&tested.observations);
        let mut schedules = self.schedules(&tested.test, calls, &exploration.scheduling, &warm_up)?;
        let tried = match schedules.again(&run.input, &decided) {
            Err(ControlError::Interrupted) => return Ok(Some(LineupVerdict::Interrupted)),
            tried => tried?,
        };
        let Tried { execution, ran, trace, notes, race } = tried;
        if !execution.has_started() {
            return Ok(Some(LineupVerdict::Unfinished));
        }
        let decided = Some(Decided { order: decided.order, execution, notes });
        let run =
            Executed { number: run.number, input: run.input.clone(), ran, began: run.began, trace, decided, race };
        let raced = race::new_failure(&self.harness, &self.known_races, &run, &mut |_| ());
        let mut verdict = self.judge(tested, run, raced, &mut HashSet::new())?;
        if let Some(verdict) = &mut verdict {
            self.confirm(verdict, exploration.scheduling.how)?;
        }
        Ok(verdict)
    }

    /// Makes a failing test smaller while it fails in the same way, and then looks for an execution with fewer preemptions.
    /// Reports each attempt.
    pub fn reduce(
        &self,
        failing: Tested,
        exploration: &Exploration,
        tell: &mut dyn FnMut(&Test),
    ) -> Result<Tested, Error> {
        let mut smallest = failing;
        let stops_at_race = matches!(smallest.verdict, LineupVerdict::Raced(_));
        let exploration = &Exploration { stops_at_race, ..exploration.clone() };
        let mut tried = HashSet::new();
        'smaller: loop {
            for candidate in smallest.test.smaller() {
                if !tried.insert(candidate.to_string()) {
                    continue;
                }
                if exploration.until.is_some_and(|until| Instant::now() >= until) || (self.host.is_interrupted)() {
                    return Ok(smallest);
                }
                tell(&candidate);
                let tested = self.check(&candidate, exploration, &mut |_| ())?;
                if tested.verdict.is_like(&smallest.verdict) {
                    smallest = tested;
                    continue 'smaller;
                }
            }
            return self.with_few_preemptions(smallest, exploration);
        }
    }

    /// The same failing test, with as few preemptions as it needs: [`How::Dfs`] tries few first.
    fn with_few_preemptions(&self, failing: Tested, exploration: &Exploration) -> Result<Tested, Error> {
        let LineupVerdict::Unexplained(unexplained) = &failing.verdict else { return Ok(failing) };
        let is_minimal =
            unexplained.controlled.as_ref().is_some_and(|controlled| controlled.strategy == How::Dfs.name());
        if is_minimal {
            return Ok(failing);
        }
        let mut fewer = Exploration { executions: REDUCTION, samples: 0, ..exploration.clone() };
        (fewer.scheduling.how, fewer.scheduling.dfs.bound) = (How::Dfs, None);
        let tested = self.check(&failing.test, &fewer, &mut |_| ())?;
        Ok(if tested.verdict.is_like(&failing.verdict) { tested } else { failing })
    }

    fn numbered(&self, test: &Test) -> Result<Calls, Error> {
        let matrix = test.matrix(&self.calls).map_err(|error| Error::about("lineup", error))?;
        Ok(Calls { text: test.to_string(), matrix })
    }

    /// Phase 1: all serial runs, as many in one execution as fit into this many bytes of orders, and at least one. If
    /// several share a process, all that do not block are run twice: an object whose answers vary differs from itself.
    fn observe(&self, test: &Test, calls: &Calls, bytes: usize, until: Option<Instant>) -> Result<Serially, Error> {
        let mut observations = Observations::new(test.clone());
        let mut control = self.harness.start()?;
        let most = bytes.div_ceil(test.operations() + 1).max(1);
        loop {
            let orders = observations.missing(most);
            if orders.is_empty() {
                break;
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(Serially::OutOfTime);
            }
            if let Some(ended) = self.run_serially(&mut control, calls, &orders, &mut observations)? {
                return Ok(ended);
            }
        }
        let full: Vec<omnilink_lineup::SerialOrder> = match most {
            1 => Vec::new(),
            _ => {
                observations.runs().iter().filter(|run| !run.is_stuck()).map(omnilink_lineup::SerialOrder::of).collect()
            }
        };
        // A fresh process draws the same random numbers again, so the runs come in another order: the first one, and
        // then all from the last one on.
        let full: Vec<omnilink_lineup::SerialOrder> =
            full.first().into_iter().chain(full.iter().rev()).cloned().collect();
        for orders in full.chunks(most) {
            if let Some(ended) = self.run_serially(&mut control, calls, orders, &mut observations)? {
                return Ok(ended);
            }
        }
        Ok(Serially::Observed(observations))
    }

    /// Makes the calls in these orders, in one execution, and adds the answers. Returns why phase 1 ends here, if it does.
    fn run_serially(
        &self,
        control: &mut Control,
        calls: &Calls,
        orders: &[omnilink_lineup::SerialOrder],
        observations: &mut Observations,
    ) -> Result<Option<Serially>, Error> {
        let size = observations.test().operations();
        let orders: Vec<String> = orders.iter().map(ToString::to_string).collect();
        let order =
            ExecutionOrder { policy: Policy::Steady, limit: omnilink_explore::MOST_STEPS, ..ExecutionOrder::default() };
        // The limit is for one execution, and these are many.
        let timeout = self.harness.timeout.saturating_mul(u32::try_from(orders.len()).unwrap_or(u32::MAX));
        let input = SerialInput { calls, orders: &orders };
        let tried = match self.harness.execute_within(control, &input, order, timeout) {
            Err(ControlError::Interrupted) => return Ok(Some(Serially::Interrupted)),
            tried => tried?,
        };
        if (self.host.is_interrupted)() {
            return Ok(Some(Serially::Interrupted));
        }
        if !tried.execution.has_started() {
            return Ok(Some(Serially::NotStarted));
        }
        let Some(operations) = recorded(&tried.ran.ended, &tried.trace)? else {
            return Ok(Some(Serially::Broken(tried.ran.ended)));
        };
        crate::harness::remove(&tried.trace).map_err(|error| Error::about("the trace", error))?;
        let is_stuck = operations.last().is_some_and(|last| last.returned.is_none());
        let runs: Vec<SerialRun> = operations.chunks(size).map(SerialRun::of).collect();
        let is_expected = if is_stuck { runs.len() <= orders.len() } else { runs.len() == orders.len() };
        if runs.is_empty() || !is_expected {
            let message = format!("{} serial runs were ordered, {} were recorded", orders.len(), runs.len());
            return Err(Error::about("the object program", message));
        }
        for run in &runs {
            match observations.insert(run) {
                Ok(_) => {}
                Err(Refused::Nondeterminism(difference)) => return Ok(Some(Serially::Differs(difference))),
                Err(Refused::Misfit(misfit)) => return Err(Error::about("the object program", misfit)),
            }
        }
        Ok(None)
    }

    /// Concurrent executions of a test. A process that executes several begins with a serial run.
    fn schedules<'a>(
        &'a self,
        test: &Test,
        calls: &'a Calls,
        scheduling: &Scheduling,
        warm_up: &'a [String],
    ) -> Result<Schedules<'a, impl FnMut(u64) -> Plan + 'a>, Error> {
        let columns = test.columns();
        let (threads, operations) = (columns.len(), columns.iter().map(Vec::len).max().unwrap_or_default());
        let plan = move |_| Plan {
            seed: 0,
            threads,
            operations,
            perturb: Vec::new(),
            only: None,
            script: None,
            test: Some(calls.clone()),
        };
        let schedules = Schedules::new(&self.harness, scheduling, plan)?.rewinding();
        Ok(match warm_up.is_empty() {
            true => schedules,
            false => schedules.warmed_up_by(SerialInput { calls, orders: warm_up }),
        })
    }

    /// Phase 2, in one process or in one for each execution.
    fn explore(
        &self,
        tested: &mut Tested,
        calls: &Calls,
        exploration: &Exploration,
        batch: bool,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Error> {
        let mut scheduling = exploration.scheduling.clone();
        scheduling.order.batch = batch;
        let warm_up = warm_up(&tested.observations);
        let mut schedules = self.schedules(&tested.test, calls, &scheduling, &warm_up)?;
        let budget = Budget {
            executions: exploration.executions,
            until: exploration.until,
            is_interrupted: self.host.is_interrupted,
        };
        let mut known = HashSet::new();
        let (mut verdict, mut error) = (LineupVerdict::Passed, None);
        let (mut executions, mut undecided) = (0, 0);
        let mut accepted_races = BTreeSet::new();
        let mut has_weak_loads = false;
        let mut judge = |run: Executed<Plan>| {
            executions += 1;
            has_weak_loads |= executions <= LOOKED_AT
                && run.decided.as_ref().is_some_and(|decided| decided.execution.has_weak_loads());
            undecided += u64::from(matches!(run.ran.ended, Ended::BrokenOff { .. } | Ended::TooLong { .. }));
            progress(executions);
            let mut accept = |reason: &str| _ = accepted_races.insert(reason.to_owned());
            let raced = race::new_failure(&self.harness, &self.known_races, &run, &mut accept);
            // Only the first race is shown.
            let raced = raced.filter(|_| !verdict.has_failed());
            match self.judge(tested, run, raced, &mut known) {
                Ok(None) => ControlFlow::Continue(()),
                Ok(Some(failed)) => {
                    let is_race = matches!(failed, LineupVerdict::Raced(_));
                    verdict = failed;
                    let goes_on = is_race && !exploration.stops_at_race;
                    if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                }
                Err(wrong) => {
                    error = Some(wrong);
                    ControlFlow::Break(())
                }
            }
        };
        let mut first = FirstExecution::default();
        let execute = || {
            if batch && !first.repeats(&mut schedules)? {
                return Err(Error::Diverged);
            }
            let next = schedules.execute()?;
            if batch && schedules.has_diverged() {
                return Err(Error::Diverged);
            }
            first.note(&next)?;
            Ok(next)
        };
        let stopped = run(&budget, execute, &mut judge)?;
        if let Some(error) = error {
            return Err(error);
        }
        if !batch {
            self.confirm(&mut verdict, scheduling.how)?;
        }
        tested.executions = executions;
        tested.has_weak_loads |= has_weak_loads;
        tested.accepted_races.append(&mut accepted_races);
        tested.verdict = match stopped {
            Stopped::Enough => verdict,
            Stopped::Interrupted => LineupVerdict::Interrupted,
            // A race, after which the executions continued.
            Stopped::OverBudget | Stopped::Exhausted if verdict.has_failed() => verdict,
            Stopped::OverBudget | Stopped::Exhausted if undecided > 0 => LineupVerdict::Unfinished,
            Stopped::OverBudget if scheduling.how.is_exploration() => LineupVerdict::OutOfTime,
            Stopped::OverBudget | Stopped::Exhausted => LineupVerdict::Passed,
        };
        tested.explored = Some(schedules.explored(stopped));
        Ok(())
    }

    /// Saves the trace of the failing execution of a verdict, and replays it in a fresh process if it had one of its own.
    fn confirm(&self, verdict: &mut LineupVerdict, how: How) -> Result<(), Error> {
        let Some((run, controlled)) = verdict.execution() else { return Ok(()) };
        let Some(decided) = &run.decided else { return Ok(()) };
        if !decided.order.batch {
            *controlled = Some(repeated(&self.harness, how, run, decided));
        }
        // The files of the process vanish with it. Of several failing tests only the last one is needed.
        let kept = self.harness.scratch.join("failing");
        crate::harness::remove(&kept).map_err(|error| Error::about("the trace", error))?;
        if run.trace.exists() {
            omnilink_explore::move_to(&run.trace, &kept).map_err(|error| Error::about("the trace", error))?;
        }
        run.trace = kept;
        if let LineupVerdict::Raced(raced) = verdict
            && let (Some(race), Some(decided)) = (&raced.run.race, &raced.run.decided)
        {
            let recording = Recording::at(&raced.run.trace, None);
            let history = recording.history().ok();
            raced.race = Some(race::describe(&self.harness, &raced.run.input, decided, race, history));
        }
        Ok(())
    }

    /// Judges one concurrent execution: the failure, if it is one. `raced` is the cause if it has a race that is one.
    fn judge(
        &self,
        tested: &Tested,
        run: Executed<Plan>,
        raced: Option<String>,
        known: &mut HashSet<Observed>,
    ) -> Result<Option<LineupVerdict>, Error> {
        let with_race = |run, cause| LineupVerdict::Raced(Box::new(Raced { cause, race: None, run, controlled: None }));
        if matches!(run.ran.ended, Ended::TooLong { .. } | Ended::BrokenOff { .. }) {
            // Without a race it is inconclusive, and counted as such.
            return Ok(raced.map(|cause| with_race(run, cause)));
        }
        let Some(operations) = recorded(&run.ran.ended, &run.trace)? else {
            return Ok(Some(LineupVerdict::Crashed(Box::new(Crashed { run, controlled: None }))));
        };
        let observed = observed(&tested.test, operations)?;
        let failure = match known.contains(&observed) {
            true => None,
            false => omnilink_lineup::explain(&tested.observations, &observed).failure().cloned(),
        };
        let Some(failure) = failure else {
            known.insert(observed);
            if let Some(cause) = raced {
                return Ok(Some(with_race(run, cause)));
            }
            if !run.decided.as_ref().is_some_and(|decided| decided.order.batch) {
                crate::harness::remove(&run.trace).map_err(|error| Error::about("the trace", error))?;
            }
            return Ok(None);
        };
        Ok(Some(LineupVerdict::Unexplained(Box::new(Unexplained { observed, failure, run, controlled: None }))))
    }

    /// Stores the execution that nothing explains, or that has a race, and returns its identifier.
    pub fn keep(&self, store: &Store, tested: &Tested) -> Result<Option<String>, Error> {
        let (run, controlled, race) = match &tested.verdict {
            LineupVerdict::Unexplained(unexplained) => (&unexplained.run, &unexplained.controlled, None),
            LineupVerdict::Raced(raced) => (&raced.run, &raced.controlled, raced.race.clone()),
            LineupVerdict::Crashed(crashed) => (&crashed.run, &crashed.controlled, None),
            _ => return Ok(None),
        };
        let file = self.harness.scratch.join(SPEC);
        fs::write(&file, tested.observations.to_string()).map_err(|error| Error::about(file.display(), error))?;
        let judge =
            Judge::new(&file.display().to_string(), omnilink_judge::CheckOptions::default()).map_err(Error::Spec)?;
        if matches!(run.ran.ended, Ended::Stuck { .. }) {
            close_stuck(&run.trace)?;
        }
        // The trace of a crash breaks off.
        let recording = Recording::at(&run.trace, None);
        let report = match &tested.verdict {
            LineupVerdict::Crashed(_) => None,
            _ => self.host.check(&judge, &recording, &run.label(), None).ok(),
        };
        let report = report.map(|report| {
            let steps = run.decided.as_ref().map(|decided| {
                let history = recording.history().ok();
                interleaving(&self.harness, &decided.execution, history, &blamed(&report), race.as_ref())
            });
            Report { interleaving: steps, ..report }
        });
        let id = store.free_id(0);
        let kept = Run {
            schema: Run::schema(),
            id: id.clone(),
            began: run.began,
            plan: run.input.clone(),
            command: self.harness.program.run.clone(),
            ended: run.ran.ended.clone(),
            took: run.ran.took.as_secs_f64(),
            spec: Some(SPEC.to_owned()),
            test: None,
            level: Level::linearizable().to_string(),
            verdict: report.as_ref().map(|report| report.verdict.word().to_owned()),
            cause: tested.cause(),
            controlled: controlled.clone(),
            race,
            environment: Environment::here(),
        };
        let schedule = run.decided.as_ref().map(|decided| decided.execution.schedule());
        let artifacts =
            Artifacts { trace: &run.trace, report: report.as_ref(), spec: &judge.files(), schedule: schedule.as_ref() };
        store.keep(&kept, &artifacts).map_err(|error| Error::about("the run", error))?;
        Ok(Some(id))
    }
}

/// The order of a serial run in which every call returns, if there is one.
fn warm_up(observations: &Observations) -> Vec<String> {
    observations.full_order().iter().map(ToString::to_string).collect()
}

/// The file with the observations of a kept run.
const SPEC: &str = "observations.lineup";

/// The result of phase 1.
enum Serially {
    Observed(Observations),
    Differs(Box<Nondeterminism>),
    Broken(Ended),
    OutOfTime,
    NotStarted,
    Interrupted,
}

/// Serial runs of a test, as the input of one execution.
struct SerialInput<'a> {
    calls: &'a Calls,
    orders: &'a [String],
}

impl Input for SerialInput<'_> {
    fn environment(&self, trace: &Path) -> Vec<(&'static str, String)> {
        vec![
            ("OMNILINK_TRACE", trace.display().to_string()),
            ("OMNILINK_MATRIX", self.calls.matrix.clone()),
            ("OMNILINK_ORDERS", self.orders.join(" ")),
        ]
    }

    fn describe(&self) -> String {
        format!("serial runs of {}", self.calls.text)
    }
}

/// Asks a program for its calls. It is not under control then.
fn listed_calls(harness: &Harness) -> Result<Vec<String>, Error> {
    let about = harness.executable().display().to_string();
    let wrong = |error: &dyn fmt::Display| Error::about(&about, error);
    let path = harness.scratch.join("calls");
    let mut command = harness.command().map_err(|error| wrong(&error))?;
    let output = command.env("OMNILINK_CALLS", &path).output().map_err(|error| wrong(&error))?;
    let text = fs::read_to_string(&path);
    let calls: Vec<String> = text.iter().flat_map(|text| text.lines()).map(str::to_owned).collect();
    if !output.status.success() || calls.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr);
        let message = format!("it lists no calls ({}){}", output.status, if said.is_empty() { "" } else { ": " });
        let help = "describe an object with `#[omnilink::object]` or <omnilink/object.hpp>";
        return Err(Error::with_help(&about, message + said.trim_end(), help));
    }
    Ok(calls)
}

/// The first execution of a test that finished.
#[derive(Default)]
struct FirstExecution {
    executed: Option<(Plan, Decided, Vec<Operation>)>,
    later: u64,
}

impl FirstExecution {
    fn note(&mut self, next: &Next<Executed<Plan>>) -> Result<(), Error> {
        let Next::Executed(executed) = next else { return Ok(()) };
        self.later += 1;
        if let (None, Ended::Finished, Some(decided)) = (&self.executed, &executed.ran.ended, &executed.decided) {
            self.executed = Some((executed.input.clone(), decided.clone(), read(&executed.trace)?));
        }
        Ok(())
    }

    /// Executes it again if it is due, and compares. Returns true if it is not due.
    fn repeats<F: FnMut(u64) -> Plan>(&mut self, schedules: &mut Schedules<'_, F>) -> Result<bool, Error> {
        let is_time = self.later % REPETITION == REPETITION - 1;
        let Some((input, decided, before)) = self.executed.as_ref().filter(|_| is_time) else { return Ok(true) };
        self.later += 1;
        let tried = schedules.again(input, decided)?;
        Ok(tried.execution.repeats(&decided.execution, false) && read(&tried.trace)? == *before)
    }
}

/// The operations of an execution that finished or is stuck in one of them. `None` if it ended in another way, or if it
/// is stuck around them, such as in the destructor of the object.
fn recorded(ended: &Ended, trace: &Path) -> Result<Option<Vec<Operation>>, Error> {
    let is_stuck = match ended {
        Ended::Finished => false,
        Ended::Stuck { .. } => true,
        _ => return Ok(None),
    };
    let operations = read(trace)?;
    let is_pending = operations.iter().any(|operation| operation.returned.is_none());
    if is_pending && !is_stuck {
        return Err(Error::about("the object program", "it finished, but the trace has a call that did not return"));
    }
    Ok((is_pending == is_stuck).then_some(operations))
}

fn read(trace: &Path) -> Result<Vec<Operation>, Error> {
    omnilink_lineup::read_trace(trace).map_err(|error| Error::about("the object program", error))
}

fn observed(test: &Test, operations: Vec<Operation>) -> Result<Observed, Error> {
    let is_stuck = operations.iter().any(|operation| operation.returned.is_none());
    let observed = if is_stuck { Observed::stuck(test, operations) } else { Observed::full(test, operations) };
    observed.map_err(|error| Error::about("the object program", error))
}

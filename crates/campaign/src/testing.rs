//! Tests under control: a program without a specification, executed with many schedules until one fails.
//!
//! A test fails if it crashes, gets stuck, does not end, or has a data race that the settings do not accept. The first
//! schedule that fails is replayed in a fresh process and stored as a run, so that it can be replayed, shrunk and debugged
//! like the runs of a harness. An execution without a race that reaches the step limit is inconclusive: it shows neither that
//! the test fails nor that it passes.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use omnilink_explore::{Artifacts, Ended, Environment, ExecutionOrder, Note, Plan, Program, Run, Store, Test};
use omnilink_settings::KnownRace;

use crate::campaign::repeated;
use crate::harness::clear_scratch;
use crate::race;
use crate::tally::{failure_of, still_running};
use crate::{
    Budget, DfsOptions, Error, Executed, Explored, Harness, Host, How, Next, Schedules, Scheduling, Stopped, run,
};

/// The execution of tests. It is the same for all tests of a program.
#[derive(Debug)]
pub struct Testing {
    /// The interface to the program that runs the tests.
    pub host: Host,
    /// The store for failing runs.
    pub store: Store,
    /// The working directory of the tests.
    pub directory: PathBuf,
    /// Environment variables that a replay has to set again; `None` for one that is not set.
    pub variables: Vec<(String, Option<String>)>,
    /// Data races that are known and accepted.
    pub known_races: Vec<KnownRace>,
    /// The largest number of executions of a test.
    pub executions: u64,
    /// The longest time for the executions of a test.
    pub time: Option<Duration>,
    /// The longest time for one execution.
    pub timeout: Duration,
    /// The number of threads of a test that starts none: 1, or 2 if the main thread waits for the thread of the test.
    pub own_threads: usize,
}

/// The executions of a test, and its verdict.
#[derive(Debug)]
pub struct TestRun {
    /// The verdict.
    pub verdict: TestVerdict,
    /// The number of executions, including redundant ones.
    pub executions: u64,
    /// The claims about schedules.
    pub explored: Explored,
    /// The reasons to accept its data races.
    pub accepted_races: BTreeSet<String>,
    /// The output of the first execution.
    pub output: String,
}

/// The verdict on a test.
#[derive(Debug)]
pub enum TestVerdict {
    /// No execution failed.
    Passed,
    /// It starts no thread, so that it has one schedule.
    OneThread,
    /// No execution failed, and some reached the step limit or did not start in time.
    Inconclusive {
        /// The number of those that reached the step limit.
        too_long: u64,
        /// The number of those that did not start.
        not_started: u64,
    },
    /// An execution failed.
    Failed(Box<FailedTest>),
    /// The user stopped it.
    Interrupted,
}

/// A failed execution of a test.
#[derive(Debug)]
pub struct FailedTest {
    /// The stored run.
    pub run: Run,
    /// The place of the stored run.
    pub path: PathBuf,
    /// The reason why a replay may differ.
    pub notes: Vec<Note>,
}

impl Testing {
    /// The strategy, or a sound one if it would be unsound for this program; reports the reason.
    pub fn scheduling(
        &self,
        program: &[String],
        how: How,
        order: ExecutionOrder,
        dfs: DfsOptions,
        tell: &mut dyn FnMut(String),
    ) -> Result<Scheduling, Error> {
        Ok(Scheduling::suited(&self.harness(program)?, how, order, dfs, tell))
    }

    fn harness(&self, command: &[String]) -> Result<Harness, Error> {
        let program = Program { directory: self.directory.clone(), run: command.to_vec(), ..Program::default() };
        let cannot = |why: String| Error::about("the test", why);
        let runtime = (self.host.tools)().map_err(cannot)?.kit.runtime().path();
        let harness = Harness::built(program, runtime, &self.store, self.timeout, self.host.is_interrupted);
        Ok(harness.map_err(cannot)?.with_variables(self.variables.clone()))
    }

    /// Executes a test until it fails, or until there is nothing left to do. `command` runs this test alone.
    pub fn run(&self, name: &str, command: &[String], scheduling: &Scheduling) -> Result<TestRun, Error> {
        let harness = self.harness(command)?;
        let first_seed = scheduling.order.seed;
        let input = |number: u64| Plan::without_input(first_seed.wrapping_add(number));
        let mut schedules = Schedules::new(&harness, scheduling, input)?;
        let budget = Budget {
            executions: self.executions,
            until: self.time.map(|time| Instant::now() + time),
            is_interrupted: self.host.is_interrupted,
        };
        let (mut output, mut failed, mut is_alone) = (None, None, false);
        let (mut too_long, mut not_started) = (0, 0);
        let mut accepted_races = BTreeSet::new();
        let stopped = run(
            &budget,
            || {
                let next = schedules.execute()?;
                if output.is_none() && matches!(next, Next::Executed(_)) {
                    output = Some(schedules.output()?);
                }
                Ok::<_, Error>(next)
            },
            &mut |executed: Executed<Plan>| {
                let mut accept = |reason: &str| _ = accepted_races.insert(reason.to_owned());
                let raced = race::new_failure(&harness, &self.known_races, &executed, &mut accept);
                match executed.ran.ended {
                    Ended::Finished | Ended::TooLong { .. } if raced.is_some() => {
                        failed = Some((executed, raced));
                        ControlFlow::Break(())
                    }
                    Ended::Finished => {
                        is_alone = self.starts_no_thread(&executed);
                        if is_alone { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                    }
                    Ended::TooLong { .. } => {
                        too_long += 1;
                        ControlFlow::Continue(())
                    }
                    Ended::BrokenOff { .. } => {
                        not_started += 1;
                        ControlFlow::Continue(())
                    }
                    Ended::Interrupted => ControlFlow::Continue(()),
                    Ended::Crashed { .. } | Ended::Stuck { .. } | Ended::TimedOut { .. } => {
                        failed = Some((executed, None));
                        ControlFlow::Break(())
                    }
                }
            },
        )?;
        let explored = schedules.explored(stopped);
        let verdict = match failed {
            Some((failed, raced)) => {
                TestVerdict::Failed(Box::new(self.keep(name, &harness, scheduling.how, &failed, raced)?))
            }
            None if stopped == Stopped::Interrupted => TestVerdict::Interrupted,
            None if is_alone => TestVerdict::OneThread,
            None if too_long + not_started > 0 => TestVerdict::Inconclusive { too_long, not_started },
            None => TestVerdict::Passed,
        };
        let executions = explored.tally.executions;
        Ok(TestRun { verdict, executions, explored, accepted_races, output: output.unwrap_or_default() })
    }

    /// Replays a failed execution in a fresh process, and stores it. `raced` is the cause if it failed by its data race.
    fn keep(
        &self,
        name: &str,
        harness: &Harness,
        how: How,
        failed: &Executed<Plan>,
        raced: Option<String>,
    ) -> Result<FailedTest, Error> {
        let decided = failed.decided.as_ref().ok_or_else(|| Error::about(name, "it was not controlled"))?;
        let ended = &failed.ran.ended;
        let controlled = match ended {
            // A replay would take as long, and stop somewhere else.
            Ended::TimedOut { .. } => decided.execution.controlled(how.of_order(&decided.order).name(), &decided.order),
            _ => repeated(harness, how, failed, decided),
        };
        let race = failed.race.as_ref().filter(|_| raced.is_some());
        let race = race.map(|race| race::describe(harness, &failed.input, decided, race, None));
        let run = Run {
            schema: Run::schema(),
            id: self.store.free_id(decided.order.seed),
            began: self.after_other_runs(failed.began)?,
            plan: Plan::without_input(decided.order.seed),
            command: harness.program.run.clone(),
            ended: ended.clone(),
            took: failed.ran.took.as_secs_f64(),
            spec: None,
            test: Some(Test {
                name: name.to_owned(),
                directory: self.directory.clone(),
                variables: self.variables.clone(),
            }),
            level: omnilink_weak::Level::default().to_string(),
            verdict: None,
            cause: Some(raced.or_else(|| failure_of(ended)).unwrap_or_else(|| still_running(self.timeout))),
            controlled: Some(controlled),
            race,
            environment: Environment::here(),
        };
        let schedule = decided.execution.schedule();
        let artifacts = Artifacts { trace: &failed.trace, report: None, spec: &[], schedule: Some(&schedule) };
        let path = self.store.keep(&run, &artifacts)?;
        Ok(FailedTest { run, path, notes: decided.notes.clone() })
    }

    /// Whether a test started no thread. Then its other schedules differ in nothing that it does.
    fn starts_no_thread(&self, executed: &Executed<Plan>) -> bool {
        executed.decided.as_ref().is_some_and(|decided| decided.execution.pending.len() <= self.own_threads)
    }

    /// This time, or just after the latest run: tests fail within a second of each other, and the last one to fail is the
    /// latest run.
    fn after_other_runs(&self, began: u64) -> Result<u64, Error> {
        let (runs, _) = self.store.list()?;
        let latest = runs.last().map(|run| run.began);
        Ok(latest.filter(|latest| *latest >= began).map_or(began, |latest| latest.saturating_add(1)))
    }

    /// Removes the files of executions.
    pub fn clear(&self) -> Result<(), Error> {
        clear_scratch(&self.store)
    }
}

//! Replays a stored run, step by step.

use std::path::{Path, PathBuf};
use std::time::Duration;

use omnilink_explore::{Control, Controlled, Ending, ExecutionOrder, Program, Run, Store, report_of, schedule_of};
use omnilink_history::{Call, History};
use omnilink_judge::{Failed, InputError, Judge, Recording};
use omnilink_report::{Interleaving, Report};
use omnilink_schedule::Schedule;
use omnilink_weak::Level;

use crate::campaign::blamed;
use crate::harness::ended_alike;
use crate::{Error, Harness, Host, Tried, interleaving};

/// A stored run, with everything needed to replay it.
#[derive(Debug)]
pub struct Replay {
    /// The run.
    pub run: Run,
    /// Its decisions.
    pub schedule: Schedule,
    /// The harness, as built.
    pub harness: Harness,
    /// The order, without the decisions.
    pub like: ExecutionOrder,
    pub(crate) store: Store,
    /// `None` for a run of a test, which has no specification.
    pub(crate) judge: Option<Judge>,
    pub(crate) host: Host,
}

/// The time limit for one execution, and for one check.
const PATIENCE: Duration = Duration::from_secs(60);

impl Replay {
    /// Finds a run, its harness and its specification. By default, a test is in the directory that it ran in, and a
    /// harness two directories above the runs; `directory` overrides this.
    pub fn load(host: Host, store: Store, name: &str, directory: Option<&Path>) -> Result<Replay, Error> {
        let (run, kept) = store.find(name)?;
        let schedule = schedule_of(&kept)?;
        if run.controlled.is_some() && schedule.is_none() {
            return Err(Error::about(run.id, "its file `schedule` is missing"));
        }
        let (Some(controlled), Some(schedule)) = (&run.controlled, schedule) else {
            return Err(without_schedule(&run));
        };
        let test = run.test.as_ref();
        let above = || {
            if let Some(test) = test {
                return test.directory.clone();
            }
            let above = store.directory().parent().and_then(Path::parent).unwrap_or(Path::new("."));
            if above.as_os_str().is_empty() { PathBuf::from(".") } else { above.to_owned() }
        };
        let program = Program {
            directory: directory.map_or_else(above, Path::to_owned),
            run: run.command.clone(),
            ..Program::default()
        };
        let cannot = |why: String| Error::about("the harness", why);
        let runtime = (host.tools)().map_err(cannot)?.kit.runtime().path();
        let harness = Harness::built(program, runtime, &store, PATIENCE, host.is_interrupted).map_err(cannot)?;
        let harness = harness.with_variables(test.map(|test| test.variables.clone()).unwrap_or_default());
        if !harness.executable().is_file() {
            let message = format!("`{}` not found", harness.executable().display());
            let build = if test.is_some() { "cargo omnilink test" } else { "omnilink fuzz" };
            let help = format!("build it with `{build}`, or pass its directory with `--directory`");
            return Err(Error::with_help("the harness", message, help));
        }
        let Controlled { seed, weak, fresh, plain, only_first_plain, races, limit, .. } = *controlled;
        let (racing, races) = (controlled.racing.clone(), races || run.race.is_some());
        let like = ExecutionOrder {
            seed,
            weak,
            fresh,
            plain,
            only_first_plain,
            limit,
            racing,
            races,
            ..ExecutionOrder::default()
        };
        let judge = judge_of(&run, &kept, Some(1)).transpose().map_err(Error::Spec)?;
        Ok(Replay { run, schedule, harness, like, store, judge, host })
    }

    /// Replays it in a fresh process, which must live while the trace is needed.
    pub fn repeat(&self) -> Result<(Tried, Control), Error> {
        let mut control = self.harness.start()?;
        let tried = self.harness.repeat(&mut control, &self.run.plan, &self.like, &self.schedule)?;
        Ok((tried, control))
    }

    /// Whether the program is another one than that of the stored run; `None` if that is unknown.
    fn is_rebuilt(&self) -> Option<bool> {
        let then = self.run.controlled.as_ref()?.program.as_ref()?;
        Some(*then != self.harness.fingerprint()?)
    }

    /// Fails if the replay differs from the stored run.
    pub fn compare(&self, tried: &Tried) -> Result<(), Error> {
        let differs = |message: String| {
            let help = match &*tried.notes {
                _ if self.is_rebuilt() == Some(true) => format!(
                    "`{}` was built again since, and is another program: build it as it was, or find the failure again",
                    self.harness.executable().display()
                ),
                [] if self.is_rebuilt() == Some(false) => {
                    "the program is the same, so it is not deterministic".to_owned()
                }
                [] => "the harness was rebuilt, or is nondeterministic".to_owned(),
                notes => notes.iter().map(|note| note.text()).collect::<Vec<_>>().join("; "),
            };
            let about = self.run.id.clone();
            Err(Error::About { about, error: InputError { message, help: Some(help) } })
        };
        if !tried.execution.has_started() {
            let message = "no step before the time limit";
            return Err(Error::with_help(&self.run.id, message, "the machine may be too busy: try again"));
        }
        if tried.execution.ended == Ending::Diverged {
            let step = tried.execution.steps.len() + 1;
            return differs(format!("step {step} cannot be taken by the same thread as in the stored run"));
        }
        if !ended_alike(&tried.ran.ended, &self.run.ended) {
            return differs("it ended differently than the stored run".to_owned());
        }
        if self.run.race.is_some() && tried.race.is_none() {
            return differs("its data race does not occur".to_owned());
        }
        let digest = tried.execution.fingerprint();
        match &self.run.controlled {
            Some(Controlled { digest: then, .. }) if *then != digest => {
                differs(format!("addresses or values differ: expected fingerprint {then}, found {digest}"))
            }
            _ => Ok(()),
        }
    }

    /// The steps of a replay, with the operations that no order can place marked.
    pub fn interleaving(
        &self,
        tried: &Tried,
        history: Option<&History<Call>>,
        report: Option<&Report>,
    ) -> Interleaving {
        let blamed = report.map(blamed).unwrap_or_default();
        interleaving(&self.harness, &tried.execution, history, &blamed, self.run.raced())
    }

    /// The name of the operation that the stored report blames, if the run was rejected.
    pub fn blamed(&self) -> Option<String> {
        blamed(&report_of(&self.store.path(&self.run.id))?).into_iter().next()
    }

    /// Checks a trace against the specification stored with the run; `None` if it has none.
    pub fn check(&self, trace: &Path, label: &str) -> Result<Option<Report>, Failed> {
        let recording = Recording::at(trace, None);
        let judge = self.judge.as_ref();
        judge.map(|judge| self.host.check(judge, &recording, label, Some(PATIENCE))).transpose()
    }

    /// The specification's files, and their names in the store.
    pub(crate) fn spec_files(&self) -> Vec<(PathBuf, String)> {
        self.judge.as_ref().map(Judge::files).unwrap_or_default()
    }
}

/// Why a run stored without its schedule cannot be replayed.
fn without_schedule(run: &Run) -> Error {
    // A test does not know its schedule; the command that runs it does.
    let is_test = run.command.first().is_some_and(|program| program == "cargo");
    let (message, help) = match is_test {
        true => (
            "it was kept by a test, which does not know its schedule",
            "`cargo omnilink test` keeps a failing test with its schedule as another run: `omnilink runs list` lists it",
        ),
        false => (
            "its threads ran freely, so it cannot be replayed",
            "runs found by `omnilink fuzz --schedule random` can be replayed",
        ),
    };
    Error::with_help(&run.id, message, help)
}

/// The judge for the run stored in this directory, as it was checked then; `None` if it has no specification.
pub fn judge_of(run: &Run, directory: &Path, jobs: Option<usize>) -> Option<Result<Judge, Failed>> {
    let spec = spec_of(run, directory)?;
    let level = run.level.parse::<Level>().map_err(|error| Failed::Input(InputError::new(error)));
    Some(level.and_then(|level| {
        let options = omnilink_judge::CheckOptions {
            is_foreign: true,
            jobs,
            level: Some(level),
            ..omnilink_judge::CheckOptions::default()
        };
        Judge::new(&spec, options)
    }))
}

/// The specification of the run stored in this directory, as it was then; `None` if it has none. A run's files are in one
/// directory, so a received run cannot name a file elsewhere.
pub fn spec_of(run: &Run, directory: &Path) -> Option<String> {
    let name = run.spec.as_deref()?;
    let spec = Path::new(name);
    Some(match omnilink_judge::is_tla(spec) || omnilink_judge::is_lineup(spec) {
        true => directory.join("spec").join(spec.file_name().unwrap_or_default()).display().to_string(),
        false => name.to_owned(),
    })
}

//! `omnilink replay`: repeats a run that was kept, step by step, and compares.

use std::path::{Path, PathBuf};
use std::time::Duration;

use explore::{ControlError, Controlled, Ended, Ending, Order, Program, Ran, Run, Store, schedule_of};
use judge::{Case, Failed, InputError, Judge, Recording};
use report::{Detail, Report};
use schedule::{Kind, Schedule, Step};

use super::args::{Kept, ReplayArgs};
use super::{Harness, Tried, ended_alike};
use crate::args::Progress;
use crate::check::{exit_of, tell, tell_about_spec};
use crate::complain;
use crate::exit::Exit;
use crate::fuzz::runs::{spec_of, tell_ended, wrong};
use crate::limits::{self, Limits};

/// A run that was kept, with all that is needed to repeat it.
pub(super) struct Loaded {
    pub(super) run: Run,
    pub(super) schedule: Schedule,
    pub(super) harness: Harness,
    pub(super) store: Store,
    pub(super) judge: Judge,
    /// What was asked for, but for the decisions.
    pub(super) like: Order,
}

/// How long one execution may take.
const PATIENCE: Duration = Duration::from_secs(60);

impl Loaded {
    pub(super) fn new(kept: &Kept) -> Result<Loaded, Exit> {
        let store = Store::at(&kept.store.store);
        let (run, directory) = store.find(&kept.run).map_err(wrong)?;
        let schedule = schedule_of(&directory).map_err(wrong)?;
        if run.controlled.is_some() && schedule.is_none() {
            return Err(complain(&run.id, &InputError::new("its file `schedule` is not there")));
        }
        let (Some(controlled), Some(schedule)) = (&run.controlled, schedule) else {
            // A test does not know the schedule that it runs under; the command that runs it does.
            let is_test = run.command.first().is_some_and(|program| program == "cargo");
            let (message, help) = match is_test {
                true => (
                    "it is a run of a test, which is kept without its schedule",
                    "`cargo omnilink test` prints the seed of the schedule that failed; with that seed in `OMNILINK_SEED` it \
                     fails again",
                ),
                false => (
                    "its threads ran freely, so it cannot be repeated",
                    "`omnilink fuzz --schedule random` controls threads, and what it keeps can be repeated",
                ),
            };
            return Err(complain(&run.id, &InputError { message: message.to_owned(), help: Some(help.to_owned()) }));
        };
        let above = || {
            let above = store.directory().parent().and_then(Path::parent).unwrap_or(Path::new("."));
            if above.as_os_str().is_empty() { PathBuf::from(".") } else { above.to_owned() }
        };
        let program = Program {
            directory: kept.directory.clone().unwrap_or_else(above),
            build: Vec::new(),
            run: run.command.clone(),
            environment: Vec::new(),
        };
        let cannot = |why: String| complain("the harness", &InputError::new(why));
        let kit = crate::build::kit().map_err(cannot)?;
        let harness = Harness::built(program, kit.runtime().path(), &store, PATIENCE).map_err(cannot)?;
        if !harness.executable().is_file() {
            let message = format!("`{}` is not there", harness.executable().display());
            let help = "`omnilink fuzz` builds it; `--directory` says where the harness is".to_owned();
            return Err(complain("the harness", &InputError { message, help: Some(help) }));
        }
        let Controlled { seed, weak, plain, limit, .. } = *controlled;
        let like = Order { seed, weak, plain, limit, ..Order::default() };
        let criterion = crate::fuzz::runs::criterion(&run);
        let options = judge::Options { is_foreign: true, jobs: Some(1), criterion, ..judge::Options::default() };
        let judge = Judge::new(&spec_of(&run, &directory), options).map_err(|failed| tell_about_spec(&failed))?;
        Ok(Loaded { run, schedule, harness, store, judge, like })
    }

    /// Checks a recording.
    pub(super) fn check(&self, trace: &Path, label: &str) -> Result<Report, Failed> {
        let max_memory = judge::Options::default().max_memory;
        let settings = limits::Settings { timeout: Some(PATIENCE), max_memory, progress: Progress::None };
        let limits = Limits::new(&settings, label);
        let recording = Recording::at(trace, None);
        self.judge.report(&mut Case { recording: &recording, label, witness: None, limits: &limits })
    }
}

pub(crate) fn run(args: &ReplayArgs) -> Exit {
    limits::catch_interrupts();
    match replay(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn replay(args: &ReplayArgs) -> Result<Exit, Exit> {
    let loaded = Loaded::new(&args.kept)?;
    let mut exit = Exit::Nothing;
    for time in 0..args.times {
        if limits::is_interrupted() {
            return Ok(Exit::Interrupted);
        }
        let repeated = loaded.harness.repeat(&loaded.run.plan, &loaded.like, &loaded.schedule);
        let (tried, control) = repeated.map_err(cannot_run)?;
        compare(&loaded, &tried)?;
        if time == 0 {
            if args.steps {
                tried.execution.steps.iter().enumerate().for_each(|(number, step)| tell_step(number, step));
            }
            exit = judged(&loaded, &tried.ran.ended, &tried.trace)?;
        }
        drop(control);
    }
    let times = if args.times == 1 { String::new() } else { format!(" {} times", args.times) };
    let steps = loaded.run.controlled.as_ref().map_or(0, |controlled| controlled.steps);
    let digest = loaded.run.controlled.as_ref().map_or("", |controlled| &controlled.digest);
    outln!(
        "replayed{times}: {}, the same addresses and values as when it ran (fingerprint {digest})",
        explore::counted(steps, "step")
    );
    Ok(exit)
}

/// Says why there is no execution, unless somebody wanted to stop.
pub(super) fn cannot_run(error: ControlError) -> Exit {
    match error {
        ControlError::Interrupted => {
            errln!("interrupted");
            Exit::Interrupted
        }
        error => complain("the harness", &InputError::new(error)),
    }
}

/// Complains if it went another way than when it was kept.
fn compare(loaded: &Loaded, tried: &Tried) -> Result<(), Exit> {
    let Tried { execution, ran: Ran { ended, .. }, notes, .. } = tried;
    let differs = |message: String| {
        let help = match &**notes {
            [] => "the harness was built anew, or does something that is not the same every time".to_owned(),
            notes => notes.iter().map(|note| note.text()).collect::<Vec<_>>().join("; "),
        };
        complain(&loaded.run.id, &InputError { message, help: Some(help) })
    };
    if execution.ended == Ending::Diverged {
        let step = execution.steps.len() + 1;
        return Err(differs(format!("step {step} could not be made by the thread that made it then")));
    }
    if !ended_alike(ended, &loaded.run.ended) {
        return Err(differs("it ended in another way than when it ran".to_owned()));
    }
    let digest = execution.fingerprint();
    match &loaded.run.controlled {
        Some(controlled) if controlled.digest != digest => {
            let then = &controlled.digest;
            Err(differs(format!(
                "addresses or values are not the same as then: fingerprint {digest}, and it was {then}"
            )))
        }
        _ => Ok(()),
    }
}

/// Says how it ended, or what the check says about it.
fn judged(loaded: &Loaded, ended: &Ended, trace: &Path) -> Result<Exit, Exit> {
    if *ended != Ended::Finished {
        tell_ended(ended);
        return Ok(if matches!(ended, Ended::TooLong { .. }) { Exit::Inconclusive } else { Exit::Crashed });
    }
    let mut report = loaded.check(trace, &loaded.run.id).map_err(|failed| tell(&failed, &loaded.run.id))?;
    report.next.clear(); // The recording is gone in a moment.
    out!("{}", report::text(&report, Detail::Brief, true));
    Ok(exit_of(&report))
}

fn tell_step(number: usize, step: &Step) {
    let what = step.kind().map_or("does something unknown", Kind::word);
    let address = if step.address == 0 { String::new() } else { format!(" {:#x}", step.address) };
    let has_value = matches!(step.kind(), Some(Kind::Load | Kind::Store | Kind::Update)) || step.value != 0;
    let value = if has_value { format!(" = {:#x}", step.value) } else { String::new() };
    let place = if step.place == 0 { String::new() } else { format!("  at {:#x}", step.place) };
    outln!("{:>6}  thread {} {what}{address}{value}{place}", number + 1, step.thread);
}

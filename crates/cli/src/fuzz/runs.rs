//! `omnilink runs`: what was kept.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use explore::{Controlled, Ended, Run, Store, StoreError, pack, unpack};
use judge::{Case, InputError, Judge};
use report::{Detail, Report};
use serde_json::json;

use super::args::RunsCommand;
use crate::args::{Output, Progress};
use crate::check::{exit_of, tell, tell_about_spec};
use crate::complain;
use crate::exit::Exit;
use crate::limits::{self, Limits};

pub(crate) fn run(command: &RunsCommand) -> Exit {
    limits::catch_interrupts();
    let done = match command {
        RunsCommand::List { store, format } => list(&Store::at(&store.store), *format),
        RunsCommand::Show { run, store, recheck } => show(&Store::at(&store.store), run, *recheck),
        RunsCommand::Pack { run, output, store } => pack_one(&Store::at(&store.store), run, output.as_deref()),
        RunsCommand::Prune { keep, store } => prune(&Store::at(&store.store), *keep),
    };
    match done {
        Ok(exit) | Err(exit) => exit,
    }
}

pub(crate) fn wrong(error: StoreError) -> Exit {
    let help = matches!(error, StoreError::Unknown(_)).then(|| "`omnilink runs list` lists them".to_owned());
    complain("runs", &InputError { message: error.to_string(), help })
}

fn list(store: &Store, format: Output) -> Result<Exit, Exit> {
    let (runs, damaged) = store.list().map_err(wrong)?;
    match format {
        Output::Json => anstream::println!("{:#}", json!({ "schema": "omnilink.runs/1", "runs": runs })),
        Output::Human if runs.is_empty() && damaged.is_empty() => anstream::println!("no runs are kept"),
        Output::Human => {
            for run in &runs {
                let what = outcome(run);
                let cause = run.cause.as_deref().map(|cause| format!("  {cause}")).unwrap_or_default();
                anstream::println!("{}  {}  {what:12}  {}{cause}", run.id, when(run), run.plan.describe());
            }
        }
    }
    damaged.iter().for_each(|error| anstream::eprintln!("damaged: {error}"));
    Ok(Exit::Accepted)
}

fn outcome(run: &Run) -> &str {
    match &run.ended {
        Ended::Crashed { .. } => "crashed",
        Ended::Stuck { .. } | Ended::TimedOut | Ended::Interrupted => "stuck",
        Ended::TooLong { .. } => "too long",
        Ended::BrokenOff { .. } => "broken off",
        Ended::Finished => run.verdict.as_deref().unwrap_or("not checked"),
    }
}

fn when(run: &Run) -> String {
    let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(run.began)).unwrap_or(SystemTime::UNIX_EPOCH);
    humantime::format_rfc3339_seconds(time).to_string()
}

fn show(store: &Store, name: &str, recheck: bool) -> Result<Exit, Exit> {
    // A bundle lives here as long as it is looked at.
    let unpacked = tempfile::tempdir().map_err(|error| complain("a temporary directory", &InputError::new(error)))?;
    let (run, directory) = match Path::new(name) {
        file if file.is_file() => {
            let run = unpack(file, unpacked.path()).map_err(wrong)?;
            (run, unpacked.path().to_owned())
        }
        _ => store.find(name).map_err(wrong)?,
    };
    describe(&run);
    let kept = kept_report(&directory)?;
    if !recheck {
        if let Some(report) = &kept {
            anstream::print!("{}", report::text(report, Detail::Full, true));
        }
        let verdict = kept.as_ref().map_or(Exit::Nothing, exit_of);
        return Ok(match run.ended {
            Ended::Finished => verdict,
            Ended::TooLong { .. } => Exit::Inconclusive,
            _ => Exit::Crashed,
        });
    }
    let mut report = check_again(&run, &directory)?;
    if directory == unpacked.path() {
        report.next.clear(); // It is gone in a moment.
    }
    anstream::print!("{}", report::text(&report, Detail::Full, true));
    let now = report.verdict.word();
    match run.verdict.as_deref() {
        Some(then) if then == now => {
            anstream::println!("the verdict is the same as before: {now}");
            Ok(exit_of(&report))
        }
        then => {
            let then = then.unwrap_or("not checked");
            Err(complain(name, &InputError::new(format!("it was {then} when it ran, and is {now} now"))))
        }
    }
}

fn describe(run: &Run) {
    anstream::println!("run {} of {}, checked against {}", run.id, when(run), run.spec);
    anstream::println!("  {}", run.plan.describe());
    anstream::println!("  {} ({:.2} s)", run.command.join(" "), run.took);
    let environment = &run.environment;
    anstream::println!(
        "  OmniLink {}, {}, {}, {} cores",
        environment.omnilink,
        environment.system,
        environment.processor,
        environment.cores
    );
    if let Some(controlled) = &run.controlled {
        describe_control(controlled);
    }
    tell_ended(&run.ended);
    anstream::println!();
}

/// Says how a run ended, if it did not end as it should.
pub(crate) fn tell_ended(ended: &Ended) {
    match ended {
        Ended::Finished => {}
        Ended::Stuck { how, threads } => {
            anstream::println!("  it is stuck: {how}");
            for thread in threads {
                anstream::println!("    thread {} {}", thread.thread, thread.doing);
                thread.stack.iter().for_each(|line| anstream::println!("      {line}"));
            }
        }
        Ended::TooLong { steps } => anstream::println!("  {}", super::tally::too_long(*steps)),
        Ended::BrokenOff { why } => anstream::println!("  it was broken off: {why}"),
        Ended::TimedOut | Ended::Interrupted => anstream::println!("  it did not end, and was stopped"),
        Ended::Crashed { how, said, stack } => {
            anstream::println!("  {how}");
            said.lines().for_each(|line| anstream::println!("    {line}"));
            stack.iter().for_each(|line| anstream::println!("    in {line}"));
        }
    }
}

fn describe_control(controlled: &Controlled) {
    let Controlled { strategy, weak, steps, switches, digest, repeats, smaller_than, .. } = controlled;
    let memory = if *weak { ", weak memory as in C11" } else { "" };
    let steps = explore::counted(*steps, "step");
    anstream::println!("  controlled by {strategy}{memory}: {steps}, {switches} switches, fingerprint {digest}");
    if !repeats {
        anstream::println!("  it could not be repeated step by step in a process of its own");
    }
    if let Some(id) = smaller_than {
        anstream::println!("  made smaller from {id}");
    }
}

fn kept_report(directory: &Path) -> Result<Option<Report>, Exit> {
    let path = directory.join("report.json");
    if !path.is_file() {
        return Ok(None);
    }
    let wrong = |error: InputError| complain(&path.display().to_string(), &error);
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(InputError::new(error)))?;
    Report::from_json(&text).map(Some).map_err(|error| wrong(InputError::new(error)))
}

/// The specification of a run that is kept in this directory, as it was then.
pub(crate) fn spec_of(run: &Run, directory: &Path) -> String {
    match judge::is_tla(Path::new(&run.spec)) {
        true => directory.join("spec").join(&run.spec).display().to_string(),
        false => run.spec.clone(),
    }
}

fn check_again(run: &Run, directory: &Path) -> Result<Report, Exit> {
    let judge = Judge::new(&spec_of(run, directory), judge::Options { is_foreign: true, ..judge::Options::default() })
        .map_err(|failed| tell_about_spec(&failed))?;
    let trace = directory.join("trace");
    let settings =
        limits::Settings { timeout: None, max_memory: judge::Options::default().max_memory, progress: Progress::None };
    let limits = Limits::new(&settings, &run.id);
    let mut case = Case { path: &trace, label: &run.id, witness: None, limits: &limits };
    judge.report(&mut case).map_err(|failed| tell(&failed, &run.id))
}

fn pack_one(store: &Store, name: &str, output: Option<&Path>) -> Result<Exit, Exit> {
    let (run, directory) = store.find(name).map_err(wrong)?;
    let file = output.map_or_else(|| PathBuf::from(format!("{}.omni", run.id)), Path::to_owned);
    if output.is_none() && file.exists() {
        let help = Some("name another one with `--output`, or the same to replace it".to_owned());
        let message = "it is there already".to_owned();
        return Err(complain(&file.display().to_string(), &InputError { message, help }));
    }
    pack(&directory, &file).map_err(wrong)?;
    anstream::println!("{}", file.display());
    Ok(Exit::Accepted)
}

fn prune(store: &Store, keep: usize) -> Result<Exit, Exit> {
    let (runs, _) = store.list().map_err(wrong)?;
    let damaged = store.remove_damaged().map_err(wrong)?;
    let gone = &runs[..runs.len().saturating_sub(keep)];
    for run in gone {
        store.remove(&run.id).map_err(wrong)?;
    }
    anstream::println!("{} removed, {} kept", gone.len() + damaged, runs.len() - gone.len());
    Ok(Exit::Accepted)
}

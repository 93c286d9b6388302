//! `omnilink runs`: the kept runs.

use std::path::{Path, PathBuf};

use bytesize::ByteSize;
use omnilink_campaign::{Ledger, Overview, Since, judge_of, now};
use omnilink_explore::{Controlled, Ended, Packed, Run, Store, format_time, pack, unpack};
use omnilink_judge::{Case, InputError, Judge, Recording, ShowOptions};
use omnilink_report::{Comparison, Detail, Report, Side, clean};
use serde_json::json;

use crate::args::{Output, RunsCommand, STORE};
use crate::comparison::side;
use crate::exit::Exit;
use crate::host::HOST;
use crate::limits;
use crate::outcome::{exit_of, print_end, print_failure, print_race, print_spec_error, print_store_error};
use crate::terminal::complain;

pub(crate) fn run(command: &RunsCommand) -> Exit {
    limits::catch_interrupts();
    let done = match command {
        RunsCommand::List { store, format } => list(&Store::at(&store.store), *format),
        RunsCommand::Summary { store, since, format } => {
            summarize(&Store::at(&store.store), since.since.as_deref(), *format)
        }
        RunsCommand::Compare { here, there, store, format } => compare(&Store::at(&store.store), here, there, *format),
        RunsCommand::Show { run, store, recheck } => show(&Store::at(&store.store), run, *recheck),
        RunsCommand::Pack { run, output, store } => pack_one(&Store::at(&store.store), run, output.as_deref()),
        RunsCommand::Prune { keep, store } => prune(&Store::at(&store.store), *keep),
    };
    match done {
        Ok(exit) | Err(exit) => exit,
    }
}

fn list(store: &Store, format: Output) -> Result<Exit, Exit> {
    let (runs, damaged) = store.list().map_err(print_store_error)?;
    match format {
        Output::Json => outln!("{:#}", json!({ "schema": "omnilink.runs/1", "runs": runs })),
        Output::Human if runs.is_empty() && damaged.is_empty() => outln!("no runs are kept"),
        Output::Human => {
            for run in &runs {
                let what = outcome(run);
                let cause = run.cause.as_deref().map(|cause| format!("  {}", clean(cause))).unwrap_or_default();
                outln!(
                    "{}  {}  {:12}  {}{cause}",
                    clean(&run.id),
                    format_time(run.began),
                    clean(what),
                    clean(&run.describe())
                );
            }
        }
    }
    damaged.iter().for_each(|error| errln!("unreadable: {}", clean(&error.to_string())));
    Ok(Exit::Accepted)
}

fn summarize(store: &Store, since: Option<&str>, format: Output) -> Result<Exit, Exit> {
    let Some(overview) = overview(store, since)? else {
        errln!("no campaign was noted in {}", store.directory().display());
        return Ok(Exit::Nothing);
    };
    match format {
        Output::Json => {
            let mut json = serde_json::to_value(&overview).expect("an overview is plain data");
            json["schema"] = "omnilink.summary/1".into();
            outln!("{json:#}");
        }
        Output::Human => out!("{}", overview.text()),
    }
    Ok(if overview.has_news() { Exit::Rejected } else { Exit::Accepted })
}

/// What the campaigns of a store found; `None` if there were none.
pub(crate) fn overview(store: &Store, since: Option<&str>) -> Result<Option<Overview>, Exit> {
    let ledger = Ledger::of(store);
    let wrong = |error: InputError| complain(&ledger.path().display().to_string(), &error);
    let (entries, damaged) = ledger.read().map_err(|error| wrong(InputError::new(error)))?;
    for line in damaged {
        errln!("unreadable: line {line} of {}", ledger.path().display());
    }
    let directory = if store.directory().is_dir() { store.directory() } else { Path::new(".") };
    let parse = |text: &str| {
        Since::parse(text, &entries, directory, now().as_secs()).ok_or_else(|| {
            let help = "name a commit, a day such as `2026-11-16`, a time, or a duration such as `14d`";
            complain("--since", &InputError { message: format!("`{text}` is none"), help: Some(help.into()) })
        })
    };
    Ok(Overview::new(&entries, since.map(parse).transpose()?))
}

fn compare(store: &Store, here: &str, there: &str, format: Output) -> Result<Exit, Exit> {
    let side = |name: &str| -> Result<Side, Exit> {
        let (run, directory) = store.find(name).map_err(print_store_error)?;
        let judge = judge_of_run(&run, &directory)?;
        let recording = Recording::at(directory.join("trace"), None);
        let limits = (HOST.limits)(None, &run.id);
        let mut case = Case { recording: &recording, label: &run.id, witness: None, limits: &*limits };
        let shown = judge.show(&mut case, &ShowOptions::default());
        let side = shown.and_then(|shown| side(&run.id, &recording, &shown));
        side.map_err(|failed| print_failure(&failed, &run.id))
    };
    let comparison = Comparison::new(&side(here)?, &side(there)?);
    match format {
        Output::Json => {
            let mut json = serde_json::to_value(&comparison).expect("a comparison is plain data");
            json["schema"] = "omnilink.comparison/1".into();
            outln!("{json:#}");
        }
        Output::Human => out!("{}", comparison.text()),
    }
    Ok(Exit::Accepted)
}

fn outcome(run: &Run) -> &str {
    match &run.ended {
        Ended::Crashed { .. } => "crashed",
        Ended::Stuck { .. } | Ended::TimedOut { .. } | Ended::Interrupted => "stuck",
        _ if run.raced().is_some() && run.verdict.as_deref() != Some("rejected") => "data race",
        Ended::TooLong { .. } => "too long",
        Ended::BrokenOff { .. } => "broken off",
        Ended::Finished => run.verdict.as_deref().unwrap_or("not checked"),
    }
}

fn show(store: &Store, name: &str, recheck: bool) -> Result<Exit, Exit> {
    // Holds an unpacked bundle while it is shown.
    let unpacked = tempfile::tempdir().map_err(|error| complain("a temporary directory", &InputError::new(error)))?;
    let (run, directory) = match Path::new(name) {
        file if file.is_file() => {
            let run = unpack(file, unpacked.path()).map_err(print_store_error)?;
            (run, unpacked.path().to_owned())
        }
        _ => store.find(name).map_err(print_store_error)?,
    };
    describe(&run);
    let with_end = |report: Report| Report { ended: failure(&run), ..report };
    let kept = kept_report(&directory)?.map(with_end);
    if !recheck {
        if let Some(report) = &kept {
            out!("{}", omnilink_report::text_within(report, Detail::Full, true, crate::terminal::width()));
        }
        let verdict = kept.as_ref().map_or(Exit::Nothing, exit_of);
        return Ok(match run.ended {
            _ if run.raced().is_some() => verdict.max(Exit::Raced),
            Ended::Finished => verdict,
            Ended::TooLong { .. } => Exit::Inconclusive,
            _ => Exit::Crashed,
        });
    }
    let mut report = with_end(check_again(&run, &directory)?);
    if directory == unpacked.path() {
        report.next.clear(); // The trace is about to be deleted.
    }
    out!("{}", omnilink_report::text_within(&report, Detail::Full, true, crate::terminal::width()));
    let now = report.verdict.word();
    match run.verdict.as_deref() {
        Some(then) if then == now => {
            let about = if report.has_failed() { " on its operations" } else { "" };
            outln!("same verdict{about} as before: {now}");
            Ok(exit_of(&report))
        }
        then => {
            let then = then.unwrap_or("not checked");
            Err(complain(name, &InputError::new(format!("{then} when it ran, {now} now"))))
        }
    }
}

/// How a run failed, apart from the verdict about its operations. One that is too long has not failed, and neither has one
/// that is stuck in calls that may block.
fn failure(run: &Run) -> Option<String> {
    let may_block = || run.cause.is_none() && run.verdict.as_deref() == Some("accepted");
    run.failure().filter(|_| match run.ended {
        Ended::TooLong { .. } => run.raced().is_some(),
        Ended::Stuck { .. } => !may_block(),
        _ => true,
    })
}

fn describe(run: &Run) {
    let spec = run.spec.as_deref().map(|spec| format!(", checked against {}", clean(spec))).unwrap_or_default();
    outln!("run {} of {}{spec}", clean(&run.id), format_time(run.began));
    outln!("  {}", clean(&run.describe()));
    outln!("  {} ({:.2} s)", clean(&run.command.join(" ")), run.took);
    let environment = &run.environment;
    outln!(
        "  OmniLink {}, {}, {}, {} cores",
        clean(&environment.omnilink),
        clean(&environment.system),
        clean(&environment.processor),
        environment.cores
    );
    if let Some(controlled) = &run.controlled {
        describe_control(controlled);
    }
    print_end(&run.ended);
    if let Some(race) = &run.race {
        outln!("  data race:");
        print_race(race);
    }
    outln!();
}

fn describe_control(controlled: &Controlled) {
    let Controlled { strategy, weak, steps, switches, digest, repeats, smaller_than, .. } = controlled;
    let memory = if *weak { ", weak memory as in C11" } else { "" };
    let steps = omnilink_suggest::counted(*steps, "step");
    outln!("  controlled by {}{memory}: {steps}, {switches} switches, fingerprint {}", clean(strategy), clean(digest));
    if !repeats {
        outln!("  could not be replayed step by step in a fresh process");
    }
    if let Some(id) = smaller_than {
        outln!("  shrunk from {}", clean(id));
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

/// Checks against the specification of a run.
fn judge_of_run(run: &Run, directory: &Path) -> Result<Judge, Exit> {
    let Some(judge) = judge_of(run, directory, None) else {
        return Err(complain(&run.id, &InputError::new("a run of a test has no specification to check")));
    };
    judge.map_err(|failed| print_spec_error(&failed))
}

fn check_again(run: &Run, directory: &Path) -> Result<Report, Exit> {
    let judge = judge_of_run(run, directory)?;
    let recording = Recording::at(directory.join("trace"), None);
    HOST.check(&judge, &recording, &run.id, None).map_err(|failed| print_failure(&failed, &run.id))
}

fn pack_one(store: &Store, name: &str, output: Option<&Path>) -> Result<Exit, Exit> {
    let (run, directory) = store.find(name).map_err(print_store_error)?;
    let file = output.map_or_else(|| PathBuf::from(format!("{}.omni", run.id)), Path::to_owned);
    if output.is_none() && file.exists() {
        let help = Some("name another one with `--output`, or the same to replace it".to_owned());
        let message = "already exists".to_owned();
        return Err(complain(&file.display().to_string(), &InputError { message, help }));
    }
    let packed = pack(&directory, &file).map_err(print_store_error)?;
    outln!("{}", file.display());
    // Recipients of the file can read all of it.
    errln!("it holds these files of the run, and no environment variables:");
    for (part, files, bytes) in parts(&packed) {
        let many = if files == 1 { String::new() } else { format!(" ({files} files)") };
        errln!("  {part}{many}, {}", ByteSize(bytes).display().si());
    }
    errln!("  the command in `run.json`: {}", clean(&run.command.join(" ")));
    Ok(Exit::Accepted)
}

/// The parts of a bundle, each with its number of files and its bytes.
fn parts(packed: &Packed) -> Vec<(&str, usize, u64)> {
    let mut parts: Vec<(&str, usize, u64)> = Vec::new();
    for (name, bytes) in &packed.files {
        let part = name.split_once('/').map_or(name.as_str(), |(part, _)| part);
        match parts.last_mut() {
            Some((known, files, sum)) if *known == part => (*files, *sum) = (*files + 1, *sum + bytes),
            _ => parts.push((part, 1, *bytes)),
        }
    }
    parts
}

fn prune(store: &Store, keep: usize) -> Result<Exit, Exit> {
    let (runs, _) = store.list().map_err(print_store_error)?;
    let damaged = store.remove_damaged().map_err(print_store_error)?;
    let gone = &runs[..runs.len().saturating_sub(keep)];
    for run in gone {
        store.remove(&run.id).map_err(print_store_error)?;
    }
    outln!("{} removed, {} kept", gone.len() + damaged, runs.len() - gone.len());
    Ok(Exit::Accepted)
}

/// The option of follow-up commands that names the store, unless it is the default one.
pub(crate) fn store_option(store: &Store) -> String {
    let (store, default) = (store.directory(), Path::new(STORE));
    if store == default { String::new() } else { format!(" --store {}", store.display()) }
}

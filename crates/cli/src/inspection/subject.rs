//! The subject of a command: a trace with its specification, a report alone, or a directory of runs.

use std::fs;
use std::path::Path;

use ::omnilink_report::{Command, Interleaving, Report};
use omnilink_campaign::spec_of;
use omnilink_explore::{Run, Store, StoreError, report_of, unpack};
use omnilink_judge::{Assumption, Case, Failed, InputError, Inspection, Judge, ShowOptions, is_tla};
use tempfile::TempDir;

use crate::args::{Progress, SubjectArgs};
use crate::check::output;
use crate::exit::Exit;
use crate::limits::{Limits, Settings};
use crate::outcome::label;
use crate::runs::store_option;
use crate::terminal::complain;

/// The subject.
pub(super) enum Subject {
    /// A trace, which is checked.
    Recording(Box<Recording>),
    /// A stored report, without the history.
    Report(Box<Report>),
    /// A directory of runs.
    Store(Store),
}

/// A trace, and how to check it.
pub(super) struct Recording {
    pub(super) spec: String,
    pub(super) options: omnilink_judge::CheckOptions,
    pub(super) recorded: omnilink_judge::Recording,
    pub(super) label: String,
    /// Its kept run, if any.
    pub(super) run: Option<Run>,
    /// The store of that run.
    store: Store,
    /// The steps of that run.
    interleaving: Option<Interleaving>,
    /// The temporary directory that holds it, if any.
    temporary: Option<TempDir>,
}

impl SubjectArgs {
    /// The subject's name for people.
    pub(super) fn label(&self) -> String {
        self.paths.last().map(|path| label(path)).unwrap_or_default()
    }
}

/// Finds the subject, or why it does not exist.
pub(super) fn find(args: &SubjectArgs) -> Result<Subject, Exit> {
    match (&args.options.spec, &*args.paths) {
        (Some(spec), [trace]) => of_history(args, spec.clone(), trace),
        (None, [spec, trace]) if is_tla(spec) || omnilink_judge::is_lineup(spec) => {
            of_history(args, spec.display().to_string(), trace)
        }
        (None, [path]) if is_tla(path) => Err(unclear("no history given after the specification")),
        (None, [path]) if path.is_file() && path.extension().is_some_and(|extension| extension == "json") => {
            of_report(path)
        }
        (None, [_]) if args.options.about.is_of_history() => Err(unclear(
            "`--config`, `--include`, `--settings` and `--from` are about a history, and a run has its own",
        )),
        (None, [path]) if path.join("run.json").is_file() => of_run_directory(args, path),
        (None, [path]) if path.is_dir() => Ok(Subject::Store(Store::at(path))),
        (None, [path]) => of_run(args, path),
        _ => Err(unclear("no specification given: pass a `.tla` file first, or `--spec NAME`")),
    }
}

fn unclear(message: &str) -> Exit {
    let help =
        "`omnilink report latest`, `omnilink report Queue.tla run.jsonl` or `omnilink report --spec queue run.jsonl`";
    complain("what to look at", &InputError { message: message.into(), help: Some(help.into()) })
}

fn of_history(args: &SubjectArgs, spec: String, trace: &Path) -> Result<Subject, Exit> {
    if let Ok(inside) = omnilink_judge::input::recordings(trace)
        && !is_tla(Path::new(&spec))
        && inside != [trace.to_owned()]
    {
        let message = format!("a directory of {} histories, expected one history", inside.len());
        let help = "name one of them; `omnilink check --report html=page.html` writes a page for each".to_owned();
        return Err(complain(&label(trace), &InputError { message, help: Some(help) }));
    }
    let (recorded, label) = (omnilink_judge::Recording::at(trace, args.options.about.from), label(trace));
    let options = args.options.about.options();
    Ok(Subject::Recording(Box::new(Recording {
        spec,
        options,
        recorded,
        label,
        run: None,
        store: Store::at(&args.options.store.store),
        interleaving: None,
        temporary: None,
    })))
}

fn of_report(path: &Path) -> Result<Subject, Exit> {
    let wrong = |error: InputError| complain(&path.display().to_string(), &error);
    let text = fs::read_to_string(path).map_err(|error| wrong(InputError::new(error)))?;
    let mut reports = output::read(&text).map_err(|error| wrong(InputError::new(error)))?;
    match (reports.pop(), reports.len()) {
        (Some(report), 0) => Ok(Subject::Report(Box::new(report))),
        (_, others) => {
            let message = format!("found {} reports, expected one", if others == 0 { 0 } else { others + 1 });
            Err(wrong(InputError::new(message)))
        }
    }
}

fn of_run(args: &SubjectArgs, path: &Path) -> Result<Subject, Exit> {
    if path.is_file() {
        let directory = scratch()?;
        let is_bundle = path.extension().is_some_and(|extension| extension == "omni");
        let run = unpack(path, directory.path()).map_err(|error| match is_bundle {
            true => wrong_run(error),
            false => unclear(&format!("`{}` is not a run, and a history needs a specification", path.display())),
        })?;
        let at = directory.path().to_owned();
        return kept(args, run, &at, Some(directory));
    }
    let name = path.to_str().unwrap_or_default();
    let (run, directory) = Store::at(&args.options.store.store).find(name).map_err(wrong_run)?;
    kept(args, run, &directory, None)
}

/// A run by its directory, which has its name, inside the store's directory.
fn of_run_directory(args: &SubjectArgs, path: &Path) -> Result<Subject, Exit> {
    let path = path.canonicalize().map_err(|error| complain(&path.display().to_string(), &InputError::new(error)))?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let (run, directory) = Store::at(path.parent().unwrap_or(Path::new("/"))).find(name).map_err(wrong_run)?;
    kept(args, run, &directory, None)
}

fn kept(args: &SubjectArgs, run: Run, directory: &Path, temporary: Option<TempDir>) -> Result<Subject, Exit> {
    let id = run.id.clone();
    let recording = Recording::of_run(args, run, directory, temporary).ok_or_else(|| {
        let help = Some(format!("`omnilink runs show {id}` and `omnilink replay {id}` show it"));
        let message = "it is a run of a test, which has no history".to_owned();
        complain(&id, &InputError { message, help })
    })?;
    Ok(Subject::Recording(Box::new(recording)))
}

fn scratch() -> Result<TempDir, Exit> {
    tempfile::tempdir().map_err(|error| complain("a temporary directory", &InputError::new(error)))
}

pub(super) fn wrong_run(error: StoreError) -> Exit {
    let help = matches!(error, StoreError::Unknown(..))
        .then(|| "`omnilink runs list` lists the kept runs; a history needs its specification before it".into());
    complain("runs", &InputError { message: error.to_string(), help })
}

impl Recording {
    /// A kept run, with its specification at that time; `None` if it has none.
    pub(super) fn of_run(
        args: &SubjectArgs,
        run: Run,
        directory: &Path,
        temporary: Option<TempDir>,
    ) -> Option<Recording> {
        let spec = spec_of(&run, directory)?;
        let level = args.options.about.level.given().or_else(|| run.level.parse().ok());
        let options = omnilink_judge::CheckOptions {
            is_foreign: true,
            level,
            context: args.options.about.level.context.into(),
            ..omnilink_judge::CheckOptions::default()
        };
        let recorded = omnilink_judge::Recording::at(directory.join("trace"), None);
        let interleaving = report_of(directory).and_then(|report| report.interleaving);
        let label = run.id.clone();
        let store = Store::at(directory.parent().unwrap_or(directory));
        Some(Recording { spec, options, recorded, label, run: Some(run), store, interleaving, temporary })
    }

    /// The judge under these assumptions.
    pub(super) fn judge(&self, assume: &[Assumption]) -> Result<Judge, Failed> {
        Judge::new(
            &self.spec,
            omnilink_judge::CheckOptions { assume: assume.to_vec(), coverage: true, ..self.options.clone() },
        )
    }

    /// Checks it, and keeps everything for inspection.
    pub(super) fn show(&self, judge: &Judge, settings: &Settings, look: &ShowOptions) -> Result<Inspection, Failed> {
        let limits = Limits::new(settings, &self.label);
        let mut shown = judge.show(&mut self.case(&limits), look)?;
        shown.report.stats.seconds = limits.elapsed().as_secs_f64();
        shown.report.interleaving.clone_from(&self.interleaving);
        shown.report.ended = self.run.as_ref().and_then(Run::failure);
        if let Some(run) = &self.run {
            shown.report.next = follow_ups(run, &self.store);
        }
        if self.temporary.is_some() {
            shown.report.next.clear(); // The files that commands would name are about to be deleted.
        }
        Ok(shown)
    }

    /// Shows other states.
    pub(super) fn walk(
        &self,
        judge: &Judge,
        settings: &Settings,
        shown: &mut Inspection,
        look: &ShowOptions,
    ) -> Result<(), Failed> {
        let limits = Limits::new(settings, &self.label);
        judge.walk(&self.case(&limits), shown, look)
    }

    /// The run beside which a page shows this one: the one that the user names, or the one that it was made from. Its
    /// absence is an error only if the user names it.
    pub(super) fn other(&self, args: &SubjectArgs, named: Option<&str>) -> Result<Option<Recording>, Exit> {
        let made_from = self.run.as_ref().and_then(|run| run.controlled.as_ref()?.smaller_than.clone());
        let Some(name) = named.map(str::to_owned).or(made_from) else { return Ok(None) };
        match self.store.find(&name) {
            Ok((run, directory)) => Ok(Recording::of_run(args, run, &directory, None)),
            Err(_) if named.is_none() => Ok(None),
            Err(error) => Err(wrong_run(error)),
        }
    }

    fn case<'a>(&'a self, limits: &'a Limits) -> Case<'a> {
        Case { recording: &self.recorded, label: &self.label, witness: None, limits }
    }

    /// The run, as JSON for pages.
    pub(super) fn run_json(&self) -> Option<serde_json::Value> {
        self.run.as_ref().map(|run| serde_json::to_value(run).expect("a run is plain data"))
    }
}

/// The commands that continue with a kept run.
fn follow_ups(run: &Run, store: &Store) -> Vec<Command> {
    let (id, store) = (&run.id, store_option(store));
    let command =
        |what: &str, line: &str| Command { what: what.to_owned(), line: format!("omnilink {line} {id}{store}") };
    let mut commands = Vec::new();
    if run.controlled.is_some() {
        commands.push(command("run it again, step by step", "replay --steps"));
        commands.push(command("make it smaller", "shrink"));
        commands.push(command("stop in the debugger where it fails", "debug"));
    }
    commands.push(command("check it again", "runs show --recheck"));
    commands.push(command("put it into one file, to send it", "runs pack"));
    commands
}

/// The limits of a check.
pub(super) fn settings(args: &SubjectArgs) -> Settings {
    Settings { progress: Progress::Auto, ..(&args.options.about).into() }
}

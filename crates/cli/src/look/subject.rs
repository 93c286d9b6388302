//! What a command is to look at: a recording with its specification, a report alone, or a directory of runs.

use std::fs;
use std::path::Path;

use ::report::Report;
use campaign::spec_of;
use explore::{Run, Store, StoreError, unpack};
use judge::{Assumption, Case, Failed, InputError, Judge, Look, Shown, is_tla};
use tempfile::TempDir;

use crate::args::{Progress, SubjectArgs};
use crate::check::output;
use crate::exit::Exit;
use crate::limits::{Limits, Settings};
use crate::tell::label;
use crate::terminal::complain;

/// What to look at.
pub(super) enum Subject {
    /// A recording, which is checked.
    Recording(Box<Recording>),
    /// What a check found before. The history is not at hand.
    Report(Box<Report>),
    /// A directory of runs.
    Store(Store),
}

/// A recording, and how to check it.
pub(super) struct Recording {
    pub(super) spec: String,
    pub(super) options: judge::Options,
    pub(super) recorded: judge::Recording,
    pub(super) label: String,
    /// The run that it is of, if it was kept.
    pub(super) run: Option<Run>,
    /// Where it is if it is only there while somebody looks at it.
    temporary: Option<TempDir>,
}

impl SubjectArgs {
    /// How people call what is looked at.
    pub(super) fn label(&self) -> String {
        self.paths.last().map(|path| label(path)).unwrap_or_default()
    }
}

/// Finds what is meant, or says why there is no such thing.
pub(super) fn find(args: &SubjectArgs) -> Result<Subject, Exit> {
    match (&args.spec, &*args.paths) {
        (Some(spec), [trace]) => of_history(args, spec.clone(), trace),
        (None, [spec, trace]) if is_tla(spec) => of_history(args, spec.display().to_string(), trace),
        (None, [path]) if is_tla(path) => Err(unclear("a specification needs a history beside it")),
        (None, [path]) if path.is_file() && path.extension().is_some_and(|extension| extension == "json") => {
            of_report(path)
        }
        (None, [_]) if args.about.is_of_history() => Err(unclear(
            "`--config`, `--include`, `--settings` and `--from` are about a history, and a run has its own",
        )),
        (None, [path]) if path.join("run.json").is_file() => of_run_directory(args, path),
        (None, [path]) if path.is_dir() => Ok(Subject::Store(Store::at(path))),
        (None, [path]) => of_run(args, path),
        _ => Err(unclear("neither a TLA+ module before the history nor `--spec` is there")),
    }
}

fn unclear(message: &str) -> Exit {
    let help =
        "`omnilink report latest`, `omnilink report Queue.tla run.jsonl` or `omnilink report --spec queue run.jsonl`";
    complain("what to look at", &InputError { message: message.into(), help: Some(help.into()) })
}

fn of_history(args: &SubjectArgs, spec: String, trace: &Path) -> Result<Subject, Exit> {
    let (recorded, label) = (judge::Recording::at(trace, args.about.from), label(trace));
    let options = args.about.options();
    Ok(Subject::Recording(Box::new(Recording { spec, options, recorded, label, run: None, temporary: None })))
}

fn of_report(path: &Path) -> Result<Subject, Exit> {
    let wrong = |error: InputError| complain(&path.display().to_string(), &error);
    let text = fs::read_to_string(path).map_err(|error| wrong(InputError::new(error)))?;
    let mut reports = output::read(&text).map_err(|error| wrong(InputError::new(error)))?;
    match (reports.pop(), reports.len()) {
        (Some(report), 0) => Ok(Subject::Report(Box::new(report))),
        (_, others) => {
            let message = format!("it has {} reports, and one can be shown", if others == 0 { 0 } else { others + 1 });
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
            false => unclear(&format!("`{}` is no run, and a history needs its specification", path.display())),
        })?;
        let at = directory.path().to_owned();
        return Ok(kept(args, run, &at, Some(directory)));
    }
    let name = path.to_str().unwrap_or_default();
    let (run, directory) = Store::at(&args.store.store).find(name).map_err(wrong_run)?;
    Ok(kept(args, run, &directory, None))
}

/// A run by its directory, which has its name, below that of the store.
fn of_run_directory(args: &SubjectArgs, path: &Path) -> Result<Subject, Exit> {
    let path = path.canonicalize().map_err(|error| complain(&path.display().to_string(), &InputError::new(error)))?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let (run, directory) = Store::at(path.parent().unwrap_or(Path::new("/"))).find(name).map_err(wrong_run)?;
    Ok(kept(args, run, &directory, None))
}

fn kept(args: &SubjectArgs, run: Run, directory: &Path, temporary: Option<TempDir>) -> Subject {
    Subject::Recording(Box::new(Recording::of_run(args, run, directory, temporary)))
}

fn scratch() -> Result<TempDir, Exit> {
    tempfile::tempdir().map_err(|error| complain("a temporary directory", &InputError::new(error)))
}

pub(super) fn wrong_run(error: StoreError) -> Exit {
    let help = matches!(error, StoreError::Unknown(..)).then(|| {
        "`omnilink runs list` lists the runs that were kept; a history needs its specification before it".into()
    });
    complain("runs", &InputError { message: error.to_string(), help })
}

impl Recording {
    /// A run that was kept, with the specification as it was then.
    pub(super) fn of_run(args: &SubjectArgs, run: Run, directory: &Path, temporary: Option<TempDir>) -> Recording {
        let spec = spec_of(&run, directory);
        let options =
            judge::Options { is_foreign: true, criterion: args.about.order.criterion(), ..judge::Options::default() };
        let recorded = judge::Recording::at(directory.join("trace"), None);
        Recording { spec, options, recorded, label: run.id.clone(), run: Some(run), temporary }
    }

    /// What checks it, under these assumptions.
    pub(super) fn judge(&self, assume: &[Assumption]) -> Result<Judge, Failed> {
        Judge::new(&self.spec, judge::Options { assume: assume.to_vec(), coverage: true, ..self.options.clone() })
    }

    /// Checks it, and keeps all there is to look at.
    pub(super) fn show(&self, judge: &Judge, settings: &Settings, look: &Look) -> Result<Shown, Failed> {
        let limits = Limits::new(settings, &self.label);
        let mut shown = judge.show(&mut self.case(&limits), look)?;
        shown.report.stats.seconds = limits.elapsed().as_secs_f64();
        if self.temporary.is_some() {
            shown.report.next.clear(); // What commands would name is gone in a moment.
        }
        Ok(shown)
    }

    /// Looks at other states.
    pub(super) fn walk(
        &self,
        judge: &Judge,
        settings: &Settings,
        shown: &mut Shown,
        look: &Look,
    ) -> Result<(), Failed> {
        let limits = Limits::new(settings, &self.label);
        judge.walk(&self.case(&limits), shown, look)
    }

    fn case<'a>(&'a self, limits: &'a Limits) -> Case<'a> {
        Case { recording: &self.recorded, label: &self.label, witness: None, limits }
    }

    /// The run, as pages have it.
    pub(super) fn run_json(&self) -> Option<serde_json::Value> {
        self.run.as_ref().map(|run| serde_json::to_value(run).expect("a run is plain data"))
    }
}

/// What a check may use.
pub(super) fn settings(args: &SubjectArgs) -> Settings {
    Settings { progress: Progress::Auto, ..(&args.about).into() }
}

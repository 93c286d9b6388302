//! `omnilink convert --to perfetto`, `itf` and `dot`: the result of a check, for other programs.

use std::path::{Path, PathBuf};

use ::omnilink_report::{Report, Timeline, Verdict, dot, headline, itf, perfetto};
use omnilink_judge::InputError;

use super::subject::{Subject, find, settings};
use super::values::Values;
use crate::args::ExportArgs;
use crate::exit::Exit;
use crate::files;
use crate::limits::{self, Limits};
use crate::outcome::{print_failure, print_spec_error};
use crate::terminal::complain;

/// The target program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Perfetto,
    Itf,
    Dot,
}

pub(crate) fn run(form: Form, args: &ExportArgs) -> Exit {
    limits::catch_interrupts();
    match export(form, args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn export(form: Form, args: &ExportArgs) -> Result<Exit, Exit> {
    let _limits = Limits::around(&settings(&args.subject), &args.subject.label());
    let Subject::Recording(recording) = find(&args.subject)? else {
        let help = "name a run, or a specification and a history".to_owned();
        let message = "an export needs the whole history, found a report only".to_owned();
        return Err(complain("what to export", &InputError { message, help: Some(help) }));
    };
    let judge = recording.judge(&args.subject.options.assume.assume).map_err(|failed| print_spec_error(&failed))?;
    let shown = recording.show(&judge, &settings(&args.subject), &args.subject.look());
    let shown = shown.map_err(|failed| print_failure(&failed, &recording.label))?;
    if matches!(shown.report.verdict, Verdict::Inconclusive { .. }) && shown.report.history.operations.is_none() {
        out!("{}", headline(&shown.report, true));
        return Ok(Exit::Inconclusive);
    }
    let text = text(form, &shown.report, &shown.timeline);
    match &args.output {
        None => out!("{text}"),
        Some(path) => write(args, path, &text).map_err(|error| complain(&path.display().to_string(), &error))?,
    }
    Ok(if shown.report.history.operations == Some(0) { Exit::Nothing } else { Exit::Accepted })
}

/// Writes an export, but not over its input.
fn write(args: &ExportArgs, path: &Path, text: &str) -> Result<(), InputError> {
    let is_same =
        |input: &PathBuf| input.canonicalize().is_ok_and(|input| path.canonicalize().is_ok_and(|path| path == input));
    if args.subject.paths.iter().any(is_same) {
        return Err(InputError {
            message: "is the input of the export".into(),
            help: Some("name another file".into()),
        });
    }
    files::write(path, text)
}

fn text(form: Form, report: &Report, timeline: &Timeline) -> String {
    match form {
        Form::Perfetto => perfetto(report, timeline),
        Form::Itf => {
            let mut values = Values::default();
            itf(report, timeline, |text| values.read(text))
        }
        Form::Dot => dot(report, timeline),
    }
}

//! `omnilink report`: a page in one file.

use std::path::{Path, PathBuf};

use ::omnilink_report::{Comparison, Report, headline};
use bytesize::ByteSize;
use omnilink_judge::{Failed, Inspection};

use super::index;
use super::subject::{Recording, Subject, find, settings};
use crate::args::ReportArgs;
use crate::comparison::side;
use crate::exit::Exit;
use crate::files::{page, write_page};
use crate::limits::{self, Limits};
use crate::outcome::{exit_of, exit_of_end, print_failure, print_spec_error};
use crate::terminal::complain;

pub(crate) fn run(args: &ReportArgs) -> Exit {
    limits::catch_interrupts();
    match report(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn report(args: &ReportArgs) -> Result<Exit, Exit> {
    // A page contains the whole history, and unpacking a bundle is work too.
    let _limits = Limits::around(&settings(&args.subject), &args.subject.label());
    match find(&args.subject)? {
        Subject::Recording(recording) => {
            let judge =
                recording.judge(&args.subject.options.assume.assume).map_err(|failed| print_spec_error(&failed))?;
            let shown = recording.show(&judge, &settings(&args.subject), &args.subject.look());
            let shown = shown.map_err(|failed| print_failure(&failed, &recording.label))?;
            let path = args.output.clone().unwrap_or_else(|| name(&recording));
            let compared = compare(args, &recording, &shown)?;
            let run = recording.run_json();
            let page = page(&shown.report, Some(&shown.timeline), run.as_ref(), compared.as_ref());
            let then = recording.run.as_ref().and_then(|run| run.verdict.as_deref());
            let now = shown.report.verdict.word();
            if let Some(then) = then.filter(|then| *then != now) {
                errln!("note: {then} when it ran, {now} now");
            }
            let exit = write(&path, &page, &shown.report)?;
            Ok(exit.max(recording.run.as_ref().map_or(Exit::Nothing, |run| exit_of_end(&run.ended, run.race.as_ref()))))
        }
        Subject::Report(report) => {
            let path = args.output.clone().unwrap_or_else(|| PathBuf::from("report.html"));
            write(&path, &page(&report, None, None, None), &report)
        }
        Subject::Store(store) => index::write(args, &store),
    }
}

/// The run beside another one, if there is one.
fn compare(args: &ReportArgs, recording: &Recording, shown: &Inspection) -> Result<Option<Comparison>, Exit> {
    let Some(other) = recording.other(&args.subject, args.compare.as_deref())? else { return Ok(None) };
    let failed = |failed: Failed| print_failure(&failed, &other.label);
    let judge = other.judge(&[]).map_err(failed)?;
    let there = other.show(&judge, &settings(&args.subject), &args.subject.look()).map_err(failed)?;
    let here = side(&recording.label, &recording.recorded, shown).map_err(failed)?;
    Ok(Some(Comparison::new(&here, &side(&other.label, &other.recorded, &there).map_err(failed)?)))
}

/// The page of a trace, in the current directory.
fn name(recording: &Recording) -> PathBuf {
    let name = match &recording.run {
        Some(run) => run.id.clone(),
        None => Path::new(&recording.label).file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    };
    PathBuf::from(format!("{}.html", if name.is_empty() { "report" } else { &name }))
}

fn write(path: &Path, page: &str, report: &Report) -> Result<Exit, Exit> {
    write_page(path, page).map_err(|error| complain(&path.display().to_string(), &error))?;
    out!("{}", headline(report, true));
    outln!("{}: {}", path.display(), ByteSize(page.len() as u64).display().si());
    Ok(exit_of(report))
}

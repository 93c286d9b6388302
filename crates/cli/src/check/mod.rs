//! `omnilink check`: histories in, verdicts out.

pub(crate) mod output;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use judge::input::{self, InputError};
use judge::{Case, Failed, Judge, Look, is_tla};
use report::{Detail, Report, Timeline, Verdict};

use self::output::Extra;
use crate::args::CheckArgs;
use crate::exit::Exit;
use crate::limits::{self, Limits};
use crate::{complain, print_complaints};

/// Says why a history could not be checked, and how that ends.
pub(crate) fn tell(failed: &Failed, label: &str) -> Exit {
    match failed {
        Failed::Input(error) => complain(label, error),
        Failed::Stopped(stop) => {
            anstream::eprintln!("{label}: inconclusive: {stop}");
            Exit::Inconclusive
        }
        Failed::Spec(complaints) => {
            anstream::eprintln!("{label}:");
            print_complaints(complaints);
            Exit::Wrong
        }
    }
}

pub(crate) fn run(args: &CheckArgs, detail: Detail) -> Exit {
    limits::catch_interrupts();
    let found = match (&args.spec, &*args.paths) {
        (None, [path]) if detail == Detail::Full && path.extension().is_some_and(|extension| extension == "json") => {
            shown_again(path, args)
        }
        _ => reports(args, detail),
    };
    let (reports, timelines, exit) = match found {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    if exit == Exit::Nothing && reports.is_empty() {
        anstream::eprintln!("nothing to check: there are no histories there");
    }
    match output::write(args.format, &args.reports, &reports, &timelines) {
        Ok(()) => exit,
        Err((path, error)) => complain(&path, &error),
    }
}

/// Shows reports that were written to a file before.
fn shown_again(path: &Path, args: &CheckArgs) -> Result<Found, Exit> {
    let wrong = |error: InputError| complain(&path.display().to_string(), &error);
    let text = std::fs::read_to_string(path).map_err(|error| wrong(InputError::new(error)))?;
    let reports = output::read(&text).map_err(|error| wrong(InputError::new(error)))?;
    reports.iter().for_each(|report| output::show(args, Detail::Full, report));
    let exit = reports.iter().map(exit_of).max().unwrap_or(Exit::Nothing);
    Ok((reports, Vec::new(), exit))
}

/// Reports, the whole history of each if somebody wants pages, and how it all ends.
type Found = (Vec<Report>, Vec<Timeline>, Exit);

/// A report on each history that can be checked. People see each as it comes.
fn reports(args: &CheckArgs, detail: Detail) -> Result<Found, Exit> {
    let (judge, histories) = judge(args)?;
    let (mut exit, mut reports, mut timelines) = (Exit::Nothing, Vec::new(), Vec::new());
    let has_pages = args.reports.iter().any(Extra::is_page);
    let mut witness_file = match args.witness.as_ref().map(File::create).transpose() {
        Ok(file) => file.map(BufWriter::new),
        Err(error) => return Err(complain("--witness", &InputError::new(error))),
    };
    for path in histories {
        let recordings = match input::recordings(path) {
            Ok(recordings) => recordings,
            Err(error) => {
                exit = exit.max(complain(&path.display().to_string(), &error));
                continue;
            }
        };
        for recording in recordings {
            let label = label(&recording);
            let limits = Limits::new(&args.into(), &label);
            let witness = witness_file.as_mut().map(|file| file as &mut dyn Write);
            let case = &mut Case { path: &recording, label: &label, witness, limits: &limits };
            let checked = match has_pages {
                true => judge.show(case, &Look::default()).map(|shown| (shown.report, Some(shown.timeline))),
                false => judge.report(case).map(|report| (report, None)),
            };
            match checked {
                Ok((mut report, timeline)) => {
                    report.stats.seconds = limits.elapsed().as_secs_f64();
                    drop(limits);
                    exit = exit.max(exit_of(&report));
                    output::show(args, detail, &report);
                    reports.push(report);
                    timelines.extend(timeline);
                }
                Err(failed) => {
                    drop(limits);
                    exit = exit.max(tell(&failed, &label));
                }
            }
        }
    }
    if let Some(Err(error)) = witness_file.map(|mut file| file.flush()) {
        return Err(complain("--witness", &InputError::new(error)));
    }
    Ok((reports, timelines, exit))
}

/// What to check against, and the histories. A path that ends in `.tla` before all others is a specification.
fn judge(args: &CheckArgs) -> Result<(Judge, &[PathBuf]), Exit> {
    let (spec, histories) = match (&args.spec, &*args.paths) {
        (Some(name), histories) => (name.clone(), histories),
        (None, [first, histories @ ..]) if is_tla(first) => (first.display().to_string(), histories),
        (None, _) => {
            let help = "`omnilink check Queue.tla run.jsonl` or `omnilink check --spec queue run.jsonl`";
            let message = "neither a TLA+ module before the histories nor `--spec` is there".into();
            return Err(complain("what to check against", &InputError { message, help: Some(help.into()) }));
        }
    };
    let judge = Judge::new(&spec, args.into()).map_err(|failed| tell_about_spec(&failed))?;
    Ok((judge, histories))
}

/// Says why a specification cannot be used.
pub(crate) fn tell_about_spec(failed: &Failed) -> Exit {
    match failed {
        Failed::Spec(complaints) => {
            print_complaints(complaints);
            Exit::Wrong
        }
        other => tell(other, "--spec"),
    }
}

/// How a verdict ends.
pub(crate) fn exit_of(report: &Report) -> Exit {
    match report.verdict {
        _ if report.history.operations == Some(0) => Exit::Nothing,
        Verdict::Accepted => Exit::Accepted,
        Verdict::Rejected(_) | Verdict::Violated(_) => Exit::Rejected,
        Verdict::Inconclusive { .. } => Exit::Inconclusive,
    }
}

/// How people call a recording.
pub(crate) fn label(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { path.display().to_string() }
}

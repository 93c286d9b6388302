//! `omnilink report DIR`: a page for each kept run, and one about all of them.

use std::fs;
use std::path::{Path, PathBuf};

use ::omnilink_report::{Report, Timeline, clean, sentence};
use bytesize::ByteSize;
use omnilink_explore::{Run, Store, report_of};
use omnilink_judge::{Failed, InputError};
use omnilink_page::{Index, IndexRun};
use omnilink_suggest::counted;

use super::subject::{Recording, settings, wrong_run};
use crate::args::ReportArgs;
use crate::exit::Exit;
use crate::files::{TOOL, page, write_page};
use crate::limits;
use crate::outcome::{exit_of, print_failure};
use crate::runs::overview;
use crate::terminal::complain;

/// Writes the pages of a store.
pub(super) fn write(args: &ReportArgs, store: &Store) -> Result<Exit, Exit> {
    let (runs, damaged) = store.list().map_err(wrong_run)?;
    let name = store.directory().display().to_string();
    let overview = overview(store, args.since.since.as_deref())?;
    if runs.is_empty() && damaged.is_empty() && overview.is_none() {
        errln!("nothing to show: no runs in {name}");
        return Ok(Exit::Nothing);
    }
    let directory = args.output.clone().unwrap_or_else(|| PathBuf::from("report"));
    let complain = |path: &Path, error: &InputError| complain(&path.display().to_string(), error);
    make(&directory).map_err(|error| complain(&directory, &error))?;
    // A monitor keeps no runs.
    let exit = match &overview {
        Some(overview) if runs.is_empty() && overview.has_news() => Exit::Rejected,
        Some(_) if runs.is_empty() => Exit::Accepted,
        _ => Exit::Nothing,
    };
    let (mut exit, mut listed, mut bytes) = (exit, Vec::new(), 0);
    for run in runs {
        if limits::is_interrupted() {
            return Ok(Exit::Interrupted);
        }
        let mut kept = serde_json::to_value(&run).expect("a run is plain data");
        let (mut link, mut said) = (None, None);
        match look(args, store, &run) {
            Err(why) => {
                print_failure(&why, &run.id);
                exit = exit.max(Exit::Wrong);
                said = Some("could not be rechecked".to_owned());
            }
            Ok(None) => {}
            Ok(Some((report, timeline))) => {
                let name = format!("{}.html", run.id);
                let page = page(&report, timeline.as_ref(), Some(&kept), None);
                write_page(&directory.join(&name), &page).map_err(|error| complain(&directory.join(&name), &error))?;
                exit = exit.max(exit_of(&report));
                bytes += page.len();
                (link, said) = (Some(name), sentence(&report));
                // The page and the list must agree.
                let (then, now) = (run.verdict.as_deref().unwrap_or("not checked"), report.verdict.word());
                if then != now {
                    said = Some(format!("it was {then} when it ran; {}", said.as_deref().unwrap_or(now)));
                    kept["verdict"] = now.into();
                }
            }
        }
        listed.push(IndexRun { run: kept, page: link, sentence: said });
    }
    let pages = listed.iter().filter(|run| run.page.is_some()).count();
    let damaged: Vec<String> = damaged.iter().map(ToString::to_string).collect();
    damaged.iter().for_each(|error| errln!("unreadable: {}", clean(error)));
    let text = listing(&listed, &damaged);
    let overview = serde_json::to_value(overview).expect("an overview is plain data");
    let monitor = serde_json::Value::Null;
    let index = omnilink_page::index(&Index { tool: TOOL, name: &name, runs: listed, damaged, overview, monitor });
    let page = omnilink_page::file(&index, &text);
    let path = directory.join("index.html");
    write_page(&path, &page).map_err(|error| complain(&path, &error))?;
    let size = ByteSize((bytes + page.len()) as u64);
    outln!("{}: {}, {}", path.display(), counted(pages as u64, "run"), size.display().si());
    Ok(exit)
}

/// Creates a directory below an existing one.
fn make(directory: &Path) -> Result<(), InputError> {
    if directory.is_dir() {
        return Ok(());
    }
    fs::create_dir(directory).map_err(|error| InputError {
        message: format!("cannot be created: {error}"),
        help: Some("its parent directory must exist".into()),
    })
}

/// Everything for inspection of a run if it can be rechecked, else the kept report, else nothing.
fn look(args: &ReportArgs, store: &Store, run: &Run) -> Result<Option<(Report, Option<Timeline>)>, Failed> {
    let directory = store.path(&run.id);
    let Some(recording) = Recording::of_run(&args.subject, run.clone(), &directory, None) else { return Ok(None) };
    let judge = recording.judge(&args.subject.options.assume.assume);
    let shown = judge.and_then(|judge| recording.show(&judge, &settings(&args.subject), &args.subject.look()));
    let why = match shown {
        Ok(shown) => return Ok(Some((shown.report, Some(shown.timeline)))),
        Err(why) => why,
    };
    match report_of(&directory) {
        Some(report) => Ok(Some((report, None))),
        // Nothing was recorded, or the check was stopped during an evaluation.
        None if run.verdict.is_none() || matches!(why, Failed::Stopped(_)) => Ok(None),
        None => Err(why),
    }
}

/// The list for browsers without scripts.
fn listing(runs: &[IndexRun], damaged: &[String]) -> String {
    let line = |run: &IndexRun| {
        let word = run.run["verdict"].as_str().unwrap_or("not checked");
        format!(
            "{}  {word}  {}\n",
            run.run["id"].as_str().unwrap_or_default(),
            run.sentence.as_deref().unwrap_or_default()
        )
    };
    runs.iter().map(line).chain(damaged.iter().map(|why| format!("unreadable: {why}\n"))).collect()
}

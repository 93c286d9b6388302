//! The destinations of reports: printed as they come, files at the end.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use omnilink_judge::InputError;
use omnilink_page::Listed;
use omnilink_report::{Detail, ReadError, Report, Timeline, Unchecked, Verdict, clean, visible_json};
use serde_json::json;

use crate::args::{CheckArgs, CheckOutput, Extra, ExtraKind};
use crate::check::Found;
use crate::files::{self, TOOL, write_page};
use crate::terminal;

/// Prints a report, if it is to be printed now.
pub(super) fn show(args: &CheckArgs, detail: Detail, report: &Report) {
    let is_quiet = args.quiet && matches!(report.verdict, Verdict::Accepted);
    if args.format == CheckOutput::Human && !is_quiet {
        if report.history.operations == Some(0) {
            outln!("{}: nothing to check", clean(&report.history.name));
            return;
        }
        // The stream strips colors where they are not wanted.
        out!("{}", omnilink_report::text_within(report, detail, true, terminal::width()));
        if args.stats {
            out!("{}", omnilink_report::stats(report));
        }
    }
}

/// Writes the output that follows the check of all histories.
pub(crate) fn write(format: CheckOutput, extras: &[Extra], found: &Found) -> Result<(), (String, InputError)> {
    let (reports, unchecked) = (&found.reports, &found.unchecked);
    match format {
        CheckOutput::Human => out!("{}", omnilink_report::summary(reports, unchecked)),
        CheckOutput::Json => out!("{}", document(reports, unchecked)),
        CheckOutput::Md => out!("{}", omnilink_report::markdown(reports, unchecked)),
    }
    let is_action = std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true");
    if is_action && format == CheckOutput::Human {
        out!("{}", omnilink_report::github(reports, unchecked));
        if let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY") {
            append(&PathBuf::from(path), &omnilink_report::markdown(reports, unchecked))?;
        }
    }
    write_extras(extras, reports, &found.timelines, unchecked)
}

/// Writes reports to files. Pages show the whole history of a report if its timeline is available.
pub(crate) fn write_extras(
    extras: &[Extra],
    reports: &[Report],
    timelines: &[Timeline],
    unchecked: &[Unchecked],
) -> Result<(), (String, InputError)> {
    for Extra { kind, path } in extras {
        let text = match kind {
            ExtraKind::Html => {
                write_pages(path, reports, timelines, unchecked)?;
                continue;
            }
            ExtraKind::Json => document(reports, unchecked),
            ExtraKind::JUnit => omnilink_report::junit(reports, unchecked),
            ExtraKind::Markdown => omnilink_report::markdown(reports, unchecked),
            ExtraKind::Sarif => visible_json(&omnilink_report::sarif(reports, unchecked)),
        };
        files::write(path, &text).map_err(|error| (path.display().to_string(), error))?;
    }
    Ok(())
}

/// The page of the only report; otherwise a list of all histories, and beside it a page for each that is not accepted.
fn write_pages(
    path: &Path,
    reports: &[Report],
    timelines: &[Timeline],
    unchecked: &[Unchecked],
) -> Result<(), (String, InputError)> {
    let write = |path: &Path, page: &str| write_page(path, page).map_err(|error| (path.display().to_string(), error));
    match (reports, unchecked) {
        ([report], []) => return write(path, &files::page(report, timelines.first(), None, None)),
        // Without a verdict there is nothing to show.
        ([], [_]) => return Ok(()),
        _ => {}
    }
    let mut names = HashSet::new();
    let mut listed = Vec::new();
    for (place, report) in reports.iter().enumerate() {
        let sentence = omnilink_report::sentence(report);
        let page = sentence.as_ref().map(|_| page_name(path, &report.history.name, &mut names));
        if let Some(name) = &page {
            write(&path.with_file_name(name), &files::page(report, timelines.get(place), None, None))?;
        }
        let (name, verdict) = (report.history.name.clone(), omnilink_report::verdict_word(report).to_owned());
        listed.push(Listed { name, verdict, sentence: sentence.unwrap_or_default(), page });
    }
    listed.extend(unchecked.iter().map(|history| Listed {
        name: history.history.clone(),
        verdict: "not checked".to_owned(),
        sentence: history.problems.first().map(|problem| problem.message.clone()).unwrap_or_default(),
        page: None,
    }));
    let summary = omnilink_report::summary(reports, unchecked);
    let summary = if summary.is_empty() { "No histories" } else { summary.trim_end() };
    write(path, &omnilink_page::listing(TOOL, summary, &listed))
}

/// The page of a history beside the list: `report.html` and `runs/a.jsonl` give `report-a.jsonl.html`.
fn page_name(list: &Path, history: &str, used: &mut HashSet<String>) -> String {
    const LONGEST: usize = 80;
    let stem = list.file_stem().unwrap_or_default().to_string_lossy();
    let name = history.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '-' };
    let name: String = name.chars().take(LONGEST).map(plain).collect();
    let numbered = (2..).map(|number| format!("{stem}-{name}-{number}.html"));
    let mut candidates = std::iter::once(format!("{stem}-{name}.html")).chain(numbered);
    candidates.find(|candidate| used.insert(candidate.clone())).expect("there are more numbers than names")
}

fn append(path: &PathBuf, text: &str) -> Result<(), (String, InputError)> {
    let file = File::options().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| (path.display().to_string(), InputError::new(format!("cannot be written: {error}"))))
}

/// The schema of a list of reports.
const REPORTS: &str = "omnilink.reports/1";

fn document(reports: &[Report], unchecked: &[Unchecked]) -> String {
    visible_json(&format!("{:#}\n", json!({ "schema": REPORTS, "reports": reports, "unchecked": unchecked })))
}

/// Reads what [`document`] wrote, or a report on its own.
pub(crate) fn read(text: &str) -> Result<Vec<Report>, ReadError> {
    let mut value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    match value["schema"].as_str() {
        Some(REPORTS) => {
            let reports: Vec<serde_json::Value> = serde_json::from_value(value["reports"].take())?;
            reports.iter().map(|report| Report::from_json(&report.to_string())).collect()
        }
        Some(found) if found.starts_with("omnilink.reports/") => {
            Err(ReadError::Version { found: found.to_owned(), expected: REPORTS })
        }
        _ => Report::from_json(text).map(|report| vec![report]),
    }
}

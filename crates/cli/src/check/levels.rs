//! `omnilink check --find-level`: the strongest levels that explain all histories.

use std::path::Path;

use judge::{Judge, Limits as _, Recording, quoted};
use report::clean;
use serde_json::json;
use weak::{Found, INDEPENDENT, Level};

use super::{histories, specification};
use crate::args::{CheckArgs, CheckOutput};
use crate::exit::Exit;
use crate::limits::Limits;
use crate::outcome::{label, print_failure, print_spec_error};

pub(super) fn find(args: &CheckArgs) -> Result<Exit, Exit> {
    let (spec, paths) = specification(args)?;
    let judge = Judge::new(&spec, args.into()).map_err(|failed| print_spec_error(&failed))?;
    let mut recordings = Vec::new();
    for path in paths {
        let found = judge.recordings(path).map_err(|error| print_failure(&error.into(), &label(path)))?;
        recordings.extend(found.iter().map(|path| Recording::at(path, args.about.from)));
    }
    if recordings.is_empty() {
        errln!("nothing to check: no histories found");
        return Ok(Exit::Nothing);
    }
    let first = label(paths.first().map_or(Path::new("-"), |path| path));
    let limits = Limits::new(&args.into(), &first);
    let found =
        judge.find_level(&recordings, &INDEPENDENT, &limits).map_err(|failed| print_failure(&failed, &first))?;
    let seconds = limits.elapsed().as_secs_f64();
    let is_over = limits.exceeded().is_some();
    drop(limits);
    match args.format {
        CheckOutput::Human | CheckOutput::Md => show(args, &spec, &found, recordings.len(), seconds),
        CheckOutput::Json => {
            let names = |levels: &[Level]| levels.iter().map(Level::to_string).collect::<Vec<_>>();
            outln!(
                "{:#}",
                json!({
                    "histories": recordings.len(),
                    "spec": spec,
                    "levels": names(&found.presets),
                    "by_action": found.by_action.as_ref().map(Level::to_string),
                    "undecided": names(&found.undecided),
                    "checks": found.checks,
                    "seconds": seconds,
                })
            );
        }
    }
    Ok(match (found.presets.is_empty() && found.by_action.is_none(), is_over || !found.undecided.is_empty()) {
        (false, _) => Exit::Accepted,
        (true, true) => Exit::Inconclusive,
        (true, false) => Exit::Rejected,
    })
}

fn show(args: &CheckArgs, spec: &str, found: &Found, count: usize, seconds: f64) {
    let Found { presets, by_action, undecided, checks } = found;
    outln!("the strongest levels of {} against {}: {checks} checks in {seconds:.2} s", histories(count), clean(spec));
    let meaning = |level: &Level| {
        let name = level.to_string();
        Level::presets().find(|(known, _)| *known == name).map_or("", |(_, meaning)| meaning)
    };
    match presets.as_slice() {
        [] => outln!("  by name: none"),
        presets => presets.iter().for_each(|level| outln!("  by name: {level}: {}", meaning(level))),
    }
    match by_action {
        Some(level) => outln!("  by action: {}", clean(&level.in_words())),
        None => outln!("  by action: none that respects real time was found"),
    }
    undecided.iter().for_each(|level| outln!("  not decided within the limits: {level}"));
    if let Some(level) = by_action.as_ref().or(presets.first()) {
        let paths: Vec<String> = args.paths.iter().map(|path| quoted(path.display())).collect();
        let spec = args.spec.as_ref().map(|spec| format!("--spec {} ", quoted(spec))).unwrap_or_default();
        outln!("  check it: omnilink check {spec}{} --level {}", paths.join(" "), quoted(level));
    }
}

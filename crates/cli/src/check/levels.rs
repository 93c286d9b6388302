//! `omnilink check --find-level`: the strongest levels that explain all histories.

use std::path::Path;

use omnilink_judge::{Judge, Limits as _, Recording, quoted};
use omnilink_report::clean;
use omnilink_suggest::counted;
use omnilink_weak::{ByAction, Found, Level};
use serde_json::json;

use super::specification;
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
    let is_text = matches!(args.format, CheckOutput::Human | CheckOutput::Md);
    // The answer by action is there in no time, and often is all that is needed.
    let tell = |by_action: &ByAction| {
        if is_text {
            limits.print(|| {
                outln!(
                    "the strongest levels of {} against {}:",
                    counted(recordings.len() as u64, "history"),
                    clean(&spec)
                );
                show_by_action(by_action);
            });
        }
    };
    let found = judge.find_level(&recordings, &limits, tell).map_err(|failed| print_failure(&failed, &first))?;
    let seconds = limits.elapsed().as_secs_f64();
    let is_over = limits.exceeded().is_some();
    drop(limits);
    let by_action = found.by_action.level();
    if is_text {
        show_by_name(args, &found, seconds);
    } else {
        let names = |levels: &[Level]| levels.iter().map(Level::to_string).collect::<Vec<_>>();
        outln!(
            "{:#}",
            json!({
                "histories": recordings.len(),
                "spec": spec,
                "levels": names(&found.presets),
                "by_action": by_action.map(Level::to_string),
                "undecided": names(&found.undecided),
                "by_action_undecided": match &found.by_action {
                    ByAction::Strongest { undecided, .. } => names(undecided),
                    ByAction::None => Vec::new(),
                    ByAction::Undecided => names(&[Level::linearizable()]),
                },
                "checks": found.checks,
                "seconds": seconds,
            })
        );
    }
    let is_undecided = is_over || !found.undecided.is_empty() || found.by_action == ByAction::Undecided;
    Ok(match (found.presets.is_empty() && by_action.is_none(), is_undecided) {
        (false, _) => Exit::Accepted,
        (true, true) => Exit::Inconclusive,
        (true, false) => Exit::Rejected,
    })
}

fn show_by_action(by_action: &ByAction) {
    match by_action {
        ByAction::Strongest { level, undecided } => {
            outln!("  by action: {}", clean(&level.in_words()));
            for level in undecided {
                outln!("  by action, not decided within the limits: {}", clean(&level.in_words()));
            }
        }
        ByAction::None => outln!("  by action: none that respects real time"),
        ByAction::Undecided => outln!("  by action: not decided within the limits"),
    }
}

fn show_by_name(args: &CheckArgs, found: &Found, seconds: f64) {
    let Found { presets, by_action, undecided, checks } = found;
    let meaning = |level: &Level| {
        let name = level.to_string();
        Level::presets().find(|(known, _)| *known == name).map_or("", |(_, meaning)| meaning)
    };
    match presets.as_slice() {
        [] if undecided.is_empty() => outln!("  by name: none"),
        [] => outln!("  by name: none decided"),
        presets => presets.iter().for_each(|level| outln!("  by name: {level}: {}", meaning(level))),
    }
    undecided.iter().for_each(|level| outln!("  by name, not decided within the limits: {level}"));
    if let Some(level) = by_action.level().or(presets.first()) {
        let paths: Vec<String> = args.paths.iter().map(|path| quoted(path.display())).collect();
        let spec = args.spec.as_ref().map(|spec| format!("--spec {} ", quoted(spec))).unwrap_or_default();
        outln!("  check it: omnilink check {spec}{} --level {}", paths.join(" "), quoted(level));
    }
    outln!("  {checks} checks in {seconds:.2} s");
}

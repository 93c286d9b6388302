//! Notes about an accepted log: events without values, actions that were never taken, fields that no rule reads.

use omnilink_report::{Coverage, CoveredAction};
use omnilink_tla::program::Program;

use crate::bind::{Bound, Steps};
use crate::check::{Checked, Taken, longest};
use crate::path::Path;
use crate::{Line, Prepared};

/// Notes about an accepted log.
pub fn vacuity(prepared: &Prepared, bound: &Bound, program: &Program, steps: &[Taken]) -> Vec<String> {
    let mut notes = Vec::new();
    let says_nothing = |event: &crate::Event| {
        let is_any = |alternative: &crate::bind::Alternative| {
            alternative.meaning == Steps::Any
                && alternative.before.is_empty()
                && alternative.after.is_empty()
                && alternative.steps.is_empty()
        };
        event.updates.is_empty() && event.kept.is_empty() && event.alternatives.iter().any(is_any)
    };
    let idle = bound.events.iter().filter(|event| says_nothing(event)).count();
    if idle > 0 {
        notes.push(format!("{idle} of {} events say nothing: any step explains them", bound.events.len()));
    }
    let skips = |event: &crate::Event| event.alternatives.iter().all(|alternative| alternative.meaning == Steps::Skip);
    let skipped = bound.events.iter().filter(|event| skips(event)).count();
    if skipped > 0 {
        notes.push(format!("the mapping skips {skipped} of {} events", bound.events.len()));
    }
    let taken: Vec<&str> = steps.iter().filter_map(|step| step.action.as_deref()).collect();
    let never: Vec<&str> =
        program.actions.iter().map(|action| action.name.as_str()).filter(|name| !taken.contains(name)).collect();
    // An event without a name may be any of them.
    if !never.is_empty() && !taken.is_empty() {
        notes.push(format!("actions never taken by name: {}", never.join(", ")));
    }
    let unused = unused(prepared);
    if !unused.is_empty() {
        notes.push(format!("fields that the mapping does not read: {}", unused.join(", ")));
    }
    notes
}

/// The fields of events that no part of the mapping reads.
fn unused(prepared: &Prepared) -> Vec<String> {
    let mapping = &prepared.mapping;
    let mut unused: Vec<String> = Vec::new();
    let is_read = |name: &str| {
        let path = Path::parse(name);
        path.is_none_or(|path| mapping.read.iter().any(|read| read.overlaps(&path)))
    };
    for Line { json, .. } in &prepared.lines.lines {
        let event = mapping.root.as_ref().map_or(Some(json), |root| root.find(json));
        let Some(omnilink_history::format::json::Json::Object(fields)) = event else { continue };
        for (name, _) in fields {
            if !unused.contains(name) && !is_read(name) {
                unused.push(name.clone());
            }
        }
    }
    unused
}

/// The number of times that each action of the specification was taken.
pub fn coverage(bound: &Bound, program: &Program, checked: &Checked) -> Coverage {
    let steps = longest(checked, bound);
    let action = |name: &str| {
        let of_action = |step: &&Taken| step.action.as_deref() == Some(name);
        let operations = steps.iter().filter(|step| step.event.is_some()).filter(of_action).count() as u64;
        let steps = steps.iter().filter(of_action).count() as u64;
        let is_internal = bound.unlogged.iter().flat_map(|unlogged| &unlogged.actions);
        let is_internal = operations == 0 && is_internal.into_iter().any(|&place| bound.actions[place].name == name);
        CoveredAction { name: name.to_owned(), operations, steps, is_internal, parts: Vec::new() }
    };
    let relevant = steps.iter().filter(|step| step.event.is_some() && step.action.is_some()).count() as u64;
    Coverage {
        actions: program.actions.iter().map(|known| action(&known.name)).collect(),
        operations: bound.events.len() as u64,
        relevant,
        steps: steps.len().saturating_sub(1) as u64,
        is_cut_off: false,
    }
}

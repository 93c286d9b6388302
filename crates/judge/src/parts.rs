//! Notes about keys that were decided separately.

use omnilink_history::Verdict;
use omnilink_models::check::{Checked, Failure, Method};
use omnilink_report::{Keys, RejectedKey};

pub(crate) fn notes(checked: &Checked, keys: Option<&Keys>) -> Vec<String> {
    let mut notes: Vec<String> = part_note(checked).into_iter().collect();
    match keys {
        Some(keys) => notes.extend(rejected_notes(keys)),
        None => notes.extend(undecided_note(checked)),
    }
    notes
}

/// If parts were searched separately, counts refer to one part only.
fn part_note(checked: &Checked) -> Option<String> {
    match &checked.verdict {
        Verdict::Rejected(Failure::Stuck { parts, .. }) if !parts.is_empty() => {
            let parts = parts.join(", ");
            Some(format!("counts refer to {parts} only; other keys were checked separately"))
        }
        _ => None,
    }
}

/// The maximum number of rejected keys whose reasons are notes, and of rejected keys to name.
const MOST_REASONS: usize = 3;
const MOST_NAMES: usize = 20;

/// Names the rejected keys beside the one that the verdict explains.
fn rejected_notes(keys: &Keys) -> Vec<String> {
    let Keys { all, rejected, undecided } = keys;
    let mut names: Vec<&str> = rejected.iter().take(MOST_NAMES).map(|key| &*key.key).collect();
    let more = format!("{} more", rejected.len().saturating_sub(MOST_NAMES));
    if rejected.len() > MOST_NAMES {
        names.push(&more);
    }
    let verb = if rejected.len() == 1 { "is" } else { "are" };
    let mut notes = vec![format!("{} of {all} keys {verb} rejected: {}", rejected.len(), names.join(", "))];
    if rejected.len() > 1 {
        let reason = |key: &RejectedKey| format!("key {}, {} operations: {}", key.key, key.operations, key.sentence);
        notes.extend(rejected.iter().take(MOST_REASONS).map(reason));
    }
    if !undecided.is_empty() {
        notes.push(format!("{} of {all} keys were not decided", undecided.len()));
    }
    notes
}

/// Names the undecided parts of an object, the one with the most operations first.
fn undecided_note(checked: &Checked) -> Option<String> {
    let Method::Parts { all, .. } = checked.method else { return None };
    let mut undecided: Vec<&(String, usize)> = checked.undecided.iter().collect();
    undecided.sort_by_key(|(_, operations)| std::cmp::Reverse(*operations));
    let (hottest, operations) = undecided.first()?;
    let others = match (undecided.len(), all) {
        (1, 1) => String::new(),
        (1, all) => format!("; the other {} keys are legal", all - 1),
        (some, all) if some == all => format!("; nor was any of the other {} keys", some - 1),
        (some, all) => format!("; nor were {} of the other {} keys", some - 1, all - 1),
    };
    Some(format!("key {hottest} with {operations} operations was not decided{others}"))
}

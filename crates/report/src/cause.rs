//! The cause of a failure: the operation that is not legal and the line of the specification that rejects it.

use crate::data::{Evidence, Report, Verdict, Why};

/// A short name for why a history was not accepted, equal for histories that fail for the same reason. `None` if it was
/// accepted.
pub fn cause(report: &Report) -> Option<String> {
    let tags: String = report.tags.iter().map(|tag| format!("[{tag}] ")).collect();
    untagged(report).map(|cause| tags + &cause)
}

fn untagged(report: &Report) -> Option<String> {
    match &report.verdict {
        Verdict::Accepted => None,
        Verdict::Inconclusive { stop, .. } => Some(format!("inconclusive: {stop}")),
        Verdict::Rejected(rejection) => Some(match &rejection.evidence {
            Evidence::Invariant(broken) => format!("`{}` is violated", broken.invariant),
            Evidence::Anomaly(anomaly) => anomaly.name.clone(),
            Evidence::Contradiction { .. } | Evidence::Views(_) => without_numbers(&rejection.sentence),
            Evidence::Stuck(stuck) => {
                let subject = rejection.subject();
                let action = subject.and_then(|op| report.operations.get(op.0)).map(|op| op.action.clone());
                let refused = stuck.reasons.iter().filter(|reason| Some(reason.op) == subject);
                let line = refused.filter_map(|reason| line(report, &reason.why)).next();
                match (action, line) {
                    (Some(action), Some(line)) => format!("{action}: {line}"),
                    (Some(action), None) => action,
                    (None, _) => without_numbers(&rejection.sentence),
                }
            }
        }),
    }
}

/// The part of the specification that rejects the operation.
fn line(report: &Report, why: &Why) -> Option<String> {
    match why {
        Why::Guard(guard) => {
            let is_false = |outcome: &crate::data::Outcome| matches!(outcome, crate::data::Outcome::False);
            let conjunct = guard.conjuncts.iter().find(|conjunct| conjunct.outcomes.iter().any(is_false))?;
            let source = report.sources.get(conjunct.span.source)?;
            let line = source.text.get(..conjunct.span.start)?.matches('\n').count() + 1;
            let file = source.path.rsplit('/').next().unwrap_or_default();
            Some(format!("{} is FALSE, {file}:{line}", conjunct.text))
        }
        Why::Words { text } => Some(without_numbers(text)),
        Why::Excluded { name, .. } => Some(format!("excluded by {name}")),
        Why::Error { message, .. } => Some(without_numbers(message)),
        Why::Time { .. } | Why::Dead => None,
    }
}

/// A text without its numbers, which are the values of one run.
pub fn without_numbers(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars() {
        match character.is_ascii_digit() {
            true if shown.ends_with('#') => {}
            true => shown.push('#'),
            false => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_not_part_of_a_cause() {
        assert_eq!(without_numbers("T12:3 pop() = 1007 in {1, 22}"), "T#:# pop() = # in {#, #}");
    }
}

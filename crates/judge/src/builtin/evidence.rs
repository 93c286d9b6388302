//! The result of a model in the form of reports.

use omnilink_history::{OpId, Verdict};
use omnilink_models::check::{Checked, Failure, Method};
use omnilink_models::smallest::Part;
use omnilink_report::{Evidence, Keys, Legal, Mentions, OpRef, Reason, RejectedKey, Rejection, Stuck};
use omnilink_search::{Explanation, Why};

use super::check::state_of;
use crate::run::Run;
use crate::{Failed, level};

/// The verdict, with its explanation.
pub(super) fn verdict(
    run: &Run<'_>,
    checked: &Checked,
    part: Option<Part>,
    mentions: &mut Mentions<OpId>,
) -> Result<omnilink_report::Verdict, Failed> {
    Ok(match &checked.verdict {
        Verdict::Accepted(_) => omnilink_report::Verdict::Accepted,
        Verdict::Inconclusive(stop) => crate::inconclusive(*stop, stop.to_string()),
        Verdict::Rejected(Failure::Contradiction { ops, reason }) => {
            omnilink_report::Verdict::Rejected(Box::new(level::contradiction(ops, reason, mentions)))
        }
        Verdict::Rejected(Failure::Stuck { parts, explanation }) => {
            let on = if parts.is_empty() { String::new() } else { format!(" on {}", parts.join(", ")) };
            let blocked = run.named(&explanation.blocked)?;
            let sentence = match &*blocked {
                [op] if run.asked.is_linearizable() && !run.asked.exhaustive => {
                    format!("no order of the operations{on} allows {op}")
                }
                blocked => omnilink_report::longest_orders(explanation.explained, blocked),
            };
            omnilink_report::Verdict::Rejected(Box::new(stuck(sentence, explanation, part, mentions)))
        }
    })
}

/// The keys that are not accepted, if one is rejected.
pub(super) fn keys(run: &Run<'_>, checked: &Checked) -> Result<Option<Keys>, Failed> {
    let Method::Parts { all, .. } = checked.method else { return Ok(None) };
    if checked.rejected.is_empty() {
        return Ok(None);
    }
    let mut rejected = Vec::with_capacity(checked.rejected.len());
    for part in &checked.rejected {
        let sentence = match &part.reason {
            Some(reason) => reason.clone(),
            None => format!("no order allows {}", run.named(&part.ops)?.join(" or ")),
        };
        rejected.push(RejectedKey { key: part.name.clone(), operations: part.operations, sentence });
    }
    let undecided = checked.undecided.iter().map(|(key, _)| key.clone()).collect();
    Ok(Some(Keys { all, rejected, undecided }))
}

/// Every order gets stuck.
fn stuck(
    sentence: String,
    explanation: &Explanation<String>,
    part: Option<Part>,
    mentions: &mut Mentions<OpId>,
) -> Rejection {
    let mut shown: Vec<&String> = Vec::new();
    let mut reasons: Vec<Reason> = Vec::new();
    let mut interpretations = Vec::new();
    let blocked: Vec<OpRef> = explanation.blocked.iter().map(|&op| mentions.op(op)).collect();
    for stuck in &explanation.stuck {
        let state = shown.iter().position(|known| **known == stuck.state).unwrap_or_else(|| {
            shown.push(&stuck.state);
            shown.len() - 1
        });
        let step =
            |step: &omnilink_search::Placed| omnilink_report::Step { op: mentions.op(step.op), partway: step.partway };
        let recent = stuck.recent.iter().map(step).collect();
        interpretations.push(omnilink_report::Interpretation { state, recent });
        for refusal in &stuck.refused {
            let op = mentions.op(refusal.op);
            let why = match &refusal.why {
                Why::MustFollow(before) => omnilink_report::Why::Time { after: mentions.op(*before) },
                Why::LeadsNowhere => omnilink_report::Why::Dead,
                Why::Disabled(reason) => {
                    let text = reason.clone().unwrap_or_else(|| "the specification does not allow it".into());
                    omnilink_report::Why::Words { text }
                }
            };
            match reasons.iter_mut().find(|reason| reason.op == op && reason.why == why) {
                Some(reason) if reason.states.contains(&state) => {}
                Some(reason) => reason.states.push(state),
                None => reasons.push(Reason { op, states: vec![state], why }),
            }
        }
    }
    reasons.sort_by_key(|reason| (!blocked.contains(&reason.op), reason.op));
    let evidence = Evidence::Stuck(Stuck {
        states: shown.into_iter().cloned().map(state_of).collect(),
        groups: Vec::new(),
        interpretations,
        reasons,
        expected: Vec::new(),
        expects_more: false,
        legal: Legal::Unknown,
        what_ifs: Vec::new(),
        window: part.map(|part| omnilink_report::Window {
            start: part.start.into_iter().map(state_of).collect(),
            operations: part.ops.iter().map(|&op| mentions.op(op)).collect(),
            before: part.before,
        }),
    });
    Rejection { sentence, details: String::new(), blocked, explained: explanation.explained, evidence }
}

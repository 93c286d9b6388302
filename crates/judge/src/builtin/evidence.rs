//! Why a search got stuck, as reports have it.

use omnilink_history::OpId;
use omnilink_models::smallest::Part;
use omnilink_report::{Evidence, Legal, Mentions, OpRef, Reason, Rejection, Stuck};
use omnilink_search::{Explanation, Why};

use super::state_of;

/// Every order gets stuck.
pub(super) fn stuck(
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

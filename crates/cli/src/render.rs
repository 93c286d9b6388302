//! Verdicts as people and as programs read them.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use history::{OpId, Verdict};
use indicatif::HumanCount;
use models::check::{Failure, Method};
use search::{Explanation, Stuck, Why};
use serde_json::json;

use crate::check::Outcome;

/// So much is shown of a list; `--format json` has all of it.
const SHOWN: usize = 6;

/// So many of the steps that led to a state are shown.
const SHOWN_RECENT: usize = 3;

/// So many characters are shown of a state.
const SHOWN_STATE: usize = 120;

/// Prints what there is to say about one history.
pub(crate) fn human(outcome: &Outcome, is_quiet: bool) {
    if is_quiet && outcome.checked.verdict.is_accepted() {
        return;
    }
    let bold = Style::new().bold();
    let (style, word) = match outcome.checked.verdict {
        _ if outcome.operations == Some(0) => (AnsiColor::Yellow.on_default(), "nothing to check"),
        Verdict::Accepted(_) => (AnsiColor::Green.on_default(), "accepted"),
        Verdict::Rejected(_) => (AnsiColor::Red.on_default(), "rejected"),
        Verdict::Inconclusive(_) => (AnsiColor::Yellow.on_default(), "inconclusive"),
    };
    anstream::println!("{bold}{}{bold:#}: {style}{word}{style:#}", outcome.label);
    anstream::print!("{}", text(outcome));
}

/// Prints how many histories got which verdict, if there were several.
pub(crate) fn summary(outcomes: &[Outcome]) {
    if outcomes.len() < 2 {
        return;
    }
    let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
    let accepted = count(|outcome| outcome.operations != Some(0) && outcome.checked.verdict.is_accepted());
    let rejected = count(|outcome| outcome.checked.verdict.is_rejected());
    let inconclusive = count(|outcome| matches!(outcome.checked.verdict, Verdict::Inconclusive(_)));
    let empty = outcomes.len() - accepted - rejected - inconclusive;
    let mut line = format!("{} checked: {accepted} accepted, {rejected} rejected", outcomes.len() - empty);
    for (count, word) in [(inconclusive, "inconclusive"), (empty, "with nothing to check")] {
        if count > 0 {
            let _ = write!(line, ", {count} {word}");
        }
    }
    anstream::println!("{line}");
}

fn text(outcome: &Outcome) -> String {
    let mut out = String::new();
    for cut in &outcome.cuts {
        let _ = writeln!(out, "  note: {cut}; what stands before is a history of its own");
    }
    match &outcome.checked.verdict {
        Verdict::Accepted(_) => {}
        Verdict::Rejected(Failure::Contradiction { ops, reason }) => {
            let _ = writeln!(out, "  {reason}");
            list(&mut out, outcome, ops);
        }
        Verdict::Rejected(Failure::Stuck { part, explanation }) => {
            let part = part.as_ref().map(|part| format!(" on {part}")).unwrap_or_default();
            stuck_text(&mut out, outcome, &part, explanation);
        }
        Verdict::Inconclusive(stop) => {
            let _ = writeln!(out, "  {stop}");
            if let Some(widest) = &outcome.checked.stats.widest {
                let at = widest.goal.map(|goal| format!(" at {}", op(outcome, goal))).unwrap_or_default();
                let _ = writeln!(out, "  widest{at}: {} at once", count(widest.width as u64, "configuration"));
                let in_flight = count(widest.in_flight.len() as u64, "operation");
                let _ =
                    writeln!(out, "  {in_flight} in flight there, which may take effect in any order; the longest:");
                let mut longest = widest.in_flight.clone();
                longest.sort_by_key(|id| std::cmp::Reverse(duration(outcome, *id)));
                list(&mut out, outcome, &longest);
            }
        }
    }
    if let Some(operations) = outcome.operations.filter(|&operations| operations > 0) {
        let _ = writeln!(out, "  {}", work(outcome, operations));
    }
    out
}

fn stuck_text(out: &mut String, outcome: &Outcome, part: &str, explanation: &Explanation<String>) {
    let explained = count(explanation.explained, "operation");
    let Some(goal) = explanation.goal else {
        let _ = writeln!(out, "  no order of the operations{part} is allowed: at most {explained} can be placed");
        return;
    };
    let _ = writeln!(out, "  no order of the operations{part} allows {}", op(outcome, goal));
    let _ = writeln!(out, "  {explained} returned before it and can be explained, and then:");
    // Several configurations may have the same state, and several states the same reason.
    let mut reasons: Vec<(String, Vec<&Stuck<String>>)> = Vec::new();
    for stuck in &explanation.stuck {
        let why = stuck.refused.iter().find(|refusal| refusal.op == goal).map(|refusal| &refusal.why);
        let reason = match why {
            Some(Why::Disabled(Some(reason))) => reason.clone(),
            Some(Why::MustFollow(before)) => format!("it must come after {}", op(outcome, *before)),
            _ => "the specification does not allow it".into(),
        };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, all)) if all.iter().any(|other| other.state == stuck.state) => {}
            Some((_, all)) => all.push(stuck),
            None => reasons.push((reason, vec![stuck])),
        }
    }
    for (reason, stuck) in reasons.iter().take(SHOWN) {
        let more = if stuck.len() > 1 { format!(" and {} more", stuck.len() - 1) } else { String::new() };
        let _ = writeln!(out, "    in state {}{more}: {reason}", shortened(&stuck[0].state));
        let recent = &stuck[0].recent;
        let last: Vec<String> = recent.iter().rev().take(SHOWN_RECENT).rev().map(|step| op(outcome, step.op)).collect();
        if !last.is_empty() {
            let _ = writeln!(out, "      after {}", last.join(", "));
        }
    }
    if reasons.len() > SHOWN {
        let _ = writeln!(
            out,
            "    and for {} more reasons in other states (all with --format json)",
            reasons.len() - SHOWN
        );
    }
}

fn list(out: &mut String, outcome: &Outcome, ops: &[OpId]) {
    for &id in ops.iter().take(SHOWN) {
        let _ = writeln!(out, "    {}", op(outcome, id));
    }
    if ops.len() > SHOWN {
        let _ = writeln!(out, "    and {} more", ops.len() - SHOWN);
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_STATE) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into(),
    }
}

fn count(number: u64, thing: &str) -> String {
    let plural = match thing {
        _ if number == 1 => "",
        "process" => "es",
        _ => "s",
    };
    format!("{} {thing}{plural}", HumanCount(number))
}

/// An operation as people know it: `T1:3 read() = 2 [10 20]`.
fn op(outcome: &Outcome, id: OpId) -> String {
    match outcome.mentioned.get(&id) {
        Some((name, op)) => format!("{name} {} {}", op.call, op.interval),
        None => id.to_string(),
    }
}

fn duration(outcome: &Outcome, id: OpId) -> u64 {
    outcome.mentioned.get(&id).map_or(0, |(_, op)| op.interval.deadline() - op.interval.start())
}

fn work(outcome: &Outcome, operations: u64) -> String {
    let stats = &outcome.checked.stats;
    let how = match outcome.checked.method {
        Method::Procedure => "decided without searching".into(),
        Method::Parts(parts) => format!("searched in {} independent parts", HumanCount(parts as u64)),
        Method::Search => "searched whole".into(),
    };
    let search = match outcome.checked.method {
        Method::Procedure => String::new(),
        _ => {
            let widest = stats.widest.as_ref().map_or(0, |widest| widest.width);
            format!(": {}, at most {} at once", count(stats.distinct, "configuration"), HumanCount(widest as u64))
        }
    };
    let operations = count(operations, "operation");
    format!("{operations} of {}, {how}{search}", count(outcome.processes as u64, "process"))
}

/// Prints all outcomes as one JSON document.
pub(crate) fn json(spec: &str, outcomes: &[Outcome]) {
    let histories: Vec<serde_json::Value> = outcomes.iter().map(history).collect();
    let document = json!({ "schema": "omnilink.check/1", "spec": spec, "histories": histories });
    anstream::println!("{document:#}");
}

fn history(outcome: &Outcome) -> serde_json::Value {
    let stats = &outcome.checked.stats;
    let operation = |id: OpId| operation(outcome, id);
    let mut value = json!({
        "history": outcome.label,
        "verdict": match outcome.checked.verdict {
            _ if outcome.operations == Some(0) => "nothing",
            Verdict::Accepted(_) => "accepted",
            Verdict::Rejected(_) => "rejected",
            Verdict::Inconclusive(_) => "inconclusive",
        },
        "operations": outcome.operations,
        "processes": outcome.processes,
        "method": match outcome.checked.method {
            Method::Procedure => "procedure",
            Method::Parts(_) => "parts",
            Method::Search => "search",
        },
        "milliseconds": outcome.elapsed.as_secs_f64() * 1e3,
        "stats": {
            "steps": stats.steps,
            "generated": stats.generated,
            "distinct": stats.distinct,
            "widest": stats.widest.as_ref().map(|widest| widest.width),
        },
        "cuts": outcome.cuts.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    let more = match &outcome.checked.verdict {
        Verdict::Accepted(_) => return value,
        Verdict::Inconclusive(stop) => json!({
            "stop": stop.to_string(),
            "widest_at": stats.widest.as_ref().and_then(|widest| widest.goal).map(operation),
            "in_flight": stats.widest.iter().flat_map(|widest| &widest.in_flight).map(|&id| operation(id)).collect::<Vec<_>>(),
        }),
        Verdict::Rejected(Failure::Contradiction { ops, reason }) => json!({
            "reason": reason,
            "contradiction": ops.iter().map(|&id| operation(id)).collect::<Vec<_>>(),
        }),
        Verdict::Rejected(Failure::Stuck { part, explanation }) => json!({
            "part": part.as_ref().map(ToString::to_string),
            "unplaced": explanation.goal.map(operation),
            "explained": explanation.explained,
            "stuck": explanation.stuck.iter().map(|stuck| json!({
                "state": stuck.state,
                "recent": stuck.recent.iter().map(|step| operation(step.op)).collect::<Vec<_>>(),
                "refused": stuck.refused.iter().map(|refusal| {
                    let (why, reason, after) = match &refusal.why {
                        Why::Disabled(reason) => ("disabled", reason.clone(), None),
                        Why::LeadsNowhere => ("leads nowhere", None, None),
                        Why::MustFollow(before) => ("must follow", None, Some(operation(*before))),
                    };
                    json!({ "operation": operation(refusal.op), "why": why, "reason": reason, "must_follow": after })
                }).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
        }),
    };
    if let (serde_json::Value::Object(value), serde_json::Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    value
}

fn operation(outcome: &Outcome, id: OpId) -> serde_json::Value {
    match outcome.mentioned.get(&id) {
        Some((name, op)) => json!({
            "name": name,
            "call": op.call.to_string(),
            "start": op.interval.start(),
            "end": op.interval.end(),
        }),
        None => json!({ "name": id.to_string() }),
    }
}

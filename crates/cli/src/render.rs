//! Verdicts as people and as programs read them.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use history::{OpId, Verdict};
use indicatif::HumanCount;
use models::check::{Failure, Method};
use search::{Explanation, Stuck, Why};
use serde_json::{Value, json};

use crate::check::Outcome;

/// Stuck configurations that are shown; `--format json` has all of them.
const SHOWN_STUCK: usize = 3;

/// Operations that are shown of a long list.
const SHOWN_OPS: usize = 6;

/// Prints what there is to say about one history.
pub(crate) fn human(outcome: &Outcome, is_quiet: bool) {
    if is_quiet && outcome.checked.verdict.is_accepted() {
        return;
    }
    let bold = Style::new().bold();
    let (style, word) = match outcome.checked.verdict {
        _ if outcome.operations == 0 => (AnsiColor::Yellow.on_default(), "nothing to check"),
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
    let accepted = count(|outcome| outcome.operations > 0 && outcome.checked.verdict.is_accepted());
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
            let part = part.as_ref().map(|part| format!(" of {part}")).unwrap_or_default();
            stuck_text(&mut out, outcome, &part, explanation);
        }
        Verdict::Inconclusive(stop) => {
            let _ = writeln!(out, "  {stop}");
            if let Some(widest) = &outcome.checked.stats.widest {
                let at = widest.goal.map(|goal| format!(" at {}", op(outcome, goal))).unwrap_or_default();
                let _ = writeln!(out, "  widest{at}: {} configurations at once", HumanCount(widest.width as u64));
                let _ = writeln!(
                    out,
                    "  {} operations are in flight there, and any may have taken effect or not:",
                    widest.in_flight.len()
                );
                let mut longest = widest.in_flight.clone();
                longest.sort_by_key(|id| std::cmp::Reverse(duration(outcome, *id)));
                list(&mut out, outcome, &longest);
            }
        }
    }
    if outcome.operations > 0 {
        let _ = writeln!(out, "  {}", work(outcome));
    }
    out
}

fn stuck_text(out: &mut String, outcome: &Outcome, part: &str, explanation: &Explanation<String>) {
    let explained = HumanCount(explanation.explained);
    let _ = match explanation.goal {
        Some(goal) => writeln!(
            out,
            "  no order of the operations{part} allows {}: the {explained} that returned before are explained, this one is not",
            op(outcome, goal)
        ),
        None => writeln!(out, "  no order of the operations{part} is allowed: at most {explained} can be placed"),
    };
    for stuck in explanation.stuck.iter().take(SHOWN_STUCK) {
        stuck_state(out, outcome, explanation.goal, stuck);
    }
    let more = explanation.stuck.len().saturating_sub(SHOWN_STUCK);
    if more > 0 {
        let _ = writeln!(out, "  and {more} more states in which every order is stuck (all with --format json)");
    }
}

fn stuck_state(out: &mut String, outcome: &Outcome, goal: Option<OpId>, stuck: &Stuck<String>) {
    let _ = writeln!(out, "  stuck in state {}", stuck.state);
    if let Some(last) = stuck.recent.last() {
        let _ = writeln!(out, "    after {}", op(outcome, last.op));
    }
    // What should have been placed comes first.
    let mut refused: Vec<_> = stuck.refused.iter().collect();
    refused.sort_by_key(|refusal| Some(refusal.op) != goal);
    for refusal in refused.iter().take(SHOWN_OPS) {
        let why = match &refusal.why {
            Why::Disabled(Some(reason)) => reason.clone(),
            Why::Disabled(None) => "the specification does not allow it here".into(),
            Why::MustFollow(before) => format!("must come after {}", op(outcome, *before)),
        };
        let _ = writeln!(out, "    not {}: {why}", op(outcome, refusal.op));
    }
    if refused.len() > SHOWN_OPS {
        let _ = writeln!(out, "    nor {} more operations in flight", refused.len() - SHOWN_OPS);
    }
}

fn list(out: &mut String, outcome: &Outcome, ops: &[OpId]) {
    for &id in ops.iter().take(SHOWN_OPS) {
        let _ = writeln!(out, "    {}", op(outcome, id));
    }
    if ops.len() > SHOWN_OPS {
        let _ = writeln!(out, "    and {} more", ops.len() - SHOWN_OPS);
    }
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

fn work(outcome: &Outcome) -> String {
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
            format!(": {} configurations, at most {widest} at once", HumanCount(stats.distinct))
        }
    };
    let operations = HumanCount(outcome.operations);
    format!("{operations} operations of {} processes, {how}{search}", outcome.processes)
}

/// Prints all outcomes as one JSON document.
pub(crate) fn json(spec: &str, outcomes: &[Outcome]) {
    let histories: Vec<Value> = outcomes.iter().map(history).collect();
    let document = json!({ "schema": "omnilink.check/1", "spec": spec, "histories": histories });
    anstream::println!("{document:#}");
}

fn history(outcome: &Outcome) -> Value {
    let stats = &outcome.checked.stats;
    let operation = |id: OpId| operation(outcome, id);
    let mut value = json!({
        "history": outcome.label,
        "verdict": match outcome.checked.verdict {
            _ if outcome.operations == 0 => "nothing",
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
                    let (reason, after) = match &refusal.why {
                        Why::Disabled(reason) => (reason.clone(), None),
                        Why::MustFollow(before) => (None, Some(operation(*before))),
                    };
                    json!({ "operation": operation(refusal.op), "reason": reason, "must_follow": after })
                }).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
        }),
    };
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    value
}

fn operation(outcome: &Outcome, id: OpId) -> Value {
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

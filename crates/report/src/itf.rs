//! States of a history in the Informal Trace Format, for Apalache, Quint and editor viewers.
//!
//! The states are those along the order, as far back as requested, and for a rejected history then those of its first
//! interpretation. The `#meta` of a state names the operation that led to it.
//!
//! A report has values as printed. The caller passes the function that parses them; a value that it cannot parse is
//! `#unserializable`, which the format has for this.

use serde_json::{Map, Value, json};

use crate::data::{Report, State};
use crate::timeline::{Placement, Timeline};

/// The states of a history. `read` parses a printed value into a value of the format.
pub fn itf(report: &Report, timeline: &Timeline, mut read: impl FnMut(&str) -> Option<Value>) -> String {
    let fields = timeline.states.last().map_or(&[][..], |state| &state.variables);
    let names: Vec<&str> = fields.iter().map(|field| name(&field.name)).collect();
    let mut states = Vec::new();
    for (index, (before, step, state)) in walk(timeline).enumerate() {
        let mut shown = Map::new();
        let mut meta = Map::from_iter([("index".to_owned(), json!(index))]);
        meta.insert("fingerprint".into(), state.id.as_str().into());
        // Readers expect text here.
        meta.insert("placed".into(), before.to_string().into());
        if let Some(step) = step {
            let entry = &timeline.operations[step.op as usize];
            meta.insert("operation".into(), timeline.name(entry).into());
            meta.insert("call".into(), timeline.text(entry).into());
            if step.partway {
                meta.insert("partway".into(), "true".into());
            }
        }
        shown.insert("#meta".into(), meta.into());
        for field in &state.variables {
            let value = read(&field.value).unwrap_or_else(|| json!({ "#unserializable": field.value }));
            shown.insert(name(&field.name).to_owned(), value);
        }
        states.push(Value::Object(shown));
    }
    let document = json!({
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "source": report.spec.name,
            "description": format!("{}: {}", report.history.name, report.verdict.word()),
        },
        "vars": names,
        "states": states,
    });
    format!("{document:#}\n")
}

/// A specification in Rust has one variable without a name.
fn name(name: &str) -> &str {
    if name.is_empty() { "state" } else { name }
}

/// Each state, the number of steps before it, and the last of them.
fn walk(timeline: &Timeline) -> impl Iterator<Item = (usize, Option<&Placement>, &State)> {
    let first = (timeline.until + 1).saturating_sub(timeline.states.len());
    let common = (first..).zip(&timeline.states);
    let common =
        common.map(|(before, state)| (before, before.checked_sub(1).and_then(|at| timeline.order.get(at)), state));
    let ending = timeline.endings.first().filter(|_| timeline.until == timeline.order.len());
    let rest = ending.into_iter().flat_map(|ending| ending.steps.iter().zip(&ending.states));
    common.chain((timeline.until + 1..).zip(rest).map(|(before, (step, state))| (before, Some(step), state)))
}

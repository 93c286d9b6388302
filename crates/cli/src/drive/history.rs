//! The history of a run, in JSON Lines.

use std::collections::BTreeMap;
use std::sync::Arc;

use omnilink_harness::{Call, Input, Outcome};
use omnilink_history::Value;
use omnilink_history::format::jsonl::write_fields_of;
use omnilink_report::clean;
use serde_json::json;

/// The number of calls shown of a failing run.
const SHOWN: usize = 8;

/// The calls of a run with their answers, one after another.
#[derive(Default)]
pub(super) struct History {
    lines: Vec<String>,
    /// The same for people.
    calls: Vec<String>,
}

impl History {
    /// Adds a call that returned.
    pub(super) fn returned(
        &mut self,
        call: &Call,
        outcome: &Outcome,
        input: &Input,
        results: &BTreeMap<String, Value>,
    ) {
        self.calls.push(format!("{} → {}", shown(input), answer(&outcome.action, results)));
        let results = results.iter().map(|(name, value)| (Arc::from(name.as_str()), value.clone()));
        let (names, values): (Vec<_>, Vec<_>) = results.unzip();
        let results = if names.is_empty() {
            String::new()
        } else {
            format!(", \"results\": {}", write_fields_of(&names, &values).unwrap_or_default())
        };
        self.add(call, outcome, input, &results);
    }

    /// Adds a call that the program refused.
    pub(super) fn refused(&mut self, call: &Call, input: &Input) {
        self.calls.push(format!("{} refused", shown(input)));
        // Invariant: every call of a plan has an outcome.
        self.add(call, &call.outcomes[0], input, ", \"failed\": true");
    }

    fn add(&mut self, call: &Call, outcome: &Outcome, input: &Input, end: &str) {
        let mut names: Vec<Arc<str>> = Vec::new();
        let mut values = Vec::new();
        for (place, name) in &outcome.arguments {
            if let Some(value) = input.arguments.get(&call.arguments[*place].field.name) {
                names.push(Arc::from(name.as_str()));
                values.push(value.clone());
            }
        }
        let process = match &input.process {
            None => "1".to_owned(),
            Some(Value::Str(name)) => name.to_string(),
            Some(other) => other.to_string(),
        };
        let start = 2 * self.lines.len() + 1;
        self.lines.push(format!(
            "{{\"process\": {}, \"action\": {}, \"args\": {}, \"start\": {start}, \"end\": {}{end}}}",
            json!(process),
            json!(outcome.action),
            write_fields_of(&names, &values).unwrap_or_default(),
            start + 1,
        ));
    }

    /// The number of calls.
    pub(super) fn len(&self) -> u64 {
        self.lines.len() as u64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The last calls, for people.
    pub(super) fn last_calls(&self) -> String {
        let first = self.calls.len().saturating_sub(SHOWN);
        let last = self.calls[first..].iter().enumerate();
        last.map(|(place, call)| format!("    {:4}  {call}\n", first + place + 1)).collect()
    }
}

/// A call for people: `Enqueue elem=1`.
pub(super) fn shown(input: &Input) -> String {
    let mut words = Vec::new();
    words.extend(input.process.iter().map(|process| format!("{process}:")));
    words.push(input.to_string());
    clean(&words.join(" "))
}

/// An answer for people: `Dequeue elem=1`.
pub(super) fn answer(outcome: &str, results: &BTreeMap<String, Value>) -> String {
    let results = results.iter().map(|(name, value)| format!(" {name}={value}"));
    clean(&format!("{outcome}{}", results.collect::<String>()))
}

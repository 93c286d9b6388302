//! A first mapping for a log and a specification, from names and shapes that coincide.
//!
//! Each line of the result says what it was made from. Uncertain and missing parts are comments, because a wrong rule would
//! reject a correct log. The mapping is text for a person to read and complete.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use omnilink_history::format::json::Json;
use omnilink_tla::program::{Operation, Program};

use crate::line::Line;
use crate::path::Path;
use crate::step_names;

/// Names of fields that usually are the process.
const PROCESSES: &[&str] =
    &["process", "node", "nid", "node_id", "server", "replica", "svc", "service", "pid", "host", "thread", "logger"];

/// Names of fields that usually are the name of an event.
const EVENTS: &[&str] = &["event", "ev", "action", "msg", "message", "type", "kind", "op", "name"];

/// The maximum number of values that an event field has.
const MOST_EVENTS: usize = 64;

/// Names of fields that usually are a time.
const TIMES: &[&str] = &["ts", "time", "timestamp", "clock", "h_ts", "t"];

/// The maximum number of values that a process field has.
const MOST_PROCESSES: usize = 64;

/// A first mapping, as text of TOML. `pattern` is that of the files, if there are several.
pub fn infer(program: &Program, lines: &[Line], pattern: Option<&str>) -> String {
    let operations: Vec<Operation> = step_names(program).iter().filter_map(|name| program.operation(name)).collect();
    let mut inference = Inference { program, operations, lines, text: String::new(), unclear: Vec::new() };
    inference.run(pattern);
    inference.text
}

struct Inference<'a> {
    program: &'a Program,
    operations: Vec<Operation>,
    lines: &'a [Line],
    text: String,
    unclear: Vec<String>,
}

impl Inference<'_> {
    fn run(&mut self, pattern: Option<&str>) {
        self.text.push_str("[log]\n");
        if let Some(pattern) = pattern {
            let _ = writeln!(self.text, "files = \"{pattern}\"");
        }
        let is_many = pattern.is_some();
        let all: Vec<&Json> = self.lines.iter().map(|line| &line.json).collect();
        let found = self.event_path(&all);
        let (root, event) = match &found {
            Some((root, event, matched)) => {
                if let Some(root) = root {
                    let _ = writeln!(self.text, "root = \"{root}\"");
                }
                let _ = writeln!(self.text, "event = \"{event}\"  # {matched} of its values are names of actions");
                (root.clone(), Some(event.clone()))
            }
            None => {
                self.unclear.push("no field has names of actions: set `event`, or write rules with `when`".to_owned());
                (None, None)
            }
        };
        let likely = if event.is_none() { self.likely_event(&all) } else { None };
        if let Some((name, values)) = &likely {
            let _ = writeln!(self.text, "# event = \"{name}\"  # {} values, none of them an action", values.len());
        }
        let path = root.as_deref().and_then(Path::parse);
        let events: Vec<&Json> =
            all.iter().filter_map(|line| path.as_ref().map_or(Some(*line), |path| path.find(line))).collect();
        if let Some(root) = &root
            && events.len() < all.len()
        {
            let _ = writeln!(
                self.text,
                "where = '\"{root}\" \\in DOMAIN e'  # {} of {} lines have it",
                events.len(),
                all.len()
            );
        }
        let processes = self.process(&events);
        self.order(&all, &events, &processes, is_many);
        let args = self.args(&events, event.as_deref());
        self.updates(&events);
        self.constants();
        self.rules(&events, event.as_deref(), args.as_deref());
        if let Some((name, values)) = &likely {
            values.iter().for_each(|value| self.skeleton(&events, name, value));
        }
        if !self.unclear.is_empty() {
            self.text.push_str("\n# Not in the log or the specification:\n");
            for line in &self.unclear {
                let _ = writeln!(self.text, "# - {line}");
            }
        }
    }

    /// The path of the event in a line, the path of its name there, and how many values are names of actions.
    fn event_path(&self, lines: &[&Json]) -> Option<(Option<String>, String, usize)> {
        let mut counts: BTreeMap<(Option<String>, String), BTreeSet<String>> = BTreeMap::new();
        let mut add = |root: Option<&str>, name: &str, value: &Json| {
            if let Json::Text(text) = value {
                counts.entry((root.map(str::to_owned), name.to_owned())).or_default().insert(text.clone());
            }
        };
        for line in lines {
            let Json::Object(fields) = line else { continue };
            for (name, value) in fields {
                add(None, name, value);
                if let Json::Object(inner) = value {
                    inner.iter().for_each(|(field, value)| add(Some(name), field, value));
                }
            }
        }
        let is_action = |name: &&String| self.operations.iter().any(|operation| operation.name == **name);
        let scored = counts.into_iter().map(|((root, name), values)| {
            let matched = values.iter().filter(is_action).count();
            (matched, root, name)
        });
        let best = scored.max_by_key(|(matched, root, _)| (*matched, root.is_none()))?;
        (best.0 > 0).then_some((best.1, best.2, best.0))
    }

    /// The field that is most likely the name of an event, and its values: text in every line, with several repeated
    /// values.
    fn likely_event(&self, lines: &[&Json]) -> Option<(String, BTreeSet<String>)> {
        let names: BTreeSet<String> = lines.iter().flat_map(|line| names(line)).collect();
        let fits = |name: &String| {
            let values: Vec<&str> = lines.iter().filter_map(|line| text_at(line, name)).collect();
            let distinct: BTreeSet<String> = values.iter().map(|value| (*value).to_owned()).collect();
            let is_event = values.len() == lines.len()
                && (2..=MOST_EVENTS).contains(&distinct.len())
                && distinct.len() * 2 <= lines.len();
            (is_event && !PROCESSES.contains(&name.as_str())).then_some((name.clone(), distinct))
        };
        let rank = |name: &str| EVENTS.iter().position(|known| *known == name).unwrap_or(EVENTS.len());
        names.iter().filter_map(fits).min_by_key(|(name, values)| (rank(name), std::cmp::Reverse(values.len())))
    }

    /// A rule for events of a name, to be completed, with the fields that such events have.
    fn skeleton(&mut self, events: &[&Json], field: &str, name: &str) {
        let named: Vec<&&Json> = events.iter().filter(|event| text_at(event, field) == Some(name)).collect();
        let fields: BTreeSet<String> =
            named.iter().flat_map(|event| names(event)).filter(|other| other != field).collect();
        let known = self.operations.iter().map(|operation| operation.name.as_str());
        let hint = omnilink_suggest::hint(name, known).map_or(String::new(), |hint| format!("  # {hint}"));
        let fields: Vec<String> = fields.into_iter().collect();
        let _ = writeln!(
            self.text,
            "\n# [[log.rule]]  # {} lines with {}\n# event = {}\n# action = \"...\"{hint}",
            named.len(),
            fields.join(", "),
            Json::Text(name.to_owned()),
        );
    }

    /// The values of the process field.
    fn process(&mut self, events: &[&Json]) -> BTreeSet<String> {
        let known = PROCESSES.iter().find_map(|name| {
            let values: BTreeSet<String> = events.iter().filter_map(|event| event.field(name)).map(text).collect();
            let is_everywhere = !events.is_empty() && events.iter().all(|event| event.field(name).is_some());
            (is_everywhere && values.len() <= MOST_PROCESSES).then_some((*name, values))
        });
        match known {
            Some((name, values)) => {
                let _ = writeln!(self.text, "process = \"{name}\"  # {} values", values.len());
                values
            }
            None => BTreeSet::new(),
        }
    }

    fn order(&mut self, lines: &[&Json], events: &[&Json], processes: &BTreeSet<String>, is_many: bool) {
        let is_vector = |json: &Json| match json {
            Json::Object(fields) => {
                !fields.is_empty()
                    && fields.iter().all(|(name, value)| processes.contains(name) && matches!(value, Json::Number(_)))
            }
            _ => false,
        };
        let vector = events.first().and_then(|event| find_path(event, 2, &is_vector));
        let is_everywhere =
            |path: &str| Path::parse(path).is_some_and(|path| events.iter().all(|event| path.find(event).is_some()));
        if let Some(vector) = vector.filter(|vector| is_everywhere(vector)) {
            let _ = writeln!(self.text, "order = {{ vector = \"{vector}\" }}");
            return;
        }
        let time = TIMES.iter().find(|name| lines.iter().all(|line| line.field(name).is_some()) && !lines.is_empty());
        match time {
            Some(name) if is_many => {
                let _ = writeln!(self.text, "order = {{ time = \"{name}\" }}");
                self.unclear.push(format!("how far `{name}` of different processes may be apart: `uncertainty`"));
            }
            Some(name) => {
                let _ = writeln!(self.text, "# order = {{ time = \"{name}\" }}  # instead of the order of the lines");
            }
            None if is_many => self.unclear.push("an order of the events of different files: `order`".to_owned()),
            None => {}
        }
    }

    /// The path of the arguments.
    fn args(&mut self, events: &[&Json], event: Option<&str>) -> Option<String> {
        let name_of = |json: &Json| event.and_then(|event| json.field(event)).map(text);
        let fits = |field: &str| {
            let mut any = false;
            for event in events {
                let (Some(name), Some(value)) = (name_of(event), event.field(field)) else { continue };
                let Some(operation) = self.operations.iter().find(|operation| operation.name == name) else { continue };
                match value {
                    Json::Array(values) if values.len() <= operation.params.len() => any = true,
                    Json::Object(fields)
                        if fields.iter().all(|(name, _)| operation.params.iter().any(|param| param.name == *name)) =>
                    {
                        any |= !fields.is_empty();
                    }
                    _ => return false,
                }
            }
            any
        };
        let names: BTreeSet<String> = events.iter().flat_map(|event| names(event)).collect();
        let found = names.into_iter().find(|name| fits(name))?;
        let _ = writeln!(self.text, "args = \"{found}\"");
        Some(found)
    }

    fn updates(&mut self, events: &[&Json]) {
        let is_update = |json: &Json| match json {
            Json::Array(operations) => operations.iter().all(|operation| operation.field("op").is_some()),
            _ => false,
        };
        let variables = self.program.module.variables.iter().map(|variable| variable.name.as_str());
        let told: Vec<&str> = variables
            .filter(|name| events.iter().any(|event| event.field(name).is_some()))
            .filter(|name| events.iter().filter_map(|event| event.field(name)).all(is_update))
            .collect();
        if !told.is_empty() {
            let list = told.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
            let _ = writeln!(self.text, "update = [{list}]");
            let _ = writeln!(self.text, "# complete = [{list}]  # if every change of these is in the log");
        }
    }

    /// Constants that parameters range over.
    fn constants(&mut self) {
        let mut sets: BTreeSet<&str> = BTreeSet::new();
        for operation in &self.operations {
            sets.extend(operation.params.iter().filter_map(|param| Some(param.set.as_ref()?.0.as_str())));
        }
        let is_variable = |set: &str| self.program.module.variables.iter().any(|variable| variable.name == set);
        let is_name = |set: &&&str| set.chars().all(|c| c.is_alphanumeric() || c == '_') && !is_variable(set);
        let declared: Vec<&str> = sets.iter().filter(is_name).copied().collect();
        if !declared.is_empty() {
            self.text.push_str("\n# [log.constants]\n");
            for name in declared {
                let _ = writeln!(self.text, "# {name} = {{ field = \"...\", all = true }}");
            }
        }
    }

    /// Rules for values and arguments that have names of the specification, and for events that are not actions.
    fn rules(&mut self, events: &[&Json], event: Option<&str>, args: Option<&str>) {
        let names: BTreeSet<String> = events.iter().flat_map(|event| names(event)).collect();
        for variable in &self.program.module.variables {
            let is_plain = |json: &&Json| !matches!(json, Json::Array(_) | Json::Object(_));
            let values: Vec<&Json> = events.iter().filter_map(|event| event.field(&variable.name)).collect();
            if !values.is_empty() && values.iter().all(is_plain) && Some(variable.name.as_str()) != args {
                let name = &variable.name;
                let _ = writeln!(
                    self.text,
                    "\n# [[log.rule]]  # if the field is the variable after the step\n# has = \"{name}\"\n# after = {{ {name} = \"{name}\" }}"
                );
            }
        }
        let Some(event) = event else { return };
        let seen: BTreeSet<String> = events.iter().filter_map(|json| json.field(event)).map(text).collect();
        for name in &seen {
            let Some(operation) = self.operations.iter().find(|operation| operation.name == *name) else {
                self.skeleton(events, event, name);
                self.unclear.push(format!("which action `{name}` is, or whether it is one (`skip = true`)"));
                continue;
            };
            let by_name: Vec<&str> = operation
                .params
                .iter()
                .map(|param| param.name.as_str())
                .filter(|param| names.contains(*param))
                .collect();
            if args.is_none() && !by_name.is_empty() {
                let list = by_name.iter().map(|name| format!("{name} = \"{name}\"")).collect::<Vec<_>>().join(", ");
                let _ = writeln!(self.text, "\n[[log.rule]]\nevent = \"{name}\"\nargs = {{ {list} }}");
            }
        }
        let missing: Vec<&str> = self
            .program
            .actions
            .iter()
            .map(|action| action.name.as_str())
            .filter(|name| !seen.contains(*name))
            .collect();
        if !missing.is_empty() {
            self.unclear.push(format!("whether these actions happen without an event: {}", missing.join(", ")));
        }
    }
}

/// The path of the first value that passes a test, at most this deep.
fn find_path(json: &Json, depth: usize, is_meant: &dyn Fn(&Json) -> bool) -> Option<String> {
    let Json::Object(fields) = json else { return None };
    fields.iter().find_map(|(name, value)| match is_meant(value) {
        true => Some(name.clone()),
        false if depth > 0 => find_path(value, depth - 1, is_meant).map(|path| format!("{name}.{path}")),
        false => None,
    })
}

fn names(json: &Json) -> Vec<String> {
    match json {
        Json::Object(fields) => fields.iter().map(|(name, _)| name.clone()).collect(),
        _ => Vec::new(),
    }
}

/// The text of a field.
fn text_at<'j>(json: &'j Json, field: &str) -> Option<&'j str> {
    if let Some(Json::Text(text)) = json.field(field) { Some(text) } else { None }
}

fn text(json: &Json) -> String {
    match json {
        Json::Text(text) => text.clone(),
        other => other.to_string(),
    }
}

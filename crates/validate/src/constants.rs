//! Constants that get their values from the trace.
//!
//! A specification quantifies over all keys and all values; a trace has some. The settings declare which fields feed
//! which constant, and the constant is the set of all values of these fields in the trace. If the configuration gives the
//! constant model values, so does the trace: a new name is a new model value. A companion module may
//! instead declare a constant `Trace`, the sequence of all operations, and compute anything from it.

use std::collections::BTreeSet;

use omnilink_history::{Call, Op};
use omnilink_settings::{Feed, Settings};
use omnilink_tla::config::{Config, LiteralKind};
use omnilink_tla::error::EvalError;
use omnilink_tla::ir::{Body, Module};
use omnilink_tla::value::Value;

use crate::bind::END;
use crate::problem::Problem;
use crate::record::record;
use crate::values::{Values, intern};

/// The constant that is the sequence of all operations, if a companion declares it.
const TRACE: &str = "Trace";

/// Collects the values of constants from a trace, one operation after the other.
pub struct Harvest<'s> {
    feeds: Vec<(&'s str, &'s [Feed], BTreeSet<omnilink_history::Value>)>,
    processes: BTreeSet<String>,
    trace: Option<Vec<(String, Op<Call>)>>,
}

impl<'s> Harvest<'s> {
    /// Collects what these settings and the companion need.
    pub fn new(settings: &'s Settings, module: &Module) -> Harvest<'s> {
        let feeds = settings.constants.iter();
        let feeds = feeds.map(|(name, feeds)| (name.as_str(), feeds.as_slice(), BTreeSet::new())).collect();
        let wants_trace = settings.companion.is_some()
            && module
                .names
                .get(TRACE)
                .is_some_and(|def| matches!(module.definitions[def.0 as usize].body, Body::Declared));
        Harvest { feeds, processes: BTreeSet::new(), trace: wants_trace.then(Vec::new) }
    }

    /// True if there is nothing to collect.
    pub fn is_idle(&self) -> bool {
        self.feeds.is_empty() && self.trace.is_none()
    }

    /// Adds an operation and the name of its process.
    pub fn add(&mut self, op: &Op<Call>, process: &str) {
        let schema = op.call.schema();
        // The end of a process is not a recorded operation.
        if *schema.action == *END {
            return;
        }
        for (_, feeds, values) in &mut self.feeds {
            for feed in *feeds {
                match feed {
                    Feed::Process if !self.processes.contains(process) => {
                        self.processes.insert(process.to_owned());
                    }
                    Feed::Process => {}
                    Feed::Field { operation: Some(operation), .. } if *operation != *schema.action => {}
                    Feed::Field { field, .. } => {
                        let fields = schema.args.iter().zip(op.call.args());
                        let fields = fields.chain(schema.results.iter().zip(op.call.results()));
                        for (_, value) in fields.filter(|(name, _)| ***name == **field) {
                            if !values.contains(value) {
                                values.insert(value.clone());
                            }
                        }
                    }
                }
            }
        }
        if let Some(trace) = &mut self.trace {
            trace.push((process.to_owned(), op.clone()));
        }
    }

    /// Gives the constants their values, and returns them.
    pub fn give(self, module: &mut Module, config: &mut Config) -> Result<Vec<(String, Value)>, Vec<Problem>> {
        let values = Values::new(config, &module.strings);
        let mut given: Vec<(String, Value)> = Vec::new();
        let mut problems = Vec::new();
        let of_different_kinds = |name: &str, error: &EvalError| {
            Problem::new(format!("the recorded values for the constant `{name}` are of different kinds: {error}"))
        };
        for (name, feeds, elements) in &self.feeds {
            if !module.names.contains_key(*name) {
                let names = module.names.keys().map(String::as_str);
                let help = omnilink_suggest::hint(name, names);
                problems.push(
                    Problem::new(format!("the settings feed `{name}`, which the module does not define")).help(help),
                );
                continue;
            }
            elements.iter().for_each(|element| intern(element, &mut module.strings));
            let strings = &module.strings;
            let mut translated = Vec::new();
            for element in elements.iter().filter(|element| **element != omnilink_history::Value::Nil) {
                match values.translate(element, strings) {
                    Ok(value) => translated.push(value),
                    Err(error) => problems.push(Problem::new(format!("a value for the constant `{name}`: {error}"))),
                }
            }
            if feeds.contains(&Feed::Process) {
                translated.extend(self.processes.iter().map(|process| values.process(process, strings)));
            }
            match Value::set(translated) {
                Ok(set) => given.push(((*name).to_owned(), set)),
                Err(error) => problems.push(of_different_kinds(name, &error)),
            }
        }
        let mut given = config.give_recorded(given, &mut module.strings).unwrap_or_else(|(name, error)| {
            problems.push(of_different_kinds(&name, &error));
            Vec::new()
        });
        if let Some(trace) = &self.trace {
            // With the model values that constants brought.
            let values = Values::new(config, &module.strings);
            let mut records = Vec::new();
            for (process, op) in trace {
                match record(op, process, &values, &module.strings) {
                    Ok(value) => records.push(value),
                    Err(error) => problems.push(Problem::new(format!("an operation of {process}: {error}"))),
                }
            }
            let trace = Value::seq(records);
            config.give(TRACE, LiteralKind::Computed(trace.clone()));
            given.push((TRACE.to_owned(), trace));
        }
        if problems.is_empty() { Ok(given) } else { Err(problems) }
    }
}

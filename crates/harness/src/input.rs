//! Calls with their arguments: in steps of the specification, and in lines of scripts.
//!
//! A step of the specification is the outcome of a call. Its parameters are the arguments of the call and its results, as in
//! the [plan](crate::Plan). A script has the call without its results: `Enqueue elem=1`, with values in JSON.

use std::collections::BTreeMap;
use std::fmt;

use omnilink_history::format::jsonl::{read_value_of, write_value_of};
use omnilink_history::{Call as Operation, Value as Recorded};
use omnilink_settings::Settings;
use omnilink_suggest::counted;
use omnilink_tla::machine::{Label, Machine, State};
use omnilink_tla::program::Program;
use omnilink_tla::value::Value;
use omnilink_validate::recorded;

use crate::calls::{PROCESS, find_nil};
use crate::lost::Lost;
use crate::plan::{Argument, Call, Plan};
use crate::values::{Literal, Source};

/// A call with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Input {
    /// Its name in the plan.
    pub call: String,
    /// The process that makes it, if the specification names processes.
    pub process: Option<Recorded>,
    /// Its arguments, by the names in the plan.
    pub arguments: BTreeMap<String, Recorded>,
}

/// A step of the specification: an outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeStep {
    /// The call.
    pub input: Input,
    /// The recorded name of the outcome.
    pub outcome: String,
    /// Its results, by recorded name.
    pub results: BTreeMap<String, Recorded>,
}

/// Reads steps of the specification as outcomes of calls.
#[derive(Debug)]
pub struct StepReader<'p> {
    program: &'p Program,
    plan: &'p Plan,
    settings: &'p Settings,
    /// The value that stands for the absence of a value, which is null in an answer.
    nil: Option<Value>,
    /// The processes that can make a call in an initial state, in order. They are the threads of a script.
    processes: Vec<Recorded>,
}

impl<'p> StepReader<'p> {
    /// Reads the steps of a machine, which has these initial states.
    pub fn new(
        machine: &mut Machine<'p>,
        initial: &[State],
        plan: &'p Plan,
        settings: &'p Settings,
    ) -> Result<StepReader<'p>, Lost> {
        let nil = find_nil(machine, settings);
        let mut reader = StepReader { program: machine.program(), plan, settings, nil, processes: Vec::new() };
        let mut processes = Vec::new();
        for state in initial {
            for (label, _) in machine.labelled_successors(state)? {
                processes.extend(reader.read(&label)?.and_then(|step| step.input.process));
            }
        }
        processes.sort_unstable();
        processes.dedup();
        reader.processes = processes;
        Ok(reader)
    }

    /// The thread of a script that makes a call. A process that can make none in an initial state comes after the others.
    pub fn thread(&mut self, input: &Input) -> usize {
        let Some(process) = &input.process else { return 0 };
        let known = self.processes.iter().position(|known| known == process);
        known.unwrap_or_else(|| {
            self.processes.push(process.clone());
            self.processes.len() - 1
        })
    }

    /// The call with all arguments, as a script needs it: those that an outcome does not have are the first of their source.
    pub fn completed(&self, mut input: Input) -> Input {
        let call = self.plan.calls.iter().find(|call| call.name == input.call);
        for argument in call.iter().flat_map(|call| &call.arguments) {
            let name = &argument.field.name;
            if !input.arguments.contains_key(name) {
                input.arguments.insert(name.clone(), first(&argument.source));
            }
        }
        input
    }

    /// The process that a thread of a script stands for; `None` if the specification names none.
    pub(crate) fn process(&self, thread: usize) -> Result<Option<Recorded>, String> {
        match self.processes.get(thread) {
            None if self.processes.is_empty() => Ok(None),
            None => Err(format!(
                "`T{thread}` is no process of the specification: in its initial states, {} can make a call",
                counted(self.processes.len() as u64, "process")
            )),
            process => Ok(process.cloned()),
        }
    }

    /// Whether the system takes steps by itself.
    pub(crate) fn has_internal(&self) -> bool {
        !self.settings.internal.is_empty()
    }

    /// Whether the system takes the steps of an action by itself, or no call of the harness does.
    pub(crate) fn is_internal(&self, action: &str) -> bool {
        self.settings.internal.iter().any(|internal| internal == action)
            || self.plan.unsupported.iter().any(|left| left.action == action)
    }

    /// The call and the outcome of a step; `None` for a step that the system takes by itself.
    pub fn read(&self, label: &Label) -> Result<Option<OutcomeStep>, Lost> {
        if self.is_internal(&label.name) {
            return Ok(None);
        }
        let strings = &self.program.module.strings;
        let value = |value: &Value| match self.nil.as_ref() == Some(value) {
            true => Recorded::Nil,
            false => recorded(value, strings),
        };
        let args = label.args.iter().map(|(param, of)| (param.as_str(), value(of)));
        self.step(self.recorded_name(&label.name), args).map(Some)
    }

    /// The call and the outcome of an operation that a process recorded; `None` if the system takes the step by itself. The
    /// operation has its recorded names, or those of the specification, as in behaviors of the specification.
    pub(crate) fn answered(&self, operation: &Operation, process: &str) -> Result<Option<OutcomeStep>, Lost> {
        let action = operation.action();
        if self.is_internal(action) {
            return Ok(None);
        }
        let name = if self.plan.outcome(action).is_some() { action } else { self.recorded_name(action) };
        let (_, outcome) = self.plan.outcome(name).ok_or_else(|| Lost::Action(action.to_owned()))?;
        let nil = self.recorded_nil();
        let value = |value: &Recorded| if nil.as_ref() == Some(value) { Recorded::Nil } else { value.clone() };
        let schema = operation.schema();
        // A field without a name counts by its place.
        let args = schema.args.iter().zip(operation.args()).enumerate().map(|(place, (name, of))| {
            let known = outcome.arguments.get(place).filter(|_| name.is_empty());
            (known.map_or(&**name, |(_, known)| known.as_str()), value(of))
        });
        let results = schema.results.iter().zip(operation.results()).enumerate().map(|(place, (name, of))| {
            let known = outcome.results.get(place).filter(|_| name.is_empty());
            (known.map_or(&**name, |known| known.name.as_str()), value(of))
        });
        let mut answered = self.step(name, args.chain(results))?;
        if answered.input.process.is_none() && self.has_process(name) {
            let number = process.parse().map(Recorded::Int);
            answered.input.process = Some(number.unwrap_or_else(|_| Recorded::str(process)));
        }
        Ok(Some(answered))
    }

    /// A value of a variable as a system reports it: null stands for the absence of a value.
    pub(crate) fn reported(&self, value: &Value) -> Recorded {
        self.with_null(&recorded(value, &self.program.module.strings))
    }

    /// A value with null for each part that is the absence of a value.
    pub(crate) fn with_null(&self, value: &Recorded) -> Recorded {
        with_null(value, self.recorded_nil().as_ref())
    }

    /// The value that stands for the absence of a value, as it is recorded.
    fn recorded_nil(&self) -> Option<Recorded> {
        self.nil.as_ref().map(|nil| recorded(nil, &self.program.module.strings))
    }

    /// Whether the action of an outcome has a parameter that is the process.
    fn has_process(&self, outcome: &str) -> bool {
        let action = self.settings.mapping(outcome).action.unwrap_or_else(|| outcome.to_owned());
        let operation = self.program.operation(&action);
        operation.is_some_and(|operation| operation.params.iter().any(|param| self.is_process(&param.name)))
    }

    fn is_process(&self, param: &str) -> bool {
        match &self.settings.process {
            Some(process) => process == param,
            None => PROCESS.contains(&param),
        }
    }

    /// The name under which an action is recorded.
    fn recorded_name<'a>(&'a self, action: &'a str) -> &'a str {
        let renamed = self.settings.operations.iter().find(|(_, mapping)| mapping.action.as_deref() == Some(action));
        renamed.map_or(action, |(name, _)| name)
    }

    /// The call with an outcome of this recorded name.
    fn step<'a>(&self, name: &str, args: impl Iterator<Item = (&'a str, Recorded)>) -> Result<OutcomeStep, Lost> {
        let mapping = self.settings.mapping(name);
        let (call, outcome) = self.plan.outcome(name).ok_or_else(|| Lost::Action(name.to_owned()))?;
        let mut input = Input { call: call.name.clone(), process: None, arguments: BTreeMap::new() };
        let mut results = BTreeMap::new();
        for (param, value) in args.filter(|(param, _)| !mapping.any.iter().any(|any| any == param)) {
            let field = mapping.fields.iter().find(|(_, name)| *name == param).map_or(param, |(field, _)| field);
            let argument = outcome.arguments.iter().find(|(_, name)| name == field);
            if let Some((place, _)) = argument {
                input.arguments.insert(call.arguments[*place].field.name.clone(), value);
            } else if outcome.results.iter().any(|result| result.name == field) {
                results.insert(field.to_owned(), value);
            } else if self.is_process(param) {
                input.process = Some(value);
            }
        }
        Ok(OutcomeStep { input, outcome: outcome.action.clone(), results })
    }
}

/// A value with null for each part that is this one.
fn with_null(value: &Recorded, nil: Option<&Recorded>) -> Recorded {
    let part = |part: &Recorded| with_null(part, nil);
    match value {
        _ if nil == Some(value) => Recorded::Nil,
        Recorded::Tuple(parts) => Recorded::tuple(parts.iter().map(part)),
        Recorded::Set(set) => Recorded::set(set.elements().iter().map(part)),
        Recorded::Function(function) => {
            let pairs = function.pairs().iter().map(|(argument, value)| (part(argument), part(value)));
            Recorded::function(pairs).unwrap_or_else(|| value.clone())
        }
        other => other.clone(),
    }
}

impl Input {
    /// Whether a call is this one: an outcome need not have all arguments.
    pub(crate) fn fits(&self, call: &Input) -> bool {
        self.call == call.call
            && self.process == call.process
            && self.arguments.iter().all(|(name, value)| call.arguments.get(name) == Some(value))
    }

    /// Reads a line of a script, without its thread.
    pub fn read(text: &str, plan: &Plan) -> Result<Input, String> {
        let (name, mut rest) = split_word(text.trim());
        let call = plan.calls.iter().find(|call| call.name == name).ok_or_else(|| {
            let known: Vec<&str> = plan.calls.iter().map(|call| &*call.name).collect();
            format!("unrecognized call `{name}` (expected `{}`)", known.join("`, `"))
        })?;
        let mut input = Input { call: name.to_owned(), process: None, arguments: BTreeMap::new() };
        while !rest.is_empty() {
            let (name, value, after) = read_argument(rest)?;
            if !call.arguments.iter().any(|argument| argument.field.name == name) {
                return Err(format!("`{}` has no argument `{name}`", call.name));
            }
            if input.arguments.insert(name.to_owned(), value).is_some() {
                return Err(format!("`{name}` occurs twice"));
            }
            rest = after;
        }
        match missing(call, &input) {
            Some(argument) => Err(format!("`{}` needs the argument `{}`", call.name, argument.field.name)),
            None => Ok(input),
        }
    }
}

/// As in a script, without the thread: `Enqueue elem=1`.
impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.call)?;
        self.arguments.iter().try_for_each(|(name, value)| {
            // A value that JSON cannot express is one that no harness has.
            write!(f, " {name}={}", write_value_of(value).unwrap_or_else(|_| value.to_string()))
        })
    }
}

/// An argument that a call needs.
fn missing<'c>(call: &'c Call, input: &Input) -> Option<&'c Argument> {
    call.arguments.iter().find(|argument| !input.arguments.contains_key(&argument.field.name))
}

/// The first value of a source.
fn first(source: &Source) -> Recorded {
    match source {
        Source::Fresh => Recorded::Int(0),
        Source::Range(low, _) => Recorded::Int(*low),
        Source::OneOf(of) => of.first().map_or(Recorded::Nil, of_literal),
    }
}

fn of_literal(literal: &Literal) -> Recorded {
    match literal {
        Literal::Boolean(truth) => Recorded::Bool(*truth),
        Literal::Integer(number) => Recorded::Int(*number),
        Literal::String(text) => Recorded::Str(text.as_str().into()),
        Literal::Sequence(elements) => Recorded::Tuple(elements.iter().map(of_literal).collect()),
        Literal::Nothing => Recorded::Nil,
    }
}

fn split_word(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

/// Reads `name=value` from the beginning of a text. Returns the rest.
fn read_argument(text: &str) -> Result<(&str, Recorded, &str), String> {
    let split = text.split_once('=').filter(|(name, _)| !name.is_empty() && !name.contains(char::is_whitespace));
    let (name, after) = split.ok_or_else(|| format!("expected an argument such as `key=1`, found `{text}`"))?;
    let mut values = serde_json::Deserializer::from_str(after).into_iter::<serde::de::IgnoredAny>();
    let read = values.next().unwrap_or(Ok(serde::de::IgnoredAny));
    let end = values.byte_offset();
    read.map_err(|_| format!("expected a value in JSON as `{name}`, found `{after}`"))?;
    let rest = &after[end..];
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
        return Err(format!("expected a space after `{name}={}`, found `{rest}`", &after[..end]));
    }
    Ok((name, read_value_of(&after[..end])?, rest.trim_start()))
}

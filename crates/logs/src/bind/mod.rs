//! The meaning of each event of a log: the steps that it may be, with all values of the log translated.
//!
//! Rules that fit an event and have a meaning of their own are its *alternatives*; rules without one add their
//! conditions to each of them. An event that no rule gives a meaning is the action of its name, with its arguments by
//! place or by name. An event without a name is any step.

mod action;
mod clock;
mod event;
mod lost;
mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use omnilink_history::format::json::Json;
use omnilink_tla::error::EvalError;
use omnilink_tla::ir::VarId;
use omnilink_tla::machine::{At, Machine};
use omnilink_tla::program::{Operation, Program};
use omnilink_tla::source::Site;
use omnilink_tla::value::Value;
use omnilink_validate::Problem;
use smallvec::SmallVec;

use self::lost::Lost;
use crate::line::{Cut, File, Line};
use crate::mapping::{Expr, Mapping, Param, Source};
use crate::order::EventOrder;
use crate::path::Path;
use crate::problem::Failure;
use crate::update::Update;
use crate::values::Values;

/// An event of a log, as the specification sees it.
#[derive(Debug, Clone)]
pub struct Event {
    /// The file of its line.
    pub file: usize,
    /// The number of its line.
    pub line: usize,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its process.
    pub process: usize,
    /// Its arguments, as JSON; the name is empty for an argument by place.
    pub args: Vec<(String, String)>,
    /// Its other fields, as JSON.
    pub fields: Vec<(String, String)>,
    /// The steps that it may be.
    pub(crate) alternatives: Vec<Alternative>,
    /// The changes of variables that it logs.
    pub(crate) updates: Vec<(VarId, Vec<Update>)>,
    /// Variables that it leaves unchanged.
    pub(crate) kept: Vec<VarId>,
    /// The event, for conditions on unlogged steps before it.
    pub(crate) context: Arc<Context>,
    /// For each `[[log.unlogged]]` the values of its arguments that are paths, `None` where the event has none.
    pub(crate) paths: Vec<Vec<Option<Value>>>,
    /// The values that it mentions, and the events that its conditions may read.
    pub(crate) mentions: Vec<Value>,
}

impl Event {
    /// The values that rules compare with variables after the step of the event: a variable, with indices if it is a part
    /// of one, such as `term["n1"]`, and the logged value. Leaves out other expressions.
    pub fn told(&self, program: &Program) -> Vec<(String, String)> {
        let module = &program.module;
        let conditions = self.alternatives.first().map_or(&[][..], |alternative| &alternative.after);
        let told = conditions.iter().filter_map(|condition| {
            let text = module.sources.words(condition.left.expr.site).trim();
            let text = condition.left.with_values(text, &module.strings);
            let head = text.split(|char: char| !char.is_alphanumeric() && char != '_').next().unwrap_or_default();
            let rest = &text[head.len()..];
            let is_part =
                rest.is_empty() || (rest.starts_with(['[', '.']) && !rest.contains(['\\', '|', '(', '\'', ' ']));
            let is_variable = module.variables.iter().any(|variable| variable.name == head);
            let [value] = &condition.expected[..] else { return None };
            (is_part && is_variable).then(|| (text.clone(), value.display(&module.strings).to_string()))
        });
        told.collect()
    }
}

/// A step that an event may be.
#[derive(Debug, Clone)]
pub(crate) struct Alternative {
    pub(crate) meaning: Steps,
    /// The arguments by name.
    pub(crate) args: Vec<(String, BoundArg)>,
    pub(crate) before: Vec<BoundCondition>,
    pub(crate) after: Vec<BoundCondition>,
    pub(crate) steps: Vec<BoundExpr>,
    pub(crate) until: Option<BoundExpr>,
}

/// The steps of an alternative; actions are indices into [`Bound::actions`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Steps {
    /// None: the state stays the same.
    Skip,
    /// Any step of the next-state relation.
    Any,
    /// A step of an action, with arguments by place.
    Action(usize, Args),
    /// Steps of these actions, one after the other.
    Sequence(Vec<usize>),
    /// One or more steps of an action.
    Repeat(usize),
}

/// Arguments by place; `None` if unknown.
pub(crate) type Args = SmallVec<[Option<Value>; 3]>;

#[derive(Debug, Clone)]
pub(crate) enum BoundArg {
    Value(Value),
    Chosen { set: BoundExpr, filter: Option<BoundExpr> },
}

/// An expression with the values of its parameters, except those of arguments that are chosen in each state.
#[derive(Debug, Clone)]
pub(crate) struct BoundExpr {
    pub(crate) expr: Expr,
    args: Vec<Slot>,
}

#[derive(Debug, Clone)]
enum Slot {
    Value(Value),
    Chosen(String),
}

impl BoundExpr {
    /// Its text, with names replaced by their values.
    fn with_values(&self, text: &str, strings: &omnilink_tla::strings::Strings) -> String {
        let value = |word: &str| {
            let params = self.expr.params.iter().zip(&self.args);
            let is_named = |param: &Param| matches!(param, Param::Name(name) | Param::Field(name) if name == word);
            params.filter(|(param, _)| is_named(param)).find_map(|(_, slot)| match slot {
                Slot::Value(value) => Some(value.display(strings).to_string()),
                Slot::Chosen(_) => None,
            })
        };
        let is_of_word = |char: char| char.is_alphanumeric() || char == '_';
        let mut out = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let end = match is_of_word(first) {
                true => rest.find(|char| !is_of_word(char)).unwrap_or(rest.len()),
                false => first.len_utf8(),
            };
            let (word, after) = rest.split_at(end);
            out += &value(word).unwrap_or_else(|| word.to_owned());
            rest = after;
        }
        out
    }

    /// The values of its parameters, as far as they do not depend on the state.
    pub(crate) fn known(&self) -> Vec<Option<&Value>> {
        let values = self.args.iter().map(|slot| if let Slot::Value(value) = slot { Some(value) } else { None });
        values.collect()
    }

    /// The values of its parameters, given the chosen arguments.
    pub(crate) fn values(&self, chosen: &[(String, Value)]) -> Vec<Value> {
        let value = |slot: &Slot| match slot {
            Slot::Value(value) => value.clone(),
            Slot::Chosen(name) => {
                let found = chosen.iter().find(|(known, _)| known == name);
                found.map_or(Value::Bool(false), |(_, value)| value.clone())
            }
        };
        self.args.iter().map(value).collect()
    }
}

/// A condition with its expected values: one of these.
#[derive(Debug, Clone)]
pub(crate) struct BoundCondition {
    pub(crate) left: BoundExpr,
    pub(crate) expected: Vec<Value>,
    /// The place of the right side.
    pub(crate) right: Site,
    /// Whether the right side is a path of the event.
    is_path: bool,
}

impl BoundCondition {
    /// The text of both sides. A path of the event has a prefix, because variables and fields have the same names.
    pub(crate) fn texts(&self, sources: &omnilink_tla::source::Sources) -> [String; 2] {
        let right = sources.words(self.right);
        let prefix = if self.is_path && !right.starts_with("e.") && !right.starts_with('[') { "e." } else { "" };
        [sources.words(self.left.expr.site).to_owned(), format!("{prefix}{right}")]
    }
}

/// The names that the expressions of an event may use.
#[derive(Debug, Clone, Default)]
pub(crate) struct Context {
    event: Option<Value>,
    previous: Option<Value>,
    begin: Option<Value>,
}

/// A log bound to a specification.
#[derive(Debug, Clone)]
pub struct Bound {
    /// The events.
    pub events: Vec<Event>,
    /// The names of the processes.
    pub processes: Vec<String>,
    /// The order of the events.
    pub order: EventOrder,
    pub(crate) actions: Vec<Operation>,
    pub(crate) unlogged: Vec<BoundUnlogged>,
    /// Conditions on the initial state.
    pub(crate) init: Vec<BoundCondition>,
    /// Variables that begin with other values than in the specification.
    pub(crate) starts: Vec<(VarId, Value)>,
    /// The value of a key that is reset.
    pub(crate) reset: Value,
    /// Variables that change only in events that say so.
    pub(crate) complete: Vec<(VarId, Site)>,
    /// Events that are known to be missing.
    pub(crate) lost: Vec<Lost>,
    /// Notes that are not problems.
    pub notes: Vec<String>,
}

/// Steps that are not in the log.
#[derive(Debug, Clone)]
pub(crate) struct BoundUnlogged {
    pub(crate) actions: Vec<usize>,
    pub(crate) before: omnilink_settings::log::Names,
    /// Arguments that the event before which they happen has, by name.
    pub(crate) args: Vec<(String, Source)>,
    pub(crate) step: Option<Expr>,
    pub(crate) max: u32,
    pub(crate) needed: bool,
    /// The only event before which they happen.
    pub(crate) only: Option<usize>,
}

impl BoundUnlogged {
    /// Whether such a step may be directly before an event, which has this number.
    pub(crate) fn may_precede(&self, number: usize, event: &Event) -> bool {
        let name = event.name.as_deref().unwrap_or_default();
        (self.before.0.is_empty() || self.before.contains(name)) && self.only.is_none_or(|only| only == number)
    }

    /// Whether such a step may be possible before one event and not before another one.
    pub(crate) fn is_specific(&self) -> bool {
        let Self { before, args, step, needed, only, .. } = self;
        !before.0.is_empty() || !args.is_empty() || step.is_some() || *needed || only.is_some()
    }
}

/// The maximum number of problems to report at once.
const MOST_PROBLEMS: usize = 10;

/// Binds the events of a log.
pub(crate) struct Binder<'m, 'p> {
    pub(crate) mapping: &'m Mapping,
    pub(crate) machine: &'m mut Machine<'p>,
    pub(crate) program: &'p Program,
    pub(crate) values: Values,
    pub(crate) files: &'m [File],
    actions: Vec<Operation>,
    names: BTreeMap<String, usize>,
    processes: Vec<String>,
    previous: BTreeMap<usize, Value>,
    /// Processes without lines that vector clocks name.
    missing: Vec<String>,
    notes: Vec<String>,
}

/// An event before it is bound.
struct Raw<'l> {
    line: &'l Line,
    root: &'l Json,
    name: Option<String>,
    process: usize,
}

/// The first event of a span that has not ended.
struct Open {
    place: usize,
    process: usize,
    name: String,
    root: Json,
}

impl<'m, 'p> Binder<'m, 'p> {
    pub(crate) fn new(
        mapping: &'m Mapping,
        machine: &'m mut Machine<'p>,
        values: Values,
        files: &'m [File],
    ) -> Binder<'m, 'p> {
        let program = machine.program();
        Binder {
            mapping,
            machine,
            program,
            values,
            files,
            actions: Vec::new(),
            names: BTreeMap::new(),
            processes: Vec::new(),
            previous: BTreeMap::new(),
            missing: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Binds all lines.
    pub(crate) fn bind(mut self, lines: &[&Line], cuts: &[Cut]) -> Result<Bound, Failure> {
        self.name_values()?;
        let mut raws = Vec::new();
        for line in lines {
            let Some(root) = self.mapping.root.as_ref().map_or(Some(&line.json), |root| root.find(&line.json)) else {
                continue;
            };
            let name = self.mapping.event.as_ref().and_then(|path| find(path, root, line));
            let name = name.map(text_of);
            let process = match &self.mapping.process {
                None => stem(&self.files[line.file].name),
                Some(path) => match find(path, root, line) {
                    Some(json) => text_of(json),
                    None => {
                        let problem = Problem::new(format!("{} has no field `{path}`, the process", self.place(line)));
                        return Err(problem.into());
                    }
                },
            };
            let process = self.processes.iter().position(|known| *known == process).unwrap_or_else(|| {
                self.processes.push(process);
                self.processes.len() - 1
            });
            raws.push(Raw { line, root, name, process });
        }
        if let Some(path) = &self.mapping.event
            && !raws.is_empty()
            && raws.iter().all(|raw| raw.name.is_none())
        {
            self.notes.push(format!("no event has the name `{path}`: each may be any step"));
        }
        let (boot, rest) = self.bootstrap(raws);
        let mut init = Vec::new();
        for raw in &boot {
            let context = self.context(raw, None);
            for condition in &self.mapping.bootstrap {
                init.push(self.condition(condition, &context, raw, &[])?);
            }
        }
        let starts = self.starts(&boot)?;
        for condition in &self.mapping.init {
            init.push(self.initial_condition(condition)?);
        }
        let (mut events, mut clocks, mut problems) = (Vec::new(), Vec::new(), Vec::new());
        let (mut open, mut said) = (Vec::<Open>::new(), BTreeSet::new());
        for raw in &rest {
            match self.event(raw, &mut open, events.len()) {
                Ok((event, clock)) => {
                    events.extend(event);
                    clocks.extend(clock);
                }
                Err(Failure::Problems(more)) => {
                    let place = self.place(raw.line);
                    for problem in more {
                        // The same mistake in another line is not a new problem.
                        let words = problem.message.strip_prefix(&place).unwrap_or(&problem.message).to_owned();
                        if said.insert((words, problem.place.clone())) {
                            problems.push(problem);
                        }
                    }
                }
                Err(other) => return Err(other),
            }
            if problems.len() >= MOST_PROBLEMS {
                break;
            }
        }
        if !problems.is_empty() {
            return Err(Failure::Problems(problems));
        }
        let unlogged = self.unlogged()?;
        let complete = self.complete(&mut events);
        let order = self.order(&events, &clocks)?;
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(order.notes.iter().cloned());
        let lost = Lost::find(&events, &order, &self.processes, self.files.len(), cuts, &self.missing);
        let reset = self.values.null.clone().unwrap_or_else(|| Value::Str(self.program.module.strings.str("null")));
        Ok(Bound {
            events,
            processes: self.processes,
            order,
            actions: self.actions,
            unlogged,
            init,
            starts,
            reset,
            complete,
            lost,
            notes,
        })
    }

    /// The values that variables begin with.
    fn starts(&mut self, boot: &[Raw<'_>]) -> Result<Vec<(VarId, Value)>, Failure> {
        let strings = &self.program.module.strings;
        let mut pairs = Vec::new();
        for raw in boot {
            let process = self.mapping.process.as_ref().and_then(|path| find(path, raw.root, raw.line));
            let key = match process {
                Some(json) => self.translate(json),
                None => Value::Str(strings.str(&self.processes[raw.process])),
            };
            pairs.push((key, self.translate(raw.root)));
        }
        let boot = Value::pairs(pairs).map_err(|error| Problem::new(error.message.clone()))?;
        let mut starts = Vec::new();
        for (variable, expr) in &self.mapping.starts {
            let args = vec![boot.clone(); expr.params.len()];
            starts.push((*variable, self.machine.apply_operator(expr.def, &args, At::Nowhere)?));
        }
        Ok(starts)
    }

    /// Gives strings and `null` their values.
    fn name_values(&mut self) -> Result<(), Failure> {
        for (string, expr) in &self.mapping.values {
            let value = self.machine.apply_operator(expr.def, &[], At::Nowhere)?;
            self.values.named.insert(string.clone(), value);
        }
        if let Some(expr) = &self.mapping.null {
            self.values.null = Some(self.machine.apply_operator(expr.def, &[], At::Nowhere)?);
        }
        Ok(())
    }

    /// The last bootstrap event of each process, and the events after those.
    fn bootstrap<'l>(&self, raws: Vec<Raw<'l>>) -> (Vec<Raw<'l>>, Vec<Raw<'l>>) {
        let processes = self.processes.len();
        let names = &self.mapping.settings.init.bootstrap;
        let mut last: Vec<Option<Raw<'l>>> = (0..processes).map(|_| None).collect();
        let mut is_over = vec![names.0.is_empty(); processes];
        let mut rest = Vec::new();
        for raw in raws {
            let process = raw.process;
            let is_bootstrap = raw.name.as_deref().is_some_and(|name| names.contains(name));
            is_over[process] |= !is_bootstrap;
            match is_over[process] {
                true => rest.push(raw),
                false => last[process] = Some(raw),
            }
        }
        (last.into_iter().flatten().collect(), rest)
    }

    fn context(&mut self, raw: &Raw<'_>, begin: Option<Value>) -> Context {
        let event = self.values.translate(raw.root, &self.program.module.strings);
        let previous = self.previous.insert(raw.process, event.clone());
        Context { event: Some(event), previous, begin }
    }

    fn place(&self, line: &Line) -> String {
        match self.files.get(line.file) {
            Some(file) if line.number > 0 => format!("{} line {}", file.name, line.number),
            _ => "the initial state".to_owned(),
        }
    }
}

impl Alternative {
    fn new(meaning: Steps) -> Alternative {
        Alternative { meaning, args: Vec::new(), before: Vec::new(), after: Vec::new(), steps: Vec::new(), until: None }
    }

    /// An event that is not a step.
    pub(crate) fn skip() -> Alternative {
        Alternative::new(Steps::Skip)
    }

    /// Adds the conditions of another one.
    fn conjoin(&mut self, other: Alternative) {
        for (name, arg) in other.args {
            if !self.args.iter().any(|(known, _)| *known == name) {
                self.args.push((name, arg));
            }
        }
        self.before.extend(other.before);
        self.after.extend(other.after);
        self.steps.extend(other.steps);
        self.until = self.until.take().or(other.until);
    }
}

/// An expression for unlogged steps before an event: the values of its parameters, if the event has them.
pub(crate) fn context_args(expr: &Expr, event: &Event, strings: &omnilink_tla::strings::Strings) -> Option<Vec<Value>> {
    let value = |param: &Param| match param {
        Param::Event => event.context.event.clone(),
        Param::Previous => event.context.previous.clone(),
        Param::Begin => event.context.begin.clone(),
        Param::Boot => None,
        Param::Field(name) => event.context.event.as_ref()?.field(&strings.str(name)).ok().cloned(),
        Param::Name(_) => None,
    };
    expr.params.iter().map(value).collect()
}

/// Whether an expression has no value because it reads a field or an index that the event lacks. Any other expression
/// without a value is a mistake.
pub(crate) fn lacks(event: &Event, error: &EvalError) -> bool {
    let Context { event, previous, begin } = &*event.context;
    let values = || [event, previous, begin].into_iter().flatten();
    error.applied.as_ref().is_some_and(|applied| values().any(|value| value.has_part(applied)))
}

/// The value at a path of an event, or of its line.
fn find<'l>(path: &Path, root: &'l Json, line: &'l Line) -> Option<&'l Json> {
    path.find(root).or_else(|| path.find(&line.json))
}

/// A name or a similar value as text.
fn text_of(json: &Json) -> String {
    match json {
        Json::Text(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The name of a file without directories and extension.
fn stem(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.split('.').next().unwrap_or(name).to_owned()
}

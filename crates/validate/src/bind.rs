//! Maps each recorded operation to a step of the specification.
//!
//! An operation `Dequeue` with a field `elem` is the action `Dequeue(elem)`: actions are found by name, and so are
//! parameters. Names are resolved once for each [`Schema`], and all mistakes are reported before the search starts.
//! Then the values of each operation are translated, and checked against the sets that the next-state relation takes
//! them from.
//!
//! An operation may take several steps: any number of `Put_Step(..)` and then `Put_Done(..)`, if the specification has
//! these two and no `Put`. An unfinished operation has no recorded result: the result may be any element of its set,
//! and the operation may be any of the actions that its name lists (`Dequeue|DequeueEmpty`). A failed operation had no
//! effect. A companion module overrides each of these rules with an operator that takes the operation as a record:
//! `OnPut(op)`, `OnUnfinished(op)`, `OnFailed(op)`, and `OnEnd(process)` for steps of a process after its last
//! operation.

use std::cell::RefCell;
use std::sync::Arc;

use hashbrown::HashMap;
use omnilink_history::{Call, Op, OpId, Outcome, ProcessId, Schema};
use omnilink_settings::{Mapping, Settings};
use omnilink_tla::datum::brief;
use omnilink_tla::ir::{ExprLevel, VarId};
use omnilink_tla::machine::Machine;
use omnilink_tla::program::{Key, Operation, Program, Touch};
use omnilink_tla::value::Value;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::companion;
use crate::problem::Problem;
use crate::record::record;
use crate::values::{Untranslatable, Values};

/// The action of the operations that represent the end of a process.
pub(crate) const END: &str = companion::END;

/// Parameters that mean the process unless the settings name others.
const PROCESS: [&str; 3] = ["process", "self", "pid"];

/// Definitions that mean no value unless the settings name others.
const NIL: [&str; 4] = ["Nil", "NULL", "None", "Null"];

/// An operation as the specification sees it.
#[derive(Debug, Clone)]
pub struct TraceOp {
    /// Its number in the history. Operations that differ in it alone behave the same.
    pub id: OpId,
    pub(crate) step: Arc<BoundStep>,
}

/// The effect of an operation, shared by all operations with the same effect.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BoundStep {
    pub(crate) action: u32,
    pub(crate) args: Args,
    pub(crate) is_observer: bool,
    /// True if it happens where the action is not enabled, and changes nothing.
    pub(crate) is_blocked: bool,
    /// What it reads and writes; `None` if unknown.
    footprint: Option<Box<[Place]>>,
}

/// A part of the state that an operation reads or writes.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    variable: VarId,
    /// The index in it; `None` if it may be any.
    key: Option<Value>,
    writes: bool,
    /// Whether every step writes it, with a value that does not depend on the old one.
    is_blind: bool,
    keeps_domain: bool,
}

impl Place {
    fn meets(&self, other: &Place) -> bool {
        let is_anywhere = self.key.is_none() || other.key.is_none();
        self.variable == other.variable && (is_anywhere || self.key == other.key)
    }

    /// True if this write overwrites all of the other place.
    fn replaces(&self, other: &Place) -> bool {
        self.is_blind && self.variable == other.variable && (self.key.is_none() || self.key == other.key)
    }
}

impl BoundStep {
    /// True if neither reads what the other writes.
    pub(crate) fn commutes_with(&self, other: &BoundStep) -> bool {
        let (Some(ours), Some(theirs)) = (&self.footprint, &other.footprint) else { return false };
        !ours.iter().any(|a| theirs.iter().any(|b| a.meets(b) && (a.writes || b.writes)))
    }

    /// True if it reads nothing: its effect is the same in every state. Whether a function has an index is the same
    /// everywhere if no operation changes that.
    pub(crate) fn looks_at_nothing(&self, keeps_domain: impl Fn(VarId) -> bool) -> bool {
        let is_blind = |place: &Place| place.is_blind && (!place.keeps_domain || keeps_domain(place.variable));
        self.footprint.as_ref().is_some_and(|places| places.iter().all(is_blind))
    }

    /// True if this one, after the other, leads where it leads alone: it reads nothing that the other writes, and
    /// overwrites all of it. An index of a function is overwritten only if it exists, or if it is added, so an update
    /// counts only after operations that leave the domain alone.
    pub(crate) fn overwrites(&self, earlier: &BoundStep) -> bool {
        let (Some(ours), Some(theirs)) = (&self.footprint, &earlier.footprint) else { return false };
        theirs.iter().filter(|place| place.writes).all(|changed| {
            let is_replaced = |place: &Place| place.replaces(changed) && (!place.keeps_domain || changed.keeps_domain);
            ours.iter().any(is_replaced) && !ours.iter().any(|place| !place.writes && place.meets(changed))
        })
    }

    /// True if this one overwrites everything that the other reads, and reads nothing itself.
    pub(crate) fn determines(&self, later: &BoundStep) -> bool {
        let (Some(ours), Some(theirs)) = (&self.footprint, &later.footprint) else { return false };
        theirs.iter().filter(|place| !place.writes).all(|seen| ours.iter().any(|place| place.replaces(seen)))
    }
}

/// The values of parameters; `None` where any value is possible.
pub(crate) type Args = SmallVec<[Option<Value>; 3]>;

impl PartialEq for TraceOp {
    fn eq(&self, other: &TraceOp) -> bool {
        Arc::ptr_eq(&self.step, &other.step) || self.step == other.step
    }
}

impl Eq for TraceOp {}

/// The effect of an operation: a step of the specification, or several.
pub(crate) struct Action {
    /// The names of all parameters of all stages; an argument has the index of its parameter here.
    pub(crate) params: Vec<String>,
    origins: Vec<Origin>,
    pub(crate) stages: Vec<Stage>,
    /// The footprint of the only stage, if known and if nothing else happens.
    touches: Option<Vec<Touch>>,
}

/// One step that an operation may take.
pub(crate) struct Stage {
    pub(crate) operation: Operation,
    /// The indices of its arguments among those of the action.
    pub(crate) places: Vec<usize>,
    /// Whether they are those of the action, in the same order.
    takes_all: bool,
    /// True if the operation ends with it.
    pub(crate) is_last: bool,
}

/// The source of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Arg(usize),
    Result(usize),
    Process,
    /// The whole operation, as a record.
    Operation,
    Any,
}

/// The fields of an action that a recorded operation has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fields {
    All,
    /// It is unfinished, so it has no results.
    Arguments,
    /// It may also have been another action, so an argument may belong to that action only.
    SomeArguments,
}

/// True if it is unfinished or blocked.
fn has_no_results(op: &Op<Call>) -> bool {
    matches!(op.outcome(), Outcome::Unfinished | Outcome::Blocked)
}

/// Turns recorded operations into steps of one specification.
pub struct Binder<'p> {
    program: &'p Program,
    settings: &'p Settings,
    pub(crate) values: Values,
    pub(crate) actions: Vec<Action>,
    known: HashMap<(Arc<Schema>, bool), Known, FxBuildHasher>, // By names, and whether it never finished.
    on_unfinished: Option<u32>,
    on_failed: Option<u32>,
    /// Actions that no operation records.
    pub(crate) internal: Vec<Operation>,
    /// Steps that operations have been bound to, by recorded values.
    steps: HashMap<StepKey, Arc<BoundStep>, FxBuildHasher>,
    /// The constants that get a value from the configuration or the trace.
    constants: Vec<String>,
    /// Parameters with a value outside their set, by action: reported once each.
    refused: Vec<(u32, String)>,
}

/// The inputs of a step: the action, the process if it matters, the recorded values, and whether it is blocked.
type StepKey = (u32, Option<ProcessId>, SmallVec<[omnilink_history::Value; 3]>, bool);

/// The number of cached steps. Larger than the number of distinct calls in most traces.
const MOST_STEPS: usize = 1 << 18;

#[derive(Clone, Copy)]
enum Known {
    Action(u32),
    /// No step: it had no effect, or it is wrong and was reported.
    Nothing,
}

impl<'p> Binder<'p> {
    /// Prepares to bind operations to a program.
    pub fn new(
        program: &'p Program,
        config: &omnilink_tla::config::Config,
        settings: &'p Settings,
        machine: &mut Machine<'_>,
    ) -> Result<Binder<'p>, Vec<Problem>> {
        let mut binder = Binder {
            program,
            settings,
            values: Values::new(config, &program.module.strings),
            actions: Vec::new(),
            known: HashMap::default(),
            on_unfinished: None,
            on_failed: None,
            internal: Vec::new(),
            steps: HashMap::default(),
            constants: config.constants.iter().map(|assignment| assignment.name.text.clone()).collect(),
            refused: Vec::new(),
        };
        let mut problems = Vec::new();
        binder.find_nil(machine, &mut problems);
        let mut companion = |name| {
            let action = binder.companion(name, Origin::Operation, &mut problems);
            action.map(|action| binder.keep(action))
        };
        (binder.on_unfinished, binder.on_failed) = (companion("OnUnfinished"), companion("OnFailed"));
        for name in &settings.internal {
            match program.operation(name) {
                Some(operation) => binder.internal.push(operation),
                None => problems.push(binder.unknown(name, &format!("the settings name `{name}` an internal action"))),
            }
        }
        if problems.is_empty() { Ok(binder) } else { Err(problems) }
    }

    /// The bound operation; `None` if it had no effect and returned nothing.
    pub fn bind(
        &mut self,
        op: &Op<Call>,
        processes: &[Arc<str>],
        machine: &mut Machine<'_>,
    ) -> Result<Option<TraceOp>, Vec<Problem>> {
        let action = match self.action_of(op) {
            Some(Known::Action(action)) => action,
            Some(Known::Nothing) => return Ok(None),
            None => self.learn(op, processes)?,
        };
        let key = self.key(action, op);
        if let Some(step) = key.as_ref().and_then(|key| self.steps.get(key)) {
            return Ok(Some(TraceOp { id: op.id, step: step.clone() }));
        }
        let args = self.args(op, processes, action).map_err(|problem| vec![problem])?;
        for stage in &self.actions[action as usize].stages {
            let of_stage = stage.args(&args);
            let refused = match machine.admits(&stage.operation, &of_stage) {
                Ok(Ok(())) => None,
                Ok(Err(place)) => Some((place, "is not an element of that set".to_owned())),
                Err(error) => {
                    let is_meant = |(_, value): &(usize, &Option<Value>)| value.is_some();
                    let place = of_stage.iter().enumerate().find(is_meant).map_or(0, |(place, _)| place);
                    Some((place, error.message))
                }
            };
            if let Some((place, why)) = refused {
                let param = stage.operation.params.get(place).map_or(String::new(), |param| param.name.clone());
                let problem = self.refused(op, processes, action, stage, (&of_stage, place, &why), machine);
                if self.refused.contains(&(action, param.clone())) {
                    return Ok(None);
                }
                self.refused.push((action, param));
                return Err(vec![problem]);
            }
        }
        let step = Arc::new(self.step(action, args, op.call.blocked, machine));
        if let Some(key) = key {
            if self.steps.len() >= MOST_STEPS {
                self.steps.clear();
            }
            self.steps.insert(key, step.clone());
        }
        Ok(Some(TraceOp { id: op.id, step }))
    }

    /// The same for an operation that was bound before.
    pub(crate) fn bound(
        &self,
        op: &Op<Call>,
        processes: &[Arc<str>],
        machine: &RefCell<Machine<'_>>,
    ) -> Option<TraceOp> {
        let Some(Known::Action(action)) = self.action_of(op) else { return None };
        let known = self.key(action, op).and_then(|key| self.steps.get(&key));
        let step = match known {
            Some(step) => step.clone(),
            None => {
                let args = self.args(op, processes, action).ok()?;
                Arc::new(self.step(action, args, op.call.blocked, &mut machine.borrow_mut()))
            }
        };
        Some(TraceOp { id: op.id, step })
    }

    /// The cached binding of operations like this one.
    fn action_of(&self, op: &Op<Call>) -> Option<Known> {
        let overriding = match (op.call.failed, op.outcome() == Outcome::Unfinished) {
            (true, _) if self.on_failed.is_none() => return Some(Known::Nothing),
            (true, _) => self.on_failed,
            (false, true) => self.on_unfinished,
            (false, false) => None,
        };
        match overriding.filter(|_| op.call.action() != END) {
            Some(action) => Some(Known::Action(action)),
            None => self.known.get(&(op.call.schema().clone(), has_no_results(op))).copied(),
        }
    }

    /// The inputs of its step. A step that reads the whole operation is never shared.
    fn key(&self, action: u32, op: &Op<Call>) -> Option<StepKey> {
        let origins = &self.actions[action as usize].origins;
        (!origins.contains(&Origin::Operation)).then(|| {
            let process = origins.contains(&Origin::Process).then_some(op.process);
            let values = op.call.args().iter().chain(op.call.results()).cloned().collect();
            (action, process, values, op.call.blocked)
        })
    }

    /// The same operation with other values for some of its parameters, by place.
    pub(crate) fn with_args(&self, op: &TraceOp, args: Args, machine: &mut Machine<'_>) -> TraceOp {
        TraceOp { id: op.id, step: Arc::new(self.step(op.step.action, args, op.step.is_blocked, machine)) }
    }

    fn step(&self, action: u32, args: Args, is_blocked: bool, machine: &mut Machine<'_>) -> BoundStep {
        // Internal actions may come between, so an operation is more than its own step then.
        let is_observer = self.internal.is_empty()
            && match &*self.actions[action as usize].stages {
                _ if is_blocked => true,
                [stage] if stage.is_last => machine.never_changes(&stage.operation, &stage.args(&args)),
                _ => false,
            };
        // What it reads is known, but not that it writes nothing.
        let footprint = if is_blocked { None } else { self.footprint(action, &args) };
        BoundStep { action, args, is_observer, is_blocked, footprint }
    }

    fn footprint(&self, action: u32, args: &Args) -> Option<Box<[Place]>> {
        let action = &self.actions[action as usize];
        let place = |touch: &Touch| {
            let key = match &touch.key {
                // An unknown index may be any.
                Some(Key::Param(param)) => args[action.stages[0].places[*param]].clone(),
                Some(Key::Value(value)) => Some(value.clone()),
                None => None,
            };
            let is_blind = touch.is_blind && (key.is_some() || touch.key.is_none());
            let Touch { variable, writes, keeps_domain, .. } = *touch;
            Place { variable, key, writes, is_blind, keeps_domain }
        };
        action.touches.as_ref().map(|touches| touches.iter().map(place).collect())
    }

    /// True if no operation seen so far changes the domain of a variable.
    pub(crate) fn keeps_domain(&self, variable: VarId) -> bool {
        let keeps = |touch: &Touch| touch.variable != variable || !touch.writes || touch.keeps_domain;
        self.actions.iter().all(|action| action.touches.as_ref().is_some_and(|touches| touches.iter().all(keeps)))
    }

    /// The parameters of an operation that are results, by place.
    pub(crate) fn results(&self, op: &TraceOp) -> Vec<usize> {
        let origins = self.actions[op.step.action as usize].origins.iter().enumerate();
        origins.filter(|(_, origin)| matches!(origin, Origin::Result(_))).map(|(place, _)| place).collect()
    }

    /// Resolves the operations of a schema, and caches the result. Reports an error the first time, if they are not
    /// valid.
    fn learn(&mut self, op: &Op<Call>, processes: &[Arc<str>]) -> Result<u32, Vec<Problem>> {
        let schema = op.call.schema();
        let mut problems = Vec::new();
        let is_unfinished = has_no_results(op);
        let first = omnilink_history::name(processes, op.process, op.index);
        let action = self.resolve(schema, is_unfinished, &first, &mut problems);
        let takes_steps = |action: u32| self.actions[action as usize].stages.iter().any(|stage| !stage.is_last);
        if op.call.blocked && action.is_some_and(takes_steps) {
            let message = format!("{first} is blocked, and `{}` takes several steps", schema.action);
            let help = "which of the steps it took is unknown; give it no outcome instead: it is unfinished then";
            problems.push(Problem::new(message).help(help.to_owned()));
        }
        let known = action.map_or(Known::Nothing, Known::Action);
        self.known.insert((schema.clone(), is_unfinished), known);
        action.filter(|_| problems.is_empty()).ok_or(problems)
    }

    fn resolve(
        &mut self,
        schema: &Schema,
        is_unfinished: bool,
        first: &str,
        problems: &mut Vec<Problem>,
    ) -> Option<u32> {
        if *schema.action == *END {
            return self.companion(END, Origin::Arg(0), problems).map(|action| self.keep(action));
        }
        let outcomes: Vec<&str> = schema.outcomes().filter(|_| is_unfinished).collect();
        let [_, _, ..] = &*outcomes else {
            let fields = if is_unfinished { Fields::Arguments } else { Fields::All };
            return self.resolve_one(schema, fields, first, problems).map(|action| self.keep(action));
        };
        // Each outcome is resolved on its own; then the stages of all are those of one action, and every last one ends
        // it.
        let mut all = Action { params: Vec::new(), origins: Vec::new(), stages: Vec::new(), touches: None };
        for name in outcomes {
            let outcome = Schema { action: name.into(), args: schema.args.clone(), results: Vec::new() };
            let action = self.resolve_one(&outcome, Fields::SomeArguments, first, problems)?;
            let shift = all.params.len();
            all.params.extend(action.params);
            all.origins.extend(action.origins);
            all.stages.extend(action.stages.into_iter().map(|stage| Stage {
                places: stage.places.iter().map(|place| place + shift).collect(),
                takes_all: false,
                ..stage
            }));
        }
        Some(self.keep(all))
    }

    /// The action of this name.
    fn resolve_one(
        &self,
        schema: &Schema,
        recorded: Fields,
        first: &str,
        problems: &mut Vec<Problem>,
    ) -> Option<Action> {
        let mapping = self.settings.mapping(&schema.action);
        let name = mapping.action.as_deref().unwrap_or(&schema.action);
        for name in companion::operators(name) {
            if let Some(action) = self.companion(&name, Origin::Operation, problems) {
                return Some(action);
            }
        }
        let part = |suffix: &str| self.program.operation(&format!("{name}{suffix}"));
        let operations = match (self.program.operation(name), part("_Step"), part("_Done")) {
            (Some(once), ..) => vec![(once, true)],
            (None, Some(step), Some(done)) => vec![(step, false), (done, true)],
            (None, None, Some(done)) => vec![(done, true)],
            (None, ..) => {
                let subject = match &mapping.action {
                    Some(action) => format!("the settings say that `{}` is `{action}`", schema.action),
                    None => format!("{first} is called `{}`", schema.action),
                };
                problems.push(self.unknown(name, &subject));
                return None;
            }
        };
        let mut action = Action { params: Vec::new(), origins: Vec::new(), stages: Vec::new(), touches: None };
        for (operation, is_last) in operations {
            let names = operation.params.iter().map(|param| param.name.clone());
            let places = names.map(|name| action.place(name)).collect();
            action.stages.push(Stage { operation, places, takes_all: false, is_last });
        }
        for stage in &mut action.stages {
            stage.takes_all = stage.places.iter().copied().eq(0..action.params.len());
        }
        let before = problems.len();
        self.origins(&mut action, schema, &mapping, problems, (first, recorded));
        (problems.len() == before).then_some(action)
    }

    /// Finds the source of each parameter's value.
    fn origins(
        &self,
        action: &mut Action,
        schema: &Schema,
        mapping: &Mapping,
        problems: &mut Vec<Problem>,
        (first, recorded): (&str, Fields),
    ) {
        let args = schema.args.iter().enumerate().map(|(index, name)| (name, Origin::Arg(index)));
        let results = schema.results.iter().enumerate().map(|(index, name)| (name, Origin::Result(index)));
        let mut fields: Vec<(&str, Origin)> = Vec::new();
        let mut positional = Vec::new();
        for (name, origin) in args.chain(results) {
            match &**name {
                "" => positional.push(origin),
                name if mapping.ignore.iter().any(|ignored| ignored == name) => {}
                name => fields.push((mapping.fields.get(name).map_or(name, String::as_str), origin)),
            }
        }
        let mut positional = positional.into_iter();
        let mut missing: Vec<&str> = Vec::new();
        for param in &action.params {
            let named = fields.iter().position(|(name, _)| name == param);
            let origin = match named {
                Some(place) => fields.remove(place).1,
                None if mapping.any.contains(param) => Origin::Any,
                None if self.is_process(param) => Origin::Process,
                None => match positional.next() {
                    Some(origin) => origin,
                    // The results of an unfinished operation are unknown.
                    None if recorded != Fields::All => Origin::Any,
                    None => {
                        missing.push(param);
                        Origin::Any
                    }
                },
            };
            action.origins.push(origin);
        }
        let site = self.program.definition(action.stages[0].operation.def).site;
        let head = self.program.module.sources.words(site).split("==").next().unwrap_or("").trim();
        let label = format!("the action `{head}`");
        for name in missing {
            let mut known = fields.iter().map(|(field, _)| *field);
            let field = omnilink_suggest::closest(name, known.clone()).or(known.next());
            let help = match field {
                Some(field) => format!(
                    "if the field `{field}` is meant, write `fields = {{ {field} = \"{name}\" }}` under `[operations.{}]` in omnilink.toml",
                    schema.action
                ),
                None => format!(
                    "record it, or write `any = [\"{name}\"]` under `[operations.{}]` in omnilink.toml if it can be anything",
                    schema.action
                ),
            };
            let message = format!("{first} `{}` has no field for the parameter `{name}`", schema.action);
            problems.push(Problem::new(message).at(site, &label).help(help));
        }
        if recorded == Fields::SomeArguments {
            return;
        }
        let unused = fields.iter().map(|(name, _)| format!("the field `{name}`"));
        for field in unused.chain(positional.map(|_| "a field more than the action has parameters".to_owned())) {
            let message = format!("{first} `{}` has {field}, which no parameter takes", schema.action);
            let help = format!(
                "make it a parameter, or list it under `ignore` of `[operations.{}]` in omnilink.toml",
                schema.action
            );
            problems.push(Problem::new(message).at(site, &label).help(help));
        }
    }

    fn is_process(&self, param: &str) -> bool {
        match &self.settings.process {
            Some(process) => process == param,
            None => PROCESS.contains(&param),
        }
    }

    fn args(&self, op: &Op<Call>, processes: &[Arc<str>], action: u32) -> Result<Args, Problem> {
        let strings = &self.program.module.strings;
        let process = || &*processes[op.process.index()];
        let name = || omnilink_history::name(processes, op.process, op.index);
        let action = &self.actions[action as usize];
        let mut args = Args::new();
        for (place, origin) in action.origins.iter().enumerate() {
            let recorded = match *origin {
                Origin::Arg(index) => op.call.args().get(index),
                Origin::Result(index) => op.call.results().get(index),
                Origin::Any => None,
                Origin::Process => {
                    args.push(Some(self.values.process(process(), strings)));
                    continue;
                }
                Origin::Operation => {
                    let record = record(op, process(), &self.values, strings);
                    args.push(Some(record.map_err(|error| Problem::new(format!("{}: {error}", name())))?));
                    continue;
                }
            };
            let translated = recorded.map(|value| self.values.translate(value, strings)).transpose();
            let wrong = |error: Untranslatable| {
                let help = "define `Nil`, or name the value of `null` as `nil = \"Empty\"` in omnilink.toml".to_owned();
                let (action, param) = (op.call.action(), &action.params[place]);
                Problem::new(format!("{} `{action}`: the field for `{param}`: {error}", name()))
                    .help((error == Untranslatable::Nil).then_some(help))
            };
            args.push(translated.map_err(wrong)?);
        }
        // An unknown value must come from a known set.
        for stage in &action.stages {
            for (param, &place) in stage.operation.params.iter().zip(&stage.places) {
                if args[place].is_none() && param.set.is_none() {
                    let site = self.program.definition(stage.operation.def).site;
                    let message = format!(
                        "{} `{}` has no value for `{}`, and the next-state relation does not take it from a set",
                        name(),
                        op.call.action(),
                        param.name
                    );
                    let help = "record it, or say in the companion's `OnUnfinished(op)` what the operation may do";
                    return Err(Problem::new(message).at(site, "this action").help(help.to_owned()));
                }
            }
        }
        Ok(args)
    }

    fn refused(
        &self,
        op: &Op<Call>,
        processes: &[Arc<str>],
        action: u32,
        stage: &Stage,
        (args, place, why): (&[Option<Value>], usize, &str),
        machine: &mut Machine<'_>,
    ) -> Problem {
        let Some(param) = stage.operation.params.get(place) else {
            let site = self.program.definition(stage.operation.def).site;
            let message =
                format!("`{}` never happens: `Next` takes a name around it from an empty set", stage.operation.name);
            return Problem::new(message).at(site, "defined here");
        };
        let value = args[place].as_ref().map(|value| value.display(&self.program.module.strings).to_string());
        let name = omnilink_history::name(processes, op.process, op.index);
        let message =
            format!("{name} `{}`: `{}` is {}", op.call.action(), param.name, value.unwrap_or_else(|| "unknown".into()));
        match &param.set {
            Some((set, site)) => {
                let origin = self.actions[action as usize].origins[stage.places[place]];
                let help = self.feeding(set, op.call.schema(), origin);
                let elements = self.shown(set, machine).map_or(String::new(), |elements| format!(" = {elements}"));
                Problem::new(format!("{message}, which is not in `{set}`{elements}")).at(*site, why).help(help)
            }
            None => Problem::new(format!("{message}: {why}")),
        }
    }

    /// The value of a set that `Next` names, in a few words; `None` if it is another expression, or depends on a state.
    fn shown(&self, set: &str, machine: &mut Machine<'_>) -> Option<String> {
        let &def = self.program.module.names.get(set)?;
        let definition = self.program.definition(def);
        if !definition.params.is_empty() || definition.level != ExprLevel::Constant {
            return None;
        }
        let elements = machine.evaluate_definition(def, None).ok()?;
        Some(brief(machine, &elements))
    }

    /// How to extend a set by the recorded value.
    fn feeding(&self, set: &str, schema: &Schema, origin: Origin) -> String {
        let field = |names: &[Arc<str>], index: usize| names.get(index).filter(|name| !name.is_empty()).cloned();
        let feed = match origin {
            Origin::Arg(index) => field(&schema.args, index).map(|field| format!("{}.{field}", schema.action)),
            Origin::Result(index) => field(&schema.results, index).map(|field| format!("{}.{field}", schema.action)),
            Origin::Process => Some("process".to_owned()),
            Origin::Operation | Origin::Any => None,
        };
        let known: Vec<String> =
            self.settings.constants.get(set).into_iter().flatten().map(|feed| format!("{feed}")).collect();
        match (self.constants.iter().any(|constant| constant == set), feed) {
            (true, Some(feed)) if known.contains(&feed) => {
                format!("`{feed}` feeds `{set}` already, without recorded nulls: let `Next` take them from another set")
            }
            (true, Some(feed)) => {
                let all: Vec<String> = known.into_iter().chain([feed]).map(|feed| format!("\"{feed}\"")).collect();
                format!(
                    "widen `{set}` in the configuration, or feed it from the recording: write `{set} = [{}]` \
                     under `[constants]` in omnilink.toml",
                    all.join(", ")
                )
            }
            (true, None) => format!("widen `{set}` in the configuration"),
            (false, _) => "widen the constants that it is made from in the configuration, or feed them from the \
                           recording: `[constants]` in omnilink.toml"
                .to_owned(),
        }
    }

    /// An operator of the companion that takes one argument.
    fn companion(&self, name: &str, origin: Origin, problems: &mut Vec<Problem>) -> Option<Action> {
        self.settings.companion.as_ref()?;
        let operation = self.program.free_operation(name)?;
        if operation.params.len() != 1 {
            let site = self.program.definition(operation.def).site;
            let message = format!("expected `{name}` to take one parameter, found {}", operation.params.len());
            problems.push(Problem::new(message).at(site, "defined here"));
            return None;
        }
        let params = vec![operation.params[0].name.clone()];
        let stages = vec![Stage { operation, places: vec![0], takes_all: true, is_last: true }];
        Some(Action { params, origins: vec![origin], stages, touches: None })
    }

    fn keep(&mut self, mut action: Action) -> u32 {
        // A constraint may exclude the state between two steps in one order and not in the other.
        let is_free = self.program.constraints.is_empty() && self.program.action_constraints.is_empty();
        if let [stage] = &*action.stages
            && is_free
            && self.internal.is_empty()
        {
            action.touches = self.program.footprint(&stage.operation);
        }
        self.actions.push(action);
        self.actions.len() as u32 - 1
    }

    fn unknown(&self, name: &str, subject: &str) -> Problem {
        let module = &self.program.module;
        let names = self.program.operation_names();
        let next = self.program.next.map(|next| module.exprs.site(next));
        let help = omnilink_suggest::hint(name, names.iter().map(String::as_str));
        let help = help.or_else(|| {
            let made_of = (!names.is_empty()).then(|| format!("it is made of {}", quoted(&names)));
            let operator = self.settings.companion.as_ref().and_then(|_| companion::advice(name));
            let help: Vec<String> = made_of.into_iter().chain(operator).collect();
            (!help.is_empty()).then(|| help.join("; "))
        });
        match (module.names.get(name), next) {
            (Some(def), _) => {
                let message = format!("{subject}, but `{name}` is not part of the next-state relation");
                let site = module.definitions[def.0 as usize].site;
                Problem::new(message).at(site, "defined, but not reached from `Next`").help(help)
            }
            (None, Some(next)) => {
                let message = format!("{subject}, but the specification has no action of that name");
                Problem::new(message).at(next, "the next-state relation").help(help)
            }
            (None, None) => Problem::new(format!("{subject}, but the specification has no next-state relation")),
        }
    }

    fn find_nil(&mut self, machine: &mut Machine<'_>, problems: &mut Vec<Problem>) {
        let module = &self.program.module;
        let def = match &self.settings.nil {
            Some(name) => {
                let def = module.names.get(name);
                if def.is_none() {
                    let help = omnilink_suggest::hint(name, module.names.keys().map(String::as_str));
                    let message = format!("the settings name `{name}` for no value, and the module does not define it");
                    problems.push(Problem::new(message).help(help));
                }
                def
            }
            None => NIL.iter().find_map(|name| module.names.get(*name)),
        };
        let is_plain = |def: &&omnilink_tla::ir::DefId| module.definitions[def.0 as usize].params.is_empty();
        if let Some(&def) = def.filter(is_plain) {
            match machine.evaluate_definition(def, None) {
                Ok(omnilink_tla::datum::Datum::Value(value)) => self.values.nil = Some(value),
                Ok(_) => {}
                Err(error) => problems.push(Problem::new(format!("no value: {error}"))),
            }
        }
    }
}

impl Action {
    fn place(&mut self, name: String) -> usize {
        let known = self.params.iter().position(|param| *param == name);
        known.unwrap_or_else(|| {
            self.params.push(name);
            self.params.len() - 1
        })
    }
}

impl Stage {
    /// The arguments of this stage among those of the action.
    pub(crate) fn args<'a>(&self, args: &'a [Option<Value>]) -> std::borrow::Cow<'a, [Option<Value>]> {
        match self.takes_all {
            true => args.into(),
            false => self.places.iter().map(|&place| args[place].clone()).collect(),
        }
    }
}

fn quoted(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(12).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > shown.len() { ", ..." } else { "" };
    shown.join(", ") + more
}

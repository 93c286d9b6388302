//! Finds the calls of a system in the actions of its specification.
//!
//! Actions are grouped by name: `DequeueEmpty` is another outcome of `Dequeue`, and `Put_Step` and `Put_Done` are
//! the steps of one `Put`. Settings take precedence. The process parameter is not an argument, since the harness
//! records the process itself. All problems are reported at once.

use omnilink_settings::Settings;
use omnilink_tla::datum::{self, Datum, World};
use omnilink_tla::ir::{DefId, ExprLevel};
use omnilink_tla::machine::Machine;
use omnilink_tla::program::{Operation, Program};
use omnilink_tla::source::Site;
use omnilink_tla::value::Value;
use omnilink_validate::Problem;

use crate::plan::{Argument, Call, Field, Outcome, Plan, Repeated, Unsupported, file_name, names_set, place};
use crate::results::results;
use crate::values::{self, ANY, Known, Source, Type};

/// Parameters that are the process unless the settings name another.
pub(crate) const PROCESS: [&str; 3] = ["process", "self", "pid"];

/// Definitions that represent the absence of a value unless the settings name another.
const NIL: [&str; 4] = ["Nil", "NULL", "None", "Null"];

/// The maximum number of arguments or results of one recorded call.
const MOST: usize = 8;

/// A world without files, environment or output.
struct NullWorld;

impl World for NullWorld {}

/// An action as recorded: one operator, or the two that are its steps.
struct Action {
    name: String,
    operations: Vec<Operation>,
    site: Site,
}

/// A parameter of an action.
struct Param {
    name: String,
    kind: Option<Type>,
    all: Option<Vec<values::Literal>>,
    /// The set over which it is quantified, as written.
    set: Option<(String, Site)>,
    /// True if the set contains whatever integers are drawn.
    is_open: bool,
    is_result: bool,
}

/// An argument of a call.
struct Drawn {
    call: String,
    argument: String,
    /// The field that is recorded.
    field: String,
    /// The set it is taken from, as written.
    set: String,
    /// True if the set contains whatever integers are drawn, and the settings give it no source.
    is_open: bool,
    /// True if that would be so if the set were a constant with values from the history.
    could_be_open: bool,
}

impl Plan {
    /// Reads the calls of a system from the next-state relation of its specification.
    pub fn new(program: &Program, settings: &Settings) -> Result<Plan, Vec<Problem>> {
        let mut planner = Planner {
            program,
            settings,
            machine: Machine::new(program, Box::new(NullWorld)),
            nil: None,
            drawn: Vec::new(),
            returned: Vec::new(),
            processes: Vec::new(),
            problems: Vec::new(),
        };
        planner.nil = find_nil(&mut planner.machine, settings);
        let spec = program.module.sources.iter().next().map(|(_, source)| file_name(&source.name)).unwrap_or_default();
        let plan = planner.plan(spec);
        if planner.problems.is_empty() { Ok(plan) } else { Err(planner.problems) }
    }
}

struct Planner<'p> {
    program: &'p Program,
    settings: &'p Settings,
    machine: Machine<'p>,
    nil: Option<Value>,
    drawn: Vec<Drawn>,
    /// The sets that results are taken from, as written, and the recorded fields.
    returned: Vec<(String, String)>,
    /// The sets that processes are taken from, as written.
    processes: Vec<String>,
    problems: Vec<Problem>,
}

impl Planner<'_> {
    fn plan(&mut self, spec: String) -> Plan {
        let mut actions = self.actions();
        let mut unsupported = Vec::new();
        for name in &self.settings.harness.unsupported {
            match actions.iter().position(|action| action.name == *name) {
                Some(index) => {
                    let action = actions.remove(index);
                    unsupported.push(Unsupported { place: place(self.program, action.site), action: action.name });
                }
                None => self.unknown(name, "`unsupported`"),
            }
        }
        if actions.is_empty() && self.problems.is_empty() {
            let message = "the next-state relation has no action that a harness could call";
            let place = self.program.next.map(|next| (self.program.module.exprs.site(next), "this".to_owned()));
            let help = "a harness calls the actions that `omnilink spec actions` lists, but for those that `internal` \
                        and `unsupported` name";
            self.problems.push(Problem { place, ..Problem::new(message).help(help.to_owned()) });
        }
        let mut calls = Vec::new();
        for (name, outcomes) in self.group(&actions) {
            calls.extend(self.call(name, &outcomes));
        }
        let repeated = self.refresh(&mut calls);
        self.check_names(&calls);
        Plan { spec, calls, unsupported, repeated, taken: self.taken() }
    }

    /// The actions of the next-state relation that can be calls, in order.
    fn actions(&mut self) -> Vec<Action> {
        let mut actions: Vec<Action> = Vec::new();
        for action in &self.program.actions {
            let name = action.operation.map(|def| self.program.definition(def).name.clone()).unwrap_or_default();
            if self.settings.internal.contains(&name) {
                continue;
            }
            let Some(operation) = self.program.operation(&name) else {
                let message = "an action of the next-state relation has no name of its own".to_owned();
                let help = "make it a definition, so that it has a name to record".to_owned();
                self.problems.push(Problem::new(message).at(action.site, "this action").help(help));
                continue;
            };
            let stem = ["_Step", "_Done"].iter().find_map(|suffix| name.strip_suffix(suffix));
            let stem = stem.filter(|stem| self.program.operation(&format!("{stem}_Done")).is_some());
            let name = stem.unwrap_or(&name);
            match actions.iter_mut().find(|known| known.name == name) {
                Some(known) if known.operations.iter().all(|other| other.def != operation.def) => {
                    known.operations.push(operation);
                }
                Some(_) => {}
                None => {
                    let site = self.program.definition(operation.def).site;
                    actions.push(Action { name: name.to_owned(), operations: vec![operation], site });
                }
            }
        }
        actions
    }

    /// Groups actions by call, the first outcome first.
    fn group<'a>(&mut self, actions: &'a [Action]) -> Vec<(String, Vec<&'a Action>)> {
        let said = &self.settings.harness.calls;
        for (name, call) in said {
            let is_known = |outcome: &String| actions.iter().any(|action| action.name == *outcome);
            let unknown = call.outcomes.iter().filter(|outcome| !is_known(outcome)).cloned();
            let alone = (call.outcomes.is_empty() && !is_known(name)).then(|| name.clone());
            for outcome in unknown.chain(alone).collect::<Vec<_>>() {
                self.unknown(&outcome, &format!("`[harness.calls.{name}]`"));
            }
        }
        let reached = self.program.operation_names();
        let call_of = |action: &Action| {
            if let Some((call, _)) = said.iter().find(|(_, call)| call.outcomes.contains(&action.name)) {
                return call.clone();
            }
            if said.contains_key(&action.name) {
                return action.name.clone();
            }
            // Including definitions made of actions, such as `Insert == InsertNew \/ InsertOld`.
            let shorter = actions.iter().map(|other| &other.name).chain(&reached);
            let is_own = |name: &String| {
                said.get(name).is_some_and(|call| !call.outcomes.is_empty())
                    || said.values().any(|call| call.outcomes.contains(name))
            };
            let shorter = shorter.filter(|name| extends(&action.name, name) && !is_own(name));
            shorter.min_by_key(|name| name.len()).unwrap_or(&action.name).clone()
        };
        let mut calls: Vec<(String, Vec<&Action>)> = Vec::new();
        for action in actions {
            let name = call_of(action);
            match calls.iter_mut().find(|(call, _)| *call == name) {
                Some((_, outcomes)) => outcomes.push(action),
                None => calls.push((name, vec![action])),
            }
        }
        for (name, outcomes) in &mut calls {
            // In the order of the settings, or else the action named like the call first.
            let listed = said.get(name).map(|call| &*call.outcomes).unwrap_or_default();
            let rank = |action: &&Action| listed.iter().position(|outcome| *outcome == action.name);
            outcomes.sort_by_key(|action| (rank(action), action.name != *name));
        }
        calls
    }

    fn call(&mut self, name: String, actions: &[&Action]) -> Option<Call> {
        let params: Vec<Vec<Param>> = actions.iter().map(|action| self.params(action)).collect();
        let said = self.settings.harness.calls.get(&name).and_then(|call| call.results.as_ref());
        let all = || params.iter().flatten();
        for result in said.into_iter().flatten() {
            if !all().any(|param| param.name == *result) {
                let message =
                    format!("the settings list `{result}` as a result of `{name}`, which has no such parameter");
                self.problems.push(Problem::new(message).at(actions[0].site, "this action"));
            }
        }
        let is_result = |param: &Param| match said {
            Some(results) => results.contains(&param.name),
            None => all().any(|other| other.name == param.name && other.is_result),
        };
        let mut arguments: Vec<Argument> = Vec::new();
        let mut outcomes = Vec::new();
        for (action, params) in actions.iter().zip(&params) {
            let recorded = self.recorded(&action.name);
            let mapping = self.settings.mapping(&recorded);
            let field = |param: &Param| {
                let field = mapping.fields.iter().find(|(_, name)| **name == param.name);
                field.map_or(&param.name, |(field, _)| field).clone()
            };
            let place = place(self.program, action.site);
            let mut outcome = Outcome { action: recorded, arguments: Vec::new(), results: Vec::new(), place };
            for param in params.iter().filter(|param| !mapping.any.contains(&param.name)) {
                if is_result(param) {
                    let recorded = format!("{}.{}", outcome.action, field(param));
                    self.returned.extend(param.set.iter().map(|(words, _)| (words.clone(), recorded.clone())));
                    outcome.results.push(Field { name: field(param), ..param.field(Type::Integer) });
                    continue;
                }
                let known = arguments.iter().position(|argument| argument.field.name == param.name);
                let index = match known {
                    Some(index) => index,
                    None => {
                        arguments.push(self.argument(&name, action, param)?);
                        arguments.len() - 1
                    }
                };
                outcome.arguments.push((index, field(param)));
            }
            if outcome.arguments.len().max(outcome.results.len()) > MOST {
                let message = format!("`{}` has more than {MOST} arguments or results", action.name);
                let help = "the recorders support no more; list it under `unsupported` of `[harness]`".to_owned();
                self.problems.push(Problem::new(message).at(action.site, "this action").help(help));
            }
            outcomes.push(outcome);
        }
        let weight = self.settings.harness.weights.get(&name).copied().unwrap_or(1);
        Some(Call { name, weight, arguments, outcomes })
    }

    /// The source of an argument's values.
    fn argument(&mut self, call: &str, action: &Action, param: &Param) -> Option<Argument> {
        let name = format!("{call}.{}", param.name);
        let problem = |message: String, help: String| {
            let (site, label) = match &param.set {
                Some((words, site)) => (*site, format!("`{}` is taken from `{words}`", param.name)),
                None => (action.site, "this action".to_owned()),
            };
            Problem::new(message).at(site, label).help(help)
        };
        let say =
            format!("set the source of its values: `\"{name}\" = \"0..7\"` under `[harness.values]` in omnilink.toml");
        let values = self.settings.harness.values.get(&name);
        if let Some((set, _)) = &param.set {
            let (call, argument, set) = (call.to_owned(), param.name.clone(), set.clone());
            let field = format!("{}.{argument}", self.recorded(&action.name));
            let is_open = param.is_open && values.is_none();
            let could_be_open = !param.is_open && values.is_none() && param.kind == Some(Type::Integer);
            self.drawn.push(Drawn { call, argument, field, set, is_open, could_be_open });
        }
        if let Some(values) = values {
            match values::given(values) {
                Ok((_, given)) if param.kind.as_ref().is_some_and(|kind| !fits(&given, kind)) => {
                    let kind = param.kind.as_ref().expect("a kind was compared");
                    let message = format!("the settings give `{name}` values of type {given}, expected {kind}");
                    self.problems.push(problem(message, "change one to match the other".into()));
                }
                Ok((source, given)) => {
                    let kind = param.kind.clone().unwrap_or(given);
                    let field = Field { name: param.name.clone(), kind, guessed_from: None };
                    return Some(Argument { field, source });
                }
                Err(error) => {
                    self.problems.push(problem(format!("invalid `{name}` in `[harness.values]`: {error}"), say));
                }
            }
            return None;
        }
        let source = match (&param.all, &param.kind) {
            (Some(all), _) => values::of_list(all.clone()),
            (None, Some(Type::Integer)) => ANY,
            (None, None) if param.set.is_some() => ANY,
            (None, Some(Type::Boolean)) => {
                Source::OneOf(vec![values::Literal::Boolean(false), values::Literal::Boolean(true)])
            }
            (None, Some(kind)) => {
                let message = format!("`{name}` of type {kind} has too many values to draw from");
                let say = format!("list some: `\"{name}\" = [..]` under `[harness.values]` in omnilink.toml");
                self.problems.push(problem(message, say));
                return None;
            }
            (None, None) => {
                self.problems.push(problem(format!("no set in `Next` determines the values of `{name}`"), say));
                return None;
            }
        };
        Some(Argument { field: param.field(Type::Integer), source })
    }

    /// Makes the values of an argument unique in a run if its set is open, no other argument is taken from that set,
    /// and a result is. A set from which a second argument is taken may be one of keys, which must meet again. Returns
    /// the arguments for which only the set is in the way.
    fn refresh(&self, calls: &mut [Call]) -> Vec<Repeated> {
        let mut repeated = Vec::new();
        for drawn in self.drawn.iter().filter(|drawn| drawn.is_open || drawn.could_be_open) {
            let is_alone = self.drawn.iter().filter(|other| names_set(&other.set, &drawn.set)).count() == 1;
            let mut returned = self.returned.iter().filter(|(words, _)| names_set(words, &drawn.set)).peekable();
            if !is_alone || returned.peek().is_none() {
                continue;
            }
            if drawn.could_be_open {
                let argument = format!("{}.{}", drawn.call, drawn.argument);
                let fields = std::iter::once(drawn.field.clone()).chain(returned.map(|(_, field)| field.clone()));
                repeated.push(Repeated { fields: fields.collect(), argument, set: drawn.set.clone() });
                continue;
            }
            let arguments =
                calls.iter_mut().filter(|call| call.name == drawn.call).flat_map(|call| &mut call.arguments);
            for argument in arguments.filter(|argument| argument.field.name == drawn.argument) {
                argument.source = Source::Fresh;
            }
        }
        repeated
    }

    /// The recorded fields that are taken from each set.
    fn taken(&self) -> Vec<(String, String)> {
        let drawn = self.drawn.iter().map(|drawn| (drawn.set.clone(), drawn.field.clone()));
        let processes = self.processes.iter().map(|set| (set.clone(), "process".to_owned()));
        drawn.chain(self.returned.iter().cloned()).chain(processes).collect()
    }

    /// The parameters of an action, without the process.
    fn params(&mut self, action: &Action) -> Vec<Param> {
        let mut params: Vec<Param> = Vec::new();
        for operation in &action.operations {
            let results = results(self.program, operation);
            for (index, parameter) in operation.params.iter().enumerate() {
                if self.is_process(&parameter.name) {
                    self.processes.extend(parameter.set.iter().map(|(words, _)| words.clone()));
                    continue;
                }
                let is_result = results.contains(&index);
                if let Some(known) = params.iter_mut().find(|known| known.name == parameter.name) {
                    known.is_result |= is_result;
                    continue;
                }
                let known = match self.machine.constant_set(operation, index) {
                    Some(Ok(Datum::Value(value))) if !matches!(value, Value::Set(_)) => {
                        self.not_a_set(&value, &action.name, parameter);
                        Known::default()
                    }
                    Some(Ok(set)) => self.inspect(&set, &action.name, parameter),
                    Some(Err(_)) | None => Known::default(),
                };
                // The history provides the values of such a constant, so it contains those that are drawn.
                let is_given = |(set, _): &(String, Site)| self.settings.constants.contains_key(set);
                let is_open = known.has_naturals || parameter.set.as_ref().is_some_and(is_given);
                let is_integer = matches!(known.kind, None | Some(Type::Integer));
                params.push(Param {
                    name: parameter.name.clone(),
                    is_open: is_open && is_integer,
                    kind: known.kind,
                    all: known.all,
                    set: parameter.set.clone(),
                    is_result,
                });
            }
        }
        params
    }

    fn inspect(&mut self, set: &Datum, action: &str, parameter: &omnilink_tla::program::Parameter) -> Known {
        match values::inspect(&mut self.machine, set, self.nil.as_ref()) {
            Ok(known) => known,
            Err(what) => {
                let message =
                    format!("`{}` of `{action}` ranges over {what}, which a harness cannot draw", parameter.name);
                let place = parameter.set.as_ref().map(|(_, site)| (*site, "taken from this set".to_owned()));
                let help = match self.odd_one(set) {
                    Some(name) => {
                        format!("if `{name}` means no value, write `nil = \"{name}\"` in omnilink.toml")
                    }
                    None => format!(
                        "list `{action}` under `unsupported` of `[harness]` in omnilink.toml, or under `internal` if no \
                         call records it"
                    ),
                };
                self.problems.push(Problem { place, ..Problem::new(message).help(help) });
                Known::default()
            }
        }
    }

    /// A definition without parameters whose value is the only element that keeps a set from having one type.
    fn odd_one(&mut self, set: &Datum) -> Option<String> {
        let module = &self.program.module;
        let is_plain = |def: &DefId| {
            let definition = self.program.definition(*def);
            definition.params.is_empty() && definition.level == ExprLevel::Constant
        };
        let names: Vec<(&String, &DefId)> = module.names.iter().filter(|(_, def)| is_plain(def)).collect();
        let odd = names.into_iter().find(|(_, def)| {
            let Ok(Datum::Value(value)) = self.machine.evaluate_definition(**def, None) else { return false };
            let is_element = datum::contains(&mut self.machine, set, &Datum::Value(value.clone())).unwrap_or(false);
            is_element && values::inspect(&mut self.machine, set, Some(&value)).is_ok()
        });
        odd.map(|(name, _)| name.clone())
    }

    /// Reports a constant that should be a set and is not, usually because it was made a model value.
    fn not_a_set(&mut self, value: &Value, action: &str, parameter: &omnilink_tla::program::Parameter) {
        let Some((set, site)) = &parameter.set else { return };
        // The history provides the values.
        if self.settings.constants.contains_key(set) {
            return;
        }
        let value = value.display(&self.program.module.strings);
        let message =
            format!("`{}` of `{action}` is taken from `{set}`, which is `{value}`, not a set", parameter.name);
        let first = set.chars().find(|c| c.is_ascii_alphabetic()).map_or('e', |first| first.to_ascii_lowercase());
        let help = format!("make it a set in the configuration, such as `CONSTANT {set} = {{{first}1, {first}2}}`");
        self.problems.push(Problem::new(message).at(*site, "taken from this set").help(help));
    }

    fn is_process(&self, param: &str) -> bool {
        match &self.settings.process {
            Some(process) => process == param,
            None => PROCESS.contains(&param),
        }
    }

    /// The name under which an action is recorded.
    fn recorded(&self, action: &str) -> String {
        let mapped = self.settings.operations.iter().find(|(_, mapping)| mapping.action.as_deref() == Some(action));
        mapped.map_or(action, |(operation, _)| operation).to_owned()
    }

    /// Reports settings for calls and arguments that do not exist.
    fn check_names(&mut self, calls: &[Call]) {
        // A call that could not be planned was already reported.
        if !self.problems.is_empty() {
            return;
        }
        for name in self.settings.harness.weights.keys() {
            if !calls.iter().any(|call| call.name == *name) {
                self.no_call(name, "weights", calls);
            }
        }
        for name in self.settings.harness.values.keys() {
            let is_argument = |call: &Call| {
                let arguments = call.arguments.iter().map(|argument| format!("{}.{}", call.name, argument.field.name));
                arguments.into_iter().any(|argument| argument == *name)
            };
            if !calls.iter().any(is_argument) {
                self.no_call(name, "values", calls);
            }
        }
        if !calls.is_empty() && calls.iter().all(|call| call.weight == 0) {
            let message = "every call has weight 0, so none would ever be made".to_owned();
            self.problems.push(Problem::new(message));
        }
    }

    fn no_call(&mut self, name: &str, table: &str, calls: &[Call]) {
        let what = if table == "weights" { "a call" } else { "an argument of a call" };
        let message = format!("`[harness.{table}]` names `{name}`, which is not {what}");
        let hint = omnilink_suggest::hint(name, calls.iter().map(|call| call.name.as_str()));
        let all = || calls.iter().map(|call| format!("`{}`", call.name)).collect::<Vec<_>>().join(", ");
        let help = Some(hint.unwrap_or_else(|| format!("the calls are {}", all())));
        self.problems.push(Problem::new(message).help(help));
    }

    fn unknown(&mut self, name: &str, setting: &str) {
        let message = format!("{setting} names `{name}`, which is not an action of the next-state relation");
        let names = self.program.operation_names();
        let hint = omnilink_suggest::hint(name, names.iter().map(String::as_str));
        let help = hint.or_else(|| Some("`omnilink spec actions` lists them".to_owned()));
        self.problems.push(Problem::new(message).help(help));
    }
}

/// The value that stands for the absence of a value.
pub(crate) fn find_nil(machine: &mut Machine<'_>, settings: &Settings) -> Option<Value> {
    let program = machine.program();
    let names = &program.module.names;
    let def = match &settings.nil {
        Some(name) => names.get(name),
        None => NIL.iter().find_map(|name| names.get(*name)),
    };
    let def = *def.filter(|def| program.definition(**def).params.is_empty())?;
    match machine.evaluate_definition(def, None) {
        Ok(Datum::Value(value)) => Some(value),
        _ => None,
    }
}

impl Param {
    fn field(&self, otherwise: Type) -> Field {
        let guessed_from = match &self.kind {
            Some(_) => None,
            None => Some(self.set.as_ref().map(|(words, _)| words.clone()).unwrap_or_default()),
        };
        Field { name: self.name.clone(), kind: self.kind.clone().unwrap_or(otherwise), guessed_from }
    }
}

/// Whether values of one type are accepted where another is expected.
fn fits(given: &Type, expected: &Type) -> bool {
    match (given, expected) {
        (given, Type::Optional(of)) if !matches!(given, Type::Optional(_)) => fits(given, of),
        (Type::Sequence(given), Type::Sequence(of)) => fits(given, of),
        (given, expected) => given == expected,
    }
}

/// Whether a name is another one with a word added: `DequeueEmpty` and `Dequeue`, but not `Enqueue` and `Enq`.
fn extends(name: &str, shorter: &str) -> bool {
    let next = name.strip_prefix(shorter).and_then(|rest| rest.chars().next());
    next.is_some_and(|next| next.is_uppercase() || next.is_ascii_digit() || next == '_')
}

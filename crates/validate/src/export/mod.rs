//! Writes a history and its specification as a module that an unmodified TLC can check.
//!
//! The module extends the specification and adds one variable, `OL_pos`: the next operation of each process. Operations
//! are constants of the module, and times are ranks, because TLC's integers have 32 bits. In a step, a process takes
//! its next operation if the specification's action allows it and no other process has a remaining operation that ended
//! before it started. The invariant says that finished operations remain. TLC finds it violated exactly if the history
//! is accepted, and the counterexample is the order.
//!
//! The step also contains the constraints, the invariants and the `VIEW` of the specification, so the states of the
//! module are the configurations of the search, one for one. The export does not use the search.
//!
//! Arguments that `Next` takes from constant sets were checked when the operations were bound, so the module calls the
//! operator directly. For other arguments the module repeats the quantifiers of `Next`. If these depend on names that
//! are visible only in their own module, the result is a [`Problem`] and no module.

mod action;
mod config;
mod literal;

use std::collections::BTreeMap;
use std::fmt::Write;

use omnilink_history::{History, Op, OpId, Precedence};
use omnilink_tla::config::Config;
use omnilink_tla::ir::Body;
use omnilink_tla::program::{Program, Unwritten};

use crate::bind::TraceOp;
use crate::problem::Problem;
use crate::spec::TraceSpec;
use action::written_action;
use config::Constants;
use literal::{Literals, model_constant};

/// The prefix of every name that the module adds.
const PREFIX: &str = "OL_";

/// The invariant that TLC finds violated if the history is accepted.
pub const INVARIANT: &str = "OL_NotExplained";

/// A module that decides a history, and the files that it needs beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The name of the module.
    pub name: String,
    /// Its text.
    pub module: String,
    /// Its configuration.
    pub config: String,
    /// The modules of the specification: the name of each file, and its text.
    pub modules: Vec<(String, String)>,
}

/// The input of an export.
pub struct Exported<'a> {
    /// The bound history.
    pub history: &'a History<TraceOp>,
    /// The order between operations of different processes.
    pub precedence: Precedence,
    /// The configuration that the program was linked with.
    pub config: &'a Config,
    /// Describes an operation for a comment.
    pub describe: &'a dyn Fn(OpId) -> String,
}

/// Modules that TLC finds without another jar.
const STOCK: [&str; 8] = ["Naturals", "Integers", "Reals", "Sequences", "FiniteSets", "Bags", "TLC", "Randomization"];

/// Writes a history and its specification as a module for TLC.
pub fn export(spec: &TraceSpec<'_>, exported: &Exported<'_>) -> Result<Export, Vec<Problem>> {
    let program = spec.program;
    let module = &program.module;
    let mine = module.names.keys().chain(module.variables.iter().map(|variable| &variable.name));
    if let Some(name) = mine.into_iter().find(|name| name.starts_with(PREFIX)) {
        let message =
            format!("the specification defines `{name}`, and names that begin with `{PREFIX}` are needed here");
        return Err(vec![Problem::new(message)]);
    }
    if exported.history.ops().iter().any(|op| op.call.step.is_blocked) {
        return Err(vec![Problem::new("a history with blocked operations cannot be exported")]);
    }
    let writer = Writer { spec, program, exported, literals: Literals::new(&module.strings) };
    writer.export().map_err(|problem| vec![problem])
}

impl From<Unwritten> for Problem {
    fn from(error: Unwritten) -> Problem {
        let help = "a history can be exported if `Next` takes this from a set that any module can name";
        Problem::new(error.message).at(error.site, "this").help(help.to_owned())
    }
}

struct Writer<'a, 'p> {
    spec: &'a TraceSpec<'p>,
    program: &'a Program,
    exported: &'a Exported<'a>,
    literals: Literals<'a>,
}

/// The operations of one process.
struct Chain<'a> {
    name: &'a str,
    ops: Vec<&'a Op<TraceOp>>,
}

impl Writer<'_, '_> {
    fn export(mut self) -> Result<Export, Problem> {
        let history = self.exported.history;
        let mut chains: Vec<Chain<'_>> =
            history.processes().iter().map(|name| Chain { name, ops: Vec::new() }).collect();
        history.ops().iter().for_each(|op| chains[op.process.index()].ops.push(op));
        chains.retain(|chain| !chain.ops.is_empty());
        let (actions, operations) = self.operations(&chains)?;
        let internal = self.internal()?;
        let constants = Constants::new(self.exported.config, &mut self.literals)?;
        let init = self.program.written_init()?.unwrap_or_else(|| "TRUE".to_owned());
        let name = self.name();
        let mut out = self.head(&name);
        let root = &self.program.module.name;
        let _ = writeln!(out, "EXTENDS {root}, {}\n", self.extends()?.join(", "));
        if !self.literals.models.is_empty() {
            let models: Vec<String> = self.literals.models.iter().map(|name| model_constant(name)).collect();
            let _ = writeln!(out, "\\* Names for model values.\nCONSTANTS {}\n", models.join(", "));
        }
        out += &constants.definitions;
        out += &operations;
        let count = |count: &dyn Fn(&Chain<'_>) -> usize| {
            let counts: Vec<String> = chains.iter().map(|chain| count(chain).to_string()).collect();
            format!("<<{}>>", counts.join(", "))
        };
        let finished = count(&|chain: &Chain<'_>| chain.ops.iter().filter(|op| !op.interval.is_unfinished()).count());
        let _ = writeln!(out, "OL_Processes == 1 .. {}\n", chains.len());
        let _ = writeln!(out, "\\* How many operations each process has, and how many of them finished.");
        let _ =
            writeln!(out, "OL_Count == {}\nOL_Finished == {finished}\n", count(&|chain: &Chain<'_>| chain.ops.len()));
        let _ = writeln!(out, "VARIABLE OL_pos     \\* Which operation of each process is next.\n");
        out += &actions;
        self.steps(&internal, &init, count(&|_: &Chain<'_>| 1), &mut out);
        out.push_str("====\n");
        let config = constants.config(&self.literals, INVARIANT, self.exported.config.view.is_some());
        let sources = self.program.module.sources.iter().map(|(_, source)| source);
        let files = sources.filter_map(|source| {
            let file = source.name.rsplit(['/', '\\']).next().filter(|file| file.ends_with(".tla"))?;
            Some((file.to_owned(), source.text.clone()))
        });
        Ok(Export { name, module: out, config, modules: files.collect() })
    }

    /// A module name that the specification does not use.
    fn name(&self) -> String {
        let root = &self.program.module.name;
        let is_taken = |name: &String| {
            let file = format!("{name}.tla");
            let mut sources = self.program.module.sources.iter();
            name == root || sources.any(|(_, source)| source.name.rsplit(['/', '\\']).next() == Some(&file))
        };
        let names = std::iter::once(format!("{root}Trace")).chain((2..).map(|number| format!("{root}Trace{number}")));
        names.into_iter().find(|name| !is_taken(name)).expect("there are more numbers than modules")
    }

    fn head(&self, name: &str) -> String {
        let definitions = self.program.module.definitions.iter();
        let mut others: Vec<&str> = definitions
            .filter_map(|definition| match definition.body {
                Body::Native(native) if !STOCK.contains(&native.module) => Some(native.module),
                _ => None,
            })
            .collect();
        others.sort_unstable();
        others.dedup();
        let needs = if others.is_empty() {
            String::new()
        } else {
            format!(
                "\nThe specification uses {}, which TLC finds if the jar of the community\nmodules is on the class path too.\n",
                others.join(", ")
            )
        };
        format!(
            "---- MODULE {name} ----\n(*\n\
            Whether a recorded history can be explained by the module {root}, for TLC to decide:\n\n    \
            java -cp tla2tools.jar tlc2.TLC -deadlock {name}\n\n\
            Invariant {INVARIANT} is violated: accepted. The behavior that TLC shows is the order of the operations;\n\
            the component of OL_pos that grows says which process takes its next one.\n\
            No error has been found: rejected, no order exists.\n{needs}*)\n",
            root = self.program.module.name,
        )
    }

    /// The modules to extend besides the specification. Fails if the specification defines an operator of the same name as
    /// one of theirs.
    fn extends(&self) -> Result<Vec<&'static str>, Problem> {
        let mut extends = vec!["Naturals"];
        if self.literals.has_negative {
            extends = vec!["Integers", "Naturals"];
        }
        if self.literals.has_functions {
            extends.push("TLC");
        }
        for native in extends.iter().flat_map(|name| omnilink_tla::modules::module(name)) {
            let own = self.program.module.names.get(native.name).map(|def| self.program.definition(*def));
            if let Some(definition) = own.filter(|definition| matches!(definition.body, Body::Expr(_))) {
                let message =
                    format!("the module {} is needed to export, and has a `{}` too", native.module, native.name);
                return Err(Problem::new(message).at(definition.site, "defined here"));
            }
        }
        Ok(extends)
    }

    /// An operator for each kind of operation, and the operations of every process.
    fn operations(&mut self, chains: &[Chain<'_>]) -> Result<(String, String), Problem> {
        let ranks = ranks(chains);
        let rank = |time: u64| ranks.partition_point(|&known| known < time);
        // A kind is an action and the set of its known arguments.
        let mut known_kinds: BTreeMap<(u32, Vec<bool>), usize> = BTreeMap::new();
        let mut kinds: Vec<Vec<(bool, String)>> = Vec::new();
        let mut lines =
            String::from("\\* The operations of each process: what it did, from when to when, with which arguments.\n");
        for (index, chain) in chains.iter().enumerate() {
            let _ = writeln!(lines, "OL_Ops{} == << \\* {}", index + 1, one_line(chain.name));
            for (place, op) in chain.ops.iter().enumerate() {
                let step = &op.call.step;
                let key = (step.action, step.args.iter().map(Option::is_some).collect::<Vec<bool>>());
                let kind = match known_kinds.get(&key) {
                    Some(kind) => *kind,
                    None => {
                        let stages = self.stages(step.action, &key.1)?;
                        let same = kinds.iter().position(|kind| *kind == stages);
                        let kind = same.unwrap_or(kinds.len());
                        if same.is_none() {
                            kinds.push(stages);
                        }
                        known_kinds.insert(key, kind + 1);
                        kind + 1
                    }
                };
                let mut args = Vec::new();
                for arg in &step.args {
                    let text = arg.as_ref().map(|arg| self.literals.text(arg)).transpose();
                    let wrong = |error| Problem::new(format!("{}: {error}", (self.exported.describe)(op.id)));
                    // The operator does not read unknown arguments.
                    args.push(text.map_err(wrong)?.unwrap_or_else(|| "{}".to_owned()));
                }
                let _ = writeln!(
                    lines,
                    "    [do |-> {kind}, start |-> {}, end |-> {}, args |-> <<{}>>]{} \\* {}",
                    rank(op.interval.start()),
                    rank(op.interval.deadline()),
                    args.join(", "),
                    if place + 1 < chain.ops.len() { "," } else { "" },
                    one_line(&(self.exported.describe)(op.id)),
                );
            }
            lines.push_str("    >>\n\n");
        }
        let all: Vec<String> = (1..=chains.len()).map(|index| format!("OL_Ops{index}")).collect();
        let _ = writeln!(lines, "OL_Ops == <<{}>>\n", all.join(", "));
        Ok((dispatch(&kinds), lines))
    }

    /// The steps of an action; `true` for the last one.
    fn stages(&self, action: u32, known: &[bool]) -> Result<Vec<(bool, String)>, Problem> {
        let stages = self.spec.binder.actions[action as usize].stages.iter();
        stages
            .map(|stage| {
                let places: Vec<Option<usize>> =
                    stage.places.iter().map(|&place| known[place].then_some(place + 1)).collect();
                Ok((stage.is_last, written_action(self.program, &stage.operation, &places)?))
            })
            .collect()
    }

    /// The actions that may happen without an operation.
    fn internal(&self) -> Result<Vec<String>, Problem> {
        let unknown = |operation: &omnilink_tla::program::Operation| {
            let nothing = vec![None; operation.params.len()];
            Ok(written_action(self.program, operation, &nothing)?)
        };
        self.spec.binder.internal.iter().map(unknown).collect()
    }

    /// The initial predicate, the step, the invariant and the view.
    fn steps(&self, internal: &[String], init: &str, first: String, out: &mut String) {
        let config = self.exported.config;
        let states = config.constraints.iter().chain(&config.invariants);
        let kept: Vec<String> = states.map(|name| name.text.clone()).collect();
        let mut and_kept = String::new();
        if !kept.is_empty() {
            out.push_str(
                "\\* What every state has to keep: the constraints and the invariants of the specification.\n",
            );
            let _ = writeln!(out, "OL_Kept == {}\n", kept.join(" /\\ "));
        }
        for name in &config.action_constraints {
            let _ = write!(and_kept, " /\\ {}", name.text);
        }
        if !kept.is_empty() {
            and_kept += " /\\ OL_Kept'";
        }
        let also = if kept.is_empty() { "" } else { " /\\ OL_Kept" };
        let _ = writeln!(out, "OL_Init == ({init}) /\\ OL_pos = {first}{also}\n");
        out.push_str("OL_Has(OL_p) == OL_pos[OL_p] <= OL_Count[OL_p]\n\n");
        out.push_str("OL_Op(OL_p) == OL_Ops[OL_p][OL_pos[OL_p]]\n\n");
        out.push_str(
            "\\* A process can continue unless it has to wait for an operation that ended before its next one started.\n",
        );
        out.push_str("OL_Ready(OL_p) ==\n    /\\ OL_Has(OL_p)\n");
        if self.exported.precedence == Precedence::RealTime {
            out.push_str("    /\\ \\A OL_q \\in OL_Processes : OL_Has(OL_q) => OL_Op(OL_p).start <= OL_Op(OL_q).end\n");
        }
        out.push_str("\nOL_Next ==\n    \\/ \\E OL_p \\in OL_Processes :\n");
        let _ = writeln!(out, "        OL_Ready(OL_p) /\\ OL_Do(OL_p, OL_Op(OL_p)){and_kept}");
        for action in internal {
            let _ = writeln!(out, "    \\/ {action} /\\ UNCHANGED OL_pos{and_kept}");
        }
        out.push_str("\n\\* A finished operation is left.\n");
        let _ = writeln!(out, "{INVARIANT} == \\E OL_p \\in OL_Processes : OL_pos[OL_p] <= OL_Finished[OL_p]\n");
        if let Some(view) = &config.view {
            let _ = writeln!(out, "OL_View == <<OL_pos, {}>>\n", view.text);
        }
    }
}

/// The operators that take a step, and the `CASE` that selects one for an operation.
fn dispatch(kinds: &[Vec<(bool, String)>]) -> String {
    let mut out = String::from(
        "\\* What operations do. A step that is not the last one of its operation leaves the position alone.\n",
    );
    for (index, stages) in kinds.iter().enumerate() {
        let _ = writeln!(out, "OL_Do{}(OL_p, OL_a) ==", index + 1);
        for (is_last, text) in stages {
            let then = if *is_last { "OL_pos' = [OL_pos EXCEPT ![OL_p] = @ + 1]" } else { "UNCHANGED OL_pos" };
            let _ = writeln!(out, "    \\/ {text} /\\ {then}");
        }
        out.push('\n');
    }
    let arms: Vec<String> =
        (1..=kinds.len()).map(|kind| format!("OL_op.do = {kind} -> OL_Do{kind}(OL_p, OL_op.args)")).collect();
    let arms = if arms.is_empty() { "FALSE".to_owned() } else { format!("CASE {}", arms.join("\n      [] ")) };
    let _ = writeln!(out, "OL_Do(OL_p, OL_op) ==\n    {arms}\n");
    out
}

/// All start and end times, in order.
fn ranks(chains: &[Chain<'_>]) -> Vec<u64> {
    let intervals = chains.iter().flat_map(|chain| chain.ops.iter().map(|op| op.interval));
    let mut times: Vec<u64> =
        intervals.flat_map(|interval| [Some(interval.start()), interval.end()]).flatten().collect();
    times.sort_unstable();
    times.dedup();
    times
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

//! Checks logs of distributed programs against a TLA+ specification, through a mapping in the settings.
//!
//! ```
//! use omnilink_logs::{File, LogOptions, LogOutcome, Prepared};
//! use omnilink_settings::Settings;
//! use omnilink_tla::machine::Machine;
//! # struct Nothing;
//! # impl omnilink_tla::datum::World for Nothing {}
//! # impl omnilink_tla::resolve::Loader for Nothing {
//! #     fn load(&mut self, _module: &str) -> Option<(String, String)> {
//! #         None
//! #     }
//! # }
//!
//! let spec = r"
//! ---- MODULE Counter ----
//! EXTENDS Integers
//! VARIABLE n
//! Init == n = 0
//! Add(k) == n' = n + k
//! Next == \E k \in 1 .. 9 : Add(k)
//! ====";
//! let text = "[log]\nevent = \"do\"\nargs = \"with\"\n[[log.rule]]\nhas = \"n\"\nafter = { n = \"n\" }\n";
//! let log = Settings::parse(text)?.log.expect("a section");
//! # let mut strings = Default::default();
//! # let mut config = omnilink_tla::config::parse("INIT Init NEXT Next", &mut strings).expect("no errors");
//! # let mut module = omnilink_tla::resolve::resolve("Counter.tla", spec, &mut Nothing, strings).expect("no errors");
//! // `module` and `config` are the specification; the documentation of the crate `tla` has more.
//! let lines = "{\"do\": \"Add\", \"with\": [2]}\n{\"do\": \"Add\", \"n\": 5}\n";
//! let files = vec![File { name: "run.ndjson".into(), text: lines.into() }];
//! let prepared = Prepared::new(&log, text, "omnilink.toml", &mut module, &mut config, files, &mut |_| Err("no file".into()))?;
//! # let program = omnilink_tla::program::link(module, &config, Default::default()).expect("no errors");
//! let mut machine = Machine::new(&program, Box::new(Nothing));
//! let bound = prepared.bind(&mut machine, &config)?;
//! let checked = omnilink_logs::check(&prepared, &bound, &mut machine, &config, LogOptions::default(), &mut |_| None)?;
//! assert!(matches!(checked.outcome, LogOutcome::Accepted(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```text
//!  files ── Lines ──► events ── Prepared: constants, the mapping resolved ──► link ──► Program
//!  events ── Binder ──► Bound: the steps of each event, and the order ── Graph::search ──► LogOutcome ──► explanation
//! ```
//!
//! A log is a finite set of events with a partial order. Each event stands for a relation between states: one of its
//! rules has its action, its arguments, its conditions and its logged values. A log is accepted if there is an order of
//! all events that extends the partial order, and a behavior that takes one such step for each event, with finitely many
//! unlogged steps between them.

mod bind;
mod check;
mod explain;
mod infer;
mod line;
mod line_expressions;
mod mapping;
mod order;
mod path;
mod problem;
mod reduce;
mod search;
mod step;
mod symmetry;
mod update;
mod vacuity;
mod values;

pub use bind::{Bound, Event};
pub use check::{Checked, LogOutcome, Taken, check, furthest, longest, lost, unlogged};
pub use explain::{explain, explain_violation, op_id, standing};
pub use infer::infer;
pub use line::{Cut, File, Line, Lines};
pub use order::EventOrder;
pub use problem::Failure;
pub use search::{LogOptions, Stats};
pub use vacuity::{coverage, vacuity};

use omnilink_history::format::json::Json;
use omnilink_settings::log::Log;
use omnilink_tla::config::{Config, LiteralKind};
use omnilink_tla::ir::{Body, Module, Node};
use omnilink_tla::machine::Machine;
use omnilink_tla::program::Program;
use omnilink_tla::value::{Model, Value};
use omnilink_validate::Problem;

use bind::Binder;
use line_expressions::Prelude;
use mapping::Mapping;
use values::{Values, intern};

/// A log and its mapping, before the specification is linked.
#[derive(Debug)]
pub struct Prepared {
    files: Vec<File>,
    lines: Lines,
    mapping: Mapping,
    /// Constants that got their values from the log.
    pub given: Vec<(String, Value)>,
}

impl Prepared {
    /// Reads the lines of a log, gives constants their values, and resolves the mapping. `text` and `name` are those of
    /// the settings, and `beside` reads a file beside them.
    pub fn new(
        settings: &Log,
        text: &str,
        name: &str,
        module: &mut Module,
        config: &mut Config,
        files: Vec<File>,
        beside: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<Prepared, Failure> {
        let mut lines = Lines::read(&files, settings.header)?;
        let prelude = Prelude::new(text, name)?;
        if let Some(filter) = &settings.filter {
            prelude.filter(filter, &mut lines)?;
        }
        lines.header.iter().chain(&lines.lines).for_each(|line| intern(&line.json, &mut module.strings));
        let mut values = Values::new(config, &module.strings);
        if let Some(null) = &settings.null {
            let chosen = name_null(&null.text, module, config);
            values.null = chosen.map(Value::Model);
        }
        let given = prelude.constants(settings, &lines, beside, &values, &mut module.strings)?;
        for (name, _) in &given {
            if !module.names.contains_key(name) {
                let hint = omnilink_suggest::hint(name, module.names.keys().map(String::as_str));
                let problem = Problem::new(format!("`[log.constants]` has `{name}`, which the module does not define"));
                return Err(problem.help(hint).into());
            }
        }
        let given = config.give_recorded(given, &mut module.strings).map_err(|(name, error)| {
            Problem::new(format!("the values of the constant `{name}` are of different kinds: {error}"))
        })?;
        let json: Vec<&Json> = lines.lines.iter().map(|line| &line.json).collect();
        let mapping = Mapping::new(settings, text, name, module, &json)?;
        Ok(Prepared { files, lines, mapping, given })
    }

    /// The files.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// The places where a file ends inside a line.
    pub fn cuts(&self) -> Vec<String> {
        self.lines.cuts.iter().map(|cut| cut.words.clone()).collect()
    }

    /// Binds every event to the steps that it may be.
    pub fn bind(&self, machine: &mut Machine<'_>, config: &Config) -> Result<Bound, Failure> {
        let values = Values::new(config, &machine.program().module.strings);
        let lines: Vec<&Line> = self.lines.lines.iter().collect();
        Binder::new(&self.mapping, machine, values, &self.files).bind(&lines, &self.lines.cuts)
    }
}

/// The names of the actions of steps: the operators of `Next` that do not consist of others.
pub fn step_names(program: &Program) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for action in &program.actions {
        if !names.contains(&action.name) {
            names.push(action.name.clone());
        }
    }
    names
}

/// Gives every constant without a value an empty set, so that a module can be linked to list its actions.
pub fn fill_constants(module: &Module, config: &mut Config) {
    for (name, def) in &module.names {
        let is_open = matches!(module.definitions[def.0 as usize].body, Body::Declared);
        if is_open && !config.constants.iter().any(|assignment| assignment.name.text == *name) {
            config.give(name, LiteralKind::Computed(Value::empty_set()));
        }
    }
}

/// Gives the definition that `null` stands for a value of its own, if it is an unbounded `CHOOSE`, which has none.
fn name_null(name: &str, module: &mut Module, config: &mut Config) -> Option<Model> {
    let definition = &module.definitions[module.names.get(name)?.0 as usize];
    let is_free = match definition.body {
        Body::Expr(body) => matches!(module.exprs.node(body), Node::Unsupported { .. }),
        Body::Declared => !config.constants.iter().any(|assignment| assignment.name.text == name),
        Body::Native(_) => false,
    };
    if !is_free {
        return None;
    }
    module.strings.intern(name);
    let omnilink_tla::strings::Str::Known(rank) = module.strings.str(name) else { return None };
    let model = Model { name: rank, class: Model::class_of(name) };
    config.give(name, LiteralKind::Model(model));
    Some(model)
}

//! A module together with its configuration: what can be run.
//!
//! [`link`] gives every constant its value, redirects what the configuration replaces, and finds the expressions that a
//! check starts from. Each of these, an *entry point*, is an expression that needs no frame: a call of a definition without
//! parameters, or a conjunction of such calls. Levels are checked here, so that an invariant that speaks of two states is
//! an error before anything runs. All errors are reported at once, each with its place in the configuration or, where the
//! configuration is silent, in a module.
//!
//! Fairness is left out: it restricts infinite behaviors only, and what is checked here is violated by a finite one.

mod actions;
mod behavior;
mod footprint;
mod fuse;
mod idiom;
mod inline;
pub(crate) mod keeping;
pub(crate) mod operation;
mod parts;
pub(crate) mod path;
mod replace;
mod walk;
mod written;

pub use actions::Action;
pub use footprint::{Key, Touch};
use fuse::fuse;
pub use operation::{Operation, Parameter};
pub use parts::{Part, PartKind};
pub use written::{Unwritten, WrittenBound, WrittenWay};

use tla_syntax::Span;
use tla_syntax::ast::Name;

use crate::config::{Config, resembled_keyword};
use crate::ir::{Body, DefId, Definition, ExprId, Level, Module, Node};
use crate::source::{Site, Sources};

/// A module and what to do with it.
#[derive(Debug, Clone)]
pub struct Program {
    /// The module. No definition is [`Body::Declared`] any more.
    pub module: Module,
    /// The initial predicate; none if there is nothing but assumptions to check.
    pub init: Option<ExprId>,
    /// The next-state relation; none if there is nothing but assumptions to check.
    pub next: Option<ExprId>,
    /// What must be true of every state.
    pub invariants: Vec<(String, ExprId)>,
    /// States for which one of these is false are not explored.
    pub constraints: Vec<(String, ExprId)>,
    /// Steps for which one of these is false are not taken.
    pub action_constraints: Vec<(String, ExprId)>,
    /// What of a state distinguishes it from others, if not everything.
    pub view: Option<ExprId>,
    /// A set of permutations of model values that make no difference.
    pub symmetry: Option<ExprId>,
    /// How a state of a counterexample is shown.
    pub alias: Option<ExprId>,
    /// What must be true at the end.
    pub postconditions: Vec<(String, ExprId)>,
    /// Whether a state without successors is an error.
    pub check_deadlock: bool,
    /// Whether the specification had fairness conditions, which were left out.
    pub has_fairness: bool,
    /// What the user should know and need not act upon.
    pub warnings: Vec<Warning>,
    /// The actions that the next-state relation is made of, in order.
    pub actions: Vec<Action>,
}

/// How to link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Leave out what `PROPERTY` asks for, with a warning, instead of refusing it.
    pub skip_properties: bool,
    /// Accept a module with variables and no behavior to explore, in order to evaluate expressions.
    pub without_behavior: bool,
}

/// A place where a configuration and a module meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the configuration.
    Config(Span),
    /// In a module.
    Module(Site),
    /// Nowhere: something is missing from the configuration.
    Missing,
}

/// Why a module and a configuration do not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LinkError {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub place: Place,
    /// Another place that belongs to it, such as the definition that does not fit.
    pub related: Option<(Site, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

/// Something that is accepted and may be a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// In words.
    pub message: String,
    /// Where.
    pub place: Place,
}

/// All errors, and the texts that they speak of.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the configuration does not fit the module: {}", .errors.first().map_or("", |error| &error.message))]
pub struct LinkErrors {
    /// The texts of the modules.
    pub sources: Sources,
    /// At least one.
    pub errors: Vec<LinkError>,
}

impl LinkError {
    fn new(place: Place, message: impl Into<String>) -> LinkError {
        LinkError { message: message.into(), place, related: None, help: None }
    }

    fn related(mut self, site: Site, label: impl Into<String>) -> LinkError {
        self.related = Some((site, label.into()));
        self
    }

    fn help(mut self, help: impl Into<String>) -> LinkError {
        self.help = Some(help.into());
        self
    }
}

/// Makes a module and its configuration a program.
pub fn link(module: Module, config: &Config, options: Options) -> Result<Program, Box<LinkErrors>> {
    let mut linker = Linker { module, config, errors: Vec::new(), warnings: Vec::new(), has_fairness: false };
    linker.replace();
    linker.program(options)
}

struct Linker<'c> {
    module: Module,
    config: &'c Config,
    errors: Vec<LinkError>,
    warnings: Vec<Warning>,
    has_fairness: bool,
}

impl Linker<'_> {
    /// A copy of an entry point that stands in no definition, so that what happens to the definition does not touch it.
    fn apart(&mut self, expr: ExprId) -> ExprId {
        let (node, site) = (self.module.exprs.node(expr).clone(), self.module.exprs.site(expr));
        let node = match node {
            Node::And(parts) => Node::And(parts.iter().map(|&part| self.apart(part)).collect()),
            Node::Or(parts) => Node::Or(parts.iter().map(|&part| self.apart(part)).collect()),
            node => node,
        };
        self.module.exprs.push(node, site)
    }

    fn program(mut self, options: Options) -> Result<Program, Box<LinkErrors>> {
        let config = self.config;
        let (init, next) = self.behavior(options);
        let (init, next) = (init.map(|init| self.apart(init)), next.map(|next| self.apart(next)));
        let invariants = self.entries("invariant", &config.invariants, Level::State);
        let constraints = self.entries("constraint", &config.constraints, Level::State);
        let action_constraints = self.entries("action constraint", &config.action_constraints, Level::Action);
        let view = config.view.as_ref().and_then(|name| self.entry("view", name, Level::State));
        let symmetry = config.symmetry.as_ref().and_then(|name| self.entry("symmetry", name, Level::Constant));
        let alias = config.alias.as_ref().and_then(|name| self.entry("alias", name, Level::Action));
        let postconditions = self.entries("postcondition", &config.postconditions, Level::State);
        self.properties(options);
        for keyword in &config.ignored {
            let message = format!("`{}` is not supported and was left out", keyword.text);
            self.warnings.push(Warning { message, place: Place::Config(keyword.span) });
        }
        if !self.errors.is_empty() {
            return Err(Box::new(LinkErrors { sources: self.module.sources, errors: self.errors }));
        }
        let mut program = Program {
            module: self.module,
            init,
            next,
            invariants,
            constraints,
            action_constraints,
            view,
            symmetry,
            alias,
            postconditions,
            check_deadlock: config.check_deadlock.unwrap_or(true),
            has_fairness: self.has_fairness,
            warnings: self.warnings,
            actions: Vec::new(),
        };
        program.actions = program.split_next();
        fuse(&mut program.module);
        Ok(program)
    }

    fn properties(&mut self, options: Options) {
        for name in &self.config.properties {
            if self.entry("property", name, Level::Temporal).is_none() {
                continue;
            }
            let place = Place::Config(name.span);
            if options.skip_properties {
                self.warnings.push(Warning { message: format!("property `{}` was not checked", name.text), place });
            } else {
                let message = format!("temporal properties are not checked, and `{}` is one", name.text);
                let help = "remove it from the configuration, or pass `--skip-properties` to check the rest without it";
                self.errors.push(LinkError::new(place, message).help(help));
            }
        }
    }

    fn entries(&mut self, role: &str, names: &[Name], level: Level) -> Vec<(String, ExprId)> {
        let entry = |name: &Name| self.entry(role, name, level).map(|entry| (name.text.clone(), entry));
        names.iter().filter_map(entry).collect()
    }

    /// A call of the definition that the configuration names.
    fn entry(&mut self, role: &str, name: &Name, level: Level) -> Option<ExprId> {
        let def = self.defined(role, name)?;
        let definition = self.definition(def);
        if definition.level > level {
            let speaks = match definition.level {
                Level::Constant | Level::State => "of a state",
                Level::Action => "of two states",
                Level::Temporal => "of whole behaviors",
            };
            let may = match level {
                Level::Constant => "of constants only",
                Level::State => "of one state only",
                Level::Action | Level::Temporal => "of two states at most",
            };
            let message = format!("`{}` speaks {speaks}, and {} {role} may speak {may}", name.text, article(role));
            let error = LinkError::new(Place::Config(name.span), message).related(definition.site, "defined here");
            self.errors.push(error);
            return None;
        }
        let site = definition.site;
        Some(self.module.exprs.push(Node::Call { def, args: Box::new([]) }, site))
    }

    /// The definition without parameters that the configuration names.
    fn defined(&mut self, role: &str, name: &Name) -> Option<DefId> {
        let Some(&def) = self.module.names.get(&name.text) else {
            let message = format!("the module does not define the {role} `{}`", name.text);
            let error = LinkError::new(Place::Config(name.span), message);
            // Keywords are written in capitals, and a name that is not was hardly meant to be one.
            let is_shouted = !name.text.contains(|c: char| c.is_ascii_lowercase());
            let keyword = resembled_keyword(&name.text).filter(|_| is_shouted);
            let hint = keyword.map(|keyword| format!("did you mean the keyword `{keyword}`?"));
            self.errors.push(LinkError { help: hint.or_else(|| suggest::hint(&name.text, self.names())), ..error });
            return None;
        };
        let definition = self.definition(def);
        if !definition.params.is_empty() {
            let message = format!("`{}` has parameters, and {} {role} has none", name.text, article(role));
            let error = LinkError::new(Place::Config(name.span), message).related(definition.site, "defined here");
            self.errors.push(error);
            return None;
        }
        Some(def)
    }

    fn definition(&self, def: DefId) -> &Definition {
        &self.module.definitions[def.0 as usize]
    }

    /// The names that a configuration can mention.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.module.names.keys().map(String::as_str)
    }
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

impl Program {
    /// The definition with this number.
    pub fn definition(&self, def: DefId) -> &Definition {
        &self.module.definitions[def.0 as usize]
    }

    /// The expression that a definition stands for, if it is written in TLA+.
    pub fn body(&self, def: DefId) -> Option<ExprId> {
        match self.definition(def).body {
            Body::Expr(body) => Some(body),
            Body::Declared | Body::Native(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;

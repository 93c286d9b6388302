//! A module linked with its configuration, ready to run.
//!
//! [`link`] gives every constant its value, redirects replaced definitions, and finds the expressions that a check
//! starts from. Each of these, an *entry point*, is an expression that needs no frame: a call of a definition without
//! parameters, or a conjunction of such calls. Levels are checked here, so that an invariant that depends on two
//! states is an error before anything runs. All errors are reported at once, each with its location in the
//! configuration or, if that has none, in a module.
//!
//! Fairness is dropped: it restricts infinite behaviors only, and every checked property is violated by a finite one.

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
mod progress;
mod property;
mod replace;
mod walk;
mod written;

pub use actions::Action;
pub use footprint::{Key, Touch};
use fuse::fuse;
pub use operation::{Operation, Parameter, Passage};
pub use parts::{Part, PartKind};
pub use property::Property;
pub use written::{Unwritten, WrittenBound, WrittenWay};

use omnilink_tla_syntax::Span;
use omnilink_tla_syntax::ast::Name;

use crate::config::{Config, resembled_keyword};
use crate::ir::{Body, DefId, Definition, ExprId, ExprLevel, Module, Node};
use crate::source::{Site, Sources};

/// A module and its entry points.
#[derive(Debug, Clone)]
pub struct Program {
    /// The module. No definition is [`Body::Declared`] any more.
    pub module: Module,
    /// The initial predicate; `None` if there are only assumptions to check.
    pub init: Option<ExprId>,
    /// The next-state relation; `None` if there are only assumptions to check.
    pub next: Option<ExprId>,
    /// Predicates that must be true in every state.
    pub invariants: Vec<(String, ExprId)>,
    /// Formulas that every behavior must satisfy, one for each conjunct of a `PROPERTY` that is not an invariant.
    pub properties: Vec<(String, Property)>,
    /// States for which one of these is false are not explored.
    pub constraints: Vec<(String, ExprId)>,
    /// Steps for which one of these is false are not taken.
    pub action_constraints: Vec<(String, ExprId)>,
    /// The part of a state that distinguishes it from others, if not all of it.
    pub view: Option<ExprId>,
    /// A set of permutations of model values under which the specification is symmetric.
    pub symmetry: Option<ExprId>,
    /// The form in which a state of a counterexample is shown.
    pub alias: Option<ExprId>,
    /// Predicates that must be true at the end.
    pub postconditions: Vec<(String, ExprId)>,
    /// Whether a state without successors is an error.
    pub check_deadlock: bool,
    /// Whether the specification had fairness conditions, which were dropped.
    pub has_fairness: bool,
    /// Warnings for the user, which require no action.
    pub warnings: Vec<Warning>,
    /// The actions of the next-state relation, in order.
    pub actions: Vec<Action>,
}

/// LinkOptions for linking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkOptions {
    /// Skip `PROPERTY` with a warning.
    pub skip_properties: bool,
    /// Skip the conjuncts of a `PROPERTY` that cannot be checked with a warning, instead of rejecting them.
    pub skip_liveness: bool,
    /// Accept a module with variables and no behavior to explore, in order to evaluate expressions.
    pub without_behavior: bool,
}

/// The location of an error in linking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the configuration.
    Config(Span),
    /// In a module.
    Module(Site),
    /// Nowhere: the configuration lacks an entry.
    Missing,
}

/// Why a module and a configuration cannot be linked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LinkError {
    /// The message.
    pub message: String,
    /// The location.
    pub place: Place,
    /// A related location, such as the definition that does not fit.
    pub related: Option<(Site, String)>,
    /// How to fix it.
    pub help: Option<String>,
}

/// A possible mistake that is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The message.
    pub message: String,
    /// The location.
    pub place: Place,
}

/// All errors, and the texts they refer to.
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

/// Links a module with its configuration.
pub fn link(module: Module, config: &Config, options: LinkOptions) -> Result<Program, Box<LinkErrors>> {
    let of_texts = module.warnings.iter().cloned();
    let warnings = of_texts.map(|(site, message)| Warning { message, place: Place::Module(site) }).collect();
    let mut linker = Linker { module, config, errors: Vec::new(), warnings, has_fairness: false };
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
    /// A copy of an entry point outside its definition, so that rewriting the definition does not affect it.
    fn detached(&mut self, expr: ExprId) -> ExprId {
        let (node, site) = (self.module.exprs.node(expr).clone(), self.module.exprs.site(expr));
        let node = match node {
            Node::And(parts) => Node::And(parts.iter().map(|&part| self.detached(part)).collect()),
            Node::Or(parts) => Node::Or(parts.iter().map(|&part| self.detached(part)).collect()),
            node => node,
        };
        self.module.exprs.push(node, site)
    }

    fn program(mut self, options: LinkOptions) -> Result<Program, Box<LinkErrors>> {
        let config = self.config;
        let (init, next) = self.behavior(options);
        let (init, next) = (init.map(|init| self.detached(init)), next.map(|next| self.detached(next)));
        let mut invariants = self.entries("invariant", &config.invariants, ExprLevel::State);
        let constraints = self.entries("constraint", &config.constraints, ExprLevel::State);
        let action_constraints = self.entries("action constraint", &config.action_constraints, ExprLevel::Action);
        let view = config.view.as_ref().and_then(|name| self.entry("view", name, ExprLevel::State));
        let symmetry = config.symmetry.as_ref().and_then(|name| self.entry("symmetry", name, ExprLevel::Constant));
        let alias = config.alias.as_ref().and_then(|name| self.entry("alias", name, ExprLevel::Action));
        let postconditions = self.entries("postcondition", &config.postconditions, ExprLevel::State);
        let properties = self.properties(options, &mut invariants);
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
            properties,
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

    fn entries(&mut self, role: &str, names: &[Name], level: ExprLevel) -> Vec<(String, ExprId)> {
        let entry = |name: &Name| self.entry(role, name, level).map(|entry| (name.text.clone(), entry));
        names.iter().filter_map(entry).collect()
    }

    /// A call of the definition that the configuration names.
    fn entry(&mut self, role: &str, name: &Name, level: ExprLevel) -> Option<ExprId> {
        let def = self.defined(role, name)?;
        let definition = self.definition(def);
        if definition.level > level {
            let depends = match definition.level {
                ExprLevel::Constant | ExprLevel::State => "on a state",
                ExprLevel::Action => "on two states",
                ExprLevel::Temporal => "on whole behaviors",
            };
            let may = match level {
                ExprLevel::Constant => "on constants only",
                ExprLevel::State => "on one state only",
                ExprLevel::Action | ExprLevel::Temporal => "on at most two states",
            };
            let message = format!("`{}` depends {depends}, but {} {role} may depend {may}", name.text, article(role));
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
            // Keywords are upper case, and a name that is not is hardly a misspelled keyword.
            let is_shouted = !name.text.contains(|c: char| c.is_ascii_lowercase());
            let keyword = resembled_keyword(&name.text).filter(|_| is_shouted);
            let hint = keyword.map(|keyword| format!("did you mean the keyword `{keyword}`?"));
            self.errors
                .push(LinkError { help: hint.or_else(|| omnilink_suggest::hint(&name.text, self.names())), ..error });
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

    /// Where an invariant or a constraint is defined.
    pub fn predicate_site(&self, name: &str, predicate: ExprId) -> Site {
        let def = self.module.names.get(name);
        def.map_or(self.module.exprs.site(predicate), |def| self.definition(*def).site)
    }

    /// The expression of a definition, if it is written in TLA+.
    pub fn body(&self, def: DefId) -> Option<ExprId> {
        match self.definition(def).body {
            Body::Expr(body) => Some(body),
            Body::Declared | Body::Native(_) => None,
        }
    }

    /// Whether an expression consists of variables alone, as that of `UNCHANGED` does.
    pub fn names_variables(&self, expr: ExprId) -> bool {
        match self.module.exprs.node(expr) {
            Node::Variable(_) => true,
            Node::Tuple(parts) => parts.iter().all(|&part| self.names_variables(part)),
            Node::Inlined { body, .. } => self.names_variables(*body),
            Node::Call { def, args } if args.is_empty() => {
                self.body(*def).is_some_and(|body| self.names_variables(body))
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;

//! The initial predicate and the next-state relation: from `INIT` and `NEXT`, or from a specification.
//!
//! A specification is a conjunction such as `Init /\ [][Next]_vars /\ WF_vars(Next)`, with definitions, `LET` and
//! parameters around its parts. Splitting it descends through those: a conjunct about one state is a part of the
//! initial predicate, `[][A]_v` is the next-state relation, and any other temporal conjunct is fairness. A part found
//! inside a definition or a `LET` uses names bound there, so on the way back it is wrapped in a `LET` again, or
//! becomes a definition with the same parameters and is called with the same arguments.

use super::walk::level;
use super::{LinkError, LinkOptions, Linker, Place};
use crate::ir::{Body, DefId, ExprId, ExprLevel, Node};

/// The expected form of a specification, for messages.
const SHAPE: &str = "a specification has the form `Init /\\ [][Next]_vars`, with fairness if need be";

/// The role of a part of a specification.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Init,
    Next,
}

impl Linker<'_> {
    /// The initial predicate and the next-state relation.
    pub(super) fn behavior(&mut self, options: LinkOptions) -> (Option<ExprId>, Option<ExprId>) {
        let config = self.config;
        if let Some(specification) = &config.specification {
            for (keyword, name) in [("INIT", &config.init), ("NEXT", &config.next)] {
                if let Some(name) = name {
                    let message = format!("`{keyword}` and `SPECIFICATION` exclude each other");
                    self.errors.push(LinkError::new(Place::Config(name.span), message));
                }
            }
            return self.specification(specification);
        }
        let init = config.init.as_ref().and_then(|name| self.entry("initial predicate", name, ExprLevel::State));
        let next = config.next.as_ref().and_then(|name| self.entry("next-state relation", name, ExprLevel::Action));
        let is_needed = !self.module.variables.is_empty() && !options.without_behavior;
        if is_needed && config.init.is_none() && config.next.is_none() {
            let help = match ["Spec", "Init"].map(|name| self.module.names.contains_key(name)) {
                [true, _] => "add a line `SPECIFICATION Spec`",
                [_, true] => "add the lines `INIT Init` and `NEXT Next`",
                _ => "add a line `SPECIFICATION` with the name of the specification",
            };
            let message = "the configuration does not say what to check";
            self.errors.push(LinkError::new(Place::Missing, message).help(help));
        } else if is_needed {
            for (keyword, name) in [("INIT", &config.init), ("NEXT", &config.next)] {
                if name.is_none() {
                    let message = format!("the configuration has no `{keyword}`");
                    let help = format!("add a line `{keyword}` with the name of its definition");
                    self.errors.push(LinkError::new(Place::Missing, message).help(help));
                }
            }
        }
        (init, next)
    }

    fn specification(&mut self, name: &omnilink_tla_syntax::ast::Name) -> (Option<ExprId>, Option<ExprId>) {
        let Some(def) = self.defined("specification", name) else { return (None, None) };
        let site = self.definition(def).site;
        let call = self.module.exprs.push(Node::Call { def, args: Box::new([]) }, site);
        let before = self.errors.len();
        let parts = match self.definition(def).body {
            // It is invalid; splitting it shows where.
            Body::Expr(body) if self.level(call) == ExprLevel::Action => self.parts(body),
            _ => self.parts(call),
        };
        let of_role = |role| parts.iter().filter(move |part| part.0 == role).map(|part| part.1);
        let inits: Vec<ExprId> = of_role(Role::Init).collect();
        let nexts: Vec<ExprId> = of_role(Role::Next).collect();
        let place = Place::Config(name.span);
        let missing = match (inits.len(), nexts.len()) {
            _ if self.errors.len() > before => None,
            (0, _) => Some(format!("`{}` has no initial predicate", name.text)),
            (_, 0) => Some(format!("`{}` has no next-state relation of the form `[][Next]_vars`", name.text)),
            (_, 1) => None,
            _ => Some(format!("`{}` has more than one next-state relation", name.text)),
        };
        if let Some(message) = missing {
            let error = LinkError::new(place, message).related(site, "defined here");
            self.errors.push(error.help(SHAPE));
        }
        let init = match inits.as_slice() {
            [] => None,
            [init] => Some(*init),
            _ => Some(self.module.exprs.push(Node::And(inits.into()), site)),
        };
        (init, nexts.first().copied())
    }

    /// The parts of a specification, each an expression in the same frame as the specification.
    fn parts(&mut self, expr: ExprId) -> Vec<(Role, ExprId)> {
        let (node, site) = (self.module.exprs.node(expr).clone(), self.module.exprs.site(expr));
        match node {
            Node::And(conjuncts) => conjuncts.iter().flat_map(|conjunct| self.parts(*conjunct)).collect(),
            _ if self.level(expr) <= ExprLevel::State => vec![(Role::Init, expr)],
            Node::Let { slot, value, body } => {
                let mut parts = self.parts(body);
                for (_, part) in &mut parts {
                    if !self.needs_no_frame(*part) {
                        *part = self.module.exprs.push(Node::Let { slot, value, body: *part }, site);
                    }
                }
                parts
            }
            // An action has no temporal part.
            Node::Call { .. } if self.level(expr) == ExprLevel::Action => self.no_part(expr),
            Node::Call { def, args } if !self.definition(def).is_recursive => {
                let Body::Expr(body) = self.definition(def).body else { return self.no_part(expr) };
                let mut parts = self.parts(body);
                for (_, part) in &mut parts {
                    if !self.needs_no_frame(*part) {
                        let def = self.definition_like(def, *part);
                        *part = self.module.exprs.push(Node::Call { def, args: args.clone() }, site);
                    }
                }
                parts
            }
            Node::Always(inside) => match *self.module.exprs.node(inside) {
                Node::Square(action, _) => vec![(Role::Next, action)],
                _ if self.level(inside) <= ExprLevel::State => self.no_part(expr),
                _ => {
                    self.has_fairness = true;
                    Vec::new()
                }
            },
            _ if self.level(expr) == ExprLevel::Temporal => {
                self.has_fairness = true;
                Vec::new()
            }
            _ => self.no_part(expr),
        }
    }

    /// A copy of a definition with another body.
    pub(super) fn definition_like(&mut self, def: DefId, body: ExprId) -> DefId {
        let mut definition = self.definition(def).clone();
        definition.body = Body::Expr(body);
        definition.level = self.level(body);
        let copy = DefId(self.module.definitions.len() as u32);
        self.module.definitions.push(definition);
        copy
    }

    pub(super) fn needs_no_frame(&self, expr: ExprId) -> bool {
        matches!(self.module.exprs.node(expr), Node::Call { args, .. } if args.is_empty())
    }

    pub(super) fn level(&self, expr: ExprId) -> ExprLevel {
        level(&self.module.exprs, &self.module.definitions, expr, ExprLevel::Temporal)
    }

    fn no_part(&mut self, expr: ExprId) -> Vec<(Role, ExprId)> {
        let site = self.module.exprs.site(expr);
        let message = "this is neither an initial predicate, nor `[][Next]_vars`, nor fairness";
        self.errors.push(LinkError::new(Place::Module(site), message).help(SHAPE));
        Vec::new()
    }
}

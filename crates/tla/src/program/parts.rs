//! The parts of an action, used to measure what a set of histories has exercised.
//!
//! A *guard* is a conjunct about the state before the step: it is true or false there. A *branch* is a disjunct that
//! determines the next state, and a *condition* is one of `IF` or `CASE`. A conjunct that only assigns variables is
//! not a part, since it cannot fail. The locations are those reported when an action is explained
//! ([`crate::machine::Machine::explain_operation`]).

use super::walk::level;
use super::{Operation, Program};
use crate::ir::{Body, DefId, ExprId, ExprLevel, Node};
use crate::source::Site;

/// A part of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Its kind.
    pub kind: PartKind,
    /// Its location.
    pub site: Site,
}

/// The kind of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// A conjunct about the state before the step.
    Guard,
    /// An alternative of a disjunction.
    Branch,
    /// The condition of `IF` or of an arm of `CASE`.
    Condition,
}

impl Program {
    /// The parts of an operation, in the order of the text.
    pub fn parts(&self, operation: &Operation) -> Vec<Part> {
        let mut reader = Reader { program: self, inside: vec![operation.def], parts: Vec::new() };
        if let Some(body) = self.body(operation.def) {
            reader.read(body);
        }
        reader.parts
    }
}

struct Reader<'p> {
    program: &'p Program,
    /// The definitions being read, so that a recursive one is read once.
    inside: Vec<DefId>,
    parts: Vec<Part>,
}

impl Reader<'_> {
    fn add(&mut self, kind: PartKind, expr: ExprId) {
        let part = Part { kind, site: self.program.module.exprs.site(expr) };
        if !self.parts.contains(&part) {
            self.parts.push(part);
        }
    }

    fn read(&mut self, expr: ExprId) {
        let program = self.program;
        let exprs = &program.module.exprs;
        if level(exprs, &program.module.definitions, expr, ExprLevel::Temporal) < ExprLevel::Action {
            // A conjunction of guards is one guard per conjunct.
            match exprs.node(expr) {
                Node::And(parts) => parts.iter().for_each(|part| self.read(*part)),
                Node::Value(_) => {}
                _ => self.add(PartKind::Guard, expr),
            }
            return;
        }
        match exprs.node(expr) {
            Node::And(parts) => parts.iter().for_each(|part| self.read(*part)),
            Node::Or(parts) => {
                for &part in parts {
                    self.add(PartKind::Branch, part);
                    self.read(part);
                }
            }
            Node::If(condition, yes, no) => {
                self.add(PartKind::Condition, *condition);
                self.read(*yes);
                self.read(*no);
            }
            Node::Case { arms, other } => {
                for (guard, then) in arms {
                    self.add(PartKind::Condition, *guard);
                    self.read(*then);
                }
                other.iter().for_each(|other| self.read(*other));
            }
            Node::Exists { body, .. } | Node::Let { body, .. } | Node::Inlined { body, .. } => self.read(*body),
            Node::Call { def, .. } if !self.inside.contains(def) => {
                if let Body::Expr(body) = program.definition(*def).body {
                    self.inside.push(*def);
                    self.read(body);
                    self.inside.pop();
                }
            }
            _ => {}
        }
    }
}

//! Finds the parts of the state that an operation reads and writes, from its text.
//!
//! Operations on different keys of a map are independent, and a search that knows this tries only one order of them.
//! A [`Touch`] is a variable, or one element of a variable that is a function: `f[k]`, `k \in DOMAIN f`, and updates
//! that change `f` at `k` alone, where `k` is a parameter of the operation or a value. Any other mention of a
//! variable touches all of it. An unrecognized formula has no footprint, and is assumed to depend on every operation.
//!
//! A write is *blind* if it happens in every step of the operation and does not depend on the old value: `x' = e`, or
//! an update of a function at one key, among the conjuncts of the whole action.

use super::{Operation, Program};
use crate::ir::{ExprId, ExprLevel, Idiom, Node, Step, VarId};
use crate::value::Value;

/// A part of the state that an operation reads or writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// The variable.
    pub variable: VarId,
    /// The key, if the variable is a function and only one key is touched.
    pub key: Option<Key>,
    /// Whether it is written.
    pub writes: bool,
    /// Whether it is written in every step, with a value that does not depend on the old one.
    pub is_blind: bool,
    /// Whether the write leaves the domain of the function unchanged.
    pub keeps_domain: bool,
}

/// The source of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// The parameter with this number.
    Param(usize),
    /// A value written in the specification.
    Value(Value),
}

impl Program {
    /// The footprint of an operation with known arguments; `None` if it is unknown.
    pub fn footprint(&self, operation: &Operation) -> Option<Vec<Touch>> {
        let body = self.body(operation.def).filter(|_| operation.is_plain && operation.captures == 0)?;
        let params = operation.params.len();
        let mut reader = Reader { program: self, params, is_certain: true, touches: Vec::new() };
        reader.formula(body)?;
        Some(reader.touches)
    }
}

/// How a part is written.
#[derive(Clone, Copy)]
struct Write {
    is_blind: bool,
    keeps_domain: bool,
}

struct Reader<'p> {
    program: &'p Program,
    params: usize,
    is_certain: bool, // Whether the current formula is a conjunct of the whole action.
    touches: Vec<Touch>,
}

impl<'p> Reader<'p> {
    fn node(&self, expr: ExprId) -> &'p Node {
        self.program.module.exprs.node(expr)
    }

    fn touch(&mut self, variable: VarId, key: Option<Key>, write: Option<Write>) {
        let touch = Touch {
            variable,
            key,
            writes: write.is_some(),
            is_blind: write.is_some_and(|write| write.is_blind),
            keeps_domain: write.is_some_and(|write| write.keeps_domain),
        };
        if !self.touches.contains(&touch) {
            self.touches.push(touch);
        }
    }

    /// Reads a part of an action. `None` if it is not recognized.
    fn formula(&mut self, expr: ExprId) -> Option<()> {
        match self.node(expr) {
            // An unchanged variable conflicts with no operation.
            Node::Unchanged(inner) => self.program.names_variables(*inner).then_some(()),
            Node::Equal(left, right) => match self.node(*left) {
                Node::Prime(primed) => match self.node(*primed) {
                    Node::Variable(variable) => self.assignment(*variable, *right),
                    _ => None,
                },
                _ => self.children(expr),
            },
            Node::Prime(_)
            | Node::Square(..)
            | Node::Angle(..)
            | Node::Compose(..)
            | Node::Enabled(..)
            | Node::CallArgument { .. } => None,
            Node::Variable(variable) => {
                self.touch(*variable, None, None);
                Some(())
            }
            Node::Apply(function, key) => match self.node(*function) {
                Node::Variable(variable) => self.place(*variable, *key, None),
                _ => self.children(expr),
            },
            Node::In(key, set) | Node::NotIn(key, set) => match self.node(*set) {
                Node::Domain(function) => match self.node(*function) {
                    Node::Variable(variable) => self.place(*variable, *key, None),
                    _ => self.children(expr),
                },
                _ => self.children(expr),
            },
            Node::Call { def, .. } => match self.program.definition(*def).level {
                ExprLevel::Constant => self.children(expr),
                _ => None,
            },
            // The arguments are read in the body, where they are used.
            Node::Inlined { body, .. } => self.formula(*body),
            Node::Idiom(_, written) => self.formula(*written),
            Node::And(parts) => parts.iter().all(|&part| self.formula(part).is_some()).then_some(()),
            _ => self.children(expr),
        }
    }

    fn children(&mut self, expr: ExprId) -> Option<()> {
        let mut is_understood = true;
        let is_certain = std::mem::replace(&mut self.is_certain, false);
        self.node(expr).for_each_child(&mut |child| is_understood = is_understood && self.formula(child).is_some());
        self.is_certain = is_certain;
        is_understood.then_some(())
    }

    /// `variable' = value`
    fn assignment(&mut self, variable: VarId, value: ExprId) -> Option<()> {
        let is_it =
            |reader: &Self, expr: ExprId| matches!(reader.node(expr), Node::Variable(other) if *other == variable);
        match self.node(value) {
            Node::Inlined { body, .. } => return self.assignment(variable, *body),
            _ if is_it(self, value) => return Some(()),
            Node::Idiom(Idiom::With { function, key, value }, _) if is_it(self, *function) => {
                self.place(variable, *key, Some(Write { is_blind: self.is_certain, keeps_domain: false }))?;
                return self.value(*value);
            }
            Node::Idiom(Idiom::Without { function, key }, _) if is_it(self, *function) => {
                return self.place(variable, *key, Some(Write { is_blind: self.is_certain, keeps_domain: false }));
            }
            Node::Except { function, updates } if is_it(self, *function) => {
                for update in updates {
                    let Some((Step::Index(key), rest)) = update.path.split_first() else { return None };
                    let is_blind = self.is_certain && rest.is_empty() && !update.reads_at && updates.len() == 1;
                    self.place(variable, *key, Some(Write { is_blind, keeps_domain: true }))?;
                    for step in rest {
                        if let Step::Index(index) = step {
                            self.value(*index)?;
                        }
                    }
                    self.value(update.value)?;
                }
                return Some(());
            }
            _ => {}
        }
        self.touch(variable, None, Some(Write { is_blind: self.is_certain, keeps_domain: false }));
        self.value(value)
    }

    /// Reads an expression that is not a part of the action's conjunction.
    fn value(&mut self, expr: ExprId) -> Option<()> {
        let is_certain = std::mem::replace(&mut self.is_certain, false);
        let understood = self.formula(expr);
        self.is_certain = is_certain;
        understood
    }

    /// One element of a variable.
    fn place(&mut self, variable: VarId, key: ExprId, write: Option<Write>) -> Option<()> {
        let place = match self.node(key) {
            Node::Value(value) => Some(Key::Value(value.clone())),
            Node::Argument(slot) | Node::Local(slot) if (slot.0 as usize) < self.params => {
                Some(Key::Param(slot.0 as usize))
            }
            _ => {
                self.value(key)?;
                None
            }
        };
        // A write at an unknown key is not known to be blind.
        let write = write.map(|write| Write { is_blind: write.is_blind && place.is_some(), ..write });
        self.touch(variable, place, write);
        Some(())
    }
}

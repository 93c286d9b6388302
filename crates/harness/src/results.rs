//! Finds the parameters of an action that are results of the call.
//!
//! An action is a formula, and a formula does not distinguish inputs from outputs. But `elem = Head(queue)`
//! determines `elem` from the state, so it is a result. So is `ok` where `ok = TRUE` is under a condition that
//! depends on the state. An equation the other way round, such as `value = old`, more often tests an argument than
//! determines one. Where this guess is wrong, the settings override it.

use omnilink_tla::ir::{ExprId, ExprLevel, Node, SlotId};
use omnilink_tla::program::{Operation, Program};

/// The parameters of an operation that are results, by index.
pub(crate) fn results(program: &Program, operation: &Operation) -> Vec<usize> {
    let Some(body) = program.body(operation.def) else { return Vec::new() };
    let captures = program.definition(operation.def).captures;
    let mut reader = Reader { program, captures, params: operation.params.len(), state: Vec::new(), found: Vec::new() };
    reader.formula(body, false);
    reader.found.sort_unstable();
    reader.found.dedup();
    reader.found
}

struct Reader<'p> {
    program: &'p Program,
    captures: usize,
    params: usize,
    /// Names bound to values that depend on the state.
    state: Vec<SlotId>,
    found: Vec<usize>,
}

impl Reader<'_> {
    /// Reads a formula; `is_decided` if it is under a condition that depends on the state.
    fn formula(&mut self, expr: ExprId, is_decided: bool) {
        match self.program.module.exprs.node(expr) {
            Node::And(parts) => parts.iter().for_each(|part| self.formula(*part, is_decided)),
            Node::Or(parts) => {
                for part in parts {
                    let is_decided = is_decided || self.has_guard(*part);
                    self.formula(*part, is_decided);
                }
            }
            Node::If(condition, yes, no) => {
                let is_decided = is_decided || self.depends_on_state(*condition);
                [*yes, *no].into_iter().for_each(|branch| self.formula(branch, is_decided));
            }
            Node::Case { arms, other } => {
                let is_decided = is_decided || arms.iter().any(|(guard, _)| self.depends_on_state(*guard));
                let branches = arms.iter().map(|(_, branch)| *branch).chain(*other);
                branches.for_each(|branch| self.formula(branch, is_decided));
            }
            Node::Let { slot, value, body } => {
                if self.depends_on_state(*value) {
                    self.state.push(*slot);
                }
                self.formula(*body, is_decided);
            }
            Node::Exists { bounds, body } => {
                for bound in bounds.iter().filter(|bound| self.depends_on_state(bound.set)).collect::<Vec<_>>() {
                    self.state.extend(bound.pattern.slots());
                }
                self.formula(*body, is_decided);
            }
            Node::Inlined { body, .. } => self.formula(*body, is_decided),
            Node::Idiom(_, written) => self.formula(*written, is_decided),
            Node::Equal(left, right) | Node::Equivalent(left, right) if is_decided || self.depends_on_state(*right) => {
                self.found.extend(self.param(*left));
            }
            _ => {}
        }
    }

    /// Whether a disjunct has a guard that depends on the state.
    fn has_guard(&self, expr: ExprId) -> bool {
        match self.program.module.exprs.node(expr) {
            Node::And(parts) => parts.iter().any(|part| self.depends_on_state(*part) && !self.is_step(*part)),
            Node::Inlined { body, .. } => self.has_guard(*body),
            _ => false,
        }
    }

    fn param(&self, expr: ExprId) -> Option<usize> {
        match self.program.module.exprs.node(expr) {
            Node::Argument(slot) | Node::Local(slot) => {
                (slot.0 as usize).checked_sub(self.captures).filter(|place| *place < self.params)
            }
            Node::Inlined { body, .. } => self.param(*body),
            _ => None,
        }
    }

    /// Whether an expression depends on a state.
    fn depends_on_state(&self, expr: ExprId) -> bool {
        self.level(expr) >= ExprLevel::State
    }

    /// Whether an expression depends on two states.
    fn is_step(&self, expr: ExprId) -> bool {
        self.level(expr) >= ExprLevel::Action
    }

    fn level(&self, expr: ExprId) -> ExprLevel {
        let node = self.program.module.exprs.node(expr);
        let mut level = match node {
            Node::Variable(_) => ExprLevel::State,
            Node::Local(slot) | Node::Argument(slot) if self.state.contains(slot) => ExprLevel::State,
            Node::Prime(_) | Node::Unchanged(_) => ExprLevel::Action,
            _ => ExprLevel::Constant,
        };
        node.for_each_callee(&mut |def| level = level.max(self.program.definition(def).level));
        node.for_each_child(&mut |child| level = level.max(self.level(child)));
        level
    }
}

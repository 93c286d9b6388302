//! Memoizes predicates that were true.
//!
//! An invariant usually reads a few of the variables, and states that agree on those are common: far more states
//! differ elsewhere. So for each predicate the machine remembers the values of the variables it reads for which it
//! was true. Values are compared in full, so none is ever taken for another. A predicate that reads every variable,
//! or the world, is not memoized, and neither is one whose values rarely recur.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::{Machine, State};
use crate::error::Result;
use crate::ir::{Body, DefId, ExprId, Node, VarId};
use crate::value::Value;

/// After this many evaluations, memoization continues only if it has paid off.
const TRIAL: u32 = 4_096;

/// The memo of each predicate.
#[derive(Default)]
pub(super) struct Memos(HashMap<ExprId, Memo, FxBuildHasher>);

struct Memo {
    /// The variables that the predicate reads; `None` if it is not memoized.
    variables: Option<Box<[VarId]>>,
    /// The values for which it was true.
    holds: HashSet<Box<[Value]>, FxBuildHasher>,
    asked: u32,
    known: u32,
}

impl Machine<'_> {
    /// Whether a predicate holds in a state; memoized if that pays off.
    pub fn holds(&mut self, predicate: ExprId, state: &State) -> Result<bool> {
        if !self.memos.0.contains_key(&predicate) {
            let memo =
                Memo { variables: self.read_variables(predicate), holds: HashSet::default(), asked: 0, known: 0 };
            self.memos.0.insert(predicate, memo);
        }
        let memo = self.memos.0.get_mut(&predicate).expect("it was just added");
        let Some(variables) = &memo.variables else {
            return self.holds_now(predicate, state);
        };
        let values: Box<[Value]> = variables.iter().map(|variable| state[variable.0 as usize].clone()).collect();
        memo.asked += 1;
        if memo.holds.contains(&values) {
            memo.known += 1;
            return Ok(true);
        }
        if memo.asked > TRIAL && memo.known < memo.asked / 2 {
            memo.variables = None;
            memo.holds = HashSet::default();
            return self.holds_now(predicate, state);
        }
        let holds = self.holds_now(predicate, state)?;
        if holds && let Some(memo) = self.memos.0.get_mut(&predicate) {
            memo.holds.insert(values);
        }
        Ok(holds)
    }

    /// The variables that a predicate reads, if it reads some but not all, and nothing volatile.
    fn read_variables(&self, predicate: ExprId) -> Option<Box<[VarId]>> {
        let mut reader =
            Reader { machine: self, read: vec![false; self.next.len()], visited: Vec::new(), is_pure: true };
        reader.expr(predicate);
        let Reader { read, is_pure, .. } = reader;
        let variables: Box<[VarId]> =
            read.iter().enumerate().filter(|(_, is_read)| **is_read).map(|(index, _)| VarId(index as u32)).collect();
        (is_pure && variables.len() < read.len()).then_some(variables)
    }
}

/// Visits everything that an expression can reach.
struct Reader<'m, 'p> {
    machine: &'m Machine<'p>,
    read: Vec<bool>,
    visited: Vec<DefId>,
    is_pure: bool,
}

impl Reader<'_, '_> {
    fn expr(&mut self, expr: ExprId) {
        let node = self.machine.exprs.node(expr);
        match node {
            Node::Variable(variable) => self.read[variable.0 as usize] = true,
            Node::Enabled(..) => self.is_pure = false,
            _ => {}
        }
        node.for_each_callee(&mut |callee| self.definition(callee));
        node.for_each_child(&mut |child| self.expr(child));
    }

    fn definition(&mut self, def: DefId) {
        if self.visited.contains(&def) {
            return;
        }
        self.visited.push(def);
        match &self.machine.definitions[def.0 as usize].body {
            Body::Expr(body) => self.expr(*body),
            Body::Native(native) => self.is_pure &= !native.is_volatile,
            Body::Declared => {}
        }
    }
}

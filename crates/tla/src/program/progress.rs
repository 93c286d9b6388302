//! Whether a program depends on how the search proceeds.

use super::{Program, Property};
use crate::ir::{Arg, Body, DefId, ExprId, Node};
use crate::value::Value;

impl Program {
    /// Whether a state, a step or an assumption may read the progress of the search, or sets registers. Then the
    /// result depends on the order in which states are explored, and on which worker explores them.
    pub fn reads_progress(&self) -> bool {
        let named = [&self.invariants, &self.constraints, &self.action_constraints].into_iter().flatten();
        let properties = self.properties.iter().flat_map(|(_, property)| match *property {
            Property::Initial(expr) | Property::Step(expr) => vec![expr],
            Property::Promise { given, kept, .. } => vec![given, kept],
        });
        let entries = self.init.into_iter().chain(self.next).chain(self.view).chain(named.map(|(_, expr)| *expr));
        let assumptions = self.module.assumptions.iter().map(|(_, expr)| *expr);
        let mut exprs: Vec<ExprId> = entries.chain(properties).chain(assumptions).collect();
        // A promise is evaluated after each state, one by one.
        let mut is_found = self.properties.iter().any(|(_, property)| property.is_promise());
        let mut is_visited = vec![false; self.module.definitions.len()];
        while let Some(expr) = exprs.pop().filter(|_| !is_found) {
            let node = self.module.exprs.node(expr);
            // States inside a composition count as generated, one state after the other.
            is_found |= matches!(node, Node::Compose(..));
            node.for_each_child(&mut |child| exprs.push(child));
            node.for_each_callee(&mut |callee| {
                let is_known = std::mem::replace(&mut is_visited[callee.0 as usize], true);
                match self.definition(callee).body {
                    Body::Expr(body) if !is_known => exprs.push(body),
                    Body::Native(_) => is_found |= self.is_about_progress(node, callee),
                    _ => {}
                }
            });
        }
        is_found
    }

    /// Whether a node calls `TLCSet`, or `TLCGet` of anything but the level of a state.
    fn is_about_progress(&self, node: &Node, callee: DefId) -> bool {
        let Body::Native(native) = self.definition(callee).body else { return false };
        match (native.name, node) {
            ("TLCSet" | "TLCGetOrDefault" | "TLCGetAndSet", _) => true,
            ("TLCGet", Node::Call { args, .. }) => match args.first() {
                Some(Arg::Expr(arg)) => match self.module.exprs.node(*arg) {
                    Node::Value(Value::Str(name)) => self.module.strings.text(name) != "level",
                    _ => true,
                },
                _ => true,
            },
            ("TLCGet", _) => true,
            _ => false,
        }
    }
}

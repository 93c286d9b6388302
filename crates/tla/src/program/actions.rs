//! The actions of the next-state relation, for users to read.
//!
//! An action has the name of the innermost definition around it, and a parameter for each name that `\E` binds on the
//! path or that the definition takes, with the text of its set or argument.

use super::Program;
use super::path::{Path, Place};
use crate::ir::{DefId, ExprId, Node};
use crate::source::Site;

/// One action of the next-state relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// The innermost definition around it.
    pub name: String,
    /// Its parameters: a name, and its set or argument, as written.
    pub params: Vec<(String, String)>,
    /// Its location.
    pub site: Site,
    /// The definition below the relation whose name a trace uses for it; `None` if it is in the relation itself. That
    /// is the innermost one, but a definition that is only an alias keeps its own name: `Tick == UnchangedAll` is
    /// recorded as a `Tick`.
    pub operation: Option<DefId>,
}

impl Program {
    /// Finds the actions of the next-state relation, in order.
    pub(super) fn split_next(&self) -> Vec<Action> {
        self.next.map(|next| self.actions_in(next, None)).unwrap_or_default()
    }

    /// The names of the actions in a definition: its own, if it cannot be split.
    pub fn actions_of(&self, def: DefId) -> Vec<String> {
        let actions = self.body(def).map(|body| self.actions_in(body, Some(def))).unwrap_or_default();
        actions.into_iter().map(|action| action.name).collect()
    }

    /// The definitions that a definition calls, directly or through others.
    pub fn callees(&self, def: DefId) -> Vec<DefId> {
        let mut found = vec![def];
        let mut next = 0;
        while let Some(&caller) = found.get(next) {
            next += 1;
            let Some(body) = self.body(caller) else { continue };
            let mut callees = Vec::new();
            self.module.exprs.for_each_below(body, &mut |node| {
                if let Node::Inlined { def, .. } = node {
                    callees.push(*def);
                }
                node.for_each_callee(&mut |callee| callees.push(callee));
            });
            for callee in callees {
                if !found.contains(&callee) {
                    found.push(callee);
                }
            }
        }
        found.split_off(1)
    }

    fn actions_in(&self, root: ExprId, of: Option<DefId>) -> Vec<Action> {
        let mut actions = Vec::new();
        self.walk(root, of, &mut |path, place| {
            if let Place::Action(expr) = place {
                actions.push(Action {
                    name: path.calls.last().map_or("Next", |(def, _)| &self.definition(*def).name).to_owned(),
                    params: path.visible.iter().filter_map(|seen| seen.written.clone()).collect(),
                    site: self.module.exprs.site(expr),
                    operation: path.operation(),
                });
            }
        });
        actions
    }
}

impl Path<'_> {
    fn operation(&self) -> Option<DefId> {
        let below = self.calls.get(1..)?;
        let whole = below.windows(2).find(|calls| calls[0].1 + 1 == calls[1].1).map(|calls| &calls[0]);
        whole.or(below.last()).map(|(def, _)| *def)
    }
}

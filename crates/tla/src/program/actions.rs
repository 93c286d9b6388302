//! The actions that the next-state relation is made of, for people to read.
//!
//! An action has the name of the innermost definition around it, and a parameter for each name that `\E` binds on the way
//! or that the definition takes, with the words of the set it comes from or of the argument it is given.

use super::Program;
use super::path::{Path, Place};
use crate::ir::{DefId, ExprId};
use crate::source::Site;

/// One action of the next-state relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// The innermost definition around it.
    pub name: String,
    /// Its parameters: a name, and the set it is taken from or the argument it is given, as written.
    pub params: Vec<(String, String)>,
    /// Where it stands.
    pub site: Site,
    /// The definition below the relation that a recording names it by; `None` if it stands in the relation itself. That is
    /// the innermost one, but a definition that is nothing but another one goes by its own name: `Tick == UnchangedAll` is
    /// recorded as a `Tick`.
    pub operation: Option<DefId>,
}

impl Program {
    /// Finds the actions that the next-state relation is made of, in order.
    pub(super) fn split_next(&self) -> Vec<Action> {
        self.next.map(|next| self.actions_in(next, None)).unwrap_or_default()
    }

    /// The names of the actions that a definition is made of: its own, if it cannot be split.
    pub fn actions_of(&self, def: DefId) -> Vec<String> {
        let actions = self.body(def).map(|body| self.actions_in(body, Some(def))).unwrap_or_default();
        actions.into_iter().map(|action| action.name).collect()
    }

    fn actions_in(&self, root: ExprId, of: Option<DefId>) -> Vec<Action> {
        let mut actions = Vec::new();
        self.walk(root, of, &mut |path, place| {
            if let Place::Action(expr) = place {
                actions.push(Action {
                    name: path.calls.last().map_or("Next", |(def, _)| &self.definition(*def).name).to_owned(),
                    params: path.seen.iter().filter_map(|seen| seen.written.clone()).collect(),
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

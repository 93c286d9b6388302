//! The actions that the next-state relation is made of, for people to read.
//!
//! The relation is split as TLC splits it, at `\/`, `\E`, `LET` and calls of definitions that are again made of these. What
//! cannot be split further is an action. It has the name of the innermost definition around it, and a parameter for each
//! name that `\E` binds on the way or that the definition takes, with the words of the set it comes from or of the argument
//! it is given.

use super::Program;
use crate::ir::{Arg, Bound, DefId, ExprId, Level, Node, SlotId};
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
}

/// A name that can be seen where an action stands.
struct Seen {
    slot: SlotId,
    name: String,
    words: String,
}

impl Program {
    /// Finds the actions that the next-state relation is made of, in order.
    pub(super) fn split_next(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        if let Some(next) = self.next {
            let mut calls = Vec::new();
            self.split(next, "Next", &mut Vec::new(), &mut calls, &mut actions);
        }
        actions
    }

    /// The names of the actions that a definition is made of: its own, if it cannot be split.
    pub fn actions_of(&self, def: DefId) -> Vec<&str> {
        let mut names = Vec::new();
        if let Some(body) = self.body(def) {
            self.name_actions(body, &self.definition(def).name, &mut vec![def], &mut names);
        }
        names
    }

    fn name_actions<'p>(&'p self, expr: ExprId, name: &'p str, calls: &mut Vec<DefId>, names: &mut Vec<&'p str>) {
        match self.module.exprs.node(expr) {
            Node::Or(parts) => parts.iter().for_each(|part| self.name_actions(*part, name, calls, names)),
            Node::Let { body, .. } | Node::Exists { body, .. } => self.name_actions(*body, name, calls, names),
            Node::Call { def, .. } | Node::Inlined { def, .. } if self.is_split(*def, calls) => {
                let body = self.body(*def).expect("a definition that is split is written in TLA+");
                calls.push(*def);
                self.name_actions(body, &self.definition(*def).name, calls, names);
                calls.pop();
            }
            _ => names.push(name),
        }
    }

    fn split(&self, expr: ExprId, name: &str, seen: &mut Vec<Seen>, calls: &mut Vec<DefId>, actions: &mut Vec<Action>) {
        let exprs = &self.module.exprs;
        match exprs.node(expr) {
            Node::Or(parts) => parts.iter().for_each(|part| self.split(*part, name, seen, calls, actions)),
            Node::Let { body, .. } => self.split(*body, name, seen, calls, actions),
            Node::Exists { bounds, body } => {
                let before = seen.len();
                seen.extend(self.bound_names(bounds));
                self.split(*body, name, seen, calls, actions);
                seen.truncate(before);
            }
            Node::Call { def, args } if self.is_split(*def, calls) => {
                let definition = self.definition(*def);
                let mut inner: Vec<Seen> = Vec::new();
                for (index, (param, arg)) in definition.params.iter().zip(args).enumerate() {
                    let slot = SlotId(index as u32);
                    inner.push(Seen { slot, name: param.name.clone(), words: self.arg_words(arg, seen) });
                }
                let body = self.body(*def).expect("a definition that is split is written in TLA+");
                calls.push(*def);
                self.split(body, &definition.name, &mut inner, calls, actions);
                calls.pop();
            }
            _ => {
                let params = seen.iter().map(|seen| (seen.name.clone(), seen.words.clone())).collect();
                actions.push(Action { name: name.into(), params, site: exprs.site(expr) });
            }
        }
    }

    /// Whether to look inside a definition: it is about steps, written in TLA+, and not being looked into already.
    fn is_split(&self, def: DefId, calls: &[DefId]) -> bool {
        let definition = self.definition(def);
        definition.level == Level::Action && self.body(def).is_some() && !calls.contains(&def)
    }

    fn arg_words(&self, arg: &Arg, seen: &[Seen]) -> String {
        let of_slot = |slot: &SlotId| seen.iter().find(|seen| seen.slot == *slot).map(|seen| seen.words.clone());
        match arg {
            Arg::Expr(expr) => match self.module.exprs.node(*expr) {
                Node::Local(slot) | Node::Argument(slot) => of_slot(slot),
                _ => None,
            }
            .unwrap_or_else(|| self.words(*expr)),
            Arg::Slot(slot) => of_slot(slot).unwrap_or_default(),
            Arg::Operator(def, _) => self.definition(*def).name.clone(),
        }
    }

    pub(super) fn words(&self, expr: ExprId) -> String {
        let words = self.module.sources.words(self.module.exprs.site(expr));
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The names that a quantifier binds.
    fn bound_names(&self, bounds: &[Bound]) -> Vec<Seen> {
        let names = |bound: &Bound| {
            let words = self.words(bound.set);
            let slots = bound.pattern.slots().iter().zip(&bound.names);
            slots.map(|(&slot, name)| Seen { slot, name: name.clone(), words: words.clone() }).collect::<Vec<_>>()
        };
        bounds.iter().flat_map(names).collect()
    }
}

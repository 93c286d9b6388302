//! Splits the next-state relation as TLC does: at `\/`, `\E`, `LET` and calls of action-level definitions.
//!
//! [`Program::walk`] is the only walk that does this. It goes from the root to every part that cannot be split, which
//! is an action, and passes every call on the way; at both it passes the [`Path`] so far: the steps from the root,
//! and the known facts about each visible name. It handles programs before calls are inlined, where a call has its
//! own frame, and after, where a [`Node::Inlined`] shares its caller's.

use super::Program;
use super::walk::level;
use crate::ir::{Arg, Bound, DefId, ExprId, ExprLevel, Node, SlotId};

/// One step of a path.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Into this disjunct.
    Disjunct(ExprId),
    /// Past the definition of a `LET`.
    Let(ExprId),
    /// Past the bounds of an `\E`.
    Exists(ExprId, Box<[Link]>),
    /// Into the body of a definition.
    Into(ExprId),
}

/// The known facts about a bound of an `\E`.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    /// For each name that it binds, the operation parameter that the name is passed to.
    pub(crate) params: Box<[Option<usize>]>,
    /// Whether its set depends only on constants and names bound earlier.
    pub(crate) is_constant: bool,
    /// Whether its set depends on no name that another `\E` binds.
    pub(crate) is_closed: bool,
}

/// A bound on a path: the step, the bound, and the index of the name.
type Origin = (usize, usize, usize);

/// A name visible at the end of a path.
#[derive(Clone)]
pub(super) struct VisibleName {
    slot: SlotId,
    /// Its name in the text, and the text of its set or argument; `None` for a `LET`.
    pub(super) written: Option<(String, String)>,
    /// The bound that its value comes from.
    pub(super) origin: Option<Origin>,
    pub(super) is_constant: bool,
    pub(super) is_closed: bool,
}

/// The position of a walk.
pub(super) enum Place {
    /// At a call of an action-level definition.
    Call(DefId, ExprId),
    /// At an action.
    Action(ExprId),
}

/// The path of a walk to its position.
pub(super) struct Path<'p> {
    program: &'p Program,
    pub(super) steps: Vec<Step>,
    /// The names of the current frame.
    pub(super) visible: Vec<VisibleName>,
    /// The definitions around the position, from the outside in, each with the number of steps to its body.
    pub(super) calls: Vec<(DefId, usize)>,
}

impl Program {
    /// Visits every call and every action of a relation, in order. If it is the body of a definition, calls of that
    /// definition are not entered.
    pub(super) fn walk<'p>(&'p self, root: ExprId, of: Option<DefId>, visit: &mut dyn FnMut(&Path<'p>, Place)) {
        let calls = of.map(|def| (def, 0)).into_iter().collect();
        Path { program: self, steps: Vec::new(), visible: Vec::new(), calls }.expr(root, visit);
    }

    pub(super) fn words(&self, expr: ExprId) -> String {
        let words = self.module.sources.words(self.module.exprs.site(expr));
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

impl<'p> Path<'p> {
    fn expr(&mut self, expr: ExprId, visit: &mut dyn FnMut(&Path<'p>, Place)) {
        let before = self.visible.len();
        match self.program.module.exprs.node(expr) {
            Node::Or(parts) => parts.iter().for_each(|&part| self.step(Step::Disjunct(part), part, visit)),
            Node::Let { slot, value, body } => {
                self.visible.push(VisibleName { written: None, ..self.standing_for(*slot, *value) });
                self.step(Step::Let(expr), *body, visit);
            }
            Node::Exists { bounds, body } => {
                let links = bounds.iter().map(|bound| self.link(bound)).collect();
                bounds.iter().enumerate().for_each(|(index, bound)| self.bind(index, bound));
                self.step(Step::Exists(expr, links), *body, visit);
            }
            Node::Call { def, .. } | Node::Inlined { def, .. } if self.enters(*def) => self.enter(expr, *def, visit),
            _ => visit(self, Place::Action(expr)),
        }
        self.visible.truncate(before);
    }

    fn step(&mut self, step: Step, next: ExprId, visit: &mut dyn FnMut(&Path<'p>, Place)) {
        self.steps.push(step);
        self.expr(next, visit);
        self.steps.pop();
    }

    /// Whether to enter a definition: it is action-level and not already being visited.
    fn enters(&self, def: DefId) -> bool {
        let is_new = self.calls.iter().all(|(known, _)| *known != def);
        is_new && self.program.definition(def).level == ExprLevel::Action && self.program.body(def).is_some()
    }

    fn enter(&mut self, call: ExprId, def: DefId, visit: &mut dyn FnMut(&Path<'p>, Place)) {
        visit(self, Place::Call(def, call));
        self.calls.push((def, self.steps.len() + 1));
        match (self.program.module.exprs.node(call), self.program.body(def)) {
            (Node::Call { args, .. }, Some(body)) => {
                let params = self.program.definition(def).params.iter().zip(args).enumerate();
                let inner = params.map(|(index, (param, arg))| self.argument(SlotId(index as u32), &param.name, arg));
                let inner = inner.collect();
                let outer = std::mem::replace(&mut self.visible, inner);
                self.step(Step::Into(call), body, visit);
                self.visible = outer;
            }
            (Node::Inlined { body, .. }, _) => self.step(Step::Into(call), *body, visit),
            _ => unreachable!("only calls are entered"),
        }
        self.calls.pop();
    }

    fn link(&self, bound: &Bound) -> Link {
        let VisibleName { is_constant, is_closed, .. } = self.standing_for(SlotId(0), bound.set);
        Link { params: vec![None; bound.pattern.slots().len()].into(), is_constant, is_closed }
    }

    /// Adds the names of a bound of the `\E` that is the next step.
    fn bind(&mut self, index: usize, bound: &Bound) {
        let words = self.program.words(bound.set);
        for (place, (&slot, name)) in bound.pattern.slots().iter().zip(&bound.names).enumerate() {
            let written = Some((name.clone(), words.clone()));
            let origin = Some((self.steps.len(), index, place));
            self.visible.push(VisibleName { slot, written, origin, is_constant: true, is_closed: false });
        }
    }

    /// A parameter with its argument.
    fn argument(&self, slot: SlotId, name: &str, arg: &Arg) -> VisibleName {
        let (seen, otherwise) = match arg {
            Arg::Expr(expr) => (self.standing_for(slot, *expr), self.program.words(*expr)),
            Arg::Slot(given) => (self.lookup(*given), String::new()),
            Arg::Operator(def, _) => (VisibleName::unknown(slot), self.program.definition(*def).name.clone()),
        };
        let words = seen.written.map_or(otherwise, |(_, words)| words);
        VisibleName { slot, written: Some((name.to_owned(), words)), ..seen }
    }

    /// The known facts about a name for an expression.
    pub(super) fn standing_for(&self, slot: SlotId, value: ExprId) -> VisibleName {
        let module = &self.program.module;
        if let Node::Local(other) | Node::Argument(other) = module.exprs.node(value) {
            return VisibleName { slot, ..self.lookup(*other) };
        }
        let read: Vec<VisibleName> = module.exprs.free_slots(value).into_iter().map(|slot| self.lookup(slot)).collect();
        let level = level(&module.exprs, &module.definitions, value, ExprLevel::Temporal);
        VisibleName {
            is_constant: level == ExprLevel::Constant && read.iter().all(|seen| seen.is_constant),
            is_closed: read.iter().all(|seen| seen.is_closed),
            ..VisibleName::unknown(slot)
        }
    }

    pub(super) fn lookup(&self, slot: SlotId) -> VisibleName {
        let known = self.visible.iter().rev().find(|seen| seen.slot == slot);
        known.cloned().unwrap_or(VisibleName::unknown(slot))
    }
}

impl VisibleName {
    fn unknown(slot: SlotId) -> VisibleName {
        VisibleName { slot, written: None, origin: None, is_constant: false, is_closed: false }
    }
}

/// The bounds of an `\E`.
pub(crate) fn bounds_of(program: &Program, expr: ExprId) -> &[Bound] {
    match program.module.exprs.node(expr) {
        Node::Exists { bounds, .. } => bounds,
        _ => unreachable!("only `\\E` is a step past bounds"),
    }
}

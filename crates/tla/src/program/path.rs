//! Takes the next-state relation apart, as TLC does: at `\/`, `\E`, `LET` and calls of definitions that are about steps.
//!
//! [`Program::walk`] is the one walk that does this. It goes from the root to every part that cannot be taken apart, which
//! is an action, and passes every call on the way; at both it shows the [`Path`] so far: the steps from the root, and what
//! is known about each name that can be seen there. It reads programs before calls are inlined, where a call has a frame of
//! its own, and after, where a [`Node::Inlined`] shares its caller's.

use super::Program;
use super::walk::level;
use crate::ir::{Arg, Bound, DefId, ExprId, Level, Node, SlotId};

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

/// What is known about a bound of an `\E`.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    /// For each name that it binds, the parameter of an operation that the name is handed to.
    pub(crate) params: Box<[Option<usize>]>,
    /// Whether its set depends on constants and names bound before alone.
    pub(crate) is_constant: bool,
    /// Whether its set depends on no name that another `\E` binds.
    pub(crate) is_closed: bool,
}

/// A bound on a path: the step, the bound, and which of the names it binds.
type Origin = (usize, usize, usize);

/// A name that can be seen at the end of a path.
#[derive(Clone)]
pub(super) struct Seen {
    slot: SlotId,
    /// What its author called it, and the words of the set or the argument that it stands for; `None` for a `LET`.
    pub(super) written: Option<(String, String)>,
    /// The bound that its value comes from.
    pub(super) origin: Option<Origin>,
    pub(super) is_constant: bool,
    pub(super) is_closed: bool,
}

/// Where a walk is.
pub(super) enum Place {
    /// At a call of a definition that is about steps.
    Call(DefId, ExprId),
    /// At an action.
    Action(ExprId),
}

/// How a walk came to where it is.
pub(super) struct Path<'p> {
    program: &'p Program,
    pub(super) steps: Vec<Step>,
    /// The names of the current frame.
    pub(super) seen: Vec<Seen>,
    /// The definitions that it is inside of, from the outside in, each with the number of steps to its body.
    pub(super) calls: Vec<(DefId, usize)>,
}

impl Program {
    /// Visits every call and every action of a relation, in order. If it is the body of a definition, calls of that
    /// definition are not entered.
    pub(super) fn walk<'p>(&'p self, root: ExprId, of: Option<DefId>, visit: &mut dyn FnMut(&Path<'p>, Place)) {
        let calls = of.map(|def| (def, 0)).into_iter().collect();
        Path { program: self, steps: Vec::new(), seen: Vec::new(), calls }.expr(root, visit);
    }

    pub(super) fn words(&self, expr: ExprId) -> String {
        let words = self.module.sources.words(self.module.exprs.site(expr));
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

impl<'p> Path<'p> {
    fn expr(&mut self, expr: ExprId, visit: &mut dyn FnMut(&Path<'p>, Place)) {
        let before = self.seen.len();
        match self.program.module.exprs.node(expr) {
            Node::Or(parts) => parts.iter().for_each(|&part| self.step(Step::Disjunct(part), part, visit)),
            Node::Let { slot, value, body } => {
                self.seen.push(Seen { written: None, ..self.standing_for(*slot, *value) });
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
        self.seen.truncate(before);
    }

    fn step(&mut self, step: Step, next: ExprId, visit: &mut dyn FnMut(&Path<'p>, Place)) {
        self.steps.push(step);
        self.expr(next, visit);
        self.steps.pop();
    }

    /// Whether to look into a definition: it is about steps and is not being looked into already.
    fn enters(&self, def: DefId) -> bool {
        let is_new = self.calls.iter().all(|(known, _)| *known != def);
        is_new && self.program.definition(def).level == Level::Action && self.program.body(def).is_some()
    }

    fn enter(&mut self, call: ExprId, def: DefId, visit: &mut dyn FnMut(&Path<'p>, Place)) {
        visit(self, Place::Call(def, call));
        self.calls.push((def, self.steps.len() + 1));
        match (self.program.module.exprs.node(call), self.program.body(def)) {
            (Node::Call { args, .. }, Some(body)) => {
                let params = self.program.definition(def).params.iter().zip(args).enumerate();
                let inner = params.map(|(index, (param, arg))| self.argument(SlotId(index as u32), &param.name, arg));
                let inner = inner.collect();
                let outer = std::mem::replace(&mut self.seen, inner);
                self.step(Step::Into(call), body, visit);
                self.seen = outer;
            }
            (Node::Inlined { body, .. }, _) => self.step(Step::Into(call), *body, visit),
            _ => unreachable!("only calls are entered"),
        }
        self.calls.pop();
    }

    fn link(&self, bound: &Bound) -> Link {
        let Seen { is_constant, is_closed, .. } = self.standing_for(SlotId(0), bound.set);
        Link { params: vec![None; bound.pattern.slots().len()].into(), is_constant, is_closed }
    }

    /// Adds the names of a bound of the `\E` that is the next step.
    fn bind(&mut self, index: usize, bound: &Bound) {
        let words = self.program.words(bound.set);
        for (place, (&slot, name)) in bound.pattern.slots().iter().zip(&bound.names).enumerate() {
            let written = Some((name.clone(), words.clone()));
            let origin = Some((self.steps.len(), index, place));
            self.seen.push(Seen { slot, written, origin, is_constant: true, is_closed: false });
        }
    }

    /// A parameter with its argument.
    fn argument(&self, slot: SlotId, name: &str, arg: &Arg) -> Seen {
        let (seen, otherwise) = match arg {
            Arg::Expr(expr) => (self.standing_for(slot, *expr), self.program.words(*expr)),
            Arg::Slot(given) => (self.lookup(*given), String::new()),
            Arg::Operator(def, _) => (Seen::unknown(slot), self.program.definition(*def).name.clone()),
        };
        let words = seen.written.map_or(otherwise, |(_, words)| words);
        Seen { slot, written: Some((name.to_owned(), words)), ..seen }
    }

    /// What is known about a name that stands for an expression.
    pub(super) fn standing_for(&self, slot: SlotId, value: ExprId) -> Seen {
        let module = &self.program.module;
        if let Node::Local(other) | Node::Argument(other) = module.exprs.node(value) {
            return Seen { slot, ..self.lookup(*other) };
        }
        let read: Vec<Seen> = module.exprs.free_slots(value).into_iter().map(|slot| self.lookup(slot)).collect();
        let level = level(&module.exprs, &module.definitions, value, Level::Temporal);
        Seen {
            is_constant: level == Level::Constant && read.iter().all(|seen| seen.is_constant),
            is_closed: read.iter().all(|seen| seen.is_closed),
            ..Seen::unknown(slot)
        }
    }

    pub(super) fn lookup(&self, slot: SlotId) -> Seen {
        let known = self.seen.iter().rev().find(|seen| seen.slot == slot);
        known.cloned().unwrap_or(Seen::unknown(slot))
    }
}

impl Seen {
    fn unknown(slot: SlotId) -> Seen {
        Seen { slot, written: None, origin: None, is_constant: false, is_closed: false }
    }
}

/// The bounds of an `\E`.
pub(crate) fn bounds_of(program: &Program, expr: ExprId) -> &[Bound] {
    match program.module.exprs.node(expr) {
        Node::Exists { bounds, .. } => bounds,
        _ => unreachable!("only `\\E` is a step past bounds"),
    }
}

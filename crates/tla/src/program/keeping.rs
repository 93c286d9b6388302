//! Finds the variables that an action leaves unchanged, from its text.
//!
//! An operation that changes nothing can be placed anywhere, which a search can use without running it. The [`Shape`]
//! of an action has the relevant parts: the conjuncts that leave a variable unchanged, the alternatives, and the
//! conditions that depend on constants and parameters alone, so that recorded arguments can rule out an alternative.
//! `Insert(k, v, ok)` changes something only where `ok` is TRUE.
//!
//! Every shape is weaker than its formula: every step that satisfies the formula leaves the shape's variables
//! unchanged. An unrecognized formula keeps no variable.

use super::Program;
use super::walk::level;
use crate::ir::{Body, DefId, ExprId, ExprLevel, Node, SlotId, VarId};

/// The variables that the body of an operator leaves unchanged in every step that satisfies it.
#[derive(Debug, Clone)]
pub(crate) struct Keeping {
    pub(crate) shape: Shape,
    /// All variables.
    pub(crate) all: Variables,
}

/// A set of variables, as bits.
pub(crate) type Variables = u128;

/// The part of a formula that is about unchanged variables.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    /// These variables stay the same.
    Keeps(Variables),
    /// True or false by constants and parameters alone.
    Guard(ExprId),
    /// A conjunction.
    All(Vec<Shape>),
    /// A disjunction, or any other choice between formulas.
    Any(Vec<Shape>),
    /// A name for an expression used inside.
    Let(SlotId, ExprId, Box<Shape>),
    /// Conditions in order and their branches; `None` for one that depends on the state.
    Cases(Vec<(Option<ExprId>, Shape)>),
}

impl Keeping {
    /// The variables that a body leaves unchanged, in a frame whose first slots are parameters.
    pub(crate) fn of(program: &Program, body: ExprId, params: usize) -> Keeping {
        let variables = program.module.variables.len();
        if variables > Variables::BITS as usize {
            // No real specification has this many, and keeping none is sound.
            return Keeping { shape: Shape::Keeps(0), all: Variables::MAX };
        }
        let names = (0..params as u32).map(|slot| Name { slot: SlotId(slot), value: None, is_known: true }).collect();
        let mut reader = Reader { program, names };
        let all = (0..variables).fold(0, |all, variable| all | bit(VarId(variable as u32)));
        Keeping { shape: reader.shape(body), all }
    }
}

fn bit(variable: VarId) -> Variables {
    1 << variable.0
}

/// A visible name.
struct Name {
    slot: SlotId,
    /// The value bound by a `LET`.
    value: Option<ExprId>,
    /// Whether it depends on constants and parameters alone.
    is_known: bool,
}

struct Reader<'p> {
    program: &'p Program,
    names: Vec<Name>,
}

impl Reader<'_> {
    fn shape(&mut self, expr: ExprId) -> Shape {
        if self.is_known(expr) {
            return Shape::Guard(expr);
        }
        match self.program.module.exprs.node(expr) {
            Node::And(parts) => all(parts.iter().map(|&part| self.shape(part)).collect()),
            Node::Or(parts) => any(parts.iter().map(|&part| self.shape(part)).collect()),
            Node::Inlined { body, .. } => self.shape(*body),
            Node::Let { slot, value, body } => self.named(*slot, *value, |reader| reader.shape(*body)),
            Node::Exists { bounds, body } => {
                let before = self.names.len();
                let slots = bounds.iter().flat_map(|bound| bound.pattern.slots());
                self.names.extend(slots.map(|&slot| Name { slot, value: None, is_known: false }));
                let shape = self.shape(*body);
                self.names.truncate(before);
                shape
            }
            Node::If(condition, yes, no) => self.branches(&[(*condition, *yes)], Some(*no), &mut Self::shape),
            Node::Case { arms, other } => self.branches(arms, *other, &mut Self::shape),
            Node::Implies(condition, body) if self.is_known(*condition) => {
                let body = self.shape(*body);
                cases(vec![(Some(*condition), body), (None, Shape::Keeps(0))])
            }
            Node::Unchanged(inner) => Shape::Keeps(self.variables(*inner)),
            Node::Equal(a, b) => self.equal(*a, *b),
            Node::Square(action, subscript) => {
                let action = self.shape(*action);
                any(vec![action, Shape::Keeps(self.variables(*subscript))])
            }
            Node::Angle(action, _) => self.shape(*action),
            _ => Shape::Keeps(0),
        }
    }

    /// Conditions that are tried in order.
    fn branches(
        &mut self,
        arms: &[(ExprId, ExprId)],
        other: Option<ExprId>,
        shape: &mut dyn FnMut(&mut Self, ExprId) -> Shape,
    ) -> Shape {
        let mut branches = Vec::new();
        for (condition, body) in arms {
            let condition = Some(*condition).filter(|condition| self.is_known(*condition));
            branches.push((condition, shape(self, *body)));
        }
        // If no arm is true, evaluation fails, so the missing arm keeps nothing.
        branches.push((None, other.map_or(Shape::Keeps(0), |other| shape(self, other))));
        cases(branches)
    }

    fn named(&mut self, slot: SlotId, value: ExprId, read: impl FnOnce(&mut Self) -> Shape) -> Shape {
        let is_known = self.is_known(value);
        self.names.push(Name { slot, value: Some(value), is_known });
        let shape = read(self);
        self.names.pop();
        match shape {
            Shape::Keeps(_) => shape,
            _ => Shape::Let(slot, value, Box::new(shape)),
        }
    }

    /// `x' = e` and `<<x, y>>' = <<x, y>>`, either way round.
    fn equal(&mut self, a: ExprId, b: ExprId) -> Shape {
        for (primed, other) in [(a, b), (b, a)] {
            if let Node::Prime(inner) = self.program.module.exprs.node(self.seen_through(primed)) {
                return self.becomes(*inner, other);
            }
        }
        Shape::Keeps(0)
    }

    fn becomes(&mut self, what: ExprId, new: ExprId) -> Shape {
        let exprs = &self.program.module.exprs;
        let what = self.seen_through(what);
        match (exprs.node(what), exprs.node(new)) {
            (Node::Variable(a), Node::Variable(b)) if a == b => Shape::Keeps(bit(*a)),
            (Node::Variable(_), Node::If(condition, yes, no)) => {
                self.branches(&[(*condition, *yes)], Some(*no), &mut |reader, new| reader.becomes(what, new))
            }
            (Node::Variable(_), Node::Case { arms, other }) => {
                self.branches(arms, *other, &mut |reader, new| reader.becomes(what, new))
            }
            (Node::Variable(_), Node::Let { slot, value, body }) => {
                self.named(*slot, *value, |reader| reader.becomes(what, *body))
            }
            (Node::Tuple(a), Node::Tuple(b)) if a.len() == b.len() => {
                all(a.iter().zip(b).map(|(&a, &b)| self.becomes(a, b)).collect())
            }
            _ => match self.seen_through(new) {
                seen if seen != new => self.becomes(what, seen),
                _ => Shape::Keeps(0),
            },
        }
    }

    /// The variables in an expression that stays the same: all variables of a tuple.
    fn variables(&self, expr: ExprId) -> Variables {
        match self.program.module.exprs.node(self.seen_through(expr)) {
            Node::Variable(variable) => bit(*variable),
            Node::Tuple(parts) => parts.iter().fold(0, |variables, &part| variables | self.variables(part)),
            _ => 0,
        }
    }

    /// The expression behind names and definitions without parameters.
    fn seen_through(&self, expr: ExprId) -> ExprId {
        match self.program.module.exprs.node(expr) {
            Node::Inlined { body, .. } => self.seen_through(*body),
            Node::Argument(slot) => match self.name(*slot).and_then(|name| name.value) {
                Some(value) => self.seen_through(value),
                None => expr,
            },
            Node::Call { def, args } if args.is_empty() && !self.program.definition(*def).is_recursive => {
                match self.program.body(*def) {
                    // Its own names have no meaning here.
                    Some(body) if self.program.module.exprs.room(body) == 0 => self.seen_through(body),
                    _ => expr,
                }
            }
            _ => expr,
        }
    }

    fn name(&self, slot: SlotId) -> Option<&Name> {
        self.names.iter().rev().find(|name| name.slot == slot)
    }

    /// Whether an expression depends on constants and parameters alone, and always has the same value.
    fn is_known(&self, expr: ExprId) -> bool {
        let module = &self.program.module;
        if level(&module.exprs, &module.definitions, expr, ExprLevel::Temporal) != ExprLevel::Constant {
            return false;
        }
        let free = module.exprs.free_slots(expr);
        let are_known = free.into_iter().all(|slot| self.name(slot).is_some_and(|name| name.is_known));
        are_known && self.is_stable(expr, &mut Vec::new())
    }

    /// Whether evaluating an expression uses neither the world nor an operator that is a parameter.
    fn is_stable(&self, expr: ExprId, visited: &mut Vec<DefId>) -> bool {
        let (mut is_stable, mut callees) = (true, Vec::new());
        self.program.module.exprs.for_each_below(expr, &mut |node| {
            is_stable &= !matches!(node, Node::CallArgument { .. } | Node::Enabled(..));
            node.for_each_callee(&mut |callee| callees.push(callee));
        });
        is_stable
            && callees.into_iter().all(|callee| {
                if visited.contains(&callee) {
                    return true;
                }
                visited.push(callee);
                match self.program.definition(callee).body {
                    Body::Expr(body) => self.is_stable(body, visited),
                    Body::Native(native) => !native.is_volatile,
                    Body::Declared => true,
                }
            })
    }
}

/// A conjunction, with its unconditionally kept variables merged.
fn all(parts: Vec<Shape>) -> Shape {
    let (mut kept, mut others) = (0, Vec::new());
    for part in parts {
        match part {
            Shape::Keeps(variables) => kept |= variables,
            other => others.push(other),
        }
    }
    if others.is_empty() {
        return Shape::Keeps(kept);
    }
    others.push(Shape::Keeps(kept));
    Shape::All(others)
}

fn any(parts: Vec<Shape>) -> Shape {
    let kept = |shape: &Shape| match shape {
        Shape::Keeps(variables) => Some(*variables),
        _ => None,
    };
    match parts.iter().map(kept).reduce(|a, b| Some(a? & b?)).flatten() {
        Some(kept) => Shape::Keeps(kept),
        None => Shape::Any(parts),
    }
}

fn cases(branches: Vec<(Option<ExprId>, Shape)>) -> Shape {
    if branches.iter().all(|(condition, _)| condition.is_none()) {
        return any(branches.into_iter().map(|(_, shape)| shape).collect());
    }
    Shape::Cases(branches)
}

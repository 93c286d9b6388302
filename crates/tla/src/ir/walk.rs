//! Walks through expressions: what stands inside one, and which slots it reads and binds.

use super::{Arg, ExprId, Exprs, Node, Pattern, SlotId, Step};

impl Exprs {
    /// The slots that an expression reads and does not bind itself, in order.
    pub fn free_slots(&self, expr: ExprId) -> Vec<SlotId> {
        let (mut read, mut bound) = (Vec::new(), Vec::new());
        self.for_each_below(expr, &mut |node| {
            node.for_each_slot_read(&mut |slot| read.push(slot));
            node.for_each_slot_bound(&mut |slot| bound.push(slot));
        });
        read.sort_unstable();
        read.dedup();
        read.retain(|slot| !bound.contains(slot));
        read
    }

    /// How many slots a frame needs to evaluate an expression.
    pub fn room(&self, expr: ExprId) -> usize {
        let mut room = 0;
        let mut see = |slot: SlotId| room = room.max(slot.0 as usize + 1);
        self.for_each_below(expr, &mut |node| {
            node.for_each_slot_read(&mut see);
            node.for_each_slot_bound(&mut see);
        });
        room
    }

    /// Visits an expression and everything inside it, as far as its own text goes.
    pub fn for_each_below(&self, expr: ExprId, visit: &mut dyn FnMut(&Node)) {
        let node = self.node(expr);
        visit(node);
        node.for_each_child(&mut |child| self.for_each_below(child, visit));
    }
}

impl Node {
    /// Visits the expressions directly inside, in the order of the text.
    pub fn for_each_child(&self, visit: &mut dyn FnMut(ExprId)) {
        let args = |args: &[Arg], visit: &mut dyn FnMut(ExprId)| {
            for arg in args {
                if let Arg::Expr(expr) = arg {
                    visit(*expr);
                }
            }
        };
        match self {
            Node::Value(_) | Node::Strings | Node::Variable(_) | Node::Local(_) | Node::Argument(_) => {}
            Node::Call { args: list, .. } | Node::CallArgument { args: list, .. } => args(list, visit),
            Node::Inlined { args, body, .. } => args.iter().flatten().copied().chain([*body]).for_each(visit),
            Node::And(parts)
            | Node::Or(parts)
            | Node::Set(parts)
            | Node::Tuple(parts)
            | Node::Product(parts)
            | Node::Shaped(_, parts)
            | Node::Unsupported { parts, .. } => parts.iter().copied().for_each(visit),
            Node::Not(a)
            | Node::Subsets(a)
            | Node::Union(a)
            | Node::Domain(a)
            | Node::Field(a, _)
            | Node::Prime(a)
            | Node::Unchanged(a)
            | Node::Enabled(a)
            | Node::Always(a) => visit(*a),
            Node::Implies(a, b)
            | Node::Equivalent(a, b)
            | Node::Arithmetic(_, _, a, b)
            | Node::Equal(a, b)
            | Node::NotEqual(a, b)
            | Node::In(a, b)
            | Node::NotIn(a, b)
            | Node::Subseteq(a, b)
            | Node::Cup(a, b)
            | Node::Cap(a, b)
            | Node::Minus(a, b)
            | Node::Functions(a, b)
            | Node::Apply(a, b)
            | Node::Square(a, b)
            | Node::Angle(a, b)
            | Node::Compose(a, b)
            | Node::Let { value: a, body: b, .. } => [*a, *b].into_iter().for_each(visit),
            Node::If(a, b, c) => [*a, *b, *c].into_iter().for_each(visit),
            Node::Case { arms, other } => {
                arms.iter().flat_map(|(guard, then)| [*guard, *then]).chain(*other).for_each(visit);
            }
            Node::Forall { bounds, body }
            | Node::Exists { bounds, body }
            | Node::Map { bounds, body }
            | Node::Function { bounds, body, .. } => {
                bounds.iter().map(|bound| bound.set).chain([*body]).for_each(visit);
            }
            Node::Choose { bound, body } | Node::Filter { bound, body } => {
                [bound.set, *body].into_iter().for_each(visit)
            }
            Node::Except { function, updates } => {
                visit(*function);
                for update in updates {
                    for step in &update.path {
                        if let Step::Index(index) = step {
                            visit(*index);
                        }
                    }
                    visit(update.value);
                }
            }
            Node::Record(fields) | Node::Records(fields) => fields.iter().map(|(_, expr)| *expr).for_each(visit),
        }
    }

    /// Visits the slots that the node itself reads.
    pub fn for_each_slot_read(&self, visit: &mut dyn FnMut(SlotId)) {
        match self {
            Node::Local(slot) | Node::Argument(slot) => visit(*slot),
            Node::Call { args, .. } | Node::CallArgument { args, .. } => {
                if let Node::CallArgument { slot, .. } = self {
                    visit(*slot);
                }
                for arg in args {
                    match arg {
                        Arg::Expr(_) => {}
                        Arg::Slot(slot) => visit(*slot),
                        Arg::Operator(_, captures) => captures.iter().copied().for_each(&mut *visit),
                    }
                }
            }
            _ => {}
        }
    }

    /// Visits the slots that the node binds for what is inside it.
    pub fn for_each_slot_bound(&self, visit: &mut dyn FnMut(SlotId)) {
        match self {
            Node::Let { slot, .. } => visit(*slot),
            Node::Forall { bounds, .. } | Node::Exists { bounds, .. } | Node::Map { bounds, .. } => {
                bounds.iter().flat_map(|bound| bound.pattern.slots()).copied().for_each(visit);
            }
            Node::Function { bounds, this, .. } => {
                bounds.iter().flat_map(|bound| bound.pattern.slots()).chain(this).copied().for_each(visit);
            }
            Node::Choose { bound, .. } | Node::Filter { bound, .. } => {
                bound.pattern.slots().iter().copied().for_each(visit);
            }
            Node::Except { updates, .. } => updates.iter().map(|update| update.at).for_each(visit),
            _ => {}
        }
    }
}

impl Pattern {
    /// The slots it binds.
    pub fn slots(&self) -> &[SlotId] {
        match self {
            Pattern::Slot(slot) => std::slice::from_ref(slot),
            Pattern::Tuple(slots) => slots,
        }
    }
}

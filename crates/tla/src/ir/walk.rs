//! Walks expressions: the children of a node, and the slots it reads and binds.

use super::{Arg, Bound, DefId, ExprId, Exprs, Node, Pattern, SlotId, Step, Update};

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

    /// The number of slots that a frame needs to evaluate an expression.
    pub fn room(&self, expr: ExprId) -> usize {
        let mut room = 0;
        let mut see = |slot: SlotId| room = room.max(slot.0 as usize + 1);
        self.for_each_below(expr, &mut |node| {
            node.for_each_slot_read(&mut see);
            node.for_each_slot_bound(&mut see);
        });
        room
    }

    /// Visits an expression and everything inside it, without entering callees.
    pub fn for_each_below(&self, expr: ExprId, visit: &mut dyn FnMut(&Node)) {
        let node = self.node(expr);
        visit(node);
        node.for_each_child(&mut |child| self.for_each_below(child, visit));
    }
}

/// The direct children of a node, in the order of the text. A shared node gives shared children, a mutable one
/// mutable children, and the children of each form are listed only once.
macro_rules! for_each_child {
    ($node:expr, $iter:ident, $visit:expr) => {
        match $node {
            Node::Value(_) | Node::Strings | Node::Variable(_) | Node::Local(_) | Node::Argument(_) => {}
            Node::Call { args, .. } | Node::CallArgument { args, .. } => {
                for arg in args.$iter() {
                    if let Arg::Expr(expr) = arg {
                        $visit(expr);
                    }
                }
            }
            Node::Inlined { args, body, .. } => args.$iter().flatten().chain([body]).for_each($visit),
            Node::And(parts)
            | Node::Or(parts)
            | Node::Set(parts)
            | Node::Tuple(parts)
            | Node::Product(parts)
            | Node::Shaped(_, parts)
            | Node::Unsupported { parts, .. } => parts.$iter().for_each($visit),
            Node::Not(a)
            | Node::Subsets(a)
            | Node::Union(a)
            | Node::Domain(a)
            | Node::Field(a, _)
            | Node::Prime(a)
            | Node::Unchanged(a)
            | Node::Enabled(a, _)
            | Node::Always(a)
            | Node::Idiom(_, a) => $visit(a),
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
            | Node::Let { value: a, body: b, .. } => [a, b].into_iter().for_each($visit),
            Node::If(a, b, c) => [a, b, c].into_iter().for_each($visit),
            Node::Case { arms, other } => {
                arms.$iter().flat_map(|(guard, then)| [guard, then]).chain(other).for_each($visit);
            }
            Node::Forall { bounds, body }
            | Node::Exists { bounds, body }
            | Node::Map { bounds, body }
            | Node::Function { bounds, body, .. } => {
                bounds.$iter().map(|Bound { set, .. }| set).chain([body]).for_each($visit);
            }
            Node::Choose { bound: Bound { set, .. }, body } | Node::Filter { bound: Bound { set, .. }, body } => {
                [set, body].into_iter().for_each($visit);
            }
            Node::Except { function, updates } => {
                $visit(function);
                for Update { path, value, .. } in updates.$iter() {
                    for step in path.$iter() {
                        if let Step::Index(index) = step {
                            $visit(index);
                        }
                    }
                    $visit(value);
                }
            }
            Node::Record(fields) | Node::Records(fields) => fields.$iter().map(|(_, expr)| expr).for_each($visit),
        }
    };
}

/// The slots that a node binds for its children; shared or mutable, as [`for_each_child`].
macro_rules! for_each_slot_bound {
    ($node:expr, $iter:ident, $slots:ident, $visit:expr) => {
        match $node {
            Node::Let { slot, .. } => $visit(slot),
            Node::Forall { bounds, .. } | Node::Exists { bounds, .. } | Node::Map { bounds, .. } => {
                bounds.$iter().flat_map(|Bound { pattern, .. }| pattern.$slots()).for_each($visit);
            }
            Node::Function { bounds, this, .. } => {
                bounds.$iter().flat_map(|Bound { pattern, .. }| pattern.$slots()).chain(this).for_each($visit);
            }
            Node::Choose { bound, .. } | Node::Filter { bound, .. } => {
                bound.pattern.$slots().into_iter().for_each($visit);
            }
            Node::Except { updates, .. } => updates.$iter().map(|Update { at, .. }| at).for_each($visit),
            _ => {}
        }
    };
}

impl Node {
    /// Visits the direct children, in the order of the text.
    pub fn for_each_child(&self, visit: &mut dyn FnMut(ExprId)) {
        let mut visit = |child: &ExprId| visit(*child);
        for_each_child!(self, iter, &mut visit);
    }

    /// Visits the direct children, to replace them.
    pub fn for_each_child_mut(&mut self, visit: &mut dyn FnMut(&mut ExprId)) {
        for_each_child!(self, iter_mut, &mut *visit);
    }

    /// The direct children, in the order of the text.
    pub fn children(&self) -> Vec<ExprId> {
        let mut children = Vec::new();
        self.for_each_child(&mut |child| children.push(child));
        children
    }

    /// Visits the definitions that the node itself calls or passes.
    pub fn for_each_callee(&self, visit: &mut dyn FnMut(DefId)) {
        if let Node::Call { def, .. } = self {
            visit(*def);
        }
        if let Node::Call { args, .. } | Node::CallArgument { args, .. } = self {
            for arg in args {
                if let Arg::Operator(def, _) = arg {
                    visit(*def);
                }
            }
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

    /// Visits the slots that the node binds for its children.
    pub fn for_each_slot_bound(&self, visit: &mut dyn FnMut(SlotId)) {
        let mut visit = |slot: &SlotId| visit(*slot);
        for_each_slot_bound!(self, iter, slots, &mut visit);
    }

    /// Visits the slots that the node binds for its children, to replace them.
    pub fn for_each_slot_bound_mut(&mut self, visit: &mut dyn FnMut(&mut SlotId)) {
        for_each_slot_bound!(self, iter_mut, slots_mut, &mut *visit);
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

    /// The slots it binds, to replace them.
    pub fn slots_mut(&mut self) -> &mut [SlotId] {
        match self {
            Pattern::Slot(slot) => std::slice::from_mut(slot),
            Pattern::Tuple(slots) => slots,
        }
    }
}

//! The level of an expression once definitions may have been replaced.

use crate::ir::{Definition, ExprId, Exprs, Level, Node};

/// The level of an expression, from the levels of the definitions. Names bound around it count as constants; an
/// unsupported expression may be temporal or not, and has the level given for it.
pub(super) fn level(exprs: &Exprs, definitions: &[Definition], expr: ExprId, unsupported: Level) -> Level {
    let node = exprs.node(expr);
    let mut level = match node {
        Node::Variable(_) => Level::State,
        Node::Prime(_) | Node::Unchanged(_) | Node::Square(..) | Node::Angle(..) | Node::Compose(..) => Level::Action,
        Node::Always(_) => Level::Temporal,
        Node::Unsupported { .. } => unsupported,
        _ => Level::Constant,
    };
    node.for_each_callee(&mut |def| level = level.max(definitions[def.0 as usize].level));
    node.for_each_child(&mut |part| level = level.max(self::level(exprs, definitions, part, unsupported)));
    if matches!(node, Node::Enabled(..)) { level.min(Level::State) } else { level }
}

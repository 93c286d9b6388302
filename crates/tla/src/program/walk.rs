//! The level of an expression once definitions may have been replaced.

use crate::ir::{Definition, ExprId, ExprLevel, Exprs, Node};

/// The level of an expression, from the levels of the definitions. Names bound around it count as constants; an
/// unsupported expression may be temporal or not, and has the level given for it.
pub(super) fn level(exprs: &Exprs, definitions: &[Definition], expr: ExprId, unsupported: ExprLevel) -> ExprLevel {
    let node = exprs.node(expr);
    let mut level = match node {
        Node::Variable(_) => ExprLevel::State,
        Node::Prime(_) | Node::Unchanged(_) | Node::Square(..) | Node::Angle(..) | Node::Compose(..) => {
            ExprLevel::Action
        }
        Node::Always(_) => ExprLevel::Temporal,
        Node::Unsupported { .. } => unsupported,
        _ => ExprLevel::Constant,
    };
    node.for_each_callee(&mut |def| level = level.max(definitions[def.0 as usize].level));
    node.for_each_child(&mut |part| level = level.max(self::level(exprs, definitions, part, unsupported)));
    if matches!(node, Node::Enabled(..)) { level.min(ExprLevel::State) } else { level }
}

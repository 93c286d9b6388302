//! The part `order-K`: steps of the order that all explanations have in common.
//!
//! How many steps there are, then one number for each: twice the distance to the operation of the step before, with its
//! sign folded in, and one more if the operation is not over with the step. The first counts from operation nought.
//! Operations take effect about in the order in which they begin, so most distances fit into a byte.

use report::Placement;

use super::varint::{put, zigzag};

/// These steps.
pub(super) fn encode(steps: &[Placement]) -> Vec<u8> {
    let mut out = Vec::with_capacity(steps.len() + 4);
    put(&mut out, steps.len() as u64);
    let mut before = 0;
    for step in steps {
        let op = i64::from(step.op);
        put(&mut out, 2 * zigzag(op - before) + u64::from(step.partway));
        before = op;
    }
    out
}

//! The part `order-K`: steps of the order that all interpretations have in common.
//!
//! The number of steps, then one number for each: twice the zigzag difference to the operation of the previous step,
//! plus one if the step leaves the operation partway. The first difference is to operation 0. Operations take effect
//! roughly in the order in which they begin, so most differences fit into a byte.

use omnilink_report::Placement;

use super::varint::{put, zigzag};

/// Encodes steps.
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

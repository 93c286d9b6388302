//! The parts `messages` and `unlogged`, which only pages about logs have.
//!
//! `messages` is the number of messages, then two numbers for each, sorted by receiving operation: the difference to the
//! previous receiving operation, and the zigzag difference from the sending operation to the receiving one.
//!
//! `unlogged` is the number of distinct actions and each of them, preceded by its length in bytes; then the number of
//! steps and two numbers for each: the difference to the number of steps of the order before the previous one, and an
//! index into the actions. The first differences are to 0.

use omnilink_report::Unlogged;
use rustc_hash::FxHashMap;

use super::varint::{put, put_bytes, zigzag};

/// Encodes messages.
pub(super) fn messages(messages: &[(u32, u32)]) -> Vec<u8> {
    let mut sorted: Vec<(u32, u32)> = messages.iter().map(|&(send, receive)| (receive, send)).collect();
    sorted.sort_unstable();
    let mut out = Vec::with_capacity(2 * sorted.len() + 4);
    put(&mut out, sorted.len() as u64);
    let mut before = 0;
    for (receive, send) in sorted {
        put(&mut out, u64::from(receive - before));
        put(&mut out, zigzag(i64::from(receive) - i64::from(send)));
        before = receive;
    }
    out
}

/// Encodes steps that no operation shows.
pub(super) fn unlogged(steps: &[Unlogged]) -> Vec<u8> {
    assert!(steps.is_sorted_by_key(|step| step.before), "steps are in the order of the behavior");
    let mut places: FxHashMap<&str, u64> = FxHashMap::default();
    let (mut actions, mut placed) = (Vec::new(), Vec::new());
    let mut before = 0;
    for step in steps {
        let next = places.len() as u64;
        let place = *places.entry(&step.action).or_insert_with(|| {
            put_bytes(&mut actions, step.action.as_bytes());
            next
        });
        put(&mut placed, u64::from(step.before - before));
        put(&mut placed, place);
        before = step.before;
    }
    let mut out = Vec::with_capacity(actions.len() + placed.len() + 8);
    put(&mut out, places.len() as u64);
    out.extend(actions);
    put(&mut out, steps.len() as u64);
    out.extend(placed);
    out
}

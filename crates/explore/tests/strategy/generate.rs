//! Random small programs.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::machine::{Op, Program};

/// An operation that does not block.
fn access() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (0..2u8).prop_map(Op::Load),
        3 => (0..2u8).prop_map(Op::Store),
        1 => (0..2u8).prop_map(Op::Update),
        1 => Just(Op::SkipIfOdd),
    ]
}

/// A few operations that belong together, or should.
fn part(special: fn(u8) -> Op) -> impl Strategy<Value = Vec<Op>> {
    let locked = |lock, body: Vec<Op>| [vec![Op::Lock(lock)], body, vec![Op::Unlock(lock)]].concat();
    prop_oneof![
        6 => access().prop_map(|op| vec![op]),
        2 => (0..2u8, vec(access(), 0..2)).prop_map(move |(lock, body)| locked(lock, body)),
        1 => (0..2u8).prop_map(|lock| vec![Op::Lock(lock)]),
        1 => (0..2u8).prop_map(|lock| vec![Op::TryLock(lock)]),
        1 => (0..2u8).prop_map(|lock| vec![Op::Unlock(lock)]),
        1 => (0..2u8).prop_map(|lock| vec![Op::Share(lock)]),
        1 => (0..2u8).prop_map(|lock| vec![Op::Share(lock), Op::Unlock(lock)]),
        1 => Just(vec![Op::Take(0)]),
        1 => Just(vec![Op::Post(0)]),
        2 => vec(access(), 0..2).prop_map(|body| [vec![Op::Call], body, vec![Op::Return]].concat()),
        1 => Just(vec![Op::Wait(0)]),
        1 => Just(vec![Op::Wake(0)]),
        2 => (0..2u8).prop_map(move |number| vec![special(number)]),
    ]
}

/// Two threads with up to six operations, or three or four with fewer. Some of the operations are the given ones.
pub(crate) fn program(special: fn(u8) -> Op) -> impl Strategy<Value = Program> {
    let threads = move |count: usize, most: usize| {
        let cut = move |parts: Vec<Vec<Op>>| parts.concat().into_iter().take(most).collect::<Vec<Op>>();
        vec(vec(part(special), 1..=most).prop_map(cut), count)
    };
    prop_oneof![threads(2, 6), threads(3, 4), threads(4, 2)]
        .prop_map(|threads| Program { threads, ends_with_first: false })
}

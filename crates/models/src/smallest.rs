//! A small part of a rejected history that fails by itself.
//!
//! It begins at the last instant without an operation in flight before the one that no order can place, in all states
//! that are possible there, and has every operation since that may change the object. Operations that only observe it
//! are left out one by one, as long as the rest still fails: an order of all of them would be one of the rest.

use std::convert::Infallible;

use omnilink_history::{Call, History, Op, OpId};
use omnilink_search::{CheckError, Options, Stretch, Watch, check_stretch};

use crate::Model;

/// A part of a history, with the states that it begins in.
#[derive(Debug)]
pub struct Part {
    /// Every state possible at its start, for display.
    pub start: Vec<String>,
    /// Its operations, by start.
    pub ops: Vec<OpId>,
    /// The number of operations before it.
    pub before: u64,
}

/// The maximum number of operations before a part, which are checked once more, and in it.
const BEFORE: usize = 200_000;
const INSIDE: usize = 64;

/// Finds a part that shows why an operation cannot be placed; `None` if there is no small one.
pub fn smallest<M: Model>(
    model: &M,
    history: &History<Call>,
    blocked: OpId,
    options: &Options,
    watch: &dyn Watch,
) -> Option<Part> {
    let mut ops: Vec<Op<M::Op>> = Vec::new();
    for op in history.ops() {
        if let Ok(Some(call)) = model.bind(op) {
            ops.push(op.with(call));
        }
    }
    if ops.iter().all(|op| model.partition(&op.call).is_some()) {
        let part = ops.iter().find(|op| op.id == blocked).and_then(|op| model.partition(&op.call));
        ops.retain(|op| model.partition(&op.call) == part);
    }
    let place = ops.iter().position(|op| op.id == blocked)?;
    let (mut from, mut busy_until) = (0, None);
    for (index, op) in ops.iter().enumerate().take(place + 1) {
        if busy_until.is_some_and(|end| end < op.interval.start()) {
            from = index;
        }
        busy_until = busy_until.max(Some(op.interval.deadline()));
    }
    let end = ops[place].interval.deadline();
    ops.retain(|op| op.interval.start() <= end);
    let mut inside = ops.split_off(from);
    if ops.len() > BEFORE || inside.len() > INSIDE {
        return None;
    }
    let cut = inside[0].interval.start();
    let before = stretch(model, None, Some(cut), &ops, options, watch)?;
    let states = before.cut.filter(|cut| cut.since == 0)?.states;
    let fails = |ops: &[Op<M::Op>]| {
        let checked = stretch(model, Some(states.clone()), None, ops, options, watch);
        checked.is_some_and(|found| found.report.verdict.is_rejected())
    };
    if !fails(&inside) {
        return None;
    }
    for index in (0..inside.len()).rev() {
        if inside[index].id != blocked && model.is_observer(&inside[index].call) {
            let op = inside.remove(index);
            if !fails(&inside) {
                inside.insert(index, op);
            }
        }
    }
    Some(Part {
        start: states.iter().map(|state| model.show(state)).collect(),
        ops: inside.iter().map(|op| op.id).collect(),
        before: ops.len() as u64,
    })
}

/// Checks operations from these states, numbered anew.
fn stretch<M: Model>(
    model: &M,
    begin: Option<Vec<M::State>>,
    cut: Option<u64>,
    ops: &[Op<M::Op>],
    options: &Options,
    watch: &dyn Watch,
) -> Option<Stretch<M::State>> {
    let mut numbered = ops.iter().zip(0..);
    let next = || {
        let next = numbered.next();
        Ok::<_, CheckError<Infallible>>(
            next.map(|(op, number)| Op { id: OpId(number), ..op.with(Some(op.call.clone())) }),
        )
    };
    check_stretch(model, begin, cut, next, options, watch, |error| error).ok()
}

#[cfg(test)]
mod tests {
    use omnilink_search::Unwatched;

    use super::*;
    use crate::register::Register;

    #[test]
    fn a_part_has_what_explains_the_failure() {
        let text = "\
a [1 2] write(1)
b [4 9] write(2)
c [5 6] read() = 1
c [7 8] read() = 2
a [10 11] read() = 1
";
        let trace = omnilink_history::format::text::read(text.as_bytes()).expect("a trace");
        let history = History::new(trace).expect("a history");
        let model = Register::new(&0.into());
        let blocked = history.ops().last().expect("operations").id;
        let part = smallest(&model, &history, blocked, &Options::default(), &Unwatched).expect("a small part");
        // It begins at 10: whatever the order before, the register holds 2 then.
        let names: Vec<String> = part.ops.iter().map(|&op| history.op(op).call.to_string()).collect();
        assert_eq!((part.start, names, part.before), (vec!["2".to_owned()], vec!["read() = 1".to_owned()], 4));
    }
}

//! One concurrent execution of a test.
//!
//! A verdict depends on the answers of the operations and on which operation returned before which other was called,
//! not on times. So times are replaced by the smallest ones for which the same holds, and executions that differ in
//! nothing else are equal: a caller that has explained one of them has explained all.

use crate::run::{Misfit, Place, Thread};
use crate::test::Test;

/// An operation of a concurrent execution.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    /// The thread that performs it.
    pub thread: Thread,
    /// When it was called.
    pub start: u64,
    /// When it returned, and the text of its results, empty if it has none. `None` if it is pending: the execution is
    /// stuck, and the operation never returns.
    pub returned: Option<(u64, String)>,
}

impl Operation {
    /// An operation that returned.
    pub fn returned(thread: Thread, start: u64, end: u64, results: impl Into<String>) -> Operation {
        Operation { thread, start, returned: Some((end, results.into())) }
    }

    /// An operation that never returns.
    pub fn pending(thread: Thread, start: u64) -> Operation {
        Operation { thread, start, returned: None }
    }

    fn end(&self) -> u64 {
        self.returned.as_ref().map_or(u64::MAX, |(end, _)| *end)
    }
}

/// A concurrent execution of a test. Two are equal if their operations have equal answers, and the same ones returned
/// before the same others were called.
///
/// Two operations of different threads that share only an instant are concurrent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Observed {
    operations: Vec<Operation>, // Invariant: by place, well formed, with the smallest times.
    places: Vec<Place>,
}

impl Observed {
    /// An execution in which every operation of the test returned. Operations may come in any order, as long as time
    /// distinguishes those of one thread.
    pub fn full(test: &Test, operations: Vec<Operation>) -> Result<Observed, Misfit> {
        let observed = Observed::new(test, operations)?;
        let (found, expected) = (observed.operations.len(), test.operations());
        match observed.pending().count() {
            0 if found == expected => Ok(observed),
            0 => Err(Misfit::Incomplete { found, expected }),
            pending => Err(Misfit::Pending(pending)),
        }
    }

    /// An execution that ended because no thread was enabled, with at least one operation pending. An execution that
    /// was cut short in another way is neither full nor stuck, and proves nothing.
    pub fn stuck(test: &Test, operations: Vec<Operation>) -> Result<Observed, Misfit> {
        let observed = Observed::new(test, operations)?;
        if observed.pending().next().is_none() {
            return Err(Misfit::NoPending);
        }
        Ok(observed)
    }

    fn new(test: &Test, mut operations: Vec<Operation>) -> Result<Observed, Misfit> {
        operations.sort_by_key(|operation| (operation.thread, operation.start, operation.end()));
        let mut places: Vec<Place> = Vec::with_capacity(operations.len());
        for operation in &operations {
            let thread = operation.thread;
            let last = places.last().filter(|last| last.thread == thread);
            let place = Place { thread, index: last.map_or(0, |last| last.index + 1) };
            let last_end = last.map_or(0, |_| operations[places.len() - 1].end());
            if last_end == u64::MAX || operation.start < last_end || operation.end() < operation.start {
                return Err(Misfit::Time { thread, index: place.index });
            }
            if test.calls(thread).nth(place.index).is_none() {
                return Err(Misfit::NotNext { thread, index: place.index });
            }
            places.push(place);
        }
        Ok(Observed { operations: with_smallest_times(&operations), places })
    }

    /// The operations, by thread and then in the order of the thread.
    pub fn operations(&self) -> impl Iterator<Item = (Place, &Operation)> {
        self.places.iter().copied().zip(&self.operations)
    }

    /// The pending operations.
    pub fn pending(&self) -> impl Iterator<Item = Place> {
        self.operations().filter(|(_, operation)| operation.returned.is_none()).map(|(place, _)| place)
    }

    /// True if an operation is pending.
    pub fn is_stuck(&self) -> bool {
        self.pending().next().is_some()
    }
}

/// A start becomes twice the number of operations that returned before it. An end comes directly before the first
/// start after it, or after all. Where the next operation of the same thread starts in the very instant in which one
/// ends, it still does.
fn with_smallest_times(operations: &[Operation]) -> Vec<Operation> {
    let ended_before = |start: u64| 2 * operations.iter().filter(|operation| operation.end() < start).count() as u64;
    let last = 2 * operations.len() as u64 + 1;
    let end = |index: usize, end: u64| {
        let operation = &operations[index];
        let after = operations.iter().map(|other| other.start).filter(|start| *start > end).min();
        let next = operations.get(index + 1).filter(|next| next.thread == operation.thread);
        let latest = after.map_or(last, |start| ended_before(start) - 1);
        next.map_or(latest, |next| latest.min(ended_before(next.start)))
    };
    let smallest = |(index, operation): (usize, &Operation)| Operation {
        thread: operation.thread,
        start: ended_before(operation.start),
        returned: operation.returned.as_ref().map(|(at, results)| (end(index, *at), results.clone())),
    };
    operations.iter().enumerate().map(smallest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test() -> Test {
        "{ a() } b() b() || c()".parse().unwrap()
    }

    /// Operations as (thread, start, end, results); an end of 0 is pending.
    fn operations(operations: &[(i32, u64, u64, &str)]) -> Vec<Operation> {
        let operation = |&(thread, start, end, results): &(i32, u64, u64, &str)| {
            let thread = u8::try_from(thread).map_or(Thread::Main, Thread::Column);
            if end == 0 { Operation::pending(thread, start) } else { Operation::returned(thread, start, end, results) }
        };
        operations.iter().map(operation).collect()
    }

    #[test]
    fn times_count_as_an_order() {
        let full = |list: &[(i32, u64, u64, &str)]| Observed::full(&test(), operations(list)).unwrap();
        let history = full(&[(-1, 1, 2, ""), (0, 3, 5, "x"), (0, 6, 8, "y"), (1, 4, 7, "z")]);
        // The operation of thread 1 overlaps with both of thread 0.
        assert_eq!(history, full(&[(1, 30, 90, "z"), (-1, 10, 11, ""), (0, 40, 50, "x"), (0, 60, 61, "y")]));
        assert_eq!(history, full(&[(1, 3, 4, "z"), (-1, 1, 1, ""), (0, 2, 3, "x"), (0, 4, 4, "y")]));
        assert_ne!(history, full(&[(-1, 1, 2, ""), (0, 3, 5, "x"), (0, 6, 8, "y"), (1, 4, 7, "w")]));
        assert_ne!(history, full(&[(-1, 1, 2, ""), (0, 3, 5, "x"), (0, 8, 9, "y"), (1, 4, 7, "z")]));
        assert_ne!(history, full(&[(-1, 1, 4, ""), (0, 3, 5, "x"), (0, 6, 8, "y"), (1, 5, 7, "z")]));
    }

    #[test]
    fn histories_are_well_formed() {
        let full = |list: &[(i32, u64, u64, &str)]| Observed::full(&test(), operations(list)).unwrap_err().to_string();
        insta::assert_snapshot!(full(&[(-1, 1, 2, ""), (0, 3, 5, ""), (0, 4, 8, ""), (1, 4, 7, "")]), @"operation 1 of thread 0 is out of order in time");
        insta::assert_snapshot!(full(&[(-1, 2, 1, "")]), @"operation 0 of thread main is out of order in time");
        insta::assert_snapshot!(full(&[(1, 1, 2, ""), (1, 3, 4, "")]), @"operation 1 of thread 1 is not a next operation of the test");
        insta::assert_snapshot!(full(&[(2, 1, 2, "")]), @"operation 0 of thread 2 is not a next operation of the test");
        insta::assert_snapshot!(full(&[(-1, 1, 2, "")]), @"1 of 4 operations, and none blocks");
        insta::assert_snapshot!(full(&[(-1, 1, 0, "")]), @"expected a history in which every operation returned, found 1 pending");
        let stuck = |list: &[(i32, u64, u64, &str)]| Observed::stuck(&test(), operations(list)).map(|_| ());
        assert_eq!(stuck(&[(-1, 1, 2, ""), (0, 3, 0, ""), (1, 3, 0, "")]), Ok(()));
        assert_eq!(stuck(&[(-1, 1, 2, "")]), Err(Misfit::NoPending));
        assert_eq!(stuck(&[(0, 3, 0, ""), (0, 5, 6, "")]), Err(Misfit::Time { thread: Thread::Column(0), index: 1 }));
    }
}

//! An execution as text: a column for each thread.

use crate::observed::{Observed, Operation};
use crate::run::{Place, Thread};
use crate::test::Test;

/// The operations in columns, in the order of their calls and returns. One that overlaps no other event is in one line,
/// others are in two. The first line has the names of the threads.
pub fn columns(test: &Test, observed: &Observed) -> Vec<String> {
    let mut events: Vec<(u64, bool, Place, &Operation)> = Vec::new();
    for (place, operation) in observed.operations() {
        events.push((operation.start, false, place, operation));
        events.extend(operation.returned.iter().map(|(end, _)| (*end, true, place, operation)));
    }
    events.sort_by_key(|(time, is_return, place, _)| (*time, *is_return, place.thread));
    let answer = |operation: &Operation| match &operation.returned {
        Some((_, results)) if results.is_empty() => String::new(),
        Some((_, results)) => format!(" = {results}"),
        None => " blocks".to_owned(),
    };
    let mut lines: Vec<(Thread, String)> = Vec::new();
    let mut events = events.into_iter().peekable();
    while let Some((_, is_return, place, operation)) = events.next() {
        let returns_at_once = events.next_if(|(_, is_return, next, _)| *is_return && *next == place).is_some();
        let text = match (is_return, returns_at_once || operation.returned.is_none()) {
            (true, _) => format!("... {}{}", test.call(place), answer(operation)),
            (false, true) => format!("{}{}", test.call(place), answer(operation)),
            (false, false) => format!("{} ...", test.call(place)),
        };
        lines.push((place.thread, text));
    }
    let mut threads: Vec<Thread> = lines.iter().map(|(thread, _)| *thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let title = |thread: &Thread| match thread {
        Thread::Main => "main thread".to_owned(),
        Thread::Column(column) => format!("thread {column}"),
    };
    let width = |thread: &Thread| {
        let texts = lines.iter().filter(|(of, _)| of == thread).map(|(_, text)| text.chars().count());
        texts.chain([title(thread).len()]).max().unwrap_or_default()
    };
    let row = |cell: &dyn Fn(&Thread) -> String| {
        let cells = threads.iter().map(|thread| format!("{:<1$}", cell(thread), width(thread) + 2));
        cells.collect::<String>().trim_end().to_owned()
    };
    let body = lines.iter().map(|(of, text)| row(&|thread| if thread == of { text.clone() } else { String::new() }));
    [row(&title)].into_iter().chain(body).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns of operations given as (thread, start, end, results): -1 is the main thread, and an end of 0 is pending.
    fn check(test: &str, operations: &[(i32, u64, u64, &str)]) -> String {
        let test: Test = test.parse().unwrap();
        let operation = |&(thread, start, end, results): &(i32, u64, u64, &str)| {
            let thread = u8::try_from(thread).map_or(Thread::Main, Thread::Column);
            if end == 0 { Operation::pending(thread, start) } else { Operation::returned(thread, start, end, results) }
        };
        let is_stuck = operations.iter().any(|operation| operation.2 == 0);
        let operations = operations.iter().map(operation).collect();
        let observed = if is_stuck { Observed::stuck(&test, operations) } else { Observed::full(&test, operations) };
        columns(&test, &observed.unwrap()).join("\n")
    }

    #[test]
    fn events_are_in_order_and_an_operation_alone_is_one_line() {
        insta::assert_snapshot!(check("add(1) || take() take()", &[(0, 1, 2, ""), (1, 3, 4, "1"), (1, 5, 6, "nil")]), @"
        thread 0  thread 1
        add(1)
                  take() = 1
                  take() = nil
        ");
        insta::assert_snapshot!(check("add(1) || take()", &[(0, 1, 3, ""), (1, 2, 4, "1")]), @"
        thread 0    thread 1
        add(1) ...
                    take() ...
        ... add(1)
                    ... take() = 1
        ");
    }

    #[test]
    fn a_pending_operation_is_one_line() {
        insta::assert_snapshot!(check("{ init() } take() || add(1)", &[(-1, 1, 2, ""), (0, 3, 0, ""), (1, 4, 5, "")]), @"
        main thread  thread 0       thread 1
        init()
                     take() blocks
                                    add(1)
        ");
    }
}

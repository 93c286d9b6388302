//! Whether an execution is one of a test: the same calls by the same threads, to an end.
//!
//! A program lists its calls as text, and records their arguments as values. Where the text reads as values, as in C++
//! and for most types in Rust, both must be equal. Where it does not, as for a type in Rust that prints in its own way,
//! only the method and the number of calls are compared.

use omnilink_history::format::text;
use omnilink_history::{Call, History, Op, Outcome, Value};

use crate::run::{Misfit, Place, Thread, call_text};
use crate::test::Test;

/// The threads of a history's processes, by number, if it is an execution of the test.
pub fn fit(test: &Test, history: &History<Call>) -> Result<Vec<Thread>, Misfit> {
    let threads = history.processes().iter().map(|name| thread_of(test, name)).collect::<Result<Vec<_>, _>>()?;
    for op in history.ops() {
        let (thread, index) = (threads[op.process.index()], op.index as usize);
        let Some(listed) = test.calls(thread).nth(index) else { return Err(Misfit::NotNext { thread, index }) };
        if !is_same(listed, &op.call) {
            let (expected, found) = (listed.to_owned(), call_text(&op.call));
            return Err(Misfit::Call { thread, index, expected, found });
        }
    }
    // A killed program has threads that did not come to an end.
    let is_stopped = history.ops().iter().any(|op| op.outcome() == Outcome::Unfinished);
    let made = |thread: Thread| {
        let own = || history.ops().iter().filter(|op| threads[op.process.index()] == thread);
        (own().count(), own().any(|op: &Op<Call>| op.outcome() == Outcome::Blocked))
    };
    match missing(test, made).filter(|_| !is_stopped) {
        Some(misfit) => Err(misfit),
        None => Ok(threads),
    }
}

fn thread_of(test: &Test, process: &str) -> Result<Thread, Misfit> {
    let is_of_test = |thread: &Thread| test.calls(*thread).next().is_some();
    let thread = process.parse().ok().filter(is_of_test);
    let has_main = test.calls(Thread::Main).next().is_some();
    thread.ok_or_else(|| Misfit::Process { name: process.to_owned(), threads: test.columns().len(), has_main })
}

/// Whether a recorded call is the listed one.
fn is_same(listed: &str, call: &Call) -> bool {
    if listed == call_text(call) {
        return true;
    }
    let name = listed.split('(').next().unwrap_or_default();
    if name != call.action() {
        return false;
    }
    let Ok(read) = text::read(format!("T0 [0 0] {listed}").as_bytes()) else { return true };
    let [record] = &*read.records else { return true };
    let (listed, recorded) = (record.call.args(), call.args());
    listed.len() == recorded.len() && listed.iter().zip(recorded).all(|(listed, recorded)| are_equal(listed, recorded))
}

/// Whether two values are equal. A program may list a number that is not an integer without its fraction.
fn are_equal(listed: &Value, recorded: &Value) -> bool {
    listed == recorded
        || matches!((listed, recorded), (Value::Int(_), Value::Float(_)) if {
            listed.to_string() == recorded.to_string()
        })
}

/// A thread that neither made all its calls nor is pending in one, although it had its turn: the execution did not come
/// to an end. `made` has the number of calls of a thread, and whether the last one is pending.
fn missing(test: &Test, made: impl Fn(Thread) -> (usize, bool)) -> Option<Misfit> {
    let is_over = |thread: Thread, calls: usize| {
        let (made, is_pending) = made(thread);
        made >= calls && !(is_pending && made == calls)
    };
    let short = |thread: Thread, calls: usize| {
        let (found, is_pending) = made(thread);
        let is_short = found < calls && !is_pending;
        is_short.then_some(Misfit::Missing { place: Place { thread, index: found }, expected: calls })
    };
    let (before, all) = (test.before().len(), test.before().len() + test.after().len());
    if !is_over(Thread::Main, before) {
        return short(Thread::Main, before);
    }
    let columns = || (0..).map(Thread::Column).zip(test.columns().iter().map(Vec::len));
    let found = columns().find_map(|(thread, calls)| short(thread, calls));
    let are_over = columns().all(|(thread, calls)| is_over(thread, calls));
    found.or_else(|| short(Thread::Main, all).filter(|_| are_over))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(test: &str, trace: &str) -> String {
        let test: Test = test.parse().unwrap();
        let history = History::new(text::read(trace.as_bytes()).unwrap()).unwrap();
        match fit(&test, &history) {
            Ok(threads) => threads.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
            Err(misfit) => misfit.to_string(),
        }
    }

    #[test]
    fn calls_are_those_of_the_test() {
        let test = "{ init() } add(1) || take() { size() }";
        let begin = "main [1 2] init()\n";
        let rest = "T1 [3 9] take() = 1\nT0 [3 4] add(1)\nmain [10 11] size() = 0\n";
        insta::assert_snapshot!(check(test, &format!("{begin}{rest}")), @"main 1 0");
        insta::assert_snapshot!(check(test, &format!("{begin}{}", rest.replace("add(1)", "add(2)"))), @"call 0 of thread 0 is `add(2)`, expected `add(1)`");
        insta::assert_snapshot!(check(test, &format!("{begin}{}", rest.replace("add(1)", "nonsense()"))), @"call 0 of thread 0 is `nonsense()`, expected `add(1)`");
        insta::assert_snapshot!(check(test, &format!("{begin}{}", rest.replace("T0", "b"))), @"process `b` is not a thread of the test: expected `main` or a number below 2");
        insta::assert_snapshot!(check(test, &format!("{begin}{}", rest.replace("T0", "T2"))), @"process `2` is not a thread of the test: expected `main` or a number below 2");
        insta::assert_snapshot!(check("add(1) || take()", &format!("{begin}{rest}")), @"process `main` is not a thread of the test: expected a number below 2");
        insta::assert_snapshot!(check(test, &format!("{begin}T0 [5 6] add(1)\n{rest}")), @"operation 1 of thread 0 is not a next operation of the test");
    }

    #[test]
    fn an_execution_comes_to_an_end() {
        let check = |trace: &str| check("{ init() } add(1) add(2) || take() { size() }", trace);
        insta::assert_snapshot!(check("main [1 2] init()\nT1 [3 4] take() = 1\n"), @"thread 0 makes 0 of 2 calls, and none of them blocks");
        insta::assert_snapshot!(check("main [1 2] init()\nT1 [3 ...] take() blocked\nT0 [3 4] add(1)\n"), @"thread 0 makes 1 of 2 calls, and none of them blocks");
        insta::assert_snapshot!(check("main [1 2] init()\nT1 [3 ...] take() blocked\nT0 [3 ...] add(1) blocked\n"), @"main 1 0");
        insta::assert_snapshot!(check("main [1 2] init()\nT1 [3 4] take() = 1\nT0 [3 4] add(1)\nT0 [5 6] add(2)\n"), @"thread main makes 1 of 2 calls, and none of them blocks");
        insta::assert_snapshot!(check("main [1 ...] init() blocked\n"), @"main");
        insta::assert_snapshot!(check(""), @"thread main makes 0 of 1 calls, and none of them blocks");
        // The program was stopped.
        insta::assert_snapshot!(check("main [1 2] init()\nT1 [3 ...] take()\n"), @"main 1");
    }

    #[test]
    fn arguments_are_compared_as_values() {
        insta::assert_snapshot!(check(r#"put("k", <<1, 2>>, 1)"#, r#"T0 [1 2] put(key: "k", list: <<1, 2>>, weight: 1.0)"#), @"0");
        insta::assert_snapshot!(check(r#"put("k", <<1, 2>>)"#, r#"T0 [1 2] put(key: "k", list: <<1, 3>>)"#), @r#"call 0 of thread 0 is `put("k", <<1, 3>>)`, expected `put("k", <<1, 2>>)`"#);
        insta::assert_snapshot!(check("put(1)", "T0 [1 2] put(1.5)"), @"call 0 of thread 0 is `put(1.5)`, expected `put(1)`");
        insta::assert_snapshot!(check("put(1)", "T0 [1 2] put(1, 2)"), @"call 0 of thread 0 is `put(1, 2)`, expected `put(1)`");
        // Types that print in their own way.
        insta::assert_snapshot!(check("put(Key(1), [1, 2])", "T0 [1 2] put(<<1>>, <<1, 2>>)"), @"0");
        insta::assert_snapshot!(check("put(Key(1), [1, 2])", "T0 [1 2] get(<<1>>)"), @"call 0 of thread 0 is `get(<<1>>)`, expected `put(Key(1), [1, 2])`");
    }
}

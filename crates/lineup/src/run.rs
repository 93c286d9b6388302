//! Serial runs: operations one after the other, each with its answer.

use std::fmt;
use std::str::FromStr;

use omnilink_history::{Call, Value};
use thiserror::Error;

/// The maximum number of threads of a test, beside the main thread.
pub(crate) const MAX_THREADS: usize = 36;

/// The thread that performs a call. Prints and parses as the name of its process in a trace: `main`, `0`, `1`, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Thread {
    /// The main thread, which performs the calls before and after.
    Main,
    /// The thread of a column, counted from zero.
    Column(u8),
}

/// The name of a process that is not a thread of a test.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected a thread, `main` or a number below {max}, found `{0}`", max = MAX_THREADS)]
pub struct UnknownThread(pub String);

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Thread::Main => f.pad("main"),
            Thread::Column(column) => fmt::Display::fmt(column, f),
        }
    }
}

impl FromStr for Thread {
    type Err = UnknownThread;

    fn from_str(name: &str) -> Result<Thread, UnknownThread> {
        let column = || name.parse().ok().filter(|column| usize::from(*column) < MAX_THREADS);
        let thread = if name == "main" { Some(Thread::Main) } else { column().map(Thread::Column) };
        thread.filter(|thread| thread.to_string() == name).ok_or_else(|| UnknownThread(name.to_owned()))
    }
}

/// One operation of a test: the calls of a thread are counted from zero, for the main thread through those before and
/// those after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The thread that performs it.
    pub thread: Thread,
    /// Its number among the calls of this thread.
    pub index: usize,
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// It returned; the text of its results, empty if it has none.
    Returned(String),
    /// It never returns.
    Blocked,
}

/// The text of a call's results: equal answers have equal texts.
pub fn results_text(call: &Call) -> String {
    text(call.results())
}

/// A call with its arguments, as a program lists it.
pub fn call_text(call: &Call) -> String {
    format!("{}({})", call.action(), text(call.args()))
}

fn text(values: &[Value]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Prints what follows the call: nothing, ` = 200`, or ` blocks`.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Returned(text) if text.is_empty() => Ok(()),
            Answer::Returned(text) => write!(f, " = {text}"),
            Answer::Blocked => f.write_str(" blocks"),
        }
    }
}

/// A serial run of a test: the threads in the order of their operations, each with its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SerialRun {
    /// Each operation in order. Only the last one can block.
    pub steps: Vec<(Thread, Answer)>,
}

impl SerialRun {
    /// The operations in order, each with its answer.
    pub fn operations(&self) -> impl Iterator<Item = (Place, &Answer)> {
        let mut counts = [0; MAX_THREADS + 1];
        self.steps.iter().map(move |(thread, answer)| {
            let count = &mut counts[match thread {
                Thread::Main => MAX_THREADS,
                Thread::Column(column) => usize::from(*column),
            }];
            *count += 1;
            (Place { thread: *thread, index: *count - 1 }, answer)
        })
    }

    /// True if the last operation blocks.
    pub fn is_stuck(&self) -> bool {
        matches!(self.steps.last(), Some((_, Answer::Blocked)))
    }
}

/// The reason why a run or a history does not belong to a test.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Misfit {
    /// A thread performs an operation that is not its turn.
    #[error("operation {index} of thread {thread} is not a next operation of the test")]
    NotNext {
        /// The thread.
        thread: Thread,
        /// The number of its operation.
        index: usize,
    },
    /// A serial run continues after an operation that blocks.
    #[error("operation {index} of thread {thread} follows an operation that blocks")]
    AfterBlocked {
        /// The thread.
        thread: Thread,
        /// The number of its operation.
        index: usize,
    },
    /// Operations of the test are missing.
    #[error("{found} of {expected} operations, and none blocks")]
    Incomplete {
        /// The number of operations that returned.
        found: usize,
        /// The number of operations of the test.
        expected: usize,
    },
    /// A call is another one than that of the test.
    #[error("call {index} of thread {thread} is `{found}`, expected `{expected}`")]
    Call {
        /// The thread.
        thread: Thread,
        /// The number of its operation.
        index: usize,
        /// The call of the test.
        expected: String,
        /// The call in its place.
        found: String,
    },
    /// A process is not a thread of the test.
    #[error(
        "process `{name}` is not a thread of the test: expected {}a number below {threads}",
        if *.has_main { "`main` or " } else { "" }
    )]
    Process {
        /// The name of the process.
        name: String,
        /// The number of threads.
        threads: usize,
        /// Whether the main thread makes calls.
        has_main: bool,
    },
    /// A thread did not make all its calls, and is not pending in one.
    #[error("thread {} makes {} of {expected} calls, and none of them blocks", .place.thread, .place.index)]
    Missing {
        /// The first missing operation.
        place: Place,
        /// The number of its calls in the test.
        expected: usize,
    },
    /// Operations of one thread overlap, or one ends before it starts.
    #[error("operation {index} of thread {thread} is out of order in time")]
    Time {
        /// The thread.
        thread: Thread,
        /// The number of its operation.
        index: usize,
    },
    /// A full history has pending operations.
    #[error("expected a history in which every operation returned, found {0} pending")]
    Pending(usize),
    /// A stuck history has no pending operation.
    #[error("expected a stuck history, found no pending operation")]
    NoPending,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::Test;

    #[test]
    fn threads_print_and_parse_as_processes() {
        for thread in [Thread::Main, Thread::Column(0), Thread::Column(35)] {
            assert_eq!(thread.to_string().parse(), Ok(thread));
        }
        let check = |name: &str| name.parse::<Thread>().unwrap_err().to_string();
        insta::assert_snapshot!(check("36"), @"expected a thread, `main` or a number below 36, found `36`");
        insta::assert_snapshot!(check("07"), @"expected a thread, `main` or a number below 36, found `07`");
        insta::assert_snapshot!(check(""), @"expected a thread, `main` or a number below 36, found ``");
    }

    #[test]
    fn calls_and_results_are_listed_in_order() {
        let call = Call::positional("put", [1.into(), Value::str("a")], [2.into(), Value::Nil]);
        assert_eq!((&*call_text(&call), &*results_text(&call)), ("put(1, \"a\")", "2, nil"));
        assert_eq!(results_text(&Call::positional("put", [], [])), "");
    }

    #[test]
    fn runs_print_with_their_calls() {
        let test: Test = "{ add(1) } take() || take() take()".parse().unwrap();
        let returned = |text: &str| Answer::Returned(text.to_owned());
        let steps = vec![
            (Thread::Main, returned("")),
            (Thread::Column(1), returned("1")),
            (Thread::Column(0), Answer::Blocked),
        ];
        insta::assert_snapshot!(SerialRun { steps }.display(&test), @"main add(1), 1 take() = 1, 0 take() blocks");
    }
}

//! Observations as text: a regression file.
//!
//! The first line has the test. Each other line is one operation with its answer, and is indented below the operation
//! before it in a serial run:
//!
//! ```text
//! observations of take() || add(200)
//! 0 take() blocks
//! 1 add(200)
//!   0 take() = 200
//! ```
//!
//! Backslashes and line breaks in answers are escaped, so a line is an operation. Threads are in order, so equal
//! observations have equal text, and a changed answer is a changed line.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::call;
use crate::observations::{NodeId, Observations};
use crate::run::{Answer, Place, SerialRun, Thread};

const HEADER: &str = "observations of ";
const INDENT: &str = "  ";

/// The reason why a text has no observations.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct Unreadable {
    /// The line, from 1.
    pub line: usize,
    /// The problem.
    pub problem: String,
}

impl fmt::Display for Observations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}{}", self.test())?;
        write_after(self, self.root(), &mut Vec::new(), f)
    }
}

fn write_after(
    observations: &Observations,
    node: NodeId,
    prefix: &mut Vec<Thread>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    for edge in observations.edges(node) {
        let call = observations.test().call(place(edge.thread, prefix.iter().copied()));
        let answer = edge.answer.to_string().replace('\\', r"\\").replace('\n', r"\n").replace('\r', r"\r");
        writeln!(f, "{}{} {call}{answer}", INDENT.repeat(prefix.len()), edge.thread)?;
        prefix.push(edge.thread);
        write_after(observations, edge.node, prefix, f)?;
        prefix.pop();
    }
    Ok(())
}

/// The next operation of a thread after a prefix.
fn place(thread: Thread, prefix: impl Iterator<Item = Thread>) -> Place {
    Place { thread, index: prefix.filter(|other| *other == thread).count() }
}

impl FromStr for Observations {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<Observations, Unreadable> {
        let mut lines = (1..).zip(text.lines());
        let header = lines.next().and_then(|(_, line)| line.strip_prefix(HEADER));
        let header = header.ok_or_else(|| unreadable(1, format!("expected `{HEADER}` and a test")))?;
        let test = header.parse().map_err(|error| unreadable(1, error))?;
        let mut observations = Observations::new(test);
        let mut run = SerialRun::default();
        let mut last = 1;
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let error = |problem: &dyn fmt::Display| unreadable(number, problem);
            let depth = line.bytes().take_while(|byte| *byte == b' ').count() / INDENT.len();
            if depth > run.steps.len() {
                return Err(error(&"indented below no operation"));
            }
            if depth < run.steps.len() {
                insert(&mut observations, &run, last)?;
                run.steps.truncate(depth);
            }
            let step = read_step(&observations, &run, line.trim_start()).map_err(|problem| error(&problem))?;
            run.steps.push(step);
            last = number;
        }
        if !run.steps.is_empty() {
            insert(&mut observations, &run, last)?;
        }
        Ok(observations)
    }
}

fn unreadable(line: usize, problem: impl fmt::Display) -> Unreadable {
    Unreadable { line, problem: problem.to_string() }
}

fn insert(observations: &mut Observations, run: &SerialRun, line: usize) -> Result<(), Unreadable> {
    match observations.insert(run) {
        Ok(true) => Ok(()),
        Ok(false) => Err(unreadable(line, "ends a serial run that was listed before")),
        Err(refused) => Err(unreadable(line, refused)),
    }
}

/// Reads one operation that follows a prefix of a run.
fn read_step(observations: &Observations, prefix: &SerialRun, line: &str) -> Result<(Thread, Answer), String> {
    let (thread, rest) = line.split_once(' ').unwrap_or((line, ""));
    let thread: Thread = thread.parse().map_err(|error: crate::run::UnknownThread| error.to_string())?;
    let (call, rest) = call::read(rest).map_err(|(_, expected)| format!("expected {expected} in `{rest}`"))?;
    let Place { index, .. } = place(thread, prefix.steps.iter().map(|(thread, _)| *thread));
    match observations.test().calls(thread).nth(index) {
        Some(expected) if expected == call => {}
        Some(expected) => return Err(format!("expected `{expected}`, found `{call}`")),
        None => return Err(format!("thread {thread} has no operation {index}")),
    }
    let answer = match rest {
        "" => Answer::Returned(String::new()),
        " blocks" => Answer::Blocked,
        _ => match rest.strip_prefix(" = ").and_then(unescape) {
            Some(text) => Answer::Returned(text),
            None => return Err(format!("expected an answer such as ` = 1` or ` blocks`, found `{rest}`")),
        },
    };
    Ok((thread, answer))
}

/// The text without escapes, or `None` if an escape is invalid.
fn unescape(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        plain.push(match c {
            '\\' => match chars.next()? {
                '\\' => '\\',
                'n' => '\n',
                'r' => '\r',
                _ => return None,
            },
            _ => c,
        });
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> String {
        match text.parse::<Observations>() {
            Ok(observations) => {
                let written = observations.to_string();
                let again: Observations = written.parse().unwrap();
                assert_eq!(again.to_string(), written);
                assert_eq!(again.difference(&observations), None);
                written
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn observations_are_read_as_written() {
        insta::assert_snapshot!(check("observations of {init()} take()||add(1) {size()}\n\
            main init()\n  1 add(1)\n    0 take() = 1\n      main size() = 0\n  0 take() blocks\n"), @r"
        observations of { init() } take() || add(1) { size() }
        main init()
          0 take() blocks
          1 add(1)
            0 take() = 1
              main size() = 0
        ");
    }

    #[test]
    fn any_answer_can_be_written() {
        for text in ["", " ", "=", " blocks", "blocks", "a\nb\r", r"\n", r#""\\" "#, "[a |-> 1, b |-> <<>>]", " = x"] {
            let mut observations = Observations::new("a()".parse().unwrap());
            let run = SerialRun { steps: vec![(Thread::Column(0), Answer::Returned(text.to_owned()))] };
            assert_eq!(observations.insert(&run), Ok(true));
            let again: Observations = observations.to_string().parse().unwrap();
            assert_eq!(again.runs(), [run]);
        }
    }

    #[test]
    fn errors_name_the_line() {
        insta::assert_snapshot!(check(""), @"line 1: expected `observations of ` and a test");
        insta::assert_snapshot!(check("observations of a("), @"line 1: expected `)` at character 3, found the end");
        insta::assert_snapshot!(check("observations of a() || b()\n0 a()\n1 b()\n"), @"line 2: 1 of 2 operations, and none blocks");
        insta::assert_snapshot!(check("observations of a() || b()\n    0 a()\n"), @"line 2: indented below no operation");
        insta::assert_snapshot!(check("observations of a() || b()\n0 b()\n"), @"line 2: expected `a()`, found `b()`");
        insta::assert_snapshot!(check("observations of a() || b()\n2 b()\n"), @"line 2: thread 2 has no operation 0");
        insta::assert_snapshot!(check("observations of a() || b()\nx b()\n"), @"line 2: expected a thread, `main` or a number below 36, found `x`");
        insta::assert_snapshot!(check("observations of a() || b()\n0 a\n"), @"line 2: expected `(` in `a`");
        insta::assert_snapshot!(check("observations of a()\n0 a() is 1\n"), @"line 2: expected an answer such as ` = 1` or ` blocks`, found ` is 1`");
        insta::assert_snapshot!(check("observations of a()\n0 a() = \\t\n"), @r"line 2: expected an answer such as ` = 1` or ` blocks`, found ` = \t`");
        insta::assert_snapshot!(check("observations of a()\n0 a() = 1\n0 a() = 1\n"), @"line 3: ends a serial run that was listed before");
        insta::assert_snapshot!(check("observations of a()\n0 a() = 1\n\n0 a() = 2\n"), @"line 4: operation 1 of two serial runs has different answers after the same calls and answers");
    }
}

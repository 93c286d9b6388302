//! Tests: calls for each thread, and calls before and after.
//!
//! A test prints and parses as `{ add(1) } add(200) try_take() || add(400) { size() }`: one column of calls per
//! thread, between the calls that the main thread performs before the threads start and after they have ended.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::call;
use crate::orders::Orders;
use crate::run::{Answer, MAX_THREADS, Place, SerialRun, Thread};

/// Calls for each of at least one and at most [`Test::MAX_THREADS`] threads, and calls before and after.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Test {
    before: Vec<String>,
    columns: Vec<Vec<String>>, // Invariant: 1 to 36 columns, none empty, and all calls with uniform spaces.
    after: Vec<String>,
}

/// The reason why a test is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TestError {
    /// The text is invalid.
    #[error("expected {expected} at character {at}, found {found}")]
    Syntax {
        /// The place, in characters from 1.
        at: usize,
        /// The expected text.
        expected: &'static str,
        /// The text at this place.
        found: String,
    },
    /// A call is not a name with arguments in parentheses.
    #[error("expected a call such as `add(1)`, found `{0}`")]
    Call(String),
    /// The number of threads is out of range.
    #[error("expected at least one and at most {max} threads, found {0}", max = Test::MAX_THREADS)]
    Threads(usize),
    /// A thread has no calls.
    #[error("thread {0} has no calls")]
    Empty(usize),
    /// A test is drawn from a list without calls.
    #[error("no calls to choose from")]
    NoCalls,
}

/// A call that the program does not list.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the program does not list the call `{call}`{}", .closest.as_ref().map(|closest| format!("; did you mean `{closest}`?")).unwrap_or_default())]
pub struct Unlisted {
    /// The call.
    pub call: String,
    /// The listed call that was probably meant.
    pub closest: Option<String>,
}

impl Test {
    /// The largest number of threads: each is one character, `0` to `9` and `a` to `z`, in an order.
    pub const MAX_THREADS: usize = MAX_THREADS;

    /// A test of these calls.
    pub fn new(before: Vec<String>, columns: Vec<Vec<String>>, after: Vec<String>) -> Result<Test, TestError> {
        if !(1..=Test::MAX_THREADS).contains(&columns.len()) {
            return Err(TestError::Threads(columns.len()));
        }
        if let Some(empty) = columns.iter().position(Vec::is_empty) {
            return Err(TestError::Empty(empty));
        }
        let normalize = |call: String| call::normalize(&call).ok_or(TestError::Call(call));
        let normalize = |calls: Vec<String>| calls.into_iter().map(normalize).collect::<Result<Vec<_>, _>>();
        Ok(Test {
            before: normalize(before)?,
            columns: columns.into_iter().map(normalize).collect::<Result<_, _>>()?,
            after: normalize(after)?,
        })
    }

    /// A test of `length` calls for each of `threads` threads, drawn from the listed ones. The same arguments draw the
    /// same test.
    pub fn random(calls: &[String], threads: usize, length: usize, seed: u64) -> Result<Test, TestError> {
        if calls.is_empty() {
            return Err(TestError::NoCalls);
        }
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut column = || (0..length).map(|_| calls[rng.usize(..calls.len())].clone()).collect();
        let columns = (0..threads.min(Test::MAX_THREADS + 1)).map(|_| column()).collect();
        Test::new(Vec::new(), columns, Vec::new())
    }

    /// The calls that the main thread performs first.
    pub fn before(&self) -> &[String] {
        &self.before
    }

    /// The calls of each thread.
    pub fn columns(&self) -> &[Vec<String>] {
        &self.columns
    }

    /// The calls that the main thread performs last.
    pub fn after(&self) -> &[String] {
        &self.after
    }

    /// The number of calls.
    pub fn operations(&self) -> usize {
        self.before.len() + self.columns.iter().map(Vec::len).sum::<usize>() + self.after.len()
    }

    /// The calls of one thread; for the main thread, those before and those after.
    pub fn calls(&self, thread: Thread) -> impl Iterator<Item = &str> {
        let (first, second): (&[String], &[String]) = match thread {
            Thread::Main => (&self.before, &self.after),
            Thread::Column(column) => (self.columns.get(usize::from(column)).map_or(&[], Vec::as_slice), &[]),
        };
        first.iter().chain(second).map(String::as_str)
    }

    /// The call of one operation.
    ///
    /// # Panics
    ///
    /// If the test has no such operation.
    pub fn call(&self, place: Place) -> &str {
        self.calls(place.thread).nth(place.index).expect("an operation of this test")
    }

    /// The matrix of call numbers, as the variable `OMNILINK_MATRIX` of an object program that lists these calls has
    /// it: `0;1 2;1 2;` are one call before, two threads with two calls each, and none after.
    pub fn matrix(&self, calls: &[String]) -> Result<String, Unlisted> {
        let listed: Vec<String> =
            calls.iter().map(|call| call::normalize(call).unwrap_or_else(|| call.clone())).collect();
        let number = |call: &String| match listed.iter().position(|other| other == call) {
            Some(number) => Ok(number.to_string()),
            None => Err(Unlisted { call: call.clone(), closest: closest(call, &listed) }),
        };
        let numbers =
            |calls: &[String]| calls.iter().map(number).collect::<Result<Vec<_>, _>>().map(|calls| calls.join(" "));
        let fields = [&self.before].into_iter().chain(&self.columns).chain([&self.after]);
        Ok(fields.map(|calls| numbers(calls)).collect::<Result<Vec<_>, _>>()?.join(";"))
    }

    /// All serial orders of the threads' calls, lexicographically.
    pub fn orders(&self) -> Orders {
        Orders::new(self.columns.iter().map(Vec::len).collect())
    }

    /// The tests with one thread less, then those with one call less: of a thread, before, or after. Each comes once.
    pub fn smaller(&self) -> Vec<Test> {
        let without = |calls: &[String], index: usize| -> Vec<String> {
            calls[..index].iter().chain(&calls[index + 1..]).cloned().collect()
        };
        let mut tests = Vec::new();
        if self.columns.len() > 1 {
            for column in 0..self.columns.len() {
                let mut test = self.clone();
                test.columns.remove(column);
                tests.push(test);
            }
        }
        for (column, calls) in self.columns.iter().enumerate().filter(|(_, calls)| calls.len() > 1) {
            for index in 0..calls.len() {
                let mut test = self.clone();
                test.columns[column] = without(calls, index);
                tests.push(test);
            }
        }
        tests.extend((0..self.before.len()).map(|index| Test { before: without(&self.before, index), ..self.clone() }));
        tests.extend((0..self.after.len()).map(|index| Test { after: without(&self.after, index), ..self.clone() }));
        let mut seen = BTreeSet::new();
        tests.retain(|test| seen.insert(test.clone()));
        tests
    }
}

/// The listed call closest to one that is not listed: by its whole text, else one of the same name, else one of the
/// closest name.
fn closest(call: &str, listed: &[String]) -> Option<String> {
    let name = |call: &'_ str| call.split('(').next().unwrap_or_default().to_owned();
    let names: Vec<String> = listed.iter().map(|call| name(call)).collect();
    let of_name = |name: &str| names.iter().position(|other| other == name).map(|index| listed[index].clone());
    omnilink_suggest::closest(call, listed.iter().map(String::as_str))
        .map(str::to_owned)
        .or_else(|| of_name(&name(call)))
        .or_else(|| of_name(omnilink_suggest::closest(&name(call), names.iter().map(String::as_str))?))
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.before.is_empty() {
            write!(f, "{{ {} }} ", self.before.join(" "))?;
        }
        let columns: Vec<String> = self.columns.iter().map(|calls| calls.join(" ")).collect();
        f.write_str(&columns.join(" || "))?;
        if self.after.is_empty() { Ok(()) } else { write!(f, " {{ {} }}", self.after.join(" ")) }
    }
}

impl FromStr for Test {
    type Err = TestError;

    fn from_str(text: &str) -> Result<Test, TestError> {
        let mut parser = Parser { text, rest: text.trim_start() };
        let before = parser.braces()?;
        let mut columns = vec![parser.column()?];
        while parser.eat("||") {
            columns.push(parser.column()?);
        }
        let after = parser.braces()?;
        if !parser.rest.is_empty() {
            return Err(parser.error(0, "a call, `||`, `{` or the end"));
        }
        Test::new(before, columns, after)
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str, // Invariant: an end of the text that does not begin with a space.
}

impl Parser<'_> {
    fn eat(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        self.rest = rest.trim_start();
        true
    }

    /// Calls in braces, or none.
    fn braces(&mut self) -> Result<Vec<String>, TestError> {
        let mut calls = Vec::new();
        if self.eat("{") {
            while !self.eat("}") {
                if self.rest.is_empty() {
                    return Err(self.error(0, "`}`"));
                }
                calls.push(self.call()?);
            }
        }
        Ok(calls)
    }

    /// At least one call.
    fn column(&mut self) -> Result<Vec<String>, TestError> {
        let mut calls = vec![self.call()?];
        while !(self.rest.is_empty() || self.rest.starts_with("||") || self.rest.starts_with('{')) {
            calls.push(self.call()?);
        }
        Ok(calls)
    }

    fn call(&mut self) -> Result<String, TestError> {
        let (call, rest) = call::read(self.rest).map_err(|(at, expected)| self.error(at, expected))?;
        self.rest = rest.trim_start();
        Ok(call)
    }

    /// An error at a byte of the rest.
    fn error(&self, at: usize, expected: &'static str) -> TestError {
        let rest = &self.rest[at..];
        let found = match rest.split_whitespace().next() {
            Some(word) => format!("`{word}`"),
            None => "the end".to_owned(),
        };
        let before = self.text.len() - rest.len();
        TestError::Syntax { at: self.text[..before].chars().count() + 1, expected, found }
    }
}

impl SerialRun {
    /// The run as text: `0 add(200), 1 try_take() = 200`.
    ///
    /// # Panics
    ///
    /// If an operation is not one of the test.
    pub fn display(&self, test: &Test) -> String {
        let operation = |(place, answer): (Place, &Answer)| format!("{} {}{answer}", place.thread, test.call(place));
        self.operations().map(operation).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> String {
        match text.parse::<Test>() {
            Ok(test) => {
                assert_eq!(test.to_string().parse(), Ok(test.clone()));
                test.to_string()
            }
            Err(error) => error.to_string(),
        }
    }

    fn calls(calls: &[&str]) -> Vec<String> {
        calls.iter().map(|&call| call.to_owned()).collect()
    }

    #[test]
    fn tests_print_as_they_are_written() {
        insta::assert_snapshot!(check(" add(200)try_take( )||add(400)  try_take() "), @"add(200) try_take() || add(400) try_take()");
        insta::assert_snapshot!(check("{add(1)} add(200) || try_take() {size()}"), @"{ add(1) } add(200) || try_take() { size() }");
        insta::assert_snapshot!(check(r#"put("} || {", {"a": [1,2]}) || get("x\"")"#), @r#"put("} || {", {"a":[1, 2]}) || get("x\"")"#);
        insta::assert_snapshot!(check("{ } a() { }"), @"a()");
    }

    #[test]
    fn errors_name_the_position() {
        insta::assert_snapshot!(check(""), @"expected a call at character 1, found the end");
        insta::assert_snapshot!(check("add(1) ||"), @"expected a call at character 10, found the end");
        insta::assert_snapshot!(check("add(1) || || add(2)"), @"expected a call at character 11, found `||`");
        insta::assert_snapshot!(check("ädd(1) | add(2)"), @"expected a call at character 8, found `|`");
        insta::assert_snapshot!(check("add(1) || add 2"), @"expected `(` at character 15, found `2`");
        insta::assert_snapshot!(check("add(1) || add((2)"), @"expected `)` at character 18, found the end");
        insta::assert_snapshot!(check("{ add(1)"), @"expected `}` at character 9, found the end");
        insta::assert_snapshot!(check("{ add(1) } { add(2) }"), @"expected a call at character 12, found `{`");
        insta::assert_snapshot!(check("add(1) { add(2) } add(3)"), @"expected a call, `||`, `{` or the end at character 19, found `add(3)`");
        insta::assert_snapshot!(check(&["a()"; 37].join("||")), @"expected at least one and at most 36 threads, found 37");
    }

    #[test]
    fn a_matrix_numbers_the_listed_calls() {
        let listed = calls(&["add(200)", "add(400)", "try_take()", "put(\"k\", 1)"]);
        let check = |test: &str| match test.parse::<Test>().unwrap().matrix(&listed) {
            Ok(matrix) => matrix,
            Err(unlisted) => unlisted.to_string(),
        };
        insta::assert_snapshot!(check("add(200) try_take() || add(400) try_take()"), @";0 2;1 2;");
        insta::assert_snapshot!(check("{ add(200) } put(\"k\",1) { add(400) try_take() }"), @"0;3;1 2");
        insta::assert_snapshot!(check("try_tak()"), @"the program does not list the call `try_tak()`; did you mean `try_take()`?");
        insta::assert_snapshot!(check("add(1000000)"), @"the program does not list the call `add(1000000)`; did you mean `add(200)`?");
        insta::assert_snapshot!(check("trytake(1, 2, 3)"), @"the program does not list the call `trytake(1, 2, 3)`; did you mean `try_take()`?");
        insta::assert_snapshot!(check("clear()"), @"the program does not list the call `clear()`");
    }

    #[test]
    fn random_tests_repeat() {
        let listed = calls(&["add(200)", "add(400)", "try_take()"]);
        let draw = |seed| Test::random(&listed, 2, 3, seed).unwrap();
        assert_eq!(draw(7), draw(7));
        assert!((0..20).any(|seed| draw(seed) != draw(7)));
        assert!(draw(7).columns().iter().all(|calls| calls.len() == 3));
        assert_eq!(Test::random(&listed, 0, 3, 1), Err(TestError::Threads(0)));
        assert_eq!(draw(7).columns().len(), 2);
        assert_eq!(Test::random(&listed, 36, 1, 1).map(|test| test.operations()), Ok(36));
        assert_eq!(Test::random(&listed, 40, 1, 1), Err(TestError::Threads(37)));
        assert_eq!(Test::random(&listed, 2, 0, 1), Err(TestError::Empty(0)));
        assert_eq!(Test::random(&[], 2, 2, 1), Err(TestError::NoCalls));
        assert_eq!(Test::random(&calls(&["add"]), 1, 1, 1), Err(TestError::Call("add".to_owned())));
    }

    #[test]
    fn smaller_tests_drop_threads_then_calls() {
        let check = |test: &str| {
            let smaller = test.parse::<Test>().unwrap().smaller();
            smaller.iter().map(Test::to_string).collect::<Vec<_>>().join("\n")
        };
        insta::assert_snapshot!(check("{ a() } b() b() c() || d() || d() { e() }"), @"
        { a() } d() || d() { e() }
        { a() } b() b() c() || d() { e() }
        { a() } b() c() || d() || d() { e() }
        { a() } b() b() || d() || d() { e() }
        b() b() c() || d() || d() { e() }
        { a() } b() b() c() || d() || d()
        ");
        insta::assert_snapshot!(check("a()"), @"");
    }
}

//! Operations: process, interval, call and results.
//!
//! [`Op`] is generic in the call, because the search never inspects it: a trace has operations over [`Call`], and a
//! spec converts each call to its own type, keeping process and interval.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;
use thin_vec::ThinVec;

use crate::{Interval, OpId, ProcessId, Value};

/// One operation of a well-formed history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op<T> {
    /// Its number in the history.
    pub id: OpId,
    /// The calling process.
    pub process: ProcessId,
    /// The number of operations that its process called before it.
    pub index: u32,
    /// When it ran.
    pub interval: Interval,
    /// True if it was blocked when the execution got stuck. It says something about the state at the end, so under
    /// every order it comes after all operations that were not blocked, and none of these comes after it.
    pub is_last: bool,
    /// The call.
    pub call: T,
}

impl<T> Op<T> {
    /// Converts the call.
    pub fn with<U>(&self, call: U) -> Op<U> {
        let Op { id, process, index, interval, is_last, .. } = *self;
        Op { id, process, index, interval, is_last, call }
    }

    /// True if its process puts it after another operation, which had returned when it was called. Nothing has to follow an
    /// unfinished operation: it may take effect later.
    pub fn follows<U>(&self, earlier: &Op<U>) -> bool {
        let has_returned = earlier.interval.end().is_some_and(|end| end <= self.interval.start());
        self.process == earlier.process && earlier.index < self.index && has_returned
    }
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It returned, and took effect exactly once.
    Finished,
    /// No end was recorded. It may have taken effect at any time after its start, or not at all.
    Unfinished,
    /// It is known to have had no effect and to have returned nothing.
    Failed,
    /// It was blocked when the execution got stuck: it had no effect, and could not go on.
    Blocked,
}

/// The names that all calls of one action share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schema {
    /// The name of the action. An unfinished call may have the names of several, see [`Schema::outcomes`].
    pub action: Arc<str>,
    /// The names of its arguments; an empty name is a positional argument.
    pub args: Vec<Arc<str>>,
    /// The names of its results, likewise.
    pub results: Vec<Arc<str>>,
}

impl Schema {
    /// Separates the names of the possible actions of a call.
    pub const OR: char = '|';

    /// The possible actions of an unfinished call: `Dequeue|DequeueEmpty` is either. A finished call has a single
    /// action.
    pub fn outcomes(&self) -> impl Iterator<Item = &str> {
        self.action.split(Schema::OR)
    }

    /// The schema of the first outcome, if there are several.
    pub(crate) fn first_outcome(&self) -> Option<Schema> {
        let (first, _) = self.action.split_once(Schema::OR)?;
        Some(Schema { action: first.into(), ..self.clone() })
    }
}

/// A call: an action with its arguments and, if it finished, its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    schema: Arc<Schema>,
    values: SmallVec<[Value; 3]>, // Invariant: one per argument, then one per result or no results.
    /// True if the call is known to have had no effect.
    pub failed: bool,
    /// True if the call was blocked when the execution got stuck. It has no results then.
    pub blocked: bool,
    /// Other data from the recorder, for display.
    pub meta: ThinVec<(Arc<str>, Value)>,
}

const _: () = assert!(size_of::<Op<Call>>() <= 136, "a history holds millions of calls");

impl Call {
    /// Returns `None` unless there is a value for each argument, and for each result or for no result.
    pub fn new(schema: Arc<Schema>, values: impl IntoIterator<Item = Value>) -> Option<Call> {
        let values: SmallVec<[Value; 3]> = values.into_iter().collect();
        let (args, all) = (schema.args.len(), schema.args.len() + schema.results.len());
        (values.len() == args || values.len() == all).then(|| Call {
            schema,
            values,
            failed: false,
            blocked: false,
            meta: ThinVec::new(),
        })
    }

    /// A call for a reader to fill in: it adds the values, and delivers the call only if they are complete.
    pub(crate) fn without_values(schema: Arc<Schema>) -> Call {
        Call { schema, values: SmallVec::new(), failed: false, blocked: false, meta: ThinVec::new() }
    }

    /// The values of a call that a reader fills in.
    pub(crate) fn values_mut(&mut self) -> &mut SmallVec<[Value; 3]> {
        &mut self.values
    }

    /// Sets the outcome of a call, which a reader did not know when the call began.
    pub(crate) fn settle(&mut self, schema: &Arc<Schema>) {
        self.schema = schema.clone();
    }

    /// A call with positional arguments and results.
    pub fn positional(
        action: &str,
        args: impl IntoIterator<Item = Value>,
        results: impl IntoIterator<Item = Value>,
    ) -> Call {
        let mut values: SmallVec<[Value; 3]> = args.into_iter().collect();
        let unnamed = |count| vec![Arc::from(""); count];
        let args = unnamed(values.len());
        values.extend(results);
        let results = unnamed(values.len() - args.len());
        Call {
            schema: Arc::new(Schema { action: action.into(), args, results }),
            values,
            failed: false,
            blocked: false,
            meta: ThinVec::new(),
        }
    }

    /// The schema shared by all calls of its action.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The name of the action.
    pub fn action(&self) -> &str {
        &self.schema.action
    }

    /// The arguments, in order.
    pub fn args(&self) -> &[Value] {
        &self.values[..self.schema.args.len()]
    }

    /// The results, in order; empty if the call is unfinished.
    pub fn results(&self) -> &[Value] {
        &self.values[self.schema.args.len()..]
    }

    /// The same call with unknown results.
    pub fn without_results(&self) -> Call {
        let values = self.args().iter().cloned().collect();
        Call { schema: self.schema.clone(), values, failed: self.failed, blocked: false, meta: ThinVec::new() }
    }

    /// The argument of this name; if the arguments have no names, the one at this position.
    pub fn arg(&self, place: usize, name: &str) -> Option<&Value> {
        find(&self.schema.args, self.args(), place, name)
    }

    /// The call without the argument that [`Call::arg`] finds, and that argument.
    pub fn split_arg(&self, place: usize, name: &str) -> Option<(Value, Call)> {
        let place = place_of(&self.schema.args, place, name)?;
        let mut schema = (*self.schema).clone();
        schema.args.remove(place);
        let mut rest = Call { schema: Arc::new(schema), ..self.clone() };
        let value = rest.values.remove(place);
        Some((value, rest))
    }

    /// The result of this name; if the results have no names, the one at this position.
    pub fn result(&self, place: usize, name: &str) -> Option<&Value> {
        find(&self.schema.results, self.results(), place, name)
    }
}

fn find<'a>(names: &[Arc<str>], values: &'a [Value], place: usize, name: &str) -> Option<&'a Value> {
    values.get(place_of(names, place, name)?)
}

fn place_of(names: &[Arc<str>], place: usize, name: &str) -> Option<usize> {
    let by_place = names.get(place).is_some_and(|at_place| at_place.is_empty() || **at_place == *name);
    if by_place { Some(place) } else { names.iter().position(|other| **other == *name) }
}

/// Calls print as `put(key: 1, value: 2) = ok: TRUE`, and as `put(1, 2) = TRUE` if their arguments have no names. A
/// name that is not a word is quoted, so that the output can be read again.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, |f, value| write!(f, "{value}"))
    }
}

impl Call {
    /// The call as it prints, around the values of arguments and results: a piece before each and one at the end.
    pub fn pieces(&self) -> Vec<String> {
        let mut pieces = Pieces(vec![String::new()]);
        let next = |pieces: &mut Pieces, _: &Value| {
            pieces.0.push(String::new());
            Ok(())
        };
        self.write(&mut pieces, next).expect("text can always be added to");
        pieces.0
    }

    /// Writes the call; the callback writes the values.
    fn write<W: fmt::Write>(&self, out: &mut W, mut write: impl FnMut(&mut W, &Value) -> fmt::Result) -> fmt::Result {
        write!(out, "{}(", Word(self.action()))?;
        write_fields(out, &self.schema.args, self.args(), &mut write)?;
        out.write_str(")")?;
        if !self.results().is_empty() {
            out.write_str(" = ")?;
            write_fields(out, &self.schema.results, self.results(), &mut write)?;
        }
        if self.blocked {
            out.write_str(" blocked")?;
        }
        if self.failed { out.write_str(" failed") } else { Ok(()) }
    }
}

/// Adds to the last piece.
struct Pieces(Vec<String>);

impl fmt::Write for Pieces {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.last_mut().ok_or(fmt::Error)?.write_str(text)
    }
}

fn write_fields<W: fmt::Write>(
    out: &mut W,
    names: &[Arc<str>],
    values: &[Value],
    write: &mut impl FnMut(&mut W, &Value) -> fmt::Result,
) -> fmt::Result {
    for (index, (name, value)) in names.iter().zip(values).enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        out.write_str(comma)?;
        if !name.is_empty() {
            write!(out, "{}: ", Word(name))?;
        }
        write(out, value)?;
    }
    Ok(())
}

/// Prints a name unquoted if it is a word, and as a quoted string otherwise.
pub(crate) struct Word<'a>(pub(crate) &'a str);

impl Word<'_> {
    /// True for the characters of a word.
    pub(crate) fn contains(c: char) -> bool {
        c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '!' | '?' | '/' | '$' | '*' | '+' | '\'')
    }
}

impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_word = !self.0.is_empty() && !self.0.starts_with("//") && self.0.chars().all(Word::contains);
        if is_word { f.write_str(self.0) } else { write!(f, "{:?}", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named() -> Call {
        let schema =
            Schema { action: "put".into(), args: vec!["key".into(), "value".into()], results: vec!["ok".into()] };
        Call::new(Arc::new(schema), [1.into(), 2.into(), true.into()]).unwrap()
    }

    #[test]
    fn fields_are_found_by_name_or_else_by_place() {
        let call = named();
        assert_eq!(call.arg(0, "value"), Some(&Value::Int(2)));
        assert_eq!(call.arg(0, "missing"), None);
        assert_eq!(call.result(0, "ok"), Some(&Value::Bool(true)));
        let (key, rest) = call.split_arg(0, "key").unwrap();
        assert_eq!((key, rest.to_string()), (Value::Int(1), "put(value: 2) = ok: TRUE".to_owned()));
        assert_eq!(call.split_arg(0, "missing"), None);
        let call = Call::positional("put", [1.into(), 2.into()], []);
        assert_eq!(call.split_arg(0, "key").unwrap().1.to_string(), "put(2)");
        assert_eq!(call.arg(1, "value"), Some(&Value::Int(2)));
        assert_eq!(call.result(0, "ok"), None);
    }

    #[test]
    fn calls_have_all_arguments_and_all_results_or_none() {
        let schema = named().schema().clone();
        assert!(Call::new(schema.clone(), [1.into(), 2.into()]).is_some());
        assert!(Call::new(schema.clone(), [1.into()]).is_none());
        assert!(Call::new(schema, [1.into(), 2.into(), 3.into(), 4.into()]).is_none());
    }

    #[test]
    fn calls_print_as_they_are_written() {
        assert_eq!(named().to_string(), "put(key: 1, value: 2) = ok: TRUE");
        assert_eq!(named().pieces(), ["put(key: ", ", value: ", ") = ok: ", ""]);
        let failed = Call { failed: true, ..Call::positional("cas", [1.into(), 2.into()], []) };
        assert_eq!(failed.to_string(), "cas(1, 2) failed");
        assert_eq!(Call::positional("read", [], [Value::Nil]).to_string(), "read() = nil");
        assert_eq!(Call::positional("r(x", [], []).to_string(), r#""r(x"()"#);
    }
}

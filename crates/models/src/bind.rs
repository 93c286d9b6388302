//! Reads recorded calls: arguments and results by name or position, and the errors in them.
//!
//! Argument names may have synonyms; the documentation uses the first. A model reads at most one result of a call; if
//! it is the only one, its name does not matter. Some recorders write all arguments as one record, whose fields are
//! then found by name.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use omnilink_history::{Call, Op, Outcome, Value};
use thiserror::Error;

use crate::{About, Atom, Interner, Operation, digits};

/// Why a recorded call does not fit a model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadCall {
    /// The model has no such operation.
    #[error("`{action}` is not an operation of the model `{model}`, which has {known}{hint}")]
    UnknownAction {
        /// The action.
        action: String,
        /// The name of the model.
        model: &'static str,
        /// The operations of the model.
        known: String,
        /// The closest name of one, as the end of a sentence.
        hint: String,
    },
    /// An operation is blocked that never blocks.
    #[error("`{call}`, but no such operation of the model `{model}` blocks")]
    Blocked {
        /// The call.
        call: String,
        /// The name of the model.
        model: &'static str,
    },
    /// A user's object does not support this call.
    #[error("unrecognized call `{call}`")]
    Refused {
        /// The call.
        call: String,
    },
    /// The number of arguments is wrong.
    #[error("`{action}` has {count} arguments, and the model `{model}` expects {expected}")]
    ArgumentCount {
        /// The action.
        action: String,
        /// The name of the model.
        model: &'static str,
        /// The number of arguments.
        count: usize,
        /// The expected number.
        expected: String,
    },
    /// An argument or result is missing.
    #[error("`{action}` has no {kind} `{name}`{recorded}")]
    Missing {
        /// The action.
        action: String,
        /// `argument` or `result`.
        kind: &'static str,
        /// Its name.
        name: &'static str,
        /// The names that it has instead, as the rest of a sentence.
        recorded: String,
    },
    /// The call returned, but its result was not recorded.
    #[error("`{action}` returned, but its result `{name}` was not recorded")]
    NoResult {
        /// The action.
        action: String,
        /// The name of the result.
        name: &'static str,
    },
    /// An argument or result has the wrong type.
    #[error("the {kind} `{name}` of `{action}` is `{value}`, not {expected}")]
    Wrong {
        /// The action.
        action: String,
        /// `argument` or `result`.
        kind: &'static str,
        /// Its name.
        name: &'static str,
        /// The recorded value.
        value: String,
        /// The expected kind of value.
        expected: &'static str,
    },
}

/// One call as a model reads it.
pub(crate) struct Fields<'a> {
    about: &'static About,
    call: Cow<'a, Call>,
    is_finished: bool,
    is_record: Cell<bool>, // True once the only argument is known to hold the others.
}

impl<'a> Fields<'a> {
    /// `None` if the operation is known to have had no effect, so that every model ignores it. An error if it is
    /// blocked: in most models, no operation is.
    pub(crate) fn of(about: &'static About, op: &'a Op<Call>, atoms: &Interner) -> Result<Option<Fields<'a>>, BadCall> {
        match op.outcome() {
            Outcome::Blocked => Err(BadCall::Blocked { call: op.call.to_string(), model: about.name }),
            _ => Ok(Fields::of_any(about, op, atoms)),
        }
    }

    /// The same for a model with operations that block.
    pub(crate) fn of_any(about: &'static About, op: &'a Op<Call>, atoms: &Interner) -> Option<Fields<'a>> {
        let outcome = op.outcome();
        if outcome == Outcome::Failed {
            return None;
        }
        let numbers = if atoms.reads_digits() { digits::numbers_of(&op.call) } else { None };
        Some(Fields {
            about,
            call: numbers.map_or(Cow::Borrowed(&op.call), Cow::Owned),
            is_finished: outcome == Outcome::Finished,
            is_record: Cell::new(false),
        })
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// The action. To a model, the outcomes of one call are its results, and the first one names the action.
    pub(crate) fn action(&self) -> &str {
        self.call.schema().outcomes().next().unwrap_or_default()
    }

    pub(crate) fn unknown(&self) -> BadCall {
        let operations = self.about.operations;
        let known: Vec<String> = operations.iter().map(|operation| format!("`{}`", operation.call)).collect();
        let names = operations.iter().flat_map(Operation::names);
        BadCall::UnknownAction {
            action: self.action().into(),
            model: self.about.name,
            known: known.join(", "),
            hint: omnilink_suggest::aside(self.action(), names),
        }
    }

    /// Checks the number of arguments. Must be called before any is read.
    pub(crate) fn args(&self, expected: usize) -> Result<(), BadCall> {
        self.args_or_one_more(expected, expected).map(|_| ())
    }

    /// The same for two numbers. True if there are `more` arguments and not `fewer`.
    pub(crate) fn args_or_one_more(&self, fewer: usize, more: usize) -> Result<bool, BadCall> {
        let count = self.call.args().len();
        if count == fewer || count == more {
            return Ok(count == more);
        }
        if let Some(fields) = self.record().filter(|fields| fields.len() == fewer || fields.len() == more) {
            self.is_record.set(true);
            return Ok(fields.len() == more);
        }
        let expected = if fewer == more { fewer.to_string() } else { format!("{fewer} or {more}") };
        Err(BadCall::ArgumentCount { action: self.action().into(), model: self.about.name, count, expected })
    }

    pub(crate) fn arg(&self, place: usize, names: &[&'static str]) -> Result<&Value, BadCall> {
        let found = if self.is_record.get() {
            let fields = self.record().unwrap_or_default();
            let field = |name: &&str| fields.iter().find(|field| field.0.as_str() == Some(*name));
            names.iter().find_map(field).map(|field| &field.1)
        } else {
            names.iter().find_map(|name| self.call.arg(place, name))
        };
        let recorded = || match self.record().filter(|_| self.is_record.get()) {
            Some(fields) => fields.iter().filter_map(|(name, _)| name.as_str()).map(Arc::from).collect(),
            None => self.call.schema().args.to_vec(),
        };
        found.ok_or_else(|| self.missing("argument", names[0], &recorded()))
    }

    fn missing(&self, kind: &'static str, name: &'static str, recorded: &[Arc<str>]) -> BadCall {
        let recorded: Vec<String> = recorded.iter().map(|name| format!("`{name}`")).collect();
        let recorded = if recorded.is_empty() { String::new() } else { format!("; it has {}", recorded.join(", ")) };
        BadCall::Missing { action: self.action().into(), kind, name, recorded }
    }

    /// The fields of the only argument, if it is a record.
    fn record(&self) -> Option<&[(Value, Value)]> {
        match self.call.args() {
            [Value::Function(function)] => Some(function.pairs()),
            _ => None,
        }
    }

    /// An argument that replaces `nil` in results, so it must not be `nil` itself.
    pub(crate) fn element_arg(&self, place: usize, names: &[&'static str], atoms: &Interner) -> Result<Atom, BadCall> {
        match self.arg(place, names)? {
            nil @ Value::Nil => Err(self.wrong("argument", names[0], nil, "a value")),
            value => Ok(atoms.atom(value)),
        }
    }

    /// Fails if the operation finished without a recorded result, for operations that mean nothing without one.
    pub(crate) fn needs_result(&self, name: &'static str) -> Result<(), BadCall> {
        match self.is_finished && self.call.results().is_empty() {
            true => Err(BadCall::NoResult { action: self.action().into(), name }),
            false => Ok(()),
        }
    }

    /// The result, if the operation finished and it was recorded.
    pub(crate) fn result(&self, names: &[&'static str]) -> Result<Option<&Value>, BadCall> {
        match self.call.results() {
            _ if !self.is_finished => Ok(None),
            [] => Ok(None),
            [result] => Ok(Some(result)),
            _ => {
                let found = names.iter().find_map(|name| self.call.result(0, name));
                found.map(Some).ok_or_else(|| self.missing("result", names[0], &self.call.schema().results))
            }
        }
    }

    /// A result that says whether the operation had an effect.
    pub(crate) fn ok(&self) -> Result<Option<bool>, BadCall> {
        self.read_result(&["ok", "result"], "a truth value", Value::as_bool)
    }

    /// A result that is a count.
    pub(crate) fn count(&self) -> Result<Option<usize>, BadCall> {
        let read = |value: &Value| value.as_int().and_then(|int| usize::try_from(int).ok());
        self.read_result(&["count", "len", "n"], "a number of elements", read)
    }

    /// A result parsed by `read`, which returns `None` for an unexpected value.
    pub(crate) fn read_result<T>(
        &self,
        names: &[&'static str],
        expected: &'static str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>, BadCall> {
        let Some(value) = self.result(names)? else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| self.wrong("result", names[0], value, expected))
    }

    /// Checks that a result carries no information: it is missing, `nil`, `TRUE`, `"ok"`, or repeats the argument.
    pub(crate) fn acknowledged(&self, argument: Option<&Value>) -> Result<(), BadCall> {
        let is_empty = |value: &Value| {
            matches!(value, Value::Nil | Value::Bool(true))
                || value.as_str().is_some_and(|text| text.eq_ignore_ascii_case("ok"))
                || Some(value) == argument
        };
        self.read_result(&["ok"], "`TRUE`", |value| is_empty(value).then_some(())).map(|_| ())
    }

    /// True if the only result has this name.
    pub(crate) fn result_is_called(&self, name: &str) -> bool {
        matches!(self.call.schema().results.as_slice(), [only] if **only == *name)
    }

    pub(crate) fn wrong(
        &self,
        kind: &'static str,
        name: &'static str,
        value: &Value,
        expected: &'static str,
    ) -> BadCall {
        BadCall::Wrong { action: self.action().into(), kind, name, value: value.to_string(), expected }
    }
}

//! A user's specification in its simplest form: an object that runs one operation after another.
//!
//! An [`Object`] defines its initial state, and the effect and results of each call. [`Sequential`] turns it into a
//! [`Model`]: a finished call must have returned exactly these results; an unfinished one may have returned anything.
//!
//! ```
//! use omnilink_models::{Answer, Object};
//! use omnilink_history::{Call, Value};
//!
//! /// Hands out numbers, each once.
//! struct Tickets;
//!
//! impl Object for Tickets {
//!     type State = i64;
//!
//!     fn initial(&self) -> i64 {
//!         0
//!     }
//!
//!     fn apply(&self, next: &mut i64, call: &Call) -> Answer {
//!         match (call.action(), call.args()) {
//!             ("take", []) => {
//!                 *next += 1;
//!                 Answer::value(*next)
//!             }
//!             _ => Answer::Unknown,
//!         }
//!     }
//! }
//! ```

use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use omnilink_history::{Call, Outcome, Schema, Value};
use omnilink_search::Spec;

use crate::{Atom, BadCall, Interner, Model};

/// A sequential specification of an object.
pub trait Object: Send + Sync {
    /// The state that calls read and change. Equal states must behave the same forever after.
    type State: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// The initial state.
    fn initial(&self) -> Self::State;

    /// Applies a call to the state and returns its answer. Must depend only on the state and on the action and
    /// arguments of the call; it is called repeatedly and must return the same answer every time.
    fn apply(&self, state: &mut Self::State, call: &Call) -> Answer;

    /// True if a call never changes the state, whatever it returns. Operations that may miss others are then not
    /// affected by it, and checks are faster.
    fn only_reads(&self, _call: &Call) -> bool {
        false
    }

    /// The part of the object that a call belongs to, if calls on different parts are independent: the key of a map.
    /// Histories in which every operation has a part are checked part by part.
    fn part(&self, _call: &Call) -> Option<Value> {
        None
    }
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It returns these results.
    Returns(Vec<Value>),
    /// It cannot happen in this state, for this reason: a held lock is not acquired.
    Blocks(String),
    /// The object does not support this call.
    Unknown,
}

impl Answer {
    /// It returns nothing.
    pub fn nothing() -> Answer {
        Answer::Returns(Vec::new())
    }

    /// It returns one result.
    pub fn value(value: impl Into<Value>) -> Answer {
        Answer::Returns(vec![value.into()])
    }
}

/// The model of an object.
#[derive(Debug, Default)]
pub struct Sequential<O> {
    object: O,
    atoms: Interner,
}

impl<O: Object> Sequential<O> {
    /// The model of this object.
    pub fn new(object: O) -> Sequential<O> {
        Sequential { object, atoms: Interner::default() }
    }

    /// The state after a call, and its answer.
    fn answer(&self, state: &O::State, asked: &Asked) -> (O::State, Answer) {
        let mut next = state.clone();
        let answer = self.object.apply(&mut next, &asked.call);
        (next, answer)
    }
}

/// A call as passed to an object.
#[derive(Clone, Debug)]
pub struct Asked {
    call: Arc<Call>,
    /// True if its results are known.
    is_finished: bool,
}

impl PartialEq for Asked {
    fn eq(&self, other: &Asked) -> bool {
        self.is_finished == other.is_finished && self.call == other.call
    }
}

impl Eq for Asked {}

impl Hash for Asked {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.call.action(), self.call.args(), self.call.results()).hash(state);
    }
}

impl<O: Object> Spec for Sequential<O> {
    type Op = Asked;
    type State = O::State;
    type Error = std::convert::Infallible;

    fn initial(&self, out: &mut Vec<O::State>) -> Result<(), Self::Error> {
        out.push(self.object.initial());
        Ok(())
    }

    fn step(
        &self,
        state: &O::State,
        op: &Asked,
        out: &mut omnilink_search::Successors<O::State>,
    ) -> Result<(), Self::Error> {
        if let Some(next) = self.next(state, op) {
            out.done(next);
        }
        Ok(())
    }

    fn is_observer(&self, op: &Asked) -> bool {
        !op.call.blocked && self.object.only_reads(&op.call)
    }

    fn why_not(&self, state: &O::State, op: &Asked) -> Option<String> {
        let action = op.call.action();
        match self.answer(state, op).1 {
            Answer::Returns(results) if op.call.blocked => {
                Some(format!("`{action}` is blocked at the end, but returns {} here", shown(&results)))
            }
            Answer::Returns(results) if op.is_finished => {
                Some(format!("`{action}` returned {}, but returns {} here", shown(op.call.results()), shown(&results)))
            }
            Answer::Returns(_) => None,
            Answer::Blocks(why) => (!op.call.blocked).then_some(why),
            Answer::Unknown => Some(format!("unrecognized call `{}`", op.call)),
        }
    }
}

impl<O: Object> Model for Sequential<O> {
    fn bind(&self, op: &omnilink_history::Op<Call>) -> Result<Option<Asked>, BadCall> {
        let outcome = op.outcome();
        if outcome == Outcome::Failed {
            return Ok(None);
        }
        let mut call = op.call.clone();
        call.meta.clear();
        if matches!(outcome, Outcome::Unfinished | Outcome::Blocked)
            && let Some(first) = first_outcome(&call)
        {
            call = first;
            call.blocked = op.call.blocked;
        }
        let asked = Asked { call: Arc::new(call), is_finished: outcome == Outcome::Finished };
        let (_, answer) = self.answer(&self.object.initial(), &asked);
        match answer {
            Answer::Unknown => Err(BadCall::Refused { call: op.call.to_string() }),
            Answer::Returns(results) if asked.is_finished && op.call.results().is_empty() && !results.is_empty() => {
                Err(BadCall::NoResult { action: op.call.action().into(), name: "result" })
            }
            _ => Ok(Some(asked)),
        }
    }

    fn next(&self, state: &O::State, op: &Asked) -> Option<O::State> {
        match self.answer(state, op) {
            (_, Answer::Blocks(_)) if op.call.blocked => Some(state.clone()),
            (_, Answer::Returns(_)) if op.call.blocked => None,
            (next, Answer::Returns(results)) => (!op.is_finished || results == op.call.results()).then_some(next),
            _ => None,
        }
    }

    fn partition(&self, op: &Asked) -> Option<Atom> {
        self.object.part(&op.call).map(|part| self.atoms.atom(&part))
    }

    fn atoms(&self) -> &Interner {
        &self.atoms
    }

    fn show(&self, state: &O::State) -> String {
        format!("{state:?}")
    }
}

/// The first of several outcomes: to an object, outcomes of one call are its results.
fn first_outcome(call: &Call) -> Option<Call> {
    let schema = call.schema();
    let first = schema.outcomes().next().filter(|first| *first != call.action())?;
    Call::new(Arc::new(Schema { action: first.into(), ..(**schema).clone() }), call.args().iter().cloned())
}

/// Results for display.
fn shown(results: &[Value]) -> String {
    match results {
        [] => "nothing".to_owned(),
        results => results.iter().map(Value::to_string).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::check;

    /// A lock that counts how often it was taken.
    struct Lock;

    impl Object for Lock {
        type State = (bool, i64);

        fn initial(&self) -> (bool, i64) {
            (false, 0)
        }

        fn apply(&self, (is_held, count): &mut (bool, i64), call: &Call) -> Answer {
            match (call.action(), call.args()) {
                ("lock", []) if *is_held => Answer::Blocks("the lock is held".into()),
                ("lock", []) => {
                    (*is_held, *count) = (true, *count + 1);
                    Answer::value(*count)
                }
                ("unlock", []) => {
                    *is_held = false;
                    Answer::nothing()
                }
                _ => Answer::Unknown,
            }
        }
    }

    #[test]
    fn results_are_those_of_the_object() {
        let lock = Sequential::new(Lock);
        insta::assert_snapshot!(check(&lock, "lock() = 1; unlock(); lock() = 2"), @"accepted");
        insta::assert_snapshot!(check(&lock, "lock() = 1; lock() = 2"), @"lock() = 2: the lock is held");
        insta::assert_snapshot!(check(&lock, "lock() = 2"), @"lock() = 2: `lock` returned 2, but returns 1 here");
        insta::assert_snapshot!(check(&lock, "lock()?; unlock(); lock() = 2"), @"accepted");
        insta::assert_snapshot!(check(&lock, "lock()!; lock() = 1"), @"accepted");
        insta::assert_snapshot!(check(&lock, "lock()"), @"`lock` returned, but its result `result` was not recorded");
        insta::assert_snapshot!(check(&lock, "look() = 1"), @"unrecognized call `look() = 1`");
    }
}

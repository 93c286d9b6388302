//! The model trait: a spec that reads recorded calls.

use std::convert::Infallible;
use std::fmt::Debug;
use std::hash::Hash;

use omnilink_history::{Call, History, Interval, Op, Outcome, Value};
use omnilink_search::Spec;
use omnilink_weak::registers::Touch;

use crate::unambiguous::Decision;
use crate::{Atom, BadCall, Interner};

/// A spec that reads recorded calls.
///
/// Every operation of a model leads from one state to at most one other, whether or not its result is known. Calls
/// are bound one after another, and bound operations never change, so a search may already run on earlier ones.
pub trait Model:
    Spec<Op: Clone + Debug + Hash + Send + Sync + 'static, State: Debug + Send + Sync + 'static, Error = Infallible>
    + Send
    + Sync
{
    /// The operation as this model sees it, or `None` if it constrains nothing and changes nothing: it failed, or it
    /// is an unfinished observer. An observer that returned without a recorded result is an error: a history of such
    /// operations would always be accepted.
    fn bind(&self, op: &Op<Call>) -> Result<Option<Self::Op>, BadCall>;

    /// The same with any results, as an operation sees it that may miss others; `None` if it then changes nothing.
    fn bind_free(&self, op: &Op<Call>) -> Result<Option<Self::Op>, BadCall> {
        match op.outcome() {
            Outcome::Failed | Outcome::Blocked => Ok(None),
            Outcome::Finished | Outcome::Unfinished => {
                let interval = Interval::unfinished(op.interval.start());
                self.bind(&Op { interval, ..op.with(op.call.without_results()) })
            }
        }
    }

    /// The state that `op` leads to, or `None` if it is disabled: [`Spec::step`] for one successor.
    fn next(&self, state: &Self::State, op: &Self::Op) -> Option<Self::State>;

    /// The independent part of the object that an operation belongs to, or `None` if it may involve several. If every
    /// operation of a history has a part, the history is linearizable exactly if its operations on each part are.
    fn partition(&self, _op: &Self::Op) -> Option<Atom> {
        None
    }

    /// The interner of the atoms in operations and states.
    fn atoms(&self) -> &Interner;

    /// A state for display.
    fn show(&self, state: &Self::State) -> String;

    /// A state as a value, from which [`Model::load`] makes it again in another interner; `None` if this model's states
    /// cannot be carried from one check to another.
    fn save(&self, _state: &Self::State) -> Option<Value> {
        None
    }

    /// The state that was saved as this value; `None` if it is no such value.
    fn load(&self, _saved: &Value) -> Option<Self::State> {
        None
    }

    /// The state that `op` leads to from every state of an object with the operation's key only; `None` if it depends on the
    /// state before.
    fn settled(&self, _op: &Self::Op) -> Option<Self::State> {
        None
    }

    /// The operation as an access of a register, if it is a plain read or write, with the number of the register's initial
    /// value.
    fn touch(&self, _op: &Self::Op) -> Option<(Touch, u64)> {
        None
    }

    /// True if a procedure decides some histories in polynomial time.
    fn has_procedure(&self) -> bool {
        false
    }

    /// Decides a history in polynomial time, where that is possible.
    fn decide(&self, _history: &History<Self::Op>) -> Decision {
        Decision::NotApplicable("this model has no fast procedure".into())
    }
}

/// The common part of every model's [`Spec`]: its types, its one initial state, given as a function of the model, and
/// [`Spec::step`] by [`Model::next`].
macro_rules! at_most_one_successor {
    (|$model:pat_param| $first:expr) => {
        type Op = Op;
        type State = State;
        type Error = std::convert::Infallible;

        fn initial(&self, out: &mut Vec<State>) -> Result<(), Self::Error> {
            let $model = self;
            out.push($first);
            Ok(())
        }

        fn step(
            &self,
            state: &State,
            op: &Op,
            out: &mut omnilink_search::Successors<State>,
        ) -> Result<(), Self::Error> {
            if let Some(next) = self.next(state, op) {
                out.done(next);
            }
            Ok(())
        }
    };
}

pub(crate) use at_most_one_successor;

/// Help text of a model.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name on the command line.
    pub name: &'static str,
    /// The modelled object, in one line.
    pub summary: &'static str,
    /// Its operations.
    pub operations: &'static [Operation],
    /// Its options: syntax and effect.
    pub options: &'static [(&'static str, &'static str)],
    /// Whether its operations take a `key` as first argument, so that it is one object for each key.
    pub takes_key: bool,
}

/// Help text of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Its syntax.
    pub call: &'static str,
    /// Its effect.
    pub effect: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
}

impl Operation {
    pub(crate) const fn new(call: &'static str, effect: &'static str, aliases: &'static [&'static str]) -> Operation {
        Operation { call, effect, aliases }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.call.split_once('(').map_or(self.call, |(name, _)| name)
    }

    /// Its name and its other names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name()).chain(self.aliases.iter().copied())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    //! Runs calls written as text, and checks the laws of every model.

    use omnilink_history::{OpId, ProcessId};

    use super::*;

    /// Runs calls one after another: `T1 push(1) = TRUE; pop()?; pop()!`, where `?` is unfinished and `!` failed.
    pub(crate) fn check<M: Model>(model: &M, calls: &str) -> String {
        let mut state = initial(model);
        for text in calls.split("; ") {
            let op = match model.bind(&parse(text)) {
                Ok(Some(op)) => op,
                Ok(None) => continue,
                Err(error) => return error.to_string(),
            };
            match model.next(&state, &op) {
                Some(next) => state = next,
                None => return format!("{text}: {}", model.why_not(&state, &op).expect("a reason")),
            }
        }
        "accepted".into()
    }

    /// Checks the laws of every model, for these calls in every state that a few of them lead to.
    pub(crate) fn check_laws<M: Model>(model: &M, calls: &str) {
        let ops: Vec<M::Op> = calls.split("; ").filter_map(|text| model.bind(&parse(text)).unwrap()).collect();
        let mut states = vec![initial(model)];
        let mut next = 0;
        while next < states.len() && states.len() < 300 {
            for op in &ops {
                let reached = model.next(&states[next], op);
                states.extend(reached.filter(|state| !states.contains(state)));
            }
            next += 1;
        }
        let run = |state: &M::State, a: &M::Op, b: &M::Op| model.next(state, a).and_then(|state| model.next(&state, b));
        for state in &states {
            if let Some(saved) = model.save(state) {
                assert_eq!(model.load(&saved).as_ref(), Some(state), "{saved}");
            }
            for a in &ops {
                let after = model.next(state, a);
                assert_eq!(after.is_none(), model.why_not(state, a).is_some(), "{state:?} {a:?}");
                assert_eq!(after.is_some(), model.allows(state, a).unwrap(), "{state:?} {a:?}");
                assert!(!model.is_observer(a) || after.as_ref().is_none_or(|after| after == state), "{state:?} {a:?}");
                assert!(!model.is_total(a) || after.is_some(), "{state:?} {a:?}");
                for b in &ops {
                    let apart = model.partition(a).zip(model.partition(b)).is_some_and(|(a, b)| a != b);
                    assert!(!apart || model.commute(a, b), "{a:?} {b:?}");
                    assert_eq!(model.commute(a, b), model.commute(b, a), "{a:?} {b:?}");
                    if let Some(after) = &after {
                        let (alone, behind) = (model.next(state, b), model.next(after, b));
                        assert!(!model.overwrites(b, a) || alone == behind, "{state:?} {a:?} {b:?}");
                        assert!(!model.precludes(a, b) || behind.is_none(), "{state:?} {a:?} {b:?}");
                    }
                    if model.commute(a, b) {
                        assert_eq!(run(state, a, b), run(state, b, a), "{state:?} {a:?} {b:?}");
                        if let Some(after) = model.next(state, a) {
                            let same = model.next(state, b).is_some() == model.next(&after, b).is_some();
                            assert!(same, "{state:?} {a:?} {b:?}");
                        }
                    }
                }
            }
        }
        assert!(states.len() > 1, "the calls lead nowhere");
    }

    fn initial<M: Model>(model: &M) -> M::State {
        let mut states = Vec::new();
        model.initial(&mut states).unwrap();
        assert_eq!(states.len(), 1);
        states.remove(0)
    }

    pub(crate) fn parse(text: &str) -> Op<Call> {
        let (process, text) = match text.strip_prefix('T').and_then(|text| text.split_once(' ')) {
            Some((process, text)) => (process.parse().unwrap(), text),
            None => (0, text),
        };
        let (text, failed) = text.strip_suffix('!').map_or((text, false), |text| (text, true));
        let (text, end) = text.strip_suffix('?').map_or((text, Some(1)), |text| (text, None));
        let (call, result) = text.split_once(" = ").map_or((text, None), |(call, result)| (call, Some(result)));
        let (action, args) = call.strip_suffix(')').unwrap().split_once('(').unwrap();
        let mut call = Call::positional(action, values(args), result.map(value));
        call.failed = failed;
        let interval = end.map_or(Interval::unfinished(0), |end| Interval::new(0, end).unwrap());
        Op { id: OpId(0), process: ProcessId(process), index: 0, interval, is_last: false, call }
    }

    /// Splits at commas outside brackets.
    fn values(text: &str) -> Vec<Value> {
        let (mut depth, mut start, mut out) = (0, 0, Vec::new());
        for (place, char) in text.char_indices() {
            depth += i32::from("<{[".contains(char)) - i32::from("]}>".contains(char));
            if char == ',' && depth == 0 {
                out.push(value(&text[start..place]));
                start = place + 1;
            }
        }
        if !text.trim().is_empty() {
            out.push(value(&text[start..]));
        }
        out
    }

    /// Reads `1`, `nil`, `TRUE`, `<1, 2>`, `{1, 2}`, `[1: 2]`, and any other text as a string.
    fn value(text: &str) -> Value {
        let text = text.trim();
        let inside = |open, close| text.strip_prefix(open).and_then(|text| text.strip_suffix(close));
        match text {
            "nil" => Value::Nil,
            "TRUE" => Value::Bool(true),
            "FALSE" => Value::Bool(false),
            _ if Value::parse_number(text).is_ok() => Value::parse_number(text).unwrap(),
            _ if inside('<', '>').is_some() => Value::tuple(values(inside('<', '>').unwrap())),
            _ if inside('{', '}').is_some() => Value::set(values(inside('{', '}').unwrap())),
            _ if inside('[', ']').is_some() => {
                let pairs = inside('[', ']').unwrap().split(", ").map(|pair| pair.split_once(": ").unwrap());
                Value::function(pairs.map(|(key, to)| (value(key), value(to)))).unwrap()
            }
            _ => Value::str(text.trim_matches('"')),
        }
    }
}

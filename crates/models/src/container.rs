//! The common part of queues, stacks and priority queues: values go in, and a [`Discipline`] says which comes out.
//!
//! All have four operations: one that adds a value, one that removes a value, `len` and `is_empty`. The position of
//! the value that comes out next depends only on the state, so every operation leads to at most one state. A
//! container with a capacity refuses values while it is full. Each discipline has its own file, with the names of its
//! container and operations, and the procedure that decides some of its histories.

use std::fmt::Debug;
use std::marker::PhantomData;

use omnilink_history::{Call, History, Value};
use omnilink_search::Spec;

use crate::bind::Fields;
use crate::model::at_most_one_successor;
use crate::unambiguous::Decision;
use crate::{About, Atom, BadCall, Interner, Model, Row};

/// Which value comes out of a container, and the names used in messages.
pub trait Discipline: Debug + Default + Send + Sync + Sized {
    /// Help text of the model.
    const ABOUT: &'static About;
    /// The names of the container and its operations.
    const WORDS: Words;
    /// True if adding a value may be refused, so that its result says whether it was.
    const MAY_REFUSE: bool = true;

    /// Adds a value: after all others, unless the discipline keeps them in another order.
    fn add(state: &mut State, value: Atom, _atoms: &Interner) {
        state.push(value);
    }

    /// The position of the value that comes out next; any position if the state is empty.
    fn exit(state: &State) -> usize;

    /// The clause that names the next value in messages, after `but`.
    fn holds(next: &Value) -> String;

    /// [`Spec::commute`] for this discipline.
    fn commute(container: &Container<Self>, a: &Op, b: &Op) -> bool {
        container.are_observers(a, b)
    }

    /// [`Model::decide`] for this discipline.
    fn decide(container: &Container<Self>, history: &History<Op>) -> Decision;
}

/// Names of a container and its operations. Of several names, messages use the first.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// The name of the container.
    pub noun: &'static str,
    /// The names of the operation that adds a value.
    pub insert: &'static [&'static str],
    /// The names of the operation that removes a value.
    pub remove: &'static [&'static str],
    /// The names of the value, in both operations.
    pub value: &'static [&'static str],
    /// Past participle for a value that was added.
    pub inserted: &'static str,
    /// Past participle for a value that was removed.
    pub removed: &'static str,
}

/// A container with a discipline, initially empty.
#[derive(Debug, Default)]
pub struct Container<D> {
    capacity: Option<usize>, // Invariant: `None` unless the discipline may refuse.
    atoms: Interner,
    discipline: PhantomData<D>,
}

/// An operation on a container. Results that were not recorded are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Adds a value.
    Insert {
        /// The value.
        value: Atom,
        /// False if the container was full.
        ok: Option<bool>,
    },
    /// Removes a value.
    Remove {
        /// The removed value, or nil if the container was empty.
        value: Option<Atom>,
    },
    /// Counts the values.
    Len {
        /// The number of values.
        count: usize,
    },
    /// Tests whether the container is empty.
    IsEmpty {
        /// True if it is empty.
        ok: bool,
    },
}

/// The values, in the order that the discipline keeps them in.
pub type State = Row<Atom, 12>;

impl<D: Discipline> Container<D> {
    /// A container that is full at `capacity` values, if given.
    pub(crate) fn with_capacity(capacity: Option<usize>) -> Container<D> {
        Container { capacity, ..Container::default() }
    }

    /// The capacity, if there is one.
    pub fn capacity(&self) -> Option<usize> {
        self.capacity
    }

    /// The values that operations refer to.
    pub fn atoms(&self) -> &Interner {
        &self.atoms
    }

    /// True if neither changes anything.
    pub(crate) fn are_observers(&self, a: &Op, b: &Op) -> bool {
        self.is_observer(a) && self.is_observer(b)
    }

    fn is_full(&self, state: &State) -> bool {
        self.capacity.is_some_and(|capacity| state.len() >= capacity)
    }

    fn is_enabled(&self, state: &State, op: &Op) -> bool {
        match *op {
            Op::Insert { ok, .. } => ok.is_none_or(|ok| ok != self.is_full(state)),
            Op::Remove { value } => {
                value.is_none_or(|value| state.get(D::exit(state)).copied().unwrap_or(Atom::NIL) == value)
            }
            Op::Len { count } => state.len() == count,
            Op::IsEmpty { ok } => state.is_empty() == ok,
        }
    }
}

impl<D: Discipline> Spec for Container<D> {
    at_most_one_successor!(|_| State::default());

    fn allows(&self, state: &State, op: &Op) -> Result<bool, Self::Error> {
        Ok(self.is_enabled(state, op))
    }

    fn is_observer(&self, op: &Op) -> bool {
        matches!(
            op,
            Op::Len { .. }
                | Op::IsEmpty { .. }
                | Op::Insert { ok: Some(false), .. }
                | Op::Remove { value: Some(Atom::NIL) }
        )
    }

    fn commute(&self, a: &Op, b: &Op) -> bool {
        D::commute(self, a, b)
    }

    fn is_total(&self, op: &Op) -> bool {
        matches!(op, Op::Insert { ok: None, .. } | Op::Remove { value: None })
    }

    fn why_not(&self, state: &State, op: &Op) -> Option<String> {
        if self.is_enabled(state, op) {
            return None;
        }
        let (noun, insert, remove) = (D::WORDS.noun, D::WORDS.insert[0], D::WORDS.remove[0]);
        let count = state.len();
        Some(match *op {
            Op::Insert { ok: Some(false), .. } => match self.capacity {
                Some(capacity) => {
                    format!("`{insert}` was refused, but the {noun} holds only {count} of at most {capacity} values")
                }
                None => format!("`{insert}` was refused, but the {noun} is never full"),
            },
            Op::Insert { .. } => format!("`{insert}` was not refused, but the {noun} is full: it holds {count} values"),
            Op::Remove { value } => {
                let returned = self.atoms.value(value.unwrap_or(Atom::NIL));
                match state.get(D::exit(state)) {
                    Some(next) => format!("`{remove}` returned {returned}, but {}", D::holds(&self.atoms.value(*next))),
                    None => format!("`{remove}` returned {returned}, but the {noun} is empty"),
                }
            }
            Op::Len { count: returned } => format!("`len` returned {returned}, but the {noun} holds {count} values"),
            Op::IsEmpty { ok } => {
                format!("`is_empty` returned {}, but the {noun} holds {count} values", Value::Bool(ok))
            }
        })
    }
}

impl<D: Discipline> Model for Container<D> {
    fn bind(&self, op: &omnilink_history::Op<Call>) -> Result<Option<Op>, BadCall> {
        let Some(fields) = Fields::of(D::ABOUT, op, &self.atoms)? else { return Ok(None) };
        let Words { insert, remove, value: names, .. } = D::WORDS;
        match fields.action() {
            action if insert.contains(&action) => {
                fields.args(1)?;
                if !D::MAY_REFUSE {
                    fields.acknowledged(None)?;
                }
                let value = fields.element_arg(0, names, &self.atoms)?;
                let ok = if D::MAY_REFUSE { fields.ok()? } else { None };
                // A refusal that is not recorded would hide every lost value.
                let is_added = ok.is_none() && fields.is_finished() && self.capacity.is_some();
                Ok(Some(Op::Insert { value, ok: if is_added { Some(true) } else { ok } }))
            }
            action if remove.contains(&action) => {
                fields.args(0)?;
                fields.needs_result(names[0])?;
                let value = fields.result(names)?.map(|value| self.atoms.atom(value));
                Ok(Some(Op::Remove { value }))
            }
            "len" | "size" | "length" => {
                fields.args(0)?;
                fields.needs_result("count")?;
                Ok(fields.count()?.map(|count| Op::Len { count }))
            }
            "is_empty" | "empty" => {
                fields.args(0)?;
                fields.needs_result("ok")?;
                Ok(fields.ok()?.map(|ok| Op::IsEmpty { ok }))
            }
            _ => Err(fields.unknown()),
        }
    }

    fn next(&self, state: &State, op: &Op) -> Option<State> {
        self.is_enabled(state, op).then(|| {
            let mut next = state.clone();
            match *op {
                Op::Insert { value, .. } if !self.is_full(state) => D::add(&mut next, value, &self.atoms),
                Op::Remove { .. } if !state.is_empty() => next.remove(D::exit(state)),
                _ => {}
            }
            next
        })
    }

    fn atoms(&self) -> &Interner {
        &self.atoms
    }

    fn save(&self, state: &State) -> Option<Value> {
        Some(Value::tuple(state.iter().map(|&atom| self.atoms.value(atom))))
    }

    fn load(&self, saved: &Value) -> Option<State> {
        let mut state = State::default();
        saved.as_tuple()?.iter().for_each(|value| state.push(self.atoms.atom(value)));
        Some(state)
    }

    fn show(&self, state: &State) -> String {
        self.atoms.show_tuple(state)
    }

    fn has_procedure(&self) -> bool {
        true
    }

    fn decide(&self, history: &History<Op>) -> Decision {
        D::decide(self, history)
    }
}

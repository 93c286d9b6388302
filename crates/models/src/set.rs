//! A set.
//!
//! | operation | meaning |
//! |---|---|
//! | `add(value) = ok` | adds an element; `ok` is `FALSE` if the set already had it; also `insert` |
//! | `remove(value) = ok` | removes an element; `ok` is `FALSE` if the set did not have it; also `erase`, `delete` |
//! | `contains(value) = ok` | whether the set has the element; also `has` |
//! | `read() = elements` | all elements, as a set or a list without repetition |
//!
//! A history without `read` is decided element by element.

use std::sync::Arc;

use omnilink_history::{Call, History, Value};
use omnilink_search::Spec;

use crate::bind::Fields;
use crate::model::at_most_one_successor;
use crate::unambiguous::{self, Decision};
use crate::{About, Atom, BadCall, Interner, Model, Operation, Row};

/// Help text of this model.
pub const ABOUT: About = About {
    name: "set",
    summary: "a set",
    operations: &[
        Operation::new("add(value) = ok", "adds an element; `ok` is `FALSE` if the set already had it", &["insert"]),
        Operation::new(
            "remove(value) = ok",
            "removes an element; `ok` is `FALSE` if the set did not have it",
            &["erase", "delete"],
        ),
        Operation::new("contains(value) = ok", "whether the set has the element", &["has"]),
        Operation::new("read() = elements", "all elements, as a set or a list without repetition", &[]),
    ],
    options: &[],
    takes_key: false,
};

/// A set, initially empty.
#[derive(Debug, Default)]
pub struct Set {
    atoms: Interner,
}

/// An operation on a set. Results that were not recorded are `None`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Adds an element.
    Add {
        /// The element.
        value: Atom,
        /// False if the set already had it.
        ok: Option<bool>,
    },
    /// Removes an element.
    Remove {
        /// The element.
        value: Atom,
        /// False if the set did not have it.
        ok: Option<bool>,
    },
    /// Tests whether the set has an element.
    Contains {
        /// The element.
        value: Atom,
        /// Whether the set has it.
        ok: bool,
    },
    /// Reads all elements.
    Read {
        /// The elements; they strictly increase.
        elements: Arc<[Atom]>,
    },
}

/// The elements; they strictly increase.
pub type State = Row<Atom, 12>;

impl Set {
    /// An empty set.
    pub fn new() -> Set {
        Set::default()
    }

    /// The values that operations refer to.
    pub fn atoms(&self) -> &Interner {
        &self.atoms
    }

    fn is_enabled(&self, state: &State, op: &Op) -> bool {
        match op {
            Op::Add { value, ok } => ok.is_none_or(|ok| ok != state.contains(value)),
            Op::Remove { value, ok } => ok.is_none_or(|ok| ok == state.contains(value)),
            Op::Contains { value, ok } => *ok == state.contains(value),
            Op::Read { elements } => **elements == **state,
        }
    }

    fn elements(&self, value: &Value) -> Option<Arc<[Atom]>> {
        let values = match value {
            Value::Set(set) => set.elements(),
            Value::Tuple(elements) => elements,
            _ => return None,
        };
        let mut elements: Vec<Atom> = values.iter().map(|value| self.atoms.atom(value)).collect();
        elements.sort_unstable();
        elements.windows(2).all(|pair| pair[0] != pair[1]).then(|| elements.into())
    }
}

impl Spec for Set {
    at_most_one_successor!(|_| State::default());

    fn allows(&self, state: &State, op: &Op) -> Result<bool, Self::Error> {
        Ok(self.is_enabled(state, op))
    }

    fn is_observer(&self, op: &Op) -> bool {
        match op {
            Op::Add { ok, .. } | Op::Remove { ok, .. } => *ok == Some(false),
            Op::Contains { .. } | Op::Read { .. } => true,
        }
    }

    fn commute(&self, a: &Op, b: &Op) -> bool {
        let apart = self.partition(a).zip(self.partition(b)).is_some_and(|(a, b)| a != b);
        apart || (self.is_observer(a) && self.is_observer(b))
    }

    fn is_total(&self, op: &Op) -> bool {
        matches!(op, Op::Add { ok: None, .. } | Op::Remove { ok: None, .. })
    }

    fn why_not(&self, state: &State, op: &Op) -> Option<String> {
        if self.is_enabled(state, op) {
            return None;
        }
        let (action, value, ok) = match op {
            Op::Add { value, ok } => ("add", value, ok.unwrap_or(true)),
            Op::Remove { value, ok } => ("remove", value, ok.unwrap_or(true)),
            Op::Contains { value, ok } => ("contains", value, *ok),
            Op::Read { elements } => return Some(self.why_not_read(state, elements)),
        };
        let is = if state.contains(value) { "is" } else { "is not" };
        let returned = Value::Bool(ok);
        Some(format!("`{action}` returned {returned}, but {} {is} in the set", self.atoms.value(*value)))
    }
}

impl Set {
    fn why_not_read(&self, state: &State, elements: &[Atom]) -> String {
        let smallest = |extra: Vec<Atom>| extra.into_iter().map(|atom| self.atoms.value(atom)).min();
        let lost = smallest(state.iter().filter(|atom| !elements.contains(atom)).copied().collect());
        let made_up = smallest(elements.iter().filter(|atom| !state.contains(atom)).copied().collect());
        match (lost, made_up) {
            (Some(lost), _) => format!("`read` did not return {lost}, but {lost} is in the set"),
            (None, Some(made_up)) => format!("`read` returned {made_up}, but {made_up} is not in the set"),
            (None, None) => "`read` returned the same elements".into(),
        }
    }
}

impl Model for Set {
    fn bind(&self, op: &omnilink_history::Op<Call>) -> Result<Option<Op>, BadCall> {
        let Some(fields) = Fields::of(&ABOUT, op, &self.atoms)? else { return Ok(None) };
        let value = || {
            fields.args(1)?;
            Ok(self.atoms.atom(fields.arg(0, &["value", "element", "key"])?))
        };
        match fields.action() {
            "add" | "insert" => Ok(Some(Op::Add { value: value()?, ok: fields.ok()? })),
            "remove" | "erase" | "delete" => Ok(Some(Op::Remove { value: value()?, ok: fields.ok()? })),
            "contains" | "has" => {
                let value = value()?;
                fields.needs_result("ok")?;
                Ok(fields.ok()?.map(|ok| Op::Contains { value, ok }))
            }
            "read" => {
                fields.args(0)?;
                let expected = "a set or a list without repetition";
                fields.needs_result("elements")?;
                let elements = fields.read_result(&["elements", "value"], expected, |value| self.elements(value))?;
                Ok(elements.map(|elements| Op::Read { elements }))
            }
            _ => Err(fields.unknown()),
        }
    }

    fn next(&self, state: &State, op: &Op) -> Option<State> {
        self.is_enabled(state, op).then(|| {
            let mut next = state.clone();
            match op {
                Op::Add { value, .. } => {
                    if let Err(place) = next.binary_search(value) {
                        next.insert(place, *value);
                    }
                }
                Op::Remove { value, .. } => {
                    if let Ok(place) = next.binary_search(value) {
                        next.remove(place);
                    }
                }
                Op::Contains { .. } | Op::Read { .. } => {}
            }
            next
        })
    }

    fn partition(&self, op: &Op) -> Option<Atom> {
        match op {
            Op::Add { value, .. } | Op::Remove { value, .. } | Op::Contains { value, .. } => Some(*value),
            Op::Read { .. } => None,
        }
    }

    fn atoms(&self) -> &Interner {
        &self.atoms
    }

    fn save(&self, state: &State) -> Option<Value> {
        Some(Value::set(state.iter().map(|&atom| self.atoms.value(atom))))
    }

    fn load(&self, saved: &Value) -> Option<State> {
        let mut state = State::default();
        self.elements(saved)?.iter().for_each(|&atom| state.push(atom));
        Some(state)
    }

    fn show(&self, state: &State) -> String {
        Value::set(state.iter().map(|&element| self.atoms.value(element))).to_string()
    }

    fn has_procedure(&self) -> bool {
        true
    }

    fn decide(&self, history: &History<Op>) -> Decision {
        unambiguous::set::decide(self, history)
    }
}

#[cfg(test)]
mod tests {
    use crate::model::tests::{check, check_laws};
    use crate::set::Set;

    #[test]
    fn elements_are_there_once_or_not_at_all() {
        insta::assert_snapshot!(
            check(&Set::new(), "add(1) = TRUE; add(1) = FALSE; contains(1) = TRUE; add(1) = TRUE"),
            @"add(1) = TRUE: `add` returned TRUE, but 1 is in the set"
        );
        insta::assert_snapshot!(
            check(&Set::new(), "add(1); remove(1); contains(1) = FALSE; remove(1) = TRUE"),
            @"remove(1) = TRUE: `remove` returned TRUE, but 1 is not in the set"
        );
    }

    #[test]
    fn whole_reads_compare_elements() {
        insta::assert_snapshot!(
            check(&Set::new(), "add(1); add(a); read() = {a, 1}; read() = <a, 1>; read() = {a}"),
            @"read() = {a}: `read` did not return 1, but 1 is in the set"
        );
        insta::assert_snapshot!(
            check(&Set::new(), "add(1); read() = {1, 2}"),
            @"read() = {1, 2}: `read` returned 2, but 2 is not in the set"
        );
        insta::assert_snapshot!(
            check(&Set::new(), "read() = <1, 1>"),
            @"the result `elements` of `read` is `<<1, 1>>`, not a set or a list without repetition"
        );
    }

    #[test]
    fn laws_hold() {
        let calls = "add(1); add(2)?; add(1) = FALSE; add(2) = TRUE; remove(1); remove(1) = TRUE; remove(2) = FALSE; \
                     contains(1) = TRUE; contains(2) = FALSE; read() = {1}; read()?";
        check_laws(&Set::new(), calls);
    }
}

//! Values as machine words.
//!
//! The search copies, compares and hashes values millions of times, and almost never inspects them. An [`Atom`] is a
//! value in 32 bits: nil, truth values and integers of up to 30 bits are stored in the word itself; any other value
//! gets a number from an [`Interner`] when it first occurs. Numbers never change, so new atoms may be created while
//! earlier ones are in use. Two atoms of one interner are equal exactly if their values are.

use std::cmp;
use std::mem::take;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use omnilink_history::Value;
use rustc_hash::FxHashMap;

use crate::Row;
use crate::digits::{Role, number};

/// A value in one word. Its order is arbitrary but fixed; [`Interner::compare`] has the order of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atom(NonZeroU32); // The lowest two bits: 1 for an integer, 2 for a number of the interner, 3 for a constant.

impl Atom {
    /// No value.
    pub const NIL: Atom = Atom(NonZeroU32::new(3).expect("3 is not 0"));
    /// The truth value `FALSE`.
    pub const FALSE: Atom = Atom(NonZeroU32::new(7).expect("7 is not 0"));
    /// The truth value `TRUE`.
    pub const TRUE: Atom = Atom(NonZeroU32::new(11).expect("11 is not 0"));

    /// A number that is equal for equal values.
    pub(crate) fn number(self) -> u32 {
        self.0.get()
    }

    /// The key of operations without a key. It is not a value, and so differs from the key `nil`.
    pub const UNKEYED: Atom = Atom(NonZeroU32::new(15).expect("15 is not 0"));

    /// An integer, if it fits.
    pub fn int(int: i64) -> Option<Atom> {
        let shifted = (int as i32) << 2;
        (i64::from(shifted >> 2) == int).then(|| Atom::tagged(shifted as u32, 1))
    }

    /// The integer in this word, if there is one.
    #[inline]
    pub fn as_int(self) -> Option<i64> {
        (self.0.get() & 3 == 1).then_some(i64::from(self.0.get() as i32 >> 2))
    }

    fn tagged(bits: u32, tag: u32) -> Atom {
        Atom(NonZeroU32::new(bits | tag).expect("the tag is not 0"))
    }
}

impl Default for Atom {
    fn default() -> Atom {
        Atom::NIL
    }
}

/// Numbers values that do not fit into a word.
#[derive(Debug, Default)]
pub struct Interner {
    table: RwLock<Table>,
    reads_digits: AtomicBool,
    has_digits: AtomicBool, // Some text is that of a number.
    given: Mutex<Vec<(Role, Value)>>,
    is_noting: AtomicBool,
    noted: Mutex<Vec<(Role, Value)>>,
}

#[derive(Debug, Default)]
struct Table {
    numbers: FxHashMap<Value, u32>,
    values: Vec<Value>, // Invariant: `numbers[values[n]] == n`.
}

impl Interner {
    /// The word for a value that an object keeps.
    pub fn atom(&self, value: &Value) -> Atom {
        self.note(Role::Value, value);
        self.word(value)
    }

    /// The word for a key, which selects a part of an object.
    pub fn key(&self, value: &Value) -> Atom {
        self.note(Role::Key, value);
        self.word(value)
    }

    /// The word for a value that the specification itself has: an initial one, or a key with an initial value.
    pub fn give(&self, role: Role, value: &Value) -> Atom {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).push((role, value.clone()));
        self.word(value)
    }

    /// The values that were given.
    pub(crate) fn given(&self) -> Vec<(Role, Value)> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on, texts of digits in calls are numbers.
    pub(crate) fn read_digits(&self) {
        self.reads_digits.store(true, Ordering::Relaxed);
    }

    /// Whether texts of digits in calls are numbers.
    pub fn reads_digits(&self) -> bool {
        self.reads_digits.load(Ordering::Relaxed)
    }

    /// True if a text occurred that a number prints as.
    pub fn has_digits(&self) -> bool {
        self.has_digits.load(Ordering::Relaxed)
    }

    /// Runs `work`, and returns the keys and values for which it asked, in this order. No other thread may ask meanwhile.
    pub(crate) fn noting(&self, work: impl FnOnce()) -> Vec<(Role, Value)> {
        self.is_noting.store(true, Ordering::Relaxed);
        work();
        self.is_noting.store(false, Ordering::Relaxed);
        take(&mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[inline]
    fn note(&self, role: Role, value: &Value) {
        if self.is_noting.load(Ordering::Relaxed) {
            self.noted.lock().unwrap_or_else(PoisonError::into_inner).push((role, value.clone()));
        }
    }

    /// The word for a value, without a note.
    #[inline]
    pub(crate) fn word(&self, value: &Value) -> Atom {
        match value {
            Value::Nil => Atom::NIL,
            Value::Bool(false) => Atom::FALSE,
            Value::Bool(true) => Atom::TRUE,
            Value::Int(int) => Atom::int(*int).unwrap_or_else(|| self.intern(value)),
            _ => self.intern(value),
        }
    }

    /// The part of an object that a key selects, for display.
    pub fn show_key(&self, key: Atom) -> String {
        if key == Atom::UNKEYED { "the object without a key".into() } else { self.value(key).to_string() }
    }

    /// The value of an atom of this interner.
    pub fn value(&self, atom: Atom) -> Value {
        if let Some(int) = atom.as_int() {
            return Value::Int(int);
        }
        match atom {
            Atom::NIL | Atom::UNKEYED => Value::Nil,
            Atom::FALSE => Value::Bool(false),
            Atom::TRUE => Value::Bool(true),
            Atom(word) => {
                let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
                table.values[(word.get() >> 2) as usize].clone()
            }
        }
    }

    /// A map for display. A value would print as a sequence if the keys are `1..n`.
    pub fn show_map(&self, pairs: impl Iterator<Item = (Atom, Value)>) -> String {
        let mut pairs: Vec<(bool, Value, Value)> =
            pairs.map(|(key, value)| (key != Atom::UNKEYED, self.value(key), value)).collect();
        pairs.sort();
        let show = |(has_key, key, value): &(bool, Value, Value)| match has_key {
            true => format!("{key} :> {value}"),
            false => format!("without a key {value}"),
        };
        let pairs: Vec<String> = pairs.iter().map(show).collect();
        if pairs.is_empty() { "empty".into() } else { pairs.join(" @@ ") }
    }

    /// A map as a value, without loss: a pair for each key, and a value alone for what has no key.
    pub fn save_map(&self, pairs: &[(Atom, Atom)]) -> Value {
        Value::tuple(pairs.iter().map(|&(key, value)| match key {
            Atom::UNKEYED => Value::tuple([self.value(value)]),
            key => Value::tuple([self.value(key), self.value(value)]),
        }))
    }

    /// The map that [`Interner::save_map`] wrote.
    pub fn load_map<const N: usize>(&self, saved: &Value) -> Option<Row<(Atom, Atom), N>> {
        let mut map = Row::default();
        for pair in saved.as_tuple()? {
            match pair.as_tuple()? {
                [value] => map.put(Atom::UNKEYED, self.atom(value)),
                [key, value] => map.put(self.key(key), self.atom(value)),
                _ => return None,
            }
        }
        Some(map)
    }

    /// A sequence for display.
    pub fn show_tuple(&self, elements: &[Atom]) -> String {
        Value::tuple(elements.iter().map(|&element| self.value(element))).to_string()
    }

    /// The order of the values of two words.
    #[inline]
    pub fn compare(&self, a: Atom, b: Atom) -> cmp::Ordering {
        match (a.as_int(), b.as_int()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => self.value(a).cmp(&self.value(b)),
        }
    }

    fn intern(&self, value: &Value) -> Atom {
        let known = self.table.read().unwrap_or_else(PoisonError::into_inner).numbers.get(value).copied();
        let number = known.unwrap_or_else(|| {
            let table = &mut *self.table.write().unwrap_or_else(PoisonError::into_inner);
            if value.as_str().and_then(number).is_some() {
                self.has_digits.store(true, Ordering::Relaxed);
            }
            // Another thread may have interned it since the lookup, so look it up again.
            *table.numbers.entry(value.clone()).or_insert_with(|| {
                table.values.push(value.clone());
                let number = table.values.len() - 1;
                assert!(number < 1 << 30, "a history has fewer than 2^30 different values");
                number as u32
            })
        });
        Atom::tagged(number << 2, 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_are_equal_exactly_if_values_are() {
        let atoms = Interner::default();
        let values = [
            Value::Nil,
            false.into(),
            true.into(),
            i64::MIN.into(),
            (-1).into(),
            0.into(),
            1.into(),
            i64::MAX.into(),
            (1 << 29).into(),
            ((1 << 29) - 1).into(),
            (-1 << 29).into(),
            ((-1 << 29) - 1).into(),
            (1 << 32).into(),
            "".into(),
            "a".into(),
            Value::tuple([1.into()]),
        ];
        for a in &values {
            assert_eq!(atoms.value(atoms.atom(a)), *a);
            for b in &values {
                assert_eq!(atoms.atom(a) == atoms.atom(b), a == b, "{a} {b}");
                assert_eq!(atoms.compare(atoms.atom(a), atoms.atom(b)), a.cmp(b), "{a} {b}");
            }
        }
    }
}

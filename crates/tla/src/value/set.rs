//! Sets: sorted, distinct elements.
//!
//! The elements of a set can be compared with each other, and an untyped model value, which can be compared with
//! everything, sorts first. So the first element determines the kind of all, and a lookup among integers or strings
//! needs no check of kinds.

use std::sync::{Arc, LazyLock};

use super::digest::{self, Digest};
use super::{Model, Value, compare, equal};
use crate::error::Result;

/// The elements of a set, sorted and distinct.
#[derive(Debug)]
pub struct Set {
    elements: Box<[Value]>,
    keys: Keys,
    digest: Digest,
}

/// The kind of the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keys {
    /// Consecutive integers from this one; for the empty set, from 1.
    Interval(i64),
    /// Integers.
    Integers,
    /// Strings.
    Strings,
    /// Untyped model values.
    Models,
    /// Anything.
    Other,
}

/// Up to this many elements, use insertion sort, as TLC does; it is not slower than the alternatives.
const INSERTION: usize = 16;

/// Up to this many strings or integers, linear search is faster than binary search.
const LINEAR: usize = 8;

impl Set {
    /// The set of these elements, in any order, with or without duplicates.
    pub fn new(mut elements: Vec<Value>) -> Result<Arc<Set>> {
        if is_ascending(&elements)? {
            return Ok(Set::from_sorted(elements));
        }
        if elements.iter().all(|element| matches!(element, Value::Int(_))) {
            elements.sort_unstable();
            elements.dedup();
        } else if elements.len() <= INSERTION {
            elements = inserted(elements)?;
        } else {
            let mut failure = None;
            // The order must stay total after a failure: a sort may panic otherwise.
            elements.sort_by(|a, b| {
                compare(a, b).unwrap_or_else(|error| {
                    failure.get_or_insert(error);
                    a.cmp(b)
                })
            });
            if let Some(error) = failure {
                return Err(error);
            }
            elements.dedup();
        }
        Ok(Set::from_sorted(elements))
    }

    /// The set of elements that are already sorted and distinct.
    pub(crate) fn from_sorted(elements: Vec<Value>) -> Arc<Set> {
        let keys = match (elements.first(), elements.last()) {
            (None, _) => return Set::empty(),
            (Some(Value::Int(low)), Some(Value::Int(high))) if high.abs_diff(*low) == elements.len() as u64 - 1 => {
                Keys::Interval(*low)
            }
            (Some(Value::Int(_)), _) => Keys::Integers,
            (Some(Value::Str(_)), _) => Keys::Strings,
            // Untyped model values come first, so if the last element is one, all are.
            (_, Some(Value::Model(last))) if last.class == 0 => Keys::Models,
            _ => Keys::Other,
        };
        Arc::new(Set { elements: elements.into_boxed_slice(), keys, digest: Digest::default() })
    }

    /// `{}`
    pub fn empty() -> Arc<Set> {
        static EMPTY: LazyLock<Arc<Set>> = LazyLock::new(|| {
            Arc::new(Set { elements: Box::default(), keys: Keys::Interval(1), digest: Digest::default() })
        });
        EMPTY.clone()
    }

    /// `low..high`
    pub fn interval(low: i64, high: i64) -> Arc<Set> {
        Set::from_sorted((low..=high).map(Value::Int).collect())
    }

    /// The elements in order.
    #[inline]
    pub fn elements(&self) -> &[Value] {
        &self.elements
    }

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether it is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Whether it is `1..n`, as the domain of a sequence.
    #[inline]
    pub fn is_one_to_n(&self) -> bool {
        self.keys == Keys::Interval(1)
    }

    /// Whether it is not empty and all elements are strings.
    #[inline]
    pub fn is_strings(&self) -> bool {
        self.keys == Keys::Strings
    }

    /// The index of an element.
    #[inline]
    pub fn position(&self, element: &Value) -> Result<Option<usize>> {
        match (self.keys, element) {
            (Keys::Interval(low), Value::Int(value)) => {
                let offset = value.wrapping_sub(low) as u64;
                Ok((offset < self.elements.len() as u64).then_some(offset as usize))
            }
            (Keys::Strings, Value::Str(name)) if self.elements.len() <= LINEAR => {
                Ok(self.elements.iter().position(|known| matches!(known, Value::Str(known) if known == name)))
            }
            (Keys::Models, Value::Model(model)) if model.class == 0 => Ok(self.position_of_model(*model)),
            (Keys::Integers, Value::Int(value)) => Ok(self.search_integer(*value).ok()),
            (Keys::Strings, Value::Str(_)) => Ok(self.elements.binary_search(element).ok()),
            _ => self.search(element).map(std::result::Result::ok),
        }
    }

    /// The index of a model value among others. Those of a configuration usually have consecutive names.
    #[inline]
    fn position_of_model(&self, model: Model) -> Option<usize> {
        let is_here = |index: &usize| matches!(&self.elements[*index], Value::Model(here) if *here == model);
        let Some(Value::Model(first)) = self.elements.first() else { return None };
        let guess = model.name.checked_sub(first.name)? as usize;
        if guess < self.elements.len() && is_here(&guess) {
            return Some(guess);
        }
        self.elements.binary_search(&Value::Model(model)).ok()
    }

    /// Whether it contains this element.
    #[inline]
    pub fn contains(&self, element: &Value) -> Result<bool> {
        Ok(self.position(element)?.is_some())
    }

    /// With one more element.
    pub fn insert(self: &Arc<Set>, element: Value) -> Result<Arc<Set>> {
        Ok(self.insert_at(&element)?.0)
    }

    /// With one more element, and its index.
    pub(super) fn insert_at(self: &Arc<Set>, element: &Value) -> Result<(Arc<Set>, usize)> {
        match self.search(element)? {
            Ok(index) => Ok((self.clone(), index)),
            Err(index) => {
                let mut elements = Vec::with_capacity(self.len() + 1);
                elements.extend_from_slice(&self.elements[..index]);
                elements.push(element.clone());
                elements.extend_from_slice(&self.elements[index..]);
                Ok((Set::from_sorted(elements), index))
            }
        }
    }

    /// `self \cup other`
    pub fn union(self: &Arc<Set>, other: &Arc<Set>) -> Result<Arc<Set>> {
        if self.is_empty() || Arc::ptr_eq(self, other) {
            return Ok(other.clone());
        }
        match other.elements() {
            [] => return Ok(self.clone()),
            [element] => return self.insert(element.clone()),
            _ => {}
        }
        let (a, b) = (self.elements(), other.elements());
        let mut merged = Vec::with_capacity(a.len() + b.len());
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            let order = compare(&b[j], &a[i])?;
            if order.is_lt() {
                merged.push(b[j].clone());
            } else {
                merged.push(a[i].clone());
                i += 1;
            }
            if order.is_le() {
                j += 1;
            }
        }
        merged.extend_from_slice(&a[i..]);
        merged.extend_from_slice(&b[j..]);
        if merged.len() == a.len() {
            return Ok(self.clone());
        }
        merged.shrink_to_fit();
        Ok(Set::from_sorted(merged))
    }

    /// `self \cap other`
    pub fn intersection(self: &Arc<Set>, other: &Set) -> Result<Arc<Set>> {
        self.retain(|element| other.contains(element))
    }

    /// `self \ other`
    pub fn difference(self: &Arc<Set>, other: &Set) -> Result<Arc<Set>> {
        self.retain(|element| Ok(!other.contains(element)?))
    }

    /// The elements for which `keep` returns `true`, called in order.
    pub fn retain(self: &Arc<Set>, mut keep: impl FnMut(&Value) -> Result<bool>) -> Result<Arc<Set>> {
        let mut kept = Vec::new();
        for element in &self.elements {
            if keep(element)? {
                kept.push(element.clone());
            }
        }
        Ok(if kept.len() == self.len() { self.clone() } else { Set::from_sorted(kept) })
    }

    /// `self \subseteq other`
    pub fn is_subset(&self, other: &Set) -> Result<bool> {
        for element in &self.elements {
            if !other.contains(element)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A structural hash.
    #[inline]
    pub fn digest(&self) -> u64 {
        self.digest.get(|| digest::of_row(6, &self.elements))
    }

    /// Structural equality.
    pub(super) fn is_same(&self, other: &Set) -> bool {
        self.len() == other.len() && !self.digest.differs(&other.digest) && self.elements == other.elements
    }

    /// TLC's equality: compares sizes first, then the elements in order.
    pub(super) fn equals(&self, other: &Set) -> Result<bool> {
        if self.len() != other.len() {
            return Ok(false);
        }
        for (a, b) in self.elements.iter().zip(&other.elements) {
            if !equal(a, b)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn search(&self, element: &Value) -> Result<std::result::Result<usize, usize>> {
        if let (Keys::Integers | Keys::Interval(_), Value::Int(value)) = (self.keys, element) {
            return Ok(self.search_integer(*value));
        }
        let (mut low, mut high) = (0, self.elements.len());
        while low < high {
            let middle = low.midpoint(high);
            match compare(element, &self.elements[middle])? {
                std::cmp::Ordering::Equal => return Ok(Ok(middle)),
                std::cmp::Ordering::Less => high = middle,
                std::cmp::Ordering::Greater => low = middle + 1,
            }
        }
        Ok(Err(low))
    }

    /// The index of an integer among others, or where it would be inserted.
    #[inline]
    fn search_integer(&self, value: i64) -> std::result::Result<usize, usize> {
        let order = |known: &Value| match known {
            Value::Int(known) => known.cmp(&value),
            _ => unreachable!("asked of sets of integers only"),
        };
        if self.elements.len() > LINEAR {
            return self.elements.binary_search_by(order);
        }
        match self.elements.iter().position(|known| order(known).is_ge()) {
            Some(index) if order(&self.elements[index]).is_eq() => Ok(index),
            Some(index) => Err(index),
            None => Err(self.elements.len()),
        }
    }
}

fn is_ascending(elements: &[Value]) -> Result<bool> {
    for pair in elements.windows(2) {
        if !compare(&pair[1], &pair[0])?.is_gt() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Sorts as TLC does, so that an incomparable pair goes unnoticed only where TLC does not notice it either.
fn inserted(elements: Vec<Value>) -> Result<Vec<Value>> {
    let mut sorted: Vec<Value> = Vec::with_capacity(elements.len());
    'next: for element in elements {
        let (mut low, mut high) = (0, sorted.len());
        while low < high {
            let middle = low.midpoint(high);
            match compare(&element, &sorted[middle])? {
                std::cmp::Ordering::Equal => continue 'next,
                std::cmp::Ordering::Less => high = middle,
                std::cmp::Ordering::Greater => low = middle + 1,
            }
        }
        sorted.insert(low, element);
    }
    Ok(sorted)
}

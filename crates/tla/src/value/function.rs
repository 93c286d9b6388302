//! Functions: sequences, whose domain is `1..n` and is not stored, and all others.

use std::sync::{Arc, LazyLock};

use super::digest::{self, Digest};
use super::{Set, Value, equal};
use crate::error::{ErrorKind, EvalError, Result};
use crate::strings::Str;

/// The elements of a sequence.
#[derive(Debug)]
pub struct Seq {
    elements: Box<[Value]>,
    digest: Digest,
}

/// A function whose domain is not `1..n`.
#[derive(Debug)]
pub struct Fun {
    domain: Arc<Set>,     // Invariant: not 1..n, so neither empty nor {1}.
    values: Box<[Value]>, // Invariant: as many as the domain has elements, in its order.
    digest: Digest,
}

impl Seq {
    /// The sequence of these elements.
    pub fn new(elements: Vec<Value>) -> Arc<Seq> {
        if elements.is_empty() {
            return Seq::empty();
        }
        Arc::new(Seq { elements: elements.into_boxed_slice(), digest: Digest::default() })
    }

    /// `<<>>`
    pub fn empty() -> Arc<Seq> {
        static EMPTY: LazyLock<Arc<Seq>> =
            LazyLock::new(|| Arc::new(Seq { elements: Box::default(), digest: Digest::default() }));
        EMPTY.clone()
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

    /// The element at an index counted from 1; `None` if it is out of bounds. `<<>>` is also the function and the record
    /// without fields, so that nothing is in its domain.
    #[inline]
    pub fn get(&self, index: &Value) -> Result<Option<&Value>> {
        if self.is_empty() {
            return Ok(None);
        }
        Ok(self.position(index)?.map(|index| &self.elements[index]))
    }

    /// Converts an index counted from 1 to one counted from 0.
    #[inline]
    pub(super) fn position(&self, index: &Value) -> Result<Option<usize>> {
        match index {
            Value::Int(index) => {
                let offset = index.wrapping_sub(1) as u64;
                Ok((offset < self.elements.len() as u64).then_some(offset as usize))
            }
            _ => {
                let message = format!("a sequence was applied to {}, and its indices are integers", index.kind_name());
                Err(EvalError::new(ErrorKind::WrongKind, message))
            }
        }
    }

    /// `Append(self, element)`
    pub fn push(&self, element: Value) -> Arc<Seq> {
        let mut elements = Vec::with_capacity(self.len() + 1);
        elements.extend_from_slice(&self.elements);
        elements.push(element);
        Seq::new(elements)
    }

    /// `Tail(self)`; `None` for `<<>>`.
    pub fn tail(&self) -> Option<Arc<Seq>> {
        self.elements.split_first().map(|(_, rest)| Seq::new(rest.to_vec()))
    }

    /// `SubSeq(self, first, last)`; `None` if it is out of bounds; `<<>>` if last < first.
    pub fn sub(self: &Arc<Seq>, first: i64, last: i64) -> Option<Arc<Seq>> {
        if last < first {
            return Some(Seq::empty());
        }
        if first < 1 || last > self.len() as i64 {
            return None;
        }
        if last - first + 1 == self.len() as i64 {
            return Some(self.clone());
        }
        Some(Seq::new(self.elements[first as usize - 1..last as usize].to_vec()))
    }

    /// `self \o other`
    pub fn concat(self: &Arc<Seq>, other: &Arc<Seq>) -> Arc<Seq> {
        if self.is_empty() {
            return other.clone();
        }
        if other.is_empty() {
            return self.clone();
        }
        Seq::new([&*self.elements, &*other.elements].concat())
    }

    /// A structural hash.
    #[inline]
    pub fn digest(&self) -> u64 {
        self.digest.get(|| digest::of_row(7, &self.elements))
    }

    /// Structural equality.
    pub(super) fn is_same(&self, other: &Seq) -> bool {
        self.len() == other.len() && !self.digest.differs(&other.digest) && self.elements == other.elements
    }
}

impl Fun {
    pub(super) fn new(domain: Arc<Set>, values: Vec<Value>) -> Arc<Fun> {
        Arc::new(Fun { domain, values: values.into_boxed_slice(), digest: Digest::default() })
    }

    /// The domain.
    #[inline]
    pub fn domain(&self) -> &Arc<Set> {
        &self.domain
    }

    /// The values, in the order of the domain.
    #[inline]
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// Whether its domain consists of strings.
    #[inline]
    pub fn is_record(&self) -> bool {
        self.domain.is_strings()
    }

    /// The value at an argument; `None` if that is outside the domain.
    #[inline]
    pub fn get(&self, arg: &Value) -> Result<Option<&Value>> {
        Ok(self.domain.position(arg)?.map(|index| &self.values[index]))
    }

    /// The value of a field.
    #[inline]
    pub fn field(&self, name: &Str) -> Option<&Value> {
        let names = self.domain.elements();
        // A record has only a few fields, and comparing two names compares two numbers.
        names.iter().position(|known| matches!(known, Value::Str(known) if known == name)).map(|i| &self.values[i])
    }

    /// A structural hash.
    #[inline]
    pub fn digest(&self) -> u64 {
        self.digest.get(|| digest::mix(self.domain.digest(), digest::of_row(8, &self.values)))
    }

    /// Structural equality.
    pub(super) fn is_same(&self, other: &Fun) -> bool {
        self.values.len() == other.values.len()
            && !self.digest.differs(&other.digest)
            && (Arc::ptr_eq(&self.domain, &other.domain) || self.domain.is_same(&other.domain))
            && self.values == other.values
    }

    /// TLC's equality: compares sizes first, then the domains, then the values in order.
    pub(super) fn equals(&self, other: &Fun) -> Result<bool> {
        if !Arc::ptr_eq(&self.domain, &other.domain) && !self.domain.equals(&other.domain)? {
            return Ok(false);
        }
        for (a, b) in self.values.iter().zip(&other.values) {
            if !equal(a, b)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

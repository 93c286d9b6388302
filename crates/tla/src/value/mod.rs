//! Values: finite, canonical, and comparable the way TLC compares them.
//!
//! Equal values have one representation: the elements of a set are sorted and distinct, a function on `1..n` is a
//! sequence, a record is a function on strings. So equality is structural, and a value can be a key.
//!
//! There are two comparisons. [`equal`] and [`compare`] are TLC's: comparing values of different kinds is an error.
//! `Eq`, `Ord` and `Hash` are total, for tables of states; they agree with TLC's wherever those are defined.
//!
//! A clone costs at most a reference count. Each set, sequence and function caches its hash when first computed.
//!
//! TLC sorts a set lazily; we sort it on construction. So `{1, "a"}` is an error here even if it is never used.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::error::{ErrorKind, EvalError, Result};
use crate::strings::Str;

mod compare;
mod digest;
mod display;
mod function;
mod parts;
mod set;

pub use compare::{compare, equal};
pub use display::{Displayed, escape};
pub use function::{Fun, Seq};
pub use set::Set;

/// A value.
#[derive(Debug, Clone)]
pub enum Value {
    /// `TRUE`, `FALSE`
    Bool(bool),
    /// An integer. Arithmetic stays within TLC's 32 bits; a trace may contain larger ones.
    Int(i64),
    /// A string.
    Str(Str),
    /// A model value.
    Model(Model),
    /// A finite set.
    Set(Arc<Set>),
    /// A function on `1..n`: a sequence, a tuple.
    Seq(Arc<Seq>),
    /// Any other function, including records.
    Fun(Arc<Fun>),
}

/// A value that a configuration created, equal only to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Model {
    /// The rank of its name in the order of strings.
    pub name: u32,
    /// For `a_x`, the letter `a`: such a value can only be compared with values of the same type. 0 if untyped.
    pub class: u8,
}

const _: () = assert!(size_of::<Value>() == 16);

impl Model {
    /// The type that a name gives to a model value: for `a_x`, the letter `a`; otherwise 0.
    pub fn class_of(name: &str) -> u8 {
        match name.as_bytes() {
            [letter, b'_', _, ..] if letter.is_ascii() => *letter,
            _ => 0,
        }
    }
}

impl Value {
    /// The set of these elements, in any order, with or without duplicates.
    pub fn set(elements: Vec<Value>) -> Result<Value> {
        Ok(Value::Set(Set::new(elements)?))
    }

    /// The sequence of these elements.
    pub fn seq(elements: Vec<Value>) -> Value {
        Value::Seq(Seq::new(elements))
    }

    /// The function that maps the elements of `domain`, in their order, to `values`.
    ///
    /// # Panics
    ///
    /// If the numbers of values and elements differ.
    pub fn function(domain: Arc<Set>, values: Vec<Value>) -> Value {
        assert_eq!(domain.len(), values.len(), "a function has one value for each element of its domain");
        if domain.is_one_to_n() { Value::seq(values) } else { Value::Fun(Fun::new(domain, values)) }
    }

    /// The function of these pairs, in any order; for duplicate keys, the first one wins.
    pub fn pairs(mut pairs: Vec<(Value, Value)>) -> Result<Value> {
        let domain = Set::new(pairs.iter().map(|(key, _)| key.clone()).collect())?;
        // Stable, so that the first of duplicate keys stays first. The keys were just found comparable.
        pairs.sort_by(|a, b| a.0.cmp(&b.0));
        pairs.dedup_by(|later, first| later.0 == first.0);
        Ok(Value::function(domain, pairs.into_iter().map(|(_, value)| value).collect()))
    }

    /// The record with these fields, in any order; for duplicate names, the first one wins.
    pub fn record(mut fields: Vec<(Str, Value)>) -> Value {
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        fields.dedup_by(|later, first| later.0 == first.0);
        let mut names = Vec::with_capacity(fields.len());
        let mut values = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            names.push(Value::Str(name));
            values.push(value);
        }
        Value::function(Set::from_sorted(names), values)
    }

    /// `{}`
    pub fn empty_set() -> Value {
        Value::Set(Set::empty())
    }

    /// `<<>>`
    pub fn empty_seq() -> Value {
        Value::Seq(Seq::empty())
    }

    /// A boolean.
    #[inline]
    pub fn bool(value: bool) -> Value {
        Value::Bool(value)
    }

    /// An integer.
    #[inline]
    pub fn int(value: i64) -> Value {
        Value::Int(value)
    }

    /// The size of the domain of a function, sequence or record; `None` for other values.
    pub fn function_len(&self) -> Option<usize> {
        match self {
            Value::Seq(seq) => Some(seq.len()),
            Value::Fun(fun) => Some(fun.values().len()),
            _ => None,
        }
    }

    /// The values of a function, sequence or record, in the order of its domain; `None` for other values.
    pub fn function_values(&self) -> Option<&[Value]> {
        match self {
            Value::Seq(seq) => Some(seq.elements()),
            Value::Fun(fun) => Some(fun.values()),
            _ => None,
        }
    }

    /// The domain of a function, sequence or record; `None` for other values.
    pub fn function_domain(&self) -> Option<Arc<Set>> {
        match self {
            Value::Seq(seq) => Some(Set::interval(1, seq.len() as i64)),
            Value::Fun(fun) => Some(fun.domain().clone()),
            _ => None,
        }
    }

    /// `self[arg]`; `None` if `arg` is outside the domain; an error if this is not a function or cannot have such
    /// keys.
    #[inline]
    pub fn get(&self, arg: &Value) -> Result<Option<&Value>> {
        match self {
            Value::Seq(seq) => seq.get(arg),
            Value::Fun(fun) => fun.get(arg),
            _ => Err(EvalError::new(ErrorKind::WrongKind, format!("{} was applied as a function", self.kind_name()))),
        }
    }

    /// `self[arg]`
    #[inline]
    pub fn apply(&self, arg: &Value) -> Result<&Value> {
        match self.get(arg)? {
            Some(value) => Ok(value),
            None => Err(self.outside(arg)),
        }
    }

    /// `self.name`
    #[inline]
    pub fn field(&self, name: &Str) -> Result<&Value> {
        let value = match self {
            Value::Fun(fun) => fun.field(name),
            Value::Seq(seq) if seq.is_empty() => None,
            _ => {
                let message = format!("a field was selected from {}", self.kind_name());
                return Err(EvalError::new(ErrorKind::WrongKind, message));
            }
        };
        let missing = || EvalError::new(ErrorKind::OutsideDomain, "the record has no such field").applied(self);
        value.ok_or_else(missing)
    }

    /// `[self EXCEPT ![key] = new]`; `None` if `key` is outside the domain, where TLC leaves the function unchanged.
    pub fn except(&self, key: &Value, new: Value) -> Result<Option<Value>> {
        match self {
            Value::Seq(seq) => {
                let Some(index) = seq.position(key)? else { return Ok(None) };
                Ok(Some(if seq.elements()[index].is_identical(&new) {
                    self.clone()
                } else {
                    Value::seq(replaced(seq.elements(), index, new))
                }))
            }
            Value::Fun(fun) => {
                let Some(index) = fun.domain().position(key)? else { return Ok(None) };
                Ok(Some(if fun.values()[index].is_identical(&new) {
                    self.clone()
                } else {
                    Value::Fun(Fun::new(fun.domain().clone(), replaced(fun.values(), index, new)))
                }))
            }
            _ => Err(EvalError::new(ErrorKind::WrongKind, format!("`EXCEPT` was applied to {}", self.kind_name()))),
        }
    }

    /// `(key :> new) @@ self`: this function with `key` mapped to `new`.
    pub fn with(&self, key: &Value, new: Value) -> Result<Value> {
        if self.function_len() == Some(0) {
            return Ok(Value::function(Set::from_sorted(vec![key.clone()]), vec![new]));
        }
        if let Some(changed) = self.except(key, new.clone())? {
            return Ok(changed);
        }
        match self {
            Value::Seq(seq) if matches!(key, Value::Int(index) if *index == seq.len() as i64 + 1) => {
                Ok(Value::Seq(seq.push(new)))
            }
            _ => {
                let domain = self.function_domain().unwrap_or_else(Set::empty);
                let values = self.function_values().unwrap_or_default();
                let (domain, index) = domain.insert_at(key)?;
                let mut with = Vec::with_capacity(values.len() + 1);
                with.extend_from_slice(&values[..index]);
                with.push(new);
                with.extend_from_slice(&values[index..]);
                Ok(Value::function(domain, with))
            }
        }
    }

    /// This function without `key` in its domain.
    pub fn without(&self, key: &Value) -> Result<Value> {
        let domain = match self {
            Value::Seq(seq) => match seq.position(key)? {
                Some(index) if index + 1 == seq.len() => return Ok(Value::seq(seq.elements()[..index].to_vec())),
                Some(_) => Set::interval(1, seq.len() as i64),
                None => return Ok(self.clone()),
            },
            Value::Fun(fun) => fun.domain().clone(),
            _ => return Err(EvalError::new(ErrorKind::WrongKind, format!("{} has no domain", self.kind_name()))),
        };
        let Some(index) = domain.position(key)? else {
            return Ok(self.clone());
        };
        let values = all_but(self.function_values().unwrap_or_default(), index);
        Ok(Value::function(Set::from_sorted(all_but(domain.elements(), index)), values))
    }

    /// The kind of the value, with an article.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "an integer",
            Value::Str(_) => "a string",
            Value::Model(_) => "a model value",
            Value::Set(_) => "a set",
            Value::Seq(_) => "a sequence",
            Value::Fun(fun) if fun.is_record() => "a record",
            Value::Fun(_) => "a function",
        }
    }

    /// Whether two values are shallowly equal: known to be equal without comparing their parts.
    #[inline]
    pub(crate) fn is_identical(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Model(a), Value::Model(b)) => a == b,
            (Value::Set(a), Value::Set(b)) => Arc::ptr_eq(a, b),
            (Value::Seq(a), Value::Seq(b)) => Arc::ptr_eq(a, b),
            (Value::Fun(a), Value::Fun(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Whether another value is this one or a part of it: the same object in memory, not an equal one.
    pub fn has_part(&self, other: &Value) -> bool {
        let below = |parts: &[Value]| parts.iter().any(|part| part.has_part(other));
        self.is_identical(other)
            || match self {
                Value::Set(set) => below(set.elements()),
                Value::Seq(seq) => below(seq.elements()),
                Value::Fun(fun) => below(fun.values()),
                Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Model(_) => false,
            }
    }

    fn outside(&self, arg: &Value) -> Box<EvalError> {
        let message = match (self, arg) {
            (Value::Seq(seq), Value::Int(index)) => {
                format!("the index {index} is outside a sequence of length {}", seq.len())
            }
            (_, Value::Int(index)) => format!("the function is not defined at {index}"),
            (Value::Fun(fun), Value::Str(_)) if fun.is_record() => "the record has no such field".to_owned(),
            _ => format!("the function is not defined at this argument, which is {}", arg.kind_name()),
        };
        EvalError::new(ErrorKind::OutsideDomain, message).applied(self)
    }
}

fn all_but(values: &[Value], index: usize) -> Vec<Value> {
    let mut others = Vec::with_capacity(values.len() - 1);
    others.extend_from_slice(&values[..index]);
    others.extend_from_slice(&values[index + 1..]);
    others
}

fn replaced(values: &[Value], index: usize, new: Value) -> Vec<Value> {
    let mut replaced = Vec::with_capacity(values.len());
    replaced.extend_from_slice(&values[..index]);
    replaced.push(new);
    replaced.extend_from_slice(&values[index + 1..]);
    replaced
}

impl PartialEq for Value {
    #[inline]
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Set(a), Value::Set(b)) => Arc::ptr_eq(a, b) || a.is_same(b),
            (Value::Seq(a), Value::Seq(b)) => Arc::ptr_eq(a, b) || a.is_same(b),
            (Value::Fun(a), Value::Fun(b)) => Arc::ptr_eq(a, b) || a.is_same(b),
            _ => self.is_identical(other),
        }
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Value) -> std::cmp::Ordering {
        compare::total(self, other)
    }
}

impl Hash for Value {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.digest());
    }
}

#[cfg(test)]
mod tests;

//! What operations take and return: finite values, each with exactly one representation.
//!
//! Sets are sorted and free of duplicates; functions are sorted by argument; a function whose domain is `1..n` is a
//! tuple, and the empty function is the empty tuple. So equality, order and hash are derived and cannot disagree. A
//! record is a function whose arguments are strings.

use std::fmt;
use std::sync::Arc;

/// A finite value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Value {
    /// No value: JSON's `null`, EDN's `nil`.
    #[default]
    Nil,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number that is not an integer. Traces of other tools contain them; TLA+ has none.
    Float(Float),
    /// A string.
    Str(Arc<str>),
    /// A tuple, which is also a sequence and a function with domain `1..n`.
    Tuple(Arc<[Value]>),
    /// A set.
    Set(Set),
    /// A function or record that is not a tuple.
    Function(Function),
}

/// A finite set.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Set(Arc<[Value]>); // Invariant: strictly increasing.

/// A function with a finite domain that is not `1..n`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Function(Arc<[(Value, Value)]>); // Invariant: arguments strictly increase and are not 1..n.

/// A finite number that is not an integer, ordered as numbers are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Float(f64); // Invariant: finite and not a whole number that fits an `i64`.

impl Value {
    /// A string.
    pub fn str(text: impl Into<Arc<str>>) -> Value {
        Value::Str(text.into())
    }

    /// A tuple of these elements.
    pub fn tuple(elements: impl IntoIterator<Item = Value>) -> Value {
        Value::Tuple(elements.into_iter().collect())
    }

    /// The set of these elements.
    pub fn set(elements: impl IntoIterator<Item = Value>) -> Value {
        let mut elements: Vec<Value> = elements.into_iter().collect();
        elements.sort();
        elements.dedup();
        Value::Set(Set(elements.into()))
    }

    /// The function with these pairs, or `None` if an argument occurs twice.
    pub fn function(pairs: impl IntoIterator<Item = (Value, Value)>) -> Option<Value> {
        let mut pairs: Vec<(Value, Value)> = pairs.into_iter().collect();
        pairs.sort_by(|a, b| a.0.cmp(&b.0));
        if pairs.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return None;
        }
        let is_tuple = pairs.iter().zip(1..).all(|(pair, index)| pair.0 == Value::Int(index));
        Some(if is_tuple {
            Value::tuple(pairs.into_iter().map(|pair| pair.1))
        } else {
            Value::Function(Function(pairs.into()))
        })
    }

    /// The record with these fields, or `None` if a name occurs twice.
    pub fn record<'a>(fields: impl IntoIterator<Item = (&'a str, Value)>) -> Option<Value> {
        Value::function(fields.into_iter().map(|(name, value)| (Value::str(name), value)))
    }

    /// A number, or `None` if it is not finite. Whole numbers become integers, so that each has one representation.
    pub fn number(number: f64) -> Option<Value> {
        const LIMIT: f64 = 9_223_372_036_854_775_808.0; // 2^63, the first number above every `i64`.
        let is_integer = number.fract() == 0.0 && (-LIMIT..LIMIT).contains(&number);
        if is_integer {
            Some(Value::Int(number as i64))
        } else {
            number.is_finite().then_some(Value::Float(Float(number)))
        }
    }

    /// This value as an integer, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        if let Value::Int(int) = self { Some(*int) } else { None }
    }

    /// This value as a truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(bool) = self { Some(*bool) } else { None }
    }

    /// This value as a string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        if let Value::Str(text) = self { Some(text) } else { None }
    }

    /// This value as a tuple, if it is one.
    pub fn as_tuple(&self) -> Option<&[Value]> {
        if let Value::Tuple(elements) = self { Some(elements) } else { None }
    }
}

impl Set {
    /// The elements, in increasing order.
    pub fn elements(&self) -> &[Value] {
        &self.0
    }
}

impl Function {
    /// The pairs, by increasing argument.
    pub fn pairs(&self) -> &[(Value, Value)] {
        &self.0
    }
}

impl Float {
    /// The number itself.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Eq for Float {}

impl PartialOrd for Float {
    fn partial_cmp(&self, other: &Float) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Float {
    fn cmp(&self, other: &Float) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl std::hash::Hash for Float {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl From<bool> for Value {
    fn from(bool: bool) -> Value {
        Value::Bool(bool)
    }
}

impl From<i64> for Value {
    fn from(int: i64) -> Value {
        Value::Int(int)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::str(text)
    }
}

/// Values print as TLA+ does, with `nil` for no value.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Nil => f.write_str("nil"),
            Value::Bool(true) => f.write_str("TRUE"),
            Value::Bool(false) => f.write_str("FALSE"),
            Value::Int(int) => write!(f, "{int}"),
            Value::Float(float) => write!(f, "{}", float.0),
            Value::Str(text) => write!(f, "{text:?}"),
            Value::Tuple(elements) => write_list(f, "<<", elements, ">>"),
            Value::Set(set) => write_list(f, "{", set.elements(), "}"),
            Value::Function(function) => write_function(f, function.pairs()),
        }
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, open: &str, elements: &[Value], close: &str) -> fmt::Result {
    f.write_str(open)?;
    for (index, element) in elements.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(f, "{comma}{element}")?;
    }
    f.write_str(close)
}

fn write_function(f: &mut fmt::Formatter<'_>, pairs: &[(Value, Value)]) -> fmt::Result {
    let is_record = pairs.iter().all(|(name, _)| name.as_str().is_some_and(is_identifier));
    let (open, arrow, comma, close) = if is_record { ("[", " |-> ", ", ", "]") } else { ("(", " :> ", " @@ ", ")") };
    f.write_str(open)?;
    for (index, (argument, result)) in pairs.iter().enumerate() {
        f.write_str(if index == 0 { "" } else { comma })?;
        match argument {
            Value::Str(name) if is_record => write!(f, "{name}{arrow}{result}")?,
            _ => write!(f, "{argument}{arrow}{result}")?,
        }
    }
    f.write_str(close)
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_representation() {
        let one_two = [(Value::Int(2), Value::from("b")), (Value::Int(1), Value::from("a"))];
        assert_eq!(Value::function(one_two).unwrap(), Value::tuple([Value::from("a"), Value::from("b")]));
        assert_eq!(Value::function([]).unwrap(), Value::tuple([]));
        assert_eq!(Value::set([Value::Int(2), Value::Int(1), Value::Int(2)]).to_string(), "{1, 2}");
        assert_eq!(Value::number(3.0), Some(Value::Int(3)));
        assert_eq!(Value::number(-0.0), Some(Value::Int(0)));
        assert_eq!(Value::number(9.1e18), Some(Value::Int(9_100_000_000_000_000_000)));
        assert_eq!(Value::number(-9_223_372_036_854_775_808.0), Some(Value::Int(i64::MIN)));
        assert!(matches!(Value::number(9_223_372_036_854_775_808.0), Some(Value::Float(_))));
        assert_eq!(Value::number(f64::NAN), None);
        assert_eq!(Value::number(f64::INFINITY), None);
        assert_eq!(Value::record([("a", Value::Nil), ("a", Value::Nil)]), None);
    }

    #[test]
    fn values_print_as_in_tla() {
        let record = Value::record([("key", Value::Int(1)), ("ok", Value::Bool(true))]).unwrap();
        assert_eq!(record.to_string(), "[key |-> 1, ok |-> TRUE]");
        let function = Value::function([(Value::Int(0), Value::Nil), (Value::from("a b"), record)]).unwrap();
        assert_eq!(function.to_string(), r#"(0 :> nil @@ "a b" :> [key |-> 1, ok |-> TRUE])"#);
        let float = Value::number(1.5).unwrap();
        assert_eq!(Value::tuple([Value::Bool(false), float, Value::set([])]).to_string(), "<<FALSE, 1.5, {}>>");
    }
}

//! Arguments and results: finite values, each with exactly one representation.
//!
//! Sets are sorted and free of duplicates; functions are sorted by argument; a function whose domain is `1..n` is a
//! tuple, and the empty function is the empty tuple. So equality and hash are derived. A record is a function whose
//! arguments are strings.
//!
//! Numbers are exact. An integer is an [`Value::Int`] if it has 64 bits and a [`Value::Big`] otherwise; a [`Value::Float`]
//! is never an integer. They are one kind of value, ordered as numbers: 2 < 2.5 < 3.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::number::{self, BadNumber};

/// A finite value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Value {
    /// No value: JSON's `null`, EDN's `nil`.
    #[default]
    Nil,
    /// A truth value.
    Bool(bool),
    /// An integer of 64 bits with its sign.
    Int(i64),
    /// Any other integer.
    Big(Big),
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

/// An integer that does not fit an `i64`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Big(Arc<str>); // Invariant: optional `-`, then digits, the first of them not 0; does not fit an `i64`.

/// A finite number that is not an integer, ordered as numbers are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Float(f64); // Invariant: finite and not a whole number.

const _: () = assert!(size_of::<Value>() == 24, "calls hold values in place");

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
        match number.fract() == 0.0 {
            true if (-LIMIT..LIMIT).contains(&number) => Some(Value::Int(number as i64)),
            true => Value::integer(&format!("{number:.0}")),
            false => number.is_finite().then_some(Value::Float(Float(number))),
        }
    }

    /// The integer with these digits, after an optional `-`. `None` if the text is anything else.
    pub fn integer(text: &str) -> Option<Value> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(text.parse().map_or_else(
            |_| {
                let sign = &text[..text.len() - digits.len()];
                Value::Big(Big(format!("{sign}{}", digits.trim_start_matches('0')).into()))
            },
            Value::Int,
        ))
    }

    /// The number denoted by a text such as `-12`, `0.5` or `1e-7`.
    pub fn parse_number(text: &str) -> Result<Value, BadNumber> {
        number::parse(text)
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

impl Big {
    /// The digits of the integer, after a `-` if it is negative.
    pub fn digits(&self) -> &str {
        &self.0
    }

    fn is_negative(&self) -> bool {
        self.0.starts_with('-')
    }
}

impl Ord for Big {
    fn cmp(&self, other: &Big) -> Ordering {
        // Of two numbers without leading zeros, the longer one is larger.
        let size = |big: &Big| big.0.len();
        match (self.is_negative(), other.is_negative()) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => size(self).cmp(&size(other)).then_with(|| self.0.cmp(&other.0)),
            (true, true) => size(other).cmp(&size(self)).then_with(|| other.0.cmp(&self.0)),
        }
    }
}

impl PartialOrd for Big {
    fn partial_cmp(&self, other: &Big) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Value {
    /// The rank of this kind of value among the others. Numbers are one kind.
    fn kind(&self) -> u8 {
        match self {
            Value::Nil => 0,
            Value::Bool(_) => 1,
            Value::Int(_) | Value::Big(_) | Value::Float(_) => 2,
            Value::Str(_) => 3,
            Value::Tuple(_) => 4,
            Value::Set(_) => 5,
            Value::Function(_) => 6,
        }
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        let against_big = |big: &Big| if big.is_negative() { Ordering::Greater } else { Ordering::Less };
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Big(a), Value::Big(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => a.cmp(b),
            // Every double that is not an integer is smaller than 2^53, so it lies between integers of 64 bits.
            (Value::Int(_) | Value::Float(_), Value::Big(big)) => against_big(big),
            (Value::Big(big), Value::Int(_) | Value::Float(_)) => against_big(big).reverse(),
            (Value::Int(int), Value::Float(float)) => float.cmp_int(*int).reverse(),
            (Value::Float(float), Value::Int(int)) => float.cmp_int(*int),
            (Value::Str(a), Value::Str(b)) => a.cmp(b),
            (Value::Tuple(a), Value::Tuple(b)) => a.cmp(b),
            (Value::Set(a), Value::Set(b)) => a.cmp(b),
            (Value::Function(a), Value::Function(b)) => a.cmp(b),
            _ => self.kind().cmp(&other.kind()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Float {
    /// The number itself.
    pub fn get(self) -> f64 {
        self.0
    }

    fn cmp_int(self, int: i64) -> Ordering {
        if (self.0.floor() as i64) < int { Ordering::Less } else { Ordering::Greater }
    }
}

impl Eq for Float {}

impl PartialOrd for Float {
    fn partial_cmp(&self, other: &Float) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Float {
    fn cmp(&self, other: &Float) -> Ordering {
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
            Value::Big(big) => f.write_str(&big.0),
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
        assert_eq!(Value::number(9_223_372_036_854_775_808.0), Value::integer("9223372036854775808"));
        assert_eq!(Value::number(-1e23).unwrap().to_string(), "-99999999999999991611392");
        assert_eq!(Value::integer("-00009223372036854775809").unwrap().to_string(), "-9223372036854775809");
        assert_eq!(Value::integer("-0009"), Some(Value::Int(-9)));
        assert_eq!(Value::integer("1e5"), None);
        assert_eq!(Value::number(f64::NAN), None);
        assert_eq!(Value::number(f64::INFINITY), None);
        assert_eq!(Value::record([("a", Value::Nil), ("a", Value::Nil)]), None);
    }

    #[test]
    fn numbers_are_ordered_as_numbers() {
        let sorted = [
            "-18446744073709551617",
            "-18446744073709551616",
            "-9223372036854775809",
            "-9223372036854775808",
            "-2.5",
            "-2",
            "-0.5",
            "0",
            "5e-324",
            "2",
            "2.5",
            "3",
            "4503599627370495.5",
            "4503599627370496",
            "9223372036854775807",
            "9223372036854775808",
            "100000000000000000000",
        ];
        let numbers = sorted.map(|text| Value::parse_number(text).unwrap());
        for (a, number) in numbers.iter().enumerate() {
            for (b, other) in numbers.iter().enumerate() {
                assert_eq!(number.cmp(other), a.cmp(&b), "{number} {other}");
                assert_eq!(number == other, a == b, "{number} {other}");
            }
            assert!(Value::Bool(true) < *number && *number < Value::from(""));
        }
        assert_eq!(
            Value::set(numbers.clone()).to_string(),
            format!("{{{}}}", numbers.map(|n| n.to_string()).join(", "))
        );
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

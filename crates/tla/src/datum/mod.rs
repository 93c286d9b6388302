//! Results of evaluation: a value, or a set or function too large to be one.
//!
//! `Nat`, `SUBSET S` or `[n \in Nat |-> n + 1]` stay symbolic until an expression tests membership, enumerates them,
//! or applies them. They never enter a state: a [`Datum`] is converted to a [`Value`] first, which enumerates finite
//! ones and is an error for others.
//!
//! The operations here behave like TLC, and use the structure wherever TLC does: `{1} \in SUBSET Nat` only checks
//! `1`. The caller passes a [`Host`], which runs the predicate of a filter and the body of a function.

use std::sync::Arc;

mod display;
mod elements;
#[cfg(test)]
pub(crate) mod fake;
mod host;
mod membership;
mod operations;
mod size;

pub use display::{brief, display, print, print_or_display};
pub use elements::Elements;
pub use host::{Host, Limit, Native, Operand, World};
pub use membership::contains;
pub use operations::{
    apply, cap, cup, domain, equal, except, is_empty, is_subset, make_interval, make_set, minus, to_set, union,
};
pub use size::{LIMIT, cardinality, is_finite, to_value};
pub(crate) use size::{places_of, too_large};

use crate::error::EvalError;
use crate::id::{DefId, ExprId};
use crate::strings::Str;
use crate::value::Value;

/// The result of an evaluation.
#[derive(Debug, Clone)]
pub enum Datum {
    /// Finite and canonical.
    Value(Value),
    /// A set that has not been enumerated.
    Set(Arc<LazySet>),
    /// A function that has not been tabulated.
    Function(Arc<LazyFunction>),
}

/// A set represented by its structure.
#[derive(Debug, Clone)]
pub enum LazySet {
    /// `a..b`; empty if b < a.
    Interval(i64, i64),
    /// `Nat`
    Naturals,
    /// `Int`
    Integers,
    /// `Real`
    Reals,
    /// `STRING`
    Strings,
    /// `SUBSET S`
    Subsets(Datum),
    /// `[S -> T]`
    Functions(Datum, Datum),
    /// `[a : S, b : T]`, sorted by field.
    Records(Box<[(Str, Datum)]>),
    /// `S \X T`
    Product(Box<[Datum]>),
    /// `Seq(S)`
    Sequences(Datum),
    /// `UNION S`
    Union(Datum),
    /// `{x \in S : p}`
    Filter(Datum, Closure),
    /// `S \cup T`
    Cup(Datum, Datum),
    /// `S \cap T`
    Cap(Datum, Datum),
    /// `S \ T`
    Minus(Datum, Datum),
    /// A set of sets or functions some of which have not been enumerated, such as `{SUBSET S, Nat}`; in any order,
    /// with or without duplicates.
    Family(Box<[Datum]>),
}

/// A function represented by its body.
#[derive(Debug, Clone)]
pub struct LazyFunction {
    /// Its domain.
    pub domain: Datum,
    /// The expression `[x \in S |-> e]`, and the values of the names in it.
    pub closure: Closure,
    /// The changes by `EXCEPT`, the latest last.
    pub changes: Vec<(Value, Datum)>,
}

/// An expression that binds names, together with the values of the other names in it.
#[derive(Debug, Clone)]
pub struct Closure {
    /// The expression: a [`crate::ir::Node::Filter`] or [`crate::ir::Node::Function`].
    pub code: ExprId,
    /// The frame that it captured.
    pub frame: Arc<[Captured]>,
}

/// One slot of a captured frame.
#[derive(Debug, Clone)]
pub enum Captured {
    /// A slot that the expression does not use.
    Empty,
    /// A value.
    Datum(Datum),
    /// A name without a value; an error only when it is used.
    Error(Box<EvalError>),
    /// An operator.
    Operator(Operator),
}

/// An operator passed as an argument.
#[derive(Debug, Clone)]
pub struct Operator {
    /// The definition.
    pub def: DefId,
    /// The captures bound to its first parameters.
    pub captured: Arc<[Captured]>,
}

impl Datum {
    /// The kind of datum, with an article.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Datum::Value(value) => value.kind_name(),
            Datum::Set(_) => "a set",
            Datum::Function(_) => "a function",
        }
    }
}

impl From<Value> for Datum {
    fn from(value: Value) -> Datum {
        Datum::Value(value)
    }
}

impl From<LazySet> for Datum {
    fn from(set: LazySet) -> Datum {
        Datum::Set(Arc::new(set))
    }
}

#[cfg(test)]
mod tests;

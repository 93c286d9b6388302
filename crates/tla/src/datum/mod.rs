//! What an expression evaluates to: a value, or a set or function too large to be one.
//!
//! `Nat`, `SUBSET S` or `[n \in Nat |-> n + 1]` stand for themselves until somebody asks whether they contain something,
//! walks through them, or applies them. They never enter a state: [`Datum`] becomes a [`Value`] first, which enumerates
//! what is finite and is an error for what is not.
//!
//! The operations here answer as TLC does, and from the structure wherever TLC does: `{1} \in SUBSET Nat` looks at `1`
//! alone. Whoever asks lends a [`Host`], which runs the predicate of a filter and the body of a function.

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

/// What an expression evaluates to.
#[derive(Debug, Clone)]
pub enum Datum {
    /// Finite and canonical.
    Value(Value),
    /// A set that has not been enumerated.
    Set(Arc<LazySet>),
    /// A function that has not been tabulated.
    Function(Arc<LazyFunction>),
}

/// A set known by its structure.
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
    /// A set of sets or functions some of which have not been enumerated, such as `{SUBSET S, Nat}`; in any order and
    /// repeated or not.
    Family(Box<[Datum]>),
}

/// A function known by how to compute it.
#[derive(Debug, Clone)]
pub struct LazyFunction {
    /// Where it is defined.
    pub domain: Datum,
    /// The expression `[x \in S |-> e]`, and what the names in it stand for.
    pub closure: Closure,
    /// Where `EXCEPT` changed it, the latest last.
    pub changes: Vec<(Value, Datum)>,
}

/// An expression that binds names, together with what the other names in it stand for.
#[derive(Debug, Clone)]
pub struct Closure {
    /// The expression: a [`crate::ir::Node::Filter`] or [`crate::ir::Node::Function`].
    pub code: ExprId,
    /// The frame that it was met in.
    pub frame: Arc<[Captured]>,
}

/// One slot of a captured frame.
#[derive(Debug, Clone)]
pub enum Captured {
    /// Nothing that the expression could see.
    Empty,
    /// A value.
    Datum(Datum),
    /// Something that has no value; an error only for those who look.
    Error(Box<EvalError>),
    /// An operator.
    Operator(Operator),
}

/// An operator handed over as an argument.
#[derive(Debug, Clone)]
pub struct Operator {
    /// The definition.
    pub def: DefId,
    /// What its first parameters are already bound to.
    pub captured: Arc<[Captured]>,
}

impl Datum {
    /// What sort of thing it is, in words.
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

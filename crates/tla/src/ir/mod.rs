//! A module with every name bound.
//!
//! Expressions are in one arena and are numbered, so that a reference to one (in a lazy argument, a lazy set, an
//! explanation) is a number. An operator runs in a *frame* of slots: its parameters first, then every name bound
//! inside it, each with its own slot. An operator that a `LET` or a `LAMBDA` defines becomes a definition like any
//! other, whose first parameters are the surrounding names it uses. A module brought in by `INSTANCE` is resolved
//! again for that instance, with its constants and variables replaced; the parameters of the instance come before the
//! operator's own. A declared constant is a definition without a body until the configuration gives it one.

mod walk;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::datum::Native;
pub use crate::id::{DefId, ExprId, ExprLevel, SlotId, VarId};
use crate::resolve::Context;
use crate::source::{Site, Sources};
use crate::strings::{Str, Strings};
use crate::value::{Set, Value};

/// A module with every name bound, arities and levels checked.
#[derive(Debug, Clone)]
pub struct Module {
    /// The name of the root module.
    pub name: String,
    /// Its source texts.
    pub sources: Sources,
    /// The strings in it.
    pub strings: Strings,
    /// The variables of the root module and of the modules it extends, in the order of declaration.
    pub variables: Vec<Variable>,
    /// Every definition.
    pub definitions: Vec<Definition>,
    /// Every expression.
    pub exprs: Exprs,
    /// The names that the root module and its configuration can call: `Next`, and `Inst!Next` of an instance without
    /// parameters.
    pub names: BTreeMap<String, DefId>,
    /// `ASSUME`, with its name if it has one.
    pub assumptions: Vec<(Option<String>, ExprId)>,
    /// Possible mistakes in the texts that are accepted.
    pub warnings: Vec<(Site, String)>,
    /// The context for resolving another expression in the module.
    pub context: Context,
}

/// A variable.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub site: Site,
}

/// A definition or a declared constant.
#[derive(Debug, Clone)]
pub struct Definition {
    /// Its name, with the instance it came through: `Inst!Next`. For a `LAMBDA`, the word `LAMBDA`.
    pub name: String,
    /// The module whose text defines it.
    pub module: String,
    /// Captured names, parameters of instances, its own parameters, in this order.
    pub params: Vec<Param>,
    /// The number of parameters that are captured names, which are not in the text.
    pub captures: usize,
    /// Its body.
    pub body: Body,
    /// The number of slots in its frame.
    pub slots: usize,
    /// Its level when its parameters are constants.
    pub level: ExprLevel,
    /// Whether it may call itself.
    pub is_recursive: bool,
    /// The location of its name.
    pub site: Site,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// The number of arguments it takes; 0 for a value.
    pub arity: usize,
}

/// The body of a definition.
#[derive(Clone)]
pub enum Body {
    /// A constant that the configuration must give a value.
    Declared,
    /// An expression.
    Expr(ExprId),
    /// A built-in operator.
    Native(&'static Native),
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Body::Declared => f.write_str("Declared"),
            Body::Expr(expr) => f.debug_tuple("Expr").field(expr).finish(),
            Body::Native(native) => f.debug_tuple("Native").field(&native.name).finish(),
        }
    }
}

/// Expressions, numbered.
#[derive(Debug, Clone, Default)]
pub struct Exprs {
    nodes: Vec<Node>,
    sites: Vec<Site>,
}

impl Exprs {
    /// Adds an expression.
    pub fn push(&mut self, node: Node, site: Site) -> ExprId {
        let id = ExprId(u32::try_from(self.nodes.len()).expect("fewer than four billion expressions"));
        self.nodes.push(node);
        self.sites.push(site);
        id
    }

    /// The node of an expression.
    #[inline]
    pub fn node(&self, id: ExprId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// Replaces an expression in place.
    pub fn set(&mut self, id: ExprId, node: Node) {
        self.nodes[id.0 as usize] = node;
    }

    /// The location of an expression.
    pub fn site(&self, id: ExprId) -> Site {
        self.sites[id.0 as usize]
    }

    /// The number of expressions.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

/// An argument of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg {
    /// A lazily evaluated expression.
    Expr(ExprId),
    /// The content of a slot, passed on: a captured name, an operator parameter.
    Slot(SlotId),
    /// An operator, with the slots that its first parameters capture.
    Operator(DefId, Box<[SlotId]>),
}

/// Slots bound to the elements of a set.
#[derive(Debug, Clone)]
pub struct Bound {
    /// The pattern for each element.
    pub pattern: Pattern,
    /// The names of the slots in the text.
    pub names: Box<[String]>,
    /// The set. `x, y \in S` is two bounds on the same expression.
    pub set: ExprId,
}

/// The pattern that an element is bound to.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// The element.
    Slot(SlotId),
    /// The components of a tuple.
    Tuple(Box<[SlotId]>),
}

/// One update of an `EXCEPT`.
#[derive(Debug, Clone)]
pub struct Update {
    /// The path from the function to the updated part.
    pub path: Box<[Step]>,
    /// The new value.
    pub value: ExprId,
    /// The slot of `@`, which holds the old value.
    pub at: SlotId,
    /// Whether the value mentions `@`; set by linking.
    pub reads_at: bool,
}

/// One step of an update's path.
#[derive(Debug, Clone)]
pub enum Step {
    /// `[e]`; for `[e, f]`, a tuple.
    Index(ExprId),
    /// `.a`
    Field(Str),
}

/// Operations on two integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a < b`
    Less,
    /// `a <= b`
    LessOrEqual,
    /// `a > b`
    Greater,
    /// `a >= b`
    GreaterOrEqual,
    /// `a..b`
    Interval,
}

impl Arithmetic {
    /// The result of the comparison; `None` if the operation is not one.
    #[inline]
    pub fn compares(self, a: i64, b: i64) -> Option<bool> {
        Some(match self {
            Arithmetic::Less => a < b,
            Arithmetic::LessOrEqual => a <= b,
            Arithmetic::Greater => a > b,
            Arithmetic::GreaterOrEqual => a >= b,
            Arithmetic::Add | Arithmetic::Subtract | Arithmetic::Multiply | Arithmetic::Interval => return None,
        })
    }

    /// The operation of a symbol.
    pub fn of_symbol(symbol: &str) -> Option<Arithmetic> {
        Some(match symbol {
            "+" => Arithmetic::Add,
            "-" => Arithmetic::Subtract,
            "*" => Arithmetic::Multiply,
            "<" => Arithmetic::Less,
            "<=" => Arithmetic::LessOrEqual,
            ">" => Arithmetic::Greater,
            ">=" => Arithmetic::GreaterOrEqual,
            ".." => Arithmetic::Interval,
            _ => return None,
        })
    }
}

/// Common idioms with a faster implementation. The parts are subexpressions of the original.
#[derive(Debug, Clone, Copy)]
pub enum Idiom {
    /// `(k :> v) @@ f` and `[x \in DOMAIN f \cup {k} |-> IF x = k THEN v ELSE f[x]]`
    With {
        /// `f`
        function: ExprId,
        /// `k`
        key: ExprId,
        /// `v`
        value: ExprId,
    },
    /// `[x \in DOMAIN f \ {k} |-> f[x]]`
    Without {
        /// `f`
        function: ExprId,
        /// `k`
        key: ExprId,
    },
    /// `SubSeq(s, a, b) = SubSeq(t, c, d)`
    SameParts {
        /// The call on the left.
        left: ExprId,
        /// The call on the right.
        right: ExprId,
    },
    /// `Cardinality({x \in S : p})`
    Count {
        /// `{x \in S : p}`
        filter: ExprId,
    },
}

/// The forms of an expression.
#[derive(Debug, Clone)]
pub enum Node {
    /// A value.
    Value(Value),
    /// `STRING`
    Strings,
    /// A variable, in the state that the expression reads.
    Variable(VarId),
    /// A name bound to a value by a quantifier, a constructor, `CHOOSE`, or `@`.
    Local(SlotId),
    /// A lazily evaluated name: a parameter, or a `LET` without parameters.
    Argument(SlotId),
    /// `LET x == value IN body`
    Let {
        /// The name.
        slot: SlotId,
        /// Its value.
        value: ExprId,
        /// The expression in which it is visible.
        body: ExprId,
    },
    /// A call of a defined operator.
    Call {
        /// The operator.
        def: DefId,
        /// As many as it has parameters.
        args: Box<[Arg]>,
    },
    /// An inlined operator: its body, with its parameters replaced. Linking creates it from a call.
    Inlined {
        /// The operator.
        def: DefId,
        /// The arguments, as seen by the body; `None` for an operator.
        args: Box<[Option<ExprId>]>,
        /// The body.
        body: ExprId,
    },
    /// A call of an operator that is a parameter.
    CallArgument {
        /// The parameter.
        slot: SlotId,
        /// As many as it takes.
        args: Box<[Arg]>,
    },
    /// `a /\ b`, and a list of bullets.
    And(Box<[ExprId]>),
    /// `a \/ b`, and a list of bullets.
    Or(Box<[ExprId]>),
    /// `~a`
    Not(ExprId),
    /// `a => b`
    Implies(ExprId, ExprId),
    /// `a <=> b`
    Equivalent(ExprId, ExprId),
    /// `a + b` and its like, with the definition that is used where the fast path does not apply.
    Arithmetic(Arithmetic, DefId, ExprId, ExprId),
    /// `a = b`
    Equal(ExprId, ExprId),
    /// `a /= b`
    NotEqual(ExprId, ExprId),
    /// `a \in b`
    In(ExprId, ExprId),
    /// `a \notin b`
    NotIn(ExprId, ExprId),
    /// `a \subseteq b`
    Subseteq(ExprId, ExprId),
    /// `a \cup b`
    Cup(ExprId, ExprId),
    /// `a \cap b`
    Cap(ExprId, ExprId),
    /// `a \ b`
    Minus(ExprId, ExprId),
    /// `SUBSET a`
    Subsets(ExprId),
    /// `UNION a`
    Union(ExprId),
    /// `DOMAIN f`
    Domain(ExprId),
    /// `IF a THEN b ELSE c`
    If(ExprId, ExprId, ExprId),
    /// `CASE p -> a [] OTHER -> b`
    Case {
        /// Guards and their results.
        arms: Box<[(ExprId, ExprId)]>,
        /// After `OTHER`.
        other: Option<ExprId>,
    },
    /// `\A x \in S : p`
    Forall {
        /// The bound variables.
        bounds: Box<[Bound]>,
        /// The claim.
        body: ExprId,
    },
    /// `\E x \in S : p`
    Exists {
        /// The bound variables.
        bounds: Box<[Bound]>,
        /// The claim.
        body: ExprId,
    },
    /// `CHOOSE x \in S : p`
    Choose {
        /// The bound variables.
        bound: Bound,
        /// The predicate.
        body: ExprId,
    },
    /// `{a, b}`
    Set(Box<[ExprId]>),
    /// `{x \in S : p}`
    Filter {
        /// The bound variables.
        bound: Bound,
        /// The predicate.
        body: ExprId,
    },
    /// `{e : x \in S}`
    Map {
        /// The bound variables.
        bounds: Box<[Bound]>,
        /// The element.
        body: ExprId,
    },
    /// `[x \in S |-> e]`; with more than one bound, a function of tuples.
    Function {
        /// The bound variables.
        bounds: Box<[Bound]>,
        /// The value.
        body: ExprId,
        /// The slot of the function itself in the body, if it was defined as `f[x \in S] == e`; a local.
        this: Option<SlotId>,
    },
    /// `[S -> T]`
    Functions(ExprId, ExprId),
    /// `f[x]`
    Apply(ExprId, ExprId),
    /// `[f EXCEPT ![x] = e]`
    Except {
        /// The function.
        function: ExprId,
        /// Left to right.
        updates: Box<[Update]>,
    },
    /// `[a |-> e]`, as written.
    Record(Box<[(Str, ExprId)]>),
    /// `[a |-> e]` with sorted fields. Linking creates it from a record whose fields differ.
    Shaped(Arc<Set>, Box<[ExprId]>),
    /// `[a : S]`, as written.
    Records(Box<[(Str, ExprId)]>),
    /// `r.a`
    Field(ExprId, Str),
    /// `<<a, b>>`
    Tuple(Box<[ExprId]>),
    /// `S \X T`
    Product(Box<[ExprId]>),
    /// `e'`
    Prime(ExprId),
    /// `UNCHANGED e`
    Unchanged(ExprId),
    /// `ENABLED A`, and the definitions that replace variables of the module it is in, if that is an instance. `A`
    /// assigns their next values, too: `ENABLED` binds the variables of its module, so no replacement reaches them.
    Enabled(ExprId, Box<[DefId]>),
    /// `[A]_v`
    Square(ExprId, ExprId),
    /// `<<A>>_v`
    Angle(ExprId, ExprId),
    /// `A \cdot B`
    Compose(ExprId, ExprId),
    /// `[]P`. This and the next form identify a specification's box and fairness.
    Always(ExprId),
    /// An expression with a fast path, and the original expression. Created by linking.
    Idiom(Idiom, ExprId),
    /// Other temporal operators, and forms that TLC does not evaluate either: an error when evaluated.
    Unsupported {
        /// Its description: `<>`, `a leads-to`, `WF_v(A)`, `an unbounded \E`.
        what: &'static str,
        /// Its parts, kept so that they are resolved.
        parts: Box<[ExprId]>,
    },
}

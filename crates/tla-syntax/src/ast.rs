//! The syntax tree of a TLA+ module, as written.
//!
//! Operators are names: `a + b` is [`Kind::Apply`] of `+`, because a module may define `+` itself. Synonyms have
//! one spelling here (`\land` is `/\`, `\union` is `\cup`, `#` is `/=`), listed in `operators`. Parentheses are
//! dropped, since the tree already encodes grouping. So are comments, PlusCal and proofs. Every node has its span.

use crate::Span;

/// A name and its span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The name; of an operator, its canonical spelling.
    pub text: String,
    /// Its location.
    pub span: Span,
}

/// `---- MODULE M ----` to `====`.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// Its name.
    pub name: Name,
    /// The modules after `EXTENDS`.
    pub extends: Vec<Name>,
    /// Declarations and definitions, in order.
    pub units: Vec<Unit>,
    /// The whole module.
    pub span: Span,
}

/// One declaration or definition.
#[derive(Debug, Clone, PartialEq)]
pub enum Unit {
    /// `CONSTANT A, B(_, _)`
    Constants(Vec<Declaration>),
    /// `VARIABLE x, y`
    Variables(Vec<Name>),
    /// `RECURSIVE F(_)`
    Recursive(Vec<Declaration>),
    /// `Op(a, b(_)) == e`
    Definition(Definition),
    /// `I(a) == INSTANCE M WITH x <- e`, or a bare `INSTANCE M`.
    Instance(Instance),
    /// `ASSUME e`; an axiom too.
    Assume {
        /// The name before `==`, if any.
        name: Option<Name>,
        /// The assumption.
        body: Expr,
    },
    /// `THEOREM N == e`. The claim is not always an expression (`ASSUME P PROVE Q`) and is not checked.
    Theorem {
        /// The name before `==`, if any.
        name: Option<Name>,
        /// The claim, where it is an expression.
        body: Option<Expr>,
    },
    /// A module inside the module.
    Module(Module),
}

/// A declared constant, or a parameter of an operator: a name and the number of arguments it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// Its name.
    pub name: Name,
    /// 0 for a plain value; `F(_, _)` has 2.
    pub arity: usize,
}

/// `Op(params) == body`, or `f[x \in S] == body`.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Preceded by `LOCAL`.
    pub is_local: bool,
    /// Its name; of an operator symbol, the canonical spelling.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Declaration>,
    /// The body. For a function, a [`Kind::Function`] whose body may mention the name itself.
    pub body: Expr,
    /// Written as `f[x \in S] == e`, so the body may mention the name.
    pub is_function: bool,
    /// The whole definition.
    pub span: Span,
}

/// `I(params) == INSTANCE M WITH …`.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// Preceded by `LOCAL`.
    pub is_local: bool,
    /// The prefix of the names it brings in; `None` for a bare `INSTANCE`.
    pub name: Option<Name>,
    /// Parameters of the name.
    pub params: Vec<Declaration>,
    /// The module.
    pub module: Name,
    /// `WITH a <- e`.
    pub substitutions: Vec<(Name, Expr)>,
    /// The whole unit.
    pub span: Span,
}

/// An expression and its span.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// Its form.
    pub kind: Kind,
    /// Its location.
    pub span: Span,
}

/// `I(a)!` in `I(a)!Op(b)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Prefix {
    /// The name of the instance.
    pub name: Name,
    /// Its arguments.
    pub args: Vec<Expr>,
}

/// Variables bound to the elements of one set: `x, y \in S`, `<<x, y>> \in S`.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The pattern for each element. More than one pattern (`x, y \in S`) ranges over the set independently.
    pub patterns: Vec<Pattern>,
    /// The set.
    pub set: Expr,
}

/// The pattern that an element is bound to.
#[derive(Debug, Clone, PartialEq)]
pub enum Pattern {
    /// A name.
    Name(Name),
    /// `<<x, y>>`
    Tuple(Vec<Name>, Span),
}

/// One update of `[f EXCEPT ![i].a = e]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// The path from `!` to the updated part.
    pub path: Vec<Step>,
    /// The new value; `@` in it is the old value.
    pub value: Expr,
    /// From `!` to the end of the value.
    pub span: Span,
}

/// One step of an update's path.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// `[i, j]`
    Index(Vec<Expr>),
    /// `.a`
    Field(Name),
}

/// The kinds of quantifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    /// `\A`
    Forall,
    /// `\E`
    Exists,
}

/// `WF` or `SF`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fairness {
    /// `WF_v(A)`
    Weak,
    /// `SF_v(A)`
    Strong,
}

/// The forms of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Text that could not be parsed; an error says why.
    Error,
    /// `12`, `\b101`, `\hFF`: the digits as written, and their value where it fits.
    Number(Option<i64>),
    /// `1.5`
    Decimal(String),
    /// `"text"`, with escapes resolved.
    String(String),
    /// `TRUE`, `FALSE`
    Boolean(bool),
    /// A name, an application of an operator, prefix, infix or postfix: `x`, `Op(a, b)`, `I(a)!Op(b)`, `a + b`, `~p`,
    /// `x'`, `UNCHANGED x`, `[]P`. An operator passed as an argument (`FoldSeq(+, 0, s)`) is a name without arguments.
    /// Unary minus is named `-.`.
    Apply {
        /// The prefixes before `!`.
        prefixes: Vec<Prefix>,
        /// The operator.
        name: Name,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// `LAMBDA x, y : e`
    Lambda {
        /// The parameters.
        params: Vec<Declaration>,
        /// The body.
        body: Box<Expr>,
    },
    /// A list of `/\` bullets, of one bullet also. An infix `a /\ b` is [`Kind::Apply`].
    Conjunction(Vec<Expr>),
    /// A list of `\/` bullets.
    Disjunction(Vec<Expr>),
    /// `IF c THEN a ELSE b`
    If(Box<[Expr; 3]>),
    /// `CASE p -> a [] q -> b [] OTHER -> c`
    Case {
        /// Guards and their results.
        arms: Vec<(Expr, Expr)>,
        /// After `OTHER`.
        other: Option<Box<Expr>>,
    },
    /// `LET … IN e`
    Let {
        /// Definitions, instances and recursive declarations.
        units: Vec<Unit>,
        /// After `IN`.
        body: Box<Expr>,
    },
    /// `\A x \in S, y \in T : p`
    Quantified {
        /// The quantifier.
        quantifier: Quantifier,
        /// The bound variables.
        bounds: Vec<Bound>,
        /// The claim.
        body: Box<Expr>,
    },
    /// `\A x : p`, `\E x : p`, `\AA x : p`, `\EE x : p`. TLC evaluates none of them.
    Unbounded {
        /// The symbol as written.
        quantifier: String,
        /// The bound variables.
        names: Vec<Name>,
        /// The claim.
        body: Box<Expr>,
    },
    /// `CHOOSE x \in S : p`, `CHOOSE x : p`
    Choose {
        /// The bound variables.
        pattern: Pattern,
        /// The set to choose from, if given.
        set: Option<Box<Expr>>,
        /// The predicate.
        body: Box<Expr>,
    },
    /// `{a, b}`
    Set(Vec<Expr>),
    /// `{x \in S : p}`
    Filter {
        /// The bound variables.
        pattern: Pattern,
        /// The set.
        set: Box<Expr>,
        /// The predicate.
        body: Box<Expr>,
    },
    /// `{e : x \in S, y \in T}`
    Map {
        /// The element.
        body: Box<Expr>,
        /// The bound variables.
        bounds: Vec<Bound>,
    },
    /// `[x \in S, y \in T |-> e]`
    Function {
        /// The bound variables.
        bounds: Vec<Bound>,
        /// The value.
        body: Box<Expr>,
    },
    /// `[S -> T]`
    FunctionSet(Box<[Expr; 2]>),
    /// `[a |-> e, b |-> f]`
    Record(Vec<(Name, Expr)>),
    /// `[a : S, b : T]`
    RecordSet(Vec<(Name, Expr)>),
    /// `<<a, b>>`
    Tuple(Vec<Expr>),
    /// `S \X T \X U`: one product of three, unless parentheses say otherwise.
    Product(Vec<Expr>),
    /// `[f EXCEPT …]`
    Except {
        /// The function.
        function: Box<Expr>,
        /// Its updates, left to right.
        updates: Vec<Update>,
    },
    /// `@`
    At,
    /// `f[a, b]`
    Index {
        /// The function.
        function: Box<Expr>,
        /// The arguments; more than one is a tuple.
        args: Vec<Expr>,
    },
    /// `r.a`
    Field(Box<Expr>, Name),
    /// `[A]_v`
    Square(Box<[Expr; 2]>),
    /// `<<A>>_v`
    Angle(Box<[Expr; 2]>),
    /// `WF_v(A)`, `SF_v(A)`: subscript, then action.
    Fairness(Fairness, Box<[Expr; 2]>),
    /// `name(x) :: e`
    Label(Name, Box<Expr>),
    /// `I(a)!Op(b)!2!1`: the first operand of the second operand of the body of `Op`. `Op!:` is the whole body.
    Part {
        /// The prefixes before the name of the definition.
        prefixes: Vec<Prefix>,
        /// The definition.
        name: Name,
        /// Its arguments.
        args: Vec<Expr>,
        /// The operand at each step inwards, counted from 1.
        path: Vec<usize>,
    },
    /// Any other reference into the middle of a definition (`Op!1!(x)`, `Op!@`).
    Subexpression,
}

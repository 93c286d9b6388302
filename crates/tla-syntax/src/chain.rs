//! Groups operators and operands as SANY does.
//!
//! The grammar groups `a = b = c` and `a \/ b /\ c` arbitrarily, where TLA+ requires parentheses. So its grouping
//! is undone: everything between two parentheses that is joined by symbols becomes one row of items, from left to
//! right, and the row is regrouped with the ranges of [`crate::operators`]. An operator waits on a stack until one
//! follows that binds less strongly; two that bind equally strongly are an error, reported with both locations, and
//! are grouped to the left.
//!
//! Invariant: operators and operands on the stack alternate as the row does, so reducing always finds its operands.

use crate::ast::{Expr, Kind, Name};
use crate::operators::{Fixity, Operator, operator};
use crate::{Diagnostic, Span};

/// One item of a row.
pub(crate) enum Item {
    /// An expression.
    Operand(Expr),
    /// A symbol before its operand.
    Prefix(Symbol),
    /// A symbol between its operands.
    Infix(Symbol),
    /// A symbol, index or field after its operand.
    Postfix(Symbol, Suffix),
}

/// The suffix of an operand.
pub(crate) enum Suffix {
    /// `x'`
    Symbol,
    /// `f[a, b]`; the span ends at the bracket.
    Index(Vec<Expr>, Span),
    /// `r.a`
    Field(Name),
}

/// A symbol and its span.
#[derive(Clone)]
pub(crate) struct Symbol {
    /// Its precedence and associativity.
    pub(crate) operator: &'static Operator,
    /// Its location.
    pub(crate) span: Span,
}

/// Groups a row. Conflicts are added to `errors`.
pub(crate) fn group(row: Vec<Item>, span: Span, errors: &mut Vec<Diagnostic>) -> Expr {
    let mut stack = Stack { operators: Vec::new(), operands: Vec::new(), errors };
    for item in row {
        match item {
            Item::Operand(expr) => stack.operands.push(Operand { expr, is_product: false }),
            Item::Prefix(symbol) => {
                stack.check_minus(&symbol);
                stack.operators.push(symbol);
            }
            Item::Infix(symbol) => {
                stack.make_way(&symbol);
                stack.operators.push(symbol);
            }
            Item::Postfix(symbol, suffix) => {
                stack.make_way(&symbol);
                stack.suffix(symbol, suffix);
            }
        }
    }
    while stack.reduce() {}
    stack.operands.pop().map_or(Expr { kind: Kind::Error, span }, |operand| operand.expr)
}

struct Operand {
    expr: Expr,
    is_product: bool, // An unfinished `a \X b`, which takes another factor. In parentheses it would be finished.
}

struct Stack<'e> {
    operators: Vec<Symbol>,
    operands: Vec<Operand>,
    errors: &'e mut Vec<Diagnostic>,
}

impl Stack<'_> {
    /// Reduces the operators that bind more strongly than the next symbol.
    fn make_way(&mut self, next: &Symbol) {
        while let Some(top) = self.operators.last().cloned() {
            let is_same = std::ptr::eq(top.operator, next.operator);
            if next.operator.binds_stronger_than(top.operator) {
                return;
            }
            if !(top.operator.binds_stronger_than(next.operator) || is_same && next.operator.is_left_associative) {
                self.conflict(&top, next);
            }
            self.reduce();
        }
    }

    /// SANY takes a minus for the infix one until it sees the preceding token, so `a * -b` is a conflict while
    /// `a * ~b` is not.
    fn check_minus(&mut self, next: &Symbol) {
        let Some(top) = self.operators.last().cloned() else { return };
        if next.operator.name == "-." && top.operator.name != "-." && top.operator.binds_stronger_than(next.operator) {
            self.conflict(&top, next);
        }
    }

    fn conflict(&mut self, first: &Symbol, second: &Symbol) {
        let shown = |symbol: &Symbol| match symbol.operator.name {
            "-." => "-",
            "[" => "[…]",
            name => name,
        };
        let (first_name, second_name) = (shown(first), shown(second));
        let message = match first_name == second_name {
            true => format!("`{first_name}` twice in a row needs parentheses"),
            false => format!("`{first_name}` and `{second_name}` side by side need parentheses"),
        };
        self.errors.push(
            Diagnostic::new(second.span, message)
                .label("neither binds more strongly")
                .related(first.span, "than this one")
                .help("put parentheses around the part to evaluate first"),
        );
    }

    /// Applies the last operator; `false` if the stack has no operator.
    fn reduce(&mut self) -> bool {
        let Some(symbol) = self.operators.pop() else { return false };
        let Some(right) = self.operands.pop() else { return false };
        if symbol.operator.fixity == Fixity::Prefix {
            let span = symbol.span.to(right.expr.span);
            self.push(apply(&symbol, vec![right.expr], span));
            return true;
        }
        let Some(left) = self.operands.pop() else { return false };
        let span = left.expr.span.to(right.expr.span);
        if symbol.operator.name != "\\X" {
            self.push(apply(&symbol, vec![left.expr, right.expr], span));
            return true;
        }
        let factors = match left {
            Operand { expr: Expr { kind: Kind::Product(mut factors), .. }, is_product: true } => {
                factors.push(right.expr);
                factors
            }
            left => vec![left.expr, right.expr],
        };
        self.operands.push(Operand { expr: Expr { kind: Kind::Product(factors), span }, is_product: true });
        true
    }

    fn suffix(&mut self, symbol: Symbol, suffix: Suffix) {
        let Some(Operand { expr, .. }) = self.operands.pop() else { return };
        let start = expr.span;
        self.push(match suffix {
            Suffix::Symbol => apply(&symbol, vec![expr], start.to(symbol.span)),
            Suffix::Index(args, end) => {
                Expr { kind: Kind::Index { function: Box::new(expr), args }, span: start.to(end) }
            }
            Suffix::Field(name) => Expr { span: start.to(name.span), kind: Kind::Field(Box::new(expr), name) },
        });
    }

    fn push(&mut self, expr: Expr) {
        self.operands.push(Operand { expr, is_product: false });
    }
}

fn apply(symbol: &Symbol, args: Vec<Expr>, span: Span) -> Expr {
    let name = Name { text: symbol.operator.name.to_owned(), span: symbol.span };
    Expr { kind: Kind::Apply { prefixes: Vec::new(), name, args }, span }
}

/// The symbol with this spelling in this position.
pub(crate) fn symbol(spelling: &str, fixity: Fixity, span: Span) -> Option<Symbol> {
    let spelling = if spelling == "-" && fixity == Fixity::Prefix { "-." } else { spelling };
    operator(spelling, fixity).map(|operator| Symbol { operator, span })
}

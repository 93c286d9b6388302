//! Random TLA+ text: constant expressions, and small specs.
//!
//! Expressions are generated from a type downwards, so nearly all of them have a value; the few that do not are
//! wanted, because failing is as much part of an expression's meaning as its value. Sizes are bounded where they
//! could explode: `SUBSET` and sets of functions are built only over literal sets, and intervals only between small
//! numbers. Names of bound variables are never used twice, since TLA+ forbids that.

use fastrand::Rng;

use self::Type::{Bool, Fun, Int, Rec, Seq, Set, Str, Tup};

mod spec;

pub use self::spec::{RandomSpec, spec};

/// The definitions that expressions rely on. It also fixes the order of strings, which is the order of their first use.
pub const PRELUDE: &str = "Strings == <<\"a\", \"b\", \"c\">>\nFields == [f |-> 1, g |-> 2]\n";

/// The maximum nesting depth of expressions.
const DEPTH: u32 = 4;

/// A constant expression of a random type.
pub fn expression(rng: &mut Rng) -> String {
    let mut generator = Generator::new(rng, 1);
    let ty = generator.any_type(2);
    generator.expr(&ty, DEPTH)
}

/// The intended type of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Type {
    Int,
    Bool,
    Str,
    Set(Box<Type>),
    Seq(Box<Type>),
    /// A function from numbers, with a domain that is not that of a sequence.
    Fun(Box<Type>),
    /// A record with the fields `f` and `g`.
    Rec(Box<Type>, Box<Type>),
    Tup(Box<Type>, Box<Type>),
}

/// Generates expressions, with the names that are bound around them.
struct Generator<'a> {
    rng: &'a mut Rng,
    scope: Vec<(String, Type)>,
    names: usize,
    /// How many times rarer mistakes are than in a lone expression.
    care: u32,
}

impl<'a> Generator<'a> {
    fn new(rng: &'a mut Rng, care: u32) -> Generator<'a> {
        Generator { rng, scope: Vec::new(), names: 0, care }
    }

    /// True once in `n` times.
    fn once_in(&mut self, n: u32) -> bool {
        self.rng.u32(..n) == 0
    }

    /// True once in `n` times, and less often with care: whether to generate an expression that may have no value.
    fn risks(&mut self, n: u32) -> bool {
        self.once_in(n * self.care)
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn any_type(&mut self, depth: u32) -> Type {
        let inner = |generator: &mut Self| Box::new(generator.any_type(depth - 1));
        match self.rng.u32(..if depth == 0 { 6 } else { 16 }) {
            0..=2 => Int,
            3..=4 => Bool,
            5 => Str,
            6..=9 => Set(inner(self)),
            10..=11 => Seq(inner(self)),
            12 => Fun(inner(self)),
            13..=14 => Rec(inner(self), inner(self)),
            _ => Tup(inner(self), inner(self)),
        }
    }

    /// An expression of this type that is valid anywhere.
    fn expr(&mut self, ty: &Type, depth: u32) -> String {
        // Occasionally another type, as a mistake would be.
        let mistaken = self.any_type(1);
        let ty = if depth > 0 && self.risks(150) { &mistaken } else { ty };
        let bound: Vec<_> = self.scope.iter().filter(|(_, of)| of == ty).map(|(name, _)| name.clone()).collect();
        if !bound.is_empty() && self.rng.u32(..10) < if depth == 0 { 8 } else { 3 } {
            return bound[self.rng.usize(..bound.len())].clone();
        }
        if depth == 0 {
            return self.literal(ty);
        }
        match self.rng.u32(..12) {
            0 => self.literal(ty),
            1 => format!(
                "(IF {} THEN {} ELSE {})",
                self.guard(depth),
                self.expr(ty, depth - 1),
                self.expr(ty, depth - 1)
            ),
            2 => self.case(ty, depth - 1),
            3 => self.binding(ty, depth - 1),
            4 => self.selection(ty, depth - 1),
            _ => self.operation(ty, depth - 1),
        }
    }

    fn guard(&mut self, depth: u32) -> String {
        self.expr(&Bool, depth.min(2) - 1)
    }

    fn int(&mut self, depth: u32) -> String {
        self.expr(&Int, depth)
    }

    /// A small literal number.
    fn number(&mut self) -> String {
        match self.rng.i32(-3..9) {
            negative @ ..0 => format!("({negative})"),
            number => number.to_string(),
        }
    }

    /// A literal value.
    fn literal(&mut self, ty: &Type) -> String {
        match ty {
            Int if self.risks(60) => "2147483647".to_owned(),
            Int => self.number(),
            Bool => ["TRUE", "FALSE"][self.rng.usize(..2)].to_owned(),
            Str => ["\"a\"", "\"b\"", "\"c\""][self.rng.usize(..3)].to_owned(),
            Set(of) => format!("{{{}}}", self.literals(of, 4)),
            Seq(of) => format!("<<{}>>", self.literals(of, 4)),
            Fun(of) => format!("[{} \\in {{0, 2}} |-> {}]", self.fresh(), self.literal(of)),
            Rec(f, g) => format!("[f |-> {}, g |-> {}]", self.literal(f), self.literal(g)),
            Tup(a, b) => format!("<<{}, {}>>", self.literal(a), self.literal(b)),
        }
    }

    /// Up to `most` literal values, separated by commas.
    fn literals(&mut self, ty: &Type, most: usize) -> String {
        let literals: Vec<_> = (0..self.rng.usize(..most)).map(|_| self.literal(ty)).collect();
        literals.join(", ")
    }

    fn case(&mut self, ty: &Type, depth: u32) -> String {
        let arm = format!("{} -> {}", self.guard(depth + 1), self.expr(ty, depth));
        let last = if self.risks(8) { self.guard(depth + 1) } else { "OTHER".to_owned() };
        format!("(CASE {arm} [] {last} -> {})", self.expr(ty, depth))
    }

    /// `LET`, of a value, an operator, or a recursive function.
    fn binding(&mut self, ty: &Type, depth: u32) -> String {
        let (name, parameter) = (self.fresh(), self.fresh());
        let bound = self.any_type(1);
        match self.rng.u32(..4) {
            0 | 1 => {
                let value = self.expr(&bound, depth);
                let body = self.under(&name, &bound, |generator| generator.expr(ty, depth));
                format!("(LET {name} == {value} IN {body})")
            }
            2 => {
                let body = self.under(&parameter, &bound, |generator| generator.expr(ty, depth));
                format!("(LET {name}({parameter}) == {body} IN {name}({}))", self.expr(&bound, depth))
            }
            _ => {
                let before = format!("{name}[{parameter} - 1]");
                let first = self.expr(ty, depth.min(1));
                let step = self.under(&before, ty, |generator| {
                    generator.under(&parameter, &Int, |generator| generator.expr(ty, depth))
                });
                let argument = if self.risks(10) { self.int(0) } else { self.rng.u32(..4).to_string() };
                format!(
                    "(LET {name}[{parameter} \\in 0..4] == IF {parameter} = 0 THEN {first} ELSE {step} IN {name}[{argument}])"
                )
            }
        }
    }

    /// An expression of this type that selects from a larger value.
    fn selection(&mut self, ty: &Type, depth: u32) -> String {
        let other = self.any_type(0);
        let own = || Box::new(ty.clone());
        match self.rng.u32(..7) {
            0 => format!("{}.f", self.expr(&Rec(own(), Box::new(other)), depth)),
            1 => format!("{}[\"g\"]", self.expr(&Rec(Box::new(other), own()), depth)),
            2 => format!("{}[1]", self.expr(&Tup(own(), Box::new(other)), depth)),
            3 => {
                let (name, sequence) = (self.fresh(), self.expr(&Seq(own()), depth));
                if self.risks(4) {
                    return format!("Head({sequence})");
                }
                let default = self.literal(ty);
                format!("(LET {name} == {sequence} IN IF {name} = <<>> THEN {default} ELSE {name}[Len({name})])")
            }
            4 => {
                let index =
                    if self.once_in(6) { self.int(depth.min(1)) } else { ["0", "2"][self.rng.usize(..2)].to_owned() };
                format!("{}[{index}]", self.expr(&Fun(own()), depth))
            }
            _ => {
                let (name, set) = (self.fresh(), self.expr(&Set(own()), depth));
                let condition = if self.rng.bool() {
                    "TRUE".to_owned()
                } else {
                    self.under(&name, ty, |generator| generator.expr(&Bool, depth.min(1)))
                };
                if self.risks(3) {
                    return format!("(CHOOSE {name} \\in {set} : {condition})");
                }
                let default = self.literal(ty);
                format!("(CHOOSE {name} \\in {set} \\cup {{{default}}} : {condition} \\/ {name} = {default})")
            }
        }
    }

    /// An operator application of this type.
    fn operation(&mut self, ty: &Type, depth: u32) -> String {
        match ty {
            Int => self.int_operation(depth),
            Bool => self.bool_operation(depth),
            // The order of strings that are created at run time differs from TLC's, so no such string leaves this
            // expression.
            Str => match self.rng.u32(..3) {
                0 => {
                    let (left, right) = (self.expr(&Str, depth), self.expr(&Str, depth));
                    format!("(IF {left} \\o {right} = \"ab\" THEN \"a\" ELSE \"b\")")
                }
                1 => format!("(IF Len(ToString({})) > 0 THEN \"a\" ELSE \"c\")", self.expr(&Set(Box::new(Int)), depth)),
                _ => self.literal(&Str),
            },
            Set(of) => self.set_operation(of, depth),
            Seq(of) => self.seq_operation(of, depth),
            Fun(of) => self.fun_operation(of, depth),
            Rec(f, g) => match self.rng.u32(..4) {
                0 => format!("[{} EXCEPT !.f = {}]", self.expr(ty, depth), self.expr(f, depth)),
                1 => format!("[{} EXCEPT ![\"g\"] = {}, !.f = @]", self.expr(ty, depth), self.expr(g, depth)),
                2 => format!("((\"f\" :> {}) @@ {})", self.expr(f, depth), self.expr(ty, depth)),
                _ => format!("[g |-> {}, f |-> {}]", self.expr(g, depth), self.expr(f, depth)),
            },
            Tup(a, b) => match self.rng.u32(..3) {
                0 => format!("[{} EXCEPT ![2] = {}]", self.expr(ty, depth), self.expr(b, depth)),
                1 => format!("(<<{}>> \\o <<{}>>)", self.expr(a, depth), self.expr(b, depth)),
                _ => format!("<<{}, {}>>", self.expr(a, depth), self.expr(b, depth)),
            },
        }
    }

    fn int_operation(&mut self, depth: u32) -> String {
        let of = Box::new(self.any_type(1));
        match self.rng.u32(..14) {
            0..=2 => format!("({} + {})", self.int(depth), self.int(depth)),
            3 | 4 => format!("({} - {})", self.int(depth), self.int(depth)),
            5 => format!("({} * {})", self.int(depth), self.int(depth)),
            6 => {
                let divisor = if self.risks(5) { self.int(depth) } else { self.rng.u32(1..5).to_string() };
                format!("({} {} {divisor})", self.int(depth), ["\\div", "%"][self.rng.usize(..2)])
            }
            7 => format!("({} ^ {})", self.int(depth), self.rng.u32(..4)),
            8 => format!("(-{})", self.int(depth)),
            9 | 10 => format!("Cardinality({})", self.expr(&Set(of), depth)),
            11 => format!("BagCardinality(SetToBag({}))", self.expr(&Set(of), depth)),
            _ => format!("Len({})", self.expr(&Seq(of), depth)),
        }
    }

    fn bool_operation(&mut self, depth: u32) -> String {
        let ty = self.any_type(1);
        let set = Set(Box::new(ty.clone()));
        let pair = |generator: &mut Self, ty: &Type| (generator.expr(ty, depth), generator.expr(ty, depth));
        match self.rng.u32(..16) {
            0 | 1 => {
                let (left, right) = pair(self, &Bool);
                format!("({left} {} {right})", ["/\\", "\\/", "=>", "<=>"][self.rng.usize(..4)])
            }
            2 => format!("(~{})", self.expr(&Bool, depth)),
            3 | 4 => {
                let (left, right) = pair(self, &Int);
                format!("({left} {} {right})", ["<", "<=", ">", ">=", "#", "\\leq"][self.rng.usize(..6)])
            }
            5..=7 => {
                let (left, right) = pair(self, &ty);
                format!("({left} {} {right})", ["=", "#", "/="][self.rng.usize(..3)])
            }
            8 | 9 => format!(
                "({} {} {})",
                self.expr(&ty, depth),
                ["\\in", "\\notin"][self.rng.usize(..2)],
                self.expr(&set, depth)
            ),
            10 => {
                let (left, right) = pair(self, &set);
                format!("({left} \\subseteq {right})")
            }
            11 => {
                let set = if self.risks(10) { "Nat".to_owned() } else { infinite(&ty) };
                format!("({} \\in ({set}))", self.expr(&ty, depth))
            }
            12 => format!("IsFiniteSet({})", self.expr(&set, depth)),
            _ => {
                let (quantifier, name, set) =
                    (["\\A", "\\E"][self.rng.usize(..2)], self.fresh(), self.expr(&set, depth));
                let body = self.under(&name, &ty, |generator| generator.expr(&Bool, depth));
                format!("({quantifier} {name} \\in {set} : {body})")
            }
        }
    }

    fn set_operation(&mut self, of: &Type, depth: u32) -> String {
        let ty = Set(Box::new(of.clone()));
        if self.once_in(4) {
            match of {
                Int => return format!("({}..{})", self.rng.i32(-1..3), self.rng.u32(..6)),
                Bool => return "BOOLEAN".to_owned(),
                Set(inner) => return format!("(SUBSET {})", self.literal(&Set(inner.clone()))),
                Tup(a, b) => {
                    let (a, b) = (Set(a.clone()), Set(b.clone()));
                    return format!("({} \\X {})", self.literal(&a), self.literal(&b));
                }
                Rec(f, g) => {
                    let (f, g) = (Set(f.clone()), Set(g.clone()));
                    return format!("[f : {}, g : {}]", self.literal(&f), self.literal(&g));
                }
                Fun(inner) => return format!("[{{0, 2}} -> {}]", self.literal(&Set(inner.clone()))),
                Seq(inner) => return format!("[1..2 -> {}]", self.literal(&Set(inner.clone()))),
                Str => return format!("(DOMAIN {})", self.literal(&Rec(Box::new(Int), Box::new(Int)))),
            }
        }
        match self.rng.u32(..10) {
            0..=2 => {
                let operator = ["\\cup", "\\cap", "\\"][self.rng.usize(..3)];
                format!("({} {operator} {})", self.expr(&ty, depth), self.expr(&ty, depth))
            }
            3 | 4 => {
                let (name, set) = (self.fresh(), self.expr(&ty, depth));
                let condition = self.under(&name, of, |generator| generator.expr(&Bool, depth));
                format!("{{{name} \\in {set} : {condition}}}")
            }
            5 | 6 => {
                let (name, from) = (self.fresh(), self.any_type(1));
                let set = self.expr(&Set(Box::new(from.clone())), depth);
                let body = self.under(&name, &from, |generator| generator.expr(of, depth));
                format!("{{{body} : {name} \\in {set}}}")
            }
            7 => format!("(UNION {{{}, {}}})", self.expr(&ty, depth), self.expr(&ty, depth)),
            8 => format!("BagToSet(SetToBag({}))", self.expr(&ty, depth)),
            _ => format!("{{{}, {}}}", self.expr(of, depth), self.expr(of, depth)),
        }
    }

    fn seq_operation(&mut self, of: &Type, depth: u32) -> String {
        let ty = Seq(Box::new(of.clone()));
        match self.rng.u32(..10) {
            0 | 1 => format!("Append({}, {})", self.expr(&ty, depth), self.expr(of, depth)),
            2 => format!("({} \\o {})", self.expr(&ty, depth), self.expr(&ty, depth)),
            3 => {
                let (name, sequence) = (self.fresh(), self.expr(&ty, depth));
                if self.risks(4) {
                    return format!("Tail({sequence})");
                }
                format!("(LET {name} == {sequence} IN IF Len({name}) > 1 THEN Tail({name}) ELSE {name})")
            }
            4 => {
                let (name, sequence, from) = (self.fresh(), self.expr(&ty, depth), self.rng.u32(1..4));
                if self.risks(3) {
                    return format!("SubSeq({sequence}, {from}, {})", self.rng.u32(..3));
                }
                format!("(LET {name} == {sequence} IN SubSeq({name}, {from}, Len({name})))")
            }
            5 => {
                let (name, sequence) = (self.fresh(), self.expr(&ty, depth));
                let condition = self.under(&name, of, |generator| generator.expr(&Bool, depth));
                format!("SelectSeq({sequence}, LAMBDA {name} : {condition})")
            }
            6 => format!("[{} EXCEPT ![1] = {}]", self.expr(&ty, depth), self.expr(of, depth)),
            7 if *of == Int => format!("SortSeq({}, {})", self.expr(&ty, depth), ["<", ">"][self.rng.usize(..2)]),
            7 | 8 => {
                let (name, length) = (self.fresh(), self.rng.u32(..4));
                let body = self.under(&name, &Int, |generator| generator.expr(of, depth));
                format!("[{name} \\in 1..{length} |-> {body}]")
            }
            _ => format!("<<{}, {}>>", self.expr(of, depth), self.expr(of, depth)),
        }
    }

    fn fun_operation(&mut self, of: &Type, depth: u32) -> String {
        let ty = Fun(Box::new(of.clone()));
        match self.rng.u32(..4) {
            0 => format!("[{} EXCEPT ![{}] = {}]", self.expr(&ty, depth), self.number(), self.expr(of, depth)),
            1 => format!("({} @@ ({} :> {}))", self.expr(&ty, depth), self.number(), self.expr(of, depth)),
            _ => {
                let name = self.fresh();
                let body = self.under(&name, &Int, |generator| generator.expr(of, depth));
                format!("[{name} \\in {{0, 2}} |-> {body}]")
            }
        }
    }

    /// Generates an expression in which this name is bound.
    fn under<R>(&mut self, name: &str, ty: &Type, write: impl FnOnce(&mut Self) -> R) -> R {
        self.scope.push((name.to_owned(), ty.clone()));
        let written = write(self);
        self.scope.pop();
        written
    }
}

/// A set that contains every value of this type and is not enumerated to check membership.
fn infinite(ty: &Type) -> String {
    match ty {
        Int => "Int".to_owned(),
        Bool => "BOOLEAN".to_owned(),
        Str => "STRING".to_owned(),
        Set(of) => format!("SUBSET ({})", infinite(of)),
        Seq(of) => format!("Seq({})", infinite(of)),
        Fun(of) => format!("[{{0, 2}} -> {}]", infinite(of)),
        Rec(f, g) => format!("[f : {}, g : {}]", infinite(f), infinite(g)),
        Tup(a, b) => format!("(({}) \\X ({}))", infinite(a), infinite(b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_text() {
        let text = |seed| expression(&mut Rng::with_seed(seed));
        assert_eq!(text(7), text(7));
        assert!((0..20).any(|seed| text(seed) != text(7)));
    }

    #[test]
    fn brackets_close_in_order() {
        for seed in 0..500 {
            let text = expression(&mut Rng::with_seed(seed));
            let mut open = Vec::new();
            for char in text.chars() {
                match char {
                    '(' | '[' | '{' => open.push(char),
                    ')' => assert_eq!(open.pop(), Some('('), "{text}"),
                    ']' => assert_eq!(open.pop(), Some('['), "{text}"),
                    '}' => assert_eq!(open.pop(), Some('{'), "{text}"),
                    _ => {}
                }
            }
            assert_eq!(open, [], "{text}");
        }
    }

    #[test]
    fn every_operator_occurs() {
        let all: String = (0..2000).map(|seed| expression(&mut Rng::with_seed(seed))).collect();
        for word in ["CHOOSE", "LET", "CASE", "EXCEPT", "SUBSET", "UNION", "LAMBDA", "SortSeq", "SetToBag", "->", "\\X"]
        {
            assert!(all.contains(word), "{word}");
        }
    }
}

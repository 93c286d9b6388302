//! Random specs with finitely many states.
//!
//! Every variable has a type and a way to map any expression of that type into a small set of values, so the state
//! space is finite regardless of the actions. Guards, values and the invariant are random expressions over the
//! variables and the names that quantifiers bind.

use std::fmt::Write as _;

use fastrand::Rng;

use super::Type::{Bool, Fun, Int, Rec, Seq, Set};
use super::{Generator, PRELUDE, Type};

/// A single mistake ends the check of a spec, and there are many places for one.
const CARE: u32 = 8;

/// A module and its configuration.
#[derive(Clone, Debug)]
pub struct RandomSpec {
    /// The text of the module.
    pub module: String,
    /// The text of the configuration.
    pub config: String,
}

/// A variable of a random spec.
struct Variable {
    name: &'static str,
    ty: Type,
}

/// A random spec in a module of this name.
pub fn spec(rng: &mut Rng, name: &str) -> RandomSpec {
    let mut generator = Generator::new(rng, CARE);
    let count = generator.rng.usize(2..4);
    let variables: Vec<_> = ["x", "y", "z"][..count].iter().map(|name| generator.variable(name)).collect();
    let names: Vec<_> = variables.iter().map(|variable| variable.name).collect();
    let mut module = format!(
        "---- MODULE {name} ----\nEXTENDS Integers, Sequences, FiniteSets, Bags, TLC\nVARIABLES {}\n{PRELUDE}",
        names.join(", ")
    );
    let init: Vec<_> = variables.iter().map(|variable| generator.initial(variable)).collect();
    let actions = generator.rng.usize(2..6);
    let mut text = format!("Init == {}\n", init.join(" /\\ "));
    generator.scope = variables.iter().map(|variable| (variable.name.to_owned(), variable.ty.clone())).collect();
    let mut alternatives = Vec::new();
    for index in 1..=actions {
        let _ = writeln!(text, "A{index} == {}", generator.action(&variables, 2));
        alternatives.push(format!("A{index}"));
    }
    let _ = writeln!(text, "Next == {}", alternatives.join(" \\/ "));
    // TLC treats an invariant without variables specially.
    let _ = writeln!(text, "Inv == x = x /\\ ({} \\/ {})", generator.expr(&Bool, 2), generator.expr(&Bool, 2));
    module.push_str(&text);
    module.push_str("====\n");
    let mut config = "INIT Init\nNEXT Next\n".to_owned();
    if generator.rng.u32(..3) == 0 {
        config.push_str("INVARIANT Inv\n");
    }
    if generator.rng.u32(..4) > 0 {
        config.push_str("CHECK_DEADLOCK FALSE\n");
    }
    RandomSpec { module, config }
}

impl Generator<'_> {
    fn variable(&mut self, name: &'static str) -> Variable {
        let types = [
            Int,
            Int,
            Bool,
            Set(Box::new(Int)),
            Seq(Box::new(Int)),
            Fun(Box::new(Int)),
            Rec(Box::new(Int), Box::new(Bool)),
        ];
        Variable { name, ty: types[self.rng.usize(..types.len())].clone() }
    }

    fn initial(&mut self, variable: &Variable) -> String {
        let Variable { name, ty } = variable;
        match self.rng.u32(..3) {
            0 => {
                let (left, right) = (self.literal(ty), self.literal(ty));
                format!("{name} \\in {{{}, {}}}", self.bounded(ty, &left), self.bounded(ty, &right))
            }
            1 => {
                let (left, right) = (self.literal(ty), self.literal(ty));
                format!("({name} = {} \\/ {name} = {})", self.bounded(ty, &left), self.bounded(ty, &right))
            }
            _ => {
                let value = self.literal(ty);
                format!("{name} = {}", self.bounded(ty, &value))
            }
        }
    }

    /// This expression, mapped into a small set of values.
    fn bounded(&mut self, ty: &Type, value: &str) -> String {
        let name = self.fresh();
        match ty {
            Int => format!("({value} % 5)"),
            Set(_) => format!("{{{name} % 4 : {name} \\in {value}}}"),
            Seq(_) => {
                let index = self.fresh();
                format!("(LET {name} == {value} IN [{index} \\in 1..(Len({name}) % 3) |-> {name}[{index}] % 3])")
            }
            Fun(_) => {
                let index = self.fresh();
                format!("(LET {name} == {value} IN [{index} \\in {{0, 2}} |-> {name}[{index}] % 3])")
            }
            Rec(..) => format!("(LET {name} == {value} IN [{name} EXCEPT !.f = @ % 3])"),
            _ => format!("({value})"),
        }
    }

    /// An action that assigns every variable, in one of several forms.
    fn action(&mut self, variables: &[Variable], depth: u32) -> String {
        match self.rng.u32(..if depth == 0 { 3 } else { 7 }) {
            3 => format!("({} \\/ {})", self.action(variables, depth - 1), self.action(variables, depth - 1)),
            4 => format!(
                "(IF {} THEN {} ELSE {})",
                self.expr(&Bool, 1),
                self.action(variables, depth - 1),
                self.action(variables, depth - 1)
            ),
            5 => {
                let name = self.fresh();
                let set = self.literal(&Set(Box::new(Int)));
                let body = self.under(&name, &Int, |generator| generator.action(variables, depth - 1));
                format!("(\\E {name} \\in {set} : {body})")
            }
            _ => self.assignments(variables),
        }
    }

    /// A guard, and one conjunct for each variable, in any order.
    fn assignments(&mut self, variables: &[Variable]) -> String {
        let mut conjuncts = if self.rng.bool() { vec![self.expr(&Bool, 2)] } else { Vec::new() };
        let mut order: Vec<_> = variables.iter().collect();
        self.rng.shuffle(&mut order);
        let scope = self.scope.len();
        for Variable { name, ty } in order {
            let value = self.expr(ty, 3);
            let bounded = self.bounded(ty, &value);
            conjuncts.push(match self.rng.u32(..12) {
                0..=3 => format!("UNCHANGED {name}"),
                4 => format!("{name}' \\in {{{name}, {bounded}}}"),
                5 => format!("({name}' = {bounded} \\/ {name}' = {name})"),
                6 => format!("IF {} THEN {name}' = {bounded} ELSE UNCHANGED <<{name}>>", self.expr(&Bool, 1)),
                _ => format!("{name}' = {bounded}"),
            });
            // Later conjuncts may read variables that are already assigned.
            self.scope.push((format!("{name}'"), ty.clone()));
        }
        self.scope.truncate(scope);
        format!("({})", conjuncts.iter().map(|conjunct| format!("({conjunct})")).collect::<Vec<_>>().join(" /\\ "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_has_all_its_parts() {
        for seed in 0..50 {
            let RandomSpec { module, config } = spec(&mut Rng::with_seed(seed), "Random");
            for part in ["MODULE Random", "Init ==", "A2 ==", "Next ==", "Inv =="] {
                assert!(module.contains(part), "{module}");
            }
            assert!(config.starts_with("INIT Init\nNEXT Next\n"), "{config}");
        }
    }
}

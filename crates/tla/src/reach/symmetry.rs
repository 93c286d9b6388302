//! Permutations of model values that make no difference.
//!
//! `SYMMETRY` names a set of functions that permute model values. States that such a permutation turns into each other are
//! one state, so each is known by the least state that it can be turned into. For that to be the same state for all of
//! them, the permutations must be a group; what the user gives is completed to one.

use std::collections::BTreeMap;

use crate::error::{ErrorKind, EvalError, Result};
use crate::machine::State;
use crate::value::{Model, Value};

/// What each model value becomes; others stay.
type Permutation = BTreeMap<Model, Model>;

/// A group of permutations, without the one that changes nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct Symmetry(Vec<Permutation>);

impl Symmetry {
    /// The group that a set of permutations generates.
    pub(super) fn new(permutations: &Value) -> Result<Symmetry> {
        let wrong = || EvalError::new(ErrorKind::WrongKind, "a symmetry is a set of permutations of model values");
        let Value::Set(set) = permutations else { return Err(wrong()) };
        let mut generators = Vec::new();
        for permutation in set.elements() {
            let domain = permutation.function_domain().ok_or_else(wrong)?;
            let values = permutation.function_values().ok_or_else(wrong)?;
            let pairs = domain.elements().iter().zip(values).map(|(from, to)| match (from, to) {
                (Value::Model(from), Value::Model(to)) => Ok((*from, *to)),
                _ => Err(wrong()),
            });
            let permutation: Permutation = pairs.collect::<Result<_>>()?;
            let mut targets: Vec<Model> = permutation.values().copied().collect();
            targets.sort_unstable();
            if !permutation.keys().copied().eq(targets) {
                return Err(wrong());
            }
            generators.push(normal(permutation));
        }
        Ok(Symmetry(closure(&generators)))
    }

    /// Whether there is nothing to permute.
    pub(super) fn is_trivial(&self) -> bool {
        self.0.is_empty()
    }

    /// The least state that a state can be turned into.
    pub(super) fn least(&self, state: &State) -> Result<State> {
        let mut least = state.clone();
        for permutation in &self.0 {
            let turned: State = state.iter().map(|value| turned(value, permutation)).collect::<Result<_>>()?;
            if turned < least {
                least = turned;
            }
        }
        Ok(least)
    }
}

/// The permutation without what it leaves alone.
fn normal(mut permutation: Permutation) -> Permutation {
    permutation.retain(|from, to| from != to);
    permutation
}

/// Everything that the permutations can be composed to, without the identity.
fn closure(generators: &[Permutation]) -> Vec<Permutation> {
    let mut group = vec![Permutation::new()];
    let mut next = 0;
    while let Some(known) = group.get(next).cloned() {
        next += 1;
        for generator in generators {
            let then = |model: &Model| *generator.get(model).unwrap_or(model);
            let mut composed: Permutation = known.iter().map(|(from, to)| (*from, then(to))).collect();
            for (from, to) in generator {
                composed.entry(*from).or_insert(*to);
            }
            let composed = normal(composed);
            if !group.contains(&composed) {
                group.push(composed);
            }
        }
    }
    group.retain(|permutation| !permutation.is_empty());
    group
}

fn turned(value: &Value, permutation: &Permutation) -> Result<Value> {
    let all = |values: &[Value]| values.iter().map(|value| turned(value, permutation)).collect::<Result<Vec<Value>>>();
    Ok(match value {
        Value::Bool(_) | Value::Int(_) | Value::Str(_) => value.clone(),
        Value::Model(model) => Value::Model(*permutation.get(model).unwrap_or(model)),
        Value::Set(set) => Value::set(all(set.elements())?)?,
        Value::Seq(seq) => Value::seq(all(seq.elements())?),
        Value::Fun(fun) => {
            let keys = all(fun.domain().elements())?;
            Value::pairs(keys.into_iter().zip(all(fun.values())?).collect())?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: u32) -> Model {
        Model { name, class: 0 }
    }

    fn swap(a: u32, b: u32) -> Value {
        let pair = |from, to| (Value::Model(model(from)), Value::Model(model(to)));
        Value::pairs(vec![pair(a, b), pair(b, a)]).expect("model values can be compared")
    }

    #[test]
    fn swaps_generate_all_permutations() {
        let swaps = Value::set(vec![swap(1, 2), swap(2, 3)]).expect("functions can be compared");
        let symmetry = Symmetry::new(&swaps).expect("a set of permutations");
        assert_eq!(symmetry.0.len(), 5, "all six, without the identity");
    }

    #[test]
    fn states_that_turn_into_each_other_have_one_least() {
        let swaps = Value::set(vec![swap(1, 2), swap(2, 3)]).expect("functions can be compared");
        let symmetry = Symmetry::new(&swaps).expect("a set of permutations");
        let state = |a, b| -> State { [Value::Model(model(a)), Value::seq(vec![Value::Model(model(b))])].into() };
        let least = |a, b| symmetry.least(&state(a, b)).expect("nothing to go wrong");
        assert_eq!(least(3, 1), state(1, 2));
        assert_eq!(least(2, 3), state(1, 2));
        assert_eq!(least(3, 3), state(1, 1));
    }

    #[test]
    fn other_sets_are_refused() {
        assert!(Symmetry::new(&Value::Bool(true)).is_err());
        assert!(Symmetry::new(&Value::set(vec![Value::seq(vec![Value::Int(1)])]).expect("one element")).is_err());
    }
}

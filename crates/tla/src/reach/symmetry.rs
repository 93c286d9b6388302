//! Symmetry reduction: permutations of model values.
//!
//! `SYMMETRY` names a set of functions that permute model values. States that are permutations of each other count as
//! one state, represented by the least of them. For the representative to be unique, the permutations must be a
//! group; the user's set is completed to one.
//!
//! States are compared variable by variable, so the least one is found variable by variable: of the permutations that
//! minimize the variables so far, those remain that minimize the next one. Usually few remain after the first
//! variable that holds a model value. Variables have far fewer values than there are states, so a worker caches, for
//! each set of permutations and each value, the remaining permutations and the value's image: a state costs one
//! lookup per variable once its values are known. Values share parts too, such as the messages in two sets of
//! messages: a worker caches the image of each part, so an image is a row of cached parts, and only the least one is
//! constructed.

use std::cmp::Ordering;
use std::slice;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::error::{ErrorKind, EvalError, Result};
use crate::machine::State;
use crate::value::{Model, Value};

/// The image of each permuted model value, as indices among them.
type Permutation = Box<[u32]>;

/// Counts a unit of work; an error if evaluation must stop.
type Tick<'a> = &'a mut dyn FnMut() -> Result<()>;

/// A group of permutations.
#[derive(Debug, Clone, Default)]
pub(super) struct Symmetry {
    /// The model values that are permuted, ascending.
    models: Vec<Model>,
    /// The first is the identity.
    permutations: Vec<Permutation>,
}

/// One worker's cache of permuted values.
#[derive(Debug, Default)]
pub(super) struct Images {
    /// The first one has all permutations.
    stages: Vec<Stage>,
    ids: HashMap<Box<[u32]>, usize, FxBuildHasher>,
    /// The number of cached permutations and values.
    size: usize,
    /// Images of parts, each stored once, so that equal ones have equal addresses.
    interned: HashSet<Value, FxBuildHasher>,
    /// The number of cached images of parts.
    parts: usize,
}

/// Permutations that minimize some variables of a state.
#[derive(Debug, Default)]
struct Stage {
    permutations: Box<[u32]>,
    /// For a value of the next variable, its least image, and the stage of the permutations that produce it.
    least: HashMap<Value, (Value, usize), FxBuildHasher>,
    /// The image of a part of such a value under each of the permutations.
    parts: HashMap<Value, Arc<[Value]>, FxBuildHasher>,
}

/// The cache is cleared when it holds this many entries.
const MOST_REMEMBERED: usize = 1 << 21;

/// The images of parts are cleared when there are this many.
const MOST_PARTS: usize = 1 << 20;

impl Symmetry {
    /// The group that a set of permutations generates.
    pub(super) fn new(permutations: &Value, tick: Tick<'_>) -> Result<Symmetry> {
        let wrong = || EvalError::new(ErrorKind::WrongKind, "a symmetry is a set of permutations of model values");
        let Value::Set(set) = permutations else { return Err(wrong()) };
        let mut generators: Vec<Vec<(Model, Model)>> = Vec::new();
        for permutation in set.elements() {
            tick()?;
            let domain = permutation.function_domain().ok_or_else(wrong)?;
            let values = permutation.function_values().ok_or_else(wrong)?;
            let pairs = domain.elements().iter().zip(values).map(|(from, to)| match (from, to) {
                (Value::Model(from), Value::Model(to)) => Ok((*from, *to)),
                _ => Err(wrong()),
            });
            let mut pairs = pairs.collect::<Result<Vec<_>>>()?;
            let mut targets: Vec<Model> = pairs.iter().map(|(_, to)| *to).collect();
            targets.sort_unstable();
            pairs.sort_unstable();
            if !pairs.iter().map(|(from, _)| *from).eq(targets) {
                return Err(wrong());
            }
            pairs.retain(|(from, to)| from != to);
            generators.push(pairs);
        }
        let mut models: Vec<Model> = generators.iter().flatten().map(|(from, _)| *from).collect();
        models.sort_unstable();
        models.dedup();
        let place = |model: &Model| models.binary_search(model).map_or(0, |place| place as u32);
        let mut numbered = Vec::new();
        for pairs in generators {
            let mut permutation: Permutation = (0..models.len() as u32).collect();
            pairs.iter().for_each(|(from, to)| permutation[place(from) as usize] = place(to));
            numbered.push(permutation);
        }
        let permutations = closure(&numbered, models.len(), tick)?;
        Ok(Symmetry { models, permutations })
    }

    /// Whether the identity is the only permutation.
    pub(super) fn is_trivial(&self) -> bool {
        self.permutations.len() <= 1
    }

    /// The least permutation of a state.
    pub(super) fn least(&self, state: &State, images: &mut Images, tick: Tick<'_>) -> Result<State> {
        if images.stages.is_empty() || images.size > MOST_REMEMBERED {
            *images = Images::default();
            images.stage((0..self.permutations.len() as u32).collect());
        }
        if images.parts > MOST_PARTS {
            images.stages.iter_mut().for_each(|stage| stage.parts.clear());
            images.interned.clear();
            images.parts = 0;
        }
        let (mut stage, mut least) = (0, Vec::with_capacity(state.len()));
        for value in state.iter() {
            if matches!(value, Value::Bool(_) | Value::Int(_) | Value::Str(_)) {
                least.push(value.clone());
                continue;
            }
            let known = images.stages[stage].least.get(value).cloned();
            let (image, next) = match known {
                Some(known) => known,
                None => {
                    let (image, staying) = self.least_image(value, images, stage, tick)?;
                    let next = images.stage(staying);
                    images.stages[stage].least.insert(value.clone(), (image.clone(), next));
                    images.size += 1;
                    (image, next)
                }
            };
            least.push(image);
            stage = next;
        }
        Ok(least.into())
    }

    /// The least image of a value under the permutations of a stage, and the permutations that produce it.
    ///
    /// All images of a value have the same number of parts, so they are ordered by their parts: the sorted keys, then
    /// their values. The elements of a set are keys without values, those of a sequence values without keys.
    fn least_image(
        &self,
        value: &Value,
        images: &mut Images,
        stage: usize,
        tick: Tick<'_>,
    ) -> Result<(Value, Box<[u32]>)> {
        let (keys, values) = match value {
            Value::Set(set) => (set.elements(), &[][..]),
            Value::Seq(seq) => (&[][..], seq.elements()),
            Value::Fun(fun) => (fun.domain().elements(), fun.values()),
            value => (&[][..], slice::from_ref(value)),
        };
        let (keys, values) =
            (self.permuted_parts(keys, images, stage, tick)?, self.permuted_parts(values, images, stage, tick)?);
        let (mut least, mut row, mut staying): (Vec<&Value>, Vec<&Value>, Vec<u32>) = Default::default();
        let mut sorted: Vec<(&Value, usize)> = Vec::with_capacity(keys.len());
        for (place, &index) in images.stages[stage].permutations.iter().enumerate() {
            tick()?;
            sorted.clear();
            sorted.extend(keys.iter().enumerate().map(|(key, images)| (&images[place], key)));
            // Usually the least key decides.
            if let (Some((first, _)), Some(least)) = (sorted.iter().min(), least.first())
                && first > least
            {
                continue;
            }
            sorted.sort_unstable();
            row.clear();
            row.extend(sorted.iter().map(|(key, _)| *key));
            match keys.is_empty() {
                true => row.extend(values.iter().map(|images| &images[place])),
                false => row.extend(sorted.iter().filter_map(|(_, key)| values.get(*key)).map(|images| &images[place])),
            }
            match if staying.is_empty() { Ordering::Less } else { row.cmp(&least) } {
                Ordering::Less => {
                    std::mem::swap(&mut least, &mut row);
                    staying.clear();
                    staying.push(index);
                }
                Ordering::Equal => staying.push(index),
                Ordering::Greater => {}
            }
        }
        let mut parts = least.into_iter().cloned();
        let image = match value {
            Value::Set(_) => Value::set(parts.collect())?,
            Value::Seq(_) => Value::seq(parts.collect()),
            Value::Fun(_) => {
                let keys: Vec<Value> = parts.by_ref().take(keys.len()).collect();
                Value::pairs(keys.into_iter().zip(parts).collect())?
            }
            value => parts.next().unwrap_or_else(|| value.clone()),
        };
        Ok((if image == *value { value.clone() } else { image }, staying.into()))
    }

    /// For each part of a value, its image under each permutation of a stage.
    fn permuted_parts(
        &self,
        parts: &[Value],
        images: &mut Images,
        stage: usize,
        tick: Tick<'_>,
    ) -> Result<Vec<Arc<[Value]>>> {
        let Images { stages, interned, parts: remembered, .. } = images;
        let Stage { permutations, parts: known, .. } = &mut stages[stage];
        let mut all = Vec::with_capacity(parts.len());
        for part in parts {
            if let Some(permuted) = known.get(part) {
                all.push(permuted.clone());
                continue;
            }
            let mut permuted = Vec::with_capacity(permutations.len());
            for &index in &*permutations {
                tick()?;
                let image = self.permuted(part, &self.permutations[index as usize])?.unwrap_or_else(|| part.clone());
                permuted.push(interned.get_or_insert_with(&image, Value::clone).clone());
            }
            *remembered += permuted.len();
            let permuted: Arc<[Value]> = permuted.into();
            known.insert(part.clone(), permuted.clone());
            all.push(permuted);
        }
        Ok(all)
    }

    /// The image of a value under a permutation; `None` if it is unchanged.
    fn permuted(&self, value: &Value, permutation: &Permutation) -> Result<Option<Value>> {
        Ok(match value {
            Value::Bool(_) | Value::Int(_) | Value::Str(_) => None,
            Value::Model(model) => {
                let place = self.models.binary_search(model).ok();
                let image = place.map(|place| self.models[permutation[place] as usize]);
                image.filter(|image| image != model).map(Value::Model)
            }
            Value::Set(set) => self.all_permuted(set.elements(), permutation)?.map(Value::set).transpose()?,
            Value::Seq(seq) => self.all_permuted(seq.elements(), permutation)?.map(Value::seq),
            Value::Fun(fun) => {
                let keys = self.all_permuted(fun.domain().elements(), permutation)?;
                let values = self.all_permuted(fun.values(), permutation)?;
                match (keys, values) {
                    (None, None) => None,
                    (None, Some(values)) => Some(Value::function(fun.domain().clone(), values)),
                    (Some(keys), values) => {
                        let values = values.unwrap_or_else(|| fun.values().to_vec());
                        Some(Value::pairs(keys.into_iter().zip(values).collect())?)
                    }
                }
            }
        })
    }

    /// The images of several values; `None` if all are unchanged.
    fn all_permuted(&self, values: &[Value], permutation: &Permutation) -> Result<Option<Vec<Value>>> {
        let mut permuted: Option<Vec<Value>> = None;
        for (index, value) in values.iter().enumerate() {
            match (self.permuted(value, permutation)?, &mut permuted) {
                (Some(image), Some(permuted)) => permuted.push(image),
                (Some(image), None) => {
                    let mut begun = Vec::with_capacity(values.len());
                    begun.extend_from_slice(&values[..index]);
                    begun.push(image);
                    permuted = Some(begun);
                }
                (None, Some(permuted)) => permuted.push(value.clone()),
                (None, None) => {}
            }
        }
        Ok(permuted)
    }
}

impl Images {
    /// The stage with these permutations.
    fn stage(&mut self, permutations: Box<[u32]>) -> usize {
        if let Some(&known) = self.ids.get(&permutations) {
            return known;
        }
        self.size += permutations.len();
        self.ids.insert(permutations.clone(), self.stages.len());
        self.stages.push(Stage { permutations, ..Stage::default() });
        self.stages.len() - 1
    }
}

/// The group generated by permutations of this many values, the identity first.
///
/// A permutation already in the group adds nothing, and any other at least doubles it. So the number of permutations
/// composed with each element is at most the logarithm of the size of the group.
fn closure(generators: &[Permutation], len: usize, tick: Tick<'_>) -> Result<Vec<Permutation>> {
    let identity: Permutation = (0..len as u32).collect();
    let mut known: HashSet<Permutation, FxBuildHasher> = HashSet::default();
    known.insert(identity.clone());
    let mut group = vec![identity];
    let mut used: Vec<&Permutation> = Vec::new();
    for generator in generators {
        if known.contains(generator) {
            continue;
        }
        used.push(generator);
        // The elements so far have been composed with the other generators.
        let (before, mut next) = (group.len(), 0);
        while next < group.len() {
            let with = if next < before { used.len() - 1 } else { 0 };
            for generator in &used[with..] {
                tick()?;
                let composed: Permutation = group[next].iter().map(|&place| generator[place as usize]).collect();
                if known.insert(composed.clone()) {
                    group.push(composed);
                }
            }
            next += 1;
        }
    }
    Ok(group)
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
        let symmetry = Symmetry::new(&swaps, &mut || Ok(())).expect("a set of permutations");
        assert_eq!(symmetry.permutations.len(), 6);
    }

    #[test]
    fn states_that_turn_into_each_other_have_one_least() {
        let swaps = Value::set(vec![swap(1, 2), swap(2, 3)]).expect("functions can be compared");
        let symmetry = Symmetry::new(&swaps, &mut || Ok(())).expect("a set of permutations");
        let mut images = Images::default();
        let state = |a, b| -> State { [Value::Model(model(a)), Value::seq(vec![Value::Model(model(b))])].into() };
        let mut least = |a, b| symmetry.least(&state(a, b), &mut images, &mut || Ok(())).expect("comparable values");
        assert_eq!(least(3, 1), state(1, 2));
        assert_eq!(least(2, 3), state(1, 2));
        assert_eq!(least(3, 3), state(1, 1));
    }

    #[test]
    fn other_sets_are_refused() {
        assert!(Symmetry::new(&Value::Bool(true), &mut || Ok(())).is_err());
        let others = Value::set(vec![Value::seq(vec![Value::Int(1)])]).expect("one element");
        assert!(Symmetry::new(&others, &mut || Ok(())).is_err());
    }

    /// The least image of a whole state, computed by brute force.
    fn brute(symmetry: &Symmetry, state: &State) -> State {
        let image = |permutation: &Permutation| -> State {
            let permuted = |value: &Value| symmetry.permuted(value, permutation).expect("comparable values");
            state.iter().map(|value| permuted(value).unwrap_or_else(|| value.clone())).collect()
        };
        symmetry.permutations.iter().map(image).min().expect("the identity")
    }

    #[test]
    fn variable_by_variable_agrees_with_brute_force() {
        let swaps = (1..5).map(|name| swap(name, name + 1)).collect();
        let symmetry = Symmetry::new(&Value::set(swaps).expect("functions"), &mut || Ok(())).expect("permutations");
        assert_eq!(symmetry.permutations.len(), 120);
        let mut random = fastrand::Rng::with_seed(1);
        let mut images = Images::default();
        for _ in 0..500 {
            let mut some = |most: usize| -> Vec<Value> {
                (0..random.usize(..most)).map(|_| Value::Model(model(random.u32(1..7)))).collect()
            };
            let pairs = some(5).into_iter().zip([3, 1, 2, 1].map(Value::Int)).collect();
            let state: State = [
                Value::set(some(4)).expect("model values"),
                Value::Int(1),
                Value::seq(some(3)),
                Value::pairs(pairs).unwrap_or_else(|_| Value::empty_seq()),
                Value::set(vec![Value::seq(some(2)), Value::seq(some(3))]).expect("sequences"),
            ]
            .into();
            let least = symmetry.least(&state, &mut images, &mut || Ok(())).expect("comparable values");
            assert_eq!(least, brute(&symmetry, &state));
        }
    }

    #[test]
    fn work_ends_when_it_should() {
        let swaps = (1..8).map(|name| swap(name, name + 1)).collect();
        let swaps = Value::set(swaps).expect("functions");
        let mut ticks = 0;
        let mut tick = || {
            ticks += 1;
            if ticks < 1000 { Ok(()) } else { Err(EvalError::new(ErrorKind::Stopped, "stopped")) }
        };
        assert!(Symmetry::new(&swaps, &mut tick).is_err_and(|error| error.kind == ErrorKind::Stopped));
        let symmetry = Symmetry::new(&swaps, &mut || Ok(())).expect("permutations");
        assert_eq!(symmetry.permutations.len(), 40_320);
    }
}

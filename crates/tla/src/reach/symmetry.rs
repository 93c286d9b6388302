//! Permutations of model values that make no difference.
//!
//! `SYMMETRY` names a set of functions that permute model values. States that such a permutation turns into each other are
//! one state, so each is known by the least state that it can be turned into. For that to be the same state for all of
//! them, the permutations must be a group; what the user gives is completed to one.
//!
//! States are compared variable by variable, so the least one is found variable by variable: of the permutations that make
//! the variables so far least, those stay that make the next one least. Mostly few are left after the first variable that
//! holds a model value. Variables have far fewer values than there are states, so a worker remembers for each set of
//! permutations and each value which of them stay and what they turn the value into: a state costs one look-up for each
//! variable once its values are known. Values have parts in common too, such as the messages in two sets of messages: a
//! worker remembers what each part is turned into, so an image is a row of known parts, and only the least one is made.

use std::cmp::Ordering;
use std::slice;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::error::{ErrorKind, EvalError, Result};
use crate::machine::State;
use crate::value::{Model, Value};

/// What each of the permuted model values becomes, as places among them.
type Permutation = Box<[u32]>;

/// Notes that a little work was done; an error once it should end.
type Tick<'a> = &'a mut dyn FnMut() -> Result<()>;

/// A group of permutations.
#[derive(Debug, Clone, Default)]
pub(super) struct Symmetry {
    /// The model values that are permuted, ascending.
    models: Vec<Model>,
    /// The first one changes nothing.
    permutations: Vec<Permutation>,
}

/// What one worker remembers about permuted values.
#[derive(Debug, Default)]
pub(super) struct Images {
    /// The first one has all permutations.
    stages: Vec<Stage>,
    ids: HashMap<Box<[u32]>, usize, FxBuildHasher>,
    /// How many permutations and values are remembered.
    size: usize,
    /// What parts are turned into, each once, so that equal ones are seen to be equal by their addresses.
    met: HashSet<Value, FxBuildHasher>,
    /// How many images of parts are remembered.
    parts: usize,
}

/// Permutations that make some variables of a state least.
#[derive(Debug, Default)]
struct Stage {
    permutations: Box<[u32]>,
    /// For a value of the next variable, the least that it becomes, and the stage of the permutations that do it.
    least: HashMap<Value, (Value, usize), FxBuildHasher>,
    /// What each of the permutations turns a part of such a value into.
    parts: HashMap<Value, Arc<[Value]>, FxBuildHasher>,
}

/// Forget everything when this much is remembered.
const MOST_REMEMBERED: usize = 1 << 21;

/// Forget parts when this many images of them are remembered.
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

    /// Whether there is nothing to permute.
    pub(super) fn is_trivial(&self) -> bool {
        self.permutations.len() <= 1
    }

    /// The least state that a state can be turned into.
    pub(super) fn least(&self, state: &State, images: &mut Images, tick: Tick<'_>) -> Result<State> {
        if images.stages.is_empty() || images.size > MOST_REMEMBERED {
            *images = Images::default();
            images.stage((0..self.permutations.len() as u32).collect());
        }
        if images.parts > MOST_PARTS {
            images.stages.iter_mut().for_each(|stage| stage.parts.clear());
            images.met.clear();
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

    /// The least that the permutations of a stage turn a value into, and those that do it.
    ///
    /// All images of a value have as many parts, so they are ordered as their parts are: the keys, sorted, and then the
    /// values that belong to them. The elements of a set are keys without values, those of a sequence values without keys.
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
            (self.turned_parts(keys, images, stage, tick)?, self.turned_parts(values, images, stage, tick)?);
        let (mut least, mut row, mut staying): (Vec<&Value>, Vec<&Value>, Vec<u32>) = Default::default();
        let mut sorted: Vec<(&Value, usize)> = Vec::with_capacity(keys.len());
        for (place, &index) in images.stages[stage].permutations.iter().enumerate() {
            tick()?;
            sorted.clear();
            sorted.extend(keys.iter().enumerate().map(|(key, images)| (&images[place], key)));
            // Mostly the least key tells already.
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

    /// For each part of a value, what each permutation of a stage turns it into.
    fn turned_parts(
        &self,
        parts: &[Value],
        images: &mut Images,
        stage: usize,
        tick: Tick<'_>,
    ) -> Result<Vec<Arc<[Value]>>> {
        let Images { stages, met, parts: remembered, .. } = images;
        let Stage { permutations, parts: known, .. } = &mut stages[stage];
        let mut all = Vec::with_capacity(parts.len());
        for part in parts {
            if let Some(turned) = known.get(part) {
                all.push(turned.clone());
                continue;
            }
            let mut turned = Vec::with_capacity(permutations.len());
            for &index in &*permutations {
                tick()?;
                let image = self.turned(part, &self.permutations[index as usize])?.unwrap_or_else(|| part.clone());
                turned.push(met.get_or_insert_with(&image, Value::clone).clone());
            }
            *remembered += turned.len();
            let turned: Arc<[Value]> = turned.into();
            known.insert(part.clone(), turned.clone());
            all.push(turned);
        }
        Ok(all)
    }

    /// What a permutation turns a value into; `None` if it leaves it as it is.
    fn turned(&self, value: &Value, permutation: &Permutation) -> Result<Option<Value>> {
        Ok(match value {
            Value::Bool(_) | Value::Int(_) | Value::Str(_) => None,
            Value::Model(model) => {
                let place = self.models.binary_search(model).ok();
                let image = place.map(|place| self.models[permutation[place] as usize]);
                image.filter(|image| image != model).map(Value::Model)
            }
            Value::Set(set) => self.all_turned(set.elements(), permutation)?.map(Value::set).transpose()?,
            Value::Seq(seq) => self.all_turned(seq.elements(), permutation)?.map(Value::seq),
            Value::Fun(fun) => {
                let keys = self.all_turned(fun.domain().elements(), permutation)?;
                let values = self.all_turned(fun.values(), permutation)?;
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

    /// The same for several values: `None` if all stay as they are.
    fn all_turned(&self, values: &[Value], permutation: &Permutation) -> Result<Option<Vec<Value>>> {
        let mut turned: Option<Vec<Value>> = None;
        for (index, value) in values.iter().enumerate() {
            match (self.turned(value, permutation)?, &mut turned) {
                (Some(image), Some(turned)) => turned.push(image),
                (Some(image), None) => {
                    let mut begun = Vec::with_capacity(values.len());
                    begun.extend_from_slice(&values[..index]);
                    begun.push(image);
                    turned = Some(begun);
                }
                (None, Some(turned)) => turned.push(value.clone()),
                (None, None) => {}
            }
        }
        Ok(turned)
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

/// Everything that permutations of this many values can be composed to, the identity first.
///
/// A permutation that is known already adds nothing, and one that is not at least doubles the group. So at most as many
/// are composed with each element as the logarithm of the size of the group.
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
        let mut least = |a, b| symmetry.least(&state(a, b), &mut images, &mut || Ok(())).expect("nothing to go wrong");
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

    /// The least image of a whole state, computed without any of the above.
    fn brute(symmetry: &Symmetry, state: &State) -> State {
        let image = |permutation: &Permutation| -> State {
            let turned = |value: &Value| symmetry.turned(value, permutation).expect("comparable values");
            state.iter().map(|value| turned(value).unwrap_or_else(|| value.clone())).collect()
        };
        symmetry.permutations.iter().map(image).min().expect("the identity")
    }

    #[test]
    fn variable_by_variable_finds_what_trying_all_finds() {
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

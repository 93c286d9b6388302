//! The choice of the next call.
//!
//! In each set of possible states, the call that was made there least often comes next, and chance decides between equals. So
//! runs after one another cover the calls of the states that they reach, and repeat with the same seed.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use omnilink_harness::Input;
use omnilink_tla::machine::State;

/// One call in this many is one that the specification does not allow, if those are asked for.
const DISABLED: u64 = 4;

/// Remembers how often each call was made in each set of states.
#[derive(Default)]
pub(super) struct Chooser {
    random: fastrand::Rng,
    /// The sets of states that were seen.
    places: Vec<Vec<State>>,
    /// The sets with a digest.
    by_digest: BTreeMap<u64, Vec<usize>>,
    made: BTreeMap<(usize, Input), u64>,
    /// All calls that were ever allowed.
    known: BTreeSet<Input>,
}

impl Chooser {
    /// Begins a run.
    pub(super) fn begin(&mut self, seed: u64) {
        self.random = fastrand::Rng::with_seed(seed);
    }

    /// The number of a set of states.
    pub(super) fn place(&mut self, states: &[State]) -> usize {
        let mut hasher = DefaultHasher::new();
        states.hash(&mut hasher);
        let same = self.by_digest.entry(hasher.finish()).or_default();
        match same.iter().find(|place| self.places[**place] == states) {
            Some(place) => *place,
            None => {
                same.push(self.places.len());
                self.places.push(states.to_vec());
                self.places.len() - 1
            }
        }
    }

    /// The next call. Of those that are not allowed, only some that were allowed elsewhere are known.
    pub(super) fn choose(&mut self, place: usize, inputs: &[Input], with_disabled: bool) -> Option<Input> {
        self.known.extend(inputs.iter().cloned());
        let disabled: Vec<&Input> = match with_disabled && (inputs.is_empty() || self.random.u64(..DISABLED) == 0) {
            true => self.known.iter().filter(|input| !inputs.contains(input)).collect(),
            false => Vec::new(),
        };
        let among: Vec<&Input> = if disabled.is_empty() { inputs.iter().collect() } else { disabled };
        let count = |input: &Input| self.made.get(&(place, input.clone())).copied().unwrap_or(0);
        let least = among.iter().map(|input| count(input)).min()?;
        let rarest: Vec<&&Input> = among.iter().filter(|input| count(input) == least).collect();
        let chosen = (**rarest[self.random.usize(..rarest.len())]).clone();
        *self.made.entry((place, chosen.clone())).or_default() += 1;
        Some(chosen)
    }
}

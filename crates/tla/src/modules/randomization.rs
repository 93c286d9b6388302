//! `Randomization` and random elements. Every choice comes from the host's seed.

use super::args::{Args, set_of};
use super::{Host, Native, Operand};
use crate::datum::{self, Datum, LazySet};
use crate::error::{ErrorKind, EvalError, Result};
use crate::value::{Set, Value};

pub(super) const NATIVES: &[Native] = &[
    Native::new("Randomization", "RandomSubset", &[0, 0], |host, args| {
        let args = Args::new("RandomSubset", args);
        let (size, set) = (args.int(host, 0)?, args.set(host, 1)?);
        let Some(size) = usize::try_from(size).ok().filter(|&size| size <= set.len()) else {
            return Err(args.wrong(host, 0, "at most the size of the set"));
        };
        // Each of the first `size` positions takes one of the remaining elements.
        let mut rest = set.elements().to_vec();
        for place in 0..size {
            let other = place as u64 + host.world().random((rest.len() - place) as u64);
            rest.swap(place, other as usize);
        }
        rest.truncate(size);
        Ok(Value::set(rest)?.into())
    })
    .volatile(),
    Native::new("Randomization", "RandomSetOfSubsets", &[0, 0, 0], |host, args| {
        set_of(random_subsets(host, args, "RandomSetOfSubsets")?)
    })
    .volatile(),
    Native::new("Randomization", "TestRandomSetOfSubsets", &[0, 0, 0], |host, args| {
        let mut sizes = Vec::with_capacity(5);
        for _ in 0..5 {
            sizes.push(Value::Int(random_subsets(host, args, "TestRandomSetOfSubsets")?.len() as i64));
        }
        Ok(Value::seq(sizes).into())
    })
    .volatile(),
];

/// Picks as many subsets as the first argument says; each element is in a subset with the probability that makes the
/// average size the second argument.
fn random_subsets(host: &mut dyn Host, args: &[Operand], name: &'static str) -> Result<std::sync::Arc<Set>> {
    let args = Args::new(name, args);
    let (picks, average, set) = (args.int(host, 0)?, args.int(host, 1)?, args.set(host, 2)?);
    if picks < 0 {
        return Err(args.wrong(host, 0, "a natural number"));
    }
    if average < 0 || average > set.len() as i64 {
        return Err(args.wrong(host, 1, "between 0 and the size of the set"));
    }
    let mut subsets = Vec::new();
    for _ in 0..picks {
        host.tick()?;
        let subset = set.retain(|_| Ok((host.world().random(set.len() as u64) as i64) < average))?;
        subsets.push(Value::Set(subset));
    }
    Set::new(subsets)
}

/// A uniformly random element of a set. A large but regular set is not enumerated.
pub(super) fn random_element(host: &mut dyn Host, set: &Datum) -> Result<Value> {
    let lazy = match set {
        Datum::Set(lazy) => &**lazy,
        _ => {
            let set = datum::to_set(host, set)?;
            return one_of(host, &set).ok_or_else(no_element);
        }
    };
    match lazy {
        LazySet::Interval(low, high) if low <= high => {
            let width = high.abs_diff(*low).checked_add(1).ok_or_else(no_element)?;
            Ok(Value::Int(low.wrapping_add_unsigned(host.world().random(width))))
        }
        LazySet::Subsets(base) => {
            let base = datum::to_set(host, base)?;
            Ok(Value::Set(base.retain(|_| Ok(host.world().random(2) == 1))?))
        }
        LazySet::Functions(domain, range) => {
            let domain = datum::to_set(host, domain)?;
            let values = (0..domain.len()).map(|_| random_element(host, range)).collect::<Result<_>>()?;
            Ok(Value::function(domain, values))
        }
        LazySet::Product(sets) => {
            Ok(Value::seq(sets.iter().map(|set| random_element(host, set)).collect::<Result<_>>()?))
        }
        LazySet::Records(fields) => {
            let fields = fields.iter().map(|(name, set)| Ok((name.clone(), random_element(host, set)?)));
            Ok(Value::record(fields.collect::<Result<_>>()?))
        }
        _ => {
            let set = datum::to_set(host, set)?;
            one_of(host, &set).ok_or_else(no_element)
        }
    }
}

fn one_of(host: &mut dyn Host, set: &Set) -> Option<Value> {
    if set.is_empty() {
        return None;
    }
    let index = host.world().random(set.len() as u64);
    set.elements().get(index as usize).cloned()
}

fn no_element() -> Box<EvalError> {
    EvalError::new(ErrorKind::NoChoice, "cannot choose a random element of the empty set")
}

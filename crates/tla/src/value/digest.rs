//! 64-bit structural hashes, computed once for each node.
//!
//! A hash depends on the value and never on its address, so it is the same in every run.

use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHasher;

use crate::strings::Str;
use crate::value::Value;

/// The hash of a node, cached when first computed.
#[derive(Debug, Default)]
pub(super) struct Digest(AtomicU64); // 0: not computed yet.

impl Digest {
    /// The hash, if it is cached.
    #[inline]
    fn known(&self) -> Option<u64> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            digest => Some(digest),
        }
    }

    /// The hash, computed if it is not cached.
    #[inline]
    pub(super) fn get(&self, compute: impl FnOnce() -> u64) -> u64 {
        self.known().unwrap_or_else(|| {
            // A hash of 0 would be recomputed every time.
            let digest = compute().max(1);
            self.0.store(digest, Ordering::Relaxed);
            digest
        })
    }

    /// Whether two nodes are known to differ by their cached hashes.
    #[inline]
    pub(super) fn differs(&self, other: &Digest) -> bool {
        matches!((self.known(), other.known()), (Some(a), Some(b)) if a != b)
    }
}

impl Value {
    /// A structural hash. Equal values have equal hashes.
    #[inline]
    pub fn digest(&self) -> u64 {
        match self {
            Value::Bool(value) => mix(SEED, u64::from(*value)),
            Value::Int(value) => mix(SEED + 1, *value as u64),
            Value::Str(Str::Known(rank)) => mix(SEED + 2, u64::from(*rank)),
            Value::Str(Str::Made(text)) => mix(SEED + 3, BuildHasherDefault::<FxHasher>::default().hash_one(&**text)),
            Value::Model(model) => mix(SEED + 4, u64::from(model.name)),
            Value::Set(set) => set.digest(),
            Value::Seq(seq) => seq.digest(),
            Value::Fun(fun) => fun.digest(),
        }
    }
}

/// The hash of a sequence of values, for a node of this sort.
pub(super) fn of_row(sort: u64, values: &[Value]) -> u64 {
    values.iter().fold(mix(SEED ^ sort, values.len() as u64), |digest, value| mix(digest, value.digest()))
}

const SEED: u64 = 0x243f_6a88_85a3_08d3;

/// Folds the product of 128 bits, so that every bit of both depends on every bit of the other.
#[inline]
pub(super) fn mix(digest: u64, word: u64) -> u64 {
    let product = u128::from(digest ^ 0x1319_8a2e_0370_7344) * u128::from(word ^ 0xa409_3822_299f_31d0);
    (product as u64) ^ ((product >> 64) as u64).rotate_left(23) ^ digest.rotate_left(5)
}

//! Strings as small numbers, in TLC's order.
//!
//! TLC orders strings by first appearance, and `CHOOSE` depends on that order. So do we: the strings of the
//! configuration come first, then the identifiers of the modules, then their string literals, each in order of first
//! appearance; strings made at run time come after all of them, in alphabetical order, so that the order does not
//! depend on which thread made one first. The table is complete before anything runs and is never locked.

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// A string. Equal texts have equal representations as long as one [`Strings`] made them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Str {
    /// In the table, with this rank.
    Known(u32),
    /// Made at run time, and not in the table.
    Made(Arc<String>),
}

/// The table of strings known before anything runs.
#[derive(Debug, Clone, Default)]
pub struct Strings {
    texts: Vec<Arc<str>>,
    ranks: HashMap<Arc<str>, u32, FxBuildHasher>,
}

impl Strings {
    /// Adds a text to the end of the order unless it is already present.
    pub fn intern(&mut self, text: &str) -> Str {
        if let Some(&rank) = self.ranks.get(text) {
            return Str::Known(rank);
        }
        let rank = u32::try_from(self.texts.len()).expect("fewer than four billion strings");
        let text: Arc<str> = text.into();
        self.texts.push(text.clone());
        self.ranks.insert(text, rank);
        Str::Known(rank)
    }

    /// The string with this text, at run time.
    pub fn str(&self, text: &str) -> Str {
        match self.ranks.get(text) {
            Some(&rank) => Str::Known(rank),
            None => Str::Made(Arc::new(text.to_owned())),
        }
    }

    /// The text of a string.
    pub fn text<'a>(&'a self, string: &'a Str) -> &'a str {
        match string {
            Str::Known(rank) => &self.texts[*rank as usize],
            Str::Made(text) => text,
        }
    }
}

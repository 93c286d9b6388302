//! Strings as small numbers, in TLC's order.
//!
//! TLC orders strings by first appearance, and `CHOOSE` depends on that order. So do we: the strings of the
//! configuration come first, then the identifiers of the modules, then their string literals, each in order of first
//! appearance; strings made at run time come after all of them, in alphabetical order with numbers by their size, so that
//! the order does not depend on which thread made one first, and `n2` comes before `n10`, as in most files. The table is complete before anything runs and is never locked.

use std::cmp::Ordering;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// A string. Equal texts have equal representations as long as one [`Strings`] made them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Str {
    /// In the table, with this rank.
    Known(u32),
    /// Made at run time, and not in the table.
    Made(Arc<String>),
}

impl Ord for Str {
    fn cmp(&self, other: &Str) -> Ordering {
        match (self, other) {
            (Str::Known(a), Str::Known(b)) => a.cmp(b),
            (Str::Known(_), Str::Made(_)) => Ordering::Less,
            (Str::Made(_), Str::Known(_)) => Ordering::Greater,
            (Str::Made(a), Str::Made(b)) => compare_made(a.as_bytes(), b.as_bytes()),
        }
    }
}

impl PartialOrd for Str {
    fn partial_cmp(&self, other: &Str) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares where two texts differ first: numbers there by their number of digits, everything else by bytes.
fn compare_made(a: &[u8], b: &[u8]) -> Ordering {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let start = same - a[..same].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = |text: &[u8]| {
        let number = text[start..].iter().take_while(|byte| byte.is_ascii_digit());
        (start < text.len() && text[start].is_ascii_digit()).then(|| number.skip_while(|byte| **byte == b'0').count())
    };
    match (digits(a), digits(b)) {
        (Some(x), Some(y)) if x != y => x.cmp(&y),
        _ => a[same..].cmp(&b[same..]),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_made_strings_are_ordered_by_size() {
        let strings = Strings::default();
        let ordered = ["", "0", "00", "1", "10", "a", "n02", "n1", "n2", "n2a", "n10", "n10a9", "n10a10", "na", "o"];
        for (i, a) in ordered.iter().enumerate() {
            for (j, b) in ordered.iter().enumerate() {
                assert_eq!(strings.str(a).cmp(&strings.str(b)), i.cmp(&j), "{a} {b}");
            }
        }
    }
}

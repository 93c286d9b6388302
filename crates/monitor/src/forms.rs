//! Keys that occur as a number and as text with the same digits.
//!
//! `7` and `"7"` are two keys, and rarely two objects: JSON objects have text as keys, and many drivers return text. A
//! monitor separates keys before it checks them, so that no check sees both. It says so once. That is a mistake of a
//! recorder, which shows soon and often, so the first [`MOST`] keys of digits are enough.

use omnilink_history::Value;
use rustc_hash::FxHashMap;

use crate::item::Item;

/// At most this many keys of digits are remembered.
const MOST: usize = 4096;

/// The first operation with a key as a number, and as text.
type Both = [Option<String>; 2];

/// The forms of keys of digits.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    seen: FxHashMap<Value, Both>,
    is_told: bool,
}

impl Forms {
    /// Notices a new key of digits: its number, and whether it is text. Returns a sentence for the first one in both forms.
    pub(crate) fn notice(&mut self, (number, is_text): (Value, bool), item: &Item) -> Option<String> {
        if self.is_told || (self.seen.len() >= MOST && !self.seen.contains_key(&number)) {
            return None;
        }
        let places = self.seen.entry(number.clone()).or_default();
        places[usize::from(is_text)].get_or_insert_with(|| match item.seq {
            Some(seq) => format!("{}:{seq}", item.process),
            None => item.process.to_string(),
        });
        let [Some(as_number), Some(as_text)] = places else { return None };
        let sentence = format!(
            "the key {number} is a number in {as_number} and text in {as_text}: they are two keys here; record both in one \
             way, or make them one with the option `digits=number` of the specification"
        );
        self.is_told = true;
        self.seen = FxHashMap::default();
        Some(sentence)
    }
}

//! Keys that occur as a number and as text with the same digits.
//!
//! `7` and `"7"` are two keys, and rarely two objects: JSON objects have text as keys, and many drivers return text. A
//! monitor separates keys before it checks them, so that no check sees both. It reports this once. The cause is a mistake
//! in a recorder, which shows soon and often, so the first [`MOST`] keys of digits are enough.

use omnilink_history::Value;
use rustc_hash::FxHashMap;

use crate::item::Item;

/// The maximum number of keys of digits to remember.
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
    /// Notes a new key of digits: its number, and whether it is text. Returns a sentence for the first key in both forms.
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

#[cfg(test)]
mod tests {
    use omnilink_history::{Call, End};

    use super::*;

    /// Notes keys one after the other: numbers, and whether each is text. Returns the sentences.
    fn check(keys: impl IntoIterator<Item = (i64, bool)>) -> Vec<String> {
        let mut forms = Forms::default();
        let notice = |(seq, (number, is_text)): (u64, (i64, bool))| {
            let call = Call::positional("read", [], []);
            let item = Item { process: "a".into(), seq: Some(seq), start: 1, end: End::At(2), call };
            forms.notice((Value::Int(number), is_text), &item)
        };
        (0..).zip(keys).filter_map(notice).collect()
    }

    #[test]
    fn the_first_key_in_both_forms_is_said_once() {
        let said = check([(7, false), (8, true), (7, false), (7, true), (8, false), (7, false)]);
        assert_eq!(said.len(), 1);
        assert!(
            said[0].starts_with("the key 7 is a number in a:0 and text in a:3: they are two keys here"),
            "{said:?}"
        );
        assert!(check([(7, false), (8, true), (9, false)]).is_empty());
    }

    #[test]
    fn a_limited_number_of_keys_is_remembered() {
        let many = || (0..MOST as i64).map(|number| (number, false));
        // The remembered keys are still compared, and others are not.
        assert_eq!(check(many().chain([(5, true)])).len(), 1);
        assert!(check(many().chain([(-1, false), (-1, true)])).is_empty());
        assert_eq!(check(many().skip(1).chain([(-1, false), (-1, true)])).len(), 1);
    }
}

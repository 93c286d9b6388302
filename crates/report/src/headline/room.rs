//! The length of a sentence: values and expressions are cut until it fits.

use unicode_width::UnicodeWidthStr;

use super::blame::one_line;
use crate::data::Field;
use crate::wording::{brief, clean, list, sorted};

/// The maximum width of a sentence.
pub(super) const LONGEST: usize = 100;

/// The maximum number of values in a list of alternatives.
const ALTERNATIVES: usize = 3;

/// The widths of values and of expressions, tried in this order.
const WIDTHS: [(usize, usize); 5] = [(40, 60), (28, 48), (20, 40), (14, 30), (8, 20)];

/// The room for values and for expressions, and the names whose values take their place in expressions.
#[derive(Clone, Copy)]
pub(super) struct Room<'a> {
    value: usize,
    code: usize,
    bound: [&'a [Field]; 2],
}

impl<'a> Room<'a> {
    /// As much as a line of proof has.
    pub(super) fn wide() -> Room<'a> {
        Room { value: 60, code: 90, bound: [&[], &[]] }
    }

    pub(super) fn value(&self, text: &str) -> String {
        brief(text, self.value)
    }

    /// True if a value is not cut.
    pub(super) fn has(&self, text: &str) -> bool {
        text.width() <= self.value
    }

    /// All of several values.
    pub(super) fn all(&self, values: &[&str]) -> String {
        let values: Vec<String> = sorted(values).into_iter().map(|value| self.value(value)).collect();
        list(&values, "and", ALTERNATIVES)
    }

    /// The width of values.
    pub(super) fn width(&self) -> usize {
        self.value
    }

    /// An expression, with the values of bound names put in: `map[3]` for `map[key]`.
    pub(super) fn code(&self, text: &str) -> String {
        brief(&concrete(&one_line(text), self.bound, self.value), self.code)
    }

    /// Alternatives, in order: `26, 33 or 36`.
    pub(super) fn either(&self, values: &[&str]) -> String {
        let values: Vec<String> = sorted(values).into_iter().map(|value| self.value(value)).collect();
        list(&values, "or", ALTERNATIVES)
    }
}

/// The first of several sentences that fits, with values cut as little as possible.
pub(super) fn fitting<'a>(bound: [&'a [Field]; 2], sentences: &[&dyn Fn(Room<'a>) -> Option<String>]) -> String {
    let mut last = String::new();
    for (value, code) in WIDTHS {
        for sentence in sentences {
            let Some(sentence) = sentence(Room { value, code, bound }) else { continue };
            if sentence.width() <= LONGEST {
                return sentence;
            }
            last = sentence;
        }
    }
    brief(&last, LONGEST)
}

/// An expression with values in the place of names, if they are short. Strings, and names of fields and of records whose field is read, stay.
fn concrete(text: &str, bound: [&[Field]; 2], width: usize) -> String {
    let named = |word: &str| bound.iter().copied().flatten().find(|field| !field.name.is_empty() && field.name == word);
    let (mut out, mut rest, mut is_string) = (String::new(), text, false);
    while let Some(c) = rest.chars().next() {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let length = if is_string { 0 } else { rest.find(|c| !is_part(c)).unwrap_or(rest.len()) };
        let (word, after) = rest.split_at(length.max(c.len_utf8()));
        let is_field = out.ends_with('.') || after.starts_with('.') || after.trim_start().starts_with("|->");
        let fits = |field: &&Field| length > 0 && !is_field && field.value.width() <= width;
        out.push_str(&named(word).filter(fits).map_or(word.to_owned(), |field| clean(&field.value)));
        is_string ^= c == '"';
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_names_have_values() {
        let field = |name: &str, value: &str| Field { name: name.into(), value: value.into() };
        let args = [field("key", "3"), field("tx", "\"t1\"")];
        let shown = |text: &str| concrete(text, [&args, &[]], 40);
        insta::assert_snapshot!(shown("open[tx].sees[key]"), @r#"open["t1"].sees[3]"#);
        insta::assert_snapshot!(shown("[tx |-> tx, key |-> \"key\"] = tx.key"), @r#"[tx |-> "t1", key |-> "key"] = tx.key"#);
    }

    #[test]
    fn a_sentence_has_a_hundred_columns() {
        let long = "x".repeat(300);
        let made = fitting([&[], &[]], &[&|room| Some(format!("`{}` is {}", room.code(&long), room.value(&long)))]);
        assert_eq!(made.width(), 48 + 28 + "`` is ".len());
        assert_eq!(fitting([&[], &[]], &[&|_| Some(long.clone())]).width(), LONGEST);
        insta::assert_snapshot!(Room::wide().either(&["33", "nil", "26", "36"]), @"26, 33 or 2 others");
    }
}

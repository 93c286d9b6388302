//! Words of messages: suggestions for misspelled names, by one similarity measure for every name that a user types, and
//! nouns after numbers.
//!
//! ```
//! let models = ["register", "queue", "stack"];
//! assert_eq!(omnilink_suggest::closest("regsiter", models), Some("register"));
//! assert_eq!(omnilink_suggest::hint("quue", models).as_deref(), Some("did you mean `queue`?"));
//! assert_eq!(omnilink_suggest::hint("map", models), None);
//! assert_eq!(omnilink_suggest::counted(2, "model"), "2 models");
//! ```

mod counts;

pub use counts::{counted, plural};

/// The candidate closest to a name, or `None` if all are too far from it: at most one edit per four characters. Case
/// does not count. A name is not a suggestion for itself, and a name of at most two characters is close to too many
/// others.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest(name, candidates, |length, _| (length / 4).max(1))
}

/// The candidate with the fewest edits, given the most that are allowed for the length of the name and the length of
/// their common prefix.
fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    most: impl Fn(usize, usize) -> usize,
) -> Option<&'a str> {
    let (lower, length) = (name.to_lowercase(), name.chars().count());
    let edits = |candidate: &'a str| {
        let other = candidate.to_lowercase();
        let common = lower.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
        let edits = strsim::damerau_levenshtein(&lower, &other);
        (edits <= most(length, common)).then_some((edits, candidate))
    };
    let others = candidates.into_iter().filter(|candidate| length > 2 && *candidate != name);
    others.filter_map(edits).min().map(|(_, nearest)| nearest)
}

/// A question to the user: the closest candidate, or one that begins with half of the name and has at most three edits
/// after it.
pub fn hint<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let most = |length: usize, common: usize| (length / 4).max(if 2 * common >= length { 3 } else { 1 });
    nearest(name, candidates, most).map(|nearest| format!("did you mean `{nearest}`?"))
}

/// [`hint`] as a suffix of a message; empty if there is no suggestion.
pub fn aside<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    hint(name, candidates).map(|hint| format!("; {hint}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_recognized() {
        let check = |name| closest(name, ["register", "cas-register", "kv", "set"]);
        assert_eq!(check("regster"), Some("register"));
        assert_eq!(check("Regsiter"), Some("register"));
        assert_eq!(check("sets"), Some("set"));
        assert_eq!(check("SET"), Some("set"));
        assert_eq!(closest("Elements", ["Elems"]), None);
        for other in ["queue", "mutex", "set", "kx", ""] {
            assert_eq!(check(other), None, "{other}");
        }
    }

    #[test]
    fn a_hint_is_a_question() {
        assert_eq!(hint("Enqeue", ["Dequeue", "Enqueue"]).as_deref(), Some("did you mean `Enqueue`?"));
        assert_eq!(hint("Elements", ["Elems"]).as_deref(), Some("did you mean `Elems`?"));
        assert_eq!(aside("Enqeue", ["Enqueue"]), "; did you mean `Enqueue`?");
        assert_eq!(aside("Pop", ["Enqueue"]), "");
    }
}

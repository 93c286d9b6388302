//! What a misspelled name was probably meant to be: one measure for every name that a user types.

/// The candidate that is nearest to a name, unless all are too far from it to be meant: at most one slip in two to four
/// characters, and one more in every three after that. Capitals do not count, and a name is not a suggestion for itself.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (lower, length) = (name.to_lowercase(), name.chars().count());
    let distance = |candidate: &str| strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
    let most = (length + 1) / 3;
    let others = candidates.into_iter().filter(|candidate| *candidate != name);
    let near = others.map(|candidate| (distance(candidate), candidate)).filter(|(distance, _)| *distance <= most);
    near.min().map(|(_, nearest)| nearest)
}

/// The same as a question to the user.
pub fn hint<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    closest(name, candidates).map(|closest| format!("did you mean `{closest}`?"))
}

/// The same behind a message; empty if there is nothing to suggest.
pub fn aside<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    hint(name, candidates).map(|hint| format!("; {hint}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognized() {
        let check = |name| closest(name, ["register", "cas-register", "kv", "set", "x"]);
        assert_eq!(check("regster"), Some("register"));
        assert_eq!(check("Regsiter"), Some("register"));
        assert_eq!(check("kx"), Some("kv"));
        assert_eq!(check("sets"), Some("set"));
        assert_eq!(check("KV"), Some("kv"));
        assert_eq!(check("X"), Some("x"));
        assert_eq!(closest("Elements", ["Elems"]), Some("Elems"));
        for other in ["queue", "mutex", "set", "y", ""] {
            assert_eq!(check(other), None, "{other}");
        }
    }

    #[test]
    fn a_hint_is_a_question() {
        assert_eq!(hint("Enqeue", ["Dequeue", "Enqueue"]).as_deref(), Some("did you mean `Enqueue`?"));
        assert_eq!(aside("Enqeue", ["Enqueue"]), "; did you mean `Enqueue`?");
        assert_eq!(aside("Pop", ["Enqueue"]), "");
    }
}

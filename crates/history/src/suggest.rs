//! What a misspelled name was probably meant to be.

/// The candidate that is nearest to a name, unless all are too far from it to be meant. Capitals do not count.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let distance = |candidate: &str| strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
    let slips = 1 + name.chars().count() / 4;
    let near = candidates.into_iter().map(|candidate| (distance(candidate), candidate));
    near.filter(|(distance, _)| *distance <= slips).min_by_key(|(distance, _)| *distance).map(|(_, nearest)| nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognized() {
        let models = ["register", "cas-register", "kv", "set"];
        let check = |name| closest(name, models);
        assert_eq!(check("regster"), Some("register"));
        assert_eq!(check("Regsiter"), Some("register"));
        assert_eq!(check("kx"), Some("kv"));
        assert_eq!(check("sets"), Some("set"));
        assert_eq!(check("queue"), None);
        assert_eq!(check("mutex"), None);
        assert_eq!(check(""), None);
    }
}

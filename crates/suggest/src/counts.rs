//! Nouns after numbers.

/// A number of things: `1 process`, `2 processes`.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {}", plural(count, noun))
}

/// A noun in the form that it has after a number: `process` after 1, `processes` after any other.
pub fn plural(count: u64, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if count == 1 => noun.to_owned(),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if noun.ends_with(['s', 'x']) || noun.ends_with("ch") || noun.ends_with("sh") => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_have_the_form_of_their_number() {
        let nouns = [(0, "operation"), (1, "process"), (2, "process"), (3, "history"), (4, "way"), (5, "switch")];
        let counts = nouns.map(|(count, noun)| counted(count, noun));
        assert_eq!(counts, ["0 operations", "1 process", "2 processes", "3 histories", "4 ways", "5 switches"]);
    }
}

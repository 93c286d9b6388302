//! Maps messages of TLC to our kinds of errors.
//!
//! TLC has no error classes for mistakes in expressions, so this is a table of substrings of its messages. It serves
//! readers of the recorded answers, and tests that need more than "an error"; an unrecognized message is `Other`.

/// What a message contains, and the sort of mistake that it then is. The first row that matches counts.
const KINDS: &[(&[&str], &str)] = &[
    (&["Parse Error", "Parsing or semantic analysis failed", "Lexical error", "Semantic errors"], "Syntax"),
    (&["a number this big", "real numbers"], "Unsupported"),
    (&["Overflow", "is 0.", "positive number", "0^0", "^ should be a natural"], "Arithmetic"),
    (&["but no element of S satisfied", "CASE with no conditions true", "CASE with no"], "NoChoice"),
    (&["argument of Assert evaluated to FALSE"], "Assertion"),
    (&["identifier", "not completely specified", "not a legal state"], "Unassigned"),
    (
        &[
            "not in its domain",
            "nonexistent",
            "out of domain",
            "out of bounds",
            "empty seq",
            "in the domain",
            "was undefined",
        ],
        "OutsideDomain",
    ),
    (&["to compare", "check equality", "overridden value"], "Incomparable"),
    (&["enumerable", "unbounded", "enumerate", "cardinality of the value"], "NotEnumerable"),
    (&["StackOverflow", "OutOfMemory"], "Limit"),
    (
        &[
            "boolean",
            "should be",
            "expected",
            "to apply",
            "when P",
            "when Q",
            "element",
            "not a sequence",
            "Attempted to",
        ],
        "WrongKind",
    ),
];

/// The sort of mistake that a message of TLC is about.
pub(super) fn of(message: &str) -> &'static str {
    let matches = |words: &[&str]| words.iter().any(|word| message.contains(word));
    KINDS.iter().find(|(words, _)| matches(words)).map_or("Other", |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_the_kind() {
        assert_eq!(of("The second argument of \\div is 0."), "Arithmetic");
        assert_eq!(of("Attempted to check equality of integer 1 with non-integer: \"a\""), "Incomparable");
        assert_eq!(of("something else"), "Other");
    }
}

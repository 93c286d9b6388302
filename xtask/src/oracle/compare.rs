//! Compares two answers to one question.

use std::fmt;

/// A question with two different answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// The expression, or the name of the spec.
    pub(super) question: String,
    /// The source of the first answer.
    pub(super) left: (&'static str, String),
    /// The source of the second answer.
    pub(super) right: (&'static str, String),
}

impl Difference {
    /// The difference between two answers, if there is one.
    pub(super) fn between(
        question: &str,
        (left, expected): (&'static str, &str),
        (right, found): (&'static str, &str),
    ) -> Option<Difference> {
        (expected != found).then(|| Difference {
            question: question.to_owned(),
            left: (left, expected.to_owned()),
            right: (right, found.to_owned()),
        })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { question, left, right } = self;
        let width = left.0.len().max(right.0.len());
        write!(f, "{question}\n  {:width$}  {}\n  {:width$}  {}", left.0, left.1, right.0, right.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_answers_are_no_difference() {
        assert_eq!(Difference::between("1 + 1", ("recorded", "2"), ("TLC", "2")), None);
        let difference = Difference::between("1 + 1", ("recorded", "2"), ("TLC", "3")).expect("a difference");
        insta::assert_snapshot!(difference, @"
        1 + 1
          recorded  2
          TLC       3
        ");
    }
}

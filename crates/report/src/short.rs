//! Short names of operations: the action, its arguments and its results without punctuation: `Put 3, 10`,
//! `Contains 3 → TRUE`.

use unicode_width::UnicodeWidthStr;

use crate::data::{Ended, Field, Operation};
use crate::wording::brief;

/// The widths of values in a name that has to fit, tried in this order.
const VALUES: [usize; 4] = [40, 24, 16, 10];

impl Operation {
    /// The short name, with each value in at most `most` columns.
    pub(crate) fn short(&self, most: usize) -> String {
        let results = match self.results.is_empty() {
            true => String::new(),
            false => format!(" → {}", values(&self.results, most)),
        };
        let ended = match self.outcome {
            Some(Ended::Failed) => " failed",
            Some(Ended::Blocked) => " blocked",
            Some(Ended::Unfinished) | None => "",
        };
        format!("{}{results}{ended}", self.call(most))
    }

    /// The action and its arguments.
    pub(crate) fn call(&self, most: usize) -> String {
        let action = brief(&self.action, most.max(24));
        match self.args.is_empty() {
            true => action,
            false => format!("{action} {}", values(&self.args, most)),
        }
    }

    /// The longest short name of at most `room` columns: values are cut, then the arguments are left out, then the end.
    pub(crate) fn short_within(&self, room: usize) -> String {
        let names = VALUES.iter().map(|&most| self.short(most));
        let without = Operation { args: Vec::new(), action: format!("{} …", self.action), ..self.clone() };
        let without = (!self.args.is_empty() && !self.results.is_empty()).then(|| without.short(10));
        let found = names.chain(without).find(|name| name.width() <= room);
        found.unwrap_or_else(|| brief(&self.short(VALUES[0]), room))
    }

    /// The line of its file, if it is an event of a log: events are points in time, and their line comes first.
    pub(crate) fn line(&self) -> Option<&str> {
        let is_event = self.end == Some(self.start);
        self.meta.first().filter(|field| is_event && field.name == "line").map(|field| field.value.as_str())
    }
}

fn values(fields: &[Field], most: usize) -> String {
    fields.iter().map(|field| brief(&field.value, most)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_without_a_cut_in_their_middle() {
        let field = |value: &str| Field { name: "x".into(), value: value.into() };
        let op = Operation {
            name: "c:1".into(),
            process: "c".into(),
            text: String::new(),
            action: "Learn".into(),
            args: vec![field("\"t3\""), field("{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}")],
            results: vec![field("\"abort\"")],
            start: 1,
            end: Some(2),
            outcome: None,
            meta: Vec::new(),
        };
        let names = [60, 36, 20, 12].map(|room| op.short_within(room));
        insta::assert_snapshot!(names.join("\n"), @r#"
        Learn "t3", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10} → "abort"
        Learn "t3", {1, 2, 3,… → "abort"
        Learn … → "abort"
        Learn "t3",…
        "#);
    }
}

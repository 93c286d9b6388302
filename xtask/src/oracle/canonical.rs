//! One text for each value.
//!
//! TLC prints a value in its current representation: an interval may stay an interval, the fields of a record and the
//! arguments of a function keep the order in which they were written until they are sorted, and an empty function is
//! `<< >>` where an empty tuple is `<<>>`. TLA+ cannot distinguish these representations, so this module removes the
//! differences. The order of the elements of a set stays, because `CHOOSE` depends on it.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The text of a value with intervals written out, and fields and arguments sorted.
pub(super) fn canonical(value: &str) -> String {
    static INTERVAL: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(-?\d+)\.\.(-?\d+)").expect("the pattern is well formed"));
    let write_out = |ends: &Captures<'_>| -> String {
        let (Ok(low), Ok(high)) = (ends[1].parse::<i64>(), ends[2].parse::<i64>()) else { return ends[0].to_owned() };
        let numbers: Vec<_> = (low..=high).map(|number| number.to_string()).collect();
        format!("{{{}}}", numbers.join(", "))
    };
    sorted(&INTERVAL.replace_all(value, write_out))
}

/// Opening, closing, what stands between, what parts a name from its value, and whether the order means nothing.
const GROUPS: [(&str, &str, &str, &str, bool); 4] = [
    ("<<", ">>", ", ", "", false),
    ("{", "}", ", ", "", false),
    ("[", "]", ", ", " |-> ", true),
    ("(", ")", " @@ ", " :> ", true),
];

fn sorted(value: &str) -> String {
    let inside = |(open, close, between, arrow, is_unordered)| {
        let inner: &str = value.strip_prefix(open)?.strip_suffix(close)?;
        Some((open, close, between, arrow, is_unordered, split(inner, between)?))
    };
    let Some((open, close, between, arrow, is_unordered, parts)) = GROUPS.into_iter().find_map(inside) else {
        return value.to_owned();
    };
    let part = |part: &str| {
        let pair = if arrow.is_empty() { None } else { split(part, arrow) };
        match pair.as_deref() {
            Some([key, value]) => format!("{}{arrow}{}", sorted(key), sorted(value)),
            _ => sorted(part),
        }
    };
    let mut parts: Vec<_> = parts.into_iter().map(part).collect();
    if is_unordered {
        parts.sort();
    }
    format!("{open}{}{close}", parts.join(between).trim())
}

/// The parts between separators that are neither in brackets nor in strings; none if the brackets do not match.
fn split<'a>(text: &'a str, separator: &str) -> Option<Vec<&'a str>> {
    let (mut parts, mut start, mut depth, mut at) = (Vec::new(), 0, 0_usize, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if depth == 0 && rest.starts_with(separator) {
            parts.push(&text[start..at]);
            at += separator.len();
            start = at;
            continue;
        }
        at += match rest.as_bytes()[0] {
            b'"' => string_len(rest)?,
            _ => match GROUPS.iter().find(|group| rest.starts_with(group.0) || rest.starts_with(group.1)) {
                Some(group) => {
                    depth = if rest.starts_with(group.0) { depth + 1 } else { depth.checked_sub(1)? };
                    group.0.len()
                }
                None => rest.chars().next()?.len_utf8(),
            },
        };
    }
    parts.push(&text[start..]);
    (depth == 0).then_some(parts)
}

/// How long the string is that a text begins with.
fn string_len(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !is_escaped => return Some(index + 1),
            _ => is_escaped = byte == b'\\' && !is_escaped,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_text() {
        insta::assert_snapshot!(canonical("<<1..3, {2}, 4..1>>"), @"<<{1, 2, 3}, {2}, {}>>");
        insta::assert_snapshot!(canonical("-1..1"), @"{-1, 0, 1}");
        insta::assert_snapshot!(canonical("{<< >>}"), @"{<<>>}");
        insta::assert_snapshot!(
            canonical(r#"<<[g |-> "], f |-> ", f |-> (2 :> {} @@ 1 :> [b |-> 1, a |-> 2])]>>"#),
            @r#"<<[f |-> (1 :> [a |-> 2, b |-> 1] @@ 2 :> {}), g |-> "], f |-> "]>>"#
        );
        insta::assert_snapshot!(canonical("{2, 1} \\cup {3}"), @r"{2, 1} \cup {3}");
    }
}

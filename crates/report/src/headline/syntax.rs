//! Expressions of TLA+ and printed values as text: the parts that a sentence names.

/// The name that an expression begins with: `open` of `open[tx].sees`.
pub(super) fn root(text: &str) -> &str {
    text.split(['[', '.']).next().unwrap_or_default()
}

/// True if an expression is a variable or a part of one, such as `queues[p].items`: an operation can find such a place
/// empty. Of other expressions it knows nothing.
pub(super) fn is_place(text: &str) -> bool {
    let mut depth = 0_usize;
    text.chars().all(|c| {
        let is_inside = depth > 0;
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_inside || c.is_alphanumeric() || matches!(c, '_' | '.' | '[')
    })
}

/// The element of a set, as printed, that has the most words in common with a value that is not simple.
pub(super) fn nearest<'s>(set: &'s str, value: &str) -> Option<&'s str> {
    let words: Vec<&str> = tokens(value).collect();
    let common = |element: &&str| tokens(element).filter(|token| words.contains(token)).count();
    let best = elements(set)?.into_iter().max_by_key(common)?;
    (words.len() > 2 && common(&best) * 2 > words.len()).then_some(best)
}

/// A text without brackets around all of it.
pub(super) fn unwrapped(text: &str) -> &str {
    let inside = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let mut depth = 0_usize;
    let is_whole = |inside: &&str| {
        inside.chars().all(|c| {
            depth += usize::from(c == '(');
            let is_inside = c != ')' || depth > 0;
            depth -= usize::from(c == ')' && depth > 0);
            is_inside
        })
    };
    inside.filter(is_whole).unwrap_or(text)
}

pub(super) fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_') && text.chars().any(char::is_alphabetic)
}

/// True for a name, or a field of one.
pub(super) fn is_path(text: &str) -> bool {
    text.split('.').all(is_name)
}

pub(super) fn is_empty(text: &str) -> bool {
    matches!(text, "<<>>" | "{}" | "<< >>" | "{ }")
}

pub(super) fn is_literal(text: &str) -> bool {
    is_empty(text)
        || matches!(text, "TRUE" | "FALSE")
        || text.parse::<i64>().is_ok()
        || (text.len() > 1 && text.starts_with('"') && text.ends_with('"'))
}

/// The elements of a sequence or a set, as printed.
pub(super) fn elements(value: &str) -> Option<Vec<&str>> {
    let inside = [("<<", ">>"), ("{", "}")]
        .into_iter()
        .find_map(|(open, close)| value.strip_prefix(open)?.strip_suffix(close))?;
    Some(split(inside, ",").into_iter().map(str::trim).filter(|element| !element.is_empty()).collect())
}

/// Names and numbers in a text.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '"'))).filter(|token| !token.is_empty())
}

/// The two sides of a comparison and its sign, if the text is one as a whole.
pub(super) fn relation(text: &str) -> Option<(&str, &str, &str)> {
    let text = unwrapped(text.trim());
    const SIGNS: [&str; 10] = [" = ", " # ", " /= ", " <= ", " >= ", " =< ", " < ", " > ", " \\in ", " \\notin "];
    const JOINTS: [&str; 6] = ["/\\", "\\/", "=>", "~", "\\A", "\\E"];
    if JOINTS.iter().any(|joint| split(text, joint).len() > 1) || text.starts_with("IF ") || text.starts_with("LET ") {
        return None;
    }
    SIGNS.iter().find_map(|sign| match split(text, sign)[..] {
        [left, right] => Some((left.trim(), sign.trim(), right.trim())),
        _ => None,
    })
}

/// The pieces of a text between separators that are not inside brackets or strings.
pub(super) fn split<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let (mut depth, mut is_string, mut from, mut at) = (0_usize, false, 0, 0);
    let mut pieces = Vec::new();
    while at < text.len() {
        let rest = &text[at..];
        if depth == 0 && !is_string && rest.starts_with(separator) {
            pieces.push(&text[from..at]);
            at += separator.len();
            from = at;
            continue;
        }
        let opens = ["<<", "(", "[", "{"].into_iter().find(|open| rest.starts_with(open));
        let closes = [">>", ")", "]", "}"].into_iter().find(|close| rest.starts_with(close));
        let step = match (is_string, opens, closes) {
            (true, ..) => 1,
            (false, Some(open), _) => {
                depth += 1;
                open.len()
            }
            (false, None, Some(close)) => {
                depth = depth.saturating_sub(1);
                close.len()
            }
            (false, None, None) => 1,
        };
        is_string ^= rest.starts_with('"');
        at += if step > 1 { step } else { rest.chars().next().map_or(1, char::len_utf8) };
    }
    pieces.push(&text[from..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_split_where_they_are_whole() {
        let shown = |text: &str| format!("{:?}", relation(text));
        insta::assert_snapshot!(shown("elem = Head(queue)"), @r#"Some(("elem", "=", "Head(queue)"))"#);
        insta::assert_snapshot!(shown("f[x = 1] = <<a, b>>"), @r#"Some(("f[x = 1]", "=", "<<a, b>>"))"#);
        insta::assert_snapshot!(shown("a = 1 /\\ b = 2"), @"None");
        insta::assert_snapshot!(shown("x \\notin {\" = \"}"), @r#"Some(("x", "\\notin", "{\" = \"}"))"#);
        assert_eq!(split("1, <<2, 3>>, é", ","), ["1", " <<2, 3>>", " é"]);
        assert_eq!([unwrapped("(a \\in b)"), unwrapped("(a) = (b)")], ["a \\in b", "(a) = (b)"]);
        let set = "{[from |-> 1, says |-> \"no\"], [from |-> 2, says |-> \"yes\"]}";
        assert!(nearest(set, "[from |-> 2, says |-> \"no\"]").is_some());
        assert_eq!(nearest("{1, 2}", "3"), None);
    }
}

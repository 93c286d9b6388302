//! The text of one call, such as `put("k", [1, 2])`: a name, then arguments in parentheses.
//!
//! Arguments are not understood, only delimited: brackets match, and text in double quotes is skipped as in JSON. Two
//! texts of one call differ at most in spaces outside of quotes, so a call is written with a space after each comma
//! and no other.

use std::iter::Peekable;
use std::str::CharIndices;

/// Reads one call. Returns it with its spaces made uniform, and the rest of the text; or the byte at which it breaks
/// off, and the expected text there.
pub(crate) fn read(text: &str) -> Result<(String, &str), (usize, &'static str)> {
    let mut chars = text.char_indices().peekable();
    let mut call = String::new();
    while let Some((_, c)) = chars.next_if(|(_, c)| is_in_name(*c)) {
        call.push(c);
    }
    if call.is_empty() {
        return Err((0, "a call"));
    }
    while chars.next_if(|(_, c)| c.is_whitespace()).is_some() {}
    let here = |chars: &mut Peekable<CharIndices<'_>>| chars.peek().map_or(text.len(), |(at, _)| *at);
    if chars.peek().is_none_or(|(_, c)| *c != '(') {
        return Err((here(&mut chars), "`(`"));
    }
    let mut open = Vec::new();
    while let Some((at, c)) = chars.next() {
        match c {
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            ')' | ']' | '}' if open.pop() != Some(c) => return Err((at, "a matching bracket")),
            '"' => {
                call.push('"');
                read_string(&mut chars, &mut call).ok_or((text.len(), "`\"`"))?;
                continue;
            }
            _ => {}
        }
        if !c.is_whitespace() {
            call.push(c);
        }
        if c == ',' {
            call.push(' ');
        }
        if open.is_empty() {
            return Ok((call, &text[here(&mut chars)..]));
        }
    }
    Err((text.len(), if open.last() == Some(&')') { "`)`" } else { "a closing bracket" }))
}

/// The call with its spaces made uniform, if the text is one call and nothing else.
pub(crate) fn normalize(text: &str) -> Option<String> {
    let (call, rest) = read(text.trim()).ok()?;
    rest.is_empty().then_some(call)
}

fn is_in_name(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | '"' | '|' | ',')
}

/// Reads the rest of a string, with its closing quote.
fn read_string(chars: &mut Peekable<CharIndices<'_>>, call: &mut String) -> Option<()> {
    loop {
        let (_, c) = chars.next()?;
        call.push(c);
        match c {
            '"' => return Some(()),
            '\\' => call.push(chars.next()?.1),
            '\n' => return None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> String {
        match read(text) {
            Ok((call, rest)) => format!("{call} then `{rest}`"),
            Err((at, expected)) => format!("expected {expected} at {at}"),
        }
    }

    #[test]
    fn brackets_and_quotes_delimit_calls() {
        insta::assert_snapshot!(check("add(200) try_take()"), @"add(200) then ` try_take()`");
        insta::assert_snapshot!(check(r#"put("a) || }\" ,b" ,[ 1,{2} ])x"#), @r#"put("a) || }\" ,b", [1, {2}]) then `x`"#);
        insta::assert_snapshot!(check("put (1,2)"), @"put(1, 2) then ``");
    }

    #[test]
    fn broken_calls_name_the_place() {
        insta::assert_snapshot!(check("|| add(1)"), @"expected a call at 0");
        insta::assert_snapshot!(check("add"), @"expected `(` at 3");
        insta::assert_snapshot!(check("add x()"), @"expected `(` at 4");
        insta::assert_snapshot!(check("add(1"), @"expected `)` at 5");
        insta::assert_snapshot!(check("add([1"), @"expected a closing bracket at 6");
        insta::assert_snapshot!(check("add([1)"), @"expected a matching bracket at 6");
        insta::assert_snapshot!(check(r#"add("\""#), @r#"expected `"` at 7"#);
    }

    #[test]
    fn a_call_is_the_whole_text() {
        assert_eq!(normalize(" put( 1,2 ) ").as_deref(), Some("put(1, 2)"));
        assert_eq!(normalize("put() take()"), None);
        assert_eq!(normalize(""), None);
    }
}

//! Numbers, lists and foreign text, as every renderer writes them.
//!
//! Names and values come from traces, whose content is not trusted. [`clean`] makes them one line of visible
//! characters, so that they can neither control a terminal nor imitate our output. Every text from a report passes
//! through it exactly once in a renderer.

use omnilink_suggest::plural;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A number with separated thousands: `1,234,567`.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number of things, with separated thousands: `1 process`, `2,000 processes`.
pub(crate) fn count(many: u64, thing: &str) -> String {
    format!("{} {}", number(many), plural(many, thing))
}

/// A duration, with a sensible precision.
pub fn duration(seconds: f64) -> String {
    match seconds {
        _ if seconds < 0.001 => format!("{:.1} ms", seconds * 1e3),
        _ if seconds < 1.0 => format!("{:.0} ms", seconds * 1e3),
        _ if seconds < 100.0 => format!("{seconds:.1} s"),
        _ => format!("{} s", number(seconds as u64)),
    }
}

/// Foreign text on one line, with everything escaped that is invisible or changes how the rest is displayed.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if is_invisible(c) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out
}

/// JSON with the same meaning, in which no string holds a character that is invisible or changes how the rest is
/// displayed. Line ends between the tokens stay.
pub fn visible_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && is_invisible(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Controls, marks of direction, joiners, separators of lines, and tags.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Clean text of at most `width` columns, with the number of omitted characters.
pub(crate) fn short(text: &str, width: usize) -> String {
    let text = clean(text);
    if text.width() <= width {
        return text;
    }
    let end = column(&text, width);
    format!("{}... ({} more)", &text[..end], number(text[end..].chars().count() as u64))
}

/// Clean text of at most `width` columns, with its end cut off.
pub(crate) fn brief(text: &str, width: usize) -> String {
    let text = clean(text);
    if text.width() <= width { text } else { format!("{}…", text[..column(&text, width - 1)].trim_end()) }
}

/// Values in order: numbers first, by size.
pub(crate) fn sorted<'t>(values: &[&'t str]) -> Vec<&'t str> {
    let mut values = values.to_vec();
    values.sort_by_cached_key(|value| (value.parse::<i64>().map_or((true, 0), |number| (false, number)), *value));
    values
}

/// The byte offset at which a text reaches a width.
pub(crate) fn column(text: &str, width: usize) -> usize {
    let mut columns = 0;
    let overflow = text.char_indices().find(|(_, c)| {
        columns += c.width().unwrap_or(0);
        columns > width
    });
    overflow.map_or(text.len(), |(at, _)| at)
}

/// Pads to a width.
pub(crate) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// Says how far orders get, where only the end of the history forces an operation to be placed.
pub fn longest_orders(explained: u64, blocked: &[String]) -> String {
    let placed = match explained {
        0 => "no order can begin".to_owned(),
        _ => format!("no order places more than {}", count(explained, "operation")),
    };
    match blocked {
        [] => placed,
        _ => format!("{placed}: {} cannot be next", list(blocked, "and", NAMED)),
    }
}

/// The maximum number of operations named in one sentence.
const NAMED: usize = 4;

/// The line and the column of a byte of a text, in characters and both from 1; of its end if no character begins there.
pub fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

/// A list: `a, b or c`, or `a, b or 3 others` if there are more than `most`.
pub(crate) fn list(items: &[String], word: &str, most: usize) -> String {
    let shown = if items.len() <= most { items.len() } else { most.max(2) - 1 };
    let rest = items.len() - shown;
    match items {
        [] => String::new(),
        [only] => only.clone(),
        _ if rest > 0 => format!("{} {word} {} others", items[..shown].join(", "), number(rest as u64)),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}

/// Wraps words at `width` columns; all lines but the first are indented.
pub(crate) fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for word in text.split(' ') {
        if column > 0 && column + 1 + word.width() > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += word.width();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_things() {
        let counts = [(0, "operation"), (1, "process"), (1_234_567, "history")];
        let counts = counts.map(|(many, thing)| count(many, thing));
        insta::assert_snapshot!(counts.join("; "), @"0 operations; 1 process; 1,234,567 histories");
        insta::assert_snapshot!([0.00012, 0.25, 8.44, 4000.0].map(duration).join("; "), @"0.1 ms; 250 ms; 8.4 s; 4,000 s");
    }

    #[test]
    fn foreign_text_stays_on_its_line() {
        insta::assert_snapshot!(clean("a\u{1b}[31mb\n\u{202e}c\u{200b}\td é"), @r"a\u{1b}[31mb\n\u{202e}c\u{200b}\td é");
    }

    #[test]
    fn json_means_the_same() {
        let text = "a\u{1b}[31m\u{7f}\u{9b}b\n\u{202e}\u{e0041} \u{e9}";
        let json = visible_json(&format!("{:#}", serde_json::json!([text])));
        insta::assert_snapshot!(json, @r#"
        [
          "a\u001b[31m\u007f\u009bb\n\u202e\udb40\udc41 é"
        ]
        "#);
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), [text]);
    }

    #[test]
    fn long_text_says_how_much_is_left_out() {
        insta::assert_snapshot!(short(&"x".repeat(1500), 5), @"xxxxx... (1,495 more)");
        insta::assert_snapshot!(short("漢字漢字", 5), @"漢字... (2 more)");
        insta::assert_snapshot!(brief("Enqueue(49600)", 10), @"Enqueue(4…");
    }

    #[test]
    fn lists_end() {
        let items: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let lists = [list(&items[..1], "or", 3), list(&items[..3], "or", 3), list(&items, "and", 3)];
        insta::assert_snapshot!(lists.join("; "), @"a; a, b or c; a, b and 2 others");
    }
}

//! The page itself, and what is put into it.
//!
//! The viewer has three places that this file knows: a comment inside `<noscript>` for the text that who allows no scripts
//! reads, a comment for the parts, and the policy that says what the page may do. What is put in is either escaped text
//! or base64, so nothing that somebody recorded is read as markup; and a policy that allows only the viewer's own script,
//! by its hash, stands before both.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::encode::Part;

const VIEWER: &str = include_str!("../viewer.html");

const TEXT: &str = "<!--omnilink:text-->";
const PARTS: &str = "<!--omnilink:parts-->";
const PART: &str = "<script type=\"application/octet-stream\" id=\"part-";
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"";
const NOWHERE: &str = "connect-src 'none'";
const HERE: &str = "connect-src 'self'";

/// A page that needs nothing but itself.
pub fn file(parts: &[Part], text: &str) -> String {
    let length: usize = parts.iter().map(|part| part.bytes.len() / 3 * 4 + 100).sum();
    let mut elements = String::with_capacity(length);
    for Part { name, bytes } in parts {
        elements += PART;
        elements += &escaped(name);
        elements += "\">";
        STANDARD.encode_string(bytes, &mut elements);
        elements += "</script>\n";
    }
    let ([before, between, after], _) = viewer();
    [before, &escaped(text), between, &elements, after].concat()
}

/// A page that asks for its parts where it comes from.
pub fn served(text: &str) -> String {
    let ([before, between, after], _) = viewer();
    [&before.replacen(NOWHERE, HERE, 1), &*escaped(text), between, after].concat()
}

/// How every page calls itself, near its beginning.
const TITLE: &str = "<title>OmniLink</title>";

/// True for the beginning of a file that [`file()`] wrote, of whichever version.
pub fn is_ours(bytes: &[u8]) -> bool {
    bytes.windows(TITLE.len()).any(|window| window == TITLE.as_bytes())
}

/// What a page that is served may do, for the header that says it as well.
pub fn policy() -> String {
    viewer().1.replacen(NOWHERE, HERE, 1)
}

/// The viewer around the places for text and parts, and its policy.
fn viewer() -> ([&'static str; 3], &'static str) {
    let found = VIEWER.split_once(TEXT).and_then(|(before, rest)| {
        let (between, after) = rest.split_once(PARTS)?;
        let (policy, _) = before.split_once(POLICY)?.1.split_once('"')?;
        Some(([before, between, after], policy))
    });
    found.expect("the viewer has a policy, and then a place for text and one for parts")
}

/// Text that is read as nothing else. Characters that cannot be seen, and those that turn the direction of others, are named
/// instead: those that `visible` in `viewer/src/text.ts` names.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for char in text.chars() {
        match char {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\n' | '\t' => out.push(char),
            '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' => out.extend(char.escape_unicode()),
            _ if char.is_control() => out.extend(char.escape_unicode()),
            _ => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_viewer_has_each_place_once() {
        for marker in [TEXT, PARTS, POLICY, NOWHERE] {
            assert_eq!(VIEWER.matches(marker).count(), 1, "{marker}");
        }
        let ([before, between, _], policy) = viewer();
        assert!(policy.contains(NOWHERE) && policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
        // Policies hold for what comes after them, and text is for those who allow no script.
        assert!(before.ends_with("<noscript><pre>") && between.starts_with("</pre></noscript>"));
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    }

    #[test]
    fn serving_changes_where_a_page_may_connect_to() {
        let page = served("a < b");
        assert_eq!((page.matches(NOWHERE).count(), page.matches(HERE).count()), (0, 1));
        assert!(page.contains("<pre>a &lt; b</pre>") && !page.contains("part-head\">"));
        assert!(page.contains(&policy()));
    }

    #[test]
    fn text_stays_text() {
        insta::assert_snapshot!(escaped("</pre></noscript><script>alert('1')</script> & \"x\"\n\u{202e}\u{1b}[31m<!--"), @r"&lt;/pre&gt;&lt;/noscript&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;x&quot;
\u{202e}\u{1b}[31m&lt;!--");
    }

    #[test]
    fn parts_stand_in_a_file_as_base64() {
        let part = Part { name: "head".into(), bytes: b"</script><!--".to_vec() };
        let page = file(&[part], TEXT);
        assert!(is_ours(&page.as_bytes()[..4096]) && !is_ours(b"<title>Another page</title>"));
        assert!(
            page.contains("<script type=\"application/octet-stream\" id=\"part-head\">PC9zY3JpcHQ+PCEtLQ==</script>\n")
        );
        assert!(page.contains("&lt;!--omnilink:text--&gt;") && page.contains(viewer().1));
        let without: usize = viewer().0.iter().map(|piece| piece.matches("</script>").count()).sum();
        assert_eq!(page.matches("</script>").count(), without + 1);
    }
}

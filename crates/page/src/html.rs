//! Fills the viewer template.
//!
//! The template has three placeholders: a comment inside `<noscript>` for the text shown without scripts, a comment for
//! the parts, and the content security policy. Inserted content is either escaped text or base64, so recorded data is
//! never parsed as markup. The policy comes before both and allows only the viewer's own script, by its hash.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::encode::Part;

const VIEWER: &str = include_str!("../viewer.html");

const TEXT: &str = "<!--omnilink:text-->";
const PARTS: &str = "<!--omnilink:parts-->";
const PART: &str = "<script type=\"application/octet-stream\" id=\"part-";
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"";
const CONNECT_NONE: &str = "connect-src 'none'";
const CONNECT_SELF: &str = "connect-src 'self'";

/// A self-contained page.
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

/// A page that loads its parts from the server that sent it.
pub fn served(text: &str) -> String {
    let ([before, between, after], _) = viewer();
    [&before.replacen(CONNECT_NONE, CONNECT_SELF, 1), &*escaped(text), between, after].concat()
}

/// The title of every page, near its beginning.
pub(crate) const TITLE: &str = "<title>OmniLink</title>";

/// True for the beginning of a file written by any version of [`file()`].
pub fn is_ours(bytes: &[u8]) -> bool {
    bytes.windows(TITLE.len()).any(|window| window == TITLE.as_bytes())
}

/// The content security policy of a served page, for the HTTP header.
pub fn policy() -> String {
    viewer().1.replacen(CONNECT_NONE, CONNECT_SELF, 1)
}

/// The viewer, split at the placeholders for text and parts, and its policy.
fn viewer() -> ([&'static str; 3], &'static str) {
    let found = VIEWER.split_once(TEXT).and_then(|(before, rest)| {
        let (between, after) = rest.split_once(PARTS)?;
        let (policy, _) = before.split_once(POLICY)?.1.split_once('"')?;
        Some(([before, between, after], policy))
    });
    found.expect("the viewer has a policy, then a placeholder for text, then one for parts")
}

/// Escapes text for HTML. Invisible characters and bidirectional controls are written out, the same ones as by
/// `visible` in `viewer/src/text.ts`.
pub(crate) fn escaped(text: &str) -> String {
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
    fn the_viewer_has_each_placeholder_once() {
        for marker in [TEXT, PARTS, POLICY, CONNECT_NONE] {
            assert_eq!(VIEWER.matches(marker).count(), 1, "{marker}");
        }
        let ([before, between, _], policy) = viewer();
        assert!(
            policy.contains(CONNECT_NONE) && policy.starts_with("default-src 'none'; script-src 'sha256-"),
            "{policy}"
        );
        // A policy applies to what comes after it, and the text is only for pages without scripts.
        assert!(before.ends_with("<noscript><pre>") && between.starts_with("</pre></noscript>"));
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    }

    #[test]
    fn a_served_page_may_connect_to_its_server() {
        let page = served("a < b");
        assert_eq!((page.matches(CONNECT_NONE).count(), page.matches(CONNECT_SELF).count()), (0, 1));
        assert!(page.contains("<pre>a &lt; b</pre>") && !page.contains("part-head\">"));
        assert!(page.contains(&policy()));
    }

    #[test]
    fn text_stays_text() {
        insta::assert_snapshot!(escaped("</pre></noscript><script>alert('1')</script> & \"x\"\n\u{202e}\u{1b}[31m<!--"), @r"&lt;/pre&gt;&lt;/noscript&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;x&quot;
\u{202e}\u{1b}[31m&lt;!--");
    }

    #[test]
    fn a_file_contains_parts_as_base64() {
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

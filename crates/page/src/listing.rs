//! A list of histories with links to their pages: plain HTML, without a script.

use crate::html::{TITLE, escaped};

/// A history in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The user's name for it.
    pub name: String,
    /// The verdict in one word.
    pub verdict: String,
    /// The finding; empty if there is none.
    pub sentence: String,
    /// The file name of its page in the same directory, if it has one.
    pub page: Option<String>,
}

const STYLE: &str = "body{font:14px/1.5 system-ui,sans-serif;margin:2em;color-scheme:light dark}\
    table{border-collapse:collapse}td,th{padding:.2em 1em .2em 0;text-align:left;vertical-align:top}";

/// The page with the list. `summary` counts the verdicts, and `tool` wrote it.
pub fn listing(tool: &str, summary: &str, histories: &[Listed]) -> String {
    let mut rows = String::new();
    for Listed { name, verdict, sentence, page } in histories {
        let name = match page {
            Some(page) => format!("<a href=\"{}\">{}</a>", reference(page), escaped(name)),
            None => escaped(name),
        };
        let (verdict, sentence) = (escaped(verdict), escaped(sentence));
        rows += &format!("<tr><td>{name}</td><td>{verdict}</td><td>{sentence}</td></tr>\n");
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
         http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         {TITLE}\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{}</h1>\n<table>\n<thead><tr><th \
         scope=\"col\">history</th><th scope=\"col\">verdict</th><th scope=\"col\">finding</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>\n<p>{}</p>\n</body>\n</html>\n",
        escaped(summary),
        escaped(tool),
    )
}

/// A file name as a relative reference, in which nothing means something else.
fn reference(name: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    let byte = |byte: u8| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    format!("./{}", name.bytes().map(byte).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_never_markup() {
        let hostile = Listed {
            name: "<script>\"&".into(),
            verdict: "rejected".into(),
            sentence: "<b>".into(),
            page: Some("javascript:a\"<.html".into()),
        };
        let page = listing("tool", "1 history", &[hostile]);
        assert!(page.contains(
            "<tr><td><a href=\"./javascript%3Aa%22%3C.html\">&lt;script&gt;&quot;&amp;</a></td><td>rejected</td>\
             <td>&lt;b&gt;</td></tr>"
        ));
        assert!(crate::is_ours(page.as_bytes()));
    }
}

//! Turns of phrase that text does not use: the rules and the glossary of CONTRIBUTING.md, as far as patterns find them.
//!
//! The rule holds for documents, help texts, and the comments of some crates. Code, quotes in italics and fenced blocks are
//! not prose. A pattern sees one line, so it misses a phrase that a line break divides.

use std::sync::LazyLock;

use regex::Regex;

use super::{File, Finding};

/// The files with prose, without [`EXCEPT`]: documents, help texts, and sources with comments.
static FILES: LazyLock<[Regex; 3]> = LazyLock::new(|| {
    [
        r"^[A-Z_-]+\.md$|^(bench|book/src|crates|examples|fleet|recorders|sources|tests)/.*\.md$",
        r"^crates/cli/src/args/.*\.rs$",
        r"(?x)^(?: crates/(?: campaign|harness|isolation|judge|lineup|logs|macros|monitor|omnilink|page|report|watch|weak )/src
            | crates/tla/src/reach | crates/cli/src/(?: drive|monitor|spec ) | fleet/\w+/src | sources/(?: nats|otlp )/src
            | examples/simulated-register/src )/.*\.rs$",
    ]
    .map(pattern)
});

/// Documents to which the rule does not apply: history, and a generated file.
const EXCEPT: &[&str] = &["CHANGELOG.md", "book/src/commands.md"];

/// Lines that may use a refused phrase, by their file and a part of their text.
const ALLOWED: &[(&str, &str)] = &[("CODE_OF_CONDUCT.md", "tell a maintainer")];

/// Phrases, and the replacement.
static REFUSED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"\b(tells?|told)\b", "`report`, `say` or `distinguish` instead of `tell`"),
        (r"\b(is|are) an? error\b|\bare errors\b", "say which part reports or refuses it"),
        (r"(^|[.:;] )What [a-z]", "a noun instead of a clause with `what`"),
        (
            r", ?also (an?|the|those|if|when|where|while|after|before|between|with|without|of|in|on|at|to|for|from|as|by|through|about|one)\b",
            "`even`, or a sentence of its own",
        ),
        (r"\balso (if|when|where|while|without|after|before)\b", "`even`, or a sentence of its own"),
        (r"[:;,] (so )?what (is|are|was|were|comes|came|happens|happened)\b", "a noun instead of a clause with `what`"),
        (r"(^|[.:;] )Who [a-z]", "the thread, process or user concerned"),
        (r"\b(is|are|was|were) said\b", "say who reports it"),
        (r"\b(that|which|this|it) is no [a-z]|\bin time is none\b", "`is not`"),
        (r"\bnever makes? a rejection\b|\bcounts? for nothing\b|\bis never yours\b", "say who does what"),
        (r", and not be\b|\bdoes nothing together\b", "`but not`, or say which part is ignored"),
        (r"\blooks? again\b", "`recheck`"),
        (r"\bof which (nothing|none)\b|\bnothing (came|comes|was heard)\b", "`silent`, or the missing part"),
        (r"\bif (it is |they are )?not given\b", "`[default: X]`"),
        (r"\b(can|could|cannot) go on\b|\b(goes|went) on\b", "`continue`, or `enabled`"),
        (r"\bha(s|ve) the (details|figures|reasons?|words)\b", "a verb instead of a noun"),
        (r"\bfits? nowhere\b", "`no order allows it`"),
        (r"\bbelongs? together\b", "`mapping`"),
        (r"\bmakes? sense\b|\bin vain\b|\bnever came back\b|\bhangs?\b|\binterruptions?\b", "a word of the glossary"),
    ]
    .map(|(refused, better)| (pattern(refused), better))
    .into()
});

/// Checks the prose of one file.
pub(super) fn check(file: &File) -> Vec<Finding> {
    let [is_document, is_help, has_comments] = FILES.each_ref().map(|files| files.is_match(&file.path));
    let is_exception = EXCEPT.iter().any(|path| file.path == *path);
    if is_exception || !(is_document || is_help || has_comments) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut is_fenced = false;
    for (index, line) in file.text.lines().enumerate() {
        let line = line.trim_start();
        // Help texts are comments and strings.
        if !is_document && !is_help && !line.starts_with("//") {
            continue;
        }
        let line = line.trim_start_matches(['/', '!', '"', ' ']);
        is_fenced ^= line.starts_with("```");
        let is_allowed = ALLOWED.iter().any(|(path, text)| file.path == *path && line.contains(text));
        if is_fenced || is_allowed {
            continue;
        }
        let line = QUOTES.replace_all(line, "");
        let refused = REFUSED.iter().filter(|(refused, _)| refused.is_match(&line));
        findings.extend(refused.map(|(_, better)| Finding::new(&file.path, index + 1, format!("prose: {better}"))));
    }
    findings
}

/// Code and quoted words.
static QUOTES: LazyLock<Regex> = LazyLock::new(|| pattern(r"`[^`]*`|\*[^*]+\*"));

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns in this file are well formed")
}

#[cfg(test)]
mod tests {
    use super::super::listing;
    use super::*;

    fn report(path: &str, text: &str) -> String {
        listing(check(&File { path: path.to_owned(), text: text.to_owned() }))
    }

    #[test]
    fn refused_phrases_are_found() {
        let text = "An unknown key is an error.\n\nWhat came is checked, also a late one; `told` and *tell* are fine.\n\
                    ```text\nIt tells.\n```\nIt tells.\n";
        insta::assert_snapshot!(report("SECURITY.md", text), @"
        SECURITY.md:1: prose: say which part reports or refuses it
        SECURITY.md:3: prose: a noun instead of a clause with `what`
        SECURITY.md:3: prose: `even`, or a sentence of its own
        SECURITY.md:7: prose: `report`, `say` or `distinguish` instead of `tell`
        ");
        assert_eq!(report("CHANGELOG.md", text), "");
        assert_eq!(report("CODE_OF_CONDUCT.md", "Please tell a maintainer.\n"), "");
    }

    #[test]
    fn every_pattern_finds_its_phrase() {
        let planted = [
            "The monitor tells a violation.",
            "That is an error.",
            "What came is checked.",
            "It may change, also a complete one.",
            "It is confirmed also after the limit.",
            "It is free, so what is found depends on luck.",
            "Who spins waits.",
            "The origin is said only once.",
            "It did something that is no answer.",
            "A limit never makes a rejection.",
            "It can be compared, and not be computed.",
            "It looks again.",
            "A process of which nothing came.",
            "The default if not given.",
            "The client goes on.",
            "The page has the details.",
            "The operation fits nowhere.",
            "How they belong together.",
            "It waits in vain.",
        ];
        assert_eq!(planted.len(), REFUSED.len());
        for (text, (_, better)) in planted.iter().zip(REFUSED.iter()) {
            let found = report("README.md", text);
            assert!(found.contains(better), "{text}: {found}");
        }
    }

    #[test]
    fn comments_and_help_texts_are_prose_and_code_is_not() {
        let text = "/// Goes on if nothing came.\nlet told = \"the client goes on\";\n";
        insta::assert_snapshot!(report("crates/watch/src/a.rs", text), @"crates/watch/src/a.rs:1: prose: `silent`, or the missing part");
        insta::assert_snapshot!(report("crates/cli/src/args/a.rs", text), @"
        crates/cli/src/args/a.rs:1: prose: `silent`, or the missing part
        crates/cli/src/args/a.rs:2: prose: `report`, `say` or `distinguish` instead of `tell`
        crates/cli/src/args/a.rs:2: prose: `continue`, or `enabled`
        ");
        assert_eq!(report("crates/tla/src/a.rs", text), "");
    }
}

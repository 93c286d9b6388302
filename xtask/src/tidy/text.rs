//! Rules about the text of files, each one line in [`RULES`].

use std::sync::LazyLock;

use regex::Regex;

use super::{File, Finding};

/// The most lines that a file may have; beyond it, a reader loses the thread.
const MOST_LINES: usize = 800;

/// A rule holds for the files that the first pattern matches, and forbids lines that the second one matches.
static RULES: LazyLock<Vec<(Regex, Regex, &str)>> = LazyLock::new(|| {
    let source = r"\.rs$";
    let prose = r"\.(rs|md)$";
    let written = r"\.(rs|md|toml|sh|ya?ml|tsx?|mjs|css)$|^\.ci/";
    // What stands below the command may not know about the world around it.
    let library = r"^crates/(history|search|models|tla-syntax|tla|report|validate)/src/";
    [
        (source, r"\b(todo|dbg|unimplemented)!", "unfinished code"),
        (prose, r"\b(TO[D]O|FIX[M]E|XX[X])\b", "plans belong in the issue tracker"),
        (prose, r"\t", "tab"),
        (written, r"\s$", "trailing whitespace"),
        (written, r#"(^|[\s"'`(=])/(home|root|Users|work)/"#, "path that exists on one machine only"),
        (written, r"\b(index|static)\.crates\.io\b|\blocalhost:\d+/.*(crates|index)", "name of a registry host"),
        (r"package-lock\.json$", r#""resolved":"#, "where one machine got a package from"),
        (library, r"\bstd::(fs|env|net|process)\b", "only the command talks to the world"),
        (library, r"\b(Instant|SystemTime)::now\b", "only the command reads the clock"),
    ]
    .map(|(files, forbidden, message)| (pattern(files), pattern(forbidden), message))
    .into()
});

/// Checks one file against every rule.
pub(super) fn check(file: &File) -> Vec<Finding> {
    let File { path, text } = file;
    let rules: Vec<_> = RULES.iter().filter(|(files, ..)| files.is_match(path)).collect();
    let mut findings = Vec::new();
    // Tests may read fixtures, and they stand at the end.
    let tests_from = text.lines().position(|line| line == "#[cfg(test)]").unwrap_or(usize::MAX);
    for (index, line) in text.lines().enumerate() {
        for (_, forbidden, message) in &rules {
            let is_test = index >= tests_from && message.starts_with("only the command");
            if !is_test && forbidden.is_match(line) {
                findings.push(Finding::new(path, index + 1, *message));
            }
        }
    }
    let lines = text.lines().count();
    let is_script = [".ts", ".tsx", ".mjs"].iter().any(|ending| path.ends_with(ending));
    if (path.ends_with(".rs") || path.ends_with(".md") || is_script) && lines > MOST_LINES {
        findings.push(Finding::new(path, lines, format!("{lines} lines; more than {MOST_LINES} want to be two files")));
    }
    if path.ends_with(".rs") && !text.starts_with("//! ") {
        findings.push(Finding::new(path, 1, "a file opens by saying what it is for, with `//!`"));
    }
    if is_script && !text.starts_with("// ") {
        findings.push(Finding::new(path, 1, "a file opens by saying what it is for, with `//`"));
    }
    findings
}

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
    fn source_rules() {
        insta::assert_snapshot!(report("crates/history/src/bad.rs", include_str!("../../test_data/bad.rs")), @"
        crates/history/src/bad.rs:3: only the command talks to the world
        crates/history/src/bad.rs:6: tab
        crates/history/src/bad.rs:6: only the command reads the clock
        crates/history/src/bad.rs:9: trailing whitespace
        crates/history/src/bad.rs:10: unfinished code
        crates/history/src/bad.rs:11: unfinished code
        crates/history/src/bad.rs:11: plans belong in the issue tracker
        crates/history/src/bad.rs:19: unfinished code
        crates/history/src/bad.rs:1: a file opens by saying what it is for, with `//!`
        ");
    }

    #[test]
    fn prose_rules() {
        insta::assert_snapshot!(report("bad.md", include_str!("../../test_data/bad.md")), @"
        bad.md:1: path that exists on one machine only
        bad.md:3: trailing whitespace
        bad.md:5: tab
        bad.md:7: name of a registry host
        ");
    }

    #[test]
    fn script_rules() {
        insta::assert_snapshot!(report("viewer/src/a.ts", "export {}; \n"), @"
        viewer/src/a.ts:1: trailing whitespace
        viewer/src/a.ts:1: a file opens by saying what it is for, with `//`
        ");
        let lock = "      \"resolved\": \"https://example.org/a.tgz\",\n";
        insta::assert_snapshot!(
            report("viewer/package-lock.json", lock),
            @"viewer/package-lock.json:1: where one machine got a package from"
        );
    }

    #[test]
    fn the_command_may_talk_to_the_world() {
        insta::assert_snapshot!(report("crates/cli/src/main.rs", "//! Reads.\n\nuse std::fs;\n"), @"");
    }

    #[test]
    fn long_files_are_reported() {
        insta::assert_snapshot!(report("a.rs", &"//! Long.\n".repeat(801)), @"a.rs:801: 801 lines; more than 800 want to be two files");
    }
}

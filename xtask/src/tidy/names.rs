//! Names in documents exist: commands and options of `omnilink`, exit codes, and examples, which are all named somewhere.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use regex::Regex;

use super::{File, Finding};
use crate::options;

/// The reference, which CI compares with the help texts of the command.
const REFERENCE: &str = "book/src/commands.md";

/// Options that the text names and that are not in the reference: those of a command with the feature `fleet`, of Cargo, and of
/// test programs.
const ELSEWHERE: &[&str] = &[
    "--after",
    "--by",
    "--cut",
    "--example",
    "--verdicts",
    "--where",
    "--ignored",
    "--include-ignored",
    "--no-fail-fast",
    "--nocapture",
    "--page",
    "--skip",
    "--test-threads",
];

static OPTION: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:^|[\s(\[|])(--[a-z][a-z0-9-]*)"));
static COMMAND: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:^|[\s$(;&|])((?:cargo|-p|--package) )?omnilink((?: [a-z]+)*)([^|;&]*)"));
static HEADING: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^#+ omnilink ([a-z ]+)$"));
static CODE: LazyLock<Regex> = LazyLock::new(|| pattern(r"Exit::(\w+)((?: \| Exit::\w+)*) => (\d+),"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns in this file are well formed")
}

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let text = |path: &str| files.iter().find(|file| file.path == path).map_or("", |file| &*file.text);
    let known = Known::new(text(REFERENCE));
    // Other documents are about other programs, and the changelog about earlier versions.
    let is_read = |file: &&File| {
        let is_chapter = file.path.starts_with("book/src/") || !file.path.contains('/');
        is_chapter && file.path.ends_with(".md") && file.path != REFERENCE && file.path != "CHANGELOG.md"
    };
    let mut findings: Vec<Finding> = files.iter().filter(is_read).flat_map(|file| known.check(file)).collect();
    findings.extend(check_codes(text("crates/cli/src/exit.rs"), text("book/src/exit-codes.md")));
    findings.extend(check_examples(files));
    findings
}

/// The commands and options that exist.
struct Known {
    commands: BTreeSet<String>,
    options: BTreeSet<String>,
}

impl Known {
    fn new(reference: &str) -> Known {
        let commands = HEADING.captures_iter(reference).map(|found| found[1].to_owned()).collect();
        let written = OPTION.captures_iter(reference).map(|found| found[1].to_owned());
        let others = ELSEWHERE.iter().map(|option| (*option).to_owned());
        Known { commands, options: written.chain(others).chain(options()).collect() }
    }

    fn check(&self, file: &File) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (line, code, is_span) in code(&file.text) {
            let mut say = |message: String| findings.push(Finding::new(&file.path, line, message));
            if is_span && code.starts_with("--") && !self.has_options(&code) {
                say(format!("`{code}` names an option that does not exist"));
            }
            for found in COMMAND.captures_iter(&code) {
                // A subcommand of Cargo, or a package.
                if found.get(1).is_some() {
                    continue;
                }
                let (words, rest) = (found[2].trim(), &found[3]);
                let first = words.split(' ').next().unwrap_or_default();
                let is_known =
                    words.is_empty() || self.commands.iter().any(|name| name.split(' ').next() == Some(first));
                let is_path = rest.starts_with(['/', '.', '-', '_', ':', '=', '(', '>']) && !rest.starts_with("--");
                if is_path && words.is_empty() {
                    continue;
                }
                if !is_known {
                    say(format!("`omnilink {first}` is not a command"));
                } else if !self.has_options(rest.split(" -- ").next().unwrap_or_default()) {
                    say(format!("`omnilink {words}{rest}` has an option that does not exist"));
                }
            }
        }
        findings
    }

    fn has_options(&self, code: &str) -> bool {
        OPTION.captures_iter(code).all(|found| self.options.contains(&found[1]))
    }
}

/// The lines of code in a document: of blocks for a shell, and spans. With the number of the line, and whether it is a span.
fn code(text: &str) -> Vec<(usize, String, bool)> {
    let mut lines = Vec::new();
    let mut is_shell = false;
    for (event, range) in Parser::new(text).into_offset_iter() {
        let line = text[..range.start].matches('\n').count() + 1;
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                is_shell = ["sh", "console", "console like"].contains(&&*info)
            }
            Event::End(TagEnd::CodeBlock) => is_shell = false,
            Event::Code(span) => lines.push((line, span.to_string(), true)),
            Event::Text(block) if is_shell => {
                let commands = block.lines().enumerate();
                let without_remark = |text: &str| text.split(" #").next().unwrap_or_default().trim_end().to_owned();
                lines.extend(commands.map(|(number, text)| (line + number, without_remark(text), false)));
            }
            _ => {}
        }
    }
    lines
}

/// The table of exit codes has the codes of the command, and the order in which they win.
fn check_codes(source: &str, chapter: &str) -> Vec<Finding> {
    let codes: Vec<(Vec<String>, u32)> = CODE
        .captures_iter(source)
        .map(|found| {
            let names = format!("{}{}", &found[1], &found[2]).replace("Exit::", "");
            (names.split(" | ").map(str::to_owned).collect(), found[3].parse().unwrap_or_default())
        })
        .collect();
    let body = source.split_once("enum Exit {").and_then(|(_, rest)| rest.split_once('}')).map_or("", |(body, _)| body);
    let variants: Vec<&str> = body.lines().filter_map(|line| line.trim().strip_suffix(',')).collect();
    let code_of =
        |name: &&str| codes.iter().find(|(names, _)| names.iter().any(|one| one == name)).map(|(_, code)| *code);
    let mut order: Vec<u32> = Vec::new();
    for code in variants.iter().rev().filter_map(code_of) {
        if !order.contains(&code) {
            order.push(code);
        }
    }
    let mut sorted = order.clone();
    sorted.sort_unstable();
    let rows = chapter.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |")?.0.parse().ok());
    let mut findings = Vec::new();
    let mut say = |message: String| findings.push(Finding::new("book/src/exit-codes.md", 1, message));
    if rows.collect::<Vec<u32>>() != sorted {
        say(format!("the rows of the table should be those of the codes {sorted:?}"));
    }
    let listed = order.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    if !chapter.contains(&format!("the first of these wins: {listed}.")) {
        say(format!("expected `the first of these wins: {listed}.`"));
    }
    findings
}

/// Every directory of examples is named in a document or in code outside of it.
fn check_examples(files: &[File]) -> Vec<Finding> {
    let directories: BTreeSet<&str> = files
        .iter()
        .filter_map(|file| file.path.strip_prefix("examples/")?.split_once('/'))
        .map(|(directory, _)| directory)
        .collect();
    let is_named = |directory: &&str| {
        let path = format!("examples/{directory}");
        let inside = format!("{path}/");
        let ends = |rest: &str| !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '-');
        files.iter().filter(|file| !file.path.starts_with(&inside)).any(|file| file.text.split(&path).skip(1).any(ends))
    };
    let unnamed = directories.into_iter().filter(|directory| !is_named(directory));
    unnamed
        .map(|name| Finding::new(&format!("examples/{name}"), 1, "no document and no code names this example"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::listing;
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn commands_and_options_exist() {
        let known = Known::new("# Commands\n\n## omnilink check\n\n      --max-width <N>\n\n### omnilink runs list\n");
        let text = "Use `--max-width 3`, `--max-with`, `omnilink runs list`, `omnilink chek a`, `omnilink.toml`, and\n\
                    `omnilink/main.cpp`.\n\n```sh\nomnilink check a --min-width 2   # or --other\ncargo build --release\n\
                    OMNI=1 omnilink check b -- --theirs\n```\n\n```text\nomnilink none\n```\n";
        insta::assert_snapshot!(listing(known.check(&file("a.md", text))), @"
        a.md:1: `--max-with` names an option that does not exist
        a.md:1: `omnilink chek` is not a command
        a.md:5: `omnilink check a --min-width 2` has an option that does not exist
        ");
    }

    #[test]
    fn exit_codes_are_those_of_the_command() {
        let source = "enum Exit {\n    /// None.\n    Nothing,\n    Accepted,\n    Empty,\n    Wrong,\n}\n\
                      match exit {\nExit::Accepted => 0,\nExit::Wrong => 2,\nExit::Nothing | Exit::Empty => 4,\n}\n";
        let chapter = "| code | m |\n|---|---|\n| 0 | a |\n| 2 | b |\n| 4 | c |\n\nthe first of these wins: 2, 4, 0.\n";
        assert_eq!(check_codes(source, chapter), []);
        insta::assert_snapshot!(listing(check_codes(source, &chapter.replace("| 4 | c |\n", "").replace("2, 4", "4, 2"))), @"
        book/src/exit-codes.md:1: the rows of the table should be those of the codes [0, 2, 4]
        book/src/exit-codes.md:1: expected `the first of these wins: 2, 4, 0.`
        ");
    }

    #[test]
    fn examples_are_named() {
        let files =
            [file("examples/a/x.rs", "examples/a"), file("examples/a-b/y", ""), file("b.md", "see examples/a-b.")];
        insta::assert_snapshot!(listing(check_examples(&files)), @"examples/a:1: no document and no code names this example");
    }
}

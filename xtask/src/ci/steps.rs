//! Runs steps as processes: each is this program again, so that its output and the processor time of all its children
//! can be separated from those of a step that runs beside it.

use std::env;
use std::fs::{self, File};
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};

use super::times::{Row, Times};
use crate::tools::is_installed;
use crate::workspace::Workspace;

/// The most steps that run at the same time. More would make each of them slower than its own limits allow.
const MOST: usize = 2;

/// How long a process that has ended may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(50);

/// Tools that `.ci/run` may fail to install. A step without one of them is left out with `CI=true`, too.
const MAY_LACK: &[&str] = &["+nightly", "miri", "+1.88", "network"];

/// Something that is checked.
pub(super) struct Step {
    /// A word, for `--only`.
    pub(super) name: &'static str,
    /// The command that does the same, or what is done, in Markdown.
    pub(super) about: &'static str,
    with: With,
    /// Tools beside Cargo: see [`is_installed`].
    pub(super) needs: &'static [&'static str],
    pub(super) run: fn(&Workspace) -> Result<()>,
}

/// The steps that may run at the same time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum With {
    /// None: the step keeps all cores busy, or measures time.
    Nothing,
    /// The steps before and after that say the same: they wait, or keep one core busy.
    Others,
}

impl Step {
    /// A step that needs Cargo alone, and keeps all cores busy.
    pub(super) const fn new(name: &'static str, about: &'static str, run: fn(&Workspace) -> Result<()>) -> Step {
        Step { name, about, with: With::Nothing, needs: &[], run }
    }

    /// The same step, which needs these tools.
    pub(super) const fn needs(self, needs: &'static [&'static str]) -> Step {
        Step { needs, ..self }
    }

    /// The same step, which may run beside others.
    pub(super) const fn with_others(self) -> Step {
        Step { with: With::Others, ..self }
    }

    /// Returns a missing tool, if one is missing.
    pub(super) fn lacks(&self) -> Option<&'static str> {
        self.needs.iter().copied().find(|tool| !is_installed(tool))
    }
}

/// Why a step was not run.
pub(super) fn missing(tool: &str) -> String {
    match tool {
        "network" => "there is no network".to_owned(),
        _ if tool.starts_with("cargo-") => format!("install it with `cargo install --locked {tool}`"),
        _ => format!("`{tool}` is not installed"),
    }
}

/// Tools as a list in Markdown.
pub(super) fn listed(tools: &[&str]) -> String {
    tools.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", ")
}

/// The destination of the output of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// To the terminal, as it comes.
    AtOnce,
    /// Into a file, which is printed when the step has ended.
    AtTheEnd,
}

/// Starts steps, and adds their times to a table.
struct Runner<'a> {
    program: PathBuf,
    /// Where output waits.
    directory: PathBuf,
    /// Whether a missing tool is a failure.
    is_strict: bool,
    times: Mutex<&'a mut Times>,
}

/// Runs the steps in order, some of them side by side. After a failure, those that have begun end and no others begin.
pub(super) fn run(workspace: &Workspace, steps: &[&Step], times: &mut Times) -> Result<()> {
    let directory = workspace.metadata.target_directory.as_std_path().join("ci");
    fs::create_dir_all(&directory)?;
    let is_strict = env::var_os("CI").is_some_and(|value| value == "true");
    let runner = Runner { program: env::current_exe()?, directory, is_strict, times: Mutex::new(times) };
    let most = thread::available_parallelism().map_or(1, NonZero::get).min(MOST);
    for group in steps.chunk_by(|one, next| one.with == With::Others && next.with == With::Others) {
        match group {
            [step] => runner.run(step, Shown::AtOnce)?,
            _ => runner.run_side_by_side(group, most)?,
        }
    }
    Ok(())
}

impl Runner<'_> {
    fn run_side_by_side(&self, steps: &[&Step], most: usize) -> Result<()> {
        let waiting = Mutex::new(steps.iter());
        let take = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            while let Some(step) = take() {
                if let Err(error) = self.run(step, Shown::AtTheEnd) {
                    while take().is_some() {}
                    return Err(error);
                }
            }
            Ok(())
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..most).map(|_| scope.spawn(work)).collect();
            let ends = threads.into_iter().map(|thread| thread.join().expect("a step that fails is an error"));
            ends.fold(Ok(()), Result::and)
        })
    }

    fn run(&self, step: &Step, shown: Shown) -> Result<()> {
        let name = step.name;
        if let Some(tool) = step.lacks().filter(|tool| !self.is_strict || MAY_LACK.contains(tool)) {
            let why = missing(tool);
            println!("\n== {name}: not run: {why}");
            self.times.lock().unwrap_or_else(PoisonError::into_inner).skip(name, why);
            return Ok(());
        }
        let mut command = Command::new(&self.program);
        command.args(["ci", "--only", name]);
        let log = self.directory.join(name).with_extension("log");
        if shown == Shown::AtTheEnd {
            let file = File::create(&log).with_context(|| log.display().to_string())?;
            command.stdout(file.try_clone()?).stderr(file);
        } else {
            println!("\n== {name}");
        }
        let start = Instant::now();
        let mut child = command.spawn().with_context(|| format!("cannot run {}", self.program.display()))?;
        let (status, processor) = self.wait(&mut child)?;
        let row = Row { name, wall: start.elapsed(), processor: Some(processor) };
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        if shown == Shown::AtTheEnd {
            println!("\n== {name}");
            print(&log)?;
        }
        println!("== {row}");
        times.push(row);
        if !status.success() {
            bail!("{name} failed");
        }
        Ok(())
    }

    /// Waits for a step, and says how much processor time it and all that it started have taken.
    ///
    /// The system adds that to the time of our children when the child is waited for. So no two are waited for at once.
    fn wait(&self, child: &mut Child) -> Result<(ExitStatus, Duration)> {
        loop {
            {
                let _alone = self.times.lock().unwrap_or_else(PoisonError::into_inner);
                let before = children()?;
                if let Some(status) = child.try_wait()? {
                    return Ok((status, children()?.saturating_sub(before)));
                }
            }
            thread::sleep(PATIENCE);
        }
    }
}

/// The processor time of all processes that were started here, have ended, and were waited for.
fn children() -> Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let times = [usage.user_time(), usage.system_time()];
    let micros: i64 = times.iter().map(|time| time.tv_sec() * 1_000_000 + time.tv_usec()).sum();
    Ok(Duration::from_micros(micros.unsigned_abs()))
}

fn print(log: &Path) -> Result<()> {
    io::copy(&mut File::open(log)?, &mut io::stdout())?;
    Ok(())
}

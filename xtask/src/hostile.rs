//! Runs the command on inputs that exhaust time or memory.
//!
//! Every row of the table is an input that a user could receive: a history in each format, a specification, a bundle, a
//! report, a command line. The command runs on it with `--timeout` and `--max-memory`. It must end within
//! [`EXTRA_TIME`] of its time limit, use at most [`most_memory`], and exit with a code listed in the row. Any other
//! exit code, such as that of a panic, fails the step.
//!
//! Inputs are written in pieces, because the memory that this process uses before it starts a child counts for the
//! child.

mod inputs;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use wait4::Wait4 as _;

use crate::workspace::{Build, Workspace};

/// How long a command may take beyond its time limit.
const EXTRA_TIME: Duration = Duration::from_secs(1);

/// A command that takes longer than this beyond its limit is ended.
const PATIENCE: Duration = Duration::from_secs(30);

/// How much memory a command may use.
fn most_memory(limit: u64) -> u64 {
    limit + limit / 5 + (64 << 20)
}

/// An input, and how the command is run on it.
struct Case {
    area: &'static str,
    name: &'static str,
    /// Makes the input in an empty directory, and says which arguments to run the command with there.
    make: fn(&Path) -> Result<String>,
    /// The file for standard input.
    stdin: &'static str,
    timeout: Duration,
    /// In bytes.
    memory: u64,
    /// The exit codes that are right.
    exits: &'static [i32],
    /// Only part of the long table.
    is_long: bool,
}

/// The time and memory of a command, and how it ended.
struct Used {
    time: Duration,
    memory: u64,
    exit: Option<i32>,
    said: String,
}

/// The selection of inputs, and the command.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Also the larger inputs.
    pub(crate) full: bool,
    /// Replace the table in `bench/README.md`.
    pub(crate) write: bool,
    /// The command; built if `None`.
    pub(crate) command: Option<PathBuf>,
    /// Only inputs whose name contains this.
    pub(crate) name: Option<String>,
}

/// Runs every case, prints the table, and fails if a limit does not hold.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let command = match &options.command {
        Some(command) => command.canonicalize()?,
        None => workspace.build_command(Build::Debug)?.join("omnilink"),
    };
    let mut table = String::from("| input | | limits | time | memory | exit |\n|---|---|---|---|---|---|\n");
    let (mut count, mut wrong) = (0, Vec::new());
    for case in inputs::all() {
        if (case.is_long && !options.full) || options.name.as_ref().is_some_and(|name| !case.name.contains(name)) {
            continue;
        }
        let used = run_case(&command, &case).with_context(|| case.name)?;
        let row = format!(
            "| {} | {} | {} s, {} MB | {:.2} s | {} MB | {} |",
            case.area,
            case.name,
            case.timeout.as_secs_f64(),
            case.memory >> 20,
            used.time.as_secs_f64(),
            used.memory >> 20,
            used.exit.map_or("signal".into(), |exit| exit.to_string()),
        );
        println!("{row}");
        let _ = writeln!(table, "{row}");
        count += 1;
        wrong.extend(faults(&case, &used).into_iter().map(|fault| format!("{}: {fault}", case.name)));
    }
    ensure!(count > 0, "no input is called so");
    if options.write {
        replace(workspace, &table)?;
    }
    if !wrong.is_empty() {
        bail!("{} of {count} inputs:\n  {}", wrong.len(), wrong.join("\n  "));
    }
    println!("{count} inputs, all within their limits");
    Ok(())
}

fn faults(case: &Case, used: &Used) -> Vec<String> {
    let mut faults = Vec::new();
    if used.time > case.timeout + EXTRA_TIME {
        faults.push(format!("took {:.2} s", used.time.as_secs_f64()));
    }
    if used.memory > most_memory(case.memory) {
        faults.push(format!("used {} MB of {}", used.memory >> 20, case.memory >> 20));
    }
    if !used.exit.is_some_and(|exit| case.exits.contains(&exit)) {
        faults.push(format!("ended with {:?} instead of {:?}: {}", used.exit, case.exits, used.said));
    }
    faults
}

fn run_case(command: &Path, case: &Case) -> Result<Used> {
    let directory = tempfile::tempdir()?;
    let args = (case.make)(directory.path())?;
    // Each case has its own directories and names, so that cases cannot affect each other.
    let (inside, scratch) = (directory.path().join("in"), directory.path().join("scratch"));
    fs::create_dir_all(&inside)?;
    fs::create_dir_all(&scratch)?;
    let said = directory.path().join("said");
    let output = File::create(&said)?;
    let begun = Instant::now();
    let mut child = Command::new(command)
        .args(args.split_whitespace())
        .current_dir(&inside)
        .env("TMPDIR", &scratch)
        .env_remove("GITHUB_ACTIONS")
        .stdin(if case.stdin.is_empty() { Stdio::null() } else { File::open(case.stdin)?.into() })
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()?;
    let (id, limit) = (child.id(), case.timeout + PATIENCE);
    let (ended, end) = std::sync::mpsc::channel::<()>();
    let used = std::thread::scope(|scope| {
        scope.spawn(move || {
            if end.recv_timeout(limit) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                // The child is not waited for anywhere else, so its number is still its own.
                let _ = Command::new("kill").args(["-KILL", &id.to_string()]).status();
            }
        });
        let used = child.wait4();
        drop(ended);
        used
    })?;
    let time = begun.elapsed();
    let said = String::from_utf8_lossy(&fs::read(&said)?).chars().take(400).collect();
    Ok(Used { time, memory: used.rusage.maxrss, exit: used.status.code(), said })
}

/// Replaces the table in `bench/README.md`.
fn replace(workspace: &Workspace, table: &str) -> Result<()> {
    let path = workspace.root().join("bench/README.md");
    let text = fs::read_to_string(&path)?;
    let (begin, end) = ("<!-- hostile -->\n", "<!-- end of hostile -->");
    let (before, rest) = text.split_once(begin).context("no place for the table")?;
    let (_, after) = rest.split_once(end).context("the place for the table does not end")?;
    fs::write(&path, format!("{before}{begin}\n{table}\n{end}{after}"))?;
    Ok(())
}

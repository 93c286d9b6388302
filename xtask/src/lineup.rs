//! Checks objects without a specification, and prints a table like that of the paper: for each object its methods, the
//! tests, what failed, and how long the phases took.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::workspace::Workspace;

/// A directory with an object program, the program, and the objects to choose by its argument.
struct Program {
    directory: &'static str,
    run: &'static str,
    objects: &'static [&'static str],
}

const PROGRAMS: [Program; 3] = [
    Program {
        directory: "examples/lineup-cpp",
        run: "target/objects",
        objects: &[
            "queue-wrong",
            "queue",
            "counter-wrong",
            "counter",
            "event-wrong",
            "event",
            "bag-wrong",
            "bag",
            "moodycamel",
            "moodycamel-blocking",
            "boost-queue",
            "boost-stack",
            "boost-spsc",
            "semaphore",
            "latch",
            "barrier",
            "blocking-queue",
            "stoppable-queue",
        ],
    },
    Program {
        directory: "examples/lineup-rust",
        run: "target/release/lineup-rust",
        objects: &["queue", "queue-fixed", "counter", "counter-fixed", "event", "event-fixed", "bag", "bag-fixed"],
    },
    Program {
        directory: "examples/lineup-crates",
        run: "target/release/lineup-crates",
        objects: &[
            "std-channel",
            "std-sync-channel",
            "std-queue",
            "std-rwlock",
            "std-once",
            "std-barrier",
            "parking-lot-mutex",
            "parking-lot-rwlock",
            "parking-lot-event",
            "crossbeam-array",
            "crossbeam-seg",
            "crossbeam-injector",
            "crossbeam-worker",
            "crossbeam-bounded",
            "crossbeam-unbounded",
            "crossbeam-skipmap",
            "dashmap",
            "papaya",
            "flume-bounded",
            "flume-unbounded",
            "tokio-semaphore",
            "tokio-mutex",
            "tokio-rwlock",
            "tokio-bounded",
            "tokio-unbounded",
            "tokio-watch",
            "tokio-once",
            "event-listener",
        ],
    },
];

/// What is asked about each object.
pub(crate) struct Asked {
    /// Only objects whose directory or name contains this.
    pub(crate) only: Option<String>,
    pub(crate) size: String,
    pub(crate) tests: u64,
    /// The largest time for one object.
    pub(crate) time: String,
}

impl Asked {
    /// A few tests of each object.
    pub(crate) fn quick() -> Asked {
        Asked { only: None, size: "2x2".into(), tests: 5, time: "30s".into() }
    }
}

pub(crate) fn run(workspace: &Workspace, asked: &Asked) -> Result<()> {
    let omnilink = workspace.build_programs()?.join("omnilink");
    println!(
        "| object | methods | tests | failing | serial runs | phase 1 | executions | phase 2 | smallest failing test |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for Program { directory, run, objects } in PROGRAMS {
        let is_asked =
            |name: &str| asked.only.as_deref().is_none_or(|only| directory.contains(only) || name.contains(only));
        let mut is_built = false;
        for name in objects.iter().filter(|name| is_asked(name)) {
            let command = |args: &[&str]| {
                let mut command = Command::new(&omnilink);
                command.arg("lineup").arg(".").args(args);
                command.args(is_built.then_some("--no-build")).args(["--", run, name]);
                command.current_dir(workspace.root().join(directory));
                command
            };
            let calls = output(command(&["--calls"]))?;
            let methods = methods(&calls);
            is_built = true;
            println!(
                "| {directory} {name} | {methods} | {} |",
                row(&workspace.root().join(directory), &omnilink, asked, &[run, name])?
            );
        }
    }
    Ok(())
}

/// The number of different methods.
fn methods(calls: &str) -> usize {
    let mut names: Vec<&str> = calls.lines().filter_map(|call| call.split('(').next()).collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}

fn output(mut command: Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.code().is_some_and(|code| code != 2), "{command:?}: {text}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The cells of an object, measured.
fn row(directory: &Path, omnilink: &Path, asked: &Asked, run: &[&str]) -> Result<String> {
    let mut command = Command::new(omnilink);
    command.args(["lineup", ".", "--no-build", "--keep-going", "--format", "json", "--progress", "none"]);
    command.args(["--size", &asked.size, "--tests", &asked.tests.to_string(), "--time", &asked.time]);
    command.arg("--").args(run).current_dir(directory);
    let printed: Value = serde_json::from_str(&output(command)?)?;
    let tests = printed["tests"].as_array().context("the answer has tests")?;
    let sum = |path: [&str; 2]| tests.iter().map(|test| test[path[0]][path[1]].as_f64().unwrap_or(0.0)).sum::<f64>();
    let count = |word: &str| tests.iter().filter(|test| test["verdict"] == word).count();
    let is_failing = |test: &&Value| {
        !["passed", "not explored to the end", "interrupted"].contains(&test["verdict"].as_str().unwrap_or_default())
    };
    let failing: Vec<&Value> = tests.iter().filter(is_failing).collect();
    let smallest = failing.iter().min_by_key(|test| test["smallest"].as_str().map_or(0, str::len));
    let smallest = smallest.map_or(String::new(), |test| {
        format!(
            "`{}`: {}",
            test["smallest"].as_str().unwrap_or_default().replace('|', "\\|"),
            test["verdict"].as_str().unwrap_or_default()
        )
    });
    let unfinished = count("not explored to the end");
    let unfinished = if unfinished > 0 { format!(" ({unfinished} unfinished)") } else { String::new() };
    let serial = (sum(["serial", "full"]) + sum(["serial", "stuck"])) / tests.len().max(1) as f64;
    Ok(format!(
        "{}{unfinished} | {} | {serial:.0} | {:.1} s | {:.0} | {:.1} s | {smallest}",
        tests.len(),
        failing.len(),
        sum(["serial", "seconds"]),
        sum(["concurrent", "executions"]),
        sum(["concurrent", "seconds"]),
    ))
}

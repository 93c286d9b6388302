//! Whether the same seed gives the same execution in another process.
//!
//! Each execution has a process of its own, with another environment and in another directory than the one before. What
//! is compared are all steps, byte by byte: who did what, at which address, with which value, at which place in the code,
//! and who could have been chosen instead.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use omnilink_explore::{ExecutionOrder, Once};

use crate::programs::{Build, LONG, Programs};
use crate::table::Table;

/// Prints the table, and fails if two executions with the same seed differ.
pub(crate) fn run(programs: &Programs, quick: bool) -> Result<()> {
    let (times, seeds) = if quick { (20, 10) } else { (100, 50) };
    let condvar = "crates/sched/tests/programs/condvar.cpp";
    let moodycamel = "crates/sched/tests/programs/moodycamel.cpp";
    let rust = programs.rust()?;
    let all = [
        ("C++ mutex and condition variable, g++", programs.cxx("g++", condvar, Build::Controlled)?),
        ("C++ mutex and condition variable, clang++", programs.cxx("clang++", condvar, Build::Controlled)?),
        ("moodycamel::ConcurrentQueue, 3 threads, g++", programs.cxx("g++", moodycamel, Build::Controlled)?),
        ("moodycamel::ConcurrentQueue, 3 threads, clang++", programs.cxx("clang++", moodycamel, Build::Controlled)?),
        ("Rust mpsc", rust.join("mpsc")),
        ("Rust Mutex and Condvar", rust.join("mutex_condvar")),
        ("crossbeam ArrayQueue", rust.join("crossbeam")),
    ];
    println!("repeat: one seed in {times} processes, and {seeds} seeds; logs are compared byte by byte");
    let mut table = Table::new(&["program", "steps", "identical", "of", "different", "of seeds"]);
    let mut differing = Vec::new();
    for (name, program) in all {
        let first = log(programs, &program, 1, 0)?;
        let mut identical = 1;
        for number in 1..times {
            identical += usize::from(log(programs, &program, 1, number)? == first);
        }
        let different: BTreeSet<Vec<u8>> =
            (1..=seeds).map(|seed| log(programs, &program, seed, 0)).collect::<Result<_>>()?;
        let numbers =
            [first.len() / size_of::<omnilink_schedule::Step>(), identical, times, different.len(), seeds as usize];
        table.row(std::iter::once(name.to_owned()).chain(numbers.iter().map(usize::to_string)));
        if identical != times {
            differing.push(name);
        }
    }
    print!("{table}");
    ensure!(differing.is_empty(), "executions with the same seed differ: {}", differing.join(", "));
    Ok(())
}

/// All steps of an execution in a process of its own, whose surroundings depend on a number.
fn log(programs: &Programs, program: &Path, seed: u64, number: usize) -> Result<Vec<u8>> {
    let order = ExecutionOrder { seed, ..ExecutionOrder::default() };
    let once = Once::new(&order, None, &programs.runtime(), programs.scratch())?;
    let mut command = Command::new(program);
    command.current_dir(directory(programs.scratch(), number)?);
    for variable in 0..number % 7 {
        command.env(format!("SURROUNDINGS_{variable}"), "x".repeat(number * 37));
    }
    let (execution, _) = once.run(&command, LONG).with_context(|| program.display().to_string())?;
    ensure!(!execution.steps.is_empty(), "{} made no steps", program.display());
    Ok(bytemuck::cast_slice(&execution.steps).to_vec())
}

/// A directory whose path is longer for larger numbers.
fn directory(scratch: &Path, number: usize) -> Result<PathBuf> {
    let directory = scratch.join("d".repeat(1 + number));
    fs::create_dir_all(&directory)?;
    Ok(directory)
}

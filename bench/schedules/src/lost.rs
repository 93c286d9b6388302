//! How often and how soon defects are found: without control, at random, and by exploring everything.
//!
//! The first program loses an update: threads load a number and store one more. How many classes of executions it has
//! can be counted by hand. In each class the order of loads and stores of the number is the same up to loads that change
//! places, so with `(threads, increments)` there are 4 for (2, 1), 34 for (2, 2) and 36 for (3, 1). The second program
//! wakes one of those who wait at a condition variable, and it may be the wrong one: then all wait forever.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail, ensure};
use omnilink_explore::strategy::{Dfs, Dpor, Sampling, Strategy};
use omnilink_explore::{Control, Ending, ExecutionOrder};
use omnilink_schedule::channel::Policy;

use crate::programs::{Build, Programs, execute};
use crate::table::{Table, or_dash};

/// Programs whose classes can be counted: how many threads, how many increments by each, and how many classes.
const COUNTED: [(u32, u32, u64); 3] = [(2, 1, 4), (2, 2, 34), (3, 1, 36)];

/// What a strategy found.
struct Found {
    executions: u64,
    hits: u64,
    first: Option<u64>,
    asleep: u64,
    is_complete: bool,
}

/// Prints the tables, and fails if a count is wrong.
pub(crate) fn run(programs: &Programs, quick: bool) -> Result<()> {
    let times = if quick { 500 } else { 10_000 };
    let lost = "crates/sched/tests/programs/lost.cpp";
    let (native, controlled) =
        (programs.cxx("g++", lost, Build::Native)?, programs.cxx("g++", lost, Build::Controlled)?);

    println!("lost: two threads, each with one load and one store; an update is lost");
    let mut table = Table::new(&["how", "executions", "hits", "first", "hits in %", "asleep", "complete"]);
    row(&mut table, "native, a process each", &stress(&native, &["2", "1"], times)?);
    let mut control = programs.control(&controlled, &["2", "1"])?;
    let is_lost = |ended: &Ending| matches!(ended, Ending::Crashed { how, .. } if how == "exited with code 1");
    sample(&mut table, &mut control, times, &is_lost)?;
    explore(&mut table, &mut control, None, &is_lost)?;
    print!("{table}");

    println!("\nlost: classes of executions, counted by hand and explored");
    let mut table = Table::new(&["threads", "increments", "classes", "executions", "asleep", "hits", "first"]);
    for (threads, increments, classes) in COUNTED {
        let mut control = programs.control(&controlled, &[&threads.to_string(), &increments.to_string()])?;
        let found = follow(&mut Dpor::new(ExecutionOrder::default()), &mut control, u64::MAX, &is_lost, |_| ())?;
        let numbers = [u64::from(threads), u64::from(increments), classes, found.executions, found.asleep, found.hits];
        table.row(numbers.iter().map(u64::to_string).chain([or_dash(found.first)]));
        let shown = found.executions - found.asleep;
        ensure!(found.is_complete, "{threads} threads: the exploration is not complete");
        ensure!(shown == classes, "{threads} threads with {increments} increments have {classes} classes, not {shown}");
    }
    print!("{table}");

    println!("\ncondvar: the wrong one of those who wait is woken, and all wait forever");
    let source = "crates/sched/tests/programs/condvar.cpp";
    let mut table = Table::new(&["how", "executions", "hits", "first", "hits in %", "asleep", "complete"]);
    let mut control = programs.control(&programs.cxx("g++", source, Build::Controlled)?, &["bug"])?;
    let is_stuck = |ended: &Ending| *ended == Ending::Deadlock;
    sample(&mut table, &mut control, times / 5, &is_stuck)?;
    explore(&mut table, &mut control, Some(if quick { 1 } else { 2 }), &is_stuck)?;
    print!("{table}");
    Ok(())
}

fn row(table: &mut Table, how: &str, found: &Found) {
    table.row([
        how.to_owned(),
        found.executions.to_string(),
        found.hits.to_string(),
        or_dash(found.first),
        format!("{:.2}", 100.0 * found.hits as f64 / found.executions as f64),
        found.asleep.to_string(),
        if found.is_complete { "yes" } else { "no" }.to_owned(),
    ]);
}

/// Runs a program without control, as often as that.
fn stress(program: &Path, arguments: &[&str], times: u64) -> Result<Found> {
    let mut found = Found { executions: times, hits: 0, first: None, asleep: 0, is_complete: false };
    for number in 1..=times {
        match Command::new(program).args(arguments).status()?.code() {
            Some(0) => {}
            Some(1) => {
                found.hits += 1;
                found.first.get_or_insert(number);
            }
            _ => bail!("{} crashed", program.display()),
        }
    }
    Ok(found)
}

/// Adds a row for each policy that draws at random.
fn sample(table: &mut Table, control: &mut Control, times: u64, is_hit: &dyn Fn(&Ending) -> bool) -> Result<()> {
    for (name, policy) in [("random", Policy::Random), ("pct", Policy::Pct), ("pos", Policy::Pos)] {
        let mut sampling = Sampling::new(ExecutionOrder { policy, seed: 1, ..ExecutionOrder::default() });
        let found = follow(&mut sampling, control, times, is_hit, |_| ())?;
        ensure!(found.hits > 0, "{name} found nothing in {times} executions");
        row(table, name, &found);
    }
    Ok(())
}

/// Adds rows for the strategies that end. `most` is the highest number of preemptions that are explored.
fn explore(
    table: &mut Table,
    control: &mut Control,
    most: Option<u32>,
    is_hit: &dyn Fn(&Ending) -> bool,
) -> Result<()> {
    let mut dfs = Dfs::new(ExecutionOrder::default(), most);
    let mut bounds = Vec::new();
    let found = follow(&mut dfs, control, u64::MAX, is_hit, |found| bounds.push((found.executions, found.hits)))?;
    // How many executions there were, and how many hits, once a bound was exhausted.
    let mut last = 0;
    for (bound, executions) in dfs.per_bound().iter().enumerate() {
        last += executions;
        let place = usize::try_from(last)? - 1;
        let (executions, hits) = bounds[place];
        let first = found.first.filter(|&first| first <= executions);
        let is_complete = executions == found.executions && found.is_complete;
        row(
            table,
            &format!("dfs, at most {bound} preemptions"),
            &Found { executions, hits, first, is_complete, asleep: 0 },
        );
    }
    ensure!(found.hits > 0, "dfs found nothing");
    let found = follow(&mut Dpor::new(ExecutionOrder::default()), control, u64::MAX, is_hit, |_| ())?;
    ensure!(found.hits > 0 && found.is_complete, "dpor found nothing, or is not complete");
    row(table, "dpor", &found);
    Ok(())
}

/// Lets a strategy choose executions, and shows what was found after each.
fn follow(
    strategy: &mut dyn Strategy,
    control: &mut Control,
    most: u64,
    is_hit: &dyn Fn(&Ending) -> bool,
    mut observe: impl FnMut(&Found),
) -> Result<Found> {
    let mut found = Found { executions: 0, hits: 0, first: None, asleep: 0, is_complete: false };
    while found.executions < most {
        let Some(order) = strategy.next() else { break };
        let execution = execute(control, &order)?;
        ensure!(
            matches!(execution.ended, Ending::Finished | Ending::Asleep) || is_hit(&execution.ended),
            "an execution ended as {:?}",
            execution.ended
        );
        found.executions += 1;
        found.asleep += u64::from(execution.ended == Ending::Asleep);
        if is_hit(&execution.ended) {
            found.hits += 1;
            found.first.get_or_insert(found.executions);
        }
        strategy.learn(&execution);
        observe(&found);
    }
    found.is_complete = strategy.is_complete();
    Ok(found)
}

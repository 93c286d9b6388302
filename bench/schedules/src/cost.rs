//! What operations and executions cost: without instrumentation, with ThreadSanitizer, and under control.
//!
//! All three are the same source, measured in the same run. Time is processor time, user and system, of the program and
//! its threads; only executions per second are by the clock on the wall, with all that the driver does. What a program
//! costs before it does anything is taken off, by measuring one that does nothing.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::Result;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use omnilink_explore::ExecutionOrder;
use omnilink_schedule::Decision;
use omnilink_schedule::channel::Policy;

use crate::programs::{Build, Programs, execute, succeed};
use crate::table::Table;

/// What something took, in seconds.
#[derive(Clone, Copy)]
struct Took {
    /// Of processors, in programs that were started.
    program: f64,
    /// Of processors, here.
    driver: f64,
    /// By the clock.
    wall: f64,
}

impl Took {
    /// What is left of it without this.
    fn without(self, other: Took) -> Took {
        Took { program: self.program - other.program, driver: self.driver - other.driver, wall: self.wall - other.wall }
    }
}

/// The same program in three ways.
struct Three<'a> {
    programs: &'a Programs,
    native: &'a Path,
    sanitized: &'a Path,
    controlled: &'a Path,
}

/// Prints the tables.
pub(crate) fn run(programs: &Programs, quick: bool) -> Result<()> {
    let source = "bench/schedules/programs/cost.cpp";
    let [native, sanitized, controlled] =
        [Build::Native, Build::Sanitized, Build::Controlled].map(|build| programs.cxx("g++", source, build));
    let (native, sanitized, controlled) = (native?, sanitized?, controlled?);
    let three = Three { programs, native: &native, sanitized: &sanitized, controlled: &controlled };
    three.operations(if quick { 1 } else { 4 })?;
    println!();
    three.executions(if quick { 200 } else { 2000 })
}

impl Three<'_> {
    /// Prints what operations cost.
    fn operations(&self, scale: u64) -> Result<()> {
        println!("cost: nanoseconds of processor time for one operation");
        let mut table =
            Table::new(&["operation", "native", "ThreadSanitizer", "controlled", "native = 1", "ThreadSanitizer = 1"]);
        let (fast, slow, switching) = (2_000_000 * scale, 200_000, 50_000);
        let mut row = |name: &str, native: f64, sanitized: f64, controlled: f64| {
            let costs = [native, sanitized, controlled].map(|cost| format!("{:.1}", cost * 1e9));
            let ratios = [controlled / native, controlled / sanitized].map(|ratio| format!("{ratio:.1}"));
            table.row(std::iter::once(name.to_owned()).chain(costs).chain(ratios));
        };
        let steady = ExecutionOrder { policy: Policy::Steady, limit: 1 << 20, ..ExecutionOrder::default() };
        let touch = |times: u64| vec!["touch".to_owned(), times.to_string()];
        let add = |threads: u64| move |times: u64| vec!["add".to_owned(), threads.to_string(), times.to_string()];
        row(
            "read or write without synchronization",
            per(fast, |times| alone(self.native, &touch(times)))? / 2.0,
            per(fast, |times| alone(self.sanitized, &touch(times)))? / 2.0,
            per(fast, |times| self.obeyed(&touch(times), &steady))? / 2.0,
        );
        row(
            "fetch_add, one thread",
            per(fast, |times| alone(self.native, &add(1)(times)))?,
            per(fast, |times| alone(self.sanitized, &add(1)(times)))?,
            per(slow, |times| self.obeyed(&add(1)(times), &steady))?,
        );
        let native = per(fast, |times| alone(self.native, &add(2)(times)))? / 2.0;
        let sanitized = per(fast, |times| alone(self.sanitized, &add(2)(times)))? / 2.0;
        let without = per(slow, |times| self.obeyed(&add(2)(times), &steady))? / 2.0;
        row("fetch_add, two threads, no switches", native, sanitized, without);
        let random = ExecutionOrder { policy: Policy::Random, ..steady.clone() };
        let half = per(switching, |times| self.obeyed(&add(2)(times), &random))? / 2.0;
        row("fetch_add, two threads, at random", native, sanitized, half);
        let follow = (0..2 * switching).map(|number| Decision::thread(1 + (number % 2) as u8)).collect();
        let alternating = ExecutionOrder { follow, ..steady };
        let with = per(switching, |times| self.obeyed(&add(2)(times), &alternating))? / 2.0;
        row("fetch_add, two threads, a switch before each", native, sanitized, with);
        print!("{table}");
        println!("  one switch: {:.2} us", (with - without) * 1e6);
        Ok(())
    }

    /// Prints what executions cost.
    fn executions(&self, times: u64) -> Result<()> {
        println!("cost: one execution of a small harness, in microseconds of processor time");
        let mut table = Table::new(&["threads", "how", "program", "driver", "native = 1", "executions/s"]);
        for threads in [2, 3] {
            let once = ["once".to_owned(), threads.to_string()];
            let many = |times: u64| ["many".to_owned(), threads.to_string(), times.to_string()];
            let processes = |program: &Path| measure(|| (0..times).try_for_each(|_| start(program, &once)));
            let together = |program: &Path| -> Result<Took> {
                Ok(measure(|| start(program, &many(times)))?.without(measure(|| start(program, &many(0)))?))
            };
            let serve = |arguments: &[String]| -> Result<Took> {
                let one = measure(|| self.serve(arguments, 1))?;
                Ok(measure(|| self.serve(arguments, times + 1))?.without(one))
            };
            let (server, batch) = (serve(&once)?, serve(&many(0))?);
            let groups = [
                [
                    ("native, a process each", processes(self.native)?),
                    ("ThreadSanitizer, a process each", processes(self.sanitized)?),
                    ("controlled, a fork each", server),
                ],
                [
                    ("native, in one process", together(self.native)?),
                    ("ThreadSanitizer, in one process", together(self.sanitized)?),
                    ("controlled, in one process", batch),
                ],
            ];
            for group in groups {
                let native = group[0].1.program;
                for (how, took) in group {
                    let each = |seconds: f64| format!("{:.1}", seconds.max(0.0) * 1e6 / times as f64);
                    table.row([
                        threads.to_string(),
                        how.to_owned(),
                        each(took.program),
                        each(took.driver),
                        format!("{:.2}", took.program / native),
                        format!("{:.0}", times as f64 / took.wall),
                    ]);
                }
            }
        }
        print!("{table}");
        Ok(())
    }

    /// Executes a program under control, three times, to even out what the machine does else.
    fn obeyed(&self, arguments: &[String], order: &ExecutionOrder) -> Result<f64> {
        const TIMES: u32 = 3;
        let took = measure(|| {
            let mut control = self.programs.control(self.controlled, arguments)?;
            (0..TIMES).try_for_each(|_| execute(&mut control, order).map(|_| ()))
        })?;
        Ok(took.program / f64::from(TIMES))
    }

    /// Executes a small harness so often. The last order says that it is the last, so that the process ends by itself and
    /// is counted.
    fn serve(&self, arguments: &[String], times: u64) -> Result<()> {
        let mut control = self.programs.control(self.controlled, arguments)?;
        for seed in 1..=times {
            let environment = if seed == times { vec![("LAST".into(), "1".into())] } else { Vec::new() };
            execute(&mut control, &ExecutionOrder { seed, environment, batch: true, ..ExecutionOrder::default() })?;
        }
        Ok(())
    }
}

/// The cost of one item: the cost of all of them minus that of a run with none, divided by their number.
fn per(times: u64, cost: impl Fn(u64) -> Result<f64>) -> Result<f64> {
    Ok((cost(times)? - cost(0)?) / times as f64)
}

/// What a program costs that runs without control.
fn alone(program: &Path, arguments: &[String]) -> Result<f64> {
    Ok(measure(|| start(program, arguments))?.program)
}

fn start(program: &Path, arguments: &[String]) -> Result<()> {
    succeed(Command::new(program).args(arguments))
}

/// What something takes.
fn measure(what: impl FnOnce() -> Result<()>) -> Result<Took> {
    let of = |who| -> Result<f64> {
        let usage = getrusage(who)?;
        let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
        Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
    };
    let (program, driver, start) = (of(UsageWho::RUSAGE_CHILDREN)?, of(UsageWho::RUSAGE_SELF)?, Instant::now());
    what()?;
    let wall = start.elapsed().as_secs_f64();
    Ok(Took { program: of(UsageWho::RUSAGE_CHILDREN)? - program, driver: of(UsageWho::RUSAGE_SELF)? - driver, wall })
}

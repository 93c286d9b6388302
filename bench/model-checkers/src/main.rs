//! Compares Line-Up with loom and shuttle on the objects of `examples/lineup-rust`.
//!
//! The objects are ported to the locks and atomics of both libraries, and each smallest failing test is written by hand
//! with its assertion. `cargo run --release -- --omnilink PATH` prints one table. Every execution of a checker has a
//! process of its own, which is this program again with the word `child`: both libraries change the panic hook.
//!
//! The columns are the executions until the wrong object fails, and those of a whole exploration of the fixed one;
//! schedules drawn at random have no such end, and their first column is the median over 20 seeds. `none in all N` is a
//! complete exploration without a failure, `none in N` one that a limit ended. OmniLink's serial runs come before the
//! plus sign, and its times are those that it reports, without the build. The lines are those of the object that differ
//! plus those of the test; `lines` says which are left out.

mod lines;
mod loom_port;
mod measure;
mod omnilink;
mod shuttle_port;
mod table;

use std::env;
use std::error::Error;
use std::panic;
use std::process::{Command, ExitCode, Stdio};

use crate::measure::{Case, Outcome, Version, median};
use crate::omnilink::Omnilink;
use crate::shuttle_port::Schedule;
use crate::table::{Row, Table};

/// A checker with its schedules.
#[derive(Clone, Copy)]
enum Checker {
    Shuttle(Schedule),
    /// With at most this many preemptions.
    Loom(Option<usize>),
}

const CHECKERS: [Checker; 5] = [
    Checker::Shuttle(Schedule::Random),
    Checker::Shuttle(Schedule::Pct(3)),
    Checker::Shuttle(Schedule::Dfs),
    Checker::Loom(Some(2)),
    Checker::Loom(None),
];

impl Checker {
    fn name(self) -> &'static str {
        match self {
            Checker::Shuttle(Schedule::Random) => "shuttle, random",
            Checker::Shuttle(Schedule::Pct(_)) => "shuttle, pct of depth 3",
            Checker::Shuttle(Schedule::Dfs) => "shuttle, dfs",
            Checker::Loom(Some(_)) => "loom, at most 2 preemptions",
            Checker::Loom(None) => "loom, all schedules",
        }
    }

    fn is_random(self) -> bool {
        matches!(self, Checker::Shuttle(Schedule::Random | Schedule::Pct(_)))
    }

    fn port(self) -> &'static str {
        if matches!(self, Checker::Shuttle(_)) { "shuttle_port" } else { "loom_port" }
    }

    fn run(self, case: Case, version: Version, seed: u64) -> Outcome {
        match self {
            Checker::Shuttle(schedule) => shuttle_port::run(case, version, schedule, seed),
            Checker::Loom(bound) => loom_port::run(case, version, bound),
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["child", checker, case, version, seed] => child([checker, case, version, seed]),
        [] => compare(None),
        ["--omnilink", path] => compare(Some(path)),
        _ => Err("expected no arguments or `--omnilink PATH`".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(omnilink: Option<&str>) -> Result<(), Box<dyn Error>> {
    let omnilink = omnilink.map(Omnilink::new).transpose()?;
    let mut table = Table::default();
    for case in Case::ALL {
        if let Some(omnilink) = &omnilink {
            for row in omnilink.rows(case)? {
                table.add(row);
            }
        }
        for checker in CHECKERS {
            table.add(row(checker, case)?);
        }
    }
    if let Some(omnilink) = &omnilink {
        table.add(omnilink.bag()?);
    }
    table.add(Row::not_applicable(measure::BAG, "shuttle, loom"));
    print!("{}", table.render());
    Ok(())
}

fn row(checker: Checker, case: Case) -> Result<Row, Box<dyn Error>> {
    let run = |version, seed| parent(checker, case, version, seed);
    let wrong = if checker.is_random() { median(|seed| run(Version::Wrong, seed))? } else { run(Version::Wrong, 0)? };
    let fixed = if checker.is_random() { None } else { Some(run(Version::Fixed, 0)?) };
    Ok(Row {
        test: case.test(),
        checker: checker.name().to_owned(),
        wrong: table::search(&wrong),
        wrong_time: table::time(wrong.seconds),
        fixed: fixed.as_ref().map_or_else(|| "no end".to_owned(), table::exploration),
        fixed_time: fixed.map_or_else(String::new, |fixed| table::time(fixed.seconds)),
        lines: lines::port(checker.port(), case),
    })
}

/// Runs a checker in a process of its own.
fn parent(checker: Checker, case: Case, version: Version, seed: u64) -> Result<Outcome, Box<dyn Error>> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["child", checker.name(), case.test(), version.name(), &seed.to_string()]);
    let output = command.stderr(Stdio::null()).output()?;
    // loom may abort after it has reported a failure.
    let outcome = Outcome::parse(&String::from_utf8(output.stdout)?);
    outcome.map_err(|error| format!("{} on `{}`: {error}, {}", checker.name(), case.test(), output.status).into())
}

fn child([checker, case, version, seed]: [&str; 4]) -> Result<(), Box<dyn Error>> {
    let checker = CHECKERS.into_iter().find(|known| known.name() == checker).ok_or("unrecognized checker")?;
    let case = Case::ALL.into_iter().find(|known| known.test() == case).ok_or("unrecognized test")?;
    let version = Version::ALL.into_iter().find(|known| known.name() == version).ok_or("unrecognized version")?;
    panic::set_hook(Box::new(|_| {}));
    let outcome = checker.run(case, version, seed.parse()?);
    // shuttle prints its seeds on the same stream.
    println!("\n{outcome}");
    Ok(())
}

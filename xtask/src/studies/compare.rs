//! Compares how soon each schedule finds the expected failures of the studies.
//!
//! Every expectation of a failure in a harness that can be controlled is tried with free threads and with three ways of
//! control, each with several seeds. A controlled run is far shorter than a free one, so neither runs nor operations
//! alone are a fair measure: the table has both, and the time below them. All three belong to one seed: the median by
//! runs, where a seed that finds nothing comes last.

use std::path::Path;

use anyhow::Result;

use super::{Expectation, Schedule, Selected, Study, Tally, Verdict, select};
use crate::workspace::{Build, Workspace};

/// In the order of the columns.
const SCHEDULES: [Schedule; 4] = [Schedule::Free, Schedule::Random, Schedule::Pct, Schedule::Pos];

/// How long each seed may take, in seconds.
const SECONDS: u64 = 30;

/// Each run has the next seed. Campaigns whose first seeds are closer than this share runs.
const APART: u64 = 1_000_000;

/// The cost of a finding.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Effort {
    runs: u64,
    operations: u64,
    seconds: f64,
}

/// Prints a table with one row for each expectation that something is found.
pub(crate) fn compare(workspace: &Workspace, selected: Selected<'_>, build: Build, seeds: u64) -> Result<()> {
    let studies = select(workspace, selected)?;
    let command = workspace.build_command(build)?.join("omnilink");
    println!("{}", heading(seeds));
    for study in &studies {
        let expected: Vec<&Expectation> = study.expect.iter().filter(|expectation| is_compared(expectation)).collect();
        if expected.is_empty() {
            continue;
        }
        study.install_packages()?;
        for Expectation { settings, .. } in expected {
            let mut cells = Vec::new();
            for schedule in SCHEDULES {
                cells.push(cell(&study.efforts(settings, schedule, seeds, &command)?));
            }
            println!("{}", row(&study.name(), &settings.display().to_string(), &cells));
        }
    }
    Ok(())
}

/// True if there is something to find, under control too.
fn is_compared(expectation: &Expectation) -> bool {
    expectation.verdict != Verdict::Accepted && expectation.schedule != Some(Schedule::Free)
}

impl Study {
    /// The cost for each seed; `None` if it found nothing.
    fn efforts(&self, settings: &Path, schedule: Schedule, seeds: u64, command: &Path) -> Result<Vec<Option<Effort>>> {
        let time = format!("{SECONDS}s");
        let efforts = (0..seeds).map(|number| {
            let seed = (1 + number * APART).to_string();
            let tally = self.fuzz(settings, Some(schedule), &["--time", &time, "--seed", &seed], command)?;
            let Tally { runs, operations, first, .. } = tally;
            Ok(first.map(|first| Effort { runs, operations, seconds: first.after }))
        });
        efforts.collect()
    }
}

/// The text above the rows.
fn heading(seeds: u64) -> String {
    let seeds = if seeds == 1 { "one seed".to_owned() } else { format!("the middle one of {seeds} seeds") };
    let names = SCHEDULES.map(|schedule| [schedule.word().to_owned(), String::new()]);
    let units = SCHEDULES.map(|_| [amount("runs", "operations"), "found after".to_owned()]);
    format!(
        "Runs and operations until one is rejected or crashes, and the time below: {seeds}, - if\n\
         nothing in {SECONDS} s. Sizes differ on purpose: each thread makes as many operations as the settings say if it\n\
         runs freely, which is hundreds for most, and 2 to 20 under control.\n\n{}\n{}",
        row("", "", &names),
        row("study", "settings", &units)
    )
}

/// Both lines of a cell: how much it took, and how long. The second one also says how many seeds found something, unless
/// all did.
fn cell(efforts: &[Option<Effort>]) -> [String; 2] {
    let mut found: Vec<Effort> = efforts.iter().copied().flatten().collect();
    found.sort_by_key(|effort| effort.runs);
    let (upper, mut lower) = match found.get(efforts.len() / 2) {
        Some(Effort { runs, operations, seconds }) => {
            (amount(&runs.to_string(), &operations.to_string()), format!("{seconds:.2} s"))
        }
        None => (amount("-", "-"), String::new()),
    };
    if !found.is_empty() && found.len() < efforts.len() {
        lower = format!("{} of {} {lower:>8}", found.len(), efforts.len());
    }
    [upper, lower]
}

fn amount(runs: &str, operations: &str) -> String {
    format!("{runs:>6} {operations:>10}")
}

/// Two lines of the table: words to the left, numbers to the right.
fn row(study: &str, settings: &str, cells: &[[String; 2]]) -> String {
    let line = |study: &str, settings: &str, which: usize| {
        let mut line = format!("{study:12} {settings:16}");
        for cell in cells {
            line += &format!("  {:>17}", cell[which]);
        }
        line.trim_end().to_owned()
    };
    format!("{}\n{}", line(study, settings, 0), line("", "", 1)).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effort(runs: u64) -> Option<Effort> {
        Some(Effort { runs, operations: 30 * runs, seconds: 0.125 })
    }

    #[test]
    fn numbers_stand_below_their_schedules() {
        let cells = [[effort(1); 3], [effort(12); 3], [None; 3], [effort(100_000); 3]].map(|efforts| cell(&efforts));
        insta::assert_snapshot!(format!("{}\n{}", heading(3), row("known-bad", "heapless.toml", &cells)), @"
        Runs and operations until one is rejected or crashes, and the time below: the middle one of 3 seeds, - if
        nothing in 30 s. Sizes differ on purpose: each thread makes as many operations as the settings say if it
        runs freely, which is hundreds for most, and 2 to 20 under control.

                                                    free             random                pct                pos
        study        settings            runs operations    runs operations    runs operations    runs operations
                                             found after        found after        found after        found after
        known-bad    heapless.toml          1         30      12        360       -          -  100000    3000000
                                                  0.12 s             0.12 s                                0.12 s
        ");
    }

    #[test]
    fn a_seed_that_finds_nothing_comes_last() {
        let check = |efforts: &[Option<Effort>]| cell(efforts).join(" / ").trim_start().to_owned();
        insta::assert_snapshot!(check(&[None, effort(7), effort(3)]), @"7        210 / 2 of 3   0.12 s");
        insta::assert_snapshot!(check(&[None, effort(7), None]), @"-          - / 1 of 3");
        insta::assert_snapshot!(check(&[effort(7), effort(3)]), @"7        210 / 0.12 s");
    }
}

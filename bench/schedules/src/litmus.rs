//! What litmus programs show, with memory as it is under control and with memory as weak as C11 allows.
//!
//! For each program there is an outcome that no interleaving has. The standard allows or forbids it; a third kind is
//! allowed and yet never shown, because it would need a load that reads what is stored later, or stores that take effect
//! in another order than they were made.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use omnilink_explore::{Ending, ExecutionOrder};

use crate::programs::{Build, Programs, execute};
use crate::table::Table;

/// What the standard says about an outcome.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    Allowed,
    AllowedButNeverShown,
    Forbidden,
}

use Says::{Allowed, AllowedButNeverShown, Forbidden};

/// A program, outcomes that no interleaving has, and what the standard says about them.
const LITMUSES: &[(&str, &[&str], Says)] = &[
    ("sb-rlx", &["00"], Allowed),
    ("sb-ra", &["00"], Allowed),
    ("sb-sc", &["00"], Forbidden),
    ("sb-fence-ra", &["00"], Allowed),
    ("sb-fence-sc", &["00"], Forbidden),
    ("mp-rlx", &["10"], Allowed),
    ("mp-ra", &["10"], Forbidden),
    ("mp-sc", &["10"], Forbidden),
    ("mp-fence", &["10"], Forbidden),
    ("mp-mutex", &["10"], Forbidden),
    ("lb-rlx", &["11"], AllowedButNeverShown),
    ("lb-ra", &["11"], Forbidden),
    ("lb-sc", &["11"], Forbidden),
    ("iriw-rlx", &["1010"], Allowed),
    ("iriw-ra", &["1010"], Allowed),
    ("iriw-sc", &["1010"], Forbidden),
    ("corr-rlx", &["10", "20", "21"], Forbidden),
    ("corr-sc", &["10", "20", "21"], Forbidden),
    ("wrc-rlx", &["110"], Allowed),
    ("wrc-ra", &["110"], Forbidden),
    ("wrc-sc", &["110"], Forbidden),
    ("2+2w-rlx", &["x=1 y=1"], AllowedButNeverShown),
    ("2+2w-ra", &["x=1 y=1"], AllowedButNeverShown),
    ("2+2w-sc", &["x=1 y=1"], Forbidden),
    ("release-sequence-update", &["110", "120"], Forbidden),
    ("release-sequence-store", &["10"], Forbidden),
    ("update-rlx", &["00", "11"], Forbidden),
    ("dekker-ra", &["broken"], Allowed),
    ("dekker-sc", &["broken"], Forbidden),
    ("peterson-ra", &["broken"], Allowed),
    ("peterson-sc", &["broken"], Forbidden),
];

/// Prints the table, and fails if something forbidden was shown, or something allowed that should be shown was not.
pub(crate) fn run(programs: &Programs, quick: bool) -> Result<()> {
    let times = if quick { 300 } else { 2000 };
    let program = programs.cxx("g++", "crates/sched/tests/programs/litmus.cpp", Build::Controlled)?;
    let listed = String::from_utf8(Command::new(&program).output()?.stdout)?;
    ensure!(
        listed.lines().eq(LITMUSES.iter().map(|(name, _, _)| *name)),
        "there are other programs than these: {listed}"
    );
    println!("litmus: {times} random executions each; outcomes that no interleaving has, and how often they were seen");
    let mut table =
        Table::new(&["program", "outcome", "the standard", "interleaved", "weak", "outcomes interleaved", "weak"]);
    let mut wrong = Vec::new();
    for &(name, outcomes, says) in LITMUSES {
        let interleaved = outcomes_of(programs, &program, name, times, false)?;
        let weak = outcomes_of(programs, &program, name, times, true)?;
        let count =
            |seen: &BTreeMap<String, u64>| outcomes.iter().filter_map(|outcome| seen.get(*outcome)).sum::<u64>();
        let (in_order, out_of_order) = (count(&interleaved), count(&weak));
        let verdict = match says {
            Allowed => "allowed",
            AllowedButNeverShown => "allowed, never shown",
            Forbidden => "forbidden",
        };
        let numbers = [in_order, out_of_order, interleaved.len() as u64, weak.len() as u64];
        let words = [name, &outcomes.join(" or "), verdict].map(str::to_owned);
        table.row(words.into_iter().chain(numbers.iter().map(u64::to_string)));
        if in_order > 0 || (out_of_order > 0) != (says == Allowed) {
            wrong.push(name);
        }
    }
    print!("{table}");
    ensure!(wrong.is_empty(), "outcomes are not those of the standard: {}", wrong.join(", "));
    Ok(())
}

/// How often a program had which outcome.
fn outcomes_of(
    programs: &Programs,
    program: &Path,
    name: &str,
    times: u64,
    weak: bool,
) -> Result<BTreeMap<String, u64>> {
    let mut control = programs.control(program, &[name])?;
    for seed in 1..=times {
        let ended =
            execute(&mut control, &ExecutionOrder { seed, weak, batch: true, ..ExecutionOrder::default() })?.ended;
        ensure!(ended == Ending::Finished, "{name}, seed {seed}: it ended as {ended:?}");
    }
    let said = fs::read_to_string(control.directory().join("said"))?;
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    said.lines().for_each(|line| *seen.entry(line.to_owned()).or_default() += 1);
    ensure!(seen.values().sum::<u64>() == times, "{name}: there are not {times} outcomes");
    Ok(seen)
}

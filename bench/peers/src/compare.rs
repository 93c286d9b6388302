//! Both checkers on the same histories.
//!
//! The run fails if verdicts differ from each other or from what is known, or if ours is slower by more than a tenth and
//! by more than a millisecond.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::cases::{self, Checker};
use crate::measure::{self, Ended, MOST_MEMORY};
use crate::table::{self, Table, memory, ratio, time};

/// One history: its name, whether it is accepted, processor seconds.
struct Measured {
    name: String,
    is_accepted: bool,
    seconds: f64,
}

/// What one checker did with one case.
enum Run {
    Finished {
        histories: Vec<Measured>,
        peak: u64,
    },
    /// It took at least this much.
    Stopped {
        seconds: f64,
        bytes: u64,
    },
}

impl Run {
    fn is_finished(&self) -> bool {
        matches!(self, Run::Finished { .. })
    }

    /// Processor seconds and peak memory, up to the end or until it was stopped.
    fn took(&self) -> (f64, u64) {
        match self {
            Run::Finished { histories, peak } => (histories.iter().map(|history| history.seconds).sum(), *peak),
            Run::Stopped { seconds, bytes } => (*seconds, *bytes),
        }
    }
}

pub fn run(file: Option<&Path>, only: Option<&str>) -> Result<bool> {
    let mut table = Table::new(&["case", "verdict", "OmniLink", "", "porcupine-rs 0.3.0", "", "time", "memory"]);
    let mut is_good = true;
    for case in cases::names().iter().filter(|name| only.is_none_or(|only| name.contains(only))) {
        let (ours, theirs) = (measure(Checker::Omnilink, case)?, measure(Checker::Porcupine, case)?);
        for problem in problems(case, &ours, &theirs)? {
            eprintln!("{case}: {problem}");
            is_good = false;
        }
        let [our_time, our_peak] = cells(&ours);
        let [their_time, their_peak] = cells(&theirs);
        let ratios = match (ours.took(), theirs.took()) {
            ((our_time, our_peak), (their_time, their_peak)) if ours.is_finished() => {
                let more = if theirs.is_finished() { "" } else { "> " };
                let by_memory = ratio(their_peak as f64 / our_peak as f64);
                [format!("{more}{}", ratio(their_time / our_time)), format!("{more}{by_memory}")]
            }
            _ => ["".into(), "".into()],
        };
        let [by_time, by_memory] = ratios;
        table.row([case.clone(), verdict(&ours), our_time, our_peak, their_time, their_peak, by_time, by_memory]);
        if let (Run::Finished { histories, .. }, Run::Finished { histories: theirs, .. }) = (&ours, &theirs)
            && histories.len() > 1
        {
            let pairs = histories.iter().zip(theirs);
            let worst = pairs.min_by(|a, b| (a.1.seconds / a.0.seconds).total_cmp(&(b.1.seconds / b.0.seconds)));
            let (our, their) = worst.context("several histories")?;
            let name = format!("{case}, the worst for us: {}", our.name);
            let by_time = ratio(their.seconds / our.seconds);
            let verdict = if our.is_accepted { "accepted" } else { "rejected" }.into();
            table.row([
                name,
                verdict,
                time(our.seconds),
                "".into(),
                time(their.seconds),
                "".into(),
                by_time,
                "".into(),
            ]);
        }
    }
    table::publish(&table, "compare", file)?;
    Ok(is_good)
}

fn measure(checker: Checker, case: &str) -> Result<Run> {
    let name = if checker == Checker::Omnilink { "omnilink" } else { "porcupine" };
    let output = match measure::run_self(&["child", name, case])? {
        Ended::Well(output) => output,
        Ended::OutOfMemory(seconds) => return Ok(Run::Stopped { seconds, bytes: MOST_MEMORY }),
        Ended::OutOfTime(seconds) => return Ok(Run::Stopped { seconds, bytes: 0 }),
    };
    let (mut histories, mut peak) = (Vec::new(), 0);
    for line in output.lines() {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["peak", bytes] => peak = bytes.parse()?,
            [name, verdict, seconds] => {
                let is_accepted = verdict == "accepted";
                histories.push(Measured { name: name.into(), is_accepted, seconds: seconds.parse()? });
            }
            _ => anyhow::bail!("not a measurement: {line}"),
        }
    }
    ensure!(!histories.is_empty(), "`{case}` measured nothing");
    Ok(Run::Finished { histories, peak })
}

/// What is wrong with a case.
fn problems(case: &str, ours: &Run, theirs: &Run) -> Result<Vec<String>> {
    let Run::Finished { histories: ours, .. } = ours else { return Ok(vec!["OmniLink was stopped".into()]) };
    let mut problems = Vec::new();
    let labels = if case == "etcd" { cases::labels()? } else { Vec::new() };
    for our in ours {
        let label = labels.iter().find(|(log, _)| *log == our.name).map(|(_, is_accepted)| *is_accepted);
        let is_accepted = label.unwrap_or(case.contains("accepted") || case.contains("ok"));
        if our.is_accepted != is_accepted {
            problems.push(format!("OmniLink is wrong about {}", our.name));
        }
    }
    let Run::Finished { histories: theirs, .. } = theirs else { return Ok(problems) };
    for (our, their) in ours.iter().zip(theirs) {
        if our.is_accepted != their.is_accepted {
            problems.push(format!("the checkers disagree about {}", our.name));
        }
        if our.seconds > their.seconds * 1.1 && our.seconds - their.seconds > 1e-3 {
            let (our_time, their_time) = (time(our.seconds), time(their.seconds));
            problems.push(format!("OmniLink is slower on {}: {our_time}, not {their_time}", our.name));
        }
    }
    Ok(problems)
}

fn cells(run: &Run) -> [String; 2] {
    let (seconds, bytes) = run.took();
    match run {
        Run::Finished { .. } => [time(seconds), memory(bytes)],
        Run::Stopped { .. } if bytes == 0 => [format!("stopped after {}", time(seconds)), "".into()],
        Run::Stopped { .. } => [format!("stopped after {}", time(seconds)), format!("> {}", memory(bytes))],
    }
}

fn verdict(run: &Run) -> String {
    let Run::Finished { histories, .. } = run else { return "none".into() };
    let accepted = histories.iter().filter(|history| history.is_accepted).count();
    match (histories.len(), accepted) {
        (1, 1) => "accepted".into(),
        (1, _) => "rejected".into(),
        (all, accepted) => format!("{accepted} accepted, {} rejected", all - accepted),
    }
}

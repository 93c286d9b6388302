//! Prints verdicts, failures and ends of runs, and maps them to exit codes.

use std::path::Path;

use omnilink_campaign::{Error, too_long};
use omnilink_explore::{Blocked, DataRace, Ended, StoreError};
use omnilink_judge::{Failed, InputError};
use omnilink_report::{Report, Verdict, clean};
use omnilink_suggest::counted;

use crate::exit::Exit;
use crate::terminal::{complain, print_complaints};

/// Prints why a history could not be checked.
pub(crate) fn print_failure(failed: &Failed, label: &str) -> Exit {
    match failed {
        Failed::Input(error) => complain(label, error),
        Failed::Stopped(stop) => {
            errln!("{}: inconclusive: {stop}", clean(label));
            Exit::Inconclusive
        }
        Failed::Spec(complaints) => {
            errln!("{}:", clean(label));
            print_complaints(complaints);
            Exit::Wrong
        }
    }
}

/// Prints why a specification cannot be used.
pub(crate) fn print_spec_error(failed: &Failed) -> Exit {
    match failed {
        Failed::Spec(complaints) => {
            print_complaints(complaints);
            Exit::Wrong
        }
        other => print_failure(other, "--spec"),
    }
}

/// The exit code of a verdict.
pub(crate) fn exit_of(report: &Report) -> Exit {
    match report.verdict {
        _ if report.has_raced() => Exit::Raced,
        _ if report.has_failed() => Exit::Crashed,
        _ if report.history.operations == Some(0) => Exit::Empty,
        Verdict::Accepted => Exit::Accepted,
        Verdict::Rejected(_) => Exit::Rejected,
        Verdict::Inconclusive { .. } => Exit::Inconclusive,
    }
}

/// A trace's name for people.
pub(crate) fn label(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { path.display().to_string() }
}

/// Prints why a kept run cannot be found or read.
pub(crate) fn print_store_error(error: StoreError) -> Exit {
    let help = matches!(error, StoreError::Unknown(..)).then(|| "`omnilink runs list` lists them".to_owned());
    complain("runs", &InputError { message: error.to_string(), help })
}

/// Prints why a campaign cannot start or continue.
pub(crate) fn print_campaign_error(error: Error) -> Exit {
    match error {
        Error::About { about, error } => complain(&about, &error),
        Error::Store(error) => print_store_error(error),
        Error::Spec(failed) => print_spec_error(&failed),
        Error::Diverged => complain("the harness", &InputError { message: error.to_string(), help: None }),
        Error::Interrupted => {
            errln!("interrupted");
            Exit::Interrupted
        }
    }
}

/// Prints how a run ended, unless it finished.
pub(crate) fn print_end(ended: &Ended) {
    match ended {
        Ended::Finished => {}
        Ended::Stuck { how, threads } => {
            outln!("  stuck: {}", clean(how));
            print_threads(threads);
        }
        Ended::TooLong { steps } => outln!("  {}", too_long(*steps)),
        Ended::BrokenOff { why } => outln!("  aborted: {}", clean(why)),
        Ended::Interrupted => outln!("  did not end, and was stopped"),
        Ended::TimedOut { threads } => {
            outln!("  did not end, and was stopped");
            print_threads(threads);
        }
        Ended::Crashed { how, said, stack } => {
            outln!("  {}", clean(how));
            said.lines().for_each(|line| outln!("    | {}", clean(line)));
            stack.iter().for_each(|line| outln!("    in {}", clean(line)));
        }
    }
}

/// The exit code of how a run ended, apart from the verdict about its operations.
pub(crate) fn exit_of_end(ended: &Ended, race: Option<&DataRace>) -> Exit {
    match (ended, race) {
        (Ended::Finished, None) => Exit::Nothing,
        (Ended::Finished | Ended::TooLong { .. }, Some(_)) => Exit::Raced,
        (Ended::TooLong { .. } | Ended::BrokenOff { .. }, _) => Exit::Inconclusive,
        _ => Exit::Crashed,
    }
}

/// The frames of a stack with a source line outside Rust's standard library; all if there are none.
pub(crate) fn own_frames(stack: &[String]) -> Vec<String> {
    let is_of_std = |frame: &str| frame.contains(" at /rustc/") || frame.contains("/rustlib/src/rust/library/");
    let own: Vec<String> = stack.iter().filter(|frame| frame.contains(" at ") && !is_of_std(frame)).cloned().collect();
    if own.is_empty() { stack.to_vec() } else { own }
}

/// Prints a data race: both accesses with their operations and stacks.
pub(crate) fn print_race(race: &DataRace) {
    for access in &race.accesses {
        let subject = match &access.operation {
            Some(operation) => clean(operation),
            None => format!("thread {}", access.thread),
        };
        outln!("  {subject} {}, after step {}", clean(&access.does), access.after_step);
        own_frames(&access.stack).iter().for_each(|line| outln!("    in {}", clean(line)));
    }
    outln!("  {}", race.reason());
}

/// Says whether an execution needs memory that is weaker than that of most processors.
pub(crate) fn print_outdated_reads(reads: usize) {
    if reads > 0 {
        let loads = counted(reads as u64, "load");
        outln!("{loads} read another store than the last one, as C11 allows; not every processor does");
    }
}

/// Prints the next step and the stack of threads that had not ended.
fn print_threads(threads: &[Blocked]) {
    for thread in threads {
        outln!("    thread {} {}", thread.thread, clean(&thread.doing));
        thread.stack.iter().for_each(|line| outln!("      {}", clean(line)));
    }
}

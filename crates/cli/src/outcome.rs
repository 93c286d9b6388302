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
            sayln!("  stuck: {}", clean(how));
            print_threads(threads);
        }
        Ended::TooLong { steps } => sayln!("  {}", too_long(*steps)),
        Ended::BrokenOff { why } => sayln!("  aborted: {}", clean(why)),
        Ended::Interrupted => sayln!("  did not end, and was stopped"),
        Ended::TimedOut { threads } => {
            sayln!("  did not end, and was stopped");
            print_threads(threads);
        }
        Ended::Crashed { how, said, stack } => {
            sayln!("  {}", clean(how));
            said.lines().for_each(|line| sayln!("    | {}", clean(line)));
            stack.iter().for_each(|line| sayln!("    in {}", clean(line)));
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

/// Parts of frames of standard libraries, of the recorder, and of the generated part of a harness.
const FOREIGN: [&str; 8] = [
    " at /rustc/",
    "/rustlib/src/rust/library/",
    " at /usr/",
    "/include/omnilink/",
    "omnilink_record::",
    "omnilink::",
    " at operations.hpp:",
    "src/operations.rs:",
];

/// The frames of a stack with a line in the user's files; all if there are none.
pub(crate) fn own_frames(stack: &[String]) -> Vec<String> {
    let is_foreign = |frame: &str| FOREIGN.iter().any(|part| frame.contains(part));
    let own: Vec<String> = stack.iter().filter(|frame| frame.contains(" at ") && !is_foreign(frame)).cloned().collect();
    if own.is_empty() { stack.to_vec() } else { own }
}

/// Prints a data race: both accesses with their operations and stacks.
pub(crate) fn print_race(race: &DataRace) {
    for access in &race.accesses {
        let subject = match &access.operation {
            Some(operation) => clean(operation),
            None => format!("thread {}", access.thread),
        };
        sayln!("  {subject} {}, after step {}", clean(&access.does), access.after_step);
        own_frames(&access.stack).iter().for_each(|line| sayln!("    in {}", clean(line)));
    }
    sayln!("  {}", race.reason());
}

/// Says whether an execution needs memory that is weaker than that of most processors.
pub(crate) fn print_outdated_reads(reads: usize) {
    if reads > 0 {
        let loads = counted(reads as u64, "load");
        sayln!("{loads} read another store than the last one, as C11 allows; not every processor does");
    }
}

/// Prints the next step and the stack of threads that had not ended.
fn print_threads(threads: &[Blocked]) {
    for thread in threads {
        sayln!("    thread {} {}", thread.thread, clean(&thread.doing));
        thread.stack.iter().for_each(|line| sayln!("      {}", clean(line)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_frames_in_the_users_files_are_shown() {
        let stack = [
            "std::__atomic_base<int>::load() at /usr/include/c++/12/bits/atomic_base.h:488",
            "Queue::push(int) at queue.hpp:31",
            "operations::Enqueue::operator()(Subject&) at operations.hpp:12",
            "omnilink::run(omnilink::Plan, Subject&) at /opt/kit/include/omnilink/harness.hpp:90",
            "main at main.cpp:40",
        ]
        .map(str::to_owned);
        assert_eq!(own_frames(&stack), ["Queue::push(int) at queue.hpp:31", "main at main.cpp:40"]);
        assert_eq!(own_frames(&stack[..1]), stack[..1]);
    }
}

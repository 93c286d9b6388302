//! How verdicts, failures and ends of runs are told, and how the command ends then.

use std::path::Path;

use campaign::{Error, too_long};
use explore::{Blocked, Ended, StoreError};
use judge::{Failed, InputError};
use report::{Report, Verdict, clean};

use crate::exit::Exit;
use crate::terminal::{complain, print_complaints};

/// Says why a history could not be checked, and how that ends.
pub(crate) fn tell(failed: &Failed, label: &str) -> Exit {
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

/// Says why a specification cannot be used.
pub(crate) fn tell_about_spec(failed: &Failed) -> Exit {
    match failed {
        Failed::Spec(complaints) => {
            print_complaints(complaints);
            Exit::Wrong
        }
        other => tell(other, "--spec"),
    }
}

/// How a verdict ends.
pub(crate) fn exit_of(report: &Report) -> Exit {
    match report.verdict {
        _ if report.history.operations == Some(0) => Exit::Empty,
        Verdict::Accepted => Exit::Accepted,
        Verdict::Rejected(_) => Exit::Rejected,
        Verdict::Inconclusive { .. } => Exit::Inconclusive,
    }
}

/// How people call a recording.
pub(crate) fn label(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { path.display().to_string() }
}

/// Says why a run that was kept cannot be found or read.
pub(crate) fn tell_about_store(error: StoreError) -> Exit {
    let help = matches!(error, StoreError::Unknown(..)).then(|| "`omnilink runs list` lists them".to_owned());
    complain("runs", &InputError { message: error.to_string(), help })
}

/// Says why a campaign cannot begin or go on.
pub(crate) fn tell_about(error: Error) -> Exit {
    match error {
        Error::About { about, error } => complain(&about, &error),
        Error::Store(error) => tell_about_store(error),
        Error::Spec(failed) => tell_about_spec(&failed),
        Error::Interrupted => {
            errln!("interrupted");
            Exit::Interrupted
        }
    }
}

/// Says how a run ended, if it did not end as it should.
pub(crate) fn tell_ended(ended: &Ended) {
    match ended {
        Ended::Finished => {}
        Ended::Stuck { how, threads } => {
            outln!("  it is stuck: {}", clean(how));
            tell_threads(threads);
        }
        Ended::TooLong { steps } => outln!("  {}", too_long(*steps)),
        Ended::BrokenOff { why } => outln!("  it was broken off: {}", clean(why)),
        Ended::Interrupted => outln!("  it did not end, and was stopped"),
        Ended::TimedOut { threads } => {
            outln!("  it did not end, and was stopped");
            tell_threads(threads);
        }
        Ended::Crashed { how, said, stack } => {
            outln!("  {}", clean(how));
            said.lines().for_each(|line| outln!("    | {}", clean(line)));
            stack.iter().for_each(|line| outln!("    in {}", clean(line)));
        }
    }
}

/// Says what threads that had not ended are about to do, and where they are.
fn tell_threads(threads: &[Blocked]) {
    for thread in threads {
        outln!("    thread {} {}", thread.thread, clean(&thread.doing));
        thread.stack.iter().for_each(|line| outln!("      {}", clean(line)));
    }
}

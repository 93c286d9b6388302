//! `omnilink replay`: replays a kept run step by step, and compares.

use omnilink_campaign::{Replay, Tried};
use omnilink_explore::Ended;
use omnilink_judge::Recording;
use omnilink_report::{Detail, Report};

use super::load;
use crate::args::ReplayArgs;
use crate::exit::Exit;
use crate::limits;
use crate::outcome::{exit_of, exit_of_end, print_campaign_error, print_end, print_failure, print_race};

pub(crate) fn run(args: &ReplayArgs) -> Exit {
    limits::catch_interrupts();
    match replay(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn replay(args: &ReplayArgs) -> Result<Exit, Exit> {
    let replay = load(&args.kept).map_err(print_campaign_error)?;
    let mut exit = Exit::Nothing;
    for time in 0..args.times {
        if limits::is_interrupted() {
            return Ok(Exit::Interrupted);
        }
        let (tried, _control) = replay.repeat().map_err(print_campaign_error)?;
        replay.compare(&tried).map_err(print_campaign_error)?;
        if time == 0 {
            let report = checked(&replay, &tried)?;
            if args.steps {
                print_steps(&replay, &tried, report.as_ref())?;
            }
            exit = print_verdict(&replay, &tried.ran.ended, report);
        }
    }
    let times = if args.times == 1 { String::new() } else { format!(" {} times", args.times) };
    let steps = replay.run.controlled.as_ref().map_or(0, |controlled| controlled.steps);
    let digest = replay.run.controlled.as_ref().map_or("", |controlled| &controlled.digest);
    outln!(
        "replayed{times}: {}, the same addresses and values as when it ran (fingerprint {digest})",
        omnilink_suggest::counted(steps, "step")
    );
    Ok(exit)
}

/// The report about the replayed run; `None` if it did not finish, or has no specification.
fn checked(replay: &Replay, tried: &Tried) -> Result<Option<Report>, Exit> {
    if tried.ran.ended != Ended::Finished {
        return Ok(None);
    }
    replay.check(&tried.trace, &replay.run.id).map_err(|failed| print_failure(&failed, &replay.run.id))
}

/// Prints how it ended, or the verdict.
fn print_verdict(replay: &Replay, ended: &Ended, report: Option<Report>) -> Exit {
    print_end(ended);
    let mut verdict = Exit::Accepted;
    if let Some(mut report) = report {
        report.next.clear(); // The trace is about to be deleted.
        out!("{}", omnilink_report::text_within(&report, Detail::Brief, true, crate::terminal::width()));
        verdict = exit_of(&report);
    }
    let race = replay.run.raced();
    if let Some(race) = race {
        outln!("{}:", race.kind());
        print_race(race);
    }
    verdict.max(exit_of_end(ended, race))
}

/// Prints the steps inside operations, and which switches are necessary.
fn print_steps(replay: &Replay, tried: &Tried, report: Option<&Report>) -> Result<(), Exit> {
    let recording = Recording::at(&tried.trace, None);
    // Tests without a specification record no history.
    let history = match tried.trace.exists() {
        true => Some(recording.history().map_err(|failed| print_failure(&failed, &replay.run.id))?),
        false => None,
    };
    let shown = replay.interleaving(tried, history, report);
    let without = omnilink_campaign::without_switches(replay, &replay.run.plan, &replay.like, &tried.execution)
        .map_err(print_campaign_error)?;
    outln!("{}", shown.with_switches(&without).text());
    Ok(())
}

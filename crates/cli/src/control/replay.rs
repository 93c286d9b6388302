//! `omnilink replay`: replays a kept run step by step, and compares.

use std::path::Path;

use campaign::Replay;
use explore::Ended;
use report::Detail;
use schedule::{Kind, Step};

use super::load;
use crate::args::ReplayArgs;
use crate::exit::Exit;
use crate::limits;
use crate::outcome::{exit_of, print_campaign_error, print_end, print_failure};

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
            if args.steps {
                tried.execution.steps.iter().enumerate().for_each(|(number, step)| tell_step(number, step));
            }
            exit = judged(&replay, &tried.ran.ended, &tried.trace)?;
        }
    }
    let times = if args.times == 1 { String::new() } else { format!(" {} times", args.times) };
    let steps = replay.run.controlled.as_ref().map_or(0, |controlled| controlled.steps);
    let digest = replay.run.controlled.as_ref().map_or("", |controlled| &controlled.digest);
    outln!(
        "replayed{times}: {}, the same addresses and values as when it ran (fingerprint {digest})",
        explore::counted(steps, "step")
    );
    Ok(exit)
}

/// Prints how it ended, or the verdict.
fn judged(replay: &Replay, ended: &Ended, trace: &Path) -> Result<Exit, Exit> {
    if *ended != Ended::Finished {
        print_end(ended);
        return Ok(if matches!(ended, Ended::TooLong { .. }) { Exit::Inconclusive } else { Exit::Crashed });
    }
    let report = replay.check(trace, &replay.run.id).map_err(|failed| print_failure(&failed, &replay.run.id))?;
    let Some(mut report) = report else { return Ok(Exit::Accepted) };
    report.next.clear(); // The trace is about to be deleted.
    out!("{}", report::text(&report, Detail::Brief, true));
    Ok(exit_of(&report))
}

fn tell_step(number: usize, step: &Step) {
    let what = step.kind().map_or("takes an unknown step", Kind::word);
    let address = if step.address == 0 { String::new() } else { format!(" {:#x}", step.address) };
    let has_value = matches!(step.kind(), Some(Kind::Load | Kind::Store | Kind::Update)) || step.value != 0;
    let value = if has_value { format!(" = {:#x}", step.value) } else { String::new() };
    let place = if step.place == 0 { String::new() } else { format!("  at {:#x}", step.place) };
    outln!("{:>6}  thread {} {what}{address}{value}{place}", number + 1, step.thread);
}

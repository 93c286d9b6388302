//! `omnilink shrink`: a smaller run that fails for the same reason.

use omnilink_campaign::{Effort, Error, Shrunk, Smaller};
use omnilink_explore::{Controlled, Ended, Input, Run, script_of};
use omnilink_suggest::counted;

use super::load;
use crate::args::ShrinkArgs;
use crate::exit::Exit;
use crate::limits;
use crate::outcome::print_campaign_error;

pub(crate) fn run(args: &ShrinkArgs) -> Exit {
    limits::catch_interrupts();
    shrink(args).unwrap_or_else(print_campaign_error)
}

fn shrink(args: &ShrinkArgs) -> Result<Exit, Error> {
    let replay = load(&args.kept)?;
    let before = &replay.run;
    let effort = Effort { tries: args.tries, runs: args.runs };
    let Smaller { run, path } = omnilink_campaign::shrink(&replay, effort, &mut |event| match event {
        Shrunk::Begun(cause) => outln!("run {}: {}, {cause}", before.id, before.describe()),
        Shrunk::Smaller(plan) => outln!("smaller: {}", plan.describe()),
        Shrunk::NothingSmaller if before.plan.test.is_some() => {
            outln!("`lineup` has made the test small already");
        }
        Shrunk::NothingSmaller => outln!("every operation is needed, as far as was tried"),
        Shrunk::Simpler(runs) => outln!("simpler: {} tried", counted(runs, "schedule")),
    })?;
    outln!("kept as {}: {} instead of {}; {}", run.id, size(&run), size(before), path.display());
    let script = script_of(&path)?;
    if let Some(script) = script.filter(|_| run.plan.script.is_some()) {
        outln!("calls, as in {}:", path.join("script").display());
        script.calls.iter().for_each(|call| outln!("  {call}"));
    }
    match (&run.ended, limits::is_interrupted()) {
        (_, true) => Err(Error::Interrupted),
        (_, false) if run.raced().is_some() && run.verdict.as_deref() != Some("rejected") => Ok(Exit::Raced),
        (Ended::Finished, false) => Ok(Exit::Rejected),
        (_, false) => Ok(Exit::Crashed),
    }
}

fn size(run: &Run) -> String {
    let Some(Controlled { steps, switches, .. }) = &run.controlled else { return String::new() };
    let operations = run.plan.size() as u64;
    // A test with threads of its own has none.
    let operations = if operations > 0 { counted(operations, "operation") + ", " } else { String::new() };
    format!("{operations}{}, {}", counted(*steps, "step"), counted(*switches as u64, "switch"))
}

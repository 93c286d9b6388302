//! `omnilink build run`: runs a program built for control many times, each time with another schedule.
//!
//! `cargo omnilink test` runs tests with this. A test that fails with some schedule fails; the seed is printed, and the
//! schedule is printed and stored.

use std::process::{Command, ExitCode};
use std::time::Duration;

use explore::{Control, Ending, Order, audit, counted};
use judge::InputError;

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::limits;
use crate::outcome::print_end;
use crate::terminal::complain;

/// The maximum time of one execution.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn run(args: &RunArgs) -> Result<ExitCode, String> {
    limits::catch_interrupts();
    let [program, arguments @ ..] = &*args.command else { return Err("no program given".into()) };
    let program = std::path::absolute(program).map_err(|error| error.to_string())?;
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut command = Command::new(&program);
    // Tests run one after the other: the schedule covers the inside of each.
    command.args(arguments).env("RUST_TEST_THREADS", "1");
    let kit = super::kit()?;
    let control = Control::start(&command, &kit.runtime().path(), scratch.path()).map_err(|error| error.to_string())?;
    let mut control = control.interruptible(limits::is_interrupted);
    for seed in args.seed..args.seed.saturating_add(args.runs) {
        let order = Order { seed, ..Order::default() };
        let execution = control.execute(&order, PATIENCE).map_err(|error| error.to_string())?;
        if execution.ended == Ending::Finished {
            continue;
        }
        let base = control.outcome().base;
        outln!("{} with the schedule of seed {seed}:", program.display());
        print_end(&execution.ended(&|places| audit::symbolize(&program, base, places)));
        let file = program.with_extension("schedule");
        match std::fs::write(&file, execution.schedule().to_string()) {
            Ok(()) => outln!("its schedule: {}", file.display()),
            Err(error) => return Ok(complain(&file.display().to_string(), &InputError::new(error)).into()),
        }
        return Ok(Exit::Crashed.into());
    }
    let runs = counted(args.runs, "schedule");
    outln!("{}: {runs} at random, seeds from {}, none failed", program.display(), args.seed);
    Ok(ExitCode::SUCCESS)
}

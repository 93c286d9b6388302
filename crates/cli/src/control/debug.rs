//! `omnilink debug`: a debugger, stopped where an operation of a kept run starts.
//!
//! The run is repeated under gdb in a process of its own, with the same decisions. The runtime calls a function that does
//! nothing before the step at which somebody wants to look, and gdb stops there. An operation starts with the step that its
//! recording calls its time. A run that was recorded by `rr` is handed to `rr replay` instead, which can also go back.

use std::path::Path;
use std::process::Command;

use campaign::{environment, follow};
use explore::{Once, Store};
use history::OpId;
use judge::{InputError, Recording};

use super::load;
use crate::args::DebugArgs;
use crate::exit::Exit;
use crate::tell::{tell, tell_about, tell_about_store};
use crate::terminal::complain;

/// The function that is called where somebody wants to look.
const STOP: &str = "omnilink_sched_breakpoint";

pub(crate) fn run(args: &DebugArgs) -> Exit {
    match debug(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn debug(args: &DebugArgs) -> Result<Exit, Exit> {
    let (run, directory) = Store::at(&args.kept.store.store).find(&args.kept.run).map_err(tell_about_store)?;
    let recorded = directory.join("rr");
    if run.controlled.is_none() && recorded.exists() {
        return finish(Command::new("rr").arg("replay").arg(&recorded).args(&args.arguments));
    }
    let loaded = load(&args.kept).map_err(tell_about)?;
    let step = match (&args.at, args.step) {
        (_, Some(step)) => step,
        (Some(name), None) => start_of(&directory.join("trace"), name)?,
        (None, None) => loaded.run.controlled.as_ref().map_or(1, |controlled| controlled.steps),
    };
    let cannot = |error: &dyn std::fmt::Display| complain("the harness", &InputError::new(error));
    let scratch = tempfile::tempdir().map_err(|error| cannot(&error))?;
    let order = follow(&loaded.like, &loaded.schedule);
    let once =
        Once::new(&order, Some(step), &loaded.harness.runtime, scratch.path()).map_err(|error| cannot(&error))?;
    let told = environment(&loaded.run.plan, &once.directory().join("trace"));
    once.set_environment(&told).map_err(|error| cannot(&error))?;
    let mut gdb = Command::new("gdb");
    gdb.args(["-q", "-iex", "set debuginfod enabled off", "-ex", "set breakpoint pending on"]);
    gdb.args(["-ex", "set startup-with-shell off", "-ex", "set print thread-events off"]);
    for (name, value) in once.environment() {
        gdb.arg("-ex").arg(format!("set environment {}={}", name.to_string_lossy(), value.to_string_lossy()));
    }
    gdb.args(["-ex", &format!("break {STOP}"), "-ex", "run", "-ex", "finish", "-ex", "up"]).args(&args.arguments);
    let command = loaded.harness.command().map_err(|error| cannot(&error))?;
    gdb.arg("--args")
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(&loaded.harness.program.directory);
    outln!("run {} is repeated, and stops before step {step}", loaded.run.id);
    finish(&mut gdb)
}

/// Hands over to a debugger.
fn finish(command: &mut Command) -> Result<Exit, Exit> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(Exit::Accepted),
        Ok(status) => Err(complain(&name, &InputError::new(format!("it ended with {status}")))),
        Err(error) => {
            let help = Some(format!("install `{name}`"));
            Err(complain(&name, &InputError { message: format!("it cannot be run: {error}"), help }))
        }
    }
}

/// The step with which an operation starts.
fn start_of(trace: &Path, name: &str) -> Result<u64, Exit> {
    let recording = Recording::at(trace, None);
    let history = recording.history().map_err(|failed| tell(&failed, "--at"))?;
    let found = (0..history.ops().len() as u32).map(OpId).find(|id| history.name(*id) == name);
    found
        .map(|id| history.op(id).interval.start())
        .ok_or_else(|| complain("--at", &InputError::new(format!("there is no operation `{name}` in the run"))))
}

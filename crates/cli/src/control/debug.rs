//! `omnilink debug`: a debugger, stopped where an operation of a kept run starts.
//!
//! The run is replayed under gdb in a fresh process, with the same schedule. The runtime calls a function that does
//! nothing before the requested step, and gdb stops there. An operation starts with the step that its recording calls
//! its time. A run recorded by `rr` is passed to `rr replay` instead, which can also go back.

use std::path::Path;
use std::process::Command;

use omnilink_campaign::{environment, follow};
use omnilink_explore::{Input as _, Once, Store};
use omnilink_history::OpId;
use omnilink_judge::{InputError, Recording};

use super::load;
use crate::args::DebugArgs;
use crate::exit::Exit;
use crate::outcome::{print_campaign_error, print_failure, print_store_error};
use crate::terminal::complain;

/// The function that the runtime calls before the requested step.
const STOP: &str = "omnilink_sched_breakpoint";

/// Selects the innermost frame that belongs neither to the runtime nor to a recorder.
const SELECT_FRAME: &str = r#"python exec("frame = gdb.newest_frame()\nwhile frame is not None and (frame.find_sal().symtab is None or 'omnilink' in frame.find_sal().symtab.filename or '/sched/src' in frame.find_sal().symtab.filename):\n  frame = frame.older()\nif frame is not None:\n  frame.select()\n  gdb.execute('frame')")"#;

pub(crate) fn run(args: &DebugArgs) -> Exit {
    match debug(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn debug(args: &DebugArgs) -> Result<Exit, Exit> {
    let (run, directory) = Store::at(&args.kept.store.store).find(&args.kept.run).map_err(print_store_error)?;
    let recorded = directory.join("rr");
    if run.controlled.is_none() && recorded.exists() {
        return finish(Command::new("rr").arg("replay").arg(&recorded).args(&args.arguments));
    }
    let loaded = load(&args.kept).map_err(print_campaign_error)?;
    let step = match (&args.at, args.step) {
        (_, Some(step)) => step,
        (Some(name), None) => start_of(&directory.join("trace"), name)?,
        (None, None) => match loaded.blamed() {
            Some(name) => start_of(&directory.join("trace"), &name)?,
            None => loaded.run.controlled.as_ref().map_or(1, |controlled| controlled.steps),
        },
    };
    let cannot = |error: &dyn std::fmt::Display| complain("the harness", &InputError::new(error));
    let scratch = tempfile::tempdir().map_err(|error| cannot(&error))?;
    let order = follow(&loaded.like, &loaded.schedule);
    let once =
        Once::new(&order, Some(step), &loaded.harness.runtime, scratch.path()).map_err(|error| cannot(&error))?;
    let trace = once.directory().join("trace");
    loaded.run.plan.write(&trace).map_err(|error| cannot(&error))?;
    let told = environment(&loaded.run.plan, &trace);
    once.set_environment(&told).map_err(|error| cannot(&error))?;
    let mut gdb = Command::new("gdb");
    gdb.args(["-q", "-iex", "set debuginfod enabled off", "-ex", "set breakpoint pending on"]);
    gdb.args(["-ex", "set startup-with-shell off", "-ex", "set print thread-events off"]);
    for (name, value) in once.environment() {
        gdb.arg("-ex").arg(format!("set environment {}={}", name.to_string_lossy(), value.to_string_lossy()));
    }
    gdb.args(["-ex", &format!("break {STOP}"), "-ex", "run", "-ex", SELECT_FRAME]).args(&args.arguments);
    let command = loaded.harness.command().map_err(|error| cannot(&error))?;
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => gdb.env(name, value),
            None => gdb.env_remove(name),
        };
    }
    gdb.arg("--args")
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(&loaded.harness.program.directory);
    outln!("replaying run {}, stopping before step {step}", loaded.run.id);
    finish(&mut gdb)
}

/// Runs a debugger.
fn finish(command: &mut Command) -> Result<Exit, Exit> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(Exit::Accepted),
        Ok(status) => Err(complain(&name, &InputError::new(format!("exited with {status}")))),
        Err(error) => {
            let help = Some(format!("install `{name}`"));
            Err(complain(&name, &InputError { message: format!("cannot run it: {error}"), help }))
        }
    }
}

/// The first step of an operation.
fn start_of(trace: &Path, name: &str) -> Result<u64, Exit> {
    let recording = Recording::at(trace, None);
    let history = recording.history().map_err(|failed| print_failure(&failed, "--at"))?;
    let found = (0..history.ops().len() as u32).map(OpId).find(|id| history.name(*id) == name);
    found
        .map(|id| history.op(id).interval.start())
        .ok_or_else(|| complain("--at", &InputError::new(format!("the run has no operation `{name}`"))))
}

//! A harness under control: its build, its executions and their results.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use omnilink_explore::audit::Audit;
use omnilink_explore::{
    Control, ControlError, Ended, Ending, Execution, ExecutionOrder, Input, Note, Program, Race, Ran, Store, audit,
    verb,
};
use omnilink_history::format::binary::{Completion, SegmentReader, complete_stuck};
use omnilink_schedule::Schedule;
use omnilink_schedule::channel::Policy;
use omnilink_settings::Settings;

use crate::{Error, Host};

/// A harness built for control.
#[derive(Debug)]
pub struct Harness {
    /// The program and its commands.
    pub program: Program,
    /// The runtime that controls it.
    pub runtime: PathBuf,
    pub(crate) scratch: PathBuf,
    pub(crate) timeout: Duration,
    pub(crate) is_interrupted: fn() -> bool,
    /// Environment variables of the program, besides those of an execution; `None` for one that is not set.
    variables: Vec<(String, Option<String>)>,
    symbols: Mutex<Symbols>,
}

/// The source lines of code addresses, by load address and address. Reading debug information takes longer than an
/// execution, and threads wait at the same places again and again.
type Symbols = HashMap<(u64, u64), Option<String>>;

/// An execution, and its trace.
#[derive(Debug)]
pub struct Tried {
    /// The execution.
    pub execution: Execution,
    /// How it ended.
    pub ran: Ran,
    /// The trace. It is removed with the process that recorded it.
    pub trace: PathBuf,
    /// The reason why a replay may differ.
    pub notes: Vec<Note>,
    /// A data race, if races were looked for.
    pub race: Option<Race>,
}

impl Harness {
    /// Builds a harness for control. Returns the reason if that fails.
    pub(crate) fn build(
        program: &Program,
        settings: &Settings,
        store: &Store,
        timeout: Duration,
        is_built: bool,
        host: Host,
    ) -> Result<Harness, String> {
        let tools = (host.tools)()?;
        let built = program.instrumented(settings.harness.controlled.as_ref(), &tools.kit, &tools.path, &tools.said);
        let program = built.map_err(|error| error.to_string())?;
        match if is_built { Ok(Ok(())) } else { program.build(&host.is_interrupted) } {
            Ok(Ok(())) => {}
            Ok(Err(said)) => return Err(format!("`{}` failed: {said}", program.build.join(" "))),
            Err(error) => return Err(error.to_string()),
        }
        Harness::built(program, tools.kit.runtime().path(), store, timeout, host.is_interrupted)
    }

    /// The program that the user names, if it was built for control.
    pub(crate) fn prebuilt(program: &Program, store: &Store, timeout: Duration, host: Host) -> Result<Harness, String> {
        let runtime = (host.tools)()?.kit.runtime().path();
        let harness = Harness::built(program.clone(), runtime, store, timeout, host.is_interrupted)?;
        match Audit::of(&harness.executable()) {
            Ok(audit) if audit.is_instrumented => Ok(harness),
            _ => Err(format!("`{}` was not built for control: build it with `omnilink build`", program.run[0])),
        }
    }

    /// A harness that is already built.
    pub fn built(
        program: Program,
        runtime: PathBuf,
        store: &Store,
        timeout: Duration,
        is_interrupted: fn() -> bool,
    ) -> Result<Harness, String> {
        let scratch = std::path::absolute(store.scratch()).map_err(|error| error.to_string())?;
        std::fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
        let variables = Vec::new();
        Ok(Harness { program, runtime, scratch, timeout, is_interrupted, variables, symbols: Mutex::default() })
    }

    /// The same with environment variables. They are part of the environment that the program starts with: setting them
    /// for an execution would allocate memory, or not, depending on whether they are set already.
    pub(crate) fn with_variables(self, variables: Vec<(String, Option<String>)>) -> Harness {
        Harness { variables, ..self }
    }

    /// The executable.
    pub fn executable(&self) -> PathBuf {
        self.program.directory.join(self.program.run.first().map(String::as_str).unwrap_or_default())
    }

    /// A fingerprint of the executable, if it can be read.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        let bytes = std::fs::read(self.executable()).ok()?;
        Some(format!("{:016x}", omnilink_explore::fingerprint(&bytes)))
    }

    /// The command to run it.
    pub fn command(&self) -> std::io::Result<Command> {
        let mut command = Command::new(std::path::absolute(self.executable())?);
        command.args(&self.program.run[1..]).current_dir(&self.program.directory);
        for (name, value) in &self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Ok(command)
    }

    /// Starts a fork server.
    pub fn start(&self) -> Result<Control, ControlError> {
        let command = self.command().map_err(|error| ControlError::Io { what: "the harness", error })?;
        Ok(Control::start(&command, &self.runtime, &self.scratch)?.interruptible(self.is_interrupted))
    }

    /// The directory for the executions of this process.
    pub(crate) fn trace(control: &Control) -> PathBuf {
        control.directory().join("trace")
    }

    /// Runs one execution. One that does not start in time is tried once more, unless it belongs to a batch.
    pub fn execute(
        &self,
        control: &mut Control,
        input: &dyn Input,
        order: ExecutionOrder,
    ) -> Result<Tried, ControlError> {
        self.execute_within(control, input, order, self.timeout)
    }

    /// The same with another time limit.
    pub(crate) fn execute_within(
        &self,
        control: &mut Control,
        input: &dyn Input,
        order: ExecutionOrder,
        timeout: Duration,
    ) -> Result<Tried, ControlError> {
        let trace = Harness::trace(control);
        let environment = order.environment.iter().cloned().chain(environment(input, &trace)).collect();
        let order = ExecutionOrder { environment, ..order };
        input.write(&trace).map_err(|error| ControlError::Io { what: "the script", error })?;
        let started = Instant::now();
        let mut execution = control.execute(&order, timeout)?;
        // The first execution of a batch may depend on one before it, which the caller knows.
        if !execution.has_started() && !order.batch {
            remove(&trace).map_err(|error| ControlError::Io { what: "the trace", error })?;
            execution = control.execute(&order, timeout)?;
        }
        let took = started.elapsed();
        let ended = execution.ended_under(&order, &|places| self.symbolize(execution.base, places));
        let (notes, race) = (Note::of(control.outcome()), Race::of(control.outcome()));
        Ok(Tried { execution, ran: Ran { ended, took }, trace, notes, race })
    }

    /// Replays an execution in this process, which must be fresh, and must live while the trace is needed.
    pub fn repeat(
        &self,
        control: &mut Control,
        input: &dyn Input,
        like: &ExecutionOrder,
        schedule: &Schedule,
    ) -> Result<Tried, ControlError> {
        self.execute(control, input, follow(like, schedule))
    }

    /// The accesses of a race with their functions and lines.
    pub(crate) fn race_accesses(&self, race: &Race, base: u64) -> [String; 2] {
        race.accesses.map(|access| {
            let place = self.symbolize(base, &[access.place]).pop();
            format!("{} in {}", verb(&access), place.as_deref().unwrap_or("unknown code"))
        })
    }

    /// The source lines of code addresses; addresses outside the program are skipped.
    pub(crate) fn symbolize(&self, base: u64, places: &[u64]) -> Vec<String> {
        let mut symbols = self.symbols.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<u64> = places.iter().copied().filter(|place| !symbols.contains_key(&(base, *place))).collect();
        if !new.is_empty() {
            let found = audit::symbols(&self.executable(), base, &new);
            symbols.extend(new.iter().map(|place| (base, *place)).zip(found));
        }
        places.iter().filter_map(|place| symbols.get(&(base, *place)).cloned().flatten()).collect()
    }
}

/// The environment of the harness.
pub fn environment(input: &dyn Input, trace: &Path) -> Vec<(String, String)> {
    input.environment(trace).into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// An order that follows exactly these decisions.
pub fn follow(like: &ExecutionOrder, schedule: &Schedule) -> ExecutionOrder {
    ExecutionOrder {
        policy: Policy::Steady,
        strict: true,
        follow: schedule.0.clone(),
        sleep: 0,
        batch: false,
        ..like.clone()
    }
}

/// Whether two runs ended alike: the same kind of ending, and for crashes the same text.
pub(crate) fn ended_alike(a: &Ended, b: &Ended) -> bool {
    match (a, b) {
        (Ended::Crashed { how: a, .. }, Ended::Crashed { how: b, .. })
        | (Ended::Stuck { how: a, .. }, Ended::Stuck { how: b, .. }) => a == b,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

/// Removes the files of executions.
pub(crate) fn clear_scratch(store: &Store) -> Result<(), Error> {
    let scratch = store.scratch();
    remove(&scratch).map_err(|error| Error::about(scratch.display(), error))
}

/// Removes a trace, if there is one.
pub(crate) fn remove(path: &Path) -> std::io::Result<()> {
    match path.is_dir() {
        true => std::fs::remove_dir_all(path),
        false if path.exists() => std::fs::remove_file(path),
        false => Ok(()),
    }
}

/// Completes the trace of an execution in which no thread is enabled. True if each of them is blocked in a call, but the main
/// thread, which waits for the others.
pub(crate) fn close_blocked(execution: &Execution, trace: &Path) -> Result<bool, Error> {
    if execution.ended != Ending::Deadlock {
        return Ok(false);
    }
    let blocked = close_stuck(trace)?;
    Ok(blocked > 0 && blocked + 1 == execution.alive())
}

/// Completes the trace of an execution that is stuck: calls that did not return are blocked. Returns their number.
pub(crate) fn close_stuck(trace: &Path) -> Result<usize, Error> {
    let mut blocked = 0;
    for path in omnilink_lineup::segments(trace) {
        let is_blocked = close_segment(&path).map_err(|error| Error::about(path.display(), error))?;
        blocked += usize::from(is_blocked);
    }
    Ok(blocked)
}

fn close_segment(path: &Path) -> Result<bool, Box<dyn std::error::Error>> {
    let segment = SegmentReader::new(path.to_string_lossy(), File::open(path)?)?;
    let Some(Completion { at_byte, bytes, is_blocked }) = complete_stuck(segment)? else { return Ok(false) };
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.set_len(at_byte)?;
    file.seek(SeekFrom::End(0))?;
    file.write_all(&bytes)?;
    Ok(is_blocked)
}

//! A program under control: its process, and the file and pipes that carry orders and outcomes.
//!
//! [`Control`] keeps one fork server: a process that waits before its `main` and forks for every order, so an execution
//! costs a fork and not a program start. [`Once`] is for a program that another tool starts, such as a debugger. Both
//! write their orders into the file that [`omnilink_schedule::channel`] describes, and read the outcome from it.
//!
//! # Invariants
//!
//! - No call blocks forever. Both pipes are opened without waiting for the other side, and an answer is awaited
//!   together with the end of the process.
//! - A process that does not answer in time is killed with its descendants, and the next order starts a new process
//!   with new pipes, so an answer is never mistaken for that to another order.
//! - A program that was not controlled is an error, never an execution.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use bytemuck::{Pod, Zeroable};
use omnilink_schedule::channel::{
    ANSWERS, EXECUTION, End, ExecutionOutcome, LONGEST_ORDER, MAGIC, Mode, NO_CONTROL, ORDERS, OUTCOME_AT, PENDING_AT,
    Pending, RACING, REFUSAL, STEPS_AT, Settings, VARIABLE, WHERE,
};
use omnilink_schedule::{Decision, Step, THREADS};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, OFlags, mknodat, statvfs};
use rustix::process::{PidfdFlags, Signal, pidfd_open};
use tempfile::TempDir;

use crate::execution::{Ending, Execution, ExecutionOrder};
use crate::process::{Group, how, last_words, named};
use crate::processor::{Placement, Stopwatch};

/// The variable that makes the loader load the runtime first.
const PRELOAD: &str = "LD_PRELOAD";
/// The file with the program's output.
const SAID: &str = "said";
/// If the output exceeds this many bytes, it is discarded before the next execution.
const MAX_OUTPUT: u64 = 1 << 20;
/// How often a wait checks for an interrupt. Less than a second.
const INTERRUPT_POLL: Duration = Duration::from_millis(50);
/// How long threads may take to report their stacks. A thread that cannot keeps the others from being known.
const STACKS_TIMEOUT: Duration = Duration::from_secs(5);
/// How often they report them, and how long each further time takes: where a thread is interrupted, its stack may not be
/// readable.
const STACKS_ROUNDS: usize = 5;
const STACKS_PAUSE: Duration = Duration::from_millis(20);
const _: () = assert!(Signal::STKFLT.as_raw() == WHERE);
/// The largest step limit.
pub const MOST_STEPS: u64 = 1 << 20;
/// The largest number of decisions.
const DECISIONS: u64 = 1 << 21;

/// Why there is no execution.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// A file, pipe or process operation failed.
    #[error("{what}: {error}")]
    Io {
        /// The operation.
        what: &'static str,
        /// The error.
        error: io::Error,
    },
    /// The runtime in the program refused to control it.
    #[error("the program cannot be controlled: {0}")]
    Refused(String),
    /// The program ended before the first run.
    #[error(
        "the program was not controlled: it ended before the first run ({how}); {}",
        if said.is_empty() { "no output" } else { said }
    )]
    NotControlled {
        /// How it ended.
        how: String,
        /// The last output.
        said: String,
    },
    /// The fork server had answered before, and ended.
    #[error("the fork server ended before the next run ({how}); {}", if said.is_empty() { "no output" } else { said })]
    Gone {
        /// How it ended.
        how: String,
        /// The last output.
        said: String,
    },
    /// The prefix is longer than the channel holds.
    #[error("a prefix of {0} decisions is too long (at most {DECISIONS})")]
    TooLong(usize),
    /// The step limit is larger than the channel holds.
    #[error("a limit of {0} steps is too large (at most {MOST_STEPS})")]
    TooManySteps(u64),
    /// The environment of an execution does not fit into the pipe, where it must fit as a whole.
    #[error("the environment of an execution takes {0} bytes (at most {room})", room = LONGEST_ORDER - LENGTH)]
    LongOrder(usize),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The program has more threads than can be controlled.
    #[error("unsupported: the program has more than {THREADS} threads at a time")]
    TooManyThreads,
}

impl ControlError {
    /// The program's output, from the runtime's reason on.
    fn refused(said: &str) -> ControlError {
        ControlError::Refused(said.rsplit(REFUSAL).next().unwrap_or(said).to_owned())
    }
}

/// Adds the failed operation to an error.
fn context<E: Into<io::Error>>(what: &'static str) -> impl Fn(E) -> ControlError {
    move |error| ControlError::Io { what, error: error.into() }
}

/// A program under control, with a fork server for its executions.
pub struct Control {
    channel: Channel,
    command: Recipe,
    runtime: PathBuf,
    server: Option<Server>,
    placement: Placement,
    outcome: ExecutionOutcome,
    /// Where the output of the last execution begins.
    said: u64,
    is_interrupted: fn() -> bool,
}

impl Control {
    /// Starts a program. Its channel is created in memory if there is space, otherwise in `scratch`.
    pub fn start(command: &Command, runtime: &Path, scratch: &Path) -> Result<Control, ControlError> {
        let channel = Channel::new(scratch)?;
        let command = Recipe::of(command);
        let mut control = Control {
            channel,
            command,
            runtime: runtime.into(),
            server: None,
            placement: Placement::new(),
            outcome: ExecutionOutcome::default(),
            said: 0,
            is_interrupted: || false,
        };
        control.server = Some(control.serve()?);
        Ok(control)
    }

    /// Polls `is_interrupted` while waiting for the program, which is killed if it returns `true`.
    pub fn interruptible(mut self, is_interrupted: fn() -> bool) -> Control {
        self.is_interrupted = is_interrupted;
        self
    }

    /// Runs the program once and returns the execution. It is killed after `timeout`, in which the time that it waits for
    /// a core does not count.
    pub fn execute(&mut self, order: &ExecutionOrder, timeout: Duration) -> Result<Execution, ControlError> {
        let mut server = match self.server.take() {
            Some(server) => server,
            None => self.serve()?,
        };
        self.placement.reconsider(server.group.pid());
        let said = self.channel.mark()?;
        self.said = said;
        self.channel.write_order(order, Mode::Serve, None)?;
        server.order(&order.environment)?;
        let answer = server.answer(timeout, &mut self.placement, self.is_interrupted)?;
        self.outcome = self.channel.outcome()?;
        let ending = match answer {
            Answer::Done => {
                server.begins = None;
                self.server = Some(server);
                self.channel.ending(&self.outcome, ExitStatus::from_raw(self.outcome.status as i32), said)?
            }
            Answer::Late => {
                let (outcome, stacks) = self.channel.request_stacks(&server.group)?;
                self.outcome = outcome;
                server.group.end().map_err(context("cannot end the program"))?;
                self.channel.write(bytemuck::cast_slice(&stacks), PENDING_AT)?;
                Ending::TimedOut
            }
            Answer::Interrupted => return Err(ControlError::Interrupted),
            Answer::Gone => {
                let status = server.group.end().map_err(context("cannot end the program"))?;
                let has_answered = server.begins.is_none();
                let said = self.channel.last_words(server.begins.unwrap_or(said))?;
                return Err(match status.code() {
                    Some(NO_CONTROL) => ControlError::refused(&said),
                    _ if has_answered => ControlError::Gone { how: how(status), said },
                    _ => ControlError::NotControlled { how: how(status), said },
                });
            }
        };
        self.channel.execution(&self.outcome, ending)
    }

    /// Whether the next execution continues in a process that has already run one, see [`ExecutionOrder::batch`].
    pub fn is_warm(&self) -> bool {
        self.server.is_some() && self.outcome.flags & ExecutionOutcome::BATCH != 0
    }

    /// A directory for the program's files, removed with this value. Its path always has the same length, because the
    /// length of the environment shifts the program's memory layout.
    pub fn directory(&self) -> &Path {
        self.channel.directory.path()
    }

    /// The output of the last execution.
    pub fn output(&self) -> Result<String, ControlError> {
        let wrong = context("the output file");
        let bytes = fs::read(self.channel.path(SAID)).map_err(wrong)?;
        let from = usize::try_from(self.said).unwrap_or(usize::MAX).min(bytes.len());
        Ok(String::from_utf8_lossy(&bytes[from..]).into_owned())
    }

    /// The runtime's record of the last execution as a whole.
    pub fn outcome(&self) -> &ExecutionOutcome {
        &self.outcome
    }

    fn serve(&mut self) -> Result<Server, ControlError> {
        // The program reads the settings before it waits for orders.
        self.channel.write_order(&ExecutionOrder::default(), Mode::Serve, None)?;
        let (orders, answers) = self.channel.pipes()?;
        let mut command = self.command.command();
        command.envs(self.channel.environment(&self.runtime, self.command.value(PRELOAD)));
        let said = self.channel.said()?;
        let begins = Some(self.channel.mark()?);
        let group = Group::start(&mut command, said)
            .map_err(|error| context("the program")(named(&self.command.program.to_string_lossy(), error)))?;
        self.placement.place(group.pid());
        let end = pidfd_open(group.pid(), PidfdFlags::empty()).map_err(context("cannot watch the program"))?;
        Ok(Server { group, orders, answers, end, begins })
    }
}

/// A program that another tool starts, once.
pub struct Once {
    channel: Channel,
    environment: Vec<(OsString, OsString)>,
}

impl Once {
    /// Prepares the channel for the program. If `stop_before` names a step, counted from 1, the program calls
    /// `omnilink_sched_breakpoint` before it.
    pub fn new(
        order: &ExecutionOrder,
        stop_before: Option<u64>,
        runtime: &Path,
        scratch: &Path,
    ) -> Result<Once, ControlError> {
        let channel = Channel::new(scratch)?;
        channel.write_order(order, Mode::Once, stop_before)?;
        let environment = channel.environment(runtime, None);
        let once = Once { channel, environment };
        once.set_environment(&order.environment)?;
        Ok(once)
    }

    /// Changes the environment that the program has once it has started. It is passed as to a fork server, because its
    /// place in memory must be the same.
    pub fn set_environment(&self, environment: &[(String, String)]) -> Result<(), ControlError> {
        let orders = encode_order(environment)?;
        fs::write(self.channel.path(ORDERS), orders).map_err(context("cannot write the order"))
    }

    /// See [`Control::directory`].
    pub fn directory(&self) -> &Path {
        self.channel.directory.path()
    }

    /// The variables that the program needs. A debugger that starts it must not have them.
    pub fn environment(&self) -> &[(OsString, OsString)] {
        &self.environment
    }

    /// Runs the program and reads its outcome.
    pub fn run(&self, command: &Command, timeout: Duration) -> Result<(Execution, ExecutionOutcome), ControlError> {
        let recipe = Recipe::of(command);
        let mut command = recipe.command();
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let said = self.channel.said()?;
        let name = recipe.program.to_string_lossy();
        let mut group =
            Group::start(&mut command, said).map_err(|error| context("the program")(named(&name, error)))?;
        let stopped = group.wait(timeout, &|| false).map_err(context("cannot watch the program"))?;
        let stacks = stopped.is_some().then(|| self.channel.request_stacks(&group)).transpose()?;
        let status = group.end().map_err(context("cannot end the program"))?;
        if let Some((_, stacks)) = stacks {
            self.channel.write(bytemuck::cast_slice(&stacks), PENDING_AT)?;
        }
        match stopped {
            Some(_) => self.read(None),
            None => self.read(Some(status)),
        }
    }

    /// Reads the outcome of a program that ended with this status, or that was killed.
    pub fn read(&self, status: Option<ExitStatus>) -> Result<(Execution, ExecutionOutcome), ControlError> {
        let outcome = self.channel.outcome()?;
        if outcome.steps == 0
            && outcome.decisions == 0
            && let Some(status) = status
        {
            let said = self.channel.last_words(0)?;
            return Err(match status.code() {
                Some(NO_CONTROL) => ControlError::refused(&said),
                _ => ControlError::NotControlled { how: how(status), said },
            });
        }
        let ending = match status {
            Some(status) => self.channel.ending(&outcome, status, 0)?,
            None => Ending::TimedOut,
        };
        Ok((self.channel.execution(&outcome, ending)?, outcome))
    }
}

/// A fork server.
struct Server {
    group: Group,
    orders: File,
    answers: File,
    /// Readable once the process has ended.
    end: OwnedFd,
    /// Where its output begins, until it has answered: until then, all of it may explain why it does not.
    begins: Option<u64>,
}

/// The answer to an order.
enum Answer {
    Done,
    Late,
    Interrupted,
    Gone,
}

impl Server {
    fn order(&mut self, environment: &[(String, String)]) -> Result<(), ControlError> {
        // One write, so that the program never reads a part of it.
        self.orders.write_all(&encode_order(environment)?).map_err(context("cannot send the order"))
    }

    fn answer(
        &mut self,
        limit: Duration,
        placement: &mut Placement,
        is_interrupted: fn() -> bool,
    ) -> Result<Answer, ControlError> {
        let mut watch = Stopwatch::start(limit);
        let pause = watch.pause().min(INTERRUPT_POLL);
        let pause = Timespec { tv_sec: 0, tv_nsec: pause.subsec_nanos().into() };
        loop {
            let mut awaited = [PollFd::new(&self.answers, PollFlags::IN), PollFd::new(&self.end, PollFlags::IN)];
            match poll(&mut awaited, Some(&pause)) {
                Ok(0) if watch.is_over(self.group.pid()) => return Ok(Answer::Late),
                Ok(0) if is_interrupted() => return Ok(Answer::Interrupted),
                Ok(0) => placement.reconsider(self.group.pid()),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(context("cannot watch the program")(error)),
            }
            let has_ended = !awaited[1].revents().is_empty();
            match self.answers.read(&mut [0]) {
                Ok(1) => return Ok(Answer::Done),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(context("cannot read the answer")(error)),
            }
            if has_ended {
                return Ok(Answer::Gone);
            }
        }
    }
}

/// The length prefix of an order, in bytes.
const LENGTH: usize = size_of::<u32>();

/// An order as bytes.
fn encode_order(environment: &[(String, String)]) -> Result<Vec<u8>, ControlError> {
    let lines: String = environment.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    let fits = u32::try_from(lines.len()).ok().filter(|_| lines.len() <= LONGEST_ORDER - LENGTH);
    let length = fits.ok_or(ControlError::LongOrder(lines.len()))?;
    Ok([&length.to_le_bytes(), lines.as_bytes()].concat())
}

/// The directory shared by a program and its driver. It is removed when this is dropped.
struct Channel {
    directory: TempDir,
    execution: File,
}

impl Channel {
    fn new(scratch: &Path) -> Result<Channel, ControlError> {
        let length = sizes().length() as u64;
        let memory = Path::new("/dev/shm");
        // A program that writes to a full file system is killed, so there must be space for several.
        let has_room = statvfs(memory).is_ok_and(|space| space.f_bavail.saturating_mul(space.f_frsize) > 4 * length);
        let in_memory = has_room.then(|| temporary_directory_in(memory).ok()).flatten();
        let directory = match in_memory {
            Some(directory) => directory,
            None => temporary_directory_in(scratch).map_err(context("cannot create the program's directory"))?,
        };
        let execution = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(directory.path().join(EXECUTION))
            .and_then(|file| file.set_len(length).map(|()| file))
            .map_err(context("the execution file"))?;
        Ok(Channel { directory, execution })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Creates new pipes and opens them without waiting for the program.
    fn pipes(&self) -> Result<(File, File), ControlError> {
        let wrong = context("cannot create the pipes to the program");
        for name in [ORDERS, ANSWERS] {
            let path = self.path(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(wrong(error)),
                _ => {}
            }
            mknodat(CWD, &path, FileType::Fifo, 0o600.into(), 0).map_err(|error| wrong(error.into()))?;
        }
        // A pipe opened for both ends does not block, and can be written before it has a reader.
        let orders = OpenOptions::new().read(true).write(true).open(self.path(ORDERS)).map_err(&wrong)?;
        let nonblocking = OFlags::NONBLOCK.bits() as i32;
        let answers =
            OpenOptions::new().read(true).custom_flags(nonblocking).open(self.path(ANSWERS)).map_err(&wrong)?;
        Ok((orders, answers))
    }

    /// The variables that put a program under control.
    fn environment(&self, runtime: &Path, preloaded: Option<&OsStr>) -> Vec<(OsString, OsString)> {
        let mut preload = runtime.as_os_str().to_owned();
        if let Some(preloaded) = preloaded {
            preload.push(":");
            preload.push(preloaded);
        }
        vec![(VARIABLE.into(), self.directory.path().into()), (PRELOAD.into(), preload)]
    }

    /// The file for the program's output, opened for appending.
    fn said(&self) -> Result<File, ControlError> {
        OpenOptions::new().append(true).create(true).open(self.path(SAID)).map_err(context("the output file"))
    }

    /// Where the next output begins.
    fn mark(&self) -> Result<u64, ControlError> {
        let wrong = context("the output file");
        let length = fs::metadata(self.path(SAID)).map_err(&wrong)?.len();
        if length <= MAX_OUTPUT {
            return Ok(length);
        }
        File::create(self.path(SAID)).map_err(wrong)?;
        Ok(0)
    }

    fn last_words(&self, from: u64) -> Result<String, ControlError> {
        match last_words(&self.path(SAID), from) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            said => said.map_err(context("the output file")),
        }
    }

    /// Writes an order.
    fn write_order(&self, order: &ExecutionOrder, mode: Mode, stop_before: Option<u64>) -> Result<(), ControlError> {
        let sizes = sizes();
        if order.follow.len() as u64 > DECISIONS {
            return Err(ControlError::TooLong(order.follow.len()));
        }
        if order.limit > MOST_STEPS {
            return Err(ControlError::TooManySteps(order.limit));
        }
        let flags = [
            (order.weak, Settings::WEAK),
            (order.fresh, Settings::FRESH),
            (order.plain, Settings::PLAIN),
            (order.only_first_plain, Settings::ONLY_FIRST_PLAIN),
            (order.strict, Settings::STRICT),
            (order.batch, Settings::BATCH),
            (order.races, Settings::RACES),
        ];
        let mut racing = [[0; 2]; RACING];
        racing.iter_mut().zip(&order.racing).for_each(|(known, race)| *known = *race);
        let settings = Settings {
            racing,
            watch: order.watch,
            seed: order.seed,
            follow: order.follow.len() as u64,
            limit: order.limit,
            expected: order.expected,
            sleep: order.sleep,
            stop_before: stop_before.unwrap_or_default(),
            policy: order.policy as u32,
            depth: order.depth,
            mode: mode as u32,
            flags: flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum(),
            ..sizes
        };
        self.write(bytemuck::bytes_of(&settings), 0)?;
        self.write(bytemuck::bytes_of(&ExecutionOutcome::default()), OUTCOME_AT)?;
        match order.follow.is_empty() {
            true => Ok(()),
            false => self.write(bytemuck::cast_slice(&order.follow), sizes.follow_at()),
        }
    }

    fn write(&self, bytes: &[u8], at: usize) -> Result<(), ControlError> {
        self.execution.write_all_at(bytes, at as u64).map_err(context("the execution file"))
    }

    /// Makes the threads of an execution that does not end report their stacks, if they can. Returns the outcome after
    /// that, and the next step of each thread with the deepest stack that it reported.
    fn request_stacks(&self, group: &Group) -> Result<(ExecutionOutcome, Vec<Pending>), ControlError> {
        group.signal(Signal::STKFLT);
        let until = Instant::now() + STACKS_TIMEOUT;
        let mut outcome = self.outcome()?;
        while outcome.flags & ExecutionOutcome::ANSWERED_WHERE == 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
            outcome = self.outcome()?;
        }
        let threads = (outcome.threads as usize).min(THREADS);
        let mut deepest = self.read::<Pending>(threads, PENDING_AT)?;
        for _ in 1..STACKS_ROUNDS {
            group.signal(Signal::STKFLT);
            std::thread::sleep(STACKS_PAUSE);
            for (deepest, again) in deepest.iter_mut().zip(self.read::<Pending>(threads, PENDING_AT)?) {
                if again.depth > deepest.depth {
                    *deepest = again;
                }
            }
        }
        Ok((outcome, deepest))
    }

    fn outcome(&self) -> Result<ExecutionOutcome, ControlError> {
        Ok(self.read::<ExecutionOutcome>(1, OUTCOME_AT)?[0])
    }

    /// How an execution with this outcome ended.
    fn ending(&self, outcome: &ExecutionOutcome, status: ExitStatus, said: u64) -> Result<Ending, ControlError> {
        Ok(match End::from_number(outcome.end) {
            Some(End::Complete) => Ending::Finished,
            Some(End::Deadlock) => Ending::Deadlock,
            Some(End::Livelock) => Ending::Livelock,
            Some(End::Asleep) => Ending::Asleep,
            Some(End::Diverged) => Ending::Diverged,
            Some(End::TooManyThreads) => return Err(ControlError::TooManyThreads),
            Some(End::Process) | None if status.success() => Ending::Finished,
            Some(End::Process) | None => {
                let said = self.last_words(said)?;
                if status.code() == Some(NO_CONTROL) {
                    return Err(ControlError::refused(&said));
                }
                Ending::Crashed { how: how(status), said }
            }
        })
    }

    fn execution(&self, outcome: &ExecutionOutcome, ended: Ending) -> Result<Execution, ControlError> {
        let threads = (outcome.threads as usize).min(THREADS);
        Ok(Execution {
            base: outcome.base,
            ended,
            steps: self.read::<Step>(outcome.steps.min(MOST_STEPS) as usize, STEPS_AT)?,
            decisions: self.read::<Decision>(outcome.decisions.min(DECISIONS) as usize, sizes().decisions_at())?,
            pending: self.read::<Pending>(threads, PENDING_AT)?,
            digest: outcome.digest,
        })
    }

    fn read<T: Pod>(&self, count: usize, at: usize) -> Result<Vec<T>, ControlError> {
        let mut values = vec![T::zeroed(); count];
        self.execution
            .read_exact_at(bytemuck::cast_slice_mut(&mut values), at as u64)
            .map_err(context("the execution file"))?;
        Ok(values)
    }
}

fn temporary_directory_in(parent: &Path) -> io::Result<TempDir> {
    fs::create_dir_all(parent)?;
    tempfile::Builder::new().prefix("omnilink-").tempdir_in(parent)
}

/// The fields that are equal in all settings, because a program maps the file once.
fn sizes() -> Settings {
    Settings { magic: MAGIC, steps: MOST_STEPS, decisions: DECISIONS, ..Settings::zeroed() }
}

/// How to start a program repeatedly.
struct Recipe {
    program: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, Option<OsString>)>,
    directory: Option<PathBuf>,
}

impl Recipe {
    fn of(command: &Command) -> Recipe {
        Recipe {
            program: command.get_program().to_owned(),
            arguments: command.get_args().map(OsStr::to_owned).collect(),
            environment: command
                .get_envs()
                .map(|(name, value)| (name.to_owned(), value.map(OsStr::to_owned)))
                .collect(),
            directory: command.get_current_dir().map(Path::to_owned),
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command
    }

    /// The value it gives a variable.
    fn value(&self, variable: &str) -> Option<&OsStr> {
        let set = self.environment.iter().find(|(name, _)| name == variable);
        set.and_then(|(_, value)| value.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use omnilink_schedule::channel::Policy;

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    /// A program that speaks the protocol but controls no threads: `$order` is the order.
    const SERVER: &str = r#"
        exec 3<"$OMNILINK_SCHED/orders" 4>"$OMNILINK_SCHED/answers"
        take() { od -An -v -tu4 -N4 <&3 | tr -d ' \n'; }
        put() { printf "$1" | dd of="$OMNILINK_SCHED/execution" bs=1 seek="$2" conv=notrunc 2>/dev/null; }
        while length=$(take); test -n "$length"; do
            order=$(dd bs=1 count="$length" <&3 2>/dev/null)
            case "$order" in
            *crash*) echo "assertion failed"; put '\006\000\000\000' STATUS_AT ;;
            *hang*) sleep 30 ;;
            *die*) exit 3 ;;
            *refuse*) echo "it is linked in the wrong order"; exit 117 ;;
            *stuck*) put '\002' END_AT ;;
            *steps*) put '\002' COUNT_AT; put '\001' DECISIONS_AT; put '\007' FIRST_STEP_AT; put '\003' SECOND_STEP_AT ;;
            esac
            printf x >&4
        done"#;

    /// A script with the offsets that it writes to.
    fn placed(script: &str) -> String {
        let places = [
            ("STATUS_AT", OUTCOME_AT + offset_of!(ExecutionOutcome, status)),
            ("END_AT", OUTCOME_AT + offset_of!(ExecutionOutcome, end)),
            ("COUNT_AT", OUTCOME_AT + offset_of!(ExecutionOutcome, steps)),
            ("DECISIONS_AT", OUTCOME_AT + offset_of!(ExecutionOutcome, decisions)),
            ("FIRST_STEP_AT", STEPS_AT + offset_of!(Step, address)),
            ("SECOND_STEP_AT", STEPS_AT + size_of::<Step>() + offset_of!(Step, thread)),
        ];
        places.iter().fold(script.to_owned(), |script, (name, place)| script.replace(name, &place.to_string()))
    }

    fn control(script: &str) -> Control {
        let mut command = Command::new("sh");
        command.args(["-c", &placed(script)]);
        Control::start(&command, Path::new(""), &std::env::temp_dir()).unwrap()
    }

    fn execute(control: &mut Control, what: &str, timeout: Duration) -> Result<Execution, ControlError> {
        let order = ExecutionOrder { environment: vec![("WHAT".into(), what.into())], ..ExecutionOrder::default() };
        control.execute(&order, timeout)
    }

    #[test]
    fn every_ending_is_distinguished_and_the_next_order_runs() {
        let mut control = control(SERVER);
        let mut check = |what: &str| {
            let timeout = if what == "hang" { Duration::from_millis(300) } else { LONG };
            execute(&mut control, what, timeout).map(|execution| execution.ended).map_err(|error| error.to_string())
        };
        let crashed = Ending::Crashed { how: "killed by SIGABRT".into(), said: "assertion failed".into() };
        for _ in 0..2 {
            assert_eq!(check("finish"), Ok(Ending::Finished));
            assert_eq!(check("crash"), Ok(crashed.clone()));
            assert_eq!(check("hang"), Ok(Ending::TimedOut));
            assert_eq!(check("stuck"), Ok(Ending::Deadlock));
        }
        insta::assert_snapshot!(check("refuse").unwrap_err(), @"the program cannot be controlled: it is linked in the wrong order");
        assert_eq!(check("finish"), Ok(Ending::Finished));
        insta::assert_snapshot!(check("die").unwrap_err(), @"the fork server ended before the next run (exited with code 3); no output");
        assert_eq!(check("finish"), Ok(Ending::Finished));
    }

    #[test]
    fn an_interrupt_does_not_wait_for_the_program() {
        let mut control = control(SERVER).interruptible(|| true);
        let started = Instant::now();
        assert!(matches!(execute(&mut control, "hang", LONG), Err(ControlError::Interrupted)));
        assert!(started.elapsed() < LONG / 2);
    }

    #[test]
    fn orders_longer_than_the_pipe_are_rejected() {
        let mut control = control(SERVER);
        let error = execute(&mut control, &"x".repeat(LONGEST_ORDER), LONG).unwrap_err();
        insta::assert_snapshot!(error, @"the environment of an execution takes 65542 bytes (at most 65532)");
        let longest = LONGEST_ORDER - LENGTH - "WHAT=\n".len();
        assert_eq!(execute(&mut control, &"x".repeat(longest), LONG).unwrap().ended, Ending::Finished);
    }

    #[test]
    fn steps_and_decisions_are_read() {
        let mut control = control(SERVER);
        let Execution { steps, decisions, .. } = execute(&mut control, "steps", LONG).unwrap();
        assert_eq!(steps.iter().map(|step| (step.address, step.thread)).collect::<Vec<_>>(), [(7, 0), (0, 3)]);
        assert_eq!(decisions.len(), 1);
        // Nothing is carried over from the previous execution.
        assert_eq!(execute(&mut control, "finish", LONG).unwrap().steps, []);
    }

    #[test]
    fn settings_are_written_to_the_file() {
        let order = ExecutionOrder {
            policy: Policy::Steady,
            follow: vec![Decision::thread(1), Decision::thread(2)],
            weak: true,
            strict: true,
            ..ExecutionOrder::default()
        };
        let once = Once::new(&order, Some(9), Path::new("/runtime.so"), &std::env::temp_dir()).unwrap();
        let settings = once.channel.read::<Settings>(1, 0).unwrap()[0];
        assert_eq!((settings.magic, settings.stop_before), (MAGIC, 9));
        assert_eq!((settings.policy, settings.mode), (Policy::Steady as u32, Mode::Once as u32));
        assert_eq!(settings.flags, Settings::WEAK | Settings::STRICT);
        assert_eq!(once.channel.read::<Decision>(2, settings.follow_at()).unwrap(), order.follow);
        assert_eq!(once.environment()[1], ("LD_PRELOAD".into(), "/runtime.so".into()));
    }

    #[test]
    fn a_program_that_is_not_controlled_is_an_error() {
        let mut control = control("echo hello");
        insta::assert_snapshot!(execute(&mut control, "", LONG).unwrap_err(), @"the program was not controlled: it ended before the first run (exited with code 0); hello");
        let once = Once::new(&ExecutionOrder::default(), None, Path::new(""), &std::env::temp_dir()).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "exit 0"]);
        insta::assert_snapshot!(once.run(&command, LONG).unwrap_err(), @"the program was not controlled: it ended before the first run (exited with code 0); no output");
    }
}

//! A program under control: the process, and the file and pipes through which it is told what to do.
//!
//! [`Control`] keeps one process that waits before its `main` and forks for every order, so that an execution costs a
//! fork and not a start. [`Once`] is for a program that somebody starts who wants to look at it, such as a debugger.
//! Both write what they ask for into the file that [`schedule::channel`] describes, and read from it what came of it.
//!
//! # What stays true
//!
//! - Nobody waits forever. Both pipes are opened in ways that do not wait for the other side, and an answer is awaited
//!   together with the end of the process.
//! - A process that did not answer in time is ended with all that it started, and the next order starts another one with
//!   new pipes, so that no answer is ever taken for that to another order.
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
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, OFlags, mknodat, statvfs};
use rustix::process::{PidfdFlags, Signal, pidfd_open};
use schedule::channel::{
    ANSWERS, EXECUTION, End, LONGEST_ORDER, MAGIC, Mode, NO_CONTROL, ORDERS, OUTCOME_AT, Outcome, PENDING_AT, Pending,
    REFUSAL, STEPS_AT, Settings, VARIABLE, WHERE,
};
use schedule::{Decision, Step, THREADS};
use tempfile::TempDir;

use crate::execution::{Ending, Execution, Order};
use crate::process::{Group, how, last_words, named};

/// The variable with which the loader is told to load the runtime before everything else.
const PRELOAD: &str = "LD_PRELOAD";
/// The file with what the program said.
const SAID: &str = "said";
/// If a program has said more than so many bytes, what it said before the next execution is forgotten.
const MUCH_SAID: u64 = 1 << 20;
/// Whoever waits for a program looks so often whether somebody wants to stop. Less than a second.
const LOOK_UP: Duration = Duration::from_millis(50);
/// How long threads may take to say where they are. A thread that cannot keeps the others from being known.
const WHERE_PATIENCE: Duration = Duration::from_secs(1);
const _: () = assert!(Signal::STKFLT.as_raw() == WHERE);
/// There is room for so many steps.
pub const MOST_STEPS: u64 = 1 << 20;
/// There is room for so many decisions.
const DECISIONS: u64 = 1 << 21;

/// Why there is no execution.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// A file, a pipe or a process could not be had.
    #[error("{what}: {error}")]
    Io {
        /// What was to be done.
        what: &'static str,
        /// Why it was not.
        error: io::Error,
    },
    /// The program says that it cannot be controlled.
    #[error("the program cannot be controlled: {0}")]
    Refused(String),
    /// The program ended before anything was asked of it.
    #[error(
        "the program was not controlled: {how} before it was asked for anything; {}",
        if said.is_empty() { "it said nothing" } else { said }
    )]
    NotControlled {
        /// How it ended.
        how: String,
        /// The last that it said.
        said: String,
    },
    /// The program, which had answered before, ended instead of answering.
    #[error("the program ended where it waits to be asked: {how}; {}", if said.is_empty() { "it said nothing" } else { said })]
    Gone {
        /// How it ended.
        how: String,
        /// The last that it said.
        said: String,
    },
    /// There are more decisions to be followed than there is room for.
    #[error("there are {0} decisions to be followed, and room for {DECISIONS}")]
    TooLong(usize),
    /// An execution may make more steps than there is room for.
    #[error("the limit is {0} steps, and there is room for {MOST_STEPS}")]
    TooManySteps(u64),
    /// What the program is told is longer than the pipe to it, in which it must fit as a whole.
    #[error("the variables of an execution take {0} bytes, and there is room for {room}", room = LONGEST_ORDER - LENGTH)]
    LongOrder(usize),
    /// Somebody wanted to stop.
    #[error("interrupted")]
    Interrupted,
    /// There were more threads than can be controlled.
    #[error("the program has more than {THREADS} threads at a time")]
    TooManyThreads,
}

impl ControlError {
    /// What the program said, from where the runtime says why.
    fn refused(said: &str) -> ControlError {
        ControlError::Refused(said.rsplit(REFUSAL).next().unwrap_or(said).to_owned())
    }
}

/// Says what was to be done when something went wrong.
fn doing<E: Into<io::Error>>(what: &'static str) -> impl Fn(E) -> ControlError {
    move |error| ControlError::Io { what, error: error.into() }
}

/// A program under control, which is asked for one execution after the other.
pub struct Control {
    channel: Channel,
    command: Recipe,
    runtime: PathBuf,
    server: Option<Server>,
    outcome: Outcome,
    is_interrupted: fn() -> bool,
}

impl Control {
    /// Starts a program. Its directory of files is made in memory if there is room, and else in `scratch`.
    pub fn start(command: &Command, runtime: &Path, scratch: &Path) -> Result<Control, ControlError> {
        let channel = Channel::new(scratch)?;
        let command = Recipe::of(command);
        let mut control = Control {
            channel,
            command,
            runtime: runtime.into(),
            server: None,
            outcome: Outcome::default(),
            is_interrupted: || false,
        };
        control.server = Some(control.serve()?);
        Ok(control)
    }

    /// Asks this again and again while it waits for the program, which is ended if somebody wants to stop.
    pub fn interruptible(mut self, is_interrupted: fn() -> bool) -> Control {
        self.is_interrupted = is_interrupted;
        self
    }

    /// Lets the program run once. Whatever it does in that time is its execution; after `timeout` it is ended.
    pub fn execute(&mut self, order: &Order, timeout: Duration) -> Result<Execution, ControlError> {
        let mut server = match self.server.take() {
            Some(server) => server,
            None => self.serve()?,
        };
        let until = Instant::now() + timeout;
        let said = self.channel.mark()?;
        self.channel.ask(order, Mode::Serve, None)?;
        server.order(&order.environment)?;
        let answer = server.answer(until, self.is_interrupted)?;
        self.outcome = self.channel.outcome()?;
        let ending = match answer {
            Answer::Done => {
                server.begins = None;
                self.server = Some(server);
                self.channel.ending(&self.outcome, ExitStatus::from_raw(self.outcome.status as i32), said)?
            }
            Answer::Late => {
                self.outcome = self.channel.ask_where(&server.group)?;
                server.group.end().map_err(doing("the program cannot be ended"))?;
                Ending::TimedOut
            }
            Answer::Interrupted => return Err(ControlError::Interrupted),
            Answer::Gone => {
                let status = server.group.end().map_err(doing("the program cannot be ended"))?;
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

    /// A directory for what the program leaves behind, which goes away with this. Its path is always as long, because the
    /// length of what the program is told moves what lies in its memory.
    pub fn directory(&self) -> &Path {
        self.channel.directory.path()
    }

    /// What the program wrote down about the last execution as a whole.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    fn serve(&self) -> Result<Server, ControlError> {
        // The program looks at this before it waits for orders.
        self.channel.ask(&Order::default(), Mode::Serve, None)?;
        let (orders, answers) = self.channel.pipes()?;
        let mut command = self.command.command();
        command.envs(self.channel.environment(&self.runtime, self.command.value(PRELOAD)));
        let said = self.channel.said()?;
        let begins = Some(self.channel.mark()?);
        let group = Group::start(&mut command, said)
            .map_err(|error| doing("the program")(named(&self.command.program.to_string_lossy(), error)))?;
        let end = pidfd_open(group.pid(), PidfdFlags::empty()).map_err(doing("the program cannot be watched"))?;
        Ok(Server { group, orders, answers, end, begins })
    }
}

/// A program that somebody else starts, once.
pub struct Once {
    channel: Channel,
    environment: Vec<(OsString, OsString)>,
}

impl Once {
    /// Prepares everything that the program finds when it starts. If `stop_before` names a step, from 1, the program
    /// calls `omnilink_sched_breakpoint` before it.
    pub fn new(order: &Order, stop_before: Option<u64>, runtime: &Path, scratch: &Path) -> Result<Once, ControlError> {
        let channel = Channel::new(scratch)?;
        channel.ask(order, Mode::Once, stop_before)?;
        let environment = channel.environment(runtime, None);
        let once = Once { channel, environment };
        once.tell(&order.environment)?;
        Ok(once)
    }

    /// Changes the variables of the environment that the program finds once it has started. They reach it as they reach one
    /// that serves, because where they lie in its memory must be the same.
    pub fn tell(&self, environment: &[(String, String)]) -> Result<(), ControlError> {
        let orders = written(environment)?;
        fs::write(self.channel.path(ORDERS), orders).map_err(doing("the order for the program"))
    }

    /// See [`Control::directory`].
    pub fn directory(&self) -> &Path {
        self.channel.directory.path()
    }

    /// The variables that the program must see. What comes before it, such as a debugger, must not see them.
    pub fn environment(&self) -> &[(OsString, OsString)] {
        &self.environment
    }

    /// Runs the program, and reads what came of it.
    pub fn run(&self, command: &Command, timeout: Duration) -> Result<(Execution, Outcome), ControlError> {
        let recipe = Recipe::of(command);
        let mut command = recipe.command();
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let said = self.channel.said()?;
        let name = recipe.program.to_string_lossy();
        let mut group = Group::start(&mut command, said).map_err(|error| doing("the program")(named(&name, error)))?;
        let stopped =
            group.wait(Instant::now() + timeout, &|| false).map_err(doing("the program cannot be watched"))?;
        if stopped.is_some() {
            self.channel.ask_where(&group)?;
        }
        let status = group.end().map_err(doing("the program cannot be ended"))?;
        match stopped {
            Some(_) => self.read(None),
            None => self.read(Some(status)),
        }
    }

    /// Reads what came of a program that has ended like this, or that had to be ended.
    pub fn read(&self, status: Option<ExitStatus>) -> Result<(Execution, Outcome), ControlError> {
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

/// A process that waits for orders.
struct Server {
    group: Group,
    orders: File,
    answers: File,
    /// Readable when the process has ended.
    end: OwnedFd,
    /// Where what it says begins, until it has answered: before that, all of it tells why it does not.
    begins: Option<u64>,
}

/// What became of an order.
enum Answer {
    Done,
    Late,
    Interrupted,
    Gone,
}

impl Server {
    fn order(&mut self, environment: &[(String, String)]) -> Result<(), ControlError> {
        // One write, so that the program never sees half of it.
        self.orders.write_all(&written(environment)?).map_err(doing("the program cannot be asked"))
    }

    fn answer(&mut self, until: Instant, is_interrupted: fn() -> bool) -> Result<Answer, ControlError> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let pause = Timespec { tv_sec: 0, tv_nsec: left.min(LOOK_UP).subsec_nanos().into() };
            let mut awaited = [PollFd::new(&self.answers, PollFlags::IN), PollFd::new(&self.end, PollFlags::IN)];
            match poll(&mut awaited, Some(&pause)) {
                Ok(0) if left <= LOOK_UP => return Ok(Answer::Late),
                Ok(0) if is_interrupted() => return Ok(Answer::Interrupted),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(doing("the program cannot be watched")(error)),
            }
            let has_ended = !awaited[1].revents().is_empty();
            match self.answers.read(&mut [0]) {
                Ok(1) => return Ok(Answer::Done),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(doing("the answer cannot be read")(error)),
            }
            if has_ended {
                return Ok(Answer::Gone);
            }
        }
    }
}

/// So many bytes say how long an order is.
const LENGTH: usize = size_of::<u32>();

/// An order, as it is written.
fn written(environment: &[(String, String)]) -> Result<Vec<u8>, ControlError> {
    let lines: String = environment.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    let fits = u32::try_from(lines.len()).ok().filter(|_| lines.len() <= LONGEST_ORDER - LENGTH);
    let length = fits.ok_or(ControlError::LongOrder(lines.len()))?;
    Ok([&length.to_le_bytes(), lines.as_bytes()].concat())
}

/// The directory that a program and its driver share. It goes away when this is dropped.
struct Channel {
    directory: TempDir,
    execution: File,
}

impl Channel {
    fn new(scratch: &Path) -> Result<Channel, ControlError> {
        let length = sizes().length() as u64;
        let memory = Path::new("/dev/shm");
        // A program that writes where there is no room ends, so there must be enough for several.
        let has_room = statvfs(memory).is_ok_and(|space| space.f_bavail.saturating_mul(space.f_frsize) > 4 * length);
        let in_memory = has_room.then(|| made_in(memory).ok()).flatten();
        let directory = match in_memory {
            Some(directory) => directory,
            None => made_in(scratch).map_err(doing("the directory for a program"))?,
        };
        let execution = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(directory.path().join(EXECUTION))
            .and_then(|file| file.set_len(length).map(|()| file))
            .map_err(doing("the file for executions"))?;
        Ok(Channel { directory, execution })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Makes new pipes, and opens them without waiting for the program.
    fn pipes(&self) -> Result<(File, File), ControlError> {
        let wrong = doing("the pipes to the program");
        for name in [ORDERS, ANSWERS] {
            let path = self.path(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(wrong(error)),
                _ => {}
            }
            mknodat(CWD, &path, FileType::Fifo, 0o600.into(), 0).map_err(|error| wrong(error.into()))?;
        }
        // Who opens a pipe for both ends waits for nobody, and can write though nobody reads yet.
        let orders = OpenOptions::new().read(true).write(true).open(self.path(ORDERS)).map_err(&wrong)?;
        let nonblocking = OFlags::NONBLOCK.bits() as i32;
        let answers =
            OpenOptions::new().read(true).custom_flags(nonblocking).open(self.path(ANSWERS)).map_err(&wrong)?;
        Ok((orders, answers))
    }

    /// What a program must see so that it is controlled.
    fn environment(&self, runtime: &Path, preloaded: Option<&OsStr>) -> Vec<(OsString, OsString)> {
        let mut preload = runtime.as_os_str().to_owned();
        if let Some(preloaded) = preloaded {
            preload.push(":");
            preload.push(preloaded);
        }
        vec![(VARIABLE.into(), self.directory.path().into()), (PRELOAD.into(), preload)]
    }

    /// Where what the program says goes, at the end of what it said before.
    fn said(&self) -> Result<File, ControlError> {
        OpenOptions::new().append(true).create(true).open(self.path(SAID)).map_err(doing("the file for what is said"))
    }

    /// Where what will be said next begins.
    fn mark(&self) -> Result<u64, ControlError> {
        let wrong = doing("the file for what is said");
        let length = fs::metadata(self.path(SAID)).map_err(&wrong)?.len();
        if length <= MUCH_SAID {
            return Ok(length);
        }
        File::create(self.path(SAID)).map_err(wrong)?;
        Ok(0)
    }

    fn last_words(&self, from: u64) -> Result<String, ControlError> {
        match last_words(&self.path(SAID), from) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            said => said.map_err(doing("the file for what is said")),
        }
    }

    /// Writes down what is asked for.
    fn ask(&self, order: &Order, mode: Mode, stop_before: Option<u64>) -> Result<(), ControlError> {
        let sizes = sizes();
        if order.follow.len() as u64 > DECISIONS {
            return Err(ControlError::TooLong(order.follow.len()));
        }
        if order.limit > MOST_STEPS {
            return Err(ControlError::TooManySteps(order.limit));
        }
        let flags = [
            (order.weak, Settings::WEAK),
            (order.plain, Settings::PLAIN),
            (order.strict, Settings::STRICT),
            (order.batch, Settings::BATCH),
            (order.races, Settings::RACES),
        ];
        let settings = Settings {
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
        self.write(bytemuck::bytes_of(&Outcome::default()), OUTCOME_AT)?;
        match order.follow.is_empty() {
            true => Ok(()),
            false => self.write(bytemuck::cast_slice(&order.follow), sizes.follow_at()),
        }
    }

    fn write(&self, bytes: &[u8], at: usize) -> Result<(), ControlError> {
        self.execution.write_all_at(bytes, at as u64).map_err(doing("the file for executions"))
    }

    /// Has the threads of an execution that does not end say where they are, if they can. What is known then.
    fn ask_where(&self, group: &Group) -> Result<Outcome, ControlError> {
        group.signal(Signal::STKFLT);
        let until = Instant::now() + WHERE_PATIENCE;
        loop {
            let outcome = self.outcome()?;
            if outcome.flags & Outcome::ANSWERED_WHERE != 0 || Instant::now() >= until {
                return Ok(outcome);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn outcome(&self) -> Result<Outcome, ControlError> {
        Ok(self.read::<Outcome>(1, OUTCOME_AT)?[0])
    }

    /// How an execution ended, of which this is known.
    fn ending(&self, outcome: &Outcome, status: ExitStatus, said: u64) -> Result<Ending, ControlError> {
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

    fn execution(&self, outcome: &Outcome, ended: Ending) -> Result<Execution, ControlError> {
        let threads = (outcome.threads as usize).min(THREADS);
        Ok(Execution {
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
            .map_err(doing("the file for executions"))?;
        Ok(values)
    }
}

fn made_in(parent: &Path) -> io::Result<TempDir> {
    fs::create_dir_all(parent)?;
    tempfile::Builder::new().prefix("omnilink-").tempdir_in(parent)
}

/// What is the same in all settings: a program maps the file once.
fn sizes() -> Settings {
    Settings { magic: MAGIC, steps: MOST_STEPS, decisions: DECISIONS, ..Settings::zeroed() }
}

/// How to start a program, again and again.
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

    /// What it gives a variable.
    fn value(&self, variable: &str) -> Option<&OsStr> {
        let set = self.environment.iter().find(|(name, _)| name == variable);
        set.and_then(|(_, value)| value.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use schedule::channel::Policy;

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    /// A program that speaks the protocol but knows nothing of threads: `$order` is what was ordered.
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

    /// A script with the places of what it writes.
    fn placed(script: &str) -> String {
        let places = [
            ("STATUS_AT", OUTCOME_AT + offset_of!(Outcome, status)),
            ("END_AT", OUTCOME_AT + offset_of!(Outcome, end)),
            ("COUNT_AT", OUTCOME_AT + offset_of!(Outcome, steps)),
            ("DECISIONS_AT", OUTCOME_AT + offset_of!(Outcome, decisions)),
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
        let order = Order { environment: vec![("WHAT".into(), what.into())], ..Order::default() };
        control.execute(&order, timeout)
    }

    #[test]
    fn every_end_is_told_apart_and_the_next_order_is_carried_out() {
        let mut control = control(SERVER);
        let mut check = |what: &str| {
            let timeout = if what == "hang" { Duration::from_millis(300) } else { LONG };
            execute(&mut control, what, timeout).map(|execution| execution.ended).map_err(|error| error.to_string())
        };
        let crashed = Ending::Crashed { how: "it was ended by SIGABRT".into(), said: "assertion failed".into() };
        for _ in 0..2 {
            assert_eq!(check("finish"), Ok(Ending::Finished));
            assert_eq!(check("crash"), Ok(crashed.clone()));
            assert_eq!(check("hang"), Ok(Ending::TimedOut));
            assert_eq!(check("stuck"), Ok(Ending::Deadlock));
        }
        insta::assert_snapshot!(check("refuse").unwrap_err(), @"the program cannot be controlled: it is linked in the wrong order");
        assert_eq!(check("finish"), Ok(Ending::Finished));
        insta::assert_snapshot!(check("die").unwrap_err(), @"the program ended where it waits to be asked: it ended with code 3; it said nothing");
        assert_eq!(check("finish"), Ok(Ending::Finished));
    }

    #[test]
    fn who_wants_to_stop_does_not_wait() {
        let mut control = control(SERVER).interruptible(|| true);
        let started = Instant::now();
        assert!(matches!(execute(&mut control, "hang", LONG), Err(ControlError::Interrupted)));
        assert!(started.elapsed() < LONG / 2);
    }

    #[test]
    fn what_does_not_fit_into_the_pipe_is_refused() {
        let mut control = control(SERVER);
        let error = execute(&mut control, &"x".repeat(LONGEST_ORDER), LONG).unwrap_err();
        insta::assert_snapshot!(error, @"the variables of an execution take 65542 bytes, and there is room for 65532");
        let longest = LONGEST_ORDER - LENGTH - "WHAT=\n".len();
        assert_eq!(execute(&mut control, &"x".repeat(longest), LONG).unwrap().ended, Ending::Finished);
    }

    #[test]
    fn what_happened_is_read() {
        let mut control = control(SERVER);
        let Execution { steps, decisions, .. } = execute(&mut control, "steps", LONG).unwrap();
        assert_eq!(steps.iter().map(|step| (step.address, step.thread)).collect::<Vec<_>>(), [(7, 0), (0, 3)]);
        assert_eq!(decisions.len(), 1);
        // Nothing of one execution is taken for that of another.
        assert_eq!(execute(&mut control, "finish", LONG).unwrap().steps, []);
    }

    #[test]
    fn what_is_asked_for_stands_in_the_file() {
        let order = Order {
            policy: Policy::Steady,
            follow: vec![Decision::thread(1), Decision::thread(2)],
            weak: true,
            strict: true,
            ..Order::default()
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
        insta::assert_snapshot!(execute(&mut control, "", LONG).unwrap_err(), @"the program was not controlled: it ended with code 0 before it was asked for anything; hello");
        let once = Once::new(&Order::default(), None, Path::new(""), &std::env::temp_dir()).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "exit 0"]);
        insta::assert_snapshot!(once.run(&command, LONG).unwrap_err(), @"the program was not controlled: it ended with code 0 before it was asked for anything; it said nothing");
    }
}

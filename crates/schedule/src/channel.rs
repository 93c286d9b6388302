//! The layout of the file that a program and its driver share, and their protocol.
//!
//! The driver creates a directory and passes it to the program in the variable [`VARIABLE`]. In it are a file
//! [`EXECUTION`], which the program maps, and two named pipes, [`ORDERS`] and [`ANSWERS`]. For every execution the
//! driver writes [`Settings`] and the decisions to follow into the file, and then an order into the pipe: the length
//! of the rest as four bytes, and then lines `NAME=VALUE`, which become environment variables. The program performs
//! one execution and writes one byte into the other pipe; then [`ExecutionOutcome`] and the data after it in the file describe
//! that execution. Data written to the file survives however the program ends.
//!
//! ```text
//!        0  Settings                     written by the driver
//!     4096  ExecutionOutcome                      written by the program
//!     8192  [Pending; THREADS]           the next step of each thread
//!   + .....  [Step; settings.steps]       steps made
//!   + .....  [Decision; ..decisions]      decisions made
//!   + .....  [Decision; ..decisions]      decisions to follow, written by the driver
//! ```

use bytemuck::{Pod, Zeroable};

use crate::Decision;
use crate::step::{Step, THREADS};

/// The environment variable that names the directory.
pub const VARIABLE: &str = "OMNILINK_SCHED";
/// The mapped file.
pub const EXECUTION: &str = "execution";
/// The pipe for orders.
pub const ORDERS: &str = "orders";
/// The pipe for answers.
pub const ANSWERS: &str = "answers";

/// The maximum length of an order, its length field included: this fits into a pipe before it is read.
pub const LONGEST_ORDER: usize = 1 << 16;

/// Identifies the file and its version.
pub const MAGIC: u64 = u64::from_le_bytes(*b"omnilnk2");

/// The exit code of a program that cannot be controlled; it has printed why.
pub const NO_CONTROL: i32 = 117;

/// The signal by which the driver asks for the positions of the threads of an execution that does not end: SIGSTKFLT,
/// which the kernel never sends.
pub const WHERE: i32 = 16;

/// The beginning of the message of a program that cannot be controlled.
pub const REFUSAL: &str = "omnilink: the program cannot be controlled: ";

/// The request of the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Settings {
    /// [`MAGIC`].
    pub magic: u64,
    /// The seed of random choices.
    pub seed: u64,
    /// Capacity for steps.
    pub steps: u64,
    /// Capacity for decisions, twice.
    pub decisions: u64,
    /// The number of decisions to follow before the policy decides.
    pub follow: u64,
    /// An execution is given up as making no progress after this many steps.
    pub limit: u64,
    /// The expected number of steps of an execution, for [`Policy::Pct`].
    pub expected: u64,
    /// The sleep set after the last decision to follow, for [`Policy::Steady`]: none of these threads is chosen
    /// before a step that its next one depends on.
    pub sleep: u64,
    /// If not zero, `omnilink_sched_breakpoint` is called before this step, for a debugger.
    pub stop_before: u64,
    /// A [`Policy`].
    pub policy: u32,
    /// The number of priority changes, plus one, for [`Policy::Pct`].
    pub depth: u32,
    /// A [`Mode`].
    pub mode: u32,
    /// Options, as the bits [`Settings::WEAK`] and so on.
    pub flags: u32,
    /// Data races that are known, as the return addresses of their accesses; 0 is none. These accesses are steps, and the
    /// race is not reported.
    pub racing: [[u64; 2]; RACING],
    /// The numbers of two accesses, as in [`RacingAccess::number`], whose stacks are recorded; 0 is none.
    pub watch: [u64; 2],
}

/// The largest number of data races in [`Settings::racing`].
pub const RACING: usize = 32;

impl Settings {
    /// Loads may read stores other than the last one, as C11 allows.
    pub const WEAK: u32 = 1;
    /// Accesses without synchronization are steps too.
    pub const PLAIN: u32 = 2;
    /// A decision that cannot be followed ends the execution. Otherwise the policy decides instead.
    pub const STRICT: u32 = 4;
    /// A program that supports it may perform the next execution in the same process.
    pub const BATCH: u32 = 8;
    /// Unsynchronized accesses are compared: the first two that conflict without an order between them are a data
    /// race. Only where all code that synchronizes is instrumented.
    pub const RACES: u32 = 16;
    /// With [`Settings::WEAK`], no load reads a store that is older than a read-modify-write, than one that another thread has
    /// read, or than those of recorded operations that have returned; and a sequentially consistent read-modify-write orders
    /// as a fence does.
    pub const FRESH: u32 = 32;
    /// With [`Settings::PLAIN`], only the first [`FIRST_PLAIN`] such accesses are steps.
    pub const ONLY_FIRST_PLAIN: u32 = 64;
}

/// The number of accesses that are steps with [`Settings::ONLY_FIRST_PLAIN`]: enough for small tests, and far below the
/// limit on steps.
pub const FIRST_PLAIN: u64 = 2_000;

/// How the next thread is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Policy {
    /// Any enabled thread, each with the same probability.
    Random,
    /// The enabled thread with the highest priority; priorities are random, and change a few times. (Burckhardt,
    /// Kothari, Musuvathi, Nagarakatte: A randomized scheduler with probabilistic guarantees of finding bugs.)
    Pct,
    /// The thread whose next step has the highest priority; priorities are random, and drawn again for steps that
    /// depend on the last one. (Yuan, Yang, Gu: Partial order aware concurrency sampling.)
    Pos,
    /// The thread of the last step if it is enabled, otherwise the enabled thread with the lowest number.
    Steady,
}

/// How a program takes orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Mode {
    /// It runs once, with the order in [`ORDERS`], a file, when it starts, and does not answer.
    Once,
    /// It waits for orders before `main`, and forks for each.
    Serve,
}

/// The result of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct ExecutionOutcome {
    /// The number of steps made. The file holds at most its capacity.
    pub steps: u64,
    /// The number of decisions made. The file holds at most its capacity.
    pub decisions: u64,
    /// A fingerprint of all steps, addresses and values included.
    pub digest: u64,
    /// The program's virtual time, in nanoseconds since it started.
    pub now: u64,
    /// The load address of the program's first object, to make code addresses position-independent.
    pub base: u64,
    /// An [`End`].
    pub end: u32,
    /// The status from `waitpid`, if the process ended.
    pub status: u32,
    /// The number of threads ever created.
    pub threads: u32,
    /// The signal that ended it, if the runtime saw one.
    pub signal: u32,
    /// The thread that ran when it ended.
    pub last: u32,
    /// Flags, as the bits [`ExecutionOutcome::BATCH`] and so on.
    pub flags: u32,
    /// The two accesses of the first data race, the earlier first, if [`ExecutionOutcome::RACED`] is set. With
    /// [`Settings::watch`], the accesses of these numbers.
    pub race: [RacingAccess; 2],
}

/// One of the two accesses of a data race.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct RacingAccess {
    /// Its return address.
    pub place: u64,
    /// Its number among all compared accesses of the execution, from 1.
    pub number: u64,
    /// The number of steps made before it. Only if it was watched.
    pub steps: u64,
    /// The thread.
    pub thread: u32,
    /// 1 if it writes, [`RacingAccess::FREES`] if it frees the memory.
    pub writes: u32,
    /// 1 if it is atomic.
    pub is_atomic: u32,
    /// The number of recorded frames. Only if it was watched.
    pub depth: u32,
    /// The stack of the thread, innermost frame first.
    pub stack: [u64; FRAMES],
}

impl RacingAccess {
    /// The memory is returned to the allocator.
    pub const FREES: u32 = 2;
}

impl ExecutionOutcome {
    /// The process continues with the next execution.
    pub const BATCH: u32 = 1;
    /// A thread was created before `main`, so that no process can be forked there.
    pub const EARLY_THREADS: u32 = 2;
    /// A thread really waited for external input, so that a replay may differ.
    pub const WAITED_OUTSIDE: u32 = 4;
    /// A signal came from outside.
    pub const SIGNALLED: u32 = 8;
    /// All threads have reported their positions, because the driver asked.
    pub const ANSWERED_WHERE: u32 = 128;
    /// The accesses of a data race are in [`ExecutionOutcome::race`].
    pub const RACED: u32 = 16;
}

/// How an execution ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum End {
    /// It is running, or the process ended and [`ExecutionOutcome::status`] says how.
    Process,
    /// It is complete, and the process continues.
    Complete,
    /// No thread is enabled, ever.
    Deadlock,
    /// Threads run without changing anything, or it took too many steps.
    Livelock,
    /// All enabled threads sleep: another execution has covered this one.
    Asleep,
    /// A decision could not be followed.
    Diverged,
    /// The execution has more threads than [`THREADS`].
    TooManyThreads,
}

impl End {
    /// The end with this number.
    pub fn from_number(number: u32) -> Option<End> {
        use End::*;
        [Process, Complete, Deadlock, Livelock, Asleep, Diverged, TooManyThreads].get(number as usize).copied()
    }
}

/// The next step of a thread when the execution ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Pending {
    /// The step. Its flags and values mean nothing, and `enabled` is 1 if the thread was enabled.
    pub step: Step,
    /// A [`Standing`].
    pub standing: u32,
    /// The number of recorded frames.
    pub depth: u32,
    /// The stack of the thread, innermost frame first. Only if the execution is stuck, and of the thread that
    /// crashed.
    pub stack: [u64; FRAMES],
}

/// The maximum number of recorded stack frames.
pub const FRAMES: usize = 32;

/// The state of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Standing {
    /// No thread has this number.
    Absent,
    /// It is about to make its step, or is blocked.
    Alive,
    /// It spins: it has read the same value again and again.
    Spinning,
    /// It has ended.
    Ended,
}

impl Standing {
    /// The standing with this number.
    pub fn from_number(number: u32) -> Option<Standing> {
        use Standing::*;
        [Absent, Alive, Spinning, Ended].get(number as usize).copied()
    }
}

/// The offset of [`ExecutionOutcome`].
pub const OUTCOME_AT: usize = 4096;
/// The offset of the pending steps.
pub const PENDING_AT: usize = 8192;
/// The offset of the steps.
pub const STEPS_AT: usize = 32768;

const _: () = assert!(size_of::<Settings>() <= OUTCOME_AT && OUTCOME_AT + size_of::<ExecutionOutcome>() <= PENDING_AT);
const _: () = assert!(PENDING_AT + THREADS * size_of::<Pending>() <= STEPS_AT);

impl Settings {
    /// The offset of the decisions.
    pub fn decisions_at(&self) -> usize {
        STEPS_AT + self.steps as usize * size_of::<Step>()
    }

    /// The offset of the decisions to follow.
    pub fn follow_at(&self) -> usize {
        self.decisions_at() + self.decisions as usize * size_of::<Decision>()
    }

    /// The length of the file.
    pub fn length(&self) -> usize {
        self.follow_at() + self.decisions as usize * size_of::<Decision>()
    }
}

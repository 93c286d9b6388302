//! Where everything stands in the file that a program and its driver share, and how they take turns.
//!
//! The driver makes a directory and names it to the program in the variable [`VARIABLE`]. In it are a file
//! [`EXECUTION`], which the program maps, and two named pipes, [`ORDERS`] and [`ANSWERS`]. For every execution the driver
//! writes [`Settings`] and the decisions to follow into the file, and then an order into the pipe: the length of what
//! follows as four bytes, and then lines `NAME=VALUE`, which become variables of the environment. The program performs
//! one execution and writes one byte into the other pipe; then [`Outcome`] and what follows it in the file are about that
//! execution. What is written to the file is there however the program ends.
//!
//! ```text
//!        0  Settings                     written by the driver
//!     4096  Outcome                      written by the program
//!     8192  [Pending; THREADS]           what each thread was about to do
//!   + .....  [Step; settings.steps]       what happened
//!   + .....  [Decision; ..decisions]      what was decided
//!   + .....  [Decision; ..decisions]      what is to be decided, written by the driver
//! ```

use bytemuck::{Pod, Zeroable};

use crate::Decision;
use crate::step::{Step, THREADS};

/// The variable that names the directory.
pub const VARIABLE: &str = "OMNILINK_SCHED";
/// The file that is mapped.
pub const EXECUTION: &str = "execution";
/// The pipe that orders come through.
pub const ORDERS: &str = "orders";
/// The pipe that answers go through.
pub const ANSWERS: &str = "answers";

/// No order is longer than this, its length included: so much fits into a pipe before anybody reads.
pub const LONGEST_ORDER: usize = 1 << 16;

/// Says that a file is one of these, and of which version.
pub const MAGIC: u64 = u64::from_le_bytes(*b"omnilnk1");

/// The code that a program ends with if it cannot be controlled; it has said why.
pub const NO_CONTROL: i32 = 117;

/// The signal with which the driver asks where the threads of an execution are that does not end: SIGSTKFLT, which the kernel
/// never sends.
pub const WHERE: i32 = 16;

/// How it begins to say why.
pub const REFUSAL: &str = "omnilink: the program cannot be controlled: ";

/// What the driver asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Settings {
    /// [`MAGIC`].
    pub magic: u64,
    /// What random choices are drawn from.
    pub seed: u64,
    /// How many steps there is room for.
    pub steps: u64,
    /// How many decisions there is room for, twice.
    pub decisions: u64,
    /// So many decisions are to be followed, before the policy decides.
    pub follow: u64,
    /// After so many steps an execution is given up as one that makes no progress.
    pub limit: u64,
    /// How many steps an execution is expected to have, for [`Policy::Pct`].
    pub expected: u64,
    /// The threads that sleep when the last decision to be followed was made, for [`Policy::Steady`]: none of them is
    /// chosen before a step was made on which its own next one depends.
    pub sleep: u64,
    /// If not zero, the debugger is let in before this step: `omnilink_sched_breakpoint` is called.
    pub stop_before: u64,
    /// A [`Policy`].
    pub policy: u32,
    /// How many times the priority of a thread changes, plus one, for [`Policy::Pct`].
    pub depth: u32,
    /// A [`Mode`].
    pub mode: u32,
    /// What else is asked for, as the bits [`Settings::WEAK`] and so on.
    pub flags: u32,
}

impl Settings {
    /// Loads may read other stores than the last one, as C11 allows.
    pub const WEAK: u32 = 1;
    /// Accesses without synchronization are steps too.
    pub const PLAIN: u32 = 2;
    /// A decision that cannot be followed ends the execution. Without this, the policy decides instead.
    pub const STRICT: u32 = 4;
    /// A program that can may perform the next execution in the same process.
    pub const BATCH: u32 = 8;
    /// Accesses without synchronization are compared: the first two that conflict and that nothing orders are a data race.
    /// Only where all code that synchronizes is instrumented.
    pub const RACES: u32 = 16;
}

/// How the next thread is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Policy {
    /// Any thread that can go on, each as likely as the others.
    Random,
    /// The one with the highest priority; priorities are random, and change a few times. (Burckhardt, Kothari, Musuvathi,
    /// Nagarakatte: A randomized scheduler with probabilistic guarantees of finding bugs.)
    Pct,
    /// The one whose next step has the highest priority; priorities are random, and drawn again for steps that depend on
    /// the one that was made. (Yuan, Yang, Gu: Partial order aware concurrency sampling.)
    Pos,
    /// The one that made the step before, if it can go on, and the one with the lowest number else.
    Steady,
}

/// What a program is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Mode {
    /// It runs once, with the order that is in [`ORDERS`], a file, when it starts, and answers nothing.
    Once,
    /// It waits for orders before `main`, and forks for each.
    Serve,
}

/// What came of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Outcome {
    /// How many steps were made. No more than there is room for are in the file.
    pub steps: u64,
    /// How many decisions were made. No more than there is room for are in the file.
    pub decisions: u64,
    /// A fingerprint of all steps, addresses and values included.
    pub digest: u64,
    /// Where the time that the program sees is, in nanoseconds since it started.
    pub now: u64,
    /// Where the program's first object is mapped, for places that do not move.
    pub base: u64,
    /// An [`End`].
    pub end: u32,
    /// What `waitpid` said, if the process ended.
    pub status: u32,
    /// How many threads there ever were.
    pub threads: u32,
    /// The signal that ended it, if the runtime saw one.
    pub signal: u32,
    /// The thread that ran when it ended.
    pub last: u32,
    /// What else is known, as the bits [`Outcome::BATCH`] and so on.
    pub flags: u32,
    /// Where the code of the two accesses of a data race continues, the earlier first; 0 if none was found.
    pub race: [u64; 2],
}

impl Outcome {
    /// The process goes on with the next execution.
    pub const BATCH: u32 = 1;
    /// A thread was created before `main`, so that no process can be forked there.
    pub const EARLY_THREADS: u32 = 2;
    /// A thread waited for something from outside for real, so that a replay need not be the same.
    pub const WAITED_OUTSIDE: u32 = 4;
    /// A signal came from outside.
    pub const SIGNALLED: u32 = 8;
    /// All threads have said where they are, because the driver asked.
    pub const ANSWERED_WHERE: u32 = 128;
    /// The accesses of a data race are in [`Outcome::race`].
    pub const RACED: u32 = 16;
    /// Of these, the earlier one writes.
    pub const EARLIER_WRITES: u32 = 32;
    /// Of these, the later one writes.
    pub const LATER_WRITES: u32 = 64;
}

/// How an execution ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum End {
    /// It runs, or the process ended and [`Outcome::status`] says how.
    Process,
    /// It is complete, and the process goes on.
    Complete,
    /// Nobody can go on, ever.
    Deadlock,
    /// Threads go on, and nothing changes; or it took too many steps.
    Livelock,
    /// All who could go on sleep: another execution has shown the same.
    Asleep,
    /// A decision could not be followed.
    Diverged,
    /// There are more threads than [`THREADS`].
    TooManyThreads,
}

impl End {
    /// The end of this number.
    pub fn from_number(number: u32) -> Option<End> {
        use End::*;
        [Process, Complete, Deadlock, Livelock, Asleep, Diverged, TooManyThreads].get(number as usize).copied()
    }
}

/// What a thread was about to do when the execution ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Pending {
    /// The step. Its flags and values mean nothing, and `enabled` is 1 if it could have been made.
    pub step: Step,
    /// A [`Standing`].
    pub standing: u32,
    /// How many frames are known.
    pub depth: u32,
    /// Where the thread is, the innermost first. Only if the execution is stuck, and of the thread that crashed.
    pub stack: [u64; FRAMES],
}

/// So many frames of a stack are kept.
pub const FRAMES: usize = 32;

/// What has become of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Standing {
    /// There is none of this number.
    Absent,
    /// It is about to make its step, or cannot make it yet.
    Alive,
    /// It spins: it has read the same again and again.
    Spinning,
    /// It has ended.
    Ended,
}

impl Standing {
    /// The standing of this number.
    pub fn from_number(number: u32) -> Option<Standing> {
        use Standing::*;
        [Absent, Alive, Spinning, Ended].get(number as usize).copied()
    }
}

/// Where [`Outcome`] stands.
pub const OUTCOME_AT: usize = 4096;
/// Where the pending steps stand.
pub const PENDING_AT: usize = 8192;
/// Where steps stand.
pub const STEPS_AT: usize = 32768;

const _: () = assert!(PENDING_AT + THREADS * size_of::<Pending>() <= STEPS_AT);

impl Settings {
    /// Where decisions stand.
    pub fn decisions_at(&self) -> usize {
        STEPS_AT + self.steps as usize * size_of::<Step>()
    }

    /// Where the decisions to be followed stand.
    pub fn follow_at(&self) -> usize {
        self.decisions_at() + self.decisions as usize * size_of::<Decision>()
    }

    /// How long the file is.
    pub fn length(&self) -> usize {
        self.follow_at() + self.decisions as usize * size_of::<Decision>()
    }
}

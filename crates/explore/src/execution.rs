//! One execution under control: what is asked for, and what came of it.

use schedule::channel::{Pending, Policy};
use schedule::{Decision, Step};

/// What is asked of one execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Who is chosen once all decisions to be followed were.
    pub policy: Policy,
    /// What random choices are drawn from.
    pub seed: u64,
    /// How many times a priority changes, plus one, for [`Policy::Pct`].
    pub depth: u32,
    /// How many steps are expected, for [`Policy::Pct`].
    pub expected: u64,
    /// The decisions to be followed first.
    pub follow: Vec<Decision>,
    /// The threads that sleep then, as bits, for [`Policy::Steady`].
    pub sleep: u64,
    /// Whether a decision that cannot be followed ends the execution; otherwise the policy decides instead.
    pub strict: bool,
    /// Whether loads may read other stores than the last one, as C11 allows.
    pub weak: bool,
    /// Whether accesses without synchronization are steps too.
    pub plain: bool,
    /// After so many steps it is given up.
    pub limit: u64,
    /// Variables of the environment.
    pub environment: Vec<(String, String)>,
}

impl Default for Order {
    fn default() -> Order {
        Order {
            policy: Policy::Random,
            seed: 0,
            depth: 3,
            expected: 100,
            follow: Vec::new(),
            sleep: 0,
            strict: false,
            weak: false,
            plain: false,
            limit: 1_000_000,
            environment: Vec::new(),
        }
    }
}

/// What came of an execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// How it ended.
    pub ended: Ending,
    /// What happened.
    pub steps: Vec<Step>,
    /// What was decided.
    pub decisions: Vec<Decision>,
    /// What each thread was about to do, by its number.
    pub pending: Vec<Pending>,
    /// A fingerprint of all steps, addresses and values included.
    pub digest: u64,
}

/// How an execution ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// As it should.
    Finished,
    /// With another code than zero, or by a signal.
    Crashed {
        /// What ended it.
        how: String,
        /// The last that it said.
        said: String,
    },
    /// Nobody could go on.
    Deadlock,
    /// Threads went on, and nothing changed.
    Livelock,
    /// Another execution has shown the same.
    Asleep,
    /// A decision could not be followed.
    Diverged,
    /// It took too long, by the clock on the wall: a thread waits where nobody sees it, or computes.
    TimedOut,
}

//! Which thread is next: the decisions to follow, and then a policy.
//!
//! Everything here is a function of the settings and of its inputs, so that the same settings give the same decisions.
//! Every decision made can also be followed, whatever policy made it.

use omnilink_schedule::channel::{End, Policy, Settings};
use omnilink_schedule::{Choice, Decision, Step, THREADS, dependent, members};

/// The state of a policy.
#[derive(Debug)]
pub(crate) struct Decider {
    policy: u32,
    random: Random,
    /// The number of decisions followed so far.
    followed: u64,
    follow: u64,
    is_strict: bool,
    /// For [`Policy::Pct`], of threads; for [`Policy::Pos`], of their next steps.
    priorities: [u64; THREADS],
    /// Lower than all drawn priorities.
    lowest: u64,
    /// The steps before which a priority is lowered.
    changes: [u64; CHANGES],
    /// Sleep set: threads not scheduled until a dependent step runs.
    asleep: u64,
}

/// The largest number of priority changes.
const CHANGES: usize = 16;

/// Priorities from here on were drawn. Lower ones belong to threads that lost theirs at a change, each change with its
/// own.
const DRAWN: u64 = 1 << 32;
/// Priorities below this belong to threads that yielded.
const YIELDED: u64 = DRAWN - CHANGES as u64;

/// A spinning thread is admitted once in this many times.
const SPINS: u64 = 32;

impl Decider {
    pub(crate) const fn new() -> Decider {
        Decider {
            policy: 0,
            random: Random(0),
            followed: 0,
            follow: 0,
            is_strict: false,
            priorities: [0; THREADS],
            lowest: YIELDED,
            changes: [0; CHANGES],
            asleep: 0,
        }
    }

    /// Starts an execution.
    pub(crate) fn begin(&mut self, settings: &Settings) {
        *self = Decider::new();
        self.policy = settings.policy;
        self.random = Random(settings.seed);
        self.follow = settings.follow;
        self.is_strict = settings.flags & Settings::STRICT != 0;
        self.asleep = if settings.policy == Policy::Steady as u32 { settings.sleep } else { 0 };
        if self.is(Policy::Pct) {
            let changes = (settings.depth.saturating_sub(1) as usize).min(CHANGES);
            for change in &mut self.changes[..changes] {
                *change = 1 + self.random.below(settings.expected.max(1));
            }
        }
        for priority in &mut self.priorities {
            *priority = DRAWN + self.random.below(DRAWN);
        }
    }

    fn is(&self, policy: Policy) -> bool {
        self.policy == policy as u32
    }

    /// A thread announced its next step.
    pub(crate) fn announced(&mut self, thread: usize) {
        if self.is(Policy::Pos) {
            self.priorities[thread] = self.random.next();
        }
    }

    /// A thread yields.
    pub(crate) fn yielded(&mut self, thread: usize) {
        if self.is(Policy::Pct) {
            self.lower(thread);
        }
    }

    /// Whether a spinning thread may run although others are enabled.
    pub(crate) fn lets_spin(&mut self) -> bool {
        let is_following = self.followed < self.follow;
        !self.is(Policy::Steady) && !is_following && self.random.below(SPINS) == 0
    }

    fn lower(&mut self, thread: usize) {
        self.lowest -= 1;
        self.priorities[thread] = self.lowest;
    }

    /// Chooses one of the threads in `enabled`, which is not empty; some of `ready` may be missing in it. `follow`
    /// yields the decisions to follow.
    pub(crate) fn thread(
        &mut self,
        enabled: u64,
        ready: u64,
        previous: usize,
        number: u64,
        follow: impl Fn(u64) -> Option<Decision>,
    ) -> Result<usize, End> {
        if self.followed < self.follow {
            let wish = follow(self.followed).filter(|wish| wish.choice() == Some(Choice::Thread));
            self.followed += 1;
            match wish {
                // A thread held back now may have been admitted then.
                Some(wish) if ready & (1 << wish.chosen) != 0 => return Ok(usize::from(wish.chosen)),
                _ if self.is_strict => return Err(End::Diverged),
                _ => {}
            }
        }
        let awake = enabled & !self.asleep;
        if awake == 0 {
            return Err(End::Asleep);
        }
        if self.is(Policy::Random) {
            return Ok(nth(awake, self.random.below(u64::from(awake.count_ones()))));
        }
        if self.is(Policy::Steady) {
            let is_possible = awake & (1 << previous) != 0;
            return Ok(if is_possible { previous } else { awake.trailing_zeros() as usize });
        }
        let mut best = self.best(awake);
        if let Some(change) = self.changes.iter().position(|&change| change == number).filter(|_| self.is(Policy::Pct))
        {
            // The order of two threads that lost their priority does not depend on which lost it first.
            self.priorities[best] = YIELDED + change as u64;
            best = self.best(awake);
        }
        Ok(best)
    }

    fn best(&self, threads: u64) -> usize {
        let first = threads.trailing_zeros() as usize;
        each(threads).fold(
            first,
            |best, thread| {
                if self.priorities[thread] > self.priorities[best] { thread } else { best }
            },
        )
    }

    /// Chooses one of several options other than threads.
    pub(crate) fn option(
        &mut self,
        choice: Choice,
        options: usize,
        follow: impl Fn(u64) -> Option<Decision>,
    ) -> Result<usize, End> {
        if self.followed < self.follow {
            let wish = follow(self.followed).filter(|wish| wish.choice() == Some(choice));
            match wish {
                Some(wish) if usize::from(wish.chosen) < options => {
                    self.followed += 1;
                    return Ok(usize::from(wish.chosen));
                }
                _ if self.is_strict => return Err(End::Diverged),
                _ => {}
            }
        }
        Ok(if self.is(Policy::Steady) { 0 } else { self.random.below(options as u64) as usize })
    }

    /// A step was taken, and `pending` has the next steps of the others.
    pub(crate) fn stepped(&mut self, step: &Step, others: u64, pending: impl Fn(usize) -> Step) {
        let is_past = self.followed >= self.follow;
        if self.asleep != 0 && is_past {
            for thread in each(self.asleep & others) {
                if dependent(step, &pending(thread)) {
                    self.asleep &= !(1 << thread);
                }
            }
        }
        if self.is(Policy::Pos) {
            for thread in each(others) {
                if dependent(step, &pending(thread)) {
                    self.priorities[thread] = self.random.next();
                }
            }
        }
    }
}

/// The threads of a set, lowest first.
pub(crate) fn each(set: u64) -> impl Iterator<Item = usize> {
    members(set).map(usize::from)
}

/// The set of these threads.
pub(crate) fn set_of(threads: impl Iterator<Item = usize>) -> u64 {
    threads.fold(0, |set, thread| set | 1 << thread)
}

/// The member with this index, from 0. It must exist.
fn nth(set: u64, number: u64) -> usize {
    each(set).nth(number as usize).unwrap_or_default()
}

/// SplitMix64.
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is not zero.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }
}

//! One execution under control: what is asked for, and what came of it.

use schedule::channel::{Outcome, Pending, Policy, Standing};
use schedule::{Decision, Kind, Schedule, Step};
use serde::{Deserialize, Serialize};

use crate::program::{Blocked, Ended};

/// After so many steps an execution is given up, if nobody says anything else.
pub const STEP_LIMIT: u64 = 1_000_000;

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
    /// Whether data races are looked for. What is found is one only if all code that synchronizes is instrumented.
    pub races: bool,
    /// Whether the next execution may be performed in the same process, if the program can: faster, and only what is left
    /// behind by one execution can make a difference to the next.
    pub batch: bool,
    /// After so many steps it is given up. There is no room for more than [`crate::MOST_STEPS`].
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
            races: false,
            batch: false,
            limit: STEP_LIMIT,
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

/// Two accesses without synchronization that conflict, and that nothing orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Race {
    /// Where the code of each continues, the earlier one first.
    pub places: [u64; 2],
    /// Which of them write.
    pub writes: [bool; 2],
}

impl Race {
    /// The first race of an execution of which this is known.
    pub fn of(outcome: &Outcome) -> Option<Race> {
        let has = |flag: u32| outcome.flags & flag != 0;
        let writes = [has(Outcome::EARLIER_WRITES), has(Outcome::LATER_WRITES)];
        has(Outcome::RACED).then_some(Race { places: outcome.race, writes })
    }
}

/// Why an execution need not be the same when it is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// A thread waited for something from outside.
    WaitedOutside,
    /// A signal came from outside.
    Signalled,
    /// There was a thread before `main`.
    EarlyThreads,
}

impl Note {
    /// What there is to note about an execution of which this is known.
    pub fn of(outcome: &Outcome) -> Vec<Note> {
        let notes = [
            (Outcome::WAITED_OUTSIDE, Note::WaitedOutside),
            (Outcome::SIGNALLED, Note::Signalled),
            (Outcome::EARLY_THREADS, Note::EarlyThreads),
        ];
        notes.into_iter().filter(|(flag, _)| outcome.flags & flag != 0).map(|(_, note)| note).collect()
    }

    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Note::WaitedOutside => {
                "it waited for something from outside of the process, which need not be the same every time"
            }
            Note::Signalled => "a signal came from outside, which need not come at the same place every time",
            Note::EarlyThreads => "a thread was started before `main`, and what it does before is not controlled",
        }
    }
}

/// How the schedule of a run was controlled. The decisions are in a file of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Controlled {
    /// What chose the schedule.
    pub strategy: String,
    /// Whether loads could read other stores than the last one, as C11 allows.
    pub weak: bool,
    /// Whether accesses without synchronization were steps too.
    pub plain: bool,
    /// What the runtime drew random numbers from.
    pub seed: u64,
    /// How many steps were made.
    pub steps: u64,
    /// After how many steps it would have been given up.
    #[serde(default = "step_limit")]
    pub limit: u64,
    /// How often another thread went on than the one that made the step before.
    pub switches: usize,
    /// A fingerprint of all steps, addresses and values included.
    pub digest: String,
    /// Whether it could be repeated in a process of its own, step by step.
    pub repeats: bool,
    /// The run that this one was made from, by making it smaller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smaller_than: Option<String>,
}

fn step_limit() -> u64 {
    STEP_LIMIT
}

impl Execution {
    /// What is kept about how it was controlled.
    pub fn controlled(&self, strategy: &str, order: &Order) -> Controlled {
        Controlled {
            strategy: strategy.to_owned(),
            weak: order.weak,
            plain: order.plain,
            seed: order.seed,
            steps: self.steps.len() as u64,
            limit: order.limit,
            switches: self.schedule().switches(),
            digest: self.fingerprint(),
            repeats: false,
            smaller_than: None,
        }
    }

    /// Its fingerprint, as it is kept and told.
    pub fn fingerprint(&self) -> String {
        format!("{:016x}", self.digest)
    }

    /// All decisions.
    pub fn schedule(&self) -> Schedule {
        Schedule(self.decisions.clone())
    }

    /// Whether this is the same execution again: nothing was decided in another way, and so many steps were made. If
    /// memory was laid out alike, which it is in two processes that did nothing before, addresses and values are the same
    /// too.
    pub fn repeats(&self, earlier: &Execution, is_laid_out_alike: bool) -> bool {
        !matches!(self.ended, Ending::Diverged | Ending::Asleep)
            && self.steps.len() == earlier.steps.len()
            && self.decisions == earlier.decisions
            && (!is_laid_out_alike || self.digest == earlier.digest)
    }

    /// Whether it was given up because of its steps, and nothing is known about where they would have led.
    fn is_too_long(&self, limit: u64) -> bool {
        self.ended == Ending::Livelock && self.steps.len() as u64 >= limit
    }

    /// How it ended that was asked for with this order, for people. `symbolize` says which lines places of the program
    /// are, the innermost first.
    pub fn ended_under(&self, order: &Order, symbolize: &dyn Fn(&[u64]) -> Vec<String>) -> Ended {
        match self.is_too_long(order.limit) {
            true => Ended::TooLong { steps: order.limit },
            false => self.ended(symbolize),
        }
    }

    /// How it ended, for people, if its steps were not too many. `symbolize` says which lines places of the program are, the innermost first.
    pub fn ended(&self, symbolize: &dyn Fn(&[u64]) -> Vec<String>) -> Ended {
        match &self.ended {
            Ending::Finished => Ended::Finished,
            Ending::Asleep => Ended::BrokenOff { why: "another execution has shown the same".to_owned() },
            Ending::Diverged => Ended::BrokenOff { why: "a decision could not be followed".to_owned() },
            Ending::TimedOut => Ended::TimedOut { threads: self.blocked(symbolize) },
            Ending::Crashed { how, said } => {
                let stacks = self.pending.iter().filter(|pending| pending.depth > 0);
                let stack = stacks.flat_map(|pending| symbolize(stack(pending))).collect();
                Ended::Crashed { how: how.clone(), said: said.clone(), stack }
            }
            Ending::Deadlock => self.stuck("nobody can go on", symbolize),
            Ending::Livelock => self.stuck("threads go on, and nothing changes", symbolize),
        }
    }

    fn stuck(&self, how: &str, symbolize: &dyn Fn(&[u64]) -> Vec<String>) -> Ended {
        Ended::Stuck { how: how.to_owned(), threads: self.blocked(symbolize) }
    }

    /// The threads that had not ended, what each is about to do and where it is.
    fn blocked(&self, symbolize: &dyn Fn(&[u64]) -> Vec<String>) -> Vec<Blocked> {
        let is_alive = |pending: &Pending| {
            matches!(Standing::from_number(pending.standing), Some(Standing::Alive | Standing::Spinning))
        };
        let alive = self.pending.iter().enumerate().filter(|(_, pending)| is_alive(pending));
        let blocked = alive.map(|(thread, pending)| Blocked {
            thread,
            // Of a thread that runs on without a step, the last one is known.
            doing: if self.runs(thread) { "runs".to_owned() } else { doing(&pending.step) },
            stack: symbolize(stack(pending)),
        });
        blocked.collect()
    }

    /// Whether a thread was running when the time was over, and not waiting to make a step.
    fn runs(&self, thread: usize) -> bool {
        self.ended == Ending::TimedOut && self.steps.last().is_some_and(|step| usize::from(step.thread) == thread)
    }
}

fn stack(pending: &Pending) -> &[u64] {
    &pending.stack[..(pending.depth as usize).min(pending.stack.len())]
}

/// What a thread is about to do, in words.
fn doing(step: &Step) -> String {
    let word = step.kind().map_or("does something unknown", Kind::word);
    match (step.kind(), step.address) {
        (Some(Kind::Join), _) => format!("{word} thread {}", (step.address & 0xffff) / 8),
        (Some(Kind::Woken), address) => format!("waits to be woken at {address:#x}"),
        (_, 0) => word.to_owned(),
        (_, address) => format!("{word} {address:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn execution(ended: Ending, chosen: &[u8], digest: u64) -> Execution {
        let steps = vec![Step::default(); chosen.len()];
        let decisions = chosen.iter().map(|&thread| Decision::thread(thread)).collect();
        Execution { ended, steps, decisions, pending: Vec::new(), digest }
    }

    #[test]
    fn what_was_broken_off_has_not_finished() {
        for ended in [Ending::Diverged, Ending::Asleep] {
            let shown = execution(ended, &[0], 1).ended(&|_| Vec::new());
            assert!(matches!(shown, Ended::BrokenOff { .. }), "{shown:?}");
        }
    }

    #[test]
    fn a_limit_is_no_livelock() {
        let spun = execution(Ending::Livelock, &[0, 0], 1);
        let check = |limit| spun.ended_under(&Order { limit, ..Order::default() }, &|_| Vec::new());
        assert_eq!(check(2), Ended::TooLong { steps: 2 });
        assert!(matches!(check(3), Ended::Stuck { .. }));
    }

    #[test]
    fn what_may_differ_next_time_is_noted() {
        let flags = Outcome::BATCH | Outcome::SIGNALLED | Outcome::WAITED_OUTSIDE;
        assert_eq!(Note::of(&Outcome { flags, ..Outcome::default() }), [Note::WaitedOutside, Note::Signalled]);
    }

    #[test]
    fn a_race_is_what_the_outcome_says() {
        assert_eq!(Race::of(&Outcome { race: [1, 2], ..Outcome::default() }), None);
        let outcome = Outcome { race: [1, 2], flags: Outcome::RACED | Outcome::LATER_WRITES, ..Outcome::default() };
        assert_eq!(Race::of(&outcome), Some(Race { places: [1, 2], writes: [false, true] }));
    }

    #[test]
    fn only_the_same_steps_are_a_repetition() {
        let earlier = execution(Ending::Finished, &[0, 1], 7);
        let check = |ended, chosen: &[u8], digest, is_laid_out_alike| {
            execution(ended, chosen, digest).repeats(&earlier, is_laid_out_alike)
        };
        assert!(check(Ending::Finished, &[0, 1], 7, true));
        assert!(check(Ending::Finished, &[0, 1], 8, false));
        assert!(!check(Ending::Finished, &[0, 1], 8, true));
        assert!(!check(Ending::Finished, &[1, 0], 7, false));
        assert!(!check(Ending::Finished, &[0], 7, false));
        assert!(!check(Ending::Diverged, &[0, 1], 7, false));
    }
}

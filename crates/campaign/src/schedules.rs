//! Executions under control: a strategy chooses the schedule of each.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use omnilink_explore::strategy::{Dfs, Dpor, Sampling, Strategy, fingerprint};
use omnilink_explore::{Control, ControlError, Ended, Ending, Execution, ExecutionOrder, Input, Note, Race};
use omnilink_schedule::channel::Policy;

use crate::clock::now;
use crate::explored::Explored;
use crate::harness::follow;
use crate::{Error, Executed, Harness, Next, Stopped, Tried};

/// A scheduling strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Any enabled thread, with equal probability.
    Random,
    /// The thread with the highest random priority; priorities change a few times.
    Pct,
    /// The thread whose next step has the highest priority; redrawn for racing steps.
    Pos,
    /// The three above in turns, with weak memory in every second turn if the synchronization that orders accesses is
    /// known.
    Mix,
    /// All schedules, those with few preemptions first.
    Dfs,
    /// All schedules, up to the order of independent steps.
    Dpor,
}

impl How {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            How::Random => "random",
            How::Pct => "pct",
            How::Pos => "pos",
            How::Mix => "mix",
            How::Dfs => "dfs",
            How::Dpor => "dpor",
        }
    }

    /// The policies of a strategy that draws schedules, which it uses in turns; empty if it explores.
    fn policies(self) -> &'static [Policy] {
        match self {
            How::Random => &[Policy::Random],
            How::Pct => &[Policy::Pct],
            How::Pos => &[Policy::Pos],
            How::Mix => &[Policy::Random, Policy::Pct, Policy::Pos],
            How::Dfs | How::Dpor => &[],
        }
    }

    /// The strategy that chose the schedule of this order: of a mix, the one whose turn it was.
    pub(crate) fn of_order(self, order: &ExecutionOrder) -> How {
        let single = [How::Random, How::Pct, How::Pos].into_iter();
        let turn = single.filter(|_| self == How::Mix).find(|how| how.policies() == [order.policy]);
        turn.unwrap_or(self)
    }

    /// Whether it ends when there is nothing left to explore.
    pub fn is_exploration(self) -> bool {
        matches!(self, How::Dfs | How::Dpor)
    }
}

/// The schedules that [`How::Dfs`] executes.
#[derive(Debug, Clone, Copy, Default)]
pub struct DfsOptions {
    /// The largest number of preemptions.
    pub bound: Option<u32>,
    /// Whether to execute even redundant schedules.
    pub every_schedule: bool,
}

/// How schedules are chosen.
#[derive(Debug, Clone)]
pub struct Scheduling {
    /// The strategy.
    pub how: How,
    /// The order for each execution, without its schedule.
    pub order: ExecutionOrder,
    /// The schedules that [`How::Dfs`] executes.
    pub dfs: DfsOptions,
    /// A summary of the harness's unobserved parts.
    pub unseen: Option<String>,
}

impl Scheduling {
    /// Whether [`How::Dfs`] skips schedules that differ from another one only in the order of independent steps. The
    /// conditions are those of [`How::Dpor`].
    fn merges(&self) -> bool {
        self.how == How::Dfs && !self.dfs.every_schedule && self.unseen.is_none() && !self.order.weak
    }

    /// Whether memory is weak in some of the executions. Unobserved synchronization would make reads possible that are not.
    pub(crate) fn has_weak_turns(&self) -> bool {
        self.how == How::Mix && self.order.races && !self.order.weak
    }

    /// Whether plain accesses are steps in some of the executions. Calls into code that is not instrumented order accesses
    /// that nothing else orders, so a data race shows only if another thread runs between such a call and the access.
    fn has_plain_turns(&self) -> bool {
        self.how == How::Mix && self.order.races && self.unseen.is_some()
    }

    fn dfs(&self) -> Dfs {
        let mut dfs = Dfs::new(self.order.clone(), self.dfs.bound);
        if !self.dfs.every_schedule {
            dfs = dfs.with_late_calls();
        }
        if self.merges() { dfs.merging() } else { dfs }
    }
}

/// The order for an execution, its outcome, and the reason why a replay may differ.
#[derive(Debug, Clone)]
pub struct Decided {
    /// The order.
    pub order: ExecutionOrder,
    /// The outcome.
    pub execution: Execution,
    /// The reason why a replay may differ.
    pub notes: Vec<Note>,
}

/// Executions of a harness under control, each with the input of its number.
pub struct Schedules<'a, F> {
    harness: &'a Harness,
    control: Control,
    scheduling: Scheduling,
    strategy: Chosen,
    input: F,
    number: u64,
    too_long: u64,
    /// The data races found so far.
    races: Vec<Race>,
    warm_up: Option<Box<dyn Input + 'a>>,
    rewinds: bool,
    novelty: Novelty,
}

/// Makes an object program record each execution of a process in the place of the last one.
const REWIND: (&str, &str) = ("OMNILINK_REWIND", "1");

impl<'a, I: Input, F: FnMut(u64) -> I> Schedules<'a, F> {
    /// Starts a process. An exploration covers one input, so it uses input 0 only.
    pub fn new(harness: &'a Harness, scheduling: &Scheduling, input: F) -> Result<Schedules<'a, F>, Error> {
        let (control, strategy) = (harness.start()?, Chosen::new(scheduling));
        let scheduling = scheduling.clone();
        Ok(Schedules {
            harness,
            control,
            scheduling,
            strategy,
            input,
            number: 0,
            too_long: 0,
            races: Vec::new(),
            warm_up: None,
            rewinds: false,
            novelty: Novelty::default(),
        })
    }

    /// Lets an object program record each execution of a process in the place of the last one, which is faster. So a
    /// trace must be read before the next execution.
    pub fn rewinding(self) -> Schedules<'a, F> {
        Schedules { rewinds: self.scheduling.order.batch, ..self }
    }

    /// Runs this input first in every process that then runs a batch: work that a program does only once, such as initializing
    /// statics, is not part of an execution then, and all of them begin alike.
    pub fn warmed_up_by(self, input: impl Input + 'a) -> Schedules<'a, F> {
        Schedules { warm_up: Some(Box::new(input)), ..self }
    }

    /// Runs an order, in a process that has been warmed up. An execution that does not start in time is tried once more.
    fn try_order(&mut self, input: &I, order: &ExecutionOrder) -> Result<Tried, ControlError> {
        let tried = self.try_once(input, order)?;
        if tried.execution.has_started() || !order.batch {
            return Ok(tried);
        }
        remove(&tried.trace)?;
        self.try_once(input, order)
    }

    fn try_once(&mut self, input: &I, order: &ExecutionOrder) -> Result<Tried, ControlError> {
        let environment: Vec<(String, String)> = match self.rewinds {
            true => vec![(REWIND.0.to_owned(), REWIND.1.to_owned())],
            false => Vec::new(),
        };
        let is_cold = order.batch && !self.control.is_warm();
        if is_cold && self.rewinds {
            // The process that recorded it is gone.
            remove(&Harness::trace(&self.control))?;
        }
        if let Some(warm_up) = self.warm_up.as_ref().filter(|_| is_cold) {
            let environment = environment.clone();
            let warming = ExecutionOrder {
                policy: Policy::Steady,
                batch: true,
                limit: order.limit,
                environment,
                ..ExecutionOrder::default()
            };
            let tried = self.harness.execute(&mut self.control, &**warm_up, warming)?;
            if !self.rewinds {
                remove(&tried.trace)?;
            }
        }
        self.harness.execute(&mut self.control, input, ExecutionOrder { environment, ..order.clone() })
    }

    /// Executes the harness once more. The trace exists until this is dropped, unless it is moved.
    pub fn execute(&mut self) -> Result<Next<Executed<I>>, Error> {
        let Some(mut order) = self.strategy.strategy().next() else { return Ok(Next::Exhausted) };
        if !self.scheduling.how.is_exploration() {
            // From now on threads are switched there, and other races are found. An exploration needs the same steps in
            // each execution.
            order.racing = self.races.iter().map(Race::places).collect();
        }
        let input = (self.input)(if self.scheduling.how.is_exploration() { 0 } else { self.number });
        let began = now().as_secs();
        let tried = match self.try_order(&input, &order) {
            Err(ControlError::Interrupted) => return Ok(Next::Interrupted),
            tried => tried?,
        };
        self.strategy.strategy().learn(&tried.execution);
        if !self.scheduling.how.is_exploration() {
            self.novelty.add(&input.describe(), &tried.execution);
        }
        let is_new = |race: &Race| self.races.iter().all(|known| known.places() != race.places());
        let race = tried.race.filter(is_new);
        self.too_long += u64::from(matches!(tried.ran.ended, Ended::TooLong { .. }));
        let cannot = |error| Error::about("the harness", error);
        match tried.execution.ended {
            _ if (self.harness.is_interrupted)() => return Ok(Next::Interrupted),
            Ending::Asleep => {
                if !self.rewinds {
                    crate::harness::remove(&tried.trace).map_err(cannot)?;
                }
                return Ok(Next::Redundant);
            }
            Ending::Diverged => return Err(Error::Diverged),
            _ => {}
        }
        // Only the race of an execution that is judged is known from now on.
        self.races.extend(race);
        let number = self.number;
        self.number += 1;
        let trace = match self.rewinds {
            true => tried.trace,
            false => {
                let trace = tried.trace.with_file_name(number.to_string());
                if tried.trace.exists() {
                    std::fs::rename(&tried.trace, &trace).map_err(cannot)?;
                }
                trace
            }
        };
        let decided = Some(Decided { order, execution: tried.execution, notes: tried.notes });
        Ok(Next::Executed(Executed { number, input, ran: tried.ran, began, trace, decided, race }))
    }

    /// Whether an execution took other steps than an earlier one after the same decisions.
    pub fn has_diverged(&mut self) -> bool {
        self.strategy.strategy().has_diverged()
    }

    /// The output of the last execution.
    pub fn output(&self) -> Result<String, ControlError> {
        self.control.output()
    }

    /// Executes the same decisions on the same input again, beside the strategy.
    pub fn again(&mut self, input: &I, decided: &Decided) -> Result<Tried, ControlError> {
        let order = follow(&decided.order, &decided.execution.schedule());
        self.try_order(input, &ExecutionOrder { batch: decided.order.batch, ..order })
    }

    /// The claims about schedules, given why the loop ended.
    pub fn explored(mut self, stopped: Stopped) -> Explored {
        let base = self.control.outcome().base;
        let merges = self.scheduling.merges();
        let Scheduling { how, order, dfs, unseen } = self.scheduling;
        let per_bound = self.strategy.per_bound().to_vec();
        let strategy = self.strategy.strategy();
        Explored {
            how,
            tally: *strategy.tally(),
            is_complete: strategy.is_complete(),
            is_exhausted: stopped == Stopped::Exhausted,
            bound: dfs.bound.filter(|_| how == How::Dfs),
            merges: how == How::Dpor || merges,
            input: (self.input)(0).describe(),
            is_plain: order.plain,
            too_long: self.too_long,
            held_back: strategy.held_back(),
            has_diverged: strategy.has_diverged(),
            per_bound,
            unseen,
            novelty: self.novelty.counts(),
            races: self.races.iter().map(|race| self.harness.race_accesses(race, base)).collect(),
        }
    }
}

fn remove(trace: &Path) -> Result<(), ControlError> {
    crate::harness::remove(trace).map_err(|error| ControlError::Io { what: "the trace", error })
}

/// Which executions were new: of another input, or with another order of dependent steps.
#[derive(Debug, Default)]
struct Novelty {
    seen: HashSet<u64>,
    /// Of the last executions, whether each was new.
    recent: VecDeque<bool>,
}

impl Novelty {
    /// The number of executions that [`Novelty::counts`] is about.
    const RECENT: usize = 1000;

    fn add(&mut self, input: &str, execution: &Execution) {
        let mut hasher = DefaultHasher::new();
        (input, fingerprint(execution)).hash(&mut hasher);
        let is_new = self.seen.insert(hasher.finish());
        if self.recent.len() == Novelty::RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(is_new);
    }

    /// The number of new executions among the last ones, and the number of those.
    fn counts(&self) -> (u64, u64) {
        (self.recent.iter().filter(|is_new| **is_new).count() as u64, self.recent.len() as u64)
    }
}

/// The strategy in use.
enum Chosen {
    Sampling(Sampling),
    Dfs(Dfs),
    Dpor(Dpor),
}

impl Chosen {
    fn new(scheduling: &Scheduling) -> Chosen {
        let order = scheduling.order.clone();
        match scheduling.how {
            How::Random | How::Pct | How::Pos | How::Mix => {
                let mut sampling = Sampling::mixed(order, scheduling.how.policies());
                if scheduling.has_weak_turns() {
                    sampling = sampling.weak_in_turns();
                }
                if scheduling.has_plain_turns() {
                    sampling = sampling.plain_in_turns();
                }
                Chosen::Sampling(sampling)
            }
            How::Dfs => Chosen::Dfs(scheduling.dfs()),
            How::Dpor => Chosen::Dpor(Dpor::new(order)),
        }
    }

    fn strategy(&mut self) -> &mut dyn Strategy {
        match self {
            Chosen::Sampling(sampling) => sampling,
            Chosen::Dfs(dfs) => dfs,
            Chosen::Dpor(dpor) => dpor,
        }
    }

    /// The number of executions with 0, 1, 2 and so on preemptions, if they come in that order.
    fn per_bound(&self) -> &[u64] {
        match self {
            Chosen::Dfs(dfs) => dfs.per_bound(),
            _ => &[],
        }
    }
}

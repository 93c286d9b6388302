//! Checks a whole history, or a stream of operations.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::mem::{replace, take};

use omnilink_history::{History, Op, OpId, Order, Stop, Verdict};
use thiserror::Error;

use crate::criterion::{Criterion, Reduction};
use crate::engine::{Attempt, Engine};
use crate::explain::{Explanation, Stuck, Why};
use crate::levels::Levels;
use crate::observe::{Stats, Unwatched, Watch};
use crate::replay::{Replay, ReplayError, Unconfirmed, Witness};
use crate::slots::{Slots, Wide};
use crate::spec::Spec;
use crate::stream::{Relate, SlotCut, Stream};
use crate::trail::INITIAL;
use crate::walk::Walk;

/// How to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which orders count.
    pub criterion: Criterion,
    /// Place operations one after the other, in any order, even where the criterion permits just-in-time placement.
    /// Without reductions this visits the same states as a model checker. Verdicts are the same either way.
    pub by_level: bool,
    /// Skip operations and configurations that provably make no difference. Verdicts are the same either way.
    pub reduce: bool,
    /// Give up when the frontier exceeds this many configurations.
    pub max_width: Option<usize>,
    /// Width limit of a first, just-in-time pass over a whole history; the check starts again without it only if that
    /// pass finds no order. Verdicts are the same either way.
    pub first_width: Option<usize>,
}

/// Default width limit of the first pass.
const FIRST_WIDTH: usize = 1 << 7;

impl Default for Options {
    fn default() -> Options {
        Options {
            criterion: Criterion::default(),
            by_level: false,
            reduce: true,
            max_width: None,
            first_width: Some(FIRST_WIDTH),
        }
    }
}

impl Options {
    /// True if operations of a history are placed just in time: a [`Checker`] may check it.
    pub fn is_just_in_time<T>(&self, history: &History<T>) -> bool {
        !self.by_level && self.criterion.permits(Reduction::JustInTime, history.edges())
    }
}

/// The result of a check, and the work it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report<S> {
    /// The verdict.
    pub verdict: Verdict<Witness, Explanation<S>>,
    /// The prefix shared by all configurations when the search ended without accepting: every order still possible
    /// then begins with it.
    pub settled: Witness,
    /// Counts of work.
    pub stats: Stats,
}

impl<S> Report<S> {
    /// Converts the states of the report.
    pub fn map_states<T>(self, view: impl Fn(S) -> T) -> Report<T> {
        let verdict = match self.verdict {
            Verdict::Accepted(witness) => Verdict::Accepted(witness),
            Verdict::Rejected(explanation) => Verdict::Rejected(explanation.map_states(view)),
            Verdict::Inconclusive(stop) => Verdict::Inconclusive(stop),
        };
        Report { verdict, settled: self.settled, stats: self.stats }
    }
}

/// Why there is no verdict.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckError<E> {
    /// The spec could not be evaluated.
    #[error("{0}")]
    Spec(E),
    /// Replaying the witness failed. Either the spec does not give the same answer twice, or there is a bug in the
    /// search.
    #[error("the order found was not confirmed when it was replayed: {0}")]
    Unconfirmed(Unconfirmed),
}

impl<E> From<ReplayError<E>> for CheckError<E> {
    fn from(error: ReplayError<E>) -> CheckError<E> {
        match error {
            ReplayError::Spec(error) => CheckError::Spec(error),
            ReplayError::Unconfirmed(error) => CheckError::Unconfirmed(error),
        }
    }
}

/// Checks a whole history.
pub fn check<S: Spec>(
    spec: &S,
    history: &History<S::Op>,
    options: &Options,
) -> Result<Report<S::State>, CheckError<S::Error>> {
    check_watched(spec, history, options, &Unwatched)
}

/// Checks a whole history and reports progress to `watch`.
pub fn check_watched<S: Spec>(
    spec: &S,
    history: &History<S::Op>,
    options: &Options,
    watch: &dyn Watch,
) -> Result<Report<S::State>, CheckError<S::Error>> {
    if !options.is_just_in_time(history) {
        return check_by_level(spec, history, options, watch);
    }
    // A pass that stays within its width is the whole search. One that does not is cheap, and finds an order for most
    // histories that have many.
    if let Some(checker) = Checker::first(spec, options)? {
        let report = run(checker, history, watch)?;
        if report.verdict != Verdict::Inconclusive(Stop::Width) {
            return Ok(report);
        }
    }
    run(Checker::new(spec, options)?, history, watch)
}

fn run<'s, S: Spec>(
    mut checker: Checker<'s, S>,
    history: &'s History<S::Op>,
    watch: &dyn Watch,
) -> Result<Report<S::State>, CheckError<S::Error>> {
    for op in history.ops() {
        if checker.push(op.with(&op.call), watch)?.is_decided() {
            break;
        }
    }
    checker.finish(watch)
}

/// Checks operations as they come in, by increasing start. Memory holds the operations that are in flight or not yet
/// settled.
pub struct Checker<'s, S: Spec>(Width<'s, S>);

/// An operation that is owned, or borrowed from a history. One type for both, so that the search is compiled once.
#[derive(Debug)]
pub enum Lent<'o, T> {
    /// A borrowed operation.
    Borrowed(&'o T),
    /// An owned operation.
    Owned(T),
}

impl<'o, T> From<&'o T> for Lent<'o, T> {
    fn from(op: &'o T) -> Lent<'o, T> {
        Lent::Borrowed(op)
    }
}

impl<T> From<T> for Lent<'_, T> {
    fn from(op: T) -> Self {
        Lent::Owned(op)
    }
}

impl<T> Borrow<T> for Lent<'_, T> {
    fn borrow(&self) -> &T {
        match self {
            Lent::Borrowed(op) => op,
            Lent::Owned(op) => op,
        }
    }
}

/// The capacity for operations in flight. The first time it is exceeded, the run continues with a larger one.
enum Width<'s, S: Spec> {
    Narrow(Run<'s, S, u64>),
    Wide(Run<'s, S, Wide>),
}

struct Run<'s, S: Spec, C> {
    spec: &'s S,
    stream: Stream<Lent<'s, S::Op>, C>,
    engine: Engine<S, SlotCut<C>>,
    replay: Replay<'s, S>,
    witness: Witness,
    finished: u64,
    ending: Option<Ending<S::State>>,
}

enum Ending<S> {
    Rejected(Explanation<S>),
    Stopped(Stop),
}

/// Whether more operations can change the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Progress {
    /// They can change it.
    Open,
    /// They cannot: the history is rejected, or the search was stopped.
    Decided,
}

impl Progress {
    /// True if more operations cannot change the verdict.
    pub fn is_decided(self) -> bool {
        self == Progress::Decided
    }
}

impl<'s, S: Spec> Checker<'s, S> {
    /// Begins a check. Operations are placed just in time.
    ///
    /// # Panics
    ///
    /// If the options ask for a criterion other than linearizability; the same holds for [`Checker::first`].
    pub fn new(spec: &'s S, options: &Options) -> Result<Checker<'s, S>, CheckError<S::Error>> {
        Checker::with(spec, None, options, Engine::new(options.max_width))
    }

    /// Begins in these states instead of the initial ones: those in which an earlier part of a history ended.
    pub fn from_states(
        spec: &'s S,
        states: Vec<S::State>,
        options: &Options,
    ) -> Result<Checker<'s, S>, CheckError<S::Error>> {
        Checker::with(spec, Some(states), options, Engine::new(options.max_width))
    }

    /// Begins a narrow first pass, or returns `None` if the options ask for none. If it finds no order but dropped
    /// configurations, it ends with [`Stop::Width`], which proves nothing: a new checker has to repeat the check.
    pub fn first(spec: &'s S, options: &Options) -> Result<Option<Checker<'s, S>>, CheckError<S::Error>> {
        let width = options.first_width.filter(|&width| options.max_width.is_none_or(|max| max > width));
        width.map(|width| Checker::with(spec, None, options, Engine::narrow(width, options.max_width))).transpose()
    }

    fn with(
        spec: &'s S,
        begin: Option<Vec<S::State>>,
        options: &Options,
        engine: Engine<S, SlotCut<u64>>,
    ) -> Result<Checker<'s, S>, CheckError<S::Error>> {
        // A stream has no edges.
        assert!(options.criterion.permits(Reduction::JustInTime, &[]), "a criterion that permits this walk");
        let states = match &begin {
            Some(states) => states.clone(),
            None => initial(spec)?,
        };
        let mut run = Run {
            spec,
            stream: Stream::new(options.reduce),
            engine,
            replay: Replay::new(spec, begin, options.criterion),
            witness: Witness::default(),
            finished: 0,
            ending: None,
        };
        run.engine.begin(spec, states, &run.stream, &SlotCut::default()).map_err(CheckError::Spec)?;
        Ok(Checker(Width::Narrow(run)))
    }

    /// Takes in the next operation.
    pub fn push(
        &mut self,
        op: Op<impl Into<Lent<'s, S::Op>>>,
        watch: &dyn Watch,
    ) -> Result<Progress, CheckError<S::Error>> {
        let place = op.with(());
        self.take(place.with(op.call.into()), watch)
    }

    fn take(&mut self, op: Op<Lent<'s, S::Op>>, watch: &dyn Watch) -> Result<Progress, CheckError<S::Error>> {
        match &mut self.0 {
            Width::Wide(run) => run.push(op, watch),
            Width::Narrow(run) if !run.stream.is_full() => run.push(op, watch),
            Width::Narrow(run) => {
                // It may fit once the operations that returned before it are gone.
                if run.return_before(op.interval.start(), watch)?.is_decided() {
                    return Ok(Progress::Decided);
                }
                if run.stream.is_full() {
                    self.widen();
                }
                self.take(op, watch)
            }
        }
    }

    /// Places every operation that ended before this time, as if the next operation began then.
    pub fn advance(&mut self, time: u64, watch: &dyn Watch) -> Result<Progress, CheckError<S::Error>> {
        match &mut self.0 {
            Width::Narrow(run) => run.return_before(time, watch),
            Width::Wide(run) => run.return_before(time, watch),
        }
    }

    /// Ends the stream and returns the verdict.
    pub fn finish(self, watch: &dyn Watch) -> Result<Report<S::State>, CheckError<S::Error>> {
        match self.0 {
            Width::Narrow(run) => run.finish(watch),
            Width::Wide(run) => run.finish(watch),
        }
    }

    /// Counts of work so far.
    pub fn stats(&self) -> &Stats {
        match &self.0 {
            Width::Narrow(run) => &run.engine.stats,
            Width::Wide(run) => &run.engine.stats,
        }
    }

    /// Every configuration in the frontier that no other covers: its placed operations in flight, and its state.
    /// `None` if this is undecided, because an overwritten operation may have taken effect before the overwriting one
    /// or may take effect later, or if a first pass dropped configurations.
    pub fn possible(&self) -> Option<Vec<(Vec<OpId>, &S::State)>> {
        match &self.0 {
            Width::Narrow(run) => run.possible(),
            Width::Wide(run) => run.possible(),
        }
    }

    /// The operations in flight.
    pub fn in_flight(&self) -> Vec<OpId> {
        match &self.0 {
            Width::Narrow(run) => run.stream.in_flight().collect(),
            Width::Wide(run) => run.stream.in_flight().collect(),
        }
    }

    fn widen(&mut self) {
        if let Width::Narrow(run) = &mut self.0 {
            let (spec, replay) = (run.spec, Replay::new(run.spec, None, Criterion::LINEARIZABLE));
            self.0 = Width::Wide(Run {
                spec,
                stream: replace(&mut run.stream, Stream::new(true)).widen(),
                engine: replace(&mut run.engine, Engine::new(None)).with_cuts(SlotCut::widen),
                replay: replace(&mut run.replay, replay),
                witness: take(&mut run.witness),
                finished: run.finished,
                ending: run.ending.take(),
            });
        }
    }
}

impl<'s, S: Spec, C: Slots> Run<'s, S, C> {
    fn push(&mut self, op: Op<Lent<'s, S::Op>>, watch: &dyn Watch) -> Result<Progress, CheckError<S::Error>> {
        if self.return_before(op.interval.start(), watch)?.is_decided() {
            return Ok(Progress::Decided);
        }
        if op.is_last {
            self.stream.end(op.interval.start());
            if self.return_before(op.interval.start(), watch)?.is_decided() {
                return Ok(Progress::Decided);
            }
        }
        self.finished += u64::from(!op.interval.is_unfinished());
        let relation = &Relation(self.spec);
        let observer = self.stream.call(op, relation);
        let Run { spec, stream, engine, .. } = self;
        if stream.has_chains() {
            engine.part(|cut| stream.decide(cut));
        }
        if let Some(observer) = observer {
            let is_ready = |cut: &SlotCut<C>| stream.is_ready(cut, observer);
            let is_everywhere = engine.place_observer(*spec, stream, observer, is_ready).map_err(CheckError::Spec)?;
            if !is_everywhere {
                self.stream.keep_open(observer, relation);
            }
        }
        if self.engine.trails.wants_settling() {
            self.settle()?;
        }
        Ok(Progress::Open)
    }

    fn finish(mut self, watch: &dyn Watch) -> Result<Report<S::State>, CheckError<S::Error>> {
        let _ = self.return_before(u64::MAX, watch)?;
        let verdict = match self.ending.take() {
            Some(Ending::Stopped(stop)) => Verdict::Inconclusive(stop),
            Some(Ending::Rejected(explanation)) => Verdict::Rejected(explanation),
            None if self.engine.has_dropped() && self.engine.is_empty() => Verdict::Inconclusive(Stop::Width),
            None if self.engine.is_empty() => {
                Verdict::Rejected(Explanation { blocked: Vec::new(), explained: 0, stuck: Vec::new() })
            }
            None => {
                self.engine.frontier.configs.truncate(1);
                self.settle()?;
                self.replay.finish(self.finished).map_err(CheckError::Unconfirmed)?;
                Verdict::Accepted(take(&mut self.witness))
            }
        };
        Ok(Report { verdict, settled: self.witness, stats: self.engine.stats })
    }

    fn possible(&self) -> Option<Vec<(Vec<OpId>, &S::State)>> {
        if self.engine.has_dropped() {
            return None;
        }
        let configs = self.engine.frontier.configs.iter();
        configs.map(|config| Some((self.stream.placed(&config.cut)?, &config.state))).collect()
    }

    /// Walks the returns before this time.
    fn return_before(&mut self, time: u64, watch: &dyn Watch) -> Result<Progress, CheckError<S::Error>> {
        while self.ending.is_none() {
            let Some(goal) = self.stream.next_return(time) else { return Ok(Progress::Open) };
            let attempt = self.engine.attempt(self.spec, &self.stream, watch).map_err(CheckError::Spec)?;
            self.engine.note_width(|| (Some(goal), self.stream.in_flight().collect()));
            match attempt {
                Attempt::Met => {
                    let is_expired = self.stream.is_expiring();
                    let retired = self.stream.retire_goal();
                    for config in &mut self.engine.frontier.configs {
                        retired.forget_in(&mut config.cut);
                    }
                    if !is_expired {
                        self.engine.stats.operations += 1;
                        watch.returned(goal, self.engine.stats.width);
                    }
                }
                Attempt::Stuck(_) if self.engine.has_dropped() => self.ending = Some(Ending::Stopped(Stop::Width)),
                Attempt::Stuck(beginning) => {
                    let explained = self.engine.stats.operations;
                    let stuck = self
                        .engine
                        .stuck(self.spec, &self.stream, &self.witness, beginning, watch)
                        .map_err(CheckError::Spec)?;
                    self.ending = Some(Ending::Rejected(Explanation { blocked: vec![goal], explained, stuck }));
                }
                Attempt::Stopped(stop) => self.ending = Some(Ending::Stopped(stop)),
            }
        }
        Ok(Progress::Decided)
    }

    /// Replays the steps that all configurations share, then drops them.
    fn settle(&mut self) -> Result<(), CheckError<S::Error>> {
        let living = self.engine.frontier.configs.iter_mut().map(|config| &mut config.trail).collect();
        let settled = self.engine.trails.settle(living, &|op| self.stream.has_returned(op));
        for placed in settled {
            self.witness.push(placed);
            if placed.op == INITIAL {
                self.replay.begin(placed.choice)?;
            } else {
                let Run { stream, replay, .. } = self;
                stream.settle(placed.op, !placed.partway, |op| replay.step(op, placed))?;
            }
        }
        self.stream.keep_expired(|op| self.engine.trails.mention(op));
        Ok(())
    }
}

/// A spec's view of how operations relate.
struct Relation<'s, S>(&'s S);

impl<S: Spec, P: Borrow<S::Op>> Relate<P> for Relation<'_, S> {
    fn is_observer(&self, op: &P) -> bool {
        self.0.is_observer(op.borrow())
    }

    fn commute(&self, a: &P, b: &P) -> bool {
        self.0.commute(a.borrow(), b.borrow())
    }

    fn are_equal(&self, a: &P, b: &P) -> bool {
        a.borrow() == b.borrow()
    }

    fn is_total(&self, op: &P) -> bool {
        self.0.is_total(op.borrow())
    }

    fn overwrites(&self, later: &P, earlier: &P) -> bool {
        self.0.overwrites(later.borrow(), earlier.borrow())
    }

    fn precludes(&self, earlier: &P, later: &P) -> bool {
        self.0.precludes(earlier.borrow(), later.borrow())
    }
}

fn initial<S: Spec>(spec: &S) -> Result<Vec<S::State>, CheckError<S::Error>> {
    let mut states = Vec::new();
    spec.initial(&mut states).map_err(CheckError::Spec)?;
    Ok(states)
}

fn check_by_level<S: Spec>(
    spec: &S,
    history: &History<S::Op>,
    options: &Options,
    watch: &dyn Watch,
) -> Result<Report<S::State>, CheckError<S::Error>> {
    let order = Order::new(history, options.criterion.precedence);
    let origin = order.origin();
    let observers_first = options.reduce && options.criterion.permits(Reduction::ObserversFirst, history.edges());
    // Nothing follows an operation that was blocked at the end, so it is not placed as soon as it can be.
    let is_observer = |op: &Op<S::Op>| observers_first && !op.is_last && spec.is_observer(&op.call);
    let is_observer = history.ops().iter().map(is_observer).collect();
    let mut levels = Levels { order, ops: history.ops(), is_observer, level: 0 };
    let mut engine: Engine<S, _> = Engine::new(options.max_width);
    engine.begin(spec, initial(spec)?, &levels, &origin).map_err(CheckError::Spec)?;
    let verdict = loop {
        if let Some(complete) = engine.frontier.configs.iter().find(|config| levels.order.is_complete(&config.cut)) {
            let mut witness = Witness::default();
            engine.trails.steps(complete.trail).into_iter().for_each(|placed| witness.push(placed));
            crate::replay::replay(spec, history, options.criterion, &witness)?;
            break Verdict::Accepted(witness);
        }
        levels.level += 1;
        let attempt = engine.attempt(spec, &levels, watch).map_err(CheckError::Spec)?;
        engine.note_width(|| (None, Vec::new()));
        match attempt {
            Attempt::Met => engine.stats.operations = levels.level as u64,
            Attempt::Stuck(beginning) => {
                let stuck =
                    engine.stuck(spec, &levels, &Witness::default(), beginning, watch).map_err(CheckError::Spec)?;
                let blocked = left_everywhere(history, &stuck);
                break Verdict::Rejected(Explanation { blocked, explained: engine.stats.operations, stuck });
            }
            Attempt::Stopped(stop) => break Verdict::Inconclusive(stop),
        }
    };
    Ok(Report { verdict, settled: Witness::default(), stats: engine.stats })
}

/// The operations to blame when a walk by level is stuck: the finished operations that could be next and that no
/// stuck configuration has placed; or, if each has placed others, those that the first one has not. An operation that
/// only waits for another is not to blame, unless all wait for each other.
fn left_everywhere<T, S>(history: &History<T>, stuck: &[Stuck<S>]) -> Vec<OpId> {
    let left = |stuck: &Stuck<S>| -> BTreeSet<OpId> {
        let finished = || stuck.refused.iter().filter(|refusal| !history.op(refusal.op).interval.is_unfinished());
        let first: BTreeSet<OpId> =
            finished().filter(|refusal| !matches!(refusal.why, Why::MustFollow(_))).map(|refusal| refusal.op).collect();
        if first.is_empty() { finished().map(|refusal| refusal.op).collect() } else { first }
    };
    let Some((first, others)) = stuck.split_first() else { return Vec::new() };
    let first = left(first);
    let in_all = others.iter().fold(first.clone(), |all, stuck| &all & &left(stuck));
    if in_all.is_empty() { first } else { in_all }.into_iter().collect()
}

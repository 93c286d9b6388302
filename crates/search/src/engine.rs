//! The one loop: extend configurations until each meets the goal, or show that none can.
//!
//! A configuration is which operations have been placed and the state this led to. Those that meet the goal go into the
//! next frontier; the others are extended by every operation that the walk names, and dropped when nothing is possible.
//! Observers are placed in every new configuration as soon as they are enabled: whatever completes the configuration
//! completes it with the observer moved to the front. If the next frontier stays empty, no order of the operations gets
//! past this goal, and the configurations that could not be extended are the proof.

use std::borrow::Borrow;

use history::{OpId, Stop};
use smallvec::SmallVec;

use crate::explain::{Refusal, Stuck, Why};
use crate::frontier::{Config, Frontier};
use crate::observe::{Stats, Watch, Widest};
use crate::replay::Witness;
use crate::spec::{Spec, Successors};
use crate::trail::{INITIAL, Placed, Trails};
use crate::walk::{Move, Walk};

pub(crate) struct Engine<S: Spec, C> {
    pub(crate) frontier: Frontier<C, S::State>,
    pub(crate) trails: Trails,
    pub(crate) stats: Stats,
    work: Frontier<C, S::State>,
    next: Frontier<C, S::State>,
    max_width: usize,
    unwatched: usize,
    // Buffers, empty between uses.
    successors: Successors<S::State>,
    moves: Vec<Move>,
    tried: Vec<Move>,
    observed: Vec<Placed>,
    pending: Vec<Pending<C, S::State>>,
}

/// A configuration that has been reached, the step that led there, and the observers that were placed then.
type Pending<C, S> = (Config<C, S>, Placed, SmallVec<[Placed; 2]>);

/// How an attempt to reach the goal ended.
pub(crate) enum Attempt {
    /// The frontier holds every configuration that meets the goal.
    Met,
    /// No configuration can meet the goal. The first so many in the work list are those it began with.
    Stuck(usize),
    /// It was stopped.
    Stopped(Stop),
}

/// So many steps are taken between two looks at the watch.
const STEPS_UNWATCHED: usize = 64;

/// At most so many stuck configurations are looked for. Beyond, only those that were tried for the goal are shown.
const THOROUGH: usize = 10_000;

impl<S: Spec, C: Clone + Eq> Engine<S, C> {
    pub(crate) fn new(max_width: Option<usize>) -> Engine<S, C> {
        Engine {
            frontier: Frontier::new(),
            trails: Trails::new(),
            stats: Stats::default(),
            work: Frontier::new(),
            next: Frontier::new(),
            max_width: max_width.unwrap_or(usize::MAX),
            unwatched: 0,
            successors: Successors::default(),
            moves: Vec::new(),
            tried: Vec::new(),
            observed: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// The same search over another kind of cut, between two attempts.
    pub(crate) fn with_cuts<D>(self, convert: impl Fn(C) -> D) -> Engine<S, D> {
        let convert = |config: Config<C, S::State>| Config {
            cut: convert(config.cut),
            state: config.state,
            trail: config.trail,
            is_covered: false,
        };
        let mut frontier = Frontier::new();
        self.frontier.configs.into_iter().for_each(|config| frontier.push(convert(config)));
        Engine {
            frontier,
            trails: self.trails,
            stats: self.stats,
            work: Frontier::new(),
            next: Frontier::new(),
            max_width: self.max_width,
            unwatched: self.unwatched,
            successors: self.successors,
            moves: self.moves,
            tried: self.tried,
            observed: self.observed,
            pending: Vec::new(),
        }
    }

    /// Starts from every initial state, with nothing placed.
    pub(crate) fn begin<P: Borrow<S::Op>>(
        &mut self,
        spec: &S,
        walk: &impl Walk<P, Cut = C>,
        cut: &C,
    ) -> Result<(), S::Error> {
        let mut states = Vec::new();
        spec.initial(&mut states)?;
        for (choice, state) in states.into_iter().enumerate() {
            let trail = self.trails.begin(choice as u32);
            let config = Config { cut: cut.clone(), state, trail, is_covered: false };
            self.stats.generated += 1;
            self.stats.distinct += u64::from(self.frontier.insert(walk, config));
        }
        let Engine { frontier, trails, moves, stats, observed, .. } = self;
        for config in &mut frontier.configs {
            moves.clear();
            walk.observers(&config.cut, None, moves);
            Eager { moves, stats, observed }.place(spec, walk, &config.state, &mut config.cut)?;
            config.trail = trails.extend_all(config.trail, observed);
        }
        Ok(())
    }

    /// Places an observer that has just become available, in every configuration of the frontier that is ready for it and
    /// allows it. True if all are.
    pub(crate) fn place_observer<P: Borrow<S::Op>>(
        &mut self,
        spec: &S,
        walk: &impl Walk<P, Cut = C>,
        observer: Move,
        is_ready: impl Fn(&C) -> bool,
    ) -> Result<bool, S::Error> {
        let Engine { frontier, trails, stats, .. } = self;
        let op = walk.op(observer);
        let mut is_everywhere = true;
        for config in &mut frontier.configs {
            stats.steps += 1;
            if is_ready(&config.cut) && spec.allows(&config.state, op.call.borrow())? {
                config.cut = walk.place(&config.cut, observer);
                let placed = Placed { op: op.id, choice: 0, partway: false };
                config.trail = trails.extend(config.trail, placed);
            } else {
                is_everywhere = false;
            }
        }
        Ok(is_everywhere)
    }

    /// The one loop.
    pub(crate) fn attempt<P: Borrow<S::Op>>(
        &mut self,
        spec: &S,
        walk: &impl Walk<P, Cut = C>,
        watch: &mut dyn Watch,
    ) -> Result<Attempt, S::Error> {
        if self.frontier.configs.iter().all(|config| walk.is_met(&config.cut)) {
            self.stats.width = self.frontier.configs.len();
            return Ok(Attempt::Met);
        }
        // Most configurations often meet the goal already, so those that do not are picked out.
        std::mem::swap(&mut self.frontier, &mut self.next);
        for index in (0..self.next.configs.len()).rev() {
            if !walk.is_met(&self.next.configs[index].cut) {
                self.work.push(self.next.configs.swap_remove(index));
            }
        }
        self.next.forget_table();
        let beginning = self.work.configs.len();
        let mut cursor = 0;
        while cursor < self.work.configs.len() {
            if !self.work.configs[cursor].is_covered {
                self.extend(spec, walk, cursor, false)?;
            }
            cursor += 1;
            if let Some(stop) = self.look(watch) {
                return Ok(Attempt::Stopped(stop));
            }
        }
        self.stats.width = self.work.configs.len() + self.next.configs.len();
        if self.next.configs.is_empty() {
            return Ok(Attempt::Stuck(beginning));
        }
        self.next.configs.retain(|config| !config.is_covered);
        std::mem::swap(&mut self.frontier, &mut self.next);
        self.work.clear();
        self.next.clear();
        Ok(Attempt::Met)
    }

    /// Every configuration that can be reached without meeting the goal, after an attempt got stuck: without leaving out
    /// any operation that may be next, as long as there are not too many. All of them begin with what is settled.
    pub(crate) fn stuck<P: Borrow<S::Op>>(
        &mut self,
        spec: &S,
        walk: &impl Walk<P, Cut = C>,
        settled: &Witness,
        beginning: usize,
    ) -> Result<Vec<Stuck<S::State>>, S::Error> {
        let stats = self.stats.clone(); // Explaining is no part of the work that they count.
        let by_need = std::mem::take(&mut self.work.configs);
        self.work.clear();
        for config in &by_need[..beginning] {
            self.work.insert(walk, Config { is_covered: false, ..config.clone() });
        }
        let mut cursor = 0;
        while cursor < self.work.configs.len() && self.work.configs.len() < THOROUGH {
            if !self.work.configs[cursor].is_covered {
                self.extend(spec, walk, cursor, true)?;
            }
            cursor += 1;
        }
        self.stats = stats;
        let is_whole = cursor == self.work.configs.len();
        let all = if is_whole { std::mem::take(&mut self.work.configs) } else { by_need };
        let shown = all.into_iter().filter(|config| !config.is_covered);
        shown.map(|config| self.explain(spec, walk, settled, config)).collect()
    }

    /// Adds what can follow one configuration of the work list.
    fn extend<P: Borrow<S::Op>>(
        &mut self,
        spec: &S,
        walk: &impl Walk<P, Cut = C>,
        cursor: usize,
        thorough: bool,
    ) -> Result<(), S::Error> {
        let Engine { work, next: met, trails, stats, successors, moves, tried, observed, pending, .. } = self;
        let config = &work.configs[cursor];
        walk.moves(&config.cut, thorough, tried);
        self.unwatched += tried.len();
        for next in tried.drain(..) {
            let op = walk.op(next);
            stats.steps += 1;
            spec.step(&config.state, op.call.borrow(), successors)?;
            let (done, partway) = successors.drain();
            let done = done.enumerate().map(|(choice, state)| (choice, state, false));
            let partway = partway.enumerate().map(|(choice, state)| (choice, state, true));
            for (choice, state, partway) in done.chain(partway) {
                let mut cut = if partway { config.cut.clone() } else { walk.place(&config.cut, next) };
                moves.clear();
                walk.observers(&cut, Some(next), moves);
                Eager { moves, stats, observed }.place(spec, walk, &state, &mut cut)?;
                stats.generated += 1;
                let placed = Placed { op: op.id, choice: choice as u32, partway };
                let is_met = walk.is_met(&cut);
                let reached = Config { cut, state, trail: config.trail, is_covered: false };
                // What does not meet the goal goes where this configuration stands, so it has to wait.
                match is_met {
                    true => stats.distinct += u64::from(met.insert_new(walk, reached, trails, placed, observed)),
                    false => pending.push((reached, placed, observed.as_slice().into())),
                }
            }
        }
        for (reached, placed, observed) in pending.drain(..) {
            stats.distinct += u64::from(work.insert_new(walk, reached, trails, placed, &observed));
        }
        Ok(())
    }

    /// Remembers the widest place.
    pub(crate) fn note_width(&mut self, place: impl FnOnce() -> (Option<OpId>, Vec<OpId>)) {
        if self.stats.widest.as_ref().is_none_or(|widest| widest.width < self.stats.width) {
            let (goal, in_flight) = place();
            self.stats.widest = Some(Widest { width: self.stats.width, goal, in_flight });
        }
    }

    fn look(&mut self, watch: &mut dyn Watch) -> Option<Stop> {
        self.stats.width = self.work.configs.len() + self.next.configs.len();
        if self.stats.width > self.max_width {
            return Some(Stop::Width);
        }
        if self.unwatched < STEPS_UNWATCHED {
            return None;
        }
        self.unwatched = 0;
        watch.look(&self.stats)
    }

    fn explain<P: Borrow<S::Op>>(
        &mut self,
        spec: &S,
        walk: &impl Walk<P, Cut = C>,
        settled: &Witness,
        config: Config<C, S::State>,
    ) -> Result<Stuck<S::State>, S::Error> {
        self.moves.clear();
        walk.moves(&config.cut, true, &mut self.moves);
        walk.observers(&config.cut, None, &mut self.moves);
        let waiting = walk.waiting(&config.cut).into_iter();
        let mut refused: Vec<Refusal> = waiting.map(|(op, on)| Refusal { op, why: Why::MustFollow(on) }).collect();
        for &next in &self.moves {
            let op = walk.op(next);
            spec.step(&config.state, op.call.borrow(), &mut self.successors)?;
            let (mut done, mut partway) = self.successors.drain();
            let is_enabled = done.next().or_else(|| partway.next()).is_some();
            let disabled = || Why::Disabled(spec.why_not(&config.state, op.call.borrow()));
            refused.push(Refusal { op: op.id, why: if is_enabled { Why::LeadsNowhere } else { disabled() } });
        }
        refused.sort_by_key(|refusal| refusal.op);
        let mut recent = self.trails.steps(config.trail);
        let initial = recent.first().filter(|step| step.op == INITIAL).map_or(settled.initial(), |step| step.choice);
        recent.retain(|step| step.op != INITIAL);
        Ok(Stuck { state: config.state, initial, recent, refused })
    }
}

/// Places observers in one configuration. Borrows what it needs of the engine.
struct Eager<'e> {
    moves: &'e mut Vec<Move>,
    stats: &'e mut Stats,
    observed: &'e mut Vec<Placed>,
}

impl Eager<'_> {
    /// Places those of the moves that are enabled, and whatever comes forward by this; says which in `observed`.
    fn place<S: Spec, P: Borrow<S::Op>, W: Walk<P>>(
        &mut self,
        spec: &S,
        walk: &W,
        state: &S::State,
        cut: &mut W::Cut,
    ) -> Result<(), S::Error> {
        self.observed.clear();
        loop {
            let before = self.observed.len();
            for &next in self.moves.iter() {
                let op = walk.op(next);
                self.stats.steps += 1;
                if spec.allows(state, op.call.borrow())? {
                    *cut = walk.place(cut, next);
                    self.observed.push(Placed { op: op.id, choice: 0, partway: false });
                }
            }
            if self.observed.len() == before || !walk.has_chains() {
                return Ok(());
            }
            self.moves.clear();
            walk.observers(cut, None, self.moves);
        }
    }
}

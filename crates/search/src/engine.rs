//! The one loop: extend configurations until each meets the goal, or show that none can.
//!
//! A configuration is which operations have been placed and the state this led to. Those that meet the goal go into the
//! next frontier; the others are extended by every operation that the walk names, and dropped when nothing is possible.
//! Observers are placed in every new configuration as soon as they are enabled: whatever completes the configuration
//! completes it with the observer moved to the front. If the next frontier stays empty, no order of the operations gets
//! past this goal, and the configurations that could not be extended are the proof.

use std::borrow::Borrow;

use history::{OpId, Stop};

use crate::explain::{Refusal, Stuck, Why};
use crate::frontier::{Config, Frontier};
use crate::observe::{Stats, Watch, Widest};
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
    candidates: Vec<(Move, Placed, S::State)>,
}

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

/// Stuck configurations are looked for among at most so many, beyond which only those on the way to the goal are shown.
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
            candidates: Vec::new(),
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
        self.place_observers(spec, walk)
    }

    /// Places observers that have become available, in every configuration of the frontier that allows them.
    pub(crate) fn place_observers<P: Borrow<S::Op>>(
        &mut self,
        spec: &S,
        walk: &impl Walk<P, Cut = C>,
    ) -> Result<(), S::Error> {
        for index in 0..self.frontier.configs.len() {
            let config = &mut self.frontier.configs[index];
            let placed = Eager { moves: &mut self.moves, successors: &mut self.successors, stats: &mut self.stats }
                .place(spec, walk, &config.state, &mut config.cut)?;
            for step in placed {
                config.trail = self.trails.extend(config.trail, step);
            }
        }
        Ok(())
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
        for config in self.frontier.configs.drain(..) {
            let target = if walk.is_met(&config.cut) { &mut self.next } else { &mut self.work };
            target.insert(walk, config);
        }
        self.frontier.clear();
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

    /// Every configuration in which nothing can be placed, after an attempt got stuck.
    pub(crate) fn stuck<P: Borrow<S::Op>>(
        &mut self,
        spec: &S,
        walk: &impl Walk<P, Cut = C>,
        beginning: usize,
    ) -> Result<Vec<Stuck<S::State>>, S::Error> {
        let by_need = std::mem::take(&mut self.work.configs);
        self.work.clear();
        for config in &by_need[..beginning] {
            self.work.insert(walk, Config { is_covered: false, ..config.clone() });
        }
        let mut is_dead_end = Vec::new();
        while is_dead_end.len() < self.work.configs.len() && self.work.configs.len() < THOROUGH {
            let cursor = is_dead_end.len();
            is_dead_end.push(!self.work.configs[cursor].is_covered && !self.extend(spec, walk, cursor, true)?);
        }
        let is_whole = is_dead_end.len() == self.work.configs.len() && is_dead_end.contains(&true);
        let all = if is_whole { std::mem::take(&mut self.work.configs) } else { by_need };
        let shown = all.into_iter().enumerate().filter(|(index, _)| !is_whole || is_dead_end[*index]);
        Ok(shown.map(|(_, config)| self.explain(spec, walk, config)).collect())
    }

    /// Adds what can follow one configuration of the work list. False if nothing can.
    fn extend<P: Borrow<S::Op>>(
        &mut self,
        spec: &S,
        walk: &impl Walk<P, Cut = C>,
        cursor: usize,
        thorough: bool,
    ) -> Result<bool, S::Error> {
        let config = &self.work.configs[cursor];
        self.moves.clear();
        walk.moves(&config.cut, thorough, &mut self.moves);
        for &next in &self.moves {
            let op = walk.op(next);
            spec.step(&config.state, op.call.borrow(), &mut self.successors)?;
            self.stats.steps += 1;
            let (done, partway) = self.successors.drain();
            let placed = |choice: usize, partway| Placed { op: op.id, choice: choice as u32, partway };
            self.candidates.extend(done.enumerate().map(|(choice, state)| (next, placed(choice, false), state)));
            self.candidates.extend(partway.enumerate().map(|(choice, state)| (next, placed(choice, true), state)));
        }
        self.unwatched += self.moves.len();
        let (cut, trail) = (config.cut.clone(), config.trail);
        let mut candidates = std::mem::take(&mut self.candidates);
        let has_followers = !candidates.is_empty();
        for (next, placed, state) in candidates.drain(..) {
            let mut cut = if placed.partway { cut.clone() } else { walk.place(&cut, next) };
            let observed = Eager { moves: &mut self.moves, successors: &mut self.successors, stats: &mut self.stats }
                .place(spec, walk, &state, &mut cut)?;
            let target = if walk.is_met(&cut) { &mut self.next } else { &mut self.work };
            self.stats.generated += 1;
            if target.insert(walk, Config { cut, state, trail, is_covered: false }) {
                let newest = target.configs.last_mut().expect("the configuration just added");
                for step in std::iter::once(placed).chain(observed) {
                    newest.trail = self.trails.extend(newest.trail, step);
                }
                self.stats.distinct += 1;
            }
        }
        self.candidates = candidates;
        Ok(has_followers)
    }

    /// Remembers the widest place.
    pub(crate) fn note_width(&mut self, place: impl FnOnce() -> (Option<OpId>, Vec<OpId>)) {
        if self.stats.widest.as_ref().is_none_or(|widest| widest.width < self.stats.width) {
            let (goal, in_flight) = place();
            self.stats.widest = Some(Widest { width: self.stats.width, goal, in_flight });
        }
    }

    fn look(&mut self, watch: &mut dyn Watch) -> Option<Stop> {
        let width = self.work.configs.len() + self.next.configs.len();
        if width > self.max_width {
            return Some(Stop::Width);
        }
        if self.unwatched < STEPS_UNWATCHED {
            return None;
        }
        self.unwatched = 0;
        self.stats.width = width;
        watch.look(&self.stats)
    }

    fn explain<P: Borrow<S::Op>>(
        &mut self,
        spec: &S,
        walk: &impl Walk<P, Cut = C>,
        config: Config<C, S::State>,
    ) -> Stuck<S::State> {
        self.moves.clear();
        walk.moves(&config.cut, true, &mut self.moves);
        walk.observers(&config.cut, &mut self.moves);
        let disabled = self.moves.iter().map(|&next| {
            let op = walk.op(next);
            Refusal { op: op.id, why: Why::Disabled(spec.why_not(&config.state, op.call.borrow())) }
        });
        let waiting = walk.waiting(&config.cut).into_iter().map(|(op, on)| Refusal { op, why: Why::MustFollow(on) });
        let mut refused: Vec<Refusal> = disabled.chain(waiting).collect();
        refused.sort_by_key(|refusal| refusal.op);
        let steps = self.trails.steps(config.trail);
        Stuck { recent: steps.into_iter().filter(|step| step.op != INITIAL).collect(), refused, state: config.state }
    }
}

/// Places observers in one configuration. Borrows what it needs of the engine.
struct Eager<'e, S> {
    moves: &'e mut Vec<Move>,
    successors: &'e mut Successors<S>,
    stats: &'e mut Stats,
}

impl<St> Eager<'_, St> {
    /// Places every observer that is enabled and returns them in order.
    fn place<S: Spec<State = St>, P: Borrow<S::Op>, W: Walk<P>>(
        &mut self,
        spec: &S,
        walk: &W,
        state: &St,
        cut: &mut W::Cut,
    ) -> Result<Vec<Placed>, S::Error> {
        let mut placed = Vec::new();
        loop {
            self.moves.clear();
            walk.observers(cut, self.moves);
            let before = placed.len();
            for &next in self.moves.iter() {
                let op = walk.op(next);
                self.stats.steps += 1;
                spec.step(state, op.call.borrow(), self.successors)?;
                if self.successors.drain().0.next().is_some() {
                    *cut = walk.place(cut, next);
                    placed.push(Placed { op: op.id, choice: 0, partway: false });
                }
            }
            if placed.len() == before || !walk.has_chains() {
                return Ok(placed);
            }
        }
    }
}

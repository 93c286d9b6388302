//! The search loop: extend configurations until each meets the goal, or show that none can.
//!
//! A configuration is a set of placed operations and the state they led to. Configurations that meet the goal go into
//! the next frontier; the others are extended by every operation that the walk names, and dropped when none is legal.
//! Observers are placed in every new configuration as soon as they are enabled: any completion of the configuration
//! is still one with the observer moved to the front. If the next frontier stays empty, no order of the operations
//! gets past this goal, and the configurations that could not be extended are the proof.
//!
//! Some operations are placed only for a [`Reason`] given by the walk: a requirement on the operation that follows
//! directly. Until one follows, there is no configuration but a [`Link`], which is extended at once and compared with
//! nothing, because only some operations may follow it.
//!
//! A *narrow* engine keeps at most a given number of configurations: those that have used the fewest unfinished
//! operations, with as many different states as possible. Every order it finds is valid. Getting stuck after dropping
//! a configuration proves nothing, and [`check`](crate::check) starts again with an engine that drops none.

use std::borrow::Borrow;

use hashbrown::HashMap;
use omnilink_history::{Op, OpId, Stop};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::explain::{Refusal, Stuck, Why};
use crate::frontier::{Config, Frontier};
use crate::observe::{Stats, Watch, Widest};
use crate::replay::Witness;
use crate::spec::{Spec, Successors};
use crate::trail::{Entry, INITIAL, Placed, Trails};
use crate::walk::{Move, Reason, Walk};

pub(crate) struct Engine<S: Spec, C> {
    pub(crate) frontier: Frontier<C, S::State>,
    pub(crate) trails: Trails,
    pub(crate) stats: Stats,
    work: Frontier<C, S::State>,
    next: Frontier<C, S::State>,
    max_width: usize,
    keep: usize, // Keep at most this many configurations between two attempts.
    has_dropped: bool,
    unwatched: usize,
    // Buffers, empty between uses.
    successors: Successors<S::State>,
    moves: Vec<Move>,
    tried: Vec<Move>,
    absorbed: Vec<OpId>,
    observed: Vec<Placed>,
    pending: Vec<Pending<C, S::State>>,
    links: Vec<Link<C, S::State>>,
}

/// The steps from one configuration to another.
type Steps = SmallVec<[Entry; 3]>;

/// A configuration that has been reached, and the steps to it from its predecessor.
type Pending<C, S> = (Config<C, S>, Steps);

/// A configuration that has just placed an operation that needs a reason.
struct Link<C, S> {
    config: Config<C, S>,
    steps: Steps,
    last: Move,
    reason: Reason,
    passed: Vec<S>, // The states along the chain; the last is the one in which the last operation was placed.
}

impl<C, S> Link<C, S> {
    /// The state in which the last operation was placed.
    fn before(&self) -> &S {
        self.passed.last().expect("a chain begins in a state")
    }
}

/// How an attempt to reach the goal ended.
pub(crate) enum Attempt {
    /// The frontier holds every configuration that meets the goal.
    Met,
    /// No configuration can meet the goal. This many entries at the start of the work list are the initial ones.
    Stuck(usize),
    /// It was stopped.
    Stopped(Stop),
}

/// A narrow engine may hold this many times its limit of configurations on the way to one goal.
const WIDER: usize = 64;

/// Steps between two calls of the watch.
const STEPS_UNWATCHED: usize = 64;

/// At most this many stuck configurations are searched for. Beyond that, only those tried for the goal are shown.
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
            keep: usize::MAX,
            has_dropped: false,
            unwatched: 0,
            successors: Successors::default(),
            moves: Vec::new(),
            tried: Vec::new(),
            absorbed: Vec::new(),
            observed: Vec::new(),
            pending: Vec::new(),
            links: Vec::new(),
        }
    }

    /// The same, but narrow. It also gives up when it is much wider on the way to one goal.
    pub(crate) fn narrow(keep: usize, max_width: Option<usize>) -> Engine<S, C> {
        let most = keep.saturating_mul(WIDER);
        Engine { keep, ..Engine::new(Some(max_width.map_or(most, |max_width| max_width.min(most)))) }
    }

    /// True if configurations were dropped, so that getting stuck proves nothing.
    pub(crate) fn has_dropped(&self) -> bool {
        self.has_dropped
    }

    /// True if there is no configuration, because the spec has no initial state. Then no order is allowed.
    pub(crate) fn is_empty(&self) -> bool {
        self.frontier.configs.is_empty()
    }

    /// Converts the cuts of a search, between two attempts.
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
            keep: self.keep,
            has_dropped: self.has_dropped,
            unwatched: self.unwatched,
            successors: self.successors,
            moves: self.moves,
            tried: self.tried,
            absorbed: self.absorbed,
            observed: self.observed,
            pending: Vec::new(),
            links: Vec::new(),
        }
    }

    /// Starts from each of these states, with no operation placed.
    pub(crate) fn begin<P: Borrow<S::Op>>(
        &mut self,
        spec: &S,
        states: Vec<S::State>,
        walk: &impl Walk<P, Cut = C>,
        cut: &C,
    ) -> Result<(), S::Error> {
        for (choice, state) in states.into_iter().enumerate() {
            let trail = self.trails.begin(choice as u32);
            let config = Config { cut: cut.clone(), state, trail, is_covered: false };
            self.stats.generated += 1;
            self.stats.distinct += u64::from(self.frontier.insert(spec, walk, config));
        }
        let Engine { frontier, trails, moves, stats, observed, .. } = self;
        for config in &mut frontier.configs {
            moves.clear();
            walk.observers(&config.cut, None, moves);
            Eager { moves, stats, observed }.place(spec, walk, &config.state, &mut config.cut)?;
            config.trail = observed.iter().fold(config.trail, |trail, &placed| trails.extend(trail, placed));
        }
        Ok(())
    }

    /// Splits configurations in two.
    pub(crate) fn part(&mut self, part: impl Fn(&mut C) -> Option<C>) {
        for index in 0..self.frontier.configs.len() {
            if let Some(cut) = part(&mut self.frontier.configs[index].cut) {
                let config = Config { cut, ..self.frontier.configs[index].clone() };
                self.frontier.push(config);
            }
        }
    }

    /// Places an observer that has just become available in every configuration of the frontier that is ready for it
    /// and allows it. True if all of them are.
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
                config.cut = walk.place(&config.cut, observer, false);
                let placed = Placed { op: op.id, choice: 0, partway: false };
                config.trail = trails.extend(config.trail, placed);
            } else {
                is_everywhere = false;
            }
        }
        Ok(is_everywhere)
    }

    /// Extends the frontier to the goal.
    pub(crate) fn attempt<P: Borrow<S::Op>>(
        &mut self,
        spec: &S,
        walk: &impl Walk<P, Cut = C>,
        watch: &dyn Watch,
    ) -> Result<Attempt, S::Error> {
        if self.is_empty() {
            return Ok(Attempt::Stuck(0));
        }
        if self.frontier.configs.iter().all(|config| walk.is_met(&config.cut)) {
            self.stats.width = self.frontier.configs.len();
            return Ok(Attempt::Met);
        }
        // Most configurations often meet the goal already, so only the others are taken out. Those that may pass
        // unchanged stay, and are also extended.
        std::mem::swap(&mut self.frontier, &mut self.next);
        for index in (0..self.next.configs.len()).rev() {
            let config = &self.next.configs[index];
            if walk.is_met(&config.cut) {
                continue;
            }
            match walk.may_pass(&config.cut) {
                true => self.work.push(config.clone()),
                false => self.work.push(self.next.configs.swap_remove(index)),
            }
        }
        self.next.forget_table();
        let beginning = self.work.configs.len();
        let mut cursor = 0;
        while cursor < self.work.configs.len() {
            if !self.work.configs[cursor].is_covered
                && let Some(stop) = self.extend(spec, walk, cursor, false, watch)?
            {
                return Ok(Attempt::Stopped(stop));
            }
            cursor += 1;
            if let Some(stop) = self.check_limits(self.work.configs.len(), watch) {
                return Ok(Attempt::Stopped(stop));
            }
            if self.next.configs.len() >= self.keep && cursor < self.work.configs.len() {
                self.has_dropped = true;
                break;
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
        if self.frontier.configs.len() > self.keep {
            self.drop_excess(walk);
        }
        Ok(Attempt::Met)
    }

    /// Drops configurations down to the limit. The best configuration of each state is kept first, then the second
    /// best, and so on.
    fn drop_excess<P>(&mut self, walk: &impl Walk<P, Cut = C>) {
        let configs = &mut self.frontier.configs;
        let by_cost = in_order(configs.iter().map(|config| walk.cost(&config.cut)).collect());
        let mut places = vec![0; configs.len()];
        let mut in_state: HashMap<&S::State, usize, FxBuildHasher> = HashMap::default();
        for &index in &by_cost {
            let place = in_state.entry(&configs[index].state).or_insert(0);
            *place += 1;
            places[index] = *place;
        }
        drop(in_state);
        let mut best = in_order(by_cost.iter().map(|&index| places[index]).collect());
        best.truncate(self.keep);
        best.sort_unstable();
        let mut all: Vec<Option<Config<C, S::State>>> = configs.drain(..).map(Some).collect();
        configs.extend(best.iter().filter_map(|&place| all[by_cost[place]].take()));
        self.frontier.forget_table();
        self.has_dropped = true;
    }

    /// Every configuration that is reachable without meeting the goal, after an attempt got stuck. No operation that
    /// may be next is skipped, as long as there are not too many. All of these configurations begin with the settled
    /// steps.
    pub(crate) fn stuck<P: Borrow<S::Op>>(
        &mut self,
        spec: &S,
        walk: &impl Walk<P, Cut = C>,
        settled: &Witness,
        beginning: usize,
        watch: &dyn Watch,
    ) -> Result<Vec<Stuck<S::State>>, S::Error> {
        let stats = self.stats.clone(); // Explaining is not part of the counted work.
        let by_need = std::mem::take(&mut self.work.configs);
        self.work.clear();
        for config in &by_need[..beginning] {
            self.work.insert(spec, walk, Config { is_covered: false, ..config.clone() });
        }
        let mut cursor = 0;
        let mut is_stopped = false;
        while cursor < self.work.configs.len() && self.work.configs.len() < THOROUGH && !is_stopped {
            if !self.work.configs[cursor].is_covered {
                is_stopped = self.extend(spec, walk, cursor, true, watch)?.is_some();
            }
            cursor += 1;
            is_stopped |= self.check_limits(self.work.configs.len(), watch).is_some_and(|stop| stop != Stop::Width);
        }
        self.stats = stats;
        let is_whole = cursor == self.work.configs.len() && !is_stopped;
        let all = if is_whole { std::mem::take(&mut self.work.configs) } else { by_need };
        let shown = all.into_iter().filter(|config| !config.is_covered);
        shown.map(|config| self.explain(spec, walk, settled, config)).collect()
    }

    /// Adds the successors of one configuration of the work list. `Some` if the watch stopped the search.
    fn extend<P: Borrow<S::Op>>(
        &mut self,
        spec: &S,
        walk: &impl Walk<P, Cut = C>,
        cursor: usize,
        thorough: bool,
        watch: &dyn Watch,
    ) -> Result<Option<Stop>, S::Error> {
        let mut work = std::mem::replace(&mut self.work, Frontier::new());
        self.follow(spec, walk, &work.configs[cursor], &[], None, thorough)?;
        let mut stopped = None;
        while let Some(link) = self.links.pop() {
            self.follow(spec, walk, &link.config, &link.steps, Some(&link), thorough)?;
            stopped = self.check_limits(work.configs.len(), watch);
            if stopped.is_some() {
                self.links.clear();
            }
        }
        for (reached, steps) in self.pending.drain(..) {
            self.stats.distinct += u64::from(work.insert_new(spec, walk, reached, &mut self.trails, &steps));
        }
        self.work = work;
        Ok(stopped)
    }

    /// Adds the successors of a configuration, or of a link of a chain that begins with one.
    fn follow<P: Borrow<S::Op>>(
        &mut self,
        spec: &S,
        walk: &impl Walk<P, Cut = C>,
        config: &Config<C, S::State>,
        chain: &[Entry],
        link: Option<&Link<C, S::State>>,
        thorough: bool,
    ) -> Result<(), S::Error> {
        let Engine { next: met, trails, stats, successors, moves, tried, absorbed, observed, pending, links, .. } =
            self;
        walk.moves(&config.cut, thorough, tried);
        if let Some(link) = link {
            tried.retain(|&next| walk.may_follow(link.last, next));
        }
        self.unwatched += tried.len();
        let passed = link.filter(|link| link.reason == Reason::Needed).map_or(&[][..], |link| &link.passed);
        for next in tried.drain(..) {
            let op = walk.op(next);
            stats.steps += 1;
            spec.step(&config.state, op.call.borrow(), successors)?;
            let is_unneeded = match link {
                Some(link) if link.reason == Reason::Needed && !successors.done_states().is_empty() => {
                    unneeded(spec, walk, link, next, successors, stats)?
                }
                _ => SmallVec::new(),
            };
            let (done, partway) = successors.drain();
            let done = done.enumerate().map(|(choice, state)| (choice, state, false));
            let partway = partway.enumerate().map(|(choice, state)| (choice, state, true));
            for (choice, state, partway) in done.chain(partway) {
                if !partway && is_unneeded.get(choice).is_some_and(|&is_unneeded| is_unneeded) {
                    continue;
                }
                let mut cut = walk.place(&config.cut, next, partway);
                absorbed.clear();
                walk.absorbed(&config.cut, &cut, absorbed);
                moves.clear();
                walk.observers(&cut, Some(next), moves);
                Eager { moves, stats, observed }.place(spec, walk, &state, &mut cut)?;
                stats.generated += 1;
                let placed = Placed { op: op.id, choice: choice as u32, partway };
                let mut steps = Steps::from_slice(chain);
                steps.extend(absorbed.iter().map(|&op| Entry::Absorbed(op)));
                steps.push(Entry::Taken(placed));
                steps.extend(observed.iter().map(|&placed| Entry::Taken(placed)));
                let reached = Config { cut, state, trail: config.trail, is_covered: false };
                if walk.is_met(&reached.cut) {
                    stats.distinct += u64::from(met.insert_new(spec, walk, reached, trails, &steps));
                    continue;
                }
                if partway && walk.may_stop(next) {
                    stats.distinct += u64::from(met.insert_new(spec, walk, reached.clone(), trails, &steps));
                }
                let is_plain = thorough || partway || !observed.is_empty();
                match if is_plain { Reason::None } else { walk.reason(&reached.cut, next) } {
                    // Configurations that do not meet the goal replace this one, so they have to wait.
                    Reason::None => pending.push((reached, steps)),
                    // Unfinished operations that lead back to where they began are not needed.
                    Reason::Needed if reached.state == config.state || passed.contains(&reached.state) => {}
                    reason => {
                        let passed = passed.iter().chain([&config.state]).cloned().collect();
                        links.push(Link { config: reached, steps, last: next, reason, passed });
                    }
                }
            }
        }
        Ok(())
    }

    /// Records the width if it is the greatest so far.
    pub(crate) fn note_width(&mut self, place: impl FnOnce() -> (Option<OpId>, Vec<OpId>)) {
        if self.stats.widest.as_ref().is_none_or(|widest| widest.width < self.stats.width) {
            let (goal, in_flight) = place();
            self.stats.widest = Some(Widest { width: self.stats.width, goal, in_flight });
        }
    }

    /// Checks the limits, with this many configurations in the work list.
    fn check_limits(&mut self, work: usize, watch: &dyn Watch) -> Option<Stop> {
        self.stats.width = work + self.next.configs.len() + self.links.len() + self.pending.len();
        if self.stats.width > self.max_width {
            return Some(Stop::Width);
        }
        if self.unwatched < STEPS_UNWATCHED {
            return None;
        }
        self.unwatched = 0;
        watch.poll(&self.stats)
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
        let is_optional: Vec<OpId> = walk.optional(&config.cut);
        refused.retain(|refusal| !is_optional.contains(&refusal.op));
        let mut recent = self.trails.steps(config.trail);
        let initial = recent.first().filter(|step| step.op == INITIAL).map_or(settled.initial(), |step| step.choice);
        recent.retain(|step| step.op != INITIAL);
        Ok(Stuck { state: config.state, initial, recent, refused })
    }
}

/// The indices of these keys, least key first.
fn in_order(keys: Vec<usize>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|&index| keys[index]);
    order
}

/// The successors of an operation placed directly after an unfinished one that are also reachable without the
/// unfinished one, or with it placed later.
fn unneeded<S: Spec, P: Borrow<S::Op>, W: Walk<P>>(
    spec: &S,
    walk: &W,
    link: &Link<W::Cut, S::State>,
    next: Move,
    successors: &Successors<S::State>,
    stats: &mut Stats,
) -> Result<SmallVec<[bool; 4]>, S::Error> {
    let (last, op) = (walk.op(link.last), walk.op(next));
    let mut alone = Successors::default();
    stats.steps += 1;
    spec.step(link.before(), op.call.borrow(), &mut alone)?;
    let mut elsewhere = alone.done_states().to_vec();
    // Two unfinished operations are swapped one way only, and not against the order of twins.
    let rank = |op: &Op<P>| (op.interval.deadline(), op.id);
    if !op.interval.is_unfinished() || rank(last) > rank(op) {
        for state in alone.done_states() {
            let mut swapped = Successors::default();
            stats.steps += 1;
            spec.step(state, last.call.borrow(), &mut swapped)?;
            elsewhere.extend(swapped.into_parts().0);
        }
    }
    Ok(successors.done_states().iter().map(|state| elsewhere.contains(state)).collect())
}

/// Places observers in one configuration. Borrows parts of the engine.
struct Eager<'e> {
    moves: &'e mut Vec<Move>,
    stats: &'e mut Stats,
    observed: &'e mut Vec<Placed>,
}

impl Eager<'_> {
    /// Places the enabled moves, and the operations that this makes available; lists them in `observed`.
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
                    *cut = walk.place(cut, next, false);
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

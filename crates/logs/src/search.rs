//! Finds a behavior of the specification that explains a log, or shows where every one gets stuck.
//!
//! A *configuration* is the explained part of the log, one number for each chain of the order, and the state after it. The
//! search extends a configuration by an event that may be next, or by an unlogged step. It keeps all configurations in one
//! set, so it extends none twice.
//!
//! The search goes forward in rounds. A round extends one configuration for each number of explained events, from few to
//! many: one with the fewest unlogged steps, of those with the latest origin. The first round takes the first choice of
//! each configuration, the next one the last, and so on: choices that are made alike from step to step involve few
//! values and few conflicts, and if the first is a bad one everywhere, the last may be a good one. So the first round
//! follows one behavior to its end, which explains most accepted logs, and each further round goes back once at every
//! depth, so that a wrong choice near the beginning costs no more than one near the end. A rejected log needs all
//! configurations, in whatever order, and they are then known, with the ones that got furthest.
//!
//! Unlogged steps may be possible only before some events. Where several events may be next, such a step is taken
//! before one of them, which then has to be next: a log is accepted if and only if one of its total orders is.
//!
//! Where the order of events does not matter, the search tries one: [`reduce`](crate::reduce) chooses enough of the events
//! that may be next.
//!
//! The search takes an unlogged step at once where an event is not possible without one. It puts off other unlogged steps
//! until nothing else is left, so that it neither misses a step nor tries all of them everywhere.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::hash::BuildHasher;

use hashbrown::{HashMap, HashTable};
use omnilink_history::Stop;
use omnilink_tla::error::ErrorKind;
use omnilink_tla::machine::State;
use rustc_hash::FxBuildHasher;
use smallvec::{SmallVec, smallvec};

use crate::bind::Bound;
use crate::problem::Failure;
use crate::reduce::Reduction;
use crate::step::{By, Reached, Stepper};

/// The options of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogOptions {
    /// Breadth first and without reductions, as a model checker counts.
    pub exhaustive: bool,
    /// Try all orders of events, even of events that are independent of each other.
    pub all_orders: bool,
}

impl LogOptions {
    /// Whether one order of independent events is enough.
    pub(crate) fn reduces(self) -> bool {
        !self.exhaustive && !self.all_orders
    }
}

/// Counts of work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// The number of times an action was evaluated in a state.
    pub evaluations: u64,
    /// The number of configurations reached.
    pub generated: u64,
    /// The number of distinct ones.
    pub distinct: u64,
    /// The largest number of events that a configuration explains.
    pub explained: u32,
    /// The largest number of configurations that explain equally many events.
    pub widest: usize,
    /// The number of times the search left out an event that may be next, because another order of events is enough.
    pub left_out: u64,
}

/// Numbers of unlogged steps, one for each `[[log.unlogged]]`.
type Since = SmallVec<[u32; 2]>;

/// A configuration.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) position: Box<[u32]>,
    pub(crate) state: State,
    pub(crate) parent: Option<u32>,
    pub(crate) by: By,
    /// The number of unlogged steps of each kind since the last event.
    since: Since,
    /// The event that must be next, because the last unlogged steps are possible only before it.
    toward: Option<u32>,
    /// The number of unlogged steps.
    hidden: u32,
    /// The number of events explained.
    pub(crate) placed: u32,
    /// Its state with canonical names of interchangeable values, if there are any.
    canonical: Option<State>,
    /// Another configuration with this position and an equal state.
    alike: Option<u32>,
}

impl Node {
    /// Makes a configuration that has not been extended yet.
    fn fresh(position: Box<[u32]>, state: State, by: By, since: Since) -> Node {
        let (parent, toward, canonical, alike) = (None, None, None, None);
        Node { position, state, parent, by, since, toward, hidden: 0, placed: 0, canonical, alike }
    }

    /// The state up to interchangeable values.
    fn key(&self) -> &State {
        self.canonical.as_ref().unwrap_or(&self.state)
    }

    fn hash(&self) -> u64 {
        FxBuildHasher.hash_one((&self.position, self.key()))
    }

    /// Whether both explain the same events and have the same state.
    fn is_at(&self, other: &Node) -> bool {
        self.position == other.position && self.key() == other.key()
    }

    /// Whether each continuation of another one at the same place is one of this.
    fn covers(&self, other: &Node) -> bool {
        self.since.iter().zip(&other.since).all(|(a, b)| a <= b)
            && (self.toward.is_none() || self.toward == other.toward)
    }
}

/// The result of a search.
#[derive(Debug)]
pub(crate) enum Found {
    /// The configuration that explains all events.
    Accepted(u32),
    /// The configurations that no event extends, of those that explain most.
    Stuck(Vec<u32>),
    /// Stopped before the end.
    Stopped(Stop),
}

/// All configurations of a search.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) stats: Stats,
    /// The number of configurations that explain each number of events.
    levels: Vec<usize>,
    /// Whether the search left out configurations because of independent events.
    pub(crate) is_reduced: bool,
    /// Configurations that explain most and that no event extends, each with events that are not possible there and that no
    /// other event makes possible.
    pub(crate) dead: HashMap<u32, Vec<usize>, FxBuildHasher>,
}

/// The configurations that are still to be extended.
#[derive(Debug, Default)]
struct Queue {
    /// For each number of explained events.
    levels: Vec<QueueLevel>,
    /// Those that are extended last.
    deferred: BinaryHeap<(u32, Reverse<u32>, u32)>,
    /// The level that is extended next.
    round: usize,
    /// Whether this round takes the last choice of a configuration instead of the first.
    takes_last: bool,
    /// The lowest level that may have configurations.
    lowest: usize,
    /// True if levels are finished one after the other.
    by_level: bool,
}

/// Configurations that explain equally many events: by the number of unlogged steps, those with the same origin together.
type QueueLevel = BTreeMap<u32, Vec<(Option<u32>, VecDeque<u32>)>>;

impl Queue {
    fn push(&mut self, node: &Node, place: u32, at_once: bool) {
        if !at_once && !self.by_level {
            self.deferred.push((node.placed, Reverse(node.hidden), place));
            return;
        }
        let level = node.placed as usize;
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, QueueLevel::new);
        }
        let groups = self.levels[level].entry(node.hidden).or_default();
        match groups.last_mut() {
            Some((parent, group)) if *parent == node.parent => group.push_back(place),
            _ => groups.push((node.parent, VecDeque::from([place]))),
        }
        self.lowest = self.lowest.min(level);
    }

    fn pop(&mut self) -> Option<u32> {
        while self.levels.get(self.lowest).is_some_and(QueueLevel::is_empty) {
            self.lowest += 1;
        }
        if self.lowest >= self.levels.len() {
            // Only deferred steps are left.
            let (placed, _, place) = self.deferred.pop()?;
            (self.round, self.lowest) = (placed as usize + 1, self.levels.len());
            return Some(place);
        }
        if self.by_level {
            return self.take(self.lowest);
        }
        if self.round < self.lowest || self.round >= self.levels.len() {
            self.round = self.lowest;
            self.takes_last = !self.takes_last;
        }
        let later = (self.round..self.levels.len()).find(|level| !self.levels[*level].is_empty());
        let level = later.unwrap_or_else(|| {
            self.takes_last = !self.takes_last;
            self.lowest
        });
        self.round = level + 1;
        self.take(level)
    }

    /// Takes a configuration of the latest origin, of those with the fewest unlogged steps.
    fn take(&mut self, level: usize) -> Option<u32> {
        let mut hidden = self.levels[level].first_entry()?;
        let (_, group) = hidden.get_mut().last_mut()?;
        let place = if self.takes_last { group.pop_back() } else { group.pop_front() };
        if group.is_empty() {
            hidden.get_mut().pop();
        }
        if hidden.get().is_empty() {
            hidden.remove();
        }
        place
    }
}

/// Known configurations: of those with equal positions and states, the first, which leads to the others. They differ in
/// the unlogged steps since the last event, or in the event that must be next.
type Seen = HashTable<u32>;

/// The maximum number of configurations of a search of all orders, after one has shown that there is no behavior.
const MOST_AGAIN: u64 = 10_000;

/// The events to extend a configuration by, and the steps of each.
struct Chosen {
    next: Vec<usize>,
    steps: Vec<Vec<Reached>>,
}

/// The number of extended configurations between two checks of the limits.
const BETWEEN: u64 = 64;

impl Graph {
    /// Searches for a behavior that explains all events. If there is none and configurations were left out, searches all
    /// orders for those that explain most events, as long as they are few.
    pub(crate) fn search(
        &mut self,
        stepper: &mut Stepper<'_, '_>,
        options: LogOptions,
        poll: &mut dyn FnMut(&Stats) -> Option<Stop>,
    ) -> Result<Found, Failure> {
        let found = self.search_once(stepper, options, poll)?;
        if !matches!(found, Found::Stuck(_)) || !self.is_reduced {
            return Ok(found);
        }
        let mut all = Graph::default();
        let mut limited = |stats: &Stats| match stats.generated > MOST_AGAIN {
            true => Some(Stop::Width),
            false => poll(stats),
        };
        let options = LogOptions { all_orders: true, ..options };
        match all.search_once(stepper, options, &mut limited)? {
            Found::Stopped(_) => Ok(found),
            again => {
                all.stats.generated += self.stats.generated;
                all.stats.distinct += self.stats.distinct;
                all.stats.left_out = self.stats.left_out;
                *self = all;
                Ok(again)
            }
        }
    }

    /// Searches for a behavior that explains all events.
    pub(crate) fn search_once(
        &mut self,
        stepper: &mut Stepper<'_, '_>,
        options: LogOptions,
        poll: &mut dyn FnMut(&Stats) -> Option<Stop>,
    ) -> Result<Found, Failure> {
        let bound = stepper.bound;
        let total = u32::try_from(bound.events.len()).unwrap_or(u32::MAX);
        let mut seen = Seen::new();
        let mut queue = Queue { by_level: options.exhaustive, ..Queue::default() };
        let reduction = || Reduction::new(stepper.program, bound, stepper.enforces_invariants);
        let mut reduction = options.reduces().then(reduction).flatten();
        let start: Box<[u32]> = vec![0; bound.order.chains.len()].into();
        let none: Since = smallvec![0; bound.unlogged.len()];
        for state in stepper.initial_states()? {
            let node = Node::fresh(start.clone(), state, By::Initial, none.clone());
            self.add(node, true, stepper, &mut seen, &mut queue);
        }
        if total == 0 && !self.nodes.is_empty() {
            return Ok(Found::Accepted(0));
        }
        let mut extended = 0_u64;
        while let Some(node) = queue.pop() {
            extended += 1;
            if extended.is_multiple_of(BETWEEN) {
                self.stats.evaluations = stepper.evaluations;
                if let Some(stop) = poll(&self.stats) {
                    return Ok(Found::Stopped(stop));
                }
            }
            let extended = self.extend(node, total, stepper, reduction.as_mut(), &mut seen, &mut queue);
            self.stats.evaluations = stepper.evaluations;
            match extended {
                Ok(None) => {}
                Ok(Some(last)) => return Ok(Found::Accepted(last)),
                // A limit was reached inside an evaluation: the results so far are valid.
                Err(Failure::Evaluation { error, .. }) if error.kind == ErrorKind::Stopped => {
                    return Ok(Found::Stopped(poll(&self.stats).unwrap_or(Stop::Interrupted)));
                }
                Err(failure) => return Err(failure),
            }
        }
        self.stats.evaluations = stepper.evaluations;
        let most = self.nodes.iter().map(|node| node.placed).max().unwrap_or_default();
        let stuck = self.nodes.iter().enumerate().filter(|(_, node)| node.placed == most);
        Ok(Found::Stuck(stuck.map(|(place, _)| u32::try_from(place).unwrap_or(u32::MAX)).collect()))
    }

    /// Extends a configuration. Returns the one that explains all events, if it was reached.
    fn extend(
        &mut self,
        from: u32,
        total: u32,
        stepper: &mut Stepper<'_, '_>,
        reduction: Option<&mut Reduction<'_>>,
        seen: &mut Seen,
        queue: &mut Queue,
    ) -> Result<Option<u32>, Failure> {
        let bound: &Bound = stepper.bound;
        let Node { position, state, since, toward, hidden, placed, .. } = self.nodes[from as usize].clone();
        let next = bound.order.next(&position).filter(|&event| toward.is_none_or(|toward| toward as usize == event));
        let next: Vec<usize> = next.collect();
        stepper.position.clone_from(&position);
        let is_reduced = reduction.is_some();
        let Chosen { next, steps } = self.choose(&position, &state, next, stepper, reduction)?;
        let is_possible: Vec<bool> = steps.iter().map(|steps| !steps.is_empty()).collect();
        if is_reduced && placed >= self.stats.explained && !is_possible.contains(&true) {
            self.dead.insert(from, next.clone());
        }
        for (&event, steps) in next.iter().zip(steps) {
            for Reached { state, alternative, through } in steps {
                let mut position = position.clone();
                position[bound.order.places[event].0] += 1;
                let by = By::Event {
                    event: u32::try_from(event).unwrap_or(u32::MAX),
                    alternative: u32::try_from(alternative).unwrap_or(u32::MAX),
                    through,
                };
                let node = Node::fresh(position, state, by, smallvec![0; since.len()]);
                let node = Node { parent: Some(from), hidden, placed: placed + 1, ..node };
                let added = self.add(node, true, stepper, seen, queue);
                if let Some(added) = added.filter(|_| placed + 1 == total) {
                    return Ok(Some(added));
                }
            }
        }
        for (kind, unlogged) in bound.unlogged.iter().enumerate() {
            if since[kind] >= unlogged.max {
                continue;
            }
            for (place, &event) in next.iter().enumerate() {
                if !unlogged.may_precede(event, &bound.events[event]) {
                    continue;
                }
                if unlogged.needed && (is_possible[place] || has_excluded_step(event, &state, stepper)?) {
                    continue;
                }
                let mut states = Vec::new();
                let result = stepper.unlogged(kind, &bound.events[event], &state, &mut states);
                result.map_err(|failure| at_event(failure, bound, event, &state, stepper))?;
                for (state, action) in states {
                    let mut since = since.clone();
                    since[kind] += 1;
                    // With a reduction, the step is a part of the event.
                    let is_specific = is_reduced || (next.len() > 1 && unlogged.is_specific());
                    let only = is_specific.then(|| u32::try_from(event).unwrap_or(u32::MAX));
                    let by = By::Unlogged(u32::try_from(action).unwrap_or(u32::MAX));
                    let node = Node::fresh(position.clone(), state, by, since);
                    let node = Node { parent: Some(from), toward: toward.or(only), hidden: hidden + 1, placed, ..node };
                    self.add(node, !is_possible[place], stepper, seen, queue);
                }
            }
        }
        Ok(None)
    }

    /// Chooses the events to extend a configuration by, and the steps of each: of those that may be next, all, or enough of
    /// them. Of several sets that are enough, it takes one without a step, or else one with few.
    fn choose(
        &mut self,
        position: &[u32],
        state: &State,
        next: Vec<usize>,
        stepper: &mut Stepper<'_, '_>,
        reduction: Option<&mut Reduction<'_>>,
    ) -> Result<Chosen, Failure> {
        let bound: &Bound = stepper.bound;
        let mut known: Vec<Option<Vec<Reached>>> = vec![None; next.len()];
        let sets = match reduction {
            Some(reduction) if next.len() > 1 => reduction.persistent(position, &next),
            _ => vec![next.clone()],
        };
        let mut best: Option<(usize, usize)> = None;
        for (place, set) in sets.iter().enumerate() {
            let mut count = 0;
            for event in set {
                let Some(at) = next.iter().position(|other| other == event) else { continue };
                let steps = match &mut known[at] {
                    Some(steps) => steps,
                    unknown => {
                        let mut reached = Vec::new();
                        let result = stepper.steps(&bound.events[*event], state, &mut reached);
                        result.map_err(|failure| at_event(failure, bound, *event, state, stepper))?;
                        unknown.insert(reached)
                    }
                };
                count += steps.len();
            }
            if best.is_none_or(|(least, _)| count < least) {
                best = Some((count, place));
            }
            // One step makes fewer branches than any other choice.
            if count <= 1 {
                break;
            }
        }
        let set = best.map_or(&[][..], |(_, place)| &sets[place]);
        self.is_reduced |= set.len() < next.len();
        self.stats.left_out += (next.len() - set.len()) as u64;
        let is_chosen = |event: &usize| set.contains(event);
        let (next, steps) = next.iter().zip(known).filter(|(event, _)| is_chosen(event)).unzip::<_, _, _, Vec<_>>();
        Ok(Chosen { next, steps: steps.into_iter().map(Option::unwrap_or_default).collect() })
    }

    /// Adds a configuration, unless it is known with at most as many unlogged steps of each kind since the last event.
    fn add(
        &mut self,
        mut node: Node,
        at_once: bool,
        stepper: &mut Stepper<'_, '_>,
        seen: &mut Seen,
        queue: &mut Queue,
    ) -> Option<u32> {
        self.stats.generated += 1;
        node.canonical = stepper.symmetry.map(|symmetry| symmetry.canonical(&node.position, &node.state));
        let place = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let hash = node.hash();
        let nodes = &self.nodes;
        match seen.find(hash, |&known| nodes[known as usize].is_at(&node)).copied() {
            Some(first) => {
                let chain = std::iter::successors(Some(first), |&known| nodes[known as usize].alike);
                if chain.into_iter().any(|known| nodes[known as usize].covers(&node)) {
                    return None;
                }
                node.alike = nodes[first as usize].alike;
                self.nodes[first as usize].alike = Some(place);
            }
            None => {
                seen.insert_unique(hash, place, |&known| nodes[known as usize].hash());
                self.stats.distinct += 1;
                let level = node.placed as usize;
                if self.levels.len() <= level {
                    self.levels.resize(level + 1, 0);
                }
                self.levels[level] += 1;
                self.stats.widest = self.stats.widest.max(self.levels[level]);
                self.stats.explained = self.stats.explained.max(node.placed);
            }
        }
        queue.push(&node, place, at_once);
        self.nodes.push(node);
        Some(place)
    }

    /// The configurations from an initial one to this.
    pub(crate) fn path(&self, last: u32) -> Vec<u32> {
        let mut path = vec![last];
        while let Some(parent) = path.last().and_then(|node| self.nodes[*node as usize].parent) {
            path.push(parent);
        }
        path.reverse();
        path
    }

    /// Events that are not possible in a configuration that no event extends, and that no other event makes possible: all
    /// that may be next, or some of them.
    pub(crate) fn blocked(&self, node: u32, bound: &Bound) -> Vec<usize> {
        match self.dead.get(&node) {
            Some(events) => events.clone(),
            None => bound.order.next(&self.nodes[node as usize].position).collect(),
        }
    }

    /// The number of configurations that explain as much as the furthest one.
    pub(crate) fn at_the_end(&self) -> usize {
        self.levels.last().copied().unwrap_or_default()
    }
}

/// Whether an event has a step that only an invariant excludes. It is possible then, and needs no step before it.
fn has_excluded_step(event: usize, state: &State, stepper: &mut Stepper<'_, '_>) -> Result<bool, Failure> {
    if !stepper.enforces_invariants {
        return Ok(false);
    }
    let (bound, mut reached) = (stepper.bound, Vec::new());
    stepper.enforces_invariants = false;
    let result = stepper.steps(&bound.events[event], state, &mut reached);
    stepper.enforces_invariants = true;
    result.map_err(|failure| at_event(failure, bound, event, state, stepper))?;
    Ok(!reached.is_empty())
}

/// An evaluation error, with the event and the state.
fn at_event(failure: Failure, bound: &Bound, event: usize, state: &State, stepper: &Stepper<'_, '_>) -> Failure {
    let Failure::Evaluation { error, note: None } = failure else { return failure };
    let module = &stepper.program.module;
    let variables = module.variables.iter().zip(state.iter());
    let shown: Vec<String> =
        variables.map(|(variable, value)| format!("{} = {}", variable.name, value.display(&module.strings))).collect();
    let event = &bound.events[event];
    let name = event.name.as_deref().unwrap_or("event");
    Failure::Evaluation { error, note: Some(format!("line {} `{name}` in the state {}", event.line, shown.join(", "))) }
}

//! Finds a behavior of the specification that explains a log, or shows where every one gets stuck.
//!
//! A *configuration* is how far the log has been explained, one number for each chain of the order, and the state that
//! this led to. A configuration is extended by an event that may be next, or by an unlogged step. All configurations
//! are kept in one set, so none is extended twice.
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
//! An unlogged step is taken at once where an event is not possible without one, and put off otherwise until nothing
//! else is left, so that a search neither misses a step nor tries all of them everywhere.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use history::Stop;
use rustc_hash::FxBuildHasher;
use smallvec::{SmallVec, smallvec};
use tla::machine::State;

use crate::bind::Bound;
use crate::problem::Failure;
use crate::step::{Reached, Stepper};

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Breadth first and without reductions, as a model checker counts.
    pub exhaustive: bool,
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
    /// The most events that a configuration explains.
    pub explained: u32,
    /// The largest number of configurations that explain equally many events.
    pub widest: usize,
}

/// How a configuration was reached.
#[derive(Debug, Clone)]
pub(crate) enum By {
    /// It is an initial one.
    Initial,
    /// By an event.
    Event {
        event: u32,
        alternative: u32,
        /// The states between.
        through: Vec<State>,
    },
    /// By an unlogged step of this action.
    Unlogged(u32),
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
    /// The event that must be next, because unlogged steps that were taken are possible only before it.
    toward: Option<u32>,
    /// The number of unlogged steps.
    hidden: u32,
    /// The number of events explained.
    pub(crate) placed: u32,
}

/// The result of a search.
#[derive(Debug)]
pub(crate) enum Found {
    /// The configuration that explains all events.
    Accepted(u32),
    /// The configurations that no event leads on from, of those that explain most.
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
            // Nothing is left but what was put off.
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

type Key = (Box<[u32]>, State);

/// Known configurations, each with the least numbers of unlogged steps since the last event, and the event that must
/// be next.
type Seen = HashMap<Key, SmallVec<[(Since, Option<u32>); 1]>, FxBuildHasher>;

/// The number of extended configurations between two looks at the limits.
const BETWEEN: u64 = 64;

impl Graph {
    /// Searches for a behavior that explains all events.
    pub(crate) fn search(
        &mut self,
        stepper: &mut Stepper<'_, '_>,
        options: Options,
        poll: &mut dyn FnMut(&Stats) -> Option<Stop>,
    ) -> Result<Found, Failure> {
        let bound = stepper.bound;
        let total = u32::try_from(bound.events.len()).unwrap_or(u32::MAX);
        let mut seen: Seen = HashMap::default();
        let mut queue = Queue { by_level: options.exhaustive, ..Queue::default() };
        let start: Box<[u32]> = vec![0; bound.order.chains.len()].into();
        let none: Since = smallvec![0; bound.unlogged.len()];
        for state in stepper.initial_states()? {
            let node = Node {
                position: start.clone(),
                state,
                parent: None,
                by: By::Initial,
                since: none.clone(),
                toward: None,
                hidden: 0,
                placed: 0,
            };
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
            if let Some(last) = self.extend(node, total, stepper, &mut seen, &mut queue)? {
                self.stats.evaluations = stepper.evaluations;
                return Ok(Found::Accepted(last));
            }
        }
        self.stats.evaluations = stepper.evaluations;
        let most = self.nodes.iter().map(|node| node.placed).max().unwrap_or_default();
        let stuck = self.nodes.iter().enumerate().filter(|(_, node)| node.placed == most);
        Ok(Found::Stuck(stuck.map(|(place, _)| u32::try_from(place).unwrap_or(u32::MAX)).collect()))
    }

    /// Extends a configuration; the one that explains all events, if it was reached.
    fn extend(
        &mut self,
        from: u32,
        total: u32,
        stepper: &mut Stepper<'_, '_>,
        seen: &mut Seen,
        queue: &mut Queue,
    ) -> Result<Option<u32>, Failure> {
        let bound: &Bound = stepper.bound;
        let Node { position, state, since, toward, hidden, placed, .. } = self.nodes[from as usize].clone();
        let next = bound.order.next(&position).filter(|&event| toward.is_none_or(|toward| toward as usize == event));
        let next: Vec<usize> = next.collect();
        stepper.position.clone_from(&position);
        let mut reached: Vec<Reached> = Vec::new();
        let mut is_possible = vec![false; next.len()];
        for (place, &event) in next.iter().enumerate() {
            let result = stepper.steps(&bound.events[event], &state, &mut reached);
            result.map_err(|failure| at_event(failure, bound, event, &state, stepper))?;
            is_possible[place] = !reached.is_empty();
            for Reached { state, alternative, through } in reached.drain(..) {
                let mut position = position.clone();
                position[bound.order.places[event].0] += 1;
                let by = By::Event {
                    event: u32::try_from(event).unwrap_or(u32::MAX),
                    alternative: u32::try_from(alternative).unwrap_or(u32::MAX),
                    through,
                };
                let node = Node {
                    position,
                    state,
                    parent: Some(from),
                    by,
                    since: smallvec![0; since.len()],
                    toward: None,
                    hidden,
                    placed: placed + 1,
                };
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
                let name = bound.events[event].name.as_deref().unwrap_or_default();
                let is_before = (unlogged.before.0.is_empty() || unlogged.before.contains(name))
                    && unlogged.only.is_none_or(|only| only == event);
                if !is_before || (is_possible[place] && unlogged.needed) {
                    continue;
                }
                let mut states = Vec::new();
                let result = stepper.unlogged(kind, &bound.events[event], &state, &mut states);
                result.map_err(|failure| at_event(failure, bound, event, &state, stepper))?;
                for (state, action) in states {
                    let mut since = since.clone();
                    since[kind] += 1;
                    let is_specific = next.len() > 1 && unlogged.is_specific();
                    let only = is_specific.then(|| u32::try_from(event).unwrap_or(u32::MAX));
                    let node = Node {
                        position: position.clone(),
                        state,
                        parent: Some(from),
                        by: By::Unlogged(u32::try_from(action).unwrap_or(u32::MAX)),
                        since,
                        toward: toward.or(only),
                        hidden: hidden + 1,
                        placed,
                    };
                    self.add(node, !is_possible[place], stepper, seen, queue);
                }
            }
        }
        Ok(None)
    }

    /// Adds a configuration, unless it is known with at most as many unlogged steps of each kind since the last event.
    fn add(
        &mut self,
        node: Node,
        at_once: bool,
        stepper: &mut Stepper<'_, '_>,
        seen: &mut Seen,
        queue: &mut Queue,
    ) -> Option<u32> {
        self.stats.generated += 1;
        let state = match stepper.symmetry {
            Some(symmetry) => symmetry.canonical(&node.position, &node.state),
            None => node.state.clone(),
        };
        let limits = (node.since.clone(), node.toward);
        match seen.entry((node.position.clone(), state)) {
            Entry::Occupied(mut known) => {
                // Whether each continuation of the second is one of the first.
                let covers = |first: &(Since, Option<u32>), second: &(Since, Option<u32>)| {
                    first.0.iter().zip(&second.0).all(|(a, b)| a <= b) && (first.1.is_none() || first.1 == second.1)
                };
                if known.get().iter().any(|known| covers(known, &limits)) {
                    return None;
                }
                known.get_mut().retain(|known| !covers(&limits, known));
                known.get_mut().push(limits);
            }
            Entry::Vacant(entry) => {
                entry.insert(smallvec![limits]);
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
        let place = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
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

    /// The number of configurations that explain as much as the furthest.
    pub(crate) fn at_the_end(&self) -> usize {
        self.levels.last().copied().unwrap_or_default()
    }
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

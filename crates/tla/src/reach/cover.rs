//! A small set of behaviors that takes every transition of a specification, visits every state, or takes every action.
//!
//! First every reachable state is checked, as [`check`](super::check()) does, and then the graph of the states is stored. A
//! behavior begins with a shortest path to the nearest state from which something wanted is left. It continues to the nearest of
//! those among a fixed number of states around its last one, unless that is further than from an initial state. This is
//! greedy: the set is small, but not the smallest.
//!
//! The graph stores the number of a step among those that its state has, not its label, which is computed again when a
//! behavior is written.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::check::{Checker, check, workers};
use super::store::{StateId, Store};
use super::{BehaviorStep, End, Explorer, Limit, ReachOrder, Stats, Trace, TraceStep, Verdict};
use crate::datum::World;
use crate::machine::{Label, State};
use crate::program::Program;
use crate::source::Site;

/// The parts of the graph that behaviors cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cover {
    /// Every action that a step takes, by its place in the text.
    Actions,
    /// Every state.
    States,
    /// Every step: two states and an action with its arguments.
    Transitions,
}

/// The result of a cover.
#[derive(Debug)]
pub struct Covered {
    /// The verdict of the check before; without a verdict that holds, there are no behaviors.
    pub verdict: Verdict,
    /// The progress of the check.
    pub stats: Stats,
    /// The number of parts that are covered, which are all there are.
    pub parts: u64,
    /// The number of behaviors.
    pub behaviors: u64,
    /// The number of their steps.
    pub steps: u64,
}

/// The maximum number of states in which a behavior looks for the next part.
const AROUND: usize = 256;

/// Checks a program with one worker for each world, then covers it with behaviors of about `depth` steps. `watch` is called now and
/// then, and may stop. `behavior` receives every behavior with its number.
///
/// # Panics
///
/// If there are no worlds.
pub fn cover<'p>(
    program: &'p Program,
    cover: Cover,
    depth: usize,
    worlds: impl Fn() -> Vec<Box<dyn World + Send + 'p>>,
    watch: &mut dyn FnMut(&Stats) -> Option<Limit>,
    behavior: &mut dyn FnMut(u64, &[BehaviorStep]),
) -> Covered {
    let checked = check(program, ReachOrder::Breadth, worlds(), watch);
    let mut covered = Covered { verdict: checked.verdict, stats: checked.stats, parts: 0, behaviors: 0, steps: 0 };
    if !matches!(covered.verdict, Verdict::Holds { is_cut_short: false }) || program.init.is_none() {
        return covered;
    }
    let mut worlds = worlds();
    worlds.truncate(1);
    let result = workers(program, worlds).and_then(|mut workers| {
        let worker = &mut workers[0];
        let graph = Graph::new(worker, &covered.stats, watch).map_err(|end| worker.verdict(*end))?;
        let mut tour = Tour::new(&graph, cover);
        while let Some(path) = tour.next(depth) {
            if let Some(limit) = watch(&covered.stats) {
                return Err(Verdict::Stopped { limit, path: Vec::new() });
            }
            let trace = graph.trace(worker, &path).map_err(|end| worker.verdict(*end))?;
            behavior(covered.behaviors, &trace);
            covered.behaviors += 1;
            covered.steps += path.len() as u64 - 1;
        }
        covered.parts = tour.parts;
        Ok(())
    });
    if let Err(verdict) = result {
        covered.verdict = verdict;
    }
    covered
}

/// A step in a path: its number among all steps of the graph, and the state that it leads to. The first has no number.
type Stage = (Option<u32>, u32);

/// The states that are reachable, and the steps between them.
struct Graph {
    states: Store<State>,
    /// The steps of state `i` are those from `steps[i]` on.
    first: Vec<u32>,
    to: Vec<u32>,
    /// The action of each step, a number for each place in the text.
    action: Vec<u32>,
    actions: usize,
    initial: usize,
}

impl Graph {
    fn new<'p>(
        worker: &mut Checker<'p>,
        stats: &Stats,
        watch: &mut dyn FnMut(&Stats) -> Option<Limit>,
    ) -> Result<Graph, Box<End<Checker<'p>>>> {
        let failed = |error| Box::new(End::Error { error, claim: None, trace: Vec::new() });
        let mut states: Store<State> = Store::new(1);
        let mut initial = Vec::new();
        let mut level: Vec<usize> = Vec::new();
        worker.set_level(0);
        worker.initial(&mut initial).map_err(failed)?;
        worker.set_level(1);
        for state in initial {
            if worker.is_explored(None, &state).map_err(failed)? && states.place(&state).1 {
                level.push(1);
            }
        }
        let mut graph =
            Graph { initial: level.len(), states, first: Vec::new(), to: Vec::new(), action: Vec::new(), actions: 0 };
        let mut actions: FxHashMap<Site, u32> = FxHashMap::default();
        let mut at = 0;
        while at < level.len() {
            if at.is_multiple_of(1024)
                && let Some(limit) = watch(stats)
            {
                return Err(Box::new(End::Stopped { limit, path: Vec::new() }));
            }
            graph.first.push(graph.to.len() as u32);
            let state = graph.state(at);
            for (label, successor) in steps(worker, &state, level[at]).map_err(failed)? {
                let (to, is_new) = graph.states.place(&successor);
                if is_new {
                    level.push(level[at] + 1);
                }
                let count = actions.len() as u32;
                graph.action.push(*actions.entry(label.site).or_insert(count));
                graph.to.push(to as u32);
            }
            if graph.to.len() >= u32::MAX as usize / 2 {
                return Err(Box::new(End::Stopped { limit: Limit::States, path: Vec::new() }));
            }
            at += 1;
        }
        graph.first.push(graph.to.len() as u32);
        graph.actions = actions.len();
        Ok(graph)
    }

    fn state(&self, at: usize) -> State {
        self.states.state(StateId::at(at)).clone()
    }

    /// The steps of a state.
    fn steps(&self, at: u32) -> std::ops::Range<u32> {
        self.first[at as usize]..self.first[at as usize + 1]
    }

    fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// The behavior of a path.
    fn trace<'p>(&self, worker: &mut Checker<'p>, path: &[Stage]) -> Result<Trace<Checker<'p>>, Box<End<Checker<'p>>>> {
        let mut trace: Trace<Checker<'p>> = Vec::with_capacity(path.len());
        for (index, &(step, to)) in path.iter().enumerate() {
            let label = match (step, index.checked_sub(1)) {
                (Some(step), Some(before)) => {
                    let from = path[before].1;
                    let all = steps(worker, &trace[before].state, index)
                        .map_err(|error| Box::new(End::Error { error, claim: None, trace: Vec::new() }))?;
                    let place = (step - self.first[from as usize]) as usize;
                    all.into_iter().nth(place).map(|(label, _)| label)
                }
                _ => None,
            };
            trace.push(TraceStep { label, state: self.state(to as usize) });
        }
        Ok(trace)
    }
}

/// The distinct steps of a state that the constraints allow.
fn steps(worker: &mut Checker<'_>, state: &State, level: usize) -> crate::error::Result<Vec<(Label, State)>> {
    worker.set_level(level);
    let successors = worker.machine.labelled_successors(state)?;
    worker.set_level(level + 1);
    let mut steps: Vec<(Label, State)> = Vec::with_capacity(successors.len());
    let mut known = Store::new(1);
    // The steps to each known state.
    let mut to: Vec<Vec<usize>> = Vec::new();
    for (label, successor) in successors {
        let (place, is_new) = known.place(&successor);
        if is_new {
            to.push(Vec::new());
        }
        let same = &mut to[place];
        if same.iter().any(|&index| steps[index].0 == label) {
            continue;
        }
        if worker.is_explored(Some(state), &successor)? {
            same.push(steps.len());
            steps.push((label, successor));
        }
    }
    Ok(steps)
}

/// Paths that cover a graph, one after another.
struct Tour<'g> {
    graph: &'g Graph,
    cover: Cover,
    /// The parts that are covered: steps, states or actions.
    is_covered: Vec<bool>,
    parts: u64,
    /// A shortest path to each state: the step that it ends with, the state before it, and its length.
    nearest: Vec<(Option<(u32, u32)>, u32)>,
    /// All states, nearest first; the wanted parts of those before `next` are covered.
    order: Vec<u32>,
    next: usize,
}

impl<'g> Tour<'g> {
    fn new(graph: &'g Graph, cover: Cover) -> Tour<'g> {
        let parts = match cover {
            Cover::Actions => graph.actions,
            Cover::States => graph.len(),
            Cover::Transitions => graph.to.len(),
        };
        let mut nearest = vec![(None, u32::MAX); graph.len()];
        let mut order: Vec<u32> = (0..graph.initial as u32).collect();
        order.iter().for_each(|&state| nearest[state as usize].1 = 0);
        let mut at = 0;
        while let Some(&from) = order.get(at) {
            at += 1;
            for step in graph.steps(from) {
                let to = graph.to[step as usize];
                if nearest[to as usize].1 == u32::MAX {
                    nearest[to as usize] = (Some((step, from)), nearest[from as usize].1 + 1);
                    order.push(to);
                }
            }
        }
        Tour { graph, cover, is_covered: vec![false; parts], parts: 0, nearest, order, next: 0 }
    }

    /// The next path, of at most `depth` steps after the first wanted one.
    fn next(&mut self, depth: usize) -> Option<Vec<Stage>> {
        let target = self.nearest_target()?;
        let mut path: Vec<Stage> = Vec::new();
        let mut at = target;
        while let (Some((step, from)), _) = self.nearest[at as usize] {
            path.push((Some(step), at));
            at = from;
        }
        path.push((None, at));
        path.reverse();
        let (first, last) = (path[0].1, path.len());
        self.visit(None, first);
        for &(step, to) in &path[1..last] {
            self.visit(step, to);
        }
        let mut at = target;
        while path.len() <= depth.max(last) {
            match self.wanted(at) {
                Some(step) => {
                    at = self.graph.to[step as usize];
                    self.visit(Some(step), at);
                    path.push((Some(step), at));
                }
                None => match self.onward(at, depth.saturating_sub(path.len())) {
                    Some(way) => {
                        for (step, to) in way {
                            self.visit(step, to);
                            path.push((step, to));
                            at = to;
                        }
                    }
                    None => break,
                },
            }
        }
        Some(path)
    }

    /// The state nearest to an initial one that has a wanted step, or is wanted itself: an initial state is covered by a path
    /// without a step.
    fn nearest_target(&mut self) -> Option<u32> {
        loop {
            let state = *self.order.get(self.next)?;
            let is_wanted = self.cover == Cover::States && !self.is_covered[state as usize];
            if is_wanted || self.wanted(state).is_some() {
                return Some(state);
            }
            self.next += 1;
        }
    }

    /// The first step of a state that covers another part.
    fn wanted(&self, state: u32) -> Option<u32> {
        self.graph.steps(state).find(|&step| !self.is_covered[self.part(step)])
    }

    /// The part that a step covers.
    fn part(&self, step: u32) -> usize {
        match self.cover {
            Cover::Actions => self.graph.action[step as usize] as usize,
            Cover::States => self.graph.to[step as usize] as usize,
            Cover::Transitions => step as usize,
        }
    }

    fn visit(&mut self, step: Option<u32>, state: u32) {
        let part = match step {
            Some(step) => self.part(step),
            None if self.cover == Cover::States => state as usize,
            None => return,
        };
        self.parts += u64::from(!self.is_covered[part]);
        self.is_covered[part] = true;
    }

    /// A shortest way from a state to one with a wanted step, if it is short and shorter than from an initial state.
    fn onward(&mut self, from: u32, most: usize) -> Option<Vec<Stage>> {
        let elsewhere = self.nearest_target()?;
        let most = most.min(self.nearest[elsewhere as usize].1 as usize);
        let mut came: FxHashMap<u32, (u32, u32)> = FxHashMap::default();
        let mut seen = FxHashSet::from_iter([from]);
        let mut queue = VecDeque::from([(from, 0)]);
        while let Some((state, length)) = queue.pop_front() {
            if length > 0 && self.wanted(state).is_some() {
                let (mut way, mut at) = (Vec::new(), state);
                while let Some(&(step, before)) = came.get(&at) {
                    way.push((Some(step), at));
                    at = before;
                }
                way.reverse();
                return Some(way);
            }
            if length >= most || seen.len() > AROUND {
                continue;
            }
            for step in self.graph.steps(state) {
                let to = self.graph.to[step as usize];
                if seen.insert(to) {
                    came.insert(to, (step, state));
                    queue.push_back((to, length + 1));
                }
            }
        }
        None
    }
}

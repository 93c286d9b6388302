//! The search by one worker, state by state, breadth first or depth first.
//!
//! States wait in one queue. Breadth first, a new state goes to its end; depth first, to its front, so that the last
//! successor of a state is explored next. Both are the orders of TLC with one worker and its `StateDeque`. After every
//! event the specification can read up to date counts, so this search is also used for specifications that read them.

use std::collections::VecDeque;

use super::promise::{Broken, Promises};
use super::search::{BLOCK, trace};
use super::store::{StateId, Store};
use super::{Claim, End, ExplorationOutcome, Explorer, Limit, Plan, ReachOrder, Stats};

/// Visits every reachable state with one worker.
pub(super) fn explore<E: Explorer>(
    explorer: &mut E,
    plan: Plan,
    watch: &mut dyn FnMut(&Stats) -> Option<Limit>,
) -> ExplorationOutcome<E> {
    let promises = Promises::new(explorer.promises());
    let (store, queue, stats) = (Store::new(1), VecDeque::new(), Stats::default());
    let mut search = Serial { explorer, plan, store, queue, stats, promises };
    let end = match search.run(watch) {
        Ok(()) => End::Finished,
        Err(end) => *end,
    };
    ExplorationOutcome { end, stats: search.stats }
}

/// A search that continues, or its end.
type TraceStep<T, E> = Result<T, Box<End<E>>>;

struct Serial<'a, E: Explorer> {
    explorer: &'a mut E,
    plan: Plan,
    store: Store<E::State>,
    /// States whose successors have not been computed yet, and their levels.
    queue: VecDeque<(StateId, usize)>,
    stats: Stats,
    promises: Promises,
}

impl<E: Explorer> Serial<'_, E> {
    fn run(&mut self, watch: &mut dyn FnMut(&Stats) -> Option<Limit>) -> TraceStep<(), E> {
        self.begin()?;
        // Each level is cut into blocks, as for several workers. Depth first there are no levels.
        let (mut left_in_level, mut left_in_block) = (0, 0);
        loop {
            if left_in_block == 0 {
                self.watch(watch)?;
                if left_in_level == 0 {
                    left_in_level = if self.plan.order == ReachOrder::Breadth { self.queue.len() } else { usize::MAX };
                }
                left_in_block = left_in_level.min(BLOCK);
            }
            let Some((id, level)) = self.queue.pop_front() else { return Ok(()) };
            left_in_level -= 1;
            left_in_block -= 1;
            self.expand(id, level)?;
        }
    }

    fn watch(&mut self, watch: &mut dyn FnMut(&Stats) -> Option<Limit>) -> TraceStep<(), E> {
        let limit = if self.store.is_full() { Some(Limit::States) } else { watch(&self.stats) };
        let Some(limit) = limit else { return Ok(()) };
        let last = match self.plan.order {
            ReachOrder::Breadth => self.queue.back(),
            ReachOrder::Depth => self.queue.front(),
        };
        let path = last.map_or(Vec::new(), |(id, _)| self.store.path(*id).into_iter().cloned().collect());
        Err(Box::new(End::Stopped { limit, path }))
    }

    /// Computes the initial states.
    fn begin(&mut self) -> TraceStep<(), E> {
        let mut states = Vec::new();
        self.explorer.set_level(0);
        let result = self.explorer.initial(&mut states);
        self.explorer.set_level(1);
        // TLC counts the level of initial states even if there are none.
        self.stats.depth = 1;
        for state in states {
            self.stats.initial += 1;
            if let Some((id, true)) = self.found(None, 0, state)? {
                let state = self.store.state(id).clone();
                self.promises.begin(self.explorer, id, &state).map_err(|broken| self.broken(broken))?;
            }
        }
        self.finish(None, result)
    }

    /// Computes the successors of a state.
    fn expand(&mut self, id: StateId, level: usize) -> TraceStep<(), E> {
        let state = self.store.state(id).clone();
        self.stats.queued = self.queue.len() as u64;
        self.explorer.report(&self.stats);
        self.explorer.set_level(level);
        let mut states = Vec::new();
        let result = self.explorer.successors(&state, &mut states);
        self.explorer.set_level(level + 1);
        let between = self.explorer.between();
        self.stats.generated += between;
        let is_deadlock = self.plan.check_deadlock && states.is_empty() && between == 0 && result.is_ok();
        let mut successors = Vec::new();
        for successor in states {
            let found = self.found(Some((id, &state)), level, successor)?;
            successors.extend(found.map(|(id, _)| id).filter(|_| !self.promises.is_empty()));
        }
        if is_deadlock {
            return Err(Box::new(End::Deadlock { trace: trace(self.explorer, &self.store, id, None) }));
        }
        if result.is_ok() && !self.promises.is_empty() {
            let kept = self.promises.expanded(self.explorer, &self.store, (id, level), &successors);
            kept.map_err(|broken| self.broken(broken))?;
        }
        self.finish(Some(id), result)
    }

    /// Ends the search after an error, or if the specification asked for it.
    fn finish(&mut self, of: Option<StateId>, result: Result<(), E::Error>) -> TraceStep<(), E> {
        self.stats.queued = self.queue.len() as u64;
        self.explorer.report(&self.stats);
        match result {
            Ok(()) if self.explorer.has_exited() => Err(Box::new(End::Exited)),
            Ok(()) => Ok(()),
            Err(error) => {
                let of = of.unwrap_or(StateId::BEGINNING);
                Err(Box::new(End::Error { error, claim: None, trace: trace(self.explorer, &self.store, of, None) }))
            }
        }
    }

    /// Checks an initial state or a successor and adds it to the queue if it is new. Returns its number, and whether
    /// it is new; `None` if it is outside the constraints.
    fn found(
        &mut self,
        from: Option<(StateId, &E::State)>,
        level: usize,
        state: E::State,
    ) -> TraceStep<Option<(StateId, bool)>, E> {
        self.stats.generated += 1;
        self.stats.queued = self.queue.len() as u64;
        self.explorer.report(&self.stats);
        let (parent, from) = from.map_or((StateId::BEGINNING, None), |(id, state)| (id, Some(state)));
        let known = match self.place(parent, from, &state, level) {
            Ok(known) => known,
            Err(error) => {
                let trace = trace(self.explorer, &self.store, parent, Some(state));
                return Err(Box::new(End::Error { error, claim: None, trace }));
            }
        };
        let is_seen = matches!(known, Some((_, false)));
        self.judge(parent, from, &state, is_seen)?;
        if let Some((id, true)) = known {
            match self.plan.order {
                ReachOrder::Breadth => self.queue.push_back((id, level + 1)),
                ReachOrder::Depth => self.queue.push_front((id, level + 1)),
            }
            self.stats.queued = self.queue.len() as u64;
            self.explorer.report(&self.stats);
        }
        Ok(known)
    }

    /// Stores a state unless it is outside the constraints or already there.
    fn place(
        &mut self,
        parent: StateId,
        from: Option<&E::State>,
        state: &E::State,
        level: usize,
    ) -> Result<Option<(StateId, bool)>, E::Error> {
        if !self.explorer.is_explored(from, state)? {
            return Ok(None);
        }
        let key = self.explorer.key(state)?;
        let distinguished = key.as_ref().unwrap_or(state);
        let hash = self.store.hash(distinguished);
        if let Some(id) = self.store.find(hash, distinguished) {
            return Ok(Some((id, false)));
        }
        let kept = self.explorer.kept(state.clone());
        let id = self.store.insert(hash, kept, key, parent);
        self.stats.distinct += 1;
        self.stats.depth = self.stats.depth.max(level + 1);
        self.explorer.report(&self.stats);
        Ok(Some((id, true)))
    }

    /// Checks the invariants of a state that was not seen before, and the properties of a step or an initial state.
    fn judge(&mut self, parent: StateId, from: Option<&E::State>, state: &E::State, is_seen: bool) -> TraceStep<(), E> {
        let invariant = if is_seen { Ok(None) } else { self.explorer.violated(state) };
        let mut found = invariant
            .map(|violated| violated.map(Claim::Invariant))
            .map_err(|(index, error)| (Claim::Invariant(index), error));
        // An initial state is checked once, a step as often as it is found.
        if matches!(found, Ok(None)) && (from.is_some() || !is_seen) {
            found = self
                .explorer
                .violated_property(from, state)
                .map(|violated| violated.map(Claim::Property))
                .map_err(|(index, error)| (Claim::Property(index), error));
        }
        let mut behavior = || trace(self.explorer, &self.store, parent, Some(state.clone()));
        match found {
            Ok(None) => Ok(()),
            Ok(Some(claim)) => Err(Box::new(End::Violated { claim, trace: behavior() })),
            Err((claim, error)) => Err(Box::new(End::Error { error, claim: Some(claim), trace: behavior() })),
        }
    }

    fn broken(&mut self, broken: Broken<E>) -> Box<End<E>> {
        let Broken { promise, id, last, error } = broken;
        let claim = Claim::Promise(promise);
        let trace = trace(self.explorer, &self.store, id, last);
        Box::new(match error {
            Some(error) => End::Error { error, claim: Some(claim), trace },
            None => End::Violated { claim, trace },
        })
    }
}

//! The main loop: levels of the search, blocks of a level.

use super::phases::{self, Event, FEW, Key, Kind, New, Piece};
use super::store::{StateId, Store};
use super::{End, ExplorationOutcome, Explorer, Limit, Plan, ReachOrder, Stats, Trace, TraceStep, serial};

/// The number of states in a block. Progress is reported and limits are checked between blocks, so a block is short;
/// its size does not depend on the number of workers, so neither does the point where a limit stops a search.
pub(super) const BLOCK: usize = 8192;

/// Visits every reachable state. `watch` is called now and then, and may stop the search.
///
/// # Panics
///
/// If there are no workers.
pub fn explore<E: Explorer>(
    workers: &mut [E],
    plan: Plan,
    watch: &mut dyn FnMut(&Stats) -> Option<Limit>,
) -> ExplorationOutcome<E> {
    assert!(!workers.is_empty(), "at least one worker is needed");
    if workers.len() == 1 || plan.is_serial || plan.order == ReachOrder::Depth {
        return serial::explore(&mut workers[0], plan, watch);
    }
    let check_deadlock = plan.check_deadlock;
    let store = Store::new(workers.len());
    let mut search = Search { workers, check_deadlock, store, stats: Stats::default() };
    let mut frontier = vec![StateId::BEGINNING];
    for level in 0.. {
        let mut next: Vec<StateId> = Vec::new();
        for (index, block) in frontier.chunks(BLOCK).enumerate() {
            let position = index * BLOCK;
            let rest = frontier.len() - position;
            if let Some(end) = search.block(&frontier, position, block, level, &mut next) {
                return ExplorationOutcome { end, stats: search.stats };
            }
            search.stats.queued = (rest - block.len() + next.len()) as u64;
            let limit = if search.store.is_full() { Some(Limit::States) } else { watch(&search.stats) };
            if let Some(limit) = limit {
                let last = next.last().or(frontier.last().filter(|id| **id != StateId::BEGINNING));
                let path = last.map_or(Vec::new(), |id| search.store.path(*id).into_iter().cloned().collect());
                return ExplorationOutcome { end: End::Stopped { limit, path }, stats: search.stats };
            }
        }
        if next.is_empty() {
            break;
        }
        frontier = next;
    }
    ExplorationOutcome { end: End::Finished, stats: search.stats }
}

struct Search<'a, E: Explorer> {
    workers: &'a mut [E],
    check_deadlock: bool,
    store: Store<E::State>,
    stats: Stats,
}

impl<E: Explorer> Search<'_, E> {
    /// Explores one block of a level and adds the new states to the next level.
    fn block(
        &mut self,
        frontier: &[StateId],
        first: usize,
        block: &[StateId],
        level: usize,
        next: &mut Vec<StateId>,
    ) -> Option<End<E>> {
        let mut pieces = phases::expand(self.workers, &self.store, block, first, level, self.check_deadlock);
        let event = phases::first(pieces.iter_mut().filter_map(|piece| piece.event.take()));
        let is_alone = self.workers.len() == 1 || pieces.len() < FEW;
        let until = event.as_ref().map(|event| event.key);
        let parent = |key: Key| frontier[key.position as usize];
        let new = phases::settle(is_alone, &mut self.store, &mut pieces, until, parent);
        let event = phases::first(phases::inspect(self.workers, &self.store, &new, level).into_iter().chain(event));
        self.count(first, &pieces, &new, event.as_ref().map(|event| event.key), level);
        let Some(event) = event else {
            next.extend(new.iter().map(|new| new.id));
            return None;
        };
        let explored = if level == 0 { 1 } else { event.key.position as usize + 1 };
        let found = new.iter().filter(|new| new.key < event.key).count();
        self.stats.queued = (frontier.len() - explored + next.len() + found) as u64;
        Some(self.end(event, frontier))
    }

    /// Counts the states that one worker would have found up to this key.
    fn count(&mut self, first: usize, pieces: &[Piece<E>], new: &[New], until: Option<Key>, level: usize) {
        let until = until.unwrap_or(Key { position: u32::MAX, index: Key::END });
        for (offset, &generated) in pieces.iter().flat_map(|piece| &piece.generated).enumerate() {
            let position = (first + offset) as u32;
            self.stats.generated += match position.cmp(&until.position) {
                std::cmp::Ordering::Less => u64::from(generated),
                std::cmp::Ordering::Equal => u64::from(generated.min(until.index.saturating_add(1))),
                std::cmp::Ordering::Greater => break,
            };
        }
        if level == 0 {
            self.stats.initial = self.stats.generated;
        }
        let distinct = new.iter().filter(|new| new.key <= until).count();
        self.stats.distinct += distinct as u64;
        // TLC counts the level of initial states even if there are none.
        if distinct > 0 || level == 0 {
            self.stats.depth = level + 1;
        }
    }

    fn end(&mut self, event: Event<E>, frontier: &[StateId]) -> End<E> {
        let parent = frontier[event.key.position as usize];
        match event.kind {
            Kind::Violated { claim, state } => End::Violated { claim, trace: self.trace(parent, Some(state)) },
            Kind::Error { error, claim, state } => End::Error { error, claim, trace: self.trace(parent, state) },
            Kind::Deadlock => End::Deadlock { trace: self.trace(parent, None) },
            Kind::Exited => End::Exited,
        }
    }

    fn trace(&mut self, until: StateId, last: Option<E::State>) -> Trace<E> {
        trace(&mut self.workers[0], &self.store, until, last)
    }
}

/// The states up to a found one, and one more, with the step that led to each.
pub(super) fn trace<E: Explorer>(
    explorer: &mut E,
    store: &Store<E::State>,
    until: StateId,
    last: Option<E::State>,
) -> Trace<E> {
    let states = store.path(until).into_iter().cloned().chain(last);
    let mut trace: Trace<E> = Vec::new();
    for state in states {
        let label = trace.last().and_then(|before| {
            explorer.set_level(trace.len());
            explorer.label(&before.state, &state)
        });
        trace.push(TraceStep { label, state });
    }
    trace
}

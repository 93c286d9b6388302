//! The three phases of a block, each shared by all workers.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::store::{Shard, StateId, Store};
use super::{Claim, Explorer};

/// The time of an event: the position of a state in its level, and the index of a successor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) position: u32,
    pub(super) index: u32,
}

impl Key {
    /// After all successors.
    pub(super) const END: u32 = u32::MAX;
}

/// An event that ends a search, and its key.
pub(super) struct Event<E: Explorer> {
    pub(super) key: Key,
    pub(super) kind: Kind<E>,
}

pub(super) enum Kind<E: Explorer> {
    Violated { claim: Claim, state: E::State },
    Error { error: E::Error, claim: Option<Claim>, state: Option<E::State> },
    Deadlock,
    Exited,
}

/// A successor that no earlier block found.
pub(super) struct Found<S> {
    key: Key,
    hash: u64,
    state: S,
    distinct_by: Option<S>,
}

/// A state found for the first time.
#[derive(Clone, Copy)]
pub(super) struct New {
    pub(super) key: Key,
    pub(super) id: StateId,
}

/// The result of expanding some states of a block.
pub(super) struct Piece<E: Explorer> {
    /// The number of successors of each state, as far as they were computed.
    pub(super) generated: Vec<u32>,
    /// By shard, in the order of keys.
    found: Vec<Vec<Found<E::State>>>,
    pub(super) event: Option<Event<E>>,
}

/// The least event of a phase, if any.
pub(super) fn first<E: Explorer>(events: impl IntoIterator<Item = Event<E>>) -> Option<Event<E>> {
    events.into_iter().min_by_key(|event| event.key)
}

/// The number of states in one piece of work.
const PIECE: usize = 128;

/// Phase 1: the successors of the states of a block, whose first state has this position in the level.
pub(super) fn expand<E: Explorer>(
    workers: &mut [E],
    store: &Store<E::State>,
    block: &[StateId],
    first_position: usize,
    level: usize,
    check_deadlock: bool,
) -> Vec<Piece<E>> {
    // Pieces after one with an event are not needed.
    let last_needed = AtomicUsize::new(usize::MAX);
    share(workers, block.len().div_ceil(PIECE), |explorer, index| {
        let found = (0..store.shard_count()).map(|_| Vec::new()).collect();
        let mut piece = Piece { generated: Vec::new(), found, event: None };
        if index > last_needed.load(Ordering::Relaxed) {
            return piece;
        }
        let start = index * PIECE;
        let mut successors = Vec::new();
        for (offset, &parent) in block[start..block.len().min(start + PIECE)].iter().enumerate() {
            let position = (first_position + start + offset) as u32;
            let from = (parent != StateId::BEGINNING).then(|| store.state(parent));
            let kind = expand_one(explorer, store, from, position, level, &mut successors, &mut piece);
            let is_deadlock = check_deadlock && from.is_some() && piece.generated.last() == Some(&0);
            let event = match kind {
                Some(event) => Some(event),
                None if is_deadlock => Some((Key::END, Kind::Deadlock)),
                None if explorer.has_exited() => Some((Key::END, Kind::Exited)),
                None => None,
            };
            if let Some((successor, kind)) = event {
                piece.event = Some(Event { key: Key { position, index: successor }, kind });
                last_needed.fetch_min(index, Ordering::Relaxed);
                break;
            }
        }
        piece
    })
}

/// Computes the successors of one state, or the initial states, and keeps those that are new. If an event occurs,
/// returns the index of the successor.
fn expand_one<E: Explorer>(
    explorer: &mut E,
    store: &Store<E::State>,
    from: Option<&E::State>,
    position: u32,
    level: usize,
    successors: &mut Vec<E::State>,
    piece: &mut Piece<E>,
) -> Option<(u32, Kind<E>)> {
    explorer.set_level(level);
    let result = match from {
        Some(state) => explorer.successors(state, successors),
        None => explorer.initial(successors),
    };
    explorer.set_level(level + 1);
    piece.generated.push(successors.len() as u32 + explorer.between() as u32);
    for (index, state) in successors.drain(..).enumerate() {
        let key = Key { position, index: index as u32 };
        if let Err(kind) = keep_if_new(explorer, store, from, state, key, &mut piece.found) {
            return Some((key.index, kind));
        }
    }
    result.err().map(|error| (Key::END, Kind::Error { error, claim: None, state: None }))
}

/// Keeps a successor if it is within the constraints and new; if it is outside, checks the invariants at once, since
/// no later phase sees it.
fn keep_if_new<E: Explorer>(
    explorer: &mut E,
    store: &Store<E::State>,
    from: Option<&E::State>,
    state: E::State,
    key: Key,
    found: &mut [Vec<Found<E::State>>],
) -> Result<(), Kind<E>> {
    let distinct_by = match explorer.is_explored(from, &state) {
        Ok(true) => explorer.key(&state),
        Ok(false) => {
            let kind = judge(explorer, &state).or_else(|| judge_step(explorer, from, &state));
            return kind.map_or(Ok(()), Err);
        }
        Err(error) => Err(error),
    };
    let distinct_by = match distinct_by {
        Ok(distinct_by) => distinct_by,
        Err(error) => return Err(Kind::Error { error, claim: None, state: Some(state) }),
    };
    let distinguished = distinct_by.as_ref().unwrap_or(&state);
    let hash = store.hash(distinguished);
    // A step is checked as often as it is found, an initial state once: of several with equal views the first, which
    // the last phase checks. The invariants of the state come first: of two events with one key, that of the last phase
    // counts.
    let is_new = !store.contains(hash, distinguished);
    let kind = if from.is_some() { judge_step(explorer, from, &state) } else { None };
    if is_new {
        let state = explorer.kept(state);
        found[store.shard_of(hash)].push(Found { key, hash, state, distinct_by });
    }
    kind.map_or(Ok(()), Err)
}

/// Checks the properties of a step, or of an initial state.
fn judge_step<E: Explorer>(explorer: &mut E, from: Option<&E::State>, state: &E::State) -> Option<Kind<E>> {
    match explorer.violated_property(from, state) {
        Ok(None) => None,
        Ok(Some(property)) => Some(Kind::Violated { claim: Claim::Property(property), state: state.clone() }),
        Err((property, error)) => {
            Some(Kind::Error { error, claim: Some(Claim::Property(property)), state: Some(state.clone()) })
        }
    }
}

/// Checks the invariants.
fn judge<E: Explorer>(explorer: &mut E, state: &E::State) -> Option<Kind<E>> {
    match explorer.violated(state) {
        Ok(None) => None,
        Ok(Some(invariant)) => Some(Kind::Violated { claim: Claim::Invariant(invariant), state: state.clone() }),
        Err((invariant, error)) => {
            Some(Kind::Error { error, claim: Some(Claim::Invariant(invariant)), state: Some(state.clone()) })
        }
    }
}

/// Phase 2: adds the states found before an event to the store; returns the new ones, in the order of keys.
pub(super) fn settle<E: Explorer>(
    is_alone: bool,
    store: &mut Store<E::State>,
    pieces: &mut [Piece<E>],
    until: Option<Key>,
    parent: impl Fn(Key) -> StateId + Sync,
) -> Vec<New> {
    let mut by_shard: Vec<Vec<Vec<Found<E::State>>>> = (0..store.shard_count()).map(|_| Vec::new()).collect();
    for piece in pieces {
        for (shard, found) in piece.found.iter_mut().enumerate() {
            by_shard[shard].push(std::mem::take(found));
        }
    }
    let add = |shard: &mut Shard<E::State>, found: Vec<Vec<Found<E::State>>>| {
        let is_before = |found: &Found<E::State>| until.is_none_or(|until| found.key <= until);
        let found = found.into_iter().flatten().filter(is_before);
        let add = |found: Found<E::State>| {
            let id = shard.insert(found.hash, found.state, found.distinct_by, parent(found.key))?;
            Some(New { key: found.key, id })
        };
        found.filter_map(add).collect::<Vec<New>>()
    };
    let shards = store.shards().iter_mut().zip(by_shard);
    let mut new: Vec<New> = if is_alone {
        shards.flat_map(|(shard, found)| add(shard, found)).collect()
    } else {
        let add = &add;
        std::thread::scope(|scope| {
            let threads: Vec<_> = shards.map(|(shard, found)| scope.spawn(move || add(shard, found))).collect();
            threads.into_iter().flat_map(|thread| joined(thread.join())).collect()
        })
    };
    new.sort_unstable_by_key(|new| new.key);
    new
}

/// Phase 3: checks the invariants of the new states, and the properties of initial ones; returns the event with the
/// least key, if any.
pub(super) fn inspect<E: Explorer>(
    workers: &mut [E],
    store: &Store<E::State>,
    new: &[New],
    level: usize,
) -> Option<Event<E>> {
    let last_needed = AtomicUsize::new(usize::MAX);
    let events = share(workers, new.len().div_ceil(PIECE), |explorer, index| {
        if index > last_needed.load(Ordering::Relaxed) {
            return None;
        }
        // This worker may have expanded no state of the level.
        explorer.set_level(level + 1);
        let event = new[index * PIECE..].iter().take(PIECE).find_map(|new| {
            let state = store.state(new.id);
            let initial = |explorer: &mut E| (level == 0).then(|| judge_step(explorer, None, state)).flatten();
            let kind = judge(explorer, state).or_else(|| initial(explorer))?;
            Some(Event { key: new.key, kind })
        });
        if event.is_some() {
            last_needed.fetch_min(index, Ordering::Relaxed);
        }
        event
    });
    first(events.into_iter().flatten())
}

/// With fewer pieces of work than this, waking another worker does not pay off.
pub(super) const FEW: usize = 4;

/// Runs tasks on the workers, each taking the next one when it is done; returns the results in order.
fn share<E: Send, T: Send>(workers: &mut [E], tasks: usize, run: impl Fn(&mut E, usize) -> T + Sync) -> Vec<T> {
    if workers.len() == 1 || tasks < FEW {
        return (0..tasks).map(|task| run(&mut workers[0], task)).collect();
    }
    let next = AtomicUsize::new(0);
    let (next, run) = (&next, &run);
    let mut results: Vec<(usize, T)> = std::thread::scope(|scope| {
        let work = |worker: &mut E| {
            let mut results = Vec::new();
            loop {
                let task = next.fetch_add(1, Ordering::Relaxed);
                if task >= tasks {
                    return results;
                }
                results.push((task, run(worker, task)));
            }
        };
        let threads: Vec<_> = workers.iter_mut().map(|worker| scope.spawn(move || work(worker))).collect();
        threads.into_iter().flat_map(|thread| joined(thread.join())).collect()
    });
    results.sort_unstable_by_key(|(task, _)| *task);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Propagates a panic of a worker to the waiting thread.
fn joined<T>(result: std::thread::Result<T>) -> T {
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

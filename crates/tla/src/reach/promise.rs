//! Properties of the form `[](p => []q)`: once `p` was true, `q` stays true.
//!
//! Specifications for the validation of traces ask with such a property whether states are left to explore: `q` reads
//! the length of the queue, so the answer depends on when it is asked. TLC asks after all successors of a state were
//! computed: it evaluates `p` and `q` for each of them and for the state itself, and remembers for each state whether
//! the promise was given on some way to it, and whether it was broken there. The promise is violated once a state in
//! which it was broken has been explored. A state that was explored before the promise reached it passes it on to its
//! successors, which are computed again.

use super::Explorer;
use super::store::{StateId, Store};

/// The known facts about one promise in one state.
#[derive(Clone, Copy, Default)]
struct Mark {
    is_given: bool,
    is_broken: bool,
}

/// The known facts about every promise in every state, by the number of the state.
pub(super) struct Promises {
    marks: Vec<Vec<Mark>>,
    is_explored: Vec<bool>,
}

/// A violated promise, or one that could not be evaluated.
pub(super) struct Broken<E: Explorer> {
    pub(super) promise: usize,
    /// The last state of the behavior, or the one before.
    pub(super) id: StateId,
    /// The last state, if it is another.
    pub(super) last: Option<E::State>,
    pub(super) error: Option<E::Error>,
}

impl Promises {
    pub(super) fn new(count: usize) -> Promises {
        Promises { marks: vec![Vec::new(); count], is_explored: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Evaluates the promises in a new initial state.
    pub(super) fn begin<E: Explorer>(
        &mut self,
        explorer: &mut E,
        id: StateId,
        state: &E::State,
    ) -> Result<(), Broken<E>> {
        for promise in 0..self.marks.len() {
            let (p, q) = explorer.promise(promise, state).map_err(|error| failed(promise, id, None, error))?;
            *self.mark(promise, id) = Mark { is_given: p, is_broken: p && !q };
        }
        Ok(())
    }

    /// Evaluates the promises after a state was explored, given its level and its successors.
    pub(super) fn expanded<E: Explorer>(
        &mut self,
        explorer: &mut E,
        store: &Store<E::State>,
        (id, level): (StateId, usize),
        successors: &[StateId],
    ) -> Result<(), Broken<E>> {
        set(&mut self.is_explored, id, true);
        for promise in 0..self.marks.len() {
            if self.mark(promise, id).is_broken {
                return Err(Broken { promise, id, last: None, error: None });
            }
            let mut todo = vec![(id, level, successors.to_vec())];
            while let Some((id, level, successors)) = todo.pop() {
                for to in std::iter::once(id).chain(successors) {
                    let state = store.state(to);
                    explorer.set_level(if to == id { level } else { level + 1 });
                    let last = || (to != id).then(|| state.clone());
                    let (p, q) =
                        explorer.promise(promise, state).map_err(|error| failed(promise, id, last(), error))?;
                    let is_given = p && explorer.is_promised_anew(promise) || self.mark(promise, id).is_given;
                    let before = *self.mark(promise, to);
                    let is_broken = is_given && !q;
                    let after =
                        Mark { is_given: before.is_given || is_given, is_broken: before.is_broken || is_broken };
                    *self.mark(promise, to) = after;
                    let is_explored = self.is_explored.get(to.index()).copied().unwrap_or(false);
                    if is_broken && is_explored {
                        return Err(Broken { promise, id, last: last(), error: None });
                    }
                    if is_explored && to != id && is_given && !before.is_given {
                        let successors = successors_again(explorer, store, state, level + 1)
                            .map_err(|error| failed(promise, id, last(), error))?;
                        todo.push((to, level + 1, successors));
                    }
                }
            }
            explorer.set_level(level + 1);
        }
        Ok(())
    }

    fn mark(&mut self, promise: usize, id: StateId) -> &mut Mark {
        let marks = &mut self.marks[promise];
        if marks.len() <= id.index() {
            marks.resize(id.index() + 1, Mark::default());
        }
        &mut marks[id.index()]
    }
}

/// The known successors of a state that was explored before.
fn successors_again<E: Explorer>(
    explorer: &mut E,
    store: &Store<E::State>,
    state: &E::State,
    level: usize,
) -> Result<Vec<StateId>, E::Error> {
    let mut states = Vec::new();
    explorer.set_level(level);
    explorer.successors(state, &mut states)?;
    explorer.set_level(level + 1);
    let mut known = Vec::new();
    for successor in states {
        if explorer.is_explored(Some(state), &successor)? {
            let key = explorer.key(&successor)?;
            let distinguished = key.as_ref().unwrap_or(&successor);
            known.extend(store.find(store.hash(distinguished), distinguished));
        }
    }
    Ok(known)
}

fn failed<E: Explorer>(promise: usize, id: StateId, last: Option<E::State>, error: E::Error) -> Broken<E> {
    Broken { promise, id, last, error: Some(error) }
}

fn set(flags: &mut Vec<bool>, id: StateId, flag: bool) {
    if flags.len() <= id.index() {
        flags.resize(id.index() + 1, false);
    }
    flags[id.index()] = flag;
}

//! Checks one stretch of a history: from states in which an earlier stretch ended, to states in which the next begins.
//!
//! At an instant at which no operation is in flight, all that the past means for the future is the set of states that
//! the object may be in. A stretch is cut at the last such instant before its end. The operations after it, which may
//! overlap with ones that are not known yet, belong to the next stretch as well. Operations that end after the cut are not
//! decided before it: they may need an operation that starts later.

use omnilink_history::Op;
use omnilink_search::{Checker, Options, Witness};

use crate::Model;
use crate::check::{Checked, Error, Method, Watcher, confirmed, show, watched};

/// The result of checking a stretch.
#[derive(Debug)]
pub struct Stretch<S> {
    /// The verdict, and the work it took.
    pub checked: Checked,
    /// The number of operations.
    pub operations: u64,
    /// What the next stretch begins with, if requested and if this one is accepted.
    pub carried: Option<Carried<S>>,
}

/// What the next stretch begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried<S> {
    /// The states that the object may have been in at the last instant without an operation in flight.
    pub states: Vec<S>,
    /// The number of operations after that instant: the last ones of the stretch.
    pub since: u64,
}

/// Checks operations as they come in, by increasing start; `None` as the call is an operation that constrains nothing.
/// Begins in the given states, or in the initial ones. If `cut` is a time before which no operation of the next stretch
/// starts, finds what that one begins with.
pub fn check_stretch<M: Model, E: From<Error>>(
    model: &M,
    begin: Option<Vec<M::State>>,
    cut: Option<u64>,
    mut next: impl FnMut() -> Result<Option<Op<Option<M::Op>>>, E>,
    options: &Options,
    watcher: &dyn Watcher,
) -> Result<Stretch<M::State>, E> {
    let watch = &mut watched(watcher);
    let mut checker = confirmed(match begin {
        Some(states) => Checker::from_states(model, states, options),
        None => Checker::new(model, options),
    })?;
    let states = |checker: &Checker<'_, M>| -> Option<Vec<M::State>> {
        Some(checker.possible()?.into_iter().map(|(_, state)| state.clone()).collect())
    };
    let mut at_cut = cut.and_then(|_| states(&checker));
    let (mut operations, mut since, mut busy_until, mut is_open) = (0, 0, None, true);
    while let Some(mut op) = next()? {
        operations += 1;
        let start = op.interval.start();
        if cut.is_some() && is_open && busy_until.is_some_and(|end| end < start) {
            is_open = !confirmed(checker.advance(start, watch))?.is_decided();
            (at_cut, since) = (states(&checker), 0);
        }
        since += 1;
        if let Some(call) = op.call.take()
            && is_open
        {
            busy_until = busy_until.max(Some(op.interval.deadline()));
            is_open = !confirmed(checker.push(op.with(call), watch))?.is_decided();
        }
    }
    if let Some(cut) = cut
        && is_open
    {
        is_open = !confirmed(checker.advance(cut, watch))?.is_decided();
        if busy_until.is_none_or(|end| end < cut) {
            (at_cut, since) = (states(&checker), 0);
        }
    }
    let checked = match cut {
        // An operation that is in flight at the cut may need one that starts later, so it is not decided here.
        Some(_) if is_open => Checked::in_given_order(Witness::default()),
        _ => show(model, Vec::new(), Method::Search, confirmed(checker.finish(watch))?),
    };
    let carried = at_cut.filter(|_| is_open && checked.verdict.is_accepted());
    Ok(Stretch { checked, operations, carried: carried.map(|states| Carried { states, since }) })
}

#[cfg(test)]
mod tests {
    use omnilink_history::{Call, History};
    use omnilink_search::Unwatched;
    use proptest::prelude::*;

    use super::*;
    use crate::register::Register;

    type Step = (u32, u64, u64, bool, i64);

    /// A history of reads and writes of small values, by increasing start.
    fn history(steps: &[Step]) -> History<Call> {
        let mut clocks = [0_u64; 3];
        let calls = steps.iter().map(|&(process, wait, long, is_write, value)| {
            let start = clocks[process as usize] + wait;
            clocks[process as usize] = start + long + 1;
            let call = match is_write {
                true => Call::positional("write", [value.into()], []),
                false => Call::positional("read", [], [value.into()]),
            };
            (process, start, Some(start + long), call)
        });
        History::from_calls(calls.collect::<Vec<_>>()).expect("processes that run one operation at a time")
    }

    /// Whether the operations are accepted in stretches that end at these times.
    fn in_stretches(history: &History<Call>, cuts: &[u64]) -> bool {
        let (mut carried, mut tail): (Option<Vec<_>>, Vec<Op<Call>>) = (None, Vec::new());
        let mut rest = history.ops().iter().cloned().peekable();
        for &cut in cuts.iter().chain([&u64::MAX]) {
            let mut ops = std::mem::take(&mut tail);
            while let Some(op) = rest.next_if(|op| op.interval.start() < cut) {
                ops.push(op);
            }
            // Each stretch has a model, and so an interner, of its own.
            let model = Register::new(&0.into());
            let begin = carried.take().map(|saved: Vec<omnilink_history::Value>| {
                saved.iter().map(|saved| model.load(saved).expect("a state that was saved")).collect()
            });
            let mut next = ops.iter();
            let next = || Ok::<_, Error>(next.next().map(|op| op.with(model.bind(op).expect("a call of a register"))));
            let found =
                check_stretch(&model, begin, Some(cut), next, &Options::default(), &Unwatched).expect("a result");
            let Some(after) = found.carried else { return false };
            carried = Some(after.states.iter().map(|state| model.save(state).expect("a state to save")).collect());
            tail = ops.split_off(ops.len() - after.since as usize);
        }
        true
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn stretches_accept_what_the_whole_accepts(
            steps in prop::collection::vec((0..3_u32, 0..4_u64, 0..5_u64, any::<bool>(), 0..3_i64), 1..14),
            cuts in prop::collection::btree_set(0..40_u64, 0..6),
        ) {
            let history = history(&steps);
            let model = Register::new(&0.into());
            let whole = crate::check::check(&model, &history, &crate::check::ModelOptions::default(), &Unwatched);
            let cuts: Vec<u64> = cuts.into_iter().collect();
            prop_assert_eq!(in_stretches(&history, &cuts), whole.expect("a result").verdict.is_accepted());
        }
    }
}

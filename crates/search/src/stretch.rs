//! Checks one stretch of a history: from states in which an earlier stretch ended, to states in which the next begins.
//!
//! At an instant at which no operation is in flight, all that the past means for the future is the set of states that
//! the object may be in. A stretch is cut at the last such instant before its end. The operations after it, which may
//! overlap with ones that are not known yet, belong to the next stretch as well. Operations that end after the cut are not
//! decided before it: they may need an operation that starts later.

use omnilink_history::{Op, Verdict};

use crate::check::{CheckError, Checker, Options, Report};
use crate::observe::Watch;
use crate::replay::Witness;
use crate::spec::Spec;

/// The result of checking a stretch.
#[derive(Debug)]
pub struct Stretch<S> {
    /// The verdict, and the work it took. The witness of an accepted stretch is empty if there is a cut.
    pub report: Report<S>,
    /// The number of operations.
    pub operations: u64,
    /// The beginning of the next stretch, if requested and if this one is accepted.
    pub cut: Option<Cut<S>>,
}

/// The beginning of the next stretch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut<S> {
    /// The states that the object may have been in at the last instant without an operation in flight.
    pub states: Vec<S>,
    /// The number of operations after that instant: the last ones of the stretch.
    pub since: u64,
}

impl<S> Cut<S> {
    /// The same beginning with states in another form.
    pub fn try_map<T, E>(self, state: impl Fn(&S) -> Result<T, E>) -> Result<Cut<T>, E> {
        let states = self.states.iter().map(state).collect::<Result<_, E>>()?;
        Ok(Cut { states, since: self.since })
    }
}

/// Checks operations as they come in, by increasing start; `None` as the call is an operation that constrains nothing.
/// Begins in the given states, or in the initial ones. If `cut` is a time before which no operation of the next stretch
/// starts, finds the beginning of that one.
pub fn check_stretch<S: Spec, E>(
    spec: &S,
    begin: Option<Vec<S::State>>,
    cut: Option<u64>,
    mut next: impl FnMut() -> Result<Option<Op<Option<S::Op>>>, E>,
    options: &Options,
    watch: &dyn Watch,
    fail: impl Fn(CheckError<S::Error>) -> E,
) -> Result<Stretch<S::State>, E> {
    let checker = match begin {
        Some(states) => Checker::from_states(spec, states, options),
        None => Checker::new(spec, options),
    };
    let mut checker = checker.map_err(&fail)?;
    let states = |checker: &Checker<'_, S>| -> Option<Vec<S::State>> {
        Some(checker.possible()?.into_iter().map(|(_, state)| state.clone()).collect())
    };
    let mut at_cut = cut.and_then(|_| states(&checker));
    let (mut operations, mut since, mut busy_until, mut is_open) = (0, 0, None, true);
    while let Some(mut op) = next()? {
        operations += 1;
        let start = op.interval.start();
        if cut.is_some() && is_open && busy_until.is_some_and(|end| end < start) {
            is_open = !checker.advance(start, watch).map_err(&fail)?.is_decided();
            (at_cut, since) = (states(&checker), 0);
        }
        since += 1;
        if let Some(call) = op.call.take()
            && is_open
        {
            busy_until = busy_until.max(Some(op.interval.deadline()));
            is_open = !checker.push(op.with(call), watch).map_err(&fail)?.is_decided();
        }
    }
    if let Some(cut) = cut
        && is_open
    {
        is_open = !checker.advance(cut, watch).map_err(&fail)?.is_decided();
        if busy_until.is_none_or(|end| end < cut) {
            (at_cut, since) = (states(&checker), 0);
        }
    }
    if cut.is_some() && is_open {
        // An operation that is in flight at the cut may need one that starts later, so it is not decided here.
        let stats = checker.stats().clone();
        let report = Report { verdict: Verdict::Accepted(Witness::default()), settled: Witness::default(), stats };
        return Ok(Stretch { report, operations, cut: at_cut.map(|states| Cut { states, since }) });
    }
    Ok(Stretch { report: checker.finish(watch).map_err(&fail)?, operations, cut: None })
}

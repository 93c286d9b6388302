//! Levels at which the operations that an operation has to see depend on the order alone.
//!
//! Then the visible sets of operations are independent of each other, and no choice has to be searched: a configuration
//! carries, beside the state after all placed operations, the *set* of states that an operation may see. [`Views`] is the
//! specification lifted to such configurations, so the search, its limits, its witnesses and its streaming are those of
//! linearizability.
//!
//! There are four views. With `x` the operation that is placed, each is the set of states of all runs of visible
//! operations, by induction on the order:
//! - *complete*: one state, after every operation. Several successors are several configurations, as ever.
//! - *session* of a process: `x` must be in it if it is of that process, and otherwise may be: `V := V ∪ post(V, x)`.
//! - *weak*: `x` may be in it.
//! - *overlap*: an operation `q` must see the operations that ended before it began, and may miss those that overlap it.
//!   One set serves all `q`: each state comes with the time at which the first of the operations ended that its run has
//!   *missed*, and `q` may use it if `q` began by then. Of two runs that lead to one state, the one with the later time
//!   serves every operation that the other serves. Only the starts of operations that may miss something distinguish times,
//!   so a time is rounded down to the last of these. Once every operation that began by that time has been placed, the run
//!   is dropped: the operations that ended before the start of a placed operation have been placed as well, so the
//!   operation placed last shows this. An operation that begins at the instant at which others of its process ended must
//!   see these, so runs also list the *touched* operations that they missed, by process and end; there are hardly any.
//!
//! In a view other than the complete one, an operation that never changes anything is left out. Of the others, one with
//! complete visibility must be possible with its recorded results, and any other may have had any results, because it may
//! have seen other operations ([`Context::Free`]); or all must be possible with their recorded results
//! ([`Context::Recorded`]). A run in which an operation is impossible does not count.
//!
//! Reductions: an operation that changes no view is an observer. Two operations commute if they do in the specification,
//! with recorded results and with any, because a view then contains the same runs in both orders, and the results of each
//! are explained in both: a view that need not contain the other operation loses no run by it. The complete view does, if
//! that operation is impossible there. So one with complete visibility commutes only with those that are possible in every
//! state. A view covers another one whose runs it contains: it explains everything that one of these explains, now and
//! after any operation. The search claims no other relations between operations.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};

use omnilink_history::{Precedence, ProcessId};
use omnilink_search::{Spec, Successors};
use rustc_hash::FxHasher;
use smallvec::SmallVec;

use crate::visibility::Visibility;

/// The results that visible operations may have had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Context {
    /// Operations that may miss something may have had any results, the others those that were recorded.
    #[default]
    Free,
    /// All operations have had the results that were recorded.
    Recorded,
}

/// An operation in both forms.
#[derive(Clone, Debug)]
pub struct Forms<T> {
    /// With the recorded results.
    pub recorded: T,
    /// With any results; `None` if it then never changes anything.
    pub free: Option<T>,
}

/// An operation and its place in the history.
#[derive(Debug)]
pub(crate) struct Viewed<'h, T> {
    pub(crate) forms: &'h Forms<T>,
    pub(crate) visibility: Visibility,
    pub(crate) process: ProcessId,
    /// Its place in the history.
    pub(crate) place: u32,
    pub(crate) start: u64,
    pub(crate) deadline: u64,
    /// The latest start of an operation that may miss it, if there is one.
    pub(crate) missable: Option<u64>,
    /// True if the next operation of its process began when it ended.
    pub(crate) is_touched: bool,
    /// True if it began when the last operation of its process ended. Several may have ended then.
    pub(crate) touches: bool,
    /// True if it has no results to explain, is possible in every state, and may see everything before it.
    pub(crate) is_explained: bool,
    /// True if it never changes anything, whatever its results.
    pub(crate) is_pure: bool,
}

impl<T> Clone for Viewed<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Viewed<'_, T> {}

impl<T> PartialEq for Viewed<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl<T> Eq for Viewed<'_, T> {}

impl<'h, T> Viewed<'h, T> {
    /// Its form in the views of others; `None` if it changes nothing there.
    pub(crate) fn form(&self, context: Context) -> Option<&'h T> {
        if self.is_pure {
            return None;
        }
        match (self.visibility, context) {
            (Visibility::Complete, _) | (_, Context::Recorded) => Some(&self.forms.recorded),
            (_, Context::Free) => self.forms.free.as_ref(),
        }
    }

    /// True if it may miss an earlier operation.
    pub(crate) fn may_miss(&self, other: &Viewed<'_, T>) -> bool {
        match self.visibility {
            Visibility::Complete => false,
            Visibility::Session => other.process != self.process,
            Visibility::Weak => true,
            _ => other.deadline >= self.start && other.process != self.process,
        }
    }
}

/// A specification lifted to views.
pub(crate) struct Views<'s, 'h, S: Spec> {
    pub(crate) spec: &'s S,
    pub(crate) context: Context,
    /// True if everything before an operation is a run.
    pub(crate) has_runs: bool,
    /// All operations, by place.
    pub(crate) ops: Vec<Viewed<'h, S::Op>>,
    /// The processes with operations of visibility `session`.
    pub(crate) sessions: Vec<ProcessId>,
    pub(crate) has_complete: bool,
    pub(crate) has_overlap: bool,
    pub(crate) has_weak: bool,
    /// Of the operations that may miss those that overlap them: each start, and the latest deadline so far.
    pub(crate) latest: Vec<(u64, u64)>,
    pub(crate) successors: RefCell<Successors<S::State>>,
}

/// The states that operations may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View<S> {
    /// The state after all operations; `None` if there is no such run, or if no operation needs it.
    complete: Option<S>,
    overlap: Overlap<S>,
    /// The other views, if some operation needs them.
    rest: Option<Box<Rest<S>>>,
}

/// The states after runs that may have missed some operations.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Overlap<S> {
    /// The complete view alone: no operation can be missed now.
    Complete,
    /// One run that missed nothing.
    One(S),
    Runs(Vec<Near<S>>),
}

/// Views that cover each other have equal hashes.
impl<S: Hash> Hash for View<S> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.complete.hash(hasher);
    }
}

impl<S: Eq> View<S> {
    fn covers(&self, other: &View<S>) -> bool {
        let overlap = match (&self.overlap, &other.overlap) {
            (Overlap::Complete, Overlap::Complete) => true,
            (Overlap::One(a), Overlap::One(b)) => a == b,
            (Overlap::Runs(a), Overlap::Runs(b)) => {
                let covers = |a: &Near<S>, b: &Near<S>| a.state == b.state && a.missed.is_within(&b.missed);
                b.iter().all(|b| a.iter().any(|a| covers(a, b)))
            }
            (Overlap::Runs(a), Overlap::One(b)) => a.iter().any(|a| a.missed.until == u64::MAX && a.state.state == *b),
            (Overlap::Runs(a), Overlap::Complete) => other
                .complete
                .as_ref()
                .is_none_or(|b| a.iter().any(|a| a.missed.until == u64::MAX && a.state.state == *b)),
            _ => false,
        };
        let rest = || match (&self.rest, &other.rest) {
            (Some(a), Some(b)) => {
                a.weak.contains_all(&b.weak) && a.sessions.iter().zip(&b.sessions).all(|(a, b)| a.contains_all(b))
            }
            _ => true,
        };
        self.complete == other.complete && overlap && rest()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rest<S> {
    /// By session.
    sessions: Vec<States<S>>,
    weak: States<S>,
}

/// A state after a run that missed some operations.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Near<S> {
    state: Hashed<S>,
    missed: Missed,
}

/// The relevant operations that a run missed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Missed {
    /// Operations that began by this time may have missed them.
    until: u64,
    /// The processes and ends of the touched ones among them, sorted; hardly ever any.
    touched: Option<Box<[(ProcessId, u64)]>>,
}

impl Missed {
    fn nothing() -> Missed {
        Missed { until: u64::MAX, touched: None }
    }

    /// True if every operation that may have missed `other` may have missed this.
    fn is_within(&self, other: &Missed) -> bool {
        self.until >= other.until && self.touched().iter().all(|touched| other.touched().contains(touched))
    }

    fn with<T>(&self, op: &Viewed<'_, T>, until: u64) -> Missed {
        let mut touched = self.touched.clone();
        if op.is_touched {
            let mut all = [self.touched(), &[(op.process, op.deadline)]].concat();
            all.sort_unstable();
            all.dedup();
            touched = Some(all.into());
        }
        Missed { until: self.until.min(until), touched }
    }

    fn touched(&self) -> &[(ProcessId, u64)] {
        self.touched.as_deref().unwrap_or_default()
    }

    fn may_be_of<T>(&self, op: &Viewed<'_, T>) -> bool {
        self.until >= op.start && !(op.touches && self.touched().contains(&(op.process, op.start)))
    }
}

/// A state with its hash, by which sets are sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hashed<S> {
    hash: u64,
    state: S,
}

impl<S: Hash> Hashed<S> {
    fn new(state: S) -> Hashed<S> {
        let mut hasher = FxHasher::default();
        state.hash(&mut hasher);
        Hashed { hash: hasher.finish(), state }
    }
}

/// A set of states.
#[derive(Clone, Debug, PartialEq, Eq)]
struct States<S>(Vec<Hashed<S>>); // Sorted by hash, no two equal.

impl<S> Default for States<S> {
    fn default() -> States<S> {
        States(Vec::new())
    }
}

impl<S: Eq> States<S> {
    fn contains_all(&self, other: &States<S>) -> bool {
        let mut own = self.0.iter();
        // Both are sorted by hash; equal hashes of different states are rare, and then the answer may be false.
        self.0.len() >= other.0.len() && other.0.iter().all(|state| own.any(|own| own == state))
    }

    fn insert(&mut self, state: Hashed<S>) {
        let from = self.0.partition_point(|other| other.hash < state.hash);
        let equal = self.0[from..].iter().take_while(|other| other.hash == state.hash);
        if !equal.into_iter().any(|other| other.state == state.state) {
            self.0.insert(from, state);
        }
    }
}

impl<'h, S: Spec> Views<'_, 'h, S> {
    /// The form of an operation in the views of others; `None` if it changes nothing there.
    pub(crate) fn form(&self, op: &Viewed<'h, S::Op>) -> Option<&'h S::Op> {
        op.form(self.context)
    }

    /// Adds the states that an operation leads to.
    pub(crate) fn post(
        &self,
        state: &S::State,
        op: &S::Op,
        add: impl FnMut(S::State),
    ) -> Result<(), ViewError<S::Error>> {
        let successors = &mut *self.successors.borrow_mut();
        self.spec.step(state, op, successors).map_err(ViewError::Spec)?;
        let (done, partway) = successors.drain();
        done.for_each(add);
        if partway.count() > 0 { Err(ViewError::Partway) } else { Ok(()) }
    }

    /// True if a state explains the results of an operation.
    pub(crate) fn accepts(&self, state: &S::State, op: &Viewed<'h, S::Op>) -> Result<bool, ViewError<S::Error>> {
        if self.spec.is_observer(&op.forms.recorded) {
            return self.spec.allows(state, &op.forms.recorded).map_err(ViewError::Spec);
        }
        let mut is_allowed = false;
        self.post(state, &op.forms.recorded, |_| is_allowed = true)?;
        Ok(is_allowed)
    }

    /// The states that an operation may see.
    pub(crate) fn seen_by(&self, view: &View<S::State>, op: &Viewed<'h, S::Op>) -> Vec<S::State> {
        let mut seen = Vec::new();
        let all: Result<bool, std::convert::Infallible> = self.any_seen(view, op, |state| {
            seen.push(state.clone());
            Ok(false)
        });
        let Ok(_) = all;
        seen
    }

    /// Whether any state that an operation may see satisfies a condition.
    fn any_seen<E>(
        &self,
        view: &View<S::State>,
        op: &Viewed<'h, S::Op>,
        mut is_such: impl FnMut(&S::State) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let states = match (op.visibility, &view.rest) {
            (Visibility::Weak, Some(rest)) => &rest.weak,
            (Visibility::Session, Some(rest)) => {
                let session = self.sessions.iter().position(|&process| process == op.process);
                match session {
                    Some(session) => &rest.sessions[session],
                    None => return Ok(false),
                }
            }
            (Visibility::Complete, _) => return view.complete.as_ref().map_or(Ok(false), is_such),
            _ => match &view.overlap {
                Overlap::Complete => return view.complete.as_ref().map_or(Ok(false), is_such),
                Overlap::One(state) => return is_such(state),
                Overlap::Runs(runs) => {
                    let serves = |near: &&Near<S::State>| near.missed.may_be_of(op);
                    for near in runs.iter().filter(serves) {
                        if is_such(&near.state.state)? {
                            return Ok(true);
                        }
                    }
                    return Ok(false);
                }
            },
        };
        for seen in &states.0 {
            if is_such(&seen.state)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if every operation that may miss the operations that this run missed has been placed, once one that began at
    /// `start` is placed.
    fn is_over(&self, missed: &Missed, start: u64) -> bool {
        let began = self.latest.partition_point(|&(start, _)| start <= missed.until);
        missed.until != u64::MAX && began.checked_sub(1).is_none_or(|last| self.latest[last].1 < start)
    }

    /// True if some state that an operation may see explains its results.
    fn is_explained(&self, view: &View<S::State>, op: &Viewed<'h, S::Op>) -> Result<bool, ViewError<S::Error>> {
        if op.is_explained {
            return Ok(true);
        }
        self.any_seen(view, op, |state| self.accepts(state, op))
    }

    /// The overlap view after an operation that changes it.
    fn overlap_after(
        &self,
        view: &View<S::State>,
        op: &Viewed<'h, S::Op>,
        form: &S::Op,
    ) -> Result<Overlap<S::State>, ViewError<S::Error>> {
        let mut after: Vec<Near<S::State>> = Vec::new();
        let mut add = |state: &S::State, missed: &Missed| -> Result<(), ViewError<S::Error>> {
            self.post(state, form, |state| insert_near(&mut after, Hashed::new(state), missed.clone()))?;
            if let Some(until) = op.missable {
                insert_near(&mut after, Hashed::new(state.clone()), missed.with(op, until));
            }
            Ok(())
        };
        match (&view.overlap, &view.complete) {
            (Overlap::Complete, None) => {}
            (Overlap::Complete, Some(state)) | (Overlap::One(state), _) => add(state, &Missed::nothing())?,
            (Overlap::Runs(runs), _) => {
                for near in runs {
                    if !self.is_over(&near.missed, op.start) {
                        add(&near.state.state, &near.missed)?;
                    }
                }
            }
        }
        Ok(match after.as_slice() {
            [near] if near.missed.until == u64::MAX => Overlap::One(after.swap_remove(0).state.state),
            _ => Overlap::Runs(after),
        })
    }

    fn rest_after(
        &self,
        rest: &Rest<S::State>,
        op: &Viewed<'h, S::Op>,
        form: &S::Op,
    ) -> Result<Rest<S::State>, ViewError<S::Error>> {
        let after = |states: &States<S::State>, must_see: bool| -> Result<_, ViewError<S::Error>> {
            let mut after = if must_see { States::default() } else { states.clone() };
            for seen in &states.0 {
                self.post(&seen.state, form, |state| after.insert(Hashed::new(state)))?;
            }
            Ok(after)
        };
        let sessions = rest.sessions.iter().zip(&self.sessions);
        let sessions =
            sessions.map(|(states, process)| after(states, op.process == *process)).collect::<Result<_, _>>()?;
        Ok(Rest { sessions, weak: after(&rest.weak, false)? })
    }
}

/// True if an operation is possible after all operations before it: one with complete visibility has seen the same, and any
/// other has to be possible in every state.
pub(crate) fn is_always_possible<S: Spec>(spec: &S, context: Context, op: &Viewed<'_, S::Op>) -> bool {
    op.visibility == Visibility::Complete || op.form(context).is_none_or(|form| spec.is_total(form))
}

/// Adds a state unless an equal one has missed no more; removes equal ones that have missed more.
fn insert_near<S: Eq>(all: &mut Vec<Near<S>>, state: Hashed<S>, missed: Missed) {
    let from = all.partition_point(|old| old.state.hash < state.hash);
    let mut place = from;
    while place < all.len() && all[place].state.hash == state.hash {
        let old = &all[place];
        match old.state.state == state.state {
            true if old.missed.is_within(&missed) => return,
            true if missed.is_within(&old.missed) => drop(all.remove(place)),
            _ => place += 1,
        }
    }
    all.insert(from, Near { state, missed });
}

/// The reason why a view could not be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViewError<E> {
    /// The spec could not be evaluated.
    #[error("{0}")]
    Spec(E),
    /// An operation takes several steps.
    #[error("an operation takes several steps, and what others see of it is defined for operations of one step only")]
    Partway,
}

impl<'h, S: Spec> Spec for Views<'_, 'h, S> {
    type Op = Viewed<'h, S::Op>;
    type State = View<S::State>;
    type Error = ViewError<S::Error>;

    fn initial(&self, out: &mut Vec<View<S::State>>) -> Result<(), Self::Error> {
        let mut states = Vec::new();
        self.spec.initial(&mut states).map_err(ViewError::Spec)?;
        let mut all = States::default();
        states.iter().for_each(|state| all.insert(Hashed::new(state.clone())));
        let overlap = match states.as_slice() {
            [state] if self.has_overlap && !self.has_complete => Overlap::One(state.clone()),
            [_, _, ..] if self.has_overlap => {
                let mut runs = Vec::new();
                states.iter().for_each(|state| insert_near(&mut runs, Hashed::new(state.clone()), Missed::nothing()));
                Overlap::Runs(runs)
            }
            _ => Overlap::Complete,
        };
        let weak = if self.has_weak { all.clone() } else { States::default() };
        let rest = (self.has_weak || !self.sessions.is_empty())
            .then(|| Box::new(Rest { sessions: vec![all; self.sessions.len()], weak }));
        let view = |complete| View { complete, overlap: overlap.clone(), rest: rest.clone() };
        match self.has_complete {
            true => out.extend(states.into_iter().map(|state| view(Some(state)))),
            false if states.is_empty() => {}
            false => out.push(view(None)),
        }
        Ok(())
    }

    fn step(
        &self,
        view: &View<S::State>,
        op: &Viewed<'h, S::Op>,
        out: &mut Successors<View<S::State>>,
    ) -> Result<(), Self::Error> {
        let is_complete = op.visibility == Visibility::Complete;
        if !is_complete && !self.is_explained(view, op)? {
            return Ok(());
        }
        let form = self.form(op);
        let mut complete: SmallVec<[Option<S::State>; 2]> = SmallVec::new();
        match (if is_complete { Some(&op.forms.recorded) } else { form }, &view.complete) {
            (None, state) => complete.push(state.clone()),
            (Some(_), None) if is_complete => {}
            (Some(_), None) => complete.push(None),
            (Some(form), Some(state)) => {
                self.post(state, form, |state| complete.push(Some(state)))?;
                if !is_complete && complete.is_empty() {
                    complete.push(None);
                }
            }
        }
        let Some(form) = form else {
            complete.into_iter().for_each(|complete| out.done(View { complete, ..view.clone() }));
            return Ok(());
        };
        if complete.is_empty() {
            return Ok(());
        }
        // As long as no operation is missed, one run serves both views.
        let is_alone = op.missable.is_none() && matches!(view.overlap, Overlap::Complete) && complete.len() == 1;
        let overlap = match self.has_overlap && !is_alone {
            true => self.overlap_after(view, op, form)?,
            false => Overlap::Complete,
        };
        let rest = match &view.rest {
            Some(rest) => Some(Box::new(self.rest_after(rest, op, form)?)),
            None => None,
        };
        for complete in complete {
            let is_alone = matches!((&overlap, &complete), (Overlap::One(one), Some(state)) if one == state);
            let overlap = if is_alone { Overlap::Complete } else { overlap.clone() };
            out.done(View { complete, overlap, rest: rest.clone() });
        }
        Ok(())
    }

    fn is_observer(&self, op: &Viewed<'h, S::Op>) -> bool {
        match op.visibility {
            Visibility::Complete => op.is_pure && self.spec.is_observer(&op.forms.recorded),
            _ => self.form(op).is_none(),
        }
    }

    fn covers(&self, a: &View<S::State>, b: &View<S::State>) -> bool {
        a.covers(b)
    }

    fn allows(&self, view: &View<S::State>, op: &Viewed<'h, S::Op>) -> Result<bool, Self::Error> {
        self.is_explained(view, op)
    }

    fn commute(&self, a: &Viewed<'h, S::Op>, b: &Viewed<'h, S::Op>) -> bool {
        let ends_run = |a: &Viewed<'h, S::Op>, b: &Viewed<'h, S::Op>| {
            a.visibility == Visibility::Complete && !is_always_possible(self.spec, self.context, b)
        };
        if ends_run(a, b) || ends_run(b, a) {
            return false;
        }
        let pairs = [
            (Some(&a.forms.recorded), Some(&b.forms.recorded)),
            (Some(&a.forms.recorded), self.form(b)),
            (self.form(a), Some(&b.forms.recorded)),
            (self.form(a), self.form(b)),
        ];
        pairs.into_iter().all(|pair| match pair {
            (Some(a), Some(b)) => self.spec.commute(a, b),
            _ => true,
        })
    }
}

/// The visibility of an operation under an order: a weaker order puts fewer operations before it.
pub(crate) fn under(order: Precedence, visibility: Visibility) -> Visibility {
    match (order, visibility) {
        (Precedence::Program, Visibility::Overlap) => Visibility::Session,
        (Precedence::None, Visibility::Overlap) => Visibility::Weak,
        _ => visibility,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: Forms<u8> = Forms { recorded: 1, free: Some(2) };

    fn viewed(visibility: Visibility, process: u32, (start, deadline): (u64, u64)) -> Viewed<'static, u8> {
        Viewed {
            forms: &FORMS,
            visibility,
            process: ProcessId(process),
            place: 0,
            start,
            deadline,
            missable: None,
            is_touched: false,
            touches: false,
            is_explained: false,
            is_pure: false,
        }
    }

    fn missed(until: u64, touched: &[(u32, u64)]) -> Missed {
        let touched: Vec<_> = touched.iter().map(|&(process, end)| (ProcessId(process), end)).collect();
        Missed { until, touched: (!touched.is_empty()).then_some(touched.into()) }
    }

    #[test]
    fn what_may_be_missed_follows_from_the_visibility() {
        use Visibility::{Complete, Overlap, Session, Weak};
        let own = viewed(Weak, 0, (1, 2));
        let before = viewed(Weak, 1, (1, 4));
        let touching = viewed(Weak, 1, (1, 5));
        let misses = |visibility| {
            let op = viewed(visibility, 0, (5, 6));
            [&own, &before, &touching].map(|other| op.may_miss(other))
        };
        assert_eq!(misses(Complete), [false, false, false]);
        assert_eq!(misses(Overlap), [false, false, true]);
        assert_eq!(misses(Session), [false, true, true]);
        assert_eq!(misses(Weak), [true, true, true]);
        assert!(!viewed(Overlap, 1, (5, 6)).may_miss(&touching));
        // Without real time, the order puts fewer operations before an operation.
        let under = |order| [Overlap, Session, Complete, Weak].map(|visibility| under(order, visibility));
        assert_eq!(under(Precedence::RealTime), [Overlap, Session, Complete, Weak]);
        assert_eq!(under(Precedence::Program), [Session, Session, Complete, Weak]);
        assert_eq!(under(Precedence::None), [Weak, Session, Complete, Weak]);
    }

    #[test]
    fn others_see_recorded_results_if_all_were_seen_or_all_count() {
        let form = |visibility, context| viewed(visibility, 0, (1, 2)).form(context).copied();
        assert_eq!(form(Visibility::Complete, Context::Free), Some(1));
        assert_eq!(form(Visibility::Weak, Context::Free), Some(2));
        assert_eq!(form(Visibility::Weak, Context::Recorded), Some(1));
        let pure = Viewed { is_pure: true, ..viewed(Visibility::Complete, 0, (1, 2)) };
        assert_eq!(pure.form(Context::Recorded), None);
    }

    #[test]
    fn a_run_that_missed_less_serves_more() {
        let nothing = Missed::nothing();
        assert!(missed(7, &[]).is_within(&missed(3, &[])) && missed(3, &[]).is_within(&missed(3, &[])));
        assert!(!missed(3, &[]).is_within(&missed(7, &[])));
        assert!(nothing.is_within(&missed(u64::MAX, &[(1, 4)])) && !missed(u64::MAX, &[(1, 4)]).is_within(&nothing));
        assert!(missed(7, &[(1, 4)]).is_within(&missed(7, &[(0, 2), (1, 4)])));
        assert!(!missed(7, &[(1, 5)]).is_within(&missed(7, &[(1, 4)])));
        // The same when it misses an operation.
        let plain = viewed(Visibility::Weak, 1, (1, 4));
        let touched = Viewed { is_touched: true, ..viewed(Visibility::Weak, 1, (1, 4)) };
        assert_eq!(nothing.with(&plain, 6), missed(6, &[]));
        assert_eq!(missed(3, &[(2, 1)]).with(&plain, 6), missed(3, &[(2, 1)]));
        assert_eq!(nothing.with(&touched, 6), missed(6, &[(1, 4)]));
        assert_eq!(missed(3, &[(1, 4), (2, 1)]).with(&touched, 6), missed(3, &[(1, 4), (2, 1)]));
        assert_eq!(missed(3, &[(2, 1)]).with(&touched, 6), missed(3, &[(1, 4), (2, 1)]));
    }

    #[test]
    fn an_operation_uses_a_run_that_it_may_have_seen() {
        let op = viewed(Visibility::Overlap, 1, (5, 6));
        assert!(missed(5, &[]).may_be_of(&op) && !missed(4, &[]).may_be_of(&op));
        let touches = Viewed { touches: true, ..op };
        assert!(missed(5, &[]).may_be_of(&touches) && !missed(5, &[(1, 5)]).may_be_of(&touches));
        assert!(missed(5, &[(1, 4), (2, 5)]).may_be_of(&touches));
        assert!(missed(5, &[(1, 5)]).may_be_of(&op));
    }

    fn states(all: &[u8]) -> States<u8> {
        let mut states = States::default();
        all.iter().for_each(|state| states.insert(Hashed::new(*state)));
        states
    }

    #[test]
    fn sets_of_states_have_each_once() {
        assert_eq!(states(&[3, 1, 2, 3, 1]), states(&[2, 3, 1]));
        assert_eq!(states(&[3, 1, 2, 3]).0.len(), 3);
        assert!(states(&[1, 2, 3]).0.is_sorted_by_key(|state| state.hash));
        assert!(states(&[1, 2, 3]).contains_all(&states(&[3, 1])) && states(&[1]).contains_all(&states(&[])));
        assert!(!states(&[3, 1]).contains_all(&states(&[1, 2, 3])) && !states(&[1, 3]).contains_all(&states(&[1, 2])));
        // Different states may have one hash.
        let mut equal = States::default();
        for state in [4_u8, 5, 4] {
            equal.insert(Hashed { hash: 0, state });
        }
        assert_eq!(equal.0.len(), 2);
    }

    #[test]
    fn of_runs_to_one_state_those_are_kept_that_missed_less() {
        let kept = |runs: &[(u8, Missed)]| {
            let mut all = Vec::new();
            // States with one hash are compared.
            runs.iter().for_each(|(state, missed)| {
                insert_near(&mut all, Hashed { hash: 0, state: *state }, missed.clone());
            });
            let mut kept: Vec<(u8, u64)> = all.iter().map(|near| (near.state.state, near.missed.until)).collect();
            kept.sort_unstable();
            kept
        };
        assert_eq!(kept(&[(1, missed(3, &[])), (1, missed(7, &[]))]), [(1, 7)]);
        assert_eq!(kept(&[(1, missed(7, &[])), (1, missed(3, &[]))]), [(1, 7)]);
        assert_eq!(kept(&[(1, missed(7, &[])), (1, missed(7, &[]))]), [(1, 7)]);
        assert_eq!(kept(&[(1, missed(7, &[])), (2, missed(3, &[]))]), [(1, 7), (2, 3)]);
        // Neither serves all operations that the other serves.
        assert_eq!(kept(&[(1, missed(7, &[(1, 4)])), (1, missed(3, &[]))]), [(1, 3), (1, 7)]);
        let three = [(2, missed(9, &[])), (1, missed(3, &[])), (1, missed(4, &[(1, 4)])), (1, missed(8, &[]))];
        assert_eq!(kept(&three), [(1, 8), (2, 9)]);
    }
}

//! A specification under assumptions: only the orders that satisfy them count.
//!
//! Assumptions name operations by number, which a specification does not see. So each operation named by an
//! assumption carries a mark, and a state records which marked operations are over. Marked operations are exempt from
//! the search's reductions: a marked operation changes the state, commutes with nothing and equals nothing.

use std::convert::Infallible;

use omnilink_history::{History, OpId};

use crate::spec::{Spec, Successors};

/// An assumption about the order of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption<P> {
    /// The first operation is over before the second takes a step.
    Before(OpId, OpId),
    /// The state after the operation satisfies the predicate.
    LeadsTo(OpId, P),
}

/// A specification under assumptions. `P` is a predicate on states.
pub struct Assuming<'s, S, P> {
    spec: &'s S,
    assumptions: &'s [Assumption<P>],
    /// The operations that assumptions name; a mark is an index into this list.
    marked: Vec<OpId>,
}

/// An operation, with a mark if an assumption names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked<O> {
    /// The operation.
    pub op: O,
    mark: Option<u8>,
}

/// A state, and which marked operations are over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Since<S> {
    /// The state of the specification.
    pub state: S,
    over: u64,
}

/// The assumptions name more operations than fit into the set of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("assumptions may name at most 64 operations, found {0}")]
pub struct TooMany(usize);

impl<'s, S: Spec, P: Fn(&S::State) -> bool> Assuming<'s, S, P> {
    /// The specification under these assumptions.
    pub fn new(spec: &'s S, assumptions: &'s [Assumption<P>]) -> Result<Assuming<'s, S, P>, TooMany> {
        let mut marked = Vec::new();
        for assumption in assumptions {
            match assumption {
                Assumption::Before(first, second) => marked.extend([*first, *second]),
                Assumption::LeadsTo(op, _) => marked.push(*op),
            }
        }
        marked.sort();
        marked.dedup();
        if marked.len() > u64::BITS as usize {
            return Err(TooMany(marked.len()));
        }
        Ok(Assuming { spec, assumptions, marked })
    }

    /// The operations of a history as this specification sees them.
    pub fn mark_all(&self, history: &History<S::Op>) -> History<Marked<S::Op>>
    where
        S::Op: Clone,
    {
        let mark = |id| self.marked.binary_search(&id).ok().map(|mark| mark as u8);
        let marked = history.try_map(|op| Ok::<_, Infallible>(Some(Marked { op: op.call.clone(), mark: mark(op.id) })));
        let Ok(marked) = marked;
        marked
    }

    /// True if the assumed order lets the operation take a step.
    fn may_go(&self, over: u64, id: OpId) -> bool {
        let is_over = |op: &OpId| self.marked.binary_search(op).is_ok_and(|mark| over & (1 << mark) != 0);
        self.assumptions.iter().all(|assumption| match assumption {
            Assumption::Before(first, second) => *second != id || is_over(first),
            Assumption::LeadsTo(..) => true,
        })
    }

    /// True if the operation may end in this state.
    fn may_lead_to(&self, id: OpId, state: &S::State) -> bool {
        self.assumptions.iter().all(|assumption| match assumption {
            Assumption::LeadsTo(op, is_such) => *op != id || is_such(state),
            Assumption::Before(..) => true,
        })
    }
}

impl<S: Spec, P: Fn(&S::State) -> bool> Spec for Assuming<'_, S, P> {
    type Op = Marked<S::Op>;
    type State = Since<S::State>;
    type Error = S::Error;

    fn initial(&self, out: &mut Vec<Self::State>) -> Result<(), S::Error> {
        let mut states = Vec::new();
        self.spec.initial(&mut states)?;
        out.extend(states.into_iter().map(|state| Since { state, over: 0 }));
        Ok(())
    }

    fn step(&self, from: &Self::State, op: &Self::Op, out: &mut Successors<Self::State>) -> Result<(), S::Error> {
        let id = op.mark.map(|mark| self.marked[usize::from(mark)]);
        if id.is_some_and(|id| !self.may_go(from.over, id)) {
            return Ok(());
        }
        let mut reached = Successors::default();
        self.spec.step(&from.state, &op.op, &mut reached)?;
        let (done, partway) = reached.into_parts();
        let over = from.over | op.mark.map_or(0, |mark| 1 << mark);
        for state in done.into_iter().filter(|state| id.is_none_or(|id| self.may_lead_to(id, state))) {
            out.done(Since { state, over });
        }
        partway.into_iter().for_each(|state| out.partway(Since { state, over: from.over }));
        Ok(())
    }

    fn is_observer(&self, op: &Self::Op) -> bool {
        op.mark.is_none() && self.spec.is_observer(&op.op)
    }

    fn allows(&self, state: &Self::State, op: &Self::Op) -> Result<bool, S::Error> {
        self.spec.allows(&state.state, &op.op)
    }

    fn commute(&self, a: &Self::Op, b: &Self::Op) -> bool {
        a.mark.is_none() && b.mark.is_none() && self.spec.commute(&a.op, &b.op)
    }

    fn is_total(&self, op: &Self::Op) -> bool {
        op.mark.is_none() && self.spec.is_total(&op.op)
    }

    fn overwrites(&self, later: &Self::Op, earlier: &Self::Op) -> bool {
        later.mark.is_none() && earlier.mark.is_none() && self.spec.overwrites(&later.op, &earlier.op)
    }

    fn precludes(&self, earlier: &Self::Op, later: &Self::Op) -> bool {
        self.spec.precludes(&earlier.op, &later.op)
    }

    fn why_not(&self, state: &Self::State, op: &Self::Op) -> Option<String> {
        let id = op.mark.map(|mark| self.marked[usize::from(mark)]);
        let mut reached = Successors::default();
        let is_allowed =
            self.spec.step(&state.state, &op.op, &mut reached).is_ok() && !reached.into_parts().0.is_empty();
        match id {
            Some(id) if !self.may_go(state.over, id) => Some("another operation is assumed to come first".into()),
            Some(_) if is_allowed => Some("it is assumed to lead to another state".into()),
            _ => self.spec.why_not(&state.state, &op.op),
        }
    }
}

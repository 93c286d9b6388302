//! A specification that begins in given states instead of its initial ones.

use crate::{Spec, Successors};

/// A specification that begins in the states at which an earlier part of a history ended.
#[derive(Debug)]
pub struct Resumed<'a, S: Spec> {
    spec: &'a S,
    states: Vec<S::State>,
}

impl<'a, S: Spec> Resumed<'a, S> {
    /// Begins in these states; in the initial ones if there are none.
    pub fn new(spec: &'a S, states: Option<Vec<S::State>>) -> Result<Resumed<'a, S>, S::Error> {
        let states = match states {
            Some(states) => states,
            None => {
                let mut states = Vec::new();
                spec.initial(&mut states)?;
                states
            }
        };
        Ok(Resumed { spec, states })
    }
}

impl<S: Spec> Spec for Resumed<'_, S> {
    type Op = S::Op;
    type State = S::State;
    type Error = S::Error;

    fn initial(&self, out: &mut Vec<S::State>) -> Result<(), S::Error> {
        out.extend(self.states.iter().cloned());
        Ok(())
    }

    fn step(&self, state: &S::State, op: &S::Op, out: &mut Successors<S::State>) -> Result<(), S::Error> {
        self.spec.step(state, op, out)
    }

    fn is_observer(&self, op: &S::Op) -> bool {
        self.spec.is_observer(op)
    }

    fn allows(&self, state: &S::State, op: &S::Op) -> Result<bool, S::Error> {
        self.spec.allows(state, op)
    }

    fn commute(&self, a: &S::Op, b: &S::Op) -> bool {
        self.spec.commute(a, b)
    }

    fn covers(&self, a: &S::State, b: &S::State) -> bool {
        self.spec.covers(a, b)
    }

    fn is_total(&self, op: &S::Op) -> bool {
        self.spec.is_total(op)
    }

    fn overwrites(&self, later: &S::Op, earlier: &S::Op) -> bool {
        self.spec.overwrites(later, earlier)
    }

    fn precludes(&self, earlier: &S::Op, later: &S::Op) -> bool {
        self.spec.precludes(earlier, later)
    }

    fn why_not(&self, state: &S::State, op: &S::Op) -> Option<String> {
        self.spec.why_not(state, op)
    }
}

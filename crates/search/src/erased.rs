//! A specification whose types are not known where it is searched.
//!
//! The search is compiled anew for each specification, which makes it fast and takes seconds each time. Searches that are
//! rare and small, under assumptions and at weak levels, take an [`AnySpec`] instead, and are compiled once for all.

use std::any::Any;
use std::fmt::{self, Debug, Formatter};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use crate::spec::{Spec, Successors};

/// A specification of any type, as [`Erased`] hides it.
pub type AnySpec<'s, E> = &'s dyn Spec<Op = AnyOp, State = AnyState, Error = E>;

/// Hides the types of a specification.
pub struct Erased<'s, S>(pub &'s S);

/// An operation of an erased specification.
#[derive(Clone)]
pub struct AnyOp(Rc<dyn Comparable>);

/// A state of an erased specification.
#[derive(Clone)]
pub struct AnyState(Rc<dyn Hashable>);

trait Comparable: Any {
    fn equals(&self, other: &dyn Any) -> bool;
}

impl<T: Any + Eq> Comparable for T {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

trait Hashable: Comparable {
    fn hash_into(&self, hasher: &mut dyn Hasher);
}

impl<T: Any + Eq + Hash> Hashable for T {
    fn hash_into(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

impl AnyOp {
    /// Hides the type of an operation.
    pub fn new(op: impl Any + Eq) -> AnyOp {
        AnyOp(Rc::new(op))
    }

    fn get<T: Any>(&self) -> &T {
        let op: &dyn Any = &*self.0;
        op.downcast_ref().expect("an operation of this specification")
    }
}

impl AnyState {
    /// The state of a specification with states of this type.
    ///
    /// # Panics
    ///
    /// If it is a state of another one.
    pub fn get<T: Any>(&self) -> &T {
        let state: &dyn Any = &*self.0;
        state.downcast_ref().expect("a state of this specification")
    }
}

impl PartialEq for AnyOp {
    fn eq(&self, other: &AnyOp) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || self.0.equals(&*other.0)
    }
}

impl Eq for AnyOp {}

impl PartialEq for AnyState {
    fn eq(&self, other: &AnyState) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || self.0.equals(&*other.0)
    }
}

impl Eq for AnyState {}

impl Hash for AnyState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.hash_into(hasher);
    }
}

impl Debug for AnyOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyOp").finish_non_exhaustive()
    }
}

impl Debug for AnyState {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyState").finish_non_exhaustive()
    }
}

impl<S: Spec<Op: Any, State: Any>> Spec for Erased<'_, S> {
    type Op = AnyOp;
    type State = AnyState;
    type Error = S::Error;

    fn initial(&self, out: &mut Vec<AnyState>) -> Result<(), S::Error> {
        let mut states = Vec::new();
        self.0.initial(&mut states)?;
        out.extend(states.into_iter().map(|state| AnyState(Rc::new(state))));
        Ok(())
    }

    fn step(&self, state: &AnyState, op: &AnyOp, out: &mut Successors<AnyState>) -> Result<(), S::Error> {
        let mut successors = Successors::default();
        self.0.step(state.get(), op.get(), &mut successors)?;
        let (done, partway) = successors.into_parts();
        done.into_iter().for_each(|state| out.done(AnyState(Rc::new(state))));
        partway.into_iter().for_each(|state| out.partway(AnyState(Rc::new(state))));
        Ok(())
    }

    fn is_observer(&self, op: &AnyOp) -> bool {
        self.0.is_observer(op.get())
    }

    fn allows(&self, state: &AnyState, op: &AnyOp) -> Result<bool, S::Error> {
        self.0.allows(state.get(), op.get())
    }

    fn commute(&self, a: &AnyOp, b: &AnyOp) -> bool {
        self.0.commute(a.get(), b.get())
    }

    fn covers(&self, a: &AnyState, b: &AnyState) -> bool {
        self.0.covers(a.get(), b.get())
    }

    fn is_total(&self, op: &AnyOp) -> bool {
        self.0.is_total(op.get())
    }

    fn overwrites(&self, later: &AnyOp, earlier: &AnyOp) -> bool {
        self.0.overwrites(later.get(), earlier.get())
    }

    fn precludes(&self, earlier: &AnyOp, later: &AnyOp) -> bool {
        self.0.precludes(earlier.get(), later.get())
    }

    fn why_not(&self, state: &AnyState, op: &AnyOp) -> Option<String> {
        self.0.why_not(state.get(), op.get())
    }
}

/// A reference to a specification is one, too.
impl<S: Spec + ?Sized> Spec for &S {
    type Op = S::Op;
    type State = S::State;
    type Error = S::Error;

    fn initial(&self, out: &mut Vec<S::State>) -> Result<(), S::Error> {
        (**self).initial(out)
    }

    fn step(&self, state: &S::State, op: &S::Op, out: &mut Successors<S::State>) -> Result<(), S::Error> {
        (**self).step(state, op, out)
    }

    fn is_observer(&self, op: &S::Op) -> bool {
        (**self).is_observer(op)
    }

    fn allows(&self, state: &S::State, op: &S::Op) -> Result<bool, S::Error> {
        (**self).allows(state, op)
    }

    fn commute(&self, a: &S::Op, b: &S::Op) -> bool {
        (**self).commute(a, b)
    }

    fn covers(&self, a: &S::State, b: &S::State) -> bool {
        (**self).covers(a, b)
    }

    fn is_total(&self, op: &S::Op) -> bool {
        (**self).is_total(op)
    }

    fn overwrites(&self, later: &S::Op, earlier: &S::Op) -> bool {
        (**self).overwrites(later, earlier)
    }

    fn precludes(&self, earlier: &S::Op, later: &S::Op) -> bool {
        (**self).precludes(earlier, later)
    }

    fn why_not(&self, state: &S::State, op: &S::Op) -> Option<String> {
        (**self).why_not(state, op)
    }
}

//! Binds names to the elements of sets, in every way.

use smallvec::SmallVec;

use super::Machine;
use crate::datum::{Datum, Elements};
use crate::error::Result;
use crate::ir::{Bound, ExprId};

/// The sets of a few bounds.
pub(super) type Sets = SmallVec<[Datum; 2]>;

impl<'p> Machine<'p> {
    /// Runs `visit` for every choice of bound names, until it returns false.
    pub(super) fn for_each(
        &mut self,
        bounds: &'p [Bound],
        expr: ExprId,
        visit: &mut dyn FnMut(&mut Self) -> Result<bool>,
    ) -> Result<bool> {
        let sets = self.sets_of(bounds)?;
        self.for_each_of(bounds, &sets, expr, visit)
    }

    /// The sets of bounds.
    pub(super) fn sets_of(&mut self, bounds: &'p [Bound]) -> Result<Sets> {
        let mut sets = Sets::new();
        for (index, bound) in bounds.iter().enumerate() {
            let set = match index.checked_sub(1).map(|before| (bounds[before].set, before)) {
                Some((set, before)) if set == bound.set => sets[before].clone(),
                _ => self.eval(bound.set)?,
            };
            sets.push(set);
        }
        Ok(sets)
    }

    /// Runs `visit` for every choice of names bound to elements of these sets, until it returns false.
    pub(super) fn for_each_of(
        &mut self,
        bounds: &'p [Bound],
        sets: &[Datum],
        expr: ExprId,
        visit: &mut dyn FnMut(&mut Self) -> Result<bool>,
    ) -> Result<bool> {
        let ([bound, bounds @ ..], [set, sets @ ..]) = (bounds, sets) else {
            return visit(self);
        };
        let mut elements = Elements::new(self, set).map_err(|e| self.at(e, bound.set))?;
        while let Some(element) = elements.next(self).map_err(|e| self.at(e, bound.set))? {
            self.tick()?;
            self.bind(&bound.pattern, element, expr)?;
            if !self.for_each_of(bounds, sets, expr, visit)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

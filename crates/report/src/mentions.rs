//! The operations of a report while it is being built.

use crate::data::OpRef;

/// The operations that a report mentions, while it is being built: an [`OpRef`] is an index into them.
#[derive(Debug, Clone)]
pub struct Mentions<Id>(Vec<Id>);

impl<Id> Default for Mentions<Id> {
    fn default() -> Mentions<Id> {
        Mentions(Vec::new())
    }
}

impl<Id: PartialEq> Mentions<Id> {
    /// Mentions an operation.
    pub fn op(&mut self, id: Id) -> OpRef {
        let known = self.0.iter().position(|mentioned| *mentioned == id);
        OpRef(known.unwrap_or_else(|| {
            self.0.push(id);
            self.0.len() - 1
        }))
    }

    /// The operations, in the order of their first mention.
    pub fn ids(&self) -> &[Id] {
        &self.0
    }
}

//! The operations that a verdict speaks of, read again where they are not at hand.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use history::{Call, History, Op, OpId};

use crate::input::{self, InputError, Recording};

/// Where recorded calls can be looked up.
pub(super) enum Calls<'a> {
    /// In memory.
    Whole(&'a History<Call>),
    /// In the segments of a binary trace, which are read again.
    Segments(&'a Path, &'a [Arc<str>]),
}

impl Calls<'_> {
    /// The operations with these numbers, as reports show them, in the same order.
    pub(super) fn describe(&self, ids: &[OpId]) -> Result<Vec<report::Operation>, InputError> {
        match self {
            Calls::Whole(history) => Ok(ids.iter().map(|&id| shown(history.op(id), history.processes())).collect()),
            Calls::Segments(path, processes) => {
                let mut found: HashMap<OpId, report::Operation> = HashMap::new();
                let mut wanted = ids.to_vec();
                wanted.sort();
                wanted.dedup();
                let Recording::Segments(mut merge) = input::open(path, Some(input::Kind::Binary))? else {
                    return Err(InputError::new("the recording has changed"));
                };
                while found.len() < wanted.len()
                    && let Some(op) = merge.next().transpose()?
                {
                    if wanted.binary_search(&op.id).is_ok() {
                        found.insert(op.id, shown(&op, processes));
                    }
                }
                let gone = || InputError::new("the recording has changed");
                ids.iter().map(|id| found.get(id).cloned().ok_or_else(gone)).collect()
            }
        }
    }
}

fn shown(op: &Op<Call>, processes: &[Arc<str>]) -> report::Operation {
    validate::operation(history::name(processes, op.process, op.index), op)
}

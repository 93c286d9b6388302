//! The operations that a verdict speaks of, read again where they are not at hand.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use history::{Call, History, Op, OpId};
use search::Witness;

use crate::input::{self, InputError};

/// Where recorded calls can be looked up.
pub(crate) enum Calls<'a> {
    /// In memory.
    Whole(&'a History<Call>),
    /// In the segments of a binary trace, which are read again.
    Segments(&'a Path, &'a [Arc<str>]),
}

impl Calls<'_> {
    /// The operations with these numbers, as reports show them, in the same order.
    pub(crate) fn describe(&self, ids: &[OpId]) -> Result<Vec<report::Operation>, InputError> {
        match self {
            Calls::Whole(history) => Ok(ids.iter().map(|&id| shown(history.op(id), history.processes())).collect()),
            Calls::Segments(path, processes) => {
                let mut found: HashMap<OpId, report::Operation> = HashMap::new();
                let mut wanted = ids.to_vec();
                wanted.sort();
                wanted.dedup();
                let mut merge = input::segments(path)?;
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

    /// Writes the order that explains a history: one operation a line, as the verdict names it. An operation that takes
    /// several steps stands there once for each, and all but the last end in `...`.
    pub(crate) fn write_witness(&self, file: &mut dyn Write, label: &str, witness: &Witness) -> Result<(), InputError> {
        let ids: Vec<OpId> = witness.steps().map(|step| step.op).collect();
        let cannot = |error: std::io::Error| InputError::new(error);
        writeln!(file, "# {label}").map_err(cannot)?;
        for (op, step) in self.describe(&ids)?.iter().zip(witness.steps()) {
            let partway = if step.partway { " ..." } else { "" };
            writeln!(file, "{}{partway}", witness_line(op)).map_err(cannot)?;
        }
        Ok(())
    }
}

/// An operation as a line of a witness.
pub fn witness_line(op: &report::Operation) -> String {
    format!("{} {} {}", op.name, op.interval(), op.text)
}

fn shown(op: &Op<Call>, processes: &[Arc<str>]) -> report::Operation {
    validate::operation(history::name(processes, op.process, op.index), op)
}

//! Traces of several clients as one.
//!
//! Each client wrote its own trace, with times of one clock or of clocks that were made comparable. Two clients may have
//! chosen the same name for a process; then the name of the trace is added to it, because the operations of one process may
//! not overlap.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use omnilink_history::Trace;

use crate::input::{self, InputError, Kind};
use crate::{Failed, Limits};

/// Reads traces as one, in this order. Each may have at most `most` bytes.
pub fn read(
    parts: &[PathBuf],
    kind: Option<Kind>,
    most: u64,
    limits: &dyn Limits,
    count: &Arc<AtomicU64>,
) -> Result<Trace, Failed> {
    let mut traces = Vec::new();
    for part in parts {
        let opened = input::open_within(part, kind, most, limits, count);
        let trace = opened.and_then(|opened| opened.read_within(limits)).map_err(|failed| match failed {
            Failed::Input(InputError { message, help }) => {
                Failed::Input(InputError { message: format!("{}: {message}", part.display()), help })
            }
            failed => failed,
        })?;
        traces.push((part.as_path(), trace));
    }
    Ok(join(traces))
}

/// Joins traces.
fn join(traces: Vec<(&Path, Trace)>) -> Trace {
    let mut uses: HashMap<Arc<str>, usize> = HashMap::new();
    for name in traces.iter().flat_map(|(_, trace)| &trace.processes) {
        *uses.entry(name.clone()).or_default() += 1;
    }
    let mut all = Trace::default();
    for (path, trace) in traces {
        let Trace { processes, records, events, cuts, losses, notes } = trace;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let first = all.processes.len() as u32;
        all.processes.extend(processes.into_iter().map(|name| match uses.get(&name) {
            Some(2..) => format!("{stem}/{name}").into(),
            _ => name,
        }));
        all.records.extend(records.into_iter().map(|mut record| {
            record.process.0 += first;
            record
        }));
        all.events.extend(events);
        let part = path.display();
        all.cuts.extend(cuts.into_iter().map(|mut cut| {
            cut.part = if cut.part.is_empty() { part.to_string() } else { format!("{part}/{}", cut.part) };
            cut
        }));
        all.losses.extend(losses.into_iter().map(|loss| format!("{part}: {loss}")));
        all.notes.extend(notes.into_iter().map(|note| format!("{part}: {note}")));
    }
    all
}

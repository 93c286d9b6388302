//! Operations of one process that may overlap, as processes that each run one at a time.
//!
//! The lanes of the process `P` are the processes `P`, `P#2`, `P#3`: an operation is in the first one that is free when it starts.
//! Operations overlap if a recorder did not keep threads apart, or if they were made longer because of the error of a clock.

use std::collections::BTreeMap;

use crate::{End, ProcessId, Trace};

/// The lanes of a process: each one that is free again, by its number, with the time from which on it is.
#[derive(Default)]
pub(super) struct Lanes {
    free: Vec<(usize, u64)>, // Invariant: by number.
    count: usize,
}

impl Lanes {
    /// The lane of the next operation by start.
    pub(super) fn assign(&mut self, start: u64, end: Option<u64>) -> usize {
        let place = self.free.iter().position(|(_, free)| *free <= start);
        let (lane, place) = match place {
            Some(place) => (self.free.remove(place).0, place),
            None => (self.count, self.free.len()),
        };
        self.count = self.count.max(lane + 1);
        if let Some(end) = end {
            self.free.insert(place, (lane, end));
        }
        lane
    }
}

/// The name of a lane.
pub(super) fn lane_name(process: &str, lane: usize) -> String {
    if lane == 0 { process.to_owned() } else { format!("{process}#{}", lane + 1) }
}

/// Makes operations longer, on both sides, by the errors of the clocks of their processes. The interval of an operation then
/// contains the one in true time. No operation ends before time 0, so a start before it would order no more.
pub(super) fn widen(trace: &mut Trace, errors: &BTreeMap<ProcessId, u64>) {
    if errors.is_empty() {
        return;
    }
    for record in &mut trace.records {
        let Some(&error) = errors.get(&record.process) else { continue };
        let later = |time: u64| time.saturating_add(error).min(u64::MAX - 1);
        record.start = record.start.saturating_sub(error);
        record.end = match record.end {
            End::At(end) => End::At(later(end)),
            End::Unknown { latest } => End::Unknown { latest: latest.map(later) },
        };
    }
    let records = &trace.records;
    let mut places: Vec<usize> =
        (0..records.len()).filter(|&place| errors.contains_key(&records[place].process)).collect();
    places.sort_by_key(|&place| (records[place].start, records[place].end.at().unwrap_or(u64::MAX)));
    let mut lanes: BTreeMap<ProcessId, Lanes> = BTreeMap::new();
    let mut moved = 0;
    for place in places {
        let record = &trace.records[place];
        let (process, start, end) = (record.process, record.start, record.end.at());
        let lane = lanes.entry(process).or_default().assign(start, end);
        if lane > 0 {
            let name = lane_name(&trace.processes[process.index()], lane);
            trace.records[place].process = trace.process(&name);
            moved += 1;
        }
    }
    if moved > 0 {
        trace.notes.push(format!(
            "{moved} operations overlap an earlier one of their process once the errors of clocks are added, and count as \
             those of another process: their order is lost, and a specification that names processes may reject them"
        ));
    }
}

//! Events that happened but are not in the log, as far as the log shows them.
//!
//! A file that ends inside a line breaks off: a program was killed, or the file was copied while it was written. Further
//! events are lost. If the file is that of one process, each of them comes after the last one in that file: the check
//! assumes that a program writes its lines in the order of its clock, unless the known lines show that it does not. If
//! processes share the file, a process without any line may have lost events. A vector clock that names a process without
//! lines shows that all events of that process are lost, and these may be anywhere.
//!
//! Let a log without its lost events be rejected. With them, a sequence of all events begins with a set of known ones up to
//! the first lost one; that set has all events of its process that come before it, and a behavior explains it. If no
//! configuration of the search has such a set, the log is rejected with any lost events. Otherwise the lost events may lead
//! to states from which the other events continue, so there is no verdict. Interchangeable values do not matter here: a
//! permutation does not change how much of the log is explained. But the search covers all orders of events, because a lost
//! event may depend on events that are independent of each other.

use super::Event;
use crate::line::Cut;
use crate::order::EventOrder;

/// Lost events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lost {
    chain: usize,
    /// The number of events of the chain that come before all of them.
    after: u32,
    /// The reason why they count as lost.
    pub(crate) words: String,
}

impl Lost {
    /// Finds the lost events of a log with these files that break off, and these processes without lines.
    pub(crate) fn find(
        events: &[Event],
        order: &EventOrder,
        processes: &[String],
        files: usize,
        cuts: &[Cut],
        missing: &[String],
    ) -> Vec<Lost> {
        let mut all: Vec<Lost> = cuts.iter().map(|cut| Lost::of_file(events, order, processes, files, cut)).collect();
        let nowhere = |name: &String| format!("no line is of the process `{name}`, which vector clocks name");
        all.extend(missing.iter().map(|name| Lost { chain: 0, after: 0, words: nowhere(name) }));
        all
    }

    /// Finds the events that are lost where a file breaks off.
    fn of_file(events: &[Event], order: &EventOrder, processes: &[String], files: usize, cut: &Cut) -> Lost {
        let inside = (0..events.len()).filter(|&event| events[event].file == cut.file);
        let mut chains: Vec<usize> = inside.map(|event| order.places[event].0).collect();
        // Steps of spans are on chains of their own.
        chains.retain(|chain| *chain < if order.is_total { 1 } else { processes.len() });
        chains.sort_unstable();
        chains.dedup();
        // Processes that share a file may lose a line of any process, and lines that a clock has sorted may lose one in
        // between: these may be anywhere.
        let anywhere = Lost { chain: 0, after: 0, words: cut.words.clone() };
        let &[chain] = &chains[..] else { return anywhere };
        let events_of = &order.chains[chain];
        let is_alone = files > 1 || order.is_total;
        let last = events_of.iter().rposition(|&event| events[event].file == cut.file);
        match last {
            Some(last) if is_alone && events_of.is_sorted() => {
                let process = &processes[events[events_of[last]].process];
                let words = match order.is_total {
                    true => cut.words.clone(),
                    false => format!("the log of {process} breaks off: {}", cut.words),
                };
                Lost { chain, after: u32::try_from(last + 1).unwrap_or(u32::MAX), words }
            }
            _ => anywhere,
        }
    }

    /// Whether lost events may come next where this much of the log is explained.
    pub(crate) fn may_follow(&self, position: &[u32]) -> bool {
        position.get(self.chain).is_none_or(|explained| *explained >= self.after)
    }
}

//! The processes: their operations or transactions in order and each once, losses, and the watermark. Both are *entries*.

use std::collections::BTreeMap;
use std::sync::Arc;

use omnilink_history::End;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::item::Item;

/// Lost operations: none of them started before `from`, and none of them takes effect after `until`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// A sentence that describes the loss.
    pub(crate) sentence: String,
    /// The number of lost operations, at least.
    pub(crate) count: u64,
    pub(crate) from: u64,
    pub(crate) until: u64,
}

/// An operation, or a transaction with the stamps of its database as times.
pub(crate) trait Entry: Sized {
    fn process(&self) -> &Arc<str>;
    /// Its number in its process, if they are numbered.
    fn seq(&self) -> Option<u64>;
    /// The same with a number.
    fn numbered(self, seq: u64) -> Self;
    /// `None` if it is not known and says nothing.
    fn start(&self) -> Option<u64>;
    fn end(&self) -> End;
}

impl Entry for Item {
    fn process(&self) -> &Arc<str> {
        &self.process
    }

    fn seq(&self) -> Option<u64> {
        self.seq
    }

    fn numbered(self, seq: u64) -> Item {
        Item { seq: Some(seq), ..self }
    }

    fn start(&self) -> Option<u64> {
        Some(self.start)
    }

    fn end(&self) -> End {
        self.end
    }
}

/// A process.
#[derive(Clone, Debug)]
pub(crate) struct Process<E> {
    /// The number of its next operation, if they are numbered.
    pub(crate) next: Option<u64>,
    /// The number of operations that arrived without a number.
    pub(crate) unnumbered: u64,
    /// The process does not start another operation before this time.
    pub(crate) progress: u64,
    /// Whether the process starts no further operation.
    pub(crate) is_over: bool,
    /// Whether its last operation is of unknown outcome.
    pub(crate) is_stuck: bool,
    /// The turn in which a line of the process last arrived.
    pub(crate) heard: u64,
    /// Operations that arrived before their predecessors.
    pub(crate) early: BTreeMap<u64, E>,
    /// The latest progress that the process reported beyond operations that have not arrived yet: the number of operations,
    /// a time, and whether that is the end.
    pub(crate) said: Option<(u64, u64, bool)>,
}

/// Properties of processes that bound the times of lost operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Habits {
    /// Some operations have no number.
    pub(crate) are_unnumbered: bool,
    /// Unreadable lines that arrived while all operations had numbers, which reveal losses.
    pub(crate) unreadable: u64,
    /// A process may start an operation before its last one has ended.
    pub(crate) overlap: bool,
    /// A process may continue after an operation of unknown outcome.
    pub(crate) go_on: bool,
}

impl Habits {
    /// The time after which a lost operation cannot take effect if the next one of its process starts at `next`.
    fn latest(&self, next: u64, unknown_for: Option<u64>) -> u64 {
        match (self.overlap, self.go_on) {
            (true, _) => u64::MAX,
            // The lost operation may be of unknown outcome.
            (false, true) => next.saturating_add(unknown_for.unwrap_or(u64::MAX)),
            (false, false) => next,
        }
    }
}

/// All processes.
#[derive(Clone, Debug)]
pub(crate) struct Processes<E> {
    pub(crate) habits: Habits,
    pub(crate) all: FxHashMap<Arc<str>, Process<E>>,
    /// The largest time that a process has reached.
    pub(crate) reached: u64,
    /// Whether the input has ended, and all processes are over.
    has_ended: bool,
    /// The watermark: it never goes back.
    pub(crate) watermark: u64,
    /// The number of calls that advance the watermark.
    pub(crate) turn: u64,
}

/// The maximum number of processes to remember after they are over.
const MOST_PROCESSES: usize = 10_000;

/// A time after all operations.
const END: u64 = u64::MAX - 1;

/// The effects of a line.
#[derive(Debug, PartialEq)]
pub(crate) struct Admitted<E> {
    /// Operations whose predecessors have all arrived.
    pub(crate) items: Vec<E>,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) duplicates: u64,
}

impl<E> Default for Process<E> {
    fn default() -> Process<E> {
        Process {
            next: None,
            unnumbered: 0,
            progress: 0,
            is_over: false,
            is_stuck: false,
            heard: 0,
            early: BTreeMap::new(),
            said: None,
        }
    }
}

impl<E> Default for Processes<E> {
    fn default() -> Processes<E> {
        Processes {
            habits: Habits::default(),
            all: FxHashMap::default(),
            reached: 0,
            has_ended: false,
            watermark: 0,
            turn: 0,
        }
    }
}

impl<E> Default for Admitted<E> {
    fn default() -> Admitted<E> {
        Admitted { items: Vec::new(), gaps: Vec::new(), duplicates: 0 }
    }
}

impl<E: Entry> Processes<E> {
    /// Takes an operation.
    pub(crate) fn operation(&mut self, item: E) -> Admitted<E> {
        // No number follows this one.
        if item.seq() == Some(u64::MAX) {
            return self.unreadable();
        }
        let mut admitted = Admitted::default();
        let turn = self.turn;
        let process = self.all.entry(item.process().clone()).or_default();
        process.heard = turn;
        let Some(seq) = item.seq() else {
            self.habits.are_unnumbered = true;
            admitted.gaps.extend(self.habits.unreadable_lines());
            self.habits.go_on |= process.is_stuck;
            process.is_stuck = item.end().is_unknown();
            process.reach(&item, self.habits);
            self.reached = self.reached.max(process.progress);
            admitted.items.push(item.numbered(process.unnumbered));
            process.unnumbered += 1;
            return admitted;
        };
        let next = *process.next.get_or_insert(0);
        if seq < next || process.early.contains_key(&seq) {
            admitted.duplicates = 1;
            return admitted;
        }
        process.early.insert(seq, item);
        process.take(&mut self.habits, &mut admitted);
        self.reached = self.reached.max(process.progress);
        admitted
    }

    /// Takes the progress that a process reports.
    pub(crate) fn progress(
        &mut self,
        name: &Arc<str>,
        time: u64,
        operations: Option<u64>,
        is_last: bool,
    ) -> Admitted<E> {
        let mut admitted = Admitted::default();
        let turn = self.turn;
        let process = self.all.entry(name.clone()).or_default();
        process.heard = turn;
        match operations {
            // The progress holds only after these operations have arrived.
            Some(count) => {
                process.next.get_or_insert(0);
                if process.said.is_none_or(|(known, at, _)| (known, at) <= (count, time)) {
                    process.said = Some((count, time, is_last));
                }
                process.take(&mut self.habits, &mut admitted);
            }
            None => {
                process.progress = process.progress.max(time);
                process.is_over |= is_last;
            }
        }
        self.reached = self.reached.max(process.progress);
        admitted
    }

    /// Takes an unreadable line, which may have been an operation.
    pub(crate) fn unreadable(&mut self) -> Admitted<E> {
        self.habits.unreadable += 1;
        Admitted { gaps: self.habits.unreadable_lines().into_iter().collect(), ..Admitted::default() }
    }

    /// Stops waiting for operations that should have arrived before others.
    pub(crate) fn give_up(&mut self, unknown_for: Option<u64>, is_due: impl Fn(&Process<E>) -> bool) -> Admitted<E> {
        let mut admitted = Admitted::default();
        let mut waiting: Vec<(&Arc<str>, &mut Process<E>)> =
            self.all.iter_mut().filter(|(_, process)| process.is_waiting() && is_due(process)).collect();
        waiting.sort_by_key(|(name, _)| (*name).clone());
        for (name, process) in waiting {
            while process.is_waiting() {
                process.skip(name, self.habits, unknown_for, &mut admitted);
                process.take(&mut self.habits, &mut admitted);
            }
            self.reached = self.reached.max(process.progress);
        }
        admitted
    }

    /// Moves the watermark to the smallest progress of the processes that are not over, less `lateness`. A process that has
    /// been silent for `idle` turns does not hold it up; if all are silent, the watermark waits for none.
    pub(crate) fn advance(&mut self, lateness: u64, idle: Option<u64>) -> u64 {
        let turn = self.turn;
        let is_idle = |process: &Process<E>| idle.is_some_and(|idle| turn.saturating_sub(process.heard) >= idle);
        let live = self.all.values().filter(|process| !process.is_over && !is_idle(process));
        let live = live.map(|process| process.progress).min();
        let is_silent = !self.all.is_empty() && self.all.values().all(is_idle);
        let reached = match () {
            () if self.has_ended => END,
            // The operation that ended last is decided as well.
            () if is_silent => self.reached.saturating_add(1),
            () => live.unwrap_or(self.reached).saturating_sub(lateness),
        };
        self.watermark = self.watermark.max(reached);
        self.forget();
        self.watermark
    }

    /// Forgets processes that are over, if there are too many: the oldest first. A later line of such a process counts as
    /// the first line of another one.
    fn forget(&mut self) {
        if self.all.len() <= MOST_PROCESSES {
            return;
        }
        let over = self.all.iter().filter(|(_, process)| process.is_over && !process.is_waiting());
        let mut over: Vec<(u64, Arc<str>)> = over.map(|(name, process)| (process.progress, name.clone())).collect();
        over.sort_unstable();
        let surplus = self.all.len() - MOST_PROCESSES / 2;
        for (_, name) in over.into_iter().take(surplus) {
            self.all.remove(&name);
        }
    }

    /// Lets the watermark pass all operations.
    pub(crate) fn end(&mut self) {
        self.has_ended = true;
    }

    /// The number of operations that wait for their predecessors.
    pub(crate) fn waiting(&self) -> usize {
        self.all.values().map(|process| process.early.len()).sum()
    }
}

impl Habits {
    /// Turns unreadable lines into a loss, once numbers no longer reveal losses.
    fn unreadable_lines(&mut self) -> Option<Gap> {
        let count = if self.are_unnumbered { std::mem::take(&mut self.unreadable) } else { 0 };
        let sentence = || "a line that cannot be read may be an operation of any key".to_owned();
        (count > 0).then(|| Gap { sentence: sentence(), count, from: 0, until: u64::MAX })
    }
}

impl<E: Entry> Process<E> {
    /// Notes the arrival of an operation.
    fn reach(&mut self, item: &E, habits: Habits) {
        let ended = match item.end() {
            End::At(end) if !habits.overlap => Some(end),
            _ => item.start(),
        };
        self.progress = self.progress.max(ended.unwrap_or(0));
        // Otherwise recorders continue as another process. If this one continues, the watermark has not waited for it.
        self.is_over = matches!(item.end(), End::Unknown { .. }) && !habits.go_on;
    }

    /// Takes the operations whose predecessors have all arrived.
    fn take(&mut self, habits: &mut Habits, admitted: &mut Admitted<E>) {
        let Some(mut next) = self.next else { return };
        while let Some(item) = self.early.remove(&next) {
            habits.go_on |= self.is_stuck;
            habits.overlap |= item.start().is_some_and(|start| start < self.progress);
            self.is_stuck = item.end().is_unknown();
            self.reach(&item, *habits);
            next += 1;
            admitted.items.push(item);
        }
        self.next = Some(next);
        if let Some((_, time, is_last)) = self.said.take_if(|(count, ..)| *count <= next) {
            self.progress = self.progress.max(time);
            self.is_over |= is_last;
        }
    }

    /// Whether an operation is missing before a later operation or report.
    fn is_waiting(&self) -> bool {
        !self.early.is_empty() || self.said.is_some_and(|(count, ..)| self.next.is_some_and(|next| next < count))
    }

    /// Continues with the first operation or report after the missing ones.
    fn skip(&mut self, name: &Arc<str>, habits: Habits, unknown_for: Option<u64>, admitted: &mut Admitted<E>) {
        let next = self.next.unwrap_or(0);
        let start = || self.early.values().find_map(E::start).unwrap_or(u64::MAX);
        let first = self.early.first_key_value().map(|(seq, _)| (*seq, start()));
        // The last operation of a process may be of unknown outcome, and take effect at any time. An operation before
        // another one has returned.
        let said = self.said.map(|(count, time, is_last)| (count, if is_last { u64::MAX } else { time }));
        let (until, time) = match (first, said) {
            (Some(first), _) => first,
            (None, Some(said)) => said,
            (None, None) => return,
        };
        let count = until.saturating_sub(next);
        let sentence = match count {
            1 => format!("an operation of {name} is missing"),
            _ => format!("{count} operations of {name} are missing"),
        };
        let latest = habits.latest(time, unknown_for).max(self.progress);
        let from = if habits.overlap { 0 } else { self.progress };
        let gap = Gap { sentence, count, from, until: latest };
        admitted.gaps.push(gap);
        self.next = Some(until);
    }
}

#[cfg(test)]
mod tests {
    use omnilink_history::Call;

    use super::*;

    fn item(seq: u64, start: u64, end: u64) -> Item {
        let call = Call::positional("read", [], [1.into()]);
        Item { process: "a".into(), seq: Some(seq), start, end: End::At(end), call }
    }

    fn seqs(admitted: &Admitted<Item>) -> Vec<u64> {
        admitted.items.iter().filter_map(|item| item.seq).collect()
    }

    #[test]
    fn operations_wait_for_those_before_them() {
        let mut processes: Processes<Item> = Processes::default();
        assert_eq!(seqs(&processes.operation(item(1, 3, 4))), [0; 0]);
        assert_eq!(processes.advance(0, None), 0);
        assert_eq!(seqs(&processes.operation(item(0, 1, 2))), [0, 1]);
        assert_eq!(processes.advance(0, None), 4);
        assert_eq!(processes.operation(item(1, 3, 4)).duplicates, 1);
    }

    #[test]
    fn an_operation_that_never_comes_is_a_gap() {
        let mut processes: Processes<Item> = Processes::default();
        processes.operation(item(0, 1, 2));
        processes.operation(item(3, 7, 8));
        let given_up = processes.give_up(None, |_| true);
        assert_eq!(seqs(&given_up), [3]);
        assert_eq!(
            given_up.gaps,
            [Gap { sentence: "2 operations of a are missing".into(), count: 2, from: 2, until: 7 }]
        );
        // The same if only a report of progress follows it.
        processes.progress(&"a".into(), 20, Some(5), true);
        assert_eq!(processes.advance(0, None), 8);
        let given_up = processes.give_up(None, |_| true);
        assert_eq!(
            given_up.gaps,
            [Gap { sentence: "an operation of a is missing".into(), count: 1, from: 8, until: u64::MAX }]
        );
        assert_eq!(processes.advance(0, None), 20);
    }

    #[test]
    fn a_late_word_says_no_less_than_an_earlier_one() {
        let mut processes: Processes<Item> = Processes::default();
        let name: Arc<str> = "a".into();
        // Both hold only after these operations have arrived, and the larger one counts.
        processes.progress(&name, 50, Some(2), true);
        processes.progress(&name, 30, Some(1), false);
        processes.operation(item(0, 1, 2));
        assert_eq!(processes.advance(0, None), 2);
        processes.operation(item(1, 3, 4));
        assert_eq!((processes.advance(0, None), processes.all["a"].is_over), (50, true));
    }

    #[test]
    fn the_largest_number_is_an_operation_that_cannot_be_read() {
        let mut processes: Processes<Item> = Processes::default();
        assert_eq!(processes.operation(item(u64::MAX, 1, 2)), Admitted::default());
        assert_eq!((processes.habits.unreadable, processes.all.len()), (1, 0));
        // Without numbers, an unknown operation is missing.
        let admitted = processes.operation(Item { seq: None, ..item(0, 1, 2) });
        let sentence = "a line that cannot be read may be an operation of any key".into();
        assert_eq!(admitted.gaps, [Gap { sentence, count: 1, from: 0, until: u64::MAX }]);
        assert_eq!(processes.operation(Item { seq: None, ..item(0, 3, 4) }).gaps, []);
        // The next one is missing at once.
        assert_eq!(processes.unreadable().gaps.len(), 1);
    }

    #[test]
    fn a_lost_operation_may_take_effect_later_if_processes_go_on() {
        let latest =
            |overlap, go_on, unknown_for| Habits { overlap, go_on, ..Habits::default() }.latest(10, unknown_for);
        assert_eq!(latest(false, false, Some(5)), 10);
        assert_eq!(latest(false, true, Some(5)), 15);
        assert_eq!(latest(false, true, None), u64::MAX);
        assert_eq!(latest(true, false, Some(5)), u64::MAX);
        assert_eq!(latest(true, true, Some(5)), u64::MAX);
    }

    #[test]
    fn the_oldest_processes_that_are_over_are_forgotten() {
        let mut processes: Processes<Item> = Processes::default();
        let end =
            |processes: &mut Processes<Item>, name: &str, time: u64| processes.progress(&name.into(), time, None, true);
        processes.progress(&"live".into(), 0, None, false);
        // A process that waits for an operation is kept, however old it is.
        end(&mut processes, "waiting", 0);
        processes.progress(&"waiting".into(), 0, Some(1), true);
        for time in 2..MOST_PROCESSES as u64 {
            end(&mut processes, &format!("p{time}"), time);
        }
        processes.advance(0, None);
        assert_eq!(processes.all.len(), MOST_PROCESSES);
        end(&mut processes, "p1", 1);
        processes.advance(0, None);
        assert_eq!(processes.all.len(), MOST_PROCESSES / 2);
        let is_known = |name: &str| processes.all.contains_key(name);
        assert!(is_known("live") && is_known("waiting"));
        // The oldest are those with the least progress.
        let first = MOST_PROCESSES as u64 / 2 + 2;
        assert!(!is_known("p1") && !is_known(&format!("p{}", first - 1)) && is_known(&format!("p{first}")));
    }

    #[test]
    fn the_slowest_process_holds_up_the_watermark_unless_it_is_idle() {
        let mut processes: Processes<Item> = Processes::default();
        processes.progress(&"b".into(), 0, None, false);
        processes.turn = 5;
        processes.operation(item(0, 1, 9));
        assert_eq!(processes.advance(0, None), 0);
        assert_eq!(processes.advance(0, Some(6)), 0);
        assert_eq!(processes.advance(1, Some(5)), 8);
        assert_eq!(processes.advance(0, None), 8);
    }
}

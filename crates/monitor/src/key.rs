//! One key: the states it may be in, and the operations that are not settled yet.
//!
//! At an instant at which no operation is in flight, the past determines the future only through the set of possible
//! states. A [`Snapshot`] is such a set, with the operations since. Checks continue from the last snapshot, and a late
//! operation makes the check go back to one before it.

use std::collections::VecDeque;
use std::sync::Arc;

use omnilink_history::{Call, End, IllFormed, Interval, Op, OpId, ProcessId, Stop, Value};
use omnilink_judge::{CheckedKey, Failed, InputError, Judge, KeyOps, KeyVerdict, Limits};
use serde::{Deserialize, Serialize};

use crate::item::Item;

/// The states of a key at an instant without an operation in flight.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Snapshot {
    /// No operation of the next check starts before this time.
    pub(crate) at: u64,
    /// The states; the initial ones if `None`.
    pub(crate) states: Option<Vec<Value>>,
    /// The number of the first operation after that instant, counted from the first one of the key.
    pub(crate) first: u64,
}

/// The knowledge about the state of a key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Standing {
    /// Its states are those of the last snapshot.
    Known,
    /// It violates the specification. A late operation may still explain that.
    Violated {
        /// The watermark at the time of the finding.
        at: u64,
        /// The number of the alert.
        alert: u64,
    },
    /// Its states are unknown at this time, so the monitor decides nothing.
    Unknown {
        /// Nothing unknown takes effect after this time.
        since: u64,
        /// An operation that is not kept may take effect until then.
        busy_until: u64,
    },
}

/// A key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) standing: Standing,
    /// At least one unless the states are unknown, with increasing times.
    pub(crate) snapshots: VecDeque<Snapshot>,
    /// Operations by start.
    pub(crate) ops: VecDeque<Item>,
    /// The number of operations before the first of them.
    pub(crate) before: u64,
    /// The watermark up to which it was checked.
    pub(crate) checked: u64,
    /// The watermark when a line about the key last arrived.
    pub(crate) touched: u64,
    /// The number of losses that the key has taken into account.
    pub(crate) losses: u64,
    /// The alert of a violation that a late operation may explain.
    pub(crate) doubted: Option<u64>,
    /// The number of operations that were counted as decided and must be decided again.
    pub(crate) repeated: u64,
    /// The number of violations that have not been withdrawn.
    pub(crate) violations: u64,
    /// The number of undecided operations.
    pub(crate) undecided: u64,
}

/// The maximum number of snapshots of a key. Going back to an older one takes longer, and gives the same verdicts.
const MOST_SNAPSHOTS: usize = 4;

/// Reports do not show numbers of operations from here on.
const FAR: u64 = 1 << 31;

/// The result of checking a key.
#[derive(Debug)]
pub(crate) enum Found {
    /// Nothing was due, or no violation was found; this many operations were decided.
    Fine(u64),
    /// This many operations arrived while the states were unknown.
    Unknown(u64),
    /// A violation; this many operations were decided.
    Violation(Box<CheckedKey>, u64),
    /// The check reached a limit.
    Inconclusive(String),
    /// The operations cannot be checked.
    Wrong(String),
}

/// Makes the limits of one check of the key with this label.
pub type NewLimits<'a> = dyn Fn(&str) -> Box<dyn Limits> + 'a;

/// The parameters of checks.
pub(crate) struct Checking<'a> {
    pub(crate) judge: &'a Judge,
    pub(crate) limits: &'a NewLimits<'a>,
    pub(crate) watermark: u64,
    pub(crate) retention: u64,
    pub(crate) most_ops: usize,
    /// Whether a check continues from the states of the last one.
    pub(crate) carries: bool,
    pub(crate) losses: Losses,
}

/// Lost operations, which may have been of any key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Losses {
    /// The number of losses.
    pub(crate) count: u64,
    /// None of them takes effect after this time.
    pub(crate) until: u64,
}

impl Key {
    /// Makes a key in its initial state, or in an unknown one, in which operations may take effect until a time.
    pub(crate) fn new(busy_until: Option<u64>) -> Key {
        let is_known = busy_until.is_none();
        let standing = match busy_until {
            None => Standing::Known,
            Some(busy_until) => Standing::Unknown { since: 0, busy_until },
        };
        let first = Snapshot { at: 0, states: None, first: 0 };
        Key {
            standing,
            snapshots: is_known.then_some(first).into_iter().collect(),
            ops: VecDeque::new(),
            before: 0,
            checked: 0,
            touched: 0,
            losses: 0,
            doubted: None,
            repeated: 0,
            violations: 0,
            undecided: u64::from(!is_known),
        }
    }

    /// Adds an operation. Returns whether it is late, and then whether it can be taken into account.
    pub(crate) fn add(&mut self, item: Item) -> Option<bool> {
        let start = item.start;
        let is_late = start < self.checked;
        if is_late && !self.go_back(start) {
            if let Standing::Violated { alert, .. } = self.standing {
                self.doubted = Some(alert);
            }
            self.lose(self.checked, deadline(&item));
            return Some(false);
        }
        let place = self.ops.partition_point(|other| (other.start, order_of(other)) <= (start, order_of(&item)));
        self.ops.insert(place, item);
        is_late.then_some(true)
    }

    /// Goes back to the last snapshot before a time. Returns false if there is none, or if the states are unknown.
    fn go_back(&mut self, start: u64) -> bool {
        if matches!(self.standing, Standing::Unknown { .. }) {
            // Operations that are not kept may have overlapped it.
            return false;
        }
        let Some(last) = self.snapshots.iter().rposition(|snapshot| snapshot.at <= start) else { return false };
        self.snapshots.truncate(last + 1);
        let again = self.snapshots[last].at..self.checked;
        self.repeated += self.ops.iter().filter(|op| again.contains(&decided_at(op))).count() as u64;
        self.checked = self.snapshots[last].at;
        if let Standing::Violated { alert, .. } = self.standing {
            (self.doubted, self.standing) = (Some(alert), Standing::Known);
        }
        true
    }

    /// Doubts a violation if an unknown operation may have started before it was found.
    pub(crate) fn doubt(&mut self, from: u64, until: u64) {
        if let Standing::Violated { at, alert } = self.standing
            && from < at
        {
            self.doubted = Some(alert);
            self.lose(until, 0);
        }
    }

    /// Forgets the states, because of an unknown operation before `since`. An operation that is not kept may take effect
    /// until `deadline`; the next check considers the kept ones again.
    pub(crate) fn lose(&mut self, since: u64, deadline: u64) {
        self.undecided += 1;
        let mut busy_until = deadline;
        let mut since = since;
        if let Standing::Unknown { since: known, busy_until: busy } = self.standing {
            (since, busy_until) = (since.max(known), busy_until.max(busy));
        }
        self.standing = Standing::Unknown { since, busy_until };
        self.snapshots.clear();
    }

    /// Whether a check may find something new.
    pub(crate) fn is_due(&self, watermark: u64) -> bool {
        let decides = |op: &Item| {
            let deadline = deadline(op);
            op.start < watermark && (op.start >= self.checked || (deadline >= self.checked && deadline < watermark))
        };
        match self.standing {
            Standing::Violated { .. } => true,
            _ => self.doubted.is_some() || (self.checked < watermark && self.ops.iter().any(decides)),
        }
    }

    /// The number of its operations that ended after the last check, or will.
    pub(crate) fn unsettled(&self) -> u64 {
        self.ops.iter().filter(|op| deadline(op) >= self.checked).count() as u64
    }

    /// Whether the key needs no work until its next operation.
    pub(crate) fn is_quiet(&self, carries: bool) -> bool {
        let is_settled = if carries { self.ops.is_empty() } else { self.unsettled() == 0 };
        is_settled && !matches!(self.standing, Standing::Violated { .. })
    }

    /// Forgets the data that only late operations need.
    pub(crate) fn forget(&mut self, checking: &Checking<'_>) {
        if self.standing == Standing::Known && checking.watermark.saturating_sub(self.checked) >= checking.retention {
            self.drop_snapshots_before(u64::MAX);
        }
    }

    /// Drops all snapshots but the last one before this time, and the operations before the first one that is left.
    fn drop_snapshots_before(&mut self, time: u64) {
        while self.snapshots.len() > 1 && self.snapshots[1].at <= time {
            self.snapshots.pop_front();
        }
        let needed = self.snapshots[0].first;
        self.ops.drain(..(needed - self.before) as usize);
        self.before = needed;
    }

    /// Checks the key up to the watermark. Withdraws a doubted violation unless the check finds it again.
    pub(crate) fn check(&mut self, label: &str, checking: &Checking<'_>) -> (Found, Option<u64>) {
        let found = self.decide(label, checking);
        let again = matches!(found, Found::Violation(..));
        (found, self.doubted.filter(|_| !again))
    }

    fn decide(&mut self, label: &str, checking: &Checking<'_>) -> Found {
        if let Standing::Violated { at, .. } = self.standing {
            // Only an operation that is late, or known to be lost, can change a violation.
            if checking.watermark.saturating_sub(at) < checking.retention {
                return Found::Fine(0);
            }
            self.lose(at, 0);
        }
        self.notice_losses(checking);
        if matches!(self.standing, Standing::Unknown { .. }) {
            return self.look_for_state(checking);
        }
        if !checking.carries {
            return self.check_whole(label, checking);
        }
        let from = self.snapshots.back().expect("a snapshot of a key whose states are known");
        let skipped = (from.first - self.before) as usize;
        let due = self.ops.iter().skip(skipped).take_while(|op| op.start < checking.watermark).count();
        let (first, cut) = (from.first, Some(checking.watermark));
        let window = self.ops.iter().skip(skipped).take(due);
        let found = match ask(label, window, from.states.as_deref(), cut, checking) {
            Ok(found) => found,
            Err(undecided) => return self.give_up(undecided, checking),
        };
        // An operation that constrains nothing is settled at once, even if it has not ended.
        let settled = found.carried.as_ref().map_or(0, |carried| due - carried.since as usize);
        let decided = self.decided(self.ops.iter().skip(skipped).take(due), settled, checking.watermark);
        (self.checked, self.repeated) = (checking.watermark, 0);
        match found.carried {
            Some(carried) => {
                let first = first + due as u64 - carried.since;
                self.keep(Snapshot { at: checking.watermark, states: Some(carried.states), first }, checking);
                if self.ops.len() > checking.most_ops {
                    let why = format!("more than {} operations without a quiet instant", checking.most_ops);
                    return self.give_up(Found::Inconclusive(why), checking);
                }
                Found::Fine(decided)
            }
            None => Found::Violation(Box::new(found), decided),
        }
    }

    /// The number of these operations, of which the first ones are settled, that a check up to a time decides and no
    /// earlier check decided.
    fn decided<'a>(&self, ops: impl Iterator<Item = &'a Item>, settled: usize, until: u64) -> u64 {
        let is_new = |(place, op): &(usize, &Item)| {
            let at = decided_at(op);
            at >= self.checked && (at < until || *place < settled)
        };
        (ops.enumerate().filter(is_new).count() as u64).saturating_sub(self.repeated)
    }

    /// Forgets the states, because nothing was decided up to the watermark.
    fn give_up(&mut self, undecided: Found, checking: &Checking<'_>) -> Found {
        if !matches!(undecided, Found::Fine(_)) {
            self.lose(checking.watermark, 0);
        }
        undecided
    }

    /// Checks all operations at an instant at which none is in flight: an order of all operations begins with an order of
    /// these, so that a rejection is final.
    fn check_whole(&mut self, label: &str, checking: &Checking<'_>) -> Found {
        let due = self.ops.iter().take_while(|op| op.start < checking.watermark).count();
        let is_busy = |op: &Item| (checking.watermark..u64::MAX).contains(&deadline(op));
        if self.ops.iter().take(due).any(is_busy) {
            return Found::Fine(0);
        }
        if due > checking.most_ops {
            let why = format!("more than {} operations", checking.most_ops);
            return self.give_up(Found::Inconclusive(why), checking);
        }
        let decided = self.decided(self.ops.iter().take(due), 0, checking.watermark);
        let found = match ask(label, self.ops.iter().take(due), None, None, checking) {
            Ok(found) => found,
            Err(undecided) => return self.give_up(undecided, checking),
        };
        (self.checked, self.repeated) = (checking.watermark, 0);
        match found.verdict {
            KeyVerdict::Accepted => Found::Fine(decided),
            _ => Found::Violation(Box::new(found), decided),
        }
    }

    /// Stores a snapshot, and forgets those that no late operation needs any more.
    fn keep(&mut self, snapshot: Snapshot, checking: &Checking<'_>) {
        self.snapshots.push_back(snapshot);
        self.drop_snapshots_before(checking.watermark.saturating_sub(checking.retention));
        if self.snapshots.len() > MOST_SNAPSHOTS {
            self.snapshots.remove(self.snapshots.len() - 2);
        }
    }

    /// Forgets the states if operations were lost since the last check. They started after all decided operations.
    fn notice_losses(&mut self, checking: &Checking<'_>) {
        if self.losses < checking.losses.count {
            self.lose(checking.losses.until, 0);
            self.losses = checking.losses.count;
        }
    }

    /// The latest time at which one of its operations may take effect.
    pub(crate) fn busy_until(&self) -> u64 {
        let unknown = match self.standing {
            Standing::Unknown { since, busy_until } => since.max(busy_until),
            Standing::Known | Standing::Violated { .. } => 0,
        };
        self.ops.iter().map(deadline).fold(unknown, u64::max)
    }

    /// Searches for an operation that makes the state known: it settles the state in every case, all unknown operations are
    /// over before it starts, and no other operation overlaps it.
    fn look_for_state(&mut self, checking: &Checking<'_>) -> Found {
        let mut left_out = 0;
        while let Some(op) = self.ops.front() {
            let Standing::Unknown { since, busy_until } = &mut self.standing else { break };
            let (start, deadline) = (op.start, deadline(op));
            // An operation that starts before it ends may still arrive. One that may take effect at any time settles
            // nothing.
            if start >= checking.watermark || (deadline >= checking.watermark && deadline != u64::MAX) {
                break;
            }
            let is_alone = self.ops.get(1).is_none_or(|next| next.start > deadline);
            // An operation of unknown outcome may have had no effect.
            let has_ended = matches!(op.end, End::At(_));
            let can_settle = checking.carries && has_ended && is_alone && start > *since && start > *busy_until;
            let settling = if can_settle { alone(op) } else { None };
            let state = settling.and_then(|op| checking.judge.settled(&op));
            *busy_until = (*busy_until).max(deadline);
            left_out += u64::from(decided_at(op) >= self.checked);
            self.ops.pop_front();
            self.before += 1;
            if let Some(state) = state {
                let snapshot = Snapshot { at: deadline + 1, states: Some(vec![state]), first: self.before };
                self.snapshots = VecDeque::from([snapshot]);
                (self.standing, self.checked) = (Standing::Known, deadline + 1);
                break;
            }
        }
        if matches!(self.standing, Standing::Unknown { .. }) {
            self.checked = self.checked.max(checking.watermark);
        }
        self.undecided += left_out;
        Found::Unknown(left_out)
    }
}

/// Checks operations. Returns the verdict, or the reason why there is none.
fn ask<'a>(
    label: &str,
    items: impl Iterator<Item = &'a Item>,
    begin: Option<&[Value]>,
    cut: Option<u64>,
    checking: &Checking<'_>,
) -> Result<CheckedKey, Found> {
    let mut window = Window::new(items);
    let limits = &*(checking.limits)(label);
    let asked = omnilink_judge::Key { label, ops: &mut window, begin, cut, limits };
    let found = checking.judge.check_key(asked);
    match found {
        // An interrupt ends the monitor, but does not affect the key: the next monitor checks it.
        Ok(CheckedKey { verdict: KeyVerdict::Inconclusive, .. }) | Err(Failed::Stopped(_))
            if limits.exceeded() == Some(Stop::Interrupted) =>
        {
            Err(Found::Fine(0))
        }
        Ok(found) if found.verdict == KeyVerdict::Inconclusive => {
            Err(Found::Inconclusive(found.reason.unwrap_or_default()))
        }
        Ok(found) => Ok(found),
        Err(Failed::Stopped(stop)) => Err(Found::Inconclusive(stop.to_string())),
        Err(failed) => Err(Found::Wrong(failed.message())),
    }
}

/// The time after which an operation cannot take effect.
pub(crate) fn deadline(item: &Item) -> u64 {
    match item.end {
        End::At(end) => end,
        End::Unknown { latest } => latest.unwrap_or(u64::MAX),
    }
}

/// The time at which an operation is decided: its end, or its start if it may never end.
fn decided_at(item: &Item) -> u64 {
    match deadline(item) {
        u64::MAX => item.start,
        deadline => deadline,
    }
}

/// The order of operations that start together.
fn order_of(item: &Item) -> (u64, &str, Option<u64>) {
    (deadline(item), &item.process, item.seq)
}

/// The interval of an operation; `None` if it ends before it starts.
fn interval(item: &Item) -> Option<Interval> {
    match item.end {
        End::At(end) => Interval::new(item.start, end),
        End::Unknown { latest: Some(latest) } => Interval::unknown(item.start, latest),
        End::Unknown { latest: None } => Some(Interval::unfinished(item.start)),
    }
}

/// An operation by itself.
fn alone(item: &Item) -> Option<Op<Call>> {
    let interval = interval(item)?;
    Some(Op { id: OpId(0), process: ProcessId(0), index: 0, interval, is_last: false, call: item.call.clone() })
}

/// The operations of a check. A process may continue after an operation of unknown outcome, or have several in flight: the
/// order within it is that of [`Op::follows`].
struct Window<I> {
    items: I,
    names: Vec<Arc<str>>,
    seen: Vec<Op<Call>>,
}

impl<'a, I: Iterator<Item = &'a Item>> Window<I> {
    fn new(items: I) -> Window<I> {
        Window { items, names: Vec::new(), seen: Vec::new() }
    }
}

impl<'a, I: Iterator<Item = &'a Item>> KeyOps for Window<I> {
    fn next(&mut self) -> Result<Option<Op<Call>>, Failed> {
        let Some(item) = self.items.next() else { return Ok(None) };
        let process = self.names.iter().position(|name| *name == item.process).unwrap_or_else(|| {
            self.names.push(item.process.clone());
            self.names.len() - 1
        });
        let (process, id) = (ProcessId(process as u32), self.seen.len() as u32);
        // The number in the input, so that a reader finds it there. Larger numbers keep their order.
        let index = item.seq.filter(|seq| *seq < FAR).map_or(FAR as u32 + id, |seq| seq as u32);
        let interval = interval(item).ok_or_else(|| {
            let (op, end) = (omnilink_history::name(&self.names, process, index), deadline(item));
            InputError::new(IllFormed::Backwards { op, start: item.start, end })
        })?;
        let op = Op { id: OpId(id), process, index, interval, is_last: false, call: item.call.clone() };
        self.seen.push(op.clone());
        Ok(Some(op))
    }

    fn processes(&self) -> &[Arc<str>] {
        &self.names
    }

    fn again(&mut self) -> Result<Option<Vec<Op<Call>>>, Failed> {
        Ok(Some(self.seen.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::{Line, Lines};

    fn key(checked: u64, operation: Option<&str>) -> Key {
        let mut key = Key::new(None);
        if let Some(line) = operation {
            let Ok(Line::Operation(item)) = Lines::default().read(line) else { panic!("{line} is an operation") };
            assert_eq!(key.add(item), None);
        }
        key.checked = checked;
        key
    }

    #[test]
    fn a_key_is_checked_again_if_that_may_find_something() {
        let operation = Some(r#"{"process": "a", "action": "read", "start": 10, "end": 20}"#);
        let is_due = |checked, watermark| key(checked, operation).is_due(watermark);
        assert!(!is_due(0, 10), "it has not begun");
        assert!(is_due(0, 11), "it has begun since the last check");
        assert!(!is_due(15, 18), "it was looked at, and is in flight");
        assert!(!is_due(15, 20), "it may end at any time from now on");
        assert!(is_due(15, 21), "it has ended since the last check");
        assert!(is_due(20, 21), "it had not ended before the last check");
        assert!(!is_due(21, 30), "it had ended before the last check");
        assert!(!is_due(30, 30), "time does not go on");
        assert!(!key(0, None).is_due(30), "there is none");
        let violated = Key { standing: Standing::Violated { at: 5, alert: 1 }, ..key(30, None) };
        assert!(violated.is_due(30), "a late operation may explain it");
        let doubted = Key { doubted: Some(1), ..key(30, None) };
        assert!(doubted.is_due(30), "an alert is in doubt");
    }
}

//! A key of a stream: its versions, the accesses that wait for the watermark, and the judgement of these.
//!
//! A read is *undecided* if a version that its snapshot has may be missing. Versions up to the *floor* may be: a transaction was
//! lost, came too late, or the key was dropped. A read that sees a version after the floor is decided again, and so are those after a
//! read that shows the version of its time.

use std::collections::VecDeque;

use omnilink_history::Value;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::words;
use crate::anomaly::{Plain, show_list, show_write};
use crate::key::{Access, Fault, Install, Key, Origin, Row};
use crate::stamp::Stamp;

/// A place among snapshots and commits. Those with equal stamps are in the order of their ranks: commits in the order in which their
/// transactions began, each after the reads of its transaction at `serializable`; then snapshots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Point {
    pub(super) stamp: Stamp,
    pub(super) rank: u64,
}

impl Point {
    pub(super) const LAST: Point = Point { stamp: Stamp::NONE, rank: u64::MAX };

    /// A snapshot.
    pub(super) fn snapshot(stamp: Stamp) -> Point {
        Point { stamp, rank: u64::MAX }
    }

    /// The commit of a transaction that began at this time.
    pub(super) fn commit(stamp: Stamp, began: u64) -> Point {
        Point { stamp, rank: 2 * began.min(u64::MAX / 4) + 1 }
    }

    /// The reads of a transaction that take effect with its commit.
    pub(super) fn before_commit(self) -> Point {
        Point { rank: self.rank - 1, ..self }
    }
}

/// A write of a transaction whose outcome is unknown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Open<V> {
    pub(super) start: Point,
    pub(super) write: (u64, u32),
    pub(super) value: V,
    /// It was reported that a read shows it.
    pub(super) is_shown: bool,
}

/// A write whose value no read may return.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Hidden<V> {
    txn: u64,
    value: V,
    is_aborted: bool,
}

/// A reported read, which a transaction that comes late may explain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Suspect {
    at: Point,
    covering: Option<Point>,
    id: (u64, u32),
}

/// The most entries of each kind that a key keeps.
const MOST: usize = 100;

/// A key and the rows that wait for the watermark.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Waiting<V> {
    pub(super) name: V,
    /// `None` before the first write or list.
    is_list: Option<bool>,
    key: Key<Point, V>,
    rows: Vec<Row<Point, V>>,
    open: VecDeque<Open<V>>,
    hidden: VecDeque<Hidden<V>>,
    suspects: VecDeque<Suspect>,
    /// Versions up to this point may be missing.
    floor: Option<Point>,
    /// A read at this point showed all elements of the list.
    settled: Option<Point>,
    /// A write of 0 came: 0 is not the initial value.
    wrote_zero: bool,
    /// A read of 0 was taken as one of the initial value.
    read_zero: bool,
    /// Some commits had equal stamps.
    has_ties: bool,
    /// Writes of unknown outcome were forgotten.
    lost_open: bool,
    /// Its list was too long, and is not judged.
    is_too_long: bool,
    #[serde(skip)]
    pub(super) is_dirty: bool,
    pub(super) touched: u64,
}

/// The state that all keys share while they are judged.
pub(super) struct View<'a> {
    /// The watermark: everything before it is judged.
    pub(super) until: Point,
    /// Older snapshots than this one may lack versions.
    pub(super) horizon: Point,
    /// Versions of any key up to this point may be missing.
    pub(super) floor: Option<Point>,
    pub(super) is_exclusive: bool,
    pub(super) most_elements: usize,
    /// Names transactions.
    pub(super) name: &'a dyn Fn(u64) -> String,
}

/// The kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AlarmKind {
    /// The stamps do not fit the level, whatever comes later.
    Violation,
    /// A transaction that came late, or that was lost, may explain an earlier violation.
    Withdrawn,
    /// Something cannot be decided.
    Undecided,
}

/// A finding of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm {
    /// Its kind.
    pub kind: AlarmKind,
    /// The name of the anomaly, or the reason why something is undecided.
    pub anomaly: String,
    /// The key, if it is about one.
    pub key: Option<Value>,
    /// The read or the write that it is about: a number of the transaction, and its place there. A withdrawn violation has the same.
    pub id: (u64, u32),
    /// The snapshot or the commit.
    pub at: Stamp,
    /// The finding in words.
    pub sentence: String,
}

/// The findings of a judgment.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) alarms: Vec<Alarm>,
    /// Transactions with reads that are not decided.
    pub(super) undecided: FxHashSet<u64>,
}

impl Waiting<Value> {
    pub(super) fn new(name: Value, floor: Option<Point>) -> Waiting<Value> {
        Waiting { name, floor, ..Waiting::default() }
    }

    /// The number of rows and versions.
    pub(super) fn held(&self) -> usize {
        self.rows.len() + self.key.held() + self.key.elements.len() + self.open.len() + self.hidden.len()
    }

    /// True if nothing waits.
    pub(super) fn is_idle(&self) -> bool {
        self.rows.is_empty()
    }

    /// True if it can be dropped and be unknown after that, without losing what may still take effect.
    pub(super) fn is_quiet(&self) -> bool {
        self.rows.is_empty() && self.open.is_empty()
    }

    /// True if an access uses the key as a list where others use it as a register, or the other way around.
    pub(super) fn contradicts(&self, access: &Access<Value>) -> bool {
        self.is_list.zip(kind(access)).is_some_and(|(known, now)| known != now)
    }

    /// Notes an access of any transaction: the kind of the key, and whether 0 is written.
    pub(super) fn note(&mut self, access: &Access<Value>, id: (u64, u32), alarms: &mut Vec<Alarm>) {
        self.is_list = self.is_list.or(kind(access));
        if matches!(access, Access::Write(Value::Int(0))) && !std::mem::replace(&mut self.wrote_zero, true) {
            let sentence = format!(
                "{} = 0 is written after reads of it were taken as reads of the initial value",
                Plain(&self.name)
            );
            if self.read_zero {
                alarms.push(self.alarm(AlarmKind::Undecided, "initial value", id, Stamp::default(), sentence));
            }
        }
    }

    pub(super) fn push(&mut self, row: Row<Point, Value>) {
        self.rows.push(row);
    }

    /// Notes a write that a transaction of unknown outcome may have made.
    pub(super) fn push_open(&mut self, open: Open<Value>) {
        self.open.push_back(open);
        if self.open.len() > MOST {
            self.open.pop_front();
            self.lost_open = true;
        }
    }

    /// Notes a write that no read may return.
    pub(super) fn push_hidden(&mut self, txn: u64, value: Value, is_aborted: bool) {
        self.hidden.push_back(Hidden { txn, value, is_aborted });
        if self.hidden.len() > MOST {
            self.hidden.pop_front();
        }
    }

    /// Versions up to a point may be missing, as of this point. Withdraws violations that one of them may explain.
    pub(super) fn doubt(&mut self, from: Point, floor: Point, alarms: &mut Vec<Alarm>) {
        // A missing element changes all later lists.
        let is_list = self.is_list == Some(true);
        let is_explained = |suspect: &Suspect| {
            suspect.at >= from && (is_list || suspect.covering.is_none_or(|commit| commit <= floor))
        };
        let gone: Vec<Suspect> = self.suspects.iter().filter(|suspect| is_explained(suspect)).cloned().collect();
        self.suspects.retain(|suspect| !is_explained(suspect));
        for Suspect { at, id, .. } in gone {
            let sentence = "a transaction that came late or was lost may explain it".to_owned();
            alarms.push(self.alarm(AlarmKind::Withdrawn, "withdrawn", id, at.stamp, sentence));
        }
    }

    /// A committed write came after its point was judged.
    pub(super) fn come_late(&mut self, commit: Point, alarms: &mut Vec<Alarm>) {
        self.floor = self.floor.max(Some(commit));
        self.doubt(commit, commit, alarms);
    }

    /// True if there are violations that may still be withdrawn.
    pub(super) fn has_suspects(&self) -> bool {
        !self.suspects.is_empty()
    }

    fn alarm(&self, kind: AlarmKind, anomaly: &str, id: (u64, u32), at: Stamp, sentence: String) -> Alarm {
        Alarm { kind, anomaly: anomaly.to_owned(), key: Some(self.name.clone()), id, at, sentence }
    }

    /// Judges the rows before the watermark.
    pub(super) fn judge(&mut self, view: &View<'_>, found: &mut Found) {
        let is_read = |row: &Row<Point, Value>| !row.access.is_write();
        self.rows.sort_by_key(|row| (row.at, is_read(row), row.txn, row.place));
        let count = self.rows.partition_point(|row| row.at < view.until);
        let rows: Vec<Row<Point, Value>> = self.rows.drain(..count).collect();
        for (at, row) in rows.iter().enumerate() {
            let later = &rows[at + 1..];
            match &row.access {
                Access::Write(_) | Access::Append { .. } => self.install(row, view, found),
                Access::Read { value: Value::Nil, .. } if self.is_list == Some(true) => {
                    self.judge_list(row, &[], later, view, found);
                }
                Access::Read { value, is_initial } => self.judge_read(row, value, *is_initial, later, view, found),
                Access::List(list) => self.judge_list(row, list, later, view, found),
            }
        }
        self.key.forget_before(view.horizon);
        self.suspects.retain(|suspect| suspect.at >= view.horizon);
        if view.is_exclusive {
            // A later writer saw it, or overlaps it.
            let newest = self.key.versions().next_back().filter(|newest| newest.origin == Origin::Commit);
            let passed = newest.filter(|newest| newest.commit <= view.horizon).map(|newest| newest.start);
            self.open.retain(|open| passed.is_none_or(|start| start <= open.start));
        }
    }

    fn install(&mut self, row: &Row<Point, Value>, view: &View<'_>, found: &mut Found) {
        let write = Install { commit: row.at, start: row.start, write: (row.txn, row.place) };
        let last = self.key.versions().next_back().map(|last| (last.commit.stamp, last.write.0, last.value.clone()));
        if let Some((stamp, txn, value)) = last {
            self.has_ties |= stamp == row.at.stamp && txn != row.txn;
            // The value of a register that its writer overwrites.
            if let Some(value) = value.filter(|_| txn == row.txn) {
                self.push_hidden(txn, value, false);
            }
        }
        let is_settled = !self.is_unsettled(row.at, view);
        let (fault, is_list) = match &row.access {
            Access::Append { value, place } => {
                if self.is_too_long || self.key.elements.len() >= view.most_elements {
                    self.give_up(row, found);
                    return;
                }
                (self.key.append(write, value, *place, view.is_exclusive), true)
            }
            Access::Write(value) => (self.key.install(write, value, false, view.is_exclusive), false),
            Access::Read { .. } | Access::List(_) => return,
        };
        let (Access::Append { value, .. } | Access::Write(value)) = &row.access else { return };
        let own = show_write(&self.name, value, is_list);
        let writer = || (view.name)(row.txn);
        match fault {
            None | Some(Fault::Read { .. }) => {}
            Some(Fault::Conflict { first }) => {
                let other = self.write_of(first).unwrap_or_else(|| format!("another value of {}", Plain(&self.name)));
                let sentence = words::conflict(&writer(), &own, &(view.name)(first.0), &other);
                self.report(words::CONFLICT, row, sentence, true, found);
            }
            Some(Fault::Place) if !is_settled => drop(found.undecided.insert(row.txn)),
            Some(Fault::Place) => {
                let sentence = format!("{} read {own} at another place than it was committed", writer());
                self.report(words::DISORDERED, row, sentence, !self.has_ties, found);
            }
        }
    }

    /// Stops judging a list that is too long.
    fn give_up(&mut self, row: &Row<Point, Value>, found: &mut Found) {
        found.undecided.insert(row.txn);
        if !std::mem::replace(&mut self.is_too_long, true) {
            let sentence = format!("the list {} has too many elements, and is not judged any more", Plain(&self.name));
            let id = (row.txn, row.place);
            found.alarms.push(self.alarm(AlarmKind::Undecided, "limit", id, row.at.stamp, sentence));
            self.key.elements = Vec::new();
        }
    }

    /// A write that is kept, in words.
    fn write_of(&self, id: (u64, u32)) -> Option<String> {
        let version = self.key.versions().find(|version| version.write == id)?;
        Some(match &version.value {
            Some(value) => show_write(&self.name, value, false),
            None => show_write(&self.name, self.key.elements.get(version.len.checked_sub(1)?)?, true),
        })
    }

    /// True if the newest version that a snapshot sees may not be known.
    fn is_unsettled(&self, at: Point, view: &View<'_>) -> bool {
        let covering = self.key.newest_at(at).map(|version| version.commit);
        let floor = self.floor.max(view.floor);
        let is_forgotten = || {
            let first = self.key.versions().next().map(|version| version.commit);
            at < view.horizon && self.key.has_forgotten && first.is_some_and(|first| first > at)
        };
        // A missing element is missing from all later lists.
        let lacks = |floor: Point| self.is_list == Some(true) && self.settled.is_none_or(|settled| settled < floor);
        floor.is_some_and(|floor| covering.is_none_or(|commit| commit <= floor) || lacks(floor)) || is_forgotten()
    }

    /// True if a read shows the version of its time, after all that may be missing.
    fn settles(&self, at: Point, view: &View<'_>) -> bool {
        self.floor.max(view.floor).is_none_or(|floor| floor <= at)
            && self.key.versions().next_back().is_none_or(|newest| newest.commit <= at)
    }

    fn judge_read(
        &mut self,
        row: &Row<Point, Value>,
        value: &Value,
        is_initial: bool,
        later: &[Row<Point, Value>],
        view: &View<'_>,
        found: &mut Found,
    ) {
        let is_initial = is_initial && (*value == Value::Nil || !self.wrote_zero);
        if self.is_unsettled(row.at, view) {
            found.undecided.insert(row.txn);
            if self.settles(row.at, view) {
                self.key.settle(row.at, (row.txn, row.place), value);
            }
            return;
        }
        let mut fault = self.key.read(row.at, value, is_initial);
        if fault.is_some()
            && let Some(open) = self.take_effect(row, view, found, |other| other == value)
        {
            self.key.bound(open.start, row.at, open.write, &open.value);
            fault = self.key.read(row.at, value, is_initial);
        }
        let Some(Fault::Read { newest }) = fault else {
            self.read_zero |= *value == Value::Int(0) && self.key.newest_at(row.at).is_none();
            return;
        };
        if self.lost_open && self.key.versions().all(|version| version.value.as_ref() != Some(value)) {
            found.undecided.insert(row.txn);
            return;
        }
        let is_certain = !self.is_tied(row, later, |other| other == value);
        let (anomaly, sentence) = self.explain(row, value, newest, later, view);
        self.report(anomaly, row, sentence, is_certain, found);
    }

    fn judge_list(
        &mut self,
        row: &Row<Point, Value>,
        list: &[Value],
        later: &[Row<Point, Value>],
        view: &View<'_>,
        found: &mut Found,
    ) {
        if self.is_too_long {
            found.undecided.insert(row.txn);
            return;
        }
        if self.is_unsettled(row.at, view) {
            found.undecided.insert(row.txn);
            self.settle_list(row, list, view);
            return;
        }
        let Some(Fault::Read { newest }) = self.key.read_list(row.at, list) else { return };
        if self.take_effect(row, view, found, |other| list.contains(other)).is_some() || self.lost_open {
            found.undecided.insert(row.txn);
            // The place of the element in other lists is not known.
            self.floor = self.floor.max(Some(row.at));
            self.settle_list(row, list, view);
            return;
        }
        let (anomaly, sentence) = self.explain_list(row, list, newest, later, view);
        let is_certain =
            !self.is_tied(row, later, |other| list.contains(other)) && (anomaly != words::DISORDERED || !self.has_ties);
        self.report(anomaly, row, sentence, is_certain, found);
    }

    /// Takes the list that a read shows, if no element can be missing from it.
    fn settle_list(&mut self, row: &Row<Point, Value>, list: &[Value], view: &View<'_>) {
        if self.settles(row.at, view) {
            self.key.settle_list(row.at, (row.txn, row.place), list);
            self.settled = Some(row.at);
        }
    }

    /// Finds a write of a transaction of unknown outcome that a read shows, if there is one. Its other accesses are not judged.
    fn take_effect(
        &mut self,
        row: &Row<Point, Value>,
        view: &View<'_>,
        found: &mut Found,
        is_returned: impl Fn(&Value) -> bool,
    ) -> Option<Open<Value>> {
        let open = self.open.iter_mut().find(|open| open.start < row.at && is_returned(&open.value))?;
        let was_shown = std::mem::replace(&mut open.is_shown, true);
        let open = open.clone();
        if !was_shown {
            found.undecided.insert(open.write.0);
            let (writer, reader) = ((view.name)(open.write.0), (view.name)(row.txn));
            let sentence = format!(
                "{reader} shows that {writer} committed, but not when: other accesses of {writer} are not decided"
            );
            found.alarms.push(self.alarm(AlarmKind::Undecided, "unknown outcome", open.write, row.at.stamp, sentence));
        }
        Some(open)
    }

    /// True if the order of commits with equal stamps may explain a read that returned a value like this.
    fn is_tied(
        &self,
        row: &Row<Point, Value>,
        later: &[Row<Point, Value>],
        is_returned: impl Fn(&Value) -> bool,
    ) -> bool {
        let newest = self.key.newest_at(row.at).map(|newest| newest.commit.stamp);
        let is_own_commit = row.at.rank != u64::MAX;
        if is_own_commit && newest == Some(row.at.stamp) {
            return true;
        }
        let is_like = |version: &crate::key::Version<Point, Value>| version.value.as_ref().is_some_and(&is_returned);
        let with = |stamp: Stamp| self.key.versions().filter(move |version| version.commit.stamp == stamp);
        let has_other = newest.is_some_and(|newest| with(newest).any(is_like));
        let waits = || {
            let tied = later.iter().take_while(|other| other.at.stamp == row.at.stamp && other.txn != row.txn);
            tied.filter_map(|other| written(&other.access)).any(&is_returned)
        };
        has_other || (is_own_commit && (with(row.at.stamp).any(is_like) || waits()))
    }

    /// The writer of a value that is committed after a read.
    fn later_writer(&self, row: &Row<Point, Value>, value: &Value, later: &[Row<Point, Value>]) -> Option<u64> {
        let kept = self.key.versions().filter(|version| version.commit > row.at && version.origin == Origin::Commit);
        let kept = kept.filter(|version| version.value.as_ref() == Some(value)).map(|version| version.write.0);
        let waiting = later.iter().chain(&self.rows);
        let waiting = waiting.filter(|other| written(&other.access) == Some(value)).map(|other| other.txn);
        kept.chain(waiting).next()
    }

    /// A read of a register in words.
    fn explain(
        &self,
        row: &Row<Point, Value>,
        value: &Value,
        newest: Option<(u64, u32)>,
        later: &[Row<Point, Value>],
        view: &View<'_>,
    ) -> (&'static str, String) {
        let (reader, read) = ((view.name)(row.txn), show_write(&self.name, value, false));
        if let Some(writer) = self.later_writer(row, value, later) {
            return (words::UNSEEN, words::unseen(&reader, &read, &(view.name)(writer)));
        }
        if let Some(hidden) = self.hidden.iter().rev().find(|hidden| hidden.value == *value) {
            let anomaly = if hidden.is_aborted { words::ABORTED } else { words::INTERMEDIATE };
            return (anomaly, words::unwritten(anomaly, &reader, &read));
        }
        let is_older = *value == Value::Nil || self.key.versions().any(|version| version.value.as_ref() == Some(value));
        let is_initial = *value == Value::Int(0) && !self.wrote_zero;
        let is_older = is_older || self.key.has_forgotten || is_initial;
        match newest.filter(|_| is_older) {
            None => (words::THIN_AIR, words::unwritten(words::THIN_AIR, &reader, &read)),
            Some(newest) => (words::MISSED, self.missed(&reader, &read, newest, view)),
        }
    }

    /// A read that missed this version.
    fn missed(&self, reader: &str, read: &str, newest: (u64, u32), view: &View<'_>) -> String {
        let write = self.write_of(newest).unwrap_or_default();
        let source = (view.name)(newest.0);
        let is_read = self.key.versions().any(|version| version.write == newest && version.origin == Origin::Read);
        match is_read {
            true => format!("{reader} read {read}, but {source} read {write}, and nothing was committed in between"),
            false => words::missed(reader, read, &write, &source),
        }
    }

    /// A read of a list in words.
    fn explain_list(
        &self,
        row: &Row<Point, Value>,
        list: &[Value],
        newest: Option<(u64, u32)>,
        later: &[Row<Point, Value>],
        view: &View<'_>,
    ) -> (&'static str, String) {
        let read = format!("{} = {}", Plain(&self.name), show_list(list.iter()));
        let reader = (view.name)(row.txn);
        let len = self.key.newest_at(row.at).map_or(0, |version| version.len);
        let (visible, unseen) = self.key.elements.split_at(len);
        if let Some(element) = list.iter().find(|element| !visible.contains(element)) {
            let write = show_write(&self.name, element, true);
            let waits = self.later_writer(row, element, later);
            let place = unseen.iter().position(|other| other == element).map(|place| len + place);
            let kept = place.and_then(|place| self.key.versions().find(|version| version.len > place));
            if let Some(writer) = waits.or(kept.map(|version| version.write.0)) {
                return (words::UNSEEN, words::unseen(&reader, &write, &(view.name)(writer)));
            }
            let hidden = self.hidden.iter().any(|hidden| hidden.value == *element && hidden.is_aborted);
            let anomaly = if hidden { words::ABORTED } else { words::THIN_AIR };
            return (anomaly, words::unwritten(anomaly, &reader, &read));
        }
        let missed = visible.iter().position(|element| !list.contains(element));
        match missed.zip(newest) {
            None => (words::DISORDERED, words::disordered(&reader, &read)),
            Some((place, newest)) => {
                // The writer is known if the version before it is.
                let versions: Vec<_> = self.key.versions().collect();
                let first = versions.partition_point(|version| version.len <= place);
                let writer = versions
                    .get(first)
                    .filter(|version| version.origin == Origin::Commit && (first > 0 || !self.key.has_forgotten));
                let write = show_write(&self.name, &visible[place], true);
                let sentence = match writer {
                    Some(version) => words::missed(&reader, &read, &write, &(view.name)(version.write.0)),
                    None => format!("{reader} read {read}, but by the stamps it sees {write}, and {}", {
                        format!("the last element is of {}", (view.name)(newest.0))
                    }),
                };
                (words::MISSED, sentence)
            }
        }
    }

    fn report(
        &mut self,
        anomaly: &'static str,
        row: &Row<Point, Value>,
        sentence: String,
        is_certain: bool,
        found: &mut Found,
    ) {
        let id = (row.txn, row.place);
        if !is_certain {
            let sentence = format!("{sentence}: it depends on the order of commits with equal stamps");
            found.alarms.push(self.alarm(AlarmKind::Undecided, anomaly, id, row.at.stamp, sentence));
            return;
        }
        if !row.access.is_write() || anomaly == words::DISORDERED {
            let covering = self.key.newest_at(row.at).map(|version| version.commit);
            self.suspects.push_back(Suspect { at: row.at, covering, id });
            if self.suspects.len() > MOST {
                self.suspects.pop_front();
            }
        }
        found.alarms.push(self.alarm(AlarmKind::Violation, anomaly, id, row.at.stamp, sentence));
    }
}

impl<V> Waiting<V> {
    /// The same with other values.
    pub(super) fn map<W, E>(&self, map: &impl Fn(&V) -> Result<W, E>) -> Result<Waiting<W>, E> {
        let open = |open: &Open<V>| -> Result<Open<W>, E> {
            let Open { start, write, is_shown, .. } = *open;
            Ok(Open { start, write, value: map(&open.value)?, is_shown })
        };
        let hidden = |hidden: &Hidden<V>| -> Result<Hidden<W>, E> {
            Ok(Hidden { txn: hidden.txn, value: map(&hidden.value)?, is_aborted: hidden.is_aborted })
        };
        Ok(Waiting {
            name: map(&self.name)?,
            is_list: self.is_list,
            key: self.key.map(map)?,
            rows: self.rows.iter().map(|row| row.map(map)).collect::<Result<_, E>>()?,
            open: self.open.iter().map(open).collect::<Result<_, E>>()?,
            hidden: self.hidden.iter().map(hidden).collect::<Result<_, E>>()?,
            suspects: self.suspects.clone(),
            floor: self.floor,
            settled: self.settled,
            wrote_zero: self.wrote_zero,
            read_zero: self.read_zero,
            has_ties: self.has_ties,
            lost_open: self.lost_open,
            is_too_long: self.is_too_long,
            is_dirty: self.is_dirty,
            touched: self.touched,
        })
    }
}

/// Whether an access is one of a list; `None` for a read of nil, which may be either.
fn kind(access: &Access<Value>) -> Option<bool> {
    match access {
        Access::Read { value: Value::Nil, .. } => None,
        Access::Read { .. } | Access::Write(_) => Some(false),
        Access::List(_) | Access::Append { .. } => Some(true),
    }
}

fn written(access: &Access<Value>) -> Option<&Value> {
    match access {
        Access::Write(value) | Access::Append { value, .. } => Some(value),
        Access::Read { .. } | Access::List(_) => None,
    }
}

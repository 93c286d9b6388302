//! The monitor of transactions: their reads and writes against the stamps of the database.
//!
//! Processes and losses are those of operations, with stamps in place of times: a transaction starts at its snapshot and ends at its
//! commit. The watermark is the smallest stamp that a process has reached. Stamps have no unit, so the monitor waits in time of its
//! own: it judges a transaction when the watermark passed it `lateness` turns ago, and keeps the versions for snapshots that are at most
//! `retention` turns older. A [`Stream`] judges keys and sessions.

mod saved;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use omnilink_history::End;
use omnilink_isolation::read::Transaction;
use omnilink_isolation::{Alarm, AlarmKind, Level, Stamp, StampError, Status, Stream, StreamLimits};
use rustc_hash::FxHashMap;

use crate::alert::{Alert, AlertKind, Cause};
use crate::counts::Counts;
use crate::item::Line;
use crate::key::NewLimits;
use crate::line_monitor::LineMonitor;
use crate::monitor::{MOST_CAUSES, MOST_WAITING};
use crate::processes::{Admitted, Entry, Gap, Process, Processes};

/// Options of a monitor of transactions.
#[derive(Clone, Debug)]
pub struct TransactionOptions {
    /// The level: `prefix`, `snapshot` or `serializable`, in session order or without an order.
    pub level: Level,
    /// The number of turns that the monitor stays behind the processes.
    pub lateness: u64,
    /// The number of turns for which it keeps older versions, for snapshots that come after the watermark.
    pub retention: u64,
    /// A process that has been silent for this many turns does not hold up the watermark.
    pub idle: Option<u64>,
    /// A transaction is lost if it has not arrived this many turns after a later one of its process.
    pub patience: u64,
    /// Whether keys begin with unknown values, because the system was running before.
    pub joins: bool,
    /// Limits of keys and lists.
    pub limits: StreamLimits,
    /// The maximum number of reads, writes and versions to hold. Beyond it, the monitor waits for no process.
    pub most_held: usize,
}

impl TransactionOptions {
    /// The options for a level.
    pub fn new(level: Level) -> TransactionOptions {
        TransactionOptions {
            level,
            lateness: 0,
            retention: 0,
            idle: None,
            patience: 50,
            joins: false,
            limits: StreamLimits::default(),
            most_held: 4_000_000,
        }
    }
}

/// The maximum number of alerts of a turn. Further violations are counted.
const MOST_ALERTS: usize = 1_000;

/// The maximum number of alerts whose violations may be withdrawn.
const MOST_TOLD: usize = 100_000;

/// A read or write of a transaction.
type Place = (u64, u32);

/// Checks transactions as they arrive.
#[derive(Debug)]
pub struct TransactionMonitor {
    options: TransactionOptions,
    processes: Processes<Transaction>,
    stream: Stream,
    /// The watermarks of the processes at the last turns.
    passed: VecDeque<(u64, u64)>,
    counts: Counts,
    causes: BTreeMap<String, Cause>,
    alerts: u64,
    /// The numbers of alerts by the place that they are about, and these places in order.
    told: FxHashMap<Place, u64>,
    told_last: VecDeque<Place>,
    /// Alerts that are due.
    due: Vec<(AlertKind, String)>,
}

impl Entry for Transaction {
    fn process(&self) -> &Arc<str> {
        &self.process
    }

    fn seq(&self) -> Option<u64> {
        self.seq
    }

    fn numbered(self, seq: u64) -> Transaction {
        Transaction { seq: Some(seq), ..self }
    }

    fn start(&self) -> Option<u64> {
        self.snapshot.or(self.commit).map(|stamp| stamp.physical)
    }

    fn end(&self) -> End {
        match (self.status, self.commit.or(self.snapshot)) {
            (Status::Unknown, _) if self.commit.is_none() && self.writes() => End::Unknown { latest: None },
            (_, last) => End::At(last.map_or(0, |last| last.physical)),
        }
    }
}

impl TransactionMonitor {
    /// Makes a monitor.
    pub fn new(options: TransactionOptions) -> Result<TransactionMonitor, StampError> {
        let stream = Stream::new(options.level, options.limits, options.joins)?;
        Ok(TransactionMonitor {
            options,
            processes: Processes::default(),
            stream,
            passed: VecDeque::new(),
            counts: Counts::default(),
            causes: BTreeMap::new(),
            alerts: 0,
            told: FxHashMap::default(),
            told_last: VecDeque::new(),
            due: Vec::new(),
        })
    }

    fn admit(&mut self, admitted: Admitted<Transaction>) {
        self.counts.duplicates += admitted.duplicates;
        for Gap { sentence, count, from, until } in admitted.gaps {
            self.counts.lost = self.counts.lost.saturating_add(count);
            self.due.push((AlertKind::Lost, sentence));
            self.lose(from, until);
        }
        for txn in admitted.items {
            self.counts.operations += 1;
            let number = txn.seq.unwrap_or_default();
            let (start, end) = (txn.start().unwrap_or(0), txn.commit.map_or(u64::MAX, |commit| commit.physical));
            if let Err(sentence) = self.stream.push(number, txn) {
                self.counts.wrong += 1;
                self.counts.unknown += 1;
                self.due.push((AlertKind::Wrong, sentence));
                self.lose(start, end);
            }
        }
    }

    /// Transactions were lost that may have committed between these stamps.
    fn lose(&mut self, from: u64, until: u64) {
        self.stream.lose(Stamp::new(from), Stamp { physical: until, logical: u64::MAX });
    }

    /// The watermark, and the oldest snapshot whose versions are kept.
    fn next_watermark(&mut self) -> (u64, u64) {
        let now = self.processes.advance(0, self.options.idle);
        let turn = self.processes.turn;
        if self.passed.back().is_none_or(|(_, last)| *last < now) {
            self.passed.push_back((turn, now));
        }
        let at = |turns: u64| {
            let due = turn.checked_sub(turns)?;
            self.passed.iter().rev().find(|(turn, _)| *turn <= due).map(|(_, watermark)| *watermark)
        };
        let (lateness, retention) = (self.options.lateness, self.options.retention);
        let oldest = lateness.saturating_add(retention);
        let (watermark, horizon) = (at(lateness).unwrap_or(0), at(oldest).unwrap_or(0));
        while self.passed.get(1).is_some_and(|(passed, _)| turn.saturating_sub(*passed) >= oldest) {
            self.passed.pop_front();
        }
        match () {
            () if self.stream.held() > self.options.most_held.saturating_mul(2) => {
                let last = self.processes.reached.saturating_add(1);
                (last, last)
            }
            () if self.stream.held() > self.options.most_held => (now, now),
            () => (watermark, horizon),
        }
    }

    /// Turns findings of the stream into alerts.
    fn alerts_of(&mut self, alarms: Vec<Alarm>) -> Vec<Alert> {
        let mut alerts = Vec::new();
        for (kind, sentence) in std::mem::take(&mut self.due) {
            let cause = omnilink_report::without_numbers(&sentence);
            alerts.push(self.alert(kind, (String::new(), None), sentence, cause, 0));
        }
        for alarm in alarms {
            let kind = match alarm.kind {
                AlarmKind::Violation => AlertKind::Violation,
                AlarmKind::Withdrawn => AlertKind::Withdrawn,
                AlarmKind::Undecided => AlertKind::Inconclusive,
            };
            let repeated = self.count(&alarm, kind);
            let sentence = match (kind, self.told.remove(&alarm.id)) {
                (AlertKind::Withdrawn, Some(number)) => format!("alert {number} is withdrawn: {}", alarm.sentence),
                (AlertKind::Withdrawn, None) => format!("a violation is withdrawn: {}", alarm.sentence),
                _ => format!("{}: {}", alarm.anomaly, alarm.sentence),
            };
            if alerts.len() >= MOST_ALERTS {
                continue;
            }
            let key = alarm.key.map_or(String::new(), |key| key.to_string());
            let about = (key, Some(alarm.at.physical));
            alerts.push(self.alert(kind, about, sentence, alarm.anomaly, repeated));
            if kind == AlertKind::Violation {
                self.remember(alarm.id);
            }
        }
        alerts
    }

    fn remember(&mut self, place: Place) {
        self.told.insert(place, self.alerts);
        self.told_last.push_back(place);
        if self.told_last.len() > MOST_TOLD
            && let Some(place) = self.told_last.pop_front()
        {
            self.told.remove(&place);
        }
    }

    /// Counts a finding. Returns the number of earlier violations with its cause.
    fn count(&mut self, alarm: &Alarm, kind: AlertKind) -> u64 {
        match kind {
            AlertKind::Withdrawn => {
                self.counts.withdrawn += 1;
                self.counts.violations = self.counts.violations.saturating_sub(1);
                self.counts.unknown += 1;
            }
            AlertKind::Inconclusive => self.counts.inconclusive += 1,
            AlertKind::Violation => {
                self.counts.violations += 1;
                let (number, at) = (self.alerts + 1, self.processes.watermark.min(self.processes.reached));
                if self.causes.contains_key(&alarm.anomaly) || self.causes.len() < MOST_CAUSES {
                    let known = self.causes.entry(alarm.anomaly.clone()).or_insert_with(|| Cause {
                        cause: alarm.anomaly.clone(),
                        violations: 0,
                        first: number,
                        between: (at, at),
                        sentence: String::new(),
                    });
                    known.violations += 1;
                    known.between.1 = at;
                    known.sentence.clone_from(&alarm.sentence);
                    return known.violations - 1;
                }
            }
            AlertKind::Lost | AlertKind::Wrong => {}
        }
        0
    }

    fn alert(
        &mut self,
        kind: AlertKind,
        (key, at): (String, Option<u64>),
        sentence: String,
        cause: String,
        repeated: u64,
    ) -> Alert {
        self.alerts += 1;
        let watermark = self.processes.watermark.min(self.processes.reached);
        Alert { number: self.alerts, kind, key, at, watermark, sentence, cause, repeated, report: None }
    }
}

impl LineMonitor for TransactionMonitor {
    fn feed(&mut self, line: Line) {
        let admitted = match line {
            Line::Transaction(txn) => self.processes.operation(*txn),
            Line::Progress { process, time, operations, is_last } => {
                self.processes.progress(&process, time, operations, is_last)
            }
            Line::Operation(item) => {
                let sentence = format!("an operation of {}, not a transaction: `--spec` checks these", item.process);
                self.due.push((AlertKind::Wrong, sentence));
                return self.feed_unreadable();
            }
            Line::Nothing => return,
        };
        self.admit(admitted);
    }

    fn feed_unreadable(&mut self) {
        self.counts.wrong += 1;
        let lost = self.processes.unreadable();
        self.admit(lost);
    }

    fn advance_within(&mut self, _: &NewLimits<'_>) -> Vec<Alert> {
        self.processes.turn += 1;
        let (turn, patience) = (self.processes.turn, self.options.patience);
        let is_full = self.processes.waiting() > MOST_WAITING;
        let is_due = |process: &Process<Transaction>| is_full || turn.saturating_sub(process.heard) > patience;
        let lost = self.processes.give_up(None, is_due);
        self.admit(lost);
        let (watermark, horizon) = self.next_watermark();
        self.counts.checks += 1;
        let alarms = self.stream.advance(Stamp::new(watermark), Stamp::new(horizon));
        self.alerts_of(alarms)
    }

    fn finish_within(&mut self, is_complete: bool, _: &NewLimits<'_>) -> Vec<Alert> {
        let lost = self.processes.give_up(None, |_| true);
        self.admit(lost);
        if is_complete {
            self.processes.all.values_mut().for_each(|process| process.is_over = true);
        }
        self.counts.checks += 1;
        let alarms = if self.processes.all.values().all(|process| process.is_over) {
            self.processes.end();
            self.processes.advance(0, None);
            self.stream.finish()
        } else {
            let watermark = self.processes.advance(0, None);
            self.stream.advance(Stamp::new(watermark), Stamp::default())
        };
        self.counts.unknown += self.stream.waiting() as u64;
        self.alerts_of(alarms)
    }

    fn counts(&self) -> Counts {
        let found = self.stream.counts();
        Counts {
            late: found.late,
            unknown: self.counts.unknown + found.undecided,
            checked: found.judged.saturating_sub(found.undecided),
            dropped: found.dropped,
            keys: self.stream.keys() as u64,
            kept: self.stream.held() as u64,
            processes: self.processes.all.values().filter(|process| !process.is_over).count() as u64,
            watermark: self.processes.watermark.min(self.processes.reached),
            lag: self.processes.reached.saturating_sub(self.processes.watermark),
            ..self.counts.clone()
        }
    }

    fn alerts(&self) -> u64 {
        self.alerts
    }

    fn causes(&self) -> Vec<&Cause> {
        let mut causes: Vec<&Cause> = self.causes.values().collect();
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.violations));
        causes
    }

    fn widest(&self, most: usize) -> Vec<(String, usize)> {
        self.stream.widest(most)
    }

    fn save(&self, subject: &str, position: &serde_json::Value) -> Result<String, String> {
        self.write(subject, position)
    }
}

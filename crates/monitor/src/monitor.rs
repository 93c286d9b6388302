//! The monitor: takes lines, checks keys up to the watermark, and returns alerts.

use std::collections::BTreeMap;
use std::sync::Arc;

use omnilink_history::{Call, End, Value};
use omnilink_judge::{CheckedKey, Judge, Unlimited};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::alert::{Alert, AlertKind, Cause};
use crate::counts::Counts;
use crate::forms::Forms;
use crate::item::{Item, Line};
use crate::key::{Checking, Found, Key, Losses, NewLimits, Standing, deadline};
use crate::processes::{Admitted, Gap, Process, Processes};

/// Options of a monitor. Times are in the unit of the operations.
#[derive(Clone, Debug)]
pub struct MonitorOptions {
    /// The argument that is the key; `None` if all operations are of one object.
    pub key: Option<String>,
    /// The distance of the watermark from the progress of the processes.
    pub lateness: u64,
    /// The maximum distance between the watermark and the start of an operation that the monitor still takes into account.
    pub retention: u64,
    /// A process that has been silent for this many calls of [`Monitor::advance`] does not hold up the watermark.
    pub idle: Option<u64>,
    /// An operation is lost if it has not arrived this many calls of [`Monitor::advance`] after a later one of its process.
    pub patience: u64,
    /// An operation of unknown outcome takes effect within this time after its start, or not at all; `None` if there is no
    /// such bound.
    pub unknown_for: Option<u64>,
    /// Whether a process may start an operation before its last one has ended. Its operations are then numbered by their
    /// starts, and keys stay unknown after a loss, because the lost operation may still run.
    pub overlap: bool,
    /// Whether a process may continue after an operation of unknown outcome. Then a lost operation may take effect at any
    /// time, or within `unknown_for`.
    pub go_on: bool,
    /// Whether keys begin in an unknown state, because the system was running before.
    pub joins: bool,
    /// The maximum number of keys.
    pub most_keys: usize,
    /// The maximum number of operations of a key without a quiet instant.
    pub most_ops: usize,
    /// The maximum number of reports for each cause.
    pub most_reports: u64,
}

impl Default for MonitorOptions {
    fn default() -> MonitorOptions {
        MonitorOptions {
            key: Some("key".into()),
            lateness: 0,
            retention: 0,
            idle: None,
            patience: 50,
            unknown_for: None,
            overlap: false,
            go_on: false,
            joins: false,
            most_keys: 1 << 20,
            most_ops: 10_000,
            most_reports: 3,
        }
    }
}

/// The maximum number of causes that the monitor distinguishes.
pub(crate) const MOST_CAUSES: usize = 1_000;

/// The maximum number of operations that wait for their predecessors, of all processes together.
pub(crate) const MOST_WAITING: usize = 100_000;

/// Checks operations as they arrive.
#[derive(Debug)]
pub struct Monitor {
    judge: Arc<Judge>,
    /// Whether a check of a key continues from the states of the last one. Otherwise it checks all operations again.
    carries: bool,
    /// Whether the specification has the argument that is the key.
    keeps_key: bool,
    options: MonitorOptions,
    pub(crate) processes: Processes<Item>,
    pub(crate) keys: FxHashMap<Value, Key>,
    /// Keys with operations.
    pub(crate) busy: FxHashSet<Value>,
    pub(crate) losses: Losses,
    /// Operations of keys that were dropped may take effect until this time.
    pub(crate) dropped_until: u64,
    pub(crate) counts: Counts,
    pub(crate) causes: BTreeMap<String, Cause>,
    pub(crate) alerts: u64,
    /// Keys as numbers and as text.
    forms: Forms,
    /// Losses that have no alert yet.
    gaps: Vec<(AlertKind, String)>,
}

impl Monitor {
    /// Makes a monitor. Monitors can share a judge.
    pub fn new(judge: impl Into<Arc<Judge>>, options: MonitorOptions) -> Monitor {
        let judge = judge.into();
        let mut processes = Processes::default();
        (processes.habits.overlap, processes.habits.go_on) = (options.overlap, options.go_on);
        Monitor {
            carries: judge.carries(),
            keeps_key: options.key.as_deref().is_none_or(|name| judge.takes_key(name)),
            judge,
            options,
            processes,
            keys: FxHashMap::default(),
            busy: FxHashSet::default(),
            losses: Losses::default(),
            dropped_until: 0,
            counts: Counts::default(),
            causes: BTreeMap::new(),
            alerts: 0,
            forms: Forms::default(),
            gaps: Vec::new(),
        }
    }

    /// Takes a line. [`Monitor::advance`] decides about it.
    pub fn feed(&mut self, line: Line) {
        let admitted = match line {
            Line::Operation(item) => self.processes.operation(item),
            Line::Progress { process, time, operations, is_last } => {
                self.processes.progress(&process, time, operations, is_last)
            }
            Line::Transaction(txn) => {
                let sentence =
                    format!("a transaction of {}, not an operation: `--isolation` checks these", txn.process);
                self.gaps.push((AlertKind::Wrong, sentence));
                self.counts.wrong += 1;
                self.processes.unreadable()
            }
            Line::Nothing => return,
        };
        self.admit(admitted);
    }

    /// Moves the watermark to the progress of the processes, and checks the keys up to it.
    pub fn advance(&mut self) -> Vec<Alert> {
        self.advance_within(&|_| Box::new(Unlimited))
    }

    /// The same with limits for each check of a key. A key whose check reaches a limit is unknown from then on, with an
    /// alert. An [interrupted](omnilink_history::Stop::Interrupted) check leaves the key as it was.
    pub fn advance_within(&mut self, limits: &NewLimits<'_>) -> Vec<Alert> {
        self.processes.turn += 1;
        let (turn, patience) = (self.processes.turn, self.options.patience);
        let is_full = self.processes.waiting() > MOST_WAITING;
        let is_due = |process: &Process<Item>| is_full || turn.saturating_sub(process.heard) > patience;
        let lost = self.processes.give_up(self.options.unknown_for, is_due);
        self.admit(lost);
        let watermark = self.processes.advance(self.options.lateness, self.options.idle);
        self.check_keys(watermark, limits)
    }

    /// Checks the remaining operations at the end of the input. `is_complete` says that all operations have arrived, so
    /// that all processes are over.
    pub fn finish(&mut self, is_complete: bool) -> Vec<Alert> {
        self.finish_within(is_complete, &|_| Box::new(Unlimited))
    }

    /// The same with limits for each check of a key.
    #[expect(clippy::iter_over_hash_type, reason = "keys do not depend on each other")]
    pub fn finish_within(&mut self, is_complete: bool, limits: &NewLimits<'_>) -> Vec<Alert> {
        let lost = self.processes.give_up(self.options.unknown_for, |_| true);
        self.admit(lost);
        if is_complete {
            self.processes.all.values_mut().for_each(|process| process.is_over = true);
        }
        let is_over = self.processes.all.values().all(|process| process.is_over);
        if is_over {
            self.processes.end();
        }
        let watermark = self.processes.advance(0, None);
        let mut alerts = self.check_keys(watermark, limits);
        alerts.extend(self.check_keys(watermark, limits));
        for key in self.keys.values_mut() {
            let open = if is_over { 0 } else { key.unsettled() };
            self.counts.unknown += open;
            // An operation of the key may be lost or under way.
            let may_be_more = !is_over || key.losses < self.losses.count;
            key.undecided += open + u64::from(may_be_more);
        }
        alerts
    }

    /// The counts since the beginning, and the present state.
    pub fn counts(&self) -> Counts {
        Counts {
            keys: self.keys.len() as u64,
            unknown_keys: self.keys.values().filter(|key| matches!(key.standing, Standing::Unknown { .. })).count()
                as u64,
            kept: self.keys.values().map(|key| key.ops.len() as u64).sum(),
            processes: self.processes.all.values().filter(|process| !process.is_over).count() as u64,
            watermark: self.processes.watermark.min(self.processes.reached),
            lag: self.processes.reached.saturating_sub(self.processes.watermark),
            ..self.counts.clone()
        }
    }

    /// The number of alerts so far.
    pub fn alerts(&self) -> u64 {
        self.alerts
    }

    /// Takes an unreadable line. It may have been an operation of any key: all keys are unknown from then on, unless the
    /// numbers of operations show the loss.
    pub fn feed_unreadable(&mut self) {
        self.counts.wrong += 1;
        let lost = self.processes.unreadable();
        self.admit(lost);
    }

    /// The causes of violations, most frequent first.
    pub fn causes(&self) -> Vec<&Cause> {
        let mut causes: Vec<&Cause> = self.causes.values().collect();
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.violations));
        causes
    }

    /// The keys, each with the violations that have not been withdrawn and with its undecided operations. After
    /// [`Monitor::finish`], a key without either is accepted as a whole.
    pub fn verdicts(&self) -> impl Iterator<Item = (&Value, u64, u64)> {
        self.keys.iter().map(|(value, key)| (value, key.violations, key.undecided))
    }

    /// The keys with the most operations that are not settled.
    pub fn widest(&self, most: usize) -> Vec<(String, usize)> {
        let mut widest: Vec<(usize, &Value)> = self.busy.iter().map(|key| (self.keys[key].ops.len(), key)).collect();
        widest.sort_unstable_by_key(|(ops, _)| std::cmp::Reverse(*ops));
        widest.into_iter().take(most).map(|(ops, key)| (key.to_string(), ops)).collect()
    }

    fn admit(&mut self, admitted: Admitted<Item>) {
        self.counts.duplicates += admitted.duplicates;
        for gap in admitted.gaps {
            self.counts.lost = self.counts.lost.saturating_add(gap.count);
            self.lose(&gap);
            self.gaps.push((AlertKind::Lost, gap.sentence));
        }
        for item in admitted.items {
            self.counts.operations += 1;
            self.route(item);
        }
    }

    /// Makes all keys unknown. Doubts violations that were found although lost operations may have started before: their
    /// process seemed idle.
    #[expect(clippy::iter_over_hash_type, reason = "keys do not depend on each other")]
    fn lose(&mut self, gap: &Gap) {
        self.losses.count += 1;
        self.losses.until = self.losses.until.max(gap.until);
        if gap.from >= self.processes.watermark {
            return;
        }
        for value in &self.busy {
            if let Some(key) = self.keys.get_mut(value) {
                key.doubt(gap.from, gap.until);
            }
        }
    }

    /// Returns the key of a call, and removes it unless the specification has an argument for it.
    fn take_key(&self, call: &mut Call) -> Option<Value> {
        let Some(name) = &self.options.key else { return Some(Value::Nil) };
        if self.keeps_key {
            return call.arg(0, name).cloned();
        }
        let (value, rest) = call.split_arg(0, name)?;
        *call = rest;
        Some(value)
    }

    /// Adds an operation to its key.
    fn route(&mut self, mut item: Item) {
        // An operation that failed or is blocked has no effect at any time.
        let may_happen = !item.call.failed && !item.call.blocked;
        if let (End::Unknown { latest: None }, Some(bound), true) = (item.end, self.options.unknown_for, may_happen) {
            item.end = End::Unknown { latest: item.start.checked_add(bound).filter(|latest| *latest < u64::MAX) };
        }
        let Some(value) = self.take_key(&mut item.call) else {
            // The operation may be about any key.
            let sentence =
                format!("`{}` has no argument `{}`", item.call, self.options.key.as_deref().unwrap_or_default());
            self.counts.wrong += 1;
            self.lose(&Gap { sentence: String::new(), count: 1, from: item.start, until: deadline(&item) });
            self.gaps.push((AlertKind::Wrong, sentence));
            return;
        };
        let value = self.judge.key(value);
        if !self.keys.contains_key(&value)
            && let Some(digits) = self.judge.digits_of(&value)
            && let Some(sentence) = self.forms.notice(digits, &item)
        {
            self.counts.wrong += 1;
            self.gaps.push((AlertKind::Wrong, sentence));
        }
        // An unknown key may have been dropped.
        let busy_until = (self.options.joins || self.counts.dropped > 0).then_some(self.dropped_until);
        let key = self.keys.entry(value.clone()).or_insert_with(|| Key::new(busy_until));
        key.touched = self.processes.watermark;
        if let Some(is_in_time) = key.add(item) {
            self.counts.late += 1;
            self.counts.unknown += u64::from(!is_in_time);
        }
        self.busy.insert(value);
    }

    fn check_keys(&mut self, watermark: u64, limits: &NewLimits<'_>) -> Vec<Alert> {
        let mut alerts = Vec::new();
        for (kind, sentence) in std::mem::take(&mut self.gaps) {
            alerts.push(self.alert(kind, String::new(), watermark, sentence, None));
        }
        let checking = Checking {
            judge: &self.judge,
            limits,
            watermark,
            retention: self.options.retention,
            most_ops: self.options.most_ops,
            carries: self.carries,
            losses: self.losses,
        };
        let mut found = Vec::new();
        let (keys, counts) = (&mut self.keys, &mut self.counts);
        self.busy.retain(|value| {
            let Some(key) = keys.get_mut(value) else { return false };
            if key.is_due(watermark) {
                counts.checks += 1;
                let (result, withdrawn) = key.check(&value.to_string(), &checking);
                match &result {
                    Found::Fine(checked) | Found::Violation(_, checked) => counts.checked += checked,
                    Found::Unknown(left_out) => counts.unknown += left_out,
                    _ => {}
                }
                if withdrawn.is_some() || !matches!(result, Found::Fine(_) | Found::Unknown(_)) {
                    found.push((value.clone(), result, withdrawn));
                }
            }
            key.forget(&checking);
            !key.is_quiet(checking.carries)
        });
        // The order of keys in memory must not show.
        found.sort_by_cached_key(|(value, ..)| value.to_string());
        for (value, found, withdrawn) in found {
            alerts.extend(self.tell(&value, watermark, found, withdrawn));
        }
        self.make_room();
        alerts
    }

    /// Turns the result of checking a key into counts and alerts.
    fn tell(&mut self, value: &Value, watermark: u64, found: Found, withdrawn: Option<u64>) -> Vec<Alert> {
        let (mut alerts, shown) = (Vec::new(), value.to_string());
        if let Some(number) = withdrawn {
            self.counts.withdrawn += 1;
            self.counts.violations = self.counts.violations.saturating_sub(1);
            let key = self.keys.get_mut(value).expect("a key that was checked");
            (key.doubted, key.violations) = (None, key.violations.saturating_sub(1));
            let sentence = format!("alert {number} is withdrawn: an operation came late");
            alerts.push(self.alert(AlertKind::Withdrawn, shown.clone(), watermark, sentence, None));
        }
        match found {
            Found::Fine(_) | Found::Unknown(_) => {}
            Found::Violation(verdict, _) => {
                let key = self.keys.get_mut(value).expect("a key that was checked");
                // The check has found a doubted violation again.
                if let Some(alert) = key.doubted.take() {
                    key.standing = Standing::Violated { at: watermark, alert };
                    self.busy.insert(value.clone());
                    return alerts;
                }
                key.violations += 1;
                key.standing = Standing::Violated { at: watermark, alert: self.alerts + 1 };
                // A late operation may explain the violation.
                self.busy.insert(value.clone());
                self.counts.violations += 1;
                let CheckedKey { reason, report, .. } = *verdict;
                let sentence = reason.unwrap_or_default();
                alerts.push(self.alert(AlertKind::Violation, shown, watermark, sentence, report));
            }
            Found::Inconclusive(why) => {
                self.counts.inconclusive += 1;
                alerts.push(self.alert(AlertKind::Inconclusive, shown, watermark, why, None));
            }
            Found::Wrong(why) => {
                self.counts.wrong += 1;
                alerts.push(self.alert(AlertKind::Wrong, shown, watermark, why, None));
            }
        }
        alerts
    }

    fn alert(
        &mut self,
        kind: AlertKind,
        key: String,
        watermark: u64,
        sentence: String,
        report: Option<Box<omnilink_report::Report>>,
    ) -> Alert {
        self.alerts += 1;
        let (number, mut repeated) = (self.alerts, 0);
        let at = report.as_deref().and_then(blamed);
        let cause = report.as_deref().and_then(omnilink_report::cause);
        let cause = cause.unwrap_or_else(|| omnilink_report::without_numbers(&sentence));
        if kind == AlertKind::Violation && (self.causes.contains_key(&cause) || self.causes.len() < MOST_CAUSES) {
            let known = self.causes.entry(cause.clone()).or_insert_with(|| Cause {
                cause: cause.clone(),
                violations: 0,
                first: number,
                between: (watermark, watermark),
                sentence: String::new(),
            });
            repeated = known.violations;
            known.violations += 1;
            known.between.1 = watermark;
            known.sentence.clone_from(&sentence);
        }
        let report = report.filter(|_| repeated < self.options.most_reports);
        // The end of the input is not a time.
        let watermark = watermark.min(self.processes.reached);
        Alert { number, kind, key, at, watermark, sentence, cause, repeated, report }
    }

    /// Drops the keys that have been quiet for the longest time, if there are too many: first those without an operation in
    /// flight, then others, and last those with an operation that may take effect at any time. The states of keys that are
    /// new after that are unknown for as long.
    fn make_room(&mut self) {
        if self.keys.len() <= self.options.most_keys {
            return;
        }
        let rank = |key: &Key| match key.busy_until() {
            u64::MAX => (2, key.touched),
            busy_until => (u8::from(busy_until >= self.processes.watermark), key.touched),
        };
        let mut all: Vec<_> = self.keys.iter().map(|(value, key)| (rank(key), value.clone())).collect();
        let surplus = self.keys.len() - self.options.most_keys + self.options.most_keys / 8;
        let needed = self.keys.len() - self.options.most_keys;
        if surplus < all.len() {
            all.select_nth_unstable_by_key(surplus, |(rank, _)| *rank);
        }
        for (count, (rank, value)) in all.into_iter().take(surplus).enumerate() {
            // Room in advance is worth dropping a quiet key, but no other.
            if rank.0 > 0 && count >= needed {
                continue;
            }
            if let Some(key) = self.keys.remove(&value) {
                self.counts.unknown += key.unsettled();
                self.dropped_until = self.dropped_until.max(key.busy_until());
            }
            self.busy.remove(&value);
            self.counts.dropped += 1;
        }
    }
}

/// The start of the operation that a reader should inspect first.
fn blamed(report: &omnilink_report::Report) -> Option<u64> {
    let omnilink_report::Verdict::Rejected(rejection) = &report.verdict else { return None };
    report.operations.get(rejection.subject()?.0).map(|operation| operation.start)
}

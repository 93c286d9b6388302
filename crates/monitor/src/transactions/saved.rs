//! The state of a monitor of transactions as text: a line with counts, then one for each process and each key.

use omnilink_history::format::json::Json;
use omnilink_isolation::read::Transaction;
use omnilink_isolation::{SavedKey, SavedStream, Stream};
use serde::{Deserialize, Serialize};

use super::{Place, TransactionMonitor, TransactionOptions};
use crate::alert::{AlertKind, Cause};
use crate::checkpoint::{BadCheckpoint, Checkpoint, ProcessLine, check_counts, line, parse};
use crate::counts::Counts;
use crate::processes::Habits;

/// The schema of a checkpoint of transactions.
const SCHEMA: &str = "omnilink.transactions-checkpoint/1";

#[derive(Serialize, Deserialize)]
struct Head {
    schema: String,
    spec: String,
    position: serde_json::Value,
    reached: u64,
    watermark: u64,
    turn: u64,
    habits: Habits,
    passed: Vec<(u64, u64)>,
    counts: Counts,
    causes: Vec<Cause>,
    alerts: u64,
    told: Vec<(Place, u64)>,
    due: Vec<(AlertKind, String)>,
    stream: SavedStream,
    processes: usize,
    keys: usize,
}

impl TransactionMonitor {
    /// The state after [`advance_within`](crate::LineMonitor::advance_within), at this position of the input.
    pub(super) fn write(&self, subject: &str, position: &serde_json::Value) -> Result<String, String> {
        let (stream, keys) = self.stream.save()?;
        let told = self.told_last.iter().filter_map(|place| Some((*place, *self.told.get(place)?)));
        let head = Head {
            schema: SCHEMA.to_owned(),
            spec: subject.to_owned(),
            position: position.clone(),
            reached: self.processes.reached,
            watermark: self.processes.watermark,
            turn: self.processes.turn,
            habits: self.processes.habits,
            passed: self.passed.iter().copied().collect(),
            counts: self.counts.clone(),
            causes: self.causes.values().cloned().collect(),
            alerts: self.alerts,
            told: told.collect(),
            due: self.due.clone(),
            stream,
            processes: self.processes.all.len(),
            keys: keys.len(),
        };
        let mut text = line(&head);
        let mut processes: Vec<_> = self.processes.all.iter().collect();
        processes.sort_unstable_by_key(|(name, _)| *name);
        for (name, process) in processes {
            text += &line(&ProcessLine::of(name, process, Transaction::write)?);
        }
        for key in &keys {
            text += &line(key);
        }
        Ok(text)
    }
}

impl Checkpoint<TransactionMonitor> {
    /// Reads the state of a monitor of transactions.
    pub fn read_transactions(
        text: &str,
        subject: &str,
        options: TransactionOptions,
    ) -> Result<Checkpoint<TransactionMonitor>, BadCheckpoint> {
        restore(text, subject, options)
    }
}

fn restore(
    text: &str,
    subject: &str,
    options: TransactionOptions,
) -> Result<Checkpoint<TransactionMonitor>, BadCheckpoint> {
    let mut lines = text.lines().zip(1..);
    let (first, _) = lines.next().unwrap_or_default();
    let wrong = |line: usize| move |why: String| BadCheckpoint::Line { line, why };
    let head: Head = parse(first).map_err(wrong(1))?;
    if head.schema != SCHEMA {
        return Err(wrong(1)(format!("unsupported version `{}` (expected `{SCHEMA}`)", head.schema)));
    }
    check_counts([head.turn, head.alerts, head.counts.operations, head.counts.violations]).map_err(wrong(1))?;
    if head.spec != subject {
        return Err(BadCheckpoint::Spec { found: head.spec, expected: subject.to_owned() });
    }
    let level = options.level;
    let mut monitor = TransactionMonitor::new(options).map_err(|error| wrong(1)(error.to_string()))?;
    for (text, number) in lines.by_ref().take(head.processes) {
        let line: ProcessLine = parse(text).map_err(wrong(number))?;
        let (name, process) = line.process(read_transaction).map_err(wrong(number))?;
        monitor.processes.all.insert(name, process);
    }
    let keys = lines.by_ref().take(head.keys).map(|(text, number)| parse(text).map_err(wrong(number)));
    let keys: Vec<SavedKey> = keys.collect::<Result<_, _>>()?;
    // A text that breaks off must not pass for a monitor with fewer keys.
    let found = (monitor.processes.all.len(), keys.len(), lines.next().is_none());
    if found != (head.processes, head.keys, true) {
        return Err(wrong(1)("it does not have as many lines as it says".to_owned()));
    }
    let limits = monitor.options.limits;
    monitor.stream = Stream::restore(level, limits, head.stream, keys).map_err(wrong(1))?;
    (monitor.processes.reached, monitor.processes.watermark) = (head.reached, head.watermark);
    (monitor.processes.turn, monitor.processes.habits) = (head.turn, head.habits);
    (monitor.counts, monitor.alerts) = (head.counts, head.alerts);
    (monitor.passed, monitor.due) = (head.passed.into(), head.due);
    monitor.causes = head.causes.into_iter().map(|cause| (cause.cause.clone(), cause)).collect();
    monitor.told_last = head.told.iter().map(|(place, _)| *place).collect();
    monitor.told = head.told.into_iter().collect();
    Ok(Checkpoint { position: head.position, monitor })
}

fn read_transaction(text: &str) -> Result<Transaction, String> {
    Transaction::read(&Json::parse(text).map_err(|problem| problem.message)?)
}

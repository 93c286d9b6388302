//! The state of a monitor, and the position in its input that it belongs to, as one text.
//!
//! A monitor that continues from a checkpoint, with the input from its position on, has the same findings as one that ran
//! without a break: the state and the position are stored together, or not at all.

use std::collections::VecDeque;
use std::sync::Arc;

use omnilink_history::format::jsonl::{self, read_value_of, write_value_of};
use omnilink_history::{ProcessId, Record, Trace, Value};
use omnilink_judge::Judge;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::alert::Cause;
use crate::counts::Counts;
use crate::item::{Item, Line, Lines};
use crate::key::{Key, Losses, Snapshot, Standing};
use crate::monitor::{Monitor, MonitorOptions};
use crate::processes::{Entry, Habits, Process};

/// The schema of a checkpoint.
const SCHEMA: &str = "omnilink.checkpoint/1";

/// A monitor's state at a position of its input.
#[derive(Debug)]
pub struct Checkpoint<M = Monitor> {
    /// The position; only the source interprets it.
    pub position: serde_json::Value,
    /// The monitor.
    pub monitor: M,
}

/// Why a checkpoint cannot be read.
#[derive(Debug, Error)]
pub enum BadCheckpoint {
    /// It is not a checkpoint, or has another version.
    #[error("line {line}: {why}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// The reason.
        why: String,
    },
    /// It is of another specification.
    #[error("it is a checkpoint of `{found}`, not of `{expected}`")]
    Spec {
        /// The specification that it belongs to.
        found: String,
        /// The requested specification.
        expected: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Head {
    schema: String,
    spec: String,
    position: serde_json::Value,
    reached: u64,
    watermark: u64,
    turn: u64,
    losses: Losses,
    dropped_until: u64,
    habits: Habits,
    counts: Counts,
    causes: Vec<Cause>,
    alerts: u64,
    processes: usize,
    keys: usize,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct ProcessLine {
    name: String,
    next: Option<u64>,
    unnumbered: u64,
    progress: u64,
    is_over: bool,
    is_stuck: bool,
    heard: u64,
    early: Vec<String>,
    said: Option<(u64, u64, bool)>,
}

#[derive(Serialize, Deserialize)]
struct KeyLine {
    key: String,
    standing: StandingLine,
    snapshots: Vec<(u64, Option<Vec<String>>, u64)>,
    ops: Vec<String>,
    before: u64,
    checked: u64,
    touched: u64,
    losses: u64,
    doubted: Option<u64>,
    repeated: u64,
    violations: u64,
    undecided: u64,
}

#[derive(Serialize, Deserialize)]
enum StandingLine {
    Known,
    Violated(u64, u64),
    Unknown(u64, u64),
}

impl Monitor {
    /// Writes the state as text, at this position of the input.
    pub fn save(&self, spec: &str, position: &serde_json::Value) -> Result<String, String> {
        let head = Head {
            schema: SCHEMA.to_owned(),
            spec: spec.to_owned(),
            position: position.clone(),
            reached: self.processes.reached,
            watermark: self.processes.watermark,
            turn: self.processes.turn,
            losses: self.losses,
            dropped_until: self.dropped_until,
            habits: self.processes.habits,
            counts: self.counts.clone(),
            causes: self.causes.values().cloned().collect(),
            alerts: self.alerts,
            processes: self.processes.all.len(),
            keys: self.keys.len(),
        };
        let mut text = line(&head);
        let mut processes: Vec<_> = self.processes.all.iter().collect();
        processes.sort_unstable_by_key(|(name, _)| *name);
        for (name, process) in processes {
            text += &line(&ProcessLine::of(name, process, write_item)?);
        }
        let mut keys: Vec<_> = self.keys.iter().collect();
        keys.sort_unstable_by_key(|(value, _)| *value);
        for (value, key) in keys {
            let states = |states: &Vec<Value>| states.iter().map(write_value_of).collect::<Result<Vec<_>, _>>();
            let snapshot = |snapshot: &Snapshot| -> Result<_, String> {
                Ok((snapshot.at, snapshot.states.as_ref().map(states).transpose()?, snapshot.first))
            };
            text += &line(&KeyLine {
                key: write_value_of(value)?,
                standing: match key.standing {
                    Standing::Known => StandingLine::Known,
                    Standing::Violated { at, alert } => StandingLine::Violated(at, alert),
                    Standing::Unknown { since, busy_until } => StandingLine::Unknown(since, busy_until),
                },
                snapshots: key.snapshots.iter().map(snapshot).collect::<Result<_, _>>()?,
                ops: key.ops.iter().map(write_item).collect::<Result<_, _>>()?,
                before: key.before,
                checked: key.checked,
                touched: key.touched,
                losses: key.losses,
                doubted: key.doubted,
                repeated: key.repeated,
                violations: key.violations,
                undecided: key.undecided,
            });
        }
        Ok(text)
    }
}

impl Checkpoint {
    /// Replaces the position in a text of [`LineMonitor::save`](crate::LineMonitor::save).
    pub fn at(text: &str, position: serde_json::Value) -> Result<String, BadCheckpoint> {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let mut head: serde_json::Value = parse(first).map_err(|why| BadCheckpoint::Line { line: 1, why })?;
        let place = head.get_mut("position").ok_or_else(|| {
            let why = "it has no position".to_owned();
            BadCheckpoint::Line { line: 1, why }
        })?;
        *place = position;
        Ok(line(&head) + rest)
    }

    /// Reads a text of [`Monitor::save`].
    pub fn read(
        text: &str,
        spec: &str,
        judge: impl Into<Arc<Judge>>,
        options: MonitorOptions,
    ) -> Result<Checkpoint, BadCheckpoint> {
        let mut monitor = Monitor::new(judge, options);
        let mut lines = text.lines().zip(1..);
        let mut reader = Lines::default();
        let (first, _) = lines.next().unwrap_or_default();
        let wrong = |line: usize| move |why: String| BadCheckpoint::Line { line, why };
        let head: Head = parse(first).map_err(wrong(1))?;
        if head.schema != SCHEMA {
            return Err(wrong(1)(format!("unsupported version `{}` (expected `{SCHEMA}`)", head.schema)));
        }
        let counts = serde_json::to_value(Counts { lost: 0, ..head.counts.clone() }).unwrap_or_default();
        let counts =
            counts.as_object().into_iter().flat_map(|counts| counts.values().filter_map(|count| count.as_u64()));
        let of_causes = head.causes.iter().map(|cause| cause.violations);
        check_counts(counts.chain(of_causes).chain([head.turn, head.alerts, head.losses.count])).map_err(wrong(1))?;
        if head.spec != spec {
            return Err(BadCheckpoint::Spec { found: head.spec, expected: spec.to_owned() });
        }
        for (text, number) in lines.by_ref().take(head.processes) {
            let line: ProcessLine = parse(text).map_err(wrong(number))?;
            let read = |text: &str| read_item(text, &mut reader);
            let (name, process) = line.process(read).map_err(wrong(number))?;
            monitor.processes.all.insert(name, process);
        }
        for (text, number) in lines.by_ref().take(head.keys) {
            let (value, key) = read_key(text, &mut reader).map_err(wrong(number))?;
            // A key with nothing to do leaves at the next check.
            monitor.busy.insert(value.clone());
            monitor.keys.insert(value, key);
        }
        // A text that breaks off must not pass for a monitor with fewer keys.
        let found = (monitor.processes.all.len(), monitor.keys.len(), lines.next().is_none());
        if found != (head.processes, head.keys, true) {
            return Err(wrong(1)("it does not have as many lines as it says".to_owned()));
        }
        (monitor.processes.reached, monitor.processes.watermark) = (head.reached, head.watermark);
        (monitor.processes.turn, monitor.processes.habits) = (head.turn, head.habits);
        (monitor.losses, monitor.dropped_until) = (head.losses, head.dropped_until);
        (monitor.counts, monitor.alerts) = (head.counts, head.alerts);
        monitor.causes = head.causes.into_iter().map(|cause| (cause.cause.clone(), cause)).collect();
        Ok(Checkpoint { position: head.position, monitor })
    }
}

/// Refuses counts that no monitor reaches, and that it could not add to.
pub(crate) fn check_counts(counts: impl IntoIterator<Item = u64>) -> Result<(), String> {
    match counts.into_iter().find(|count| *count >= u64::MAX / 4) {
        Some(count) => Err(format!("{count} is too large for a count")),
        None => Ok(()),
    }
}

pub(crate) fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings, numbers and lists serialize to JSON") + "\n"
}

pub(crate) fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

impl ProcessLine {
    /// The line of a process, with its entries as text.
    pub(crate) fn of<E>(
        name: &str,
        process: &Process<E>,
        write: impl Fn(&E) -> Result<String, String>,
    ) -> Result<ProcessLine, String> {
        Ok(ProcessLine {
            name: name.to_owned(),
            next: process.next,
            unnumbered: process.unnumbered,
            progress: process.progress,
            is_over: process.is_over,
            is_stuck: process.is_stuck,
            heard: process.heard,
            early: process.early.values().map(write).collect::<Result<_, _>>()?,
            said: process.said,
        })
    }

    /// The process of a line.
    pub(crate) fn process<E: Entry>(
        self,
        mut read: impl FnMut(&str) -> Result<E, String>,
    ) -> Result<(Arc<str>, Process<E>), String> {
        let ProcessLine { name, next, unnumbered, progress, is_over, is_stuck, heard, early, said } = self;
        check_counts([unnumbered, heard])?;
        let early = early.iter().map(|text| {
            let item = read(text)?;
            Ok((item.seq().filter(|seq| *seq < u64::MAX).ok_or("an operation without its number")?, item))
        });
        let early = early.collect::<Result<_, String>>()?;
        Ok((name.into(), Process { next, unnumbered, progress, is_over, is_stuck, heard, early, said }))
    }
}

fn read_key(text: &str, reader: &mut Lines) -> Result<(Value, Key), String> {
    let line: KeyLine = parse(text)?;
    let snapshot = |(at, states, first): (u64, Option<Vec<String>>, u64)| -> Result<Snapshot, String> {
        let read = |states: Vec<String>| states.iter().map(|state| read_value_of(state)).collect();
        Ok(Snapshot { at, states: states.map(read).transpose()?, first })
    };
    let snapshots: VecDeque<Snapshot> = line.snapshots.into_iter().map(snapshot).collect::<Result<_, _>>()?;
    let standing = match line.standing {
        StandingLine::Known => Standing::Known,
        StandingLine::Violated(at, alert) => Standing::Violated { at, alert },
        StandingLine::Unknown(since, busy_until) => Standing::Unknown { since, busy_until },
    };
    let KeyLine { before, losses, repeated, violations, undecided, .. } = line;
    check_counts([before, losses, repeated, violations, undecided])?;
    let is_unknown = matches!(standing, Standing::Unknown { .. });
    let ops: VecDeque<Item> = line.ops.iter().map(|text| read_item(text, reader)).collect::<Result<_, _>>()?;
    let kept = line.before.saturating_add(ops.len() as u64);
    let fits = |snapshot: &Snapshot| (line.before..=kept).contains(&snapshot.first);
    let are_ordered = snapshots.iter().is_sorted_by_key(|snapshot| (snapshot.at, snapshot.first));
    if snapshots.is_empty() != is_unknown || !snapshots.iter().all(fits) || !are_ordered {
        return Err("states that do not fit together".to_owned());
    }
    if !ops.iter().is_sorted_by_key(|item| item.start) {
        return Err("operations that are not in order".to_owned());
    }
    let key = Key {
        standing,
        snapshots,
        ops,
        before: line.before,
        checked: line.checked,
        touched: line.touched,
        losses: line.losses,
        doubted: line.doubted,
        repeated: line.repeated,
        violations: line.violations,
        undecided: line.undecided,
    };
    Ok((read_value_of(&line.key)?, key))
}

fn write_item(item: &Item) -> Result<String, String> {
    let record = Record { process: ProcessId(0), start: item.start, end: item.end, call: item.call.clone() };
    let trace = Trace { processes: vec![item.process.clone()], records: vec![record], ..Trace::default() };
    let mut text = Vec::new();
    jsonl::write(&trace, &mut text).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&text);
    let text = text.trim_end();
    Ok(match item.seq {
        Some(seq) => format!("{{\"seq\":{seq},{}", text.trim_start_matches('{')),
        None => text.to_owned(),
    })
}

fn read_item(text: &str, reader: &mut Lines) -> Result<Item, String> {
    match reader.read(text)? {
        Line::Operation(item) => Ok(item),
        Line::Transaction(_) | Line::Progress { .. } | Line::Nothing => Err("not an operation".to_owned()),
    }
}

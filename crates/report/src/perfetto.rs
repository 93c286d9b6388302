//! A history as Chrome trace events, for Perfetto and `chrome://tracing`.
//!
//! A process is a thread, and an operation is a complete event (`X`) on it. Operations of one process do not overlap,
//! so events of one thread nest as the format demands. An unfinished operation lasts to the end of the history and says
//! so in its arguments: a begin (`B`) without an end is not legal everywhere, and where it is, viewers disagree about
//! its length. It is the last of its process.
//!
//! The last steps of the order are arrows (flows) from operation to operation. A step is drawn at the latest start of
//! all steps so far, which is the earliest time at which it can have taken effect; in real time that is inside its
//! operation. In program order it may not be, so there are no arrows then.
//!
//! Times are in microseconds, exact to the nanosecond, and count from the first start, because readers keep them as
//! floating-point numbers, which are too coarse for the time since 1970.

use serde_json::{Map, Value, json};

use crate::data::{Order, Report};
use crate::timeline::{Entry, Placement, Timeline};

/// The number of last steps drawn.
const STEPS: usize = 200;

/// All events belong to one process of the format.
const PID: u32 = 1;

/// A history as Chrome trace events.
pub fn perfetto(report: &Report, timeline: &Timeline) -> String {
    let trace = Trace::new(report, timeline);
    let mut out = String::from("{\"displayTimeUnit\":\"ns\",\"otherData\":");
    let origin = trace.origin.to_string();
    let about = json!({ "history": report.history.name, "spec": report.spec.name, "verdict": report.verdict.word(),
        "origin": origin });
    out += &about.to_string();
    out += ",\"traceEvents\":[\n";
    let events = trace.names().chain(trace.operations()).chain(trace.arrows());
    out += &events.map(|event| event.to_string()).collect::<Vec<_>>().join(",\n");
    out += "\n]}\n";
    out
}

struct Trace<'a> {
    report: &'a Report,
    timeline: &'a Timeline,
    origin: u64,
    end: u64,
    /// The operation that no order can place, if any.
    blocked: Option<usize>,
    /// For each operation, its final step.
    steps: Vec<Option<usize>>,
}

impl<'a> Trace<'a> {
    fn new(report: &'a Report, timeline: &'a Timeline) -> Trace<'a> {
        let operations = &timeline.operations;
        let blocked = report.rejection().and_then(|rejection| rejection.blocked.first().copied());
        let mut steps = vec![None; operations.len()];
        for (step, placement) in timeline.order.iter().enumerate().filter(|(_, placement)| !placement.partway) {
            steps[placement.op as usize] = Some(step);
        }
        Trace {
            report,
            timeline,
            origin: operations.first().map_or(0, |entry| entry.start),
            end: operations.iter().map(|entry| entry.end.unwrap_or(entry.start)).max().unwrap_or(0),
            blocked: blocked.and_then(|op| timeline.mentioned.get(op.0).copied()),
            steps,
        }
    }

    /// The names of the processes, and their order.
    fn names(&self) -> impl Iterator<Item = Value> {
        let whole =
            json!({ "name": "process_name", "ph": "M", "pid": PID, "args": { "name": self.report.history.name } });
        let processes = self.timeline.processes.iter().enumerate().flat_map(|(process, name)| {
            let tid = process + 1;
            [("thread_name", json!({ "name": name })), ("thread_sort_index", json!({ "sort_index": process }))]
                .map(|(kind, args)| json!({ "name": kind, "ph": "M", "pid": PID, "tid": tid, "args": args }))
        });
        [whole].into_iter().chain(processes)
    }

    fn operations(&self) -> impl Iterator<Item = Value> {
        self.timeline.operations.iter().enumerate().map(|(op, entry)| {
            let shape = &self.timeline.shapes[entry.shape as usize];
            let mut args = Map::new();
            args.insert("operation".into(), self.timeline.name(entry).into());
            args.insert("call".into(), self.timeline.text(entry).into());
            let meta = self.timeline.values(entry).iter().skip(shape.args.len() + shape.results.len());
            let meta: Map<String, Value> =
                shape.meta.iter().cloned().zip(meta.map(|datum| self.timeline.value(*datum).into())).collect();
            if !meta.is_empty() {
                args.insert("meta".into(), meta.into());
            }
            if let Some(step) = self.steps[op] {
                args.insert("step".into(), step.into());
            }
            let end = entry.end.unwrap_or_else(|| {
                args.insert("finished".into(), "never".into());
                self.end
            });
            let is_blocked = self.blocked == Some(op);
            let category = match entry.end {
                _ if is_blocked => "blocked",
                None => "unfinished",
                Some(_) => "operation",
            };
            let mut event = json!({ "name": shape.action, "cat": category, "ph": "X", "ts": self.time(entry.start),
                "dur": microseconds(end - entry.start), "pid": PID, "tid": tid(entry), "args": args });
            if is_blocked {
                event["cname"] = "terrible".into();
            }
            event
        })
    }

    /// From each of the last steps to the next.
    fn arrows(&self) -> impl Iterator<Item = Value> {
        let is_drawn = self.report.order == Order::RealTime;
        let common = self.timeline.order.iter().filter(|_| is_drawn);
        let rest = self.timeline.endings.first().filter(|_| is_drawn).map_or(&[][..], |ending| &ending.steps);
        let points: Vec<(&Entry, u64)> = common.chain(rest).scan(0, |latest, step| self.point(latest, step)).collect();
        let first = points.len().saturating_sub(STEPS);
        let mut arrows = Vec::new();
        for (id, pair) in points[first..].windows(2).enumerate() {
            let end = |(entry, time): (&Entry, u64), ph: &str| {
                json!({ "name": "then", "cat": "order", "ph": ph, "id": id, "ts": self.time(time), "pid": PID,
                    "tid": tid(entry) })
            };
            let mut to = end(pair[1], "f");
            // It ends in the operation around it, not in the next to begin.
            to["bp"] = "e".into();
            arrows.extend([end(pair[0], "s"), to]);
        }
        arrows.into_iter()
    }

    /// The operation of a step, and when it takes effect at the earliest.
    fn point(&self, latest: &mut u64, step: &Placement) -> Option<(&'a Entry, u64)> {
        let entry = &self.timeline.operations[step.op as usize];
        *latest = entry.start.max(*latest);
        Some((entry, *latest))
    }

    fn time(&self, time: u64) -> Value {
        microseconds(time - self.origin)
    }
}

fn tid(entry: &Entry) -> u64 {
    u64::from(entry.process) + 1
}

/// Nanoseconds as microseconds. A number that is too large for this to be exact is not exact in any reader either.
fn microseconds(nanoseconds: u64) -> Value {
    match nanoseconds % 1000 {
        0 => (nanoseconds / 1000).into(),
        _ => (nanoseconds as f64 / 1000.0).into(),
    }
}

//! Monitors: the lines that they read, and the checkpoints that they write.

use omnilink_judge::Judge;
use omnilink_monitor::{Checkpoint, Lines, Monitor, MonitorOptions};

/// Types whose states are carried, and one whose states are not.
const SPECS: [&str; 3] = ["register:initial=0", "queue", "mutex"];

fn judge(spec: &str) -> Judge {
    Judge::new(spec, omnilink_judge::CheckOptions::default()).expect("a built-in specification")
}

/// Small limits, so that few lines reach them.
fn options() -> MonitorOptions {
    let (idle, unknown_for) = (Some(2), Some(9));
    MonitorOptions {
        retention: 9,
        patience: 2,
        idle,
        unknown_for,
        most_keys: 3,
        most_ops: 20,
        ..MonitorOptions::default()
    }
}

/// Feeds lines, with a check after each.
fn feed(monitor: &mut Monitor, text: &str) {
    let mut reader = Lines::default();
    for line in text.lines() {
        match reader.read(line) {
            Ok(line) => monitor.feed(line),
            Err(_) => monitor.feed_unreadable(),
        }
        monitor.advance();
    }
}

/// Requires that the state is read back as it was written.
fn save(monitor: &Monitor, spec: &str) -> String {
    let text = monitor.save(spec, &serde_json::Value::Null).expect("a state that can be written");
    let read = Checkpoint::read(&text, spec, judge(spec), options()).expect("a state that was written");
    assert_eq!(read.monitor.save(spec, &read.position).as_deref(), Ok(&*text));
    text
}

pub(crate) fn monitor_lines(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for spec in SPECS {
        let mut monitor = Monitor::new(judge(spec), options());
        feed(&mut monitor, &text);
        save(&monitor, spec);
        monitor.finish(false);
    }
}

pub(crate) fn monitor_checkpoint(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for spec in SPECS {
        let Ok(Checkpoint { mut monitor, .. }) = Checkpoint::read(&text, spec, judge(spec), options()) else {
            continue;
        };
        save(&monitor, spec);
        feed(&mut monitor, include_str!("../seeds/monitor_lines/register.jsonl"));
        monitor.finish(true);
    }
}

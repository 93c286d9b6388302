//! How many operations on registers a monitor checks in a second, on one core, from memory.
//!
//! ```sh
//! cargo run --release -p omnilink-monitor --example rate -- OPERATIONS KEYS
//! ```

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::sync::Arc;
use std::time::Instant;

use omnilink_history::{Call, End, Schema, Value};
use omnilink_judge::Judge;
use omnilink_monitor::{Item, Line, Monitor, MonitorOptions};

/// The number of operations between two checks.
const BETWEEN: u64 = 50_000;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().expect("a number"));
    let operations = arguments.next().unwrap_or(2_000_000);
    let keys = arguments.next().unwrap_or(100_000);
    let names = |names: &[&str]| names.iter().map(|name| Arc::from(*name)).collect::<Vec<Arc<str>>>();
    let schema = |action: &str, args: &[&str], results: &[&str]| {
        Arc::new(Schema { action: action.into(), args: names(args), results: names(results) })
    };
    let (write, read) = (schema("write", &["key", "value"], &[]), schema("read", &["key"], &["value"]));
    let processes: Vec<Arc<str>> = (0..16).map(|process| Arc::from(format!("p{process}"))).collect();
    let judge =
        Judge::new("register:initial=0", omnilink_judge::CheckOptions::default()).expect("a built-in specification");
    let options = MonitorOptions { most_keys: usize::MAX, ..MonitorOptions::default() };
    let mut monitor = Monitor::new(judge, options);
    let mut random = fastrand::Rng::with_seed(1);
    let mut values = vec![0_i64; keys as usize];
    let (mut seqs, mut delays) = ([0_u64; 16], Vec::new());
    let started = Instant::now();
    for number in 0..operations {
        let process = (number % 16) as usize;
        let key = random.usize(..keys as usize);
        let start = number * 4;
        let schema = if random.bool() {
            values[key] = number as i64;
            &write
        } else {
            &read
        };
        let call = Call::new(schema.clone(), [Value::Int(key as i64), Value::Int(values[key])]).expect("a call");
        let (process, seq) = (processes[process].clone(), &mut seqs[process]);
        let item = Item { process, seq: Some(*seq), start, end: End::At(start + 3), call };
        *seq += 1;
        monitor.feed(Line::Operation(item));
        if number % BETWEEN == BETWEEN - 1 {
            let began = Instant::now();
            assert!(monitor.advance().is_empty(), "a correct history");
            delays.push(began.elapsed());
        }
    }
    let alerts = monitor.finish(true);
    let took = started.elapsed().as_secs_f64();
    assert!(alerts.is_empty(), "a correct history");
    let counts = monitor.counts();
    assert_eq!((counts.checked, counts.violations), (operations, 0));
    println!("{operations} operations, {} keys, {took:.2} s: {:.0} a second", counts.keys, operations as f64 / took);
    delays.sort();
    if let Some(last) = delays.len().checked_sub(1) {
        let (half, most) = (delays[last / 2], delays[last * 99 / 100]);
        println!("a check of {BETWEEN} operations: {half:.1?} (50 %), {most:.1?} (99 %)");
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    println!("peak memory: {}", peak.trim());
}

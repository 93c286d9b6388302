//! Two monitors share a topic of Kafka and a directory, one is killed, and each operation counts once.
//!
//! The broker is the mock cluster of librdkafka, in the process of the test.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use omnilink_kafka::client::ClientConfig;
use omnilink_kafka::client::mocking::MockCluster;
use omnilink_kafka::client::producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const OMNILINK: &str = env!("CARGO_BIN_EXE_omnilink");
const TOPIC: &str = "ops";
const PARTITIONS: usize = 4;
const PROCESSES: usize = 3;
const KEYS: usize = 100;
const OPERATIONS: usize = 8_000;
const PATIENCE: Duration = Duration::from_secs(180);

/// Random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }
}

/// Messages for the topic, each with the partition that it goes to. Operations follow each other, so that the wrong
/// read of a bad key is wrong for certain.
fn messages(bad: &BTreeSet<usize>) -> Vec<(usize, String)> {
    let (mut random, mut messages) = (Random(7), Vec::new());
    let (mut values, mut planted) = (BTreeMap::new(), BTreeSet::new());
    let mut seqs = [[0_usize; PROCESSES]; PARTITIONS];
    let mut batches: Vec<Vec<Value>> = vec![Vec::new(); PARTITIONS];
    let progress = |batch: &mut Vec<Value>, seqs: &[usize; PROCESSES], time: usize, is_last: bool| {
        batch.extend((0..PROCESSES).map(|process| {
            json!({"process": format!("p{process}"), "progress": time, "operations": seqs[process], "is_last": is_last})
        }));
    };
    let mut flush = |partition: usize, batch: &mut Vec<Value>| {
        let lines: Vec<String> = batch.drain(..).map(|line| line.to_string()).collect();
        messages.push((partition, lines.join("\n")));
    };
    (0..PARTITIONS).for_each(|partition| progress(&mut batches[partition], &seqs[partition], 0, false));
    for number in 0..OPERATIONS {
        let (key, process, start) = (random.below(KEYS), random.below(PROCESSES), number * 4 + 1);
        let partition = key % PARTITIONS;
        let seq = seqs[partition][process];
        seqs[partition][process] += 1;
        let (action, args, results) = if random.below(2) == 0 {
            values.insert(key, number);
            ("write", json!({"key": key, "value": number}), json!({}))
        } else {
            let is_wrong = bad.contains(&key) && number > OPERATIONS / 3 && planted.insert(key);
            let value = if is_wrong { OPERATIONS } else { values.get(&key).copied().unwrap_or(0) };
            ("read", json!({"key": key}), json!({"value": value}))
        };
        batches[partition].push(json!({
            "process": format!("p{process}"), "seq": seq, "action": action, "args": args, "results": results,
            "start": start, "end": start + 2,
        }));
        if batches[partition].len() >= 10 {
            // Every process says how far it is: otherwise the slowest one holds up the watermark.
            progress(&mut batches[partition], &seqs[partition], start + 3, false);
            flush(partition, &mut batches[partition]);
        }
    }
    for partition in 0..PARTITIONS {
        progress(&mut batches[partition], &seqs[partition], OPERATIONS * 4 + 1, true);
        flush(partition, &mut batches[partition]);
    }
    assert_eq!(planted, *bad);
    messages
}

/// A monitor that ends with the test, also if it fails.
struct Monitor(Child);

impl Monitor {
    /// Interrupts it. Returns its exit code.
    fn stop(mut self) -> Option<i32> {
        kill_process(Pid::from_child(&self.0), Signal::TERM).expect("a process");
        self.0.wait().expect("an end").code()
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(directory: &Path, brokers: &str, number: usize) -> Monitor {
    let log = fs::File::create(directory.join(format!("monitor-{number}.log"))).expect("a file");
    let mut command = Command::new(OMNILINK);
    command
        .current_dir(directory)
        .args([
            "monitor",
            &format!("kafka://{brokers}/{TOPIC}"),
            "--spec",
            "register:initial=0",
            "--checkpoint",
            "group",
        ])
        .args(["--lease", "2s", "--checkpoint-every", "100ms", "--every", "50ms", "--idle", "1h"])
        .args(["--lateness", "0s", "--retention", "0s", "--alerts", &format!("alerts-{number}.jsonl")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    Monitor(command.spawn().expect("the command"))
}

/// An entry of the directory, without its header.
fn entry(group: &Path, name: &str) -> Option<String> {
    let text = fs::read_to_string(group.join(name)).ok()?;
    text.split_once('\n').map(|(_, value)| value.to_owned())
}

/// The owner of a partition and the counts in its state, if it has one.
fn state(group: &Path, partition: usize) -> Option<(Option<String>, Value)> {
    let owned: Value = serde_json::from_str(&entry(group, &format!("partition.{partition}"))?).ok()?;
    let parts = owned["parts"].as_array()?.iter().map(|part| entry(group, part.as_str()?));
    let text = parts.collect::<Option<String>>()?;
    let head: Value = serde_json::from_str(text.lines().next()?).ok()?;
    Some((owned["owner"].as_str().map(str::to_owned), head["counts"].clone()))
}

/// The sum of a count over all partitions.
fn total(group: &Path, name: &str) -> u64 {
    (0..PARTITIONS)
        .filter_map(|partition| state(group, partition))
        .filter_map(|(_, counts)| counts[name].as_u64())
        .sum()
}

fn owners(group: &Path) -> BTreeSet<String> {
    (0..PARTITIONS).filter_map(|partition| state(group, partition)?.0).collect()
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_monitor_that_is_killed_is_replaced_and_each_operation_counts_once() {
    let cluster = MockCluster::new(1).expect("a cluster");
    cluster.create_topic(TOPIC, PARTITIONS as i32, 1).expect("a topic");
    let brokers = cluster.bootstrap_servers();
    let directory = tempfile::tempdir().expect("a directory");
    let group = directory.path().join("group");
    let bad = BTreeSet::from([3, 17, 42, 58, 90]);
    let messages = messages(&bad);
    let (sent, allowed) = (AtomicUsize::new(0), AtomicUsize::new(messages.len() / 2));

    let first = start(directory.path(), &brokers, 0);
    let second = start(directory.path(), &brokers, 1);
    let third = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut config = ClientConfig::new();
            config.set("bootstrap.servers", &brokers);
            let producer: ThreadedProducer<DefaultProducerContext> = config.create().expect("a producer");
            for (number, (partition, text)) in messages.iter().enumerate() {
                wait_until("the first monitor is killed", || number < allowed.load(Ordering::Relaxed));
                let record = BaseRecord::<(), String>::to(TOPIC).partition(*partition as i32).payload(text);
                producer.send(record).map_err(|(error, _)| error).expect("a queue with space");
                sent.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
            producer.flush(PATIENCE).expect("everything is written");
        });
        // Both have a part of it, and have stored some of what they read.
        wait_until("both monitors own partitions", || owners(&group).len() == 2 && total(&group, "operations") > 100);
        allowed.store(messages.len(), Ordering::Relaxed);
        // By SIGKILL.
        drop(first);
        assert!(sent.load(Ordering::Relaxed) < messages.len(), "it was killed after the end");
        start(directory.path(), &brokers, 2)
    });
    let decided = || total(&group, "checked") + total(&group, "unknown");
    wait_until("all operations are decided", || decided() >= OPERATIONS as u64);
    for monitor in [second, third] {
        let code = monitor.stop();
        assert!(matches!(code, Some(0 | 1)), "{code:?}");
    }

    let totals = ["operations", "checked", "unknown", "duplicates", "lost", "wrong", "violations"];
    let totals: BTreeMap<&str, u64> = totals.iter().map(|name| (*name, total(&group, name))).collect();
    let all = OPERATIONS as u64;
    assert_eq!(totals["operations"], all, "{totals:?}");
    assert_eq!(totals["checked"] + totals["unknown"], all, "{totals:?}");
    assert_eq!([totals["duplicates"], totals["lost"], totals["wrong"]], [0; 3], "{totals:?}");
    assert_eq!(totals["violations"], bad.len() as u64, "{totals:?}");
    let mut keys = BTreeSet::new();
    for number in 0..3 {
        let text = fs::read_to_string(directory.path().join(format!("alerts-{number}.jsonl"))).expect("alerts");
        // The monitor that was killed may have written a part of a line.
        for alert in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            assert_eq!(alert["kind"], "violation", "{alert}");
            keys.insert(alert["key"].as_str().expect("a key").parse::<usize>().expect("a number"));
        }
    }
    assert_eq!(keys, bad);
}

#[test]
fn a_directory_belongs_to_one_topic() {
    let cluster = MockCluster::new(1).expect("a cluster");
    let brokers = cluster.bootstrap_servers();
    let directory = tempfile::tempdir().expect("a directory");
    let group = directory.path().join("group");
    fs::create_dir(&group).expect("a directory");
    cluster.create_topic(TOPIC, PARTITIONS as i32, 1).expect("a topic");
    let monitor = start(directory.path(), &brokers, 0);
    wait_until("the group has an input", || entry(&group, "input").is_some());
    monitor.stop();
    // The same directory with another topic.
    cluster.create_topic("others", 2, 1).expect("a topic");
    let output = Command::new(OMNILINK)
        .args(["monitor", &format!("kafka://{brokers}/others"), "--spec", "register", "--checkpoint"])
        .arg(&group)
        .output()
        .expect("the command");
    let message = String::from_utf8_lossy(&output.stderr);
    let expected = "the states of this group are about `ops` with 4 partitions, not `others` with 2";
    assert!(message.contains(expected), "{message}");
    assert_eq!(output.status.code(), Some(2));
}

//! Watches that a program embeds: their alerts, and their stored states.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use omnilink_judge::{CheckOptions, Judge};
use omnilink_monitor::share::{Entry, Log, Message, Store, StoreError};
use omnilink_monitor::{Alert, Counts, MonitorOptions};
use omnilink_watch::{Group, Interval, Notice, Outlet, ReadOptions, Source, Status, Watch, WatchError, WatchOptions};

/// The time after which a watch that waits for operations is stopped.
const PATIENCE: Duration = Duration::from_secs(20);

/// Keeps what it gets, and stops a watch that has decided about as many operations as this.
struct Kept {
    began: Instant,
    alerts: Mutex<Vec<(Option<u32>, Alert)>>,
    notices: Mutex<Vec<Notice>>,
    intervals: Mutex<Vec<Interval>>,
    until: Option<(Status, u64)>,
}

impl Kept {
    fn new(until: Option<(Status, u64)>) -> Kept {
        let (alerts, notices, intervals) = (Mutex::default(), Mutex::default(), Mutex::default());
        Kept { began: Instant::now(), alerts, notices, intervals, until }
    }
}

impl Outlet for Kept {
    fn alerts(&self, partition: Option<u32>, alerts: Vec<Alert>) -> Result<(), WatchError> {
        self.alerts.lock().expect("no panic").extend(alerts.into_iter().map(|alert| (partition, alert)));
        Ok(())
    }

    fn notice(&self, notice: Notice) {
        self.notices.lock().expect("no panic").push(notice);
    }

    fn interval(&self, interval: Interval) -> Result<(), WatchError> {
        self.intervals.lock().expect("no panic").push(interval);
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        let is_reached = |(status, count): &(Status, u64)| {
            let Counts { checked, unknown, .. } = status.counts();
            checked + unknown >= *count
        };
        self.until.as_ref().is_some_and(is_reached) || self.began.elapsed() > PATIENCE
    }
}

fn judge() -> Judge {
    Judge::new("register:initial=0", CheckOptions::default()).expect("a built-in specification")
}

fn options() -> WatchOptions {
    WatchOptions { subject: "registers".to_owned(), every: Duration::from_millis(5), ..WatchOptions::default() }
}

/// Lines of one process about a register: writes of these values, each with a read of it, or of the next one.
fn lines(values: std::ops::Range<u64>, is_wrong: bool) -> String {
    let mut text = String::new();
    for value in values {
        let (start, seq, read) = (value * 10, value * 2, value + u64::from(is_wrong));
        let _ = writeln!(
            text,
            r#"{{"process": "a", "action": "write", "args": {{"key": 1, "value": {value}}}, "start": {start}, "end": {}, "seq": {seq}}}"#,
            start + 1
        );
        let _ = writeln!(
            text,
            r#"{{"process": "a", "action": "read", "args": {{"key": 1}}, "results": {{"value": {read}}}, "start": {}, "end": {}, "seq": {}}}"#,
            start + 2,
            start + 3,
            seq + 1
        );
    }
    text
}

fn read(text: &str, options: WatchOptions, state: Option<&Path>, kept: &Kept) -> Result<Counts, WatchError> {
    let watch = Watch::begin(judge(), options, state)?;
    let source =
        Source::lines("lines", std::io::Cursor::new(text.to_owned()), watch.position(), &ReadOptions::default());
    watch.run(source, kept)
}

#[test]
fn a_watch_continues_from_its_state() {
    let directory = tempfile::tempdir().expect("a directory");
    let state = directory.path().join("state");
    let first = lines(0..3, false);
    let counts = read(&first, options(), Some(&state), &Kept::new(None)).expect("counts");
    assert_eq!((counts.operations, counts.violations), (6, 0));
    let kept = Kept::new(None);
    let all = first + &lines(3..4, true) + "{\n";
    let with_intervals = WatchOptions { interval: Some(Duration::from_secs(3600)), is_complete: true, ..options() };
    let counts = read(&all, with_intervals, Some(&state), &kept).expect("counts");
    assert_eq!((counts.operations, counts.checked, counts.violations, counts.wrong), (8, 8, 1, 1));
    assert_eq!(kept.alerts.lock().expect("no panic").iter().map(|(_, alert)| alert.number).collect::<Vec<_>>(), [1]);
    assert!(
        matches!(&kept.notices.lock().expect("no panic")[..], [Notice::Unreadable(why)] if why.starts_with("line 9: "))
    );
    let intervals = kept.intervals.lock().expect("no panic");
    assert!(matches!(&intervals[..], [Interval { violations, .. }] if violations.len() == 1));
    // Another input, and another subject.
    let error = read("{\n", options(), Some(&state), &Kept::new(None)).unwrap_err();
    assert_eq!(error.to_string(), "lines: it ends before the 9 lines that the stored state is about");
    let others = WatchOptions { subject: "queues".to_owned(), ..options() };
    let error = read("", others, Some(&state), &Kept::new(None)).unwrap_err();
    assert_eq!(error.message, "it is a checkpoint of `registers`, not of `queues`");
}

/// A log in memory.
struct Memory(Vec<Vec<u8>>);

impl Log for Memory {
    fn partitions(&self) -> u32 {
        self.0.len() as u32
    }

    fn follow(
        &self,
        partition: u32,
        after: Option<u64>,
        sink: &mut dyn FnMut(Vec<Message>) -> bool,
    ) -> Result<(), StoreError> {
        let text = self.0[partition as usize].clone();
        let mut messages = if after.is_none() { vec![Message::Lines { at: 0, text }] } else { Vec::new() };
        while sink(std::mem::take(&mut messages)) {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

/// A store in memory.
#[derive(Default)]
struct Entries(Mutex<BTreeMap<String, Entry>>);

impl Entries {
    fn entries(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        self.0.lock().expect("no panic")
    }
}

impl Store for Entries {
    fn get(&self, name: &str) -> Result<Option<Entry>, StoreError> {
        Ok(self.entries().get(name).cloned())
    }

    fn put(&self, name: &str, value: &[u8], revision: Option<u64>) -> Result<Option<u64>, StoreError> {
        let mut entries = self.entries();
        if entries.get(name).map(|entry| entry.revision) != revision {
            return Ok(None);
        }
        let next = revision.unwrap_or(0) + 1;
        entries.insert(name.to_owned(), Entry { value: value.to_owned(), revision: next });
        Ok(Some(next))
    }

    fn delete(&self, name: &str) -> Result<(), StoreError> {
        self.entries().remove(name);
        Ok(())
    }

    fn names(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        Ok(self.entries().keys().filter(|name| name.starts_with(prefix)).cloned().collect())
    }

    fn most_bytes(&self) -> usize {
        usize::MAX
    }
}

#[test]
fn a_group_watches_partitions_and_continues() {
    let store = Arc::new(Entries::default());
    let end = r#"{"process": "a", "progress": 1000, "is_last": true}"#;
    let log = Arc::new(Memory([false, true].map(|is_wrong| (lines(0..3, is_wrong) + end).into_bytes()).to_vec()));
    let run = |kept: &Kept, status: &Status, stream: &str| {
        let (name, lease) = ("memory".to_owned(), Duration::from_millis(200));
        let group = Group { name, stream: stream.to_owned(), log: log.clone(), store: store.clone(), lease };
        let monitor = MonitorOptions { idle: Some(2), ..MonitorOptions::default() };
        let options = WatchOptions { monitor, status: Some(status.clone()), ..options() };
        group.run(judge(), &options, kept)
    };
    let status = Status::default();
    let kept = Kept::new(Some((status.clone(), 12)));
    let counts = run(&kept, &status, "ops").expect("counts");
    assert_eq!((counts.operations, counts.checked + counts.unknown), (12, 12));
    assert!(counts.violations > 0 && status.is_healthy());
    assert!(kept.alerts.lock().expect("no panic").iter().all(|(partition, _)| *partition == Some(1)));
    // The store has all checked operations, and no alert is repeated.
    let status = Status::default();
    let again = Kept::new(Some((status.clone(), 12)));
    assert_eq!(run(&again, &status, "ops").expect("counts").operations, 12);
    assert!(again.alerts.lock().expect("no panic").is_empty());
    let error = run(&again, &status, "others").unwrap_err();
    let expected = "the states of this group are about `ops` with 2 partitions, not `others` with 2";
    assert_eq!((error.about.as_str(), error.message.as_str()), ("memory", expected));
}

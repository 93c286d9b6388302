//! The monitor of transactions against the check of a whole history, on random histories whose lines come in another order, more than
//! once or not at all, to monitors that are stopped and continued.

#[path = "../../isolation/tests/stamps/generate.rs"]
mod generate;

use std::sync::Arc;

use fastrand::Rng;
use omnilink_history::{Halt, Precedence, Value};
use omnilink_isolation::key::Access;
use omnilink_isolation::read::Transaction;
use omnilink_isolation::{Isolation, Level, Stamp, StampOutcome, check_stamps};
use omnilink_judge::Unlimited;
use omnilink_monitor::{
    Alert, AlertKind, Checkpoint, Counts, Line, LineMonitor, Lines, TransactionMonitor, TransactionOptions,
};

use generate::{History, Txn};

const LEVELS: [Isolation; 3] = [Isolation::Prefix, Isolation::Snapshot, Isolation::Serializable];
const ORDERS: [Precedence; 2] = [Precedence::None, Precedence::Program];

/// The line of a transaction.
fn line(history: &History, txn: &Txn, seq: Option<u64>) -> String {
    let value = |number: u32| Value::Int(i64::from(number));
    let access = |(is_write, key, values): &generate::Op| {
        let list: Vec<Value> = values.iter().map(|&number| value(number)).collect();
        let access = match (is_write, history.is_list) {
            (true, true) => Access::Append { value: list[0].clone(), place: None },
            (true, false) => Access::Write(list[0].clone()),
            (false, true) => Access::List(list),
            (false, false) => {
                Access::Read { value: list.first().cloned().unwrap_or(Value::Int(0)), is_initial: list.is_empty() }
            }
        };
        (value(*key), access)
    };
    let end = (txn.status != omnilink_isolation::Status::Unknown).then_some(txn.times.1);
    let line = Transaction {
        process: Arc::from(txn.session.to_string()),
        seq,
        times: Some((txn.times.0, end)),
        status: txn.status,
        snapshot: Some(Stamp::new(txn.start)),
        commit: txn.commit.map(Stamp::new),
        accesses: txn.ops.iter().map(access).collect(),
    };
    line.write().expect("integers can be written")
}

/// The lines of a history in another order, in which those of a session stay in theirs.
fn lines(history: &History, is_numbered: bool, rng: &mut Rng) -> Vec<String> {
    let mut order: Vec<usize> = (0..history.txns.len()).collect();
    for _ in 0..2 * order.len() {
        let at = rng.usize(1..order.len());
        if history.txns[order[at - 1]].session != history.txns[order[at]].session {
            order.swap(at - 1, at);
        }
    }
    let mut counts = [0; 8];
    let mut lines = Vec::new();
    for txn in order {
        let session = history.txns[txn].session;
        lines.push(line(history, &history.txns[txn], is_numbered.then_some(counts[session])));
        counts[session] += 1;
    }
    if is_numbered {
        let last = |session: usize| {
            format!(r#"{{"process": "{session}", "progress": 0, "operations": {}, "is_last": true}}"#, counts[session])
        };
        lines.extend((0..counts.len()).filter(|&session| counts[session] > 0).map(last));
    }
    lines
}

/// The findings of a monitor.
struct Found {
    counts: Counts,
    alerts: Vec<Alert>,
}

impl Found {
    fn is_decided(&self) -> bool {
        let Counts { unknown, lost, inconclusive, wrong, checked, operations, .. } = self.counts;
        unknown + lost + inconclusive + wrong == 0 && checked == operations
    }
}

fn feed(monitor: &mut TransactionMonitor, reader: &mut Lines, line: &str) {
    match reader.read(line) {
        Ok(line) => monitor.feed(line),
        Err(_) => monitor.feed_unreadable(),
    }
}

/// Monitors lines, with stops.
fn monitor(options: &TransactionOptions, lines: &[String], rng: &mut Rng) -> Found {
    let mut monitor = TransactionMonitor::new(options.clone()).expect("a level with stamps");
    let mut reader = Lines::default();
    let mut alerts = Vec::new();
    for line in lines {
        feed(&mut monitor, &mut reader, line);
        if rng.f64() < 0.4 {
            alerts.extend(monitor.advance_within(&|_| Box::new(Unlimited)));
        }
        if rng.f64() < 0.2 {
            let text = monitor.save("it", &serde_json::json!(7)).expect("integers can be written");
            let read = Checkpoint::read_transactions(&text, "it", options.clone()).expect("a state");
            assert_eq!(read.monitor.save("it", &read.position).as_ref(), Ok(&text));
            monitor = read.monitor;
        }
    }
    alerts.extend(monitor.finish_within(true, &|_| Box::new(Unlimited)));
    Found { counts: monitor.counts(), alerts }
}

fn options(level: Level, rng: &mut Rng) -> TransactionOptions {
    TransactionOptions { lateness: rng.u64(0..4), retention: 1_000, ..TransactionOptions::new(level) }
}

fn progress(session: usize) -> String {
    format!(r#"{{"process": "{session}", "progress": 0}}"#)
}

fn levels() -> impl Iterator<Item = Level> {
    LEVELS.into_iter().flat_map(|isolation| ORDERS.into_iter().map(move |order| Level { isolation, order }))
}

/// How many runs were decided in which way.
#[derive(Debug, Default)]
struct Tally {
    accepted: u32,
    rejected: u32,
    undecided: u32,
    late: u32,
}

fn compare_with_check(total: u32, seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let mut tally = Tally::default();
    for _ in 0..total {
        let history = History::random(&mut rng);
        let txns = history.transactions();
        let is_announced = rng.f64() < 0.8;
        for level in levels() {
            let is_numbered = rng.bool();
            let mut lines = lines(&history, is_numbered, &mut rng);
            if is_numbered && rng.bool() {
                let again = lines[rng.usize(0..lines.len())].clone();
                lines.push(again);
            }
            if is_announced {
                lines.splice(0..0, (0..4).map(progress));
            }
            let options = options(level, &mut rng);
            let found = monitor(&options, &lines, &mut rng);
            let outcome = check_stamps(&txns, level, &Halt::default()).expect("it has stamps");
            let context = || format!("{level}: {:?}, {:#?}\n{}", found.counts, found.alerts, lines.join("\n"));
            match (found.counts.violations > 0, found.is_decided()) {
                (true, _) => {
                    let is_rejected = match outcome {
                        StampOutcome::Accepted(_) => false,
                        StampOutcome::Rejected(_) => true,
                        StampOutcome::Inconclusive(_) => !history.holds(level),
                    };
                    assert!(is_rejected, "the monitor rejects: {}", context());
                    tally.rejected += 1;
                }
                (false, true) => {
                    assert!(matches!(outcome, StampOutcome::Accepted(_)), "the monitor accepts: {}", context());
                    tally.accepted += 1;
                }
                (false, false) => {
                    let is_plain = !history.may_be_doubtful() && found.counts.late == 0;
                    assert!(!is_plain, "the monitor does not decide: {}", context());
                    tally.undecided += 1;
                }
            }
            tally.late += u32::from(found.counts.late > 0);
        }
    }
    let all = total * 6;
    assert!(tally.accepted > all / 4 && tally.rejected > all / 4, "{tally:?} of {all}");
    assert!(tally.undecided < all / 6 && tally.late > all / 100, "{tally:?} of {all}");
}

#[test]
fn the_monitor_decides_as_the_check() {
    compare_with_check(2_000, 1);
}

#[test]
#[ignore = "takes minutes"]
fn the_monitor_decides_many_histories_as_the_check() {
    compare_with_check(50_000, 2);
}

/// True if the stamps of each session grow, which bounds the commits of lost transactions.
fn are_growing(history: &History) -> bool {
    let mut reached = [0; 8];
    history.txns.iter().all(|txn| {
        let is_late = txn.start < reached[txn.session] || txn.commit.is_some_and(|commit| commit <= txn.start);
        reached[txn.session] = txn.commit.unwrap_or(txn.start);
        !is_late
    })
}

#[test]
fn lost_transactions_are_never_accepted_or_rejected() {
    let mut rng = Rng::with_seed(3);
    let (mut rejected, mut undecided) = (0, 0);
    for _ in 0..2_000 {
        let history = History::random(&mut rng);
        if !are_growing(&history) {
            continue;
        }
        let level = levels().nth(rng.usize(0..6)).expect("there are six");
        let mut lines = lines(&history, true, &mut rng);
        lines.splice(0..0, (0..4).map(progress));
        // A line of a transaction is lost or damaged.
        let place = 4 + rng.usize(0..history.txns.len());
        if rng.bool() {
            lines.remove(place);
        } else {
            let half = lines[place].len() / 2;
            lines[place].truncate(half);
        }
        let found = monitor(&options(level, &mut rng), &lines, &mut rng);
        let context =
            || format!("{level}: {:?}, {:#?}\n{history:#?}\n{}", found.counts, found.alerts, lines.join("\n"));
        assert!(found.counts.lost > 0, "{}", context());
        assert!(found.alerts.iter().any(|alert| alert.kind == AlertKind::Lost), "{}", context());
        if found.counts.violations > 0 {
            assert!(!history.holds(level), "the loss explains it: {}", context());
            rejected += 1;
        } else {
            undecided += 1;
        }
    }
    assert!(rejected > 100 && undecided > 100, "{rejected} are rejected, {undecided} are not decided");
}

#[test]
fn memory_is_bounded() {
    let level = Level { isolation: Isolation::Snapshot, order: Precedence::Program };
    let options = TransactionOptions {
        limits: omnilink_isolation::StreamLimits { keys: 100, elements: 50 },
        most_held: 2_000,
        retention: 5,
        ..TransactionOptions::new(level)
    };
    let mut monitor = TransactionMonitor::new(options).expect("a level with stamps");
    let mut reader = Lines::default();
    // This process is silent, and holds up the watermark for ever.
    feed(&mut monitor, &mut reader, r#"{"process": "silent", "progress": 0}"#);
    let mut most = 0;
    for at in 1..20_000_u64 {
        let (key, start, commit) = (at % 1_000, 2 * at, 2 * at + 1);
        feed(
            &mut monitor,
            &mut reader,
            &format!(
                r#"{{"process": "a", "txn": [["w", "{key}", {at}], ["append", "l", {at}]], "status": "committed",
                "snapshot_ts": {start}, "commit_ts": {commit}}}"#
            ),
        );
        if at % 100 == 0 {
            monitor.advance_within(&|_| Box::new(Unlimited));
            most = most.max(monitor.counts().kept);
        }
    }
    monitor.finish_within(true, &|_| Box::new(Unlimited));
    let counts = monitor.counts();
    assert!(most < 10_000 && counts.keys <= 100, "{most} are held, {counts:?}");
    assert!(counts.violations == 0 && counts.dropped > 1_000 && counts.inconclusive > 0, "{counts:?}");
}

#[test]
fn operations_and_other_lines_are_wrong() {
    let level = Level { isolation: Isolation::Snapshot, order: Precedence::None };
    let check = |lines: &str| {
        let mut monitor = TransactionMonitor::new(TransactionOptions::new(level)).expect("a level with stamps");
        let mut reader = Lines::default();
        lines.lines().for_each(|line| feed(&mut monitor, &mut reader, line.trim()));
        let alerts = monitor.finish_within(true, &|_| Box::new(Unlimited));
        let sentences: Vec<String> =
            alerts.iter().map(|alert| format!("{:?}: {}", alert.kind, alert.sentence)).collect();
        format!("{} wrong\n{}", monitor.counts().wrong, sentences.join("\n"))
    };
    insta::assert_snapshot!(check(r#"{"process": "a", "action": "read", "start": 1, "end": 2}"#), @"
    1 wrong
    Wrong: an operation of a, not a transaction: `--spec` checks these
    ");
    insta::assert_snapshot!(check(r#"{"process": "a", "txn": [["w", "x", 1]], "status": "committed", "snapshot_ts": 1}"#), @"
    1 wrong
    Wrong: a:0 has no `commit_ts`
    ");
    insta::assert_snapshot!(check(
        r#"{"process": "a", "txn": [["w", "x", 1]], "status": "committed", "snapshot_ts": 1, "commit_ts": 2}
        {"process": "b", "txn": [["r", "x", [1]]], "status": "committed", "snapshot_ts": 3}"#
    ), @r#"
    1 wrong
    Wrong: b:0 and another transaction disagree on whether the key `"x"` is a list
    "#);
}

#[test]
fn violations_have_the_words_of_the_check() {
    let check = |level: &str, lines: &str| {
        let level: Level = level.parse().expect("a level");
        let mut monitor = TransactionMonitor::new(TransactionOptions::new(level)).expect("a level with stamps");
        let mut reader = Lines::default();
        for line in lines.lines() {
            let line = line
                .trim()
                .replace("process", r#""process""#)
                .replace("stamps", r#""status": "committed", "snapshot_ts""#);
            let line = line.replace("commit:", r#""commit_ts":"#).replace("txn", r#""txn""#);
            assert!(matches!(reader.read(&line), Ok(Line::Transaction(_))), "{line}");
            feed(&mut monitor, &mut reader, &line);
        }
        let alerts = monitor.finish_within(true, &|_| Box::new(Unlimited));
        alerts.iter().map(|alert| alert.sentence.clone()).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(check("snapshot", r#"{process: "a", txn: [["w", "x", 1]], stamps: 1, commit: 2}
        {process: "b", txn: [["w", "x", 2]], stamps: 3, commit: 4}
        {process: "c", txn: [["r", "x", 1]], stamps: 5}
        {process: "c", txn: [["r", "x", 2]], stamps: 3}
        {process: "c", txn: [["w", "y", 1], ["r", "y", 2]], stamps: 5, commit: 6}
        {process: "c", txn: [["w", "x", 3]], stamps: 1, commit: 7}
        {process: "c", txn: [["r", "z", 3]], stamps: 7}
        {process: "c", txn: [["w", "z", 4]], stamps: 9, commit: 8}"#), @"
    read of a later commit: c:1 read x = 2 of b:0, whose commit it does not see
    missed write: c:0 read x = 1, but by the stamps it sees x = 2 of b:0
    internal read: c:2 read y = 2 after it had written y = 1
    overlapping writers: c:3 wrote x = 3 without seeing x = 2 of b:0, and b:0 did not see it either
    thin-air read: c:4 read z = 3, which no transaction wrote
    commit before snapshot: c:5 was committed no later than it took its snapshot
    ");
    insta::assert_snapshot!(check("strong-session-snapshot", r#"{process: "a", txn: [["w", "x", 1]], stamps: 1, commit: 4}
        {process: "a", txn: [["r", "x", 0]], stamps: 3}"#), @"stale snapshot in session order: the snapshot of a:1 does not have a:0, which is earlier in its session");
    insta::assert_snapshot!(check("snapshot", r#"{process: "a", txn: [["append", "l", 1]], stamps: 1, commit: 2}
        {process: "a", txn: [["append", "l", 2]], stamps: 3, commit: 4}
        {process: "b", txn: [["r", "l", [2]]], stamps: 5}
        {process: "b", txn: [["r", "l", [1, 2]]], stamps: 3}
        {process: "b", txn: [["r", "l", [2, 1]]], stamps: 6}
        {process: "b", txn: [["r", "l", [1, 2, 7]]], stamps: 7}"#), @"
    read of a later commit: b:1 read l ∋ 2 of a:1, whose commit it does not see
    missed write: b:0 read l = [2], but by the stamps it sees l ∋ 1 of a:0
    list in another order: b:2 read l = [2, 1], whose elements were committed in another order
    thin-air read: b:3 read l = [1, 2, 7], which no transaction wrote
    ");
}

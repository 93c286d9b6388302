//! Random histories of a store that gives its transactions stamps, and the definition of the levels in terms of stamps.

use std::collections::BTreeMap;

use fastrand::Rng;
use omnilink_history::{Precedence, Value};
use omnilink_isolation::{Builder, Isolation, Level, Stamp, Status, Transactions};

/// An operation: true for a write, the key, and the value or those that were read.
pub(crate) type Op = (bool, u32, Vec<u32>);

/// A transaction.
#[derive(Clone, Debug)]
pub(crate) struct Txn {
    pub(crate) session: usize,
    pub(crate) times: (u64, u64),
    pub(crate) start: u64,
    pub(crate) commit: Option<u64>,
    pub(crate) status: Status,
    pub(crate) ops: Vec<Op>,
}

/// A history of registers or lists.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) is_list: bool,
    pub(crate) txns: Vec<Txn>,
}

impl Txn {
    pub(crate) fn writes(&self) -> bool {
        self.ops.iter().any(|op| op.0)
    }

    fn written(&self, key: u32) -> Vec<u32> {
        self.ops.iter().filter(|op| op.0 && op.1 == key).map(|op| op.2[0]).collect()
    }
}

/// The values of a key that a transaction reads after these, which are in the order of their commits.
fn visible(is_list: bool, committed: &[&Txn], key: u32) -> Vec<u32> {
    let all: Vec<u32> = committed.iter().flat_map(|txn| txn.written(key)).collect();
    if is_list { all } else { all.last().copied().into_iter().collect() }
}

impl History {
    /// A run of a store, with at most two changes.
    pub(crate) fn random(rng: &mut Rng) -> History {
        let mut history = History::run(rng);
        for _ in 0..[0, 0, 1, 1, 2][rng.usize(0..5)] {
            history.change(rng);
        }
        history
    }

    /// A run of a store. Serializable transactions read when they commit, others when they take their snapshot.
    pub(crate) fn run(rng: &mut Rng) -> History {
        let isolation = [Isolation::Prefix, Isolation::Snapshot, Isolation::Serializable][rng.usize(0..3)];
        let (is_list, keys, count) = (rng.f64() < 0.3, rng.u32(1..=3), rng.usize(3..=9));
        let mut open: Vec<Option<Txn>> = vec![None; rng.usize(2..=4)];
        let mut txns: Vec<Txn> = Vec::new();
        let (mut time, mut fresh) = (0, 0);
        while txns.len() < count {
            time += 2;
            let session = rng.usize(0..open.len());
            let Some(mut txn) = open[session].take() else {
                let mut ops: Vec<Op> = Vec::new();
                for _ in 0..rng.usize(1..=3) {
                    ops.push((rng.f64() < 0.4, rng.u32(0..keys), Vec::new()));
                }
                open[session] =
                    Some(Txn { session, times: (time, 0), start: time, commit: None, status: Status::Committed, ops });
                continue;
            };
            let is_serial = isolation == Isolation::Serializable;
            let at = if is_serial { time } else { txn.start };
            let mut committed: Vec<&Txn> = txns.iter().filter(|txn| txn.status == Status::Committed).collect();
            committed.retain(|other| other.commit.is_some_and(|commit| commit <= at));
            committed.sort_by_key(|other| other.commit);
            let mut own: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for (is_write, key, values) in &mut txn.ops {
                if *is_write {
                    fresh += 1;
                    *values = vec![fresh];
                    own.entry(*key).or_default().push(fresh);
                    continue;
                }
                let mut all = visible(is_list, &committed, *key);
                all.extend(own.get(key).into_iter().flatten());
                *values = if is_list { all } else { all.last().copied().into_iter().collect() };
            }
            let overlaps = |other: &Txn| {
                other.status == Status::Committed
                    && other.commit > Some(txn.start)
                    && txn.ops.iter().any(|op| op.0 && !other.written(op.1).is_empty())
            };
            let is_lost = isolation == Isolation::Snapshot && txns.iter().any(overlaps);
            if is_lost || rng.f64() < 0.05 {
                txn.status = Status::Aborted;
            } else if txn.writes() {
                txn.commit = Some(time);
            }
            txn.times.1 = time;
            txns.push(txn);
        }
        History { is_list, txns }
    }

    fn change(&mut self, rng: &mut Rng) {
        let place = rng.usize(0..self.txns.len());
        let last = 2 * self.txns.len() as u64 + 10;
        let all: Vec<Op> = self.txns.iter().flat_map(|txn| txn.ops.clone()).collect();
        let txn = &mut self.txns[place];
        match rng.usize(0..6) {
            0 | 1 => {
                let mut reads: Vec<&mut Op> = txn.ops.iter_mut().filter(|op| !op.0).collect();
                if !reads.is_empty() {
                    let at = rng.usize(0..reads.len());
                    let read = &mut reads[at];
                    let written: Vec<u32> = all.iter().filter(|op| op.0 && op.1 == read.1).map(|op| op.2[0]).collect();
                    let len = rng.usize(0..=written.len());
                    read.2 = match self.is_list {
                        true => written[..len].to_vec(),
                        false => written.get(len).copied().into_iter().collect(),
                    };
                }
            }
            2 => txn.start = rng.u64(1..last),
            3 => txn.commit = txn.commit.map(|_| rng.u64(1..last)),
            4 => txn.commit = txn.commit.map(|commit| commit + rng.u64(0..=2)),
            _ => {
                // Its session goes on as another one.
                if txn.status == Status::Committed {
                    txn.status = Status::Unknown;
                    if rng.bool() {
                        txn.commit = None;
                    }
                }
            }
        }
    }

    pub(crate) fn transactions(&self) -> Transactions {
        let mut builder = Builder::default();
        let value = |number: u32| Value::Int(i64::from(number));
        for txn in &self.txns {
            let process = builder.process(&txn.session.to_string());
            let end = (txn.status != Status::Unknown).then_some(txn.times.1);
            builder.begin(process, Some((txn.times.0, end)), txn.status);
            builder.stamps(Some(Stamp::new(txn.start)), txn.commit.map(Stamp::new));
            for (is_write, key, values) in &txn.ops {
                let key = value(*key);
                let list: Vec<Value> = values.iter().map(|&number| value(number)).collect();
                match (is_write, self.is_list) {
                    (true, true) => builder.append(&key, &list[0]),
                    (true, false) => builder.write(&key, &list[0]),
                    (false, true) => builder.read_list(&key, &list),
                    (false, false) => builder.read(&key, list.first().unwrap_or(&Value::Int(0))),
                }
            }
        }
        builder.finish().expect("a history")
    }

    fn is_open(txn: &Txn) -> bool {
        txn.status == Status::Unknown && txn.commit.is_none() && txn.writes()
    }

    /// True if commits have equal stamps, or writers have none.
    pub(crate) fn may_be_doubtful(&self) -> bool {
        let mut commits: Vec<u64> = self.txns.iter().filter_map(|txn| txn.commit).collect();
        commits.sort_unstable();
        commits.windows(2).any(|pair| pair[0] == pair[1]) || self.txns.iter().any(History::is_open)
    }

    /// True if the reads fit the stamps for some order of equal commits, and some commits of unknown transactions.
    pub(crate) fn holds(&self, level: Level) -> bool {
        let open: Vec<usize> = (0..self.txns.len()).filter(|&txn| History::is_open(&self.txns[txn])).collect();
        // Commits between any two stamps: twice a stamp, and one before or after it.
        let last = 2 * self.txns.iter().map(|txn| txn.start.max(txn.commit.unwrap_or(0))).max().unwrap_or(0) + 2;
        let mut commits: Vec<Option<u64>> = self
            .txns
            .iter()
            .map(|txn| txn.commit.filter(|_| txn.status != Status::Aborted).map(|commit| 2 * commit))
            .collect();
        self.try_commits(level, &open, last, &mut commits)
    }

    fn try_commits(&self, level: Level, open: &[usize], last: u64, commits: &mut [Option<u64>]) -> bool {
        let Some((&first, rest)) = open.split_first() else {
            let mut ranks: Vec<usize> = (0..self.txns.len()).collect();
            return self.try_ranks(level, commits, &mut ranks, 0);
        };
        commits[first] = None;
        if self.try_commits(level, rest, last, commits) {
            return true;
        }
        let from = match level.isolation {
            Isolation::Serializable => 0,
            _ => self.txns[first].start,
        };
        (2 * from + 1..=last).step_by(2).any(|commit| {
            commits[first] = Some(commit);
            self.try_commits(level, rest, last, commits)
        })
    }

    /// Tries all orders of transactions with equal commits.
    fn try_ranks(&self, level: Level, commits: &[Option<u64>], ranks: &mut Vec<usize>, at: usize) -> bool {
        let is_tied = |place: usize, other: usize| commits[place].is_some() && commits[place] == commits[other];
        if at == ranks.len() {
            return self.fits(level, commits, ranks);
        }
        (at..ranks.len()).any(|other| {
            if other != at && !is_tied(at, other) {
                return false;
            }
            ranks.swap(at, other);
            let fits = self.try_ranks(level, commits, ranks, at + 1);
            ranks.swap(at, other);
            fits
        })
    }

    /// The definition: snapshots and commits as given.
    fn fits(&self, level: Level, commits: &[Option<u64>], ranks: &[usize]) -> bool {
        let is_serial = level.isolation == Isolation::Serializable;
        let counted = |txn: usize| match self.txns[txn].status {
            Status::Aborted => false,
            Status::Committed => true,
            Status::Unknown => commits[txn].is_some(),
        };
        let point = |txn: usize| (commits[txn].unwrap_or(0), ranks[txn]);
        let writers: Vec<usize> = (0..self.txns.len()).filter(|&txn| counted(txn) && self.txns[txn].writes()).collect();
        // The last commit that is visible to a transaction.
        let is_visible = |writer: usize, reader: usize| match is_serial {
            true if self.txns[reader].writes() => point(writer) < point(reader),
            true => point(writer).0 <= commits[reader].unwrap_or(2 * self.txns[reader].start),
            false => point(writer).0 <= 2 * self.txns[reader].start,
        };
        (0..self.txns.len()).filter(|&txn| counted(txn)).all(|txn| {
            let now = &self.txns[txn];
            let mut seen: Vec<usize> =
                writers.iter().copied().filter(|&other| other != txn && is_visible(other, txn)).collect();
            seen.sort_by_key(|&other| point(other));
            let seen: Vec<&Txn> = seen.into_iter().map(|other| &self.txns[other]).collect();
            let reads = now.ops.iter().enumerate().filter(|(_, op)| !op.0).all(|(place, (_, key, values))| {
                let own = now.ops[..place].iter().filter(|op| op.0 && op.1 == *key).map(|op| op.2[0]);
                let mut all = visible(self.is_list, &seen, *key);
                all.extend(own);
                let last = all.last().copied().into_iter().collect();
                // A list that a read shows with own elements is a prefix of the final one.
                let is_moved = || {
                    let before: Vec<&Txn> = self.before(txn, &writers, &point);
                    visible(true, &before, *key).len()
                        + now.ops[..place].iter().filter(|op| op.0 && op.1 == *key).count()
                        != all.len()
                };
                let has_own = self.is_list && now.ops[..place].iter().any(|op| op.0 && op.1 == *key);
                *values == if self.is_list { all.clone() } else { last } && !(has_own && is_moved())
            });
            let is_forward = is_serial || !now.writes() || point(txn).0 > 2 * now.start;
            let overlaps = |&other: &usize| {
                let writes = |op: &Op| op.0 && !self.txns[other].written(op.1).is_empty();
                other != txn && now.ops.iter().any(writes) && !is_visible(other, txn) && !is_visible(txn, other)
            };
            let is_alone = level.isolation != Isolation::Snapshot || !writers.iter().any(overlaps);
            reads && is_forward && is_alone && self.is_in_order(level, commits, ranks, txn)
        })
    }

    /// The transactions that committed before one.
    fn before(&self, txn: usize, writers: &[usize], point: &impl Fn(usize) -> (u64, usize)) -> Vec<&Txn> {
        writers.iter().filter(|&&other| point(other) < point(txn)).map(|&other| &self.txns[other]).collect()
    }

    /// True if a transaction has its place after those before it.
    fn is_in_order(&self, level: Level, commits: &[Option<u64>], ranks: &[usize], txn: usize) -> bool {
        let now = &self.txns[txn];
        let is_serial = level.isolation == Isolation::Serializable;
        // Writers come before snapshots of the same stamp.
        let end = |txn: usize| match self.txns[txn].writes() {
            true => (commits[txn].unwrap_or(0), 0, ranks[txn]),
            false if is_serial => (commits[txn].unwrap_or(2 * self.txns[txn].start), 1, 0),
            false => (2 * self.txns[txn].start, 1, 0),
        };
        let start = if is_serial { end(txn) } else { (2 * now.start, 1, 0) };
        (0..self.txns.len()).all(|other| {
            let before = &self.txns[other];
            let in_session = before.session == now.session;
            let ended = before.status == Status::Committed && before.times.1 < now.times.0;
            let is_before = match level.order {
                Precedence::None => false,
                Precedence::Program => in_session && ended,
                Precedence::RealTime => ended,
            };
            !is_before || end(other) <= start
        })
    }
}

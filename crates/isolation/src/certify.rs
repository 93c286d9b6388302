//! Replays certificates of accepted histories, with code of its own: it shares the columns of transactions with the
//! checkers, and nothing else.
//!
//! From prefix upward, a store executes the run: a begin compares every external read with the committed values, and a
//! commit applies the writes. For the other levels, the run is a commit order: each read must have returned the last write
//! in it among those that its transaction sees, which are computed anew.

use std::collections::BTreeMap;
use std::ops::Range;

use omnilink_history::Precedence;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::level::{Isolation, Level};
use crate::model::Choice;
use crate::transactions::{Access, MicroId, NEVER, NONE, Status, Transactions, TxnId};

/// A run that shows that a level holds.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The level.
    pub level: Level,
    /// Begins and commits; commits alone where both are one point.
    pub steps: Vec<Step>,
    /// The writers that ambiguous reads are taken to have read from.
    pub(crate) choice: Choice,
}

/// A step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A transaction takes its snapshot.
    Begin(TxnId),
    /// A transaction installs its writes.
    Commit(TxnId),
}

impl Certificate {
    /// A claimed run, which [`Certificate::replay`] confirms or refuses. `sources` has, for reads of values that several
    /// transactions wrote, the write that the read returned, or `None` for the initial value.
    pub fn new(
        level: Level,
        steps: Vec<Step>,
        sources: impl IntoIterator<Item = (MicroId, Option<MicroId>)>,
    ) -> Certificate {
        let choice = sources.into_iter().map(|(read, write)| (read.0, write.map_or(NONE, |write| write.0))).collect();
        Certificate { level, steps, choice }
    }

    /// The writes that reads of values with several writers returned, in the order of reads.
    pub fn sources(&self) -> Vec<(MicroId, Option<MicroId>)> {
        let mut sources: Vec<(u32, u32)> = self.choice.iter().map(|(&read, &write)| (read, write)).collect();
        sources.sort_unstable();
        let source = |(read, write)| (MicroId(read), Some(MicroId(write)).filter(|_| write != NONE));
        sources.into_iter().map(source).collect()
    }

    /// Executes the run. An error says where it is not one.
    pub fn replay(&self, txns: &Transactions) -> Result<(), String> {
        let is_split = matches!(self.level.isolation, Isolation::Prefix | Isolation::Snapshot);
        let is_begin = |step: &Step| matches!(step, Step::Begin(_));
        match self.steps.iter().any(is_begin) {
            false if is_split && !self.steps.is_empty() => return Err("the run has no begins".to_owned()),
            true if !is_split => return Err("begins and commits are one step at this level".to_owned()),
            _ => {}
        }
        has_all(txns, &self.steps)?;
        follows_order(txns, self.level.order, &self.steps)?;
        match self.level.isolation {
            Isolation::Prefix | Isolation::Snapshot | Isolation::Serializable => {
                Store::new(txns).run(&self.steps, self.level.isolation)
            }
            isolation => {
                let commits = CommitOrder::new(txns, &self.steps, &self.choice)?;
                commits.respects_versions()?;
                commits.check(isolation, self.level.order)
            }
        }
    }
}

/// Committed transactions are in the run once, others at most once, and aborted ones are not.
fn has_all(txns: &Transactions, steps: &[Step]) -> Result<(), String> {
    let mut state = vec![0u8; txns.len()]; // Begun: 1, committed: 2.
    let has_begins = steps.iter().any(|step| matches!(step, Step::Begin(_)));
    for step in steps {
        let (Step::Begin(txn) | Step::Commit(txn)) = *step;
        let was = &mut state[txn.0 as usize];
        let expected = u8::from(has_begins && matches!(step, Step::Commit(_)));
        if *was != expected || txns.status(txn) == Status::Aborted {
            return Err(format!("{} has a step too many or too few", txns.name(txn)));
        }
        *was = if matches!(step, Step::Begin(_)) { 1 } else { 2 };
    }
    match txns.ids().find(|&txn| state[txn.0 as usize] != 2 && txns.status(txn) == Status::Committed) {
        Some(txn) => Err(format!("{} is missing", txns.name(txn))),
        None => Ok(()),
    }
}

fn follows_order(txns: &Transactions, order: Precedence, steps: &[Step]) -> Result<(), String> {
    if order == Precedence::None {
        return Ok(());
    }
    let has_begins = steps.iter().any(|step| matches!(step, Step::Begin(_)));
    let mut last: Vec<Option<(u32, bool)>> = vec![None; txns.lanes as usize]; // Number, and if it is committed.
    let mut by_end: Vec<u32> = match order {
        Precedence::RealTime => (0..txns.len() as u32).collect(),
        Precedence::None | Precedence::Program => Vec::new(),
    };
    let mut runs = vec![false; txns.len()];
    for step in steps {
        let (Step::Begin(txn) | Step::Commit(txn)) = *step;
        runs[txn.0 as usize] = true;
    }
    by_end.retain(|&txn| runs[txn as usize] && txns.txns[txn as usize].end != NEVER);
    by_end.sort_by_key(|&txn| txns.txns[txn as usize].end);
    let mut is_committed = vec![false; txns.len()];
    let mut earliest = 0;
    for step in steps {
        let (Step::Begin(txn) | Step::Commit(txn)) = *step;
        let now = txns.txns[txn.0 as usize];
        if !has_begins || matches!(step, Step::Begin(_)) {
            let lane = &mut last[now.lane as usize];
            if lane.is_some_and(|(number, is_over)| number >= now.number || !is_over) {
                return Err(format!("{} comes before an earlier transaction of its session", txns.name(txn)));
            }
            *lane = Some((now.number, !has_begins));
            while by_end.get(earliest).is_some_and(|&other| is_committed[other as usize]) {
                earliest += 1;
            }
            if by_end.get(earliest).is_some_and(|&other| txns.txns[other as usize].end < now.start) {
                return Err(format!("{} comes before a transaction that had ended", txns.name(txn)));
            }
        }
        if matches!(step, Step::Commit(_)) {
            last[now.lane as usize] = Some((now.number, true));
            is_committed[txn.0 as usize] = true;
        }
    }
    Ok(())
}

/// A store with snapshots.
struct Store<'a> {
    txns: &'a Transactions,
    registers: Vec<u32>,
    lists: Vec<Vec<u32>>,
    changed: Vec<u32>, // The number of the last step that changed a key.
    begun: Vec<u32>,
    ranks: FxHashMap<u32, u32>, // The place of a version in its given order.
    rank: Vec<u32>,
}

impl<'a> Store<'a> {
    fn new(txns: &'a Transactions) -> Store<'a> {
        let keys = txns.keys.len();
        let ranks = txns.given.iter().flat_map(|(_, order)| order.iter().copied().zip(1..)).collect();
        Store {
            txns,
            registers: vec![NONE; keys],
            lists: vec![Vec::new(); keys],
            changed: vec![0; keys],
            begun: vec![0; txns.len()],
            ranks,
            rank: vec![0; keys],
        }
    }

    fn run(mut self, steps: &[Step], isolation: Isolation) -> Result<(), String> {
        for (step, number) in steps.iter().zip(1..) {
            match *step {
                Step::Begin(txn) => {
                    self.read(txn)?;
                    self.begun[txn.0 as usize] = number;
                }
                Step::Commit(txn) => {
                    if isolation == Isolation::Serializable {
                        self.read(txn)?;
                        self.begun[txn.0 as usize] = number;
                    }
                    self.write(txn, number, isolation)?;
                }
            }
        }
        Ok(())
    }

    fn read(&self, txn: TxnId) -> Result<(), String> {
        let txns = self.txns;
        let is_unknown = txns.status(txn) == Status::Unknown;
        let micros = &txns.micros[txns.range(txn.0)];
        for (place, micro) in micros.iter().enumerate() {
            let mut own = micros[..place].iter().filter(|own| own.is_write() && own.key == micro.key);
            let is_right = match micro.access {
                Access::Write | Access::Append => true,
                Access::Read if is_unknown && *txns.value(micro.at) == omnilink_history::Value::Nil => true,
                Access::Read => match own.next_back() {
                    Some(own) => own.at == micro.at,
                    None => match self.registers[micro.key as usize] {
                        NONE => txns.versions[micro.at as usize].is_initial,
                        now => now == micro.at,
                    },
                },
                Access::Prefix | Access::List => {
                    let (list, now) = (txns.list(*micro), &self.lists[micro.key as usize]);
                    list.starts_with(now) && list[now.len()..].iter().copied().eq(own.map(|own| own.at))
                }
            };
            if !is_right {
                return Err(format!("{} read another value of `{}`", txns.name(txn), txns.keys[micro.key as usize]));
            }
        }
        Ok(())
    }

    fn write(&mut self, txn: TxnId, number: u32, isolation: Isolation) -> Result<(), String> {
        let txns = self.txns;
        for place in txns.range(txn.0) {
            let micro = txns.micros[place];
            let key = micro.key as usize;
            if !micro.is_write() {
                continue;
            }
            if isolation == Isolation::Snapshot
                && self.changed[key] > self.begun[txn.0 as usize]
                && self.changed[key] != number
            {
                return Err(format!(
                    "{} overwrites `{}`, which changed since it began",
                    txns.name(txn),
                    txns.keys[key]
                ));
            }
            self.changed[key] = number;
            if let Some(&rank) = self.ranks.get(&micro.at) {
                if rank < self.rank[key] {
                    return Err(format!("{} writes an older version of `{}`", txns.name(txn), txns.keys[key]));
                }
                self.rank[key] = rank;
            }
            match micro.access {
                Access::Append => self.lists[key].push(micro.at),
                _ => self.registers[key] = micro.at,
            }
        }
        Ok(())
    }
}

/// A read of a version of another transaction, or of the initial one.
struct ExternalRead {
    key: u32,
    /// The place of the writer, or 0.
    source: u32,
    /// The writers of the elements before the last.
    elements: Vec<u32>,
}

/// Transactions in the order of their commits, numbered from 1.
struct CommitOrder<'a> {
    txns: &'a Transactions,
    order: Vec<u32>,  // Transactions; at 0 there is none.
    place: Vec<u32>,  // By transaction; 0 if it is not in the run.
    owners: Vec<u32>, // The transaction of each micro-operation.
    reads: Vec<Vec<ExternalRead>>,
    writes: Vec<Vec<u32>>, // By place: keys.
}

impl<'a> CommitOrder<'a> {
    fn new(txns: &'a Transactions, steps: &[Step], choice: &Choice) -> Result<CommitOrder<'a>, String> {
        let mut order = vec![NONE];
        let mut place = vec![0; txns.len()];
        for step in steps {
            let (Step::Begin(txn) | Step::Commit(txn)) = *step;
            place[txn.0 as usize] = order.len() as u32;
            order.push(txn.0);
        }
        let mut owners = vec![0; txns.micros.len()];
        for txn in 0..txns.len() as u32 {
            owners[txns.range(txn)].fill(txn);
        }
        let mut made = CommitOrder { txns, order, place, owners, reads: vec![Vec::new()], writes: vec![Vec::new()] };
        // True for the last write of its key in its transaction.
        let mut finals = vec![false; txns.micros.len()];
        let mut writes: Vec<(u32, usize)> = Vec::new();
        for &txn in &made.order[1..] {
            writes.clear();
            writes.extend(txns.range(txn).filter(|&at| txns.micros[at].is_write()).map(|at| (txns.micros[at].key, at)));
            writes.sort_unstable();
            let of_keys = writes.chunk_by(|a, b| a.0 == b.0).filter_map(|of_key| of_key.last());
            of_keys.clone().for_each(|&(_, at)| finals[at] = true);
            made.writes.push(of_keys.map(|&(key, _)| key).collect());
        }
        for at in 1..made.order.len() {
            let reads = made.reads_of(made.order[at], choice, &finals)?;
            made.reads.push(reads);
        }
        Ok(made)
    }

    fn reads_of(&self, txn: u32, choice: &Choice, finals: &[bool]) -> Result<Vec<ExternalRead>, String> {
        let txns = self.txns;
        let wrong = |text: &str| format!("{} {text}", txns.name(TxnId(txn)));
        let is_unknown = txns.status(TxnId(txn)) == Status::Unknown;
        let mut own: Vec<(u32, u32)> = Vec::new();
        let mut reads = Vec::new();
        let source = |version: u32, micro: u32| {
            let is_write = |&writer: &u32| {
                writer == NONE
                    || (txns.micros[writer as usize].is_write() && txns.micros[writer as usize].at == version)
            };
            let writer = match choice.get(&micro) {
                Some(writer) if !is_write(writer) => return Err("read another value than its source wrote"),
                Some(&writer) => writer,
                None => txns.versions[version as usize].writer,
            };
            if writer == NONE {
                return if txns.versions[version as usize].is_initial { Ok((NONE, 0)) } else { Err("read no write") };
            }
            match self.place[self.owners[writer as usize] as usize] {
                0 => Err("read a transaction that did not commit"),
                place if place >= self.place[txn as usize] => Err("read a later transaction"),
                place => Ok((writer, place)),
            }
        };
        for at in txns.range(txn) {
            let micro = txns.micros[at];
            let mine: Vec<u32> = own.iter().filter(|(key, _)| *key == micro.key).map(|own| own.1).collect();
            match micro.access {
                Access::Write | Access::Append => own.push((micro.key, micro.at)),
                Access::Read if is_unknown && *txns.value(micro.at) == omnilink_history::Value::Nil => {}
                Access::Read => match mine.last() {
                    Some(&last) if last == micro.at => {}
                    Some(_) => return Err(wrong("read another value than its own")),
                    None => {
                        let (writer, source) = source(micro.at, at as u32).map_err(wrong)?;
                        if writer != NONE && !finals[writer as usize] {
                            return Err(wrong("read an intermediate value"));
                        }
                        reads.push(ExternalRead { key: micro.key, source, elements: Vec::new() });
                    }
                },
                Access::Prefix | Access::List => {
                    let list = txns.list(micro);
                    if !list.ends_with(&mine) {
                        return Err(wrong("read a list without its own elements"));
                    }
                    let before = &list[..list.len() - mine.len()];
                    let sources: Result<Vec<_>, _> = before.iter().map(|&version| source(version, at as u32)).collect();
                    let sources = sources.map_err(wrong)?;
                    let (writer, last) = sources.last().copied().unwrap_or((NONE, 0));
                    if writer != NONE && !finals[writer as usize] {
                        return Err(wrong("read an intermediate value"));
                    }
                    let elements = sources.iter().map(|&(_, place)| place).filter(|&place| place != last).collect();
                    reads.push(ExternalRead { key: micro.key, source: last, elements });
                }
            }
        }
        Ok(reads)
    }

    /// Known version orders hold: given ones, and lists.
    fn respects_versions(&self) -> Result<(), String> {
        let txns = self.txns;
        let mut longest: Vec<&[u32]> = vec![&[]; txns.keys.len()];
        for &txn in &self.order[1..] {
            for at in txns.range(txn) {
                let micro = txns.micros[at];
                let list = &mut longest[micro.key as usize];
                if txns.list(micro).len() > list.len() {
                    *list = txns.list(micro);
                }
            }
        }
        for &txn in &self.order[1..] {
            for at in txns.range(txn) {
                let micro = txns.micros[at];
                if !longest[micro.key as usize].starts_with(txns.list(micro)) {
                    return Err(format!("{} read another order of a list", txns.name(TxnId(txn))));
                }
            }
        }
        let mut of_list: BTreeMap<u32, (u32, FxHashSet<u32>)> = BTreeMap::new();
        let of_lists = (0..).zip(longest).filter(|(key, _)| txns.is_list[*key as usize]);
        let known = of_lists.chain(txns.given.iter().map(|(key, order)| (*key, &**order)));
        for (key, order) in known {
            let mut met: FxHashSet<u32> = FxHashSet::default();
            let mut last = 0;
            for &version in order {
                let writer = txns.versions[version as usize].writer;
                let place = if writer == NONE { 0 } else { self.place[self.owners[writer as usize] as usize] };
                if place == 0 && !txns.is_list[key as usize] {
                    continue; // It did not commit.
                }
                if place != last && (place < last || !met.insert(place)) {
                    return Err(format!("the versions of `{}` have another order", txns.keys[key as usize]));
                }
                last = place;
            }
            if txns.is_list[key as usize] {
                of_list.insert(key, (last, met));
            }
        }
        for (place, keys) in self.writes.iter().enumerate() {
            let is_early =
                |(last, met): &(u32, FxHashSet<u32>)| (place as u32) < *last && !met.contains(&(place as u32));
            if let Some(key) = keys.iter().find(|key| of_list.get(key).is_some_and(is_early)) {
                return Err(format!("an element of `{}` that none read comes too early", txns.keys[*key as usize]));
            }
        }
        Ok(())
    }

    /// Compares each read with the last write that its transaction sees.
    fn check(&self, isolation: Isolation, order: Precedence) -> Result<(), String> {
        match isolation {
            Isolation::ReadCommitted => Ok(()),
            Isolation::MonotonicAtomicView => self.check_earlier(),
            Isolation::ReadAtomic => self.check_direct(order),
            _ => {
                // A run in a stronger order is one in a weaker order, and sessions need less memory than bits.
                let steps: Vec<Step> = self.order[1..].iter().map(|&txn| Step::Commit(TxnId(txn))).collect();
                let is_session =
                    order == Precedence::None && follows_order(self.txns, Precedence::Program, &steps).is_ok();
                if is_session && self.check_past(isolation, Precedence::Program).is_ok() {
                    return Ok(());
                }
                self.check_past(isolation, order)
            }
        }
    }

    fn refuse(&self, place: usize, read: &ExternalRead) -> String {
        let key = &self.txns.keys[read.key as usize];
        format!("{} read an old version of `{key}`", self.txns.name(TxnId(self.order[place])))
    }

    fn check_earlier(&self) -> Result<(), String> {
        for (place, reads) in self.reads.iter().enumerate() {
            let mut seen: Vec<u32> = Vec::new();
            for read in reads {
                let is_newer = |&&other: &&u32| other > read.source && self.writes[other as usize].contains(&read.key);
                if seen.iter().any(|other| is_newer(&other)) {
                    return Err(self.refuse(place, read));
                }
                seen.extend(read.elements.iter().copied().chain(Some(read.source)).filter(|&at| at != 0));
            }
        }
        Ok(())
    }

    fn check_direct(&self, order: Precedence) -> Result<(), String> {
        let txns = self.txns;
        let mut of_session: FxHashMap<(u32, u32), u32> = FxHashMap::default(); // The last writer of a key in a session.
        let ended = self.writers_by_end(order);
        for (place, reads) in self.reads.iter().enumerate().skip(1) {
            let txn = txns.txns[self.order[place] as usize];
            let mut seen: Vec<u32> = Vec::new();
            reads.iter().for_each(|read| seen.extend(read.elements.iter().copied().chain(Some(read.source))));
            for read in reads {
                let mut newest = 0;
                for &other in seen.iter().filter(|&&other| other > read.source) {
                    if self.writes[other as usize].contains(&read.key) {
                        newest = other.max(newest);
                    }
                }
                if order != Precedence::None {
                    newest = newest.max(of_session.get(&(txn.lane, read.key)).copied().unwrap_or(0));
                }
                if let Some(writers) = ended.get(&read.key) {
                    let count = writers.partition_point(|&(end, _)| end < txn.start);
                    newest = newest.max(writers[..count].last().map_or(0, |&(_, place)| place));
                }
                if newest > read.source {
                    return Err(self.refuse(place, read));
                }
            }
            for &key in &self.writes[place] {
                of_session.insert((txn.lane, key), place as u32);
            }
        }
        Ok(())
    }

    /// The writers of each key by end, each with the largest place up to it.
    fn writers_by_end(&self, order: Precedence) -> BTreeMap<u32, Vec<(u64, u32)>> {
        let mut ended: BTreeMap<u32, Vec<(u64, u32)>> = BTreeMap::new();
        if order != Precedence::RealTime {
            return ended;
        }
        for (place, keys) in self.writes.iter().enumerate().skip(1) {
            let end = self.txns.txns[self.order[place] as usize].end;
            for key in keys.iter().filter(|_| end != NEVER) {
                ended.entry(*key).or_default().push((end, place as u32));
            }
        }
        for writers in ended.values_mut() {
            writers.sort_unstable();
            let mut largest = 0;
            writers.iter_mut().for_each(|(_, place)| {
                largest = largest.max(*place);
                *place = largest;
            });
        }
        ended
    }

    /// Causal and parallel snapshot: everything from which a path leads to a transaction is seen.
    fn check_past(&self, isolation: Isolation, order: Precedence) -> Result<(), String> {
        const MOST: usize = 1 << 27;
        let txns = self.txns;
        let has_sessions = order != Precedence::None;
        let count = self.order.len();
        let (all, fit) = match has_sessions {
            true => (txns.lanes, MOST / (2 * count)),
            false => (count as u32, (MOST / count).saturating_mul(32)),
        };
        let fit = u32::try_from(fit.max(32)).unwrap_or(u32::MAX);
        let mut writers: Vec<Vec<u32>> = vec![Vec::new(); txns.keys.len()];
        for (place, keys) in self.writes.iter().enumerate() {
            keys.iter().for_each(|&key| writers[key as usize].push(place as u32));
        }
        for at in 0..all.div_ceil(fit) {
            let range = at * fit..all.min((at + 1).saturating_mul(fit));
            let rows = self.pasts(isolation, order, range.clone());
            for (place, reads) in self.reads.iter().enumerate().skip(1) {
                for read in reads {
                    let of_key = &writers[read.key as usize];
                    let later = &of_key[of_key.partition_point(|&other| other <= read.source)..];
                    let later = later.iter().take_while(|&&other| other < place as u32);
                    for &other in later {
                        if rows.has(self, other, place as u32) {
                            return Err(self.refuse(place, read));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn pasts(&self, isolation: Isolation, order: Precedence, range: Range<u32>) -> Rows {
        let txns = self.txns;
        let has_sessions = order != Precedence::None;
        let width = if has_sessions { range.len() } else { range.len().div_ceil(32) };
        let mut rows = Rows { has_sessions, range, width, numbers: vec![0; width * self.order.len()] };
        let mut by_end: Vec<(u64, u32)> = Vec::new();
        if order == Precedence::RealTime {
            let end = |place: &u32| txns.txns[self.order[*place as usize] as usize].end;
            by_end = (1..self.order.len() as u32).map(|place| (end(&place), place)).filter(|e| e.0 != NEVER).collect();
            by_end.sort_unstable();
        }
        // The joined past of the first transactions by end.
        let mut ended = vec![0; if by_end.is_empty() { 0 } else { width * (by_end.len() + 1) }];
        let mut joined = 0;
        let mut last_of_lane = vec![0u32; txns.lanes as usize];
        let mut last_of_key = vec![0u32; txns.keys.len()];
        for place in 1..self.order.len() as u32 {
            let txn = txns.txns[self.order[place as usize] as usize];
            let mut row = vec![0; width];
            if has_sessions {
                rows.join(self, last_of_lane[txn.lane as usize], &mut row);
                last_of_lane[txn.lane as usize] = place;
            }
            for read in &self.reads[place as usize] {
                read.elements.iter().chain(Some(&read.source)).for_each(|&other| rows.join(self, other, &mut row));
            }
            if isolation == Isolation::ParallelSnapshot {
                for &key in &self.writes[place as usize] {
                    rows.join(self, std::mem::replace(&mut last_of_key[key as usize], place), &mut row);
                }
            }
            let passed = by_end.partition_point(|&(end, _)| end < txn.start);
            while joined < passed {
                let (before, after) = ended.split_at_mut(width * (joined + 1));
                after[..width].copy_from_slice(&before[width * joined..]);
                rows.join(self, by_end[joined].1, &mut after[..width]);
                joined += 1;
            }
            if passed > 0 {
                rows.merge(&ended[width * passed..][..width], &mut row);
            }
            rows.numbers[place as usize * width..][..width].copy_from_slice(&row);
        }
        rows
    }
}

/// The past of each place, for some sessions or some transactions.
struct Rows {
    has_sessions: bool,
    range: Range<u32>,
    width: usize,
    numbers: Vec<u32>,
}

impl Rows {
    fn merge(&self, from: &[u32], into: &mut [u32]) {
        let both = into.iter_mut().zip(from);
        both.for_each(|(seen, &now)| *seen = if self.has_sessions { now.max(*seen) } else { now | *seen });
    }

    /// Adds a transaction and its past.
    fn join(&self, order: &CommitOrder<'_>, place: u32, into: &mut [u32]) {
        if place == 0 {
            return;
        }
        self.merge(&self.numbers[place as usize * self.width..][..self.width], into);
        let txn = order.txns.txns[order.order[place as usize] as usize];
        if self.has_sessions && self.range.contains(&txn.lane) {
            let seen = &mut into[(txn.lane - self.range.start) as usize];
            *seen = (txn.number + 1).max(*seen);
        } else if !self.has_sessions && self.range.contains(&place) {
            let at = place - self.range.start;
            into[at as usize / 32] |= 1 << (at % 32);
        }
    }

    /// True if a transaction in the range is in the past of another.
    fn has(&self, order: &CommitOrder<'_>, other: u32, place: u32) -> bool {
        let row = &self.numbers[place as usize * self.width..][..self.width];
        let txn = order.txns.txns[order.order[other as usize] as usize];
        match self.has_sessions {
            true => self.range.contains(&txn.lane) && row[(txn.lane - self.range.start) as usize] > txn.number,
            false => {
                let at = other.wrapping_sub(self.range.start);
                self.range.contains(&other) && row[at as usize / 32] >> (at % 32) & 1 == 1
            }
        }
    }
}

//! Random histories: changed named ones, and runs of machines that allow exactly what a level allows.

use std::ops::RangeInclusive;

use fastrand::Rng;
use omnilink_history::format::json::Json;

/// A kind of micro-operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// A kind, a key, and the value that was written, or those that were read. Keys and values are numbers; without values,
/// a read returned the initial one.
pub(crate) type Op = (Access, u32, Vec<u32>);

/// A transaction.
#[derive(Clone, Debug)]
pub(crate) struct Txn {
    pub(crate) ops: Vec<Op>,
    /// `!` if it aborted, `?` if that is unknown.
    pub(crate) status: char,
    pub(crate) times: Option<(u64, Option<u64>)>,
}

/// A history of registers or of lists.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) is_list: bool,
    pub(crate) is_timed: bool,
    pub(crate) sessions: Vec<Vec<Txn>>,
}

fn text(json: &Json) -> &str {
    if let Json::Text(text) = json { text } else { panic!("expected a string") }
}

fn list(json: &Json) -> &[Json] {
    if let Json::Array(list) = json { list } else { panic!("expected an array") }
}

/// The histories of the bank whose version orders are not given.
fn bank() -> Vec<History> {
    let bank = Json::parse(include_str!("../data/bank.json")).expect("JSON");
    let plain = list(&bank).iter().filter(|source| source.field("versions").is_none());
    let parse = |source: &Json| {
        let is_list = source.field("kind").is_some();
        let sessions = list(source.field("sessions").expect("sessions")).iter();
        let txn = |txn: &Json| parse_txn(text(txn), is_list);
        let sessions: Vec<Vec<Txn>> = sessions.map(|session| list(session).iter().map(txn).collect()).collect();
        let is_timed = sessions.iter().flatten().any(|txn| txn.times.is_some());
        History { is_list, is_timed, sessions }
    };
    plain.map(parse).collect()
}

fn parse_txn(text: &str, is_list: bool) -> Txn {
    let mut txn = Txn { ops: Vec::new(), status: ' ', times: None };
    for word in text.split_whitespace() {
        if let Some((start, end)) = word.strip_prefix('@').and_then(|times| times.split_once('-')) {
            txn.times = Some((start.parse().expect("a time"), end.parse().ok()));
        } else if matches!(word, "!" | "?") {
            txn.status = word.chars().next().expect("a sign");
        } else {
            let key = u32::from(word.as_bytes()[1] - b'x' + 3) % 26; // x, y, z and a.
            let digits: Vec<u32> = word[2..].chars().filter_map(|digit| digit.to_digit(10)).collect();
            let access = if word.starts_with('r') { Access::Read } else { Access::Write };
            let values = if is_list { digits } else { digits.into_iter().filter(|&value| value != 0).collect() };
            txn.ops.push((access, key, values));
        }
    }
    txn
}

/// A named history with one to three changes.
pub(crate) fn mutated(rng: &mut Rng) -> History {
    let bank = bank();
    let mut history = bank[rng.usize(0..bank.len())].clone();
    for _ in 0..[1, 1, 2, 3][rng.usize(0..4)] {
        change(&mut history, rng);
    }
    history.repair();
    history
}

fn change(history: &mut History, rng: &mut Rng) {
    let sessions = &mut history.sessions;
    match rng.usize(0..6) {
        0 if sessions.len() > 1 => {
            let place = rng.usize(0..sessions.len());
            let first = sessions.remove(place);
            let place = rng.usize(0..sessions.len());
            sessions[place].extend(first);
        }
        1 => *sessions = std::mem::take(sessions).into_iter().flatten().map(|txn| vec![txn]).collect(),
        2 => {
            let count = sessions.iter().flatten().count();
            let txn = sessions.iter_mut().flatten().nth(rng.usize(0..count)).expect("a transaction");
            rng.shuffle(&mut txn.ops);
        }
        3 | 4 if !history.is_list => {
            let all: Vec<Op> = sessions.iter().flatten().flat_map(|txn| txn.ops.clone()).collect();
            let mut reads: Vec<&mut Op> = sessions
                .iter_mut()
                .flatten()
                .flat_map(|txn| &mut txn.ops)
                .filter(|(access, ..)| *access == Access::Read)
                .collect();
            if !reads.is_empty() {
                let place = rng.usize(0..reads.len());
                let key = reads[place].1;
                let written = all.into_iter().filter(|(access, of, _)| *access == Access::Write && *of == key);
                let mut values: Vec<Vec<u32>> = written.map(|(_, _, values)| values).collect();
                values.push(Vec::new());
                reads[place].2 = values[rng.usize(0..values.len())].clone();
            }
        }
        _ => {
            history.is_timed = true;
            for session in sessions {
                let mut at = rng.u64(0..=6);
                for txn in session {
                    let end = at + rng.u64(0..=4);
                    txn.times = Some((at, Some(end).filter(|_| txn.status != '?')));
                    at = end + 1 + rng.u64(0..=2);
                }
            }
        }
    }
}

impl History {
    /// A session ends with an unknown transaction, and its times increase; otherwise there are no times.
    fn repair(&mut self) {
        let mut sessions = Vec::new();
        for session in std::mem::take(&mut self.sessions) {
            sessions.extend(session.split_inclusive(|txn| txn.status == '?').map(<[Txn]>::to_vec));
        }
        self.sessions = sessions;
        let is_ordered = |pair: &[Txn]| match (pair[0].times, pair[1].times) {
            (Some((_, Some(end))), Some((start, _))) => end < start,
            _ => false,
        };
        self.is_timed &= self.sessions.iter().flatten().all(|txn| txn.times.is_some());
        self.is_timed &= self.sessions.iter().all(|session| session.windows(2).all(is_ordered));
    }
}

/// A committed transaction of a machine.
struct Done {
    id: usize,
    own: Vec<(u32, u32)>, // Keys and values.
    sees: Vec<usize>,
}

/// A run in which transactions commit one after another, and each sees what a level allows; then a read may change.
pub(crate) fn machine(rng: &mut Rng, sizes: RangeInclusive<usize>, most_keys: u32) -> History {
    let level = rng.usize(1..8); // From monotonic atomic view on, in the order of `oracle`.
    let is_list = level >= 4 && level != 5 && rng.f64() < 0.4;
    let (keys, count) = (rng.u32(1..=most_keys), rng.usize(sizes));
    let mut sessions: Vec<Vec<(usize, Txn)>> = vec![Vec::new(); rng.usize(2..=4)];
    let mut free: Vec<Option<u64>> = vec![Some(0); sessions.len()];
    let has_order = rng.f64() < 0.8;
    let mut done: Vec<Done> = Vec::new();
    let mut fresh = vec![0; keys as usize];
    for id in 0..count {
        let alive: Vec<usize> = (0..sessions.len()).filter(|&session| free[session].is_some()).collect();
        let Some(&session) = alive.get(rng.usize(0..alive.len().max(1))) else { break };
        let mut plan: Vec<(Access, u32)> = (0..[2, 3, 3, 4, 5][rng.usize(0..5)])
            .map(|_| (if rng.u32(0..4) == 0 { Access::Write } else { Access::Read }, rng.u32(0..keys)))
            .collect();
        if rng.bool() {
            plan.sort_by_key(|&(access, key)| (access == Access::Write, key));
        }
        let past =
            |other: &Done| has_order && sessions[session].iter().any(|(id, txn)| *id == other.id && txn.status == ' ');
        let clashes = |other: &Done| other.own.iter().any(|(key, _)| plan.contains(&(Access::Write, *key)));
        let mut sees: Vec<usize> =
            done.iter().filter(|other| past(other) || rng.bool()).map(|other| other.id).collect();
        match level {
            4 | 6 => {
                let least = done
                    .iter()
                    .filter(|other| past(other) || (level == 6 && clashes(other)))
                    .map(|other| other.id)
                    .max();
                let possible: Vec<usize> = done.iter().map(|other| other.id).filter(|id| Some(*id) >= least).collect();
                let until = possible.get(rng.usize(0..possible.len().max(1))).copied();
                sees = done.iter().map(|other| other.id).filter(|id| Some(*id) <= until).collect();
            }
            7 => sees = done.iter().map(|other| other.id).collect(),
            3 | 5 => {
                if level == 5 {
                    sees.extend(done.iter().filter(|other| clashes(other)).map(|other| other.id));
                }
                let all: Vec<usize> =
                    done.iter().filter(|other| sees.contains(&other.id)).flat_map(|other| other.sees.clone()).collect();
                sees.extend(all);
                sees.sort_unstable();
                sees.dedup();
            }
            _ => {}
        }
        let mut own: Vec<(u32, u32)> = Vec::new();
        let mut ops = Vec::new();
        for (access, key) in plan {
            if level == 1 {
                sees.extend(done.iter().filter(|_| rng.f64() < 0.3).map(|other| other.id));
            }
            if access == Access::Write && fresh[key as usize] < 9 {
                fresh[key as usize] += 1;
                own.push((key, fresh[key as usize]));
                ops.push((access, key, vec![fresh[key as usize]]));
                continue;
            }
            let of_key =
                |all: &[(u32, u32)]| -> Vec<u32> { all.iter().filter(|own| own.0 == key).map(|own| own.1).collect() };
            let mut visible = Vec::new();
            for other in done.iter().filter(|other| sees.contains(&other.id)) {
                let written = of_key(&other.own);
                visible.extend(&written[if is_list { 0 } else { written.len().saturating_sub(1) }..]);
            }
            visible.extend(of_key(&own));
            let from = if is_list { 0 } else { visible.len().saturating_sub(1) };
            ops.push((Access::Read, key, visible.split_off(from)));
        }
        let (now, since) = (10 * id as u64 + 30, free[session].unwrap_or(0));
        let start = since.max(now - rng.u64(0..=25));
        let end = start.max(now) + rng.u64(0..=15);
        let status = if rng.f64() < 0.05 {
            '?'
        } else if rng.f64() < 0.05 {
            '!'
        } else {
            ' '
        };
        free[session] = Some(end + 1).filter(|_| status != '?');
        sessions[session].push((id, Txn { ops, status, times: Some((start, Some(end).filter(|_| status != '?'))) }));
        if status == ' ' || (status == '?' && rng.bool()) {
            sees.push(id);
            sees.sort_unstable();
            sees.dedup();
            done.push(Done { id, own, sees });
        }
    }
    let sessions = sessions.into_iter().map(|session| session.into_iter().map(|(_, txn)| txn).collect());
    let mut history = History { is_list, is_timed: rng.f64() < 0.6, sessions: sessions.collect() };
    if rng.f64() < 0.4 {
        change_read(&mut history, &done, rng);
    }
    history
}

/// One read returns another value.
fn change_read(history: &mut History, done: &[Done], rng: &mut Rng) {
    let ops = history.sessions.iter_mut().flatten().flat_map(|txn| &mut txn.ops);
    let mut reads: Vec<&mut Op> = ops.filter(|(access, ..)| *access == Access::Read).collect();
    if reads.is_empty() {
        return;
    }
    let place = rng.usize(0..reads.len());
    let read = &mut reads[place];
    let own = done.iter().flat_map(|other| &other.own);
    let values: Vec<u32> = own.filter(|(key, _)| *key == read.1).map(|(_, value)| *value).collect();
    read.2 = match history.is_list {
        true => values[..rng.usize(0..=values.len())].to_vec(),
        false => values.get(rng.usize(0..=values.len())).map(|&value| vec![value]).unwrap_or_default(),
    };
}

//! Names of anomalies, and sentences about them. A name is a pattern of kinds of edges.

use std::fmt::Write;

use omnilink_history::Value;

use crate::check::Rejection;
use crate::evidence::{Cycle, Edge, Violation, Why};
use crate::level::Isolation;
use crate::model::{BadRead, ReadAnomaly};
use crate::transactions::{Access, MicroId, Status, Transactions, TxnId};

/// The most elements of a list that a text shows on either side of the one that it is about.
const AROUND: usize = 3;

impl ReadAnomaly {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            ReadAnomaly::Internal => "internal read",
            ReadAnomaly::Future => "future read",
            ReadAnomaly::ThinAir => "thin-air read",
            ReadAnomaly::Aborted => "aborted read",
            ReadAnomaly::Intermediate => "intermediate read",
            ReadAnomaly::Duplicate => "duplicate element",
            ReadAnomaly::Incompatible => "incompatible orders",
        }
    }
}

/// The name of a cycle, without the orders that it uses.
fn cycle_name(cycle: &Cycle, isolation: Isolation, txns: &Transactions) -> &'static str {
    let count = |is_kind: fn(&Why) -> bool| cycle.edges.iter().filter(|edge| is_kind(&edge.why)).count();
    let missed = count(|why| matches!(why, Why::Missed { .. }));
    let reads = count(|why| matches!(why, Why::Read { .. }));
    let versions = count(|why| matches!(why, Why::Version { .. }));
    let forced = count(|why| matches!(why, Why::Forced { .. }));
    let is_adjacent = cycle
        .edges
        .iter()
        .zip(cycle.edges.iter().cycle().skip(1))
        .any(|(edge, next)| matches!((&edge.why, &next.why), (Why::Missed { .. }, Why::Missed { .. })));
    match isolation {
        _ if missed == 0 && forced == 0 && reads == 0 && versions > 0 => "dirty write",
        _ if missed == 0 && forced == 0 => "circular information flow",
        Isolation::MonotonicAtomicView => "non-monotonic view",
        Isolation::ReadAtomic => "fractured read",
        Isolation::Causal => "causality violation",
        _ if is_lost_update(cycle, txns) => "lost update",
        _ if missed == 1 => "read skew",
        _ if !is_adjacent => "long fork",
        _ => "write skew",
    }
}

/// One transaction missed the update of a key by another, and updated it itself.
fn is_lost_update(cycle: &Cycle, txns: &Transactions) -> bool {
    let [first, second] = &*cycle.edges else { return false };
    let key = |micro: MicroId| txns.micros[micro.0 as usize].key;
    match (&first.why, &second.why) {
        (Why::Missed { read, .. }, Why::Version { first, .. })
        | (Why::Version { first, .. }, Why::Missed { read, .. }) => key(*read) == key(*first),
        _ => false,
    }
}

/// A violation in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The name of the anomaly.
    pub anomaly: String,
    /// One sentence that says what is wrong.
    pub sentence: String,
    /// The transactions that take part, in order, with their labels in the texts.
    pub txns: Vec<(String, TxnId)>,
    /// For each edge: its label, such as `T1 → T2`, and the reason.
    pub edges: Vec<(String, String)>,
}

impl Rejection {
    /// Explains the violation in words.
    pub fn explain(&self, txns: &Transactions) -> Explanation {
        match &self.violation {
            Violation::Read(bad) => bad_read(*bad, txns),
            Violation::Cycle(cycle) => self.explain_cycle(cycle, txns),
            Violation::LostUpdate { first, second } => lost_update(*first, *second, txns),
            Violation::Core(core) => {
                let names = Names(core);
                Explanation {
                    anomaly: "no version order".to_owned(),
                    sentence: format!("every order of the writes of these {} transactions has a cycle", core.len()),
                    txns: names.all(),
                    edges: Vec::new(),
                }
            }
        }
    }

    fn explain_cycle(&self, cycle: &Cycle, txns: &Transactions) -> Explanation {
        let mut ids: Vec<TxnId> = cycle.txns().collect();
        for edge in &cycle.edges {
            if let Why::Forced { path, .. } = &edge.why {
                ids.extend(path.iter().map(|edge| edge.to));
            }
            if let Why::Missed { read, .. } = &edge.why {
                ids.extend(source(*read, txns));
            }
        }
        ids.sort_unstable();
        ids.dedup();
        let names = Names(&ids);
        let mut anomaly = cycle_name(cycle, self.level.isolation, txns).to_owned();
        let all = cycle.edges.iter().flat_map(|edge| match &edge.why {
            Why::Forced { path, .. } => path.iter().chain(Some(edge)).collect::<Vec<_>>(),
            _ => vec![edge],
        });
        let all: Vec<&Edge> = all.collect();
        if all.iter().any(|edge| matches!(edge.why, Why::Time)) {
            anomaly += " in real time";
        } else if all.iter().any(|edge| matches!(edge.why, Why::Session)) {
            anomaly += " in session order";
        }
        let edges = cycle.edges.iter().map(|edge| (names.arrow(edge), names.reason(edge, txns))).collect();
        Explanation { anomaly, sentence: names.sentence(cycle, txns), txns: names.all(), edges }
    }
}

/// The transaction whose write a read of a register returned, or the writer of the last element of a list.
fn source(read: MicroId, txns: &Transactions) -> Option<TxnId> {
    let micro = txns.micros[read.0 as usize];
    let version = match micro.access {
        Access::Read => micro.at,
        _ => *txns.list(micro).last()?,
    };
    let writer = txns.versions[version as usize].writer;
    (writer != crate::transactions::NONE).then(|| txns.txn_of(MicroId(writer)))
}

/// Transactions with labels: T1 is the first.
struct Names<'a>(&'a [TxnId]);

impl Names<'_> {
    fn of(&self, txn: TxnId) -> String {
        match self.0.iter().position(|&other| other == txn) {
            Some(place) => format!("T{}", place + 1),
            None => "another transaction".to_owned(),
        }
    }

    fn all(&self) -> Vec<(String, TxnId)> {
        self.0.iter().map(|&txn| (self.of(txn), txn)).collect()
    }

    fn arrow(&self, edge: &Edge) -> String {
        format!("{} → {}", self.of(edge.from), self.of(edge.to))
    }

    fn reason(&self, edge: &Edge, txns: &Transactions) -> String {
        let (from, to) = (self.of(edge.from), self.of(edge.to));
        match &edge.why {
            Why::Session => format!("{from} is earlier in the same session"),
            Why::Time => format!("{from} ended before {to} began"),
            Why::Read { write, .. } => format!("{to} read {}, which {from} wrote", pair(*write, txns)),
            Why::Version { first, second } => {
                format!("{from} wrote {}, which precedes {} of {to}", pair(*first, txns), value(*second, txns))
            }
            Why::Missed { read, write } => {
                format!("{from} read {}, which is older than {} of {to}", txns.show_read(*read), pair(*write, txns))
            }
            Why::Forced { write, read, path } => {
                let reader = txns.txn_of(*read);
                let how = match &**path {
                    [edge] => self.reason(edge, txns),
                    _ => format!("{} saw {from}", self.of(reader)),
                };
                format!(
                    "{} read {} from {to}, and {how}, which wrote {}: the last write that it saw is the one it read",
                    self.of(reader),
                    txns.show_read(*read),
                    pair(*write, txns)
                )
            }
        }
    }

    /// One sentence about a cycle.
    fn sentence(&self, cycle: &Cycle, txns: &Transactions) -> String {
        let missed: Vec<&Edge> = cycle.edges.iter().filter(|edge| matches!(edge.why, Why::Missed { .. })).collect();
        let at = |place: usize| &cycle.edges[place % cycle.edges.len()];
        match *missed {
            [edge] => {
                let place = cycle.edges.iter().position(|other| std::ptr::eq(other, edge)).unwrap_or(0);
                let Why::Missed { write, .. } = &edge.why else { return String::new() };
                let (reader, writer) = (self.of(edge.from), self.of(edge.to));
                let last = at(place + cycle.edges.len() - 1);
                let missed = pair(*write, txns);
                match (&last.why, cycle.edges.len()) {
                    (Why::Read { write, .. }, 2) => {
                        format!(
                            "{reader} read {} from {writer}, but missed {missed}, which {writer} wrote, too",
                            pair(*write, txns)
                        )
                    }
                    (Why::Read { write, .. }, _) => {
                        let through = self.of(last.from);
                        let read = pair(*write, txns);
                        format!("{reader} read {read} from {through}, but missed {missed}, which {through} had seen")
                    }
                    (Why::Session, 2) => {
                        format!("{reader} missed {missed}, which {writer} had written before in its session")
                    }
                    (Why::Time, 2) => {
                        format!("{reader} missed {missed}, which {writer} had written before {reader} began")
                    }
                    (Why::Version { first, .. }, 2) if first == write => {
                        format!("{reader} missed {missed} of {writer}, and replaced it")
                    }
                    (Why::Version { first, second }, 2) => {
                        let [first, second] = [first, second].map(|&write| pair(write, txns));
                        format!("{reader} missed {missed} of {writer}, but wrote {second} after {first} of {writer}")
                    }
                    (Why::Session, _) => format!("{reader} missed {missed}, which its session had seen"),
                    (Why::Time, _) => format!("{reader} missed {missed}, on which a transaction before it depends"),
                    _ => format!("{reader} missed {missed}, which it depends on"),
                }
            }
            [first, second] if cycle.edges.len() == 4 => format!(
                "{} and {} disagree on the order of {} and {}",
                self.of(first.from),
                self.of(second.from),
                self.of(first.to),
                self.of(second.to)
            ),
            [first, second] if cycle.edges.len() == 2 => {
                let (a, b) = (self.of(first.from), self.of(second.from));
                format!("{a} and {b} each missed a write of the other")
            }
            _ => {
                let names: Vec<String> = cycle.txns().map(|txn| self.of(txn)).collect();
                format!("{} come before each other", listed(&names))
            }
        }
    }
}

fn listed(names: &[String]) -> String {
    match names {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => names.concat(),
    }
}

fn value(write: MicroId, txns: &Transactions) -> String {
    txns.value(txns.micros[write.0 as usize].at).to_string()
}

/// A key and the value that was written.
pub(crate) fn pair(write: MicroId, txns: &Transactions) -> String {
    let micro = txns.micros[write.0 as usize];
    show_write(&txns.keys[micro.key as usize], txns.value(micro.at), micro.access == Access::Append)
}

/// A write as `x = 5`, or `x ∋ 5` for a list.
pub(crate) fn show_write(key: &Value, value: &Value, is_list: bool) -> String {
    let sign = if is_list { "∋" } else { "=" };
    format!("{} {sign} {value}", Plain(key))
}

/// A key without quotes.
pub(crate) struct Plain<'a>(pub(crate) &'a Value);

impl std::fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Value::Str(text) => f.write_str(text),
            other => write!(f, "{other}"),
        }
    }
}

/// The last elements of a list.
pub(crate) fn show_list<'a>(list: impl ExactSizeIterator<Item = &'a Value>) -> String {
    let mut text = String::from("[");
    let skipped = list.len().saturating_sub(2 * AROUND);
    if skipped > 0 {
        text += "... ";
    }
    for (place, value) in list.skip(skipped).enumerate() {
        let comma = if place == 0 { "" } else { ", " };
        write!(text, "{comma}{value}").expect("text can always be added to");
    }
    text + "]"
}

fn lost_update(first: (MicroId, MicroId), second: (MicroId, MicroId), txns: &Transactions) -> Explanation {
    let mut ids = vec![txns.txn_of(first.0), txns.txn_of(second.0)];
    let updates = ids.clone();
    ids.extend(source(first.0, txns));
    ids.sort_unstable();
    ids.dedup();
    let names = Names(&ids);
    let (a, b) = (names.of(updates[0]), names.of(updates[1]));
    let key = Plain(&txns.keys[txns.micros[first.0.0 as usize].key as usize]).to_string();
    let read =
        |read, write, name: &str| format!("{name} read {}, and wrote {}", txns.show_read(read), pair(write, txns));
    Explanation {
        anomaly: "lost update".to_owned(),
        sentence: format!("{a} and {b} both updated {key} from the same version, so one update was lost"),
        txns: names.all(),
        edges: vec![
            (format!("{a} → {b}"), read(first.0, first.1, &a)),
            (format!("{b} → {a}"), read(second.0, second.1, &b)),
        ],
    }
}

fn bad_read(bad: BadRead, txns: &Transactions) -> Explanation {
    let BadRead { anomaly, read, other } = bad;
    let reader = txns.txn_of(read);
    let mut ids = vec![reader, txns.txn_of(other)];
    ids.sort_unstable();
    ids.dedup();
    let names = Names(&ids);
    let (name, writer) = (names.of(reader), names.of(txns.txn_of(other)));
    let shown = txns.show_read(read);
    let written = || pair(other, txns);
    let sentence = match anomaly {
        ReadAnomaly::Internal => format!("{name} read {shown} after it had written {}", written()),
        ReadAnomaly::Future => format!("{name} read {shown} before it wrote {}", written()),
        ReadAnomaly::ThinAir => format!("{name} read {shown}, which no transaction wrote"),
        ReadAnomaly::Aborted if txns.status(txns.txn_of(other)) == Status::Unknown => {
            format!("{name} read {} of {writer}, which did not commit", written())
        }
        ReadAnomaly::Aborted => format!("{name} read {} of {writer}, which aborted", written()),
        ReadAnomaly::Intermediate => format!("{name} read {} of {writer}, which {writer} overwrote", written()),
        ReadAnomaly::Duplicate => format!("{name} read {shown}, which has an element twice"),
        ReadAnomaly::Incompatible => {
            format!(
                "{name} read {shown}, and {writer} read {}: neither is a prefix of the other",
                txns.show_read(other)
            )
        }
    };
    Explanation { anomaly: anomaly.name().to_owned(), sentence, txns: names.all(), edges: Vec::new() }
}

impl Transactions {
    /// A read as text, such as `x = 4` or `l = [3, 7]`.
    pub(crate) fn show_read(&self, read: MicroId) -> String {
        let micro = self.micros[read.0 as usize];
        let key = Plain(&self.keys[micro.key as usize]);
        match micro.access {
            Access::Prefix | Access::List => format!("{key} = {}", self.show_list(self.list(micro))),
            _ => format!("{key} = {}", self.value(micro.at)),
        }
    }

    fn show_list(&self, list: &[u32]) -> String {
        show_list(list.iter().map(|&version| self.value(version)))
    }

    /// A micro-operation as text, such as `w(x, 5)` or `r(x) = 4`.
    pub fn show_micro(&self, micro: MicroId) -> String {
        let (Access::Write | Access::Append) = self.micros[micro.0 as usize].access else {
            let micro = self.micros[micro.0 as usize];
            let key = Plain(&self.keys[micro.key as usize]);
            return match micro.access {
                Access::Read => format!("r({key}) = {}", self.value(micro.at)),
                _ => format!("r({key}) = {}", self.show_list(self.list(micro))),
            };
        };
        let micro = self.micros[micro.0 as usize];
        let name = if micro.access == Access::Append { "append" } else { "w" };
        format!("{name}({}, {})", Plain(&self.keys[micro.key as usize]), self.value(micro.at))
    }
}

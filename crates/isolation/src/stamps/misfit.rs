//! Reads and writes that do not fit the stamps of the database, and sentences about them.

use super::words;
use crate::anomaly::{Explanation, pair};
use crate::level::Level;
use crate::stamp::Clock;
use crate::transactions::{MicroId, NONE, Status, Transactions, TxnId};

/// A read, a write or a pair of transactions that does not fit the stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// A read after an own write of its transaction returned something else.
    Internal {
        /// The read.
        read: MicroId,
        /// The own write.
        write: MicroId,
    },
    /// No transaction that counts left the value.
    Unwritten {
        /// The read.
        read: MicroId,
    },
    /// A read returned a write that was committed after its snapshot.
    Unseen {
        /// The read.
        read: MicroId,
        /// The write.
        write: MicroId,
    },
    /// A read returned an older version than a write that its snapshot has.
    Missed {
        /// The read.
        read: MicroId,
        /// The newest write that its snapshot has or, for a list, an element that it lacks.
        write: MicroId,
    },
    /// A list has the elements that its snapshot has in another order than they were committed.
    Disordered {
        /// The read.
        read: MicroId,
    },
    /// Two transactions wrote a key, and neither snapshot has the write of the other.
    Conflict {
        /// The write that was committed first.
        first: MicroId,
        /// The other write.
        second: MicroId,
    },
    /// A transaction took its snapshot before an earlier transaction was committed.
    Order {
        /// The earlier transaction.
        before: TxnId,
        /// The later one.
        after: TxnId,
        /// True if the earlier one had ended when the later one began; otherwise they are of one session.
        in_time: bool,
    },
    /// A transaction was committed no later than it took its snapshot.
    Backwards {
        /// The transaction.
        txn: TxnId,
    },
    /// The order of versions is another one than that of commits.
    Versions {
        /// The older version.
        first: MicroId,
        /// The newer one.
        second: MicroId,
    },
    /// Each of two snapshots has a transaction that the other one does not have.
    Fork {
        /// The transaction of one snapshot.
        first: TxnId,
        /// The transaction of the other one.
        second: TxnId,
    },
}

/// Why a history does not fit its stamps.
#[derive(Clone, Debug)]
pub struct StampRejection {
    /// The level of the check.
    pub level: Level,
    /// Examples: at most three of each kind.
    pub misfits: Vec<Misfit>,
    /// The number of all misfits.
    pub count: usize,
}

/// The most examples of a kind.
const EXAMPLES: usize = 3;

impl Misfit {
    /// The name of the anomaly.
    pub fn name(self, txns: &Transactions) -> &'static str {
        match self {
            Misfit::Internal { .. } => words::INTERNAL,
            Misfit::Unwritten { read } => unwritten(read, txns),
            Misfit::Unseen { .. } => words::UNSEEN,
            Misfit::Missed { .. } => words::MISSED,
            Misfit::Disordered { .. } => words::DISORDERED,
            Misfit::Conflict { .. } => words::CONFLICT,
            Misfit::Order { in_time: false, .. } => words::IN_SESSION,
            Misfit::Order { in_time: true, .. } => "stale snapshot in real time",
            Misfit::Backwards { .. } => words::BACKWARDS,
            Misfit::Versions { .. } => "versions in another order",
            Misfit::Fork { .. } => "snapshots that disagree",
        }
    }

    /// The transactions that take part.
    pub fn txns(self, txns: &Transactions) -> Vec<TxnId> {
        let of = |micro: MicroId| txns.txn_of(micro);
        let mut all = match self {
            Misfit::Internal { read, .. } | Misfit::Disordered { read } => vec![of(read)],
            Misfit::Unwritten { read } => {
                let writer = returned(read, txns).map(|version| txns.versions[version as usize].writer);
                let writer = writer.filter(|&writer| writer != NONE).map(|writer| of(MicroId(writer)));
                std::iter::once(of(read)).chain(writer).collect()
            }
            Misfit::Unseen { read, write } | Misfit::Missed { read, write } => vec![of(read), of(write)],
            Misfit::Conflict { first, second } | Misfit::Versions { first, second } => vec![of(first), of(second)],
            Misfit::Order { before, after, .. } => vec![before, after],
            Misfit::Backwards { txn } => vec![txn],
            Misfit::Fork { first, second } => vec![first, second],
        };
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The reads and writes that show it; none if it is about whole transactions.
    pub fn micros(self) -> Vec<MicroId> {
        match self {
            Misfit::Unwritten { read } | Misfit::Disordered { read } => vec![read],
            Misfit::Internal { read, write } | Misfit::Unseen { read, write } | Misfit::Missed { read, write } => {
                vec![read, write]
            }
            Misfit::Conflict { first, second } | Misfit::Versions { first, second } => vec![second, first],
            Misfit::Order { .. } | Misfit::Backwards { .. } | Misfit::Fork { .. } => Vec::new(),
        }
    }

    /// The misfit in words.
    pub fn explain(self, txns: &Transactions) -> Explanation {
        let all = self.txns(txns);
        let label = |txn: TxnId| {
            let place = all.iter().position(|&other| other == txn).unwrap_or(0);
            format!("T{}", place + 1)
        };
        let of = |micro: MicroId| label(txns.txn_of(micro));
        let sentence = match self {
            Misfit::Internal { read, write } => words::internal(&of(read), &txns.show_read(read), &pair(write, txns)),
            Misfit::Unwritten { read } => words::unwritten(unwritten(read, txns), &of(read), &txns.show_read(read)),
            Misfit::Unseen { read, write } => words::unseen(&of(read), &pair(write, txns), &of(write)),
            Misfit::Missed { read, write } => {
                words::missed(&of(read), &txns.show_read(read), &pair(write, txns), &of(write))
            }
            Misfit::Disordered { read } => words::disordered(&of(read), &txns.show_read(read)),
            Misfit::Conflict { first, second } => {
                words::conflict(&of(second), &pair(second, txns), &of(first), &pair(first, txns))
            }
            Misfit::Order { before, after, in_time: false } => words::in_session(&label(after), &label(before)),
            Misfit::Order { before, after, in_time: true } => {
                format!("the snapshot of {} does not have {}, which ended before it began", label(after), label(before))
            }
            Misfit::Backwards { txn } => words::backwards(&label(txn)),
            Misfit::Versions { first, second } => format!(
                "{} of {} is an older version than {} of {}, but was committed later",
                pair(first, txns),
                of(first),
                pair(second, txns),
                of(second)
            ),
            Misfit::Fork { first, second } => {
                format!(
                    "the snapshots of {} and {} each have a transaction that the other does not",
                    label(first),
                    label(second)
                )
            }
        };
        let stamps = all.iter().filter_map(|&txn| Some((label(txn), txns.stamps_of(txn)?))).collect();
        let involved = all.iter().map(|&txn| (label(txn), txn)).collect();
        Explanation { anomaly: self.name(txns).to_owned(), sentence, txns: involved, edges: stamps }
    }
}

/// The version that a read returned; of a list, the last element.
fn returned(read: MicroId, txns: &Transactions) -> Option<u32> {
    let micro = txns.micros[read.0 as usize];
    match micro.access {
        crate::transactions::Access::Read => Some(micro.at),
        _ => txns.list(micro).last().copied(),
    }
}

fn unwritten(read: MicroId, txns: &Transactions) -> &'static str {
    let writer = returned(read, txns).map_or(NONE, |version| txns.versions[version as usize].writer);
    if writer == NONE {
        return words::THIN_AIR;
    }
    match txns.status(txns.txn_of(MicroId(writer))) {
        Status::Committed => words::INTERMEDIATE,
        Status::Aborted | Status::Unknown => words::ABORTED,
    }
}

impl StampRejection {
    pub(crate) fn new(level: Level, misfits: Vec<Misfit>, count: usize) -> StampRejection {
        StampRejection { level, misfits, count }
    }

    /// Leaves out the misfits that other orders of equal stamps, or other commits of unknown transactions, explain.
    pub(crate) fn retain_proven(&mut self, txns: &Transactions) {
        let mut misfits = std::mem::take(&mut self.misfits);
        misfits.retain(|&misfit| self.prove(misfit, txns).is_ok());
        self.misfits = misfits;
    }

    /// Keeps the first examples of each kind.
    pub(crate) fn limit(&mut self) {
        let mut counts = [0; 10];
        self.misfits.retain(|misfit| {
            let count = &mut counts[misfit.kind()];
            *count += 1;
            *count <= EXAMPLES
        });
    }

    /// Verifies the examples. An error says which claim is not true.
    pub fn verify(&self, txns: &Transactions) -> Result<(), String> {
        if self.misfits.is_empty() {
            return Err("it has no example".to_owned());
        }
        self.misfits.iter().try_for_each(|&misfit| self.prove(misfit, txns))
    }

    /// The first example in words.
    pub fn explain(&self, txns: &Transactions) -> Explanation {
        self.misfits.first().expect("a rejection has an example").explain(txns)
    }
}

impl Misfit {
    /// A number for each kind.
    fn kind(self) -> usize {
        match self {
            Misfit::Internal { .. } => 0,
            Misfit::Unwritten { .. } => 1,
            Misfit::Unseen { .. } => 2,
            Misfit::Missed { .. } => 3,
            Misfit::Disordered { .. } => 4,
            Misfit::Conflict { .. } => 5,
            Misfit::Order { in_time, .. } => 6 + usize::from(in_time),
            Misfit::Backwards { .. } | Misfit::Fork { .. } => 8,
            Misfit::Versions { .. } => 9,
        }
    }
}

impl Transactions {
    /// The stamps of a transaction in words, if it has any.
    pub fn stamps_of(&self, txn: TxnId) -> Option<String> {
        match &self.clock {
            Clock::None => None,
            Clock::Stamps(stamps) => {
                let (start, commit) = stamps[txn.0 as usize];
                match (start.known(), commit.known()) {
                    (Some(start), Some(commit)) => Some(format!("snapshot at {start}, commit at {commit}")),
                    (Some(start), None) => Some(format!("snapshot at {start}")),
                    (None, Some(commit)) => Some(format!("commit at {commit}")),
                    (None, None) => None,
                }
            }
            Clock::Snapshots(snapshots) => {
                let (snapshot, xid) = &snapshots[txn.0 as usize];
                let xid = xid.map_or(String::new(), |xid| format!(", transaction {xid}"));
                Some(format!("snapshot {}{xid}", snapshot.as_ref()?))
            }
        }
    }
}

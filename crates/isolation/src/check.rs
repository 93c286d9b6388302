//! The entry points: one level, or the strongest levels.

use omnilink_history::{Halt, Precedence, Stop};

use crate::certify::{Certificate, Step};
use crate::decide::{Decision, decide};
use crate::effort::{ALL_WAYS, Effort, Ways};
use crate::evidence::{Violation, explain};
use crate::level::{Isolation, Level, ORDERS};
use crate::model::{BadRead, Choice, Model, owners};
use crate::points::{Point, Points};
use crate::transactions::{Access, MicroId, NONE, Status, Transactions, TxnId};

/// The result of a check.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The level holds, and this run shows it.
    Accepted(Certificate),
    /// The level does not hold.
    Rejected(Rejection),
    /// It was not decided.
    Inconclusive(Inconclusive),
}

impl Outcome {
    /// Replays the run, or verifies the violation, by code that shares nothing with the check. An error says which claim is
    /// not true.
    pub fn prove(&self, txns: &Transactions) -> Result<(), String> {
        match self {
            Outcome::Accepted(certificate) => certificate.replay(txns),
            Outcome::Rejected(rejection) => rejection.verify(txns),
            Outcome::Inconclusive(_) => Ok(()),
        }
    }
}

/// Why a history is rejected.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// The weakest level for which a violation was found. It is implied by the level of the check.
    pub level: Level,
    /// The violation.
    pub violation: Violation,
    /// The number of ways in which ambiguous reads can be resolved. All are rejected, and the violation is of one of them.
    pub choices: usize,
    /// That one: the writers that ambiguous reads are taken to have read from.
    pub(crate) choice: Choice,
}

impl Rejection {
    /// The weakest level that the history is known not to have, given that of the check. If reads are ambiguous, a weaker violation is of
    /// one way to resolve them, and another way may have the weaker level.
    pub fn broken(&self, asked: Level) -> Level {
        if self.choices > 1 { asked } else { self.level }
    }
}

/// Why a check has no verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inconclusive {
    /// The check was stopped, or its limit was reached, with this number of pairs of writes whose order is open.
    Undecided {
        /// The number of pairs.
        pairs: usize,
        /// Why it was stopped; `None` if a limit of the search was reached.
        stop: Option<Stop>,
    },
    /// Too many ways to resolve reads of values that several transactions wrote.
    Ambiguous {
        /// The number of reads.
        reads: usize,
        /// The first of them.
        first: MicroId,
    },
}

/// Checks a level.
pub fn check(txns: &Transactions, level: Level, effort: &Effort, halt: &Halt) -> Outcome {
    check_in(txns, level, effort, ALL_WAYS, halt)
}

/// The same with some ways of finding version orders switched off: slower, with the same verdicts.
#[doc(hidden)]
pub fn check_plainly(txns: &Transactions, level: Level, effort: &Effort, guesses: bool, prunes: bool) -> Outcome {
    check_in(txns, level, effort, Ways { guesses, prunes }, &Halt::default())
}

fn check_in(txns: &Transactions, level: Level, effort: &Effort, ways: Ways, halt: &Halt) -> Outcome {
    let choices = match Choices::new(txns, effort) {
        Ok(choices) => choices,
        Err(inconclusive) => return Outcome::Inconclusive(inconclusive),
    };
    let mut undecided = None;
    for choice in choices.iter() {
        let Ok(model) = Model::new(txns, &choice) else { continue };
        match decide(&model, level, effort, ways, halt) {
            Decision::Accepted(sequence) => {
                let steps = steps(&model, level.isolation, &sequence);
                return Outcome::Accepted(Certificate { level, steps, choice });
            }
            Decision::Rejected => {}
            Decision::Undecided { pairs, stop } => undecided = Some(Inconclusive::Undecided { pairs, stop }),
        }
    }
    if let Some(undecided) = undecided {
        return Outcome::Inconclusive(undecided);
    }
    Outcome::Rejected(choices.rejection(txns, level, effort, halt))
}

/// The most ways to resolve ambiguous reads of which a rejection explains the best.
const MOST_EXPLAINED: usize = 16;

/// The weakest level, which a bad read breaks.
const WEAKEST: Level = Level { isolation: Isolation::ReadCommitted, order: Precedence::None };

fn steps(model: &Model<'_>, isolation: Isolation, sequence: &[u32]) -> Vec<Step> {
    let points = Points::new(model, isolation);
    let txn = |node: u32| TxnId(model.ids[node as usize]);
    let step = |&node: &u32| match points.point(node) {
        Point::Begin(node) if points.is_split => Some(Step::Begin(txn(node))),
        Point::Begin(node) | Point::Commit(node) => Some(Step::Commit(txn(node))),
        Point::Other => None,
    };
    sequence.iter().filter_map(step).collect()
}

/// The strongest levels in one order.
#[derive(Clone, Debug)]
pub struct Strongest {
    /// The order.
    pub order: Precedence,
    /// The levels that hold and that no other one implies.
    pub levels: Vec<Isolation>,
    /// Levels that were not decided.
    pub undecided: Vec<Isolation>,
}

/// Finds the strongest levels in each order, `none` first.
pub fn find(txns: &Transactions, effort: &Effort, halt: &Halt) -> Result<Vec<Strongest>, Inconclusive> {
    let choices = Choices::new(txns, effort)?;
    let mut answers = [[Some(false); 8]; 3]; // By order and isolation: holds, does not hold, or is not decided.
    for choice in choices.iter() {
        let Ok(model) = Model::new(txns, &choice) else { continue };
        let found = find_in(&model, effort, halt);
        for (all, of_choice) in answers.iter_mut().flatten().zip(found.into_iter().flatten()) {
            *all = match (*all, of_choice) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (None, _) | (_, None) => None,
                _ => Some(false),
            };
        }
    }
    let strongest = |(&order, answers): (&Precedence, &[Option<bool>; 8])| {
        let holds = |isolation: Isolation| answers[isolation as usize] == Some(true);
        let is_strongest = |&isolation: &Isolation| {
            let stronger = |other: &Isolation| *other != isolation && other.implies(isolation) && holds(*other);
            holds(isolation) && !Isolation::ALL.iter().any(stronger)
        };
        Strongest {
            order,
            levels: Isolation::ALL.into_iter().filter(is_strongest).collect(),
            undecided: Isolation::ALL.into_iter().filter(|&isolation| answers[isolation as usize].is_none()).collect(),
        }
    };
    Ok(ORDERS.iter().zip(&answers).map(strongest).collect())
}

fn find_in(model: &Model<'_>, effort: &Effort, halt: &Halt) -> [[Option<bool>; 8]; 3] {
    let mut answers = [[None; 8]; 3];
    // A weaker order accepts every history that a stronger one accepts.
    for place in (0..ORDERS.len()).rev() {
        let mut rejected: Vec<Isolation> = Vec::new();
        let top = std::iter::once(Isolation::Serializable);
        for isolation in top.chain(Isolation::ALL) {
            let stronger = answers.get(place + 1).and_then(|answers| answers[isolation as usize]);
            if answers[place][isolation as usize].is_some() {
                continue;
            }
            let answer = if stronger == Some(true) {
                Some(true)
            } else if rejected.iter().any(|&weaker| isolation.implies(weaker)) {
                Some(false)
            } else {
                match decide(model, Level { isolation, order: ORDERS[place] }, effort, ALL_WAYS, halt) {
                    Decision::Accepted(_) => Some(true),
                    Decision::Rejected => Some(false),
                    Decision::Undecided { .. } => None,
                }
            };
            answers[place][isolation as usize] = answer;
            match answer {
                Some(false) => rejected.push(isolation),
                Some(true) => {
                    for weaker in Isolation::ALL.into_iter().filter(|&weaker| isolation.implies(weaker)) {
                        answers[place][weaker as usize] = Some(true);
                    }
                }
                None => {}
            }
        }
    }
    answers
}

/// A read of a value that several transactions wrote, and the writes that it may have returned.
struct Ambiguous {
    read: u32,
    writers: Vec<u32>, // Micro-operations, or `NONE` for the initial value.
}

/// All ways to resolve ambiguous reads.
struct Choices {
    reads: Vec<Ambiguous>,
    count: usize,
}

impl Choices {
    fn new(txns: &Transactions, effort: &Effort) -> Result<Choices, Inconclusive> {
        let mut writers: std::collections::BTreeMap<u32, Vec<u32>> = std::collections::BTreeMap::new();
        for &(version, write) in &txns.repeated {
            let first = txns.versions[version as usize].writer;
            writers.entry(version).or_insert_with(|| vec![first]).push(write);
        }
        let written_nil =
            txns.versions.iter().zip(0..).filter(|(version, _)| version.is_initial && version.writer != NONE);
        for (version, number) in written_nil {
            writers.entry(number).or_insert_with(|| vec![version.writer]).push(NONE);
        }
        let mut choices = Choices { reads: Vec::new(), count: 1 };
        if writers.is_empty() {
            return Ok(choices);
        }
        let txn_of = owners(txns);
        let is_aborted =
            |write: u32| write != NONE && txns.txns[txn_of[write as usize] as usize].status == Status::Aborted;
        let mut product = 1usize;
        for (place, micro) in txns.micros.iter().enumerate() {
            let is_list = matches!(micro.access, Access::Prefix | Access::List);
            let elements = txns.list(*micro).iter().chain(Some(&micro.at).filter(|_| micro.access == Access::Read));
            if is_aborted(place as u32) {
                continue;
            }
            let Some(of_read) = elements.filter_map(|version| writers.get(version)).next() else { continue };
            let mut possible = of_read.clone();
            possible.retain(|&write| !is_aborted(write) && is_external(txns, &txn_of, place as u32, write));
            let ambiguous = Inconclusive::Ambiguous { reads: txns.repeated.len(), first: MicroId(place as u32) };
            if is_list {
                if of_read.iter().filter(|&&write| !is_aborted(write)).count() > 1 {
                    return Err(ambiguous);
                }
                continue;
            }
            if possible.is_empty() {
                continue;
            }
            product = product.saturating_mul(possible.len());
            choices.reads.push(Ambiguous { read: place as u32, writers: possible });
            if product > effort.choices {
                let reads = choices.reads.iter().filter(|read| read.writers.len() > 1).count();
                return Err(Inconclusive::Ambiguous { reads, first: MicroId(place as u32) });
            }
        }
        choices.count = product;
        Ok(choices)
    }

    /// Explains why all choices are rejected, by the one that comes closest to the level.
    fn rejection(&self, txns: &Transactions, level: Level, effort: &Effort, halt: &Halt) -> Rejection {
        let mut closest: Option<Rejection> = None;
        for choice in self.iter().take(MOST_EXPLAINED) {
            let (level, violation) = match Model::new(txns, &choice) {
                Err(bad) => (WEAKEST, Violation::Read(bad)),
                Ok(model) => explain(&model, level, effort, halt),
            };
            let is_bad_read = |violation: &Violation| matches!(violation, Violation::Read(_));
            let is_closer = |known: &Rejection| {
                let order = |level: Level| ORDERS.iter().position(|&order| order == level.order);
                let rank =
                    |level: Level, violation: &Violation| (!is_bad_read(violation), level.isolation, order(level));
                rank(level, &violation) > rank(known.level, &known.violation)
            };
            if closest.as_ref().is_none_or(is_closer) {
                closest = Some(Rejection { level, violation, choices: self.count, choice });
            }
        }
        // Invariant: without ambiguous reads there is one choice, the empty one.
        closest.expect("there is a choice")
    }

    fn iter(&self) -> impl Iterator<Item = Choice> {
        let choice = |mut number: usize| {
            let mut choice = Choice::default();
            for Ambiguous { read, writers } in &self.reads {
                choice.insert(*read, writers[number % writers.len()]);
                number /= writers.len();
            }
            choice
        };
        (0..self.count).map(choice)
    }
}

/// True if the write can be the source of an external read: the last write of its key in another transaction.
fn is_external(txns: &Transactions, txn_of: &[u32], read: u32, write: u32) -> bool {
    if write == NONE {
        return true;
    }
    let txn = txn_of[write as usize];
    let key = txns.micros[write as usize].key;
    let overwrites = |place: usize| txns.micros[place].is_write() && txns.micros[place].key == key;
    txn != txn_of[read as usize] && !(write as usize + 1..txns.range(txn).end).any(overwrites)
}

/// A read that no level allows, if there is one, in histories whose reads are not ambiguous.
pub fn bad_read(txns: &Transactions) -> Option<BadRead> {
    Model::new(txns, &Choice::default()).err()
}

//! Reports on the isolation of transactions: the answer of `omnilink-isolation`, with words, for texts and pages.
//!
//! A transaction is an operation of the report, and its reads and writes are one value in the timeline. The run of an
//! accepted history is the order of the timeline: a step that is partway is a begin, the last one of a transaction its commit.

use std::collections::BTreeMap;

use omnilink_history::Precedence;
use omnilink_isolation::{
    Certificate, Edge, Explanation, Inconclusive, Level, MicroId, Outcome, Rejection, Status, Step, Strongest,
    Transactions, TxnId, Violation, Why,
};
use omnilink_report::{
    AccessRef, Anomaly, Datum, Ended, Entry, Evidence, Field, History, Involved, Isolation, Limit, OpRef, Operation,
    Order, Placement, Precedes, Report, Shape, Spec, Stats, StrongestLevels, Timeline, Verdict,
};
use omnilink_suggest::counted;

use crate::inconclusive;

/// The most accesses of a transaction in a report, and in the timeline.
const ACCESSES: usize = 64;
const SHOWN: usize = 12;

/// The clock of transactions without times: their places in their sessions.
const PLACES: &str = "steps";

/// A decided history.
#[derive(Clone, Copy, Debug)]
pub struct Decided<'a> {
    /// The user's name for the history.
    pub name: &'a str,
    /// Its transactions.
    pub txns: &'a Transactions,
    /// The level of the check.
    pub level: Level,
    /// The verdict.
    pub outcome: &'a Outcome,
    /// The strongest levels; empty if they were not searched for.
    pub strongest: &'a [Strongest],
}

/// Why a check has no verdict, and what helps.
pub fn why_inconclusive(txns: &Transactions, why: &Inconclusive) -> (String, &'static str) {
    match why {
        Inconclusive::Undecided { pairs, stop } => {
            let stop = stop.map_or("the limit of the search was reached".to_owned(), |stop| stop.to_string());
            let pairs = counted(*pairs as u64, "pair");
            (format!("{stop}; {pairs} of writes have no known order"), "record versions, or append to lists")
        }
        Inconclusive::Ambiguous { reads, first } => {
            let first = format!("{} {}", txns.name(txns.txn_of(*first)), txns.show_micro(*first));
            let reads = counted(*reads as u64, "read");
            (
                format!("{reads} returned values that several transactions wrote, such as {first}"),
                "write every value of a key once",
            )
        }
    }
}

impl Decided<'_> {
    /// The report. Its time is that of the caller.
    pub fn report(&self) -> Report {
        let Decided { txns, level, .. } = *self;
        let mut operations = Vec::new();
        let mut notes = Vec::new();
        let verdict = match self.outcome {
            Outcome::Accepted(certificate) => {
                notes.push(replayed(certificate));
                Verdict::Accepted
            }
            Outcome::Rejected(rejection) => Verdict::Rejected(Box::new(self.rejection(rejection, &mut operations))),
            Outcome::Inconclusive(why) => {
                let (text, help) = why_inconclusive(txns, why);
                notes.push(format!("{help}: then the order of versions is known"));
                match why {
                    Inconclusive::Undecided { stop: Some(stop), .. } => inconclusive(*stop, text),
                    _ => Verdict::Inconclusive { limit: Limit::Operations, stop: text },
                }
            }
        };
        let is_decided = |found: &&Strongest| found.order != Precedence::RealTime || txns.has_times();
        let strongest = self.strongest.iter().filter(is_decided).map(strongest).collect();
        let found = Found { verdict, operations, notes, strongest, method: "a graph of transactions" };
        found.report(self.name, txns, level)
    }

    fn rejection(&self, rejection: &Rejection, operations: &mut Vec<Operation>) -> omnilink_report::Rejection {
        let txns = self.txns;
        let explanation = rejection.explain(txns);
        let place = |txn: TxnId| explanation.txns.iter().position(|(_, other)| *other == txn);
        let accesses = |micros: &[MicroId]| accesses(txns, &explanation, micros);
        let transactions = involve(txns, &explanation, operations);
        let reasons = explanation.edges.iter().map(|(_, reason)| reason.clone());
        let mut cited = Vec::new();
        let edges: Vec<Option<Precedes>> = match &rejection.violation {
            Violation::Cycle(cycle) => cycle
                .edges
                .iter()
                .zip(reasons)
                .map(|(edge, reason)| {
                    let (kind, micros) = reason_of(&edge.why);
                    let (from, to) = (place(edge.from)?, place(edge.to)?);
                    Some(Precedes { from, to, kind, reason, accesses: accesses(&micros) })
                })
                .collect(),
            Violation::LostUpdate { first, second } => [(first, second), (second, first)]
                .into_iter()
                .zip(reasons)
                .map(|((from, to), reason)| {
                    let (kind, micros) = (omnilink_report::Precedence::Missed, [from.0, to.1]);
                    let (from, to) = (place(txns.txn_of(from.0))?, place(txns.txn_of(to.0))?);
                    Some(Precedes { from, to, kind, reason, accesses: accesses(&micros) })
                })
                .collect(),
            Violation::Read(bad) => {
                cited = accesses(&[bad.read, bad.other]);
                cited.dedup();
                Vec::new()
            }
            Violation::Core(_) => Vec::new(),
        };
        let mut details = format!("Not `{}`: {}.", self.level, taking_part(txns, &explanation));
        if rejection.choices > 1 {
            let ways = rejection.choices;
            details += &format!(
                " Several transactions wrote the same value, so reads have {ways} sources; this is one of them, and all are rejected."
            );
        }
        let edges: Vec<Precedes> = edges.into_iter().flatten().collect();
        // The other transactions are the writers of what those of the cycle read.
        let blocked = match edges.is_empty() {
            true => (0..operations.len()).map(OpRef).collect(),
            false => edges.iter().map(|edge| OpRef(edge.from)).collect(),
        };
        omnilink_report::Rejection {
            sentence: format!("{}: {}", explanation.anomaly, explanation.sentence),
            details,
            blocked,
            explained: 0,
            evidence: Evidence::Anomaly(Anomaly { name: explanation.anomaly, transactions, edges, accesses: cited }),
        }
    }

    /// The whole history beside the report.
    pub fn timeline(&self, report: &Report) -> Timeline {
        let (involved, run) = match self.outcome {
            Outcome::Accepted(certificate) => (Vec::new(), Some(certificate)),
            Outcome::Rejected(rejection) => (rejection.explain(self.txns).txns, None),
            Outcome::Inconclusive(_) => (Vec::new(), None),
        };
        let timeline = timeline(self.txns, &involved, run);
        debug_assert_eq!(timeline.mentioned.len(), report.operations.len());
        timeline
    }
}

/// The parts of a report that depend on the check.
pub(crate) struct Found {
    pub(crate) verdict: Verdict,
    pub(crate) operations: Vec<Operation>,
    pub(crate) notes: Vec<String>,
    pub(crate) strongest: Vec<StrongestLevels>,
    pub(crate) method: &'static str,
}

impl Found {
    pub(crate) fn report(self, name: &str, txns: &Transactions, level: Level) -> Report {
        let history = History {
            name: name.to_owned(),
            operations: Some(txns.len() as u64),
            processes: txns.process_count(),
            ..History::default()
        };
        let accesses = txns.micro_count() as u64;
        Report {
            spec: Spec { name: level.to_string(), constants: Vec::new() },
            order: order(level.order),
            isolation: Some(Isolation { level: level.to_string(), accesses, strongest: self.strongest }),
            operations: self.operations,
            stats: Stats { method: self.method.to_owned(), returned: txns.len() as u64, ..Stats::default() },
            notes: self.notes,
            clock: (!txns.has_times()).then(|| PLACES.to_owned()),
            ..Report::new(history, self.verdict)
        }
    }
}

/// The transactions that take part, which become operations of the report.
pub(crate) fn involve(
    txns: &Transactions,
    explanation: &Explanation,
    operations: &mut Vec<Operation>,
) -> Vec<Involved> {
    let involve = |(label, txn): &(String, TxnId)| {
        operations.push(operation(txns, *txn));
        Involved {
            label: label.clone(),
            op: OpRef(operations.len() - 1),
            accesses: txns.micros_of(*txn).take(ACCESSES).map(|micro| txns.show_micro(micro)).collect(),
            has_more: txns.micros_of(*txn).count() > ACCESSES,
        }
    };
    explanation.txns.iter().map(involve).collect()
}

/// Reads and writes of the transactions that take part.
pub(crate) fn accesses(txns: &Transactions, explanation: &Explanation, micros: &[MicroId]) -> Vec<AccessRef> {
    let access = |&micro: &MicroId| -> Option<AccessRef> {
        let txn = txns.txn_of(micro);
        let transaction = explanation.txns.iter().position(|(_, other)| *other == txn)?;
        let access = (micro.0 - txns.micros_of(txn).next()?.0) as usize;
        (access < ACCESSES).then_some(AccessRef { transaction, access })
    };
    micros.iter().filter_map(access).collect()
}

/// How many transactions take part, as a clause.
pub(crate) fn taking_part(txns: &Transactions, explanation: &Explanation) -> String {
    let taking = explanation.txns.len();
    let verb = if taking == 1 { "takes" } else { "take" };
    format!("{taking} of {} {verb} part", counted(txns.len() as u64, "transaction"))
}

/// All transactions, those that take part, and the run of an accepted history.
pub(crate) fn timeline(txns: &Transactions, involved: &[(String, TxnId)], run: Option<&Certificate>) -> Timeline {
    let mut by_start: Vec<TxnId> = txns.ids().collect();
    by_start.sort_by_key(|&txn| times(txns, txn).0);
    let mut timeline = Timeline {
        shapes: Status::ALL.map(shape).to_vec(),
        actions: Status::ALL.map(action).map(str::to_owned).to_vec(),
        ..Timeline::default()
    };
    let mut processes: BTreeMap<String, u32> = BTreeMap::new();
    let mut places = vec![0; txns.len()];
    for (&txn, place) in by_start.iter().zip(0..) {
        let (process, index) = session(txns, txn);
        let known = processes.len() as u32;
        let process = *processes.entry(process).or_insert_with_key(|name| {
            timeline.processes.push(name.clone());
            known
        });
        let (start, end) = times(txns, txn);
        let shape = Status::ALL.iter().position(|status| *status == txns.status(txn)).unwrap_or(0) as u32;
        timeline.operations.push(Entry { process, index, shape, values: timeline.values.len(), start, end });
        timeline.values.push(Datum::Text(timeline.texts.len() as u32));
        timeline.texts.push(text(txns, txn));
        places[txn.0 as usize] = place;
    }
    timeline.mentioned = involved.iter().map(|(_, txn)| places[txn.0 as usize] as usize).collect();
    if let Some(certificate) = run {
        let step = |step: &Step| match *step {
            Step::Begin(txn) => Placement { op: places[txn.0 as usize], partway: true },
            Step::Commit(txn) => Placement { op: places[txn.0 as usize], partway: false },
        };
        timeline.order = certificate.steps.iter().map(step).collect();
        timeline.until = timeline.order.len();
    }
    timeline
}

pub(crate) fn replayed(certificate: &Certificate) -> String {
    let commits = certificate.steps.iter().filter(|step| matches!(step, Step::Commit(_))).count();
    let what = if commits < certificate.steps.len() { "begins and commits" } else { "commits" };
    format!(
        "a run of {what} shows it, and code of its own replayed the run of {}",
        counted(commits as u64, "transaction")
    )
}

/// The kind of a reason, and the micro-operations that prove it.
fn reason_of(why: &Why) -> (omnilink_report::Precedence, Vec<MicroId>) {
    use omnilink_report::Precedence as Kind;

    match why {
        Why::Session => (Kind::Session, Vec::new()),
        Why::Time => (Kind::Time, Vec::new()),
        Why::Read { write, read } => (Kind::Read, vec![*write, *read]),
        Why::Version { first, second } => (Kind::Version, vec![*first, *second]),
        Why::Missed { read, write } => (Kind::Missed, vec![*read, *write]),
        Why::Forced { write, read, path } => {
            let path = path.iter().flat_map(|Edge { why, .. }| reason_of(why).1);
            (Kind::Forced, [*write, *read].into_iter().chain(path).collect())
        }
    }
}

fn strongest(found: &Strongest) -> StrongestLevels {
    let names = |levels: &[omnilink_isolation::Isolation]| levels.iter().map(|level| level.name().to_owned()).collect();
    StrongestLevels { order: order(found.order), levels: names(&found.levels), undecided: names(&found.undecided) }
}

fn order(order: Precedence) -> Order {
    match order {
        Precedence::None => Order::None,
        Precedence::Program => Order::Program,
        Precedence::RealTime => Order::RealTime,
    }
}

/// The process of a transaction, and its place there.
fn session(txns: &Transactions, txn: TxnId) -> (String, u32) {
    let name = txns.name(txn);
    let (process, index) = name.rsplit_once(':').expect("a name is a process and a place");
    (process.to_owned(), index.parse().expect("a place is a number"))
}

/// The times of a transaction; without any, its place in its session.
fn times(txns: &Transactions, txn: TxnId) -> (u64, Option<u64>) {
    txns.times(txn).unwrap_or_else(|| {
        let place = u64::from(session(txns, txn).1);
        (2 * place, Some(2 * place + 1))
    })
}

fn action(status: Status) -> &'static str {
    match status {
        Status::Committed => "txn",
        Status::Aborted => "aborted",
        Status::Unknown => "unknown",
    }
}

fn shape(status: Status) -> Shape {
    let action = action(status).to_owned();
    let pieces = vec![format!("{action} "), String::new()];
    Shape { action, args: vec![String::new()], results: Vec::new(), meta: Vec::new(), pieces }
}

/// The first micro-operations of a transaction.
fn text(txns: &Transactions, txn: TxnId) -> String {
    let mut shown: Vec<String> = txns.micros_of(txn).take(SHOWN).map(|micro| txns.show_micro(micro)).collect();
    if txns.micros_of(txn).count() > SHOWN {
        shown.push("...".to_owned());
    }
    shown.join(" ")
}

fn operation(txns: &Transactions, txn: TxnId) -> Operation {
    let status = txns.status(txn);
    let (start, end) = times(txns, txn);
    let value = text(txns, txn);
    Operation {
        name: txns.name(txn),
        process: session(txns, txn).0,
        text: format!("{} {value}", action(status)),
        action: action(status).to_owned(),
        args: vec![Field { name: String::new(), value }],
        results: Vec::new(),
        start,
        end,
        outcome: match status {
            Status::Committed => None,
            Status::Aborted => Some(Ended::Failed),
            Status::Unknown => Some(Ended::Unfinished),
        },
        meta: Vec::new(),
    }
}

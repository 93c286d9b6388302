//! Tests of stores with transactions: each step performs one transaction, and each run has to have an isolation level.
//!
//! ```
//! # extern crate omnilink;
//! use std::sync::Mutex;
//!
//! use omnilink::transactions::Session;
//!
//! /// Two registers behind one lock.
//! #[derive(Default)]
//! struct Store(Mutex<[i64; 2]>);
//!
//! #[omnilink::test(isolation = "strict-serializable")]
//! fn updates_are_not_lost(store: &Store, session: &mut Session) {
//!     let key = session.draw().below(2) as i64;
//!     let new = session.fresh();
//!     session.begin();
//!     let mut values = store.0.lock().unwrap();
//!     session.read(key, values[key as usize]);
//!     values[key as usize] = new;
//!     session.write(key, new);
//!     drop(values);
//!     session.commit();
//! }
//! # // The attribute has no effect in a documentation test, so the test is called by hand.
//! # omnilink::testing::Test::new("store", &std::env::temp_dir().to_string_lossy(), "strict-serializable")
//! #     .run_transactions(Store::default, |store, session| {
//! #         session.begin(); let values = store.0.lock().unwrap(); session.read(0_i64, values[0]); session.commit();
//! #     });
//! ```
//!
//! The level is a name as of `omnilink check --isolation`. A value should be written to a key once, as
//! [`Session::fresh`] draws them, so that a read identifies its writer. The initial value of a register is `None`, or 0.
//!
//! Between the accesses of a transaction, other threads are let in as the run says; `cargo omnilink test` explores their
//! schedules. The history of a run that fails is kept as JSON Lines, with a page beside it.

use std::fmt::{Display, Write as _};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use omnilink_explore::{Input as _, Plan};
use omnilink_history::format::jsonl::write_value_of;
use omnilink_history::{Event, Halt, Value};
use omnilink_isolation::{Effort, Level, Outcome, Status, Transactions, check, find, read};
use omnilink_judge::isolation::Decided;
use omnilink_page::{About, Encoder, Packing};
use omnilink_record::Action;
use omnilink_record::drive::{Client, Draw};
use omnilink_report::{Detail, Report, Timeline};

use crate::testing::Test;

/// The borders between the accesses of a transaction, at which threads may be perturbed.
static ACCESS: Action = Action::new("access", &[], &[]);

/// A key or a value: an integer, a string, a truth value, or `None` for no value.
pub trait Scalar {
    /// The value as it is recorded.
    fn value(self) -> Value;
}

macro_rules! scalars {
    ($($kind:ty: $from:expr),* $(,)?) => {
        $(impl Scalar for $kind {
            fn value(self) -> Value {
                $from(self)
            }
        })*
    };
}

scalars! {
    i64: Value::from,
    i32: |int| Value::from(i64::from(int)),
    u32: |int| Value::from(i64::from(int)),
    bool: Value::from,
    &str: Value::from,
    Value: |value| value,
}

impl<S: Scalar> Scalar for Option<S> {
    fn value(self) -> Value {
        self.map_or(Value::Nil, Scalar::value)
    }
}

/// A client of a store, which performs one transaction after another.
#[derive(Debug)]
pub struct Session<'a> {
    client: &'a mut Client,
    log: &'a mut Log,
}

/// The transactions of a session, as lines of JSON.
#[derive(Debug)]
struct Log {
    process: usize,
    began: Instant,
    open: Option<Open>,
    lines: String,
    all: Arc<Mutex<String>>,
}

/// A transaction that has begun.
#[derive(Debug)]
pub(crate) struct Open {
    start: u64,
    accesses: Vec<String>,
}

impl Open {
    pub(crate) fn at(start: u64) -> Open {
        Open { start, accesses: Vec::new() }
    }

    pub(crate) fn read(&mut self, key: impl Scalar, value: impl Scalar) {
        self.access("r", key, &written(value));
    }

    pub(crate) fn read_list<S: Scalar>(&mut self, key: impl Scalar, elements: impl IntoIterator<Item = S>) {
        let elements: Vec<String> = elements.into_iter().map(written).collect();
        self.access("r", key, &format!("[{}]", elements.join(",")));
    }

    pub(crate) fn write(&mut self, key: impl Scalar, value: impl Scalar) {
        self.access("w", key, &written(value));
    }

    pub(crate) fn append(&mut self, key: impl Scalar, element: impl Scalar) {
        self.access("append", key, &written(element));
    }

    fn access(&mut self, kind: &str, key: impl Scalar, value: &str) {
        self.accesses.push(format!("[\"{kind}\",{},{value}]", written(key)));
    }

    /// The line of JSON of the transaction, which ends now. An unknown one may take effect later. The process is written as
    /// it is.
    pub(crate) fn line(&self, process: impl Display, end: u64, status: Status) -> String {
        let (start, accesses) = (self.start, self.accesses.join(","));
        let begin = format!("{{\"process\":{process},\"txn\":[{accesses}],\"start\":{start},");
        match status {
            Status::Committed => format!("{begin}\"end\":{end},\"status\":\"committed\"}}\n"),
            Status::Aborted => format!("{begin}\"end\":{end},\"status\":\"aborted\"}}\n"),
            Status::Unknown => format!("{begin}\"status\":\"unknown\"}}\n"),
        }
    }
}

impl Session<'_> {
    /// The source of inputs. The same seed draws the same ones.
    pub fn draw(&mut self) -> &mut Draw {
        self.client.draw()
    }

    /// A value that no transaction of the run has drawn this way before, and not 0, which a register may hold at first.
    pub fn fresh(&mut self) -> i64 {
        self.client.draw().fresh() + 1
    }

    /// The number of this session, from zero.
    pub fn number(&self) -> usize {
        self.log.process
    }

    /// Call it before the store begins a transaction.
    ///
    /// # Panics
    ///
    /// If the transaction before has neither committed nor aborted.
    #[track_caller]
    pub fn begin(&mut self) {
        assert!(self.log.open.is_none(), "`begin`, but the transaction before has not ended");
        self.log.open = Some(Open::at(self.log.now()));
        self.step();
    }

    /// The transaction has read a register.
    ///
    /// # Panics
    ///
    /// This and the others do if no transaction has begun.
    #[track_caller]
    pub fn read(&mut self, key: impl Scalar, value: impl Scalar) {
        self.open().read(key, value);
        self.step();
    }

    /// The transaction has read a whole list.
    #[track_caller]
    pub fn read_list<S: Scalar>(&mut self, key: impl Scalar, elements: impl IntoIterator<Item = S>) {
        self.open().read_list(key, elements);
        self.step();
    }

    /// The transaction writes a register. Call it before or after the store does.
    #[track_caller]
    pub fn write(&mut self, key: impl Scalar, value: impl Scalar) {
        self.open().write(key, value);
        self.step();
    }

    /// The transaction appends an element to a list.
    #[track_caller]
    pub fn append(&mut self, key: impl Scalar, element: impl Scalar) {
        self.open().append(key, element);
        self.step();
    }

    /// The store has committed the transaction.
    #[track_caller]
    pub fn commit(&mut self) {
        self.log.end(Status::Committed);
    }

    /// The transaction has had no effect.
    #[track_caller]
    pub fn abort(&mut self) {
        self.log.end(Status::Aborted);
    }

    /// The transaction may or may not have had an effect.
    #[track_caller]
    pub fn unknown(&mut self) {
        self.log.end(Status::Unknown);
    }

    #[track_caller]
    fn open(&mut self) -> &mut Open {
        self.log.open.as_mut().expect("`begin` comes before accesses")
    }

    /// Lets other threads in, as the run says.
    fn step(&mut self) {
        self.client.call(&ACCESS, ()).done(());
    }
}

/// The JSON of a value.
pub(crate) fn written(value: impl Scalar) -> String {
    write_value_of(&value.value()).expect("a scalar is a value of JSON")
}

impl Log {
    fn now(&self) -> u64 {
        self.began.elapsed().as_nanos().try_into().unwrap_or(u64::MAX)
    }

    #[track_caller]
    fn end(&mut self, status: Status) {
        let end = self.now();
        let open = self.open.take().expect("`begin` comes before the end of a transaction");
        self.lines += &open.line(self.process, end, status);
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if self.open.is_some() && !std::thread::panicking() {
            self.end(Status::Unknown);
        }
        *self.all.lock().unwrap_or_else(PoisonError::into_inner) += &self.lines;
    }
}

/// A fault, for a report.
fn shown_fault(fault: &Event) -> omnilink_report::Event {
    omnilink_report::Event {
        name: fault.name.to_string(),
        start: fault.start,
        end: fault.end,
        nodes: fault.nodes.iter().map(|node| node.to_string()).collect(),
        text: String::new(),
    }
}

impl Test {
    /// The isolation level that its specification names.
    pub(crate) fn isolation(&self) -> Level {
        self.spec.name().parse().unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// Runs a test of transactions: its specification is the name of an isolation level. A transaction that is open when a
    /// session ends is unknown.
    ///
    /// # Panics
    ///
    /// As [`Test::run`], and if there is no such level.
    pub fn run_transactions<S: Sync>(&self, system: impl Fn() -> S, step: impl Fn(&S, &mut Session<'_>) + Sync) {
        let level = self.isolation();
        self.run_plans(|plan| {
            let (all, began) = (Arc::new(Mutex::new(String::new())), Instant::now());
            let log = |_: &S, process| Log { process, began, open: None, lines: String::new(), all: all.clone() };
            self.drive(plan, &system, log, |system, log, client| step(system, &mut Session { client, log }));
            let history = std::mem::take(&mut *all.lock().unwrap_or_else(PoisonError::into_inner));
            self.check_transactions(plan, level, &history, &[]).unwrap_or_else(|message| panic!("{message}"))
        });
    }

    /// Checks a run, and returns its number of transactions. A run that is not accepted is kept, and the error explains it.
    /// The page shows the faults.
    pub(crate) fn check_transactions(
        &self,
        plan: &Plan,
        level: Level,
        history: &str,
        faults: &[Event],
    ) -> Result<u64, String> {
        let (txns, outcome) = self.decide_transactions(plan, level, history)?;
        if let Outcome::Accepted(_) = outcome {
            return Ok(txns.len() as u64);
        }
        let name = format!("{} ({})", self.name, plan.describe());
        let strongest = find(&txns, &Effort::default(), &Halt::default()).unwrap_or_default();
        let decided = Decided { name: &name, txns: &txns, level, outcome: &outcome, strongest: &strongest };
        let mut report = decided.report();
        report.history.events = faults.iter().map(shown_fault).collect();
        Err(self.explain_transactions(plan, level, history, &report, &decided.timeline(&report)))
    }

    /// Decides a run.
    pub(crate) fn decide_transactions(
        &self,
        plan: &Plan,
        level: Level,
        history: &str,
    ) -> Result<(Transactions, Outcome), String> {
        let name = format!("{} ({})", self.name, plan.describe());
        let halt = Halt::default();
        let txns = read::transactions(history.as_bytes(), &halt).map_err(|error| format!("{name}: {error}"))?;
        let outcome = check(&txns, level, &Effort::default(), &halt);
        let proof = outcome.prove(&txns);
        proof.map_err(|error| format!("{name}: the verdict about {level} could not be verified: {error}"))?;
        Ok((txns, outcome))
    }

    /// Keeps a run that is not accepted, and its seed; returns the explanation, and where they are.
    fn explain_transactions(
        &self,
        plan: &Plan,
        level: Level,
        history: &str,
        report: &Report,
        timeline: &Timeline,
    ) -> String {
        let mut message = omnilink_report::text(report, Detail::Brief, false);
        let parts = Encoder::new(report, Some(timeline), Packing::Small);
        let about = About { tool: concat!("OmniLink ", env!("CARGO_PKG_VERSION")), ..About::default() };
        let page = omnilink_page::file(&parts.parts(&about), &message);
        let level = level.to_string();
        let _ = match self.keep_transactions(history, &page) {
            Ok(path) => writeln!(
                message,
                "\nthe history is kept in {}, with a page beside it\n`omnilink check --isolation '{level}'` checks it again",
                path.display()
            ),
            Err(error) => writeln!(message, "\nthe history cannot be kept: {error}"),
        };
        self.with_seed(plan, &omnilink_report::cause(report).unwrap_or_default(), message)
    }

    fn keep_transactions(&self, history: &str, page: &str) -> io::Result<PathBuf> {
        let directory = self.manifest.join("target/omnilink/transactions");
        fs::create_dir_all(&directory)?;
        let path = directory.join(self.file_name()).with_extension("jsonl");
        fs::write(&path, history)?;
        fs::write(path.with_extension("html"), page)?;
        Ok(path)
    }
}

//! `omnilink monitor`: checks operations while the system runs.
//!
//! The command makes a [`Watch`] or a [`Group`] of its arguments, and puts what these find into files, pages and lines on the
//! terminal. [`omnilink_watch`] has the sources and the stores.

mod access;
mod nats;
mod overview;
mod tell;

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use omnilink_campaign::{Described, Entry, Ledger, MONITORED, now};
use omnilink_explore::Store;
use omnilink_isolation::{Level, StreamLimits};
use omnilink_judge::{InputError, Judge};
use omnilink_monitor::{Alert, Counts, MonitorOptions, TransactionOptions};
use omnilink_report::clean;
use omnilink_suggest::counted;
use omnilink_watch::{
    Access, Group, Interval, Notice, Outlet, ReadOptions, Source, SpanReceiver, Status, Subject, Watch, WatchError,
    WatchOptions,
};

use crate::args::{MonitorArgs, Progress};
use crate::exit::Exit;
use crate::limits;
use crate::outcome::print_spec_error;
use crate::progress::Display;
use crate::terminal::complain;

use self::tell::Teller;

pub(crate) fn run(args: &MonitorArgs) -> Exit {
    limits::catch_interrupts();
    match watch(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn options(args: &MonitorArgs) -> WatchOptions {
    let ticks = |time: Duration| ticks(args, time).max(1);
    let monitor = MonitorOptions {
        key: (!args.one_object).then(|| args.key.clone()),
        lateness: args.clock.of(args.lateness),
        retention: args.clock.of(args.retention),
        idle: Some(ticks(args.idle)),
        patience: ticks(args.patience),
        unknown_for: args.unknown_for.map(|time| args.clock.of(time)),
        overlap: args.overlap,
        // Clients go on after a timeout.
        go_on: receives_spans(args),
        joins: args.join,
        most_keys: args.max_keys,
        most_ops: args.max_ops,
        ..MonitorOptions::default()
    };
    WatchOptions {
        monitor,
        subject: subject(args),
        every: args.every,
        store_every: args.checkpoint_every,
        interval: args.ledger.as_ref().map(|_| args.ledger_every),
        is_complete: args.complete,
        status: (args.listen.is_some() || has_line(args)).then(Status::default),
    }
}

/// Whether a line on the terminal shows the counts: only if no alerts are printed there.
fn has_line(args: &MonitorArgs) -> bool {
    args.alerts.is_some() && io::stderr().is_terminal()
}

/// The level of the options.
fn level(args: &MonitorArgs) -> Option<Level> {
    let level = args.isolation?;
    Some(args.order.map_or(level, |order| Level { order: order.precedence(), ..level }))
}

/// The options of a monitor of transactions, for a level.
fn transactions(args: &MonitorArgs, level: Level) -> TransactionOptions {
    TransactionOptions {
        lateness: ticks(args, args.lateness),
        retention: ticks(args, args.retention),
        idle: Some(ticks(args, args.idle).max(1)),
        patience: ticks(args, args.patience).max(1),
        joins: args.join,
        limits: StreamLimits { keys: args.max_keys, elements: args.max_ops },
        most_held: usize::try_from(args.max_memory.as_u64() / HELD).unwrap_or(usize::MAX),
        ..TransactionOptions::new(level)
    }
}

/// The memory for a read, a write or a version of transactions, in bytes.
const HELD: u64 = 256;

/// The number of checks in this time.
fn ticks(args: &MonitorArgs, time: Duration) -> u64 {
    u64::try_from(time.as_nanos() / args.every.as_nanos().max(1)).unwrap_or(u64::MAX)
}

/// The specification or the level, in words.
fn subject_name(args: &MonitorArgs) -> String {
    match (&args.spec, level(args)) {
        (_, Some(level)) => format!("{level} by the stamps of the database"),
        (spec, None) => spec.clone().unwrap_or_default(),
    }
}

/// The subject of a state, which is refused with another specification or level, other keys or another unit of time.
fn subject(args: &MonitorArgs) -> String {
    if args.isolation.is_some() {
        return subject_name(args);
    }
    let key = if args.one_object { "one object".to_owned() } else { format!("key {}", args.key) };
    format!("{}, {key}, in {}", subject_name(args), args.clock.name())
}

/// The name of the source, for people.
fn name(args: &MonitorArgs) -> String {
    match args.source.display().to_string().as_str() {
        _ if receives_spans(args) => "spans".to_owned(),
        "-" => "standard input".to_owned(),
        source => source.to_owned(),
    }
}

fn receives_spans(args: &MonitorArgs) -> bool {
    args.otlp.is_some() || args.otlp_grpc.is_some()
}

fn wrong(about: &Path, error: impl std::fmt::Display) -> Exit {
    complain(&about.display().to_string(), &InputError::new(error))
}

/// Prints why a watch cannot begin, or ended early.
fn failed(error: &WatchError) -> Exit {
    complain(&error.about, &InputError::new(&error.message))
}

fn watch(args: &MonitorArgs) -> Result<Exit, Exit> {
    let options = options(args);
    let subject = match (level(args), &args.spec) {
        (Some(level), _) => Subject::from(transactions(args, level)),
        (None, spec) => {
            let spec = spec.as_deref().unwrap_or_default();
            let judge = Judge::new(spec, omnilink_judge::CheckOptions::default());
            Subject::from(judge.map_err(|failed| print_spec_error(&failed))?)
        }
    };
    let access = access::read(args)?;
    if let (Some(address), Some(status)) = (args.listen, &options.status) {
        access::listen(args, "--listen", address, &access, |access| {
            omnilink_watch::serve(status.clone(), address, access, overview::pages(args))
        })?;
    }
    let counts = match (nats::Address::read(args)?, subject) {
        (Some(_), Subject::Transactions(_)) => {
            let message =
                "unsupported for transactions: a stream of NATS, whose partitions have some keys each".to_owned();
            let help = Some("pipe the messages of all partitions to standard input".to_owned());
            return Err(complain("SOURCE", &InputError { message, help }));
        }
        (Some(address), Subject::Operations(judge)) => {
            let (log, store) = address.connect(args)?;
            let (name, stream) = (args.source.display().to_string(), address.stream);
            let group = Group { name, stream, log, store, lease: args.lease };
            let out = Out::new(args, None, options.status.clone())?;
            let counts = group.run(judge, &options, &out);
            out.line().clear();
            counts.map_err(|error| failed(&error))?
        }
        (None, subject) => watch_alone(args, subject, options, &access)?,
    };
    errln!("{}", summary(args, &counts));
    Ok(match () {
        () if counts.violations > 0 => Exit::Rejected,
        () if counts.wrong > 0 => Exit::Wrong,
        () if counts.operations == 0 => Exit::Nothing,
        () if counts.unknown > 0 || counts.lost > 0 || counts.inconclusive > 0 => Exit::Inconclusive,
        // An interrupt came before everything was decided.
        () if counts.checked < counts.operations => Exit::Inconclusive,
        () => Exit::Accepted,
    })
}

/// Watches an input that no other monitor has a part of.
fn watch_alone(args: &MonitorArgs, subject: Subject, options: WatchOptions, access: &Access) -> Result<Counts, Exit> {
    let status = options.status.clone();
    let watch = Watch::begin(subject, options, args.checkpoint.as_deref()).map_err(|error| failed(&error))?;
    let out = Out::new(args, Some(watch.alerts()), status)?;
    let source = open(args, &watch, access)?;
    let counts = watch.run(source, &out);
    out.line().clear();
    counts.map_err(|error| failed(&error))
}

fn open(args: &MonitorArgs, watch: &Watch, access: &Access) -> Result<Source, Exit> {
    let reading = ReadOptions { continues: args.input_continues, patience: args.idle, is_complete: args.complete };
    if receives_spans(args) {
        return receive_spans(args, access);
    }
    if args.source == Path::new("-") {
        return Ok(Source::lines("-", io::stdin(), watch.position(), &reading));
    }
    Source::open(&args.source, watch.position(), &reading).map_err(|error| failed(&error))
}

fn receive_spans(args: &MonitorArgs, access: &Access) -> Result<Source, Exit> {
    let (receiver, source) = SpanReceiver::new();
    if let Some(address) = args.otlp {
        access::listen(args, "--otlp", address, access, |access| receiver.serve_http(address, access))?;
    }
    #[cfg(feature = "grpc")]
    if let Some(address) = args.otlp_grpc {
        access::listen(args, "--otlp-grpc", address, access, |access| receiver.serve_grpc(address, access))?;
    }
    #[cfg(not(feature = "grpc"))]
    if args.otlp_grpc.is_some() {
        let message = "this command was built without the feature `grpc`".to_owned();
        let help = Some("receive the same spans over HTTP with `--otlp`".to_owned());
        return Err(complain("--otlp-grpc", &InputError { message, help }));
    }
    Ok(source)
}

/// Where alerts, intervals and notices go, of all partitions.
struct Out<'a> {
    args: &'a MonitorArgs,
    teller: Mutex<Teller>,
    ledger: Option<Ledger>,
    status: Option<Status>,
    /// The line on the terminal, if there is one.
    line: Mutex<Display>,
}

impl<'a> Out<'a> {
    /// `told` alerts were written before the state was stored.
    fn new(args: &'a MonitorArgs, told: Option<u64>, status: Option<Status>) -> Result<Out<'a>, Exit> {
        let ledger = args.ledger.as_ref().map(|directory| Ledger::of(&Store::at(directory)));
        let line = Mutex::new(Display::new(if has_line(args) { Progress::Bar } else { Progress::None }));
        Ok(Out { args, teller: Mutex::new(Teller::new(args, told)?), ledger, status, line })
    }

    fn line(&self) -> MutexGuard<'_, Display> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outlet for Out<'_> {
    fn alerts(&self, partition: Option<u32>, alerts: Vec<Alert>) -> Result<(), WatchError> {
        self.teller.lock().unwrap_or_else(PoisonError::into_inner).tell(partition, alerts)
    }

    fn notice(&self, notice: Notice) {
        self.line().suspend(|| {
            errln!("{}", clean(&notice.to_string()));
            if matches!(notice, Notice::NoOutcomes { .. }) && self.args.source == Path::new("-") {
                errln!(
                    "help: if a recorder overwrites lines, as those for Python and Java do, name its file as SOURCE instead of a pipe"
                );
            }
        });
    }

    fn advanced(&self) {
        if let Some(status) = &self.status {
            self.line().show(summary(self.args, &status.counts()));
        }
    }

    /// Adds an entry to the ledger that `omnilink runs summary` and `omnilink report` read.
    fn interval(&self, Interval { elapsed, checked, violations }: Interval) -> Result<(), WatchError> {
        let Some(ledger) = &self.ledger else { return Ok(()) };
        let campaign = Described {
            at: now().as_secs(),
            commit: None,
            object: name(self.args),
            spec: subject_name(self.args),
            how: MONITORED.to_owned(),
            seed: 0,
            seconds: elapsed.as_secs_f64(),
            stops_at_first: false,
            is_complete: false,
            novelty: None,
        };
        let entry = Entry::monitored(campaign, checked, violations);
        ledger.append(&entry).map_err(|error| WatchError::at(ledger.path(), error))
    }

    fn limits(&self, key: &str) -> Box<dyn omnilink_judge::Limits> {
        let settings = limits::Settings {
            timeout: Some(self.args.timeout),
            max_memory: self.args.max_memory.as_u64(),
            progress: Progress::None,
        };
        Box::new(limits::Limits::new(&settings, key))
    }

    fn is_stopped(&self) -> bool {
        limits::is_interrupted()
    }
}

/// The counts, in a line.
fn summary(args: &MonitorArgs, counts: &Counts) -> String {
    let noun = if args.isolation.is_some() { "transactions" } else { "operations" };
    let mut parts = vec![
        format!("{} of {} {noun} checked", counts.checked, counts.operations),
        counted(counts.keys + counts.dropped, "key"),
        counted(counts.violations, "violation"),
    ];
    let others = [
        (counts.unknown, "undecided"),
        (counts.operations.saturating_sub(counts.checked + counts.unknown), "not yet decided"),
        (counts.lost, "lost"),
        (counts.late, "late"),
        (counts.duplicates, "repeated"),
        (counts.withdrawn, "alerts withdrawn"),
        (counts.inconclusive, "checks given up"),
        (counts.wrong, "wrong"),
    ];
    parts.extend(others.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")));
    parts.join(", ")
}

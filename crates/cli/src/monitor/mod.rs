//! `omnilink monitor`: checks operations while the system runs.
//!
//! ```text
//!  source ── lines ──► Monitor ──► alerts: a file or standard output, pages, a webhook
//!  (a thread)          │     └───► counts, causes ── serve ──► /metrics, /health, an overview
//!                      └── state and position: in one file, or in the store of a group of monitors
//! ```
//!
//! An input from a broker has partitions. A group of monitors shares them, and each partition has a thread with all of the
//! above.

pub(crate) mod config;
#[cfg(any(feature = "kafka", test))]
mod directory;
mod group;
mod ledger;
mod listen;
mod otlp;
mod partition;
mod serve;
mod source;
mod store;
mod tell;
mod written;

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use ::omnilink_monitor::{Counts, MonitorOptions};
use omnilink_judge::InputError;
use omnilink_suggest::counted;

use crate::args::MonitorArgs;
use crate::exit::Exit;
use crate::limits;
use crate::terminal::complain;

use self::listen::Access;
use self::partition::{Outlet, Partition, State};
use self::serve::Shared;
use self::source::Source;
use self::store::Stored;
use self::tell::Teller;

pub(crate) fn run(args: &MonitorArgs) -> Exit {
    limits::catch_interrupts();
    match watch(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn options(args: &MonitorArgs) -> MonitorOptions {
    let ticks = |time: Duration| (time.as_nanos() / args.every.as_nanos().max(1)).clamp(1, u128::from(u64::MAX)) as u64;
    MonitorOptions {
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
    }
}

/// What is monitored, for people.
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

fn watch(args: &MonitorArgs) -> Result<Exit, Exit> {
    // What is shown takes a look at every key, so it is made only for a server.
    let shared = args.listen.map(|_| Shared::new(args));
    let access = Access::new(args)?;
    if let (Some(address), Some(shared)) = (args.listen, &shared) {
        serve::start(address, &access, shared.clone())?;
    }
    let counts = match group::Address::read(args)? {
        Some(address) => {
            let outlet = Outlet { teller: Mutex::new(Teller::new(args, None)?), shared };
            let counts = group::run(args, &address, &outlet)?;
            outlet.finish();
            counts
        }
        None => watch_alone(args, &access, shared)?,
    };
    errln!("{}", summary(&counts));
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
fn watch_alone(args: &MonitorArgs, access: &Access, shared: Option<Shared>) -> Result<Counts, Exit> {
    let stored = Stored::new(args.checkpoint.as_deref());
    let text = stored.read().map_err(|error| wrong(stored.path(), error))?;
    let restored = partition::restore(args, text.as_deref())?.map_err(|error| wrong(stored.path(), error))?;
    let outlet = Outlet { teller: Mutex::new(Teller::new(args, Some(restored.0.alerts()))?), shared };
    let source = match receives_spans(args) {
        true => Source::receive_spans(args, access)?,
        false => Source::open(args, restored.1.as_ref()).map_err(|error| wrong(&args.source, error))?,
    };
    let state = if args.checkpoint.is_some() { State::File(stored) } else { State::None };
    let mut partition = Partition::new(args, None, restored, source, state);
    partition.run(&outlet, &limits::is_interrupted)?;
    outlet.finish();
    Ok(partition.monitor.counts())
}

/// What was seen, in a line.
fn summary(counts: &Counts) -> String {
    let mut parts = vec![
        format!("{} of {} operations checked", counts.checked, counts.operations),
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

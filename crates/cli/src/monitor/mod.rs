//! `omnilink monitor`: checks operations while the system runs.
//!
//! ```text
//!  source ── lines ──► Monitor ──► alerts: a file or standard output, pages, a webhook
//!  (a thread)          │     └───► counts, causes ── serve ──► /metrics, /health, an overview
//!                      └── checkpoint: state and position, in one file
//! ```

mod otlp;
mod serve;
mod source;
mod store;
mod tell;

use std::path::Path;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use ::monitor::{Checkpoint, Monitor, Options};
use judge::{InputError, Judge};

use crate::args::MonitorArgs;
use crate::exit::Exit;
use crate::limits;
use crate::outcome::print_spec_error;
use crate::terminal::complain;

use self::serve::Shared;
use self::source::{Came, Source};
use self::store::Stored;
use self::tell::Teller;

pub(crate) fn run(args: &MonitorArgs) -> Exit {
    limits::catch_interrupts();
    match watch(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn options(args: &MonitorArgs) -> Options {
    let ticks = |time: Duration| (time.as_nanos() / args.every.as_nanos().max(1)).clamp(1, u128::from(u64::MAX)) as u64;
    Options {
        key: (!args.one_object).then(|| args.key.clone()),
        lateness: args.clock.of(args.lateness),
        retention: args.clock.of(args.retention),
        idle: Some(ticks(args.idle)),
        patience: ticks(args.patience),
        unknown_for: args.unknown_for.map(|time| args.clock.of(time)),
        overlap: args.overlap,
        // Clients go on after a timeout.
        go_on: args.otlp.is_some(),
        joins: args.join,
        most_keys: args.max_keys,
        most_ops: args.max_ops,
        ..Options::default()
    }
}

fn wrong(about: &Path, error: impl std::fmt::Display) -> Exit {
    complain(&about.display().to_string(), &InputError::new(error))
}

fn watch(args: &MonitorArgs) -> Result<Exit, Exit> {
    let judge = || Judge::new(&args.spec, judge::Options::default()).map_err(|failed| print_spec_error(&failed));
    let stored = Stored::new(args.checkpoint.as_deref());
    let (mut monitor, position) = match stored.read().map_err(|error| wrong(stored.path(), error))? {
        Some(text) => {
            let checkpoint = Checkpoint::read(&text, &args.spec, judge()?, options(args));
            let Checkpoint { position, monitor } = checkpoint.map_err(|error| wrong(stored.path(), error))?;
            (monitor, Some(position))
        }
        None => (Monitor::new(judge()?, options(args)), None),
    };
    // What is shown takes a look at every key, so it is made only for a server.
    let shared = args.listen.map(|_| Shared::new(args));
    if let (Some(address), Some(shared)) = (args.listen, &shared) {
        serve::start(address, args.remote, shared.clone())?;
    }
    let mut teller = Teller::new(args, monitor.alerts())?;
    let mut source = match args.otlp {
        Some(address) => Source::receive_spans(address, args.remote)?,
        None => Source::open(&args.source, position.as_ref()).map_err(|error| wrong(&args.source, error))?,
    };
    let (mut ticked, mut saved) = (Instant::now(), Instant::now());
    let mut is_over = false;
    while !is_over && !limits::is_interrupted() {
        match source.receive(args.every.saturating_sub(ticked.elapsed())) {
            Ok(Came::Lines(lines)) => {
                for line in lines {
                    match line {
                        Ok(line) => monitor.feed(line),
                        Err(why) => {
                            errln!("{why}");
                            monitor.feed_unreadable();
                        }
                    }
                }
            }
            Ok(Came::Failed(error)) => return Err(wrong(&args.source, error)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => is_over = true,
        }
        if ticked.elapsed() >= args.every || is_over {
            ticked = Instant::now();
            teller.tell(monitor.advance())?;
            shared.iter().for_each(|shared| shared.update(&monitor));
        }
        if saved.elapsed() >= args.checkpoint_every && args.checkpoint.is_some() {
            saved = Instant::now();
            save(args, &stored, &monitor, &source)?;
        }
    }
    // An interrupt ends the monitor, not the system: the rest comes to the next one.
    if is_over {
        teller.tell(monitor.finish(args.complete))?;
    }
    shared.iter().for_each(|shared| shared.update(&monitor));
    save(args, &stored, &monitor, &source)?;
    teller.finish();
    let counts = monitor.counts();
    errln!("{}", summary(&counts));
    Ok(match () {
        () if counts.violations > 0 => Exit::Rejected,
        () if counts.wrong > 0 => Exit::Wrong,
        () if counts.operations == 0 => Exit::Nothing,
        () if counts.unknown > 0 || counts.lost > 0 || counts.inconclusive > 0 => Exit::Inconclusive,
        // An interrupt came too early.
        () if counts.checked == 0 => Exit::Inconclusive,
        () => Exit::Accepted,
    })
}

fn save(args: &MonitorArgs, stored: &Stored, monitor: &Monitor, source: &Source) -> Result<(), Exit> {
    if args.checkpoint.is_none() {
        return Ok(());
    }
    let text = monitor.save(&args.spec, &source.position()).map_err(|error| wrong(stored.path(), error))?;
    stored.write(&text).map_err(|error| wrong(stored.path(), error))
}

/// What was seen, in a line.
fn summary(counts: &::monitor::Counts) -> String {
    let mut parts = vec![
        format!("{} of {} operations checked", counts.checked, counts.operations),
        format!("{} keys", counts.keys + counts.dropped),
        format!("{} violations", counts.violations),
    ];
    let others = [
        (counts.unknown, "undecided"),
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

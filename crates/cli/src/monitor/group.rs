//! Watches the partitions of a broker, together with other monitors.
//!
//! Each partition that this monitor owns has a thread. Which ones these are is decided in [`monitor::share`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use ::monitor::Counts;
use ::monitor::share::{Claim, Log, Member, Store};
use judge::InputError;

use super::partition::{self, Outlet, Partition, State};
use super::source::Source;
use super::wrong;
use crate::args::MonitorArgs;
use crate::exit::Exit;
use crate::limits;
use crate::terminal::complain;

/// How often to look at what has ended.
const TICK: Duration = Duration::from_millis(50);

/// A log and a store, which may be in one place.
type Broker = (Arc<dyn Log>, Arc<dyn Store>);

/// A stream of a broker.
pub(super) struct Address {
    servers: String,
    stream: String,
}

impl Address {
    /// The stream that the source is, if it is one: `nats://HOST:PORT/STREAM`.
    pub(super) fn read(args: &MonitorArgs) -> Result<Option<Address>, Exit> {
        let source = args.source.to_string_lossy();
        if !["nats://", "tls://"].iter().any(|scheme| source.starts_with(scheme)) {
            return Ok(None);
        }
        let mistake = |message: &str, help: &str| {
            complain("SOURCE", &InputError { message: message.to_owned(), help: Some(help.to_owned()) })
        };
        // They would show in lists of processes, and on pages.
        if source.contains('@') {
            return Err(mistake("the address holds a password", "name a file with `--credentials`"));
        }
        match source.rsplit_once('/') {
            Some((servers, stream)) if !stream.is_empty() && servers.len() > "nats://".len() => {
                Ok(Some(Address { servers: servers.to_owned(), stream: stream.to_owned() }))
            }
            _ => Err(mistake("the name of the stream is missing", "write `nats://127.0.0.1:4222/STREAM`")),
        }
    }

    #[cfg(feature = "nats")]
    fn connect(&self, args: &MonitorArgs) -> Result<Broker, Exit> {
        let options = nats::Options {
            servers: &self.servers,
            stream: &self.stream,
            partitions: args.partitions,
            group: &args.group,
            credentials: args.credentials.as_deref(),
        };
        let nats = Arc::new(nats::Nats::connect(&options).map_err(|error| wrong(&args.source, error))?);
        Ok((nats.clone(), nats))
    }

    #[cfg(not(feature = "nats"))]
    fn connect(&self, args: &MonitorArgs) -> Result<Broker, Exit> {
        let message = format!("this command cannot read `{}` of {}", self.stream, self.servers);
        let help = Some("it was built without the feature `nats`".to_owned());
        Err(complain(&args.source.display().to_string(), &InputError { message, help }))
    }
}

/// A partition with its thread.
struct Running<'scope> {
    is_stopped: Arc<AtomicBool>,
    thread: ScopedJoinHandle<'scope, Result<Option<Counts>, Exit>>,
}

/// Watches until an interrupt. Returns the counts of the partitions that this monitor had at the end.
pub(super) fn run(args: &MonitorArgs, address: &Address, outlet: &Outlet) -> Result<Counts, Exit> {
    // A mistake in the specification is told at once.
    partition::restore(args, None)?.map(drop).map_err(|error| wrong(&args.source, error))?;
    let (log, store) = address.connect(args)?;
    let mut member = Member::new(store, &name(), log.partitions(), args.lease);
    let began = Instant::now();
    std::thread::scope(|scope| {
        let mut running: BTreeMap<u32, Running<'_>> = BTreeMap::new();
        let (mut turned, mut is_silent) = (None::<Instant>, false);
        let mut result = Ok(());
        while result.is_ok() && !limits::is_interrupted() {
            result = reap(&mut running, outlet);
            if turned.is_none_or(|turned| turned.elapsed() >= args.lease / 4) {
                turned = Some(Instant::now());
                match member.turn(began.elapsed(), &running.keys().copied().collect::<BTreeSet<_>>()) {
                    Ok(turn) => {
                        is_silent = false;
                        outlet.shared.iter().for_each(|shared| shared.is_alive());
                        for (claim, text) in turn.claimed {
                            running.insert(claim.partition, start(scope, args, outlet, &log, claim, text));
                        }
                        let surplus = running.values().take(turn.surplus);
                        surplus.for_each(|running| running.is_stopped.store(true, Ordering::Relaxed));
                    }
                    Err(error) if !is_silent => {
                        errln!("{error}; trying again");
                        is_silent = true;
                    }
                    Err(_) => {}
                }
            }
            std::thread::sleep(TICK);
        }
        running.values().for_each(|running| running.is_stopped.store(true, Ordering::Relaxed));
        let mut counts: Option<Counts> = None;
        for (_, running) in running {
            let Some(of_partition) = join(running.thread)? else { continue };
            counts = Some(match counts {
                Some(counts) => counts.merge(&of_partition),
                None => of_partition,
            });
        }
        // Otherwise others wait until the lease is over.
        let _ = member.leave();
        result.map(|()| counts.unwrap_or_default())
    })
}

/// Removes partitions that ended.
fn reap(running: &mut BTreeMap<u32, Running<'_>>, outlet: &Outlet) -> Result<(), Exit> {
    let ended: Vec<u32> =
        running.iter().filter(|(_, running)| running.thread.is_finished()).map(|(number, _)| *number).collect();
    for number in ended {
        if let Some(running) = running.remove(&number) {
            join(running.thread)?;
            outlet.shared.iter().for_each(|shared| shared.remove(number));
        }
    }
    Ok(())
}

fn join(thread: ScopedJoinHandle<'_, Result<Option<Counts>, Exit>>) -> Result<Option<Counts>, Exit> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Watches a partition on a thread. Its counts are known at the end if it was not lost.
fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    args: &'scope MonitorArgs,
    outlet: &'scope Outlet,
    log: &Arc<dyn Log>,
    claim: Claim,
    text: Option<String>,
) -> Running<'scope> {
    let is_stopped = Arc::new(AtomicBool::new(false));
    let (stop, log) = (is_stopped.clone(), log.clone());
    let thread = scope.spawn(move || {
        let number = claim.partition;
        let restored = partition::restore(args, text.as_deref())?;
        let (monitor, position) = restored.map_err(|error| wrong(&args.source, error))?;
        let source = Source::follow(log, number, position.as_ref());
        let state = State::Group(Some(claim));
        let mut partition = Partition { args, number: Some(number), monitor, source, state };
        let is_kept = partition.run(outlet, &|| stop.load(Ordering::Relaxed))?;
        Ok(is_kept.then(|| partition.monitor.counts()))
    });
    Running { is_stopped, thread }
}

/// A name that no other monitor has.
fn name() -> String {
    let mut bytes = [0; 8];
    // Without random numbers, the number of the process has to do.
    let _ = getrandom::fill(&mut bytes);
    format!("{}-{:016x}", std::process::id(), u64::from_le_bytes(bytes))
}

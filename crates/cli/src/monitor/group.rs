//! Watches the partitions of a broker, together with other monitors.
//!
//! Each partition that this monitor owns has a thread. Which ones these are is decided in [`omnilink_monitor::share`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use ::omnilink_monitor::Counts;
use ::omnilink_monitor::share::{Claim, Log, Member, Store, StoreError};
use omnilink_judge::InputError;

#[cfg(feature = "kafka")]
use super::directory::DirectoryStore;
use super::partition::{self, Outlet, Partition, State};
use super::source::Source;
use super::wrong;
use crate::args::MonitorArgs;
use crate::exit::Exit;
use crate::limits;
use crate::terminal::complain;

/// How often to look at what has ended.
const TICK: Duration = Duration::from_millis(50);

/// The entry that says what the states of a group are about.
const INPUT: &str = "input";

/// A stream of a broker.
pub(super) struct Address {
    broker: Broker,
    servers: String,
    stream: String,
}

/// The kinds of brokers.
#[derive(Clone, Copy)]
enum Broker {
    Nats,
    Kafka,
}

type Connected = (Arc<dyn Log>, Arc<dyn Store>);

impl Address {
    /// The stream that the source is, if it is one: `nats://HOST:PORT/STREAM` or `kafka://HOST:PORT/TOPIC`.
    pub(super) fn read(args: &MonitorArgs) -> Result<Option<Address>, Exit> {
        let source = args.source.to_string_lossy();
        let broker = match source.split_once("://") {
            Some(("nats" | "tls", _)) => Broker::Nats,
            Some(("kafka", _)) => Broker::Kafka,
            _ => return Ok(None),
        };
        let mistake = |message: &str, help: &str| {
            complain("SOURCE", &InputError { message: message.to_owned(), help: Some(help.to_owned()) })
        };
        let (option, missing, example) = match broker {
            Broker::Nats => ("--credentials", "the name of the stream is missing", "nats://127.0.0.1:4222/STREAM"),
            Broker::Kafka => ("--kafka-properties", "the name of the topic is missing", "kafka://127.0.0.1:9092/TOPIC"),
        };
        // They would show in lists of processes, and on pages.
        if source.contains('@') {
            return Err(mistake("the address holds a password", &format!("name a file with `{option}`")));
        }
        if matches!(broker, Broker::Kafka) && args.checkpoint.is_none() {
            let help = "name it with `--checkpoint DIR`: Kafka itself has no store for states";
            return Err(mistake("the directory for the states of the group is missing", help));
        }
        match source.rsplit_once('/') {
            Some((servers, stream)) if !stream.is_empty() && !servers.ends_with('/') => {
                Ok(Some(Address { broker, servers: servers.to_owned(), stream: stream.to_owned() }))
            }
            _ => Err(mistake(missing, &format!("write `{example}`"))),
        }
    }

    fn connect(&self, args: &MonitorArgs) -> Result<Connected, Exit> {
        match self.broker {
            Broker::Nats => self.connect_nats(args),
            Broker::Kafka => self.connect_kafka(args),
        }
    }

    #[cfg(feature = "nats")]
    fn connect_nats(&self, args: &MonitorArgs) -> Result<Connected, Exit> {
        let options = omnilink_nats::NatsOptions {
            servers: &self.servers,
            stream: &self.stream,
            partitions: args.partitions,
            group: &args.group,
            credentials: args.credentials.as_deref(),
        };
        let nats = Arc::new(omnilink_nats::Nats::connect(&options).map_err(|error| wrong(&args.source, error))?);
        Ok((nats.clone(), nats))
    }

    #[cfg(not(feature = "nats"))]
    fn connect_nats(&self, args: &MonitorArgs) -> Result<Connected, Exit> {
        Err(self.refuse(args, "nats"))
    }

    #[cfg(feature = "kafka")]
    fn connect_kafka(&self, args: &MonitorArgs) -> Result<Connected, Exit> {
        let properties = match &args.kafka_properties {
            Some(path) => std::fs::read_to_string(path).map_err(|error| wrong(path, error))?,
            None => String::new(),
        };
        let brokers = self.servers.trim_start_matches("kafka://");
        let options = omnilink_kafka::KafkaOptions { brokers, topic: &self.stream, properties: &properties };
        let log = omnilink_kafka::Kafka::connect(&options).map_err(|error| wrong(&args.source, error))?;
        let directory = args.checkpoint.as_deref().unwrap_or(std::path::Path::new("."));
        let store = DirectoryStore::open(directory).map_err(|error| wrong(directory, error))?;
        Ok((Arc::new(log), Arc::new(store)))
    }

    #[cfg(not(feature = "kafka"))]
    fn connect_kafka(&self, args: &MonitorArgs) -> Result<Connected, Exit> {
        Err(self.refuse(args, "kafka"))
    }

    #[cfg(not(all(feature = "nats", feature = "kafka")))]
    fn refuse(&self, args: &MonitorArgs, feature: &str) -> Exit {
        let message = format!("this command cannot read `{}` of {}", self.stream, self.servers);
        let help = Some(format!("it was built without the feature `{feature}`"));
        complain(&args.source.display().to_string(), &InputError { message, help })
    }

    /// Refuses a store with states of another stream, or of another number of partitions: a key has to stay in its
    /// partition.
    fn check_input(&self, store: &dyn Store, partitions: u32) -> Result<(), StoreError> {
        let input = format!("{} {partitions}", self.stream);
        if store.put(INPUT, input.as_bytes(), None)?.is_some() {
            return Ok(());
        }
        let stored = store.get(INPUT)?.map(|entry| String::from_utf8_lossy(&entry.value).into_owned());
        match stored.as_deref().and_then(|stored| stored.rsplit_once(' ')) {
            Some((stream, count)) if stream != self.stream || count != partitions.to_string() => {
                Err(StoreError(format!(
                    "the states of this group are about `{stream}` with {count} partitions, not `{}` with {partitions}",
                    self.stream
                )))
            }
            _ => Ok(()),
        }
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
    address.check_input(&*store, log.partitions()).map_err(|error| wrong(&args.source, error))?;
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
                        errln!("{}; trying again", omnilink_report::clean(&error.to_string()));
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
        let restored = restored.map_err(|error| wrong(&args.source, error))?;
        let source = Source::follow(log, number, restored.1.as_ref());
        let state = State::Group(Some(claim));
        let mut partition = Partition::new(args, Some(number), restored, source, state);
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

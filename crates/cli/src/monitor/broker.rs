//! Sources that are streams of a broker: their addresses, and the clients that this command was built with.

use std::sync::Arc;

use omnilink_judge::InputError;
use omnilink_monitor::share::{Log, Store};

#[cfg(any(feature = "nats", feature = "kafka"))]
use super::wrong;
use crate::args::MonitorArgs;
use crate::exit::Exit;
use crate::terminal::complain;

/// A stream of a broker.
pub(super) struct Address {
    broker: Broker,
    servers: String,
    pub(super) stream: String,
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

    /// The stream, and the store with the states of its group.
    pub(super) fn connect(&self, args: &MonitorArgs) -> Result<Connected, Exit> {
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
        let store = omnilink_watch::DirectoryStore::open(directory).map_err(|error| wrong(directory, error))?;
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
}

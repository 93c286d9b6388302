//! Operations from NATS JetStream, and a store that monitors share in its key-value store.
//!
//! A partition of a stream is a subject that ends in its number: `ops.0`, `ops.1` and so on. Its position is the number of
//! a message in the stream. There are no acknowledgements: the position is stored with the state that it belongs to.
//!
//! ```no_run
//! use omnilink_monitor::share::Log;
//! use omnilink_nats::{Nats, NatsOptions};
//!
//! let servers = "nats://127.0.0.1:4222";
//! let options = NatsOptions { servers, stream: "OPS", partitions: 8, group: "omnilink", credentials: None };
//! let nats = Nats::connect(&options)?;
//! nats.follow(3, None, &mut |messages| messages.is_empty())?;
//! # Ok::<(), omnilink_monitor::share::StoreError>(())
//! ```
//!
//! The client is asynchronous and monitors are not, so it runs on threads of its own.

use std::future::Future;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::kv::{self, CreateErrorKind, Operation, UpdateErrorKind};
use async_nats::jetstream::{self, stream};
use async_nats::{Client, ConnectOptions};
use futures_util::StreamExt;
use omnilink_monitor::share::{Entry, Log, Message, Store, StoreError};
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// The maximum size of an entry, in bytes: messages have at most a million.
const MOST_BYTES: usize = 512 << 10;

/// The maximum number of messages to pass on at once.
const MOST_MESSAGES: usize = 1024;

/// The maximum time to wait for a message.
const WAIT: Duration = Duration::from_millis(200);

/// The maximum time to wait for an answer of the server.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time between two questions whether messages were deleted.
const CHECK_EVERY: Duration = Duration::from_secs(2);

/// The options of a connection.
#[derive(Clone, Debug)]
pub struct NatsOptions<'a> {
    /// The servers, such as `nats://127.0.0.1:4222`, separated by commas.
    pub servers: &'a str,
    /// The stream.
    pub stream: &'a str,
    /// The number of partitions.
    pub partitions: u32,
    /// The common name of the monitors of a group.
    pub group: &'a str,
    /// A file with credentials, as the tools of NATS write it.
    pub credentials: Option<&'a Path>,
}

/// A stream and the store of a group of monitors.
pub struct Nats {
    runtime: Runtime,
    client: Client,
    stream: stream::Stream,
    /// The prefix of the subjects of partitions.
    subject: String,
    partitions: u32,
    store: kv::Store,
}

impl Nats {
    /// Connects. The stream has to exist; the store is created if it does not.
    pub fn connect(options: &NatsOptions<'_>) -> Result<Nats, StoreError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| StoreError(error.to_string()))?;
        let NatsOptions { servers, stream, partitions, group, credentials } = *options;
        let (client, stream, subject, store) = runtime.block_on(async {
            let mut connect = ConnectOptions::new().name("omnilink").request_timeout(Some(PATIENCE));
            if let Some(path) = credentials {
                let named = |error| StoreError(format!("{}: {error}", path.display()));
                connect = connect.credentials_file(path).await.map_err(named)?;
            }
            let servers: Vec<&str> = servers.split(',').collect();
            let client = connect.connect(servers).await.map_err(wrong)?;
            let context = jetstream::new(client.clone());
            let found = context.get_stream(stream).await.map_err(wrong)?;
            let subject = subject_of(&found.cached_info().config.subjects, stream)?;
            let store = match context.get_key_value(group).await {
                Ok(store) => store,
                Err(_) => {
                    let config = kv::Config { bucket: group.to_owned(), history: 1, ..kv::Config::default() };
                    context.create_key_value(config).await.map_err(wrong)?
                }
            };
            Ok((client, found, subject, store))
        })?;
        Ok(Nats { runtime, client, stream, subject, partitions, store })
    }

    /// Waits a limited time for an answer.
    fn ask<T, E: std::fmt::Display>(&self, question: impl Future<Output = Result<T, E>>) -> Result<T, StoreError> {
        let answer = self.runtime.block_on(async { timeout(PATIENCE, question).await });
        match answer {
            Ok(answer) => answer.map_err(wrong),
            Err(_) => Err(StoreError("the server does not answer".to_owned())),
        }
    }
}

fn wrong(error: impl std::fmt::Display) -> StoreError {
    StoreError(error.to_string())
}

/// The prefix of the subjects of partitions: the stream has `ops.*`, or `ops.>`.
fn subject_of(subjects: &[String], stream: &str) -> Result<String, StoreError> {
    let mut prefixes = subjects.iter().filter_map(|subject| subject.strip_suffix('*').or(subject.strip_suffix('>')));
    match (prefixes.next(), prefixes.next()) {
        (Some(prefix), None) => Ok(prefix.to_owned()),
        _ => Err(StoreError(format!(
            "the stream `{stream}` has the subjects `{}`: exactly one has to end in `.*`, for the numbers of partitions",
            subjects.join("`, `")
        ))),
    }
}

impl Store for Nats {
    fn get(&self, name: &str) -> Result<Option<Entry>, StoreError> {
        let entry = self.ask(self.store.entry(name))?;
        let entry = entry.filter(|entry| entry.operation == Operation::Put);
        Ok(entry.map(|entry| Entry { value: entry.value.to_vec(), revision: entry.revision }))
    }

    fn put(&self, name: &str, value: &[u8], revision: Option<u64>) -> Result<Option<u64>, StoreError> {
        let value = value.to_vec().into();
        self.ask(async {
            match revision {
                None => match self.store.create(name, value).await {
                    Ok(revision) => Ok(Some(revision)),
                    Err(error) if error.kind() == CreateErrorKind::AlreadyExists => Ok(None),
                    Err(error) => Err(wrong(error)),
                },
                Some(revision) => match self.store.update(name, value, revision).await {
                    Ok(revision) => Ok(Some(revision)),
                    Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(None),
                    Err(error) => Err(wrong(error)),
                },
            }
        })
    }

    fn delete(&self, name: &str) -> Result<(), StoreError> {
        self.ask(self.store.purge(name))
    }

    fn names(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.ask(async {
            let mut keys = self.store.keys().await.map_err(wrong)?;
            let mut names = Vec::new();
            while let Some(key) = keys.next().await {
                names.extend(Some(key.map_err(wrong)?).filter(|key| key.starts_with(prefix)));
            }
            Ok::<_, StoreError>(names)
        })
    }

    fn most_bytes(&self) -> usize {
        MOST_BYTES
    }
}

impl Log for Nats {
    fn partitions(&self) -> u32 {
        self.partitions
    }

    fn follow(
        &self,
        partition: u32,
        after: Option<u64>,
        sink: &mut dyn FnMut(Vec<Message>) -> bool,
    ) -> Result<(), StoreError> {
        let mut follower = Follower {
            client: self.client.clone(),
            stream: self.stream.clone(),
            subject: format!("{}{partition}", self.subject),
            last: after.unwrap_or(0),
            messages: None,
            connects: 0,
            asked: None,
        };
        loop {
            let messages = self.runtime.block_on(follower.next());
            if !sink(messages) {
                return Ok(());
            }
        }
    }
}

/// Reads a subject from a position on, even after an outage of the server.
struct Follower {
    client: Client,
    stream: stream::Stream,
    subject: String,
    /// The number of the last message that was read.
    last: u64,
    messages: Option<Box<pull::Ordered>>,
    /// The number of connections of the client when the messages were requested.
    connects: u64,
    /// The time of the last question to the stream, and the number of messages that had been deleted in its middle.
    asked: Option<(Instant, u64)>,
}

impl Follower {
    /// The messages that arrived within a moment.
    async fn next(&mut self) -> Vec<Message> {
        let mut batch = Vec::new();
        if self.asked.is_none_or(|(at, _)| at.elapsed() > CHECK_EVERY) {
            batch.extend(self.missing().await);
        }
        // A restarted server has forgotten its clients.
        let connects = self.client.statistics().connects.load(Ordering::Relaxed);
        if self.messages.is_none() || self.connects != connects {
            self.connects = connects;
            self.messages = timeout(PATIENCE, self.open()).await.ok().flatten();
        }
        let Some(messages) = &mut self.messages else {
            tokio::time::sleep(WAIT).await;
            return batch;
        };
        while batch.len() < MOST_MESSAGES {
            let wait = if batch.is_empty() { WAIT } else { Duration::ZERO };
            match timeout(wait, messages.next()).await {
                Ok(Some(Ok(message))) => {
                    let Ok(at) = message.info().map(|info| info.stream_sequence) else { continue };
                    // After an outage of the server, messages may arrive again.
                    if at > self.last {
                        self.last = at;
                        batch.push(Message::Lines { at, text: message.message.payload.to_vec() });
                    }
                }
                // The server is gone, or has forgotten the consumer.
                Ok(Some(Err(_)) | None) => {
                    self.messages = None;
                    break;
                }
                Err(_) => break,
            }
        }
        batch
    }

    async fn open(&self) -> Option<Box<pull::Ordered>> {
        let config = pull::OrderedConfig {
            filter_subject: self.subject.clone(),
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: self.last + 1 },
            ..pull::OrderedConfig::default()
        };
        let consumer = self.stream.create_consumer(config).await.ok()?;
        consumer.messages().await.ok().map(Box::new)
    }

    /// Whether messages were deleted that may not have been read. The stream does not name their subjects.
    async fn missing(&mut self) -> Option<Message> {
        let state = timeout(PATIENCE, self.stream.get_info()).await.ok()?.ok()?.state;
        let deleted = state.deleted_count.unwrap_or(0);
        let before = self.asked.map_or(0, |(_, deleted)| deleted);
        self.asked = Some((Instant::now(), deleted));
        // A stream without messages begins after its last one.
        let is_cut = state.first_sequence > self.last + 1 && state.first_sequence > 1;
        if is_cut {
            self.last = state.first_sequence - 1;
        }
        (is_cut || deleted > before)
            .then(|| Message::Missing(format!("messages of `{}` were deleted before they were read", self.subject)))
    }
}

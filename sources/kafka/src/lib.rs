//! Operations from a topic of Kafka.
//!
//! A partition of the log is a partition of the topic, and a position is the offset of a message. There is no consumer
//! group and there are no commits: the position is stored with the state that it belongs to, and nothing else counts.
//! Each partition that is followed has a consumer of its own, which begins at an offset and never at an end of the
//! partition.
//!
//! ```no_run
//! use omnilink_kafka::{Kafka, KafkaOptions};
//! use omnilink_monitor::share::Log;
//!
//! let kafka = Kafka::connect(&KafkaOptions { brokers: "127.0.0.1:9092", topic: "ops", properties: "" })?;
//! kafka.follow(3, None, &mut |messages| messages.is_empty())?;
//! # Ok::<(), omnilink_monitor::share::StoreError>(())
//! ```
//!
//! **Losses.** A consumer may not move to another offset by itself. If its offset is not in the partition, the broker
//! says so, and the limits of the partition tell why: messages were deleted before they were read
//! ([`Message::Missing`]), or the partition ends earlier than it did (an error: it is not the partition that the
//! position is about). Offsets themselves have gaps in topics with transactions, so a gap is not a loss.
//!
//! **Outages.** librdkafka connects again by itself. Its errors about connections are ignored, except when the log is
//! opened.
//!
//! The tests run against the mock cluster of librdkafka, which speaks the protocol in this process. No test here has
//! met a broker of Kafka itself.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use omnilink_monitor::share::{Log, Message, StoreError};
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::{KafkaError, RDKafkaErrorCode as Code};
use rdkafka::message::Message as _;
use rdkafka::{ClientConfig, ClientContext, Offset, TopicPartitionList};

/// The client, for tests that start a mock cluster.
pub use rdkafka as client;

/// The most messages that are handed over at once.
const MOST_MESSAGES: usize = 1024;

/// How long to wait for a message.
const WAIT: Duration = Duration::from_millis(200);

/// How long to wait for an answer when the log is opened.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait for an answer while a partition is followed.
const SHORT_PATIENCE: Duration = Duration::from_secs(1);

/// How often to ask for the number of partitions.
const CHECK_EVERY: Duration = Duration::from_secs(30);

/// Properties that a user may replace.
const DEFAULTS: &[(&str, &str)] = &[
    ("client.id", "omnilink"),
    // Assigning partitions needs a name of a group, even if no group is joined.
    ("group.id", "omnilink"),
    ("check.crcs", "true"),
    ("queued.max.messages.kbytes", "4096"),
    ("reconnect.backoff.max.ms", "2000"),
];

/// Properties that exactly-once depends on.
const FIXED: &[(&str, &str)] = &[
    ("enable.auto.commit", "false"),
    ("enable.auto.offset.store", "false"),
    ("enable.partition.eof", "false"),
    ("auto.offset.reset", "error"),
];

/// How to connect.
#[derive(Clone, Copy, Debug)]
pub struct KafkaOptions<'a> {
    /// The first brokers to ask, such as `127.0.0.1:9092`, separated by commas.
    pub brokers: &'a str,
    /// The topic.
    pub topic: &'a str,
    /// Further properties of librdkafka: lines `name=value`, and comments that begin with `#`.
    pub properties: &'a str,
}

/// A topic.
pub struct Kafka {
    config: ClientConfig,
    topic: String,
    partitions: u32,
}

impl Kafka {
    /// Connects. The topic has to exist.
    pub fn connect(options: &KafkaOptions<'_>) -> Result<Kafka, StoreError> {
        let config = configure(options)?;
        let consumer = create_consumer(&config)?;
        let partitions = count_partitions(&consumer, options.topic, PATIENCE).map_err(|error| {
            // Errors of connections are in the queue, between other events.
            (0..32).for_each(|_| drop(consumer.poll(Duration::ZERO)));
            let reason = consumer.context().reason();
            if reason.is_empty() { error } else { StoreError(format!("{error}: {reason}")) }
        })?;
        Ok(Kafka { config, topic: options.topic.to_owned(), partitions })
    }
}

impl Log for Kafka {
    fn partitions(&self) -> u32 {
        self.partitions
    }

    fn follow(
        &self,
        partition: u32,
        after: Option<u64>,
        sink: &mut dyn FnMut(Vec<Message>) -> bool,
    ) -> Result<(), StoreError> {
        let mut follower = Follower::new(self, partition, after)?;
        loop {
            let messages = follower.next()?;
            if !sink(messages) {
                return Ok(());
            }
        }
    }
}

/// The configuration of all consumers of a topic.
fn configure(options: &KafkaOptions<'_>) -> Result<ClientConfig, StoreError> {
    let own = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
    let mut config = ClientConfig::new();
    config.extend(DEFAULTS.iter().map(own));
    for (number, line) in options.properties.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        // Values may be secrets, so no message contains one.
        let number = number + 1;
        let (name, value) = line
            .split_once('=')
            .map(|(name, value)| (name.trim(), value.trim()))
            .ok_or_else(|| StoreError(format!("line {number} of the properties: expected `name=value`")))?;
        if name == "bootstrap.servers" || FIXED.iter().any(|(fixed, _)| *fixed == name) {
            return Err(StoreError(format!("line {number} of the properties: the monitor itself sets `{name}`")));
        }
        config.set(name, value);
    }
    config.extend(FIXED.iter().map(own));
    config.set("bootstrap.servers", options.brokers);
    Ok(config)
}

/// Keeps the last error of a connection.
#[derive(Default)]
struct Context {
    reason: Mutex<String>,
}

impl Context {
    fn reason(&self) -> String {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ClientContext for Context {
    fn log(&self, _: RDKafkaLogLevel, _: &str, _: &str) {}

    fn error(&self, error: KafkaError, reason: &str) {
        // This one only counts the brokers that the others are about.
        if error.rdkafka_error_code() != Some(Code::AllBrokersDown) {
            reason.clone_into(&mut self.reason.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

impl ConsumerContext for Context {}

fn create_consumer(config: &ClientConfig) -> Result<BaseConsumer<Context>, StoreError> {
    config.create_with_context(Context::default()).map_err(|error| match error {
        // Its own text contains the value.
        KafkaError::ClientConfig(_, why, name, _) => StoreError(format!("property `{name}`: {why}")),
        error => wrong(error),
    })
}

fn wrong(error: KafkaError) -> StoreError {
    match error.rdkafka_error_code() {
        Some(code) => StoreError(code.to_string()),
        None => StoreError(error.to_string()),
    }
}

fn count_partitions(consumer: &BaseConsumer<Context>, topic: &str, patience: Duration) -> Result<u32, StoreError> {
    let metadata = consumer.fetch_metadata(Some(topic), patience).map_err(wrong)?;
    let found = metadata.topics().iter().find(|found| found.name() == topic);
    match found.map(|found| (found.error(), found.partitions().len())) {
        Some((None, count)) if count > 0 => Ok(u32::try_from(count).unwrap_or(u32::MAX)),
        Some((Some(error), _)) => Err(StoreError(format!("topic `{topic}`: {}", Code::from(error)))),
        _ => Err(StoreError(format!("topic `{topic}` has no partitions"))),
    }
}

/// Reads a partition from a position on.
struct Follower<'a> {
    log: &'a Kafka,
    consumer: BaseConsumer<Context>,
    partition: i32,
    /// The smallest offset that the next message can have.
    next: i64,
    /// The broker does not have this offset: the consumer is not reading.
    is_outside: bool,
    /// When the number of partitions was asked for.
    checked: Instant,
}

impl Follower<'_> {
    fn new(log: &Kafka, partition: u32, after: Option<u64>) -> Result<Follower<'_>, StoreError> {
        let too_large = |_| StoreError("a position of Kafka has at most 63 bits".to_owned());
        let next = after.map_or(Ok(0), |after| i64::try_from(after.saturating_add(1))).map_err(too_large)?;
        let partition = i32::try_from(partition).map_err(too_large)?;
        let consumer = create_consumer(&log.config)?;
        let follower = Follower { log, consumer, partition, next, is_outside: false, checked: Instant::now() };
        follower.assign()?;
        Ok(follower)
    }

    /// Reads from the next offset on.
    fn assign(&self) -> Result<(), StoreError> {
        let mut assignment = TopicPartitionList::new();
        assignment.add_partition_offset(&self.log.topic, self.partition, Offset::Offset(self.next)).map_err(wrong)?;
        self.consumer.assign(&assignment).map_err(wrong)
    }

    /// The messages that came within a moment.
    fn next(&mut self) -> Result<Vec<Message>, StoreError> {
        let mut batch = Vec::new();
        self.check_partitions()?;
        if self.is_outside {
            batch.extend(self.find_offset()?);
        }
        while batch.len() < MOST_MESSAGES {
            let wait = if batch.is_empty() { WAIT } else { Duration::ZERO };
            match self.consumer.poll(wait) {
                Some(Ok(message)) => {
                    let offset = message.offset();
                    if offset >= self.next {
                        self.next = offset + 1;
                        let text = message.payload().unwrap_or_default().to_vec();
                        batch.push(Message::Lines { at: offset.unsigned_abs(), text });
                    }
                }
                Some(Err(error)) => {
                    batch.extend(self.judge_error(&error)?);
                    break;
                }
                None => break,
            }
        }
        Ok(batch)
    }

    /// Decides whether an error of the consumer is an outage, a loss or an end.
    fn judge_error(&mut self, error: &KafkaError) -> Result<Option<Message>, StoreError> {
        let place = format!("topic `{}`, partition {}", self.log.topic, self.partition);
        let reason = || format!("{place}: {}", self.consumer.context().reason());
        if matches!(error, KafkaError::MessageConsumptionFatal(_)) {
            return Err(StoreError(reason()));
        }
        match error.rdkafka_error_code() {
            Some(Code::AutoOffsetReset) => {
                self.is_outside = true;
                Ok(None)
            }
            // These were skipped.
            Some(Code::BadMessage | Code::BadCompression | Code::NotImplemented | Code::MessageSizeTooLarge) => {
                Ok(Some(Message::Missing(reason())))
            }
            Some(
                Code::UnknownTopic
                | Code::UnknownPartition
                | Code::UnknownTopicOrPartition
                | Code::TopicAuthorizationFailed,
            ) => Err(StoreError(reason())),
            _ => Ok(None),
        }
    }

    /// Compares the next offset with the limits of the partition. Tries again later if the broker does not answer.
    fn find_offset(&mut self) -> Result<Option<Message>, StoreError> {
        let topic = &self.log.topic;
        let Ok((low, high)) = self.consumer.fetch_watermarks(topic, self.partition, SHORT_PATIENCE) else {
            return Ok(None);
        };
        let next = self.next;
        if next > high {
            let partition = self.partition;
            let end = format!(
                "topic `{topic}`, partition {partition}: the next offset is {next}, but the last is below {high}"
            );
            return Err(StoreError(format!("{end}; the topic was truncated or created again")));
        }
        self.next = next.max(low);
        self.assign()?;
        self.is_outside = false;
        let deleted = || format!("the messages {next} to {} of `{topic}` were deleted before they were read", low - 1);
        Ok((low > next).then(|| Message::Missing(deleted())))
    }

    /// More partitions than before may move keys to other partitions, and each key has to stay in one.
    fn check_partitions(&mut self) -> Result<(), StoreError> {
        if self.checked.elapsed() < CHECK_EVERY {
            return Ok(());
        }
        self.checked = Instant::now();
        let Kafka { topic, partitions, .. } = self.log;
        match count_partitions(&self.consumer, topic, SHORT_PATIENCE) {
            Ok(count) if count != *partitions => {
                Err(StoreError(format!("topic `{topic}` had {partitions} partitions, and now has {count}")))
            }
            // A broker that is gone is no reason to end.
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;

//! A log over the mock cluster of librdkafka.

use std::sync::mpsc::{Receiver, channel};

use rdkafka::mocking::MockCluster;
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};

use super::*;

type Cluster = MockCluster<'static, DefaultProducerContext>;

const TOPIC: &str = "ops";

fn cluster(partitions: i32) -> Cluster {
    let cluster = MockCluster::new(1).expect("a cluster");
    cluster.create_topic(TOPIC, partitions, 1).expect("a topic");
    cluster
}

fn connect(cluster: &Cluster) -> Kafka {
    let brokers = cluster.bootstrap_servers();
    Kafka::connect(&KafkaOptions { brokers: &brokers, topic: TOPIC, properties: "" }).expect("a log")
}

/// Writes messages, each to the partition that it names.
fn produce(cluster: &Cluster, messages: impl Iterator<Item = (i32, String)>) {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", cluster.bootstrap_servers());
    let producer: ThreadedProducer<DefaultProducerContext> = config.create().expect("a producer");
    for (partition, text) in messages {
        let mut record = BaseRecord::<(), String>::to(TOPIC).partition(partition).payload(&text);
        while let Err((error, back)) = producer.send(record) {
            assert_eq!(error.rdkafka_error_code(), Some(Code::QueueFull));
            std::thread::sleep(Duration::from_millis(10));
            record = back;
        }
    }
    producer.flush(Duration::from_secs(60)).expect("everything is written");
}

/// The next messages of a partition, at most this many.
fn read(log: &Kafka, partition: u32, after: Option<u64>, count: usize) -> Vec<Message> {
    let (mut read, began) = (Vec::new(), Instant::now());
    let is_late = || began.elapsed() > Duration::from_secs(60);
    log.follow(partition, after, &mut |messages| {
        read.extend(messages);
        assert!(!is_late(), "{} of {count} messages", read.len());
        read.len() < count
    })
    .expect("an end");
    read
}

fn line(at: u64, text: impl Into<String>) -> Message {
    Message::Lines { at, text: text.into().into_bytes() }
}

#[test]
fn all_messages_of_all_partitions_come_in_order_and_once() {
    let cluster = cluster(4);
    produce(&cluster, (0..20_000).map(|number| (number % 4, format!("{number}"))));
    let log = connect(&cluster);
    assert_eq!(log.partitions(), 4);
    for partition in 0..4 {
        let expected: Vec<Message> = (0..5000).map(|at| line(at, format!("{}", at * 4 + partition))).collect();
        let partition = u32::try_from(partition).expect("a small number");
        assert_eq!(read(&log, partition, None, 5000), expected);
        // From a position on.
        assert_eq!(read(&log, partition, Some(1234), 3765), expected[1235..]);
    }
}

/// Follows a partition on a thread that ends when the receiver is dropped.
fn follow(log: Kafka, after: Option<u64>) -> Receiver<Vec<Message>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || log.follow(0, after, &mut |messages| sender.send(messages).is_ok()));
    receiver
}

/// The next batch that is not empty.
fn receive(batches: &Receiver<Vec<Message>>) -> Vec<Message> {
    let mut came = batches.iter().filter(|batch| !batch.is_empty());
    came.next().expect("a batch")
}

#[test]
fn a_broker_may_be_gone_for_a_while() {
    let cluster = cluster(1);
    produce(&cluster, [(0, "a".to_owned())].into_iter());
    let batches = follow(connect(&cluster), None);
    assert_eq!(receive(&batches), [line(0, "a")]);
    cluster.broker_down(1).expect("a broker");
    // It is called several times a second, also now.
    let began = Instant::now();
    for _ in 0..10 {
        assert_eq!(batches.recv_timeout(Duration::from_secs(5)), Ok(vec![]));
    }
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    cluster.broker_up(1).expect("a broker");
    produce(&cluster, [(0, "b".to_owned())].into_iter());
    assert_eq!(receive(&batches), [line(1, "b")]);
}

#[test]
fn deleted_messages_are_missing() {
    let cluster = cluster(1);
    // A partition of the mock cluster keeps about five million bytes.
    let padding = "x".repeat(10_000);
    produce(&cluster, (0..1000).map(|number| (0, format!("{number} {padding}"))));
    let log = connect(&cluster);
    for after in [None, Some(17)] {
        let read = read(&log, 0, after, 2);
        let [Message::Missing(why), Message::Lines { at, text }, ..] = &read[..] else { panic!("{read:?}") };
        let first = after.map_or(0, |after| after + 1);
        let expected = format!("the messages {first} to {} of `ops` were deleted before they were read", at - 1);
        assert_eq!(*why, expected);
        assert!(*at > 100 && text.starts_with(format!("{at} ").as_bytes()), "{at}");
    }
    // The rest is there.
    assert_eq!(read(&log, 0, Some(998), 1), [line(999, format!("999 {padding}"))]);
}

#[test]
fn a_partition_that_ends_before_the_position_is_an_error() {
    let cluster = cluster(1);
    produce(&cluster, (0..10).map(|number| (0, format!("{number}"))));
    let error = connect(&cluster).follow(0, Some(10), &mut |_| true).expect_err("the topic is another one");
    let expected = "topic `ops`, partition 0: the next offset is 11, but the last is below 10; \
        the topic was truncated or created again";
    assert_eq!(error.to_string(), expected);
    // The end of the partition is not an error.
    let mut calls = 0;
    let ended = connect(&cluster).follow(0, Some(9), &mut |messages| {
        calls += 1;
        assert_eq!(messages, []);
        calls < 8
    });
    assert_eq!((ended, calls), (Ok(()), 8));
}

#[test]
fn mistakes_are_named_without_values() {
    let check = |properties: &str| {
        let options = KafkaOptions { brokers: "127.0.0.1:1", topic: TOPIC, properties };
        Kafka::connect(&options).err().expect("a mistake").to_string()
    };
    assert_eq!(check("# a comment\n\nsecret"), "line 3 of the properties: expected `name=value`");
    assert_eq!(
        check("enable.auto.commit=true"),
        "line 1 of the properties: the monitor itself sets `enable.auto.commit`"
    );
    let unknown = check("no.such.property = secret");
    assert!(unknown.starts_with("property `no.such.property`: ") && !unknown.contains("secret"), "{unknown}");
    let refused = check("client.id=test");
    assert!(refused.contains("Connection refused"), "{refused}");
}

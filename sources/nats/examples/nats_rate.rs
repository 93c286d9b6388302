//! How many operations a second come from NATS: read by the bare client, and checked by a monitor. One partition.
//!
//! ```sh
//! nats-server -a 127.0.0.1 -p 14222 -js -sd DIR &
//! cargo run --profile engine -p omnilink-nats --example nats_rate -- nats://127.0.0.1:14222 OPERATIONS
//! ```

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::fmt::Write as _;
use std::time::Instant;

use async_nats::jetstream;
use omnilink_judge::Judge;
use omnilink_monitor::share::{Log, Message};
use omnilink_monitor::{Lines, Monitor};
use omnilink_nats::{Nats, NatsOptions};

/// The number of operations in a message.
const IN_MESSAGE: u64 = 100;

/// The number of operations between two checks.
const BETWEEN: u64 = 50_000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let server = arguments.next().expect("the address of a server");
    let operations: u64 = arguments.next().map_or(1_000_000, |count| count.parse().expect("a number"));
    let stream = format!("RATE{}", std::process::id());
    publish(&server, &stream, operations);
    let options = NatsOptions { servers: &server, stream: &stream, partitions: 1, group: "rate", credentials: None };
    let nats = Nats::connect(&options).expect("a connection");
    let read = |each: &mut dyn FnMut(&[u8]) -> u64| {
        let (mut count, began) = (0, Instant::now());
        nats.follow(0, None, &mut |messages| {
            for message in messages {
                let Message::Lines { text, .. } = message else { panic!("nothing is missing") };
                count += each(&text);
            }
            count < operations
        })
        .expect("a stream");
        operations as f64 / began.elapsed().as_secs_f64()
    };
    println!("bare client: {:.0} operations a second", read(&mut |_| IN_MESSAGE));
    let judge =
        Judge::new("register:initial=0", omnilink_judge::CheckOptions::default()).expect("a built-in specification");
    let (mut monitor, mut lines, mut fed) =
        (Monitor::new(judge, omnilink_monitor::MonitorOptions::default()), Lines::default(), 0);
    let rate = read(&mut |text| {
        for line in std::str::from_utf8(text).expect("text").lines() {
            monitor.feed(lines.read(line).expect("a line"));
            fed += 1;
            if fed % BETWEEN == 0 {
                assert!(monitor.advance().is_empty(), "a correct history");
            }
        }
        IN_MESSAGE
    });
    assert!(monitor.finish(true).is_empty(), "a correct history");
    assert_eq!(monitor.counts().checked, operations);
    println!("monitor:     {rate:.0} operations a second");
}

/// Fills a stream with the operations of 16 processes on 100,000 registers.
fn publish(server: &str, stream: &str, operations: u64) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let context = jetstream::new(async_nats::connect(server).await.expect("a server"));
        let subjects = vec![format!("{stream}.*")];
        let config = jetstream::stream::Config { name: stream.to_owned(), subjects, ..Default::default() };
        context.create_stream(config).await.expect("a stream");
        let (mut random, mut values) = (0_u64, vec![0_u64; 100_000]);
        let mut waiting = Vec::new();
        for first in (0..operations).step_by(IN_MESSAGE as usize) {
            let mut text = String::new();
            for number in first..first + IN_MESSAGE {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let key = (random >> 33) as usize % values.len();
                let (process, seq, start) = (number % 16, number / 16, number * 4);
                let end = start + 3;
                let _ = write!(text, "{{\"process\":\"p{process}\",\"seq\":{seq},\"start\":{start},\"end\":{end},");
                if random >> 63 == 0 {
                    values[key] = number;
                    let _ = writeln!(text, "\"action\":\"write\",\"args\":{{\"key\":{key},\"value\":{number}}}}}");
                } else {
                    let value = values[key];
                    let _ = write!(text, "\"action\":\"read\",\"args\":{{\"key\":{key}}},");
                    let _ = writeln!(text, "\"results\":{{\"value\":{value}}}}}");
                }
            }
            waiting.push(context.publish(format!("{stream}.0"), text.into()).await.expect("a message"));
            if waiting.len() == 100 {
                for answer in waiting.drain(..) {
                    answer.await.expect("an acknowledgement");
                }
            }
        }
        for answer in waiting {
            answer.await.expect("an acknowledgement");
        }
    });
}

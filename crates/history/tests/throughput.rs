//! Speed of reading and merging segments. Run with `cargo test --release --test throughput -- --ignored --nocapture`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use omnilink_history::format::binary::{Merge, SegmentReader, SegmentWriter};
use omnilink_history::{Call, End, ProcessId, Record, Schema};

const PROCESSES: u64 = 5;
const OPERATIONS: u64 = 10_000_000;

/// A map workload: half puts, half gets of a thousand keys, an operation every microsecond.
fn segment(process: u64) -> Vec<u8> {
    let put = Schema { action: "put".into(), args: vec!["key".into(), "value".into()], results: vec!["ok".into()] };
    let get = Schema { action: "get".into(), args: vec!["key".into()], results: vec!["value".into()] };
    let (put, get) = (Arc::new(put), Arc::new(get));
    let mut writer = SegmentWriter::new(Vec::new(), &process.to_string()).expect("memory can be written to");
    let mut random = process + 1;
    for number in 0..OPERATIONS / PROCESSES {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let start = number * 1000 + (random >> 40) % 300 + process;
        let end = start + 100 + (random >> 50) % 500;
        let (key, value) = (((random >> 33) % 1000) as i64, (number * PROCESSES + process) as i64);
        let call = match number % 2 {
            0 => Call::new(put.clone(), [key.into(), value.into(), true.into()]),
            _ => Call::new(get.clone(), [key.into(), value.into()]),
        };
        let call = call.expect("a value for each name");
        writer
            .record(&Record { process: ProcessId(0), start, end: End::At(end), call })
            .expect("memory can be written to");
    }
    writer.close().expect("memory can be written to")
}

/// The running time of this thread on Linux; wall-clock time elsewhere.
fn cpu_time(since: Instant) -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = stat.and_then(|stat| stat.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

#[test]
#[ignore = "measures, and is only worth running in release"]
fn ten_million_operations_of_five_processes() {
    let segments: Vec<Vec<u8>> = (0..PROCESSES).map(segment).collect();
    let bytes: usize = segments.iter().map(Vec::len).sum();
    println!("{:.1} bytes per operation", bytes as f64 / OPERATIONS as f64);
    let birth = Instant::now();
    for _ in 0..3 {
        let begin = cpu_time(birth);
        let readers = segments.iter().map(|bytes| SegmentReader::new("", bytes.as_slice()).unwrap());
        let mut count = 0;
        for op in Merge::new(readers).unwrap() {
            count += u64::from(op.unwrap().interval.end().is_some());
        }
        assert_eq!(count, OPERATIONS);
        println!(
            "{:.1} million operations per second of one core",
            count as f64 / (cpu_time(birth) - begin).as_secs_f64() / 1e6
        );
    }
}

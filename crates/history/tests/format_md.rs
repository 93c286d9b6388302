//! The examples in `FORMAT.md` are true.

use std::sync::Arc;

use omnilink_history::format::binary::{Manifest, SegmentReader, SegmentWriter, read_all};
use omnilink_history::format::{jsonl, text};
use omnilink_history::{Call, End, ProcessId, Record, Schema, Trace, Value};

const FORMAT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../FORMAT.md"));

/// The fenced blocks of one language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fenced = FORMAT.split("```").skip(1).step_by(2);
    fenced.filter_map(|block| block.split_once('\n')).filter(|block| block.0 == language).map(|block| block.1).collect()
}

fn hex() -> Vec<u8> {
    let lines = blocks("hex")[0].lines().map(|line| line.split(';').next().unwrap_or_default());
    let bytes = lines.flat_map(str::split_whitespace).map(|byte| u8::from_str_radix(byte, 16));
    bytes.collect::<Result<_, _>>().expect("the example consists of bytes")
}

fn read_segment(bytes: &[u8]) -> Trace {
    let reader = SegmentReader::new("c1.seg", bytes).expect("the example has a header");
    read_all([reader]).expect("the example can be read")
}

fn print(trace: &Trace) -> String {
    assert_eq!(trace.cuts, []);
    let mut bytes = Vec::new();
    text::write(trace, &mut bytes).expect("memory can be written to");
    String::from_utf8(bytes).expect("text is UTF-8")
}

#[test]
fn the_example_is_the_same_trace_in_each_format() {
    let expected = blocks("text")[0];
    assert_eq!(print(&read_segment(&hex())), expected);
    assert_eq!(print(&jsonl::read(blocks("jsonl")[0].as_bytes()).unwrap()), expected);
    assert_eq!(print(&text::read(expected.as_bytes()).unwrap()), expected);
}

#[test]
fn the_writer_writes_the_bytes_of_the_example() {
    let put = Schema { action: "put".into(), args: vec!["key".into(), "value".into()], results: vec!["ok".into()] };
    let mut put = Call::new(Arc::new(put), [1.into(), 1000.into(), true.into()]).unwrap();
    put.meta.push(("node".into(), "n1".into()));
    let get = Call::positional("get", [1.into()], [1000.into()]);
    let mut cas = Call::positional("cas", [1.into(), (-1).into(), Value::Nil], []);
    cas.failed = true;
    let record = |start, end, call| Record { process: ProcessId(0), start, end: End::At(end), call };
    let mut writer = SegmentWriter::new(Vec::new(), "c1").unwrap();
    writer.record(&record(1000, 1250, put)).unwrap();
    writer.call(1300, &get).unwrap();
    writer.finish(1420, &get).unwrap();
    writer.record(&record(1500, 1510, cas)).unwrap();
    let miss = Call::positional("miss", [2.into()], []);
    writer.call(1550, &Call::positional("get", [2.into()], [Value::Nil])).unwrap();
    writer.outcome(1560, 1580, &miss).unwrap();
    writer.call(1600, &get).unwrap();
    assert_eq!(writer.close().unwrap(), hex());
}

#[test]
fn a_segment_cut_anywhere_reads_as_its_longest_valid_prefix() {
    let bytes = hex();
    let whole = read_segment(&bytes);
    assert_eq!(whole.cuts, []);
    let mut boundaries = vec![0]; // Where the whole records that fit into a prefix end.
    for length in 0..bytes.len() {
        let trace = read_segment(&bytes[..length]);
        let [cut] = trace.cuts.as_slice() else { panic!("one cut after {length} bytes, not {:?}", trace.cuts) };
        assert!(cut.at_byte <= length as u64);
        let is_boundary = cut.at_byte == length as u64;
        assert_eq!(is_boundary, !cut.found.contains("inside"), "after {length} bytes: {cut}");
        if is_boundary && length > 0 {
            boundaries.push(length);
        }
        assert_eq!(cut.at_byte, *boundaries.last().unwrap() as u64);
        // The prefix holds the same operations; the last may lack its part after the cut.
        let Some((last, before)) = trace.records.split_last() else { continue };
        assert_eq!(before, &whole.records[..before.len()]);
        let full = &whole.records[before.len()];
        let is_same_call = last.start == full.start && last.call.args() == full.call.args();
        assert!(is_same_call || last.end.is_unknown() && last.start < full.start, "an outcome may say it anew");
        assert!(last.end.is_unknown() || last.end == full.end);
        // Zeros after the last published record change only the reported contents.
        let whole_records = [&bytes[..cut.at_byte as usize], &[0; 9]].concat();
        let extended = read_segment(&whole_records);
        assert_eq!((extended.records, extended.cuts[0].at_byte), (trace.records, cut.at_byte));
    }
    assert_eq!(boundaries.len(), 15);
}

#[test]
fn the_other_examples_can_be_read() {
    assert_eq!(Manifest::read(blocks("json")[0].as_bytes()).unwrap().clock.as_deref(), Some("ns"));
    assert_eq!(print(&text::read(blocks("text")[1].as_bytes()).unwrap()), blocks("text")[1]);
}

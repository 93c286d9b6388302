//! What was written is read back, what is cut off is read up to the cut, and what is damaged is reported.

use std::sync::Arc;

use super::*;
use crate::format::MAX_DEPTH;
use crate::{Call, ProcessId, Record, Schema, Trace, Value};

/// The example of `FORMAT.md`, by hand: a client that puts, reads, fails to swap, and is cut off in a read.
fn example() -> Vec<u8> {
    let put = Schema { action: "put".into(), args: vec!["key".into(), "value".into()], results: vec!["ok".into()] };
    let mut put = Call::new(Arc::new(put), [1.into(), 1000.into(), true.into()]).unwrap();
    put.meta.push(("node".into(), "n1".into()));
    let get = Call::positional("get", [1.into()], [1000.into()]);
    let mut cas = Call::positional("cas", [1.into(), (-1).into(), Value::Nil], []);
    cas.failed = true;
    let mut writer = SegmentWriter::new(Vec::new(), "c1").unwrap();
    writer.record(&record(1000, Some(1250), put)).unwrap();
    writer.call(1300, &get).unwrap();
    writer.finish(1420, &get).unwrap();
    writer.record(&record(1500, Some(1490), cas)).unwrap();
    writer.call(1600, &get).unwrap();
    writer.close().unwrap()
}

fn record(start: u64, end: Option<u64>, call: Call) -> Record {
    Record { process: ProcessId(0), start, end, call }
}

fn read(bytes: &[u8]) -> Result<Trace, ReadError> {
    read_all([SegmentReader::new("c1.seg", bytes)?])
}

/// What a reader finds in a segment: one line for each operation and cut.
fn check(bytes: &[u8]) -> String {
    let trace = match read(bytes) {
        Ok(trace) => trace,
        Err(error) => return error.to_string(),
    };
    let mut lines = Vec::new();
    for Record { start, end, call, .. } in &trace.records {
        let meta: Vec<String> = call.meta.iter().map(|(name, value)| format!(" | {name}: {value}")).collect();
        let end = end.map_or("...".into(), |end| end.to_string());
        lines.push(format!("[{start} {end}] {call}{}", meta.concat()));
    }
    lines.extend(trace.cuts.iter().map(ToString::to_string));
    lines.join("\n")
}

/// A segment of process `p` with these record bodies.
fn segment(bodies: &[&[u8]]) -> Vec<u8> {
    let mut bytes = [MAGIC.as_slice(), &[VERSION, 1], b"p"].concat();
    for body in bodies {
        bytes.push(body.len() as u8);
        bytes.extend_from_slice(body);
    }
    bytes
}

const READ: &[u8] = b"\x01\x00\x04read\x00\x01\x00"; // Action 0: `read`, no argument, one result without a name.

#[test]
fn the_example_reads_as_it_was_written() {
    insta::assert_snapshot!(check(&example()), @r#"
    [1000 1250] put(key: 1, value: 1000) = ok: TRUE | node: "n1"
    [1300 1420] get(1) = 1000
    [1500 1490] cas(1, -1, nil) failed
    [1600 ...] get(1)
    "#);
}

#[test]
fn a_segment_cut_anywhere_reads_as_its_longest_valid_prefix() {
    let bytes = example();
    let whole = read(&bytes).unwrap();
    assert_eq!(whole.cuts, []);
    let mut boundaries = vec![0]; // Where the whole records that fit into a prefix end.
    for length in 0..bytes.len() {
        let trace = read(&bytes[..length]).unwrap();
        let [cut] = trace.cuts.as_slice() else { panic!("one cut after {length} bytes, not {:?}", trace.cuts) };
        assert!(cut.at_byte <= length as u64);
        let is_boundary = cut.at_byte == length as u64;
        assert_eq!(is_boundary, !cut.found.contains("inside"), "after {length} bytes: {cut}");
        if is_boundary && length > 0 {
            boundaries.push(length);
        }
        assert_eq!(cut.at_byte, *boundaries.last().unwrap() as u64);
        // The prefix holds the same operations; the last may lack what comes after the cut.
        let Some((last, before)) = trace.records.split_last() else { continue };
        assert_eq!(before, &whole.records[..before.len()]);
        let full = &whole.records[before.len()];
        assert_eq!((last.start, last.call.args()), (full.start, full.call.args()));
        assert!(last.end.is_none() || last.end == full.end);
        // Zeros behind the last published record change nothing but what was found.
        let whole_records = [&bytes[..cut.at_byte as usize], &[0; 9]].concat();
        let extended = read(&whole_records).unwrap();
        assert_eq!((extended.records, extended.cuts[0].at_byte), (trace.records, cut.at_byte));
    }
    assert_eq!(boundaries.len(), 12);
}

#[test]
fn a_segment_says_why_it_stops() {
    let open = segment(&[READ, b"\x03\x00\x0a"]);
    insta::assert_snapshot!(check(&open), @"
    [5 ...] read()
    c1.seg breaks off after 26 bytes: the file ends, but the segment was not closed
    ");
    insta::assert_snapshot!(check(&[open.as_slice(), &[0, 2, 3]].concat()), @"
    [5 ...] read()
    c1.seg breaks off after 26 bytes: no more records were published, and the segment was not closed
    ");
    insta::assert_snapshot!(check(&[open.as_slice(), &[2, 4]].concat()), @"
    [5 ...] read()
    c1.seg breaks off after 26 bytes: the file ends inside a record, after 2 of 3 bytes
    ");
    insta::assert_snapshot!(check(&[open.as_slice(), &[255, 2, 0]].concat()), @"
    [5 ...] read()
    c1.seg breaks off after 26 bytes: the file ends inside the length of a record
    ");
    insta::assert_snapshot!(check(&MAGIC[..3]), @"c1.seg breaks off after 0 bytes: the file ends inside the header");
    insta::assert_snapshot!(check(&[0; 40]), @"c1.seg breaks off after 0 bytes: no header has been published");
    insta::assert_snapshot!(check(&[]), @"c1.seg breaks off after 0 bytes: the file is empty");
}

#[test]
fn wrong_bytes_are_errors() {
    insta::assert_snapshot!(check(b"{\"process\": 0}"), @"c1.seg, byte 0: this is not a segment of a trace: it does not begin with the magic bytes");
    insta::assert_snapshot!(check(b"\x89OMNISEG\x02\x00"), @"c1.seg, byte 8: version 2 of the format is not known; this reader knows version 1");
    insta::assert_snapshot!(check(b"\x89OMNISEG\x01\x01\xFF"), @"c1.seg, byte 10: the name of the process is not UTF-8");
    insta::assert_snapshot!(check(&segment(&[b"\x00\x00"])), @"c1.seg, byte 13: unknown record kind 0");
    insta::assert_snapshot!(check(&segment(&[b"\x08"])), @"c1.seg, byte 13: unknown record kind 8");
    insta::assert_snapshot!(check(&segment(&[READ, READ])), @"c1.seg, byte 25: action number 0 is defined twice");
    insta::assert_snapshot!(check(&segment(&[READ, b"\x03\x01\x00"])), @"c1.seg, byte 25: action number 1 is not defined");
    insta::assert_snapshot!(check(&segment(&[READ, b"\x02\x00\x02\x02\x50\x50"])), @"c1.seg, byte 28: the record has 1 bytes too many");
    insta::assert_snapshot!(check(&segment(&[READ, b"\x02\x00\x02"])), @"c1.seg, byte 26: the record is too short");
    insta::assert_snapshot!(check(&segment(&[READ, b"\x02\x00\x02\x02\x21\xFF"])), @"c1.seg, byte 29: a string that is not UTF-8");
    insta::assert_snapshot!(check(&segment(&[READ, b"\x02\x00\x02\x02\x09"])), @"c1.seg, byte 28: unknown value tag 9");
    insta::assert_snapshot!(check(&segment(&[READ, b"\x02\x00\x02\x02\x06\xFF\xFF\x03"])), @"c1.seg, byte 31: 65535 elements where the record has 0 bytes");
    insta::assert_snapshot!(check(&segment(&[READ, b"\x02\x00\x02\x02\x08\x02\x51\x00\x51\x00"])), @"c1.seg, byte 33: a function with two results for one argument");
    insta::assert_snapshot!(check(&segment(&[READ, b"\x02\x00\x02\x02\x04\0\0\0\0\0\0\xF0\x7F"])), @"c1.seg, byte 36: a number that is not finite");
    insta::assert_snapshot!(check(&segment(&[READ, b"\x02\x00\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"])), @"c1.seg, byte 35: a number of more than 64 bits");
    insta::assert_snapshot!(check(&segment(&[READ, &[b"\x02\x00\x02\x02".as_slice(), &[6, 1].repeat(33)].concat()])), @"c1.seg, byte 92: a value that is nested deeper than 32");
    insta::assert_snapshot!(check(&segment(&[READ, b"\x04\x02\x50"])), @"c1.seg, byte 24: a return or failure while no call is open");
    insta::assert_snapshot!(check(&segment(&[READ, b"\x06"])), @"c1.seg, byte 24: metadata before the first operation");
    insta::assert_snapshot!(check(&segment(&[READ, b"\x07\x01"])), @"c1.seg, byte 25: the segment was closed after 1 operations, but holds 0");
    insta::assert_snapshot!(check(&[segment(&[b"\x07\x00"]), vec![0, 0, 1]].concat()), @"c1.seg, byte 16: the segment goes on after its end record");
    insta::assert_snapshot!(check(&[segment(&[]), vec![255, 0, 0, 0, 0]].concat()), @"c1.seg, byte 11: a record of 0 bytes, where 1 to 16777216 are allowed");
}

#[test]
fn long_records_and_deep_values_are_written_up_to_the_limits() {
    let long = Call::positional("log", [Value::str("x".repeat(100_000))], []);
    let nest = |depth| (0..depth).fold(Value::Nil, |inner, _| Value::set([inner]));
    let deep = Call::positional("deep", [nest(MAX_DEPTH)], []);
    let too_deep = Call::positional("deep", [nest(MAX_DEPTH + 1)], []);
    let mut writer = SegmentWriter::new(Vec::new(), "0").unwrap();
    writer.record(&record(u64::MAX, Some(0), long.clone())).unwrap();
    writer.record(&record(1, None, deep.clone())).unwrap();
    let trace = read(&writer.close().unwrap()).unwrap();
    assert_eq!(trace.records, [record(u64::MAX, Some(0), long), record(1, None, deep)]);
    let mut writer = SegmentWriter::new(Vec::new(), "0").unwrap();
    let error = writer.record(&record(1, None, too_deep)).unwrap_err();
    assert!(error.to_string().ends_with("a value is nested deeper than 32"), "{error}");
}

#[test]
fn segments_merge_by_start() {
    let write = |process: &str, times: &[(u64, u64)]| {
        let mut writer = SegmentWriter::new(Vec::new(), process).unwrap();
        for (start, end) in times {
            writer.record(&record(*start, Some(*end), Call::positional("read", [], []))).unwrap();
        }
        writer.close().unwrap()
    };
    let merge = |segments: &[Vec<u8>]| {
        let readers = segments.iter().map(|bytes| SegmentReader::new("", bytes.as_slice()).unwrap());
        let mut merge = match Merge::new(readers) {
            Ok(merge) => merge,
            Err(error) => return error.to_string(),
        };
        let mut ops = Vec::new();
        while let Some(op) = merge.next() {
            match op {
                Ok(op) => ops.push(format!("{}{}", crate::name(merge.processes(), op.process, op.index), op.interval)),
                Err(error) => ops.push(error.to_string()),
            }
        }
        ops.extend(merge.cuts().iter().map(ToString::to_string));
        ops.join(" ")
    };
    let (a, b) = (write("0", &[(1, 5), (6, 6), (9, 10)]), write("w", &[(1, 4), (8, 20)]));
    insta::assert_snapshot!(merge(&[a.clone(), b.clone(), write("idle", &[])]), @"w:0[1 4] T0:0[1 5] T0:1[6 6] w:1[8 20] T0:2[9 10]");
    insta::assert_snapshot!(merge(&[a[..a.len() - 1].to_vec(), b[..4].to_vec(), b]), @"w:0[1 4] T0:0[1 5] T0:1[6 6] w:1[8 20] T0:2[9 10] breaks off after 0 bytes: the file ends inside the header breaks off after 36 bytes: the file ends inside a record, after 2 of 3 bytes");
    insta::assert_snapshot!(merge(&[a.clone(), a]), @", byte 0: a second segment of process `0`");
    insta::assert_snapshot!(merge(&[write("0", &[(1, 5), (3, 6), (7, 8)])]), @"T0:0[1 5] T0:1 starts at 3, before the operation before it in the same process ends at 5");
}

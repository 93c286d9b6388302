//! Written traces are read back, truncated ones are read up to the cut, and damaged ones are reported.

use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

use super::*;
use crate::format::MAX_DEPTH;
use crate::{Call, ProcessId, Record, Trace, Value};

fn record(start: u64, end: Option<u64>, call: Call) -> Record {
    Record { process: ProcessId(0), start, end: end.into(), call }
}

fn read(bytes: &[u8]) -> Result<Trace, ReadError> {
    read_all([SegmentReader::new("c1.seg", bytes)?])
}

/// The contents of a segment: one line for each operation and cut.
fn check(bytes: &[u8]) -> String {
    let trace = match read(bytes) {
        Ok(trace) => trace,
        Err(error) => return error.to_string(),
    };
    let mut lines = Vec::new();
    for Record { start, end, call, .. } in &trace.records {
        let meta: Vec<String> = call.meta.iter().map(|(name, value)| format!(" | {name}: {value}")).collect();
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
fn a_call_that_ended_had_its_first_outcome_unless_another_is_named() {
    const TAKE: &[u8] = b"\x01\x00\x04a|bc\x00\x00"; // Action 0: `a`, or `bc`.
    const OTHER: &[u8] = b"\x01\x01\x02bc\x00\x00";
    let called = |ends: &[&[u8]]| check(&segment(&[&[TAKE, OTHER, b"\x03\x00\x02"], ends].concat()));
    insta::assert_snapshot!(called(&[b"\x07\x01"]), @r#"[1 ...] "a|bc"()"#);
    insta::assert_snapshot!(called(&[b"\x04\x02", b"\x07\x01"]), @"[1 2] a()");
    insta::assert_snapshot!(called(&[b"\x05\x02", b"\x07\x01"]), @"[1 2] a() failed");
    insta::assert_snapshot!(called(&[b"\x08\x01\x00\x02", b"\x07\x01"]), @"[1 2] bc()");
    insta::assert_snapshot!(called(&[b"\x09\x02", b"\x07\x01"]), @r#"[1 ..2] "a|bc"()"#);
    let whole = segment(&[TAKE, b"\x02\x00\x02\x02", b"\x07\x01"]);
    insta::assert_snapshot!(check(&whole), @"[1 2] a()");
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
    let headers: [&[u8]; 3] = [&MAGIC[..3], &[0; 40], &[]];
    insta::assert_snapshot!(headers.map(check).join("\n"), @"
    c1.seg breaks off after 0 bytes: the file ends inside the header
    c1.seg breaks off after 0 bytes: no header has been published
    c1.seg breaks off after 0 bytes: the file is empty
    ");
}

#[test]
fn wrong_bytes_are_errors() {
    let check_all = |segments: &[&[u8]]| segments.iter().map(|bytes| check(bytes)).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(
        check_all(&[
            b"{\"process\": 0}",
            b"\x89OMNISEG\x02\x00",
            b"\x89OMNISEG\x01\x01\xFF",
            &[segment(&[b"\x07\x00"]), vec![0, 0, 1]].concat(),
            &[segment(&[]), vec![255, 0, 0, 0, 0]].concat(),
        ]),
        @"
    c1.seg, byte 0: this is not a segment of a trace: it does not begin with the magic bytes
    c1.seg, byte 8: unsupported format version 2 (expected 1)
    c1.seg, byte 10: the name of the process is not UTF-8
    c1.seg, byte 16: the segment continues after its end record
    c1.seg, byte 11: a record of 0 bytes, where 1 to 16777216 are allowed
    "
    );
    let check_bodies = |bodies: &[&[u8]]| {
        let segments: Vec<Vec<u8>> = bodies.iter().map(|body| segment(&[READ, body])).collect();
        check_all(&segments.iter().map(Vec::as_slice).collect::<Vec<_>>())
    };
    insta::assert_snapshot!(
        check_bodies(&[
            b"\x00\x00",
            b"\x0A",
            b"\x08\x00\x02\x02\x50",
            b"\x09\x02",
            READ,
            b"\x03\x01\x00",
            b"\x04\x02\x50",
            b"\x06",
            b"\x07\x01",
            b"\x02\x00\x02",
            b"\x02\x00\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02",
        ]),
        @"
        c1.seg, byte 24: unknown record kind 0
        c1.seg, byte 24: a blocked operation while no call is open
        c1.seg, byte 24: an outcome while no call is open
        c1.seg, byte 24: an unknown outcome while no call is open
        c1.seg, byte 25: action number 0 is defined twice
        c1.seg, byte 25: action number 1 is not defined
        c1.seg, byte 24: a return or failure while no call is open
        c1.seg, byte 24: metadata before the first operation
        c1.seg, byte 25: the segment was closed after 1 operations, but holds 0
        c1.seg, byte 26: the record ends inside a number
        c1.seg, byte 25: a number of more than 64 bits
        "
    );
    let result = |value: &[u8]| [b"\x02\x00\x02\x02", value].concat();
    insta::assert_snapshot!(
        check_bodies(&[
            &result(b"\x50\x50"),
            &result(b"\x21\xFF"),
            &result(b"\x0A"),
            &result(b"\x09\x021x"),
            &result(b"\x06\xFF\xFF\x03"),
            &result(b"\x08\x02\x51\x00\x51\x00"),
            &result(b"\x04\0\0\0\0\0\0\xF0\x7F"),
            &result(&[6, 1].repeat(33)),
        ]),
        @"
        c1.seg, byte 28: the record has 1 bytes too many
        c1.seg, byte 29: a string that is not UTF-8
        c1.seg, byte 28: unknown value tag 10
        c1.seg, byte 31: the digits of an integer are something else
        c1.seg, byte 31: 65535 elements where the record has 0 bytes
        c1.seg, byte 33: a function with two results for one argument
        c1.seg, byte 36: a number that is not finite
        c1.seg, byte 92: a value that is nested deeper than 32
        "
    );
}

#[test]
fn an_outcome_repeats_the_call() {
    const POP: &[u8] = b"\x01\x01\x03pop\x01\x00\x01\x00"; // Action 1: `pop`, one argument, one result.
    const CALL: &[u8] = b"\x03\x00\x0a";
    const NOTE: &[u8] = b"\x06\x01n\x51";
    let check_bodies = |bodies: &[&[u8]]| check(&segment(bodies));
    insta::assert_snapshot!(
        check_bodies(&[READ, CALL, NOTE, POP, b"\x08\x01\x04\x06\x51\x52", NOTE, CALL, b"\x07\x02"]),
        @"
        [7 10] pop(1) = 2 | n: 1 | n: 1
        [15 ...] read()
        "
    );
    insta::assert_snapshot!(check_bodies(&[READ, CALL, b"\x08\x00\x01\x02", b"\x07\x01"]), @"[4 5] read()");
    let wrong: [&[&[u8]]; 5] = [
        &[READ, CALL, b"\x08\x01\x02\x02"],
        &[READ, CALL, b"\x08\x00\x02"],
        &[READ, CALL, b"\x08\x00\x02\x02\x50\x50"],
        &[READ, CALL, b"\x08\x00\x02\x02", b"\x08\x00\x02\x02"],
        &[READ, CALL, b"\x08\x00\x02\x02", b"\x07\x02"],
    ];
    insta::assert_snapshot!(wrong.map(check_bodies).join("\n"), @"
    c1.seg, byte 29: action number 1 is not defined
    c1.seg, byte 30: the record ends inside a number
    c1.seg, byte 32: the record has 1 bytes too many
    c1.seg, byte 33: an outcome while no call is open
    c1.seg, byte 34: the segment was closed after 2 operations, but holds 1
    ");
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
        let readers = segments.iter().map(|bytes| SegmentReader::new("part", bytes.as_slice()).unwrap());
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
        ops.join("\n")
    };
    let (a, b) = (write("0", &[(1, 5), (6, 6), (9, 10)]), write("w", &[(1, 4), (8, 20)]));
    insta::assert_snapshot!(merge(&[a.clone(), b.clone(), write("idle", &[])]), @"
    w:0[1 4]
    T0:0[1 5]
    T0:1[6 6]
    w:1[8 20]
    T0:2[9 10]
    ");
    insta::assert_snapshot!(merge(&[a[..a.len() - 1].to_vec(), b[..4].to_vec(), b]), @"
    w:0[1 4]
    T0:0[1 5]
    T0:1[6 6]
    w:1[8 20]
    T0:2[9 10]
    part breaks off after 0 bytes: the file ends inside the header
    part breaks off after 36 bytes: the file ends inside a record, after 2 of 3 bytes
    ");
    let broken = segment(&[READ, b"\x02\x00\x02\x02\x50", b"\x02\x00\x02\x02\x50", b"\x0A"]);
    insta::assert_snapshot!(merge(&[broken]), @"
    p:0[1 2]
    part, byte 36: a blocked operation while no call is open
    ");
    insta::assert_snapshot!(merge(&[a.clone(), a]), @"part, byte 0: a second segment of process `0`");
    insta::assert_snapshot!(merge(&[write("0", &[(1, 5), (3, 6), (7, 8)])]), @"
    T0:0[1 5]
    T0:1 starts at 3, before the operation before it in the same process ends at 5
    ");
}

#[test]
fn a_segment_that_grows_is_followed() {
    let calls = [(1, Some(2)), (3, Some(4)), (5, None)];
    let records = calls.map(|(start, end)| record(start, end, Call::positional("read", [], end.map(|_| 7.into()))));
    let trace = Trace { processes: vec!["p".into()], records: records.to_vec(), ..Trace::default() };
    let whole: Vec<u8> = write(&trace, |_, _| Ok(Vec::new())).expect("a trace that can be written").concat();
    // Byte by byte, with zeros after what was written, as in a mapped file. The length of a record comes last.
    let header = MAGIC.len() + 3;
    let mapped = Mapped { bytes: Rc::new(RefCell::new(whole.clone())), at: 0 };
    let bytes = mapped.bytes.clone();
    bytes.borrow_mut()[header..].fill(0);
    let mut reader = SegmentReader::new("p.seg", mapped).expect("a header");
    let (mut open, mut seen) = (None, Vec::new());
    let (mut places, mut record) = (Vec::new(), header);
    while record < whole.len() {
        let next = record + 1 + usize::from(whole[record]);
        places.extend((record + 1..next).chain([record]));
        record = next;
    }
    for place in places {
        bytes.borrow_mut()[place] = whole[place];
        while let Some(record) = reader.follow(&mut open).expect("a segment without damage") {
            seen.push((record.start, record.end));
        }
    }
    assert_eq!(seen, trace.records.iter().map(|record| (record.start, record.end)).collect::<Vec<_>>());
    assert!(reader.is_closed());
}

/// A file that another process writes to.
struct Mapped {
    bytes: Rc<RefCell<Vec<u8>>>,
    at: usize,
}

impl Read for Mapped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.bytes.borrow();
        let count = buffer.len().min(bytes.len() - self.at);
        buffer[..count].copy_from_slice(&bytes[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

impl Seek for Mapped {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Start(to) = to else { return Err(io::ErrorKind::Unsupported.into()) };
        self.at = to as usize;
        Ok(to)
    }
}

//! Files as people have them: compressed, with a byte-order mark, in other encodings, or with operations that cannot be.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use omnilink_judge::{Case, CheckOptions, Failed, Judge, Recording, Unlimited};

/// The errors about a file that a register is checked with.
fn check(bytes: &[u8]) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("history");
    std::fs::write(&path, bytes).expect("a file");
    let judge = Judge::new("register", CheckOptions::default()).expect("a specification");
    match judge.report(&mut Case {
        recording: &Recording::at(&path, None),
        label: "history",
        witness: None,
        limits: &Unlimited,
    }) {
        Ok(report) => format!("{}, {:?} operations", report.verdict.word(), report.history.operations.unwrap_or(0)),
        Err(Failed::Input(error)) => format!("{}; {}", error.message, error.help.unwrap_or_default()),
        Err(failed) => format!("{failed:?}"),
    }
}

const HISTORY: &str = "T0 [0 1] write(1)\nT0 [2 3] read() = 1\n";

#[test]
fn compressed_files_and_byte_order_marks_are_read() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(HISTORY.as_bytes()).expect("memory can be written to");
    let gzip = gzip.finish().expect("memory can be written to");
    assert_eq!(check(&gzip), "accepted, 2 operations");
    assert_eq!(
        check(&[gzip.as_slice(), &gzip].concat()),
        "line 3: T0:1 starts at 0, before the operation before it in the same process ends at 1; "
    );
    assert!(check(&gzip[..gzip.len() - 4]).starts_with("cannot be read: "), "{}", check(&gzip[..gzip.len() - 4]));
    assert_eq!(check(&[b"\xEF\xBB\xBF", HISTORY.as_bytes()].concat()), "accepted, 2 operations");
}

#[test]
fn what_is_found_instead_of_a_history_is_named() {
    let utf16: Vec<u8> = "\u{FEFF}T0".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(check(&utf16), "found text in UTF-16, expected UTF-8; convert it first: `iconv -f UTF-16 -t UTF-8`");
    assert_eq!(
        check(b"[\n  {\"process\": 0, \"action\": \"a\"}]"),
        "found a JSON array, expected one JSON object per line; `jq -c '.[]'` writes the elements of an array as lines; \
         FORMAT.md lists their keys"
    );
    let help = "; name it with `--from`, or see FORMAT.md for how to write a history";
    assert_eq!(
        check(b"{\"process\": 0}"),
        format!(
            "unrecognized format: the first line has neither the key `action` nor `type`: `{{\"process\": 0}}`{help}; \
             `omnilink init --log` begins a mapping of a log to a specification"
        )
    );
    assert_eq!(
        check(b"\n<x\x1B[31m>\ny"),
        format!("unrecognized format: the file begins with `<x\\u{{1b}}[31m>`{help}")
    );
}

#[test]
fn operations_that_cannot_be_are_named_by_their_lines() {
    insta::assert_snapshot!(
        check(b"# by hand\nT0 [5 9] write(1)\n\nT0 [1 6] write(2)\n"),
        @"line 2: T0:1 starts at 5, before the operation before it in the same process ends at 6; "
    );
    insta::assert_snapshot!(
        check(b"{\"process\": 0, \"action\": \"read\", \"start\": 5, \"end\": 4}\n"),
        @"line 1: T0:0 ends at 4, before it starts at 5; "
    );
}

/// A configuration that does not name a behavior is used with the usual names.
#[cfg(feature = "tla")]
#[test]
fn a_configuration_may_have_constants_only() {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("a file");
    write(
        "Queue.tla",
        "---- MODULE Queue ----\nEXTENDS Integers, Sequences\nCONSTANT Cap\nVARIABLE q\nInit == q = <<>>\n\
         Put(v) == Len(q) < Cap /\\ q' = Append(q, v)\nNext == \\E v \\in Nat : Put(v)\n====\n",
    );
    write("Queue.cfg", "CONSTANT Cap = 1\n");
    write("one", "T0 [1 2] Put(1)\n");
    write("two", "T0 [1 2] Put(1)\nT0 [3 4] Put(2)\n");
    let spec = directory.path().join("Queue.tla").display().to_string();
    let check = |name: &str| {
        let judge = Judge::new(&spec, CheckOptions::default()).expect("a specification");
        let recording = Recording::at(directory.path().join(name), None);
        let case = &mut Case { recording: &recording, label: name, witness: None, limits: &Unlimited };
        judge.report(case).expect("a verdict").verdict.word()
    };
    assert_eq!([check("one"), check("two")], ["accepted", "rejected"]);
}

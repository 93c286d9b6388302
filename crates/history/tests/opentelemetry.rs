//! Spans that SDKs of OpenTelemetry have written are understood.

use std::path::Path;

use omnilink_history::format::Format;
use omnilink_history::{History, Outcome};

/// The number of operations and of those with an unknown outcome; and the notes.
fn read(file: &str) -> (usize, usize, Vec<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let bytes = std::fs::read(path).expect("the file is part of the repository");
    assert_eq!(Format::detect(&bytes[..200]), Some(Format::Otlp), "{file}");
    let trace = Format::Otlp.read(&bytes).unwrap_or_else(|error| panic!("{file}: {error}"));
    let notes = trace.notes.clone();
    let history = History::new(trace).unwrap_or_else(|error| panic!("{file}: {error}"));
    let unknown = history.ops().iter().filter(|op| op.outcome() == Outcome::Unfinished).count();
    (history.ops().len(), unknown, notes)
}

#[test]
fn the_file_exporter_for_python() {
    assert_eq!(read("examples/opentelemetry/spans.jsonl"), (24, 3, vec![]));
}

#[test]
fn the_serializer_for_javascript() {
    let note = "times are multiples of 1.0 ms, so operations may have ended that much later".to_owned();
    assert_eq!(read("examples/opentelemetry/javascript.json"), (18, 3, vec![note]));
}

#[test]
fn the_json_of_protocol_buffers() {
    assert_eq!(read("fuzz/seeds/read_otlp/protobuf.json"), (2, 0, vec![]));
}

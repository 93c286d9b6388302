//! Every log of Porcupine's public test data is understood and well formed.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use omnilink_history::format::{FormatError, porcupine};
use omnilink_history::{History, Trace};

fn check(folder: &str, read: fn(&str) -> Result<Trace, FormatError>, files: usize, ops: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/porcupine").join(folder);
    let mut found = (0, 0);
    for entry in std::fs::read_dir(&folder).expect("the logs are part of the repository") {
        let path = entry.expect("the folder can be listed").path();
        let name = path.display();
        let mut text = String::new();
        let mut log = GzDecoder::new(File::open(&path).expect("the log can be read"));
        log.read_to_string(&mut text).expect("the log is compressed text");
        let trace = read(&text);
        let trace = trace.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(trace.cuts.is_empty(), "{name}");
        let history = History::new(trace).unwrap_or_else(|error| panic!("{name}: {error}"));
        found = (found.0 + 1, found.1 + history.ops().len());
    }
    assert_eq!(found, (files, ops));
}

#[test]
fn key_value_logs() {
    check("kv", porcupine::read_kv, 6, 4574);
}

#[test]
fn etcd_logs() {
    check("etcd", porcupine::read_etcd, 103, 8523);
}

//! Every log of Porcupine's public test data is understood and well formed.

use std::path::Path;

use history::format::{FormatError, porcupine};
use history::{History, Trace};

#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn check(folder: &str, read: fn(&str) -> Result<Trace, FormatError>, files: usize, ops: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/porcupine").join(folder);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("SKIPPED: there is no folder {}", folder.display());
        return;
    };
    let mut found = (0, 0);
    for entry in entries {
        let path = entry.expect("the folder can be listed").path();
        let name = path.display();
        let trace = read(&std::fs::read_to_string(&path).expect("the log is text"));
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

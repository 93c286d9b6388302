//! Traces of several clients are read as one.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use omnilink_history::History;
use omnilink_judge::{Unlimited, join};

#[test]
fn processes_with_one_name_stay_apart() {
    let directory = tempfile::tempdir().expect("a directory");
    let files = [("a.txt", "w [1 4] put(1)\nx [1 2] get() = 0\n"), ("b.txt", "w [2 3] get() = 1\n")];
    let parts = files.map(|(name, text)| {
        let path = directory.path().join(name);
        fs::write(&path, text).expect("a file");
        path
    });
    let trace = join::read(&parts, None, u64::MAX, &Unlimited, &Arc::new(AtomicU64::new(0))).expect("two traces");
    let history = History::new(trace).expect("a history");
    let shown: Vec<String> = history.ops().iter().map(|op| format!("{} {}", history.name(op.id), op.call)).collect();
    assert_eq!(shown, ["x:0 get() = 0", "a/w:0 put(1)", "b/w:0 get() = 1"]);
}

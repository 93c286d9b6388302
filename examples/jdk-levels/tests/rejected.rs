//! Recorded histories that are not linearizable, in `traces`.

use std::path::Path;

use jdk_levels::class::CLASSES;
use omnilink_history::{History, format};
use omnilink_weak::Level;

#[test]
fn recorded_histories_are_rejected() {
    let mut count = 0;
    for class in CLASSES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces").join(class.name);
        for entry in folder.read_dir().into_iter().flatten() {
            let path = entry.unwrap().path();
            let history = History::new(format::jsonl::read(&std::fs::read(&path).unwrap()).unwrap()).unwrap();
            assert!(!class.accepts(&history, &Level::linearizable()).unwrap(), "{}", path.display());
            count += 1;
        }
    }
    assert_eq!(count, 15);
}

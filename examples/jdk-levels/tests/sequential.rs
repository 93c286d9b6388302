//! The specifications agree with Java: programs of one thread, recorded now, are accepted, and rejected as soon as any
//! result is falsified. Needs `javac` and `java`, version 17 or newer.

use std::path::{Path, PathBuf};
use std::process::Command;

use jdk_levels::Class;
use jdk_levels::class::{CLASSES, method};
use omnilink_history::{Call, History, Trace, Value, format};
use omnilink_weak::Level;

const HISTORIES: usize = 60;
const OPERATIONS: usize = 40;

#[test]
fn sequential_programs_are_accepted_and_falsified_ones_rejected() {
    let directory = record();
    let (mut calls, mut falsified, mut pairs) = (0, 0, 0);
    for class in CLASSES {
        let mut methods = std::collections::BTreeSet::new();
        for number in 1..=HISTORIES {
            let path = directory.join(class.name).join(format!("{number:06}.jsonl"));
            let trace = format::jsonl::read(&std::fs::read(&path).unwrap()).unwrap();
            assert!(is_accepted(&class, trace.clone()), "{}", path.display());
            for (index, record) in trace.records.iter().enumerate() {
                calls += 1;
                methods.insert(method(&record.call));
                let [result] = record.call.results() else { continue };
                let mut other = trace.clone();
                let args = record.call.args().iter().cloned();
                other.records[index].call = Call::positional(record.call.action(), args, [falsify(result)]);
                assert!(!is_accepted(&class, other), "{}: {}", path.display(), record.call);
                falsified += 1;
            }
        }
        pairs += methods.len();
    }
    println!("{calls} calls of {pairs} methods agree, {falsified} falsified results are rejected");
    assert_eq!(calls, CLASSES.len() * HISTORIES * OPERATIONS);
}

fn is_accepted(class: &Class, trace: Trace) -> bool {
    class.accepts(&History::new(trace).unwrap(), &Level::linearizable()).unwrap()
}

/// A result of the same type that is different.
fn falsify(result: &Value) -> Value {
    match result {
        Value::Bool(bool) => Value::Bool(!bool),
        Value::Int(int) => Value::Int(int + 1),
        Value::Str(text) => Value::str(format!("{text}?")),
        Value::Tuple(elements) => Value::tuple(elements.iter().cloned().chain([Value::Int(0)])),
        _ => Value::Int(0),
    }
}

/// Records programs of one thread for each class.
fn record() -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sequential");
    let recorder = Path::new(env!("CARGO_MANIFEST_DIR")).join("recorder");
    let sources = recorder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let classes = directory.join("classes");
    run(Command::new("javac")
        .arg("-d")
        .arg(&classes)
        .args(sources.filter(|path| path.extension().is_some_and(|extension| extension == "java"))));
    let (histories, operations) = (HISTORIES.to_string(), OPERATIONS.to_string());
    let options = ["--threads", "1", "--histories", &histories, "--operations", &operations];
    run(Command::new("java").arg("-cp").arg(&classes).arg("Recorder").arg(&directory).args(options));
    directory
}

fn run(command: &mut Command) {
    let status = command.status().expect("Java 17 or newer is installed");
    assert!(status.success(), "{command:?}: {status}");
}

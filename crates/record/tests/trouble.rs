//! The effect of a recorder on its host when the disk is full, the trace is deleted, or the host forks.
//!
//! Limits and signals that would affect other tests are set in a child of the test.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

use common::read;
use omnilink_record::drive::{self, Perturbation, Plan};
use omnilink_record::{Action, ManualClock, Process, Recorder};

static PUT: Action = Action::new("put", &["value"], &["old"]);

/// The directory of the child's trace. Set in the child only.
const TRACE: &str = "OMNILINK_TEST_TRACE";

/// Runs a test again, alone in its own process, with the directory of its trace.
fn again(test: &str, directory: &Path) -> Output {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", test, "--test-threads=1", "--nocapture"]).env(TRACE, directory);
    child.output().unwrap()
}

#[test]
fn a_full_disk_is_a_panic_that_can_be_caught_and_loses_nothing() {
    const SIZES: std::ops::Range<usize> = 1..60;
    if let Some(directory) = env::var_os(TRACE) {
        // The maximum length of a file, less than two of the steps by which files grow.
        let limit = libc::rlimit { rlim_cur: 70_000, rlim_max: 70_000 };
        // SAFETY: sets the handling of a signal, and a limit of this process.
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
        }
        std::panic::set_hook(Box::new(|_| {}));
        for size in SIZES {
            let recorder =
                Recorder::with_clock(Path::new(&directory).join(size.to_string()), ManualClock::new()).unwrap();
            let value = "x".repeat(size);
            let record = || {
                let mut process = recorder.process("p").unwrap();
                loop {
                    process.call(&PUT, (value.as_str(),)).done((1,));
                }
            };
            let panicked: Result<(), _> = catch_unwind(AssertUnwindSafe(record));
            let message = *panicked.unwrap_err().downcast::<String>().unwrap();
            assert!(message.contains("cannot grow"), "{message}");
        }
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let child = again("a_full_disk_is_a_panic_that_can_be_caught_and_loses_nothing", directory.path());
    assert!(child.status.success(), "{child:?}");
    for size in SIZES {
        // The end record is there as well.
        let trace = read(&directory.path().join(size.to_string())).unwrap();
        assert!(trace.cuts.is_empty() && trace.records.len() > 500, "{size}: {:?}", trace.cuts);
    }
}

#[test]
fn a_deleted_recording_is_an_error_or_is_said() {
    const SAID: &str = "was deleted while it was written";
    if let Some(directory) = env::var_os(TRACE) {
        let recorder = Recorder::with_clock(&directory, ManualClock::new()).unwrap();
        let (mut process, other) = (recorder.process("p").unwrap(), recorder.process("q").unwrap());
        process.call(&PUT, (1,)).done((2,));
        fs::remove_dir_all(&directory).unwrap();
        drop((process, other));
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let record = |name: &str| {
        let recorder = Recorder::with_clock(directory.path().join(name), ManualClock::new()).unwrap();
        let mut process: Process = recorder.process("p").unwrap();
        process.call(&PUT, (1,)).done((2,));
        process
    };
    assert!(record("there").close().is_ok());
    let process = record("gone");
    fs::remove_dir_all(directory.path().join("gone")).unwrap();
    let error = process.close().unwrap_err().to_string();
    assert!(error.contains("gone/000.seg` was deleted"), "{error}");
    // A run under a plan returns the error to its harness.
    let plan = Plan {
        trace: directory.path().join("driven"),
        seed: 1,
        threads: 2,
        operations: 1,
        perturbation: Perturbation::default(),
        only: None,
        script: None,
    };
    let delete = |_: &(), _: &mut (), client: &mut drive::Client| {
        client.call(&PUT, (1,)).done((2,));
        let _ = fs::remove_dir_all(&plan.trace);
    };
    assert!(drive::run(&plan, &(), |_, _| (), delete).is_err());
    // If processes are dropped, it is reported once.
    let child = again("a_deleted_recording_is_an_error_or_is_said", &directory.path().join("child"));
    assert!(child.status.success(), "{child:?}");
    assert_eq!(String::from_utf8_lossy(&child.stderr).matches(SAID).count(), 1, "{child:?}");
}

#[test]
fn a_child_of_a_fork_cannot_write_over_its_parent() {
    let directory = tempfile::tempdir().unwrap();
    let recorder = Recorder::with_clock(directory.path(), ManualClock::new()).unwrap();
    let mut process = recorder.process("p").unwrap();
    process.call(&PUT, (1,)).done((2,));
    for records in [true, false] {
        // SAFETY: the child only stores to memory, or unmaps it, and ends.
        let status = unsafe {
            let child = libc::fork();
            if child == 0 {
                if records {
                    process.call(&PUT, (3,)).done((4,));
                } else {
                    drop(process);
                }
                libc::_exit(0);
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            status
        };
        let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
        assert_eq!(signal, records.then_some(libc::SIGSEGV));
    }
    process.call(&PUT, (5,)).done((6,));
    drop(process);
    let trace = read(directory.path()).unwrap();
    assert!(trace.cuts.is_empty() && trace.records.len() == 2, "{trace:?}");
}

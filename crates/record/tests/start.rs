//! A run in which a thread cannot be started ends with an error.
//!
//! The threads run out of address space: their stacks are large, and a child of the test may map just enough for some
//! threads but not for all.

#![cfg(all(target_os = "linux", target_pointer_width = "64"))]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, io, thread};

use common::read;
use omnilink_record::drive::{self, Perturbation, Plan};
use omnilink_record::Action;

static STEP: Action = Action::new("Step", &[], &[]);

/// The directory of the child's trace. Set in the child only.
const TRACE: &str = "OMNILINK_TEST_TRACE";
const THREADS: usize = 4;
const OPERATIONS: usize = 10;

/// Four segments take 8, 4, 2 and 1 GiB, the greatest powers of two that fit. The rest is less than four stacks, of
/// which the thread of the test may have one.
const GIB: u64 = 1 << 30;
const ADDRESSES: u64 = 16 * GIB - GIB / 16;
const STACK: u64 = GIB / 4;

#[test]
fn threads_that_cannot_start_are_not_waited_for() {
    if let Some(trace) = env::var_os(TRACE) {
        return run(trace.into());
    }
    let directory = tempfile::tempdir().unwrap();
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "threads_that_cannot_start_are_not_waited_for", "--test-threads=1"]);
    child.env(TRACE, directory.path()).env("RUST_MIN_STACK", STACK.to_string()).stdout(Stdio::null());
    // SAFETY: only a system call happens between fork and exec.
    let limit = || unsafe {
        let limit = libc::rlimit { rlim_cur: ADDRESSES, rlim_max: ADDRESSES };
        if libc::setrlimit(libc::RLIMIT_AS, &limit) == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    };
    // SAFETY: as above.
    unsafe { child.pre_exec(limit) };
    let mut child = child.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("the threads that were started wait for one that was not");
        }
        thread::sleep(Duration::from_millis(1));
    };
    assert!(status.success(), "{status}");
    let records = read(directory.path()).unwrap().records.len();
    assert!((1..THREADS).any(|started| records == started * OPERATIONS), "{records} operations");
}

fn run(trace: PathBuf) {
    let plan = Plan {
        trace,
        seed: 0,
        threads: THREADS,
        operations: OPERATIONS,
        perturbation: Perturbation::default(),
        only: None,
        script: None,
    };
    let result = drive::run(&plan, &(), |_, _| (), |_, _, client| client.call(&STEP, ()).done(()));
    assert_eq!(result.unwrap_err().kind(), io::ErrorKind::WouldBlock);
}

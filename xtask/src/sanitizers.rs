//! Runs the tests of crates with unsafe code under AddressSanitizer and Miri. Both need the nightly toolchain.
//!
//! AddressSanitizer checks the tests of `record` and `schedule`, the unit tests of `sched`, and the runtime inside the
//! programs of `crates/sched/tests/breaks.rs`: with `--cfg omnilink_asan`, `explore` embeds an instrumented runtime.
//! Programs then need the sanitizer's library between the runtime and the C library, which that test preloads. It does
//! not check
//!
//! - accesses of these programs themselves: they are compiled for ThreadSanitizer, and no compiler supports both;
//! - single allocations of the runtime's own heap, which come from the kernel in large areas;
//! - the runtime's `free` and `realloc`: the sanitizer calls them while it initializes, so this runtime does not export
//!   them;
//! - programs of other tests, which use the same parts of the runtime: they are built and started as users do it, which
//!   leaves no place for another library.
//!
//! Miri interprets the tests of `schedule`, those of `record` that start no processes, and those of `sched` for its heap,
//! tables, file and spin loops. Miri supports neither mapped files nor inline system calls, `fork` or threads of C. In
//! `record`, segments are plain memory under Miri, and other tests that need these features are ignored. The rest of
//! `sched` is the interface to C, or safe code that enumerates executions, which would take Miri hours.

use anyhow::Result;

use crate::workspace::Workspace;

/// The tests that run under AddressSanitizer.
const CHECKED: &str =
    "package(omnilink-record) + package(omnilink-schedule) + (package(omnilink-sched) - binary(schedules))";

/// The exceptions: tests that cannot.
const NOT_CHECKED: &[&str] = &[
    // It limits its own address space, in which the sanitizer has no room.
    "threads_that_cannot_start_are_not_waited_for",
    // The program brings an allocator, and so does the sanitizer.
    "an_allocator_may_have_locks",
    // It is started without what was to be preloaded.
    "threads_before_main_run_in_a_process_of_their_own",
    // A thread that calls `pthread_exit` leaves frames of the runtime behind that the sanitizer takes for ones in use.
    "threads_end_as_they_do_without_control",
    "a_handler_may_end_its_thread",
];

/// Leaks are not looked for, because tests forget what a process that is stopped would. Crashes are what some tests are
/// about, so they stay crashes. The runtime comes before the sanitizer's library, as before all others.
const ASAN_OPTIONS: &str = "detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:\
    handle_sigfpe=0:verify_asan_link_order=0";

/// Runs tests under AddressSanitizer.
pub(crate) fn address(workspace: &Workspace) -> Result<()> {
    let target = workspace.metadata.target_directory.join("asan");
    let not_checked: Vec<String> = NOT_CHECKED.iter().map(|name| format!("test(={name})")).collect();
    let filter = format!("({CHECKED}) - ({})", not_checked.join(" + "));
    // Naming the machine keeps the flags from build scripts and macros.
    let fixed = "+nightly nextest run --target x86_64-unknown-linux-gnu --package omnilink-record \
        --package omnilink-schedule --package omnilink-sched";
    let mut args: Vec<&str> = fixed.split_whitespace().collect();
    args.extend(["--target-dir", target.as_str(), "--filterset", &filter]);
    let variables = [("RUSTFLAGS", "-Zsanitizer=address --cfg omnilink_asan"), ("ASAN_OPTIONS", ASAN_OPTIONS)];
    workspace.cargo_args(&args, &variables)
}

/// The tests that run under Miri, by package.
const INTERPRETED: [(&str, &str); 3] = [
    ("omnilink-schedule", "--lib"),
    ("omnilink-record", "--lib --test round_trip"),
    ("omnilink-sched", "--lib -- heap:: table:: channel:: spin::"),
];

/// Runs tests under Miri.
pub(crate) fn miri(workspace: &Workspace) -> Result<()> {
    let (root, target) = (workspace.root().to_string_lossy(), workspace.metadata.target_directory.join("miri"));
    let variables = [
        // Tests have files. Leaks: see above.
        ("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-ignore-leaks"),
        // Miri starts no processes, with which snapshots would look for the workspace.
        ("INSTA_WORKSPACE_ROOT", &*root),
        ("PROPTEST_CASES", "4"),
        ("CARGO_TARGET_DIR", target.as_str()),
    ];
    for (package, tests) in INTERPRETED {
        workspace.cargo_with(&format!("+nightly miri test --package {package} {tests}"), &variables)?;
    }
    Ok(())
}

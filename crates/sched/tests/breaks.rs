//! What a runtime that controls threads may break, and that it does not: see `programs/breaks.cpp`.
//!
//! Every mode of that program runs under many schedules, and must end as expected; and several times under one
//! schedule, where every step must be the same, addresses and values included.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use omnilink_explore::strategy::{Dpor, Strategy};
use omnilink_explore::{Control, Ending, ExecutionOrder, Once, Runtime};
use omnilink_schedule::channel::{ExecutionOutcome, Policy};
use tempfile::TempDir;

/// The program and the runtime, shared by all tests.
struct Built {
    directory: TempDir,
    runtime: Runtime,
}

impl Built {
    /// The command for the program with this name.
    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.directory.path().join(name));
        if cfg!(omnilink_asan) {
            // The sanitizer's library must come before the C library, and only the runtime before it.
            let found = Command::new("g++").arg("-print-file-name=libasan.so").output().unwrap();
            command.env("LD_PRELOAD", String::from_utf8(found.stdout).unwrap().trim());
        }
        command
    }

    /// Compiles and links the program with this name.
    fn compile(&self, name: &str) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.cpp"));
        let object = self.directory.path().join(format!("{name}.o"));
        run(Command::new("g++")
            .args(["-std=c++20", "-O1", "-g", "-Wno-tsan", "-fno-builtin", "-fsanitize=thread", "-c"])
            .arg(source)
            .arg("-o")
            .arg(&object));
        run(Command::new("g++")
            .arg(object)
            .args(["-Wl,--no-as-needed"])
            .arg(self.runtime.path())
            .arg("-pthread")
            .arg("-o")
            .arg(self.directory.path().join(name)));
    }
}

static BUILT: LazyLock<Built> = LazyLock::new(|| {
    let directory = TempDir::new().unwrap();
    let runtime = Runtime::install(directory.path()).unwrap();
    let built = Built { directory, runtime };
    built.compile("breaks");
    built.compile("allocator");
    built
});

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The time limit of one execution; none takes a tenth of it.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A mode under control, and its order.
struct Mode {
    control: Control,
    name: &'static str,
}

impl Mode {
    fn new(name: &'static str) -> Mode {
        let mut command = BUILT.command("breaks");
        command.arg(name);
        Mode::of(&command, name)
    }

    fn of(command: &Command, name: &'static str) -> Mode {
        let control = Control::start(command, &BUILT.runtime.path(), BUILT.directory.path()).unwrap();
        Mode { control, name }
    }

    fn execute(&mut self, policy: Policy, seed: u64) -> (Ending, u64) {
        let order = ExecutionOrder { policy, seed, limit: 100_000, ..ExecutionOrder::default() };
        let execution = self.control.execute(&order, TIMEOUT).unwrap();
        (execution.ended, execution.digest)
    }
}

/// The number of seeds for each random policy.
const SEEDS: u64 = 15;

/// It ends like this under every schedule, and the same seed gives the same steps.
fn check_ending(name: &'static str, seeds: u64, expected: &Ending) {
    check_mode(Mode::new(name), seeds, expected);
}

fn check_mode(mut mode: Mode, seeds: u64, expected: &Ending) {
    for policy in [Policy::Random, Policy::Pct, Policy::Pos] {
        for seed in 0..seeds {
            let (ended, _) = mode.execute(policy, seed);
            assert_eq!(&ended, expected, "{} with seed {seed} of {policy:?}", mode.name);
        }
    }
    let (_, first) = mode.execute(Policy::Random, 3);
    for _ in 0..4 {
        assert_eq!(mode.execute(Policy::Random, 3).1, first, "{} varies between runs", mode.name);
    }
}

fn check(name: &'static str) {
    check_ending(name, SEEDS, &Ending::Finished);
}

/// Modes in which a thread waits in real time, a tenth of a second at a time.
fn check_slow(name: &'static str) {
    check_ending(name, 1, &Ending::Finished);
}

#[test]
fn threads_end_as_they_do_without_control() {
    ["pthread-exit", "tls-destructors", "key-destructors", "detached", "exit-live", "try-join", "main-exits"]
        .into_iter()
        .for_each(check);
}

#[test]
fn attributes_of_threads_are_only_read() {
    check("attributes");
}

#[test]
fn a_handler_may_end_its_thread() {
    check("signal-exits");
}

#[test]
fn locks_exclude() {
    ["mutex", "recursive", "pi-mutex", "pi-futex", "spin-lock", "rwlock", "c11"].into_iter().for_each(check);
}

#[test]
fn threads_synchronize() {
    ["static-init", "once", "futex", "semaphore", "barrier", "condvar", "cpp20"].into_iter().for_each(check);
}

#[test]
fn time_passes() {
    ["condvar-clock", "timed", "sleep-order", "clock"].into_iter().for_each(check);
}

#[test]
fn random_numbers_come_from_the_seed() {
    check("random");
    let mut mode = Mode::new("random");
    assert_ne!(mode.execute(Policy::Random, 1).1, mode.execute(Policy::Random, 2).1);
}

#[test]
fn signals_come_between_steps() {
    ["signal", "signal-interrupts", "signal-recorder", "errno"].into_iter().for_each(check);
    check_slow("signal-wait");
}

#[test]
fn a_signal_from_outside_is_noted() {
    let mut mode = Mode::new("signal-outside");
    for seed in 0..5 {
        assert_eq!(mode.execute(Policy::Random, seed).0, Ending::Finished);
        assert_ne!(mode.control.outcome().flags & ExecutionOutcome::SIGNALLED, 0);
    }
}

#[test]
fn pipes_and_sockets_are_waited_for() {
    ["socket", "full-pipe"].into_iter().for_each(check);
    ["poll", "epoll"].into_iter().for_each(check_slow);
}

#[test]
fn the_order_in_a_pipe_is_explored() {
    let mut mode = Mode::new("pipe-order");
    let mut dpor = Dpor::new(ExecutionOrder::default());
    let mut endings = Vec::new();
    while let Some(order) = dpor.next() {
        let execution = mode.control.execute(&order, TIMEOUT).unwrap();
        dpor.learn(&execution);
        endings.push(execution.ended);
        assert!(endings.len() < 100);
    }
    assert!(endings.contains(&Ending::Finished), "{endings:?}");
    assert!(endings.iter().any(|ended| matches!(ended, Ending::Crashed { .. })), "{endings:?}");
}

#[test]
fn children_go_on_without_control() {
    check("fork");
}

#[test]
fn endless_executions_are_detected() {
    check_ending("livelock", 3, &Ending::Livelock);
    check_ending("deadlock", 3, &Ending::Deadlock);
}

#[test]
fn threads_before_main_run_in_a_process_of_their_own() {
    let mut command = BUILT.command("breaks");
    command.arg("early-thread").env("BREAKS_EARLY", "1");
    let (runtime, scratch) = (BUILT.runtime.path(), BUILT.directory.path());
    for seed in 0..5 {
        let once = Once::new(&ExecutionOrder { seed, ..ExecutionOrder::default() }, None, &runtime, scratch).unwrap();
        let (execution, outcome) = once.run(&command, TIMEOUT).unwrap();
        assert_eq!(execution.ended, Ending::Finished);
        assert_ne!(outcome.flags & ExecutionOutcome::EARLY_THREADS, 0);
    }
    let mut control = Control::start(&command, &runtime, scratch).unwrap();
    let error = control.execute(&ExecutionOrder::default(), TIMEOUT).unwrap_err().to_string();
    assert!(error.contains("threads were created before `main`"), "{error}");
}

#[test]
fn the_kernel_knows_threads_by_their_numbers() {
    check("numbers");
}

#[test]
fn an_alarm_may_end_a_wait() {
    let mut mode = Mode::new("alarm");
    for seed in 0..5 {
        assert_eq!(mode.execute(Policy::Random, seed).0, Ending::Finished);
    }
}

#[test]
fn a_program_that_ignores_its_children_has_executions() {
    let mut command = BUILT.command("breaks");
    command.arg("ignored-children").env("BREAKS_IGNORES", "1");
    check_mode(Mode::of(&command, "ignored-children"), 3, &Ending::Finished);
}

#[test]
fn an_allocator_may_have_locks() {
    let command = BUILT.command("allocator");
    check_mode(Mode::of(&command, "allocator"), 5, &Ending::Finished);
}

#[test]
fn a_broken_heap_is_a_crash() {
    let (ended, _) = Mode::new("broken-heap").execute(Policy::Random, 1);
    assert!(matches!(&ended, Ending::Crashed { .. }), "{ended:?}");
}

#[test]
fn unsupported_programs_are_rejected() {
    check_refusal("cancel", "the program cancels a thread");
    check_refusal("unseen-thread", "a thread not created by `pthread_create` uses a lock or futex");
    check_refusal("timer-thread", "a timer that creates threads");
}

/// It ends with this message.
fn check_refusal(name: &'static str, expected: &str) {
    let said = match Mode::new(name).control.execute(&ExecutionOrder::default(), TIMEOUT) {
        Ok(execution) => format!("{:?}", execution.ended),
        Err(error) => error.to_string(),
    };
    assert!(said.contains(expected), "{said}");
}

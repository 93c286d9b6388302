//! Real compilers, the real runtime, and the driver: programs are built as users build them, audited, and controlled.
//!
//! If a compiler is missing, its part is skipped with a message; if the variable `CI` is set, it fails instead.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use omnilink_explore::audit::{Audit, LibraryKind, symbolize};
use omnilink_explore::instrument::cargo::{self, Said, StandardLibrary, Toolchain};
use omnilink_explore::instrument::cxx::{Compiler, Family};
use omnilink_explore::instrument::hooks::Hooks;
use omnilink_explore::{Control, Ending, Execution, ExecutionOrder, Once, Runtime};
use omnilink_schedule::Kind;
use omnilink_schedule::channel::Policy;

const LONG: Duration = Duration::from_secs(20);

/// Two threads with one load and one store each: one update can be lost.
const LOST_UPDATE: &str = r#"
    #include <atomic>
    #include <cstdio>
    #include <cstdlib>
    #include <thread>
    std::atomic<int> counter{0};
    void add() {
        int seen = counter.load();
        counter.store(seen + 1);
    }
    int main() {
        std::thread first(add), second(add);
        first.join();
        second.join();
        if (counter != 2) { std::puts("an update is lost"); std::fflush(stdout); std::abort(); }
    }"#;

/// Two threads that take two locks in different orders.
const TWO_LOCKS: &str = r#"
    #include <mutex>
    #include <thread>
    std::mutex a, b;
    int main() {
        std::thread other([] { std::lock_guard first(a); std::lock_guard second(b); });
        { std::lock_guard first(b); std::lock_guard second(a); }
        other.join();
    }"#;

#[allow(clippy::print_stderr, reason = "a skipped test must be visible")]
fn is_there(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok();
    // On CI, a missing compiler is a failure.
    assert!(is_there || std::env::var_os("CI").is_none(), "`{program}` not found");
    if !is_there {
        eprintln!("skipped: `{program}` not found");
    }
    is_there
}

fn run(command: &[OsString]) {
    let output = Command::new(&command[0]).args(&command[1..]).output().expect("the compiler runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Compiles and links with one command, as typed by a user.
fn build(compiler: &str, source: &str, directory: &Path) -> (PathBuf, Runtime) {
    let (file, program) = (directory.join("program.cpp"), directory.join(format!("program-{compiler}")));
    fs::write(&file, source).expect("a source file");
    let runtime = Runtime::install(directory).expect("the runtime is installed");
    let words = [OsString::from(compiler)];
    let compiler = Compiler { words: &words, family: Family::of(Path::new(compiler)) };
    let options = ["-std=c++17", "-O2", "-pthread", "-o"].map(OsString::from).into_iter();
    let arguments: Vec<OsString> = options.chain([program.clone().into(), file.into()]).collect();
    for command in compiler.commands(&arguments, &runtime, directory).expect("nothing is linked statically") {
        run(&command);
    }
    (program, runtime)
}

#[test]
fn programs_of_both_compilers_are_instrumented_and_find_the_runtime_first() {
    for compiler in ["g++", "clang++"].into_iter().filter(|compiler| is_there(compiler)) {
        let directory = tempfile::tempdir().unwrap();
        let (program, _) = build(compiler, LOST_UPDATE, directory.path());
        let audit = Audit::of(&program).unwrap();
        assert!(audit.is_instrumented && audit.is_runtime_first && audit.is_complete(), "{compiler}: {audit:?}");
        assert_eq!(audit.libraries[0].kind, LibraryKind::Runtime);
        // Without a driver it is an ordinary program, which may lose an update.
        let output = Command::new(&program).output().unwrap();
        let is_lost = String::from_utf8_lossy(&output.stdout).contains("an update is lost");
        assert!(output.status.success() || is_lost, "{output:?}");
    }
}

#[test]
fn uninstrumented_code_is_found() {
    if !is_there("g++") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (file, program) = (directory.path().join("plain.cpp"), directory.path().join("plain"));
    let source = r#"
        #include <atomic>
        #include <threads.h>
        std::atomic<int> counter;
        void add() { counter++; }
        int main() { mtx_t lock; mtx_init(&lock, mtx_plain); add(); return pthread_mutex_consistent(nullptr) == 7; }"#;
    fs::write(&file, format!("#include <pthread.h>\n{source}")).unwrap();
    run(&["g++".into(), "-fno-inline".into(), file.into(), "-o".into(), program.clone().into()]);
    let audit = Audit::of(&program).unwrap();
    assert!(!audit.is_instrumented && !audit.is_runtime_first && !audit.is_complete());
    assert!(audit.unseen_functions.iter().any(|name| name.contains("operator++")), "{:?}", audit.unseen_functions);
    assert!(audit.unseen_calls.contains(&"pthread_mutex_consistent".to_owned()), "{:?}", audit.unseen_calls);
}

/// Runs seeds from 0 until an execution fails.
fn first_failure(control: &mut Control, policy: Policy) -> (ExecutionOrder, Execution) {
    for seed in 0..1000 {
        let order = ExecutionOrder { policy, seed, ..ExecutionOrder::default() };
        let execution = control.execute(&order, LONG).expect("the program is controlled");
        if execution.ended != Ending::Finished {
            return (order, execution);
        }
    }
    panic!("nothing was found");
}

#[test]
fn a_lost_update_is_found_and_found_again() {
    if !is_there("g++") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (program, runtime) = build("g++", LOST_UPDATE, directory.path());
    let mut control = Control::start(&Command::new(&program), &runtime.path(), directory.path()).unwrap();
    let (order, failure) = first_failure(&mut control, Policy::Random);
    let crashed = Ending::Crashed { how: "killed by SIGABRT".into(), said: "an update is lost".into() };
    assert_eq!(failure.ended, crashed);
    // The same seed, and the decisions without it, in this process and in a fresh one.
    assert_eq!(control.execute(&order, LONG).unwrap(), failure);
    let follow = ExecutionOrder {
        follow: failure.decisions.clone(),
        strict: true,
        policy: Policy::Steady,
        ..ExecutionOrder::default()
    };
    assert_eq!(control.execute(&follow, LONG).unwrap(), failure);
    let once = Once::new(&follow, None, &runtime.path(), directory.path()).unwrap();
    let (again, outcome) = once.run(&Command::new(&program), LONG).unwrap();
    assert_eq!((&again.ended, &again.decisions), (&failure.ended, &failure.decisions));
    assert_eq!(outcome.base, control.outcome().base);
    let store = failure.steps.iter().find(|step| step.kind() == Some(Kind::Store)).unwrap();
    let named = symbolize(&program, outcome.base, &[store.place]);
    assert!(named[0].ends_with("program.cpp:9"), "{named:?}");
}

#[test]
fn locks_taken_in_different_orders_end_in_a_deadlock() {
    if !is_there("g++") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (program, runtime) = build("g++", TWO_LOCKS, directory.path());
    let mut control = Control::start(&Command::new(&program), &runtime.path(), directory.path()).unwrap();
    let (_, failure) = first_failure(&mut control, Policy::Random);
    assert_eq!(failure.ended, Ending::Deadlock);
    let waits = failure.pending.iter().filter(|pending| pending.step.kind() == Some(Kind::Lock)).count();
    assert_eq!(waits, 2, "{:?}", failure.pending);
}

#[test]
fn a_cargo_package_is_instrumented() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("src");
    fs::create_dir(&source).unwrap();
    let manifest = "[package]\nname = \"tiny\"\nedition = \"2021\"\n[workspace]\n";
    fs::write(directory.path().join("Cargo.toml"), manifest).unwrap();
    let main = "use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        fn add() { let seen = COUNTER.load(SeqCst); COUNTER.store(seen + 1, SeqCst); }
        fn main() {
            std::thread::scope(|scope| { scope.spawn(add); scope.spawn(add); });
            assert_eq!(COUNTER.load(SeqCst), 2, \"an update is lost\");
        }";
    fs::write(source.join("main.rs"), main).unwrap();
    let runtime = Runtime::install(directory.path()).unwrap();
    let target = directory.path().join("target").join(cargo::DIRECTORY);
    let mut command = Command::new(env!("CARGO"));
    command.args(cargo::arguments(&["build", "--offline"].map(OsString::from), &target)).current_dir(&directory);
    let toolchain = Toolchain::of("rustc".as_ref(), directory.path()).expect("rustc is installed");
    let hooks = Hooks::install(&runtime, &toolchain);
    assert!(hooks.is_some(), "cc is installed");
    let output = command
        .envs(cargo::environment(&runtime, &Said::default(), None, &StandardLibrary::Precompiled(hooks)))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let program = target.join(cargo::TARGET).join("debug/tiny");
    let audit = Audit::of(&program).unwrap();
    assert!(audit.is_instrumented && audit.is_runtime_first, "{audit:?}");
    // Parts of the standard library are precompiled.
    assert!(!audit.is_complete());
    let mut control = Control::start(&Command::new(&program), &runtime.path(), directory.path()).unwrap();
    let (order, failure) = first_failure(&mut control, Policy::Random);
    let Ending::Crashed { said, .. } = &failure.ended else { panic!("{:?}", failure.ended) };
    assert!(said.contains("an update is lost"), "{said}");
    assert_eq!(control.execute(&order, LONG).unwrap().digest, failure.digest);
}

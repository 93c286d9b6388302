//! `cargo omnilink test` and `run` on crates that do not know OmniLink: verdicts, selection of tests, and kept runs.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

mod tool;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARY: &str = r#"
#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering::{Relaxed, SeqCst}};
    use std::thread;

    #[test]
    fn adds() {
        let count = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| count.fetch_add(1, SeqCst));
            scope.spawn(|| count.fetch_add(1, SeqCst));
        });
        println!("counted {}", count.load(SeqCst));
        assert_eq!(count.load(SeqCst), 2);
    }

    #[test]
    fn alone() {
        assert_eq!(std::env::var("CARGO_PKG_NAME").as_deref(), Ok("tiny"));
    }

    #[test]
    #[should_panic]
    fn does_not_panic() {}

    #[test]
    fn locks_in_two_orders() {
        let (a, b) = (Mutex::new(0), Mutex::new(0));
        thread::scope(|scope| {
            scope.spawn(|| drop((a.lock().unwrap(), b.lock().unwrap())));
            scope.spawn(|| drop((b.lock().unwrap(), a.lock().unwrap())));
        });
    }

    #[test]
    fn loses_an_update() {
        let count = AtomicU32::new(0);
        let add = || count.store(count.load(SeqCst) + 1, SeqCst);
        thread::scope(|scope| {
            scope.spawn(add);
            scope.spawn(add);
        });
        assert_eq!(count.load(SeqCst), 2);
    }

    #[test]
    #[should_panic(expected = "as it should")]
    fn panics() {
        panic!("as it should");
    }

    #[test]
    #[ignore]
    fn publishes_too_early() {
        let (data, ready) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                data.store(1, Relaxed);
                ready.store(1, Relaxed);
            });
            if ready.load(Relaxed) == 1 {
                assert_eq!(data.load(Relaxed), 1);
            }
        });
    }
}
"#;

/// A package below the directory of the test.
fn package(directory: &Path, name: &str, files: &[(&str, &str)]) -> PathBuf {
    let package = directory.join(name);
    for (file, text) in files {
        let path = package.join(file);
        fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("a directory for a test");
        fs::write(path, text).expect("a file for a test");
    }
    package
}

fn manifest(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{rest}")
}

/// Calls `cargo omnilink`, and returns what it printed and its exit code.
fn cargo(directory: &Path, arguments: &str) -> (String, i32) {
    cargo_with(directory, arguments, &[])
}

/// The same with these variables.
fn cargo_with(directory: &Path, arguments: &str, variables: &[(&str, String)]) -> (String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-omnilink"));
    command.arg("omnilink").args(arguments.split_whitespace()).current_dir(directory);
    for variable in ["CARGO_TARGET_DIR", "RUST_BACKTRACE", "OMNILINK_RUNS", "OMNILINK_SEED"] {
        command.env_remove(variable);
    }
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    let output = command.env("CARGO_NET_OFFLINE", "true").output().expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout) + &text(&output.stderr), output.status.code().unwrap_or(-1))
}

/// The lines that begin like one of these, without times and seeds, which other versions of Rust change.
fn lines(text: &str, starts: &[&str]) -> String {
    let wanted = |line: &&str| starts.iter().any(|start| line.starts_with(start));
    let stable = |line: &str| {
        let line = line.split("; finished").next().unwrap_or_default();
        match line.split_once(", seed ") {
            Some((line, _)) => format!("{line}, seed …)"),
            None => line.to_owned(),
        }
    };
    text.lines().filter(wanted).map(stable).collect::<Vec<_>>().join("\n")
}

fn run(directory: &Path, arguments: &str) -> tool::Ran {
    tool::run(directory, &arguments.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn each_test_has_a_verdict_and_failures_are_kept() {
    let directory = tool::directory("cargo-test");
    let manifest = manifest("tiny", "[workspace]\n");
    let tiny = package(&directory, "tiny", &[("Cargo.toml", &manifest), ("src/lib.rs", LIBRARY)]);
    let (said, code) = cargo(&tiny, "test --lib --runs 1000");
    assert_eq!(code, 5, "{said}");
    insta::assert_snapshot!(lines(&said, &["test ", "running"]), @"
    running 7 tests under control: 1000 schedules each (mix, seeds from 1)
    test tests::adds ... ok (1000 schedules)
    test tests::alone ... ok (starts no thread)
    test tests::does_not_panic ... FAILED (did not panic, seed …)
    test tests::locks_in_two_orders ... FAILED (deadlock, seed …)
    test tests::loses_an_update ... FAILED (panicked, seed …)
    test tests::panics ... ok (starts no thread)
    test tests::publishes_too_early ... ignored
    test result: FAILED. 3 passed; 3 failed; 1 ignored
    ");
    let failed = said.rsplit("failures:").next().expect("a list of failures");
    let names: Vec<&str> = failed.lines().filter_map(|line| line.trim().strip_prefix("tests::")).collect();
    assert_eq!(names.len(), 3, "{said}");
    for name in ["locks_in_two_orders", "loses_an_update"] {
        let named = names.iter().find_map(|line| line.strip_prefix(name)).expect("it is in the list");
        let id = named.trim_matches([' ', '(', ')']);
        let replayed = run(&tiny, &format!("replay {id} --times 2"));
        assert_eq!((replayed.code, &*replayed.stderr), (5, ""), "{}", replayed.stdout);
        assert!(replayed.stdout.contains("replayed 2 times: "), "{}", replayed.stdout);
        let shrunk = run(&tiny, &format!("shrink {id}"));
        assert!(shrunk.code == 5 && shrunk.stdout.contains("kept as "), "{}{}", shrunk.stdout, shrunk.stderr);
        assert_eq!(run(&tiny, "replay").code, 5);
    }
    if Command::new("gdb").arg("--version").output().is_ok() {
        let debugged = run(&tiny, "debug -- -ex bt -batch").stdout;
        assert!(debugged.contains("omnilink_sched_breakpoint"), "{debugged}");
    }
    let listed = run(&tiny, "runs list").stdout;
    assert!(listed.contains("stuck         tests::locks_in_two_orders, seed "), "{listed}");
    let today = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
    assert!(listed.lines().all(|line| line.contains(&today[..8])), "{today}: {listed}");
    let shown = run(&tiny, "runs show latest");
    assert_eq!(shown.code, 5, "{}", shown.stderr);
    let report = run(&tiny, "report latest -o x.html");
    assert!(report.code == 2 && report.stderr.contains("a run of a test, which has no history"), "{}", report.stderr);
}

/// Updates that are lost, and accesses that nothing orders.
const WRONG: &str = r#"
use mine::{Slot, Cell};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::thread;

macro_rules! loses_an_update {
    ($($name:ident: $atomic:ty),*) => { $(
        #[test]
        fn $name() {
            let count = <$atomic>::new(0);
            let add = || count.store(count.load(SeqCst) + 1, SeqCst);
            thread::scope(|scope| { scope.spawn(add); scope.spawn(add); });
            assert_eq!(count.load(SeqCst), 2);
            omnilink::check();
        }
    )* };
}
loses_an_update!(i64s: AtomicI64, u64s: AtomicU64, u32s: AtomicU32, usizes: AtomicUsize);

#[test]
fn publishes_too_early() {
    let slot = Slot::default();
    thread::scope(|scope| { scope.spawn(|| slot.publish_early(7)); slot.take(); });
}

#[test]
fn publishes_relaxed() {
    let slot = Slot::default();
    thread::scope(|scope| { scope.spawn(|| slot.publish_relaxed(7)); slot.take(); });
}

#[test]
fn two_adders() {
    let cell = Cell::default();
    thread::scope(|scope| {
        scope.spawn(|| cell.set(cell.get() + 1));
        scope.spawn(|| cell.set(cell.get() + 1));
    });
}

#[test]
fn two_locks() {
    let (cell, a, b) = (Cell::default(), Mutex::new(()), Mutex::new(()));
    thread::scope(|scope| {
        scope.spawn(|| { let _held = a.lock(); cell.set(cell.get() + 1); });
        let _held = b.lock();
        cell.set(cell.get() + 1);
    });
}
"#;

/// Accesses that the standard library orders.
const RIGHT: &str = r#"
use mine::{Slot, Cell};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, OnceLock, RwLock, mpsc};
use std::thread;

#[test]
fn publishes() {
    let slot = Slot::default();
    thread::scope(|scope| { scope.spawn(|| slot.publish(7)); slot.take(); });
    assert_eq!(slot.take(), Some(7));
}

#[test]
fn locks() {
    let (cell, mutex) = (Cell::default(), Mutex::new(()));
    let add = || { let _held = mutex.lock(); cell.set(cell.get() + 1); };
    thread::scope(|scope| { for _ in 0..3 { scope.spawn(add); } });
    assert_eq!(cell.get(), 3);
}

#[test]
fn shares_a_lock() {
    let (cell, lock) = (Cell::default(), RwLock::new(()));
    thread::scope(|scope| {
        scope.spawn(|| { let _held = lock.write(); cell.set(1); });
        for _ in 0..2 { scope.spawn(|| { let _held = lock.read(); cell.get() }); }
    });
}

#[test]
fn waits_for_a_condition() {
    let (cell, mutex, condvar) = (Cell::default(), Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| { cell.set(3); *mutex.lock().unwrap() = true; condvar.notify_one(); });
        let held = condvar.wait_while(mutex.lock().unwrap(), |ready| !*ready);
        drop(held);
        assert_eq!(cell.get(), 3);
    });
}

#[test]
fn parks() {
    let cell = Arc::new(Cell::default());
    let (other, me) = (cell.clone(), thread::current());
    let started = thread::spawn(move || { other.set(4); me.unpark(); });
    thread::park();
    assert_eq!(cell.get(), 4);
    started.join().unwrap();
}

#[test]
fn meets_at_a_barrier() {
    let (cell, barrier) = (Cell::default(), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| { cell.set(5); barrier.wait(); });
        barrier.wait();
        assert_eq!(cell.get(), 5);
    });
}

#[test]
fn initializes_once() {
    static ONCE: OnceLock<Box<u64>> = OnceLock::new();
    static LAZY: LazyLock<Vec<u64>> = LazyLock::new(|| vec![1, 2]);
    let get = || (**ONCE.get_or_init(|| Box::new(6)), LAZY.len());
    thread::scope(|scope| { for _ in 0..2 { scope.spawn(get); } });
    assert_eq!(get(), (6, 2));
}

#[test]
fn sends() {
    for bound in [None, Some(0), Some(1)] {
        let cell = Arc::new(Cell::default());
        let other = cell.clone();
        let (send, receiver) = match bound {
            None => { let (sender, receiver) = mpsc::channel(); (Box::new(move || sender.send(1).unwrap()) as Box<dyn Fn() + Send>, receiver) }
            Some(bound) => { let (sender, receiver) = mpsc::sync_channel(bound); (Box::new(move || sender.send(1).unwrap()) as Box<dyn Fn() + Send>, receiver) }
        };
        let started = thread::spawn(move || { other.set(7); send(); });
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(cell.get(), 7);
        started.join().unwrap();
    }
}
"#;

/// Values that tests read and write without a lock.
const CELLS: &str = r#"
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::{Acquire, Relaxed, Release}};

#[derive(Default)]
pub struct Cell(UnsafeCell<u64>);
unsafe impl Sync for Cell {}
unsafe impl Send for Cell {}

impl Cell {
    pub fn set(&self, value: u64) { unsafe { *self.0.get() = value } }
    pub fn get(&self) -> u64 { unsafe { *self.0.get() } }
}

#[derive(Default)]
pub struct Slot { full: AtomicBool, value: Cell }

impl Slot {
    pub fn publish(&self, value: u64) { self.value.set(value); self.full.store(true, Release); }
    pub fn publish_relaxed(&self, value: u64) { self.value.set(value); self.full.store(true, Relaxed); }
    pub fn publish_early(&self, value: u64) { self.full.store(true, Release); self.value.set(value); }
    pub fn take(&self) -> Option<u64> { self.full.load(Acquire).then(|| self.value.get()) }
}
"#;

/// A package that is left uninstrumented because of its name, and that uses atomics of the same types.
const UNINSTRUMENTED: &str = r#"
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst};

macro_rules! uses {
    ($($atomic:ty),*) => {
        pub fn check() { $( let count = <$atomic>::new(0); count.store(count.load(SeqCst) + 1, SeqCst); )* }
    };
}
uses!(AtomicI64, AtomicU64, AtomicU32, AtomicUsize);
"#;

/// Tests of a package with these cells, which depends on a package that is not instrumented: the lines with verdicts, and
/// the exit code.
fn verdicts_on_cells(name: &str, tests: &str, variables: &[(&str, String)]) -> (String, i32) {
    let directory = tool::directory(name);
    package(&directory, "omnilink", &[("Cargo.toml", &manifest("omnilink", "")), ("src/lib.rs", UNINSTRUMENTED)]);
    let manifest = manifest("mine", "[workspace]\n[dependencies]\nomnilink = { path = \"../omnilink\" }\n");
    let files = [("Cargo.toml", &*manifest), ("src/lib.rs", CELLS), ("tests/cells.rs", tests)];
    let mine = package(&directory, "mine", &files);
    let (said, code) = cargo_with(&mine, "test --test cells", variables);
    if !variables.is_empty() {
        // All schedules of one test can be explored, because nothing is uninstrumented.
        let (explored, _) = cargo_with(&mine, "test --test cells --schedule dpor --time 2s -- publishes", variables);
        assert!(!explored.contains("uninstrumented code") && explored.contains("(dpor, seed 1)"), "{explored}");
    }
    (lines(&said, &["test ", "data races"]), code)
}

#[test]
fn lost_updates_and_data_races_are_found() {
    wrong_cells_fail("cargo-test-wrong", &[]);
}

#[test]
fn the_standard_library_orders_accesses() {
    right_cells_pass("cargo-test-right", &[]);
}

#[test]
#[ignore = "needs a toolchain with the sources of the standard library, in the directory OMNILINK_RUST_WITH_SOURCES"]
fn programs_with_sources_of_the_standard_library_are_instrumented_completely() {
    let directory = std::env::var("OMNILINK_RUST_WITH_SOURCES").expect("the directory of `cargo` and `rustc`");
    let path = format!("{directory}:{}", std::env::var("PATH").unwrap_or_default());
    let program = |name: &str| format!("{directory}/{name}");
    let variables = [("CARGO", program("cargo")), ("RUSTC", program("rustc")), ("PATH", path)];
    wrong_cells_fail("cargo-test-wrong-with-sources", &variables);
    right_cells_pass("cargo-test-right-with-sources", &variables);
}

fn wrong_cells_fail(name: &str, variables: &[(&str, String)]) {
    let (said, code) = verdicts_on_cells(name, WRONG, variables);
    // A panic is worse than a race.
    assert_eq!(code, 5, "{said}");
    insta::assert_snapshot!(said, @"
    test i64s ... FAILED (panicked, seed …)
    test publishes_relaxed ... FAILED (data race, seed …)
    test publishes_too_early ... FAILED (data race, seed …)
    test two_adders ... FAILED (data race, seed …)
    test two_locks ... FAILED (data race, seed …)
    test u32s ... FAILED (panicked, seed …)
    test u64s ... FAILED (panicked, seed …)
    test usizes ... FAILED (panicked, seed …)
    test result: FAILED. 0 passed; 8 failed; 0 ignored
    ");
}

fn right_cells_pass(name: &str, variables: &[(&str, String)]) {
    let (said, code) = verdicts_on_cells(name, RIGHT, variables);
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("test result: ok. 8 passed; 0 failed; 0 ignored") && !said.contains("not looked for"),
        "{said}"
    );
}

#[test]
fn tests_are_selected_as_by_the_test_harness() {
    let directory = tool::directory("cargo-test-select");
    let manifest = manifest("tiny", "[workspace]\n");
    let tiny = package(&directory, "tiny", &[("Cargo.toml", &manifest), ("src/lib.rs", LIBRARY)]);
    let check = |arguments: &str| {
        let (said, code) = cargo(&tiny, &format!("test --lib {arguments}"));
        format!("{}\nexit {code}", lines(&said, &["test ", "    | counted", "error"]))
    };
    insta::assert_snapshot!(check("--runs 3 a -- --skip panic --skip update --nocapture"), @"
    test tests::adds ... ok (3 schedules)
        | counted 2
    test tests::alone ... ok (starts no thread)
    test tests::publishes_too_early ... ignored
    test result: ok. 2 passed; 0 failed; 1 ignored
    exit 0
    ");
    let (said, _) = cargo(&tiny, "test --lib -- --exact tests::alone");
    assert!(said.contains("running 1 test under control: 1000 schedules each or 20s (mix, seeds from 1)"), "{said}");
    insta::assert_snapshot!(check("--runs 100 -- --exact tests::adds"), @"
    test tests::adds ... ok (100 schedules)
    test result: ok. 1 passed; 0 failed; 0 ignored
    exit 0
    ");
    // Only weak memory shows it, which `mix` has in turns.
    insta::assert_snapshot!(check("--runs 100 --schedule pos -- --ignored"), @"
    test tests::publishes_too_early ... ok (100 schedules)
    test result: ok. 1 passed; 0 failed; 0 ignored
    exit 0
    ");
    for options in ["--seed 1", "--weak-memory --schedule pos --seed 1"] {
        let found = check(&format!("{options} -- --include-ignored early"));
        assert!(found.starts_with("test tests::publishes_too_early ... FAILED (panicked, seed …)\n"), "{found}");
    }
    let (explored, code) = cargo(&tiny, "test --lib --schedule dpor --bound 1 adds");
    let claim = "\n  all schedules with at most 1 preemption were explored, counting only observed steps (unobserved: ";
    assert!(code == 0 && explored.contains(claim), "{explored}");
    // The standard library is not instrumented, and the runtime knows of calls into it.
    assert!(!explored.contains("data races are not looked for"), "{explored}");
    assert!(explored.contains("using `dfs` with at most 1 preemption, because `dpor` would be"), "{explored}");
    let used = "under control: all schedules with at most 1 preemption (dfs, seed 1)\n";
    assert!(explored.contains(used), "{explored}");
    insta::assert_snapshot!(check("-- --no-such-option"), @"
    error: omnilink build: Unrecognized option: 'no-such-option'
    error: test failed, to rerun pass `--lib`
    exit 2
    ");
    insta::assert_snapshot!(check("--runs 100 --max-steps 30 adds"), @"
    test tests::adds ... inconclusive (100 of 100 schedules took more than 30 steps)
    test result: inconclusive. 0 passed; 0 failed; 1 inconclusive; 0 ignored
    error: test failed, to rerun pass `--lib`
    exit 3
    ");
    insta::assert_snapshot!(check("--schedule quick"), @"
    error: invalid value 'quick' for '--schedule <HOW>'
    exit 2
    ");
}

#[test]
fn packages_of_a_workspace_keep_runs_in_one_place() {
    let directory = tool::directory("cargo-test-workspace");
    let main = "use std::sync::Mutex;\nfn main() {\n    let a = Mutex::new(());\n    let _one = a.lock();\n    \
                if std::env::args().count() > 1 { let _two = a.lock(); }\n}\n";
    let test = "#[test]\nfn reads() {\n    assert!(std::fs::read_to_string(\"Cargo.toml\").unwrap().contains(\"one\"));\n    \
                let lock = std::sync::Mutex::new(());\n    let _one = lock.lock();\n    let _two = lock.lock();\n}\n";
    let files = [("Cargo.toml", &*manifest("one", "")), ("src/main.rs", main), ("tests/reads.rs", test)];
    package(&directory, "one", &files);
    fs::write(directory.join("Cargo.toml"), "[workspace]\nmembers = [\"one\"]\nresolver = \"2\"\n").unwrap();
    let (said, code) = cargo(&directory.join("one"), "test --test reads");
    assert!(code == 5 && said.contains("test reads ... FAILED (deadlock, seed 1)"), "{said}");
    // From the root of the workspace, where the target directory is, and from where the test was run.
    assert_eq!(run(&directory, "replay").code, 5);
    let command = said.lines().find_map(|line| line.trim().strip_prefix("replay       omnilink ")).expect("a command");
    assert_eq!(run(&directory.join("one"), command).code, 5, "{command}");
    // A program that has no tests.
    let (said, code) = cargo(&directory, "run --runs 5");
    assert!(code == 0 && said.contains("/one: ok (starts no thread)"), "{said}");
    let (said, code) = cargo(&directory, "run --runs 5 -- twice");
    assert!(code == 5 && said.contains("/one: FAILED (deadlock, seed 1)"), "{said}");
    assert_eq!(run(&directory, "replay").code, 5);
}

/// Tasks on two workers, timers, and a task that nothing wakes.
const TASKS: &str = r#"
#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use std::time::{Duration, Instant};
    use tokio::runtime::{Builder, Runtime};

    fn workers() -> Runtime {
        Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap()
    }

    #[test]
    fn both_updates_count() {
        workers().block_on(async {
            let count = Arc::new(AtomicU32::new(0));
            let add = |count: Arc<AtomicU32>| async move { count.store(count.load(SeqCst) + 1, SeqCst) };
            let tasks = [tokio::spawn(add(count.clone())), tokio::spawn(add(count.clone()))];
            for task in tasks {
                task.await.unwrap();
            }
            assert_eq!(count.load(SeqCst), 2);
        });
    }

    #[test]
    fn sleeps_an_hour() {
        let started = Instant::now();
        workers().block_on(async {
            let other = tokio::spawn(tokio::time::sleep(Duration::from_secs(1800)));
            tokio::time::sleep(Duration::from_secs(3600)).await;
            other.await.unwrap();
        });
        assert!(started.elapsed() >= Duration::from_secs(3600));
    }

    #[test]
    fn waits_for_nothing() {
        let (_sender, receiver) = tokio::sync::oneshot::channel::<()>();
        Builder::new_current_thread().enable_time().build().unwrap().block_on(async { receiver.await.unwrap() });
    }
}
"#;

#[test]
#[allow(clippy::print_stderr, reason = "skipped tests must be visible")]
fn tasks_of_tokio_are_controlled() {
    let directory = tool::directory("cargo-test-tokio");
    let features = r#"["rt-multi-thread", "time", "sync"]"#;
    let manifest = manifest(
        "tiny",
        &format!("[workspace]\n[dependencies]\ntokio = {{ version = \"1\", features = {features} }}\n"),
    );
    let tiny = package(&directory, "tiny", &[("Cargo.toml", &manifest), ("src/lib.rs", TASKS)]);
    // This workspace depends on tokio too, so that Cargo has it, unless it is vendored elsewhere.
    let (said, code) = cargo(&tiny, "build --quiet");
    if code != 0 {
        assert!(std::env::var_os("CI").is_none(), "{said}");
        return eprintln!("left out: {said}");
    }
    let (said, _) = cargo(&tiny, "test --lib --runs 1000");
    insta::assert_snapshot!(lines(&said, &["test "]), @"
    test tests::both_updates_count ... FAILED (panicked, seed …)
    test tests::sleeps_an_hour ... ok (1000 schedules)
    test tests::waits_for_nothing ... FAILED (deadlock, seed …)
    test result: FAILED. 1 passed; 2 failed; 0 ignored
    ");
    assert!(said.matches("replayed once in a fresh process: identical").count() == 2, "{said}");
}

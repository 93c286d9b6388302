//! `omnilink fuzz` under control, `replay`, `debug` and `shrink`, with a counter in C++ that loses increments.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

mod tool;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A counter that is incremented by a load and a store, and a lock that two threads take with another one, in both orders.
const HARNESS: &str = r#"
#include <atomic>
#include <cassert>
#include <chrono>
#include <mutex>
#include <string_view>
#include "omnilink/drive.hpp"

constexpr omnilink::Action INCREMENT{"increment", {}, {"value"}};

struct System {
  std::atomic<std::int64_t> count{0};
  std::int64_t plain = 0;
  std::mutex one, other;
};

volatile bool always = true;

std::string_view mode;

void increment(System& system, std::size_t& thread, omnilink::Client& client) {
  auto call = client.call(INCREMENT);
  if (mode == "locks") {
    std::scoped_lock first(thread % 2 == 0 ? system.one : system.other);
    std::scoped_lock second(thread % 2 == 0 ? system.other : system.one);
  }
  if (mode == "right") {
    call.done(++system.count);
    return;
  }
  if (mode == "races" || mode == "locked") {
    std::unique_lock<std::mutex> lock(system.one, std::defer_lock);
    if (mode == "locked") lock.lock();
    const std::int64_t value = ++system.plain;
    call.done(value);
    return;
  }
  if (mode == "hang") {
    while (always) system.plain = system.plain + 1;
  }
  if (mode == "clock") {
    // Right, unless the other thread reads the clock in between.
    const auto before = std::chrono::steady_clock::now();
    const std::int64_t value = ++system.count;
    const bool is_disturbed = std::chrono::steady_clock::now() - before > std::chrono::nanoseconds(1500);
    call.done(is_disturbed ? 100 : value);
    return;
  }
  const std::int64_t value = system.count.load() + 1;
  system.count.store(value);
  if (mode == "asserts") assert(system.count == value);
  call.done(value);
}

int main(int count, char** arguments) {
  if (count > 1) mode = arguments[1];
  omnilink::repeat([] {
    System system;
    omnilink::run(omnilink::Plan::from_env(), system, [](System&, std::size_t thread) { return thread; }, increment);
  });
}
"#;

/// A directory with the harness, which is run in one of its ways.
fn set_up(name: &str, mode: &str) -> PathBuf {
    let directory = tool::directory(name);
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recorders/cpp/include");
    let settings = format!(
        "spec = \"counter\"\n[harness]\nbuild = [\"c++\", \"-std=c++17\", \"-O1\", \"-g\", \"-pthread\", \"-I{}\", \
         \"harness.cpp\", \"-o\", \"harness\"]\nrun = [\"./harness\", \"{mode}\"]\n",
        include.display()
    );
    fs::write(directory.join("omnilink.toml"), settings).expect("a file for a test");
    fs::write(directory.join("harness.cpp"), HARNESS).expect("a file for a test");
    directory
}

fn run(directory: &Path, args: &str) -> tool::Ran {
    tool::run(directory, &args.split_whitespace().collect::<Vec<_>>())
}

/// What a command prints, without what differs between machines: times, places and names of runs.
fn shown(directory: &Path, args: &str) -> String {
    let ran = run(directory, args);
    let hidden = |line: &str| {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        for place in 0..words.len() {
            let word = words[place].trim_matches(|character: char| !character.is_ascii_alphanumeric());
            let is_hex = word.len() >= 6 && word.chars().all(|character| character.is_ascii_hexdigit());
            let is_time = words.get(place + 1).is_some_and(|next| next.trim_end_matches([')', ':', ',']) == "s");
            if is_hex || is_time || word.starts_with("0x") {
                words[place] = "…".to_owned();
            }
        }
        words.join(" ")
    };
    let here = directory.to_string_lossy();
    let stdout = ran.stdout.replace(&*here, ".").replace(env!("CARGO_MANIFEST_DIR"), ".");
    let lines: Vec<String> = stdout.lines().map(hidden).collect();
    format!("{}\n{}exit {}", lines.join("\n"), ran.stderr, ran.code)
}

/// The lines that begin like one of these.
fn lines(text: &str, starts: &[&str]) -> String {
    let wanted = |line: &&str| starts.iter().any(|start| line.trim_start().starts_with(start));
    text.lines().filter(wanted).map(str::trim).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_lost_update_is_found_replayed_made_smaller_and_debugged() {
    let directory = set_up("control-lost", "lost");
    let found = run(&directory, "fuzz --seed 1 --threads 3 --ops 4");
    assert_eq!(found.code, 1, "{}{}", found.stdout, found.stderr);
    insta::assert_snapshot!(lines(&found.stdout, &["fuzzing", "replayed", "error"]), @"
    fuzzing against counter: 10s, 3 threads, 4 operations each, controlled (mix; half of the runs with weak memory), seeds from 1
    error: no order allows T1's `increment → 1`: this operation adds 1 to 0, but the counter is at 3
    replayed once in a fresh process: identical
    ");
    insta::assert_snapshot!(lines(&shown(&directory, "replay --times 3"), &["replayed", "exit"]), @r"
    replayed 3 times: 75 steps, the same addresses and values as when it ran (fingerprint …
    exit 1
    ");
    insta::assert_snapshot!(shown(&directory, "shrink --tries 50"), @r"
    run … seed 1, 3 threads, 4 operations each, increment: this operation adds # to #, but the counter is at #
    smaller: seed 1, 2 threads, 2 operations
    simpler: 43 schedules tried
    kept as … 2 operations, 27 steps, 5 switches instead of 12 operations, 75 steps, 39 switches; target/omnilink/aab5fe
    exit 1
    ");
    insta::assert_snapshot!(lines(&shown(&directory, "replay"), &["replayed", "exit", "T"]), @r"
    replayed: 27 steps, the same addresses and values as when it ran (fingerprint …
    exit 1
    ");
    let schedule = fs::read_to_string(latest(&directory).join("schedule")).expect("the schedule is kept");
    insta::assert_snapshot!(schedule, @r"
    omnilink-schedule 1
    0*6 1 2*4 1*6 2*3 0*7
    ");
    let has_gdb = Command::new("gdb").arg("--version").output().is_ok();
    assert!(has_gdb || std::env::var_os("CI").is_none(), "there is no `gdb`");
    if has_gdb {
        let debugged = run(&directory, "debug --at T1:0 -- -ex bt -batch").stdout;
        assert!(debugged.contains("omnilink_sched_call") && debugged.contains("increment ("), "{debugged}");
    }
}

/// The run that was kept last.
fn latest(directory: &Path) -> PathBuf {
    let list = run(directory, "runs list").stdout;
    let id = list.lines().next_back().and_then(|line| line.split(' ').next()).unwrap_or_default().to_owned();
    directory.join("target/omnilink").join(id)
}

#[test]
fn all_schedules_of_what_is_right_are_explored() {
    let directory = set_up("control-right", "right");
    let explored = |how: &str| {
        lines(&shown(&directory, &format!("fuzz --schedule {how} --ops 1")), &["fuzzing", "all", "not", "exit"])
    };
    insta::assert_snapshot!(explored("dpor --seed 1"), @r"
    fuzzing against counter: all schedules, 2 threads, 1 operation each, controlled (dpor), seeds from 1
    all schedules were explored: 4 executions
    exit 0
    ");
    insta::assert_snapshot!(explored("dfs --bound 1 --seed 1"), @r"
    fuzzing against counter: all schedules, 2 threads, 1 operation each, controlled (dfs), seeds from 1
    all schedules with at most 1 preemption were explored: 11 executions
    exit 0
    ");
    insta::assert_snapshot!(explored("dfs --every-schedule --bound 1 --seed 1"), @r"
    fuzzing against counter: all schedules, 2 threads, 1 operation each, controlled (dfs), seeds from 1
    all schedules with at most 1 preemption were explored: 23 executions
    exit 0
    ");
}

#[test]
fn explorations_find_what_is_wrong() {
    let directory = set_up("control-explored", "lost");
    let explored = |how: &str| {
        lines(
            &shown(&directory, &format!("fuzz --schedule {how} --ops 1 --keep-going --seed 1")),
            &["all", "not", "exit"],
        )
    };
    insta::assert_snapshot!(explored("dpor"), @r"
    all schedules were explored: 6 executions
    exit 1
    ");
    insta::assert_snapshot!(explored("dfs --bound 1"), @r"
    all schedules with at most 1 preemption were explored: 15 executions
    exit 1
    ");
}

#[test]
fn who_is_stuck_and_where_is_told() {
    let directory = set_up("control-stuck", "locks");
    insta::assert_snapshot!(lines(&shown(&directory, "fuzz --seed 1 --runs 50"), &["run", "stuck", "thread", "increment", "exit"]), @"
    run 1 (seed 1, 3 threads, 12 operations each): stuck
    stuck: no thread is enabled
    thread 0 joins thread 1
    run<System, main(int, char**)::<lambda()>::<lambda(System&, std::size_t)>, void(System&, long unsigned int&, omnilink::Client&)> at ./../../recorders/cpp/include/omnilink/drive.hpp:386
    thread 1 locks …
    increment(System&, unsigned long&, omnilink::Client&) at ./harness.cpp:24
    thread 2 locks …
    increment(System&, unsigned long&, omnilink::Client&) at ./harness.cpp:25
    thread 3 locks …
    increment(System&, unsigned long&, omnilink::Client&) at ./harness.cpp:25
    increment           3       100 %  by increment 100 %; 3 blocked
    exit 5
    ");
    insta::assert_snapshot!(lines(&shown(&directory, "replay"), &["stuck", "thread", "replayed", "exit"]), @r"
    stuck: no thread is enabled
    thread 0 joins thread 1
    thread 1 locks …
    thread 2 locks …
    thread 3 locks …
    replayed: 20 steps, the same addresses and values as when it ran (fingerprint …
    exit 5
    ");
}

/// A lock that `unlock` does not release.
const FORGETS: &str = r#"
#include <mutex>
#include "omnilink/drive.hpp"

constexpr omnilink::Action LOCK{"lock", {}, {"ok"}};
constexpr omnilink::Action UNLOCK{"unlock", {}, {"ok"}};

int main() {
  std::mutex lock;
  omnilink::run(
      omnilink::Plan::from_env(), lock, [](std::mutex&, std::size_t) { return false; },
      [](std::mutex& lock, bool& is_held, omnilink::Client& client) {
        auto call = client.call(is_held ? UNLOCK : LOCK);
        if (!is_held) lock.lock();
        is_held = !is_held;
        call.done(true);
      });
}
"#;

#[test]
fn a_smaller_stuck_run_is_rejected_too() {
    let directory = set_up("control-forgets", "");
    fs::write(directory.join("harness.cpp"), FORGETS).expect("a file for a test");
    let settings = fs::read_to_string(directory.join("omnilink.toml")).expect("the settings");
    fs::write(directory.join("omnilink.toml"), settings.replace("counter", "mutex")).expect("a file for a test");
    let found = run(&directory, "fuzz --seed 1 --threads 2 --ops 2");
    assert_eq!(found.code, 5, "{}{}", found.stdout, found.stderr);
    assert!(found.stdout.contains("its trace up to there is rejected"), "{}", found.stdout);
    // Without the `unlock`, the other thread may wait for ever.
    let shrunk = run(&directory, "shrink");
    assert_eq!(shrunk.code, 5, "{}{}", shrunk.stdout, shrunk.stderr);
    assert!(shrunk.stdout.contains(": 3 operations, "), "{}", shrunk.stdout);
    let trace = latest(&directory).join("trace");
    let checked = tool::run(&directory, &["check", "--spec", "mutex", &trace.to_string_lossy()]);
    assert_eq!(checked.code, 1, "{}{}", checked.stdout, checked.stderr);
}

/// Whether `lock` can return is not decided by a value in the state.
const LOCK: &str = r"---- MODULE Lock ----
EXTENDS Integers
VARIABLE held
Init == held = FALSE
lock(ok) == ok > 5 /\ ~held /\ held' = TRUE
unlock(ok) == held /\ held' = FALSE
Next == \E ok \in Nat : lock(ok) \/ unlock(ok)
====
";

#[test]
fn a_blocked_call_that_cannot_be_checked_is_an_error() {
    let directory = set_up("control-unchecked", "");
    let harness = FORGETS.replace("call.done(true)", "call.done(7)");
    fs::write(directory.join("harness.cpp"), harness).expect("a file for a test");
    fs::write(directory.join("Lock.tla"), LOCK).expect("a file for a test");
    let settings = fs::read_to_string(directory.join("omnilink.toml")).expect("the settings");
    fs::write(directory.join("omnilink.toml"), settings.replace("counter", "Lock.tla")).expect("a file for a test");
    let ran = run(&directory, "fuzz --seed 1 --threads 2 --ops 1");
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.code, 2, "{said}");
    assert!(said.contains("`Nat` is infinite and cannot be enumerated") && said.contains("1 not checked"), "{said}");
    assert!(!said.contains("stuck"), "{said}");
}

#[test]
fn a_crash_is_repeated() {
    let directory = set_up("control-crash", "asserts");
    insta::assert_snapshot!(lines(&shown(&directory, "fuzz --seed 1"), &["killed", "replayed", "exit"]), @r"
    killed by SIGABRT
    replayed once in a fresh process: identical
    exit 5
    ");
    insta::assert_snapshot!(lines(&shown(&directory, "replay"), &["killed", "replayed", "exit"]), @r"
    killed by SIGABRT
    replayed: 29 steps, the same addresses and values as when it ran (fingerprint …
    exit 5
    ");
}

#[test]
fn what_cannot_be_repeated_is_refused() {
    let directory = set_up("control-free", "lost");
    let free = run(&directory, "fuzz --schedule free --runs 1 --keep all --threads 1");
    assert_eq!(free.code, 0, "{}{}", free.stdout, free.stderr);
    let refused = run(&directory, "replay").stderr;
    let refused = refused.lines().next().and_then(|line| line.rsplit(": ").next()).unwrap_or_default();
    insta::assert_snapshot!(refused, @"its threads ran freely, so it cannot be replayed");
    assert_eq!(run(&directory, "fuzz --seed 1 --threads 3 --ops 4").code, 1);
    fs::write(directory.join("harness.cpp"), HARNESS.replace("count{0}", "count{7}")).expect("a file for a test");
    assert_eq!(run(&directory, "fuzz --runs 1 --seed 1 --threads 1").code, 1);
    insta::assert_snapshot!(shown(&directory, "replay"), @"
    … rejected
    error: no order allows T0's `increment → 8`: this operation adds 1 to 7, but the counter is at 0
     |
     = note: T0:0 `increment() = value: 8` [6 9] is not legal in the state before it.
     = note: in state 0: this operation adds 1 to 7, but the counter is at 0
    replayed: 59 steps, the same addresses and values as when it ran (fingerprint …
    exit 1
    ");
    let path = latest(&directory).join("schedule");
    fs::write(path, "omnilink-schedule 1\n0*3 x").expect("a file for a test");
    insta::assert_snapshot!(lines(&run(&directory, "replay").stderr.replace(&*directory.to_string_lossy(), "."), &["error"]), @"error: runs: target/omnilink/aab5fe/schedule: not a schedule: line 2: expected `THREAD`, `THREAD*COUNT`, `wCHOSEN/OPTIONS` or `rCHOSEN/OPTIONS`, found `x`");
}

#[test]
fn a_run_of_another_build_is_refused() {
    let directory = set_up("control-rebuilt", "lost");
    assert_eq!(run(&directory, "fuzz --seed 1 --threads 3 --ops 4").code, 1);
    let kept = latest(&directory);
    fs::write(directory.join("harness.cpp"), HARNESS.replace("count{0}", "count{7}")).expect("a file for a test");
    assert_eq!(run(&directory, "fuzz --runs 1 --seed 1 --threads 1").code, 1);
    let id = kept.file_name().expect("a run has a name").to_string_lossy().into_owned();
    let refused = run(&directory, &format!("replay {id}"));
    assert_eq!(refused.code, 2, "{}{}", refused.stdout, refused.stderr);
    insta::assert_snapshot!(
        lines(&refused.stderr, &["help"]),
        @"help: `./target/omnilink-sched/harness` was built again since, and is another program: build it as it was, or find the failure again"
    );
}

/// A queue whose lock was forgotten: every access is one that is not atomic.
#[test]
fn accesses_that_nothing_orders_are_reported_and_nothing_is_claimed() {
    let directory = set_up("control-races", "races");
    let raced = |args: &str| {
        let places = ["run ", "T0", "T1", "no lock", "its history", "not all", "all schedules", "exit"];
        let shown = shown(&directory, &format!("fuzz --seed 1 {args}"));
        lines(&shown, &places)
    };
    insta::assert_snapshot!(raced("--runs 5 --ops 2 --threads 2"), @"
    run 1 (seed 1, 2 threads, 2 operations each): data race
    T1:1 increment() = value: 2 writes, after step 13
    T0:0 increment() = value: 3 reads, after step 16
    no lock, atomic access or join orders these two accesses
    its history is accepted; threads are switched at these accesses from now on
    run 2 (seed 2, 2 threads, 2 operations each): rejected: no order allows T0's `increment → 2`: this operation adds 1 to 1, but the counter is at 3
    exit 1
    ");
    insta::assert_snapshot!(raced("--schedule dpor --ops 1 --keep-going"), @r"
    run 1 (seed 1, 2 threads, 1 operation each): data race
    T1:0 increment() = value: 1 writes, after step 10
    T0:0 increment() = value: 2 reads, after step 14
    no lock, atomic access or join orders these two accesses
    its history is accepted; `--plain` switches threads at such accesses
    not all schedules were explored (data races between accesses that are not steps): 3 executions
    exit 7
    ");
    // It can be replayed, also if its accesses are steps; and its verdict is not that of its operations.
    for plain in [" --plain", ""] {
        let found = run(&directory, &format!("fuzz --seed 1 --runs 1 --ops 2 --threads 2{plain}"));
        assert!([1, 7].contains(&found.code), "{}{}", found.stdout, found.stderr);
        assert!(found.stdout.contains("replayed once in a fresh process: identical"), "{plain}: {}", found.stdout);
    }
    let told = run(&directory, "runs show latest");
    assert_eq!(told.code, 7, "{}{}", told.stdout, told.stderr);
    assert!(told.stdout.contains(": failed\nerror: data race: "), "{}", told.stdout);
    assert!(!told.stdout.contains("accepted"), "{}", told.stdout);
    // A race that the settings name is no failure.
    let settings = fs::read_to_string(directory.join("omnilink.toml")).expect("settings");
    let known = "[[harness.races]]\nbetween = [\"increment(\", \"increment(\"]\nreason = \"this is a test\"\n";
    fs::write(directory.join("omnilink.toml"), settings + known).expect("a file for a test");
    let accepted = shown(&directory, "fuzz --seed 1 --schedule dpor --ops 1 --keep-going");
    insta::assert_snapshot!(lines(&accepted, &["run ", "accepted", "exit"]), @r"
    accepted data race: this is a test
    exit 0
    ");
    // A lock orders them.
    let locked = shown(&set_up("control-locked", "locked"), "fuzz --seed 1 --schedule dpor --ops 1");
    insta::assert_snapshot!(lines(&locked, &["data race", "all schedules", "not all", "exit"]), @r"
    all schedules were explored: 4 executions
    exit 0
    ");
}

/// Counts with or without a lock. It always ends normally.
const HITS: &str = "#include <mutex>
#include <string_view>
#include <thread>
int hits = 0;
std::mutex mutex;
__attribute__((noinline)) void add(int& number) { ++number; }
void hit(bool locks) {
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  if (locks) lock.lock();
  add(hits);
}
int main(int, char** arguments) {
  const bool locks = arguments[1] == std::string_view(\"locked\");
  std::thread other(hit, locks);
  hit(locks);
  other.join();
}
";

#[test]
fn a_program_with_a_data_race_fails() {
    let directory = tool::directory("control-program-races");
    fs::write(directory.join("hits.cpp"), HITS).expect("a file for a test");
    let built = run(&directory, "build cxx -- c++ -std=c++17 -O1 -g -pthread hits.cpp -o hits");
    assert_eq!(built.code, 0, "{}{}", built.stdout, built.stderr);
    for (how, verdict) in [("pos", "FAILED (data race, seed 1)"), ("dpor", "FAILED (data race, after 1 schedule)")] {
        let found = run(&directory, &format!("build run --schedule {how} -- ./hits plain"));
        assert_eq!(found.code, 7, "{how}: {}{}", found.stdout, found.stderr);
        assert!(found.stdout.contains(verdict), "{how}: {}", found.stdout);
        for thread in ["\n  thread 0 ", "\n  thread 1 "] {
            assert!(found.stdout.contains(thread), "{how}: {}", found.stdout);
        }
        let places = found
            .stdout
            .lines()
            .filter(|line| line.starts_with("    in add(int&) at ") && line.ends_with("hits.cpp:6"));
        assert_eq!(places.count(), 2, "{how}: {}", found.stdout);
        assert!(found.stdout.contains("replayed once in a fresh process: identical"), "{how}: {}", found.stdout);
    }
    let replayed = run(&directory, "replay --times 2");
    assert_eq!((replayed.code, &*replayed.stderr), (7, ""), "{}", replayed.stdout);
    assert!(replayed.stdout.contains("data race:\n  thread "), "{}", replayed.stdout);
    let listed = run(&directory, "runs list").stdout;
    assert!(listed.contains("data race"), "{listed}");
    let shrunk = run(&directory, "shrink");
    assert_eq!(shrunk.code, 7, "{}{}", shrunk.stdout, shrunk.stderr);
    // A race that the settings name is no failure: by the functions of both accesses, or by their callers.
    let with_known = |between: [&str; 2]| {
        let known = format!("[[harness.races]]\nbetween = {between:?}\nreason = \"this is a test\"\n");
        fs::write(directory.join("omnilink.toml"), known).expect("a file for a test");
        run(&directory, "build run --runs 5 -- ./hits plain")
    };
    for between in [["add(", "add("], ["hit(", "hit("]] {
        let accepted = with_known(between);
        assert_eq!(accepted.code, 0, "{between:?}: {}{}", accepted.stdout, accepted.stderr);
        let reason = "\n  accepted data race: this is a test\n";
        assert!(accepted.stdout.contains(reason), "{between:?}: {}", accepted.stdout);
    }
    let other = with_known(["hit(", "miss("]);
    assert_eq!(other.code, 7, "{}{}", other.stdout, other.stderr);
    fs::remove_file(directory.join("omnilink.toml")).expect("the settings are removed");
    // A lock orders them.
    let locked = run(&directory, "build run --schedule dpor -- ./hits locked");
    assert_eq!(locked.code, 0, "{}{}", locked.stdout, locked.stderr);
    assert!(locked.stdout.contains("  all schedules were explored: "), "{}", locked.stdout);
}

/// What hangs without a step is shown with its stacks.
#[test]
fn a_loop_without_steps_shows_where_it_is() {
    let directory = set_up("control-hang", "hang");
    let shown = shown(&directory, "fuzz --seed 1 --runs 1 --threads 2 --ops 1 --timeout 1s");
    insta::assert_snapshot!(lines(&shown, &["run 1", "did not", "thread", "increment(", "exit"]), @"
    run 1 (seed 1, 2 threads, 1 operation each): stuck
    did not end, and was stopped
    thread 0 joins thread 1
    thread 1 waits at the gate
    thread 2 runs
    increment(System&, unsigned long&, omnilink::Client&) at ./harness.cpp:39
    exit 5
    ");
}

/// What threads tell each other by a clock is explored by `dpor` as by `dfs`.
#[test]
fn clocks_are_no_secret_channel() {
    let directory = set_up("control-clock", "clock");
    for how in ["dpor", "dfs --bound 2"] {
        let ran = run(&directory, &format!("fuzz --schedule {how} --threads 2 --ops 1 --seed 1"));
        assert_eq!(ran.code, 1, "{how}: {}", ran.stdout);
    }
}

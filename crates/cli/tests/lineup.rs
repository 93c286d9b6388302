//! `omnilink lineup`: the small objects of `examples/lineup-cpp`, wrong and corrected.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

mod tool;

use std::fs;
use std::path::{Path, PathBuf};

const PROGRAM: &str = r#"
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include "omnilink/object.hpp"
#include "small.hpp"

// As small as the recorder's own allocations, so that its address differs from one execution to the next.
template <bool is_right>
struct Small {
  std::atomic<int> count{0};
  int inc() {
    if (is_right) return ++count;
    const int next = count.load() + 1;
    count.store(next);
    return next;
  }
};

// Serial runs explain every execution of `set`, and the wrong one does not lock.
template <bool is_right>
struct Flag {
  std::mutex mutex;
  int value = 0;
  void set() { update([this] { value = 1; }); }
  int inc() { return update([this] { return ++value; }); }
  template <typename Update>
  auto update(Update update) {
    std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
    if (is_right) lock.lock();
    return update();
  }
};

// The first call of a process is right, and prepares what is static. If calls meet after it, one is lost.
template <bool is_right>
struct Prepared {
  static inline std::mutex mutex;
  static inline bool is_prepared = false;
  std::atomic<int> count{0};
  // Larger than the recorder's own allocations, so that its address is the same in each execution.
  char unused[512];
  int inc() {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (is_right || !is_prepared) {
        is_prepared = true;
        return ++count;
      }
    }
    const int next = count.load() + 1;
    count.store(next);
    return next;
  }
};

// It is wrong if calls of an earlier object have met.
struct Stained {
  static inline std::atomic<bool> is_stained{false};
  const bool is_wrong = is_stained;
  std::atomic<int> inside{0}, count{0};
  char unused[512];
  int inc() {
    if (inside++ > 0) is_stained = true;
    const int next = ++count;
    --inside;
    return is_wrong ? -1 : next;
  }
};

// Of two calls that meet, the later one never ends: it counts rounds, of which no other call sees anything.
struct Endless {
  std::atomic<int> inside{0}, count{0}, rounds{0};
  char unused[512];
  int inc() {
    const bool is_alone = inside++ == 0;
    while (!is_alone) ++rounds;
    const int next = ++count;
    --inside;
    return next;
  }
};

// Of two calls that meet, the later one ends the program.
struct Crashing {
  std::atomic<int> inside{0};
  int inc() {
    if (inside++ > 0) std::abort();
    return --inside;
  }
};

// The first object of a process is right. If calls of a later one meet, one is lost.
struct Later {
  static inline int objects = 0;
  const bool is_first = objects++ == 0;
  std::atomic<int> count{0};
  char unused[512];
  int inc() {
    if (is_first) return ++count;
    const int next = count.load() + 1;
    count.store(next);
    return next;
  }
};

template <bool is_right>
int run(std::string_view name) {
  using omnilink::object;
  if (name == "prepared") return object<Prepared<is_right>>().call("inc", &Prepared<is_right>::inc).main();
  if (name == "stained") return object<Stained>().call("inc", &Stained::inc).main();
  if (name == "endless") return object<Endless>().call("inc", &Endless::inc).main();
  if (name == "crashing") return object<Crashing>().call("inc", &Crashing::inc).main();
  if (name == "later") return object<Later>().call("inc", &Later::inc).main();
  if (name == "flag") {
    return object<Flag<is_right>>().call("set", &Flag<is_right>::set).call("inc", &Flag<is_right>::inc).main();
  }
  if (name == "small") return object<Small<is_right>>().call("inc", &Small<is_right>::inc).main();
  if (name == "counter") {
    return object<Counter<is_right>>().call("inc", &Counter<is_right>::inc).call("get", &Counter<is_right>::get).main();
  }
  if (name == "queue") {
    return object<Queue<is_right>>()
        .call("add", &Queue<is_right>::add, 200, 400)
        .call("try_take", &Queue<is_right>::try_take)
        .main();
  }
  if (name == "event") {
    return object<Event<is_right>>()
        .call("set", &Event<is_right>::set)
        .call("reset", &Event<is_right>::reset)
        .call("wait", &Event<is_right>::wait)
        .main();
  }
  return object<Bag<is_right>>().call("add", &Bag<is_right>::add, 200, 400).call("take", &Bag<is_right>::take).main();
}

int main(int, char** arguments) {
  const std::string_view name = arguments[1];
  return arguments[2] == std::string_view("wrong") ? run<false>(name) : run<true>(name);
}
"#;

/// A directory with the program. Building it takes longer than all tests of one object, so it is built once for many.
fn set_up(name: &str) -> PathBuf {
    let directory = tool::directory(name);
    fs::write(directory.join("object.cpp"), PROGRAM).expect("a file for a test");
    choose(&directory, "queue", "right");
    let built = run(&directory, &["lineup", "--calls"]);
    assert_eq!(built.code, 0, "{}{}", built.stdout, built.stderr);
    directory
}

/// Makes the following commands test one object, in a version.
fn choose(directory: &Path, object: &str, version: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let settings = format!(
        "[harness]\nbuild = [\"c++\", \"-std=c++17\", \"-O1\", \"-g\", \"-pthread\", \"-I{0}/recorders/cpp/include\", \
         \"-I{0}/examples/lineup-cpp\", \"object.cpp\", \"-o\", \"object\"]\nrun = [\"./object\", \"{object}\", \"{version}\"]\n",
        root.display()
    );
    fs::write(directory.join("omnilink.toml"), settings).expect("a file for a test");
}

fn run(directory: &Path, args: &[&str]) -> tool::Ran {
    tool::run(directory, args)
}

/// Runs `lineup` on the program that is built.
fn lineup(directory: &Path, args: &[&str]) -> tool::Ran {
    run(directory, &[&["lineup", "--no-build"], args].concat())
}

/// The first lines of what `lineup` prints about a failure: the test, the smallest one, the sentence and the columns.
fn failure(ran: &tool::Ran) -> String {
    let after = ran.stdout.split_once("\n\n").map_or("", |(_, after)| after);
    let before =
        ["\nclosest serial run", "\nIf answers"].iter().fold(after, |text, end| text.split(end).next().unwrap_or(text));
    format!("{}\nexit {}", before.trim_end(), ran.code)
}

/// The run that is kept. It is not always the latest: runs that are kept in one second have no order.
fn kept(ran: &tool::Ran) -> &str {
    let after = ran.stdout.split("\nkept as ").nth(1).expect("a run is kept");
    after.split(':').next().unwrap_or(after)
}

#[test]
fn wrong_objects_fail() {
    let directory = set_up("lineup-wrong");
    a_queue_that_gives_up_too_early_has_no_serial_run(&directory);
    a_lock_that_is_not_released_is_stuck(&directory);
    a_lost_wake_up_is_stuck(&directory);
    a_bag_is_nondeterministic(&directory);
    a_data_race_is_a_failure(&directory);
    a_failure_that_needs_an_earlier_call_is_confirmed_after_one(&directory);
    a_failure_that_needs_an_earlier_object_is_confirmed_although_others_are_left(&directory);
    a_crash_is_kept_and_replayed(&directory);
    serial_runs_that_are_missing_are_not_written(&directory);
}

#[test]
fn right_objects_pass() {
    let directory = set_up("lineup-right");
    corrected_objects_pass(&directory);
    observations_are_a_regression_test(&directory);
    behavior_that_is_not_observed_in_time_is_not_compared(&directory);
    objects_whose_address_changes_are_explored_to_the_end(&directory);
    calls_that_are_not_listed_are_errors(&directory);
    calls_behind_a_lock_do_not_race(&directory);
    what_an_earlier_execution_causes_is_no_failure(&directory);
    a_failure_that_is_not_refuted_leaves_a_test_unfinished(&directory);
    executions_that_reach_the_step_limit_leave_a_test_unfinished(&directory);
}

fn a_queue_that_gives_up_too_early_has_no_serial_run(directory: &Path) {
    choose(directory, "queue", "wrong");
    let found = lineup(directory, &["--size", "2x2", "--tests", "50"]);
    insta::assert_snapshot!(failure(&found), @"
    add(400) add(400) || add(200) try_take() (2x2, seed 1): no serial run explains it
    smallest test that fails the same way: add(400) || add(200) try_take()

    In every serial order that fits these times, `try_take()` of thread 1 returns 200; here it returned nil.

      thread 0      thread 1
                    add(200)
      add(400) ...
                    try_take() ...
      ... add(400)
                    ... try_take() = nil
    exit 1
    ");
    let replayed = run(directory, &["replay", "--times", "20"]);
    assert_eq!(replayed.code, 1, "{}{}", replayed.stdout, replayed.stderr);
    assert!(replayed.stdout.contains("replayed 20 times"), "{}", replayed.stdout);
    let shrunk = run(directory, &["shrink"]);
    assert_eq!(shrunk.code, 1, "{}{}", shrunk.stdout, shrunk.stderr);
    assert!(shrunk.stdout.contains("`lineup` has made the test small already"), "{}", shrunk.stdout);
    // The test as it was found is a regression test.
    let smallest = "add(200) || add(400) try_take()";
    let again = lineup(directory, &["--test", smallest, "--no-reduce"]);
    assert_eq!(again.code, 1, "{}{}", again.stdout, again.stderr);
}

fn a_lock_that_is_not_released_is_stuck(directory: &Path) {
    choose(directory, "counter", "wrong");
    let found = lineup(directory, &["--size", "2x2", "--tests", "50"]);
    insta::assert_snapshot!(failure(&found), @"
    get() get() || inc() get() (2x2, seed 1): stuck, and no serial run is
    smallest test that fails the same way: get() || inc() get()

    `get()` of thread 1 never returned, but after every serial order of the finished operations that fits these times it returns 1.

      thread 0       thread 1
      get() ...
                     inc() ...
      ... get() = 1
                     ... inc()
                     get() blocks
    exit 1
    ");
    assert!(found.stdout.contains("\nthread 1 locks 0x"), "{}", found.stdout);
    assert!(found.stdout.contains("  in Counter<false>::get() at "), "{}", found.stdout);
    let replayed = run(directory, &["replay", kept(&found), "--times", "20"]);
    assert_eq!(replayed.code, 5, "{}{}", replayed.stdout, replayed.stderr);
    let shown = run(directory, &["runs", "show", kept(&found)]);
    let why = "`get()` is blocked at the end, but returns 1 here in every serial run";
    assert!(shown.stdout.contains(why), "{}{}", shown.stdout, shown.stderr);
    // Known, and accepted.
    let accept = "\n[[lineup.accepted]]\ntest = \"get() || inc() get()\"\nreason = \"it is wrong on purpose\"\n";
    let settings = fs::read_to_string(directory.join("omnilink.toml")).expect("the settings") + accept;
    fs::write(directory.join("omnilink.toml"), settings).expect("a file for a test");
    let accepted = lineup(directory, &["--size", "2x2", "--tests", "1"]);
    assert_eq!(accepted.code, 0, "{}{}", accepted.stdout, accepted.stderr);
    assert!(
        accepted.stdout.contains("get() || inc() get(): fails as accepted: it is wrong on purpose"),
        "{}",
        accepted.stdout
    );
}

fn a_lost_wake_up_is_stuck(directory: &Path) {
    choose(directory, "event", "wrong");
    let found = lineup(directory, &["--test", "wait() || set() reset() set()"]);
    insta::assert_snapshot!(failure(&found), @"
    wait() || set() reset() set() (given): stuck, and no serial run is
    smallest test that fails the same way: wait() || set()

    `wait()` of thread 0 never returned, but after every serial order of the finished operations that fits these times it returns.

      thread 0       thread 1
      wait() blocks
                     set()
    exit 1
    ");
    let replayed = run(directory, &["replay", kept(&found), "--times", "20"]);
    assert_eq!(replayed.code, 5, "{}{}", replayed.stdout, replayed.stderr);
    let shrunk = run(directory, &["shrink", kept(&found)]);
    assert_eq!(shrunk.code, 5, "{}{}", shrunk.stdout, shrunk.stderr);
}

fn a_bag_is_nondeterministic(directory: &Path) {
    choose(directory, "bag", "wrong");
    let found =
        lineup(directory, &["--test", "{ add(200) add(400) add(200) } take() take() || take() take()", "--no-reduce"]);
    insta::assert_snapshot!(failure(&found), @"
    { add(200) add(400) add(200) } take() take() || take() take() (given): nondeterministic

    After the same operations (`main add(200), main add(400), main add(200)`), `take()` of thread 1 returned 200 in one serial run and returned 400 in another.

      one serial run     main add(200), main add(400), main add(200), 1 take() = 200, 0 take() = 200, 0 take() = 400, 1 take() = nil
      another            main add(200), main add(400), main add(200), 1 take() = 400, 0 take() = 200, 1 take() = 200, 0 take() = nil
    exit 1
    ");
}

fn a_data_race_is_a_failure(directory: &Path) {
    choose(directory, "flag", "wrong");
    let mut run_of_race = String::new();
    for args in [&[][..], &["--isolate"], &["--schedule", "random"]] {
        let found = lineup(directory, &[&["--test", "set() set() || set()"], args].concat());
        assert_eq!(found.code, 7, "{args:?}: {}{}", found.stdout, found.stderr);
        let verdict =
            "set() set() || set() (given): data race\nsmallest test that fails the same way: set() || set()\n";
        assert!(found.stdout.contains(verdict), "{args:?}: {}", found.stdout);
        assert!(found.stdout.contains("\n1 test: 1 with a data race\n"), "{args:?}: {}", found.stdout);
        let accesses =
            found.stdout.lines().filter(|line| line.contains("set()") && line.contains(" writes, after step "));
        assert_eq!(accesses.count(), 2, "{args:?}: {}", found.stdout);
        let places = found.stdout.matches("object.cpp:26\n").count();
        assert!(places >= 2, "{args:?}: {}", found.stdout);
        assert!(found.stdout.contains("run again in a fresh process: identical"), "{args:?}: {}", found.stdout);
        run_of_race = kept(&found).to_owned();
    }
    let replayed = run(directory, &["replay", &run_of_race, "--times", "2"]);
    assert_eq!(replayed.code, 7, "{}{}", replayed.stdout, replayed.stderr);
    assert!(replayed.stdout.contains("\ndata race:\n"), "{}", replayed.stdout);
    let json = lineup(directory, &["--test", "set() || set()", "--format", "json"]);
    assert_eq!(json.code, 7, "{}{}", json.stdout, json.stderr);
    assert!(json.stdout.contains("\"verdict\": \"data race\""), "{}", json.stdout);
    // A failure that follows from a race is reported instead of the race.
    let lost = lineup(directory, &["--test", "inc() || inc()"]);
    assert_eq!(lost.code, 1, "{}{}", lost.stdout, lost.stderr);
    // Known, and accepted.
    let accept =
        "\n[[harness.races]]\nbetween = [\"Flag<false>\", \"Flag<false>\"]\nreason = \"it races on purpose\"\n";
    let settings = fs::read_to_string(directory.join("omnilink.toml")).expect("the settings") + accept;
    fs::write(directory.join("omnilink.toml"), settings).expect("a file for a test");
    let accepted = lineup(directory, &["--test", "set() || set()"]);
    assert_eq!(accepted.code, 0, "{}{}", accepted.stdout, accepted.stderr);
    assert!(accepted.stdout.contains("\naccepted data race: it races on purpose\n"), "{}", accepted.stdout);
}

/// No execution fails in a process of its own: there, one call is the first.
fn a_failure_that_needs_an_earlier_call_is_confirmed_after_one(directory: &Path) {
    choose(directory, "prepared", "wrong");
    let test = ["--test", "inc() || inc()"];
    let found = lineup(directory, &test);
    assert_eq!(found.code, 1, "{}{}", found.stdout, found.stderr);
    let confirmed =
        "\nrun again after a serial run in a fresh process: it fails; no execution failed in a process of its own\n";
    assert!(found.stdout.contains(confirmed), "{}", found.stdout);
    assert!(!found.stdout.contains("omnilink replay"), "{}", found.stdout);
    let alone = lineup(directory, &[&test[..], &["--isolate"]].concat());
    assert_eq!(alone.code, 0, "{}{}", alone.stdout, alone.stderr);
}

/// Where each execution has a process of its own, the number of executions is reached before all schedules are explored.
fn a_failure_that_needs_an_earlier_object_is_confirmed_although_others_are_left(directory: &Path) {
    choose(directory, "later", "wrong");
    let test = "inc() inc() || inc() inc() || inc()";
    let found = lineup(directory, &["--schedule", "dpor", "--executions", "20", "--no-reduce", "--test", test]);
    assert_eq!(found.code, 1, "{}{}", found.stdout, found.stderr);
    let confirmed =
        "\nrun again after a serial run in a fresh process: it fails; no execution failed in a process of its own\n";
    assert!(found.stdout.contains(confirmed), "{}", found.stdout);
}

fn a_crash_is_kept_and_replayed(directory: &Path) {
    choose(directory, "crashing", "wrong");
    let found = lineup(directory, &["--test", "inc() inc() || inc()"]);
    assert_eq!(found.code, 5, "{}{}", found.stdout, found.stderr);
    let verdict =
        "inc() inc() || inc() (given): crashed or did not end\nsmallest test that fails the same way: inc() || inc()\n";
    assert!(found.stdout.contains(verdict), "{}", found.stdout);
    assert!(found.stdout.contains("\n1 test: 1 crashed\n"), "{}", found.stdout);
    let replayed = run(directory, &["replay", kept(&found), "--times", "2"]);
    assert_eq!(replayed.code, 5, "{}{}", replayed.stdout, replayed.stderr);
    let json = lineup(directory, &["--test", "inc() || inc()", "--format", "json"]);
    assert!(json.stdout.contains("\"why\": \"killed by SIGABRT"), "{}", json.stdout);
}

/// The serial runs of an object that is nondeterministic are not all observed.
fn serial_runs_that_are_missing_are_not_written(directory: &Path) {
    choose(directory, "bag", "wrong");
    let test = "{ add(200) add(400) add(200) } take() take() || take() take()";
    let found = lineup(directory, &["--test", test, "--no-reduce", "--observations", "bag.lineup"]);
    assert_eq!(found.code, 1, "{}{}", found.stdout, found.stderr);
    assert!(found.stdout.contains("(given): nondeterministic\n"), "{}", found.stdout);
    assert!(!directory.join("bag.lineup").exists());
}

fn what_an_earlier_execution_causes_is_no_failure(directory: &Path) {
    choose(directory, "stained", "wrong");
    let passed = lineup(directory, &["--test", "inc() || inc()"]);
    assert_eq!(passed.code, 0, "{}{}", passed.stdout, passed.stderr);
    let note = "each execution had a process of its own for 1 test: one execution changes what the next one sees\n";
    assert!(passed.stdout.contains(note), "{}", passed.stdout);
}

/// An execution fails that follows others, and those with a process each do not come to an end. These tests were promised
/// no time, so they would pass if there were nothing but that.
fn a_failure_that_is_not_refuted_leaves_a_test_unfinished(directory: &Path) {
    choose(directory, "stained", "wrong");
    let open = lineup(directory, &["--schedule", "dpor", "--executions", "20", "--tests", "1"]);
    assert_eq!(open.code, 3, "{}{}", open.stdout, open.stderr);
    assert!(open.stdout.contains("\n3 tests: 3 unfinished\n"), "{}", open.stdout);
}

fn executions_that_reach_the_step_limit_leave_a_test_unfinished(directory: &Path) {
    choose(directory, "endless", "right");
    let steps = ["--max-steps", "1000", "--executions", "30"];
    for schedule in ["dpor", "random"] {
        let open = lineup(directory, &[&steps[..], &["--schedule", schedule, "--test", "inc() || inc()"]].concat());
        assert_eq!(open.code, 3, "{schedule}: {}{}", open.stdout, open.stderr);
        assert!(open.stdout.contains("\n1 test: 1 unfinished\n"), "{schedule}: {}", open.stdout);
    }
    // Calls of one thread do not meet.
    let passed = lineup(directory, &[&steps[..], &["--test", "inc() inc()"]].concat());
    assert_eq!(passed.code, 0, "{}{}", passed.stdout, passed.stderr);
}

fn calls_behind_a_lock_do_not_race(directory: &Path) {
    choose(directory, "flag", "right");
    let passed = lineup(directory, &["--test", "set() || inc()"]);
    assert_eq!(passed.code, 0, "{}{}", passed.stdout, passed.stderr);
    assert!(passed.stdout.contains("all schedules were explored for 1 test\n"), "{}", passed.stdout);
}

fn corrected_objects_pass(directory: &Path) {
    for object in ["queue", "counter", "event", "bag"] {
        choose(directory, object, "right");
        let passed = lineup(directory, &["--size", "2x2", "--tests", "4"]);
        assert_eq!(passed.code, 0, "{object}: {}{}", passed.stdout, passed.stderr);
        assert!(passed.stdout.contains("\n4 tests: 4 passed\n"), "{object}: {}", passed.stdout);
    }
}

/// `dpor` finds the lost update of an object whose address changes, and explores the corrected one to the end.
fn objects_whose_address_changes_are_explored_to_the_end(directory: &Path) {
    let test = ["--schedule", "dpor", "--test", "inc() || inc()"];
    choose(directory, "small", "wrong");
    let found = lineup(directory, &test);
    assert_eq!(found.code, 1, "{}{}", found.stdout, found.stderr);
    choose(directory, "small", "right");
    let passed = lineup(directory, &test);
    assert_eq!(passed.code, 0, "{}{}", passed.stdout, passed.stderr);
    assert!(passed.stdout.contains("all schedules were explored for 1 test\n"), "{}", passed.stdout);
    let isolated = lineup(directory, &[&test[..], &["--isolate"]].concat());
    assert!(isolated.stdout.contains("all schedules were explored for 1 test\n"), "{}", isolated.stdout);
}

fn observations_are_a_regression_test(directory: &Path) {
    choose(directory, "queue", "right");
    let args = ["--test", "add(200) || try_take()", "--observations", "queue.lineup"];
    assert_eq!(lineup(directory, &args).code, 0);
    let file = directory.join("queue.lineup");
    let text = fs::read_to_string(&file).expect("the observations are written");
    insta::assert_snapshot!(text, @"
    observations of add(200) || try_take()
    0 add(200)
      1 try_take() = 200
    1 try_take() = nil
      0 add(200)
    ");
    assert_eq!(lineup(directory, &args).code, 0);
    fs::write(&file, text.replace("nil", "7")).expect("a file for a test");
    let changed = lineup(directory, &args);
    insta::assert_snapshot!(format!("{}exit {}", changed.stdout.lines().last().unwrap_or_default(), changed.code), @"queue.lineup: the object behaves differently: on a new object, `try_take()` of thread 1 returned 7, now it returned nilexit 1");
}

/// The test has 369,600 serial orders.
fn behavior_that_is_not_observed_in_time_is_not_compared(directory: &Path) {
    choose(directory, "queue", "right");
    let test = ["try_take() try_take() try_take()"; 4].join(" || ");
    let step = |place: usize| format!("{}{} try_take() = nil\n", "  ".repeat(place), place / 3);
    let text = format!("observations of {test}\n{}", (0..12).map(step).collect::<String>());
    fs::write(directory.join("long.lineup"), &text).expect("a file for a test");
    let open = lineup(directory, &["--isolate", "--time", "1s", "--test", &test, "--observations", "long.lineup"]);
    assert_eq!(open.code, 3, "{}{}", open.stdout, open.stderr);
    assert!(open.stdout.contains("\n1 test: 1 unfinished\n"), "{}", open.stdout);
    assert_eq!(fs::read_to_string(directory.join("long.lineup")).expect("the observations"), text);
}

fn calls_that_are_not_listed_are_errors(directory: &Path) {
    choose(directory, "queue", "right");
    insta::assert_snapshot!(lineup(directory, &["--calls"]).stdout, @"
    add(200)
    add(400)
    try_take()
    ");
    let unlisted = lineup(directory, &["--test", "add(300) || try_take()"]);
    insta::assert_snapshot!(format!("{}exit {}", unlisted.stderr, unlisted.code), @"
    error: lineup: the program does not list the call `add(300)`; did you mean `add(200)`?
    exit 2
    ");
    let malformed = lineup(directory, &["--test", "add(200 || try_take()"]);
    insta::assert_snapshot!(format!("{}exit {}", malformed.stderr, malformed.code), @"
    error: invalid value 'add(200 || try_take()' for '--test <TEST>': expected `)` at character 22, found the end

    For more information, try '--help'.
    exit 2
    ");
}

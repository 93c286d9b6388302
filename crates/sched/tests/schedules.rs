//! Programs under control, end to end: defects are found, executions repeat, and every ending is distinguished.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use omnilink_explore::audit::symbolize;
use omnilink_explore::instrument::cxx::{Compiler, Family};
use omnilink_explore::strategy::{Dfs, Dpor, Sampling, Strategy};
use omnilink_explore::{Control, ControlError, Ended, Ending, Execution, ExecutionOrder, Runtime};
use omnilink_schedule::channel::Policy;
use omnilink_schedule::{Kind, Schedule};

/// Longer than any execution takes.
const LONG: Duration = Duration::from_secs(20);

/// The directory of programs and the runtime. It outlives the tests, each of which may have its own process.
fn directory() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::install(directory()).unwrap());

/// How a program is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Build {
    Instrumented,
    /// Instrumented, but the C library comes before the runtime.
    TooLate,
    Plain,
}

/// Compiles a program, unless that was done before. File names include everything a program depends on.
fn build(name: &str, how: Build) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.cpp"));
    let mut hasher = DefaultHasher::new();
    (fs::read(&source).unwrap(), RUNTIME.path(), how).hash(&mut hasher);
    let program = directory().join(format!("{name}-{:016x}", hasher.finish()));
    if program.exists() {
        return program;
    }
    let own = tempfile::tempdir_in(directory()).unwrap();
    let made = own.path().join(name);
    let arguments = ["-std=c++20", "-O1", "-g", "-pthread"].map(OsString::from);
    let arguments: Vec<OsString> =
        arguments.into_iter().chain([source.into(), "-o".into(), made.clone().into()]).collect();
    let words = [OsString::from("g++")];
    let compiler = Compiler { words: &words, family: Family::Gcc };
    let mut commands = match how {
        Build::Plain => vec![words.iter().cloned().chain(arguments).collect()],
        Build::Instrumented | Build::TooLate => compiler.commands(&arguments, &RUNTIME, own.path()).unwrap(),
    };
    if let (Build::TooLate, Some(link)) = (how, commands.last_mut()) {
        let library = Command::new("g++").arg("-print-file-name=libc.so.6").output().unwrap();
        let library = String::from_utf8(library.stdout).unwrap();
        link.splice(1..1, ["-Wl,--no-as-needed", library.trim()].map(OsString::from));
    }
    for command in commands {
        let output = Command::new(&command[0]).args(&command[1..]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    fs::rename(made, &program).unwrap();
    program
}

/// Starts a program under control.
fn start(name: &str, arguments: &[&str]) -> Control {
    Control::start(Command::new(build(name, Build::Instrumented)).args(arguments), &RUNTIME.path(), directory())
        .unwrap()
}

fn execute(control: &mut Control, order: &ExecutionOrder) -> Execution {
    control.execute(order, LONG).unwrap()
}

/// Executes a strategy's orders until it ends or has found what is looked for, and returns the number of executions.
fn explore(strategy: &mut dyn Strategy, control: &mut Control, most: u64, is_hit: impl Fn(&Ending) -> bool) -> u64 {
    let mut hits = 0;
    while strategy.tally().executions < most
        && let Some(order) = strategy.next()
    {
        let execution = execute(control, &order);
        hits += u64::from(is_hit(&execution.ended));
        strategy.learn(&execution);
    }
    hits
}

/// The program reports a lost update.
fn is_lost(ended: &Ending) -> bool {
    matches!(ended, Ending::Crashed { how, .. } if how == "exited with code 1")
}

#[test]
fn every_way_of_sampling_finds_the_lost_update() {
    let mut control = start("lost", &["2", "1"]);
    for policy in [Policy::Random, Policy::Pct, Policy::Pos] {
        let mut sampling = Sampling::new(ExecutionOrder { policy, seed: 1, ..ExecutionOrder::default() });
        let hits = explore(&mut sampling, &mut control, 100, is_lost);
        assert!((1..100).contains(&hits), "{policy:?}: {hits}");
        assert_eq!(sampling.tally().finished + hits, 100);
    }
}

/// The number of classes is known: they differ in the order of loads and stores of one number.
#[test]
fn every_class_of_executions_is_explored_once() {
    let check = |threads: &str, increments: &str| {
        let mut control = start("lost", &[threads, increments]);
        let mut dpor = Dpor::new(ExecutionOrder::default());
        let hits = explore(&mut dpor, &mut control, 1000, is_lost);
        assert!(dpor.is_complete() && hits > 0);
        dpor.tally().executions - dpor.tally().asleep
    };
    assert_eq!([check("2", "1"), check("2", "2"), check("3", "1")], [4, 34, 36]);
}

#[test]
fn one_preemption_loses_an_update() {
    let mut control = start("lost", &["2", "1"]);
    let mut dfs = Dfs::new(ExecutionOrder::default(), Some(0));
    assert_eq!(explore(&mut dfs, &mut control, 1000, is_lost), 0);
    assert!(!dfs.is_complete());
    let mut dfs = Dfs::new(ExecutionOrder::default(), None);
    assert!(explore(&mut dfs, &mut control, 1000, is_lost) > 0);
    assert!(dfs.is_complete());
    assert_eq!(dfs.per_bound(), [3, 13, 40, 69, 66, 42, 15, 3]);
}

#[test]
fn waking_the_wrong_thread_ends_in_a_deadlock() {
    let mut control = start("condvar", &["bug"]);
    let is_stuck = |ended: &Ending| *ended == Ending::Deadlock;
    for policy in [Policy::Random, Policy::Pos] {
        let mut sampling = Sampling::new(ExecutionOrder { policy, seed: 1, ..ExecutionOrder::default() });
        assert!(explore(&mut sampling, &mut control, 200, is_stuck) > 0, "{policy:?}");
    }
    let mut dpor = Dpor::new(ExecutionOrder::default());
    assert!(explore(&mut dpor, &mut control, 1000, is_stuck) > 0 && dpor.is_complete());
    let mut correct = start("condvar", &[]);
    let mut dpor = Dpor::new(ExecutionOrder::default());
    assert_eq!(explore(&mut dpor, &mut correct, 1000, is_stuck), 0);
    assert!(dpor.is_complete());
}

#[test]
fn the_same_seed_is_the_same_execution() {
    for (name, arguments) in [("lost", &["3", "2"][..]), ("condvar", &[]), ("moodycamel", &[])] {
        let order = |seed| ExecutionOrder { seed, ..ExecutionOrder::default() };
        let once = execute(&mut start(name, arguments), &order(7));
        let mut control = start(name, arguments);
        // Earlier executions of a process make no difference.
        let other = execute(&mut control, &order(8));
        assert_eq!(execute(&mut control, &order(7)), once, "{name}");
        assert_ne!(other.digest, once.digest, "{name}");
    }
}

#[test]
fn a_schedule_that_was_written_down_is_followed_under_another_policy() {
    let mut control = start("lost", &["2", "1"]);
    let mut found = (1..100).map(|seed| execute(&mut control, &ExecutionOrder { seed, ..ExecutionOrder::default() }));
    let found = found.find(|execution| is_lost(&execution.ended)).unwrap();
    let schedule: Schedule = found.schedule().to_string().parse().unwrap();
    for policy in [Policy::Steady, Policy::Pos] {
        let order =
            ExecutionOrder { policy, seed: 99, follow: schedule.0.clone(), strict: true, ..ExecutionOrder::default() };
        assert_eq!(execute(&mut start("lost", &["2", "1"]), &order), found);
    }
}

/// Executes `ends` once.
fn end(control: &mut Control, how: &str, timeout: Duration) -> Result<Execution, ControlError> {
    let environment = vec![("HOW".to_owned(), how.to_owned())];
    control.execute(&ExecutionOrder { environment, limit: 10_000, ..ExecutionOrder::default() }, timeout)
}

/// The next step of each thread, and its function in `ends`. Addresses are left out.
fn describe(control: &Control, execution: &Execution) -> String {
    const FUNCTIONS: [&str; 5] = ["left_then_right", "right_then_left", "spin", "write_to_nowhere", "main"];
    let (program, base) = (build("ends", Build::Instrumented), control.outcome().base);
    let mut text = String::new();
    let mut thread = |what: &str, stack: &[String]| {
        let is_known = |line: &&str| FUNCTIONS.iter().any(|name| line.split(['(', ' ']).next() == Some(name));
        let place = stack.iter().map(String::as_str).find(is_known);
        let place = place.and_then(|line| line.split(['(', ' ']).next()).unwrap_or("an unknown place");
        writeln!(text, "{what} in {place}").unwrap();
    };
    match execution.ended(&|places| symbolize(&program, base, places)) {
        Ended::Stuck { how, threads } => {
            for blocked in threads {
                let doing = blocked.doing.split(" 0x").next().unwrap();
                thread(&format!("{how}: thread {} {doing}", blocked.thread), &blocked.stack);
            }
        }
        Ended::Crashed { how, stack, .. } => thread(&how, &stack),
        other => panic!("{other:?}"),
    }
    text
}

#[test]
fn stuck_and_crashed_threads_report_their_stacks() {
    let mut control = start("ends", &[]);
    let stuck = (1..200).find_map(|seed| {
        let environment = vec![("HOW".to_owned(), "deadlock".to_owned())];
        let execution = execute(&mut control, &ExecutionOrder { seed, environment, ..ExecutionOrder::default() });
        (execution.ended == Ending::Deadlock).then_some(execution)
    });
    insta::assert_snapshot!(describe(&control, &stuck.unwrap()), @"
    no thread is enabled: thread 0 joins thread 1 in main
    no thread is enabled: thread 1 locks in left_then_right
    no thread is enabled: thread 2 locks in right_then_left
    ");
    let spinning = end(&mut control, "livelock", LONG).unwrap();
    assert_eq!(spinning.ended, Ending::Livelock);
    insta::assert_snapshot!(describe(&control, &spinning), @"
    threads run, but nothing changes: thread 0 joins thread 1 in main
    threads run, but nothing changes: thread 1 loads in spin
    ");
    let crashed = end(&mut control, "crash", LONG).unwrap();
    assert_eq!(crashed.steps.iter().filter(|step| step.kind() == Some(Kind::Store)).count(), 1);
    insta::assert_snapshot!(describe(&control, &crashed), @"killed by SIGSEGV in write_to_nowhere");
}

#[test]
fn unobserved_waits_time_out_and_the_next_execution_works() {
    let mut control = start("ends", &[]);
    for how in ["sleep", "compute"] {
        assert_eq!(end(&mut control, how, Duration::from_millis(500)).unwrap().ended, Ending::TimedOut, "{how}");
        assert_eq!(end(&mut control, "", LONG).unwrap().ended, Ending::Finished);
    }
}

#[test]
fn more_threads_than_can_be_controlled_are_an_error() {
    let mut control = start("ends", &[]);
    insta::assert_snapshot!(end(&mut control, "threads", LONG).unwrap_err(), @"unsupported: the program has more than 64 threads at a time");
    assert_eq!(end(&mut control, "", LONG).unwrap().ended, Ending::Finished);
}

#[test]
fn uncontrollable_programs_are_rejected() {
    let refusal = |how: Build, preload: &Path| {
        let mut control = Control::start(&Command::new(build("lost", how)), preload, directory()).unwrap();
        control.execute(&ExecutionOrder::default(), LONG).unwrap_err().to_string()
    };
    let runtime = RUNTIME.path();
    insta::assert_snapshot!(refusal(Build::Plain, &runtime), @"the program cannot be controlled: no part of the program is instrumented; build it with `omnilink build` or `cargo omnilink`");
    // The runtime is not preloaded, so it comes where it was linked.
    insta::assert_snapshot!(refusal(Build::TooLate, Path::new("")), @"the program cannot be controlled: the program would not call the runtime's `pthread_create`; the runtime must come before all other libraries (LD_PRELOAD)");
    insta::assert_snapshot!(refusal(Build::Plain, Path::new("")), @"the program was not controlled: it ended before the first run (exited with code 0); no output");
}

/// The endings of a program, each once, in all schedules of a strategy.
fn endings(strategy: &mut dyn Strategy, control: &mut Control) -> BTreeSet<String> {
    let mut endings = BTreeSet::new();
    while let Some(order) = strategy.next() {
        let execution = execute(control, &order);
        strategy.learn(&execution);
        match execution.ended {
            Ending::Asleep => {}
            ended => drop(endings.insert(format!("{ended:?}"))),
        }
    }
    endings
}

/// Reading a clock passes information between threads, so it is a step.
#[test]
fn clocks_and_deadlines_are_explored() {
    for (what, count) in [("clock", 2), ("deadline", 2)] {
        let mut control = start("channels", &[what]);
        let mut dpor = Dpor::new(ExecutionOrder::default());
        let by_classes = endings(&mut dpor, &mut control);
        assert!(dpor.is_complete(), "{what}");
        let one_by_one = endings(&mut Dfs::new(ExecutionOrder::default(), Some(3)), &mut control);
        assert_eq!(by_classes, one_by_one, "{what}");
        assert!(by_classes.len() >= count, "{what}: {by_classes:?}");
    }
}

/// Drawing random numbers passes no information between threads, so it is not a step.
#[test]
fn what_a_thread_draws_does_not_depend_on_others() {
    let mut control = start("channels", &["random"]);
    let mut sampling = Sampling::new(ExecutionOrder { policy: Policy::Random, ..ExecutionOrder::default() });
    let mut draws = BTreeSet::new();
    for _ in 0..20 {
        let order = sampling.next().unwrap();
        // The generators of threads come from the seed, and so does the schedule; other decisions change only the
        // schedule.
        let execution = execute(&mut control, &order);
        let again = ExecutionOrder {
            seed: 7,
            policy: Policy::Steady,
            follow: execution.decisions.clone(),
            ..ExecutionOrder::default()
        };
        let execution = execute(&mut control, &again);
        let stores = execution.steps.iter().filter(|step| step.kind() == Some(Kind::Store) && step.size == 4);
        let drawn = |thread| stores.clone().filter(|step| step.thread == thread).map(|step| step.value).collect();
        draws.insert([1, 2].map(drawn) as [Vec<u64>; 2]);
    }
    assert_eq!(draws.len(), 1, "{draws:?}");
    let [first, second] = draws.first().unwrap();
    assert!(first.len() == 2 && second.len() == 2 && first != second, "{draws:?}");
}

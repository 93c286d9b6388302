//! `omnilink build run`: runs a program built for control many times, each time with another schedule.
//!
//! `cargo omnilink test` runs tests with this. A program of Rust tests is run for each of its tests alone, so that a test
//! that fails does not hide the others; another program is one test. A test that fails with some schedule fails, and is
//! kept as a run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use omnilink_campaign::{DfsOptions, Error, FailedTest, How, Scheduling, TestRun, TestVerdict, Testing};
use omnilink_explore::{Blocked, Ended, Run, Store, audit, panic_message};
use omnilink_report::clean;
use omnilink_settings::{FILE_NAME, KnownRace, Settings};
use omnilink_suggest::counted;

use super::CALLED_IN;
use super::libtest::{Listed, Selection, arguments_for, own_output};
use crate::args::{RunArgs, RunOptions};
use crate::exit::Exit;
use crate::host::HOST;
use crate::limits;
use crate::outcome::{exit_of_end, own_frames, print_campaign_error, print_end, print_outdated_reads, print_race};
use crate::runs::store_option;
use crate::terminal::finish;

/// The maximum time of one execution.
const PATIENCE: Duration = Duration::from_secs(60);

/// Rust's test harness runs a test on a thread of its own, for which its main thread waits.
const HARNESS_THREADS: usize = 2;

/// The number of random schedules for each test, and the time that they may take, if the user sets neither.
const SCHEDULES: u64 = 1_000;
const TIME: Duration = Duration::from_secs(20);

/// Variables that only Cargo sets, or that change what a test does: a replay has the same.
const VARIABLES: [&str; 9] = [
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "CARGO_PKG_NAME",
    "CARGO_PKG_VERSION",
    "OMNILINK_RUNS",
    "OMNILINK_SEED",
    "RUST_BACKTRACE",
    "RUST_LIB_BACKTRACE",
    "RUST_LOG",
];

/// Tells `#[omnilink::test]` that each schedule is one run, which is kept here.
const CONTROLLED: &str = "OMNILINK_CONTROLLED";

/// Whether a program of tests is one of documentation examples, which starts a process for each of them.
fn is_of_rustdoc(program: &Path) -> bool {
    program.file_name().is_some_and(|name| name == "rust_out")
}

pub(super) fn run(args: &RunArgs) -> Result<ExitCode, String> {
    let [program, arguments @ ..] = &*args.command else { return Err("no program given".into()) };
    let program = std::path::absolute(program).map_err(|error| error.to_string())?;
    let is_harness = audit::has_test_harness(&program).map_err(|error| format!("{}: {error}", program.display()))?;
    let selection = Selection::parse(arguments);
    if is_harness && (selection.runs_nothing || is_of_rustdoc(&program)) {
        if is_of_rustdoc(&program) {
            sayln!("documentation examples are compiled into one program, which is not controlled");
        }
        return super::status(Command::new(&program).args(arguments)).map(super::code);
    }
    limits::catch_interrupts();
    let testing = testing(args, if is_harness { HARNESS_THREADS } else { 1 })?;
    let exit = match is_harness {
        true => run_tests(&args.options, &testing, &program, &selection)?,
        false => run_program(&args.options, &testing, &program, arguments)?,
    };
    let cleared = testing.clear().map_or_else(print_campaign_error, |()| Exit::Nothing);
    Ok(finish(exit.max(cleared)).into())
}

fn testing(args: &RunArgs, own_threads: usize) -> Result<Testing, String> {
    let RunOptions { runs, time, schedule, .. } = args.options;
    let all = if schedule.is_exploration() { u64::MAX } else { SCHEDULES };
    let time = time.or((runs.is_none() && !schedule.is_exploration()).then_some(TIME));
    let mut variables: Vec<_> = VARIABLES.map(|name| (name.to_owned(), std::env::var(name).ok())).into();
    variables.push((CONTROLLED.to_owned(), Some("1".to_owned())));
    Ok(Testing {
        host: HOST,
        store: Store::at(std::path::absolute(&args.store).map_err(|error| error.to_string())?),
        directory: std::env::current_dir().map_err(|error| error.to_string())?,
        variables,
        known_races: known_races()?,
        executions: runs.unwrap_or(all),
        time,
        timeout: PATIENCE,
        own_threads,
    })
}

/// The data races that the settings accept, if the current directory has settings.
fn known_races() -> Result<Vec<KnownRace>, String> {
    match Path::new(FILE_NAME) {
        file if file.exists() => Ok(Settings::read(file).map_err(|error| error.to_string())?.harness.races),
        _ => Ok(Vec::new()),
    }
}

/// How schedules are chosen for a program.
fn scheduling(options: &RunOptions, testing: &Testing, program: &Path) -> Result<Scheduling, Error> {
    let dfs = DfsOptions { bound: options.bound, every_schedule: options.scheduling.every_schedule };
    let order = options.scheduling.order(options.seed, false);
    let program = [program.to_string_lossy().into_owned()];
    testing.scheduling(&program, options.schedule, order, dfs, &mut |said| sayln!("{said}"))
}

/// Runs a program that is not a program of Rust tests.
fn run_program(
    options: &RunOptions,
    testing: &Testing,
    program: &Path,
    arguments: &[OsString],
) -> Result<Exit, String> {
    let words = arguments.iter().map(|argument| argument.to_string_lossy().into_owned());
    let path = program.to_string_lossy().into_owned();
    let command: Vec<String> = std::iter::once(path.clone()).chain(words).collect();
    let ran = scheduling(options, testing, program).and_then(|scheduling| testing.run(&path, &command, &scheduling));
    let ran = match ran {
        Ok(ran) => ran,
        Err(error) => return Ok(print_campaign_error(error)),
    };
    sayln!("{}: {}", program.display(), verdict(options, &ran));
    say!("{}", explored(&ran));
    if let TestVerdict::Failed(failed) = &ran.verdict {
        print_failed(failed, &failed.run.ended);
        print_next(&testing.store, &failed.run.id);
    }
    Ok(exit_of(&ran.verdict))
}

/// The number of tests with each verdict.
#[derive(Default)]
struct Counts {
    passed: u64,
    inconclusive: u64,
    errors: u64,
    ignored: u64,
}

/// Runs a program of Rust tests, one by one.
fn run_tests(options: &RunOptions, testing: &Testing, program: &Path, selection: &Selection) -> Result<Exit, String> {
    let tests = selection.list(program)?;
    let started = Instant::now();
    let scheduling = match scheduling(options, testing, program) {
        Ok(scheduling) => scheduling,
        Err(error) => return Ok(print_campaign_error(error)),
    };
    sayln!(
        "\nrunning {} under control: {}",
        counted(tests.len() as u64, "test"),
        described(options, testing, &scheduling)
    );
    let (mut counts, mut failures, mut exit) = (Counts::default(), Vec::new(), Exit::Accepted);
    for Listed { name, is_ignored } in &tests {
        if *is_ignored {
            sayln!("test {} ... ignored", clean(name));
            counts.ignored += 1;
            continue;
        }
        let command = std::iter::once(program.to_string_lossy().into_owned()).chain(arguments_for(name));
        match testing.run(name, &command.collect::<Vec<_>>(), &scheduling) {
            Ok(ran) => {
                sayln!("test {} ... {}", clean(name), verdict(options, &ran));
                say!("{}", explored(&ran));
                if selection.shows_output {
                    let output = own_output(&ran.output, name);
                    output.lines().for_each(|line| sayln!("    | {}", clean(line)));
                }
                exit = exit.max(exit_of(&ran.verdict));
                match ran.verdict {
                    TestVerdict::Passed | TestVerdict::OneThread => counts.passed += 1,
                    TestVerdict::Inconclusive { .. } => counts.inconclusive += 1,
                    TestVerdict::Failed(failed) => failures.push((name, failed)),
                    TestVerdict::Interrupted => break,
                }
            }
            Err(error) => {
                sayln!("test {} ... not run", clean(name));
                counts.errors += 1;
                exit = exit.max(print_campaign_error(error));
            }
        }
    }
    print_failures(&testing.store, &failures);
    print_summary(exit, &counts, failures.len(), started.elapsed());
    Ok(exit)
}

/// How the tests are run.
fn described(options: &RunOptions, testing: &Testing, chosen: &Scheduling) -> String {
    let RunOptions { seed, scheduling, .. } = options;
    let number = match (testing.executions, chosen.how, chosen.dfs.bound) {
        (u64::MAX, How::Dfs, Some(bound)) => {
            format!("all schedules with at most {}", counted(u64::from(bound), "preemption"))
        }
        (u64::MAX, ..) => "all schedules".to_owned(),
        (number, ..) => format!("{} each", counted(number, "schedule")),
    };
    let time = testing.time.map(|time| format!(" or {}", humantime::format_duration(time))).unwrap_or_default();
    let seeds = if chosen.how.is_exploration() { format!("seed {seed}") } else { format!("seeds from {seed}") };
    let weak = if scheduling.weak_memory { ", weak memory as in C11" } else { "" };
    let plain = if scheduling.plain { ", plain accesses are steps" } else { "" };
    format!("{number}{time} ({}, {seeds}{weak}{plain})", chosen.how.name())
}

/// The verdict on a test, as the end of its line.
fn verdict(options: &RunOptions, ran: &TestRun) -> String {
    let schedules = counted(ran.executions, "schedule");
    match &ran.verdict {
        TestVerdict::Passed => format!("ok ({schedules})"),
        TestVerdict::OneThread => "ok (starts no thread)".to_owned(),
        TestVerdict::Inconclusive { too_long: 0, not_started } => {
            format!("inconclusive ({not_started} of {schedules} did not start in time)")
        }
        TestVerdict::Inconclusive { too_long, .. } => {
            let limit = counted(options.scheduling.max_steps, "step");
            format!("inconclusive ({too_long} of {schedules} took more than {limit})")
        }
        TestVerdict::Interrupted => "interrupted".to_owned(),
        TestVerdict::Failed(failed) => {
            let seed = failed.run.plan.seed;
            let found = match options.schedule.is_exploration() {
                true => format!("after {schedules}"),
                false => format!("seed {seed}"),
            };
            format!("FAILED ({}, {found})", clean(&failure(&failed.run)))
        }
    }
}

/// How a test failed, in a few words.
fn failure(run: &Run) -> String {
    if let Some(race) = run.raced() {
        return race.kind().to_owned();
    }
    match &run.ended {
        Ended::Stuck { how, .. } if how.contains("no thread is enabled") => "deadlock".to_owned(),
        Ended::Stuck { .. } => "livelock".to_owned(),
        Ended::Crashed { said, .. } if said.contains("test did not panic as expected") => "did not panic".to_owned(),
        Ended::Crashed { said, .. } if panic_message(said).is_some() => "panicked".to_owned(),
        Ended::Crashed { how, .. } => how.clone(),
        _ => "did not end".to_owned(),
    }
}

/// The data races that are accepted, and the claim about the schedules of an exploration that did not fail.
fn explored(ran: &TestRun) -> String {
    let races = ran.accepted_races.iter().map(|reason| format!("  accepted data race: {}\n", clean(reason)));
    let claim = match ran.verdict {
        TestVerdict::Passed | TestVerdict::Inconclusive { .. } => ran.explored.text(),
        _ => String::new(),
    };
    races.chain(claim.lines().map(|line| format!("  {line}\n"))).collect()
}

fn print_failures(store: &Store, failures: &[(&String, Box<FailedTest>)]) {
    if failures.is_empty() {
        return;
    }
    sayln!("\nfailures:");
    for (name, failed) in failures {
        sayln!("\n---- {} ----", clean(name));
        print_failed(failed, &shortened(&failed.run.ended, name));
    }
    sayln!("\nfailures:");
    for (name, failed) in failures {
        sayln!("    {} ({})", clean(name), failed.run.id);
    }
    if let [(_, failed), ..] = failures {
        print_next(store, &failed.run.id);
    }
}

/// How a test ended, without the test harness and the standard library.
fn shortened(ended: &Ended, name: &str) -> Ended {
    let own = |stack: &[String]| -> Vec<String> {
        let is_of_dependency = |frame: &str| frame.contains("/.cargo/registry/") || frame.contains("/.cargo/git/");
        let mut frames: Vec<String> = Vec::new();
        for frame in own_frames(stack).into_iter().filter(|frame| frame.contains(" at ")) {
            // The innermost frame of a dependency stands for all of them.
            let is_inside = is_of_dependency(&frame) && frames.last().is_some_and(|last| is_of_dependency(last));
            if !is_inside {
                frames.push(frame);
            }
        }
        frames
    };
    let blocked = |threads: &[Blocked]| -> Vec<Blocked> {
        let threads = threads.iter().map(|thread| Blocked { stack: own(&thread.stack), ..thread.clone() });
        // The main thread waits for the test.
        threads.filter(|thread| thread.thread > 0 || !thread.stack.is_empty()).collect()
    };
    match ended {
        Ended::Crashed { how, said, stack } => {
            Ended::Crashed { how: how.clone(), said: own_output(said, name), stack: own(stack) }
        }
        Ended::Stuck { how, threads } => Ended::Stuck { how: how.clone(), threads: blocked(threads) },
        Ended::TimedOut { threads } => Ended::TimedOut { threads: blocked(threads) },
        ended => ended.clone(),
    }
}

/// Prints how a test failed, and the run that is kept.
fn print_failed(failed: &FailedTest, ended: &Ended) {
    print_end(ended);
    failed.run.controlled.iter().for_each(|controlled| print_outdated_reads(controlled.outdated_reads));
    if let Some(race) = failed.run.raced() {
        print_race(race);
    }
    let repeats = match &failed.run.controlled {
        _ if matches!(failed.run.ended, Ended::TimedOut { .. }) => "",
        Some(controlled) if controlled.repeats => "; replayed once in a fresh process: identical",
        _ => "; a replay in a fresh process is not identical: the test is not deterministic",
    };
    sayln!("  kept as {}{repeats}", failed.run.id);
    for note in &failed.notes {
        sayln!("  {}", note.text());
    }
}

/// The commands for a kept run, as the user calls them.
fn print_next(store: &Store, id: &str) {
    let here = std::env::var_os(CALLED_IN).map(PathBuf::from).or_else(|| std::env::current_dir().ok());
    let relative = here.and_then(|here| store.directory().strip_prefix(here).ok().map(Path::to_owned));
    let store = store_option(&relative.map_or_else(|| store.clone(), Store::at));
    sayln!("\n  replay       omnilink replay {id}{store}");
    sayln!("  shrink       omnilink shrink {id}{store}");
    sayln!("  debug        omnilink debug {id}{store}");
}

fn print_summary(exit: Exit, counts: &Counts, failed: usize, took: Duration) {
    let Counts { passed, inconclusive, errors, ignored } = counts;
    let result = match exit {
        Exit::Accepted => "ok",
        Exit::Inconclusive => "inconclusive",
        Exit::Interrupted => "interrupted",
        Exit::Wrong => "error",
        _ => "FAILED",
    };
    let some = [(*inconclusive, "inconclusive"), (*errors, "not run")].into_iter().filter(|(count, _)| *count > 0);
    let some: String = some.map(|(count, what)| format!(" {count} {what};")).collect();
    let took = took.as_secs_f64();
    sayln!(
        "\ntest result: {result}. {passed} passed; {failed} failed;{some} {ignored} ignored; finished in {took:.1} s\n"
    );
}

fn exit_of(verdict: &TestVerdict) -> Exit {
    match verdict {
        TestVerdict::Passed | TestVerdict::OneThread => Exit::Accepted,
        TestVerdict::Inconclusive { .. } => Exit::Inconclusive,
        TestVerdict::Failed(failed) => exit_of_end(&failed.run.ended, failed.run.raced()),
        TestVerdict::Interrupted => Exit::Interrupted,
    }
}

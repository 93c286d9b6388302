//! `omnilink lineup`: checks an object against its own serial behavior.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use campaign::{DfsOptions, Exploration, How, Isolated, LineupVerdict, ObjectProgram, Raced, Tested, Unexplained};
use explore::{Blocked, Controlled, Ended, Program, Store, counted};
use judge::InputError;
use lineup::{Observations, Test};
use report::clean;
use serde_json::json;
use settings::Accepted;

use crate::args::{LineupArgs, Output};
use crate::exit::Exit;
use crate::host::HOST;
use crate::limits;
use crate::outcome::{print_campaign_error, print_end, print_race};
use crate::progress::bar;
use crate::project::read_settings;
use crate::runs::store_option;
use crate::terminal::complain;

pub(crate) fn run(args: &LineupArgs) -> Exit {
    limits::catch_interrupts();
    match prepare(args).and_then(|session| session.run()) {
        Ok(exit) | Err(exit) => exit,
    }
}

/// An object program, and what is asked about it.
struct Session<'a> {
    args: &'a LineupArgs,
    object: ObjectProgram,
    store: Store,
    tests: Vec<Named>,
    accepted: Vec<Accepted>,
}

/// A test, and where it comes from.
struct Named {
    test: Test,
    from: String,
}

fn prepare(args: &LineupArgs) -> Result<Session<'_>, Exit> {
    let (file, mut settings) = read_settings(&args.directory, args.settings.as_deref())?;
    let directory = file.parent().unwrap_or(Path::new("")).to_owned();
    let run = if args.command.is_empty() { settings.harness.run.clone() } else { args.command.clone() };
    if run.is_empty() {
        let help = "`run = [\"target/release/object\"]` below `[harness]`, or `omnilink lineup -- COMMAND`";
        let message = "no command to run the object program given".to_owned();
        return Err(complain(&file.display().to_string(), &InputError { message, help: Some(help.into()) }));
    }
    let store = Store::at(directory.join("target/omnilink"));
    let directory = if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory };
    let program = Program { directory, build: settings.harness.build.clone(), run, ..Program::default() };
    // The program of the settings with other arguments is built for control like itself.
    let is_own = args.command.is_empty() || args.command.first() == settings.harness.run.first();
    if let (true, Some(controlled), [_, rest @ ..]) = (is_own, &mut settings.harness.controlled, &*args.command) {
        controlled.run.truncate(1);
        controlled.run.extend_from_slice(rest);
    }
    let object = match is_own {
        true => ObjectProgram::build(HOST, &program, &settings, &store, args.timeout, args.no_build),
        false => ObjectProgram::prebuilt(HOST, &program, &settings, &store, args.timeout),
    };
    let object = object.map_err(print_campaign_error)?;
    let tests = if args.calls { Vec::new() } else { tests(args, object.calls())? };
    if args.observations.is_some() && tests.len() != 1 {
        let message = "`--observations` is about one test: give it with `--test`".to_owned();
        return Err(complain("lineup", &InputError { message, help: None }));
    }
    Ok(Session { args, object, store, tests, accepted: settings.lineup.accepted })
}

/// The tests that are given, or random ones.
fn tests(args: &LineupArgs, calls: &[String]) -> Result<Vec<Named>, Exit> {
    let given = args.given.iter().map(|test| Named { test: test.clone(), from: "given".into() });
    let mut tests: Vec<Named> = given.collect();
    if let Some(path) = &args.file {
        let about = path.display().to_string();
        let wrong = |message| complain(&about, &InputError { message, help: None });
        let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let test = line.parse().map_err(|error| wrong(format!("line {}: {error}", number + 1)))?;
            tests.push(Named { test, from: format!("{about}:{}", number + 1) });
        }
    }
    if !tests.is_empty() || args.file.is_some() {
        return Ok(tests);
    }
    let (threads, length) = args.size;
    let mut known = HashSet::new();
    let mut random: Vec<Named> = Vec::new();
    // Objects with few calls have few different tests.
    for number in 0..args.tests.saturating_mul(10) {
        let seed = args.seed.wrapping_add(number);
        let test = Test::random(calls, threads, length, seed)
            .map_err(|error| complain("--size", &InputError { message: error.to_string(), help: None }))?;
        if known.insert(test.to_string()) {
            random.push(Named { test, from: format!("seed {seed}") });
        }
        if random.len() as u64 == args.tests {
            break;
        }
    }
    Ok(random)
}

/// What all tests together came to.
#[derive(Default)]
struct Summary {
    passed: u64,
    failed: u64,
    raced: u64,
    accepted: u64,
    unfinished: u64,
    not_run: u64,
    broken: u64,
    complete: u64,
    /// The tests that passed, with all schedules of a bound or with drawn ones.
    bounded: u64,
    /// Why schedules were left out, each with the number of tests that passed or did not come to an end.
    shortfalls: BTreeMap<String, u64>,
    /// Why executions had a process each, with the number of tests.
    isolated: BTreeMap<&'static str, u64>,
    /// Why data races are accepted.
    accepted_races: BTreeSet<String>,
    full: usize,
    stuck: usize,
    executions: u64,
    serial_time: Duration,
    concurrent_time: Duration,
}

impl Session<'_> {
    fn run(&self) -> Result<Exit, Exit> {
        let args = self.args;
        if args.calls {
            self.object.calls().iter().for_each(|call| outln!("{}", clean(call)));
            return Ok(Exit::Accepted);
        }
        let started = Instant::now();
        let is_human = args.format == Output::Human;
        let exploration = self.exploration(started);
        if is_human {
            outln!(
                "{} of an object with {}: {}; schedules: {}",
                counted(self.tests.len() as u64, "test"),
                counted(self.object.calls().len() as u64, "call"),
                clean(&self.object.calls().join(", ")),
                described(&exploration),
            );
        }
        let bar = bar(args.progress);
        let (mut summary, mut results) = (Summary::default(), Vec::new());
        for (number, named) in self.tests.iter().enumerate() {
            if limits::is_interrupted() || exploration.until.is_some_and(|until| Instant::now() >= until) {
                summary.not_run = (self.tests.len() - number) as u64;
                break;
            }
            let before = summary.executions;
            let tested = self.object.check(&named.test, &exploration, &mut |executions| {
                let rate = (before + executions) as f64 / started.elapsed().as_secs_f64();
                bar.set_message(format!(
                    "test {}, {} executions, {rate:.0} per second",
                    number + 1,
                    before + executions
                ));
                bar.tick();
            });
            let tested = tested.map_err(|error| bar.suspend(|| print_campaign_error(error)))?;
            summary.count(&tested);
            if let Some(path) = &args.observations {
                self.compare(path, &tested.observations)?;
            }
            let has_failed = tested.verdict.has_failed();
            let tested = match has_failed && !args.no_reduce {
                true => {
                    let reduced = self.object.reduce(tested, &exploration, &mut |test| {
                        bar.set_message(format!("making it smaller: {}", clean(&test.to_string())));
                        bar.tick();
                    });
                    reduced.map_err(|error| bar.suspend(|| print_campaign_error(error)))?
                }
                false => tested,
            };
            let accepted = has_failed.then(|| self.accepted(&tested.test)).flatten();
            summary.add(&tested.verdict, accepted.is_some());
            if let Some(Accepted { test, reason }) = accepted {
                results.push(json(named, &tested, None, Some(reason)));
                if is_human {
                    bar.suspend(|| outln!("\n{}: fails as accepted: {}", clean(test), clean(reason)));
                }
                continue;
            }
            let kept = self.object.keep(&self.store, &tested).map_err(print_campaign_error)?;
            results.push(json(named, &tested, kept.as_deref(), None));
            if has_failed && is_human {
                bar.suspend(|| self.print_failure(named, &tested, kept.as_deref()));
            }
            if has_failed && !args.keep_going {
                break;
            }
        }
        bar.finish_and_clear();
        match args.format {
            Output::Human => out!("{}", summary.text(self.tests.len() as u64, &described(&exploration))),
            Output::Json => outln!("{:#}", json!({ "schema": "omnilink.lineup/1", "tests": results })),
        }
        Ok(summary.exit())
    }

    /// The accepted failure that this smallest failing test is.
    fn accepted(&self, test: &Test) -> Option<&Accepted> {
        let text = test.to_string();
        self.accepted.iter().find(|accepted| accepted.test == text)
    }

    fn exploration(&self, started: Instant) -> Exploration {
        let args = self.args;
        let order = args.scheduling.order(args.seed, !args.isolate);
        let dfs = DfsOptions { bound: Some(args.bound), every_schedule: args.scheduling.every_schedule };
        let are_small = self.tests.iter().all(|named| named.test.operations() <= COMPLETE);
        let how = args.schedule.unwrap_or(if are_small { How::Dpor } else { How::Dfs });
        let is_human = args.format == Output::Human;
        let mut tell = |said: String| {
            if is_human {
                outln!("{said}");
            }
        };
        let scheduling = self.object.scheduling(how, order, dfs, &mut tell);
        let most = if scheduling.how.is_exploration() { u64::MAX } else { SAMPLES };
        Exploration {
            scheduling,
            executions: args.executions.unwrap_or(most),
            samples: if args.schedule.is_none() { MORE } else { 0 },
            stops_at_race: false,
            until: args.time.and_then(|time| started.checked_add(time)),
        }
    }

    /// Writes the serial behavior, or compares it with the file.
    fn compare(&self, path: &Path, observations: &Observations) -> Result<(), Exit> {
        let about = path.display().to_string();
        let wrong = |message| complain(&about, &InputError { message, help: None });
        if !path.exists() {
            return fs::write(path, observations.to_string()).map_err(|error| wrong(error.to_string()));
        }
        let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let before: Observations = text.parse().map_err(|error: lineup::Unreadable| wrong(error.to_string()))?;
        match before.difference(observations) {
            None => Ok(()),
            Some(difference) => {
                outln!("{}: the object behaves differently: {}", clean(&about), clean(&difference));
                Err(Exit::Rejected)
            }
        }
    }

    fn print_failure(&self, named: &Named, tested: &Tested, kept: Option<&str>) {
        let Tested { test, verdict, .. } = tested;
        outln!("\n{} ({}): {}", clean(&named.test.to_string()), clean(&named.from), word(verdict));
        if *test != named.test {
            outln!("smallest test that fails alike: {}", clean(&test.to_string()));
        }
        match verdict {
            LineupVerdict::Nondeterministic(difference) => {
                outln!("\n{}", clean(&difference.headline(test)));
                outln!("\n  one serial run     {}", clean(&difference.earlier.display(test)));
                outln!("  another            {}", clean(&difference.later.display(test)));
                outln!(
                    "\nIf answers are meant to vary, use a specification that allows them all. If the object keeps something \
                     outside of itself on purpose, such as a global counter, `--isolate` starts a process for every run."
                );
            }
            LineupVerdict::Unexplained(unexplained) => self.print_unexplained(test, unexplained, kept),
            LineupVerdict::Raced(raced) => self.print_raced(raced, kept),
            LineupVerdict::Broken { is_serial, ended } => {
                outln!("\nin a {} execution:", if *is_serial { "serial" } else { "concurrent" });
                print_end(ended);
            }
            LineupVerdict::Passed | LineupVerdict::Unfinished | LineupVerdict::Interrupted => {}
        }
        if let Some(isolated) = tested.isolated {
            outln!("each execution had a process of its own: {}", isolated.reason());
        }
    }

    fn print_unexplained(&self, test: &Test, unexplained: &Unexplained, kept: Option<&str>) {
        let Unexplained { observed, failure, run, controlled } = unexplained;
        outln!("\n{}\n", clean(&lineup::headline(test, failure)));
        lineup::columns(test, observed).iter().for_each(|line| outln!("  {}", clean(line)));
        for closest in &failure.closest {
            outln!("\nclosest serial run: {}", clean(&closest.run.display(test)));
            for differing in &closest.differing {
                outln!(
                    "  there `{}` of thread {} {}, here it {}",
                    clean(test.call(differing.place)),
                    differing.place.thread,
                    answered(&differing.serial),
                    answered(&differing.observed),
                );
            }
        }
        print_waiting(test, &run.ran.ended);
        self.print_kept(controlled.as_ref(), kept);
    }

    fn print_raced(&self, raced: &Raced, kept: Option<&str>) {
        outln!();
        match &raced.race {
            Some(race) => print_race(race),
            None => outln!("  {}", clean(&raced.cause)),
        }
        self.print_kept(raced.controlled.as_ref(), kept);
    }

    fn print_kept(&self, controlled: Option<&Controlled>, kept: Option<&str>) {
        match controlled.is_some_and(|controlled| controlled.repeats) {
            true => outln!("\nrun again in a fresh process: identical"),
            false => outln!("\nit could not be repeated in a fresh process: the object program is nondeterministic"),
        }
        if let Some(id) = kept {
            outln!("kept as {id}: {}\n", self.store.path(id).display());
            outln!("  again        omnilink replay {id}{}", store_option(&self.store));
        }
    }
}

/// Prints where the threads of a stuck test wait, without the frames of the recorder that made the calls. The main thread
/// waits for them, and is thread 0 of the program.
fn print_waiting(test: &Test, ended: &Ended) {
    let Ended::Stuck { threads, .. } = ended else { return };
    let has_own_threads = threads.iter().any(|blocked| blocked.thread > test.columns().len());
    for Blocked { thread, doing, stack } in threads {
        let name = match thread {
            0 => continue,
            // The object has started threads of its own, so numbers do not tell which is which.
            _ if has_own_threads => format!("thread {thread} of the program"),
            thread => format!("thread {}", thread - 1),
        };
        outln!("\n{name} {}", clean(doing));
        let is_recorder = |frame: &&String| ["omnilink::", "omnilink_record::"].iter().any(|path| frame.contains(path));
        stack.iter().take_while(|frame| !is_recorder(frame)).for_each(|frame| outln!("  in {}", clean(frame)));
    }
}

/// The largest number of calls of a test whose schedules are all explored by default. Three threads with two calls each
/// take seconds, with three calls hours.
const COMPLETE: usize = 6;

/// The number of random schedules after an exploration by default that is not complete.
const MORE: u64 = 500;

/// The number of random schedules of one test.
const SAMPLES: u64 = 1000;

fn described(exploration: &Exploration) -> String {
    let scheduling = &exploration.scheduling;
    let name = scheduling.how.name();
    match (scheduling.how, scheduling.dfs.bound) {
        (How::Dpor, _) => format!("{name}, all of them"),
        (How::Dfs, Some(bound)) => {
            let more = match exploration.samples {
                0 => String::new(),
                samples => format!(", then {samples} at random"),
            };
            format!("{name}, all with at most {}{more}", counted(u64::from(bound), "preemption"))
        }
        (How::Dfs, None) => format!("{name}, all of them"),
        _ => format!("{name}, at most {} for each test", exploration.executions),
    }
}

fn word(verdict: &LineupVerdict) -> &'static str {
    match verdict {
        LineupVerdict::Passed => "passed",
        LineupVerdict::Nondeterministic(_) => "nondeterministic",
        LineupVerdict::Unexplained(unexplained) if unexplained.failure.is_stuck => "stuck, and no serial run is",
        LineupVerdict::Unexplained(_) => "no serial run explains it",
        LineupVerdict::Raced(_) => "data race",
        LineupVerdict::Broken { .. } => "crashed or did not end",
        LineupVerdict::Unfinished => "not explored to the end",
        LineupVerdict::Interrupted => "interrupted",
    }
}

fn answered(answer: &lineup::Answer) -> String {
    match answer {
        lineup::Answer::Returned(results) if results.is_empty() => "returns".to_owned(),
        lineup::Answer::Returned(results) => format!("returns {}", clean(results)),
        lineup::Answer::Blocked => "blocks".to_owned(),
    }
}

fn json(named: &Named, tested: &Tested, kept: Option<&str>, accepted: Option<&str>) -> serde_json::Value {
    let Tested { test, observations, verdict, .. } = tested;
    let why = match verdict {
        LineupVerdict::Nondeterministic(difference) => Some(difference.headline(test)),
        LineupVerdict::Unexplained(unexplained) => Some(lineup::headline(test, &unexplained.failure)),
        LineupVerdict::Raced(raced) => Some(raced.cause.clone()),
        _ => None,
    };
    let race = match verdict {
        LineupVerdict::Raced(raced) => raced.race.as_ref(),
        _ => None,
    };
    json!({
        "test": named.test.to_string(),
        "from": named.from,
        "verdict": word(verdict),
        "smallest": test.to_string(),
        "why": why,
        "race": race,
        "accepted_races": tested.accepted_races,
        "accepted": accepted,
        "run": kept,
        "serial": { "full": observations.full(), "stuck": observations.stuck(), "seconds": tested.serial_time.as_secs_f64() },
        "isolated": tested.isolated.map(Isolated::reason),
        "concurrent": {
            "executions": tested.executions,
            "seconds": tested.concurrent_time.as_secs_f64(),
            "explored": tested.explored.as_ref().map(campaign::Explored::json),
        },
    })
}

impl Summary {
    fn add(&mut self, verdict: &LineupVerdict, is_accepted: bool) {
        *match verdict {
            _ if is_accepted => &mut self.accepted,
            LineupVerdict::Passed => &mut self.passed,
            LineupVerdict::Nondeterministic(_) | LineupVerdict::Unexplained(_) => &mut self.failed,
            LineupVerdict::Raced(_) => &mut self.raced,
            LineupVerdict::Broken { .. } => &mut self.broken,
            LineupVerdict::Unfinished | LineupVerdict::Interrupted => &mut self.unfinished,
        } += 1;
    }

    fn count(&mut self, tested: &Tested) {
        let is_complete = tested.explored.as_ref().is_some_and(campaign::Explored::covers_all);
        self.complete += u64::from(is_complete && matches!(tested.verdict, LineupVerdict::Passed));
        let shortfall = tested.explored.as_ref().and_then(campaign::Explored::shortfall);
        match (&tested.verdict, shortfall) {
            (LineupVerdict::Passed | LineupVerdict::Unfinished, Some(why)) => {
                *self.shortfalls.entry(why).or_default() += 1;
            }
            (LineupVerdict::Passed, None) => self.bounded += u64::from(!is_complete),
            _ => {}
        }
        if let Some(isolated) = tested.isolated {
            *self.isolated.entry(isolated.reason()).or_default() += 1;
        }
        self.accepted_races.extend(tested.accepted_races.iter().cloned());
        self.full += tested.observations.full();
        self.stuck += tested.observations.stuck();
        self.executions += tested.executions;
        self.serial_time += tested.serial_time;
        self.concurrent_time += tested.concurrent_time;
    }

    fn text(&self, tests: u64, schedules: &str) -> String {
        let Summary { passed, failed, raced, accepted, unfinished, not_run, broken, complete, .. } = self;
        let counts = [
            (passed, "passed"),
            (failed, "failed"),
            (raced, "with a data race"),
            (accepted, "failed as accepted"),
            (broken, "crashed"),
            (unfinished, "unfinished"),
            (not_run, "not run"),
        ];
        let counts: Vec<String> =
            counts.iter().filter(|(count, _)| **count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        let rate = self.executions as f64 / self.concurrent_time.as_secs_f64().max(1e-9);
        let serial = match self.stuck {
            0 => counted(self.full as u64, "serial run"),
            stuck => format!("{} and {stuck} that block", counted(self.full as u64, "serial run")),
        };
        let mut claim = String::new();
        let mut claims = |said: &str, tests: u64, why: &str| {
            if tests > 0 {
                let colon = if why.is_empty() { "" } else { ": " };
                claim += &format!("{said} for {}{colon}{why}\n", counted(tests, "test"));
            }
        };
        claims("all schedules were explored", *complete, "");
        self.shortfalls.iter().for_each(|(why, tests)| claims("not all schedules were explored", *tests, why));
        claims("not all schedules were explored", self.bounded, schedules);
        self.isolated.iter().for_each(|(why, tests)| claims("each execution had a process of its own", *tests, why));
        let races = self.accepted_races.iter().map(|reason| format!("accepted data race: {}\n", clean(reason)));
        claim.extend(races);
        format!(
            "\n{}: {}\n{serial} in {:.2} s, {} in {:.2} s ({rate:.0} per second)\n{claim}",
            counted(tests, "test"),
            if counts.is_empty() { "none run".to_owned() } else { counts.join(", ") },
            self.serial_time.as_secs_f64(),
            counted(self.executions, "concurrent execution"),
            self.concurrent_time.as_secs_f64(),
        )
    }

    fn exit(&self) -> Exit {
        let exits = [
            (self.passed + self.accepted, Exit::Accepted),
            (
                self.unfinished + self.not_run,
                if limits::is_interrupted() { Exit::Interrupted } else { Exit::Inconclusive },
            ),
            (self.raced, Exit::Raced),
            (self.broken, Exit::Crashed),
            (self.failed, Exit::Rejected),
        ];
        exits.iter().filter(|(count, _)| *count > 0).map(|(_, exit)| *exit).fold(Exit::Nothing, Exit::max)
    }
}

//! `omnilink lineup`: checks an object against its own serial behavior.

mod rounds;
mod summary;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use omnilink_campaign::{
    DfsOptions, Exploration, How, Isolated, LineupVerdict, ObjectProgram, Raced, Tested, Unexplained,
};
use omnilink_explore::{Blocked, Controlled, Ended, Program, Store};
use omnilink_judge::InputError;
use omnilink_lineup::{Observations, Test};
use omnilink_report::clean;
use omnilink_settings::Accepted;
use omnilink_suggest::counted;
use serde_json::json;

use self::rounds::{Meetings, Named, Round};
use self::summary::Summary;
use crate::args::{LineupArgs, Output, STORE};
use crate::exit::Exit;
use crate::host::HOST;
use crate::limits;
use crate::outcome::{print_campaign_error, print_end, print_outdated_reads, print_race};
use crate::progress::Display;
use crate::project::read_settings;
use crate::runs::store_option;
use crate::terminal::complain;

pub(crate) fn run(args: &LineupArgs) -> Exit {
    limits::catch_interrupts();
    match prepare(args).and_then(|(session, rounds)| session.run(rounds)) {
        Ok(exit) | Err(exit) => exit,
    }
}

/// An object program, and what is asked about it.
struct Session<'a> {
    args: &'a LineupArgs,
    object: ObjectProgram,
    store: Store,
    accepted: Vec<Accepted>,
}

fn prepare(args: &LineupArgs) -> Result<(Session<'_>, Vec<Round>), Exit> {
    let rounds = Round::asked(args)?;
    if args.observations.is_some() && !matches!(&*rounds, [Round::Given(tests)] if tests.len() == 1) {
        let message = "`--observations` is about one test: give it with `--test`".to_owned();
        return Err(complain("lineup", &InputError { message, help: None }));
    }
    let (file, mut settings) = read_settings(&args.directory, args.settings.as_deref())?;
    let directory = file.parent().unwrap_or(Path::new("")).to_owned();
    let run = if args.command.is_empty() { settings.harness.run.clone() } else { args.command.clone() };
    if run.is_empty() {
        let help = "`run = [\"target/release/object\"]` below `[harness]`, or `omnilink lineup -- COMMAND`";
        let message = "no command to run the object program given".to_owned();
        return Err(complain(&file.display().to_string(), &InputError { message, help: Some(help.into()) }));
    }
    let store = Store::at(directory.join(STORE));
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
    Ok((Session { args, object, store, accepted: settings.lineup.accepted }, rounds))
}

/// The rounds of a session, and what they have come to so far.
struct Search<'a> {
    session: &'a Session<'a>,
    display: Display,
    /// No execution starts after this.
    until: Option<Instant>,
    /// Whether rounds go on for as long as there is time, so that its end leaves nothing open.
    is_growing: bool,
    /// The last message about the strategy.
    said: String,
    meetings: Meetings,
    summary: Summary,
    results: Vec<serde_json::Value>,
}

impl Search<'_> {
    fn run(&mut self, rounds: Vec<Round>) -> Result<(), Exit> {
        let (args, calls) = (self.session.args, self.session.object.calls());
        let number = rounds.len();
        for (before, round) in rounds.into_iter().enumerate() {
            // Later rounds share the time that an earlier one leaves.
            let later = u32::try_from(number - before).unwrap_or(1);
            let until = self.until.map(|until| {
                let now = Instant::now();
                now + until.saturating_duration_since(now) / later
            });
            let size = round.size().filter(|_| self.is_growing);
            let tests = round.tests(args, calls, &self.meetings)?;
            let exploration = self.session.exploration(&tests, until, &mut self.said);
            if args.format == Output::Human {
                let (tests, schedules) = (counted(tests.len() as u64, "test"), described(&exploration));
                match size {
                    Some(size) => sayln!("{size}: {tests}; schedules: {schedules}"),
                    None => sayln!("{tests} of {}; schedules: {schedules}", self.session.described_object()),
                }
            }
            if self.run_round(&tests, &exploration)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Runs the tests of a round. Breaks if nothing is to follow.
    fn run_round(&mut self, tests: &[Named], exploration: &Exploration) -> Result<ControlFlow<()>, Exit> {
        let is_over = || exploration.until.is_some_and(|until| Instant::now() >= until);
        for (number, named) in tests.iter().enumerate() {
            let left = (tests.len() - number) as u64;
            if limits::is_interrupted() {
                self.summary.not_run += left;
                return Ok(ControlFlow::Break(()));
            }
            if is_over() {
                *if self.is_growing { &mut self.summary.cut } else { &mut self.summary.not_run } += left;
                break;
            }
            // One test does not take the time of all others.
            let until = exploration.until.filter(|_| self.is_growing).map(|until| {
                let now = Instant::now();
                now + until.saturating_duration_since(now) / u32::try_from(left).unwrap_or(SHARES).min(SHARES)
            });
            let until = until.or(exploration.until);
            let before = self.summary.executions;
            let share = Exploration { until, ..exploration.clone() };
            let tested = self.session.object.check(&named.test, &share, &mut |executions| {
                let place = format!("test {} of {}, {}", number + 1, tests.len(), named.from);
                self.display.show(format!("{place}: {} executions in all", before + executions));
            });
            let tested = tested.map_err(|error| self.display.suspend(|| print_campaign_error(error)))?;
            self.meetings.add(&tested.test, tested.executions);
            self.summary.count(&tested, &described(exploration));
            // Runs that are missing are no other behavior.
            if let Some(path) = &self.session.args.observations
                && tested.observations.missing(1).is_empty()
            {
                self.session.compare(path, &tested.observations)?;
            }
            let has_failed = tested.verdict.has_failed();
            let is_accepted = match has_failed {
                true => self.tell_failure(named, tested, exploration)?,
                false => {
                    self.summary.add(&tested.verdict, false, self.is_growing.then_some(tested.executions));
                    self.results.push(json(named, &tested, None, None));
                    false
                }
            };
            if has_failed && !is_accepted && !self.session.args.keep_going {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Makes a failing test smaller, and shows it. Whether the user accepts it.
    fn tell_failure(&mut self, named: &Named, tested: Tested, exploration: &Exploration) -> Result<bool, Exit> {
        let Search { session, display, .. } = self;
        let is_human = session.args.format == Output::Human;
        let first = format!("{} ({}): {}", clean(&named.test.to_string()), clean(&named.from), word(&tested.verdict));
        // It may take a while until it is smaller.
        let is_said = is_human && session.accepted.is_empty();
        if is_said {
            display.suspend(|| sayln!("\n{first}"));
        }
        let tested = match session.args.no_reduce {
            true => tested,
            false => {
                let limit = Instant::now().checked_add(REDUCTION);
                let until = [self.until, limit].into_iter().flatten().min();
                let reduced =
                    session.object.reduce(tested, &Exploration { until, ..exploration.clone() }, &mut |test| {
                        display.show(format!("making it smaller: {}", clean(&test.to_string())));
                    });
                if is_human && until.is_some_and(|until| Instant::now() >= until) {
                    display.suspend(|| sayln!("time is over: a smaller test may fail, too"));
                }
                reduced.map_err(|error| display.suspend(|| print_campaign_error(error)))?
            }
        };
        let accepted = session.accepted(&tested.test);
        self.summary.add(&tested.verdict, accepted.is_some(), None);
        if let Some(Accepted { test, reason }) = accepted {
            self.results.push(json(named, &tested, None, Some(reason)));
            if is_human {
                display.suspend(|| sayln!("\n{}: fails as accepted: {}", clean(test), clean(reason)));
            }
            return Ok(true);
        }
        let kept = session.object.keep(&session.store, &tested).map_err(print_campaign_error)?;
        self.results.push(json(named, &tested, kept.as_deref(), None));
        if is_human {
            display.suspend(|| {
                if !is_said {
                    sayln!("\n{first}");
                }
                session.print_failure(named, &tested, kept.as_deref());
            });
        }
        Ok(false)
    }
}

impl Session<'_> {
    fn run(&self, rounds: Vec<Round>) -> Result<Exit, Exit> {
        let args = self.args;
        if args.calls {
            self.object.calls().iter().for_each(|call| sayln!("{}", clean(call)));
            return Ok(Exit::Accepted);
        }
        let (time, is_growing) = (Round::time(&rounds, args), rounds.len() > 1);
        if args.format == Output::Human && is_growing {
            let time = time.map(|time| format!(", at most {}", humantime::format_duration(time))).unwrap_or_default();
            sayln!("random tests of growing sizes{time}, of {}", self.described_object());
        }
        let mut search = Search {
            session: self,
            display: Display::new(args.progress),
            until: time.and_then(|time| Instant::now().checked_add(time)),
            is_growing,
            said: String::new(),
            meetings: Meetings::default(),
            summary: Summary::default(),
            results: Vec::new(),
        };
        let searched = search.run(rounds);
        search.display.clear();
        searched?;
        match args.format {
            Output::Human => say!("{}", search.summary.text()),
            Output::Json => outln!("{:#}", json!({ "schema": "omnilink.lineup/1", "tests": search.results })),
        }
        Ok(search.summary.exit())
    }

    fn described_object(&self) -> String {
        let calls = self.object.calls();
        format!("an object with {}: {}", counted(calls.len() as u64, "call"), clean(&calls.join(", ")))
    }

    /// The accepted failure that this smallest failing test is.
    fn accepted(&self, test: &Test) -> Option<&Accepted> {
        let text = test.to_string();
        self.accepted.iter().find(|accepted| accepted.test == text)
    }

    /// How these tests are explored. A message about the strategy is printed once.
    fn exploration(&self, tests: &[Named], until: Option<Instant>, said: &mut String) -> Exploration {
        let args = self.args;
        let order = args.scheduling.order(args.seed, !args.isolate);
        let dfs = DfsOptions { bound: Some(args.bound), every_schedule: args.scheduling.every_schedule };
        let are_small = tests.iter().all(|named| named.test.operations() <= COMPLETE);
        let how = args.schedule.unwrap_or(if are_small { How::Dpor } else { How::Dfs });
        let is_human = args.format == Output::Human;
        let mut tell = |now: String| {
            if is_human && *said != now {
                sayln!("{now}");
                *said = now;
            }
        };
        let scheduling = self.object.scheduling(how, order, dfs, &mut tell);
        let most = if scheduling.how.is_exploration() { u64::MAX } else { SAMPLES };
        Exploration {
            scheduling,
            executions: args.executions.unwrap_or(most),
            samples: if args.schedule.is_none() { MORE } else { 0 },
            stops_at_race: false,
            until,
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
        let before: Observations =
            text.parse().map_err(|error: omnilink_lineup::Unreadable| wrong(error.to_string()))?;
        match before.difference(observations) {
            None => Ok(()),
            Some(difference) => {
                sayln!("{}: the object behaves differently: {}", clean(&about), clean(&difference));
                Err(Exit::Rejected)
            }
        }
    }

    /// Prints the lines about a failing test after the first one.
    fn print_failure(&self, named: &Named, tested: &Tested, kept: Option<&str>) {
        let Tested { test, verdict, .. } = tested;
        if *test != named.test {
            sayln!("smallest test that fails the same way: {}", clean(&test.to_string()));
        }
        match verdict {
            LineupVerdict::Nondeterministic(difference) => {
                sayln!("\n{}", clean(&difference.headline(test)));
                sayln!("\n  one serial run     {}", clean(&difference.earlier.display(test)));
                sayln!("  another            {}", clean(&difference.later.display(test)));
                sayln!(
                    "\nIf answers are meant to vary, use a specification that allows them all. If the object keeps something \
                     outside of itself on purpose, such as a global counter, `--isolate` starts a process for every run."
                );
            }
            LineupVerdict::Unexplained(unexplained) => self.print_unexplained(test, unexplained, kept),
            LineupVerdict::Raced(raced) => self.print_raced(raced, kept),
            LineupVerdict::Broken(ended) => {
                sayln!("\nin a serial execution:");
                print_end(ended);
            }
            LineupVerdict::Crashed(crashed) => {
                sayln!("\nin a concurrent execution:");
                print_end(&crashed.run.ran.ended);
                self.print_kept(crashed.controlled.as_ref(), kept);
            }
            LineupVerdict::Passed
            | LineupVerdict::OutOfTime
            | LineupVerdict::Unfinished
            | LineupVerdict::Interrupted => {}
        }
        if let Some(isolated) = tested.isolated {
            sayln!("each execution had a process of its own: {}", isolated.reason());
        }
    }

    fn print_unexplained(&self, test: &Test, unexplained: &Unexplained, kept: Option<&str>) {
        let Unexplained { observed, failure, run, controlled } = unexplained;
        sayln!("\n{}\n", clean(&omnilink_lineup::headline(test, failure)));
        omnilink_lineup::columns(test, observed).iter().for_each(|line| sayln!("  {}", clean(line)));
        for closest in &failure.closest {
            sayln!("\nclosest serial run: {}", clean(&closest.run.display(test)));
            for differing in &closest.differing {
                sayln!(
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
        sayln!();
        match &raced.race {
            Some(race) => print_race(race),
            None => sayln!("  {}", clean(&raced.cause)),
        }
        self.print_kept(raced.controlled.as_ref(), kept);
    }

    fn print_kept(&self, controlled: Option<&Controlled>, kept: Option<&str>) {
        controlled.iter().for_each(|controlled| print_outdated_reads(controlled.outdated_reads));
        sayln!(
            "\n{}",
            match controlled.map(|controlled| controlled.repeats) {
                Some(true) => "run again in a fresh process: identical",
                Some(false) => "it could not be repeated in a fresh process: the object program is nondeterministic",
                None =>
                    "run again after a serial run in a fresh process: it fails; no execution failed in a process of its own",
            }
        );
        if let Some(id) = kept {
            sayln!("kept as {id}: {}\n", self.store.path(id).display());
            if controlled.is_some() {
                sayln!("  replay       omnilink replay {id}{}", store_option(&self.store));
            }
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
        sayln!("\n{name} {}", clean(doing));
        let is_recorder = |frame: &&String| ["omnilink::", "omnilink_record::"].iter().any(|path| frame.contains(path));
        stack.iter().take_while(|frame| !is_recorder(frame)).for_each(|frame| sayln!("  in {}", clean(frame)));
    }
}

/// The next test gets the time that is left for its size, divided by this.
const SHARES: u32 = 8;

/// How long a failing test is made smaller.
const REDUCTION: Duration = Duration::from_secs(30);

/// The largest number of calls of a test whose schedules are all explored by default. Three threads with two calls each
/// take seconds, with three calls hours.
const COMPLETE: usize = 6;

/// The number of random schedules, half of them with weak memory, after an exploration by default that is not complete.
const MORE: u64 = 600;

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
                samples => format!(", then {samples} of `mix`"),
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
        LineupVerdict::Broken(_) | LineupVerdict::Crashed(_) => "crashed or did not end",
        LineupVerdict::OutOfTime | LineupVerdict::Unfinished => "not explored to the end",
        LineupVerdict::Interrupted => "interrupted",
    }
}

fn answered(answer: &omnilink_lineup::Answer) -> String {
    match answer {
        omnilink_lineup::Answer::Returned(results) if results.is_empty() => "returns".to_owned(),
        omnilink_lineup::Answer::Returned(results) => format!("returns {}", clean(results)),
        omnilink_lineup::Answer::Blocked => "blocks".to_owned(),
    }
}

fn json(named: &Named, tested: &Tested, kept: Option<&str>, accepted: Option<&str>) -> serde_json::Value {
    let Tested { test, observations, verdict, .. } = tested;
    let race = match verdict {
        LineupVerdict::Raced(raced) => raced.race.as_ref(),
        _ => None,
    };
    json!({
        "test": named.test.to_string(),
        "from": named.from,
        "verdict": word(verdict),
        "smallest": test.to_string(),
        "why": tested.cause(),
        "race": race,
        "accepted_races": tested.accepted_races,
        "accepted": accepted,
        "run": kept,
        "serial": { "full": observations.full(), "stuck": observations.stuck(), "seconds": tested.serial_time.as_secs_f64() },
        "isolated": tested.isolated.map(Isolated::reason),
        "concurrent": {
            "executions": tested.executions,
            "seconds": tested.concurrent_time.as_secs_f64(),
            "explored": tested.explored.as_ref().map(omnilink_campaign::Explored::json),
        },
    })
}

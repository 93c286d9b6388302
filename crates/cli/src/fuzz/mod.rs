//! `omnilink fuzz`: runs a harness many times, checks every recording, and keeps what fails.
//!
//! Two threads share the work: this one records run after run, and another one checks the recordings as they come, so
//! that a check overlaps the next recording. The second one prints, so that what it prints is never torn.

pub(crate) mod args;
pub(crate) mod runs;
mod tally;
mod tier;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant, SystemTime};

use explore::{
    Belongings, Campaign, Control, ControlError, Controlled, Coverage, Ended, Ending, Environment, Execution, Note,
    Order, Plan, Program, Race, Ran, Run, Store, counted, strategy,
};
use indicatif::{ProgressBar, ProgressStyle};
use judge::{Case, Failed, InputError, Judge, Recording};
use report::{Report, clean};
use settings::{FILE_NAME, ReadError, Settings};

use crate::args::{Output, Progress};
use crate::check::output::write_extras;
use crate::check::{tell, tell_about_spec};
use crate::complain;
use crate::control::args::How;
use crate::exit::Exit;
use crate::limits::{self, Limits};
use args::{FuzzArgs, Keep};
pub(crate) use tally::failure_of;
use tally::{Kind, Problem, Seen, Tally};
use tier::{Explored, Raced, Tier};

pub(crate) fn run(args: &FuzzArgs) -> Exit {
    limits::catch_interrupts();
    match prepare(args).and_then(|fuzz| fuzz.run()) {
        Ok(exit) | Err(exit) => exit,
    }
}

/// All that stays the same from run to run.
struct Fuzz<'a> {
    args: &'a FuzzArgs,
    settings: Settings,
    spec: String,
    judge: Judge,
    campaign: Campaign,
    program: Program,
    store: Store,
    environment: Environment,
}

/// A run that is to be checked.
struct Recorded {
    number: u64,
    plan: Plan,
    ran: Ran,
    began: u64,
    trace: PathBuf,
    /// How it was controlled, if it was.
    decided: Option<Decided>,
}

/// What was asked for, what came of it, and why it need not be the same again.
struct Decided {
    order: Order,
    execution: Execution,
    notes: Vec<Note>,
}

impl Recorded {
    fn label(&self) -> String {
        format!("run {} ({})", self.number + 1, self.plan.describe())
    }
}

/// What came of a run.
struct Checked {
    report: Result<Report, Failed>,
    coverage: Coverage,
}

fn prepare(args: &FuzzArgs) -> Result<Fuzz<'_>, Exit> {
    let file = args.settings.clone().unwrap_or_else(|| args.directory.join(FILE_NAME));
    // A path from here is shown as short as it is.
    let file = file.strip_prefix(".").map(Path::to_owned).unwrap_or(file);
    let wrong = |about: &Path, message: String, help: Option<String>| {
        complain(&about.display().to_string(), &InputError { message, help })
    };
    let settings = Settings::read(&file).map_err(|error| match error {
        ReadError::Io { error, .. } => {
            let help = "`omnilink init` sets up a harness with its settings";
            wrong(&file, format!("cannot be read: {error}"), Some(help.into()))
        }
        ReadError::Parse { error, .. } => wrong(&file, error.to_string(), None),
    })?;
    let directory = file.parent().unwrap_or(Path::new("")).to_owned();
    let Some(spec) = settings.spec.clone() else {
        let help = "`spec = \"Queue.tla\"`, or the name of one of those that `omnilink specs` lists";
        return Err(wrong(&file, "it does not say what to check against".into(), Some(help.into())));
    };
    let run = if args.command.is_empty() { settings.harness.run.clone() } else { args.command.clone() };
    for extra in &args.reports {
        if extra.directory().is_some_and(|directory| !directory.is_dir()) {
            return Err(wrong(extra.path(), "its directory is not there".into(), None));
        }
    }
    if run.is_empty() {
        let help = "`run = [\"target/release/harness\"]` below `[harness]`, or `omnilink fuzz -- COMMAND`";
        return Err(wrong(&file, "it does not say how to run the harness".into(), Some(help.into())));
    }
    let seed = args.seed.unwrap_or_else(|| u64::from(now().subsec_nanos()));
    let campaign = Campaign::new(&settings, &args.profile, seed);
    let mut campaign = campaign.map_err(|error| wrong(&file, error.to_string(), None))?;
    campaign.runs = args.runs.unwrap_or(campaign.runs);
    campaign.time = args.time.or(campaign.time);
    campaign.timeout = args.timeout.unwrap_or(campaign.timeout);
    campaign.threads = args.threads.clone().unwrap_or(campaign.threads);
    campaign.operations = args.ops.clone().unwrap_or(campaign.operations);
    campaign.perturb = args.perturb.clone().unwrap_or(campaign.perturb);
    let path = if judge::is_tla(Path::new(&spec)) { directory.join(&spec).display().to_string() } else { spec.clone() };
    let criterion = args.order.criterion();
    let options = judge::Options { settings: Some(file), jobs: Some(1), criterion, ..judge::Options::default() };
    let judge = Judge::new(&path, options).map_err(|failed| tell_about_spec(&failed))?;
    let store = Store::at(directory.join("target/omnilink"));
    let directory = if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory };
    let program = Program { directory, build: settings.harness.build.clone(), run, ..Program::default() };
    Ok(Fuzz { args, settings, spec, judge, campaign, program, store, environment: Environment::here() })
}

impl Fuzz<'_> {
    fn run(&self) -> Result<Exit, Exit> {
        self.clear()?;
        let tier = self.choose_tier();
        self.clear()?;
        let tier = tier?;
        let campaign = self.suited(&tier);
        self.announce(&campaign, &tier);
        let mut control = match &tier {
            Tier::Controlled { harness, .. } => {
                let started = harness.start();
                Some(started.map_err(|error| complain("the harness", &InputError::new(error)))?)
            }
            _ => None,
        };
        let course = Course::new();
        let (recorded, to_check) = sync_channel(1);
        let (tally, recording) = std::thread::scope(|scope| {
            let checking = scope.spawn(|| self.check_all(&tier, to_check, &course));
            let recording = match (&tier, &mut control) {
                (Tier::Controlled { .. }, Some(control)) => {
                    self.record_controlled(&campaign, &tier, control, &recorded, &course)
                }
                _ => self.record_free(&campaign, &tier, &recorded, &course).map(|()| None),
            };
            drop(recorded);
            (checking.join().expect("checking does not panic"), recording)
        });
        // Recordings are in a directory that goes away with it.
        drop(control);
        let (tally, problem) = tally;
        let explored = recording.as_ref().ok().cloned().flatten();
        let concluded = self.conclude(&tally, explored.as_ref(), course.started.elapsed());
        // What was found before counts, whatever ended it.
        if let Err(error) = &recording {
            complain("the harness", &InputError::new(error));
        }
        let wrong = problem.or_else(|| recording.err().map(|_| Exit::Wrong));
        self.clear()?;
        Ok(concluded?.max(wrong.unwrap_or(Exit::Nothing)))
    }

    /// Records run after run until there is a reason to stop.
    fn record_free(
        &self,
        campaign: &Campaign,
        tier: &Tier,
        recorded: &SyncSender<Recorded>,
        course: &Course,
    ) -> io::Result<()> {
        let scratch = self.store.scratch();
        let cannot = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", scratch.display()));
        std::fs::create_dir_all(&scratch).map_err(cannot)?;
        // The harness runs elsewhere.
        let scratch = std::path::absolute(&scratch)?;
        for number in 0..campaign.runs {
            if is_enough(campaign, course) {
                return Ok(());
            }
            let plan = campaign.plan(number);
            let began = now().as_secs();
            let trace = scratch.join(format!("{number}"));
            let under = match tier {
                Tier::Rr(rr) => explore::rr::record(&absolute(rr)?, &scratch.join(format!("{number}.rr"))),
                _ => Vec::new(),
            };
            let is_interrupted = &limits::is_interrupted;
            let ran = self.program.run(&plan, &trace, campaign.timeout, &under, is_interrupted)?;
            if ran.ended == Ended::Interrupted {
                return Ok(());
            }
            if recorded.send(Recorded { number, plan, ran, began, trace, decided: None }).is_err() {
                return Ok(()); // The other thread has given up, and says why.
            }
        }
        Ok(())
    }

    /// The same under control, until there is nothing left to explore.
    fn record_controlled(
        &self,
        campaign: &Campaign,
        tier: &Tier,
        control: &mut Control,
        recorded: &SyncSender<Recorded>,
        course: &Course,
    ) -> io::Result<Option<Explored>> {
        let Tier::Controlled { harness, how, scheduling, unseen } = tier else { return Ok(None) };
        // Accesses that are steps are ordered by the schedule; and what orders others is known only if all of it is seen.
        let looks_for_races = !scheduling.plain && unseen.is_none();
        let Some(mut chosen) = crate::control::strategy(*how, scheduling, looks_for_races, campaign.seed) else {
            return Ok(None);
        };
        let strategy = chosen.strategy();
        let (mut number, mut is_exhausted, mut too_long) = (0, false, 0);
        let mut races: BTreeMap<Race, u64> = BTreeMap::new();
        while strategy.tally().executions < campaign.runs && !is_enough(campaign, course) {
            let Some(order) = strategy.next() else {
                is_exhausted = true;
                break;
            };
            // What is explored is one program with one input.
            let plan = campaign.plan(if how.is_exploration() { 0 } else { number });
            let began = now().as_secs();
            let tried = match harness.execute(control, &plan, order.clone()) {
                Err(ControlError::Interrupted) => break,
                tried => tried.map_err(io::Error::other)?,
            };
            strategy.learn(&tried.execution);
            let strategy::Tally { executions, asleep, .. } = *strategy.tally();
            course.executions.store(executions, Ordering::Relaxed);
            course.asleep.store(asleep, Ordering::Relaxed);
            if let Some(race) = tried.race {
                *races.entry(race).or_default() += 1;
            }
            too_long += u64::from(matches!(tried.ran.ended, Ended::TooLong { .. }));
            if limits::is_interrupted() {
                break;
            }
            if tried.execution.ended == Ending::Asleep {
                remove(&tried.trace)?;
                continue;
            }
            if tried.execution.ended == Ending::Diverged {
                return Err(io::Error::other(
                    "the same decisions led elsewhere: the harness does something that is not the same every time",
                ));
            }
            let trace = tried.trace.with_file_name(number.to_string());
            if tried.trace.exists() {
                std::fs::rename(&tried.trace, &trace)?;
            }
            let decided = Some(Decided { order, execution: tried.execution, notes: tried.notes });
            if recorded.send(Recorded { number, plan, ran: tried.ran, began, trace, decided }).is_err() {
                break;
            }
            number += 1;
        }
        let (tally, is_complete, held_back) = (*strategy.tally(), strategy.is_complete(), strategy.held_back());
        let bound = scheduling.bound.filter(|_| *how == How::Dfs);
        Ok(Some(Explored {
            how: *how,
            tally,
            is_complete,
            is_exhausted,
            bound,
            input: campaign.plan(0).describe(),
            is_plain: scheduling.plain,
            too_long,
            held_back,
            per_bound: chosen.per_bound().to_vec(),
            unseen: unseen.clone(),
            races: Raced::all(&races, harness, control.outcome().base),
        }))
    }

    /// Checks recordings as they come.
    fn check_all(&self, tier: &Tier, recorded: Receiver<Recorded>, course: &Course) -> (Tally, Option<Exit>) {
        let bar = self.bar();
        let mut tally = Tally::default();
        let mut shown = course.started;
        loop {
            // Most executions may show nothing that has to be checked: progress is shown all the same.
            let next = recorded.recv_timeout(PROGRESS);
            if self.shows_counters() && shown.elapsed() >= COUNTERS {
                shown = Instant::now();
                errln!("{:.0} s: {}", course.started.elapsed().as_secs_f64(), course.progress(&tally));
            }
            let run = match next {
                Ok(run) => run,
                Err(RecvTimeoutError::Timeout) => {
                    bar.set_message(course.progress(&tally));
                    bar.tick();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if course.is_over.load(Ordering::Relaxed) {
                continue; // It was recorded while the last one was checked.
            }
            let outcome = self.check_one(tier, &run, &mut tally, course.started, &bar);
            bar.set_message(course.progress(&tally));
            bar.tick();
            match outcome {
                Ok(is_bad) if is_bad && !self.args.keep_going => course.is_over.store(true, Ordering::Relaxed),
                Ok(_) => {}
                Err(exit) => {
                    course.is_over.store(true, Ordering::Relaxed);
                    bar.finish_and_clear();
                    return (tally, Some(exit));
                }
            }
        }
        bar.finish_and_clear();
        (tally, None)
    }

    /// Checks one run. True if it found something, and not only that a check took too long.
    fn check_one(
        &self,
        tier: &Tier,
        run: &Recorded,
        tally: &mut Tally,
        started: Instant,
        bar: &ProgressBar,
    ) -> Result<bool, Exit> {
        if run.ran.ended == Ended::Finished && !run.trace.exists() {
            let help = "a recorder writes to where the variable OMNILINK_TRACE says";
            let message = "it ended well, and recorded nothing".to_owned();
            return Err(bar.suspend(|| complain("the harness", &InputError { message, help: Some(help.into()) })));
        }
        let recording = Recording::at(&run.trace, None);
        let Checked { report, coverage } = self.judge(run, &recording);
        // What was under way when somebody asked to stop says nothing.
        if limits::is_interrupted() {
            return Ok(true);
        }
        tally.operations += coverage.actions.values().map(|happened| happened.operations).sum::<u64>();
        tally.coverage.merge(coverage);
        if tally.expected.is_none() && run.trace.exists() {
            tally.expected = self.judge.operations(&recording).ok();
        }
        let (report, problem) = match report {
            Ok(report) => {
                let missing = missing(&run.trace, &report);
                (Some(report), missing.map(Problem::Recording))
            }
            Err(Failed::Stopped(stop)) => (None, Some(Problem::Stopped(stop.to_string()))),
            Err(failed) => {
                if run.ran.ended == Ended::Finished {
                    bar.suspend(|| tell(&failed, &run.label()));
                }
                (None, Some(Problem::Recording(explore::without_numbers(&message(&failed)))))
            }
        };
        let seen = tally.add(&run.ran.ended, report.as_ref(), problem, self.campaign.timeout, started.elapsed());
        let is_first = seen.as_ref().is_some_and(|seen| seen.is_first);
        if is_first || self.args.keep == Keep::All {
            // A verdict is told before anything can go wrong with keeping it.
            if let Some(seen) = &seen {
                bar.suspend(|| self.tell_failure(run, report.as_ref(), seen));
            }
            let (id, repeats) = self.keep(tier, run, report.as_ref(), seen.as_ref())?;
            if let Some(seen) = &seen {
                tally.name(&seen.cause, &id);
                bar.suspend(|| self.tell_kept(&id, repeats, run, started.elapsed()));
            }
        }
        if !self.args.reports.is_empty() {
            tally.reports.extend(report);
        }
        let rr = run.trace.with_extension("rr");
        for path in [&run.trace, &rr] {
            remove(path).map_err(|error| complain("a recording", &InputError::new(error)))?;
        }
        Ok(seen.is_some_and(|seen| seen.kind != Kind::Inconclusive))
    }

    fn judge(&self, run: &Recorded, recording: &Recording) -> Checked {
        let label = run.label();
        let settings = limits::Settings {
            timeout: Some(self.args.check_timeout),
            max_memory: judge::Options::default().max_memory,
            progress: Progress::None,
        };
        let limits = Limits::new(&settings, &label);
        let mut case = Case { recording, label: &label, witness: None, limits: &limits };
        let mut report = self.judge.report(&mut case);
        if let Ok(report) = &mut report {
            report.stats.seconds = limits.elapsed().as_secs_f64();
            report.next.clear();
        }
        Checked { report, coverage: coverage(recording).unwrap_or_default() }
    }

    fn keep(
        &self,
        tier: &Tier,
        run: &Recorded,
        report: Option<&Report>,
        seen: Option<&Seen>,
    ) -> Result<(String, Option<bool>), Exit> {
        let id = self.store.free_id(run.plan.seed);
        let (command, controlled) = match (tier, &run.decided) {
            (Tier::Controlled { harness, how, .. }, Some(decided)) => {
                let controlled = self.repeated(harness, how.name(), run, decided);
                (harness.program.run.clone(), Some(controlled))
            }
            _ => (self.program.run.clone(), None),
        };
        // Whoever wants to stop did not let it be repeated.
        let repeats = controlled.as_ref().map(|controlled| controlled.repeats);
        let repeats = repeats.filter(|repeats| *repeats || !limits::is_interrupted());
        let schedule = run.decided.as_ref().map(|decided| decided.execution.schedule());
        let kept = Run {
            schema: Run::schema(),
            id: id.clone(),
            began: run.began,
            plan: run.plan.clone(),
            command,
            ended: run.ran.ended.clone(),
            took: run.ran.took.as_secs_f64(),
            spec: Path::new(&self.spec).file_name().unwrap_or_default().to_string_lossy().into_owned(),
            order: self.args.order.reported(),
            verdict: report.map(|report| report.verdict.word().to_owned()),
            cause: seen.map(|seen| seen.cause.clone()),
            controlled,
            environment: self.environment.clone(),
        };
        let belongings =
            Belongings { trace: &run.trace, report, spec: &self.judge.files(), schedule: schedule.as_ref() };
        let kept = self.store.keep(&kept, &belongings);
        let kept = kept.map_err(|error| complain("the run", &InputError::new(error)))?;
        let rr = run.trace.with_extension("rr");
        if rr.exists() {
            std::fs::rename(&rr, kept.join("rr")).map_err(|error| complain("the run", &InputError::new(error)))?;
        }
        Ok((id, repeats))
    }

    /// How a run was controlled, after it was repeated in a process of its own.
    fn repeated(
        &self,
        harness: &crate::control::Harness,
        strategy: &str,
        run: &Recorded,
        decided: &Decided,
    ) -> Controlled {
        let Decided { order, execution, .. } = decided;
        let controlled = execution.controlled(strategy, order);
        match harness.repeat(&run.plan, order, &execution.schedule()) {
            Ok((again, _control))
                if crate::control::ended_alike(&again.ran.ended, &run.ran.ended)
                    && again.execution.repeats(execution, !order.batch) =>
            {
                Controlled { repeats: true, digest: again.execution.fingerprint(), ..controlled }
            }
            _ => controlled,
        }
    }

    fn tell_kept(&self, id: &str, repeats: Option<bool>, run: &Recorded, after: Duration) {
        if self.args.format == Output::Human {
            let path = self.store.path(id);
            outln!("\nfound after {:.2} s, kept as {id}: {}", after.as_secs_f64(), path.display());
            match repeats {
                None => {}
                Some(true) => outln!("repeated once in a process of its own: the same"),
                Some(false) => outln!(
                    "it could not be repeated in a process of its own: the harness does something that is not the same \
                     every time, or `--batch` left something behind"
                ),
            }
            for note in run.decided.iter().flat_map(|decided| &decided.notes) {
                outln!("{}", note.text());
            }
        }
    }

    fn tell_failure(&self, run: &Recorded, report: Option<&Report>, seen: &Seen) {
        if self.args.format == Output::Json {
            return;
        }
        outln!();
        match (&run.ran.ended, report) {
            (Ended::Finished, Some(report)) if seen.kind != Kind::Unchecked => {
                out!("{}", report::text(report, report::Detail::Brief, true));
                if self.demands_real_time() {
                    outln!(
                        "note: C11 orders operations of different threads by synchronization only, not by real time; \
                         `--order program` does not demand real time"
                    );
                }
            }
            (ended @ (Ended::Crashed { .. } | Ended::Stuck { .. } | Ended::TimedOut { .. }), report) => {
                outln!("{}: {}", run.label(), seen.kind.word());
                runs::tell_ended(ended);
                if let Some(report) = report {
                    outln!("what it recorded before is {}", report.verdict.word());
                }
            }
            _ => outln!("{}: {}, {}", run.label(), seen.kind.word(), clean(&seen.cause)),
        }
    }

    /// Whether a rejection may say no more than that memory is weak: a load may read an older store though a newer one was
    /// made before in real time.
    fn demands_real_time(&self) -> bool {
        self.args.scheduling.weak_memory && self.args.order == crate::args::Order::RealTime
    }

    fn conclude(&self, tally: &Tally, explored: Option<&Explored>, took: Duration) -> Result<Exit, Exit> {
        if limits::is_interrupted() {
            errln!("interrupted");
        }
        match self.args.format {
            Output::Human if tally.is_empty() => {}
            Output::Human => {
                out!("\n{}", tally.summary(took));
                if let Some(explored) = explored {
                    out!("{}{}", explored.text(), explored.races());
                }
                let expected = tally.expected.as_deref().unwrap_or_default();
                out!("{}", tally.coverage.text(expected, &self.settings.harness.unsupported));
                out!("{}", tally.clusters());
                out!("{}", self.next(tally, explored.is_some()));
            }
            Output::Json => {
                let mut json = tally.json(&self.spec, self.campaign.seed, took);
                json["explored"] = explored.map_or(serde_json::Value::Null, Explored::json);
                outln!("{json:#}");
            }
        }
        write_extras(&self.args.reports, &tally.reports, &[], &[]).map_err(|(path, error)| complain(&path, &error))?;
        let interrupted = if limits::is_interrupted() { Exit::Interrupted } else { Exit::Nothing };
        Ok(tally.exit().max(interrupted))
    }

    /// Commands that lead further.
    fn next(&self, tally: &Tally, is_controlled: bool) -> String {
        let Some(id) = tally.first_kept() else { return String::new() };
        let (store, default) = (self.store.directory(), Path::new("target/omnilink"));
        let store = if store == default { String::new() } else { format!(" --store {}", store.display()) };
        let mut text = format!("\n  all of it    omnilink runs show {id}{store}\n");
        if is_controlled {
            text +=
                &format!("  again        omnilink replay {id}{store}\n  smaller      omnilink shrink {id}{store}\n");
        }
        text + &format!("  to send it   omnilink runs pack {id}{store}\n")
    }

    /// Takes away what an earlier run left.
    fn clear(&self) -> Result<(), Exit> {
        let scratch = self.store.scratch();
        match std::fs::remove_dir_all(&scratch) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(complain(&scratch.display().to_string(), &InputError::new(error)))
            }
            _ => Ok(()),
        }
    }

    fn say(&self, line: &str) {
        if self.args.format == Output::Human {
            outln!("{line}");
        }
    }

    /// Whether a line is printed every few seconds.
    fn shows_counters(&self) -> bool {
        match self.args.progress {
            Progress::Auto => !io::IsTerminal::is_terminal(&io::stderr()),
            Progress::Counters => true,
            Progress::Bar | Progress::None => false,
        }
    }

    fn bar(&self) -> ProgressBar {
        let is_shown = match self.args.progress {
            Progress::Auto => io::IsTerminal::is_terminal(&io::stderr()),
            Progress::Bar => true,
            Progress::Counters | Progress::None => false,
        };
        if !is_shown {
            return ProgressBar::hidden();
        }
        let style = ProgressStyle::with_template("{spinner} {wide_msg}").expect("a template that parses");
        ProgressBar::new_spinner().with_style(style)
    }
}

/// What the thread that records and the one that checks tell each other.
#[derive(Debug)]
struct Course {
    started: Instant,
    /// No other run is to begin.
    is_over: AtomicBool,
    /// How many executions there were so far under control.
    executions: AtomicU64,
    /// Those that were broken off because others had shown the same.
    asleep: AtomicU64,
}

impl Course {
    fn new() -> Course {
        Course {
            started: Instant::now(),
            is_over: AtomicBool::new(false),
            executions: AtomicU64::new(0),
            asleep: AtomicU64::new(0),
        }
    }

    /// What was done so far, in words.
    fn progress(&self, tally: &Tally) -> String {
        let (executions, asleep) = (self.executions.load(Ordering::Relaxed), self.asleep.load(Ordering::Relaxed));
        match asleep {
            0 => tally.progress(),
            asleep => {
                let executions = counted(executions, "execution");
                format!("{executions}, {asleep} of them broken off as already seen; checked {}", tally.progress())
            }
        }
    }
}

/// Between two looks at whether there is progress to be shown, and between two lines of counters.
const PROGRESS: Duration = Duration::from_millis(200);
const COUNTERS: Duration = Duration::from_secs(5);

/// Whether there is a reason not to begin another run.
fn is_enough(campaign: &Campaign, course: &Course) -> bool {
    let is_late = campaign.time.is_some_and(|time| course.started.elapsed() >= time);
    course.is_over.load(Ordering::Relaxed) || is_late || limits::is_interrupted()
}

/// Removes a recording, if there is one.
fn remove(path: &Path) -> io::Result<()> {
    match path.is_dir() {
        true => std::fs::remove_dir_all(path),
        false if path.exists() => std::fs::remove_file(path),
        false => Ok(()),
    }
}

/// What is wrong with a recording of a run that ended well: who lost an operation must not be told that the system did
/// something that it did not.
fn missing(trace: &Path, report: &Report) -> Option<String> {
    if let Some(cut) = report.history.cuts.first() {
        return Some(format!("the recording breaks off {cut}"));
    }
    let mut segments = Vec::new();
    for entry in std::fs::read_dir(trace).ok()? {
        let path = entry.ok()?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<usize>().ok());
        segments.extend(number.filter(|_| path.extension().is_some_and(|extension| extension == "seg")));
    }
    segments.sort_unstable();
    let first = segments.iter().enumerate().find(|(place, number)| *place != **number).map(|(place, _)| place);
    first.map(|place| format!("the recording lacks segment {place}"))
}

/// Why a run could not be checked, in a sentence.
fn message(failed: &Failed) -> String {
    match failed {
        Failed::Input(error) => error.message.clone(),
        Failed::Spec(complaints) => complaints.first().map(|complaint| complaint.message.clone()).unwrap_or_default(),
        Failed::Stopped(stop) => stop.to_string(),
    }
}

/// A program that is named by a path, from wherever it is run.
fn absolute(program: &str) -> io::Result<String> {
    match program.contains('/') {
        true => Ok(std::path::absolute(program)?.display().to_string()),
        false => Ok(program.to_owned()),
    }
}

/// What a recording shows. Whatever is wrong with it, the check has said.
fn coverage(recording: &Recording) -> Option<Coverage> {
    let mut coverage = Coverage::default();
    coverage.add(recording.history().ok()?.ops().iter().cloned());
    Some(coverage)
}

/// The time since 1970.
pub(crate) fn now() -> Duration {
    // A clock before 1970 is as good as 1970 for a name and a seed.
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

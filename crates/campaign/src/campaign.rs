//! A campaign: executions of a harness, each checked against a specification; failing runs are stored.
//!
//! Runs that fail for the same reason are one finding. The first of them is stored with everything needed to inspect
//! and replay it. The caller receives [`Event`]s during the campaign, and [`Findings`] at the end.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use omnilink_explore::{
    Artifacts, Asked, Controlled, Coverage, DataRace, Ended, Environment, ExecutionOrder, Input, Plan, Program, Race,
    Ran, Run, Store, Workload, script_beside,
};
use omnilink_judge::{Failed, Judge, Recording};
use omnilink_report::{Interleaving, Report, Verdict};
use omnilink_settings::Settings;
use omnilink_weak::Level;

use crate::harness::{clear_scratch, close_blocked, ended_alike};
use crate::interleaving::meeting_places;
use crate::ledger::{Described, Entry, Ledger, commit_of};
use crate::overview::today;
use crate::race;
use crate::schedule_source::{Choice, ScheduleSource};
use crate::seen::{Kind, Seen};
use crate::tally::{self, Problem, Tally};
use crate::{
    Budget, Count, Decided, DfsOptions, Error, Explored, Free, Harness, Host, How, Judging, Schedules, Stopped,
    interleaving, overlap,
};

/// Executions of one harness, checked against one specification.
#[derive(Debug)]
pub struct Campaign {
    /// The program that runs the campaign.
    pub host: Host,
    /// The settings.
    pub settings: Settings,
    /// The profile in use.
    pub profile: String,
    /// Values that override the profile.
    pub asked: Asked,
    /// The workload that results from both.
    pub workload: Workload,
    /// The specification's name for the user.
    pub spec: String,
    /// Checks traces.
    pub judge: Judge,
    /// The orders that count, and the operations that an operation has to see.
    pub level: Level,
    /// The time limit for the check of one run.
    pub check_timeout: Duration,
    /// The harness.
    pub program: Program,
    /// Whether it is already built.
    pub is_built: bool,
    /// Whether the user names it, instead of the settings.
    pub is_given: bool,
    /// The store for runs.
    pub store: Store,
    /// The requested scheduling.
    pub choice: Choice,
    /// The order for each controlled execution, without its schedule.
    pub order: ExecutionOrder,
    /// The schedules that [`How::Dfs`](crate::How::Dfs) executes.
    pub dfs: DfsOptions,
    /// Whether to continue after the first failing run.
    pub keeps_going: bool,
    /// Whether to store runs even if they do not fail.
    pub keeps_all: bool,
    /// Whether to collect reports for other programs.
    pub collects_reports: bool,
}

/// A completed execution, and its trace.
#[derive(Debug)]
pub struct Executed<I> {
    /// Its number, from 0.
    pub number: u64,
    /// Its input.
    pub input: I,
    /// How it ended.
    pub ran: Ran,
    /// When it started, in seconds since 1970.
    pub began: u64,
    /// The path of its trace, if it recorded one.
    pub trace: PathBuf,
    /// How it was controlled, if it was.
    pub decided: Option<Decided>,
    /// Its first data race, if no earlier execution had it.
    pub race: Option<Race>,
}

impl<I: Input> Executed<I> {
    /// Its name for the user.
    pub fn label(&self) -> String {
        format!("run {} ({})", self.number + 1, self.input.describe())
    }
}

/// An event of a running campaign.
#[derive(Debug)]
pub enum Event<'a> {
    /// A build starts, with this command.
    Building(String),
    /// A line about the current activity.
    Said(String),
    /// A run ended normally, or all its threads are blocked in calls, but its trace cannot be checked.
    Unchecked(&'a Executed<Plan>, &'a Failed),
    /// A run failed for a new reason.
    Failed(&'a Executed<Plan>, Option<&'a Report>, &'a Seen, Option<&'a DataRace>),
    /// That run was stored.
    Kept {
        /// The run.
        run: &'a Executed<Plan>,
        /// Its identifier.
        id: &'a str,
        /// Whether it was replayed in a fresh process, if that was tried.
        repeats: Option<bool>,
        /// The time since the start of the campaign.
        after: Duration,
    },
    /// The progress of the campaign.
    Progress {
        /// The number of executions.
        count: Count,
        /// The verdicts so far.
        tally: &'a Tally,
    },
}

/// The findings of a campaign.
#[derive(Debug)]
pub struct Findings {
    /// The verdicts of its runs.
    pub tally: Tally,
    /// The claims about schedules, if they were controlled.
    pub explored: Option<Explored>,
    /// The time that it took.
    pub took: Duration,
    /// The campaigns of the store before this one.
    pub earlier: Vec<Entry>,
    /// The reason why it ended early. Findings up to then still count.
    pub error: Option<Error>,
}

impl Campaign {
    /// Runs it. Events come from one thread at a time.
    pub fn run(&self, tell: &mut (dyn FnMut(Event<'_>) + Send)) -> Result<Findings, Error> {
        self.clear()?;
        let source = self.choose_source(tell);
        self.clear()?;
        let source = source?;
        let workload = self.workload_for(&source);
        self.announce(&workload, &source, tell);
        let started = Instant::now();
        let budget = Budget {
            executions: workload.runs,
            until: workload.time.and_then(|time| started.checked_add(time)),
            is_interrupted: self.host.is_interrupted,
        };
        let control = match &source {
            ScheduleSource::Controlled(harness, scheduling) => Some((&**harness, scheduling.how)),
            ScheduleSource::Rr(_) | ScheduleSource::Free => None,
        };
        let (environment, today) = (Environment::here(), today());
        let mut checks =
            Checks { campaign: self, control, environment, today, tally: Tally::default(), started, tell, error: None };
        let input = |number| workload.plan(number);
        let explored = match &source {
            ScheduleSource::Controlled(harness, scheduling) => {
                let mut schedules = Schedules::new(harness, scheduling, input)?;
                let stopped = overlap(&budget, || schedules.execute(), &mut checks);
                stopped.map(|stopped| Some(schedules.explored(stopped)))
            }
            ScheduleSource::Rr(rr) => self.run_freely(&budget, Some(rr), input, &mut checks).map(|_| None),
            ScheduleSource::Free => self.run_freely(&budget, None, input, &mut checks).map(|_| None),
        };
        let (explored, stopped) = explored.map_or_else(|error| (None, Some(error)), |explored| (explored, None));
        let (tally, took) = (checks.tally, started.elapsed());
        let mut error = checks.error.or(stopped);
        let described = self.describe(&source, explored.as_ref(), took);
        let earlier = self.note(&tally, described).unwrap_or_else(|failed| {
            error.get_or_insert(failed);
            Vec::new()
        });
        Ok(Findings { tally, explored, took, earlier, error })
    }

    /// Appends the campaign to the ledger of the store, and returns the ones before it.
    fn note(&self, tally: &Tally, described: Described) -> Result<Vec<Entry>, Error> {
        let ledger = Ledger::of(&self.store);
        let wrong = |error| Error::about(ledger.path().display().to_string(), error);
        let (earlier, _) = ledger.read().map_err(wrong)?;
        if !tally.is_empty() {
            ledger.append(&tally.entry(described)).map_err(wrong)?;
        }
        Ok(earlier)
    }

    fn describe(&self, source: &ScheduleSource, explored: Option<&Explored>, took: Duration) -> Described {
        let directory = &self.program.directory;
        let named = if self.is_given { self.program.run.first().map(PathBuf::from) } else { None };
        let path = named.unwrap_or_else(|| directory.canonicalize().unwrap_or_else(|_| directory.clone()));
        Described {
            at: crate::now().as_secs(),
            commit: commit_of(directory),
            object: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            spec: self.spec.clone(),
            how: source.words(),
            seed: self.workload.seed,
            seconds: took.as_secs_f64(),
            stops_at_first: !self.keeps_going,
            is_complete: explored.is_some_and(Explored::covers_all),
            novelty: explored.map(|explored| explored.novelty).filter(|(_, recent)| *recent > 0),
        }
    }

    fn run_freely(
        &self,
        budget: &Budget,
        rr: Option<&str>,
        input: impl FnMut(u64) -> Plan,
        checks: &mut Checks<'_>,
    ) -> Result<Stopped, Error> {
        let (timeout, is_interrupted) = (self.workload.timeout, self.host.is_interrupted);
        let mut free = Free::new(&self.program, &self.store, rr, timeout, is_interrupted, input)?;
        overlap(budget, || free.execute(), checks)
    }

    /// Removes scratch files.
    pub fn clear(&self) -> Result<(), Error> {
        clear_scratch(&self.store)
    }
}

/// Checks the runs of a campaign, counts them, and stores those that fail.
struct Checks<'a> {
    campaign: &'a Campaign,
    /// The harness under control, and the strategy.
    control: Option<(&'a Harness, How)>,
    environment: Environment,
    /// The date, which decides whether known failures are still accepted.
    today: String,
    tally: Tally,
    started: Instant,
    tell: &'a mut (dyn FnMut(Event<'_>) + Send),
    error: Option<Error>,
}

impl Judging<Executed<Plan>> for Checks<'_> {
    fn judge(&mut self, run: Executed<Plan>) -> ControlFlow<()> {
        match self.check(&run) {
            Ok(is_bad) if !is_bad || self.campaign.keeps_going => ControlFlow::Continue(()),
            checked => {
                self.error = checked.err();
                ControlFlow::Break(())
            }
        }
    }

    fn progress(&mut self, count: Count) {
        (self.tell)(Event::Progress { count, tally: &self.tally });
    }
}

impl Checks<'_> {
    /// Checks one run. Returns whether it has a finding, other than a check that took too long.
    fn check(&mut self, run: &Executed<Plan>) -> Result<bool, Error> {
        if run.ran.ended == Ended::Finished && !run.trace.exists() {
            let help = "record to the path in the variable OMNILINK_TRACE";
            return Err(Error::with_help("the harness", "it ended normally, but recorded nothing", help));
        }
        if run.input.script.is_some() && !run.trace.join("script").exists() {
            return Err(unscripted(&run.ran.ended));
        }
        let execution = run.decided.as_ref().map(|decided| &decided.execution);
        let is_blocked = execution.map_or(Ok(false), |execution| close_blocked(execution, &run.trace))?;
        let Campaign { host, judge, check_timeout, .. } = self.campaign;
        let (recording, started) = (Recording::at(&run.trace, None), Instant::now());
        let report = host.check(judge, &recording, &run.label(), Some(*check_timeout)).map(|mut report| {
            report.stats.seconds = started.elapsed().as_secs_f64();
            report.next.clear();
            report
        });
        let coverage = coverage(&recording).unwrap_or_default();
        // A check under way when the user interrupts is meaningless.
        if (host.is_interrupted)() {
            return Ok(true);
        }
        self.tally.operations += coverage.actions.values().map(|happened| happened.operations).sum::<u64>();
        self.tally.coverage.merge(coverage);
        if self.tally.expected.is_none() && run.trace.exists() {
            self.tally.expected = judge.operations(&recording).ok();
        }
        // If the specification cannot be evaluated, it is unknown whether calls may block. The run does not count as a
        // failure of the system then.
        let is_unknown = is_blocked && matches!(report, Err(Failed::Spec(_)));
        let (mut report, problem) = match report {
            Ok(report) => {
                let defect = trace_defect(&run.trace, &report);
                (Some(report), defect.map(Problem::Recording))
            }
            Err(Failed::Stopped(stop)) => (None, Some(Problem::Stopped(stop.to_string()))),
            Err(failed) => {
                if run.ran.ended == Ended::Finished || is_blocked {
                    (self.tell)(Event::Unchecked(run, &failed));
                }
                (None, Some(Problem::Recording(message(&failed))))
            }
        };
        let (timeout, after) = (self.campaign.workload.timeout, self.started.elapsed());
        // Calls may block for ever if the specification says so.
        let is_allowed = is_blocked && report.as_ref().is_some_and(|report| report.verdict == Verdict::Accepted);
        let ended = if is_allowed || is_unknown { &Ended::Finished } else { &run.ran.ended };
        let raced = self.new_race(run);
        let is_rejected = report.as_ref().is_some_and(|report| matches!(report.verdict, Verdict::Rejected(_)));
        let about = tally::About {
            problem,
            race: raced.as_deref(),
            meets: is_rejected.then(|| self.meets(run, &recording)).flatten(),
            known: (&self.campaign.settings.known, &self.today),
        };
        let seen = self.tally.add(ended, report.as_ref(), about, timeout, after);
        let is_failure = |seen: &Seen| !seen.is_accepted && !matches!(seen.kind, Kind::Inconclusive | Kind::Raced);
        let is_bad = seen.as_ref().is_some_and(is_failure);
        if let (Some((_, How::Mix)), Some(decided)) = (self.control, &run.decided) {
            self.tally.count_strategy(How::Mix.of_order(&decided.order).name(), is_bad);
        }
        if seen.as_ref().is_some_and(|seen| seen.is_first && !seen.is_accepted) || self.campaign.keeps_all {
            let race = raced.is_some().then(|| self.describe_race(run, &recording)).flatten();
            // Report the verdict before storing the run, which can fail.
            if let Some(seen) = &seen {
                (self.tell)(Event::Failed(run, report.as_ref(), seen, race.as_ref()));
            }
            let interleaving = self.interleaving(run, report.as_ref(), &recording, race.as_ref());
            report = report.map(|report| Report { interleaving, ..report });
            let (id, repeats) = self.keep(run, report.as_ref(), seen.as_ref(), race)?;
            if let Some(seen) = &seen {
                self.tally.name(seen, &id);
                (self.tell)(Event::Kept { run, id: &id, repeats, after: self.started.elapsed() });
            }
        }
        if self.campaign.collects_reports {
            self.tally.collected.add(&run.label(), report.as_ref(), seen.as_ref());
        }
        for path in [&run.trace, &run.trace.with_extension("rr"), &script_beside(&run.trace)] {
            crate::harness::remove(path).map_err(|error| Error::about("the trace", error))?;
        }
        // After a race, threads are switched at its accesses, so its consequences may follow.
        Ok(is_bad)
    }

    /// The cause of a run with a race that no earlier run had, unless the settings name it.
    fn new_race(&mut self, run: &Executed<Plan>) -> Option<String> {
        let (harness, _) = self.control?;
        let known = &self.campaign.settings.harness.races;
        race::new_failure(harness, known, run, &mut |reason| self.tally.accept_race(reason))
    }

    /// Where accesses of a controlled run met.
    fn meets(&self, run: &Executed<Plan>, recording: &Recording) -> Option<String> {
        let ((harness, _), decided) = self.control.zip(run.decided.as_ref())?;
        meeting_places(harness, &decided.execution, recording.history().ok()?)
    }

    /// The steps of a run, for its page.
    fn interleaving(
        &self,
        run: &Executed<Plan>,
        report: Option<&Report>,
        recording: &Recording,
        race: Option<&DataRace>,
    ) -> Option<Interleaving> {
        let ((harness, _), decided) = self.control.zip(run.decided.as_ref())?;
        let (history, blamed) = (recording.history().ok()?, report.map(blamed).unwrap_or_default());
        Some(interleaving(harness, &decided.execution, Some(history), &blamed, race))
    }

    fn describe_race(&self, run: &Executed<Plan>, recording: &Recording) -> Option<DataRace> {
        let ((harness, _), (race, decided)) = self.control.zip(run.race.as_ref().zip(run.decided.as_ref()))?;
        let history = recording.history().ok();
        Some(race::describe(harness, &run.input, decided, race, history))
    }

    /// Stores a run. Returns its identifier, and whether it could be replayed.
    fn keep(
        &self,
        run: &Executed<Plan>,
        report: Option<&Report>,
        seen: Option<&Seen>,
        race: Option<DataRace>,
    ) -> Result<(String, Option<bool>), Error> {
        let Campaign { host, judge, program, store, spec, .. } = self.campaign;
        let id = store.free_id(run.input.seed);
        let (command, controlled) = match (self.control, &run.decided) {
            (Some((harness, how)), Some(decided)) => {
                (harness.program.run.clone(), Some(repeated(harness, how, run, decided)))
            }
            _ => (program.run.clone(), None),
        };
        // An interrupt also stops the replay.
        let repeats = controlled.as_ref().map(|controlled| controlled.repeats);
        let repeats = repeats.filter(|repeats| *repeats || !(host.is_interrupted)());
        let schedule = run.decided.as_ref().map(|decided| decided.execution.schedule());
        let kept = Run {
            schema: Run::schema(),
            id: id.clone(),
            began: run.began,
            plan: run.input.clone(),
            command,
            ended: run.ran.ended.clone(),
            took: run.ran.took.as_secs_f64(),
            spec: Some(Path::new(spec).file_name().unwrap_or_default().to_string_lossy().into_owned()),
            test: None,
            level: self.campaign.level.to_string(),
            verdict: report.map(|report| report.verdict.word().to_owned()),
            cause: seen.map(|seen| seen.cause.clone()),
            controlled,
            race,
            environment: self.environment.clone(),
        };
        let artifacts = Artifacts { trace: &run.trace, report, spec: &judge.files(), schedule: schedule.as_ref() };
        let kept = store.keep(&kept, &artifacts).map_err(|error| Error::about("the run", error))?;
        let rr = run.trace.with_extension("rr");
        if rr.exists() {
            std::fs::rename(&rr, kept.join("rr")).map_err(|error| Error::about("the run", error))?;
        }
        Ok((id, repeats))
    }
}

/// The error of a harness that did not follow the script that it was given.
fn unscripted(ended: &Ended) -> Error {
    if let Ended::Crashed { how, said, .. } = ended {
        return Error::about("the harness", format!("it did not follow the script, and {how}: {}", said.trim()));
    }
    let help =
        "a harness that `omnilink init` writes follows scripts; `omnilink init --update` writes an old one again";
    Error::with_help("the harness", "it did not follow the script", help)
}

/// The names of the operations that no order can place.
pub(crate) fn blamed(report: &Report) -> Vec<String> {
    let Verdict::Rejected(rejection) = &report.verdict else { return Vec::new() };
    let operations = rejection.blocked.iter().filter_map(|op| report.operations.get(op.0));
    operations.map(|operation| operation.name.clone()).collect()
}

/// How a run was controlled, after a replay in a fresh process.
pub(crate) fn repeated(harness: &Harness, how: How, run: &Executed<Plan>, decided: &Decided) -> Controlled {
    let Decided { order, execution, .. } = decided;
    let controlled =
        Controlled { program: harness.fingerprint(), ..execution.controlled(how.of_order(order).name(), order) };
    let again =
        harness.start().and_then(|mut control| harness.repeat(&mut control, &run.input, order, &execution.schedule()));
    match again {
        Ok(again)
            if ended_alike(&again.ran.ended, &run.ran.ended) && again.execution.repeats(execution, !order.batch) =>
        {
            Controlled { repeats: true, digest: again.execution.fingerprint(), ..controlled }
        }
        _ => controlled,
    }
}

/// The defect of a trace whose run ended normally: if an operation was lost, a verdict would blame the system for it.
fn trace_defect(trace: &Path, report: &Report) -> Option<String> {
    if let Some(cut) = report.history.cuts.first() {
        return Some(format!("the trace breaks off {cut}"));
    }
    let mut segments = Vec::new();
    for entry in std::fs::read_dir(trace).ok()? {
        let path = entry.ok()?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<usize>().ok());
        segments.extend(number.filter(|_| path.extension().is_some_and(|extension| extension == "seg")));
    }
    segments.sort_unstable();
    let first = segments.iter().enumerate().find(|(place, number)| *place != **number).map(|(place, _)| place);
    first.map(|place| format!("the trace lacks segment {place}"))
}

/// The reason why a run could not be checked, as a sentence.
fn message(failed: &Failed) -> String {
    match failed {
        Failed::Input(error) => error.message.clone(),
        Failed::Spec(complaints) => complaints.first().map(|complaint| complaint.message.clone()).unwrap_or_default(),
        Failed::Stopped(stop) => stop.to_string(),
    }
}

/// The coverage of a trace. The check reports its errors.
fn coverage(recording: &Recording) -> Option<Coverage> {
    let mut coverage = Coverage::default();
    coverage.add(recording.history().ok()?.ops().iter().cloned());
    Some(coverage)
}

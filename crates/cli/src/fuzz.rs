//! `omnilink fuzz`: runs a harness many times, checks every trace, and keeps the runs that fail.

use std::path::{Path, PathBuf};
use std::time::Duration;

use omnilink_campaign::{Campaign, Choice, DfsOptions, Event, Executed, Explored, Findings, Kind, Seen, now};
use omnilink_explore::{Asked, BadScript, DataRace, Ended, Plan, Program, Script, Store, Workload};
use omnilink_init::Existing;
use omnilink_judge::{InputError, Judge};
use omnilink_report::{Report, clean};
use omnilink_schedule::channel::Policy;

use omnilink_weak::Level;

use crate::args::{FuzzArgs, Keep, Output, STORE};
use crate::check::output::write_extras;
use crate::exit::Exit;
use crate::host::HOST;
use crate::limits;
use crate::outcome::{
    print_campaign_error, print_end, print_failure, print_outdated_reads, print_race, print_spec_error,
};
use crate::progress::Display;
use crate::project::read_settings;
use crate::runs::store_option;
use crate::terminal::{self, complain, print_complaints};

pub(crate) fn run(args: &FuzzArgs) -> Exit {
    limits::catch_interrupts();
    match prepare(args).and_then(|campaign| fuzz(args, &campaign)) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn prepare(args: &FuzzArgs) -> Result<Campaign, Exit> {
    let (file, settings) = read_settings(&args.directory, args.settings.as_deref())?;
    let wrong = |about: &Path, message: String, help: Option<String>| {
        complain(&about.display().to_string(), &InputError { message, help })
    };
    let directory = file.parent().unwrap_or(Path::new("")).to_owned();
    let Some(spec) = settings.spec.clone() else {
        let help = "`spec = \"Queue.tla\"`, or the name of one of those that `omnilink spec list` lists";
        return Err(wrong(&file, "no specification given".into(), Some(help.into())));
    };
    let run = if args.command.is_empty() { settings.harness.run.clone() } else { args.command.clone() };
    for extra in &args.reports {
        if extra.directory().is_some_and(|directory| !directory.is_dir()) {
            return Err(wrong(&extra.path, "its directory does not exist".into(), None));
        }
    }
    if run.is_empty() {
        let help = "`run = [\"target/release/harness\"]` below `[harness]`, or `omnilink fuzz -- COMMAND`";
        return Err(wrong(&file, "no command to run the harness given".into(), Some(help.into())));
    }
    if args.command.is_empty() {
        let harness = Existing { directory: &directory, file: &file, settings: &settings, spec: &spec };
        let mut tell = |path: &Path| {
            if args.format == Output::Human {
                sayln!("wrote {} again: weights or values changed", path.display());
            }
        };
        harness.refresh(args.no_build, &mut tell).map_err(|complaints| {
            print_complaints(&complaints);
            Exit::Wrong
        })?;
    }
    let seed = args.seed.unwrap_or_else(|| u64::from(now().subsec_nanos()));
    let asked = Asked {
        runs: args.runs,
        time: args.time,
        threads: args.threads.clone(),
        operations: args.ops.clone(),
        perturb: args.perturb.clone(),
        script: args.script.as_deref().map(read_script).transpose()?,
        timeout: args.timeout,
    };
    let workload = Workload::new(&settings, &args.profile, seed);
    let workload = workload.map_err(|error| wrong(&file, error.to_string(), None))?.with(&asked);
    let path = if omnilink_judge::is_tla(Path::new(&spec)) {
        directory.join(&spec).display().to_string()
    } else {
        spec.clone()
    };
    let set = settings.level.as_deref().map(str::parse::<Level>).transpose();
    let set = set.map_err(|error| wrong(&file, format!("the key `level`: {error}"), None))?;
    let level = args.level.given().or(set);
    let options = omnilink_judge::CheckOptions {
        settings: Some(file),
        jobs: Some(1),
        level: level.clone(),
        context: args.level.context.into(),
        ..omnilink_judge::CheckOptions::default()
    };
    let judge = Judge::new(&path, options).map_err(|failed| print_spec_error(&failed))?;
    let store = Store::at(directory.join(STORE));
    let directory = if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory };
    let program = Program { directory, build: settings.harness.build.clone(), run, ..Program::default() };
    let choice = args.rr.clone().map(Choice::Rr).or(args.schedule.clone()).unwrap_or(Choice::Best);
    Ok(Campaign {
        host: HOST,
        settings,
        profile: args.profile.clone(),
        asked,
        workload,
        spec,
        judge,
        level: level.unwrap_or_default(),
        check_timeout: args.check_timeout,
        program,
        is_built: args.no_build,
        is_given: !args.command.is_empty(),
        store,
        choice,
        order: args.scheduling.order(0, args.batch),
        dfs: DfsOptions { bound: args.bound, every_schedule: args.scheduling.every_schedule },
        keeps_going: args.keep_going,
        keeps_all: args.keep == Keep::All,
        collects_reports: !args.reports.is_empty(),
    })
}

/// Reads a script that has at least one call.
pub(crate) fn read_script(path: &Path) -> Result<Script, Exit> {
    let wrong = |message: String| complain(&path.display().to_string(), &InputError::new(message));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let script: Script = text.parse().map_err(|error: BadScript| wrong(error.to_string()))?;
    if script.calls.is_empty() {
        return Err(wrong("it has no call".to_owned()));
    }
    Ok(script)
}

fn fuzz(args: &FuzzArgs, campaign: &Campaign) -> Result<Exit, Exit> {
    let mut printer = ProgressPrinter { args, campaign, display: Display::new(args.progress), has_told: false };
    let findings = campaign.run(&mut |event| printer.print(event));
    printer.display.clear();
    let findings = findings.map_err(print_campaign_error)?;
    let concluded = conclude(args, campaign, &findings);
    // Earlier results count, however the campaign ended.
    let wrong = findings.error.map(print_campaign_error);
    campaign.clear().map_err(print_campaign_error)?;
    Ok(concluded?.max(wrong.unwrap_or(Exit::Nothing)))
}

/// Prints the progress and the findings of a campaign.
struct ProgressPrinter<'a> {
    args: &'a FuzzArgs,
    campaign: &'a Campaign,
    display: Display,
    /// Whether a failure was printed in full.
    has_told: bool,
}

impl ProgressPrinter<'_> {
    fn print(&mut self, event: Event<'_>) {
        let is_human = self.args.format == Output::Human;
        match event {
            Event::Progress { count, tally } => self.display.show(tally.progress(count)),
            Event::Unchecked(run, failed) => self.display.suspend(|| _ = print_failure(failed, &run.label())),
            Event::Building(command) => self.display.wait(format!("building: {}", clean(&command))),
            Event::Said(line) if is_human => self.display.suspend(|| sayln!("{line}")),
            // Of several causes, only the first is printed in full.
            Event::Failed(run, report, seen, _) if is_human && self.has_told => self.display.suspend(|| {
                let rejection = report.filter(|_| seen.kind == Kind::Rejected).and_then(omnilink_report::sentence);
                let cause = rejection.unwrap_or_else(|| clean(seen.shown()));
                sayln!("\n{}: {}: {cause}", run.label(), seen.kind.word());
            }),
            Event::Failed(run, report, seen, race) if is_human => {
                self.display.suspend(|| tell_failure(self.args, run, report, seen, race));
            }
            Event::Kept { id, repeats, after, .. } if is_human && self.has_told => self.display.suspend(|| {
                let identical = if repeats == Some(true) { ", replayed: identical" } else { "" };
                sayln!("  found after {:.2} s, kept as {id}{identical}", after.as_secs_f64());
            }),
            Event::Kept { run, id, repeats, after } if is_human => {
                self.has_told = true;
                self.display.suspend(|| tell_kept(&self.campaign.store, run, id, repeats, after));
            }
            Event::Said(_) | Event::Failed(..) | Event::Kept { .. } => {}
        }
    }
}

fn tell_kept(store: &Store, run: &Executed<Plan>, id: &str, repeats: Option<bool>, after: Duration) {
    sayln!("\nfound after {:.2} s, kept as {id}: {}", after.as_secs_f64(), store.path(id).display());
    match repeats {
        None => {}
        Some(true) => sayln!("replayed once in a fresh process: identical"),
        Some(false) => sayln!(
            "a replay in a fresh process is not identical: the harness is not deterministic, or `--batch` left \
             something behind"
        ),
    }
    for note in run.decided.iter().flat_map(|decided| &decided.notes) {
        sayln!("{}", note.text());
    }
}

fn tell_failure(args: &FuzzArgs, run: &Executed<Plan>, report: Option<&Report>, seen: &Seen, race: Option<&DataRace>) {
    sayln!();
    match (&run.ran.ended, report) {
        (Ended::Finished, _) if seen.kind == Kind::Raced => {
            sayln!("{}: {}", run.label(), race.map_or("data race", DataRace::kind));
            race.iter().for_each(|race| print_race(race));
            if let Some(report) = report {
                // An exploration needs the same steps in each execution.
                let explores = run.decided.as_ref().is_some_and(|decided| decided.order.policy == Policy::Steady);
                let switched = match explores {
                    true => "`--plain` switches threads at such accesses",
                    false => "threads are switched at these accesses from now on",
                };
                sayln!("its history is {}; {switched}", report.verdict.word());
            }
            return;
        }
        (Ended::Finished, Some(report)) if seen.kind != Kind::Unchecked => {
            let detail = omnilink_report::Detail::Brief;
            out!("{}", omnilink_report::text_within(report, detail, true, terminal::width()));
            if demands_real_time(args) {
                sayln!(
                    "note: C11 orders operations of different threads by synchronization only, not by real time; `--order \
                     program` does not demand real time"
                );
            }
        }
        (ended @ (Ended::Crashed { .. } | Ended::Stuck { .. } | Ended::TimedOut { .. }), report)
            if seen.kind != Kind::Unchecked =>
        {
            sayln!("{}: {}", run.label(), seen.kind.word());
            print_end(ended);
            if let Some(report) = report {
                sayln!("its trace up to there is {}", report.verdict.word());
            }
        }
        _ => sayln!("{}: {}, {}", run.label(), seen.kind.word(), clean(seen.shown())),
    }
    if let Some(race) = race {
        sayln!("it has a {}:", race.kind());
        print_race(race);
    }
    run.decided.iter().for_each(|decided| print_outdated_reads(decided.execution.outdated_reads()));
}

/// Whether a rejection may be due to weak memory alone: a load may read an older store although a newer one was made
/// before in real time.
fn demands_real_time(args: &FuzzArgs) -> bool {
    args.scheduling.weak_memory && args.level.level().order == omnilink_history::Precedence::RealTime
}

fn conclude(args: &FuzzArgs, campaign: &Campaign, findings: &Findings) -> Result<Exit, Exit> {
    let Findings { tally, explored, took, earlier, .. } = findings;
    if limits::is_interrupted() {
        errln!("interrupted");
    }
    match args.format {
        Output::Human if tally.is_empty() => {}
        Output::Human => {
            say!("\n{}", tally.summary(*took));
            if let Some(explored) = explored {
                say!("{}{}", explored.text(), explored.novelty());
            }
            let expected = tally.expected.as_deref().unwrap_or_default();
            say!("{}", tally.coverage.text(expected, &campaign.settings.harness.unsupported));
            say!("{}", tally.causes(earlier));
            if let Some(id) = tally.first_kept() {
                say!("{}", next(&campaign.store, id, explored.is_some()));
                if !earlier.is_empty() {
                    sayln!("  over time         omnilink runs summary{}", store_option(&campaign.store));
                }
            }
        }
        Output::Json => {
            let mut json = tally.json(&campaign.spec, campaign.workload.seed, *took);
            json["explored"] = explored.as_ref().map_or(serde_json::Value::Null, Explored::json);
            outln!("{json:#}");
        }
    }
    let (reports, unchecked) = tally.reports(&campaign.spec);
    write_extras(&args.reports, &reports, &[], &unchecked).map_err(|(path, error)| complain(&path, &error))?;
    let runs = if tally.has_accepted() { Exit::Accepted } else { Exit::Nothing };
    let interrupted = if limits::is_interrupted() { Exit::Interrupted } else { Exit::Nothing };
    // A check that reached a limit says nothing about the system, and does not take from what the others say.
    let counts = |kind: &Kind| *kind != Kind::Inconclusive || args.strict || !tally.has_accepted();
    Ok(tally.kinds().filter(counts).map(exit_of_kind).fold(runs.max(interrupted), Exit::max))
}

/// The exit code for a failed run.
fn exit_of_kind(kind: Kind) -> Exit {
    match kind {
        Kind::Rejected => Exit::Rejected,
        Kind::Inconclusive => Exit::Inconclusive,
        Kind::Raced => Exit::Raced,
        Kind::Crashed | Kind::Stuck => Exit::Crashed,
        Kind::Unchecked => Exit::Wrong,
    }
}

/// Follow-up commands.
fn next(store: &Store, id: &str, is_controlled: bool) -> String {
    let store = store_option(store);
    let mut text = format!("\n  full explanation  omnilink runs show {id}{store}\n");
    if is_controlled {
        text += &format!(
            "  replay            omnilink replay {id}{store}\n  shrink            omnilink shrink {id}{store}\n"
        );
    }
    text + &format!("  pack              omnilink runs pack {id}{store}\n")
}

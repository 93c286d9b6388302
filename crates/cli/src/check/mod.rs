//! `omnilink check`: histories in, verdicts out.

mod advice;
pub(crate) mod isolation;
#[cfg(feature = "fleet")]
mod keys;
mod levels;
pub(crate) mod output;
mod stamps;
mod transaction_run;

use std::io::{self, Write};
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use omnilink_explore::NewFile;
use omnilink_judge::input::InputError;
use omnilink_judge::{Case, Failed, Judge, Recording, ShowOptions, Stage, is_tla};
use omnilink_report::{Coverage, Detail, Problem, Report, Timeline, Unchecked, Verdict, clean};
use omnilink_suggest::counted;

use self::advice::Kind;
use crate::args::{CheckArgs, CheckOutput, Extra};
use crate::exit::Exit;
use crate::limits::{self, GivenUp, Limits};
use crate::outcome::{exit_of, label, print_failure, print_spec_error};
use crate::terminal::complain;

pub(crate) fn run(args: CheckArgs) -> Exit {
    limits::catch_interrupts();
    if args.stamps && args.isolation.is_none() && !isolation::finds_isolation(&args) {
        let message = "`--stamps` needs the isolation level that the stamps should show".to_owned();
        return complain("check", &InputError { message, help: Some("`--isolation snapshot --stamps`".to_owned()) });
    }
    let detail = if args.full { Detail::Full } else { Detail::Brief };
    if args.isolation.is_some() || isolation::finds_isolation(&args) {
        return isolation::run(&args);
    }
    if args.find_level {
        return levels::find(&args).unwrap_or_else(|exit| exit);
    }
    #[cfg(feature = "fleet")]
    if args.keys.by.is_some() {
        return keys::check(&args, detail).unwrap_or_else(|exit| exit);
    }
    #[cfg(not(feature = "fleet"))]
    if args.by.is_some() {
        let message = "this command was built without the feature `fleet`".to_owned();
        let help = "without `--by`, histories of `kv` and other types with keys are decided key by key, too; \
                    `cargo install omnilink-cli --features fleet` builds a command with it";
        return complain("--by", &InputError { message, help: Some(help.to_owned()) });
    }
    let asked = Arc::new(Asked { args, detail });
    let found = match (&asked.args.spec, &*asked.args.paths) {
        (None, [path]) if detail == Detail::Full && path.extension().is_some_and(|extension| extension == "json") => {
            shown_again(path, &asked)
        }
        _ => reports(&asked),
    };
    match found {
        Ok(found) => asked.conclude(&found),
        Err(exit) => exit,
    }
}

/// The arguments of the command.
struct Asked {
    args: CheckArgs,
    detail: Detail,
}

/// The results of all histories so far.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) reports: Vec<Report>,
    /// The whole history of each report, if pages were requested.
    pub(crate) timelines: Vec<Timeline>,
    pub(crate) unchecked: Vec<Unchecked>,
    /// The file for the runs of accepted histories of transactions.
    witness: Option<NewFile>,
}

impl Found {
    fn exit(&self) -> Exit {
        let exit = self.reports.iter().map(exit_of).max().unwrap_or(Exit::Nothing);
        if self.unchecked.is_empty() { exit } else { exit.max(Exit::Wrong) }
    }

    /// The exercised parts of the specification, over all histories, if requested.
    fn coverage(&self) -> Option<Coverage> {
        let mut all: Option<Coverage> = None;
        for coverage in self.reports.iter().filter_map(|report| report.coverage.as_ref()) {
            all.get_or_insert_with(Coverage::default).add(coverage);
        }
        all
    }

    /// Why the histories exercise too little of the specification.
    fn vacuous(&self, coverage: Option<&Coverage>) -> Vec<String> {
        let is_idle = |report: &&Report| {
            let relevant = report.coverage.as_ref().map(|coverage| coverage.relevant);
            report.history.operations == Some(0) || relevant == Some(0)
        };
        let idle = self.reports.iter().filter(is_idle);
        let mut why: Vec<String> =
            idle.map(|report| format!("{} has no operation of the specification", report.history.name)).collect();
        let unseen: Vec<String> = coverage
            .map(|coverage| coverage.never_seen().map(|action| format!("`{}`", action.name)).collect())
            .unwrap_or_default();
        if !unseen.is_empty() {
            why.push(format!("no history has an operation {}", unseen.join(", ")));
        }
        why
    }
}

impl Asked {
    /// Writes the output that follows the check of all histories.
    fn conclude(&self, found: &Found) -> Exit {
        if found.reports.is_empty() && found.unchecked.is_empty() {
            errln!("nothing to check: no histories found");
        }
        let coverage = found.coverage();
        if let Some(coverage) =
            coverage.as_ref().filter(|_| self.args.coverage && self.args.format == CheckOutput::Human)
        {
            outln!("coverage of {} by {}", clean(&self.spec()), counted(found.reports.len() as u64, "history"));
            out!("{}", coverage.text());
        }
        let vacuous = if self.args.strict { found.vacuous(coverage.as_ref()) } else { Vec::new() };
        vacuous.iter().for_each(|why| errln!("strict: {why}"));
        match output::write(self.args.format, &self.args.reports, found) {
            Ok(()) if !vacuous.is_empty() => found.exit().max(Exit::Vacuous),
            Ok(()) => found.exit(),
            Err((path, error)) => complain(&path, &error),
        }
    }

    /// Ends the command although the check of `path` goes on: it is inconclusive, and so are the histories after it.
    fn give_up(&self, known: &GivenUp, mut found: Found, path: &Path, following: &[PathBuf]) -> Exit {
        let level = &self.args.about.level.level();
        let spec = self.spec();
        let mut report =
            omnilink_judge::given_up(&label(path), &spec, level, known.stop, known.stage, known.operations);
        report.stats.seconds = known.elapsed.as_secs_f64();
        let kind = match known.stage {
            Stage::Following => Kind::Log,
            _ if is_tla(Path::new(&spec)) => Kind::Module,
            _ => Kind::Builtin,
        };
        report.next = advice::advice(&self.args, &report.verdict, kind);
        let name = report.history.name.clone();
        found.reports.push(report);
        for path in following {
            let mut report = omnilink_judge::given_up(&label(path), &spec, level, known.stop, Stage::Preparing, 0);
            report.notes.push(format!("not started, because the check of `{name}` did not stop in time"));
            found.reports.push(report);
        }
        let first = found.reports.len() - following.len() - 1;
        found.reports[first..].iter().for_each(|report| output::show(&self.args, self.detail, report));
        found.timelines.resize(found.reports.len(), Timeline::default());
        self.conclude(&found)
    }

    /// The specification's name for people.
    fn spec(&self) -> String {
        match (&self.args.spec, self.args.paths.first()) {
            (Some(name), _) => name.clone(),
            (None, first) => first.map(|path| path.display().to_string()).unwrap_or_default(),
        }
    }
}

/// Shows reports from a file.
fn shown_again(path: &Path, asked: &Asked) -> Result<Found, Exit> {
    let wrong = |error: InputError| complain(&path.display().to_string(), &error);
    let _limits = Limits::around(&(&asked.args).into(), &label(path));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(InputError::new(error)))?;
    let reports = output::read(&text).map_err(|error| wrong(InputError::new(error)))?;
    reports.iter().for_each(|report| output::show(&asked.args, Detail::Full, report));
    Ok(Found { reports, ..Found::default() })
}

/// A report on each history that can be checked, printed as it comes.
fn reports(asked: &Arc<Asked>) -> Result<Found, Exit> {
    let args = &asked.args;
    let found = Arc::new(Mutex::new(Found::default()));
    // The thread that ends the command takes the results from here.
    let lock = || found.lock().unwrap_or_else(PoisonError::into_inner);
    let watched = |path: &Path, following: &[PathBuf]| {
        let limits = Limits::new(&args.into(), &label(path));
        let (asked, found) = (asked.clone(), found.clone());
        let (path, following) = (path.to_owned(), following.to_vec());
        limits.abandon(move |known| {
            let found = take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
            asked.give_up(&known, found, &path, &following)
        });
        limits
    };
    let (spec, histories) = specification(args)?;
    let loading = histories.split_first().map(|(first, following)| watched(first, following));
    let judge = Judge::new(&spec, args.into()).map_err(|failed| print_spec_error(&failed))?;
    drop(loading);
    let has_pages = args.reports.iter().any(Extra::is_page);
    let cannot_write = |error: io::Error| {
        let path = args.witness.as_deref().unwrap_or(Path::new("--witness"));
        complain(&path.display().to_string(), &InputError::new(format!("cannot be written: {error}")))
    };
    let mut witness_file = args.witness.as_deref().map(NewFile::create).transpose().map_err(cannot_write)?;
    let joined = match args.merge {
        true => {
            histories.iter().map(|path| judge.recordings(path)).collect::<Result<Vec<_>, _>>().map(|all| all.concat())
        }
        false => Ok(Vec::new()),
    };
    let joined = joined.map_err(|error| print_failure(&Failed::Input(error), "--merge"))?;
    let histories = if joined.is_empty() { histories } else { &histories[..1] };
    for (place, path) in histories.iter().enumerate() {
        let mut spans: Vec<Option<(u64, u64)>> = Vec::new();
        let inside = if joined.is_empty() { judge.recordings(path) } else { Ok(vec![path.clone()]) };
        let recordings = match inside {
            Ok(recordings) => recordings,
            Err(error) => {
                let failed = Failed::Input(error);
                print_failure(&failed, &label(path));
                lock().unchecked.push(unchecked(&failed, &label(path), &spec));
                continue;
            }
        };
        for (inside, recording) in recordings.iter().enumerate() {
            let label = if joined.is_empty() { label(recording) } else { format!("{} traces, merged", joined.len()) };
            let following: Vec<PathBuf> =
                recordings[inside + 1..].iter().chain(&histories[place + 1..]).cloned().collect();
            let limits = watched(recording, &following);
            let witness = witness_file.as_mut().map(|file| file as &mut dyn Write);
            let recording = match joined.is_empty() {
                true => Recording::at(recording, args.about.from),
                false => Recording::joined(joined.clone(), args.about.from),
            };
            let case = &mut Case { recording: &recording, label: &label, witness, limits: &limits };
            let checked = match has_pages {
                true => judge.show(case, &ShowOptions::default()).map(|shown| (shown.report, Some(shown.timeline))),
                false => judge.report(case).map(|report| (report, None)),
            };
            let kind = match judge.tla() {
                Some(tla) if tla.takes_log(case) => Kind::Log,
                Some(_) => Kind::Module,
                None => Kind::Builtin,
            };
            let elapsed = limits.elapsed();
            drop(limits);
            spans.push(recording.span_of_one_process());
            match checked {
                Ok((mut report, timeline)) => {
                    report.stats.seconds = elapsed.as_secs_f64();
                    if let Verdict::Inconclusive { .. } = report.verdict {
                        report.next = advice::advice(args, &report.verdict, kind);
                    }
                    output::show(args, asked.detail, &report);
                    let mut found = lock();
                    found.reports.push(report);
                    found.timelines.extend(timeline);
                }
                Err(failed) => {
                    print_failure(&failed, &label);
                    lock().unchecked.push(unchecked(&failed, &label, &spec));
                }
            }
        }
        if are_of_one_history(spans) {
            let path = clean(&label(path));
            errln!(
                "note: {path}: each trace was checked by itself; they have one process each, and their times overlap"
            );
            errln!("help: `--merge` checks the traces of several clients as one history");
        }
    }
    witness_file.map_or(Ok(()), NewFile::commit).map_err(cannot_write)?;
    let found = take(&mut *lock());
    Ok(found)
}

/// True if each of several traces has one process, and some run at the same time: they may be those of several clients.
fn are_of_one_history(spans: Vec<Option<(u64, u64)>>) -> bool {
    let Some(mut spans) = spans.into_iter().collect::<Option<Vec<_>>>() else { return false };
    spans.sort_unstable();
    spans.windows(2).any(|pair| pair[1].0 <= pair[0].1)
}

/// The problems of a history that could not be checked, for reports.
fn unchecked(failed: &Failed, history: &str, spec: &str) -> Unchecked {
    let problem = |message: &str, help: &Option<String>| Problem { message: message.to_owned(), help: help.clone() };
    let problems = match failed {
        Failed::Input(error) => vec![problem(&error.message, &error.help)],
        Failed::Spec(complaints) => {
            complaints.iter().map(|complaint| problem(&complaint.message, &complaint.help)).collect()
        }
        Failed::Stopped(stop) => vec![problem(&stop.to_string(), &None)],
    };
    Unchecked { history: history.to_owned(), spec: spec.to_owned(), problems }
}

/// The specification and the histories. A first path that ends in `.tla` is the specification.
pub(crate) fn specification(args: &CheckArgs) -> Result<(String, &[PathBuf]), Exit> {
    match (&args.spec, &*args.paths) {
        (Some(name), histories) => Ok((name.clone(), histories)),
        (None, [first, histories @ ..]) if is_tla(first) || omnilink_judge::is_lineup(first) => {
            Ok((first.display().to_string(), histories))
        }
        (None, _) => {
            let help = "`omnilink check Queue.tla run.jsonl` or `omnilink check --spec queue run.jsonl`";
            let message = "no specification given: pass a `.tla` file first, or `--spec NAME`".into();
            Err(complain("check", &InputError { message, help: Some(help.into()) }))
        }
    }
}

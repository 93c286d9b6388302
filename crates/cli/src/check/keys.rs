//! `omnilink check --by`: a verdict for each key of operations in Parquet files, on a query engine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use omnilink_campaign::interval;
use omnilink_columns::file::TableWriter;
use omnilink_columns::{Key, Keys, Text};
use omnilink_explore::NewFile;
use omnilink_fleet::arrow::array::{Array, RecordBatch};
use omnilink_fleet::{Error, Job, Summary};
use omnilink_history::{History, Trace};
use omnilink_judge::{Case, InputError, Judge, Recording, ShowOptions};
use omnilink_report::{Detail, Problem, Report, Timeline, Unchecked, clean};
use omnilink_suggest::counted;

use super::output;
use super::{Found, specification};
use crate::args::{CheckArgs, CheckOutput, Extra};
use crate::exit::Exit;
use crate::limits::Limits;
use crate::outcome::print_spec_error;
use crate::terminal::complain;

/// The most keys that are not accepted and whose reports are shown. The table of verdicts has them all.
const SHOWN: usize = 20;

/// The share of the memory that is for sorting; the check, and what is being read, need some too.
fn for_sorting(max_memory: u64) -> usize {
    const MOST: u64 = 4 << 30; // More makes sorting slower, not faster.
    usize::try_from((max_memory / 2).min(MOST)).unwrap_or(usize::MAX)
}

/// Checks all keys, prints what is wrong, and a summary.
pub(super) fn check(args: &CheckArgs, detail: Detail) -> Result<Exit, Exit> {
    let (spec, inputs) = specification(args)?;
    let label = inputs.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ");
    let judge = Judge::new(&spec, args.into()).map_err(|failed| print_spec_error(&failed))?;
    let judge = Arc::new(judge);
    let job = job(args, inputs);
    let wrong = |name: &str, error: &dyn std::fmt::Display| complain(name, &InputError::new(error));
    let mut table = Table::new(args.keys.verdicts.as_deref());
    let mut shown = Vec::new();
    let limits = Arc::new(Limits::new(&args.into(), &label));
    let checked = job.check(judge.clone(), limits.clone(), |batch| {
        table.write(&batch)?;
        shown.extend(not_accepted(&batch)?.into_iter().take(SHOWN.saturating_sub(shown.len())));
        Ok(())
    });
    let elapsed = limits.elapsed();
    drop(limits);
    let (summary, stop) = match checked {
        Ok(summary) => (summary, None),
        Err(Error::Stopped(stop, summary)) => (summary, Some(stop)),
        Err(error) => return Err(wrong(&label, &error)),
    };
    if stop.is_none() {
        table.commit().map_err(|error| {
            wrong(&args.keys.verdicts.as_deref().unwrap_or(Path::new("-")).display().to_string(), &error)
        })?;
    }
    let has_pages = args.reports.iter().any(Extra::is_page);
    let mut found = Found::default();
    for bad in shown {
        let name = format!("{} {}", job.by, bad.key);
        match bad.report {
            Some(report) => {
                output::show(args, detail, &report);
                if has_pages {
                    found.timelines.extend(timeline(&judge, &job, &bad.key, &name));
                }
                found.reports.push(*report);
            }
            None => {
                let message = bad.reason.unwrap_or_else(|| bad.word.clone());
                outln!("{}: {}: {}", clean(&name), bad.word, clean(&message));
                let problems = vec![Problem { message, help: None }];
                found.unchecked.push(Unchecked { history: name, spec: spec.clone(), problems });
            }
        }
    }
    match args.format {
        CheckOutput::Human => outln!("{}", sentence(&summary, elapsed.as_secs_f64())),
        format => output::write(format, &[], &found).map_err(|(path, error)| complain(&path, &error))?,
    }
    output::write_extras(&args.reports, &found.reports, &found.timelines, &found.unchecked)
        .map_err(|(path, error)| complain(&path, &error))?;
    if let Some(stop) = stop {
        errln!("inconclusive: {stop}; the other keys have no verdict, and no table was written");
        return Ok(exit(&summary).max(Exit::Inconclusive));
    }
    Ok(exit(&summary))
}

fn job(args: &CheckArgs, inputs: &[PathBuf]) -> Job {
    let names = |paths: &[PathBuf]| -> Vec<String> { paths.iter().map(|path| path.display().to_string()).collect() };
    let by = args.keys.by.clone().unwrap_or_default();
    let job = Job::new(names(inputs), &by);
    Job {
        filter: args.keys.filter.clone(),
        after: names(&args.keys.after),
        cut: args.keys.cut,
        memory: for_sorting(args.about.max_memory.as_u64()),
        jobs: args.jobs.unwrap_or(job.jobs),
        ..job
    }
}

fn exit(summary: &Summary) -> Exit {
    match summary {
        Summary { wrong: 1.., .. } => Exit::Wrong,
        Summary { rejected: 1.., .. } => Exit::Rejected,
        Summary { inconclusive: 1.., .. } => Exit::Inconclusive,
        Summary { keys: 0, .. } => Exit::Nothing,
        _ => Exit::Accepted,
    }
}

/// The counts, and the rate of rejected keys.
fn sentence(summary: &Summary, seconds: f64) -> String {
    let Summary { keys, operations, rejected, inconclusive, wrong } = *summary;
    let accepted = keys - rejected - inconclusive - wrong;
    let mut parts = vec![format!("{accepted} accepted"), format!("{rejected} rejected")];
    parts.extend((inconclusive > 0).then(|| format!("{inconclusive} inconclusive")));
    parts.extend((wrong > 0).then(|| format!("{wrong} not checked")));
    let keys_and = format!("{} with {}", counted(keys, "key"), counted(operations, "operation"));
    let mut text = format!("{keys_and}: {}, in {seconds:.1} s", parts.join(", "));
    let decided = accepted + rejected;
    if decided > 0 {
        let (low, high) = interval(rejected, decided);
        let rate = rejected as f64 / decided as f64;
        text += &format!(
            "\nrejected: {:.4} % of the keys with a verdict, 95 % interval {:.4} % to {:.4} %",
            100.0 * rate,
            100.0 * low,
            100.0 * high
        );
    }
    text
}

/// A key that is not accepted.
struct Bad {
    key: Key,
    word: String,
    reason: Option<String>,
    report: Option<Box<Report>>,
}

fn not_accepted(batch: &RecordBatch) -> Result<Vec<Bad>, String> {
    let text = |name: &str| {
        let column = batch.column_by_name(name).ok_or_else(|| format!("the verdicts have no column `{name}`"))?;
        Text::of(name, column).map_err(|error| error.to_string())
    };
    let (words, reasons, reports) = (text("verdict")?, text("reason")?, text("report")?);
    let keys = Keys::of("key", batch.column(0)).map_err(|error| error.to_string())?;
    let is_bad = |row: &usize| words.at(*row) != Some("accepted");
    let bad = |row: usize| Bad {
        key: keys.at(row),
        word: words.at(row).unwrap_or_default().to_owned(),
        reason: reasons.at(row).map(str::to_owned),
        report: reports.at(row).and_then(|report| Report::from_json(report).ok()).map(Box::new),
    };
    Ok((0..batch.column(0).len()).filter(is_bad).map(bad).collect())
}

/// The operations of one key for a page, which are read again.
fn timeline(judge: &Judge, job: &Job, key: &Key, name: &str) -> Option<Timeline> {
    let mut trace = Trace::default();
    for batch in job.operations_of(&key.to_string()).ok()? {
        omnilink_columns::read(&batch, &mut trace).ok()?;
    }
    let recording = Recording::of(History::new(trace).ok()?);
    let case = &mut Case { recording: &recording, label: name, witness: None, limits: &omnilink_judge::Unlimited };
    Some(judge.show(case, &ShowOptions::default()).ok()?.timeline)
}

/// The table of verdicts, if requested. It appears under its name when it is complete.
struct Table<'a> {
    path: Option<&'a Path>,
    writer: Option<TableWriter<NewFile>>,
}

impl Table<'_> {
    fn new(path: Option<&Path>) -> Table<'_> {
        Table { path, writer: None }
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), String> {
        let Some(path) = self.path else { return Ok(()) };
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                let file = NewFile::create(path).map_err(|error| error.to_string())?;
                let writer = TableWriter::new(file, batch.schema()).map_err(|error| error.to_string())?;
                self.writer.insert(writer)
            }
        };
        writer.write(batch).map_err(|error| error.to_string())
    }

    fn commit(self) -> Result<(), String> {
        match self.writer {
            Some(writer) => {
                let file = writer.finish().map_err(|error| error.to_string())?;
                file.commit().map_err(|error| error.to_string())
            }
            None => Ok(()),
        }
    }
}

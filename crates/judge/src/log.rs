//! Checks logs against a TLA+ specification, through the mapping in its settings.
//!
//! The events of a log become the operations of a history, one after the other, so that reports, pages and other output can
//! show them in the same way.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use omnilink_history::{Call, Interval, Op, OpId, ProcessId, Schema, Stop, Value};
use omnilink_logs::{Bound, Checked, Failure, File, LogOutcome, Prepared};
use omnilink_report::{Field, Report, Timeline, Verdict};
use omnilink_settings::log::{Log, matches};
use omnilink_tla::error::ErrorKind;
use omnilink_tla::machine::Machine;
use omnilink_tla::program::Program;
use omnilink_validate::{ReportBuilder, shown_state};

use crate::complaint::Complaint;
use crate::environment::HostWorld;
use crate::input::{self, InputError};
use crate::show::{ShowBuilder, ShowOptions, TimelineBuilder};
use crate::tla::Tla;
use crate::{Case, CheckOptions, Failed, Stage, operation};

/// The maximum number of lines of a log that a report quotes.
const MOST_LINES: usize = 3;

/// The maximum number of characters that a report quotes of a line.
const MOST_SHOWN: usize = 400;

/// The files of a log: the file, or the files of a directory that match the pattern.
fn files(path: &Path, log: &Log) -> Result<Vec<PathBuf>, InputError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let pattern = log.files.as_deref().unwrap_or("*");
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(path).map_err(InputError::new)? {
        let entry = entry.map_err(InputError::new)?.path();
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if entry.is_file() && matches(pattern, &name) {
            files.push(entry);
        }
    }
    files.sort();
    match files.is_empty() {
        true => Err(InputError::new(format!("no file matches `{pattern}`"))),
        false => Ok(files),
    }
}

/// A first mapping of a log to a specification, as text of settings.
pub fn infer(spec: &Path, log: &Path, header: usize) -> Result<String, Failed> {
    let around = crate::load::Around::default();
    let mut parts = crate::load::Parts::read(spec, &around).map_err(Failed::Spec)?;
    omnilink_logs::fill_constants(&parts.module, &mut parts.config);
    parts.assume_behavior();
    let options =
        omnilink_tla::program::LinkOptions { skip_properties: true, ..omnilink_tla::program::LinkOptions::default() };
    let loaded = parts.link(options, &[]).map_err(Failed::Spec)?;
    let mut read = Vec::new();
    for file in files(log, &Log::default())? {
        let text = input::whole_text(&file, u64::MAX, &crate::Unlimited);
        match text {
            // Other files of a directory are no part of the log.
            Ok(text) if !log.is_dir() || text.trim_start().starts_with('{') => {
                read.push(File { name: file.display().to_string(), text });
            }
            Err(failed) if !log.is_dir() => return Err(failed),
            Ok(_) | Err(_) => {}
        }
    }
    if read.is_empty() {
        return Err(Failed::Input(InputError::new("no file begins with `{`")));
    }
    let sources = &loaded.program.module.sources;
    let lines = omnilink_logs::Lines::read(&read, header).map_err(|problem| failed(problem.into(), None, sources))?;
    let names: Vec<&str> = read.iter().map(|file| file.name.as_str()).collect();
    Ok(omnilink_logs::infer(&loaded.program, &lines.lines, log.is_dir().then(|| pattern(&names)).as_deref()))
}

/// A pattern for the names of files: their common extension.
fn pattern(names: &[&str]) -> String {
    let extension =
        |name: &&str| Path::new(*name).extension().map(|extension| extension.to_string_lossy().into_owned());
    match names.first().and_then(extension) {
        Some(first) if names.iter().all(|name| extension(name).as_deref() == Some(&*first)) => format!("*.{first}"),
        _ => "*".to_owned(),
    }
}

impl Tla {
    /// True if a recording is a log: the settings have a mapping, and it is not a trace.
    pub fn takes_log(&self, case: &Case<'_>) -> bool {
        self.settings.log.is_some() && case.recording.is_log()
    }

    /// Checks one log.
    pub(crate) fn check_log(
        &self,
        asked: &CheckOptions,
        case: &mut Case<'_>,
        builder: Option<(&mut ShowBuilder, &ShowOptions)>,
    ) -> Result<Report, Failed> {
        let (Some(settings), Some(path)) = (&self.settings.log, case.recording.path()) else {
            return Err(Failed::Input(InputError::new("expected a log")));
        };
        if !asked.is_linearizable() || !asked.assume.is_empty() || asked.order_by.is_some() {
            let message =
                "`--order`, `--order-by` and `--assume` are for traces of operations, not for logs".to_owned();
            let help = "`order` in `[log]` says which events come before which".to_owned();
            return Err(Failed::Input(InputError { message, help: Some(help) }));
        }
        case.limits.reached(Stage::Reading, 0);
        let mut read = Vec::new();
        for file in files(path, settings)? {
            let name = match path.is_dir() {
                true => file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                false => case.label.to_owned(),
            };
            read.push(File { name, text: input::whole_text(&file, asked.max_memory, case.limits)? });
        }
        let directories: Vec<PathBuf> = match path.is_dir() {
            true => vec![path.to_owned()],
            false => path.parent().map(Path::to_owned).into_iter().collect(),
        };
        let directories = directories
            .into_iter()
            .chain(self.settings_file.iter().filter_map(|file| file.parent().map(Path::to_owned)));
        let directories: Vec<PathBuf> = directories.collect();
        let mut beside = |name: &str| {
            let found = directories.iter().map(|directory| directory.join(name)).find(|path| path.is_file());
            let path = found.ok_or_else(|| format!("`{name}` is neither beside the log nor beside the settings"))?;
            fs::read_to_string(&path).map_err(|error| format!("`{}`: {error}", path.display()))
        };
        let settings_name =
            self.settings_file.as_ref().map_or("omnilink.toml".to_owned(), |path| path.display().to_string());
        let settings_text = match &self.settings_file {
            Some(path) => fs::read_to_string(path).map_err(InputError::new)?,
            None => String::new(),
        };
        let mut parts = self.parts.clone();
        let prepared = Prepared::new(
            settings,
            &settings_text,
            &settings_name,
            &mut parts.module,
            &mut parts.config,
            read,
            &mut beside,
        );
        let prepared = prepared.map_err(|failure| failed(failure, None, &parts.module.sources))?;
        let config = parts.config.clone();
        let options = omnilink_tla::program::LinkOptions {
            skip_properties: true,
            ..omnilink_tla::program::LinkOptions::default()
        };
        let loaded = parts.link(options, &[]).map_err(Failed::Spec)?;
        let program = &loaded.program;
        let run = LogRun { asked, label: case.label, prepared: &prepared, program, config: &config };
        let limits = case.limits;
        let world = HostWorld::until(asked.print, limits).foreign(asked.is_foreign);
        let halt = world.halt();
        let done = run.check(&mut Machine::new(program, Box::new(world)), limits, case.witness.take(), builder);
        let mut report = match (done, halt.reason()) {
            (Err(Failed::Spec(_) | Failed::Stopped(_)), Some(stop)) => return Err(Failed::Stopped(stop)),
            (done, _) => done?,
        };
        report.spec.name = self.name_of_file();
        let shown = |value: &omnilink_tla::value::Value| value.display(&program.module.strings).to_string();
        report.spec.constants =
            prepared.given.iter().map(|(name, value)| Field { name: name.clone(), value: shown(value) }).collect();
        Ok(report)
    }
}

/// One log and one program.
struct LogRun<'a> {
    asked: &'a CheckOptions,
    label: &'a str,
    prepared: &'a Prepared,
    program: &'a Program,
    config: &'a omnilink_tla::config::Config,
}

impl LogRun<'_> {
    fn check(
        &self,
        machine: &mut Machine<'_>,
        limits: &dyn crate::Limits,
        witness: Option<&mut dyn std::io::Write>,
        builder: Option<(&mut ShowBuilder, &ShowOptions)>,
    ) -> Result<Report, Failed> {
        limits.reached(Stage::Binding, 0);
        let fail = |failure: Failure| failed(failure, Some(self.program), &self.program.module.sources);
        let bound = self.prepared.bind(machine, self.config).map_err(fail)?;
        let options =
            omnilink_logs::LogOptions { exhaustive: self.asked.exhaustive, all_orders: !self.asked.shortcuts };
        let total = bound.events.len() as u64;
        let max_width = self.asked.max_width;
        let mut poll = |stats: &omnilink_logs::Stats| {
            let seen = omnilink_search::Stats {
                operations: u64::from(stats.explained),
                steps: stats.evaluations,
                generated: stats.generated,
                distinct: stats.distinct,
                width: usize::try_from(stats.distinct).unwrap_or(usize::MAX),
                ..omnilink_search::Stats::default()
            };
            let stop = match max_width {
                Some(most) if stats.widest > most => Some(Stop::Width),
                _ => limits.poll(&seen),
            };
            limits.reached(Stage::Following, u64::from(stats.explained));
            stop
        };
        limits.total(total);
        let checked =
            omnilink_logs::check(self.prepared, &bound, machine, self.config, options, &mut poll).map_err(fail)?;
        // A check that ends in this stage counts as rejected.
        if matches!(checked.outcome, LogOutcome::Rejected(_) | LogOutcome::Violated(..)) {
            limits.reached(Stage::Explaining, 0);
        }
        let names: Vec<Arc<str>> = bound.processes.iter().map(|name| Arc::from(name.as_str())).collect();
        let mut report_builder = ReportBuilder::default();
        let verdict = self.verdict(&checked, &bound, machine, limits, &mut report_builder);
        let steps = omnilink_logs::longest(&checked, &bound);
        let sequence = sequence(&steps, &bound, &verdict, &report_builder);
        let ops = operations(&bound, &sequence);
        if let (Some(file), LogOutcome::Accepted(steps)) = (witness, &checked.outcome) {
            self.write_witness(file, steps, &ops, &names).map_err(InputError::new)?;
        }
        let mut notes = bound.notes.clone();
        if let LogOutcome::Accepted(steps) = &checked.outcome {
            notes.extend(omnilink_logs::vacuity(self.prepared, &bound, self.program, steps));
            let unlogged = omnilink_logs::unlogged(steps);
            if !unlogged.is_empty() {
                notes.push(format!("steps that are not in the log: {}", unlogged.join(", ")));
            }
        }
        if let Verdict::Rejected(rejection) = &verdict {
            let mentioned = report_builder.mentioned();
            let blocked = rejection.blocked.iter().filter_map(|op| mentioned.get(op.0));
            notes.extend(blocked.take(MOST_LINES).map(|id| self.raw_line(&bound, id.index())));
            notes.extend(limits.exceeded().map(|stop| format!("the explanation is not complete: {stop}")));
        }
        if let LogOutcome::Inconclusive(..) = &checked.outcome {
            let at = self.standing(&checked, &bound);
            notes.extend(at.map(|(event, _)| self.raw_line(&bound, event)));
        }
        if let Some((builder, look)) = builder {
            builder.timeline = self.timeline(&steps, &bound, &ops, &names, look);
            builder.timeline.mentioned = report_builder.mentioned().iter().map(|id| place(&ops[id.index()])).collect();
        }
        let described: Vec<omnilink_report::Operation> =
            report_builder.mentioned().iter().map(|id| described(&ops[id.index()], &names)).collect();
        let stats = omnilink_report::Stats {
            method: if options.exhaustive { "searched by level" } else { "searched best first" }.to_owned(),
            // The sentence of an undecided log says how many events are explained.
            returned: match checked.outcome {
                LogOutcome::Inconclusive(..) => 0,
                _ => u64::from(checked.stats.explained),
            },
            evaluations: checked.stats.evaluations,
            generated: checked.stats.generated,
            distinct: checked.stats.distinct,
            ..omnilink_report::Stats::default()
        };
        let history = omnilink_report::History {
            name: self.label.into(),
            operations: Some(total),
            processes: bound.processes.len(),
            cuts: self.prepared.cuts(),
            ..omnilink_report::History::default()
        };
        Ok(Report {
            order: crate::order(&self.asked.level()),
            operations: described,
            sources: report_builder.sources(self.program),
            stats,
            notes,
            coverage: self.asked.coverage.then(|| omnilink_logs::coverage(&bound, self.program, &checked)),
            ..Report::new(history, verdict)
        })
    }

    /// The line of an event, as in its file.
    fn raw_line(&self, bound: &Bound, event: usize) -> String {
        let event = &bound.events[event];
        let file = &self.prepared.files()[event.file];
        let line = file.text.lines().nth(event.line.saturating_sub(1)).unwrap_or_default();
        let shown: String = line.chars().take(MOST_SHOWN).collect();
        let more = if shown.len() < line.len() { "..." } else { "" };
        format!("{} line {}: {shown}{more}", file.name, event.line)
    }

    fn verdict(
        &self,
        checked: &Checked,
        bound: &Bound,
        machine: &mut Machine<'_>,
        limits: &dyn crate::Limits,
        report_builder: &mut ReportBuilder,
    ) -> Verdict {
        match &checked.outcome {
            LogOutcome::Accepted(_) => Verdict::Accepted,
            LogOutcome::Rejected(stuck) => {
                let mut exceeded = || limits.exceeded().is_some();
                let rejection = omnilink_logs::explain(checked, stuck, bound, machine, report_builder, &mut exceeded);
                Verdict::Rejected(Box::new(rejection))
            }
            LogOutcome::Violated(stuck, invariant, state) => {
                let rejection =
                    omnilink_logs::explain_violation(checked, stuck, *invariant, state, bound, machine, report_builder);
                Verdict::Rejected(Box::new(rejection))
            }
            LogOutcome::Inconclusive(Stop::Incomplete, ..) => {
                let at = self.standing(checked, bound).map(|(event, _)| self.shown(bound, event)).unwrap_or_default();
                let words = omnilink_logs::lost(checked, bound).unwrap_or_default();
                let explained =
                    omnilink_logs::longest(checked, bound).iter().filter(|step| step.event.is_some()).count();
                let events = bound.events.len();
                let sentence = format!(
                    "{words}; {explained} of {events} events are explained, and lost ones may have come before {at}"
                );
                crate::inconclusive(Stop::Incomplete, sentence)
            }
            LogOutcome::Inconclusive(stop, _, width) => {
                let explained = checked.stats.explained;
                let events = bound.events.len();
                let at = self.standing(checked, bound).map_or(String::new(), |(event, why)| {
                    let why = why.map_or(String::new(), |why| {
                        format!(", where {why}: this is not proved to be a fault, others may get past it")
                    });
                    format!("; the furthest behavior stands before {}{why}", self.shown(bound, event))
                });
                crate::inconclusive(
                    *stop,
                    format!(
                        "{stop}: {explained} of {events} events explained{at}; {} configurations, {width} of them as far",
                        checked.stats.distinct
                    ),
                )
            }
        }
    }

    /// The event before which the furthest behavior of an undecided log stands, and the reason why it is not possible
    /// there. The limit that was reached does not apply to this evaluation.
    fn standing(&self, checked: &Checked, bound: &Bound) -> Option<(usize, Option<String>)> {
        let world = HostWorld::new(self.asked.print).foreign(self.asked.is_foreign);
        omnilink_logs::standing(checked, bound, &mut Machine::new(self.program, Box::new(world)))
    }

    /// An event with its place, as in a sentence.
    fn shown(&self, bound: &Bound, event: usize) -> String {
        let event = &bound.events[event];
        let name = event.name.as_deref().unwrap_or("event");
        format!("`{name}` ({} line {})", self.prepared.files()[event.file].name, event.line)
    }

    /// Writes the steps of a behavior: one line for each, with the event.
    fn write_witness(
        &self,
        file: &mut dyn std::io::Write,
        steps: &[omnilink_logs::Taken],
        ops: &[Op<Call>],
        names: &[Arc<str>],
    ) -> std::io::Result<()> {
        writeln!(file, "# {}", self.label)?;
        for step in steps {
            match (step.event, &step.action) {
                (Some(event), _) => writeln!(file, "{}", crate::witness_line(&described(&ops[event], names)))?,
                (None, Some(action)) => writeln!(file, "# unlogged {action}")?,
                (None, None) => {}
            }
        }
        Ok(())
    }

    fn timeline(
        &self,
        steps: &[omnilink_logs::Taken],
        bound: &Bound,
        ops: &[Op<Call>],
        names: &[Arc<str>],
        look: &ShowOptions,
    ) -> Timeline {
        let mut builder = TimelineBuilder::new(names);
        let mut by_time: Vec<&Op<Call>> = ops.iter().collect();
        by_time.sort_by_key(|op| place(op));
        for op in by_time {
            // A prime, because these are values after the step.
            let told = bound.events[op.id.index()].told(self.program).into_iter();
            let mut op = op.clone();
            op.call.meta.extend(told.map(|(what, value)| (Arc::from(format!("{what}'")), Value::str(&*value))));
            builder.add(&op);
        }
        let mut timeline = builder.finish();
        let number = |event: usize| u32::try_from(place(&ops[event])).unwrap_or(u32::MAX);
        let mut states = Vec::new();
        for step in steps {
            match (step.event, &step.action) {
                (Some(event), _) => {
                    timeline.order.push(omnilink_report::Placement { op: number(event), partway: false });
                    states.push(&step.state);
                }
                (None, Some(action)) => {
                    let before = u32::try_from(timeline.order.len()).unwrap_or(u32::MAX);
                    timeline.unlogged.push(omnilink_report::Unlogged { before, action: action.clone() });
                }
                (None, None) if states.is_empty() => states.push(&step.state),
                (None, None) => {}
            }
        }
        let first = states.len().saturating_sub(look.states.max(1));
        timeline.states = states[first..].iter().map(|state| shown_state(self.program, state)).collect();
        timeline.until = timeline.order.len();
        timeline.actions = omnilink_logs::step_names(self.program);
        let messages = bound.order.messages().iter();
        timeline.messages = messages.map(|&(send, receive)| (number(send), number(receive))).collect();
        timeline
    }
}

/// A sequence of all events that their order allows: the explained ones as in the behavior, then those that have no
/// explanation.
fn sequence(
    steps: &[omnilink_logs::Taken],
    bound: &Bound,
    verdict: &Verdict,
    report_builder: &ReportBuilder,
) -> Vec<usize> {
    let explained: Vec<usize> = steps.iter().filter_map(|step| step.event).collect();
    let mentioned = report_builder.mentioned();
    let blocked: Vec<usize> = match verdict {
        Verdict::Rejected(rejection) => rejection.blocked.iter().map(|op| mentioned[op.0].index()).collect(),
        _ => Vec::new(),
    };
    bound.order.sequence(&explained, &blocked)
}

/// The place of an event among all events.
fn place(op: &Op<Call>) -> usize {
    op.interval.start() as usize - 1
}

/// The events as operations. Their times are their places in the sequence, from 1.
fn operations(bound: &Bound, sequence: &[usize]) -> Vec<Op<Call>> {
    // The time of each event, and the number of events of its process before it.
    let mut places = vec![(0_u64, 0_u32); bound.events.len()];
    let mut counts = vec![0_u32; bound.processes.len()];
    for (time, &event) in (1..).zip(sequence) {
        let count = &mut counts[bound.events[event].process];
        places[event] = (time, *count);
        *count += 1;
    }
    let mut ops = Vec::new();
    for (place, event) in bound.events.iter().enumerate() {
        let args: Vec<(&str, &str)> = event.args.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let schema = Schema {
            action: event.name.as_deref().unwrap_or("event").into(),
            args: args.iter().map(|(name, _)| Arc::from(*name)).collect(),
            results: Vec::new(),
        };
        let text = |text: &str| {
            omnilink_history::format::json::Json::parse(text)
                .ok()
                .and_then(|json| plain(&json))
                .unwrap_or_else(|| Value::str(text))
        };
        let values = args.iter().map(|(_, value)| text(value));
        let Some(mut call) = Call::new(Arc::new(schema), values) else { continue };
        call.meta.push(("line".into(), Value::Int(event.line as i64)));
        call.meta.extend(event.fields.iter().map(|(name, value)| (Arc::from(name.as_str()), text(value))));
        let (time, index) = places[place];
        ops.push(Op {
            id: OpId(u32::try_from(place).unwrap_or(u32::MAX)),
            process: ProcessId(u32::try_from(event.process).unwrap_or(u32::MAX)),
            index,
            interval: Interval::new(time, time).unwrap_or_else(|| unreachable!("a point in time")),
            is_last: false,
            call,
        });
    }
    ops
}

/// A value that needs no quotes or braces of its own.
fn plain(json: &omnilink_history::format::json::Json) -> Option<Value> {
    use omnilink_history::format::json::Json;
    match json {
        Json::Text(text) => Some(Value::str(text.as_str())),
        Json::Number(number) => Some(number.clone()),
        Json::Bool(truth) => Some(Value::Bool(*truth)),
        Json::Null => Some(Value::Nil),
        Json::Array(_) | Json::Object(_) => None,
    }
}

fn described(op: &Op<Call>, names: &[Arc<str>]) -> omnilink_report::Operation {
    operation(omnilink_history::name(names, op.process, op.index), op)
}

/// The reason why a log could not be checked, with its place.
fn failed(failure: Failure, program: Option<&Program>, sources: &omnilink_tla::source::Sources) -> Failed {
    match failure {
        Failure::Problems(problems) => {
            Failed::Spec(problems.iter().map(|problem| Complaint::of_problem(sources, problem)).collect())
        }
        Failure::Expression(errors) => Failed::Spec(Complaint::of_modules(&errors)),
        Failure::Evaluation { error, .. } if error.kind == ErrorKind::Stopped => Failed::Stopped(Stop::Interrupted),
        Failure::Evaluation { error, note } => {
            let mut complaint = match program {
                Some(program) => Complaint::of_evaluation(program, &error),
                None => Complaint::new(error.message.clone()),
            };
            complaint.note = note;
            Failed::Spec(vec![complaint])
        }
    }
}

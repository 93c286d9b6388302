//! The serial runs of an object as a specification, read from a file that `omnilink lineup` wrote.
//!
//! `lineup` defines which serial runs explain a history: [`SerialSpec`] is the specification, and [`demands`] are the parts
//! of a stuck history that need a serial run each. So a trace is checked once for each call that is blocked at its end,
//! without the other blocked ones; the first part that is not accepted decides. The check refuses a trace of another test.

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use omnilink_history::{Call, Op, OpId, Outcome, ProcessId, Record, Trace};
use omnilink_lineup::{Answer, NodeId, Observations, Observed, Operation, SerialSpec, Test, Thread, demands};
use omnilink_models::{BadCall, Interner, Model};
use omnilink_report::{ClosestRun, Report, TestedCall, Verdict};
use omnilink_search::{Spec, Successors};

use crate::builtin::Builtin;
use crate::recording::Whole;
use crate::show::ShowBuilder;
use crate::{Against, Case, Failed, InputError, Inspection, Recording, ShowOptions};

/// The extension of files with serial runs.
pub fn is_lineup(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "lineup")
}

/// Serial runs that were read from a file.
#[derive(Debug)]
pub(crate) struct Serial {
    test: Test,
    observations: Arc<Observations>,
    runs: Builtin,
}

impl Serial {
    /// Reads serial runs.
    pub(crate) fn read(path: &Path) -> Result<Serial, InputError> {
        let wrong = |message: String| InputError::new(format!("{}: {message}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let observations: Observations =
            text.parse().map_err(|error: omnilink_lineup::Unreadable| wrong(error.to_string()))?;
        if let Some(order) = observations.missing(1).first() {
            return Err(InputError {
                message: format!(
                    "{}: the serial run in which the threads take turns as `{order}` is missing",
                    path.display()
                ),
                help: Some(
                    "a rejection needs all serial runs: `omnilink lineup --test TEST --observations FILE` writes them"
                        .into(),
                ),
            });
        }
        let (test, observations) = (observations.test().clone(), Arc::new(observations));
        let shared = observations.clone();
        let model = move || SerialModel { observations: shared.clone(), atoms: Interner::default() };
        Ok(Serial { test, observations, runs: Builtin::of_file(path, model) })
    }

    /// The serial run that agrees with a rejected history in the most answers.
    fn closest(&self, whole: &Whole) -> Option<ClosestRun> {
        let threads = omnilink_lineup::fit(&self.test, &whole.history).ok()?;
        let operation = |op: &Op<Call>| {
            let (thread, start) = (threads[op.process.index()], op.interval.start());
            Some(match op.outcome() {
                Outcome::Unfinished => return None,
                Outcome::Blocked => Operation::pending(thread, start),
                _ => Operation::returned(thread, start, op.interval.end()?, omnilink_lineup::results_text(&op.call)),
            })
        };
        let operations: Vec<Operation> = whole.history.ops().iter().map(operation).collect::<Option<_>>()?;
        let observed = match operations.iter().any(|operation| operation.returned.is_none()) {
            true => Observed::stuck(&self.test, operations),
            false => Observed::full(&self.test, operations),
        };
        let observed = observed.ok()?;
        let explanation = omnilink_lineup::explain(&self.observations, &observed);
        let failure = explanation.failure()?;
        let closest = failure.closest.first()?;
        let places: Vec<_> = observed.operations().map(|(place, _)| place).collect();
        let calls = observed.operations().map(|(place, operation)| {
            let (end, results) = operation.returned.clone().unzip();
            let differing = closest.differing.iter().find(|differing| differing.place == place);
            TestedCall {
                process: match place.thread {
                    Thread::Column(column) => format!("T{column}"),
                    Thread::Main => Thread::Main.to_string(),
                },
                call: self.test.call(place).to_owned(),
                start: operation.start,
                end,
                answer: results.map_or(Answer::Blocked, Answer::Returned).to_string(),
                serial: differing.map(|differing| differing.serial.to_string()),
            }
        });
        Some(ClosestRun {
            sentence: omnilink_lineup::headline(&self.test, failure),
            calls: calls.collect(),
            order: closest
                .run
                .operations()
                .filter_map(|(of, _)| places.iter().position(|place| *place == of))
                .collect(),
        })
    }

    /// The parts of a trace that need a serial run each.
    fn parts<'w>(&self, whole: &'w Whole) -> Result<Parts<'w>, InputError> {
        let threads = omnilink_lineup::fit(&self.test, &whole.history).map_err(|misfit| InputError {
            message: format!("not an execution of the test of {}: {misfit}", self.runs.name()),
            help: Some(format!("the test is `{}`", self.test)),
        })?;
        let columns = self.test.columns().len();
        let names = (0..columns).map(|column| column.to_string().into());
        let main = threads.contains(&Thread::Main).then(|| Thread::Main.to_string().into());
        let process = |thread: &Thread| match thread {
            Thread::Column(column) => usize::from(*column),
            Thread::Main => columns,
        };
        let process = |thread: &Thread| ProcessId(u32::try_from(process(thread)).expect("at most 36 threads"));
        let blocked = whole.history.ops().iter().filter(|op| op.outcome() == Outcome::Blocked).map(|op| op.id);
        Ok(Parts {
            whole,
            processes: names.chain(main).collect(),
            process: threads.iter().map(process).collect(),
            pending: demands(blocked),
        })
    }

    /// The part that decides: the first that is not accepted, else the last.
    fn deciding(&self, asked: &crate::CheckOptions, parts: &Parts<'_>, case: &Case<'_>) -> Result<Recording, Failed> {
        for (index, &pending) in parts.pending.iter().enumerate() {
            let recording = parts.part(pending)?;
            let part = &mut Case { recording: &recording, label: case.label, witness: None, limits: case.limits };
            let is_last = index + 1 == parts.pending.len();
            if is_last || self.runs.check(asked, part, None)?.verdict != Verdict::Accepted {
                return Ok(recording);
            }
        }
        unreachable!("a trace has at least one part")
    }
}

/// The parts of a trace.
struct Parts<'w> {
    whole: &'w Whole,
    /// The names of the threads of the test.
    processes: Vec<Arc<str>>,
    /// Of each process of the trace, the process in the parts: its thread by number, and then the main thread.
    process: Vec<ProcessId>,
    /// The blocked operation of each part.
    pending: Vec<Option<OpId>>,
}

impl Parts<'_> {
    fn part(&self, pending: Option<OpId>) -> Result<Recording, InputError> {
        let is_part = |op: &&Op<Call>| op.outcome() != Outcome::Blocked || Some(op.id) == pending;
        let record = |op: &Op<Call>| Record {
            process: self.process[op.process.index()],
            start: op.interval.start(),
            end: op.interval.into(),
            call: op.call.clone(),
        };
        let trace = Trace {
            processes: self.processes.clone(),
            records: self.whole.history.ops().iter().filter(is_part).map(record).collect(),
            cuts: self.whole.cuts.clone(),
            ..Trace::default()
        };
        Recording::of_trace(trace).map_err(|error| InputError::from(&error))
    }

    /// Completes the report on a part.
    fn report(&self, mut report: Report, pending: Option<OpId>) -> Report {
        report.history.operations = report.history.operations.map(|_| self.whole.history.ops().len() as u64);
        let others = self.pending.len() - 1;
        if let Some(op) = pending.filter(|_| others > 0) {
            let name = self.whole.history.name(op);
            report.notes.push(match report.verdict {
                Verdict::Accepted => format!("each of the {} blocked calls has a serial run of its own", others + 1),
                _ => format!("a serial run was looked for in which {name} blocks, without the other blocked calls"),
            });
        }
        report
    }
}

impl Against for Serial {
    fn check(
        &self,
        asked: &crate::CheckOptions,
        case: &mut Case<'_>,
        mut builder: Option<(&mut ShowBuilder, &ShowOptions)>,
    ) -> Result<Report, Failed> {
        let Case { recording, label, limits, .. } = *case;
        let whole = recording.held(asked.max_memory, limits)?.whole(limits)?;
        let parts = self.parts(whole)?;
        let (mut orders, mut decided) = (Vec::new(), None);
        for &pending in &parts.pending {
            let recording = parts.part(pending)?;
            let witness = case.witness.is_some().then_some(&mut orders as &mut dyn std::io::Write);
            let part = &mut Case { recording: &recording, label, witness, limits };
            let builder = builder.as_mut().map(|(builder, look)| (&mut **builder, *look));
            let report = parts.report(self.runs.check(asked, part, builder)?, pending);
            if report.verdict != Verdict::Accepted {
                let is_rejected = matches!(report.verdict, Verdict::Rejected(_));
                return Ok(Report { closest_run: is_rejected.then(|| self.closest(whole)).flatten(), ..report });
            }
            decided = Some(report);
        }
        if let Some(file) = &mut case.witness {
            file.write_all(&orders).map_err(InputError::new)?;
        }
        Ok(decided.expect("a trace has at least one part"))
    }

    fn name(&self) -> &str {
        self.runs.name()
    }

    fn files(&self) -> Vec<(PathBuf, String)> {
        self.runs.files()
    }

    fn walk(
        &self,
        asked: &crate::CheckOptions,
        case: &Case<'_>,
        shown: &mut Inspection,
        look: &ShowOptions,
    ) -> Result<(), Failed> {
        let parts = self.parts(case.recording.held(asked.max_memory, case.limits)?.whole(case.limits)?)?;
        let recording = self.deciding(asked, &parts, case)?;
        let part = Case { recording: &recording, label: case.label, witness: None, limits: case.limits };
        self.runs.walk(asked, &part, shown, look)
    }
}

struct SerialModel {
    observations: Arc<Observations>,
    atoms: Interner,
}

/// An operation of [`SerialSpec`], with its call for messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Done {
    op: (Thread, Option<Answer>),
    call: String,
}

impl Spec for SerialModel {
    type Op = Done;
    type State = NodeId;
    type Error = Infallible;

    fn initial(&self, out: &mut Vec<NodeId>) -> Result<(), Infallible> {
        SerialSpec(&self.observations).initial(out)
    }

    fn step(&self, state: &NodeId, done: &Done, out: &mut Successors<NodeId>) -> Result<(), Infallible> {
        SerialSpec(&self.observations).step(state, &done.op, out)
    }

    fn why_not(&self, state: &NodeId, done: &Done) -> Option<String> {
        let Done { op: (thread, answer), call } = done;
        match self.observations.after(*state, *thread) {
            _ if self.next(state, done).is_some() => None,
            None => Some(format!("no serial run has `{call}` of thread {thread} here")),
            Some((Answer::Blocked, _)) => Some(format!("`{call}` of thread {thread} blocks here in every serial run")),
            Some((Answer::Returned(serial), _)) => {
                let told = |results: &str| if results.is_empty() { "nothing".to_owned() } else { results.to_owned() };
                let here = match answer {
                    Some(Answer::Blocked) => "is blocked at the end".to_owned(),
                    Some(Answer::Returned(results)) => format!("returned {}", told(results)),
                    None => "may have returned".to_owned(),
                };
                Some(format!("`{call}` {here}, but returns {} here in every serial run", told(serial)))
            }
        }
    }
}

impl Model for SerialModel {
    fn bind(&self, op: &Op<Call>) -> Result<Option<Done>, BadCall> {
        let columns = self.observations.test().columns().len();
        let thread = match u8::try_from(op.process.index()) {
            Ok(column) if usize::from(column) < columns => Thread::Column(column),
            _ => Thread::Main,
        };
        let answer = match op.outcome() {
            Outcome::Unfinished => None,
            // For an object, the failure of a call is its answer.
            Outcome::Finished | Outcome::Failed => Some(Answer::Returned(omnilink_lineup::results_text(&op.call))),
            Outcome::Blocked => Some(Answer::Blocked),
        };
        Ok(Some(Done { op: (thread, answer), call: omnilink_lineup::call_text(&op.call) }))
    }

    fn next(&self, state: &NodeId, done: &Done) -> Option<NodeId> {
        SerialSpec(&self.observations).next(*state, &done.op)
    }

    fn atoms(&self) -> &Interner {
        &self.atoms
    }

    /// The answer of each thread's next operation.
    fn show(&self, state: &NodeId) -> String {
        let columns = 0..self.observations.test().columns().len();
        let threads = columns.filter_map(|column| u8::try_from(column).ok()).map(Thread::Column).chain([Thread::Main]);
        let next = threads.filter_map(|thread| {
            let (answer, _) = self.observations.after(*state, thread)?;
            Some(match answer {
                Answer::Returned(results) if results.is_empty() => format!("{thread} returns"),
                Answer::Returned(results) => format!("{thread} returns {results}"),
                Answer::Blocked => format!("{thread} blocks"),
            })
        });
        let next: Vec<String> = next.collect();
        if next.is_empty() { "no operation is left".to_owned() } else { format!("next: {}", next.join(", ")) }
    }
}

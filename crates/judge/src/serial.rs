//! The serial runs of an object as a specification, read from a file that `omnilink lineup` wrote.
//!
//! A state is a prefix of serial runs, and an operation is a thread with its answer. The processes of a trace are the
//! threads of the test in order, and then the main thread.

use std::convert::Infallible;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use history::{Call, Op, Outcome};
use lineup::{Answer, NodeId, Observations, Thread};
use models::{BadCall, Interner, Model};
use search::{Spec, Successors};

use crate::InputError;
use crate::builtin::Builtin;

/// The extension of files with serial runs.
pub fn is_lineup(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "lineup")
}

/// Reads serial runs.
pub(crate) fn read(path: &Path) -> Result<Builtin, InputError> {
    let wrong = |message: String| InputError::new(format!("{}: {message}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let observations: Observations = text.parse().map_err(|error: lineup::Unreadable| wrong(error.to_string()))?;
    let observations = Arc::new(observations);
    Ok(Builtin::of_file(path, move || SerialModel { observations: observations.clone(), atoms: Interner::default() }))
}

struct SerialModel {
    observations: Arc<Observations>,
    atoms: Interner,
}

/// An operation: its thread, and its answer if that is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Done {
    thread: Thread,
    call: String,
    answer: Option<Answer>,
}

impl Spec for SerialModel {
    type Op = Done;
    type State = NodeId;
    type Error = Infallible;

    fn initial(&self, out: &mut Vec<NodeId>) -> Result<(), Infallible> {
        out.push(self.observations.root());
        Ok(())
    }

    fn step(&self, state: &NodeId, op: &Done, out: &mut Successors<NodeId>) -> Result<(), Infallible> {
        if let Some(next) = self.next(state, op) {
            out.done(next);
        }
        Ok(())
    }

    fn why_not(&self, state: &NodeId, op: &Done) -> Option<String> {
        let Done { thread, call, answer } = op;
        match self.observations.after(*state, *thread) {
            _ if self.next(state, op).is_some() => None,
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
            Ok(main) if usize::from(main) == columns => Thread::Main,
            _ => return Err(BadCall::Refused { call: op.call.to_string() }),
        };
        let answer = match op.outcome() {
            Outcome::Failed => return Ok(None),
            Outcome::Unfinished => None,
            Outcome::Finished => Some(Answer::Returned(lineup::results_text(&op.call))),
            Outcome::Blocked => Some(Answer::Blocked),
        };
        Ok(Some(Done { thread, call: lineup::call_text(&op.call), answer }))
    }

    fn next(&self, state: &NodeId, op: &Done) -> Option<NodeId> {
        match (self.observations.after(*state, op.thread)?, &op.answer) {
            // It does nothing.
            ((Answer::Blocked, _), Some(Answer::Blocked)) => Some(*state),
            ((Answer::Returned(serial), node), Some(Answer::Returned(results))) => (results == serial).then_some(node),
            ((Answer::Returned(_), node), None) => Some(node),
            _ => None,
        }
    }

    fn atoms(&self) -> &Interner {
        &self.atoms
    }

    /// What each thread is answered next.
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

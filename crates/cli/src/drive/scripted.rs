//! Calls from files: behaviors or scripts that `omnilink spec simulate` wrote, or histories.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use omnilink_harness::{Input, Lost};
use omnilink_history::{Call, History as Operations, Op, Outcome as OpOutcome};
use omnilink_judge::{InputError, Recording};
use omnilink_report::clean;

use super::history::{History, answer, shown};
use super::{Driver, Failure, Returned};
use crate::exit::Exit;
use crate::fuzz::read_script;
use crate::outcome::print_failure;
use crate::terminal::complain;

/// A call of a file.
struct Step {
    input: Input,
    expected: Expected,
}

/// The answer that a file has for a call.
enum Expected {
    /// None: it is a script, or the outcome is not known.
    Any,
    Refusal,
    Answer(Returned),
}

impl Expected {
    fn is_met_by(&self, answered: Option<&Returned>) -> bool {
        match self {
            Expected::Any => true,
            Expected::Refusal => answered.is_none(),
            Expected::Answer(expected) => answered == Some(expected),
        }
    }
}

/// The extensions of files with calls.
const EXTENSIONS: [&str; 2] = ["jsonl", SCRIPT];
const SCRIPT: &str = "script";

impl Driver<'_> {
    /// Makes the calls of each file. A run ends where the program answers otherwise, because the rest was chosen for another
    /// state.
    pub(super) fn scripted_runs(&mut self) -> Result<Exit, Exit> {
        let mut worst = Exit::Accepted;
        for path in files(&self.args.from)? {
            let label = path.display().to_string();
            let script = match path.extension() == Some(OsStr::new(SCRIPT)) {
                true => self.read_script(&path)?,
                false => {
                    let recording = Recording::at(&path, None);
                    let operations = recording.history().map_err(|failed| print_failure(&failed, &label))?;
                    self.script(operations).map_err(|lost| complain(&label, &InputError::new(lost)))?
                }
            };
            let mut history = History::default();
            let result = self.follow(&script, &label, &mut history);
            self.totals.runs += 1;
            let exit = self.conclude(&label, &history, result)?.unwrap_or(Exit::Accepted);
            worst = worst.max(exit);
            if exit == Exit::Interrupted {
                break;
            }
        }
        Ok(worst)
    }

    /// The calls of a script, in the order of its lines.
    fn read_script(&self, path: &Path) -> Result<Vec<Step>, Exit> {
        let calls = read_script(path)?.calls.into_iter();
        let steps = calls.map(|line| {
            let input = Input::read(&line.call, self.plan)
                .and_then(|input| Ok(Input { process: self.follower.process(line.thread)?, ..input }));
            let input = input.map_err(|message| {
                complain(&path.display().to_string(), &InputError::new(format!("line {}: {message}", line.line)))
            })?;
            Ok(Step { input, expected: Expected::Any })
        });
        steps.collect()
    }

    fn follow(&mut self, script: &[Step], label: &str, history: &mut History) -> Result<(), Failure> {
        let mut system = self.start()?;
        for (place, step) in script.iter().enumerate() {
            let answered = self.call(&mut system, &step.input, history)?;
            if !step.expected.is_met_by(answered.as_ref()) {
                self.totals.otherwise += 1;
                let expected = match &step.expected {
                    Expected::Answer(expected) => Some(expected),
                    Expected::Any | Expected::Refusal => None,
                };
                let words = |returned: Option<&Returned>| {
                    returned.map_or("refused".to_owned(), |(outcome, results)| answer(outcome, results))
                };
                outln!(
                    "{}: answered otherwise at call {}, `{}`: {}, not {}",
                    clean(label),
                    place + 1,
                    shown(&step.input),
                    words(answered.as_ref()),
                    words(expected)
                );
                return Ok(());
            }
        }
        self.totals.reproduced += 1;
        system.end().map_err(Failure::Broken)
    }

    /// The calls of a history, in the order of their starts, without the steps that the system takes by itself.
    fn script(&self, operations: &Operations<Call>) -> Result<Vec<Step>, Lost> {
        let mut ops: Vec<_> = operations.ops().iter().collect();
        ops.sort_by_key(|op| op.interval.start());
        let step = |op: &Op<Call>| {
            let step = self.follower.answered(&op.call, &operations.processes()[op.process.index()])?;
            Ok(step.map(|step| {
                let expected = match op.outcome() {
                    OpOutcome::Finished => Expected::Answer((step.outcome, step.results)),
                    OpOutcome::Failed => Expected::Refusal,
                    OpOutcome::Unfinished | OpOutcome::Blocked => Expected::Any,
                };
                Step { input: step.input, expected }
            }))
        };
        ops.into_iter().filter_map(|op| step(op).transpose()).collect()
    }
}

/// The files that were named, and those in directories that were named, by name.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Exit> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let cannot = |error| complain(&path.display().to_string(), &InputError::new(error));
        let entries = std::fs::read_dir(path).map_err(cannot)?;
        let mut inside: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        inside.retain(|path| EXTENSIONS.iter().any(|known| path.extension() == Some(OsStr::new(known))));
        inside.sort();
        files.extend(inside);
    }
    if files.is_empty() {
        let help = Some("`omnilink spec simulate SPEC.tla -o DIR` writes some".to_owned());
        return Err(complain("--from", &InputError { message: "no file ends in `.jsonl` or `.script`".into(), help }));
    }
    Ok(files)
}

//! Calls from files: behaviors or scripts that `omnilink spec simulate` wrote, or histories.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use omnilink_harness::{Call, Input, Outcome, Plan};
use omnilink_history::{History as Operations, Value};
use omnilink_judge::{InputError, Recording};

use super::history::{History, answer, shown};
use super::{Driver, Failure};
use crate::exit::Exit;
use crate::fuzz::read_script;
use crate::outcome::print_failure;
use crate::terminal::complain;

/// A call of a file, with the answer that is expected; a script has none.
struct Expected {
    input: Input,
    answer: Option<(String, BTreeMap<String, Value>)>,
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
                    script(self.plan, operations).map_err(|message| complain(&label, &InputError::new(message)))?
                }
            };
            let mut history = History::default();
            let result = self.follow(&script, &label, &mut history);
            self.totals.runs += 1;
            worst = worst.max(self.conclude(&label, &history, result)?.unwrap_or(Exit::Accepted));
        }
        Ok(worst)
    }

    /// The calls of a script, in the order of its lines.
    fn read_script(&self, path: &Path) -> Result<Vec<Expected>, Exit> {
        let calls = read_script(path)?.calls.into_iter();
        let expected = calls.map(|line| {
            let input = Input::read(&line.call, self.plan)
                .and_then(|input| Ok(Input { process: self.follower.process(line.thread)?, ..input }));
            let input = input.map_err(|message| {
                complain(&path.display().to_string(), &InputError::new(format!("line {}: {message}", line.line)))
            })?;
            Ok(Expected { input, answer: None })
        });
        expected.collect()
    }

    fn follow(&mut self, script: &[Expected], label: &str, history: &mut History) -> Result<(), Failure> {
        let mut system = self.start()?;
        for (place, expected) in script.iter().enumerate() {
            let answered = self.call(&mut system, &expected.input, history)?;
            if let Some(wanted) = &expected.answer
                && answered.as_ref() != Some(wanted)
            {
                self.totals.otherwise += 1;
                let answered = match &answered {
                    None => "refused".to_owned(),
                    Some((outcome, results)) => answer(outcome, results),
                };
                outln!(
                    "{label}: answered otherwise at call {}, `{}`: {answered}, not {}",
                    place + 1,
                    shown(&expected.input),
                    answer(&wanted.0, &wanted.1)
                );
                return Ok(());
            }
        }
        self.totals.reproduced += 1;
        system.end().map_err(Failure::Broken)
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

/// The calls of a history, in the order of their starts.
fn script(plan: &Plan, operations: &Operations<omnilink_history::Call>) -> Result<Vec<Expected>, String> {
    let mut ops: Vec<_> = operations.ops().iter().collect();
    ops.sort_by_key(|op| op.interval.start());
    ops.into_iter()
        .map(|op| {
            let name = op.call.action();
            let (call, outcome) = plan.outcome(name).ok_or_else(|| format!("`{name}` is no outcome of a call"))?;
            Ok(expected(call, outcome, &op.call))
        })
        .collect()
}

fn expected(call: &Call, outcome: &Outcome, recorded: &omnilink_history::Call) -> Expected {
    let mut input = Input { call: call.name.clone(), process: None, arguments: BTreeMap::new() };
    let mut results = BTreeMap::new();
    let schema = recorded.schema();
    let fields = schema.args.iter().zip(recorded.args()).chain(schema.results.iter().zip(recorded.results()));
    for (name, value) in fields {
        if let Some((place, _)) = outcome.arguments.iter().find(|(_, known)| **known == **name) {
            input.arguments.insert(call.arguments[*place].field.name.clone(), value.clone());
        } else if outcome.results.iter().any(|result| *result.name == **name) {
            results.insert(name.to_string(), value.clone());
        } else {
            input.process = Some(value.clone());
        }
    }
    Expected { input, answer: Some((outcome.action.clone(), results)) }
}

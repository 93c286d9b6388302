//! The program that is driven: a call goes to its standard input as a line of JSON, and it answers with a line.
//!
//! Two threads write and read, so that nothing the program does makes the command wait longer than the time for an answer: not a
//! program that does not read its input, nor one that closes its output and continues. Interrupts are for the command: the
//! program is in a process group of its own, and is killed.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

use omnilink_harness::{Call, Input, Outcome};
use omnilink_history::Value;
use omnilink_history::format::jsonl::{read_fields_of, read_value_of, write_value_of};
use omnilink_report::clean;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Map, json};
use thiserror::Error;

use crate::limits;

/// The longest line that is read as an answer.
const MOST_BYTES: u64 = 16 << 20;

/// The time between two looks at interrupts and at a program that should end.
const TICK: Duration = Duration::from_millis(20);

/// The characters shown of a line that cannot be read.
const SHOWN: usize = 200;

/// The program, running.
pub(super) struct System {
    child: Child,
    /// Lines for the program; `None` after its input has ended.
    input: Option<Sender<String>>,
    answers: Receiver<Line>,
    timeout: Duration,
    /// The variables whose values it may report.
    variables: Vec<String>,
}

/// A line that the program wrote.
enum Line {
    Text(String),
    /// It cannot be an answer.
    Wrong(&'static str),
}

/// An answer to a call.
pub(super) enum Answer<'a> {
    /// The call had no effect.
    Refused {
        /// The values of variables, if the program reports them.
        state: Option<BTreeMap<String, Value>>,
    },
    /// It returned.
    Returned {
        /// The outcome.
        outcome: &'a Outcome,
        /// Its results, by recorded name.
        results: BTreeMap<String, Value>,
        /// The values of variables, if the program reports them.
        state: Option<BTreeMap<String, Value>>,
    },
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub(super) enum Broken {
    #[error("the program cannot be started: {0}")]
    Start(std::io::Error),
    #[error("no answer to {call} in {timeout:?}")]
    Silent { call: String, timeout: Duration },
    #[error("the program ended without an answer to {call}: {status}")]
    Ended { call: String, status: ExitStatus },
    #[error("the program closed its output without an answer to {call}, and did not end in {timeout:?}")]
    Closed { call: String, timeout: Duration },
    #[error("the program did not end in {0:?} after the end of its input")]
    Endless(Duration),
    #[error("the program ended with {0} after the end of its input")]
    Status(ExitStatus),
    #[error("the answer to {call} cannot be read: {message}\n  answer: {answer}")]
    Unreadable { call: String, answer: String, message: String },
    #[error("the program wrote a line before {before}: each call has one line as its answer\n  line: {line}")]
    Unasked { before: String, line: String },
    #[error("interrupted")]
    Interrupted,
}

impl Broken {
    /// The word for it.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Broken::Start(_) => "not started",
            Broken::Silent { .. } | Broken::Closed { .. } | Broken::Endless(_) => "stuck",
            Broken::Ended { .. } | Broken::Status(_) => "crashed",
            Broken::Unreadable { .. } => "unreadable answer",
            Broken::Unasked { .. } => "a line too many",
            Broken::Interrupted => "interrupted",
        }
    }
}

/// Why no line came.
enum Absent {
    Late,
    Closed,
    Interrupted,
}

impl System {
    pub(super) fn start(program: &[String], timeout: Duration, variables: Vec<String>) -> Result<System, Broken> {
        let mut child = Command::new(&program[0])
            .args(&program[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(Broken::Start)?;
        // Invariant: both were requested.
        let output = child.stdout.take().expect("standard output is a pipe");
        let mut pipe = child.stdin.take().expect("standard input is a pipe");
        let (send, answers) = sync_channel(1);
        std::thread::spawn(move || pass_on(output, &send));
        let (input, lines) = channel::<String>();
        std::thread::spawn(move || {
            for line in lines {
                // If the program ended, reading returns the reason.
                if writeln!(pipe, "{line}").and_then(|()| pipe.flush()).is_err() {
                    return;
                }
            }
        });
        Ok(System { child, input: Some(input), answers, timeout, variables })
    }

    /// Makes a call, and waits for its answer.
    pub(super) fn ask<'a>(&mut self, call: &'a Call, input: &Input) -> Result<Answer<'a>, Broken> {
        let json = |value: &Value| -> serde_json::Value {
            write_value_of(value).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
        };
        if limits::is_interrupted() {
            return Err(Broken::Interrupted);
        }
        let arguments: Map<String, _> =
            input.arguments.iter().map(|(name, value)| (name.clone(), json(value))).collect();
        let mut line = json!({ "call": input.call, "args": arguments });
        if let Some(process) = &input.process {
            line["process"] = json(process);
        }
        let line = line.to_string();
        if let Ok(early) = self.answers.try_recv() {
            return Err(Broken::Unasked { before: line, line: early.shown() });
        }
        if let Some(input) = &self.input {
            let _ = input.send(line.clone());
        }
        match self.line() {
            Ok(Line::Text(answer)) => read(call, &self.variables, &answer).map_err(|message| Broken::Unreadable {
                call: line,
                answer: Line::Text(answer).shown(),
                message: clean(&message),
            }),
            Ok(wrong @ Line::Wrong(message)) => {
                Err(Broken::Unreadable { call: line, answer: wrong.shown(), message: message.to_owned() })
            }
            Err(Absent::Late) => Err(Broken::Silent { call: line, timeout: self.timeout }),
            Err(Absent::Interrupted) => Err(Broken::Interrupted),
            Err(Absent::Closed) => Err(match self.status()? {
                Some(status) => Broken::Ended { call: line, status },
                None => Broken::Closed { call: line, timeout: self.timeout },
            }),
        }
    }

    /// Closes the input, and waits for the program to end.
    pub(super) fn end(mut self) -> Result<(), Broken> {
        drop(self.input.take());
        match self.line() {
            Ok(line) => Err(Broken::Unasked { before: "the end of its input".to_owned(), line: line.shown() }),
            Err(Absent::Late) => Err(Broken::Endless(self.timeout)),
            Err(Absent::Interrupted) => Err(Broken::Interrupted),
            Err(Absent::Closed) => match self.status()? {
                None => Err(Broken::Endless(self.timeout)),
                Some(status) if !status.success() => Err(Broken::Status(status)),
                Some(_) => Ok(()),
            },
        }
    }

    /// The next line that the program writes.
    fn line(&self) -> Result<Line, Absent> {
        let asked = Instant::now();
        loop {
            let left = self.timeout.saturating_sub(asked.elapsed());
            match self.answers.recv_timeout(left.min(TICK)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => return Err(Absent::Closed),
                Err(RecvTimeoutError::Timeout) if limits::is_interrupted() => return Err(Absent::Interrupted),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(Absent::Late),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// The exit status of a program that closed its output, or `None` if it continues.
    fn status(&mut self) -> Result<Option<ExitStatus>, Broken> {
        let asked = Instant::now();
        loop {
            // A program that cannot be asked for its status is not ours, and has ended.
            match self.child.try_wait() {
                Ok(Some(status)) => return Ok(Some(status)),
                Ok(None) if limits::is_interrupted() => return Err(Broken::Interrupted),
                Ok(None) if asked.elapsed() < self.timeout => std::thread::sleep(TICK.min(self.timeout)),
                Ok(None) | Err(_) => return Ok(None),
            }
        }
    }
}

/// Passes on the lines of a program until it closes its output.
fn pass_on(output: ChildStdout, lines: &SyncSender<Line>) {
    let mut output = BufReader::new(output);
    loop {
        let mut bytes = Vec::new();
        let line = match output.by_ref().take(MOST_BYTES + 1).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(count) if count as u64 > MOST_BYTES => Line::Wrong("it has more than 16 MiB"),
            Ok(_) => match String::from_utf8(bytes) {
                Ok(text) => Line::Text(text.trim_end_matches(['\r', '\n']).to_owned()),
                Err(_) => Line::Wrong("it is not UTF-8"),
            },
        };
        let is_wrong = matches!(line, Line::Wrong(_));
        // After a wrong line the program is not driven any more.
        if lines.send(line).is_err() || is_wrong {
            return;
        }
    }
}

impl Line {
    /// Its beginning, for people.
    fn shown(&self) -> String {
        match self {
            Line::Text(text) => excerpt(&clean(text)),
            Line::Wrong(why) => format!("({why})"),
        }
    }
}

/// The beginning of a text.
fn excerpt(text: &str) -> String {
    let mut begin: String = text.chars().take(SHOWN).collect();
    if begin.len() < text.len() {
        begin.push('…');
    }
    begin
}

impl Drop for System {
    fn drop(&mut self) {
        // A program that ended is not asked for its group, whose number may be another's by now.
        if let Ok(None) = self.child.try_wait() {
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// Reads an answer: `{"outcome": "Dequeue", "results": {"elem": 1}, "state": {"queue": []}}`, or `{"refused": true}`.
fn read<'a>(call: &'a Call, variables: &[String], text: &str) -> Result<Answer<'a>, String> {
    let answer: Map<String, serde_json::Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if let Some(key) = answer.keys().find(|key| !["outcome", "results", "state", "refused"].contains(&key.as_str())) {
        return Err(format!("unknown key `{key}`; the keys are `outcome`, `results`, `state` and `refused`"));
    }
    let state = match answer.get("state") {
        None => None,
        Some(serde_json::Value::Object(state)) => {
            if let Some(name) = state.keys().find(|name| !variables.contains(name)) {
                let variables = variables.join("`, `");
                return Err(format!("`state` has `{name}`, which is not a variable; the variables are `{variables}`"));
            }
            let value = |(name, value): (&String, &serde_json::Value)| {
                Ok::<_, String>((name.clone(), read_value_of(&value.to_string())?))
            };
            Some(state.iter().map(value).collect::<Result<BTreeMap<String, Value>, String>>()?)
        }
        Some(_) => return Err("`state` is not an object: it gives the values of variables by name".to_owned()),
    };
    if let Some(refused) = answer.get("refused") {
        return match refused {
            serde_json::Value::Bool(true) if answer.contains_key("outcome") || answer.contains_key("results") => {
                Err("a refused call has no outcome and no results".to_owned())
            }
            serde_json::Value::Bool(true) => Ok(Answer::Refused { state }),
            _ => Err("`refused` is not `true`".to_owned()),
        };
    }
    let names: Vec<&str> = call.outcomes.iter().map(|outcome| outcome.action.as_str()).collect();
    let outcome = match (answer.get("outcome"), &*call.outcomes) {
        (None, [only]) => only,
        (None, _) => return Err(format!("it needs an `outcome`: `{}`", names.join("`, `"))),
        (Some(serde_json::Value::String(name)), outcomes) => {
            let found = outcomes.iter().find(|outcome| outcome.action == *name);
            found.ok_or_else(|| {
                format!("`{name}` is no outcome of `{}`; they are `{}`", call.name, names.join("`, `"))
            })?
        }
        (Some(_), _) => return Err("`outcome` is not a text".to_owned()),
    };
    let fields = match answer.get("results") {
        None => Vec::new(),
        Some(results) => read_fields_of(&results.to_string())?,
    };
    let mut results = BTreeMap::new();
    for (place, (name, value)) in fields.into_iter().enumerate() {
        let result = match name.is_empty() {
            true => outcome.results.get(place),
            false => outcome.results.iter().find(|result| *result.name == *name),
        };
        let result = result.ok_or_else(|| format!("`{}` has no result `{name}`", outcome.action))?;
        results.insert(result.name.clone(), value);
    }
    match outcome.results.iter().find(|result| !results.contains_key(&result.name)) {
        Some(missing) => Err(format!("`{}` needs the result `{}`", outcome.action, missing.name)),
        None => Ok(Answer::Returned { outcome, results, state }),
    }
}

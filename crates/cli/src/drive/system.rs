//! The program that is driven: a call goes to its standard input as a line of JSON, and it answers with a line.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use omnilink_harness::{Call, Input, Outcome};
use omnilink_history::Value;
use omnilink_history::format::jsonl::{read_fields_of, read_value_of, write_value_of};
use serde_json::{Map, json};
use thiserror::Error;

/// The program, running.
pub(super) struct System {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
    timeout: Duration,
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
    #[error("the program ended without an answer to {call}{status}")]
    Ended { call: String, status: String },
    #[error("the program exited with {0} at the end of its input")]
    Status(std::process::ExitStatus),
    #[error("the answer to {call} cannot be read: {message}\n  answer: {answer}")]
    Unreadable { call: String, answer: String, message: String },
}

impl Broken {
    /// The word for it.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Broken::Start(_) => "not started",
            Broken::Silent { .. } => "stuck",
            Broken::Ended { .. } | Broken::Status(_) => "crashed",
            Broken::Unreadable { .. } => "unreadable answer",
        }
    }
}

impl System {
    pub(super) fn start(program: &[String], timeout: Duration) -> Result<System, Broken> {
        let mut child = Command::new(&program[0])
            .args(&program[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(Broken::Start)?;
        let (send, answers) = sync_channel(1);
        // Invariant: both were requested.
        let output = child.stdout.take().expect("standard output is a pipe");
        let input = child.stdin.take();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(System { child, input, answers, timeout })
    }

    /// Makes a call, and waits for its answer.
    pub(super) fn ask<'a>(&mut self, call: &'a Call, input: &Input) -> Result<Answer<'a>, Broken> {
        let json = |value: &Value| -> serde_json::Value {
            write_value_of(value).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
        };
        let arguments: Map<String, _> =
            input.arguments.iter().map(|(name, value)| (name.clone(), json(value))).collect();
        let mut line = json!({ "call": input.call, "args": arguments });
        if let Some(process) = &input.process {
            line["process"] = json(process);
        }
        let line = line.to_string();
        // If the program ended, reading returns the reason.
        if let Some(pipe) = &mut self.input {
            let _ = writeln!(pipe, "{line}").and_then(|()| pipe.flush());
        }
        match self.answers.recv_timeout(self.timeout) {
            Ok(answer) => read(call, &answer).map_err(|message| Broken::Unreadable { call: line, answer, message }),
            Err(RecvTimeoutError::Timeout) => Err(Broken::Silent { call: line, timeout: self.timeout }),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait().map(|status| format!(": {status}")).unwrap_or_default();
                Err(Broken::Ended { call: line, status })
            }
        }
    }

    /// Closes the input, and waits for the program to end.
    pub(super) fn end(mut self) -> Result<(), Broken> {
        drop(self.input.take());
        let timeout = self.timeout;
        match self.answers.recv_timeout(timeout) {
            Ok(answer) => {
                let (call, message) = ("the end of its input".to_owned(), "no line is expected".to_owned());
                Err(Broken::Unreadable { call, answer, message })
            }
            Err(RecvTimeoutError::Timeout) => Err(Broken::Silent { call: "the end of its input".into(), timeout }),
            Err(RecvTimeoutError::Disconnected) => match self.child.wait() {
                Ok(status) if !status.success() => Err(Broken::Status(status)),
                _ => Ok(()),
            },
        }
    }
}

impl Drop for System {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads an answer: `{"outcome": "Dequeue", "results": {"elem": 1}, "state": {"queue": []}}`, or `{"refused": true}`.
fn read<'a>(call: &'a Call, text: &str) -> Result<Answer<'a>, String> {
    let answer: Map<String, serde_json::Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if let Some(key) = answer.keys().find(|key| !["outcome", "results", "state", "refused"].contains(&key.as_str())) {
        return Err(format!("unknown key `{key}`; the keys are `outcome`, `results`, `state` and `refused`"));
    }
    let state = match answer.get("state") {
        None => None,
        Some(serde_json::Value::Object(state)) => {
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

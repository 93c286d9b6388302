//! The tests, and the answer of a checker for one of them.

use std::any::Any;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// Limits of one exploration.
pub const EXECUTIONS: usize = 100_000;
pub const TIME: Duration = Duration::from_secs(60);

/// Seeds of a checker that draws schedules.
pub const SEEDS: u64 = 20;

/// The test of the bag, whose serial runs differ.
pub const BAG: &str = "add(10) || add(20) take()";

#[derive(Clone, Copy, PartialEq)]
pub enum Case {
    Queue,
    Counter,
    Event,
    EventSet,
}

#[derive(Clone, Copy)]
pub enum Version {
    Wrong,
    Fixed,
}

impl Version {
    pub const ALL: [Version; 2] = [Version::Wrong, Version::Fixed];

    pub fn name(self) -> &'static str {
        match self {
            Version::Wrong => "wrong",
            Version::Fixed => "fixed",
        }
    }
}

impl Case {
    pub const ALL: [Case; 4] = [Case::Queue, Case::Counter, Case::Event, Case::EventSet];

    /// The file with the object, and its name in the example.
    pub fn object(self) -> &'static str {
        match self {
            Case::Queue => "queue",
            Case::Counter => "counter",
            Case::Event | Case::EventSet => "event",
        }
    }

    /// The function with the test written by hand.
    pub fn function(self) -> &'static str {
        if self == Case::EventSet { "event_set" } else { self.object() }
    }

    pub fn test(self) -> &'static str {
        match self {
            Case::Queue => "add(400) || add(200) try_take()",
            Case::Counter => "get() || inc() get()",
            Case::Event => "wait() || set() reset() set()",
            Case::EventSet => "wait() || set()",
        }
    }

    /// A part of the message with which the wrong object must fail.
    fn failure(self) -> &'static str {
        if self == Case::Queue { "is_some" } else { "deadlock" }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// The test failed.
    Found,
    /// Another failure, such as a limit inside of the checker.
    Unexpected,
    /// Every schedule was executed.
    Complete,
    /// A limit ended the exploration.
    Limit,
}

/// The end of an exploration, as one line between processes.
#[derive(Debug)]
pub struct Outcome {
    /// Serial runs before the exploration.
    pub serial: usize,
    pub executions: usize,
    pub seconds: f64,
    pub end: End,
}

impl Outcome {
    /// The result is the payload of a panic, or whether the exploration can be complete.
    pub fn new(case: Case, executions: usize, time: Duration, result: Result<bool, Box<dyn Any + Send>>) -> Outcome {
        let end = match result {
            Ok(true) if executions < EXECUTIONS && time < TIME => End::Complete,
            Ok(_) => End::Limit,
            Err(payload) => return Outcome::failed(case, executions, time, &*payload),
        };
        Outcome { serial: 0, executions, seconds: time.as_secs_f64(), end }
    }

    /// A failure with the payload of its panic.
    pub fn failed(case: Case, executions: usize, time: Duration, payload: &(dyn Any + Send)) -> Outcome {
        let message = message(payload);
        let end = if message.contains(case.failure()) { End::Found } else { End::Unexpected };
        Outcome { serial: 0, executions, seconds: time.as_secs_f64(), end }
    }

    /// Reads the last line.
    pub fn parse(text: &str) -> Result<Outcome, Box<dyn Error>> {
        let words: Vec<&str> = text.lines().last().unwrap_or_default().split(' ').collect();
        let [end, executions, seconds] = words[..] else { return Err(format!("unrecognized outcome `{text}`").into()) };
        let known = [End::Found, End::Unexpected, End::Complete, End::Limit];
        let end = known.into_iter().find(|known| format!("{known:?}") == end).ok_or("unrecognized end")?;
        Ok(Outcome { serial: 0, executions: executions.parse()?, seconds: seconds.parse()?, end })
    }
}

impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{:?} {} {}", self.end, self.executions, self.seconds)
    }
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}

/// The medians of executions and of times over all seeds. The first seed without a failure ends it.
pub fn median<E>(run: impl Fn(u64) -> Result<Outcome, E>) -> Result<Outcome, E> {
    let mut outcomes = Vec::new();
    for seed in 1..=SEEDS {
        let outcome = run(seed)?;
        if outcome.end != End::Found {
            return Ok(outcome);
        }
        outcomes.push(outcome);
    }
    let middle = outcomes.len() / 2;
    outcomes.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let seconds = outcomes[middle].seconds;
    outcomes.sort_by_key(|outcome| outcome.executions);
    Ok(Outcome { seconds, ..outcomes.swap_remove(middle) })
}

//! The steps of a controlled execution, a lane for each thread, and their text.
//!
//! Steps outside operations, such as those that start and join threads, are counted and not shown, unless a thread was
//! stuck there.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unicode_width::UnicodeWidthStr;

use crate::wording::{clean, count};

/// The steps of a controlled execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interleaving {
    /// The threads that make operations, by the names of their processes.
    pub threads: Vec<String>,
    /// The steps inside operations.
    pub steps: Vec<InterleavedStep>,
    /// The number of all steps of the execution.
    pub total: u64,
    /// The next step of each thread that was stuck, as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<String>,
    /// The number of switches away from a thread that could have continued, outside operations included.
    pub preemptions: u64,
    /// Which of these switches are necessary, in one sentence, if that was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub necessary: Option<String>,
    /// The user's files around the steps, without those of the recorder and of standard libraries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Excerpt>,
}

/// A part of a file of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Excerpt {
    /// The file, as in [`InterleavedStep::place`].
    pub path: String,
    /// The number of the first line, from 1.
    pub first: usize,
    /// The lines.
    pub lines: Vec<String>,
}

/// The outcome of an execution without one of its switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WithoutSwitch {
    /// The step before which the switch happens.
    pub before: u64,
    /// Whether the failure remains, for the same reason.
    pub still_fails: bool,
}

/// A step inside an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InterleavedStep {
    /// Its number, from 1.
    pub number: u64,
    /// The thread, as an index into [`Interleaving::threads`].
    pub thread: usize,
    /// Its kind.
    pub kind: StepKind,
    /// The line of the program, or the operation if it begins or ends here; empty if the line is not known.
    pub text: String,
    /// The effect of the step, such as `loads`; empty if an operation begins or ends here.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub does: String,
    /// The value that was read or written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The file and line, such as `main.rs:38`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Whether the step before it is of another thread, which could have continued.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preempts: bool,
    /// Whether the run does not fail without the switch before it, or before hidden steps in front of it, if that was tried.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needed: bool,
    /// Whether its order with a step of another thread matters: both access the same bytes, one of them writes, and
    /// nothing in between does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub meets: bool,
    /// Whether it ends the operation that no order can place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fails: bool,
}

/// The kind of a step inside an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// The operation begins.
    Call,
    /// The operation ends.
    Return,
    /// Anything in between.
    Inside,
}

/// The widest text.
const WIDTH: usize = 80;
/// The width of the number of a step.
const NUMBER: usize = 6;
/// The most lanes; threads beyond are named in the text.
const LANES: usize = 12;

impl Interleaving {
    /// Adds what happens without each of its switches.
    pub fn with_switches(mut self, without: &[WithoutSwitch]) -> Interleaving {
        let needed =
            |from: u64, to: u64| without.iter().any(|tried| !tried.still_fails && (from..=to).contains(&tried.before));
        let mut from = 1;
        for step in &mut self.steps {
            // A switch may lead to steps outside operations, which are not here.
            step.needed = needed(from, step.number);
            from = step.number + 1;
        }
        Interleaving { necessary: necessary(without), ..self }
    }

    /// The steps as text of at most 80 columns: the number of a step, a lane for each thread, the line of the program,
    /// what the step does, and where.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let (Some(first), Some(last)) = (self.steps.first(), self.steps.last()) else {
            return format!("{} outside operations\n", count(self.total, "step"));
        };
        let names: Vec<String> = self.threads.iter().take(LANES).map(|name| cut(&clean(name), 4)).collect();
        let lane = names.iter().map(|name| name.width()).max().unwrap_or_default() + 1;
        let margin = NUMBER + 1 + names.len() * lane;
        let folded = |text: &mut String, steps: u64, what: &str| {
            if steps > 0 {
                let _ = writeln!(text, "{:margin$}({} {what})", "", count(steps, "step"));
            }
        };
        folded(&mut text, first.number - 1, "before");
        let heads: String = names.iter().map(|name| format!("{name:lane$}")).collect();
        let _ = writeln!(text, "{:>NUMBER$} {}", "step", heads.trim_end());
        let mut is_open = vec![false; self.threads.len()];
        let mut previous = first.number - 1;
        for step in &self.steps {
            folded(&mut text, step.number - previous - 1, "outside operations");
            previous = step.number;
            if step.preempts {
                let _ = writeln!(text, "{:margin$}┄┄┄ switch to {}", "", clean(&self.threads[step.thread]));
            }
            let lanes: String = (0..names.len())
                .map(|thread| {
                    let mark = match thread == step.thread {
                        true => step.mark(),
                        false if is_open[thread] => "│",
                        false => " ",
                    };
                    format!("{mark:lane$}")
                })
                .collect();
            is_open[step.thread] = step.kind != StepKind::Return;
            let thread = match step.thread < LANES {
                true => String::new(),
                false => format!("{} ", clean(&self.threads[step.thread])),
            };
            let meets = if step.meets { "*" } else { "" };
            let shown = fit(&format!("{thread}{}", clean(&step.text)), &step.place_and_effect(), WIDTH - margin);
            let line = format!("{:>width$}{meets:1}{lanes}{shown}", step.number, width = NUMBER);
            let _ = writeln!(text, "{}", line.trim_end());
        }
        folded(&mut text, self.total.saturating_sub(last.number), "after");
        for wait in &self.waits {
            let _ = writeln!(text, "{:margin$}{}", "", clean(wait));
        }
        if self.steps.iter().any(|step| step.meets) {
            let _ = writeln!(text, "* accesses of different threads whose order matters");
        }
        if let Some(necessary) = &self.necessary {
            let _ = writeln!(text, "{necessary}");
        }
        text
    }
}

impl InterleavedStep {
    fn mark(&self) -> &'static str {
        match (self.kind, self.fails) {
            (_, true) => "✗",
            (StepKind::Call, _) => "▶",
            (StepKind::Return, _) => "◀",
            (StepKind::Inside, _) => "●",
        }
    }

    /// The right part of a line: what the step does, its value, and the place.
    fn place_and_effect(&self) -> String {
        let value = self.value.as_deref().map(|value| format!(" {}", clean(value))).unwrap_or_default();
        let place = self.place.as_deref().map(|place| clean(place.rsplit('/').next().unwrap_or(place)));
        let place = place.map(|place| format!("  {place}")).unwrap_or_default();
        format!("{}{value}{place}", self.does)
    }
}

/// The sentence about switches that are necessary; `None` if none was tried.
fn necessary(without: &[WithoutSwitch]) -> Option<String> {
    let needed: Vec<String> =
        without.iter().filter(|tried| !tried.still_fails).map(|tried| tried.before.to_string()).collect();
    let all = count(without.len() as u64, "preemption");
    Some(match (without.len(), &*needed) {
        (0, _) => return None,
        (1, []) => "it fails without the switch too".to_owned(),
        (_, []) => format!("it fails without any single one of the {all} too"),
        (all, needed) if all == needed.len() && all > 1 => {
            let all = if all == 2 { "both".to_owned() } else { format!("all {all}") };
            format!("{all} preemptions are necessary: the switches before steps {}", listed(needed))
        }
        (1, _) => format!("the switch before step {} is necessary: without it the run does not fail", needed[0]),
        (_, [one]) => format!("of the {all} one is necessary: the switch before step {one}"),
        (_, needed) => {
            let steps = listed(needed);
            format!("of the {all} {} are necessary: the switches before steps {steps}", needed.len())
        }
    })
}

/// Numbers as a list in a sentence.
fn listed(numbers: &[String]) -> String {
    match numbers {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        numbers => numbers.concat(),
    }
}

/// A text and what is at the right of it, in this width. The text is cut, because the place says where all of it is.
fn fit(text: &str, right: &str, width: usize) -> String {
    let right = cut(right, width);
    let room = if right.is_empty() { width } else { width.saturating_sub(right.width() + 2) };
    let text = cut(text, room);
    format!("{text}{:1$}{right}", "", width.saturating_sub(text.width() + right.width()))
}

/// A text of at most this width.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    for character in text.chars() {
        if cut.width() + 2 > width {
            break;
        }
        cut.push(character);
    }
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(number: u64, thread: usize, kind: StepKind, text: &str) -> InterleavedStep {
        InterleavedStep {
            number,
            thread,
            kind,
            text: text.to_owned(),
            does: String::new(),
            value: None,
            place: None,
            function: None,
            preempts: false,
            needed: false,
            meets: false,
            fails: false,
        }
    }

    fn sample(threads: &[&str]) -> Interleaving {
        use StepKind::*;
        let load = |step| InterleavedStep {
            does: "loads".to_owned(),
            value: Some("0".to_owned()),
            place: Some("src/queue/main.rs:38".to_owned()),
            meets: true,
            ..step
        };
        let line = "let head = self.head.load(SeqCst).checked_add(self.offset).unwrap_or_default();";
        Interleaving {
            threads: threads.iter().map(|name| (*name).to_owned()).collect(),
            steps: vec![
                step(29, 1, Call, "Enqueue(1)"),
                load(step(31, 0, Inside, line)),
                InterleavedStep { preempts: true, ..load(step(32, 1, Inside, "head.load()")) },
                InterleavedStep { fails: true, ..step(33, 1, Return, "DequeueEmpty()") },
            ],
            total: 40,
            waits: vec!["T0 locks m".to_owned()],
            preemptions: 2,
            necessary: None,
            sources: Vec::new(),
        }
        .with_switches(&[
            WithoutSwitch { before: 32, still_fails: false },
            WithoutSwitch { before: 12, still_fails: true },
        ])
    }

    #[test]
    fn needed_switches_are_marked() {
        let needed: Vec<u64> =
            sample(&["T0", "T1"]).steps.iter().filter(|step| step.needed).map(|step| step.number).collect();
        assert_eq!(needed, [32]);
    }

    #[test]
    fn threads_are_lanes() {
        let text = sample(&["T0", "T1"]).text();
        assert!(text.lines().all(|line| line.width() <= 80), "{text}");
        insta::assert_snapshot!(text, @r"
                     (28 steps before)
          step T0 T1
            29    ▶  Enqueue(1)
                     (1 step outside operations)
            31*●  │  let head = self.head.load(SeqCst).checked_add…  loads 0  main.rs:38
                     ┄┄┄ switch to T1
            32*│  ●  head.load()                                     loads 0  main.rs:38
            33 │  ✗  DequeueEmpty()
                     (7 steps after)
                     T0 locks m
        * accesses of different threads whose order matters
        of the 2 preemptions one is necessary: the switch before step 32
        ");
    }
}

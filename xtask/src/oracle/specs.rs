//! Small specs: the result of TLC, and the number of states.
//!
//! A spec is a module with a configuration of the same name; a module without one is imported by others. TLC of 2020
//! does not support `CHECK_DEADLOCK` in configurations, so that line is removed and becomes a flag.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};
use regex::Regex;

use super::compare::Difference;
use super::table::Table;
use super::tlc::{Effort, Output, Tlc};
use super::{Options, jobs, kind};
use crate::workspace::Workspace;

/// The columns of the table of specs.
pub(super) const COLUMNS: [&str; 7] = ["name", "outcome", "generated", "distinct", "depth", "trace", "message"];

/// How a check ended. Numbers that TLC did not print are empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// `ok`, `invariant NAME`, `property`, `deadlock`, `assumption`, `postcondition` or `error KIND`.
    pub(super) outcome: String,
    /// States that were generated, counting each as often as it was.
    pub(super) generated: String,
    /// Different states.
    pub(super) distinct: String,
    /// The length of the longest shortest behavior.
    pub(super) depth: String,
    /// The number of states of the behavior that shows what is wrong.
    pub(super) trace: String,
    /// What TLC says is wrong.
    pub(super) message: String,
}

/// Asks TLC about every spec. Returns the differences, or writes the answers.
pub(super) fn run(workspace: &Workspace, tlc: &Tlc, options: &Options) -> Result<Vec<Difference>> {
    let mut table = Table::read(workspace, "specs.tsv", COLUMNS)?;
    let source = workspace.root().join("tests/oracle/specs");
    let directory = tlc.scratch("specs")?;
    let mut names = prepare(&source, &directory)?;
    names.retain(|name| options.wants(name));
    let answers = jobs::each(options.jobs, &names, |name| check(tlc, &directory, &source, name))?;
    println!("specs.tsv: {} specs", names.len());
    if options.write {
        for (name, answer) in names.into_iter().zip(answers) {
            table.rows.retain(|row| row[0] != name);
            let Answer { outcome, generated, distinct, depth, trace, message } = answer;
            table.rows.push([name, outcome, generated, distinct, depth, trace, message]);
        }
        table.rows.retain(|row| source.join(&row[0]).with_extension("cfg").exists());
        table.rows.sort();
        table.write()?;
        return Ok(Vec::new());
    }
    let mut differences = Vec::new();
    for (name, answer) in names.iter().zip(&answers) {
        let recorded = table.rows.iter().find(|row| row[0] == *name).map(|row| row[1..6].join(" "));
        let recorded = recorded.with_context(|| format!("there is no recorded answer for `{name}`"))?;
        let Answer { outcome, generated, distinct, depth, trace, .. } = answer;
        let answer = [outcome, generated, distinct, depth, trace].map(String::as_str).join(" ");
        differences.extend(Difference::between(name, ("recorded", recorded.trim_end()), ("TLC", answer.trim_end())));
    }
    Ok(differences)
}

/// Copies the modules and configurations to where TLC reads them, and returns the names of those that can be checked.
pub(super) fn prepare(source: &Path, directory: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(source).with_context(|| format!("cannot read {}", source.display()))? {
        let path: PathBuf = entry?.path();
        let name = path.file_name().context("every entry has a name")?;
        let text = fs::read_to_string(&path)?;
        if path.extension().is_some_and(|extension| extension == "cfg") {
            let stem = path.file_stem().context("every entry has a name")?;
            names.push(stem.to_string_lossy().into_owned());
            fs::write(directory.join(name), without_deadlock(&text))?;
        } else {
            fs::write(directory.join(name), text)?;
        }
    }
    names.sort();
    ensure!(!names.is_empty(), "{} has no configuration", source.display());
    Ok(names)
}

/// Asks TLC about one spec that was prepared.
pub(super) fn check(tlc: &Tlc, directory: &Path, source: &Path, name: &str) -> Result<Answer> {
    let config = fs::read_to_string(source.join(name).with_extension("cfg"))?;
    let flags: &[&str] = if without_deadlock(&config) == config { &[] } else { &["-deadlock"] };
    let effort = if name.starts_with(super::LARGE) { Effort::Long } else { Effort::Short };
    Ok(Answer::from(&tlc.check(directory, name, flags, effort)?))
}

/// A configuration without the line that TLC of 2020 does not know.
fn without_deadlock(config: &str) -> String {
    let lines = config.lines().filter(|line| line.trim() != "CHECK_DEADLOCK FALSE");
    lines.map(|line| format!("{line}\n")).collect()
}

impl Answer {
    /// What two checkers must agree on, in words. How far a check got that stopped early depends on the order in which
    /// states are met, so counts are part of it only when all states were.
    pub(super) fn summary(&self) -> String {
        let Answer { outcome, generated, distinct, depth, trace, .. } = self;
        match outcome.as_str() {
            "ok" => format!("ok, {generated} generated, {distinct} distinct, depth {depth}"),
            error if error.starts_with("error") => "error".to_owned(),
            _ if trace.is_empty() => outcome.clone(),
            _ => format!("{outcome}, {trace} states"),
        }
    }
}

impl From<&Output> for Answer {
    fn from(output: &Output) -> Answer {
        static COUNTS: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"^([\d,]+) states generated, ([\d,]+) distinct").expect("the pattern is well formed")
        });
        static DEPTH: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"search is ([\d,]+)").expect("the pattern is well formed"));
        let number = |text: &str| text.replace(',', "");
        let message = output.errors();
        let mut answer = Answer { outcome: outcome(output, &message), message, ..Answer::default() };
        if let Some(counts) = output.message(2199).and_then(|text| COUNTS.captures(text)) {
            (answer.generated, answer.distinct) = (number(&counts[1]), number(&counts[2]));
        }
        if answer.outcome == "ok" {
            let depth = output.message(2194).and_then(|text| DEPTH.captures(text));
            answer.depth = depth.map(|depth| number(&depth[1])).unwrap_or_default();
        }
        let states = output.messages.iter().filter(|message| message.code == 2217).count();
        // An initial state that violates an invariant is part of the message itself.
        let states = if output.message(2107).or(output.message(2108)).is_some() { 1 } else { states };
        if states > 0 {
            answer.trace = states.to_string();
        }
        answer
    }
}

fn outcome(output: &Output, message: &str) -> String {
    let name = |code| output.message(code).and_then(|text| text.split_whitespace().nth(1));
    if let Some(name) = name(2110).or(name(2107)) {
        format!("invariant {name}")
    } else if name(2112).or(name(2116)).or(name(2108)).is_some() {
        "property".to_owned()
    } else if name(2114).is_some() {
        "deadlock".to_owned()
    } else if name(2104).is_some() {
        "assumption".to_owned()
    } else if output.message(2404).is_some() {
        "postcondition".to_owned()
    } else if output.message(2193).is_some() {
        "ok".to_owned()
    } else {
        format!("error {}", kind::of(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(messages: &[(u32, u32, &str)]) -> String {
        let text: String = messages
            .iter()
            .map(|(code, severity, text)| {
                format!("@!@!@STARTMSG {code}:{severity} @!@!@\n{text}\n@!@!@ENDMSG {code} @!@!@\n")
            })
            .collect();
        let Answer { outcome, generated, distinct, depth, trace, .. } = Answer::from(&Output::parse(&text));
        [outcome, generated, distinct, depth, trace].join("|")
    }

    #[test]
    fn the_numbers_of_messages_decide() {
        let counts = (2199, 0, "12 states generated, 5 distinct states found, 0 states left on queue.");
        let depth = (2194, 0, "The depth of the complete state graph search is 3.");
        insta::assert_snapshot!(check(&[(2193, 0, "Completed."), counts, depth]), @"ok|12|5|3|");
        insta::assert_snapshot!(check(&[(2110, 1, "Invariant Inv is violated."), (2217, 4, "1: x"), counts]), @"invariant Inv|12|5||1");
        insta::assert_snapshot!(check(&[(2107, 1, "Invariant Inv is violated by the initial state:"), counts]), @"invariant Inv|12|5||1");
        insta::assert_snapshot!(check(&[(2114, 1, "Deadlock reached."), counts, depth]), @"deadlock|12|5||");
        insta::assert_snapshot!(check(&[(1000, 1, "Overflow when computing 1+1")]), @"error Arithmetic||||");
    }

    #[test]
    fn deadlock_is_taken_out_of_the_configuration() {
        assert_eq!(without_deadlock("INIT Init\nCHECK_DEADLOCK FALSE\nNEXT Next\n"), "INIT Init\nNEXT Next\n");
    }
}

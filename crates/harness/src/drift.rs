//! The differences between a generated file and the plan.
//!
//! The plan is at the top of the file in words, one outcome a line, so the two are compared outcome by outcome
//! instead of line by line of code.

use crate::names::snake;
use crate::plan::{Call, Plan};

/// How a generated file differs from the one that would be generated now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drift {
    /// Different outcomes: a sentence for each that was added, removed or changed.
    Calls(Vec<String>),
    /// The same calls and outcomes, but different code: other weights, values, locations, or another omnilink
    /// version.
    Code,
    /// The file has no plan at the top.
    Foreign,
}

/// Compares the text of a generated file with the one that would be generated now; `None` if they are the same.
pub fn drift(plan: &Plan, written: &str, now: &str) -> Option<Drift> {
    // A checkout may have changed the line endings.
    if written.lines().eq(now.lines()) {
        return None;
    }
    let Some(before) = entries(written) else { return Some(Drift::Foreign) };
    let lines = plan.lines();
    let after: Vec<Entry<'_>> = lines.iter().map(|line| entry(line)).collect();
    let mut sentences = Vec::new();
    for new in &after {
        match before.iter().find(|old| old.key == new.key) {
            None => sentences.push(format!("added: {}", new.line)),
            Some(old) if old.line != new.line => sentences.push(format!("changed: {}, was {}", new.line, old.outcome)),
            Some(_) => {}
        }
    }
    for old in before.iter().filter(|old| !after.iter().any(|new| new.key == old.key)) {
        sentences.push(format!("removed: {}", old.line));
    }
    Some(if sentences.is_empty() { Drift::Code } else { Drift::Calls(sentences) })
}

/// The first lines of a generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The name of the file of the specification.
    pub spec: String,
    /// The [digest](Plan::digest) of its plan. As long as it is that of the current plan, the harness does the same.
    pub digest: u64,
}

/// Reads the first lines of a generated file; `None` if it is not one.
pub fn read_header(text: &str) -> Option<Header> {
    let mut lines = text.lines().map(|line| line.trim_start_matches(['/', '!']).trim());
    let spec = lines.next()?.strip_prefix("The calls of `")?.split_once('`')?.0.to_owned();
    let digest = lines.find_map(|line| line.strip_prefix("plan "))?;
    Some(Header { spec, digest: u64::from_str_radix(digest, 16).ok()? })
}

/// The functions of the file to fill in that say `todo`, by name.
pub fn unfilled(main: &str) -> Vec<String> {
    let code = main.lines().filter(|line| !line.trim_start().starts_with("//"));
    let function = |line: &str| Some(line.split_once("operations::todo(\"")?.1.split_once('"')?.0.to_owned());
    code.filter_map(function).collect()
}

/// The name of the function that makes a call, unless it would be taken.
pub fn function(call: &Call) -> String {
    snake(&call.name)
}

/// A line of a plan.
struct Entry<'t> {
    line: &'t str,
    /// The subject of the line: the call and the action, without parameters.
    key: &'t str,
    outcome: &'t str,
}

fn entry(line: &str) -> Entry<'_> {
    let key = line.split('(').next().unwrap_or(line);
    let outcome = line.split_once(": ").map_or(line, |(_, outcome)| outcome);
    Entry { line, key, outcome }
}

/// The lines of the plan at the top of a file.
fn entries(text: &str) -> Option<Vec<Entry<'_>>> {
    let lines = text.lines().map(|line| line.trim_start_matches(['/', '!']).trim());
    let mut lines = lines.skip_while(|line| *line != "```text").skip(1);
    let mut entries = Vec::new();
    loop {
        match lines.next()? {
            line if line.starts_with("plan ") => return Some(entries),
            line => entries.push(entry(line)),
        }
    }
}

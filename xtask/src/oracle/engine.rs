//! Our own engine, asked through its command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::process::{self, Written};
use super::specs::Answer;
use crate::workspace::Workspace;

/// How long our engine may take for a question of ours.
const LIMIT: Duration = Duration::from_secs(600);

/// The command `omnilink`, built for speed.
pub(super) struct Engine {
    binary: PathBuf,
    /// Where its output goes before it is read.
    scratch: PathBuf,
}

impl Engine {
    /// Builds the command.
    pub(super) fn build(workspace: &Workspace) -> Result<Engine> {
        workspace.cargo("build --quiet --release --package omnilink-cli")?;
        let target = workspace.metadata.target_directory.as_std_path();
        let scratch = target.join("oracle/omnilink");
        fs::create_dir_all(&scratch)?;
        Ok(Engine { binary: target.join("release/omnilink"), scratch })
    }

    /// The command itself.
    pub(super) fn binary(&self) -> &Path {
        &self.binary
    }

    /// Where files may be put that can be thrown away.
    pub(super) fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// The value of every line of `cases`, read in the context of `module`, or none where it has none.
    pub(super) fn evaluate(&self, module: &Path, cases: &Path) -> Result<Vec<Option<String>>> {
        let output = self.run(&["spec".as_ref(), "eval".as_ref(), module, "--lines".as_ref(), cases], LIMIT)?;
        let output = output.context("omnilink does not end on the expressions")?;
        output.lines().map(|line| value(&serde_json::from_str(line).context("omnilink printed no JSON")?)).collect()
    }

    /// How checking a spec ends.
    pub(super) fn check(&self, module: &Path, config: &Path) -> Result<Answer> {
        self.check_for(module, config, LIMIT)?.with_context(|| format!("omnilink does not end on {}", module.display()))
    }

    /// How checking a spec ends, or none if that takes longer than `limit`.
    pub(super) fn check_for(&self, module: &Path, config: &Path, limit: Duration) -> Result<Option<Answer>> {
        let output = self.run(&["spec".as_ref(), "check".as_ref(), module, "--config".as_ref(), config], limit)?;
        let Some(output) = output else { return Ok(None) };
        let report: Value = serde_json::from_str(&output)
            .with_context(|| format!("omnilink printed no JSON for {}", module.display()))?;
        Ok(Some(answer(&report)))
    }

    fn run(&self, words: &[&Path], limit: Duration) -> Result<Option<String>> {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let mut command = Command::new(&self.binary);
        command.args(words).args(["--format", "json"]);
        let written = process::run(&mut command, limit, &self.scratch.join(format!("{}-{run}", std::process::id())))?;
        let Some(Written { output, errors }) = written else { return Ok(None) };
        // A spec that is wrong is an answer; a command line that is wrong is a mistake of this script.
        ensure!(!output.is_empty(), "omnilink has no answer: {}", errors.trim());
        Ok(Some(output))
    }
}

/// What one line of `spec eval` says: `{"value": TEXT}` or `{"error": KIND, "message": TEXT}`.
fn value(line: &Value) -> Result<Option<String>> {
    if let Some(value) = line["value"].as_str() {
        return Ok(Some(value.to_owned()));
    }
    ensure!(line["error"].is_string(), "an answer of omnilink has neither a value nor an error: {line}");
    Ok(None)
}

/// What `spec check` says: `outcome` and what belongs to it, and the counts.
fn answer(report: &Value) -> Answer {
    let text = |key: &str| match &report[key] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    Answer {
        outcome: text("outcome"),
        generated: text("generated"),
        distinct: text("distinct"),
        depth: text("depth"),
        trace: text("trace"),
        message: text("message"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_a_value_or_an_error() {
        let read = |text| value(&serde_json::from_str(text).expect("JSON"));
        assert_eq!(read(r#"{"value": "{1, 2}"}"#).expect("an answer"), Some("{1, 2}".to_owned()));
        assert_eq!(read(r#"{"error": "Arithmetic", "message": "m"}"#).expect("an answer"), None);
        assert!(read("{}").is_err());
    }

    #[test]
    fn counts_are_read() {
        let report =
            serde_json::from_str(r#"{"outcome": "ok", "generated": 5, "distinct": 3, "depth": 2}"#).expect("JSON");
        assert_eq!(answer(&report).summary(), "ok, 5 generated, 3 distinct, depth 2");
    }
}

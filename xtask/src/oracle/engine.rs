//! Runs our own engine through its command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::process::{self, Written};
use super::recent::Asked;
use super::specs::Answer;
use crate::workspace::Workspace;

/// How long our engine may take for a question of ours.
const LIMIT: Duration = Duration::from_secs(600);

/// The text of a value, or why it has no value.
pub(super) type Evaluated = std::result::Result<String, String>;

/// The command `omnilink`.
pub(super) struct Engine {
    binary: PathBuf,
    /// Where its output goes before it is read.
    scratch: PathBuf,
}

impl Engine {
    /// Builds the command as tests use it, with every check.
    pub(super) fn build(workspace: &Workspace) -> Result<Engine> {
        workspace.build_programs()?;
        Engine::new(workspace, "debug")
    }

    /// Builds the command for speed.
    pub(super) fn build_fast(workspace: &Workspace) -> Result<Engine> {
        workspace.cargo("build --quiet --release --package omnilink-cli")?;
        Engine::new(workspace, "release")
    }

    fn new(workspace: &Workspace, profile: &str) -> Result<Engine> {
        let target = workspace.metadata.target_directory.as_std_path();
        let scratch = target.join("oracle/omnilink");
        fs::create_dir_all(&scratch)?;
        Ok(Engine { binary: target.join(profile).join("omnilink"), scratch })
    }

    /// The command itself.
    pub(super) fn binary(&self) -> &Path {
        &self.binary
    }

    /// What every line of `cases` is, read in the context of `module`, or why it has no value. Each must be a string.
    pub(super) fn evaluate(&self, module: &Path, cases: &Path) -> Result<Vec<Evaluated>> {
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
        // One worker meets states in TLC's order.
        let words = ["spec".as_ref(), "check".as_ref(), module, "--config".as_ref(), config];
        let output = self.run(&[&words[..], &["--workers".as_ref(), "1".as_ref()]].concat(), limit)?;
        let Some(output) = output else { return Ok(None) };
        let report: Value = serde_json::from_str(&output)
            .with_context(|| format!("omnilink printed no JSON for {}", module.display()))?;
        Ok(Some(answer(&report)))
    }

    /// The result of checking a third-party model, from its directory and without its temporal properties.
    pub(super) fn check_model(
        &self,
        directory: &Path,
        module: &Path,
        config: &Path,
        limit: Duration,
    ) -> Result<Option<Answer>> {
        let words = ["spec".as_ref(), "check".as_ref(), module, "--config".as_ref(), config];
        let flags = ["--skip-properties", "--workers", "1", "--progress", "none"].map(Path::new);
        let output = self.run_in(Some(directory), &[&words[..], &flags].concat(), limit)?;
        let Some(output) = output else { return Ok(None) };
        // What the spec prints goes elsewhere, so this is one document.
        let report: Value = serde_json::from_str(&output)
            .with_context(|| format!("omnilink printed no JSON for {}", module.display()))?;
        Ok(Some(answer(&report)))
    }

    /// How checking a spec ends, from its directory, with this environment and these flags.
    pub(super) fn check_recent(&self, asked: &Asked<'_>) -> Result<Option<Answer>> {
        let mut words = vec!["spec".as_ref(), "check".as_ref(), Path::new(asked.module), "--config".as_ref()];
        let search = if asked.is_depth { "depth" } else { "breadth" };
        words.extend([Path::new(asked.config), "--search".as_ref(), search.as_ref(), "--progress".as_ref()]);
        words.push("none".as_ref());
        let output = self.run_with(Some(asked.directory), &asked.environment, &words, asked.limit)?;
        let Some(output) = output else { return Ok(None) };
        let report: Value =
            serde_json::from_str(&output).with_context(|| format!("omnilink printed no JSON for {}", asked.module))?;
        Ok(Some(answer(&report)))
    }

    /// The report on a log, checked in a directory by a mapping.
    pub(super) fn check_log(
        &self,
        directory: &Path,
        module: &str,
        log: &str,
        mapping: &str,
        limit: Duration,
    ) -> Result<Option<Value>> {
        let words = ["check", module, log, "--settings", mapping, "--progress", "none"].map(Path::new);
        let Some(output) = self.run_in(Some(directory), &words, limit)? else { return Ok(None) };
        let report: Value =
            serde_json::from_str(&output).with_context(|| format!("omnilink printed no JSON for {log}"))?;
        Ok(Some(report["reports"][0].clone()))
    }

    fn run(&self, words: &[&Path], limit: Duration) -> Result<Option<String>> {
        self.run_in(None, words, limit)
    }

    fn run_in(&self, directory: Option<&Path>, words: &[&Path], limit: Duration) -> Result<Option<String>> {
        self.run_with(directory, &[], words, limit)
    }

    fn run_with(
        &self,
        directory: Option<&Path>,
        environment: &[(&str, String)],
        words: &[&Path],
        limit: Duration,
    ) -> Result<Option<String>> {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let mut command = Command::new(&self.binary);
        command.args(words).args(["--format", "json"]).envs(environment.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = directory {
            command.current_dir(directory);
        }
        let written = process::run(&mut command, limit, &self.scratch.join(format!("{}-{run}", std::process::id())))?;
        let Some(Written { output, errors }) = written else { return Ok(None) };
        // A spec that is wrong is an answer; a command line that is wrong is a mistake of this script.
        ensure!(!output.is_empty(), "omnilink has no answer: {}", errors.trim());
        Ok(Some(output))
    }
}

/// What one line of `spec eval` says: `{"value": TEXT}` or `{"error": KIND, "message": TEXT}`.
fn value(line: &Value) -> Result<Evaluated> {
    if let Some(value) = line["value"].as_str() {
        // A string of TLA+ is escaped as one of JSON.
        let text = serde_json::from_str(value).with_context(|| format!("omnilink answered with no string: {line}"))?;
        return Ok(Ok(text));
    }
    ensure!(line["error"].is_string(), "an answer of omnilink has neither a value nor an error: {line}");
    Ok(Err(line["message"].as_str().unwrap_or_default().to_owned()))
}

/// What `spec check` says, in the words of the table of specs.
fn answer(report: &Value) -> Answer {
    let number = |value: &Value| value.as_u64().map(|number| number.to_string()).unwrap_or_default();
    let (stats, verdict) = (&report["stats"], report["verdict"].as_str().unwrap_or_default());
    let outcome = match (verdict, report["invariant"].as_str()) {
        ("holds" | "empty", _) => "ok".to_owned(),
        ("violated", Some(invariant)) => format!("invariant {invariant}"),
        ("violated", None) if report["property"].is_string() => "property".to_owned(),
        ("violated", None) if report["reason"].as_str().is_some_and(|why| why.starts_with("the postcondition")) => {
            "postcondition".to_owned()
        }
        ("violated", None) => "assumption".to_owned(),
        ("deadlock", _) => verdict.to_owned(),
        _ => format!("error {verdict}"),
    };
    let message = report["errors"][0]["message"].as_str().or(report["reason"].as_str());
    Answer {
        outcome,
        generated: number(&stats["generated"]),
        distinct: number(&stats["distinct"]),
        depth: number(&stats["depth"]),
        trace: report["trace"].as_array().map(|states| states.len().to_string()).unwrap_or_default(),
        message: message.unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_a_value_or_an_error() {
        let read = |text| value(&serde_json::from_str(text).expect("JSON"));
        assert_eq!(read(r#"{"value": "\"{1, \\\"a\\\"}\""}"#).expect("an answer"), Ok("{1, \"a\"}".to_owned()));
        assert_eq!(read(r#"{"error": "Arithmetic", "message": "m"}"#).expect("an answer"), Err("m".to_owned()));
        assert!(read("{}").is_err());
    }

    #[test]
    fn reports_are_read() {
        let check = |text| answer(&serde_json::from_str(text).expect("JSON")).summary();
        let stats = r#""stats": {"generated": 5, "distinct": 3, "depth": 2}"#;
        let holds = format!(r#"{{"verdict": "holds", {stats}}}"#);
        insta::assert_snapshot!(check(&holds), @"ok, 5 generated, 3 distinct, depth 2");
        let violated = format!(r#"{{"verdict": "violated", "invariant": "Small", "trace": [{{}}, {{}}], {stats}}}"#);
        insta::assert_snapshot!(check(&violated), @"invariant Small, 2 states");
        insta::assert_snapshot!(check(r#"{"verdict": "violated", "invariant": null, "trace": null}"#), @"assumption");
        insta::assert_snapshot!(check(r#"{"verdict": "wrong", "errors": [{"message": "m"}]}"#), @"error");
    }
}

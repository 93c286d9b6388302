//! The public TLA+ examples: every model that their manifests call a matter of a minute.
//!
//! A manifest says how checking a model ends and, where that is success, mostly also how many states there are. Where it
//! does not say so, the TLC at hand is asked, if the model is not too new for it. The result is a table by model.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use super::engine::Engine;
use super::specs::Answer;
use super::tlc::{Effort, Tlc};
use super::{Options, jobs};
use crate::workspace::Workspace;

/// The longest recorded time of models that are run, in seconds.
const LONGEST: u64 = 60;

/// How long a model may take here.
const LIMIT: Duration = Duration::from_secs(300);

/// A model of the examples.
struct Model {
    module: PathBuf,
    config: PathBuf,
    is_exhaustive: bool,
    seconds: u64,
    /// How checking it ends, in the words of the manifest.
    result: String,
    /// Generated and distinct states, and depth.
    counts: Option<[u64; 3]>,
}

/// What a model was compared with, and what came of it.
struct Row<'a> {
    model: &'a Model,
    expected: String,
    found: String,
    seconds: f64,
    verdict: Verdict,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Same,
    Different,
    /// There is nothing to compare with.
    Unknown,
}

/// Runs the models that qualify, and prints the table. Without our engine, lists them.
pub(super) fn run(workspace: &Workspace, tlc: &Tlc, directory: &Path, options: &Options) -> Result<()> {
    let models = read(directory)?;
    let exhaustive = models.iter().filter(|model| model.is_exhaustive).count();
    let mut chosen: Vec<_> = models.iter().filter(|model| model.is_exhaustive && model.seconds <= LONGEST).collect();
    let counted = chosen.iter().filter(|model| model.counts.is_some()).count();
    println!(
        "{} models, {exhaustive} of them searched exhaustively, {} of these in {LONGEST} s, {counted} with counts\n",
        models.len(),
        chosen.len(),
    );
    chosen.retain(|model| model.config.to_string_lossy().contains(&options.only));
    if options.without_engine {
        for model in chosen {
            println!("{model}: {}", model.expected());
        }
        return Ok(());
    }
    let engine = Engine::build_fast(workspace)?;
    let rows = jobs::each(options.jobs, &chosen, |model| compare(tlc, &engine, directory, model))?;
    println!("| model | expected | found | seconds | |\n|---|---|---|---:|---|");
    for row in &rows {
        println!("{row}");
    }
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let (same, different) = (count(Verdict::Same), count(Verdict::Different));
    println!("\n{} models: {same} agree, {different} differ, {} unknown", rows.len(), count(Verdict::Unknown));
    Ok(())
}

/// Every model of every manifest, in the order of their directories.
fn read(directory: &Path) -> Result<Vec<Model>> {
    let specifications = directory.join("specifications");
    let entries = fs::read_dir(&specifications).with_context(|| format!("cannot read {}", specifications.display()))?;
    let mut manifests = entries.map(|entry| Ok(entry?.path().join("manifest.json"))).collect::<Result<Vec<_>>>()?;
    manifests.retain(|manifest| manifest.exists());
    manifests.sort();
    let mut models = Vec::new();
    for manifest in manifests {
        let parsed: Value = serde_json::from_str(&fs::read_to_string(&manifest)?)
            .with_context(|| format!("{} is not JSON", manifest.display()))?;
        models.extend(models_of(&parsed));
    }
    Ok(models)
}

/// The models of a manifest. What lacks a path or a module is not one.
fn models_of(manifest: &Value) -> Vec<Model> {
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let mut models = Vec::new();
    for module in list(manifest, "modules") {
        for model in list(&module, "models") {
            let (Some(module), Some(config)) = (module["path"].as_str(), model["path"].as_str()) else { continue };
            let count = |key: &str| model[key].as_u64();
            let counts = count("totalStates").zip(count("distinctStates")).zip(count("stateDepth"));
            models.push(Model {
                module: module.into(),
                config: config.into(),
                is_exhaustive: model["mode"] == "exhaustive search",
                seconds: model["runtime"].as_str().and_then(seconds).unwrap_or(u64::MAX),
                result: model["result"].as_str().unwrap_or_default().to_owned(),
                counts: counts.map(|((generated, distinct), depth)| [generated, distinct, depth]),
            });
        }
    }
    models
}

/// The seconds of a time in the form `00:00:00`, or none if it is `unknown`.
fn seconds(time: &str) -> Option<u64> {
    time.split(':').try_fold(0, |sum, part| Some(sum * 60 + part.parse::<u64>().ok()?))
}

impl Model {
    /// What the manifest says, in words.
    fn expected(&self) -> String {
        match self.counts {
            Some([generated, distinct, depth]) => {
                format!("{}, {generated} generated, {distinct} distinct, depth {depth}", self.result)
            }
            None => self.result.clone(),
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.config.strip_prefix("specifications").unwrap_or(&self.config);
        write!(f, "{}", path.display())
    }
}

fn compare<'a>(tlc: &Tlc, engine: &Engine, directory: &Path, model: &'a Model) -> Result<Row<'a>> {
    let start = Instant::now();
    let ours = engine.check_for(&directory.join(&model.module), &directory.join(&model.config), LIMIT)?;
    let seconds = start.elapsed().as_secs_f64();
    let found = ours.as_ref().map_or_else(|| "no answer in time".to_owned(), describe);
    let expected = match (&*model.result, model.counts) {
        ("success", Some(_)) => Some(model.expected()),
        _ => ask(tlc, directory, model)?.or_else(|| (model.result != "unknown").then(|| model.result.clone())),
    };
    // A manifest that gives only the result is compared by the result.
    let result = ours.as_ref().map(result_of).unwrap_or_default();
    let verdict = match &expected {
        None => Verdict::Unknown,
        Some(expected) if *expected == found || *expected == result => Verdict::Same,
        Some(_) => Verdict::Different,
    };
    Ok(Row { model, expected: expected.unwrap_or_default(), found, seconds, verdict })
}

/// What TLC says of a model, or none if it is too new for TLC or takes too long.
fn ask(tlc: &Tlc, directory: &Path, model: &Model) -> Result<Option<String>> {
    let module = directory.join(&model.module);
    let config = directory.join(&model.config);
    let Some(answer) = tlc.check_files(&module, &config, Effort::Long, LIMIT)?.map(|output| Answer::from(&output))
    else {
        return Ok(None);
    };
    let is_answer = !answer.outcome.starts_with("error") || result_of(&answer) == model.result;
    Ok(is_answer.then(|| describe(&answer)))
}

/// An answer as manifests describe it, with counts if the search was complete.
fn describe(answer: &Answer) -> String {
    let Answer { generated, distinct, depth, .. } = answer;
    match result_of(answer) {
        "success" => format!("success, {generated} generated, {distinct} distinct, depth {depth}"),
        "error" => format!("{} ({})", answer.outcome, answer.message),
        result => result.to_owned(),
    }
}

/// How checking ended, in the words of manifests.
fn result_of(answer: &Answer) -> &'static str {
    match answer.outcome.split_whitespace().next() {
        Some("ok") => "success",
        Some("invariant" | "property") => "safety failure",
        Some("deadlock") => "deadlock failure",
        Some("assumption") => "assumption failure",
        Some("error") if answer.outcome == "error Assertion" => "safety failure",
        _ => "error",
    }
}

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { model, expected, found, seconds, verdict } = self;
        let found = if found == expected { "the same" } else { found };
        let verdict = match verdict {
            Verdict::Same => "agrees",
            Verdict::Different => "**differs**",
            Verdict::Unknown => "unknown",
        };
        let cell = |text: &str| text.replace('|', "\\|");
        write!(f, "| {model} | {} | {} | {seconds:.2} | {verdict} |", cell(expected), cell(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_read() {
        let manifest = r#"{"modules": [{"path": "specifications/a/A.tla", "models": [
            {"path": "specifications/a/A.cfg", "runtime": "00:01:05", "mode": "exhaustive search", "result": "success",
             "distinctStates": 3, "totalStates": 7, "stateDepth": 2},
            {"path": "specifications/a/B.cfg", "runtime": "unknown", "mode": {"simulate": {}}, "result": "unknown"}]}]}"#;
        let models = models_of(&serde_json::from_str(manifest).expect("JSON"));
        let lines: Vec<_> = models
            .iter()
            .map(|model| format!("{model} {} {} {}", model.is_exhaustive, model.seconds, model.expected()))
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        a/A.cfg true 65 success, 7 generated, 3 distinct, depth 2
        a/B.cfg false 18446744073709551615 unknown
        ");
    }
}

//! The public TLA+ examples: every model that, according to its manifest, takes about a minute.
//!
//! A manifest gives the result of checking a model and, for a success, usually the number of states. If the number is
//! missing, the installed TLC computes it, unless the model is too new for it. Temporal properties are skipped, and so
//! are models that are expected to violate one. The result is a table by model, `tests/oracle/FIELD.md`.

use std::fmt;
use std::fmt::Write as _;
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

/// How many seconds a model may take here, unless told otherwise.
pub(super) const SECONDS: u64 = 60;

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
    why: String,
}

/// What came of a comparison, the best first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Same,
    Different,
    /// There was no answer in time.
    Slow,
    /// There is nothing to compare with.
    Unknown,
    /// What is expected is not about states that can be reached.
    Outside,
}

impl Verdict {
    const ALL: [Verdict; 5] = [Verdict::Same, Verdict::Different, Verdict::Slow, Verdict::Unknown, Verdict::Outside];

    fn word(self) -> &'static str {
        match self {
            Verdict::Same => "same",
            Verdict::Different => "**different**",
            Verdict::Slow => "not in time",
            Verdict::Unknown => "no reference",
            Verdict::Outside => "outside",
        }
    }
}

/// Runs the models that qualify, and prints the table or writes it. Without our engine, lists them.
pub(super) fn run(workspace: &Workspace, tlc: &Tlc, directory: &Path, options: &Options) -> Result<()> {
    let directory = &directory.canonicalize().with_context(|| format!("cannot read {}", directory.display()))?;
    let models = read(directory)?;
    let exhaustive = models.iter().filter(|model| model.is_exhaustive).count();
    let mut chosen: Vec<_> = models.iter().filter(|model| model.is_exhaustive && model.seconds <= LONGEST).collect();
    let counted = chosen.iter().filter(|model| model.counts.is_some()).count();
    let summary = format!(
        "{} models, {exhaustive} of them searched exhaustively, {} of these in {LONGEST} s, {counted} with counts",
        models.len(),
        chosen.len(),
    );
    println!("{summary}\n");
    chosen.retain(|model| model.config.to_string_lossy().contains(&options.only));
    if options.without_engine {
        for model in chosen {
            println!("{model}: {}", model.expected());
        }
        return Ok(());
    }
    let engine = Engine::build_fast(workspace)?;
    let limit = Duration::from_secs(options.timeout);
    let rows = jobs::each(options.jobs, &chosen, |model| compare(tlc, &engine, directory, model, limit))?;
    let mut table = String::from("| model | TLC | ours | seconds | verdict | why |\n|---|---|---|---:|---|---|\n");
    for row in &rows {
        let _ = writeln!(table, "{row}");
    }
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let totals = Verdict::ALL.map(|verdict| format!("{} {}", count(verdict), verdict.word())).join(", ");
    println!("{table}\n{} models: {totals}", rows.len());
    if options.write && options.only.is_empty() {
        let identical = count(Verdict::Same);
        let compared = rows.len() - count(Verdict::Unknown) - count(Verdict::Outside);
        let text = format!(
            "# The public TLA+ examples\n\nMade by `cargo xtask oracle --field DIR --write --timeout {}`, where `DIR` \
             is a checkout of <https://github.com/tlaplus/Examples>{}.\n\n{summary}.\n\n**{identical} of {compared} \
             identical.** {totals}. Numbers are states generated, distinct states and depth. Temporal properties are \
             left out.\nSeconds are on the wall, of a release build with two models at once.\n\n{table}",
            options.timeout,
            date(directory).map(|date| format!(", last changed on {date}")).unwrap_or_default(),
        );
        fs::write(workspace.root().join("tests/oracle/FIELD.md"), text)?;
    }
    Ok(())
}

/// When the examples were last changed: the day of their last commit, or else of the newest of their manifests.
fn date(directory: &Path) -> Option<String> {
    let mut command = std::process::Command::new("git");
    let output = command.arg("-C").arg(directory).args(["log", "-1", "--format=%cs"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
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
            Some([generated, distinct, depth]) => format!("{} {generated} {distinct} {depth}", self.result),
            None => self.result.clone(),
        }
    }

    /// Whether the configuration asks for temporal properties.
    fn has_properties(&self, directory: &Path) -> Result<bool> {
        let text = fs::read_to_string(directory.join(&self.config))?;
        Ok(text.split_whitespace().any(|word| word == "PROPERTY" || word == "PROPERTIES"))
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.config.strip_prefix("specifications").unwrap_or(&self.config);
        write!(f, "{}", path.display())
    }
}

fn compare<'a>(tlc: &Tlc, engine: &Engine, directory: &Path, model: &'a Model, limit: Duration) -> Result<Row<'a>> {
    let start = Instant::now();
    let ours = engine.check_model(directory, &directory.join(&model.module), &directory.join(&model.config), limit)?;
    let seconds = start.elapsed().as_secs_f64();
    let found = ours.as_ref().map_or_else(String::new, describe);
    let result = ours.as_ref().map(result_of).unwrap_or_default();
    let mut expected = model.expected();
    let mut why = String::new();
    let verdict = if model.result == "liveness failure" {
        why.push_str("a temporal property is expected to fail");
        Verdict::Outside
    } else if ours.is_none() {
        Verdict::Slow
    } else if expected == found || (model.counts.is_none() && model.result != "success" && model.result == result) {
        Verdict::Same
    } else if result == "success" && model.result == "safety failure" && model.has_properties(directory)? {
        why.push_str("the property that is expected to fail is temporal");
        Verdict::Outside
    } else if let Some(answer) = ask(tlc, directory, model, limit)? {
        // With several workers, TLC's depth varies from run to run.
        if model.counts.is_some() && answer != expected {
            let _ = write!(why, "TLC with one worker: {answer}");
        }
        if model.counts.is_none() {
            expected = answer.clone();
        }
        if answer == found { Verdict::Same } else { Verdict::Different }
    } else if model.counts.is_none() && model.result == result {
        why.push_str("no counts to compare with");
        Verdict::Unknown
    } else {
        Verdict::Different
    };
    if result == "error" {
        why.push_str(ours.as_ref().map_or("", |ours| &ours.message));
    } else if verdict == Verdict::Different && is_only_depth(&expected, &found) {
        why.push_str("the depth alone: with several workers, TLC's varies from run to run");
    }
    println!("{model}: {} in {seconds:.1} s", verdict.word());
    Ok(Row { model, expected, found, seconds, verdict, why })
}

/// Whether two answers differ in nothing but the last number.
fn is_only_depth(a: &str, b: &str) -> bool {
    let head = |text: &str| text.rsplit_once(' ').map(|(head, _)| head.to_owned());
    head(a) == head(b) && a.split(' ').count() == b.split(' ').count()
}

/// What TLC says of a model, or none if it is too new for TLC or takes too long.
fn ask(tlc: &Tlc, directory: &Path, model: &Model, limit: Duration) -> Result<Option<String>> {
    let module = directory.join(&model.module);
    let config = directory.join(&model.config);
    let Some(answer) = tlc.check_files(&module, &config, Effort::Long, limit)?.map(|output| Answer::from(&output))
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
        "success" => format!("success {generated} {distinct} {depth}"),
        "error" => answer.outcome.clone(),
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
        let Row { model, expected, found, seconds, verdict, why } = self;
        let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        let (expected, found, why) = (cell(expected), cell(found), cell(why));
        write!(f, "| {model} | {expected} | {found} | {seconds:.1} | {} | {why} |", verdict.word())
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
        a/A.cfg true 65 success 7 3 2
        a/B.cfg false 18446744073709551615 unknown
        ");
    }
}

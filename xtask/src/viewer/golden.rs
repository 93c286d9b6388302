//! Golden reports: a history for each kind of content that a page has to show.
//!
//! `tests/golden/reports/golden.toml` lists them with their expected verdicts. Each is checked here and its page is
//! written; `pages.json` beside the pages holds the data for the browser tests.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::make::make;
use super::runs;

/// Where the list is, from the root of the repository.
const LIST: &str = "tests/golden/reports/golden.toml";

/// The list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    report: Vec<Golden>,
}

/// A report, and what is expected of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Golden {
    name: String,
    /// What it is there for.
    about: String,
    /// A TLA+ module or the name of a built-in specification.
    spec: Option<String>,
    /// A file with a history.
    trace: Option<String>,
    /// The isolation level of the transactions in `trace`, instead of a specification.
    isolation: Option<String>,
    /// A history that is made.
    make: Option<String>,
    /// A report that was written before, instead of a history.
    report: Option<String>,
    /// An example whose recordings are taken for a directory of runs.
    runs: Option<String>,
    #[serde(default)]
    options: Vec<String>,
    /// In one word; `error` without a verdict, and `index` for several.
    verdict: String,
    /// Kinds of reasons that are in it.
    #[serde(default)]
    why: Vec<String>,
    /// What is on the first screen.
    says: String,
    /// A conjunct that is not true.
    conjunct: Option<String>,
    /// How many bytes the page may take.
    largest: Option<u64>,
}

/// What browser tests have to know.
#[derive(Debug, Serialize)]
struct Pages<'a> {
    /// The command, to serve pages with.
    command: &'a Path,
    pages: Vec<Page<'a>>,
}

/// A page that was written.
#[derive(Debug, Serialize)]
struct Page<'a> {
    name: &'a str,
    about: &'a str,
    /// A file beside this one.
    file: String,
    /// What comes after `omnilink view`, from the root of the repository.
    view: Vec<String>,
    verdict: &'a str,
    says: &'a str,
    conjunct: Option<&'a str>,
    operations: u64,
    bytes: u64,
}

/// Writes the pages of all golden reports, or of one, and fails if any is not what it stands for.
pub(super) fn write_pages(root: &Path, command: &Path, directory: &Path, only: Option<&str>) -> Result<()> {
    let list = read(root)?;
    let is_meant = |golden: &&Golden| only.is_none_or(|only| golden.name == only);
    let mut pages = Vec::new();
    for golden in list.report.iter().filter(is_meant) {
        let start = Instant::now();
        let page = golden.write(root, command, directory).with_context(|| format!("the report `{}`", golden.name))?;
        let seconds = start.elapsed().as_secs_f64();
        match &page {
            Some(page) => println!(
                "{:18} {:12} {:>7} operations {:>9} bytes {seconds:>6.1} s",
                page.name, page.verdict, page.operations, page.bytes
            ),
            None => println!("{:18} no page", golden.name),
        }
        pages.extend(page);
    }
    ensure!(!pages.is_empty() || only.is_none(), "{LIST} has no report `{}`", only.unwrap_or_default());
    fs::write(directory.join("pages.json"), serde_json::to_string_pretty(&Pages { command, pages })?)?;
    Ok(())
}

fn read(root: &Path) -> Result<List> {
    let text = fs::read_to_string(root.join(LIST)).with_context(|| format!("cannot read {LIST}"))?;
    toml::from_str(&text).context(LIST)
}

impl Golden {
    /// Checks that the report is what it stands for, and writes its page. None if there must not be one.
    fn write(&self, root: &Path, command: &Path, directory: &Path) -> Result<Option<Page<'_>>> {
        let subject = self.subject(directory)?;
        let name = match &self.runs {
            Some(_) => format!("{}/index.html", self.name),
            None => format!("{}.html", self.name),
        };
        let file = directory.join(&name);
        let target = file.display().to_string();
        let omnilink = |words: &[&str]| -> Result<Output> {
            let mut command = Command::new(command);
            command.args(words).args(&subject).current_dir(root);
            command.output().with_context(|| format!("cannot run {:?}", command.get_program()))
        };
        let (written, reports) = if let Some(example) = &self.runs {
            let store = directory.join("store");
            runs::make(root, command, example, &store)?;
            let output = directory.join(&self.name);
            (omnilink(&["report", &store.display().to_string(), "--output", &output.display().to_string()])?, None)
        } else if let Some(path) = &self.report {
            let reports = fs::read(root.join(path))?;
            (omnilink(&["report", "--output", &target])?, Some(serde_json::from_slice(&reports)?))
        } else if self.isolation.is_some() {
            let (page, data) = (format!("html={target}"), file.with_extension("json"));
            let also = format!("json={}", data.display());
            let written = omnilink(&["check", "--progress", "none", "--report", &page, "--report", &also])?;
            (written, Some(serde_json::from_slice(&fs::read(&data)?)?))
        } else {
            let page = format!("html={target}");
            let written = omnilink(&["check", "--progress", "none", "--format", "json", "--report", &page])?;
            let reports: Value = serde_json::from_slice(&written.stdout).unwrap_or_default();
            (written, Some(reports))
        };
        let said = String::from_utf8_lossy(&written.stderr).into_owned();
        if self.verdict == "error" {
            ensure!(written.status.code() == Some(2) && said.contains(&self.says), "{}: {said}", written.status);
            ensure!(!file.exists(), "there is a page, and no verdict");
            return Ok(None);
        }
        let bytes = fs::metadata(&file).with_context(|| format!("no page, {}: {said}", written.status))?.len();
        let mut operations = 0;
        if let Some(reports) = &reports {
            let report = only_report(reports)?;
            self.compare(report)?;
            operations = report["history"]["operations"].as_u64().unwrap_or_default();
        }
        let largest = self.largest.unwrap_or(u64::MAX);
        ensure!(bytes <= largest, "the page takes {bytes} bytes, more than {largest}");
        Ok(Some(Page {
            name: &self.name,
            about: &self.about,
            file: name,
            view: subject,
            verdict: &self.verdict,
            says: &self.says,
            conjunct: self.conjunct.as_deref(),
            operations,
            bytes,
        }))
    }

    /// What is looked at, as it stands on a command line.
    fn subject(&self, directory: &Path) -> Result<Vec<String>> {
        let mut words = Vec::new();
        match &self.spec {
            Some(spec) if spec.ends_with(".tla") => words.push(spec.clone()),
            Some(spec) => words.extend(["--spec".to_owned(), spec.clone()]),
            None => {}
        }
        if let Some(level) = &self.isolation {
            words.extend(["--isolation".to_owned(), level.clone()]);
        }
        words.extend(self.report.clone());
        words.extend(self.trace.clone());
        if let Some(name) = &self.make {
            let file = directory.join(format!("{name}.txt"));
            fs::write(&file, make(name)?)?;
            words.push(file.display().to_string());
        }
        words.extend(self.options.clone());
        Ok(words)
    }

    fn compare(&self, report: &Value) -> Result<()> {
        let (verdict, evidence) = (&report["verdict"]["kind"], &report["verdict"]["evidence"]);
        let found = if evidence["kind"] == "invariant" { "violated" } else { verdict.as_str().unwrap_or_default() };
        ensure!(found == self.verdict, "the verdict is {found}, not `{}`", self.verdict);
        let reasons = evidence["reasons"].as_array().map(Vec::as_slice).unwrap_or_default();
        for kind in &self.why {
            ensure!(reasons.iter().any(|reason| reason["why"]["kind"] == *kind), "no reason is `{kind}`");
        }
        if let Some(text) = &self.conjunct {
            let in_reasons = reasons.iter().map(|reason| &reason["why"]["conjuncts"]);
            let conjuncts = in_reasons.chain([&evidence["conjuncts"]]).filter_map(Value::as_array).flatten();
            let is_false = |conjunct: &Value| {
                let outcomes = conjunct["outcomes"].as_array().map(Vec::as_slice).unwrap_or_default();
                outcomes.iter().any(|outcome| outcome == "false")
            };
            let found = conjuncts.into_iter().any(|conjunct| conjunct["text"] == *text && is_false(conjunct));
            ensure!(found, "no conjunct `{text}` is false");
        }
        Ok(())
    }
}

/// The report in a file of reports that has one.
fn only_report(reports: &Value) -> Result<&Value> {
    reports["reports"].as_array().and_then(|reports| reports.first()).context("there is no report")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_golden_report_has_what_it_names() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let list = read(&root).unwrap();
        assert!(list.report.len() >= 14);
        for golden in &list.report {
            let sources = [&golden.trace, &golden.make, &golden.report, &golden.runs];
            assert_eq!(sources.into_iter().flatten().count(), 1, "{}", golden.name);
            let modules = golden.spec.iter().filter(|spec| spec.ends_with(".tla"));
            for path in modules.chain(&golden.trace).chain(&golden.report).chain(&golden.runs) {
                assert!(root.join(path).exists(), "{path}");
            }
            let has_history = golden.trace.is_some() || golden.make.is_some();
            let has_subject = golden.spec.is_some() != golden.isolation.is_some();
            assert_eq!(has_history, has_subject, "{}", golden.name);
        }
    }
}

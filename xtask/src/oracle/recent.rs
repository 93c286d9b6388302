//! Specs that need a TLC of 2026: properties of finite behaviors, the progress of the search, depth first, `\\cdot`.
//!
//! `recent.tsv` has our own specs in `tests/oracle/recent`, which tests compare with our engine. `published.tsv` has
//! public specifications that validate logs; neither they nor their logs are in this repository, only the answers.
//! A module, a log and the names of constants in another file are found by their file names below the directories
//! given. A count that differs between runs of TLC is not recorded.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::compare::Difference;
use super::engine::Engine;
use super::specs::Answer;
use super::table::Table;
use super::tlc::Tlc;
use super::{Options, jobs};
use crate::workspace::Workspace;

/// The columns of the table of our own specs.
const RECENT: [&str; 8] = ["config", "module", "search", "outcome", "generated", "distinct", "depth", "trace"];

/// The columns of the table of public specifications.
const PUBLISHED: [&str; 9] =
    ["module", "log", "constants", "events", "search", "outcome", "generated", "distinct", "depth"];

/// How long one of our own specs may take.
const LIMIT: Duration = Duration::from_secs(60);

/// How long a public specification may take.
const LONG: Duration = Duration::from_secs(600);

/// A question about a spec.
pub(super) struct Asked<'a> {
    /// Where it is.
    pub(super) directory: &'a Path,
    /// Its root module: for TLC a name, for our engine a file.
    pub(super) module: &'a str,
    /// The file of its configuration.
    pub(super) config: &'a str,
    /// Whether states are visited depth first.
    pub(super) is_depth: bool,
    /// What the specification reads from the environment.
    pub(super) environment: Vec<(&'a str, String)>,
    pub(super) limit: Duration,
}

/// Asks TLC about our own specs. Returns the differences, or writes the answers.
pub(super) fn specs(workspace: &Workspace, tlc: &Tlc, options: &Options) -> Result<Vec<Difference>> {
    let mut table = Table::read(workspace, "recent.tsv", RECENT)?;
    let directory = workspace.root().join("tests/oracle/recent");
    let answers = jobs::each(options.jobs, &table.rows, |[config, module, search, ..]| {
        let config = format!("{config}.cfg");
        let is_depth = search == "depth";
        let environment = Vec::new();
        let asked = Asked { directory: &directory, module, config: &config, is_depth, environment, limit: LIMIT };
        let output = tlc.check_recent(&asked)?.with_context(|| format!("TLC does not end on `{config}`"))?;
        let Answer { outcome, generated, distinct, depth, trace, .. } = Answer::from(&output);
        Ok([outcome, generated, distinct, depth, trace])
    })?;
    println!("recent.tsv: {} specs", answers.len());
    let mut differences = Vec::new();
    for (row, answer) in table.rows.iter_mut().zip(answers) {
        let name = format!("{}, {} first", row[0], row[2]);
        differences.extend(Difference::between(
            &name,
            ("recorded", row[3..].join(" ").trim_end()),
            ("TLC", answer.join(" ").trim_end()),
        ));
        row[3..].clone_from_slice(&answer);
    }
    if options.write {
        table.write()?;
        return Ok(Vec::new());
    }
    Ok(differences)
}

/// Asks our engine about public specifications, or TLC to record its answers. Returns the differences.
pub(super) fn published(
    workspace: &Workspace,
    directory: &Path,
    logs: &Path,
    options: &Options,
) -> Result<Vec<Difference>> {
    let mut table = Table::read(workspace, "published.tsv", PUBLISHED)?;
    let (specs, mut logs) = (files(directory)?, files(logs)?);
    // Some logs are our own.
    logs.extend(files(&workspace.root().join("tests/oracle/recent"))?);
    let tlc = options.jar.as_ref().filter(|_| options.write).map(|jar| Tlc::recent(workspace, jar)).transpose()?;
    let engine = if tlc.is_none() { Some(Engine::build(workspace)?) } else { None };
    let rows: Vec<_> = table.rows.iter().map(|row| row.each_ref().map(String::as_str)).collect();
    let answers = jobs::each(options.jobs, &rows, |[module, log, constants, events, search, ..]| {
        if !options.wants(module) {
            return Ok(None);
        }
        let file = format!("{module}.tla");
        let path = find(&specs, &file)?;
        let config = path.with_extension("cfg");
        let config = config.file_name().context("a configuration has a name")?.to_string_lossy().into_owned();
        let mut environment = vec![(variable(module), find(&logs, log)?.to_string_lossy().into_owned())];
        if !constants.is_empty() {
            environment.push(("CONFIG_PATH", find(&logs, constants)?.to_string_lossy().into_owned()));
        }
        if !events.is_empty() {
            environment.push(("MAX_TRACE", (*events).to_owned()));
        }
        let directory = path.parent().context("a module is in a directory")?;
        let name = if engine.is_some() { &file } else { *module };
        let is_depth = *search == "depth";
        let asked = Asked { directory, module: name, config: &config, is_depth, environment, limit: LONG };
        let answer = match (&engine, &tlc) {
            (Some(engine), _) => engine.check_recent(&asked)?,
            (None, Some(tlc)) => tlc.check_recent(&asked)?.as_ref().map(Answer::from),
            (None, None) => None,
        };
        let Answer { outcome, generated, distinct, depth, .. } =
            answer.with_context(|| format!("no answer about {module} with {log} in time"))?;
        let depth = if outcome == "ok" { depth } else { String::new() };
        println!("{module} {log} {search}: {outcome}, {generated} generated, {distinct} distinct, depth {depth}");
        Ok(Some([outcome, generated, distinct, depth]))
    })?;
    let mut differences = Vec::new();
    for (row, answer) in table.rows.iter_mut().zip(answers) {
        let Some(mut answer) = answer else { continue };
        if options.write {
            row[5..].clone_from_slice(&answer);
            continue;
        }
        for (recorded, found) in row[5..].iter().zip(&mut answer) {
            if recorded.is_empty() {
                found.clear();
            }
        }
        let name = format!("{} with {}, {} first", row[0], row[1], row[4]);
        let (recorded, found) = (row[5..].join(" "), answer.join(" "));
        differences.extend(Difference::between(&name, ("recorded", &recorded), ("omnilink", &found)));
    }
    if options.write {
        table.write()?;
    }
    Ok(differences)
}

/// The variable of the environment that names the log of a specification.
fn variable(module: &str) -> &'static str {
    match module {
        "TwoPhaseTrace" | "KeyValueStoreTrace" => "TRACE_PATH",
        "Traceccfraft" => "CCF_RAFT_TRACE",
        _ => "JSON",
    }
}

/// Every file below a directory.
pub(super) fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut todo) = (Vec::new(), vec![directory.canonicalize()?]);
    while let Some(directory) = todo.pop() {
        for entry in fs::read_dir(&directory).with_context(|| format!("cannot read {}", directory.display()))? {
            let path = entry?.path();
            if path.is_dir() { todo.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    Ok(files)
}

/// The file with this name.
pub(super) fn find<'f>(files: &'f [PathBuf], name: &str) -> Result<&'f Path> {
    let found = files.iter().find(|path| path.file_name().is_some_and(|file| file == name));
    found.map(PathBuf::as_path).with_context(|| format!("there is no file `{name}`"))
}

//! Logs of public specifications by a mapping alone: the verdict and where it was found.
//!
//! `mapped.tsv` has a row for each log. The mappings, which are our own, are in `tests/oracle/mapped`, in a directory for
//! each specification, with its configuration; the specifications and the logs are found by their file names below the
//! directories given.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::compare::Difference;
use super::engine::Engine;
use super::recent::{files, find};
use super::table::Table;
use super::{Options, jobs};
use crate::workspace::Workspace;

/// The columns of the table.
const COLUMNS: [&str; 8] = ["module", "log", "constants", "mapping", "events", "verdict", "explained", "line"];

/// How long one log may take.
const LIMIT: Duration = Duration::from_secs(120);

/// Checks the logs. Returns the differences, or writes the answers.
pub(super) fn run(workspace: &Workspace, specs: &Path, logs: &Path, options: &Options) -> Result<Vec<Difference>> {
    let mut table = Table::read(workspace, "mapped.tsv", COLUMNS)?;
    let (specs, logs) = (files(specs)?, files(logs)?);
    let engine = Engine::build(workspace)?;
    let scratch = workspace.metadata.target_directory.as_std_path().join("oracle/mapped");
    let rows: Vec<_> = table.rows.iter().map(|row| row.each_ref().map(String::as_str)).collect();
    let answers = jobs::each(options.jobs, &rows, |[module, log, constants, mapping, events, ..]| {
        if !options.wants(module) {
            return Ok(None);
        }
        // A directory of its own: the specification with what it extends, the mapping, the log and its constants.
        let directory = scratch.join(format!("{module}-{log}-{mapping}-{events}"));
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        fs::create_dir_all(&directory)?;
        let beside = find(&specs, &format!("{module}.tla"))?.parent().context("a module is in a directory")?.to_owned();
        let ours = workspace.root().join("tests/oracle/mapped").join(module);
        for source in [&beside, &ours] {
            for entry in fs::read_dir(source)? {
                let path = entry?.path();
                let is_module = path.extension().is_some_and(|extension| extension == "tla");
                if is_module || (source == &ours && path.is_file()) {
                    fs::copy(&path, directory.join(path.file_name().context("a file has a name")?))?;
                }
            }
        }
        let text = fs::read_to_string(find(&logs, log)?)?;
        let text = match events.parse::<usize>() {
            Ok(most) => text.lines().take(most).map(|line| format!("{line}\n")).collect(),
            Err(_) => text,
        };
        fs::write(directory.join("log.ndjson"), text)?;
        if !constants.is_empty() {
            fs::copy(find(&logs, constants)?, directory.join("conf.ndjson"))?;
        }
        let report = engine.check_log(&directory, &format!("{module}.tla"), "log.ndjson", mapping, LIMIT)?;
        let report = report.with_context(|| format!("no answer about {log} in time"))?;
        let (verdict, explained, line) = answer(&report);
        let (distinct, seconds) =
            (&report["stats"]["distinct"], report["stats"]["seconds"].as_f64().unwrap_or_default());
        println!("{module} {log} {mapping}: {verdict} {line}, {distinct} configurations, {seconds:.2} s");
        Ok(Some([verdict, explained, line]))
    })?;
    let mut differences = Vec::new();
    for (row, answer) in table.rows.iter_mut().zip(answers) {
        let Some(answer) = answer else { continue };
        if options.write {
            row[5..].clone_from_slice(&answer);
            continue;
        }
        let name = format!("{} with {} by {}", row[0], row[1], row[3]);
        let (recorded, found) = (row[5..].join(" "), answer.join(" "));
        differences.extend(Difference::between(&name, ("recorded", &recorded), ("omnilink", &found)));
    }
    if options.write {
        table.write()?;
    }
    Ok(differences)
}

/// The verdict; for a rejected log, the number of events explained and the line that no behavior gets past.
fn answer(report: &Value) -> (String, String, String) {
    let verdict = report["verdict"]["kind"].as_str().unwrap_or("none").to_owned();
    if verdict != "rejected" {
        return (verdict, String::new(), String::new());
    }
    let explained = report["verdict"]["explained"].to_string();
    let blocked = report["verdict"]["blocked"][0].as_u64().unwrap_or_default() as usize;
    let meta = report["operations"][blocked]["meta"].as_array().into_iter().flatten();
    let line = meta.clone().find(|field| field["name"] == "line").and_then(|field| field["value"].as_str());
    (verdict, explained, line.unwrap_or_default().to_owned())
}

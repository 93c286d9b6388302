//! A directory of runs as written by `omnilink fuzz`, made from the traces of an example.
//!
//! Running a harness needs a compiler and luck. Instead, every trace of an example is stored twice, as if two seeds had
//! led to the same failure, an hour apart.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// When the first run began, in seconds since 1970.
const FIRST: u64 = 1_750_000_000;

/// Writes a store of runs below `store`: one for each file in `example/traces`, twice.
pub(super) fn make(root: &Path, command: &Path, example: &str, store: &Path) -> Result<()> {
    let directory = root.join(example);
    let mut traces: Vec<_> = fs::read_dir(directory.join("traces"))?.collect::<Result<_, _>>()?;
    traces.sort_by_key(fs::DirEntry::file_name);
    if store.exists() {
        fs::remove_dir_all(store)?;
    }
    let count = traces.len();
    for (number, trace) in traces.iter().chain(&traces).enumerate() {
        let id = format!("{:06x}", 0xa1_b2c3 + 7919 * number);
        let run = store.join(&id);
        fs::create_dir_all(run.join("spec"))?;
        let mut module = String::new();
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if [".tla", ".cfg", "omnilink.toml"].iter().any(|ending| name.ends_with(ending)) {
                fs::copy(&path, run.join("spec").join(&name))?;
            }
            if name.ends_with(".tla") {
                module = name;
            }
        }
        let mut convert = Command::new(command);
        convert.arg("convert").arg(trace.path()).args(["--to", "binary", "--output"]).arg(run.join("trace"));
        ensure!(convert.status().context("cannot run the command")?.success(), "a recording cannot be converted");
        let mut check = Command::new(command);
        check.args(["check", "--format", "json"]).arg(directory.join(&module)).arg(trace.path());
        let reports: Value = serde_json::from_slice(&check.output()?.stdout)?;
        let verdict = &reports["reports"][0]["verdict"];
        let about = json!({
            "schema": "omnilink.run/1",
            "id": id,
            "began": FIRST + 3600 * number as u64,
            "plan": { "seed": 7919 * number, "threads": 4, "operations": 24, "perturb": ["yield"] },
            "command": ["target/queue"],
            "ended": { "kind": "finished" },
            "took": 0.25 + 0.125 * (number % count) as f64,
            "spec": module,
            "verdict": verdict["kind"],
            "cause": cause(verdict).map(|part| format!("{part} is FALSE, {module}")),
            "environment": { "omnilink": "0.1.0", "system": "Linux", "processor": "any", "cores": 2 },
        });
        fs::write(run.join("run.json"), serde_json::to_string_pretty(&about)?)?;
    }
    Ok(())
}

/// The first conjunct that is false.
fn cause(verdict: &Value) -> Option<&str> {
    let reasons = verdict["evidence"]["reasons"].as_array()?;
    let conjuncts = reasons.iter().filter_map(|reason| reason["why"]["conjuncts"].as_array()).flatten();
    let is_false =
        |conjunct: &&Value| conjunct["outcomes"].as_array().is_some_and(|all| all.iter().any(|one| one == "false"));
    conjuncts.into_iter().find(is_false)?["text"].as_str()
}

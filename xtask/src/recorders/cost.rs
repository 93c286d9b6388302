//! The cost of recording, for each recorder.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;

use super::programs::{Programs, Set};

/// Prints a table in Markdown: nanoseconds on the processor per operation, and what recording does to a queue.
pub(super) fn print(programs: &Programs) -> Result<()> {
    let mut rows: BTreeMap<(usize, String), Vec<String>> = BTreeMap::new();
    let mut order = Vec::new();
    let mut clocks = Vec::new();
    for (column, set) in programs.sets.iter().enumerate() {
        let queue = set.has_queue.then_some("queue");
        for program in ["cost"].into_iter().chain(queue) {
            let report = measure(set, program)?;
            clocks.push(report["clock"].as_str().unwrap_or("unknown").to_owned());
            for case in report["cases"].as_array().context("there are cases")? {
                let name = case["case"].as_str().context("a case has a name")?.to_owned();
                let threads = case["threads"].as_u64().context("a case has threads")? as usize;
                let cpu = case["cpu"].as_f64().context("a case has a time")?;
                if !order.contains(&name) {
                    order.push(name.clone());
                }
                let row = rows.entry((threads, name)).or_default();
                row.resize(column, "–".to_owned());
                row.push(format!("{cpu:.0}"));
            }
        }
    }
    clocks.dedup();
    let names: Vec<&str> = programs.sets.iter().map(|set| &*set.name).collect();
    println!("\nNanoseconds of processor time per operation, best of five runs; clock: {}\n", clocks.join(", "));
    println!("| threads | operation | {} |", names.join(" | "));
    println!("|---|---|{}", "---|".repeat(names.len()));
    for threads in [1, 2] {
        for name in &order {
            let Some(row) = rows.get_mut(&(threads, name.clone())) else { continue };
            row.resize(names.len(), "–".to_owned());
            println!("| {threads} | {name} | {} |", row.join(" | "));
        }
    }
    Ok(())
}

fn measure(set: &Set, program: &str) -> Result<Json> {
    let output = set.command(program).output()?;
    ensure!(output.status.success(), "`{program}` of {} failed: {}", set.name, output.status);
    Ok(serde_json::from_slice(&output.stdout)?)
}

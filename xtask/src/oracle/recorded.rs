//! Our engine, beside what is recorded. This needs no Java, so it is what to run while working on the engine.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::compare::Difference;
use super::engine::Engine;
use super::expressions::MODULES;
use super::table::Table;
use super::{Options, conclude, expressions, jobs, specs};
use crate::workspace::Workspace;

/// Asks our engine for everything that has a recorded answer, and compares.
pub(super) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let engine = Engine::build(workspace)?;
    let mut differences = Vec::new();
    if options.only.is_empty() {
        differences.extend(whole_table(workspace, &engine)?);
        differences.extend(one_by_one(workspace, &engine, options)?);
    }
    differences.extend(every_spec(workspace, &engine, options)?);
    conclude(&differences)
}

/// All expressions that may stand together, asked together.
fn whole_table(workspace: &Workspace, engine: &Engine) -> Result<Vec<Difference>> {
    let table = Table::read(workspace, "expressions.tsv", expressions::COLUMNS)?;
    let cases: Vec<_> = table.rows.iter().map(|[expression, ..]| expression.as_str()).collect();
    let answers = ask(engine, "Expressions", &cases)?;
    println!("expressions.tsv: {} expressions", cases.len());
    Ok(table
        .rows
        .iter()
        .zip(answers)
        .filter_map(|(row, answer)| expressions::compare(row, ("omnilink", answer)))
        .collect())
}

/// The expressions that must be asked alone.
fn one_by_one(workspace: &Workspace, engine: &Engine, options: &Options) -> Result<Vec<Difference>> {
    let table = Table::read(workspace, "alone.tsv", expressions::COLUMNS)?;
    let rows: Vec<_> = table.rows.iter().enumerate().collect();
    let differences = jobs::each(options.jobs, &rows, |(index, row)| {
        let answer = ask(engine, &format!("Alone{index}"), &[&row[0]])?.pop().flatten();
        Ok(expressions::compare(row, ("omnilink", answer)))
    })?;
    println!("alone.tsv: {} expressions", rows.len());
    Ok(differences.into_iter().flatten().collect())
}

/// What our engine says of these expressions, in a module that extends what every expression may use.
fn ask(engine: &Engine, name: &str, cases: &[&str]) -> Result<Vec<Option<String>>> {
    let module = engine.scratch().join(name).with_extension("tla");
    let lines = module.with_extension("txt");
    fs::write(&module, format!("---- MODULE {name} ----\nEXTENDS {MODULES}\n====\n"))?;
    fs::write(&lines, cases.join("\n") + "\n")?;
    let answers = engine.evaluate(&module, &lines)?;
    ensure!(answers.len() == cases.len(), "omnilink answered {} of {} expressions", answers.len(), cases.len());
    Ok(answers)
}

fn every_spec(workspace: &Workspace, engine: &Engine, options: &Options) -> Result<Vec<Difference>> {
    let table = Table::read(workspace, "specs.tsv", specs::COLUMNS)?;
    let directory = workspace.root().join("tests/oracle/specs");
    let rows: Vec<_> = table.rows.into_iter().filter(|row| row[0].contains(&options.only)).collect();
    let differences = jobs::each(options.jobs, &rows, |row| {
        let module = directory.join(&row[0]).with_extension("tla");
        let ours = engine.check(&module, &module.with_extension("cfg")).with_context(|| row[0].clone())?;
        let recorded = specs::Answer::from_row(row.clone());
        Ok(Difference::between(&row[0], ("recorded", &recorded.summary()), ("omnilink", &ours.summary())))
    })?;
    println!("specs.tsv: {} specs", rows.len());
    Ok(differences.into_iter().flatten().collect())
}

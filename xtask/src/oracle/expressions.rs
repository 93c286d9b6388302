//! Constant expressions: the value that TLC prints for each, or its error.
//!
//! Starting Java takes a second, so one module evaluates many expressions. At its start, TLC evaluates every constant
//! definition without parameters, and continues after errors: a definition prints its expression, or the expression has
//! no value. TLC does not give the reason then; a separate run asks for it, only when answers are recorded.
//!
//! An expression that does not parse would break the module, and one that depends on the order of strings depends on
//! the expressions before it. These are in a separate table, and run one by one.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::compare::Difference;
use super::table::Table;
use super::tlc::{Effort, Output, Tlc};
use super::{Options, jobs, kind};
use crate::workspace::Workspace;

/// The modules that every expression may use.
pub(super) const MODULES: &str = "Integers, Sequences, FiniteSets, Bags, TLC";

/// The columns of a table of expressions.
pub(super) const COLUMNS: [&str; 3] = ["expression", "outcome", "message"];

/// Asks TLC for every expression of a table. Returns the differences, or writes the answers.
pub(super) fn run(workspace: &Workspace, tlc: &Tlc, file: &str, options: &Options) -> Result<Vec<Difference>> {
    let mut table = Table::read(workspace, file, COLUMNS)?;
    let expressions: Vec<_> = table.rows.iter().map(|[expression, ..]| expression.clone()).collect();
    let answers = if file == "alone.tsv" {
        let directory = tlc.scratch("alone")?;
        let cases: Vec<_> = expressions.iter().enumerate().collect();
        jobs::each(options.jobs, &cases, |(index, expression)| {
            let batch =
                Batch { name: format!("Alone{index}"), prelude: "", expressions: std::slice::from_ref(expression) };
            Ok(batch.ask(tlc, &directory)?.pop().flatten())
        })?
    } else {
        let batch = Batch { name: "Expressions".to_owned(), prelude: "", expressions: &expressions };
        batch.ask(tlc, &tlc.scratch("expressions")?)?
    };
    ensure!(
        answers.iter().any(Option::is_some),
        "TLC has no value for any expression of {}; does each of them parse?",
        table.path().display()
    );
    println!("{file}: {} expressions, {} of them fail", answers.len(), answers.iter().filter(|a| a.is_none()).count());
    if options.write {
        let reasons = reasons(tlc, options, &table.rows, &answers)?;
        for ((row, answer), reason) in table.rows.iter_mut().zip(answers).zip(reasons) {
            let outcome = answer.map_or_else(|| format!("ERR {}", kind::of(&reason)), |value| format!("VALUE {value}"));
            (row[1], row[2]) = (outcome, reason);
        }
        table.write()?;
        return Ok(Vec::new());
    }
    Ok(table.rows.iter().zip(answers).filter_map(|(row, answer)| compare(row, ("TLC", answer))).collect())
}

/// The difference between a recorded row and an answer. Of errors, only that there is one is compared.
pub(super) fn compare(
    [expression, recorded, _]: &[String; 3],
    (source, answer): (&'static str, Option<String>),
) -> Option<Difference> {
    let recorded = if recorded.starts_with("ERR") { "ERR" } else { recorded };
    let answer = answer.map_or_else(|| "ERR".to_owned(), |value| format!("VALUE {value}"));
    Difference::between(expression, ("recorded", recorded), (source, &answer))
}

/// Why the expressions without a value have none, and nothing for the others. Reasons that are recorded are kept.
fn reasons(tlc: &Tlc, options: &Options, rows: &[[String; 3]], answers: &[Option<String>]) -> Result<Vec<String>> {
    let directory = tlc.scratch("reasons")?;
    let cases: Vec<_> = rows.iter().zip(answers).enumerate().collect();
    jobs::each(options.jobs, &cases, |(index, ([expression, _, recorded], answer))| {
        if answer.is_some() || !recorded.is_empty() {
            return Ok(if answer.is_some() { String::new() } else { recorded.clone() });
        }
        let name = format!("Reason{index}");
        let output = evaluate(tlc, &directory, &name, "", &format!("PrintT(ToString({expression}))"))?;
        let syntax = output.syntax_errors();
        Ok(if syntax.is_empty() { output.errors() } else { syntax })
    })
}

/// Expressions that are asked in one run.
pub(super) struct Batch<'a> {
    /// The name of the module.
    pub(super) name: String,
    /// Definitions before the expressions.
    pub(super) prelude: &'a str,
    /// The expressions.
    pub(super) expressions: &'a [String],
}

impl Batch<'_> {
    /// The value of each expression as TLC prints it, or none if it has none.
    pub(super) fn ask(&self, tlc: &Tlc, directory: &Path) -> Result<Vec<Option<String>>> {
        let mut definitions = self.prelude.to_owned();
        for (index, expression) in self.expressions.iter().enumerate() {
            writeln!(definitions, "Case{index} == PrintT(\"@{index} \" \\o ToString({expression}))")?;
        }
        let output = evaluate(tlc, directory, &self.name, &definitions, "TRUE")?;
        let mut answers = vec![None; self.expressions.len()];
        for line in &output.printed {
            if let Some((index, value)) = answer(line) {
                *answers.get_mut(index).context("TLC printed a case that does not exist")? = Some(value);
            }
        }
        Ok(answers)
    }
}

/// Has TLC check a module with these constant definitions and one state, the step from which has this condition.
fn evaluate(tlc: &Tlc, directory: &Path, name: &str, definitions: &str, condition: &str) -> Result<Output> {
    let module = format!(
        "---- MODULE {name} ----\nEXTENDS {MODULES}\nVARIABLE nothing\n{definitions}\
         Init == nothing = 0\nNext == {condition} /\\ nothing' = nothing\n====\n"
    );
    std::fs::write(directory.join(format!("{name}.tla")), module)?;
    std::fs::write(directory.join(format!("{name}.cfg")), "INIT Init\nNEXT Next\n")?;
    tlc.check(directory, name, &[], Effort::Short)
}

/// The number and the value of a case, if this line prints one.
fn answer(line: &str) -> Option<(usize, String)> {
    let (index, value) = line.strip_prefix("\"@")?.strip_suffix('"')?.split_once(' ')?;
    Some((index.parse().ok()?, unescape(value)))
}

/// Undoes what TLC does to a string when it prints one.
fn unescape(text: &str) -> String {
    let (mut plain, mut chars) = (String::new(), text.chars());
    while let Some(char) = chars.next() {
        plain.push(match char {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some('f') => '\u{c}',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_unescaped_once() {
        assert_eq!(answer(r#""@12 <<\"a\", \"b\\\"c\">>""#), Some((12, r#"<<"a", "b\"c">>"#.to_owned())));
        assert_eq!(answer("\"@x 1\""), None);
        assert_eq!(answer("Parsing file"), None);
    }
}

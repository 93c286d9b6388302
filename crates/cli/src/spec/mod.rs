//! `omnilink spec`: specifications on their own, without a history.

mod actions;
mod behavior;
mod check;
mod eval;
mod explain;
pub(crate) mod list;
mod show;
mod simulate;
mod visit;

use omnilink_judge::Complaint;
use serde_json::json;

use crate::args::{Output, SpecCommand};
use crate::exit::Exit;
use crate::terminal::print_complaints;

pub(crate) fn run(command: &SpecCommand) -> Exit {
    match command {
        SpecCommand::Check(args) => check::run(args),
        SpecCommand::Simulate(args) => simulate::run(args),
        SpecCommand::Actions(args) => actions::run(args),
        SpecCommand::Eval(args) => eval::run(args),
        SpecCommand::List { name } => list::run(name.as_deref()),
        SpecCommand::Levels => list::levels(),
    }
}

/// Reports that the specification cannot be run.
fn refuse(schema: &str, complaints: &[Complaint], format: Output) -> Exit {
    match format {
        Output::Human => print_complaints(complaints),
        Output::Json => {
            let errors: Vec<_> = complaints.iter().map(Complaint::json).collect();
            let document = json!({ "schema": schema, "verdict": "wrong", "errors": errors });
            outln!("{document:#}");
        }
    }
    Exit::Wrong
}

/// The destination of a specification's output: standard error if standard output is for a document.
fn printer(is_quiet: bool) -> fn(&str) {
    if is_quiet { |line| errln!("{line}") } else { |line| outln!("{line}") }
}

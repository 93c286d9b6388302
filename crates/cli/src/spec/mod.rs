//! `omnilink spec`: TLA+ specifications on their own, without a history.

mod actions;
pub(crate) mod args;
mod check;
pub(crate) mod complaint;
mod eval;
mod explain;
pub(crate) mod guard;
pub(crate) mod load;
mod show;
pub(crate) mod world;

use args::SpecCommand;
use complaint::Complaint;
use serde_json::json;

use crate::args::Output;
use crate::exit::Exit;

pub(crate) fn run(command: &SpecCommand) -> Exit {
    match command {
        SpecCommand::Check(args) => check::run(args),
        SpecCommand::Actions(args) => actions::run(args),
        SpecCommand::Eval(args) => eval::run(args),
    }
}

/// Reports that there is nothing that could be run.
fn refuse(schema: &str, complaints: &[Complaint], format: Output) -> Exit {
    match format {
        Output::Human => complaint::print(complaints),
        Output::Json => {
            let errors: Vec<_> = complaints.iter().map(Complaint::json).collect();
            let document = json!({ "schema": schema, "verdict": "wrong", "errors": errors });
            anstream::println!("{document:#}");
        }
    }
    Exit::Wrong
}

//! `omnilink spec eval`: what an expression is.

use serde_json::json;
use tla::datum::display;
use tla::machine::Machine;
use tla::program::Options;

use super::args::EvalArgs;
use super::complaint::Complaint;
use super::load::{load, load_expression};
use super::world::Outside;
use super::{complaint, refuse};
use crate::args::Output;
use crate::exit::Exit;

const SCHEMA: &str = "omnilink.spec-eval/1";

pub(crate) fn run(args: &EvalArgs) -> Exit {
    let format = args.around.format;
    let options = Options { skip_properties: true, without_behavior: true };
    let loaded = match (&args.file, &args.alone) {
        (Some(file), _) => load(file, &args.around, options, args.expression.as_deref()),
        (None, alone) => load_expression(alone.as_deref().unwrap_or_default(), &args.extends),
    };
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(complaints) => return refuse(SCHEMA, &complaints, format),
    };
    let Some(expression) = loaded.expression else {
        return refuse(SCHEMA, &[Complaint::new("there is no expression to evaluate")], format);
    };
    let mut machine = Machine::new(&loaded.program, Box::new(Outside::new(format == Output::Json, 1)));
    match machine.evaluate_definition(expression, None) {
        Ok(datum) => {
            let value = display(&mut machine, &datum);
            match format {
                Output::Human => {
                    complaint::print(&loaded.warnings);
                    anstream::println!("{value}");
                }
                Output::Json => {
                    let warnings: Vec<_> = loaded.warnings.iter().map(Complaint::json).collect();
                    let document = json!({ "schema": SCHEMA, "value": value, "warnings": warnings });
                    anstream::println!("{document:#}");
                }
            }
            Exit::Accepted
        }
        Err(error) => refuse(SCHEMA, &[Complaint::of_evaluation(&loaded.program, &error)], format),
    }
}

//! `omnilink spec eval`: evaluates an expression.

use std::path::Path;

use omnilink_judge::load::{Parts, load, load_expression, read};
use omnilink_judge::{Complaint, HostWorld};
use omnilink_tla::datum::print_or_display;
use omnilink_tla::error::EvalError;
use omnilink_tla::ir::DefId;
use omnilink_tla::machine::Machine;
use omnilink_tla::program::LinkOptions;
use omnilink_tla::resolve::intern_expressions;
use serde_json::json;

use super::{printer, refuse};
use crate::args::{EvalArgs, Output};
use crate::exit::Exit;
use crate::terminal::print_complaints;

const SCHEMA: &str = "omnilink.spec-eval/1";

const OPTIONS: LinkOptions = LinkOptions { skip_properties: true, skip_liveness: true, without_behavior: true };

pub(crate) fn run(args: &EvalArgs) -> Exit {
    let format = args.format;
    if let (Some(file), Some(lines)) = (&args.file, &args.lines) {
        return match evaluate_lines(file, lines, args) {
            Ok(()) => Exit::Accepted,
            Err(complaints) => refuse(SCHEMA, &complaints, format),
        };
    }
    let loaded = match (&args.file, &args.alone) {
        (Some(file), _) => {
            let expressions: Vec<&str> = args.expression.as_deref().into_iter().collect();
            load(file, &args.around.around(), OPTIONS, &expressions)
        }
        (None, alone) => load_expression(alone.as_deref().unwrap_or_default(), &args.extends),
    };
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(complaints) => return refuse(SCHEMA, &complaints, format),
    };
    let Some(&expression) = loaded.expressions.first() else {
        return refuse(SCHEMA, &[Complaint::new("no expression given")], format);
    };
    let mut machine = Machine::new(&loaded.program, Box::new(HostWorld::new(printer(format == Output::Json))));
    match evaluate(&mut machine, expression) {
        Ok(value) => {
            match format {
                Output::Human => {
                    print_complaints(&loaded.warnings);
                    outln!("{value}");
                }
                Output::Json => {
                    let warnings: Vec<_> = loaded.warnings.iter().map(Complaint::json).collect();
                    let document = json!({ "schema": SCHEMA, "value": value, "warnings": warnings });
                    outln!("{document:#}");
                }
            }
            Exit::Accepted
        }
        Err(error) => refuse(SCHEMA, &[Complaint::of_evaluation(&loaded.program, &error)], format),
    }
}

/// Evaluates each line of a file in the context of a module. Strings are ordered as in a module that has all these
/// lines; apart from that, lines are independent.
fn evaluate_lines(file: &Path, lines: &Path, args: &EvalArgs) -> Result<(), Vec<Complaint>> {
    let mut parts = Parts::read(file, &args.around.around())?;
    let text = read(lines).map_err(|complaint| vec![complaint])?;
    let lines: Vec<&str> = text.lines().collect();
    intern_expressions(&mut parts.module, &lines);
    // An error without any line would be an error with every line.
    parts.clone().link(OPTIONS, &[])?;
    for line in lines {
        let answer = evaluate_line(parts.clone(), line, args.format);
        match (args.format, answer) {
            (Output::Human, Ok(value)) => outln!("{value}"),
            (Output::Human, Err((_, message))) => outln!("error: {message}"),
            (Output::Json, Ok(value)) => outln!("{}", json!({ "value": value })),
            (Output::Json, Err((kind, message))) => {
                outln!("{}", json!({ "error": kind, "message": message }));
            }
        }
    }
    Ok(())
}

/// The value of a line, or the kind and message of its error.
fn evaluate_line(parts: Parts, line: &str, format: Output) -> Result<String, (String, String)> {
    let wrong = |complaints: Vec<Complaint>| {
        let messages: Vec<_> = complaints.iter().map(|complaint| complaint.message.as_str()).collect();
        ("Syntax".to_owned(), messages.join("; "))
    };
    let loaded = parts.link(OPTIONS, &[line]).map_err(wrong)?;
    let expression = loaded.expressions[0];
    let mut machine = Machine::new(&loaded.program, Box::new(HostWorld::new(printer(format == Output::Json))));
    evaluate(&mut machine, expression).map_err(|error| (format!("{:?}", error.kind), error.message.clone()))
}

/// The text of a value.
fn evaluate(machine: &mut Machine<'_>, expression: DefId) -> Result<String, Box<EvalError>> {
    let datum = machine.evaluate_definition(expression, None)?;
    print_or_display(machine, &datum)
}

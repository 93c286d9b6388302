//! Next-state relations and the successors of `x = 0, y = 0`.

use omnilink_tla::error::ErrorKind;

use crate::common::{machine, program};
use crate::{compare, rows};

/// Where we differ from TLC, and why.
const DIFFERENCES: &[(&str, &str)] = &[];

fn successors(next: &str) -> String {
    let text = format!(
        "---- MODULE M ----\nEXTENDS Naturals, Integers, Sequences, FiniteSets, TLC\nVARIABLES x, y\n\
         Init == x = 0 /\\ y = 0\nNext == {next}\n====\n"
    );
    let program = match program(&text, "INIT Init NEXT Next") {
        Ok(program) => program,
        Err(error) => return format!("ERR {error}"),
    };
    let mut machine = machine(&program);
    let (mut initial, mut successors) = (Vec::new(), Vec::new());
    machine.initial_states(&mut initial).expect("Init can be evaluated");
    match machine.successors(&initial[0], &mut successors) {
        Err(error) if error.kind == ErrorKind::Unassigned && error.message.contains("next state") => {
            format!("INCOMPLETE {}", error.message)
        }
        Err(error) => format!("ERR {error}"),
        Ok(()) => {
            let strings = &program.module.strings;
            let shown = successors.iter().map(|state| {
                format!(" {{/\\ x = {} /\\ y = {}}}", state[0].display(strings), state[1].display(strings))
            });
            format!("{} succ:{}", successors.len(), shown.collect::<String>())
        }
    }
}

#[test]
fn successors_are_those_of_tlc() {
    let rows: Vec<_> = rows("recorded-actions.tsv")
        .into_iter()
        .map(|(next, answer)| {
            // TLC returns incomplete states and complains later; we name the missing variables at once.
            let answer = match answer.contains("INCOMPLETE") {
                true => format!("INCOMPLETE {}", missing(&answer)),
                false => answer.split(" [WARN").next().unwrap_or(&answer).trim().to_owned(),
            };
            (next, answer)
        })
        .collect();
    compare(&rows, DIFFERENCES, successors);
}

/// Our message for an incomplete state of TLC.
fn missing(answer: &str) -> String {
    let names: Vec<_> = ["x", "y"].into_iter().filter(|name| answer.contains(&format!("{name} = null"))).collect();
    format!("the next state has no value for `{}`", names.join("`, `"))
}

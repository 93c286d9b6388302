//! States, values and texts of a specification, as reports show them.

use omnilink_report::Field;
use omnilink_tla::ir::Variable;
use omnilink_tla::machine::State;
use omnilink_tla::program::Program;
use omnilink_tla::source::Site;
use omnilink_tla::value::Value;

/// A state as reports show it.
pub fn shown_state(program: &Program, state: &State) -> omnilink_report::State {
    let variables = program.module.variables.iter().zip(state.iter());
    let field =
        |(variable, value): (&Variable, &Value)| Field { name: variable.name.clone(), value: shown(program, value) };
    omnilink_report::State::new(variables.map(field).collect())
}

/// A value as printed.
pub(crate) fn shown(program: &Program, value: &Value) -> String {
    value.display(&program.module.strings).to_string()
}

/// The source text at a site, on one line.
pub(crate) fn words(program: &Program, site: Site) -> String {
    program.module.sources.words(site).split_whitespace().collect::<Vec<_>>().join(" ")
}

//! The result of checking a specification, for people and for programs.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use omnilink_judge::Complaint;
use omnilink_suggest::counted;
use omnilink_tla::machine::{Label, Machine, State};
use omnilink_tla::program::{Program, Property};
use omnilink_tla::reach::{During, Limit, TraceStep, Verdict, shown};
use omnilink_tla::value::Value;
use serde_json::json;

use super::visit::Outcome;

/// Prints a result for people.
pub(super) fn human(outcome: &Outcome<'_>, machine: &mut Machine<'_>) {
    let bold = Style::new().bold();
    let color = match outcome.found.verdict {
        Verdict::Holds { .. } if !outcome.is_empty() => AnsiColor::Green,
        Verdict::Holds { .. } | Verdict::Stopped { .. } => AnsiColor::Yellow,
        _ => AnsiColor::Red,
    }
    .on_default();
    let claims = if word(outcome) == outcome.way.passed { format!(": {}", claims(outcome)) } else { String::new() };
    outln!("{bold}{}{bold:#}: {color}{}{color:#}{claims}", outcome.label, word(outcome));
    if let Some(reason) = reason(outcome) {
        outln!("  {reason}");
    }
    if let Some(trace) = trace(&outcome.found.verdict) {
        out!("{}", trace_text(outcome.program, machine, trace));
    }
    if let Some(explanation) = &outcome.explanation {
        outln!("  {bold}{}{bold:#}:", explanation.title);
        for line in &explanation.lines {
            outln!("    {line}");
        }
    }
    if let Verdict::Error { error, .. } = &outcome.found.verdict {
        errln!("{}", Complaint::of_evaluation(outcome.program, error).render());
    }
    for line in (outcome.found.counts)(outcome.elapsed) {
        outln!("  {line}");
    }
}

fn word(outcome: &Outcome<'_>) -> &'static str {
    match outcome.found.verdict {
        Verdict::Holds { .. } if outcome.is_empty() => "empty",
        Verdict::Holds { .. } => outcome.way.passed,
        Verdict::AssumptionFalse(_)
        | Verdict::Violated { .. }
        | Verdict::PropertyViolated { .. }
        | Verdict::PostconditionFalse(_) => "violated",
        Verdict::Deadlock { .. } => "deadlock",
        Verdict::Error { .. } => "error",
        Verdict::Stopped { .. } => "inconclusive",
    }
}

/// The formulas that were checked: `TypeOK, Safe; no deadlock`.
fn claims(outcome: &Outcome<'_>) -> String {
    let program = outcome.program;
    let assumptions = match program.module.assumptions.len() {
        0 => "nothing to check".to_owned(),
        many => counted(many as u64, "assumption"),
    };
    let names = names(program).join(", ");
    match (program.init.is_some(), names.is_empty(), program.check_deadlock) {
        (false, true, _) => assumptions,
        (false, false, _) => format!("{assumptions}; {names}"),
        (true, true, true) => "no deadlock; no invariant or property is given".to_owned(),
        (true, true, false) => "no evaluation error; no invariant or property is given".to_owned(),
        (true, false, true) => format!("{names}; no deadlock"),
        (true, false, false) => names,
    }
}

/// The names of the invariants, properties and postconditions. A property may be in several parts.
fn names(program: &Program) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let properties = program.properties.iter().map(|(name, _)| name);
    let all = program.invariants.iter().map(|(name, _)| name).chain(properties);
    for name in all.chain(program.postconditions.iter().map(|(name, _)| name)) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// The text beside the word.
fn reason(outcome: &Outcome<'_>) -> Option<String> {
    let program = outcome.program;
    let assumption = |index: usize| match &program.module.assumptions[index] {
        (Some(name), _) => format!("the assumption `{name}`"),
        (None, expr) => {
            let at = program.module.sources.start(program.module.exprs.site(*expr));
            let path = &program.module.sources.get(program.module.exprs.site(*expr).source).name;
            format!("the assumption at {path}:{}:{}", at.line, at.column)
        }
    };
    let invariant = |index: usize| format!("the invariant `{}`", program.invariants[index].0);
    let property = |index: usize| format!("the property `{}`", program.properties[index].0);
    let postcondition = |index: usize| format!("the postcondition `{}`", program.postconditions[index].0);
    Some(match &outcome.found.verdict {
        Verdict::Holds { .. } if outcome.is_empty() => match (outcome.found.generated, &*program.constraints) {
            (0, _) => "no state satisfies the initial predicate: nothing was checked".into(),
            (_, [(name, _)]) => format!("the constraint `{name}` excludes every initial state: no step was checked"),
            _ => "the constraints exclude every initial state: no step was checked".into(),
        },
        Verdict::Holds { is_cut_short: false } => return None,
        Verdict::Holds { is_cut_short: true } => {
            "the specification asked to stop before all states were visited".into()
        }
        Verdict::AssumptionFalse(index) => format!("{} is false", assumption(*index)),
        Verdict::Violated { invariant: index, trace } => {
            format!("{} is false in state {}", invariant(*index), trace.len())
        }
        Verdict::PropertyViolated { property: index, trace } => match program.properties[*index].1 {
            Property::Initial(_) => format!("{} is false of the initial state", property(*index)),
            Property::Step(_) => format!("{} is false of the step to state {}", property(*index), trace.len()),
            Property::Promise { .. } => format!("{} is false from state {} on", property(*index), trace.len()),
        },
        Verdict::Deadlock { trace } => format!("state {} has no successor", trace.len()),
        Verdict::PostconditionFalse(index) => format!("{} is false", postcondition(*index)),
        Verdict::Error { during, trace, .. } => {
            let what = match during {
                During::Assumption(index) => assumption(*index),
                During::Symmetry => "the symmetry".into(),
                During::Search if trace.is_empty() => "the initial states".into(),
                During::Search => "the successors".into(),
                During::Invariant(index) => invariant(*index),
                During::Property(index) => property(*index),
                During::Postcondition(index) => postcondition(*index),
                During::Goal => "the predicate of `--until`".into(),
            };
            let at = match trace.len() {
                0 => String::new(),
                count if matches!(during, During::Goal) => format!(" in state {count}"),
                count => format!(" of state {count}"),
            };
            format!("{what}{at} could not be computed")
        }
        Verdict::Stopped { limit, path } => {
            let limit = match limit {
                Limit::States => "stopped: the limit on states was reached",
                Limit::Time => "stopped: the time is up",
                Limit::Memory => "stopped: the limit on memory was reached",
                Limit::Interrupt => "stopped: interrupted",
            };
            format!("{limit}{}", growth(program, path))
        }
    })
}

/// A path with fewer states says little about a variable that grows.
const LONG_PATH: usize = 8;

/// The variables that have another value in every state of a path: the states may be infinitely many.
fn growth(program: &Program, path: &[State]) -> String {
    if path.len() < LONG_PATH {
        return String::new();
    }
    let is_new_each_time = |variable: usize| {
        let mut values: Vec<&Value> = path.iter().map(|state| &state[variable]).collect();
        values.sort_unstable();
        values.windows(2).all(|pair| pair[0] != pair[1])
    };
    let variables = program.module.variables.iter().enumerate();
    let growing: Vec<String> = variables
        .filter(|(variable, _)| is_new_each_time(*variable))
        .map(|(_, variable)| format!("`{}`", variable.name))
        .collect();
    match growing.len() {
        0 => String::new(),
        1 => format!("; {} has a new value at each of {} depths: a CONSTRAINT can bound it", growing[0], path.len()),
        _ => format!(
            "; {} have new values at each of {} depths: a CONSTRAINT can bound them",
            growing.join(", "),
            path.len()
        ),
    }
}

/// The behavior of a verdict, if it has one.
pub(super) fn trace(verdict: &Verdict) -> Option<&[TraceStep<Label, State>]> {
    match verdict {
        Verdict::Violated { trace, .. }
        | Verdict::PropertyViolated { trace, .. }
        | Verdict::Deadlock { trace }
        | Verdict::Error { trace, .. } => Some(trace),
        _ => None,
    }
}

/// The states one after another, each with the step that led to it; changes are marked.
fn trace_text(program: &Program, machine: &mut Machine<'_>, trace: &[TraceStep<Label, State>]) -> String {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let strings = &program.module.strings;
    let mut out = String::new();
    let mut before: Vec<(String, Value)> = Vec::new();
    for (index, step) in trace.iter().enumerate() {
        let how = match &step.label {
            _ if index == 0 => "initial".into(),
            Some(label) => label_text(program, label),
            None => "next".into(),
        };
        let _ = writeln!(out, "  {bold}state {}{bold:#}: {how}", index + 1);
        let variables = shown(machine, &step.state);
        for (place, (name, value)) in variables.iter().enumerate() {
            let value_text = value.display(strings);
            let is_changed = before.get(place).is_some_and(|(_, was)| was != value);
            let _ = if is_changed {
                writeln!(out, "  {bold}+ {name} = {value_text}{bold:#}")
            } else if index == 0 {
                writeln!(out, "    {name} = {value_text}")
            } else {
                writeln!(out, "    {dim}{name} = {value_text}{dim:#}")
            };
        }
        before = variables;
    }
    out
}

/// `Send(p = 1) at Spec.tla:3:1`
fn label_text(program: &Program, label: &Label) -> String {
    let strings = &program.module.strings;
    let args: Vec<String> =
        label.args.iter().map(|(name, value)| format!("{name} = {}", value.display(strings))).collect();
    let args = if args.is_empty() { String::new() } else { format!("({})", args.join(", ")) };
    let at = program.module.sources.start(label.site);
    format!("{}{args} at {}:{}:{}", label.name, program.module.sources.get(label.site.source).name, at.line, at.column)
}

/// Prints a result as a JSON document.
pub(super) fn json(outcome: &Outcome<'_>, machine: &mut Machine<'_>) {
    let program = outcome.program;
    let error = match &outcome.found.verdict {
        Verdict::Error { error, .. } => vec![Complaint::of_evaluation(program, error).json()],
        _ => Vec::new(),
    };
    let invariant = match &outcome.found.verdict {
        Verdict::Violated { invariant, .. } => Some(&program.invariants[*invariant].0),
        _ => None,
    };
    let property = match &outcome.found.verdict {
        Verdict::PropertyViolated { property, .. } => Some(&program.properties[*property].0),
        _ => None,
    };
    let states = trace(&outcome.found.verdict)
        .map(|trace| trace.iter().map(|step| step_json(program, machine, step)).collect::<Vec<_>>());
    let document = json!({
        "schema": outcome.way.schema,
        "spec": outcome.label,
        "verdict": word(outcome),
        "checked": { "names": names(program), "deadlock": program.init.is_some() && program.check_deadlock },
        "reason": reason(outcome),
        "invariant": invariant,
        "property": property,
        "trace": states,
        "explanation": outcome.explanation.as_ref().map(|explanation| &explanation.lines),
        "stats": outcome.found.stats,
        "fairness_ignored": program.has_fairness,
        "milliseconds": outcome.elapsed.as_secs_f64() * 1e3,
        "errors": error,
        "warnings": outcome.warnings.iter().map(Complaint::json).collect::<Vec<_>>(),
    });
    outln!("{document:#}");
}

fn step_json(program: &Program, machine: &mut Machine<'_>, step: &TraceStep<Label, State>) -> serde_json::Value {
    let strings = &program.module.strings;
    let text = |(name, value): &(String, Value)| (name.clone(), json!(value.display(strings).to_string()));
    let action = step.label.as_ref().map(|label| {
        let at = program.module.sources.start(label.site);
        json!({
            "name": label.name,
            "args": label.args.iter().map(text).collect::<serde_json::Map<_, _>>(),
            "path": program.module.sources.get(label.site.source).name,
            "line": at.line,
            "column": at.column,
        })
    });
    let state: serde_json::Map<_, _> = shown(machine, &step.state).iter().map(text).collect();
    json!({ "action": action, "state": state })
}

//! The false parts of an action, side by side for several states.

use omnilink_report::{Conjunct, Evaluated, Field, Guard};
use omnilink_tla::machine::{Attempt, Choice, Part, PartOutcome};
use omnilink_tla::program::Program;
use omnilink_tla::source::Site;

use super::builder::ReportBuilder;
use crate::show::{shown, words};

/// The ways through an action, none of which leads to a state.
pub struct Ways {
    /// The action.
    pub action: String,
    /// Where it is defined.
    pub site: Site,
    /// The number of ways.
    pub count: usize,
    /// The one that got furthest.
    pub furthest: Attempt,
}

/// Turns ways through an action into the words of a report.
pub struct GuardBuilder<'a> {
    /// The program.
    pub program: &'a Program,
    /// Collects the texts that are mentioned.
    pub report_builder: &'a mut ReportBuilder,
}

impl GuardBuilder<'_> {
    /// The same conjuncts in several states, side by side.
    pub fn guard(&mut self, states: &[Ways]) -> Guard {
        let program = self.program;
        let first = &states[0];
        let bindings = first.furthest.choices.iter().filter_map(|choice| match choice {
            Choice::Binding { values, .. } => Some(values),
            Choice::Disjunct(_) => None,
        });
        let field = |(name, value): &(String, _)| Field { name: name.clone(), value: shown(program, value) };
        let choices = bindings.flatten().map(field).collect();
        let mut conjuncts = Vec::new();
        for (index, part) in first.furthest.conjuncts.iter().enumerate() {
            let parts: Vec<&Part> = states.iter().filter_map(|ways| ways.furthest.conjuncts.get(index)).collect();
            let is_same = |other: &&Part| other.site == part.site;
            if parts.len() == states.len() && parts.iter().all(is_same) {
                conjuncts.push(self.conjunct(&parts));
            }
        }
        let span = self.report_builder.span(first.site);
        Guard { action: first.action.clone(), span, ways: first.count, choices, conjuncts }
    }

    /// One conjunct, with its outcomes in several states.
    pub fn conjunct(&mut self, parts: &[&Part]) -> Conjunct {
        let program = self.program;
        // An inner false part says more than the outer part that it makes false.
        let inner: Vec<&Part> = parts.iter().map(|part| culprit(part)).collect();
        let leaves = if inner.iter().all(|leaf| leaf.site == inner[0].site) { inner } else { parts.to_vec() };
        let outcomes = parts.iter().map(|part| outcome(part)).collect();
        let mut values: Vec<Evaluated> = Vec::new();
        for (index, leaf) in leaves.iter().enumerate() {
            for (text, value) in self.values(leaf) {
                let place = values.iter().position(|known| known.text == text).unwrap_or_else(|| {
                    values.push(Evaluated { text, values: vec![None; leaves.len()] });
                    values.len() - 1
                });
                values[place].values[index] = Some(value);
            }
        }
        // The deciding expression may be elsewhere; the reader looks at the condition.
        let site = if matches!(parts[0].outcome, PartOutcome::Chose(_)) { parts[0].site } else { leaves[0].site };
        Conjunct { span: self.report_builder.span(site), text: words(program, site), outcomes, values }
    }

    /// The values that a part compares, and those of the names bound around it.
    fn values(&self, part: &Part) -> Vec<(String, String)> {
        let program = self.program;
        let bound = part.bindings.iter().map(|(name, value)| (name.clone(), shown(program, value)));
        let mut values: Vec<(String, String)> = bound.collect();
        for part in &part.parts {
            let text = words(program, part.site);
            let value = match &part.outcome {
                PartOutcome::Value(value) => shown(program, value),
                PartOutcome::Lazy(text) => text.clone(),
                PartOutcome::Truth(truth) => if *truth { "TRUE" } else { "FALSE" }.to_owned(),
                PartOutcome::Chose(_) | PartOutcome::Assigned(..) | PartOutcome::Error(_) | PartOutcome::NotReached => {
                    continue;
                }
            };
            // A literal carries no information, and neither does a value that another part shows.
            if value != text && !values.iter().any(|(known, _)| *known == text) {
                values.push((text, value));
            }
        }
        values
    }
}

/// The innermost part that makes a part false, or decides a condition, if it is the only one.
fn culprit(part: &Part) -> &Part {
    let truth = match part.outcome {
        PartOutcome::Truth(false) | PartOutcome::Chose(false) => false,
        PartOutcome::Chose(true) => true,
        _ => return part,
    };
    let mut innermost = part;
    loop {
        let is_same = |part: &&Part| matches!(part.outcome, PartOutcome::Truth(other) if other == truth);
        let mut inside = innermost.parts.iter().filter(is_same);
        match (inside.next(), inside.next()) {
            (Some(one), None) if !one.parts.is_empty() => innermost = one,
            _ => return innermost,
        }
    }
}

pub(crate) fn outcome(part: &Part) -> omnilink_report::Outcome {
    match &part.outcome {
        PartOutcome::Truth(false) => omnilink_report::Outcome::False,
        PartOutcome::Chose(truth) => omnilink_report::Outcome::Chose(*truth),
        PartOutcome::Error(error) => omnilink_report::Outcome::Error(error.message.clone()),
        PartOutcome::NotReached => omnilink_report::Outcome::NotReached,
        PartOutcome::Truth(true) | PartOutcome::Assigned(..) | PartOutcome::Value(_) | PartOutcome::Lazy(_) => {
            omnilink_report::Outcome::True
        }
    }
}

//! Explains a verdict: the formula broken down, or what disables each action.

use omnilink_tla::machine::{self, Machine, State};
use omnilink_tla::program::Property;
use omnilink_tla::reach::Verdict;

/// Text under a title.
pub(super) struct Explanation {
    pub(super) title: String,
    pub(super) lines: Vec<String>,
}

/// The maximum number of ways through the next-state relation shown; the others got no further.
const SHOWN: usize = 6;

/// Breaks down the false expression. `None` if the verdict says everything.
pub(super) fn explain(machine: &mut Machine<'_>, verdict: &Verdict) -> Option<Explanation> {
    let program = machine.program();
    let module = &program.module;
    let lines = |text: String| text.lines().map(str::to_owned).collect();
    match verdict {
        Verdict::Violated { invariant, trace } => {
            let (name, predicate) = &program.invariants[*invariant];
            let part = machine.explain_predicate(*predicate, &trace.last()?.state);
            let title = format!("why `{name}` is false in state {}", trace.len());
            Some(Explanation { title, lines: lines(part.text(module)) })
        }
        Verdict::PropertyViolated { property, trace } => {
            let (name, property) = &program.properties[*property];
            let last = &trace.last()?.state;
            let (title, text) = match property {
                Property::Initial(predicate) => {
                    let part = machine.explain_predicate(*predicate, last);
                    (format!("why `{name}` is false of the initial state"), lines(part.text(module)))
                }
                Property::Step(action) => {
                    let before = &trace.get(trace.len().checked_sub(2)?)?.state;
                    let explanation = machine.explain_step(*action, before, last);
                    let title = format!("why `{name}` is false of the step to state {}", trace.len());
                    (title, ways(machine, &explanation))
                }
                // It depends on the progress of the search at that time.
                Property::Promise { .. } => return None,
            };
            Some(Explanation { title, lines: text })
        }
        Verdict::AssumptionFalse(index) => {
            // An assumption is about constants only, so any state will do.
            let part = machine.explain_predicate(module.assumptions[*index].1, &State::from([]));
            Some(Explanation { title: "why it is false".into(), lines: lines(part.text(module)) })
        }
        Verdict::Deadlock { trace } => {
            let explanation = machine.explain(program.next?, &trace.last()?.state);
            let title = format!("why nothing is enabled in state {}", trace.len());
            Some(Explanation { title, lines: ways(machine, &explanation) })
        }
        _ => None,
    }
}

/// The ways through an action that got furthest.
fn ways(machine: &Machine<'_>, explanation: &machine::Explanation) -> Vec<String> {
    let module = &machine.program().module;
    let ways = explanation.furthest_of_each();
    let text: String = ways.iter().take(SHOWN).map(|way| way.text(module)).collect();
    let mut all: Vec<String> = text.lines().map(str::to_owned).collect();
    if ways.len() > SHOWN {
        all.push(format!("and {} more that got no further", ways.len() - SHOWN));
    }
    all
}

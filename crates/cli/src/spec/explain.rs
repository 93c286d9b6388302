//! Explains a verdict: the invariant broken down, or what disables each action.

use tla::machine::{Machine, State};
use tla::reach::Verdict;

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
        Verdict::AssumptionFalse(index) => {
            // An assumption is about constants only, so any state will do.
            let part = machine.explain_predicate(module.assumptions[*index].1, &State::from([]));
            Some(Explanation { title: "why it is false".into(), lines: lines(part.text(module)) })
        }
        Verdict::Deadlock { trace } => {
            let explanation = machine.explain(program.next?, &trace.last()?.state);
            let ways = explanation.furthest_of_each();
            let mut all: Vec<String> =
                ways.iter().take(SHOWN).flat_map(|way| lines(way.text(module))).collect::<Vec<String>>();
            if ways.len() > SHOWN {
                all.push(format!("and {} more that got no further", ways.len() - SHOWN));
            }
            Some(Explanation { title: format!("why nothing is enabled in state {}", trace.len()), lines: all })
        }
        _ => None,
    }
}

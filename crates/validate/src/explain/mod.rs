//! Why a history has no explanation, as data for people and programs.
//!
//! Nothing here is on the way to a verdict. The search hands over the configurations that are stuck, tens of them, and
//! everything else is computed from those: why each operation in flight cannot be next in each of them, which results
//! would have been allowed, when the operation would have been allowed as it is, and what the verdict would be if. Each
//! of the last is checked for real, from a *cut*: a point shortly before the failure at which all configurations have
//! placed the same operations, so that the rest of the history and the states possible there say all there is to say.

mod expected;
mod legal;
mod reasons;
mod tell;
mod what_if;
mod window;

use history::{History, OpId};
use report::{Legal, Rejection, Violation};
use search::{Explanation, Options, Strategy, Watch};
use tla::machine::State;

use crate::bind::TraceOp;
use crate::check::{Checkpoint, NoAnswer};
use crate::cut::Cuts;
use crate::spec::{TraceSpec, TraceState};
pub(crate) use tell::shown_state;
pub use tell::{Teller, operation};

/// What an explanation is made from.
pub(crate) struct Explainer<'a, 'p> {
    spec: &'a TraceSpec<'p>,
    history: &'a History<TraceOp>,
    options: &'a Options,
    teller: &'a mut Teller,
}

/// Explains why no order of the operations is allowed.
pub fn explain(
    spec: &TraceSpec<'_>,
    history: &History<TraceOp>,
    options: &Options,
    stuck: &Explanation<TraceState>,
    checkpoint: &Checkpoint,
    watch: &mut dyn Watch,
    teller: &mut Teller,
) -> Rejection {
    let mut explainer = Explainer { spec, history, options, teller };
    let goal = stuck.goal;
    let blocked = goal.map(|goal| explainer.teller.op(goal));
    let states = explainer.states(stuck);
    let interpretations = explainer.interpretations(stuck, &states);
    let mut reasons = explainer.reasons(stuck, &states);
    reasons.sort_by_key(|reason| (Some(reason.op) != blocked, reason.op));
    let (mut expected, mut legal, mut what_ifs, mut window) = (Default::default(), Legal::Unknown, Vec::new(), None);
    // Whatever is assumed from here on may be what the specification cannot evaluate. The verdict stands all the same.
    let looks_further = options.strategy == Strategy::JustInTime && spec.assumed.is_empty();
    if let Some(goal) = goal.filter(|_| looks_further)
        && let Ok(from) = checkpoint.before(spec, history, goal)
        && let Ok(cuts) = Cuts::before(&from, spec, history, goal, options, watch)
    {
        expected = explainer.expected(goal, &cuts, &states, watch);
        legal = explainer.legal(goal, &cuts, watch).unwrap_or(Legal::Unknown);
        what_ifs = explainer.what_ifs(goal, &cuts, &expected.allowed, watch);
        window = explainer.window(goal, &cuts, watch).unwrap_or_default();
    }
    let expected::Expected { allowed, is_cut_off } = expected;
    let named = allowed.iter().map(|args| explainer.named_results(goal, args)).collect();
    let sentence = explainer.sentence(goal, stuck.explained);
    let states = states.iter().map(|state| spec.show(state)).collect();
    Rejection {
        sentence,
        blocked,
        explained: stuck.explained,
        states,
        interpretations,
        reasons,
        expected: named,
        expects_more: is_cut_off,
        legal,
        what_ifs,
        window,
    }
}

/// Explains which invariant every order that the actions allow makes false.
pub fn explain_violation(
    spec: &TraceSpec<'_>,
    history: &History<TraceOp>,
    options: &Options,
    stuck: &Explanation<TraceState>,
    teller: &mut Teller,
) -> Result<Option<Violation>, NoAnswer> {
    Explainer { spec, history, options, teller }.violation(stuck)
}

impl Explainer<'_, '_> {
    /// The different states of the stuck configurations, in order.
    fn states(&self, stuck: &Explanation<TraceState>) -> Vec<State> {
        let mut states: Vec<State> = Vec::new();
        for stuck in &stuck.stuck {
            if !states.contains(&stuck.state.values) {
                states.push(stuck.state.values.clone());
            }
        }
        states
    }

    fn interpretations(&mut self, stuck: &Explanation<TraceState>, states: &[State]) -> Vec<report::Interpretation> {
        let mut all: Vec<report::Interpretation> = Vec::new();
        for stuck in &stuck.stuck {
            let step = |step: &search::Placed| report::Step { op: self.teller.op(step.op), partway: step.partway };
            let recent = stuck.recent.iter().map(step).collect();
            all.push(report::Interpretation { state: place(states, &stuck.state.values), recent });
        }
        all
    }

    fn sentence(&mut self, goal: Option<OpId>, explained: u64) -> String {
        match goal {
            Some(goal) => {
                let name = self.teller.words(goal);
                format!("{name} is not allowed in any state that explains the operations before it")
            }
            None => format!("no order places more than {explained} of the operations"),
        }
    }
}

/// The place of a state among those that are shown.
fn place(states: &[State], state: &State) -> usize {
    states.iter().position(|known| known == state).unwrap_or_default()
}

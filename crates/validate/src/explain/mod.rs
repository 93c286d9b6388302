//! Why a history has no explanation, as data for people and programs.
//!
//! Nothing here influences a verdict. The search provides the stuck configurations, usually tens of them. From these
//! follow the reason why each operation in flight cannot be next in each configuration, the results that would have
//! been legal, the times at which the operation would have been legal as recorded, and the verdicts under changed
//! assumptions. Each such claim is checked by a search from a *cut*: a point shortly before the failure at which all
//! configurations have placed the same operations, so that the states possible there and the rest of the history
//! determine the answer.

mod builder;
mod expected;
mod guard;
mod legal;
mod reasons;
mod what_if;
mod window;

use hashbrown::HashMap;
use omnilink_history::History;
use omnilink_report::{Evidence, Legal, OpRef, Rejection, Stuck};
use omnilink_search::{Explanation, Options, Watch};
use omnilink_tla::machine::State;
use omnilink_tla::value::Value;
use rustc_hash::FxBuildHasher;

use crate::bind::TraceOp;
use crate::check::Checkpoint;
use crate::cut::{Cut, Cuts};
use crate::fault::Broken;
use crate::spec::{TraceSpec, TraceState};
pub use builder::ReportBuilder;
pub use guard::{GuardBuilder, Ways};

/// The inputs of an explanation.
pub(crate) struct Explainer<'a, 'p> {
    spec: &'a TraceSpec<'p>,
    history: &'a History<TraceOp>,
    options: &'a Options,
    report_builder: &'a mut ReportBuilder,
}

/// Explains why no order of the operations is legal.
pub fn explain(
    spec: &TraceSpec<'_>,
    history: &History<TraceOp>,
    options: &Options,
    stuck: &Explanation<TraceState>,
    checkpoint: &Checkpoint,
    watch: &dyn Watch,
    report_builder: &mut ReportBuilder,
) -> Rejection {
    let mut explainer = Explainer { spec, history, options, report_builder };
    let (goal, stuck) = (stuck.blocked.first().copied(), &few(stuck));
    let blocked: Vec<OpRef> = stuck.blocked.iter().map(|&op| explainer.report_builder.op(op)).collect();
    let states = States::of(stuck);
    let interpretations = explainer.interpretations(stuck, &states);
    let mut reasons = explainer.reasons(stuck, &states);
    reasons.sort_by_key(|reason| (!blocked.contains(&reason.op), reason.op));
    let (mut expected, mut legal, mut what_ifs, mut window) = (Default::default(), Legal::Unknown, Vec::new(), None);
    // The specification may fail to evaluate under an assumption made here. The verdict holds all the same.
    let looks_further = options.is_just_in_time(history) && spec.assumed.is_empty();
    if let Some(goal) = goal.filter(|_| looks_further)
        && let Ok(from) = checkpoint.before(spec, history, goal)
        && let Ok(cuts) = Cuts::before(&from, spec, history, goal, options, watch)
    {
        expected = explainer.expected(goal, &cuts, &states.list, watch);
        legal = explainer.legal(goal, &cuts, watch).unwrap_or(Legal::Unknown);
        what_ifs = explainer.what_ifs(goal, &cuts, &expected.allowed, watch);
        window = explainer.window(goal, &cuts, watch).unwrap_or_default();
    }
    let expected::Expected { allowed, is_cut_off } = expected;
    let named = allowed.iter().map(|args| explainer.named_results(goal, args)).collect();
    let sentence = explainer.sentence(stuck);
    let states = states.list.iter().map(|state| spec.show(state)).collect();
    let evidence = Evidence::Stuck(Stuck {
        states,
        groups: Vec::new(),
        interpretations,
        reasons,
        expected: named,
        expects_more: is_cut_off,
        legal,
        what_ifs,
        window,
    });
    Rejection { sentence, details: String::new(), blocked, explained: stuck.explained, evidence }
}

/// Explains which invariant is violated by the orders that the actions allow.
pub fn explain_violation(
    spec: &TraceSpec<'_>,
    history: &History<TraceOp>,
    options: &Options,
    stuck: &Explanation<TraceState>,
    broken: &Broken,
    report_builder: &mut ReportBuilder,
) -> Rejection {
    Explainer { spec, history, options, report_builder }.violation(stuck, broken)
}

/// The cost of evaluating the specification: a step costs more if states are large, or if there is much to evaluate.
pub(crate) struct Cost<'s, 'p> {
    spec: &'s TraceSpec<'p>,
    per_step: u64,
    /// The work of the machine before.
    before: u64,
}

/// A state with this many places costs about as much as the step itself.
const PLACES: u64 = 64;
/// This many calls and elements cost about as much as a step.
const WORK: u64 = 16;

impl<'s, 'p> Cost<'s, 'p> {
    fn new(spec: &'s TraceSpec<'p>, cut: &Cut) -> Cost<'s, 'p> {
        let places = cut.states.first().map_or(0, |state| state.values.iter().map(places).sum());
        Cost { spec, per_step: 1 + places / PLACES, before: spec.with_machine(|machine| machine.work()) }
    }

    /// The cost of everything since then, given the number of steps.
    fn of(&self, steps: u64) -> u64 {
        let work = self.spec.with_machine(|machine| machine.work()) - self.before;
        steps.saturating_mul(self.per_step) + work / WORK
    }
}

/// The number of values in a value.
fn places(value: &Value) -> u64 {
    let sum = |values: &[Value]| values.iter().map(places).sum::<u64>();
    1 + match value {
        Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Model(_) => 0,
        Value::Set(set) => sum(set.elements()),
        Value::Seq(seq) => sum(seq.elements()),
        Value::Fun(fun) => sum(fun.values()),
    }
}

/// The maximum number of places in the states that are explained together.
const MOST_PLACES: u64 = 250_000;

/// The stuck configurations that an explanation is about: all of them, unless their states are large.
fn few(stuck: &Explanation<TraceState>) -> Explanation<TraceState> {
    let mut left = MOST_PLACES;
    let few = stuck.stuck.iter().take_while(|stuck| {
        let has_room = left > 0;
        left = left.saturating_sub(stuck.state.values.iter().map(places).sum());
        has_room
    });
    Explanation { stuck: few.cloned().collect(), ..stuck.clone() }
}

impl Explainer<'_, '_> {
    fn interpretations(
        &mut self,
        stuck: &Explanation<TraceState>,
        states: &States,
    ) -> Vec<omnilink_report::Interpretation> {
        let mut all: Vec<omnilink_report::Interpretation> = Vec::new();
        for stuck in &stuck.stuck {
            let step = |step: &omnilink_search::Placed| omnilink_report::Step {
                op: self.report_builder.op(step.op),
                partway: step.partway,
            };
            let recent = stuck.recent.iter().map(step).collect();
            all.push(omnilink_report::Interpretation { state: states.place(&stuck.state.values), recent });
        }
        all
    }

    fn sentence(&mut self, stuck: &Explanation<TraceState>) -> String {
        if stuck.stuck.is_empty() {
            return "the specification allows no initial state".to_owned();
        }
        let names: Vec<String> = stuck.blocked.iter().map(|&op| self.report_builder.words(op)).collect();
        match names.as_slice() {
            [name] if self.options.is_just_in_time(self.history) => {
                format!(
                    "no order allows {name}: every order of the operations before it leads to a state that forbids it"
                )
            }
            names => omnilink_report::longest_orders(stuck.explained, names),
        }
    }
}

/// The distinct states of stuck configurations, in order.
struct States {
    list: Vec<State>,
    places: HashMap<State, usize, FxBuildHasher>,
}

impl States {
    fn of(stuck: &Explanation<TraceState>) -> States {
        let mut states = States { list: Vec::new(), places: HashMap::default() };
        for stuck in &stuck.stuck {
            let (state, next) = (&stuck.state.values, states.list.len());
            if *states.places.entry(state.clone()).or_insert(next) == next {
                states.list.push(state.clone());
            }
        }
        states
    }

    /// The index of a state among them.
    fn place(&self, state: &State) -> usize {
        self.places.get(state).copied().unwrap_or_default()
    }
}

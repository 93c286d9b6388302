//! Everything for inspection: a report, the whole history beside it, and intermediate states.
//!
//! A check decides and forgets. A viewer needs every operation, the possible orders, and the states along them. So a check
//! for inspection keeps the orders of its result, and computes states by replaying them, again for each requested range:
//! states may be large, and orders are not.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

use omnilink_history::{Call, Op, OpId, Schema};
use omnilink_report::{Datum, Ending, Entry, Placement, Report, Shape, State, Timeline};
use omnilink_search::{Placed, Route, Walked};

use crate::input::InputError;

/// The requested part of a history.
#[derive(Debug, Clone)]
pub struct ShowOptions {
    /// The number of steps before the last state shown; all if `None`.
    pub until: Option<usize>,
    /// The number of states to show on the common route.
    pub states: usize,
    /// Expressions to evaluate in each state.
    pub watch: Vec<String>,
}

impl Default for ShowOptions {
    fn default() -> ShowOptions {
        ShowOptions { until: None, states: 2_000, watch: Vec::new() }
    }
}

/// A checked history with everything for inspection.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// The report.
    pub report: Report,
    /// The history.
    pub timeline: Timeline,
    pub(crate) way: Way,
}

/// The orders of a result, for replaying.
#[derive(Debug, Clone, Default)]
pub(crate) struct Way {
    /// The orders.
    pub(crate) route: Route,
    /// True if they may violate invariants. Specifications in Rust have no invariants.
    #[cfg_attr(not(feature = "tla"), allow(dead_code, reason = "read for TLA+ only"))]
    pub(crate) ignores_invariants: bool,
}

/// The maximum number of explanations shown for a rejected history.
pub(crate) const MOST_ENDINGS: usize = 64;

/// The maximum total length of the texts of all shown states. Earlier states are left out.
const MOST_TEXT: usize = 32 << 20;

/// An assumption about the order of operations, which it names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Assumption {
    /// `T0:12 < T3:7`: the first takes effect before the second.
    Before(String, String),
    /// `T3:7 = 1a2b3c4d5e6f`: the state after the operation has this [`id`](omnilink_report::State::id), or one with this
    /// prefix.
    LeadsTo(String, String),
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Assumption::Before(first, second) => write!(f, "{first} < {second}"),
            Assumption::LeadsTo(op, state) => write!(f, "{op} = {state}"),
        }
    }
}

impl FromStr for Assumption {
    type Err = String;

    fn from_str(text: &str) -> Result<Assumption, String> {
        let is_named = |words: &(&str, &str)| !words.0.trim().is_empty() && !words.1.trim().is_empty();
        let owned = |(left, right): (&str, &str)| (left.trim().to_owned(), right.trim().to_owned());
        let before = |between: &str| text.split_once(between).filter(is_named).map(owned);
        let leads_to = |between: &str| text.rsplit_once(between).filter(is_named).map(owned);
        // A process name may contain any character; blanks disambiguate.
        let (blank, tight) = ((before(" < "), leads_to(" = ")), (before("<"), leads_to("=")));
        match [blank, tight].into_iter().find(|way| way.0.is_some() || way.1.is_some()) {
            Some((Some((first, second)), _)) if first == second => Err("an operation cannot precede itself".into()),
            Some((Some((first, second)), _)) => Ok(Assumption::Before(first, second)),
            Some((None, Some((op, state)))) if is_fingerprint(&state) => {
                Ok(Assumption::LeadsTo(op, state.to_ascii_lowercase()))
            }
            Some((None, Some((_, state)))) => Err(format!("`{state}` is not a state fingerprint (6 to 12 hex digits)")),
            _ => Err("expected `T0:12 < T3:7`, or `T3:7 = 1a2b3c4d5e6f` for the state after it".into()),
        }
    }
}

/// The accepted lengths of a fingerprint: from a sufficient prefix to all of it.
const FINGERPRINT: RangeInclusive<usize> = 6..=12;

fn is_fingerprint(text: &str) -> bool {
    FINGERPRINT.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Collects a timeline and the orders found during a check.
#[derive(Default)]
pub(crate) struct ShowBuilder {
    pub(crate) timeline: Timeline,
    pub(crate) way: Way,
}

impl ShowBuilder {
    /// Adds the orders of a result. The operations are known by then.
    pub(crate) fn keep(&mut self, way: Way) {
        let steps = |steps: &[Placed]| steps.iter().map(placement).collect();
        self.timeline.order = steps(&way.route.common);
        let ending = |ending: &omnilink_search::Ending| Ending { steps: steps(&ending.steps), states: Vec::new() };
        self.timeline.endings = way.route.endings.iter().map(ending).collect();
        self.timeline.until = self.timeline.order.len();
        self.way = way;
    }
}

/// The indices of operations in a timeline.
pub(crate) fn places(ids: &[OpId]) -> Vec<usize> {
    ids.iter().map(|id| id.index()).collect()
}

fn placement(placed: &Placed) -> Placement {
    Placement { op: placed.op.index() as u32, partway: placed.partway }
}

/// Adds the states of a replay, as long as there is room for their texts: the last state common to all routes, the
/// routes, and then earlier states.
pub(crate) fn fill<S>(timeline: &mut Timeline, walked: Walked<S>, watched: usize, show: impl Fn(S) -> State) {
    let mut left = MOST_TEXT;
    let mut show = |state: S| {
        let shown = show(state);
        left = left.saturating_sub(shown.variables.iter().map(|field| field.value.len()).sum());
        (left > 0).then_some(shown)
    };
    let Walked { mut states, until, endings } = walked;
    let mut shown: VecDeque<State> = states.pop_back().and_then(&mut show).into_iter().collect();
    let mut endings = endings.into_iter();
    for ending in &mut timeline.endings {
        // A route without room for all its states gets none.
        let states = endings.next().unwrap_or_default().into_iter().map(&mut show);
        ending.states = states.collect::<Option<Vec<State>>>().unwrap_or_default();
    }
    while let Some(state) = states.pop_back().and_then(&mut show) {
        shown.push_front(state);
    }
    timeline.states = shown.into();
    (timeline.until, timeline.watched) = (until, watched);
}

/// Builds a timeline, one operation after the other.
#[derive(Default)]
pub(crate) struct TimelineBuilder {
    timeline: Timeline,
    shapes: HashMap<Kind, u32>,
    texts: HashMap<String, u32>,
}

/// The common part of operations of one shape.
#[derive(PartialEq, Eq, Hash)]
struct Kind {
    schema: Arc<Schema>,
    is_open: bool,
    failed: bool,
    meta: Vec<Arc<str>>,
}

impl TimelineBuilder {
    pub(crate) fn new(processes: &[Arc<str>]) -> TimelineBuilder {
        let name = |place: usize| {
            let name = omnilink_history::name(processes, omnilink_history::ProcessId(place as u32), 0);
            name.rsplit_once(':').map_or(name.as_str(), |(process, _)| process).to_owned()
        };
        let processes = (0..processes.len()).map(name).collect();
        TimelineBuilder { timeline: Timeline { processes, ..Timeline::default() }, ..TimelineBuilder::default() }
    }

    pub(crate) fn add(&mut self, op: &Op<Call>) {
        let entry = Entry {
            process: op.process.0,
            index: op.index,
            shape: self.shape(&op.call),
            values: self.timeline.values.len(),
            start: op.interval.start(),
            end: op.interval.end(),
        };
        let call = &op.call;
        for value in call.args().iter().chain(call.results()).chain(call.meta.iter().map(|(_, value)| value)) {
            let datum = match value {
                omnilink_history::Value::Int(number) => Datum::Number(*number),
                other => Datum::Text(self.text(other.to_string())),
            };
            self.timeline.values.push(datum);
        }
        self.timeline.operations.push(entry);
    }

    pub(crate) fn finish(self) -> Timeline {
        self.timeline
    }

    fn shape(&mut self, call: &Call) -> u32 {
        let schema = call.schema();
        let kind = Kind {
            schema: schema.clone(),
            is_open: call.results().len() < schema.results.len(),
            failed: call.failed,
            meta: call.meta.iter().map(|(name, _)| name.clone()).collect(),
        };
        let shapes = &mut self.timeline.shapes;
        *self.shapes.entry(kind).or_insert_with(|| {
            let names = |names: &mut dyn Iterator<Item = &Arc<str>>| names.map(|name| name.to_string()).collect();
            shapes.push(Shape {
                action: call.action().to_owned(),
                args: names(&mut schema.args.iter().take(call.args().len())),
                results: names(&mut schema.results.iter().take(call.results().len())),
                meta: names(&mut call.meta.iter().map(|(name, _)| name)),
                pieces: call.pieces(),
            });
            shapes.len() as u32 - 1
        })
    }

    fn text(&mut self, text: String) -> u32 {
        let texts = &mut self.timeline.texts;
        *self.texts.entry(text).or_insert_with_key(|text| {
            texts.push(text.clone());
            texts.len() as u32 - 1
        })
    }
}

/// Finds the operations that assumptions name.
pub(crate) struct AssumptionResolver<'a> {
    assumptions: &'a [Assumption],
    processes: &'a [Arc<str>],
    found: HashMap<&'a str, OpId>,
}

impl<'a> AssumptionResolver<'a> {
    pub(crate) fn new(assumptions: &'a [Assumption], processes: &'a [Arc<str>]) -> AssumptionResolver<'a> {
        AssumptionResolver { assumptions, processes, found: HashMap::new() }
    }

    fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.assumptions
            .iter()
            .flat_map(|assumption| match assumption {
                Assumption::Before(first, second) => [Some(first.as_str()), Some(second.as_str())],
                Assumption::LeadsTo(op, _) => [Some(op.as_str()), None],
            })
            .flatten()
    }

    pub(crate) fn add_op<T>(&mut self, op: &Op<T>) {
        if self.assumptions.is_empty() {
            return;
        }
        let name = omnilink_history::name(self.processes, op.process, op.index);
        let known = self.names().find(|known| **known == name);
        known.into_iter().for_each(|known| {
            self.found.insert(known, op.id);
        });
    }

    /// The assumptions with operation numbers.
    pub(crate) fn resolve(self) -> Result<Vec<omnilink_search::Assumption<String>>, InputError> {
        let id = |name: &str| {
            let missing =
                || InputError::new(format!("the history has no operation `{name}` that could have had an effect"));
            self.found.get(name).copied().ok_or_else(missing)
        };
        let resolve = |assumption: &Assumption| {
            Ok(match assumption {
                Assumption::Before(first, second) => omnilink_search::Assumption::Before(id(first)?, id(second)?),
                Assumption::LeadsTo(op, state) => omnilink_search::Assumption::LeadsTo(id(op)?, state.clone()),
            })
        };
        self.assumptions.iter().map(resolve).collect()
    }
}

//! Explains why an action is not enabled in a state: a second mode of the same evaluator.
//!
//! While a [`Recorder`] is present, [`Machine::act`] runs as always and records its path: the choice at every
//! disjunction and `\E`, and the outcome of each conjunct on that path. Every path ends in an [`Attempt`]: at a
//! conjunct that is false or has no value, with those behind it not reached, or at a next state. A conjunct is
//! dissected by evaluating it once more, part by part, down to the values it compares ([`Machine::dissect`]).

use std::collections::BTreeMap;
use std::ops::ControlFlow::Continue;

use super::frame::{Frame, Slot};
use super::{Flow, Machine, Reading, State};
use crate::datum::{self, Datum};
use crate::error::EvalError;
use crate::ir::{Body, Bound, DefId, ExprId, ExprLevel, Node, VarId};
use crate::source::Site;
use crate::value::Value;

/// The maximum number of attempts to keep; an action may have more paths than a user reads.
const MOST_ATTEMPTS: usize = 256;
/// The maximum number of elements of a quantifier to dissect.
const MOST_ELEMENTS: usize = 8;
/// The maximum depth to which a conjunct is dissected.
const DEEPEST_PART: usize = 24;

/// Every path through an action, in the order in which they were tried.
#[derive(Debug, Clone, Default)]
pub struct Explanation {
    /// The paths.
    pub attempts: Vec<Attempt>,
    /// Whether there were more.
    pub is_truncated: bool,
}

/// One path through an action.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The choices on it, outermost first.
    pub choices: Vec<Choice>,
    /// The outcome of each conjunct, in the order of evaluation; those not reached come last.
    pub conjuncts: Vec<Part>,
    /// The next state, if no conjunct was false.
    pub state: Option<State>,
    /// The definitions that it entered, outermost first.
    pub entered: Vec<DefId>,
}

/// A choice on a path.
#[derive(Debug, Clone)]
pub enum Choice {
    /// Entered this disjunct.
    Disjunct(Site),
    /// Bound a name of an `\E`.
    Binding {
        /// The location of the quantifier.
        site: Site,
        /// The name and its value.
        values: Vec<(String, Value)>,
    },
}

/// An expression and its outcome.
#[derive(Debug, Clone)]
pub struct Part {
    /// Its location.
    pub site: Site,
    /// Its outcome.
    pub outcome: PartOutcome,
    /// For an element of a quantifier: the names bound to it.
    pub bindings: Vec<(String, Value)>,
    /// The parts that decided it.
    pub parts: Vec<Part>,
}

/// The outcome of an expression.
#[derive(Debug, Clone)]
pub enum PartOutcome {
    /// A boolean.
    Truth(bool),
    /// Any other value.
    Value(Value),
    /// A set or function that is not a value, as printed.
    Lazy(String),
    /// A condition, which decided the branch.
    Chose(bool),
    /// It assigned a variable's next value.
    Assigned(VarId, Value),
    /// It has no value.
    Error(Box<EvalError>),
    /// An earlier conjunct was false.
    NotReached,
}

impl Attempt {
    /// The number of conjuncts that were true before it ended.
    pub fn reached(&self) -> usize {
        let is_true = |part: &&Part| {
            matches!(part.outcome, PartOutcome::Truth(true) | PartOutcome::Chose(_) | PartOutcome::Assigned(..))
        };
        self.conjuncts.iter().filter(is_true).count()
    }
}

impl Explanation {
    /// The attempt that got furthest; the first of several.
    pub fn furthest(&self) -> Option<&Attempt> {
        self.attempts.iter().rev().max_by_key(|attempt| (attempt.state.is_some(), attempt.reached()))
    }

    /// Of the attempts that entered the same disjuncts, the one that got furthest; those that got furthest first.
    pub fn furthest_of_each(&self) -> Vec<&Attempt> {
        let disjuncts = |attempt: &Attempt| -> Vec<Site> {
            let sites = attempt.choices.iter().filter_map(|choice| match choice {
                Choice::Disjunct(site) => Some(*site),
                Choice::Binding { .. } => None,
            });
            sites.collect()
        };
        let mut best: BTreeMap<Vec<Site>, &Attempt> = BTreeMap::new();
        for attempt in &self.attempts {
            let known = best.entry(disjuncts(attempt)).or_insert(attempt);
            if attempt.reached() > known.reached() {
                *known = attempt;
            }
        }
        let mut best: Vec<&Attempt> = best.into_values().collect();
        best.sort_by_key(|attempt| std::cmp::Reverse(attempt.reached()));
        best
    }
}

/// The path recorded while explaining an action.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    choices: Vec<Choice>,
    conjuncts: Vec<Part>,
    entered: Vec<DefId>,
    /// Conjuncts still to come, the next one last.
    pub(super) pending: Vec<ExprId>,
    explanation: Explanation,
}

impl<'p> Machine<'p> {
    /// Every path through an action in a state, and where it ended.
    pub fn explain(&mut self, action: ExprId, state: &State) -> Explanation {
        self.fresh(Some(state.clone()), Reading::Current);
        self.explain_from_here(action)
    }

    /// Every path through an action for one step, and where it ended.
    pub fn explain_step(&mut self, action: ExprId, from: &State, to: &State) -> Explanation {
        self.fresh(Some(from.clone()), Reading::Current);
        self.next = to.iter().cloned().map(Some).collect();
        self.unassigned = 0;
        self.explain_from_here(action)
    }

    /// Dissects a predicate in a state: why it is true, false, or has no value.
    pub fn explain_predicate(&mut self, predicate: ExprId, state: &State) -> Part {
        self.fresh(Some(state.clone()), Reading::Current);
        self.dissect(predicate, 0)
    }

    fn explain_from_here(&mut self, action: ExprId) -> Explanation {
        self.explain_run(self.exprs.site(action), |machine, then| machine.act(action, then))
    }

    /// Every path taken by `run`, with a location for an error that has none.
    pub(super) fn explain_run(
        &mut self,
        site: Site,
        run: impl FnOnce(&mut Self, &mut dyn FnMut(&mut Self) -> Flow) -> Flow,
    ) -> Explanation {
        self.recorder = Some(Box::default());
        let flow = run(self, &mut |machine| {
            let state = machine.next_state(None);
            machine.end_attempt(None, state.ok());
            Ok(Continue(()))
        });
        if let Err(error) = flow {
            let site = error.site.unwrap_or(site);
            self.end_attempt(Some(Part::new(site, PartOutcome::Error(error))), None);
        }
        self.recorder.take().map(|recorder| recorder.explanation).unwrap_or_default()
    }

    /// Whether an expression depends on the next state, directly or through its names. One that does not is a
    /// predicate, and has one reason for being false, however many alternatives it contains.
    pub(super) fn reads_next(&self, expr: ExprId, frame: Frame) -> bool {
        let node = self.exprs.node(expr);
        let mut reads = match node {
            Node::Prime(_) | Node::Unchanged(_) | Node::Square(..) | Node::Angle(..) | Node::Compose(..) => true,
            Node::Variable(_) => self.reading == Reading::Next,
            Node::Call { def, .. } => {
                let definition = &self.definitions[def.0 as usize];
                match definition.level {
                    ExprLevel::Constant => false,
                    ExprLevel::State => self.reading == Reading::Next,
                    ExprLevel::Action | ExprLevel::Temporal => true,
                }
            }
            Node::CallArgument { .. } => true,
            Node::Argument(slot) => match self.slot_of(frame, *slot) {
                Slot::Thunk { expr, frame } | Slot::Forced { expr, frame, .. } => self.reads_next(*expr, *frame),
                _ => false,
            },
            _ => false,
        };
        // A slot that is bound inside is still empty, or holds the value of an earlier path.
        let mut bound = Vec::new();
        node.for_each_slot_bound(&mut |slot| bound.push(slot));
        node.for_each_child(&mut |child| {
            let is_bound = matches!(self.exprs.node(child), Node::Argument(slot) if bound.contains(slot));
            reads = reads || (!is_bound && self.reads_next(child, frame));
        });
        reads
    }

    /// Runs the parts of a conjunction from one of them on, and remembers the pending ones.
    #[cold]
    pub(super) fn act_all_recorded(
        &mut self,
        parts: &'p [ExprId],
        index: usize,
        then: &mut dyn FnMut(&mut Self) -> Flow,
    ) -> Flow {
        let (rest, frame) = (&parts[index + 1..], self.current_frame());
        if let Some(recorder) = &mut self.recorder {
            recorder.pending.extend(rest.iter().rev());
        }
        let is_plain = index > 0 && self.unassigned == 0;
        let mut and_then = |machine: &mut Self| {
            // The continuation is not pending while it runs.
            let pending = machine.recorder.as_mut().map(|recorder| {
                let len = recorder.pending.len() - rest.len();
                recorder.pending.split_off(len)
            });
            let flow = machine.within(frame, |machine| machine.act_all(parts, index + 1, then));
            if let (Some(recorder), Some(pending)) = (&mut machine.recorder, pending) {
                recorder.pending.extend(pending);
            }
            flow
        };
        let flow = if is_plain {
            self.act_recorded(parts[index], &mut and_then)
        } else {
            self.act(parts[index], &mut and_then)
        };
        if let Some(recorder) = &mut self.recorder {
            let len = recorder.pending.len() - rest.len();
            recorder.pending.truncate(len);
        }
        flow
    }

    /// Runs a conjunct that is evaluated as a boolean, and records its outcome.
    #[cold]
    pub(super) fn act_recorded(&mut self, expr: ExprId, then: &mut dyn FnMut(&mut Self) -> Flow) -> Flow {
        let part = self.unrecorded(|machine| machine.dissect(expr, 0));
        match part.outcome {
            PartOutcome::Truth(true) => self.recorded(part, then),
            _ => {
                self.end_attempt(Some(part), None);
                Ok(Continue(()))
            }
        }
    }

    /// Records that an expression assigned or confirmed a variable's value, while `then` runs.
    pub(super) fn recorded(&mut self, part: Part, then: &mut dyn FnMut(&mut Self) -> Flow) -> Flow {
        if let Some(recorder) = &mut self.recorder {
            recorder.conjuncts.push(part);
        }
        let flow = then(self);
        if let Some(recorder) = &mut self.recorder {
            recorder.conjuncts.pop();
        }
        flow
    }

    /// Runs a branch, and records the condition that led to it.
    #[inline]
    pub(super) fn act_decided(
        &mut self,
        condition: ExprId,
        truth: bool,
        branch: ExprId,
        then: &mut dyn FnMut(&mut Self) -> Flow,
    ) -> Flow {
        if self.recorder.is_none() {
            return self.act(branch, then);
        }
        let part = self.unrecorded(|machine| machine.dissect(condition, 0));
        if let Some(recorder) = &mut self.recorder {
            recorder.conjuncts.push(Part { outcome: PartOutcome::Chose(truth), ..part });
        }
        let flow = self.act(branch, then);
        if let Some(recorder) = &mut self.recorder {
            recorder.conjuncts.pop();
        }
        flow
    }

    /// Records a choice while `run` runs.
    pub(super) fn chosen(&mut self, choice: Choice, run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        if let Some(recorder) = &mut self.recorder {
            recorder.choices.push(choice);
        }
        let flow = run(self);
        if let Some(recorder) = &mut self.recorder {
            recorder.choices.pop();
        }
        flow
    }

    /// Records that the path enters a definition while `run` runs.
    #[inline]
    pub(super) fn entering(&mut self, def: DefId, run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        if let Some(recorder) = &mut self.recorder {
            recorder.entered.push(def);
        }
        let flow = run(self);
        if let Some(recorder) = &mut self.recorder {
            recorder.entered.pop();
        }
        flow
    }

    /// Ends the path that is being recorded.
    pub(super) fn end_attempt(&mut self, last: Option<Part>, state: Option<State>) {
        let Some(recorder) = &mut self.recorder else {
            return;
        };
        if recorder.explanation.attempts.len() >= MOST_ATTEMPTS {
            recorder.explanation.is_truncated = true;
            return;
        }
        let mut conjuncts = recorder.conjuncts.clone();
        conjuncts.extend(last);
        if state.is_none() {
            let rest = recorder.pending.iter().rev();
            conjuncts.extend(rest.map(|&expr| Part::new(self.exprs.site(expr), PartOutcome::NotReached)));
        }
        let (choices, entered) = (recorder.choices.clone(), recorder.entered.clone());
        recorder.explanation.attempts.push(Attempt { choices, conjuncts, state, entered });
    }

    fn unrecorded<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        let recorder = self.recorder.take();
        let result = run(self);
        self.recorder = recorder;
        result
    }

    /// The values that an `\E` has bound to its names.
    pub(super) fn binding(&self, expr: ExprId, bounds: &[Bound]) -> Choice {
        Choice::Binding { site: self.exprs.site(expr), values: self.bindings(bounds) }
    }

    /// The names of bounds, with their current values.
    pub(super) fn bindings(&self, bounds: &[Bound]) -> Vec<(String, Value)> {
        let named = bounds.iter().flat_map(|bound| bound.names.iter().zip(bound.pattern.slots()));
        let bound = named.filter_map(|(name, &slot)| match self.slot(slot) {
            Slot::Datum(Datum::Value(value)) => Some((name.clone(), value.clone())),
            _ => None,
        });
        bound.collect()
    }

    /// Evaluates an expression part by part.
    pub(super) fn dissect(&mut self, expr: ExprId, depth: usize) -> Part {
        let site = self.exprs.site(expr);
        if depth > DEEPEST_PART {
            return self.judged(expr, Vec::new());
        }
        let depth = depth + 1;
        match self.exprs.node(expr) {
            Node::And(parts) => self.dissect_list(expr, parts, false, depth),
            Node::Or(parts) => self.dissect_list(expr, parts, true, depth),
            Node::Not(inner) => {
                let inner = self.dissect(*inner, depth);
                self.judged(expr, vec![inner])
            }
            Node::Implies(a, b) => {
                let premise = self.dissect(*a, depth);
                let is_true = matches!(premise.outcome, PartOutcome::Truth(true));
                let conclusion = if is_true {
                    self.dissect(*b, depth)
                } else {
                    Part::new(self.exprs.site(*b), PartOutcome::NotReached)
                };
                self.judged(expr, vec![premise, conclusion])
            }
            Node::If(condition, yes, no) => {
                let condition = self.dissect(*condition, depth);
                let branch = match condition.outcome {
                    PartOutcome::Truth(true) => *yes,
                    PartOutcome::Truth(false) => *no,
                    outcome => return Part::new(site, outcome),
                };
                let branch = self.dissect(branch, depth);
                let outcome = branch.outcome.clone();
                Part { site, outcome, bindings: Vec::new(), parts: vec![condition, branch] }
            }
            Node::Case { arms, other } => match self.choose_arm(arms, *other, expr) {
                Ok(branch) => {
                    let mut parts = Vec::new();
                    if let Some((guard, _)) = arms.iter().find(|(_, then)| *then == branch) {
                        parts.push(Part::new(self.exprs.site(*guard), PartOutcome::Truth(true)));
                    }
                    let branch = self.dissect(branch, depth);
                    let outcome = branch.outcome.clone();
                    parts.push(branch);
                    Part { site, outcome, bindings: Vec::new(), parts }
                }
                Err(error) => Part::new(site, PartOutcome::Error(error)),
            },
            Node::Let { slot, value, body } => {
                let frame = self.current_frame();
                self.set_slot(*slot, Slot::Thunk { expr: *value, frame });
                self.dissect(*body, depth)
            }
            Node::Exists { bounds, body } => self.dissect_quantifier(expr, bounds, *body, true, depth),
            Node::Forall { bounds, body } => self.dissect_quantifier(expr, bounds, *body, false, depth),
            Node::Call { def, args } => {
                let definition = &self.definitions[def.0 as usize];
                let Body::Expr(body) = definition.body else {
                    return self.compared(expr);
                };
                let outcome = self.outcome(expr);
                // Only parts that decide a boolean are worth dissecting.
                if !matches!(outcome, PartOutcome::Truth(_) | PartOutcome::Error(_)) {
                    return self.compared(expr);
                }
                let frame = self.enter(definition, args);
                let inner = self.within(frame, |machine| machine.dissect(body, depth));
                let bindings = self.within(frame, |machine| machine.parameters(*def));
                self.leave(frame);
                Part { site, outcome, bindings, parts: vec![inner] }
            }
            Node::Inlined { def, args, body } => {
                let outcome = self.outcome(expr);
                if !matches!(outcome, PartOutcome::Truth(_) | PartOutcome::Error(_)) {
                    return self.compared(expr);
                }
                let inner = self.dissect(*body, depth);
                let bindings = self.inlined_parameters(*def, args);
                Part { site, outcome, bindings, parts: vec![inner] }
            }
            _ => self.compared(expr),
        }
    }

    fn dissect_list(&mut self, expr: ExprId, list: &[ExprId], decides: bool, depth: usize) -> Part {
        let mut parts: Vec<Part> = Vec::new();
        let mut outcome = PartOutcome::Truth(!decides);
        for &item in list {
            if !matches!(outcome, PartOutcome::Truth(truth) if truth != decides) {
                parts.push(Part::new(self.exprs.site(item), PartOutcome::NotReached));
                continue;
            }
            let part = self.dissect(item, depth);
            match &part.outcome {
                PartOutcome::Truth(truth) => outcome = PartOutcome::Truth(*truth),
                PartOutcome::Error(error) => outcome = PartOutcome::Error(error.clone()),
                _ => outcome = self.outcome(expr),
            }
            parts.push(part);
        }
        Part { site: self.exprs.site(expr), outcome, bindings: Vec::new(), parts }
    }

    fn dissect_quantifier(
        &mut self,
        expr: ExprId,
        bounds: &'p [Bound],
        body: ExprId,
        decides: bool,
        depth: usize,
    ) -> Part {
        let mut parts = Vec::new();
        for (index, bound) in bounds.iter().enumerate() {
            // `x, y \in S` is two bounds on one expression.
            if index == 0 || bounds[index - 1].set != bound.set {
                parts.push(self.compared(bound.set));
            }
        }
        let mut outcome = PartOutcome::Truth(!decides);
        let visited = self.for_each(bounds, expr, &mut |machine| {
            let mut part = machine.dissect(body, depth);
            part.bindings = machine.bindings(bounds);
            let is_decided = !matches!(part.outcome, PartOutcome::Truth(truth) if truth != decides);
            if is_decided {
                outcome = part.outcome.clone();
                parts.retain(|earlier| earlier.bindings.is_empty());
            }
            if is_decided || parts.len() < bounds.len() + MOST_ELEMENTS {
                parts.push(part);
            }
            Ok(!is_decided)
        });
        if let Err(error) = visited {
            outcome = PartOutcome::Error(error);
        }
        Part { site: self.exprs.site(expr), outcome, bindings: Vec::new(), parts }
    }

    /// `x' \in S` where `S` is empty: with the set, and the values it was made from.
    pub(super) fn dissect_empty(&mut self, expr: ExprId) -> Part {
        let mut parts = Vec::new();
        if let Node::In(_, set) = self.exprs.node(expr) {
            let set = self.unrecorded(|machine| machine.compared(*set));
            let from = set.parts.clone();
            parts.push(Part { parts: Vec::new(), ..set });
            parts.extend(from);
        }
        Part { parts, ..Part::new(self.exprs.site(expr), PartOutcome::Truth(false)) }
    }

    /// An expression that is not dissected further, with the values of its parts.
    fn compared(&mut self, expr: ExprId) -> Part {
        let node = self.exprs.node(expr);
        // Names bound inside have no value here, and primed expressions refer to another state.
        let mut is_closed = matches!(node, Node::Prime(_) | Node::Unchanged(_) | Node::Enabled(..));
        node.for_each_slot_bound(&mut |_| is_closed = true);
        if let Node::Inlined { def, args, .. } = node {
            let bindings = self.inlined_parameters(*def, args);
            return Part { bindings, ..self.judged(expr, Vec::new()) };
        }
        let mut children = if is_closed { Vec::new() } else { node.children() };
        children.retain(|child| !matches!(self.exprs.node(*child), Node::Value(_)));
        let parts = children.into_iter().map(|child| self.compared(child)).collect();
        self.judged(expr, parts)
    }

    fn judged(&mut self, expr: ExprId, parts: Vec<Part>) -> Part {
        let outcome = self.outcome(expr);
        Part { site: self.exprs.site(expr), outcome, bindings: Vec::new(), parts }
    }

    fn outcome(&mut self, expr: ExprId) -> PartOutcome {
        match self.eval(expr) {
            Ok(Datum::Value(Value::Bool(truth))) => PartOutcome::Truth(truth),
            Ok(Datum::Value(value)) => PartOutcome::Value(value),
            Ok(lazy) => match datum::to_value(self, &lazy) {
                Ok(value) => PartOutcome::Value(value),
                Err(_) => PartOutcome::Lazy(datum::display(self, &lazy)),
            },
            Err(error) => PartOutcome::Error(error),
        }
    }
}

impl Part {
    /// A part with nothing inside.
    pub(super) fn new(site: Site, outcome: PartOutcome) -> Part {
        Part { site, outcome, bindings: Vec::new(), parts: Vec::new() }
    }
}

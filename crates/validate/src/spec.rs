//! A TLA+ specification as a [`Spec`] of the search.
//!
//! A state of the search is a state of the specification; with a `VIEW`, states with equal views are equal. States and
//! steps excluded by a constraint are not successors. While invariants are checked, states that violate one are not
//! successors either: an order through such a state does not explain a history. A blocked operation is different: an
//! action whose step would violate an invariant is enabled all the same, so the operation does not wait there.

use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use omnilink_history::{OpId, Stop};
use omnilink_search::{Assumption, Placed, Spec, Successors, Witness, successor};
use omnilink_tla::datum::print_or_display;
use omnilink_tla::error::{ErrorKind, EvalError};
use omnilink_tla::ir::{DefId, ExprId};
use omnilink_tla::machine::{Machine, State};
use omnilink_tla::program::Program;
use omnilink_tla::reach::Limit;
use omnilink_tla::value::Value;
use rustc_hash::FxHashMap;

use crate::bind::{Args, Binder, BoundStep, TraceOp};
use crate::fault::{Broken, Fault};
use crate::show::shown_state;
use crate::values::save;

/// A specification with operations bound to it.
pub struct TraceSpec<'p> {
    pub(crate) program: &'p Program,
    pub(crate) binder: Binder<'p>,
    pub(crate) machine: RefCell<Machine<'p>>,
    /// Whether a state that violates an invariant is a successor.
    ignores_invariants: Cell<bool>,
    found: RefCell<Vec<State>>,
    /// The states in which histories begin, if not in the initial ones.
    begin: Option<Vec<TraceState>>,
    initial: RefCell<Option<Vec<TraceState>>>,
    /// The successors of the initial states, by step.
    at_first: RefCell<AtFirst>,
    /// Assumptions about the order of operations.
    pub(crate) assumed: Vec<Assumption<String>>,
}

/// The successors of the initial states, by the address of a step. The entry keeps the step alive, so that no other step
/// gets its address.
type AtFirst = FxHashMap<*const BoundStep, (Arc<BoundStep>, Option<Rc<[Vec<TraceState>]>>)>;

/// The maximum number of initial states for which successors are computed in advance.
const FEW_INITIAL: usize = 8;

/// The maximum number of steps with known successors.
const MOST_REMEMBERED: usize = 1 << 12;

/// A state of the specification. States with equal views are equal.
#[derive(Debug, Clone)]
pub struct TraceState {
    /// One value for each variable.
    pub values: State,
    view: Option<Value>,
    /// True if an operation is placed that was blocked at the end: the values are those at the end.
    is_last: bool,
}

impl PartialEq for TraceState {
    fn eq(&self, other: &TraceState) -> bool {
        let are_alike = match (&self.view, &other.view) {
            (Some(a), Some(b)) => a == b,
            _ => self.values == other.values,
        };
        are_alike && self.is_last == other.is_last
    }
}

impl Eq for TraceState {}

impl Hash for TraceState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        match &self.view {
            Some(view) => view.hash(hasher),
            None => self.values.hash(hasher),
        }
    }
}

/// The constraint or invariant that excludes a step or a state that the action allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exclusion {
    pub(crate) name: String,
    pub(crate) predicate: ExprId,
}

impl<'p> TraceSpec<'p> {
    /// A specification and the operations bound to it.
    pub fn new(binder: Binder<'p>, machine: Machine<'p>) -> TraceSpec<'p> {
        let program = machine.program();
        TraceSpec {
            program,
            binder,
            machine: RefCell::new(machine),
            ignores_invariants: Cell::new(false),
            found: RefCell::default(),
            begin: None,
            initial: RefCell::default(),
            at_first: RefCell::default(),
            assumed: Vec::new(),
        }
    }

    /// Considers only orders consistent with these assumptions from now on. An assumption names a state by its
    /// [`id`](omnilink_report::State::id).
    pub fn assume(&mut self, assumed: Vec<Assumption<String>>) {
        self.assumed = assumed;
    }

    /// Has histories begin in these states from now on, as [`TraceSpec::save`] made them: those in which an earlier part of
    /// a history ended. False if one is not a state of this specification.
    pub fn begin_in(&mut self, saved: &[omnilink_history::Value]) -> Result<bool, Box<EvalError>> {
        let states: Option<Result<Vec<TraceState>, _>> = saved.iter().map(|saved| self.load(saved)).collect();
        let Some(states) = states else { return Ok(false) };
        self.begin = Some(states?);
        self.initial.take();
        self.at_first.take();
        Ok(true)
    }

    fn load(&self, saved: &omnilink_history::Value) -> Option<Result<TraceState, Box<EvalError>>> {
        let omnilink_history::Value::Tuple(saved) = saved else { return None };
        let strings = &self.program.module.strings;
        let values: Option<State> = saved.iter().map(|saved| self.binder.values.load(saved, strings)).collect();
        let values = values.filter(|values| values.len() == self.program.module.variables.len())?;
        Some(self.with_machine(|machine| self.seen(machine, values)))
    }

    /// A state as a value, without the operations in flight there. `None` for a state with values that have no such form.
    pub fn save(&self, state: &TraceState) -> Option<omnilink_history::Value> {
        let values = state.values.iter().map(|value| save(value, &self.program.module.strings));
        Some(omnilink_history::Value::Tuple(values.collect::<Option<_>>()?))
    }

    /// The value of a definition in a state, as printed.
    pub fn evaluate(&self, definition: DefId, state: &State) -> Result<String, Box<EvalError>> {
        self.with_machine(|machine| {
            let datum = machine.evaluate_definition(definition, Some(state))?;
            print_or_display(machine, &datum)
        })
    }

    /// The value of a definition without parameters and variables, as printed; `None` if the module does not define it.
    pub fn constant(&self, name: &str) -> Result<Option<String>, Box<EvalError>> {
        let definition = self.program.module.names.get(name).copied();
        let Some(definition) = definition.filter(|&def| self.program.definition(def).params.is_empty()) else {
            return Ok(None);
        };
        self.with_machine(|machine| {
            let datum = machine.evaluate_definition(definition, None)?;
            print_or_display(machine, &datum).map(Some)
        })
    }

    /// A state as reports show it.
    pub fn show(&self, state: &State) -> omnilink_report::State {
        shown_state(self.program, state)
    }

    /// Sets whether states that violate an invariant are successors.
    pub(crate) fn ignore_invariants(&self, ignore: bool) {
        self.ignores_invariants.set(ignore);
        self.initial.take();
        self.at_first.take();
    }

    /// Whether states that violate an invariant are successors.
    pub(crate) fn ignores_invariants(&self) -> bool {
        self.ignores_invariants.get()
    }

    /// The limit that ends evaluations, if one was reached.
    pub fn stopped(&self) -> Option<Stop> {
        let limit = self.with_machine(|machine| machine.world().limit())?;
        Some(match limit {
            Limit::Time => Stop::Time,
            Limit::Memory => Stop::Memory,
            Limit::States | Limit::Interrupt => Stop::Interrupted,
        })
    }

    /// Runs `work` on the machine.
    pub(crate) fn with_machine<R>(&self, work: impl FnOnce(&mut Machine<'p>) -> R) -> R {
        work(&mut self.machine.borrow_mut())
    }

    /// Binds another operation.
    pub fn bind(
        &mut self,
        op: &omnilink_history::Op<omnilink_history::Call>,
        processes: &[Arc<str>],
    ) -> Result<Option<TraceOp>, Vec<crate::Problem>> {
        self.binder.bind(op, processes, self.machine.get_mut())
    }

    /// The same for an operation that was bound before; `None` if it had no effect and returned nothing.
    pub fn bound(&self, op: &omnilink_history::Op<omnilink_history::Call>, processes: &[Arc<str>]) -> Option<TraceOp> {
        self.binder.bound(op, processes, &self.machine)
    }

    /// The operation with other values for its parameters.
    pub(crate) fn with_args(&self, op: &TraceOp, args: Args) -> TraceOp {
        self.binder.with_args(op, args, &mut self.machine.borrow_mut())
    }

    fn seen(&self, machine: &mut Machine<'p>, values: State) -> Result<TraceState, Box<EvalError>> {
        let view = self.program.view.map(|view| machine.value(view, Some(&values))).transpose()?;
        Ok(TraceState { values, view, is_last: false })
    }

    /// The first constraint or invariant that excludes a state or the step to it.
    pub(crate) fn excluded(
        &self,
        machine: &mut Machine<'p>,
        from: Option<&State>,
        to: &State,
    ) -> Result<Option<Exclusion>, Box<EvalError>> {
        let found = machine.exclusion(from, to, !self.ignores_invariants())?;
        Ok(found.map(|(name, predicate)| Exclusion { name: name.clone(), predicate: *predicate }))
    }

    /// True if the intermediate states of an order do not matter. With invariants they do: of two orders of the same steps,
    /// one may violate an invariant in between and the other not.
    fn is_free(&self) -> bool {
        self.ignores_invariants() || self.program.invariants.is_empty()
    }

    /// The successors of each initial state under an operation. `None` if there are too many initial states, or if they
    /// cannot be evaluated.
    fn at_first(&self, op: &TraceOp) -> Option<Rc<[Vec<TraceState>]>> {
        if let Some((_, found)) = self.at_first.borrow().get(&Arc::as_ptr(&op.step)) {
            return found.clone();
        }
        let reached = |state: &TraceState| {
            let mut successors = Successors::default();
            self.step(state, op, &mut successors).ok()?;
            Some(successors.into_parts().0)
        };
        let mut states = Vec::new();
        let is_small = self.initial(&mut states).is_ok() && (1..=FEW_INITIAL).contains(&states.len());
        let found: Option<Rc<[_]>> = if is_small { states.iter().map(reached).collect() } else { None };
        let mut known = self.at_first.borrow_mut();
        if known.len() >= MOST_REMEMBERED {
            known.clear();
        }
        known.insert(Arc::as_ptr(&op.step), (op.step.clone(), found.clone()));
        found
    }

    /// Whether `later` is disabled directly after `earlier` in an initial state.
    fn is_never_after(&self, earlier: &TraceOp, later: &TraceOp) -> bool {
        let is_disabled = |state: &TraceState| {
            let mut successors = Successors::default();
            let is_evaluated = self.step(state, later, &mut successors).is_ok();
            let (done, partway) = successors.into_parts();
            is_evaluated && done.is_empty() && partway.is_empty()
        };
        self.at_first(earlier).is_some_and(|reached| reached.iter().flatten().all(is_disabled))
    }

    /// The first state of an order that violates an invariant. The order was found with invariants ignored.
    pub(crate) fn broken_along<'o>(
        &self,
        call: impl Fn(OpId) -> &'o TraceOp,
        witness: &Witness,
    ) -> Result<Option<Broken>, Fault> {
        let mut along = Along::default();
        let mut broken = along.begin(self, witness)?;
        let mut steps = witness.steps();
        while broken.is_none()
            && let Some(placed) = steps.next()
        {
            broken = along.step(self, call(placed.op), placed)?;
        }
        Ok(broken)
    }

    fn try_initial(&self, out: &mut Vec<TraceState>) -> Result<(), Box<EvalError>> {
        let machine = &mut *self.machine.borrow_mut();
        let mut found = Vec::new();
        machine.initial_states(&mut found)?;
        for state in found {
            if self.excluded(machine, None, &state)?.is_none() {
                out.push(self.seen(machine, state)?);
            }
        }
        Ok(())
    }

    /// Computes the successors of a state, each with whether the operation is complete there.
    fn compute(
        &self,
        state: &TraceState,
        op: &TraceOp,
        out: &mut dyn FnMut(TraceState, bool),
    ) -> Result<(), Box<EvalError>> {
        let machine = &mut *self.machine.borrow_mut();
        let found = &mut *self.found.borrow_mut();
        let mut is_enabled = false;
        let mut undecided = None;
        for stage in &self.binder.actions[op.step.action as usize].stages {
            let args = stage.args(&op.step.args);
            match machine.perform(&stage.operation, &args, &state.values, found) {
                Err(error) if op.step.is_blocked && error.kind == ErrorKind::NotEnumerable => {
                    found.clear();
                    machine.perform_some(&stage.operation, &args, &state.values, error.clone(), found)?;
                    // A constraint may exclude these steps, and not those of other values.
                    undecided = (!found.is_empty()).then_some(error);
                }
                performed => performed?,
            }
            for next in found.drain(..) {
                if op.step.is_blocked {
                    is_enabled = is_enabled || machine.exclusion(Some(&state.values), &next, false)?.is_none();
                } else if self.excluded(machine, Some(&state.values), &next)?.is_none() {
                    out(self.seen(machine, next)?, stage.is_last);
                }
            }
        }
        if let Some(error) = undecided.filter(|_| !is_enabled) {
            return Err(error);
        }
        if op.step.is_blocked && !is_enabled {
            out(TraceState { is_last: true, ..state.clone() }, true);
        }
        // All blocked operations are blocked in one state: there is no step between them.
        if state.is_last {
            return Ok(());
        }
        for operation in &self.binder.internal {
            let anything = vec![None; operation.params.len()];
            machine.perform(operation, &anything, &state.values, found)?;
            for next in found.drain(..) {
                if next != state.values && self.excluded(machine, Some(&state.values), &next)?.is_none() {
                    out(self.seen(machine, next)?, false);
                }
            }
        }
        Ok(())
    }
}

/// Follows an order that was found with invariants ignored, and finds the first state that violates one.
#[derive(Default)]
pub(crate) struct Along {
    /// The state so far; `None` if the order ends or cannot be followed.
    state: Option<TraceState>,
}

impl Along {
    /// Starts at the initial state of an order.
    pub(crate) fn begin(&mut self, spec: &TraceSpec<'_>, witness: &Witness) -> Result<Option<Broken>, Fault> {
        let mut states = Vec::new();
        spec.initial(&mut states)?;
        self.state = states.into_iter().nth(witness.initial() as usize);
        self.broken(spec)
    }

    /// Takes the next step.
    pub(crate) fn step(&mut self, spec: &TraceSpec<'_>, op: &TraceOp, placed: Placed) -> Result<Option<Broken>, Fault> {
        let Some(at) = &self.state else { return Ok(None) };
        // An observer leads to the state that was just evaluated.
        if op.step.is_observer {
            return Ok(None);
        }
        let next = successor(spec, at, op, placed)?;
        let is_same = next.as_ref().is_some_and(|next| Arc::ptr_eq(&next.values, &at.values));
        self.state = next;
        if is_same { Ok(None) } else { self.broken(spec) }
    }

    fn broken(&self, spec: &TraceSpec<'_>) -> Result<Option<Broken>, Fault> {
        let Some(at) = &self.state else { return Ok(None) };
        let broken = spec.with_machine(|machine| machine.broken_invariant(&at.values));
        let broken = broken.map_err(|error| Fault { op: None, state: Some(at.values.clone()), error })?;
        Ok(broken.map(|invariant| Broken { invariant, state: at.values.clone() }))
    }
}

impl Spec for TraceSpec<'_> {
    type Op = TraceOp;
    type State = TraceState;
    type Error = Fault;

    fn initial(&self, out: &mut Vec<TraceState>) -> Result<(), Fault> {
        if let Some(states) = &*self.initial.borrow() {
            out.extend_from_slice(states);
            return Ok(());
        }
        let mut states = self.begin.clone().unwrap_or_default();
        if self.begin.is_none() {
            self.try_initial(&mut states).map_err(|error| Fault { op: None, state: None, error })?;
        }
        out.extend_from_slice(&states);
        *self.initial.borrow_mut() = Some(states);
        Ok(())
    }

    fn step(&self, state: &TraceState, op: &TraceOp, out: &mut Successors<TraceState>) -> Result<(), Fault> {
        let fault = |error| Fault { op: Some(op.id), state: Some(state.values.clone()), error };
        self.found.borrow_mut().clear();
        let mut add = |next, is_done| if is_done { out.done(next) } else { out.partway(next) };
        self.compute(state, op, &mut add).map_err(fault)
    }

    fn is_observer(&self, op: &TraceOp) -> bool {
        op.step.is_observer
    }

    fn commute(&self, a: &TraceOp, b: &TraceOp) -> bool {
        self.is_free() && a.step.commutes_with(&b.step)
    }

    fn is_total(&self, op: &TraceOp) -> bool {
        // An operation that reads nothing and is enabled in one state is enabled in all states.
        let is_blind = op.step.looks_at_nothing(|variable| self.binder.keeps_domain(variable));
        self.is_free() && is_blind && self.at_first(op).is_some_and(|reached| reached.iter().all(|to| !to.is_empty()))
    }

    fn overwrites(&self, later: &TraceOp, earlier: &TraceOp) -> bool {
        self.is_free() && later.step.overwrites(&earlier.step)
    }

    fn precludes(&self, earlier: &TraceOp, later: &TraceOp) -> bool {
        let keeps_domain = |variable| self.binder.keeps_domain(variable);
        self.is_free()
            && earlier.step.looks_at_nothing(keeps_domain)
            && earlier.step.determines(&later.step)
            && self.is_never_after(earlier, later)
    }

    /// Only why an operation is not blocked. Explanations evaluate the guards of the others.
    fn why_not(&self, _: &TraceState, op: &TraceOp) -> Option<String> {
        op.step.is_blocked.then(|| "it is blocked at the end, but the specification enables it here".to_owned())
    }

    fn allows(&self, state: &TraceState, op: &TraceOp) -> Result<bool, Fault> {
        let fault = |error| Fault { op: Some(op.id), state: Some(state.values.clone()), error };
        let mut is_allowed = false;
        self.found.borrow_mut().clear();
        self.compute(state, op, &mut |_, is_done| is_allowed |= is_done).map_err(fault)?;
        Ok(is_allowed)
    }
}

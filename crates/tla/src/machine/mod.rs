//! Runs a program: evaluates expressions, and computes initial states and successors as TLC does.
//!
//! The machine walks the expressions of a [`Program`] with a stack of slots. Calling an operator pushes a *frame*:
//! its arguments, then room for the names bound inside. Arguments and `LET` definitions are evaluated lazily, so a
//! slot may hold a *thunk*, an expression with its frame; that frame is always below, because an operator cannot
//! return an operator. A lazy set can outlive its frame, so it captures the names it uses.
//!
//! There are two states, the *current* and the *next* one. An expression reads the current state; under a prime it
//! reads the next. While initial states are computed everything reads the next, so that `Init` assigns variables by
//! the same code as `Next`. The value of a thunk is cached as long as the states it read stay the same: every
//! evaluation records what it read, and every assignment starts a new *epoch*.

mod action;
mod bounds;
mod compose;
mod enabled;
mod eval;
mod except;
mod explain;
mod explain_text;
mod frame;
mod host;
mod idiom;
mod known_next;
mod memo;
mod operation;
mod refute_exists;

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::datum::{Datum, World};
use crate::error::{ErrorKind, EvalError, Result};
use crate::ir::{DefId, Definition, ExprId, Exprs, SlotId, VarId};
use crate::program::Program;
use crate::source::Site;
use crate::value::Value;
use explain::Recorder;
pub use explain::{Attempt, Choice, Explanation, Part, PartOutcome};
use frame::{Footprint, Frame, Reads, Slot};
pub use known_next::{At, Step};
use memo::Memos;
use refute_exists::Plans;

/// One value for each variable, in the order of declaration.
pub type State = Arc<[Value]>;

/// The label of a step: the action of the next-state relation that allowed it, and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Label {
    /// The name of the operator.
    pub name: String,
    /// Its parameters and their values, as far as they have one.
    pub args: Vec<(String, Value)>,
    /// Where it is defined.
    pub site: Site,
}

/// Whether to continue the search for states; a [`ControlFlow::Break`] ends it.
type Flow = Result<ControlFlow<()>>;

/// The maximum depth of operator calls. TLC gives up earlier.
const DEEPEST_CALL: usize = 20_000;

/// The operator that labels a step: one that was called, or one whose call was inlined.
#[derive(Clone, Copy)]
enum Naming<'p> {
    Called(DefId, Frame),
    Inlined(DefId, &'p [Option<ExprId>], Frame),
}

/// The number of ticks between checks whether the world wants to stop.
const TICKS: u64 = 256;

/// Which state a variable is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Current,
    Next,
}

/// Evaluates the expressions of one program.
pub struct Machine<'p> {
    program: &'p Program,
    exprs: &'p Exprs,
    definitions: &'p [Definition],
    stack: Vec<Slot<'p>>,
    frame: Frame,
    depth: usize,
    /// Counts work, to check now and then whether the world wants to stop.
    ticks: u64,
    reading: Reading,
    current: Option<State>,
    /// Identifies the current state within a run, in which a composition of actions has several.
    version: u32,
    versions: u32,
    next: Vec<Option<Value>>,
    /// The number of variables without a next value.
    unassigned: usize,
    /// The definitions whose next values an `ENABLED` binds, after those of the variables.
    replaced: &'p [DefId],
    /// Grows with every assignment of a next value and its undoing.
    epoch: u32,
    /// What has been read since this was last reset.
    reads: Cell<Reads>,
    /// The value of each constant definition, once computed.
    constants: Vec<Option<Datum>>,
    /// The slots that the expressions of closures need.
    footprints: HashMap<ExprId, Footprint, FxBuildHasher>,
    /// The operator that labels the step under construction, and its frame; set while no conjunction has begun.
    label: Option<Naming<'p>>,
    is_naming: bool,
    memos: Memos,
    plans: Plans,
    /// Whether a formula about a known step is evaluated.
    is_of_step: bool,
    /// The variables that the step changes, as bits.
    changed: u128,
    /// The number of states inside compositions, while they are counted.
    between: Option<u64>,
    /// Whether the next states found are not wanted.
    is_probing: bool,
    /// Whether an operator on sequences has been applied to a string.
    reads_text: bool,
    /// Present while an action is explained.
    recorder: Option<Box<Recorder>>,
    world: Box<dyn World + Send + 'p>,
}

impl<'p> Machine<'p> {
    /// A machine for a program.
    pub fn new(program: &'p Program, world: Box<dyn World + Send + 'p>) -> Machine<'p> {
        let module = &program.module;
        Machine {
            program,
            exprs: &module.exprs,
            definitions: &module.definitions,
            stack: Vec::with_capacity(256),
            frame: Frame::default(),
            depth: 0,
            ticks: 0,
            reading: Reading::Current,
            current: None,
            version: 0,
            versions: 0,
            next: vec![None; module.variables.len()],
            unassigned: module.variables.len(),
            replaced: &[],
            epoch: 0,
            reads: Cell::default(),
            constants: vec![None; module.definitions.len()],
            footprints: HashMap::default(),
            label: None,
            is_naming: true,
            memos: Memos::default(),
            plans: Plans::default(),
            is_of_step: false,
            changed: 0,
            between: None,
            is_probing: false,
            reads_text: false,
            recorder: None,
            world,
        }
    }

    /// The program it runs.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The world seen by the specification.
    pub fn world(&mut self) -> &mut (dyn World + Send + 'p) {
        &mut *self.world
    }

    /// Whether an operator on sequences, such as `Len`, has been applied to a string.
    pub fn has_read_text(&self) -> bool {
        self.reads_text
    }

    /// Adds every initial state, in TLC's order, duplicates included.
    pub fn initial_states(&mut self, out: &mut Vec<State>) -> Result<()> {
        self.fresh(None, Reading::Next);
        let Some(init) = self.program.init else {
            return Ok(());
        };
        self.run(init, &mut |machine| {
            out.push(machine.next_state(None)?);
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Adds every successor of a state, in TLC's order, duplicates included.
    pub fn successors(&mut self, state: &State, out: &mut Vec<State>) -> Result<()> {
        self.fresh(Some(state.clone()), Reading::Current);
        let Some(next) = self.program.next else {
            return Ok(());
        };
        self.between = Some(0);
        self.run(next, &mut |machine| {
            if machine.is_probing {
                return compose::reached();
            }
            out.push(machine.next_state(Some(state))?);
            Ok(ControlFlow::Continue(()))
        })
    }

    /// The number of states that the last call of [`Machine::successors`] found inside compositions of actions.
    pub fn take_between(&mut self) -> u64 {
        self.between.take().unwrap_or(0)
    }

    /// Every successor of a state with the label of the step to it.
    pub fn labelled_successors(&mut self, state: &State) -> Result<Vec<(Label, State)>> {
        self.fresh(Some(state.clone()), Reading::Current);
        let mut out = Vec::new();
        let Some(next) = self.program.next else {
            return Ok(out);
        };
        self.run(next, &mut |machine| {
            let successor = machine.next_state(Some(state))?;
            out.push((machine.label(), successor));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(out)
    }

    /// Whether a predicate holds in a state.
    fn holds_now(&mut self, predicate: ExprId, state: &State) -> Result<bool> {
        self.fresh(Some(state.clone()), Reading::Current);
        self.test(predicate)
    }

    /// Whether a predicate holds of a step.
    pub fn holds_step(&mut self, predicate: ExprId, from: &State, to: &State) -> Result<bool> {
        self.fresh(Some(from.clone()), Reading::Current);
        self.next = to.iter().cloned().map(Some).collect();
        self.unassigned = 0;
        self.test(predicate)
    }

    /// The same for a formula that is about the step as a whole, as a property is: false conjuncts may be found out of
    /// order.
    pub fn holds_whole_step(&mut self, predicate: ExprId, from: &State, to: &State) -> Result<bool> {
        self.is_of_step = true;
        self.note_changes(from, to);
        let holds = self.holds_step(predicate, from, to);
        self.is_of_step = false;
        holds
    }

    /// The first constraint that excludes a state or the step to it, or the first invariant that it violates, if
    /// invariants count.
    pub fn exclusion(
        &mut self,
        from: Option<&State>,
        to: &State,
        with_invariants: bool,
    ) -> Result<Option<&'p (String, ExprId)>> {
        let program = self.program;
        if let Some(from) = from {
            for constraint in &program.action_constraints {
                if !self.holds_step(constraint.1, from, to)? {
                    return Ok(Some(constraint));
                }
            }
        }
        // The state did not change, so its predicates did not either.
        if from.is_some_and(|from| Arc::ptr_eq(from, to)) {
            return Ok(None);
        }
        for constraint in &program.constraints {
            if !self.holds(constraint.1, to)? {
                return Ok(Some(constraint));
            }
        }
        if !with_invariants {
            return Ok(None);
        }
        Ok(self.broken_invariant(to)?.map(|index| &program.invariants[index]))
    }

    /// The first invariant that a state violates, by its index in the program.
    pub fn broken_invariant(&mut self, state: &State) -> Result<Option<usize>> {
        let program = self.program;
        for (index, (_, invariant)) in program.invariants.iter().enumerate() {
            if !self.holds(*invariant, state)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Evaluates an expression, in a state if it needs one.
    pub fn evaluate(&mut self, expr: ExprId, state: Option<&State>) -> Result<Datum> {
        self.fresh(state.cloned(), Reading::Current);
        self.eval(expr)
    }

    /// Evaluates a definition without parameters; the result may be lazy.
    pub fn evaluate_definition(&mut self, def: DefId, state: Option<&State>) -> Result<Datum> {
        self.fresh(state.cloned(), Reading::Current);
        let frame = self.enter(&self.definitions[def.0 as usize], &[]);
        self.run_body(def, frame)
    }

    /// Evaluates an expression to a finite value.
    pub fn value(&mut self, expr: ExprId, state: Option<&State>) -> Result<Value> {
        let datum = self.evaluate(expr, state)?;
        self.settled(datum, expr)
    }

    /// The amount of work done so far: roughly, calls of operators and elements of sets.
    pub fn work(&self) -> u64 {
        self.ticks
    }

    /// Counts a unit of work. An error if the world wants evaluation to stop.
    #[inline]
    pub(crate) fn tick(&mut self) -> Result<()> {
        self.ticks += 1;
        if self.ticks.is_multiple_of(TICKS) && self.world.limit().is_some() {
            return Err(Self::stopped());
        }
        Ok(())
    }

    #[cold]
    fn stopped() -> Box<EvalError> {
        EvalError::new(ErrorKind::Stopped, "evaluation was stopped")
    }

    /// Clears everything from the last run except constants.
    fn fresh(&mut self, current: Option<State>, reading: Reading) {
        self.stack.clear();
        self.frame = Frame::default();
        self.depth = 0;
        self.reading = reading;
        self.current = current;
        // A run undoes its assignments, unless an error cut it short.
        if self.unassigned < self.next.len() {
            self.next.fill(None);
            self.unassigned = self.next.len();
        }
        self.epoch += 1;
        self.label = None;
        self.is_naming = true;
        self.between = None;
        self.is_probing = false;
        self.version = 0;
        self.versions = 0;
    }

    fn run(&mut self, expr: ExprId, found: &mut dyn FnMut(&mut Self) -> Flow) -> Result<()> {
        self.act(expr, found).map(|_| ())
    }

    /// The state under construction, which must be complete.
    fn next_state(&self, from: Option<&State>) -> Result<State> {
        if self.unassigned > 0 {
            let missing = self.unassigned_names();
            let kind = if from.is_some() { "next" } else { "initial" };
            let message = format!("the {kind} state has no value for {missing}");
            let error = EvalError::new(ErrorKind::Unassigned, message);
            let names = missing.replace('`', "");
            return Err(match (from, self.unassigned) {
                (None, _) => error.help("an initial predicate must assign every variable"),
                (Some(_), 1) => error.help(format!("if it does not change, add `UNCHANGED {names}`")),
                (Some(_), _) => error.help(format!("if they do not change, add `UNCHANGED <<{names}>>`")),
            });
        }
        let complete = "every variable is assigned";
        Ok(self.next.iter().map(|value| value.clone().expect(complete)).collect())
    }

    /// The variables without a next value, for messages.
    fn unassigned_names(&self) -> String {
        let variables = self.program.module.variables.iter().zip(&self.next);
        let missing =
            variables.filter(|(_, value)| value.is_none()).map(|(variable, _)| format!("`{}`", variable.name));
        missing.collect::<Vec<_>>().join(", ")
    }

    /// The label of the step under construction.
    fn label(&mut self) -> Label {
        let (def, args) = match self.label {
            None => {
                let site = self.program.next.map(|next| self.exprs.site(next)).unwrap_or_default();
                return Label { name: "Next".to_owned(), args: Vec::new(), site };
            }
            Some(Naming::Called(def, frame)) => (def, self.within(frame, |machine| machine.parameters(def))),
            Some(Naming::Inlined(def, args, frame)) => {
                (def, self.within(frame, |machine| machine.inlined_parameters(def, args)))
            }
        };
        let definition = &self.definitions[def.0 as usize];
        Label { name: definition.name.clone(), args, site: definition.site }
    }

    /// The parameters of a definition as written, with their values in the current frame.
    fn parameters(&mut self, def: DefId) -> Vec<(String, Value)> {
        let params = self.definitions[def.0 as usize].params.len() as u32;
        let values = (0..params).map(|slot| self.argument(SlotId(slot)).ok()).collect();
        self.named(def, values)
    }

    /// The same for an inlined definition.
    fn inlined_parameters(&mut self, def: DefId, args: &[Option<ExprId>]) -> Vec<(String, Value)> {
        let values = args.iter().map(|arg| arg.and_then(|arg| self.eval(arg).ok())).collect();
        self.named(def, values)
    }

    fn named(&mut self, def: DefId, values: Vec<Option<Datum>>) -> Vec<(String, Value)> {
        let definition = &self.definitions[def.0 as usize];
        let mut named = Vec::new();
        for (param, datum) in definition.params.iter().zip(values).skip(definition.captures) {
            if let Some(datum) = datum.filter(|_| param.arity == 0)
                && let Ok(value) = crate::datum::to_value(self, &datum)
            {
                named.push((param.name.clone(), value));
            }
        }
        named
    }

    /// Assigns a variable's next value while `then` runs.
    fn assign(&mut self, variable: VarId, value: Value, then: &mut dyn FnMut(&mut Self) -> Flow) -> Flow {
        self.set_next(variable, value);
        let flow = then(self);
        self.unassign(variable);
        flow
    }

    #[inline]
    fn set_next(&mut self, variable: VarId, value: Value) {
        self.next[variable.0 as usize] = Some(value);
        self.unassigned -= 1;
        self.epoch += 1;
    }

    #[inline]
    fn unassign(&mut self, variable: VarId) {
        self.next[variable.0 as usize] = None;
        self.unassigned += 1;
        self.epoch += 1;
    }

    /// Turns a datum into a value; an error at the expression if it has none.
    fn settled(&mut self, datum: Datum, expr: ExprId) -> Result<Value> {
        match datum {
            Datum::Value(value) => Ok(value),
            lazy => crate::datum::to_value(self, &lazy).map_err(|error| self.at(error, expr)),
        }
    }

    /// Sets the location of an error, unless it has a more precise one.
    #[cold]
    fn at(&self, mut error: Box<EvalError>, expr: ExprId) -> Box<EvalError> {
        error.site.get_or_insert(self.exprs.site(expr));
        error
    }
}

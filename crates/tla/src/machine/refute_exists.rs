//! Refutes an `\E` before its sets are enumerated.
//!
//! In `\E b \in 1..n : state[i] = "leader" /\ b < limit /\ ...` the first conjunct does not depend on `b`. If it is
//! false, no element helps, so it is tested once. The conjuncts before the first one that depends on a bound name, or
//! on the next state, are tested this way; an error is left to the enumeration, which finds it again if there is an
//! element. The sets are evaluated first, and only if enumerating them cannot fail is anything tested: an error in a set
//! counts even if no element helps. So neither results nor errors change.
//!
//! Of a step whose states are both known, as for a property, any conjunct that does not depend on the bound names is
//! tested, also one behind others, such as `UNCHANGED vars`. A conjunct before it may have no value for some element:
//! then the formula is false here, and an error in TLC. For the same reason a formula is false without evaluation if it
//! implies that a variable is unchanged which the step changes, and of a disjunction the part that was true of the last
//! step comes first: consecutive steps are often of one kind.

use std::sync::Arc;

use super::frame::Slot;
use super::{Machine, Reading, State};
use crate::datum::{Datum, LazySet};
use crate::error::Result;
use crate::ir::{Body, Bound, ExprId, ExprLevel, Exprs, Node, SlotId};
use crate::value::Value;

/// A conjunct with more parts than this is not tested twice.
const MOST_PARTS: usize = 80;

/// A part of a plan.
#[derive(Clone, Copy)]
pub(super) enum Probe {
    /// Binds a name of a `LET`.
    Bind(SlotId, ExprId),
    /// A conjunct.
    Test(ExprId),
    /// The set of another `\E` around the conjuncts that follow: they count only if it can be enumerated.
    Set(ExprId),
}

/// The conjuncts to test before an `\E` is enumerated.
pub(super) type Plan = Arc<[Probe]>;

/// The plans of each `\E`, once computed.
#[derive(Default)]
pub(super) struct Plans {
    prefix: hashbrown::HashMap<ExprId, Plan, rustc_hash::FxBuildHasher>,
    whole: hashbrown::HashMap<ExprId, Plan, rustc_hash::FxBuildHasher>,
    /// The variables that each formula keeps.
    keeps: hashbrown::HashMap<ExprId, u128, rustc_hash::FxBuildHasher>,
    /// The part of each disjunction that was true last.
    latest: hashbrown::HashMap<ExprId, usize, rustc_hash::FxBuildHasher>,
}

impl<'p> Machine<'p> {
    /// Whether a formula about a known step implies that a variable is unchanged which the step changes.
    #[inline]
    pub(super) fn is_refuted_by_changes(&mut self, formula: ExprId) -> bool {
        self.is_of_step && self.changed != 0 && self.reading == Reading::Current && {
            let keeps = self.keeps(formula);
            keeps & self.changed != 0
        }
    }

    /// Whether a disjunction about a known step is true.
    pub(super) fn test_disjunction(&mut self, or: ExprId, parts: &'p [ExprId]) -> Result<bool> {
        let latest = self.plans.latest.get(&or).copied().unwrap_or(0);
        let first = std::iter::once(latest).chain((0..parts.len()).filter(|&index| index != latest));
        for index in first {
            if self.test(parts[index])? {
                self.plans.latest.insert(or, index);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The variables that are unchanged if a formula is true, as bits.
    fn keeps(&mut self, formula: ExprId) -> u128 {
        if let Some(keeps) = self.plans.keeps.get(&formula) {
            return *keeps;
        }
        let keeps = match self.exprs.node(formula) {
            Node::And(parts) => parts.iter().fold(0, |keeps, &part| keeps | self.keeps(part)),
            Node::Or(parts) => parts.iter().fold(u128::MAX, |keeps, &part| keeps & self.keeps(part)),
            Node::If(_, yes, no) => self.keeps(*yes) & self.keeps(*no),
            Node::Inlined { body, .. } | Node::Let { body, .. } | Node::Exists { body, .. } => self.keeps(*body),
            Node::Unchanged(inner) => self.variables_in(*inner),
            _ => 0,
        };
        self.plans.keeps.insert(formula, keeps);
        keeps
    }

    /// The variables that an expression consists of, as bits; others are left out.
    fn variables_in(&self, expr: ExprId) -> u128 {
        match self.exprs.node(expr) {
            Node::Variable(variable) => 1_u128.checked_shl(variable.0).unwrap_or(0),
            Node::Tuple(parts) => parts.iter().fold(0, |all, &part| all | self.variables_in(part)),
            Node::Inlined { body, .. } => self.variables_in(*body),
            Node::Call { def, args } if args.is_empty() => match self.definitions[def.0 as usize].body {
                Body::Expr(body) if !self.definitions[def.0 as usize].is_recursive => self.variables_in(body),
                _ => 0,
            },
            _ => 0,
        }
    }

    /// Notes the variables that a step changes.
    pub(super) fn note_changes(&mut self, from: &State, to: &State) {
        let changes = from.iter().zip(to.iter()).enumerate().filter(|(_, (from, to))| from != to);
        self.changed = changes.fold(0, |all, (index, _)| all | 1_u128.checked_shl(index as u32).unwrap_or(0));
    }

    /// Whether an `\E` is false of a known step, whatever its bound names are.
    #[inline]
    pub(super) fn is_refuted_step(&mut self, exists: ExprId) -> bool {
        self.is_of_step && self.is_refuted_by_plan(exists)
    }

    /// Whether an `\E` over these sets is false whatever its bound names are.
    #[inline]
    pub(super) fn is_refuted(&mut self, exists: ExprId, sets: &[Datum]) -> bool {
        !self.is_of_step && sets.iter().all(is_enumerable) && self.is_refuted_by_plan(exists)
    }

    fn is_refuted_by_plan(&mut self, exists: ExprId) -> bool {
        if self.reading == Reading::Next || self.recorder.is_some() {
            return false;
        }
        let plan = self.plan(exists);
        for probe in plan.iter() {
            match *probe {
                Probe::Bind(slot, value) => {
                    let frame = self.current_frame();
                    self.set_slot(slot, Slot::Thunk { expr: value, frame });
                }
                Probe::Test(conjunct) => match self.test(conjunct) {
                    Ok(true) => {}
                    Ok(false) => return true,
                    // Conjuncts behind an error are not reached.
                    Err(_) if !self.is_of_step => return false,
                    Err(_) => {}
                },
                Probe::Set(set) => {
                    if !self.eval(set).is_ok_and(|set| is_enumerable(&set)) {
                        return false;
                    }
                }
            }
        }
        false
    }

    fn plan(&mut self, exists: ExprId) -> Plan {
        let is_whole = self.is_of_step;
        let plans = if is_whole { &self.plans.whole } else { &self.plans.prefix };
        if let Some(plan) = plans.get(&exists) {
            return plan.clone();
        }
        let mut planner = Planner { machine: self, unbound: Vec::new(), probes: Vec::new(), is_whole };
        if let Node::Exists { bounds, body } = self.exprs.node(exists) {
            planner.unbound.extend(bounds.iter().flat_map(|bound| bound.pattern.slots()));
            planner.formula(*body);
        }
        // Names without a test are not needed.
        let last = planner.probes.iter().rposition(|probe| matches!(probe, Probe::Test(_)));
        planner.probes.truncate(last.map_or(0, |last| last + 1));
        let plan: Plan = planner.probes.into();
        let plans = if is_whole { &mut self.plans.whole } else { &mut self.plans.prefix };
        plans.insert(exists, plan.clone());
        plan
    }
}

/// Whether a set can be enumerated without an error.
fn is_enumerable(set: &Datum) -> bool {
    match set {
        Datum::Value(value) => matches!(value, Value::Set(_)),
        Datum::Set(set) => match &**set {
            LazySet::Interval(..) => true,
            LazySet::Subsets(base) => is_enumerable(base),
            LazySet::Functions(domain, range) => is_enumerable(domain) && is_enumerable(range),
            LazySet::Product(sets) => sets.iter().all(is_enumerable),
            LazySet::Records(fields) => fields.iter().all(|(_, set)| is_enumerable(set)),
            _ => false,
        },
        Datum::Function(_) => false,
    }
}

struct Planner<'m, 'p> {
    machine: &'m Machine<'p>,
    /// The slots that have no value yet.
    unbound: Vec<SlotId>,
    probes: Vec<Probe>,
    is_whole: bool,
}

impl Planner<'_, '_> {
    fn exprs(&self) -> &Exprs {
        self.machine.exprs
    }

    /// Plans a part of the formula; `false` if the parts behind it are not planned.
    fn formula(&mut self, expr: ExprId) -> bool {
        match self.exprs().node(expr).clone() {
            Node::And(parts) => parts.iter().all(|&part| self.formula(part) || self.is_whole),
            Node::Inlined { body, .. } => self.formula(body),
            Node::Exists { bounds, body } => {
                let can_be_evaluated = |bound: &Bound| self.is_bound(bound.set) && self.is_cheap(bound.set);
                if self.is_whole || bounds.iter().all(can_be_evaluated) {
                    let sets = bounds.iter().filter(|_| !self.is_whole).map(|bound| Probe::Set(bound.set));
                    self.probes.extend(sets.collect::<Vec<_>>());
                    self.unbound.extend(bounds.iter().flat_map(|bound| bound.pattern.slots()));
                    self.formula(body);
                }
                // What follows is evaluated only if an element exists.
                false
            }
            Node::Let { slot, value, body } => {
                if self.is_bound(value) {
                    self.probes.push(Probe::Bind(slot, value));
                } else {
                    self.unbound.push(slot);
                }
                self.formula(body)
            }
            _ => {
                let is_tested = self.is_bound(expr) && self.is_cheap(expr);
                if is_tested {
                    self.probes.push(Probe::Test(expr));
                }
                is_tested
            }
        }
    }

    fn is_bound(&self, expr: ExprId) -> bool {
        let free = self.exprs().free_slots(expr);
        !free.iter().any(|slot| self.unbound.contains(slot))
    }

    /// Whether testing an expression twice costs little and has no effects.
    fn is_cheap(&self, expr: ExprId) -> bool {
        let (mut parts, mut is_cheap) = (0, true);
        self.exprs().for_each_below(expr, &mut |node| {
            parts += 1;
            is_cheap &= match node {
                Node::Exists { .. }
                | Node::Forall { .. }
                | Node::Choose { .. }
                | Node::Filter { .. }
                | Node::Map { .. }
                | Node::Function { .. }
                | Node::CallArgument { .. }
                | Node::Enabled(..)
                | Node::Compose(..)
                | Node::Always(_)
                | Node::Unsupported { .. } => false,
                Node::Prime(_) | Node::Unchanged(_) | Node::Square(..) | Node::Angle(..) => self.is_whole,
                _ => true,
            };
            node.for_each_callee(&mut |callee| {
                let definition = &self.machine.definitions[callee.0 as usize];
                is_cheap &= match &definition.body {
                    Body::Native(native) => !native.is_volatile,
                    Body::Expr(_) => definition.params.is_empty() && definition.level == ExprLevel::Constant,
                    Body::Declared => false,
                };
            });
        });
        is_cheap && parts <= MOST_PARTS
    }
}

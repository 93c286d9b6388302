//! Evaluates expressions.
//!
//! [`Machine::eval`] is the evaluator. [`Machine::test`] is the same for expressions that must be booleans, and
//! [`Machine::peek`] finds a value that already exists (a variable, a bound name, a function's value at one of those)
//! without copying it; both exist for speed and do not change results.

use std::sync::Arc;

use smallvec::SmallVec;

use super::bounds::Sets;
use super::frame::{Reads, Slot};
use super::{Machine, Reading};
use crate::datum::{self, Closure, Datum, Elements, LazyFunction, LazySet, Native, Operand};
use crate::error::{ErrorKind, EvalError, Result};
use crate::ir::{Arg, Arithmetic, Body, Bound, DefId, ExprId, Node, SlotId, VarId};
use crate::strings::Str;
use crate::value::{self, Value};

impl<'p> Machine<'p> {
    /// Evaluates an expression.
    pub(super) fn eval(&mut self, expr: ExprId) -> Result<Datum> {
        let value = match self.exprs.node(expr) {
            Node::Value(value) => value.clone(),
            Node::Strings => return Ok(LazySet::Strings.into()),
            Node::Variable(variable) => self.variable(*variable, expr)?.clone(),
            Node::Local(slot) | Node::Argument(slot) => return self.argument(*slot).map_err(|e| self.at(e, expr)),
            Node::Let { slot, value, body } => {
                let frame = self.current_frame();
                self.set_slot(*slot, Slot::Thunk { expr: *value, frame });
                return self.eval(*body);
            }
            Node::Call { def, args } => return self.call(*def, args).map_err(|e| self.called(e, *def, expr)),
            Node::Inlined { def, body, .. } => return self.eval(*body).map_err(|e| self.called(e, *def, expr)),
            Node::CallArgument { slot, args } => {
                let (def, frame) = self.enter_argument(*slot, args).map_err(|e| self.at(e, expr))?;
                return self.run_body(def, frame).map_err(|e| self.called(e, def, expr));
            }
            Node::If(condition, yes, no) => {
                let branch = if self.test(*condition)? { *yes } else { *no };
                return self.eval(branch);
            }
            Node::Case { arms, other } => {
                let branch = self.choose_arm(arms, *other, expr)?;
                return self.eval(branch);
            }
            Node::Arithmetic(operation, def, a, b) => return self.arithmetic(*operation, *def, *a, *b, expr),
            Node::Apply(function, arg) => return self.apply(*function, *arg, expr),
            Node::Field(record, field) => {
                if let Some(value) = self.peek(expr) {
                    return Ok(value.clone().into());
                }
                let record = self.eval(*record)?;
                let name = Datum::Value(Value::Str(field.clone()));
                return datum::apply(self, &record, &name).map_err(|e| self.at(e, expr));
            }
            Node::Set(elements) => {
                let elements = elements.iter().map(|&e| self.eval(e)).collect::<Result<Vec<_>>>()?;
                return datum::make_set(elements).map_err(|e| self.mixed(e, expr));
            }
            Node::Tuple(elements) => {
                Value::seq(elements.iter().map(|&e| self.eval_value(e)).collect::<Result<Vec<_>>>()?)
            }
            Node::Record(fields) => {
                let fields = fields.iter().map(|(name, e)| Ok((name.clone(), self.eval_value(*e)?)));
                Value::record(fields.collect::<Result<Vec<_>>>()?)
            }
            Node::Shaped(domain, values) => {
                let values = values.iter().map(|&e| self.eval_value(e)).collect::<Result<Vec<_>>>()?;
                Value::function(domain.clone(), values)
            }
            Node::Cup(a, b) if matches!(self.exprs.node(*b), Node::Set(elements) if elements.len() == 1) => {
                return self.with_one_more(*a, *b, expr);
            }
            Node::Cup(a, b) => return self.two(*a, *b, expr, datum::cup),
            Node::Cap(a, b) => return self.two(*a, *b, expr, datum::cap),
            Node::Minus(a, b) => return self.two(*a, *b, expr, datum::minus),
            Node::Subsets(set) => return Ok(LazySet::Subsets(self.eval(*set)?).into()),
            Node::Union(set) => {
                let set = self.eval(*set)?;
                return datum::union(self, &set).map_err(|e| self.at(e, expr));
            }
            Node::Domain(function) => {
                let function = self.eval(*function)?;
                return datum::domain(&function).map_err(|e| self.at(e, expr));
            }
            Node::Functions(from, to) => {
                let from = self.eval(*from)?;
                return Ok(LazySet::Functions(from, self.eval(*to)?).into());
            }
            Node::Records(fields) => {
                let fields = fields.iter().map(|(name, e)| Ok((name.clone(), self.eval(*e)?)));
                let mut fields = fields.collect::<Result<Vec<_>>>()?;
                fields.sort_by(|(a, _), (b, _)| a.cmp(b));
                return Ok(LazySet::Records(fields.into()).into());
            }
            Node::Product(sets) => {
                let sets = sets.iter().map(|&set| self.eval(set)).collect::<Result<_>>()?;
                return Ok(LazySet::Product(sets).into());
            }
            Node::Choose { bound, body } => self.choose(bound, *body, expr)?,
            Node::Filter { bound, body } => return self.filter(bound, *body, expr),
            Node::Map { bounds, body } => {
                let (mut elements, mut places) = (Vec::new(), 0);
                self.for_each(bounds, expr, &mut |machine| {
                    let element = machine.eval_value(*body)?;
                    places += datum::places_of(&element);
                    if places > datum::LIMIT {
                        return Err(machine.at(datum::too_large(), expr));
                    }
                    elements.push(element);
                    Ok(true)
                })?;
                Value::set(elements).map_err(|e| self.at(e, expr))?
            }
            Node::Function { bounds, body, this } => return self.function(bounds, *body, this.is_some(), expr),
            Node::Except { function, updates } => return self.except(*function, updates, expr),
            Node::Prime(inner) => return self.primed(|machine| machine.eval(*inner)),
            Node::Idiom(idiom, written) => return self.idiom(*idiom, *written),
            Node::Compose(first, second) => Value::Bool(self.test_compose(*first, *second)?),
            Node::Always(_) => return Err(self.at(unsupported("the temporal operator `[]`"), expr)),
            Node::Unsupported { what, .. } => return Err(self.at(unsupported(what), expr)),
            _ => Value::Bool(self.test(expr)?),
        };
        Ok(Datum::Value(value))
    }

    /// Whether an expression is true; an error if it is not a boolean.
    pub(super) fn test(&mut self, expr: ExprId) -> Result<bool> {
        match self.exprs.node(expr) {
            Node::And(parts) => {
                if self.is_refuted_by_changes(expr) {
                    return Ok(false);
                }
                for &part in parts {
                    if !self.test(part)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Node::Or(parts) if self.is_of_step => self.test_disjunction(expr, parts),
            Node::Or(parts) => {
                for &part in parts {
                    if self.test(part)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Node::Not(inner) => Ok(!self.test(*inner)?),
            Node::Implies(a, b) => Ok(!self.test(*a)? || self.test(*b)?),
            Node::Equivalent(a, b) => Ok(self.test(*a)? == self.test(*b)?),
            Node::Equal(a, b) => self.equal(*a, *b, expr),
            Node::NotEqual(a, b) => Ok(!self.equal(*a, *b, expr)?),
            Node::In(a, b) => self.contains(*a, *b, expr),
            Node::NotIn(a, b) => Ok(!self.contains(*a, *b, expr)?),
            Node::Subseteq(a, b) => {
                let a = self.eval(*a)?;
                let b = self.eval(*b)?;
                datum::is_subset(self, &a, &b).map_err(|e| self.at(e, expr))
            }
            Node::Exists { bounds, body } => {
                if self.is_refuted_by_changes(expr) || self.is_refuted_step(expr) {
                    return Ok(false);
                }
                let sets = self.sets_of(bounds)?;
                if self.is_refuted(expr, &sets) {
                    return Ok(false);
                }
                let mut found = false;
                self.for_each_of(bounds, &sets, expr, &mut |machine| {
                    found = machine.test(*body)?;
                    Ok(!found)
                })?;
                Ok(found)
            }
            Node::Forall { bounds, body } => {
                let mut holds = true;
                self.for_each(bounds, expr, &mut |machine| {
                    holds = machine.test(*body)?;
                    Ok(holds)
                })?;
                Ok(holds)
            }
            Node::If(condition, yes, no) => {
                let branch = if self.test(*condition)? { *yes } else { *no };
                self.test(branch)
            }
            Node::Inlined { def, body, .. } => self.test(*body).map_err(|e| self.called(e, *def, expr)),
            Node::Unchanged(inner) => {
                let before = self.eval(*inner)?;
                let after = self.primed(|machine| machine.eval(*inner))?;
                datum::equal(self, &before, &after).map_err(|e| self.at(e, expr))
            }
            Node::Enabled(action, locals) => self.enabled(*action, locals),
            Node::Square(action, subscript) => Ok(self.test(*action)? || !self.changes(*subscript)?),
            Node::Angle(action, subscript) => Ok(self.test(*action)? && self.changes(*subscript)?),
            node => match self.test_plain(node, expr)? {
                Datum::Value(Value::Bool(holds)) => Ok(holds),
                other => {
                    let error = self.not_a_boolean(&other);
                    // Errors point at the body of a definition rather than its name.
                    let body = match self.exprs.node(expr) {
                        Node::Call { def, .. } => match self.definitions[def.0 as usize].body {
                            Body::Expr(body) => body,
                            _ => expr,
                        },
                        _ => expr,
                    };
                    Err(self.at(error, body))
                }
            },
        }
    }

    /// The same, with a fast path if it compares two existing integers, or is itself an existing value.
    #[inline]
    fn test_plain(&mut self, node: &'p Node, expr: ExprId) -> Result<Datum> {
        match node {
            Node::Arithmetic(operation, _, a, b) => {
                if let (Some(Value::Int(a)), Some(Value::Int(b))) = (self.peek(*a), self.peek(*b))
                    && let Some(truth) = operation.compares(*a, *b)
                {
                    return Ok(Datum::Value(Value::Bool(truth)));
                }
            }
            Node::Local(_) | Node::Argument(_) => {
                if let Some(Value::Bool(truth)) = self.peek(expr) {
                    return Ok(Datum::Value(Value::Bool(*truth)));
                }
            }
            _ => {}
        }
        self.eval(expr)
    }

    /// A value that already exists; `None` if it must be computed, or if that is an error.
    #[inline(always)]
    pub(super) fn peek(&self, expr: ExprId) -> Option<&Value> {
        match self.exprs.node(expr) {
            Node::Value(value) => Some(value),
            Node::Variable(variable) => self.variable_slot(*variable),
            Node::Local(slot) | Node::Argument(slot) => match self.slot(*slot) {
                Slot::Datum(Datum::Value(value)) => Some(value),
                _ => self.peek_forced(*slot),
            },
            _ => self.peek_inside(expr),
        }
    }

    fn peek_forced(&self, slot: SlotId) -> Option<&Value> {
        match self.slot(slot) {
            Slot::Forced { datum: Datum::Value(value), valid, .. } if self.is_valid(*valid) => {
                self.note(*valid);
                Some(value)
            }
            _ => None,
        }
    }

    fn peek_inside(&self, expr: ExprId) -> Option<&Value> {
        match self.exprs.node(expr) {
            Node::Apply(function, arg) => self.peek(*function)?.get(self.peek(*arg)?).ok()?,
            Node::Field(record, field) => self.peek(*record)?.field(field).ok(),
            Node::Inlined { body, .. } => self.peek(*body),
            Node::Call { def, args } if args.is_empty() && self.bound_next(*def).is_none() => {
                match &self.constants[def.0 as usize] {
                    Some(Datum::Value(value)) => Some(value),
                    _ => None,
                }
            }
            Node::Prime(inner) => match self.exprs.node(*inner) {
                Node::Variable(variable) => {
                    self.reads.set(self.reads.get().and(Reads::NEXT));
                    self.next[variable.0 as usize].as_ref()
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Evaluates an expression to a value.
    pub(super) fn eval_value(&mut self, expr: ExprId) -> Result<Value> {
        let datum = self.eval(expr)?;
        self.settled(datum, expr)
    }

    #[inline]
    fn variable_slot(&self, variable: VarId) -> Option<&Value> {
        match self.reading {
            Reading::Current => {
                self.reads.set(self.reads.get().and(Reads::CURRENT));
                self.current.as_ref().map(|state| &state[variable.0 as usize])
            }
            Reading::Next => {
                self.reads.set(self.reads.get().and(Reads::NEXT));
                self.next[variable.0 as usize].as_ref()
            }
        }
    }

    fn variable(&self, variable: VarId, expr: ExprId) -> Result<&Value> {
        self.variable_slot(variable).ok_or_else(|| {
            let name = &self.program.module.variables[variable.0 as usize].name;
            let (prime, when) = match (self.reading, &self.current) {
                (Reading::Next, Some(_)) => ("'", "has no value yet"),
                (Reading::Next, None) => ("", "has no value yet"),
                (Reading::Current, _) => ("", "has no value outside a state"),
            };
            let error = EvalError::new(ErrorKind::Unassigned, format!("`{name}{prime}` {when}"));
            let error = match self.reading {
                Reading::Next => {
                    let help = format!("conjuncts are evaluated from left to right: assign `{name}{prime}` earlier");
                    error.help(format!("{help}, with `=` or `\\in`"))
                }
                Reading::Current => error,
            };
            self.at(error, expr)
        })
    }

    /// Runs with the next state as the current one.
    pub(super) fn primed<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.reading, Reading::Next);
        let result = run(self);
        self.reading = outer;
        result
    }

    pub(super) fn changes(&mut self, subscript: ExprId) -> Result<bool> {
        let before = self.eval(subscript)?;
        let after = self.primed(|machine| machine.eval(subscript))?;
        Ok(!datum::equal(self, &before, &after).map_err(|e| self.at(e, subscript))?)
    }

    fn call(&mut self, def: DefId, args: &'p [Arg]) -> Result<Datum> {
        if let Some(variable) = self.bound_next(def) {
            return self.next_of(variable, def);
        }
        let definition = &self.definitions[def.0 as usize];
        if let Body::Native(native) = &definition.body {
            return self.call_native(native, args);
        }
        if args.is_empty() {
            return self.eval_constant(def);
        }
        let frame = self.enter(definition, args);
        self.run_body(def, frame)
    }

    fn call_native(&mut self, native: &'static Native, args: &'p [Arg]) -> Result<Datum> {
        let mut operands: SmallVec<[Operand; 3]> = SmallVec::new();
        for arg in args {
            operands.push(match arg {
                Arg::Expr(expr) => Operand::Datum(self.eval(*expr)?),
                Arg::Slot(slot) => self.operand(*slot)?,
                Arg::Operator(def, captures) => {
                    let captured = captures.iter().map(|&slot| self.capture_slot(slot)).collect();
                    Operand::Operator(datum::Operator { def: *def, captured })
                }
            });
        }
        self.run_operands(native, &operands)
    }

    /// Runs a native operator whose arguments are in the current frame.
    pub(super) fn run_native(&mut self, native: &'static Native) -> Result<Datum> {
        let slots = 0..native.params.len() as u32;
        let operands: SmallVec<[Operand; 3]> = slots.map(|slot| self.operand(SlotId(slot))).collect::<Result<_>>()?;
        self.run_operands(native, &operands)
    }

    fn run_operands(&mut self, native: &'static Native, operands: &[Operand]) -> Result<Datum> {
        if native.is_volatile {
            let effect = if matches!(native.name, "Print" | "PrintT") { Reads::PRINTS } else { Reads::WORLD };
            self.reads.set(self.reads.get().and(effect));
        }
        (native.run)(self, operands)
    }

    fn operand(&mut self, slot: SlotId) -> Result<Operand> {
        Ok(match self.slot(slot) {
            Slot::Operator { .. } | Slot::Carried(_) => match self.capture_slot(slot) {
                datum::Captured::Operator(operator) => Operand::Operator(operator),
                _ => unreachable!("a slot with an operator is captured as one"),
            },
            _ => Operand::Datum(self.argument(slot)?),
        })
    }

    /// Adds a call to the trace of an error.
    #[cold]
    pub(super) fn called(&self, mut error: Box<EvalError>, def: DefId, expr: ExprId) -> Box<EvalError> {
        let site = self.exprs.site(expr);
        if error.site.is_none() {
            error.site = Some(site);
        } else if error.calls.len() < 16 {
            error.calls.push((self.definitions[def.0 as usize].name.clone(), site));
        }
        error
    }

    fn equal(&mut self, a: ExprId, b: ExprId, expr: ExprId) -> Result<bool> {
        if let (Some(a), Some(b)) = (self.peek(a), self.peek(b)) {
            match (a, b) {
                (Value::Int(a), Value::Int(b)) => return Ok(a == b),
                (Value::Str(Str::Known(a)), Value::Str(Str::Known(b))) => return Ok(a == b),
                (a, b) => {
                    if let Ok(is_equal) = value::equal(a, b) {
                        return Ok(is_equal);
                    }
                }
            }
        } else if let Some(is_equal) = self.equal_truth(a, b)? {
            return Ok(is_equal);
        }
        let a = self.eval(a)?;
        if let (Datum::Value(a), Some(b)) = (&a, self.peek(b))
            && let Ok(is_equal) = value::equal(a, b)
        {
            return Ok(is_equal);
        }
        let b = self.eval(b)?;
        datum::equal(self, &a, &b).map_err(|e| self.incomparable(e, &a, "=", &b, expr))
    }

    /// `ok = (k \in S)`, where one side is an existing value and the other a formula; `None` for anything else.
    #[inline]
    fn equal_truth(&mut self, a: ExprId, b: ExprId) -> Result<Option<bool>> {
        let (truth, formula) = match (self.peek(a), self.peek(b)) {
            (Some(Value::Bool(truth)), None) => (*truth, b),
            (None, Some(Value::Bool(truth))) => (*truth, a),
            _ => return Ok(None),
        };
        match self.exprs.node(formula) {
            Node::In(..) | Node::NotIn(..) | Node::Equal(..) | Node::NotEqual(..) | Node::Not(_) | Node::And(_) => {
                Ok(Some(self.test(formula)? == truth))
            }
            _ => Ok(None),
        }
    }

    fn contains(&mut self, element: ExprId, set: ExprId, expr: ExprId) -> Result<bool> {
        if let Some(at_hand) = self.peek(element) {
            let is_element = match (self.exprs.node(set), self.peek(set)) {
                (_, Some(Value::Set(set))) => set.contains(at_hand).ok(),
                (Node::Domain(function), None) => match self.peek(*function) {
                    Some(function @ (Value::Seq(_) | Value::Fun(_))) => {
                        function.get(at_hand).map(|value| value.is_some()).ok()
                    }
                    _ => None,
                },
                _ => None,
            };
            if let Some(is_element) = is_element {
                return Ok(is_element);
            }
        }
        let element = self.eval(element)?;
        if let Node::Domain(function) = self.exprs.node(set)
            && let (Some(function), Datum::Value(element)) = (self.peek(*function), &element)
            && function.function_len().is_some()
            // A model value is neither an index nor an element of any domain.
            && !matches!((function, element), (Value::Seq(_), Value::Model(_)))
        {
            // Membership in the empty set is never an error.
            if function.function_len() == Some(0) {
                return Ok(false);
            }
            return function.get(element).map(|value| value.is_some()).map_err(|e| self.at(e, expr));
        }
        if let (Some(Value::Set(set)), Datum::Value(element)) = (self.peek(set), &element)
            && let Ok(is_element) = set.contains(element)
        {
            return Ok(is_element);
        }
        let set = self.eval(set)?;
        datum::contains(self, &set, &element).map_err(|e| self.incomparable(e, &element, "\\in", &set, expr))
    }

    /// Names the elements of a set that cannot be compared.
    #[cold]
    fn mixed(&mut self, mut error: Box<EvalError>, expr: ExprId) -> Box<EvalError> {
        if let Node::Set(elements) = self.exprs.node(expr)
            && let Ok(elements) = elements.iter().map(|&element| self.eval(element)).collect::<Result<Vec<_>>>()
        {
            let shown: Vec<String> = elements.iter().take(8).map(|element| datum::brief(self, element)).collect();
            let more = if elements.len() > shown.len() { ", ..." } else { "" };
            error.message = format!("{} in `{{{}{more}}}`", error.message, shown.join(", "));
        }
        self.at(error, expr)
    }

    /// Names the values that could not be compared, and where.
    #[cold]
    fn incomparable(
        &mut self,
        mut error: Box<EvalError>,
        a: &Datum,
        sign: &str,
        b: &Datum,
        expr: ExprId,
    ) -> Box<EvalError> {
        if error.kind == ErrorKind::Incomparable && error.site.is_none() {
            let (a, b) = (datum::brief(self, a), datum::brief(self, b));
            error.message = format!("{} in `{a} {sign} {b}`", error.message);
        }
        self.at(error, expr)
    }

    /// `S \cup {e}`, without building the second set.
    fn with_one_more(&mut self, set: ExprId, singleton: ExprId, expr: ExprId) -> Result<Datum> {
        let Node::Set(elements) = self.exprs.node(singleton) else {
            unreachable!("the caller has looked");
        };
        let element = self.eval(elements[0])?;
        if let (Some(Value::Set(set)), Datum::Value(value)) = (self.peek(set), &element) {
            let with = set.insert(value.clone()).map_err(|e| self.at(e, expr))?;
            return Ok(Datum::Value(Value::Set(with)));
        }
        let singleton = datum::make_set(vec![element]).map_err(|e| self.at(e, singleton))?;
        let set = self.eval(set)?;
        datum::cup(self, &set, &singleton).map_err(|e| self.at(e, expr))
    }

    fn arithmetic(&mut self, operation: Arithmetic, def: DefId, a: ExprId, b: ExprId, expr: ExprId) -> Result<Datum> {
        let a = self.eval_plain(a)?;
        let b = self.eval_plain(b)?;
        if let (Datum::Value(Value::Int(a)), Datum::Value(Value::Int(b))) = (&a, &b)
            && let Some(result) = compute(operation, *a, *b)
        {
            return Ok(result);
        }
        let Body::Native(native) = &self.definitions[def.0 as usize].body else {
            unreachable!("only native operators become arithmetic");
        };
        self.run_operands(native, &[Operand::Datum(a), Operand::Datum(b)]).map_err(|e| self.at(e, expr))
    }

    /// Evaluates an expression, with a fast path for integers.
    #[inline]
    fn eval_plain(&mut self, expr: ExprId) -> Result<Datum> {
        match self.peek(expr) {
            Some(Value::Int(value)) => Ok(Datum::Value(Value::Int(*value))),
            _ => self.eval(expr),
        }
    }

    fn two(
        &mut self,
        a: ExprId,
        b: ExprId,
        expr: ExprId,
        run: fn(&mut dyn datum::Host, &Datum, &Datum) -> Result<Datum>,
    ) -> Result<Datum> {
        let a = self.eval(a)?;
        let b = self.eval(b)?;
        run(self, &a, &b).map_err(|e| self.at(e, expr))
    }

    fn apply(&mut self, function: ExprId, arg: ExprId, expr: ExprId) -> Result<Datum> {
        if let Some(value) = self.peek(expr) {
            return Ok(value.clone().into());
        }
        let arg = self.eval(arg)?;
        if let (Some(function), Datum::Value(arg)) = (self.peek(function), &arg)
            && let Ok(Some(value)) = function.get(arg)
        {
            return Ok(value.clone().into());
        }
        let function = self.eval(function)?;
        datum::apply(self, &function, &arg).map_err(|e| self.at(e, expr))
    }

    pub(super) fn choose_arm(
        &mut self,
        arms: &'p [(ExprId, ExprId)],
        other: Option<ExprId>,
        expr: ExprId,
    ) -> Result<ExprId> {
        for (guard, then) in arms {
            if self.test(*guard)? {
                return Ok(*then);
            }
        }
        other.ok_or_else(|| self.at(EvalError::new(ErrorKind::NoChoice, "no arm of the CASE is true"), expr))
    }

    fn choose(&mut self, bound: &'p Bound, body: ExprId, expr: ExprId) -> Result<Value> {
        let set = self.eval(bound.set)?;
        let mut elements = Elements::new(self, &set).map_err(|e| self.at(e, bound.set))?;
        while let Some(element) = elements.next(self).map_err(|e| self.at(e, bound.set))? {
            self.tick()?;
            self.bind(&bound.pattern, element.clone(), expr)?;
            if self.test(body)? {
                return Ok(element);
            }
        }
        let set = datum::brief(self, &set);
        let message = format!("no element of `{set}` satisfies the CHOOSE");
        Err(self.at(EvalError::new(ErrorKind::NoChoice, message), expr))
    }

    fn filter(&mut self, bound: &'p Bound, body: ExprId, expr: ExprId) -> Result<Datum> {
        let set = self.eval(bound.set)?;
        let is_set = matches!(set, Datum::Set(_) | Datum::Value(Value::Set(_)));
        if !is_set || !is_listed(&set) {
            let closure = Closure { code: expr, frame: self.capture(expr) };
            return Ok(LazySet::Filter(set, closure).into());
        }
        let mut elements = Elements::new(self, &set).map_err(|e| self.at(e, bound.set))?;
        let (mut kept, mut places) = (Vec::new(), 0);
        while let Some(element) = elements.next(self).map_err(|e| self.at(e, bound.set))? {
            self.tick()?;
            self.bind(&bound.pattern, element.clone(), expr)?;
            if self.test(body)? {
                places += datum::places_of(&element);
                if places > datum::LIMIT {
                    return Err(self.at(datum::too_large(), expr));
                }
                kept.push(element);
            }
        }
        Ok(Value::set(kept).map_err(|e| self.at(e, expr))?.into())
    }

    fn function(&mut self, bounds: &'p [Bound], body: ExprId, is_recursive: bool, expr: ExprId) -> Result<Datum> {
        let domain = match bounds {
            [bound] => self.eval(bound.set)?,
            _ => {
                let sets: Sets = bounds.iter().map(|bound| self.eval(bound.set)).collect::<Result<_>>()?;
                LazySet::Product(sets.into_iter().collect()).into()
            }
        };
        if is_recursive || !is_listed(&domain) {
            let closure = Closure { code: expr, frame: self.capture(expr) };
            return Ok(lazy_function(domain, closure));
        }
        if let (Datum::Set(lazy), [bound]) = (&domain, bounds)
            && let LazySet::Interval(1, last) = **lazy
        {
            return self.sequence(last, bound, body, &domain, expr);
        }
        let Value::Set(set) = self.settled(domain.clone(), expr)? else {
            let error = self.not_a_set(&domain);
            return Err(self.at(error, expr));
        };
        let mut values = Vec::with_capacity(set.elements().len());
        for element in set.elements() {
            self.tick()?;
            self.bind_args(bounds, element, expr)?;
            match self.eval_finite(body)? {
                Some(value) => values.push(value),
                None => return Ok(lazy_function(domain, Closure { code: expr, frame: self.capture(expr) })),
            }
        }
        Ok(Value::function(set, values).into())
    }

    /// `[i \in 1..last |-> body]`
    fn sequence(&mut self, last: i64, bound: &'p Bound, body: ExprId, domain: &Datum, expr: ExprId) -> Result<Datum> {
        let mut values = Vec::with_capacity(usize::try_from(last.clamp(0, 1 << 20)).unwrap_or(0));
        if u128::try_from(last).is_ok_and(|last| last > datum::LIMIT) {
            return Err(self.at(datum::too_large(), expr));
        }
        for index in 1..=last {
            self.tick()?;
            self.bind(&bound.pattern, Value::Int(index), expr)?;
            match self.eval_finite(body)? {
                Some(value) => values.push(value),
                None => return Ok(lazy_function(domain.clone(), Closure { code: expr, frame: self.capture(expr) })),
            }
        }
        Ok(Value::seq(values).into())
    }

    /// The body of a function as a value; `None` if it is too large to be one or has no value. Then the function is
    /// not a value either, but can be applied where it has one.
    fn eval_finite(&mut self, expr: ExprId) -> Result<Option<Value>> {
        match self.eval(expr) {
            Ok(Datum::Value(value)) => Ok(Some(value)),
            Ok(lazy) => match datum::to_value(self, &lazy) {
                Err(error) if error.kind == ErrorKind::Stopped => Err(error),
                result => Ok(result.ok()),
            },
            // A retry would recurse as deep again, and a stopped evaluation stays stopped.
            Err(error) if matches!(error.kind, ErrorKind::Limit | ErrorKind::Stopped) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Binds the argument of a function: one bound takes it whole, several split a tuple.
    pub(super) fn bind_args(&mut self, bounds: &'p [Bound], arg: &Value, expr: ExprId) -> Result<()> {
        if let [bound] = bounds {
            return self.bind(&bound.pattern, arg.clone(), expr);
        }
        for (bound, component) in bounds.iter().zip(self.components(arg, bounds.len(), expr)?) {
            self.bind(&bound.pattern, component.clone(), expr)?;
        }
        Ok(())
    }

    #[cold]
    pub(super) fn not_a_boolean(&mut self, datum: &Datum) -> Box<EvalError> {
        let shown = datum::brief(self, datum);
        EvalError::new(ErrorKind::WrongKind, format!("`{shown}` is not a boolean"))
    }

    #[cold]
    fn not_a_set(&mut self, datum: &Datum) -> Box<EvalError> {
        let shown = datum::brief(self, datum);
        EvalError::new(ErrorKind::WrongKind, format!("`{shown}` is not a set"))
    }
}

/// Arithmetic within 32 bits.
#[inline]
fn compute(operation: Arithmetic, a: i64, b: i64) -> Option<Datum> {
    let number = |result: Option<i64>| {
        let result = result.filter(|result| i32::try_from(*result).is_ok());
        result.map(|result| Datum::Value(Value::Int(result)))
    };
    let truth = |result: bool| Some(Datum::Value(Value::Bool(result)));
    match operation {
        Arithmetic::Add => number(a.checked_add(b)),
        Arithmetic::Subtract => number(a.checked_sub(b)),
        Arithmetic::Multiply => number(a.checked_mul(b)),
        Arithmetic::Less => truth(a < b),
        Arithmetic::LessOrEqual => truth(a <= b),
        Arithmetic::Greater => truth(a > b),
        Arithmetic::GreaterOrEqual => truth(a >= b),
        Arithmetic::Interval => Some(datum::make_interval(a, b)),
    }
}

/// Whether the elements of a set are already enumerated, so that TLC would not evaluate it lazily.
pub(super) fn is_listed(set: &Datum) -> bool {
    match set {
        Datum::Value(_) => true,
        Datum::Set(set) => match &**set {
            LazySet::Interval(..) => true,
            LazySet::Product(sets) => sets.iter().all(is_listed),
            _ => false,
        },
        Datum::Function(_) => false,
    }
}

pub(super) fn lazy_function(domain: Datum, closure: Closure) -> Datum {
    Datum::Function(Arc::new(LazyFunction { domain, closure, changes: Vec::new() }))
}

#[cold]
fn unsupported(what: &str) -> Box<EvalError> {
    EvalError::new(ErrorKind::Unsupported, format!("{what} cannot be evaluated"))
}

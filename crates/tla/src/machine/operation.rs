//! Runs one operation of the next-state relation with its known arguments, as `Next` would.
//!
//! On a way from the root of `Next`, a bound that is linked to a known argument is a membership test; any other bound
//! is enumerated. At the call, arguments that are not linked must equal the known ones. TLA+ evaluates arguments
//! lazily, and an action may guard against one without a value, so a comparison that has no value is repeated after
//! the action has run. A plain operation with all its arguments needs none of this: they were checked by
//! [`Machine::admits`], and its body runs in a frame that holds them.

use std::ops::ControlFlow::{Break, Continue};

use super::explain::{Choice, Explanation, Part, PartOutcome};
use super::frame::Slot;
use super::{Flow, Machine, Reading, State};
use crate::datum::{self, Datum, Elements};
use crate::error::{ErrorKind, EvalError, Result};
use crate::ir::{Bound, ExprId, Node};
use crate::program::Operation;
use crate::program::keeping::{Shape, Variables};
use crate::program::operation::{Given, GivenArg, Way};
use crate::program::path::{Link, Step, bounds_of};
use crate::source::Site;
use crate::value::Value;

/// The continuation once a formula is true.
type Then<'a, 'p> = &'a mut dyn FnMut(&mut Machine<'p>) -> Flow;

impl<'p> Machine<'p> {
    /// Checks the known arguments against the constant sets over which `Next` quantifies them. `Ok(Err(index))` is
    /// the first parameter whose value is in none of them, or is not the constant that `Next` passes.
    pub fn admits(&mut self, operation: &Operation, args: &[Option<Value>]) -> Result<std::result::Result<(), usize>> {
        if operation.is_free {
            return Ok(Ok(()));
        }
        let mut refused_always = vec![true; args.len()];
        let mut refused_first = None;
        for way in &operation.ways {
            let Some(refused) = self.refused(way, args)? else {
                refused_first.get_or_insert(0);
                continue;
            };
            let Some(first) = refused.iter().position(|is_refused| *is_refused) else {
                return Ok(Ok(()));
            };
            refused_first.get_or_insert(first);
            refused_always.iter_mut().zip(refused).for_each(|(always, refused)| *always &= refused);
        }
        let always = refused_always.iter().position(|is_refused| *is_refused);
        Ok(Err(always.or(refused_first).unwrap_or_default()))
    }

    /// Adds every state that a step of the operation may lead to, in TLC's order, duplicates included. An unknown
    /// argument is any value of the set in `Next`. Known ones must be [admitted](Machine::admits).
    pub fn perform(
        &mut self,
        operation: &Operation,
        args: &[Option<Value>],
        state: &State,
        out: &mut Vec<State>,
    ) -> Result<()> {
        self.fresh_step(state);
        let mut found = |machine: &mut Self| {
            out.push(machine.step_state(state)?);
            Ok(Continue(()))
        };
        if operation.is_plain && self.push_known(operation, args) {
            return self.act_operation(operation, &mut found).map(|_| ());
        }
        self.stack.clear();
        self.follow_all(operation, args, &mut found).map(|_| ())
    }

    /// Like [`Machine::perform`], to tell whether there is a step, for unknown arguments whose sets cannot be enumerated.
    /// There is none if a guard before their first use is false. There is one if there is one for a value that occurs in
    /// the state, as in `v = Head(q)`: then the states of such values are added. Otherwise the error is that of
    /// `perform`, which is passed.
    pub fn perform_some(
        &mut self,
        operation: &Operation,
        args: &[Option<Value>],
        state: &State,
        error: Box<EvalError>,
        out: &mut Vec<State>,
    ) -> Result<()> {
        if operation.captures == 0 {
            self.fresh_step(state);
            // The kind of the error is one that no part of a formula takes for a truth value.
            self.stack.extend(args.iter().map(|arg| match arg {
                Some(value) => Slot::Datum(Datum::Value(value.clone())),
                None => Slot::Failed(error.clone()),
            }));
            if let Ok(Continue(())) = self.act_operation(operation, &mut |_| Ok(Break(()))) {
                return Ok(());
            }
        }
        let mut unknown = args.iter().enumerate().filter(|(_, arg)| arg.is_none()).map(|(place, _)| place);
        if let (Some(place), None) = (unknown.next(), unknown.next()) {
            let mut args = args.to_vec();
            for value in parts(state) {
                args[place] = Some(value);
                // Another value may lead somewhere although this one has an error.
                let performed = match self.admits(operation, &args) {
                    Ok(Ok(())) => self.perform(operation, &args, state, out),
                    refused => refused.map(|_| ()),
                };
                match performed {
                    Err(stopped) if stopped.kind == ErrorKind::Stopped => return Err(stopped),
                    _ => {}
                }
            }
        }
        if out.is_empty() { Err(error) } else { Ok(()) }
    }

    /// Every path through the operation in a state, and where it ended: at a bound of `Next` that does not contain
    /// the argument, at an argument to which `Next` gives another value, or in the action.
    pub fn explain_operation(&mut self, operation: &Operation, args: &[Option<Value>], state: &State) -> Explanation {
        self.fresh(Some(state.clone()), Reading::Current);
        let site = self.definitions[operation.def.0 as usize].site;
        self.explain_run(site, |machine, then| {
            if operation.is_free && machine.push_known(operation, args) {
                return machine.act_operation(operation, then);
            }
            machine.follow_all(operation, args, then)
        })
    }

    /// Whether the operation with these arguments provably changes no state in which it is enabled.
    pub fn never_changes(&mut self, operation: &Operation, args: &[Option<Value>]) -> bool {
        let keeping = &operation.keeping;
        if let Shape::Keeps(kept) = keeping.shape {
            return kept == keeping.all;
        }
        self.fresh(None, Reading::Current);
        self.stack.resize(operation.captures, Slot::Empty);
        self.stack.extend(args.iter().map(|arg| match arg {
            Some(value) => Slot::Datum(Datum::Value(value.clone())),
            None => Slot::Empty,
        }));
        let slots = self.definitions[operation.def.0 as usize].slots;
        self.stack.resize(self.stack.len().max(slots), Slot::Empty);
        self.kept(&keeping.shape).is_none_or(|kept| kept == keeping.all)
    }

    /// The elements of the set over which `Next` quantifies a parameter, in a state; `None` if there is no such set,
    /// if it depends on another name that `\E` binds, or if it has more than `most` elements.
    pub fn candidates(
        &mut self,
        operation: &Operation,
        param: usize,
        state: &State,
        most: usize,
    ) -> Option<Vec<Value>> {
        let mut candidates = Vec::new();
        for way in &operation.ways {
            self.fresh(Some(state.clone()), Reading::Current);
            let found = way.steps.iter().find_map(|step| {
                if let Step::Exists(expr, links) = step {
                    let mut bounds = bounds_of(self.program, *expr).iter().zip(&**links);
                    return bounds.find(|(_, link)| *link.params == [Some(param)]);
                }
                self.pass(step);
                None
            });
            let (bound, link) = found?;
            if !link.is_closed {
                return None;
            }
            let set = self.eval(bound.set).ok()?;
            let mut elements = Elements::new(self, &set).ok()?;
            while let Some(element) = elements.next(self).ok()? {
                candidates.push(element);
                if candidates.len() > most {
                    return None;
                }
            }
        }
        candidates.sort();
        candidates.dedup();
        (!operation.ways.is_empty()).then_some(candidates)
    }

    /// The set over which `Next` quantifies a parameter, if it depends neither on the state nor on other names bound
    /// by `\E`.
    pub fn constant_set(&mut self, operation: &Operation, param: usize) -> Option<Result<Datum>> {
        self.fresh(None, Reading::Current);
        for step in &operation.ways.first()?.steps {
            if let Step::Exists(expr, links) = step {
                let mut bounds = bounds_of(self.program, *expr).iter().zip(&**links);
                if let Some((bound, link)) = bounds.find(|(_, link)| *link.params == [Some(param)]) {
                    return (link.is_constant && link.is_closed).then(|| self.eval(bound.set));
                }
            }
            self.pass(step);
        }
        None
    }

    /// Prepares for a step from a state.
    pub(super) fn fresh_step(&mut self, state: &State) {
        // Callers usually try many operations in one state.
        let current = match self.current.take() {
            Some(current) if State::ptr_eq(&current, state) => current,
            _ => state.clone(),
        };
        self.fresh(Some(current), Reading::Current);
    }

    /// The state under construction, which must be complete; the same one if it is unchanged.
    pub(super) fn step_state(&self, from: &State) -> Result<State> {
        let is_same =
            |(next, current): (&Option<Value>, &Value)| next.as_ref().is_some_and(|next| next.is_identical(current));
        if self.next.iter().zip(from.iter()).all(is_same) {
            return Ok(from.clone());
        }
        self.next_state(Some(from))
    }

    /// Pushes the arguments if all of them are known.
    fn push_known(&mut self, operation: &Operation, args: &[Option<Value>]) -> bool {
        for arg in args {
            let Some(value) = arg else {
                return false;
            };
            self.stack.push(Slot::Datum(Datum::Value(value.clone())));
        }
        args.len() == operation.params.len()
    }

    /// Runs the body of an operator whose arguments are at the bottom of the stack.
    pub(super) fn act_operation(&mut self, operation: &Operation, then: Then<'_, 'p>) -> Flow {
        let definition = &self.definitions[operation.def.0 as usize];
        let len = self.stack.len().max(definition.slots);
        self.stack.resize(len, Slot::Empty);
        match self.program.body(operation.def) {
            Some(body) => self.act(body, then),
            None => Ok(Continue(())),
        }
    }

    pub(super) fn follow_all(&mut self, operation: &Operation, args: &[Option<Value>], then: Then<'_, 'p>) -> Flow {
        if operation.is_free {
            let unknown = args.iter().position(Option::is_none).and_then(|index| operation.params.get(index));
            let name = unknown.map_or("", |param| &param.name);
            let message = format!("`{name}` of `{}` is unknown, and no set determines its values", operation.name);
            return Err(EvalError::new(ErrorKind::NotEnumerable, message));
        }
        for way in &operation.ways {
            self.stack.clear();
            let walk = Walk { way, args, names_disjuncts: operation.ways.len() > 1 };
            if self.follow(&walk, 0, then)?.is_break() {
                return Ok(Break(()));
            }
        }
        Ok(Continue(()))
    }

    /// Follows a way from one of its steps on.
    fn follow(&mut self, walk: &Walk<'_>, index: usize, then: Then<'_, 'p>) -> Flow {
        let Some(step) = walk.way.steps.get(index) else {
            return self.follow_call(walk, then);
        };
        match step {
            Step::Disjunct(part) if walk.names_disjuncts && self.recorder.is_some() => {
                let choice = Choice::Disjunct(self.exprs.site(*part));
                self.chosen(choice, |machine| machine.follow(walk, index + 1, then))
            }
            Step::Exists(expr, links) => {
                let bounds = bounds_of(self.program, *expr);
                self.follow_bounds(walk, index, &Bounds { expr: *expr, bounds, links }, 0, then)
            }
            Step::Into(expr) => {
                let outer = self.current_frame();
                let frame = self.pass(step);
                let mut back = |machine: &mut Self| machine.within(outer, &mut *then);
                let flow = self.deeper(|machine| machine.follow(walk, index + 1, &mut back));
                self.frame = outer;
                if let Some(frame) = frame {
                    self.leave(frame);
                }
                flow.map_err(|error| match self.exprs.node(*expr) {
                    Node::Inlined { def, .. } | Node::Call { def, .. } => self.called(error, *def, *expr),
                    _ => error,
                })
            }
            Step::Disjunct(_) | Step::Let(_) => {
                self.pass(step);
                self.follow(walk, index + 1, then)
            }
        }
    }

    /// Passes a step that needs no choice; returns the frame if it entered one.
    fn pass(&mut self, step: &Step) -> Option<super::frame::Frame> {
        let (Step::Let(expr) | Step::Into(expr)) = step else {
            return None;
        };
        match self.exprs.node(*expr) {
            Node::Let { slot, value, .. } => {
                let frame = self.current_frame();
                self.set_slot(*slot, Slot::Thunk { expr: *value, frame });
                None
            }
            Node::Call { def, args } => {
                let frame = self.enter(&self.definitions[def.0 as usize], args);
                self.frame = frame;
                Some(frame)
            }
            _ => None,
        }
    }

    fn follow_bounds(
        &mut self,
        walk: &Walk<'_>,
        step: usize,
        quantifier: &Bounds<'p, '_>,
        index: usize,
        then: Then<'_, 'p>,
    ) -> Flow {
        let (Some(bound), Some(link)) = (quantifier.bounds.get(index), quantifier.links.get(index)) else {
            return self.follow(walk, step + 1, then);
        };
        let set = self.eval(bound.set)?;
        if let Some(element) = walk.element(link) {
            if !self.is_member(&set, &element, bound)? {
                self.end_at_bound(quantifier.expr, bound, Some(&element), &set);
                return Ok(Continue(()));
            }
            self.bind(&bound.pattern, element, quantifier.expr)?;
            return self.follow_bounds(walk, step, quantifier, index + 1, then);
        }
        let mut elements = Elements::new(self, &set).map_err(|e| self.at(e, bound.set))?;
        let mut is_any = false;
        while let Some(element) = elements.next(self).map_err(|e| self.at(e, bound.set))? {
            self.tick()?;
            self.bind(&bound.pattern, element, quantifier.expr)?;
            if !self.agrees(walk, bound, link) {
                continue;
            }
            is_any = true;
            let flow = if self.recorder.is_some() {
                let choice = self.binding(quantifier.expr, std::slice::from_ref(bound));
                self.chosen(choice, |machine| machine.follow_bounds(walk, step, quantifier, index + 1, then))
            } else {
                self.follow_bounds(walk, step, quantifier, index + 1, then)
            };
            if flow?.is_break() {
                return Ok(Break(()));
            }
        }
        if !is_any {
            self.end_at_bound(quantifier.expr, bound, None, &set);
        }
        Ok(Continue(()))
    }

    /// Whether the names that a bound just bound equal the known arguments.
    fn agrees(&self, walk: &Walk<'_>, bound: &Bound, link: &Link) -> bool {
        bound.pattern.slots().iter().zip(&*link.params).all(|(&slot, param)| {
            match (walk.known(*param), self.slot(slot)) {
                (Some(known), Slot::Datum(Datum::Value(value))) => value == known,
                _ => true,
            }
        })
    }

    /// Runs the call at the end of a way, if its arguments equal the known ones.
    fn follow_call(&mut self, walk: &Walk<'_>, then: Then<'_, 'p>) -> Flow {
        if walk.way.given.is_empty() {
            return self.act(walk.way.call, then);
        }
        let known = |given: &&Given| walk.known(Some(given.param)).is_some();
        let given: Vec<&Given> = walk.way.given.iter().filter(known).collect();
        self.follow_given(walk, &given, &mut Vec::new(), then)
    }

    /// Compares the remaining arguments, then runs the call, then compares those that had no value before.
    fn follow_given<'w>(
        &mut self,
        walk: &Walk<'_>,
        given: &[&'w Given],
        late: &mut Vec<&'w Given>,
        then: Then<'_, 'p>,
    ) -> Flow {
        let Some((&first, rest)) = given.split_first() else {
            let frame = self.current_frame();
            let late = late.clone();
            return self.act(walk.way.call, &mut |machine| {
                if late.is_empty() {
                    return then(machine);
                }
                machine.within(frame, |machine| machine.compare_late(walk, &late, then))
            });
        };
        match self.given(first) {
            Err(error) if error.kind == ErrorKind::Stopped => Err(error),
            Err(_) => {
                late.push(first);
                self.follow_given(walk, rest, late, then)
            }
            Ok(value) => self
                .compare(walk, first, value, &mut |machine| machine.follow_given(walk, rest, &mut late.clone(), then)),
        }
    }

    fn compare_late(&mut self, walk: &Walk<'_>, late: &[&Given], then: Then<'_, 'p>) -> Flow {
        let Some((first, rest)) = late.split_first() else {
            return then(self);
        };
        let value = self.given(first)?;
        self.compare(walk, first, value, &mut |machine| machine.compare_late(walk, rest, then))
    }

    /// Continues if an argument equals the known one.
    fn compare(&mut self, walk: &Walk<'_>, given: &Given, value: Value, then: Then<'_, 'p>) -> Flow {
        let Some(known) = walk.known(Some(given.param)) else {
            return then(self);
        };
        let is_same = value == *known;
        if self.recorder.is_none() {
            return if is_same { then(self) } else { Ok(Continue(())) };
        }
        let site = self.exprs.site(walk.way.call);
        let inner = match given.arg {
            GivenArg::Expr(expr) => self.exprs.site(expr),
            GivenArg::Slot(_) => site,
        };
        let bindings = vec![(self.parameter_name(walk, given.param), known.clone())];
        let parts = vec![Part::new(inner, PartOutcome::Value(value))];
        let part = Part { site, outcome: PartOutcome::Truth(is_same), bindings, parts };
        if is_same {
            return self.recorded(part, then);
        }
        self.end_attempt(Some(part), None);
        Ok(Continue(()))
    }

    fn parameter_name(&self, walk: &Walk<'_>, param: usize) -> String {
        let (Node::Inlined { def, .. } | Node::Call { def, .. }) = self.exprs.node(walk.way.call) else {
            unreachable!("a way ends at a call");
        };
        let definition = &self.definitions[def.0 as usize];
        definition.params[definition.captures + param].name.clone()
    }

    fn given(&mut self, given: &Given) -> Result<Value> {
        match given.arg {
            GivenArg::Expr(expr) => self.eval_value(expr),
            GivenArg::Slot(slot) => {
                let datum = self.argument(slot)?;
                datum::to_value(self, &datum)
            }
        }
    }

    /// Whether an element is in a set; `false` if it cannot be compared with the set's elements.
    fn is_member(&mut self, set: &Datum, element: &Value, bound: &Bound) -> Result<bool> {
        match datum::contains(self, set, &Datum::Value(element.clone())) {
            Err(error) if matches!(error.kind, ErrorKind::Incomparable | ErrorKind::WrongKind) => Ok(false),
            result => result.map_err(|error| self.at(error, bound.set)),
        }
    }

    /// Ends an explained path at a bound that no element satisfies.
    fn end_at_bound(&mut self, quantifier: ExprId, bound: &Bound, element: Option<&Value>, set: &Datum) {
        if self.recorder.is_none() {
            return;
        }
        let bindings = match element {
            Some(Value::Seq(tuple)) if bound.names.len() > 1 => {
                bound.names.iter().cloned().zip(tuple.elements().iter().cloned()).collect()
            }
            Some(element) => bound.names.iter().take(1).map(|name| (name.clone(), element.clone())).collect(),
            None => Vec::new(),
        };
        let shown = match datum::to_value(self, set) {
            Ok(value) => PartOutcome::Value(value),
            Err(_) => PartOutcome::Lazy(datum::display(self, set)),
        };
        let parts = vec![Part::new(self.exprs.site(bound.set), shown)];
        let site = self.bound_site(quantifier, bound);
        self.end_attempt(Some(Part { site, outcome: PartOutcome::Truth(false), bindings, parts }), None);
    }

    /// The location of `x \in S`.
    fn bound_site(&self, quantifier: ExprId, bound: &Bound) -> Site {
        let (mut site, outer) = (self.exprs.site(bound.set), self.exprs.site(quantifier));
        let text = &self.program.module.sources.get(site.source).text;
        let before = text.get(outer.span.start as usize..site.span.start as usize).unwrap_or_default();
        let name = bound.names.first().map_or("", String::as_str);
        if outer.source == site.source
            && !name.is_empty()
            && let Some(place) = last_word(before, name)
        {
            site.span.start = outer.span.start + place as u32;
        }
        site
    }

    /// The known arguments that a way rejects, as far as constants decide.
    fn refused(&mut self, way: &Way, args: &[Option<Value>]) -> Result<Option<Vec<bool>>> {
        self.fresh(None, Reading::Current);
        let walk = Walk { way, args, names_disjuncts: false };
        let mut refused = vec![false; args.len()];
        let mut is_all_bound = true;
        for step in &way.steps {
            self.pass(step);
            let Step::Exists(expr, links) = step else {
                continue;
            };
            for (bound, link) in bounds_of(self.program, *expr).iter().zip(&**links) {
                let Some(element) = walk.element(link) else {
                    is_all_bound = false;
                    if link.is_constant && link.is_closed && self.is_empty(bound.set) {
                        return Ok(None);
                    }
                    continue;
                };
                if link.is_constant && (link.is_closed || is_all_bound) {
                    let set = self.eval(bound.set)?;
                    if !self.is_member(&set, &element, bound)? {
                        link.params.iter().flatten().for_each(|&param| refused[param] = true);
                    }
                }
                self.bind(&bound.pattern, element, *expr)?;
            }
        }
        for given in &way.given {
            if given.is_constant
                && (given.is_closed || is_all_bound)
                && let Some(known) = walk.known(Some(given.param))
                && self.given(given)? != *known
            {
                refused[given.param] = true;
            }
        }
        Ok(Some(refused))
    }

    /// Whether a set is empty; one that cannot be enumerated is not.
    fn is_empty(&mut self, set: ExprId) -> bool {
        let Ok(set) = self.eval(set) else {
            return false;
        };
        let first = Elements::new(self, &set).and_then(|mut elements| elements.next(self));
        matches!(first, Ok(None))
    }

    /// The variables that stay the same if a formula is true; `None` if it is false in every state. A condition
    /// without a value rules nothing out.
    fn kept(&mut self, shape: &Shape) -> Option<Variables> {
        match shape {
            Shape::Keeps(variables) => Some(*variables),
            Shape::Guard(guard) => (!matches!(self.test(*guard), Ok(false))).then_some(0),
            Shape::All(parts) => parts.iter().try_fold(0, |kept, part| Some(kept | self.kept(part)?)),
            Shape::Any(parts) => parts.iter().filter_map(|part| self.kept(part)).reduce(|a, b| a & b),
            Shape::Let(slot, value, inside) => {
                let frame = self.current_frame();
                self.set_slot(*slot, Slot::Thunk { expr: *value, frame });
                self.kept(inside)
            }
            Shape::Cases(branches) => {
                let mut kept: Option<Variables> = None;
                for (condition, branch) in branches {
                    let truth = condition.and_then(|condition| self.test(condition).ok());
                    if truth == Some(false) {
                        continue;
                    }
                    if let Some(branch) = self.kept(branch) {
                        kept = Some(kept.map_or(branch, |kept| kept & branch));
                    }
                    if truth == Some(true) {
                        break;
                    }
                }
                kept
            }
        }
    }
}

/// At most this many values of a state are tried for an unknown argument.
const MOST_PARTS: usize = 1000;

/// The values in a state, and those that they consist of.
fn parts(state: &State) -> Vec<Value> {
    let mut parts: Vec<Value> = state.to_vec();
    let mut place = 0;
    while place < parts.len().min(MOST_PARTS) {
        let inside: Vec<Value> = match &parts[place] {
            Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Model(_) => Vec::new(),
            Value::Set(set) => set.elements().to_vec(),
            Value::Seq(seq) => seq.elements().to_vec(),
            Value::Fun(function) => [function.domain().elements(), function.values()].concat(),
        };
        parts.extend(inside);
        place += 1;
    }
    parts.truncate(MOST_PARTS);
    parts
}

/// A way, and the known arguments at its end.
struct Walk<'w> {
    way: &'w Way,
    args: &'w [Option<Value>],
    /// Whether an explanation names the disjuncts of the way.
    names_disjuncts: bool,
}

/// The bounds of an `\E` on a way.
struct Bounds<'p, 'w> {
    expr: ExprId,
    bounds: &'p [Bound],
    links: &'w [Link],
}

impl<'w> Walk<'w> {
    fn known(&self, param: Option<usize>) -> Option<&'w Value> {
        self.args.get(param?)?.as_ref()
    }

    /// The only possible element of a bound, if every name that it binds is known.
    fn element(&self, link: &Link) -> Option<Value> {
        match &*link.params {
            [param] => self.known(*param).cloned(),
            params => {
                let components = params.iter().map(|param| self.known(*param).cloned());
                components.collect::<Option<Vec<_>>>().map(Value::seq)
            }
        }
    }
}

/// The last occurrence of a word in a text.
fn last_word(text: &str, word: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_word = |place: &usize| {
        let (before, after) = (&text[..*place], &text[place + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    };
    text.rmatch_indices(word).map(|(place, _)| place).find(is_word)
}

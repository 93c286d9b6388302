//! The parts of the state that each event of a log uses.

use omnilink_tla::ir::{DefId, SlotId};
use omnilink_tla::program::{Operation, Program};
use omnilink_tla::value::Value;

use super::place::{Place, Shape, Touch, Touches, Use};
use super::touch::{Meaning, Names, Reader, Unknown};
use crate::bind::{Alternative, Bound, BoundArg, BoundExpr, Event, Steps};

/// The uses of each event, including those of unlogged steps that may come before it, and of the conditions after it.
pub(crate) fn touches(program: &Program, bound: &Bound, enforces_invariants: bool) -> Vec<Touches> {
    let predicates = program.constraints.iter().chain(program.invariants.iter().filter(|_| enforces_invariants));
    let tested: Vec<Touches> = predicates
        .map(|(_, predicate)| {
            let mut reader = Reader::new(program);
            let read = reader.read(*predicate, &Names::default());
            Touches(read.is_ok().then_some(reader.touches))
        })
        .collect();
    let unlogged: Vec<Touches> = bound.unlogged.iter().map(|unlogged| of_unlogged(program, bound, unlogged)).collect();
    let all = bound.events.iter().enumerate().map(|(place, event)| {
        // A condition on steps may exclude a step that changes nothing.
        if !program.action_constraints.is_empty() {
            return Touches(None);
        }
        let mut touches = of_event(program, bound, event);
        for (unlogged, uses) in bound.unlogged.iter().zip(&unlogged) {
            if unlogged.may_precede(place, event) {
                touches.extend(uses);
            }
        }
        for read in &tested {
            if touches.may_change(read) {
                touches.extend(read);
            }
        }
        touches
    });
    all.collect()
}

/// The uses of an event.
fn of_event(program: &Program, bound: &Bound, event: &Event) -> Touches {
    let mut reader = Reader::new(program);
    let is_known = event.alternatives.iter().try_for_each(|of| alternative(&mut reader, bound, of)).is_ok();
    if !is_known {
        return Touches(None);
    }
    let mut touches = reader.touches;
    for touch in &mut touches {
        // Unchanged, whatever the action does: whether an element is there already matters.
        if touch.how != Use::Read && event.kept.contains(&touch.place.variable) {
            touch.how = Use::Write;
        }
    }
    let told = event.updates.iter().map(|(variable, _)| Touch { place: Place::of(*variable), how: Use::Write });
    touches.extend(told);
    Touches(Some(touches))
}

/// The uses of an unlogged step.
fn of_unlogged(program: &Program, bound: &Bound, unlogged: &crate::bind::BoundUnlogged) -> Touches {
    let mut reader = Reader::new(program);
    let mut is_known = true;
    for &action in &unlogged.actions {
        let operation = &bound.actions[action];
        let args = vec![None; operation.params.len()];
        is_known = is_known && operation_uses(&mut reader, operation, &args).is_ok();
    }
    if let Some(step) = &unlogged.step {
        let args = vec![Shape::Any; step.params.len()];
        is_known = is_known && operator(&mut reader, step.def, args).is_ok();
    }
    Touches(is_known.then(|| as_writes(reader.touches)))
}

/// Unlogged steps must change something, so they also read an element that they add or remove.
fn as_writes(mut touches: Vec<Touch>) -> Vec<Touch> {
    for touch in touches.iter_mut().filter(|touch| touch.how != Use::Read) {
        touch.how = Use::Write;
    }
    touches
}

fn alternative(reader: &mut Reader<'_>, bound: &Bound, of: &Alternative) -> Result<(), Unknown> {
    for (_, arg) in &of.args {
        if let BoundArg::Chosen { set, filter } = arg {
            expression(reader, set)?;
            filter.iter().try_for_each(|filter| expression(reader, filter))?;
        }
    }
    let conditions = of.before.iter().chain(&of.after).map(|condition| &condition.left);
    conditions.chain(&of.steps).chain(&of.until).try_for_each(|expr| expression(reader, expr))?;
    let named = |action: usize| -> Vec<Option<Value>> {
        let value = |name: &str| match of.args.iter().find(|(known, _)| known == name) {
            Some((_, BoundArg::Value(value))) => Some(value.clone()),
            _ => None,
        };
        bound.actions[action].params.iter().map(|param| value(&param.name)).collect()
    };
    match &of.meaning {
        Steps::Skip => Ok(()),
        Steps::Any => Err(Unknown),
        Steps::Action(action, args) => operation_uses(reader, &bound.actions[*action], args),
        Steps::Repeat(action) => operation_uses(reader, &bound.actions[*action], &named(*action)),
        Steps::Sequence(actions) => {
            actions.iter().try_for_each(|action| operation_uses(reader, &bound.actions[*action], &named(*action)))
        }
    }
}

fn expression(reader: &mut Reader<'_>, expr: &BoundExpr) -> Result<(), Unknown> {
    let args = expr.known().into_iter().map(|value| value.map_or(Shape::Any, |value| Shape::Is(value.clone())));
    operator(reader, expr.expr.def, args.collect())
}

/// The uses of an operator with these arguments.
fn operator(reader: &mut Reader<'_>, def: DefId, args: Vec<Shape>) -> Result<(), Unknown> {
    let body = reader.program.body(def).ok_or(Unknown)?;
    let mut names = Names::default();
    for (slot, shape) in (0..).zip(args) {
        names = names.with(SlotId(slot), reader.value(shape));
    }
    reader.read(body, &names)
}

/// The uses of an action with arguments as far as they are known.
pub(super) fn operation_uses(
    reader: &mut Reader<'_>,
    operation: &Operation,
    args: &[Option<Value>],
) -> Result<(), Unknown> {
    let body = reader.program.body(operation.def).filter(|_| operation.has_own_frame()).ok_or(Unknown)?;
    let mut names = Names::default();
    let mut numbers = Vec::new();
    for slot in 0..operation.params.len() {
        let Meaning::Value(number, shape) = reader.value(Shape::Any) else { return Err(Unknown) };
        numbers.push(number);
        names = names.with(SlotId(u32::try_from(slot).unwrap_or(u32::MAX)), Meaning::Value(number, shape));
    }
    let mut shapes = Vec::new();
    for (place, &number) in numbers.iter().enumerate() {
        shapes.push(match args.get(place) {
            Some(Some(value)) => Shape::Is(value.clone()),
            _ => reader.required(number, body, &names)?,
        });
    }
    let mut names = Names::default();
    for (slot, (number, shape)) in (0..).zip(numbers.iter().zip(&shapes)) {
        names = names.with(SlotId(slot), Meaning::Value(*number, shape.clone()));
    }
    if !(operation.is_plain() && args.iter().all(Option::is_some)) {
        passages(reader, operation, &shapes)?;
    }
    reader.read(body, &names)
}

/// The expressions that `Next` evaluates before it calls an action.
fn passages(reader: &mut Reader<'_>, operation: &Operation, shapes: &[Shape]) -> Result<(), Unknown> {
    for passage in operation.passages(reader.program).ok_or(Unknown)? {
        let mut names = Names::default();
        for (bound, params) in &passage.bounds {
            let shape = |param: &Option<usize>| param.and_then(|param| shapes.get(param)).cloned();
            let known: Vec<Shape> = params.iter().map(|param| shape(param).unwrap_or(Shape::Any)).collect();
            reader.bound(bound, &known, &names)?;
            for (slot, shape) in bound.pattern.slots().iter().zip(known) {
                names = names.with(*slot, reader.value(shape));
            }
        }
        passage.args.iter().try_for_each(|arg| reader.read(*arg, &names))?;
    }
    Ok(())
}

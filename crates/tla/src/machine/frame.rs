//! The stack of slots: frames, lazy arguments, and operators as arguments.

use std::sync::Arc;

use super::{DEEPEST_CALL, Machine, Reading};
use crate::datum::{self, Captured, Closure, Datum, LazySet, Operator};
use crate::error::{ErrorKind, EvalError, Result};
use crate::ir::{Arg, Body, DefId, Definition, ExprId, ExprLevel, Node, Pattern, SlotId};
use crate::value::Value;

/// The start of a frame in the stack.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Frame(u32);

impl Frame {
    /// The index of its first slot in the stack.
    pub(super) fn start(self) -> usize {
        self.0 as usize
    }
}

/// What an evaluation read: a bit set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reads(u8);

impl Reads {
    pub(super) const CURRENT: Reads = Reads(1);
    pub(super) const NEXT: Reads = Reads(2);
    /// Something that may differ between evaluations.
    pub(super) const WORLD: Reads = Reads(4);
    /// It printed something: a constant definition does so once, as in TLC, and any other expression every time.
    pub(super) const PRINTS: Reads = Reads(8);

    pub(super) fn and(self, other: Reads) -> Reads {
        Reads(self.0 | other.0)
    }
}

/// How long the value of a thunk stays valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Valid {
    Always,
    /// While reading this current state.
    Current(u32),
    /// In one epoch, reading from one state.
    Epoch(u32, Reading),
}

/// The content of a slot.
#[derive(Debug, Clone)]
pub(super) enum Slot<'p> {
    Empty,
    Datum(Datum),
    /// Not evaluated yet.
    Thunk {
        expr: ExprId,
        frame: Frame,
    },
    /// Evaluated, with its value.
    Forced {
        expr: ExprId,
        frame: Frame,
        datum: Datum,
        valid: Valid,
    },
    /// An operator with the slots that it captures, in a frame further down.
    Operator {
        def: DefId,
        captures: &'p [SlotId],
        frame: Frame,
    },
    /// An operator with its captures.
    Carried(Operator),
    /// A captured name without a value.
    Failed(Box<EvalError>),
}

/// The slots that an expression needs.
pub(super) struct Footprint {
    /// The slots that it reads and does not bind itself.
    free: Arc<[SlotId]>,
    /// The minimum number of slots.
    room: usize,
}

impl<'p> Machine<'p> {
    #[inline]
    pub(super) fn slot(&self, slot: SlotId) -> &Slot<'p> {
        self.slot_of(self.frame, slot)
    }

    #[inline]
    pub(super) fn slot_of(&self, frame: Frame, slot: SlotId) -> &Slot<'p> {
        &self.stack[frame.0 as usize + slot.0 as usize]
    }

    #[inline]
    pub(super) fn set_slot(&mut self, slot: SlotId, content: Slot<'p>) {
        let index = self.frame.0 as usize + slot.0 as usize;
        self.stack[index] = content;
    }

    /// Binds an element to a pattern.
    #[inline]
    pub(super) fn bind(&mut self, pattern: &'p Pattern, element: Value, expr: ExprId) -> Result<()> {
        match pattern {
            Pattern::Slot(slot) => self.set_slot(*slot, Slot::Datum(Datum::Value(element))),
            Pattern::Tuple(slots) => {
                for (slot, component) in slots.iter().zip(self.components(&element, slots.len(), expr)?) {
                    self.set_slot(*slot, Slot::Datum(Datum::Value(component.clone())));
                }
            }
        }
        Ok(())
    }

    /// The components of a tuple that is bound to this many names.
    pub(super) fn components<'v>(&self, element: &'v Value, len: usize, expr: ExprId) -> Result<&'v [Value]> {
        match element {
            Value::Seq(tuple) if tuple.len() == len => Ok(tuple.elements()),
            _ => {
                let element = element.display(&self.program.module.strings);
                let message = format!("`{element}` is bound to a tuple of {len} names and is not one");
                Err(self.at(EvalError::new(ErrorKind::WrongKind, message), expr))
            }
        }
    }

    /// The value of an argument or a `LET`, evaluated if needed.
    pub(super) fn argument(&mut self, slot: SlotId) -> Result<Datum> {
        let (expr, frame) = match self.slot(slot) {
            Slot::Datum(datum) => return Ok(datum.clone()),
            Slot::Forced { datum, valid, .. } if self.is_valid(*valid) => {
                self.note(*valid);
                return Ok(datum.clone());
            }
            Slot::Forced { expr, frame, .. } | Slot::Thunk { expr, frame } => (*expr, *frame),
            Slot::Failed(error) => return Err(error.clone()),
            Slot::Empty | Slot::Operator { .. } | Slot::Carried(_) => {
                return Err(EvalError::new(ErrorKind::WrongKind, "an operator was used as a value"));
            }
        };
        let before = self.reads.take();
        let (epoch, reading, version) = (self.epoch, self.reading, self.version);
        let datum = self.within(frame, |machine| machine.eval(expr))?;
        let reads = self.reads.get();
        self.reads.set(before.and(reads));
        let valid = match reads {
            Reads(0) => Valid::Always,
            Reads::CURRENT => Valid::Current(version),
            Reads(bits) if bits & Reads::WORLD.and(Reads::PRINTS).0 == 0 => Valid::Epoch(epoch, reading),
            _ => return Ok(datum),
        };
        self.set_slot(slot, Slot::Forced { expr, frame, datum: datum.clone(), valid });
        Ok(datum)
    }

    #[inline]
    pub(super) fn is_valid(&self, valid: Valid) -> bool {
        match valid {
            Valid::Always => true,
            Valid::Current(version) => self.reading == Reading::Current && version == self.version,
            Valid::Epoch(epoch, reading) => epoch == self.epoch && reading == self.reading,
        }
    }

    /// Records what a cached value had read.
    #[inline]
    pub(super) fn note(&self, valid: Valid) {
        let reads = match valid {
            Valid::Always => return,
            Valid::Current(_) => Reads::CURRENT,
            Valid::Epoch(..) => Reads::CURRENT.and(Reads::NEXT),
        };
        self.reads.set(self.reads.get().and(reads));
    }

    /// Runs with another frame as the current one.
    #[inline]
    pub(super) fn within<R>(&mut self, frame: Frame, run: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.frame, frame);
        let result = run(self);
        self.frame = outer;
        result
    }

    /// Runs code that may change the slots from a frame up to a stack index, and restores them.
    pub(super) fn keeping<R>(&mut self, frame: Frame, top: usize, run: impl FnOnce(&mut Self) -> R) -> R {
        let kept = self.stack[frame.start()..top].to_vec();
        let result = run(self);
        self.stack[frame.start()..top].clone_from_slice(&kept);
        result
    }

    pub(super) fn current_frame(&self) -> Frame {
        self.frame
    }

    /// An argument as seen from inside the operator.
    #[inline]
    fn hand_over(&self, arg: &'p Arg) -> Slot<'p> {
        let frame = self.frame;
        match arg {
            Arg::Slot(slot) => self.slot(*slot).clone(),
            Arg::Operator(def, captures) => Slot::Operator { def: *def, captures, frame },
            Arg::Expr(expr) => match self.exprs.node(*expr) {
                Node::Value(value) => Slot::Datum(Datum::Value(value.clone())),
                Node::Local(slot) => self.slot(*slot).clone(),
                Node::Argument(slot) if matches!(self.slot(*slot), Slot::Datum(_)) => self.slot(*slot).clone(),
                _ => Slot::Thunk { expr: *expr, frame },
            },
        }
    }

    /// Pushes the frame of an operator and returns it; [`Machine::leave`] pops it.
    pub(super) fn enter(&mut self, definition: &'p Definition, args: &'p [Arg]) -> Frame {
        let start = self.stack.len();
        for arg in args {
            let slot = self.hand_over(arg);
            self.stack.push(slot);
        }
        self.with_room(start, definition.slots)
    }

    /// The frame that begins there, with room for at least this many slots.
    fn with_room(&mut self, start: usize, slots: usize) -> Frame {
        let len = self.stack.len().max(start + slots);
        self.stack.resize(len, Slot::Empty);
        Frame(start as u32)
    }

    pub(super) fn leave(&mut self, frame: Frame) {
        self.stack.truncate(frame.0 as usize);
    }

    /// Resolves a parameter that is an operator: its definition, and a frame with captured names and arguments.
    pub(super) fn enter_argument(&mut self, slot: SlotId, args: &'p [Arg]) -> Result<(DefId, Frame)> {
        let operator = self.slot(slot).clone();
        let start = self.stack.len();
        let def = match operator {
            Slot::Operator { def, captures, frame } => {
                for &capture in captures {
                    let captured = self.slot_of(frame, capture).clone();
                    self.stack.push(captured);
                }
                def
            }
            Slot::Carried(operator) => {
                self.stack.extend(operator.captured.iter().cloned().map(Slot::from));
                operator.def
            }
            _ => return Err(EvalError::new(ErrorKind::WrongKind, "a value was applied as an operator")),
        };
        for arg in args {
            let slot = self.hand_over(arg);
            self.stack.push(slot);
        }
        Ok((def, self.with_room(start, self.definitions[def.0 as usize].slots)))
    }

    /// Pushes a frame with captured names and arguments that are values.
    pub(super) fn enter_captured(&mut self, captured: &[Captured], args: &[Datum], slots: usize) -> Frame {
        let start = self.stack.len();
        self.stack.extend(captured.iter().cloned().map(Slot::from));
        self.stack.extend(args.iter().cloned().map(Slot::Datum));
        self.with_room(start, slots)
    }

    /// Evaluates the body of an operator in its frame, and pops the frame.
    pub(super) fn run_body(&mut self, def: DefId, frame: Frame) -> Result<Datum> {
        let definition = &self.definitions[def.0 as usize];
        let result = match &definition.body {
            Body::Expr(body) => self.deeper(|machine| machine.within(frame, |machine| machine.eval(*body))),
            Body::Native(native) => self.within(frame, |machine| machine.run_native(native)),
            Body::Declared => {
                Err(EvalError::new(ErrorKind::Unassigned, format!("the constant `{}` has no value", definition.name)))
            }
        };
        self.leave(frame);
        result
    }

    /// Runs one level of calls deeper, on a stack that grows with it.
    #[inline]
    pub(super) fn deeper<R>(&mut self, run: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        self.tick()?;
        self.depth += 1;
        if self.depth > DEEPEST_CALL {
            self.depth -= 1;
            let message = format!("operators call each other more than {DEEPEST_CALL} deep");
            return Err(EvalError::new(ErrorKind::Limit, message));
        }
        let result = stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || run(self));
        self.depth -= 1;
        result
    }

    /// The value of a definition without parameters; a constant one is computed once.
    pub(super) fn eval_constant(&mut self, def: DefId) -> Result<Datum> {
        let index = def.0 as usize;
        if let Some(datum) = &self.constants[index] {
            return Ok(datum.clone());
        }
        let definition = &self.definitions[index];
        let frame = self.enter(definition, &[]);
        if definition.level != ExprLevel::Constant {
            return self.run_body(def, frame);
        }
        let before = self.reads.take();
        let result = self.run_body(def, frame);
        let reads = self.reads.get();
        self.reads.set(before.and(reads));
        let datum = self.settle(result?);
        if reads.0 & !Reads::PRINTS.0 == 0 {
            self.constants[index] = Some(datum.clone());
        }
        Ok(datum)
    }

    /// Enumerates a small constant set, since it will be walked many times.
    fn settle(&mut self, datum: Datum) -> Datum {
        let is_worth_it = match &datum {
            Datum::Set(set) => match &**set {
                LazySet::Interval(low, high) => high - low < 4096,
                LazySet::Filter(set, _) => datum::cardinality(self, set).is_ok_and(|size| size < 1 << 16),
                LazySet::Union(_) | LazySet::Cup(..) | LazySet::Cap(..) | LazySet::Minus(..) => {
                    datum::cardinality(self, &datum).is_ok_and(|size| size < 1 << 16)
                }
                _ => false,
            },
            _ => false,
        };
        if !is_worth_it {
            return datum;
        }
        match datum::to_value(self, &datum) {
            Ok(value) => Datum::Value(value),
            Err(_) => datum,
        }
    }

    /// Captures the part of the frame that an expression uses.
    pub(super) fn capture(&mut self, expr: ExprId) -> Arc<[Captured]> {
        let free = self.footprint(expr).free.clone();
        let len = free.iter().map(|slot| slot.0 as usize + 1).max().unwrap_or(0);
        let mut captured = vec![Captured::Empty; len];
        for &slot in free.iter() {
            captured[slot.0 as usize] = self.capture_slot(slot);
        }
        captured.into()
    }

    /// Pushes a frame for the expression of a closure.
    pub(super) fn enter_closure(&mut self, closure: &Closure) -> Frame {
        let room = self.footprint(closure.code).room;
        self.enter_captured(&closure.frame, &[], room)
    }

    pub(super) fn capture_slot(&mut self, slot: SlotId) -> Captured {
        match self.slot(slot) {
            Slot::Empty => Captured::Empty,
            Slot::Carried(operator) => Captured::Operator(operator.clone()),
            Slot::Operator { def, captures, frame } => {
                let (def, captures, frame) = (*def, *captures, *frame);
                let captured = self
                    .within(frame, |machine| captures.iter().map(|&capture| machine.capture_slot(capture)).collect());
                Captured::Operator(Operator { def, captured })
            }
            _ => match self.argument(slot) {
                Ok(datum) => Captured::Datum(datum),
                Err(error) => Captured::Error(error),
            },
        }
    }

    /// The slots that an expression needs, computed once.
    fn footprint(&mut self, expr: ExprId) -> &Footprint {
        let exprs = self.exprs;
        self.footprints
            .entry(expr)
            .or_insert_with(|| Footprint { free: exprs.free_slots(expr).into(), room: exprs.room(expr) })
    }
}

impl From<Captured> for Slot<'_> {
    fn from(captured: Captured) -> Self {
        match captured {
            Captured::Empty => Slot::Empty,
            Captured::Datum(datum) => Slot::Datum(datum),
            Captured::Error(error) => Slot::Failed(error),
            Captured::Operator(operator) => Slot::Carried(operator),
        }
    }
}

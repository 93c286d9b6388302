//! Finds the parts of the state that an expression uses, from its text and the values that are known.
//!
//! It is an abstract evaluation: names have a [`Shape`] instead of a value, so that `chan[i][j]`, `m \in msgs`, `\E m \in
//! msgs : m.to = w` and `msgs' = (msgs \ {m}) \cup {Reply(m)}` use a few keys and elements. The analysis follows an
//! argument to its uses, as in TLA+. The parameters of an action that an event gives are known; everything else is
//! [`Shape::Any`].
//!
//! Invariant: the result of an expression, or the steps of an action, depends on no cell of the state outside its uses, and
//! a step changes no cell outside those that are not reads. It may use less. An expression that the analysis does not
//! understand is an [`Unknown`], which uses everything. Whether an evaluation fails is not part of its result: an event
//! that fails explains nothing.
//!
//! `omnilink_tla::program::footprint` finds less, for one action with any arguments and in one pass over its text; here
//! each event has its own answer.

use std::rc::Rc;

use omnilink_tla::ir::{Arg, Body, Bound, DefId, ExprId, ExprLevel, Idiom, Node, Pattern, SlotId, Step, VarId};
use omnilink_tla::program::Program;
use omnilink_tla::value::Value;

use super::place::{Inside, Place, Shape, Touch, Use};

/// The text is too complex, or too long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unknown;

/// The maximum number of expressions to analyze for one event.
const MOST_EXPRESSIONS: u32 = 50_000;

/// The meaning of a name.
#[derive(Debug, Clone)]
pub(crate) enum Meaning {
    /// A value, with a number that distinguishes it from others.
    Value(u32, Shape),
    /// An expression, with the names in it.
    Code(ExprId, Names),
    /// The old value at a place.
    Old(Place),
    /// An operator, with the names that it captures.
    Operator(DefId, Vec<Meaning>),
}

/// The names in a frame.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names(Option<Rc<(SlotId, Meaning, Names)>>);

impl Names {
    pub(crate) fn with(&self, slot: SlotId, meaning: Meaning) -> Names {
        Names(Some(Rc::new((slot, meaning, self.clone()))))
    }

    pub(super) fn get(&self, slot: SlotId) -> Option<&Meaning> {
        let mut names = self;
        while let Some(entry) = &names.0 {
            if entry.0 == slot {
                return Some(&entry.1);
            }
            names = &entry.2;
        }
        None
    }
}

/// A place, and the keys on the way to it with the names in them.
type Path = (Place, Vec<(ExprId, Names)>);

pub(crate) struct Reader<'p> {
    pub(crate) program: &'p Program,
    pub(crate) touches: Vec<Touch>,
    left: u32,
    pub(super) values: u32,
}

impl<'p> Reader<'p> {
    pub(crate) fn new(program: &'p Program) -> Reader<'p> {
        Reader { program, touches: Vec::new(), left: MOST_EXPRESSIONS, values: 0 }
    }

    pub(crate) fn touch(&mut self, place: Place, how: Use) {
        let touch = Touch { place, how };
        if !self.touches.contains(&touch) {
            self.touches.push(touch);
        }
    }

    /// A name for a value of this shape.
    pub(crate) fn value(&mut self, shape: Shape) -> Meaning {
        self.values += 1;
        Meaning::Value(self.values, shape)
    }

    pub(super) fn node(&self, expr: ExprId) -> &'p Node {
        self.program.module.exprs.node(expr)
    }

    pub(super) fn look(&mut self) -> Result<(), Unknown> {
        self.left = self.left.checked_sub(1).ok_or(Unknown)?;
        Ok(())
    }

    /// Reads an expression, or a formula of an action.
    pub(crate) fn read(&mut self, expr: ExprId, names: &Names) -> Result<(), Unknown> {
        self.look()?;
        match self.node(expr) {
            Node::Variable(variable) => self.touch(Place::of(*variable), Use::Read),
            Node::Local(slot) | Node::Argument(slot) => self.name(*slot, names)?,
            Node::Apply(..) | Node::Field(..) => match self.path(expr, names, true)? {
                Some((place, indices)) => self.at(place, Use::Read, &indices)?,
                None => self.children(expr, names)?,
            },
            Node::In(element, set) | Node::NotIn(element, set) => self.membership(expr, *element, *set, names)?,
            Node::Equal(left, right) => match self.assigned(*left, names)? {
                Some(variable) => self.update(&Place::of(variable), *right, names)?,
                None => self.children(expr, names)?,
            },
            Node::Subseteq(left, right) => match self.assigned(*left, names)? {
                Some(variable) => {
                    self.touch(Place::of(variable), Use::Write);
                    self.read(*right, names)?;
                }
                None => self.children(expr, names)?,
            },
            Node::And(parts) => {
                // A conjunct that the arguments make false.
                if !parts.iter().any(|part| self.shape(*part, names) == Shape::Is(Value::Bool(false))) {
                    self.all(parts, names)?;
                }
            }
            Node::If(condition, then, otherwise) => match self.shape(*condition, names) {
                Shape::Is(Value::Bool(true)) => self.read(*then, names)?,
                Shape::Is(Value::Bool(false)) => self.read(*otherwise, names)?,
                _ => self.children(expr, names)?,
            },
            Node::Exists { bounds, body } => {
                let names = self.bind(bounds, Some(*body), names)?;
                self.read(*body, &names)?;
            }
            Node::Forall { bounds, body } => {
                // Elements that the antecedent excludes do not matter.
                let condition =
                    if let Node::Implies(condition, _) = self.node(*body) { Some(*condition) } else { None };
                let names = self.bind(bounds, condition, names)?;
                self.read(*body, &names)?;
            }
            Node::Filter { bound, body } | Node::Choose { bound, body } => {
                let names = self.bind(std::slice::from_ref(bound), Some(*body), names)?;
                self.read(*body, &names)?;
            }
            Node::Map { bounds, body } => {
                let names = self.bind(bounds, None, names)?;
                self.read(*body, &names)?;
            }
            Node::Function { bounds, body, this } => {
                let mut names = self.bind(bounds, None, names)?;
                if let Some(this) = this {
                    names = names.with(*this, self.value(Shape::Any));
                }
                self.read(*body, &names)?;
            }
            Node::Let { slot, value, body } => {
                let names = names.with(*slot, Meaning::Code(*value, names.clone()));
                self.read(*body, &names)?;
            }
            // The arguments are read in the body, where they are used.
            Node::Inlined { body, .. } => self.read(*body, names)?,
            Node::Idiom(_, written) => self.read(*written, names)?,
            // The next value of a variable is its old one, or depends on what the rest of the action uses. A formula
            // could assign one.
            Node::Prime(inner) => match self.path(*inner, names, true)? {
                Some((place, indices)) => self.at(place, Use::Read, &indices)?,
                None => return Err(Unknown),
            },
            Node::Unchanged(inner) => match self.program.names_variables(*inner) {
                true => {}
                false => return Err(Unknown),
            },
            Node::Call { def, args } => self.call(*def, args, names)?,
            Node::CallArgument { slot, args } => match names.get(*slot).cloned() {
                Some(Meaning::Operator(def, captures)) => self.call_with(def, captures, args, names)?,
                _ => return Err(Unknown),
            },
            Node::Except { function, updates } => {
                self.read(*function, names)?;
                for update in updates {
                    for step in &update.path {
                        if let Step::Index(index) = step {
                            self.read(*index, names)?;
                        }
                    }
                    // The old value is a part of the function.
                    let names = names.with(update.at, self.value(Shape::Any));
                    self.read(update.value, &names)?;
                }
            }
            Node::Compose(..)
            | Node::Enabled(..)
            | Node::Square(..)
            | Node::Angle(..)
            | Node::Always(_)
            | Node::Unsupported { .. } => return Err(Unknown),
            _ => self.children(expr, names)?,
        }
        Ok(())
    }

    fn all(&mut self, exprs: &[ExprId], names: &Names) -> Result<(), Unknown> {
        exprs.iter().try_for_each(|expr| self.read(*expr, names))
    }

    fn children(&mut self, expr: ExprId, names: &Names) -> Result<(), Unknown> {
        let children = self.node(expr).children();
        self.all(&children, names)
    }

    fn name(&mut self, slot: SlotId, names: &Names) -> Result<(), Unknown> {
        match names.get(slot).cloned() {
            Some(Meaning::Value(..)) => Ok(()),
            Some(Meaning::Code(code, names)) => self.read(code, &names),
            Some(Meaning::Old(place)) => {
                self.touch(place, Use::Read);
                Ok(())
            }
            Some(Meaning::Operator(..)) | None => Err(Unknown),
        }
    }

    /// Uses a place, and reads the keys that lead there.
    fn at(&mut self, place: Place, how: Use, indices: &[(ExprId, Names)]) -> Result<(), Unknown> {
        self.touch(place, how);
        indices.iter().try_for_each(|(index, names)| self.read(*index, names))
    }

    /// The variable of `variable'`, which the machine assigns where it has no value yet.
    fn assigned(&mut self, expr: ExprId, names: &Names) -> Result<Option<VarId>, Unknown> {
        self.look()?;
        Ok(match self.node(expr) {
            Node::Prime(primed) => {
                let path = self.path(*primed, names, false)?;
                path.filter(|(place, _)| place.path.is_empty()).map(|(place, _)| place.variable)
            }
            Node::Inlined { body, .. } => self.assigned(*body, names)?,
            Node::Local(slot) | Node::Argument(slot) => match names.get(*slot).cloned() {
                Some(Meaning::Code(code, names)) => self.assigned(code, &names)?,
                _ => None,
            },
            Node::Call { def, args } => match self.enter(*def, Vec::new(), args, names) {
                Some((body, names)) => self.assigned(body, &names)?,
                None => None,
            },
            _ => None,
        })
    }

    fn membership(&mut self, expr: ExprId, element: ExprId, set: ExprId, names: &Names) -> Result<(), Unknown> {
        if let Some(variable) = self.assigned(element, names)? {
            self.touch(Place::of(variable), Use::Write);
            return self.read(set, names);
        }
        let shape = self.shape(element, names);
        match self.elements(set, shape, names)? {
            true => self.read(element, names),
            false => self.children(expr, names),
        }
    }

    /// Reads whether a set of the state has elements of a shape. False if it is another kind of set.
    fn elements(&mut self, set: ExprId, shape: Shape, names: &Names) -> Result<bool, Unknown> {
        let (place, indices) = match self.domain_of(set, names)? {
            Some((function, names)) => match self.path(function, &names, true)? {
                Some((place, indices)) => (place.inside(Inside::Key(shape)), indices),
                None => return Ok(false),
            },
            None => match self.path(set, names, true)? {
                Some((place, indices)) => (place.inside(Inside::Element(shape)), indices),
                None => return Ok(false),
            },
        };
        self.at(place, Use::Read, &indices)?;
        Ok(true)
    }

    /// `f` for `DOMAIN f`
    fn domain_of(&mut self, set: ExprId, names: &Names) -> Result<Option<(ExprId, Names)>, Unknown> {
        self.look()?;
        Ok(match self.node(set) {
            Node::Domain(function) => Some((*function, names.clone())),
            Node::Inlined { body, .. } => self.domain_of(*body, names)?,
            Node::Local(slot) | Node::Argument(slot) => match names.get(*slot).cloned() {
                Some(Meaning::Code(code, names)) => self.domain_of(code, &names)?,
                _ => None,
            },
            _ => None,
        })
    }

    /// Reads the sets of bounds and binds their names. Elements for which the condition is false do not matter.
    fn bind(&mut self, bounds: &[Bound], condition: Option<ExprId>, names: &Names) -> Result<Names, Unknown> {
        // Binds all names first, because the condition may be about each of them.
        let mut known = names.clone();
        let mut numbers = Vec::new();
        for bound in bounds {
            for slot in bound.pattern.slots() {
                let meaning = self.value(Shape::Any);
                numbers.push(self.values);
                known = known.with(*slot, meaning);
            }
        }
        let mut numbers = numbers.into_iter();
        let mut inner = names.clone();
        for bound in bounds {
            let mut shape = Shape::Any;
            for slot in bound.pattern.slots() {
                let number = numbers.next().unwrap_or_default();
                let own = condition.map_or(Ok(Shape::Any), |condition| self.required(number, condition, &known))?;
                if let Pattern::Slot(_) = bound.pattern {
                    let set = self.element_shape(bound.set, names)?;
                    shape = own.clone().and(set);
                    inner = inner.with(*slot, Meaning::Value(number, shape.clone()));
                } else {
                    inner = inner.with(*slot, Meaning::Value(number, own));
                }
            }
            if !self.elements(bound.set, shape, names)? {
                self.read(bound.set, names)?;
            }
        }
        Ok(inner)
    }

    /// Reads the set of a bound whose names have these shapes.
    pub(crate) fn bound(&mut self, bound: &Bound, shapes: &[Shape], names: &Names) -> Result<(), Unknown> {
        let shape = match (&bound.pattern, shapes) {
            (Pattern::Slot(_), [shape]) => shape.clone(),
            _ => Shape::Any,
        };
        match self.elements(bound.set, shape, names)? {
            true => Ok(()),
            false => self.read(bound.set, names),
        }
    }

    /// The place that an expression stands for, and the keys in it. After the step, only if it may be `primed`.
    fn path(&mut self, expr: ExprId, names: &Names, primed: bool) -> Result<Option<Path>, Unknown> {
        self.look()?;
        let (inner, key, index) = match self.node(expr) {
            Node::Variable(variable) => return Ok(Some((Place::of(*variable), Vec::new()))),
            Node::Prime(inner) if primed => return self.path(*inner, names, primed),
            Node::Inlined { body, .. } => return self.path(*body, names, primed),
            Node::Call { def, args } => {
                return match self.enter(*def, Vec::new(), args, names) {
                    Some((body, names)) => self.path(body, &names, primed),
                    None => Ok(None),
                };
            }
            Node::Local(slot) | Node::Argument(slot) => {
                return match names.get(*slot).cloned() {
                    Some(Meaning::Code(code, names)) => self.path(code, &names, primed),
                    Some(Meaning::Old(place)) => Ok(Some((place, Vec::new()))),
                    _ => Ok(None),
                };
            }
            Node::Field(inner, name) => (*inner, Shape::Is(Value::Str(name.clone())), None),
            Node::Apply(inner, key) => (*inner, self.shape(*key, names), Some(*key)),
            _ => return Ok(None),
        };
        let Some((place, mut indices)) = self.path(inner, names, primed)? else { return Ok(None) };
        indices.extend(index.map(|index| (index, names.clone())));
        Ok(Some((place.inside(Inside::Key(key)), indices)))
    }

    /// The body of an operator and the names in it; `None` if it is not written in TLA+, or may call itself.
    pub(super) fn enter(
        &mut self,
        def: DefId,
        captures: Vec<Meaning>,
        args: &[Arg],
        names: &Names,
    ) -> Option<(ExprId, Names)> {
        let definition = self.program.definition(def);
        let Body::Expr(body) = definition.body else { return None };
        if definition.is_recursive {
            return None;
        }
        let given = args.iter().map(|arg| self.argument(arg, names)).collect::<Option<Vec<Meaning>>>()?;
        let mut inner = Names::default();
        for (slot, meaning) in (0..).zip(captures.into_iter().chain(given)) {
            inner = inner.with(SlotId(slot), meaning);
        }
        Some((body, inner))
    }

    fn argument(&mut self, arg: &Arg, names: &Names) -> Option<Meaning> {
        match arg {
            Arg::Expr(expr) => Some(Meaning::Code(*expr, names.clone())),
            Arg::Slot(slot) => names.get(*slot).cloned(),
            Arg::Operator(def, captures) => {
                let captures = captures.iter().map(|slot| names.get(*slot).cloned());
                Some(Meaning::Operator(*def, captures.collect::<Option<_>>()?))
            }
        }
    }

    fn call(&mut self, def: DefId, args: &[Arg], names: &Names) -> Result<(), Unknown> {
        self.call_with(def, Vec::new(), args, names)
    }

    fn call_with(&mut self, def: DefId, captures: Vec<Meaning>, args: &[Arg], names: &Names) -> Result<(), Unknown> {
        self.look()?;
        let definition = self.program.definition(def);
        if let Some((body, inner)) = self.enter(def, captures, args, names) {
            // Constants without parameters use no part of the state, and may be long.
            let is_constant = definition.level == ExprLevel::Constant && definition.params.is_empty();
            return if is_constant { Ok(()) } else { self.read(body, &inner) };
        }
        let is_pure = match definition.body {
            Body::Native(native) => !native.is_volatile && native.level == ExprLevel::Constant,
            Body::Expr(_) => definition.level == ExprLevel::Constant,
            Body::Declared => false,
        };
        if !is_pure {
            return Err(Unknown);
        }
        for arg in args {
            match self.argument(arg, names).ok_or(Unknown)? {
                Meaning::Value(..) => {}
                Meaning::Code(code, names) => self.read(code, &names)?,
                Meaning::Old(place) => self.touch(place, Use::Read),
                // It is applied to parts of the other arguments.
                Meaning::Operator(def, captures) => {
                    let params = self.program.definition(def).params.len();
                    let Body::Expr(body) = self.program.definition(def).body else { continue };
                    let mut inner = Names::default();
                    let rest = params.saturating_sub(captures.len());
                    let unknown: Vec<Meaning> = (0..rest).map(|_| self.value(Shape::Any)).collect();
                    for (slot, meaning) in (0..).zip(captures.into_iter().chain(unknown)) {
                        inner = inner.with(SlotId(slot), meaning);
                    }
                    self.read(body, &inner)?;
                }
            }
        }
        Ok(())
    }

    /// `place' = expr`
    fn update(&mut self, place: &Place, expr: ExprId, names: &Names) -> Result<(), Unknown> {
        self.look()?;
        if self.is_old(place, expr, names)? {
            return Ok(());
        }
        match self.node(expr) {
            Node::Inlined { body, .. } => return self.update(place, *body, names),
            Node::Let { slot, value, body } => {
                let names = names.with(*slot, Meaning::Code(*value, names.clone()));
                return self.update(place, *body, &names);
            }
            Node::Local(slot) | Node::Argument(slot) => {
                if let Some(Meaning::Code(code, names)) = names.get(*slot).cloned() {
                    return self.update(place, code, &names);
                }
            }
            Node::If(condition, then, otherwise) => {
                return match self.shape(*condition, names) {
                    Shape::Is(Value::Bool(true)) => self.update(place, *then, names),
                    Shape::Is(Value::Bool(false)) => self.update(place, *otherwise, names),
                    _ => {
                        self.read(*condition, names)?;
                        self.update(place, *then, names)?;
                        self.update(place, *otherwise, names)
                    }
                };
            }
            Node::Case { arms, other } => {
                for (guard, value) in arms {
                    self.read(*guard, names)?;
                    self.update(place, *value, names)?;
                }
                return other.map_or(Ok(()), |other| self.update(place, other, names));
            }
            Node::Except { function, updates } if self.derives(place, *function, names)? => {
                self.update(place, *function, names)?;
                for update in updates {
                    let mut part = place.clone();
                    for step in &update.path {
                        let key = match step {
                            Step::Field(name) => Shape::Is(Value::Str(name.clone())),
                            Step::Index(index) => {
                                self.read(*index, names)?;
                                self.shape(*index, names)
                            }
                        };
                        part = part.inside(Inside::Key(key));
                    }
                    let names = names.with(update.at, Meaning::Old(part.clone()));
                    self.update(&part, update.value, &names)?;
                }
                return Ok(());
            }
            Node::Cup(a, b) => {
                for (old, new) in [(*a, *b), (*b, *a)] {
                    if self.derives(place, old, names)? {
                        self.update(place, old, names)?;
                        return self.change(place, new, Use::Add, names);
                    }
                }
            }
            Node::Minus(old, gone) if self.derives(place, *old, names)? => {
                self.update(place, *old, names)?;
                return self.change(place, *gone, Use::Remove, names);
            }
            Node::Idiom(Idiom::With { function, key, value }, _) if self.derives(place, *function, names)? => {
                self.update(place, *function, names)?;
                let key_shape = self.shape(*key, names);
                self.touch(place.inside(Inside::Key(key_shape)), Use::Write);
                self.read(*key, names)?;
                return self.read(*value, names);
            }
            Node::Idiom(Idiom::Without { function, key }, _) if self.derives(place, *function, names)? => {
                self.update(place, *function, names)?;
                let key_shape = self.shape(*key, names);
                self.touch(place.inside(Inside::Key(key_shape)), Use::Write);
                return self.read(*key, names);
            }
            Node::Idiom(_, written) => return self.update(place, *written, names),
            Node::Call { def, args } => {
                if let Some((body, inner)) = self.enter(*def, Vec::new(), args, names) {
                    return self.update(place, body, &inner);
                }
                if let Some((old, key, value)) = self.overlaid(*def, args)
                    && self.derives(place, old, names)?
                {
                    self.update(place, old, names)?;
                    let key_shape = self.shape(key, names);
                    self.touch(place.inside(Inside::Key(key_shape)), Use::Write);
                    self.read(key, names)?;
                    return self.read(value, names);
                }
            }
            _ => {}
        }
        self.touch(place.clone(), Use::Write);
        self.read(expr, names)
    }

    /// `f`, `k` and `v` of `f @@ (k :> v)`
    fn overlaid(&self, def: DefId, args: &[Arg]) -> Option<(ExprId, ExprId, ExprId)> {
        let is = |def: DefId, name: &str| matches!(self.program.definition(def).body, Body::Native(native) if (native.module, native.name) == ("TLC", name));
        let [Arg::Expr(old), Arg::Expr(more)] = args else { return None };
        let Node::Call { def: pair, args } = self.node(*more) else { return None };
        let [Arg::Expr(key), Arg::Expr(value)] = &**args else { return None };
        (is(def, "@@") && is(*pair, ":>")).then_some((*old, *key, *value))
    }

    /// Adds or removes the elements of a set.
    fn change(&mut self, place: &Place, set: ExprId, how: Use, names: &Names) -> Result<(), Unknown> {
        let mut shapes = Vec::new();
        self.members(set, names, &mut shapes)?;
        for shape in shapes {
            self.touch(place.inside(Inside::Element(shape)), how);
        }
        self.read(set, names)
    }

    /// Whether an expression is the old value at a place.
    fn is_old(&mut self, place: &Place, expr: ExprId, names: &Names) -> Result<bool, Unknown> {
        if let Node::Local(slot) | Node::Argument(slot) = self.node(expr)
            && let Some(Meaning::Old(old)) = names.get(*slot)
        {
            return Ok(old == place);
        }
        let path = self.path(expr, names, false)?;
        Ok(path.is_some_and(|(old, _)| old == *place && old.is_exact()))
    }

    /// Whether an expression is the old value at a place with parts changed.
    fn derives(&mut self, place: &Place, expr: ExprId, names: &Names) -> Result<bool, Unknown> {
        self.look()?;
        if self.is_old(place, expr, names)? {
            return Ok(true);
        }
        Ok(match self.node(expr) {
            Node::Except { function: old, .. }
            | Node::Minus(old, _)
            | Node::Idiom(Idiom::With { function: old, .. } | Idiom::Without { function: old, .. }, _)
            | Node::Inlined { body: old, .. } => self.derives(place, *old, names)?,
            Node::Cup(a, b) => self.derives(place, *a, names)? || self.derives(place, *b, names)?,
            Node::If(_, a, b) => self.derives(place, *a, names)? && self.derives(place, *b, names)?,
            Node::Let { slot, value, body } => {
                let names = names.with(*slot, Meaning::Code(*value, names.clone()));
                self.derives(place, *body, &names)?
            }
            Node::Local(slot) | Node::Argument(slot) => match names.get(*slot).cloned() {
                Some(Meaning::Code(code, names)) => self.derives(place, code, &names)?,
                _ => false,
            },
            Node::Call { def, args } => match self.enter(*def, Vec::new(), args, names) {
                Some((body, names)) => self.derives(place, body, &names)?,
                None => false,
            },
            _ => false,
        })
    }
}

//! Values that the text of a specification determines: the value of an expression, the value that a formula requires, the elements of
//! a set.

use omnilink_tla::ir::{Arithmetic, Bound, ExprId, Node, Pattern, Step};
use omnilink_tla::value::Value;

use super::place::Shape;
use super::touch::{Meaning, Names, Reader, Unknown};

impl Reader<'_> {
    /// The parts of the value of an expression that are the same in every state.
    pub(crate) fn shape(&mut self, expr: ExprId, names: &Names) -> Shape {
        if self.look().is_err() {
            return Shape::Any;
        }
        let truth = |truth: bool| Shape::Is(Value::Bool(truth));
        match self.node(expr) {
            Node::Value(value) => Shape::Is(value.clone()),
            Node::Local(slot) | Node::Argument(slot) => match names.get(*slot).cloned() {
                Some(Meaning::Value(_, shape)) => shape,
                Some(Meaning::Code(code, names)) => self.shape(code, &names),
                Some(Meaning::Old(_) | Meaning::Operator(..)) | None => Shape::Any,
            },
            Node::Inlined { body, .. } | Node::Idiom(_, body) => self.shape(*body, names),
            Node::Let { slot, value, body } => {
                let names = names.with(*slot, Meaning::Code(*value, names.clone()));
                self.shape(*body, &names)
            }
            Node::Call { def, args } => match self.enter(*def, Vec::new(), args, names) {
                Some((body, names)) => self.shape(body, &names),
                None => Shape::Any,
            },
            Node::Record(fields) => {
                let fields = fields.iter().map(|(name, part)| (Value::Str(name.clone()), *part));
                self.function(fields.collect(), names)
            }
            Node::Shaped(domain, parts) => {
                let fields = domain.elements().iter().cloned().zip(parts.iter().copied());
                self.function(fields.collect(), names)
            }
            Node::Tuple(parts) => self.function((1..).map(Value::Int).zip(parts.iter().copied()).collect(), names),
            Node::Field(inner, name) => self.shape(*inner, names).at(&Value::Str(name.clone())),
            Node::Apply(inner, key) => match self.shape(*key, names) {
                Shape::Is(key) => self.shape(*inner, names).at(&key),
                _ => Shape::Any,
            },
            Node::Except { function, updates } => {
                let mut shape = self.shape(*function, names);
                for update in updates {
                    let key = match &*update.path {
                        [Step::Field(name)] => Value::Str(name.clone()),
                        [Step::Index(index)] => match self.shape(*index, names) {
                            Shape::Is(key) => key,
                            _ => return Shape::Any,
                        },
                        _ => return Shape::Any,
                    };
                    let old = self.value(shape.at(&key));
                    let part = self.shape(update.value, &names.with(update.at, old));
                    shape = shape.except(&key, part);
                }
                shape
            }
            Node::Arithmetic(operation, _, a, b) => match (self.shape(*a, names), self.shape(*b, names)) {
                (Shape::Is(Value::Int(a)), Shape::Is(Value::Int(b))) => match operation {
                    Arithmetic::Add => a.checked_add(b).map_or(Shape::Any, |sum| Shape::Is(Value::Int(sum))),
                    Arithmetic::Subtract => a.checked_sub(b).map_or(Shape::Any, |sum| Shape::Is(Value::Int(sum))),
                    _ => operation.compares(a, b).map_or(Shape::Any, truth),
                },
                _ => Shape::Any,
            },
            Node::Equal(a, b) | Node::NotEqual(a, b) => {
                let is_equal = matches!(self.node(expr), Node::Equal(..));
                match (self.shape(*a, names), self.shape(*b, names)) {
                    (Shape::Is(a), Shape::Is(b)) => truth((a == b) == is_equal),
                    (a, b) if !a.may_equal(&b) => truth(!is_equal),
                    _ => Shape::Any,
                }
            }
            Node::Not(inner) => match self.shape(*inner, names) {
                Shape::Is(Value::Bool(inner)) => truth(!inner),
                _ => Shape::Any,
            },
            Node::And(parts) => match parts.iter().any(|part| self.shape(*part, names) == truth(false)) {
                true => truth(false),
                false => Shape::Any,
            },
            _ => Shape::Any,
        }
    }

    fn function(&mut self, parts: Vec<(Value, ExprId)>, names: &Names) -> Shape {
        let pairs: Vec<(Value, Shape)> = parts.into_iter().map(|(key, part)| (key, self.shape(part, names))).collect();
        let values: Option<Vec<(Value, Value)>> =
            pairs.iter().map(|(key, shape)| Some((key.clone(), shape.value()?.clone()))).collect();
        match values.map(Value::pairs) {
            Some(Ok(value)) => Shape::Is(value),
            _ => Shape::of_pairs(pairs),
        }
    }

    /// The shape that a value must have for a formula to be true.
    pub(crate) fn required(&mut self, number: u32, formula: ExprId, names: &Names) -> Result<Shape, Unknown> {
        self.look()?;
        Ok(match self.node(formula) {
            Node::And(parts) => {
                let mut shape = Shape::Any;
                for part in parts {
                    shape = shape.and(self.required(number, *part, names)?);
                }
                shape
            }
            Node::Equal(a, b) => {
                let (one, other) = (self.equated(number, *a, *b, names)?, self.equated(number, *b, *a, names)?);
                one.and(other)
            }
            Node::Inlined { body, .. } | Node::Idiom(_, body) => self.required(number, *body, names)?,
            Node::Let { slot, value, body } => {
                let names = names.with(*slot, Meaning::Code(*value, names.clone()));
                self.required(number, *body, &names)?
            }
            Node::Exists { bounds, body } => {
                let mut names = names.clone();
                for slot in bounds.iter().flat_map(|bound| bound.pattern.slots()) {
                    names = names.with(*slot, self.value(Shape::Any));
                }
                self.required(number, *body, &names)?
            }
            Node::Call { def, args } => match self.enter(*def, Vec::new(), args, names) {
                Some((body, names)) => self.required(number, body, &names)?,
                None => Shape::Any,
            },
            _ => Shape::Any,
        })
    }

    /// The shape of a value whose part `part` equals `other`.
    fn equated(&mut self, number: u32, part: ExprId, other: ExprId, names: &Names) -> Result<Shape, Unknown> {
        let Some(keys) = self.part_of(number, part, names)? else { return Ok(Shape::Any) };
        let shape = self.shape(other, names);
        Ok(keys.into_iter().rev().fold(shape, |shape, key| Shape::of_pairs(vec![(key, shape)])))
    }

    /// The keys that lead from a value to an expression, which is a part of it.
    fn part_of(&mut self, number: u32, expr: ExprId, names: &Names) -> Result<Option<Vec<Value>>, Unknown> {
        self.look()?;
        let (inner, key) = match self.node(expr) {
            Node::Local(slot) | Node::Argument(slot) => {
                return match names.get(*slot).cloned() {
                    Some(Meaning::Value(known, _)) => Ok((known == number).then(Vec::new)),
                    Some(Meaning::Code(code, names)) => self.part_of(number, code, &names),
                    _ => Ok(None),
                };
            }
            Node::Inlined { body, .. } => return self.part_of(number, *body, names),
            Node::Field(inner, name) => (*inner, Some(Value::Str(name.clone()))),
            Node::Apply(inner, key) => (*inner, self.shape(*key, names).value().cloned()),
            _ => return Ok(None),
        };
        let Some(key) = key else { return Ok(None) };
        let mut keys = self.part_of(number, inner, names)?;
        if let Some(keys) = &mut keys {
            keys.push(key);
        }
        Ok(keys)
    }

    /// The shape of all elements of a set.
    pub(super) fn element_shape(&mut self, set: ExprId, names: &Names) -> Result<Shape, Unknown> {
        self.look()?;
        Ok(match self.node(set) {
            Node::Filter { bound: Bound { pattern: Pattern::Slot(slot), .. }, body } => {
                let meaning = self.value(Shape::Any);
                let number = self.values;
                self.required(number, *body, &names.with(*slot, meaning))?
            }
            Node::Set(parts) => match &**parts {
                [part] => self.shape(*part, names),
                _ => Shape::Any,
            },
            Node::Inlined { body, .. } => self.element_shape(*body, names)?,
            Node::Let { slot, value, body } => {
                let names = names.with(*slot, Meaning::Code(*value, names.clone()));
                self.element_shape(*body, &names)?
            }
            Node::Local(slot) | Node::Argument(slot) => match names.get(*slot).cloned() {
                Some(Meaning::Code(code, names)) => self.element_shape(code, &names)?,
                _ => Shape::Any,
            },
            _ => Shape::Any,
        })
    }

    /// The shapes that elements of a set may have.
    pub(super) fn members(&mut self, set: ExprId, names: &Names, out: &mut Vec<Shape>) -> Result<(), Unknown> {
        self.look()?;
        match self.node(set) {
            Node::Set(parts) => {
                for part in parts {
                    let shape = self.shape(*part, names);
                    out.push(shape);
                }
            }
            Node::Value(Value::Set(set)) => out.extend(set.elements().iter().cloned().map(Shape::Is)),
            Node::Map { bounds, body } => {
                let mut names = names.clone();
                for slot in bounds.iter().flat_map(|bound| bound.pattern.slots()) {
                    names = names.with(*slot, self.value(Shape::Any));
                }
                let shape = self.shape(*body, &names);
                out.push(shape);
            }
            Node::Filter { .. } => {
                let shape = self.element_shape(set, names)?;
                out.push(shape);
            }
            Node::Cup(a, b) | Node::If(_, a, b) => {
                self.members(*a, names, out)?;
                self.members(*b, names, out)?;
            }
            Node::Inlined { body, .. } => self.members(*body, names, out)?,
            Node::Let { slot, value, body } => {
                let names = names.with(*slot, Meaning::Code(*value, names.clone()));
                self.members(*body, &names, out)?;
            }
            Node::Local(slot) | Node::Argument(slot) => match names.get(*slot).cloned() {
                Some(Meaning::Code(code, names)) => self.members(code, &names, out)?,
                _ => out.push(Shape::Any),
            },
            Node::Call { def, args } => match self.enter(*def, Vec::new(), args, names) {
                Some((body, names)) => self.members(body, &names, out)?,
                None => out.push(Shape::Any),
            },
            _ => out.push(Shape::Any),
        }
        Ok(())
    }
}

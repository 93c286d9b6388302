//! Parts of a state: a variable, a key of a function in it, an element of a set in it, a key below that, and so on.
//!
//! A state consists of *cells*: whether a set has an element, the value of a function at a key. A [`Place`] stands for some
//! of them. The text of the specification and the values of an event determine some keys and elements, so a place has a
//! [`Shape`] for each: a message to `w1` whose epoch is unknown is `[to |-> "w1"]`, and differs from every message to `w2`.

use omnilink_tla::ir::VarId;
use omnilink_tla::value::Value;

/// The known parts of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    /// Nothing.
    Any,
    /// It is this one.
    Is(Value),
    /// It is a function with at least these keys; each has a shape that is not [`Shape::Any`].
    Has(Vec<(Value, Shape)>),
}

impl Shape {
    /// The shape of a function with these keys.
    pub(crate) fn of_pairs(pairs: Vec<(Value, Shape)>) -> Shape {
        let mut known: Vec<(Value, Shape)> = pairs.into_iter().filter(|(_, shape)| *shape != Shape::Any).collect();
        known.sort_by(|a, b| a.0.cmp(&b.0));
        if known.is_empty() { Shape::Any } else { Shape::Has(known) }
    }

    /// Whether one value may have both shapes.
    pub(crate) fn may_equal(&self, other: &Shape) -> bool {
        match (self, other) {
            (Shape::Any, _) | (_, Shape::Any) => true,
            (Shape::Is(a), Shape::Is(b)) => a == b,
            (Shape::Is(value), Shape::Has(pairs)) | (Shape::Has(pairs), Shape::Is(value)) => {
                let has = |(key, shape): &(Value, Shape)| match value.get(key) {
                    Ok(Some(part)) => Shape::Is(part.clone()).may_equal(shape),
                    Ok(None) | Err(_) => false,
                };
                pairs.iter().all(has)
            }
            (Shape::Has(a), Shape::Has(b)) => {
                let agrees = |(key, shape): &(Value, Shape)| {
                    b.iter().find(|(other, _)| other == key).is_none_or(|(_, other)| shape.may_equal(other))
                };
                a.iter().all(agrees)
            }
        }
    }

    /// The shape of a value that has both shapes.
    pub(crate) fn and(self, other: Shape) -> Shape {
        match (self, other) {
            (Shape::Any, other) | (other, Shape::Any) => other,
            (known @ Shape::Is(_), _) | (_, known @ Shape::Is(_)) => known,
            (Shape::Has(mut a), Shape::Has(b)) => {
                for (key, shape) in b {
                    match a.iter_mut().find(|(other, _)| *other == key) {
                        Some((_, known)) => *known = std::mem::replace(known, Shape::Any).and(shape),
                        None => a.push((key, shape)),
                    }
                }
                Shape::of_pairs(a)
            }
        }
    }

    /// The shape of the part at a key.
    pub(crate) fn at(&self, key: &Value) -> Shape {
        match self {
            Shape::Any => Shape::Any,
            Shape::Is(value) => match value.get(key) {
                Ok(Some(part)) => Shape::Is(part.clone()),
                Ok(None) | Err(_) => Shape::Any,
            },
            Shape::Has(pairs) => {
                pairs.iter().find(|(known, _)| known == key).map_or(Shape::Any, |(_, shape)| shape.clone())
            }
        }
    }

    /// The shape with another part at a key.
    pub(crate) fn except(self, key: &Value, part: Shape) -> Shape {
        match (self, part) {
            (Shape::Is(value), Shape::Is(part)) => match value.except(key, part) {
                Ok(Some(value)) => Shape::Is(value),
                // Without the key, nothing changes.
                Ok(None) => Shape::Is(value),
                Err(_) => Shape::Any,
            },
            (Shape::Is(value), part) => match (value.function_domain(), value.function_values()) {
                (Some(domain), Some(values)) => {
                    let whole = |value: &Value| Shape::Is(value.clone());
                    let pairs = domain.elements().iter().cloned().zip(values.iter().map(whole));
                    Shape::of_pairs(pairs.collect()).except(key, part)
                }
                _ => Shape::Any,
            },
            (Shape::Has(mut pairs), part) => {
                // Another key may be one that the function lacks.
                if let Some((_, known)) = pairs.iter_mut().find(|(known, _)| known == key) {
                    *known = part;
                }
                Shape::of_pairs(pairs)
            }
            (Shape::Any, _) => Shape::Any,
        }
    }

    /// The value, if it is known.
    pub(crate) fn value(&self) -> Option<&Value> {
        if let Shape::Is(value) = self { Some(value) } else { None }
    }
}

/// A step from a part of the state to a part of that.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Inside {
    /// The value of a function at a key, and whether it has the key.
    Key(Shape),
    /// Whether a set has an element.
    Element(Shape),
}

/// A part of the state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) variable: VarId,
    pub(crate) path: Vec<Inside>,
}

impl Place {
    pub(crate) fn of(variable: VarId) -> Place {
        Place { variable, path: Vec::new() }
    }

    /// A part of it.
    pub(crate) fn inside(&self, step: Inside) -> Place {
        let mut path = self.path.clone();
        path.push(step);
        Place { variable: self.variable, path }
    }

    /// Whether it is the same part in every state.
    pub(crate) fn is_exact(&self) -> bool {
        self.path.iter().all(|step| matches!(step, Inside::Key(Shape::Is(_)) | Inside::Element(Shape::Is(_))))
    }

    /// Whether both may have a cell in common.
    fn overlaps(&self, other: &Place) -> bool {
        let may_meet = |(a, b): (&Inside, &Inside)| match (a, b) {
            (Inside::Key(a), Inside::Key(b)) | (Inside::Element(a), Inside::Element(b)) => a.may_equal(b),
            // A variable that is a set in one state and a function in another.
            (Inside::Key(_), Inside::Element(_)) | (Inside::Element(_), Inside::Key(_)) => true,
        };
        self.variable == other.variable && self.path.iter().zip(&other.path).all(may_meet)
    }
}

/// How a step uses a part of the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Use {
    Read,
    /// Adds an element to a set, whether it is there or not.
    Add,
    /// Removes an element from a set, whether it is there or not.
    Remove,
    Write,
}

/// A use of a part of the state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Touch {
    pub(crate) place: Place,
    pub(crate) how: Use,
}

impl Touch {
    /// Whether the order of both may matter.
    fn conflicts(&self, other: &Touch) -> bool {
        let commutes = match (self.how, other.how) {
            (Use::Read, Use::Read) => true,
            (Use::Add, Use::Add) | (Use::Remove, Use::Remove) => self.place.path.len() == other.place.path.len(),
            _ => false,
        };
        !commutes && self.place.overlaps(&other.place)
    }
}

/// All uses of the state by a step; `None` if it may use everything.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Touches(pub(crate) Option<Vec<Touch>>);

impl Touches {
    /// Whether the order of two steps may matter: neither may use a part that the other changes.
    pub(crate) fn conflict(&self, other: &Touches) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => a.iter().any(|a| b.iter().any(|b| a.conflicts(b))),
            (Some(known), None) | (None, Some(known)) => !known.is_empty(),
            (None, None) => true,
        }
    }

    /// Adds the uses of another step.
    pub(crate) fn extend(&mut self, other: &Touches) {
        match (&mut self.0, &other.0) {
            (Some(a), Some(b)) => {
                for touch in b {
                    if !a.contains(touch) {
                        a.push(touch.clone());
                    }
                }
            }
            (known, _) => *known = None,
        }
    }

    /// Whether a step with these uses may change the value of a predicate with the others.
    pub(crate) fn may_change(&self, read: &Touches) -> bool {
        match (&self.0, &read.0) {
            (Some(touches), Some(read)) => {
                touches.iter().any(|a| a.how != Use::Read && read.iter().any(|b| a.conflicts(b)))
            }
            (Some(touches), None) => touches.iter().any(|touch| touch.how != Use::Read),
            (None, _) => true,
        }
    }
}

//! Iterates over a set in TLC's normalized order, one element at a time.
//!
//! Subsets, functions, tuples and records are generated without storing the set: subsets by size and then by their
//! elements, the others like the digits of a number whose last digit changes fastest. This is the sorted order. A
//! union has no such order, so it is enumerated and sorted first.

use std::sync::Arc;

use super::{Closure, Datum, Host, LazySet, contains, operations, size};
use crate::error::{ErrorKind, EvalError, Result};
use crate::strings::Str;
use crate::value::{Set, Value};

/// An iterator over a set. Pass the same host each time.
#[derive(Debug, Clone)]
pub struct Elements(Walk);

#[derive(Debug, Clone)]
enum Walk {
    /// By index.
    Set(Arc<Set>, usize),
    /// Integers from the first to the last.
    Interval(i64, i64),
    Subsets(Combinations),
    Functions(Arc<Set>, Odometer),
    Tuples(Odometer),
    Records(Arc<Set>, Odometer),
    Filter(Box<Walk>, Closure),
    /// Those that are, or are not, in another set.
    Members(Box<Walk>, Datum, bool),
    Family(Arc<LazySet>, usize),
}

impl Elements {
    /// Starts at the first element.
    pub fn new(host: &mut dyn Host, set: &Datum) -> Result<Elements> {
        Ok(Elements(walk(host, set)?))
    }

    /// The next element as a value.
    #[inline]
    pub fn next(&mut self, host: &mut dyn Host) -> Result<Option<Value>> {
        match &mut self.0 {
            Walk::Set(set, index) => {
                let element = set.elements().get(*index).cloned();
                *index += 1;
                Ok(element)
            }
            walk => walk.next(host),
        }
    }

    /// The next element, unconverted if it has not been enumerated.
    pub fn next_datum(&mut self, host: &mut dyn Host) -> Result<Option<Datum>> {
        if let Walk::Family(set, index) = &mut self.0 {
            let LazySet::Family(members) = &**set else { unreachable!("a walk through a family") };
            let member = members.get(*index).cloned();
            *index += 1;
            return Ok(member);
        }
        Ok(self.next(host)?.map(Datum::Value))
    }
}

fn walk(host: &mut dyn Host, set: &Datum) -> Result<Walk> {
    let lazy = match set {
        Datum::Value(Value::Set(set)) => return Ok(Walk::Set(set.clone(), 0)),
        Datum::Set(lazy) => lazy,
        _ => {
            return Err(operations::not_a_set(host, set));
        }
    };
    Ok(match &**lazy {
        LazySet::Interval(low, high) => Walk::Interval(*low, *high),
        LazySet::Naturals => return Err(infinite("Nat")),
        LazySet::Integers => return Err(infinite("Int")),
        LazySet::Reals => return Err(infinite("Real")),
        LazySet::Strings => return Err(infinite("STRING")),
        LazySet::Sequences(_) => return Err(infinite("Seq")),
        LazySet::Subsets(base) => Walk::Subsets(Combinations::new(operations::to_set(host, base)?)),
        LazySet::Functions(domain, range) => {
            let domain = operations::to_set(host, domain)?;
            // The empty set has one function, whatever its range.
            let range = if domain.is_empty() { Set::empty() } else { operations::to_set(host, range)? };
            let columns = vec![range; domain.len()];
            Walk::Functions(domain, Odometer::new(columns))
        }
        LazySet::Product(sets) => {
            let columns = columns(host, sets.iter())?;
            Walk::Tuples(Odometer::new(columns))
        }
        LazySet::Records(fields) => {
            let columns = columns(host, fields.iter().map(|(_, set)| set))?;
            Walk::Records(names(fields), Odometer::new(columns))
        }
        LazySet::Filter(base, predicate) => Walk::Filter(Box::new(walk(host, base)?), predicate.clone()),
        LazySet::Cap(a, b) => {
            let (walked, tested) = if size::is_finite(host, a)? { (a, b) } else { (b, a) };
            Walk::Members(Box::new(walk(host, walked)?), tested.clone(), true)
        }
        LazySet::Minus(a, b) => Walk::Members(Box::new(walk(host, a)?), b.clone(), false),
        LazySet::Union(_) | LazySet::Cup(..) => Walk::Set(size::enumerate(host, lazy)?, 0),
        LazySet::Family(_) => Walk::Family(lazy.clone(), 0),
    })
}

/// The enumerated sets, up to the first that is empty: the result does not depend on those behind it.
fn columns<'a>(host: &mut dyn Host, sets: impl Iterator<Item = &'a Datum>) -> Result<Vec<Arc<Set>>> {
    let mut columns = Vec::new();
    for set in sets {
        let column = operations::to_set(host, set)?;
        let is_last = column.is_empty();
        columns.push(column);
        if is_last {
            break;
        }
    }
    Ok(columns)
}

fn names(fields: &[(Str, Datum)]) -> Arc<Set> {
    Set::from_sorted(fields.iter().map(|(name, _)| Value::Str(name.clone())).collect())
}

fn infinite(name: &str) -> Box<EvalError> {
    EvalError::new(ErrorKind::NotEnumerable, format!("`{name}` is infinite and cannot be enumerated"))
}

impl Walk {
    fn next(&mut self, host: &mut dyn Host) -> Result<Option<Value>> {
        // An iteration may have more elements than there is time for, even if the caller does nothing with them.
        host.tick()?;
        Ok(match self {
            Walk::Set(set, index) => {
                let element = set.elements().get(*index).cloned();
                *index += 1;
                element
            }
            Walk::Interval(low, high) if *low <= *high => {
                let element = Value::Int(*low);
                // The largest integer has no successor.
                match low.checked_add(1) {
                    Some(next) => *low = next,
                    None => (*low, *high) = (1, 0),
                }
                Some(element)
            }
            Walk::Interval(..) => None,
            Walk::Subsets(combinations) => combinations.next().map(Value::Set),
            Walk::Functions(domain, odometer) | Walk::Records(domain, odometer) => {
                odometer.next().map(|values| Value::function(domain.clone(), values))
            }
            Walk::Tuples(odometer) => odometer.next().map(Value::seq),
            Walk::Filter(base, predicate) => loop {
                let Some(element) = base.next(host)? else { break None };
                let element = Datum::Value(element);
                if host.test(predicate, &element)? {
                    let Datum::Value(element) = element else { unreachable!("made a value two lines above") };
                    break Some(element);
                }
            },
            Walk::Members(base, other, wanted) => loop {
                let Some(element) = base.next(host)? else { break None };
                let element = Datum::Value(element);
                if contains(host, other, &element)? == *wanted {
                    let Datum::Value(element) = element else { unreachable!("made a value two lines above") };
                    break Some(element);
                }
            },
            // As values they are ordered, and duplicates are merged.
            Walk::Family(set, index) => {
                assert_eq!(*index, 0, "a walk through a family yields either values or data");
                *self = Walk::Set(size::enumerate(host, set)?, 0);
                return self.next(host);
            }
        })
    }
}

/// The subsets of a set: by size, then by their elements.
#[derive(Debug, Clone)]
struct Combinations {
    base: Arc<Set>,
    /// The indices of the next subset, ascending; `None` when done.
    next: Option<Vec<usize>>,
}

impl Combinations {
    fn new(base: Arc<Set>) -> Combinations {
        Combinations { base, next: Some(Vec::new()) }
    }

    fn next(&mut self) -> Option<Arc<Set>> {
        let indices = self.next.as_mut()?;
        let subset = Set::from_sorted(indices.iter().map(|&index| self.base.elements()[index].clone()).collect());
        let (size, len) = (indices.len(), self.base.len());
        // The last index that can still move up does, and those behind it follow as closely as they can.
        match (0..size).rev().find(|&place| indices[place] < len - size + place) {
            Some(place) => {
                let first = indices[place] + 1;
                for (offset, index) in indices[place..].iter_mut().enumerate() {
                    *index = first + offset;
                }
            }
            None if size < len => *indices = (0..=size).collect(),
            None => self.next = None,
        }
        Some(subset)
    }
}

/// All choices of one element from each column, the last column changing fastest.
#[derive(Debug, Clone)]
struct Odometer {
    columns: Vec<Arc<Set>>,
    /// The index of the next element of each column; `None` when done.
    next: Option<Vec<usize>>,
}

impl Odometer {
    fn new(columns: Vec<Arc<Set>>) -> Odometer {
        let next = (!columns.iter().any(|column| column.is_empty())).then(|| vec![0; columns.len()]);
        Odometer { columns, next }
    }

    fn next(&mut self) -> Option<Vec<Value>> {
        let digits = self.next.as_mut()?;
        let row = self.columns.iter().zip(&*digits).map(|(column, &digit)| column.elements()[digit].clone()).collect();
        for place in (0..digits.len()).rev() {
            digits[place] += 1;
            if digits[place] < self.columns[place].len() {
                return Some(row);
            }
            digits[place] = 0;
        }
        self.next = None;
        Some(row)
    }
}

//! Types and values of parameters, from the sets over which the next-state relation quantifies them.
//!
//! The configuration assigns the constants, so `\E elem \in Elems` gives the type of `elem` and, if the set is
//! small, its values. A model value is a string here, as in traces; the model value for the absence of a value
//! makes a type optional.
//!
//! A value that is never drawn twice shows where a returned one came from, and an element that was removed and added
//! again (ABA) as another one. So such values are the default where the set is *open*, that is, where it contains
//! whatever is drawn, and where a repeated value would find nothing that a new one does not: see `Planner::refresh`.

use std::fmt;

use omnilink_settings::Values;
use omnilink_tla::datum::{Datum, Elements, LazySet};
use omnilink_tla::machine::Machine;
use omnilink_tla::strings::Str;
use omnilink_tla::value::Value;

/// The type of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// `TRUE` and `FALSE`.
    Boolean,
    /// Integers.
    Integer,
    /// Strings and model values.
    String,
    /// Sequences.
    Sequence(Box<Type>),
    /// A value or the absence of one.
    Optional(Box<Type>),
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Boolean => f.write_str("boolean"),
            Type::Integer => f.write_str("integer"),
            Type::String => f.write_str("string"),
            Type::Sequence(of) => write!(f, "sequence of {of}"),
            Type::Optional(of) => write!(f, "optional {of}"),
        }
    }
}

/// The source of an argument's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// An integer that is never drawn twice in a run.
    Fresh,
    /// An integer of a range, both ends included.
    Range(i64, i64),
    /// One of these; never empty.
    OneOf(Vec<Literal>),
}

/// A value that has a literal in the generated program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    /// `TRUE`, `FALSE`
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A string.
    String(String),
    /// A sequence.
    Sequence(Vec<Literal>),
    /// The absence of a value.
    Nothing,
}

/// The known facts about the values of a set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Known {
    /// Their type; `None` if the set is empty.
    pub(crate) kind: Option<Type>,
    /// All of them, if there are at most [`FEW`].
    pub(crate) all: Option<Vec<Literal>>,
    /// True if every natural number is one of them.
    pub(crate) has_naturals: bool,
}

/// A set with more elements than this is not listed.
const FEW: usize = 16;

/// At most this many elements are sampled to determine a type.
const SAMPLE: usize = 64;

/// The default source of integers.
pub(crate) const ANY: Source = Source::Range(0, 7);

/// Determines the type and values of a set; an error names the kind of values that a harness cannot write.
pub(crate) fn inspect(machine: &mut Machine<'_>, set: &Datum, nil: Option<&Value>) -> Result<Known, &'static str> {
    if let Datum::Set(lazy) = set {
        match &**lazy {
            LazySet::Naturals | LazySet::Integers => {
                return Ok(Known { kind: Some(Type::Integer), all: None, has_naturals: true });
            }
            LazySet::Strings => return Ok(Known { kind: Some(Type::String), ..Known::default() }),
            LazySet::Sequences(of) => {
                let kind = inspect(machine, of, nil)?.kind.map(|of| Type::Sequence(Box::new(of)));
                return Ok(Known { kind, ..Known::default() });
            }
            _ => {}
        }
    }
    let Ok(mut elements) = Elements::new(machine, set) else { return Ok(Known::default()) };
    let (mut shape, mut all) = (Shape::default(), Vec::new());
    let mut is_whole = false;
    for _ in 0..SAMPLE {
        match elements.next(machine) {
            Ok(Some(element)) => {
                let strings = &machine.program().module.strings;
                let literal = literal(&element, nil, &|string| strings.text(string).to_owned())?;
                shape = shape.and(Shape::of(&literal)?)?;
                all.push(literal);
            }
            Ok(None) => {
                is_whole = true;
                break;
            }
            Err(_) => return Ok(Known::default()),
        }
    }
    let is_listed = is_whole && !all.is_empty() && all.len() <= FEW;
    Ok(Known { kind: shape.kind(), all: is_listed.then_some(all), has_naturals: false })
}

fn literal(value: &Value, nil: Option<&Value>, text: &dyn Fn(&Str) -> String) -> Result<Literal, &'static str> {
    Ok(match value {
        value if Some(value) == nil => Literal::Nothing,
        Value::Bool(truth) => Literal::Boolean(*truth),
        Value::Int(number) => Literal::Integer(*number),
        Value::Str(string) => Literal::String(text(string)),
        Value::Model(model) => Literal::String(text(&Str::Known(model.name))),
        Value::Seq(seq) => {
            let elements = seq.elements().iter().map(|element| literal(element, nil, text));
            Literal::Sequence(elements.collect::<Result<_, _>>()?)
        }
        Value::Set(_) => return Err("sets"),
        Value::Fun(_) => return Err("records or functions"),
    })
}

/// The common shape of some literals.
#[derive(Debug, Clone, Default)]
struct Shape {
    is_optional: bool,
    plain: Option<Plain>,
}

#[derive(Debug, Clone)]
enum Plain {
    Boolean,
    Integer,
    String,
    Sequence(Box<Shape>),
}

/// The error for values without a common type.
const MIXED: &str = "values of different kinds";

impl Shape {
    fn of(literal: &Literal) -> Result<Shape, &'static str> {
        let plain = match literal {
            Literal::Nothing => return Ok(Shape { is_optional: true, plain: None }),
            Literal::Boolean(_) => Plain::Boolean,
            Literal::Integer(_) => Plain::Integer,
            Literal::String(_) => Plain::String,
            Literal::Sequence(elements) => {
                let of = elements.iter().try_fold(Shape::default(), |shape, element| shape.and(Shape::of(element)?))?;
                Plain::Sequence(Box::new(of))
            }
        };
        Ok(Shape { is_optional: false, plain: Some(plain) })
    }

    fn and(self, other: Shape) -> Result<Shape, &'static str> {
        let plain = match (self.plain, other.plain) {
            (None, plain) | (plain, None) => plain,
            (Some(Plain::Sequence(a)), Some(Plain::Sequence(b))) => Some(Plain::Sequence(Box::new(a.and(*b)?))),
            (Some(a), Some(b)) if std::mem::discriminant(&a) == std::mem::discriminant(&b) => Some(a),
            _ => return Err(MIXED),
        };
        Ok(Shape { is_optional: self.is_optional || other.is_optional, plain })
    }

    fn kind(&self) -> Option<Type> {
        let plain = match self.plain.as_ref()? {
            Plain::Boolean => Type::Boolean,
            Plain::Integer => Type::Integer,
            Plain::String => Type::String,
            // If all sequences are empty, their elements default to integers.
            Plain::Sequence(of) => Type::Sequence(Box::new(of.kind().unwrap_or(Type::Integer))),
        };
        Some(if self.is_optional { Type::Optional(Box::new(plain)) } else { plain })
    }
}

/// The source and type of an argument, as set in the settings.
pub(crate) fn given(values: &Values) -> Result<(Source, Type), String> {
    match values {
        Values::Rule(rule) if rule == "fresh" => Ok((Source::Fresh, Type::Integer)),
        Values::Rule(rule) => {
            let range = rule.split_once("..").and_then(|(low, high)| {
                let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
                (low <= high).then_some(Source::Range(low, high))
            });
            let range = range.ok_or_else(|| {
                format!("`{rule}` is neither `fresh` nor a range such as `0..7`; a list is written `[\"a\", \"b\"]`")
            })?;
            Ok((range, Type::Integer))
        }
        Values::List(list) => {
            let literals = list.iter().map(of_toml).collect::<Result<Vec<_>, _>>()?;
            let shape = |shape: Shape, literal: &Literal| shape.and(Shape::of(literal)?);
            let shape = literals.iter().try_fold(Shape::default(), shape).map_err(|mixed| format!("it has {mixed}"))?;
            let kind = shape.kind().ok_or("the list is empty")?;
            Ok((of_list(literals), kind))
        }
    }
}

fn of_toml(value: &toml::Value) -> Result<Literal, String> {
    Ok(match value {
        toml::Value::Boolean(truth) => Literal::Boolean(*truth),
        toml::Value::Integer(number) => Literal::Integer(*number),
        toml::Value::String(text) => Literal::String(text.clone()),
        toml::Value::Array(elements) => Literal::Sequence(elements.iter().map(of_toml).collect::<Result<_, _>>()?),
        other => return Err(format!("`{other}` is neither a truth value, an integer, a string nor a list of these")),
    })
}

/// The source that draws one of the literals.
pub(crate) fn of_list(literals: Vec<Literal>) -> Source {
    let integer = |literal: &Literal| match literal {
        Literal::Integer(number) => Some(*number),
        _ => None,
    };
    let integers: Option<Vec<i64>> = literals.iter().map(integer).collect();
    match integers.as_deref() {
        Some([low, .., high]) if integers.iter().flatten().copied().eq(*low..=*high) => Source::Range(*low, *high),
        _ => Source::OneOf(literals),
    }
}

//! The text of a datum: as TLC prints it, enumerating small finite sets.

use std::fmt::{self, Write as _};

use super::{Datum, Host, LazySet, cardinality, is_finite, to_value};
use crate::error::{ErrorKind, Result};
use crate::value::Value;

/// A set of subsets is enumerated if its base has at most this many elements.
const SUBSETS: u128 = 6;

/// Other sets are enumerated if they have at most this many elements.
const ELEMENTS: u128 = 1999;

/// The text of a datum as TLC prints it.
pub fn display(host: &mut dyn Host, datum: &Datum) -> String {
    match datum {
        Datum::Value(value) => value.display(host.strings()).to_string(),
        Datum::Set(set) => display_set(host, datum, set),
        Datum::Function(function) => match to_value(host, datum) {
            Ok(value) => value.display(host.strings()).to_string(),
            Err(_) => format!("[x \\in {} |-> ...]", display(host, &function.domain)),
        },
    }
}

/// As [`print()`]; a datum that is infinite or too large to enumerate is shown as written.
pub fn print_or_display(host: &mut dyn Host, datum: &Datum) -> Result<String> {
    match print(host, datum) {
        Err(error) if matches!(error.kind, ErrorKind::NotEnumerable | ErrorKind::Limit) => Ok(display(host, datum)),
        printed => printed,
    }
}

/// As `ToString` prints it, which fails on sets whose elements cannot be counted or, if there are few, cannot be
/// enumerated, and on functions that have no value for some argument.
pub fn print(host: &mut dyn Host, datum: &Datum) -> Result<String> {
    if let Datum::Function(_) = datum
        && let Err(error) = to_value(host, datum)
        && !matches!(error.kind, ErrorKind::NotEnumerable | ErrorKind::Limit)
    {
        return Err(error);
    }
    if let Datum::Set(set) = datum {
        let is_listed = match &**set {
            LazySet::Interval(..) | LazySet::Naturals | LazySet::Integers | LazySet::Reals => false,
            LazySet::Strings | LazySet::Sequences(_) => false,
            LazySet::Subsets(base) => cardinality(host, base)? <= SUBSETS,
            LazySet::Functions(domain, range) => {
                cardinality(host, domain)?;
                cardinality(host, range)?;
                is_at_most(host, datum, ELEMENTS)
            }
            LazySet::Product(_) | LazySet::Records(_) => cardinality(host, datum)? <= ELEMENTS,
            _ => true,
        };
        if is_listed {
            return Ok(to_value(host, datum)?.display(host.strings()).to_string());
        }
    }
    Ok(display(host, datum))
}

/// The maximum length of a value in a message.
const BRIEF: usize = 80;

/// As TLC prints it, truncated if it is long.
pub fn brief(host: &mut dyn Host, datum: &Datum) -> String {
    let mut cut = Cut(String::new());
    let is_whole = match datum {
        Datum::Value(value) => write!(cut, "{}", value.display(host.strings())),
        lazy => cut.write_str(&display(host, lazy)),
    };
    if is_whole.is_err() { cut.0 + "..." } else { cut.0 }
}

/// Accepts the first characters and rejects the rest, so that a large value is not formatted in full.
struct Cut(String);

impl fmt::Write for Cut {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let left = BRIEF - self.0.chars().count();
        match text.char_indices().nth(left) {
            Some((end, _)) => {
                self.0.push_str(&text[..end]);
                Err(fmt::Error)
            }
            None => {
                self.0.push_str(text);
                Ok(())
            }
        }
    }
}

fn display_set(host: &mut dyn Host, datum: &Datum, set: &LazySet) -> String {
    let is_small = match set {
        LazySet::Interval(low, high) if low <= high => return format!("{low}..{high}"),
        LazySet::Subsets(base) => is_at_most(host, base, SUBSETS),
        LazySet::Functions(..) | LazySet::Product(_) | LazySet::Records(_) => is_at_most(host, datum, ELEMENTS),
        LazySet::Naturals | LazySet::Integers | LazySet::Reals | LazySet::Strings | LazySet::Sequences(_) => false,
        _ => true,
    };
    if is_small && let Ok(value) = to_value(host, datum) {
        return value.display(host.strings()).to_string();
    }
    match set {
        LazySet::Interval(..) => "{}".to_owned(),
        LazySet::Naturals => "Nat".to_owned(),
        LazySet::Integers => "Int".to_owned(),
        LazySet::Reals => "Real".to_owned(),
        LazySet::Strings => "STRING".to_owned(),
        LazySet::Subsets(base) if is_interval(base) => format!("SUBSET ({})", display(host, base)),
        LazySet::Subsets(base) => format!("SUBSET {}", display(host, base)),
        LazySet::Functions(domain, range) => format!("[{} -> {}]", display(host, domain), display(host, range)),
        LazySet::Records(fields) => {
            let fields = fields.iter().map(|(name, set)| {
                let set = display(host, set);
                format!("{}: {set}", host.strings().text(name))
            });
            format!("[{}]", fields.collect::<Vec<_>>().join(", "))
        }
        LazySet::Product(sets) => format!("({})", list(host, sets, " \\X ")),
        LazySet::Sequences(set) => format!("Seq({})", display(host, set)),
        LazySet::Union(sets) => format!("UNION({})", display(host, sets)),
        LazySet::Filter(base, _) => format!("{{x \\in {} : ...}}", display(host, base)),
        LazySet::Cup(a, b) => format!("{} \\cup {}", display(host, a), display(host, b)),
        LazySet::Cap(a, b) => format!("{} \\cap {}", display(host, a), display(host, b)),
        LazySet::Minus(a, b) => format!("{} \\ {}", display(host, a), display(host, b)),
        LazySet::Family(members) => format!("{{{}}}", list(host, members, ", ")),
    }
}

fn list(host: &mut dyn Host, data: &[Datum], between: &str) -> String {
    data.iter().map(|datum| display(host, datum)).collect::<Vec<_>>().join(between)
}

fn is_at_most(host: &mut dyn Host, set: &Datum, bound: u128) -> bool {
    is_finite(host, set).unwrap_or(false) && cardinality(host, set).is_ok_and(|len| len <= bound)
}

fn is_interval(set: &Datum) -> bool {
    match set {
        Datum::Value(Value::Set(_)) => false,
        Datum::Set(set) => matches!(**set, LazySet::Interval(..)),
        _ => false,
    }
}

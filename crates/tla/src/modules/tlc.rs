//! `TLC`.

use super::args::{Args, holds, unsupported, yes};
use super::randomization::random_element;
use super::{Host, Native};
use crate::datum::{self, Datum, Operator};
use crate::error::{ErrorKind, EvalError, Result};
use crate::id::ExprLevel;
use crate::value::{Set, Value};

pub(super) const NATIVES: &[Native] = &[
    Native::new("TLC", "Print", &[0, 0], |host, args| {
        let args = Args::new("Print", args);
        let line = format!("{}  {}", datum::display(host, args.datum(0)), datum::display(host, args.datum(1)));
        host.world().print(&line);
        Ok(args.datum(1).clone())
    })
    .volatile(),
    Native::new("TLC", "PrintT", &[0], |host, args| {
        let line = datum::display(host, Args::new("PrintT", args).datum(0));
        host.world().print(&line);
        yes(true)
    })
    .volatile(),
    Native::new("TLC", "Assert", &[0, 0], |host, args| {
        let args = Args::new("Assert", args);
        if args.bool(host, 0)? {
            return yes(true);
        }
        let message = format!("the assertion failed: {}", datum::display(host, args.datum(1)));
        Err(EvalError::new(ErrorKind::Assertion, message))
    })
    .volatile(),
    unsupported!("TLC", "JavaTime", &[]).volatile(),
    Native::new("TLC", "TLCGet", &[0], |host, args| {
        let args = Args::new("TLCGet", args);
        match get(host, args)? {
            Some(value) => Ok(value),
            None => {
                let message = format!("`TLCGet({})` is not defined", datum::display(host, args.datum(0)));
                Err(EvalError::new(ErrorKind::Unassigned, message))
            }
        }
    })
    .at(ExprLevel::State)
    .volatile(),
    Native::new("TLC", "TLCSet", &[0, 0], |host, args| {
        let args = Args::new("TLCSet", args);
        set(host, args, args.datum(1).clone())?;
        yes(true)
    })
    .volatile(),
    Native::new("TLC", ":>", &[0, 0], |host, args| {
        let args = Args::new(":>", args);
        let (key, value) = (args.value(host, 0)?, args.value(host, 1)?);
        Ok(Value::function(Set::new(vec![key])?, vec![value]).into())
    }),
    Native::new("TLC", "@@", &[0, 0], |host, args| {
        let args = Args::new("@@", args);
        let (left, right) = (args.function(host, 0)?, args.function(host, 1)?);
        Ok(combined(&left, &right)?.into())
    }),
    Native::new("TLC", "Permutations", &[0], |host, args| {
        let domain = Args::new("Permutations", args).set(host, 0)?;
        let rows = permutations(host, domain.elements())?;
        let functions = rows.into_iter().map(|values| Value::function(domain.clone(), values));
        Ok(Value::set(functions.collect())?.into())
    }),
    Native::new("TLC", "SortSeq", &[0, 2], |host, args| {
        let args = Args::new("SortSeq", args);
        let seq = args.seq(host, 0)?;
        Ok(Value::seq(sorted(host, seq.elements(), args.operator(1))?).into())
    }),
    Native::new("TLC", "RandomElement", &[0], |host, args| {
        Ok(random_element(host, Args::new("RandomElement", args).datum(0))?.into())
    })
    .volatile(),
    unsupported!("TLC", "Any", &[]),
    Native::new("TLC", "ToString", &[0], |host, args| {
        let text = datum::print(host, Args::new("ToString", args).datum(0))?;
        Ok(Value::Str(host.strings().str(&text)).into())
    }),
    Native::new("TLC", "TLCEval", &[0], |host, args| {
        let args = Args::new("TLCEval", args);
        match args.value(host, 0) {
            Ok(value) => Ok(value.into()),
            Err(error) if error.kind == ErrorKind::NotEnumerable => Ok(args.datum(0).clone()),
            Err(error) => Err(error),
        }
    }),
];

/// `left @@ right`: where both are defined, the left one wins.
pub(super) fn combined(left: &Value, right: &Value) -> Result<Value> {
    let (Some(a), Some(b)) = (left.function_domain(), right.function_domain()) else {
        unreachable!("asked of functions only")
    };
    let domain = a.union(&b)?;
    if domain.len() == a.len() {
        return Ok(left.clone());
    }
    let (of_left, of_right) = (left.function_values().unwrap_or_default(), right.function_values().unwrap_or_default());
    let mut values = Vec::with_capacity(domain.len());
    // Both domains and their union are sorted, so each is walked once.
    let (mut i, mut j) = (0, 0);
    for key in domain.elements() {
        let is_left = a.elements().get(i) == Some(key);
        let is_right = b.elements().get(j) == Some(key);
        values.push(if is_left { of_left[i].clone() } else { of_right[j].clone() });
        i += usize::from(is_left);
        j += usize::from(is_right);
    }
    Ok(Value::function(domain, values))
}

/// Every permutation of sorted, distinct elements, in lexicographic order.
pub(super) fn permutations(host: &mut dyn Host, elements: &[Value]) -> Result<Vec<Vec<Value>>> {
    let count = (1..=elements.len() as u128).try_fold(1, u128::checked_mul);
    let places = count.and_then(|count| count.checked_mul(elements.len() as u128 + 1));
    if places.is_none_or(|places| places > datum::LIMIT) {
        let message = format!("there are too many permutations of {} elements", elements.len());
        return Err(EvalError::new(ErrorKind::Limit, message));
    }
    let mut order: Vec<usize> = (0..elements.len()).collect();
    let mut all = Vec::new();
    loop {
        host.tick()?;
        all.push(order.iter().map(|&index| elements[index].clone()).collect());
        // The last position that can grow takes the next larger element behind it, and the rest is sorted ascending.
        let Some(place) = (1..order.len()).rev().find(|&place| order[place - 1] < order[place]) else { break };
        let larger = (place..order.len()).rev().find(|&other| order[other] > order[place - 1]);
        order.swap(place - 1, larger.expect("the next element is larger"));
        order[place..].reverse();
    }
    Ok(all)
}

/// Insertion sort, as in TLC: an element moves left as long as `before` holds of it and its neighbour.
pub(super) fn sorted(host: &mut dyn Host, elements: &[Value], before: &Operator) -> Result<Vec<Value>> {
    let mut sorted: Vec<Value> = Vec::with_capacity(elements.len());
    for element in elements {
        let mut place = sorted.len();
        while place > 0 && holds(host, before, &[element, &sorted[place - 1]])? {
            place -= 1;
        }
        sorted.insert(place, element.clone());
    }
    Ok(sorted)
}

/// `TLCGet`.
pub(super) fn get(host: &mut dyn Host, args: Args<'_>) -> Result<Option<Datum>> {
    match args.datum(0) {
        Datum::Value(Value::Int(index)) => Ok(host.world().register(*index)),
        Datum::Value(Value::Str(_)) => {
            let name = args.text(host, 0)?;
            match name.as_str() {
                "config" => return Ok(Some(config(host))),
                "stats" => {
                    if let Some(stats) = stats(host) {
                        return Ok(Some(stats));
                    }
                }
                _ => {}
            }
            match host.world().statistic(&name) {
                Some(value) => Ok(Some(value.into())),
                None => {
                    let message = format!("`TLCGet(\"{name}\")` is not supported");
                    Err(EvalError::new(ErrorKind::Unsupported, message))
                }
            }
        }
        _ => Err(args.wrong(host, 0, "a natural number or a string")),
    }
}

/// The configuration of the search, as far as a specification may rely on it.
fn config(host: &mut dyn Host) -> Datum {
    let workers = host.world().statistic("workers").unwrap_or(Value::Int(1));
    let strings = host.strings();
    let fields = vec![(strings.str("mode"), Value::Str(strings.str("bfs"))), (strings.str("worker"), workers)];
    Value::record(fields).into()
}

/// The progress of the search, if there is one.
fn stats(host: &mut dyn Host) -> Option<Datum> {
    const COUNTS: [&str; 5] = ["diameter", "distinct", "generated", "initial", "queue"];
    let mut fields = Vec::new();
    for name in COUNTS {
        fields.push((host.strings().str(name), host.world().statistic(name)?));
    }
    let duration = host.world().statistic("duration").unwrap_or(Value::Int(0));
    let strings = host.strings();
    // The worker is the first one: no other is asked for it.
    fields.extend([(strings.str("duration"), duration), (strings.str("worker"), Value::Int(0))]);
    Some(Value::record(fields).into())
}

/// `TLCSet`.
pub(super) fn set(host: &mut dyn Host, args: Args<'_>, value: Datum) -> Result<()> {
    match args.datum(0) {
        Datum::Value(Value::Int(index)) if *index >= 0 => {
            host.world().set_register(*index, value);
            Ok(())
        }
        Datum::Value(Value::Str(_)) => {
            let name = args.text(host, 0)?;
            match (name.as_str(), &value) {
                ("exit", Datum::Value(Value::Bool(true))) => host.world().exit(),
                ("exit", Datum::Value(Value::Bool(false))) => {}
                _ => {
                    let message = format!("`TLCSet(\"{name}\", ...)` is not supported");
                    return Err(EvalError::new(ErrorKind::Unsupported, message));
                }
            }
            Ok(())
        }
        _ => Err(args.wrong(host, 0, "a natural number or a string")),
    }
}

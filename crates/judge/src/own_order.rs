//! The order that a system itself gives its operations, by a field: checked before any search.
//!
//! If the operations are legal in this order, that is the verdict. Otherwise the check reports that, and a search without
//! the field decides about the history: the system's order may be wrong although the history is legal.

use std::borrow::Borrow;
use std::sync::Arc;

use omnilink_history::{Call, Op, Value};
use omnilink_report::{Operation, Verdict};
use omnilink_search::{Follower, Misfit, Spec, Witness};

use crate::input::InputError;
use crate::recording::Held;
use crate::{Failed, Limits, Stage, halting};

/// Follows the order of a field, if it is legal. Operations come by start; only those that count have a call.
pub(crate) fn follow<S: Spec, P: Borrow<S::Op>>(
    spec: &S,
    field: &str,
    ops: impl Iterator<Item = Result<(Op<Option<P>>, Option<Value>), Failed>>,
    keeps_witness: bool,
    limits: &dyn Limits,
    failed: impl Fn(S::Error) -> Failed,
) -> Result<Result<Witness, Misfit<S::State>>, Failed> {
    let mut follower = Follower::new(spec, keeps_witness).map_err(&failed)?;
    let (mut misfit, mut count, mut is_ranked) = (None, 0, false);
    for op in ops {
        let (mut op, rank) = op?;
        halting::pause(limits, Stage::Deciding, count)?;
        count += 1;
        is_ranked |= rank.is_some();
        if misfit.is_none()
            && let Some(call) = op.call.take()
        {
            misfit = follower.push(op.with(call), rank).map_err(&failed)?;
        }
        // A field that no operation has is a mistake on the command line, so the check first looks for one operation with
        // it.
        if misfit.is_some() && is_ranked {
            break;
        }
    }
    if count > 0 && !is_ranked {
        return Err(Failed::Input(InputError {
            message: format!("no operation has a field `{field}` to order by"),
            help: Some("a field is a note (`meta`), a result or an argument that has this name".into()),
        }));
    }
    match misfit {
        Some(misfit) => Ok(Err(misfit)),
        None => follower.finish().map_err(failed),
    }
}

/// The rank that a field gives an operation: the note, the result or the argument with this name. Quoted digits are a
/// number.
pub(crate) fn rank(call: &Call, field: &str) -> Option<Value> {
    let schema = call.schema();
    let named = |names: &[Arc<str>], values: &[Value]| {
        names.iter().position(|name| **name == *field).and_then(|place| values.get(place).cloned())
    };
    let note = call.meta.iter().find(|(name, _)| **name == *field).map(|(_, value)| value.clone());
    let value = note.or_else(|| named(&schema.results, call.results())).or_else(|| named(&schema.args, call.args()))?;
    match value {
        Value::Nil => None,
        Value::Str(text) => Some(Value::integer(&text).unwrap_or(Value::Str(text))),
        value => Some(value),
    }
}

/// The method, if following a legal order gave the verdict.
pub(crate) fn method(field: &str) -> String {
    format!("replayed in the order of `{field}`")
}

/// The reason why an order could not be followed.
pub(crate) fn finding(field: &str, misfit: &Misfit<String>, held: &Held) -> Result<String, InputError> {
    let ops = match *misfit {
        Misfit::Time(first, second) => vec![first, second],
        Misfit::Disabled { op, .. } | Misfit::Unranked(op) | Misfit::TooManyStates(op) => vec![op],
    };
    // The sentence describes the first one.
    let ops: Vec<String> = held.describe(&ops)?.iter().map(|op| told(op, field)).collect();
    let op = &ops[0];
    Ok(match misfit {
        Misfit::Time(..) => {
            format!("the system's own order contradicts real time: {op} ended before {} began", ops[1])
        }
        Misfit::Disabled { state, why, is_certain, .. } => {
            let why = why.as_deref().unwrap_or("the specification does not allow it");
            let state = state.as_ref().map(|state| format!(" in state {state},")).unwrap_or_default();
            match is_certain {
                true => format!("the system's own order is not legal at {op}:{state} {why}"),
                false => format!(
                    "the system's own order could not be followed past {op}:{state} {why}; unfinished \
                     operations without `{field}` may have taken effect before it"
                ),
            }
        }
        Misfit::Unranked(_) => format!("the system's own order is not complete: {op} ended and has no `{field}`"),
        Misfit::TooManyStates(_) => {
            format!("the system's own order was given up at {op}: too many states are possible")
        }
    })
}

/// The consequence of a verdict without the order.
pub(crate) fn consequence(field: &str, misfit: &Misfit<String>, verdict: &Verdict) -> String {
    let is_wrong = matches!(misfit, Misfit::Time(..) | Misfit::Disabled { is_certain: true, .. });
    match verdict {
        Verdict::Accepted if is_wrong => {
            format!("another order is legal: the history is right, and `{field}` is not the order of its effects")
        }
        Verdict::Accepted => format!("a legal order was found without `{field}`"),
        Verdict::Rejected(_) => {
            format!("no other order is legal either: the history is wrong, whatever `{field}` says")
        }
        Verdict::Inconclusive { .. } => format!("the search without `{field}` was inconclusive"),
    }
}

/// An operation with its rank in the order.
fn told(op: &Operation, field: &str) -> String {
    let mut fields = op.meta.iter().chain(&op.results).chain(&op.args);
    let rank = fields.find(|known| known.name == field).map(|known| format!(" (`{field}` {})", known.value));
    format!("{} {} {}{}", op.name, op.text, op.interval(), rank.unwrap_or_default())
}

//! An operation as a record for companion modules.

use omnilink_history::{Call, Op};
use omnilink_tla::strings::Strings;
use omnilink_tla::value::Value;

use crate::values::{Untranslatable, Values};

/// The record `[action, process, args, results, meta, finished, failed]` of an operation. `args`, `results` and `meta` are
/// records, or sequences if fields have no names. `action` is the first outcome if several are possible.
pub(crate) fn record(
    op: &Op<Call>,
    process: &str,
    values: &Values,
    strings: &Strings,
) -> Result<Value, Untranslatable> {
    let call = &op.call;
    let schema = call.schema();
    let fields = |names: &mut dyn Iterator<Item = &str>, recorded: &[omnilink_history::Value]| {
        let mut all = Vec::new();
        for (name, value) in names.zip(recorded) {
            all.push((name.to_owned(), values.translate(value, strings)?));
        }
        let is_positional = !all.is_empty() && all.iter().all(|(name, _)| name.is_empty());
        Ok(if is_positional {
            Value::seq(all.into_iter().map(|(_, value)| value).collect())
        } else {
            Value::record(all.into_iter().map(|(name, value)| (strings.str(&name), value)).collect())
        })
    };
    let meta: Vec<omnilink_history::Value> = call.meta.iter().map(|(_, value)| value.clone()).collect();
    let parts = [
        ("action", Value::Str(strings.str(schema.outcomes().next().unwrap_or_default()))),
        ("process", values.process(process, strings)),
        ("args", fields(&mut schema.args.iter().map(|name| &**name), call.args())?),
        ("results", fields(&mut schema.results.iter().map(|name| &**name), call.results())?),
        ("meta", fields(&mut call.meta.iter().map(|(name, _)| &**name), &meta)?),
        ("finished", Value::Bool(!op.interval.is_unfinished() && !call.blocked)),
        ("blocked", Value::Bool(call.blocked)),
        ("failed", Value::Bool(call.failed)),
    ];
    Ok(Value::record(parts.into_iter().map(|(name, value)| (strings.str(name), value)).collect()))
}

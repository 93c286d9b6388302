//! `Json`: reading files, and values as text. Writing files is unsupported.

use serde_json::Value as Json;

use super::args::{Args, unsupported};
use super::{Host, Native, Operand};
use crate::datum::Datum;
use crate::error::{ErrorKind, EvalError, Result};
use crate::strings::Strings;
use crate::value::Value;

pub(super) const NATIVES: &[Native] = &[
    Native::new("Json", "ToJson", &[0], |host, args| {
        let value = Args::new("ToJson", args).value(host, 0)?;
        text(host, &to_json(&value, host.strings()))
    }),
    Native::new("Json", "ToJsonArray", &[0], |host, args| {
        let args = Args::new("ToJsonArray", args);
        match args.value(host, 0)? {
            value @ (Value::Set(_) | Value::Seq(_) | Value::Fun(_)) => text(host, &to_json(&value, host.strings())),
            _ => Err(args.wrong(host, 0, "a set or a function")),
        }
    }),
    Native::new("Json", "ToJsonObject", &[0], |host, args| {
        let value = Args::new("ToJsonObject", args).function(host, 0)?;
        let object = match &value {
            // TLC numbers the elements of a sequence from 0 here.
            Value::Seq(seq) => {
                let elements = seq.elements().iter().enumerate();
                Json::Object(elements.map(|(i, v)| (i.to_string(), to_json(v, host.strings()))).collect())
            }
            other => to_json(other, host.strings()),
        };
        text(host, &object)
    }),
    unsupported!("Json", "JsonSerialize", &[0, 0]),
    unsupported!("Json", "ndJsonSerialize", &[0, 0]),
    Native::new("Json", "JsonDeserialize", &[0], |host, args| {
        let (path, bytes) = read(host, args, "JsonDeserialize")?;
        let json = serde_json::from_slice(&bytes).map_err(|error| malformed(&path, &error.to_string()))?;
        Ok(from_json(&json, host.strings()).map_err(|error| malformed(&path, &error))?.into())
    }),
    Native::new("Json", "ndJsonDeserialize", &[0], |host, args| {
        let (path, bytes) = read(host, args, "ndJsonDeserialize")?;
        let mut values = Vec::new();
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let at_line = |error: &str| malformed(&path, &format!("line {}: {error}", number + 1));
            let json = serde_json::from_slice(line).map_err(|error| at_line(&error.to_string()))?;
            values.push(from_json(&json, host.strings()).map_err(|error| at_line(&error))?);
        }
        Ok(Value::seq(values).into())
    }),
];

fn read(host: &mut dyn Host, args: &[Operand], name: &'static str) -> Result<(String, Vec<u8>)> {
    let path = Args::new(name, args).text(host, 0)?;
    match host.world().read(&path) {
        Ok(bytes) => Ok((path, bytes)),
        Err(error) => Err(malformed(&path, &error)),
    }
}

fn malformed(path: &str, error: &str) -> Box<EvalError> {
    EvalError::new(ErrorKind::WrongKind, format!("cannot read `{path}`: {error}"))
}

fn text(host: &dyn Host, json: &Json) -> Result<Datum> {
    Ok(Value::Str(host.strings().str(&json.to_string())).into())
}

fn to_json(value: &Value, strings: &Strings) -> Json {
    match value {
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(value) => Json::from(*value),
        Value::Str(string) => Json::from(strings.text(string)),
        Value::Model(_) => Json::String(value.display(strings).to_string()),
        Value::Set(set) => Json::Array(set.elements().iter().map(|element| to_json(element, strings)).collect()),
        Value::Seq(seq) => Json::Array(seq.elements().iter().map(|element| to_json(element, strings)).collect()),
        Value::Fun(fun) => {
            let pairs = fun.domain().elements().iter().zip(fun.values());
            let fields = pairs.map(|(key, value)| {
                let name = match key {
                    Value::Str(string) => strings.text(string).to_owned(),
                    key => key.display(strings).to_string(),
                };
                (name, to_json(value, strings))
            });
            Json::Object(fields.collect())
        }
    }
}

fn from_json(json: &Json, strings: &Strings) -> std::result::Result<Value, String> {
    match json {
        Json::Bool(value) => Ok(Value::Bool(*value)),
        // TLC truncates numbers that do not fit into 32 bits; here they keep their value.
        Json::Number(number) => {
            let whole = number.as_i64().or_else(|| number.as_f64().and_then(truncated));
            whole.map(Value::Int).ok_or_else(|| format!("the number {number} is not an integer of 64 bits"))
        }
        Json::String(text) => Ok(Value::Str(strings.str(text))),
        Json::Array(elements) => {
            let elements = elements.iter().map(|element| from_json(element, strings));
            Ok(Value::seq(elements.collect::<std::result::Result<_, _>>()?))
        }
        Json::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| Ok((strings.str(name), from_json(value, strings)?)));
            Ok(Value::record(fields.collect::<std::result::Result<_, String>>()?))
        }
        Json::Null => Err("`null` is unsupported".to_owned()),
    }
}

/// A number without its fraction, as in TLC.
fn truncated(number: f64) -> Option<i64> {
    // Both bounds are exact; 2^63 itself is too large.
    let fits = number >= i64::MIN as f64 && number < i64::MAX as f64;
    fits.then_some(number as i64)
}

//! Operations as a record batch.
//!
//! Arguments and results get typed columns where every operation fits them, and JSON otherwise. A field is typed if all its
//! values are of one kind; fields of all operations have one order; and null must mean one thing only.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, StructArray, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Fields, Schema};
use omnilink_history::format::WriteError;
use omnilink_history::format::jsonl::{self, write_fields_of};
use omnilink_history::{Call, End, Record, Trace, Value};

use crate::schema::{EVENTS, KEY_OF, VERSION, VERSION_KEY, column, outcome};

/// The operations of a trace. If `by` is an argument or a field of the metadata, a column `key` repeats it.
pub fn write(trace: &Trace, by: Option<&str>) -> Result<RecordBatch, WriteError> {
    let records = &trace.records;
    let mut columns: Vec<(Field, ArrayRef)> = Vec::new();
    let mut add = |name: &str, array: ArrayRef, nullable: bool| {
        columns.push((Field::new(name, array.data_type().clone(), nullable), array));
    };
    let process = records.iter().map(|record| &*trace.processes[record.process.index()]);
    add(column::PROCESS, Arc::new(StringArray::from_iter_values(process)), false);
    if let Some(by) = by {
        add(column::KEY, keys(records, by)?, true);
    }
    let action = records.iter().map(|record| record.call.action());
    add(column::ACTION, Arc::new(StringArray::from_iter_values(action)), false);
    let args = |call: &Call| (call.schema().args.clone(), call.args().to_vec());
    let results = |call: &Call| {
        let results = call.results().to_vec();
        let names = if results.is_empty() { Vec::new() } else { call.schema().results.clone() };
        (names, results)
    };
    add(column::ARGUMENTS, fields(records, args, false)?, true);
    add(column::RESULTS, fields(records, results, true)?, true);
    add(column::START, times(records.iter().map(|record| Some(record.start)).collect()), false);
    add(column::END, times(records.iter().map(|record| record.end.at()).collect()), true);
    if records.iter().any(|record| latest(record).is_some()) {
        add(column::LATEST, times(records.iter().map(latest).collect()), true);
    }
    add(column::OUTCOME, Arc::new(StringArray::from_iter_values(records.iter().map(outcome_of))), false);
    if records.iter().any(|record| !record.call.meta.is_empty()) {
        let metadata = records.iter().map(|record| {
            let (names, values): (Vec<_>, Vec<_>) = record.call.meta.iter().cloned().unzip();
            if names.is_empty() { Ok(None) } else { json(record, &names, &values).map(Some) }
        });
        add(column::METADATA, Arc::new(metadata.collect::<Result<StringArray, _>>()?), true);
    }
    let mut metadata = vec![(VERSION_KEY.to_owned(), VERSION.to_owned())];
    metadata.extend(by.map(|by| (KEY_OF.to_owned(), by.to_owned())));
    if !trace.events.is_empty() {
        let mut lines = Vec::new();
        jsonl::write(&Trace { events: trace.events.clone(), ..Trace::default() }, &mut lines)?;
        metadata.push((EVENTS.to_owned(), String::from_utf8_lossy(&lines).into_owned()));
    }
    let (schema, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    let schema = Schema::new_with_metadata(schema, metadata.into_iter().collect());
    Ok(RecordBatch::try_new(Arc::new(schema), arrays).expect("columns of one length"))
}

fn latest(record: &Record) -> Option<u64> {
    if let End::Unknown { latest } = record.end { latest } else { None }
}

fn outcome_of(record: &Record) -> &'static str {
    match record.end {
        _ if record.call.failed => outcome::FAILED,
        _ if record.call.blocked => outcome::BLOCKED,
        End::At(_) => outcome::FINISHED,
        End::Unknown { .. } => outcome::UNKNOWN,
    }
}

fn unwritable(record: &Record, why: impl Into<String>) -> WriteError {
    WriteError::Unwritable { call: record.call.to_string(), why: why.into() }
}

fn json(record: &Record, names: &[Arc<str>], values: &[Value]) -> Result<String, WriteError> {
    write_fields_of(names, values).map_err(|why| unwritable(record, why))
}

/// Signed, because not every engine has unsigned integers; unsigned only if a time needs it.
fn times(times: Vec<Option<u64>>) -> ArrayRef {
    let signed: Option<Vec<Option<i64>>> = times.iter().map(|time| time.map(i64::try_from).transpose().ok()).collect();
    match signed {
        Some(signed) => Arc::new(Int64Array::from(signed)),
        None => Arc::new(UInt64Array::from(times)),
    }
}

fn keys(records: &[Record], by: &str) -> Result<ArrayRef, WriteError> {
    let key = |record: &Record| -> Option<Value> {
        let call = &record.call;
        let arg = call.schema().args.iter().position(|name| **name == *by).map(|place| call.args()[place].clone());
        arg.or_else(|| call.meta.iter().find(|(name, _)| **name == *by).map(|(_, value)| value.clone()))
    };
    let keys: Vec<Option<Value>> = records.iter().map(key).collect();
    let ints: Option<Vec<Option<i64>>> = keys
        .iter()
        .map(|key| match key {
            None => Some(None),
            Some(key) => key.as_int().map(Some),
        })
        .collect();
    Ok(match ints {
        Some(ints) => Arc::new(Int64Array::from(ints)),
        None => {
            let text = |key: &Value| key.as_str().map_or_else(|| key.to_string(), str::to_owned);
            Arc::new(keys.iter().map(|key| key.as_ref().map(text)).collect::<StringArray>())
        }
    })
}

type Named = (Vec<Arc<str>>, Vec<Value>);

/// Arguments or results, typed if possible.
fn fields(records: &[Record], of: impl Fn(&Call) -> Named, is_result: bool) -> Result<ArrayRef, WriteError> {
    let rows: Vec<Named> = records.iter().map(|record| of(&record.call)).collect();
    if let Some(array) = typed(&rows, is_result) {
        return Ok(array);
    }
    let text =
        records.iter().zip(&rows).map(
            |(record, (names, values))| {
                if values.is_empty() { Ok(None) } else { json(record, names, values).map(Some) }
            },
        );
    Ok(Arc::new(text.collect::<Result<StringArray, _>>()?))
}

/// The maximum number of fields with types; more are better off as JSON.
const MOST_FIELDS: usize = 16;

/// The fields as a structure; `None` if it could not be read back as it was.
fn typed(rows: &[Named], is_result: bool) -> Option<ArrayRef> {
    let mut columns: Vec<(String, Option<DataType>)> = Vec::new();
    let (mut has_nil, mut is_positional) = (false, None);
    for (names, values) in rows {
        let mut from = 0;
        for (place, (name, value)) in names.iter().zip(values).enumerate() {
            if *is_positional.get_or_insert(name.is_empty()) != name.is_empty() {
                return None;
            }
            let name = if name.is_empty() { place.to_string() } else { (**name).to_owned() };
            let at = match columns.iter().position(|(known, _)| *known == name) {
                Some(at) if at < from => return None,
                Some(at) => at,
                None if from < columns.len() || columns.len() == MOST_FIELDS => return None,
                None => {
                    columns.push((name, None));
                    columns.len() - 1
                }
            };
            from = at + 1;
            let Some(kind) = kind(value) else {
                if *value != Value::Nil {
                    return None;
                }
                has_nil = true;
                continue;
            };
            if *columns[at].1.get_or_insert_with(|| kind.clone()) != kind {
                return None;
            }
        }
    }
    let looks_positional = columns.iter().enumerate().all(|(place, (name, _))| *name == place.to_string());
    let is_nil_clear = !has_nil || (is_result && columns.len() == 1);
    if columns.is_empty() || !is_nil_clear || looks_positional != is_positional.unwrap_or(false) {
        return None;
    }
    let value = |row: &Named, column: &str| -> Option<Value> {
        let place = match is_positional {
            Some(true) => column.parse().ok()?,
            _ => row.0.iter().position(|name| **name == *column)?,
        };
        row.1.get(place).cloned()
    };
    let (mut schema, mut arrays) = (Vec::new(), Vec::new());
    for (name, kind) in &columns {
        let kind = kind.clone().unwrap_or(DataType::Int64);
        arrays.push(column(&kind, rows.iter().map(|row| value(row, name))));
        schema.push(Field::new(name, kind, true));
    }
    let nulls = NullBuffer::from_iter(rows.iter().map(|row| !row.1.is_empty()));
    Some(Arc::new(StructArray::new(Fields::from(schema), arrays, Some(nulls))))
}

/// The type of a column for a value.
fn kind(value: &Value) -> Option<DataType> {
    match value {
        Value::Bool(_) => Some(DataType::Boolean),
        Value::Int(_) => Some(DataType::Int64),
        Value::Float(_) => Some(DataType::Float64),
        Value::Str(_) => Some(DataType::Utf8),
        _ => None,
    }
}

fn column(kind: &DataType, values: impl Iterator<Item = Option<Value>>) -> ArrayRef {
    match kind {
        DataType::Boolean => {
            let mut builder = BooleanBuilder::new();
            values.for_each(|value| builder.append_option(value.and_then(|value| value.as_bool())));
            Arc::new(builder.finish())
        }
        DataType::Float64 => {
            let mut builder = Float64Builder::new();
            let float = |value| if let Value::Float(float) = value { Some(float.get()) } else { None };
            values.for_each(|value| builder.append_option(value.and_then(float)));
            Arc::new(builder.finish())
        }
        DataType::Utf8 => {
            let mut builder = StringBuilder::new();
            values.for_each(|value| builder.append_option(value.as_ref().and_then(Value::as_str)));
            Arc::new(builder.finish())
        }
        _ => {
            let mut builder = Int64Builder::new();
            values.for_each(|value| builder.append_option(value.and_then(|value| value.as_int())));
            Arc::new(builder.finish())
        }
    }
}

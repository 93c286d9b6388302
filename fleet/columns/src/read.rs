//! Reads operations from record batches.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use omnilink_history::format::jsonl::{self, Fields, read_fields_of};
use omnilink_history::{Call, End, ProcessId, Record, Schema, Trace, Value};
use rustc_hash::FxHashMap;

use crate::schema::{EVENTS, KEY_OF, VERSION, VERSION_KEY, column, outcome};
use crate::values::{BadColumn, Text, Times, Values, fields_of};

/// One batch of operations.
#[derive(Debug)]
pub struct Rows {
    process: Text,
    action: Text,
    arguments: Option<Column>,
    results: Option<Column>,
    start: Times,
    end: Option<Times>,
    latest: Option<Times>,
    outcome: Option<Text>,
    metadata: Option<Text>,
    /// The key, unless it repeats another field.
    key: Option<Values>,
    len: usize,
}

/// A column of arguments or results.
#[derive(Debug)]
enum Column {
    /// JSON, as in JSON Lines.
    Json(Text),
    /// A structure with a field for each name. If `null_is_nil`, it has a single field, in which null is a value: a read
    /// that returned nothing.
    Typed { names: Vec<Arc<str>>, values: Vec<Values>, nulls: Option<NullBuffer>, null_is_nil: bool },
}

/// The columns to read; all others are ignored.
const REQUIRED: [&str; 3] = [column::PROCESS, column::ACTION, column::START];

impl Rows {
    /// Finds the columns of a batch.
    pub fn new(batch: &RecordBatch) -> Result<Rows, BadColumn> {
        let schema = batch.schema();
        if let Some(version) = schema.metadata().get(VERSION_KEY).filter(|version| *version != VERSION) {
            let message =
                format!("the file has version {version} of these columns; this program reads version {VERSION}");
            return Err(BadColumn::new(VERSION_KEY, message));
        }
        let find = |name: &str| batch.column_by_name(name);
        if let Some(missing) = REQUIRED.iter().find(|name| find(name).is_none()) {
            return Err(BadColumn::new(missing, "is missing"));
        }
        let text = |name: &str| find(name).map(|array| Text::of(name, array)).transpose();
        let times = |name: &str| find(name).map(|array| Times::of(name, array)).transpose();
        let fields = |name: &str| find(name).map(|array| Column::of(name, array)).transpose();
        let key = find(column::KEY).filter(|_| !schema.metadata().contains_key(KEY_OF));
        Ok(Rows {
            process: text(column::PROCESS)?.expect("a required column"),
            action: text(column::ACTION)?.expect("a required column"),
            arguments: fields(column::ARGUMENTS)?,
            results: fields(column::RESULTS)?,
            start: times(column::START)?.expect("a required column"),
            end: times(column::END)?,
            latest: times(column::LATEST)?,
            outcome: text(column::OUTCOME)?,
            metadata: text(column::METADATA)?,
            key: key.map(|array| Values::of(column::KEY, array)).transpose()?,
            len: batch.num_rows(),
        })
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The name of the process of a row.
    #[inline]
    pub fn process(&self, row: usize) -> Result<&str, BadColumn> {
        self.process.at(row).ok_or_else(|| BadColumn::new(column::PROCESS, "is null"))
    }

    /// The start of a row, if it is an operation.
    pub fn start(&self, row: usize) -> Result<Option<u64>, BadColumn> {
        time(&self.start, column::START, row)
    }

    /// The end of a row, and its call.
    pub fn call(&self, row: usize, shapes: &mut Shapes) -> Result<(End, Call), BadColumn> {
        let outcome = self.outcome.as_ref().and_then(|outcome| outcome.at(row));
        let end = self.end.as_ref().map_or(Ok(None), |end| time(end, column::END, row))?;
        let latest = self.latest.as_ref().map_or(Ok(None), |latest| time(latest, column::LATEST, row))?;
        let wrong = |message: &str| Err(BadColumn::new(column::OUTCOME, message));
        let (mut failed, mut blocked) = (false, false);
        match outcome {
            None if end.is_some() && latest.is_some() => {
                return wrong("is null, but there are an end and a latest time");
            }
            None => {}
            Some(outcome::FINISHED) if end.is_some() && latest.is_none() => {}
            Some(outcome::FINISHED) => return wrong("is `finished`, but there is no end, or a latest time"),
            Some(outcome::UNKNOWN) if end.is_none() => {}
            Some(outcome::UNKNOWN) => return wrong("is `unknown`, but there is an end"),
            Some(outcome::FAILED) if latest.is_none() => failed = true,
            Some(outcome::FAILED) => return wrong("is `failed`, but there is a latest time"),
            Some(outcome::BLOCKED) if end.is_none() && latest.is_none() => blocked = true,
            Some(outcome::BLOCKED) => return wrong("is `blocked`, but there is an end or a latest time"),
            Some(other) => {
                let known = "`finished`, `unknown`, `failed` or `blocked`";
                return wrong(&format!("is `{}`, not {known}", other.escape_debug()));
            }
        }
        let action = self.action.at(row).ok_or_else(|| BadColumn::new(column::ACTION, "is null"))?;
        let mut call = shapes.call(action, self.arguments.as_ref(), self.results.as_ref(), end.is_some(), row)?;
        (call.failed, call.blocked) = (failed, blocked);
        if let Some(text) = self.metadata.as_ref().and_then(|metadata| metadata.at(row)) {
            call.meta = read_fields_of(text).map_err(|why| BadColumn::new(column::METADATA, why))?.into();
            if call.meta.iter().any(|(name, _)| name.is_empty()) {
                return Err(BadColumn::new(column::METADATA, "is not a JSON object"));
            }
        }
        if let Some(key) = self.key.as_ref().filter(|key| !key.is_null(row)) {
            let key = key.at(row).map_err(|why| BadColumn::new(column::KEY, why))?;
            call.meta.push((column::KEY.into(), key));
        }
        Ok((end.map_or(End::Unknown { latest }, End::At), call))
    }
}

fn time(times: &Times, name: &str, row: usize) -> Result<Option<u64>, BadColumn> {
    times.at(row).map_err(|time| BadColumn::new(name, format!("is {time}, but times cannot be negative")))
}

impl Column {
    fn of(name: &str, array: &ArrayRef) -> Result<Column, BadColumn> {
        Ok(match array.data_type() {
            DataType::Struct(_) => {
                let (fields, nulls) = fields_of(name, array.as_struct())?;
                let (names, values): (Vec<Arc<str>>, Vec<Values>) = fields.into_iter().unzip();
                let is_place = |(place, name): (usize, &Arc<str>)| **name == *place.to_string();
                let is_positional = names.iter().enumerate().all(is_place);
                let names = if is_positional { vec![Arc::from(""); names.len()] } else { names };
                let null_is_nil = name == column::RESULTS && values.len() == 1;
                Column::Typed { names, values, nulls, null_is_nil }
            }
            _ => Column::Json(Text::of(name, array)?),
        })
    }

    /// The fields that a row has, one bit for each.
    #[inline]
    fn present(&self, row: usize) -> u64 {
        match self {
            Column::Json(_) => 0,
            Column::Typed { nulls: Some(nulls), .. } if nulls.is_null(row) => 0,
            Column::Typed { null_is_nil: true, .. } => 1,
            Column::Typed { values, .. } => {
                let bit = |(place, values): (usize, &Values)| u64::from(!values.is_null(row)) << place.min(63);
                values.iter().enumerate().map(bit).sum()
            }
        }
    }
}

/// The shapes of calls seen so far: equal ones are shared.
#[derive(Debug, Default)]
pub struct Shapes {
    typed: Vec<(u64, u64, Arc<Schema>)>,
    json: FxHashMap<Schema, Arc<Schema>>,
}

impl Shapes {
    fn call(
        &mut self,
        action: &str,
        arguments: Option<&Column>,
        results: Option<&Column>,
        has_results: bool,
        row: usize,
    ) -> Result<Call, BadColumn> {
        let results = results.filter(|_| has_results);
        if let (None | Some(Column::Typed { .. }), None | Some(Column::Typed { .. })) = (arguments, results) {
            return self.typed_call(action, arguments, results, row);
        }
        let (arg_names, mut values) = unzip(fields(column::ARGUMENTS, arguments, row)?);
        let (result_names, results) = unzip(fields(column::RESULTS, results, row)?);
        values.extend(results);
        let schema = Schema { action: action.into(), args: arg_names, results: result_names };
        let schema = self.json.entry(schema).or_insert_with_key(|schema| Arc::new(schema.clone())).clone();
        Ok(Call::new(schema, values).expect("each name came with a value"))
    }

    /// Columns with types: the shape of a call is its action and the fields that it has.
    fn typed_call(
        &mut self,
        action: &str,
        arguments: Option<&Column>,
        results: Option<&Column>,
        row: usize,
    ) -> Result<Call, BadColumn> {
        let of_arguments = arguments.map_or(0, |column| column.present(row));
        let of_results = results.map_or(0, |column| column.present(row));
        let is_known = |(of_args, of_res, schema): &&(u64, u64, Arc<Schema>)| {
            *of_args == of_arguments && *of_res == of_results && *schema.action == *action
        };
        let schema = match self.typed.iter().find(is_known) {
            Some((.., schema)) => schema.clone(),
            None => {
                let schema = Schema {
                    action: action.into(),
                    args: names(arguments, of_arguments),
                    results: names(results, of_results),
                };
                self.typed.push((of_arguments, of_results, Arc::new(schema)));
                self.typed[self.typed.len() - 1].2.clone()
            }
        };
        let mut failed = None;
        let values = present(arguments, of_arguments).map(|values| (column::ARGUMENTS, values));
        let values = values.chain(present(results, of_results).map(|values| (column::RESULTS, values)));
        let values = values.map(|(name, values)| {
            values.at(row).unwrap_or_else(|why| {
                failed = Some(BadColumn::new(name, why));
                Value::Nil
            })
        });
        let call = Call::new(schema, values).expect("a value for each name");
        failed.map_or(Ok(call), Err)
    }
}

fn unzip(fields: Fields) -> (Vec<Arc<str>>, Vec<Value>) {
    fields.into_iter().unzip()
}

fn names(column: Option<&Column>, wanted: u64) -> Vec<Arc<str>> {
    match column {
        Some(Column::Typed { names, .. }) => {
            let has = |place: usize| wanted >> place.min(63) & 1 == 1;
            names.iter().enumerate().filter(|(place, _)| has(*place)).map(|(_, name)| name.clone()).collect()
        }
        _ => Vec::new(),
    }
}

fn present(column: Option<&Column>, wanted: u64) -> impl Iterator<Item = &Values> {
    let values = match column {
        Some(Column::Typed { values, .. }) => &values[..],
        _ => &[],
    };
    values.iter().enumerate().filter(move |(place, _)| wanted >> place.min(&63) & 1 == 1).map(|(_, values)| values)
}

/// Arguments or results of a row.
fn fields(name: &str, column: Option<&Column>, row: usize) -> Result<Fields, BadColumn> {
    match column {
        Some(Column::Json(text)) => match text.at(row) {
            Some(text) => read_fields_of(text).map_err(|why| BadColumn::new(name, why)),
            None => Ok(Fields::new()),
        },
        Some(typed @ Column::Typed { .. }) => {
            let wanted = typed.present(row);
            let values = present(Some(typed), wanted).map(|values| values.at(row));
            let values = values.collect::<Result<Vec<_>, _>>().map_err(|why| BadColumn::new(name, why))?;
            Ok(names(Some(typed), wanted).into_iter().zip(values).collect())
        }
        None => Ok(Fields::new()),
    }
}

/// Adds the events that a schema has in its metadata to a trace.
pub fn read_events(schema: &arrow_schema::Schema, trace: &mut Trace) -> Result<(), BadColumn> {
    if let Some(lines) = schema.metadata().get(EVENTS) {
        let read = jsonl::read(lines.as_bytes()).map_err(|error| BadColumn::new(EVENTS, error.to_string()))?;
        trace.events.extend(read.events);
    }
    Ok(())
}

/// Adds the operations of a batch to a trace.
pub fn read(batch: &RecordBatch, trace: &mut Trace) -> Result<(), BadColumn> {
    let rows = Rows::new(batch)?;
    let mut shapes = Shapes::default();
    let known = trace.processes.iter().cloned().zip(0..);
    let mut processes: FxHashMap<Arc<str>, u32> = known.collect();
    for row in 0..rows.len() {
        let name = rows.process(row)?;
        let process = match processes.get(name) {
            Some(&process) => process,
            None => {
                let process = trace.processes.len() as u32;
                let name: Arc<str> = name.into();
                trace.processes.push(name.clone());
                processes.insert(name, process);
                process
            }
        };
        let start = rows.start(row)?.ok_or_else(|| BadColumn::new(column::START, "is null"))?;
        let (end, call) = rows.call(row, &mut shapes)?;
        trace.records.push(Record { process: ProcessId(process), start, end, call });
    }
    Ok(())
}

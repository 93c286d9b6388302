//! Checks operations that come sorted by key: one verdict for each.
//!
//! The operations of a key come one after the other, by increasing start, then end; those without an end last. A row whose
//! column `carried` is not null is not an operation: it has the carried states of an earlier check, and comes first.

use std::rc::Rc;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use omnilink_columns::{BadColumn, CARRIED, Key, Keys, Rows, Shapes, Text, verdicts};
use omnilink_history::{Call, End, Op, ProcessId, Sequence};
use omnilink_judge::{Failed, InputError, Judge, KeyOps, KeyVerdict, Limits};
use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::carried::Carried;

/// The options of a check.
#[derive(Clone, Debug)]
pub struct KeyedOptions {
    /// The column with the key.
    pub by: String,
    /// A time before which no later operation starts: the verdicts carry the states that a check of later operations needs.
    /// `None` if there will be none.
    pub cut: Option<u64>,
    /// The number of verdicts in a batch.
    pub batch: usize,
}

impl Default for KeyedOptions {
    fn default() -> KeyedOptions {
        KeyedOptions { by: "key".into(), cut: None, batch: 8192 }
    }
}

/// Counts of verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of keys.
    pub keys: u64,
    /// The number of operations.
    pub operations: u64,
    /// Keys that no order explains.
    pub rejected: u64,
    /// Keys without a verdict, because a limit was reached.
    pub inconclusive: u64,
    /// Keys whose operations could not be read, or do not fit the specification.
    pub wrong: u64,
}

impl Summary {
    /// Adds the counts of others.
    pub fn add(&mut self, other: &Summary) {
        self.keys += other.keys;
        self.operations += other.operations;
        self.rejected += other.rejected;
        self.inconclusive += other.inconclusive;
        self.wrong += other.wrong;
    }
}

/// The reason why a check of all keys ended.
#[derive(Debug, Error)]
pub enum Error {
    /// The columns are not those of operations.
    #[error(transparent)]
    Column(#[from] BadColumn),
    /// The batches did not arrive, or the verdicts could not be passed on.
    #[error("{0}")]
    Engine(String),
    /// A limit was reached; these keys have verdicts.
    #[error("{0}")]
    Stopped(omnilink_history::Stop, Summary),
}

/// The maximum number of operations of one key to keep for a report.
const KEPT: u64 = 1 << 20;

/// The word for a key that could not be checked.
const WRONG: &str = "error";

/// Checks batches of operations, which are sorted by key and start, and passes on batches of verdicts.
pub fn check_sorted(
    judge: &Judge,
    batches: &mut dyn Iterator<Item = Result<RecordBatch, String>>,
    options: &KeyedOptions,
    limits: &dyn Limits,
    emit: &mut dyn FnMut(RecordBatch) -> Result<(), String>,
) -> Result<Summary, Error> {
    let mut cursor = Cursor::new(batches, &options.by)?;
    let mut table: Option<Table> = None;
    let mut summary = Summary::default();
    while let Some(key) = cursor.key() {
        if let Some(stop) = limits.exceeded() {
            return Err(Error::Stopped(stop, summary));
        }
        let found = check_key(judge, &mut cursor, &key, options, limits)?;
        summary.keys += 1;
        summary.operations += found.operations;
        match found.verdict {
            Some(KeyVerdict::Accepted) => {}
            Some(KeyVerdict::Inconclusive) => summary.inconclusive += 1,
            Some(KeyVerdict::Rejected | KeyVerdict::Violated) => summary.rejected += 1,
            None => summary.wrong += 1,
        }
        let table = table.get_or_insert_with(|| Table::new(&cursor.key_type));
        table.add(&key, found);
        if table.len == options.batch {
            emit(table.take()).map_err(Error::Engine)?;
        }
    }
    if let Some(mut table) = table.filter(|table| table.len > 0) {
        emit(table.take()).map_err(Error::Engine)?;
    }
    Ok(summary)
}

struct Found {
    /// Returns `None` if its operations cannot be checked.
    verdict: Option<KeyVerdict>,
    operations: u64,
    reason: Option<String>,
    report: Option<String>,
    carried: Option<String>,
}

fn check_key(
    judge: &Judge,
    cursor: &mut Cursor<'_>,
    key: &Key,
    options: &KeyedOptions,
    limits: &dyn Limits,
) -> Result<Found, Error> {
    cursor.begin(key);
    let wrong = |operations: u64, message: String| Found {
        verdict: None,
        operations,
        reason: Some(message),
        report: None,
        carried: None,
    };
    let begin = match cursor.carried()? {
        Ok(carried) => carried,
        Err(message) => {
            return Ok(wrong(cursor.skip()?, message));
        }
    };
    let (states, before) = match begin {
        Some(carried) => (Some(carried.states), Some(carried.cut)),
        None => (None, None),
    };
    cursor.not_before = before.unwrap_or(0);
    let label = format!("{} {key}", options.by);
    let asked = omnilink_judge::Key { label: &label, ops: cursor, begin: states.as_deref(), cut: options.cut, limits };
    let checked = judge.check_key(asked);
    let new = cursor.seen + cursor.skip()?;
    if let Some(error) = cursor.error.take() {
        return Err(error);
    }
    let found = match checked {
        Ok(found) => found,
        Err(failed) => return Ok(wrong(new, failed.message())),
    };
    let carried = match (found.carried, options.cut) {
        (Some(carried), Some(cut)) => {
            let since = carried.since as usize;
            let last = if since == 0 { Ok(Some(Vec::new())) } else { cursor.again() };
            let last = match last {
                Ok(Some(mut all)) => all.split_off(all.len() - since),
                Ok(None) => {
                    let message = format!("more than {KEPT} operations without an instant at which none is in flight");
                    return Ok(wrong(new, message));
                }
                Err(failed) => return Ok(wrong(new, failed.message())),
            };
            match Carried::new(cut, carried.states, &cursor.processes, &last).write() {
                Ok(text) => Some(text),
                Err(message) => return Ok(wrong(new, message)),
            }
        }
        _ => None,
    };
    Ok(Found {
        verdict: Some(found.verdict),
        operations: new,
        reason: found.reason,
        report: found.report.map(|report| report.to_json()),
        carried,
    })
}

/// A position in sorted batches.
struct Cursor<'b> {
    batches: &'b mut dyn Iterator<Item = Result<RecordBatch, String>>,
    by: &'b str,
    key_type: DataType,
    schema: Option<SchemaRef>,
    now: Option<Rc<Batch>>,
    row: usize,
    shapes: Shapes,
    /// The processes of all keys; a key numbers only those that it has.
    all_processes: FxHashMap<Arc<str>, usize>,
    numbers: Vec<(u64, u32)>, // For each of them, the key that numbered it last, and the number.
    names: Vec<Arc<str>>,
    // The state of one key.
    key: Key,
    generation: u64,
    processes: Vec<Arc<str>>,
    sequence: Sequence,
    not_before: u64,
    carried: Vec<Op<Call>>, // They come before the rows.
    next_carried: usize,
    seen: u64,
    first_row: usize,       // Of the operations, in the first of the batches.
    before: Vec<Rc<Batch>>, // Batches with operations of the key, before the current one.
    dropped: bool,          // Some of them were dropped.
    error: Option<Error>,
}

struct Batch {
    rows: Rows,
    keys: Keys,
    carried: Option<Text>,
}

impl<'b> Cursor<'b> {
    fn new(
        batches: &'b mut dyn Iterator<Item = Result<RecordBatch, String>>,
        by: &'b str,
    ) -> Result<Cursor<'b>, Error> {
        let mut cursor = Cursor {
            batches,
            by,
            key_type: DataType::Utf8,
            schema: None,
            now: None,
            row: 0,
            shapes: Shapes::default(),
            all_processes: FxHashMap::default(),
            numbers: Vec::new(),
            names: Vec::new(),
            key: Key::None,
            generation: 0,
            processes: Vec::new(),
            sequence: Sequence::default(),
            not_before: 0,
            carried: Vec::new(),
            next_carried: 0,
            seen: 0,
            first_row: 0,
            before: Vec::new(),
            dropped: false,
            error: None,
        };
        cursor.load()?;
        Ok(cursor)
    }

    /// Loads the next batch that has rows.
    fn load(&mut self) -> Result<(), Error> {
        (self.now, self.row) = (None, 0);
        while self.now.is_none()
            && let Some(batch) = self.batches.next()
        {
            let batch = batch.map_err(Error::Engine)?;
            if batch.num_rows() == 0 {
                continue;
            }
            let keys = batch.column_by_name(self.by).ok_or_else(|| BadColumn::new(self.by, "is missing"))?;
            if self.schema.as_ref().is_none_or(|known| *known != batch.schema()) {
                self.key_type = keys.data_type().clone();
                self.schema = Some(batch.schema());
                self.shapes = Shapes::default();
            }
            let carried = batch.column_by_name(CARRIED);
            self.now = Some(Rc::new(Batch {
                rows: Rows::new(&batch)?,
                keys: Keys::of(self.by, keys)?,
                carried: carried.map(|array| Text::of(CARRIED, array)).transpose()?,
            }));
        }
        Ok(())
    }

    /// The key of the next row.
    fn key(&self) -> Option<Key> {
        self.now.as_ref().map(|now| now.keys.at(self.row))
    }

    /// Begins with the operations of a key.
    fn begin(&mut self, key: &Key) {
        self.key = key.clone();
        self.generation += 1;
        self.processes.clear();
        self.carried.clear();
        self.before.clear();
        (self.sequence, self.seen, self.not_before) = (Sequence::default(), 0, 0);
        (self.next_carried, self.first_row, self.dropped) = (0, self.row, false);
    }

    /// True if the next row has the current key.
    fn has_row(&self) -> bool {
        self.now.as_ref().is_some_and(|now| now.keys.is(self.row, &self.key))
    }

    fn step(&mut self) -> Result<(), Error> {
        self.row += 1;
        if let Some(now) = self.now.take_if(|now| self.row == now.rows.len()) {
            if self.seen <= KEPT {
                self.before.push(now);
            } else {
                self.before.clear();
                self.dropped = true;
            }
            self.load()?;
        }
        Ok(())
    }

    /// Skips the rest of the key; returns the number of its operations.
    fn skip(&mut self) -> Result<u64, Error> {
        let mut count = 0;
        while self.has_row() {
            count += 1;
            self.step()?;
        }
        Ok(count)
    }

    /// The result of an earlier check; the error is about this key only.
    fn carried(&mut self) -> Result<Result<Option<Carried>, String>, Error> {
        let Some(now) = self.now.as_ref().filter(|_| self.has_row()) else { return Ok(Ok(None)) };
        let Some(text) = now.carried.as_ref().and_then(|carried| carried.at(self.row)) else { return Ok(Ok(None)) };
        let carried = Carried::read(text).map_err(|why| format!("what was carried cannot be read: {why}"));
        self.step()?;
        let carried = match carried {
            Ok(carried) => carried,
            Err(message) => return Ok(Err(message)),
        };
        let mut again = Vec::new();
        for record in &carried.since.records {
            let process = self.process(&carried.since.processes[record.process.index()].clone());
            let op = self.sequence.next(&self.processes, process, record.start, record.end, record.call.clone());
            match op {
                Ok(op) => again.push(op),
                Err(error) => return Ok(Err(error.to_string())),
            }
        }
        (self.carried, self.first_row) = (again, self.row);
        self.before.clear();
        Ok(Ok(Some(carried)))
    }

    /// The number of a process among those of the current key.
    fn process(&mut self, name: &str) -> ProcessId {
        let at = match self.all_processes.get(name) {
            Some(&at) => at,
            None => {
                let name: Arc<str> = name.into();
                self.names.push(name.clone());
                self.numbers.push((0, 0));
                self.all_processes.insert(name, self.numbers.len() - 1);
                self.numbers.len() - 1
            }
        };
        if self.numbers[at].0 != self.generation {
            self.numbers[at] = (self.generation, self.processes.len() as u32);
            self.processes.push(self.names[at].clone());
        }
        ProcessId(self.numbers[at].1)
    }

    /// The operation in a row.
    fn decode(&mut self, batch: &Batch, row: usize) -> Result<(ProcessId, u64, End, Call), BadColumn> {
        let process = self.process(batch.rows.process(row)?);
        let start = batch.rows.start(row)?.ok_or_else(|| BadColumn::new("start", "is null"))?;
        let (end, call) = batch.rows.call(row, &mut self.shapes)?;
        Ok((process, start, end, call))
    }

    /// The operation in the next row, if it has the current key.
    fn operation(&mut self) -> Result<Option<Op<Call>>, Stop> {
        if !self.has_row() {
            return Ok(None);
        }
        let (now, row) = (self.now.clone().expect("a row"), self.row);
        if now.carried.as_ref().is_some_and(|carried| carried.at(row).is_some()) {
            return Err(Stop::Key("what was carried comes twice, or after an operation: sort by key and start".into()));
        }
        let (process, start, end, call) = self.decode(&now, row).map_err(|error| Stop::Key(error.to_string()))?;
        if start < self.not_before {
            return Err(Stop::Key(format!(
                "an operation starts at {start}, before {}, where an earlier check was cut: it came late, and that \
                 check must be repeated with it",
                self.not_before
            )));
        }
        let op = self.sequence.next(&self.processes, process, start, end, call);
        let op = op.map_err(|error| Stop::Key(error.to_string()))?;
        self.seen += 1;
        self.step().map_err(Stop::All)?;
        Ok(Some(op))
    }
}

/// The reason why the operations of a key end early.
enum Stop {
    /// This key is wrong.
    Key(String),
    /// The input is wrong.
    All(Error),
}

impl KeyOps for Cursor<'_> {
    fn next(&mut self) -> Result<Option<Op<Call>>, Failed> {
        if let Some(op) = self.carried.get(self.next_carried) {
            self.next_carried += 1;
            return Ok(Some(op.clone()));
        }
        self.operation().map_err(|stop| match stop {
            Stop::Key(message) => Failed::from(InputError::new(message)),
            Stop::All(error) => {
                let failed = Failed::from(InputError::new(&error));
                self.error = Some(error);
                failed
            }
        })
    }

    fn processes(&self) -> &[Arc<str>] {
        &self.processes
    }

    fn again(&mut self) -> Result<Option<Vec<Op<Call>>>, Failed> {
        if self.dropped {
            return Ok(None);
        }
        let mut ops = self.carried.clone();
        let mut sequence = Sequence::default();
        for op in &ops {
            let end = op.interval.into();
            sequence.next(&self.processes, op.process, op.interval.start(), end, ()).map_err(InputError::new)?;
        }
        let mut left = self.seen as usize;
        let mut from = self.first_row;
        let batches: Vec<Rc<Batch>> = self.before.iter().chain(&self.now).cloned().collect();
        for batch in batches {
            let rows = from..batch.rows.len().min(from + left);
            left -= rows.len();
            for row in rows {
                let (process, start, end, call) = self.decode(&batch, row).map_err(InputError::new)?;
                let op = sequence.next(&self.processes, process, start, end, call).map_err(InputError::new)?;
                ops.push(op);
            }
            from = 0;
        }
        Ok(Some(ops))
    }
}

/// Verdicts to pass on.
struct Table {
    schema: SchemaRef,
    int_keys: Option<Int64Builder>,
    text_keys: StringBuilder,
    operations: Int64Builder,
    words: StringBuilder,
    reasons: StringBuilder,
    reports: StringBuilder,
    carried: StringBuilder,
    len: usize,
}

impl Table {
    fn new(key: &DataType) -> Table {
        let schema = verdicts(key);
        Table {
            int_keys: (*schema.field(0).data_type() == DataType::Int64).then(Int64Builder::new),
            schema,
            text_keys: StringBuilder::new(),
            operations: Int64Builder::new(),
            words: StringBuilder::new(),
            reasons: StringBuilder::new(),
            reports: StringBuilder::new(),
            carried: StringBuilder::new(),
            len: 0,
        }
    }

    fn add(&mut self, key: &Key, found: Found) {
        match (&mut self.int_keys, key) {
            (Some(keys), Key::Int(key)) => keys.append_value(*key),
            (Some(keys), _) => keys.append_null(),
            (None, Key::None) => self.text_keys.append_null(),
            (None, key) => self.text_keys.append_value(key.to_string()),
        }
        self.operations.append_value(i64::try_from(found.operations).unwrap_or(i64::MAX));
        self.words.append_value(found.verdict.map_or(WRONG, KeyVerdict::word));
        self.reasons.append_option(found.reason);
        self.reports.append_option(found.report);
        self.carried.append_option(found.carried);
        self.len += 1;
    }

    fn take(&mut self) -> RecordBatch {
        self.len = 0;
        let keys: ArrayRef = match &mut self.int_keys {
            Some(keys) => Arc::new(keys.finish()),
            None => Arc::new(self.text_keys.finish()),
        };
        let columns: Vec<ArrayRef> = vec![
            keys,
            Arc::new(self.operations.finish()),
            Arc::new(self.words.finish()),
            Arc::new(self.reasons.finish()),
            Arc::new(self.reports.finish()),
            Arc::new(self.carried.finish()),
        ];
        RecordBatch::try_new(self.schema.clone(), columns).expect("columns of one length")
    }
}

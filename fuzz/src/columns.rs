//! Operations as columns.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{Field, Schema};
use omnilink_history::History;
use omnilink_history::format::Trace;

/// A table in text: the first line has the columns as `name:type`, the others are rows, with tabs between the cells. The types
/// are `b`, `f`, `i`, `u` and `s`; a cell that is no such value is null.
///
/// The columns are refused, or they are a trace that can be checked, and written and read again.
pub(crate) fn columns(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Some(batch) = batch(text) else { return };
    let mut trace = Trace::default();
    if omnilink_columns::read(&batch, &mut trace).is_err() {
        return;
    }
    if let Ok(written) = omnilink_columns::write(&trace, None) {
        let mut again = Trace::default();
        omnilink_columns::read(&written, &mut again).expect("what is written can be read");
        assert_eq!(again.records.len(), trace.records.len());
    }
    let _ = History::new(trace);
}

fn batch(text: &str) -> Option<RecordBatch> {
    let mut lines = text.lines();
    let head: Vec<(&str, &str)> =
        lines.next()?.split('\t').map(|name| name.split_once(':').unwrap_or((name, "s"))).collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split('\t').collect()).collect();
    let columns = head.iter().enumerate().map(|(index, (name, kind))| {
        let array = array(kind, rows.iter().map(|row| row.get(index).copied().filter(|cell| !cell.is_empty())));
        (Field::new(*name, array.data_type().clone(), true), array)
    });
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).ok()
}

fn array<'a>(kind: &str, cells: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    match kind {
        "b" => Arc::new(cells.map(|cell| cell?.parse().ok()).collect::<BooleanArray>()),
        "f" => Arc::new(cells.map(|cell| cell?.parse().ok()).collect::<Float64Array>()),
        "i" => Arc::new(cells.map(|cell| cell?.parse().ok()).collect::<Int64Array>()),
        "u" => Arc::new(cells.map(|cell| cell?.parse().ok()).collect::<UInt64Array>()),
        _ => Arc::new(cells.collect::<StringArray>()),
    }
}

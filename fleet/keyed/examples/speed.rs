//! Measures the check by itself: sorted batches of register operations in memory, without an engine around it.
//!
//! ```console
//! $ cargo run --profile engine -p omnilink-keyed --example speed -- 20000 100
//! ```
//!
//! The arguments are the number of keys, and that of the operations of each.

use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_schema::{DataType, Field, Fields};
use judge::{Judge, Options, Unlimited};
use omnilink_keyed::check_sorted;

/// As in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROWS: usize = 8192;
const PROCESSES: u64 = 64;

/// Process, key, the value if it was written, the value if it was read, start, end.
type Row = (u64, i64, Option<i64>, Option<i64>, i64, i64);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<u64>());
    let keys = args.next().transpose()?.unwrap_or(20_000);
    let each = args.next().transpose()?.unwrap_or(100);
    let rows = operations(keys, each);
    let batches: Vec<RecordBatch> = rows.chunks(ROWS).map(batch).collect();
    let judge = Judge::new("register:initial=0", Options::default()).map_err(|failed| failed.message())?;
    let began = Instant::now();
    let mut batches = batches.into_iter().map(Ok);
    let summary = check_sorted(&judge, &mut batches, &omnilink_keyed::Options::default(), &Unlimited, &mut |_| Ok(()))?;
    let each = began.elapsed().as_nanos() / u128::from(summary.operations.max(1));
    println!(
        "{} operations of {} keys, {} rejected: {each} ns each",
        summary.operations, summary.keys, summary.rejected
    );
    Ok(())
}

/// Operations by key and start, around three of a key in flight at once, 40 % of them writes.
fn operations(keys: u64, each: u64) -> Vec<Row> {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = move |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    let mut all = Vec::new();
    for key in 0..keys {
        let (first, mut held) = (all.len(), 0);
        for turn in 0..each {
            let at = 1000 + turn * 100;
            let (start, end) = ((at - draw(150)) as i64, (at + draw(150)) as i64);
            let process = (turn + key) % PROCESSES;
            if draw(10) < 4 {
                held = turn as i64 + 1;
                all.push((process, key as i64, Some(held), None, start, end));
            } else {
                all.push((process, key as i64, None, Some(held), start, end));
            }
        }
        all[first..].sort_by_key(|&(.., start, end)| (start, end));
    }
    all
}

fn batch(rows: &[Row]) -> RecordBatch {
    let ints = |of: fn(&Row) -> i64| -> ArrayRef { Arc::new(rows.iter().map(of).map(Some).collect::<Int64Array>()) };
    let value = |of: fn(&Row) -> Option<i64>| -> ArrayRef {
        let values: Int64Array = rows.iter().map(of).collect();
        let (fields, nulls) = (
            Fields::from(vec![Field::new("value", DataType::Int64, true)]),
            arrow_array::Array::nulls(&values).cloned(),
        );
        Arc::new(StructArray::new(fields, vec![Arc::new(values)], nulls))
    };
    let action = |row: &Row| if row.2.is_some() { "write" } else { "read" };
    let processes: Vec<String> = rows.iter().map(|row| format!("client-{}", row.0)).collect();
    RecordBatch::try_from_iter([
        ("process", Arc::new(StringArray::from(processes)) as ArrayRef),
        ("key", ints(|row| row.1)),
        ("action", Arc::new(rows.iter().map(action).map(Some).collect::<StringArray>())),
        ("arguments", value(|row| row.2)),
        ("results", value(|row| row.3)),
        ("start", ints(|row| row.4)),
        ("end", ints(|row| row.5)),
    ])
    .expect("columns of one length")
}

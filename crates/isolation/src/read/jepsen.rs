//! Operations `txn` of histories in other formats, above all Jepsen's: the argument and the result are lists of
//! micro-operations.

use omnilink_history::format::{Format, FormatError, Location};
use omnilink_history::{End, Halt, Value};

use super::ReadError;
use crate::transactions::{Builder, Status, Transactions};

/// Reads the operations `txn`.
pub(super) fn read(format: Format, bytes: &[u8], halt: &Halt) -> Result<Transactions, ReadError> {
    let trace = format.read_until(bytes, halt)?;
    let mut builder = Builder::default();
    for (record, number) in trace.records.iter().zip(1..) {
        let at = |message: String| {
            let text = format!("operation {number} ({}): {message}", record.call.action());
            FormatError::new(Location::Byte(0), text)
        };
        if !matches!(record.call.action(), "txn" | "") {
            return Err(at("expected `txn`".to_owned()).into());
        }
        let (status, end) = match record.end {
            _ if record.call.failed => (Status::Aborted, record.end.at()),
            End::At(end) => (Status::Committed, Some(end)),
            End::Unknown { .. } => (Status::Unknown, None),
        };
        let process = builder.process(&trace.processes[record.process.index()]);
        builder.begin(process, Some((record.start, end)), status);
        let all = record.call.results().first().or_else(|| record.call.args().first());
        let Some(Value::Tuple(micros)) = all else { return Err(at("the value is not a list".to_owned()).into()) };
        for micro in micros.iter() {
            add(&mut builder, micro).map_err(at)?;
        }
    }
    Ok(builder.finish()?)
}

fn add(builder: &mut Builder, micro: &Value) -> Result<(), String> {
    let Some([Value::Str(kind), key, content]) = micro.as_tuple() else {
        return Err(format!("expected a kind, a key and a value, found `{micro}`"));
    };
    match (&**kind, content) {
        ("r", Value::Tuple(elements)) => builder.read_list(key, elements.iter()),
        ("r", content) => builder.read(key, content),
        ("w", content) => builder.write(key, content),
        ("append", element) => builder.append(key, element),
        (other, _) => return Err(format!("unsupported micro-operation `{other}` (expected `r`, `w` or `append`)")),
    }
    Ok(())
}

//! The readers of histories: each understands bytes or says where it does not, and what it reads can be checked.

use omnilink_history::History;
use omnilink_history::format::binary::{Merge, SegmentReader};
use omnilink_history::format::{Format, msgpack};

/// Any numbers: either they are not a history, or each operation starts after the one before it and ends after its start.
///
/// A call takes 18 bytes: its process, its start, whether it ends if that is odd, and its end.
pub(crate) fn calls(bytes: &[u8]) {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let calls = bytes.chunks_exact(18).map(|call| {
        let end = (call[9] % 2 == 1).then(|| number(&call[10..]));
        (u32::from(call[0]), number(&call[1..9]), end, ())
    });
    let Ok(history) = History::from_calls(calls) else { return };
    assert!(history.ops().is_sorted_by_key(|op| op.interval.start()));
    assert!(history.ops().iter().all(|op| op.interval.start() <= op.interval.deadline()));
}

/// Jepsen histories.
pub(crate) fn read_jepsen(bytes: &[u8]) {
    read(Format::Jepsen, bytes);
}

/// Spans as Jaeger shows them.
pub(crate) fn read_jaeger(bytes: &[u8]) {
    read(Format::Jaeger, bytes);
}

/// JSON Lines.
pub(crate) fn read_jsonl(bytes: &[u8]) {
    read(Format::JsonLines, bytes);
}

/// MessagePack logs of the prototype.
pub(crate) fn read_msgpack(bytes: &[u8]) {
    let _ = msgpack::read(&[("0", bytes)]).map(History::new);
}

/// Spans of OpenTelemetry.
pub(crate) fn read_otlp(bytes: &[u8]) {
    read(Format::Otlp, bytes);
}

/// Porcupine's etcd logs.
pub(crate) fn read_porcupine_etcd(bytes: &[u8]) {
    read(Format::PorcupineEtcd, bytes);
}

/// Porcupine's key-value logs.
pub(crate) fn read_porcupine_kv(bytes: &[u8]) {
    read(Format::PorcupineKv, bytes);
}

/// Binary segments.
pub(crate) fn read_segment(bytes: &[u8]) {
    let _ = SegmentReader::new("0", bytes).and_then(|reader| Merge::new([reader])).map(Iterator::count);
}

/// Text.
pub(crate) fn read_text(bytes: &[u8]) {
    read(Format::Text, bytes);
}

fn read(format: Format, bytes: &[u8]) {
    let _ = format.read(bytes).map(History::new);
}

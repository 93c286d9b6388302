//! Any numbers: either they are not a history, or each operation starts after the one before it and ends after its start.
#![no_main]

use history::History;

libfuzzer_sys::fuzz_target!(|calls: Vec<(u8, u64, Option<u64>)>| {
    let calls = calls.into_iter().map(|(process, start, end)| (u32::from(process), start, end, ()));
    let Ok(history) = History::from_calls(calls) else { return };
    assert!(history.ops().is_sorted_by_key(|op| op.interval.start()));
    assert!(history.ops().iter().all(|op| op.interval.start() <= op.interval.deadline()));
});

//! Verdicts by key are those of each key by itself, in one batch or many, whole or in windows.

use std::collections::BTreeMap;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use omnilink_columns::{CARRIED, Keys, Text};
use omnilink_history::{Call, End, History, ProcessId, Record, Trace};
use omnilink_judge::{Case, Judge, Recording, Unlimited};
use omnilink_keyed::{KeyedOptions, check_sorted};
use proptest::prelude::*;

type Step = (i64, u32, u64, u64, bool, i64);

/// Operations of registers, each with its key in the metadata, by key and start.
fn trace(steps: &[Step]) -> Trace {
    let mut clocks: BTreeMap<(i64, u32), u64> = BTreeMap::new();
    let mut records: Vec<(i64, Record)> = Vec::new();
    for &(key, process, wait, long, is_write, value) in steps {
        let clock = clocks.entry((key, process)).or_default();
        let start = *clock + wait;
        *clock = start + long + 1;
        let mut call = match is_write {
            true => Call::positional("write", [value.into()], []),
            false => Call::positional("read", [], [value.into()]),
        };
        call.meta.push(("object".into(), key.into()));
        records.push((key, Record { process: ProcessId(process), start, end: End::At(start + long), call }));
    }
    records.sort_by_key(|(key, record)| (*key, record.start, record.end.at()));
    let records = records.into_iter().map(|(_, record)| record).collect();
    Trace { processes: vec!["a".into(), "b".into(), "c".into()], records, ..Trace::default() }
}

fn judge() -> Judge {
    Judge::new("register:initial=0", omnilink_judge::CheckOptions::default()).expect("a built-in specification")
}

/// The verdict of each key, and what it carries.
fn check(batches: Vec<RecordBatch>, cut: Option<u64>) -> BTreeMap<String, (String, Option<String>)> {
    let options = KeyedOptions { cut, ..KeyedOptions::default() };
    let mut found = BTreeMap::new();
    let mut emit = |batch: RecordBatch| {
        let text = |name: &str| Text::of(name, batch.column_by_name(name).expect("a column")).expect("text");
        let (words, carried) = (text("verdict"), text("carried"));
        let keys = Keys::of("key", batch.column(0)).expect("keys");
        for row in 0..batch.num_rows() {
            let verdict = (words.at(row).unwrap_or_default().to_owned(), carried.at(row).map(str::to_owned));
            found.insert(keys.at(row).to_string(), verdict);
        }
        Ok(())
    };
    check_sorted(&judge(), &mut batches.into_iter().map(Ok), &options, &Unlimited, &mut emit).expect("verdicts");
    found
}

fn batch(trace: &Trace) -> RecordBatch {
    omnilink_columns::write(trace, Some("object")).expect("columns")
}

/// The same operations, each key by itself and without columns.
fn one_by_one(trace: &Trace) -> BTreeMap<String, String> {
    let key = |record: &Record| record.call.meta[0].1.to_string();
    let keys: std::collections::BTreeSet<String> = trace.records.iter().map(key).collect();
    let verdict = |wanted: &String| {
        let records = trace.records.iter().filter(|record| key(record) == *wanted).cloned().collect();
        let part = Trace { processes: trace.processes.clone(), records, ..Trace::default() };
        let recording = Recording::of(History::new(part).expect("a history"));
        let case = &mut Case { recording: &recording, label: wanted, witness: None, limits: &Unlimited };
        judge().report(case).expect("a report").verdict.word().to_owned()
    };
    keys.iter().map(|key| (key.clone(), verdict(key))).collect()
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((0..4_i64, 0..3_u32, 0..4_u64, 0..5_u64, any::<bool>(), 0..3_i64), 1..24)
}

/// The batch with a column of what was carried, which is null in all its rows.
fn with_carried(batch: &RecordBatch, earlier: &BTreeMap<String, (String, Option<String>)>) -> Vec<RecordBatch> {
    let mut rows: Vec<(Option<i64>, Option<&str>)> = Vec::new();
    for (key, (_, carried)) in earlier {
        rows.push((key.parse().ok(), carried.as_deref()));
    }
    let mut fields: Vec<(&str, ArrayRef)> = Vec::new();
    let schema = batch.schema();
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        let head: ArrayRef = match field.name().as_str() {
            "key" => std::sync::Arc::new(rows.iter().map(|row| row.0).collect::<arrow_array::Int64Array>()),
            _ => arrow_array::new_null_array(field.data_type(), rows.len()),
        };
        let both = arrow_select::concat::concat(&[&head, column]).expect("arrays of one type");
        fields.push((field.name(), both));
    }
    let carried = rows.iter().map(|row| row.1).chain((0..batch.num_rows()).map(|_| None));
    fields.push((CARRIED, std::sync::Arc::new(carried.collect::<StringArray>())));
    let all = RecordBatch::try_from_iter_with_nullable(fields.into_iter().map(|(name, array)| (name, array, true)));
    let all = all.expect("columns of one length");
    // Stable: what was carried comes before the operations of its key.
    let keys = all.column_by_name("key").expect("keys");
    let order = arrow_ord::sort::sort_to_indices(keys, None, None).expect("an order");
    let mut places: Vec<u32> = order.values().to_vec();
    let key = |place: &u32| Keys::of("key", keys).expect("keys").at(*place as usize);
    places.sort_by_key(|place| (key(place), *place));
    let places = arrow_array::UInt32Array::from(places);
    vec![arrow_select::take::take_record_batch(&all, &places).expect("rows")]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn keys_have_the_verdicts_of_their_histories(steps in steps(), split in 1..24_usize) {
        let trace = trace(&steps);
        let whole = batch(&trace);
        let split = split.min(whole.num_rows());
        let parts = vec![whole.slice(0, split), whole.slice(split, whole.num_rows() - split)];
        let found: BTreeMap<String, String> = check(parts, None).into_iter().map(|(key, found)| (key, found.0)).collect();
        prop_assert_eq!(found, one_by_one(&trace));
    }

    #[test]
    fn windows_have_the_verdicts_of_the_whole(steps in steps(), cut in 0..20_u64) {
        let trace = trace(&steps);
        let window = |is_wanted: &dyn Fn(&Record) -> bool| {
            let records = trace.records.iter().filter(|record| is_wanted(record)).cloned().collect();
            batch(&Trace { processes: trace.processes.clone(), records, ..Trace::default() })
        };
        let first = check(vec![window(&|record| record.start < cut)], Some(cut));
        let second = check(with_carried(&window(&|record| record.start >= cut), &first), None);
        for (key, whole) in one_by_one(&trace) {
            let rejected = |found: &BTreeMap<String, (String, Option<String>)>| {
                found.get(&key).is_some_and(|(word, _)| word == "rejected")
            };
            prop_assert_eq!(rejected(&first) || rejected(&second), whole == "rejected", "{} {:?} {:?}", key, first, second);
        }
    }
}

#[test]
fn what_comes_late_is_an_error_and_not_a_verdict() {
    let first = trace(&[(1, 0, 5, 1, true, 1)]);
    let carried = check(vec![batch(&first)], Some(100));
    let late = trace(&[(1, 1, 50, 1, false, 0)]);
    let found = check(with_carried(&batch(&late), &carried), None);
    assert_eq!(found["1"].0, "error");
}

#[test]
fn a_key_with_a_process_that_overlaps_itself_is_an_error_of_that_key_only() {
    let mut records = trace(&[(1, 0, 0, 9, true, 1), (2, 0, 0, 1, true, 1)]);
    let mut again = records.records[0].clone();
    again.start += 1;
    records.records.insert(1, again);
    let found = check(vec![batch(&records)], None);
    assert_eq!((&*found["1"].0, &*found["2"].0), ("error", "accepted"));
}

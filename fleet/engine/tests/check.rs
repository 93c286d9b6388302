//! Verdicts by key on the engine: whole, filtered, spilled, and in windows.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use omnilink_columns::file::TableWriter;
use omnilink_columns::{Keys, Text};
use omnilink_fleet::{Error, Job, Summary};
use omnilink_history::format::jsonl;
use omnilink_judge::{Judge, Unlimited};

/// Writes operations of registers: each key writes 1, 2, ... and reads each value once. Bad keys read one too early.
fn write(path: &Path, keys: i64, turns: std::ops::Range<u64>, bad: &[i64]) {
    let mut lines = String::new();
    for turn in turns {
        for key in 0..keys {
            let (start, value) = (turn * 100, turn + 1);
            let seen = if bad.contains(&key) && turn == 7 { value - 1 } else { value };
            lines += &format!(
                "{{\"process\": {key}, \"action\": \"write\", \"args\": {{\"value\": {value}}}, \"start\": {start}, \"end\": {}, \
                 \"meta\": {{\"object\": {key}}}}}\n",
                start + 10
            );
            lines += &format!(
                "{{\"process\": {key}, \"action\": \"read\", \"results\": {{\"value\": {seen}}}, \"start\": {}, \"end\": {}, \
                 \"meta\": {{\"object\": {key}}}}}\n",
                start + 20,
                start + 30
            );
        }
    }
    let trace = jsonl::read(lines.as_bytes()).expect("operations");
    omnilink_columns::file::write(&trace, Some("object"), File::create(path).expect("a file"))
        .expect("a file of operations");
}

fn judge() -> Arc<Judge> {
    Arc::new(
        Judge::new("register:initial=0", omnilink_judge::CheckOptions::default()).expect("a built-in specification"),
    )
}

/// The keys that are not accepted; all verdicts go to a file.
fn check(job: &Job, verdicts: &Path) -> Result<(Summary, BTreeSet<String>), Error> {
    let (mut table, mut bad) = (None, BTreeSet::new());
    let summary = job.check(judge(), Arc::new(Unlimited), |batch| {
        let words = Text::of("verdict", batch.column(2)).expect("verdicts");
        let keys = Keys::of("key", batch.column(0)).expect("keys");
        let rows = (0..batch.num_rows()).filter(|&row| words.at(row) != Some("accepted"));
        bad.extend(rows.map(|row| format!("{} {}", keys.at(row), words.at(row).unwrap_or_default())));
        let out = || TableWriter::new(File::create(verdicts).expect("a file"), batch.schema()).expect("a table");
        table.get_or_insert_with(out).write(&batch).map_err(|error| error.to_string())
    })?;
    if let Some(table) = table {
        table.finish().expect("a whole table");
    }
    Ok((summary, bad))
}

fn named(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn each_key_has_its_verdict() {
    let place = tempfile::tempdir().expect("a directory");
    let at = |name: &str| place.path().join(name);
    std::fs::create_dir(at("ops")).expect("a directory");
    write(&at("ops/a.parquet"), 500, 0..10, &[3, 77]);
    write(&at("ops/b.parquet"), 500, 10..20, &[]);
    let job = Job { jobs: 2, ..Job::new([at("ops").display().to_string()], "key") };
    let (summary, bad) = check(&job, &at("verdicts.parquet")).expect("verdicts");
    assert_eq!((summary.keys, summary.operations, summary.rejected), (500, 20_000, 2));
    assert_eq!(bad, named(&["3 rejected", "77 rejected"]));

    let filtered = Job { filter: Some("key < 50 AND start < 2000".into()), ..job.clone() };
    let (summary, bad) = check(&filtered, &at("some.parquet")).expect("verdicts");
    assert_eq!((summary.keys, summary.operations), (50, 2_000));
    assert_eq!(bad, named(&["3 rejected"]));

    let wrong = Job { by: "object".into(), ..job };
    let error = check(&wrong, &at("none.parquet")).expect_err("no such column").to_string();
    assert!(error.contains("there is no column `object`"), "{error}");
}

#[test]
fn a_later_check_begins_where_the_earlier_one_was_cut() {
    let place = tempfile::tempdir().expect("a directory");
    let at = |name: &str| place.path().join(name);
    write(&at("first.parquet"), 100, 0..5, &[]);
    // The first read of the second day returns a value of the first, which only the carried states know.
    write(&at("second.parquet"), 100, 5..10, &[42]);
    let job = |name: &str| Job::new([at(name).display().to_string()], "key");
    let first = Job { cut: Some(500), ..job("first.parquet") };
    let (summary, bad) = check(&first, &at("day.parquet")).expect("verdicts");
    assert_eq!((summary.keys, bad.len()), (100, 0));
    let after = vec![at("day.parquet").display().to_string()];
    let (summary, bad) =
        check(&Job { after: after.clone(), ..job("second.parquet") }, &at("next.parquet")).expect("verdicts");
    assert_eq!((summary.keys, summary.operations), (100, 1_000));
    assert_eq!(bad, named(&["42 rejected"]));
    // Without a write on the second day, a read is right or wrong by the states alone.
    let reads = Job { filter: Some("action = 'read' AND start < 600".into()), after, ..job("second.parquet") };
    let (summary, _) = check(&reads, &at("reads.parquet")).expect("verdicts");
    assert_eq!(summary.rejected, 100);
}

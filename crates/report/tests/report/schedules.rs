//! The steps of five kept runs, as `omnilink replay --steps` prints them: `tests/golden/schedules` has the runs.

use std::fs;
use std::path::Path;

use omnilink_report::Report;

/// Compares the text of the only run of this kind.
fn check(kind: &str) {
    let store = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/schedules/runs").join(kind);
    let runs: Vec<_> = fs::read_dir(&store).unwrap().map(|run| run.unwrap().path()).collect();
    let [run] = &*runs else { panic!("{} has {} runs", store.display(), runs.len()) };
    let report = Report::from_json(&fs::read_to_string(run.join("report.json")).unwrap()).unwrap();
    insta::assert_snapshot!(format!("schedule__{kind}"), report.interleaving.unwrap().text());
}

#[test]
fn a_stack_in_rust_loses_an_element() {
    check("rust");
}

#[test]
fn a_counter_in_cpp_loses_an_update() {
    check("cpp");
}

#[test]
fn threads_are_stuck() {
    check("stuck");
}

#[test]
fn a_load_reads_an_old_store() {
    check("weak");
}

#[test]
fn accesses_race() {
    check("race");
}

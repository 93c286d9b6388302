//! Scripts: a run writes its calls, and a script makes the same calls again.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::fs;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use common::{print, read, segments};
use omnilink_history::Value;
use omnilink_record::drive::{self, BadLine, Client, Draw, Line, Perturbation, Plan, Scripted};
use omnilink_record::Action;

static ADD: Action = Action::new("Add", &["by"], &["sum"]);
static NAME: Action = Action::new("Name", &["name"], &[]);

/// As a generated harness has it.
#[derive(Clone, Copy, Debug)]
enum Input {
    Add { by: i64 },
    Name { name: &'static str },
}

impl Scripted for Input {
    fn read(line: &mut Line) -> Result<Input, BadLine> {
        Ok(match line.call() {
            "Add" => Input::Add { by: line.take("by")? },
            "Name" => Input::Name { name: line.take("name")? },
            _ => return Err(line.unknown(&["Add", "Name"])),
        })
    }

    fn write(self, line: &mut Line) {
        match self {
            Input::Add { by } => {
                line.set_call("Add");
                line.add("by", by);
            }
            Input::Name { name } => {
                line.set_call("Name");
                line.add("name", name);
            }
        }
    }
}

/// A sum, and the number at which adding panics.
struct Sum(Mutex<i64>, i64);

fn draw(_: &Sum, _: &(), random: &mut Draw) -> Option<Input> {
    match random.below(4) {
        0 => None, // No call is allowed.
        1 => {
            let name = *random.one_of(&["a b", "\"=\n"]);
            Some(Input::Name { name })
        }
        _ => Some(Input::Add { by: random.range(-5, 5) }),
    }
}

fn make(sum: &Sum, _: &mut (), client: &mut Client, input: Input) {
    match input {
        Input::Add { by } => {
            let call = client.call(&ADD, (by,));
            assert_ne!(by, sum.1);
            let mut sum = sum.0.lock().unwrap();
            *sum += by;
            call.done((*sum,));
        }
        Input::Name { name } => client.call(&NAME, (name,)).done(()),
    }
}

fn run(trace: &Path, script: Option<PathBuf>, panics_at: i64) -> std::io::Result<()> {
    let perturbation = Perturbation::default();
    let plan = Plan { trace: trace.into(), seed: 7, threads: 3, operations: 20, perturbation, only: None, script };
    drive::run_calls(&plan, &Sum(Mutex::default(), panics_at), |_, _| (), draw, make)
}

/// The recorded calls of each process as lines of a script.
fn recorded(trace: &Path) -> String {
    let mut text = "omnilink-script 1\n".to_owned();
    let trace = read(trace).unwrap();
    for (place, process) in trace.processes.iter().enumerate() {
        for record in trace.records.iter().filter(|record| record.process.0 as usize == place) {
            let (name, value) = (&record.call.schema().args[0], &record.call.args()[0]);
            let value = match value {
                Value::Str(text) => format!("{:?}", &**text).replace("\\n", "\\u000a"),
                number => number.to_string(),
            };
            text.push_str(&format!("T{process} {} {name}={value}\n", record.call.action()));
        }
    }
    text
}

#[test]
fn a_run_writes_the_script_that_makes_its_calls_again() {
    let directory = tempfile::tempdir().unwrap();
    let (drawn, again) = (directory.path().join("drawn"), directory.path().join("again"));
    run(&drawn, None, 99).unwrap();
    let script = fs::read_to_string(drawn.join("script")).unwrap();
    assert_eq!(script, recorded(&drawn));
    assert!((30..60).contains(&script.lines().count()), "{script}");
    run(&again, Some(drawn.join("script")), 99).unwrap();
    assert_eq!(fs::read_to_string(again.join("script")).unwrap(), script);
    assert_eq!(recorded(&again), script);
    // A trace is not overwritten, and neither is its script.
    assert_eq!(run(&drawn, None, 99).unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(drawn.join("script")).unwrap(), script);
}

#[test]
fn a_person_writes_a_script() {
    let directory = tempfile::tempdir().unwrap();
    let (script, trace) = (directory.path().join("edited"), directory.path().join("trace"));
    fs::write(&script, "omnilink-script 1\nT4 Add by=2\n# thread 4 alone\nT4 Add by=3\n").unwrap();
    run(&trace, Some(script.clone()), 99).unwrap();
    let shown = print(&read(&trace).unwrap());
    let calls: Vec<&str> = shown.lines().map(|line| line.split_once("] ").unwrap().1).collect();
    assert_eq!(calls, ["Add(by: 2) = sum: 2", "Add(by: 3) = sum: 5"]);
    assert!(shown.starts_with("T4 ["), "{shown}");
    let manifest = fs::read_to_string(trace.join("manifest.json")).unwrap();
    assert!(manifest.contains("\"script\": ") && !manifest.contains("seed"), "{manifest}");
}

#[test]
fn a_bad_script_is_an_error_and_no_trace() {
    let directory = tempfile::tempdir().unwrap();
    let (script, trace) = (directory.path().join("bad"), directory.path().join("trace"));
    let check = |text: &str| {
        fs::write(&script, text).unwrap();
        let error = run(&trace, Some(script.clone()), 99).unwrap_err().to_string();
        assert!(!trace.exists());
        error.replace(&script.display().to_string(), "bad")
    };
    insta::assert_snapshot!(check("omnilink-script 1\nT0 Add by=2\nT0 Sub by=2\n"), @"bad: line 3: unrecognized call `Sub` (expected `Add`, `Name`)");
    insta::assert_snapshot!(check("omnilink-script 1\nT0 Add by=\"2\"\n"), @r#"bad: line 2: expected an integer as `by`, found `"2"`"#);
    let missing = run(&trace, Some(directory.path().join("missing")), 99).unwrap_err();
    assert_eq!(missing.kind(), std::io::ErrorKind::NotFound);
    // A harness that makes its calls by itself does not ignore the script.
    let plan = Plan {
        trace: trace.clone(),
        seed: 0,
        threads: 1,
        operations: 1,
        perturbation: Perturbation::default(),
        only: None,
        script: Some(script.clone()),
    };
    let refused = drive::run(&plan, &(), |_, _| (), |_, _, _| ()).unwrap_err().to_string();
    insta::assert_snapshot!(refused.replace(&script.display().to_string(), "bad"), @"`bad`: this harness draws its calls by itself, and follows no script");
}

#[test]
fn a_run_that_panics_keeps_its_script() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace");
    catch_unwind(AssertUnwindSafe(|| run(&trace, None, 3))).unwrap_err();
    let script = fs::read_to_string(trace.join("script")).unwrap();
    assert_eq!(script, recorded(&trace));
    assert!(script.contains("Add by=3\n"));
    assert_eq!(segments(&trace).len(), 3);
}

//! `omnilink report` and the exports that show what a check found.

mod tool;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::Value;
use tool::run;

/// A directory with the queue's specification and a history in which an element is taken before its turn.
fn queue(name: &str) -> PathBuf {
    let directory = tool::directory(name);
    for (file, text) in tool::QUEUE {
        fs::write(directory.join(file), text).expect("a file for a test");
    }
    directory
}

fn shown(directory: &Path, args: &[&str]) -> String {
    run(directory, args).shown()
}

/// A part of a page, unpacked.
fn part(page: &Path, name: &str) -> Value {
    let page = fs::read_to_string(page).expect("a page");
    let start = format!("id=\"part-{name}\">");
    let base64 = page.split_once(&start).expect("the part").1.split_once('<').expect("its end").0;
    let mut bytes = Vec::new();
    let packed = STANDARD.decode(base64).expect("parts are base64");
    GzDecoder::new(&*packed).read_to_end(&mut bytes).expect("parts are gzip");
    serde_json::from_slice(&bytes).expect("the part is JSON")
}

#[test]
fn a_page_is_one_file() {
    let directory = queue("page");
    let printed = shown(&directory, &["report", "Queue.tla", "trace.jsonl"]);
    let size = fs::metadata(directory.join("trace.html")).expect("a page").len();
    let printed = printed.replace(&format!("{:.1} kB", size as f64 / 1000.0), "SIZE");
    insta::assert_snapshot!(printed, @"
    trace.jsonl: rejected: a took 2 out of `queue` while 1 was still in front of it
    trace.html: SIZE
    exit 1
    ");
    let page = directory.join("trace.html");
    let head = part(&page, "head");
    assert_eq!((head["kind"].as_str(), head["report"]["verdict"]["kind"].as_str()), (Some("run"), Some("rejected")));
    assert_eq!(head["timeline"]["operations"], 4);
    assert_eq!((&head["run"], &head["served"]), (&Value::Null, &Value::Null));
    let states = part(&page, "states");
    assert_eq!(states["variables"], serde_json::json!(["queue"]));
    let text = fs::read_to_string(&page).expect("a page");
    assert!(text.contains("<noscript><pre>trace.jsonl: rejected"), "the text is there without scripts");
    // It is ours, so it may be replaced.
    assert_eq!(run(&directory, &["report", "Queue.tla", "trace.jsonl"]).code, 1);
}

#[test]
fn states_and_expressions_are_chosen() {
    let directory = queue("chosen");
    let args = ["report", "Queue.tla", "trace.jsonl", "-o", "out.html", "--states", "1", "--watch", "Len(queue)"];
    assert_eq!(run(&directory, &args).code, 1);
    let states = part(&directory.join("out.html"), "states");
    assert_eq!(states["variables"], serde_json::json!(["queue", "Len(queue)"]));
    assert_eq!((states["watched"].as_u64(), states["ids"].as_array().map(Vec::len)), (Some(1), Some(1)));
    insta::assert_snapshot!(shown(&directory, &["report", "Queue.tla", "trace.jsonl", "--watch", "Length(queue)"]), @"
    trace.jsonl:
    error: `Length` is not defined
     --> expression:1:1
      |
    1 | Length(queue)
      | ^^^^^^
      |
    help: did you mean `Len`?
    exit 2
    ");
    insta::assert_snapshot!(shown(&directory, &["report", "Queue.tla", "trace.jsonl", "--assume", "a:0"]), @r"
    error: invalid value 'a:0' for '--assume <WHAT>': expected `T0:12 < T3:7`, or `T3:7 = 1a2b3c4d5e6f` for the state after it

    For more information, try '--help'.
    exit 2
    ");
}

#[test]
fn nothing_is_destroyed() {
    let directory = queue("destroyed");
    let report = |output: &str| shown(&directory, &["report", "Queue.tla", "trace.jsonl", "-o", output]);
    insta::assert_snapshot!(report("Queue.cfg"), @"
    error: Queue.cfg: already exists and is not a report
    help: name another file, or remove this one
    exit 2
    ");
    insta::assert_snapshot!(report("no/where.html"), @"
    error: no/where.html: no directory `no`
    help: create it first: `mkdir -p no`
    exit 2
    ");
    insta::assert_snapshot!(report("."), @"
    error: .: is a directory
    help: name a file in it
    exit 2
    ");
}

#[test]
fn what_is_meant_has_to_be_clear() {
    let directory = queue("clear");
    insta::assert_snapshot!(shown(&directory, &["report", "Queue.tla"]), @"
    error: what to look at: no history given after the specification
    help: `omnilink report latest`, `omnilink report Queue.tla run.jsonl` or `omnilink report --spec queue run.jsonl`
    exit 2
    ");
    insta::assert_snapshot!(shown(&directory, &["report", "latest"]), @"
    error: runs: no runs in `target/omnilink`
    exit 2
    ");
    insta::assert_snapshot!(shown(&directory, &["report", "trace.jsonl", "Queue.tla"]), @"
    error: what to look at: no specification given: pass a `.tla` file first, or `--spec NAME`
    help: `omnilink report latest`, `omnilink report Queue.tla run.jsonl` or `omnilink report --spec queue run.jsonl`
    exit 2
    ");
    insta::assert_snapshot!(shown(&directory, &["report", "trace.jsonl"]), @"
    error: what to look at: `trace.jsonl` is not a run, and a history needs a specification
    help: `omnilink report latest`, `omnilink report Queue.tla run.jsonl` or `omnilink report --spec queue run.jsonl`
    exit 2
    ");
    insta::assert_snapshot!(shown(&directory, &["report", "."]), @"
    nothing to show: no runs in .
    exit 4
    ");
    insta::assert_snapshot!(shown(&directory, &["view", "."]), @"
    error: what to look at: expected one run, found a directory of runs
    help: `omnilink report .` writes a page about all of them
    exit 2
    ");
}

#[test]
fn a_report_alone_has_a_page() {
    let directory = queue("alone");
    let args = ["check", "Queue.tla", "trace.jsonl", "--report", "json=out.json", "--report", "html=out.html"];
    assert_eq!(run(&directory, &args).code, 1);
    assert_eq!(part(&directory.join("out.html"), "head")["timeline"]["operations"], 4);
    assert_eq!(run(&directory, &["report", "out.json"]).code, 1);
    let head = part(&directory.join("report.html"), "head");
    assert_eq!((head["report"]["verdict"]["kind"].as_str(), &head["timeline"]), (Some("rejected"), &Value::Null));
    insta::assert_snapshot!(shown(&directory, &["convert", "--to", "dot", "out.json"]), @"
    error: what to export: an export needs the whole history, found a report only
    help: name a run, or a specification and a history
    exit 2
    ");
}

#[test]
fn several_histories_have_a_list_and_pages_for_those_not_accepted() {
    let directory = queue("several");
    fs::create_dir(directory.join("b")).expect("a directory");
    fs::copy(directory.join("trace.jsonl"), directory.join("b/trace.jsonl")).expect("a copy");
    let good = "{\"process\": 0, \"start\": 1, \"end\": 2, \"action\": \"Enqueue\", \"args\": {\"elem\": 1}}\n";
    fs::write(directory.join("good.jsonl"), good).expect("a file");
    let args = ["check", "Queue.tla", "trace.jsonl", "good.jsonl", "b/trace.jsonl", "--report", "html=out.html"];
    let checked = run(&directory, &args);
    assert_eq!(checked.code, 1, "{}{}", checked.stdout, checked.stderr);
    for (page, name) in [("out-trace.jsonl.html", "trace.jsonl"), ("out-trace.jsonl-2.html", "b/trace.jsonl")] {
        assert_eq!(part(&directory.join(page), "head")["report"]["history"]["name"], name);
    }
    let pages = fs::read_dir(&directory)
        .expect("a directory")
        .filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("out")));
    assert_eq!(pages.count(), 3);
    let list = fs::read_to_string(directory.join("out.html")).expect("a list");
    assert!(list.contains("3 histories: 1 accepted, 2 rejected"), "{list}");
    assert!(list.contains("<td>good.jsonl</td><td>accepted</td>"), "{list}");
    assert!(list.contains("<a href=\"./out-trace.jsonl-2.html\">b/trace.jsonl</a>"), "{list}");
}

#[test]
fn a_directory_of_runs_has_an_index() {
    let directory = tool::directory("index");
    let harness = "echo \"T0 [1 4] write(7)\nT1 [5 6] read() = nil\" > \"$OMNILINK_TRACE\"";
    let settings = "spec = \"register\"\n[harness]\nrun = [\"sh\", \"harness.sh\"]\n";
    fs::write(directory.join("omnilink.toml"), settings).expect("a file for a test");
    fs::write(directory.join("harness.sh"), harness).expect("a file for a test");
    assert_eq!(run(&directory, &["fuzz", "--runs", "1"]).code, 1);
    fs::create_dir(directory.join("target/omnilink/damaged")).expect("a directory for a test");
    let made = run(&directory, &["report", "target/omnilink", "-o", "out"]);
    assert_eq!(made.code, 1, "{}", made.stderr);
    assert!(
        made.stdout.starts_with("out/index.html: 1 run, ") && made.stderr.contains("unreadable: "),
        "{}",
        made.stdout
    );
    let head = part(&directory.join("out/index.html"), "head");
    assert_eq!((head["kind"].as_str(), head["damaged"].as_array().map(Vec::len)), (Some("index"), Some(1)));
    let (run_head, id) = (&head["runs"][0], head["runs"][0]["id"].as_str().expect("a name"));
    assert_eq!(
        (run_head["verdict"].as_str(), run_head["page"].as_str()),
        (Some("rejected"), Some(&*format!("{id}.html")))
    );
    assert!(run_head["sentence"].is_string());
    let page = part(&directory.join(format!("out/{id}.html")), "head");
    assert_eq!((page["run"]["id"].as_str(), page["timeline"]["operations"].as_u64()), (Some(id), Some(2)));
    // The run by its name, by its directory, and as a bundle.
    assert_eq!(run(&directory, &["runs", "pack", "-o", "run.omni"]).code, 0);
    for what in ["latest", &format!("target/omnilink/{id}"), "run.omni"] {
        assert_eq!(run(&directory, &["report", what, "-o", "one.html"]).code, 1, "{what}");
        assert_eq!(part(&directory.join("one.html"), "head")["run"]["id"], id);
    }
}

#[test]
fn states_are_values_again() {
    let directory = queue("itf");
    assert_eq!(run(&directory, &["convert", "--to", "itf", "Queue.tla", "trace.jsonl", "-o", "out.itf.json"]).code, 0);
    let text = fs::read_to_string(directory.join("out.itf.json")).expect("a file");
    let trace: Value = serde_json::from_str(&text).expect("JSON");
    let queues: Vec<String> =
        trace["states"].as_array().expect("states").iter().map(|state| state["queue"].to_string()).collect();
    insta::assert_snapshot!(queues.join("\n"), @r##"
    []
    [{"#bigint":"1"}]
    [{"#bigint":"1"},{"#bigint":"2"}]
    "##);
}

#[test]
fn exports_go_where_they_are_sent() {
    let directory = queue("exports");
    let perfetto = run(&directory, &["convert", "--to", "perfetto", "Queue.tla", "trace.jsonl"]);
    let trace: Value = serde_json::from_str(&perfetto.stdout).expect("JSON");
    assert_eq!((perfetto.code, trace["otherData"]["verdict"].as_str()), (0, Some("rejected")));
    insta::assert_snapshot!(shown(&directory, &["convert", "--to", "dot", "Queue.tla", "trace.jsonl"]), @r#"
    digraph interpretations {
      label="trace.jsonl: rejected";
      rankdir=TB;
      node [shape=box, fontname=monospace];
      edge [fontname=monospace];
      n0 [label="1d28aa88aeb5\nqueue = <<>>"];
      n1 [label="fdbdbd057123\nqueue = <<1>>"];
      n2 [label="c51205822d93\nqueue = <<1, 2>>"];
      n3 [label="`elem = Head(queue)` is FALSE: elem is 2, Head(queue) is 1", shape=plaintext, fontcolor=red];
      n0 -> n1 [label="a:0 Enqueue(elem: 1)"];
      n1 -> n2 [label="b:0 Enqueue(elem: 2)"];
      n2 -> n3 [label="a:1 Dequeue() = elem: 2", color=red, fontcolor=red, style=dotted];
    }
    exit 0
    "#);
}

//! Former names of commands do what the present ones do, and help texts name only the present ones.

mod tool;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A line of the log of a counter.
const LOG: &str = "{\"event\": \"Inc\", \"by\": 1}\n";

const COUNTER: &str = "---- MODULE Counter ----\nEXTENDS Naturals\nVARIABLE n\nInit == n = 0\n\
                       Inc(by) == n' = n + by\nNext == \\E by \\in {1, 2} : Inc(by)\n====\n";

/// A directory with a specification, histories, a log, and the order of a history.
fn directory(name: &str) -> PathBuf {
    let directory = tool::directory(name);
    let files = [("Counter.tla", COUNTER), ("log.ndjson", LOG), ("tla2tools.jar", "")];
    for (file, text) in tool::QUEUE.into_iter().chain(files) {
        fs::write(directory.join(file), text).expect("a file for a test");
    }
    let found = tool::run(&directory, &["check", "Queue.tla", "overlapping.jsonl", "--witness", "order.txt"]);
    assert_eq!(found.code, 0, "{}", found.shown());
    directory
}

/// The files of a directory and those below it.
fn files(directory: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>, root: &Path) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => files(&path, found, root),
            false => {
                let name = path.strip_prefix(root).expect("a path below it").to_owned();
                found.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
}

#[test]
fn former_names_do_what_the_present_ones_do() {
    let pairs = [
        ("explain Queue.tla trace.jsonl", "check --full Queue.tla trace.jsonl"),
        ("explain --spec queue missing.jsonl", "check --full --spec queue missing.jsonl"),
        ("specs", "spec list"),
        ("specs queue", "spec list queue"),
        ("specs quue", "spec list quue"),
        ("levels", "spec levels"),
        ("export perfetto Queue.tla trace.jsonl", "convert --to perfetto Queue.tla trace.jsonl"),
        ("export itf Queue.tla trace.jsonl -o itf.json", "convert --to itf Queue.tla trace.jsonl -o itf.json"),
        ("export dot --spec queue missing.jsonl", "convert --to dot --spec queue missing.jsonl"),
        ("export tlc Queue.tla trace.jsonl -o tlc", "convert --to tlc Queue.tla trace.jsonl -o tlc"),
        (
            "witness verify Queue.tla overlapping.jsonl order.txt",
            "check Queue.tla overlapping.jsonl --verify order.txt",
        ),
        ("witness verify Queue.tla trace.jsonl order.txt", "check Queue.tla trace.jsonl --verify order.txt"),
        ("witness verify overlapping.jsonl order.txt", "check overlapping.jsonl --verify order.txt"),
        // TLC cannot start, and has no verdict.
        ("confirm Queue.tla trace.jsonl --tlc no.jar", "check Queue.tla trace.jsonl --tlc no.jar"),
        ("log infer Counter.tla log.ndjson --header 0", "init --log log.ndjson --spec Counter.tla --header 0"),
        ("log infer Counter.tla missing.ndjson", "init --log missing.ndjson --spec Counter.tla"),
        ("gen cpp Queue.tla -o h --check", "init h --check --lang cpp --spec Queue.tla"),
        ("gen cpp Queue.tla -o h", "init h --update --lang cpp --spec Queue.tla"),
    ];
    for (former, present) in pairs {
        let [former, present] = [former, present].map(|line| {
            let directory = directory("former");
            let ran = tool::run(&directory, &line.split(' ').collect::<Vec<_>>());
            let mut written = BTreeMap::new();
            files(&directory, &mut written, &directory);
            (line, ran.code, tool::Ran { code: 0, ..ran }.shown(), written)
        });
        assert_eq!((former.1, &former.2), (present.1, &present.2), "{} and {}", former.0, present.0);
        assert!(former.3 == present.3, "{} and {} wrote different files", former.0, present.0);
    }
}

#[test]
fn the_first_page_lists_commands_under_headings() {
    let page = |args: &[&str]| {
        let ran = tool::run(Path::new("."), args);
        (ran.code, format!("{}{}", ran.stdout, ran.stderr))
    };
    let (code, alone) = page(&[]);
    assert_eq!(code, 2);
    let (code, short) = page(&["-h"]);
    assert_eq!(code, 0);
    let (_, long) = page(&["--help"]);
    let list = |text: &str| -> Vec<String> {
        let lines = text.lines().skip_while(|line| !line.starts_with("Check what was recorded:"));
        lines.take_while(|line| *line != "Options:" && !line.starts_with('`')).map(str::to_owned).collect()
    };
    assert_eq!(list(&alone), list(&short));
    assert_eq!(list(&short), list(&long));
    insta::assert_snapshot!(alone, @"
      omnilink init                     set up a harness for your system
      omnilink check --spec queue FILE  check a recorded history
      omnilink doctor                   report what works on this machine

    Check what was recorded:
      check    Check recorded histories against a specification
      report   Write a page about a history, a run or a directory of runs
      view     Serve a page on this machine, and check assumptions on demand
      monitor  Check operations while the system runs, and report violations

    Find failures:
      init     Set up a harness in an existing project or a new one
      fuzz     Run a harness under many schedules, and keep the runs that fail
      drive    Let a specification choose a program's calls, and check its answers
      lineup   Check an object without a specification, against its serial runs

    Look into a failing run:
      replay   Replay a kept run step by step, and compare
      shrink   Find a smaller run that fails for the same reason
      debug    Replay a run under gdb, stopped where an operation starts
      runs     List, show, compare, pack or remove kept runs

    Specifications and formats:
      spec     List specifications; check or evaluate a TLA+ module on its own
      convert  Convert a history to another format, or its check for another tool

    This machine:
      doctor   Report what works on this machine: clocks, `rr`, compilers, Java

    `omnilink help COMMAND` describes a command.
    ");
    assert!(long.ends_with("\nNot listed: build, completions, man, schema\n"), "{long}");
    assert!(alone.lines().all(|line| line.chars().count() <= 80), "{alone}");
}

/// The options for experts are in the long help only.
#[test]
fn short_help_leaves_out_what_experts_need() {
    let help = |flag| tool::run(Path::new("."), &["check", flag]).stdout;
    let (short, long) = (help("-h"), help("--help"));
    for option in ["--context", "--assume", "--exhaustive", "--no-shortcuts", "--max-width", "--order "] {
        assert!(long.contains(option) && !short.contains(option), "{option}");
    }
    let lines = long.lines().take_while(|line| !line.starts_with("Exit codes"));
    let headings: Vec<&str> = lines.filter(|line| line.ends_with(':') && !line.starts_with(' ')).collect();
    let expected = ["Specification:", "Input:", "Which orders count:", "Limits:", "Output:", "Second opinion:"];
    assert!(headings.windows(expected.len()).any(|some| some == expected), "{headings:?}");
    assert_eq!(headings.last(), Some(&"For experts:"));
}

#[test]
fn a_second_opinion_is_about_one_history() {
    let directory = directory("opinion");
    let shown = |args: &str| tool::run(&directory, &args.split(' ').collect::<Vec<_>>()).shown();
    insta::assert_snapshot!(shown("check --spec queue trace.jsonl --tlc tla2tools.jar"), @"
    error: --tlc: expected a TLA+ module as the specification
    help: `omnilink check Queue.tla run.jsonl --tlc tla2tools.jar`
    exit 2
    ");
    insta::assert_snapshot!(shown("check Queue.tla trace.jsonl overlapping.jsonl --tlc tla2tools.jar"), @"
    error: --tlc: expected one history
    help: `omnilink check Queue.tla run.jsonl --tlc tla2tools.jar`
    exit 2
    ");
    assert!(shown("check Queue.tla trace.jsonl --verify order.txt --quiet").contains("cannot be used with"));
}

#[test]
fn a_conversion_of_the_history_alone_takes_no_specification() {
    let directory = directory("conversion");
    let shown = |args: &str| tool::run(&directory, &args.split(' ').collect::<Vec<_>>()).shown();
    insta::assert_snapshot!(shown("convert trace.jsonl --to text --level causal"), @"
    error: convert: `--level` has no effect on `--to text`
    help: `--to tlc`, `perfetto`, `itf` or `dot` converts the history with its specification
    exit 2
    ");
    insta::assert_snapshot!(shown("convert trace.jsonl --states 3"), @"
    error: convert: `--states` has no effect on `--to jsonl`
    help: `--to perfetto`, `itf` or `dot` converts the result of a check
    exit 2
    ");
    for option in ["--store runs", "--context recorded"] {
        assert!(
            shown(&format!("convert Queue.tla trace.jsonl --to tlc -o out {option}"))
                .contains("has no effect on `--to tlc`")
        );
    }
    insta::assert_snapshot!(shown("convert --to tlc Queue.tla trace.jsonl"), @"
    error: --to tlc: a module and its files cannot go to standard output
    help: name a directory with `--output`
    exit 2
    ");
    insta::assert_snapshot!(shown("convert --to tlc trace.jsonl -o out"), @"
    error: --to tlc: expected a TLA+ module and one history
    help: `omnilink convert --to tlc Queue.tla run.jsonl -o DIR`
    exit 2
    ");
}

#[test]
fn the_generated_part_of_a_harness_is_found() {
    let directory = tool::example("former-update", "queue", &[]);
    let shown = |args: &str| tool::run(&directory, &args.split(' ').collect::<Vec<_>>()).shown();
    insta::assert_snapshot!(shown("init --check"), @"
    error: no generated file of a harness for `Queue.tla` found
     |
    help: `omnilink init` sets up a harness; `--update` with `--spec` and `--lang` writes its generated part alone
    exit 2
    ");
    insta::assert_snapshot!(shown("init --update --spec Queue.tla"), @"
    error: . has no generated file of a harness
     |
    help: name the language of a new one: `--lang rust` or `--lang cpp`
    exit 2
    ");
    let made = tool::run(&directory, &["init", "--spec", "Queue.tla", "--lang", "cpp"]);
    assert_eq!(made.code, 0, "{}", made.shown());
    insta::assert_snapshot!(shown("init --check"), @"
    operations.hpp: up to date with Queue.tla, 2 calls with 3 outcomes
    exit 0
    ");
    let spec = fs::read_to_string(directory.join("Queue.tla")).expect("a specification");
    fs::write(directory.join("Queue.tla"), spec.replace("DequeueEmpty", "Vacant")).expect("a changed specification");
    insta::assert_snapshot!(shown("init --check"), @"
    operations.hpp: drifted from Queue.tla
      added: call Vacant: Vacant()
      removed: call Dequeue: DequeueEmpty()
    help: `omnilink init --update --lang cpp --spec Queue.tla --settings omnilink.toml` writes it again
    exit 1
    ");
    insta::assert_snapshot!(shown("init --update"), @"
    wrote operations.hpp: 3 calls with 3 outcomes
    kept main.cpp
    exit 0
    ");
    assert!(shown("init --check").ends_with("exit 0"));
    let elsewhere = directory.parent().expect("a directory above").to_owned();
    let name = directory.file_name().expect("a name").to_string_lossy().into_owned();
    let ran = tool::run(&elsewhere, &["init", &name, "--check"]);
    assert!(ran.code == 0 && ran.stdout.starts_with(&format!("{name}/operations.hpp: up to date")), "{}", ran.shown());
    assert!(shown("init --check --update").contains("cannot be used with"));
    assert!(shown("init --settings omnilink.toml").contains("required arguments were not provided"));
}

//! `omnilink init`: what it writes, that this builds, and that what it records is accepted.
//!
//! One project in each language is built and run every time. The others, and the harnesses of the examples, take a minute
//! and are run with `--ignored`.

mod tool;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TEMPLATES: [&str; 5] = ["Queue", "Register", "Map", "Lock", "Transaction"];

/// What `rustfmt` does where there is no configuration; here it would find ours.
const DEFAULTS: &str = "max_width=100,use_small_heuristics=Default";

/// A new project of a template.
fn project(language: &str, module: &str) -> PathBuf {
    let directory = tool::directory(&format!("init-{language}-{module}"));
    let args = ["init", ".", "--lang", language, "--template", &module.to_lowercase()];
    let ran = tool::run(&directory, &args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    directory
}

/// Runs a command that must succeed in a directory. Projects share what they build, one at a time.
fn succeed(directory: &Path, command: &[&str]) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("harness-target");
    let mut process = Command::new(command[0]);
    process.args(&command[1..]).current_dir(directory).env("CARGO_TARGET_DIR", target);
    let output = process.output().expect("the command runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} in {}: {text}", directory.display());
}

/// Builds a project, and the path of its harness.
fn build(directory: &Path, language: &str) -> PathBuf {
    if language == "cpp" {
        let flags = ["c++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread", "-Iinclude"];
        succeed(directory, &[&flags[..], &["main.cpp", "-o", "harness"]].concat());
        return directory.join("harness");
    }
    succeed(directory, &["cargo", "build", "--offline", "--quiet"]);
    // The next project builds a harness of the same name.
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("harness-target/debug/harness");
    fs::copy(built, directory.join("harness")).expect("the harness was built");
    directory.join("harness")
}

/// Builds and runs a project, and checks what it recorded.
fn check(language: &str, module: &str) {
    let directory = project(language, module);
    let harness = build(&directory, language);
    for seed in ["1", "2"] {
        let trace = format!("trace-{seed}");
        let mut process = Command::new(&harness);
        process.env("OMNILINK_TRACE", &trace).env("OMNILINK_SEED", seed).env("OMNILINK_THREADS", "3");
        assert!(process.current_dir(&directory).status().expect("the harness runs").success());
        let ran = tool::run(&directory, &["check", &format!("{module}.tla"), &trace, "--timeout", "60s"]);
        assert!(ran.stdout.contains(": accepted: 300 operations, 3 processes"), "{}", ran.shown());
    }
    // The script of a run makes its calls again, and one that the harness cannot read is no run.
    let script = |trace: &str| fs::read_to_string(directory.join(trace).join("script")).unwrap_or_default();
    let follow = |script: &str, trace: &str| {
        let mut process = Command::new(&harness);
        process.env("OMNILINK_SCRIPT", script).env("OMNILINK_TRACE", trace).current_dir(&directory);
        process.output().expect("the harness runs")
    };
    assert!(follow("trace-1/script", "again").status.success());
    assert_eq!((script("again"), script("again").lines().count()), (script("trace-1"), 301));
    fs::write(directory.join("bad"), script("again") + "T0 Nonsense\n").expect("a file for a test");
    let refused = follow("bad", "none");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("bad: line 302: unrecognized call `Nonsense`"), "{said}");
    assert!(!directory.join("none").exists());
    let ran = tool::run(&directory, &["init", "--check"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
}

#[test]
fn a_new_project_in_cpp_is_accepted() {
    check("cpp", "Queue");
}

#[test]
fn a_new_project_in_rust_is_accepted() {
    check("rust", "Queue");
}

#[test]
#[ignore = "builds eight projects, one after the other"]
fn every_template_is_accepted_in_both_languages() {
    for module in &TEMPLATES[1..] {
        check("cpp", module);
        check("rust", module);
    }
}

#[test]
#[ignore = "builds the harnesses of six specifications twice"]
fn what_is_generated_is_clean() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let specs = ["examples/queue/Queue", "examples/map/Map", "examples/producer-queue/ProducerQueue"];
    let more = ["examples/two-phase/TwoPhase", "examples/snapshot/Snapshot", "crates/harness/test_data/Hostile"];
    for spec in specs.iter().chain(&more) {
        let spec = root.join(format!("{spec}.tla")).display().to_string();
        for language in ["rust", "cpp"] {
            let directory = project(language, "Queue");
            let main = if language == "rust" { "src/main.rs" } else { "main.cpp" };
            fs::remove_file(directory.join(main)).expect("a template has a main file");
            let ran = tool::run(&directory, &["init", "--update", "--lang", language, "--spec", &spec]);
            assert_eq!(ran.code, 0, "{}", ran.shown());
            let harness = build(&directory, language);
            if language == "rust" {
                succeed(&directory, &["cargo", "clippy", "--offline", "--quiet", "--", "-D", "warnings"]);
                succeed(&directory, &["rustfmt", "--check", "--edition", "2021", "--config", DEFAULTS, "src/main.rs"]);
            }
            // Nothing is filled in, and the harness says so.
            let output = Command::new(harness).current_dir(&directory).output().expect("the harness runs");
            assert_eq!(output.status.code(), Some(2));
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(said.starts_with("error: fill in `") && said.lines().count() == 1, "{said}");
        }
    }
}

/// The specifications of the examples.
fn specs(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory of examples") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true if !path.ends_with("target") => specs(&path, found),
            _ if path.extension().is_some_and(|extension| extension == "tla") => found.push(path),
            _ => {}
        }
    }
}

#[test]
fn every_example_gets_a_harness() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut found = Vec::new();
    specs(&root, &mut found);
    found.sort();
    let mut refused = String::new();
    for spec in &found {
        for language in ["rust", "cpp"] {
            let directory = tool::directory("init-example");
            let ran = tool::run(&directory, &["init", "--lang", language, "--spec", &spec.display().to_string()]);
            let name = spec.strip_prefix(&root).expect("a path below the examples").display().to_string();
            match ran.code {
                // What is written is up to date, and is not run before it is filled in.
                0 => {
                    let ran = tool::run(&directory, &["fuzz", "--runs", "1"]);
                    assert!(ran.code == 2 && ran.stderr.contains("still say"), "{name}: {}", ran.shown());
                }
                _ => refused.push_str(&format!("{name}: {}\n", ran.stderr.lines().next().unwrap_or_default())),
            }
        }
    }
    assert!(found.len() > 20, "{found:?}");
    insta::assert_snapshot!(refused, @"
    log-lease/Lease.tla: error: the constant `Worker` has no value
    log-lease/Lease.tla: error: the constant `Worker` has no value
    wiredtiger/Serializable.tla: error: `sees` of `Transact` ranges over records or functions, which a harness cannot draw
    wiredtiger/Serializable.tla: error: `sees` of `Transact` ranges over records or functions, which a harness cannot draw
    ");
}

#[test]
fn formatting_leaves_generated_code_alone() {
    for example in ["queue/Queue", "map/Map", "producer-queue/ProducerQueue", "two-phase/TwoPhase"] {
        let directory = tool::directory("gen-format");
        let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{example}.tla"));
        tool::run(&directory, &["init", "--update", "--lang", "rust", "--spec", &spec.display().to_string()]);
        for edition in ["2021", "2024"] {
            succeed(
                &directory,
                &["rustfmt", "--check", "--edition", edition, "--config", DEFAULTS, "src/operations.rs"],
            );
        }
    }
}

#[test]
fn a_harness_is_written_once_and_checked() {
    let directory = tool::example("gen-queue", "queue", &[]);
    let mut shown = String::new();
    let mut run = |args: &str| {
        let args: Vec<&str> = args.split(' ').collect();
        shown.push_str(&format!("$ omnilink {}\n{}\n", args.join(" "), tool::run(&directory, &args).shown()));
    };
    run("init h --check --lang cpp --spec Queue.tla");
    run("init h --update --lang cpp --spec Queue.tla");
    run("init h --update --lang cpp --spec Queue.tla");
    run("init h --check --lang cpp --spec Queue.tla");
    let spec = fs::read_to_string(directory.join("Queue.tla")).expect("a specification");
    let peek = "Peek(elem) == queue # <<>> /\\ elem = Head(queue) /\\ UNCHANGED queue\n\nNext ==\n    \\/ \\E elem \\in Elems : Peek(elem)";
    let spec = spec.replace("Next ==", peek).replace("    \\/ DequeueEmpty\n", "");
    fs::write(directory.join("Queue.tla"), spec).expect("a changed specification");
    run("init h --check --lang cpp --spec Queue.tla");
    fs::write(directory.join("omnilink.toml"), "[harness.values]\n\"Dequeue.elem\" = \"fresh\"\n").expect("settings");
    run("init h --check --lang cpp --spec Queue.tla");
    insta::assert_snapshot!(shown, @"
    $ omnilink init h --check --lang cpp --spec Queue.tla
    error: h/operations.hpp: No such file or directory (os error 2)
     |
    help: `omnilink init h --update --lang cpp --spec Queue.tla` writes it
    exit 2
    $ omnilink init h --update --lang cpp --spec Queue.tla
    wrote h/operations.hpp: 2 calls with 3 outcomes
    wrote h/main.cpp: fill in the functions that say `todo`
    exit 0
    $ omnilink init h --update --lang cpp --spec Queue.tla
    wrote h/operations.hpp: 2 calls with 3 outcomes
    kept h/main.cpp
    exit 0
    $ omnilink init h --check --lang cpp --spec Queue.tla
    h/operations.hpp: up to date with Queue.tla, 2 calls with 3 outcomes
    exit 0
    $ omnilink init h --check --lang cpp --spec Queue.tla
    h/operations.hpp: drifted from Queue.tla
      added: call Peek: Peek() = elem: integer
      removed: call Dequeue: DequeueEmpty()
    help: `omnilink init h --update --lang cpp --spec Queue.tla` writes it again
    exit 1
    $ omnilink init h --check --lang cpp --spec Queue.tla
    error: `[harness.values]` names `Dequeue.elem`, which is not an argument of a call
     |
    help: the calls are `Peek`, `Enqueue`, `Dequeue`
    exit 2
    ");
}

#[test]
fn a_project_overwrites_nothing() {
    let directory = tool::directory("init-twice");
    fs::write(directory.join("Queue.tla"), "mine").expect("a file for a test");
    let ran = tool::run(&directory, &["init", "--lang", "cpp", "--template", "queue", "--ci", "gitlab"]);
    insta::assert_snapshot!(ran.shown(), @"
    error: . has files that would be overwritten: Queue.tla
     |
    help: name a directory that has none of them: `omnilink init DIR`
    exit 2
    ");
    assert_eq!(fs::read_dir(&directory).expect("a directory").count(), 1);
    fs::remove_file(directory.join("Queue.tla")).expect("a file for a test");
    let ran = tool::run(&directory, &["init", "--lang", "cpp", "--template", "queue", "--ci", "gitlab"]);
    insta::assert_snapshot!(ran.shown(), @"
    1. `omnilink fuzz` runs the small system in main.cpp and checks what it does.
    2. Put your own system into main.cpp: replace what is marked with a number.
    3. `omnilink init --update` writes the harness again when Queue.tla changes.
    exit 0
    ");
    insta::assert_snapshot!(read_ci_file(&directory, ".gitlab-ci.yml"), @r#"
    # Checks that the harness fits the specification, and that the specification allows every run.
    omnilink:
      image: gcc:14-bookworm
      timeout: 30m
      before_script:
        - apt-get update
        - apt-get install --yes --no-install-recommends cmake python3-venv
        - python3 -m venv /opt/omnilink
        # The version that wrote the harness.
        - /opt/omnilink/bin/pip install omnilink-cli==VERSION
        - export PATH="/opt/omnilink/bin:$PATH"
      script:
        - omnilink init --check
        - omnilink fuzz --profile ci --report junit=omnilink.xml
      artifacts:
        when: always
        paths:
          - target/omnilink
        reports:
          junit: omnilink.xml
    "#);
}

#[test]
fn a_workflow_uses_the_action_of_the_version_that_wrote_it() {
    let directory = tool::directory("init-github");
    let ran = tool::run(&directory, &["init", "--lang", "rust", "--template", "map", "--ci", "github"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    insta::assert_snapshot!(read_ci_file(&directory, ".github/workflows/omnilink.yml"), @"
    # Checks that the harness fits the specification, and that the specification allows every run.
    name: omnilink
    on: [push, pull_request]

    permissions:
      contents: read

    jobs:
      fuzz:
        runs-on: ubuntu-latest
        timeout-minutes: 30
        steps:
          - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
            with:
              persist-credentials: false
          # The version that wrote the harness.
          - uses: OWNER/omnilink@vVERSION
            with:
              args: init --check
          - uses: OWNER/omnilink@vVERSION
            with:
              args: fuzz --profile ci
    ");
}

#[test]
fn a_workflow_is_added_to_a_harness_that_is_there() {
    let directory = tool::directory("init-ci-later");
    let ran = tool::run(&directory, &["init", "--lang", "rust", "--template", "map"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let path = ".github/workflows/omnilink.yml";
    let ran = tool::run(&directory, &["init", "--ci", "github"]);
    insta::assert_snapshot!(ran.shown(), @"
    created .github/workflows/omnilink.yml: checks the harness that is there, and fuzzes the system
    exit 0
    ");
    assert!(read_ci_file(&directory, path).contains("args: init --check\n"));
    // It is not overwritten, and it is removed with the rest.
    let ran = tool::run(&directory, &["init", "--ci", "github"]);
    assert!(ran.shown().contains("files that would be overwritten: .github/workflows/omnilink.yml"), "{}", ran.shown());
    let ran = tool::run(&directory, &["init", "--undo"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert!(!directory.join(path).exists());
    // Without a file for CI to write, a second harness is refused as before.
    tool::run(&directory, &["init", "--lang", "rust", "--template", "map"]);
    let ran = tool::run(&directory, &["init"]);
    assert!(ran.shown().contains("it has a harness already"), "{}", ran.shown());
}

/// A file for CI, with words for our version and address, which change with a release.
fn read_ci_file(directory: &Path, name: &str) -> String {
    let text = fs::read_to_string(directory.join(name)).expect("a file for CI");
    // A workflow names our repository, which has no owner before the first release.
    let remark = "      # This build of omnilink belongs to no release yet: put the owner of its repository here.\n";
    assert_eq!(text.contains(remark), text.contains("uses: owner--unset/"), "{text}");
    let text = text.replace(remark, "");
    let repository = env!("CARGO_PKG_REPOSITORY").trim_start_matches("https://github.com/");
    let version = env!("CARGO_PKG_VERSION");
    text.replace(repository, "OWNER/omnilink")
        .replace(&format!("@v{version}"), "@vVERSION")
        .replace(&format!("=={version}"), "==VERSION")
}

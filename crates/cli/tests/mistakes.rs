//! The commonest mistakes in specifications and configurations, and what is said about them.
//!
//! Every file below `test_data/mistakes` has one mistake, or a few of a kind. A configuration stands beside a module that
//! needs one. What people read is kept as a snapshot for each directory.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Checks every module of a directory: what is printed about each, and the exit code.
fn check(directory: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data/mistakes").join(directory);
    let entries = fs::read_dir(&directory).expect("a directory of mistakes");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "tla"));
    files.sort();
    let mut all = String::new();
    for file in files {
        let name = file.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let _ = write!(all, "{}\n\n", run(&directory, &["spec", "check", "--workers", "1", &name]));
    }
    all
}

fn run(directory: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_omnilink")).current_dir(directory).args(args).output();
    let output = output.expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // Durations are not compared.
    let printed = text(&output.stdout);
    let printed = printed.lines().filter(|line| !line.contains(" generated, "));
    let printed: String = printed.map(|line| format!("{line}\n")).collect();
    let code = output.status.code().unwrap_or(-1);
    format!("$ omnilink {}\n{printed}{}exit {code}", args.join(" "), text(&output.stderr))
}

#[test]
fn syntax() {
    insta::assert_snapshot!(check("syntax"));
}

#[test]
fn names() {
    insta::assert_snapshot!(check("names"));
}

#[test]
fn configurations() {
    insta::assert_snapshot!(check("config"));
}

#[test]
fn evaluation() {
    insta::assert_snapshot!(check("evaluation"));
}

#[test]
fn expressions() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data/mistakes");
    let mut all = String::new();
    for expression in ["1 +", "", "(1", "1 2", "x", "a == 1", "1 = \"a\"", "Nat", "{1, \"a\"}", "\"abc", "x'", "]"] {
        let _ = write!(all, "{}\n\n", run(&directory, &["spec", "eval", "-e", expression]));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn files_that_do_not_exist() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data/mistakes/names");
    let mut all = String::new();
    for args in [
        &["spec", "check", "Absent.tla"][..],
        &["spec", "check", "WrongArity"],
        &["spec", "check", "WrongArity.tla", "--config", "Absent.cfg"],
        &["spec", "check", "."],
        &["spec", "eval", "UndefinedName.tla"],
    ] {
        let _ = write!(all, "{}\n\n", run(&directory, args));
    }
    insta::assert_snapshot!(all);
}

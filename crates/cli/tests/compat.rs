//! Files that earlier releases wrote are read by the present command, with the verdicts that they had.
//!
//! A directory below `tests/compat` has the files of one release, and `verdicts.tsv`: a verdict and the command that must
//! give it, on each line. Commands run in that directory and are compared by exit code, which is stable; see
//! `tests/compat/README.md`.

mod tool;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The directories of releases: their names begin with a digit.
fn releases() -> Vec<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/compat");
    let entries = fs::read_dir(all).expect("a directory of releases").map(|entry| entry.expect("an entry").path());
    let is_release = |path: &PathBuf| {
        let name = path.file_name().expect("an entry has a name").to_string_lossy();
        path.is_dir() && name.starts_with(|first: char| first.is_ascii_digit())
    };
    entries.filter(is_release).collect()
}

/// The lines of `verdicts.tsv`: a verdict and the arguments of the command.
fn cases(release: &Path) -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(release.join("verdicts.tsv")).expect("a table of verdicts");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let case = |line: &str| {
        let (verdict, command) = line.split_once('\t').expect("a verdict, a tab and a command");
        (verdict.to_owned(), command.split(' ').map(str::to_owned).collect())
    };
    lines.map(case).collect()
}

#[test]
fn earlier_releases_are_read_with_the_same_verdicts() {
    let releases = releases();
    assert!(releases.iter().any(|release| release.ends_with("0.1.0")));
    let mut wrong = Vec::new();
    for release in &releases {
        let cases = cases(release);
        assert!(cases.len() > 10, "{}", release.display());
        for (verdict, command) in cases {
            let args: Vec<&str> = command.iter().map(String::as_str).collect();
            let ran = tool::run(release, &args);
            let now = match ran.code {
                0 => "accepted",
                1 => "rejected",
                3 => "inconclusive",
                _ => "unreadable",
            };
            if now != verdict {
                wrong.push(format!("{}: {}: {verdict}, now {now}\n{}", release.display(), args.join(" "), ran.stderr));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A file that no command reads would be kept in vain.
#[test]
fn every_file_of_a_release_is_read() {
    for release in releases() {
        let read: BTreeSet<String> = cases(&release).into_iter().flat_map(|(_, command)| command).collect();
        for entry in fs::read_dir(&release).expect("a directory of a release") {
            let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
            assert!(read.contains(&name) || name == "verdicts.tsv", "{}/{name}", release.display());
        }
    }
}

/// A copy of the newest release in which text is replaced in one file.
fn changed(name: &str, file: &str, from: &[u8], to: &[u8]) -> PathBuf {
    let directory = tool::directory(name);
    copy(&releases().into_iter().max().expect("a release"), &directory);
    let path = directory.join(file);
    let bytes = fs::read(&path).expect("a file of a release");
    let place = bytes.windows(from.len()).position(|window| window == from).expect("the text to replace");
    fs::write(path, [&bytes[..place], to, &bytes[place + from.len()..]].concat()).expect("a changed file");
    directory
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory of a release") {
        let path = entry.expect("an entry").path();
        let to = to.join(path.file_name().expect("an entry has a name"));
        if path.is_dir() { copy(&path, &to) } else { fs::copy(&path, &to).map(|_| ()).expect("a copy") }
    }
}

#[test]
fn a_newer_version_is_an_error_that_names_it() {
    let check = |directory: &Path, args: &str| {
        let args: Vec<&str> = args.split(' ').collect();
        tool::run(directory, &args).shown()
    };
    let segment = changed("compat-segment", "queue/0000.seg", b"\x89OMNISEG\x01", b"\x89OMNISEG\x02");
    insta::assert_snapshot!(check(&segment, "check Queue.tla queue"), @"
    error: queue: 0000.seg, byte 8: unsupported format version 2 (expected 1)
    exit 2
    ");
    let manifest = changed("compat-manifest", "queue/manifest.json", b"\"version\": 1", b"\"version\": 2, \"unit\": 1");
    insta::assert_snapshot!(check(&manifest, "check Queue.tla queue"), @"
    error: queue: manifest.json, byte 0: unsupported format version 2 (expected 1)
    exit 2
    ");
    let report = changed("compat-report", "queue.json", b"omnilink.report/2", b"omnilink.report/3");
    insta::assert_snapshot!(check(&report, "check --full queue.json"), @"
    error: queue.json: unsupported report version `omnilink.report/3` (expected `omnilink.report/2`); check the history again
    exit 2
    ");
    let report = changed("compat-report-before", "queue.json", b"omnilink.report/2", b"omnilink.report/1");
    insta::assert_snapshot!(check(&report, "check --full queue.json"), @"
    error: queue.json: unsupported report version `omnilink.report/1` (expected `omnilink.report/2`); check the history again
    exit 2
    ");
    let reports = changed("compat-reports", "reports.json", b"omnilink.reports/1", b"omnilink.reports/2");
    insta::assert_snapshot!(check(&reports, "check --full reports.json"), @"
    error: reports.json: unsupported report version `omnilink.reports/2` (expected `omnilink.reports/1`); check the history again
    exit 2
    ");
    let run = changed("compat-run", "runs/ef38ae/run.json", b"omnilink.run/1\",", b"omnilink.run/2\", \"host\": 1,");
    insta::assert_snapshot!(check(&run, "runs show ef38ae --store runs"), @"
    error: runs: runs/ef38ae/run.json: unsupported version `omnilink.run/2` (expected `omnilink.run/1`)
    exit 2
    ");
    insta::assert_snapshot!(check(&run, "runs list --store runs"), @"
    b6d1be  2026-11-16T14:59:09Z  accepted      seed 1, 2 threads, 4 operations each
    unreadable: runs/ef38ae/run.json: unsupported version `omnilink.run/2` (expected `omnilink.run/1`)
    exit 0
    ");
}

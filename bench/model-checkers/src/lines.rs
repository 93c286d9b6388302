//! Counts the lines that a user writes for a checker: those of the object that differ, and those of the test.
//!
//! The example in its plain form, without the lines for OmniLink, is the object before any checker. Blank lines,
//! comments, dependencies, settings and the call that starts the checker on the test are not counted.

use std::collections::BTreeSet;
use std::fs;

use crate::measure::Case;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/lineup-rust/src");
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

/// The lines of a port, and of its test.
pub fn port(port: &str, case: Case) -> String {
    let example = read(&format!("{EXAMPLE}/{}.rs", case.object()));
    let plain: Vec<&str> = example.lines().filter(|line| !is_ours(line)).filter(|line| is_code(line)).collect();
    let ported = read(&format!("{SOURCE}/{port}/{}.rs", case.object()));
    let ported: Vec<&str> = ported.lines().filter(|line| is_code(line)).collect();
    let tests = read(&format!("{SOURCE}/{port}/tests.rs"));
    let start = format!("pub fn {}(", case.function());
    let test = tests.lines().skip_while(|line| !line.starts_with(&start)).take_while(|line| *line != "}").count() + 1;
    format!("{} + {test}", ported.len() - common(&plain, &ported))
}

/// The lines for OmniLink: attributes, their import, and the one that names the object. The command has the test.
pub fn omnilink(object: &str) -> String {
    let example = read(&format!("{EXAMPLE}/{object}.rs"));
    let main = read(&format!("{EXAMPLE}/main.rs"));
    // The two versions of the bag have the same attributes; one of them would do.
    let ours = example.lines().filter(|line| is_ours(line)).collect::<BTreeSet<&str>>().len();
    let named = main.lines().filter(|line| line.contains(&format!("Some(\"{object}\")"))).count();
    format!("{} + 0", ours + named)
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn is_ours(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("#[object") || line.starts_with("#[calls") || line.starts_with("use omnilink_record")
}

fn is_code(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with("//")
}

/// The length of the longest common subsequence.
fn common(left: &[&str], right: &[&str]) -> usize {
    let mut row = vec![0; right.len() + 1];
    for line in left {
        let mut diagonal = 0;
        for (index, other) in right.iter().enumerate() {
            let above = row[index + 1];
            row[index + 1] = if line == other { diagonal + 1 } else { above.max(row[index]) };
            diagonal = above;
        }
    }
    row[right.len()]
}

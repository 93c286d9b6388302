//! A rule about modules: those of a crate, and of some directories, do not depend on each other in circles.
//!
//! A module that uses no other module there is in no cycle, and neither is one that no other module uses. Both
//! are removed until nothing changes; the remaining modules are cycles, and modules between them.

use std::collections::{BTreeMap, BTreeSet};

use super::{File, Finding};

/// The directories of crates, and crates beside them.
const GROUPS: &[&str] = &["crates/", "fleet/", "sources/"];
const ALONE: &[&str] = &["xtask/", "fuzz/"];

/// Directories whose modules have an order, too, and what comes before the name of a module where another one uses it.
const DIRECTORIES: &[(&str, &str)] = &[
    ("crates/history/src/format/", "crate::format::"),
    ("crates/history/src/format/binary/", "super::"),
    ("crates/history/src/format/otlp/", "super::"),
];

/// Files that are not modules beside others, but roots of crates and directories.
const ROOTS: &[&str] = &["main", "bin", "lib", "mod"];

/// Uses that are ignored, by crate: a module, and the one that it uses. A resolved module of TLA+ carries the data needed
/// to resolve another expression in it, and an error the function that was applied outside its domain. A procedure
/// decides histories of the type that calls it. The table of steps is documented by a rule, and a step applies the rules.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("crates/tla/", "ir", "resolve"),
    ("crates/tla/", "error", "value"),
    ("crates/models/", "unambiguous", "queue"),
    ("crates/models/", "unambiguous", "stack"),
    ("crates/models/", "unambiguous", "set"),
    ("crates/models/", "unambiguous", "priority_queue"),
    ("crates/models/", "unambiguous", "container"),
    ("xtask/", "tidy", "ci"),
];

/// The runtime of controlled schedules replaces functions of the C library that its own modules call.
const NOT_ORDERED: &str = "crates/sched/";

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let crates: BTreeSet<&str> = files.iter().filter_map(|file| crate_of(&file.path)).collect();
    let ordered = crates.into_iter().filter(|krate| *krate != NOT_ORDERED);
    let of_crates = ordered.filter_map(|krate| check_modules(krate, &format!("{krate}src/"), "crate::", files));
    let directories = DIRECTORIES.iter();
    of_crates.chain(directories.filter_map(|(sources, prefix)| check_modules("", sources, prefix, files))).collect()
}

/// The directory of the crate of a source.
fn crate_of(path: &str) -> Option<&str> {
    let place = path.find("/src/")? + 1;
    let krate = &path[..place];
    let is_one = |group: &str| krate.strip_prefix(group).is_some_and(|name| name.matches('/').count() == 1);
    (ALONE.contains(&krate) || GROUPS.iter().any(|group| is_one(group))).then_some(krate)
}

fn check_modules(krate: &str, sources: &str, prefix: &str, files: &[File]) -> Option<Finding> {
    let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let sources_of = files.iter().filter(|file| file.path.starts_with(sources));
    let code: Vec<(&File, String)> = sources_of.map(|file| (file, code(&file.text))).collect();
    for (file, code) in &code {
        let module = file.path.strip_prefix(sources).and_then(|path| path.split(['/', '.']).next());
        if let Some(module) = module.filter(|module| !ROOTS.contains(module)) {
            let is_other = |used: &&str| *used != module && !EXCEPTIONS.contains(&(krate, module, *used));
            let used = mentioned(code, prefix).into_iter().filter(is_other);
            uses.entry(module).or_default().extend(used);
        }
    }
    loop {
        let before = uses.len();
        let known: BTreeSet<&str> = uses.keys().copied().collect();
        uses.retain(|_, used| !used.is_disjoint(&known));
        let used: BTreeSet<&str> = uses.values().flatten().copied().collect();
        uses.retain(|module, _| used.contains(module));
        if uses.is_empty() {
            return None;
        }
        if uses.len() == before {
            let names: Vec<&str> = uses.into_keys().collect();
            return Some(Finding::new(sources, 1, format!("modules use each other in a circle: {}", names.join(", "))));
        }
    }
}

/// The names that come directly after `prefix`.
fn mentioned<'a>(code: &'a str, prefix: &str) -> Vec<&'a str> {
    let after = code.split(prefix).skip(1);
    after
        .flat_map(|rest| match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or_default().split(',').map(first_word).collect(),
            None => vec![first_word(rest)],
        })
        .collect()
}

/// A source without tests and comments, which may mention any module.
pub(super) fn code(text: &str) -> String {
    let lines = text.split("\nmod tests {").next().unwrap_or_default().lines();
    lines.filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

fn first_word(text: &str) -> &str {
    text.trim_start().split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::listing;
    use super::*;

    fn check_files(files: &[(&str, &str)]) -> String {
        let file = |&(path, text): &(&str, &str)| File { path: format!("xtask/src/{path}"), text: text.to_owned() };
        let files: Vec<File> = files.iter().map(file).collect();
        listing(check(&files))
    }

    #[test]
    fn circles_are_found() {
        let order = [
            ("main.rs", "use crate::a;"),
            ("a/mod.rs", "use crate::{\n    b::C,\n    d,\n};"),
            ("a/e.rs", "use crate::a;"),
        ];
        let quiet =
            [("b.rs", "//! See crate::d.\n#[cfg(test)]\nmod tests {\nuse crate::d;"), ("d.rs", "use crate::b;")];
        assert_eq!(check_files(&[&order[..], &quiet].concat()), "");
        assert_eq!(check_files(&[&order[..], &[("b.rs", ""), ("d.rs", "use crate::b;")]].concat()), "");
        let circle = [("b.rs", "fn f() { crate::d::g() }"), ("d.rs", "use crate::a;"), ("f.rs", "use crate::d;")];
        insta::assert_snapshot!(check_files(&[&order[..], &circle].concat()), @"xtask/src/:1: modules use each other in a circle: a, b, d");
    }
}

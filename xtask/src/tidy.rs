//! Rules that compilers do not check: layers, manifests, licences, the layout of the repository, and its text.
//!
//! Each rule reads text or the metadata of Cargo, and returns all its findings. Files that git ignores are skipped, and
//! so are fixtures in `test_data`, which may break rules on purpose.

mod links;
mod modules;
mod names;
mod packages;
mod prose;
mod tables;
mod text;
mod unused;

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};
use ignore::WalkBuilder;

use crate::workspace::Workspace;

/// The files and directories allowed in the root of the repository.
const ROOT: &[&str] = &[
    ".cargo",
    ".ci",
    ".config",
    ".github",
    ".gitignore",
    ".pre-commit-hooks.yaml",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "FORMAT.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "RELEASING.md",
    "SECURITY.md",
    "TLA.md",
    "action.yml",
    "bench",
    "book",
    "clippy.toml",
    "crates",
    "deny.toml",
    "examples",
    "fleet",
    "fuzz",
    "recorders",
    "sources",
    "rustfmt.toml",
    "tests",
    "viewer",
    "xtask",
];

/// Endings of files that tools leave behind.
const LEFTOVERS: &[&str] = &[".orig", ".rej", ".bak", ".swp", "~"];

/// A broken rule, and where.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    message: String,
}

/// A file of the repository, with its path from the root.
struct File {
    path: String,
    text: String,
}

/// Checks the repository, prints every finding, and fails if there is one.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    run(workspace, false)
}

/// The same. Writes the tables that repeat code before, if that is wanted.
pub(crate) fn run(workspace: &Workspace, write: bool) -> Result<()> {
    let root = workspace.root();
    let mut files = read(root)?;
    if write {
        for changed in tables::check(workspace, &files)?.1 {
            fs::write(root.join(&changed.path), &changed.text)?;
            files.retain(|file| file.path != changed.path);
            files.push(changed);
        }
    }
    let mut findings = packages::check(workspace, &files)?;
    findings.extend(tables::check(workspace, &files)?.0);
    findings.extend(tables::check_workflow(&files));
    findings.extend(names::check(&files));
    findings.extend(unused::check(workspace, &files)?);
    findings.extend(files.iter().filter_map(|file| check_place(&file.path)));
    findings.extend(modules::check(&files));
    findings.extend(files.iter().flat_map(text::check));
    findings.extend(files.iter().flat_map(prose::check));
    findings.extend(files.iter().flat_map(|file| links::check(file, |path| root.join(path).exists())));
    findings.sort();
    findings.dedup();
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("tidy found {} broken rules", findings.len());
    }
    println!("{} files are tidy", files.len());
    Ok(())
}

/// Writes the time that a part of the slow checks took into its table.
pub(crate) fn note_time(workspace: &Workspace, part: &str, took: Duration) -> Result<()> {
    let path = workspace.root().join("CONTRIBUTING.md");
    Ok(fs::write(&path, tables::with_time(&fs::read_to_string(&path)?, part, took)?)?)
}

/// Every file that is text and not a fixture.
fn read(root: &Path) -> Result<Vec<File>> {
    let mut files = Vec::new();
    let walk = WalkBuilder::new(root).hidden(false).filter_entry(|entry| entry.file_name() != ".git").build();
    for entry in walk {
        let entry = entry?;
        let path = entry.path().strip_prefix(root)?;
        let is_fixture = path.components().any(|part| part.as_os_str() == "test_data");
        if !entry.file_type().is_some_and(|kind| kind.is_file()) || is_fixture {
            continue;
        }
        if let Ok(text) = String::from_utf8(fs::read(entry.path())?) {
            files.push(File { path: path.to_string_lossy().replace('\\', "/"), text });
        }
    }
    Ok(files)
}

fn check_place(path: &str) -> Option<Finding> {
    let entry = path.split('/').next().unwrap_or(path);
    if LEFTOVERS.iter().any(|ending| path.ends_with(ending)) {
        return Some(Finding::new(path, 1, "a merge, a patch or an editor left this file behind"));
    }
    (!ROOT.contains(&entry)).then(|| Finding::new(entry, 1, "does not belong in the root of the repository"))
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

#[cfg(test)]
fn listing(findings: Vec<Finding>) -> String {
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_closed() {
        assert_eq!(check_place("crates/history/notes.md"), None);
        let left = check_place("crates/history/lib.rs.orig").expect("a finding");
        insta::assert_snapshot!(left, @"crates/history/lib.rs.orig:1: a merge, a patch or an editor left this file behind");
        let finding = check_place("notes/today.md").expect("a finding");
        insta::assert_snapshot!(finding, @"notes:1: does not belong in the root of the repository");
    }
}

//! Every dependency of our crates is used: its name occurs as the beginning of a path in the code that it is for.
//!
//! A dependency that only tests use belongs among the development dependencies, so for the others only code outside of tests
//! counts. Macros that other macros expand to are in no text; [`EXCEPTIONS`] lists such uses.

use anyhow::Result;
use cargo_metadata::{DependencyKind, Package};
use regex::Regex;

use super::modules::code;
use super::{File, Finding};
use crate::workspace::Workspace;

/// Dependencies that no path names: by package, name and reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[(
    "omnilink-explore",
    "omnilink_sched",
    "its build script has Cargo build it again, from where Cargo says that it is",
)];

pub(super) fn check(workspace: &Workspace, files: &[File]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in workspace.metadata.workspace_packages() {
        let manifest = package.manifest_path.strip_prefix(&workspace.metadata.workspace_root)?.as_str();
        let directory = manifest.trim_end_matches("Cargo.toml");
        let sources: Vec<&File> =
            files.iter().filter(|file| file.path.starts_with(directory) && file.path.ends_with(".rs")).collect();
        findings.extend(check_package(manifest, directory, package, &sources));
    }
    Ok(findings)
}

fn check_package(manifest: &str, directory: &str, package: &Package, sources: &[&File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    // A package that depends on itself turns on features for its tests.
    for dependency in package.dependencies.iter().filter(|dependency| dependency.name != *package.name) {
        let name = dependency.rename.as_ref().unwrap_or(&dependency.name).replace('-', "_");
        let is_excepted = EXCEPTIONS.iter().any(|(one, other, _)| *one == package.name.as_str() && *other == name);
        let is_for_tests = dependency.kind == DependencyKind::Development;
        let is_used = sources.iter().any(|file| {
            let path = &file.path[directory.len()..];
            match is_for_tests {
                true => names(&file.text, &name),
                false => {
                    (path.starts_with("src/") || path == "build.rs")
                        && !is_test(path)
                        && names(&code(&file.text), &name)
                }
            }
        });
        if !is_used && !is_excepted {
            let kind = if is_for_tests { "tests do not use" } else { "code outside of tests does not use" };
            findings.push(Finding::new(manifest, 1, format!("{kind} the dependency `{}`", dependency.name)));
        }
    }
    findings
}

/// Whether a file has only tests.
fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// Whether code has a path that begins with this name, or declares it.
fn names(code: &str, name: &str) -> bool {
    let path = format!(
        r"(?m)(^|[^\w.:]|[^\w]::)r?#?{name}(::|!)|use (::)?{name}( as|;)|[{{,]\s*{name}\s*[,}}]|extern crate {name}"
    );
    Regex::new(&path).expect("a name is a pattern").is_match(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_is_the_beginning_of_a_path() {
        for code in
            ["use serde::Serialize;", "#[derive(serde::Serialize)]", "use ::serde::de;", "serde!(1)", "use serde as s;"]
        {
            assert!(names(code, "serde"), "{code}");
        }
        for code in ["use crate::serde::de;", "let serde = 1;", "my_serde::f()", "a.serde::<T>()"] {
            assert!(!names(code, "serde"), "{code}");
        }
    }

    #[test]
    fn files_of_tests_are_known_by_their_names() {
        assert!(is_test("src/reach/tests.rs") && is_test("src/tests/a.rs") && !is_test("src/contests.rs"));
    }
}

//! The project that a harness is added to: how it is built, and what a harness can link.

use std::fs;
use std::path::Path;

use omnilink_judge::Complaint;
use toml::{Table, Value};

use crate::kind::Language;

/// The directory of a harness in an existing project.
pub(crate) const DIRECTORY: &str = "omnilink";

/// An existing project.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// A Cargo package or workspace.
    Cargo(Package),
    /// A CMake project.
    CMake {
        /// The libraries that it defines.
        libraries: Vec<String>,
    },
    /// A project of another build system, by the name of its file.
    Other(&'static str),
}

/// What a harness has to know about a Cargo package.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Package {
    /// The name of the package, if it has a library.
    pub(crate) library: Option<String>,
    /// True if the directory of the harness would be a member of the workspace.
    pub(crate) takes_members: bool,
    /// The packages of the workspace, relative to it.
    pub(crate) members: Vec<String>,
}

impl Host {
    /// Detects the project in a directory; `None` if there is none.
    pub(crate) fn detect(directory: &Path) -> Result<Option<Host>, Complaint> {
        let is_there = |name: &str| directory.join(name).is_file();
        if is_there("Cargo.toml") {
            return Package::read(directory).map(Host::Cargo).map(Some);
        }
        if is_there("CMakeLists.txt") {
            let mut libraries = Vec::new();
            find_libraries(directory, 0, &mut libraries);
            return Ok(Some(Host::CMake { libraries }));
        }
        let others = ["meson.build", "GNUmakefile", "makefile", "Makefile"];
        Ok(others.into_iter().find(|name| is_there(name)).map(Host::Other))
    }

    /// The language of its harness, unless the user names another.
    pub(crate) fn language(&self) -> Language {
        match self {
            Host::Cargo(_) => Language::Rust,
            Host::CMake { .. } | Host::Other(_) => Language::Cpp,
        }
    }
}

impl Package {
    fn read(directory: &Path) -> Result<Package, Complaint> {
        let path = directory.join("Cargo.toml");
        let wrong = |error: &dyn std::fmt::Display| Complaint::new(format!("{}: {error}", path.display()));
        let text = fs::read_to_string(&path).map_err(|error| wrong(&error))?;
        let manifest: Table = text.parse().map_err(|error: toml::de::Error| wrong(&error.message()))?;
        let name = manifest.get("package").and_then(|package| package.get("name")).and_then(Value::as_str);
        let has_library = manifest.contains_key("lib") || directory.join("src/lib.rs").is_file();
        let strings = |key: &str| -> Vec<String> {
            let list = manifest.get("workspace").and_then(|workspace| workspace.get(key)).and_then(Value::as_array);
            let list = list.map(|list| list.iter().filter_map(Value::as_str).map(str::to_owned).collect());
            list.unwrap_or_default()
        };
        let members = strings("members");
        let is_taken = members.iter().any(|member| takes(member));
        let is_excluded = strings("exclude").iter().any(|excluded| excluded.trim_start_matches("./") == DIRECTORY);
        Ok(Package {
            library: name.filter(|_| has_library).map(str::to_owned),
            takes_members: is_taken && !is_excluded,
            members,
        })
    }
}

/// Whether a pattern of workspace members matches the directory of the harness.
fn takes(member: &str) -> bool {
    let member = member.trim_start_matches("./").trim_end_matches('/');
    match member.split_once('*') {
        Some((before, after)) if !member.contains('/') => {
            DIRECTORY.starts_with(before) && DIRECTORY.ends_with(after.trim_start_matches('*'))
        }
        _ => member.starts_with("**"),
    }
}

/// Directories of a CMake project are read at most this deep.
const DEPTH: usize = 4;

/// Finds the libraries that a CMake project and its directories define, as far as their names are written out.
fn find_libraries(directory: &Path, depth: usize, libraries: &mut Vec<String>) {
    let Ok(text) = fs::read_to_string(directory.join("CMakeLists.txt")) else { return };
    let code: String = text.lines().map(|line| format!("{} ", line.split('#').next().unwrap_or_default())).collect();
    let project = commands(&code, "project").into_iter().find_map(|words| words.first().cloned());
    for words in commands(&code, "add_library") {
        let [name, rest @ ..] = &*words else { continue };
        let name = name.replace("${PROJECT_NAME}", project.as_deref().unwrap_or("${PROJECT_NAME}"));
        let is_own = !rest.iter().any(|word| word == "ALIAS" || word == "IMPORTED");
        if is_own && !name.contains('$') && !libraries.contains(&name) {
            libraries.push(name);
        }
    }
    for words in commands(&code, "add_subdirectory").iter().filter(|_| depth < DEPTH) {
        if let Some(inner) = words.first().filter(|inner| !inner.contains('$')) {
            find_libraries(&directory.join(inner), depth + 1, libraries);
        }
    }
}

/// The words between the parentheses of each call of a command.
fn commands(code: &str, name: &str) -> Vec<Vec<String>> {
    let words = |(place, _): (usize, &str)| {
        let is_whole = !code[..place].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let inside = code[place + name.len()..].trim_start().strip_prefix('(')?.split_once(')')?.0;
        is_whole.then(|| inside.split_whitespace().map(|word| word.trim_matches('"').to_owned()).collect())
    };
    let lower = code.to_ascii_lowercase();
    lower.match_indices(name).map(|(place, _)| (place, name)).filter_map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(files: &[(&str, &str)]) -> Option<Host> {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Host::detect(directory.path()).unwrap()
    }

    #[test]
    fn projects_are_detected() {
        let package = "[package]\nname = \"store\"\n";
        let cargo = |files: &[(&str, &str)]| match detect(files) {
            Some(Host::Cargo(package)) => package,
            other => panic!("{other:?}"),
        };
        assert_eq!(cargo(&[("Cargo.toml", package), ("src/lib.rs", "")]).library.as_deref(), Some("store"));
        assert_eq!(cargo(&[("Cargo.toml", package), ("src/main.rs", ""), ("Makefile", "")]).library, None);
        assert!(cargo(&[("Cargo.toml", "[workspace]\nmembers = [\"./*\"]")]).takes_members);
        assert!(!cargo(&[("Cargo.toml", "[workspace]\nmembers = [\"crates/*\", \"x*\"]")]).takes_members);
        assert!(!cargo(&[("Cargo.toml", "[workspace]\nmembers = [\"*\"]\nexclude = [\"omnilink\"]")]).takes_members);
        assert_eq!(detect(&[("meson.build", ""), ("Makefile", "")]), Some(Host::Other("meson.build")));
        assert_eq!(detect(&[("README.md", "")]), None);
    }

    #[test]
    fn libraries_of_cmake_are_found() {
        let root = "project(stack CXX)\n# add_library(no x.cpp)\nADD_LIBRARY(${PROJECT_NAME}\n  INTERFACE)\nadd_library(a::b ALIAS b)\n\
                    my_add_library(other)\nadd_subdirectory(src)\nadd_library(${UNKNOWN} x.cpp)";
        let files = [("CMakeLists.txt", root), ("src/CMakeLists.txt", "add_library(core STATIC core.cpp)")];
        let libraries = ["stack", "core"].map(str::to_owned).into();
        assert_eq!(detect(&files), Some(Host::CMake { libraries }));
    }
}

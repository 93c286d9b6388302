//! Rules about packages: their dependencies on each other, their manifests and documentation, and the licences we build
//! under.
//!
//! Arrows between our crates point down only, and [`LAYERS`] is the picture as a table. Development dependencies are
//! free: the tests of a lower layer may use a higher one, and `testkit` is for nothing else. Licences are checked
//! against the list in `deny.toml`, which `cargo deny` reads as well. A published crate has a README, and its documentation
//! has an example that rustdoc compiles.

use std::fs;

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, Package};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};
use spdx::{Expression, LicenseReq};
use toml::Table;

use super::{File, Finding};
use crate::workspace::Workspace;

/// Each crate by its directory, and the crates of ours that it may depend on.
const LAYERS: &[(&str, &[&str])] = &[
    ("suggest", &[]),
    ("history", &["suggest"]),
    ("settings", &["suggest"]),
    ("search", &["history"]),
    ("weak", &["history", "search", "suggest"]),
    ("isolation", &["history", "suggest"]),
    ("models", &["history", "search", "suggest", "weak"]),
    ("lineup", &["history", "search", "suggest"]),
    ("macros", &[]),
    ("record", &["macros"]),
    ("schedule", &[]),
    ("sched", &["schedule"]),
    ("tla-syntax", &[]),
    ("tla", &["tla-syntax", "suggest"]),
    ("report", &["suggest"]),
    ("page", &["report"]),
    ("validate", &["history", "settings", "search", "suggest", "tla", "report"]),
    ("logs", &["history", "settings", "suggest", "tla-syntax", "tla", "report", "validate"]),
    ("harness", &["history", "settings", "suggest", "tla", "validate"]),
    (
        "omnilink",
        &[
            "history",
            "isolation",
            "search",
            "models",
            "record",
            "macros",
            "lineup",
            "report",
            "page",
            "judge",
            "explore",
            "weak",
        ],
    ),
    ("testkit", &["history", "search", "weak"]),
    (
        "judge",
        &[
            "history",
            "isolation",
            "settings",
            "suggest",
            "search",
            "models",
            "lineup",
            "tla-syntax",
            "tla",
            "report",
            "validate",
            "logs",
            "weak",
            "columns",
        ],
    ),
    ("columns", &["history"]),
    ("monitor", &["history", "isolation", "judge", "report"]),
    ("watch", &["history", "isolation", "judge", "monitor", "otlp"]),
    ("nats", &["monitor"]),
    ("otlp", &["history"]),
    ("keyed", &["history", "judge", "columns"]),
    ("engine", &["history", "judge", "keyed"]),
    ("python", &["judge", "keyed"]),
    ("explore", &["history", "settings", "suggest", "report", "schedule", "sched"]),
    ("init", &["settings", "suggest", "tla-syntax", "tla", "harness", "judge", "explore"]),
    ("campaign", &["history", "settings", "suggest", "lineup", "report", "judge", "schedule", "explore", "weak"]),
    (
        "cli",
        &[
            "history",
            "settings",
            "suggest",
            "search",
            "models",
            "tla-syntax",
            "tla",
            "report",
            "page",
            "validate",
            "harness",
            "init",
            "isolation",
            "lineup",
            "judge",
            "schedule",
            "explore",
            "campaign",
            "monitor",
            "weak",
            "columns",
            "engine",
            "nats",
            "watch",
        ],
    ),
    (
        "fuzz",
        &[
            "columns",
            "explore",
            "history",
            "judge",
            "lineup",
            "logs",
            "monitor",
            "settings",
            "report",
            "schedule",
            "tla",
            "tla-syntax",
        ],
    ),
    ("schedules", &["explore", "schedule"]),
    ("xtask", &["history", "testkit"]),
];

/// The crates that may contain unsafe code. Lints cannot be inherited in part, so each has a list of its own, in which
/// these lints have these levels.
const UNSAFE: &[&str] = &["record", "sched"];
const UNSAFE_LINTS: &[(&str, &str, &str)] = &[
    ("rust", "missing_docs", "warn"),
    ("rust", "unsafe_op_in_unsafe_fn", "deny"),
    ("clippy", "incompatible_msrv", "deny"),
    ("clippy", "undocumented_unsafe_blocks", "deny"),
    ("clippy", "unwrap_used", "warn"),
];

/// The crate that only tests depend on.
const TESTKIT: &str = "crates/testkit/";

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Checks every package that Cargo knows of, and their sources where a manifest says something about them.
pub(super) fn check(workspace: &Workspace, files: &[File]) -> Result<Vec<Finding>> {
    let (metadata, mut findings) = (&workspace.metadata, Vec::new());
    let ours = metadata.workspace_packages();
    for package in &ours {
        let path = package.manifest_path.strip_prefix(&metadata.workspace_root)?.as_str();
        findings.extend(check_layer(path, directory(package), &dependencies(package, &ours)));
        let manifest = fs::read_to_string(&package.manifest_path)?;
        findings.extend(check_manifest(path, directory(package), &manifest)?);
        findings.extend(check_tests(path, &manifest, files)?);
        findings.extend(check_docs(path, &manifest, files)?);
    }
    let allowed = allowed_licences(&fs::read_to_string(workspace.root().join("deny.toml"))?)?;
    for package in metadata.packages.iter().filter(|package| package.source.is_some()) {
        let (source, licence) = (package.source.as_ref().map(|source| &*source.repr), package.license.as_deref());
        findings.extend(check_foreign(&package.name, source, licence, &allowed));
    }
    Ok(findings)
}

/// The name of a package's directory, which is how we call it.
fn directory(package: &Package) -> &str {
    package.manifest_path.parent().and_then(|path| path.file_name()).unwrap_or(&package.name)
}

/// The directories of those of our packages that this one is built with.
fn dependencies<'a>(package: &'a Package, ours: &[&'a Package]) -> Vec<&'a str> {
    let built_with = package.dependencies.iter().filter(|dependency| dependency.kind != DependencyKind::Development);
    let directory_of = |name: &str| ours.iter().find(|package| package.name == name).map(|package| directory(package));
    built_with.filter_map(|dependency| directory_of(&dependency.name)).collect()
}

/// A row for each of our crates, from the lowest layer up: name, layer, and the crates of ours that it is built with.
pub(super) fn layers(workspace: &Workspace) -> Vec<Vec<String>> {
    let ours = workspace.metadata.workspace_packages();
    let of =
        |name: &str| ours.iter().find(|package| directory(package) == name).map(|package| dependencies(package, &ours));
    let mut rows: Vec<(usize, Vec<String>)> = Vec::new();
    // A crate stands below those that may use it in no particular order, so the table is read until nothing is left.
    let mut left: Vec<(&str, Vec<&str>)> = LAYERS.iter().filter_map(|(name, _)| Some((*name, of(name)?))).collect();
    while !left.is_empty() {
        let layer = rows.iter().map(|(layer, _)| layer + 1).max().unwrap_or(0);
        let waits = |(_, uses): &(&str, Vec<&str>)| uses.iter().any(|used| left.iter().any(|(name, _)| name == used));
        let (later, now): (Vec<_>, Vec<_>) = left.iter().cloned().partition(waits);
        let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        rows.extend(now.iter().map(|(name, uses)| (layer, vec![format!("`{name}`"), layer.to_string(), quoted(uses)])));
        if now.is_empty() {
            break;
        }
        left = later;
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

fn check_layer(path: &str, name: &str, dependencies: &[&str]) -> Vec<Finding> {
    let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| *layer == name) else {
        return vec![Finding::new(path, 1, format!("crate `{name}` has no place in the table of layers"))];
    };
    let forbidden = dependencies.iter().filter(|dependency| !allowed.contains(dependency));
    let forbidden = forbidden.map(|dependency| format!("`{name}` may not depend on `{dependency}`"));
    let unused = allowed.iter().filter(|dependency| !dependencies.contains(dependency));
    let unused = unused
        .map(|dependency| format!("`{name}` does not depend on `{dependency}`, which the table of layers allows"));
    forbidden.chain(unused).map(|message| Finding::new(path, 1, message)).collect()
}

fn check_manifest(path: &str, name: &str, manifest: &str) -> Result<Vec<Finding>> {
    let manifest: Table = manifest.parse().with_context(|| format!("{path} is not TOML"))?;
    let value = |table: &str, key: &str| manifest.get(table).and_then(|table| table.get(key));
    let is_inherited = |table: &str, key: &str| {
        value(table, key)
            .and_then(|value| value.get("workspace"))
            .is_some_and(|inherited| inherited.as_bool() == Some(true))
    };
    let has_description =
        value("package", "description").is_some_and(|text| text.as_str().is_some_and(|text| !text.is_empty()));
    let lint = |tool: &str, lint: &str| value("lints", tool).and_then(|lints| lints.get(lint)?.as_str());
    let (has_lints, wanted_lints) = if UNSAFE.contains(&name) {
        let has_lints = UNSAFE_LINTS.iter().all(|(tool, name, level)| lint(tool, name) == Some(level));
        (has_lints, "the package lacks the lints that crates with unsafe code must have")
    } else {
        let has_lints = value("lints", "workspace").is_some_and(|inherited| inherited.as_bool() == Some(true));
        (has_lints, "the package lacks `[lints]` with `workspace = true`")
    };
    let rules = [
        (has_description, "the package has no `description`"),
        (is_inherited("package", "license"), "the package lacks `license.workspace = true`"),
        (has_lints, wanted_lints),
    ];
    Ok(rules.iter().filter(|(holds, _)| !holds).map(|(_, message)| Finding::new(path, 1, *message)).collect())
}

/// Tests in a library that says it has none would never run.
fn check_tests(path: &str, manifest: &str, files: &[File]) -> Result<Vec<Finding>> {
    let manifest: Table = manifest.parse().with_context(|| format!("{path} is not TOML"))?;
    let is_tested = manifest.get("lib").and_then(|lib| lib.get("test")?.as_bool()) != Some(false);
    let sources = path.replace("Cargo.toml", "src/");
    let has_tests = |file: &&File| !is_tested && file.path.starts_with(&sources) && file.text.contains("#[test]");
    let message = "tests never run in a library with `test = false`";
    Ok(files.iter().filter(has_tests).map(|file| Finding::new(&file.path, 1, message)).collect())
}

/// A published crate has a README, and a library has an example in its documentation. A library that has no
/// doctests has no callers in Rust, and examples of macros need the crate that re-exports them, which depends on theirs.
fn check_docs(path: &str, manifest: &str, files: &[File]) -> Result<Vec<Finding>> {
    let Some(directory) = path.strip_suffix("Cargo.toml").filter(|directory| is_ours(directory)) else {
        return Ok(Vec::new());
    };
    let manifest: Table = manifest.parse().with_context(|| format!("{path} is not TOML"))?;
    let is_unpublished = manifest.get("package").and_then(|package| package.get("publish")?.as_bool()) == Some(false);
    if is_unpublished || directory == TESTKIT {
        return Ok(Vec::new());
    }
    let file = |name: &str| files.iter().find(|file| file.path.strip_prefix(directory) == Some(name));
    let lib = |key: &str| manifest.get("lib").and_then(|lib| lib.get(key));
    let is_internal = lib("doctest").and_then(|has_doctests| has_doctests.as_bool()) == Some(false);
    let is_macros = lib("proc-macro").and_then(|is_macros| is_macros.as_bool()) == Some(true);
    let mut findings = Vec::new();
    if file("README.md").is_none() {
        findings.push(Finding::new(path, 1, "a published crate needs a `README.md`"));
    }
    if let Some(root) = file("src/lib.rs").filter(|root| !is_internal && !is_macros && !has_example(&root.text)) {
        let message = "the documentation of the crate needs an example: a code block that rustdoc compiles";
        findings.push(Finding::new(&root.path, 1, message));
    }
    Ok(findings)
}

/// True for a directory with a crate of the product.
fn is_ours(directory: &str) -> bool {
    ["crates/", "fleet/", "sources/"].iter().any(|place| directory.starts_with(place))
}

/// True if the documentation at the top of a file has a code block that rustdoc compiles and does not expect to fail.
fn has_example(source: &str) -> bool {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let text: String = lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect();
    let is_compiled = |words: &str| {
        let mut words = words.split([',', ' ']).filter(|word| !word.is_empty());
        words.all(|word| ["rust", "no_run", "should_panic"].contains(&word))
    };
    Parser::new(&text)
        .any(|event| matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(words))) if is_compiled(&words)))
}

fn allowed_licences(deny: &str) -> Result<Vec<String>> {
    let deny: Table = deny.parse().context("deny.toml is not TOML")?;
    let allow = deny.get("licenses").and_then(|licenses| licenses.get("allow")).and_then(|allow| allow.as_array());
    let allow = allow.context("deny.toml has no list `licenses.allow`")?;
    Ok(allow.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
}

fn check_foreign(name: &str, source: Option<&str>, licence: Option<&str>, allowed: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if source != Some(CRATES_IO) {
        findings.push(Finding::new("Cargo.lock", 1, format!("`{name}` does not come from crates.io")));
    }
    let is_allowed = |requirement: &LicenseReq| allowed.contains(&requirement.to_string());
    // Older packages write `MIT/Apache-2.0`.
    let licence = licence.unwrap_or_default().replace('/', " OR ");
    if !Expression::parse(&licence).is_ok_and(|expression| expression.evaluate(is_allowed)) {
        let message = format!("the licence of `{name}`, `{licence}`, is not allowed by deny.toml");
        findings.push(Finding::new("Cargo.lock", 1, message));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::listing;
    use super::*;

    #[test]
    fn arrows_point_down() {
        assert_eq!(check_layer("m", "weak", &["history", "search", "suggest"]), []);
        insta::assert_snapshot!(listing(check_layer("m", "weak", &["history", "models"])), @"
        m:1: `weak` may not depend on `models`
        m:1: `weak` does not depend on `search`, which the table of layers allows
        m:1: `weak` does not depend on `suggest`, which the table of layers allows
        ");
        insta::assert_snapshot!(listing(check_layer("m", "utils", &[])), @"m:1: crate `utils` has no place in the table of layers");
    }

    #[test]
    fn manifests_inherit() {
        let good = "[package]\ndescription = \"One.\"\nlicense.workspace = true\n[lints]\nworkspace = true\n";
        assert_eq!(check_manifest("m", "cli", good).unwrap(), []);
        insta::assert_snapshot!(listing(check_manifest("m", "cli", "[package]\nlicense = \"MIT\"\n").unwrap()), @"
        m:1: the package has no `description`
        m:1: the package lacks `license.workspace = true`
        m:1: the package lacks `[lints]` with `workspace = true`
        ");
        insta::assert_snapshot!(listing(check_manifest("m", "record", good).unwrap()), @"m:1: the package lacks the lints that crates with unsafe code must have");
    }

    #[test]
    fn tests_are_where_they_run() {
        let files = ["a/src/lib.rs", "a/tests/it.rs", "b/src/lib.rs"]
            .map(|path| File { path: path.to_owned(), text: "#[test]\n".to_owned() });
        assert_eq!(check_tests("a/Cargo.toml", "[lib]\nname = \"a\"\n", &files).unwrap(), []);
        insta::assert_snapshot!(listing(check_tests("a/Cargo.toml", "[lib]\ntest = false\n", &files).unwrap()), @"a/src/lib.rs:1: tests never run in a library with `test = false`");
    }

    #[test]
    fn published_crates_have_a_readme_and_an_example() {
        let check = |manifest: &str, files: &[(&str, &str)]| {
            let file = |(path, text): &(&str, &str)| File { path: format!("crates/a/{path}"), text: text.to_string() };
            let files: Vec<File> = files.iter().map(file).collect();
            listing(check_docs("crates/a/Cargo.toml", manifest, &files).unwrap())
        };
        let with = |fence: &str| format!("//! A.\n//!\n//! ```{fence}\n//! a::b();\n//! ```\n\nmod b;\n");
        let published = "[package]\npublish.workspace = true\n";
        insta::assert_snapshot!(check(published, &[("src/lib.rs", "//! A.\n\n/// ```\n/// ```\nmod b;\n")]), @"
        crates/a/Cargo.toml:1: a published crate needs a `README.md`
        crates/a/src/lib.rs:1: the documentation of the crate needs an example: a code block that rustdoc compiles
        ");
        let with_readme = |manifest: &str, lib: &str| check(manifest, &[("README.md", "# a\n"), ("src/lib.rs", lib)]);
        for fence in ["", "no_run", "rust,should_panic"] {
            assert_eq!(with_readme(published, &with(fence)), "", "{fence}");
        }
        for fence in ["text", "ignore", "no_run,ignore", "compile_fail"] {
            assert_ne!(with_readme(published, &with(fence)), "", "{fence}");
        }
        assert_eq!(check("[package]\n", &[("README.md", "# a\n"), ("src/main.rs", "//! A.\n")]), "");
        assert_eq!(with_readme("[lib]\ndoctest = false\n", "//! A.\n"), "");
        assert_ne!(with_readme("[lib]\ndoctest = true\n", "//! A.\n"), "");
        assert_eq!(with_readme("[lib]\nproc-macro = true\n", "//! A.\n"), "");
        assert_eq!(check("[package]\npublish = false\n", &[("src/lib.rs", "//! A.\n")]), "");
        assert_eq!(check_docs("xtask/Cargo.toml", published, &[]).unwrap(), []);
    }

    #[test]
    fn licences_are_expressions() {
        let allowed = allowed_licences("[licenses]\nallow = [\"MIT\", \"Zlib\"]").unwrap();
        let check = |licence| listing(check_foreign("it", Some(CRATES_IO), licence, &allowed));
        assert_eq!(check(Some("MIT/Apache-2.0")), "");
        assert_eq!(check(Some("Zlib AND (MIT OR GPL-3.0-only)")), "");
        insta::assert_snapshot!(check(Some("MIT AND GPL-3.0-only")), @"Cargo.lock:1: the licence of `it`, `MIT AND GPL-3.0-only`, is not allowed by deny.toml");
        insta::assert_snapshot!(check(None), @"Cargo.lock:1: the licence of `it`, ``, is not allowed by deny.toml");
    }

    #[test]
    fn packages_come_from_crates_io() {
        let findings = check_foreign("it", Some("git+https://example.org/it"), Some("MIT"), &["MIT".to_owned()]);
        insta::assert_snapshot!(listing(findings), @"Cargo.lock:1: `it` does not come from crates.io");
    }
}

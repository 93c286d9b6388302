//! The dependencies that only OmniLink brings into a build, which are not instrumented.
//!
//! A test with `#[omnilink::test]` links the checker. It runs before and after the threads of the test, so that its steps
//! only cost time; it is several times the size of most crates under test. A package is instrumented if the user's own
//! packages reach it without passing through OmniLink, and so is the recorder, which runs between the steps of the test's
//! threads. Mixing is sound: uninstrumented code runs between two steps, and generic functions are compiled with each
//! crate that calls them (`-Zshare-generics=n`).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use omnilink_explore::instrument::cargo;
use serde_json::Value;

/// The recorder, which runs on the threads of a test.
const RECORDER: &str = "omnilink-record";

/// The manifest directories of the packages that only OmniLink brings, one a line. `None` if Cargo does not tell: it
/// reports why when it builds.
pub(super) fn of_omnilink_only(program: &OsStr, arguments: &[OsString]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(["metadata", "--format-version", "1", "--filter-platform", cargo::TARGET]);
    if let Some(manifest) = cargo::option(arguments, "--manifest-path") {
        command.arg("--manifest-path").arg(manifest);
    }
    let ends = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let about_network = ["--offline", "--locked", "--frozen"];
    command.args(arguments[..ends].iter().filter(|argument| about_network.iter().any(|name| argument == name)));
    let output = command.output().ok().filter(|output| output.status.success())?;
    let metadata: Value = serde_json::from_slice(&output.stdout).ok()?;
    Some(only_through_omnilink(&metadata)?.iter().map(|directory| format!("{directory}\n")).collect())
}

/// The manifest directories of the packages that the workspace reaches only through packages of OmniLink.
fn only_through_omnilink(metadata: &Value) -> Option<BTreeSet<String>> {
    let mut packages: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for package in metadata["packages"].as_array()? {
        let manifest = Path::new(package["manifest_path"].as_str()?).parent()?.to_str()?;
        packages.insert(package["id"].as_str()?, (package["name"].as_str()?, manifest));
    }
    let mut edges: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in metadata["resolve"]["nodes"].as_array()? {
        let dependencies = node["deps"].as_array()?.iter().filter_map(|dependency| dependency["pkg"].as_str());
        edges.insert(node["id"].as_str()?, dependencies.collect());
    }
    let is_of_omnilink = |id: &str| {
        let name = packages.get(id).map_or("", |(name, _)| name);
        name == "omnilink" || (name.starts_with("omnilink-") && name != RECORDER)
    };
    let members = metadata["workspace_members"].as_array()?.iter().filter_map(Value::as_str);
    let mut next: Vec<&str> = members.collect();
    let recorders = packages.iter().filter(|(_, (name, _))| *name == RECORDER).map(|(id, _)| *id);
    next.extend(recorders);
    let mut instrumented: BTreeSet<&str> = next.iter().copied().collect();
    while let Some(id) = next.pop() {
        let dependencies = edges.get(id).into_iter().flatten().copied();
        let own = dependencies.filter(|id| !is_of_omnilink(id)).filter(|id| instrumented.insert(id));
        let own: Vec<&str> = own.collect();
        next.extend(own);
    }
    let others = edges.keys().filter(|id| !instrumented.contains(*id));
    Some(others.filter_map(|id| packages.get(id)).map(|(_, directory)| (*directory).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Packages by name, each with its dependencies. The first one is the workspace's.
    fn check(packages: &[(&str, &[&str])]) -> String {
        let metadata = json!({
            "packages": packages.iter().map(|(name, _)| json!({
                "id": format!("id {name}"), "name": name, "manifest_path": format!("/{name}/Cargo.toml"),
            })).collect::<Vec<_>>(),
            "workspace_members": [format!("id {}", packages[0].0)],
            "resolve": { "nodes": packages.iter().map(|(name, dependencies)| json!({
                "id": format!("id {name}"),
                "deps": dependencies.iter().map(|name| json!({ "pkg": format!("id {name}") })).collect::<Vec<_>>(),
            })).collect::<Vec<_>>() },
        });
        let found = only_through_omnilink(&metadata).expect("metadata as Cargo writes it");
        found.into_iter().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn packages_shared_with_the_user_are_instrumented() {
        let omnilink: [(&str, &[&str]); 6] = [
            ("omnilink", &["omnilink-judge", "omnilink-record"]),
            ("omnilink-judge", &["regex", "hashbrown"]),
            ("omnilink-record", &["libc"]),
            ("regex", &["memchr"]),
            ("hashbrown", &[]),
            ("memchr", &[]),
        ];
        let with = |package: (&'static str, &'static [&'static str])| {
            let packages: Vec<_> = [package].into_iter().chain(omnilink).chain([("libc", &[] as &[&str])]).collect();
            check(&packages)
        };
        assert_eq!(with(("mine", &["omnilink"])), "/hashbrown /memchr /omnilink /omnilink-judge /regex");
        assert_eq!(with(("mine", &["omnilink", "hashbrown"])), "/memchr /omnilink /omnilink-judge /regex");
        assert_eq!(check(&[("mine", &["memchr"]), ("memchr", &[])]), "");
        // A package of OmniLink that is under test itself.
        assert_eq!(check(&[("omnilink-judge", &["regex"]), ("regex", &[])]), "");
    }
}

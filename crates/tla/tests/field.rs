//! Third-party specifications, if available.

use std::path::{Path, PathBuf};

use omnilink_tla::resolve::{Loader, resolve};
use omnilink_tla::strings::Strings;

/// Finds modules beside a specification, then in a list of directories.
struct Directories(Vec<PathBuf>);

impl Loader for Directories {
    fn load(&mut self, module: &str) -> Option<(String, String)> {
        let path = self.0.iter().map(|directory| directory.join(format!("{module}.tla"))).find(|path| path.exists())?;
        Some((path.display().to_string(), read(&path)))
    }
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).expect("a file that can be read")).into_owned()
}

fn find(directory: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(directory).expect("a directory that can be read");
    let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            find(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "tla") {
            found.push(entry);
        }
    }
}

/// `OMNILINK_SPECS` lists directories like `PATH`: every module below the first is resolved, with modules from beside
/// it and from the others.
#[test]
#[ignore = "needs third-party specifications, named by OMNILINK_SPECS"]
fn specifications_resolve() {
    let directories = std::env::var_os("OMNILINK_SPECS").expect("OMNILINK_SPECS names directories");
    let directories: Vec<PathBuf> = std::env::split_paths(&directories).collect();
    let mut specs = Vec::new();
    find(&directories[0], &mut specs);
    let mut failures = Vec::new();
    for spec in &specs {
        let beside = spec.parent().unwrap().to_owned();
        let mut loader = Directories([&[beside], &directories[1..]].concat());
        if let Err(errors) = resolve(&spec.display().to_string(), &read(spec), &mut loader, Strings::default()) {
            failures.push(format!("{}\n{errors}", spec.display()));
        }
    }
    let count = failures.len();
    assert!(failures.is_empty(), "{}\n{count} of {} do not resolve", failures.join("\n\n"), specs.len());
}

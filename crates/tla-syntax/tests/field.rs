//! Parses every module in a directory of third-party specifications.

use std::path::{Path, PathBuf};
use std::{env, fs};

use omnilink_tla_syntax::Position;

#[test]
#[ignore = "needs a directory of specifications, named by OMNILINK_SPECS"]
fn third_party_modules_have_no_errors() {
    let root = env::var("OMNILINK_SPECS").expect("OMNILINK_SPECS names a directory");
    let mut paths = Vec::new();
    find(Path::new(&root), &mut paths);
    paths.sort();
    let mut failures = Vec::new();
    for path in &paths {
        let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        let parse = omnilink_tla_syntax::parse(&text);
        for error in &parse.errors {
            let Position { line, column } = Position::of(&text, error.span.start);
            failures.push(format!("{}:{line}:{column}: {}", path.display(), error.message));
        }
        if parse.module.is_none_or(|module| format!("{module:?}").contains("kind: Error")) {
            failures.push(format!("{}: not all of it was understood", path.display()));
        }
    }
    println!("{} modules", paths.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn find(directory: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            find(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "tla") {
            paths.push(path);
        }
    }
}

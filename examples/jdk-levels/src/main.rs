//! `jdk-levels DIR` finds the strongest level of each method that explains the histories of its class,
//! `DIR/CLASS/*.jsonl`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use jdk_levels::Class;
use jdk_levels::class::{CLASSES, Found};
use jdk_levels::levels::level_of;
use omnilink_history::{Call, History, format};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [directory] = args.as_slice() else {
        eprintln!("usage: jdk-levels DIR");
        return ExitCode::from(2);
    };
    match run(Path::new(directory)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(directory: &Path) -> Result<()> {
    let started = Instant::now();
    let (mut histories, mut pairs, mut checks) = (0, 0, 0);
    for class in CLASSES {
        let files = files(&directory.join(class.name))?;
        if files.is_empty() {
            continue;
        }
        let began = Instant::now();
        let read = |path: &PathBuf| -> Result<History<Call>> {
            Ok(History::new(format::jsonl::read(&std::fs::read(path)?)?)?)
        };
        let all: Vec<History<Call>> = files.iter().map(read).collect::<Result<_>>()?;
        let found = class.find(&all)?;
        print(&class, &found, all.len(), began.elapsed().as_secs_f64());
        for (place, blamed) in &found.unexplained {
            println!("  no level explains {}: {}", files[*place].display(), blamed.join(", "));
        }
        histories += all.len();
        pairs += found.methods.len();
        checks += found.checks;
    }
    if histories == 0 {
        return Err(format!("`{}` has no histories", directory.display()).into());
    }
    let seconds = started.elapsed().as_secs_f64();
    println!("{histories} histories, {pairs} pairs of class and method, {checks} checks, {seconds:.1} s");
    Ok(())
}

/// The histories of a class, by name; none if it was not recorded.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in folder.read_dir()? {
        files.push(entry?.path());
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    Ok(files)
}

/// Prints the strongest level of each method, beside the one that Violat states.
fn print(class: &Class, found: &Found, histories: usize, seconds: f64) {
    let Found { methods, not_linearizable, unexplained, level, .. } = found;
    let (name, unexplained) = (class.name, unexplained.len());
    println!(
        "{name}: {histories} histories, {not_linearizable} not linearizable, {unexplained} that no level explains, {seconds:.1} s"
    );
    let Some(level) = level else { return };
    println!("  {:<24} {:>7}  {:<10} {:<10}", "method", "calls", "found", "Violat");
    for (name, calls) in methods {
        let (found, stated) = (level.visibility_of(name), level_of(class.name, name).unwrap_or("-"));
        println!("  {name:<24} {calls:>7}  {found:<10} {stated:<10}");
    }
}

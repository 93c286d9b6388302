//! Paths of a project: its specification, a path as seen from a directory, and files that are not overwritten.

use std::fs;
use std::path::{Component, Path, PathBuf};

use omnilink_judge::Complaint;
use omnilink_settings::{FILE_NAME, Settings};

/// The specification: the one that the user or the settings name, or the only one in the directory.
pub fn find_spec(directory: &Path, named: Option<&Path>) -> Result<PathBuf, Complaint> {
    let help =
        Some("`omnilink init --spec FILE.tla` names it, and `--template queue` starts with a new one".to_owned());
    if let Some(spec) = named {
        return match spec.is_file() {
            true if omnilink_judge::is_tla(spec) => Ok(spec.to_owned()),
            true => Err(Complaint { help, ..Complaint::new(format!("{}: not a TLA+ module", spec.display())) }),
            false => Err(Complaint::new(format!("{}: no such file", spec.display()))),
        };
    }
    let own = Settings::read(&directory.join(FILE_NAME)).ok().and_then(|settings| settings.spec);
    if let Some(spec) = own.filter(|spec| omnilink_judge::is_tla(Path::new(spec))) {
        return Ok(directory.join(spec));
    }
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut specs: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| omnilink_judge::is_tla(path)).collect();
    specs.sort();
    match &*specs {
        [only] => Ok(only.clone()),
        [] => Err(Complaint { help, ..Complaint::new("no specification given") }),
        several => {
            let names: Vec<String> = several.iter().map(|path| format!("`{}`", path.display())).collect();
            let message = format!("several specifications found: {}", names.join(", "));
            Err(Complaint { help, ..Complaint::new(message) })
        }
    }
}

/// A path as seen from a directory.
pub(crate) fn relative(directory: &Path, path: &Path) -> String {
    let parts = |path: &Path| -> Vec<String> {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut parts = Vec::new();
        for part in absolute.components() {
            match part {
                Component::ParentDir => drop(parts.pop()),
                Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
        }
        parts
    };
    let (from, to) = (parts(directory), parts(path));
    let common = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
    let up = std::iter::repeat_n("..".to_owned(), from.len() - common);
    up.chain(to[common..].iter().cloned()).collect::<Vec<_>>().join("/")
}

/// An error if one of the files exists.
pub(crate) fn refuse_existing(directory: &Path, files: &[&str], help: &str) -> Result<(), Vec<Complaint>> {
    let there: Vec<&str> = files.iter().copied().filter(|path| directory.join(path).exists()).collect();
    if there.is_empty() {
        return Ok(());
    }
    let message = format!("{} has files that would be overwritten: {}", directory.display(), there.join(", "));
    Err(vec![Complaint { help: Some(help.to_owned()), ..Complaint::new(message) }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_seen_from_the_project() {
        let check = |directory: &str, path: &str| relative(Path::new(directory), Path::new(path));
        assert_eq!(check("/a/b", "/a/b/Foo.tla"), "Foo.tla");
        assert_eq!(check("/a/b", "/a/c/d/Foo.tla"), "../c/d/Foo.tla");
        assert_eq!(check(".", "specs/../Foo.tla"), "Foo.tla");
        assert_eq!(check("x/y", "Foo.tla"), "../../Foo.tla");
    }
}

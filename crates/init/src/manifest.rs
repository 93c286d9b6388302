//! What `omnilink init` wrote, and how it is undone.
//!
//! The file `omnilink/init.json` lists every file that was created, with a digest of its text, and every text that was
//! added to an existing file. Undoing removes the files whose text is still the same, and the added texts where they
//! still are; the generated file counts as unchanged, because `gen` and `fuzz` write it again. If anything else was
//! edited, nothing is removed unless the user asks to keep the edited files.

use std::fs;
use std::path::Path;

use omnilink_harness::read_header;
use omnilink_judge::Complaint;
use serde_json::{Value, json};

use crate::plan::store;

/// The file itself, relative to the project.
pub const MANIFEST: &str = "omnilink/init.json";

const SCHEMA: &str = "omnilink.init/1";

/// What was written to a project. Paths are relative to it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) created: Vec<Created>,
    pub(crate) changed: Vec<Changed>,
    /// Files and directories that builds create.
    pub(crate) built: Vec<String>,
}

/// A new file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Created {
    pub(crate) path: String,
    pub(crate) digest: String,
}

/// An existing file, and the texts that were added to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The file.
    pub path: String,
    /// The texts.
    pub added: Vec<String>,
}

/// What undoing does to a file.
enum Step {
    Remove(String),
    Restore(String, String),
}

impl Created {
    pub(crate) fn new(path: &str, text: &str) -> Created {
        Created { path: path.to_owned(), digest: digest(text) }
    }
}

impl Manifest {
    /// Writes the file.
    pub(crate) fn write(&self, project: &Path) -> Result<(), Vec<Complaint>> {
        let created: Vec<Value> =
            self.created.iter().map(|file| json!({ "path": file.path, "digest": file.digest })).collect();
        let changed: Vec<Value> =
            self.changed.iter().map(|file| json!({ "path": file.path, "added": file.added })).collect();
        let about = "What `omnilink init` wrote; `omnilink init --undo` removes it.";
        let document =
            json!({ "schema": SCHEMA, "about": about, "created": created, "changed": changed, "built": self.built });
        store(&project.join(MANIFEST), &format!("{document:#}\n"))
    }

    /// Reads the file, or begins one.
    pub(crate) fn read_or_new(project: &Path) -> Result<Manifest, Vec<Complaint>> {
        if project.join(MANIFEST).exists() { Manifest::read(project) } else { Ok(Manifest::default()) }
    }

    /// Reads the file.
    fn read(project: &Path) -> Result<Manifest, Vec<Complaint>> {
        let path = project.join(MANIFEST);
        let wrong = |message: String| vec![Complaint::new(format!("{}: {message}", path.display()))];
        let text = fs::read_to_string(&path).map_err(|error| {
            let help =
                Some("`omnilink init` lists there what it wrote; without the list, nothing is removed".to_owned());
            let message = format!("{}: {error}", path.display());
            vec![Complaint { help, ..Complaint::new(message) }]
        })?;
        let document: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let damaged = || wrong("damaged: it is not as `omnilink init` wrote it".to_owned());
        if document["schema"] != SCHEMA {
            return Err(wrong(format!("unsupported schema {} (expected `{SCHEMA}`)", document["schema"])));
        }
        let list = |name: &str| document[name].as_array().ok_or_else(damaged);
        // A path that leads out of the project was not written here.
        let path = |value: &Value| {
            let path = value.as_str().filter(|path| is_inside(path));
            path.map(str::to_owned).ok_or_else(damaged)
        };
        let strings = |value: &Value| -> Option<Vec<String>> {
            value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
        };
        let mut manifest = Manifest::default();
        for file in list("created")? {
            let digest = file["digest"].as_str().ok_or_else(damaged)?.to_owned();
            manifest.created.push(Created { path: path(&file["path"])?, digest });
        }
        for file in list("changed")? {
            let added = strings(&file["added"]).ok_or_else(damaged)?;
            manifest.changed.push(Changed { path: path(&file["path"])?, added });
        }
        for built in list("built")? {
            manifest.built.push(path(built)?);
        }
        Ok(manifest)
    }
}

/// Whether a relative path stays below its directory.
fn is_inside(path: &str) -> bool {
    let is_plain = |part| matches!(part, std::path::Component::Normal(_));
    !path.is_empty() && Path::new(path).components().all(is_plain)
}

/// Removes what `omnilink init` wrote to a project, and returns a line for each file.
pub fn undo(project: &Path, keeps_edited: bool) -> Result<Vec<String>, Vec<Complaint>> {
    let manifest = Manifest::read(project)?;
    let (mut steps, mut edited, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for Created { path, digest: written } in &manifest.created {
        match fs::read_to_string(project.join(path)) {
            Ok(text) if digest(&text) == *written || read_header(&text).is_some() => {
                steps.push(Step::Remove(path.clone()));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => lines.push(format!("{path}: already gone")),
            Ok(_) | Err(_) => edited.push(path.clone()),
        }
    }
    for Changed { path, added } in &manifest.changed {
        let Ok(mut text) = fs::read_to_string(project.join(path)) else {
            lines.push(format!("{path}: already gone"));
            continue;
        };
        let is_there = |text: &str, added: &String| text.matches(added.as_str()).count() == 1;
        match added.iter().all(|added| is_there(&text, added)) {
            true => {
                added.iter().for_each(|added| text = text.replacen(added.as_str(), "", 1));
                steps.push(Step::Restore(path.clone(), text));
            }
            false => edited.push(path.clone()),
        }
    }
    if !edited.is_empty() && !keeps_edited {
        let message = format!("edited since `omnilink init`, so nothing was removed: {}", edited.join(", "));
        let help = Some("`omnilink init --undo --keep-edited` keeps these and removes the others".to_owned());
        return Err(vec![Complaint { help, ..Complaint::new(message) }]);
    }
    for step in steps {
        let path = match &step {
            Step::Remove(path) | Step::Restore(path, _) => path.clone(),
        };
        let failed = |error: std::io::Error| vec![Complaint::new(format!("{path}: {error}"))];
        match step {
            Step::Remove(_) => {
                fs::remove_file(project.join(&path)).map_err(failed)?;
                lines.push(format!("removed {path}"));
            }
            Step::Restore(_, text) => {
                omnilink_explore::write_file(&project.join(&path), &text).map_err(failed)?;
                lines.push(format!("restored {path}"));
            }
        }
    }
    for path in &manifest.built {
        let place = project.join(path);
        let failed = |error: std::io::Error| vec![Complaint::new(format!("{path}: {error}"))];
        if place.is_dir() {
            fs::remove_dir_all(&place).map_err(failed)?;
        } else if place.is_file() {
            fs::remove_file(&place).map_err(failed)?;
        } else {
            continue;
        }
        lines.push(format!("removed {path}, which was built"));
    }
    let path = project.join(MANIFEST);
    fs::remove_file(&path).map_err(|error| vec![Complaint::new(format!("{}: {error}", path.display()))])?;
    let created = manifest.created.iter().map(|file| &*file.path).chain([MANIFEST]);
    remove_empty(project, created);
    lines.extend(edited.iter().map(|path| format!("kept {path}, which was edited")));
    Ok(lines)
}

/// Removes the directories of these files that are empty now.
fn remove_empty<'a>(project: &Path, files: impl Iterator<Item = &'a str>) {
    let parents = files.flat_map(|path| Path::new(path).ancestors().skip(1));
    let mut directories: Vec<&Path> = parents.filter(|directory| !directory.as_os_str().is_empty()).collect();
    // The innermost first.
    directories.sort_by_key(|directory| std::cmp::Reverse(directory.components().count()));
    directories.dedup();
    for directory in directories {
        // A directory that is not empty stays.
        let _ = fs::remove_dir(project.join(directory));
    }
}

/// Tells whether a file was edited, on every machine. A checkout may have changed the line endings.
fn digest(text: &str) -> String {
    format!("{:016x}", omnilink_explore::fingerprint(text.replace('\r', "").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_below_the_project_are_removed() {
        assert!(is_inside("omnilink/src/main.rs") && is_inside("omnilink.toml"));
        assert!(!is_inside("../main.rs") && !is_inside("/etc/passwd") && !is_inside("") && !is_inside("a/../../b"));
    }
}

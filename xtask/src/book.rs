//! Builds the book with mdBook, and checks every link of the site.
//!
//! mdBook reads only the files below `book/src`, but chapters also link to other files of the repository. So the book
//! is built from a copy in the target directory: a chapter that consists of an `#include` is replaced by the document,
//! and every other file that a chapter links to is copied into the site as text. All remaining links stay inside the
//! site or lead to another site. Warnings of mdBook are errors.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use anyhow::{Context, Result, bail, ensure};
use pulldown_cmark::{Event, Options, Parser, Tag};
use regex::Regex;

use crate::workspace::Workspace;

/// The directory of the site that holds copies of files from the repository.
const COPIES: &str = "repository";

/// The chapters, from the root of the repository.
const CHAPTERS: &str = "book/src";

/// A link of a page, and the name of a place in it.
static LINK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"\s(?:href|src)="([^"]*)""#).expect("the pattern is well formed"));
static PLACE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"\s(?:id|name)="([^"]*)""#).expect("the pattern is well formed"));

/// Builds the book into the target directory, and fails if mdBook warns or a link is broken.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let target = workspace.metadata.target_directory.as_std_path();
    let (source, site) = (target.join("book-source"), target.join("book"));
    for directory in [&source, &site] {
        if directory.exists() {
            fs::remove_dir_all(directory)?;
        }
    }
    Source::read(workspace.root())?.write(&source)?;
    build(&source, &site)?;
    let broken = check(&site)?;
    ensure!(broken.is_empty(), "broken links in {}:\n{}", site.display(), broken.join("\n"));
    println!("the book is in {}", site.display());
    Ok(())
}

fn build(source: &Path, site: &Path) -> Result<()> {
    let mut command = Command::new("mdbook");
    command.arg("build").arg(source).arg("--dest-dir").arg(site);
    let output = command.output().context("cannot run mdbook; install it with `cargo install --locked mdbook`")?;
    let said = String::from_utf8_lossy(&output.stderr);
    let warns = said.lines().any(|line| line.contains("WARN") || line.contains("ERROR"));
    if !output.status.success() || warns {
        bail!("`mdbook build` fails or warns:\n{said}");
    }
    Ok(())
}

/// The book as it is in the repository.
struct Source<'a> {
    root: &'a Path,
    /// Chapters by name: the directory that their links start from, and their text.
    chapters: BTreeMap<String, (PathBuf, String)>,
    /// Documents that are chapters by an `#include`, and the name of the chapter.
    included: BTreeMap<PathBuf, String>,
}

impl Source<'_> {
    fn read(root: &Path) -> Result<Source<'_>> {
        let mut source = Source { root, chapters: BTreeMap::new(), included: BTreeMap::new() };
        for entry in fs::read_dir(root.join(CHAPTERS)).context("the book has chapters")? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if !name.ends_with(".md") {
                continue;
            }
            let text = fs::read_to_string(root.join(CHAPTERS).join(&name))?;
            let include = text.trim().strip_prefix("{{#include ").and_then(|text| text.strip_suffix("}}"));
            let chapter = match include {
                None => (PathBuf::from(CHAPTERS), text),
                Some(path) => {
                    let path = normalize(&Path::new(CHAPTERS).join(path));
                    source.included.insert(path.clone(), name.clone());
                    let directory = path.parent().unwrap_or(Path::new("")).to_owned();
                    (directory, fs::read_to_string(root.join(&path)).with_context(|| path.display().to_string())?)
                }
            };
            source.chapters.insert(name, chapter);
        }
        let (_, summary) = source.chapters.get("SUMMARY.md").context("the book has a summary")?;
        let is_listed = |name: &String| name == "SUMMARY.md" || summary.contains(&format!("({name})"));
        let unlisted: Vec<&String> = source.chapters.keys().filter(|name| !is_listed(name)).collect();
        ensure!(unlisted.is_empty(), "SUMMARY.md lacks {unlisted:?}");
        Ok(source)
    }

    /// Writes a book that mdBook can build alone.
    fn write(&self, directory: &Path) -> Result<()> {
        let chapters = directory.join("src");
        fs::create_dir_all(chapters.join("pictures"))?;
        fs::copy(self.root.join("book/book.toml"), directory.join("book.toml"))?;
        for entry in fs::read_dir(self.root.join(CHAPTERS).join("pictures"))? {
            let entry = entry?;
            fs::copy(entry.path(), chapters.join("pictures").join(entry.file_name()))?;
        }
        for (name, (base, text)) in &self.chapters {
            let (text, files) = self.rewrite(base, text);
            fs::write(chapters.join(name), text)?;
            for file in files {
                let to = chapters.join(copy_of(&file));
                fs::create_dir_all(to.parent().unwrap_or(&chapters))?;
                let place = || format!("{name} links to `{}`, which is not a file", file.display());
                fs::copy(self.root.join(&file), to).with_context(place)?;
            }
        }
        Ok(())
    }

    /// A chapter whose links stay inside the site, and the files of the repository that it links to.
    fn rewrite(&self, base: &Path, text: &str) -> (String, BTreeSet<PathBuf>) {
        let (mut files, mut links) = (BTreeSet::new(), Vec::new());
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event else { continue };
            let (target, place) = dest_url.split_at(dest_url.find('#').unwrap_or(dest_url.len()));
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let path = normalize(&base.join(target));
            let to = match (path.strip_prefix(CHAPTERS), self.included.get(&path)) {
                (Ok(inside), _) => format!("{}{place}", inside.display()),
                (_, Some(chapter)) => format!("{chapter}{place}"),
                // Lines and headings of a copy have no names.
                _ => {
                    let copy = copy_of(&path).display().to_string();
                    files.insert(path);
                    copy
                }
            };
            if let Some(at) = text[range.clone()].rfind(&format!("]({dest_url}")) {
                let start = range.start + at + "](".len();
                links.push((start..start + dest_url.len(), to));
            }
        }
        let mut text = text.to_owned();
        links.sort_by_key(|(range, _)| range.start);
        for (range, to) in links.into_iter().rev() {
            text.replace_range(range, &to);
        }
        (text, files)
    }
}

/// The name of a file's copy in the site. Browsers show text, and may only offer to save other files. mdBook takes every name
/// with `.md` in it for a chapter.
fn copy_of(path: &Path) -> PathBuf {
    let name = path.display().to_string();
    Path::new(COPIES).join(format!("{}.txt", name.strip_suffix(".md").unwrap_or(&name)))
}

/// A path without `.` and `..`, as far as that is possible without the file system.
fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if normal.pop() => {}
            part => normal.push(part),
        }
    }
    normal
}

/// Every link of the site's pages that leads to no file or to no place in it.
fn check(site: &Path) -> Result<Vec<String>> {
    let mut pages = BTreeMap::new();
    for entry in fs::read_dir(site)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        // The page for wrong addresses is shown for any address, so its links have no fixed base.
        if name.ends_with(".html") && name != "404.html" {
            let text = fs::read_to_string(site.join(&name))?;
            pages.insert(name, text);
        }
    }
    let places = |text| PLACE.captures_iter(text).map(|found| found.extract::<1>().1[0]).collect::<BTreeSet<&str>>();
    let places: BTreeMap<&str, BTreeSet<&str>> =
        pages.iter().map(|(name, text)| (name.as_str(), places(text.as_str()))).collect();
    let mut broken = BTreeSet::new();
    for (page, text) in &pages {
        for (_, [link]) in LINK.captures_iter(text).map(|found| found.extract()) {
            if link.contains("://") || link.starts_with("mailto:") || link.starts_with("data:") {
                continue;
            }
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let file = if file.is_empty() { page } else { file };
            let has_place = place.is_empty() || places.get(file).is_some_and(|places| places.contains(place));
            if !site.join(file).is_file() || !has_place {
                broken.insert(format!("{page}: {link}"));
            }
        }
    }
    Ok(broken.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_inside_the_site() {
        let included = BTreeMap::from([(PathBuf::from("FORMAT.md"), "format.md".to_owned())]);
        let source = Source { root: Path::new(""), chapters: BTreeMap::new(), included };
        let text = "[a](b.md#c) [d](../../examples/Q.tla) [e](../../FORMAT.md#text) [f](https://g.org/) ![h](pictures/i.png)\n";
        let (text, files) = source.rewrite(Path::new(CHAPTERS), text);
        insta::assert_snapshot!(text, @"[a](b.md#c) [d](repository/examples/Q.tla.txt) [e](format.md#text) [f](https://g.org/) ![h](pictures/i.png)");
        assert_eq!(files, BTreeSet::from([PathBuf::from("examples/Q.tla")]));
        let (text, _) = source.rewrite(Path::new(""), "[a](book/src/binding.md)\n");
        insta::assert_snapshot!(text, @"[a](binding.md)");
    }

    #[test]
    fn links_of_pages_lead_to_places() {
        let site = tempfile::tempdir().unwrap();
        let page = r##"<h1 id="a">A</h1> <a href="#a">1</a> <a href="b.html">2</a> <a href="a.html#b">3</a> <a href="c.txt">4</a>"##;
        fs::write(site.path().join("a.html"), page).unwrap();
        fs::write(site.path().join("c.txt"), "C").unwrap();
        insta::assert_snapshot!(check(site.path()).unwrap().join("\n"), @"
        a.html: a.html#b
        a.html: b.html
        ");
    }
}

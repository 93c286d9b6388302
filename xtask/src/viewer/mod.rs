//! The page that shows a report: it equals the build of its sources, it is small, and it works in a real browser.
//!
//! The steps are those of a developer of the viewer. First the sources are checked and built, and the page must equal
//! the committed one, byte for byte. Then the command writes a page for each golden report; each must have its expected
//! verdict and a limited size. Last, browser tests open these pages as files and as served by `omnilink view`. Needs
//! Node, npm, Chromium and Firefox.

mod golden;
mod make;
mod pictures;
mod runs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::workspace::Workspace;

/// The page that the command contains, from the root of the repository.
const PAGE: &str = "crates/page/viewer.html";

/// The selection of reports, and the output directory.
#[derive(Debug, Default, Args)]
pub(crate) struct Options {
    /// Write the pages of the golden reports, and screenshots of them, to this directory
    #[arg(long, value_name = "DIR")]
    pages: Option<PathBuf>,
    /// Test only this golden report
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Make the pictures in README.md and the book again, and test nothing
    #[arg(long)]
    pictures: bool,
    /// Write a picture of every kind of page, at three widths and in both themes, to this directory; fail if axe finds
    /// anything
    #[arg(long, value_name = "DIR", conflicts_with_all = ["pages", "only", "pictures"])]
    kinds: Option<PathBuf>,
}

/// Builds the page, fills it with every golden report, and tests each in a browser.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let sources = workspace.root().join("viewer");
    let tests = sources.join("e2e");
    let scratch = tempfile::tempdir()?;
    let directory = match &options.pages {
        Some(directory) => std::path::absolute(directory)?,
        None => scratch.path().to_owned(),
    };
    fs::create_dir_all(&directory)?;
    let command = workspace.build_programs()?.join("omnilink");
    if options.pictures {
        return pictures::write(workspace, &command);
    }
    if let Some(kinds) = &options.kinds {
        npm(&sources, &["ci"])?;
        npm(&tests, &["ci"])?;
        return pictures::write_kinds(&tests, &command, &std::path::absolute(kinds)?);
    }
    // Both keep one core busy. The command contains the committed page, so it does not matter which one ends first.
    let (built, written) = thread::scope(|scope| {
        let built = scope.spawn(|| build(workspace.root(), &sources, &tests));
        let written = golden::write_pages(workspace.root(), &command, &directory, options.only.as_deref());
        (built.join().expect("what fails is an error"), written)
    });
    print!("{}", built?);
    written?;
    let mut browser = Command::new("npm");
    browser.args(["test"]).current_dir(&tests).env("OMNILINK_PAGES", &directory);
    let status = browser.status().context("cannot run npm")?;
    ensure!(status.success(), "a test in the browser failed");
    Ok(())
}

/// Checks the sources, builds the page, and compares it with the committed one. Checks the browser tests, but runs none.
/// Returns the output.
fn build(root: &Path, sources: &Path, tests: &Path) -> Result<String> {
    let page = root.join(PAGE);
    let committed = fs::read(&page).with_context(|| format!("cannot read {PAGE}"))?;
    let steps = [
        (sources, &["ci"][..]),
        (sources, &["run", "check"]),
        (sources, &["test"]),
        (sources, &["run", "build"]),
        (tests, &["ci"]),
        (tests, &["run", "check"]),
    ];
    let printed = steps.iter().map(|(directory, args)| npm(directory, args)).collect::<Result<String>>()?;
    ensure!(fs::read(&page)? == committed, "{PAGE} was not what viewer/ builds; it is now, commit it");
    Ok(printed)
}

/// Runs npm, and returns its output.
fn npm(directory: &Path, args: &[&str]) -> Result<String> {
    let ran = Command::new("npm").args(args).current_dir(directory).output().context("cannot run npm")?;
    let printed = [ran.stdout, ran.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    ensure!(ran.status.success(), "{printed}`npm {}` failed in {}", args.join(" "), directory.display());
    Ok(printed)
}

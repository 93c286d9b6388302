//! The page that shows a report: it is what its sources build, it stays small, and it works in a real browser.
//!
//! The steps are those of somebody who changes it. First the sources are checked and built, and the page must be the
//! committed one, byte for byte. Then the release build of the command writes a page for each golden report; each must
//! have the verdict that it stands for and may take only so many bytes. Last, browser tests open these pages as files
//! and as `omnilink view` serves them. It needs Node, npm and Chromium.

mod golden;
mod make;
mod runs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::workspace::{Build, Workspace};

/// The page that the command contains, from the root of the repository.
const PAGE: &str = "crates/page/viewer.html";

/// What is done to the page.
#[derive(Debug, Default, Args)]
pub(crate) struct Options {
    /// Keep the pages of the golden reports and pictures of them in this directory
    #[arg(long, value_name = "DIR")]
    pages: Option<PathBuf>,
    /// Only this golden report
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

/// Builds the page, fills it with every golden report, and lets a browser look at each.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let sources = workspace.root().join("viewer");
    let tests = sources.join("e2e");
    build(workspace.root(), &sources)?;
    let scratch = tempfile::tempdir()?;
    let directory = match &options.pages {
        Some(directory) => std::path::absolute(directory)?,
        None => scratch.path().to_owned(),
    };
    fs::create_dir_all(&directory)?;
    let command = workspace.build_command(Build::Release)?.join("omnilink");
    golden::write_pages(workspace.root(), &command, &directory, options.only.as_deref())?;
    npm(&tests, &["ci"])?;
    npm(&tests, &["run", "check"])?;
    let mut browser = Command::new("npm");
    browser.args(["test"]).current_dir(&tests).env("OMNILINK_PAGES", &directory);
    let status = browser.status().context("cannot run npm")?;
    ensure!(status.success(), "a test in the browser failed");
    Ok(())
}

/// Checks the sources, builds the page, and compares it with the committed one.
fn build(root: &Path, sources: &Path) -> Result<()> {
    let page = root.join(PAGE);
    let committed = fs::read(&page).with_context(|| format!("cannot read {PAGE}"))?;
    npm(sources, &["ci"])?;
    npm(sources, &["run", "check"])?;
    npm(sources, &["test"])?;
    npm(sources, &["run", "build"])?;
    ensure!(fs::read(&page)? == committed, "{PAGE} was not what viewer/ builds; it is now, commit it");
    Ok(())
}

fn npm(directory: &Path, args: &[&str]) -> Result<()> {
    let status = Command::new("npm").args(args).current_dir(directory).status().context("cannot run npm")?;
    ensure!(status.success(), "`npm {}` failed in {}", args.join(" "), directory.display());
    Ok(())
}

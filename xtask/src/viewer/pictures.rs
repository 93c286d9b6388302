//! The pictures of the page in README.md and in the book, from the examples that the text around them is about, and those
//! of every kind of page.
//!
//! `cargo xtask viewer --pictures` makes the former again after a change of the page; people look at the difference.
//! `cargo xtask viewer --kinds DIR` makes the latter, which are not committed.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;

/// Where the pictures are, from the root of the repository.
const PICTURES: &str = "book/src/pictures";

/// A file, the specification and the trace of the example, what the link selects, and whether it is dark.
const ALL: [(&str, &str, &str, &str, bool); 3] = [
    ("report.png", "examples/map/Map.tla", "examples/map/traces/stale-read.jsonl", "", false),
    ("dark.png", "examples/map/Map.tla", "examples/map/traces/stale-read.jsonl", "", true),
    (
        "several-steps.png",
        "examples/producer-queue/ProducerQueue.tla",
        "examples/producer-queue/traces/torn-batch.jsonl",
        "#tab=interpretations",
        false,
    ),
];

/// Writes all pictures.
pub(super) fn write(workspace: &Workspace, command: &Path) -> Result<()> {
    let (root, scratch) = (workspace.root(), tempfile::tempdir()?);
    for (file, spec, trace, link, is_dark) in ALL {
        let page = scratch.path().join(file).with_extension("html");
        let mut report = Command::new(command);
        report.current_dir(root).args(["report", spec, trace, "-o"]).arg(&page);
        ensure!(report.output()?.status.code() == Some(1), "{trace} is not rejected");
        let mut browser = Command::new("chromium");
        browser.args([
            "--headless",
            "--no-sandbox",
            "--hide-scrollbars",
            "--window-size=1440,900",
            "--virtual-time-budget=5000",
        ]);
        browser.arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!is_dark)));
        browser.arg(format!("--screenshot={}", root.join(PICTURES).join(file).display()));
        let shot = browser.arg(format!("file://{}{link}", page.display())).output()?;
        ensure!(shot.status.success(), "no picture of {trace}: {}", String::from_utf8_lossy(&shot.stderr));
        println!("{PICTURES}/{file}");
    }
    Ok(())
}

/// Writes a picture of every kind of page to a directory. The script also runs axe on each.
pub(super) fn write_kinds(tests: &Path, command: &Path, directory: &Path) -> Result<()> {
    let mut script = Command::new("npm");
    script.args(["run", "shots", "--"]).arg(directory).current_dir(tests).env("OMNILINK", command);
    ensure!(script.status().context("cannot run npm")?.success(), "something is wrong with a page");
    Ok(())
}

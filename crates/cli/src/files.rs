//! Files named by the user, and the pages in them.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use omnilink_judge::InputError;
use omnilink_page::{About, Encoder, Packing};
use omnilink_report::{Comparison, Detail, Report, Timeline, text};
use serde_json::Value;

/// The generator named in pages.
pub(crate) const TOOL: &str = concat!("OmniLink ", env!("CARGO_PKG_VERSION"));

/// The number of bytes read to see whether a file is a page.
const FIRST: u64 = 4096;

/// A page about one history.
pub(crate) fn page(
    report: &Report,
    timeline: Option<&Timeline>,
    run: Option<&Value>,
    compared: Option<&Comparison>,
) -> String {
    let about = About { tool: TOOL, run, compared, served: None };
    let parts = Encoder::new(report, timeline, Packing::Small).parts(&about);
    omnilink_page::file(&parts, &text(report, Detail::Full, false))
}

/// Writes a page. An existing file is replaced only if it is a page of ours.
pub(crate) fn write_page(path: &Path, page: &str) -> Result<(), InputError> {
    if path.is_dir() {
        return Err(InputError { message: "is a directory".into(), help: Some("name a file in it".into()) });
    }
    if path.exists() && !path.is_file() {
        let help = Some("name a new file".into());
        return Err(InputError { message: "already exists and is not a regular file".into(), help });
    }
    // A page identifies itself near its start.
    let begins = |mut file: File| {
        let mut bytes = Vec::new();
        file.by_ref().take(FIRST).read_to_end(&mut bytes).map(|_| bytes)
    };
    if path.exists() && !File::open(path).and_then(begins).is_ok_and(|bytes| omnilink_page::is_ours(&bytes)) {
        let help = Some("name another file, or remove this one".into());
        return Err(InputError { message: "already exists and is not a report".into(), help });
    }
    write(path, page)
}

/// Writes a text, completely or not at all. The directory must exist, so that a mistyped path is reported.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), InputError> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
        let message = format!("no directory `{}`", directory.display());
        return Err(InputError { message, help: Some(format!("create it first: `mkdir -p {}`", directory.display())) });
    }
    omnilink_explore::write_file(path, text).map_err(|error| InputError::new(format!("cannot be written: {error}")))
}

/// The text of an order of one history.
pub(crate) fn read_order(file: &Path) -> Result<String, InputError> {
    let text = std::fs::read_to_string(file).map_err(|error| InputError::new(format!("cannot be read: {error}")))?;
    let histories = text.lines().filter(|line| line.starts_with('#')).count();
    match histories {
        0 => Err(InputError::new("not an order written by `check --witness`: it does not begin with a history")),
        1 => Ok(text),
        _ => Err(InputError::new(format!("expected the order of one history, found {histories}"))),
    }
}

//! Files that people name, and the pages in them.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use judge::InputError;
use page::{About, Encoder, Level};
use report::{Detail, Report, Timeline, text};
use serde_json::Value;

/// What pages say they were written by.
pub(crate) const TOOL: &str = concat!("OmniLink ", env!("CARGO_PKG_VERSION"));

/// So much of a file is read to see whether it is a page.
const FIRST: u64 = 4096;

/// A page about one history.
pub(crate) fn page(report: &Report, timeline: Option<&Timeline>, run: Option<&Value>) -> String {
    let parts = Encoder::new(report, timeline, Level::Small).parts(&About { tool: TOOL, run, served: None });
    page::file(&parts, &text(report, Detail::Full, false))
}

/// Writes a page. A file that is there is replaced if it is a page of ours, and nothing else is.
pub(crate) fn write_page(path: &Path, page: &str) -> Result<(), InputError> {
    if path.is_dir() {
        return Err(InputError { message: "it is a directory".into(), help: Some("name a file in it".into()) });
    }
    if path.exists() && !path.is_file() {
        let help = Some("name a file that is not there yet".into());
        return Err(InputError { message: "it is there, and is not a file that can be replaced".into(), help });
    }
    // A page says early what it is.
    let begins = |mut file: File| {
        let mut bytes = Vec::new();
        file.by_ref().take(FIRST).read_to_end(&mut bytes).map(|_| bytes)
    };
    if path.exists() && !File::open(path).and_then(begins).is_ok_and(|bytes| page::is_ours(&bytes)) {
        let help = Some("name another file, or remove this one".into());
        return Err(InputError { message: "it is there already, and is no report".into(), help });
    }
    write(path, page)
}

/// Writes a text, whole or not at all. The directory has to be there: who mistypes a path should hear of it.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), InputError> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
        let message = format!("there is no directory `{}`", directory.display());
        return Err(InputError { message, help: Some(format!("make it first: `mkdir -p {}`", directory.display())) });
    }
    explore::write_file(path, text).map_err(|error| InputError::new(format!("cannot be written: {error}")))
}

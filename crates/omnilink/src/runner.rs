//! A command for a specification of your own: checks traces, explains, and writes pages.
//!
//! The command `omnilink` has built-in specifications and TLA+. A specification in Rust exists only in the program that
//! it is compiled into, which becomes such a command with one line:
//!
//! ```no_run
//! # struct Tickets;
//! # impl omnilink::Object for Tickets {
//! #     type State = i64;
//! #     fn initial(&self) -> i64 { 0 }
//! #     fn apply(&self, _: &mut i64, _: &omnilink::Call) -> omnilink::Answer { omnilink::Answer::Unknown }
//! # }
//! fn main() -> std::process::ExitCode {
//!     omnilink::runner::main("tickets", || Tickets)
//! }
//! ```
//!
//! `cargo run -- run.jsonl other/ --page why.html` then prints what `omnilink check` prints, and ends with the same codes: 0
//! accepted, 1 rejected, 2 wrong input, 3 inconclusive, 4 nothing to check.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use omnilink_judge::{Case, CheckOptions, Failed, InputError, Judge, Recording, ShowOptions, Unlimited, input};
use omnilink_models::{Object, Sequential};
use omnilink_page::{About, Encoder, Packing};
use omnilink_report::{Detail, Report, Verdict};

/// Checks the traces named on the command line against an object.
pub fn main<O: Object + 'static>(name: &str, object: impl Fn() -> O + Send + Sync + 'static) -> ExitCode {
    match run(name, object, std::env::args().skip(1), &mut io::stdout()) {
        Ok(code) => code.into(),
        Err(message) => {
            // The exit code reports it too.
            let _ = writeln!(io::stderr(), "error: {message}");
            WRONG.into()
        }
    }
}

const WRONG: u8 = 2;

/// The same for given command-line words: returns the worst exit code, or the error in the words or in a trace.
///
/// # Errors
///
/// If an option is unrecognized, if a trace cannot be checked, or if the output cannot be written.
pub fn run<O: Object + 'static>(
    name: &str,
    object: impl Fn() -> O + Send + Sync + 'static,
    words: impl IntoIterator<Item = String>,
    out: &mut dyn Write,
) -> Result<u8, String> {
    let judge = Judge::of_model(name, move || Sequential::new(object()), CheckOptions::default());
    let (mut paths, mut page, mut words) = (Vec::new(), None, words.into_iter());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--page" => page = Some(PathBuf::from(words.next().ok_or("`--page` needs a file")?)),
            option if option.starts_with("--") => {
                return Err(format!("unrecognized option `{option}` (expected `--page FILE`)"));
            }
            path => paths.push(PathBuf::from(path)),
        }
    }
    let mut recordings = Vec::new();
    for path in &paths {
        recordings.extend(input::recordings(path).map_err(|error| said(path, &error))?);
    }
    if page.is_some() && recordings.len() != 1 {
        return Err(format!("expected one trace for a page, found {}", recordings.len()));
    }
    let mut worst = None;
    for path in recordings {
        let recording = Recording::at(&path, None);
        let label = path.display().to_string();
        let case = &mut Case { recording: &recording, label: &label, witness: None, limits: &Unlimited };
        let shown = judge.show(case, &ShowOptions::default()).map_err(|failed| match failed {
            Failed::Input(error) => said(&path, &error),
            Failed::Stopped(stop) => format!("{label}: {stop}"),
            Failed::Spec(_) => format!("{label}: the specification is wrong"),
        })?;
        let text = omnilink_report::text(&shown.report, Detail::Full, false);
        out.write_all(text.as_bytes()).map_err(|error| format!("standard output: {error}"))?;
        if let Some(page) = &page {
            let about = About { tool: concat!("OmniLink ", env!("CARGO_PKG_VERSION")), ..About::default() };
            let parts = Encoder::new(&shown.report, Some(&shown.timeline), Packing::Small).parts(&about);
            let text = omnilink_page::file(&parts, &text);
            std::fs::write(page, text).map_err(|error| said(page, &InputError::new(error)))?;
        }
        worst = worst.max(Some(severity(&shown.report)));
    }
    worst.map(|(_, code)| code).ok_or_else(|| "no traces given: pass files or directories".to_owned())
}

/// The rank of a verdict, and its exit code.
fn severity(report: &Report) -> (u8, u8) {
    match report.verdict {
        _ if report.history.operations == Some(0) => (1, 4),
        Verdict::Accepted => (0, 0),
        Verdict::Inconclusive { .. } => (2, 3),
        Verdict::Rejected(_) => (3, 1),
    }
}

fn said(path: &Path, error: &InputError) -> String {
    let help = error.help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
    format!("{}: {}{help}", path.display(), error.message)
}

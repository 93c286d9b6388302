//! The error for numbers and texts with the same digits, with the lines of both.

use models::check::Error;
use models::digits::{self, Mixed};
use report::clean;

use crate::input::InputError;
use crate::recording::Recording;

/// The error in an input, with lines and help if it is about digits.
pub(crate) fn refused(error: Error, recording: Option<&Recording>, spec: &str) -> InputError {
    let Error::Mixed(Mixed { number, text, .. }) = &error else { return error.into() };
    let mut message = error.to_string();
    let lines = recording.map(|recording| recording.lines_of(&[number, text])).unwrap_or_default();
    if let [Some(number), Some(text)] = *lines {
        message = format!("{message} (lines {number} and {text})");
    } else if let Some(line) = lines.into_iter().flatten().next() {
        message = format!("{message} (line {line})");
    }
    let separator = if spec.contains(':') { ',' } else { ':' };
    let help = format!(
        "record both in one way: JSON objects have text as keys, `{{\"#fun\": [[7, 1]]}}` has numbers; or make them one with \
         `--spec {spec}{separator}{}`",
        digits::OPTION.0
    );
    InputError { message: clean(&message), help: Some(clean(&help)) }
}

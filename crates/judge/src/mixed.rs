//! Errors in operations, with their lines: those that do not fit a specification in Rust, and numbers and texts with the
//! same digits.

use omnilink_models::check::Error;
use omnilink_models::digits::{self, Mixed};
use omnilink_report::clean;

use crate::input::InputError;
use crate::recording::Recording;

/// The error in an input, with the lines of its operations, as far as there is a file, and with help if it is about digits.
pub(crate) fn refused(error: Error, recording: Option<&Recording>, spec: &str) -> InputError {
    let lines_of = |names: &[&str]| recording.map(|recording| recording.lines_of(names)).unwrap_or_default();
    let message = match &error {
        Error::Mixed(Mixed { number, text, .. }) => match *lines_of(&[number, text]) {
            [Some(number), Some(text)] => format!("{error} (lines {number} and {text})"),
            [Some(line), None] | [None, Some(line)] => format!("{error} (line {line})"),
            _ => error.to_string(),
        },
        Error::BadCall { op, .. } => match *lines_of(&[op]) {
            [Some(line)] => return InputError::new(clean(&format!("line {line}: {error}"))),
            _ => return error.into(),
        },
        _ => return error.into(),
    };
    let separator = if spec.contains(':') { ',' } else { ':' };
    let help = format!(
        "record both in one way: JSON objects have text as keys, `{{\"#fun\": [[7, 1]]}}` has numbers; or make them one with \
         `--spec {spec}{separator}{}`",
        digits::OPTION.0
    );
    InputError { message: clean(&message), help: Some(clean(&help)) }
}

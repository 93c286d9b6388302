//! `omnilink init --log`: a first mapping of a log to a specification.

use std::path::Path;

use omnilink_judge::input::InputError;

use crate::exit::Exit;
use crate::outcome::print_spec_error;
use crate::terminal::complain;

/// Prints the mapping. The header is the number of lines at the beginning of each file that are not events.
pub(crate) fn infer(spec: &Path, log: &Path, header: usize) -> Exit {
    match omnilink_judge::infer(spec, log, header) {
        Ok(text) => {
            out!("{text}");
            Exit::Accepted
        }
        Err(omnilink_judge::Failed::Input(error)) => complain(&log.display().to_string(), &error),
        Err(omnilink_judge::Failed::Stopped(stop)) => complain(&log.display().to_string(), &InputError::new(stop)),
        Err(failed) => print_spec_error(&failed),
    }
}

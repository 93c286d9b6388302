//! Waiting for what comes from outside of the process.

/// Waits for a moment, if somebody waits for something from outside. False if that was long enough.
pub(crate) fn pause() -> bool {
    false
}

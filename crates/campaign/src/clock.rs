//! The wall clock.

use std::time::{Duration, SystemTime};

/// The time since 1970.
pub fn now() -> Duration {
    // A clock before 1970 is as good as 1970 for a name and a seed.
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

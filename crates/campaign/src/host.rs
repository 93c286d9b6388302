//! The interface to the program that runs a campaign.

use std::ffi::OsString;
use std::time::Duration;

use omnilink_explore::Kit;
use omnilink_explore::instrument::cargo::Said;
use omnilink_judge::{Case, Failed, Judge, Limits, Recording};
use omnilink_report::Report;

/// The interface to the program that runs a campaign.
#[derive(Debug, Clone, Copy)]
pub struct Host {
    /// Whether the user asked to stop.
    pub is_interrupted: fn() -> bool,
    /// Creates the limits of one check, given its timeout and label.
    pub limits: fn(timeout: Option<Duration>, label: &str) -> Box<dyn Limits>,
    /// Returns the tools to build controlled harnesses, or the reason why there are none.
    pub tools: fn() -> Result<Tools, String>,
}

/// The tools to build controlled harnesses.
#[derive(Debug)]
pub struct Tools {
    /// The runtime, and wrappers for compilers.
    pub kit: Kit,
    /// The search path for programs.
    pub path: OsString,
    /// The Rust flags of the environment.
    pub said: Said,
}

impl Host {
    /// Checks a trace.
    pub fn check(
        &self,
        judge: &Judge,
        recording: &Recording,
        label: &str,
        timeout: Option<Duration>,
    ) -> Result<Report, Failed> {
        let limits = (self.limits)(timeout, label);
        judge.report(&mut Case { recording, label, witness: None, limits: &*limits })
    }
}

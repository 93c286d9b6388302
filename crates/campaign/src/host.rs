//! What a campaign needs from the program that it is part of.

use std::ffi::OsString;
use std::time::Duration;

use explore::Kit;
use explore::instrument::cargo::Said;
use judge::{Case, Failed, Judge, Limits, Recording};
use report::Report;

/// What a campaign needs from the program that it is part of.
#[derive(Debug, Clone, Copy)]
pub struct Host {
    /// Whether somebody wants to stop.
    pub is_interrupted: fn() -> bool,
    /// What limits one check: how long it may take, and what it is called.
    pub limits: fn(timeout: Option<Duration>, label: &str) -> Box<dyn Limits>,
    /// What harnesses are built with so that they can be controlled, or why there is nothing.
    pub tools: fn() -> Result<Tools, String>,
}

/// What harnesses are built with so that they can be controlled.
#[derive(Debug)]
pub struct Tools {
    /// The runtime, and compilers that know it.
    pub kit: Kit,
    /// Where programs are looked for.
    pub path: OsString,
    /// What the environment says to compilers of Rust.
    pub said: Said,
}

impl Host {
    /// Checks a recording.
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

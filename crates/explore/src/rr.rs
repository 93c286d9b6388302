//! Whether `rr` can record and replay on this machine, determined by trying it.
//!
//! Neither a table of processors nor the kernel's settings tell: a virtual machine with the right processor may lack
//! the counters. So a tiny program is recorded and replayed.

use std::path::Path;
use std::process::{Command, Stdio};

/// Records and replays a trivial program. Returns the reason if that fails.
pub fn probe(rr: &str, scratch: &Path) -> Result<(), String> {
    let trace = scratch.join("rr-probe");
    let trace = trace.to_string_lossy();
    attempt(rr, &["record", "-n", "-o", &trace, "true"]).map_err(|why| format!("cannot record: {why}"))?;
    attempt(rr, &["replay", "-a", &trace]).map_err(|why| format!("cannot replay: {why}"))
}

/// The words to put before a command to record it, with `rr` scheduling its threads at random.
pub fn record(rr: &str, into: &Path) -> Vec<String> {
    let into = into.to_string_lossy().into_owned();
    [rr, "record", "--chaos", "-o", &into].map(str::to_owned).into()
}

/// `rr` hangs if the counters are missing, so it is stopped after this many seconds.
const PATIENCE: &str = "10";

fn attempt(rr: &str, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", PATIENCE, rr]).args(arguments).stdin(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let telling =
        lines().find(|line| line.contains("FATAL") || line.contains("failed")).or_else(|| lines().next_back());
    Err(telling.map_or_else(|| format!("ended with {}", output.status), str::to_owned))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn check(script: &str) -> Result<(), String> {
        let directory = tempfile::tempdir().unwrap();
        let rr = directory.path().join("rr");
        fs::write(&rr, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&rr, fs::Permissions::from_mode(0o755)).unwrap();
        probe(&rr.to_string_lossy(), directory.path())
    }

    #[test]
    fn a_probe_needs_both_recording_and_replay() {
        assert_eq!(check("exit 0"), Ok(()));
        assert_eq!(check("test $1 = record"), Err("cannot replay: ended with exit status: 1".into()));
        let words = "echo starting >&2; echo '[FATAL a.h:1] CPU type 7 unknown' >&2; echo bye >&2; exit 1";
        assert_eq!(check(words), Err("cannot record: [FATAL a.h:1] CPU type 7 unknown".into()));
        let missing = probe("no-such-rr", Path::new("."));
        assert!(missing.unwrap_err().contains("no-such-rr"));
    }
}

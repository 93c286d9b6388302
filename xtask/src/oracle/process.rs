//! Runs a process with a time limit.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// What a process wrote.
pub(super) struct Written {
    /// To its standard output.
    pub(super) output: String,
    /// To its standard error.
    pub(super) errors: String,
}

/// Runs a command, and returns what it wrote, or none if it had to be ended after `limit`.
///
/// Both outputs go through files at `scratch`, so no pipe can fill up and hold the process.
pub(super) fn run(command: &mut Command, limit: Duration, scratch: &Path) -> Result<Option<Written>> {
    let (output, errors) = (scratch.with_extension("out"), scratch.with_extension("err"));
    command.stdin(Stdio::null()).stdout(File::create(&output)?).stderr(File::create(&errors)?);
    let start = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot run {}", command.get_program().display()))?;
    let has_ended = loop {
        if child.try_wait()?.is_some() {
            break true;
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            break false;
        }
        thread::sleep(Duration::from_millis(10));
    };
    let read = |path: &Path| -> Result<String> {
        let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
        fs::remove_file(path)?;
        Ok(text)
    };
    let written = Written { output: read(&output)?, errors: read(&errors)? };
    Ok(has_ended.then_some(written))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_ended_in_time() {
        let scratch = std::env::temp_dir().join(format!("omnilink-oracle-{}", std::process::id()));
        let run = |script: &str| {
            let mut command = Command::new("sh");
            run(command.args(["-c", script]), Duration::from_millis(200), &scratch).expect("sh runs")
        };
        assert_eq!(run("echo said").expect("it ends").output, "said\n");
        assert!(run("sleep 5").is_none());
    }
}

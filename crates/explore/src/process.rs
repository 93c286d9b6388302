//! Process groups that end together, and how a process ended.
//!
//! Each process is started in its own process group, so that its descendants end with it unless they change their
//! group.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// At most this many bytes of a process's last output are kept.
const LAST_WORDS: u64 = 8000;

/// A process and its descendants, while they stay in its group. They are killed when this is dropped.
pub(crate) struct Group {
    leader: Child,
    is_over: bool,
}

/// Why a process was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// It exceeded its time limit.
    TimedOut,
    /// The caller asked for it.
    Interrupted,
}

impl Group {
    /// Starts a process, with output to a file and no input.
    pub(crate) fn start(command: &mut Command, said: File) -> io::Result<Group> {
        command.process_group(0).stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said);
        Ok(Group { leader: command.spawn()?, is_over: false })
    }

    /// Waits until the leader has ended. Returns the reason if it had to be stopped before.
    pub(crate) fn wait(&self, until: Instant, is_interrupted: &dyn Fn() -> bool) -> io::Result<Option<Stopped>> {
        let mut pause = Duration::from_micros(200);
        // The process is not reaped here: until it is, its process id, which is also the group's id, is not reused.
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        loop {
            if waitid(WaitId::Pid(self.pid()), look)?.is_some() {
                return Ok(None);
            }
            if Instant::now() >= until {
                return Ok(Some(Stopped::TimedOut));
            }
            if is_interrupted() {
                return Ok(Some(Stopped::Interrupted));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
    }

    /// Sends a signal to the group. Processes that have ended are ignored.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.pid(), signal);
    }

    /// Kills the group and returns the leader's exit status.
    pub(crate) fn end(&mut self) -> io::Result<ExitStatus> {
        self.is_over = true;
        // Usually the group is already empty.
        let _ = kill_process_group(self.pid(), Signal::KILL);
        self.leader.wait()
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.leader)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_over {
            // The caller reports why there is no run.
            let _ = self.end();
        }
    }
}

/// How a process ended, as text.
pub(crate) fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("killed by {}", signal_name(signal)),
        (None, None) => "ended in an unknown way".into(),
    }
}

fn signal_name(signal: i32) -> String {
    const NAMES: [(i32, &str); 8] = [
        (4, "SIGILL"),
        (6, "SIGABRT"),
        (7, "SIGBUS"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (15, "SIGTERM"),
    ];
    let known = NAMES.iter().find(|(number, _)| *number == signal);
    known.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}

/// The end of an output file, from an offset on.
pub(crate) fn last_words(path: &Path, from: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let from = from.max(file.metadata()?.len().saturating_sub(LAST_WORDS));
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// Adds the name of the command to the error.
pub(crate) fn named(command: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot run `{command}`: {error}"))
}

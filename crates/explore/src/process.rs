//! Process groups that end together, and how a process ended.
//!
//! Each process is started in its own process group, so that its descendants end with it unless they change their
//! group.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::processor::Stopwatch;

/// At most this many bytes of a process's last output are kept.
const LAST_WORDS: usize = 8000;

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

    /// Waits until the leader has ended. Returns the reason if it had to be stopped before. Time in which the group waits
    /// for a core does not count.
    pub(crate) fn wait(&self, limit: Duration, is_interrupted: &dyn Fn() -> bool) -> io::Result<Option<Stopped>> {
        let mut watch = Stopwatch::start(limit);
        let mut pause = Duration::from_micros(200);
        // The process is not reaped here: until it is, its process id, which is also the group's id, is not reused.
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        loop {
            if waitid(WaitId::Pid(self.pid()), look)?.is_some() {
                return Ok(None);
            }
            if watch.is_over(self.pid()) {
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

/// The output of a process without input. If the user asks to stop, it and its descendants are killed.
pub(crate) fn output_of(command: &mut Command, is_interrupted: &dyn Fn() -> bool) -> io::Result<Output> {
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn()?;
    let group = Pid::from_child(&child);
    let waiting = std::thread::spawn(move || child.wait_with_output());
    while !waiting.is_finished() {
        if is_interrupted() {
            let _ = kill_process_group(group, Signal::KILL);
            return Err(io::ErrorKind::Interrupted.into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    waiting.join().unwrap_or_else(|_| Err(io::Error::other("its output could not be read")))
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

/// At most this many bytes are searched for the message of a panic, which a backtrace of any length may follow.
const SEARCHED: u64 = 1 << 20;

/// The end of an output file, from an offset on. If it does not fit, the first message of a panic is kept before it.
pub(crate) fn last_words(path: &Path, from: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let from = from.max(file.metadata()?.len().saturating_sub(SEARCHED));
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(shortened(String::from_utf8_lossy(&bytes).trim(), LAST_WORDS))
}

/// The last `most` bytes of a text; if a panic is told before them, half of it is its message.
fn shortened(text: &str, most: usize) -> String {
    let boundary = |at: usize| (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let end = |bytes: usize| boundary(text.len().saturating_sub(bytes));
    let panicked = text.find(" panicked at ").map(|at| text[..at].rfind('\n').map_or(0, |line| line + 1));
    match panicked {
        Some(at) if at < end(most) => {
            let message = &text[at..boundary((at + most / 2).min(text.len()))];
            format!("{message}\n...\n{}", &text[end(most / 2)..])
        }
        _ => text[end(most)..].to_owned(),
    }
}

/// Adds the name of the command to the error.
pub(crate) fn named(command: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot run `{command}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_before_a_backtrace_is_kept() {
        let said = format!("begins\nthread 'main' panicked at a.rs:1:2:\nlost{}\nends", "\n  frame".repeat(30));
        assert_eq!(shortened(&said, 1000), said);
        let shown = "thread 'main' panicked at a.rs:1:2:\nlost\n  frame\n \n...\nframe\n  frame\n  frame\n  frame\n  frame\n  \
                     frame\nends";
        assert_eq!(shortened(&said, 100), shown);
        assert_eq!(shortened("äbcd", 4), "bcd");
    }
}

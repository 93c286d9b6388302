//! Processes that end together, and what there is to say about one that has ended.
//!
//! A process that is started here has a process group of its own, so that whatever it started, and did not put into
//! another one, ends with it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// So many bytes of what a process says last are kept.
const LAST_WORDS: u64 = 2000;

/// A process and whatever it started, as long as that stays in its group. It ends when this is dropped.
pub(crate) struct Group {
    leader: Child,
    is_over: bool,
}

/// Why a process was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// Its time was over.
    TimedOut,
    /// Somebody asked for it.
    Interrupted,
}

impl Group {
    /// Starts it. What it says goes into a file, and nobody says anything to it.
    pub(crate) fn start(command: &mut Command, said: File) -> io::Result<Group> {
        command.process_group(0).stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said);
        Ok(Group { leader: command.spawn()?, is_over: false })
    }

    /// Waits until the leader has ended. If it has to be stopped before, says why.
    pub(crate) fn wait(&self, until: Instant, is_interrupted: &dyn Fn() -> bool) -> io::Result<Option<Stopped>> {
        let mut pause = Duration::from_micros(200);
        // It is only looked at: as long as nobody has waited for it, its number, which is that of the group, is not
        // given to anybody else.
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

    /// Sends a signal to all of it. Those that are gone need none.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.pid(), signal);
    }

    /// Ends all of it, and says how the leader ended.
    pub(crate) fn end(&mut self) -> io::Result<ExitStatus> {
        self.is_over = true;
        // There is nobody left to end, mostly.
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
            // Somebody else reports why there is no run.
            let _ = self.end();
        }
    }
}

/// How a process ended, in words.
pub(crate) fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with code {code}"),
        (None, Some(signal)) => format!("it was ended by {}", signal_name(signal)),
        (None, None) => "it ended in an unknown way".into(),
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

/// The last that was said into a file, from a place in it on.
pub(crate) fn last_words(path: &Path, from: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let from = from.max(file.metadata()?.len().saturating_sub(LAST_WORDS));
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// Names the command that cannot be run.
pub(crate) fn named(command: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{command}` cannot be run: {error}"))
}

//! The state of a node that survives a restart: term, vote, commit index and entries.
//!
//! The whole state is one small file that a rename replaces, so a node killed at any time leaves the state before or
//! after a change. SIGKILL does not lose what the kernel has, so nothing is synced.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use raft::prelude::{Entry, HardState};
use serde_json::{Value, json};

pub struct Disk {
    path: PathBuf,
    /// How often the node was started before.
    pub starts: u64,
    pub hard: HardState,
    pub entries: Vec<Entry>,
    forgets_vote: bool,
}

impl Disk {
    /// Reads the state at `path`, or begins an empty one, and counts this start.
    pub fn open(path: PathBuf, forgets_vote: bool) -> Result<Disk, Box<dyn Error>> {
        let mut disk = Disk { path, starts: 0, hard: HardState::default(), entries: Vec::new(), forgets_vote };
        if let Ok(text) = fs::read_to_string(&disk.path) {
            let state: Value = serde_json::from_str(&text)?;
            let number = |name: &str| state[name].as_u64().ok_or("the state of a node lacks a number");
            disk.starts = number("starts")? + 1;
            disk.hard.term = number("term")?;
            disk.hard.vote = number("vote")?;
            disk.hard.commit = number("commit")?;
            for (entry, index) in state["entries"].as_array().into_iter().flatten().zip(1..) {
                disk.entries.push(Entry {
                    index,
                    term: entry["term"].as_u64().ok_or("an entry lacks its term")?,
                    data: entry["value"].as_str().ok_or("an entry lacks its value")?.to_owned().into(),
                    ..Entry::default()
                });
            }
        }
        disk.save()?;
        Ok(disk)
    }

    /// Replaces the entries from the first of `entries` on.
    pub fn append(&mut self, entries: &[Entry]) {
        if let Some(first) = entries.first() {
            self.entries.truncate(first.index as usize - 1);
            self.entries.extend_from_slice(entries);
        }
    }

    pub fn save(&self) -> Result<(), Box<dyn Error>> {
        let entries: Vec<Value> = self.entries.iter().map(crate::trace::entry_json).collect();
        let state = json!({
            "starts": self.starts,
            "term": self.hard.term,
            "vote": if self.forgets_vote { 0 } else { self.hard.vote },
            "commit": self.hard.commit,
            "entries": entries,
        });
        let temporary = self.path.with_extension("new");
        fs::write(&temporary, state.to_string())?;
        fs::rename(&temporary, &self.path)?;
        Ok(())
    }
}

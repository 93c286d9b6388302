//! A directory in which a group of monitors shares its states, for logs without a store.
//!
//! An entry is a file with the name of the entry: a line with its revision, its length and its checksum, and then its
//! value. It is replaced as a whole, so it can be read at any time. Changes hold an exclusive lock of the file `.lock`.
//! Revisions of all entries are drawn from one counter, `.revision`, which is stored before the entry: no revision is
//! used twice, not even after an entry was removed. Names of entries do not begin with a dot.
//!
//! Monitors on several machines can share a directory of a file system on which locks and renames are atomic for all of
//! them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flate2::Crc;
use omnilink_monitor::share::{Entry, Store, StoreError};
use rustix::fs::{FlockOperation, flock};

use crate::state;

/// How long to wait for the lock. A change holds it for the time that a disk needs.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often to try to get the lock.
const RETRY: Duration = Duration::from_millis(2);

const LOCK: &str = ".lock";
const REVISION: &str = ".revision";
const NEW: &str = ".new";

/// A store of a group in a directory.
pub struct DirectoryStore {
    directory: PathBuf,
    patience: Duration,
}

impl DirectoryStore {
    /// Creates the directory if it does not exist.
    pub fn open(directory: &Path) -> io::Result<DirectoryStore> {
        fs::create_dir_all(directory)?;
        Ok(DirectoryStore { directory: directory.to_owned(), patience: PATIENCE })
    }

    /// Makes a change that no other monitor and no other thread interrupts.
    fn change<T>(&self, act: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        let named = |error: io::Error| self.wrong(LOCK, error);
        let path = self.directory.join(LOCK);
        // Opened for each change: threads that share an open file share its lock.
        let lock = File::options().create(true).truncate(false).write(true).open(path).map_err(named)?;
        let began = Instant::now();
        loop {
            match flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(io::Error::from) {
                Ok(()) => return act(),
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(named(error)),
                Err(_) if began.elapsed() > self.patience => {
                    return Err(self.wrong(LOCK, "another monitor holds the lock"));
                }
                Err(_) => std::thread::sleep(RETRY),
            }
        }
    }

    fn read(&self, name: &str) -> Result<Option<Entry>, StoreError> {
        match fs::read(self.directory.join(name)) {
            Ok(bytes) => decode(&bytes).map(Some).ok_or_else(|| self.wrong(name, "the file is damaged")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.wrong(name, error)),
        }
    }

    fn replace(&self, name: &str, entry: &Entry) -> io::Result<()> {
        let (path, new) = (self.directory.join(name), self.directory.join(NEW));
        state::replace(&path, &new, &[header(entry).as_bytes(), &entry.value])
    }

    fn synchronize(&self) -> io::Result<()> {
        File::open(&self.directory)?.sync_all()
    }

    fn wrong(&self, name: &str, error: impl std::fmt::Display) -> StoreError {
        StoreError(format!("{}: {error}", self.directory.join(name).display()))
    }

    /// Refuses names of files outside the directory, and those of files that are not entries.
    fn check_name(&self, name: &str) -> Result<(), StoreError> {
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if !name.is_empty() && name.len() < 256 && !name.starts_with('.') && name.bytes().all(is_known) {
            return Ok(());
        }
        Err(StoreError(format!("{}: invalid name of an entry: `{name}`", self.directory.display())))
    }
}

impl Store for DirectoryStore {
    fn get(&self, name: &str) -> Result<Option<Entry>, StoreError> {
        self.check_name(name)?;
        self.read(name)
    }

    fn put(&self, name: &str, value: &[u8], revision: Option<u64>) -> Result<Option<u64>, StoreError> {
        self.check_name(name)?;
        self.change(|| {
            let current = self.read(name)?.map(|entry| entry.revision);
            if current != revision {
                return Ok(None);
            }
            let counted = self.read(REVISION)?.map(|entry| entry.revision);
            // The counter is behind if the machine failed before the directory was synchronized.
            let next = counted.max(current).unwrap_or(0) + 1;
            let written = self
                .replace(REVISION, &Entry { value: Vec::new(), revision: next })
                .and_then(|()| self.replace(name, &Entry { value: value.to_owned(), revision: next }))
                .and_then(|()| self.synchronize());
            written.map(|()| Some(next)).map_err(|error| self.wrong(name, error))
        })
    }

    fn delete(&self, name: &str) -> Result<(), StoreError> {
        self.check_name(name)?;
        self.change(|| match fs::remove_file(self.directory.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.wrong(name, error)),
            _ => Ok(()),
        })
    }

    fn names(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let wrong = |error: io::Error| self.wrong("", error);
        let mut names = Vec::new();
        for file in fs::read_dir(&self.directory).map_err(wrong)? {
            let name = file.map_err(wrong)?.file_name().to_string_lossy().into_owned();
            if name.starts_with(prefix) && self.check_name(&name).is_ok() {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// A file has any size.
    fn most_bytes(&self) -> usize {
        usize::MAX
    }
}

fn header(entry: &Entry) -> String {
    let mut sum = Crc::new();
    sum.update(&entry.revision.to_le_bytes());
    sum.update(&entry.value);
    format!("omnilink.entry/1 {} {} {:08x}\n", entry.revision, entry.value.len(), sum.sum())
}

/// The entry that a file holds; `None` if it is damaged.
fn decode(bytes: &[u8]) -> Option<Entry> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (line, value) = bytes.split_at(end + 1);
    let line = std::str::from_utf8(line).ok()?;
    let entry = Entry { value: value.to_owned(), revision: line.split(' ').nth(1)?.parse().ok()? };
    // There is one way to write an entry.
    (header(&entry) == line).then_some(entry)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tempfile::TempDir;

    use super::*;

    fn open() -> (TempDir, DirectoryStore) {
        let directory = tempfile::tempdir().expect("a directory");
        let store = DirectoryStore::open(&directory.path().join("group")).expect("a store");
        (directory, store)
    }

    fn value(store: &DirectoryStore, name: &str) -> Option<Vec<u8>> {
        store.get(name).expect("an answer").map(|entry| entry.value)
    }

    #[test]
    fn an_entry_is_replaced_only_by_its_revision() {
        let (_directory, store) = open();
        assert_eq!(store.get("a"), Ok(None));
        assert_eq!(store.put("a", b"1", Some(1)), Ok(None));
        let first = store.put("a", b"1", None).expect("an answer").expect("a revision");
        assert_eq!(store.put("a", b"2", None), Ok(None));
        assert_eq!(store.get("a"), Ok(Some(Entry { value: b"1".to_vec(), revision: first })));
        let second = store.put("a", b"2\nof two lines", Some(first)).expect("an answer").expect("a revision");
        assert!(second > first);
        assert_eq!(store.put("a", b"3", Some(first)), Ok(None));
        assert_eq!(value(&store, "a"), Some(b"2\nof two lines".to_vec()));
        // A revision is not used again.
        assert_eq!((store.delete("a"), store.delete("a")), (Ok(()), Ok(())));
        assert_eq!(store.put("a", b"4", Some(second)), Ok(None));
        let third = store.put("a", b"", None).expect("an answer").expect("a revision");
        assert!(third > second);
        assert_eq!(value(&store, "a"), Some(Vec::new()));
        store.put("ab", b"", None).expect("an answer").expect("a revision");
        store.put("b", b"", None).expect("an answer").expect("a revision");
        assert_eq!(store.names("a"), Ok(vec!["a".to_owned(), "ab".to_owned()]));
        assert_eq!(store.names("").map(|names| names.len()), Ok(3));
    }

    #[test]
    fn two_instances_count_together() {
        let (_directory, store) = open();
        store.put("count", b"0", None).expect("an answer").expect("a revision");
        let revisions: Vec<u64> = std::thread::scope(|scope| {
            let count = || {
                let store = DirectoryStore::open(&store.directory).expect("a store");
                let mut revisions = Vec::new();
                while revisions.len() < 25 {
                    let entry = store.get("count").expect("an answer").expect("an entry");
                    let number: u64 = String::from_utf8(entry.value).expect("text").parse().expect("a number");
                    let next = (number + 1).to_string();
                    revisions.extend(store.put("count", next.as_bytes(), Some(entry.revision)).expect("an answer"));
                }
                revisions
            };
            let threads = [scope.spawn(count), scope.spawn(count)];
            threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
        });
        assert_eq!(value(&store, "count"), Some(b"50".to_vec()));
        assert_eq!(revisions.iter().collect::<BTreeSet<_>>().len(), 50);
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        let (_directory, store) = open();
        let revision = store.put("a", b"the value", None).expect("an answer").expect("a revision");
        let path = store.directory.join("a");
        let whole = fs::read(&path).expect("a file");
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).expect("a file");
            let message = format!("{}: the file is damaged", path.display());
            assert_eq!(store.get("a"), Err(StoreError(message.clone())), "{length} bytes");
            assert_eq!(store.put("a", b"", Some(revision)), Err(StoreError(message)));
        }
        let mut changed = whole.clone();
        *changed.last_mut().expect("a byte") = 0;
        fs::write(&path, changed).expect("a file");
        assert!(store.get("a").is_err());
        fs::write(&path, whole).expect("a file");
        assert_eq!(value(&store, "a"), Some(b"the value".to_vec()));
    }

    #[test]
    fn names_stay_inside() {
        let (_directory, store) = open();
        for name in ["", ".", "..", "../a", "/a", "a/b", "a\\b", ".lock", ".revision", "a\0", "ä", &"a".repeat(256)] {
            assert!(store.get(name).is_err(), "{name}");
            assert!(store.put(name, b"", None).is_err(), "{name}");
            assert!(store.delete(name).is_err(), "{name}");
        }
        assert_eq!(store.names(""), Ok(vec![]));
    }

    #[test]
    fn a_lock_that_is_never_released_is_an_error() {
        let (_directory, store) = open();
        store.put("a", b"1", None).expect("an answer").expect("a revision");
        let store = DirectoryStore { patience: Duration::from_millis(20), ..store };
        let lock = File::open(store.directory.join(LOCK)).expect("a file");
        flock(&lock, FlockOperation::LockExclusive).expect("a lock");
        assert!(store.put("a", b"2", Some(1)).expect_err("a lock").0.ends_with("another monitor holds the lock"));
        // Reading needs no lock.
        assert_eq!(value(&store, "a"), Some(b"1".to_vec()));
        drop(lock);
        assert_eq!(store.put("a", b"2", Some(1)), Ok(Some(2)));
    }
}

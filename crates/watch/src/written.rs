//! Follows a file of JSON Lines while a recorder writes to it.
//!
//! A recorder writes the line of an operation when it begins, and overwrites it when it ends, so that a killed program
//! loses nothing. The source takes an operation when its line is final: it says how the operation ended, or the process has
//! continued, or it has not changed for so long that its outcome counts as unknown. Until then its process counts as busy.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use omnilink_history::format::json::Json;
use omnilink_isolation::Status;
use omnilink_monitor::{Line, Lines};

/// The maximum size of a line, in bytes. A longer line is unreadable.
pub(crate) const MOST_BYTES: usize = 16 << 20;

/// The number of bytes to read at once.
const CHUNK: usize = 1 << 16;

/// A file that grows.
pub(crate) struct Written {
    file: File,
    lines: Lines,
    /// The place behind the last whole line.
    offset: u64,
    /// The number of that line.
    number: u64,
    /// Lines of operations that were not over when the state was stored, by place and length.
    unread: Vec<(u64, u64)>,
    /// Lines of operations that are not over, by place.
    open: BTreeMap<u64, Open>,
    /// The time after which an operation that is not over is of unknown outcome.
    patience: Duration,
}

/// The line of an operation or a transaction that is not over.
struct Open {
    text: Vec<u8>,
    line: Line,
    since: Instant,
    said: Instant,
}

/// Lines, or the reasons why they are unreadable.
pub(crate) type Read = Vec<Result<Line, String>>;

impl Written {
    /// Opens the file at this place, with the earlier lines of operations that were not over, by place and length.
    pub(crate) fn open(path: &Path, offset: u64, open: &[(u64, u64)], patience: Duration) -> io::Result<Written> {
        let file = File::open(path)?;
        if file.metadata()?.len() < offset {
            let why = format!("it has fewer than the {offset} bytes that the stored state is about");
            return Err(io::Error::other(why));
        }
        let (lines, unread) = (Lines::default(), open.to_vec());
        Ok(Written { file, lines, offset, number: 0, unread, open: BTreeMap::new(), patience })
    }

    /// The place behind the last whole line, and the earlier lines of operations that are not over.
    pub(crate) fn position(&self) -> (u64, Vec<(u64, u64)>) {
        (self.offset, self.open.iter().map(|(place, open)| (*place, open.text.len() as u64)).collect())
    }

    /// Reads new and changed lines.
    pub(crate) fn poll(&mut self) -> io::Result<Read> {
        let mut read = Vec::new();
        for (place, length) in std::mem::take(&mut self.unread) {
            let text = self.at(place, usize::try_from(length).unwrap_or(MOST_BYTES).min(MOST_BYTES))?;
            self.take(place, &text, &mut read);
        }
        self.look_again(&mut read)?;
        let mut chunk = self.at(self.offset, CHUNK)?;
        // The line is longer than a chunk.
        while !chunk.contains(&b'\n') && chunk.len() >= CHUNK && chunk.len() <= MOST_BYTES {
            chunk = self.at(self.offset, chunk.len() * 2)?;
        }
        let mut rest = &chunk[..];
        while let Some(length) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(length);
            let place = self.offset;
            self.offset += length as u64 + 1;
            self.number += 1;
            self.take(place, line, &mut read);
            rest = &after[1..];
        }
        if rest.len() > MOST_BYTES {
            return Err(io::Error::other(format!("a line has more than {MOST_BYTES} bytes")));
        }
        Ok(read)
    }

    /// Takes the operations that are not over as operations of unknown outcome.
    pub(crate) fn finish(&mut self) -> Read {
        std::mem::take(&mut self.open).into_values().map(|open| Ok(open.line)).collect()
    }

    /// Takes a line at this place.
    fn take(&mut self, place: u64, text: &[u8], read: &mut Read) {
        let line = std::str::from_utf8(text).map_err(|error| error.to_string());
        let line = line.and_then(|text| self.lines.read(text).map(|line| (is_open(&line, text), line)));
        let line = match line {
            Ok((_, Line::Nothing)) => return,
            Ok((is_open, line)) => {
                if let Some(process) = line.process() {
                    self.go_on(&process.clone(), place, read);
                }
                if let Some(said) = busy(&line).filter(|_| is_open) {
                    let (now, text) = (Instant::now(), text.to_owned());
                    self.open.insert(place, Open { text, line, since: now, said: now });
                    read.push(Ok(said));
                    return;
                }
                Ok(line)
            }
            Err(why) => Err(format!("line {}: {why}", self.number)),
        };
        read.push(line);
    }

    /// Takes the open operations of a process that has continued.
    fn go_on(&mut self, process: &Arc<str>, place: u64, read: &mut Read) {
        let is_before = |(at, open): &(&u64, &Open)| **at < place && open.line.process() == Some(process);
        let before: Vec<u64> = self.open.iter().filter(is_before).map(|(at, _)| *at).collect();
        let over = before.into_iter().filter_map(|at| self.open.remove(&at));
        read.extend(over.map(|open| Ok(open.line)));
    }

    /// Rereads the lines of operations that were not over.
    fn look_again(&mut self, read: &mut Read) -> io::Result<()> {
        let places: Vec<u64> = self.open.keys().copied().collect();
        for place in places {
            let Some(known) = self.open.get(&place) else { continue };
            let text = self.at(place, known.text.len())?;
            let known = self.open.get_mut(&place).expect("a line that is open");
            if text == known.text {
                if known.since.elapsed() >= self.patience {
                    read.extend(self.open.remove(&place).map(|open| Ok(open.line)));
                } else if known.said.elapsed() >= self.patience / 4 {
                    known.said = Instant::now();
                    read.extend(busy(&known.line).map(Ok));
                }
                continue;
            }
            // A line may be incomplete while the recorder writes it.
            let Ok(line) = std::str::from_utf8(&text) else { continue };
            match self.lines.read(line) {
                // The operation has another line.
                Ok(Line::Nothing) => drop(self.open.remove(&place)),
                Ok(now) if is_open(&now, line) => {
                    *known = Open { text, line: now, since: Instant::now(), said: Instant::now() };
                }
                Ok(line) => {
                    self.open.remove(&place);
                    read.push(Ok(line));
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Reads at most this many bytes at a place.
    fn at(&self, place: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let mut count = 0;
        while count < length {
            match self.file.read_at(&mut bytes[count..], place + count as u64) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(count);
        Ok(bytes)
    }
}

/// Whether the line of an operation or a transaction does not say how it ended, so that the recorder may replace it.
fn is_open(line: &Line, text: &str) -> bool {
    match line {
        Line::Operation(item) if item.end.is_unknown() => {
            let says =
                |json: &Json| ["end", "latest", "failed", "outcome"].iter().any(|name| json.field(name).is_some());
            Json::parse(text.trim()).is_ok_and(|json| !says(&json))
        }
        Line::Transaction(txn) => txn.status == Status::Unknown,
        Line::Operation(_) | Line::Progress { .. } | Line::Nothing => false,
    }
}

/// Reports the process of a line as busy: it starts nothing else before this ends.
fn busy(line: &Line) -> Option<Line> {
    let (process, time, operations) = match line {
        Line::Operation(item) => (&item.process, item.start, item.seq),
        Line::Transaction(txn) => (&txn.process, txn.snapshot.map_or(0, |stamp| stamp.physical), txn.seq),
        Line::Progress { .. } | Line::Nothing => return None,
    };
    Some(Line::Progress { process: process.clone(), time, operations, is_last: false })
}

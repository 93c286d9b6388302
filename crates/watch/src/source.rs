//! Sources of operations: a stream of lines such as standard input, a file or a directory to which recorders write, a
//! partition of a log, or received spans.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::hash::Hasher as _;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use fnv::FnvHasher;
use omnilink_history::format::binary::SegmentReader;
use omnilink_history::{End, Record};
use omnilink_monitor::share::{Log, Message};
use omnilink_monitor::{Item, Line, Lines};
use serde_json::{Value, json};

use crate::error::WatchError;
use crate::written::{MOST_BYTES, Written};

/// The maximum number of lines in a batch.
const BATCH: usize = 1024;

/// The time between two looks at a directory.
const POLL: Duration = Duration::from_millis(20);

/// The maximum number of waiting batches: few, so that a monitor that falls behind slows the source down instead of filling
/// the memory.
const MOST_BATCHES: usize = 16;

/// The received part of a source.
pub(crate) enum Came {
    /// Lines, or the reasons why they are unreadable.
    Lines(Vec<Result<Line, String>>),
    /// The source is no longer readable.
    Failed(String),
}

pub(crate) type Batch = (Came, Position);

/// The options for reading a source.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Whether lines begin after the stored position, not with the first line again.
    pub continues: bool,
    /// The time after which an open operation in a file counts as one of unknown outcome.
    pub patience: Duration,
    /// Whether the end of a file is the end of the input.
    pub is_complete: bool,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions { continues: false, patience: Duration::from_secs(10), is_complete: false }
    }
}

/// The position in a source: lines of a stream, bytes of a file, or operations of each segment.
#[derive(Clone, Debug, Default)]
pub struct Position {
    lines: u64,
    /// A digest of these lines, which shows whether the input is still the same.
    digest: u64,
    segments: BTreeMap<String, u64>,
    /// The place in a file, and the earlier lines of operations that are not over, by place and length.
    file: (u64, Vec<(u64, u64)>),
    /// The position in a partition of a log.
    message: Option<u64>,
}

/// A source, read by a thread of its own.
pub struct Source {
    /// Its name, for errors.
    pub(crate) name: String,
    batches: Receiver<Batch>,
    position: Position,
}

impl Source {
    /// Reads JSON Lines from a stream, such as standard input or a socket, after this position.
    pub fn lines(
        name: impl Into<String>,
        input: impl Read + Send + 'static,
        position: &Position,
        options: &ReadOptions,
    ) -> Source {
        let (from, continues) = (position.clone(), options.continues);
        Source::spawn(name.into(), position, move |sender| read_lines(input, from, continues, sender))
    }

    /// Reads a path after this position: follows a file of JSON Lines, or a directory to which recorders write segments,
    /// and reads a named pipe to its end.
    pub fn open(path: &Path, position: &Position, options: &ReadOptions) -> Result<Source, WatchError> {
        Source::open_path(path, position, options).map_err(|error| WatchError::at(path, error))
    }

    fn open_path(path: &Path, position: &Position, options: &ReadOptions) -> io::Result<Source> {
        let (name, from) = (path.display().to_string(), position.clone());
        let kind = std::fs::metadata(path)?.file_type();
        Ok(match () {
            () if kind.is_dir() => {
                std::fs::read_dir(path)?;
                let path = path.to_owned();
                Source::spawn(name, position, move |sender| follow(&path, from, sender))
            }
            () if kind.is_file() => {
                let written = Written::open(path, from.file.0, &from.file.1, options.patience)?;
                let is_complete = options.is_complete;
                Source::spawn(name, position, move |sender| follow_file(written, from, is_complete, sender))
            }
            () => Source::lines(name, File::open(path)?, position, options),
        })
    }

    /// Reads a partition of a log, after this position.
    pub(crate) fn follow(name: String, log: Arc<dyn Log>, partition: u32, position: &Position) -> Source {
        let from = position.clone();
        Source::spawn(name, position, move |sender| follow_log(&*log, partition, from, sender))
    }

    /// Makes a source that receives from other threads. It has no position: they must repeat everything after a restart.
    #[cfg(feature = "http")]
    pub(crate) fn channel(name: &str) -> (SyncSender<Batch>, Source) {
        let (sender, batches) = sync_channel(MOST_BATCHES);
        (sender, Source { name: name.to_owned(), batches, position: Position::default() })
    }

    fn spawn(name: String, position: &Position, read: impl FnOnce(&SyncSender<Batch>) + Send + 'static) -> Source {
        let (sender, batches) = sync_channel(MOST_BATCHES);
        std::thread::spawn(move || read(&sender));
        Source { name, batches, position: position.clone() }
    }

    /// Returns the part received within this time.
    pub(crate) fn receive(&mut self, within: Duration) -> Result<Came, RecvTimeoutError> {
        let (came, position) = self.batches.recv_timeout(within)?;
        self.position = position;
        Ok(came)
    }

    /// The position after all received parts.
    pub(crate) fn position(&self) -> Value {
        let Position { lines, digest, segments, file, message } = &self.position;
        json!({ "lines": lines, "digest": digest, "segments": segments, "file": file, "message": message })
    }
}

impl Position {
    pub(crate) fn read(value: &Value) -> Position {
        let segments = value["segments"].as_object().into_iter().flatten();
        let segments = segments.filter_map(|(name, count)| Some((name.clone(), count.as_u64()?)));
        let number = |name: &str| value[name].as_u64().unwrap_or(0);
        Position {
            lines: number("lines"),
            digest: number("digest"),
            segments: segments.collect(),
            file: serde_json::from_value(value["file"].clone()).unwrap_or_default(),
            message: value["message"].as_u64(),
        }
    }
}

/// Reads lines. Unless the input continues at the position, it begins again, and the lines before the position are skipped.
fn read_lines(input: impl Read, mut position: Position, continues: bool, sender: &SyncSender<Batch>) {
    let (skipped, expected) = match continues {
        true => (position.lines, position.digest),
        false => (std::mem::take(&mut position.lines), std::mem::take(&mut position.digest)),
    };
    let mut input = BufReader::with_capacity(1 << 16, input);
    let (mut lines, mut batch) = (Lines::default(), Vec::new());
    loop {
        let line = match read_line(&mut input, &mut position.digest) {
            Ok(None) if position.lines < skipped => {
                let why = format!("it ends before the {skipped} lines that the stored state is about");
                return drop(sender.send((Came::Failed(why), position)));
            }
            Ok(None) => break,
            Ok(Some(line)) => line,
            Err(error) => return drop(sender.send((Came::Failed(error.to_string()), position))),
        };
        position.lines += 1;
        if position.lines == skipped && position.digest != expected {
            let why = format!("its first {skipped} lines are not those that the stored state is about");
            return drop(sender.send((Came::Failed(why), position)));
        }
        if position.lines > skipped {
            let number = position.lines;
            let text = match line.len() > MOST_BYTES {
                true => Err(format!("it has more than {MOST_BYTES} bytes")),
                false => std::str::from_utf8(&line).map_err(|error| error.to_string()),
            };
            batch.push(text.and_then(|text| lines.read(text)).map_err(|why| format!("line {number}: {why}")));
        }
        // The next line may arrive much later.
        let is_all = input.buffer().is_empty();
        if batch.len() >= BATCH || (is_all && !batch.is_empty()) {
            let lines = Came::Lines(std::mem::take(&mut batch));
            if sender.send((lines, position.clone())).is_err() {
                return;
            }
        }
    }
    let _ = sender.send((Came::Lines(batch), position));
}

/// Reads a line and adds it to a digest; `None` at the end. Keeps at most one byte more than allowed.
fn read_line(input: &mut impl BufRead, digest: &mut u64) -> io::Result<Option<Vec<u8>>> {
    let (mut line, mut is_empty) = (Vec::new(), true);
    loop {
        let buffer = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            buffer => buffer?,
        };
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(buffer.len(), |end| end + 1);
        let mut hasher = FnvHasher::with_key(*digest);
        hasher.write(&buffer[..taken]);
        *digest = hasher.finish();
        line.extend_from_slice(&buffer[..taken.min(MOST_BYTES + 1 - line.len())]);
        is_empty &= taken == 0;
        input.consume(taken);
        if end.is_some() || taken == 0 {
            return Ok((!is_empty).then_some(line));
        }
    }
}

/// Reads a file as it grows; to its end if it is complete.
fn follow_file(mut written: Written, mut position: Position, is_complete: bool, sender: &SyncSender<Batch>) {
    loop {
        let mut read = match written.poll() {
            Ok(read) => read,
            Err(error) => return drop(sender.send((Came::Failed(error.to_string()), position))),
        };
        let is_idle = position.file == written.position();
        if is_idle && is_complete {
            read.extend(written.finish());
        }
        position.file = written.position();
        if !read.is_empty() && sender.send((Came::Lines(read), position.clone())).is_err() {
            return;
        }
        if is_idle && is_complete {
            return;
        }
        if is_idle {
            std::thread::sleep(POLL);
        }
    }
}

/// Reads a partition until its monitor has ended.
fn follow_log(log: &dyn Log, partition: u32, mut position: Position, sender: &SyncSender<Batch>) {
    let mut reader = Lines::default();
    let after = position.message;
    let result = log.follow(partition, after, &mut |messages| {
        let mut batch = Vec::new();
        for message in messages {
            match message {
                Message::Lines { at, text } => {
                    position.message = Some(at);
                    for line in text.split(|byte| *byte == b'\n') {
                        let line = std::str::from_utf8(line).map_err(|error| error.to_string());
                        let line = line.and_then(|line| reader.read(line));
                        batch.push(line.map_err(|why| format!("partition {partition}, message {at}: {why}")));
                    }
                }
                Message::Missing(why) => batch.push(Err(format!("partition {partition}: {why}"))),
            }
        }
        sender.send((Came::Lines(batch), position.clone())).is_ok()
    });
    if let Err(error) = result {
        let _ = sender.send((Came::Failed(error.to_string()), position));
    }
}

/// A segment to which a recorder still writes.
struct Growing {
    reader: SegmentReader<File>,
    process: Arc<str>,
    /// The open operation.
    open: Option<Record>,
    /// The number of operations to skip, because an earlier monitor had them.
    skipped: u64,
}

/// Reads the segments of a directory as they grow.
fn follow(directory: &Path, mut position: Position, sender: &SyncSender<Batch>) {
    // `None` for segments that are closed and read.
    let mut segments: BTreeMap<String, Option<Growing>> = BTreeMap::new();
    loop {
        let mut batch = Vec::new();
        let found = find_segments(directory, &mut segments, &mut position).and_then(|()| {
            segments.iter_mut().try_for_each(|(name, segment)| {
                let Some(growing) = segment else { return Ok(()) };
                let count = position.segments.entry(name.clone()).or_insert(growing.skipped);
                let is_over = growing.read(&mut batch, count).map_err(|error| format!("{name}: {error}"))?;
                if is_over {
                    *segment = None;
                }
                Ok(())
            })
        });
        if let Err(error) = found {
            return drop(sender.send((Came::Failed(error), position)));
        }
        let is_idle = batch.is_empty();
        if !is_idle && sender.send((Came::Lines(batch), position.clone())).is_err() {
            return;
        }
        if is_idle {
            std::thread::sleep(POLL);
        }
    }
}

/// Opens new segments that have their header, and forgets segments that were read and removed.
fn find_segments(
    directory: &Path,
    segments: &mut BTreeMap<String, Option<Growing>>,
    position: &mut Position,
) -> Result<(), String> {
    let entries = std::fs::read_dir(directory).map_err(|error| error.to_string())?;
    let mut present = BTreeSet::new();
    for entry in entries {
        let path: PathBuf = entry.map_err(|error| error.to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_none_or(|extension| extension != "seg") {
            continue;
        }
        present.insert(name.clone());
        if segments.contains_key(&name) {
            continue;
        }
        let file = File::open(&path).map_err(|error| format!("{name}: {error}"))?;
        let reader = SegmentReader::new(name.clone(), file).map_err(|error| error.to_string())?;
        // Without a process, its header is not complete yet.
        if let Some(process) = reader.process().cloned() {
            let skipped = position.segments.get(&name).copied().unwrap_or(0);
            segments.insert(name, Some(Growing { reader, process, open: None, skipped }));
        }
    }
    segments.retain(|name, segment| segment.is_some() || present.contains(name));
    position.segments.retain(|name, _| segments.contains_key(name) || present.contains(name));
    Ok(())
}

impl Growing {
    /// Reads the added operations. Returns whether the segment is closed.
    fn read(&mut self, batch: &mut Vec<Result<Line, String>>, count: &mut u64) -> Result<bool, String> {
        let process = &self.process;
        let progress = |time, is_last| Line::Progress { process: process.clone(), time, operations: None, is_last };
        if *count == 0 && self.open.is_none() {
            batch.push(Ok(progress(0, false)));
        }
        while let Some(record) = self.reader.follow(&mut self.open).map_err(|error| error.to_string())? {
            let Record { start, end, call, .. } = record;
            if let Some(left) = self.skipped.checked_sub(1) {
                self.skipped = left;
                continue;
            }
            *count += 1;
            let item = Item { process: self.process.clone(), seq: Some(*count - 1), start, end, call };
            batch.push(Ok(Line::Operation(item)));
            if matches!(end, End::Unknown { .. }) {
                break;
            }
        }
        let is_over = self.reader.is_closed();
        if is_over {
            batch.push(Ok(Line::Progress { process: self.process.clone(), time: 0, operations: None, is_last: true }));
        }
        Ok(is_over)
    }
}

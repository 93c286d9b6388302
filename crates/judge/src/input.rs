//! Finds and reads traces.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;
use omnilink_history::format::binary::{self, Merge, ReadError, SegmentReader};
use omnilink_history::format::{Format, FormatError, msgpack};
use omnilink_history::{Halt, IllFormed, Stop, Trace};
use omnilink_report::clean;

use crate::halting::halting;
use crate::{Failed, Limits};

/// The readable formats, of a file and of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One file.
    File(Format),
    /// A directory of segments.
    Binary,
    /// A directory of logs of OmniLink's first version.
    MessagePack,
    /// A Parquet file, or a directory of them.
    Parquet,
    /// Lines of a program's own, which `[log]` in the settings of a specification maps to it.
    Log,
}

/// An opened trace.
pub enum Opened {
    /// Read completely.
    Trace(Trace, Option<Text>),
    /// The segments of a binary trace, for streaming.
    Segments(Segments),
}

/// The text that a trace was read from, to locate errors in it.
pub struct Text {
    format: Format,
    bytes: Vec<u8>,
}

/// The reason why a trace could not be read. Quotes from a trace are one line of visible characters.
#[derive(Debug)]
pub struct InputError {
    /// The reason.
    pub message: String,
    /// The action to take.
    pub help: Option<String>,
}

/// The format with this name.
pub fn parse_format(name: &str) -> Result<Kind, String> {
    match name {
        "binary" => Ok(Kind::Binary),
        "msgpack" => Ok(Kind::MessagePack),
        "parquet" => Ok(Kind::Parquet),
        "log" => Ok(Kind::Log),
        _ => Format::by_name(name).map(Kind::File).ok_or_else(|| {
            let others = ["binary", "msgpack", "parquet", "log"];
            let known: Vec<&str> = Format::all().map(Format::name).chain(others).collect();
            format!("unrecognized format (expected one of {})", known.join(", "))
        }),
    }
}

/// The traces at a path: the path itself, or, for a directory that is not a trace, those of its entries by name, at any
/// depth. Hidden entries are left out.
pub fn recordings(path: &Path) -> Result<Vec<PathBuf>, InputError> {
    let mut found = Vec::new();
    find_recordings(path, &mut Vec::new(), &mut found)?;
    Ok(found)
}

/// Adds the traces at a path. A link to a directory around it is not followed.
fn find_recordings(path: &Path, around: &mut Vec<PathBuf>, found: &mut Vec<PathBuf>) -> Result<(), InputError> {
    if path == Path::new("-") || !path.is_dir() || is_trace_directory(path)? {
        found.push(path.to_owned());
        return Ok(());
    }
    let real = fs::canonicalize(path).map_err(|error| InputError::new(format!("cannot be read: {error}")))?;
    if around.contains(&real) {
        return Ok(());
    }
    around.push(real);
    for entry in list(path)? {
        let is_hidden = entry.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !is_hidden && (entry.is_file() || entry.is_dir()) {
            find_recordings(&entry, around, found)?;
        }
    }
    around.pop();
    Ok(())
}

/// True if a directory is one trace.
fn is_trace_directory(path: &Path) -> Result<bool, InputError> {
    let logs = files(path, "log")?;
    Ok(!files(path, "seg")?.is_empty()
        || !files(path, PARQUET)?.is_empty()
        || path.join("manifest.json").exists()
        || !logs.is_empty() && logs.iter().all(|log| is_message_pack(log)))
}

/// Opens a trace under limits. A file of more than `most` bytes is not read. Counts the bytes read.
pub fn open_within(
    path: &Path,
    kind: Option<Kind>,
    most: u64,
    limits: &dyn Limits,
    count: &Arc<AtomicU64>,
) -> Result<Opened, Failed> {
    halting(limits, |halt| {
        let opened = open(path, kind, &Reading { most, halt, count });
        match halt.reason() {
            // The input is incomplete, which may have caused the error.
            Some(stop) => Err(Failed::Stopped(stop)),
            None => Ok(opened?),
        }
    })
}

/// The parameters of reading a file: at most `most` bytes, until `halt` is raised, and counted.
struct Reading<'a> {
    most: u64,
    halt: &'a Halt,
    count: &'a Arc<AtomicU64>,
}

/// Opens a trace, as far as it was read when `halt` was raised.
fn open(path: &Path, kind: Option<Kind>, how: &Reading<'_>) -> Result<Opened, InputError> {
    let is_segment = path.extension() == Some(OsStr::new("seg"));
    let format = match kind {
        Some(Kind::Parquet) => return Ok(Opened::Trace(parquet(path, how)?, None)),
        None if is_parquet(path)? => return Ok(Opened::Trace(parquet(path, how)?, None)),
        Some(Kind::Binary) => return Segments::open(path, how).map(Opened::Segments),
        Some(Kind::MessagePack) => return Ok(Opened::Trace(message_pack(path, how)?, None)),
        Some(Kind::Log) => {
            return Err(InputError {
                message: "expected a trace of operations, found a log".into(),
                help: Some("`check`, `report` and `view` take logs, if omnilink.toml has `[log]`".into()),
            });
        }
        None if is_segment || (path.is_dir() && files(path, "log")?.is_empty()) => {
            return Segments::open(path, how).map(Opened::Segments);
        }
        None if path.is_dir() => return Ok(Opened::Trace(message_pack(path, how)?, None)),
        Some(Kind::File(format)) => Some(format),
        None => None,
    };
    let bytes = text(path, how)?;
    // An empty file is a history without operations in every format.
    if format.is_none() && bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Opened::Trace(Trace::default(), None));
    }
    let format = format.or_else(|| detect(&bytes)).ok_or_else(|| unrecognized(&bytes))?;
    let trace = format.read_until(&bytes, how.halt)?;
    Ok(Opened::Trace(trace, Some(Text { format, bytes })))
}

/// The extension of Parquet files.
const PARQUET: &str = "parquet";

/// True for a Parquet file, or a directory of them.
fn is_parquet(path: &Path) -> Result<bool, InputError> {
    match path.is_dir() {
        true => Ok(!files(path, PARQUET)?.is_empty()),
        false => Ok(path.extension() == Some(OsStr::new(PARQUET))),
    }
}

#[cfg(feature = "parquet")]
fn parquet(path: &Path, how: &Reading<'_>) -> Result<Trace, InputError> {
    let files = omnilink_columns::file::files(path).map_err(InputError::new)?;
    let bytes = files.iter().map(|file| fs::metadata(file).map_or(0, |metadata| metadata.len())).sum();
    if bytes > how.most {
        return Err(InputError::new(format!("{bytes} bytes are more than the limit of {}", how.most)));
    }
    how.count.fetch_add(bytes, Ordering::Relaxed);
    omnilink_columns::file::read(path).map_err(InputError::new)
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &Path, _: &Reading<'_>) -> Result<Trace, InputError> {
    Err(InputError {
        message: "this build does not read Parquet".into(),
        help: Some("`cargo install omnilink-cli --features fleet` builds one that does".into()),
    })
}

impl Opened {
    /// The whole trace, under limits.
    pub fn read_within(self, limits: &dyn Limits) -> Result<Trace, Failed> {
        match self {
            Opened::Trace(trace, _) => Ok(trace),
            Opened::Segments(segments) => segments.read_within(limits),
        }
    }
}

impl Text {
    /// The line of the operation with this name.
    pub(crate) fn line_of(&self, op: &str) -> Option<usize> {
        self.format.line_of(&self.bytes, op)
    }

    /// The error in operations that do not make a history, with its line.
    pub(crate) fn ill_formed(&self, error: &IllFormed) -> InputError {
        match error.op().and_then(|op| self.line_of(op)) {
            Some(line) => InputError::new(clean(&format!("line {line}: {error}"))),
            None => error.into(),
        }
    }
}

/// True if a path is a log, and not a trace in one of our own formats: its first line is no operation of a trace.
#[cfg(feature = "tla")]
pub(crate) fn is_log(path: &Path) -> bool {
    if path.is_dir() {
        return !recordings(path).is_ok_and(|inside| inside == [path]);
    }
    let mut bytes = Vec::new();
    if File::open(path).and_then(|file| file.take(1 << 16).read_to_end(&mut bytes)).is_err() {
        return false;
    }
    let text = String::from_utf8_lossy(&bytes);
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    match omnilink_history::format::json::Json::parse(first) {
        Ok(line) => {
            let has_keys = ["action", "start", "process"].iter().all(|key| line.field(key).is_some());
            !has_keys || omnilink_history::format::jsonl::read(first.as_bytes()).is_err()
        }
        Err(_) => first.trim_start().starts_with('{'),
    }
}

/// The bytes of a file, or of standard input: decompressed if they are gzip, and without a byte-order mark. Exceeding `most`
/// bytes stops the check.
pub fn bytes_within(path: &Path, most: u64, limits: &dyn Limits) -> Result<Vec<u8>, Failed> {
    halting(limits, |halt| {
        let bytes = text(path, &Reading { most, halt, count: &Arc::default() });
        match halt.reason() {
            Some(stop) => Err(Failed::Stopped(stop)),
            None => Ok(bytes?),
        }
    })
}

/// The text of a file of at most `most` bytes.
#[cfg(feature = "tla")]
pub(crate) fn whole_text(path: &Path, most: u64, limits: &dyn Limits) -> Result<String, Failed> {
    let read = bytes_within(path, most, limits)?;
    String::from_utf8(read).map_err(|_| Failed::Input(InputError::new(format!("{}: expected UTF-8", path.display()))))
}

fn detect(bytes: &[u8]) -> Option<Format> {
    let begin = |bytes: &[u8]| Format::detect(&bytes[..bytes.len().min(4096)]);
    // A comment may be longer than a beginning, such as the first state of a behavior, which may have nothing after it.
    begin(bytes).or_else(|| match after_comments(bytes) {
        [] => Some(Format::JsonLines),
        rest => begin(rest),
    })
}

/// A text without the empty lines and comments before its first other line.
fn after_comments(mut bytes: &[u8]) -> &[u8] {
    while !bytes.is_empty() {
        let (line, rest) =
            bytes.split_at(bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1));
        let line = line.trim_ascii();
        if !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b"//") {
            break;
        }
        bytes = rest;
    }
    bytes
}

/// The error for an unrecognized beginning of a file.
fn unrecognized(bytes: &[u8]) -> InputError {
    let bytes = bytes.trim_ascii_start();
    if let [b'[', rest @ ..] = bytes
        && matches!(rest.trim_ascii_start(), [b'{' | b']', ..])
    {
        return InputError {
            message: "found a JSON array, expected one JSON object per line".into(),
            help: Some("`jq -c '.[]'` writes the elements of an array as lines; FORMAT.md lists their keys".into()),
        };
    }
    let first: String = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).chars().take(40).collect();
    let first = clean(first.lines().next().unwrap_or_default());
    let (message, log) = match bytes {
        [b'{', ..] => {
            let message = "unrecognized format: the first line has neither the key `action` nor `type`";
            (format!("{message}: `{first}`"), "; `omnilink init --log` begins a mapping of a log to a specification")
        }
        _ => (format!("unrecognized format: the file begins with `{first}`"), ""),
    };
    let help = format!("name it with `--from`, or see FORMAT.md for how to write a history{log}");
    InputError { message, help: Some(help) }
}

/// The text of a file, without a byte-order mark.
fn text(path: &Path, how: &Reading<'_>) -> Result<Vec<u8>, InputError> {
    let mut bytes = bytes(path, how)?;
    match *bytes {
        [0xEF, 0xBB, 0xBF, ..] => drop(bytes.drain(..3)),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => {
            return Err(InputError {
                message: "found text in UTF-16, expected UTF-8".into(),
                help: Some("convert it first: `iconv -f UTF-16 -t UTF-8`".into()),
            });
        }
        _ => {}
    }
    Ok(bytes)
}

/// The number of bytes read between two polls of the limits.
const PIECE: u64 = 1 << 20;

/// The first bytes of a file that is compressed with gzip.
const GZIP: [u8; 2] = [0x1F, 0x8B];

/// The bytes of a file, or of standard input, decompressed if they are gzip. Exceeding the maximum raises `halt`.
fn bytes(path: &Path, how: &Reading<'_>) -> Result<Vec<u8>, InputError> {
    let cannot = |error: io::Error| InputError::new(format!("cannot be read: {error}"));
    let mut bytes = Vec::new();
    let input: Box<dyn Read> = match path == Path::new("-") {
        true => Box::new(io::stdin()),
        false => {
            let file = File::open(path).map_err(cannot)?;
            let length = file.metadata().map_err(cannot)?.len();
            if length > how.most {
                how.halt.raise(Stop::Memory);
                return Ok(bytes);
            }
            bytes.reserve_exact(usize::try_from(length).unwrap_or(0));
            Box::new(file)
        }
    };
    let mut input: Box<dyn Read> = Box::new(Counted { input, count: how.count });
    let mut start = Vec::new();
    input.by_ref().take(GZIP.len() as u64).read_to_end(&mut start).map_err(cannot)?;
    let is_gzip = start == GZIP;
    input = Box::new(Cursor::new(start).chain(input));
    if is_gzip {
        input = Box::new(MultiGzDecoder::new(BufReader::new(input)));
    }
    while !how.halt.is_raised() && input.by_ref().take(PIECE).read_to_end(&mut bytes).map_err(cannot)? > 0 {
        if bytes.len() as u64 > how.most {
            how.halt.raise(Stop::Memory);
        }
    }
    Ok(bytes)
}

/// Counts the bytes read.
struct Counted<'a, R> {
    input: R,
    count: &'a AtomicU64,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(into)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// The segments of a binary trace. They are kept in memory unless they are large; then each pass reads their files
/// again.
#[derive(Debug)]
pub struct Segments {
    parts: Vec<Part>,
}

/// One segment.
#[derive(Debug, Clone)]
struct Part {
    name: String,
    held: Held,
}

#[derive(Debug, Clone)]
enum Held {
    Bytes(Arc<[u8]>),
    File(PathBuf, Arc<AtomicU64>),
}

/// Segments larger than this in total are not kept in memory.
const MOST_HELD: u64 = 64 << 20;

impl Segments {
    fn open(path: &Path, how: &Reading<'_>) -> Result<Segments, InputError> {
        let manifest = path.join("manifest.json");
        if manifest.exists() {
            binary::Manifest::read(&bytes(&manifest, how)?)?;
        }
        let paths = if path.is_dir() { files(path, "seg")? } else { vec![path.to_owned()] };
        let size: u64 = paths.iter().filter_map(|path| Some(fs::metadata(path).ok()?.len())).sum();
        let is_held = size <= MOST_HELD.min(how.most / 4);
        let mut parts = Vec::new();
        for path in paths {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let held = match is_held {
                true => Held::Bytes(raw(&path, how)?.into()),
                false => Held::File(path, how.count.clone()),
            };
            parts.push(Part { name, held });
        }
        Ok(Segments { parts })
    }

    /// True if they are not kept in memory.
    pub fn is_large(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.held, Held::File(..)))
    }

    /// All operations from the beginning, as a stream.
    pub fn merge(&self) -> Result<Merge<SegmentBytes>, InputError> {
        Ok(Merge::new(self.readers()?)?)
    }

    /// The whole trace, under limits.
    pub fn read_within(&self, limits: &dyn Limits) -> Result<Trace, Failed> {
        halting(limits, |halt| {
            let trace = self.readers().and_then(|readers| Ok(binary::read_all_until(readers, halt)?));
            match halt.reason() {
                Some(stop) => Err(Failed::Stopped(stop)),
                None => Ok(trace?),
            }
        })
    }

    fn readers(&self) -> Result<Vec<SegmentReader<SegmentBytes>>, InputError> {
        let reader =
            |part: &Part| SegmentReader::new(part.name.clone(), SegmentBytes { held: part.held.clone(), offset: 0 });
        Ok(self.parts.iter().map(reader).collect::<Result<_, _>>()?)
    }
}

/// The bytes of a segment. A file is open only during a read: all segments of a trace are read side by side, and a
/// trace may have more segments than a process may have open files.
#[derive(Debug)]
pub struct SegmentBytes {
    held: Held,
    offset: u64,
}

impl Read for SegmentBytes {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = match &self.held {
            Held::Bytes(bytes) => {
                let mut rest = bytes.get(self.offset as usize..).unwrap_or_default();
                rest.read(into)?
            }
            Held::File(path, count) => {
                let mut file = File::open(path)?;
                file.seek(SeekFrom::Start(self.offset))?;
                Counted { input: file, count }.read(into)?
            }
        };
        self.offset += read as u64;
        Ok(read)
    }
}

/// The bytes of a segment, unchanged.
fn raw(path: &Path, how: &Reading<'_>) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| Counted { input: file, count: how.count }.read_to_end(&mut bytes));
    read.map_err(|error| InputError::new(format!("cannot be read: {error}")))?;
    Ok(bytes)
}

fn message_pack(path: &Path, how: &Reading<'_>) -> Result<Trace, InputError> {
    let paths = if path.is_dir() { files(path, "log")? } else { vec![path.to_owned()] };
    let mut logs = Vec::new();
    for path in paths {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        logs.push((name, bytes(&path, how)?));
    }
    let logs: Vec<(&str, &[u8])> = logs.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    Ok(msgpack::read_until(&logs, how.halt)?)
}

/// Text logs have the same extension; their first byte is a character, and that of a MessagePack map is not.
fn is_message_pack(path: &Path) -> bool {
    let mut first = [0];
    let read = File::open(path).and_then(|mut file| file.read(&mut first));
    matches!(read, Ok(1) if matches!(first[0], 0x80..=0x8f | 0xde | 0xdf))
}

fn files(directory: &Path, extension: &str) -> Result<Vec<PathBuf>, InputError> {
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    Ok(list(directory)?.into_iter().filter(|path| path.extension() == Some(OsStr::new(extension))).collect())
}

fn list(directory: &Path) -> Result<Vec<PathBuf>, InputError> {
    let cannot = |error: io::Error| InputError::new(format!("cannot be read: {error}"));
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(cannot)? {
        paths.push(entry.map_err(cannot)?.path());
    }
    paths.sort();
    Ok(paths)
}

impl InputError {
    /// An error without help.
    pub fn new(message: impl fmt::Display) -> InputError {
        InputError { message: message.to_string(), help: None }
    }
}

impl From<FormatError> for InputError {
    fn from(error: FormatError) -> InputError {
        InputError { message: clean(&error.to_string()), help: error.help.as_deref().map(clean) }
    }
}

impl From<ReadError> for InputError {
    fn from(error: ReadError) -> InputError {
        match error {
            ReadError::Format(error) => error.into(),
            other => InputError::new(clean(&other.to_string())),
        }
    }
}

impl From<&IllFormed> for InputError {
    fn from(error: &IllFormed) -> InputError {
        InputError::new(clean(&error.to_string()))
    }
}

impl From<omnilink_models::check::Error> for InputError {
    fn from(error: omnilink_models::check::Error) -> InputError {
        InputError::new(clean(&error.to_string()))
    }
}

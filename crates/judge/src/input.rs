//! Finding and reading recordings.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use history::format::binary::{self, Merge, ReadError, SegmentReader};
use history::format::{Format, FormatError, msgpack};
use history::{Halt, IllFormed, Stop, Trace};
use report::clean;

use crate::guard::halting;
use crate::{Failed, Limits};

/// The formats that can be read, those of one file and those of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One file.
    File(Format),
    /// A directory of segments.
    Binary,
    /// A directory of logs of OmniLink's first version.
    MessagePack,
}

/// A recording, opened.
pub enum Recording {
    /// Read whole.
    Trace(Trace),
    /// The segments of a binary trace, to be read as a stream.
    Segments(Merge<SegmentFile>),
}

/// Why a recording could not be read. What it quotes of a recording is one line of visible characters.
#[derive(Debug)]
pub struct InputError {
    /// Why.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// The format of a name.
pub fn parse_format(name: &str) -> Result<Kind, String> {
    match name {
        "binary" => Ok(Kind::Binary),
        "msgpack" => Ok(Kind::MessagePack),
        _ => Format::by_name(name).map(Kind::File).ok_or_else(|| {
            let known: Vec<&str> = Format::all().map(Format::name).chain(["binary", "msgpack"]).collect();
            format!("there is no such format; there are {}", known.join(", "))
        }),
    }
}

/// The recordings at a path: the path itself, or, for a directory that is not a recording, those in it by name.
pub fn recordings(path: &Path) -> Result<Vec<PathBuf>, InputError> {
    if path == Path::new("-")
        || !path.is_dir()
        || !files(path, "seg")?.is_empty()
        || path.join("manifest.json").exists()
    {
        return Ok(vec![path.to_owned()]);
    }
    if !files(path, "log")?.is_empty() && files(path, "log")?.iter().all(|log| is_message_pack(log)) {
        return Ok(vec![path.to_owned()]);
    }
    let mut inside = Vec::new();
    for entry in list(path)? {
        let is_hidden = entry.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !is_hidden && (entry.is_file() || !files(&entry, "seg")?.is_empty()) {
            inside.push(entry);
        }
    }
    Ok(inside)
}

/// Opens a recording.
pub fn open(path: &Path, kind: Option<Kind>) -> Result<Recording, InputError> {
    open_until(path, kind, u64::MAX, &Halt::default())
}

/// Opens a recording under limits. What is larger than `most` bytes is not read.
pub fn open_within(path: &Path, kind: Option<Kind>, most: u64, limits: &dyn Limits) -> Result<Recording, Failed> {
    halting(limits, |halt| {
        let recording = open_until(path, kind, most, halt);
        match halt.reason() {
            // What was read is not complete, and what is wrong with it may be just that.
            Some(stop) => Err(Failed::Stopped(stop)),
            None => Ok(recording?),
        }
    })
}

/// Opens a recording, up to where it is when `halt` is raised.
fn open_until(path: &Path, kind: Option<Kind>, most: u64, halt: &Halt) -> Result<Recording, InputError> {
    let is_segment = path.extension() == Some(OsStr::new("seg"));
    match kind {
        Some(Kind::Binary) => segments_until(path, most, halt).map(Recording::Segments),
        Some(Kind::MessagePack) => message_pack(path, most, halt).map(Recording::Trace),
        None if is_segment || (path.is_dir() && files(path, "log")?.is_empty()) => {
            segments_until(path, most, halt).map(Recording::Segments)
        }
        None if path.is_dir() => message_pack(path, most, halt).map(Recording::Trace),
        Some(Kind::File(format)) => Ok(Recording::Trace(format.read_until(&text(path, most, halt)?, halt)?)),
        None => {
            let bytes = text(path, most, halt)?;
            let format = detect(&bytes).ok_or_else(|| unrecognized(&bytes));
            // A file with nothing in it is a history with no operations, whatever the format.
            let is_blank = bytes.iter().all(u8::is_ascii_whitespace);
            Ok(Recording::Trace(if is_blank { Trace::default() } else { format?.read_until(&bytes, halt)? }))
        }
    }
}

impl Recording {
    /// Everything in it.
    pub fn read(self, path: &Path) -> Result<Trace, InputError> {
        match self {
            Recording::Trace(trace) => Ok(trace),
            Recording::Segments(_) => Ok(binary::read_all(readers(path, u64::MAX, &Halt::default())?)?),
        }
    }

    /// Everything in it, under limits.
    pub fn read_within(self, path: &Path, limits: &dyn Limits) -> Result<Trace, Failed> {
        let Recording::Segments(_) = self else { return Ok(self.read(path)?) };
        halting(limits, |halt| {
            let trace = readers(path, u64::MAX, halt).and_then(|readers| Ok(binary::read_all_until(readers, halt)?));
            match halt.reason() {
                Some(stop) => Err(Failed::Stopped(stop)),
                None => Ok(trace?),
            }
        })
    }
}

/// What is wrong with operations that do not make a history, with the line of the file if it can be read again.
pub(crate) fn ill_formed(path: &Path, kind: Option<Kind>, error: &IllFormed) -> InputError {
    let line = || {
        let bytes = path.is_file().then(|| text(path, u64::MAX, &Halt::default()))?.ok()?;
        let format = match kind {
            Some(Kind::File(format)) => format,
            Some(_) => return None,
            None => detect(&bytes)?,
        };
        format.line_of(&bytes, error.op()?)
    };
    match line() {
        Some(line) => InputError::new(clean(&format!("line {line}: {error}"))),
        None => InputError::new(clean(&error.to_string())),
    }
}

fn detect(bytes: &[u8]) -> Option<Format> {
    Format::detect(&bytes[..bytes.len().min(4096)])
}

/// Says what stands where a history should begin.
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
    let message = match bytes {
        [b'{', ..] => format!("unrecognized format: the first line has neither the key `action` nor `type`: `{first}`"),
        _ => format!("unrecognized format: the file begins with `{first}`"),
    };
    InputError { message, help: Some("name it with `--from`, or see FORMAT.md for how to write a history".into()) }
}

/// The text of a file, without a byte-order mark.
fn text(path: &Path, most: u64, halt: &Halt) -> Result<Vec<u8>, InputError> {
    let mut bytes = bytes(path, most, halt)?;
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

/// So much is read between two looks at the limits.
const PIECE: u64 = 1 << 20;

/// The first bytes of a file that is compressed with gzip.
const GZIP: [u8; 2] = [0x1F, 0x8B];

/// The bytes of a file, or of standard input, decompressed if they are gzip. More than `most` bytes raise `halt`.
fn bytes(path: &Path, most: u64, halt: &Halt) -> Result<Vec<u8>, InputError> {
    let cannot = |error: io::Error| InputError::new(format!("cannot be read: {error}"));
    let mut bytes = Vec::new();
    let mut input: Box<dyn Read> = match path == Path::new("-") {
        true => Box::new(io::stdin()),
        false => {
            let file = File::open(path).map_err(cannot)?;
            let length = file.metadata().map_err(cannot)?.len();
            if length > most {
                halt.raise(Stop::Memory);
                return Ok(bytes);
            }
            bytes.reserve_exact(usize::try_from(length).unwrap_or(0));
            Box::new(file)
        }
    };
    let mut start = Vec::new();
    input.by_ref().take(GZIP.len() as u64).read_to_end(&mut start).map_err(cannot)?;
    let is_gzip = start == GZIP;
    input = Box::new(Cursor::new(start).chain(input));
    if is_gzip {
        input = Box::new(MultiGzDecoder::new(BufReader::new(input)));
    }
    while !halt.is_raised() && input.by_ref().take(PIECE).read_to_end(&mut bytes).map_err(cannot)? > 0 {
        if bytes.len() as u64 > most {
            halt.raise(Stop::Memory);
        }
    }
    Ok(bytes)
}

/// The segments of a binary trace, from the beginning.
pub fn segments(path: &Path) -> Result<Merge<SegmentFile>, InputError> {
    segments_until(path, u64::MAX, &Halt::default())
}

fn segments_until(path: &Path, most: u64, halt: &Halt) -> Result<Merge<SegmentFile>, InputError> {
    Ok(Merge::new(readers(path, most, halt)?)?)
}

/// A segment that is open only while some of it is read: all segments of a trace are read side by side, and a trace may have
/// more of them than a process may have open files.
#[derive(Debug)]
pub struct SegmentFile {
    path: PathBuf,
    offset: u64,
}

impl Read for SegmentFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        let read = file.read(into)?;
        self.offset += read as u64;
        Ok(read)
    }
}

fn readers(path: &Path, most: u64, halt: &Halt) -> Result<Vec<SegmentReader<SegmentFile>>, InputError> {
    let manifest = path.join("manifest.json");
    if manifest.exists() {
        binary::Manifest::read(&bytes(&manifest, most, halt)?)?;
    }
    let paths = if path.is_dir() { files(path, "seg")? } else { vec![path.to_owned()] };
    let mut readers = Vec::new();
    for path in paths {
        let part = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        readers.push(SegmentReader::new(part, SegmentFile { path, offset: 0 })?);
    }
    Ok(readers)
}

fn message_pack(path: &Path, most: u64, halt: &Halt) -> Result<Trace, InputError> {
    let paths = if path.is_dir() { files(path, "log")? } else { vec![path.to_owned()] };
    let mut logs = Vec::new();
    for path in paths {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        logs.push((name, bytes(&path, most, halt)?));
    }
    let logs: Vec<(&str, &[u8])> = logs.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    Ok(msgpack::read_until(&logs, halt)?)
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
    /// Why, without a way to mend it.
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

impl From<IllFormed> for InputError {
    fn from(error: IllFormed) -> InputError {
        InputError::new(clean(&error.to_string()))
    }
}

impl From<models::check::Error> for InputError {
    fn from(error: models::check::Error) -> InputError {
        InputError::new(clean(&error.to_string()))
    }
}

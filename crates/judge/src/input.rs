//! Finding and reading recordings.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use history::Trace;
use history::format::binary::{self, Merge, ReadError, SegmentReader};
use history::format::{Format, FormatError, msgpack};

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
    Segments(Merge<File>),
}

/// Why a recording could not be read.
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
    let is_segment = path.extension() == Some(OsStr::new("seg"));
    match kind {
        Some(Kind::Binary) => segments(path).map(Recording::Segments),
        Some(Kind::MessagePack) => message_pack(path).map(Recording::Trace),
        None if is_segment || (path.is_dir() && files(path, "log")?.is_empty()) => {
            segments(path).map(Recording::Segments)
        }
        None if path.is_dir() => message_pack(path).map(Recording::Trace),
        Some(Kind::File(format)) => Ok(Recording::Trace(format.read(&bytes(path)?)?)),
        None => {
            let bytes = bytes(path)?;
            let format = Format::detect(&bytes[..bytes.len().min(4096)]).ok_or_else(|| InputError {
                message: "the format is not one of those that are known".into(),
                help: Some("name it with `--from`, or see FORMAT.md for how to write a history".into()),
            });
            // A file with nothing in it is a history with no operations, whatever the format.
            let is_blank = bytes.iter().all(u8::is_ascii_whitespace);
            Ok(Recording::Trace(if is_blank { Trace::default() } else { format?.read(&bytes)? }))
        }
    }
}

impl Recording {
    /// Everything in it.
    pub fn read(self, path: &Path) -> Result<Trace, InputError> {
        match self {
            Recording::Trace(trace) => Ok(trace),
            Recording::Segments(_) => Ok(binary::read_all(readers(path)?)?),
        }
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    let read = match path == Path::new("-") {
        true => io::stdin().read_to_end(&mut bytes),
        false => File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.map_err(|error| InputError::new(format!("cannot be read: {error}")))?;
    Ok(bytes)
}

/// The segments of a binary trace, from the beginning.
pub fn segments(path: &Path) -> Result<Merge<File>, InputError> {
    Ok(Merge::new(readers(path)?)?)
}

fn readers(path: &Path) -> Result<Vec<SegmentReader<File>>, InputError> {
    let manifest = path.join("manifest.json");
    if manifest.exists() {
        binary::Manifest::read(&bytes(&manifest)?)?;
    }
    let paths = if path.is_dir() { files(path, "seg")? } else { vec![path.to_owned()] };
    let mut readers = Vec::new();
    for path in paths {
        let file = File::open(&path).map_err(|error| InputError::new(format!("cannot be read: {error}")))?;
        let part = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        readers.push(SegmentReader::new(part, file)?);
    }
    Ok(readers)
}

fn message_pack(path: &Path) -> Result<Trace, InputError> {
    let paths = if path.is_dir() { files(path, "log")? } else { vec![path.to_owned()] };
    let mut logs = Vec::new();
    for path in paths {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        logs.push((name, bytes(&path)?));
    }
    let logs: Vec<(&str, &[u8])> = logs.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    Ok(msgpack::read(&logs)?)
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
        InputError { message: error.to_string(), help: error.help }
    }
}

impl From<ReadError> for InputError {
    fn from(error: ReadError) -> InputError {
        match error {
            ReadError::Format(error) => error.into(),
            other => InputError::new(other),
        }
    }
}

impl From<history::IllFormed> for InputError {
    fn from(error: history::IllFormed) -> InputError {
        InputError::new(error)
    }
}

impl From<models::check::Error> for InputError {
    fn from(error: models::check::Error) -> InputError {
        InputError::new(error)
    }
}

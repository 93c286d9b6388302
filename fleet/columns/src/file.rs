//! Parquet files of operations and of verdicts.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use omnilink_history::Trace;
use omnilink_history::format::WriteError;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use thiserror::Error;

use crate::BadColumn;

/// The reason why a file could not be read or written.
#[derive(Debug, Error)]
pub enum FileError {
    /// The file system.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is damaged, or not a Parquet file.
    #[error("{0}")]
    Parquet(#[from] ParquetError),
    /// Its columns are not those of operations.
    #[error(transparent)]
    Column(#[from] BadColumn),
    /// An operation cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// The Parquet files at a path: itself, or those in a directory, by name.
pub fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?.path();
        if entry.extension().is_some_and(|extension| extension == "parquet") {
            files.push(entry);
        }
    }
    files.sort();
    Ok(files)
}

/// Reads all operations of a file, or of the files in a directory.
pub fn read(path: &Path) -> Result<Trace, FileError> {
    let mut trace = Trace::default();
    for file in files(path)? {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file)?)?;
        crate::read_events(reader.schema(), &mut trace)?;
        for batch in reader.build()? {
            crate::read(&batch.map_err(ParquetError::from)?, &mut trace)?;
        }
    }
    Ok(trace)
}

/// Writes operations. If `by` is an argument or a field of the metadata, a column `key` repeats it.
pub fn write(trace: &Trace, by: Option<&str>, out: impl Write + Send) -> Result<(), FileError> {
    let batch = crate::write(trace, by)?;
    let mut table = TableWriter::new(out, batch.schema())?;
    table.write(&batch)?;
    table.finish()?;
    Ok(())
}

/// Writes record batches of one schema as a compressed Parquet file.
pub struct TableWriter<W: Write + Send>(ArrowWriter<W>);

impl<W: Write + Send> TableWriter<W> {
    /// Begins a file.
    pub fn new(out: W, schema: SchemaRef) -> Result<TableWriter<W>, FileError> {
        let compression = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(compression).build();
        Ok(TableWriter(ArrowWriter::try_new(out, schema, Some(properties))?))
    }

    /// Adds a batch.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), FileError> {
        Ok(self.0.write(batch)?)
    }

    /// Ends the file.
    pub fn finish(self) -> Result<W, FileError> {
        Ok(self.0.into_inner()?)
    }
}

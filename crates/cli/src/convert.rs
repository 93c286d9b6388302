//! `omnilink convert`: a history from one format to another.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use history::Trace;
use history::format::binary::{self, Manifest};
use history::format::{WriteError, jsonl, text};
use judge::input::{self, InputError};

use crate::args::{ConvertArgs, Writable};
use crate::complain;
use crate::exit::Exit;

pub(crate) fn run(args: &ConvertArgs) -> Exit {
    let label = args.input.display().to_string();
    let trace = match input::open(&args.input, args.from).and_then(|recording| recording.read(&args.input)) {
        Ok(trace) => trace,
        Err(error) => return complain(&label, &error),
    };
    for cut in &trace.cuts {
        anstream::eprintln!("note: {label}: {cut}");
    }
    match write(&trace, args) {
        Ok(()) => Exit::Accepted,
        Err(error) => {
            let output = args.output.as_ref().map_or("standard output".into(), |path| path.display().to_string());
            complain(&output, &error)
        }
    }
}

fn write(trace: &Trace, args: &ConvertArgs) -> Result<(), InputError> {
    let into_file = |write: fn(&Trace, &mut dyn Write) -> Result<(), WriteError>| -> Result<(), InputError> {
        let mut out: Box<dyn Write> = match &args.output {
            Some(path) => Box::new(BufWriter::new(File::create(path).map_err(InputError::new)?)),
            None => Box::new(io::stdout().lock()),
        };
        write(trace, &mut out).map_err(InputError::new)?;
        out.flush().map_err(InputError::new)
    };
    match (args.to, &args.output) {
        (Writable::Jsonl, _) => into_file(|trace, out| jsonl::write(trace, out)),
        (Writable::Text, _) => into_file(|trace, out| text::write(trace, out)),
        (Writable::Binary, Some(directory)) => write_binary(trace, directory),
        (Writable::Binary, None) => Err(InputError {
            message: "a binary trace is a directory".into(),
            help: Some("name it with `--output`".into()),
        }),
    }
}

fn write_binary(trace: &Trace, directory: &Path) -> Result<(), InputError> {
    fs::create_dir_all(directory).map_err(InputError::new)?;
    let is_empty = fs::read_dir(directory).map_err(InputError::new)?.next().is_none();
    if !is_empty {
        return Err(InputError { message: "the directory is not empty".into(), help: None });
    }
    fs::write(directory.join("manifest.json"), Manifest::default().write()).map_err(InputError::new)?;
    binary::write(trace, |process, _| {
        let segment = directory.join(format!("{:04}.seg", process.0));
        File::create(segment).map(BufWriter::new)
    })
    .and_then(|segments| segments.into_iter().try_for_each(|mut segment| Ok(segment.flush()?)))
    .map_err(InputError::new)
}

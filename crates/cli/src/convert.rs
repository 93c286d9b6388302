//! `omnilink convert`: a history from one format to another. Exports for other programs are made elsewhere.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use omnilink_explore::NewFile;
use omnilink_history::format::binary::{self, Manifest};
use omnilink_history::format::{WriteError, jsonl, text};
use omnilink_history::{Stop, Trace};
use omnilink_judge::input::{self, InputError};
use omnilink_judge::{Failed, join};
use omnilink_report::clean;

use crate::args::{ConvertArgs, ExportArgs, ModuleArgs, SubjectArgs, Target};
use crate::exit::Exit;
use crate::inspection::export::{self, Form};
use crate::limits::{self, Limits};
use crate::outcome::print_failure;
use crate::terminal::complain;
use crate::verification;

pub(crate) fn run(args: ConvertArgs) -> Exit {
    if let Err(exit) = refuse_without_effect(&args) {
        return exit;
    }
    let form = match args.to {
        Target::Tlc => return module(args).map_or_else(|exit| exit, |module| verification::export::run(&module)),
        Target::Perfetto => Form::Perfetto,
        Target::Itf => Form::Itf,
        Target::Dot => Form::Dot,
        Target::Jsonl => return history(&args, Writable::Jsonl),
        Target::Text => return history(&args, Writable::Text),
        Target::Binary => return history(&args, Writable::Binary),
        #[cfg(feature = "fleet")]
        Target::Parquet => return history(&args, Writable::Parquet),
    };
    let ConvertArgs { inputs, output, options, .. } = args;
    export::run(form, &ExportArgs { subject: SubjectArgs { paths: inputs, options }, output })
}

/// Refuses options that would have no effect on the output.
fn refuse_without_effect(args: &ConvertArgs) -> Result<(), Exit> {
    let (options, shows_result) = (&args.options, matches!(args.to, Target::Perfetto | Target::Itf | Target::Dot));
    let refuse = |option: &str, help: &str| {
        let form = args.to.to_possible_value().map(|form| form.get_name().to_owned()).unwrap_or_default();
        let message = format!("`{option}` has no effect on `--to {form}`");
        Err(complain("convert", &InputError { message, help: Some(help.to_owned()) }))
    };
    if let Some(option) = options.of_specification().filter(|_| !shows_result && args.to != Target::Tlc) {
        return refuse(option, "`--to tlc`, `perfetto`, `itf` or `dot` converts the history with its specification");
    }
    if let Some(option) = options.of_result().filter(|_| !shows_result) {
        return refuse(option, "`--to perfetto`, `itf` or `dot` converts the result of a check");
    }
    #[cfg(feature = "fleet")]
    if args.by.is_some() && args.to != Target::Parquet {
        return refuse("--by", "`--to parquet` has columns");
    }
    Ok(())
}

/// A format of histories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writable {
    Jsonl,
    Text,
    Binary,
    #[cfg(feature = "fleet")]
    Parquet,
}

/// The history, its specification and the directory of a module for TLC.
fn module(args: ConvertArgs) -> Result<ModuleArgs, Exit> {
    let wrong = |message: &str, help: &str| {
        complain("--to tlc", &InputError { message: message.into(), help: Some(help.into()) })
    };
    let about = args.options.about;
    let (spec, trace) = match (args.options.spec, &*args.inputs) {
        (Some(spec), [trace]) => (PathBuf::from(spec), trace.clone()),
        (None, [spec, trace]) => (spec.clone(), trace.clone()),
        _ => {
            let help = "`omnilink convert --to tlc Queue.tla run.jsonl -o DIR`";
            return Err(wrong("expected a TLA+ module and one history", help));
        }
    };
    match args.output {
        Some(output) => Ok(ModuleArgs { spec, trace, output, about }),
        None => Err(wrong("a module and its files cannot go to standard output", "name a directory with `--output`")),
    }
}

/// Converts a history without its specification.
fn history(args: &ConvertArgs, format: Writable) -> Exit {
    limits::catch_interrupts();
    let label = match &*args.inputs {
        [input] => input.display().to_string(),
        inputs => format!("{} traces", inputs.len()),
    };
    let about = &args.options.about;
    let max_memory = about.max_memory.as_u64();
    let limits = Limits::around(&about.into(), &label);
    let trace = match &*args.inputs {
        [input] => input::open_within(input, about.from, max_memory, &limits, &Arc::default())
            .and_then(|opened| opened.read_within(&limits)),
        inputs => join::read(inputs, about.from, max_memory, &limits, &Arc::default()),
    };
    let trace = match trace {
        Ok(trace) => trace,
        Err(failed) => return print_failure(&failed, &label),
    };
    if !trace.losses.is_empty() {
        // No other format can say that operations are missing, so a converted trace would look whole.
        for loss in &trace.losses {
            errln!("{}", clean(&format!("{label}: {loss}")));
        }
        return print_failure(&Failed::Stopped(Stop::Incomplete), &label);
    }
    for note in &trace.notes {
        errln!("note: {}", clean(&format!("{label}: {note}")));
    }
    for cut in &trace.cuts {
        errln!("note: {}", clean(&format!("{label}: {cut}")));
    }
    if format == Writable::Text && !trace.events.is_empty() {
        errln!("note: {}: events are left out: text has no place for them", clean(&label));
    }
    match write(&trace, args, format) {
        Ok(()) => Exit::Accepted,
        Err(error) => {
            let output = args.output.as_ref().map_or("standard output".into(), |path| path.display().to_string());
            complain(&output, &error)
        }
    }
}

fn write(trace: &Trace, args: &ConvertArgs, format: Writable) -> Result<(), InputError> {
    let cannot = |error: io::Error| InputError::new(format!("cannot be written: {error}"));
    let into_file = |write: fn(&Trace, &mut dyn Write) -> Result<(), WriteError>| -> Result<(), InputError> {
        let Some(path) = &args.output else {
            let mut out = BufWriter::new(io::stdout().lock());
            write(trace, &mut out).map_err(InputError::new)?;
            return out.flush().map_err(cannot);
        };
        let mut file = NewFile::create(path).map_err(cannot)?;
        write(trace, &mut file).map_err(InputError::new)?;
        file.commit().map_err(cannot)
    };
    match (format, &args.output) {
        #[cfg(feature = "fleet")]
        (Writable::Parquet, Some(path)) => {
            let mut file = NewFile::create(path).map_err(cannot)?;
            omnilink_columns::file::write(trace, args.by.as_deref(), &mut file).map_err(InputError::new)?;
            file.commit().map_err(cannot)
        }
        #[cfg(feature = "fleet")]
        (Writable::Parquet, None) => Err(InputError {
            message: "a Parquet file cannot go to standard output".into(),
            help: Some("name it with `--output`".into()),
        }),
        (Writable::Jsonl, _) => into_file(|trace, out| jsonl::write(trace, out)),
        (Writable::Text, _) => into_file(|trace, out| text::write(trace, out)),
        (Writable::Binary, Some(directory)) => write_binary(trace, directory),
        (Writable::Binary, None) => Err(InputError {
            message: "a binary trace is a directory, which cannot go to standard output".into(),
            help: Some("name it with `--output`".into()),
        }),
    }
}

/// Writes to a temporary directory first, so that a failure leaves nothing behind.
fn write_binary(trace: &Trace, directory: &Path) -> Result<(), InputError> {
    let cannot = |error: io::Error| InputError::new(format!("cannot be written: {error}"));
    if directory.exists() && fs::read_dir(directory).map_err(cannot)?.next().is_some() {
        return Err(InputError { message: "the directory is not empty".into(), help: None });
    }
    let parent = directory.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(cannot)?;
    let permissions = Permissions::from_mode(0o777);
    let beside = tempfile::Builder::new().prefix(".omnilink-").permissions(permissions).tempdir_in(parent);
    let beside = beside.map_err(|error| cannot(error.kind().into()))?;
    fs::write(beside.path().join("manifest.json"), Manifest::default().write()).map_err(cannot)?;
    binary::write(trace, |process, _| {
        let segment = beside.path().join(format!("{:04}.seg", process.0));
        File::create(segment).map(BufWriter::new)
    })
    .and_then(|segments| segments.into_iter().try_for_each(|mut segment| Ok(segment.flush()?)))
    .map_err(InputError::new)?;
    fs::rename(beside.path(), directory).map_err(cannot)
}

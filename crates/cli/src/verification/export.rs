//! `omnilink convert --to tlc`: a history and its specification as a module for TLC.

use std::fs;
use std::path::Path;

use omnilink_history::{OpId, Precedence};
use omnilink_judge::{Bound, Case, Failed, InputError, Recording, Tla, witness_line};
use omnilink_validate::{Export, Exported};

use crate::args::{About, ModuleArgs};
use crate::exit::Exit;
use crate::limits::{self, Limits};
use crate::outcome::{label, print_failure};

pub(crate) fn run(args: &ModuleArgs) -> Exit {
    limits::catch_interrupts();
    let label = label(&args.trace);
    let recording = Recording::at(&args.trace, args.about.from);
    let written = load(&args.spec, &args.about)
        .and_then(|tla| export(&tla, &recording, &args.about))
        .and_then(|export| Ok((write(&export, &args.output)?, export.name)));
    match written {
        Ok(((), name)) => {
            outln!("{}: module {name}", args.output.display());
            outln!("  cd {} && java -cp tla2tools.jar tlc2.TLC -deadlock {name}", args.output.display());
            Exit::Accepted
        }
        Err(failed) => print_failure(&failed, &label),
    }
}

/// Reads a specification.
pub(super) fn load(spec: &Path, about: &About) -> Result<Tla, Failed> {
    Tla::load(spec, &about.options()).map_err(Failed::Spec)
}

/// Builds the module.
pub(super) fn export(tla: &Tla, recording: &Recording, about: &About) -> Result<Export, Failed> {
    let precedence = about.level.strong()?;
    with_bound(tla, recording, about, |bound| exported(bound, precedence))
}

/// Calls `work` with a trace bound to a specification.
pub(super) fn with_bound<R>(
    tla: &Tla,
    recording: &Recording,
    about: &About,
    work: impl FnOnce(&Bound<'_, '_>) -> Result<R, Failed>,
) -> Result<R, Failed> {
    let label = label(recording.path().unwrap_or(Path::new("-")));
    let limits = Limits::around(&about.into(), &label);
    tla.with_bound(&about.options(), &Case { recording, label: &label, witness: None, limits: &limits }, work)
}

fn exported(bound: &Bound<'_, '_>, precedence: Precedence) -> Result<Export, Failed> {
    let ids: Vec<OpId> = bound.history.ops().iter().map(|op| op.id).collect();
    if ids.is_empty() {
        return Err(Failed::Input(InputError::new("no operations to export")));
    }
    let described = bound.describe(&ids)?;
    let describe = |id: OpId| {
        let place = ids.binary_search(&id).expect("the operations of a history are numbered in order");
        witness_line(&described[place])
    };
    let exported = Exported { history: bound.history, precedence, config: bound.config, describe: &describe };
    omnilink_validate::export(bound.spec, &exported).map_err(|problems| bound.wrong(&problems))
}

/// Writes the module and its files into a directory.
pub(super) fn write(export: &Export, directory: &Path) -> Result<(), Failed> {
    let cannot = |error: std::io::Error| InputError::new(format!("{}: {error}", directory.display()));
    fs::create_dir_all(directory).map_err(cannot)?;
    for (file, text) in &export.modules {
        omnilink_explore::write_file(&directory.join(file), text).map_err(cannot)?;
    }
    omnilink_explore::write_file(&directory.join(&export.name).with_extension("tla"), &export.module)
        .map_err(cannot)?;
    omnilink_explore::write_file(&directory.join(&export.name).with_extension("cfg"), &export.config)
        .map_err(cannot)?;
    Ok(())
}

//! `omnilink export tlc`: a history and its specification as a module that TLC decides.

use std::fs;
use std::path::Path;

use history::OpId;
use validate::{Export, Exported};

use super::args::ExportCommand;
use crate::args::{About, Order};
use crate::check::mentions::witness_line;
use crate::check::tla::{Bound, Tla};
use crate::check::{Failed, label};
use crate::exit::Exit;
use crate::input::InputError;
use crate::limits;

pub(crate) fn run(command: &ExportCommand) -> Exit {
    let ExportCommand::Tlc(args) = command;
    limits::catch_interrupts();
    let label = label(&args.trace);
    let written = load(&args.spec, &args.about)
        .and_then(|tla| export(&tla, &args.trace, &args.about))
        .and_then(|export| Ok((write(&export, &args.output)?, export.name)));
    match written {
        Ok(((), name)) => {
            anstream::println!("{}: module {name}", args.output.display());
            anstream::println!("  cd {} && java -cp tla2tools.jar tlc2.TLC -deadlock {name}", args.output.display());
            Exit::Accepted
        }
        Err(failed) => failed.tell(&label),
    }
}

/// Reads a specification.
pub(super) fn load(spec: &Path, about: &About) -> Result<Tla, Failed> {
    Tla::load(spec, about).map_err(Failed::Spec)
}

/// Makes the module.
pub(super) fn export(tla: &Tla, trace: &Path, about: &About) -> Result<Export, Failed> {
    tla.with_bound(&about.check_args(), trace, &label(trace), |bound| exported(bound, about.order))
}

fn exported(bound: &Bound<'_, '_>, order: Order) -> Result<Export, Failed> {
    let ids: Vec<OpId> = bound.history.ops().iter().map(|op| op.id).collect();
    if ids.is_empty() {
        return Err(Failed::Input(InputError::new("there are no operations to export")));
    }
    let described = bound.describe(&ids)?;
    let describe = |id: OpId| {
        let place = ids.binary_search(&id).expect("the operations of a history are numbered in order");
        witness_line(&described[place])
    };
    let exported =
        Exported { history: bound.history, precedence: order.precedence(), config: bound.config, describe: &describe };
    validate::export(bound.spec, &exported).map_err(|problems| bound.wrong(&problems))
}

/// Writes the module and everything that it needs into a directory.
pub(super) fn write(export: &Export, directory: &Path) -> Result<(), Failed> {
    let cannot = |error: std::io::Error| InputError::new(format!("{}: {error}", directory.display()));
    fs::create_dir_all(directory).map_err(cannot)?;
    for (file, text) in &export.modules {
        fs::write(directory.join(file), text).map_err(cannot)?;
    }
    fs::write(directory.join(&export.name).with_extension("tla"), &export.module).map_err(cannot)?;
    fs::write(directory.join(&export.name).with_extension("cfg"), &export.config).map_err(cannot)?;
    Ok(())
}

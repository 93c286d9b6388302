//! Harnesses: `omnilink init` writes one from a specification, and a project around it, `omnilink init --update` writes the
//! generated part again, and `omnilink fuzz` asks whether it is up to date.

mod adopt;
pub(crate) mod generate;
mod host;
pub(crate) mod init;
mod manifest;
mod setup;
pub(crate) mod stale;
mod template;
mod update;

use crate::args::{SchemaArgs, SchemaOf};
use crate::exit::Exit;

/// `omnilink schema`.
pub(crate) fn print_schema(args: &SchemaArgs) -> Exit {
    match args.file {
        SchemaOf::Settings => out!("{}", omnilink_settings::json_schema()),
        SchemaOf::Report => out!("{}", omnilink_report::json_schema()),
    }
    Exit::Accepted
}

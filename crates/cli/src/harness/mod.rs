//! Harnesses: `omnilink init` writes one from a specification, and a project around it, and `omnilink init --update` writes
//! the generated part again. [`omnilink_init`] has all but arguments and output.

pub(crate) mod generate;
pub(crate) mod init;
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

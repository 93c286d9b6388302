//! `omnilink completions` and `omnilink man`: files that an installation adds for shells and for `man`.
//!
//! Both are made from the definition of the command line, so they cannot differ from the help texts.

use std::fs;
use std::io;
use std::path::Path;

use clap_mangen::Man;
use omnilink_judge::InputError;

use crate::args::{self, CompletionsArgs, ManArgs};
use crate::exit::Exit;
use crate::files;
use crate::terminal::complain;

pub(crate) fn write_completions(args: &CompletionsArgs) -> Exit {
    let (mut command, mut script) = (without_former_names(&args::command(true)), Vec::new());
    let name = command.get_name().to_owned();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    out!("{}", String::from_utf8_lossy(&script));
    Exit::Accepted
}

/// The command without its hidden subcommands, which Clap offers for completion nevertheless.
fn without_former_names(command: &clap::Command) -> clap::Command {
    let listed = command.get_subcommands().filter(|inner| !inner.is_hide_set()).cloned();
    let same = clap::Command::new("omnilink").version(env!("CARGO_PKG_VERSION"));
    same.args(command.get_arguments().cloned()).subcommands(listed)
}

pub(crate) fn write_pages(args: &ManArgs) -> Exit {
    let cannot = |error: io::Error| InputError::new(format!("cannot be created: {error}"));
    if let Err(error) = fs::create_dir_all(&args.out) {
        return complain(&args.out.display().to_string(), &cannot(error));
    }
    // `omnilink help` has no page of its own: each page is the help of one command.
    let mut command = args::command(true).disable_help_subcommand(true);
    command.build();
    match write_page(&command, &args.out) {
        Ok(()) => Exit::Accepted,
        Err((page, error)) => complain(&page, &error),
    }
}

/// Writes the page of a command and those of its subcommands. An error names the page.
fn write_page(command: &clap::Command, directory: &Path) -> Result<(), (String, InputError)> {
    let page = Man::new(command.clone()).source(files::TOOL).manual("OmniLink");
    let path = directory.join(page.get_filename());
    let wrong = |error: InputError| (path.display().to_string(), error);
    let mut text = Vec::new();
    page.render(&mut text).map_err(|error| wrong(InputError::new(error)))?;
    files::write(&path, &String::from_utf8_lossy(&text)).map_err(wrong)?;
    command.get_subcommands().filter(|inner| !inner.is_hide_set()).try_for_each(|inner| write_page(inner, directory))
}

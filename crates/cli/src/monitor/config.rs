//! A file with the options of `omnilink monitor`, under the names that they have on the command line.
//!
//! ```toml
//! source = "nats://127.0.0.1:4222/OPS"
//! spec = "register:initial=0"
//! partitions = 8
//! remote = true
//! ```
//!
//! They are put before those of the command line, which win.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use omnilink_judge::InputError;
use toml::{Table, Value};

use crate::args::Cli;

/// The arguments of the command, with the options of the file that `--config` names.
pub(crate) fn expand(arguments: Vec<OsString>) -> Result<Vec<OsString>, (PathBuf, InputError)> {
    let Some(place) = arguments.iter().position(|argument| argument == "monitor") else { return Ok(arguments) };
    let (before, after) = arguments.split_at(place + 1);
    // Another command may have an argument of this name.
    let is_option = |pair: &[OsString]| pair[1].to_string_lossy().starts_with('-') || pair[0] == "--color";
    if !before[..place].windows(2).all(is_option) {
        return Ok(arguments);
    }
    let Some(path) = named(after) else { return Ok(arguments) };
    let text = std::fs::read_to_string(&path).map_err(|error| (path.clone(), InputError::new(error)))?;
    let options = read(&text).map_err(|error| (path, error))?;
    Ok(before.iter().cloned().chain(options.into_iter().map(OsString::from)).chain(after.iter().cloned()).collect())
}

/// The file that `--config` names.
fn named(arguments: &[OsString]) -> Option<PathBuf> {
    let place = arguments.iter().position(|argument| argument.to_string_lossy().starts_with("--config"))?;
    let argument = arguments[place].to_string_lossy();
    match argument.strip_prefix("--config") {
        Some("") => arguments.get(place + 1).map(PathBuf::from),
        Some(rest) => rest.strip_prefix('=').map(|path| Path::new(path).to_owned()),
        None => None,
    }
}

/// The options of a file, as they are written on the command line.
fn read(text: &str) -> Result<Vec<String>, InputError> {
    let table: Table = toml::from_str(text).map_err(|error| InputError::new(error.to_string().trim_end()))?;
    let command = Cli::command();
    let monitor = command.find_subcommand("monitor").expect("this command");
    let known: Vec<&str> = monitor.get_arguments().filter_map(|argument| argument.get_long()).collect();
    let mut options = Vec::new();
    for (key, value) in table {
        if key != "source" && (!known.contains(&key.as_str()) || key == "config") {
            let message = format!("unknown key `{}`", key.escape_debug());
            let help = omnilink_suggest::hint(&key, known.iter().copied().chain(["source"]));
            return Err(InputError {
                message,
                help: help.or_else(|| Some("see `omnilink monitor --help`".to_owned())),
            });
        }
        let value = match value {
            Value::Boolean(false) => continue,
            Value::Boolean(true) => {
                options.push(format!("--{key}"));
                continue;
            }
            Value::String(text) => text,
            Value::Integer(number) => number.to_string(),
            _ => return Err(InputError::new(format!("`{key}` is neither a string nor a number nor a truth value"))),
        };
        options.push(if key == "source" { value } else { format!("--{key}={value}") });
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_the_command_line() {
        let options = read("spec = 'register'\nsource = 'trace'\npartitions = 8\nremote = true\njoin = false");
        let mut options = options.expect("options");
        options.sort();
        assert_eq!(options, ["--partitions=8", "--remote", "--spec=register", "trace"]);
        let wrong = |text: &str| {
            let error = read(text).unwrap_err();
            format!("{}; {}", error.message, error.help.unwrap_or_default())
        };
        insta::assert_snapshot!(wrong("partition = 8"), @"unknown key `partition`; did you mean `partitions`?");
        insta::assert_snapshot!(wrong("spec = ['a']"), @"`spec` is neither a string nor a number nor a truth value; ");
        assert!(wrong("spec = ").contains("line 1"));
    }

    #[test]
    fn only_the_monitor_has_such_a_file() {
        let arguments = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        for text in ["omnilink check monitor --config x", "omnilink monitor --spec register"] {
            assert_eq!(expand(arguments(text)).ok(), Some(arguments(text)));
        }
        let (path, _) = expand(arguments("omnilink --color never monitor --config missing.toml")).unwrap_err();
        assert_eq!(path, Path::new("missing.toml"));
    }
}

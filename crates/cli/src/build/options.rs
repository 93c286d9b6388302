//! The options of `omnilink build run` among those of Cargo: `cargo omnilink test --schedule pct -p queue -- full`.
//!
//! They may stand anywhere before the first `--`. Cargo has no option of the same name.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Args, Command, Error};

use crate::args::RunOptions;

/// The commands of Cargo that run programs.
const RUNNING: [&str; 5] = ["test", "t", "run", "r", "nextest"];

/// Takes our options out of the arguments for Cargo. Returns both.
pub(super) fn take(arguments: &[OsString]) -> Result<(Vec<String>, Vec<OsString>), Error> {
    let mut command = RunOptions::augment_args(Command::new("cargo omnilink").disable_help_flag(true));
    command.build();
    let ends = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let (mut ours, mut rest) = (Vec::new(), Vec::new());
    let mut words = arguments[..ends].iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let (name, value) = text.split_once('=').map_or((&*text, None), |(name, value)| (name, Some(value)));
        let option = command
            .get_arguments()
            .find(|option| option.get_long().is_some_and(|long| name.strip_prefix("--") == Some(long)));
        let Some(option) = option else {
            rest.push(word.clone());
            continue;
        };
        let value = match option.get_action().takes_values() {
            true => value.map(str::to_owned).or_else(|| Some(words.next()?.to_string_lossy().into_owned())),
            false => value.map(str::to_owned),
        };
        // The options go through a command that Cargo splits at spaces; only times have some.
        let value = value.map(|value| value.split_whitespace().collect::<String>());
        ours.push(value.map_or_else(|| name.to_owned(), |value| format!("{name}={value}")));
    }
    let runs = rest.iter().find(|word| !word.to_string_lossy().starts_with(['-', '+']));
    if runs.is_some_and(|runs| runs == "bench") {
        let message = "benchmarks are not controlled: `cargo bench` runs them\n";
        return Err(Error::raw(ErrorKind::InvalidSubcommand, message));
    }
    if let (Some(first), Some(runs)) = (ours.first(), runs)
        && !RUNNING.iter().any(|running| runs == running)
    {
        let name = first.split('=').next().unwrap_or_default();
        let message = format!("`{name}` applies to `cargo omnilink test` and `cargo omnilink run` only\n");
        return Err(Error::raw(ErrorKind::ArgumentConflict, message));
    }
    let whole = [String::from("cargo omnilink")].into_iter().chain(ours.iter().cloned());
    command.try_get_matches_from_mut(whole)?;
    rest.extend_from_slice(&arguments[ends..]);
    Ok((ours, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &str) -> String {
        let arguments: Vec<OsString> = arguments.split(' ').map(OsString::from).collect();
        match take(&arguments) {
            Ok((ours, rest)) => {
                let rest: Vec<String> = rest.iter().map(|word| word.to_string_lossy().into_owned()).collect();
                format!("{} | {}", ours.join(" "), rest.join(" "))
            }
            Err(error) => error.to_string().lines().next().unwrap_or_default().to_owned(),
        }
    }

    #[test]
    fn options_are_found_anywhere_before_the_arguments_of_the_program() {
        insta::assert_snapshot!(check("test --schedule pct -p queue --plain lost --seed=7 -- --exact --seed 3"), @"--schedule=pct --plain --seed=7 | test -p queue lost -- --exact --seed 3");
        insta::assert_snapshot!(check("bench --release"), @"error: benchmarks are not controlled: `cargo bench` runs them");
        insta::assert_snapshot!(check("--weak-memory test --release"), @"--weak-memory | test --release");
        insta::assert_snapshot!(check("build --release"), @" | build --release");
    }

    #[test]
    fn wrong_options_are_errors_before_anything_is_built() {
        insta::assert_snapshot!(check("test --schedule quick"), @"error: invalid value 'quick' for '--schedule <HOW>'");
        insta::assert_snapshot!(check("test --runs"), @"error: a value is required for '--runs <COUNT>' but none was supplied");
        insta::assert_snapshot!(check("test --runs 0"), @"error: invalid value '0' for '--runs <COUNT>': 0 is not in 1..18446744073709551615");
        insta::assert_snapshot!(check("test --plain=yes"), @"error: unexpected value 'yes' for '--plain' found; no more were expected");
        insta::assert_snapshot!(check("build --runs 3"), @"error: `--runs` applies to `cargo omnilink test` and `cargo omnilink run` only");
    }
}

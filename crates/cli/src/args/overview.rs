//! The first page of help: the commands under headings, which Clap has for options only.
//!
//! The page takes the sentence about each command from its definition. Commands that it leaves out are for builds, editors
//! and shells; `--help` names them. Former names of commands are hidden everywhere.

use std::fmt::Write as _;

use clap::CommandFactory as _;

use super::Cli;

/// The commands of the page.
const LISTED: [(&str, &[&str]); 5] = [
    ("Check what was recorded", &["check", "report", "view", "monitor"]),
    ("Find failures", &["init", "fuzz", "drive", "lineup"]),
    ("Look into a failing run", &["replay", "shrink", "debug", "runs"]),
    ("Specifications and formats", &["spec", "convert"]),
    ("This machine", &["doctor"]),
];

/// Command lines to begin with.
const BEGIN: [(&str, &str); 3] = [
    ("omnilink init", "set up a harness for your system"),
    ("omnilink check --spec queue FILE", "check a recorded history"),
    ("omnilink doctor", "report what works on this machine"),
];

/// The command line. Without arguments, its help begins with command lines to try instead of the usage.
pub(crate) fn command(has_arguments: bool) -> clap::Command {
    let command = Cli::command();
    let list = list(&command);
    let template = match has_arguments {
        true => {
            let header = command.get_styles().get_header();
            let options = format!("{header}Options:{header:#}\n{{options}}");
            format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{options}{{after-help}}")
        }
        false => format!("{}\n{list}`omnilink help COMMAND` describes a command.\n", begin(&command)),
    };
    let unlisted = format!("Not listed: {}", unlisted(&command).join(", "));
    command.help_template(template).after_long_help(unlisted)
}

/// The commands under their headings.
fn list(command: &clap::Command) -> String {
    let header = command.get_styles().get_header();
    let width = LISTED.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (heading, names) in LISTED {
        let _ = writeln!(text, "{header}{heading}:{header:#}");
        for name in names {
            let inner = command.find_subcommand(name).expect("the page lists commands that exist");
            text.push_str(&row(command, name, width, &inner.get_about().cloned().unwrap_or_default().to_string()));
        }
        text.push('\n');
    }
    text
}

/// The command lines to begin with.
fn begin(command: &clap::Command) -> String {
    let width = BEGIN.iter().map(|(line, _)| line.len()).max().unwrap_or(0);
    BEGIN.iter().map(|(line, does)| row(command, line, width, does)).collect()
}

fn row(command: &clap::Command, name: &str, width: usize, about: &str) -> String {
    let literal = command.get_styles().get_literal();
    format!("  {literal}{name}{literal:#}{:1$}  {about}\n", "", width - name.len())
}

/// The commands that are not on the page and work nevertheless.
fn unlisted(command: &clap::Command) -> Vec<&str> {
    let is_listed = |name: &str| LISTED.iter().any(|(_, names)| names.contains(&name));
    let others = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    let mut others: Vec<&str> = others.map(clap::Command::get_name).filter(|name| !is_listed(name)).collect();
    others.sort_unstable();
    others
}

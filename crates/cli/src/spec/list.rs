//! `omnilink spec list`: the built-in specifications; and `omnilink spec levels`.

use anstyle::Style;
use omnilink_judge::InputError;
use omnilink_models::digits::OPTION;
use omnilink_models::{About, Operation, names};
use omnilink_weak::{Level, Visibility};

use crate::exit::Exit;
use crate::terminal::complain;

pub(crate) fn run(name: Option<&str>) -> Exit {
    let Some(name) = name else {
        let width = names().iter().map(|about| about.name.len()).max().unwrap_or(0);
        for about in names() {
            let bold = Style::new().bold();
            outln!("{bold}{:width$}{bold:#}  {}", about.name, about.summary);
        }
        return Exit::Accepted;
    };
    match names().iter().find(|about| about.name == name) {
        Some(about) => show(about),
        None => {
            let hint = omnilink_suggest::hint(name, names().iter().map(|about| about.name));
            let help = hint.or_else(|| Some("`omnilink spec list` lists the built-in ones".into()));
            return complain("spec list", &InputError { message: format!("unknown specification `{name}`"), help });
        }
    }
    Exit::Accepted
}

/// Lists the levels.
pub(crate) fn levels() -> Exit {
    let bold = Style::new().bold();
    let presets: Vec<_> = Level::presets().collect();
    let width = presets.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    outln!("levels, strongest first:");
    for (name, meaning) in presets {
        outln!("  {bold}{name:width$}{bold:#}  {meaning}");
    }
    outln!("\nvisibilities of an action, as in `--level \"linearizable, size=overlap\"`:");
    for visibility in Visibility::ALL {
        outln!("  {bold}{:width$}{bold:#}  {}", visibility.name(), visibility.meaning());
    }
    Exit::Accepted
}

fn show(about: &About) {
    let bold = Style::new().bold();
    outln!("{bold}{}{bold:#}: {}", about.name, about.summary);
    let effect = |operation: &Operation| match operation.aliases {
        [] => operation.effect.to_owned(),
        aliases => {
            let names: Vec<String> = aliases.iter().map(|name| format!("`{name}`")).collect();
            format!("{}; also {}", operation.effect, names.join(", "))
        }
    };
    let operations = about.operations.iter().map(|operation| (operation.call, effect(operation))).collect();
    let options =
        about.options.iter().chain([&OPTION]).map(|(option, effect)| (*option, (*effect).to_owned())).collect();
    let tables: [(&str, Vec<(&str, String)>); 2] = [("operations", operations), ("options", options)];
    for (title, rows) in tables {
        let width = rows.iter().map(|(text, _)| text.len()).max().unwrap_or(0);
        outln!("\n{title}:");
        for (text, meaning) in rows {
            outln!("  {text:width$}  {meaning}");
        }
    }
}

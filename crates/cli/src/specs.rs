//! `omnilink specs`: the built-in specifications; and `omnilink levels`.

use anstyle::Style;
use judge::InputError;
use models::{About, names};
use weak::{Level, Visibility};

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
            let hint = suggest::hint(name, names().iter().map(|about| about.name));
            let help = hint.or_else(|| Some("`omnilink specs` lists the built-in ones".into()));
            return complain("specs", &InputError { message: format!("unknown specification `{name}`"), help });
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
    for (title, rows) in [("operations", about.operations), ("options", about.options)] {
        let width = rows.iter().map(|(text, _)| text.len()).max().unwrap_or(0);
        if !rows.is_empty() {
            outln!("\n{title}:");
        }
        for (text, meaning) in rows {
            outln!("  {text:width$}  {meaning}");
        }
    }
}

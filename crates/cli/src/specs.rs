//! `omnilink specs`: the built-in specifications.

use anstyle::Style;
use judge::InputError;
use models::{About, names};

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

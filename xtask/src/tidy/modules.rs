//! The order of the modules of `tla`: each may use those before it.

use std::sync::LazyLock;

use regex::Regex;

use super::{File, Finding};

/// The modules, from the bottom up.
const ORDER: &[&str] = &[
    "source", "strings", "id", "error", "value", "datum", "modules", "ir", "resolve", "config", "program", "machine",
    "reach",
];

/// A module carries what its resolver needs to resolve another expression in it.
const EXCEPTIONS: &[(&str, &str)] = &[("ir", "resolve")];

static USE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bcrate::([a-z_]+)").expect("a well-formed pattern"));

/// Checks the uses in one file; tests may use anything.
pub(super) fn check(File { path, text }: &File) -> Vec<Finding> {
    let Some(place) = path.strip_prefix("crates/tla/src/") else { return Vec::new() };
    let name = place.split(['/', '.']).next().unwrap_or(place);
    let rank = |name: &str| ORDER.iter().position(|known| *known == name);
    let own = match rank(name) {
        Some(own) => own,
        None if name == "lib" => return Vec::new(),
        None => return vec![Finding::new(path, 1, format!("module `{name}` has no place in the order of modules"))],
    };
    if place.contains("/tests") {
        return Vec::new();
    }
    let lines = text.lines().enumerate().take_while(|(_, line)| *line != "mod tests {");
    let code = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
    let uses = code.flat_map(|(index, line)| USE.captures_iter(line).map(move |found| (index + 1, found)));
    let is_upward = |used: &str| rank(used).is_some_and(|used| used > own) && !EXCEPTIONS.contains(&(name, used));
    let upward = uses.filter(|(_, found)| is_upward(&found[1]));
    upward.map(|(line, found)| Finding::new(path, line, format!("`{name}` may not use `{}`", &found[1]))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::listing;
    use super::*;

    fn report(path: &str, text: &str) -> String {
        listing(check(&File { path: path.to_owned(), text: text.to_owned() }))
    }

    #[test]
    fn modules_use_those_below_them() {
        let text = "//! Asks a [`crate::reach::Explorer`].\nuse crate::reach::Limit;\nuse crate::value::Value;\n";
        insta::assert_snapshot!(report("crates/tla/src/modules/mod.rs", text), @"crates/tla/src/modules/mod.rs:2: `modules` may not use `reach`");
        assert_eq!(report("crates/tla/src/reach/mod.rs", text), "");
        assert_eq!(report("crates/tla/src/value/tests.rs", text), "");
        assert_eq!(report("crates/tla/src/ir/mod.rs", "use crate::resolve::Context;\n"), "");
        insta::assert_snapshot!(report("crates/tla/src/help.rs", ""), @"crates/tla/src/help.rs:1: module `help` has no place in the order of modules");
    }
}

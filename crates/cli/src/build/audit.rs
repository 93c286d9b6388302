//! `omnilink build audit`: what of a program is seen when it is controlled, and what is not.

use explore::audit::{Audit, LibraryKind};
use judge::InputError;
use serde_json::json;

use crate::args::{AuditArgs, Output};
use crate::exit::Exit;
use crate::terminal::complain;

/// So many names are shown to people.
const SHOWN: usize = 20;

pub(super) fn run(args: &AuditArgs) -> Exit {
    let audit = match Audit::of(&args.file) {
        Ok(audit) => audit,
        Err(error) => return complain(&args.file.display().to_string(), &InputError::new(error)),
    };
    match args.format {
        Output::Human => out!("{}", text(&audit)),
        Output::Json => outln!("{:#}", json(&audit)),
    }
    Exit::Accepted
}

fn text(audit: &Audit) -> String {
    let mut lines = Vec::new();
    lines.push(String::from(match audit.is_instrumented {
        true => "it is instrumented",
        false => "it is not instrumented: build it with `omnilink build` or `cargo omnilink`",
    }));
    lines.push(String::from(match audit.is_runtime_first {
        true => "it calls the runtime before the C library",
        false => "it does not call the runtime by itself, which must be loaded before it",
    }));
    let unseen = audit.libraries.iter().filter(|library| library.kind == LibraryKind::Unseen);
    let libraries: Vec<String> = unseen
        .map(|library| match &library.path {
            Some(path) => format!("{} ({})", library.name, path.display()),
            None => format!("{} (not found)", library.name),
        })
        .collect();
    let unknown: Vec<String> = audit.unknown.iter().map(|what| (*what).to_owned()).collect();
    let parts = [
        ("calls that the runtime does not stand in for", &audit.unseen_calls),
        ("functions with atomic instructions that are not instrumented", &audit.unseen_functions),
        ("libraries that are not instrumented", &libraries),
        ("what could not be looked into", &unknown),
    ];
    for (what, names) in parts.iter().filter(|(_, names)| !names.is_empty()) {
        lines.push(format!("{what}: {}", names.len()));
        lines.extend(names.iter().take(SHOWN).map(|name| format!("  {name}")));
        if names.len() > SHOWN {
            lines.push(format!("  and {} more", names.len() - SHOWN));
        }
    }
    lines.push(String::from(match audit.is_complete() {
        true => "all that threads do to each other is seen",
        false => {
            "what threads do to each other elsewhere is not seen: schedules that differ only there are not told apart"
        }
    }));
    lines.join("\n") + "\n"
}

fn json(audit: &Audit) -> serde_json::Value {
    let kind = |kind| match kind {
        LibraryKind::Runtime => "runtime",
        LibraryKind::System => "system",
        LibraryKind::Instrumented => "instrumented",
        LibraryKind::Unseen => "unseen",
    };
    let libraries = audit
        .libraries
        .iter()
        .map(|library| json!({ "name": library.name, "path": library.path, "kind": kind(library.kind) }));
    json!({
        "schema": "omnilink.audit/1",
        "instrumented": audit.is_instrumented,
        "runtime_first": audit.is_runtime_first,
        "complete": audit.is_complete(),
        "unseen_calls": audit.unseen_calls,
        "unseen_functions": audit.unseen_functions,
        "unknown": audit.unknown,
        "libraries": libraries.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use explore::audit::Library;

    use super::*;

    #[test]
    fn what_is_not_seen_is_listed() {
        let library = |name: &str, kind| Library { name: name.into(), path: None, kind };
        let audit = Audit {
            is_instrumented: true,
            is_runtime_first: true,
            unseen_calls: vec!["mtx_lock".into()],
            unseen_functions: (0..22).map(|number| format!("std::sync::f{number:02}")).collect(),
            unknown: vec!["calls `dlopen`"],
            libraries: vec![library("libc.so.6", LibraryKind::System), library("libz.so.1", LibraryKind::Unseen)],
        };
        let text = text(&audit);
        let shown: Vec<&str> = text.lines().filter(|line| !line.starts_with("  std::sync::f")).collect();
        insta::assert_snapshot!(shown.join("\n"), @"
        it is instrumented
        it calls the runtime before the C library
        calls that the runtime does not stand in for: 1
          mtx_lock
        functions with atomic instructions that are not instrumented: 22
          and 2 more
        libraries that are not instrumented: 1
          libz.so.1 (not found)
        what could not be looked into: 1
          calls `dlopen`
        what threads do to each other elsewhere is not seen: schedules that differ only there are not told apart
        ");
    }
}

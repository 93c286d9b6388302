//! `omnilink build audit`: what the scheduler can and cannot observe in a program.

use omnilink_explore::audit::{Audit, LibraryKind};
use omnilink_judge::InputError;
use serde_json::json;

use crate::args::{AuditArgs, Output};
use crate::exit::Exit;
use crate::terminal::complain;

/// The maximum number of names shown.
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
        true => "instrumented",
        false => "not instrumented: build it with `omnilink build` or `cargo omnilink`",
    }));
    lines.push(String::from(match audit.is_runtime_first {
        true => "calls the runtime before the C library",
        false => "does not call the runtime by itself; preload it",
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
        ("calls that the runtime does not intercept", &audit.unseen_calls),
        ("uninstrumented functions with atomic instructions", &audit.unseen_functions),
        ("uninstrumented libraries", &libraries),
        ("not inspected", &unknown),
    ];
    for (what, names) in parts.iter().filter(|(_, names)| !names.is_empty()) {
        lines.push(format!("{what}: {}", names.len()));
        lines.extend(names.iter().take(SHOWN).map(|name| format!("  {name}")));
        if names.len() > SHOWN {
            lines.push(format!("  and {} more", names.len() - SHOWN));
        }
    }
    lines.push(String::from(match audit.is_complete() {
        true => "all interactions between threads are observed",
        false => {
            "interactions between threads elsewhere are not observed: schedules that differ only there are not distinguished"
        }
    }));
    lines.push(String::from(match (audit.knows_order(), audit.is_complete()) {
        (true, true) => "data races are looked for",
        (true, false) => "data races are looked for; one may be missed around a call into Rust's standard library",
        (false, _) => "data races are not looked for",
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
        "races": audit.knows_order(),
        "unseen_calls": audit.unseen_calls,
        "unseen_functions": audit.unseen_functions,
        "unknown": audit.unknown,
        "libraries": libraries.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use omnilink_explore::audit::Library;

    use super::*;

    #[test]
    fn what_is_not_seen_is_listed() {
        let library = |name: &str, kind| Library { name: name.into(), path: None, kind };
        let audit = Audit {
            is_instrumented: true,
            is_runtime_first: true,
            unseen_calls: vec!["mtx_lock".into()],
            unseen_functions: (0..22).map(|number| format!("std::sync::f{number:02}")).collect(),
            has_hooks: false,
            unknown: vec!["calls `dlopen`"],
            libraries: vec![library("libc.so.6", LibraryKind::System), library("libz.so.1", LibraryKind::Unseen)],
        };
        let text = text(&audit);
        let shown: Vec<&str> = text.lines().filter(|line| !line.starts_with("  std::sync::f")).collect();
        insta::assert_snapshot!(shown.join("\n"), @"
        instrumented
        calls the runtime before the C library
        calls that the runtime does not intercept: 1
          mtx_lock
        uninstrumented functions with atomic instructions: 22
          and 2 more
        uninstrumented libraries: 1
          libz.so.1 (not found)
        not inspected: 1
          calls `dlopen`
        interactions between threads elsewhere are not observed: schedules that differ only there are not distinguished
        data races are not looked for
        ");
    }
}

//! Modules in `test_data`: those in `ok` have no errors and show their tree, those in `err` show their errors.

mod print;

use std::fmt::Write;
use std::path::Path;
use std::{fs, thread};

use omnilink_tla_syntax::{Diagnostic, Parse, Position, Span, parse};

#[test]
fn ok() {
    each("test_data/ok", |text| {
        let parse = parse(text);
        assert_eq!(parse.errors, []);
        insta::assert_snapshot!("ok", print::module(&parse.module.unwrap()));
    });
}

#[test]
fn err() {
    each("test_data/err", |text| insta::assert_snapshot!("err", errors(text, &parse(text))));
}

fn each(directory: &str, check: impl Fn(&str)) {
    let mut paths: Vec<_> =
        fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_suffix(path.file_stem().and_then(|stem| stem.to_str()).expect("a name"));
        settings.bind(|| check(&read(&path)));
    }
}

/// A module cut anywhere has errors, all inside the text, and causes no panic.
#[test]
fn every_beginning_of_a_module_has_errors_inside_it() {
    let text = read(Path::new("test_data/ok/expressions.tla"));
    for end in (0..text.len()).step_by(7).filter(|end| text.is_char_boundary(*end)) {
        check_spans(&text[..end]);
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let deep = |before: &str, after: &str| {
        let text = format!("---- MODULE M ----\nx == {}1{}\n====\n", before.repeat(100_000), after.repeat(100_000));
        check_spans(&text).errors.into_iter().map(|error| error.message).collect::<Vec<_>>()
    };
    // Code that walks the tree has a small stack too.
    let checks = thread::Builder::new().stack_size(1 << 20).spawn(move || {
        let closed = [("(", ")"), ("{", "}"), ("1 /\\ ", ""), ("/\\ ", ""), ("[a |-> ", "]"), ("f(", ")")];
        for (before, after) in closed.into_iter().chain([("~\n", ""), ("1 /\\\n", "")]) {
            assert_eq!(deep(before, after), ["nested too deeply"], "{before}");
        }
        for before in ["(", "{", "IF ", "LET x == ", "<<", "[", "\\E x \\in "] {
            assert_ne!(deep(before, ""), [""; 0], "{before}");
        }
    });
    checks.unwrap().join().unwrap();
}

#[test]
fn names_and_strings_are_listed_as_they_first_appear() {
    let parse = parse("x ---- MODULE M ----\n\\* c \"d\"\na == \"q\" \\o b(a) \\o \"p\\n\" \\o \"q\"\n==== y");
    assert_eq!(parse.identifiers, ["M", "a", "b"]);
    assert_eq!(parse.literals, ["q", "p\n"]);
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a text")
}

fn check_spans(text: &str) -> Parse {
    let parse = parse(text);
    let is_inside = |span: Span| span.start <= span.end && text.get(span.start as usize..span.end as usize).is_some();
    for error in &parse.errors {
        assert!(is_inside(error.span) && error.related.iter().all(|(span, _)| is_inside(*span)), "{error:?}");
    }
    parse
}

fn errors(text: &str, parse: &Parse) -> String {
    let mut out = String::new();
    for Diagnostic { message, span, label, related, help } in &parse.errors {
        let place = |span: Span| {
            let Position { line, column } = Position::of(text, span.start);
            format!("{line}:{column}")
        };
        writeln!(out, "{} {message}", place(*span)).expect("writing to a string succeeds");
        if !label.is_empty() {
            writeln!(out, "    {label}").expect("writing to a string succeeds");
        }
        for (span, label) in related {
            writeln!(out, "    {} `{}` {label}", place(*span), span.of(text)).expect("writing to a string succeeds");
        }
        if let Some(help) = help {
            writeln!(out, "    help: {help}").expect("writing to a string succeeds");
        }
    }
    out
}

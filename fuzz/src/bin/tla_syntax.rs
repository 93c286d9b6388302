//! Any text: it parses or has errors, and all of them stand inside it.
#![no_main]

use tla_syntax::Span;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let parse = tla_syntax::parse(text);
    let is_inside = |span: Span| span.start <= span.end && text.get(span.start as usize..span.end as usize).is_some();
    assert!(parse.module.is_some() || !parse.errors.is_empty());
    for error in &parse.errors {
        assert!(is_inside(error.span) && error.related.iter().all(|(span, _)| is_inside(*span)), "{error:?}");
    }
});

//! Any text as a configuration: it is read or has errors, and all of them stand inside it.
#![no_main]

use tla::config;
use tla::strings::Strings;
use tla_syntax::Span;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let is_inside = |span: Span| span.start <= span.end && text.get(span.start as usize..span.end as usize).is_some();
    if let Err(errors) = config::parse(text, &mut Strings::default()) {
        assert!(!errors.is_empty());
        for error in &errors {
            assert!(is_inside(error.span) && error.related.iter().all(|(span, _)| is_inside(*span)), "{error:?}");
        }
    }
});

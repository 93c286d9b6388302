//! Settings are read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = validate::Settings::parse(text);
});

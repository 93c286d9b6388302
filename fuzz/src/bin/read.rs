//! Any bytes: every reader either understands them or says where it does not, and what it reads can be checked.
#![no_main]

use history::History;
use history::format::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for format in Format::all() {
        let _ = format.read(bytes).map(History::new);
    }
});

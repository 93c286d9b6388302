//! Any bytes: the reader of Porcupine's key-value logs understands them or says where it does not, and what it reads can be checked.
#![no_main]

use history::History;
use history::format::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = Format::PorcupineKv.read(bytes).map(History::new);
});

//! Any bytes: the reader of Porcupine's etcd logs understands them or says where it does not, and what it reads can be checked.
#![no_main]

use history::History;
use history::format::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = Format::PorcupineEtcd.read(bytes).map(History::new);
});

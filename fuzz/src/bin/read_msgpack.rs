//! Any bytes: the reader of the prototype's MessagePack logs understands them or says where it does not, and what it reads can be checked.
#![no_main]

use history::History;
use history::format::msgpack;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = msgpack::read(&[("0", bytes)]).map(History::new);
});

//! Any bytes: the reader of binary segments understands them or says where it does not, and what it reads can be checked.
#![no_main]

use history::format::binary::{Merge, SegmentReader};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = SegmentReader::new("0", bytes).and_then(|reader| Merge::new([reader])).map(Iterator::count);
});

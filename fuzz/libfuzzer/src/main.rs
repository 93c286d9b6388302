//! One program for all targets, because building is what takes long. libFuzzer owns the command line, so the target is
//! named by `OMNILINK_FUZZ_TARGET`.
#![no_main]

use std::env;
use std::sync::LazyLock;

static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = env::var("OMNILINK_FUZZ_TARGET").expect("`OMNILINK_FUZZ_TARGET` names a target");
    let target = omnilink_fuzz::TARGETS.iter().find(|target| target.0 == name);
    target.unwrap_or_else(|| panic!("there is no target `{name}`")).1
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (*TARGET)(bytes));

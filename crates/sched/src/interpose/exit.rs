//! The end of the process, which other threads may precede.

use std::ffi::c_int;

use omnilink_schedule::{Kind, thread_object};

use super::step;
use crate::{baton, real};

/// The process is about to end while other threads live: that is a choice.
pub(crate) fn announce() {
    if baton::is_controlled() && !baton::is_alone() {
        baton::visible(step(Kind::Exit, thread_object(baton::me() as u8)));
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn exit(code: c_int) -> ! {
    announce();
    // SAFETY: as the caller promised.
    unsafe { real::exit(code) }
}

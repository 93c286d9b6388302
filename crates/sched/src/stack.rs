//! Stacks of threads, and the message before the process is given up.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use omnilink_schedule::channel::{FRAMES, NO_CONTROL, REFUSAL, Standing};

use crate::channel::CHANNEL;
use crate::{baton, real};

unsafe extern "C" {
    fn backtrace(frames: *mut *mut libc::c_void, size: libc::c_int) -> libc::c_int;
}

/// Loads the unwinder. Loading it allocates, which a thread that crashed because of a broken heap can no longer do.
pub(crate) fn load_unwinder() {
    let mut frame = std::ptr::null_mut();
    // SAFETY: there is space for one.
    baton::without_control(|| unsafe { backtrace(&raw mut frame, 1) });
}

/// Whether waiting threads should record their stacks.
static IS_ASKED: AtomicBool = AtomicBool::new(false);
/// Opened by a thread that has.
static IS_WRITTEN: AtomicU32 = AtomicU32::new(0);

/// See [`capture_all`].
pub(crate) fn is_asked() -> bool {
    IS_ASKED.load(Ordering::Acquire)
}

/// Makes each thread record its stack, one after another. No thread runs after this.
pub(crate) fn capture_all() {
    let me = baton::me();
    IS_ASKED.store(true, Ordering::Release);
    for thread in baton::threads() {
        let is_alive = matches!(baton::slot(thread).standing.get(), Standing::Alive | Standing::Spinning);
        if thread == me {
            record_stack(me);
        } else if is_alive {
            baton::wake_for_stack(thread);
            baton::pass(&IS_WRITTEN);
        }
    }
}

/// Records this thread's stack, on request.
pub(crate) fn capture(me: usize) {
    record_stack(me);
    baton::open(&IS_WRITTEN);
}

/// Records this thread's stack.
pub(crate) fn record_stack(me: usize) {
    CHANNEL.set_stack(me, frames());
}

/// A stack, innermost frame first, and its depth.
pub(crate) type Frames = ([u64; FRAMES], u32);

/// The stack of the calling thread.
pub(crate) fn frames() -> Frames {
    let mut frames = [std::ptr::null_mut(); FRAMES];
    // SAFETY: there is space for that many.
    let depth = baton::without_control(|| unsafe { backtrace(frames.as_mut_ptr(), FRAMES as libc::c_int) });
    (frames.map(|frame| frame as u64), depth.max(0) as u32)
}

/// Reports why there can be no control, and ends the process.
pub(crate) fn fail(message: &[&str]) -> ! {
    let line = [REFUSAL, &message.concat(), "\n"].concat();
    write(libc::STDERR_FILENO, line.as_bytes());
    // SAFETY: the process ends at once.
    unsafe { libc::_exit(NO_CONTROL) }
}

/// Writes bytes with the raw system call: `write` is interposed. Errors are ignored: without a reader, the bytes are
/// not needed.
pub(crate) fn write(file: libc::c_int, bytes: &[u8]) {
    // SAFETY: the bytes are valid.
    unsafe { real::kernel(libc::SYS_write, [file.into(), bytes.as_ptr() as i64, bytes.len() as i64, 0, 0, 0]) };
}

//! Where threads are, and what is said before the process is given up.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use schedule::channel::{FRAMES, NO_CONTROL, REFUSAL, Standing};

use crate::channel::CHANNEL;
use crate::{baton, real};

unsafe extern "C" {
    fn backtrace(frames: *mut *mut libc::c_void, size: libc::c_int) -> libc::c_int;
}

/// Has loaded what is needed to find out where a thread is. To load it takes memory, which a thread that crashed because
/// its heap is broken can no longer ask for.
pub(crate) fn prepare() {
    let mut frame = std::ptr::null_mut();
    // SAFETY: there is room for one.
    baton::inside(|| unsafe { backtrace(&raw mut frame, 1) });
}

/// Whether threads that wait are to write down where they are.
static IS_ASKED: AtomicBool = AtomicBool::new(false);
/// Opened by a thread that has.
static IS_WRITTEN: AtomicU32 = AtomicU32::new(0);

/// See [`capture_all`].
pub(crate) fn is_asked() -> bool {
    IS_ASKED.load(Ordering::Acquire)
}

/// Has each thread write down where it is, one after another. Nobody goes on after this.
pub(crate) fn capture_all() {
    let me = baton::me();
    IS_ASKED.store(true, Ordering::Release);
    for thread in baton::threads() {
        let is_alive = matches!(baton::slot(thread).standing.get(), Standing::Alive | Standing::Spinning);
        if thread == me {
            write_down(me);
        } else if is_alive {
            baton::disturb(thread);
            baton::pass(&IS_WRITTEN);
        }
    }
}

/// Writes down where this thread is, when it was asked for.
pub(crate) fn capture(me: usize) {
    write_down(me);
    baton::open(&IS_WRITTEN);
}

/// Writes down where this thread is.
pub(crate) fn write_down(me: usize) {
    let mut frames = [std::ptr::null_mut(); FRAMES];
    // SAFETY: there is room for so many.
    let depth = baton::inside(|| unsafe { backtrace(frames.as_mut_ptr(), FRAMES as libc::c_int) });
    CHANNEL.set_stack(me, frames.map(|frame| frame as u64), depth.max(0) as u32);
}

/// Says why there can be no control, and ends the process.
pub(crate) fn fail(message: &[&str]) -> ! {
    let line = [REFUSAL, &message.concat(), "\n"].concat();
    write(libc::STDERR_FILENO, line.as_bytes());
    // SAFETY: the process ends at once.
    unsafe { libc::_exit(NO_CONTROL) }
}

/// Writes bytes with the system call itself: `write` is interposed. If nobody reads them, nobody wants them.
pub(crate) fn write(file: libc::c_int, bytes: &[u8]) {
    // SAFETY: the bytes are there.
    unsafe { real::kernel(libc::SYS_write, [file.into(), bytes.as_ptr() as i64, bytes.len() as i64, 0, 0, 0]) };
}

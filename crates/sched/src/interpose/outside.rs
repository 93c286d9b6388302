//! Waiting for what comes from outside of the process, or goes there: pipes, sockets, and the like.
//!
//! Whether a call would wait is asked of the kernel, without waiting, whenever somebody decides who is next; the call is
//! made when it would not. So a pipe between two threads is like a queue between them, and the same every time. What comes
//! from another process comes when it comes: if nobody else can go on, everybody waits for real, and the outcome says so.
//!
//! Every such call is a step, also if it would not wait: threads may meet in a pipe, and then it matters who comes first. What
//! is at the other end of a descriptor is not known, so all these steps are about one object. What is written to the
//! standard output and error is for people, and a step only if it has to wait: or else where it goes would decide what
//! the steps of an execution are.
//!
//! Limits. Files and directories are never waited for. What the C library reads or writes inside (`fread`, `printf`) is
//! not seen, and neither are `connect` and `waitpid`: all threads stand still for that long. What `writev` and
//! `sendmsg` write at once may be more than there is room for, and then everybody waits. A timeout passes if nothing
//! came for a tenth of a second for real, however long it is. Masks of `ppoll`, `pselect` and `epoll_pwait` are ignored.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use libc::{epoll_event, fd_set, iovec, msghdr, nfds_t, pollfd, sigset_t, sockaddr, socklen_t, timespec, timeval};
use schedule::{Kind, Step, thread_object};

use super::{errno_kept, fail, signal, step, time};
use crate::{baton, real};

/// How long one wait for real is, in nanoseconds, and how many of them there are before a timeout passes.
const MOMENT: i64 = 200_000;
const MOMENTS: u64 = 500;

/// What all steps are about: a thread that nobody has.
fn about() -> Step {
    step(Kind::Outside, thread_object(u8::MAX))
}

/// At which step somebody began to wait for real, and how often since.
static STEP: AtomicU64 = AtomicU64::new(u64::MAX);
static WAITED: AtomicU64 = AtomicU64::new(0);

/// Waits for a moment, if somebody waits for something from outside. False if that was long enough.
pub(crate) fn pause() -> bool {
    if STEP.swap(baton::steps(), Ordering::Relaxed) != baton::steps() {
        WAITED.store(0, Ordering::Relaxed);
    }
    let moment = timespec { tv_sec: 0, tv_nsec: MOMENT };
    // SAFETY: it takes a time.
    errno_kept(|| unsafe { real::nanosleep(&raw const moment, std::ptr::null_mut()) });
    WAITED.fetch_add(1, Ordering::Relaxed) < MOMENTS
}

/// Waits until something is so, or until a moment. The error otherwise.
fn wait(deadline: u64, is_so: &dyn Fn() -> bool) -> Result<(), c_int> {
    let me = baton::me();
    baton::acted();
    if deadline == baton::PASSED {
        // Somebody who only looks lets others go first.
        baton::yielding(about());
        return if is_so() { Ok(()) } else { Err(libc::ETIMEDOUT) };
    }
    let is_in_time = baton::outside(about(), deadline, &|| is_so() || signal::is_pending(me));
    match is_so() {
        true => Ok(()),
        false => Err(if is_in_time { signal::interrupted() } else { libc::ETIMEDOUT }),
    }
}

/// What a wait returns that ended without what was waited for.
fn nothing(error: c_int) -> c_int {
    if error == libc::ETIMEDOUT { 0 } else { fail(error) as c_int }
}

fn after_milliseconds(timeout: c_int) -> u64 {
    let timeout = u64::try_from(timeout).ok();
    timeout.map_or(baton::NEVER, |timeout| time::after_nanoseconds(timeout * 1_000_000))
}

/// Whether a call on a descriptor would not wait.
fn is_ready(descriptor: c_int, events: i16) -> bool {
    let mut wanted = pollfd { fd: descriptor, events, revents: 0 };
    // SAFETY: one descriptor, and no waiting.
    errno_kept(|| unsafe { real::poll(&raw mut wanted, 1, 0) }) != 0
}

/// What a call on a descriptor may do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nature {
    /// It is a file, or none at all: nobody waits for it.
    File,
    /// It may wait.
    Waits,
    /// Somebody asked it not to.
    Answers,
}

fn nature(descriptor: c_int) -> Nature {
    // SAFETY: zeros are a value, and it is filled.
    errno_kept(|| unsafe {
        let mut about: libc::stat = std::mem::zeroed();
        let is_file = libc::fstat(descriptor, &raw mut about) != 0
            || matches!(about.st_mode & libc::S_IFMT, libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK);
        if is_file {
            Nature::File
        } else if libc::fcntl(descriptor, libc::F_GETFL) & libc::O_NONBLOCK != 0 {
            Nature::Answers
        } else {
            Nature::Waits
        }
    })
}

/// Makes the step of a call on a descriptor: as soon as it does not wait, unless it is asked not to. The error otherwise.
fn meet(descriptor: c_int, events: i16, is_asked_not_to: bool) -> Result<(), c_int> {
    match nature(descriptor) {
        Nature::File => Ok(()),
        Nature::Waits if !is_asked_not_to => wait(baton::NEVER, &|| is_ready(descriptor, events)),
        Nature::Waits | Nature::Answers => {
            baton::acted();
            if is_ready(descriptor, events) {
                baton::visible(about());
            } else {
                // Somebody who only looks lets others go first.
                baton::yielding(about());
            }
            Ok(())
        }
    }
}

/// Calls that take what came, give something away, or end that.
macro_rules! meets {
    ($($events:ident
        $name:ident($descriptor:ident $(, $argument:ident: $type:ty)*) -> $result:ty $(, unless $unless:expr)?;)*) => {
        $(
            #[cfg_attr(not(test), unsafe(no_mangle))]
            unsafe extern "C-unwind" fn $name($descriptor: c_int $(, $argument: $type)*) -> $result {
                let is_asked_not_to = false $(|| $unless)?;
                if baton::is_controlled()
                    && let Err(error) = meet($descriptor, libc::$events, is_asked_not_to)
                {
                    return fail(error) as $result;
                }
                // SAFETY: as the caller promised.
                unsafe { real::$name($descriptor $(, $argument)*) }
            }
        )*
    };
}

meets! {
    POLLIN read(descriptor, buffer: *mut c_void, length: usize) -> isize;
    POLLIN readv(descriptor, parts: *const iovec, count: c_int) -> isize;
    POLLIN recv(descriptor, buffer: *mut c_void, length: usize, flags: c_int) -> isize,
        unless flags & libc::MSG_DONTWAIT != 0;
    POLLIN recvfrom(
        descriptor, buffer: *mut c_void, length: usize, flags: c_int, from: *mut sockaddr, size: *mut socklen_t
    ) -> isize, unless flags & libc::MSG_DONTWAIT != 0;
    POLLIN recvmsg(descriptor, message: *mut msghdr, flags: c_int) -> isize, unless flags & libc::MSG_DONTWAIT != 0;
    POLLIN accept(descriptor, from: *mut sockaddr, size: *mut socklen_t) -> c_int;
    POLLIN accept4(descriptor, from: *mut sockaddr, size: *mut socklen_t, flags: c_int) -> c_int;
    POLLOUT sendmsg(descriptor, message: *const msghdr, flags: c_int) -> isize,
        unless flags & libc::MSG_DONTWAIT != 0;
    POLLOUT shutdown(descriptor, how: c_int) -> c_int, unless true;
    POLLOUT close(descriptor) -> c_int, unless true;
}

/// So much can be written without waiting into what can be written to (`PIPE_BUF`).
const AT_ONCE: usize = 4096;

/// Gives away what may be too much at once, part by part: with a function that is asked for so many bytes from a place on,
/// and says how many it took.
fn give(descriptor: c_int, length: usize, is_asked_not_to: bool, part: &dyn Fn(usize, usize) -> isize) -> isize {
    let nature = if baton::is_controlled() { nature(descriptor) } else { Nature::File };
    let is_for_people = matches!(descriptor, libc::STDOUT_FILENO | libc::STDERR_FILENO);
    if nature == Nature::File || is_for_people && is_ready(descriptor, libc::POLLOUT) && length <= AT_ONCE {
        return part(0, length);
    }
    let mut given = 0;
    loop {
        if let Err(error) = meet(descriptor, libc::POLLOUT, is_asked_not_to) {
            return if given > 0 { given as isize } else { fail(error) as isize };
        }
        let does_wait = nature == Nature::Waits && !is_asked_not_to;
        let answer = part(given, if does_wait { (length - given).min(AT_ONCE) } else { length });
        if answer < 0 {
            return if given > 0 { given as isize } else { answer };
        }
        given += answer as usize;
        if given == length || answer == 0 || !does_wait {
            return given as isize;
        }
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn write(descriptor: c_int, buffer: *const c_void, length: usize) -> isize {
    // SAFETY: as the caller promised; it is a part of what was handed over.
    give(descriptor, length, false, &|from, length| unsafe { real::write(descriptor, buffer.byte_add(from), length) })
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn writev(descriptor: c_int, parts: *const iovec, count: c_int) -> isize {
    let is_for_people = matches!(descriptor, libc::STDOUT_FILENO | libc::STDERR_FILENO);
    if baton::is_controlled()
        && !(is_for_people && is_ready(descriptor, libc::POLLOUT))
        && let Err(error) = meet(descriptor, libc::POLLOUT, false)
    {
        return fail(error) as isize;
    }
    // SAFETY: as the caller promised.
    unsafe { real::writev(descriptor, parts, count) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn send(descriptor: c_int, buffer: *const c_void, length: usize, flags: c_int) -> isize {
    // SAFETY: nobody is named.
    unsafe { sendto(descriptor, buffer, length, flags, std::ptr::null(), 0) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn sendto(
    descriptor: c_int,
    buffer: *const c_void,
    length: usize,
    flags: c_int,
    to: *const sockaddr,
    size: socklen_t,
) -> isize {
    // SAFETY: as the caller promised; it is a part of what was handed over.
    let part = |from, length| unsafe { real::sendto(descriptor, buffer.byte_add(from), length, flags, to, size) };
    if baton::is_controlled() && !is_stream(descriptor) {
        // A message cannot be divided.
        return match meet(descriptor, libc::POLLOUT, flags & libc::MSG_DONTWAIT != 0) {
            Ok(()) => part(0, length),
            Err(error) => fail(error) as isize,
        };
    }
    give(descriptor, length, flags & libc::MSG_DONTWAIT != 0, &part)
}

/// Whether what is sent through a socket has no borders.
fn is_stream(descriptor: c_int) -> bool {
    let (mut kind, mut size): (c_int, socklen_t) = (0, 4);
    // SAFETY: there is room for a number.
    errno_kept(|| unsafe {
        libc::getsockopt(descriptor, libc::SOL_SOCKET, libc::SO_TYPE, (&raw mut kind).cast(), &raw mut size)
    });
    kind == libc::SOCK_STREAM
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn poll(wanted: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: as the caller promised, here and below.
    if !baton::is_controlled() {
        // SAFETY: as above.
        return unsafe { real::poll(wanted, count, timeout) };
    }
    poll_until(wanted, count, after_milliseconds(timeout))
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn ppoll(
    wanted: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    if !baton::is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::ppoll(wanted, count, timeout, mask) };
    }
    // SAFETY: as the caller promised.
    let deadline = if timeout.is_null() { baton::NEVER } else { time::after(unsafe { &*timeout }) };
    poll_until(wanted, count, deadline)
}

fn poll_until(wanted: *mut pollfd, count: nfds_t, deadline: u64) -> c_int {
    // SAFETY: the caller handed over so many. An error is an answer too.
    let ask = || unsafe { real::poll(wanted, count, 0) };
    match wait(deadline, &|| errno_kept(ask) != 0) {
        Ok(()) => ask(),
        Err(error) => nothing(error),
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn select(
    count: c_int,
    reads: *mut fd_set,
    writes: *mut fd_set,
    others: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    if !baton::is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::select(count, reads, writes, others, timeout) };
    }
    let deadline = if timeout.is_null() {
        baton::NEVER
    } else {
        // SAFETY: as the caller promised.
        let timeout = unsafe { timeout.read() };
        time::after(&timespec { tv_sec: timeout.tv_sec, tv_nsec: timeout.tv_usec * 1000 })
    };
    // SAFETY: as the caller promised.
    unsafe { select_until(count, [reads, writes, others], deadline) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pselect(
    count: c_int,
    reads: *mut fd_set,
    writes: *mut fd_set,
    others: *mut fd_set,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    if !baton::is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::pselect(count, reads, writes, others, timeout, mask) };
    }
    // SAFETY: as the caller promised, here and below.
    let deadline = if timeout.is_null() { baton::NEVER } else { time::after(unsafe { &*timeout }) };
    // SAFETY: as above.
    unsafe { select_until(count, [reads, writes, others], deadline) }
}

/// # Safety
///
/// Each must be a set that is not touched by others, or null.
unsafe fn select_until(count: c_int, sets: [*mut fd_set; 3], deadline: u64) -> c_int {
    // SAFETY: as the caller promised.
    let wanted = sets.map(|set| (!set.is_null()).then(|| unsafe { set.read() }));
    // What is asked with is changed by the answer.
    let ask = |sets: [*mut fd_set; 3]| {
        let mut at_once = timeval { tv_sec: 0, tv_usec: 0 };
        // SAFETY: sets, or null; and no waiting.
        unsafe { real::select(count, sets[0], sets[1], sets[2], &raw mut at_once) }
    };
    let is_any = || {
        let mut copies = wanted;
        errno_kept(|| ask(copies.each_mut().map(|copy| copy.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut))))
            != 0
    };
    let answer = wait(deadline, &is_any);
    if let Err(error @ libc::EINTR) = answer {
        return nothing(error);
    }
    // If it is too late there is nothing in any set, which is what this then says.
    ask(sets)
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn epoll_wait(queue: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int {
    if !baton::is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::epoll_wait(queue, events, most, timeout) };
    }
    // Whether there is something is asked of the queue itself: who takes it out takes it away from others.
    match wait(after_milliseconds(timeout), &|| is_ready(queue, libc::POLLIN)) {
        // SAFETY: as the caller promised.
        Ok(()) => unsafe { real::epoll_wait(queue, events, most, 0) },
        Err(error) => nothing(error),
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn epoll_pwait(
    queue: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: c_int,
    mask: *const sigset_t,
) -> c_int {
    if !baton::is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::epoll_pwait(queue, events, most, timeout, mask) };
    }
    // SAFETY: as the caller promised.
    unsafe { epoll_wait(queue, events, most, timeout) }
}

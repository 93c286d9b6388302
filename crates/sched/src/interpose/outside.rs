//! Waiting for input from outside the process, or for output to it: pipes, sockets, child processes, and the like.
//!
//! Whether a call would block is asked of the kernel, without waiting, at every scheduling decision; the call is made
//! when it would not. So a pipe between two threads acts like a queue, and is the same every time. Input from another
//! process comes at an unpredictable time: if no thread is enabled, all wait for real, and the outcome says so.
//!
//! Every such call is a step, even if it would not block: threads may communicate through a pipe, and then their order
//! matters. The other end of a descriptor is unknown, so all these steps are on one object. Writes to standard output
//! and error are for the user, and steps only if they block: otherwise the steps of an execution would depend on where
//! its output goes.
//!
//! Limits. Files and directories are never waited for. Reads and writes inside the C library (`fread`, `printf`) are
//! not observed, nor is `connect`: all threads stand still meanwhile. `writev` and `sendmsg` may write
//! more at once than there is space for, and then all threads wait. A timeout passes if no input came for a tenth of a
//! second in real time, however long it is. The masks of `ppoll`, `pselect` and `epoll_pwait` are ignored.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use libc::{epoll_event, fd_set, iovec, msghdr, nfds_t, pollfd, sigset_t, sockaddr, socklen_t, timespec, timeval};
use omnilink_schedule::{Kind, Step, thread_object};

use super::{errno_kept, fail, signal, step, time};
use crate::{baton, real};

/// The length of one real wait, in nanoseconds, and the number of them before a timeout passes.
const MOMENT: i64 = 200_000;
const MOMENTS: u64 = 500;

/// The object of all these steps: a thread number not in use.
fn about() -> Step {
    step(Kind::Outside, thread_object(u8::MAX))
}

/// The step at which a real wait began, and the number of waits since.
static STEP: AtomicU64 = AtomicU64::new(u64::MAX);
static WAITED: AtomicU64 = AtomicU64::new(0);

/// Waits for a moment, if a thread waits for an event from outside. Returns `false` if that was long enough.
pub(crate) fn pause() -> bool {
    if STEP.swap(baton::steps(), Ordering::Relaxed) != baton::steps() {
        WAITED.store(0, Ordering::Relaxed);
    }
    let moment = timespec { tv_sec: 0, tv_nsec: MOMENT };
    // SAFETY: it takes a time.
    errno_kept(|| unsafe { real::nanosleep(&raw const moment, std::ptr::null_mut()) });
    WAITED.fetch_add(1, Ordering::Relaxed) < MOMENTS
}

/// Waits for a condition, or until a deadline. Returns the error otherwise.
fn wait(deadline: u64, is_so: &dyn Fn() -> bool) -> Result<(), c_int> {
    let me = baton::me();
    baton::acted();
    if deadline == baton::PASSED {
        // A thread that only polls yields to others.
        baton::yielding(about());
        return if is_so() { Ok(()) } else { Err(libc::ETIMEDOUT) };
    }
    let is_in_time = baton::outside(about(), deadline, &|| is_so() || signal::is_pending(me));
    match is_so() {
        true => Ok(()),
        false => Err(if is_in_time { signal::interrupted() } else { libc::ETIMEDOUT }),
    }
}

/// The result of a wait that ended without its condition.
fn without_event(error: c_int) -> c_int {
    if error == libc::ETIMEDOUT { 0 } else { fail(error) as c_int }
}

fn after_milliseconds(timeout: c_int) -> u64 {
    let timeout = u64::try_from(timeout).ok();
    timeout.map_or(baton::NEVER, |timeout| time::after_nanoseconds(timeout * 1_000_000))
}

/// Whether a call on a descriptor would not block.
fn is_ready(descriptor: c_int, events: i16) -> bool {
    let mut wanted = pollfd { fd: descriptor, events, revents: 0 };
    // SAFETY: one descriptor, and no waiting.
    errno_kept(|| unsafe { real::poll(&raw mut wanted, 1, 0) }) != 0
}

/// How a call on a descriptor behaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nature {
    /// A file, or not open: it never blocks.
    File,
    /// It may block.
    Waits,
    /// It is nonblocking.
    Answers,
}

fn nature(descriptor: c_int) -> Nature {
    // SAFETY: zeros are valid, and it is filled.
    errno_kept(|| unsafe {
        let mut about: libc::stat = std::mem::zeroed();
        let is_file = libc::fstat(descriptor, &raw mut about) != 0
            || matches!(about.st_mode & libc::S_IFMT, libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK);
        if is_file {
            Nature::File
        } else if real::fcntl(descriptor, libc::F_GETFL, 0) & libc::O_NONBLOCK != 0 {
            Nature::Answers
        } else {
            Nature::Waits
        }
    })
}

/// Takes the step of a call on a descriptor: as soon as it does not block, unless it is nonblocking. Returns the error
/// otherwise.
fn step_when_ready(descriptor: c_int, events: i16, is_nonblocking: bool) -> Result<(), c_int> {
    match nature(descriptor) {
        Nature::File => Ok(()),
        Nature::Waits if !is_nonblocking => wait(baton::NEVER, &|| is_ready(descriptor, events)),
        Nature::Waits | Nature::Answers => {
            baton::acted();
            if is_ready(descriptor, events) {
                baton::visible(about());
            } else {
                // A thread that only polls yields to others.
                baton::yielding(about());
            }
            Ok(())
        }
    }
}

/// Calls that read, write, or close.
macro_rules! steps_when_ready {
    ($($events:ident
        $name:ident($descriptor:ident $(, $argument:ident: $type:ty)*) -> $result:ty $(, unless $unless:expr)?;)*) => {
        $(
            #[cfg_attr(not(test), unsafe(no_mangle))]
            unsafe extern "C-unwind" fn $name($descriptor: c_int $(, $argument: $type)*) -> $result {
                let is_nonblocking = false $(|| $unless)?;
                if baton::is_controlled()
                    && let Err(error) = step_when_ready($descriptor, libc::$events, is_nonblocking)
                {
                    return fail(error) as $result;
                }
                // SAFETY: as the caller promised.
                unsafe { real::$name($descriptor $(, $argument)*) }
            }
        )*
    };
}

steps_when_ready! {
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

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn fork() -> libc::pid_t {
    if baton::is_controlled() {
        baton::acted();
        baton::visible(about());
    }
    // SAFETY: as the caller promised. The child goes on without control.
    unsafe { real::fork() }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn waitpid(process: libc::pid_t, status: *mut c_int, options: c_int) -> libc::pid_t {
    let (which, who) = match process {
        -1 => (libc::P_ALL, 0),
        0 => (libc::P_PGID, 0),
        group if group < -1 => (libc::P_PGID, group.unsigned_abs()),
        child => (libc::P_PID, child.unsigned_abs()),
    };
    // An error is an answer too.
    let has_ended = || {
        errno_kept(|| {
            // SAFETY: zeros are valid, and it is filled. The child can be waited for again.
            unsafe {
                let mut about: libc::siginfo_t = std::mem::zeroed();
                let kinds = libc::WEXITED | (options & (libc::WUNTRACED | libc::WCONTINUED));
                let answer = libc::waitid(which, who, &raw mut about, kinds | libc::WNOHANG | libc::WNOWAIT);
                answer != 0 || about.si_pid() != 0
            }
        })
    };
    if baton::is_controlled() {
        let deadline = if options & libc::WNOHANG != 0 { baton::PASSED } else { baton::NEVER };
        if let Err(error @ libc::EINTR) = wait(deadline, &has_ended) {
            return fail(error) as libc::pid_t;
        }
    }
    // SAFETY: as the caller promised.
    unsafe { real::waitpid(process, status, options) }
}

/// It has one argument, or none, which are passed in the same way. Locks of files, and flags that decide whether calls
/// block, are seen by other threads.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn fcntl(descriptor: c_int, command: c_int, argument: usize) -> c_int {
    let lock = match command {
        libc::F_SETLKW => Some(libc::F_GETLK),
        libc::F_OFD_SETLKW => Some(libc::F_OFD_GETLK),
        _ => None,
    };
    let is_seen = matches!(command, libc::F_SETFL | libc::F_SETLK | libc::F_OFD_SETLK);
    if baton::is_controlled() && (is_seen || lock.is_some()) {
        let is_free = || {
            let (Some(query), lock) = (lock, argument as *const libc::flock) else { return true };
            errno_kept(|| {
                // SAFETY: the caller passes a lock, and the kernel answers in a copy.
                unsafe {
                    let mut wanted = lock.read();
                    real::fcntl(descriptor, query, (&raw mut wanted) as usize) != 0
                        || c_int::from(wanted.l_type) == libc::F_UNLCK
                }
            })
        };
        if let Err(error) = wait(baton::NEVER, &is_free) {
            return fail(error) as c_int;
        }
    }
    // SAFETY: as the caller promised.
    unsafe { real::fcntl(descriptor, command, argument) }
}

/// The name of the same function in programs for large files.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn fcntl64(descriptor: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: as the caller promised.
    unsafe { fcntl(descriptor, command, argument) }
}

/// At most this many bytes can be written without blocking to a writable descriptor (`PIPE_BUF`).
const WRITE_LIMIT: usize = 4096;

/// Writes in parts what may be too much at once: `part` writes at most a number of bytes from an offset, and returns
/// how many it wrote.
fn write_in_parts(
    descriptor: c_int,
    length: usize,
    is_nonblocking: bool,
    part: &dyn Fn(usize, usize) -> isize,
) -> isize {
    let nature = if baton::is_controlled() { nature(descriptor) } else { Nature::File };
    let is_for_people = matches!(descriptor, libc::STDOUT_FILENO | libc::STDERR_FILENO);
    if nature == Nature::File || is_for_people && is_ready(descriptor, libc::POLLOUT) && length <= WRITE_LIMIT {
        return part(0, length);
    }
    let mut given = 0;
    loop {
        if let Err(error) = step_when_ready(descriptor, libc::POLLOUT, is_nonblocking) {
            return if given > 0 { given as isize } else { fail(error) as isize };
        }
        let does_wait = nature == Nature::Waits && !is_nonblocking;
        let answer = part(given, if does_wait { (length - given).min(WRITE_LIMIT) } else { length });
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
    // SAFETY: as the caller promised; it is a part of the caller's buffer.
    write_in_parts(descriptor, length, false, &|from, length| unsafe {
        real::write(descriptor, buffer.byte_add(from), length)
    })
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn writev(descriptor: c_int, parts: *const iovec, count: c_int) -> isize {
    let is_for_people = matches!(descriptor, libc::STDOUT_FILENO | libc::STDERR_FILENO);
    if baton::is_controlled()
        && !(is_for_people && is_ready(descriptor, libc::POLLOUT))
        && let Err(error) = step_when_ready(descriptor, libc::POLLOUT, false)
    {
        return fail(error) as isize;
    }
    // SAFETY: as the caller promised.
    unsafe { real::writev(descriptor, parts, count) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn send(descriptor: c_int, buffer: *const c_void, length: usize, flags: c_int) -> isize {
    // SAFETY: no address is given.
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
    // SAFETY: as the caller promised; it is a part of the caller's buffer.
    let part = |from, length| unsafe { real::sendto(descriptor, buffer.byte_add(from), length, flags, to, size) };
    if baton::is_controlled() && !is_stream(descriptor) {
        // A message cannot be split.
        return match step_when_ready(descriptor, libc::POLLOUT, flags & libc::MSG_DONTWAIT != 0) {
            Ok(()) => part(0, length),
            Err(error) => fail(error) as isize,
        };
    }
    write_in_parts(descriptor, length, flags & libc::MSG_DONTWAIT != 0, &part)
}

/// Whether a socket has no message boundaries.
fn is_stream(descriptor: c_int) -> bool {
    let (mut kind, mut size): (c_int, socklen_t) = (0, 4);
    // SAFETY: there is space for a number.
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
    // SAFETY: the caller passes that many. An error is an answer too.
    let ask = || unsafe { real::poll(wanted, count, 0) };
    match wait(deadline, &|| errno_kept(ask) != 0) {
        Ok(()) => ask(),
        Err(error) => without_event(error),
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
/// Each must be a set that nothing else accesses, or null.
unsafe fn select_until(count: c_int, sets: [*mut fd_set; 3], deadline: u64) -> c_int {
    // SAFETY: as the caller promised.
    let wanted = sets.map(|set| (!set.is_null()).then(|| unsafe { set.read() }));
    // The answer overwrites the query.
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
        return without_event(error);
    }
    // After a timeout all sets are empty, and this returns that.
    ask(sets)
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn epoll_wait(queue: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int {
    if !baton::is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::epoll_wait(queue, events, most, timeout) };
    }
    // The queue itself is asked whether it has events: taking them out would take them away from other threads.
    match wait(after_milliseconds(timeout), &|| is_ready(queue, libc::POLLIN)) {
        // SAFETY: as the caller promised.
        Ok(()) => unsafe { real::epoll_wait(queue, events, most, 0) },
        Err(error) => without_event(error),
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

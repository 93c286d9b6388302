//! The functions behind the interposed ones.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use libc::{
    clockid_t, epoll_event, fd_set, iovec, msghdr, nfds_t, pollfd, pthread_attr_t, pthread_barrier_t,
    pthread_barrierattr_t, pthread_cond_t, pthread_condattr_t, pthread_mutex_t, pthread_rwlock_t, pthread_rwlockattr_t,
    pthread_t, sem_t, sigset_t, sockaddr, socklen_t, timespec, timeval, useconds_t,
};

/// The type of a thread's routine.
pub(crate) type Routine = extern "C-unwind" fn(*mut c_void) -> *mut c_void;
/// The type of `main`.
pub(crate) type Main = extern "C-unwind" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

/// The address of the next definition of a function. Some have two versions, and the older one is a different
/// function.
fn find(name: &CStr, version: Option<&CStr>) -> usize {
    // SAFETY: names and versions end with a zero.
    let address = unsafe {
        match version {
            Some(version) => libc::dlvsym(libc::RTLD_NEXT, name.as_ptr(), version.as_ptr()),
            None => libc::dlsym(libc::RTLD_NEXT, name.as_ptr()),
        }
    };
    if address.is_null() {
        crate::stack::fail(&["the C library has no function `", &name.to_string_lossy(), "`"]);
    }
    address as usize
}

/// A raw system call, without the C library: also where its functions cannot be found. Returns a negative number if it
/// failed.
///
/// # Safety
///
/// As the kernel requires.
pub(crate) unsafe fn kernel(number: c_long, arguments: [c_long; 6]) -> c_long {
    let [a, b, c, d, e, f] = arguments;
    let answer;
    // SAFETY: as the caller promised. The kernel changes only the named registers.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number => answer,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            in("r10") d,
            in("r8") e,
            in("r9") f,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    answer
}

/// Declares functions that are looked up at the first call.
macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $(as $version:literal)?;)*) => {
        $(
            /// The C library's function.
            ///
            /// # Safety
            ///
            /// As documented there.
            #[allow(non_snake_case, reason = "the C++ library has such names")]
            #[allow(clippy::too_many_arguments, reason = "the C library has such functions")]
            pub(crate) unsafe fn $name($($argument: $type),*) $(-> $result)? {
                static ADDRESS: AtomicUsize = AtomicUsize::new(0);
                let mut address = ADDRESS.load(Ordering::Relaxed);
                if address == 0 {
                    let name = concat!(stringify!($name), "\0");
                    let version = None$(.or(Some($version)))?;
                    address = find(CStr::from_bytes_with_nul(name.as_bytes()).unwrap_or_default(), version);
                    ADDRESS.store(address, Ordering::Relaxed);
                }
                type Function = unsafe extern "C-unwind" fn($($type),*) $(-> $result)?;
                // SAFETY: the function of this name has this type according to the C library's headers. The caller
                // upholds its contract.
                unsafe { std::mem::transmute::<usize, Function>(address)($($argument),*) }
            }
        )*
    };
}

functions! {
    fn __libc_start_main(
        main: Main, count: c_int, arguments: *mut *mut c_char, init: *mut c_void, fini: *mut c_void,
        rtld_fini: *mut c_void, stack_end: *mut c_void,
    ) -> c_int;
    fn pthread_create(thread: *mut pthread_t, attributes: *const pthread_attr_t, start: Routine, argument: *mut c_void) -> c_int;
    fn pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int;
    fn pthread_detach(thread: pthread_t) -> c_int;
    fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int;
    fn pthread_mutex_clocklock(mutex: *mut pthread_mutex_t, clock: c_int, until: *const timespec) -> c_int;
    fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_destroy(mutex: *mut pthread_mutex_t) -> c_int;
    fn exit(code: c_int) -> !;
    fn free(start: *mut c_void);
    fn realloc(start: *mut c_void, size: usize) -> *mut c_void;
    fn malloc(size: usize) -> *mut c_void;
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void;
    fn memalign(alignment: usize, size: usize) -> *mut c_void;
    fn posix_memalign(start: *mut *mut c_void, alignment: usize, size: usize) -> c_int;
    fn pthread_cond_init(condition: *mut pthread_cond_t, attributes: *const pthread_condattr_t) -> c_int as c"GLIBC_2.3.2";
    fn pthread_cond_destroy(condition: *mut pthread_cond_t) -> c_int as c"GLIBC_2.3.2";
    fn pthread_cond_wait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int as c"GLIBC_2.3.2";
    fn pthread_cond_timedwait(
        condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, until: *const timespec,
    ) -> c_int as c"GLIBC_2.3.2";
    fn pthread_cond_clockwait(
        condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, clock: clockid_t, until: *const timespec,
    ) -> c_int;
    fn pthread_cond_signal(condition: *mut pthread_cond_t) -> c_int as c"GLIBC_2.3.2";
    fn pthread_cond_broadcast(condition: *mut pthread_cond_t) -> c_int as c"GLIBC_2.3.2";
    fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int;
    fn gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int;
    fn time(time: *mut libc::time_t) -> libc::time_t;
    fn timespec_get(time: *mut timespec, base: c_int) -> c_int;
    fn clock() -> libc::clock_t;
    fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int;
    fn clock_nanosleep(clock: clockid_t, flags: c_int, time: *const timespec, left: *mut timespec) -> c_int;
    fn usleep(time: useconds_t) -> c_int;
    fn sleep(time: u32) -> u32;
    fn sched_yield() -> c_int;
    fn gettid() -> libc::pid_t;
    fn tgkill(process: libc::pid_t, thread: libc::pid_t, signal: c_int) -> c_int;
    fn sched_getaffinity(thread: libc::pid_t, size: usize, set: *mut libc::cpu_set_t) -> c_int as c"GLIBC_2.3.4";
    fn sched_setaffinity(thread: libc::pid_t, size: usize, set: *const libc::cpu_set_t) -> c_int as c"GLIBC_2.3.4";
    fn sched_getscheduler(thread: libc::pid_t) -> c_int;
    fn sched_setscheduler(thread: libc::pid_t, policy: c_int, parameters: *const libc::sched_param) -> c_int;
    fn sched_getparam(thread: libc::pid_t, parameters: *mut libc::sched_param) -> c_int;
    fn sched_setparam(thread: libc::pid_t, parameters: *const libc::sched_param) -> c_int;
    fn sched_rr_get_interval(thread: libc::pid_t, interval: *mut timespec) -> c_int;
    fn getpriority(which: u32, who: libc::id_t) -> c_int;
    fn setpriority(which: u32, who: libc::id_t, priority: c_int) -> c_int;
    fn getrandom(buffer: *mut c_void, length: usize, flags: u32) -> isize;
    fn arc4random() -> u32;
    fn arc4random_buf(buffer: *mut c_void, length: usize);
    fn arc4random_uniform(limit: u32) -> u32;
    fn _ZNSt13random_device9_M_getvalEv(device: *mut c_void) -> u32;
    fn getentropy(buffer: *mut c_void, length: usize) -> c_int;
    fn pthread_rwlock_rdlock(rwlock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_wrlock(rwlock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_tryrdlock(rwlock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_trywrlock(rwlock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_unlock(rwlock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_destroy(rwlock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_timedrdlock(rwlock: *mut pthread_rwlock_t, until: *const timespec) -> c_int;
    fn pthread_rwlock_timedwrlock(rwlock: *mut pthread_rwlock_t, until: *const timespec) -> c_int;
    fn pthread_rwlock_clockrdlock(rwlock: *mut pthread_rwlock_t, clock: clockid_t, until: *const timespec) -> c_int;
    fn pthread_rwlock_clockwrlock(rwlock: *mut pthread_rwlock_t, clock: clockid_t, until: *const timespec) -> c_int;
    fn pthread_rwlock_init(rwlock: *mut pthread_rwlock_t, attributes: *const pthread_rwlockattr_t) -> c_int;
    fn sem_wait(semaphore: *mut sem_t) -> c_int;
    fn sem_trywait(semaphore: *mut sem_t) -> c_int;
    fn sem_timedwait(semaphore: *mut sem_t, until: *const timespec) -> c_int;
    fn sem_clockwait(semaphore: *mut sem_t, clock: clockid_t, until: *const timespec) -> c_int;
    fn sem_post(semaphore: *mut sem_t) -> c_int;
    fn sem_getvalue(semaphore: *mut sem_t, value: *mut c_int) -> c_int;
    fn pthread_once(control: *mut libc::pthread_once_t, routine: extern "C-unwind" fn()) -> c_int;
    fn pthread_barrier_init(
        barrier: *mut pthread_barrier_t, attributes: *const pthread_barrierattr_t, count: u32,
    ) -> c_int;
    fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int;
    fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int;
    fn pthread_spin_init(lock: *mut c_void, shared: c_int) -> c_int;
    fn pthread_spin_lock(lock: *mut c_void) -> c_int;
    fn pthread_spin_trylock(lock: *mut c_void) -> c_int;
    fn pthread_spin_unlock(lock: *mut c_void) -> c_int;
    fn pthread_mutex_init(mutex: *mut pthread_mutex_t, attributes: *const libc::pthread_mutexattr_t) -> c_int;
    fn pthread_tryjoin_np(thread: pthread_t, result: *mut *mut c_void) -> c_int;
    fn pthread_timedjoin_np(thread: pthread_t, result: *mut *mut c_void, until: *const timespec) -> c_int;
    fn pthread_clockjoin_np(
        thread: pthread_t, result: *mut *mut c_void, clock: clockid_t, until: *const timespec,
    ) -> c_int;
    fn pthread_cancel(thread: pthread_t) -> c_int;
    fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int;
    fn alarm(seconds: u32) -> u32;
    fn ualarm(first: useconds_t, then: useconds_t) -> useconds_t;
    fn setitimer(which: u32, new: *const libc::itimerval, old: *mut libc::itimerval) -> c_int;
    fn timer_create(clock: clockid_t, event: *mut libc::sigevent, timer: *mut libc::timer_t) -> c_int as c"GLIBC_2.3.3";
    fn timer_settime(
        timer: libc::timer_t, flags: c_int, new: *const libc::itimerspec, old: *mut libc::itimerspec,
    ) -> c_int as c"GLIBC_2.3.3";
    fn timer_gettime(timer: libc::timer_t, left: *mut libc::itimerspec) -> c_int as c"GLIBC_2.3.3";
    fn timer_delete(timer: libc::timer_t) -> c_int as c"GLIBC_2.3.3";
    fn raise(signal: c_int) -> c_int;
    fn kill(process: libc::pid_t, signal: c_int) -> c_int;
    fn pthread_kill(thread: pthread_t, signal: c_int) -> c_int;
    fn pthread_sigmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int;
    fn sigpending(set: *mut sigset_t) -> c_int;
    fn sigsuspend(set: *const sigset_t) -> c_int;
    fn sigtimedwait(set: *const sigset_t, info: *mut libc::siginfo_t, limit: *const timespec) -> c_int;
    fn pause() -> c_int;
    fn poll(wanted: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int;
    fn ppoll(wanted: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t) -> c_int;
    fn select(
        count: c_int, reads: *mut fd_set, writes: *mut fd_set, others: *mut fd_set, timeout: *mut timeval,
    ) -> c_int;
    fn pselect(
        count: c_int, reads: *mut fd_set, writes: *mut fd_set, others: *mut fd_set, timeout: *const timespec,
        mask: *const sigset_t,
    ) -> c_int;
    fn epoll_wait(queue: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int;
    fn epoll_pwait(
        queue: c_int, events: *mut epoll_event, most: c_int, timeout: c_int, mask: *const sigset_t,
    ) -> c_int;
    fn read(descriptor: c_int, buffer: *mut c_void, length: usize) -> isize;
    fn readv(descriptor: c_int, parts: *const iovec, count: c_int) -> isize;
    fn write(descriptor: c_int, buffer: *const c_void, length: usize) -> isize;
    fn writev(descriptor: c_int, parts: *const iovec, count: c_int) -> isize;
    fn sendto(
        descriptor: c_int, buffer: *const c_void, length: usize, flags: c_int, to: *const sockaddr, size: socklen_t,
    ) -> isize;
    fn sendmsg(descriptor: c_int, message: *const msghdr, flags: c_int) -> isize;
    fn shutdown(descriptor: c_int, how: c_int) -> c_int;
    fn close(descriptor: c_int) -> c_int;
    fn recv(descriptor: c_int, buffer: *mut c_void, length: usize, flags: c_int) -> isize;
    fn recvfrom(
        descriptor: c_int, buffer: *mut c_void, length: usize, flags: c_int, from: *mut sockaddr, size: *mut socklen_t,
    ) -> isize;
    fn recvmsg(descriptor: c_int, message: *mut msghdr, flags: c_int) -> isize;
    fn accept(descriptor: c_int, from: *mut sockaddr, size: *mut socklen_t) -> c_int;
    fn accept4(descriptor: c_int, from: *mut sockaddr, size: *mut socklen_t, flags: c_int) -> c_int;
    fn fcntl(descriptor: c_int, command: c_int, argument: usize) -> c_int;
    fn fork() -> libc::pid_t;
    fn waitpid(process: libc::pid_t, status: *mut c_int, options: c_int) -> libc::pid_t;
    fn syscall(number: c_long, a: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long) -> c_long;
}

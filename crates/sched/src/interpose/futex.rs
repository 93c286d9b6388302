//! System calls that the program makes through `syscall`: mainly futexes.
//!
//! Rust's locks, and C++20's waits, are built on futexes. To wait is two steps: one reads the word and joins the
//! waiting threads, and one continues after a wake. A priority-inheritance lock is a word with its owner's thread id,
//! and nothing more: no thread needs to be notified of waiters, because whether it is free is computed at every step.
//! All else (operations on several words at once) fails as on a kernel that lacks it, and every other system call is
//! passed on, except for those whose result would vary between runs.

use std::ffi::{c_int, c_long};
use std::sync::atomic::{AtomicU32, Ordering};

use libc::timespec;
use omnilink_schedule::Kind;

use super::waiters::{self, ANY};
use super::{fail, is_controlled, number, random, signal, time, timer, word_step};
use crate::{baton, real};

/// The newer lock operation, which selects a clock.
const FUTEX_LOCK_PI2: c_int = 13;

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    if number == libc::SYS_futex && is_controlled() || baton::is_controlled() {
        match number {
            libc::SYS_futex => {
                let call = Call { word: a as u64, operation: b as c_int, value: c as u32, time: d, other: e as u64 };
                // SAFETY: as the caller promised.
                return unsafe { call.perform(f as u32) };
            }
            libc::SYS_futex_waitv => return fail(libc::ENOSYS),
            libc::SYS_gettid => return c_long::from(number::number(baton::me())),
            libc::SYS_getrandom => {
                // SAFETY: as the caller promised.
                return unsafe { random::getrandom(a as *mut _, b as usize, c as u32) } as c_long;
            }
            libc::SYS_sched_yield => return c_long::from(time::sched_yield()),
            // SAFETY: as the caller promised, here and below.
            libc::SYS_clock_gettime => return c_long::from(unsafe { time::clock_gettime(a as c_int, b as *mut _) }),
            // SAFETY: as above.
            libc::SYS_nanosleep => return c_long::from(unsafe { time::nanosleep(a as *const _, b as *mut _) }),
            libc::SYS_clock_nanosleep => {
                // SAFETY: as above.
                let answer = unsafe { time::clock_nanosleep(a as c_int, b as c_int, c as *const _, d as *mut _) };
                return if answer == 0 { 0 } else { fail(answer) };
            }
            libc::SYS_tgkill => {
                if let Some(answer) = signal::to_thread(b as libc::pid_t, c as c_int) {
                    return c_long::from(answer);
                }
            }
            libc::SYS_tkill => {
                if let Some(answer) = signal::to_thread(a as libc::pid_t, b as c_int) {
                    return c_long::from(answer);
                }
            }
            // SAFETY: it takes numbers.
            libc::SYS_kill => return c_long::from(unsafe { signal::kill(a as libc::pid_t, b as c_int) }),
            _ => {}
        }
    }
    let (a, b) = number::translated(number, a, b);
    // SAFETY: as the caller promised.
    unsafe { real::syscall(number, a, b, c, d, e, f) }
}

/// The arguments of a futex call.
struct Call {
    word: u64,
    operation: c_int,
    value: u32,
    /// The timeout, or a second number.
    time: c_long,
    other: u64,
}

impl Call {
    /// # Safety
    ///
    /// As the kernel requires.
    unsafe fn perform(self, last: u32) -> c_long {
        let most = self.value as i32 as usize;
        let deadline = self.deadline();
        match self.operation & libc::FUTEX_CMD_MASK {
            libc::FUTEX_WAIT => self.wait(deadline, ANY),
            libc::FUTEX_WAIT_BITSET => self.wait(deadline, last),
            libc::FUTEX_WAKE => self.wake(most, ANY),
            libc::FUTEX_WAKE_BITSET => self.wake(most, last),
            libc::FUTEX_REQUEUE => self.requeue(most, None),
            libc::FUTEX_CMP_REQUEUE => self.requeue(most, Some(last)),
            libc::FUTEX_LOCK_PI | FUTEX_LOCK_PI2 => self.lock(deadline),
            libc::FUTEX_TRYLOCK_PI => self.try_lock(),
            libc::FUTEX_UNLOCK_PI => self.unlock(),
            _ => fail(libc::ENOSYS),
        }
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: the program passes a word that lives while it is used, as the kernel requires.
        unsafe { AtomicU32::from_ptr(self.word as *mut u32) }
    }

    /// When it stops waiting: the timeout is relative or absolute, depending on the operation.
    fn deadline(&self) -> u64 {
        let command = self.operation & libc::FUTEX_CMD_MASK;
        let until = self.time as *const timespec;
        let has_time =
            matches!(command, libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET | libc::FUTEX_LOCK_PI | FUTEX_LOCK_PI2);
        if !has_time || until.is_null() {
            return baton::NEVER;
        }
        if command == libc::FUTEX_WAIT {
            // SAFETY: it is a time, and not null.
            return time::after(unsafe { &*until });
        }
        let by_the_day = command == libc::FUTEX_LOCK_PI || self.operation & libc::FUTEX_CLOCK_REALTIME != 0;
        time::deadline(if by_the_day { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC }, until)
    }

    fn wait(&self, deadline: u64, bits: u32) -> c_long {
        if bits == 0 {
            return fail(libc::EINVAL);
        }
        baton::visible(word_step(Kind::Wait, self.word));
        let found = self.word().load(Ordering::SeqCst);
        if found != self.value {
            baton::made(found.into(), false);
            return fail(libc::EAGAIN);
        }
        baton::made(found.into(), true);
        baton::acted();
        let (ticket, me) = (waiters::enter(self.word, bits), baton::me());
        if waiters::wait(word_step(Kind::Woken, self.word), ticket, deadline, &|| signal::is_pending(me)) {
            return 0;
        }
        fail(if signal::is_pending(me) { signal::interrupted() } else { libc::ETIMEDOUT })
    }

    fn wake(&self, most: usize, bits: u32) -> c_long {
        if bits == 0 {
            return fail(libc::EINVAL);
        }
        baton::visible(word_step(Kind::Wake, self.word));
        let woken = waiters::wake(self.word, most, bits);
        baton::made(woken as u64, true);
        if woken > 0 {
            baton::acted();
        }
        woken as c_long
    }

    fn requeue(&self, most: usize, expected: Option<u32>) -> c_long {
        baton::visible(word_step(Kind::Wake, self.word));
        if expected.is_some_and(|expected| expected != self.word().load(Ordering::SeqCst)) {
            return fail(libc::EAGAIN);
        }
        let woken = waiters::wake(self.word, most, ANY);
        let moved = waiters::move_to(self.word, self.time as i32 as usize, self.other);
        baton::made(woken as u64, true);
        baton::acted();
        (woken + if expected.is_some() { moved } else { 0 }) as c_long
    }

    /// Whether the lock is free.
    fn is_free(&self) -> bool {
        self.word().load(Ordering::SeqCst) & libc::FUTEX_TID_MASK == 0
    }

    fn is_mine(&self) -> bool {
        self.word().load(Ordering::SeqCst) & libc::FUTEX_TID_MASK == number::number(baton::me()) as u32
    }

    fn set(&self, value: u32) {
        self.word().store(value, Ordering::SeqCst);
        baton::acted();
        baton::wrote(self.word, true);
    }

    fn lock(&self, deadline: u64) -> c_long {
        if self.is_mine() {
            return fail(libc::EDEADLK);
        }
        baton::acted();
        if !timer::timed(word_step(Kind::Lock, self.word), deadline, &|| self.is_free()) {
            return fail(libc::ETIMEDOUT);
        }
        self.set(number::number(baton::me()) as u32);
        0
    }

    fn try_lock(&self) -> c_long {
        baton::visible(word_step(Kind::TryLock, self.word));
        let is_free = self.is_free();
        baton::made(u64::from(is_free), is_free);
        if !is_free {
            return fail(if self.is_mine() { libc::EDEADLK } else { libc::EAGAIN });
        }
        self.set(number::number(baton::me()) as u32);
        0
    }

    fn unlock(&self) -> c_long {
        if !self.is_mine() {
            return fail(libc::EPERM);
        }
        baton::visible(word_step(Kind::Unlock, self.word));
        self.set(0);
        0
    }
}

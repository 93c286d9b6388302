//! ThreadSanitizer's interface: the functions that compilers call for `-fsanitize=thread`.
//!
//! Atomic operations are steps. Unsynchronized accesses are steps only on request: there are many, and preemptions
//! between them matter only to programs with data races, which `races` looks for. Fences have no effect when one thread
//! runs at a time, so they are not steps. Under weak memory, `weak` decides what is read, and sequentially consistent
//! fences are steps, because their order matters.
//!
//! Each function is a few instructions that pass its return address, the place in the program, to the function that
//! does the work. gcc calls `compare_exchange_strong` and `_weak`, clang and rustc `compare_exchange_val`; each
//! compiler calls some functions that the others do not. A thread that announces a step may call a signal handler of
//! the program, which may throw or end the thread, so unwinding passes through all of them.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use omnilink_schedule::{Kind, MemoryOrder, Step};

use crate::{baton, weak};

/// Whether any part of the program is instrumented.
static IS_INSTRUMENTED: AtomicBool = AtomicBool::new(false);

/// See [`IS_INSTRUMENTED`].
pub(crate) fn is_instrumented() -> bool {
    IS_INSTRUMENTED.load(Ordering::Relaxed)
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) extern "C-unwind" fn __tsan_init() {
    IS_INSTRUMENTED.store(true, Ordering::Relaxed);
}

/// An integer that is read and written atomically.
trait Word: Copy + Eq {
    /// Reads it.
    ///
    /// # Safety
    ///
    /// The address must be valid and aligned, here and below.
    unsafe fn load(address: *const Self) -> Self;
    /// Writes it.
    unsafe fn store(address: *mut Self, value: Self);
    /// Writes it if it has the expected value. Returns the previous value.
    unsafe fn exchange(address: *mut Self, expected: Self, value: Self) -> Self;
    /// Its lowest 64 bits, for the record.
    fn bits(self) -> u64;
    /// Its value, zero-extended.
    fn wide(self) -> u128;
    /// The inverse of `wide`.
    fn from_wide(wide: u128) -> Self;
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn nand(self, other: Self) -> Self;
    fn replace(self, other: Self) -> Self;
}

macro_rules! arithmetic {
    () => {
        fn bits(self) -> u64 {
            self as u64
        }
        fn wide(self) -> u128 {
            self as u128
        }
        fn from_wide(wide: u128) -> Self {
            wide as Self
        }
        fn add(self, other: Self) -> Self {
            self.wrapping_add(other)
        }
        fn subtract(self, other: Self) -> Self {
            self.wrapping_sub(other)
        }
        fn and(self, other: Self) -> Self {
            self & other
        }
        fn or(self, other: Self) -> Self {
            self | other
        }
        fn xor(self, other: Self) -> Self {
            self ^ other
        }
        fn nand(self, other: Self) -> Self {
            !(self & other)
        }
        fn replace(self, other: Self) -> Self {
            other
        }
    };
}

macro_rules! words {
    ($($word:ty: $atomic:ty),*) => {
        $(impl Word for $word {
            unsafe fn load(address: *const Self) -> Self {
                // SAFETY: as the caller promised.
                unsafe { <$atomic>::from_ptr(address.cast_mut()) }.load(Ordering::SeqCst)
            }

            unsafe fn store(address: *mut Self, value: Self) {
                // SAFETY: as the caller promised.
                unsafe { <$atomic>::from_ptr(address) }.store(value, Ordering::SeqCst);
            }

            unsafe fn exchange(address: *mut Self, expected: Self, value: Self) -> Self {
                // SAFETY: as the caller promised.
                let word = unsafe { <$atomic>::from_ptr(address) };
                match word.compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(old) | Err(old) => old,
                }
            }

            arithmetic!();
        })*
    };
}

words!(u8: AtomicU8, u16: AtomicU16, u32: AtomicU32, u64: AtomicU64);

impl Word for u128 {
    unsafe fn load(address: *const Self) -> Self {
        // SAFETY: as the caller promised. It writes what is there, and only if that is zero.
        unsafe { exchange_16(address.cast_mut(), 0, 0) }
    }

    unsafe fn store(address: *mut Self, value: Self) {
        // SAFETY: as the caller promised.
        unsafe {
            let mut known = <Self as Word>::load(address);
            loop {
                let found = exchange_16(address, known, value);
                if found == known {
                    return;
                }
                known = found;
            }
        }
    }

    unsafe fn exchange(address: *mut Self, expected: Self, value: Self) -> Self {
        // SAFETY: as the caller promised.
        unsafe { exchange_16(address, expected, value) }
    }

    arithmetic!();
}

/// # Safety
///
/// The address must be valid and aligned. A program with such operations runs on a processor that has them.
unsafe fn exchange_16(address: *mut u128, expected: u128, value: u128) -> u128 {
    let (low, high): (u64, u64);
    // SAFETY: as the caller promised. `rbx` cannot be named, and is restored.
    unsafe {
        std::arch::asm!(
            "xchg rsi, rbx",
            "lock cmpxchg16b [rdi]",
            "mov rbx, rsi",
            in("rdi") address,
            inlateout("rsi") value as u64 => _,
            in("rcx") (value >> 64) as u64,
            inlateout("rax") expected as u64 => low,
            inlateout("rdx") (expected >> 64) as u64 => high,
            options(nostack),
        );
    }
    u128::from(high) << 64 | u128::from(low)
}

/// Announces an atomic operation.
#[inline]
fn announce<T>(kind: Kind, address: *const T, order: c_int, place: u64) {
    baton::visible(Step {
        kind: kind as u8,
        address: address as u64,
        size: size_of::<T>() as u8,
        order: order as u8,
        place,
        ..Step::default()
    });
    if baton::looks_for_races() {
        weak::accessed(address as u64, size_of::<T>(), place, kind != Kind::Load, true);
    }
}

extern "C-unwind" fn load<T: Word>(address: *const T, order: c_int, place: u64) -> T {
    if !baton::is_watched() {
        // SAFETY: the program asked for it.
        return unsafe { T::load(address) };
    }
    announce(Kind::Load, address, order, place);
    // SAFETY: the program asked for it.
    let mut value = unsafe { T::load(address) };
    let mut is_last = true;
    if baton::is_ordering() {
        let (read, is_current) = weak::load(address as u64, size_of::<T>(), order, value.wide());
        (value, is_last) = (T::from_wide(read), is_current);
    }
    baton::made(value.bits(), false);
    // A thread rereading a stale store is not waiting for another thread.
    if is_last {
        baton::record_idle_read(place, address as u64, value.bits());
    }
    value
}

extern "C-unwind" fn store<T: Word>(address: *mut T, value: T, order: c_int, place: u64) {
    if !baton::is_watched() {
        // SAFETY: the program asked for it.
        return unsafe { T::store(address, value) };
    }
    announce(Kind::Store, address, order, place);
    // SAFETY: the program asked for it.
    let old = unsafe { T::load(address) };
    // SAFETY: the program asked for it.
    unsafe { T::store(address, value) };
    if baton::is_ordering() {
        weak::store(address as u64, size_of::<T>(), order, value.wide(), old.wide());
    }
    baton::made(value.bits(), true);
    baton::acted();
    baton::wrote(address as u64, old != value);
}

/// Reads, and writes the result of `change`. Returns the previous value.
#[inline]
fn update<T: Word>(address: *mut T, order: c_int, place: u64, change: impl Fn(T) -> T) -> T {
    if baton::is_watched() {
        announce(Kind::Update, address, order, place);
        // SAFETY: the program asked for it.
        let old = unsafe { T::load(address) };
        let new = change(old);
        // SAFETY: the program asked for it.
        unsafe { T::store(address, new) };
        if baton::is_ordering() {
            weak::update(address as u64, size_of::<T>(), order, new.wide(), old.wide());
        }
        wrote(address, place, old, new);
        return old;
    }
    // SAFETY: the program asked for it, here and below.
    let mut known = unsafe { T::load(address) };
    loop {
        // SAFETY: as above.
        let found = unsafe { T::exchange(address, known, change(known)) };
        if found == known {
            return found;
        }
        known = found;
    }
}

/// Records an update. One that leaves the value unchanged wakes no thread.
#[inline]
fn wrote<T: Word>(address: *mut T, place: u64, old: T, new: T) {
    baton::made(old.bits(), old != new);
    if old == new {
        baton::record_idle_read(place, address as u64, old.bits());
    } else {
        baton::acted();
        baton::wrote(address as u64, true);
    }
}

macro_rules! updates {
    ($($name:ident: $method:ident),*) => {
        $(extern "C-unwind" fn $name<T: Word>(address: *mut T, operand: T, order: c_int, place: u64) -> T {
            update(address, order, place, |old| old.$method(operand))
        })*
    };
}

updates!(
    exchange: replace, fetch_add: add, fetch_sub: subtract, fetch_and: and, fetch_or: or, fetch_xor: xor,
    fetch_nand: nand
);

/// As clang and rustc call it: returns the previous value.
extern "C-unwind" fn compare_value<T: Word>(
    address: *mut T,
    expected: T,
    value: T,
    order: c_int,
    failure: c_int,
    place: u64,
) -> T {
    if !baton::is_watched() {
        // SAFETY: the program asked for it.
        return unsafe { T::exchange(address, expected, value) };
    }
    announce(Kind::Update, address, order, place);
    // SAFETY: the program asked for it.
    let old = unsafe { T::exchange(address, expected, value) };
    if baton::is_ordering() && old == expected {
        weak::update(address as u64, size_of::<T>(), order, value.wide(), old.wide());
    } else if baton::is_ordering() {
        weak::not_exchanged(address as u64, size_of::<T>(), order, failure, old.wide());
    }
    wrote(address, place, old, if old == expected { value } else { old });
    old
}

/// As gcc calls it: returns whether it succeeded, and stores the previous value in `expected`.
extern "C-unwind" fn compare<T: Word>(
    address: *mut T,
    expected: *mut T,
    value: T,
    order: c_int,
    failure: c_int,
    place: u64,
) -> c_int {
    // SAFETY: the program passes a pointer to its expected value.
    let wish = unsafe { expected.read() };
    let old = compare_value(address, wish, value, order, failure, place);
    if old != wish {
        // SAFETY: as above.
        unsafe { expected.write(old) };
    }
    c_int::from(old == wish)
}

/// Functions that pass their return address in a register without an argument.
macro_rules! shims {
    ($($register:literal: $($name:ident => $target:expr),* ;)*) => {
        $($(
            #[cfg_attr(not(test), unsafe(no_mangle))]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn $name() {
                std::arch::naked_asm!(concat!("mov ", $register, ", [rsp]"), "jmp {}", sym $target)
            }
        )*)*
    };
}

shims! {
    "rdx":
        __tsan_atomic8_load => load::<u8>, __tsan_atomic16_load => load::<u16>, __tsan_atomic32_load => load::<u32>,
        __tsan_atomic64_load => load::<u64>, __tsan_atomic128_load => load::<u128>,
        __tsan_read_range => read_range, __tsan_write_range => write_range,
        __tsan_vptr_update => vptr_update;
    "rcx":
        __tsan_memcpy => copy, __tsan_memmove => copy_overlapping, __tsan_memset => fill,
        __tsan_atomic8_store => store::<u8>, __tsan_atomic16_store => store::<u16>,
        __tsan_atomic32_store => store::<u32>, __tsan_atomic64_store => store::<u64>,
        __tsan_atomic8_exchange => exchange::<u8>, __tsan_atomic16_exchange => exchange::<u16>,
        __tsan_atomic32_exchange => exchange::<u32>, __tsan_atomic64_exchange => exchange::<u64>,
        __tsan_atomic8_fetch_add => fetch_add::<u8>, __tsan_atomic16_fetch_add => fetch_add::<u16>,
        __tsan_atomic32_fetch_add => fetch_add::<u32>, __tsan_atomic64_fetch_add => fetch_add::<u64>,
        __tsan_atomic8_fetch_sub => fetch_sub::<u8>, __tsan_atomic16_fetch_sub => fetch_sub::<u16>,
        __tsan_atomic32_fetch_sub => fetch_sub::<u32>, __tsan_atomic64_fetch_sub => fetch_sub::<u64>,
        __tsan_atomic8_fetch_and => fetch_and::<u8>, __tsan_atomic16_fetch_and => fetch_and::<u16>,
        __tsan_atomic32_fetch_and => fetch_and::<u32>, __tsan_atomic64_fetch_and => fetch_and::<u64>,
        __tsan_atomic8_fetch_or => fetch_or::<u8>, __tsan_atomic16_fetch_or => fetch_or::<u16>,
        __tsan_atomic32_fetch_or => fetch_or::<u32>, __tsan_atomic64_fetch_or => fetch_or::<u64>,
        __tsan_atomic8_fetch_xor => fetch_xor::<u8>, __tsan_atomic16_fetch_xor => fetch_xor::<u16>,
        __tsan_atomic32_fetch_xor => fetch_xor::<u32>, __tsan_atomic64_fetch_xor => fetch_xor::<u64>,
        __tsan_atomic8_fetch_nand => fetch_nand::<u8>, __tsan_atomic16_fetch_nand => fetch_nand::<u16>,
        __tsan_atomic32_fetch_nand => fetch_nand::<u32>, __tsan_atomic64_fetch_nand => fetch_nand::<u64>;
    "r8":
        __tsan_atomic128_store => store::<u128>, __tsan_atomic128_exchange => exchange::<u128>,
        __tsan_atomic128_fetch_add => fetch_add::<u128>, __tsan_atomic128_fetch_sub => fetch_sub::<u128>,
        __tsan_atomic128_fetch_and => fetch_and::<u128>, __tsan_atomic128_fetch_or => fetch_or::<u128>,
        __tsan_atomic128_fetch_xor => fetch_xor::<u128>, __tsan_atomic128_fetch_nand => fetch_nand::<u128>;
    "r9":
        __tsan_atomic8_compare_exchange_val => compare_value::<u8>,
        __tsan_atomic16_compare_exchange_val => compare_value::<u16>,
        __tsan_atomic32_compare_exchange_val => compare_value::<u32>,
        __tsan_atomic64_compare_exchange_val => compare_value::<u64>,
        __tsan_atomic8_compare_exchange_strong => compare::<u8>,
        __tsan_atomic16_compare_exchange_strong => compare::<u16>,
        __tsan_atomic32_compare_exchange_strong => compare::<u32>,
        __tsan_atomic64_compare_exchange_strong => compare::<u64>,
        __tsan_atomic8_compare_exchange_weak => compare::<u8>,
        __tsan_atomic16_compare_exchange_weak => compare::<u16>,
        __tsan_atomic32_compare_exchange_weak => compare::<u32>,
        __tsan_atomic64_compare_exchange_weak => compare::<u64>;
    "rsi":
        __tsan_read1 => read::<1>, __tsan_read2 => read::<2>, __tsan_read4 => read::<4>, __tsan_read8 => read::<8>,
        __tsan_read16 => read::<16>, __tsan_write1 => write::<1>, __tsan_write2 => write::<2>,
        __tsan_write4 => write::<4>, __tsan_write8 => write::<8>, __tsan_write16 => write::<16>,
        __tsan_read_write1 => write::<1>, __tsan_read_write2 => write::<2>, __tsan_read_write4 => write::<4>,
        __tsan_read_write8 => write::<8>, __tsan_read_write16 => write::<16>,
        __tsan_unaligned_read2 => read::<2>, __tsan_unaligned_read4 => read::<4>, __tsan_unaligned_read8 => read::<8>,
        __tsan_unaligned_read16 => read::<16>, __tsan_unaligned_write2 => write::<2>,
        __tsan_unaligned_write4 => write::<4>, __tsan_unaligned_write8 => write::<8>,
        __tsan_unaligned_write16 => write::<16>, __tsan_unaligned_read_write2 => write::<2>,
        __tsan_unaligned_read_write4 => write::<4>, __tsan_unaligned_read_write8 => write::<8>,
        __tsan_unaligned_read_write16 => write::<16>,
        __tsan_volatile_read1 => read::<1>, __tsan_volatile_read2 => read::<2>, __tsan_volatile_read4 => read::<4>,
        __tsan_volatile_read8 => read::<8>, __tsan_volatile_read16 => read::<16>,
        __tsan_volatile_write1 => write::<1>, __tsan_volatile_write2 => write::<2>,
        __tsan_volatile_write4 => write::<4>, __tsan_volatile_write8 => write::<8>,
        __tsan_volatile_write16 => write::<16>,
        __tsan_vptr_read => read::<8>;
}

/// Like `shims`, but the arguments leave no register for the return address.
macro_rules! wide_exchanges {
    ($($name:ident),*) => {
        $(
            #[cfg_attr(not(test), unsafe(no_mangle))]
            unsafe extern "C-unwind" fn $name(
                address: *mut u128,
                expected: *mut u128,
                value: u128,
                order: c_int,
                failure: c_int,
            ) -> c_int {
                compare(address, expected, value, order, failure, 0)
            }
        )*
    };
}

wide_exchanges!(__tsan_atomic128_compare_exchange_strong, __tsan_atomic128_compare_exchange_weak);

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn __tsan_atomic128_compare_exchange_val(
    address: *mut u128,
    expected: u128,
    value: u128,
    order: c_int,
    failure: c_int,
) -> u128 {
    compare_value(address, expected, value, order, failure, 0)
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn __tsan_atomic_thread_fence(order: c_int) {
    std::sync::atomic::fence(Ordering::SeqCst);
    if baton::is_ordering() && baton::is_watched() {
        let order = MemoryOrder::from_number(order as u8);
        if baton::is_weak() && order == MemoryOrder::SequentiallyConsistent {
            baton::visible(Step { kind: Kind::Fence as u8, order: order as u8, ..Step::default() });
        }
        weak::fence(order);
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn __tsan_atomic_signal_fence(_order: c_int) {}

/// The value that the program is about to read; 0 unless it has 1, 2, 4 or 8 bytes.
fn value_at(address: u64, size: usize) -> u64 {
    // A program that follows a null pointer should crash by itself.
    if address < 4096 {
        return 0;
    }
    // SAFETY: the program is about to read it.
    unsafe {
        match size {
            1 => u64::from((address as *const u8).read()),
            2 => u64::from((address as *const u16).read_unaligned()),
            4 => u64::from((address as *const u32).read_unaligned()),
            8 => (address as *const u64).read_unaligned(),
            _ => 0,
        }
    }
}

/// Announces an unsynchronized access, if it is visible.
#[inline]
fn access(kind: Kind, address: u64, size: usize, place: u64) {
    if baton::is_plain_visible(place) {
        baton::spend_plain();
        let size = size.min(usize::from(u8::MAX)) as u8;
        baton::visible(Step { kind: kind as u8, address, size, place, ..Step::default() });
        match kind {
            Kind::Write => {
                baton::made(0, true);
                baton::acted();
                baton::wrote(address, true);
            }
            _ => {
                let value = value_at(address, size.into());
                baton::made(value, false);
                baton::record_idle_read(place, address, value);
            }
        }
    }
    if baton::looks_for_races() && baton::is_watched() {
        weak::accessed(address, size, place, kind == Kind::Write, false);
    }
    if kind == Kind::Write && baton::is_ordering() && baton::is_controlled() {
        weak::overwritten(address, size);
    }
}

extern "C-unwind" fn read<const SIZE: usize>(address: u64, place: u64) {
    access(Kind::Read, address, SIZE, place);
}

extern "C-unwind" fn write<const SIZE: usize>(address: u64, place: u64) {
    access(Kind::Write, address, SIZE, place);
}

extern "C-unwind" fn read_range(address: u64, size: usize, place: u64) {
    access(Kind::Read, address, size, place);
}

extern "C-unwind" fn write_range(address: u64, size: usize, place: u64) {
    access(Kind::Write, address, size, place);
}

extern "C-unwind" fn vptr_update(address: u64, _value: u64, place: u64) {
    access(Kind::Write, address, 8, place);
}

extern "C-unwind" fn copy(to: *mut c_void, from: *const c_void, size: usize, place: u64) -> *mut c_void {
    copied(to, from, size, place);
    // SAFETY: as the caller promised.
    unsafe { libc::memcpy(to, from, size) }
}

extern "C-unwind" fn copy_overlapping(to: *mut c_void, from: *const c_void, size: usize, place: u64) -> *mut c_void {
    copied(to, from, size, place);
    // SAFETY: as the caller promised.
    unsafe { libc::memmove(to, from, size) }
}

/// Announces that a block is about to be copied.
fn copied(to: *mut c_void, from: *const c_void, size: usize, place: u64) {
    access(Kind::Read, from as u64, size, place);
    access(Kind::Write, to as u64, size, place);
}

extern "C-unwind" fn fill(to: *mut c_void, value: c_int, size: usize, place: u64) -> *mut c_void {
    access(Kind::Write, to as u64, size, place);
    // SAFETY: as the caller promised.
    unsafe { libc::memset(to, value, size) }
}

/// Callbacks with no effect here.
macro_rules! ignored {
    ($($name:ident),*) => {
        $(
            #[cfg_attr(not(test), unsafe(no_mangle))]
            unsafe extern "C-unwind" fn $name() {}
        )*
    };
}

ignored!(
    __tsan_func_entry,
    __tsan_func_exit,
    __tsan_acquire,
    __tsan_release,
    __tsan_ignore_thread_begin,
    __tsan_ignore_thread_end,
    __tsan_mutex_create,
    __tsan_mutex_destroy,
    __tsan_mutex_pre_lock,
    __tsan_mutex_post_lock,
    __tsan_mutex_pre_unlock,
    __tsan_mutex_post_unlock,
    __tsan_mutex_pre_signal,
    __tsan_mutex_post_signal,
    __tsan_mutex_pre_divert,
    __tsan_mutex_post_divert
);

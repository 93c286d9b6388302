//! Reads the clock. No other module does.
//!
//! An interval that is too long is harmless, one that is too short makes a correct system look broken. So the time of
//! a start is read before any later instruction runs, and the time of an end after every earlier one is complete *and
//! visible to other cores*. On x86-64 the start is `rdtsc; lfence`: the fence lets no later instruction begin before
//! the time has been read. The end is a locked instruction and `lfence; rdtsc`: a store waits in a buffer of its own
//! core until the locked instruction makes it visible to the other cores, and `lfence` keeps the time from being read
//! before. (`mfence` would do the same for memory of any type. For ordinary memory it only takes longer: 62 ns for
//! both readings, not 55.) On AArch64 a fence only orders memory accesses, and reading the counter is not one. There,
//! `dsb ish` waits until earlier accesses are complete, and `isb` lets no later instruction begin sooner.
//!
//! Ticks become nanoseconds by one multiplication, with a rate that is measured once per process. The mapping is
//! monotone, so it cannot invent an order between two operations of the same process; a small error of the rate
//! changes the length of a nanosecond, not the order. It is anchored to `CLOCK_MONOTONIC`, so that traces of several
//! processes share one scale, but there the error of the rate shows: some microseconds after a second. Where
//! intervals of different operating system processes are compared, set `OMNILINK_CLOCK=monotonic`.
//!
//! A program under control is not timed: one thread runs at a time, and the time is the number of the step. The call
//! and the return of an operation are steps themselves, so each has its own time.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use crate::control::Hooks;

/// A clock shared by all processes of a trace.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    #[cfg(target_arch = "x86_64")]
    Tsc(tsc::Scale),
    Monotonic,
    Manual(Arc<AtomicU64>),
    Counter(Arc<AtomicU64>),
    Steps(Hooks),
}

/// A clock that stands still until it is set. For tests that need the same bytes each time.
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    /// A clock at time zero.
    pub fn new() -> ManualClock {
        ManualClock::default()
    }

    /// Sets the clock, also backwards.
    pub fn set(&self, time: u64) {
        self.0.store(time, Ordering::SeqCst);
    }
}

impl From<ManualClock> for Clock {
    fn from(clock: ManualClock) -> Clock {
        Clock(Source::Manual(clock.0))
    }
}

/// A clock that counts its readings, so that each is later than all before it. For simulations: in one thread, the order
/// in which calls and returns execute is their real order, while the clocks of simulated hosts are coarse or skewed.
#[derive(Clone, Debug, Default)]
pub struct CounterClock(Arc<AtomicU64>);

impl CounterClock {
    /// A clock that was never read.
    pub fn new() -> CounterClock {
        CounterClock::default()
    }

    /// Reads the clock.
    pub fn tick(&self) -> u64 {
        count(&self.0)
    }
}

impl From<CounterClock> for Clock {
    fn from(clock: CounterClock) -> Clock {
        Clock(Source::Counter(clock.0))
    }
}

fn count(readings: &AtomicU64) -> u64 {
    readings.fetch_add(1, Ordering::SeqCst) + 1
}

#[cfg(test)]
impl From<Hooks> for Clock {
    fn from(hooks: Hooks) -> Clock {
        Clock(Source::Steps(hooks))
    }
}

impl Clock {
    /// The best clock of this machine: the time stamp counter if processor and kernel vouch for it, otherwise
    /// `CLOCK_MONOTONIC`. `OMNILINK_CLOCK` chooses one: `tsc` or `monotonic`; empty counts as not set. In a program
    /// under control the time is the number of the step in any case.
    ///
    /// The first call in a process takes some milliseconds, to measure the rate of the counter.
    ///
    /// # Errors
    ///
    /// If `OMNILINK_CLOCK` has another value, or selects a counter that cannot be trusted.
    pub fn system() -> io::Result<Clock> {
        match Hooks::find() {
            Some(hooks) => Ok(Clock(Source::Steps(hooks))),
            None => Clock::chosen(&env::var_os("OMNILINK_CLOCK").unwrap_or_default(), Clock::tsc),
        }
    }

    /// The requested clock; `tsc` returns the counter if it can be trusted.
    fn chosen(wish: &OsStr, tsc: impl FnOnce() -> Option<Clock>) -> io::Result<Clock> {
        let wrong = |message: &str| io::Error::new(io::ErrorKind::InvalidInput, message.to_owned());
        match &*wish.to_string_lossy() {
            "" => Ok(tsc().unwrap_or(Clock(Source::Monotonic))),
            "monotonic" => Ok(Clock(Source::Monotonic)),
            "tsc" => tsc().ok_or_else(|| wrong("`OMNILINK_CLOCK` is `tsc`, which is not reliable on this machine")),
            other => Err(wrong(&format!("`OMNILINK_CLOCK` is `{other}`, neither `tsc` nor `monotonic`"))),
        }
    }

    /// The name of this clock: `tsc`, `monotonic`, `manual`, `counter` or `steps`.
    pub fn name(&self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Source::Tsc(_) => "tsc",
            Source::Monotonic => "monotonic",
            Source::Manual(_) => "manual",
            Source::Counter(_) => "counter",
            Source::Steps(_) => "steps",
        }
    }

    /// The unit of its times, as written to a manifest.
    pub(crate) fn unit(&self) -> &'static str {
        match self.0 {
            Source::Steps(_) | Source::Counter(_) => "steps",
            _ => "ns",
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn tsc() -> Option<Clock> {
        tsc::Scale::measured().map(|scale| Clock(Source::Tsc(scale)))
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn tsc() -> Option<Clock> {
        None
    }

    /// A time before every later instruction.
    #[inline(always)]
    pub fn start(&self) -> u64 {
        let (start, settling) = self.early();
        settling.settle(self);
        start
    }

    /// A time before every instruction after [`Settling::settle`]. Under control, the steps of this thread until then
    /// count as recording.
    #[inline(always)]
    pub(crate) fn early(&self) -> (u64, Settling) {
        match &self.0 {
            #[cfg(target_arch = "x86_64")]
            Source::Tsc(scale) => (scale.nanoseconds(tsc::read()), Settling(None)),
            Source::Steps(hooks) => (hooks.call(), Settling(Some(*hooks))),
            other => (now(other), Settling(None)),
        }
    }

    /// A time after every earlier instruction.
    #[inline(always)]
    pub fn end(&self) -> u64 {
        self.late().0
    }

    /// A time after every earlier instruction. Under control, the thread is recording until the guard is dropped.
    #[inline(always)]
    pub(crate) fn late(&self) -> (u64, Settling) {
        match &self.0 {
            #[cfg(target_arch = "x86_64")]
            Source::Tsc(scale) => (scale.nanoseconds(tsc::end()), Settling(None)),
            Source::Steps(hooks) => (hooks.back(), Settling(Some(*hooks))),
            other => {
                fence();
                (now(other), Settling(None))
            }
        }
    }
}

/// A guard while recording: under control, nothing this thread does is a step until it is dropped, also if a recorded
/// value panics.
#[derive(Debug, Default)]
#[must_use = "recording ends when it is dropped"]
pub(crate) struct Settling(Option<Hooks>);

impl Settling {
    /// Keeps later instructions from beginning before the time of a start has been read. Separate from reading it, so
    /// that work that may happen before, such as writing the time down, need not wait.
    #[inline(always)]
    pub(crate) fn settle(self, clock: &Clock) {
        match &clock.0 {
            #[cfg(target_arch = "x86_64")]
            Source::Tsc(_) => tsc::settle(),
            Source::Steps(_) => {}
            _ => fence(),
        }
    }
}

impl Drop for Settling {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(hooks) = self.0 {
            hooks.settle();
        }
    }
}

#[inline(never)]
fn now(source: &Source) -> u64 {
    match source {
        Source::Manual(time) => time.load(Ordering::SeqCst),
        Source::Counter(readings) => count(readings),
        _ => monotonic(),
    }
}

/// No later instruction begins before every earlier one is complete and visible. Miri runs instructions in order, and
/// has none that wait.
#[inline(never)]
fn fence() {
    std::sync::atomic::fence(Ordering::SeqCst);
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: every AArch64 processor has these instructions, and they only wait.
    unsafe {
        std::arch::asm!("dsb ish", "isb", options(nostack, preserves_flags));
    }
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every x86-64 processor has this instruction, and it changes nothing.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
}

fn monotonic() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` has room for one time. The call cannot fail: every Unix we build for has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The time stamp counter of x86-64.
#[cfg(target_arch = "x86_64")]
mod tsc {
    use std::arch::asm;
    use std::arch::x86_64::{__cpuid, CpuidResult};
    use std::fs;
    use std::sync::{Mutex, PoisonError};
    use std::thread;
    use std::time::Duration;

    use super::monotonic;

    /// The conversion of counts to nanoseconds.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(super) struct Scale {
        count: u64, // At this count,
        time: u64,  // this was the time;
        rate: u64,  // and one count takes this many nanoseconds, times 2 to the power of 32.
    }

    /// The scale of this process, once it has been measured. `Some(None)` if the counter cannot be trusted.
    static MEASURED: Mutex<Option<Option<Scale>>> = Mutex::new(None);

    impl Scale {
        /// Measured once, so that all recorders of a process agree.
        pub(super) fn measured() -> Option<Scale> {
            let mut measured = MEASURED.lock().unwrap_or_else(PoisonError::into_inner);
            *measured.get_or_insert_with(|| if is_trusted() { Scale::measure() } else { None })
        }

        fn measure() -> Option<Scale> {
            let (count, time) = pair();
            thread::sleep(Duration::from_millis(2));
            let (later_count, later_time) = pair();
            let counts = later_count.checked_sub(count).filter(|counts| *counts > 0)?;
            let rate = (u128::from(later_time - time) << 32) / u128::from(counts);
            Some(Scale { count, time, rate: rate as u64 })
        }

        #[inline(always)]
        pub(super) fn nanoseconds(&self, count: u64) -> u64 {
            let counts = count.saturating_sub(self.count);
            self.time + ((u128::from(counts) * u128::from(self.rate)) >> 32) as u64
        }
    }

    /// A count and the time at that count: of several readings, the least disturbed one.
    fn pair() -> (u64, u64) {
        let readings = (0..50).map(|_| {
            let before = read();
            settle();
            let (time, after) = (monotonic(), end());
            (after.saturating_sub(before), before + after.saturating_sub(before) / 2, time)
        });
        let (_, count, time) = readings.min().expect("there are fifty readings");
        (count, time)
    }

    /// True if the processor says that the counter runs at a constant rate, and the kernel that it agrees between
    /// cores. The kernel compares it with other clocks, and removes it from the list when they disagree.
    fn is_trusted() -> bool {
        const POWER: u32 = 0x8000_0007;
        if cfg!(miri) {
            return false; // Miri runs none of these instructions.
        }
        let cpuid: unsafe fn(u32) -> CpuidResult = __cpuid; // Which newer versions of Rust call safe.
                                                            // SAFETY: every x86-64 processor has this instruction.
        let is_invariant = unsafe { cpuid(0x8000_0000).eax >= POWER && cpuid(POWER).edx & 1 << 8 != 0 };
        is_invariant && is_listed()
    }

    fn is_listed() -> bool {
        let sources = fs::read_to_string("/sys/devices/system/clocksource/clocksource0/available_clocksource");
        sources.map_or(false, |sources| sources.split_whitespace().any(|source| source == "tsc"))
    }

    /// The count at some time before the instructions after [`settle`].
    #[inline(always)]
    pub(super) fn read() -> u64 {
        let (low, high): (u64, u64);
        // SAFETY: every x86-64 processor has this instruction. Without `nomem`, the compiler does not move memory
        // accesses across it.
        unsafe { asm!("rdtsc", out("rax") low, out("rdx") high, options(nostack, preserves_flags)) };
        high << 32 | low
    }

    /// Waits for every earlier instruction, and so for the count.
    #[inline(always)]
    pub(super) fn settle() {
        // SAFETY: as in `read`.
        unsafe { asm!("lfence", options(nostack, preserves_flags)) };
    }

    /// The count at some time after every earlier instruction, and after its effects are visible.
    #[inline(always)]
    pub(super) fn end() -> u64 {
        let (low, high): (u64, u64);
        // SAFETY: as in `read`. Or-ing zero leaves the stack as it is, and nothing below its pointer is touched.
        unsafe {
            asm!(
                "lock or dword ptr [rsp], 0",
                "lfence",
                "rdtsc",
                out("rax") low,
                out("rdx") high,
                options(nostack)
            );
        }
        high << 32 | low
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_scale_is_monotone_and_anchored() {
            let scale = Scale { count: 1000, time: 5_000, rate: 1 << 31 };
            assert_eq!(
                [0, 1000, 1001, 1002, 3000].map(|count| scale.nanoseconds(count)),
                [5000, 5000, 5000, 5001, 6000]
            );
            if let Some(scale) = Scale::measured() {
                assert_eq!(Scale::measured(), Some(scale));
                let (before, now, after) = (monotonic(), scale.nanoseconds(end()), monotonic());
                assert!(
                    before.abs_diff(now) < 1_000_000 && after.abs_diff(now) < 1_000_000_000,
                    "{before} {now} {after}"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wish: &str, tsc: Option<Clock>) -> String {
        Clock::chosen(OsStr::new(wish), || tsc).map_or_else(|error| error.to_string(), |clock| clock.name().to_owned())
    }

    #[test]
    fn a_clock_is_chosen() {
        // A stand-in for a trusted counter.
        let trusted = || Some(Clock::from(ManualClock::new()));
        let chosen =
            |tsc: fn() -> Option<Clock>| ["", "monotonic", "tsc", "sun"].map(|wish| check(wish, tsc())).join("\n");
        insta::assert_snapshot!(chosen(trusted), @"
        manual
        monotonic
        manual
        `OMNILINK_CLOCK` is `sun`, neither `tsc` nor `monotonic`
        ");
        insta::assert_snapshot!(chosen(|| None), @"
        monotonic
        monotonic
        `OMNILINK_CLOCK` is `tsc`, which is not reliable on this machine
        `OMNILINK_CLOCK` is `sun`, neither `tsc` nor `monotonic`
        ");
    }
}

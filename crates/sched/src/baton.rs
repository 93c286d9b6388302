//! Which thread runs: one at a time, and it decides which one is next.
//!
//! A thread announces a visible operation ([`visible`], [`blocking`], [`timed`]) and performs it when the call returns.
//! In between, the chosen threads run. Whether a thread is enabled is computed at every step ([`Slot::ready`]) from the
//! interposed functions' tables of locks and other objects, so threads need not be notified when they become enabled.
//!
//! If no thread is enabled, time advances to the earliest deadline. If no thread has a deadline, spinning threads
//! recheck, a number of times. After that the execution is stuck.
//!
//! Fairness: a thread that yields is not chosen again before all other threads enabled at that time have taken a step
//! or become disabled (Musuvathi and Qadeer, Fair stateless model checking). See `spin` for threads that wait without
//! yielding.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use libc::pthread_t;
use omnilink_schedule::channel::{End, ExecutionOutcome, FIRST_PLAIN, RACING, Settings, Standing};
use omnilink_schedule::{Choice, Decision, Kind, Step, THREADS, thread_object};

use crate::channel::CHANNEL;
use crate::decide::{Decider, each, set_of};
use crate::spin::Spin;
use crate::{interpose, stack, weak};

/// A predicate that tells whether a thread is enabled. It is on the stack of the waiting thread.
type Ready = *const (dyn Fn() -> bool + 'static);

/// The state of one thread.
pub(crate) struct Slot {
    /// 1 if the thread may run.
    gate: AtomicU32,
    pub(crate) standing: StandingCell,
    pub(crate) pending: Cell<Step>,
    ready: Cell<Option<Ready>>,
    /// When its wait times out; [`NEVER`] if it does not.
    deadline: Cell<u64>,
    is_timed_out: Cell<bool>,
    /// Whether it waits for an event from outside the process.
    is_outside: Cell<bool>,
    /// Threads that must run before this one is eligible again, because it yielded.
    yielded_to: Cell<u64>,
    pub(crate) spin: UnsafeCell<Spin>,
    pub(crate) handle: Cell<pthread_t>,
    /// The kernel's thread id.
    pub(crate) task: AtomicI32,
    pub(crate) is_detached: Cell<bool>,
    pub(crate) is_joined: Cell<bool>,
    /// Pending signals, as bits, whose handlers are still to be called.
    pub(crate) signals: AtomicU64,
}

// SAFETY: cells are accessed by the thread that has the baton. What signal handlers read in any thread is atomic.
unsafe impl Sync for Slot {}

/// A standing that signal handlers read too, in threads that do not have the baton.
pub(crate) struct StandingCell(AtomicU32);

impl StandingCell {
    const fn new(standing: Standing) -> StandingCell {
        StandingCell(AtomicU32::new(standing as u32))
    }

    #[inline]
    pub(crate) fn get(&self) -> Standing {
        Standing::from_number(self.0.load(Ordering::Relaxed)).unwrap_or(Standing::Absent)
    }

    #[inline]
    pub(crate) fn set(&self, standing: Standing) {
        self.0.store(standing as u32, Ordering::Relaxed);
    }
}

impl Slot {
    const fn new() -> Slot {
        Slot {
            gate: AtomicU32::new(0),
            standing: StandingCell::new(Standing::Absent),
            pending: Cell::new(NOTHING),
            ready: Cell::new(None),
            deadline: Cell::new(NEVER),
            is_timed_out: Cell::new(false),
            is_outside: Cell::new(false),
            yielded_to: Cell::new(0),
            spin: UnsafeCell::new(Spin::new()),
            handle: Cell::new(0),
            task: AtomicI32::new(0),
            is_detached: Cell::new(false),
            is_joined: Cell::new(false),
            signals: AtomicU64::new(0),
        }
    }

    /// Its repeated reads.
    #[allow(clippy::mut_from_ref, reason = "one thread has the baton")]
    pub(crate) fn spin(&self) -> &mut Spin {
        // SAFETY: only the thread with the baton borrows it, for no longer than a line.
        unsafe { &mut *self.spin.get() }
    }

    fn is_alive(&self) -> bool {
        matches!(self.standing.get(), Standing::Alive | Standing::Spinning)
    }

    /// Whether its step is enabled, apart from fairness.
    fn is_ready(&self) -> bool {
        // SAFETY: the predicate is on the stack of a thread that waits until it is chosen, and was set by it.
        self.is_alive() && self.ready.get().is_none_or(|ready| unsafe { (*ready)() })
    }
}

const NOTHING: Step =
    Step { address: 0, value: 0, place: 0, enabled: 0, kind: 0, order: 0, size: 0, thread: 0, flags: 0 };

/// State shared by all threads.
struct Shared {
    slots: [Slot; THREADS],
    decider: UnsafeCell<Decider>,
    /// The thread that took the last step. Signal handlers read this and the next field, in any thread.
    current: AtomicUsize,
    /// The number of slots ever used.
    used: AtomicUsize,
    /// The time that the program sees, in nanoseconds.
    now: Cell<u64>,
    /// How often spinning threads have rechecked without a change.
    rounds: Cell<u32>,
    /// Whether they have rechecked since time advanced or an event came from outside.
    have_rechecked: Cell<bool>,
    /// A thread that is about to end for real. The next thread waits for that, because the ending thread still frees
    /// memory.
    ending: Cell<Option<usize>>,
    // Also read by threads that do not have the baton, and by foreign threads.
    is_plain: AtomicBool,
    plain_left: AtomicU64,
    /// Whether there are data races in `racing`.
    has_racing: AtomicBool,
    /// Data races that are known: return addresses, 0 is none.
    racing: UnsafeCell<[[u64; 2]; RACING]>,
    is_weak: AtomicBool,
    looks_for_races: AtomicBool,
    /// Whether happens-before is tracked: for one of the two above.
    is_ordering: AtomicBool,
}

// SAFETY: as for slots.
unsafe impl Sync for Shared {}

static SHARED: Shared = Shared {
    slots: [const { Slot::new() }; THREADS],
    decider: UnsafeCell::new(Decider::new()),
    current: AtomicUsize::new(0),
    used: AtomicUsize::new(0),
    now: Cell::new(0),
    rounds: Cell::new(0),
    have_rechecked: Cell::new(false),
    ending: Cell::new(None),
    is_plain: AtomicBool::new(false),
    plain_left: AtomicU64::new(0),
    has_racing: AtomicBool::new(false),
    racing: UnsafeCell::new([[0; 2]; RACING]),
    is_weak: AtomicBool::new(false),
    looks_for_races: AtomicBool::new(false),
    is_ordering: AtomicBool::new(false),
};

/// Whether there is control. Set before there is a second thread, and cleared in a child that the program forks.
static IS_CONTROLLED: AtomicBool = AtomicBool::new(false);

/// The execution is a livelock after this many rounds in which spinning threads rechecked and nothing changed. Many,
/// because a loop that counts in a register looks the same from outside.
const ROUNDS: u32 = 10_000;

thread_local! {
    /// The number of this thread; a foreign thread if it is too large.
    static ME: Cell<usize> = const { Cell::new(usize::MAX) };
    /// The number of reasons to suppress this thread's steps.
    static SUPPRESSED: Cell<u32> = const { Cell::new(0) };
    /// Whether this thread runs runtime code that may call interposed functions.
    static IN_RUNTIME: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling function should act under control. Not for threads whose start we did not see.
#[inline]
pub(crate) fn is_controlled() -> bool {
    IS_CONTROLLED.load(Ordering::Relaxed) && ME.get() < THREADS && !IN_RUNTIME.get()
}

/// Whether there is control, whichever thread calls.
pub(crate) fn is_under_control() -> bool {
    IS_CONTROLLED.load(Ordering::Relaxed)
}

/// As [`is_controlled`], for a memory access.
#[inline]
pub(crate) fn is_watched() -> bool {
    is_controlled() && SUPPRESSED.get() == 0
}

/// Whether an unsynchronized access at this place is a step.
#[inline]
pub(crate) fn is_plain_visible(place: u64) -> bool {
    let is_plain = SHARED.is_plain.load(Ordering::Relaxed);
    (is_plain || (SHARED.has_racing.load(Ordering::Relaxed) && is_racing(place))) && is_watched()
}

/// Notes that an unsynchronized access is a step. Only the first ones may be.
pub(crate) fn spend_plain() {
    let left = SHARED.plain_left.load(Ordering::Relaxed);
    SHARED.plain_left.store(left.saturating_sub(1), Ordering::Relaxed);
    if left <= 1 {
        SHARED.is_plain.store(false, Ordering::Relaxed);
    }
}

/// Whether accesses at this place are known to race.
fn is_racing(place: u64) -> bool {
    place != 0 && racing().iter().flatten().any(|racing| *racing == place)
}

/// Whether accesses at these two places are known to race.
pub(crate) fn is_known_race(a: u64, b: u64) -> bool {
    SHARED.has_racing.load(Ordering::Relaxed) && racing().iter().any(|known| *known == [a, b] || *known == [b, a])
}

fn racing() -> &'static [[u64; 2]; RACING] {
    // SAFETY: they are written before there is a second thread.
    unsafe { &*SHARED.racing.get() }
}

/// Whether loads may read old stores.
#[inline]
pub(crate) fn is_weak() -> bool {
    SHARED.is_weak.load(Ordering::Relaxed)
}

/// Whether stores are visible to all threads at once, and when their operations have returned.
pub(crate) fn is_fresh() -> bool {
    CHANNEL.settings().flags & Settings::FRESH != 0
}

/// Whether to look for data races.
#[inline]
pub(crate) fn looks_for_races() -> bool {
    // Before there is a second thread, everything happens before what other threads do.
    SHARED.looks_for_races.load(Ordering::Relaxed) && is_controlled() && SHARED.used.load(Ordering::Relaxed) > 1
}

/// Stops after the first race.
pub(crate) fn stop_looking_for_races() {
    SHARED.looks_for_races.store(false, Ordering::Relaxed);
    SHARED.is_ordering.store(is_weak(), Ordering::Relaxed);
}

/// Whether happens-before is tracked.
#[inline]
pub(crate) fn is_ordering() -> bool {
    SHARED.is_ordering.load(Ordering::Relaxed)
}

/// The number of the calling thread.
pub(crate) fn me() -> usize {
    ME.get()
}

/// A thread by its number.
pub(crate) fn slot(thread: usize) -> &'static Slot {
    &SHARED.slots[thread]
}

/// All thread numbers in use so far.
pub(crate) fn threads() -> std::ops::Range<usize> {
    0..SHARED.used.load(Ordering::Relaxed)
}

/// Runs code of this library that may call interposed functions, without control.
pub(crate) fn without_control<R>(what: impl FnOnce() -> R) -> R {
    let was = IN_RUNTIME.replace(true);
    let result = what();
    IN_RUNTIME.set(was);
    result
}

/// Suppresses this thread's steps until [`resume_steps`] was called as often.
pub(crate) fn suppress_steps() {
    SUPPRESSED.set(SUPPRESSED.get() + 1);
}

/// See [`suppress_steps`].
pub(crate) fn resume_steps() {
    SUPPRESSED.set(SUPPRESSED.get().saturating_sub(1));
}

/// The time that the program sees, in nanoseconds since it started. All threads share it, so a thread may read it only
/// in a step on [`omnilink_schedule::CLOCK`].
pub(crate) fn now() -> u64 {
    SHARED.now.get()
}

/// Advances the time.
pub(crate) fn advance(nanoseconds: u64) {
    SHARED.now.set(SHARED.now.get().saturating_add(nanoseconds));
}

/// A deadline in the past. A thread that waits until then only tries.
pub(crate) const PASSED: u64 = 0;
/// No deadline.
pub(crate) const NEVER: u64 = u64::MAX;

/// The number of steps so far.
pub(crate) fn steps() -> u64 {
    CHANNEL.outcome().steps
}

/// Takes control, or resets it: the calling thread is thread 0 and the only one.
pub(crate) fn begin() {
    let settings = CHANNEL.begin();
    for slot in &SHARED.slots[..SHARED.used.load(Ordering::Relaxed)] {
        slot.standing.set(Standing::Absent);
        slot.pending.set(NOTHING);
        slot.ready.set(None);
        slot.deadline.set(NEVER);
        slot.yielded_to.set(0);
        slot.spin().clear();
        slot.gate.store(0, Ordering::Relaxed);
        slot.signals.store(0, Ordering::Relaxed);
    }
    decider().begin(&settings);
    SHARED.used.store(1, Ordering::Relaxed);
    SHARED.current.store(0, Ordering::Relaxed);
    SHARED.now.set(0);
    SHARED.rounds.set(0);
    SHARED.have_rechecked.set(false);
    let has = |flag: u32| settings.flags & flag != 0;
    SHARED.is_plain.store(has(Settings::PLAIN), Ordering::Relaxed);
    let plain_left = if has(Settings::ONLY_FIRST_PLAIN) { FIRST_PLAIN } else { u64::MAX };
    SHARED.plain_left.store(plain_left, Ordering::Relaxed);
    // SAFETY: there is one thread.
    unsafe { *SHARED.racing.get() = settings.racing };
    SHARED.has_racing.store(settings.racing != [[0; 2]; RACING], Ordering::Relaxed);
    SHARED.is_weak.store(has(Settings::WEAK), Ordering::Relaxed);
    SHARED.looks_for_races.store(has(Settings::RACES), Ordering::Relaxed);
    SHARED.is_ordering.store(has(Settings::WEAK | Settings::RACES), Ordering::Relaxed);
    ME.set(0);
    SUPPRESSED.set(0);
    let slot = slot(0);
    slot.standing.set(Standing::Alive);
    // SAFETY: there is always a calling thread.
    slot.handle.set(unsafe { libc::pthread_self() });
    interpose::begin(&settings);
    weak::begin();
    CHANNEL.set_base(crate::start::base());
    IS_CONTROLLED.store(true, Ordering::Relaxed);
}

/// Releases control, in a process that the program forked.
pub(crate) fn release_control() {
    IS_CONTROLLED.store(false, Ordering::Relaxed);
}

/// Whether this thread is the only one that has not ended.
pub(crate) fn is_alone() -> bool {
    threads().all(|thread| thread == me() || !slot(thread).is_alive())
}

#[allow(clippy::mut_from_ref, reason = "one thread has the baton")]
fn decider() -> &'static mut Decider {
    // SAFETY: only the thread with the baton borrows it, and nothing is called meanwhile.
    unsafe { &mut *SHARED.decider.get() }
}

/// Announces a step that is always enabled. When this returns, the caller performs it.
#[inline]
pub(crate) fn visible(step: Step) {
    announce(step, None, NEVER, false);
}

/// Announces a step that is enabled whenever `ready` returns `true`.
pub(crate) fn blocking(step: Step, ready: &dyn Fn() -> bool) {
    announce(step, Some(ready), NEVER, false);
}

/// As [`blocking`], with a deadline. Returns `false` if that came first.
pub(crate) fn timed(step: Step, deadline: u64, ready: &dyn Fn() -> bool) -> bool {
    if deadline != PASSED {
        return announce(step, Some(ready), deadline, false);
    }
    // A thread that does not wait at all only tries.
    visible(Step { kind: Kind::from_number(step.kind).map_or(step.kind, |kind| kind.tried() as u8), ..step });
    ready()
}

/// As [`timed`], for an event that may come from outside the process.
pub(crate) fn outside(step: Step, deadline: u64, ready: &dyn Fn() -> bool) -> bool {
    announce(step, Some(ready), deadline, true)
}

/// Announces a step after which all other enabled threads run first.
pub(crate) fn yielding(step: Step) {
    let me = me();
    slot(me).yielded_to.set(ready() & !(1 << me));
    decider().yielded(me);
    visible(step);
}

/// Records the value of the last step.
#[inline]
pub(crate) fn made(value: u64, writes: bool) {
    CHANNEL.complete_step(value, if writes { Step::WRITES } else { 0 });
}

/// Sets the object of the last step, if it was not known before.
pub(crate) fn set_step_object(address: u64) {
    CHANNEL.correct_step(address);
}

/// Decides among options other than threads.
pub(crate) fn choose(choice: Choice, options: usize) -> usize {
    let options = options.min(usize::from(u8::MAX));
    if options <= 1 {
        return 0;
    }
    match decider().option(choice, options, |index| CHANNEL.to_follow(index)) {
        Ok(chosen) => {
            CHANNEL.add_decision(Decision::one_of(choice, chosen as u8, options as u8));
            chosen
        }
        Err(end) => stop(end),
    }
}

/// The number of the next thread.
pub(crate) fn next_thread() -> usize {
    let used = SHARED.used.load(Ordering::Relaxed);
    let is_gone = |slot: &Slot| slot.standing.get() == Standing::Ended && slot.is_joined.get();
    let again = || threads().find(|&thread| is_gone(slot(thread)));
    if used < THREADS { used } else { again().unwrap_or_else(|| stop(End::TooManyThreads)) }
}

/// Creates a thread, which starts when it is chosen. Returns its number.
pub(crate) fn create() -> usize {
    let thread = next_thread();
    SHARED.used.fetch_max(thread + 1, Ordering::Relaxed);
    let slot = slot(thread);
    slot.gate.store(0, Ordering::Relaxed);
    slot.standing.set(Standing::Alive);
    slot.yielded_to.set(0);
    slot.is_joined.set(false);
    slot.is_detached.set(false);
    slot.spin().clear();
    slot.signals.store(0, Ordering::Relaxed);
    prepare(
        thread,
        Step { kind: Kind::Start as u8, address: thread_object(thread as u8), size: 8, ..NOTHING },
        None,
        NEVER,
    );
    if is_ordering() {
        weak::created(thread);
    }
    CHANNEL.add_thread();
    thread
}

/// The start of a new thread: waits until it is chosen.
pub(crate) fn enter(thread: usize) {
    ME.set(thread);
    SUPPRESSED.set(0);
    wait(thread);
}

/// The end of a thread: passes the baton on.
pub(crate) fn leave() {
    let me = me();
    visible(Step { kind: Kind::Exit as u8, address: thread_object(me as u8), size: 8, ..NOTHING });
    let slot = slot(me);
    slot.standing.set(Standing::Ended);
    slot.is_joined.set(slot.is_detached.get());
    SHARED.ending.set(Some(me));
    wrote(thread_object(me as u8), true);
    let was_last = is_alone();
    ME.set(usize::MAX);
    // If no thread is left, the C library ends the process.
    if !was_last {
        hand_to(next());
    }
}

/// Wakes threads spinning on this address.
#[inline]
pub(crate) fn wrote(address: u64, has_changed: bool) {
    if has_changed {
        SHARED.rounds.set(0);
    }
    for thread in threads() {
        let slot = slot(thread);
        if slot.standing.get() == Standing::Spinning && slot.spin().watches(address) {
            stop_spinning(slot);
        }
    }
}

/// Records a read by this thread that changed nothing.
#[inline]
pub(crate) fn record_idle_read(place: u64, address: u64, value: u64) {
    let slot = slot(me());
    if slot.spin().record_read(place, address, value) {
        slot.standing.set(Standing::Spinning);
    }
}

/// Records that this thread did something visible to others.
#[inline]
pub(crate) fn acted() {
    stop_spinning(slot(me()));
}

/// Ends spinning: the thread may be chosen again.
fn stop_spinning(slot: &Slot) {
    if slot.standing.get() == Standing::Spinning {
        slot.standing.set(Standing::Alive);
    }
    slot.spin().clear();
}

fn prepare(thread: usize, step: Step, ready: Option<Ready>, deadline: u64) {
    let slot = slot(thread);
    slot.pending.set(Step { thread: thread as u8, ..step });
    slot.ready.set(ready);
    slot.deadline.set(deadline);
    slot.is_timed_out.set(false);
    slot.is_outside.set(false);
    decider().announced(thread);
}

fn announce(step: Step, ready: Option<&dyn Fn() -> bool>, deadline: u64, is_outside: bool) -> bool {
    let me = me();
    // Recorders cannot be unwound through, which a handler may do: it is called at the next step of the system.
    if !matches!(step.kind(), Some(Kind::Call | Kind::Return | Kind::Gate)) {
        interpose::signal::deliver();
    }
    if is_ordering() {
        weak::announced(&step);
    }
    // SAFETY: only the lifetime changes. It is called only while this thread is in this function, and then dropped.
    let ready: Option<Ready> =
        ready.map(|ready| unsafe { std::mem::transmute::<*const (dyn Fn() -> bool + '_), Ready>(ready) });
    let slot_of_me = slot(me);
    let goes_on_looking = matches!(step.kind(), Some(Kind::Yield | Kind::Sleep));
    if slot_of_me.standing.get() == Standing::Spinning
        && !goes_on_looking
        && !slot_of_me.spin().knows(step.place, step.address)
    {
        // It has left the loop.
        stop_spinning(slot_of_me);
    }
    prepare(me, step, ready, deadline);
    slot(me).is_outside.set(is_outside);
    let next = next();
    if next != me {
        hand_to(next);
        wait(me);
    }
    slot(me).ready.set(None);
    if CHANNEL.settings().stop_before == CHANNEL.outcome().steps {
        crate::hooks::omnilink_sched_breakpoint();
    }
    if is_ordering() {
        weak::chosen(&step);
    }
    !slot(me).is_timed_out.get()
}

/// Decides which thread takes the next step, and records the step.
fn next() -> usize {
    let previous = SHARED.current.load(Ordering::Relaxed);
    CHANNEL.seal_step();
    let Offer { enabled, ready, is_timeout } = offer();
    let outcome = CHANNEL.outcome();
    if outcome.steps >= CHANNEL.settings().limit {
        stop(End::Livelock);
    }
    let chosen = decider().thread(enabled, ready, previous, outcome.steps + 1, |index| CHANNEL.to_follow(index));
    let chosen = chosen.unwrap_or_else(|end| stop(end));
    CHANNEL.add_decision(Decision::thread(chosen as u8));
    let slot = slot(chosen);
    slot.is_timed_out.set(is_timeout);
    if slot.standing.get() == Standing::Spinning {
        // The policy admitted it, so it runs for a while.
        stop_spinning(slot);
    }
    let mut step = slot.pending.get();
    step.enabled = enabled;
    step.flags = if enabled & (1 << previous) == 0 { Step::FREE } else { 0 };
    step.flags |= if is_timeout { Step::TIMED_OUT } else { 0 };
    step.flags |= if ready & !enabled != 0 { Step::HELD_BACK } else { 0 };
    CHANNEL.add_step(step);
    for other in threads() {
        let slot = &SHARED.slots[other];
        let first = if other == chosen { 0 } else { slot.yielded_to.get() & !(1 << chosen) };
        slot.yielded_to.set(first);
    }
    let others = threads().filter(|&thread| thread != chosen && SHARED.slots[thread].is_alive());
    let others = set_of(others);
    decider().stepped(&step, others, |thread| SHARED.slots[thread].pending.get());
    SHARED.current.store(chosen, Ordering::Relaxed);
    chosen
}

/// The threads that may take the next step.
struct Offer {
    /// Threads to choose from.
    enabled: u64,
    /// Enabled threads: some may be held back for fairness.
    ready: u64,
    /// Whether time advanced for this step.
    is_timeout: bool,
}

/// All threads whose step is enabled.
fn ready() -> u64 {
    set_of(threads().filter(|&thread| slot(thread).is_ready()))
}

/// The threads that may take the next step. If there is none, the execution ends here.
fn offer() -> Offer {
    loop {
        let alive = || threads().filter(|&thread| slot(thread).is_alive());
        let ready = ready();
        let spinning = each(ready).filter(|&thread| slot(thread).standing.get() == Standing::Spinning);
        let spinning = set_of(spinning);
        let mut active = ready & !spinning;
        if active != 0 {
            // A loop that counts its iterations must be able to give up while other threads are enabled.
            if spinning != 0 && decider().lets_spin() {
                active = ready;
            }
            let fair = each(active).filter(|&thread| slot(thread).yielded_to.get() & active == 0);
            let fair: u64 = set_of(fair);
            // If all wait for each other to go first, none has to.
            return Offer { enabled: if fair == 0 { active } else { fair }, ready, is_timeout: false };
        }
        // Before time advances, spinning threads recheck once more.
        if spinning != 0 && !SHARED.have_rechecked.replace(true) {
            each(spinning).for_each(|thread| stop_spinning(slot(thread)));
            continue;
        }
        let is_outside = alive().any(|thread| slot(thread).is_outside.get());
        if is_outside && interpose::outside::pause() {
            CHANNEL.add_flags(ExecutionOutcome::WAITED_OUTSIDE);
            SHARED.have_rechecked.set(false);
            continue;
        }
        let first = alive().map(|thread| slot(thread).deadline.get()).min().unwrap_or(NEVER);
        if first != NEVER {
            SHARED.now.set(now().max(first));
            SHARED.have_rechecked.set(false);
            let due = alive().filter(|&thread| slot(thread).deadline.get() == first);
            let due = set_of(due);
            return Offer { enabled: due, ready: due, is_timeout: true };
        }
        if is_outside {
            SHARED.have_rechecked.set(false);
            continue;
        }
        if spinning == 0 {
            stop(End::Deadlock);
        }
        SHARED.rounds.set(SHARED.rounds.get() + 1);
        if SHARED.rounds.get() > ROUNDS {
            stop(End::Livelock);
        }
        each(spinning).for_each(|thread| stop_spinning(slot(thread)));
    }
}

/// Ends the execution and with it the process.
pub(crate) fn stop(end: End) -> ! {
    CHANNEL.end(end);
    record_pending();
    if matches!(end, End::Deadlock | End::Livelock) {
        stack::capture_all();
    }
    // SAFETY: ends the process at once, without calling the program's code.
    unsafe { libc::_exit(STOPPED) }
}

/// The exit code of a process that ended with its execution.
const STOPPED: i32 = 118;

/// An execution is complete, and the process continues.
pub(crate) fn finish() {
    CHANNEL.seal_step();
    record_pending();
}

/// Records the next step of all threads.
pub(crate) fn record_pending() {
    // A thread that crashed, or was asked for its stack, may have been changing what its predicate reads.
    let can_ask = !interpose::table::is_in_use();
    for thread in threads() {
        let slot = slot(thread);
        let enabled = u64::from(can_ask && slot.is_ready());
        CHANNEL.set_pending(thread, Step { enabled, ..slot.pending.get() }, slot.standing.get() as u32);
    }
    CHANNEL.set_last(now(), SHARED.current.load(Ordering::Relaxed) as u32);
}

/// The thread that took the last step.
pub(crate) fn current() -> usize {
    SHARED.current.load(Ordering::Relaxed)
}

fn hand_to(thread: usize) {
    open(&slot(thread).gate);
}

/// Waits until this thread is chosen.
fn wait(me: usize) {
    pass(&slot(me).gate);
    while stack::is_asked() {
        stack::capture(me);
        pass(&slot(me).gate);
    }
    if let Some(thread) = SHARED.ending.take() {
        interpose::thread::wait_for_end(thread);
    }
}

/// Wakes a thread so that it records its stack.
pub(crate) fn wake_for_stack(thread: usize) {
    open(&slot(thread).gate);
}

/// Opens a gate.
pub(crate) fn open(gate: &AtomicU32) {
    // SAFETY: it is borrowed.
    unsafe { open_once(gate) };
}

/// Opens a gate that may be gone as soon as it is open: the thread that passes it may free it before this one has woken
/// it. Then another thread at the same address is woken, rechecks and waits again.
///
/// # Safety
///
/// The gate must exist until it is open.
pub(crate) unsafe fn open_once(gate: *const AtomicU32) {
    // SAFETY: as the caller promised. The reference ends with the store.
    unsafe { (*gate).store(1, Ordering::Release) };
    futex(gate, libc::FUTEX_WAKE, 1);
}

/// Waits until a gate is open, and closes it.
pub(crate) fn pass(gate: &AtomicU32) {
    while gate.compare_exchange(1, 0, Ordering::Acquire, Ordering::Relaxed).is_err() {
        futex(gate, libc::FUTEX_WAIT, 0);
    }
}

/// The raw system call: the C library's function is interposed.
fn futex(word: *const AtomicU32, operation: i32, value: u32) {
    // SAFETY: a wake only compares the address; a waiting thread owns the word. The kernel changes only the named
    // registers.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") libc::SYS_futex => _,
            in("rdi") word.cast::<c_void>(),
            in("rsi") i64::from(operation | libc::FUTEX_PRIVATE_FLAG),
            in("rdx") u64::from(value),
            in("r10") 0_usize,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
}

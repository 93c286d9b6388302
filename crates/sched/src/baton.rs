//! Who runs: one thread at a time, and it decides who is next.
//!
//! A thread that is about to do something visible says so ([`visible`], [`blocking`], [`timed`]) and does it when the call
//! returns. In between, whoever is chosen runs. Whether a thread can go on is a question that is asked anew at every step
//! ([`Slot::ready`]), of what the functions that are interposed keep about locks and the like; so nothing has to be told
//! when it becomes possible.
//!
//! If nobody can go on, time passes: it jumps to where the first of those who wait for a moment wait for. If nobody
//! waits for one, those who spin look again, a number of times. After that the execution is stuck.
//!
//! Fairness: a thread that yields is not chosen again before all others who could go on then have made a step or cannot go
//! on any more (Musuvathi and Qadeer, Fair stateless model checking). See `spin` for those who wait without saying so.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use libc::pthread_t;
use schedule::channel::{End, Outcome, Settings, Standing};
use schedule::{Choice, Decision, Kind, Step, THREADS, thread_object};

use crate::channel::CHANNEL;
use crate::decide::{Decider, each, set_of};
use crate::spin::Spin;
use crate::{interpose, stack, weak};

/// A question whether a thread can go on. It lives on the stack of the thread that waits.
type Ready = *const (dyn Fn() -> bool + 'static);

/// All about one thread.
pub(crate) struct Slot {
    /// 1 if the thread may run.
    gate: AtomicU32,
    pub(crate) standing: StandingCell,
    pub(crate) pending: Cell<Step>,
    ready: Cell<Option<Ready>>,
    /// When it stops waiting; never, if this is the largest number.
    deadline: Cell<u64>,
    is_timed_out: Cell<bool>,
    /// It waits for something that does not come from this process.
    is_outside: Cell<bool>,
    /// Who must make a step before this one does, because it yielded.
    lets_go_first: Cell<u64>,
    pub(crate) spin: UnsafeCell<Spin>,
    pub(crate) handle: Cell<pthread_t>,
    /// What the kernel calls it.
    pub(crate) task: AtomicI32,
    pub(crate) is_detached: Cell<bool>,
    pub(crate) is_joined: Cell<bool>,
    /// Signals that came, as bits, whose handlers are still to be called.
    pub(crate) signals: AtomicU64,
}

// SAFETY: cells are touched by the thread that has the baton. What signal handlers look at in any thread is atomic.
unsafe impl Sync for Slot {}

/// A standing that signal handlers look at too, in threads that have not the baton.
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
            lets_go_first: Cell::new(0),
            spin: UnsafeCell::new(Spin::new()),
            handle: Cell::new(0),
            task: AtomicI32::new(0),
            is_detached: Cell::new(false),
            is_joined: Cell::new(false),
            signals: AtomicU64::new(0),
        }
    }

    /// What it has read again and again.
    #[allow(clippy::mut_from_ref, reason = "one thread has the baton")]
    pub(crate) fn spin(&self) -> &mut Spin {
        // SAFETY: only the thread with the baton asks for it, for no longer than a line.
        unsafe { &mut *self.spin.get() }
    }

    fn is_alive(&self) -> bool {
        matches!(self.standing.get(), Standing::Alive | Standing::Spinning)
    }

    /// Whether it can make its step, as far as the step itself is concerned.
    fn is_ready(&self) -> bool {
        // SAFETY: the question is on the stack of a thread that waits until it is chosen, and was set by it.
        self.is_alive() && self.ready.get().is_none_or(|ready| unsafe { (*ready)() })
    }
}

const NOTHING: Step =
    Step { address: 0, value: 0, place: 0, enabled: 0, kind: 0, order: 0, size: 0, thread: 0, flags: 0 };

/// What all threads share.
struct Shared {
    slots: [Slot; THREADS],
    decider: UnsafeCell<Decider>,
    /// Who made the last step. Signal handlers look at this and at the next, in any thread.
    current: AtomicUsize,
    /// How many slots were ever used.
    used: AtomicUsize,
    /// The time that the program sees, in nanoseconds.
    now: Cell<u64>,
    /// How often those who spin have looked again without a change.
    rounds: Cell<u32>,
    /// Whether they have since time passed, or something came from outside.
    have_looked: Cell<bool>,
    /// A thread that is about to end for real. Whoever runs next waits for that, because it still gives memory back.
    ending: Cell<Option<usize>>,
    // These are looked at by threads that have not the baton too, and by those that are not ours.
    is_plain: AtomicBool,
    is_weak: AtomicBool,
    looks_for_races: AtomicBool,
    /// Whether what happened before what is kept: for one of the two above.
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
    have_looked: Cell::new(false),
    ending: Cell::new(None),
    is_plain: AtomicBool::new(false),
    is_weak: AtomicBool::new(false),
    looks_for_races: AtomicBool::new(false),
    is_ordering: AtomicBool::new(false),
};

/// Whether there is control. Set before there is a second thread, and taken back in a child that the program forks.
static IS_CONTROLLED: AtomicBool = AtomicBool::new(false);

/// After so many rounds in which those who spin looked again and nothing changed, nothing ever will. Many, because a loop
/// that counts in a register looks the same from outside.
const ROUNDS: u32 = 10_000;

thread_local! {
    /// The number of this thread; not one of ours if it is too large.
    static ME: Cell<usize> = const { Cell::new(usize::MAX) };
    /// How many reasons there are that nothing this thread does is visible.
    static QUIET: Cell<u32> = const { Cell::new(0) };
    /// Whether this thread is inside this library where it may call what is interposed.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether the function that asks is to do what it does under control. Not for threads that we did not see begin.
#[inline]
pub(crate) fn is_controlled() -> bool {
    IS_CONTROLLED.load(Ordering::Relaxed) && ME.get() < THREADS && !INSIDE.get()
}

/// Whether there is control, whoever asks.
pub(crate) fn is_under_control() -> bool {
    IS_CONTROLLED.load(Ordering::Relaxed)
}

/// As [`is_controlled`], for an access to memory.
#[inline]
pub(crate) fn is_watched() -> bool {
    is_controlled() && QUIET.get() == 0
}

/// Whether accesses without synchronization are steps.
#[inline]
pub(crate) fn is_plain_visible() -> bool {
    SHARED.is_plain.load(Ordering::Relaxed) && is_watched()
}

/// Whether loads may read old stores.
#[inline]
pub(crate) fn is_weak() -> bool {
    SHARED.is_weak.load(Ordering::Relaxed)
}

/// Whether data races are looked for.
#[inline]
pub(crate) fn looks_for_races() -> bool {
    // Before there is a second thread, whatever happens comes before what others do.
    SHARED.looks_for_races.load(Ordering::Relaxed) && is_controlled() && SHARED.used.load(Ordering::Relaxed) > 1
}

/// One was found, which is enough.
pub(crate) fn stop_looking_for_races() {
    SHARED.looks_for_races.store(false, Ordering::Relaxed);
    SHARED.is_ordering.store(is_weak(), Ordering::Relaxed);
}

/// Whether what happened before what is kept.
#[inline]
pub(crate) fn is_ordering() -> bool {
    SHARED.is_ordering.load(Ordering::Relaxed)
}

/// The number of the thread that calls.
pub(crate) fn me() -> usize {
    ME.get()
}

/// A thread by its number.
pub(crate) fn slot(thread: usize) -> &'static Slot {
    &SHARED.slots[thread]
}

/// All numbers that were given to threads.
pub(crate) fn threads() -> std::ops::Range<usize> {
    0..SHARED.used.load(Ordering::Relaxed)
}

/// Runs something of this library that may call what is interposed, without control.
pub(crate) fn inside<R>(what: impl FnOnce() -> R) -> R {
    let was = INSIDE.replace(true);
    let result = what();
    INSIDE.set(was);
    result
}

/// Nothing this thread does is visible until [`loud`] was called as often.
pub(crate) fn quiet() {
    QUIET.set(QUIET.get() + 1);
}

/// See [`quiet`].
pub(crate) fn loud() {
    QUIET.set(QUIET.get().saturating_sub(1));
}

/// The time that the program sees, in nanoseconds since it started. It is shared by all threads, so a thread may learn it
/// in a step about [`schedule::CLOCK`] only.
pub(crate) fn now() -> u64 {
    SHARED.now.get()
}

/// Lets time pass.
pub(crate) fn advance(nanoseconds: u64) {
    SHARED.now.set(SHARED.now.get().saturating_add(nanoseconds));
}

/// A deadline that has passed already. A thread that waits until then only tries.
pub(crate) const PASSED: u64 = 0;
/// No deadline.
pub(crate) const NEVER: u64 = u64::MAX;

/// How many steps were made.
pub(crate) fn steps() -> u64 {
    CHANNEL.outcome().steps
}

/// Takes control, or begins anew: the thread that calls is thread 0 and the only one.
pub(crate) fn begin() {
    let settings = CHANNEL.begin();
    for slot in &SHARED.slots[..SHARED.used.load(Ordering::Relaxed)] {
        slot.standing.set(Standing::Absent);
        slot.pending.set(NOTHING);
        slot.ready.set(None);
        slot.deadline.set(NEVER);
        slot.lets_go_first.set(0);
        slot.spin().clear();
        slot.gate.store(0, Ordering::Relaxed);
        slot.signals.store(0, Ordering::Relaxed);
    }
    decider().begin(&settings);
    SHARED.used.store(1, Ordering::Relaxed);
    SHARED.current.store(0, Ordering::Relaxed);
    SHARED.now.set(0);
    SHARED.rounds.set(0);
    SHARED.have_looked.set(false);
    let has = |flag: u32| settings.flags & flag != 0;
    SHARED.is_plain.store(has(Settings::PLAIN), Ordering::Relaxed);
    SHARED.is_weak.store(has(Settings::WEAK), Ordering::Relaxed);
    SHARED.looks_for_races.store(has(Settings::RACES), Ordering::Relaxed);
    SHARED.is_ordering.store(has(Settings::WEAK | Settings::RACES), Ordering::Relaxed);
    ME.set(0);
    QUIET.set(0);
    let slot = slot(0);
    slot.standing.set(Standing::Alive);
    // SAFETY: there is always such a thread.
    slot.handle.set(unsafe { libc::pthread_self() });
    interpose::begin(&settings);
    weak::begin();
    CHANNEL.set_base(crate::start::base());
    IS_CONTROLLED.store(true, Ordering::Relaxed);
}

/// Gives control back, in a process that the program forked.
pub(crate) fn give_up() {
    IS_CONTROLLED.store(false, Ordering::Relaxed);
}

/// Whether this thread is the only one that has not ended.
pub(crate) fn is_alone() -> bool {
    threads().all(|thread| thread == me() || !slot(thread).is_alive())
}

#[allow(clippy::mut_from_ref, reason = "one thread has the baton")]
fn decider() -> &'static mut Decider {
    // SAFETY: only the thread with the baton asks for it, and nobody is called while it is borrowed.
    unsafe { &mut *SHARED.decider.get() }
}

/// Announces a step that is always possible. When this returns, it is to be made.
#[inline]
pub(crate) fn visible(step: Step) {
    announce(step, None, NEVER, false);
}

/// Announces a step that is possible whenever `ready` says so.
pub(crate) fn blocking(step: Step, ready: &dyn Fn() -> bool) {
    announce(step, Some(ready), NEVER, false);
}

/// The same, but not for longer than until a moment. False if that came first.
pub(crate) fn timed(step: Step, deadline: u64, ready: &dyn Fn() -> bool) -> bool {
    if deadline != PASSED {
        return announce(step, Some(ready), deadline, false);
    }
    // Who does not wait at all only tries.
    visible(Step { kind: Kind::from_number(step.kind).map_or(step.kind, |kind| kind.tried() as u8), ..step });
    ready()
}

/// The same for something that may come from outside of this process.
pub(crate) fn outside(step: Step, deadline: u64, ready: &dyn Fn() -> bool) -> bool {
    announce(step, Some(ready), deadline, true)
}

/// Lets all others that can go on make a step first.
pub(crate) fn yielding(step: Step) {
    let me = me();
    slot(me).lets_go_first.set(ready() & !(1 << me));
    decider().yielded(me);
    visible(step);
}

/// Says what came of the step that was made.
#[inline]
pub(crate) fn made(value: u64, writes: bool) {
    CHANNEL.complete_step(value, if writes { Step::WRITES } else { 0 });
}

/// Says what the step that was made is about, if that was not known before.
pub(crate) fn made_about(address: u64) {
    CHANNEL.correct_step(address);
}

/// Decides among options that are no threads.
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

/// The number that the next thread gets.
pub(crate) fn next_thread() -> usize {
    let used = SHARED.used.load(Ordering::Relaxed);
    let is_gone = |slot: &Slot| slot.standing.get() == Standing::Ended && slot.is_joined.get();
    let again = || threads().find(|&thread| is_gone(slot(thread)));
    if used < THREADS { used } else { again().unwrap_or_else(|| stop(End::TooManyThreads)) }
}

/// A new thread, which begins when it is chosen. Its number.
pub(crate) fn create() -> usize {
    let thread = next_thread();
    SHARED.used.fetch_max(thread + 1, Ordering::Relaxed);
    let slot = slot(thread);
    slot.gate.store(0, Ordering::Relaxed);
    slot.standing.set(Standing::Alive);
    slot.lets_go_first.set(0);
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

/// What a new thread does first: it waits until it is chosen.
pub(crate) fn enter(thread: usize) {
    ME.set(thread);
    QUIET.set(0);
    wait(thread);
}

/// What a thread does last: it hands the baton on.
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
    // If nobody is left, the C library ends the process.
    if !was_last {
        hand_to(next());
    }
}

/// A write happened: who spins on it looks again.
#[inline]
pub(crate) fn wrote(address: u64, has_changed: bool) {
    if has_changed {
        SHARED.rounds.set(0);
    }
    for thread in threads() {
        let slot = slot(thread);
        if slot.standing.get() == Standing::Spinning && slot.spin().watches(address) {
            look_up(slot);
        }
    }
}

/// This thread has read what it reads, and changed nothing.
#[inline]
pub(crate) fn only_looked(place: u64, address: u64, value: u64) {
    let slot = slot(me());
    if slot.spin().looked(place, address, value) {
        slot.standing.set(Standing::Spinning);
    }
}

/// This thread has done something that others may see.
#[inline]
pub(crate) fn acted() {
    look_up(slot(me()));
}

/// This thread does not spin, or should look again.
fn look_up(slot: &Slot) {
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
    // SAFETY: only the lifetime changes. It is asked only while this thread is in this function, and then forgotten.
    let ready: Option<Ready> =
        ready.map(|ready| unsafe { std::mem::transmute::<*const (dyn Fn() -> bool + '_), Ready>(ready) });
    let slot_of_me = slot(me);
    let goes_on_looking = matches!(step.kind(), Some(Kind::Yield | Kind::Sleep));
    if slot_of_me.standing.get() == Standing::Spinning
        && !goes_on_looking
        && !slot_of_me.spin().knows(step.place, step.address)
    {
        // It has left the loop.
        look_up(slot_of_me);
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

/// Decides who makes the next step, and writes it down as made.
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
        // It was let through, and goes on for a while.
        look_up(slot);
    }
    let mut step = slot.pending.get();
    step.enabled = enabled;
    step.flags = if enabled & (1 << previous) == 0 { Step::FREE } else { 0 };
    step.flags |= if is_timeout { Step::TIMED_OUT } else { 0 };
    step.flags |= if ready & !enabled != 0 { Step::HELD_BACK } else { 0 };
    CHANNEL.add_step(step);
    for other in threads() {
        let slot = &SHARED.slots[other];
        let first = if other == chosen { 0 } else { slot.lets_go_first.get() & !(1 << chosen) };
        slot.lets_go_first.set(first);
    }
    let others = threads().filter(|&thread| thread != chosen && SHARED.slots[thread].is_alive());
    let others = set_of(others);
    decider().stepped(&step, others, |thread| SHARED.slots[thread].pending.get());
    SHARED.current.store(chosen, Ordering::Relaxed);
    chosen
}

/// Who may make the next step.
struct Offer {
    /// Who is offered.
    enabled: u64,
    /// Who could: some may be held back, to be fair.
    ready: u64,
    /// It is because time passed.
    is_timeout: bool,
}

/// All threads whose step is possible.
fn ready() -> u64 {
    set_of(threads().filter(|&thread| slot(thread).is_ready()))
}

/// Who may make the next step. If it is nobody, the execution ends here.
fn offer() -> Offer {
    loop {
        let alive = || threads().filter(|&thread| slot(thread).is_alive());
        let ready = ready();
        let spinning = each(ready).filter(|&thread| slot(thread).standing.get() == Standing::Spinning);
        let spinning = set_of(spinning);
        let mut active = ready & !spinning;
        if active != 0 {
            // A loop that counts how often it looked must be able to give up while others could go on.
            if spinning != 0 && decider().lets_spin() {
                active = ready;
            }
            let fair = each(active).filter(|&thread| slot(thread).lets_go_first.get() & active == 0);
            let fair: u64 = set_of(fair);
            // If each waits for another one to go first, nobody has to.
            return Offer { enabled: if fair == 0 { active } else { fair }, ready, is_timeout: false };
        }
        // Before time passes, those who spin look once more.
        if spinning != 0 && !SHARED.have_looked.replace(true) {
            each(spinning).for_each(|thread| look_up(slot(thread)));
            continue;
        }
        let is_outside = alive().any(|thread| slot(thread).is_outside.get());
        if is_outside && interpose::outside::pause() {
            CHANNEL.add_flags(Outcome::WAITED_OUTSIDE);
            SHARED.have_looked.set(false);
            continue;
        }
        let first = alive().map(|thread| slot(thread).deadline.get()).min().unwrap_or(NEVER);
        if first != NEVER {
            SHARED.now.set(now().max(first));
            SHARED.have_looked.set(false);
            let due = alive().filter(|&thread| slot(thread).deadline.get() == first);
            let due = set_of(due);
            return Offer { enabled: due, ready: due, is_timeout: true };
        }
        if is_outside {
            SHARED.have_looked.set(false);
            continue;
        }
        if spinning == 0 {
            stop(End::Deadlock);
        }
        SHARED.rounds.set(SHARED.rounds.get() + 1);
        if SHARED.rounds.get() > ROUNDS {
            stop(End::Livelock);
        }
        each(spinning).for_each(|thread| look_up(slot(thread)));
    }
}

/// Ends the execution and with it the process.
pub(crate) fn stop(end: End) -> ! {
    CHANNEL.end(end);
    write_down_pending();
    if matches!(end, End::Deadlock | End::Livelock) {
        stack::capture_all();
    }
    // SAFETY: ends the process at once, and calls nothing of the program.
    unsafe { libc::_exit(STOPPED) }
}

/// The code of a process that ended because its execution did.
const STOPPED: i32 = 118;

/// An execution is complete, and the process goes on.
pub(crate) fn finish() {
    CHANNEL.seal_step();
    write_down_pending();
}

/// Says what all threads are about to do.
pub(crate) fn write_down_pending() {
    // A thread that crashed, or that was asked where it is, may have been about to change what its question looks at.
    let can_ask = !interpose::table::is_in_use();
    for thread in threads() {
        let slot = slot(thread);
        let enabled = u64::from(can_ask && slot.is_ready());
        CHANNEL.set_pending(thread, Step { enabled, ..slot.pending.get() }, slot.standing.get() as u32);
    }
    CHANNEL.set_last(now(), SHARED.current.load(Ordering::Relaxed) as u32);
}

/// The thread that made the last step.
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

/// Wakes a thread so that it writes down where it is.
pub(crate) fn disturb(thread: usize) {
    open(&slot(thread).gate);
}

/// Opens a gate.
pub(crate) fn open(gate: &AtomicU32) {
    // SAFETY: it is borrowed.
    unsafe { open_once(gate) };
}

/// Opens a gate that may be gone as soon as it is open: the thread that passes it may give its memory back before this one
/// has woken it. Then another one is woken at the same address, which looks again and waits on.
///
/// # Safety
///
/// The gate must be there until it is open.
pub(crate) unsafe fn open_once(gate: *const AtomicU32) {
    // SAFETY: as the caller promised. The reference is gone when the store was made.
    unsafe { (*gate).store(1, Ordering::Release) };
    futex(gate, libc::FUTEX_WAKE, 1);
}

/// Waits until a gate is open, and closes it.
pub(crate) fn pass(gate: &AtomicU32) {
    while gate.compare_exchange(1, 0, Ordering::Acquire, Ordering::Relaxed).is_err() {
        futex(gate, libc::FUTEX_WAIT, 0);
    }
}

/// The system call itself: the C library's function is interposed.
fn futex(word: *const AtomicU32, operation: i32, value: u32) {
    // SAFETY: a wake only compares the address; who waits has the word. The kernel changes only the registers that are named.
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

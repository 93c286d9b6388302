//! Which store a load reads, if memory is as weak as C11 allows.
//!
//! # Problem
//!
//! Under control one thread runs at a time, so every load finds the last store: memory is sequentially consistent, and
//! a program that forgot a barrier looks correct. C11 lets a load read older stores too, within rules. Which ones may
//! this load read, here and now, so that the standard allows the resulting execution?
//!
//! # Idea
//!
//! Every location has a history: its last stores, in order of execution, which is their *modification order*. A load
//! may read any store from its *floor* on. The floor is the last store that the load has to know about:
//!
//! - **Coherence.** The store happened before the load, or a load that read it did. Vector clocks give the
//!   happens-before relation: a store carries what its thread has *released* to every thread that *acquires* from it.
//! - **One order of all sequentially consistent operations,** for which we take the order of execution. Say that an
//!   operation *touches* a store if it made it or read it. A load that reads an older store precedes, in the standard's
//!   terms, every operation that has touched a newer one. So this must not have happened already:
//!
//!   | the load                             | what has touched a newer store                                      |
//!   |--------------------------------------|---------------------------------------------------------------------|
//!   | is sequentially consistent           | is sequentially consistent                                          |
//!   | is sequentially consistent           | happened before a fence                                             |
//!   | has a fence that happened before it  | is sequentially consistent, and came before that fence              |
//!   | has a fence that happened before it  | happened before a fence that came before that fence                 |
//!
//!   (Sequentially consistent fences, that is. Others only release and acquire.)
//!
//! All rules say "not older than", so the readable stores are always the end of a history, and option 0, the last
//! store, always exists: always taking it gives sequentially consistent memory. The program's memory always holds the
//! last store; older ones are only here. A read-modify-write reads the last one, as the standard demands.
//!
//! # Coverage
//!
//! Exactly the executions of C++20 in which program order, *reads from*, modification order and the order of
//! sequentially consistent operations together have no cycle. The standard allows each of them, because every rule was
//! checked at the last operation it concerns: a violated rule names two operations of which one precedes the other
//! although it was executed later, and only a load of an older store can be such an operation. The tests compare with
//! an axiomatic definition of the standard, on random small programs.
//!
//! Allowed by the standard, but never shown:
//!
//! - **Load buffering:** a load that reads a store which is yet to be executed. (A cycle with *reads from*.)
//! - **Other modification orders** than that of execution: some outcomes of 2+2W. (A cycle with modification order.)
//! - Sequentially consistent operations in an order that contradicts happens-before. C++20 allows that where orders are
//!   mixed: stores and second loads of IRIW sequentially consistent, first loads acquiring.
//! - Stores older than the last [`LONGEST`] of their location.
//! - More than [`PATIENCE`] loads of older stores in a row, by one thread, at one location: the standard wants stores
//!   to become visible in finite time, and a loop that waits for one has to end.
//! - A compare-exchange that fails because it read an older store, or spuriously; or that fails without acquiring
//!   although it would have acquired.
//! - `consume` is `acquire`, and a failed attempt to lock acquires too.
//!
//! Release sequences are those of C++20: the head, and updates. Before C++20, later stores by the head's thread
//! belonged to it as well.
//!
//! # Limits
//!
//! Uninstrumented code changes memory unobserved. If memory does not hold the last store, the history ends and a new
//! one starts with the value found; it is unknown which thread stored it and what that released, so it counts as
//! releasing everything that any thread has done until then. If such code *acquires*, that is not observed, and
//! executions may be shown that the standard forbids. So weak memory is off by default.
//!
//! # Cost
//!
//! A tree search for the location, none if it is that of the previous access; then a check of each store from the last
//! one to the floor; and one pass over a clock, whose length is the number of threads.
//!
//! # Sources
//!
//! Lidbury and Donaldson, *Dynamic race detection for C++11* (tsan11): histories, and a floor. Luo and Demsky,
//! *C11Tester: a race detector for C/C++ atomics*, which finds modification orders too. The rules for fences are those
//! of C++20 (Lahav, Vafeiadis, Kang, Hur, Dreyer: *Repairing sequential consistency in C/C++11*), and are in neither
//! paper.

#[cfg(test)]
mod axioms;
#[cfg(test)]
mod litmus;

use std::collections::{BTreeMap, VecDeque};

use omnilink_schedule::MemoryOrder;

/// At most this many stores of a location are remembered.
pub(crate) const LONGEST: usize = 32;

/// A thread may read an older store of a location at most this many times in a row.
pub(crate) const PATIENCE: u8 = 4;

/// The widest access, in bytes.
const WIDEST: u64 = 16;

/// The memory of one execution.
#[derive(Debug)]
pub(crate) struct Memory {
    threads: Vec<Thread>,
    /// The index of a location's history. Invariant: no two of these locations share a byte.
    places: BTreeMap<u64, usize>,
    histories: Vec<History>,
    /// Histories without a location, to be reused.
    unused: Vec<usize>,
    /// The history used last.
    recent: usize,
    /// What was released at a lock, or at another synchronization object.
    objects: BTreeMap<u64, Clock>,
    /// For each sequentially consistent fence, in order: what happened before it or before an earlier one.
    fences: Vec<Clock>,
    /// What was released to every later acquire.
    unseen: Clock,
    /// For each thread, the last time of its recorded operations that have returned.
    returned: Clock,
    /// Whether only plain stores are outdated for a while: one that another thread has read is read by all from then on,
    /// and so are read-modify-writes, and what has returned. Processors make stores visible in time and, except for POWER,
    /// to all other threads at once, and read-modify-writes do not wait in a buffer; a `seq_cst` one orders like a fence. C11 demands
    /// none of it.
    pub(crate) is_fresh: bool,
}

impl Memory {
    /// Memory without any operation.
    pub(crate) const fn new() -> Memory {
        Memory {
            threads: Vec::new(),
            places: BTreeMap::new(),
            histories: Vec::new(),
            unused: Vec::new(),
            recent: 0,
            objects: BTreeMap::new(),
            fences: Vec::new(),
            unseen: Clock { times: Vec::new(), fences: 0 },
            returned: Clock { times: Vec::new(), fences: 0 },
            is_fresh: false,
        }
    }

    /// Resets the memory.
    pub(crate) fn clear(&mut self) {
        *self = Memory::new();
    }

    /// A thread has created another. Its operations so far happened before everything the other will do.
    pub(crate) fn thread_created(&mut self, parent: usize, child: usize) {
        let inherited = self.thread(parent).clock.clone();
        let thread = self.thread(child);
        // The number may have been another thread's, whose times must not be reused.
        thread.clock.join(&inherited);
        thread.fenced = Clock::default();
        thread.unacquired = Clock::default();
    }

    /// A thread has joined another. The operations of the joined thread happened before everything the first will do.
    pub(crate) fn thread_joined(&mut self, by: usize, ended: usize) {
        let inherited = self.thread(ended).clock.clone();
        self.thread(by).clock.join(&inherited);
    }

    /// A thread unlocks, posts, wakes: its operations so far happened before those of threads that then acquire.
    pub(crate) fn synchronize_release(&mut self, thread: usize, object: u64) {
        self.thread(thread);
        self.objects.entry(object).or_default().join(&self.threads[thread].clock);
    }

    /// A thread locks, takes, is woken.
    pub(crate) fn synchronize_acquire(&mut self, thread: usize, object: u64) {
        self.thread(thread);
        if let Some(released) = self.objects.get(&object) {
            self.threads[thread].clock.join(released);
        }
        self.threads[thread].clock.join(&self.unseen);
    }

    /// A thread has released its operations so far, unobserved.
    pub(crate) fn release_to_all(&mut self, thread: usize) {
        self.thread(thread);
        self.unseen.join(&self.threads[thread].clock);
    }

    /// A thread has acquired, unobserved, everything the others have done.
    pub(crate) fn acquire_from_all(&mut self, thread: usize) {
        let everything = self.everything();
        self.thread(thread).clock.join(&everything);
    }

    /// A thread ends a recorded operation. If memory is fresh, no thread reads anything older from now on than what the
    /// operation did. This orders nothing.
    pub(crate) fn operation_returned(&mut self, thread: usize) {
        let own = self.thread(thread).clock.times.get(thread).copied().unwrap_or_default();
        let times = &mut self.returned.times;
        times.resize(times.len().max(thread + 1), 0);
        times[thread] = own;
    }

    /// The number of stores that a load may read, counted from the last one. At least one. `current` is the value in
    /// memory.
    pub(crate) fn readable(
        &mut self,
        thread: usize,
        address: u64,
        size: u8,
        order: MemoryOrder,
        current: u128,
    ) -> usize {
        self.thread(thread);
        let place = self.place(address, size, current);
        let History { stores, outdated, .. } = &self.histories[place];
        if stores.len() == 1 || outdated.get(thread).is_some_and(|&times| times >= PATIENCE) {
            return 1;
        }
        let clock = &self.threads[thread].clock;
        let sequential = order == MemoryOrder::SequentiallyConsistent;
        let fences = if sequential { self.fences.len() } else { clock.fences };
        let before_fence = fences.checked_sub(1).map(|last| &self.fences[last]);
        let is_floor = |store: &Store| {
            store.was_touched_before(clock)
                || self.is_fresh && (store.is_update || store.is_shared() || store.was_touched_before(&self.returned))
                || before_fence.is_some_and(|before| store.was_touched_before(before))
                || store.sequential.is_some_and(|earlier| sequential || earlier < fences)
        };
        stores.iter().rev().position(is_floor).map_or(stores.len(), |floor| floor + 1)
    }

    /// A load that reads one of the [`readable`](Memory::readable) stores, counted from the last one, which is 0.
    /// Returns its value.
    pub(crate) fn load(
        &mut self,
        thread: usize,
        address: u64,
        size: u8,
        order: MemoryOrder,
        choice: usize,
        current: u128,
    ) -> u128 {
        let time = self.thread(thread).tick(thread);
        let place = self.place(address, size, current);
        let history = &mut self.histories[place];
        history.count_outdated(thread, choice > 0);
        let chosen = history.stores.len().checked_sub(choice + 1).expect("as many stores are readable as there are");
        let store = &mut history.stores[chosen];
        store.touch(thread, time);
        if order == MemoryOrder::SequentiallyConsistent {
            store.sequential.get_or_insert(self.fences.len());
        }
        self.threads[thread].read(&store.released, &self.unseen, order);
        store.value
    }

    /// A store. `previous` is the value in memory before it.
    pub(crate) fn store(
        &mut self,
        thread: usize,
        address: u64,
        size: u8,
        order: MemoryOrder,
        value: u128,
        previous: u128,
    ) {
        let time = self.thread(thread).tick(thread);
        let place = self.place(address, size, previous);
        let history = &mut self.histories[place];
        let released = self.threads[thread].releases(order);
        let sequential = (order == MemoryOrder::SequentiallyConsistent).then_some(self.fences.len());
        history.append(value, sequential).released.set(released);
        history.touch_last(thread, time);
    }

    /// A read-modify-write that writes; one that does not is a load of the last store. `previous` is the value it read.
    pub(crate) fn update(
        &mut self,
        thread: usize,
        address: u64,
        size: u8,
        order: MemoryOrder,
        value: u128,
        previous: u128,
    ) {
        // Libraries use it as a fence on processors where it is one: crossbeam does.
        if self.is_fresh && order == MemoryOrder::SequentiallyConsistent {
            self.order_as_fence(thread);
        }
        let time = self.thread(thread).tick(thread);
        let place = self.place(address, size, previous);
        let history = &mut self.histories[place];
        // An update continues the release sequence of the store it reads, whatever its own order is.
        let mut released = history.last().released.clone();
        self.threads[thread].read(&released, &self.unseen, order);
        released.join(self.threads[thread].releases(order));
        let sequential = (order == MemoryOrder::SequentiallyConsistent).then_some(self.fences.len());
        let store = history.append(value, sequential);
        (store.released, store.is_update) = (released, true);
        history.touch_last(thread, time);
    }

    /// A thread makes an unordered access. Returns its time.
    pub(crate) fn access(&mut self, thread: usize) -> u32 {
        self.thread(thread).tick(thread)
    }

    /// Whether a thread's operation at some time happened before the next operation of another.
    pub(crate) fn happened_before(&self, thread: usize, time: u32, next: usize) -> bool {
        let known = self.threads.get(next).and_then(|next| next.clock.times.get(thread));
        known.is_some_and(|&known| time <= known)
    }

    /// A fence.
    pub(crate) fn fence(&mut self, thread: usize, order: MemoryOrder) {
        self.thread(thread);
        let Thread { clock, unacquired, .. } = &mut self.threads[thread];
        if order.acquires() {
            clock.join(unacquired);
            clock.join(&self.unseen);
        }
        if order == MemoryOrder::SequentiallyConsistent {
            self.order_as_fence(thread);
        }
        let Thread { clock, fenced, .. } = &mut self.threads[thread];
        if order.releases() {
            fenced.set(clock);
        }
    }

    /// Takes the next place in the order of sequentially consistent fences.
    fn order_as_fence(&mut self, thread: usize) {
        let mut before = self.fences.last().cloned().unwrap_or_default();
        let place = self.fences.len() + 1;
        let clock = &mut self.thread(thread).clock;
        before.join(clock);
        clock.fences = place;
        self.fences.push(before);
    }

    /// This memory was freed, or written without synchronization: its old stores can no longer be read.
    pub(crate) fn forget(&mut self, address: u64, length: u64) {
        while let Some((start, place)) = self.first_within(address, length) {
            self.drop_history(start, place);
        }
    }

    /// The thread with this number, created if it is new.
    fn thread(&mut self, thread: usize) -> &mut Thread {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Thread::default);
        }
        &mut self.threads[thread]
    }

    /// The history of a location, whose last store is `current`: otherwise it starts again.
    fn place(&mut self, address: u64, size: u8, current: u128) -> usize {
        let fits =
            |history: &History| history.address == address && history.size == size && history.last().value == current;
        if self.histories.get(self.recent).is_some_and(fits) {
            return self.recent;
        }
        let known = self.places.get(&address).copied().filter(|&place| fits(&self.histories[place]));
        self.recent = known.unwrap_or_else(|| self.start_history(address, size, current));
        self.recent
    }

    /// The operations of all threads.
    fn everything(&self) -> Clock {
        self.threads.iter().fold(Clock::default(), |mut all, thread| {
            all.join(&thread.clock);
            all
        })
    }

    /// Starts a history with the value in memory, which all threads know. Histories that share bytes with it end: an
    /// unknown thread has stored there, or accesses have different sizes.
    fn start_history(&mut self, address: u64, size: u8, current: u128) -> usize {
        let mut released = Clock::default();
        while let Some((start, place)) = self.first_within(address, u64::from(size)) {
            self.drop_history(start, place);
            released = self.everything();
        }
        let place = self.unused.pop().unwrap_or(self.histories.len());
        if place == self.histories.len() {
            self.histories.push(History::default());
        }
        let history = &mut self.histories[place];
        history.start(address, size, current, released);
        self.places.insert(address, place);
        place
    }

    /// A history that shares bytes with this range.
    fn first_within(&self, address: u64, length: u64) -> Option<(u64, usize)> {
        let mut near = self.places.range(address.saturating_sub(WIDEST - 1)..address.saturating_add(length));
        near.find(|&(&start, &place)| start + u64::from(self.histories[place].size) > address)
            .map(|(&start, &place)| (start, place))
    }

    fn drop_history(&mut self, address: u64, place: usize) {
        self.places.remove(&address);
        self.histories[place].size = 0;
        self.unused.push(place);
    }
}

/// The state of a thread.
#[derive(Debug, Default)]
struct Thread {
    /// What happened before its next operation.
    clock: Clock,
    /// What happened before its last releasing fence: released by every later store of it.
    fenced: Clock,
    /// What was released by stores that it read without acquiring. An acquiring fence acquires it.
    unacquired: Clock,
}

impl Thread {
    /// The time of its current operation.
    fn tick(&mut self, thread: usize) -> u32 {
        if self.clock.times.len() <= thread {
            self.clock.times.resize(thread + 1, 0);
        }
        self.clock.times[thread] += 1;
        self.clock.times[thread]
    }

    /// It reads a store that released this.
    fn read(&mut self, released: &Clock, unseen: &Clock, order: MemoryOrder) {
        if order.acquires() {
            self.clock.join(released);
            self.clock.join(unseen);
        } else {
            self.unacquired.join(released);
        }
    }

    /// What a store releases.
    fn releases(&self, order: MemoryOrder) -> &Clock {
        if order.releases() { &self.clock } else { &self.fenced }
    }
}

/// The last stores of a location.
#[derive(Debug, Default)]
struct History {
    address: u64,
    /// 0 if it has no location.
    size: u8,
    /// In modification order. Invariant: not empty if it has a location, and at most [`LONGEST`].
    stores: VecDeque<Store>,
    /// How many times in a row each thread has read a store other than the last one.
    outdated: Vec<u8>,
}

impl History {
    fn start(&mut self, address: u64, size: u8, value: u128, released: Clock) {
        self.stores.truncate(1);
        let mut first = self.stores.pop_back().unwrap_or_default();
        first.reset(value, None);
        first.released = released;
        self.stores.push_back(first);
        self.outdated.clear();
        (self.address, self.size) = (address, size);
    }

    fn last(&self) -> &Store {
        self.stores.back().expect("the history of a location has a store")
    }

    /// Appends a store, which releases nothing certain yet.
    fn append(&mut self, value: u128, sequential: Option<usize>) -> &mut Store {
        // Reuses the memory of the oldest one.
        let oldest = if self.stores.len() == LONGEST { self.stores.pop_front() } else { None };
        let mut store = oldest.unwrap_or_default();
        store.reset(value, sequential);
        self.stores.push_back(store);
        self.stores.back_mut().expect("it was just appended")
    }

    fn touch_last(&mut self, thread: usize, time: u32) {
        if let Some(store) = self.stores.back_mut() {
            store.touch(thread, time);
        }
        self.count_outdated(thread, false);
    }

    fn count_outdated(&mut self, thread: usize, is_outdated: bool) {
        match self.outdated.get_mut(thread) {
            Some(times) => *times = if is_outdated { *times + 1 } else { 0 },
            None if is_outdated => {
                self.outdated.resize(thread + 1, 0);
                self.outdated[thread] = 1;
            }
            None => {}
        }
    }
}

/// One store.
#[derive(Debug, Default)]
struct Store {
    value: u128,
    /// What a thread that acquires from it learns.
    released: Clock,
    /// When each thread touched it first; [`NEVER`] if it did not.
    touched: Vec<u32>,
    /// The number of fences before the first sequentially consistent operation that touched it, if there is one.
    sequential: Option<usize>,
    /// Whether a read-modify-write made it.
    is_update: bool,
}

/// Later than everything.
const NEVER: u32 = u32::MAX;

impl Store {
    fn reset(&mut self, value: u128, sequential: Option<usize>) {
        (self.value, self.sequential, self.is_update) = (value, sequential, false);
        self.touched.clear();
    }

    fn touch(&mut self, thread: usize, time: u32) {
        if self.touched.len() <= thread {
            self.touched.resize(thread + 1, NEVER);
        }
        self.touched[thread] = self.touched[thread].min(time);
    }

    /// Whether a thread touched it before the moment of a clock.
    /// Whether a thread has touched it that did not store it.
    fn is_shared(&self) -> bool {
        self.touched.iter().filter(|time| **time != NEVER).count() > 1
    }

    fn was_touched_before(&self, clock: &Clock) -> bool {
        self.touched.iter().zip(&clock.times).any(|(touched, time)| touched <= time)
    }
}

/// What happened before some moment: a vector clock.
#[derive(Debug, Clone, Default)]
struct Clock {
    /// The last such operation of each thread. Missing entries are 0, and operations count from 1.
    times: Vec<u32>,
    /// The last such sequentially consistent fence, counted from 1.
    fences: usize,
}

impl Clock {
    fn join(&mut self, other: &Clock) {
        if self.times.len() < other.times.len() {
            self.times.resize(other.times.len(), 0);
        }
        for (time, &theirs) in self.times.iter_mut().zip(&other.times) {
            *time = (*time).max(theirs);
        }
        self.fences = self.fences.max(other.fences);
    }

    /// Becomes a copy, reusing its memory.
    fn set(&mut self, other: &Clock) {
        self.times.clone_from(&other.times);
        self.fences = other.fences;
    }
}

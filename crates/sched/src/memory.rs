//! Which store a load reads, if memory is as weak as C11 lets it be.
//!
//! # Problem
//!
//! Under control one thread runs at a time, so every load finds the last store: memory is sequentially consistent, and
//! a program that forgot a barrier looks correct. C11 lets a load read older stores too, within rules. Which ones may
//! this load read, here and now, so that what the program then does is something that the standard allows?
//!
//! # Idea
//!
//! Every location has a history: its last stores, in the order in which they were made, which is their *modification
//! order*. A load may read any store from its *floor* on. The floor is the last store that the load has to know about:
//!
//! - **Coherence.** The store happened before the load, or a load that read it did. What happened before what is told
//!   by vector clocks: a store carries what its thread has *released* to whoever *acquires* from it.
//! - **One order of all sequentially consistent operations,** for which we take the order of execution. Say that an
//!   operation *touches* a store if it made it or read it. A load that reads an older store comes, in the words of the
//!   standard, before whatever has touched a newer one. So this must not have happened already:
//!
//!   | the load                             | what has touched a newer store                                      |
//!   |--------------------------------------|---------------------------------------------------------------------|
//!   | is sequentially consistent           | is sequentially consistent                                          |
//!   | is sequentially consistent           | happened before a fence                                             |
//!   | has a fence that happened before it  | is sequentially consistent, and came before that fence              |
//!   | has a fence that happened before it  | happened before a fence that came before that fence                 |
//!
//!   (Fences that are sequentially consistent, that is. Others only release and acquire.)
//!
//! All rules say "not older than", so what may be read is always the end of a history, and option 0, the last store,
//! is always there: whoever always takes it has sequentially consistent memory. What is in the program's memory is
//! always the last store; older ones are only here. A read-modify-write reads the last one, as the standard demands.
//!
//! # What is shown
//!
//! Exactly the executions of C++20 in which program order, *reads from*, modification order and the order of
//! sequentially consistent operations together have no cycle. Each is one that the standard allows, because all of its
//! rules were checked when the last operation that each is about was made: a rule that is broken names two operations
//! of which one comes before the other although it was made later, and only a load of an older store can be such a
//! one. The tests compare with the rules of the standard, written down as rules, on every small program that chance
//! comes up with.
//!
//! What the standard allows and is never shown:
//!
//! - **Load buffering:** a load that reads a store which is yet to be made. (A cycle with *reads from*.)
//! - **Other modification orders** than that of execution: some outcomes of 2+2W. (A cycle with modification order.)
//! - Sequentially consistent operations in an order that contradicts what happened before what. C++20 allows that
//!   where orders are mixed: stores and second loads of IRIW sequentially consistent, first loads acquiring.
//! - Stores that are older than the last [`LONGEST`] of their location.
//! - More than [`PATIENCE`] loads of older stores in a row, by one thread, at one location: the standard wants stores
//!   to be seen in finite time, and a loop that waits for one has to end.
//! - A compare-exchange that fails because it read an older store, or for no reason at all; or that fails without
//!   acquiring although it would have acquired.
//! - `consume` is `acquire`, and a lock that could not be taken acquires too.
//!
//! A release sequence is that of C++20: its head, and updates. Before C++20, later stores by the thread of the head
//! belonged to it as well.
//!
//! # What cannot be known
//!
//! Code without instrumentation changes memory behind our back. If memory holds something else than the last store,
//! the history ends and a new one starts with what is there; nobody knows who stored it and what that released, so
//! everything that any thread has done until then counts as released by it. If such code *acquires*, we do not learn
//! of it, and may show what the standard forbids. So this is off unless asked for.
//!
//! # Cost
//!
//! A search in a tree for the location, none if it is the one of the access before; then a look at each store from the
//! last one to the floor; and one pass over a clock, which is as long as there are threads.
//!
//! # Where it comes from
//!
//! Lidbury and Donaldson, *Dynamic race detection for C++11* (tsan11): histories, and a floor. Luo and Demsky,
//! *C11Tester: a race detector for C/C++ atomics*, which finds modification orders too. The rules for fences are those
//! of C++20 (Lahav, Vafeiadis, Kang, Hur, Dreyer: *Repairing sequential consistency in C/C++11*), which are neither
//! paper's.

#[cfg(test)]
mod axioms;
#[cfg(test)]
mod litmus;

use std::collections::{BTreeMap, VecDeque};

use schedule::MemoryOrder;

/// So many stores of a location are remembered.
pub(crate) const LONGEST: usize = 32;

/// So many times in a row a thread may read an older store of a location.
pub(crate) const PATIENCE: u8 = 4;

/// No access is longer, in bytes.
const WIDEST: u64 = 16;

/// The memory of one execution.
#[derive(Debug)]
pub(crate) struct Memory {
    threads: Vec<Thread>,
    /// Where the history of a location is. Invariant: no two of these locations share a byte.
    places: BTreeMap<u64, usize>,
    histories: Vec<History>,
    /// Histories that are no location's, to be used again.
    unused: Vec<usize>,
    /// The history that was used last.
    recent: usize,
    /// What was released at a lock, or at what else threads meet in.
    objects: BTreeMap<u64, Clock>,
    /// For each sequentially consistent fence, in order: what happened before it or before an earlier one.
    fences: Vec<Clock>,
    /// What was released to whoever acquires anything.
    unseen: Clock,
}

impl Memory {
    /// Nothing has happened.
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
        }
    }

    /// Nothing has happened, again.
    pub(crate) fn clear(&mut self) {
        *self = Memory::new();
    }

    /// A thread has created another. What it did happened before whatever the other will do.
    pub(crate) fn thread_created(&mut self, parent: usize, child: usize) {
        let inherited = self.thread(parent).clock.clone();
        let thread = self.thread(child);
        // Its number may have been another thread's, whose times are not to be used again.
        thread.clock.join(&inherited);
        thread.fenced = Clock::default();
        thread.unacquired = Clock::default();
    }

    /// A thread has waited for the end of another. What the other did happened before whatever it will do.
    pub(crate) fn thread_joined(&mut self, by: usize, ended: usize) {
        let inherited = self.thread(ended).clock.clone();
        self.thread(by).clock.join(&inherited);
    }

    /// A thread unlocks, posts, wakes: what it did happened before what those do who then acquire.
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

    /// A thread has released, somewhere that we do not see, what it did.
    pub(crate) fn release_to_all(&mut self, thread: usize) {
        self.thread(thread);
        self.unseen.join(&self.threads[thread].clock);
    }

    /// A thread has learned, in a way that we do not see, whatever the others have done.
    pub(crate) fn acquire_from_all(&mut self, thread: usize) {
        let everything = self.everything();
        self.thread(thread).clock.join(&everything);
    }

    /// How many stores a load may read: these are the last ones. There is always one. `current` is what memory holds.
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
                || before_fence.is_some_and(|before| store.was_touched_before(before))
                || store.sequential.is_some_and(|earlier| sequential || earlier < fences)
        };
        stores.iter().rev().position(is_floor).map_or(stores.len(), |floor| floor + 1)
    }

    /// A load that reads one of the stores that are [`readable`](Memory::readable), counted from the last one, which
    /// is 0. Returns what it reads.
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

    /// A store. `previous` is what memory held before.
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

    /// A read-modify-write that writes; one that does not is a load that reads the last store. `previous` is what it
    /// read.
    pub(crate) fn update(
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
        // An update goes on with the release sequence of what it reads, whatever its own order is.
        let mut released = history.last().released.clone();
        self.threads[thread].read(&released, &self.unseen, order);
        released.join(self.threads[thread].releases(order));
        let sequential = (order == MemoryOrder::SequentiallyConsistent).then_some(self.fences.len());
        history.append(value, sequential).released = released;
        history.touch_last(thread, time);
    }

    /// A thread makes an access that orders nothing. Its time.
    pub(crate) fn access(&mut self, thread: usize) -> u32 {
        self.thread(thread).tick(thread)
    }

    /// Whether what a thread did at some time happened before the next operation of another.
    pub(crate) fn happened_before(&self, thread: usize, time: u32, next: usize) -> bool {
        let known = self.threads.get(next).and_then(|next| next.clock.times.get(thread));
        known.is_some_and(|&known| time <= known)
    }

    /// A fence.
    pub(crate) fn fence(&mut self, thread: usize, order: MemoryOrder) {
        self.thread(thread);
        let Thread { clock, fenced, unacquired } = &mut self.threads[thread];
        if order.acquires() {
            clock.join(unacquired);
            clock.join(&self.unseen);
        }
        if order == MemoryOrder::SequentiallyConsistent {
            let mut before = self.fences.last().cloned().unwrap_or_default();
            before.join(clock);
            self.fences.push(before);
            clock.fences = self.fences.len();
        }
        if order.releases() {
            fenced.set(clock);
        }
    }

    /// This memory was freed, or written without synchronization: what was there before is nobody's to read.
    pub(crate) fn forget(&mut self, address: u64, length: u64) {
        while let Some((start, place)) = self.first_within(address, length) {
            self.drop_history(start, place);
        }
    }

    /// The thread of this number, who is new if nobody has told of it.
    fn thread(&mut self, thread: usize) -> &mut Thread {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Thread::default);
        }
        &mut self.threads[thread]
    }

    /// The history of a location, whose last store is `current`: if that is not so, it starts again.
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

    /// What all threads have done.
    fn everything(&self) -> Clock {
        self.threads.iter().fold(Clock::default(), |mut all, thread| {
            all.join(&thread.clock);
            all
        })
    }

    /// A history that starts with what is in memory, of which everybody knows. Those end that share bytes with it:
    /// somebody has stored there whom we do not know, or accesses are of different sizes.
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

    /// Some history about bytes of this range.
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

/// What is known about a thread.
#[derive(Debug, Default)]
struct Thread {
    /// What happened before its next operation.
    clock: Clock,
    /// What happened before its last releasing fence: released by every store of it since.
    fenced: Clock,
    /// What was released by stores that it read without acquiring. An acquiring fence makes up for that.
    unacquired: Clock,
}

impl Thread {
    /// The time of the operation that it makes now.
    fn tick(&mut self, thread: usize) -> u32 {
        if self.clock.times.len() <= thread {
            self.clock.times.resize(thread + 1, 0);
        }
        self.clock.times[thread] += 1;
        self.clock.times[thread]
    }

    /// It reads a store by which this was released.
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
    /// 0 if it is no location's.
    size: u8,
    /// In modification order. Invariant: not empty if it is a location's, and at most [`LONGEST`].
    stores: VecDeque<Store>,
    /// How many times in a row each thread has read another store than the last one.
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

    /// A new last store, by which nothing certain is released yet.
    fn append(&mut self, value: u128, sequential: Option<usize>) -> &mut Store {
        // The memory of the oldest one is used again.
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
    /// What whoever acquires from it gets to know.
    released: Clock,
    /// When each thread touched it first: [`NEVER`] if it did not.
    touched: Vec<u32>,
    /// If something sequentially consistent touched it, how many fences came before the first that did.
    sequential: Option<usize>,
}

/// Later than everything.
const NEVER: u32 = u32::MAX;

impl Store {
    fn reset(&mut self, value: u128, sequential: Option<usize>) {
        (self.value, self.sequential) = (value, sequential);
        self.touched.clear();
    }

    fn touch(&mut self, thread: usize, time: u32) {
        if self.touched.len() <= thread {
            self.touched.resize(thread + 1, NEVER);
        }
        self.touched[thread] = self.touched[thread].min(time);
    }

    /// Whether somebody has touched it before the moment that a clock stands for.
    fn was_touched_before(&self, clock: &Clock) -> bool {
        self.touched.iter().zip(&clock.times).any(|(touched, time)| touched <= time)
    }
}

/// What happened before some moment: a vector clock.
#[derive(Debug, Clone, Default)]
struct Clock {
    /// The last operation of each thread that did. What is missing is 0, and operations count from 1.
    times: Vec<u32>,
    /// The last of all sequentially consistent fences that did, counted from 1.
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

    /// Becomes a copy, in the memory that it has.
    fn set(&mut self, other: &Clock) {
        self.times.clone_from(&other.times);
        self.fences = other.fences;
    }
}

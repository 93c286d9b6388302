//! The objects. Each has its mistake unless `is_right`.

use std::array;
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicUsize, fence};
use std::sync::{Condvar, Mutex};

use omnilink_record::object;

/// A queue says that it is empty while another thread holds its lock.
pub struct Queue {
    items: Mutex<VecDeque<i64>>,
    is_right: bool,
}

#[object]
impl Queue {
    pub fn new(is_right: bool) -> Queue {
        Queue { items: Mutex::default(), is_right }
    }

    #[calls(1, 2)]
    pub fn enqueue(&self, value: i64) -> bool {
        self.items.lock().unwrap().push_back(value);
        true
    }

    pub fn dequeue(&self) -> Option<i64> {
        if self.is_right {
            return self.items.lock().unwrap().pop_front();
        }
        self.items.try_lock().ok()?.pop_front()
    }
}

#[derive(Clone, Copy, PartialEq)]
pub enum Flaw {
    None,
    TearingLength,
    EarlyPublish,
    WeakenedOrdering,
}

/// A ring with a lock for each end.
pub struct Ring {
    producers: Mutex<()>,
    consumers: Mutex<()>,
    slots: [UnsafeCell<i64>; SIZE],
    head: AtomicUsize,
    tail: AtomicUsize,
    flaw: Flaw,
}

const SIZE: usize = 4;

// SAFETY: whether accesses to the slots are ordered is what is tested.
unsafe impl Sync for Ring {}

#[object]
impl Ring {
    pub fn new(flaw: Flaw) -> Ring {
        let slots = array::from_fn(|_| UnsafeCell::new(0));
        let (head, tail) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Ring { producers: Mutex::new(()), consumers: Mutex::new(()), slots, head, tail, flaw }
    }

    #[calls(1, 2)]
    pub fn enqueue(&self, value: i64) -> bool {
        let _lock = self.producers.lock().unwrap();
        let place = self.tail.load(Relaxed);
        if place - self.head.load(Acquire) == SIZE {
            return false;
        }
        if self.flaw == Flaw::EarlyPublish {
            self.tail.store(place + 1, Release);
        }
        // SAFETY: as above.
        unsafe { *self.slots[place % SIZE].get() = value };
        match self.flaw {
            Flaw::None | Flaw::TearingLength => self.tail.store(place + 1, Release),
            Flaw::WeakenedOrdering => self.tail.store(place + 1, Relaxed),
            Flaw::EarlyPublish => {}
        }
        true
    }

    pub fn dequeue(&self) -> Option<i64> {
        let _lock = self.consumers.lock().unwrap();
        let place = self.head.load(Relaxed);
        if place == self.tail.load(Acquire) {
            return None;
        }
        // SAFETY: as above.
        let value = unsafe { *self.slots[place % SIZE].get() };
        self.head.store(place + 1, Release);
        Some(value)
    }

    pub fn len(&self) -> usize {
        let _both = (self.flaw != Flaw::TearingLength)
            .then(|| (self.producers.lock().unwrap(), self.consumers.lock().unwrap()));
        let first = self.head.load(SeqCst);
        self.tail.load(SeqCst) - first
    }
}

/// A stack of nodes from a pool takes a node for unchanged that was popped and pushed again in between.
pub struct Aba {
    used: AtomicUsize,
    unused: AtomicUsize,
    next: [AtomicUsize; NONE],
    values: [AtomicI64; NONE],
    is_right: bool,
}

/// The end of a list, and so the number of nodes: more than an execution pushes.
const NONE: usize = 63;
/// The number of a node, below this, and how often its list changed are one word.
const TAG: usize = 64;

#[object]
impl Aba {
    pub fn new(is_right: bool) -> Aba {
        let next = array::from_fn(|node| AtomicUsize::new(node + 1));
        let values = array::from_fn(|_| AtomicI64::new(0));
        Aba { used: AtomicUsize::new(NONE), unused: AtomicUsize::new(0), next, values, is_right }
    }

    #[calls(1, 2)]
    pub fn push(&self, value: i64) -> bool {
        let node = self.take(&self.unused).expect("there is room");
        self.values[node].store(value, SeqCst);
        self.give(&self.used, node);
        true
    }

    pub fn pop(&self) -> Option<i64> {
        let node = self.take(&self.used)?;
        let value = self.values[node].load(SeqCst);
        self.give(&self.unused, node);
        Some(value)
    }

    fn take(&self, list: &AtomicUsize) -> Option<usize> {
        let mut head = list.load(SeqCst);
        loop {
            let node = head % TAG;
            if node == NONE {
                return None;
            }
            let next = self.next[node].load(SeqCst);
            match list.compare_exchange(head, self.changed(head, next), SeqCst, SeqCst) {
                Ok(_) => return Some(node),
                Err(now) => head = now,
            }
        }
    }

    fn give(&self, list: &AtomicUsize, node: usize) {
        let mut head = list.load(SeqCst);
        loop {
            self.next[node].store(head % TAG, SeqCst);
            match list.compare_exchange(head, self.changed(head, node), SeqCst, SeqCst) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    fn changed(&self, head: usize, node: usize) -> usize {
        if self.is_right { (head / TAG + 1) * TAG + node } else { node }
    }
}

/// A buffer with room for one, whose waiting threads share a condition. It wakes one of them, or does not look again.
pub struct Buffer {
    item: Mutex<Option<i64>>,
    changed: Condvar,
    wakes_all: bool,
    rechecks: bool,
}

#[object]
impl Buffer {
    pub fn new(wakes_all: bool, rechecks: bool) -> Buffer {
        Buffer { item: Mutex::default(), changed: Condvar::new(), wakes_all, rechecks }
    }

    #[calls(1, 2)]
    pub fn put(&self, value: i64) {
        let mut item = self.changed.wait_while(self.item.lock().unwrap(), |item| item.is_some()).unwrap();
        *item = Some(value);
        self.wake();
    }

    /// A value that no thread puts in, if there is none.
    pub fn take(&self) -> i64 {
        let mut item = self.item.lock().unwrap();
        if self.rechecks {
            item = self.changed.wait_while(item, |item| item.is_none()).unwrap();
        } else if item.is_none() {
            item = self.changed.wait(item).unwrap();
        }
        let value = item.take().unwrap_or(-1);
        self.wake();
        value
    }

    fn wake(&self) {
        if self.wakes_all { self.changed.notify_all() } else { self.changed.notify_one() }
    }
}

/// Two threads take the same node of a stack, and both free it.
pub struct Stack {
    head: Mutex<*mut Node>,
    is_right: bool,
}

struct Node {
    value: i64,
    next: *mut Node,
}

// SAFETY: whether a node has one owner is what is tested.
unsafe impl Sync for Stack {}

#[object]
impl Stack {
    pub fn new(is_right: bool) -> Stack {
        Stack { head: Mutex::new(ptr::null_mut()), is_right }
    }

    #[calls(1, 2)]
    pub fn push(&self, value: i64) -> bool {
        let node = Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }));
        let mut head = self.head.lock().unwrap();
        // SAFETY: no other thread knows the node.
        unsafe { (*node).next = *head };
        *head = node;
        true
    }

    pub fn pop(&self) -> Option<i64> {
        let mut head = self.head.lock().unwrap();
        let node = *head;
        if node.is_null() {
            return None;
        }
        if !self.is_right {
            drop(head);
            head = self.head.lock().unwrap();
        }
        // What is shown is that the lock is released too early, not that the list breaks.
        if *head == node {
            // SAFETY: a node of the list is not freed.
            *head = unsafe { (*node).next };
        }
        drop(head);
        // SAFETY: as above, for `Sync`.
        Some(unsafe { Box::from_raw(node) }.value)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

/// An old version is freed while a reader may have it.
pub struct Register {
    current: AtomicPtr<i64>,
    old: Mutex<Vec<*mut i64>>,
    is_right: bool,
}

// SAFETY: whether a version is read after it is freed is what is tested.
unsafe impl Sync for Register {}

#[object]
impl Register {
    pub fn new(is_right: bool) -> Register {
        Register { current: AtomicPtr::new(Box::into_raw(Box::new(0))), old: Mutex::default(), is_right }
    }

    #[calls(1, 2)]
    pub fn write(&self, value: i64) {
        let before = self.current.swap(Box::into_raw(Box::new(value)), SeqCst);
        if self.is_right {
            self.old.lock().unwrap().push(before);
        } else {
            // SAFETY: as above.
            drop(unsafe { Box::from_raw(before) });
        }
    }

    pub fn read(&self) -> i64 {
        // SAFETY: as above.
        unsafe { *self.current.load(SeqCst) }
    }
}

impl Drop for Register {
    fn drop(&mut self) {
        let old = self.old.get_mut().unwrap();
        for version in old.drain(..).chain([*self.current.get_mut()]) {
            // SAFETY: no other thread is left.
            drop(unsafe { Box::from_raw(version) });
        }
    }
}

/// Two threads take two locks in different orders.
pub struct Bank {
    balances: [Mutex<i64>; 2],
    is_right: bool,
}

#[object]
impl Bank {
    pub fn new(is_right: bool) -> Bank {
        Bank { balances: [10, 10].map(Mutex::new), is_right }
    }

    #[calls((0, 1), (1, 0))]
    pub fn transfer(&self, from: usize, to: usize) -> bool {
        let is_swapped = self.is_right && from > to;
        let [first, second] = if is_swapped { [to, from] } else { [from, to] };
        let mut first = self.balances[first].lock().unwrap();
        let mut second = self.balances[second].lock().unwrap();
        let (from, to) = if is_swapped { (&mut second, &mut first) } else { (&mut first, &mut second) };
        if **from == 0 {
            return false;
        }
        **from -= 1;
        **to += 1;
        true
    }
}

/// A counter is read, and then written.
pub struct Counter {
    count: AtomicI64,
    is_right: bool,
}

#[object]
impl Counter {
    pub fn new(is_right: bool) -> Counter {
        Counter { count: AtomicI64::new(0), is_right }
    }

    #[calls(1)]
    pub fn add(&self, number: i64) -> i64 {
        if self.is_right {
            return self.count.fetch_add(number, SeqCst) + number;
        }
        let sum = self.count.load(SeqCst) + number;
        self.count.store(sum, SeqCst);
        sum
    }
}

/// A reader of a sequence lock may read new data between old numbers.
pub struct Seqlock {
    lock: Mutex<()>,
    number: AtomicUsize,
    one: AtomicI64,
    two: AtomicI64,
    is_right: bool,
}

#[object]
impl Seqlock {
    pub fn new(is_right: bool) -> Seqlock {
        let (one, two) = (AtomicI64::new(0), AtomicI64::new(0));
        Seqlock { lock: Mutex::new(()), number: AtomicUsize::new(0), one, two, is_right }
    }

    #[calls(1, 2)]
    pub fn write(&self, value: i64) {
        let _lock = self.lock.lock().unwrap();
        let before = self.number.load(Relaxed);
        self.number.store(before + 1, Relaxed);
        if self.is_right {
            fence(Release);
        }
        self.one.store(value, Relaxed);
        self.two.store(value, Relaxed);
        self.number.store(before + 2, Release);
    }

    /// A value that no thread wrote, if the halves differ.
    pub fn read(&self) -> i64 {
        loop {
            let before = self.number.load(Acquire);
            let (first, second) = (self.one.load(Relaxed), self.two.load(Relaxed));
            if self.is_right {
                fence(Acquire);
            }
            if before.is_multiple_of(2) && self.number.load(Relaxed) == before {
                return if first == second { first } else { -1 };
            }
        }
    }
}

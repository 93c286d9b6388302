//! Twelve seeded mistakes. Each function is a test with threads that fails under some schedule if `right` is false.

pub mod sync;

use std::collections::VecDeque;
use std::ptr;

use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use crate::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, fence};
use crate::sync::{Arc, Condvar, Mutex, Slot, together};

/// A queue says that it is empty while another thread holds its lock.
pub fn wrong_empty_check(right: bool) {
    let queue = Arc::new(Mutex::new(VecDeque::new()));
    let work = move |queue: &Mutex<VecDeque<u64>>| {
        queue.lock().unwrap().push_back(1);
        let taken = match right {
            true => queue.lock().unwrap().pop_front(),
            false => queue.try_lock().ok().and_then(|mut items| items.pop_front()),
        };
        assert!(taken.is_some(), "a thread that has added one finds one");
    };
    let other = queue.clone();
    together(move || work(&other), move || work(&queue));
}

/// The length of a ring is the difference of two numbers that are read one after the other.
pub fn tearing_length(right: bool) {
    let ends = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
    let other = ends.clone();
    let worker = move || {
        for _ in 0..2 {
            other.1.fetch_add(1, SeqCst);
            other.0.fetch_add(1, SeqCst);
        }
    };
    together(worker, move || {
        let (head, tail) = &*ends;
        let mut first = head.load(SeqCst);
        let length = loop {
            let last = tail.load(SeqCst);
            let again = head.load(SeqCst);
            if !right || again == first {
                break last - first;
            }
            first = again;
        };
        assert!(length <= 1, "there is never more than one");
    });
}

/// A place of a ring is published before it is written, or with a store that does not release.
fn publish(is_written_first: bool, releases: bool) {
    let ring = Arc::new((Slot::new(0), AtomicUsize::new(0)));
    let other = ring.clone();
    let producer = move || {
        if is_written_first {
            other.0.set(7);
        }
        other.1.store(1, if releases { Release } else { Relaxed });
        if !is_written_first {
            other.0.set(7);
        }
    };
    together(producer, move || {
        if ring.1.load(Acquire) == 1 {
            assert_eq!(ring.0.get(), 7, "what is published is written");
        }
    });
}

pub fn early_publish(right: bool) {
    publish(right, true);
}

pub fn weakened_ordering(right: bool) {
    publish(true, right);
}

/// The free list of a pool takes a node for unchanged that was taken and returned in between.
pub fn aba(right: bool) {
    struct Pool {
        head: AtomicUsize,
        next: [AtomicUsize; 3],
        is_taken: [AtomicBool; 3],
        tag: usize,
    }
    const NONE: usize = 3;
    impl Pool {
        fn take(&self) -> Option<usize> {
            loop {
                let head = self.head.load(SeqCst);
                let node = head % 4;
                if node == NONE {
                    return None;
                }
                let next = self.next[node].load(SeqCst);
                let changed = head / 4 * 4 + self.tag + next;
                if self.head.compare_exchange(head, changed, SeqCst, SeqCst).is_ok() {
                    assert!(!self.is_taken[node].swap(true, SeqCst), "no other thread has it");
                    return Some(node);
                }
            }
        }

        fn give(&self, node: usize) {
            self.is_taken[node].store(false, SeqCst);
            loop {
                let head = self.head.load(SeqCst);
                self.next[node].store(head % 4, SeqCst);
                let changed = head / 4 * 4 + self.tag + node;
                if self.head.compare_exchange(head, changed, SeqCst, SeqCst).is_ok() {
                    return;
                }
            }
        }
    }
    let pool = Arc::new(Pool {
        head: AtomicUsize::new(0),
        next: [1, 2, NONE].map(AtomicUsize::new),
        is_taken: [false; 3].map(AtomicBool::new),
        tag: if right { 4 } else { 0 },
    });
    let other = pool.clone();
    let worker = move || {
        let first = other.take();
        let _second = other.take();
        first.into_iter().for_each(|node| other.give(node));
    };
    together(worker, move || {
        let _first = pool.take();
        let _second = pool.take();
    });
}

/// A buffer with room for one, whose two kinds of waiting threads share a condition.
struct Buffer {
    item: Mutex<Option<u64>>,
    changed: Condvar,
    wakes_all: bool,
    rechecks: bool,
}

impl Buffer {
    fn new(wakes_all: bool, rechecks: bool) -> Arc<Buffer> {
        Arc::new(Buffer { item: Mutex::new(None), changed: Condvar::new(), wakes_all, rechecks })
    }

    fn wake(&self) {
        if self.wakes_all { self.changed.notify_all() } else { self.changed.notify_one() }
    }

    fn put(&self, value: u64) {
        let mut item = self.item.lock().unwrap();
        while item.is_some() {
            item = self.changed.wait(item).unwrap();
        }
        *item = Some(value);
        self.wake();
    }

    fn take(&self) -> u64 {
        let mut item = self.item.lock().unwrap();
        if self.rechecks {
            while item.is_none() {
                item = self.changed.wait(item).unwrap();
            }
        } else if item.is_none() {
            item = self.changed.wait(item).unwrap();
        }
        let value = item.take().expect("a thread has put one in");
        self.wake();
        value
    }
}

/// A wake-up goes to a thread that cannot use it.
pub fn lost_wake_up(right: bool) {
    let buffer = Buffer::new(right, true);
    let [one, two, three] = [buffer.clone(), buffer.clone(), buffer.clone()];
    let threads = [
        sync::thread::spawn(move || _ = one.take()),
        sync::thread::spawn(move || _ = two.take()),
        sync::thread::spawn(move || three.put(1)),
    ];
    buffer.put(2);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// A thread that was woken does not look again.
pub fn missing_recheck(right: bool) {
    let buffer = Buffer::new(true, right);
    let [one, two] = [buffer.clone(), buffer.clone()];
    let threads = [sync::thread::spawn(move || _ = one.take()), sync::thread::spawn(move || _ = two.take())];
    buffer.put(1);
    buffer.put(2);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Two threads take the same node, and both free it.
pub fn double_free(right: bool) {
    let head = Arc::new(AtomicPtr::new(Box::into_raw(Box::new(5_u64))));
    let take = move |head: &AtomicPtr<u64>| {
        let node = match right {
            true => head.swap(ptr::null_mut(), SeqCst),
            false => {
                let node = head.load(SeqCst);
                head.store(ptr::null_mut(), SeqCst);
                node
            }
        };
        if !node.is_null() {
            // SAFETY: that it is freed once is what is tested.
            drop(unsafe { Box::from_raw(node) });
        }
    };
    let other = head.clone();
    together(move || take(&other), move || take(&head));
}

/// An old version is freed while a reader may have it.
pub fn use_after_free(right: bool) {
    let current = Arc::new(AtomicPtr::new(Box::into_raw(Box::new(1_u64))));
    let other = current.clone();
    let old = Arc::new(AtomicPtr::new(ptr::null_mut()));
    let kept = old.clone();
    let writer = move || {
        let old = other.swap(Box::into_raw(Box::new(2_u64)), SeqCst);
        match right {
            true => kept.store(old, SeqCst),
            // SAFETY: that no thread reads it any more is what is tested.
            false => drop(unsafe { Box::from_raw(old) }),
        }
    };
    let reader = current.clone();
    together(writer, move || {
        let version = reader.load(SeqCst);
        // SAFETY: as above.
        assert!(unsafe { *version } > 0);
    });
    for pointer in [current.load(SeqCst), old.load(SeqCst)] {
        if !pointer.is_null() {
            // SAFETY: no other thread is left.
            drop(unsafe { Box::from_raw(pointer) });
        }
    }
}

/// Two threads take two locks in different orders.
pub fn lock_order(right: bool) {
    let accounts = Arc::new([Mutex::new(10_u64), Mutex::new(10)]);
    let transfer = move |accounts: &[Mutex<u64>; 2], from: usize, to: usize| {
        let (first, second) = if right { (0, 1) } else { (from, to) };
        let mut balances = [accounts[first].lock().unwrap(), accounts[second].lock().unwrap()];
        let [from, to] = [from, to].map(|account| usize::from(account != first));
        *balances[from] -= 1;
        *balances[to] += 1;
    };
    let other = accounts.clone();
    together(move || transfer(&other, 0, 1), move || transfer(&accounts, 1, 0));
}

/// A counter is read, and then written.
pub fn read_modify_write(right: bool) {
    let count = Arc::new(AtomicU64::new(0));
    let add = move |count: &AtomicU64| {
        if right {
            count.fetch_add(1, SeqCst);
        } else {
            count.store(count.load(SeqCst) + 1, SeqCst);
        }
    };
    let (one, other) = (count.clone(), count.clone());
    together(move || add(&other), move || add(&one));
    assert_eq!(count.load(SeqCst), 2);
}

/// A reader of a sequence lock may read new data between old numbers.
pub fn seqlock_without_fences(right: bool) {
    let lock = Arc::new([AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)]);
    let other = lock.clone();
    let writer = move || {
        let [number, one, two] = &*other;
        number.store(1, Relaxed);
        if right {
            fence(Release);
        }
        one.store(1, Relaxed);
        two.store(1, Relaxed);
        number.store(2, Release);
    };
    together(writer, move || {
        let [number, one, two] = &*lock;
        let before = number.load(Acquire);
        let data = (one.load(Relaxed), two.load(Relaxed));
        if right {
            fence(Acquire);
        }
        if before % 2 == 0 && number.load(Relaxed) == before {
            assert_eq!(data.0, data.1, "both are of one version");
        }
    });
}

//! A manual-reset event: `wait` returns once the event is set, and `reset` makes later waits wait again.
//!
//! One word holds whether the event is set and how many threads wait for it. A thread that waits is counted in the word
//! and appended to a list, both while it holds the list. `set` takes the count out of the word and wakes that many
//! threads from the front of the list, so those that were counted before it.
//!
//! The mistake: `wait` reads the word a second time before the compare-and-swap. If another thread sets the event
//! before that read and resets it after, the swap succeeds, and the word says that the event is set and that a thread
//! waits for it. The next `set` finds the event set and wakes no thread: `wait()` beside `set(); reset(); set()` never
//! returns.

use loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use loom::sync::{Arc, Condvar, Mutex};
use std::collections::VecDeque;

/// The bit of an event that is set; the number of waiting threads is above it.
const SET: usize = 1;
const WAITER: usize = 2;

pub struct Event {
    word: AtomicUsize,
    parked: Mutex<VecDeque<Arc<Parked>>>,
    is_fixed: bool,
}

impl Event {
    pub fn wrong() -> Event {
        Event { word: AtomicUsize::new(0), parked: Mutex::default(), is_fixed: false }
    }

    pub fn fixed() -> Event {
        Event { is_fixed: true, ..Event::wrong() }
    }

    pub fn set(&self) {
        let seen = loop {
            let seen = self.word.load(SeqCst);
            if seen & SET != 0 {
                return;
            }
            if self.word.compare_exchange(seen, SET, SeqCst, SeqCst).is_ok() {
                break seen;
            }
        };
        let waiters = seen / WAITER;
        if waiters > 0 {
            let woken: Vec<Arc<Parked>> = self.parked.lock().expect("no thread panics").drain(..waiters).collect();
            woken.iter().for_each(|parked| parked.wake());
        }
    }

    pub fn reset(&self) {
        self.word.fetch_and(!SET, SeqCst);
    }

    pub fn wait(&self) {
        let me = Arc::new(Parked::default());
        let mut parked = self.parked.lock().expect("no thread panics");
        loop {
            let seen = self.word.load(SeqCst);
            if seen & SET != 0 {
                return;
            }
            let next = if self.is_fixed { seen + WAITER } else { self.word.load(SeqCst) + WAITER };
            if self.word.compare_exchange(seen, next, SeqCst, SeqCst).is_ok() {
                break;
            }
        }
        parked.push_back(me.clone());
        drop(parked);
        me.park();
    }
}

/// One waiting thread.
#[derive(Default)]
struct Parked {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Parked {
    fn park(&self) {
        let mut is_woken = self.is_woken.lock().expect("no thread panics");
        while !*is_woken {
            is_woken = self.woken.wait(is_woken).expect("no thread panics");
        }
    }

    fn wake(&self) {
        *self.is_woken.lock().expect("no thread panics") = true;
        self.woken.notify_one();
    }
}

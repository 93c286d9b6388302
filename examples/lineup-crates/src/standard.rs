//! Objects of the standard library: channels, a queue with condition variables, a lock for readers and writers, a cell
//! that is written once, and a barrier.
//!
//! A receiver of `mpsc` belongs to one thread, so it is behind a lock here. A call that blocks while it holds this lock
//! blocks all others that need it; so no object has a receiving call that blocks together with one that does not.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SendError, Sender, SyncSender, TryRecvError, TrySendError};
use std::sync::{Barrier, Condvar, Mutex, MutexGuard, OnceLock, RwLock};
use std::time::Duration;

use omnilink_record::object;

/// `mpsc::channel`, with the calls that do not block.
pub struct Channel {
    sender: Sender<i64>,
    receiver: Mutex<Option<Receiver<i64>>>,
}

#[object]
impl Channel {
    pub fn new() -> Channel {
        let (sender, receiver) = mpsc::channel();
        Channel { sender, receiver: Mutex::new(Some(receiver)) }
    }

    #[calls(1, 2)]
    pub fn send(&self, item: i64) -> Result<(), SendError<i64>> {
        self.sender.send(item)
    }

    pub fn try_recv(&self) -> Option<Result<i64, TryRecvError>> {
        self.receiver().as_ref().map(Receiver::try_recv)
    }

    pub fn recv_timeout_zero(&self) -> Option<Result<i64, RecvTimeoutError>> {
        self.receiver().as_ref().map(|receiver| receiver.recv_timeout(Duration::ZERO))
    }

    /// All items that are there.
    pub fn try_iter(&self) -> Vec<i64> {
        self.receiver().iter().flat_map(Receiver::try_iter).collect()
    }

    /// Drops the receiver, and returns whether there was one.
    pub fn disconnect(&self) -> bool {
        self.receiver().take().is_some()
    }

    fn receiver(&self) -> MutexGuard<'_, Option<Receiver<i64>>> {
        self.receiver.lock().expect("no thread panics")
    }
}

/// `mpsc::sync_channel` for one item, with the calls that block.
pub struct SyncChannel {
    sender: SyncSender<i64>,
    receiver: Mutex<Receiver<i64>>,
}

#[object]
impl SyncChannel {
    pub fn new() -> SyncChannel {
        let (sender, receiver) = mpsc::sync_channel(1);
        SyncChannel { sender, receiver: Mutex::new(receiver) }
    }

    #[calls(1, 2)]
    pub fn send(&self, item: i64) -> Result<(), SendError<i64>> {
        self.sender.send(item)
    }

    #[calls(3)]
    pub fn try_send(&self, item: i64) -> Result<(), TrySendError<i64>> {
        self.sender.try_send(item)
    }

    pub fn recv(&self) -> i64 {
        self.receiver.lock().expect("no thread panics").recv().expect("the sender lives as long")
    }

    pub fn iter_next(&self) -> Option<i64> {
        self.receiver.lock().expect("no thread panics").iter().next()
    }
}

/// A bounded queue of a `Mutex` and two `Condvar`s.
#[derive(Default)]
pub struct Queue {
    items: Mutex<VecDeque<i64>>,
    has_item: Condvar,
    has_room: Condvar,
}

#[object]
impl Queue {
    const CAPACITY: usize = 2;

    #[calls(1, 2)]
    pub fn put(&self, item: i64) {
        let is_full = |items: &mut VecDeque<i64>| items.len() == Queue::CAPACITY;
        let mut items = self.has_room.wait_while(self.items(), is_full).expect("no thread panics");
        items.push_back(item);
        self.has_item.notify_one();
    }

    #[calls(3)]
    pub fn try_put(&self, item: i64) -> bool {
        let mut items = self.items();
        if items.len() == Queue::CAPACITY {
            return false;
        }
        items.push_back(item);
        self.has_item.notify_one();
        true
    }

    pub fn take(&self) -> i64 {
        let mut items = self.has_item.wait_while(self.items(), |items| items.is_empty()).expect("no thread panics");
        self.has_room.notify_one();
        items.pop_front().expect("the queue has an item")
    }

    pub fn try_take(&self) -> Option<i64> {
        let item = self.items().pop_front()?;
        self.has_room.notify_one();
        Some(item)
    }

    pub fn drain(&self) -> Vec<i64> {
        let items = self.items().drain(..).collect();
        self.has_room.notify_all();
        items
    }

    pub fn peek(&self) -> Option<i64> {
        self.items().front().copied()
    }

    pub fn len(&self) -> usize {
        self.items().len()
    }

    fn items(&self) -> MutexGuard<'_, VecDeque<i64>> {
        self.items.lock().expect("no thread panics")
    }
}

/// Two numbers behind an `RwLock`.
#[derive(Default)]
pub struct Pair(RwLock<(i64, i64)>);

#[object]
impl Pair {
    #[calls(1, 2)]
    pub fn set_first(&self, number: i64) {
        self.0.write().expect("no thread panics").0 = number;
    }

    #[calls(3)]
    pub fn set_second(&self, number: i64) {
        self.0.write().expect("no thread panics").1 = number;
    }

    pub fn swap(&self) {
        let mut pair = self.0.write().expect("no thread panics");
        *pair = (pair.1, pair.0);
    }

    pub fn get(&self) -> (i64, i64) {
        *self.0.read().expect("no thread panics")
    }

    pub fn sum(&self) -> i64 {
        let pair = self.0.read().expect("no thread panics");
        pair.0 + pair.1
    }
}

/// `OnceLock`.
#[derive(Default)]
pub struct Once(OnceLock<i64>);

#[object]
impl Once {
    #[calls(1, 2)]
    pub fn set(&self, number: i64) -> Result<(), i64> {
        self.0.set(number)
    }

    #[calls(3, 4)]
    pub fn get_or_init(&self, number: i64) -> i64 {
        *self.0.get_or_init(|| number)
    }

    pub fn get(&self) -> Option<i64> {
        self.0.get().copied()
    }

    pub fn wait(&self) -> i64 {
        *self.0.wait()
    }
}

/// `Barrier` of two threads.
///
/// No call can return before another one begins, so none can return in a serial run: a barrier is not linearizable.
pub struct Pairing(Barrier);

#[object]
impl Pairing {
    pub fn new() -> Pairing {
        Pairing(Barrier::new(2))
    }

    pub fn wait(&self) {
        self.0.wait();
    }
}

//! Objects of `tokio::sync`, which need no runtime: what they would await is polled by a thread that parks in between.
//! And an event of `event-listener`.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard as StdMutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use event_listener::{Event, Listener as _};
use omnilink_record::object;
use tokio::sync::mpsc::{self, Receiver, Sender, UnboundedReceiver, UnboundedSender};
use tokio::sync::{
    Mutex, OnceCell, OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, Semaphore, watch,
};

use crate::held::Held;

/// `tokio::sync::Semaphore` with one permit. Permits are not tied to threads.
pub struct Permits(Semaphore);

#[object]
impl Permits {
    pub fn new() -> Permits {
        Permits(Semaphore::new(1))
    }

    /// Returns whether the semaphore is still open.
    pub fn acquire(&self) -> bool {
        block_on(self.0.acquire()).map(|permit| permit.forget()).is_ok()
    }

    pub fn try_acquire(&self) -> bool {
        self.0.try_acquire().map(|permit| permit.forget()).is_ok()
    }

    #[calls(2)]
    pub fn try_acquire_many(&self, permits: u32) -> bool {
        self.0.try_acquire_many(permits).map(|permit| permit.forget()).is_ok()
    }

    #[calls(1, 2)]
    pub fn add_permits(&self, permits: usize) {
        self.0.add_permits(permits);
    }

    /// Returns how many permits there were to forget.
    #[calls(1)]
    pub fn forget_permits(&self, permits: usize) -> usize {
        self.0.forget_permits(permits)
    }

    pub fn available_permits(&self) -> usize {
        self.0.available_permits()
    }

    pub fn close(&self) {
        self.0.close();
    }
}

/// `tokio::sync::mpsc::channel` for one item, with receiving calls that do not block.
///
/// A call that sends takes its room first, and fills it later. In between, the channel is full to `capacity`, but empty
/// to `try_recv`: this is by design, but not linearizable.
pub struct Bounded {
    sender: Sender<i64>,
    receiver: StdMutex<Receiver<i64>>,
}

#[object]
impl Bounded {
    pub fn new() -> Bounded {
        let (sender, receiver) = mpsc::channel(1);
        Bounded { sender, receiver: StdMutex::new(receiver) }
    }

    #[calls(1, 2)]
    pub fn blocking_send(&self, item: i64) -> bool {
        self.sender.blocking_send(item).is_ok()
    }

    #[calls(3)]
    pub fn try_send(&self, item: i64) -> Result<(), mpsc::error::TrySendError<i64>> {
        self.sender.try_send(item)
    }

    pub fn try_recv(&self) -> Result<i64, mpsc::error::TryRecvError> {
        self.receiver().try_recv()
    }

    pub fn len(&self) -> usize {
        self.receiver().len()
    }

    pub fn capacity(&self) -> usize {
        self.sender.capacity()
    }

    pub fn close(&self) {
        self.receiver().close();
    }

    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    fn receiver(&self) -> StdMutexGuard<'_, Receiver<i64>> {
        self.receiver.lock().expect("no thread panics")
    }
}

/// `tokio::sync::mpsc::unbounded_channel`, with receiving calls that block.
///
/// While a sender wakes the receiver, a receiver that is about to wait polls again and again, until the schedule lets
/// the sender go on.
pub struct Unbounded {
    sender: UnboundedSender<i64>,
    receiver: StdMutex<UnboundedReceiver<i64>>,
}

#[object]
impl Unbounded {
    pub fn new() -> Unbounded {
        let (sender, receiver) = mpsc::unbounded_channel();
        Unbounded { sender, receiver: StdMutex::new(receiver) }
    }

    #[calls(1, 2, 3)]
    pub fn send(&self, item: i64) -> bool {
        self.sender.send(item).is_ok()
    }

    pub fn blocking_recv(&self) -> Option<i64> {
        self.receiver.lock().expect("no thread panics").blocking_recv()
    }

    pub fn recv(&self) -> Option<i64> {
        block_on(self.receiver.lock().expect("no thread panics").recv())
    }
}

/// `tokio::sync::watch` with one receiver.
pub struct Watched {
    sender: watch::Sender<i64>,
    receiver: StdMutex<watch::Receiver<i64>>,
}

#[object]
impl Watched {
    pub fn new() -> Watched {
        let (sender, receiver) = watch::channel(0);
        Watched { sender, receiver: StdMutex::new(receiver) }
    }

    #[calls(1, 2)]
    pub fn send(&self, number: i64) -> bool {
        self.sender.send(number).is_ok()
    }

    #[calls(3)]
    pub fn send_replace(&self, number: i64) -> i64 {
        self.sender.send_replace(number)
    }

    /// Adds to the number, and tells the receiver only if the sum is even.
    #[calls(1)]
    pub fn send_if_modified(&self, number: i64) -> bool {
        self.sender.send_if_modified(|sum| {
            *sum += number;
            *sum % 2 == 0
        })
    }

    pub fn borrow(&self) -> i64 {
        *self.sender.borrow()
    }

    pub fn borrow_and_update(&self) -> i64 {
        *self.receiver().borrow_and_update()
    }

    pub fn has_changed(&self) -> bool {
        self.receiver().has_changed().expect("the sender lives as long")
    }

    fn receiver(&self) -> StdMutexGuard<'_, watch::Receiver<i64>> {
        self.receiver.lock().expect("no thread panics")
    }
}

/// `tokio::sync::OnceCell`.
///
/// `set` gives up while another call initializes the cell, which `get` then still finds empty: this is by design, but
/// not linearizable.
#[derive(Default)]
pub struct Once(OnceCell<i64>);

#[object]
impl Once {
    #[calls(1, 2)]
    pub fn set(&self, number: i64) -> bool {
        self.0.set(number).is_ok()
    }

    #[calls(3, 4)]
    pub fn get_or_init(&self, number: i64) -> i64 {
        *block_on(self.0.get_or_init(async || number))
    }

    pub fn get(&self) -> Option<i64> {
        self.0.get().copied()
    }

    pub fn initialized(&self) -> bool {
        self.0.initialized()
    }
}

/// `tokio::sync::Mutex`, which stays locked from call to call.
#[derive(Default)]
pub struct Lock {
    held: Held<OwnedMutexGuard<()>>,
    lock: Arc<Mutex<()>>,
}

#[object]
impl Lock {
    pub fn blocking_lock(&self) {
        self.held.put(self.lock.clone().blocking_lock_owned());
    }

    pub fn lock(&self) {
        self.held.put(block_on(self.lock.clone().lock_owned()));
    }

    pub fn try_lock(&self) -> bool {
        self.held.put_some(self.lock.clone().try_lock_owned().ok())
    }

    /// Returns whether this thread held the lock.
    pub fn unlock(&self) -> bool {
        self.held.take().is_some()
    }
}

/// `tokio::sync::RwLock`, which stays locked from call to call.
///
/// A waiting writer keeps new readers out, as in `parking::SharedLock`.
#[derive(Default)]
pub struct SharedLock {
    held: Held<Access>,
    lock: Arc<RwLock<()>>,
}

enum Access {
    Read { _guard: OwnedRwLockReadGuard<()> },
    Write(OwnedRwLockWriteGuard<()>),
}

#[object]
impl SharedLock {
    pub fn read(&self) {
        self.held.put(Access::Read { _guard: block_on(self.lock.clone().read_owned()) });
    }

    pub fn try_read(&self) -> bool {
        self.held.put_some(self.lock.clone().try_read_owned().ok().map(|_guard| Access::Read { _guard }))
    }

    pub fn write(&self) {
        self.held.put(Access::Write(block_on(self.lock.clone().write_owned())));
    }

    pub fn try_write(&self) -> bool {
        self.held.put_some(self.lock.clone().try_write_owned().ok().map(Access::Write))
    }

    /// Returns whether this thread held the lock.
    pub fn unlock(&self) -> bool {
        self.held.take().is_some()
    }

    /// Goes on as a reader, and returns whether this thread holds the lock.
    pub fn downgrade(&self) -> bool {
        self.held.put_some(self.held.take().map(|access| match access {
            Access::Write(guard) => Access::Read { _guard: guard.downgrade() },
            read => read,
        }))
    }
}

/// A manual-reset event of `event_listener::Event`.
#[derive(Default)]
pub struct ManualReset {
    is_set: AtomicBool,
    was_set: Event,
}

#[object]
impl ManualReset {
    pub fn set(&self) {
        self.is_set.store(true, SeqCst);
        self.was_set.notify(usize::MAX);
    }

    pub fn reset(&self) -> bool {
        self.is_set.swap(false, SeqCst)
    }

    pub fn wait(&self) {
        while !self.is_set() {
            let listener = self.was_set.listen();
            if self.is_set() {
                return;
            }
            listener.wait();
        }
    }

    /// Waits, and resets the event, which lets only one of several such calls go on.
    pub fn wait_and_reset(&self) {
        while !self.reset() {
            let listener = self.was_set.listen();
            if self.reset() {
                return;
            }
            listener.wait();
        }
    }

    pub fn is_set(&self) -> bool {
        self.is_set.load(SeqCst)
    }
}

/// The output of a future, which this thread polls whenever it is woken.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

//! Channels of `crossbeam-channel` and of `flume`. Both ends may be shared, and live as long as the object.

use omnilink_record::object;

/// A channel of `crossbeam-channel`: bounded to one item, or unbounded.
pub struct Crossbeam {
    sender: crossbeam_channel::Sender<i64>,
    receiver: crossbeam_channel::Receiver<i64>,
}

#[object]
impl Crossbeam {
    pub fn bounded() -> Crossbeam {
        let (sender, receiver) = crossbeam_channel::bounded(1);
        Crossbeam { sender, receiver }
    }

    pub fn unbounded() -> Crossbeam {
        let (sender, receiver) = crossbeam_channel::unbounded();
        Crossbeam { sender, receiver }
    }

    #[calls(1, 2)]
    pub fn send(&self, item: i64) {
        self.sender.send(item).expect("the receiver lives as long");
    }

    #[calls(3)]
    pub fn try_send(&self, item: i64) -> bool {
        self.sender.try_send(item).is_ok()
    }

    pub fn recv(&self) -> i64 {
        self.receiver.recv().expect("the sender lives as long")
    }

    pub fn try_recv(&self) -> Option<i64> {
        self.receiver.try_recv().ok()
    }

    pub fn len(&self) -> usize {
        self.receiver.len()
    }

    pub fn is_empty(&self) -> bool {
        self.receiver.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.sender.is_full()
    }
}

/// A channel of `flume`: bounded to one item, or unbounded.
pub struct Flume {
    sender: flume::Sender<i64>,
    receiver: flume::Receiver<i64>,
}

#[object]
impl Flume {
    pub fn bounded() -> Flume {
        let (sender, receiver) = flume::bounded(1);
        Flume { sender, receiver }
    }

    pub fn unbounded() -> Flume {
        let (sender, receiver) = flume::unbounded();
        Flume { sender, receiver }
    }

    #[calls(1, 2)]
    pub fn send(&self, item: i64) {
        self.sender.send(item).expect("the receiver lives as long");
    }

    #[calls(3)]
    pub fn try_send(&self, item: i64) -> bool {
        self.sender.try_send(item).is_ok()
    }

    pub fn recv(&self) -> i64 {
        self.receiver.recv().expect("the sender lives as long")
    }

    pub fn try_recv(&self) -> Option<i64> {
        self.receiver.try_recv().ok()
    }

    pub fn drain(&self) -> Vec<i64> {
        self.receiver.drain().collect()
    }

    pub fn len(&self) -> usize {
        self.receiver.len()
    }

    pub fn is_full(&self) -> bool {
        self.sender.is_full()
    }
}

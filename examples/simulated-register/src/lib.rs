//! A register on three replicas, as Attiya, Bar-Noy and Dolev describe it: clients ask a majority, so that one replica may
//! crash or be cut off. [`Wrong`] has the mistakes that tests seed into it. Replicas and clients log the steps of
//! `Replicas.tla`.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::timeout;
use turmoil::net::UdpSocket;

/// The names of the replicas.
pub const REPLICAS: [&str; 3] = ["r1", "r2", "r3"];

const PORT: u16 = 9000;
const MAJORITY: usize = REPLICAS.len() / 2 + 1;
/// How long a client waits for a majority.
const PATIENCE: Duration = Duration::from_millis(400);

/// A mistake in the implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// None.
    Nothing,
    /// A client reads one replica instead of a majority.
    StaleRead,
    /// A replica forgets what it has stored when it crashes.
    LostWrite,
    /// A replica stores what arrives, even if it has something newer.
    Reordered,
    /// A write that timed out is made once more, as if it were new.
    AppliedTwice,
    /// The disk of a replica has no room for the client of a stamp, so that stamps of one round become equal at a crash.
    ShortDisk,
}

/// A value, and the write that it is from: a later write has a larger stamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamped {
    round: u64,
    client: u64,
    value: i64,
}

impl fmt::Display for Stamped {
    /// As JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stamped { round, client, value } = self;
        write!(f, r#"{{"round":{round},"client":{client},"value":{value}}}"#)
    }
}

/// The disk of a replica, which a crash does not erase.
pub type Disk = Arc<Mutex<Stamped>>;

/// The log of a node: it takes the fields of an event, as JSON.
pub type Log = Arc<dyn Fn(String) + Send + Sync>;

/// The fields of an event.
fn event(name: &str, stamp: Stamped) -> String {
    format!(r#"{{"event":"{name}","stamp":{stamp}}}"#)
}

/// A request to replicas, and the reply.
#[derive(Clone, Copy)]
struct Message {
    /// The number that the client gave it.
    number: u64,
    /// True if the replica shall store what follows.
    is_write: bool,
    stamped: Stamped,
}

impl Message {
    fn to_bytes(self) -> [u8; 33] {
        let mut bytes = [0; 33];
        let Stamped { round, client, value } = self.stamped;
        for (at, part) in [self.number, round, client, value as u64].into_iter().enumerate() {
            bytes[at * 8..][..8].copy_from_slice(&part.to_le_bytes());
        }
        bytes[32] = self.is_write.into();
        bytes
    }

    fn from_bytes(bytes: &[u8; 33]) -> Message {
        let part = |at: usize| u64::from_le_bytes(bytes[at * 8..][..8].try_into().expect("eight bytes"));
        let stamped = Stamped { round: part(1), client: part(2), value: part(3) as i64 };
        Message { number: part(0), is_write: bytes[32] == 1, stamped }
    }
}

async fn socket(port: u16) -> io::Result<UdpSocket> {
    UdpSocket::bind((IpAddr::from(Ipv4Addr::UNSPECIFIED), port)).await
}

/// Answers requests until the host crashes.
pub async fn replica(disk: Disk, wrong: Wrong, log: Log) -> io::Result<()> {
    let socket = socket(PORT).await?;
    let on_disk = || disk.lock().unwrap_or_else(PoisonError::into_inner);
    if wrong == Wrong::LostWrite {
        *on_disk() = Stamped::default();
    }
    let mut stored = *on_disk();
    log(event("Restart", stored));
    let mut bytes = [0; 33];
    loop {
        let (_, from) = socket.recv_from(&mut bytes).await?;
        let mut message = Message::from_bytes(&bytes);
        if message.is_write && (message.stamped > stored || wrong == Wrong::Reordered) {
            stored = message.stamped;
            log(event("Store", stored));
        }
        *on_disk() = if wrong == Wrong::ShortDisk { Stamped { client: 0, ..stored } } else { stored };
        message.stamped = stored;
        socket.send_to(&message.to_bytes(), from).await?;
    }
}

/// Why a call did not succeed.
#[derive(Debug)]
pub enum Failed {
    /// Nothing was changed.
    NoEffect,
    /// No majority answered in time: it may have taken effect, or may yet.
    TimedOut,
}

/// A client of the register.
pub struct Register {
    socket: UdpSocket,
    client: u64,
    number: u64,
    wrong: Wrong,
    log: Log,
}

impl Register {
    /// A client with a number of its own.
    pub async fn connect(client: u64, wrong: Wrong, log: Log) -> io::Result<Register> {
        Ok(Register { socket: socket(PORT + 1).await?, client, number: 0, wrong, log })
    }

    /// Reads the register.
    pub async fn read(&mut self) -> Result<i64, Failed> {
        if self.wrong == Wrong::StaleRead {
            let newest = self.ask(false, Stamped::default(), 1).await.ok_or(Failed::NoEffect)?;
            return Ok(newest.value);
        }
        let newest = self.ask(false, Stamped::default(), MAJORITY).await.ok_or(Failed::NoEffect)?;
        // Another client may have stored it at a minority so far. No later read may miss it.
        self.ask(true, newest, MAJORITY).await.ok_or(Failed::TimedOut)?;
        (self.log)(event("Done", newest));
        Ok(newest.value)
    }

    /// Writes the register.
    pub async fn write(&mut self, value: i64) -> Result<(), Failed> {
        match self.write_once(value).await {
            Err(Failed::TimedOut) if self.wrong == Wrong::AppliedTwice => {
                tokio::time::sleep(PATIENCE).await;
                self.write_once(value).await
            }
            done => done,
        }
    }

    async fn write_once(&mut self, value: i64) -> Result<(), Failed> {
        let newest = self.ask(false, Stamped::default(), MAJORITY).await.ok_or(Failed::NoEffect)?;
        let stamped = Stamped { round: newest.round + 1, client: self.client, value };
        (self.log)(event("Choose", stamped));
        self.ask(true, stamped, MAJORITY).await.ok_or(Failed::TimedOut)?;
        (self.log)(event("Done", stamped));
        Ok(())
    }

    /// Sends a request to all replicas, and returns the newest of the first `count` replies.
    async fn ask(&mut self, is_write: bool, stamped: Stamped, count: usize) -> Option<Stamped> {
        self.number += 1;
        let message = Message { number: self.number, is_write, stamped };
        for replica in REPLICAS {
            // A host that is down or cut off does not answer.
            let _ = self.socket.send_to(&message.to_bytes(), (replica, PORT)).await;
        }
        timeout(PATIENCE, self.replies(count)).await.ok()
    }

    async fn replies(&mut self, count: usize) -> Stamped {
        let (mut newest, mut seen) = (Stamped::default(), 0);
        let mut bytes = [0; 33];
        while seen < count {
            let Ok(_) = self.socket.recv_from(&mut bytes).await else { continue };
            let reply = Message::from_bytes(&bytes);
            // Replies to earlier requests may be late.
            if reply.number == self.number {
                newest = newest.max(reply.stamped);
                seen += 1;
            }
        }
        newest
    }
}

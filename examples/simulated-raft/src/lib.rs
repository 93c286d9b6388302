//! A store on three nodes of the library `raft` (tikv/raft-rs), in turmoil. A node handles one message or tick at a time: the
//! library says which state to keep, which messages to send and which entries to apply. [`Wrong`] has the mistake that a test
//! seeds into the use of the library.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use protobuf::Message as _;
use raft::prelude::{ConfState, Config, Entry, Message, RawNode};
use raft::storage::MemStorage;
use raft::{ReadState, StateRole};
use slog::{Discard, Logger, o};
use tokio::time::{Instant, timeout, timeout_at};
use turmoil::net::UdpSocket;

/// The names of the nodes; their numbers begin with 1.
pub const NODES: [&str; 3] = ["n1", "n2", "n3"];

const PORT: u16 = 9000;
const TICK: Duration = Duration::from_millis(10);
const ELECTION_TICKS: usize = 10;
/// How long a client waits for a reply.
const PATIENCE: Duration = Duration::from_millis(200);

/// A mistake in the use of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// None.
    Nothing,
    /// A leader answers reads from its own state, without asking whether it still is the leader.
    StaleLeader,
}

/// The disk of a node, which a crash does not erase.
pub type Disk = MemStorage;

/// The empty disk of a node.
pub fn disk() -> Disk {
    let numbers: Vec<u64> = (1..).take(NODES.len()).collect();
    MemStorage::new_with_conf_state(ConfState::from((numbers, Vec::new())))
}

/// A request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Request {
    client: u64,
    /// The number that the client gave it.
    number: u64,
    key: i64,
    /// The value to put; to get it, `None`.
    value: Option<i64>,
}

/// The number of bytes of a request.
const REQUEST: usize = 33;

impl Request {
    fn to_bytes(self) -> [u8; REQUEST] {
        let mut bytes = [0; REQUEST];
        let parts = [self.client, self.number, self.key as u64, self.value.unwrap_or(0) as u64];
        for (at, part) in parts.into_iter().enumerate() {
            bytes[at * 8..][..8].copy_from_slice(&part.to_le_bytes());
        }
        bytes[REQUEST - 1] = self.value.is_some().into();
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Request> {
        let bytes: &[u8; REQUEST] = bytes.try_into().ok()?;
        let part = |at: usize| u64::from_le_bytes(bytes[at * 8..][..8].try_into().expect("eight bytes"));
        let value = (bytes[REQUEST - 1] == 1).then_some(part(3) as i64);
        Some(Request { client: part(0), number: part(1), key: part(2) as i64, value })
    }
}

/// The first byte of a datagram: a message of the library, or a request.
const MESSAGE: u8 = 0;
const ASK: u8 = 1;

/// The kinds of replies.
const DONE: u8 = 0;
const NOT_LEADER: u8 = 1;

type Datagrams = Vec<(Vec<u8>, SocketAddr)>;

struct Node {
    id: u64,
    seed: u64,
    raft: RawNode<Disk>,
    disk: Disk,
    wrong: Wrong,
    store: BTreeMap<i64, i64>,
    applied: u64,
    /// Where the replies to requests go.
    clients: BTreeMap<Request, SocketAddr>,
    /// Reads that the library has confirmed, and the entry that has to be applied before.
    reads: Vec<(u64, Request)>,
    outbox: Datagrams,
}

/// Runs a node until its host crashes.
pub async fn node(id: u64, disk: Disk, seed: u64, wrong: Wrong) -> io::Result<()> {
    let socket = UdpSocket::bind((IpAddr::from(Ipv4Addr::UNSPECIFIED), PORT)).await?;
    let mut node = Node::start(id, disk, seed, wrong);
    let mut bytes = vec![0; 1 << 16];
    let mut next = Instant::now() + TICK;
    loop {
        match timeout_at(next, socket.recv_from(&mut bytes)).await {
            Ok(received) => {
                let (length, from) = received?;
                node.receive(&bytes[..length], from);
            }
            Err(_) => {
                next += TICK;
                node.raft.tick();
            }
        }
        for (datagram, to) in node.process() {
            // A host that is down or cut off loses it.
            let _ = socket.send_to(&datagram, to).await;
        }
    }
}

impl Node {
    fn start(id: u64, disk: Disk, seed: u64, wrong: Wrong) -> Node {
        let config =
            Config { id, election_tick: ELECTION_TICKS, heartbeat_tick: 3, max_inflight_msgs: 64, ..Config::default() };
        let raft = RawNode::new(&config, disk.clone(), &Logger::root(Discard, o!())).expect("a valid configuration");
        let (store, clients) = (BTreeMap::new(), BTreeMap::new());
        Node { id, seed, raft, disk, wrong, store, applied: 0, clients, reads: Vec::new(), outbox: Vec::new() }
    }

    fn receive(&mut self, datagram: &[u8], from: SocketAddr) {
        match datagram.split_first() {
            Some((&MESSAGE, bytes)) => {
                if let Ok(message) = Message::parse_from_bytes(bytes) {
                    // The library refuses messages that mean nothing to it any more.
                    let _ = self.raft.step(message);
                }
            }
            Some((_, bytes)) => {
                if let Some(request) = Request::from_bytes(bytes) {
                    self.ask(request, from);
                }
            }
            None => {}
        }
    }

    fn ask(&mut self, request: Request, from: SocketAddr) {
        self.clients.insert(request, from);
        if self.raft.raft.state != StateRole::Leader {
            return self.reply(request, NOT_LEADER);
        }
        match request.value {
            None if self.wrong == Wrong::StaleLeader => self.reply(request, DONE),
            None => self.raft.read_index(request.to_bytes().to_vec()),
            Some(_) => {
                if self.raft.propose(Vec::new(), request.to_bytes().to_vec()).is_err() {
                    self.reply(request, NOT_LEADER);
                }
            }
        }
    }

    /// Keeps, applies and sends all that the library says. Returns the datagrams to send.
    fn process(&mut self) -> Datagrams {
        self.draw_election_timeout();
        while self.raft.has_ready() {
            let mut ready = self.raft.ready();
            self.send(ready.take_messages());
            self.confirm(ready.take_read_states());
            self.apply(ready.take_committed_entries());
            self.disk.wl().append(ready.entries()).expect("entries follow those on the disk");
            if let Some(hard) = ready.hs() {
                self.disk.wl().set_hardstate(hard.clone());
            }
            self.send(ready.take_persisted_messages());
            let mut light = self.raft.advance(ready);
            if let Some(commit) = light.commit_index() {
                self.disk.wl().mut_hard_state().commit = commit;
            }
            self.send(light.take_messages());
            self.apply(light.take_committed_entries());
            self.raft.advance_apply();
        }
        std::mem::take(&mut self.outbox)
    }

    /// The library draws a timeout for each term from a generator that no seed reaches, so it is replaced by one that depends
    /// on the seed.
    fn draw_election_timeout(&mut self) {
        let mixed = [self.seed, self.id, self.raft.raft.term].into_iter().fold(0_u64, |mixed, part| {
            (mixed ^ part).wrapping_add(1).wrapping_mul(6_364_136_223_846_793_005).rotate_left(31)
        });
        self.raft.raft.set_randomized_election_timeout(ELECTION_TICKS + mixed as usize % ELECTION_TICKS);
    }

    fn send(&mut self, messages: Vec<Message>) {
        for message in messages {
            let mut datagram = vec![MESSAGE];
            datagram.extend(message.write_to_bytes().expect("a message has bytes"));
            let to = turmoil::lookup(NODES[message.to as usize - 1]);
            self.outbox.push((datagram, SocketAddr::new(to, PORT)));
        }
    }

    fn confirm(&mut self, states: Vec<ReadState>) {
        let requests =
            states.into_iter().filter_map(|state| Some((state.index, Request::from_bytes(&state.request_ctx)?)));
        self.reads.extend(requests);
        self.answer_reads();
    }

    fn apply(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            self.applied = entry.index;
            // A new leader adds an empty entry.
            let Some(request) = Request::from_bytes(&entry.data) else { continue };
            self.store.insert(request.key, request.value.expect("only puts are entries"));
            self.reply(request, DONE);
        }
        self.answer_reads();
    }

    fn answer_reads(&mut self) {
        let (ready, rest) = self.reads.iter().partition(|(index, _)| *index <= self.applied);
        self.reads = rest;
        let ready: Vec<(u64, Request)> = ready;
        for (_, request) in ready {
            self.reply(request, DONE);
        }
    }

    /// Replies to the client of a request, if it asked this node.
    fn reply(&mut self, request: Request, kind: u8) {
        let Some(to) = self.clients.remove(&request) else { return };
        let value = self.store.get(&request.key).copied().unwrap_or(0);
        let mut datagram = vec![kind];
        datagram.extend(request.number.to_le_bytes());
        datagram.extend(value.to_le_bytes());
        self.outbox.push((datagram, to));
    }
}

/// Why a call did not succeed.
#[derive(Debug)]
pub enum Failed {
    /// Nothing was changed.
    NoEffect,
    /// No node answered in time: it may have taken effect, or may yet.
    TimedOut,
}

/// A client of the store.
pub struct Store {
    socket: UdpSocket,
    client: u64,
    number: u64,
    /// The node that it asks first.
    at: usize,
}

impl Store {
    /// A client with a number of its own.
    pub async fn connect(client: u64) -> io::Result<Store> {
        let socket = UdpSocket::bind((IpAddr::from(Ipv4Addr::UNSPECIFIED), PORT + 1)).await?;
        Ok(Store { socket, client, number: 0, at: client as usize })
    }

    /// Reads the value of a key, 0 if it has none.
    pub async fn get(&mut self, key: i64) -> Result<i64, Failed> {
        self.ask(key, None).await
    }

    /// Writes the value of a key.
    pub async fn put(&mut self, key: i64, value: i64) -> Result<(), Failed> {
        self.ask(key, Some(value)).await.map(|_| ())
    }

    /// Asks one node after the other until one is the leader.
    async fn ask(&mut self, key: i64, value: Option<i64>) -> Result<i64, Failed> {
        for _ in NODES {
            self.number += 1;
            let request = Request { client: self.client, number: self.number, key, value };
            let mut datagram = vec![ASK];
            datagram.extend(request.to_bytes());
            // A host that is down or cut off does not answer.
            let _ = self.socket.send_to(&datagram, (NODES[self.at % NODES.len()], PORT)).await;
            match timeout(PATIENCE, self.reply()).await {
                Ok((DONE, value)) => return Ok(value),
                Ok(_) => self.at += 1,
                Err(_) => {
                    self.at += 1;
                    return Err(Failed::TimedOut);
                }
            }
        }
        Err(Failed::NoEffect)
    }

    /// The reply to the last request.
    async fn reply(&mut self) -> (u8, i64) {
        let mut bytes = [0; 17];
        loop {
            let Ok(_) = self.socket.recv_from(&mut bytes).await else { continue };
            let part = |at: usize| u64::from_le_bytes(bytes[at..][..8].try_into().expect("eight bytes"));
            if part(1) == self.number {
                return (bytes[0], part(9) as i64);
            }
        }
    }
}

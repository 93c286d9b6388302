//! Lines of JSON over TCP: messages between nodes, and commands of the driver with their replies.
//!
//! A message is lost if its receiver cannot be reached, as Raft allows. A thread per connection reads lines and passes
//! them to the event loop of the node; a thread per peer writes, so that the event loop never waits for the network.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use protobuf::Message as _;
use raft::prelude::Message;
use serde_json::{Value, json};

use crate::trace::Keyed;

/// How long a connection may take. All nodes are on this machine.
const PATIENCE: Duration = Duration::from_millis(500);

pub enum Input {
    Message(Keyed),
    /// A command of the driver, and where its reply goes.
    Command(Value, Sender<Value>),
}

/// Listens on a free port. Returns its address, and everything that arrives.
pub fn listen() -> Result<(SocketAddr, Receiver<Input>), Box<dyn Error>> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let sender = sender.clone();
            thread::spawn(move || read_lines(&stream, &sender));
        }
    });
    Ok((address, receiver))
}

fn read_lines(stream: &TcpStream, sender: &Sender<Input>) -> Option<()> {
    let mut writer = stream;
    for line in BufReader::new(stream).lines() {
        let value: Value = serde_json::from_str(&line.ok()?).ok()?;
        if let Some(keyed) = decode(&value) {
            sender.send(Input::Message(keyed)).ok()?;
        } else {
            let (reply, replies) = mpsc::channel();
            sender.send(Input::Command(value, reply)).ok()?;
            writeln!(writer, "{}", replies.recv().ok()?).ok()?;
        }
    }
    Some(())
}

/// Sends `command` to the node at `address` and waits for the reply.
pub fn ask(address: SocketAddr, command: &Value) -> Result<Value, Box<dyn Error>> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    writeln!(stream, "{command}")?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

/// Where the other nodes are. The driver tells, and tells again after a restart.
pub type Addresses = Arc<Mutex<BTreeMap<u64, SocketAddr>>>;

/// The messages to the other nodes.
pub struct Outbox {
    addresses: Addresses,
    peers: BTreeMap<u64, Sender<String>>,
}

impl Outbox {
    pub fn new(addresses: Addresses) -> Outbox {
        Outbox { addresses, peers: BTreeMap::new() }
    }

    pub fn send(&mut self, keyed: &Keyed) {
        let to = keyed.message.to;
        let sender = self.peers.entry(to).or_insert_with(|| {
            let (sender, lines) = mpsc::channel();
            let addresses = self.addresses.clone();
            thread::spawn(move || write_lines(to, &addresses, &lines));
            sender
        });
        // The thread ends only with the process.
        let _ = sender.send(encode(keyed));
    }
}

fn write_lines(to: u64, addresses: &Addresses, lines: &Receiver<String>) {
    let mut connection: Option<(SocketAddr, TcpStream)> = None;
    for line in lines {
        let Some(address) = addresses.lock().expect("no thread panics with the lock").get(&to).copied() else {
            continue;
        };
        if connection.as_ref().is_none_or(|(current, _)| *current != address) {
            connection = TcpStream::connect_timeout(&address, PATIENCE).ok().map(|stream| (address, stream));
        }
        if let Some((_, stream)) = &mut connection
            && writeln!(stream, "{line}").is_err()
        {
            connection = None;
        }
    }
}

fn encode(keyed: &Keyed) -> String {
    let bytes = keyed.message.write_to_bytes().expect("messages have all their fields");
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({ "key": keyed.key, "message": hex }).to_string()
}

fn decode(value: &Value) -> Option<Keyed> {
    let hex = value.get("message")?.as_str()?;
    let bytes: Option<Vec<u8>> =
        (0..hex.len() / 2).map(|i| u8::from_str_radix(hex.get(2 * i..2 * i + 2)?, 16).ok()).collect();
    Some(Keyed { key: value.get("key")?.as_str()?.to_owned(), message: Message::parse_from_bytes(&bytes?).ok()? })
}

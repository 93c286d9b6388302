//! The log of a node: one line of JSON per event, named after an action of `Raft.tla`.
//!
//! A line has the state of the node after the event, and the message that the event sends or receives in the shape of
//! the specification's messages. `sends` and `receives` are the keys of messages: every message has its own, so that
//! they connect the event that sends a message with the event that receives it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use raft::StateRole;
use raft::prelude::{Entry, Message, MessageType};
use serde_json::{Map, Value, json};

/// The part of a node's state that its log shows.
#[derive(Clone, PartialEq)]
pub struct State {
    pub term: u64,
    pub vote: u64,
    pub role: StateRole,
    pub commit: u64,
    /// The term of each entry.
    pub log: Vec<u64>,
}

/// A message, and the key that no other message has.
pub struct Keyed {
    pub key: String,
    pub message: Message,
}

pub struct Trace {
    node: String,
    file: File,
    seq: u64,
    /// Lines of the current step. They are written at once, after the state is on disk and before messages are sent.
    pending: Vec<u8>,
}

impl Trace {
    /// Opens the log of the node `id` at its end.
    pub fn open(path: &Path, id: u64) -> io::Result<Trace> {
        let seq = std::fs::read_to_string(path).map_or(0, |text| text.lines().count() as u64);
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Trace { node: node_name(id), file, seq, pending: Vec::new() })
    }

    /// Adds an event after which the node has `state`. `fields` are added to the line.
    pub fn event(&mut self, name: &str, state: &State, fields: Value) {
        let ts = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
        let mut line = Map::new();
        line.insert("name".into(), name.into());
        line.insert("nid".into(), self.node.clone().into());
        line.insert("ts".into(), ts.into());
        line.insert("seq".into(), self.seq.into());
        line.insert("state".into(), state_json(state));
        if let Value::Object(fields) = fields {
            line.extend(fields);
        }
        self.seq += 1;
        self.pending.extend(Value::Object(line).to_string().bytes());
        self.pending.push(b'\n');
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.pending)?;
        self.pending.clear();
        Ok(())
    }
}

pub fn node_name(id: u64) -> String {
    format!("n{id}")
}

/// The name of a node, or null for none.
fn optional_name(id: u64) -> Value {
    if id == 0 { Value::Null } else { node_name(id).into() }
}

fn state_json(state: &State) -> Value {
    json!({
        "term": state.term,
        "vote": optional_name(state.vote),
        "role": format!("{:?}", state.role),
        "commit": state.commit,
        "log": state.log,
    })
}

pub fn entry_json(entry: &Entry) -> Value {
    json!({ "term": entry.term, "value": String::from_utf8_lossy(&entry.data) })
}

/// A message in the shape that it has in `Raft.tla`.
pub fn message_json(message: &Message) -> Value {
    let mut fields = json!({
        "from": node_name(message.from),
        "to": node_name(message.to),
        "term": message.term,
    });
    let (kind, more) = match message.get_msg_type() {
        MessageType::MsgRequestVote => {
            ("RequestVote", json!({ "lastIndex": message.index, "lastTerm": message.log_term }))
        }
        MessageType::MsgRequestVoteResponse => ("RequestVoteResponse", json!({ "granted": !message.reject })),
        MessageType::MsgAppend => {
            let entries: Vec<Value> = message.get_entries().iter().map(entry_json).collect();
            let more = json!({
                "prevIndex": message.index,
                "prevTerm": message.log_term,
                "entries": entries,
                "commit": message.commit,
            });
            ("AppendEntries", more)
        }
        MessageType::MsgAppendResponse => {
            ("AppendEntriesResponse", json!({ "success": !message.reject, "index": message.index }))
        }
        MessageType::MsgHeartbeat => ("Heartbeat", json!({ "commit": message.commit })),
        MessageType::MsgHeartbeatResponse => ("HeartbeatResponse", json!({})),
        other => panic!("the configuration excludes the message {other:?}"),
    };
    fields["type"] = kind.into();
    if let (Value::Object(fields), Value::Object(more)) = (&mut fields, more) {
        fields.extend(more);
    }
    fields
}

/// The event that handles a message.
pub fn handler_name(message: &Message) -> &'static str {
    match message.get_msg_type() {
        MessageType::MsgRequestVote => "HandleRequestVote",
        MessageType::MsgRequestVoteResponse => "HandleRequestVoteResponse",
        MessageType::MsgAppend => "HandleAppendEntries",
        MessageType::MsgAppendResponse => "HandleAppendEntriesResponse",
        MessageType::MsgHeartbeat => "HandleHeartbeat",
        MessageType::MsgHeartbeatResponse => "HandleHeartbeatResponse",
        other => panic!("the configuration excludes the message {other:?}"),
    }
}

/// The event that sends a message, or `None` if the message is part of the event that handles a request.
pub fn sender_name(message: &Message) -> Option<&'static str> {
    match message.get_msg_type() {
        MessageType::MsgRequestVote => Some("RequestVote"),
        MessageType::MsgAppend => Some("AppendEntries"),
        MessageType::MsgHeartbeat => Some("Heartbeat"),
        _ => None,
    }
}

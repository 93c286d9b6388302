//! One node: an event loop around the library `raft`.
//!
//! Every input, be it a message, a tick or a command, is one step: the library handles it, the new state goes to disk,
//! the events of the step go to the log, and then messages are sent. So a message that another node receives was
//! logged before, and state that another node learns of survives a kill. A kill between disk and log loses the lines of
//! one step.
//!
//! The library does several actions of `Raft.tla` in one step: it counts a vote and becomes leader, or it counts an
//! acknowledgement and commits. The node logs them as events of their own, with the states between.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use raft::prelude::{ConfState, Config, Entry, Message, MessageType, RawNode};
use raft::storage::MemStorage;
use raft::{GetEntriesContext, StateRole};
use serde_json::{Value, json};
use slog::{Discard, Logger, o};

use crate::trace::{self, Keyed, State, Trace};
use crate::wire::{self, Addresses, Input, Outbox};
use crate::{Bug, Options, disk::Disk};

pub const NODES: [u64; 3] = [1, 2, 3];

const TICK: Duration = Duration::from_millis(20);
const HEARTBEAT_TICKS: usize = 10;
/// The shortest election timeout. Each node has its own, so that elections do not depend on chance.
const ELECTION_TICKS: usize = 40;
const RANK_TICKS: usize = 10;

struct Node {
    id: u64,
    raft: RawNode<MemStorage>,
    disk: Disk,
    trace: Trace,
    outbox: Outbox,
    addresses: Addresses,
    sent: u64,
    bug: Option<Bug>,
    /// The nodes whose messages are dropped, and those whose messages wait.
    dropped: BTreeSet<u64>,
    held: BTreeSet<u64>,
    waiting: Vec<Keyed>,
}

/// What the library was asked to do in a step.
enum Cause {
    Election,
    Tick,
    Proposal(String),
    Receipt(Keyed),
}

pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let (address, inputs) = wire::listen()?;
    let mut node = Node::start(options)?;
    // The driver reads the address once the file is complete.
    let path = options.out.join(format!("node-{}.address", options.id));
    fs::write(path.with_extension("new-address"), address.to_string())?;
    fs::rename(path.with_extension("new-address"), path)?;

    let mut next_tick = Instant::now() + TICK;
    loop {
        match inputs.recv_timeout(next_tick.saturating_duration_since(Instant::now())) {
            Ok(Input::Message(keyed)) => node.arrive(keyed)?,
            Ok(Input::Command(command, reply)) => {
                // A driver that has gone away does not need the reply.
                let _ = reply.send(node.obey(&command)?);
            }
            Err(RecvTimeoutError::Timeout) => {
                next_tick += TICK;
                node.step(Cause::Tick)?;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

impl Node {
    fn start(options: &Options) -> Result<Node, Box<dyn Error>> {
        let id = options.id;
        let disk = Disk::open(options.out.join(format!("node-{id}.state")), options.bug == Some(Bug::VoteTwice))?;
        let storage = MemStorage::new_with_conf_state(ConfState::from((NODES.to_vec(), Vec::new())));
        storage.wl().append(&disk.entries)?;
        storage.wl().set_hardstate(disk.hard.clone());
        let election_tick = ELECTION_TICKS + RANK_TICKS * options.rank;
        let config = Config {
            id,
            election_tick,
            min_election_tick: election_tick,
            max_election_tick: election_tick + 1,
            heartbeat_tick: HEARTBEAT_TICKS,
            max_size_per_msg: 0, // One entry per message.
            max_inflight_msgs: 64,
            check_quorum: false,
            pre_vote: false,
            ..Config::default()
        };
        let raft = RawNode::new(&config, storage, &Logger::root(Discard, o!()))?;
        let addresses = Addresses::default();
        let mut node = Node {
            id,
            raft,
            trace: Trace::open(&options.out.join(format!("node-{id}.ndjson")), id)?,
            outbox: Outbox::new(addresses.clone()),
            addresses,
            sent: 0,
            bug: options.bug,
            dropped: BTreeSet::new(),
            held: BTreeSet::new(),
            waiting: Vec::new(),
            disk,
        };
        let name = if node.disk.starts == 0 { "Start" } else { "Restart" };
        node.trace.event(name, &node.state(), json!({}));
        node.trace.flush()?;
        Ok(node)
    }

    fn state(&self) -> State {
        let raft = &self.raft.raft;
        State {
            term: raft.term,
            vote: raft.vote,
            role: raft.state,
            commit: raft.raft_log.committed,
            log: self.entries().iter().map(|entry| entry.term).collect(),
        }
    }

    fn entries(&self) -> Vec<Entry> {
        self.raft.raft.raft_log.entries(1, None, GetEntriesContext::empty(false)).unwrap_or_default()
    }

    fn arrive(&mut self, keyed: Keyed) -> Result<(), Box<dyn Error>> {
        let from = keyed.message.from;
        if self.held.contains(&from) {
            self.waiting.push(keyed);
            Ok(())
        } else if self.dropped.contains(&from) {
            self.log_receipt("DropMessage", &keyed);
            Ok(self.trace.flush()?)
        } else {
            self.step(Cause::Receipt(keyed))
        }
    }

    fn log_receipt(&mut self, name: &str, keyed: &Keyed) {
        let fields = json!({ "msg": trace::message_json(&keyed.message), "receives": keyed.key });
        self.trace.event(name, &self.state(), fields);
    }

    /// Carries out a command of the driver, and returns the reply.
    fn obey(&mut self, command: &Value) -> Result<Value, Box<dyn Error>> {
        let ids = |name: &str| command[name].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        match command["command"].as_str() {
            Some("peers") => {
                let mut addresses = self.addresses.lock().expect("no thread panics with the lock");
                for (id, address) in command["addresses"].as_object().into_iter().flatten() {
                    addresses.insert(id.parse()?, address.as_str().ok_or("an address is not a string")?.parse()?);
                }
            }
            Some("links") => {
                self.dropped = ids("drop");
                self.held = ids("hold");
                for keyed in std::mem::take(&mut self.waiting) {
                    self.arrive(keyed)?;
                }
            }
            Some("campaign") if self.raft.raft.state != StateRole::Leader => self.step(Cause::Election)?,
            Some("propose") if self.raft.raft.state == StateRole::Leader => {
                let value = command["value"].as_str().ok_or("a proposal lacks its value")?;
                self.step(Cause::Proposal(value.to_owned()))?;
            }
            _ => {}
        }
        let state = self.state();
        Ok(json!({
            "role": format!("{:?}", state.role),
            "commit": state.commit,
            "length": state.log.len(),
            "waiting": self.waiting.len(),
        }))
    }

    /// One step: the library handles `cause`, then disk, log and network follow.
    fn step(&mut self, cause: Cause) -> Result<(), Box<dyn Error>> {
        let before = self.state();
        match &cause {
            Cause::Election => self.raft.campaign()?,
            Cause::Tick => {
                self.raft.tick();
            }
            Cause::Proposal(value) => self.raft.propose(Vec::new(), value.clone().into_bytes())?,
            Cause::Receipt(keyed) if keyed.message.term < before.term => {
                self.raft.step(keyed.message.clone())?;
                self.log_receipt("IgnoreStale", keyed);
                return Ok(self.trace.flush()?);
            }
            Cause::Receipt(keyed) => self.raft.step(keyed.message.clone())?,
        }
        if self.bug == Some(Bug::CommitOldTerm) {
            self.commit_any_term();
        }

        let mut messages = Vec::new();
        let ready = self.raft.has_ready().then(|| self.raft.ready());
        let ready = match ready {
            Some(mut ready) => {
                messages.extend(ready.take_messages());
                messages.extend(ready.take_persisted_messages());
                self.raft.mut_store().wl().append(ready.entries())?;
                self.disk.append(ready.entries());
                if let Some(hard) = ready.hs() {
                    self.raft.mut_store().wl().set_hardstate(hard.clone());
                    self.disk.hard = hard.clone();
                }
                self.disk.save()?;
                Some(ready)
            }
            None => None,
        };
        let messages = self.with_keys(messages);
        self.log_step(&cause, &before, &messages);
        self.send(&messages)?;

        if let Some(ready) = ready {
            let before = self.state();
            let mut light = self.raft.advance(ready);
            if let Some(commit) = light.commit_index() {
                self.raft.mut_store().wl().mut_hard_state().set_commit(commit);
                self.disk.hard.commit = commit;
                self.disk.save()?;
            }
            let state = self.state();
            if state.commit > before.commit {
                self.trace.event("AdvanceCommit", &state, json!({}));
            }
            let messages = light.take_messages();
            let messages = self.with_keys(messages);
            self.log_sends(&messages);
            self.send(&messages)?;
        }
        Ok(())
    }

    /// Logs the events of a step that began in the state `before` and sends `messages`.
    fn log_step(&mut self, cause: &Cause, before: &State, messages: &[Keyed]) {
        let after = self.state();
        // The state before a leader commits, which is an event of its own.
        let is_leader = after.role == StateRole::Leader;
        let mut state = after.clone();
        if is_leader {
            state.commit = before.commit;
        }
        match cause {
            Cause::Election | Cause::Tick => {
                if after.term > before.term {
                    self.trace.event("Timeout", &state, json!({}));
                }
            }
            Cause::Proposal(value) => self.trace.event("ClientRequest", &state, json!({ "value": value })),
            Cause::Receipt(keyed) => {
                let mut fields = json!({ "msg": trace::message_json(&keyed.message), "receives": keyed.key });
                if let Some(reply) = messages.iter().find(|sent| trace::sender_name(&sent.message).is_none()) {
                    fields["reply"] = trace::message_json(&reply.message);
                    fields["sends"] = reply.key.clone().into();
                }
                let name = trace::handler_name(&keyed.message);
                if is_leader && before.role != StateRole::Leader {
                    self.trace.event(name, before, fields);
                    self.trace.event("BecomeLeader", &state, json!({}));
                } else {
                    self.trace.event(name, &state, fields);
                }
            }
        }
        if is_leader && after.commit > before.commit {
            self.trace.event("AdvanceCommit", &after, json!({}));
        }
        self.log_sends(messages);
    }

    fn log_sends(&mut self, messages: &[Keyed]) {
        let state = self.state();
        for keyed in messages {
            if let Some(name) = trace::sender_name(&keyed.message) {
                let fields = json!({ "msg": trace::message_json(&keyed.message), "sends": keyed.key });
                self.trace.event(name, &state, fields);
            }
        }
    }

    /// Gives each message its key. Votes do not carry a commit index, because `Raft.tla` has no such messages.
    fn with_keys(&mut self, messages: Vec<Message>) -> Vec<Keyed> {
        let mut keyed = Vec::new();
        for mut message in messages {
            if matches!(message.get_msg_type(), MessageType::MsgRequestVote | MessageType::MsgRequestVoteResponse) {
                message.commit = 0;
                message.commit_term = 0;
            }
            keyed.push(Keyed { key: format!("n{}.{}.{}", self.id, self.disk.starts, self.sent), message });
            self.sent += 1;
        }
        keyed
    }

    fn send(&mut self, messages: &[Keyed]) -> Result<(), Box<dyn Error>> {
        self.trace.flush()?;
        for keyed in messages {
            self.outbox.send(keyed);
        }
        Ok(())
    }

    /// The fault `commit-old-term`: a quorum has the entry, whatever its term is.
    fn commit_any_term(&mut self) {
        let raft = &mut self.raft.raft;
        if raft.state != StateRole::Leader {
            return;
        }
        let mut matched: Vec<u64> = NODES.iter().filter_map(|&id| Some(raft.prs().get(id)?.matched)).collect();
        matched.sort_unstable();
        let index = matched[matched.len() / 2];
        if index > raft.raft_log.committed {
            raft.raft_log.commit_to(index);
        }
    }
}

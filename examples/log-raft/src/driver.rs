//! The processes of the cluster, and the scenario with its faults.
//!
//! The scenario tells nodes to campaign and cuts links, so that it covers the same cases in every run: a vote that
//! arrives late, a restart of a node that has voted, a leader that loses its entries, a leader that is killed, and a
//! leader that replicates an entry of an earlier term. The seed decides which node plays which part. Every wait is
//! bounded: a faulty cluster may get stuck, and then the scenario ends early and leaves its logs.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::node::NODES;
use crate::{Options, wire};

/// How long the driver waits for anything.
const PATIENCE: Duration = Duration::from_millis(1500);
const POLL: Duration = Duration::from_millis(5);

pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(&options.out)?;
    for id in NODES {
        for extension in ["ndjson", "state", "address"] {
            // Most files of an earlier run do not exist.
            let _ = fs::remove_file(options.out.join(format!("node-{id}.{extension}")));
        }
    }
    // The six orders of three nodes.
    let mut order = NODES.to_vec();
    order.rotate_left((options.seed % 3) as usize);
    if options.seed / 3 % 2 == 1 {
        order.swap(1, 2);
    }
    let mut cluster = Cluster { options, order, children: BTreeMap::new(), addresses: BTreeMap::new(), values: 0 };
    for id in NODES {
        cluster.start(id)?;
    }
    cluster.tell_peers();
    cluster.play()?;
    drop(cluster);
    for id in NODES {
        for extension in ["state", "address"] {
            fs::remove_file(options.out.join(format!("node-{id}.{extension}")))?;
        }
    }
    Ok(())
}

struct Cluster<'a> {
    options: &'a Options,
    /// The nodes in the order of their election timeouts.
    order: Vec<u64>,
    children: BTreeMap<u64, Child>,
    addresses: BTreeMap<u64, SocketAddr>,
    values: u64,
}

impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        for id in NODES {
            self.kill(id);
        }
    }
}

impl Cluster<'_> {
    fn play(&mut self) -> Result<(), Box<dyn Error>> {
        let (a, b, c) = (self.order[0], self.order[1], self.order[2]);

        // c votes for a, but its vote is late. c restarts and is asked by b in the same term.
        self.link(a, &[b], &[c]);
        self.link(b, &[a], &[]);
        self.ask(a, json!({ "command": "campaign" }));
        self.wait(|cluster| cluster.status(a)["waiting"] == 1);
        self.kill(c);
        self.start(c)?;
        self.link(c, &[a], &[]);
        self.tell_peers();
        self.ask(b, json!({ "command": "campaign" }));
        thread::sleep(Duration::from_millis(100));
        self.link(a, &[b], &[]);
        thread::sleep(Duration::from_millis(50));
        self.heal();

        // Replication.
        let leader = self.elect(a);
        for _ in 0..2 {
            self.propose(leader);
        }
        if !self.settle() {
            return Ok(());
        }

        // The leader is cut off with an entry that no other node has, and another leader replaces it.
        self.isolate(a);
        self.propose(a);
        let leader = self.elect(b);
        self.propose(leader);
        self.wait(|cluster| cluster.commit(c) == cluster.length(leader));
        self.heal();
        if !self.settle() {
            return Ok(());
        }

        // The leader is killed. The others elect one of them when they time out, and the old one comes back.
        self.kill(b);
        self.wait(|cluster| cluster.is_leader(a) || cluster.is_leader(c));
        let leader = if self.is_leader(c) { c } else { a };
        self.propose(leader);
        self.start(b)?;
        self.tell_peers();
        if !self.settle() {
            return Ok(());
        }

        // An entry reaches one follower, which becomes leader in a later term and replicates it to the other one.
        let (old, new, other) = if leader == a { (a, b, c) } else { (c, b, a) };
        self.link(other, &[old], &[]);
        self.link(old, &[new, other], &[]);
        self.propose(old);
        self.wait(|cluster| cluster.length(new) == cluster.length(old));
        self.link(new, &[old], &[]);
        self.elect(new);
        self.wait(|cluster| cluster.commit(other) == cluster.length(new));
        self.heal();
        self.settle();
        Ok(())
    }

    fn start(&mut self, id: u64) -> Result<(), Box<dyn Error>> {
        let address = self.file(id, "address");
        // It does not exist at the first start.
        let _ = fs::remove_file(&address);
        let rank = self.order.iter().position(|&other| other == id).unwrap_or(0);
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("node").arg("--out").arg(&self.options.out);
        command.args(["--id", &id.to_string(), "--rank", &rank.to_string()]);
        if let Some(bug) = self.options.bug {
            command.args(["--bug", bug.name()]);
        }
        self.children.insert(id, command.spawn()?);
        let deadline = Instant::now() + 4 * PATIENCE;
        while !address.exists() {
            if Instant::now() > deadline {
                return Err(format!("node {id} does not start").into());
            }
            thread::sleep(POLL);
        }
        self.addresses.insert(id, fs::read_to_string(address)?.parse()?);
        Ok(())
    }

    fn kill(&mut self, id: u64) {
        if let Some(mut child) = self.children.remove(&id) {
            // A node that has ended cannot be killed.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn file(&self, id: u64, extension: &str) -> PathBuf {
        self.options.out.join(format!("node-{id}.{extension}"))
    }

    /// The reply of a node, or null if it does not run.
    fn ask(&self, id: u64, command: Value) -> Value {
        if !self.children.contains_key(&id) {
            return Value::Null;
        }
        wire::ask(self.addresses[&id], &command).unwrap_or_default()
    }

    fn tell_peers(&self) {
        let addresses: BTreeMap<String, String> =
            self.addresses.iter().map(|(id, address)| (id.to_string(), address.to_string())).collect();
        for id in NODES {
            self.ask(id, json!({ "command": "peers", "addresses": addresses }));
        }
    }

    /// Lets the node `id` drop messages of some nodes, and keep messages of others waiting.
    fn link(&self, id: u64, drop: &[u64], hold: &[u64]) {
        self.ask(id, json!({ "command": "links", "drop": drop, "hold": hold }));
    }

    fn isolate(&self, id: u64) {
        for other in NODES {
            let dropped: Vec<u64> = NODES.into_iter().filter(|&from| (from == id) != (other == id)).collect();
            self.link(other, &dropped, &[]);
        }
    }

    fn heal(&self) {
        for id in NODES {
            self.link(id, &[], &[]);
        }
    }

    fn status(&self, id: u64) -> Value {
        self.ask(id, json!({ "command": "status" }))
    }

    fn commit(&self, id: u64) -> u64 {
        self.status(id)["commit"].as_u64().unwrap_or(0)
    }

    fn length(&self, id: u64) -> u64 {
        self.status(id)["length"].as_u64().unwrap_or(0)
    }

    fn is_leader(&self, id: u64) -> bool {
        self.status(id)["role"] == "Leader"
    }

    /// Waits until `is_done` or until patience ends. Returns whether it is done.
    fn wait(&self, is_done: impl Fn(&Self) -> bool) -> bool {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if is_done(self) {
                return true;
            }
            thread::sleep(POLL);
        }
        false
    }

    /// Makes the node `id` the leader if it can be. Returns `id`.
    fn elect(&self, id: u64) -> u64 {
        for _ in 0..3 {
            if self.is_leader(id) {
                break;
            }
            self.ask(id, json!({ "command": "campaign" }));
            let deadline = Instant::now() + PATIENCE / 5;
            while Instant::now() < deadline && !self.is_leader(id) {
                thread::sleep(POLL);
            }
        }
        id
    }

    fn propose(&mut self, id: u64) {
        self.values += 1;
        self.ask(id, json!({ "command": "propose", "value": format!("v{}", self.values) }));
    }

    /// Waits until all nodes have committed the same entries, and have no others. Returns whether they have.
    fn settle(&self) -> bool {
        self.wait(|cluster| {
            let all = NODES.map(|id| cluster.status(id));
            let length = &all[0]["length"];
            length.is_u64() && all.iter().all(|status| &status["length"] == length && &status["commit"] == length)
        })
    }
}

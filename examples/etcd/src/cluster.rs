//! Three nodes of etcd on this machine, with ports and directories of their own.
//!
//! Nodes die with the harness, however it ends: when it is over they are killed, and should the harness be killed itself,
//! the kernel kills them, because `setpriv` asks it to. The kernel looks at the thread that started a node, so nodes are
//! started by the main thread, which ends last.

use std::error::Error;
use std::fs::{self, File};
use std::io;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::client::Client;

pub const NODES: usize = 3;

/// How long the nodes may take to elect a first leader, on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(30);

/// A cluster that runs. Dropping it ends it.
pub struct Cluster {
    nodes: Vec<Node>,
    // Dropped after the nodes.
    directory: TempDir,
}

struct Node {
    child: Child,
    args: Vec<String>,
    /// Where it listens to clients.
    url: String,
}

impl Cluster {
    /// Starts all nodes, and waits until each of them answers.
    pub fn start() -> Result<Cluster, Box<dyn Error>> {
        let directory = tempfile::Builder::new().prefix("omnilink-etcd-").tempdir()?;
        let ports = free_ports(2 * NODES)?;
        let url = |port: u16| format!("http://127.0.0.1:{port}");
        let peers: Vec<String> = (0..NODES).map(|node| format!("n{node}={}", url(ports[NODES + node]))).collect();
        let mut cluster = Cluster { nodes: Vec::new(), directory };
        for node in 0..NODES {
            let (client, peer) = (url(ports[node]), url(ports[NODES + node]));
            let data = cluster.directory.path().join(format!("n{node}"));
            let args = [
                ("name", format!("n{node}")),
                ("data-dir", data.display().to_string()),
                ("listen-client-urls", client.clone()),
                ("advertise-client-urls", client.clone()),
                ("listen-peer-urls", peer.clone()),
                ("initial-advertise-peer-urls", peer),
                ("initial-cluster", peers.join(",")),
                ("heartbeat-interval", "50".to_owned()),
                ("election-timeout", "500".to_owned()),
            ];
            let args: Vec<String> = args.iter().map(|(name, value)| format!("--{name}={value}")).collect();
            let child = cluster.spawn(node, &args)?;
            cluster.nodes.push(Node { child, args, url: client });
        }
        cluster.wait()?;
        Ok(cluster)
    }

    /// Where the nodes listen to clients.
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.url.clone()).collect()
    }

    /// Ends a node at once, as a loss of power would, except that the disk keeps what was written.
    pub fn kill(&mut self, node: usize) -> io::Result<()> {
        let child = &mut self.nodes[node].child;
        child.kill()?;
        child.wait().map(drop)
    }

    /// Starts a node again that was killed.
    pub fn restart(&mut self, node: usize) -> io::Result<()> {
        self.nodes[node].child = self.spawn(node, &self.nodes[node].args)?;
        Ok(())
    }

    /// Stops a node as if the machine had stalled. Its connections stay open.
    pub fn pause(&self, node: usize) -> io::Result<()> {
        self.signal(node, Signal::STOP)
    }

    /// Lets a node go on that was stopped.
    pub fn resume(&self, node: usize) -> io::Result<()> {
        self.signal(node, Signal::CONT)
    }

    fn signal(&self, node: usize, signal: Signal) -> io::Result<()> {
        Ok(kill_process(Pid::from_child(&self.nodes[node].child), signal)?)
    }

    fn spawn(&self, node: usize, args: &[String]) -> io::Result<Child> {
        let log = File::options().create(true).append(true).open(self.log(node))?;
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "etcd"]).args(args).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(log).spawn()
    }

    fn log(&self, node: usize) -> std::path::PathBuf {
        self.directory.path().join(format!("n{node}.log"))
    }

    /// Waits until every node answers a read that all of them have to agree on.
    fn wait(&mut self) -> Result<(), Box<dyn Error>> {
        let (client, start) = (Client::new(), Instant::now());
        for node in 0..NODES {
            while client.get(&self.nodes[node].url, "ready", false).is_err() {
                let has_ended = self.nodes[node].child.try_wait()?.is_some();
                if has_ended || start.elapsed() > PATIENCE {
                    let log = fs::read_to_string(self.log(node))?;
                    let last: Vec<&str> = log.lines().rev().take(3).collect();
                    return Err(format!("node {node} does not answer\n{}", last.join("\n")).into());
                }
                thread::sleep(Duration::from_millis(50));
            }
        }
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            // One that has ended by itself cannot be killed, and need not be.
            let _ = node.child.kill();
            let _ = node.child.wait();
        }
    }
}

/// Unused ports. All are held until all are known, so they differ.
fn free_ports(count: usize) -> io::Result<Vec<u16>> {
    let held = (0..count).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<io::Result<Vec<_>>>()?;
    held.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

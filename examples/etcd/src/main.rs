//! Records what clients of three etcd nodes see.
//!
//! `etcd-study linearizable` reads what all nodes agree on, `etcd-study serializable` reads what the node that is asked
//! happens to have, and `etcd-study faults` reads like the first while one node after another is killed or stalled. Every
//! operation goes to any node, and notes to which one. A put whose outcome is not known is an operation that never
//! finished; its client goes on under a new name. No value is put twice, so that what is read tells who put it.

mod client;
mod cluster;

use std::env;
use std::error::Error;
use std::io;
use std::thread;
use std::time::Duration;

use omnilink_record::Action;
use omnilink_record::drive::{self, Draw, Plan};

use crate::client::{Client, Lost};
use crate::cluster::{Cluster, NODES};

static PUT: Action = Action::new("Put", &["key", "value"], &[]);
static GET: Action = Action::new("Get", &["key"], &["value"]);

const KEYS: [&str; 2] = ["a", "b"];

/// How long a client waits after a node that is down has refused it. Without it, a run would be over before the node is
/// back, and most of its operations would be refusals.
const PAUSE: Duration = Duration::from_millis(50);

fn main() -> Result<(), Box<dyn Error>> {
    let (is_serializable, has_faults) = match env::args().nth(1).as_deref() {
        Some("linearizable") => (false, false),
        Some("serializable") => (true, false),
        Some("faults") => (false, true),
        _ => return Err("it needs a workload: `linearizable`, `serializable` or `faults`".into()),
    };
    let plan = Plan::from_env()?;
    let mut cluster = Cluster::start()?;
    let urls = cluster.urls();
    thread::scope(|scope| {
        let clients = scope.spawn(|| {
            drive::run(
                &plan,
                &urls,
                |_, _| Client::new(),
                |urls, client, recorded| {
                    step(urls, client, recorded, is_serializable);
                },
            )
        });
        if has_faults {
            disturb(&mut cluster, &mut Draw::new(plan.seed, plan.threads, plan.threads + 1), || clients.is_finished())?;
        }
        clients.join().expect("clients do not panic")
    })?;
    Ok(())
}

/// One operation of one client.
fn step(urls: &[String], client: &Client, recorded: &mut drive::Client, is_serializable: bool) {
    let node = recorded.draw().below(NODES as u64);
    let url = &urls[node as usize];
    let key = *recorded.draw().one_of(&KEYS);
    if recorded.draw().below(2) == 0 {
        let value = recorded.draw().fresh();
        let mut call = recorded.call(&PUT, (key, value));
        call.meta("node", node);
        match client.put(url, key, value) {
            Ok(()) => call.done(()),
            Err(Lost::Refused) => {
                call.failed();
                thread::sleep(PAUSE);
            }
            Err(Lost::Unknown) => drop(call),
        }
    } else {
        let mut call = recorded.call(&GET, (key,));
        call.meta("node", node);
        match client.get(url, key, is_serializable) {
            Ok(value) => call.done((value,)),
            // One that never finished would say no more: a read has no effect.
            Err(lost) => {
                call.failed();
                if lost == Lost::Refused {
                    thread::sleep(PAUSE);
                }
            }
        }
    }
}

/// Kills one node and stalls another, over and over, each for up to a second.
fn disturb(cluster: &mut Cluster, draw: &mut Draw, is_over: impl Fn() -> bool) -> io::Result<()> {
    let nap = |draw: &mut Draw| thread::sleep(Duration::from_millis(100 + draw.below(900)));
    while !is_over() {
        let killed = draw.below(NODES as u64) as usize;
        let paused = (killed + 1 + draw.below(NODES as u64 - 1) as usize) % NODES;
        cluster.kill(killed)?;
        nap(draw);
        cluster.restart(killed)?;
        nap(draw);
        cluster.pause(paused)?;
        nap(draw);
        cluster.resume(paused)?;
        nap(draw);
    }
    Ok(())
}

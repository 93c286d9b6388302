//! Records what threads do to one map of dashmap: they store, look for and take away values under a few keys. No value
//! is stored twice, so that what is found tells who stored it. `insert` also returns a truth value, which is not recorded:
//! its documentation does not say what it means.

use std::error::Error;

use dashmap::DashMap;
use omnilink_record::Action;
use omnilink_record::drive::{self, Client, Plan};

static INSERT: Action = Action::new("Insert", &["key", "value"], &[]);
static GET: Action = Action::new("Get", &["key"], &["value"]);
static REMOVE: Action = Action::new("Remove", &["key"], &["was_there"]);

type Map = DashMap<u64, i64>;

const KEYS: u64 = 4;

fn main() -> Result<(), Box<dyn Error>> {
    drive::repeat(|| {
        drive::run(&Plan::from_env()?, &Map::new(), |_, _| (), |map, (), client| step(map, client))?;
        Ok(())
    })
}

fn step(map: &Map, client: &mut Client) {
    let key = client.draw().below(KEYS);
    match client.draw().below(3) {
        0 => {
            let value = client.draw().fresh();
            let call = client.call(&INSERT, (key, value));
            map.insert(key, value);
            call.done(());
        }
        1 => {
            let call = client.call(&GET, (key,));
            let value = map.get(&key).map(|found| *found.value());
            call.done((value,));
        }
        _ => {
            let call = client.call(&REMOVE, (key,));
            let was_there = map.remove(&key);
            call.done((was_there,));
        }
    }
}

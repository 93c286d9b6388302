//! Records what threads do to one map of crossbeam-skiplist.
//!
//! `skiplist insert-get` replaces values and looks for them. `skiplist remove` never replaces a value, so that nothing
//! but removing is to blame: it puts one in where there is none, and takes it away again. There are two keys, so that
//! threads meet, and no value is put in twice, so that what is read tells who wrote it.

use std::env;
use std::error::Error;

use crossbeam_skiplist::SkipMap;
use omnilink_record::Action;
use omnilink_record::drive::{self, Client, Plan};

static INSERT: Action = Action::new("Insert", &["key", "value"], &[]);
static GET: Action = Action::new("Get", &["key"], &["value"]);
static GET_OR_INSERT: Action = Action::new("GetOrInsert", &["key", "value"], &["found"]);
static REMOVE: Action = Action::new("Remove", &["key"], &["value"]);

type Map = SkipMap<u64, i64>;

const KEYS: u64 = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let step = match env::args().nth(1).as_deref() {
        Some("insert-get") => insert_get,
        Some("remove") => remove,
        _ => return Err("it needs a workload: `insert-get` or `remove`".into()),
    };
    drive::run(&Plan::from_env()?, &Map::new(), |_, _| (), |map, (), client| step(map, client))?;
    Ok(())
}

fn insert_get(map: &Map, client: &mut Client) {
    let key = client.draw().below(KEYS);
    if client.draw().below(2) == 0 {
        let value = client.draw().fresh();
        let call = client.call(&INSERT, (key, value));
        map.insert(key, value);
        call.done(());
    } else {
        let call = client.call(&GET, (key,));
        let found = map.get(&key).map(|entry| *entry.value());
        call.done((found,));
    }
}

fn remove(map: &Map, client: &mut Client) {
    let key = client.draw().below(KEYS);
    if client.draw().below(2) == 0 {
        let value = client.draw().fresh();
        let call = client.call(&GET_OR_INSERT, (key, value));
        let found = *map.get_or_insert(key, value).value();
        call.done((found,));
    } else {
        let call = client.call(&REMOVE, (key,));
        let removed = map.remove(&key).map(|entry| *entry.value());
        call.done((removed,));
    }
}

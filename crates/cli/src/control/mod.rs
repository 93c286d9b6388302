//! Replays kept runs: `omnilink replay`, `debug` and `shrink`.

pub(crate) mod debug;
pub(crate) mod replay;
pub(crate) mod shrink;

use omnilink_campaign::{Error, Replay};
use omnilink_explore::Store;

use crate::args::Kept;
use crate::host::HOST;

/// Loads a run with everything needed to replay it.
fn load(kept: &Kept) -> Result<Replay, Error> {
    Replay::load(HOST, Store::at(&kept.store.store), &kept.run, kept.directory.as_deref())
}

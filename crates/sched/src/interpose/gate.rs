//! Where the threads of a harness wait for each other before they start.

use omnilink_schedule::Kind;

use super::step;
use super::table::Table;
use crate::baton;

/// The number of waiting threads, and of completed rounds, by the number of threads to wait for.
static GATES: Table<Gate> = Table::new();

#[derive(Clone, Copy, Default)]
struct Gate {
    waiting: u32,
    opened: u64,
}

/// Waits until this many threads wait here.
pub(crate) fn wait(count: u32) {
    let name = u64::from(count);
    let mut gate = GATES.get(name).unwrap_or_default();
    let mine = gate.opened;
    gate.waiting += 1;
    if gate.waiting >= count {
        gate = Gate { waiting: 0, opened: mine + 1 };
    }
    GATES.set(name, Some(gate));
    baton::blocking(step(Kind::Gate, 0), &|| GATES.get(name).is_some_and(|gate| gate.opened > mine));
}

/// Resets everything.
pub(super) fn begin() {
    GATES.clear();
}

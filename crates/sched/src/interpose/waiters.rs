//! Threads waiting to be woken: at condition variables and at futexes.
//!
//! A thread that starts to wait gets a ticket, and continues when its ticket is gone. If a wake takes fewer threads
//! than there are, the choice is a decision like any other. There are no spurious wakeups: the C library allows them,
//! but does not produce them, and a program that cannot cope with them is found by other means.

use omnilink_schedule::{Choice, Step};

use super::table::Table;
use super::timer;
use crate::baton;

/// Tickets by the address waited at, in order of issue.
static WAITERS: Table<Waiter> = Table::new();

#[derive(Clone, Copy)]
struct Waiter {
    ticket: u64,
    /// The wakes that it accepts.
    bits: u32,
}

/// The address under which the last ticket number is stored.
const NOWHERE: u64 = 0;

/// Wakes any waiting thread.
pub(super) const ANY: u32 = u32::MAX;

/// Resets everything.
pub(super) fn begin() {
    WAITERS.clear();
}

/// Starts to wait at an address, for wakes with one of these bits. Returns the ticket.
pub(super) fn enter(address: u64, bits: u32) -> u64 {
    WAITERS.with(|entries| {
        if entries.is_empty() {
            entries.push((NOWHERE, Waiter { ticket: 0, bits: 0 }));
        }
        entries[0].1.ticket += 1;
        let ticket = entries[0].1.ticket;
        entries.push((address, Waiter { ticket, bits }));
        ticket
    })
}

/// Whether this ticket's thread has not been woken.
pub(super) fn is_waiting(ticket: u64) -> bool {
    WAITERS.with(|entries| entries.iter().skip(1).any(|(_, waiter)| waiter.ticket == ticket))
}

/// Stops waiting. Returns `false` if it was already woken.
pub(super) fn leave(ticket: u64) -> bool {
    WAITERS.with(|entries| {
        let place = entries.iter().skip(1).position(|(_, waiter)| waiter.ticket == ticket);
        place.map(|place| entries.remove(place + 1)).is_some()
    })
}

/// Waits until this ticket's thread is woken, a deadline passes, or it is interrupted. Returns whether it was woken.
pub(super) fn wait(step: Step, ticket: u64, deadline: u64, is_interrupted: &dyn Fn() -> bool) -> bool {
    if deadline == baton::PASSED {
        // The deadline has passed: the thread need not block before it sees that.
        baton::visible(step);
    } else {
        timer::timed(step, deadline, &|| !is_waiting(ticket) || is_interrupted());
    }
    let is_woken = !leave(ticket);
    baton::made(u64::from(is_woken), true);
    is_woken
}

/// Wakes some of the threads that wait at an address. Returns their number.
pub(super) fn wake(address: u64, most: usize, bits: u32) -> usize {
    // The entry of the last ticket number is among the entries, but no thread waits there.
    let is_meant = |entry: &(u64, Waiter)| entry.0 == address && entry.1.bits & bits != 0;
    let count = WAITERS.with(|entries| entries.iter().filter(|entry| is_meant(entry)).count());
    if count <= most {
        WAITERS.with(|entries| entries.retain(|entry| !is_meant(entry)));
        return count;
    }
    for left in (count - most + 1..=count).rev() {
        let chosen = baton::choose(Choice::Wake, left);
        WAITERS.with(|entries| {
            let meant = (0..entries.len()).filter(|&place| is_meant(&entries[place])).nth(chosen);
            entries.remove(meant.expect("the index is below the count"));
        });
    }
    most
}

/// Moves some of the threads that wait at an address to another one. Returns their number.
pub(super) fn move_to(address: u64, most: usize, other: u64) -> usize {
    WAITERS.with(|entries| {
        let waiting = entries.iter_mut().skip(1).filter(|entry| entry.0 == address);
        waiting.take(most).map(|entry| entry.0 = other).count()
    })
}

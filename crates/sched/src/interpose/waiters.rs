//! Who waits to be woken: at condition variables and at futexes.
//!
//! A thread that begins to wait gets a ticket, and goes on when its ticket is gone. Whom a wake takes, if it takes fewer
//! than there are, is a decision like any other. Nobody is woken without a reason: the C library allows that, but does not
//! do it, and a program that cannot bear it is found by other means.

use schedule::{Choice, Step};

use super::table::Table;
use super::timer;
use crate::baton;

/// Tickets by the address of what is waited at, in the order in which they were given out.
static WAITERS: Table<Waiter> = Table::new();

#[derive(Clone, Copy)]
struct Waiter {
    ticket: u64,
    /// Which wakes are for it.
    bits: u32,
}

/// The address under which the number of the last ticket stands.
const NOWHERE: u64 = 0;

/// Wakes whoever waits, whatever for.
pub(super) const ANY: u32 = u32::MAX;

/// Forgets everything.
pub(super) fn begin() {
    WAITERS.clear();
}

/// Begins to wait at an address, for wakes that have one of these bits. The ticket.
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

/// Whether nobody has woken who has this ticket.
pub(super) fn is_waiting(ticket: u64) -> bool {
    WAITERS.with(|entries| entries.iter().skip(1).any(|(_, waiter)| waiter.ticket == ticket))
}

/// Stops waiting. False if it was woken already.
pub(super) fn leave(ticket: u64) -> bool {
    WAITERS.with(|entries| {
        let place = entries.iter().skip(1).position(|(_, waiter)| waiter.ticket == ticket);
        place.map(|place| entries.remove(place + 1)).is_some()
    })
}

/// Waits until somebody wakes who has this ticket, or a moment comes, or something else happens. True if it was woken.
pub(super) fn wait(step: Step, ticket: u64, deadline: u64, is_interrupted: &dyn Fn() -> bool) -> bool {
    if deadline == baton::PASSED {
        // It is too late already: nobody has to stand still before that shows.
        baton::visible(step);
    } else {
        timer::timed(step, deadline, &|| !is_waiting(ticket) || is_interrupted());
    }
    let is_woken = !leave(ticket);
    baton::made(u64::from(is_woken), true);
    is_woken
}

/// Wakes some of those who wait at an address. How many.
pub(super) fn wake(address: u64, most: usize, bits: u32) -> usize {
    // The place of the last ticket is among the entries, but nobody waits there.
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
            entries.remove(meant.expect("there are as many as were counted"));
        });
    }
    most
}

/// Has some of those who wait at an address wait at another one. How many.
pub(super) fn move_to(address: u64, most: usize, other: u64) -> usize {
    WAITERS.with(|entries| {
        let waiting = entries.iter_mut().skip(1).filter(|entry| entry.0 == address);
        waiting.take(most).map(|entry| entry.0 = other).count()
    })
}

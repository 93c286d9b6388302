//! Finds operations that are missing, by the numbers of the others.
//!
//! A recorder may number the operations of each process, from 0 on, and say how many there were. A gap is a
//! loss then, and so is a number that occurs twice: two processes share a name, and either may have lost others.
//! Without a count, losses at the end go unnoticed, which a note says. If one process has a count, all have to.

use std::collections::BTreeMap;
use std::sync::Arc;

use omnilink_suggest::counted;

use crate::{Call, End, Trace};

/// An operation that arrives by itself, with its number in its process.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbered {
    /// Its process.
    pub process: Arc<str>,
    /// Its number in its process, from 0; `None` if operations are not numbered, and losses are not noticed.
    pub seq: Option<u64>,
    /// A time before it began.
    pub start: u64,
    /// Its end.
    pub end: End,
    /// The call.
    pub call: Call,
}

/// The numbers of the operations of a process.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub(super) given: Vec<u64>,
    /// Operations without a number; none if there are numbers.
    pub(super) without: u64,
    /// The largest count.
    pub(super) count: Option<u64>,
    /// The number of operations that it says it had when it was over. Others need not be over.
    pub(super) total: Option<u64>,
}

/// Adds losses and notes to a trace. `seq` and `count` are the names of the fields.
pub(super) fn find(mut processes: BTreeMap<&str, Numbers>, seq: &str, count: &str, trace: &mut Trace) {
    processes.values_mut().for_each(|numbers| numbers.given.sort_unstable());
    let are_counted = processes.values().any(|numbers| numbers.count.is_some());
    let (mut unnumbered, mut unended) = (0, 0);
    for (process, Numbers { given, without, count: announced, total }) in &processes {
        let mut lost = |missing: u64, place: String| {
            let (operations, verb) = (counted(missing, "operation"), if missing == 1 { "is" } else { "are" });
            trace.losses.push(format!("{operations} of {process} {verb} missing{place}"));
        };
        if let Some(&first) = given.first().filter(|first| **first > 0) {
            lost(first, format!(" before seq {first}"));
        }
        for pair in given.windows(2).filter(|pair| pair[1] - pair[0] > 1) {
            lost(pair[1] - pair[0] - 1, format!(" between seq {} and {}", pair[0], pair[1]));
        }
        let last = given.last();
        let seen = last.map_or(*without, |last| last.saturating_add(1));
        let behind = last.map_or_else(String::new, |last| format!(" after seq {last}"));
        match (*announced).or(*total) {
            Some(announced) if announced > seen => {
                lost(announced - seen, format!("{behind}: `{count}` is {announced}"));
            }
            Some(announced) if announced == seen => {}
            _ if are_counted => trace
                .losses
                .push(format!("operations of {process} may be missing{behind}: no `{count}` of {seen} is there")),
            _ if given.is_empty() => unnumbered += 1,
            _ => unended += 1,
        }
        let mut repeated: Vec<u64> = given.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        repeated.dedup();
        for number in repeated {
            trace.losses.push(format!("several operations of {process} have seq {number}"));
        }
    }
    if unnumbered > 0 {
        let which = counted(unnumbered, "process");
        trace.notes.push(format!("lost operations of {which} would go unnoticed: they have no `{seq}`"));
    }
    if unended > 0 {
        let which = counted(unended, "process");
        trace.notes.push(format!(
            "operations lost at the end of {which} would go unnoticed: no `{count}` says how many there were"
        ));
    }
}

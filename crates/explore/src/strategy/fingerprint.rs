//! A fingerprint of the state after some steps, equal if they differ only in the order of independent steps.
//!
//! A step is known by its thread and its vector clock: for each thread, how many of its steps happen before. In a
//! deterministic program this determines what the step does, and the set of all steps determines the state. So the
//! fingerprint is a sum of hashes, one for each step, and adding a step needs only its own clock.
//!
//! A clock needs the last step of each other thread that the new one depends on. It is mostly among the last few; else the
//! last step of each form is looked at, as many as a thread has forms: one that spins takes a million steps of three.

use std::hash::{DefaultHasher, Hash, Hasher};

use omnilink_schedule::{Decision, Step, dependent};
use rustc_hash::FxHashMap;

use crate::Execution;

/// The fingerprint, and what is needed to add a step.
#[derive(Debug, Default)]
pub(super) struct Fingerprint {
    sum: u64,
    /// The thread of the last step.
    last: u8,
    threads: Vec<Thread>,
}

/// The steps of a thread.
#[derive(Debug, Default)]
struct Thread {
    /// With their clocks.
    steps: Vec<(Step, Vec<u32>)>,
    /// The last step of each form. Whether two steps are dependent follows from their forms.
    last: FxHashMap<Form, usize>,
}

/// The kind, the address and the size of a step.
type Form = (u8, u64, u8);

/// At most this many of the last steps are looked at one by one.
const FEW: usize = 64;

impl Thread {
    fn add(&mut self, step: &Step, clock: Vec<u32>) {
        self.last.insert((step.kind, step.address, step.size), self.steps.len());
        self.steps.push((*step, clock));
    }

    /// The clock of the last step from this number on that another one depends on.
    fn last_dependency(&self, from: usize, step: &Step) -> Option<&[u32]> {
        // Time passes only when no thread is enabled, which depends on all of them.
        let depends = |other: &Step| step.has(Step::TIMED_OUT) || dependent(other, step);
        let (earlier, few) = self.steps[from..].split_at((self.steps.len() - from).saturating_sub(FEW));
        if let Some((_, clock)) = few.iter().rev().find(|(other, _)| depends(other)) {
            return Some(clock);
        }
        if earlier.is_empty() {
            return None;
        }
        let unordered = self.last.values().filter(|number| **number >= from && depends(&self.steps[**number].0));
        unordered.max().map(|number| &*self.steps[*number].1)
    }
}

/// The fingerprint of a whole execution: equal for those that differ only in the order of independent steps.
pub fn fingerprint(execution: &Execution) -> u64 {
    let mut fingerprint = Fingerprint::default();
    execution.steps.iter().for_each(|step| fingerprint.add(step));
    fingerprint.sum()
}

impl Fingerprint {
    /// Adds a step.
    pub(super) fn add(&mut self, step: &Step) {
        let clock = self.clock(step);
        self.sum = self.sum.wrapping_add(hash((step.thread, &clock)));
        let own = usize::from(step.thread);
        if self.threads.len() <= own {
            self.threads.resize_with(own + 1, Thread::default);
        }
        self.threads[own].add(step, clock);
        self.last = step.thread;
    }

    /// Adds a choice that was part of the last step.
    pub(super) fn choose(&mut self, decision: &Decision) {
        let number = self.steps(self.last.into()).len();
        self.sum = self.sum.wrapping_add(hash((self.last, number, decision.choice, decision.chosen)));
    }

    /// The fingerprint as a number.
    pub(super) fn sum(&self) -> u64 {
        self.sum
    }

    /// The fingerprint after another step.
    pub(super) fn after(&self, step: &Step) -> u64 {
        self.sum.wrapping_add(hash((step.thread, &self.clock(step))))
    }

    fn steps(&self, thread: usize) -> &[(Step, Vec<u32>)] {
        self.threads.get(thread).map_or(&[], |thread| &thread.steps)
    }

    /// The clock of a step that comes next. Threads that have taken no steps may be missing in it.
    fn clock(&self, step: &Step) -> Vec<u32> {
        let own = usize::from(step.thread);
        let mut clock = self.steps(own).last().map(|(_, clock)| clock.clone()).unwrap_or_default();
        clock.resize(self.threads.len().max(own + 1), 0);
        for (number, thread) in self.threads.iter().enumerate().filter(|(number, _)| *number != own) {
            // Steps that already happen before need not be examined.
            if let Some(other) = thread.last_dependency(clock[number] as usize, step) {
                clock.iter_mut().zip(other).for_each(|(time, other)| *time = (*time).max(*other));
            }
        }
        clock[own] += 1;
        let known = clock.iter().rposition(|time| *time > 0).map_or(0, |last| last + 1);
        clock.truncate(known);
        clock
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use omnilink_schedule::Kind;

    use super::*;

    #[test]
    fn a_dependency_far_back_is_found() {
        let step = |thread, kind: Kind, address| Step { thread, kind: kind as u8, address, size: 8, ..Step::default() };
        let mut fingerprint = Fingerprint::default();
        fingerprint.add(&step(0, Kind::Store, 64));
        for _ in 0..10 * FEW {
            fingerprint.add(&step(0, Kind::Load, 128));
        }
        let clock = |kind, address| fingerprint.clock(&step(1, kind, address));
        assert_eq!(clock(Kind::Load, 64), [1, 1]);
        assert_eq!(clock(Kind::Store, 128), [10 * FEW as u32 + 1, 1]);
        assert_eq!(clock(Kind::Load, 128), [0, 1]);
    }
}

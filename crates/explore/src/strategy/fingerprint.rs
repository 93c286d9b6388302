//! A fingerprint of the state after some steps, equal if they differ only in the order of independent steps.
//!
//! A step is known by its thread and its vector clock: for each thread, how many of its steps happen before. In a
//! deterministic program this determines what the step does, and the set of all steps determines the state. So the
//! fingerprint is a sum of hashes, one for each step, and adding a step needs only its own clock.

use std::hash::{DefaultHasher, Hash, Hasher};

use omnilink_schedule::{Decision, Step, dependent};

use crate::Execution;

/// The fingerprint, and what is needed to add a step.
#[derive(Debug, Default)]
pub(super) struct Fingerprint {
    sum: u64,
    /// The thread of the last step.
    last: u8,
    /// The steps of each thread, with their clocks.
    threads: Vec<Vec<(Step, Vec<u32>)>>,
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
            self.threads.resize_with(own + 1, Vec::new);
        }
        self.threads[own].push((*step, clock));
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
        self.threads.get(thread).map_or(&[], Vec::as_slice)
    }

    /// The clock of a step that comes next. Threads that have taken no steps may be missing in it.
    fn clock(&self, step: &Step) -> Vec<u32> {
        let own = usize::from(step.thread);
        let mut clock = self.steps(own).last().map(|(_, clock)| clock.clone()).unwrap_or_default();
        clock.resize(self.threads.len().max(own + 1), 0);
        for (thread, steps) in self.threads.iter().enumerate().filter(|(thread, _)| *thread != own) {
            // Steps that already happen before need not be examined.
            let unordered = steps[clock[thread] as usize..].iter().rev();
            // Time passes only when no thread is enabled, which depends on all of them.
            let depends = |(other, _): &&(Step, Vec<u32>)| step.has(Step::TIMED_OUT) || dependent(other, step);
            if let Some((_, other)) = unordered.into_iter().find(depends) {
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

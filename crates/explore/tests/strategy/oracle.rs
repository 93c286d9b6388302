//! All schedules of a program by brute force, and their equivalence.

use std::collections::BTreeSet;

use omnilink_explore::strategy::Strategy;
use omnilink_explore::{Ending, Execution};
use omnilink_schedule::{Kind, Step, dependent};

use crate::machine::{Machine, Op, Program, execute};

/// The parts of an execution that are compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seen {
    /// The thread of each step, and the option taken.
    pub(crate) schedule: Vec<(u8, u8)>,
    /// The steps in a normal form, equal for all executions of a class.
    pub(crate) class: Vec<(u8, u8, u64, u64)>,
    /// The final state, and whether it is a deadlock.
    pub(crate) state: (String, bool),
    /// Which operations returned before which were called, and the values that threads saw.
    pub(crate) history: Vec<String>,
    /// The number of preemptions.
    pub(crate) preemptions: u32,
}

impl Seen {
    fn new(steps: &[Step], options: &[u8], state: String, ended: &Ending) -> Seen {
        let switches = steps.windows(2).filter(|pair| pair[0].thread != pair[1].thread && !pair[1].has(Step::FREE));
        Seen {
            schedule: steps.iter().zip(options).map(|(step, &option)| (step.thread, option)).collect(),
            class: class(steps),
            state: (state, *ended == Ending::Deadlock),
            history: history(steps),
            preemptions: switches.count() as u32,
        }
    }

    /// Whether this execution is a prefix of the other, in each thread.
    pub(crate) fn begins(&self, other: &Seen) -> bool {
        let count = |thread: u8, steps: &[Step]| steps.iter().filter(|step| step.thread == thread).count();
        let step = |&(thread, kind, address, value): &(u8, u8, u64, u64)| {
            let size = if address == 0 { 0 } else { 8 };
            Step { thread, kind, address, value, size, ..Step::default() }
        };
        let steps: Vec<Step> = self.class.iter().map(step).collect();
        let mut beginning: Vec<Step> = Vec::new();
        for step in other.class.iter().map(step) {
            if count(step.thread, &beginning) < count(step.thread, &steps) {
                beginning.push(step);
            }
        }
        class(&beginning) == self.class
    }
}

/// The normal form of a class: the smallest thread comes first wherever it may.
fn class(steps: &[Step]) -> Vec<(u8, u8, u64, u64)> {
    let mut left = steps.to_vec();
    let mut sorted = Vec::new();
    while !left.is_empty() {
        let waits_for = |step: &Step, other: &Step| other.thread == step.thread || dependent(other, step);
        let may_be_next = |&at: &usize| !left[..at].iter().any(|other| waits_for(&left[at], other));
        let next =
            (0..left.len()).filter(may_be_next).min_by_key(|&at| left[at].thread).expect("the first may be next");
        let step = left.remove(next);
        sorted.push((step.thread, step.kind, step.address, step.value));
    }
    sorted
}

/// Which operations returned before which were called, and the values that threads saw.
fn history(steps: &[Step]) -> Vec<String> {
    let number = |at: usize, kind: Kind| {
        let same = |step: &&Step| step.thread == steps[at].thread && step.kind() == Some(kind);
        (steps[at].thread, steps[..at].iter().filter(same).count())
    };
    let all = |kind: Kind| (0..steps.len()).filter(move |&at| steps[at].kind() == Some(kind));
    let mut lines = Vec::new();
    for returned in all(Kind::Return) {
        for called in all(Kind::Call).filter(|&called| returned < called) {
            lines.push(format!("{:?} {:?}", number(returned, Kind::Return), number(called, Kind::Call)));
        }
    }
    let saw = |step: &&Step| matches!(step.kind(), Some(Kind::Load | Kind::Update | Kind::TryLock));
    lines.extend(steps.iter().filter(saw).map(|step| format!("{} saw {}", step.thread, step.value)));
    lines.sort();
    lines
}

/// Every schedule; `None` if there are more than `most`.
pub(crate) fn brute_force(program: &Program, most: usize) -> Option<Vec<Seen>> {
    let mut all = Vec::new();
    let go_on = visit(Machine::new(program), &mut Vec::new(), &mut Vec::new(), &mut all, most);
    go_on.then_some(all)
}

fn visit(machine: Machine, steps: &mut Vec<Step>, options: &mut Vec<u8>, all: &mut Vec<Seen>, most: usize) -> bool {
    if let Some(ended) = machine.ended() {
        all.push(Seen::new(steps, options, machine.state(), &ended));
        return all.len() <= most;
    }
    let choosable = machine.choosable();
    for thread in (0..64).filter(|thread| choosable >> thread & 1 == 1) {
        for option in 0..machine.options(thread) {
            let mut machine = machine.clone();
            steps.push(machine.step(thread, option));
            options.push(option);
            let go_on = visit(machine, steps, options, all, most);
            steps.pop();
            options.pop();
            if !go_on {
                return false;
            }
        }
    }
    true
}

/// The executions of a strategy until it ends, without the aborted ones.
pub(crate) fn explore(program: &Program, strategy: &mut impl Strategy) -> Vec<Seen> {
    let mut all = Vec::new();
    while let Some(order) = strategy.next() {
        assert_eq!(strategy.next().as_ref(), Some(&order));
        let (execution, state) = execute(program, &order);
        assert_ne!(execution.ended, Ending::Diverged, "{order:?}");
        if execution.ended != Ending::Asleep {
            all.push(Seen::new(&execution.steps, &options(&execution), state, &execution.ended));
        }
        strategy.learn(&execution);
        assert!(strategy.tally().executions < 1_000_000);
    }
    all
}

/// The option of each step.
fn options(execution: &Execution) -> Vec<u8> {
    let mut options: Vec<u8> = Vec::new();
    for decision in &execution.decisions {
        match (decision.choice(), options.last_mut()) {
            (Some(omnilink_schedule::Choice::Thread), _) | (_, None) => options.push(0),
            (_, Some(option)) => *option = decision.chosen,
        }
    }
    options
}

/// One part of all executions.
pub(crate) fn set<T: Ord>(all: &[Seen], part: impl Fn(&Seen) -> T) -> BTreeSet<T> {
    all.iter().map(part).collect()
}

/// `count` threads that load and store a variable `times` times.
pub(crate) fn lost_update(count: usize, times: usize) -> Program {
    let thread = [Op::Load(0), Op::Store(0)].repeat(times);
    Program { threads: vec![thread; count], ends_with_first: false }
}

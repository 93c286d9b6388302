//! Small programs, their outcomes here, and their outcomes by the standard.
//!
//! A program is one line: threads are separated by `|`, and each operation is a location, an action, and an order:
//! `x.acq` loads, `x=1.rel` stores, `x+1.rlx` adds, `fence.sc` is a fence. All locations start as 0. An outcome is the
//! values read, from left to right; and, if the line ends with `ends`, the final values.
//!
//! All interleavings and all choices of loads are executed. Every test asserts that the outcomes are exactly those of
//! the [`axioms`](super::axioms) that can be executed step by step, and prints three sets: shown, allowed but never
//! shown, and forbidden.

use std::collections::BTreeSet;

use insta::assert_snapshot;
use omnilink_schedule::MemoryOrder;
use proptest::prelude::*;

use super::axioms::{Action, NAMES, Op, Program, outcomes};
use super::{LONGEST, Memory, PATIENCE};

fn parse(text: &str) -> Program {
    let op = |word: &str| {
        let (what, order) = word.split_once('.').unwrap();
        let order = match order {
            "rlx" => MemoryOrder::Relaxed,
            "acq" => MemoryOrder::Acquire,
            "rel" => MemoryOrder::Release,
            "ar" => MemoryOrder::AcquireRelease,
            "sc" => MemoryOrder::SequentiallyConsistent,
            _ => panic!("`{order}` is not an order"),
        };
        let location = NAMES.iter().position(|name| what.starts_with(*name));
        let action = match what.get(1..2) {
            _ if what == "fence" => Action::Fence,
            Some("=") => Action::Store(what[2..].parse().unwrap()),
            Some("+") => Action::Add(what[2..].parse().unwrap()),
            _ => Action::Load,
        };
        Op { action, location: location.unwrap_or(0), order }
    };
    let threads = text.trim_end_matches("ends").trim_end_matches("| ");
    let threads = threads.split('|').map(|thread| thread.split_whitespace().map(op).collect());
    Program { threads: threads.collect(), shows_ends: text.ends_with("ends") }
}

/// All outcomes of a program, under weak or sequentially consistent memory.
fn explore(program: &Program, is_weak: bool) -> BTreeSet<String> {
    let mut outcomes = BTreeSet::new();
    let mut choices = Choices::default();
    loop {
        outcomes.insert(execute(program, is_weak, &mut choices));
        if !choices.advance() {
            return outcomes;
        }
    }
}

/// The choices of one execution, with their numbers of options.
#[derive(Default)]
struct Choices {
    made: Vec<(usize, usize)>,
    next: usize,
}

impl Choices {
    fn choose(&mut self, options: usize) -> usize {
        if self.next == self.made.len() {
            self.made.push((0, options));
        }
        let (choice, before) = self.made[self.next];
        assert_eq!(before, options, "the same choices lead to the same options");
        self.next += 1;
        choice
    }

    /// Moves to the choices of the next execution, if there is one.
    fn advance(&mut self) -> bool {
        self.next = 0;
        while let Some((choice, options)) = self.made.pop() {
            if choice + 1 < options {
                self.made.push((choice + 1, options));
                return true;
            }
        }
        false
    }
}

fn execute(program: &Program, is_weak: bool, choices: &mut Choices) -> String {
    let mut memory = Memory::new();
    let mut values = vec![0; program.locations()];
    let mut done = vec![0; program.threads.len()];
    let mut reads = vec![Vec::new(); program.threads.len()];
    // Thread 0 creates the others.
    (1..=program.threads.len()).for_each(|thread| memory.thread_created(0, thread));
    loop {
        let ready: Vec<usize> =
            (0..done.len()).filter(|&thread| done[thread] < program.threads[thread].len()).collect();
        if ready.is_empty() {
            return program.outcome(&reads.concat(), &values);
        }
        let thread = ready[choices.choose(ready.len())];
        let Op { action, location, order } = program.threads[thread][done[thread]];
        done[thread] += 1;
        let address = 8 * location as u64;
        match action {
            Action::Load => {
                let options = memory.readable(thread + 1, address, 8, order, values[location]);
                let choice = choices.choose(if is_weak { options } else { 1 });
                reads[thread].push(memory.load(thread + 1, address, 8, order, choice, values[location]));
            }
            Action::Store(value) => {
                memory.store(thread + 1, address, 8, order, value, values[location]);
                values[location] = value;
            }
            Action::Add(more) => {
                let previous = values[location];
                memory.update(thread + 1, address, 8, order, previous + more, previous);
                reads[thread].push(previous);
                values[location] = previous + more;
            }
            Action::Fence => memory.fence(thread + 1, order),
        }
    }
}

/// One line for each program.
fn check(programs: &[&str]) -> String {
    let line = |text: &&str| {
        let program = parse(text);
        let shown = explore(&program, true);
        let standard = outcomes(&program);
        assert_eq!(shown, standard.stepwise, "{text}");
        let set = |outcomes: Vec<&String>| match outcomes.is_empty() {
            true => "-".to_owned(),
            false => outcomes.iter().map(|outcome| outcome.as_str()).collect::<Vec<_>>().join(" "),
        };
        let unshown = set(standard.allowed.difference(&shown).collect());
        let forbidden = set(standard.thinkable.difference(&standard.allowed).collect());
        let shown = set(shown.iter().collect());
        format!("{text}\n    shown {shown}\n    also allowed {unshown} / forbidden {forbidden}\n")
    };
    programs.iter().map(line).collect()
}

#[test]
fn store_buffering() {
    assert_snapshot!(check(&[
        "x=1.rlx y.rlx | y=1.rlx x.rlx",
        "x=1.rel y.acq | y=1.rel x.acq",
        "x=1.sc y.sc | y=1.sc x.sc",
        "x=1.sc y.sc | y=1.sc x.acq",
        "x=1.rlx fence.sc y.rlx | y=1.rlx fence.sc x.rlx",
        "x=1.rlx fence.sc y.rlx | y=1.sc x.sc",
        "x=1.rlx fence.ar y.rlx | y=1.rlx fence.ar x.rlx",
    ]), @r"
    x=1.rlx y.rlx | y=1.rlx x.rlx
        shown 00 01 10 11
        also allowed - / forbidden -
    x=1.rel y.acq | y=1.rel x.acq
        shown 00 01 10 11
        also allowed - / forbidden -
    x=1.sc y.sc | y=1.sc x.sc
        shown 01 10 11
        also allowed - / forbidden 00
    x=1.sc y.sc | y=1.sc x.acq
        shown 00 01 10 11
        also allowed - / forbidden -
    x=1.rlx fence.sc y.rlx | y=1.rlx fence.sc x.rlx
        shown 01 10 11
        also allowed - / forbidden 00
    x=1.rlx fence.sc y.rlx | y=1.sc x.sc
        shown 01 10 11
        also allowed - / forbidden 00
    x=1.rlx fence.ar y.rlx | y=1.rlx fence.ar x.rlx
        shown 00 01 10 11
        also allowed - / forbidden -
    ");
}

#[test]
fn message_passing() {
    assert_snapshot!(check(&[
        "x=1.rlx y=1.rlx | y.rlx x.rlx",
        "x=1.rlx y=1.rel | y.acq x.rlx",
        "x=1.rlx y=1.rel | y.rlx x.rlx",
        "x=1.rlx y=1.rlx | y.acq x.rlx",
        "x=1.sc y=1.sc | y.sc x.sc",
        "x=1.rlx fence.rel y=1.rlx | y.rlx fence.acq x.rlx",
        "x=1.rlx fence.rel y=1.rlx | y.acq x.rlx",
        "x=1.rlx y=1.rel | y.rlx fence.acq x.rlx",
        "x=1.rlx fence.acq y=1.rlx | y.rlx fence.rel x.rlx",
        "x=1.rlx y=1.rel | y+0.acq x.rlx",
        "x=1.rlx y=1.rel | y+0.rlx x.rlx",
        "x=1.rlx y=1.rel | y+0.rlx fence.acq x.rlx",
    ]), @r"
    x=1.rlx y=1.rlx | y.rlx x.rlx
        shown 00 01 10 11
        also allowed - / forbidden -
    x=1.rlx y=1.rel | y.acq x.rlx
        shown 00 01 11
        also allowed - / forbidden 10
    x=1.rlx y=1.rel | y.rlx x.rlx
        shown 00 01 10 11
        also allowed - / forbidden -
    x=1.rlx y=1.rlx | y.acq x.rlx
        shown 00 01 10 11
        also allowed - / forbidden -
    x=1.sc y=1.sc | y.sc x.sc
        shown 00 01 11
        also allowed - / forbidden 10
    x=1.rlx fence.rel y=1.rlx | y.rlx fence.acq x.rlx
        shown 00 01 11
        also allowed - / forbidden 10
    x=1.rlx fence.rel y=1.rlx | y.acq x.rlx
        shown 00 01 11
        also allowed - / forbidden 10
    x=1.rlx y=1.rel | y.rlx fence.acq x.rlx
        shown 00 01 11
        also allowed - / forbidden 10
    x=1.rlx fence.acq y=1.rlx | y.rlx fence.rel x.rlx
        shown 00 01 10 11
        also allowed - / forbidden -
    x=1.rlx y=1.rel | y+0.acq x.rlx
        shown 00 01 11
        also allowed - / forbidden 10
    x=1.rlx y=1.rel | y+0.rlx x.rlx
        shown 00 01 10 11
        also allowed - / forbidden -
    x=1.rlx y=1.rel | y+0.rlx fence.acq x.rlx
        shown 00 01 11
        also allowed - / forbidden 10
    ");
}

#[test]
fn load_buffering() {
    assert_snapshot!(check(&[
        "x.rlx y=1.rlx | y.rlx x=1.rlx",
        "x.acq y=1.rel | y.acq x=1.rel",
        "x.sc y=1.sc | y.sc x=1.sc",
    ]), @r"
    x.rlx y=1.rlx | y.rlx x=1.rlx
        shown 00 01 10
        also allowed 11 / forbidden -
    x.acq y=1.rel | y.acq x=1.rel
        shown 00 01 10
        also allowed - / forbidden 11
    x.sc y=1.sc | y.sc x=1.sc
        shown 00 01 10
        also allowed - / forbidden 11
    ");
}

#[test]
fn independent_reads_of_independent_writes() {
    assert_snapshot!(check(&[
        "x=1.rlx | y=1.rlx | x.rlx y.rlx | y.rlx x.rlx",
        "x=1.rel | y=1.rel | x.acq y.acq | y.acq x.acq",
        "x=1.sc | y=1.sc | x.sc y.sc | y.sc x.sc",
        "x=1.rlx | y=1.rlx | x.sc y.sc | y.sc x.sc",
        "x=1.sc | y=1.sc | x.acq y.sc | y.acq x.sc",
        "x=1.rlx | y=1.rlx | x.rlx fence.sc y.rlx | y.rlx fence.sc x.rlx",
    ]), @r"
    x=1.rlx | y=1.rlx | x.rlx y.rlx | y.rlx x.rlx
        shown 0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1010 1011 1100 1101 1110 1111
        also allowed - / forbidden -
    x=1.rel | y=1.rel | x.acq y.acq | y.acq x.acq
        shown 0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1010 1011 1100 1101 1110 1111
        also allowed - / forbidden -
    x=1.sc | y=1.sc | x.sc y.sc | y.sc x.sc
        shown 0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111
        also allowed - / forbidden 1010
    x=1.rlx | y=1.rlx | x.sc y.sc | y.sc x.sc
        shown 0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111
        also allowed - / forbidden 1010
    x=1.sc | y=1.sc | x.acq y.sc | y.acq x.sc
        shown 0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111
        also allowed 1010 / forbidden -
    x=1.rlx | y=1.rlx | x.rlx fence.sc y.rlx | y.rlx fence.sc x.rlx
        shown 0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111
        also allowed - / forbidden 1010
    ");
}

#[test]
fn coherence_of_one_location() {
    assert_snapshot!(check(&[
        "x=1.rlx | x.rlx x.rlx",
        "x=1.rlx x=2.rlx | x.rlx x.rlx",
        "x=1.rlx x=2.rlx | ends",
        "x=1.rlx x.rlx | x=2.rlx",
        "x.rlx x=1.rlx | x=2.rlx | ends",
        "x=1.sc | x=2.sc | x.sc x.sc",
    ]), @r"
    x=1.rlx | x.rlx x.rlx
        shown 00 01 11
        also allowed - / forbidden 10
    x=1.rlx x=2.rlx | x.rlx x.rlx
        shown 00 01 02 11 12 22
        also allowed - / forbidden 10 20 21
    x=1.rlx x=2.rlx | ends
        shown x2
        also allowed - / forbidden x1
    x=1.rlx x.rlx | x=2.rlx
        shown 1 2
        also allowed - / forbidden 0
    x.rlx x=1.rlx | x=2.rlx | ends
        shown 0x1 0x2 2x1
        also allowed - / forbidden 1x1 1x2 2x2
    x=1.sc | x=2.sc | x.sc x.sc
        shown 00 01 02 11 12 21 22
        also allowed - / forbidden 10 20
    ");
}

/// Two readers agree on the order of two stores.
#[test]
fn readers_agree_about_one_location() {
    let program = parse("x=1.rlx | x=2.rlx | x.rlx x.rlx | x.rlx x.rlx");
    let (shown, standard) = (explore(&program, true), outcomes(&program));
    assert!(shown.contains("1212") && shown.contains("0201") && !shown.contains("1221"));
    assert_eq!((&shown, &shown), (&standard.stepwise, &standard.allowed));
}

#[test]
fn two_writes_twice() {
    assert_snapshot!(check(&[
        "x=1.rlx y=2.rlx | y=1.rlx x=2.rlx | ends",
        "x=1.rel y=2.rel | y=1.rel x=2.rel | ends",
        "x=1.sc y=2.sc | y=1.sc x=2.sc | ends",
        "x=1.rlx fence.sc y=2.rlx | y=1.rlx fence.sc x=2.rlx | ends",
    ]), @r"
    x=1.rlx y=2.rlx | y=1.rlx x=2.rlx | ends
        shown x1y2 x2y1 x2y2
        also allowed x1y1 / forbidden -
    x=1.rel y=2.rel | y=1.rel x=2.rel | ends
        shown x1y2 x2y1 x2y2
        also allowed x1y1 / forbidden -
    x=1.sc y=2.sc | y=1.sc x=2.sc | ends
        shown x1y2 x2y1 x2y2
        also allowed - / forbidden x1y1
    x=1.rlx fence.sc y=2.rlx | y=1.rlx fence.sc x=2.rlx | ends
        shown x1y2 x2y1 x2y2
        also allowed - / forbidden x1y1
    ");
}

#[test]
fn writes_are_passed_on() {
    assert_snapshot!(check(&[
        "x=1.rlx | x.rlx y=1.rlx | y.rlx x.rlx",
        "x=1.rlx | x.rlx y=1.rel | y.acq x.rlx",
        "x=1.rel | x.acq y=1.rel | y.acq x.acq",
        "x=1.sc | x.sc y=1.sc | y.sc x.sc",
    ]), @r"
    x=1.rlx | x.rlx y=1.rlx | y.rlx x.rlx
        shown 000 001 010 011 100 101 110 111
        also allowed - / forbidden -
    x=1.rlx | x.rlx y=1.rel | y.acq x.rlx
        shown 000 001 010 011 100 101 111
        also allowed - / forbidden 110
    x=1.rel | x.acq y=1.rel | y.acq x.acq
        shown 000 001 010 011 100 101 111
        also allowed - / forbidden 110
    x=1.sc | x.sc y=1.sc | y.sc x.sc
        shown 000 001 010 011 100 101 111
        also allowed - / forbidden 110
    ");
}

#[test]
fn release_sequences() {
    assert_snapshot!(check(&[
        "x=1.rlx y=1.rel | y+1.rlx | y.acq x.rlx",
        "x=1.rlx y=1.rel y=2.rlx | y.acq x.rlx",
        "x=1.rlx y=1.rel | y=2.rlx | y.acq x.rlx",
        "x=1.rlx fence.rel y=1.rlx | y+1.rlx | y.acq x.rlx",
    ]), @r"
    x=1.rlx y=1.rel | y+1.rlx | y.acq x.rlx
        shown 000 001 010 011 100 101 111 121
        also allowed - / forbidden 110 120
    x=1.rlx y=1.rel y=2.rlx | y.acq x.rlx
        shown 00 01 11 20 21
        also allowed - / forbidden 10
    x=1.rlx y=1.rel | y=2.rlx | y.acq x.rlx
        shown 00 01 11 20 21
        also allowed - / forbidden 10
    x=1.rlx fence.rel y=1.rlx | y+1.rlx | y.acq x.rlx
        shown 000 001 010 011 100 101 111 121
        also allowed - / forbidden 110 120
    ");
}

#[test]
fn updates_are_atomic() {
    assert_snapshot!(check(&[
        "x+1.rlx | x+1.rlx | ends",
        "x+1.rlx | x+1.rlx | x+1.rlx | ends",
        "x+1.rlx | x=5.rlx | ends",
        "x+1.rlx y.rlx | y+1.rlx x.rlx",
        "x+1.sc y.sc | y+1.sc x.sc",
        "x+1.ar y+0.ar | y+1.ar x+0.ar",
    ]), @r"
    x+1.rlx | x+1.rlx | ends
        shown 01x2 10x2
        also allowed - / forbidden -
    x+1.rlx | x+1.rlx | x+1.rlx | ends
        shown 012x3 021x3 102x3 120x3 201x3 210x3
        also allowed - / forbidden -
    x+1.rlx | x=5.rlx | ends
        shown 0x5 5x6
        also allowed - / forbidden -
    x+1.rlx y.rlx | y+1.rlx x.rlx
        shown 0000 0001 0100 0101
        also allowed - / forbidden -
    x+1.sc y.sc | y+1.sc x.sc
        shown 0001 0100 0101
        also allowed - / forbidden 0000
    x+1.ar y+0.ar | y+1.ar x+0.ar
        shown 0001 0100 0101
        also allowed - / forbidden 0000
    ");
}

/// The operation after a fence can be another thread's.
#[test]
fn fences_are_passed_on() {
    assert_snapshot!(check(&[
        "x=1.sc z.sc | z=1.rlx fence.sc y=1.rel | y.acq x.rlx",
        "x=1.sc z.sc | z=1.rlx fence.sc y=1.rlx | y.acq x.rlx",
        "x=1.sc z.sc | z=1.rlx fence.sc y=1.rlx | y.rlx x.rlx",
        "x=1.rlx fence.sc z.rlx | z=1.rlx fence.sc y=1.rel | y.acq x.rlx",
    ]), @r"
    x=1.sc z.sc | z=1.rlx fence.sc y=1.rel | y.acq x.rlx
        shown 000 001 011 100 101 110 111
        also allowed - / forbidden 010
    x=1.sc z.sc | z=1.rlx fence.sc y=1.rlx | y.acq x.rlx
        shown 000 001 011 100 101 110 111
        also allowed - / forbidden 010
    x=1.sc z.sc | z=1.rlx fence.sc y=1.rlx | y.rlx x.rlx
        shown 000 001 010 011 100 101 110 111
        also allowed - / forbidden -
    x=1.rlx fence.sc z.rlx | z=1.rlx fence.sc y=1.rel | y.acq x.rlx
        shown 000 001 011 100 101 110 111
        also allowed - / forbidden 010
    ");
}

/// A thread that finds the other's flag down enters: both enter if both read 0.
#[test]
fn the_entry_of_dekkers_lock_needs_more_than_release_and_acquire() {
    let both_in = |program: &str| explore(&parse(program), true).contains("00");
    assert!(both_in("x=1.rel y.acq | y=1.rel x.acq"));
    assert!(!both_in("x=1.sc y.sc | y=1.sc x.sc"));
    assert!(!explore(&parse("x=1.rel y.acq | y=1.rel x.acq"), false).contains("00"));
}

/// How many stores thread 2 may read after a store of thread 1 and `between`.
fn readable_after(between: impl Fn(&mut Memory)) -> usize {
    let mut memory = Memory::new();
    memory.thread_created(0, 1);
    memory.thread_created(0, 2);
    memory.store(1, 8, 4, MemoryOrder::Relaxed, 1, 0);
    between(&mut memory);
    memory.readable(2, 8, 4, MemoryOrder::Relaxed, 1)
}

#[test]
fn locks_and_threads_synchronize() {
    assert_eq!(readable_after(|_| ()), 2);
    assert_eq!(readable_after(|memory| memory.synchronize_release(1, 64)), 2);
    assert_eq!(readable_after(|memory| memory.synchronize_acquire(2, 64)), 2);
    let through = |object| {
        readable_after(|memory| {
            memory.synchronize_release(1, 64);
            memory.synchronize_acquire(2, object);
        })
    };
    assert_eq!((through(64), through(72)), (1, 2));
    assert_eq!(readable_after(|memory| memory.thread_joined(2, 1)), 1);
    assert_eq!(readable_after(|memory| memory.acquire_from_all(2)), 1);
    assert_eq!(readable_after(|memory| memory.acquire_from_all(1)), 2);
    let after_release_to_all = |order| {
        readable_after(|memory| {
            memory.release_to_all(1);
            memory.load(2, 64, 4, order, 0, 0);
        })
    };
    assert_eq!(after_release_to_all(MemoryOrder::Acquire), 1);
    assert_eq!(after_release_to_all(MemoryOrder::Relaxed), 2);
    assert_eq!(readable_after(|memory| memory.thread_created(1, 2)), 1);
}

#[test]
fn histories_end_if_memory_changed_unobserved() {
    assert_eq!(readable_after(|memory| memory.forget(0, 8)), 2);
    assert_eq!(readable_after(|memory| memory.forget(12, 8)), 2);
    assert_eq!(readable_after(|memory| memory.forget(0, 9)), 1);
    assert_eq!(readable_after(|memory| memory.forget(11, 1)), 1);
    assert_eq!(readable_after(|memory| memory.clear()), 1);
    let other_size = |address| {
        readable_after(|memory| {
            memory.readable(1, address, 2, MemoryOrder::Relaxed, 0);
        })
    };
    assert_eq!((other_size(6), other_size(10), other_size(12)), (2, 1, 2));

    let mut memory = Memory::new();
    memory.store(1, 8, 4, MemoryOrder::Relaxed, 1, 0);
    assert_eq!(memory.readable(2, 8, 4, MemoryOrder::Relaxed, 7), 1);
    assert_eq!(memory.load(2, 8, 4, MemoryOrder::Relaxed, 0, 7), 7);
}

/// What uninstrumented code has released is unknown.
#[test]
fn unobserved_stores_release_everything() {
    let acquiring = |before| {
        readable_after(|memory| {
            memory.store(1, 64, 4, MemoryOrder::Relaxed, 1, 0);
            memory.load(2, 64, 4, MemoryOrder::Acquire, 0, before);
        })
    };
    assert_eq!((acquiring(1), acquiring(7)), (2, 1));
}

#[test]
fn histories_are_bounded() {
    let mut memory = Memory::new();
    (0..100).for_each(|value| memory.store(1, 8, 4, MemoryOrder::Relaxed, value + 1, value));
    assert_eq!(memory.readable(2, 8, 4, MemoryOrder::Relaxed, 100), LONGEST);
    assert_eq!(memory.load(2, 8, 4, MemoryOrder::Relaxed, LONGEST - 1, 100), 101 - LONGEST as u128);
}

#[test]
fn a_waiting_thread_sees_a_store_eventually() {
    let mut memory = Memory::new();
    memory.store(1, 8, 4, MemoryOrder::Relaxed, 1, 0);
    for _ in 0..PATIENCE {
        assert_eq!(memory.readable(2, 8, 4, MemoryOrder::Relaxed, 1), 2);
        assert_eq!(memory.load(2, 8, 4, MemoryOrder::Relaxed, 1, 1), 0);
    }
    assert_eq!(memory.readable(2, 8, 4, MemoryOrder::Relaxed, 1), 1);
}

/// Programs of at most three threads and two locations.
fn any_program(orders: &'static [MemoryOrder]) -> impl Strategy<Value = Program> {
    use Action::*;
    let action = prop_oneof![3 => Just(Load), 3 => (1..3u128).prop_map(Store), 1 => Just(Add(4)), 2 => Just(Fence)];
    let op = (action, 0..2usize, prop::sample::select(orders)).prop_map(|(action, location, order)| Op {
        action,
        location,
        order,
    });
    let threads = prop_oneof![
        prop::collection::vec(prop::collection::vec(op.clone(), 1..4), 2),
        prop::collection::vec(prop::collection::vec(op, 1..3), 3),
    ];
    threads.prop_map(|threads| Program { threads, shows_ends: true })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn what_is_shown_is_what_the_rules_say(
        program in any_program(&[
            MemoryOrder::Relaxed,
            MemoryOrder::Acquire,
            MemoryOrder::Release,
            MemoryOrder::AcquireRelease,
            MemoryOrder::SequentiallyConsistent,
        ])
    ) {
        let (shown, standard) = (explore(&program, true), outcomes(&program));
        prop_assert!(standard.stepwise.is_subset(&standard.allowed));
        prop_assert_eq!(shown, standard.stepwise);
    }

    #[test]
    fn sequentially_consistent_programs_interleave(program in any_program(&[MemoryOrder::SequentiallyConsistent])) {
        let shown = explore(&program, true);
        prop_assert_eq!(&shown, &explore(&program, false));
        prop_assert_eq!(shown, outcomes(&program).allowed);
    }
}

#[test]
fn what_a_returned_operation_did_is_read() {
    const PLACE: u64 = 64;
    let readable = |memory: &mut Memory, thread| memory.readable(thread, PLACE, 4, MemoryOrder::Relaxed, 1);
    for is_fresh in [false, true] {
        let mut memory = Memory::new();
        memory.is_fresh = is_fresh;
        memory.store(0, PLACE, 4, MemoryOrder::Relaxed, 1, 0);
        memory.operation_returned(1);
        assert_eq!(readable(&mut memory, 1), 2);
        memory.operation_returned(0);
        assert_eq!(readable(&mut memory, 1), if is_fresh { 1 } else { 2 });
        // It is no synchronization.
        assert!(!memory.happened_before(0, 1, 1));
    }
}

#[test]
fn what_one_thread_has_read_is_read_by_all() {
    const PLACE: u64 = 64;
    let order = MemoryOrder::Relaxed;
    for is_fresh in [false, true] {
        let mut memory = Memory::new();
        memory.is_fresh = is_fresh;
        memory.store(0, PLACE, 4, order, 1, 0);
        assert_eq!(memory.readable(2, PLACE, 4, order, 1), 2);
        assert_eq!(memory.load(1, PLACE, 4, order, 0, 1), 1);
        assert_eq!(memory.readable(2, PLACE, 4, order, 1), if is_fresh { 1 } else { 2 });
        memory.update(0, PLACE, 4, order, 2, 1);
        assert_eq!(memory.readable(2, PLACE, 4, order, 2), if is_fresh { 1 } else { 3 });
    }
}

/// Store buffering with updates of other places between store and load, as crossbeam has it on x86.
#[test]
fn a_sequentially_consistent_update_orders_as_a_fence() {
    const PLACES: [u64; 2] = [64, 128];
    for is_fresh in [false, true] {
        let mut memory = Memory::new();
        memory.is_fresh = is_fresh;
        for (thread, place) in PLACES.into_iter().enumerate() {
            memory.store(thread, place, 4, MemoryOrder::Relaxed, 1, 0);
            memory.update(thread, 256 + place, 4, MemoryOrder::SequentiallyConsistent, 1, 0);
        }
        assert_eq!(memory.readable(1, PLACES[0], 4, MemoryOrder::Relaxed, 1), if is_fresh { 1 } else { 2 });
        // The update of the first thread came first.
        assert_eq!(memory.readable(0, PLACES[1], 4, MemoryOrder::Relaxed, 1), 2);
    }
}

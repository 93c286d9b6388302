//! The steps of an execution for the user: a column for each thread, with lines of the program and values.
//!
//! Times of a trace are numbers of steps, so each operation is found by the step that calls it, and each thread by its
//! operations: threads have the names of their processes. Lines come from debug information, and are read from the
//! sources if they are still there.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use omnilink_explore::{DataRace, Ending, Execution};
use omnilink_history::{Call, History, OpId};
use omnilink_report::{Excerpt, InterleavedStep, Interleaving, StepKind};
use omnilink_schedule::channel::{Pending, Standing};
use omnilink_schedule::{Kind, Step, dependent};

use crate::Harness;

/// The steps of an execution inside operations, or all of them if it has no history. Operations of these names are marked
/// where they end. The sources are those of the steps, of waiting threads and of a data race.
pub fn interleaving(
    harness: &Harness,
    execution: &Execution,
    history: Option<&History<Call>>,
    blamed: &[String],
    race: Option<&DataRace>,
) -> Interleaving {
    let empty = History::from_ops(Arc::new([]), Vec::new());
    let (history, shows_all) = (history.unwrap_or(&empty), history.is_none());
    let mut sources = Sources { harness, base: execution.base, files: HashMap::new(), objects: HashMap::new() };
    let inside = Inside::of(&execution.steps, history);
    let meets = meeting(&execution.steps, &inside, history, shows_all);
    let names: BTreeMap<u8, String> = match shows_all {
        true => execution.steps.iter().map(|step| (step.thread, thread_name(step.thread))).collect(),
        false => inside.threads(&execution.steps, history),
    };
    let columns: BTreeMap<u8, usize> = names.keys().copied().zip(0..).collect();
    let mut steps = Vec::new();
    for (index, step) in execution.steps.iter().enumerate() {
        let Some(&thread) = columns.get(&step.thread).filter(|_| shows_all || inside.0[index].is_some()) else {
            continue;
        };
        let (kind, shown) = match (step.kind(), inside.0[index]) {
            (Some(Kind::Call), Some(id)) => (StepKind::Call, Shown::text(call_text(history, id, false))),
            (Some(Kind::Return), Some(id)) => (StepKind::Return, Shown::text(call_text(history, id, true))),
            _ => (StepKind::Inside, sources.show(step)),
        };
        let is_blamed = |id: OpId| blamed.contains(&history.name(id));
        let fails = kind == StepKind::Return && inside.0[index].is_some_and(is_blamed);
        let (preempts, meets) = (is_preemption(&execution.steps, index), meets[index]);
        let Shown { text, does, value, place, function } = shown;
        let number = index as u64 + 1;
        steps.push(InterleavedStep {
            number,
            thread,
            kind,
            text,
            does,
            value,
            place,
            function,
            preempts,
            needed: false,
            meets,
            fails,
        });
    }
    let is_stuck = matches!(execution.ended, Ending::Deadlock | Ending::Livelock | Ending::TimedOut);
    let waits = if is_stuck { sources.waits(execution, &names) } else { Vec::new() };
    let raced = race.iter().flat_map(|race| &race.accesses).flat_map(|access| &access.stack);
    let places = steps.iter().filter_map(|step| step.place.as_deref());
    let ends = waits.iter().chain(raced).filter_map(|text| Some(text.rsplit_once(" at ")?.1));
    let excerpts = sources.excerpts(places.chain(ends));
    Interleaving {
        threads: names.values().cloned().collect(),
        steps,
        total: execution.steps.len() as u64,
        waits,
        preemptions: (0..execution.steps.len()).filter(|index| is_preemption(&execution.steps, *index)).count() as u64,
        necessary: None,
        sources: excerpts,
    }
}

/// Whether the step before it is of another thread, which could have continued.
pub(crate) fn is_preemption(steps: &[Step], index: usize) -> bool {
    let Some(before) = index.checked_sub(1).map(|before| &steps[before]) else { return false };
    before.thread != steps[index].thread && !steps[index].has(Step::FREE)
}

/// The operation that each step is part of.
pub(crate) struct Inside(Vec<Option<OpId>>);

impl Inside {
    pub(crate) fn of(steps: &[Step], history: &History<Call>) -> Inside {
        let ids = (0..history.ops().len() as u32).map(OpId);
        let starts: HashMap<u64, OpId> = ids.map(|id| (history.op(id).called(), id)).collect();
        let mut current: HashMap<u8, OpId> = HashMap::new();
        let inside = steps.iter().zip(1..).map(|(step, number)| match step.kind() {
            Some(Kind::Call) => {
                let id = *starts.get(&number)?;
                current.insert(step.thread, id);
                Some(id)
            }
            Some(Kind::Return) => current.remove(&step.thread),
            _ => current.get(&step.thread).copied(),
        });
        Inside(inside.collect())
    }

    /// The operation that a thread executes after this many of these steps.
    pub(crate) fn at(&self, steps: &[Step], after: u64, thread: u8) -> Option<OpId> {
        let last = steps.get(..after as usize)?.iter().rposition(|step| step.thread == thread)?;
        self.0[last].filter(|_| steps[last].kind() != Some(Kind::Return))
    }

    /// The threads that make operations, with the names of their processes.
    fn threads(&self, steps: &[Step], history: &History<Call>) -> BTreeMap<u8, String> {
        let named = steps.iter().zip(&self.0).filter_map(|(step, id)| {
            let name = history.name((*id)?);
            Some((step.thread, name.rsplit_once(':').map_or(name.clone(), |(process, _)| process.to_owned())))
        });
        named.collect()
    }
}

/// The name of a thread that makes no operations.
fn thread_name(thread: u8) -> String {
    if thread == 0 { "main".to_owned() } else { format!("#{thread}") }
}

/// An operation: its call, or its results too.
fn call_text(history: &History<Call>, id: OpId, is_over: bool) -> String {
    let call = &history.op(id).call;
    if is_over { call.to_string() } else { call.without_results().to_string() }
}

/// Which accesses follow a conflicting access of another thread, or are followed by one, in operations that overlap.
fn meeting(steps: &[Step], inside: &Inside, history: &History<Call>, shows_all: bool) -> Vec<bool> {
    let mut meets = vec![false; steps.len()];
    // The accesses to an address since its last write, that one included.
    let mut last: HashMap<u64, Vec<usize>> = HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        let is_access = matches!(step.kind(), Some(Kind::Load | Kind::Store | Kind::Update | Kind::Read | Kind::Write));
        let id = inside.0[index];
        if !is_access || !(shows_all || id.is_some()) {
            continue;
        }
        let earlier = last.entry(step.address).or_default();
        for &other in earlier.iter() {
            let overlaps = id.zip(inside.0[other]).map_or(shows_all, |(a, b)| {
                let (a, b) = (history.op(a), history.op(b));
                a.interval.end().is_none_or(|end| end >= b.called())
                    && b.interval.end().is_none_or(|end| end >= a.called())
            });
            if steps[other].thread != step.thread && overlaps && dependent(&steps[other], step) {
                (meets[other], meets[index]) = (true, true);
            }
        }
        if step.has(Step::WRITES) {
            earlier.clear();
        }
        earlier.push(index);
    }
    meets
}

/// The last place where an access of one thread came between two of an operation of another thread, and all of them meet
/// others: `main.rs:39 between main.rs:38 and main.rs:43 of another thread`. `None` without debug information.
pub(crate) fn meeting_places(harness: &Harness, execution: &Execution, history: &History<Call>) -> Option<String> {
    let inside = Inside::of(&execution.steps, history);
    let meets = meeting(&execution.steps, &inside, history, false);
    let places = between(&execution.steps, &inside, &meets)?.map(|index| execution.steps[index].place);
    let symbols = places.map(|place| harness.symbolize(execution.base, &[place]).pop());
    let [middle, before, after] = symbols.map(|symbol| {
        let (_, place) = symbol.as_deref()?.rsplit_once(" at ")?;
        Some(place.rsplit_once('/').map_or(place, |(_, file)| file).to_owned())
    });
    Some(format!("{} between {} and {} of another thread", middle?, before?, after?))
}

/// The indices of such an access, of the one before it and of the one after it.
fn between(steps: &[Step], inside: &Inside, meets: &[bool]) -> Option<[usize; 3]> {
    let met: Vec<usize> = (0..steps.len()).filter(|index| meets[*index] && inside.0[*index].is_some()).collect();
    met.iter().enumerate().rev().find_map(|(place, &middle)| {
        let is_other = |index: &&usize| steps[**index].thread != steps[middle].thread;
        let (&before, mut later) = (met[..place].iter().rfind(is_other)?, met[place + 1..].iter());
        let after = later.find(|after| inside.0[**after] == inside.0[before])?;
        Some([middle, before, *after])
    })
}

/// Finds lines of the program.
struct Sources<'a> {
    harness: &'a Harness,
    base: u64,
    /// The lines of each file; none if it cannot be read.
    files: HashMap<String, Vec<String>>,
    /// Numbers of locks and other objects, in the order of their first use.
    objects: HashMap<u64, usize>,
}

/// A step as text.
struct Shown {
    text: String,
    does: String,
    value: Option<String>,
    place: Option<String>,
    function: Option<String>,
}

impl Shown {
    fn text(text: String) -> Shown {
        Shown { text, does: String::new(), value: None, place: None, function: None }
    }
}

impl Sources<'_> {
    fn show(&mut self, step: &Step) -> Shown {
        let is_access = matches!(step.kind(), Some(Kind::Load | Kind::Store | Kind::Update | Kind::Read | Kind::Write));
        let mut does = if is_access { step.kind().map_or("", Kind::word).to_owned() } else { self.does(step) };
        if matches!(step.kind(), Some(Kind::TryLock | Kind::TryShare)) && !step.has(Step::WRITES) {
            does += ", which is taken";
        }
        let symbol = self.harness.symbolize(self.base, &[step.place]).pop().filter(|_| step.place != 0);
        let (function, place) = match symbol.as_deref().map(|symbol| symbol.rsplit_once(" at ").ok_or(symbol)) {
            Some(Ok((function, place))) => (Some(function.to_owned()), Some(place.to_owned())),
            Some(Err(function)) => (Some(function.to_owned()), None),
            None => (None, None),
        };
        let text = place.as_deref().and_then(|place| self.line(place)).unwrap_or_default();
        Shown { text, does, value: value(step), place, function }
    }

    /// The line at a place such as `src/main.rs:38`.
    fn line(&mut self, place: &str) -> Option<String> {
        let (file, number) = file_and_line(place)?;
        let line = self.lines(file).get(number - 1)?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    fn lines(&mut self, file: &str) -> &[String] {
        let directory = &self.harness.program.directory;
        let read =
            || std::fs::read_to_string(directory.join(file)).unwrap_or_default().lines().map(str::to_owned).collect();
        self.files.entry(file.to_owned()).or_insert_with(read)
    }

    /// The parts of the user's files that contain these places.
    fn excerpts<'p>(&mut self, places: impl Iterator<Item = &'p str>) -> Vec<Excerpt> {
        let mut ranges: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (file, number) in places.filter_map(file_and_line).filter(|(file, _)| is_of_user(file)) {
            let (first, last) = ranges.entry(file).or_insert((number, number));
            (*first, *last) = ((*first).min(number), (*last).max(number));
        }
        let excerpts = ranges.into_iter().map(|(file, (first, last))| {
            let first = first.saturating_sub(AROUND).max(1);
            let lines = self.lines(file).iter().skip(first - 1).take((last + AROUND + 1 - first).min(EXCERPT));
            Excerpt { path: file.to_owned(), first, lines: lines.cloned().collect() }
        });
        excerpts.filter(|excerpt| !excerpt.lines.is_empty()).collect()
    }

    /// The text of a step, with the number of its object.
    fn does(&mut self, step: &Step) -> String {
        let word = step.kind().map_or("takes an unknown step", Kind::word);
        if step.address == 0 {
            return word.to_owned();
        }
        let next = self.objects.len() + 1;
        format!("{word} #{}", self.objects.entry(step.address).or_insert(next))
    }

    /// The object that each unfinished thread waits for, and the thread that holds it.
    fn waits(&mut self, execution: &Execution, names: &BTreeMap<u8, String>) -> Vec<String> {
        let name = |thread: u8| names.get(&thread).cloned().unwrap_or_else(|| thread_name(thread));
        let mut holders: HashMap<u64, u8> = HashMap::new();
        for step in &execution.steps {
            match step.kind() {
                Some(Kind::TryLock) if !step.has(Step::WRITES) => {}
                Some(Kind::Lock | Kind::TryLock) => _ = holders.insert(step.address, step.thread),
                Some(Kind::Unlock) => _ = holders.remove(&step.address),
                _ => {}
            }
        }
        let mut waits = Vec::new();
        for (thread, pending) in execution.pending.iter().enumerate() {
            let Pending { step, standing, depth, stack } = pending;
            if !matches!(Standing::from_number(*standing), Some(Standing::Alive | Standing::Spinning)) {
                continue;
            }
            let holder = holders.get(&step.address).filter(|_| matches!(step.kind(), Some(Kind::Lock | Kind::Share)));
            let held = holder.map(|holder| format!(", held by {}", name(*holder))).unwrap_or_default();
            let stack = &stack[..(*depth as usize).min(stack.len())];
            let place = self.harness.symbolize(self.base, stack).into_iter().find(|line| line.contains(" at "));
            let place =
                place.as_deref().and_then(|line| line.rsplit_once(" at ")).map(|(_, place)| format!(" at {place}"));
            waits.push(format!("{} {}{held}{}", name(thread as u8), self.does(step), place.unwrap_or_default()));
        }
        waits
    }
}

/// The lines of a file before and after those that matter.
const AROUND: usize = 6;

/// The most lines of a file.
const EXCERPT: usize = 600;

/// The file and the line of a place.
fn file_and_line(place: &str) -> Option<(&str, usize)> {
    let (file, number) = place.rsplit_once(':')?;
    number.parse().ok().filter(|number| *number > 0).map(|number| (file, number))
}

/// Whether the user wrote a file: neither a standard library, nor the recorder, nor the harness made from a specification.
fn is_of_user(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or_default();
    let is_made = matches!(name, "operations.hpp" | "operations.rs");
    let others = ["/usr/", "/rustc/", "/rustlib/", "include/omnilink/", "omnilink-record", "crates/record/"];
    !is_made && !others.iter().any(|other| file.contains(other))
}

/// The value of an access, as the program may have written it; an address in hexadecimal.
fn value(step: &Step) -> Option<String> {
    let reads = matches!(step.kind(), Some(Kind::Load | Kind::Store | Kind::Update | Kind::Read));
    reads.then_some(())?;
    let signed = match step.size {
        1 => i64::from(step.value as i8),
        2 => i64::from(step.value as i16),
        4 => i64::from(step.value as i32),
        8 => step.value as i64,
        _ => return None,
    };
    let is_small = (-1 << 31..1 << 32).contains(&signed);
    let value = if is_small { signed.to_string() } else { format!("{:#x}", step.value) };
    let is_unchanged = step.kind() == Some(Kind::Update) && !step.has(Step::WRITES);
    Some(if is_unchanged { format!("{value}, unchanged") } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(thread: u8, kind: Kind, address: u64, flags: u32) -> Step {
        Step { thread, kind: kind as u8, address, size: 8, flags, ..Step::default() }
    }

    #[test]
    fn conflicting_accesses_of_overlapping_operations_meet() {
        let steps = [
            step(1, Kind::Call, 0, 0),
            step(1, Kind::Load, 8, 0),
            step(2, Kind::Call, 0, 0),
            step(2, Kind::Store, 8, Step::WRITES),
            step(2, Kind::Load, 16, 0),
            step(1, Kind::Return, 0, 0),
            step(1, Kind::Call, 0, 0),
            step(1, Kind::Store, 16, Step::WRITES),
        ];
        let call = |action: &str| Call::positional(action, [], []);
        let calls = [(0, 1, Some(6), call("a")), (0, 7, None, call("b")), (1, 3, Some(6), call("c"))];
        let history = History::from_calls(calls).unwrap();
        let inside = Inside::of(&steps, &history);
        assert_eq!(meeting(&steps, &inside, &history, false), [false, true, false, true, false, false, false, false]);
        let names = inside.threads(&steps, &history);
        assert_eq!(names.values().collect::<Vec<_>>(), ["T0", "T1"]);
    }

    #[test]
    fn an_access_between_two_of_another_thread_is_found() {
        let steps = [
            step(1, Kind::Call, 0, 0),
            step(2, Kind::Call, 0, 0),
            step(1, Kind::Load, 8, 0),
            step(2, Kind::Load, 8, 0),
            step(2, Kind::Store, 8, Step::WRITES),
            step(1, Kind::Store, 8, Step::WRITES),
        ];
        let call = |action: &str| Call::positional(action, [], []);
        let history = History::from_calls([(0, 1, None, call("a")), (1, 2, None, call("b"))]).unwrap();
        let inside = Inside::of(&steps, &history);
        let meets = meeting(&steps, &inside, &history, false);
        assert_eq!(between(&steps, &inside, &meets), Some([4, 2, 5]));
        // One after the other: no access comes between.
        let serial = [steps[0], steps[2], steps[5], steps[1], steps[3], steps[4]];
        let inside =
            Inside::of(&serial, &History::from_calls([(0, 1, None, call("a")), (1, 4, None, call("b"))]).unwrap());
        assert_eq!(between(&serial, &inside, &[true; 6]), None);
    }

    #[test]
    fn values_are_numbers_or_addresses() {
        let show = |value: u64, size, kind: Kind| {
            super::value(&Step { value, size, ..step(0, kind, 8, 0) }).unwrap_or_default()
        };
        assert_eq!(show(u64::MAX, 8, Kind::Load), "-1");
        assert_eq!(show(0xff, 1, Kind::Store), "-1");
        assert_eq!(show(0x7fff_0000_1234, 8, Kind::Read), "0x7fff00001234");
        assert_eq!(show(3, 4, Kind::Update), "3, unchanged");
        assert_eq!(show(3, 4, Kind::Write), "");
    }

    #[test]
    fn files_of_the_user_are_told_apart() {
        assert_eq!(file_and_line("src/main.rs:38"), Some(("src/main.rs", 38)));
        assert_eq!((file_and_line("main.rs"), file_and_line("main.rs:0")), (None, None));
        let own = ["main.cpp", "src/lib.rs", "../queue/queue.hpp", "/src/queue/queue.hpp"];
        let others = [
            "include/omnilink/drive.hpp",
            "/usr/include/c++/14/mutex",
            "/rustc/1/library/std/sync.rs",
            "operations.hpp",
        ];
        assert!(own.into_iter().all(is_of_user) && !others.into_iter().any(is_of_user));
    }

    #[test]
    fn a_blocked_operation_has_steps_from_its_call() {
        let kinds = [(1, Kind::Call), (2, Kind::Call), (1, Kind::Lock), (2, Kind::Return)];
        let steps = kinds.map(|(thread, kind)| step(thread, kind, 0, 0));
        let text = "T0 [1 ...] take() blocked\nT1 [2 4] add(1)\n";
        let trace = omnilink_history::format::text::read(text.as_bytes()).unwrap();
        let history = History::new(trace).unwrap();
        let inside = Inside::of(&steps, &history);
        let names = inside.0.iter().map(|id| history.name(id.unwrap()));
        assert_eq!(names.collect::<Vec<_>>(), ["T0:0", "T1:0", "T0:0", "T1:0"]);
    }

    #[test]
    fn accesses_belong_to_the_operation_under_way() {
        let kinds = [(1, Kind::Call), (2, Kind::Call), (1, Kind::Load), (1, Kind::Return)];
        let steps = kinds.map(|(thread, kind)| step(thread, kind, 0, 0));
        let call = |action: &str| Call::positional(action, [], []);
        let history = History::from_calls([(0, 1, Some(4), call("a")), (1, 2, None, call("b"))]).unwrap();
        let inside = Inside::of(&steps, &history);
        let at = |after, thread| inside.at(&steps, after, thread).map(|id| history.name(id));
        assert_eq!((at(3, 1), at(3, 2)), (Some("T0:0".to_owned()), Some("T1:0".to_owned())));
        assert_eq!((at(4, 1), at(1, 2)), (None, None));
    }
}

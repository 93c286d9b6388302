//! One schedule of every class of schedules that differ only in the order of independent steps.
//!
//! *Problem.* Exchanging two adjacent independent steps has no observable effect, so nearly all schedules are
//! equivalent to another one. Which steps are dependent is known only once they were taken.
//!
//! *Idea.* Execute any schedule and find its *races*: dependent steps of two threads that nothing else orders. Each
//! race requires an execution in which the second step comes first. It shares the prefix up to the first step of the
//! race, and continues with a thread that takes one of the steps that do not happen after that first step; such a
//! thread, an *initial*, is added to the threads to try there. A thread that was tried *sleeps* in everything tried
//! later at the same node, until a step dependent on its own is taken: up to there, exchanging steps gives an execution
//! already seen. If all enabled threads sleep, the execution is aborted.
//!
//! Vector clocks give the happens-before relation: program order, the order of dependent steps, and their transitive
//! closure. Creation, start, end and join of a thread concern one object and so need no special case. Nor do locks,
//! with one exception: a thread waiting for a lock races with the thread that took it, not with the one that released
//! it. So for steps that can be disabled all earlier steps are examined, not only the last one of each thread, and also
//! the steps that were never taken: deadlocks consist of those.
//!
//! *Invariant.* When a node of the path is left, every class of executions through it was executed, or can begin with a
//! thread that slept there. Choices of the woken thread, and of the store a load reads under weak memory, are tried in
//! full.
//!
//! *Cost.* At least one execution for each class; aborted ones are counted separately. Finding the races of an
//! execution takes time at worst quadratic in its length; only one path is stored.
//!
//! *Assumptions.* Threads influence each other only through steps. Reading a clock is a step, and each thread has its
//! own random numbers. The addresses of allocations depend on the order of allocations, which are not steps: this is
//! assumed to make no difference. Where threads synchronize in uninstrumented code, dependent steps appear independent,
//! and classes are lost silently: if that cannot be ruled out, use [`Dfs`](super::Dfs). Histories are preserved,
//! because a return and a call are dependent. A spinning thread may be held back until another thread writes what it
//! reads, because such a step is dependent on its own. A thread that yielded is held back until another thread takes
//! any step, which may be independent; then more executions may be possible than are explored, and the exploration does
//! not claim to be complete. If the process ends while other threads are enabled, those run first in another execution;
//! ending the process at each of their steps would show only prefixes of that execution.
//!
//! Flanagan and Godefroid: Dynamic partial-order reduction for model checking software. Abdulla, Aronis, Jonsson and
//! Sagonas: Source sets: a foundation for optimal dynamic partial order reduction; initials are from there, and without
//! their wakeup trees some executions are aborted. Godefroid: Partial-order methods for the verification of concurrent
//! systems, for sleep sets. We differ in that a whole execution is analyzed at once and only after the prefix it shares
//! with the previous one, and in that time advances only when no thread is enabled, so that all threads waiting for the
//! same moment are tried. A race is settled by a sleeping thread that is an initial. It would not be enough that the
//! thread's step is independent of those before the reversed race: it might still come after them, where it shows more.

use omnilink_schedule::channel::Pending;
use omnilink_schedule::{Choice, Decision, Kind, Step, dependent, may_be_enabled_together, members};

use super::{Strategy, Tally, exploring, follows, is_held_back, is_whole, step_of, upcoming};
use crate::{Ending, Execution, ExecutionOrder};

/// Explores up to the order of independent steps.
#[derive(Debug, Clone)]
pub struct Dpor {
    order: ExecutionOrder,
    /// The steps of the current execution, with the threads still to try at each.
    path: Vec<Node>,
    /// The order whose outcome is pending.
    asked: Option<ExecutionOrder>,
    tally: Tally,
    /// Whether an execution was lost or stopped.
    left_out: bool,
    held_back: bool,
    has_diverged: bool,
}

/// One step of the path.
#[derive(Debug, Clone)]
struct Node {
    /// The step currently taken here.
    step: Step,
    /// The woken thread and the store read, as decisions.
    choices: Vec<Decision>,
    /// Its vector clock.
    clock: Clock,
    /// The next step of each thread.
    upcoming: Vec<Option<Step>>,
    /// The enabled threads.
    enabled: u64,
    /// The threads tried here, or to be tried.
    to_try: u64,
    /// The threads tried here.
    tried: u64,
    /// The sleep set: threads whose first step from here need not be taken, because everything that follows was seen.
    asleep: u64,
    /// Threads whose exploration from here was cut short: the process ended while others were enabled, or the execution
    /// diverged.
    inconclusive: u64,
}

/// For each thread, the index in the path, plus one, of its last step that happens before a step, itself included.
#[derive(Debug, Clone, Default)]
struct Clock(Vec<usize>);

impl Clock {
    fn of(&self, thread: u8) -> usize {
        self.0.get(usize::from(thread)).copied().unwrap_or(0)
    }

    fn set(&mut self, thread: u8, time: usize) {
        let thread = usize::from(thread);
        if self.0.len() <= thread {
            self.0.resize(thread + 1, 0);
        }
        self.0[thread] = time;
    }

    fn join(&mut self, other: &Clock) {
        for (thread, &time) in other.0.iter().enumerate() {
            if time > self.of(thread as u8) {
                self.set(thread as u8, time);
            }
        }
    }
}

impl Dpor {
    /// Explores all classes.
    pub fn new(order: ExecutionOrder) -> Dpor {
        let order = exploring(order);
        Dpor {
            asked: Some(order.clone()),
            order,
            path: Vec::new(),
            tally: Tally::default(),
            left_out: false,
            held_back: false,
            has_diverged: false,
        }
    }

    /// Moves the path to the next branch, deepest first. Returns `false` if there is none.
    fn advance(&mut self) -> bool {
        while let Some(node) = self.path.last_mut() {
            if node.take_next_option() || node.take_next_thread() {
                return true;
            }
            self.path.pop();
        }
        false
    }

    /// Extends the path by an execution. Returns `false` if it is not the requested one.
    fn extend(&mut self, asked: &ExecutionOrder, execution: &Execution) -> bool {
        if !follows(&asked.follow, &execution.decisions) || execution.steps.len() < self.path.len() {
            return false;
        }
        let known = self.path.len().saturating_sub(1);
        let same = |a: &Step, b: &Step| (a.thread, a.kind, a.address) == (b.thread, b.kind, b.address);
        if !self.path[..known].iter().zip(&execution.steps).all(|(node, step)| same(&node.step, step)) {
            return false;
        }
        let mut choices: Vec<Vec<Decision>> = Vec::new();
        for decision in &execution.decisions {
            match (decision.choice(), choices.last_mut()) {
                (Some(Choice::Thread), _) => choices.push(Vec::new()),
                (_, Some(choices)) => choices.push(*decision),
                (_, None) => return false,
            }
        }
        if choices.len() < execution.steps.len() {
            return false;
        }
        let mut upcoming = upcoming(&execution.steps[known..], &execution.pending);
        for (place, (&step, choices)) in execution.steps.iter().zip(choices).enumerate().skip(known) {
            if let Some(node) = self.path.get_mut(place) {
                (node.step, node.choices) = (step, choices);
            } else {
                let asleep = self.path.last().map_or(0, Node::asleep_after);
                let upcoming = std::mem::take(&mut upcoming[place - known]);
                self.path.push(Node::new(step, choices, upcoming, asleep));
            }
        }
        true
    }

    /// Computes the clocks from an index on, and adds the threads to try because of races.
    fn analyze(&mut self, known: usize, execution: &Execution) {
        let mut places = Places::default();
        for (place, node) in self.path[..known].iter().enumerate() {
            places.push(node.step.thread, place);
        }
        for place in known..self.path.len() {
            let step = self.path[place].step;
            let before = self.clock_before(&places, step.thread);
            self.path[place].clock = self.clock(&places, &step, place, before.clone());
            // Time advances only when no thread is enabled, so a step that times out cannot come sooner.
            if !step.has(Step::TIMED_OUT) {
                self.find_races(&places, &step, &before, place);
            }
            places.push(step.thread, place);
        }
        let asleep = self.path.last().map_or(0, Node::asleep_after);
        for (thread, pending) in execution.pending.iter().enumerate() {
            let Some(step) = step_of(thread, pending) else { continue };
            // The races of a sleeping thread were found when it ran.
            if step.threads() & asleep == 0 {
                let before = self.clock_before(&places, step.thread);
                self.find_races(&places, &step, &before, self.path.len());
            }
        }
    }

    /// If the process ended while other threads were enabled, schedules those first.
    fn delay_end(&mut self, execution: &Execution) {
        let Some(node) = self.path.last_mut() else { return };
        if !matches!(execution.ended, Ending::Finished | Ending::Crashed { .. }) {
            return;
        }
        let could_go_on =
            |&(thread, pending): &(usize, &Pending)| step_of(thread, pending).is_some_and(|step| step.enabled != 0);
        let others = execution.pending.iter().enumerate().filter(could_go_on);
        let others = others.fold(0, |set, (thread, _)| set | 1 << thread) & !node.step.threads();
        let others = others & node.enabled & !node.asleep_after();
        if others != 0 {
            node.to_try |= others;
            node.inconclusive |= node.step.threads();
        }
    }

    /// The clock of a thread's last step.
    fn clock_before(&self, places: &Places, thread: u8) -> Clock {
        places.of(thread).last().map_or_else(Clock::default, |&place| self.path[place].clock.clone())
    }

    /// The clock of a step, after the previous one of its thread and all steps it depends on.
    fn clock(&self, places: &Places, step: &Step, place: usize, before: Clock) -> Clock {
        let mut clock = before;
        for thread in places.threads().filter(|&thread| thread != step.thread) {
            let unordered = places.of(thread).iter().rev().take_while(|&&place| place >= clock.of(thread));
            let depends = |&&place: &&usize| step.has(Step::TIMED_OUT) || dependent(&self.path[place].step, step);
            if let Some(&last) = unordered.into_iter().find(depends) {
                clock.join(&self.path[last].clock);
            }
        }
        clock.set(step.thread, place + 1);
        clock
    }

    /// Finds steps before `place` that race with a step taken or pending there, and adds the threads to try.
    fn find_races(&mut self, places: &Places, step: &Step, before: &Clock, place: usize) {
        let mut races: Vec<usize> = Vec::new();
        for thread in places.threads().filter(|&thread| thread != step.thread) {
            for &first in places.of(thread).iter().rev().take_while(|&&first| first >= before.of(thread)) {
                let other = &self.path[first].step;
                if dependent(other, step) && may_be_enabled_together(other, step) {
                    races.push(first);
                    if !can_be_disabled(step) {
                        break;
                    }
                }
            }
        }
        if !can_be_disabled(step) {
            // Once the later one of two ordered steps is reversed with this one, the other race will be found.
            let happens_before = |a: usize, b: usize| a != b && self.path[b].clock.of(self.path[a].step.thread) > a;
            let shadowed = |a: usize| races.iter().any(|&b| happens_before(a, b));
            races = races.iter().copied().filter(|&a| !shadowed(a)).collect();
        }
        for first in races {
            self.reverse(first, step, place);
        }
    }

    /// Schedules an execution in which `step` comes before the step at `first`.
    fn reverse(&mut self, first: usize, step: &Step, place: usize) {
        let node = &self.path[first];
        let initials = Initials::find(&self.path[first..place], first, step);
        let covered = (node.to_try | node.asleep) & !node.inconclusive;
        if initials.threads & covered != 0 {
            return;
        }
        let possible = initials.threads & node.enabled & !node.inconclusive;
        let more = if possible & step.threads() != 0 {
            step.threads()
        } else if possible != 0 {
            1 << possible.trailing_zeros()
        } else if initials.is_next && node.enabled & step.threads() == 0 {
            // It was pending there, but disabled.
            0
        } else {
            node.enabled
        };
        self.path[first].to_try |= more;
    }
}

impl Strategy for Dpor {
    fn next(&mut self) -> Option<ExecutionOrder> {
        if self.asked.is_none() {
            if !self.advance() {
                return None;
            }
            let decisions = |node: &Node| [Decision::thread(node.step.thread)].into_iter().chain(node.choices.clone());
            let follow = self.path.iter().flat_map(decisions).collect();
            let sleep = self.path.last().map_or(0, Node::asleep_after);
            self.asked = Some(ExecutionOrder { follow, sleep, ..self.order.clone() });
        }
        self.asked.clone()
    }

    fn learn(&mut self, execution: &Execution) {
        let Some(asked) = self.asked.take() else { return };
        self.tally.count(&execution.ended);
        self.held_back |= is_held_back(execution);
        self.left_out |= !is_whole(execution, asked.limit);
        let known = self.path.len().saturating_sub(1);
        if execution.ended != Ending::Diverged && self.extend(&asked, execution) {
            self.analyze(known, execution);
            self.delay_end(execution);
        } else {
            self.left_out = true;
            self.has_diverged |= execution.ended != Ending::TimedOut;
            if let Some(node) = self.path.last_mut() {
                node.inconclusive |= node.step.threads();
            }
        }
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn held_back(&self) -> bool {
        self.held_back
    }

    fn has_diverged(&self) -> bool {
        self.has_diverged
    }

    fn is_complete(&self) -> bool {
        // The path is empty before the first execution and after the last.
        self.asked.is_none() && self.path.is_empty() && !self.left_out && !self.held_back
    }
}

impl Node {
    fn new(step: Step, choices: Vec<Decision>, upcoming: Vec<Option<Step>>, asleep: u64) -> Node {
        let enabled = step.enabled | step.threads();
        // The first thread to time out runs until no thread is enabled, so the choice affects all threads.
        let to_try = if step.has(Step::TIMED_OUT) { enabled } else { step.threads() };
        let clock = Clock::default();
        Node { step, choices, clock, upcoming, enabled, to_try, tried: 0, asleep, inconclusive: 0 }
    }

    /// Takes the next option of the last choice that has one.
    fn take_next_option(&mut self) -> bool {
        let Some(last) = self.choices.iter().rposition(|choice| choice.chosen + 1 < choice.options) else {
            return false;
        };
        self.choices.truncate(last + 1);
        self.choices[last].chosen += 1;
        true
    }

    /// Takes the next thread to try.
    fn take_next_thread(&mut self) -> bool {
        let thread = self.step.threads();
        self.tried |= thread;
        self.asleep |= thread & !self.inconclusive;
        let next = self.to_try & self.enabled & !self.tried & !self.asleep;
        if next == 0 {
            return false;
        }
        let thread = next.trailing_zeros() as u8;
        self.step = self.upcoming(thread);
        self.choices.clear();
        true
    }

    /// The next step of a thread here. An unknown step depends on everything.
    fn upcoming(&self, thread: u8) -> Step {
        let known = self.upcoming.get(usize::from(thread)).copied().flatten();
        let unknown = Step { kind: u8::MAX, ..Step::default() };
        // Timing out is a property of the moment when the step is taken.
        Step { thread, flags: self.step.flags & Step::TIMED_OUT, ..known.unwrap_or(unknown) }
    }

    /// The sleep set after the step.
    fn asleep_after(&self) -> u64 {
        if self.step.has(Step::TIMED_OUT) {
            return 0;
        }
        let sleeps_on = |&thread: &u8| !dependent(&self.upcoming(thread), &self.step);
        members(self.asleep & !self.step.threads()).filter(sleeps_on).fold(0, |set, thread| set | 1 << thread)
    }
}

/// The indices of each thread's steps.
#[derive(Debug, Default)]
struct Places(Vec<Vec<usize>>);

impl Places {
    fn of(&self, thread: u8) -> &[usize] {
        self.0.get(usize::from(thread)).map_or(&[], Vec::as_slice)
    }

    fn threads(&self) -> impl Iterator<Item = u8> + use<> {
        0..self.0.len() as u8
    }

    fn push(&mut self, thread: u8, place: usize) {
        let thread = usize::from(thread);
        if self.0.len() <= thread {
            self.0.resize(thread + 1, Vec::new());
        }
        self.0[thread].push(place);
    }
}

/// How an execution that reverses a race can begin.
struct Initials {
    /// Threads whose next step can come first.
    threads: u64,
    /// Whether the second step of the race is its thread's next one.
    is_next: bool,
}

impl Initials {
    /// Of the steps after the first one that do not happen after it, and the last, those with no predecessor. The first
    /// of `nodes` is the first step of the race, at this index of the path.
    fn find(nodes: &[Node], first: usize, last: &Step) -> Initials {
        let racing = nodes[0].step.thread;
        let mut begun = Clock::default();
        let mut initials = Initials { threads: 0, is_next: true };
        let mut last_is_free = true;
        for (place, node) in nodes.iter().enumerate().skip(1) {
            if node.clock.of(racing) > first {
                continue;
            }
            let place = first + place;
            let thread = node.step.thread;
            if begun.of(thread) == 0 {
                let comes_after = |other: u8| begun.of(other) != 0 && node.clock.of(other) >= begun.of(other);
                if !(0..begun.0.len() as u8).any(comes_after) {
                    initials.threads |= node.step.threads();
                }
                begun.set(thread, place + 1);
            }
            initials.is_next &= thread != last.thread;
            last_is_free &= !dependent(&node.step, last);
        }
        if initials.is_next && last_is_free {
            initials.threads |= last.threads();
        }
        initials
    }
}

/// Whether some state disables such a step.
fn can_be_disabled(step: &Step) -> bool {
    use Kind::*;
    step.kind().is_none_or(|kind| matches!(kind, Start | Join | Lock | Share | Woken | Take | Gate))
}

//! One schedule of every class of schedules that differ only in the order of independent steps.
//!
//! *Problem.* Exchanging two neighboring steps that do not depend on each other changes nothing that anybody can see, so
//! nearly all schedules show what another one has shown. Which steps depend on each other is known only once they were
//! made.
//!
//! *Idea.* Execute any schedule, and look for *races* in it: dependent steps of two threads that nothing else orders.
//! For each race there must be an execution in which the second step comes first. It begins like this one up to the
//! first step of the race, and then with a thread that makes one of the steps that do not come after that first step;
//! such a thread, an *initial*, is noted there to be tried. A thread that was tried *sleeps* in whatever is tried at the
//! same place afterwards, until a step is made that depends on its own: up to there, changing places gives an execution
//! that was seen. If all threads that can go on sleep, the execution is broken off.
//!
//! What happens before what is read off vector clocks: steps of a thread in order, dependent steps in order, and what
//! follows from these. Creation, start, end and join of a thread are about one object and so need no special case. Nor do
//! locks, but for one thing: a thread that waits for a lock races with the one that took it, not with the one that
//! gave it back. So for steps that can be disabled all earlier steps are looked at, not only the last one of each
//! thread, and steps that were never made are looked at too: they are what a deadlock is made of.
//!
//! *Invariant.* When a node of the path is left, every class of executions through it was executed, or one of the
//! threads that slept there can begin it. Whoever is woken, and what a load reads under weak memory, is tried in full.
//!
//! *Cost.* At least one execution for each class; those that were broken off are counted apart. The races of an
//! execution are found in time quadratic in its length at worst; what is kept is one path.
//!
//! *What it takes for granted.* Threads influence each other only through steps. A clock that a thread reads is a step, and
//! random numbers are drawn for each thread alone. Which addresses memory is allocated at depends on the order of
//! allocations, which are not steps: that is taken to make no difference. Where threads synchronize in code that was
//! not instrumented, dependent steps seem independent, and classes are lost without a trace: who cannot rule that out
//! uses [`Dfs`](super::Dfs). Histories are kept, because a return and a call depend on each other. A thread that spins may
//! be held back until somebody writes what it reads, for such a step depends on its own. A thread that yielded is held
//! back until somebody makes any step, which need not; then more may be possible than is explored, and the exploration
//! does not claim to be complete. If the process ends while other threads could go on, they go on first in another
//! execution; ending it at each of their steps would show only beginnings of what is seen then.
//!
//! Flanagan and Godefroid: Dynamic partial-order reduction for model checking software. Abdulla, Aronis, Jonsson and
//! Sagonas: Source sets: a foundation for optimal dynamic partial order reduction; from there are the initials, and
//! without their wakeup trees some executions are broken off. Godefroid: Partial-order methods for the verification of
//! concurrent systems, for sleep sets. We differ in that a whole execution is analyzed at once and only behind the prefix
//! that it shares with the one before, and in that time passes only when nobody can go on, so that all who wait for the
//! same moment are tried. A thread that sleeps and is an initial settles a race. It would not be enough that its step
//! depends on none of those that come before the turned race: it might still come after them, where it shows more.

use schedule::channel::{Pending, Standing};
use schedule::{Choice, Decision, Kind, Step, dependent, may_be_enabled_together, members};

use super::{Strategy, Tally, exploring, follows, is_held_back, is_whole};
use crate::{Ending, Execution, Order};

/// Explores up to the order of independent steps.
#[derive(Debug, Clone)]
pub struct Dpor {
    order: Order,
    /// The steps of the execution that is extended or changed next, with what is still to be tried at each.
    path: Vec<Node>,
    /// The order that nothing was learnt about yet.
    asked: Option<Order>,
    tally: Tally,
    /// Something was lost or given up.
    left_out: bool,
    held_back: bool,
}

/// One step of the path.
#[derive(Debug, Clone)]
struct Node {
    /// The step that is made here at the moment.
    step: Step,
    /// Whom it wakes, and what it reads.
    choices: Vec<Decision>,
    /// When it happens.
    clock: Clock,
    /// What each thread is about to do.
    upcoming: Vec<Option<Step>>,
    /// Who could go on.
    enabled: u64,
    /// Who is or was tried here, or is to be.
    to_try: u64,
    /// Who was tried here.
    tried: u64,
    /// Whose first step from here need not be made: all that can follow was seen.
    asleep: u64,
    /// Who was tried here and showed nothing of what follows: the process ended though others could go on, or it went
    /// another way.
    in_vain: u64,
}

/// How far each thread has come in what happens before a step, itself included: the place of the thread's last step in
/// the path, plus one.
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
    /// Explores everything.
    pub fn new(order: Order) -> Dpor {
        let order = exploring(order);
        Dpor {
            asked: Some(order.clone()),
            order,
            path: Vec::new(),
            tally: Tally::default(),
            left_out: false,
            held_back: false,
        }
    }

    /// Turns the path to the next branch, deepest first. False if there is none.
    fn turn(&mut self) -> bool {
        while let Some(node) = self.path.last_mut() {
            if node.choose_otherwise() || node.try_another() {
                return true;
            }
            self.path.pop();
        }
        false
    }

    /// Takes over what was executed. False if it is not what was asked for.
    fn extend(&mut self, asked: &Order, execution: &Execution) -> bool {
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

    /// Orders the steps from a place on, and notes what is to be tried because of their races.
    fn analyze(&mut self, known: usize, execution: &Execution) {
        let mut places = Places::default();
        for (place, node) in self.path[..known].iter().enumerate() {
            places.push(node.step.thread, place);
        }
        for place in known..self.path.len() {
            let step = self.path[place].step;
            let before = self.clock_before(&places, step.thread);
            self.path[place].clock = self.clock(&places, &step, place, before.clone());
            // Time passes when nobody can go on, so what it ends cannot come sooner.
            if !step.has(Step::TIMED_OUT) {
                self.find_races(&places, &step, &before, place);
            }
            places.push(step.thread, place);
        }
        let asleep = self.path.last().map_or(0, Node::asleep_after);
        for (thread, pending) in execution.pending.iter().enumerate() {
            let Some(step) = step_of(pending) else { continue };
            let step = Step { thread: thread as u8, ..*step };
            // What a thread that sleeps races with was found when it went on.
            if step.threads() & asleep == 0 {
                let before = self.clock_before(&places, step.thread);
                self.find_races(&places, &step, &before, self.path.len());
            }
        }
    }

    /// If the process ended though others could go on, these are to go on first.
    fn delay_end(&mut self, execution: &Execution) {
        let Some(node) = self.path.last_mut() else { return };
        if !matches!(execution.ended, Ending::Finished | Ending::Crashed { .. }) {
            return;
        }
        let could_go_on = |(_, pending): &(usize, &Pending)| step_of(pending).is_some_and(|step| step.enabled != 0);
        let others = execution.pending.iter().enumerate().filter(could_go_on);
        let others = others.fold(0, |set, (thread, _)| set | 1 << thread) & !node.step.threads();
        let others = others & node.enabled & !node.asleep_after();
        if others != 0 {
            node.to_try |= others;
            node.in_vain |= node.step.threads();
        }
    }

    /// When the last step of a thread happened.
    fn clock_before(&self, places: &Places, thread: u8) -> Clock {
        places.of(thread).last().map_or_else(Clock::default, |&place| self.path[place].clock.clone())
    }

    /// When a step happens, after the one of the same thread and all that it depends on.
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

    /// Looks for steps before `place` that race with a step which is made there or was about to be, and notes what is to
    /// be tried.
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
            // Once the later one of two ordered steps has changed places with this one, the other will be found.
            let happens_before = |a: usize, b: usize| a != b && self.path[b].clock.of(self.path[a].step.thread) > a;
            let shadowed = |a: usize| races.iter().any(|&b| happens_before(a, b));
            races = races.iter().copied().filter(|&a| !shadowed(a)).collect();
        }
        for first in races {
            self.reverse(first, step, place);
        }
    }

    /// Sees to it that an execution will be tried in which `step` comes before the step at `first`.
    fn reverse(&mut self, first: usize, step: &Step, place: usize) {
        let node = &self.path[first];
        let initials = Initials::find(&self.path[first..place], first, step);
        let covered = (node.to_try | node.asleep) & !node.in_vain;
        if initials.threads & covered != 0 {
            return;
        }
        let possible = initials.threads & node.enabled & !node.in_vain;
        let more = if possible & step.threads() != 0 {
            step.threads()
        } else if possible != 0 {
            1 << possible.trailing_zeros()
        } else if initials.is_next && node.enabled & step.threads() == 0 {
            // It was about to be made there, and could not be.
            0
        } else {
            node.enabled
        };
        self.path[first].to_try |= more;
    }
}

impl Strategy for Dpor {
    fn next(&mut self) -> Option<Order> {
        if self.asked.is_none() {
            if !self.turn() {
                return None;
            }
            let decisions = |node: &Node| [Decision::thread(node.step.thread)].into_iter().chain(node.choices.clone());
            let follow = self.path.iter().flat_map(decisions).collect();
            let sleep = self.path.last().map_or(0, Node::asleep_after);
            self.asked = Some(Order { follow, sleep, ..self.order.clone() });
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
            if let Some(node) = self.path.last_mut() {
                node.in_vain |= node.step.threads();
            }
        }
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn held_back(&self) -> bool {
        self.held_back
    }

    fn is_complete(&self) -> bool {
        // The path is empty before the first execution, and after the last.
        self.asked.is_none() && self.path.is_empty() && !self.left_out && !self.held_back
    }
}

impl Node {
    fn new(step: Step, choices: Vec<Decision>, upcoming: Vec<Option<Step>>, asleep: u64) -> Node {
        let enabled = step.enabled | step.threads();
        // Who stops waiting first goes on until nobody can, so whose time is up makes a difference to everybody.
        let to_try = if step.has(Step::TIMED_OUT) { enabled } else { step.threads() };
        let clock = Clock::default();
        Node { step, choices, clock, upcoming, enabled, to_try, tried: 0, asleep, in_vain: 0 }
    }

    /// Takes the next option of the last choice that has one.
    fn choose_otherwise(&mut self) -> bool {
        let Some(last) = self.choices.iter().rposition(|choice| choice.chosen + 1 < choice.options) else {
            return false;
        };
        self.choices.truncate(last + 1);
        self.choices[last].chosen += 1;
        true
    }

    /// Takes the next thread that is to be tried.
    fn try_another(&mut self) -> bool {
        let thread = self.step.threads();
        self.tried |= thread;
        self.asleep |= thread & !self.in_vain;
        let next = self.to_try & self.enabled & !self.tried & !self.asleep;
        if next == 0 {
            return false;
        }
        let thread = next.trailing_zeros() as u8;
        self.step = self.upcoming(thread);
        self.choices.clear();
        true
    }

    /// What a thread is about to do here. What is not known depends on everything.
    fn upcoming(&self, thread: u8) -> Step {
        let known = self.upcoming.get(usize::from(thread)).copied().flatten();
        let unknown = Step { kind: u8::MAX, ..Step::default() };
        // Whether time passed is said about the moment when it was made.
        Step { thread, flags: self.step.flags & Step::TIMED_OUT, ..known.unwrap_or(unknown) }
    }

    /// Who sleeps once the step was made.
    fn asleep_after(&self) -> u64 {
        if self.step.has(Step::TIMED_OUT) {
            return 0;
        }
        let sleeps_on = |&thread: &u8| !dependent(&self.upcoming(thread), &self.step);
        members(self.asleep & !self.step.threads()).filter(sleeps_on).fold(0, |set, thread| set | 1 << thread)
    }
}

/// The places of the steps of each thread.
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

/// How an execution can begin in which a race is turned.
struct Initials {
    /// Whose next step can come first.
    threads: u64,
    /// The thread of the second step of the race has no other step to make before.
    is_next: bool,
}

impl Initials {
    /// Of the steps behind the first one that do not happen after it, and the last, those with nothing before them.
    /// The first of `nodes` is the first step of the race, at this place of the path.
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

/// For each of these steps, what every thread was about to do before it.
fn upcoming(steps: &[Step], pending: &[Pending]) -> Vec<Vec<Option<Step>>> {
    let mut upcoming: Vec<Option<Step>> = pending.iter().map(|pending| step_of(pending).copied()).collect();
    let mut all: Vec<Vec<Option<Step>>> = Vec::with_capacity(steps.len());
    for step in steps.iter().rev() {
        let thread = usize::from(step.thread);
        if upcoming.len() <= thread {
            upcoming.resize(thread + 1, None);
        }
        upcoming[thread] = Some(*step);
        all.push(upcoming.clone());
    }
    all.reverse();
    all
}

/// What a thread that is alive was about to do.
fn step_of(pending: &Pending) -> Option<&Step> {
    let standing = Standing::from_number(pending.standing)?;
    matches!(standing, Standing::Alive | Standing::Spinning).then_some(&pending.step)
}

/// Whether there are states in which a thread cannot make such a step.
fn can_be_disabled(step: &Step) -> bool {
    use Kind::*;
    step.kind().is_none_or(|kind| matches!(kind, Start | Join | Lock | Share | Woken | Take | Gate))
}

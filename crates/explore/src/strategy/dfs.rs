//! Every schedule with few preemptions, once.
//!
//! *Problem.* Most defects need only one or two preemptions: another thread runs although the current one is enabled.
//! The number of schedules grows with the number of steps to the power of the bound, so small bounds come first.
//!
//! *Idea.* A schedule is a prefix of decisions, ending with one that the steady policy would not have made, followed by
//! that policy's decisions, which cost no preemption. Executing a prefix shows the alternatives at each later decision;
//! each one ends the prefix of another schedule. Alternatives that cost nothing are executed next, deepest first; those
//! that cost a preemption wait until all cheaper ones have been executed.
//!
//! *Invariant.* The last decision of its prefix distinguishes a schedule from all others, so every schedule is executed
//! exactly once, and a schedule with *k* preemptions exactly at bound *k*.
//!
//! *Cost.* One execution per schedule. Schedules with one more preemption are stored as alternatives of the execution
//! that showed them: four bytes per decision and sixteen per alternative. At the last bound nothing is stored for later.
//!
//! # Reductions
//!
//! Both can be switched off, and both keep every verdict that depends on answers and on real time.
//!
//! [`Dfs::with_late_calls`]: no thread is preempted between a call and the operation's first step, nor between its last
//! step and the return. A call and a return change nothing but the history. If an execution preempts a thread after a
//! call, move the call to where that thread continues; if it preempts it before a return, move the return to just before
//! the switch. The answers stay, and the switch stays at the same cost, or vanishes together with a stretch that
//! consisted of the call or the return only. Operations that did not overlap still do not, so an order that explains the
//! moved history explains the original one. A thread that is disabled after its call is not preempted, and its call is
//! not moved.
//!
//! [`Dfs::merging`]: prefixes that differ only in the order of independent steps lead to the same state, which is
//! represented by a [`Fingerprint`]. What follows a state depends on it and on the thread that ran last, because all
//! others cost a preemption. So it is explored once, after the prefix with the fewest preemptions, and not at all if the
//! state was reached with fewer: from there, a switch to the thread that ran last here costs one at most. Bounds only
//! grow, and a stored alternative is executed at its cost, so what is left out is explored elsewhere. The assumptions are
//! those of [`Dpor`](super::Dpor). Besides, states are confused if their fingerprints of 64 bits are equal by chance: for
//! a million states the probability is below one in ten million.
//!
//! Musuvathi and Qadeer: Iterative context bounding for systematic testing of multithreaded programs; Partial-order
//! reduction for context-bounded state exploration. They store states; we store decisions and fingerprints, because a
//! program can only be restarted. Fairness is up to the runtime, which does not offer a thread that spins or has yielded
//! while others are enabled.

use omnilink_schedule::{Choice, Decision, Kind, Step, members};
use rustc_hash::FxHashMap;

use super::fingerprint::Fingerprint;
use super::{Strategy, Tally, exploring, follows, is_held_back, is_whole, upcoming};
use crate::{Ending, Execution, ExecutionOrder};

/// Explores depth first, bound by bound.
#[derive(Debug, Clone)]
pub struct Dfs {
    order: ExecutionOrder,
    limit: Option<u32>,
    /// Branches within the current bound.
    now: Vec<Branches>,
    /// Branches that cost one more preemption.
    later: Vec<Branches>,
    /// The order whose outcome is pending.
    asked: Option<ExecutionOrder>,
    per_bound: Vec<u64>,
    tally: Tally,
    /// Whether a schedule beyond the last bound, or unknown, was skipped.
    left_out: bool,
    held_back: bool,
    has_diverged: bool,
    late_calls: bool,
    covered: Option<Covered>,
}

/// The alternatives of an execution.
#[derive(Debug, Clone)]
struct Branches {
    decisions: Box<[Decision]>,
    others: Vec<Alternative>,
}

#[derive(Debug, Clone)]
struct Alternative {
    /// The index of the decision.
    place: u32,
    /// What to decide instead.
    decision: Decision,
    /// The state that it leads to, if known.
    state: Option<u64>,
}

/// The states that are explored, with the fewest preemptions that lead there.
#[derive(Debug, Clone, Default)]
struct Covered {
    /// Executed, with any thread.
    reached: FxHashMap<u64, u32>,
    /// Executed or stored, by a step of this thread.
    planned: FxHashMap<(u64, u8), u32>,
}

impl Covered {
    fn reach(&mut self, state: u64, cost: u32) {
        let known = self.reached.entry(state).or_insert(cost);
        *known = cost.min(*known);
    }

    fn is_reached_below(&self, state: u64, cost: u32) -> bool {
        self.reached.get(&state).is_some_and(|reached| *reached < cost)
    }

    fn is_covered(&self, state: u64, thread: u8, cost: u32) -> bool {
        let is_planned = self.planned.get(&(state, thread)).is_some_and(|planned| *planned <= cost);
        is_planned || self.is_reached_below(state, cost)
    }

    /// False if it is covered.
    fn plan(&mut self, state: u64, thread: u8, cost: u32) -> bool {
        let is_new = !self.is_covered(state, thread, cost);
        if is_new {
            self.planned.insert((state, thread), cost);
        }
        is_new
    }

    /// Whether something was found with fewer preemptions since it was planned.
    fn is_cheaper(&self, state: u64, thread: u8, cost: u32) -> bool {
        let is_planned = self.planned.get(&(state, thread)).is_some_and(|planned| *planned < cost);
        is_planned || self.is_reached_below(state, cost)
    }
}

impl Dfs {
    /// Explores the schedules with at most `limit` preemptions, or all.
    pub fn new(order: ExecutionOrder, limit: Option<u32>) -> Dfs {
        let order = exploring(order);
        Dfs {
            asked: Some(order.clone()),
            order,
            limit,
            now: Vec::new(),
            later: Vec::new(),
            per_bound: vec![0],
            tally: Tally::default(),
            left_out: false,
            held_back: false,
            has_diverged: false,
            late_calls: false,
            covered: None,
        }
    }

    /// Skips schedules that preempt a thread after a call or before a return.
    pub fn with_late_calls(self) -> Dfs {
        Dfs { late_calls: true, ..self }
    }

    /// Skips schedules that differ from another one only in the order of independent steps.
    pub fn merging(self) -> Dfs {
        Dfs { covered: Some(Covered::default()), ..self }
    }

    /// The number of executions with exactly 0, 1, 2 and so on preemptions. The last one still grows.
    pub fn per_bound(&self) -> &[u64] {
        &self.per_bound
    }

    fn bound(&self) -> u32 {
        self.per_bound.len() as u32 - 1
    }

    /// The next prefix; raises the bound if necessary.
    fn take(&mut self) -> Option<Vec<Decision>> {
        loop {
            if self.now.is_empty() && !self.later.is_empty() {
                self.now = std::mem::take(&mut self.later);
                // Branches found first are tried first.
                self.now.reverse();
                self.per_bound.push(0);
            }
            let bound = self.bound();
            let branches = self.now.last_mut()?;
            let Some(Alternative { place, decision, state }) = branches.others.pop() else {
                self.now.pop();
                continue;
            };
            let is_cheaper = |(covered, state): (&Covered, u64)| covered.is_cheaper(state, decision.chosen, bound);
            if !self.covered.as_ref().zip(state).is_some_and(is_cheaper) {
                let mut follow = branches.decisions[..place as usize].to_vec();
                follow.push(decision);
                return Some(follow);
            }
        }
    }

    /// The alternatives after the prefix: those without cost, and those that cost a preemption. `None` if the prefix was
    /// not followed.
    fn alternatives(&mut self, follow: &[Decision], execution: &Execution) -> Option<[Vec<Alternative>; 2]> {
        if !follows(follow, &execution.decisions) {
            return None;
        }
        let (mut free, mut paid) = (Vec::new(), Vec::new());
        let mut walk = Walk::new(execution, self.covered.is_some());
        for (place, decision) in execution.decisions.iter().enumerate() {
            let is_new = place >= follow.len();
            let place = u32::try_from(place).expect("an execution has fewer than four billion decisions");
            if decision.choice()? != Choice::Thread {
                walk.choose(decision);
                if is_new {
                    let others = (decision.chosen + 1..decision.options).rev();
                    let other = |chosen| Alternative { place, decision: Decision { chosen, ..*decision }, state: None };
                    free.extend(others.map(other));
                }
                continue;
            }
            // A process can end between a decision and its step.
            let Some(step) = execution.steps.get(walk.steps) else { break };
            let others = step.enabled & !step.threads();
            let mut is_covered = false;
            if is_new && others != 0 && !(self.late_calls && walk.is_at_call_or_return(step)) {
                is_covered = self.cover(&walk, step);
                for thread in members(others) {
                    let is_paid = walk.is_preempted_by(thread, step);
                    let state = walk.after(thread, step);
                    if self.plan(state, thread, is_paid) {
                        let others = if is_paid { &mut paid } else { &mut free };
                        others.push(Alternative { place, decision: Decision::thread(thread), state });
                    }
                }
            }
            if is_covered {
                break;
            }
            walk.take(step);
        }
        Some([free, paid])
    }

    /// Notes the state before a step and the one after it. True if the latter was covered before.
    fn cover(&mut self, walk: &Walk<'_>, step: &Step) -> bool {
        let bound = self.bound();
        let (Some(covered), Some(state)) = (&mut self.covered, &walk.state) else { return false };
        covered.reach(state.sum(), bound);
        !covered.plan(state.after(step), step.thread, bound)
    }

    /// Notes an alternative. False if it was covered before.
    fn plan(&mut self, state: Option<u64>, thread: u8, is_paid: bool) -> bool {
        let (bound, limit) = (self.bound(), self.limit);
        let (Some(covered), Some(state)) = (&mut self.covered, state) else { return true };
        let cost = bound + u32::from(is_paid);
        match limit.is_some_and(|limit| limit < cost) {
            // It will not be executed.
            true => !covered.is_covered(state, thread, cost),
            false => covered.plan(state, thread, cost),
        }
    }
}

/// The place in an execution.
struct Walk<'a> {
    /// The number of steps so far.
    steps: usize,
    before: Option<&'a Step>,
    /// If states are merged.
    state: Option<Fingerprint>,
    upcoming: Vec<Vec<Option<Step>>>,
}

impl<'a> Walk<'a> {
    fn new(execution: &Execution, is_merging: bool) -> Walk<'a> {
        let (state, upcoming) = match is_merging {
            true => (Some(Fingerprint::default()), upcoming(&execution.steps, &execution.pending)),
            false => (None, Vec::new()),
        };
        Walk { steps: 0, before: None, state, upcoming }
    }

    fn take(&mut self, step: &'a Step) {
        if let Some(state) = &mut self.state {
            state.add(step);
        }
        self.before = Some(step);
        self.steps += 1;
    }

    fn choose(&mut self, decision: &Decision) {
        if let Some(state) = &mut self.state {
            state.choose(decision);
        }
    }

    /// Whether this thread would preempt the one before, instead of this step.
    fn is_preempted_by(&self, thread: u8, step: &Step) -> bool {
        !step.has(Step::FREE) && self.before.is_some_and(|before| before.thread != thread)
    }

    /// Whether a thread goes on after a call, or with a return.
    fn is_at_call_or_return(&self, step: &Step) -> bool {
        let is_return = step.kind() == Some(Kind::Return);
        let goes_on = |before: &Step| before.thread == step.thread && (is_return || before.kind() == Some(Kind::Call));
        self.before.is_some_and(goes_on)
    }

    /// The state after the next step of this thread, instead of this step.
    fn after(&self, thread: u8, step: &Step) -> Option<u64> {
        let next = self.upcoming.get(self.steps)?.get(usize::from(thread)).copied().flatten()?;
        // If time has passed for one of them, it has for all.
        let flags = next.flags & !Step::TIMED_OUT | step.flags & Step::TIMED_OUT;
        Some(self.state.as_ref()?.after(&Step { flags, ..next }))
    }
}

impl Strategy for Dfs {
    fn next(&mut self) -> Option<ExecutionOrder> {
        if self.asked.is_none() {
            let follow = self.take()?;
            self.asked = Some(ExecutionOrder { follow, ..self.order.clone() });
        }
        self.asked.clone()
    }

    fn learn(&mut self, execution: &Execution) {
        let Some(asked) = self.asked.take() else { return };
        self.tally.count(&execution.ended);
        self.held_back |= is_held_back(execution);
        *self.per_bound.last_mut().expect("there is always a bound") += 1;
        self.left_out |= !is_whole(execution, asked.limit);
        let Some([free, paid]) = self.alternatives(&asked.follow, execution) else {
            self.left_out = true;
            self.has_diverged |= execution.ended != Ending::TimedOut;
            return;
        };
        let decisions: Box<[Decision]> = execution.decisions.as_slice().into();
        if !paid.is_empty() {
            if self.limit.is_none_or(|limit| self.bound() < limit) {
                self.later.push(Branches { decisions: decisions.clone(), others: paid });
            } else {
                self.left_out = true;
            }
        }
        if !free.is_empty() {
            self.now.push(Branches { decisions, others: free });
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
        let is_over = self.asked.is_none() && self.now.is_empty() && self.later.is_empty();
        is_over && !self.left_out && !self.held_back
    }
}

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
//! that showed them: four bytes per decision and eight per alternative. At the last bound nothing is stored for later.
//!
//! Musuvathi and Qadeer: Iterative context bounding for systematic testing of multithreaded programs. They store
//! states; we store decisions, because a program can only be restarted. Fairness is up to the runtime, which does not
//! offer a thread that spins or has yielded while others are enabled.

use schedule::{Choice, Decision, Step, members};

use super::{Strategy, Tally, exploring, follows, is_held_back, is_whole};
use crate::{Execution, Order};

/// Explores depth first, bound by bound.
#[derive(Debug, Clone)]
pub struct Dfs {
    order: Order,
    limit: Option<u32>,
    /// Branches within the current bound.
    now: Vec<Branches>,
    /// Branches that cost one more preemption.
    later: Vec<Branches>,
    /// The order whose outcome is pending.
    asked: Option<Order>,
    per_bound: Vec<u64>,
    tally: Tally,
    /// Whether a schedule beyond the last bound, or unknown, was skipped.
    left_out: bool,
    held_back: bool,
}

/// The alternatives of an execution.
#[derive(Debug, Clone)]
struct Branches {
    decisions: Box<[Decision]>,
    /// Index of a decision, and the alternative to it.
    others: Vec<(u32, Decision)>,
}

impl Dfs {
    /// Explores the schedules with at most `limit` preemptions, or all.
    pub fn new(order: Order, limit: Option<u32>) -> Dfs {
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
        }
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
        if self.now.is_empty() && !self.later.is_empty() {
            self.now = std::mem::take(&mut self.later);
            // Branches found first are tried first.
            self.now.reverse();
            self.per_bound.push(0);
        }
        let branches = self.now.last_mut()?;
        let (place, decision) = branches.others.pop().expect("executions without alternatives are not stored");
        let mut follow = branches.decisions[..place as usize].to_vec();
        follow.push(decision);
        if branches.others.is_empty() {
            self.now.pop();
        }
        Some(follow)
    }
}

impl Strategy for Dfs {
    fn next(&mut self) -> Option<Order> {
        if self.asked.is_none() {
            let follow = self.take()?;
            self.asked = Some(Order { follow, ..self.order.clone() });
        }
        self.asked.clone()
    }

    fn learn(&mut self, execution: &Execution) {
        let Some(asked) = self.asked.take() else { return };
        self.tally.count(&execution.ended);
        self.held_back |= is_held_back(execution);
        *self.per_bound.last_mut().expect("there is always a bound") += 1;
        self.left_out |= !is_whole(execution, asked.limit);
        let Some((free, paid)) = alternatives(&asked.follow, execution) else {
            self.left_out = true;
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

    fn is_complete(&self) -> bool {
        let is_over = self.asked.is_none() && self.now.is_empty() && self.later.is_empty();
        is_over && !self.left_out && !self.held_back
    }
}

/// Alternatives by the index of the decision.
type Alternatives = Vec<(u32, Decision)>;

/// The alternatives after the prefix: those without cost, and those that cost a preemption. `None` if the prefix was
/// not followed.
fn alternatives(follow: &[Decision], execution: &Execution) -> Option<(Alternatives, Alternatives)> {
    let decisions = &execution.decisions;
    if !follows(follow, decisions) {
        return None;
    }
    let (mut free, mut paid) = (Vec::new(), Vec::new());
    let mut steps = execution.steps.iter();
    let mut before: Option<u8> = None;
    for (place, decision) in decisions.iter().enumerate() {
        let is_new = place >= follow.len();
        let place = u32::try_from(place).expect("an execution has fewer than four billion decisions");
        match decision.choice()? {
            Choice::Thread => {
                // A process can end between a decision and its step.
                let Some(step) = steps.next() else { break };
                let costs = |thread| !step.has(Step::FREE) && before.is_some_and(|before| before != thread);
                for thread in members(step.enabled & !(1 << decision.chosen)).filter(|_| is_new) {
                    let others = if costs(thread) { &mut paid } else { &mut free };
                    others.push((place, Decision::thread(thread)));
                }
                before = Some(decision.chosen);
            }
            _ if is_new => {
                let others = decision.chosen + 1..decision.options;
                free.extend(others.rev().map(|chosen| (place, Decision { chosen, ..*decision })));
            }
            _ => {}
        }
    }
    Some((free, paid))
}

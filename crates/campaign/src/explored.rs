//! The claims about a program's schedules: all explored, all with few preemptions, or only a number of them.
//!
//! A claim covers only explored schedules. It concerns one input and the observed part of the program. Stopped
//! executions, held-back threads and data races invalidate the claim, and are reported instead.

use omnilink_explore::strategy;
use omnilink_suggest::counted;
use serde_json::json;

use crate::How;

/// The result of a strategy.
#[derive(Debug, Clone)]
pub struct Explored {
    pub(crate) how: How,
    pub(crate) tally: strategy::Tally,
    pub(crate) is_complete: bool,
    /// Whether the strategy ran to its end.
    pub(crate) is_exhausted: bool,
    pub(crate) bound: Option<u32>,
    /// Whether only one of the schedules was executed that differ in the order of independent steps.
    pub(crate) merges: bool,
    /// The explored input.
    pub(crate) input: String,
    /// Whether unsynchronized accesses were steps.
    pub(crate) is_plain: bool,
    /// The number of executions that reached the step limit.
    pub(crate) too_long: u64,
    /// Whether an enabled thread was held back, so that some schedules were not tried.
    pub(crate) held_back: bool,
    /// Whether an execution took other steps than an earlier one after the same decisions.
    pub(crate) has_diverged: bool,
    /// The number of executions with 0, 1, 2 and so on preemptions, if they come in that order.
    pub(crate) per_bound: Vec<u64>,
    /// A summary of the harness's unobserved parts.
    pub(crate) unseen: Option<String>,
    /// The number of last executions that were new, and the number of last executions, if they were drawn.
    pub(crate) novelty: (u64, u64),
    /// The data races: their accesses with their places.
    pub(crate) races: Vec<[String; 2]>,
}

/// The reason why an exploration in one process may stop early.
const DIVERGED: &str = "after the same decisions an execution took other steps";

impl Explored {
    /// Whether all schedules were explored, of a program whose steps were all observed.
    pub fn covers_all(&self) -> bool {
        self.is_complete && self.races.is_empty() && self.unseen.is_none()
    }

    /// The reason why requested schedules were left out; `None` if there are none. Schedules beyond a bound, and schedules
    /// that fairness excludes, were not requested.
    pub fn given_up(&self) -> Option<String> {
        let mut reasons = self.inconclusive();
        if self.has_diverged {
            reasons.push(DIVERGED.to_owned());
        }
        (self.how.is_exploration() && !reasons.is_empty()).then(|| reasons.join("; "))
    }

    /// The reason why a finished exploration is not complete; `None` if that is due to its bound only.
    pub fn shortfall(&self) -> Option<String> {
        let mut reasons = self.shortfalls();
        reasons.extend(self.unseen.as_ref().map(|unseen| format!("unobserved: {unseen}")));
        (self.how.is_exploration() && !reasons.is_empty()).then(|| reasons.join("; "))
    }

    /// The claim as text; empty if schedules were drawn at random.
    pub fn text(&self) -> String {
        if !self.how.is_exploration() {
            return String::new();
        }
        let strategy::Tally { executions, asleep, .. } = self.tally;
        let claim = match self.bound {
            // Racing accesses are not steps, so their order was not explored.
            _ if !self.races.is_empty() => None,
            _ if self.is_complete => Some("all schedules were explored".to_owned()),
            Some(bound) if self.is_exhausted && self.shortfalls().is_empty() => {
                let preemptions = counted(u64::from(bound), "preemption");
                Some(format!("all schedules with at most {preemptions} were explored"))
            }
            _ => None,
        };
        // The scope of the claim.
        let limits = match (&claim, self.is_plain) {
            (None, _) => String::new(),
            (Some(_), is_plain) => {
                let at_once = "without preemptions at non-atomic accesses (`--plain` adds them), ";
                let at_once = if is_plain { "" } else { at_once };
                let addresses = "allocation addresses assumed irrelevant, ";
                let addresses = if self.merges { addresses } else { "" };
                format!(
                    "  for one input only ({}), {at_once}{addresses}and timeouts only when no thread is enabled\n",
                    self.input
                )
            }
        };
        let explored = match (claim, &self.unseen) {
            (Some(claim), None) => claim,
            (Some(claim), Some(unseen)) => format!("{claim}, counting only observed steps (unobserved: {unseen})"),
            (None, _) => format!("not all schedules were explored ({})", self.why_not_all()),
        };
        let asleep = match asleep {
            0 => String::new(),
            asleep => format!(", {asleep} of them aborted as redundant"),
        };
        format!("{explored}: {}{asleep}\n{limits}", counted(executions, "execution"))
    }

    /// The share of new schedules among the last ones as text; empty if schedules were not drawn at random.
    pub fn novelty(&self) -> String {
        match self.novelty {
            (_, 0) => String::new(),
            (new, recent) => format!("new schedules: {new} of the last {}\n", counted(recent, "run")),
        }
    }

    /// The reason why some schedules were not explored.
    fn why_not_all(&self) -> String {
        let mut reasons = self.shortfalls();
        if !self.is_exhausted {
            let place = self.inconclusive().len();
            reasons.insert(place, "stopped early".to_owned());
        }
        if reasons.is_empty() {
            reasons.push("an execution diverged from its prescribed decisions".to_owned());
        }
        // The last number still grows; all schedules with fewer preemptions were executed before the first of those.
        if let (false, Some(done)) = (self.is_exhausted, self.per_bound.len().checked_sub(2))
            && !self.held_back
            && self.inconclusive().is_empty()
        {
            reasons.push(format!("all with at most {} were", counted(done as u64, "preemption")));
        }
        reasons.join("; ")
    }

    /// The reason why an exploration to the end would not be complete.
    fn shortfalls(&self) -> Vec<String> {
        let others = [
            (self.held_back, "a yielding or spinning thread was held back for fairness"),
            (self.has_diverged, DIVERGED),
            (!self.races.is_empty(), "data races between accesses that are not steps"),
        ];
        let others = others.into_iter().filter(|(holds, _)| *holds).map(|(_, reason)| reason.to_owned());
        self.inconclusive().into_iter().chain(others).collect()
    }

    /// Executions without a conclusive end.
    fn inconclusive(&self) -> Vec<String> {
        let some = [(self.tally.lost, "did not end in time"), (self.too_long, "reached the step limit")];
        let some = some.into_iter().filter(|(count, _)| *count > 0);
        some.map(|(count, what)| format!("{} {what}", counted(count, "execution"))).collect()
    }

    /// The result as JSON.
    pub fn json(&self) -> serde_json::Value {
        let strategy::Tally { executions, finished, asleep, stuck, crashed, lost } = self.tally;
        json!({
            "schedule": self.how.name(),
            "executions": executions,
            "finished": finished,
            "asleep": asleep,
            "stuck": stuck,
            "crashed": crashed,
            "lost": lost,
            "complete": self.is_complete && self.unseen.is_none() && self.races.is_empty(),
            "plain": self.is_plain,
            "races": self.races,
            "unseen": self.unseen,
            "new": self.novelty.0,
            "recent": self.novelty.1,
            "too_long": self.too_long,
            "held_back": self.held_back,
            "diverged": self.has_diverged,
            "per_bound": self.per_bound,
            "bound": self.bound,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dfs() -> Explored {
        Explored {
            how: How::Dfs,
            tally: strategy::Tally { executions: 9, finished: 9, ..strategy::Tally::default() },
            is_complete: false,
            is_exhausted: true,
            bound: None,
            merges: false,
            input: "seed 1, 2 threads, 1 operation each".into(),
            is_plain: false,
            too_long: 0,
            held_back: false,
            has_diverged: false,
            per_bound: vec![1, 4, 4],
            unseen: None,
            novelty: (0, 0),
            races: Vec::new(),
        }
    }

    #[test]
    fn claims_cover_only_explored_schedules() {
        let lost = |explored: Explored| Explored { tally: strategy::Tally { lost: 1, ..explored.tally }, ..explored };
        let race = ["reads in f".to_owned(), "writes in g".to_owned()];
        insta::assert_snapshot!(
            [
                Explored { is_complete: true, ..dfs() },
                Explored { is_complete: true, unseen: Some("2 calls".into()), ..dfs() },
                Explored { bound: Some(2), ..dfs() },
                Explored { bound: Some(2), unseen: Some("2 calls".into()), ..dfs() },
                lost(Explored { bound: Some(2), ..dfs() }),
                Explored { is_exhausted: false, ..dfs() },
                Explored { how: How::Dpor, per_bound: Vec::new(), held_back: true, ..dfs() },
                Explored { too_long: 2, ..dfs() },
                Explored { how: How::Dpor, is_complete: true, merges: true, ..dfs() },
                Explored { is_complete: true, races: vec![race.clone()], ..dfs() },
                Explored { bound: Some(2), races: vec![race], ..dfs() },
                Explored { how: How::Dpor, has_diverged: true, ..dfs() },
            ]
            .map(|explored| explored.text())
            .concat(),
            @r"
        all schedules were explored: 9 executions
          for one input only (seed 1, 2 threads, 1 operation each), without preemptions at non-atomic accesses (`--plain` adds them), and timeouts only when no thread is enabled
        all schedules were explored, counting only observed steps (unobserved: 2 calls): 9 executions
          for one input only (seed 1, 2 threads, 1 operation each), without preemptions at non-atomic accesses (`--plain` adds them), and timeouts only when no thread is enabled
        all schedules with at most 2 preemptions were explored: 9 executions
          for one input only (seed 1, 2 threads, 1 operation each), without preemptions at non-atomic accesses (`--plain` adds them), and timeouts only when no thread is enabled
        all schedules with at most 2 preemptions were explored, counting only observed steps (unobserved: 2 calls): 9 executions
          for one input only (seed 1, 2 threads, 1 operation each), without preemptions at non-atomic accesses (`--plain` adds them), and timeouts only when no thread is enabled
        not all schedules were explored (1 execution did not end in time): 9 executions
        not all schedules were explored (stopped early; all with at most 1 preemption were): 9 executions
        not all schedules were explored (a yielding or spinning thread was held back for fairness): 9 executions
        not all schedules were explored (2 executions reached the step limit): 9 executions
        all schedules were explored: 9 executions
          for one input only (seed 1, 2 threads, 1 operation each), without preemptions at non-atomic accesses (`--plain` adds them), allocation addresses assumed irrelevant, and timeouts only when no thread is enabled
        not all schedules were explored (data races between accesses that are not steps): 9 executions
        not all schedules were explored (data races between accesses that are not steps): 9 executions
        not all schedules were explored (after the same decisions an execution took other steps): 9 executions
        "
        );
    }
}

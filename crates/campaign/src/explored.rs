//! What may be claimed about the schedules of a program: all of them, all with few preemptions, or no more than a number.
//!
//! Nothing is claimed that was not explored. A claim is about one input, and about what of the program is seen; executions
//! that were given up, threads that were held back and data races leave no claim, and are named instead.

use std::collections::BTreeMap;

use explore::{Race, counted, strategy};
use serde_json::json;

use crate::{Harness, How};

/// What a strategy has done.
#[derive(Debug, Clone)]
pub struct Explored {
    pub(crate) how: How,
    pub(crate) tally: strategy::Tally,
    pub(crate) is_complete: bool,
    /// All that was to be explored was.
    pub(crate) is_exhausted: bool,
    pub(crate) bound: Option<u32>,
    /// What was explored.
    pub(crate) input: String,
    /// Whether accesses without synchronization were steps.
    pub(crate) is_plain: bool,
    /// So many executions made too many steps.
    pub(crate) too_long: u64,
    /// A thread that could have gone on had to wait, so that some schedules were not tried.
    pub(crate) held_back: bool,
    /// How many executions had 0, 1, 2 and so on interruptions, if that is the order in which they come.
    pub(crate) per_bound: Vec<u64>,
    /// What of the harness is not seen, in a few words.
    pub(crate) unseen: Option<String>,
    /// Accesses that nothing orders.
    pub(crate) races: Vec<Raced>,
}

/// A data race that was found.
#[derive(Debug, Clone)]
pub(crate) struct Raced {
    /// What each access does and where, the earlier one first.
    pub(crate) accesses: [String; 2],
    /// In how many executions it was the first.
    pub(crate) runs: u64,
}

impl Raced {
    /// Races by how many executions each was the first of, the most frequent first.
    pub(crate) fn all(races: &BTreeMap<Race, u64>, harness: &Harness, base: u64) -> Vec<Raced> {
        let mut all: Vec<Raced> = races.iter().map(|(race, runs)| Raced::new(race, *runs, harness, base)).collect();
        all.sort_by_key(|race| std::cmp::Reverse(race.runs));
        all
    }

    fn new(race: &Race, runs: u64, harness: &Harness, base: u64) -> Raced {
        let access = |number: usize| {
            let what = if race.writes[number] { "a write" } else { "a read" };
            match harness.symbolize(base, &race.places[number..=number]).pop() {
                Some(place) => format!("{what} in {place}"),
                None => format!("{what} in code that is not known"),
            }
        };
        Raced { accesses: [access(0), access(1)], runs }
    }
}

/// The most data races that are shown.
const SHOWN_RACES: usize = 5;

impl Explored {
    /// The claim, in words; nothing if schedules were drawn at random.
    pub fn text(&self) -> String {
        if !self.how.is_exploration() {
            return String::new();
        }
        let strategy::Tally { executions, asleep, .. } = self.tally;
        let claim = match self.bound {
            // Such accesses are no steps, so their order was not explored.
            _ if !self.races.is_empty() => None,
            _ if self.is_complete => Some("all schedules were explored".to_owned()),
            Some(bound) if self.is_exhausted && !self.held_back && self.given_up().is_empty() => {
                let interruptions = counted(u64::from(bound), "interruption");
                Some(format!("all schedules with at most {interruptions} were explored"))
            }
            _ => None,
        };
        // What such a claim is about.
        let limits = match (&claim, self.is_plain) {
            (None, _) => String::new(),
            (Some(_), is_plain) => {
                let at_once = "accesses that are not atomic as if at once (`--plain` tells them apart), ";
                let at_once = if is_plain { "" } else { at_once };
                let addresses = "addresses of allocated memory that make no difference, ";
                let addresses = if self.how == How::Dpor { addresses } else { "" };
                format!(
                    "  this is about one input ({}), {at_once}{addresses}and timeouts only when nobody can go on\n",
                    self.input
                )
            }
        };
        let explored = match (claim, &self.unseen) {
            (Some(claim), None) => claim,
            (Some(claim), Some(unseen)) => format!("{claim}, of what is seen (not seen: {unseen})"),
            (None, _) => format!("not all schedules were explored ({})", self.why_not_all()),
        };
        let asleep = match asleep {
            0 => String::new(),
            asleep => format!(", {asleep} of them broken off because others had shown the same"),
        };
        format!("{explored}: {}{asleep}\n{limits}", counted(executions, "execution"))
    }

    /// The data races that were found.
    pub fn races(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for Raced { accesses: [earlier, later], runs } in self.races.iter().take(SHOWN_RACES) {
            let runs = format!("{runs} of {}", counted(self.tally.executions, "execution"));
            lines.push(format!("data race in {runs}: nothing orders"));
            lines.extend([format!("  {earlier}"), format!("  {later}")]);
        }
        if self.races.len() > SHOWN_RACES {
            lines.push(format!("and {} more", counted((self.races.len() - SHOWN_RACES) as u64, "data race")));
        }
        if !lines.is_empty() {
            lines.push("`--plain` also switches threads between such accesses\n".to_owned());
        }
        lines.join("\n")
    }

    /// Why there are schedules that were not explored.
    fn why_not_all(&self) -> String {
        let mut reasons = self.given_up();
        if !self.is_exhausted {
            reasons.push("it was stopped before".to_owned());
        }
        if self.held_back {
            reasons.push("a thread that had yielded, or that spins, was held back, to be fair".to_owned());
        }
        if !self.races.is_empty() {
            reasons.push("accesses that are not steps race".to_owned());
        }
        if reasons.is_empty() {
            reasons.push("an execution went another way than it was told to".to_owned());
        }
        // The last number still grows; all with fewer interruptions were executed before the first of those.
        if let (false, Some(done)) = (self.is_exhausted, self.per_bound.len().checked_sub(2))
            && !self.held_back
            && self.given_up().is_empty()
        {
            reasons.push(format!("all with at most {} were", counted(done as u64, "interruption")));
        }
        reasons.join("; ")
    }

    /// Executions that do not show where they lead.
    fn given_up(&self) -> Vec<String> {
        let some = [(self.tally.lost, "did not end in time"), (self.too_long, "made too many steps")];
        let some = some.into_iter().filter(|(count, _)| *count > 0);
        some.map(|(count, what)| format!("{} {what}", counted(count, "execution"))).collect()
    }

    /// The same for programs.
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
            "races": self.races.iter().map(|race| json!({ "accesses": race.accesses, "executions": race.runs }))
                .collect::<Vec<_>>(),
            "unseen": self.unseen,
            "too_long": self.too_long,
            "held_back": self.held_back,
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
            input: "seed 1, 2 threads, 1 operation each".into(),
            is_plain: false,
            too_long: 0,
            held_back: false,
            per_bound: vec![1, 4, 4],
            unseen: None,
            races: Vec::new(),
        }
    }

    #[test]
    fn nothing_is_claimed_that_was_not_explored() {
        let lost = |explored: Explored| Explored { tally: strategy::Tally { lost: 1, ..explored.tally }, ..explored };
        let race = Raced { accesses: ["a read in f".into(), "a write in g".into()], runs: 3 };
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
                Explored { how: How::Dpor, is_complete: true, ..dfs() },
                Explored { is_complete: true, races: vec![race.clone()], ..dfs() },
                Explored { bound: Some(2), races: vec![race], ..dfs() },
            ]
            .map(|explored| explored.text() + &explored.races())
            .concat(),
            @r"
        all schedules were explored: 9 executions
          this is about one input (seed 1, 2 threads, 1 operation each), accesses that are not atomic as if at once (`--plain` tells them apart), and timeouts only when nobody can go on
        all schedules were explored, of what is seen (not seen: 2 calls): 9 executions
          this is about one input (seed 1, 2 threads, 1 operation each), accesses that are not atomic as if at once (`--plain` tells them apart), and timeouts only when nobody can go on
        all schedules with at most 2 interruptions were explored: 9 executions
          this is about one input (seed 1, 2 threads, 1 operation each), accesses that are not atomic as if at once (`--plain` tells them apart), and timeouts only when nobody can go on
        all schedules with at most 2 interruptions were explored, of what is seen (not seen: 2 calls): 9 executions
          this is about one input (seed 1, 2 threads, 1 operation each), accesses that are not atomic as if at once (`--plain` tells them apart), and timeouts only when nobody can go on
        not all schedules were explored (1 execution did not end in time): 9 executions
        not all schedules were explored (it was stopped before; all with at most 1 interruption were): 9 executions
        not all schedules were explored (a thread that had yielded, or that spins, was held back, to be fair): 9 executions
        not all schedules were explored (2 executions made too many steps): 9 executions
        all schedules were explored: 9 executions
          this is about one input (seed 1, 2 threads, 1 operation each), accesses that are not atomic as if at once (`--plain` tells them apart), addresses of allocated memory that make no difference, and timeouts only when nobody can go on
        not all schedules were explored (accesses that are not steps race): 9 executions
        data race in 3 of 9 executions: nothing orders
          a read in f
          a write in g
        `--plain` also switches threads between such accesses
        not all schedules were explored (accesses that are not steps race): 9 executions
        data race in 3 of 9 executions: nothing orders
          a read in f
          a write in g
        `--plain` also switches threads between such accesses
        "
        );
    }
}

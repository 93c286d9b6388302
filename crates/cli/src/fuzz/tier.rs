//! How the schedules of runs come about: controlled, recorded by `rr`, or left to the machine and disturbed.
//!
//! A schedule that is controlled is found sooner and can be repeated, so that is what is done where the harness can be built
//! for it. `rr` repeats what happened to happen. What is left is to disturb threads, and to hope.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Instant;

use explore::audit::Audit;
use explore::strategy;
use explore::{Campaign, Race, counted};
use judge::InputError;
use serde_json::json;
use settings::Profile;

use super::Fuzz;
use crate::complain;
use crate::control::Harness;
use crate::control::args::{How, Scheduling};
use crate::exit::Exit;

/// How schedules come about.
pub(super) enum Tier {
    /// A strategy decides every step.
    Controlled {
        harness: Box<Harness>,
        how: How,
        scheduling: Scheduling,
        /// What of it is not seen.
        unseen: Option<String>,
    },
    /// This `rr` records runs, and schedules threads at random.
    Rr(String),
    /// The machine does as it likes.
    Perturbed,
}

/// What a strategy has done.
#[derive(Debug, Clone)]
pub(super) struct Explored {
    pub(super) how: How,
    pub(super) tally: strategy::Tally,
    pub(super) is_complete: bool,
    /// All that was to be explored was.
    pub(super) is_exhausted: bool,
    pub(super) bound: Option<u32>,
    /// What was explored.
    pub(super) input: String,
    /// Whether accesses without synchronization were steps.
    pub(super) is_plain: bool,
    /// So many executions made too many steps.
    pub(super) too_long: u64,
    /// A thread that could have gone on had to wait, so that some schedules were not tried.
    pub(super) held_back: bool,
    /// How many executions had 0, 1, 2 and so on interruptions, if that is the order in which they come.
    pub(super) per_bound: Vec<u64>,
    /// What of the harness is not seen, in a few words.
    pub(super) unseen: Option<String>,
    /// Accesses that nothing orders.
    pub(super) races: Vec<Raced>,
}

/// A data race that was found.
#[derive(Debug, Clone)]
pub(super) struct Raced {
    /// What each access does and where, the earlier one first.
    pub(super) accesses: [String; 2],
    /// In how many executions it was the first.
    pub(super) runs: u64,
}

impl Raced {
    /// Races by how many executions each was the first of, the most frequent first.
    pub(super) fn all(races: &BTreeMap<Race, u64>, harness: &Harness, base: u64) -> Vec<Raced> {
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

/// Under control threads are made to meet, so runs are short.
const CONTROLLED_OPERATIONS: RangeInclusive<usize> = 2..=20;
const CONTROLLED_THREADS: usize = 3;
/// All schedules are few only if there is little to schedule.
const EXPLORED_OPERATIONS: RangeInclusive<usize> = 2..=2;
const EXPLORED_THREADS: RangeInclusive<usize> = 2..=2;
/// How many interruptions are enough for most faults (Musuvathi and Qadeer, Iterative context bounding).
const FALLBACK_BOUND: u32 = 2;

impl Fuzz<'_> {
    /// Builds the harness in the best way that is possible here, or in the one that was asked for.
    pub(super) fn choose_tier(&self) -> Result<Tier, Exit> {
        if let Some(rr) = &self.args.rr {
            self.build()?;
            self.probe_rr(rr).map_err(|why| {
                let message = format!("`{rr}` cannot be used here: {why}");
                let help = "without `--rr`, threads are controlled or disturbed";
                complain("--rr", &InputError { message, help: Some(help.into()) })
            })?;
            return Ok(Tier::Rr(rr.clone()));
        }
        match self.args.schedule {
            Some(How::Free) => self.build().map(|()| Tier::Perturbed),
            Some(how) => match self.build_controlled() {
                Ok(harness) => Ok(self.without_blind_spots(harness, how)),
                Err(why) => {
                    let help = "`--schedule free` runs it without control".to_owned();
                    Err(complain("--schedule", &InputError { message: why, help: Some(help) }))
                }
            },
            None => match self.build_controlled() {
                Ok(harness) => Ok(self.without_blind_spots(harness, How::Random)),
                Err(why) => {
                    self.say(&format!("not controlled: {why}"));
                    self.build()?;
                    Ok(if self.probe_rr("rr").is_ok() { Tier::Rr("rr".into()) } else { Tier::Perturbed })
                }
            },
        }
    }

    /// Which executions show the same is known only if everything is seen by which threads can tell each other something.
    /// Where it is not, all schedules with few interruptions are explored instead.
    fn without_blind_spots(&self, harness: Harness, how: How) -> Tier {
        let unseen = match Audit::of(&harness.executable()) {
            Ok(audit) if audit.is_complete() => None,
            Ok(audit) => Some(audit.summary()),
            Err(error) => Some(format!("the harness cannot be looked into: {error}")),
        };
        let mut scheduling = self.args.scheduling.clone();
        let how = match &unseen {
            // Which store is read depends on more than on who wrote to the same place.
            _ if how == How::Dpor && scheduling.weak_memory => {
                self.say("`dpor` does not know which loads and fences meet if memory is weak, so `dfs` is used");
                How::Dfs
            }
            Some(unseen) if how == How::Dpor => {
                let bound = *scheduling.bound.get_or_insert(FALLBACK_BOUND);
                self.say(&format!(
                    "not everything is seen ({unseen}): `dpor` could leave out too much, so `dfs` is used, with {bound} \
                     interruptions at most; `omnilink build audit` lists it"
                ));
                How::Dfs
            }
            _ => how,
        };
        Tier::Controlled { harness: Box::new(harness), how, scheduling, unseen }
    }

    fn build_controlled(&self) -> Result<Harness, String> {
        let started = Instant::now();
        let (settings, store) = (&self.settings, &self.store);
        if !self.args.command.is_empty() {
            return self.as_it_is();
        }
        let harness = Harness::build(&self.program, settings, store, self.campaign.timeout, self.args.no_build)?;
        if !self.args.no_build {
            // As the settings say it: what is added on the way tells nobody anything.
            let is_own = self.settings.harness.controlled.is_some();
            let command = if is_own { &harness.program.build } else { &self.program.build }.join(" ");
            self.say(&format!("built to be controlled: {command} ({:.1} s)", started.elapsed().as_secs_f64()));
        }
        Ok(harness)
    }

    /// The program that the command line names, if it was built to be controlled.
    fn as_it_is(&self) -> Result<Harness, String> {
        let runtime = crate::build::kit()?.runtime().path();
        let harness = Harness::built(self.program.clone(), runtime, &self.store, self.campaign.timeout)?;
        let (file, name) = (harness.executable(), &self.program.run[0]);
        match Audit::of(&file) {
            Ok(audit) if audit.is_instrumented => Ok(harness),
            _ => Err(format!("`{name}` was not built to be controlled: `omnilink build` builds it so")),
        }
    }

    fn build(&self) -> Result<(), Exit> {
        if self.args.no_build || self.program.build.is_empty() {
            return Ok(());
        }
        let command = self.program.build.join(" ");
        let started = Instant::now();
        match self.program.build() {
            Ok(Ok(())) => self.say(&format!("built: {command} ({:.1} s)", started.elapsed().as_secs_f64())),
            Ok(Err(said)) => return Err(complain(&command, &InputError::new(format!("the build failed: {said}")))),
            Err(error) => return Err(complain("the build", &InputError::new(error))),
        }
        Ok(())
    }

    fn probe_rr(&self, rr: &str) -> Result<(), String> {
        let scratch = self.store.scratch();
        std::fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
        explore::rr::probe(rr, &scratch)
    }

    /// What the command line and the settings leave open, as it suits the tier.
    pub(super) fn suited(&self, tier: &Tier) -> Campaign {
        let mut campaign = self.campaign.clone();
        let Tier::Controlled { how, .. } = tier else { return campaign };
        campaign.perturb.clear();
        let (threads, operations) = match how.is_exploration() {
            true => (EXPLORED_THREADS, EXPLORED_OPERATIONS),
            false => {
                let most = (*campaign.threads.end()).min(CONTROLLED_THREADS).max(*campaign.threads.start());
                (*campaign.threads.start()..=most, CONTROLLED_OPERATIONS)
            }
        };
        campaign.threads = self.args.threads.clone().unwrap_or(threads);
        campaign.operations = self.args.ops.clone().unwrap_or(operations);
        if how.is_exploration() && self.args.runs.is_none() {
            campaign.runs = u64::MAX;
        }
        campaign
    }

    /// What the profile asks for and is not done, because the schedule is controlled.
    fn replaced(&self, campaign: &Campaign) -> Option<String> {
        let profiles = ["default", &self.args.profile].map(|name| self.settings.profile.get(name));
        let is_asked = |asks: fn(&Profile) -> bool| profiles.iter().flatten().any(|profile| asks(profile));
        let own = &self.campaign;
        let operations = is_asked(|profile| profile.operations.is_some()) && own.operations != campaign.operations;
        let threads = is_asked(|profile| profile.threads.is_some()) && own.threads != campaign.threads;
        let keys = [(operations, "`operations`", "`--ops`"), (threads, "`threads`", "`--threads`")];
        let keys = keys.iter().filter(|(is_replaced, ..)| *is_replaced);
        let (keys, options): (Vec<&str>, Vec<&str>) = keys.map(|(_, key, option)| (*key, *option)).unzip();
        let (keys, options) = (keys.join(" and "), options.join(" and "));
        (!keys.is_empty()).then(|| format!("controlled runs are short: not {keys} of the profile, but see {options}"))
    }

    pub(super) fn announce(&self, campaign: &Campaign, tier: &Tier) {
        let Campaign { seed, runs, time, threads, operations, perturb, .. } = campaign;
        let number = |range: &RangeInclusive<usize>, what: &str| match range.start() == range.end() {
            true => counted(*range.start() as u64, what),
            false => format!("{} to {} {what}s", range.start(), range.end()),
        };
        let runs =
            if *runs == u64::MAX { "all schedules".to_owned() } else { format!("up to {}", counted(*runs, "run")) };
        let time = time.map(|time| format!(" or {}", humantime::format_duration(time))).unwrap_or_default();
        let perturb: Vec<&str> = perturb.iter().map(|disturbance| disturbance.name()).collect();
        let schedule = match tier {
            Tier::Controlled { how, scheduling, .. } => {
                let plain = if scheduling.plain { "" } else { "; plain accesses are not steps, see `--plain`" };
                let weak = ", weak memory as in C11: what is found may not happen on your processor";
                format!("controlled ({}{plain}){}", how.name(), if scheduling.weak_memory { weak } else { "" })
            }
            Tier::Rr(rr) => format!("recorded with `{rr} record --chaos`, disturbances: {}", perturb.join(", ")),
            Tier::Perturbed => format!("disturbances: {}", perturb.join(", ")),
        };
        if let Tier::Controlled { .. } = tier
            && let Some(replaced) = self.replaced(campaign)
        {
            self.say(&replaced);
        }
        self.say(&format!(
            "fuzzing against {}: {runs}{time}, {}, {} each, {schedule}, seeds from {seed}",
            self.spec,
            number(threads, "thread"),
            number(operations, "operation"),
        ));
    }
}

impl Explored {
    pub(super) fn text(&self) -> String {
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
    pub(super) fn races(&self) -> String {
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

    pub(super) fn json(&self) -> serde_json::Value {
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

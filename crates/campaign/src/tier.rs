//! How the schedules of runs come about: controlled, recorded by `rr`, or left to the machine and disturbed.
//!
//! A schedule that is controlled is found sooner and can be repeated, so that is what is done where the harness can be built
//! for it. `rr` repeats what happened to happen. What is left is to disturb threads, and to hope.

use std::ops::RangeInclusive;
use std::time::Instant;

use explore::audit::Audit;
use explore::counted;
use settings::Profile;

use crate::{Asked, Campaign, Error, Event, Harness, How, Scheduling, Workload};

/// How schedules are to come about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// In the best way that is possible here.
    Best,
    /// A strategy decides every step.
    Controlled(How),
    /// This `rr` records runs, and schedules threads at random.
    Rr(String),
    /// The machine does as it likes.
    Free,
}

/// How schedules come about.
pub(crate) enum Tier {
    Controlled(Box<Harness>, Scheduling),
    Rr(String),
    Free,
}

/// How many interruptions are enough for most faults (Musuvathi and Qadeer, Iterative context bounding).
const FALLBACK_BOUND: u32 = 2;

impl Campaign {
    /// Builds the harness in the best way that is possible here, or in the one that was asked for.
    pub(crate) fn choose_tier(&self, tell: &mut dyn FnMut(Event<'_>)) -> Result<Tier, Error> {
        match &self.choice {
            Choice::Rr(rr) => {
                self.build(tell)?;
                self.probe_rr(rr).map_err(|why| {
                    let message = format!("`{rr}` cannot be used here: {why}");
                    Error::with_help("--rr", message, "without `--rr`, threads are controlled or disturbed")
                })?;
                Ok(Tier::Rr(rr.clone()))
            }
            Choice::Free => self.build(tell).map(|()| Tier::Free),
            Choice::Controlled(how) => match self.build_controlled(tell) {
                Ok(harness) => Ok(self.without_blind_spots(harness, *how, tell)),
                Err(why) => Err(Error::with_help("--schedule", why, "`--schedule free` runs it without control")),
            },
            Choice::Best => match self.build_controlled(tell) {
                Ok(harness) => Ok(self.without_blind_spots(harness, How::Random, tell)),
                Err(why) => {
                    tell(Event::Said(format!("not controlled: {why}")));
                    self.build(tell)?;
                    Ok(if self.probe_rr("rr").is_ok() { Tier::Rr("rr".into()) } else { Tier::Free })
                }
            },
        }
    }

    /// Which executions show the same is known only if everything is seen by which threads can tell each other something.
    /// Where it is not, all schedules with few interruptions are explored instead.
    fn without_blind_spots(&self, harness: Harness, how: How, tell: &mut dyn FnMut(Event<'_>)) -> Tier {
        let unseen = match Audit::of(&harness.executable()) {
            Ok(audit) if audit.is_complete() => None,
            Ok(audit) => Some(audit.summary()),
            Err(error) => Some(format!("the harness cannot be looked into: {error}")),
        };
        let (mut order, mut bound) = (self.order.clone(), self.bound);
        order.seed = self.workload.seed;
        // Accesses that are steps are ordered by the schedule; and what orders others is known only if all of it is seen.
        order.races = !order.plain && unseen.is_none();
        let how = match &unseen {
            // Which store is read depends on more than on who wrote to the same place.
            _ if how == How::Dpor && order.weak => {
                let why = "`dpor` does not know which loads and fences meet if memory is weak, so `dfs` is used";
                tell(Event::Said(why.to_owned()));
                How::Dfs
            }
            Some(unseen) if how == How::Dpor => {
                let bound = *bound.get_or_insert(FALLBACK_BOUND);
                tell(Event::Said(format!(
                    "not everything is seen ({unseen}): `dpor` could leave out too much, so `dfs` is used, with {bound} \
                     interruptions at most; `omnilink build audit` lists it"
                )));
                How::Dfs
            }
            _ => how,
        };
        Tier::Controlled(Box::new(harness), Scheduling { how, order, bound, unseen })
    }

    fn build_controlled(&self, tell: &mut dyn FnMut(Event<'_>)) -> Result<Harness, String> {
        let started = Instant::now();
        if self.is_given {
            return self.as_it_is();
        }
        let timeout = self.workload.timeout;
        let harness = Harness::build(&self.program, &self.settings, &self.store, timeout, self.is_built, self.host)?;
        if !self.is_built {
            // As the settings say it: what is added on the way tells nobody anything.
            let is_own = self.settings.harness.controlled.is_some();
            let command = if is_own { &harness.program.build } else { &self.program.build }.join(" ");
            let took = started.elapsed().as_secs_f64();
            tell(Event::Said(format!("built to be controlled: {command} ({took:.1} s)")));
        }
        Ok(harness)
    }

    /// The program that the user names, if it was built to be controlled.
    fn as_it_is(&self) -> Result<Harness, String> {
        let runtime = (self.host.tools)()?.kit.runtime().path();
        let (timeout, is_interrupted) = (self.workload.timeout, self.host.is_interrupted);
        let harness = Harness::built(self.program.clone(), runtime, &self.store, timeout, is_interrupted)?;
        match Audit::of(&harness.executable()) {
            Ok(audit) if audit.is_instrumented => Ok(harness),
            _ => {
                Err(format!("`{}` was not built to be controlled: `omnilink build` builds it so", self.program.run[0]))
            }
        }
    }

    fn build(&self, tell: &mut dyn FnMut(Event<'_>)) -> Result<(), Error> {
        if self.is_built || self.program.build.is_empty() {
            return Ok(());
        }
        let command = self.program.build.join(" ");
        let started = Instant::now();
        match self.program.build() {
            Ok(Ok(())) => {
                tell(Event::Said(format!("built: {command} ({:.1} s)", started.elapsed().as_secs_f64())));
                Ok(())
            }
            Ok(Err(said)) => Err(Error::about(command, format!("the build failed: {said}"))),
            Err(error) => Err(Error::about("the build", error)),
        }
    }

    fn probe_rr(&self, rr: &str) -> Result<(), String> {
        let scratch = self.store.scratch();
        std::fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
        explore::rr::probe(rr, &scratch)
    }

    /// The workload, in which the tier decides what the user leaves open.
    pub(crate) fn suited(&self, tier: &Tier) -> Workload {
        match tier {
            Tier::Controlled(_, scheduling) => self.workload.controlled(scheduling.how, &self.asked),
            Tier::Rr(_) | Tier::Free => self.workload.clone(),
        }
    }

    /// What the profile asks for and is not done, because the schedule is controlled.
    fn replaced(&self, workload: &Workload) -> Option<String> {
        let profiles = ["default", &self.profile].map(|name| self.settings.profile.get(name));
        let is_asked = |asks: fn(&Profile) -> bool| profiles.iter().flatten().any(|profile| asks(profile));
        let own = &self.workload;
        let operations = is_asked(|profile| profile.operations.is_some()) && own.operations != workload.operations;
        let threads = is_asked(|profile| profile.threads.is_some()) && own.threads != workload.threads;
        let keys = [(operations, "`operations`", "`--ops`"), (threads, "`threads`", "`--threads`")];
        let keys = keys.iter().filter(|(is_replaced, ..)| *is_replaced);
        let (keys, options): (Vec<&str>, Vec<&str>) = keys.map(|(_, key, option)| (*key, *option)).unzip();
        let (keys, options) = (keys.join(" and "), options.join(" and "));
        (!keys.is_empty()).then(|| format!("controlled runs are short: not {keys} of the profile, but see {options}"))
    }

    pub(crate) fn announce(&self, workload: &Workload, tier: &Tier, tell: &mut dyn FnMut(Event<'_>)) {
        let Workload { seed, runs, time, threads, operations, perturb, .. } = workload;
        let number = |range: &RangeInclusive<usize>, what: &str| match range.start() == range.end() {
            true => counted(*range.start() as u64, what),
            false => format!("{} to {} {what}s", range.start(), range.end()),
        };
        let runs =
            if *runs == u64::MAX { "all schedules".to_owned() } else { format!("up to {}", counted(*runs, "run")) };
        let time = time.map(|time| format!(" or {}", humantime::format_duration(time))).unwrap_or_default();
        let perturb: Vec<&str> = perturb.iter().map(|disturbance| disturbance.name()).collect();
        let schedule = match tier {
            Tier::Controlled(_, Scheduling { how, order, .. }) => {
                let plain = if order.plain { "" } else { "; plain accesses are not steps, see `--plain`" };
                let weak = ", weak memory as in C11: what is found may not happen on your processor";
                format!("controlled ({}{plain}){}", how.name(), if order.weak { weak } else { "" })
            }
            Tier::Rr(rr) => format!("recorded with `{rr} record --chaos`, disturbances: {}", perturb.join(", ")),
            Tier::Free => format!("disturbances: {}", perturb.join(", ")),
        };
        if let Tier::Controlled(..) = tier
            && let Some(replaced) = self.replaced(workload)
        {
            tell(Event::Said(replaced));
        }
        tell(Event::Said(format!(
            "fuzzing against {}: {runs}{time}, {}, {} each, {schedule}, seeds from {seed}",
            self.spec,
            number(threads, "thread"),
            number(operations, "operation"),
        )));
    }
}

/// Under control threads are made to meet, so runs are short.
const CONTROLLED_OPERATIONS: RangeInclusive<usize> = 2..=20;
const CONTROLLED_THREADS: usize = 3;
/// All schedules are few only if there is little to schedule.
const EXPLORED_OPERATIONS: RangeInclusive<usize> = 2..=2;
const EXPLORED_THREADS: RangeInclusive<usize> = 2..=2;

impl Workload {
    /// As it suits schedules that are controlled, where nothing else is asked for.
    fn controlled(&self, how: How, asked: &Asked) -> Workload {
        let (runs, threads, operations) = match how.is_exploration() {
            true => (u64::MAX, EXPLORED_THREADS, EXPLORED_OPERATIONS),
            false => {
                let most = (*self.threads.end()).min(CONTROLLED_THREADS).max(*self.threads.start());
                (self.runs, *self.threads.start()..=most, CONTROLLED_OPERATIONS)
            }
        };
        let suited = Workload { runs, threads, operations, ..self.clone() };
        Workload { perturb: Vec::new(), ..suited.with(asked) }
    }
}

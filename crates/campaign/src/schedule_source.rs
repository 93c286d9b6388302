//! Sources of schedules: a strategy, `rr`, or the operating system with perturbations.
//!
//! Controlled schedules find failures sooner and can be replayed, so they are preferred if the harness can be built for
//! it. `rr` replays what happened by chance. The last resort is to perturb threads and hope.

use std::ops::RangeInclusive;
use std::time::Instant;

use omnilink_explore::audit::Audit;
use omnilink_explore::instrument::cargo::INSTALL_SOURCES;
use omnilink_explore::{Asked, ExecutionOrder, Workload};
use omnilink_settings::Profile;
use omnilink_suggest::counted;

use crate::{Campaign, DfsOptions, Error, Event, Harness, How, Scheduling};

/// The requested scheduling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The best way available.
    Best,
    /// A strategy decides every step.
    Controlled(How),
    /// This `rr` records runs, and schedules threads at random.
    Rr(String),
    /// The operating system decides.
    Free,
}

/// The scheduling in use.
pub(crate) enum ScheduleSource {
    Controlled(Box<Harness>, Scheduling),
    Rr(String),
    Free,
}

impl ScheduleSource {
    /// How programs are scheduled, in a few words.
    pub(crate) fn words(&self) -> String {
        match self {
            ScheduleSource::Controlled(_, Scheduling { how, order, .. }) => {
                format!("controlled, {}{}", how.name(), if order.weak { ", weak memory" } else { "" })
            }
            ScheduleSource::Rr(_) => "recorded with rr".to_owned(),
            ScheduleSource::Free => "free".to_owned(),
        }
    }
}

/// This many preemptions suffice for most faults (Musuvathi and Qadeer, Iterative context bounding).
const FALLBACK_BOUND: u32 = 2;

impl Campaign {
    /// Builds the harness for the best scheduling available, or for the requested one.
    pub(crate) fn choose_source(&self, tell: &mut dyn FnMut(Event<'_>)) -> Result<ScheduleSource, Error> {
        match &self.choice {
            Choice::Rr(rr) => {
                self.build(tell)?;
                self.probe_rr(rr).map_err(|why| {
                    let message = format!("`{rr}` cannot be used here: {why}");
                    Error::with_help("--rr", message, "omit `--rr` to control or perturb threads instead")
                })?;
                Ok(ScheduleSource::Rr(rr.clone()))
            }
            Choice::Free => self.build(tell).map(|()| ScheduleSource::Free),
            Choice::Controlled(how) => match self.build_controlled(tell) {
                Err(_) if (self.host.is_interrupted)() => Err(Error::Interrupted),
                Ok(harness) => Ok(self.controlled_source(harness, *how, tell)),
                Err(why) => Err(Error::with_help("--schedule", why, "use `--schedule free` to run it without control")),
            },
            Choice::Best => match self.build_controlled(tell) {
                Err(_) if (self.host.is_interrupted)() => Err(Error::Interrupted),
                Ok(harness) => Ok(self.controlled_source(harness, How::Mix, tell)),
                Err(why) => {
                    // The reason why it cannot be built at all is reported once.
                    self.build(tell)?;
                    tell(Event::Said(format!("not controlled: {why}")));
                    Ok(if self.probe_rr("rr").is_ok() { ScheduleSource::Rr("rr".into()) } else { ScheduleSource::Free })
                }
            },
        }
    }

    fn controlled_source(&self, harness: Harness, how: How, tell: &mut dyn FnMut(Event<'_>)) -> ScheduleSource {
        let order = ExecutionOrder { seed: self.workload.seed, ..self.order.clone() };
        let scheduling = Scheduling::suited(&harness, how, order, self.dfs, &mut |said| tell(Event::Said(said)));
        ScheduleSource::Controlled(Box::new(harness), scheduling)
    }

    fn build_controlled(&self, tell: &mut dyn FnMut(Event<'_>)) -> Result<Harness, String> {
        let started = Instant::now();
        if self.is_given {
            return Harness::prebuilt(&self.program, &self.store, self.workload.timeout, self.host);
        }
        let timeout = self.workload.timeout;
        if !self.is_built {
            tell(Event::Building(self.program.build.join(" ")));
        }
        let harness = Harness::build(&self.program, &self.settings, &self.store, timeout, self.is_built, self.host)?;
        if !self.is_built {
            // As in the settings: the added flags do not help the user.
            let is_own = self.settings.harness.controlled.is_some();
            let command = if is_own { &harness.program.build } else { &self.program.build }.join(" ");
            let took = started.elapsed().as_secs_f64();
            tell(Event::Said(format!("built for control: {command} ({took:.1} s)")));
        }
        Ok(harness)
    }

    fn build(&self, tell: &mut dyn FnMut(Event<'_>)) -> Result<(), Error> {
        if self.is_built || self.program.build.is_empty() {
            return Ok(());
        }
        let command = self.program.build.join(" ");
        tell(Event::Building(command.clone()));
        let started = Instant::now();
        match self.program.build(&self.host.is_interrupted) {
            _ if (self.host.is_interrupted)() => Err(Error::Interrupted),
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
        omnilink_explore::rr::probe(rr, &scratch)
    }

    /// The workload, with the source's defaults for what the user leaves open.
    pub(crate) fn workload_for(&self, source: &ScheduleSource) -> Workload {
        match source {
            ScheduleSource::Controlled(_, scheduling) => controlled(&self.workload, scheduling.how, &self.asked),
            ScheduleSource::Rr(_) | ScheduleSource::Free => self.workload.clone(),
        }
    }

    /// The keys of the profile that a controlled schedule ignores.
    fn ignored_keys(&self, workload: &Workload) -> Option<String> {
        let profiles = ["default", &self.profile].map(|name| self.settings.profile.get(name));
        let is_asked = |asks: fn(&Profile) -> bool| profiles.iter().flatten().any(|profile| asks(profile));
        let own = &self.workload;
        let operations = is_asked(|profile| profile.operations.is_some()) && own.operations != workload.operations;
        let threads = is_asked(|profile| profile.threads.is_some()) && own.threads != workload.threads;
        let keys = [(operations, "`operations`", "`--ops`"), (threads, "`threads`", "`--threads`")];
        let keys = keys.iter().filter(|(is_replaced, ..)| *is_replaced);
        let (keys, options): (Vec<&str>, Vec<&str>) = keys.map(|(_, key, option)| (*key, *option)).unzip();
        let (keys, options) = (keys.join(" and "), options.join(" and "));
        (!keys.is_empty())
            .then(|| format!("controlled runs are short: ignoring {keys} of the profile; override with {options}"))
    }

    pub(crate) fn announce(&self, workload: &Workload, source: &ScheduleSource, tell: &mut dyn FnMut(Event<'_>)) {
        let Workload { seed, runs, time, threads, operations, perturb, script, .. } = workload;
        let number = |range: &RangeInclusive<usize>, what: &str| match range.start() == range.end() {
            true => counted(*range.start() as u64, what),
            false => format!("{} to {} {what}s", range.start(), range.end()),
        };
        let explores = matches!(source, ScheduleSource::Controlled(_, scheduling) if scheduling.how.is_exploration());
        let runs = match *runs {
            u64::MAX if explores => Some("all schedules".to_owned()),
            u64::MAX => None,
            runs => Some(format!("up to {}", counted(runs, "run"))),
        };
        let time = time.map(|time| humantime::format_duration(time).to_string());
        let limits: Vec<String> = runs.into_iter().chain(time).collect();
        let limits = limits.join(" or ");
        let perturb: Vec<&str> = perturb.iter().map(|disturbance| disturbance.name()).collect();
        let schedule = match source {
            ScheduleSource::Controlled(_, scheduling) => {
                let Scheduling { how, order, .. } = scheduling;
                let turns = if scheduling.has_weak_turns() { "; half of the runs with weak memory" } else { "" };
                let plain = match (order.plain, order.races) {
                    (true, _) | (false, true) => "",
                    (false, false) => "; plain accesses are not steps, see `--plain`",
                };
                let weak = ", weak memory as in C11: a failure may be impossible on your processor";
                format!("controlled ({}{turns}{plain}){}", how.name(), if order.weak { weak } else { "" })
            }
            ScheduleSource::Rr(rr) => {
                format!("recorded with `{rr} record --chaos`, disturbances: {}", perturb.join(", "))
            }
            ScheduleSource::Free => format!("disturbances: {}", perturb.join(", ")),
        };
        if let ScheduleSource::Controlled(..) = source
            && script.is_none()
            && let Some(ignored) = self.ignored_keys(workload)
        {
            tell(Event::Said(ignored));
        }
        let input = match script {
            Some(script) => format!(
                "{} of a script on {}",
                counted(script.calls.len() as u64, "call"),
                counted(script.threads().len() as u64, "thread"),
            ),
            None => format!("{}, {} each", number(threads, "thread"), number(operations, "operation")),
        };
        tell(Event::Said(format!("fuzzing against {}: {limits}, {input}, {schedule}, seeds from {seed}", self.spec)));
    }
}

impl Scheduling {
    /// The strategy, or a sound one if it would be unsound for this harness, and the reason as an event. Execution
    /// equivalence is sound only if all synchronization between threads is observed. Otherwise the campaign explores all
    /// schedules with few preemptions. It looks for data races if it knows the synchronization that orders accesses;
    /// otherwise it reports that it does not.
    pub fn suited(
        harness: &Harness,
        how: How,
        mut order: ExecutionOrder,
        mut dfs: DfsOptions,
        tell: &mut dyn FnMut(String),
    ) -> Scheduling {
        let audit = Audit::of(&harness.executable());
        order.races = audit.as_ref().is_ok_and(Audit::knows_order);
        let needs_sources = audit.as_ref().is_ok_and(|audit| audit.has_hooks);
        let unseen = match audit {
            Ok(audit) if audit.is_complete() => None,
            Ok(audit) => Some(audit.summary()),
            Err(error) => Some(format!("the harness cannot be audited: {error}")),
        };
        if let (false, Some(unseen)) = (order.races, &unseen) {
            tell(format!(
                "data races are not looked for: uninstrumented code ({unseen}); `omnilink build audit` lists it"
            ));
        }
        let how = match &unseen {
            // The store that a load reads depends on more than the writes to its address.
            _ if how == How::Dpor && order.weak => {
                tell("using `dfs`, because `dpor` does not support weak memory".to_owned());
                How::Dfs
            }
            Some(_) if how == How::Dpor => {
                let bound = *dfs.bound.get_or_insert(FALLBACK_BOUND);
                let preemptions = counted(u64::from(bound), "preemption");
                let advice = match needs_sources {
                    true => format!("; `{INSTALL_SOURCES}` lets the standard library be built with the program"),
                    false => "; `omnilink build audit` lists it".to_owned(),
                };
                tell(format!(
                    "using `dfs` with at most {preemptions}, because `dpor` would be unsound with uninstrumented code{advice}"
                ));
                How::Dfs
            }
            _ => how,
        };
        Scheduling { how, order, dfs, unseen }
    }
}

/// Controlled schedules make threads interact, so runs are short.
const CONTROLLED_OPERATIONS: RangeInclusive<usize> = 2..=20;
const CONTROLLED_THREADS: usize = 3;
/// Exploring all schedules is feasible only for few operations.
const EXPLORED_OPERATIONS: RangeInclusive<usize> = 2..=2;
const EXPLORED_THREADS: RangeInclusive<usize> = 2..=2;

/// The workload for controlled schedules, except for overridden values.
fn controlled(workload: &Workload, how: How, asked: &Asked) -> Workload {
    let (runs, threads, operations) = match how.is_exploration() {
        true => (u64::MAX, EXPLORED_THREADS, EXPLORED_OPERATIONS),
        false => {
            let least = *workload.threads.start();
            let most = (*workload.threads.end()).min(CONTROLLED_THREADS).max(least);
            (workload.runs, least..=most, CONTROLLED_OPERATIONS)
        }
    };
    // An exploration has an end.
    let time = workload.time.filter(|_| !(how.is_exploration() && workload.is_time_default));
    let suited = Workload { runs, threads, operations, time, ..workload.clone() };
    Workload { perturb: Vec::new(), ..suited.with(asked) }
}

//! How much to execute, and under which conditions: a profile of the settings, resolved.
//!
//! Every execution has its own seed, which determines everything about it. So an execution is repeated, as far as that
//! is possible without a controlled schedule, by requesting its seed.

use std::ops::RangeInclusive;
use std::time::Duration;

use omnilink_settings::{Profile, Settings};

use crate::{Disturbance, Plan, Script, parse_range};

/// The plans of a campaign: how many, and the ranges they are drawn from.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// The seed of the first run; each later run has the next one.
    pub seed: u64,
    /// The largest number of runs; [`u64::MAX`] if only the time is limited.
    pub runs: u64,
    /// The total time limit.
    pub time: Option<Duration>,
    /// Whether that is the default, and neither it nor a number of runs was asked for.
    pub is_time_default: bool,
    /// The number of threads of a run.
    pub threads: RangeInclusive<usize>,
    /// The number of operations of each thread.
    pub operations: RangeInclusive<usize>,
    /// The possible perturbations.
    pub perturb: Vec<Disturbance>,
    /// The calls of every run, if they are not drawn.
    pub script: Option<Script>,
    /// The time limit of one run.
    pub timeout: Duration,
}

/// Values that override a profile.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The largest number of runs.
    pub runs: Option<u64>,
    /// The total time limit.
    pub time: Option<Duration>,
    /// The number of threads of a run.
    pub threads: Option<RangeInclusive<usize>>,
    /// The number of operations of each thread.
    pub operations: Option<RangeInclusive<usize>>,
    /// The possible perturbations.
    pub perturb: Option<Vec<Disturbance>>,
    /// The calls of every run.
    pub script: Option<Script>,
    /// The time limit of one run.
    pub timeout: Option<Duration>,
}

/// Why a profile is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadProfile {
    /// No profile has this name; with a hint if one has a similar name.
    #[error("no profile `{0}` in the settings{1}")]
    Unknown(String, String),
    /// A value is invalid.
    #[error("profile `{profile}`: `{key}` is {why}")]
    Value {
        /// The profile.
        profile: String,
        /// The invalid key.
        key: &'static str,
        /// Why.
        why: String,
    },
}

/// Defaults, if neither the command line nor a profile has a value.
const TIME: Duration = Duration::from_secs(10);
const THREADS: RangeInclusive<usize> = 2..=4;
const OPERATIONS: RangeInclusive<usize> = 50..=200;
const TIMEOUT: Duration = Duration::from_secs(10);

impl Default for Workload {
    fn default() -> Workload {
        Workload {
            seed: 0,
            runs: u64::MAX,
            time: Some(TIME),
            is_time_default: true,
            threads: THREADS,
            operations: OPERATIONS,
            perturb: Disturbance::ALL.into(),
            script: None,
            timeout: TIMEOUT,
        }
    }
}

impl Workload {
    /// The workload of a profile. Missing values come from the profile `default`, and then from the built-in defaults.
    pub fn new(settings: &Settings, name: &str, seed: u64) -> Result<Workload, BadProfile> {
        let base = settings.profile.get("default").cloned().unwrap_or_default();
        let chosen = match settings.profile.get(name) {
            Some(profile) => profile.clone(),
            None if name == "default" => Profile::default(),
            None => {
                let hint = omnilink_suggest::aside(name, settings.profile.keys().map(String::as_str));
                return Err(BadProfile::Unknown(name.to_owned(), hint));
            }
        };
        let wrong = |key| move |why| BadProfile::Value { profile: name.to_owned(), key, why };
        let duration = |text: Option<String>| {
            let parsed =
                text.map(|text| humantime::parse_duration(&text).map_err(|error| format!("`{text}`: {error}")));
            parsed.transpose()
        };
        let range = |text: Option<String>| text.map(|text| parse_range(&text)).transpose();
        let parse =
            |names: Vec<String>| names.iter().map(|name| Disturbance::parse(name)).collect::<Result<Vec<_>, _>>();
        let perturb = chosen.perturb.or(base.perturb).map(parse).transpose();
        let ours = Workload::default();
        let (runs, time) = (chosen.runs.or(base.runs), duration(chosen.time.or(base.time)).map_err(wrong("time"))?);
        Ok(Workload {
            seed,
            runs: runs.unwrap_or(ours.runs),
            // A number of runs takes the time that it takes.
            time: if runs.is_some() { time } else { time.or(ours.time) },
            is_time_default: runs.is_none() && time.is_none(),
            threads: range(chosen.threads.or(base.threads)).map_err(wrong("threads"))?.unwrap_or(ours.threads),
            operations: range(chosen.operations.or(base.operations))
                .map_err(wrong("operations"))?
                .unwrap_or(ours.operations),
            perturb: perturb.map_err(wrong("perturb"))?.unwrap_or(ours.perturb),
            script: None,
            timeout: duration(chosen.timeout.or(base.timeout)).map_err(wrong("timeout"))?.unwrap_or(ours.timeout),
        })
    }

    /// The workload with these overrides.
    pub fn with(self, asked: &Asked) -> Workload {
        let own_time = if asked.runs.is_some() && self.is_time_default { None } else { self.time };
        Workload {
            seed: self.seed,
            runs: asked.runs.unwrap_or(self.runs),
            time: asked.time.or(own_time),
            is_time_default: self.is_time_default && asked.runs.is_none() && asked.time.is_none(),
            threads: asked.threads.clone().unwrap_or(self.threads),
            operations: asked.operations.clone().unwrap_or(self.operations),
            perturb: asked.perturb.clone().unwrap_or(self.perturb),
            script: asked.script.clone().or(self.script),
            timeout: asked.timeout.unwrap_or(self.timeout),
        }
    }

    /// The plan of the run with this number.
    pub fn plan(&self, number: u64) -> Plan {
        let seed = self.seed.wrapping_add(number);
        let mut random = fastrand::Rng::with_seed(seed);
        let perturb = match &*self.perturb {
            [] => Vec::new(),
            some => vec![some[random.usize(..some.len())]],
        };
        Plan {
            seed,
            threads: random.usize(self.threads.clone()),
            operations: random.usize(self.operations.clone()),
            perturb,
            only: None,
            script: self.script.clone(),
            test: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(text: &str, name: &str) -> Result<Workload, String> {
        Workload::new(&Settings::parse(text).unwrap(), name, 7).map_err(|error| error.to_string())
    }

    #[test]
    fn profiles_inherit_from_the_default_one() {
        let text = "[profile.default]\nruns = 5\nthreads = \"3\"\n[profile.ci]\nruns = 9\nperturb = [\"nap\"]";
        let ci = workload(text, "ci").unwrap();
        assert_eq!((ci.runs, ci.threads, ci.operations), (9, 3..=3, OPERATIONS));
        assert_eq!(ci.perturb, [Disturbance::Nap]);
        let default = workload("", "default").unwrap();
        assert_eq!((default.runs, default.time), (u64::MAX, Some(TIME)));
        assert_eq!((ci.time, default.with(&Asked { runs: Some(3), ..Asked::default() }).time), (None, None));
    }

    #[test]
    fn invalid_values_are_reported() {
        insta::assert_snapshot!(workload("", "ci").unwrap_err(), @"no profile `ci` in the settings");
        let wrong = |line: &str| workload(&format!("[profile.default]\n{line}"), "default").unwrap_err();
        insta::assert_snapshot!(wrong("threads = \"4..2\""), @"profile `default`: `threads` is `4..2`, an empty range");
        insta::assert_snapshot!(wrong("operations = \"0\""), @"profile `default`: `operations` is `0`, expected a number above zero or a range such as `2..4`");
        insta::assert_snapshot!(wrong("time = \"soon\""), @"profile `default`: `time` is `soon`: expected number at 0");
        insta::assert_snapshot!(wrong("perturb = [\"shout\"]"), @"profile `default`: `perturb` is `shout`, expected one of none, yield, nap, pin, crowd");
    }

    #[test]
    fn a_run_is_drawn_from_its_seed() {
        let workload = workload("", "default").unwrap();
        let again = Workload { seed: workload.seed + 3, ..workload.clone() };
        assert_eq!(workload.plan(3), again.plan(0));
        let plans: Vec<Plan> = (0..100).map(|number| workload.plan(number)).collect();
        for disturbance in Disturbance::ALL {
            assert!(plans.iter().any(|plan| plan.perturb == [disturbance]), "{disturbance:?}");
        }
        assert!(plans.iter().all(|plan| THREADS.contains(&plan.threads) && OPERATIONS.contains(&plan.operations)));
    }
}

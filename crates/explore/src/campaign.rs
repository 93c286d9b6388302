//! How much to run a harness, and under which conditions: a profile made definite.
//!
//! Every run has a seed of its own, and everything about a run is drawn from it. So one run is repeated, as far as a run
//! without a controlled schedule can be, by asking for one run with its seed.

use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use settings::{Profile, Settings};

/// A number of runs, and what they have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Campaign {
    /// The seed of the first run; the next has the next one.
    pub seed: u64,
    /// How many runs, at most.
    pub runs: u64,
    /// How long in all.
    pub time: Option<Duration>,
    /// How many threads a run has.
    pub threads: RangeInclusive<usize>,
    /// How many operations each thread performs.
    pub operations: RangeInclusive<usize>,
    /// What may disturb threads.
    pub perturb: Vec<Disturbance>,
    /// How long one run may take.
    pub timeout: Duration,
}

/// What disturbs threads, so that they meet in other ways than they would by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disturbance {
    /// Nothing.
    None,
    /// Now and then a thread lets another one go first, before an operation.
    Yield,
    /// Now and then a thread sleeps for some microseconds there.
    Nap,
    /// Each thread stays on one core.
    Pin,
    /// A few more threads, which only burn time.
    Crowd,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What everything that is random in it is drawn from.
    pub seed: u64,
    /// How many threads.
    pub threads: usize,
    /// How many operations each of them performs.
    pub operations: usize,
    /// What disturbs them.
    pub perturb: Vec<Disturbance>,
}

/// Why a profile cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadProfile {
    /// There is none of that name; another one was probably meant.
    #[error("there is no profile `{0}` in the settings{1}")]
    Unknown(String, String),
    /// A value means nothing.
    #[error("profile `{profile}`: `{key}` is {why}")]
    Value {
        /// The profile.
        profile: String,
        /// What is wrong.
        key: &'static str,
        /// Why.
        why: String,
    },
}

const DISTURBANCES: [(&str, Disturbance); 5] = [
    ("none", Disturbance::None),
    ("yield", Disturbance::Yield),
    ("nap", Disturbance::Nap),
    ("pin", Disturbance::Pin),
    ("crowd", Disturbance::Crowd),
];

impl Disturbance {
    /// The one of this name.
    pub fn parse(name: &str) -> Result<Disturbance, String> {
        let known = DISTURBANCES.iter().find(|(known, _)| *known == name);
        known.map(|(_, disturbance)| *disturbance).ok_or_else(|| {
            format!("`{name}`, which is no disturbance; there are {}", DISTURBANCES.map(|(name, _)| name).join(", "))
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        DISTURBANCES.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }

    /// In the words of the harness; none if there is nothing to say.
    pub fn order(self) -> Option<&'static str> {
        match self {
            Disturbance::None => None,
            Disturbance::Yield => Some("yield=4"),
            Disturbance::Nap => Some("nap=16"),
            Disturbance::Pin => Some("pin"),
            Disturbance::Crowd => Some("crowd=2"),
        }
    }
}

/// Where neither the command line nor a profile says.
const RUNS: u64 = 200;
const THREADS: RangeInclusive<usize> = 2..=4;
const OPERATIONS: RangeInclusive<usize> = 50..=200;
const TIMEOUT: Duration = Duration::from_secs(10);

impl Default for Campaign {
    fn default() -> Campaign {
        Campaign {
            seed: 0,
            runs: RUNS,
            time: None,
            threads: THREADS,
            operations: OPERATIONS,
            perturb: DISTURBANCES.map(|(_, disturbance)| disturbance).into(),
            timeout: TIMEOUT,
        }
    }
}

impl Campaign {
    /// What a profile asks for. What it leaves open is taken from the one named `default`, and then from ours.
    pub fn new(settings: &Settings, name: &str, seed: u64) -> Result<Campaign, BadProfile> {
        let base = settings.profile.get("default").cloned().unwrap_or_default();
        let chosen = match settings.profile.get(name) {
            Some(profile) => profile.clone(),
            None if name == "default" => Profile::default(),
            None => {
                let hint = suggest::aside(name, settings.profile.keys().map(String::as_str));
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
        let ours = Campaign::default();
        Ok(Campaign {
            seed,
            runs: chosen.runs.or(base.runs).unwrap_or(ours.runs),
            time: duration(chosen.time.or(base.time)).map_err(wrong("time"))?,
            threads: range(chosen.threads.or(base.threads)).map_err(wrong("threads"))?.unwrap_or(ours.threads),
            operations: range(chosen.operations.or(base.operations))
                .map_err(wrong("operations"))?
                .unwrap_or(ours.operations),
            perturb: perturb.map_err(wrong("perturb"))?.unwrap_or(ours.perturb),
            timeout: duration(chosen.timeout.or(base.timeout)).map_err(wrong("timeout"))?.unwrap_or(ours.timeout),
        })
    }

    /// The run of this number.
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
        }
    }
}

impl Plan {
    /// What the harness is told.
    pub fn environment(&self, trace: &Path) -> Vec<(&'static str, String)> {
        let perturb: Vec<&str> = self.perturb.iter().filter_map(|disturbance| disturbance.order()).collect();
        vec![
            ("OMNILINK_TRACE", trace.display().to_string()),
            ("OMNILINK_SEED", self.seed.to_string()),
            ("OMNILINK_THREADS", self.threads.to_string()),
            ("OMNILINK_OPS", self.operations.to_string()),
            ("OMNILINK_PERTURB", perturb.join(",")),
        ]
    }

    /// In words.
    pub fn describe(&self) -> String {
        let disturbed: Vec<&str> = self.perturb.iter().map(|disturbance| disturbance.name()).collect();
        let disturbed = match &*disturbed {
            [] => String::new(),
            ["none"] => ", undisturbed".to_owned(),
            some => format!(", disturbed by {}", some.join(", ")),
        };
        let [threads, operations] =
            [(self.threads, "thread"), (self.operations, "operation")].map(|(count, what)| counted(count as u64, what));
        format!("seed {}, {threads}, {operations} each{disturbed}", self.seed)
    }
}

/// So many of something, in words.
pub fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A number, or two with `..` between them, both included.
pub fn parse_range(text: &str) -> Result<RangeInclusive<usize>, String> {
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|&number| number > 0);
    let parsed = match text.split_once("..") {
        None => number(text).map(|number| number..=number),
        Some((low, high)) => number(low).zip(number(high)).map(|(low, high)| low..=high),
    };
    match parsed {
        Some(range) if !range.is_empty() => Ok(range),
        Some(_) => Err(format!("`{text}`, which ends before it begins")),
        None => Err(format!("`{text}`, which is neither a number above zero nor a range such as `2..4`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn campaign(text: &str, name: &str) -> Result<Campaign, String> {
        Campaign::new(&Settings::parse(text).unwrap(), name, 7).map_err(|error| error.to_string())
    }

    #[test]
    fn a_profile_stands_on_the_default_one() {
        let text = "[profile.default]\nruns = 5\nthreads = \"3\"\n[profile.ci]\nruns = 9\nperturb = [\"nap\"]";
        let ci = campaign(text, "ci").unwrap();
        assert_eq!((ci.runs, ci.threads, ci.operations), (9, 3..=3, OPERATIONS));
        assert_eq!(ci.perturb, [Disturbance::Nap]);
        assert_eq!(campaign("", "default").unwrap().runs, RUNS);
    }

    #[test]
    fn what_means_nothing_is_named() {
        insta::assert_snapshot!(campaign("", "ci").unwrap_err(), @"there is no profile `ci` in the settings");
        let wrong = |line: &str| campaign(&format!("[profile.default]\n{line}"), "default").unwrap_err();
        insta::assert_snapshot!(wrong("threads = \"4..2\""), @"profile `default`: `threads` is `4..2`, which ends before it begins");
        insta::assert_snapshot!(wrong("operations = \"0\""), @"profile `default`: `operations` is `0`, which is neither a number above zero nor a range such as `2..4`");
        insta::assert_snapshot!(wrong("time = \"soon\""), @"profile `default`: `time` is `soon`: expected number at 0");
        insta::assert_snapshot!(wrong("perturb = [\"shout\"]"), @"profile `default`: `perturb` is `shout`, which is no disturbance; there are none, yield, nap, pin, crowd");
    }

    #[test]
    fn a_run_is_drawn_from_its_seed() {
        let campaign = campaign("", "default").unwrap();
        let again = Campaign { seed: campaign.seed + 3, ..campaign.clone() };
        assert_eq!(campaign.plan(3), again.plan(0));
        let plans: Vec<Plan> = (0..100).map(|number| campaign.plan(number)).collect();
        for (_, disturbance) in DISTURBANCES {
            assert!(plans.iter().any(|plan| plan.perturb == [disturbance]), "{disturbance:?}");
        }
        assert!(plans.iter().all(|plan| THREADS.contains(&plan.threads) && OPERATIONS.contains(&plan.operations)));
    }

    #[test]
    fn the_harness_is_told() {
        let plan = Plan { seed: 1, threads: 2, operations: 3, perturb: vec![Disturbance::Pin, Disturbance::Nap] };
        let told: Vec<String> =
            plan.environment(Path::new("t")).iter().map(|(name, value)| format!("{name}={value}")).collect();
        insta::assert_snapshot!(told.join(" "), @"OMNILINK_TRACE=t OMNILINK_SEED=1 OMNILINK_THREADS=2 OMNILINK_OPS=3 OMNILINK_PERTURB=pin,nap=16");
    }
}

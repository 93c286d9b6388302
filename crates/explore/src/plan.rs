//! The input of one execution: what a harness is told before it starts.

use std::ops::RangeInclusive;
use std::path::Path;

use serde::{Deserialize, Serialize};

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

/// What an execution is given. A [`Plan`] leaves it to the harness what each thread does; other inputs may say more.
pub trait Input {
    /// The variables of the environment that tell the harness, which records to `trace`.
    fn environment(&self, trace: &Path) -> Vec<(&'static str, String)>;

    /// In words.
    fn describe(&self) -> String;
}

impl Disturbance {
    /// All of them.
    pub const ALL: [Disturbance; 5] =
        [Disturbance::None, Disturbance::Yield, Disturbance::Nap, Disturbance::Pin, Disturbance::Crowd];

    /// The one of this name.
    pub fn parse(name: &str) -> Result<Disturbance, String> {
        let known = Disturbance::ALL.into_iter().find(|known| known.name() == name);
        known.ok_or_else(|| {
            let names = Disturbance::ALL.map(Disturbance::name).join(", ");
            format!("`{name}`, which is no disturbance; there are {names}")
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Disturbance::None => "none",
            Disturbance::Yield => "yield",
            Disturbance::Nap => "nap",
            Disturbance::Pin => "pin",
            Disturbance::Crowd => "crowd",
        }
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

impl Input for Plan {
    fn environment(&self, trace: &Path) -> Vec<(&'static str, String)> {
        let perturb: Vec<&str> = self.perturb.iter().filter_map(|disturbance| disturbance.order()).collect();
        vec![
            ("OMNILINK_TRACE", trace.display().to_string()),
            ("OMNILINK_SEED", self.seed.to_string()),
            ("OMNILINK_THREADS", self.threads.to_string()),
            ("OMNILINK_OPS", self.operations.to_string()),
            ("OMNILINK_PERTURB", perturb.join(",")),
        ]
    }

    fn describe(&self) -> String {
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

    #[test]
    fn the_harness_is_told() {
        let plan = Plan { seed: 1, threads: 2, operations: 3, perturb: vec![Disturbance::Pin, Disturbance::Nap] };
        let told: Vec<String> =
            plan.environment(Path::new("t")).iter().map(|(name, value)| format!("{name}={value}")).collect();
        insta::assert_snapshot!(told.join(" "), @"OMNILINK_TRACE=t OMNILINK_SEED=1 OMNILINK_THREADS=2 OMNILINK_OPS=3 OMNILINK_PERTURB=pin,nap=16");
    }
}

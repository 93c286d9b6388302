//! The input of one execution, passed to the harness before it starts.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use omnilink_suggest::counted;
use serde::{Deserialize, Serialize};

use crate::script::Script;

/// A perturbation of threads, so that they interleave in other ways than they would by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disturbance {
    /// Nothing.
    None,
    /// Before an operation, a thread sometimes yields.
    Yield,
    /// Before an operation, a thread sometimes sleeps for some microseconds.
    Nap,
    /// Each thread stays on one core.
    Pin,
    /// A few more threads that only burn CPU time.
    Crowd,
}

/// The input of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The seed of everything random in it.
    pub seed: u64,
    /// The number of threads; 0 for a program that takes no input.
    pub threads: usize,
    /// The number of operations of each thread.
    pub operations: usize,
    /// The perturbations.
    pub perturb: Vec<Disturbance>,
    /// The operations to make, if not all of those that the seed and the numbers above stand for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Only>,
    /// The calls with their arguments; then the seed and the numbers above do not matter. A harness that is generated from a
    /// specification reads them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
    /// The calls, if the input names each of them; then the seed and the numbers above do not matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Calls>,
}

/// The operations that each thread makes, by thread. Threads without operations are not started.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Only(pub BTreeMap<usize, Vec<usize>>);

impl Only {
    /// The number of operations.
    pub fn operations(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }
}

/// As the harness reads it: `0:1,3 2:0` stands for operations 1 and 3 of thread 0, and operation 0 of thread 2.
impl fmt::Display for Only {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |operations: &[usize]| operations.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let entries: Vec<String> =
            self.0.iter().map(|(thread, operations)| format!("{thread}:{}", join(operations))).collect();
        f.write_str(&entries.join(" "))
    }
}

/// The calls of each thread, for an object program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// As the user reads them.
    pub text: String,
    /// By their numbers, as the program reads them.
    pub matrix: String,
}

/// The input of an execution. A [`Plan`] leaves each thread's operations to the harness; other inputs may specify more.
pub trait Input {
    /// The environment variables for the harness, which records to `trace`.
    fn environment(&self, trace: &Path) -> Vec<(&'static str, String)>;

    /// Writes the file that the harness reads, if there is one, beside the trace.
    fn write(&self, _trace: &Path) -> io::Result<()> {
        Ok(())
    }

    /// The input as text.
    fn describe(&self) -> String;
}

impl Disturbance {
    /// All perturbations.
    pub const ALL: [Disturbance; 5] =
        [Disturbance::None, Disturbance::Yield, Disturbance::Nap, Disturbance::Pin, Disturbance::Crowd];

    /// The perturbation with this name.
    pub fn parse(name: &str) -> Result<Disturbance, String> {
        let known = Disturbance::ALL.into_iter().find(|known| known.name() == name);
        known.ok_or_else(|| {
            let names = Disturbance::ALL.map(Disturbance::name).join(", ");
            format!("`{name}`, expected one of {names}")
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

    /// The instruction to the harness; `None` if there is nothing to do.
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

impl Plan {
    /// The plan of a program that takes no input. The seed is that of its schedule.
    pub fn without_input(seed: u64) -> Plan {
        Plan { seed, threads: 0, operations: 0, perturb: Vec::new(), only: None, script: None, test: None }
    }

    fn has_input(&self) -> bool {
        self.threads > 0
    }

    /// The number of operations of all threads.
    pub fn size(&self) -> usize {
        match (&self.script, &self.only) {
            (Some(script), _) => script.calls.len(),
            (None, Some(only)) => only.operations(),
            (None, None) => self.threads * self.operations,
        }
    }
}

impl Input for Plan {
    fn environment(&self, trace: &Path) -> Vec<(&'static str, String)> {
        if !self.has_input() {
            return Vec::new();
        }
        let perturb: Vec<&str> = self.perturb.iter().filter_map(|disturbance| disturbance.order()).collect();
        let mut variables = vec![
            ("OMNILINK_TRACE", trace.display().to_string()),
            ("OMNILINK_SEED", self.seed.to_string()),
            ("OMNILINK_THREADS", self.threads.to_string()),
            ("OMNILINK_OPS", self.operations.to_string()),
            ("OMNILINK_PERTURB", perturb.join(",")),
        ];
        // The variables of an execution stay set for the next one in the same process.
        variables.push(("OMNILINK_ONLY", self.only.as_ref().map(Only::to_string).unwrap_or_default()));
        if self.script.is_some() {
            variables.push(("OMNILINK_SCRIPT", script_beside(trace).display().to_string()));
        }
        if let Some(calls) = &self.test {
            variables.extend([("OMNILINK_MATRIX", calls.matrix.clone()), ("OMNILINK_ORDERS", String::new())]);
        }
        variables
    }

    fn write(&self, trace: &Path) -> io::Result<()> {
        self.script.as_ref().map_or(Ok(()), |script| fs::write(script_beside(trace), script.to_string()))
    }

    fn describe(&self) -> String {
        if let Some(calls) = &self.test {
            return calls.text.clone();
        }
        if !self.has_input() {
            return format!("seed {}", self.seed);
        }
        let disturbed: Vec<&str> = self.perturb.iter().map(|disturbance| disturbance.name()).collect();
        let disturbed = match &*disturbed {
            [] => String::new(),
            ["none"] => ", undisturbed".to_owned(),
            some => format!(", disturbed by {}", some.join(", ")),
        };
        let (threads, operations, each) = match (&self.script, &self.only) {
            (Some(script), _) => (script.threads().len(), script.calls.len(), ""),
            (None, Some(only)) => (only.0.len(), only.operations(), ""),
            (None, None) => (self.threads, self.operations, " each"),
        };
        let [threads, operations] =
            [(threads, "thread"), (operations, "operation")].map(|(count, what)| counted(count as u64, what));
        format!("seed {}, {threads}, {operations}{each}{disturbed}", self.seed)
    }
}

/// The file with the script of an execution that records to `trace`.
pub fn script_beside(trace: &Path) -> PathBuf {
    trace.with_extension("script")
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
        Some(_) => Err(format!("`{text}`, an empty range")),
        None => Err(format!("`{text}`, expected a number above zero or a range such as `2..4`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_becomes_environment_variables() {
        let plan = Plan {
            seed: 1,
            threads: 2,
            operations: 3,
            perturb: vec![Disturbance::Pin, Disturbance::Nap],
            only: None,
            script: None,
            test: None,
        };
        let some = Only([(0, vec![1, 3]), (2, vec![0])].into());
        insta::assert_snapshot!(some, @"0:1,3 2:0");
        let variables: Vec<String> =
            plan.environment(Path::new("t")).iter().map(|(name, value)| format!("{name}={value}")).collect();
        insta::assert_snapshot!(variables.join(" "), @"OMNILINK_TRACE=t OMNILINK_SEED=1 OMNILINK_THREADS=2 OMNILINK_OPS=3 OMNILINK_PERTURB=pin,nap=16 OMNILINK_ONLY=");
        let scripted = Plan { script: "omnilink-script 1\nT0 Get\nT3 Get\nT3 Get\n".parse().ok(), ..plan };
        insta::assert_snapshot!(scripted.describe(), @"seed 1, 2 threads, 3 operations, disturbed by pin, nap");
        let directory = tempfile::tempdir().unwrap();
        let trace = directory.path().join("trace");
        scripted.write(&trace).unwrap();
        let (_, path) = scripted.environment(&trace).pop().unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), scripted.script.as_ref().unwrap().to_string());
        // The seed of a schedule is not an input.
        assert!(Plan::without_input(1).environment(Path::new("t")).is_empty());
    }
}

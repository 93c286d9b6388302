//! `omnilink.toml`: how histories map to a specification, and how to build and run the harness that records them.
//!
//! ```
//! use omnilink_settings::{Feed, Settings};
//!
//! let settings = Settings::parse(
//!     r#"
//!     spec = "Queue.tla"
//!
//!     [constants]
//!     Clients = ["process"]
//!
//!     [operations.enq]
//!     action = "Enqueue"
//!     fields = { value = "elem" }
//!     "#,
//! )?;
//! assert_eq!(settings.constants["Clients"], [Feed::Process]);
//! assert_eq!(settings.mapping("enq").action.as_deref(), Some("Enqueue"));
//! # Ok::<(), omnilink_settings::BadSettings>(())
//! ```
//!
//! Every setting has a default, so a specification and a history that use the same names need no file. This crate
//! has no access to the specification: actions, constants and expressions are text here, and are checked where they
//! are used. Errors carry byte ranges as plain data; the caller renders them.

mod file;
pub mod log;
mod schema;

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;

pub use file::{FILE_NAME, ReadError};
pub use schema::json_schema;

/// The contents of the file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The specification to check against: a module beside this file, or the name of a built-in one.
    pub spec: Option<String>,
    /// A module beside the specification that extends it and overrides the meaning of operations.
    pub companion: Option<String>,
    /// The action parameter that is the process of an operation.
    pub process: Option<String>,
    /// Actions that are not recorded as operations and may happen at any time.
    pub internal: Vec<String>,
    /// The definition or constant that represents the absence of a value.
    pub nil: Option<String>,
    /// An operation field by which the system itself orders operations.
    pub order_by: Option<String>,
    /// What operations have to see of those before them, and in which orders: `linearizable, Size=overlap`.
    pub level: Option<String>,
    /// The isolation level of transactions, which need no specification: `snapshot`, `strict-serializable`.
    pub isolation: Option<String>,
    /// The order of the isolation level, if it is not that of its name: `none`, `session` or `real-time`.
    pub order: Option<String>,
    /// True if the isolation level is checked by the stamps of the database. Default: false.
    pub stamps: bool,
    /// Constants whose values come from the history: the union of the values of these feeds.
    pub constants: BTreeMap<String, Vec<Feed>>,
    /// Operations whose names or fields differ from those of their actions.
    pub operations: BTreeMap<String, Mapping>,
    /// Names of known failures, with a TLA+ expression each: a rejected history has the tag if the expression is
    /// TRUE in every state that is possible at the failure.
    pub tags: BTreeMap<String, String>,
    /// Failures that are known and accepted.
    pub known: Vec<Known>,
    /// The program that drives the system and records its operations.
    pub harness: Harness,
    /// Run budgets, by profile name.
    pub profile: BTreeMap<String, Profile>,
    /// What is known about the object that is checked without a specification.
    pub lineup: Lineup,
    /// How the lines of a log map to steps of the specification.
    pub log: Option<log::Log>,
}

/// A failure that is known and accepted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// Its name, such as the number of an issue.
    pub name: String,
    /// A part of the cause, as `omnilink fuzz` prints it.
    pub cause: String,
    /// A part of the place where accesses met, if the cause alone is too general.
    pub meets: Option<String>,
    /// Why it is accepted.
    pub reason: String,
    /// The last day on which it is.
    pub until: Option<Day>,
}

/// A day, such as `2026-12-31`. Days are ordered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Day(String);

impl TryFrom<String> for Day {
    type Error = String;

    fn try_from(text: String) -> Result<Day, String> {
        let number = |part: &str, digits: usize| part.parse::<u32>().ok().filter(|_| part.len() == digits);
        let parts: Vec<&str> = text.split('-').collect();
        let is_day = match parts[..] {
            [year, month, day] => {
                let (month, day) = (number(month, 2), number(day, 2));
                number(year, 4).is_some() && matches!((month, day), (Some(1..=12), Some(1..=31)))
            }
            _ => false,
        };
        match is_day {
            true => Ok(Day(text)),
            false => Err(format!("`{text}` is not a day such as `2026-12-31`")),
        }
    }
}

impl std::fmt::Display for Day {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is known about the object that is checked without a specification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lineup {
    /// Failures that are accepted.
    pub accepted: Vec<Accepted>,
}

/// A failure of an object that is accepted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// The smallest test that fails, as it is printed.
    pub test: String,
    /// Why that is right.
    pub reason: String,
}

/// The program that drives the system and records its operations.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Harness {
    /// The command that builds it, run beside this file.
    pub build: Vec<String>,
    /// The command that runs it once, beside this file.
    pub run: Vec<String>,
    /// The commands for the program with controlled threads. Default: derived from `build` and `run`.
    pub controlled: Option<Controlled>,
    /// The file that `omnilink init --update` writes for it. Default: the first of `src/operations.rs`, `operations.hpp`,
    /// `omnilink/src/operations.rs` and `omnilink/operations.hpp` that exists, for `omnilink.toml`.
    pub generated: Option<String>,
    /// Actions of the specification that the harness does not support.
    pub unsupported: Vec<String>,
    /// The relative weight with which each call is drawn. Default: 1.
    pub weights: BTreeMap<String, u32>,
    /// Sources of argument values, by `Call.argument`.
    pub values: BTreeMap<String, Values>,
    /// The outcomes and results of calls. Default: derived from the actions.
    pub calls: BTreeMap<String, Outcomes>,
    /// Data races that are known and accepted.
    pub races: Vec<KnownRace>,
}

/// A data race that is known and accepted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnownRace {
    /// A part of the description of each access, such as a function or `queue.hpp:40`, in any order.
    pub between: [String; 2],
    /// Why it is accepted.
    pub reason: String,
}

/// The commands that build and run a harness with controlled threads.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Controlled {
    /// The command that builds it, run with `CC`, `CXX` and the flags for Rust set. Default: the harness's `build`.
    #[serde(default)]
    pub build: Vec<String>,
    /// The command that runs it.
    pub run: Vec<String>,
}

/// The source of the values of an argument.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Values {
    /// `fresh`, never the same twice in a run, or an inclusive range such as `0..7`.
    Rule(String),
    /// One of these.
    List(#[schemars(with = "Vec<schema::Any>")] Vec<toml::Value>),
}

/// The outcomes and results of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Outcomes {
    /// Parameters of the actions that the system returns; the harness passes the others.
    pub results: Option<Vec<String>>,
    /// The actions. Default: those whose names begin with the name of the call.
    pub outcomes: Vec<String>,
}

/// The run budget of a harness. The caller chooses the defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// At most this many runs.
    pub runs: Option<u64>,
    /// The total time, such as `30s`.
    pub time: Option<String>,
    /// The number of threads: one number, or an inclusive range such as `2..4`.
    pub threads: Option<String>,
    /// The number of operations per thread: one number, or an inclusive range.
    pub operations: Option<String>,
    /// Perturbations of threads: any of `none`, `yield`, `nap`, `pin` and `crowd`.
    pub perturb: Option<Vec<String>>,
    /// The time limit of one run, such as `10s`.
    pub timeout: Option<String>,
}

/// A source of values for a constant.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Feed {
    /// `process`: the processes.
    Process,
    /// `Dequeue.elem`: a field of an operation; `*.elem`: of any operation that has it.
    Field {
        /// The operation as recorded; `None` for any.
        operation: Option<String>,
        /// The field as recorded.
        field: String,
    },
}

impl std::fmt::Display for Feed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Feed::Process => f.write_str("process"),
            Feed::Field { operation, field } => write!(f, "{}.{field}", operation.as_deref().unwrap_or("*")),
        }
    }
}

/// How an operation maps to an action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mapping {
    /// The action. Default: the one of the same name.
    pub action: Option<String>,
    /// Fields whose names differ from those of their parameters: field, parameter.
    pub fields: BTreeMap<String, String>,
    /// Fields that are not parameters.
    pub ignore: Vec<String>,
    /// Parameters that are not recorded: any value of the set over which the next-state relation quantifies them.
    pub any: Vec<String>,
}

/// Why settings cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct BadSettings {
    /// The message, with the line it refers to.
    text: String,
    /// The message, in one sentence.
    pub message: String,
    /// For an unknown key: the closest known key, or all of them.
    pub help: Option<String>,
    /// The bytes it refers to, if any.
    pub place: Option<Range<usize>>,
}

impl Settings {
    /// Parses the text of a settings file.
    pub fn parse(text: &str) -> Result<Settings, BadSettings> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            let (place, shown) = (error.span(), error.to_string());
            let shown = shown.trim_end();
            let Some((message, help)) = unknown_key(error.message()) else {
                return BadSettings { text: shown.to_owned(), message: error.message().to_owned(), help: None, place };
            };
            let line = shown.strip_suffix(error.message()).unwrap_or_default();
            BadSettings { text: format!("{line}{message}; {help}"), message, help: Some(help), place }
        })
    }

    /// The mapping of an operation.
    pub fn mapping(&self, operation: &str) -> Mapping {
        self.operations.get(operation).cloned().unwrap_or_default()
    }
}

/// The message and the help for an unknown key. The known keys of its table are in the message of the deserializer only:
/// ``unknown field `proces`, expected one of `spec`, `process` ``.
fn unknown_key(message: &str) -> Option<(String, String)> {
    let (key, expected) = message.strip_prefix("unknown field `")?.rsplit_once("`, expected ")?;
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let hint = omnilink_suggest::hint(key, known.iter().copied());
    let help = hint.unwrap_or_else(|| format!("the keys are `{}`", known.join("`, `")));
    Some((format!("unknown key `{key}`"), help))
}

impl TryFrom<String> for Feed {
    type Error = String;

    fn try_from(text: String) -> Result<Feed, String> {
        match text.split_once('.') {
            None if text == "process" => Ok(Feed::Process),
            Some((operation, field)) if !operation.is_empty() && !field.is_empty() => {
                let operation = (operation != "*").then(|| operation.to_owned());
                Ok(Feed::Field { operation, field: field.to_owned() })
            }
            _ => Err(format!("`{text}` is neither `process` nor of the form `Operation.field` or `*.field`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_parses() {
        let text = r#"
            spec = "Queue.tla"
            companion = "QueueTrace.tla"
            process = "p"
            internal = ["Compact"]
            nil = "Nil"
            [constants]
            Elems = ["enq.value", "*.elem"]
            Processes = ["process"]
            [operations.enq]
            action = "Enqueue"
            fields = { value = "elem" }
            ignore = ["took"]
            any = ["slot"]
            [harness]
            build = ["cargo", "build"]
            run = ["target/debug/harness"]
            unsupported = ["Compact"]
            weights = { Enqueue = 3 }
            values = { "Enqueue.elem" = "fresh", "Enqueue.kind" = ["a", "b"] }
            [harness.controlled]
            build = ["make", "controlled"]
            run = ["./controlled"]
            [harness.calls.Dequeue]
            results = ["elem"]
            outcomes = ["Dequeue", "DequeueEmpty"]
            [profile.ci]
            runs = 200
            threads = "2..4"
            perturb = ["none", "nap"]
        "#;
        let settings = Settings::parse(text).unwrap();
        assert_eq!(settings.constants["Processes"], [Feed::Process]);
        let any = Feed::Field { operation: None, field: "elem".into() };
        assert_eq!(settings.constants["Elems"][1], any);
        assert_eq!(settings.mapping("enq").fields["value"], "elem");
        assert_eq!(settings.mapping("deq"), Mapping::default());
        assert_eq!(settings.harness.values["Enqueue.elem"], Values::Rule("fresh".into()));
        assert_eq!(settings.harness.controlled.as_ref().unwrap().run, ["./controlled"]);
        assert_eq!(settings.harness.calls["Dequeue"].outcomes, ["Dequeue", "DequeueEmpty"]);
        assert_eq!(settings.profile["ci"].threads.as_deref(), Some("2..4"));
        assert_eq!(Settings::parse("").unwrap(), Settings::default());
    }

    #[test]
    fn a_known_failure_has_a_day() {
        let parse = |until: &str| {
            let text = format!("[[known]]\nname = \"a\"\ncause = \"b\"\nreason = \"c\"\nuntil = \"{until}\"");
            Settings::parse(&text).map(|settings| settings.known[0].until.clone().unwrap().to_string())
        };
        assert_eq!(parse("2026-12-31").unwrap(), "2026-12-31");
        for wrong in ["2026-13-01", "tomorrow", "2026-12", "2026-1-001", ""] {
            assert!(parse(wrong).unwrap_err().message.contains("is not a day"), "{wrong}");
        }
    }

    #[test]
    fn errors_show_the_line() {
        insta::assert_snapshot!(Settings::parse("proces = \"p\"").unwrap_err(), @r#"
        TOML parse error at line 1, column 1
          |
        1 | proces = "p"
          | ^^^^^^
        unknown key `proces`; did you mean `process`?
        "#);
        insta::assert_snapshot!(Settings::parse("[constants]\nElems = [\"elem\"]").unwrap_err(), @r#"
        TOML parse error at line 2, column 9
          |
        2 | Elems = ["elem"]
          |         ^^^^^^^^
        `elem` is neither `process` nor of the form `Operation.field` or `*.field`
        "#);
    }

    #[test]
    fn unknown_keys_have_suggestions() {
        let help = |text: &str| {
            let error = Settings::parse(text).unwrap_err();
            format!("{}: {}", error.message, error.help.unwrap())
        };
        insta::assert_snapshot!(help("[harnes]"), @"unknown key `harnes`: did you mean `harness`?");
        insta::assert_snapshot!(help("[profile.ci]\nrun = 3"), @"unknown key `run`: did you mean `runs`?");
        insta::assert_snapshot!(help("[harness.controlled]\nrnu = []"), @"unknown key `rnu`: did you mean `run`?");
        insta::assert_snapshot!(help("[harness.calls.Put]\nreturns = []"), @"unknown key `returns`: the keys are `results`, `outcomes`");
        insta::assert_snapshot!(help("\"odd` key\" = 1"), @"unknown key `odd` key`: the keys are `spec`, `companion`, `process`, `internal`, `nil`, `order_by`, `level`, `isolation`, `order`, `stamps`, `constants`, `operations`, `tags`, `known`, `harness`, `profile`, `lineup`, `log`");
        assert_eq!(Settings::parse("process = 1").unwrap_err().help, None);
    }
}

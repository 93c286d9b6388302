//! `[log]`: how the lines of a log map to steps of a specification.
//!
//! A log is lines of JSON of any shape. The section says which lines are events, where their name, process, time and
//! values are, and what each means: rules lead from events to actions. Expressions are text with a place, so that
//! errors in them can be shown in the file.

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use toml::{Spanned, Value};

/// The section `[log]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// A directory is one log: its files whose names match this pattern, merged by the order.
    pub files: Option<String>,
    /// The number of lines at the beginning of a file that are not events.
    pub header: usize,
    /// Which lines are events: TLA+ over `e`, the whole line. Default: all.
    #[serde(rename = "where")]
    pub filter: Option<Text>,
    /// The path of the event in a line. Default: the line.
    pub root: Option<Text>,
    /// The path of the event's name. An event without a name may be any step.
    pub event: Option<Text>,
    /// The path of the arguments, by place or by name.
    pub args: Option<Text>,
    /// The path of the process. Default: one process for each file.
    pub process: Option<Text>,
    /// Which events come before which. Default: the order of the lines.
    pub order: Order,
    /// Variables whose changes are in fields of the same name, as operations with a path.
    pub update: Vec<Text>,
    /// Variables that change only in events that say so.
    pub complete: Vec<Text>,
    /// Events that are no steps, by name.
    pub skip: Names,
    /// Paths of fields that have no meaning.
    pub ignore: Vec<String>,
    /// The definition that `null` stands for.
    pub null: Option<Text>,
    /// Strings of the log that stand for other values: TLA+ for each.
    pub values: BTreeMap<String, Text>,
    /// Constants with values from the log, or from a file beside the settings.
    pub constants: BTreeMap<Text, Constant>,
    /// What is known about the initial state.
    pub init: Init,
    /// Conditions with a name.
    pub state: Vec<Bundle>,
    /// What events mean.
    pub rule: Vec<Rule>,
    /// Steps that are not in the log.
    pub unlogged: Vec<Unlogged>,
}

/// A text and its place in the file.
#[derive(Debug, Clone, Default)]
pub struct Text {
    /// The text.
    pub text: String,
    /// The bytes of the file that contain it, with its quotes.
    pub place: Range<usize>,
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        self.text == other.text
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Text) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Text) -> std::cmp::Ordering {
        self.text.cmp(&other.text)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
        let spanned = Spanned::<String>::deserialize(deserializer)?;
        let place = spanned.span();
        Ok(Text { text: spanned.into_inner(), place })
    }
}

impl Text {
    /// The byte of the file at which the text begins, if it is there as it is, without escapes.
    pub fn offset(&self, file: &str) -> Option<usize> {
        if let Some(found) = file.get(self.place.clone())?.find(&self.text) {
            return Some(self.place.start + found);
        }
        // The place of a table with a header of its own is the header; its keys and values come after it.
        let rest = file.get(self.place.end..)?;
        let quoted = ['"', '\''].map(|quote| rest.find(&format!("{quote}{}{quote}", self.text)));
        let found = quoted.into_iter().flatten().min().map(|found| found + 1).or_else(|| rest.find(&self.text))?;
        Some(self.place.end + found)
    }
}

/// Names of events: one or several patterns, in which `*` stands for any characters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Names(pub Vec<Text>);

impl Names {
    /// True if a name matches one of the patterns.
    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| matches(&pattern.text, name))
    }
}

/// Whether a name matches a pattern, in which `*` stands for any characters.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Names, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        let place = spanned.span();
        let text = |value: Value| match value {
            Value::String(text) => Ok(Text { text, place: place.clone() }),
            other => Err(D::Error::custom(format!("invalid type: {}, expected a string", other.type_str()))),
        };
        match spanned.into_inner() {
            Value::Array(values) => values.into_iter().map(text).collect::<Result<_, _>>().map(Names),
            value => text(value).map(|text| Names(vec![text])),
        }
    }
}

/// Which events come before which. The order within each process counts in any case.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Order {
    /// The path of the time at which an event happened: a number, or RFC 3339.
    pub time: Option<Text>,
    /// How far the time may be off: a number, or the path of one. Default: 0.
    pub uncertainty: Option<Text>,
    /// The path of a time before the event.
    pub earliest: Option<Text>,
    /// The path of a time after the event.
    pub latest: Option<Text>,
    /// True if clocks of different processes differ by constants, which messages bound.
    pub offsets: bool,
    /// The path of a vector clock: an object with a number for each process.
    pub vector: Option<Text>,
    /// The path of a Lamport clock.
    pub lamport: Option<Text>,
    /// The path of the key of a message that an event sends.
    pub send: Option<Text>,
    /// The path of the key of a message that an event receives.
    pub receive: Option<Text>,
    /// Messages between processes, by the names of events.
    pub messages: Option<Messages>,
}

/// Messages: the k-th receive event with a key comes after the k-th send event with it.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Messages {
    /// The send events, by name.
    pub send: Names,
    /// The receive events, by name.
    pub receive: Names,
    /// The path of the key, or TLA+ over `e`.
    pub key: Text,
}

/// The value of a constant.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant {
    /// TLA+ over `first`, the first event, and `log`, all of them.
    Expression(Text),
    /// Taken from fields.
    Source {
        /// A file beside the settings with lines of JSON. Default: the log.
        file: Option<String>,
        /// A path in the header of the log.
        header: Option<String>,
        /// A path in the first line of the file, or in each event.
        field: Option<String>,
        /// Collect the values of all events into a set.
        all: bool,
        /// More paths, whose values are collected too; `[*]` is every element.
        also: Vec<String>,
        /// The form of the value.
        form: Option<String>,
        /// The bytes of the file that say so.
        place: Range<usize>,
    },
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    file: Option<String>,
    header: Option<String>,
    field: Option<String>,
    #[serde(default)]
    all: bool,
    #[serde(default)]
    also: Vec<String>,
    #[serde(rename = "as")]
    form: Option<String>,
}

impl<'de> Deserialize<'de> for Constant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Constant, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        let place = spanned.span();
        match spanned.into_inner() {
            Value::String(text) => Ok(Constant::Expression(Text { text, place })),
            value => {
                let Source { file, header, field, all, also, form } = value.try_into().map_err(D::Error::custom)?;
                Ok(Constant::Source { file, header, field, all, also, form, place })
            }
        }
    }
}

/// What is known about the initial state.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Init {
    /// Events at the beginning of a process that are no steps: the last of them tells its initial state.
    pub bootstrap: Names,
    /// The conditions that this last event puts on the initial state.
    pub state: Vec<Condition>,
    /// Variables that begin with other values than in the specification, because the log begins later: TLA+ over
    /// `boot`, the last bootstrap event of each process.
    pub set: Vec<(Text, Text)>,
    /// Expressions of the specification and their values in the initial state.
    pub is: Vec<Condition>,
}

impl<'de> Deserialize<'de> for Init {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Init, D::Error> {
        let mut init = Init::default();
        for (key, value) in BTreeMap::<Text, Spanned<Value>>::deserialize(deserializer)? {
            let place = value.span();
            match (&*key.text, value.into_inner()) {
                ("bootstrap", Value::Array(names)) => {
                    for name in names {
                        let Value::String(text) = name else {
                            return Err(D::Error::custom("`bootstrap` has names of events"));
                        };
                        init.bootstrap.0.push(Text { text, place: place.clone() });
                    }
                }
                ("set", Value::Table(table)) => {
                    for (variable, value) in table {
                        let Value::String(text) = value else {
                            return Err(D::Error::custom("`set` has an expression for each variable"));
                        };
                        let variable = Text { text: variable, place: place.clone() };
                        init.set.push((variable, Text { text, place: place.clone() }));
                    }
                }
                ("state", Value::Table(table)) => {
                    for (key, value) in table {
                        let left = Text { text: key, place: place.clone() };
                        init.state.push(Condition { left, right: Expected::new(value, place.clone())? });
                    }
                }
                (_, value) => init.is.push(Condition { left: key, right: Expected::new(value, place)? }),
            }
        }
        Ok(init)
    }
}

/// Conditions with a name.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    /// The name.
    pub name: String,
    /// Names for parts of the event.
    #[serde(default, rename = "let")]
    pub names: BTreeMap<Text, Text>,
    /// The conditions.
    pub is: Conditions,
}

/// What an event means. Rules for the same event that name no action add conditions to those that do.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// The events, by name. Default: all.
    pub event: Names,
    /// Fields that the event must have.
    pub has: Names,
    /// TLA+ over the event. A condition that reads a field that the line lacks is false.
    pub when: Option<Text>,
    /// Names for parts of the event.
    #[serde(rename = "let")]
    pub names: BTreeMap<Text, Text>,
    /// The action, or one of several.
    pub action: Names,
    /// The arguments of the action.
    pub args: BTreeMap<Text, Argument>,
    /// Conditions on the state before the step.
    pub before: Conditions,
    /// Conditions on the state after the step.
    pub after: Conditions,
    /// TLA+ over both states.
    pub step: Option<Text>,
    /// True if the event is not a step.
    pub skip: bool,
    /// Sequences of actions, one of which is taken for the event.
    pub then: Vec<Vec<String>>,
    /// An action that is taken one or more times for the event.
    pub repeat: Option<Text>,
    /// TLA+ over both states of the last of these steps.
    pub until: Option<Text>,
    /// The first of two events between which the step happens; this rule is for the second.
    pub span: Option<Span>,
}

/// A step between two events of a process.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// The first event, by name.
    pub from: Names,
    /// Paths whose values are equal in both events.
    #[serde(default)]
    pub key: Vec<Text>,
}

/// The value of an argument.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// A path of the event, or TLA+ over it.
    Value(Text),
    /// An element of a set of the state before the step.
    Chosen {
        /// The set: TLA+ over the event and the state.
        set: Text,
        /// The elements that count: TLA+ with the parameter's name for the element.
        filter: Option<Text>,
    },
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Choice {
    #[serde(rename = "in")]
    set: String,
    #[serde(rename = "where")]
    filter: Option<String>,
}

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Argument, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        let place = spanned.span();
        let text = |text: String| Text { text, place: place.clone() };
        Ok(match spanned.into_inner() {
            Value::Table(table) => {
                let Choice { set, filter } = Value::Table(table).try_into().map_err(D::Error::custom)?;
                Argument::Chosen { set: text(set), filter: filter.map(text) }
            }
            Value::String(string) => Argument::Value(text(string)),
            other => Argument::Value(text(literal(&other).map_err(D::Error::custom)?)),
        })
    }
}

/// Conditions on a state: the name of a bundle, or expressions with their values.
#[derive(Debug, Clone, PartialEq)]
pub enum Conditions {
    /// Those of a bundle.
    Bundle(Text),
    /// These.
    List(Vec<Condition>),
}

impl Default for Conditions {
    fn default() -> Conditions {
        Conditions::List(Vec::new())
    }
}

impl<'de> Deserialize<'de> for Conditions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Conditions, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        let place = spanned.span();
        match spanned.into_inner() {
            Value::String(text) => Ok(Conditions::Bundle(Text { text, place })),
            Value::Table(table) => {
                let condition = |(key, value): (String, Value)| {
                    let left = Text { text: key, place: place.clone() };
                    Ok(Condition { left, right: Expected::new(value, place.clone())? })
                };
                Ok(Conditions::List(table.into_iter().map(condition).collect::<Result<_, D::Error>>()?))
            }
            other => Err(D::Error::custom(format!(
                "invalid type: {}, expected the name of a `[[log.state]]` or a table",
                other.type_str()
            ))),
        }
    }
}

/// An expression of the specification and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// TLA+ over the state.
    pub left: Text,
    /// Its value.
    pub right: Expected,
}

/// An expected value.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// A path of the event, or TLA+ over it.
    pub value: Text,
    /// The form of the value.
    pub form: Option<String>,
    /// The values that each string stands for: any one of them.
    pub one_of: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Field {
    field: String,
    #[serde(rename = "as")]
    form: Option<String>,
    #[serde(default, rename = "in")]
    one_of: BTreeMap<String, Vec<String>>,
}

impl Expected {
    fn new<E: Error>(value: Value, place: Range<usize>) -> Result<Expected, E> {
        let (text, form, one_of) = match value {
            Value::String(text) => (text, None, BTreeMap::new()),
            Value::Table(table) => {
                let Field { field, form, one_of } = Value::Table(table).try_into().map_err(E::custom)?;
                (field, form, one_of)
            }
            other => (literal(&other).map_err(E::custom)?, None, BTreeMap::new()),
        };
        Ok(Expected { value: Text { text, place }, form, one_of })
    }
}

/// A value of TOML as TLA+.
fn literal(value: &Value) -> Result<String, String> {
    match value {
        Value::Boolean(true) => Ok("TRUE".to_owned()),
        Value::Boolean(false) => Ok("FALSE".to_owned()),
        Value::Integer(number) => Ok(number.to_string()),
        other => Err(format!("invalid type: {}, expected a string, a number or a Boolean", other.type_str())),
    }
}

/// Steps that are not in the log.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unlogged {
    /// The actions.
    pub action: Names,
    /// The events before which they may happen, by name. Default: all.
    #[serde(default)]
    pub before: Names,
    /// Arguments, from `e`, the event before which such a step happens.
    #[serde(default)]
    pub args: BTreeMap<Text, Text>,
    /// TLA+ over both states of such a step and `e`.
    pub step: Option<Text>,
    /// At most this many of them before one event. Default: 64.
    pub max: Option<u32>,
    /// True if they happen only while the event is not possible without them.
    #[serde(default)]
    pub needed: bool,
}

/// A form that a value of the log is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A sequence becomes a set.
    Set,
    /// A sequence of sequences becomes a tuple of sets.
    TupleOfSets,
    /// An object with integers as keys becomes a function on integers.
    Function,
    /// A string becomes a number.
    Number,
    /// A number becomes a string.
    String,
}

impl Form {
    /// The form with this name.
    pub fn by_name(name: &str) -> Result<Form, String> {
        Ok(match name {
            "set" => Form::Set,
            "tuple of sets" => Form::TupleOfSets,
            "function" => Form::Function,
            "number" => Form::Number,
            "string" => Form::String,
            _ => {
                let known = "`set`, `tuple of sets`, `function`, `number`, `string`";
                return Err(format!("unrecognized form `{name}` (expected one of {known})"));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    #[test]
    fn patterns_match_names() {
        assert!(matches("Send*", "SendVote") && matches("*", "") && matches("a*b*c", "axxbyyc") && matches("ab", "ab"));
        assert!(!matches("Send", "SendVote") && !matches("a*b", "ab c") && !matches("ab*ba", "aba"));
    }

    #[test]
    fn texts_have_places() {
        let file = "[log]\nroot = \"event\"\n[[log.rule]]\nevent = \"A\"\nafter = { \"x[e.n]\" = \"v\", y = 3 }\n";
        let log = Settings::parse(file).unwrap().log.unwrap();
        assert_eq!(log.root.as_ref().unwrap().offset(file), Some(14));
        let Conditions::List(conditions) = &log.rule[0].after else { panic!("a list") };
        assert_eq!(conditions[0].left.offset(file).map(|at| &file[at..at + 6]), Some("x[e.n]"));
        assert_eq!(conditions[1].right.value.text, "3");
        let file = "[log]\n[[log.state]]\nname = \"n\"\n[log.state.is]\n'x[i]' = \"v.w\"\n";
        let log = Settings::parse(file).unwrap().log.unwrap();
        let Conditions::List(conditions) = &log.state[0].is else { panic!("a list") };
        assert_eq!(conditions[0].left.offset(file).map(|at| &file[at..at + 4]), Some("x[i]"));
        assert_eq!(conditions[0].right.value.offset(file).map(|at| &file[at..at + 3]), Some("v.w"));
    }
}

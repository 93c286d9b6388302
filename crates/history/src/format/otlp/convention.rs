//! What the attributes of a span and of a resource mean.
//!
//! | attribute of a span | meaning | default |
//! |---|---|---|
//! | `omnilink.action` | the action | the name of the span |
//! | `omnilink.args`, `omnilink.results` | all arguments or results, as JSON text or as a list | none |
//! | `omnilink.arg.NAME`, `omnilink.result.NAME` | one of them | |
//! | `omnilink.key` | the argument `key` | |
//! | `omnilink.process` | the process | see below |
//! | `omnilink.outcome` | `ok`, `failed` (no effect) or `unknown` | `unknown` for an error, otherwise `ok` |
//! | `omnilink.seq` | the number of the operation in its process, from 0 on | |
//! | `omnilink.count` | the number of operations that the process has had so far | |
//!
//! A span with any of these is an operation, unless all it has is a process and a count. A span that ended with an
//! error is of unknown outcome, never failed: a timeout says nothing about what the server did.
//!
//! The process is that of the span, or else of its resource: `omnilink.process`, or `service.instance.id`. Without
//! either it is the thread, if attributes name one, and otherwise the trace.
//!
//! A resource may have `omnilink.clock_error`, the maximum error of its clock in nanoseconds, `omnilink.clock_drift`,
//! its maximum drift in parts per million, and `omnilink.clock_resolution`, the nanoseconds to which it rounds down.

use std::sync::Arc;

use crate::Value;
use crate::format::error::FormatError;
use crate::format::json::Json;
use crate::format::jsonl::{self, Fields};
use crate::format::node::Node;

const PREFIX: &str = "omnilink.";

const KNOWN: [&str; 10] = [
    "omnilink.action",
    "omnilink.args",
    "omnilink.results",
    "omnilink.arg.NAME",
    "omnilink.result.NAME",
    "omnilink.key",
    "omnilink.process",
    "omnilink.outcome",
    "omnilink.seq",
    "omnilink.count",
];

const KNOWN_OF_RESOURCES: [&str; 4] =
    ["omnilink.process", "omnilink.clock_error", "omnilink.clock_drift", "omnilink.clock_resolution"];

/// Attributes of others that are used here.
const FOREIGN: [&str; 9] = [
    "service.instance.id",
    "service.name",
    "host.name",
    "host.id",
    "hostname",
    "thread.id",
    "thread.name",
    WARNINGS[0],
    WARNINGS[1],
];

/// Where Jaeger says that it has changed a span, in the shape of OTLP.
const WARNINGS: [&str; 2] = ["@jaeger@warnings", "jaeger.internal.warnings"];

/// Attributes with their values. Those without a [meaning](super::matters) may be left out.
pub type Attributes = Vec<(String, Json)>;

/// The source of spans.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Resource {
    /// The clock that its times come from.
    pub(super) host: String,
    /// The process, if the resource names one.
    pub(super) process: Option<String>,
    pub(super) service: Option<String>,
    /// The maximum error against true time, in nanoseconds.
    pub(super) clock_error: Option<u64>,
    /// The maximum drift against true time, in parts per million.
    pub(super) clock_drift: Option<u64>,
    /// The nanoseconds to which its times are rounded down.
    pub(super) clock_resolution: Option<u64>,
}

/// An operation as a span records it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Operation {
    pub(super) process: String,
    pub(super) action: String,
    pub(super) args: Fields,
    pub(super) results: Fields,
    pub(super) outcome: Outcome,
    pub(super) seq: Option<u64>,
}

/// The meaning of a span.
#[derive(Debug, PartialEq)]
pub(super) struct Meaning {
    /// The operation, if the span is one.
    pub(super) operation: Option<Operation>,
    /// A process and the number of operations that it had by then.
    pub(super) count: Option<(String, u64)>,
}

/// The recorded outcome of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outcome {
    Ok,
    Failed,
    Unknown,
}

/// The fields of a span that defaults come from.
pub(super) struct About<'a> {
    pub(super) name: &'a str,
    pub(super) trace: u128,
    pub(super) is_error: bool,
    pub(super) has_end: bool,
}

/// The error in attributes.
pub(super) struct Wrong {
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Wrong {
    /// The error at a place of a document.
    pub(super) fn at(self, node: &Node<'_>) -> FormatError {
        FormatError { help: self.help, ..node.error(self.message) }
    }
}

impl<M: Into<String>> From<M> for Wrong {
    fn from(message: M) -> Wrong {
        Wrong { message: message.into(), help: None }
    }
}

/// The error that times are a guess of Jaeger's, and what to do about it.
pub(super) const ADJUSTED: &str = "Jaeger has changed the times of this span";
pub(super) const UNADJUSTED: &str =
    "add `raw=true` to the query, or run Jaeger with `--query.max-clock-skew-adjustment=0s`";

/// True for a warning of Jaeger's that it has moved a span.
pub(super) fn is_adjusted(warning: &str) -> bool {
    warning.contains("adjusted by")
}

/// True for attributes with a meaning here.
pub fn matters(key: &str) -> bool {
    key.starts_with(PREFIX) || FOREIGN.contains(&key)
}

/// The meaning of a span with these attributes.
pub(super) fn read(attributes: Attributes, about: &About<'_>, resource: &Resource) -> Result<Meaning, Wrong> {
    let mut thread = None;
    let (mut process, mut action, mut outcome, mut seq, mut count, mut key) = (None, None, None, None, None, None);
    let (mut args, mut results) = (Fields::new(), Fields::new());
    let (mut named_args, mut named_results) = (Fields::new(), Fields::new());
    let mut is_operation = false;
    for (name, json) in attributes {
        let Some(own) = name.strip_prefix(PREFIX) else {
            if WARNINGS.contains(&&*name) && is_adjusted(&json.to_string()) {
                return Err(Wrong { message: ADJUSTED.into(), help: Some(UNADJUSTED.into()) });
            }
            if name == "thread.id" || (name == "thread.name" && thread.is_none()) {
                thread = Some(plain(&name, json)?);
            }
            continue;
        };
        is_operation |= !matches!(own, "process" | "count");
        let wrong = |message: String| format!("`{name}`: {message}");
        match own {
            "action" => action = Some(text(&name, json)?),
            "args" => args = fields(json).map_err(wrong)?,
            "results" => results = fields(json).map_err(wrong)?,
            "key" => key = Some(jsonl::value_of(json).map_err(wrong)?),
            "process" => process = Some(plain(&name, json)?),
            "seq" => seq = Some(count_of(&name, &json)?),
            "count" => count = Some(count_of(&name, &json)?),
            "outcome" => {
                let text = text(&name, json)?;
                outcome = Some(match text.as_str() {
                    "ok" => Outcome::Ok,
                    "failed" => Outcome::Failed,
                    "unknown" => Outcome::Unknown,
                    _ => {
                        let text = text.escape_debug();
                        return Err(format!("`{name}` is `{text}`, not `ok`, `failed` or `unknown`").into());
                    }
                });
            }
            _ => {
                let (list, field) = match (own.strip_prefix("arg."), own.strip_prefix("result.")) {
                    (Some(field), _) => (&mut named_args, field),
                    (_, Some(field)) => (&mut named_results, field),
                    (None, None) => return Err(unknown(&name, &KNOWN)),
                };
                list.push((Arc::from(field), jsonl::value_of(json).map_err(wrong)?));
            }
        }
    }
    is_operation |= process.is_some() && count.is_none();
    let process = process.or_else(|| resource.process.clone()).unwrap_or_else(|| match (thread, &resource.service) {
        (Some(thread), Some(service)) => format!("{service}/{thread}"),
        (Some(thread), None) => thread,
        (None, _) => format!("{:032x}", about.trace),
    });
    let count = count.map(|count| (process.clone(), count));
    if !is_operation {
        return Ok(Meaning { operation: None, count });
    }
    // SDKs do not keep the order of attributes, so it has no meaning.
    named_args.sort_by(|(a, _), (b, _)| a.cmp(b));
    named_results.sort_by(|(a, _), (b, _)| a.cmp(b));
    args.extend(named_args);
    results.extend(named_results);
    if let Some(key) = key {
        match args.iter().find(|(name, _)| &**name == "key") {
            Some((_, other)) if *other != key => {
                return Err(format!("`omnilink.key` is {key}, but the argument `key` is {other}").into());
            }
            Some(_) => {}
            None => args.insert(0, ("key".into(), key)),
        }
    }
    for (what, list) in [("argument", &args), ("result", &results)] {
        let mut names: Vec<&str> = list.iter().map(|(name, _)| &**name).filter(|name| !name.is_empty()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("the {what} `{}` occurs twice", pair[0].escape_debug()).into());
        }
    }
    let is_given = outcome.is_some();
    let is_unknown = about.is_error || !about.has_end;
    let outcome = outcome.unwrap_or(if is_unknown { Outcome::Unknown } else { Outcome::Ok });
    match outcome {
        Outcome::Unknown if is_given && !results.is_empty() => {
            return Err("its outcome is unknown, but it has results".into());
        }
        Outcome::Unknown => results.clear(),
        Outcome::Ok | Outcome::Failed if !about.has_end => {
            return Err("it has an outcome, but `endTimeUnixNano` is missing or 0".into());
        }
        Outcome::Ok | Outcome::Failed => {}
    }
    let action = action.unwrap_or_else(|| about.name.to_owned());
    if action.is_empty() {
        return Err("it has neither a name nor `omnilink.action`".into());
    }
    let operation = Some(Operation { process, action, args, results, outcome, seq });
    Ok(Meaning { operation, count })
}

/// The resource that attributes describe.
pub(super) fn resource(mut attributes: Attributes) -> Result<Resource, String> {
    attributes.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut resource = Resource::default();
    let (mut host, mut instance) = (None, None);
    let all: Vec<String> = attributes.iter().map(|(key, value)| format!("{key}={value}")).collect();
    for (key, json) in attributes {
        match key.as_str() {
            "omnilink.process" => resource.process = Some(plain(&key, json)?),
            "omnilink.clock_error" => resource.clock_error = Some(count_of(&key, &json)?),
            "omnilink.clock_drift" => match count_of(&key, &json)? {
                drift @ 0..=1_000_000 => resource.clock_drift = Some(drift),
                drift => return Err(format!("`{key}` is {drift}, more than a million parts per million")),
            },
            "omnilink.clock_resolution" => resource.clock_resolution = Some(count_of(&key, &json)?),
            "service.instance.id" => instance = Some(plain(&key, json)?),
            "service.name" => resource.service = Some(plain(&key, json)?),
            "host.name" => host = Some(plain(&key, json)?),
            "host.id" | "hostname" if host.is_none() => host = Some(plain(&key, json)?),
            _ if key.starts_with(PREFIX) => return Err(unknown(&key, &KNOWN_OF_RESOURCES).message),
            _ => {}
        }
    }
    resource.host = host.or_else(|| instance.clone()).unwrap_or_else(|| all.join(","));
    resource.process = resource.process.or(instance);
    Ok(resource)
}

fn unknown(name: &str, known: &[&str]) -> Wrong {
    let hint = omnilink_suggest::hint(name, known.iter().copied());
    let help = hint.unwrap_or_else(|| format!("the attributes are `{}`", known.join("`, `")));
    Wrong { message: format!("unknown attribute `{}`", name.escape_debug()), help: Some(help) }
}

/// Arguments or results, as a value or as the text of one.
fn fields(json: Json) -> Result<Fields, String> {
    match json {
        Json::Text(text) => jsonl::read_fields_of(&text),
        json => jsonl::fields_of(json),
    }
}

/// The name of a process or a host: a string or an integer.
fn plain(key: &str, json: Json) -> Result<String, String> {
    match json {
        Json::Text(text) => Ok(text),
        Json::Number(number) if !matches!(number, Value::Float(_)) => Ok(number.to_string()),
        other => Err(format!("`{key}` is {}, not a string", other.kind())),
    }
}

fn text(key: &str, json: Json) -> Result<String, String> {
    match json {
        Json::Text(text) => Ok(text),
        other => Err(format!("`{key}` is {}, not a string", other.kind())),
    }
}

fn count_of(key: &str, json: &Json) -> Result<u64, String> {
    let text = match json {
        Json::Text(text) => text.clone(),
        Json::Number(number) => number.to_string(),
        other => return Err(format!("`{key}` is {}, not an integer", other.kind())),
    };
    text.parse().map_err(|_| format!("`{key}` is `{}`, not an integer from 0 on", text.escape_debug()))
}

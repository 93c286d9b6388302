//! Spans as OTLP, Tempo and Jaeger write them in JSON.
//!
//! All shapes hold the same data: resources, each with spans. OTLP has `resourceSpans`, Tempo has `batches` instead or
//! puts either into `trace`, the third version of Jaeger's interface puts the same into `result`, and the first one
//! has `data` with its own spans, see [`jaeger`](super::jaeger).
//!
//! An unknown key is an error wherever spans could be below it. Inside a span unknown keys are ignored, because the
//! protocol adds some from time to time.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use omnilink_suggest::counted;

use super::convention::{self, Attributes, Meaning, Operation, Resource, Wrong};
use crate::format::error::{FormatError, Location};
use crate::format::json::Json;
use crate::format::node::Node;

/// Spans, and the resources that they belong to.
#[derive(Debug, Default)]
pub struct Spans {
    pub(super) list: Vec<Span>,
    pub(super) resources: Vec<Resource>,
    /// Why operations are missing.
    pub(super) losses: Vec<String>,
}

/// One span. Times are nanoseconds.
#[derive(Debug)]
pub(super) struct Span {
    /// The line at which its document begins.
    pub(super) line: usize,
    pub(super) trace: u128,
    pub(super) id: u64,
    pub(super) content: Content,
    /// Its index among the resources.
    pub(super) resource: usize,
}

/// The part in which a duplicate has to agree.
#[derive(Debug, PartialEq)]
pub(super) struct Content {
    pub(super) parent: Option<u64>,
    pub(super) kind: Kind,
    /// It began at this time or at most `precision` later.
    pub(super) start: u64,
    pub(super) precision: u64,
    /// It ended at this time at the latest; `None` if it did not.
    pub(super) end: Option<u64>,
    pub(super) is_error: bool,
    pub(super) operation: Option<Operation>,
    /// The process and the number of operations that it had by then.
    pub(super) count: Option<(String, u64)>,
    /// Whether attributes were dropped.
    pub(super) is_damaged: bool,
}

impl Span {
    /// True if it has a meaning here.
    pub(super) fn matters(&self) -> bool {
        self.content.operation.is_some() || self.content.count.is_some()
    }
}

/// The role of a span in a call between hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// It waits for an answer.
    Client,
    /// It makes one.
    Server,
    /// It has neither role.
    Other,
}

/// The list of scopes of a resource, under its present and former names.
const SCOPES: [&str; 3] = ["scopeSpans", "instrumentationLibrarySpans", "deprecatedScopeSpans"];

/// Adds the spans of a document of OTLP's shape.
pub(super) fn read_document(node: &Node<'_>, spans: &mut Spans) -> Result<(), FormatError> {
    node.only(&["resourceSpans", "batches", "trace", "result", "metrics", "status", "message"])?;
    if let Some(status) = node.field("status")
        && (status.json == &Json::Text("PARTIAL".into()) || status.integer().is_ok_and(|code| code == 1))
    {
        let message = node.field("message").and_then(|message| message.text().ok()).unwrap_or_default();
        spans.losses.push(format!("line {}: the server returned part of a trace: {message}", node.line));
    }
    for wrapper in ["trace", "result"] {
        if let Some(inner) = node.field(wrapper) {
            inner.only(&["resourceSpans", "batches"])?;
            read_resources(&inner, spans)?;
        }
    }
    read_resources(node, spans)
}

fn read_resources(node: &Node<'_>, spans: &mut Spans) -> Result<(), FormatError> {
    for key in ["resourceSpans", "batches"] {
        let Some(list) = node.field(key) else { continue };
        for each in list.elements()? {
            each.only(&["resource", "schemaUrl", SCOPES[0], SCOPES[1], SCOPES[2]])?;
            let resource = each.field("resource");
            let attributes = resource.as_ref().map(|node| read_attributes(node, "attributes")).transpose()?;
            let resource = convention::resource(attributes.unwrap_or_default()).map_err(|error| each.error(error))?;
            let index = spans.add_resource(resource);
            for key in SCOPES {
                let Some(scopes) = each.field(key) else { continue };
                for scope in scopes.elements()? {
                    scope.only(&["scope", "instrumentationLibrary", "spans", "schemaUrl"])?;
                    let Some(list) = scope.field("spans") else { continue };
                    for span in list.elements()? {
                        read_span(&span, index, spans)?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn read_span(node: &Node<'_>, resource: usize, spans: &mut Spans) -> Result<(), FormatError> {
    let trace = read_id(&node.required("traceId")?, 16)?;
    let id = read_id(&node.required("spanId")?, 8)? as u64;
    let parent = match node.field("parentSpanId") {
        Some(parent) if parent.json != &Json::Text(String::new()) => Some(read_id(&parent, 8)? as u64),
        _ => None,
    };
    let kind = match node.field("kind").map(|kind| kind.json) {
        Some(Json::Text(text)) if text == "SPAN_KIND_CLIENT" => Kind::Client,
        Some(Json::Text(text)) if text == "SPAN_KIND_SERVER" => Kind::Server,
        Some(Json::Number(number)) if number.to_string() == "3" => Kind::Client,
        Some(Json::Number(number)) if number.to_string() == "2" => Kind::Server,
        _ => Kind::Other,
    };
    let status = node.field("status");
    let code = status.as_ref().and_then(|status| status.field("code")).map(|code| code.json);
    let is_error = match code {
        Some(Json::Text(text)) => text == "STATUS_CODE_ERROR" || text == "2",
        Some(Json::Number(number)) => number.to_string() == "2",
        _ => false,
    };
    let start = node.required("startTimeUnixNano")?.unsigned()?;
    let end = node.field("endTimeUnixNano").map(|end| end.unsigned()).transpose()?.filter(|end| *end != 0);
    let name = node.field("name").map(|name| name.text()).transpose()?.unwrap_or_default();
    let dropped = node.field("droppedAttributesCount").map(|count| count.unsigned()).transpose()?.unwrap_or(0);
    let attributes = read_attributes(node, "attributes")?;
    let raw = Raw { trace, id, parent, kind, start, precision: 0, end, is_error, name, dropped, attributes };
    spans.add(raw, resource, node.line).map_err(|wrong| wrong.at(node))
}

/// A span before its attributes are understood. Times are nanoseconds.
#[derive(Clone, Debug)]
pub struct Raw<'a> {
    /// The trace that it belongs to.
    pub trace: u128,
    /// Its identifier.
    pub id: u64,
    /// The span that caused it.
    pub parent: Option<u64>,
    /// Its role.
    pub kind: Kind,
    /// It began at this time or at most `precision` later.
    pub start: u64,
    /// See there.
    pub precision: u64,
    /// It ended at this time at the latest; `None` if it did not.
    pub end: Option<u64>,
    /// Whether it ended with an error.
    pub is_error: bool,
    /// Its name.
    pub name: &'a str,
    /// The number of attributes that it lost.
    pub dropped: u64,
    /// Its attributes.
    pub attributes: Attributes,
}

impl Spans {
    /// Adds a resource with these attributes. Returns its index.
    pub fn resource(&mut self, attributes: Attributes) -> Result<usize, FormatError> {
        let resource = convention::resource(attributes);
        Ok(self.add_resource(resource.map_err(|message| FormatError::new(Location::Line(1), message))?))
    }

    /// Adds a span of a resource.
    pub fn span(&mut self, resource: usize, raw: Raw<'_>) -> Result<(), FormatError> {
        self.add(raw, resource, 1).map_err(|Wrong { message, help }| FormatError {
            at: Location::Line(1),
            message,
            help,
        })
    }

    /// The index of a resource, added if it is new.
    pub(super) fn add_resource(&mut self, resource: Resource) -> usize {
        // Neighbors mostly share their resource.
        self.resources.iter().rposition(|known| *known == resource).unwrap_or_else(|| {
            self.resources.push(resource);
            self.resources.len() - 1
        })
    }

    pub(super) fn add(&mut self, raw: Raw<'_>, resource: usize, line: usize) -> Result<(), Wrong> {
        let Raw { trace, id, parent, kind, start, precision, end, is_error, name, dropped, attributes } = raw;
        let named = |wrong: Wrong| Wrong {
            message: format!("span {id:016x} of trace {trace:032x}: {}", wrong.message),
            ..wrong
        };
        if let Some(end) = end.filter(|end| *end < start) {
            let message = format!("it ends at {end}, before it starts at {start}");
            let help = "the clock was set back meanwhile: use a monotonic clock";
            return Err(named(Wrong { message, help: Some(help.into()) }));
        }
        if start == 0 {
            return Err(named("its start is 0".into()));
        }
        let about = convention::About { name, trace, is_error, has_end: end.is_some() };
        let Meaning { operation, count } =
            convention::read(attributes, &about, &self.resources[resource]).map_err(named)?;
        let is_damaged = dropped > 0;
        if is_damaged {
            let lost = counted(dropped, "attribute");
            let what = if operation.is_some() { "is an operation that" } else { "may be an operation: it" };
            self.losses.push(format!("span {id:016x} of trace {trace:032x} {what} lost {lost}"));
        }
        let content = Content { parent, kind, start, precision, end, is_error, operation, count, is_damaged };
        self.list.push(Span { line, trace, id, content, resource });
        Ok(())
    }
}

/// The attributes below a key that have a meaning here.
fn read_attributes(node: &Node<'_>, key: &str) -> Result<Attributes, FormatError> {
    let Some(list) = node.field(key) else { return Ok(Vec::new()) };
    let mut found: Attributes = Vec::new();
    for attribute in list.elements()? {
        let key = attribute.required("key")?.text()?;
        if convention::matters(key) {
            let value = match attribute.field("value") {
                Some(value) => read_any(&value)?,
                None => Json::Null,
            };
            if found.iter().any(|(known, _)| known == key) {
                return Err(attribute.error(format!("the attribute `{key}` occurs twice")));
            }
            found.push((key.to_owned(), value));
        }
    }
    Ok(found)
}

/// A value of an attribute, as the JSON that it stands for.
fn read_any(node: &Node<'_>) -> Result<Json, FormatError> {
    let mut fields = node.fields()?;
    let Some((kind, value)) = fields.next() else { return Ok(Json::Null) };
    if let Some((other, _)) = fields.next() {
        return Err(node.error(format!("a value is both `{kind}` and `{other}`")));
    }
    match kind {
        "stringValue" => Ok(Json::Text(value.text()?.to_owned())),
        "boolValue" => match value.json {
            Json::Bool(bool) => Ok(Json::Bool(*bool)),
            _ => Err(value.unexpected("a truth value")),
        },
        "intValue" => number(&value, &value.integer()?.to_string()),
        "doubleValue" => match value.json {
            Json::Number(number) => Ok(Json::Number(number.clone())),
            Json::Text(text) => number(&value, text),
            _ => Err(value.unexpected("a number")),
        },
        "arrayValue" | "kvlistValue" => {
            value.only(&["values"])?;
            let Some(values) = value.field("values") else {
                return Ok(if kind == "arrayValue" { Json::Array(Vec::new()) } else { Json::Object(Vec::new()) });
            };
            if kind == "arrayValue" {
                return Ok(Json::Array(values.elements()?.map(|value| read_any(&value)).collect::<Result<_, _>>()?));
            }
            let mut pairs: Vec<(String, Json)> = Vec::new();
            for pair in values.elements()? {
                let key = pair.required("key")?.text()?.to_owned();
                if pairs.iter().any(|(known, _)| *known == key) {
                    return Err(pair.error(format!("the key `{}` occurs twice", key.escape_debug())));
                }
                let value = pair.field("value").map(|value| read_any(&value)).transpose()?;
                pairs.push((key, value.unwrap_or(Json::Null)));
            }
            Ok(Json::Object(pairs))
        }
        _ => Err(node
            .error(format!("unsupported value `{}`", kind.escape_debug()))
            .help("an attribute has a string, an integer, a double, a truth value, an array or a list of pairs")),
    }
}

fn number(node: &Node<'_>, text: &str) -> Result<Json, FormatError> {
    crate::Value::parse_number(text).map(Json::Number).map_err(|error| node.error(error.to_string()))
}

/// An identifier of this many bytes, in hexadecimal or, as the JSON of Protocol Buffers has it, in base64.
pub(super) fn read_id(node: &Node<'_>, bytes: usize) -> Result<u128, FormatError> {
    let text = node.text()?;
    let is_hex = text.len() == 2 * bytes && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = match is_hex {
        true => u128::from_str_radix(text, 16).ok(),
        false => base64(text, bytes),
    };
    id.ok_or_else(|| {
        node.error(format!("expected {bytes} bytes in hexadecimal or base64, found `{}`", text.escape_debug()))
    })
}

/// Without padding; the bits of the last digit that belong to no byte count for nothing.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

/// Big-endian bytes, in either alphabet of base64, with or without padding.
fn base64(text: &str, bytes: usize) -> Option<u128> {
    let digits = text.trim_end_matches('=').replace('-', "+").replace('_', "/");
    let id = BASE64.decode(digits).ok().filter(|id| id.len() == bytes)?;
    Some(id.into_iter().fold(0, |id, byte| id << 8 | u128::from(byte)))
}

//! The JSON of Jaeger's user interface and of its first query interface.
//!
//! Times are microseconds, rounded down, and so are durations. So a span began at most 999 ns after the time that is
//! written, and ended less than two microseconds after the sum of both: the interval is as long as it may have been.
//!
//! Jaeger can move the spans of other hosts to where it believes them to belong. Such times are a guess, and an error
//! here.

use super::convention::{self, Attributes};
use super::span::{Kind, Raw, Spans};
use crate::Value;
use crate::format::error::FormatError;
use crate::format::json::Json;
use crate::format::node::Node;

/// Adds the spans of a document.
pub(super) fn read_document(node: &Node<'_>, spans: &mut Spans) -> Result<(), FormatError> {
    node.only(&["data", "total", "limit", "offset", "errors"])?;
    if let Some(errors) = node.field("errors")
        && errors.json != &Json::Array(Vec::new())
    {
        return Err(errors.error("the server reported errors, so spans may be missing"));
    }
    let Some(data) = node.field("data") else { return Err(node.error("`data` is missing")) };
    for trace in data.elements()? {
        trace.only(&["traceID", "spans", "processes", "warnings"])?;
        let processes = trace.field("processes");
        let mut resources: Vec<(&str, usize)> = Vec::new();
        if let Some(processes) = &processes {
            for (name, process) in processes.fields()? {
                resources.push((name, read_process(&process, spans)?));
            }
        }
        let Some(list) = trace.field("spans") else { continue };
        for span in list.elements()? {
            let resource = match (span.field("processID"), span.field("process")) {
                (Some(id), _) => {
                    let name = id.text()?;
                    let known = resources.iter().find(|(known, _)| *known == name);
                    known.ok_or_else(|| id.error(format!("unknown process `{}`", name.escape_debug())))?.1
                }
                (None, Some(process)) => read_process(&process, spans)?,
                (None, None) => return Err(span.error("`processID` is missing")),
            };
            read_span(&span, resource, spans)?;
        }
    }
    Ok(())
}

fn read_process(node: &Node<'_>, spans: &mut Spans) -> Result<usize, FormatError> {
    let mut tags = read_tags(node, convention::matters)?;
    if let Some(service) = node.field("serviceName")
        && !tags.iter().any(|(key, _)| key == "service.name")
    {
        tags.push(("service.name".into(), Json::Text(service.text()?.to_owned())));
    }
    let resource = convention::resource(tags).map_err(|error| node.error(error))?;
    Ok(spans.add_resource(resource))
}

fn read_span(node: &Node<'_>, resource: usize, spans: &mut Spans) -> Result<(), FormatError> {
    if let Some(warnings) = node.field("warnings") {
        for warning in warnings.elements()? {
            if convention::is_adjusted(warning.text()?) {
                return Err(warning.error(convention::ADJUSTED).help(convention::UNADJUSTED));
            }
        }
    }
    let is_used = |key: &str| convention::matters(key) || matches!(key, "span.kind" | "error" | "otel.status_code");
    let mut attributes = read_tags(node, is_used)?;
    let (mut kind, mut is_error) = (Kind::Other, false);
    attributes.retain(|(key, value)| {
        match (key.as_str(), value) {
            ("span.kind", Json::Text(text)) if text == "client" => kind = Kind::Client,
            ("span.kind", Json::Text(text)) if text == "server" => kind = Kind::Server,
            ("error", Json::Bool(bool)) => is_error |= bool,
            ("error", Json::Text(text)) => is_error |= text != "false",
            ("otel.status_code", Json::Text(text)) => is_error |= text == "ERROR",
            _ => {}
        }
        convention::matters(key)
    });
    let micros = |key| node.required(key)?.unsigned()?.checked_mul(1000).ok_or_else(|| node.error("a time too large"));
    let (start, duration) = (micros("startTime")?, micros("duration")?);
    let end = start.checked_add(duration).and_then(|end| end.checked_add(1999));
    let end = end.ok_or_else(|| node.error("a time too large"))?;
    let raw = Raw {
        trace: read_id(&node.required("traceID")?, 32)?,
        id: read_id(&node.required("spanID")?, 16)? as u64,
        parent: read_parent(node)?,
        kind,
        start,
        precision: 999,
        end: Some(end),
        is_error,
        name: node.field("operationName").map(|name| name.text()).transpose()?.unwrap_or_default(),
        dropped: 0,
        attributes,
    };
    spans.add(raw, resource, node.line).map_err(|wrong| wrong.at(node))
}

fn read_parent(node: &Node<'_>) -> Result<Option<u64>, FormatError> {
    if let Some(parent) = node.field("parentSpanID").filter(|parent| parent.json != &Json::Text(String::new())) {
        return Ok(Some(read_id(&parent, 16)? as u64));
    }
    let Some(references) = node.field("references") else { return Ok(None) };
    for reference in references.elements()? {
        if reference.field("refType").is_some_and(|kind| kind.json == &Json::Text("CHILD_OF".into())) {
            return Ok(Some(read_id(&reference.required("spanID")?, 16)? as u64));
        }
    }
    Ok(None)
}

/// An identifier of at most this many hexadecimal digits.
fn read_id(node: &Node<'_>, digits: usize) -> Result<u128, FormatError> {
    let text = node.text()?;
    let is_hex = (1..=digits).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = is_hex.then(|| u128::from_str_radix(text, 16).ok()).flatten();
    id.ok_or_else(|| {
        node.error(format!("expected at most {digits} hexadecimal digits, found `{}`", text.escape_debug()))
    })
}

fn read_tags(node: &Node<'_>, is_used: impl Fn(&str) -> bool) -> Result<Attributes, FormatError> {
    let Some(list) = node.field("tags") else { return Ok(Vec::new()) };
    let mut found: Attributes = Vec::new();
    for tag in list.elements()? {
        let key = tag.required("key")?.text()?;
        if !is_used(key) {
            continue;
        }
        if found.iter().any(|(known, _)| known == key) {
            return Err(tag.error(format!("the tag `{key}` occurs twice")));
        }
        let kind = tag.field("type").map(|kind| kind.text()).transpose()?.unwrap_or("string");
        let value = tag.required("value")?;
        let json = match (kind.to_ascii_lowercase().as_str(), value.json) {
            ("string", Json::Text(text)) => Json::Text(text.clone()),
            ("bool", Json::Bool(bool)) => Json::Bool(*bool),
            ("int64", _) => Json::Number(number(&value, &value.integer()?.to_string())?),
            ("float64", Json::Number(number)) => Json::Number(number.clone()),
            _ => return Err(value.error(format!("unsupported tag: {} of type `{kind}`", value.json.kind()))),
        };
        found.push((key.to_owned(), json));
    }
    Ok(found)
}

fn number(node: &Node<'_>, text: &str) -> Result<Value, FormatError> {
    Value::parse_number(text).map_err(|error| node.error(error.to_string()))
}

//! Receives spans of OpenTelemetry: OTLP over HTTP, with JSON.
//!
//! A span becomes an operation as in a file (`book/src/opentelemetry.md`). Spans come in any order and more than once, so
//! each needs `omnilink.process` and `omnilink.seq`. Times are used as they are, so all spans have to come from one host: the
//! clocks of several could only be compared by spans that have not come yet.

use std::net::SocketAddr;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use ::monitor::{Item, Line};
use history::format::otlp;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use super::serve::listen;
use super::source::{Batch, Came, Position};
use crate::exit::Exit;

/// The most bytes of a request.
const MOST_BYTES: usize = 64 << 20;

/// Receives until the command ends.
pub(super) fn start(address: SocketAddr, is_remote: bool, sender: SyncSender<Batch>) -> Result<(), Exit> {
    let host = Arc::new(Mutex::new(None));
    listen("--otlp", address, is_remote, move |request| {
        let (sender, host) = (sender.clone(), host.clone());
        async move { answer(request, &sender, &host).await }
    })?;
    Ok(())
}

async fn answer(
    request: Request<Incoming>,
    sender: &SyncSender<Batch>,
    host: &Mutex<Option<String>>,
) -> Response<Full<Bytes>> {
    let say = |status, text: String| {
        let mut response = Response::new(Full::new(Bytes::from(text)));
        *response.status_mut() = status;
        response
    };
    if request.uri().path() != "/v1/traces" {
        return say(StatusCode::NOT_FOUND, "only /v1/traces is here\n".to_owned());
    }
    if request.method() != Method::POST {
        return say(StatusCode::METHOD_NOT_ALLOWED, "only POST is supported\n".to_owned());
    }
    let kind = request.headers().get(hyper::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if kind.is_none_or(|kind| !kind.starts_with("application/json")) {
        return say(StatusCode::UNSUPPORTED_MEDIA_TYPE, "only application/json is supported\n".to_owned());
    }
    let Ok(body) = Limited::new(request.into_body(), MOST_BYTES).collect().await else {
        return say(StatusCode::PAYLOAD_TOO_LARGE, format!("at most {MOST_BYTES} bytes\n"));
    };
    let lines = lines(&body.to_bytes(), &mut host.lock().unwrap_or_else(PoisonError::into_inner));
    match lines {
        Err(why) => say(StatusCode::BAD_REQUEST, why + "\n"),
        Ok(lines) => {
            let lines = Came::Lines(lines.into_iter().map(Ok).collect());
            // This thread waits if the monitor falls behind, and so do the senders.
            match sender.send((lines, Position::default())) {
                Ok(()) => say(StatusCode::OK, "{}".to_owned()),
                Err(_) => say(StatusCode::SERVICE_UNAVAILABLE, "the monitor is ending\n".to_owned()),
            }
        }
    }
}

/// The lines that the spans of a request are. Spans that are not operations are left out.
fn lines(body: &[u8], host: &mut Option<String>) -> Result<Vec<Line>, String> {
    let document: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let list = |value: &Value, name: &str| -> Result<Vec<Value>, String> {
        match &value[name] {
            Value::Array(elements) => Ok(elements.clone()),
            Value::Null => Ok(Vec::new()),
            _ => Err(format!("`{name}` is not an array")),
        }
    };
    let mut lines = Vec::new();
    for resource in list(&document, "resourceSpans")? {
        for scope in list(&resource, "scopeSpans")? {
            for span in list(&scope, "spans")? {
                lines.extend(line(&resource["resource"], span, host)?);
            }
        }
    }
    Ok(lines)
}

/// The line that a span is, if it is one.
fn line(resource: &Value, mut span: Value, host: &mut Option<String>) -> Result<Option<Line>, String> {
    let (seq, count) = (take_number(&mut span, "omnilink.seq")?, take_number(&mut span, "omnilink.count")?);
    let name = span["spanId"].as_str().unwrap_or_default().to_owned();
    let process =
        attribute(&span["attributes"], "omnilink.process").or(attribute(&resource["attributes"], "omnilink.process"));
    let end = &span["endTimeUnixNano"];
    let end = end.as_u64().or_else(|| end.as_str()?.parse().ok());
    let alone = json!({ "resourceSpans": [{ "resource": resource, "scopeSpans": [{ "spans": [span] }] }] });
    let mut trace = otlp::read(&alone.to_string()).map_err(|error| error.to_string())?;
    if let Some(count) = count {
        let (process, time) =
            (process.ok_or("a span with `omnilink.count` needs `omnilink.process`")?, end.unwrap_or(0));
        return Ok(Some(Line::Progress { process: process.into(), time, operations: Some(count), is_last: true }));
    }
    let Some(record) = trace.records.pop() else { return Ok(None) };
    if process.is_none() || seq.is_none() {
        return Err(format!(
            "span {name} needs `omnilink.process` and `omnilink.seq`: without them losses go unnoticed"
        ));
    }
    let here = attribute(&resource["attributes"], "host.name").unwrap_or_default();
    if *host.get_or_insert_with(|| here.clone()) != here {
        return Err(format!("span {name} comes from another host: clocks of several hosts cannot be compared here"));
    }
    let process = trace.processes[record.process.index()].clone();
    Ok(Some(Line::Operation(Item { process, seq, start: record.start, end: record.end, call: record.call })))
}

/// The text of an attribute.
fn attribute(attributes: &Value, name: &str) -> Option<String> {
    let attribute = attributes.as_array()?.iter().find(|attribute| attribute["key"] == name)?;
    attribute["value"]["stringValue"].as_str().map(str::to_owned)
}

/// Removes an attribute, which is a number.
fn take_number(span: &mut Value, name: &str) -> Result<Option<u64>, String> {
    let Some(attributes) = span["attributes"].as_array_mut() else { return Ok(None) };
    let Some(place) = attributes.iter().position(|attribute| attribute["key"] == name) else { return Ok(None) };
    let value = attributes.remove(place)["value"]["intValue"].take();
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    number.map(Some).ok_or_else(|| format!("`{name}` is {value}, not an integer from 0 on"))
}

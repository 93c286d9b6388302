//! Receives spans of OpenTelemetry: OTLP over HTTP, with JSON.
//!
//! A span becomes an operation as in a file (`book/src/opentelemetry.md`). Spans come in any order and more than once, so
//! each needs `omnilink.seq`.

use std::net::SocketAddr;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use ::monitor::Line;
use history::format::otlp::{Arrived, Live};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response, StatusCode};

use super::serve::listen;
use super::source::{Batch, Came, Position};
use crate::exit::Exit;

/// The most bytes of a request.
const MOST_BYTES: usize = 64 << 20;

/// Receives until the command ends.
pub(super) fn start(address: SocketAddr, is_remote: bool, sender: SyncSender<Batch>) -> Result<(), Exit> {
    let live = Arc::new(Mutex::new(Live::default()));
    listen("--otlp", address, is_remote, move |request| {
        let (sender, live) = (sender.clone(), live.clone());
        async move { answer(request, &sender, &live).await }
    })?;
    Ok(())
}

async fn answer(request: Request<Incoming>, sender: &SyncSender<Batch>, live: &Mutex<Live>) -> Response<Full<Bytes>> {
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
    let lines = lines(&body.to_bytes(), &mut live.lock().unwrap_or_else(PoisonError::into_inner));
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
fn lines(body: &[u8], live: &mut Live) -> Result<Vec<Line>, String> {
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    let arrived = live.read(text).map_err(|error| match error.help {
        Some(help) => format!("{}\nhelp: {help}", error.message),
        None => error.message,
    })?;
    Ok(arrived.into_iter().map(line).collect())
}

fn line(arrived: Arrived) -> Line {
    match arrived {
        Arrived::Operation(operation) => Line::Operation(operation),
        Arrived::Count { process, operations, time } => {
            Line::Progress { process, time, operations: Some(operations), is_last: true }
        }
    }
}

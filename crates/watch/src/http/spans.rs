//! Receives spans of OpenTelemetry: OTLP over HTTP and over gRPC.
//!
//! A span becomes an operation as in a file (`book/src/opentelemetry.md`). Spans come in any order and more than once, so
//! each needs `omnilink.seq`. Protobuf and gRPC are in a crate of their own; gRPC is behind the feature `grpc`.

use std::io::Read;
use std::net::SocketAddr;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use flate2::read::MultiGzDecoder;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use omnilink_history::format::otlp::{Arrived, Live};
use omnilink_history::format::{FormatError, Location};
use omnilink_monitor::Line;

use super::Access;
use crate::error::WatchError;
use crate::source::{Batch, Came, Position, Source};

/// The most bytes of a request.
const MOST_BYTES: usize = 64 << 20;

/// Receives spans on any number of addresses, which share the data about hosts.
#[derive(Clone)]
pub struct SpanReceiver {
    live: Arc<Mutex<Live>>,
    sender: SyncSender<Batch>,
}

impl SpanReceiver {
    /// Makes a receiver, and a source of its operations. There is no position: operations received before a restart are
    /// lost unless the sender sends them again.
    pub fn new() -> (SpanReceiver, Source) {
        let (sender, source) = Source::channel("spans");
        (SpanReceiver { live: Arc::default(), sender }, source)
    }

    /// Passes on the operations of a request. Waits if the monitor falls behind, so that the senders wait. Returns false if
    /// the monitor is ending.
    fn take(&self, read: impl FnOnce(&mut Live) -> Result<Vec<Arrived>, FormatError>) -> Result<bool, FormatError> {
        let arrived = read(&mut self.live.lock().unwrap_or_else(PoisonError::into_inner))?;
        let lines = Came::Lines(arrived.into_iter().map(|arrived| Ok(line(arrived))).collect());
        Ok(self.sender.send((lines, Position::default())).is_ok())
    }

    /// Receives OTLP over HTTP until the program ends. Returns the address.
    pub fn serve_http(&self, address: SocketAddr, access: &Access) -> Result<SocketAddr, WatchError> {
        let (receiver, shared) = (self.clone(), access.clone());
        access.serve(address, move |request| {
            let (receiver, access) = (receiver.clone(), shared.clone());
            async move {
                receiver.answer(request).await.unwrap_or_else(|(status, why)| {
                    access.refuse(status, &why);
                    say(status, why)
                })
            }
        })
    }

    /// Answers a request, or returns the reason to refuse it.
    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, (StatusCode, String)> {
        let refuse = |status, why: &str| Err((status, format!("{why}\n")));
        if request.uri().path() != "/v1/traces" {
            return refuse(StatusCode::NOT_FOUND, "only /v1/traces is here");
        }
        if request.method() != Method::POST {
            return refuse(StatusCode::METHOD_NOT_ALLOWED, "only POST is supported");
        }
        let header =
            |name| request.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or("");
        let kind = header(header::CONTENT_TYPE);
        let is_protobuf = kind.starts_with("application/x-protobuf");
        if !is_protobuf && !kind.starts_with("application/json") {
            let why = "only application/json and application/x-protobuf are supported";
            return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
        }
        let is_compressed = match header(header::CONTENT_ENCODING) {
            "" | "identity" => false,
            "gzip" => true,
            _ => return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "only gzip is supported"),
        };
        let too_large = || refuse(StatusCode::PAYLOAD_TOO_LARGE, &format!("at most {MOST_BYTES} bytes"));
        let Ok(body) = Limited::new(request.into_body(), MOST_BYTES).collect().await else { return too_large() };
        let mut body = body.to_bytes().to_vec();
        if is_compressed {
            let mut plain = Vec::new();
            match MultiGzDecoder::new(&body[..]).take(MOST_BYTES as u64 + 1).read_to_end(&mut plain) {
                Ok(length) if length > MOST_BYTES => return too_large(),
                Ok(_) => body = plain,
                Err(error) => return refuse(StatusCode::BAD_REQUEST, &error.to_string()),
            }
        }
        match self.take(|live| read(&body, is_protobuf, live)) {
            Err(error) => refuse(StatusCode::BAD_REQUEST, &error.full()),
            Ok(false) => refuse(StatusCode::SERVICE_UNAVAILABLE, "the monitor is ending"),
            // An answer without a field is empty in protobuf.
            Ok(true) if is_protobuf => {
                let mut response = say(StatusCode::OK, "");
                let kind = HeaderValue::from_static("application/x-protobuf");
                response.headers_mut().insert(header::CONTENT_TYPE, kind);
                Ok(response)
            }
            Ok(true) => Ok(say(StatusCode::OK, "{}")),
        }
    }
}

fn say(status: StatusCode, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = status;
    response
}

/// The operations of a request.
fn read(body: &[u8], is_protobuf: bool, live: &mut Live) -> Result<Vec<Arrived>, FormatError> {
    if is_protobuf {
        return live.take(omnilink_otlp::decode(body)?);
    }
    let wrong = |error: std::str::Utf8Error| FormatError::new(Location::Line(1), error.to_string());
    live.read(std::str::from_utf8(body).map_err(wrong)?)
}

fn line(arrived: Arrived) -> Line {
    match arrived {
        Arrived::Operation(operation) => Line::Operation(operation),
        Arrived::Count { process, operations, time } => {
            Line::Progress { process, time, operations: Some(operations), is_last: true }
        }
    }
}

#[cfg(feature = "grpc")]
impl SpanReceiver {
    /// Receives OTLP over gRPC until the program ends. Returns the address.
    pub fn serve_grpc(&self, address: SocketAddr, access: &Access) -> Result<SocketAddr, WatchError> {
        let super::Bound { listener, address } = super::Bound::new(address)?;
        let (receiver, allowed, shared) = (self.clone(), access.clone(), access.clone());
        let is_allowed = Box::new(move |given: &[u8]| allowed.is_allowed(given));
        let options = omnilink_otlp::GrpcOptions { is_allowed, tls: access.tls.clone(), most_bytes: MOST_BYTES };
        let sink: omnilink_otlp::Sink = Arc::new(move |spans| match receiver.take(|live| live.take(spans)) {
            Ok(true) => Ok(()),
            Ok(false) => Err(omnilink_otlp::Refused::Ending),
            Err(error) => {
                shared.refuse(StatusCode::BAD_REQUEST, &error.full());
                Err(omnilink_otlp::Refused::Wrong(error.full()))
            }
        });
        let served = omnilink_otlp::serve(listener, options, sink);
        served.map(|()| address).map_err(|error| WatchError::new(address.to_string(), error))
    }
}

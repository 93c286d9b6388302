//! Receives spans of OpenTelemetry: OTLP over HTTP and over gRPC.
//!
//! A span becomes an operation as in a file (`book/src/opentelemetry.md`). Spans come in any order and more than once, so
//! each needs `omnilink.seq`. Protobuf and gRPC are in a crate of their own, behind the feature `grpc`.

use std::io::Read;
use std::net::SocketAddr;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use ::monitor::Line;
use flate2::read::MultiGzDecoder;
use history::format::otlp::{Arrived, Live};
use history::format::{FormatError, Location};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use super::listen::Access;
use super::source::{Batch, Came, Position};
use crate::exit::Exit;

/// The most bytes of a request.
const MOST_BYTES: usize = 64 << 20;

/// What takes spans: all requests share what is known of the hosts.
#[derive(Clone)]
pub(super) struct Receiver {
    live: Arc<Mutex<Live>>,
    sender: SyncSender<Batch>,
}

impl Receiver {
    pub(super) fn new(sender: SyncSender<Batch>) -> Receiver {
        Receiver { live: Arc::default(), sender }
    }

    /// Hands over what a request holds. Waits if the monitor falls behind, so that the senders do. False if the monitor is
    /// ending.
    fn take(&self, read: impl FnOnce(&mut Live) -> Result<Vec<Arrived>, FormatError>) -> Result<bool, FormatError> {
        let arrived = read(&mut self.live.lock().unwrap_or_else(PoisonError::into_inner))?;
        let lines = Came::Lines(arrived.into_iter().map(|arrived| Ok(line(arrived))).collect());
        Ok(self.sender.send((lines, Position::default())).is_ok())
    }

    /// Receives by HTTP until the command ends.
    pub(super) fn serve_http(self, address: SocketAddr, access: &Access) -> Result<(), Exit> {
        access.serve("--otlp", address, move |request| {
            let receiver = self.clone();
            async move { receiver.answer(request).await }
        })
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if request.uri().path() != "/v1/traces" {
            return say(StatusCode::NOT_FOUND, "only /v1/traces is here\n");
        }
        if request.method() != Method::POST {
            return say(StatusCode::METHOD_NOT_ALLOWED, "only POST is supported\n");
        }
        let header =
            |name| request.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or("");
        let kind = header(header::CONTENT_TYPE);
        let is_protobuf = kind.starts_with("application/x-protobuf");
        if !is_protobuf && !kind.starts_with("application/json") {
            let what = "only application/json and application/x-protobuf are supported\n";
            return say(StatusCode::UNSUPPORTED_MEDIA_TYPE, what);
        }
        let is_compressed = match header(header::CONTENT_ENCODING) {
            "" | "identity" => false,
            "gzip" => true,
            _ => return say(StatusCode::UNSUPPORTED_MEDIA_TYPE, "only gzip is supported\n"),
        };
        let too_large = || say(StatusCode::PAYLOAD_TOO_LARGE, format!("at most {MOST_BYTES} bytes\n"));
        let Ok(body) = Limited::new(request.into_body(), MOST_BYTES).collect().await else { return too_large() };
        let mut body = body.to_bytes().to_vec();
        if is_compressed {
            let mut plain = Vec::new();
            match MultiGzDecoder::new(&body[..]).take(MOST_BYTES as u64 + 1).read_to_end(&mut plain) {
                Ok(length) if length > MOST_BYTES => return too_large(),
                Ok(_) => body = plain,
                Err(error) => return say(StatusCode::BAD_REQUEST, format!("{error}\n")),
            }
        }
        match self.take(|live| read(&body, is_protobuf, live)) {
            Err(error) => say(StatusCode::BAD_REQUEST, error.full() + "\n"),
            Ok(false) => say(StatusCode::SERVICE_UNAVAILABLE, "the monitor is ending\n"),
            // An answer without a field is empty in protobuf.
            Ok(true) if is_protobuf => {
                let mut response = say(StatusCode::OK, "");
                let kind = HeaderValue::from_static("application/x-protobuf");
                response.headers_mut().insert(header::CONTENT_TYPE, kind);
                response
            }
            Ok(true) => say(StatusCode::OK, "{}"),
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
        return protobuf::read(body, live);
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

/// Protobuf and gRPC.
#[cfg(feature = "grpc")]
mod protobuf {
    use judge::InputError;

    use super::*;
    use crate::terminal::complain;

    pub(super) fn read(body: &[u8], live: &mut Live) -> Result<Vec<Arrived>, FormatError> {
        live.take(otlp::decode(body)?)
    }

    impl Receiver {
        /// Receives by gRPC until the command ends.
        pub(in crate::monitor) fn serve_grpc(self, address: SocketAddr, access: &Access) -> Result<(), Exit> {
            let listener = access.bind("--otlp-grpc", address)?;
            let (allowed, tls) = (access.clone(), access.tls.clone());
            let is_allowed = Box::new(move |given: &[u8]| allowed.is_allowed(given));
            let options = otlp::Options { is_allowed, tls, most_bytes: MOST_BYTES };
            let sink: otlp::Sink = Arc::new(move |spans| match self.take(|live| live.take(spans)) {
                Ok(true) => Ok(()),
                Ok(false) => Err(otlp::Refused::Ending),
                Err(error) => Err(otlp::Refused::Wrong(error.full())),
            });
            otlp::serve(listener, options, sink).map_err(|error| complain("--otlp-grpc", &InputError::new(error)))
        }
    }
}

/// What is said instead of protobuf and gRPC.
#[cfg(not(feature = "grpc"))]
mod protobuf {
    use judge::InputError;

    use super::*;
    use crate::terminal::complain;

    const WITHOUT: &str = "this command was built without the feature `grpc`";

    pub(super) fn read(_: &[u8], _: &mut Live) -> Result<Vec<Arrived>, FormatError> {
        Err(FormatError::new(Location::Line(1), WITHOUT).help("send JSON: most SDKs call that `http/json`"))
    }

    impl Receiver {
        pub(in crate::monitor) fn serve_grpc(self, _: SocketAddr, _: &Access) -> Result<(), Exit> {
            Err(complain("--otlp-grpc", &InputError::new(WITHOUT)))
        }
    }
}

//! Serves `/metrics` for Prometheus, `/health`, and pages of the program about the operations seen so far.
//!
//! They show keys and values of operations: all users of machines that reach the address can read them, unless there is a
//! token.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Response, StatusCode};

use super::Access;
use crate::error::WatchError;
use crate::status::Status;

/// A page in HTML.
#[derive(Clone, Debug)]
pub struct Page {
    /// The text.
    pub html: String,
    /// Its `Content-Security-Policy`.
    pub policy: String,
    /// The time after which a browser requests it again.
    pub refresh: Option<Duration>,
}

/// Serves a status until the program ends: `/metrics`, `/health`, and the pages that the program has for paths, first of
/// all `/`. Returns the address.
pub fn serve(
    status: Status,
    address: SocketAddr,
    access: &Access,
    page: impl Fn(&Status, &str) -> Option<Page> + Send + Sync + 'static,
) -> Result<SocketAddr, WatchError> {
    let page = Arc::new(page);
    access.serve(address, move |request| {
        let (status, page) = (status.clone(), page.clone());
        async move { answer(&status, &*page, request.method(), request.uri().path()) }
    })
}

fn answer(
    status: &Status,
    page: &dyn Fn(&Status, &str) -> Option<Page>,
    method: &Method,
    path: &str,
) -> Response<Full<Bytes>> {
    let text = |code, body: String| respond(code, "text/plain; version=0.0.4; charset=utf-8", body);
    match path {
        _ if !matches!(*method, Method::GET | Method::HEAD) => {
            text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are supported\n".to_owned())
        }
        "/metrics" => text(StatusCode::OK, status.counts().prometheus()),
        "/health" if status.is_healthy() => text(StatusCode::OK, "ok\n".to_owned()),
        "/health" => text(StatusCode::SERVICE_UNAVAILABLE, "the monitor is silent\n".to_owned()),
        _ => {
            let Some(Page { html, policy, refresh }) = page(status, path) else {
                return text(StatusCode::NOT_FOUND, "not found\n".to_owned());
            };
            let mut response = respond(StatusCode::OK, "text/html; charset=utf-8", html);
            if let Ok(policy) = HeaderValue::from_str(&format!("{policy}; frame-ancestors 'none'")) {
                response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
            }
            if let Some(refresh) = refresh {
                response.headers_mut().insert(header::REFRESH, HeaderValue::from(refresh.as_secs().max(1)));
            }
            response
        }
    }
}

fn respond(code: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

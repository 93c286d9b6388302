//! Addresses on which a watch answers: the clients it answers, and the protocol.
//!
//! With a token, it answers only requests that send the token, and with a certificate only requests over TLS. Without a
//! token, a request to the loopback interface has to name this machine as its host: a page from elsewhere can make its own
//! name point here.

mod metrics;
mod spans;

use std::convert::Infallible;
use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::error::WatchError;

pub use metrics::{Page, serve};
pub use spans::SpanReceiver;

/// The time after which a silent client is disconnected.
const PATIENCE: Duration = Duration::from_secs(30);

/// Takes the status of a refused request, and the reason. The text may quote the request unescaped.
pub type OnRefusal = Arc<dyn Fn(u16, &str) + Send + Sync>;

/// The clients that an address answers, and the protocol.
#[derive(Clone)]
pub struct Access {
    /// The token that requests must send as `Authorization: Bearer TOKEN`, if there is one.
    pub token: Option<String>,
    /// The certificate and its key, as PEM; without TLS if `None`.
    pub tls: Option<(Vec<u8>, Vec<u8>)>,
    /// Called for each refused request.
    pub on_refusal: OnRefusal,
}

impl Default for Access {
    fn default() -> Access {
        Access { token: None, tls: None, on_refusal: Arc::new(|_: u16, _: &str| {}) }
    }
}

impl fmt::Debug for Access {
    /// Prints no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (has_token, has_tls) = (self.token.is_some(), self.tls.is_some());
        f.debug_struct("Access").field("token", &has_token).field("tls", &has_tls).finish_non_exhaustive()
    }
}

/// An address that is bound.
struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

impl Bound {
    fn new(address: SocketAddr) -> Result<Bound, WatchError> {
        let failed = |error: std::io::Error| WatchError::new(address.to_string(), error);
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Bound { listener, address })
    }

    fn wrong(&self, error: impl fmt::Display) -> WatchError {
        WatchError::new(self.address.to_string(), error)
    }
}

impl Access {
    /// Whether to answer a request with this `Authorization`. The time it takes does not reveal where the token differs.
    fn is_allowed(&self, given: &[u8]) -> bool {
        let Some(expected) = &self.token else { return true };
        let Some((scheme, given)) = given.split_at_checked("Bearer ".len()) else { return false };
        if !scheme.eq_ignore_ascii_case(b"Bearer ") {
            return false;
        }
        let differs = given.iter().zip(expected.as_bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
        given.len() == expected.len() && differs == 0
    }

    /// The hosts that requests may name: this machine, if no other reaches the address and there is no token.
    fn hosts(&self, address: SocketAddr) -> Option<Vec<String>> {
        if !address.ip().is_loopback() || self.token.is_some() {
            return None;
        }
        let names = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{}", address.port()));
        Some(names.into_iter().chain([address.to_string()]).collect())
    }

    fn refuse(&self, status: StatusCode, why: &str) {
        (self.on_refusal)(status.as_u16(), why.trim_end());
    }

    /// Answers HTTP requests on a thread of its own, until the program ends. Returns the address.
    fn serve<S, F>(&self, address: SocketAddr, answer: S) -> Result<SocketAddr, WatchError>
    where
        S: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
        F: Future<Output = Response<Full<Bytes>>> + 'static,
    {
        let bound = Bound::new(address)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| bound.wrong(error))?;
        let tls = tls::Acceptor::new(self.tls.as_ref()).map_err(|why| bound.wrong(why))?;
        let Bound { listener, address } = bound;
        let door = Arc::new(Door { hosts: self.hosts(address), access: self.clone() });
        std::thread::spawn(move || {
            let local = tokio::task::LocalSet::new();
            local.block_on(&runtime, async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                loop {
                    let Ok((stream, _)) = listener.accept().await else {
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        continue;
                    };
                    let (tls, door, answer) = (tls.clone(), door.clone(), answer.clone());
                    tokio::task::spawn_local(tls.converse(stream, door, answer));
                }
            });
        });
        Ok(address)
    }
}

/// The requests that may enter one address.
struct Door {
    access: Access,
    /// The hosts that a request may name; any if `None`.
    hosts: Option<Vec<String>>,
}

impl Door {
    /// Returns the status and the reason if a request must be refused.
    fn refuses(&self, request: &Request<Incoming>) -> Option<(StatusCode, &'static str)> {
        let header = |name| request.headers().get(name).map_or(&b""[..], |given: &HeaderValue| given.as_bytes());
        let is_here = |hosts: &Vec<String>| hosts.iter().any(|host| host.as_bytes() == header(header::HOST));
        if !self.hosts.as_ref().is_none_or(is_here) {
            return Some((StatusCode::FORBIDDEN, "wrong host"));
        }
        let is_allowed = self.access.is_allowed(header(header::AUTHORIZATION));
        (!is_allowed).then_some((StatusCode::UNAUTHORIZED, "this address needs a token"))
    }
}

/// Answers the requests of a connection.
async fn converse<S, F>(stream: impl AsyncRead + AsyncWrite + Unpin, door: Arc<Door>, answer: S)
where
    S: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<Full<Bytes>>>,
{
    let service = service_fn(|request: Request<Incoming>| {
        let refusal = door.refuses(&request);
        let response = refusal.is_none().then(|| answer(request));
        if let Some((status, why)) = refusal {
            door.access.refuse(status, why);
        }
        async move {
            Ok::<_, Infallible>(match (response, refusal) {
                (Some(response), _) => response.await,
                (None, refusal) => {
                    let (status, why) = refusal.unwrap_or((StatusCode::FORBIDDEN, ""));
                    let mut response = Response::new(Full::new(format!("{why}\n").into()));
                    *response.status_mut() = status;
                    response
                }
            })
        }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    // Errors of a client are ignored.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

/// Connections with TLS or without.
#[cfg(feature = "tls")]
mod tls {
    use std::sync::Arc;

    use tokio::net::TcpStream;
    use tokio::time::timeout;
    use tokio_rustls::TlsAcceptor;
    use tokio_rustls::rustls::ServerConfig;
    use tokio_rustls::rustls::pki_types::pem::PemObject;
    use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

    use super::{Bytes, Door, Full, Incoming, PATIENCE, Request, Response, converse};

    #[derive(Clone)]
    pub(super) struct Acceptor(Option<TlsAcceptor>);

    impl Acceptor {
        pub(super) fn new(identity: Option<&(Vec<u8>, Vec<u8>)>) -> Result<Acceptor, String> {
            let Some((certificate, key)) = identity else { return Ok(Acceptor(None)) };
            let chain = CertificateDer::pem_slice_iter(certificate).collect::<Result<Vec<_>, _>>();
            let chain = chain.map_err(|error| format!("the certificate: {error}"))?;
            let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| format!("the key: {error}"))?;
            let config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key);
            Ok(Acceptor(Some(TlsAcceptor::from(Arc::new(config.map_err(|error| error.to_string())?)))))
        }

        pub(super) async fn converse<S, F>(self, stream: TcpStream, door: Arc<Door>, answer: S)
        where
            S: Fn(Request<Incoming>) -> F,
            F: Future<Output = Response<Full<Bytes>>>,
        {
            match self.0 {
                None => converse(stream, door, answer).await,
                Some(acceptor) => {
                    if let Ok(Ok(stream)) = timeout(PATIENCE, acceptor.accept(stream)).await {
                        converse(stream, door, answer).await;
                    }
                }
            }
        }
    }
}

/// Connections without TLS.
#[cfg(not(feature = "tls"))]
mod tls {
    use std::sync::Arc;

    use tokio::net::TcpStream;

    use super::{Bytes, Door, Full, Incoming, Request, Response, converse};

    #[derive(Clone)]
    pub(super) struct Acceptor;

    impl Acceptor {
        pub(super) fn new(identity: Option<&(Vec<u8>, Vec<u8>)>) -> Result<Acceptor, String> {
            match identity {
                None => Ok(Acceptor),
                Some(_) => Err("built without the feature `tls`".to_owned()),
            }
        }

        pub(super) async fn converse<S, F>(self, stream: TcpStream, door: Arc<Door>, answer: S)
        where
            S: Fn(Request<Incoming>) -> F,
            F: Future<Output = Response<Full<Bytes>>>,
        {
            converse(stream, door, answer).await;
        }
    }
}

//! Addresses on which a monitor answers: to whom, and over what.
//!
//! They are on the loopback interface unless the user says otherwise. With a token, only requests that send it are
//! answered, and with a certificate only those over TLS. Without a token, a request to the loopback interface has to name this
//! machine as its host: a page from elsewhere can make its own name point here.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use omnilink_judge::InputError;
use omnilink_report::clean;
use tokio::io::{AsyncRead, AsyncWrite};

use super::wrong;
use crate::args::MonitorArgs;
use crate::exit::Exit;
use crate::terminal::complain;

/// The time after which a silent client is disconnected.
const PATIENCE: Duration = Duration::from_secs(30);

/// Who is answered.
#[derive(Clone)]
pub(super) struct Access {
    is_remote: bool,
    /// What requests have to send as `Authorization: Bearer TOKEN`.
    token: Option<String>,
    /// The certificate and its key, as PEM.
    pub(super) tls: Option<(Vec<u8>, Vec<u8>)>,
}

impl Access {
    pub(super) fn new(args: &MonitorArgs) -> Result<Access, Exit> {
        let read = |path: &std::path::PathBuf| std::fs::read(path).map_err(|error| wrong(path, error));
        let token = match &args.token_file {
            None => None,
            Some(path) => {
                let token = String::from_utf8(read(path)?).map_err(|error| wrong(path, error))?;
                if token.trim().is_empty() {
                    return Err(wrong(path, "the file has no token"));
                }
                Some(token.trim().to_owned())
            }
        };
        let tls = match (&args.tls_certificate, &args.tls_key) {
            (Some(certificate), Some(key)) => Some((read(certificate)?, read(key)?)),
            _ => None,
        };
        Ok(Access { is_remote: args.remote, token, tls })
    }

    /// Whether a request that sends this as `Authorization` is answered. Takes a time that does not tell where it differs.
    pub(super) fn is_allowed(&self, given: &[u8]) -> bool {
        let Some(expected) = &self.token else { return true };
        let Some((scheme, given)) = given.split_at_checked("Bearer ".len()) else { return false };
        if !scheme.eq_ignore_ascii_case(b"Bearer ") {
            return false;
        }
        let differs = given.iter().zip(expected.as_bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
        given.len() == expected.len() && differs == 0
    }

    /// The hosts that requests may name: this machine, if no other reaches the address and there is no token.
    fn hosts(&self, listener: &TcpListener) -> Option<Vec<String>> {
        let address =
            listener.local_addr().ok().filter(|address| address.ip().is_loopback() && self.token.is_none())?;
        let names = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{}", address.port()));
        Some(names.into_iter().chain([address.to_string()]).collect())
    }

    /// Binds an address, and prints it.
    pub(super) fn bind(&self, option: &str, address: SocketAddr) -> Result<TcpListener, Exit> {
        if !address.ip().is_loopback() && !self.is_remote {
            let message = format!("{address} can be reached by other machines");
            let help = Some("name an address of this machine such as `127.0.0.1:9464`, or add `--remote`".to_owned());
            return Err(complain(option, &InputError { message, help }));
        }
        let failed = |error: std::io::Error| complain(option, &InputError::new(format!("{address}: {error}")));
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        errln!("{scheme}://{}/", listener.local_addr().map_err(failed)?);
        Ok(listener)
    }

    /// Answers HTTP requests on a thread of its own, until the command ends.
    pub(super) fn serve<S, F>(&self, option: &str, address: SocketAddr, answer: S) -> Result<(), Exit>
    where
        S: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
        F: Future<Output = Response<Full<Bytes>>> + 'static,
    {
        let listener = self.bind(option, address)?;
        let hosts = self.hosts(&listener);
        let option_name: Arc<str> = option.into();
        let failed = |error: std::io::Error| complain(option, &InputError::new(format!("{address}: {error}")));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let tls = tls::Acceptor::new(self.tls.as_ref()).map_err(|why| complain(option, &InputError::new(why)))?;
        let door = Arc::new(Door { access: self.clone(), hosts, option: option_name });
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
        Ok(())
    }
}

/// Prints why a request was refused, unless that was said last: a client may repeat it for ever.
pub(super) fn refused(option: &str, status: StatusCode, why: &str) {
    static LAST: Mutex<String> = Mutex::new(String::new());
    let line = format!("{option}: refused a request: {}: {}", status.as_u16(), clean(why.trim_end()));
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if *last != line {
        errln!("{line}");
        *last = line;
    }
}

/// Who may enter one address.
struct Door {
    access: Access,
    /// The hosts that a request may name; any if `None`.
    hosts: Option<Vec<String>>,
    option: Arc<str>,
}

impl Door {
    /// Why a request is not answered.
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
            refused(&door.option, status, why);
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
                Some(_) => Err("this command was built without the feature `tls`".to_owned()),
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

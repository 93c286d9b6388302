//! Addresses on which a monitor answers: to whom, and over what.
//!
//! They are on the loopback interface unless the user says otherwise. With a token, only requests that send it are
//! answered, and with a certificate only those over TLS.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use judge::InputError;
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
        let failed = |error: std::io::Error| complain(option, &InputError::new(format!("{address}: {error}")));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let tls = tls::Acceptor::new(self.tls.as_ref()).map_err(|why| complain(option, &InputError::new(why)))?;
        let access = self.clone();
        std::thread::spawn(move || {
            let local = tokio::task::LocalSet::new();
            local.block_on(&runtime, async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                loop {
                    let Ok((stream, _)) = listener.accept().await else {
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        continue;
                    };
                    let (tls, access, answer) = (tls.clone(), access.clone(), answer.clone());
                    tokio::task::spawn_local(tls.converse(stream, access, answer));
                }
            });
        });
        Ok(())
    }
}

/// Answers the requests of a connection.
async fn converse<S, F>(stream: impl AsyncRead + AsyncWrite + Unpin, access: Access, answer: S)
where
    S: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<Full<Bytes>>>,
{
    let service = service_fn(|request: Request<Incoming>| {
        let given = request.headers().get(header::AUTHORIZATION).map_or(&b""[..], |given| given.as_bytes());
        let response = access.is_allowed(given).then(|| answer(request));
        async move {
            Ok::<_, Infallible>(match response {
                Some(response) => response.await,
                None => {
                    let mut response = Response::new(Full::new("this address needs a token\n".into()));
                    *response.status_mut() = StatusCode::UNAUTHORIZED;
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

    use super::{Access, Bytes, Full, Incoming, PATIENCE, Request, Response, converse};

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

        pub(super) async fn converse<S, F>(self, stream: TcpStream, access: Access, answer: S)
        where
            S: Fn(Request<Incoming>) -> F,
            F: Future<Output = Response<Full<Bytes>>>,
        {
            match self.0 {
                None => converse(stream, access, answer).await,
                Some(acceptor) => {
                    if let Ok(Ok(stream)) = timeout(PATIENCE, acceptor.accept(stream)).await {
                        converse(stream, access, answer).await;
                    }
                }
            }
        }
    }
}

/// Connections without TLS.
#[cfg(not(feature = "tls"))]
mod tls {
    use tokio::net::TcpStream;

    use super::{Access, Bytes, Full, Incoming, Request, Response, converse};

    #[derive(Clone)]
    pub(super) struct Acceptor;

    impl Acceptor {
        pub(super) fn new(identity: Option<&(Vec<u8>, Vec<u8>)>) -> Result<Acceptor, String> {
            match identity {
                None => Ok(Acceptor),
                Some(_) => Err("this command was built without the feature `tls`".to_owned()),
            }
        }

        pub(super) async fn converse<S, F>(self, stream: TcpStream, access: Access, answer: S)
        where
            S: Fn(Request<Incoming>) -> F,
            F: Future<Output = Response<Full<Bytes>>>,
        {
            converse(stream, access, answer).await;
        }
    }
}

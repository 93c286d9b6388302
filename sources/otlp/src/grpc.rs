//! Receives spans by OTLP over gRPC.

use std::net::TcpListener;
use std::sync::Arc;

use omnilink_history::format::otlp::Spans;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{TraceService, TraceServiceServer};
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::codec::CompressionEncoding;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status};

use crate::spans;

/// The reason why spans are refused.
#[derive(Clone, Debug)]
pub enum Refused {
    /// They are wrong: sending them again does not help.
    Wrong(String),
    /// The monitor is ending.
    Ending,
}

/// The receiver of spans.
pub type Sink = Arc<dyn Fn(Spans) -> Result<(), Refused> + Send + Sync>;

/// Decides whether a caller may send spans.
pub type IsAllowed = Box<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// The options of a receiver.
pub struct GrpcOptions {
    /// Decides whether the `authorization` of a caller suffices.
    pub is_allowed: IsAllowed,
    /// A certificate and its key, as PEM.
    pub tls: Option<(Vec<u8>, Vec<u8>)>,
    /// The maximum size of a request, in bytes.
    pub most_bytes: usize,
}

/// Receives until the program ends, on threads of its own.
pub fn serve(listener: TcpListener, options: GrpcOptions, sink: Sink) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let mut server = Server::builder();
    if let Some((certificate, key)) = &options.tls {
        let identity = ServerTlsConfig::new().identity(Identity::from_pem(certificate, key));
        server = server.tls_config(identity).map_err(std::io::Error::other)?;
    }
    let service = TraceServiceServer::new(Receiver(sink))
        .accept_compressed(CompressionEncoding::Gzip)
        .max_decoding_message_size(options.most_bytes);
    let is_allowed = Arc::new(options.is_allowed);
    let check = move |request: Request<()>| {
        let given = request.metadata().get("authorization").map_or(&b""[..], |given| given.as_bytes());
        match is_allowed(given) {
            true => Ok(request),
            false => Err(Status::unauthenticated("this address needs a token")),
        }
    };
    let service = InterceptedService::new(service, check);
    std::thread::spawn(move || {
        runtime.block_on(async {
            let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
            let incoming = TcpListenerStream::new(listener);
            // It ends with the program.
            let _ = server.add_service(service).serve_with_incoming(incoming).await;
        });
    });
    Ok(())
}

struct Receiver(Sink);

#[tonic::async_trait]
impl TraceService for Receiver {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let spans =
            spans(request.into_inner().resource_spans).map_err(|error| Status::invalid_argument(error.full()))?;
        // The thread waits if the monitor falls behind, and so do the senders.
        let taken = tokio::task::block_in_place(|| (self.0)(spans));
        match taken {
            Ok(()) => Ok(Response::new(ExportTraceServiceResponse::default())),
            Err(Refused::Wrong(why)) => Err(Status::invalid_argument(why)),
            Err(Refused::Ending) => Err(Status::unavailable("the monitor is ending")),
        }
    }
}

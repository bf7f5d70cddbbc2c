//! Passes requests on to the replica that owns the log.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::uri::{Authority, PathAndQuery, Scheme};
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri, header};
use axum::response::Response;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsConnector;
use tower::Service;

use super::{FORWARDED, LogOwner};
use crate::client_origin::ClientOrigin;
use crate::problem::ProblemDetails;
use crate::serve::ServeError;

/// How long the owner's machine may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// Headers that are about one connection, not about the request.
const ONE_HOP: [HeaderName; 6] = [
    header::CONNECTION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
];

/// Passes requests on.
pub(super) struct Forwarder {
    client: Client<OwnerConnector, Body>,
    secret: String,
}

/// Tells when another replica owns the log.
pub(super) struct OwnerChange {
    pub(super) log_owner: watch::Receiver<Arc<LogOwner>>,
    pub(super) owner: Arc<str>,
}

impl OwnerChange {
    async fn happens(mut self) {
        let changed = |log_owner: &Arc<LogOwner>| log_owner.other() != Some(&self.owner);
        // An error means that the service ends.
        drop(self.log_owner.wait_for(changed).await);
    }
}

impl Forwarder {
    pub(super) fn new(secret: &str, authorities: Option<&Path>) -> Result<Self, ServeError> {
        let mut roots = RootCertStore::empty();
        match authorities {
            None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
            Some(path) => {
                let unusable = |error: &dyn std::fmt::Display| ServeError::Authorities {
                    path: path.to_owned(),
                    problem: error.to_string(),
                };
                let certificates =
                    rustls::pki_types::CertificateDer::pem_file_iter(path).map_err(|error| unusable(&error))?;
                for certificate in certificates {
                    let certificate = certificate.map_err(|error| unusable(&error))?;
                    roots.add(certificate).map_err(|error| unusable(&error))?;
                }
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(|error| ServeError::Server(io::Error::other(error)))?;
        let config = config.with_root_certificates(roots).with_no_client_auth();
        let connector = OwnerConnector(TlsConnector::from(Arc::new(config)));
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self { client, secret: secret.to_owned() })
    }

    /// Sends a request of a client to the owner and returns the answer as it comes. If the log changes its owner meanwhile, the
    /// old one is not awaited any more.
    pub(super) async fn pass_on(
        &self,
        mut request: Request,
        owner: &str,
        origin: &ClientOrigin,
        change: OwnerChange,
    ) -> Result<Response, ProblemDetails> {
        let target = target(owner, request.uri()).ok_or_else(|| unanswered(owner, "it has no usable address"))?;
        *request.uri_mut() = target;
        *request.version_mut() = axum::http::Version::HTTP_11;
        remove_one_hop(request.headers_mut());
        let value = origin.in_header(&self.secret).ok_or_else(ProblemDetails::internal)?;
        request.headers_mut().insert(FORWARDED, value);
        let mut change = Box::pin(change.happens());
        let answer = tokio::select! {
            answer = self.client.request(request) => answer.map_err(|error| unanswered(owner, &in_words(&error)))?,
            () = &mut change => return Err(unanswered(owner, "another replica has taken over")),
        };
        let (mut parts, body) = answer.into_parts();
        remove_one_hop(&mut parts.headers);
        let body = Body::new(body).into_data_stream().take_until(change);
        Ok(Response::from_parts(parts, Body::from_stream(body)))
    }
}

/// The same path at the owner.
fn target(owner: &str, uri: &Uri) -> Option<Uri> {
    let (scheme, authority) = owner.split_once("://")?;
    let mut parts = uri.clone().into_parts();
    parts.scheme = Some(scheme.parse::<Scheme>().ok()?);
    parts.authority = Some(authority.parse::<Authority>().ok()?);
    parts.path_and_query.get_or_insert(PathAndQuery::from_static("/"));
    Uri::from_parts(parts).ok()
}

fn remove_one_hop(headers: &mut HeaderMap) {
    for name in ONE_HOP {
        headers.remove(name);
    }
}

fn unanswered(owner: &str, why: &str) -> ProblemDetails {
    let detail = format!("the replica at {owner}, which owns the log, does not answer: {why}");
    ProblemDetails::new(StatusCode::SERVICE_UNAVAILABLE, detail)
        .with_remedy("send the request again; a request with a key is done once")
        .with_retry_after(1)
}

/// An error with its causes.
fn in_words(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}

/// Connects to an owner, by TLS if its address says so.
#[derive(Clone)]
struct OwnerConnector(TlsConnector);

impl Service<Uri> for OwnerConnector {
    type Response = TokioIo<OwnerStream>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<TokioIo<OwnerStream>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let tls = self.0.clone();
        Box::pin(async move {
            let connected = tokio::time::timeout(CONNECT, connect(&uri, tls)).await;
            connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map(TokioIo::new)
        })
    }
}

async fn connect(uri: &Uri, tls: TlsConnector) -> io::Result<OwnerStream> {
    let secure = uri.scheme() == Some(&Scheme::HTTPS);
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let stream = TcpStream::connect((host.as_str(), uri.port_u16().unwrap_or(if secure { 443 } else { 80 }))).await?;
    stream.set_nodelay(true)?;
    if !secure {
        return Ok(OwnerStream(Box::new(stream)));
    }
    let name = ServerName::try_from(host).map_err(io::Error::other)?;
    Ok(OwnerStream(Box::new(tls.connect(name, stream).await?)))
}

/// A stream to an owner, encrypted or not.
struct OwnerStream(Box<dyn ReadWrite>);

trait ReadWrite: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ReadWrite for T {}

impl Connection for OwnerStream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for OwnerStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for OwnerStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

//! Encryption of a connection to PostgreSQL, by rustls.

use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::client;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{self, CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme};

use crate::error::StoreError;

/// Which certificates of a server are accepted.
#[derive(Debug)]
pub(super) enum TrustedCertificates {
    /// Any, as libpq does unless it is told to verify.
    Any,
    /// Those that these authorities signed for the server's name.
    Signed(RootCertStore),
}

impl TrustedCertificates {
    /// Of the authorities in a file, or of those that browsers trust.
    pub(super) fn of(file: Option<&str>) -> Result<Self, StoreError> {
        let mut roots = RootCertStore::empty();
        let Some(file) = file.filter(|file| *file != "system") else {
            roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
            return Ok(Self::Signed(roots));
        };
        let path = Path::new(file);
        let unreadable = |error| StoreError::io("the certificates cannot be read", path, io::Error::other(error));
        for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))? {
            let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
            roots.add(certificate).map_err(|error| unreadable(error.to_string()))?;
        }
        Ok(Self::Signed(roots))
    }
}

/// Opens encrypted streams.
#[derive(Clone)]
pub(super) struct TlsConnector(Arc<ClientConfig>);

impl TlsConnector {
    pub(super) fn new(certificates: TrustedCertificates) -> Result<Self, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
        let builder = builder?;
        let config = match certificates {
            TrustedCertificates::Signed(roots) => builder.with_root_certificates(roots),
            TrustedCertificates::Any => {
                builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            }
        };
        Ok(Self(Arc::new(config.with_no_client_auth())))
    }
}

/// Accepts any certificate; the handshake itself is checked.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        crypto::verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        crypto::verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Opens an encrypted stream to one server.
pub(super) struct ServerTls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

/// An encrypted stream.
pub(super) struct EncryptedStream<S>(client::TlsStream<S>);

impl<S> MakeTlsConnect<S> for TlsConnector
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = EncryptedStream<S>;
    type TlsConnect = ServerTls;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<ServerTls> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(ServerTls { config: Arc::clone(&self.0), name })
    }
}

impl<S> TlsConnect<S> for ServerTls
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = EncryptedStream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<EncryptedStream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        let connector = tokio_rustls::TlsConnector::from(self.config);
        Box::pin(async move { connector.connect(self.name, stream).await.map(EncryptedStream) })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for EncryptedStream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for EncryptedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for EncryptedStream<S> {
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

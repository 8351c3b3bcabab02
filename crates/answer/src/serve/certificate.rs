//! The server's certificate, and the TLS settings made with it.

use crate::AnswerError;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::ProducesTickets;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ServerConfig, SupportedProtocolVersion};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A certificate, those that lead from it to a root, and its private key.
#[derive(Clone, Debug)]
pub struct Certificate(Arc<CertifiedKey>);

impl Certificate {
    /// Takes a chain, the server's own certificate first, and the key that belongs to that.
    ///
    /// # Errors
    /// [`AnswerError::Certificate`]: the chain is empty, the key is of no use, or they do not belong together.
    pub fn new(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Self, AnswerError> {
        let provider = aws_lc_rs::default_provider();
        let key = CertifiedKey::from_der(chain, key, &provider)
            .map_err(|source| AnswerError::Certificate { source })?;
        Ok(Self(Arc::new(key)))
    }

    /// Reads PEM files: the chain as in [`Self::new`], and the key as PKCS #8, PKCS #1 or SEC 1.
    ///
    /// # Errors
    /// [`AnswerError::ReadPem`], [`AnswerError::Certificate`].
    pub fn from_pem_files(chain: &Path, key: &Path) -> Result<Self, AnswerError> {
        let error = |path: &Path, wanted| {
            let path = path.to_path_buf();
            move |source| AnswerError::ReadPem {
                path,
                wanted,
                source,
            }
        };
        let certificates = CertificateDer::pem_file_iter(chain)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .and_then(|found| match found.is_empty() {
                true => Err(rustls::pki_types::pem::Error::NoItemsFound),
                false => Ok(found),
            })
            .map_err(error(chain, "certificates"))?;
        let key = PrivateKeyDer::from_pem_file(key).map_err(error(key, "a private key"))?;
        Self::new(certificates, key)
    }

    /// TLS settings for one transport; `tickets` let sessions be resumed.
    pub(super) fn tls(
        &self,
        alpn: &[u8],
        versions: &[&'static SupportedProtocolVersion],
        tickets: Arc<dyn ProducesTickets>,
    ) -> Result<ServerConfig, AnswerError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .map_err(|source| AnswerError::Certificate { source })?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(Arc::clone(&self.0))));
        config.alpn_protocols = vec![alpn.to_vec()];
        config.ticketer = tickets;
        Ok(config)
    }
}

/// Tickets for a transport.
pub(super) fn tickets() -> Result<Arc<dyn ProducesTickets>, AnswerError> {
    aws_lc_rs::Ticketer::new().map_err(|source| AnswerError::Certificate { source })
}

/// Tickets that count how many came back valid: quinn-proto does not tell whether a handshake resumed a session.
#[derive(Debug)]
pub(super) struct CountedTickets {
    tickets: Arc<dyn ProducesTickets>,
    resumed: Arc<AtomicU64>,
}

impl CountedTickets {
    /// Tickets, and the counter of those that came back.
    pub fn with_counter() -> Result<(Arc<dyn ProducesTickets>, Arc<AtomicU64>), AnswerError> {
        let resumed = Arc::default();
        let tickets = Arc::new(Self {
            tickets: tickets()?,
            resumed: Arc::clone(&resumed),
        });
        Ok((tickets, resumed))
    }
}

impl ProducesTickets for CountedTickets {
    fn enabled(&self) -> bool {
        self.tickets.enabled()
    }

    fn lifetime(&self) -> u32 {
        self.tickets.lifetime()
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        self.tickets.encrypt(plain)
    }

    fn decrypt(&self, cipher: &[u8]) -> Option<Vec<u8>> {
        let plain = self.tickets.decrypt(cipher)?;
        self.resumed.fetch_add(1, Ordering::Relaxed);
        Some(plain)
    }
}

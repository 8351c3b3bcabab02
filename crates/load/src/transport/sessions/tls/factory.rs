//! Makes the TLS layer of each connection.

use super::tickets::OwnSession;
use super::{Tls, client_config, server_name};
use crate::LoadError;
use crate::config::TlsSettings;
use crate::refusal::Refusal;
use crate::transport::layer::LayerFactory;
use rustls::ClientConfig;
use rustls::client::{Resumption, UnbufferedClientConnection};
use rustls::pki_types::ServerName;
use std::net::IpAddr;
use std::sync::Arc;

/// The application protocol that is offered (RFC 7301).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alpn {
    /// Its registered name.
    pub name: &'static [u8],
    /// Whether there is no session without it.
    pub is_required: bool,
}

impl Alpn {
    /// DNS over TLS. Servers from before its registration, and many since, know nothing of it.
    pub const DOT: Self = Self {
        name: b"dot",
        is_required: false,
    };
}

/// Makes [`Tls`] with what `F` makes inside. All connections share one configuration; with resumption, each client has its
/// own session to resume, in a copy of the configuration that shares all else (about 1 KB with a ticket).
pub struct TlsFactory<F> {
    config: Arc<ClientConfig>,
    /// The configuration of each client that has had a connection; empty without resumption.
    of_clients: Vec<Option<Arc<ClientConfig>>>,
    resumption: bool,
    server_name: ServerName<'static>,
    alpn: Alpn,
    inner: F,
}

impl<F: LayerFactory> TlsFactory<F> {
    /// One for connections to `server`.
    ///
    /// # Errors
    /// [`LoadError::Setting`]
    pub fn new(
        server: IpAddr,
        settings: &TlsSettings,
        resumption: bool,
        alpn: Alpn,
        inner: F,
    ) -> Result<Self, LoadError> {
        Ok(Self {
            config: Arc::new(client_config(settings, alpn.name)?),
            of_clients: Vec::new(),
            resumption,
            server_name: server_name(settings, server)?,
            alpn,
            inner,
        })
    }

    fn config_of(&mut self, client: usize) -> Arc<ClientConfig> {
        if !self.resumption {
            return Arc::clone(&self.config);
        }
        if self.of_clients.len() <= client {
            self.of_clients.resize(client + 1, None);
        }
        let config = self.of_clients[client].get_or_insert_with(|| {
            let mut own = ClientConfig::clone(&self.config);
            own.resumption = Resumption::store(Arc::new(OwnSession::default()));
            Arc::new(own)
        });
        Arc::clone(config)
    }
}

impl<F: LayerFactory> LayerFactory for TlsFactory<F> {
    type Layer = Tls<F::Layer>;

    fn layer(&mut self, client: usize) -> Result<Self::Layer, Refusal> {
        let config = self.config_of(client);
        let connection = UnbufferedClientConnection::new(config, self.server_name.clone())
            .map_err(|_| Refusal::Send)?;
        let required_alpn = self.alpn.is_required.then_some(self.alpn.name);
        Ok(Tls::new(
            connection,
            required_alpn,
            self.inner.layer(client)?,
        ))
    }
}

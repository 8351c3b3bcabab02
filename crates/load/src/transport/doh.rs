//! DNS over HTTPS (RFC 8484): HTTP/2 in TLS.

use super::http2::{Http2, HttpRequests};
use super::layer::LayerFactory;
use super::sessions::{Alpn, Sessions, TlsFactory};
use crate::LoadError;
use crate::config::Route;
use crate::refusal::Refusal;
use std::net::IpAddr;
use std::sync::Arc;

/// DNS over HTTPS.
pub type Doh = Sessions<TlsFactory<Http2Factory>>;

/// HTTP/2 as the application protocol (RFC 9113 section 3.2), without which there is no session.
const ALPN: Alpn = Alpn {
    name: b"h2",
    is_required: true,
};

/// Makes [`Http2`].
#[derive(Clone, Debug)]
pub struct Http2Factory {
    requests: Arc<HttpRequests>,
}

impl LayerFactory for Http2Factory {
    type Layer = Http2;

    fn layer(&mut self, _client: usize) -> Result<Http2, Refusal> {
        Ok(Http2::new(Arc::clone(&self.requests)))
    }
}

impl Doh {
    /// Makes `clients` clients of a route, none of them connected yet. Client `n` has the source address
    /// `sources[n % len]`; without any, the kernel chooses.
    ///
    /// # Errors
    /// [`LoadError::Setting`] for settings of TLS or HTTP, or a source address, that cannot be used, and
    /// [`LoadError::System`].
    pub fn open(route: &Route, sources: &[IpAddr], clients: usize) -> Result<Self, LoadError> {
        let name = route.tls.server_name.as_deref();
        let inner = Http2Factory {
            requests: Arc::new(HttpRequests::new(&route.http, name, route.server)),
        };
        let resumption = route.sessions.resumption;
        let factory = TlsFactory::new(route.server.ip(), &route.tls, resumption, ALPN, inner)?;
        Self::new(route.server, sources, clients, &route.sessions, factory)
    }
}

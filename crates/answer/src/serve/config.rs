//! Where and how to serve.

use super::Certificate;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::time::Duration;

/// Where and how to serve.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// Address and port for UDP and TCP; port 0 takes one that is free for both. Responses to a wildcard address may
    /// come from another address than was asked, so name one.
    pub address: SocketAddr,
    /// The encrypted transports, if there are any.
    pub encrypted: Option<Encrypted>,
    /// Threads for UDP, and as many for each other transport, each with a socket of its own on the same port
    /// (SO_REUSEPORT).
    pub threads: NonZeroUsize,
    /// Connections open at once, over all transports and threads; further ones are closed as they come.
    pub max_connections: usize,
    /// Queries that one DoH or DoQ connection may have open at once.
    pub max_streams: u32,
    /// How long a connection may be idle before it is closed (RFC 7766 section 6.2.3, RFC 9250 section 5.5.2).
    pub idle_timeout: Duration,
}

impl ServeConfig {
    /// UDP and TCP on `address`; one thread, 10,000 connections, 100 streams, 10 seconds idle time.
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            encrypted: None,
            threads: NonZeroUsize::MIN,
            max_connections: 10_000,
            max_streams: 100,
            idle_timeout: Duration::from_secs(10),
        }
    }
}

/// The encrypted transports: TLS 1.2 and 1.3 for DoT and DoH, TLS 1.3 for DoQ; sessions can be resumed by tickets, without
/// early data.
#[derive(Clone, Debug)]
pub struct Encrypted {
    /// What the server proves its name with.
    pub certificate: Certificate,
    /// Address and port (0: a free one) for DNS over TLS (RFC 7858), ALPN `dot` or none.
    pub dot: Option<SocketAddr>,
    /// Address and port (0: a free one) for DNS over HTTPS (RFC 8484), HTTP/2 only, path `/dns-query`.
    pub doh: Option<SocketAddr>,
    /// Address and port (0: a free one) for DNS over QUIC (RFC 9250), ALPN `doq`.
    pub doq: Option<SocketAddr>,
}

impl Encrypted {
    /// All three, each on a free port of `ip`.
    pub fn on_free_ports(ip: IpAddr, certificate: Certificate) -> Self {
        let any = Some(SocketAddr::new(ip, 0));
        Self {
            certificate,
            dot: any,
            doh: any,
            doq: any,
        }
    }
}

/// The addresses and ports that a server listens on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenAddresses {
    /// UDP and TCP.
    pub dns: SocketAddr,
    /// DNS over TLS.
    pub dot: Option<SocketAddr>,
    /// DNS over HTTPS.
    pub doh: Option<SocketAddr>,
    /// DNS over QUIC.
    pub doq: Option<SocketAddr>,
}

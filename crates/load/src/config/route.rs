//! How queries travel: the transport, and the settings of its sessions.

use crate::LoadError;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// A way for a share of the queries: a transport to a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The transport (`-m`).
    pub transport: TransportKind,
    /// The server's address, and its port for this transport (`-s`, `-p`).
    pub server: SocketAddr,
    /// Its share of the queries, in proportion to those of the other routes.
    pub weight: f64,
    /// Sockets or sessions over all threads (`-c`); `None` is one per thread.
    pub clients: Option<usize>,
    /// How its sessions are used.
    pub sessions: SessionSettings,
    /// How it uses TLS.
    pub tls: TlsSettings,
    /// How it uses HTTP.
    pub http: HttpSettings,
}

impl Route {
    /// The route by which what was truncated over UDP is asked for again (RFC 7766 section 5): a stub resolver closes the connection
    /// when it has its answers, and does not keep one of the few that a server serves at a time.
    pub(crate) fn of_truncated(server: SocketAddr) -> Self {
        let mut route = Self::new(TransportKind::Tcp, server);
        route.sessions.idle = Some(Duration::ZERO);
        route
    }

    /// A route with the defaults: one socket or session a thread, sessions used as long as they last and resumed.
    pub fn new(transport: TransportKind, server: SocketAddr) -> Self {
        Self {
            transport,
            server,
            weight: 1.0,
            clients: None,
            sessions: SessionSettings {
                resumption: true,
                ..SessionSettings::default()
            },
            tls: TlsSettings::default(),
            http: HttpSettings::default(),
        }
    }
}

impl Route {
    /// Checks the settings of a route with `clients` clients over `threads` threads.
    ///
    /// # Errors
    /// [`LoadError::Setting`] for the first one that no load can be run with.
    pub(super) fn check(&self, clients: usize, threads: usize) -> Result<(), LoadError> {
        let fail = |option, reason: String| Err(LoadError::Setting { option, reason });
        let name = self.transport.name();
        if clients < threads {
            return fail(
                "clients",
                format!(
                    "{clients} clients over {name} for {threads} threads; each thread needs one of its own"
                ),
            );
        }
        if !(self.weight > 0.0 && self.weight.is_finite()) {
            return fail(
                "weight",
                format!("{} for {name}; give a number above 0", self.weight),
            );
        }
        if self.sessions.queries == Some(0) {
            return fail(
                "queries_per_session",
                "0 would open sessions without end; give at least 1, or open sessions only"
                    .to_owned(),
            );
        }
        if !is_path(&self.http.path) {
            return fail(
                "http_path",
                format!(
                    "{} is no path; give one such as /dns-query, without a question mark",
                    self.http.path
                ),
            );
        }
        Ok(())
    }
}

/// Whether `text` is the path of an absolute URI (RFC 3986 section 3.3).
fn is_path(text: &str) -> bool {
    let is_path_octet =
        |octet: u8| octet.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@%/".contains(&octet);
    text.starts_with('/') && text.bytes().all(is_path_octet)
}

/// How queries travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TransportKind {
    /// One query a datagram (RFC 1035 section 4.2.1).
    Udp,
    /// Pipelined queries over re-used connections (RFC 7766).
    Tcp,
    /// The same over TLS (RFC 7858).
    Dot,
    /// HTTP/2 over TLS (RFC 8484).
    Doh,
    /// A QUIC stream a query (RFC 9250).
    Doq,
}

impl TransportKind {
    /// The name as DNS engineers write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Udp => "UDP",
            Self::Tcp => "TCP",
            Self::Dot => "DoT",
            Self::Doh => "DoH",
            Self::Doq => "DoQ",
        }
    }

    /// Whether it has sessions, which are opened before queries can be sent.
    pub fn has_sessions(self) -> bool {
        self != Self::Udp
    }

    /// Whether it is encrypted.
    pub fn has_tls(self) -> bool {
        matches!(self, Self::Dot | Self::Doh | Self::Doq)
    }
}

/// How a client uses its session. Over UDP nothing of it applies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionSettings {
    /// Queries after which a session is closed, once they have ended, and the next one opened; `None` for no limit.
    pub queries: Option<u64>,
    /// How long a session may stand without a query in flight before the client closes it; `None` for ever.
    pub idle: Option<Duration>,
    /// Whether a client resumes its earlier TLS session (RFC 8446 section 2.2, RFC 5077), not over TCP.
    pub resumption: bool,
}

/// How TLS is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsSettings {
    /// Versions offered.
    pub versions: TlsVersions,
    /// Names of the cipher suites offered, as IANA registers them; empty for the library's choice.
    pub cipher_suites: Vec<String>,
    /// How the server's certificate is verified.
    pub certificates: Certificates,
    /// Name sent as SNI and verified; `None` is the server's address, which is not sent (RFC 6066 section 3).
    pub server_name: Option<String>,
}

/// Versions of TLS. QUIC has 1.3 alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TlsVersions {
    /// 1.3 and, if the server lacks it, 1.2.
    #[default]
    #[serde(rename = "any")]
    Any,
    /// 1.2 (RFC 5246).
    #[serde(rename = "1.2")]
    Tls12,
    /// 1.3 (RFC 8446).
    #[serde(rename = "1.3")]
    Tls13,
}

/// How the server's certificate is verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Certificates {
    /// Not at all (RFC 8310 section 5, opportunistic): its signature over the handshake is verified, who signed it is not.
    #[default]
    Unverified,
    /// Against the certificates of this PEM file.
    Roots(PathBuf),
}

/// How HTTP is used (RFC 8484).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpSettings {
    /// Path of the resource.
    pub path: String,
    /// Method of requests.
    pub method: HttpMethod,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            path: "/dns-query".to_owned(),
            method: HttpMethod::Post,
        }
    }
}

/// Method of HTTP requests (RFC 8484 section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HttpMethod {
    /// The query in the URI, as base64url.
    Get,
    /// The query as content.
    Post,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_the_characters_of_paths() {
        for good in ["/", "/dns-query", "/a/%20b;c=1"] {
            assert!(is_path(good), "{good}");
        }
        for bad in ["", "dns-query", "/a b", "/a?dns", "/a#b", "/\u{e9}"] {
            assert!(!is_path(bad), "{bad}");
        }
    }
}

//! Which queries are taken out of a capture.

use crate::prefix::Prefix;
use serde::Deserialize;

/// Which queries of a capture are wanted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CaptureOptions {
    /// The ports of DNS servers, for UDP and TCP.
    pub ports: Vec<u16>,
    /// The servers whose queries are wanted; none means all.
    pub servers: Vec<Prefix>,
    /// Leaves out TCP.
    pub only_udp: bool,
    /// Makes every address and port a client of its own, not every address.
    pub client_by_port: bool,
    /// Reads no further than to so many queries.
    pub max_queries: Option<u64>,
    /// Reads no further than to the first query that is later than this after the first one, in ns.
    pub max_span_ns: Option<u64>,
}

impl Default for CaptureOptions {
    /// Everything to port 53, every address a client.
    fn default() -> Self {
        Self {
            ports: vec![53],
            servers: Vec::new(),
            only_udp: false,
            client_by_port: false,
            max_queries: None,
            max_span_ns: None,
        }
    }
}

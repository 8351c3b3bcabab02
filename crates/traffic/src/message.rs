//! DNS messages as captures hold them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// One end of a message's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// The address.
    pub address: IpAddr,
    /// The port.
    pub port: u16,
}

impl Endpoint {
    /// The endpoint of `address` and `port`.
    pub fn new(address: impl Into<IpAddr>, port: u16) -> Self {
        Self {
            address: address.into(),
            port,
        }
    }
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Self {
        Self::new(address.ip(), address.port())
    }
}

impl fmt::Display for Endpoint {
    /// Writes the address and port as `192.0.2.1:53` or `[2001:db8::1]:53`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SocketAddr::new(self.address, self.port).fmt(f)
    }
}

/// What carried a message. Packets tell UDP and TCP; dnstap and C-DNS tell the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// DNS over UDP.
    Udp,
    /// DNS over TCP.
    Tcp,
    /// DNS over TLS (RFC 7858), or over DTLS (RFC 8094).
    Tls,
    /// DNS over HTTPS (RFC 8484).
    Https,
    /// DNS over QUIC (RFC 9250).
    Quic,
    /// Another one, or one that the capture does not tell.
    Unknown,
}

impl Transport {
    /// All of them, each at the place of its number.
    pub const ALL: [Self; 6] = [
        Self::Udp,
        Self::Tcp,
        Self::Tls,
        Self::Https,
        Self::Quic,
        Self::Unknown,
    ];

    /// Its name in results: `udp`, `tcp`, `tls`, `https`, `quic`, `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
            Self::Tls => "tls",
            Self::Https => "https",
            Self::Quic => "quic",
            Self::Unknown => "unknown",
        }
    }
}

/// How many octets a message had when it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SentLen {
    /// As many as it has, unless the capture holds fewer than were sent.
    #[default]
    Own,
    /// So many: it was made again of what its file says of it, and the file also says how long it was.
    Told(u16),
    /// That is not known: it was made again of what its file says of it.
    Unknown,
}

/// One DNS message of a capture, and how it travelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// When the packet that ended it was captured, in ns since 1970.
    pub time_ns: i64,
    /// Who sent it.
    pub source: Endpoint,
    /// To whom.
    pub destination: Endpoint,
    /// What carried it.
    pub transport: Transport,
    /// The message from its ID on.
    pub octets: &'a [u8],
    /// Whether the capture holds fewer octets than were sent.
    pub is_cut: bool,
    /// How many octets were sent; see [`Message::sent_octets`].
    pub sent_len: SentLen,
    /// The number, counted from 1, of the packet or frame in its file that ended it.
    pub number: u64,
}

impl Message<'_> {
    /// How many octets it had when it was sent, if that is known.
    #[inline]
    pub fn sent_octets(&self) -> Option<usize> {
        match self.sent_len {
            SentLen::Own => (!self.is_cut).then_some(self.octets.len()),
            SentLen::Told(len) => Some(len.into()),
            SentLen::Unknown => None,
        }
    }
}

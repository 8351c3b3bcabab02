//! Why a transport refused a query.

/// Why a transport refused a query. Each cause is reported under a name of its own, [`Refusal::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The kernel did not take it.
    Send,
    /// An ICMP error came back for it: host or network unreachable, or the like.
    Unreachable,
    /// The server's host sent back that nothing listens at the port.
    PortUnreachable,
    /// The client that was to send it had no place for another query in flight.
    NoPlace,
    /// No local port was left for a connection.
    NoPort,
    /// The limit of open files did not permit a connection.
    NoFile,
    /// The server did not accept the connection.
    ConnectFailed,
    /// The server neither accepted nor refused the connection in time.
    ConnectTimedOut,
    /// The server ended the TLS or QUIC handshake, or answered it with what cannot be accepted.
    HandshakeFailed,
    /// The server's certificate did not pass the verification that was asked for.
    CertificateRefused,
    /// The handshake was not over in time.
    HandshakeTimedOut,
    /// The connection it was sent over closed before its answer came.
    ConnectionLost,
    /// The server broke the rules of TLS, HTTP/2 or QUIC within an open session.
    ProtocolError,
    /// The server gave up the stream of this query, not the session (HTTP/2 RST_STREAM, QUIC RESET_STREAM or STOP_SENDING).
    StreamReset,
    /// An HTTP status other than 200 (RFC 8484 section 4.2.1).
    HttpStatus,
    /// An HTTP answer that is no `application/dns-message`.
    HttpContent,
}

/// Whose doing a refusal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedBy {
    /// The server, or its host.
    Server,
    /// What lies between.
    Path,
    /// A limit of the generator, or of its host.
    Generator,
    /// The refusal does not tell.
    Unclear,
}

impl Refusal {
    /// All of them, in order.
    pub const ALL: [Self; 16] = [
        Self::Send,
        Self::Unreachable,
        Self::PortUnreachable,
        Self::NoPlace,
        Self::NoPort,
        Self::NoFile,
        Self::ConnectFailed,
        Self::ConnectTimedOut,
        Self::HandshakeFailed,
        Self::CertificateRefused,
        Self::HandshakeTimedOut,
        Self::ConnectionLost,
        Self::ProtocolError,
        Self::StreamReset,
        Self::HttpStatus,
        Self::HttpContent,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Send => "send_error",
            Self::Unreachable => "unreachable",
            Self::PortUnreachable => "port_unreachable",
            Self::NoPlace => "no_place",
            Self::NoPort => "no_port",
            Self::NoFile => "no_file",
            Self::ConnectFailed => "connect_failed",
            Self::ConnectTimedOut => "connect_timed_out",
            Self::HandshakeFailed => "handshake_failed",
            Self::CertificateRefused => "certificate_refused",
            Self::HandshakeTimedOut => "handshake_timed_out",
            Self::ConnectionLost => "connection_lost",
            Self::ProtocolError => "protocol_error",
            Self::StreamReset => "stream_reset",
            Self::HttpStatus => "http_status",
            Self::HttpContent => "http_content",
        }
    }

    /// What it means, in words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Send => "the kernel did not send it",
            Self::Unreachable => "the host or network is unreachable",
            Self::PortUnreachable => "connection refused (ICMP: nothing listens at the port)",
            Self::NoPlace => "the client had too many queries in flight",
            Self::NoPort => "no local port is left",
            Self::NoFile => "the limit of open files is reached",
            Self::ConnectFailed => "connection refused",
            Self::ConnectTimedOut => "the connection was neither accepted nor refused in time",
            Self::HandshakeFailed => "the TLS or QUIC handshake failed",
            Self::CertificateRefused => "the server's certificate did not pass verification",
            Self::HandshakeTimedOut => "the TLS or QUIC handshake did not end in time",
            Self::ConnectionLost => "the connection closed before the answer",
            Self::ProtocolError => "the server broke the rules of TLS, HTTP/2 or QUIC",
            Self::StreamReset => "the server gave up the stream",
            Self::HttpStatus => "an HTTP status other than 200",
            Self::HttpContent => "an HTTP answer that is no DNS message",
        }
    }

    /// Whose doing it is.
    pub fn by(self) -> RefusedBy {
        match self {
            Self::PortUnreachable
            | Self::ConnectFailed
            | Self::ConnectTimedOut
            | Self::HandshakeFailed
            | Self::CertificateRefused
            | Self::HandshakeTimedOut
            | Self::ConnectionLost
            | Self::ProtocolError
            | Self::StreamReset
            | Self::HttpStatus
            | Self::HttpContent => RefusedBy::Server,
            // What a local firewall forbids fails at the send.
            Self::Send | Self::Unreachable => RefusedBy::Path,
            Self::NoPort | Self::NoFile => RefusedBy::Generator,
            // Places fill up when answers take long, and when the client has few.
            Self::NoPlace => RefusedBy::Unclear,
        }
    }

    /// What to do about it, if it befalls the first query of a load.
    pub fn advice(self) -> &'static str {
        match self {
            Self::NoPort | Self::NoFile => {
                "Use fewer clients, or raise the limit (ulimit -n, net.ipv4.ip_local_port_range)"
            }
            Self::HandshakeFailed | Self::HandshakeTimedOut | Self::ProtocolError => {
                "Check that the port is that of this transport, and the TLS settings (--tls, --cipher, --sni)"
            }
            Self::CertificateRefused => {
                "Check the certificates given (--ca) and the name (--sni), or leave --ca out to load without verification"
            }
            _ => "Check that the server runs, and that address and port are right",
        }
    }

    /// Whether a client with a connection makes the pause that this calls for, so that the schedule need not.
    pub fn pauses_client(self) -> bool {
        !matches!(self, Self::Send | Self::Unreachable | Self::PortUnreachable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_own_place_and_name() {
        for (place, refusal) in Refusal::ALL.into_iter().enumerate() {
            assert_eq!(refusal as usize, place);
            let same_name = Refusal::ALL
                .iter()
                .filter(|other| other.name() == refusal.name());
            assert_eq!(same_name.count(), 1);
        }
    }
}

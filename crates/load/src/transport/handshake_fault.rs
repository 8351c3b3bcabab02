//! What was wrong in a TLS or QUIC handshake, in more words than the accounting has.

use std::fmt;

/// What the server did instead of completing a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeFault {
    /// It sent what is no TLS.
    NotTls,
    /// It sent this alert (RFC 8446 section 6).
    Alert(u8),
    /// It closed the connection without an alert.
    Closed,
    /// It did not choose the application protocol that the transport needs (RFC 7301).
    OtherProtocol,
}

impl fmt::Display for HandshakeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NotTls => f.write_str("the server answered with something that is not TLS"),
            Self::Alert(number) => match alert_name(number) {
                Some(name) => write!(f, "the server sent the alert {name} ({number})"),
                None => write!(f, "the server sent alert {number}"),
            },
            Self::Closed => f.write_str("the server closed the connection in the handshake"),
            Self::OtherProtocol => {
                f.write_str("the server did not choose the application protocol (ALPN)")
            }
        }
    }
}

/// The name of an alert that answers a handshake, by IANA's registry "TLS Alerts".
fn alert_name(number: u8) -> Option<&'static str> {
    Some(match number {
        0 => "close_notify",
        10 => "unexpected_message",
        40 => "handshake_failure",
        47 => "illegal_parameter",
        49 => "access_denied",
        50 => "decode_error",
        70 => "protocol_version",
        71 => "insufficient_security",
        80 => "internal_error",
        86 => "inappropriate_fallback",
        90 => "user_canceled",
        109 => "missing_extension",
        110 => "unsupported_extension",
        112 => "unrecognized_name",
        116 => "certificate_required",
        120 => "no_application_protocol",
        _ => return None,
    })
}

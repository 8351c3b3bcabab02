//! Why a QUIC connection ended, in the words of the accounting.

use crate::refusal::Refusal;
use crate::transport::HandshakeFault;
use quinn_proto::{ConnectionError, TransportErrorCode};

/// Why an attempt failed, in which the server's certificate was refused or not.
pub fn of_attempt(reason: &ConnectionError, refused_certificate: bool) -> Refusal {
    match reason {
        ConnectionError::TransportError(_) if refused_certificate => Refusal::CertificateRefused,
        ConnectionError::ConnectionClosed(close)
            if close.error_code == TransportErrorCode::CONNECTION_REFUSED =>
        {
            Refusal::ConnectFailed
        }
        ConnectionError::TimedOut => Refusal::HandshakeTimedOut,
        _ => Refusal::HandshakeFailed,
    }
}

/// What the server said of a handshake that failed: an alert is a code of its own (RFC 9001 section 4.8).
pub fn fault_of(reason: &ConnectionError) -> Option<HandshakeFault> {
    let ConnectionError::ConnectionClosed(close) = reason else {
        return None;
    };
    match u64::from(close.error_code) {
        code @ 0x100..=0x1ff => Some(HandshakeFault::Alert(code as u8)),
        _ => None,
    }
}

/// Why the queries of an open session were lost.
pub fn of_session(reason: &ConnectionError) -> Refusal {
    match reason {
        ConnectionError::TransportError(_) => Refusal::ProtocolError,
        _ => Refusal::ConnectionLost,
    }
}

//! Why a QUIC connection ended, in the words of the accounting.

use crate::refusal::Refusal;
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

/// Why the queries of an open session were lost.
pub fn of_session(reason: &ConnectionError) -> Refusal {
    match reason {
        ConnectionError::TransportError(_) => Refusal::ProtocolError,
        _ => Refusal::ConnectionLost,
    }
}

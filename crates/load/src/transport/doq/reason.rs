//! Why a QUIC connection ended, in the words of the accounting.

use crate::refusal::Refusal;
use quinn_proto::{ConnectionError, TransportErrorCode};

/// TLS alerts by which a client says that it does not accept a certificate (RFC 8446 section 6.2): bad, unsupported,
/// revoked, expired, unknown, unknown CA, access denied.
const CERTIFICATE_ALERTS: [u8; 7] = [42, 43, 44, 45, 46, 48, 49];

/// Why an attempt failed.
pub fn of_attempt(reason: &ConnectionError) -> Refusal {
    match reason {
        ConnectionError::TransportError(error) if is_about_certificate(error.code) => {
            Refusal::CertificateRefused
        }
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

fn is_about_certificate(code: TransportErrorCode) -> bool {
    CERTIFICATE_ALERTS
        .iter()
        .any(|alert| code == TransportErrorCode::crypto(*alert))
}

//! What can go wrong before a question is asked.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why zones cannot be answered from, or a server cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// A zone has no SOA record at its apex.
    #[error("zone {zone} has no SOA record at its apex; without one it cannot be served")]
    NoSoa {
        /// The zone's name.
        zone: String,
    },
    /// Two zones have the same name.
    #[error("zone {zone} is given twice; leave one of them out")]
    DuplicateZone {
        /// The zone's name.
        zone: String,
    },
    /// The address and port cannot be listened on.
    #[error(
        "cannot listen on {protocol} {address}: {source}{}",
        listen_hint(source)
    )]
    Listen {
        /// `UDP`, `TCP`, `DoT`, `DoH` or `DoQ`.
        protocol: &'static str,
        /// The address and port wanted.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A socket failed while serving.
    #[error("the {protocol} socket on {address} failed: {source}")]
    Socket {
        /// `UDP`, `TCP`, `DoT`, `DoH` or `DoQ`.
        protocol: &'static str,
        /// The address and port served.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A PEM file does not hold what it should.
    #[error("cannot read {wanted} in PEM form from {}: {source}", path.display())]
    ReadPem {
        /// The file.
        path: PathBuf,
        /// What was looked for.
        wanted: &'static str,
        /// What was wrong.
        source: rustls::pki_types::pem::Error,
    },
    /// The certificate and key are of no use for TLS.
    #[error("the certificate and its key cannot be used for TLS: {source}")]
    Certificate {
        /// What was wrong.
        source: rustls::Error,
    },
    /// A thread could not be started.
    #[error("cannot start a server thread: {source}")]
    Thread {
        /// What the system said.
        source: io::Error,
    },
}

fn listen_hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::AddrInUse => "; choose another port, or 0 for a free one",
        io::ErrorKind::PermissionDenied => "; ports below 1024 need root, choose a higher one",
        io::ErrorKind::AddrNotAvailable => "; the address is not on this machine",
        _ => "",
    }
}

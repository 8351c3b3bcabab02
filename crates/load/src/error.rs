//! What can keep a load from being run.

use std::io;
use std::net::SocketAddr;

/// Why a load could not be run.
///
/// Whatever happens to single queries once a load has begun is no error: it is accounted for in the report.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A setting that no load can be run with.
    #[error("{option}: {reason}")]
    Setting {
        /// The setting's name in [`crate::LoadConfig`].
        option: &'static str,
        /// What is wrong with it and what would be right.
        reason: String,
    },
    /// A stream without a single message.
    #[error("the stream holds no query: check the query file, or the options it was made with")]
    EmptyStream,
    /// A message of the stream that cannot be sent as a query.
    #[error("query {position} of the stream: {reason}")]
    BadQuery {
        /// Its place in the stream, counted from one.
        position: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A target that may belong to someone else.
    #[error(
        "{server} is not an address of this machine; loading it may harm others. If it is yours to load, say so with --i-may-load-this"
    )]
    ForeignTarget {
        /// The target.
        server: SocketAddr,
    },
    /// Nothing listens at the target.
    #[error("{server} does not answer over {transport}: {reason}. {advice}")]
    Unreachable {
        /// The target.
        server: SocketAddr,
        /// The transport's name.
        transport: &'static str,
        /// What became of the query, or of the session that was to carry it.
        reason: String,
        /// What to do about it.
        advice: &'static str,
    },
    /// The target takes messages but never answers.
    #[error(
        "{server} gave no answer to {attempts} tries of the stream's first query over {transport} within {waited_s} s. \
         Check that a name server listens there, and its access lists, rate limits and firewall"
    )]
    Silent {
        /// The target.
        server: SocketAddr,
        /// The transport's name.
        transport: &'static str,
        /// Queries sent.
        attempts: u32,
        /// Seconds waited in all.
        waited_s: u64,
    },
    /// A system call that prepares the load failed.
    #[error("{action}: {source}{advice}")]
    System {
        /// What was being done.
        action: String,
        /// The operating system's words.
        source: io::Error,
        /// What to do about it, or nothing.
        advice: &'static str,
    },
    /// A stored histogram cannot be read.
    #[error("stored latency histogram: {reason}")]
    Histogram {
        /// What is wrong with it.
        reason: String,
    },
}

impl LoadError {
    /// A failed system call, with advice where the cause is a limit that the user can raise.
    pub(crate) fn system(action: impl Into<String>, source: io::Error) -> Self {
        let advice = match source.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => {
                " (raise the limit of open files, ulimit -n, or use fewer clients)"
            }
            _ => "",
        };
        Self::System {
            action: action.into(),
            source,
            advice,
        }
    }

    /// A client's socket that cannot be had. The kernel chooses its port, and has three words for having none left.
    pub(crate) fn client_socket(action: impl Into<String>, source: io::Error) -> Self {
        match source.raw_os_error() {
            Some(libc::EADDRNOTAVAIL | libc::EADDRINUSE | libc::EAGAIN) => Self::System {
                action: action.into(),
                source,
                advice: " (no local port is left: use fewer clients, or more source addresses)",
            },
            _ => Self::system(action, source),
        }
    }
}

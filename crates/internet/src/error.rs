//! What can go wrong.

use dnsrig_answer::AnswerError;
use dnsrig_sign::SignError;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why an Internet cannot be made or served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InternetError {
    /// A profile's file cannot be read.
    #[error("cannot read the profile {}: {source}", path.display())]
    ReadProfile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A profile is no TOML, or lacks something, or has something unknown; the message tells the line.
    #[error("the profile {profile} cannot be understood: {source}")]
    ParseProfile {
        /// The file or the name.
        profile: String,
        /// Where and what.
        source: Box<toml::de::Error>,
    },
    /// A profile says something that cannot be.
    #[error("the profile {profile}: {what}")]
    Profile {
        /// The file or the name.
        profile: String,
        /// What is wrong with which field, and what to do.
        what: String,
    },
    /// There is no such named profile.
    #[error("there is no profile {name:?}; the named ones are {}, or give a file that ends in .toml", known.join(", "))]
    UnknownProfile {
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: Vec<&'static str>,
    },
    /// Zones that were rebuilt take more memory than they may.
    #[error(
        "the zones take more than three quarters of {memory_mib} MiB, and signatures need the rest: allow more memory (dnsrig internet serve --memory), or rebuild fewer zones, of a part of the capture (dnsrig traffic filter)"
    )]
    Memory {
        /// MiB that zones and signatures may take.
        memory_mib: usize,
    },
    /// The caller asked to stop.
    #[error("stopped before all zones were made")]
    Interrupted,
    /// It has fewer names than other traffic needs stand-ins.
    #[error(
        "the Internet has too few {what} for the {wanted} of the traffic: take more --domains, or shorter loads, or lower rates"
    )]
    TooFewNames {
        /// Names, or addresses with names.
        what: &'static str,
        /// How many are needed.
        wanted: usize,
    },
    /// Names of a kind that other traffic needs stand-ins for are asked for so rarely that drawing them would take hours.
    #[error(
        "the Internet is asked for {what} so rarely that the {wanted} of the traffic need at least {needed} draws, and {most} are the most: change reverse.query_share of its profile, or take shorter loads, or lower rates"
    )]
    TooRareNames {
        /// Names, or addresses with names.
        what: &'static str,
        /// How many are needed.
        wanted: usize,
        /// Questions to draw for them, by what came so far.
        needed: u64,
        /// Questions that may be drawn.
        most: u64,
    },
    /// Memory does not suffice for the names of traffic.
    #[error("not enough memory for the names of the traffic: take shorter loads, or lower rates")]
    NoMemory,
    /// The caller asked to stop.
    #[error("stopped before all names were drawn")]
    Stopped,
    /// A key cannot be made or used.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// A zone cannot be answered from.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// The port cannot be listened on.
    #[error(
        "cannot listen on {protocol} {address}: {source}{}",
        listen_hint(source)
    )]
    Listen {
        /// `UDP` or `TCP`.
        protocol: &'static str,
        /// The wildcard address and port wanted.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A socket failed while serving.
    #[error("the {protocol} socket of the simulated Internet failed: {source}")]
    Socket {
        /// `UDP`, `TCP` or `packet`.
        protocol: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A thread could not be started.
    #[error("cannot start a thread of the simulated Internet: {source}")]
    Thread {
        /// What the system said.
        source: io::Error,
    },
}

fn listen_hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::AddrInUse => "; another server has this port, choose another",
        io::ErrorKind::PermissionDenied => {
            "; ports below 1024 need root, choose a higher one (dnsrig internet serve --port)"
        }
        _ => "",
    }
}

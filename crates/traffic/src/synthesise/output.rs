//! Where synthesised traffic goes.

mod columns;
mod lines;
mod packets;
mod session;

pub(super) use columns::Columns;
pub(super) use lines::Lines;
pub(super) use packets::PacketFile;

use crate::error::TrafficError;
use crate::message::Endpoint;
use serde::Deserialize;

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A pcap file of raw IP packets, with times in nanoseconds.
    Pcap,
    /// A query file in dnsperf's format with times and clients, which `dnsrig load --replay` reads.
    Text,
    /// Messages after their length, without times and clients.
    Binary,
}

/// Whose packets a pcap file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Packets {
    /// The clients'.
    Queries,
    /// The server's, as where ISC-2008 captured.
    Answers,
    /// All.
    Both,
}

impl Packets {
    /// Whether those of clients are among them.
    pub fn has_queries(self) -> bool {
        self != Self::Answers
    }

    /// Whether those of the server are among them.
    pub fn has_answers(self) -> bool {
        self != Self::Queries
    }
}

/// A query on its way, and its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transaction<'a> {
    /// When the query, or the session that it goes by, is sent, in ns since 1970.
    pub time_ns: i64,
    pub client: Endpoint,
    pub server: Endpoint,
    pub is_tcp: bool,
    pub round_trip_ns: u64,
    pub query: &'a [u8],
    /// The answer, and how long it takes.
    pub answer: Option<(&'a [u8], u64)>,
}

/// A TCP session that a client opens without asking anything.
#[derive(Clone, Copy, Debug)]
pub(super) struct AbandonedSession {
    pub time_ns: i64,
    pub client: Endpoint,
    pub server: Endpoint,
    pub round_trip_ns: u64,
}

/// What takes traffic, in the order of its queries.
pub(super) trait Sink {
    /// Whether answers are wanted, which cost time to make.
    fn wants_answers(&self) -> bool;

    /// Takes a query with its answer.
    fn transaction(&mut self, transaction: &Transaction<'_>) -> Result<(), TrafficError>;

    /// Takes a session without a query.
    fn abandoned_session(&mut self, session: &AbandonedSession) -> Result<(), TrafficError>;
}

/// What writes traffic to a file.
pub(super) trait FileSink: Sink {
    /// Ends the output; gives what was written.
    fn finish(self: Box<Self>) -> Result<Written, TrafficError>;
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    /// Packets, or lines, or messages.
    pub items: u64,
    pub octets: u64,
    /// Requests that the format cannot hold.
    pub left_out: u64,
}

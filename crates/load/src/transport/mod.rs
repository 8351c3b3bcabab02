//! How queries travel. A transport moves messages; it knows neither schedules nor what a query is worth.

mod epoll;
mod frame;
mod mmsg;
mod sent_runs;
mod socket;
mod tcp;
mod udp;

pub use frame::FrameReader;
pub(crate) use frame::append as append_frame;
pub(crate) use mmsg::{Control, LONGEST_MESSAGE};
pub(crate) use socket::{enlarge_buffers, pin_to_cpu, wake_precisely};
pub use tcp::Tcp;
pub use udp::Udp;

use crate::clock::Clock;
use crate::tally::Refusal;
use serde::{Deserialize, Serialize};

/// Queries handed to the kernel, and answers taken from it, by one system call.
pub const BATCH: usize = 64;

/// What a transport tells the accounting.
pub trait Events {
    /// `client` received a message at `received_ns`.
    fn answer(&mut self, client: usize, message: &[u8], received_ns: u64);

    /// The query with `id` that was queued for `client` has been refused.
    fn refused(&mut self, client: usize, id: u16, refusal: Refusal);

    /// All queries of `client` in flight have been refused.
    fn all_refused(&mut self, client: usize, refusal: Refusal);

    /// `client` received part of a message, and its rest cannot come any more.
    fn cut_message(&mut self, client: usize);
}

/// A way for queries to travel, with a number of clients: sockets, connections or sessions.
///
/// Clients are counted from zero. A transport may keep per-client state of its own (connections, TLS sessions, HTTP/2
/// streams); message IDs are the engine's, and a transport that cannot carry them maps them to its own and back.
pub trait Transport {
    /// Whether `received_ns` is the time of arrival even if `receive` is called later. If so, the engine may sleep
    /// while answers arrive, without harm to their latency.
    const STAMPS_ARRIVAL: bool;

    /// The number of clients.
    fn clients(&self) -> usize;

    /// Whether `client` can take another query now.
    fn has_room(&self, client: usize) -> bool;

    /// Queues a query; its first two octets are replaced by `id`.
    fn queue(&mut self, client: usize, id: u16, message: &[u8]);

    /// Hands queued queries to the kernel, in order.
    fn flush(&mut self, clock: &impl Clock, events: &mut impl Events);

    /// Takes what has arrived, without blocking, up to a fair share for each client. Says whether that was all.
    fn receive(&mut self, clock: &impl Clock, events: &mut impl Events) -> bool;

    /// Blocks until something arrives, or `until_ns`.
    fn wait(&mut self, clock: &impl Clock, until_ns: u64);

    /// What it counted.
    fn totals(&self) -> TransportTotals;
}

/// Connections of a load. All are zero over UDP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connections {
    /// Attempts to connect.
    pub tried: u64,
    /// Attempts that succeeded.
    pub opened: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Open connections that the server closed or reset.
    pub closed_by_peer: u64,
}

/// What a transport counted over its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransportTotals {
    /// Its connections.
    pub connections: Connections,
    /// Datagrams that the kernel dropped at its sockets, for want of room or a bad checksum.
    pub socket_drops: u64,
}

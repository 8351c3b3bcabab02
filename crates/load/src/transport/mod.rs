//! How queries travel. A transport moves messages; it knows neither schedules nor what a query is worth.

mod datagram;
mod doh;
mod doq;
mod epoll;
mod frame;
mod handshake_fault;
mod http2;
mod layer;
mod mix;
mod mmsg;
mod sent_runs;
mod sessions;
mod socket;
mod timers;
mod tls;
mod udp;

pub use doh::Doh;
pub use doq::Doq;
pub use frame::FrameReader;
pub use handshake_fault::HandshakeFault;
pub use http2::{Http2, HttpRequests};
pub use layer::{Layer, LayerEvents, Outgoing};
pub use mix::{AnyTransport, Mix};
pub(crate) use mmsg::{Control, LONGEST_MESSAGE};
pub use sessions::{Dot, Tcp};
pub(crate) use socket::{enlarge_buffers, pin_to_cpu, take_short_turns, wake_precisely};
pub use udp::Udp;

use crate::answer::Malformed;
use crate::clock::Clock;
use crate::refusal::Refusal;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
use std::os::fd::BorrowedFd;

/// Queries handed to the kernel, and answers taken from it, by one system call.
pub const BATCH: usize = 64;

/// After a failed attempt to open a session a client waits this long before the next.
const RETRY_NS: u64 = 50_000_000;

/// An attempt to open a session whose handshakes are not over after this time, connecting included, has failed.
const HANDSHAKE_TIMEOUT_NS: u64 = 5_000_000_000;

/// What a transport tells the accounting.
pub trait Events {
    /// `client` received a message at `received_ns`.
    fn answer(&mut self, client: usize, message: &[u8], received_ns: u64);

    /// The query with `id` that was queued for `client` was refused at `at_ns`.
    fn refused(&mut self, client: usize, id: u16, refusal: Refusal, at_ns: u64);

    /// All queries of `client` in flight were refused at `at_ns`.
    fn all_refused(&mut self, client: usize, refusal: Refusal, at_ns: u64);

    /// An answer for `client` had this HTTP status, other than 200; [`Self::refused`] follows for its query.
    fn http_status(&mut self, _client: usize, _status: u16) {}

    /// `client` received what is no DNS message.
    fn malformed(&mut self, client: usize, malformed: Malformed);

    /// Something happened to the session of `client`: its connection, with TLS or QUIC where the transport has it.
    fn session(&mut self, client: usize, event: SessionEvent);

    /// TCP's handshake for the session of `client` is over; those above it may follow.
    fn connected(&mut self, _client: usize) {}

    /// What was wrong in the handshake of `client`, as far as that is known; [`SessionEvent::Failed`] follows.
    fn handshake_fault(&mut self, _client: usize, _fault: HandshakeFault) {}
}

/// Why a client has no room for a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Earlier queries have not been written, or as many are in flight as the server permits.
    Busy,
    /// Its session has had all the queries that it is to have, and waits for their answers. It would take more.
    Spent,
    /// Its last attempt to open a session failed for this reason, and it pauses before the next.
    Pausing(Refusal),
}

/// What happens to a session. Each `Tried` is followed by one `Opened` or `Failed`, unless the load ends before; each
/// `Opened` by at most one `ClosedByPeer` or `Closed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// An attempt began.
    Tried,
    /// Queries can be sent: the handshake of the uppermost layer is over.
    Opened {
        /// Time since `Tried`: of TCP's handshake, with those of TLS or QUIC.
        handshake_ns: u64,
        /// Kind of the cryptographic handshake.
        kind: Handshake,
    },
    /// The attempt failed.
    Failed(Refusal),
    /// The server closed or reset the open session.
    ClosedByPeer,
    /// The generator closed the open session, as its settings ask for.
    Closed,
}

/// Kinds of handshakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// No cryptography: TCP.
    Plain,
    /// Full, with the server's certificate.
    Full,
    /// Of a resumed session (RFC 8446 section 2.2, RFC 5077).
    Resumed,
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

    /// What keeps `client` from taking another query now, where [`Self::has_room`] says that it cannot.
    fn obstacle(&self, _client: usize) -> Obstacle {
        Obstacle::Busy
    }

    /// Queues a query; its first two octets are replaced by `id`.
    fn queue(&mut self, client: usize, id: u16, message: &[u8]);

    /// Hands queued queries to the kernel, in order. Opens sessions where there are none.
    fn flush(&mut self, clock: &impl Clock, events: &mut impl Events);

    /// Of the queries that the last flush sent: the place, in the order of sending, of the one that was queued as number
    /// `index`. Both count from zero.
    fn sent_place(&self, index: usize) -> usize {
        index
    }

    /// Takes what has arrived, without blocking, up to a fair share for each client, and does what is due by the clock.
    /// Says whether that was all.
    fn receive(&mut self, clock: &impl Clock, events: &mut impl Events) -> bool;

    /// Blocks until something arrives, something of its own is due, or `until_ns`.
    fn wait(&mut self, clock: &impl Clock, until_ns: u64);

    /// A descriptor that is ready to be read when `receive` would find that something has arrived.
    fn ready_fd(&self) -> BorrowedFd<'_>;

    /// When `receive` is to be called even if nothing arrives; `u64::MAX` for never.
    fn due_ns(&self) -> u64 {
        u64::MAX
    }

    /// The query with `id` of `client` has ended, however it did: nothing more is expected for it.
    fn query_ended(&mut self, _client: usize, _id: u16, _clock: &impl Clock) {}

    /// Begins to open the session of `client` without a query; without effect if it has one, or over UDP.
    fn open(&mut self, _client: usize, _clock: &impl Clock, _events: &mut impl Events) {}

    /// Closes the session of `client`, open or not; without effect if it has none, or over UDP.
    fn close(&mut self, _client: usize, _clock: &impl Clock, _events: &mut impl Events) {}

    /// What it counted.
    fn totals(&self) -> TransportTotals;

    /// What each of the transports that it is made of counted.
    fn totals_of_parts(&self) -> Vec<TransportTotals> {
        vec![self.totals()]
    }
}

/// What a transport counted over its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransportTotals {
    /// Datagrams that the kernel dropped at its sockets, for want of room or a bad checksum.
    pub socket_drops: u64,
    /// What crossed the wire.
    pub wire: Wire,
}

impl AddAssign for TransportTotals {
    fn add_assign(&mut self, other: Self) {
        self.socket_drops += other.socket_drops;
        self.wire += other.wire;
    }
}

/// What crossed the wire, by the kernel's or the QUIC library's count; over UDP by that of what the kernel took and gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wire {
    /// Octets sent as payload of UDP or TCP, retransmissions among them: DNS messages with what TLS, HTTP/2 and QUIC add.
    pub octets_sent: u64,
    /// Octets received likewise.
    pub octets_received: u64,
    /// Datagrams or TCP segments sent, those without payload among them.
    pub packets_sent: u64,
    /// Datagrams or TCP segments received.
    pub packets_received: u64,
}

impl AddAssign for Wire {
    fn add_assign(&mut self, other: Self) {
        self.octets_sent += other.octets_sent;
        self.octets_received += other.octets_received;
        self.packets_sent += other.packets_sent;
        self.packets_received += other.packets_received;
    }
}

//! One client: a socket, at most one session at a time, and its queries.

use super::shared::Shared;
use super::socket::{DatagramSocket, NoSegmentation};
use super::streams::Streams;
use super::tls::Presented;
use crate::refusal::Refusal;
use crate::transport::{HANDSHAKE_TIMEOUT_NS, Obstacle, Wire};
use bytes::Bytes;
use quinn_proto::{Connection, ConnectionHandle, Endpoint};
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// A session without queries in flight, for which the server permits no further stream, is closed after this time:
/// without answers to those it had, the server may never permit one.
const STALLED_NS: u64 = 1_000_000_000;

/// A client takes no further query while it holds back more octets than this.
const HELD_LIMIT: usize = 64 * 1024;

/// Where a query in flight is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Held back until it can be sent.
    Held,
    /// In the stream of this number.
    Stream(u64),
}

/// Spreads message IDs, which are small numbers, over a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, octets: &[u8]) {
        for octet in octets {
            self.write_u16(u16::from(*octet));
        }
    }

    fn write_u16(&mut self, number: u16) {
        // 2^64 divided by the golden ratio: its multiples lie far apart.
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A connection and its streams.
pub struct Session {
    /// QUIC.
    pub connection: Connection,
    /// Its name at the client's endpoint.
    pub handle: ConnectionHandle,
    /// Its queries.
    pub streams: Streams,
    /// When the attempt began.
    pub tried_ns: u64,
    /// The handshake is over.
    pub is_open: bool,
    /// What became of the server's certificate.
    pub certificate: Presented,
    /// `quinn-proto` has said that nothing more comes of it.
    pub is_drained: bool,
}

/// A client.
pub struct Client {
    /// Its number.
    pub number: usize,
    /// Its socket, which it keeps over all its sessions.
    pub socket: DatagramSocket,
    /// QUIC, for this client's connections alone: their IDs are empty, and the socket tells them apart.
    pub endpoint: Endpoint,
    /// Its session, open or not.
    pub session: Option<Box<Session>>,
    /// No session is tried before.
    pub retry_ns: u64,
    /// Why the last attempt failed.
    pub last_refusal: Refusal,
    /// When the last query in flight ended, or the session opened.
    pub rests_since_ns: u64,
    /// `flush` or `wait` is to look after it.
    pub is_stirred: bool,
    /// Queries of the present session or, without one, of the next.
    queries: u64,
    in_flight: HashMap<u16, Place, BuildHasherDefault<IdHasher>>,
    held: VecDeque<(u16, Bytes)>,
    held_octets: usize,
}

impl Client {
    /// One without a session.
    pub fn new(number: usize, socket: DatagramSocket, endpoint: Endpoint) -> Self {
        Self {
            number,
            socket,
            endpoint,
            session: None,
            retry_ns: 0,
            last_refusal: Refusal::ConnectFailed,
            rests_since_ns: 0,
            is_stirred: false,
            queries: 0,
            in_flight: HashMap::default(),
            held: VecDeque::new(),
            held_octets: 0,
        }
    }

    /// Has `flush` or `wait` look after it, as one of those in `stirred`.
    pub fn stir(&mut self, stirred: &mut Vec<usize>) {
        if !std::mem::replace(&mut self.is_stirred, true) {
            stirred.push(self.number);
        }
    }

    /// Whether another query can be queued.
    pub fn has_room(&self, shared: &Shared) -> bool {
        if self.queries >= shared.queries || self.held_octets >= HELD_LIMIT {
            return false;
        }
        match &self.session {
            None => self.retry_ns <= shared.now_ns,
            Some(session) if session.is_open => self.held.is_empty() && session.streams.has_room(),
            Some(_) => true,
        }
    }

    /// What keeps it from having room.
    pub fn obstacle(&self) -> Obstacle {
        match &self.session {
            _ if self.held_octets >= HELD_LIMIT => Obstacle::Busy,
            None => Obstacle::Pausing(self.last_refusal),
            Some(session)
                if session.is_open && !(self.held.is_empty() && session.streams.has_room()) =>
            {
                Obstacle::Busy
            }
            Some(_) => Obstacle::Spent,
        }
    }

    /// Takes a query: sends it if it can be sent.
    pub fn queue(&mut self, id: u16, octets: Bytes) {
        self.queries += 1;
        self.in_flight.insert(id, Place::Held);
        self.held_octets += octets.len();
        self.held.push_back((id, octets));
        self.send_held();
    }

    /// Gives QUIC what it takes of the queries held back.
    pub fn send_held(&mut self) {
        let Some(session) = self.session.as_mut().filter(|session| session.is_open) else {
            return;
        };
        while session.streams.has_room()
            && let Some((id, octets)) = self.held.pop_front()
        {
            self.held_octets -= octets.len();
            if let Some(number) = session.streams.send(&mut session.connection, id, octets) {
                self.in_flight.insert(id, Place::Stream(number));
            }
        }
    }

    /// Whether there are queries without a session to send them.
    pub fn wants_session(&self) -> bool {
        self.session.is_none() && !self.held.is_empty()
    }

    /// A query has ended. Says whether a part of its answer had come, for which nobody waits any more.
    pub fn query_ended(&mut self, id: u16) -> bool {
        match (self.in_flight.remove(&id), &mut self.session) {
            (Some(Place::Held), _) => {
                if let Some(place) = self.held.iter().position(|held| held.0 == id)
                    && let Some((_, octets)) = self.held.remove(place)
                {
                    self.held_octets -= octets.len();
                }
                false
            }
            (Some(Place::Stream(number)), Some(session)) => {
                session.streams.cancel(&mut session.connection, number)
            }
            _ => false,
        }
    }

    /// Whether no query is in flight.
    pub fn rests(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Whether its session has had all its queries, and they have ended.
    pub fn is_spent(&self, shared: &Shared) -> bool {
        self.rests()
            && self.queries >= shared.queries
            && self.session.as_ref().is_some_and(|session| session.is_open)
    }

    /// All its queries have ended, or are about to be refused.
    pub fn forget_queries(&mut self) {
        self.queries = 0;
        self.in_flight.clear();
        self.held.clear();
        self.held_octets = 0;
    }

    /// Hands to the kernel what the connection has to send.
    pub fn transmit(&mut self, shared: &mut Shared) {
        let Some(session) = &mut self.session else {
            return;
        };
        let now = shared.now();
        loop {
            let octets = &mut shared.outgoing;
            octets.clear();
            let connection = &mut session.connection;
            let Some(transmit) = connection.poll_transmit(now, shared.segments, octets) else {
                return;
            };
            let octets = &octets[..transmit.size];
            let segment = transmit.segment_size;
            if let Err(NoSegmentation) = self.socket.send(octets, segment) {
                shared.segments = 1;
                for datagram in octets.chunks(segment.unwrap_or(octets.len())) {
                    let _ = self.socket.send(datagram, None);
                }
            }
        }
    }

    /// When something is due without anything having arrived; `u64::MAX` for never.
    pub fn due_ns(&mut self, shared: &Shared) -> u64 {
        match &mut self.session {
            Some(session) => {
                let timeout = session.connection.poll_timeout();
                shared.ns(timeout).min(self.session_ends_ns(shared))
            }
            None if self.retry_ns > shared.now_ns => self.retry_ns,
            None => u64::MAX,
        }
    }

    /// When the session is to be closed, or its attempt given up; `u64::MAX` for never.
    pub fn session_ends_ns(&self, shared: &Shared) -> u64 {
        match &self.session {
            Some(session) if !session.is_open => session.tried_ns + HANDSHAKE_TIMEOUT_NS,
            Some(session) if self.rests() => {
                let longest_ns = if session.streams.has_room() {
                    shared.idle_ns
                } else {
                    shared.idle_ns.min(STALLED_NS)
                };
                self.rests_since_ns.saturating_add(longest_ns)
            }
            _ => u64::MAX,
        }
    }

    /// What crossed the wire in its present session.
    pub fn wire(&self) -> Wire {
        let session = self.session.as_ref();
        session.map_or(Wire::default(), |session| session.wire())
    }
}

impl Session {
    /// What crossed the wire, as `quinn-proto` counted it.
    pub fn wire(&self) -> Wire {
        let stats = self.connection.stats();
        Wire {
            octets_sent: stats.udp_tx.bytes,
            octets_received: stats.udp_rx.bytes,
            packets_sent: stats.udp_tx.datagrams,
            packets_received: stats.udp_rx.datagrams,
        }
    }
}

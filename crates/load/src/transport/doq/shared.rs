//! What all clients of one transport share.

use super::memory::Memory;
use super::timeline::Timeline;
use super::tls::{Tls, Verifier};
use crate::LoadError;
use crate::clock::Clock;
use crate::config::{SessionSettings, TlsSettings};
use crate::transport::tls::setting;
use crate::transport::{BATCH, LONGEST_MESSAGE, Wire};
use bytes::{Bytes, BytesMut};
use quinn_proto::{ClientConfig, IdleTimeout, NoneTokenStore, TokenStore, TransportConfig, VarInt};
use rustls::pki_types::ServerName;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Octets of the longest datagram sent: what Ethernet's 1500 leave after the headers of IPv6 and UDP.
const LONGEST_DATAGRAM: u16 = 1452;

/// The transport gives up an idle connection this long after the client would have closed it.
const IDLE_MARGIN: Duration = Duration::from_secs(5);

/// Octets that one answer may be ahead of what has been read: the longest message with its length, and then some.
const STREAM_WINDOW: u32 = 128 * 1024;

/// Memory for queries is taken in pieces of this many octets.
const ARENA_LEN: usize = 64 * 1024;

/// What all clients of one transport share.
pub struct Shared {
    /// The server.
    pub server: SocketAddr,
    /// Its name, verified and sent as SNI if it is no address.
    pub name: String,
    /// Queries of a session, at most.
    pub queries: u64,
    /// How long a session may stand without a query in flight.
    pub idle_ns: u64,
    /// Settings of QUIC and TLS.
    pub config: ClientConfig,
    /// Tells full handshakes from resumed ones.
    pub verifier: Arc<Verifier>,
    memory: Option<Arc<Memory>>,
    timeline: Timeline,
    /// The last look at the clock.
    pub now_ns: u64,
    /// Datagrams that one system call sends, at most.
    pub segments: usize,
    /// What crossed the wire in sessions that have ended.
    pub wire: Wire,
    queries_arena: BytesMut,
    datagrams_arena: BytesMut,
    /// Datagrams on their way to the kernel.
    pub outgoing: Vec<u8>,
    /// What `quinn-proto` would respond to datagrams that belong to no connection.
    pub response: Vec<u8>,
    /// An answer whose ID has been replaced.
    pub answer: Vec<u8>,
}

impl Shared {
    /// For `clients` clients, over links that carry datagrams of `longest_datagram` octets.
    ///
    /// # Errors
    /// [`LoadError::Setting`]
    pub fn new(
        server: SocketAddr,
        clients: usize,
        longest_datagram: Option<u16>,
        sessions: &SessionSettings,
        settings: &TlsSettings,
    ) -> Result<Self, LoadError> {
        let name = match &settings.server_name {
            Some(name) => name.clone(),
            None => server.ip().to_string(),
        };
        if ServerName::try_from(name.as_str()).is_err() {
            let reason = format!("{name} is neither a host name nor an address");
            return Err(setting("server_name", reason));
        }
        let tls = Tls::new(settings, sessions, clients)?;
        let datagram = longest_datagram.map_or(LONGEST_DATAGRAM, |most| most.min(LONGEST_DATAGRAM));
        let tokens: Arc<dyn TokenStore> = match &tls.memory {
            Some(memory) => memory.clone(),
            None => Arc::new(NoneTokenStore),
        };
        let mut config = ClientConfig::new(tls.config);
        config.transport_config(Arc::new(transport(datagram, sessions.idle)));
        config.token_store(tokens);
        let idle_ns = sessions
            .idle
            .and_then(|idle| u64::try_from(idle.as_nanos()).ok());
        Ok(Self {
            server,
            name,
            queries: sessions.queries.unwrap_or(u64::MAX),
            idle_ns: idle_ns.unwrap_or(u64::MAX),
            config,
            verifier: tls.verifier,
            memory: tls.memory,
            timeline: Timeline::default(),
            now_ns: 0,
            segments: (LONGEST_MESSAGE / usize::from(LONGEST_DATAGRAM)).min(BATCH),
            wire: Wire::default(),
            queries_arena: BytesMut::new(),
            datagrams_arena: BytesMut::new(),
            outgoing: Vec::new(),
            response: Vec::new(),
            answer: Vec::new(),
        })
    }

    /// Looks at the clock.
    pub fn look_at(&mut self, clock: &impl Clock) {
        self.now_ns = self.timeline.now_ns(clock);
    }

    /// The last look at the clock, for QUIC.
    pub fn now(&self) -> Instant {
        self.timeline.instant(self.now_ns)
    }

    /// A moment of QUIC's in the load's nanoseconds; `u64::MAX` for never.
    pub fn ns(&self, moment: Option<Instant>) -> u64 {
        moment.map_or(u64::MAX, |moment| self.timeline.ns(moment))
    }

    /// What follows concerns `client`.
    pub fn turn_to(&self, client: usize) {
        if let Some(memory) = &self.memory {
            memory.turn_to(client);
        }
    }

    /// A query as it is sent: its length, and the ID 0 (RFC 9250 sections 4.2 and 4.2.1).
    pub fn framed(&mut self, message: &[u8]) -> Bytes {
        let arena = &mut self.queries_arena;
        make_room(arena, message.len() + 2);
        arena.extend_from_slice(&(message.len() as u16).to_be_bytes());
        arena.extend_from_slice(&[0, 0]);
        arena.extend_from_slice(&message[2..]);
        arena.split().freeze()
    }

    /// A received datagram in memory that QUIC can keep.
    pub fn kept(&mut self, datagram: &[u8]) -> BytesMut {
        let arena = &mut self.datagrams_arena;
        make_room(arena, datagram.len());
        arena.extend_from_slice(datagram);
        arena.split()
    }
}

/// Takes memory for [`ARENA_LEN`] octets at once. It is used again when everything in it has been dropped.
fn make_room(arena: &mut BytesMut, len: usize) {
    if arena.capacity() < len {
        arena.reserve(len.max(ARENA_LEN));
    }
}

/// Datagrams are as long as Ethernet carries them, also where the link (loopback) carries longer ones, so that figures
/// hold for real links. The kernel knows of shorter ones beforehand; longer ones are not searched for, since probes would
/// be a good part of what a short session sends.
fn transport(longest_datagram: u16, idle: Option<Duration>) -> TransportConfig {
    let mut transport = TransportConfig::default();
    // Servers must not open streams (RFC 9250 section 4.3.3).
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .stream_receive_window(VarInt::from_u32(STREAM_WINDOW))
        .datagram_receive_buffer_size(None)
        .initial_mtu(longest_datagram)
        .mtu_discovery_config(None)
        // Queries leave in the order in which they came.
        .send_fairness(false)
        // Without a limit of the client's own, the server's counts (RFC 9000 section 10.1).
        .max_idle_timeout(idle.and_then(|idle| IdleTimeout::try_from(idle + IDLE_MARGIN).ok()));
    transport
}

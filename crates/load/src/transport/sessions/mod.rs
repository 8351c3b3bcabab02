//! Sessions over octet-stream connections: TCP alone (RFC 7766), or with TLS above it.
//!
//! A client has one session at a time. It is opened when there is a query for it, or on demand, and closed as the
//! settings ask for: after a number of queries, or after a time without any.
//!
//! Sessions are closed in order, as real clients do: the layer's last words (TLS close_notify), then FIN. The side that
//! closes first keeps the connection in TIME-WAIT, so sessions of few queries use up ports: Linux lends a port in
//! TIME-WAIT again after a second over loopback (net.ipv4.tcp_tw_reuse = 2, its default), elsewhere after a minute, which
//! is 28,000 or 470 sessions per second for each pair of source and server address. Beyond that attempts fail as
//! [`Refusal::NoPort`]; more source addresses help. Closing with RST instead would spare the ports, but cost the server
//! less than real clients do, and lose what it has not read.

mod client;
mod connection;
mod frames;
mod tls;
mod transport;

pub use tls::{Alpn, TlsFactory};

use super::epoll::{Epoll, Ready};
use super::layer::{Layer, LayerEvents, LayerFactory};
use super::timers::Timers;
use super::{Events, HandshakeFault, RETRY_NS, SessionEvent, Wire, socket};
use crate::LoadError;
use crate::answer::Malformed;
use crate::clock::Clock;
use crate::config::{SessionSettings, TlsSettings};
use crate::refusal::Refusal;
use client::{Client, Policy};
use connection::{Connection, Received, State};
use frames::FramesFactory;
use std::net::{IpAddr, SocketAddr};

/// TCP (RFC 7766).
pub type Tcp = Sessions<FramesFactory>;

/// DNS over TLS (RFC 7858).
pub type Dot = Sessions<TlsFactory<FramesFactory>>;

/// Octets taken from a connection by one system call.
const READ_LEN: usize = 256 * 1024;

/// An attempt that has not connected after this time has failed: the kernel alone would try for minutes.
const CONNECT_TIMEOUT_NS: u64 = 3_000_000_000;

/// With more clients than this, those without a query in flight keep no buffers.
const CLIENTS_WITH_BUFFERS: usize = 1024;

/// Clients with a session each, over connections whose layers `F` makes.
///
/// Memory of a client is about 60 octets, and 190 more with an idle TCP connection, besides the kernel's.
pub struct Sessions<F: LayerFactory> {
    server: SocketAddr,
    sources: Vec<IpAddr>,
    factory: F,
    policy: Policy,
    clients: Vec<Client<F::Layer>>,
    epoll: Epoll,
    /// Clients with `queued` set, in order.
    queued: Vec<usize>,
    /// Clients whose session has been closed, which is still to be told.
    closed: Vec<usize>,
    timers: Timers,
    incoming: Vec<u8>,
    /// When it last looked what has arrived.
    now_ns: u64,
    /// What crossed the wire in connections that have ended.
    wire: Wire,
}

impl Tcp {
    /// Makes `clients` clients, none of them connected yet. Client `n` has the source address `sources[n % len]`; without
    /// any, the kernel chooses.
    ///
    /// # Errors
    /// [`LoadError::Setting`] for a source address that cannot be used, and [`LoadError::System`].
    pub fn open(
        server: SocketAddr,
        sources: &[IpAddr],
        clients: usize,
        settings: &SessionSettings,
    ) -> Result<Self, LoadError> {
        Self::new(server, sources, clients, settings, FramesFactory)
    }
}

impl Dot {
    /// The same over TLS.
    ///
    /// # Errors
    /// As for [`Tcp::open`], and [`LoadError::Setting`] for settings of TLS that cannot be used.
    pub fn open(
        server: SocketAddr,
        sources: &[IpAddr],
        clients: usize,
        settings: &SessionSettings,
        tls: &TlsSettings,
    ) -> Result<Self, LoadError> {
        let factory = TlsFactory::new(
            server.ip(),
            tls,
            settings.resumption,
            Alpn::DOT,
            FramesFactory,
        )?;
        Self::new(server, sources, clients, settings, factory)
    }
}

impl<F: LayerFactory> Sessions<F> {
    /// The same over the layers that `factory` makes.
    ///
    /// # Errors
    /// As for [`Tcp::open`].
    pub fn new(
        server: SocketAddr,
        sources: &[IpAddr],
        clients: usize,
        settings: &SessionSettings,
        factory: F,
    ) -> Result<Self, LoadError> {
        socket::check_sources(server, sources)?;
        Ok(Self {
            server,
            sources: sources.to_vec(),
            factory,
            policy: Policy::new(settings),
            clients: (0..clients).map(|_| Client::new()).collect(),
            epoll: Epoll::new()
                .map_err(|error| LoadError::system("making an epoll instance", error))?,
            queued: Vec::new(),
            closed: Vec::new(),
            timers: Timers::new(clients),
            incoming: vec![0; READ_LEN],
            now_ns: 0,
            wire: Wire::default(),
        })
    }

    /// Gives a client that has none a connection that is wanted.
    fn want_connection(&mut self, index: usize) -> Option<&mut Connection<F::Layer>> {
        let client = &mut self.clients[index];
        if client.connection.is_none() {
            match self.factory.layer(index) {
                Ok(layer) => client.connection = Some(Box::new(Connection::new(layer))),
                Err(refusal) => client.last_refusal = refusal,
            }
        }
        client.connection.as_deref_mut()
    }

    fn connect(&mut self, index: usize, now_ns: u64, events: &mut impl Events) {
        events.session(index, SessionEvent::Tried);
        let source = match self.sources.len() {
            0 => None,
            count => Some(self.sources[index % count]),
        };
        let client = &mut self.clients[index];
        client.connections = client.connections.wrapping_add(1);
        let token = token(index, client.connections);
        let Some(connection) = &mut client.connection else {
            return;
        };
        connection.tried_ns = now_ns;
        match connection.connect(self.server, source, &self.epoll, token) {
            Ok(()) => {
                self.timers.set(index, now_ns + CONNECT_TIMEOUT_NS);
                if connection.state == State::Handshaking {
                    events.connected(index);
                    self.go_on(index, now_ns, events);
                }
            }
            Err(refusal) => self.fail(index, refusal, now_ns, events),
        }
    }

    /// Takes notice if the handshakes are over, and writes what is to be written.
    fn go_on(&mut self, index: usize, now_ns: u64, events: &mut impl Events) {
        let client = &mut self.clients[index];
        let token = token(index, client.connections);
        let Some(connection) = &mut client.connection else {
            return;
        };
        let opens = connection.state == State::Handshaking && connection.layer.is_open();
        if opens {
            connection.state = State::Open;
            connection.opened = true;
            let opened = SessionEvent::Opened {
                handshake_ns: now_ns.saturating_sub(connection.tried_ns),
                kind: connection.layer.handshake(),
            };
            events.session(index, opened);
        }
        if let Err(refusal) = connection.write(&self.epoll, token) {
            return self.break_off(index, refusal, now_ns, events);
        }
        if opens && connection.state == State::Open && client.in_flight == 0 {
            self.rest(index, now_ns);
            self.tell_closed(events);
        }
    }

    /// A client has an open session and no query in flight any more, or none yet.
    fn rest(&mut self, index: usize, now_ns: u64) {
        let client = &mut self.clients[index];
        if client.is_spent(self.policy) {
            return self.end_session(index);
        }
        client.idle_since_ns = now_ns;
        self.timers.set(index, client.due_ns(self.policy, now_ns));
        if self.clients.len() > CLIENTS_WITH_BUFFERS
            && let Some(connection) = &mut self.clients[index].connection
        {
            connection.layer.release_buffers();
        }
    }

    /// Closes an open session in order.
    fn end_session(&mut self, index: usize) {
        if let Some(connection) = &mut self.clients[index].connection {
            connection.layer.say_goodbye();
            connection.write_last_words();
        }
        self.drop_connection(index);
        self.closed.push(index);
    }

    fn tell_closed(&mut self, events: &mut impl Events) {
        for index in self.closed.drain(..) {
            events.session(index, SessionEvent::Closed);
        }
    }

    fn drop_connection(&mut self, index: usize) {
        if let Some(connection) = self.clients[index].connection.take() {
            self.wire += connection.wire();
        }
    }

    /// An attempt to open a session has failed.
    fn fail(&mut self, index: usize, refusal: Refusal, now_ns: u64, events: &mut impl Events) {
        events.session(index, SessionEvent::Failed(refusal));
        self.drop_connection(index);
        self.pause(index, refusal, now_ns);
        events.all_refused(index, refusal, now_ns);
    }

    fn pause(&mut self, index: usize, refusal: Refusal, now_ns: u64) {
        let client = &mut self.clients[index];
        client.retry_ns = now_ns + RETRY_NS;
        client.last_refusal = refusal;
        self.timers.set(index, client.retry_ns);
    }

    /// A session has ended, open or not, without the client's doing. If it brought no answer, the client pauses before the
    /// next.
    fn lose(&mut self, index: usize, refusal: Refusal, now_ns: u64, events: &mut impl Events) {
        let Some(connection) = &self.clients[index].connection else {
            return;
        };
        if !connection.opened {
            return self.fail(index, refusal, now_ns, events);
        }
        events.session(index, SessionEvent::ClosedByPeer);
        if connection.layer.is_inside_message() {
            events.malformed(index, Malformed::Cut);
        }
        let used = connection.used;
        self.drop_connection(index);
        if !used {
            self.pause(index, refusal, now_ns);
        }
        events.all_refused(index, refusal, now_ns);
    }

    /// The layer cannot go on.
    fn break_off(&mut self, index: usize, refusal: Refusal, now_ns: u64, events: &mut impl Events) {
        if let Some(connection) = &mut self.clients[index].connection {
            connection.write_last_words();
        }
        self.lose(index, refusal, now_ns, events);
    }

    /// Does what is due by the clock.
    fn pass_time(&mut self, events: &mut impl Events) {
        let now_ns = self.now_ns;
        while let Some(index) = self.timers.take(now_ns) {
            let client = &self.clients[index];
            let due_ns = client.due_ns(self.policy, now_ns);
            if due_ns > now_ns {
                self.timers.set(index, due_ns);
                continue;
            }
            match client
                .connection
                .as_ref()
                .map(|connection| connection.state)
            {
                Some(State::Open) => self.end_session(index),
                Some(State::Connecting) => {
                    self.fail(index, Refusal::ConnectTimedOut, now_ns, events);
                }
                _ => self.fail(index, Refusal::HandshakeTimedOut, now_ns, events),
            }
        }
        self.tell_closed(events);
    }

    fn flush_client(&mut self, index: usize, clock: &impl Clock, events: &mut impl Events) {
        let client = &mut self.clients[index];
        match client
            .connection
            .as_ref()
            .map(|connection| connection.state)
        {
            None => events.all_refused(index, client.last_refusal, clock.now_ns()),
            Some(State::Wanted) => {
                let now_ns = clock.now_ns();
                if now_ns >= client.retry_ns {
                    self.connect(index, now_ns, events);
                } else {
                    client.connection = None;
                    events.all_refused(index, client.last_refusal, now_ns);
                }
            }
            Some(State::Open) => self.go_on(index, self.now_ns, events),
            Some(State::Connecting | State::Handshaking | State::Ending) => {}
        }
    }

    /// Takes what a connection is ready for; says whether all that had arrived was read.
    fn handle(&mut self, ready: Ready, clock: &impl Clock, events: &mut impl Events) -> bool {
        let index = ready.client & INDEX_MASK;
        let client = &mut self.clients[index];
        let is_present = ready.client == token(index, client.connections);
        let Some(connection) = client.connection.as_deref_mut().filter(|_| is_present) else {
            return true;
        };
        if connection.state == State::Connecting {
            if let Some(refusal) = connection.connect_error() {
                self.fail(index, refusal, clock.now_ns(), events);
                return true;
            }
            if !ready.writable {
                return true;
            }
            connection.state = State::Handshaking;
            events.connected(index);
        }
        if ready.writable && connection.state != State::Ending {
            self.go_on(index, clock.now_ns(), events);
        }
        !ready.readable || self.read(index, clock, events)
    }

    /// Reads once; says whether that was all there was.
    fn read(&mut self, index: usize, clock: &impl Clock, events: &mut impl Events) -> bool {
        let Some(connection) = self.clients[index].connection.as_deref_mut() else {
            return true;
        };
        match connection.read(&mut self.incoming) {
            Ok(Received::Octets(count)) => {
                let now_ns = clock.now_ns();
                let mut session = Session {
                    client: index,
                    now_ns,
                    used: &mut connection.used,
                    events,
                };
                let received = connection
                    .layer
                    .receive(&self.incoming[..count], &mut session);
                match received {
                    Ok(()) => self.answer_handshake(index, now_ns, events),
                    Err(refusal) => self.break_off(index, refusal, now_ns, events),
                }
                return count < READ_LEN;
            }
            Ok(Received::Nothing) => {}
            Ok(Received::End) | Err(_) => {
                let lost = if connection.opened {
                    Refusal::ConnectionLost
                } else {
                    events.handshake_fault(index, HandshakeFault::Closed);
                    Refusal::HandshakeFailed
                };
                self.lose(index, lost, clock.now_ns(), events);
            }
        }
        true
    }

    /// Writes what the layer has to say to what it received.
    fn answer_handshake(&mut self, index: usize, now_ns: u64, events: &mut impl Events) {
        let Some(connection) = &mut self.clients[index].connection else {
            return;
        };
        match (connection.state, connection.layer.outgoing()) {
            (State::Ending, _) => {}
            (State::Open, Ok(outgoing)) if outgoing.unwritten().is_empty() => {}
            (_, Ok(_)) => self.go_on(index, now_ns, events),
            (_, Err(refusal)) => self.break_off(index, refusal, now_ns, events),
        }
    }
}

/// Passes on what a layer tells of the session of one client.
struct Session<'a, E> {
    client: usize,
    now_ns: u64,
    used: &'a mut bool,
    events: &'a mut E,
}

impl<E: Events> LayerEvents for Session<'_, E> {
    fn answer(&mut self, message: &[u8]) {
        *self.used = true;
        self.events.answer(self.client, message, self.now_ns);
    }

    fn refused(&mut self, id: u16, refusal: Refusal) {
        *self.used = true;
        self.events.refused(self.client, id, refusal, self.now_ns);
    }

    fn http_status(&mut self, status: u16) {
        self.events.http_status(self.client, status);
    }

    fn malformed(&mut self, malformed: Malformed) {
        self.events.malformed(self.client, malformed);
    }

    fn handshake_fault(&mut self, fault: HandshakeFault) {
        self.events.handshake_fault(self.client, fault);
    }
}

/// Tokens of readiness name the client in their low bits, and its connection above.
const INDEX_MASK: usize = u32::MAX as usize;

fn token(index: usize, connection: u32) -> usize {
    (connection as usize) << 32 | index
}

#[cfg(test)]
mod tests;

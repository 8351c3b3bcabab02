//! Serving over QUIC (RFC 9000): datagrams to connections and back, and their timers.

use super::certificate::{Certificate, CountedTickets};
use super::datagrams::{Buffers, Datagram, Socket};
use super::doq::{self, Streams};
use super::workspace::{LENGTH_LEN, MESSAGE_LEN, Workspace};
use super::{STOP_CHECK, ServeConfig, Service, socket_error};
use crate::AnswerError;
use bytes::{Bytes, BytesMut};
use mio::{Events, Interest, Poll, Token};
use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, Event,
    IdleTimeout, Incoming, ServerConfig, Transmit, TransportConfig, VarInt,
};
use rustls::version::TLS13;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Octets of responses that a connection may have unacknowledged.
const SEND_WINDOW: u64 = 1 << 20;
/// Octets of queries that a client may send ahead of us, over all streams.
const RECEIVE_WINDOW: u32 = 1 << 20;

/// What is the same for all connections and threads.
#[derive(Clone)]
pub(super) struct Settings {
    endpoint: Arc<EndpointConfig>,
    server: Arc<ServerConfig>,
    /// Sessions resumed since somebody last looked.
    resumed: Arc<AtomicU64>,
}

impl Settings {
    pub fn new(config: &ServeConfig, certificate: &Certificate) -> Result<Self, AnswerError> {
        let (tickets, resumed) = CountedTickets::with_counter()?;
        let tls = certificate.tls(b"doq", &[&TLS13], tickets)?;
        let unusable = |_| AnswerError::Certificate {
            source: rustls::Error::General("QUIC needs the cipher suite AES-128-GCM".into()),
        };
        let tls = QuicServerConfig::try_from(tls).map_err(unusable)?;
        let mut server = ServerConfig::with_crypto(Arc::new(tls));
        let mut transport = TransportConfig::default();
        let stream_window = VarInt::from_u32((LENGTH_LEN + MESSAGE_LEN) as u32);
        transport
            .max_concurrent_bidi_streams(config.max_streams.into())
            .max_concurrent_uni_streams(VarInt::from_u32(0))
            .datagram_receive_buffer_size(None)
            .stream_receive_window(stream_window)
            .receive_window(RECEIVE_WINDOW.into())
            .send_window(SEND_WINDOW)
            .max_idle_timeout(IdleTimeout::try_from(config.idle_timeout).ok());
        server.transport_config(Arc::new(transport));
        // The system chooses a socket by the client's address: one that changes it would come to another thread.
        server.migration(config.threads.get() == 1);
        Ok(Self {
            endpoint: Arc::new(EndpointConfig::default()),
            server: Arc::new(server),
            resumed,
        })
    }
}

/// Answers on one socket until told to stop.
pub(super) fn run(
    service: &Service<'_>,
    socket: UdpSocket,
    settings: &Settings,
) -> Result<(), AnswerError> {
    let address = socket.local_addr();
    let failed = socket_error("DoQ", address.unwrap_or(service.config.address));
    let mut workspace = Workspace::new(service);
    let mut clients = Clients::new(service, socket, settings).map_err(&failed)?;
    let mut poll = Poll::new().map_err(&failed)?;
    poll.registry()
        .register(&mut clients.socket.socket, Token(0), Interest::READABLE)
        .map_err(&failed)?;
    let mut events = Events::with_capacity(1);
    let mut buffers = Buffers::new(&clients.socket.state);
    let mut readable = true;
    while !service.should_stop() {
        if !readable {
            let wait = clients.wait(Instant::now());
            match poll.poll(&mut events, Some(wait)) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
        let received = buffers.receive(&clients.socket).map_err(&failed)?;
        // The system reports readiness once, so only finding nothing ends it.
        readable = received > 0;
        let now = Instant::now();
        for datagram in buffers.datagrams(received) {
            clients.receive(datagram, now, &mut workspace);
        }
        clients.fire_timers(now);
        clients.advance(now, &mut workspace);
        let resumed = settings.resumed.swap(0, Ordering::Relaxed);
        workspace.tally.counts.handshakes_resumed += resumed;
        workspace.tally.add_to(service.counters);
    }
    clients.close_all(Instant::now());
    workspace.tally.add_to(service.counters);
    Ok(())
}

/// One connection.
struct Client {
    quic: Connection,
    streams: Streams,
    connected: bool,
    /// When its entry among the timers fires.
    wakes_at: Option<Instant>,
    /// It is to be advanced.
    touched: bool,
}

/// The connections on a socket.
struct Clients<'a> {
    service: &'a Service<'a>,
    socket: Socket,
    endpoint: Endpoint,
    open: HashMap<ConnectionHandle, Client>,
    touched: Vec<ConnectionHandle>,
    /// When to look at which connection; one that has to wait longer by then gets a new entry.
    timers: BinaryHeap<Reverse<(Instant, ConnectionHandle)>>,
    /// Datagrams to send.
    outgoing: Vec<u8>,
}

impl<'a> Clients<'a> {
    fn new(service: &'a Service<'a>, socket: UdpSocket, settings: &Settings) -> io::Result<Self> {
        let socket = Socket::new(socket)?;
        let may_discover_mtu = !socket.state.may_fragment();
        let (endpoint, server) = (settings.endpoint.clone(), settings.server.clone());
        Ok(Self {
            service,
            socket,
            endpoint: Endpoint::new(endpoint, Some(server), may_discover_mtu, None),
            open: HashMap::new(),
            touched: Vec::new(),
            timers: BinaryHeap::new(),
            outgoing: Vec::new(),
        })
    }

    /// How long there is nothing to do, unless something comes in.
    fn wait(&self, now: Instant) -> Duration {
        let next = self.timers.peek();
        next.map_or(STOP_CHECK, |Reverse((at, _))| {
            at.saturating_duration_since(now).min(STOP_CHECK)
        })
    }

    fn receive(&mut self, datagram: Datagram<'_>, now: Instant, workspace: &mut Workspace<'_>) {
        let Datagram { meta, octets } = datagram;
        let ecn = meta.ecn.and_then(|ecn| EcnCodepoint::from_bits(ecn as u8));
        self.outgoing.clear();
        let event = self.endpoint.handle(
            now,
            meta.addr,
            meta.dst_ip,
            ecn,
            BytesMut::from(octets),
            &mut self.outgoing,
        );
        match event {
            None => {}
            Some(DatagramEvent::Response(transmit)) => self.respond(&transmit, workspace),
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(client) = self.open.get_mut(&handle) {
                    client.quic.handle_event(event);
                    self.touch(handle);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.accept(incoming, now, workspace),
        }
    }

    fn accept(&mut self, incoming: Incoming, now: Instant, workspace: &mut Workspace<'_>) {
        if !self.service.admit_connection() {
            workspace.tally.counts.connections_refused += 1;
            let refusal = self.endpoint.refuse(incoming, &mut self.outgoing);
            return self.respond(&refusal, workspace);
        }
        workspace.tally.counts.connections += 1;
        match self
            .endpoint
            .accept(incoming, now, &mut self.outgoing, None)
        {
            Ok((handle, quic)) => {
                let client = Client {
                    quic,
                    streams: Streams::default(),
                    connected: false,
                    wakes_at: None,
                    touched: false,
                };
                self.open.insert(handle, client);
                self.touch(handle);
            }
            Err(error) => {
                workspace.tally.counts.handshakes_failed += 1;
                self.service.release_connections(1);
                if let Some(response) = error.response {
                    self.respond(&response, workspace);
                }
            }
        }
    }

    /// Sends what belongs to no connection.
    fn respond(&mut self, transmit: &Transmit, workspace: &mut Workspace<'_>) {
        if !self.socket.send(transmit, &self.outgoing) {
            workspace.tally.counts.send_errors += 1;
        }
    }

    fn touch(&mut self, handle: ConnectionHandle) {
        if let Some(client) = self.open.get_mut(&handle)
            && !client.touched
        {
            client.touched = true;
            self.touched.push(handle);
        }
    }

    fn fire_timers(&mut self, now: Instant) {
        while let Some(&Reverse((at, handle))) = self.timers.peek()
            && at <= now
        {
            self.timers.pop();
            // An entry may be left of a connection that is gone or had to be looked at earlier.
            if let Some(client) = self.open.get_mut(&handle)
                && client.wakes_at == Some(at)
            {
                client.wakes_at = None;
                self.touch(handle);
            }
        }
    }

    fn advance(&mut self, now: Instant, workspace: &mut Workspace<'_>) {
        while let Some(handle) = self.touched.pop() {
            let Some(client) = self.open.get_mut(&handle) else {
                continue;
            };
            client.touched = false;
            let is_drained = client.advance(
                handle,
                now,
                &mut self.endpoint,
                &self.socket,
                &mut self.outgoing,
                workspace,
            );
            if is_drained {
                self.open.remove(&handle);
                self.service.release_connections(1);
            } else if let Some(at) = client.next_timer() {
                self.timers.push(Reverse((at, handle)));
            }
        }
    }

    /// Takes leave of all clients, without waiting for them.
    fn close_all(&mut self, now: Instant) {
        for client in self.open.values_mut() {
            client.quic.close(now, doq::NO_ERROR, Bytes::new());
            self.outgoing.clear();
            if let Some(transmit) = client.quic.poll_transmit(now, 1, &mut self.outgoing) {
                self.socket.send(&transmit, &self.outgoing);
            }
        }
        self.service.release_connections(self.open.len());
    }
}

impl Client {
    /// Answers, sends and waits anew; true when the connection is gone for good.
    fn advance(
        &mut self,
        handle: ConnectionHandle,
        now: Instant,
        endpoint: &mut Endpoint,
        socket: &Socket,
        outgoing: &mut Vec<u8>,
        workspace: &mut Workspace<'_>,
    ) -> bool {
        loop {
            while let Some(event) = self.quic.poll() {
                self.handle(event, now, workspace);
            }
            let mut again = false;
            while let Some(event) = self.quic.poll_endpoint_events() {
                let is_drained = event.is_drained();
                if let Some(event) = endpoint.handle_event(handle, event) {
                    self.quic.handle_event(event);
                    again = true;
                }
                if is_drained {
                    return true;
                }
            }
            outgoing.clear();
            let at_once = socket.state.max_gso_segments();
            while let Some(transmit) = self.quic.poll_transmit(now, at_once, outgoing) {
                if !socket.send(&transmit, outgoing) {
                    workspace.tally.counts.send_errors += 1;
                }
                outgoing.clear();
            }
            if self.quic.poll_timeout().is_some_and(|at| at <= now) {
                self.quic.handle_timeout(now);
                again = true;
            }
            if !again {
                return false;
            }
        }
    }

    fn handle(&mut self, event: Event, now: Instant, workspace: &mut Workspace<'_>) {
        let counts = &mut workspace.tally.counts;
        match event {
            Event::Connected => {
                self.connected = true;
                counts.handshakes += 1;
            }
            Event::ConnectionLost { .. } if !self.connected => counts.handshakes_failed += 1,
            Event::Stream(event) if !self.quic.is_closed() => {
                if let Err(code) = self.streams.handle(&mut self.quic, event, workspace) {
                    workspace.tally.counts.doq_errors += 1;
                    self.quic.close(now, code, Bytes::new());
                }
            }
            _ => {}
        }
    }

    /// When to look at it next, if that is earlier than it was to be looked at anyway.
    fn next_timer(&mut self) -> Option<Instant> {
        let at = self.quic.poll_timeout()?;
        if self.wakes_at.is_some_and(|planned| planned <= at) {
            return None;
        }
        self.wakes_at = Some(at);
        Some(at)
    }
}
